//! Register bits: the scheduler against a general solver of linear programs and against the netlist.

use alir_testing::random::{self, SplitMix};
use alir2hdl::formats;
use alir2hdl::ir::{Limits, Model};
use alir2hdl::netlist::{self, Adders, BlockRegisters, Fabric, Options, lower};
use alir2hdl::schedule::{
    Delay, Effort, Goal, Objective, Reader, Root, Schedule, Uses, check, check_certificate, default_delay, schedule,
};
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use std::fs;
use std::path::Path;

/// Register bits by the linear program, written down without thought: an inequality for every pair of operations with
/// a path between them that is too long for a stage, and none with one between two of their number.
fn oracle(model: &Model, delay: &dyn Delay, uses: &Uses, stages: u32, bound: f64) -> f64 {
    let apart = inequalities(model, delay, bound);
    let (first, last) = choices(model.nodes().len(), stages, &apart);
    let end = f64::from(stages);
    let mut lp = Problem::new(OptimizationDirection::Minimize);
    let mut weight = vec![0.0; first.len()];
    let mut constant = 0.0;
    let mut weight_of_edge = vec![0.0; uses.edges().len()];
    for class in uses.classes() {
        match class.root {
            Root::Op(v) => weight[v.index()] -= f64::from(class.bits),
            Root::Input(_) => constant -= f64::from(class.bits),
            Root::Negation(_) => constant -= f64::from(class.bits) * end,
            Root::Edge(edge) => weight_of_edge[edge as usize] -= f64::from(class.bits),
        }
        if let &[Reader::Op(v)] = uses.readers(class) {
            weight[v.index()] += f64::from(class.bits);
        }
    }
    let bounds = |v: usize| (f64::from(first[v]), f64::from(last[v]));
    let stage: Vec<Variable> = weight.iter().enumerate().map(|(v, &w)| lp.add_var(w, bounds(v))).collect();
    for &(u, v, by) in &apart {
        if first[v] < last[u] + by {
            lp.add_constraint([(stage[v], 1.0), (stage[u], -1.0)], ComparisonOp::Ge, f64::from(by));
        }
    }
    let edge: Vec<Variable> = weight_of_edge.iter().map(|&w| lp.add_var(w, (1.0, end + 1.0))).collect();
    for (&place, edge) in edge.iter().zip(uses.edges()) {
        let from_op = [(place, 1.0), (stage[edge.op.index()], -1.0)];
        lp.add_constraint(from_op, ComparisonOp::Ge, f64::from(edge.from));
        lp.add_constraint(from_op, ComparisonOp::Le, f64::from(edge.to));
    }
    for class in uses.classes() {
        let readers = uses.readers(class);
        // No operation reads before the bits exist. Operations are covered above.
        for &reader in readers {
            let root = match class.root {
                Root::Op(v) => Some(stage[v.index()]),
                Root::Edge(k) => Some(edge[k as usize]),
                Root::Input(_) | Root::Negation(_) => None,
            };
            let reader = match reader {
                Reader::Op(v) => Some(stage[v.index()]),
                Reader::Edge(k) => Some(edge[k as usize]),
                Reader::Negation(_) | Reader::Port => None,
            };
            match (root, reader) {
                (Some(root), Some(reader)) => {
                    lp.add_constraint([(reader, 1.0), (root, -1.0)], ComparisonOp::Ge, 0.0);
                }
                (Some(root), None) if readers[0] != Reader::Port => {
                    lp.add_constraint([(root, 1.0)], ComparisonOp::Le, end);
                }
                _ => {}
            }
        }
        if matches!(readers, [Reader::Op(_)]) {
            continue;
        }
        let earliest = readers.iter().map(|&reader| match reader {
            Reader::Op(v) => f64::from(first[v.index()]),
            Reader::Negation(_) => end,
            Reader::Port => end + 1.0,
            Reader::Edge(_) => 1.0,
        });
        let least = earliest.fold(1.0, f64::max);
        let last_use = lp.add_var(f64::from(class.bits), (least, end + 1.0));
        for &reader in readers {
            if let Reader::Op(v) = reader
                && f64::from(last[v.index()]) > least
            {
                lp.add_constraint([(last_use, 1.0), (stage[v.index()], -1.0)], ComparisonOp::Ge, 0.0);
            }
            if let Reader::Edge(k) = reader {
                lp.add_constraint([(last_use, 1.0), (edge[k as usize], -1.0)], ComparisonOp::Ge, 0.0);
            }
        }
    }
    let solved = lp.solve().expect("the program has a solution");
    solved.into_solution().expect("no limit was set").objective() + constant
}

