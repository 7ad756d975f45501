//! Constant matrix multiplication `y = x W` by shifts and adds, with few adder bits, within a latency limit.
//!
//! [`solve`] accepts a matrix and the inputs with their intervals and arrival times, and returns an [`AdderGraph`];
//! [`check`] verifies a graph without other information from the solver. This crate does not depend on files, networks
//! or ALIR. Equal arguments give equal graphs: results do not depend on time, threads or hash order.
//!
//! Flow: `problem` factors out powers of two and merges equal columns, `share` shares two-term sums, and `rows` adds up
//! the remaining digits of each column within its deadline. `docs/cmvm.md` describes the cost measures and the sources.
//!
//! ```
//! use alir_cmvm::{Input, Matrix, Options, check, solve};
//! use alir_core::num::Interval;
//!
//! let matrix = Matrix::from_integers(2, 2, &[3, 5, 7, -9]);
//! let inputs = vec![Input::new(Interval::new(-128, 127, 0)); 2];
//! let graph = solve(&matrix, &inputs, &Options::default()).expect("a graph");
//! check(&graph, &matrix).expect("the product with the matrix");
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

mod check;
mod columns;
mod cost;
mod digits;
mod mcm;
mod problem;
mod program;
mod rows;
mod share;
mod values;

pub use check::{Fault, Report, check};
pub use cost::Measure;
pub use program::{Adder, AdderGraph, Input, Matrix, Output, Weight};

use columns::Link;
use problem::{Problem, items};
use rows::{Deadline, Digit, Tree, digits_of};
use share::{Cell, Mask, PatternWeights, Sharing};
use std::fmt;
use values::{Coefficient, Values};

/// Options of the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Limit on the time at which an output is ready, in units of the delay model and including the arrival times of
    /// inputs; `None` for no limit.
    pub latency: Option<f64>,
    /// Budget in ticks (about a millisecond each) of the search after the first solution; 0 for no search.
    pub budget: u64,
    /// Cost measure of an adder.
    pub measure: Measure,
}

/// Error of [`solve`].
#[derive(Clone, Debug, PartialEq)]
pub enum SolveError {
    /// No solution was found within the requested latency.
    Latency {
        /// Requested limit, in units of the delay model.
        limit: f64,
        /// Least latency that the solver can reach.
        least: f64,
    },
    /// Coefficients and inputs together span too many bits.
    TooWide {
        /// Largest supported width in bits.
        most: u32,
    },
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolveError::Latency { limit, least } => {
                write!(f, "latency {limit} was requested, and the least possible is {least}")
            }
            SolveError::TooWide { most } => {
                write!(f, "coefficients and inputs together span more than {most} bits")
            }
        }
    }
}

/// Returns an adder graph that computes the product of the inputs with the matrix.
///
/// # Errors
/// A latency limit that the solver cannot meet; coefficients or inputs that are too wide.
pub fn solve(matrix: &Matrix, inputs: &[Input], options: &Options) -> Result<AdderGraph, SolveError> {
    let problem = Problem::new(matrix, inputs)?;
    match problem.is_narrow() {
        true => Solver::<i64, u64>::new(&problem, options.measure).run(inputs, options),
        false => Solver::<i128, u128>::new(&problem, options.measure).run(inputs, options),
    }
}

/// A problem with its initial state, from which each attempt starts. `C` is the type of coefficients, `M` the type of
/// sets of bit positions.
struct Solver<'a, C, M> {
    problem: &'a Problem,
    /// The inputs; attempts append their sums.
    values: Values<C>,
    /// Digits of each row; their values are inputs.
    rows: Vec<Vec<Cell<M>>>,
}

/// A solution: inputs and sums, and the result of each row.
struct Solution<C> {
    values: Values<C>,
    /// Result of each row: a signed, shifted value.
    tops: Vec<Digit>,
    /// Right shift of each row's result; empty if there are no shifts.
    downs: Vec<i32>,
    /// Number of work steps of the search.
    work: u64,
}

