//! Equivalence proof of a design and a model.
//!
//! A signal named `v17` is a candidate for operation 17 of the model, at any stage. Its gates from the RTL are compared
//! with those of the model; if they are equal, the model's gates replace them. A name is only a hint: a signal that
//! does not match keeps its own gates. So each comparison is small, and the last comparison, of the outputs, is the
//! theorem.
//!
//! Time: outputs are observed in the current cycle, inputs `latency` clock edges before. Inputs in all other cycles are
//! unconstrained, so that a path with a register too few or too many cannot be proved, and appears in the
//! counterexample. With a clock enable the theorem covers the enabled cycles, and every register must keep its value in
//! all others. With a reset the theorem covers the time since the last reset, and every register with a reset must
//! become zero.

use super::aig::Lit;
use super::bit_vector::Words;
use super::blast::blast;
use super::certify::GateContext;
use super::control::{Compared, Start, check_control, check_first_samples};
#[cfg(test)]
use super::engine::Outcome;
use super::engine::{Counts, Engine, Limits};
pub use super::port_roles::BeatPlace;
pub use super::port_roles::ControlNames;
use super::port_roles::{PortRoles, find_ports, stated_latency};
use super::progress::ProgressCounter;
use super::sat::Solver;
use super::unroll::depth;
use super::{bit_level, netlist, phases, rounds};
use alir_core::ir::{Model, ValueId};
use alir_core::num::{Kif, wrap};
use alir_hdl::{Rtl, SignalId, operation_in_name};
use alir_interp::{LookupMiss, Step, golden_steps, operation, output_code};
use alir2hdl_check::clocks::{self as checker, SampleTiming};
use num_bigint::BigInt;
use serde::Serialize;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Cycles in which the inputs of a time-multiplexed design are present at the ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InputTiming {
    /// As stated in the file; the accepting cycle if the file states none.
    #[default]
    Stated,
    /// The accepting cycle.
    Accepted,
    /// All cycles until the next accepted sample.
    Held,
    /// Consecutive cycles from the accepting one on, with some elements in each: as stated in the file (`None`), or
    /// with the given beat and lowest port bit of each element (`None` for elements without bits).
    Beats(Option<Vec<Option<BeatPlace>>>),
}

/// Request for a proof.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Clock edges from input to result; by default the number stated in the file, otherwise the register depth of the
    /// design.
    pub latency: Option<u32>,
    /// Initiation interval in cycles; by default the interval stated in the file, otherwise one.
    pub interval: Option<u32>,
    /// Cycles in which the inputs of a sample are at the ports.
    pub input_timing: InputTiming,
    /// Limits of each SAT query.
    pub limits: Limits,
    /// Budget of the whole run in ticks; by default [`super::engine::WORK`].
    pub work: Option<u64>,
    /// `true` if SAT queries are recorded for a certificate.
    pub keep_questions: bool,
    /// `true` if linear forms are not compared.
    pub gates_only: bool,
    /// `true` if forms are compared with all rules immediately; otherwise with few rules first.
    pub all_rules: bool,
    /// `true` if the design is a netlist, whose registers may store complements of the RTL's registers.
    pub is_netlist: bool,
    /// Names of the control ports.
    pub names: ControlNames,
    /// RTL source, if the design was read from one; a cycle-by-cycle comparison parses it again.
    pub source: Option<Arc<str>>,
    /// Progress counter of the proof.
    pub progress: Option<Arc<ProgressCounter>>,
    /// Number of threads; all cores if not given. No result depends on it.
    pub threads: Option<NonZeroUsize>,
}

impl Request {
    /// Returns the given beat and port bit of each input element; `None` if they are not given.
    fn beats(&self) -> Option<&[Option<BeatPlace>]> {
        match &self.input_timing {
            InputTiming::Beats(Some(places)) => Some(places),
            _ => None,
        }
    }
}

/// Counterexample: input values for which model and file differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counterexample {
    /// Raw integer values of the model's inputs for the sample that gives the result.
    #[serde(serialize_with = "as_strings")]
    pub inputs: Vec<BigInt>,
    /// Raw integer values of inputs in other cycles that affect the output: clock edges before the output, and the
    /// values.
    #[serde(skip)]
    pub others: Vec<(u32, Vec<BigInt>)>,
    /// Index of the output element.
    pub output: usize,
    /// Raw integer value of the output in the model.
    #[serde(serialize_with = "as_string")]
    pub expected: BigInt,
    /// Raw integer value of the output in the file.
    #[serde(serialize_with = "as_string")]
    pub found: BigInt,
    /// First operation whose signal differs from the model, with the signal's name.
    pub first_operation: Option<(u32, String)>,
}

impl Counterexample {
    /// Returns a description of the difference.
    pub(super) fn reason(&self) -> String {
        format!("output {} is {}, the model says {}", self.output, self.found, self.expected)
    }
}

fn as_string<S: serde::Serializer>(v: &BigInt, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(v)
}

fn as_strings<S: serde::Serializer>(all: &[BigInt], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(all.iter().map(ToString::to_string))
}

/// Verdict of a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "verdict")]
pub enum Verdict<C = Counterexample> {
    /// Equal for every input; for stateful designs, in every cycle.
    Proved,
    /// Different.
    Differs {
        /// Description of the difference.
        reason: String,
        /// Counterexample, if an output value differs.
        counterexample: Option<C>,
    },
    /// Undecided.
    Unknown {
        /// The undecided output and the limit reached.
        reason: String,
    },
}

/// Result of a proof, with statistics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The result.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Latency of the theorem: clock edges from input to result.
    pub latency: u32,
    /// Initiation interval in cycles.
    #[serde(skip_serializing_if = "is_one")]
    pub interval: u32,
    /// Number of cycles for which the inputs of a sample are assumed to be stable.
    #[serde(skip_serializing_if = "is_one")]
    pub input_hold: u32,
    /// Number of beats of a sample.
    #[serde(skip_serializing_if = "is_one")]
    pub input_beats: u32,
    /// Beat and lowest port bit of each input element with bits, for several beats.
    #[serde(skip)]
    pub beats: Vec<(u32, u32)>,
    /// Number of operations whose signals exist in the file and were proved equal.
    pub operations_matched: u64,
    /// Number of signals named after an operation but with another value, as optimisation may change values.
    pub operations_unmatched: u64,
    /// Number of bits proved by each method.
    pub bits: Counts,
    /// Number of gates of both sides.
    pub gates: usize,
    /// Number of register bits in the file.
    pub register_bits: u64,
    /// Further parts of the theorem, and assumptions.
    pub notes: Vec<String>,
    /// First undecided output.
    #[serde(skip)]
    pub open: Option<usize>,
    /// Operations whose signal is undecided, with the name of the signal.
    #[serde(skip)]
    pub open_steps: Vec<(u32, String)>,
    /// `true` if enable and reset are undecided.
    #[serde(skip)]
    pub control_open: bool,
}

fn is_one(clocks: &u32) -> bool {
    *clocks == 1
}

impl Report {
    /// Returns the initiation interval and input timing in the checker's terms. Returns `None` if the interval is one,
    /// or if inputs are stable for only a part of it.
    pub fn sample_timing(&self) -> Option<SampleTiming> {
        let input_timing = match (self.input_hold, self.input_beats) {
            (1, 1) => checker::InputTiming::Once,
            (hold, 1) if hold == self.interval => checker::InputTiming::Held,
            (1, _) => {
                checker::InputTiming::Beats(self.beats.iter().map(|&(at, low)| (at as usize, low as usize)).collect())
            }
            _ => return None,
        };
        let (interval, latency) = (self.interval as usize, self.latency as usize);
        (interval > 1).then_some(SampleTiming { interval, latency, input_timing })
    }

    /// Returns the initial report of a comparison.
    pub(super) fn before(register_bits: u64) -> Report {
        Report {
            verdict: Verdict::Proved,
            latency: 0,
            interval: 1,
            input_hold: 1,
            input_beats: 1,
            beats: Vec::new(),
            operations_matched: 0,
            operations_unmatched: 0,
            bits: Counts::default(),
            gates: 0,
            register_bits,
            notes: Vec::new(),
            open: None,
            open_steps: Vec::new(),
            control_open: false,
        }
    }
}

/// Returns an undecided report with its reason.
pub fn undecided(reason: String) -> Report {
    Report { verdict: Verdict::Unknown { reason }, ..Report::before(0) }
}

/// Returns `true` if a method decided, and its ticks: the values that [`super::progress::traced`] prints.
pub(super) fn decision((report, engine): &(Report, Engine)) -> (bool, u64) {
    (!matches!(report.verdict, Verdict::Unknown { .. }), engine.spent)
}

