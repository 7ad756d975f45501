//! Columns of a matrix, computed as a similar column plus the difference.
//!
//! A column that is similar to another one (or its negative) is cheaper as that column plus the difference. The columns
//! and zero are the nodes of a graph; the weight of an edge is the number of signed digits of the difference. An
//! approximate minimum spanning tree, grown from zero as in Prim's algorithm and bounded in depth, selects the parent
//! of each column (the first stage of C. Sun et al., *da4ml*, 2025; the tree for constant multiplication is by
//! O. Gustafsson and A. G. Dempster, ISCAS 2004).

use super::problem::Problem;

/// Construction of a column from zero or another column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Index of the column.
    pub(crate) row: usize,
    /// Parent column, earlier in the order, and `true` if the parent is subtracted; `None` for zero.
    pub(crate) parent: Option<(usize, bool)>,
    /// Number of columns between this column and zero.
    pub(crate) depth: u32,
}

/// Spanning tree of the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    /// Parents before children.
    pub(crate) links: Vec<Link>,
    /// Number of signed digits of all columns without links.
    pub(crate) digits_alone: u64,
    /// Number of signed digits with links, where each link's adder counts as one digit.
    pub(crate) digits_linked: u64,
}

/// Returns the number of signed digits: R. W. Reitwiesner's canonical form has a digit where a number and its triple
/// differ.
fn digits(v: i64) -> u32 {
    let v = v.unsigned_abs();
    (v ^ (3 * v)).count_ones()
}

/// Returns the columns as dense vectors; `None` if they are too many or too wide.
pub(crate) fn dense(problem: &Problem) -> Option<Vec<Vec<i64>>> {
    let n_in = problem.sources.len();
    let column = |row: &Vec<(u32, i128)>| {
        let mut column = vec![0i64; n_in];
        for &(i, c) in row {
            column[i as usize] = i64::try_from(c).ok().filter(|c| c.unsigned_abs() < 1 << 58)?;
        }
        Some(column)
    };
    (n_in * problem.rows.len() <= 1 << 22).then(|| problem.rows.iter().map(column).collect())?
}

/// A possible link of a column: weight, parent, depth.
type Way = (u32, Option<(usize, bool)>, u32);

/// Returns a tree of the columns, parents before children. `is_possible` returns `true` if a difference may be computed
/// at this depth.
pub(crate) fn tree(columns: &[Vec<i64>], max_depth: u32, mut is_possible: impl FnMut(&[i64], u32) -> bool) -> Tree {
    let n = columns.len();
    let mut digits_alone = 0;
    let mut digits_linked = 0;
    // Best known link of each column that is not yet in the tree.
    let own = |column: &Vec<i64>| column.iter().map(|&c| digits(c)).sum::<u32>();
    let mut ways: Vec<Way> = columns.iter().map(|c| (own(c), None, 0)).collect();
    ways.iter().for_each(|way| digits_alone += u64::from(way.0));
    let mut is_done = vec![false; n];
    let mut links = Vec::with_capacity(n);
    while let Some(row) = (0..n).filter(|&r| !is_done[r]).min_by_key(|&r| (ways[r].0, r)) {
        let (weight, parent, depth) = ways[row];
        digits_linked += u64::from(weight);
        is_done[row] = true;
        links.push(Link { row, parent, depth });
        if depth == max_depth {
            continue;
        }
        for other in (0..n).filter(|&r| !is_done[r]) {
            for minus in [false, true] {
                // The adder of the link counts as one digit.
                let mut weight = 1;
                for (&c, &p) in columns[other].iter().zip(&columns[row]) {
                    weight += digits(if minus { c + p } else { c - p });
                }
                if weight < ways[other].0 && is_possible(&difference(columns, other, (row, minus)), depth + 1) {
                    ways[other] = (weight, Some((row, minus)), depth + 1);
                }
            }
        }
    }
    Tree { links, digits_alone, digits_linked }
}

/// Returns the difference of a column and its parent.
pub(crate) fn difference(columns: &[Vec<i64>], row: usize, (parent, minus): (usize, bool)) -> Vec<i64> {
    columns[row].iter().zip(&columns[parent]).map(|(&c, &p)| if minus { c + p } else { c - p }).collect()
}
