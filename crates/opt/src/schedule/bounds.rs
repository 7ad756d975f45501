//! Earliest and latest stages of operations, and the smallest stage delay.
//!
//! For a bound `D` on the delay of a stage, the earliest schedule is greedy: in topological order, each vertex joins
//! the latest stage among its operands if it fits there, and otherwise starts the next stage. In every legal schedule,
//! the stage of a vertex is not earlier than in the greedy schedule; if the stages are equal, no point of the vertex is
//! earlier, because both stages and arrival times increase with those of the operands. So the greedy schedule is the
//! earliest, has the fewest stages, and `D` is feasible for `N` stages exactly if it has at most `N` stages.

use super::graph::Graph;

/// Stages of vertices and path lengths of points, as far as they are computed.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    /// Stage of each vertex, from 1.
    pub(super) stage: Vec<u32>,
    /// Path length of each point: in the earliest schedule, the longest path from the start of its stage to the point;
    /// in the latest schedule, from the point to the end of its stage.
    pub(super) path: Vec<i64>,
}

/// Size of a schedule computed by [`earliest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Number of stages.
    pub(super) stages: u32,
    /// Longest path of all stages.
    pub(super) longest: i64,
    /// Smallest bound for which the labels would change: the shortest path that was too long for its stage.
    pub(super) next: i64,
}

/// Computes the earliest schedule under a bound that no own delay exceeds.
pub(super) fn earliest(graph: &Graph, limit: i64, labels: &mut Labels) -> Extent {
    earliest_within(graph, limit, u32::MAX, labels)
}

/// Like [`earliest`], but stops at the first vertex that needs more than `most` stages. The labels and the extent then
/// cover the vertices up to that vertex.
fn earliest_within(graph: &Graph, limit: i64, most: u32, labels: &mut Labels) -> Extent {
    labels.stage.clear();
    labels.path.clear();
    labels.path.resize(graph.points(), 0);
    let mut extent = Extent { stages: 1, longest: 0, next: i64::MAX };
    for v in 0..graph.len() as u32 {
        let mut stage = graph.preds(v).iter().map(|&u| labels.stage[u as usize]).max().unwrap_or(1);
        let mut length = graph.arrive(v, stage, &labels.stage, &mut labels.path);
        if length > limit {
            extent.next = extent.next.min(length);
            stage += 1;
            length = graph.sole_predecessor(v, &mut labels.path);
        }
        extent.stages = extent.stages.max(stage);
        extent.longest = extent.longest.max(length);
        labels.stage.push(stage);
        if stage > most {
            break;
        }
    }
    extent
}

/// Computes the latest schedule of `stages` stages under a bound for which the earliest schedule fits.
pub(super) fn latest(graph: &Graph, limit: i64, stages: u32, labels: &mut Labels) {
    labels.stage.clear();
    labels.stage.resize(graph.len(), stages);
    labels.path.clear();
    labels.path.resize(graph.points(), 0);
    for v in (0..graph.len() as u32).rev() {
        let mut stage = graph.succs(v).iter().map(|&w| labels.stage[w as usize]).min().unwrap_or(stages);
        if graph.leave(v, stage, &labels.stage, &mut labels.path) > limit {
            stage -= 1;
            graph.sole_successor(v, &mut labels.path);
        }
        if v == 0 {
            // The environment before the inputs is fixed to stage 1.
            stage = 1;
        }
        labels.stage[v as usize] = stage;
    }
}

/// Returns the smallest bound for which `stages` stages are enough.
///
/// Bisection between a bound that is too small and the longest path of a known schedule. Both ends move to lengths of
/// real paths, so that the search ends at the true minimum. After `rounds` rounds the search stops; its result is then
/// a feasible bound that may not be minimal.
pub(super) fn smallest_limit(graph: &Graph, stages: u32, rounds: u32) -> i64 {
    let mut labels = Labels::default();
    let whole = earliest(graph, i64::MAX, &mut labels).longest;
    let (_, own) = graph.slowest();
    // Greedy stages are longer than `limit - own`, so `whole / stages + own` is enough if delays add up; if paths
    // overlap, it usually is.
    let share = whole / i64::from(stages);
    let guess = earliest_within(graph, share.saturating_add(1).saturating_add(own).min(whole), stages, &mut labels);
    let mut possible = if guess.stages <= stages { guess.longest } else { whole };
    let mut impossible = own.max(whole.div_euclid(i64::from(stages))) - 1;
    // The longest stage has at least the longest path divided by the number of stages, rounded up.
    for _ in 0..rounds {
        if impossible + 1 >= possible {
            break;
        }
        let middle = impossible + (possible - impossible) / 2;
        let extent = earliest_within(graph, middle, stages, &mut labels);
        if extent.stages <= stages {
            possible = extent.longest;
        } else {
            // For any bound below `next`, these vertices have the same labels, and so too many stages.
            impossible = extent.next - 1;
        }
    }
    possible
}

#[cfg(test)]
mod tests {
    use super::super::testing::{chain, random_model};
    use super::*;

    /// Returns the smallest stage delay over all assignments of vertices to stages, by brute force.
    fn brute_force(graph: &Graph, stages: u32) -> i64 {
        fn longest(graph: &Graph, stage: &[u32]) -> i64 {
            let mut arrivals = vec![0; graph.points()];
            (0..graph.len() as u32).map(|v| graph.arrive(v, stage[v as usize], stage, &mut arrivals)).max().unwrap()
        }
        fn place(graph: &Graph, stages: u32, stage: &mut Vec<u32>, best: &mut i64) {
            let v = stage.len() as u32;
            if v as usize == graph.len() {
                *best = (*best).min(longest(graph, stage));
                return;
            }
            let first = graph.preds(v).iter().map(|&u| stage[u as usize]).max().unwrap_or(1);
            let range = match v {
                0 => 1..=1,
                v if graph.is_pinned_last(v) => stages..=stages,
                _ => first..=stages,
            };
            for s in range {
                stage.push(s);
                place(graph, stages, stage, best);
                stage.pop();
            }
        }
        let mut best = i64::MAX;
        place(graph, stages, &mut Vec::new(), &mut best);
        best
    }

    #[test]
    fn a_chain_is_cut_evenly() {
        let graph = chain(&[3.0, 1.0, 2.0, 2.0, 1.0]).graph();
        let units = |stages| graph.units(smallest_limit(&graph, stages, u32::MAX));
        assert_eq!([1, 2, 3, 4, 5, 9].map(units), [9.0, 5.0, 3.0, 3.0, 3.0, 3.0]);
    }

    #[test]
    fn the_smallest_stage_delay_is_the_true_minimum() {
        for seed in 0..400 {
            let graph = random_model(seed, 7).graph();
            for stages in 1..4 {
                assert_eq!(
                    smallest_limit(&graph, stages, u32::MAX),
                    brute_force(&graph, stages),
                    "seed {seed}, {stages}"
                );
            }
        }
    }

    #[test]
    fn earliest_is_never_later_than_latest() {
        for seed in 0..200 {
            let graph = random_model(seed, 40).graph();
            for stages in 1..6 {
                let limit = smallest_limit(&graph, stages, u32::MAX);
                let (mut early, mut late) = (Labels::default(), Labels::default());
                earliest(&graph, limit, &mut early);
                latest(&graph, limit, stages, &mut late);
                assert!(early.stage.iter().zip(&late.stage).all(|(e, l)| e <= l), "seed {seed}, {stages}");
            }
        }
    }
}
