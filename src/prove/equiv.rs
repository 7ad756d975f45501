//! The proof: a design against a model.
//!
//! Signals named `v17` are taken to show operation 17 of the model, at any stage: when the readers' gates for such a
//! signal are known, they are compared with the model's, and if equal the model's gates are used from there on. A name is
//! only a hint: a signal that does not match keeps its own gates, and what uses it is compared by its meaning. So each
//! comparison is small, and the last one, of the outputs, is the theorem.
//!
//! Time: outputs are looked at now, inputs `latency` clock edges ago. An input of any other moment is another free
//! variable, so that a path with a register too few or too many cannot be proved and shows in the counterexample.
//! With a clock enable the statement is about the clocks that are enabled: every register must hold without it. With a
//! reset it is about the time since the last one: every register that the reset touches must become zero.

use super::aig::Lit;
use super::blast::{ModelBits, blast};
use super::engine::{Counts, Engine, Limits, Outcome};
use super::rtl::{Rtl, SignalId};
use super::sat::Solver;
use super::unroll::{Fault, Leaves, Unroll, alias, clock_of, depth};
use super::word::{Words, resize};
use crate::interp::{LookupMiss, Step, golden_steps};
use crate::ir::{Model, ValueId};
use crate::num::{Kif, wrap};
use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

/// What is asked of a proof.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Clock edges from input to result; if not given, what the file states, or else what it has.
    pub latency: Option<u32>,
    /// Limits of each cone.
    pub limits: Limits,
    /// Whether SAT questions are kept for a certificate.
    pub keep_questions: bool,
}

/// Input values for which model and file differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counterexample {
    /// Codes on the input ports, one a model input, at the moment that the result belongs to.
    #[serde(serialize_with = "as_strings")]
    pub inputs: Vec<BigInt>,
    /// Codes at other moments, if those matter: clock edges before the output is seen, then the codes.
    #[serde(skip)]
    pub others: Vec<(u32, Vec<BigInt>)>,
    /// The output element.
    pub output: usize,
    /// Its code by the model.
    #[serde(serialize_with = "as_string")]
    pub expected: BigInt,
    /// Its code by the file.
    #[serde(serialize_with = "as_string")]
    pub found: BigInt,
    /// The first operation whose signal shows something else than the model, with the signal's name.
    pub first_operation: Option<(u32, String)>,
}

fn as_string<S: serde::Serializer>(v: &BigInt, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(v)
}

fn as_strings<S: serde::Serializer>(all: &[BigInt], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(all.iter().map(ToString::to_string))
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "verdict")]
pub enum Verdict {
    /// Equal for every input.
    Proved,
    /// Different.
    Differs {
        /// Why, in a sentence.
        reason: String,
        /// Values that show it, where it is a matter of values.
        counterexample: Option<Counterexample>,
    },
    /// Not decided.
    Unknown {
        /// The cone and the limit reached.
        reason: String,
    },
}

/// A proof's result with what it covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The result.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Clock edges from input to result that the statement is about.
    pub latency: u32,
    /// Operations whose signals were found in the file and proved equal.
    pub operations_matched: u64,
    /// Signals named after an operation that show something else (optimisation may do that).
    pub operations_unmatched: u64,
    /// Bits by method.
    pub bits: Counts,
    /// Gates of both sides together.
    pub gates: usize,
    /// Registers in the file, in bits.
    pub register_bits: u64,
    /// What else the statement says, or assumes.
    pub notes: Vec<String>,
}

/// Which port is what.
struct Ports {
    /// For each model input element: the port and its lowest bit there.
    inputs: Vec<Option<(SignalId, u32)>>,
    outputs: Vec<Option<(SignalId, u32)>>,
    clock: Option<SignalId>,
    reset: Option<SignalId>,
    enable: Option<SignalId>,
    valid: Option<(SignalId, SignalId)>,
}

/// The latency that the file's head states: `latency: 3`, in any case, in one of its comments.
pub fn stated_latency(rtl: &Rtl) -> Option<u32> {
    rtl.head.iter().find_map(|line| {
        let lower = line.to_ascii_lowercase();
        let rest = &lower[lower.find("latency")? + "latency".len()..];
        let rest = rest.trim_start_matches([' ', ':', '=', '\t']);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if rest.starts_with("none") || rest.starts_with("combinational") {
            return Some(0);
        }
        digits.parse().ok()
    })
}

