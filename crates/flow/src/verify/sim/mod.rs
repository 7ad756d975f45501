//! Simulators: their capabilities, their detection, and the execution of a job.
//!
//! A job has a folder with the design, the testbench and the files that the testbench reads. Each command of a job is
//! appended to `run.sh` in the job's folder, and no file outside that folder is written. A job has a time limit, so
//! that no tool can block the program.

mod ghdl;
mod iverilog;
pub(super) mod process;
mod tools;
mod verilator;

pub use ghdl::Ghdl;
pub use iverilog::Icarus;
pub use process::{RunningTool, end_all};
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
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// A simulator.
pub trait Simulator: Sync {
    /// Returns the name of the simulator on the command line.
    fn name(&self) -> &'static str;

    /// Returns the names of the required programs.
    fn programs(&self) -> &'static [&'static str];

    /// Returns the supported languages.
    fn languages(&self) -> &'static [Language];

    /// Returns the argument that prints the version.
    fn version_argument(&self) -> &'static str;

    /// Compiles design and testbench in the job's folder and runs them.
    ///
    /// # Errors
    /// If a tool is missing, rejects the RTL, exceeds the time limit or ends without a report.
    fn run(&self, job: &Job<'_>, tools: &Tools) -> Result<Report, SimError>;

    /// Returns the version of the simulator if all its programs exist.
    ///
    /// # Errors
    /// [`SimError::Missing`] with the first program that is missing.
    fn probe(&self, tools: &Tools) -> Result<String, SimError> {
        for program in self.programs() {
            locate(tools, program)?;
        }
        let dir = Scratch::new().map_err(SimError::Io)?;
        let ask = Invocation::new(locate(tools, self.programs()[0])?).arg(self.version_argument());
        process::run(&ask, dir.path(), "version", Deadline::after(Duration::from_secs(60)))?;
        let said = log_tail(&dir.path().join("version"));
        // The version of Icarus ends in `(stable) ()`, which carries no information.
        let words = said.lines().next().unwrap_or_default().split_whitespace();
        Ok(words.filter(|word| !["()", "(stable)"].contains(word)).collect::<Vec<_>>().join(" "))
    }
}

/// All simulators, fastest first.
pub const SIMULATORS: &[&dyn Simulator] = &[&Verilator, &Icarus, &Ghdl];

/// Time at which a job is cancelled.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    end: Instant,
    allowed: Duration,
}

impl Deadline {
    /// Returns the deadline that is `allowed` from now.
    pub fn after(allowed: Duration) -> Deadline {
        Deadline { end: Instant::now() + allowed, allowed }
    }

    fn passed(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// A design to simulate with its testbench.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Sources of the design, in the order in which a compiler must read them.
    pub design: &'a [(String, Vec<u8>)],
    /// Language of the design.
    pub language: Language,
    /// The testbench.
    pub bench: &'a dyn Testbench,
    /// VHDL revision for tools with such an option (`93` or `08`).
    pub vhdl_standard: &'a str,
    /// Folder of the job, which is empty at the start.
    pub dir: &'a Path,
    /// Time limit for the whole job.
    pub deadline: Deadline,
}

/// Error of a simulation without a result.
#[derive(Debug)]
pub enum SimError {
    /// A program is missing.
    Missing {
        /// Name of the program.
        program: &'static str,
    },
    /// A tool rejected the RTL.
    Refused {
        /// The command.
        command: String,
        /// End of the tool's output.
        log: String,
    },
    /// The time limit was exceeded.
    Timeout {
        /// The time limit.
        after: Duration,
    },
    /// A compiler crashed, or the simulation ended without a complete report.
    Crashed {
        /// The command.
        command: String,
        /// Cause of the end.
        cause: Cause,
        /// End of the tool's output.
        log: String,
    },
    /// A file or process could not be created.
    Io(io::Error),
}

/// Cause of the early end of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The tool ran out of memory; with the signal that ended it, if any.
    Memory(Option<i32>),
    /// A signal.
    Signal(i32),
    /// An internal error of the tool, with this exit code.
    Internal(i32),
    /// The tool reported no cause, and its output has no complete report.
    NoReport,
}

