//! Register bits: the scheduler against a general solver of linear programs and against the netlist.

use alir2hdl::formats;
use alir2hdl::ir::{Limits, Model};
use alir2hdl::netlist::{self, Options, lower};
use alir2hdl::random::{self, SplitMix};
use alir2hdl::schedule::{
    Delay, Effort, Goal, Objective, Reader, Root, Schedule, Uses, check, check_certificate, default_delay, schedule,
};
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use std::path::Path;

/// Register bits by the linear program, written down without thought: an inequality for every pair of operations with
/// a path between them that is too long for a stage.
fn oracle(model: &Model, delay: &dyn Delay, uses: &Uses, stages: u32, bound: f64) -> f64 {
    let (last, n) = (f64::from(stages), model.nodes().len());
    let mut lp = Problem::new(OptimizationDirection::Minimize);
    let mut weight = vec![0.0; n];
    let mut constant = 0.0;
    for class in uses.classes() {
        match class.root {
            Root::Op(v) => weight[v.index()] -= f64::from(class.bits),
            Root::Input(_) => constant -= f64::from(class.bits),
            Root::Negation(_) => constant -= f64::from(class.bits) * last,
        }
    }
    let stage: Vec<Variable> = weight.iter().map(|&w| lp.add_var(w, (1.0, last))).collect();
    for class in uses.classes() {
        let last_use = lp.add_var(f64::from(class.bits), (1.0, last + 1.0));
        for &reader in uses.readers(class) {
            match reader {
                Reader::Op(v) => lp.add_constraint([(last_use, 1.0), (stage[v.index()], -1.0)], ComparisonOp::Ge, 0.0),
                Reader::Negation(_) => lp.add_constraint([(last_use, 1.0)], ComparisonOp::Ge, last),
                Reader::Port => lp.add_constraint([(last_use, 1.0)], ComparisonOp::Ge, last + 1.0),
            };
        }
    }
    let mut live = vec![false; n];
    let mut behind = vec![0.0f64; n];
    for (j, out) in model.outputs().iter().enumerate() {
        let Some(v) = out.source else { continue };
        live[v.index()] = true;
        if out.neg {
            behind[v.index()] = behind[v.index()].max(delay.negation_delay(model, j));
        }
    }
    for id in model.ids().rev() {
        if live[id.index()] {
            model.node(id).op.for_each_operand(|v| live[v.index()] = true);
        }
    }
    let own: Vec<f64> = model.ids().map(|id| delay.own_delay(model, id)).collect();
    for u in model.ids().filter(|u| live[u.index()]) {
        let mut path = vec![f64::NEG_INFINITY; n];
        path[u.index()] = own[u.index()];
        for v in model.ids().filter(|v| live[v.index()] && *v >= u) {
            let mut direct = false;
            if v > u {
                let mut start = f64::NEG_INFINITY;
                model.node(v).op.for_each_operand(|w| {
                    start = start.max(path[w.index()]);
                    direct |= w == u;
                });
                path[v.index()] = start + own[v.index()];
            }
            let too_long = |path: f64| path > bound * (1.0 + 1e-9);
            if direct || too_long(path[v.index()]) {
                let apart = f64::from(u8::from(too_long(path[v.index()])));
                lp.add_constraint([(stage[v.index()], 1.0), (stage[u.index()], -1.0)], ComparisonOp::Ge, apart);
            }
            if too_long(path[v.index()] + behind[v.index()]) {
                // Its negation is in the last stage.
                lp.add_constraint([(stage[u.index()], 1.0)], ComparisonOp::Le, last - 1.0);
            }
        }
    }
    let solved = lp.solve().expect("the program has a solution");
    solved.into_solution().expect("no limit was set").objective() + constant
}

fn compare(what: &str, model: &Model, uses: &Uses, goal: &Goal) {
    let delay = default_delay(model);
    let outcome = schedule(model, delay, goal, uses).unwrap();
    outcome.check(model, delay, goal, uses).unwrap();
    assert_eq!(outcome.register_bits, outcome.lower_bound, "{what}: not closed");
    let stages = outcome.schedule.stages;
    let expected = oracle(model, delay, uses, stages, outcome.max_stage_delay);
    let found = outcome.register_bits as f64;
    assert!((expected - found).abs() < 1e-6 * found.max(1.0), "{what}: {found}, and by the program {expected}");
}

#[test]
fn random_programs_have_the_register_bits_of_the_linear_program() {
    for seed in 0..1500 {
        let model = random::model(seed);
        let uses = if seed % 3 == 0 { Uses::whole_values(&model) } else { netlist::uses(&model) };
        let objective = if seed % 2 == 0 { Objective::Delay } else { Objective::Registers };
        let goal = Goal { objective, effort: Effort::Max, ..Goal::stages(1 + seed as u32 % 5) };
        compare(&format!("seed {seed}"), &model, &uses, &goal);
    }
}