fn find_ports(model: &Model, rtl: &Rtl) -> Result<Ports, String> {
    let clock = clock_of(rtl)?.map(|(s, _)| s);
    let named = |list: &[SignalId], names: &[&str]| {
        list.iter().copied().find(|&s| names.iter().any(|n| rtl.signal(s).name.eq_ignore_ascii_case(n)))
    };
    let one_bit = |s: &SignalId| rtl.signal(*s).width == 1;
    let reset = named(&rtl.inputs, &["rst", "reset", "rst_n", "reset_n", "aresetn", "areset"]).filter(one_bit);
    let enable = named(&rtl.inputs, &["ce", "enable", "en", "clk_en"]).filter(one_bit);
    let valid_in = named(&rtl.inputs, &["valid_in", "in_valid"]).filter(one_bit);
    let valid_out = named(&rtl.outputs, &["valid_out", "out_valid"]).filter(one_bit);
    let valid = match (valid_in, valid_out) {
        (Some(i), Some(o)) => Some((i, o)),
        (None, None) => None,
        _ => return Err("one of valid_in and valid_out is missing".into()),
    };
    // A clock port may be there although nothing needs it.
    let idle_clock = named(&rtl.inputs, &["clk", "clock", "aclk"]).filter(one_bit);
    let control: FxHashSet<SignalId> =
        [clock, idle_clock, reset, enable, valid_in].into_iter().flatten().chain(valid_out).collect();
    let place = |list: &[SignalId], widths: &[u32], what: &str| -> Result<Vec<Option<(SignalId, u32)>>, String> {
        let data: Vec<SignalId> = list.iter().copied().filter(|s| !control.contains(s)).collect();
        let total: u32 = widths.iter().sum();
        let mut lo = 0;
        if let [only] = data[..]
            && rtl.signal(only).width == total
        {
            return Ok(widths
                .iter()
                .map(|&w| {
                    let at = lo;
                    lo += w;
                    (w > 0).then_some((only, at))
                })
                .collect());
        }
        // One port for each element that has bits: by the number at the end of its name.
        let mut by_number: FxHashMap<usize, SignalId> = FxHashMap::default();
        for &s in &data {
            let name = &rtl.signal(s).name;
            let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            if let Ok(n) = name[name.len() - digits..].parse() {
                by_number.insert(n, s);
            }
        }
        let found: Vec<Option<(SignalId, u32)>> = widths
            .iter()
            .enumerate()
            .map(|(i, &w)| by_number.get(&i).filter(|&&s| w > 0 && rtl.signal(s).width == w).map(|&s| (s, 0)))
            .collect();
        let complete = found.iter().zip(widths).all(|(f, &w)| w == 0 || f.is_some());
        if complete && found.iter().flatten().count() == data.len() {
            return Ok(found);
        }
        let seen: Vec<String> =
            data.iter().map(|&s| format!("{} ({} bits)", rtl.signal(s).name, rtl.signal(s).width)).collect();
        Err(format!("the {what} ports do not fit the model's {total} bits: {}", seen.join(", ")))
    };
    let widths: Vec<u32> = model.input_kifs().iter().map(|k| k.width()).collect();
    let out_widths: Vec<u32> = (0..model.outputs().len()).map(|j| model.output_kif(j).width()).collect();
    Ok(Ports {
        inputs: place(&rtl.inputs, &widths, "input")?,
        outputs: place(&rtl.outputs, &out_widths, "output")?,
        clock,
        reset,
        enable,
        valid,
    })
}

/// What control inputs are set to while gates are made.
#[derive(Clone, Copy)]
struct Controls {
    reset: Option<(SignalId, bool)>,
    enable: Option<(SignalId, bool)>,
}

