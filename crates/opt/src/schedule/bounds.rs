//! Earliest and latest stages, and the smallest stage delay.
//!
//! For a bound `D` on the delay of a stage, the earliest schedule is greedy: in topological order, each vertex joins
//! the latest stage among its operands' if it still fits there, and opens the next stage if not. Every legal schedule
//! has each vertex in a stage no earlier or, if in the same, no point of it earlier, since both grow with what the
//! operands have: so the greedy one is earliest, uses the fewest stages, and `D` is possible for `N` stages just if
//! it needs no more than `N`.

use super::graph::Graph;

/// A schedule in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    /// Stage of each vertex, from 1.
    pub(super) stage: Vec<u32>,
    /// Path length of each point. In the earliest schedule: the longest path from the start of its stage to it. In the
    /// latest one: from it to the end of its stage.
    pub(super) path: Vec<i64>,
}

/// Size of the schedule that [`earliest`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Stages needed.
    pub(super) stages: u32,
    /// The longest path of any stage.
    pub(super) longest: i64,
    /// The smallest bound at which the labels would differ: the shortest path that was cut for being too long.
    pub(super) next: i64,
}

/// The earliest schedule under a bound that no own delay exceeds.
pub(super) fn earliest(graph: &Graph, limit: i64, labels: &mut Labels) -> Extent {
    earliest_within(graph, limit, u32::MAX, labels)
}

/// Like [`earliest`], but ends at the first vertex that needs more than `most` stages: the labels of the vertices up to
/// it, and so their extent, are what decides.
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

/// The latest schedule of `stages` stages under a bound at which the earliest one fits.
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
            // The outside world is where it is, in stage 1.
            stage = 1;
        }
        labels.stage[v as usize] = stage;
    }
}

/// The smallest bound under which `stages` stages are enough: the longest path of a stage that no schedule avoids.
///
/// Bisection between a bound that is known to be too small and the longest path of a schedule in hand. Both ends move
/// to lengths of real paths, so that it ends at the true minimum. With `rounds` the search is cut short (the result is
/// then still one that is possible).
pub(super) fn smallest_limit(graph: &Graph, stages: u32, rounds: u32) -> i64 {
    let mut labels = Labels::default();
    let whole = earliest(graph, i64::MAX, &mut labels).longest;
    let (_, own) = graph.slowest();
    // Greedy stages are longer than `limit - own`, so `whole / stages + own` is enough where delays add up; where paths
    // overlap it is mostly.
    let share = whole / i64::from(stages);
    let guess = earliest_within(graph, share.saturating_add(1).saturating_add(own).min(whole), stages, &mut labels);
    let mut possible = if guess.stages <= stages { guess.longest } else { whole };
    let mut impossible = own.max(whole.div_euclid(i64::from(stages))) - 1;
    // No path is shorter than its share of the longest one, rounded up.
    for _ in 0..rounds {
        if impossible + 1 >= possible {
            break;
        }
        let middle = impossible + (possible - impossible) / 2;
        let extent = earliest_within(graph, middle, stages, &mut labels);
        if extent.stages <= stages {
            possible = extent.longest;
        } else {
            // Under any smaller bound than `next` these vertices have the same labels, and so too many stages.
            impossible = extent.next - 1;
        }
    }
    possible
}

#[cfg(test)]
mod tests {
    use super::super::testing::{chain, random_model};
    use super::*;

    /// Every way to put the vertices into stages, by brute force.
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
