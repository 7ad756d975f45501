//! Simulators: what they can do, whether they are there, and running a job on them.
//!
//! A job is a folder: design, testbench and rows are written into it, every command that is run there is added to its
//! `run.sh`, and nothing outside is touched. No tool can hang us: a job has a time limit.

mod ghdl;
mod iverilog;
pub(super) mod process;
mod tools;
mod verilator;

pub use ghdl::Ghdl;
pub use iverilog::Icarus;
pub use process::end_all;
pub use tools::Tools;
pub use verilator::Verilator;

use super::bench::Testbench;
use super::compare::Report;
use alir_core::diag::{Diagnostic, Place};
use alir_core::files::{FileSet, Scratch};
use alir_hw::emit::Language;
use process::{Invocation, log_tail};
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A simulator.
pub trait Simulator: Sync {
    /// Its name on our command line.
    fn name(&self) -> &'static str;

    /// The programs that it needs; the first is the one to name when it is not there.
    fn programs(&self) -> &'static [&'static str];

    /// What it reads.
    fn languages(&self) -> &'static [Language];

    /// Arguments that make it print its version.
    fn version_argument(&self) -> &'static str;

    /// Compiles design and testbench in the job's folder and runs them.
    ///
    /// # Errors
    /// A tool that is missing, refuses the text, takes too long or ends without a report.
    fn run(&self, job: &Job<'_>, tools: &Tools) -> Result<Report, SimError>;

    /// Its version if all its programs are there.
    ///
    /// # Errors
    /// [`SimError::Missing`] with the first program that is not there.
    fn probe(&self, tools: &Tools) -> Result<String, SimError> {
        for program in self.programs() {
            locate(tools, program)?;
        }
        let dir = Scratch::new().map_err(SimError::Io)?;
        let ask = Invocation::new(locate(tools, self.programs()[0])?).arg(self.version_argument());
        process::run(&ask, dir.path(), "version", Deadline::after(Duration::from_secs(60)))?;
        let said = log_tail(&dir.path().join("version"));
        // Icarus ends in `(stable) ()`, which says nothing to anybody.
        let words = said.lines().next().unwrap_or_default().split_whitespace();
        Ok(words.filter(|word| !["()", "(stable)"].contains(word)).collect::<Vec<_>>().join(" "))
    }
}

/// All simulators, fastest first.
pub const SIMULATORS: &[&dyn Simulator] = &[&Verilator, &Icarus, &Ghdl];

/// When a job has to be done.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    end: Instant,
    allowed: Duration,
}

impl Deadline {
    /// This much time from now.
    pub fn after(allowed: Duration) -> Deadline {
        Deadline { end: Instant::now() + allowed, allowed }
    }

