//! Proof for stateful designs: an RTL file against a state machine, for every input in every cycle from power-on.
//!
//! Both sides become gates for one clock cycle ([`model`] by `docs/fsm.md`, [`file`] from the RTL). Then register bits
//! of both sides that are always equal (or complements, or constant) are determined. [`search`] proposes classes by
//! simulation of both sides together; [`classes`] keeps those that power-on values allow and that one clock edge
//! preserves. This is induction over time after C. A. J. van Eijk, "Sequential equivalence checking based on structural
//! similarities" (IEEE Trans. CAD 19(7), 2000). If the outputs are equal in every state that the classes allow, they
//! are always equal. The proof does not depend on names.
//!
//! A register without an initial value may start with any value: the outputs must agree for every start value in the
//! file, and for at least one start value in the machine. Pipelines whose registers do not correspond are compared in
//! another way ([`flow`]); registers that differ only while they are undefined are compared while they are defined
//! ([`guarded`]). The reference simulator confirms each reported difference.

mod bench;
mod by_rtl;
mod classes;
mod file;
mod flow;
mod guarded;
mod model;
mod port_pairs;
mod recorded;
mod search;

pub use bench::testbench;
pub use by_rtl::{RtlComparison, compare_with_rtl};
pub use recorded::{beside, case, record};

use super::aig::Aig;
use super::engine::{Counts, Engine, Limits, WORK};
use super::progress::ProgressCounter;
use super::sat::{Solver, Solvers};
use alir_core::ir::machine::Machine;
use alir_hdl::Rtl;
use classes::Classes;
use file::FileRegisters;
use num_bigint::BigInt;
use serde::Serialize;
use std::sync::Arc;

/// Budget and options of a proof.
#[derive(Clone, Debug)]
pub struct MachineRequest {
    /// Limits of each query.
    pub limits: Limits,
    /// Budget of the whole run in ticks.
    pub work: u64,
    /// Number of cycles from power-on that are searched for a difference if there is no proof.
    pub depth: u32,
    /// `true` if SAT queries are kept for a certificate.
    pub keep_questions: bool,
    /// Counter that receives the progress of the proof.
    pub progress: Option<Arc<ProgressCounter>>,
}

impl Default for MachineRequest {
    fn default() -> Self {
        MachineRequest { limits: Limits::default(), work: WORK, depth: 12, keep_questions: false, progress: None }
    }
}

/// Verdict for a state machine.
pub type Verdict = super::equiv::Verdict<CounterexampleTrace>;

/// Counterexample: inputs from power-on after which machine and file differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CounterexampleTrace {
    /// Index of the cycle in which an output differs, the last one of `inputs`.
    pub cycle: usize,
    /// For each cycle the raw integer values on the input ports, element by element in the order of the ports.
    #[serde(serialize_with = "as_strings")]
    pub inputs: Vec<Vec<BigInt>>,
    /// Name of the output port in the file.
    pub output: String,
    /// Index of the element in the port.
    pub element: usize,
    /// Raw integer value of the element in the machine.
    #[serde(serialize_with = "as_string")]
    pub expected: BigInt,
    /// Raw integer value of the element in the file.
    #[serde(serialize_with = "as_string")]
    pub found: BigInt,
}

fn as_string<S: serde::Serializer>(v: &BigInt, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(v)
}

fn as_strings<S: serde::Serializer>(all: &[Vec<BigInt>], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(all.iter().map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>()))
}

/// Number of bits of one register of the machine, by method of proof. A bit is counted once, under the first field that
/// applies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RegisterReport {
    /// Name of the register in the machine.
    pub name: String,
    /// Number of bits that the machine declares.
    pub bits: u32,
    /// Number of bits that are always constant.
    pub constant: u32,
    /// Number of bits that equal a register bit of the file.
    pub held: u32,
    /// Number of bits that no register of the file stores; no output depends on them.
    pub absent: u32,
    /// Number of bits of pipelines that were compared as functions of their inputs, for any position of the file's
    /// registers.
    pub piped: u32,
    /// Corresponding registers of the file.
    pub file: Vec<String>,
}

