//! Icarus Verilog: an interpreter with four-valued logic, which also detects signals that were never driven.

use super::{Invocation, Job, Report, SimError, Simulator, Tools, locate};
use alir_core::files::FileSet;
use alir_hw::emit::Language;

/// Icarus Verilog (`iverilog` and `vvp`).
#[derive(Clone, Copy, Debug)]
pub struct Icarus;

impl Simulator for Icarus {
    fn name(&self) -> &'static str {
        "iverilog"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["iverilog", "vvp"]
    }

    fn languages(&self) -> &'static [Language] {
        &[Language::Verilog, Language::SystemVerilog]
    }

    fn version_argument(&self) -> &'static str {
        "-V"
    }

    fn run(&self, job: &Job<'_>, tools: &Tools) -> Result<Report, SimError> {
        let (compiler, engine) = (locate(tools, "iverilog")?, locate(tools, "vvp")?);
        job.write_inputs()?;
        let mut files = FileSet::default();
        files.add("bench.v", job.bench.verilog());
        job.write(&files)?;
        // The file name extension decides, for generated and for third-party hardware.
        let is_system = job.design_names().any(|name| name.ends_with(".sv"));
        let compile = Invocation::new(compiler)
            .args([if is_system { "-g2012" } else { "-g2001" }, "-o", "simulation.vvp", "-s"])
            .arg(job.bench.name())
            .args(job.design_names())
            .arg("bench.v");
        job.compile(&compile, "compile.log")?;
        // With `-n`, an interrupt ends the simulation instead of starting a prompt.
        job.simulate(&Invocation::new(engine).args(["-n", "simulation.vvp"]))
    }
}
