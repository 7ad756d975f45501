//! Entry points of all proofs: the command `prove`, `--prove`, `diff --prove` and Python call these functions, and no
//! other code starts a proof.
//!
//! [`program`] proves RTL equal to a program. The header comment, a witness or known intermediate programs are hints,
//! which the prover checks and never trusts. A program that was lowered is also proved equal to its source.
//! [`state_machine`] proves RTL equal to a state machine, [`models`] compares two programs. [`design`] combines
//! parsing, hints, proof and certificate for an RTL source in memory.
//!
//! | file | contents |
//! |---|---|
//! | `options` | options of a proof, by name |
//! | `rtl_file` | RTL as the prover reads it, and the sources that it rejects |
//! | `hints` | intermediate programs |
//! | `certificate` | files for `alir2hdl-check` and other provers |

pub mod certificate;
mod hints;
pub mod options;
mod rtl_file;

pub use alir_prove::progress::ProgressCounter;
pub use hints::{Hints, intermediate_programs};
pub use rtl_file::{RtlFile, other_ports};

use crate::compile::{Source, append_lowering_proof, prove_lowering};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::Model;
use alir_core::ir::machine::Machine;
use alir_hdl::Rtl;
use alir_prove::engine::Engine;
use alir_prove::equiv::{self, Report, Request};
use alir_prove::machine::{self, MachineReport, MachineRequest};
use alir_prove::pair::{self, Difference};
pub use alir_prove::sat::Solvers;
use alir_prove::sat::{Embedded, Proving, Solver};
use alir_prove::steps::{self, Steps};
use options::ProofOptions;
use serde::Serialize;
use std::cell::OnceCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Proof of a program, with the data for a certificate.
pub struct ProgramProof<'a> {
    /// Verdict, method and notes.
    pub report: Report,
    /// Engine, with its queries to the SAT solver.
    pub engine: Engine,
    /// The request, with the values that the proof used.
    pub request: Request,
    programs: Intermediates<'a>,
}

impl ProgramProof<'_> {
    /// Returns a proof that has no intermediate programs.
    pub fn without_programs(report: Report, engine: Engine, request: Request) -> ProgramProof<'static> {
        let programs = Intermediates { hints: Hints::none(), built: OnceCell::new() };
        ProgramProof { report, engine, request, programs }
    }

    /// Returns the intermediate programs; empty without hints.
    pub fn programs(&self) -> Vec<Model> {
        self.programs.get().map(|steps| steps.programs.clone()).unwrap_or_default()
    }
}

/// Intermediate programs, which are built at most once although both the proof and its certificate may need them.
struct Intermediates<'a> {
    hints: Hints<'a>,
    built: OnceCell<Option<Rc<Steps>>>,
}

impl Intermediates<'_> {
    fn get(&self) -> Option<Rc<Steps>> {
        self.built.get_or_init(|| self.hints.build.as_ref().and_then(|build| build()).map(Rc::new)).clone()
    }
}

/// Proves or refutes that RTL computes a program.
pub fn program<'a>(
    model: &Model,
    rtl: &Rtl,
    hints: Hints<'a>,
    request: Request,
    solvers: Solvers<'_>,
) -> ProgramProof<'a> {
    let is_hinted = !request.gates_only && hints.build.is_some();
    let request = Request { gates_only: request.gates_only || hints.is_bit_serial, ..request };
    let programs = Intermediates { hints, built: OnceCell::new() };
    let build = || programs.get();
    let hinted = is_hinted.then_some(&build as &dyn Fn() -> Option<Rc<Steps>>);
    let (report, engine) = steps::prove(model, rtl, hinted, &request, solvers);
    ProgramProof { report, engine, request, programs }
}

/// Proves a lowered program equal to its source, and adds the result to the report about the program.
///
/// # Errors
/// A message if the semantics of the source cannot be built, which is an internal error.
pub fn lowering(
    model: &Model,
    source: Option<&dyn Source>,
    report: &mut Report,
    solvers: Solvers<'_>,
) -> Result<(), String> {
    match source {
        Some(source) => append_lowering_proof(source, model, report, solvers),
        None => Ok(()),
    }
}

/// Proves or refutes that RTL behaves as a state machine.
pub fn state_machine(
    design: &Machine,
    rtl: &Rtl,
    request: &MachineRequest,
    solvers: Solvers<'_>,
) -> (MachineReport, Engine) {
    machine::prove(design, rtl, request, solvers)
}

/// Proves or refutes that two programs with equal numbers of inputs and outputs are equal for every input. A refutation
/// includes an input for which they differ.
pub fn models(a: &Model, b: &Model, request: &Request) -> (Report, Option<Difference>) {
    pair::prove(a, b, request, &|| Box::new(Embedded))
}