struct Matching<'a> {
    model: &'a Model,
    rtl: &'a Rtl,
    bits: &'a ModelBits,
    inputs: &'a [Vec<Lit>],
    ports: &'a Ports,
    latency: u32,
    controls: Controls,
    /// Inputs of other moments, made when met.
    others: FxHashMap<(SignalId, u32), Vec<Lit>>,
    by_signature: FxHashMap<[u64; super::engine::WORDS], Vec<Lit>>,
    matched: FxHashSet<u32>,
    unmatched: Vec<(u32, SignalId, Vec<Lit>)>,
}

impl Matching<'_> {
    /// The model operation that a signal's name speaks of: `v17`, `v17_s2`, and the like inside instances.
    fn operation(&self, signal: SignalId) -> Option<ValueId> {
        let name = self.rtl.signal(signal).name.rsplit('.').next()?;
        let rest = name.strip_prefix('v').or_else(|| name.strip_prefix('V'))?;
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, tail) = rest.split_at(digits);
        let stage = tail.strip_prefix("_s").or_else(|| tail.strip_prefix("_S"));
        let whole = tail.is_empty() || stage.is_some_and(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()));
        let index: u32 = number.parse().ok()?;
        (whole && (index as usize) < self.model.nodes().len()).then_some(ValueId(index))
    }

    /// Replaces bits by bits of the model that they equal.
    fn swept(&self, e: &mut Engine, bits: Vec<Lit>) -> Vec<Lit> {
        e.simulate();
        let small = Limits { sat_steps: e.limits.sat_steps / 30, cone: 2_000, exhaustive_leaves: 12, deep: false };
        bits.into_iter()
            .map(|bit| {
                if bit.as_const().is_some() || e.is_cut(bit) {
                    return bit;
                }
                let (key, negate) = normal(e.signature(bit));
                let candidates = self.by_signature.get(&key).map(Vec::as_slice).unwrap_or_default();
                let found = candidates.iter().take(3).find(|&&c| e.equal_within(bit.xor(negate), c, small));
                found.map_or(bit, |&c| c.xor(negate))
            })
            .collect()
    }
}

fn normal<const N: usize>(s: [u64; N]) -> ([u64; N], bool) {
    if s[0] & 1 == 1 { (s.map(|w| !w), true) } else { (s, false) }
}

impl Leaves for Matching<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit> {
        for (port, value) in [self.controls.reset, self.controls.enable].into_iter().flatten() {
            if port == signal {
                return vec![Lit::constant(value)];
            }
        }
        let width = self.rtl.signal(signal).width as usize;
        let name = &self.rtl.signal(signal).name;
        let free = |e: &mut Engine, others: &mut FxHashMap<(SignalId, u32), Vec<Lit>>| {
            others
                .entry((signal, k))
                .or_insert_with(|| (0..width).map(|i| e.words.aig.input(format!("{name}[{i}]@{k}"))).collect())
                .clone()
        };
        let is_data = self.ports.inputs.iter().flatten().any(|p| p.0 == signal);
        if !is_data || k != self.latency {
            return free(e, &mut self.others);
        }
        let mut word = vec![Lit::FALSE; width];
        for (bits, place) in self.inputs.iter().zip(&self.ports.inputs) {
            if let Some((port, lo)) = place
                && *port == signal
            {
                word[*lo as usize..*lo as usize + bits.len()].copy_from_slice(bits);
            }
        }
        word
    }

    fn unknown(&mut self, e: &mut Engine, width: u32) -> Vec<Lit> {
        (0..width).map(|_| e.words.aig.input("undefined")).collect()
    }

    fn signal(&mut self, e: &mut Engine, signal: SignalId, _k: u32, bits: Vec<Lit>) -> Vec<Lit> {
        let Some(op) = self.operation(signal) else { return bits };
        let kif = self.model.kif(op);
        let model = resize(self.bits.op(op), kif.signed, bits.len());
        // A register of a matched signal carries the model's gates already.
        if bits == model {
            if self.matched.insert(op.0) {
                e.counts.structural += bits.len() as u64;
            }
            return bits;
        }
        e.simulate();
        if e.simulated_difference(&bits, &model).is_none() && e.equal(&bits, &model) == Outcome::Equal {
            self.matched.insert(op.0);
            return model;
        }
        let swept = self.swept(e, bits.clone());
        if !self.matched.contains(&op.0) && self.unmatched.len() < 100_000 {
            self.unmatched.push((op.0, signal, bits));
        }
        swept
    }
}