/// Proves or refutes that `rtl` computes `model`.
pub fn prove(model: &Model, rtl: &Rtl, request: &Request, solver: Box<dyn Solver>) -> (Report, Engine) {
    prove_with_gates(None, model, rtl, request, solver)
}

/// Proves or refutes that `rtl` computes `model`, with existing gates of the model only.
pub(super) fn prove_with_gates(
    over: Option<&RefCell<GateContext>>,
    model: &Model,
    rtl: &Rtl,
    request: &Request,
    solver: Box<dyn Solver>,
) -> (Report, Engine) {
    let methods = rounds::Methods { over, gates_only: request.gates_only, all_rules: request.all_rules, hint: None };
    prove_with(methods, model, rtl, request, solver)
}

/// Like [`prove`], but uses the given methods.
pub(super) fn prove_with(
    methods: rounds::Methods<'_>,
    model: &Model,
    rtl: &Rtl,
    request: &Request,
    solver: Box<dyn Solver>,
) -> (Report, Engine) {
    let mut e = Engine::new(solver);
    e.limits = request.limits;
    e.left = request.work.unwrap_or(e.left);
    e.keep_questions = request.keep_questions;
    if let Some(progress) = &request.progress {
        progress.begin(e.left);
    }
    e.progress = request.progress.clone();
    let mut report =
        Report::before(rtl.signals().iter().flat_map(|s| &s.registers).map(|r| u64::from(rtl.width(r.next))).sum());
    let differs = |report: &mut Report, reason: String| {
        report.verdict = Verdict::Differs { reason, counterexample: None };
    };
    let mut ports = match find_ports(model, rtl, &request.names, request.beats()) {
        Ok(ports) => ports,
        Err(reason) => {
            differs(&mut report, reason);
            return (report, e);
        }
    };
    let stated_interval = phases::stated_interval(rtl);
    report.interval = request.interval.or(stated_interval).unwrap_or(1);
    if let (Some(asked), Some(stated)) = (request.interval, stated_interval)
        && asked != stated
    {
        differs(&mut report, format!("an interval of {asked} was requested, the file states {stated}"));
        return (report, e);
    }
    if report.interval > 1 {
        let stated = phases::stated_hold(rtl).unwrap_or(1);
        report.input_hold = match request.input_timing {
            InputTiming::Stated => stated,
            InputTiming::Held => report.interval,
            InputTiming::Accepted | InputTiming::Beats(_) => 1,
        };
        if stated > report.input_hold || stated > report.interval {
            let most = report.input_hold.min(report.interval);
            differs(&mut report, format!("the file states that inputs must stay for {stated} clocks, not {most}"));
            return (report, e);
        }
        ports.hold = report.input_hold;
    }
    if let Some(reason) = beats_problem(&ports, request, report.interval) {
        differs(&mut report, reason);
        return (report, e);
    }
    report.input_beats = ports.beats.iter().max().map_or(1, |last| last + 1);
    let places = ports.beats.iter().zip(&ports.inputs).zip(model.input_kifs());
    let with_bits = places.filter(|(_, kif)| !kif.is_zero());
    report.beats = with_bits.filter_map(|((&beat, place), _)| Some((beat, (*place)?.1))).collect();
    let control: Vec<SignalId> = [ports.clock, ports.reset, ports.enable].into_iter().flatten().collect();
    let structure = depth(rtl, &control);
    let stated = stated_latency(rtl);
    let latency = request.latency.or(stated).unwrap_or(structure);
    report.latency = latency;
    if let (Some(asked), Some(stated)) = (request.latency, stated)
        && asked != stated
    {
        differs(&mut report, format!("a latency of {asked} was requested, the file states {stated}"));
        return (report, e);
    }
    if report.input_beats > latency.max(1) {
        let beats = report.input_beats;
        differs(&mut report, format!("results are there after {latency} clocks, the last of {beats} beats later"));
        return (report, e);
    }
    let repeats = report.interval > 1;
    let stages = if repeats { latency } else { latency.clamp(structure, structure + 16) };
    let hint = methods.hint.map(netlist::Hint::side);
    let Some(start) = check_control((rtl, &ports), hint, request, stages, &mut report) else { return (report, e) };
    if repeats {
        compare_multiplexed((model, rtl), &mut ports, (request, &start), methods, &mut report, &mut e);
    } else if let Some(ready) = ports.ready {
        let name = &rtl.signal(ready).name;
        differs(
            &mut report,
            format!("{name} is a port of a design that takes a sample every few clocks; no interval is stated"),
        );
    } else {
        rounds::compare((model, rtl, &ports), (latency, structure), methods, &mut report, &mut e);
        first_samples((rtl, &ports), (latency, structure), (request, &start), &mut report);
    }
    report.bits = e.counts;
    report.gates = e.words.aig.gates();
    (report, e)
}

/// Returns an error message if the declared input transfers are inconsistent; `None` if they are consistent.
fn beats_problem(ports: &PortRoles, request: &Request, interval: u32) -> Option<String> {
    let stated: Vec<Option<BeatPlace>> =
        ports.beats.iter().zip(&ports.inputs).map(|(&beat, place)| place.map(|(_, lo)| (beat, lo))).collect();
    match &request.input_timing {
        InputTiming::Beats(Some(asked)) if *asked != stated => {
            return Some("the file states other beats for its inputs than the requested ones".into());
        }
        InputTiming::Beats(None) if stated.is_empty() => return Some("the file states no beats for its inputs".into()),
        InputTiming::Accepted | InputTiming::Held if !stated.is_empty() => {
            return Some("the file states that its inputs come in beats".into());
        }
        _ => {}
    }
    let count = ports.beats.iter().max().map_or(1, |last| last + 1);
    (count > interval).then(|| format!("a sample has {count} beats, and the next one begins after {interval} clocks"))
}

/// Replaces the verdict if the theorem does not cover the first samples.
fn first_samples(
    (rtl, ports): (&Rtl, &PortRoles),
    (clocks, structure): (u32, u32),
    (request, start): (&Request, &Start),
    report: &mut Report,
) {
    if report.verdict == Verdict::Proved {
        let compared = Compared { clocks, depth: ports.depth(clocks, structure), phases: ports.phases.clone() };
        if let Some(verdict) = check_first_samples((rtl, ports), &compared, start, request) {
            report.verdict = verdict;
        }
    }
}

/// Compares a time-multiplexed design: its phase counter, the first cycle of a result (as in a pipeline), and the
/// stability of the result.
fn compare_multiplexed(
    (model, rtl): (&Model, &Rtl),
    ports: &mut PortRoles,
    (request, start): (&Request, &Start),
    methods: rounds::Methods<'_>,
    report: &mut Report,
    e: &mut Engine,
) {
    let (latency, interval) = (report.latency, report.interval);
    let found = match phases::find(rtl, ports) {
        Ok(found) if found.interval == interval => found,
        Ok(found) => {
            let reason = format!("a sample is taken every {} clocks, not every {interval}", found.interval);
            report.verdict = Verdict::Differs { reason, counterexample: None };
            return;
        }
        Err(reason) => {
            report.verdict = Verdict::Unknown { reason };
            return;
        }
    };
    // RTL that states its interval was generated by alir2hdl, or synthesised from such RTL, so it must accept a sample
    // in the first cycle.
    if found.accepts > 0 && (request.is_netlist || phases::stated_interval(rtl).is_some()) {
        let name = ports.ready.map_or("", |ready| &rtl.signal(ready).name);
        let start = if ports.reset.is_some() { "the reset" } else { "power-on" };
        let reason = format!("{name} is 1 first {} clocks after {start}, not in the first clock", found.accepts);
        report.verdict = Verdict::Unknown { reason };
        return;
    }
    ports.phases = Some(found.seen_after(latency));
    // Registers are unrolled back to the cycle of the sample.
    rounds::compare((model, rtl, ports), (latency, latency), methods, report, e);
    first_samples((rtl, ports), (latency, latency), (request, start), report);
    let mut compared = 0;
    for later in 1..interval {
        if report.verdict != Verdict::Proved {
            return;
        }
        let now = found.seen_after(latency + later);
        match phases::output_is_stable(rtl, ports, &now, e) {
            Ok(true) => {}
            Ok(false) => {
                compared += 1;
                ports.phases = Some(now);
                let valid = ports.valid.take();
                let matched = (report.operations_matched, report.operations_unmatched);
                rounds::compare((model, rtl, ports), (latency + later, latency + later), methods, report, e);
                first_samples((rtl, ports), (latency + later, latency + later), (request, start), report);
                (report.operations_matched, report.operations_unmatched) = matched;
                ports.valid = valid;
            }
            Err(reason) => report.verdict = Verdict::Unknown { reason },
        }
    }
    if report.verdict == Verdict::Proved {
        let name = ports.ready.map_or("", |ready| &rtl.signal(ready).name);
        let how = if compared == 0 { String::new() } else { format!(" ({compared} of these clocks compared again)") };
        let held = match (report.input_hold, report.input_beats) {
            (1, 1) => String::new(),
            (1, n) => format!(", in {n} beats from that clock on"),
            (n, _) => format!(", if it stays on its ports for {n} clocks"),
        };
        report.notes.push(format!(
            "a sample is accepted where {name} is 1, every {interval} clocks exactly{held}; its result stays for \
             {interval} clocks{how}"
        ));
    }
}

