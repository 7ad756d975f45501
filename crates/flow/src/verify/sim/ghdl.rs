//! GHDL: VHDL simulator with nine-valued logic.

use super::{Invocation, Job, Report, SimError, Simulator, Tools, locate};
use alir_core::files::FileSet;
use alir_hw::emit::Language;

/// GHDL, with any of its code generators.
#[derive(Clone, Copy, Debug)]
pub struct Ghdl;

impl Simulator for Ghdl {
    fn name(&self) -> &'static str {
        "ghdl"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["ghdl"]
    }

    fn languages(&self) -> &'static [Language] {
        &[Language::Vhdl]
    }

    fn version_argument(&self) -> &'static str {
        "--version"
    }

    fn run(&self, job: &Job<'_>, tools: &Tools) -> Result<Report, SimError> {
        let ghdl = locate(tools, "ghdl")?;
        job.write_inputs()?;
        let mut files = FileSet::default();
        files.add("bench.vhd", job.bench.vhdl());
        job.write(&files)?;
        let standard = format!("--std={}", job.vhdl_standard);
        let step = |command: &str| Invocation::new(&ghdl).arg(command).arg(&standard);
        job.compile(&step("-a").args(job.design_names()).arg("bench.vhd"), "analyse.log")?;
        // Only the code generators that build a program need this step; the others elaborate at run time.
        job.compile(&step("-e").arg(job.bench.name()), "elaborate.log")?;
        // Warnings about operands that are unknown at time 0 are expected.
        let mut run = step("-r").arg(job.bench.name()).arg("--ieee-asserts=disable-at-0");
        if job.bench.vcd() {
            run = run.arg("--vcd=wave.vcd");
        }
        job.simulate(&run)
    }
}