/// Proves or refutes that a lowered program is equal to its source.
pub fn source_of(model: &Model, source: &dyn Source, request: &Request) -> Report {
    prove_lowering(model, source, request, &|| Box::new(Embedded)).unwrap_or_else(equiv::undecided)
}

/// Design that RTL is compared with.
#[derive(Clone, Copy)]
pub enum ProvedDesign<'a> {
    /// A program, and its source if it was lowered.
    Program(&'a Model, Option<&'a dyn Source>),
    /// A state machine.
    Machine(&'a Machine),
}

/// Report of a proof.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum DesignReport {
    /// About a program.
    Program(Box<Report>),
    /// About a state machine.
    Machine(Box<MachineReport>),
}

/// Report of a proof, and the files of its certificate.
pub struct DesignProof {
    /// The report.
    pub report: DesignReport,
    /// Files of the certificate by name; empty without one.
    pub certificate: certificate::Files,
}

/// Reason that a proof was not started.
#[derive(Clone, Debug)]
pub enum ProofError {
    /// The RTL, the options or the design are invalid.
    Input(Diagnostics),
    /// An internal error, in words.
    Bug(String),
}

impl From<Diagnostic> for ProofError {
    fn from(problem: Diagnostic) -> ProofError {
        ProofError::Input(problem.into())
    }
}

/// Proves or refutes that an RTL source in memory implements a design. `content` is the design's file, for a
/// certificate.
///
/// # Errors
/// If the source cannot be read, has other ports, or assumes input intervals; if an option does not apply to state
/// machines.
pub fn design(
    design: ProvedDesign<'_>,
    content: Option<&[u8]>,
    file: RtlFile,
    options: &ProofOptions,
    progress: Option<Arc<ProgressCounter>>,
) -> Result<DesignProof, ProofError> {
    let name = Path::new("source");
    let in_source = |problem: Diagnostic| ProofError::Input(Diagnostics::from(problem).in_file(name));
    let solvers = options.embedded_solvers();
    let sources = content.zip(file.source.as_deref());
    let sources = sources.ok_or_else(|| "the design or the RTL is no file".to_owned());
    let top = options.top.as_deref();
    let mut files = certificate::Files::new();
    match design {
        ProvedDesign::Program(model, source) => {
            options.check_program()?;
            let request = Request { source: file.source.clone(), progress, ..options.request() };
            equiv::check_ports(model, &file.rtl, &request).map_err(|reason| in_source(other_ports(&reason)))?;
            let hints = Hints::from_header(model, &file.rtl);
            let mut proof = program(model, &file.rtl, hints, request, &solvers);
            lowering(model, source, &mut proof.report, &solvers).map_err(ProofError::Bug)?;
            if options.certificate {
                files = certificate::for_program(model, &file.rtl, source.is_some(), sources, top, &mut proof);
            }
            Ok(DesignProof { report: DesignReport::Program(Box::new(proof.report)), certificate: files })
        }
        ProvedDesign::Machine(design) => {
            options.check_machine()?;
            machine::check_ports(design, &file.rtl).map_err(|reason| in_source(other_ports(&reason)))?;
            let request = MachineRequest { progress, ..options.machine_request() };
            let (mut report, engine) = state_machine(design, &file.rtl, &request, &solvers);
            if options.certificate {
                files = certificate::for_machine(design, &file.rtl, sources, top, (&mut report, &engine));
            }
            Ok(DesignProof { report: DesignReport::Machine(Box::new(report)), certificate: files })
        }
    }
}

impl ProofOptions {
    /// Returns the constructor of the embedded SAT solver, which records proofs for a certificate.
    pub fn embedded_solvers(&self) -> impl Fn() -> Box<dyn Solver> + Sync + use<> {
        let proofs = self.certificate;
        move || if proofs { Box::new(Proving::default()) } else { Box::new(Embedded) }
    }

    fn check_program(&self) -> Result<(), ProofError> {
        match self.depth {
            Some(_) => {
                let message = "--depth is for a state machine, and this is none";
                Err(Diagnostic::error("E0804", Place::Flag("--depth".into()), message).into())
            }
            None => Ok(()),
        }
    }

    fn check_machine(&self) -> Result<(), ProofError> {
        let given = [
            ("--latency", self.latency.is_some()),
            ("--ii", self.interval.is_some()),
            ("--ii-input", self.input_timing.is_some()),
        ];
        let refused = |flag: &str| {
            let message = format!("{flag} does not go with a state machine");
            Diagnostic::error("E0804", Place::Flag(flag.into()), message)
                .with_help("its registers, conditions and ports are those of the file; leave the option out")
        };
        let problems: Vec<Diagnostic> =
            given.into_iter().filter(|(_, given)| *given).map(|(flag, _)| refused(flag)).collect();
        if problems.is_empty() { Ok(()) } else { Err(ProofError::Input(Diagnostics(problems))) }
    }
}
