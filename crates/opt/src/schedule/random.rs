//! Legal but arbitrary schedules, for tests of all users of schedules.

use super::Schedule;
use alir_core::ir::{Model, Op};
use alir_core::num::SplitMix;

/// Returns a legal schedule of `stages` stages without a bound on delays: every operation is in a stage between that of
/// its latest operand and the last stage. For one seed in four, a pipeline has the extra layer of output registers.
/// Equal seeds give equal schedules.
pub fn random(model: &Model, stages: u32, register_inputs: bool, seed: u64) -> Schedule {
    let mut rng = SplitMix::new(seed);
    let last = stages.max(1);
    // Seeds differ in how far operations tend to jump ahead of their operands.
    let eagerness = 1 + rng.word() % 16;
    let mut stage: Vec<u32> = Vec::with_capacity(model.nodes().len());
    for node in model.nodes() {
        let mut first = 1;
        node.op.for_each_operand(|v| first = first.max(stage[v.index()]));
        let fixed = matches!(node.op, Op::Const { .. });
        let jump =
            if !fixed && rng.word().is_multiple_of(eagerness) { rng.word() % u64::from(last - first + 1) } else { 0 };
        stage.push(first + jump as u32);
    }
    let register_outputs = stages > 0 && rng.word().is_multiple_of(4);
    Schedule { stages, register_inputs, register_outputs, stage }
}

#[cfg(test)]
mod tests {
    use super::super::testing::random_model;
    use super::super::{Goal, LatencyFields, check};
    use super::*;

    #[test]
    fn random_schedules_are_legal_and_differ() {
        let model = random_model(3, 60).model;
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let schedule = random(&model, 4, seed % 2 == 0, seed);
            let goal = Goal {
                register_inputs: schedule.register_inputs,
                register_outputs: schedule.register_outputs,
                ..Goal::stages(4)
            };
            check(&model, &LatencyFields, &goal, &schedule).unwrap();
            assert_eq!(schedule, random(&model, 4, seed % 2 == 0, seed));
            seen.insert(schedule.stage);
        }
        assert!(seen.len() > 40);
    }
}
