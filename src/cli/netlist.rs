//! Netlists for `prove`: detection of netlists, and their options.

use super::Failure;
use super::rtl_files::{in_file, text_of};
use crate::compile;
use crate::diag::{Diagnostic, Place};
use crate::ir::Model;
use crate::ir::machine::Machine;
use crate::options::HardwareOptions;
use crate::prove;
use crate::prove::engine::Engine;
use crate::prove::equiv::{Report, Request, Verdict, check_ports};
use crate::prove::machine::{MachineReport, MachineRequest, compare_with_rtl};
use crate::prove::netlist::prove_against_rtl;
use crate::prove::sat::Solvers;
use crate::rtl::netlist::{self, CellFamily, NetlistOptions};
use crate::rtl::project::RtlProject;
use crate::rtl::{self, Rtl};
use std::path::{Path, PathBuf};

/// Options for netlists.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Netlists")]
pub(super) struct NetlistArgs {
    /// Take this RTL, from which the netlist was synthesised, as an untrusted hint: its names and intermediate values
    /// shorten the proof
    #[arg(long, value_name = "FILE", help_heading = "RTL files")]
    pub(super) rtl: Option<PathBuf>,
    /// Cell library of a netlist: xilinx, ecp5, ice40, gowin, intel, or a Verilog file with further cells [default: by
    /// the names of the cells]
    #[arg(long, value_name = "FAMILY|FILE")]
    pub(super) cells: Vec<String>,
    /// Instance within the netlist that is proved, with dots from the top module
    #[arg(long, value_name = "PATH")]
    pub(super) instance: Option<String>,
}

impl NetlistArgs {
    /// Returns the first option that was given and is for netlists only.
    fn given(&self) -> Option<&'static str> {
        let options = [
            ("--rtl", self.rtl.is_some()),
            ("--cells", !self.cells.is_empty()),
            ("--instance", self.instance.is_some()),
        ];
        options.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }

    /// Returns an error for options of netlists if the file is not a netlist.
    ///
    /// # Errors
    /// If one was given (exit code 2).
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        let Some(flag) = self.given() else { return Ok(()) };
        let message =
            format!("{flag} is for a netlist, and the file is not one: it instantiates no cells of a library");
        let help = "leave it out; RTL is proved without";
        Err(Failure::input(Diagnostic::error("E0804", Place::Flag(flag.into()), message).with_help(help)))
    }

    /// Reads a project as a netlist; `None` if it is not a netlist.
    ///
    /// # Errors
    /// If the netlist or a cell library cannot be read (exit code 2).
    pub(super) fn read(&self, project: &RtlProject, top: Option<&str>) -> Result<Option<Rtl>, Failure> {
        let text = &*project.text;
        let is_netlist = self.given().is_some() || netlist::is_netlist(text, top);
        if project.language == rtl::Language::Vhdl || !is_netlist {
            return Ok(None);
        }
        let mut options = NetlistOptions {
            top: top.map(str::to_owned),
            instance: self.instance.clone(),
            ..NetlistOptions::default()
        };
        for cells in &self.cells {
            match CellFamily::ALL.into_iter().find(|family| family.name() == cells) {
                Some(family) => options.family = Some(family),
                None => options.cells.get_or_insert_default().push_str(&text_of(Path::new(cells))?),
            }
        }
        Ok(netlist::read(text, &options).map_err(|wrong| project.located(wrong))?)
    }
}

/// Number of signals of a netlist for each additional budget of a proof. The time of the comparison with RTL is
/// proportional to the number of signals (`jet_mlp`, 20,000 signals: half of a budget).
const SIGNALS_PER_BUDGET: u64 = 10_000;

/// Optimisation levels whose RTL is tried as a hint if none is given, as netlists contain no header comment.
const LEVELS: [u8; 3] = [1, 2, 0];

/// Function that proves RTL equal to the model, as for files that are not netlists.
pub(super) type RtlProof<'a> = &'a dyn Fn(&Rtl, Request) -> (Report, Engine, Request);