/// Returns the minimal distances in stages, `(u, v, by)`, with descending `u`. One more than there are operations is
/// in the last stage.
fn inequalities(model: &Model, delay: &dyn Delay, bound: f64) -> Vec<(usize, usize, u32)> {
    let n = model.nodes().len();
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
    let too_long = |path: f64| path > bound * (1.0 + 1e-9);
    let mut apart = Vec::new();
    // Whose path to whom is too long, for those that use an operation: then its own is, too.
    let mut known = vec![vec![false; n]; n];
    for u in model.ids().rev().filter(|u| live[u.index()]) {
        let mut path = vec![f64::NEG_INFINITY; n];
        path[u.index()] = own[u.index()];
        let (mut users, mut is_last) = (Vec::new(), true);
        for v in model.ids().filter(|v| live[v.index()] && *v >= u) {
            let (mut direct, mut follows) = (false, false);
            if v > u {
                let mut start = f64::NEG_INFINITY;
                model.node(v).op.for_each_operand(|w| {
                    start = start.max(path[w.index()]);
                    direct |= w == u;
                    follows |= too_long(path[w.index()]);
                });
                path[v.index()] = start + own[v.index()];
            }
            if direct {
                users.push(v.index());
                apart.push((u.index(), v.index(), 0));
            }
            if too_long(path[v.index()]) {
                known[u.index()][v.index()] = true;
                if !follows && !users.iter().any(|&c| known[c][v.index()]) {
                    apart.push((u.index(), v.index(), 1));
                }
            }
            // Its negation is in the last stage.
            is_last &= !too_long(path[v.index()] + behind[v.index()]);
        }
        if !is_last {
            apart.push((u.index(), n, 1));
        }
    }
    apart
}

/// First and last stage that the inequalities leave to each.
fn choices(n: usize, stages: u32, apart: &[(usize, usize, u32)]) -> (Vec<u32>, Vec<u32>) {
    let (mut first, mut last) = (vec![1; n + 1], vec![stages; n + 1]);
    first[n] = stages;
    for &(u, v, by) in apart.iter().rev() {
        first[v] = first[v].max(first[u] + by);
    }
    for &(u, v, by) in apart {
        last[u] = last[u].min(last[v] - by);
    }
    (first, last)
}

fn compare(what: &str, model: &Model, uses: &Uses, goal: &Goal) {
    let delay = default_delay(model);
    let outcome = schedule(model, delay, goal, uses).unwrap();
    outcome.check(model, delay, goal, uses).unwrap();
    assert_eq!(outcome.counted(), outcome.lower_bound, "{what}: not closed");
    let stages = outcome.schedule.stages;
    let expected = oracle(model, delay, uses, stages, outcome.max_stage_delay);
    let found = outcome.counted() as f64;
    assert!((expected - found).abs() < 1e-6 * found.max(1.0), "{what}: {found}, and by the program {expected}");
}