/// Outcome of a comparison of a part of a design.
pub(super) enum ComparisonOutcome {
    /// Equal for every input.
    Equal,
    /// Index of an output that can differ.
    Differs(usize),
    /// Undecided: the output (`None` for other parts), and the reason.
    Open(Option<usize>, String),
}

/// Result of a comparison of a part of a design.
pub(super) struct Comparison {
    pub(super) found: ComparisonOutcome,
    /// Number of operations whose signals were proved equal.
    pub(super) matched: u64,
    /// Model inputs of a counterexample, in order.
    pub(super) inputs: Vec<BigInt>,
    /// Raw integer values at other clock cycles in which the design reads the inputs.
    pub(super) others: Vec<(u32, Vec<BigInt>)>,
}

/// Compares outputs for given roles of ports and cycles of inputs.
pub(super) fn compare_at(model: &Model, rtl: &Rtl, ports: &PortRoles, e: &mut Engine) -> Comparison {
    let mut report = Report::before(0);
    rounds::compare((model, rtl, ports), (0, 0), rounds::Methods::default(), &mut report, e);
    let matched = report.operations_matched;
    let none = (Vec::new(), Vec::new());
    let (found, (inputs, others)) = match report.verdict {
        Verdict::Proved => (ComparisonOutcome::Equal, none),
        Verdict::Differs { counterexample: Some(c), .. } => {
            (ComparisonOutcome::Differs(c.output), (c.inputs, c.others))
        }
        Verdict::Differs { reason, .. } | Verdict::Unknown { reason } => {
            (ComparisonOutcome::Open(report.open, reason), none)
        }
    };
    Comparison { found, matched, inputs, others }
}

/// Returns the model operation in a signal's name, such as `v17` or `fc1_v17_s2`, also inside instances; `None` if the
/// name has none.
pub(super) fn operation_of(model: &Model, rtl: &Rtl, signal: SignalId) -> Option<ValueId> {
    let (index, tail) = operation_in_name(&rtl.signal(signal).name)?;
    let stage = tail.strip_prefix("_s").or_else(|| tail.strip_prefix("_S"));
    let whole = tail.is_empty() || stage.is_some_and(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()));
    (whole && (index as usize) < model.nodes().len()).then_some(ValueId(index))
}

/// Returns the model operation at the beginning of the name of an auxiliary signal, such as `v17_2` or `v17_a`. Such a
/// signal may have bits of the operation or its negative.
pub(super) fn hinted_operation(model: &Model, rtl: &Rtl, signal: SignalId) -> Option<ValueId> {
    let (index, _) = operation_in_name(&rtl.signal(signal).name)?;
    ((index as usize) < model.nodes().len()).then_some(ValueId(index))
}

/// Value of a signal named after an operation.
pub(super) struct ObservedSignal {
    pub(super) op: u32,
    pub(super) signal: String,
    /// Number of low bits that are compared.
    pub(super) width: u32,
    /// Low bits as an unsigned number.
    pub(super) value: BigInt,
}

/// Unconfirmed counterexample: input values, and the values in the file for them.
pub(super) struct Witness {
    pub(super) inputs: Vec<BigInt>,
    pub(super) others: Vec<(u32, Vec<BigInt>)>,
    /// `true` if inputs of other cycles affect the output.
    pub(super) unbalanced: bool,
    pub(super) found: BigInt,
    pub(super) seen: Vec<ObservedSignal>,
}

/// Returns the verdict of a difference, after a check by the reference interpreter.
pub(super) fn explain(model: &Model, latency: u32, output: usize, w: Witness) -> Verdict {
    let mut values: Vec<BigInt> = Vec::with_capacity(model.nodes().len());
    let golden = golden_steps(model, &w.inputs, LookupMiss::Zero, |step| {
        if let Step::Op { code, .. } = step {
            values.push(code.clone());
        }
    });
    let expected = match golden {
        Ok(outputs) => outputs[output].clone(),
        Err(_) => BigInt::ZERO,
    };
    let found = w.found;
    if expected == found {
        return Verdict::Unknown {
            reason: format!("output {output}: a difference was found that the interpreter does not confirm"),
        };
    }
    let first = match values.len() == model.nodes().len() {
        true => first_difference(model, &values, output, (&expected, &found), &w.seen),
        false => None,
    };
    let counterexample =
        Counterexample { inputs: w.inputs, others: w.others, output, expected, found, first_operation: first };
    let reason = if w.unbalanced {
        format!(
            "output {output} is not what the inputs of {latency} clocks before make it: some path has more or fewer \
             registers"
        )
    } else {
        counterexample.reason()
    };
    Verdict::Differs { reason, counterexample: Some(counterexample) }
}

/// Maximum number of operations evaluated to find the one that differs.
const MAX_EVALUATED: usize = 1 << 22;

/// Returns the first operation for which the value from the file, inserted into the model, results in the output of the
/// file; otherwise the first operation whose complete value from the file changes the output. A signal that differs in
/// unread bits only is not reported.
fn first_difference(
    model: &Model,
    values: &[BigInt],
    output: usize,
    (expected, found): (&BigInt, &BigInt),
    seen: &[ObservedSignal],
) -> Option<(u32, String)> {
    let mut seen: Vec<&ObservedSignal> = seen.iter().filter(|seen| (seen.op as usize) < values.len()).collect();
    seen.sort_by_key(|seen| seen.op);
    let mut budget = MAX_EVALUATED;
    let mut changes = None;
    // Values after the replacement of one operation's value by that of the file.
    let mut changed = values.to_vec();
    let mut is_changed = vec![false; values.len()];
    for seen in seen {
        let (op, kif) = (seen.op as usize, model.kif(ValueId(seen.op)));
        let bits = |lo: u32| wrap(&(&values[op] >> lo), Kif { signed: false, int: seen.width as i32, frac: 0 });
        // A signal may have any consecutive bits of the value.
        if (0..=kif.width().saturating_sub(seen.width)).any(|lo| bits(lo) == seen.value) {
            continue;
        }
        budget = match budget.checked_sub(values.len() - op) {
            Some(budget) => budget,
            None => break,
        };
        changed[op] = wrap(&(&values[op] - bits(0) + &seen.value), kif);
        is_changed[op] = true;
        for later in op + 1..values.len() {
            let id = ValueId(later as u32);
            if model.node(id).op.operands().iter().any(|operand| is_changed[operand.index()]) {
                changed[later] = operation(model, &changed, id);
                is_changed[later] = changed[later] != values[later];
            }
        }
        let result = output_code(model, &changed, output);
        for at in op..values.len() {
            if std::mem::take(&mut is_changed[at]) {
                changed[at].clone_from(&values[at]);
            }
        }
        if result == *found {
            return Some((seen.op, seen.signal.clone()));
        }
        // A narrower signal may be any part of the value.
        if result != *expected && seen.width == kif.width() {
            changes.get_or_insert_with(|| (seen.op, seen.signal.clone()));
        }
    }
    changes
}

/// Returns the outputs of the model over its inputs as a graph, for use in other provers.
pub fn model_graph(model: &Model, latency: u32) -> super::aig::Aig {
    let mut w = Words::new();
    let mut at = 0;
    let mut inputs: Vec<Vec<Lit>> = Vec::new();
    for kif in model.input_kifs() {
        let word = (0..kif.width())
            .map(|_| {
                at += 1;
                w.aig.input(format!("model_inp[{}]", at - 1))
            })
            .collect();
        inputs.push(word);
    }
    let bits = blast(&mut w, model, &inputs);
    let mut at = 0;
    for word in &bits.outputs {
        for &bit in word {
            let mut seen = bit;
            for stage in 1..=latency {
                let number = w.aig.latches().len();
                let q = w.aig.latch(format!("out_s{stage}[{at}]"), Some(false));
                w.aig.set_next(number, seen);
                seen = q;
            }
            w.aig.output(seen, format!("model_out[{at}]"));
            at += 1;
        }
    }
    w.aig
}

/// Checks that the ports of a file are those of the model. A mismatch means that the file belongs to another model.
///
/// # Errors
/// A description of the ports that do not match.
pub fn check_ports(model: &Model, rtl: &Rtl, request: &Request) -> Result<(), String> {
    find_ports(model, rtl, &request.names, request.beats()).map(|_| ())
}