/// Proves or refutes that `rtl` computes `model`.
pub fn prove(model: &Model, rtl: &Rtl, request: &Request, solver: Box<dyn Solver>) -> (Report, Engine) {
    let mut e = Engine::new(solver);
    e.limits = request.limits;
    e.keep_questions = request.keep_questions;
    let mut report = Report {
        verdict: Verdict::Proved,
        latency: 0,
        operations_matched: 0,
        operations_unmatched: 0,
        bits: Counts::default(),
        gates: 0,
        register_bits: rtl.signals().iter().flat_map(|s| &s.registers).map(|r| u64::from(rtl.width(r.next))).sum(),
        notes: Vec::new(),
    };
    let differs = |report: &mut Report, reason: String| {
        report.verdict = Verdict::Differs { reason, counterexample: None };
    };
    let ports = match find_ports(model, rtl) {
        Ok(ports) => ports,
        Err(reason) => {
            differs(&mut report, reason);
            return (report, e);
        }
    };
    let control: Vec<SignalId> = [ports.clock, ports.reset, ports.enable].into_iter().flatten().collect();
    let structure = depth(rtl, &control);
    let stated = stated_latency(rtl);
    let latency = request.latency.or(stated).unwrap_or(structure);
    report.latency = latency;
    if let (Some(asked), Some(stated)) = (request.latency, stated)
        && asked != stated
    {
        differs(&mut report, format!("a latency of {asked} was asked for, the file states {stated}"));
        return (report, e);
    }
    if let Err(reason) = check_control(model, rtl, &ports, &mut report) {
        differs(&mut report, reason);
        return (report, e);
    }
    compare(model, rtl, &ports, latency, structure, &mut report, &mut e);
    report.bits = e.counts;
    report.gates = e.words.aig.gates();
    (report, e)
}

fn compare(model: &Model, rtl: &Rtl, ports: &Ports, latency: u32, structure: u32, report: &mut Report, e: &mut Engine) {
    let inputs: Vec<Vec<Lit>> = model
        .input_kifs()
        .iter()
        .enumerate()
        .map(|(i, kif)| (0..kif.width()).map(|b| e.words.aig.input(format!("inp_{i}[{b}]"))).collect())
        .collect();
    let bits = blast(&mut e.words, model, &inputs);
    e.simulate();
    let mut by_signature: FxHashMap<_, Vec<Lit>> = FxHashMap::default();
    for id in model.ids() {
        e.add_cut(bits.op(id));
        for &bit in bits.op(id) {
            let (key, negate) = normal(e.signature(bit));
            let entry = by_signature.entry(key).or_default();
            if entry.len() < 3 && !entry.contains(&bit.xor(negate)) {
                entry.push(bit.xor(negate));
            }
        }
    }
    let reset_low = ports.reset.is_some_and(|r| {
        rtl.signal(r).name.to_ascii_lowercase().contains("_n") || rtl.signal(r).name.eq_ignore_ascii_case("aresetn")
    });
    let mut matching = Matching {
        model,
        rtl,
        bits: &bits,
        inputs: &inputs,
        ports,
        latency,
        controls: Controls { reset: ports.reset.map(|r| (r, reset_low)), enable: ports.enable.map(|s| (s, true)) },
        others: FxHashMap::default(),
        by_signature,
        matched: FxHashSet::default(),
        unmatched: Vec::new(),
    };
    let mut unroll = Unroll::new(rtl, latency.max(structure) + 4);
    let mut outputs = Vec::new();
    for (j, place) in ports.outputs.iter().enumerate() {
        let Some((port, lo)) = *place else { continue };
        let word = match unroll.bits(e, &mut matching, rtl.read(port), 0) {
            Ok(word) => word,
            Err(Fault::Loop(s)) => {
                let reason = format!("{} depends on itself without a register", rtl.signal(s).name);
                report.verdict = Verdict::Differs { reason, counterexample: None };
                return;
            }
        };
        let width = model.output_kif(j).width() as usize;
        outputs.push((j, word[lo as usize..lo as usize + width].to_vec()));
    }
    if let Some((valid_in, valid_out)) = ports.valid {
        match unroll.bits(e, &mut matching, rtl.read(valid_out), 0) {
            Ok(word) if matching.others.get(&(valid_in, latency)).is_some_and(|v| *v == word) => {
                report.notes.push(format!("valid_out is valid_in of {latency} clocks before"));
            }
            // Without registers the flag may be a wire.
            _ => {
                let reason = format!("valid_out is not valid_in of {latency} clocks before");
                report.verdict = Verdict::Differs { reason, counterexample: None };
                return;
            }
        }
    }
    report.operations_matched = matching.matched.len() as u64;
    let matched = std::mem::take(&mut matching.matched);
    let mut unmatched = std::mem::take(&mut matching.unmatched);
    unmatched.retain(|u| !matched.contains(&u.0));
    report.operations_unmatched = unmatched.iter().map(|u| u.0).collect::<FxHashSet<_>>().len() as u64;
    let mut swept = false;
    for (j, word) in &outputs {
        let expected = &bits.outputs[*j];
        let mut outcome = e.equal(word, expected);
        if outcome == Outcome::Unknown && !swept {
            swept = true;
            let roots: Vec<Lit> =
                outputs.iter().flat_map(|(j, w)| w.iter().chain(&bits.outputs[*j])).copied().collect();
            let small = Limits { sat_steps: e.limits.sat_steps / 30, ..e.limits };
            e.sweep(&roots, small);
            outcome = e.equal(word, expected);
        }
        match outcome {
            Outcome::Equal => {}
            Outcome::Differs(values) => {
                report.verdict = explain(model, rtl, &matching, e, &bits, &unmatched, (*j, word), values);
                return;
            }
            Outcome::Unknown => {
                let reason = format!(
                    "output {j}: its cone was not decided within {} solver steps and {} gates",
                    e.limits.sat_steps, e.limits.cone
                );
                report.verdict = Verdict::Unknown { reason };
                return;
            }
        }
    }
}

