//! A defect planted in the RTL is detected, and the signal where it was planted is named.

use crate::harness::{Case, read_model, simulators};
use alir2hdl::emit::Language;
use alir2hdl::netlist::Options;
use alir2hdl::schedule;
use alir2hdl::verify::{Check, Deadline, Finding, Origin, Simulator, Tools};
use std::time::Duration;

/// Turns the first sum of the RTL into a difference. Returns the RTL and the name of the sum.
fn planted(text: &str, language: Language) -> (String, String) {
    let is_sum = |line: &&str| line.contains(" + ") && !line.trim_start().starts_with(['/', '-']);
    let line = text.lines().find(is_sum).expect("the model has a sum");
    // `wire [7:0] v5 = ...`, `assign v5 = ...` or `v5 <= ...`.
    let (left, right) = line.split_once(if language == Language::Verilog { " = " } else { " <= " }).expect("assigned");
    let name = left.split_whitespace().last().expect("a name").to_owned();
    let operation = right.split("//").next().and_then(|r| r.split("--").next()).expect("an operation");
    assert!(operation.contains(" + "), "{line}");
    (text.replacen(line, &line.replacen(" + ", " - ", 1), 1), name)
}

fn find(case: &Case, language: Language, text: &str, simulator: &dyn Simulator) -> Finding {
    let dir = tempfile::tempdir().unwrap();
    let check = Check { netlist: &case.netlist, text, language, vhdl_standard: "93", cycles: &case.cycles, vcd: false };
    let deadline = Deadline::after(Duration::from_secs(600));
    check.run(simulator, &Tools::from_environment(), dir.path(), deadline).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn sim_a_planted_mistake_is_traced_to_its_signal() {
    let model = read_model("wide_acc");
    for stages in [0, 3] {
        let schedule = schedule::random(&model, stages, stages > 0, 5);
        let options = Options { valid: stages > 0, enable: stages > 0, ..Options::default() };
        let case = Case::new(&model, &schedule, &options, 60, 1);
        for language in [Language::Verilog, Language::Vhdl] {
            let (_, right) = case.text(language);
            let right = String::from_utf8(right).unwrap();
            let (wrong, name) = planted(&right, language);
            for simulator in simulators(language) {
                let finding = find(&case, language, &wrong, simulator);
                let Some(Origin::Text(signal)) = finding.origin else {
                    panic!("{} at {stages}: {:?}", simulator.name(), finding.origin)
                };
                assert_eq!(signal.name, name, "{} at {stages}: {signal}", simulator.name());
                assert!(!finding.report.mismatches.is_empty());
            }
        }
    }
}
