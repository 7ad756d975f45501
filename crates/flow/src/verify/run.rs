//! Simulation of one module in one simulator, and the origin of the first difference.

use super::bench::{Bench, Testbench};
use super::compare::Report;
use super::cycles::Cycles;
use super::locate::{DifferingSignal, first_difference};
use super::sim::{Deadline, Job, SimError, Simulator, Tools};
use alir_core::files::FileSet;
use alir_hw::emit::Language;
use alir_hw::netlist::Netlist;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::slice;

/// A module and its expected behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// The hardware.
    pub netlist: &'a Netlist,
    /// RTL of the module.
    pub text: &'a str,
    /// The language of the RTL.
    pub language: Language,
    /// VHDL revision for simulators with such an option (`93` or `08`).
    pub vhdl_standard: &'a str,
    /// The simulated cycles with the expected outputs.
    pub cycles: &'a Cycles,
    /// `true` if a value change dump of the whole run is written.
    pub vcd: bool,
}

/// Result of a simulation.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Comparison of the simulated outputs with the expected outputs.
    pub report: Report,
    /// Origin of the first difference, if there is one.
    pub origin: Option<Origin>,
}

/// Origin of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A signal of the simulated RTL that differs from the netlist from which the RTL was generated.
    Text(DifferingSignal),
    /// No signal differs from the netlist, so the netlist differs from the model.
    Netlist,
}

impl Check<'_> {
    /// Simulates in the empty folder `dir`. After a difference, a second, short run records all signals.
    ///
    /// # Errors
    /// As [`Simulator::run`].
    pub fn run(
        &self,
        simulator: &dyn Simulator,
        tools: &Tools,
        dir: &Path,
        deadline: Deadline,
    ) -> Result<Finding, SimError> {
        let report = self.simulate(simulator, tools, self.cycles, self.vcd, dir, deadline)?;
        let Some(first) = report.mismatches.first() else { return Ok(Finding { report, origin: None }) };
        let window = self.cycles.window(&self.netlist.interface, first.cycle);
        let closer = dir.join("closer");
        std::fs::create_dir(&closer).map_err(SimError::Io)?;
        self.simulate(simulator, tools, &window, true, &closer, deadline)?;
        let dump = File::open(closer.join("wave.vcd")).map_err(SimError::Io)?;
        let signal = first_difference(self.netlist, &window, BufReader::new(dump)).map_err(SimError::Io)?;
        let first_cycle = first.cycle + 1 - window.cycles.len();
        let origin =
            signal.map_or(Origin::Netlist, |s| Origin::Text(DifferingSignal { cycle: s.cycle + first_cycle, ..s }));
        Ok(Finding { report, origin: Some(origin) })
    }

    fn simulate(
        &self,
        simulator: &dyn Simulator,
        tools: &Tools,
        cycles: &Cycles,
        vcd: bool,
        dir: &Path,
        deadline: Deadline,
    ) -> Result<Report, SimError> {
        let file = format!("{}.{}", self.netlist.interface.top, self.language.extension());
        let job = Job {
            design: &[(file, self.text.as_bytes().to_vec())],
            language: self.language,
            bench: &Bench { lanes: slice::from_ref(cycles), vcd },
            vhdl_standard: self.vhdl_standard,
            dir,
            deadline,
        };
        simulator.run(&job, tools)
    }
}

/// Files of a design, and a testbench that checks the design as a whole.
#[derive(Clone, Copy)]
pub struct BenchCheck<'a> {
    /// The sources, in the order in which a compiler must read them.
    pub design: &'a [(String, Vec<u8>)],
    /// Files that the sources read and that are not compiled.
    pub beside: &'a [(String, Vec<u8>)],
    /// The language of the sources.
    pub language: Language,
    /// VHDL revision for simulators with such an option (`93` or `08`).
    pub vhdl_standard: &'a str,
    /// The testbench.
    pub bench: &'a dyn Testbench,
}

impl BenchCheck<'_> {
    /// Simulates in the empty folder `dir`.
    ///
    /// # Errors
    /// As [`Simulator::run`].
    pub fn run(
        &self,
        simulator: &dyn Simulator,
        tools: &Tools,
        dir: &Path,
        deadline: Deadline,
    ) -> Result<Finding, SimError> {
        let mut beside = FileSet::default();
        self.beside.iter().for_each(|(name, bytes)| beside.add(name.clone(), bytes.clone()));
        beside.write_to(dir).map_err(SimError::Io)?;
        let (design, language, bench) = (self.design, self.language, self.bench);
        let job = Job { design, language, bench, vhdl_standard: self.vhdl_standard, dir, deadline };
        simulator.run(&job, tools).map(|report| Finding { report, origin: None })
    }
}