/// A word of literals as a code.
fn code(values: &[bool], word: &[Lit], kif: Kif) -> BigInt {
    let mut raw = BigInt::ZERO;
    for (i, l) in word.iter().enumerate() {
        raw.set_bit(i as u64, values[l.node() as usize] != l.is_negated());
    }
    wrap(&raw, kif)
}

#[expect(clippy::too_many_arguments, reason = "everything that a counterexample is made of")]
fn explain(
    model: &Model,
    rtl: &Rtl,
    matching: &Matching<'_>,
    e: &Engine,
    bits: &ModelBits,
    unmatched: &[(u32, SignalId, Vec<Lit>)],
    (output, word): (usize, &[Lit]),
    pattern: Vec<bool>,
) -> Verdict {
    let values = e.evaluate(&pattern);
    let inputs: Vec<BigInt> =
        matching.inputs.iter().zip(model.input_kifs()).map(|(word, &kif)| code(&values, word, kif)).collect();
    let mut expected = BigInt::ZERO;
    let mut operations: FxHashMap<u32, BigInt> = FxHashMap::default();
    // The definition has the last word: a difference that it does not confirm is our mistake.
    let golden = golden_steps(model, &inputs, LookupMiss::Zero, |step| {
        if let Step::Op { id, code, .. } = step {
            operations.insert(id.0, code.clone());
        }
    });
    if let Ok(outputs) = golden {
        expected.clone_from(&outputs[output]);
    }
    let kif = model.output_kif(output);
    debug_assert_eq!(expected, code(&values, &bits.outputs[output], kif), "gates and golden interpreter agree");
    let found = code(&values, word, kif);
    let mut first: Option<(u32, String)> = None;
    for (op, signal, word) in unmatched {
        let kif = model.kif(ValueId(*op));
        let narrow = word.len().min(kif.width() as usize);
        let seen = code(&values, &word[..narrow], Kif { signed: false, int: narrow as i32, frac: 0 });
        let wanted = operations.get(op).map(|v| wrap(v, Kif { signed: false, int: narrow as i32, frac: 0 }));
        if wanted.is_some_and(|v| v != seen) && first.as_ref().is_none_or(|(o, _)| op < o) {
            first = Some((*op, rtl.signal(*signal).name.clone()));
        }
    }
    let mut others: Vec<(u32, Vec<BigInt>)> = Vec::new();
    let mut moments: Vec<u32> = matching.others.keys().map(|(_, k)| *k).collect();
    moments.sort_unstable();
    moments.dedup();
    for k in moments {
        let codes = matching
            .ports
            .inputs
            .iter()
            .zip(model.input_kifs())
            .map(|(place, &kif)| {
                let bits = place.and_then(|(s, lo)| {
                    matching.others.get(&(s, k)).map(|b| b[lo as usize..(lo + kif.width()) as usize].to_vec())
                });
                bits.map_or(BigInt::ZERO, |b| code(&values, &b, kif))
            })
            .collect();
        others.push((k, codes));
    }
    let unbalanced = matching.others.keys().any(|(s, _)| matching.ports.inputs.iter().flatten().any(|p| p.0 == *s));
    let reason = if unbalanced {
        format!(
            "output {output} is not what the inputs of {} clocks before make it: some path has more or fewer registers",
            matching.latency
        )
    } else {
        format!("output {output} is {found}, the model says {expected}")
    };
    let counterexample = Counterexample { inputs, others, output, expected, found, first_operation: first };
    Verdict::Differs { reason, counterexample: Some(counterexample) }
}