/// Result of a proof, with statistics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineReport {
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Registers of the machine: next-state functions, resets and power-on values agree for every bit in `held`.
    pub registers: Vec<RegisterReport>,
    /// Number of register bits in the file.
    pub register_bits: u64,
    /// Number of register bits in the machine.
    pub register_bits_in_machine: u64,
    /// Number of operations of blocks whose signals exist in the file and were proved equal.
    pub operations_matched: u64,
    /// Number of refinements of the classes of equal bits.
    pub rounds: u32,
    /// Number of bits proved by each method.
    pub bits: Counts,
    /// Number of gates for one cycle of both sides together.
    pub gates: usize,
    /// Further guarantees or assumptions of the theorem.
    pub notes: Vec<String>,
    /// Register correspondence for a certificate; `None` if the method of proof has none.
    #[serde(skip)]
    pub correspondence: Option<Correspondence>,
}

/// A bit of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegisterBit {
    /// Bit of the machine: its signal, element and bit.
    Machine(String, usize, usize),
    /// Bit of the file: its register and bit.
    File(String, usize),
}

/// Register bits that are always equal: the start of an induction over clock cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Correspondence {
    /// Number of cycles from power-on after which the bits are equal.
    pub settled: usize,
    /// Number of loads after which the pipelines contain no initial values of other registers.
    pub depth: usize,
    /// Classes of equal bits, each bit with `true` if it is complemented.
    pub classes: Vec<Vec<(RegisterBit, bool)>>,
    /// Bits that are zero, or one if complemented.
    pub constant: Vec<(RegisterBit, bool)>,
}

/// Checks that the ports of a file are those of a state machine.
///
/// # Errors
/// A description of the ports that do not match.
pub fn check_ports(machine: &Machine, rtl: &Rtl) -> Result<(), String> {
    port_pairs::find(machine, rtl).map(|_| ())
}

/// Proves or refutes that `rtl` behaves as `machine` from power-on. Also returns the engine that answered the last
/// queries, for a certificate.
pub fn prove(machine: &Machine, rtl: &Rtl, request: &MachineRequest, solver: Solvers<'_>) -> (MachineReport, Engine) {
    let new_engine = || {
        let mut e = Engine::new(solver());
        e.limits = request.limits;
        e.left = request.work;
        e.keep_questions = request.keep_questions;
        if let Some(progress) = &request.progress {
            progress.begin(request.work);
        }
        e.progress = request.progress.clone();
        e
    };
    let mut report = MachineReport {
        verdict: Verdict::Proved,
        registers: Vec::new(),
        register_bits: 0,
        register_bits_in_machine: machine.register_bits(),
        operations_matched: 0,
        rounds: 0,
        bits: Counts::default(),
        gates: 0,
        notes: Vec::new(),
        correspondence: None,
    };
    let (ports, file) = match port_pairs::find(machine, rtl).and_then(|ports| Ok((ports, FileRegisters::new(rtl)?))) {
        Ok(found) => found,
        Err(reason) => {
            report.verdict = Verdict::Differs { reason, counterexample: None };
            return (report, new_engine());
        }
    };
    report.register_bits = file.bits() as u64;
    for (port, name) in &ports.by_order {
        report.notes.push(format!("{name} is taken for port {port:?}, by its place among the ports"));
    }
    let pair = Pair { machine, file: &file, ports: &ports };
    let mut e = new_engine();
    match pair.decide(&mut report, &mut e, &new_engine, request.depth) {
        Ok(verdict) => report.verdict = verdict,
        Err(reason) => report.verdict = Verdict::Differs { reason, counterexample: None },
    }
    if model::registers(machine).any(|id| machine.signal(id).reset_to.is_none()) {
        report.notes.push(
            "registers without a first value start as anything; where outputs depend on that, nothing is compared"
                .into(),
        );
    }
    (report, e)
}

/// Returns machine and file as one graph with registers, for other provers. Its output is 1 in a cycle in which a
/// defined output of the machine differs from that of the file. Inputs called `undefined` represent values that the
/// language leaves unspecified. Registers of the file without an initial value have none in the graph; those of the
/// machine have a flag that is 1 if they are defined.
///
/// # Errors
/// The reason why the file cannot match the machine.
pub fn product(machine: &Machine, rtl: &Rtl, solver: Box<dyn Solver>) -> Result<Aig, String> {
    let (ports, file) = (port_pairs::find(machine, rtl)?, FileRegisters::new(rtl)?);
    let mut e = Engine::new(solver);
    search::product(&Pair { machine, file: &file, ports: &ports }, &mut e)?;
    Ok(e.words.aig)
}