#[test]
fn random_programs_have_the_register_bits_of_the_linear_program() {
    for seed in 0..3000 {
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

/// All programs of the shared models with `n` operations, by path.
fn real_programs(operations: std::ops::Range<usize>) -> Vec<(String, Model)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models");
    let mut found = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if name.starts_with("model.") {
                let model = formats::read_path(&path, &Limits::default(), None).unwrap().0;
                if operations.contains(&model.nodes().len()) {
                    found.push((path.strip_prefix(&root).unwrap().display().to_string(), model));
                }
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Everything at 2 to 8 stages, or a few of each.
fn compare_real(programs: Vec<(String, Model)>, everything: bool) {
    for (name, model) in programs {
        let uses = netlist::uses(&model);
        for stages in (2..=8).filter(|n| everything || n % 5 == 3) {
            let what = format!("{name}, {stages} stages");
            compare(&what, &model, &uses, &Goal::stages(stages));
            if everything && stages % 3 == 2 {
                let goal = Goal { objective: Objective::Registers, ..Goal::stages(stages) };
                compare(&what, &model, &uses, &goal);
                compare(&what, &model, &Uses::whole_values(&model), &Goal::stages(stages));
            }
        }
    }
}

#[test]
fn small_real_programs_have_the_register_bits_of_the_linear_program() {
    let programs = real_programs(0..600);
    assert!(programs.len() >= 100, "{}", programs.len());
    compare_real(programs, true);
}

#[test]
fn registers_of_multiplier_blocks_are_used_as_by_the_linear_program() {
    let (mut with_edges, mut saved) = (0, 0);
    for seed in 0..3000u64 {
        let model = random::model(seed);
        let (before, behind) = ((seed / 7 % 3) as u32, (seed / 3 % 3) as u32);
        let blocks = BlockRegisters { longer: 27, shorter: 18, before, behind };
        let uses = netlist::uses_with_blocks(&model, Fabric::default(), Some(blocks));
        if uses.edges().is_empty() {
            continue;
        }
        let objective = if seed % 2 == 0 { Objective::Delay } else { Objective::Registers };
        let goal = Goal { objective, effort: Effort::Max, ..Goal::stages(1 + seed as u32 % 5) };
        compare(&format!("seed {seed}"), &model, &uses, &goal);
        let outcome = |uses| schedule(&model, default_delay(&model), &goal, uses).unwrap();
        let (plain, inside) = (outcome(&netlist::uses(&model)), outcome(&uses));
        let outside = inside.register_bits - inside.bits_in_blocks;
        assert!(inside.counted() <= inside.weight * plain.register_bits, "seed {seed}");
        assert!(inside.register_bits >= plain.register_bits, "seed {seed}");
        assert_eq!(inside.register_bits, netlist_bits(&model, &inside.schedule), "seed {seed}");
        with_edges += 1;
        saved += u32::from(outside < plain.register_bits);
    }
    assert!(with_edges > 200 && saved > 50, "{with_edges} with edges, {saved} saved");
    let model = read("var_mul");
    for (stages, (before, behind)) in [(3, (2, 2)), (5, (2, 2)), (4, (0, 1)), (6, (1, 0))] {
        let blocks = BlockRegisters { longer: 27, shorter: 18, before, behind };
        let uses = netlist::uses_with_blocks(&model, Fabric::default(), Some(blocks));
        compare(&format!("{stages} stages"), &model, &uses, &Goal::stages(stages));
    }
}

/// All of them take minutes: `scripts/matrix.sh` asks for that.
#[test]
fn real_programs_of_up_to_5000_operations_have_the_register_bits_of_the_linear_program() {
    let everything = std::env::var_os("ALIR2HDL_MATRIX").is_some();
    let mut programs = real_programs(600..5000);
    assert!(programs.len() >= 10, "{}", programs.len());
    programs.retain(|(name, _)| everything || name.ends_with("/model.json.gz"));
    compare_real(programs, everything);
}

/// Register bits of the emitted hardware.
fn netlist_bits(model: &Model, schedule: &Schedule) -> u64 {
    lower(model, schedule, &Options::default()).register_bits()
}

#[test]
fn the_scheduler_counts_the_bits_of_the_hardware() {
    let mut fewer = 0;
    for seed in 0..300 {
        let model = random::model(seed);
        for stages in [1, 4] {
            let goal = Goal { register_inputs: seed % 2 == 0, ..Goal::stages(stages) };
            for adders in [Adders::Two, Adders::Three] {
                let fabric = Fabric { adders, ..Fabric::default() };
                let uses = netlist::uses_with(&model, fabric);
                let outcome = schedule(&model, default_delay(&model), &goal, &uses).unwrap();
                let options = Options { fabric, ..Options::default() };
                let made = lower(&model, &outcome.schedule, &options).register_bits();
                // A sum within another's adder may need a bit less than by itself.
                let right = made == outcome.register_bits || (adders == Adders::Three && made < outcome.register_bits);
                fewer += u32::from(made != outcome.register_bits);
                assert!(right, "seed {seed}, {stages} stages, {adders:?}: {made} of {}", outcome.register_bits);
            }
        }
    }
    assert!(fewer < 6, "{fewer} of 600");
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
    while schedules < 1000 {
        let other = broken(&mut rng, &model, &outcome.schedule);
        if is_legal(&model, delay, outcome.max_stage_delay, &other) {
            continue;
        }
        assert!(check(&model, delay, &goal, &other).is_err());
        schedules += 1;
    }
    let proof = outcome.certificate.unwrap();
    while proofs < 1000 {
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