/// Enable and reset, register by register, at the level of one clock edge: with the enable low nothing changes; with
/// the reset active, what it touches becomes zero.
fn check_control(model: &Model, rtl: &Rtl, ports: &Ports, report: &mut Report) -> Result<(), String> {
    let _ = model;
    if clock_of(rtl)?.is_some_and(|(_, rising)| !rising) {
        return Err("registers act on the falling edge of the clock".into());
    }
    let registers: Vec<_> = rtl.signals().iter().flat_map(|s| s.registers.iter().map(move |r| (s, r))).collect();
    for (signal, register) in &registers {
        for (cond, _) in &register.resets {
            let from = match rtl.expr(*cond) {
                super::rtl::Expr::Signal(s) => alias(rtl, *s),
                // `rst = '1'` of VHDL; which level it is shows in the check below.
                super::rtl::Expr::Compare(_, a, b) => [a, b].into_iter().find_map(|n| match rtl.expr(*n) {
                    super::rtl::Expr::Signal(s) => alias(rtl, *s),
                    _ => None,
                }),
                super::rtl::Expr::Not(n) => match rtl.expr(*n) {
                    super::rtl::Expr::Signal(s) => alias(rtl, *s),
                    _ => None,
                },
                _ => None,
            };
            if from.is_none() || from != ports.reset {
                return Err(format!("{} is reset asynchronously by something else than the reset port", signal.name));
            }
        }
    }
    if ports.enable.is_none() && ports.reset.is_none() {
        return Ok(());
    }
    let mut e = Engine::new(Box::new(super::sat::Embedded));
    let reset_high = !ports.reset.is_some_and(|r| {
        rtl.signal(r).name.to_ascii_lowercase().contains("_n") || rtl.signal(r).name.eq_ignore_ascii_case("aresetn")
    });
    let mut cleared: FxHashSet<SignalId> = FxHashSet::default();
    let mut asynchronous = false;
    for (reset, enable) in [(false, Some(false)), (true, Some(true)), (true, Some(false))] {
        if (reset && ports.reset.is_none()) || (enable == Some(false) && ports.enable.is_none()) {
            continue;
        }
        let mut edge = OneEdge {
            rtl,
            controls: Controls {
                reset: ports.reset.map(|r| (r, reset == reset_high)),
                enable: ports.enable.zip(enable),
            },
            states: FxHashMap::default(),
            inputs: FxHashMap::default(),
        };
        // Registers are leaves here: one edge is looked at, from any state.
        let mut unroll = Unroll::new(rtl, 0);
        unroll.registers_are_leaves = true;
        for (i, signal) in rtl.signals().iter().enumerate() {
            let id = SignalId(i as u32);
            for register in &signal.registers {
                let before = unroll
                    .bits(&mut e, &mut edge, rtl.read(id), 0)
                    .map_err(|_| format!("{} depends on itself without a register", signal.name))?;
                let width = rtl.width(register.next) as usize;
                let lo = register.lo as usize;
                let mut next = unroll
                    .bits(&mut e, &mut edge, register.next, 0)
                    .map_err(|_| format!("{} depends on itself without a register", signal.name))?;
                for (cond, value) in register.resets.iter().rev() {
                    let fault = |_| format!("{} depends on itself without a register", signal.name);
                    let cond = unroll.bits(&mut e, &mut edge, *cond, 0).map_err(fault)?;
                    let value = unroll.bits(&mut e, &mut edge, *value, 0).map_err(fault)?;
                    next = e.words.mux(cond[0], &value, &next);
                    asynchronous = true;
                }
                let before = &before[lo..lo + width];
                let is_zero = next.iter().all(|l| *l == Lit::FALSE);
                if reset {
                    // A register that the reset does not touch behaves as with the reset low.
                    if is_zero || e.equal(&next, &vec![Lit::FALSE; width]) == Outcome::Equal {
                        cleared.insert(id);
                    } else if depends_on_reset(rtl, register, ports.reset) {
                        return Err(format!("{} is touched by the reset but does not become zero", signal.name));
                    }
                } else if next != before && e.equal(&next, before) != Outcome::Equal {
                    return Err(format!("{} changes although the clock enable is low", signal.name));
                }
            }
        }
    }
    if ports.enable.is_some() {
        report
            .notes
            .push("every register holds while the clock enable is low; the latency counts enabled clocks".into());
    }
    if let Some(reset) = ports.reset {
        let name = &rtl.signal(reset).name;
        let kind = if asynchronous { "asynchronous" } else { "synchronous" };
        let bits: u32 = cleared.iter().map(|&s| rtl.signal(s).width).sum();
        report
            .notes
            .push(format!("{name} is a {kind} reset that clears {bits} register bits; the proof starts after it"));
        if let Some((_, valid_out)) = ports.valid {
            check_valid_cleared(rtl, valid_out, &cleared)?;
            report.notes.push("the reset clears every valid flag".into());
        }
    }
    Ok(())
}