impl<C: Coefficient> Solution<C> {
    /// Returns the cost of the adders that the rows use, in adder bits.
    fn cost(&self) -> u64 {
        self.values.cost_of(self.tops.iter().map(|d| d.value))
    }
}

impl<'a, C: Coefficient, M: Mask> Solver<'a, C, M> {
    fn new(problem: &'a Problem, measure: Measure) -> Self {
        let values = Values::new(&problem.sources, measure);
        let rows = (0..problem.rows.len()).map(|r| problem.cells(r)).collect();
        Solver { problem, values, rows }
    }

    fn run(self, inputs: &[Input], options: &Options) -> Result<AdderGraph, SolveError> {
        let deadlines = match options.latency {
            None => None,
            Some(limit) => Some(self.deadlines(limit)?),
        };
        let mut best = self.first_solution(deadlines.as_deref());
        if options.budget > 0 {
            match self.problem.sources.len() {
                1 => self.search_constants(&mut best, deadlines.as_deref(), options.budget),
                _ => self.search(&mut best, deadlines.as_deref(), options.budget),
            }
        }
        Ok(self.problem.program(inputs, &best.values, &best.tops, &best.downs))
    }

    /// Returns the first solution: columns built separately or from one another, whichever is cheaper. If links remove
    /// more than a third of the digits, columns are built from one another without a comparison of costs.
    fn first_solution(&self, deadlines: Option<&[Deadline]>) -> Solution<C> {
        let tree = self.trees(deadlines).into_iter().min_by_key(|tree| tree.digits_linked);
        // A row with fewer digits also has fewer common sums, so a small reduction does not save adders.
        let tree = tree.filter(|t| 20 * t.digits_linked < 19 * t.digits_alone);
        let is_clear = tree.as_ref().is_some_and(|t| 3 * t.digits_linked < 2 * t.digits_alone);
        let linked = tree.and_then(|t| self.with_tree(&t.links, deadlines, PatternWeights::default()));
        match linked {
            Some(linked) if is_clear => linked,
            Some(linked) => {
                let alone = self.plain(self.rows.clone(), deadlines, PatternWeights::default());
                if linked.cost() < alone.cost() { linked } else { alone }
            }
            None => self.plain(self.rows.clone(), deadlines, PatternWeights::default()),
        }
    }