impl Cause {
    /// Returns the cause from the exit status and the log; `None` for a tool that rejects its input.
    fn from_end(status: ExitStatus, log: &str) -> Option<Cause> {
        const MEMORY: &[&str] = &[
            "out of memory",
            "memory exhausted",
            "cannot allocate memory",
            "bad_alloc",
            "storage_error",
            "heap exhausted",
            "stack overflow",
            "killed signal terminated program",
        ];
        const INTERNAL: &[&str] = &[
            "bug occurred",
            "internal compiler error",
            "internal error",
            "internal fault",
            "assertion failed",
            "segmentation fault",
            "panicked at",
        ];
        let log = log.to_ascii_lowercase();
        let mentions = |words: &[&str]| words.iter().any(|word| log.contains(word));
        // A shell reports a signal of its command as the exit code 128 + signal.
        let signal =
            status.signal().or_else(|| status.code().filter(|code| (129..160).contains(code)).map(|c| c - 128));
        match signal {
            _ if status.success() => None,
            // The kernel sends SIGKILL to a process that exhausts the memory.
            _ if mentions(MEMORY) || signal == Some(9) => Some(Cause::Memory(signal)),
            Some(signal) => Some(Cause::Signal(signal)),
            None if mentions(INTERNAL) => Some(Cause::Internal(status.code().unwrap_or_default())),
            None => None,
        }
    }
}

/// Returns the name of a signal that ends processes.
fn signal_name(signal: i32) -> String {
    const NAMES: &[(i32, &str)] = &[
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (15, "SIGTERM"),
        (24, "SIGXCPU"),
        (25, "SIGXFSZ"),
        (31, "SIGSYS"),
    ];
    let name = NAMES.iter().find(|(number, _)| *number == signal);
    name.map_or_else(|| format!("signal {signal}"), |(_, name)| format!("signal {signal}, {name}"))
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Cause::Memory(None) => write!(f, "ran out of memory"),
            Cause::Memory(Some(signal)) => write!(f, "ran out of memory or was killed ({})", signal_name(signal)),
            Cause::Signal(signal) => write!(f, "crashed ({})", signal_name(signal)),
            Cause::Internal(code) => write!(f, "crashed (its own internal error, exit code {code})"),
            Cause::NoReport => write!(f, "ended without a report"),
        }
    }
}

impl SimError {
    /// Returns the error in one line, and the end of the tool's log if a log exists.
    fn parts(&self) -> (String, Option<&str>) {
        match self {
            SimError::Missing { program } => (format!("`{program}` was not found"), None),
            SimError::Refused { command, log } => (format!("`{command}` rejected the generated RTL:"), Some(log)),
            SimError::Timeout { after } => (format!("not finished after {} s", after.as_secs()), None),
            SimError::Crashed { command, cause, log } if log.is_empty() => (format!("`{command}` {cause}"), None),
            SimError::Crashed { command, cause, log } => (format!("`{command}` {cause}:"), Some(log)),
            SimError::Io(e) => (format!("cannot read or write: {e}"), None),
        }
    }
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, log) = self.parts();
        f.write_str(&line)?;
        log.map_or(Ok(()), |log| write!(f, "\n{log}"))
    }
}

impl std::error::Error for SimError {}