/// Whether the reset port is in the logic of a register's next value or in its asynchronous resets.
fn depends_on_reset(rtl: &Rtl, register: &super::rtl::Register, reset: Option<SignalId>) -> bool {
    let mut seen: FxHashSet<super::rtl::NodeId> = FxHashSet::default();
    let mut stack = vec![register.next];
    stack.extend(register.resets.iter().map(|r| r.0));
    while let Some(node) = stack.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let super::rtl::Expr::Signal(s) = rtl.expr(node) {
            let signal = rtl.signal(*s);
            if Some(*s) == reset {
                return true;
            }
            // Only through wires: what another register does with the reset is its own affair.
            stack.extend(signal.wires.iter().map(|w| w.1));
        } else {
            super::rtl::operands(rtl.expr(node), &mut |&n| stack.push(n));
        }
    }
    false
}

/// Every register that the valid flag passes is cleared by the reset.
fn check_valid_cleared(rtl: &Rtl, valid_out: SignalId, cleared: &FxHashSet<SignalId>) -> Result<(), String> {
    let mut seen: FxHashSet<SignalId> = FxHashSet::default();
    let mut stack = vec![rtl.read(valid_out)];
    let mut nodes: FxHashSet<super::rtl::NodeId> = FxHashSet::default();
    while let Some(node) = stack.pop() {
        if !nodes.insert(node) {
            continue;
        }
        if let super::rtl::Expr::Signal(s) = rtl.expr(node) {
            if !seen.insert(*s) {
                continue;
            }
            let signal = rtl.signal(*s);
            if !signal.registers.is_empty() && !cleared.contains(s) {
                return Err(format!("the reset does not clear the valid flag {}", signal.name));
            }
            stack.extend(signal.wires.iter().map(|w| w.1));
            stack.extend(signal.registers.iter().map(|r| r.next));
        } else {
            super::rtl::operands(rtl.expr(node), &mut |&n| stack.push(n));
        }
    }
    Ok(())
}

/// Leaves for one clock edge: registers hold any state, inputs any value.
struct OneEdge<'a> {
    rtl: &'a Rtl,
    controls: Controls,
    states: FxHashMap<SignalId, Vec<Lit>>,
    inputs: FxHashMap<SignalId, Vec<Lit>>,
}