impl NetlistArgs {
    /// Proves or refutes that a netlist is equal to a model, with RTL as a hint: proves the RTL first, then compares
    /// the netlist with the RTL. If the result is undecided, the netlist is proved without a hint.
    ///
    /// # Errors
    /// If the RTL of `--rtl` cannot be read (exit code 2).
    pub(super) fn prove(
        &self,
        model: &Model,
        netlist: &Rtl,
        request: Request,
        solvers: Solvers<'_>,
        direct: RtlProof<'_>,
    ) -> Result<(Report, Engine, Request), Failure> {
        let hints: Vec<Rtl> = match &self.rtl {
            Some(file) => vec![self.hint(file, &netlist.top, &|rtl| check_ports(model, rtl, &request).is_ok())?],
            None => Vec::new(),
        };
        let is_given = !hints.is_empty();
        let mut unused = None;
        // Properties that the command line does not state are read from the header comment of the RTL.
        let mut netlist = netlist.clone();
        if let [hint] = &hints[..] {
            netlist.head.clone_from(&hint.head);
        }
        let request = Request { is_netlist: true, ..request };
        let generated = LEVELS.iter().filter(|_| !is_given).filter_map(|level| generated(model, *level));
        for hint in hints.into_iter().chain(generated) {
            let own = Request {
                latency: None,
                interval: None,
                is_netlist: false,
                work: request.work.map(|work| work / 4),
                ..request.clone()
            };
            let (of_hint, ..) = direct(&hint, own);
            match of_hint.verdict {
                Verdict::Proved => {}
                Verdict::Unknown { reason } | Verdict::Differs { reason, .. } => {
                    unused = Some(reason).filter(|_| is_given);
                    continue;
                }
            }
            let parts = 1 + netlist.signals().len() as u64 / SIGNALS_PER_BUDGET;
            let own = Request { work: request.work.map(|work| work.saturating_mul(parts)), ..request.clone() };
            let (mut report, engine) = prove_against_rtl(model, &netlist, &hint, &own, solvers());
            // A proof without the RTL does not cover the outputs before the first sample.
            if !matches!(report.verdict, Verdict::Unknown { .. }) || (is_given && report.control_open) {
                report.notes.push(match &self.rtl {
                    Some(file) => format!("compared with {}, which was proved equal to the model", file.display()),
                    None => "compared with generated RTL, which was proved equal to the model".to_owned(),
                });
                return Ok((report, engine, request));
            }
        }
        let (mut report, engine, request) = direct(&netlist, request);
        if let (Some(reason), Some(file)) = (unused, &self.rtl) {
            let note =
                format!("{} was not used, because it is not proved equal to the model: {reason}", file.display());
            report.notes.push(note);
        }
        Ok((report, engine, request))
    }

    /// Proves or refutes that a netlist behaves as a state machine: like [`NetlistArgs::prove`].
    ///
    /// # Errors
    /// If the RTL of `--rtl` cannot be read (exit code 2).
    pub(super) fn prove_machine(
        &self,
        machine: &Machine,
        netlist: &Rtl,
        request: &MachineRequest,
        solvers: Solvers<'_>,
    ) -> Result<(MachineReport, Engine), Failure> {
        let hint = match &self.rtl {
            Some(file) => {
                Some(self.hint(file, &netlist.top, &|rtl| prove::machine::check_ports(machine, rtl).is_ok())?)
            }
            None => generated_machine(machine),
        };
        let mut unused = None;
        if let Some(hint) = &hint {
            let part = MachineRequest { work: request.work / 4, keep_questions: false, ..request.clone() };
            let (mut report, engine) = prove::state_machine(machine, hint, &part, solvers);
            let compared = match &report.verdict {
                prove::machine::Verdict::Proved => compare_with_rtl(machine, netlist, hint, request),
                _ => Err("it was not proved to behave as the machine".to_owned()),
            };
            match compared {
                Ok(found) => {
                    let what = self.rtl.as_ref().map_or("generated RTL".to_owned(), |file| file.display().to_string());
                    report.notes.push(format!("compared with {what}, which was proved equal to the machine"));
                    report.rounds += found.rounds;
                    report.bits.add(&found.bits);
                    report.gates += found.gates;
                    report.register_bits = found.register_bits;
                    report.correspondence = None;
                    return Ok((report, engine));
                }
                Err(reason) => unused = Some(reason),
            }
        }
        let (mut report, engine) = prove::state_machine(machine, netlist, request, solvers);
        if let (Some(reason), Some(file)) = (unused, &self.rtl) {
            report.notes.push(format!("{} was not used: {reason}", file.display()));
        }
        Ok((report, engine))
    }

    /// Returns the RTL of `--rtl`: the module with the netlist's name if its ports match, otherwise the file's top
    /// module.
    fn hint(&self, file: &Path, module: &str, fits: &dyn Fn(&Rtl) -> bool) -> Result<Rtl, Failure> {
        let text = text_of(file)?;
        let language = rtl::Language::detect(file, &text);
        if language != rtl::Language::Vhdl && netlist::is_netlist(&text, None) {
            let message = format!("--rtl requires the RTL of a netlist, and {} is a netlist itself", file.display());
            let help = "give the file that synthesis read";
            return Err(Failure::input(
                Diagnostic::error("E0804", Place::Flag("--rtl".into()), message).with_help(help),
            ));
        }
        if let Some(rtl) = rtl::read(language, &text, Some(module)).ok().filter(fits) {
            return Ok(rtl);
        }
        rtl::read(language, &text, None).map_err(|wrong| in_file(wrong, file))
    }
}

/// Returns RTL of a state machine, as a hint.
fn generated_machine(machine: &Machine) -> Option<Rtl> {
    let text =
        compile::machine(machine, &HardwareOptions::default().spec("machine")).ok()?.text(rtl::Language::Verilog);
    rtl::read(rtl::Language::Verilog, &text, None).ok()
}

/// Returns combinational RTL of a model at an optimisation level, as a hint.
fn generated(model: &Model, level: u8) -> Option<Rtl> {
    let spec = HardwareOptions { level: Some(level), ..HardwareOptions::default() }.spec("model");
    let text = compile::model(model, &spec).ok()?.text(rtl::Language::Verilog);
    rtl::read(rtl::Language::Verilog, &text, None).ok()
}
