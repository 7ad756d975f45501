//! Icarus Verilog: interprets; four-valued, so that it also sees what was never driven.

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
        // By the extension: our own text, and hardware from elsewhere.
        let is_system = job.design_names().any(|name| name.ends_with(".sv"));
        let compile = Invocation::new(compiler)
            .args([if is_system { "-g2012" } else { "-g2001" }, "-o", "simulation.vvp", "-s"])
            .arg(job.bench.name())
            .args(job.design_names())
            .arg("bench.v");
        job.compile(&compile, "compile.log")?;
        // -n: end instead of asking when something interrupts.
        job.simulate(&Invocation::new(engine).args(["-n", "simulation.vvp"]))
    }
}