impl Leaves for OneEdge<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, _k: u32) -> Vec<Lit> {
        for (port, value) in [self.controls.reset, self.controls.enable].into_iter().flatten() {
            if port == signal {
                return vec![Lit::constant(value)];
            }
        }
        let width = self.rtl.signal(signal).width;
        self.inputs.entry(signal).or_insert_with(|| (0..width).map(|_| e.words.aig.input("input")).collect()).clone()
    }

    fn unknown(&mut self, e: &mut Engine, width: u32) -> Vec<Lit> {
        (0..width).map(|_| e.words.aig.input("undefined")).collect()
    }

    fn signal(&mut self, e: &mut Engine, signal: SignalId, _k: u32, bits: Vec<Lit>) -> Vec<Lit> {
        if self.rtl.signal(signal).registers.is_empty() {
            return bits;
        }
        let width = bits.len();
        self.states.entry(signal).or_insert_with(|| (0..width).map(|_| e.words.aig.input("state")).collect()).clone()
    }
}

/// The model's outputs over the model's inputs as a graph of its own, for other provers.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::sat::Embedded;
    use crate::prove::text::{Language, read};

    fn hardware(model: &Model, level: u8, stages: u32, options: &crate::netlist::Options) -> crate::netlist::Netlist {
        let (optimised, _) = crate::passes::run(model, crate::passes::pipeline(level));
        let schedule = match stages {
            0 => crate::schedule::Schedule::combinational(optimised.nodes().len()),
            n => crate::schedule::random(&optimised, n, false, 7),
        };
        crate::netlist::lower(&optimised, &schedule, options)
    }

    fn verdict(model: &Model, text: &str, language: Language, latency: Option<u32>) -> Report {
        let rtl = read(language, text, None).unwrap_or_else(|d| panic!("{d}\n{text}"));
        prove(model, &rtl, &Request { latency, ..Request::default() }, Box::new(Embedded)).0
    }

    fn emitted(netlist: &crate::netlist::Netlist, language: Language) -> String {
        let to = match language {
            Language::Verilog => crate::emit::Language::Verilog,
            Language::Vhdl => crate::emit::Language::Vhdl,
        };
        crate::emit::text(netlist, to, &crate::emit::Options::default())
    }

    #[test]
    fn files_of_random_programs_are_proved_at_every_level() {
        for seed in 0..4 {
            let model = crate::random::model(seed);
            let (level, stages) = ((seed % 3) as u8, (seed / 3 % 4) as u32);
            let netlist = hardware(&model, level, stages, &crate::netlist::Options::default());
            for language in [Language::Verilog, Language::Vhdl] {
                let text = emitted(&netlist, language);
                let report = verdict(&model, &text, language, Some(netlist.interface.latency));
                assert_eq!(report.verdict, Verdict::Proved, "seed {seed}\n{text}");
            }
        }
    }

    #[test]
    fn asynchronous_resets_are_accepted_in_both_languages() {
        let reset = crate::netlist::ResetOptions { asynchronous: true, active_high: true, data: false };
        let options = crate::netlist::Options { valid: true, enable: true, reset: Some(reset), ..Default::default() };
        let model = crate::random::model(3);
        let netlist = hardware(&model, 1, 2, &options);
        for language in [Language::Verilog, Language::Vhdl] {
            let report = verdict(&model, &emitted(&netlist, language), language, Some(netlist.interface.latency));
            assert_eq!(report.verdict, Verdict::Proved, "{language:?}");
            assert!(report.notes.iter().any(|n| n.contains("asynchronous")), "{:?}", report.notes);
        }
    }

    #[test]
    fn another_latency_than_the_stated_one_differs() {
        let model = crate::random::model(3);
        let netlist = hardware(&model, 1, 2, &crate::netlist::Options::default());
        let text = emitted(&netlist, Language::Verilog);
        let report = verdict(&model, &text, Language::Verilog, Some(netlist.interface.latency + 1));
        assert!(matches!(report.verdict, Verdict::Differs { .. }), "{report:?}");
    }
}