    fn passed(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// Something to simulate.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The design, in the order in which a compiler must read it.
    pub design: &'a [(String, Vec<u8>)],
    /// Its language.
    pub language: Language,
    /// The testbench.
    pub bench: &'a dyn Testbench,
    /// VHDL revision for tools that ask (`93` or `08`).
    pub vhdl_standard: &'a str,
    /// An empty folder.
    pub dir: &'a Path,
    /// Time limit for everything together.
    pub deadline: Deadline,
}

/// Why there is no result.
#[derive(Debug)]
pub enum SimError {
    /// A program is not there.
    Missing {
        /// Its name.
        program: &'static str,
    },
    /// A tool refused the text.
    Refused {
        /// The command.
        command: String,
        /// The end of what it said.
        log: String,
    },
    /// It took too long and was ended.
    Timeout {
        /// What it was given.
        after: Duration,
    },
    /// A compiler was ended by a signal, or the simulation ended without a complete report.
    Crashed {
        /// The command.
        command: String,
        /// The end of what it said.
        log: String,
    },
    /// A file or process could not be made.
    Io(io::Error),
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimError::Missing { program } => write!(f, "`{program}` was not found"),
            SimError::Refused { command, log } => write!(f, "`{command}` refused the generated text:\n{log}"),
            SimError::Timeout { after } => write!(f, "not done after {} s", after.as_secs()),
            SimError::Crashed { command, log } => write!(f, "`{command}` ended without a report:\n{log}"),
            SimError::Io(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for SimError {}

impl SimError {
    /// The error for people, about this simulator.
    pub fn diagnostic(&self, simulator: &dyn Simulator) -> Diagnostic {
        let message = format!("{}: {self}", simulator.name());
        let error = |code| Diagnostic::error(code, Place::Whole, message.clone());
        match self {
            SimError::Missing { program } => error(MISSING_TOOL).with_help(format!(
                "install it (Debian and Ubuntu: apt install {}), put its folder on PATH or ALIR2HDL_TOOLS, or name it \
                 in ALIR2HDL_{}",
                simulator.name(),
                program.to_uppercase().replace('+', "_"),
            )),
            SimError::Refused { .. } => error("E1002"),
            SimError::Timeout { .. } => {
                error("E1003").with_help("allow more with --timeout, or ask for fewer --vectors")
            }
            SimError::Crashed { .. } => error("E1004"),
            SimError::Io(_) => error("E1005"),
        }
    }
}

/// The code of a tool that is needed and is not there, whichever it is: exit code 3.
pub const MISSING_TOOL: &str = "E1001";

/// Where a program is.
fn locate(tools: &Tools, program: &'static str) -> Result<PathBuf, SimError> {
    tools.find(program).ok_or(SimError::Missing { program })
}

impl Job<'_> {
    /// Writes files into the job's folder.
    fn write(&self, files: &FileSet) -> Result<(), SimError> {
        files.write_to(self.dir).map_err(SimError::Io)
    }

    /// Writes the design and the rows.
    fn write_inputs(&self) -> Result<(), SimError> {
        let mut files = self.bench.rows();
        for (name, text) in self.design {
            files.add(name.clone(), text.clone());
        }
        self.write(&files)
    }

    /// Names of the design's files.
    fn design_names(&self) -> impl Iterator<Item = &str> {
        self.design.iter().map(|(name, _)| name.as_str())
    }

    /// Adds a line to `run.sh`, by which the job can be done again by hand.
    fn note(&self, line: &str) -> Result<(), SimError> {
        let path = self.dir.join("run.sh");
        let fresh = !path.exists();
        let mut script = OpenOptions::new().create(true).append(true).open(path).map_err(SimError::Io)?;
        let head = if fresh { "#!/bin/sh\nset -e\ncd \"$(dirname \"$0\")\"\n" } else { "" };
        writeln!(script, "{head}{line}").map_err(SimError::Io)
    }

    /// Runs a compiler, whose failure means that it refused the text, unless a signal ended it.
    fn compile(&self, what: &Invocation, log: &str) -> Result<(), SimError> {
        self.note(&what.shell())?;
        let status = process::run(what, self.dir, log, self.deadline)?;
        if status.success() {
            return Ok(());
        }
        let (command, log) = (what.shell(), log_tail(&self.dir.join(log)));
        match status.code() {
            // A shell tells of its command's signal by 128 and more; Icarus ends with the number of errors, whatever it is.
            Some(code) if code < 128 || log.contains("syntax error") || log.contains("error: ") => {
                Err(SimError::Refused { command, log })
            }
            _ => Err(SimError::Crashed { command, log }),
        }
    }

    /// Runs the simulation and reads what it reports.
    fn simulate(&self, what: &Invocation) -> Result<Report, SimError> {
        self.note(&what.shell())?;
        let status = process::run(what, self.dir, "simulation.log", self.deadline)?;
        let log = self.dir.join("simulation.log");
        let said = std::fs::read(&log).map_err(SimError::Io)?;
        let report = self.bench.read(&String::from_utf8_lossy(&said));
        match report {
            // A bench that found something ends with a failure.
            Some(report) if status.success() == (report.wrong_rows == 0) => Ok(report),
            _ => Err(SimError::Crashed { command: what.shell(), log: log_tail(&log) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_simulator_is_named_with_a_way_out() {
        let nowhere = Tools::in_folders([]);
        for simulator in SIMULATORS {
            let error = simulator.probe(&nowhere).unwrap_err();
            let text = error.diagnostic(*simulator).to_string();
            assert!(text.contains(&format!("`{}` was not found", simulator.programs()[0])), "{text}");
            assert!(text.contains("apt install"), "{text}");
        }
    }
}