/// Replaces an engine by a new one with the same remaining budget.
fn renew(e: &mut Engine, new: &dyn Fn() -> Engine) {
    let (left, spent) = (e.left, e.spent);
    *e = new();
    (e.left, e.spent) = (left, spent);
}

/// Divisor of the budget: before pipelines are analysed, `1 / QUICK` of the budget is spent on comparing registers one
/// by one.
const QUICK: u64 = 20;

/// Machine and file under comparison.
#[derive(Clone, Copy)]
struct Pair<'a> {
    machine: &'a Machine,
    file: &'a FileRegisters<'a>,
    ports: &'a port_pairs::PortPairs,
}

impl Pair<'_> {
    /// Returns the verdict, or an error if the file cannot be interpreted as hardware.
    fn decide(
        &self,
        report: &mut MachineReport,
        e: &mut Engine,
        new_engine: &dyn Fn() -> Engine,
        depth: u32,
    ) -> Result<Verdict, String> {
        let simulated = match search::simulate(self, &mut new_engine())? {
            search::Simulated::Differs(counterexample) => return Ok(differs(*counterexample)),
            search::Simulated::Classes(partition) => partition,
        };
        let pipes = flow::pipes(self, &simulated);
        let mut open = None;
        if !pipes.is_empty() {
            // If the file's registers are at the machine's positions, the comparison one by one takes little work;
            // otherwise it never succeeds.
            let all = e.left;
            e.left = all / QUICK;
            let mut classes = Classes::new(self, simulated.clone());
            open = classes.settle(self, report, e, new_engine, true)?;
            e.release(all - all / QUICK);
            if open.is_none() {
                report.registers = classes.report(self);
                report.correspondence = Some(classes.correspondence(self));
                return Ok(Verdict::Proved);
            }
            match flow::prove(self, &simulated, &pipes, report, e, new_engine) {
                Ok(()) => return Ok(Verdict::Proved),
                Err(flow::Open { shown: Some(counterexample), .. }) => return Ok(differs(*counterexample)),
                Err(flow::Open { reason, .. }) => open = Some(reason),
            }
        }
        let mut classes = Classes::new(self, simulated.clone());
        let mut outcome = classes.settle(self, report, e, new_engine, false)?;
        let mut settled = 0;
        let undefined = model::registers(self.machine).any(|id| self.machine.signal(id).reset_to.is_none());
        if outcome.is_some() && undefined && e.left > 0 {
            // Undefined registers may start with any value, so the proof begins when they no longer matter.
            renew(e, new_engine);
            if let Some((cycles, reached)) = search::defined(self, e)? {
                classes = Classes::after(self, simulated, e, &reached);
                settled = cycles;
                outcome = classes.settle(self, report, e, new_engine, false)?;
                let cycles = format!("registers without a first value no longer matter after {cycles} cycles");
                report.notes.push(format!("{cycles}; these were compared one by one"));
            }
        }
        report.registers = classes.report(self);
        let Some(by_registers) = outcome else {
            report.correspondence = Some(Correspondence { settled, ..classes.correspondence(self) });
            return Ok(Verdict::Proved);
        };
        if undefined && guarded::prove(self, report, e, new_engine)?.is_none() {
            let what = "registers hold what the machine's do as long as these are defined";
            report.notes.push(what.into());
            return Ok(Verdict::Proved);
        }
        let open = open.map_or(by_registers.clone(), |pipes| format!("{by_registers}; {pipes}"));
        renew(e, new_engine);
        Ok(match search::bounded(self, e, depth)? {
            search::Bounded::Differs(counterexample) => differs(*counterexample),
            search::Bounded::EqualFor(cycles) => {
                Verdict::Unknown { reason: format!("{open}; no difference in the first {cycles} cycles from power-on") }
            }
        })
    }
}

fn differs(c: CounterexampleTrace) -> Verdict {
    let element = format!("element {} of {:?}", c.element, c.output);
    let reason = format!("in cycle {} {element} is {}, the machine says {}", c.cycle, c.found, c.expected);
    Verdict::Differs { reason, counterexample: Some(c) }
}
