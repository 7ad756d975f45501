//! Columns of a graph with feedback: the largest number of registers between a box and the inputs, where each loop
//! counts once.

/// Returns the rank of each node. `operands` are the operands of each node; `holds` returns `true` for a register.
///
/// All nodes of a strongly connected component have the same rank: the largest rank of its operands, plus one if the
/// component contains a register. Tarjan's algorithm computes the components (R. Tarjan, *Depth-first search and linear
/// graph algorithms*, SIAM J. Comput. 1, 1972), with an explicit stack instead of recursion.
pub(super) fn ranks(operands: &[&[u32]], holds: impl Fn(usize) -> bool) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let n = operands.len();
    let (mut found, mut low, mut rank) = (vec![NEW; n], vec![0; n], vec![0; n]);
    let (mut open, mut stack) = (Vec::new(), Vec::new());
    let mut is_open = vec![false; n];
    let mut count = 0;
    for root in 0..n {
        if found[root] != NEW {
            continue;
        }
        stack.push((root, 0));
        while let Some(&mut (node, ref mut at)) = stack.last_mut() {
            if *at == 0 {
                (found[node], low[node]) = (count, count);
                count += 1;
                open.push(node);
                is_open[node] = true;
            }
            if let Some(&operand) = operands[node].get(*at) {
                *at += 1;
                let operand = operand as usize;
                if found[operand] == NEW {
                    stack.push((operand, 0));
                } else if is_open[operand] {
                    low[node] = low[node].min(found[operand]);
                }
                // The operand index stays above 0 from now on, so that a node is entered once.
                continue;
            }
            stack.pop();
            if let Some(&(above, _)) = stack.last() {
                low[above] = low[above].min(low[node]);
            }
            if low[node] == found[node] {
                let first = open.iter().rposition(|&o| o == node).expect("it is open");
                let component = open.split_off(first);
                component.iter().for_each(|&member| is_open[member] = false);
                let before = component.iter().flat_map(|&m| operands[m]).map(|&o| rank[o as usize]).max().unwrap_or(0);
                let own = before + u32::from(component.iter().any(|&member| holds(member)));
                component.iter().for_each(|&member| rank[member] = own);
            }
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_count_and_loops_count_once() {
        // 0 input, 1 logic of 0, 2 register of 1, 3 logic of 2 and 5, 4 register of 3, 5 logic of 4, 6 register of 5.
        let operands: [&[u32]; 7] = [&[], &[0], &[1], &[2, 5], &[3], &[4], &[5]];
        assert_eq!(ranks(&operands, |k| [2, 4, 6].contains(&k)), [0, 0, 1, 2, 2, 2, 3]);
    }

    #[test]
    fn a_register_that_holds_itself_is_a_loop() {
        assert_eq!(ranks(&[&[0, 1], &[]], |k| k == 0), [1, 0]);
        assert_eq!(ranks(&[&[], &[]], |k| k == 0), [1, 0]);
    }
}
