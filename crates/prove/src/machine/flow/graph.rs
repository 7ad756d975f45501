//! Cycles and depths of directed graphs, in linear time.

/// Returns `true` for each vertex on a cycle, by strongly connected components (R. Tarjan, "Depth-first search and
/// linear graph algorithms", SIAM J. Comput. 1(2), 1972) with an explicit stack. `next` lists the successors of a
/// vertex.
pub(super) fn on_cycles(n: usize, mut next: impl FnMut(usize, &mut Vec<usize>)) -> Vec<bool> {
    const NEW: u32 = u32::MAX;
    let mut number = vec![NEW; n];
    let mut low = vec![0u32; n];
    let mut open = vec![false; n];
    let mut component: Vec<usize> = Vec::new();
    let mut cyclic = vec![false; n];
    let mut count = 0;
    let mut path: Vec<(usize, Vec<usize>, usize)> = Vec::new();
    for root in 0..n {
        if number[root] != NEW {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(v) = enter.take() {
                (number[v], low[v]) = (count, count);
                count += 1;
                open[v] = true;
                component.push(v);
                let mut successors = Vec::new();
                next(v, &mut successors);
                cyclic[v] |= successors.contains(&v);
                path.push((v, successors, 0));
            }
            let Some((v, successors, at)) = path.last_mut() else { break };
            let v = *v;
            if let Some(&w) = successors.get(*at) {
                *at += 1;
                if number[w] == NEW {
                    enter = Some(w);
                } else if open[w] {
                    low[v] = low[v].min(number[w]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, ..)) = path.last() {
                low[*parent] = low[*parent].min(low[v]);
            }
            if low[v] == number[v] {
                let start = component.iter().rposition(|&w| w == v).unwrap_or(0);
                let several = component.len() - start > 1;
                for w in component.drain(start..) {
                    open[w] = false;
                    cyclic[w] |= several;
                }
            }
        }
    }
    cyclic
}

/// A vertex of the current path, its successors with their distances, and the number of visited successors.
type Entered = (usize, Vec<(usize, u32)>, usize);

/// Returns the length of the longest path; `next` lists successors with their distances. The graph must be acyclic; a
/// vertex that occurs again on its own path ends the path.
pub(super) fn longest(n: usize, mut next: impl FnMut(usize, &mut Vec<(usize, u32)>)) -> u32 {
    let mut depth: Vec<Option<u32>> = vec![None; n];
    let mut path: Vec<Entered> = Vec::new();
    let mut entered = vec![false; n];
    for root in 0..n {
        let mut enter = (depth[root].is_none()).then_some(root);
        loop {
            if let Some(v) = enter.take() {
                entered[v] = true;
                let mut successors = Vec::new();
                next(v, &mut successors);
                path.push((v, successors, 0));
            }
            let Some((v, successors, at)) = path.last_mut() else { break };
            if let Some(&(w, _)) = successors.get(*at) {
                *at += 1;
                if depth[w].is_none() && !entered[w] {
                    enter = Some(w);
                }
                continue;
            }
            let deepest = successors.iter().map(|&(w, steps)| depth[w].unwrap_or(0) + steps).max();
            depth[*v] = Some(deepest.unwrap_or(0));
            path.pop();
        }
    }
    depth.into_iter().flatten().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_and_depths_are_found() {
        let edges: [&[usize]; 7] = [&[1], &[2], &[1, 3], &[4], &[], &[5], &[4, 0]];
        let cyclic = on_cycles(7, |v, out| out.extend(edges[v]));
        assert_eq!(cyclic, [false, true, true, false, false, true, false]);
        let dag: [&[usize]; 5] = [&[1, 2], &[3], &[3], &[4], &[]];
        assert_eq!(longest(5, |v, out| out.extend(dag[v].iter().map(|&w| (w, u32::from(v != 1))))), 3);
    }
}