    /// Searches solutions of a matrix with one input as graphs of odd constants. Keeps the solution with the fewest
    /// adders, then with the least cost, in `best`.
    fn search_constants(&self, best: &mut Solution<C>, deadlines: Option<&[Deadline]>, budget: u64) {
        let constants: Option<Vec<u64>> = self
            .problem
            .rows
            .iter()
            .map(|row| u64::try_from(row[0].1).ok().filter(|c| c >> mcm::MOST_BITS == 0))
            .collect();
        let Some(constants) = constants else { return };
        let targets: Vec<u64> = constants.iter().copied().filter(|&c| c > 1).collect();
        let mut left = budget.saturating_mul(STEPS_PER_TICK);
        let measure = |s: &Solution<C>| (s.values.adders_of(s.tops.iter().map(|d| d.value)), s.cost());
        let mut measured = measure(best);
        for seed in 0.. {
            let mut steps = 1000;
            // A graph with equally many adders may be cheaper.
            let graph = mcm::grow(&targets, seed, measured.0, &mut steps);
            if let Some(solution) = graph.and_then(|graph| self.graph_solution(&graph, &constants)) {
                let is_late = deadlines.is_some_and(|d| {
                    solution.tops.iter().zip(d).any(|(t, d)| solution.values.ticks(t.value) > d.limit)
                });
                let other = measure(&solution);
                if !is_late && other < measured {
                    measured = other;
                    *best = solution;
                }
            }
            match left.checked_sub(steps) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    }

    /// Converts a graph of odd constants to a solution. Returns `None` if a shift is too large for a value.
    fn graph_solution(&self, graph: &[mcm::Fundamental], constants: &[u64]) -> Option<Solution<C>> {
        let mut values = self.values.clone();
        // A pair is (digit, scale): the digit's value is the fundamental times `2^scale`, as right shifts are deferred
        // to the outputs.
        let mut made: Vec<(Digit, i64)> = vec![(Digit { value: 0, shift: 0, minus: false }, 0)];
        for f in &graph[1..] {
            let [(x, up_x), (y, up_y)] = [0, 1].map(|k| {
                let (digit, scale) = made[f.parts[k]];
                (digit, i64::from(f.ups[k]) - scale)
            });
            let low = up_x.min(up_y);
            let place = |d: Digit, up: i64| values::Part { value: d.value, shift: (up - low) as u32 };
            if (up_x - low).max(up_y - low) > i64::from(mcm::MOST_BITS) {
                return None;
            }
            let (value, turned) = values.push(place(x, up_x), place(y, up_y), f.subtract != (x.minus != y.minus));
            made.push((Digit { value, shift: 0, minus: x.minus ^ turned ^ f.turned }, i64::from(f.down) - low));
        }
        let top = |constant: &u64| graph.iter().position(|f| f.value == *constant).map(|at| made[at]);
        let tops: Vec<(Digit, i64)> = constants.iter().map(top).collect::<Option<_>>()?;
        let downs = tops.iter().map(|(_, scale)| *scale as i32).collect();
        Some(Solution { values, tops: tops.into_iter().map(|(d, _)| d).collect(), downs, work: 0 })
    }

    /// Tries other trees and weights, then random changes of the best weights so far, until the budget is used up.
    fn search(&self, best: &mut Solution<C>, deadlines: Option<&[Deadline]>, budget: u64) {
        let mut left = budget.saturating_mul(STEPS_PER_TICK);
        let trees = self.trees(deadlines);
        let mut attempts: Vec<(Option<usize>, PatternWeights)> = Vec::new();
        for weights in FIRST_WEIGHTS {
            attempts.push((None, weights));
            attempts.extend((0..trees.len()).map(|tree| (Some(tree), weights)));
        }
        // (cost, index of the attempt), sorted: starting points of the random changes.
        let mut tried: Vec<(u64, usize)> = Vec::new();
        let mut next = 0;
        while left > 0 {
            let (tree, weights) = match attempts.get(next) {
                Some(&attempt) => attempt,
                None => {
                    // Two of three changes start from the best attempt, the others from the four best attempts in turn.
                    let rank = if next % 3 == 2 { (next / 3) % tried.len().min(4) } else { 0 };
                    let (tree, weights) = attempts[tried[rank].1];
                    let noise = [12, 24, 48, 6][next % 4];
                    (tree, PatternWeights { noise, seed: next as u64, ..weights })
                }
            };
            let solution = match tree {
                None => Some(self.plain(self.rows.clone(), deadlines, weights)),
                Some(tree) => self.with_tree(&trees[tree].links, deadlines, weights),
            };
            left = left.saturating_sub(solution.as_ref().map_or(1000, |s| s.work).max(1000));
            let cost = solution.as_ref().map_or(u64::MAX, Solution::cost);
            if next < attempts.len() {
                let entry = (cost, next);
                let at = tried.partition_point(|t| *t < entry);
                tried.insert(at, entry);
            }
            if let Some(solution) = solution.filter(|_| cost < best.cost()) {
                *best = solution;
            }
            next += 1;
        }
    }

    /// Returns the deadline of each row for a limit on the latency.
    fn deadlines(&self, limit: f64) -> Result<Vec<Deadline>, SolveError> {
        let ticks = cost::ticks_of_limit(limit);
        let mut least = 0;
        let deadline = |row: &Vec<Cell<M>>| {
            let digits = digits_of(row);
            let deadline = self.problem.deadline(&self.values, &digits, ticks);
            least = least.max(deadline.least(&items(&self.values, &digits)));
            deadline
        };
        let deadlines = self.rows.iter().map(deadline).collect();
        match least > ticks {
            true => Err(SolveError::Latency { limit, least: f64::from(least) / cost::TICKS }),
            false => Ok(deadlines),
        }
    }

    /// Shares two-term sums, then adds up each row within its deadline.
    fn plain(
        &self,
        mut rows: Vec<Vec<Cell<M>>>,
        deadlines: Option<&[Deadline]>,
        weights: PatternWeights,
    ) -> Solution<C> {
        let original = deadlines.map(|_| rows.clone());
        let mut values = self.values.clone();
        let blocks = block_count(&rows, self.problem.sources.len());
        let mut work = 1000;
        if blocks <= 1 {
            work += Sharing::new(&mut values, &mut rows, deadlines, weights).run();
        } else {
            rows = self.share_in_blocks(&mut values, &rows, deadlines, (blocks, weights), &mut work);
        }
        let mut solution = self.add_up(values, &rows, original.as_deref(), deadlines);
        solution.work += work;
        solution
    }

    /// Adds up the remaining digits of each row. `original` contains the rows before sharing, and is required with
    /// deadlines.
    fn add_up(
        &self,
        mut values: Values<C>,
        rows: &[Vec<Cell<M>>],
        original: Option<&[Vec<Cell<M>>]>,
        deadlines: Option<&[Deadline]>,
    ) -> Solution<C> {
        let mut work = 0;
        let mut tops = Vec::with_capacity(rows.len());
        for r in 0..rows.len() {
            let deadline = deadlines.map(|d| d[r]);
            let digits = digits_of(&rows[r]);
            let pairs = (digits.len() * digits.len()) as u64;
            work += if deadline.is_some() { 16 * pairs } else { 2 * pairs };
            let top = match Tree::build(&mut values, &digits, deadline) {
                Ok(top) => top,
                // The row misses its deadline with the shared sums, so its original digits are added up.
                Err(()) => {
                    let digits = digits_of(&original.expect("there are deadlines")[r]);
                    let plan = deadline.and_then(|d| d.plan(&items(&values, &digits)));
                    Tree::follow(&mut values, &digits, &plan.expect("the deadline was tried"))
                }
            };
            tops.push(top.expect("a row has digits"));
        }
        Solution { values, tops, downs: Vec::new(), work }
    }

    /// Shares sums only within blocks of inputs, so that the work grows linearly with the number of weights.
    fn share_in_blocks(
        &self,
        values: &mut Values<C>,
        rows: &[Vec<Cell<M>>],
        deadlines: Option<&[Deadline]>,
        (blocks, weights): (usize, PatternWeights),
        work: &mut u64,
    ) -> Vec<Vec<Cell<M>>> {
        let n_in = self.problem.sources.len();
        // A tree of adders after the blocks adds up their results.
        let levels = blocks.next_power_of_two().trailing_zeros();
        let deadlines: Option<Vec<Deadline>> = deadlines.map(|d| d.iter().map(|d| d.earlier_by(levels)).collect());
        let mut shared: Vec<Vec<Cell<M>>> = vec![Vec::new(); rows.len()];
        for block in 0..blocks {
            let inputs = (block * n_in / blocks) as u32..((block + 1) * n_in / blocks) as u32;
            let of_block = |row: &Vec<Cell<M>>| row.iter().filter(|c| inputs.contains(&c.value)).copied().collect();
            let mut part: Vec<Vec<Cell<M>>> = rows.iter().map(of_block).collect();
            *work += Sharing::new(values, &mut part, deadlines.as_deref(), weights).run();
            shared.iter_mut().zip(part).for_each(|(row, part)| row.extend(part));
        }
        shared
    }

    /// Returns the distinct trees in which some column is built from another column; with deadlines, only links that
    /// meet the deadlines.
    fn trees(&self, deadlines: Option<&[Deadline]>) -> Vec<columns::Tree> {
        let mut trees: Vec<columns::Tree> = Vec::new();
        let Some(columns) = columns::dense(self.problem) else { return trees };
        let depths: &[u32] = if deadlines.is_some() { &[1, 2, 4] } else { &[1, u32::MAX] };
        for &depth in depths {
            let tree = match deadlines {
                None => columns::tree(&columns, depth, |_, _| true),
                Some(deadlines) => {
                    let top = deadlines.iter().map(|d| d.top).max().unwrap_or(0);
                    let step = cost::adder_in_place(cost::Span { low: 0, top }, cost::Span { low: 0, top }).1;
                    columns::tree(&columns, depth, |column, at| {
                        let digits = digits_of(&self.problem.cells_of::<M>(&sparse(column)));
                        let limit = deadlines[0].limit.saturating_sub(step * (depth - at + 1));
                        let deadline = self.problem.deadline(&self.values, &digits, limit);
                        deadline.least(&items(&self.values, &digits)) <= limit
                    })
                }
            };
            if tree.links.iter().any(|link| link.parent.is_some()) && !trees.contains(&tree) {
                trees.push(tree);
            }
        }
        trees
    }

    /// Returns the solution in which columns are built from one another according to `links`; `None` if it misses a
    /// deadline.
    fn with_tree(
        &self,
        links: &[Link],
        deadlines: Option<&[Deadline]>,
        weights: PatternWeights,
    ) -> Option<Solution<C>> {
        let columns = columns::dense(self.problem)?;
        let rows: Vec<Vec<Cell<M>>> = links
            .iter()
            .map(|link| match link.parent {
                None => self.problem.cells(link.row),
                Some(parent) => self.problem.cells_of(&sparse(&columns::difference(&columns, link.row, parent))),
            })
            .collect();
        // Time in ticks that is reserved after each column for the columns built from it.
        let mut after = vec![0u32; columns.len()];
        let own = match deadlines {
            None => None,
            Some(deadlines) => {
                for link in links.iter().rev() {
                    if let Some((parent, _)) = link.parent {
                        let d = deadlines[link.row];
                        let step = d.longest_adder();
                        after[parent] = after[parent].max(after[link.row] + step);
                    }
                }
                let mut own = Vec::with_capacity(links.len());
                for (link, row) in links.iter().zip(&rows) {
                    let digits = digits_of(row);
                    let d = deadlines[link.row];
                    let step = d.longest_adder();
                    let limit = d.limit.checked_sub(after[link.row])?;
                    let limit = if link.parent.is_some() { limit.checked_sub(step)? } else { limit };
                    let deadline = self.problem.deadline(&self.values, &digits, limit);
                    if deadline.least(&items(&self.values, &digits)) > limit {
                        return None;
                    }
                    own.push(deadline);
                }
                Some(own)
            }
        };
        let Solution { mut values, tops: differences, work, .. } = self.plain(rows, own.as_deref(), weights);
        let mut tops: Vec<Option<Digit>> = vec![None; columns.len()];
        for (link, &difference) in links.iter().zip(&differences) {
            let top = match link.parent {
                None => difference,
                Some((parent, minus)) => {
                    let parent = tops[parent].expect("parents come first");
                    let digits = [difference, Digit { minus: parent.minus ^ minus, ..parent }];
                    Tree::follow(&mut values, &digits, &[(0, 1)])?
                }
            };
            tops[link.row] = Some(top);
        }
        let tops: Vec<Digit> = tops.into_iter().collect::<Option<_>>()?;
        let is_late = deadlines.is_some_and(|d| tops.iter().zip(d).any(|(t, d)| values.ticks(t.value) > d.limit));
        (!is_late).then_some(Solution { values, tops, downs: Vec::new(), work })
    }
}

/// Number of steps in a tick of the budget: about a millisecond on the computer of the measurements in `docs/cmvm.md`.
const STEPS_PER_TICK: u64 = 110_000;

/// Weights that a search tries first.
const FIRST_WEIGHTS: [PatternWeights; 6] = [
    PatternWeights { base: 16, overlap: 16, spread: 0, discount: 16, seed: 0, noise: 0 },
    PatternWeights { base: 32, overlap: 16, spread: -4, discount: 16, seed: 0, noise: 0 },
    PatternWeights { base: 128, overlap: 4, spread: 0, discount: 16, seed: 0, noise: 0 },
    PatternWeights { base: 16, overlap: 16, spread: 8, discount: 16, seed: 0, noise: 0 },
    PatternWeights { base: 64, overlap: 8, spread: 4, discount: 16, seed: 0, noise: 0 },
    PatternWeights { base: 16, overlap: 16, spread: 0, discount: 8, seed: 0, noise: 0 },
];

/// Limit on the number of digit pairs that are counted in one block.
const PAIRS_AT_ONCE: u64 = 24_000_000;
/// Limit on the number of digit pairs that are counted in all blocks together.
const PAIRS_IN_ALL: u64 = 130_000_000;

/// Returns the number of blocks of inputs for which the digit pairs stay within both limits.
fn block_count<M: Mask>(rows: &[Vec<Cell<M>>], n_in: usize) -> usize {
    let digits = |row: &Vec<Cell<M>>| row.iter().map(|c| u64::from((c.plus | c.minus).count_ones())).sum::<u64>();
    let pairs: u64 = rows.iter().map(|row| digits(row).pow(2) / 2).sum();
    // With n blocks, all blocks together have 1/n of the pairs, and each block has 1/n^2.
    let blocks = (1..n_in as u64).find(|n| pairs / (n * n) <= PAIRS_AT_ONCE && pairs / n <= PAIRS_IN_ALL);
    blocks.map_or(n_in, |n| n as usize).max(1)
}

/// Returns the non-zero entries of a column with their row indices.
fn sparse(column: &[i64]) -> Vec<(u32, i128)> {
    (0..).zip(column).filter(|(_, c)| **c != 0).map(|(i, &c)| (i, c.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::num::Interval;

    #[test]
    fn sharing_in_blocks_is_exact_and_in_time() {
        let weights: Vec<i64> = (0..24 * 10u64).map(|k| ((k * k + 7 * k) * 7919 % 509) as i64 - 254).collect();
        let matrix = Matrix::from_integers(24, 10, &weights);
        let inputs = vec![Input::new(Interval::new(-128, 127, 0)); 24];
        let problem = Problem::new(&matrix, &inputs).unwrap();
        for latency in [None, Some(13.0)] {
            let solver = Solver::<i64, u64>::new(&problem, Measure::Contract);
            let deadlines = latency.map(|limit| solver.deadlines(limit).unwrap());
            let (mut values, mut work) = (solver.values.clone(), 0);
            let blocks = (5, PatternWeights::default());
            let rows = solver.share_in_blocks(&mut values, &solver.rows, deadlines.as_deref(), blocks, &mut work);
            let solution = solver.add_up(values, &rows, Some(&solver.rows), deadlines.as_deref());
            let program = problem.program(&inputs, &solution.values, &solution.tops, &solution.downs);
            let report = check(&program, &matrix).unwrap();
            assert!(latency.is_none_or(|limit| report.latency <= limit), "{}", report.latency);
            // Each block shares some sums.
            assert!(report.adders < solver.rows.iter().map(|row| digits_of(row).len()).sum::<usize>() * 3 / 4);
            assert!(work > 0);
        }
    }

    #[test]
    fn few_digits_are_one_block_and_many_are_several() {
        let rows = |rows: usize, cells: u32| -> Vec<Vec<Cell<u64>>> {
            vec![(0..cells).map(|value| Cell { value, plus: 0b101, minus: 0b10_0000 }).collect(); rows]
        };
        assert_eq!(block_count(&rows(64, 64), 64), 1);
        // 1024 rows of 3072 digits: 4.8e9 pairs, of which 1/n are counted in n blocks.
        assert_eq!(block_count(&rows(1024, 1024), 1024), 38);
    }
}