impl SimError {
    /// Returns the diagnostic of this error for a simulator.
    pub fn diagnostic(&self, simulator: &dyn Simulator) -> Diagnostic {
        let (line, log) = self.parts();
        let error = |code| {
            let error = Diagnostic::error(code, Place::Whole, format!("{}: {line}", simulator.name()));
            if let Some(log) = log { error.with_detail(log) } else { error }
        };
        match self {
            SimError::Missing { program } => error(MISSING_TOOL).with_help(format!(
                "install it (Debian and Ubuntu: apt install {}), put its folder on PATH or ALIR2HDL_TOOLS, or name it \
                 in ALIR2HDL_{}",
                simulator.name(),
                program.to_uppercase().replace('+', "_"),
            )),
            SimError::Refused { .. } => error("E1002"),
            SimError::Timeout { .. } => error("E1003").with_help("allow more with --timeout, or use fewer --vectors"),
            SimError::Crashed { cause: Cause::Memory(_), .. } => {
                error("E1004").with_help("give it more memory, or choose another simulator with --sim")
            }
            SimError::Crashed { cause: Cause::Signal(_) | Cause::Internal(_), .. } => error("E1004").with_help(
                "a limit or a bug of the simulator: another one (--sim), or a newer version, may simulate the design",
            ),
            SimError::Crashed { .. } => error("E1004"),
            SimError::Io(_) => error("E1005"),
        }
    }
}

/// Error code for any missing tool (exit code 3).
pub const MISSING_TOOL: &str = "E1001";

