//! One suite of semantics, for every component that runs a program: the reference interpreter, the batch engine in
//! every instruction set, the netlist at several depths, and the program after the optimisation passes.
//! `hdl_tests/semantics.rs` runs the same cases in the simulators.

mod cases;

use alir2hdl::interp::{InstructionSet, LookupMiss, Plan, PlanOptions, golden};
use alir2hdl::ir::Model;
use alir2hdl::netlist::{Evaluator, Options, lower};
use alir2hdl::passes;
use alir2hdl::schedule::{self, Schedule};
use cases::{all_in_one, examples};
use num_bigint::BigInt;

/// Something that runs a program on samples, a lookup outside its table reading zero.
type Evaluate = fn(&Model, &[Vec<BigInt>]) -> Vec<Vec<BigInt>>;

/// Every example alone, then all in one program.
fn check(evaluate: Evaluate) {
    let mut all = examples();
    assert!(all.len() > 70);
    all.push(all_in_one());
    for example in all {
        assert_eq!(evaluate(&example.model, &example.inputs), example.outputs, "{}", example.name);
    }
}

fn by_golden(model: &Model, samples: &[Vec<BigInt>]) -> Vec<Vec<BigInt>> {
    samples.iter().map(|codes| golden(model, codes, LookupMiss::Zero).expect("misses read zero")).collect()
}

fn by_engine(model: &Model, samples: &[Vec<BigInt>], set: InstructionSet) -> Vec<Vec<BigInt>> {
    let lookup_miss = LookupMiss::Zero;
    let options = PlanOptions { lookup_miss, instruction_set: Some(set), ..PlanOptions::default() };
    let plan = Plan::new(model, options);
    let columns = model.outputs().len();
    let mut outputs = vec![BigInt::from(0); samples.len() * columns];
    assert_eq!(plan.runner().run_exact(&samples.concat(), &mut outputs), []);
    outputs.chunks(columns).map(<[BigInt]>::to_vec).collect()
}

fn by_netlist(model: &Model, samples: &[Vec<BigInt>], schedule: &Schedule) -> Vec<Vec<BigInt>> {
    let netlist = lower(model, schedule, &Options::default());
    netlist.check().unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut evaluator = Evaluator::new(&netlist);
    let wait = (netlist.interface.latency as usize).max(1);
    // The last sample stays on the port until its result is there.
    let clocks = samples.iter().chain(std::iter::repeat_n(&samples[samples.len() - 1], wait - 1));
    let results: Vec<Vec<BigInt>> = clocks.map(|codes| evaluator.clock(codes)).collect();
    results[wait - 1..].to_vec()
}

#[test]
fn golden_interpreter() {
    check(by_golden);
}

#[test]
fn batch_engine_baseline() {
    check(|model, samples| by_engine(model, samples, InstructionSet::Baseline));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn batch_engine_avx2() {
    check(|model, samples| by_engine(model, samples, InstructionSet::Avx2));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn batch_engine_avx512() {
    check(|model, samples| by_engine(model, samples, InstructionSet::Avx512));
}

#[cfg(all(target_arch = "x86_64", unix))]
#[test]
fn batch_engine_machine_code_of_avx2() {
    check(|model, samples| by_engine(model, samples, InstructionSet::CompiledAvx2));
}

#[cfg(all(target_arch = "x86_64", unix))]
#[test]
fn batch_engine_machine_code_of_avx512() {
    check(|model, samples| by_engine(model, samples, InstructionSet::Compiled));
}

#[test]
fn combinational_netlist() {
    check(|model, samples| by_netlist(model, samples, &Schedule::combinational(model.nodes().len())));
}

#[test]
fn pipelined_netlist() {
    check(|model, samples| by_netlist(model, samples, &schedule::random(model, 3, true, 1)));
}

#[test]
fn programs_after_the_passes_of_each_level() {
    check(|model, samples| by_golden(&passes::run(model, passes::pipeline(1)).0, samples));
    check(|model, samples| by_golden(&passes::run(model, passes::pipeline(2)).0, samples));
}

#[test]
fn each_pass_alone() {
    check(|model, samples| {
        let expected = by_golden(model, samples);
        for pass in passes::PASSES {
            assert_eq!(by_golden(&passes::run(model, &[pass.name]).0, samples), expected, "{}", pass.name);
        }
        expected
    });
}