fn read(name: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name).join("model.json.gz");
    formats::read_path(&path, &Limits::default(), None).unwrap().0
}

#[test]
fn real_programs_have_the_register_bits_of_the_linear_program() {
    for name in ["tiny_ops", "bit_logic", "lut_heavy"] {
        let model = read(name);
        for stages in [2, 3, 5] {
            compare(name, &model, &netlist::uses(&model), &Goal::stages(stages));
            compare(name, &model, &Uses::whole_values(&model), &Goal::stages(stages));
        }
    }
}

/// Register bits of the emitted hardware.
fn netlist_bits(model: &Model, schedule: &Schedule) -> u64 {
    lower(model, schedule, &Options::default()).register_bits()
}

#[test]
fn the_scheduler_counts_the_bits_of_the_hardware() {
    for seed in 0..300 {
        let model = random::model(seed);
        for stages in [1, 4] {
            let goal = Goal { register_inputs: seed % 2 == 0, ..Goal::stages(stages) };
            let uses = netlist::uses(&model);
            let outcome = schedule(&model, default_delay(&model), &goal, &uses).unwrap();
            assert_eq!(outcome.register_bits, netlist_bits(&model, &outcome.schedule), "seed {seed}, {stages} stages");
        }
    }
    for name in ["edge_kif", "over64", "sort_topk", "anomaly_ae", "jet_mlp"] {
        let model = read(name);
        let uses = netlist::uses(&model);
        for stages in [2, 7] {
            let outcome = schedule(&model, default_delay(&model), &Goal::stages(stages), &uses).unwrap();
            assert_eq!(outcome.register_bits, netlist_bits(&model, &outcome.schedule), "{name}, {stages} stages");
        }
    }
}

/// One random change, the seed says which.
fn broken(rng: &mut SplitMix, model: &Model, schedule: &Schedule) -> Schedule {
    let mut schedule = schedule.clone();
    let at = rng.below(model.nodes().len() as u64) as usize;
    schedule.stage[at] = rng.below(u64::from(schedule.stages) + 2) as u32;
    schedule
}

#[test]
fn a_thousand_broken_schedules_and_proofs_are_rejected() {
    let model = read("sort_topk");
    let (delay, uses) = (default_delay(&model), netlist::uses(&model));
    let goal = Goal::stages(5);
    let outcome = schedule(&model, delay, &goal, &uses).unwrap();
    let goal = Goal { max_stage_delay: Some(outcome.max_stage_delay), ..goal };
    let mut rng = SplitMix::new(1);
    let (mut schedules, mut proofs) = (0, 0);
    while schedules < 500 {
        let other = broken(&mut rng, &model, &outcome.schedule);
        if is_legal(&model, delay, outcome.max_stage_delay, &other) {
            continue;
        }
        assert!(check(&model, delay, &goal, &other).is_err());
        schedules += 1;
    }
    let proof = outcome.certificate.unwrap();
    while proofs < 500 {
        let mut other = proof.clone();
        match rng.below(6) {
            0 => other.lower_bound += 1 + rng.below(1000),
            1 => pick(&mut rng, &mut other.order).2 = -1,
            2 => pick(&mut rng, &mut other.path).2 = -(1 << 40),
            // Nothing uses a later operation, and no path goes back.
            3 => swap(pick(&mut rng, &mut other.order)),
            4 => swap(pick(&mut rng, &mut other.path)),
            _ => pick(&mut rng, &mut other.last_use).0 = u32::MAX - 7,
        }
        assert!(check_certificate(&model, delay, &goal, &uses, &other).is_err(), "{proofs}");
        proofs += 1;
    }
    check_certificate(&model, delay, &goal, &uses, &proof).unwrap();
}

fn pick<'a, T>(rng: &mut SplitMix, of: &'a mut [T]) -> &'a mut T {
    let at = rng.below(of.len() as u64) as usize;
    &mut of[at]
}

fn swap<A>(of: &mut (A, A, i64)) {
    std::mem::swap(&mut of.0, &mut of.1);
}

/// The definition, path by path.
fn is_legal(model: &Model, delay: &dyn Delay, bound: f64, schedule: &Schedule) -> bool {
    let mut arrival = vec![0.0f64; schedule.stage.len()];
    model.ids().all(|id| {
        let s = schedule.stage[id.index()];
        let (mut start, mut in_order) = (0.0f64, s >= 1 && s <= schedule.stages);
        model.node(id).op.for_each_operand(|v| {
            in_order &= schedule.stage[v.index()] <= s;
            if schedule.stage[v.index()] == s {
                start = start.max(arrival[v.index()]);
            }
        });
        arrival[id.index()] = start + delay.own_delay(model, id);
        in_order && arrival[id.index()] <= bound * (1.0 + 1e-9)
    })
}