/// Returns the path of a program.
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

    /// Returns the names of the design's files.
    fn design_names(&self) -> impl Iterator<Item = &str> {
        self.design.iter().map(|(name, _)| name.as_str())
    }

    /// Adds a command to `run.sh`, with which a user can repeat the job.
    fn note(&self, line: &str) -> Result<(), SimError> {
        let path = self.dir.join("run.sh");
        let fresh = !path.exists();
        let mut script = OpenOptions::new().create(true).append(true).open(path).map_err(SimError::Io)?;
        let head = if fresh { "#!/bin/sh\nset -e\ncd \"$(dirname \"$0\")\"\n" } else { "" };
        writeln!(script, "{head}{line}").map_err(SimError::Io)
    }

    /// Runs a compiler. A failure without signs of a crash means that the compiler rejects the RTL.
    fn compile(&self, what: &Invocation, log: &str) -> Result<(), SimError> {
        self.note(&what.shell())?;
        let status = process::run(what, self.dir, log, self.deadline)?;
        if status.success() {
            return Ok(());
        }
        let (command, log) = (what.shell(), log_tail(&self.dir.join(log)));
        self.check_space(&log)?;
        // The exit code of Icarus is the number of errors, which may equal the exit code for a signal.
        let counts_errors = status.code().is_some() && (log.contains("syntax error") || log.contains("error: "));
        match Cause::from_end(status, &log) {
            Some(Cause::Signal(_)) if counts_errors => Err(SimError::Refused { command, log }),
            Some(cause) => Err(SimError::Crashed { command, cause, log }),
            None if status.code().is_some_and(|code| code < 128) || counts_errors => {
                Err(SimError::Refused { command, log })
            }
            None => Err(SimError::Crashed { command, cause: Cause::NoReport, log }),
        }
    }

    /// Returns an error if the disk is full: then a tool may have failed although it does not reject the RTL.
    fn check_space(&self, log: &str) -> Result<(), SimError> {
        if log.contains("No space left on device") {
            return Err(SimError::Io(io::ErrorKind::StorageFull.into()));
        }
        if log.contains("Disk quota exceeded") {
            return Err(SimError::Io(io::ErrorKind::QuotaExceeded.into()));
        }
        // The log may be incomplete for lack of space, so this function tries to write a file.
        let room = self.dir.join("room");
        let written = std::fs::write(&room, [b' '; 1 << 12]);
        // A failure to delete the file is harmless.
        let _ = std::fs::remove_file(&room);
        written.map_err(SimError::Io)
    }

    /// Runs the simulation and parses its report.
    fn simulate(&self, what: &Invocation) -> Result<Report, SimError> {
        self.note(&what.shell())?;
        let status = process::run(what, self.dir, "simulation.log", self.deadline)?;
        let log = self.dir.join("simulation.log");
        let said = std::fs::read(&log).map_err(SimError::Io)?;
        let report = self.bench.read(&String::from_utf8_lossy(&said));
        match report {
            // A testbench with mismatches exits with a failure status.
            Some(report) if status.success() == (report.wrong_rows == 0) => Ok(report),
            _ => {
                let log = log_tail(&log);
                self.check_space(&log)?;
                let cause = Cause::from_end(status, &log).unwrap_or(Cause::NoReport);
                Err(SimError::Crashed { command: what.shell(), cause, log })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(raw_status: i32, log: &str) -> Option<String> {
        Cause::from_end(ExitStatus::from_raw(raw_status), log).map(|cause| cause.to_string())
    }

    #[test]
    fn the_cause_of_a_failed_tool_is_named() {
        let code = |code: i32| code << 8;
        assert_eq!(cause(11, "").as_deref(), Some("crashed (signal 11, SIGSEGV)"));
        assert_eq!(cause(code(128 + 6), "").as_deref(), Some("crashed (signal 6, SIGABRT)"));
        assert_eq!(cause(9, "").as_deref(), Some("ran out of memory or was killed (signal 9, SIGKILL)"));
        assert_eq!(cause(34, "").as_deref(), Some("crashed (signal 34)"));
        for said in ["raised STORAGE_ERROR : s-stalib", "what(): std::bad_alloc", "virtual memory exhausted: x"] {
            assert_eq!(cause(code(1), said).as_deref(), Some("ran out of memory"), "{said}");
        }
        for said in ["**** GHDL Bug occurred ****\nraised CONSTRAINT_ERROR", "%Error: Internal Error: V3x.cpp:1"] {
            let expected = "crashed (its own internal error, exit code 1)";
            assert_eq!(cause(code(1), said).as_deref(), Some(expected), "{said}");
        }
        // A tool that rejects its input has no cause, nor has a tool that succeeds, with any content of the log.
        assert_eq!(cause(code(1), "t.vhd:1:1: unexpected token"), None);
        assert_eq!(cause(0, "out of memory"), None);
    }

    #[test]
    fn a_full_disk_is_not_an_error_of_the_rtl() {
        let dir = tempfile::tempdir().unwrap();
        let job = Job {
            design: &[],
            language: Language::Verilog,
            bench: &super::super::Bench { lanes: &[], vcd: false },
            vhdl_standard: "08",
            dir: dir.path(),
            deadline: Deadline::after(Duration::from_secs(60)),
        };
        for (said, kind) in [
            ("cc1plus: fatal error: No space left on device", io::ErrorKind::StorageFull),
            ("x: Disk quota exceeded", io::ErrorKind::QuotaExceeded),
        ] {
            let refuse = Invocation::new("sh").args(["-c", &format!("echo '{said}'; exit 1")]);
            let outcome = job.compile(&refuse, "log");
            assert!(matches!(&outcome, Err(SimError::Io(e)) if e.kind() == kind), "{outcome:?}");
        }
        let refuse = Invocation::new("sh").args(["-c", "echo wrong; exit 1"]);
        assert!(matches!(job.compile(&refuse, "log"), Err(SimError::Refused { .. })));
        let crash = Invocation::new("sh").args(["-c", "kill -SEGV $$"]);
        let crashed = job.compile(&crash, "log");
        assert!(matches!(crashed, Err(SimError::Crashed { cause: Cause::Signal(11), .. })), "{crashed:?}");
    }

    #[test]
    fn a_missing_simulator_is_named_with_help() {
        let nowhere = Tools::in_folders([]);
        for simulator in SIMULATORS {
            let error = simulator.probe(&nowhere).unwrap_err();
            let text = error.diagnostic(*simulator).to_string();
            assert!(text.contains(&format!("`{}` was not found", simulator.programs()[0])), "{text}");
            assert!(text.contains("apt install"), "{text}");
        }
    }
}
