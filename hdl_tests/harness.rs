//! What the tests share: finding simulators, running jobs, and judging what comes back.

use alir2hdl::emit::Language;
use alir2hdl::verify::{Bench, Cycles, Deadline, Job, Report, SIMULATORS, SimError, Simulator, Tools};
use std::time::Duration;

/// The simulators of a language that are installed. One that is not is named on stderr.
///
/// # Panics
/// If a simulator that `ALIR2HDL_REQUIRE` lists is not found.
pub(crate) fn simulators(language: Language) -> Vec<&'static dyn Simulator> {
    let tools = Tools::of_environment();
    let mut found = Vec::new();
    for simulator in SIMULATORS.iter().filter(|s| s.languages().contains(&language)) {
        match simulator.probe(&tools) {
            Ok(_) => found.push(*simulator),
            Err(error) => skip(simulator.name(), &error.to_string()),
        }
    }
    found
}

/// Says that something is skipped because of a tool that is not there.
///
/// # Panics
/// If the tool has to be there.
pub(crate) fn skip(tool: &str, why: &str) {
    let required = std::env::var("ALIR2HDL_REQUIRE").unwrap_or_default();
    assert!(!required.split_whitespace().any(|r| r == tool), "{tool} is installed but cannot be used: {why}");
    eprintln!("skipped: {tool}: {why}");
}

/// Runs lanes on one simulator.
pub(crate) fn simulate(
    simulator: &dyn Simulator,
    language: Language,
    standard: &str,
    design: &[(String, Vec<u8>)],
    lanes: &[Cycles],
) -> Result<Report, SimError> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let job = Job {
        design,
        language,
        bench: Bench { lanes, vcd: false },
        vhdl_standard: standard,
        dir: dir.path(),
        deadline: Deadline::after(Duration::from_secs(900)),
    };
    simulator.run(&job, &Tools::of_environment())
}