/// Returns the complete proof obligation as one graph without registers. Its output `differ` is 1 if file and model
/// differ for the inputs of the sample (`model_inp`, flat) and the inputs of other cycles that the file reads
/// (`port[bit]@clocks`). Returns `None` if the ports do not match, or a signal depends on itself.
pub fn miter(model: &Model, rtl: &Rtl, names: &ControlNames, latency: u32) -> Option<super::aig::Aig> {
    let mut ports = find_ports(model, rtl, names, None).ok()?;
    if phases::stated_interval(rtl).is_some_and(|interval| interval > 1) {
        ports.phases = Some(phases::find(rtl, &ports).ok()?.seen_after(latency));
    }
    let control: Vec<SignalId> = [ports.clock, ports.reset, ports.enable].into_iter().flatten().collect();
    bit_level::miter(model, rtl, &ports, latency, depth(rtl, &control))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::Embedded;
    use alir_hdl::{Language, read};

    /// A value that differs and does not explain the output has no effect on the next candidate.
    #[test]
    fn the_operation_that_explains_the_output_is_named() {
        use alir_core::ir::{Builder, Op, Output};
        use alir_core::num::{Code, Interval};
        let mut builder = Builder::new(vec![0]);
        let x = builder.op(Op::Input { input: 0 }, Interval::new(0, 15, 0));
        let plus = |value: i64| Op::AddConst { x, value: Code::from(value), shift: 0 };
        let a = builder.op(plus(1), Interval::new(0, 31, 0));
        let b = builder.op(plus(2), Interval::new(0, 31, 0));
        let sum = builder.op(Op::Add { a, b, shift: 0 }, Interval::new(0, 63, 0));
        builder.output(Output { source: Some(sum), shift: 0, neg: false });
        let model = builder.finish().unwrap();
        let values: Vec<BigInt> = [3, 4, 5, 9].map(BigInt::from).into();
        let seen = |op: ValueId, value: i32| ObservedSignal {
            op: op.0,
            signal: format!("v{}", op.0),
            width: 5,
            value: value.into(),
        };
        // 4 + 8 is 12; with the value of the first signal it would be 13.
        let seen = [seen(a, 5), seen(b, 8)];
        let first = |found: i32| first_difference(&model, &values, 0, (&9.into(), &found.into()), &seen);
        assert_eq!(first(12), Some((b.0, format!("v{}", b.0))));
        assert_eq!(first(10), Some((a.0, format!("v{}", a.0))));
        assert_eq!(first(40), Some((a.0, format!("v{}", a.0))));
    }

    fn hardware(
        model: &Model,
        level: u8,
        stages: u32,
        options: &alir_hw::netlist::Options,
    ) -> alir_hw::netlist::Netlist {
        let (optimised, _) = alir_opt::passes::run(model, alir_opt::passes::pipeline(level));
        let schedule = match stages {
            0 => alir_opt::schedule::Schedule::combinational(optimised.nodes().len()),
            n => alir_opt::schedule::random(&optimised, n, false, 7),
        };
        alir_hw::netlist::lower(&optimised, &schedule, options)
    }

    fn verdict(model: &Model, text: &str, language: Language, latency: Option<u32>) -> Report {
        let rtl = read(language, text, None).unwrap_or_else(|d| panic!("{d}\n{text}"));
        prove(model, &rtl, &Request { latency, ..Request::default() }, Box::new(Embedded)).0
    }

    fn emitted(netlist: &alir_hw::netlist::Netlist, language: Language) -> String {
        alir_hw::emit::text(netlist, language, &alir_hw::emit::Options::default())
    }

    #[test]
    fn files_of_random_programs_are_proved_at_every_level() {
        for seed in 0..4 {
            let model = alir_testing::random::model(seed);
            let (level, stages) = ((seed % 3) as u8, (seed / 3 % 4) as u32);
            let netlist = hardware(&model, level, stages, &alir_hw::netlist::Options::default());
            for language in [Language::Verilog, Language::SystemVerilog, Language::Vhdl] {
                let text = emitted(&netlist, language);
                let report = verdict(&model, &text, language, Some(netlist.interface.latency));
                assert_eq!(report.verdict, Verdict::Proved, "seed {seed}\n{text}");
            }
        }
    }

    #[test]
    fn asynchronous_resets_are_accepted_in_both_languages() {
        let reset = alir_hw::netlist::ResetOptions { asynchronous: true, active_high: true, data: false };
        let options = alir_hw::netlist::Options { valid: true, enable: true, reset: Some(reset), ..Default::default() };
        let model = alir_testing::random::model(3);
        let netlist = hardware(&model, 1, 2, &options);
        for language in [Language::Verilog, Language::Vhdl] {
            let report = verdict(&model, &emitted(&netlist, language), language, Some(netlist.interface.latency));
            assert_eq!(report.verdict, Verdict::Proved, "{language:?}");
            assert!(report.notes.iter().any(|n| n.contains("asynchronous")), "{:?}", report.notes);
        }
    }

    /// A model with one input and one output of one bit; its ports have typical names of control ports.
    #[test]
    fn ports_that_are_called_like_controls_are_data_where_the_model_needs_them() {
        let text = r#"{"meta":"ALIRModel","spec_version":4,"model":[[1,1],[0],[0],[0],[false],
            [[[],-1,[0],[0,1,1],0,0]],-1,-1,null]}"#;
        let model = named(text);
        for input in ["en", "rst", "x"] {
            for output in ["ready", "y"] {
                let text =
                    format!("module m(input {input}, output {output});\nassign {output} = {input};\nendmodule\n");
                let report = verdict(&model, &text, Language::Verilog, Some(0));
                assert_eq!(report.verdict, Verdict::Proved, "{text}");
                let wrong = text.replace(&format!("= {input}"), &format!("= ~{input}"));
                let report = verdict(&model, &wrong, Language::Verilog, Some(0));
                assert!(matches!(report.verdict, Verdict::Differs { .. }), "{wrong}: {:?}", report.verdict);
            }
        }
        // A name that the user states for a control port always refers to that control port.
        let rtl =
            read(Language::Verilog, "module m(input x, output ready); assign ready = x; endmodule", None).unwrap();
        let names = ControlNames { ready: Some("ready".into()), ..ControlNames::default() };
        let request = Request { latency: Some(0), names, ..Request::default() };
        assert!(matches!(prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict, Verdict::Differs { .. }));
    }

    fn named(text: &str) -> Model {
        let (model, _) = alir_formats::read(text.as_bytes(), &alir_core::ir::Limits::default(), None).expect("a model");
        model
    }

    /// `input + 1` of four bits, written in processes that each assign some of the bits, and only on some paths.
    #[test]
    fn processes_that_share_a_word_are_read() {
        let text = r#"{"meta":"ALIRModel","spec_version":4,"model":[[1,1],[0],[1],[0],[false],
            [[[],-1,[0],[0,15,1],0,0],[[0],4,[1,0],[0,15,1],0,0]],-1,-1,null]}"#;
        let model = named(text);
        let verilog = |body: &str| {
            format!(
                "module m(input clk, input [3:0] model_inp, output [3:0] model_out);\nwire [3:0] x = model_inp;\n\
                 {body}\nendmodule\n"
            )
        };
        let vhdl = |body: &str| {
            format!(
                "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\nentity m is port (clk : in \
                 std_logic; model_inp : in \
                 std_logic_vector(3 downto 0); model_out : out std_logic_vector(3 downto 0)); end entity;\n\
                 architecture r of m is\n\
                 signal x, y : std_logic_vector(3 downto 0);\nbegin x <= model_inp; model_out <= y;\n{body}\nend \
                 architecture;\n"
            )
        };
        let waits = "always @(posedge clk)";
        let cases = [
            (
                Language::Verilog,
                Some(1),
                verilog(&format!(
                    "reg [3:0] y; assign model_out = y;\n{waits} if (!x[0]) y[1:0] <= {{x[1], 1'b1}}; else y[1:0] <= \
                     {{!x[1], 1'b0}};\n\
                 {waits} case (x[1:0]) 2'd3: y[3:2] <= x[3:2] + 1; default: y[3:2] <= x[3:2]; endcase"
                )),
            ),
            (
                Language::Verilog,
                Some(0),
                verilog(
                    "reg [3:0] y; assign model_out = y;\nalways @* begin if (x[0]) begin y[0] = 0; y[2] = x[2] ^ \
                     x[1]; end \
                 else begin y[2] = x[2]; y[0] = 1; end end\nalways @* begin y[1] = x[1] ^ x[0]; y[3] = x[3]; if \
                 (&x[2:0]) y[3] = !x[3]; end",
                ),
            ),
            (
                Language::Vhdl,
                Some(1),
                vhdl(
                    "process (clk) begin if rising_edge(clk) then if x(0) = '0' then y(1 downto 0) <= x(1) & '1'; else \
                 y(1 downto 0) <= (not x(1)) & '0'; end if; end if; end process;\nprocess (clk) begin if \
                 rising_edge(clk) then \
                 case x(1 downto 0) is when \"11\" => y(3 downto 2) <= std_logic_vector(unsigned(x(3 downto 2)) + 1); \
                 when others => \
                 y(3 downto 2) <= x(3 downto 2); end case; end if; end process;",
                ),
            ),
            (
                Language::Vhdl,
                Some(0),
                vhdl(
                    "process (x) begin if x(0) = '1' then y(0) <= '0'; y(2) <= x(2) xor x(1); else y(2) <= x(2); y(0) \
                     <= '1'; end if; \
                 end process;\nprocess (x) begin y(1) <= x(1) xor x(0); y(3) <= x(3); if x(2 downto 0) = \"111\" then \
                 y(3) <= not x(3); \
                 end if; end process;",
                ),
            ),
        ];
        for (language, latency, text) in cases {
            assert_eq!(verdict(&model, &text, language, latency).verdict, Verdict::Proved, "{text}");
            // A changed expression is reported as a difference from the model.
            let at = text
                .find("y[3:2] <= x[3:2] + 1")
                .or(text.find("y(3 downto 2) <= std"))
                .or(text.find("x[2] ^ x[1]"))
                .or(text.find("x(2) xor x(1)"));
            let at = at.expect("a place");
            let wrong = format!(
                "{}{}",
                &text[..at],
                text[at..]
                    .replacen("x[3:2] + 1", "x[3:2]", 1)
                    .replacen(" + 1", " - 1", 1)
                    .replacen("x[2] ^ x[1]", "x[2]", 1)
                    .replacen("x(2) xor x(1)", "x(2)", 1)
            );
            assert_ne!(wrong, text);
            let said = verdict(&model, &wrong, language, latency).verdict;
            assert!(matches!(said, Verdict::Differs { .. }), "{said:?}\n{wrong}");
        }
    }

    #[test]
    fn bits_that_nothing_drives_are_no_part_of_a_proof() {
        let text = r#"{"meta":"ALIRModel","spec_version":4,"model":[[1,1],[0],[0],[0],[false],
            [[[],-1,[0],[0,3,1],0,0]],-1,-1,null]}"#;
        let model = named(text);
        let file = |out: &str| {
            format!(
                "module m(input [1:0] model_inp, output [1:0] model_out);\nwire [2:0] t; assign t[0] = model_inp[0]; \
                 assign t[2] = model_inp[1];\nassign model_out = {out};\nendmodule\n"
            )
        };
        let said = |out: &str| verdict(&model, &file(out), Language::Verilog, Some(0)).verdict;
        assert_eq!(said("{t[2], t[0]}"), Verdict::Proved);
        assert!(matches!(said("t[1:0]"), Verdict::Differs { .. }));
        assert_eq!(said("t[1] ? {t[2], t[0]} : model_inp"), Verdict::Proved);
    }

    /// Returns an RTL file with one small change: an operator, a bound of a slice, or a bit of a constant.
    fn mutated(text: &str, rng: &mut alir_core::num::SplitMix) -> Option<String> {
        let starts: Vec<usize> = text
            .lines()
            .scan(0, |at, line| {
                let start = *at;
                *at += line.len() + 1;
                Some((start, line))
            })
            .filter(|(_, l)| l.trim_start().starts_with("wire") && l.contains('=') && !l.contains("wire unused_"))
            .map(|l| l.0)
            .collect();
        if starts.is_empty() {
            return None;
        }
        let start = starts[rng.below(starts.len() as u64) as usize];
        let from = start + text[start..].find('=')?;
        let end = from + text[from..].find(';')?;
        let places: Vec<usize> = (from..end).filter(|&i| b"+-01[&|^".contains(&text.as_bytes()[i])).collect();
        let at = *places.get(rng.below(places.len().max(1) as u64) as usize)?;
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = match bytes[at] {
            b'+' => b'-',
            b'-' => b'+',
            b'0' => b'1',
            b'1' => b'0',
            b'&' => b'|',
            b'|' => b'^',
            b'^' => b'&',
            _ => return None,
        };
        String::from_utf8(bytes).ok()
    }

    #[test]
    fn words_and_gates_agree_on_mutants() {
        let (mut proved, mut differs, mut over) = (0, 0, 0);
        let seeds = alir_testing::seeds(0..60);
        let count = seeds.end - seeds.start;
        for seed in seeds {
            let recipe = alir_testing::random::Recipe::seeded(alir_testing::random::Profile::TINY, 12, seed);
            let model = recipe.build();
            let netlist =
                hardware(&model, (seed % 3) as u8, (seed / 3 % 3) as u32, &alir_hw::netlist::Options::default());
            let text = emitted(&netlist, Language::Verilog);
            let mut rng = alir_core::num::SplitMix::new(seed);
            for text in [Some(text.clone()), mutated(&text, &mut rng), mutated(&text, &mut rng)].into_iter().flatten() {
                let Ok(rtl) = read(Language::Verilog, &text, None) else { continue };
                let asked = |gates_only, all_rules| {
                    let latency = Some(netlist.interface.latency);
                    let request = Request { latency, gates_only, all_rules, ..Request::default() };
                    prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict
                };
                let verdicts = [asked(false, false), asked(false, true), asked(true, false)];
                // With existing gates alone fewer outputs are decided, with the same verdicts.
                let shared =
                    RefCell::new(GateContext::new(&model, u64::MAX).expect("the checker reads random programs"));
                let request = Request { latency: Some(netlist.interface.latency), ..Request::default() };
                let found = prove_with_gates(Some(&shared), &model, &rtl, &request, Box::new(Embedded)).0.verdict;
                if found == Verdict::Proved {
                    assert_eq!(verdicts[0], Verdict::Proved, "seed {seed}\n{text}");
                    over += 1;
                }
                if verdicts.iter().all(|v| *v == Verdict::Proved) {
                    proved += 1;
                } else if verdicts.iter().all(|v| matches!(v, Verdict::Differs { .. })) {
                    differs += 1;
                } else {
                    panic!("seed {seed}: few rules first, all rules, gates: {verdicts:?}\n{text}");
                }
            }
        }
        eprintln!("{proved} proved, {over} of them with existing gates, {differs} differ");
        assert!(proved >= count && differs >= count / 3, "{proved} proved, {differs} differ");
        assert!(over >= count / 2, "{over} of {proved} with existing gates");
    }

    /// Returns the RTL file with changed digits in most of its trailing comments.
    fn with_other_remarks(text: &str, rng: &mut alir_core::num::SplitMix) -> String {
        let mut out = String::new();
        for line in text.lines() {
            // The header comment is kept, as it states properties such as the latency.
            let (code, remark) = Some(line)
                .filter(|line| !line.starts_with("//"))
                .and_then(|line| line.split_once("//"))
                .map_or((line, ""), |(code, _)| (code, &line[code.len()..]));
            out += code;
            for c in remark.chars() {
                let turned = c.is_ascii_digit() && rng.below(3) > 0;
                out.push(if turned { char::from(b'0' + rng.below(10) as u8) } else { c });
            }
            out.push('\n');
        }
        out
    }

    #[test]
    fn comments_of_a_file_are_untrusted() {
        let (mut proved, mut differs) = (0, 0);
        for seed in alir_testing::seeds(0..60) {
            let model = alir_testing::random::Recipe::seeded(alir_testing::random::Profile::TINY, 12, seed).build();
            let netlist = hardware(&model, 2, (seed % 3) as u32, &alir_hw::netlist::Options::default());
            let text = emitted(&netlist, Language::Verilog);
            let mut rng = alir_core::num::SplitMix::new(seed);
            for text in [Some(text.clone()), mutated(&text, &mut rng), mutated(&text, &mut rng)].into_iter().flatten() {
                let said = |text: &str| match read(Language::Verilog, text, None) {
                    Ok(rtl) => {
                        let request = Request { latency: Some(netlist.interface.latency), ..Request::default() };
                        Some(prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict)
                    }
                    Err(_) => None,
                };
                let (plain, other) = (said(&text), said(&with_other_remarks(&text, &mut rng)));
                match (plain, other) {
                    (None, None) => {}
                    (Some(Verdict::Proved), Some(Verdict::Proved)) => proved += 1,
                    (Some(Verdict::Differs { .. }), Some(Verdict::Differs { .. })) => differs += 1,
                    (plain, other) => panic!("seed {seed}: {plain:?}, with other comments {other:?}\n{text}"),
                }
            }
        }
        assert!(proved >= 30 && differs >= 10, "{proved} proved, {differs} differ");
    }

    /// Returns a design with clock enable, reset and valid flag around `y = x`, with some of its lines replaced.
    fn controlled(replace: &[(&str, &str)]) -> String {
        let mut text =
            "module m(input clk, input rst, input ce, input valid_in, input [3:0] model_inp, output valid_out, \
            output [3:0] model_out);\n\
            reg v;\n reg [3:0] q;\n\
            always @(posedge clk) begin\n\
            if (rst) v <= 1'b0; else if (ce) v <= valid_in;\n\
            if (ce) q <= model_inp;\n\
            end\n\
            assign valid_out = v;\n assign model_out = q;\nendmodule\n"
                .to_owned();
        for (old, new) in replace {
            assert!(text.contains(old), "{old}");
            text = text.replace(old, new);
        }
        text
    }

    /// The valid flag is also compared with existing gates.
    #[test]
    fn a_valid_flag_with_existing_gates_is_that_of_its_sample() {
        let model = identity();
        for (replace, is_right) in [
            (&[][..], true),
            (&[("v <= valid_in;", "v <= ~valid_in;")], false),
            (&[("v <= valid_in;", "v <= 1'b1;")], false),
            (&[("valid_out = v;", "valid_out = valid_in;")], false),
            (&[("valid_out = v;", "valid_out = v & q[0];")], false),
        ] {
            let rtl = read(Language::Verilog, &controlled(replace), None).unwrap();
            let shared = RefCell::new(GateContext::new(&model, u64::MAX).unwrap());
            let request = Request { latency: Some(1), ..Request::default() };
            let report = prove_with_gates(Some(&shared), &model, &rtl, &request, Box::new(Embedded)).0;
            assert_eq!(report.verdict == Verdict::Proved, is_right, "{replace:?}: {report:?}");
        }
    }

    /// Returns a model that computes `y = x` on four bits.
    fn identity() -> Model {
        let text = r#"{"meta": "ALIRModel", "spec_version": 4, "model": [[1, 1], [0], [0], [0], [0],
            [[[], -1, [0], [0, 15, 1], 0, 0]], -1, -1, null]}"#;
        alir_formats::read(text.as_bytes(), &alir_core::ir::Limits::default(), None).unwrap().0
    }

    /// Limits with which only structurally identical gates are equal.
    const NONE: Limits = Limits { sat_steps: 0, cone: 0, exhaustive_leaves: 0, deep: false };

    #[test]
    fn undecided_outputs_are_unknown_and_differences_are_reported() {
        let model = identity();
        // A valid flag, and a register with an enable, that do not match structurally.
        let flag = ("valid_out = v;", "valid_out = v & q[0] | v & ~q[0];");
        let hold = ("if (ce) q <= model_inp;", "q <= ce ? model_inp : q & {4{v}} | q & ~{4{v}};");
        let cleared = ("v <= 1'b0;", "v <= v & q[0] & ~(v & q[0] | q[1]);");
        for good in [&[][..], &[flag], &[hold], &[cleared], &[flag, hold, cleared]] {
            let text = controlled(good);
            let rtl = read(Language::Verilog, &text, None).unwrap_or_else(|d| panic!("{d}\n{text}"));
            let verdict = |limits| {
                let request = Request { limits, latency: Some(1), ..Request::default() };
                prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict
            };
            assert_eq!(verdict(Limits::default()), Verdict::Proved, "{text}");
            if good.is_empty() {
                assert_eq!(verdict(NONE), Verdict::Proved);
            } else {
                let unknown = verdict(NONE);
                let Verdict::Unknown { reason } = &unknown else { panic!("{unknown:?}\n{text}") };
                assert!(reason.contains("was not decided"), "{reason}");
            }
        }
        // A reset may set a register to its power-on value, but not to another value. A valid flag must be cleared.
        let sets = |value| ("if (ce) q <=", value);
        let starts = ("reg [3:0] q;", "reg [3:0] q = 4'd5;");
        let set = controlled(&[starts, sets("if (rst) q <= 4'd5; else if (ce) q <=")]);
        assert_eq!(verdict(&model, &set, Language::Verilog, Some(1)).verdict, Verdict::Proved);
        let bad: [(&[(&str, &str)], &str); 8] = [
            (&[("valid_out = v;", "valid_out = v & q[0];")], "valid_out is not valid_in"),
            (&[("valid_out = v;", "valid_out = 1'b1;")], "does not clear every valid flag"),
            (&[("if (rst) v <= 1'b0; else if", "if")], "does not clear every valid flag"),
            (&[("if (ce) q <= model_inp;", "q <= model_inp;")], "changes although"),
            (&[("v <= 1'b0;", "v <= v & q[0];")], "becomes neither zero nor"),
            (&[("v <= 1'b0;", "v <= 1'b1;")], "becomes neither zero nor"),
            (&[("reg v;", "reg v = 1'b1;"), ("v <= 1'b0;", "v <= 1'b1;")], "does not clear every valid flag"),
            (&[starts, sets("if (rst) q <= 4'd6; else if (ce) q <=")], "becomes neither zero nor"),
        ];
        for (changes, said) in bad {
            let verdict = verdict(&model, &controlled(changes), Language::Verilog, Some(1)).verdict;
            let Verdict::Differs { reason, .. } = &verdict else { panic!("{verdict:?}") };
            assert!(reason.contains(said), "{reason}");
        }
    }

    #[test]
    fn sums_of_another_solution_have_equal_forms() {
        // At level 2 values have no names; each is matched by its linear form, without the SAT solver.
        let path = alir_testing::repository().join("tests/data/models/jet_mlp/model.json.gz");
        let model = alir_formats::read_path(&path, &alir_core::ir::Limits::default(), None).unwrap().0;
        let netlist = hardware(&model, 2, 3, &alir_hw::netlist::Options::default());
        for language in [Language::Verilog, Language::Vhdl] {
            let report = verdict(&model, &emitted(&netlist, language), language, Some(netlist.interface.latency));
            assert_eq!(report.verdict, Verdict::Proved);
            assert_eq!(report.bits.sat, 0, "{:?}", report.bits);
        }
    }

    /// Returns a model with these inputs (`true` for signed, width) and further operations in the syntax of the file;
    /// the last operation is the output.
    fn arithmetic(inputs: &[(bool, u32)], operations: &[&str]) -> Model {
        let mut ops: Vec<String> = Vec::new();
        for (i, &(signed, width)) in inputs.iter().enumerate() {
            let half = if signed { 1i64 << (width - 1) } else { 0 };
            ops.push(format!("[[], -1, [{i}], [{}, {}, 1], 0, 0]", -half, (1i64 << width) - half - 1));
        }
        ops.extend(operations.iter().map(|o| (*o).to_owned()));
        let text = format!(
            r#"{{"meta": "ALIRModel", "spec_version": 4,
                "model": [[{}, 1], [{}], [{}], [0], [0], [{}], -1, -1, null]}}"#,
            inputs.len(),
            vec!["0"; inputs.len()].join(", "),
            ops.len() - 1,
            ops.join(", ")
        );
        alir_formats::read(text.as_bytes(), &alir_core::ir::Limits::default(), None)
            .unwrap_or_else(|d| panic!("{d:?}\n{text}"))
            .0
    }

    /// Returns options for products in logic, with LUTs of four inputs (trees of rows) or six (chains of rows).
    fn rows(table_inputs: u32) -> alir_hw::netlist::Options {
        let mut options = alir_hw::netlist::Options::default();
        options.fabric.multipliers = alir_hw::netlist::Multipliers::Rows;
        options.fabric.table_inputs = table_inputs;
        options
    }

    #[test]
    fn products_from_rows_of_adders_are_the_products() {
        for seed in 0..32u64 {
            let rows = rows(if seed % 8 < 4 { 4 } else { 6 });
            let mut rng = alir_core::num::SplitMix::new(seed);
            let mut factor = || (rng.below(2) == 1, 2 + rng.below(15) as u32);
            let (a, b) = (factor(), factor());
            let square = seed % 5 == 4;
            let ends = |(signed, width): (bool, u32)| {
                let half = if signed { 1i64 << (width - 1) } else { 0 };
                (-half, (1i64 << width) - half - 1)
            };
            let (x, y) = (ends(a), ends(if square { a } else { b }));
            let all = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
            let range = format!("[{}, {}, 1]", all.iter().min().unwrap(), all.iter().max().unwrap());
            let other = if square { 0 } else { 1 };
            let model = arithmetic(&[a, b], &[&format!("[[0, {other}], 7, [], {range}, 1, 1]")]);
            let netlist = hardware(&model, 1, (seed % 3) as u32, &rows);
            for language in [Language::Verilog, Language::Vhdl] {
                let text = emitted(&netlist, language);
                let rtl = read(language, &text, None).unwrap_or_else(|d| panic!("{d}\n{text}"));
                let latency = Some(netlist.interface.latency);
                let request = Request { latency, work: Some(20_000_000), ..Request::default() };
                let report = prove(&model, &rtl, &request, Box::new(Embedded)).0;
                // The low bits of a square depend on few inputs, and a small product is a table.
                let few = square || a.1 + b.1 <= rows.fabric.product_inputs(false);
                let exhaustive = if few { 0 } else { report.bits.exhaustive };
                let shown = (&report.verdict, report.bits.sat, exhaustive);
                assert_eq!(shown, (&Verdict::Proved, 0, 0), "seed {seed}, {a:?} {b:?}\n{text}");
            }
        }
    }

    #[test]
    fn small_products_are_tables() {
        for (at, (a, b)) in (2..=4u32).flat_map(|a| (a..=5).map(move |b| (a, b))).enumerate() {
            // Whole products and low bits of products; tables for products up to `most` bits of both factors.
            for (table_inputs, most, range) in
                [(4, 5, "[-256, 511, 1]"), (6, 6, "[-256, 511, 1]"), (6, 6, "[0, 7, 1]"), (6, 6, "[0, 1, 1]")]
            {
                let operation = format!("[[0, 1], 7, [], {range}, 1, 1]");
                let model = arithmetic(&[(at % 2 == 0, a), (at % 3 == 0, b)], &[&operation]);
                let netlist = hardware(&model, 1, 0, &rows(table_inputs));
                // Low bits depend on few bits of the factors.
                if range.starts_with("[-256") {
                    assert_eq!(netlist.roms().len(), usize::from(a + b <= most), "{a} {b}");
                }
                assert!(netlist.roms().iter().all(|rom| !rom.is_table));
                let report = verdict(&model, &emitted(&netlist, Language::Vhdl), Language::Vhdl, Some(0));
                assert_eq!((&report.verdict, report.bits.sat), (&Verdict::Proved, 0), "{a} {b} {table_inputs}");
            }
        }
    }

    #[test]
    fn squares_from_rows_of_adders_are_the_squares() {
        let widths = [2, 5, 8, 9, 14, 21, 24, 33, 40];
        for (at, (signed, width)) in widths.into_iter().flat_map(|w| [(false, w), (true, w)]).enumerate() {
            let most = 1i128 << if signed { 2 * width - 2 } else { 2 * width };
            let model = arithmetic(&[(signed, width)], &[&format!("[[0, 0], 7, [], [0, {most}, 1], 1, 1]")]);
            let netlist = hardware(&model, 1, (at % 3) as u32, &rows(if at % 8 < 4 { 6 } else { 4 }));
            let products = netlist.nets().iter().filter(|n| matches!(n.cell, alir_hw::netlist::Cell::Mul { .. }));
            assert_eq!(products.count(), 0);
            assert_eq!(netlist.roms().len(), usize::from(width <= 5), "{signed} {width}");
            let language = if at % 4 < 2 { Language::Verilog } else { Language::Vhdl };
            let report = verdict(&model, &emitted(&netlist, language), language, Some(netlist.interface.latency));
            assert_eq!((&report.verdict, report.bits.sat), (&Verdict::Proved, 0), "{signed} {width}");
        }
    }

    #[test]
    fn rows_after_registers_are_the_products_of_numbers_that_wrap() {
        // A signed number that wraps to an unsigned number of six bits (all bits or five bits of it), times another
        // number.
        for (inputs, low) in [([(true, 7), (true, 6)], 0), ([(true, 10), (true, 7)], 0), ([(true, 8), (false, 5)], 4)] {
            let operations = [
                format!("[[0], 3, [0], [{low}, {}, 4], 0, 0]", low + 252 - 2 * low),
                "[[2, 1], 7, [], [-16384, 16380, 4], 0, 0]".to_owned(),
            ];
            let model = arithmetic(&inputs, &operations.iter().map(String::as_str).collect::<Vec<_>>());
            for (stages, table_inputs) in [(0, 6), (0, 4), (2, 6), (4, 4), (4, 6)] {
                let netlist = hardware(&model, 1, stages, &rows(table_inputs));
                for language in [Language::Verilog, Language::Vhdl] {
                    let text = emitted(&netlist, language);
                    let rtl = read(language, &text, None).unwrap_or_else(|d| panic!("{d}\n{text}"));
                    let latency = Some(netlist.interface.latency);
                    let request = Request { latency, work: Some(20_000_000), ..Request::default() };
                    let report = prove(&model, &rtl, &request, Box::new(Embedded)).0;
                    assert_eq!((&report.verdict, report.bits.sat), (&Verdict::Proved, 0), "{inputs:?}\n{text}");
                }
            }
        }
    }

    #[test]
    fn tables_of_bits_that_are_read_by_bits_are_tables() {
        // The identity of four bits: each bit is read from a constant indexed by bits, some of which were read in the
        // same way.
        let model = identity();
        let text = |last: &str| {
            format!(
                "module m(input [3:0] model_inp, output [3:0] model_out);\n\
                wire [15:0] t = 16'haaaa;\n wire [63:0] u = 64'hcccc_cccc_cccc_cccc;\n wire [7:0] w = 8'b11110000;\n\
                wire a = t[model_inp];\n wire b = u[{{model_inp[3], a, model_inp[3:0]}}];\n\
                wire c = w[{{model_inp[2], b, a}}];\n wire [3:0] d = 4'b{last};\n\
                assign model_out = {{d[{{model_inp[3], c}}], c, b, a}};\nendmodule\n"
            )
        };
        let good = verdict(&model, &text("1100"), Language::Verilog, Some(0));
        assert_eq!((&good.verdict, good.bits.sat), (&Verdict::Proved, 0));
        for bad in ["1101", "1000", "0100", "1010"] {
            let verdict = verdict(&model, &text(bad), Language::Verilog, Some(0)).verdict;
            assert!(matches!(verdict, Verdict::Differs { counterexample: Some(_), .. }), "{bad}: {verdict:?}");
        }
    }

    #[test]
    fn wrong_rows_are_not_proved() {
        let (mut proved, mut differs) = (0, 0);
        for seed in 0..40u64 {
            let mut rng = alir_core::num::SplitMix::new(seed);
            let mut factor = || (rng.below(2) == 1, 2 + rng.below(4) as u32);
            let (a, b) = (factor(), factor());
            // Operand ranges whose product wraps.
            let model = arithmetic(&[a, b], &["[[0, 1], 7, [], [-64, 63, 1], 1, 1]"]);
            let netlist = hardware(&model, 1, 0, &rows(if seed % 2 == 0 { 6 } else { 4 }));
            let text = emitted(&netlist, Language::Verilog);
            for _ in 0..4 {
                let Some(text) = mutated(&text, &mut rng) else { continue };
                let Ok(rtl) = read(Language::Verilog, &text, None) else { continue };
                let ask = |gates_only| {
                    let request = Request { latency: Some(0), gates_only, ..Request::default() };
                    prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict
                };
                match (ask(false), ask(true)) {
                    (Verdict::Proved, Verdict::Proved) => proved += 1,
                    (Verdict::Differs { .. }, Verdict::Differs { .. }) => differs += 1,
                    other => panic!("seed {seed}: {other:?}\n{text}"),
                }
            }
        }
        assert!(differs > 60, "{proved} proved, {differs} differ");
    }

    #[test]
    fn recombined_bits_are_matched_in_every_value() {
        // Fields of several values in one signal, without bits that are always zero; bitwise operations on parts.
        for name in ["073", "084"] {
            let path = alir_testing::repository().join(format!("tests/data/models/fuzz/{name}/model.json"));
            let model = alir_formats::read_path(path.as_ref(), &alir_core::ir::Limits::default(), None).unwrap().0;
            for (level, stages) in [(0, 0), (2, 0), (1, 3), (2, 7)] {
                let netlist = hardware(&model, level, stages, &alir_hw::netlist::Options::default());
                for language in [Language::Verilog, Language::Vhdl] {
                    let rtl = read(language, &emitted(&netlist, language), None).unwrap();
                    let latency = Some(netlist.interface.latency);
                    let request = Request { latency, work: Some(100_000_000), ..Request::default() };
                    let report = prove(&model, &rtl, &request, Box::new(Embedded)).0;
                    assert_eq!(report.verdict, Verdict::Proved, "fuzz/{name} -O{level}, {stages} stages, {language:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_that_wrap_are_factors_without_the_bits_that_repeat() {
        // A signed number that wraps to an unsigned number, times another number; the file has only the five bits of
        // the signed number.
        let model = arithmetic(
            &[(true, 7), (true, 6)],
            &["[[0], 3, [0], [0, 252, 4], 0, 0]", "[[2, 1], 7, [], [-8064, 7812, 4], 0, 0]"],
        );
        let text = |factor: &str| {
            format!(
                "module m(input [12:0] model_inp, output [11:0] model_out);\n\
                wire [4:0] p = model_inp[6:2];\n wire [5:0] w = model_inp[12:7];\n\
                assign model_out = $signed({factor}) * $signed({{{{7{{w[5]}}}}, w}});\nendmodule\n"
            )
        };
        let good = verdict(&model, &text("{7'd0, p[4], p}"), Language::Verilog, Some(0));
        assert_eq!(good.verdict, Verdict::Proved);
        // Equal structurally, or as linear forms.
        assert_eq!((good.bits.sat, good.bits.exhaustive, good.bits.affine + good.bits.structural), (0, 0, 12));
        for bad in
            ["{7'd0, p[3], p}", "{{8{p[4]}}, p}", "{6'd0, p[4], p[4], p}", "{8'd0, p}", "{7'd0, p[4], p} + 13'd1"]
        {
            let verdict = verdict(&model, &text(bad), Language::Verilog, Some(0)).verdict;
            assert!(matches!(verdict, Verdict::Differs { counterexample: Some(_), .. }), "{bad}: {verdict:?}");
        }
    }

    #[test]
    fn products_of_long_sums_are_compared_as_polynomials() {
        // (x0 + ... + x19) (x20 + ... + x39) has 441 products of atoms and constants, more than one linear form
        // represents.
        let inputs = vec![(true, 6u32); 40];
        let mut operations = Vec::new();
        for half in [0, 20] {
            for i in 1..20 {
                let before = if i == 1 { half } else { 40 + operations.len() - 1 };
                operations.push(format!(
                    "[[{before}, {}], 0, [0], [{}, {}, 1], 1, 1]",
                    half + i,
                    -32 * (i + 1) as i64,
                    31 * (i + 1)
                ));
            }
        }
        operations.push("[[58, 77], 7, [], [-400000, 420000, 1], 1, 1]".to_owned());
        let model = arithmetic(&inputs, &operations.iter().map(String::as_str).collect::<Vec<_>>());
        // The second sum times each element of the first, in another order; one of the products is split.
        let text = |last: &str| {
            let mut text = format!("module m(input [239:0] model_inp, output [{}:0] model_out);\n", 19);
            for i in 0..40 {
                let (hi, lo) = (6 * i + 5, 6 * i);
                text += &format!("wire signed [19:0] x{i} = {{{{14{{model_inp[{hi}]}}}}, model_inp[{hi}:{lo}]}};\n");
            }
            let second: Vec<String> = (20..39).rev().map(|i| format!("x{i}")).collect();
            text += &format!("wire signed [19:0] t = x39 + {};\n", second.join(" + "));
            let first: Vec<String> = (1..20).rev().map(|i| format!("x{i} * t")).collect();
            text += &format!("wire signed [19:0] u = x0 * (t - {last}) + x0 * x33;\n");
            text += &format!("assign model_out = {} + u;\nendmodule\n", first.join(" + "));
            text
        };
        assert_eq!(model.output_kif(0).width(), 20);
        let good = verdict(&model, &text("x33"), Language::Verilog, Some(0));
        assert_eq!(good.verdict, Verdict::Proved);
        assert_eq!((good.bits.sat, good.bits.exhaustive, good.bits.affine), (0, 0, 20));
        let bad = verdict(&model, &text("x34"), Language::Verilog, Some(0)).verdict;
        assert!(matches!(bad, Verdict::Differs { counterexample: Some(_), .. }), "{bad:?}");
    }

    #[test]
    fn the_miter_of_a_proved_file_is_never_true() {
        let names = ControlNames::default();
        let mut shown = 0;
        for seed in 0..12u64 {
            let model = alir_testing::random::Recipe::seeded(alir_testing::random::Profile::TINY, 12, seed).build();
            let netlist = hardware(&model, 1, (seed % 3) as u32, &alir_hw::netlist::Options::default());
            let text = emitted(&netlist, Language::Verilog);
            let mut rng = alir_core::num::SplitMix::new(seed);
            for text in [Some(text.clone()), mutated(&text, &mut rng)].into_iter().flatten() {
                let Ok(rtl) = read(Language::Verilog, &text, None) else { continue };
                let latency = netlist.interface.latency;
                let request = Request { latency: Some(latency), ..Request::default() };
                let verdict = prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict;
                let graph = miter(&model, &rtl, &names, latency).expect("a graph");
                assert!(graph.latches().is_empty() && graph.outputs().len() == 1);
                let mut e = Engine::new(Box::new(Embedded));
                e.words.aig = graph;
                let goal = e.words.aig.outputs()[0].lit;
                let outcome = e.equal(&[goal], &[Lit::FALSE]);
                assert_eq!(outcome == Outcome::Equal, verdict == Verdict::Proved, "seed {seed}: {verdict:?}");
                shown += usize::from(outcome != Outcome::Equal);
            }
        }
        assert!(shown >= 3, "only {shown} differ");
    }

    #[test]
    fn a_larger_budget_proves_at_least_as_much() {
        let mut proved = 0;
        for seed in 0..6u64 {
            let model = alir_testing::random::Recipe::seeded(alir_testing::random::Profile::TINY, 20, seed).build();
            let netlist = hardware(&model, 2, (seed % 3) as u32, &alir_hw::netlist::Options::default());
            let rtl = read(Language::Verilog, &emitted(&netlist, Language::Verilog), None).unwrap();
            let ask = |work| {
                let latency = Some(netlist.interface.latency);
                let request = Request { latency, work: Some(work), ..Request::default() };
                prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict == Verdict::Proved
            };
            let verdicts = [0, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000].map(ask);
            assert!(verdicts.is_sorted(), "seed {seed}: {verdicts:?}");
            proved += usize::from(verdicts[6]);
        }
        assert!(proved >= 5, "only {proved} of 6 are proved");
    }

    #[test]
    fn no_run_exceeds_its_budget_by_a_fifth() {
        let mut open = 0;
        for seed in 0..8u64 {
            let profile =
                if seed % 2 == 0 { alir_testing::random::Profile::TINY } else { alir_testing::random::Profile::SMALL };
            let model = alir_testing::random::Recipe::seeded(profile, 40, seed).build();
            let netlist = hardware(&model, 2, (seed % 3) as u32, &alir_hw::netlist::Options::default());
            let rtl = read(Language::Verilog, &emitted(&netlist, Language::Verilog), None).unwrap();
            for work in [50_000, 200_000, 1_000_000, 5_000_000, 25_000_000] {
                let latency = Some(netlist.interface.latency);
                let request = Request { latency, work: Some(work), ..Request::default() };
                let (report, e) = prove(&model, &rtl, &request, Box::new(Embedded));
                assert!(e.spent <= work + work / 5, "seed {seed}: {} of {work}", e.spent);
                open += usize::from(matches!(report.verdict, Verdict::Unknown { .. }));
            }
        }
        assert!(open >= 5, "only {open} runs were ended by their budget");
    }

    #[test]
    fn a_sign_is_found_above_bits_that_were_dropped() {
        // A bias and a rectifier that wraps: only the low bits and the sign of the sum are used, and the sum is rarely
        // large enough for samples to distinguish the sign from the bit below it.
        let model = arithmetic(
            &[(true, 9), (true, 9)],
            &[
                "[[0, 1], 0, [0], [-512, 510, 1], 1, 1]",
                "[[2], 4, [-40, 0], [-552, 470, 1], 1, 1]",
                "[[3], 2, [], [0, 255, 1], 1, 1]",
            ],
        );
        for level in [1, 2] {
            let netlist = hardware(&model, level, 1, &alir_hw::netlist::Options::default());
            for language in [Language::Verilog, Language::Vhdl] {
                let report = verdict(&model, &emitted(&netlist, language), language, Some(1));
                let shown = (&report.verdict, report.bits.sat, report.bits.exhaustive);
                assert_eq!(shown, (&Verdict::Proved, 0, 0), "-O{level}, {language:?}");
            }
        }
    }

    #[test]
    fn another_latency_than_the_stated_one_differs() {
        let model = alir_testing::random::model(3);
        let netlist = hardware(&model, 1, 2, &alir_hw::netlist::Options::default());
        let text = emitted(&netlist, Language::Verilog);
        let report = verdict(&model, &text, Language::Verilog, Some(netlist.interface.latency + 1));
        assert!(matches!(report.verdict, Verdict::Differs { .. }), "{report:?}");
    }
}
