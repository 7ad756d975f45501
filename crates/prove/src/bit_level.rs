//! Comparison by gates, for values that linear forms cannot express.

use super::aig::{Aig, Lit};
use super::bit_vector::{constant, resize};
use super::blast::{ModelBits, blast, blast_by_types};
use super::engine::{Engine, GATE, Limits, Outcome};
use super::equiv::{ObservedSignal, Report, Verdict, Witness, explain, operation_of};
use super::port_roles::{ControlValues, PortRoles};
use super::proved::{Claim, Proved};
use super::unroll::{Fault, Gates, Leaves, Unroll};
use alir_core::ir::{Model, ValueId};
use alir_core::num::{Kif, wrap};
use alir_hdl::{Rtl, SignalId};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::sync::Arc;

/// Bits of ports in each cycle.
type Pins = FxHashMap<(SignalId, u32), Vec<Lit>>;

/// Gates of the model, built once. What only a search of equal gates needs is built on first use.
pub(super) struct ModelGates {
    inputs: Vec<Vec<Lit>>,
    bits: ModelBits,
    with_types: OnceCell<()>,
    by_signature: OnceCell<FxHashMap<[u64; super::engine::WORDS], Vec<Lit>>>,
}

impl ModelGates {
    /// Builds the gates of a model in an engine.
    pub(super) fn new(model: &Model, e: &mut Engine) -> ModelGates {
        let gates = e.words.aig.gates() as u64;
        let pins = |(i, kif): (usize, &Kif), e: &mut Engine| {
            (0..kif.width()).map(|b| e.words.aig.input(format!("inp_{i}[{b}]"))).collect()
        };
        let inputs: Vec<Vec<Lit>> = model.input_kifs().iter().enumerate().map(|pin| pins(pin, e)).collect();
        let bits = blast(&mut e.words, model, &inputs);
        for id in model.ids() {
            e.add_cut(bits.op(id));
        }
        e.spend(GATE * (e.words.aig.gates() as u64 - gates));
        ModelGates { inputs, bits, with_types: OnceCell::new(), by_signature: OnceCell::new() }
    }

    /// Builds the gates without range analysis too, and records that they are equal. Bit-serial designs have bits that
    /// only range analysis identifies as copies of a sign: matching the values of a pass before and after it uses signs
    /// would leave some designs undecided.
    fn add_gates_by_types(&self, model: &Model, e: &mut Engine) {
        self.with_types.get_or_init(|| {
            let gates = e.words.aig.gates() as u64;
            let by_types = blast_by_types(&mut e.words, model, &self.inputs);
            let pairs: Vec<(Lit, Lit)> = self.bits.all().zip(by_types.all()).collect();
            e.add_equivalences(&pairs);
            e.spend(GATE * (e.words.aig.gates() as u64 - gates));
        });
    }

    /// Returns up to three bits of the model for each simulated pattern, of which the first bit is 0.
    fn by_signature(&self, model: &Model, e: &mut Engine) -> &FxHashMap<[u64; super::engine::WORDS], Vec<Lit>> {
        self.by_signature.get_or_init(|| {
            e.simulate();
            let mut by_signature: FxHashMap<_, Vec<Lit>> = FxHashMap::default();
            for &bit in model.ids().flat_map(|id| self.bits.op(id)) {
                let (key, negate) = normal(e.signature(bit));
                let entry = by_signature.entry(key).or_default();
                if entry.len() < 3 && !entry.contains(&bit.xor(negate)) {
                    entry.push(bit.xor(negate));
                }
            }
            by_signature
        })
    }

    /// Returns the bits of the model that a signal was proved to equal.
    fn claimed(&self, e: &mut Engine, model: &Model, claim: &Claim, width: usize) -> Vec<Lit> {
        let signed = model.kif(claim.op).signed;
        let end = claim.runs.iter().map(|&(_, from, count)| from + count).max().unwrap_or(0) as usize;
        let mut value = resize(self.bits.op(claim.op), signed, end);
        if claim.negative {
            let zero = vec![Lit::FALSE; end];
            value = e.words.sub(&zero, &value, false);
        }
        if claim.offset != 0 {
            let constant: Vec<Lit> = (0..end).map(|i| Lit::constant(claim.offset >> i.min(126) & 1 == 1)).collect();
            value = e.words.add(&value, &constant, Lit::FALSE, false);
        }
        let mut word = vec![Lit::FALSE; width];
        for &(at, from, count) in &claim.runs {
            let (at, from, count) = (at as usize, from as usize, count as usize);
            word[at..at + count].copy_from_slice(&value[from..from + count]);
        }
        word
    }
}

struct Matching<'a, 'p> {
    model: &'a Model,
    rtl: &'a Rtl,
    gates: &'a ModelGates,
    ports: &'a PortRoles,
    latency: u32,
    controls: ControlValues,
    /// Inputs of other cycles, created on first use.
    others: Pins,
    /// Bits of data ports that belong to no element in their cycle.
    beside: Pins,
    proved: &'p mut Proved,
    unmatched: Vec<(u32, SignalId, Vec<Lit>)>,
    /// Limits of one SAT query for an intermediate signal.
    limits: Limits,
    /// Budget in ticks that is reserved for the outputs, and the limit for one signal.
    reserve: u64,
    each: u64,
}

impl Matching<'_, '_> {
    /// Records the value of a signal that is not proved to equal its operation.
    fn open(&mut self, op: ValueId, signal: SignalId, bits: &[Lit]) {
        if !self.proved.matched.contains(&op.0) && self.unmatched.len() < 100_000 {
            self.unmatched.push((op.0, signal, bits.to_vec()));
        }
    }

    /// Replaces bits by bits of the model that they equal.
    fn swept(&self, e: &mut Engine, bits: Vec<Lit>) -> Vec<Lit> {
        e.simulate();
        let small = Limits { cone: 2_000, exhaustive_leaves: 12, deep: false, ..self.limits };
        let by_signature = self.gates.by_signature(self.model, e);
        bits.into_iter()
            .map(|bit| {
                if bit.as_const().is_some() || e.is_cut(bit) || e.left <= self.reserve {
                    return bit;
                }
                let (key, negate) = normal(e.signature(bit));
                let candidates = by_signature.get(&key).map(Vec::as_slice).unwrap_or_default();
                let found = candidates.iter().take(3).find(|&&c| e.equal_within(bit.xor(negate), c, small));
                found.map_or(bit, |&c| c.xor(negate))
            })
            .collect()
    }
}

fn normal<const N: usize>(s: [u64; N]) -> ([u64; N], bool) {
    if s[0] & 1 == 1 { (s.map(|w| !w), true) } else { (s, false) }
}

impl Leaves for Matching<'_, '_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit> {
        if let Some(level) = self.controls.level(signal) {
            return vec![Lit::constant(level)];
        }
        let width = self.rtl.signal(signal).width as usize;
        let name = &self.rtl.signal(signal).name;
        let free = |e: &mut Engine, others: &mut Pins| {
            others
                .entry((signal, k))
                .or_insert_with(|| (0..width).map(|i| e.words.aig.input(format!("{name}[{i}]@{k}"))).collect())
                .clone()
        };
        let places = (self.rtl, self.ports, &self.gates.inputs[..]);
        match data_word(e, places, signal, (k, self.latency), &mut self.beside) {
            Some(word) => word,
            None => free(e, &mut self.others),
        }
    }

    fn before(&mut self, e: &mut Engine, signal: SignalId, lo: u32, width: u32) -> Vec<Lit> {
        match self.ports.before(signal, lo, width) {
            Some(value) => constant(&value, width),
            None => self.unknown(e, width),
        }
    }

    fn known(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Option<Vec<Lit>> {
        if let Some(value) = self.ports.phase(signal, k) {
            return Some(constant(value, self.rtl.signal(signal).width));
        }
        let claim = self.proved.signals.get(&(signal, k))?;
        let width = self.rtl.signal(signal).width as usize;
        Some(self.gates.claimed(e, self.model, claim, width))
    }

    fn signal(&mut self, e: &mut Engine, signal: SignalId, k: u32, bits: Vec<Lit>) -> Vec<Lit> {
        let Some(op) = operation_of(self.model, self.rtl, signal) else { return bits };
        let kif = self.model.kif(op);
        let model = resize(self.gates.bits.op(op), kif.signed, bits.len());
        let claim = Claim::whole(op, bits.len() as u32);
        // A register of a matched signal already has the model's gates.
        if bits == model {
            if self.proved.matched.insert(op.0) {
                e.counts.structural += bits.len() as u64;
            }
            self.proved.claim(signal, k, claim);
            return bits;
        }
        if self.limits.sat_steps == 0 || e.left <= self.reserve {
            self.proved.unmatched.entry(op.0).or_insert(signal);
            self.open(op, signal, &bits);
            return bits;
        }
        e.simulate();
        let alike = e.simulated_difference(&bits, &model).is_none();
        if alike {
            let saved = std::mem::replace(&mut e.limits, self.limits);
            let equal = e.within(self.each, |e| e.equal(&bits, &model)) == Outcome::Equal;
            e.limits = saved;
            if equal {
                self.proved.matched.insert(op.0);
                self.proved.claim(signal, k, claim);
                return model;
            }
        }
        let swept = self.swept(e, bits.clone());
        self.proved.unmatched.entry(op.0).or_insert(signal);
        self.open(op, signal, &bits);
        swept
    }
}

/// Limits of a comparison by gates.
pub(super) struct GateEffort {
    /// Budget in ticks.
    pub(super) cap: u64,
    /// Limits of one SAT query; without solver steps only identical gates are equal.
    pub(super) limits: Limits,
}

/// Compares the undecided outputs by gates; returns `true` if this decides the verdict.
pub(super) fn compare(
    (model, rtl, ports): (&Model, &Rtl, &PortRoles),
    gates: &ModelGates,
    (latency, structure): (u32, u32),
    effort: &GateEffort,
    proved: &mut Proved,
    report: &mut Report,
    e: &mut Engine,
) -> bool {
    let kept = e.reserve(effort.cap);
    let saved = std::mem::replace(&mut e.limits, effort.limits);
    let decided = within_effort((model, rtl, ports), gates, (latency, structure), effort, proved, report, e);
    e.limits = saved;
    e.release(kept);
    decided
}

fn within_effort(
    (model, rtl, ports): (&Model, &Rtl, &PortRoles),
    gates: &ModelGates,
    (latency, structure): (u32, u32),
    effort: &GateEffort,
    proved: &mut Proved,
    report: &mut Report,
    e: &mut Engine,
) -> bool {
    let without_sat = effort.limits.sat_steps == 0;
    if !without_sat {
        gates.add_gates_by_types(model, e);
    }
    let made = e.words.aig.gates() as u64;
    let (open_outputs, open_valid) = (proved.outputs.clone(), proved.valid);
    let mut matching = Matching {
        model,
        rtl,
        gates,
        ports,
        latency,
        controls: ControlValues::running(ports),
        others: FxHashMap::default(),
        beside: FxHashMap::default(),
        proved,
        unmatched: Vec::new(),
        limits: effort.limits,
        reserve: effort.cap / 2,
        each: effort.cap / 16,
    };
    let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, ports.depth(latency, structure));
    let mut outputs = Vec::new();
    for (j, place) in ports.outputs.iter().enumerate() {
        let Some((port, lo)) = *place else { continue };
        if open_outputs.contains(&j) {
            continue;
        }
        let word = match unroll.word(&mut Gates { e, leaves: &mut matching }, rtl.read(port), 0) {
            Ok(word) => word,
            Err(Fault::Loop(s)) => {
                let reason = format!("{} depends on itself without a register", rtl.signal(s).name);
                report.verdict = Verdict::Differs { reason, counterexample: None };
                return true;
            }
            // An output that gates cannot express remains undecided.
            Err(Fault::Overflow) => continue,
        };
        let width = model.output_kif(j).width() as usize;
        outputs.push((j, word[lo as usize..lo as usize + width].to_vec()));
    }
    if let Some((valid_in, valid_out)) = ports.valid.filter(|_| !open_valid) {
        let wanted: Arc<[Lit]> = matching.input(e, valid_in, latency).into();
        let found = match unroll.word(&mut Gates { e, leaves: &mut matching }, rtl.read(valid_out), 0) {
            Ok(word) => Some(word),
            Err(Fault::Loop(_)) => {
                let reason = "valid_out depends on itself without a register".to_owned();
                report.verdict = Verdict::Differs { reason, counterexample: None };
                return true;
            }
            Err(Fault::Overflow) => None,
        };
        match found.map(|found| valid_flag(e, &found, &wanted, latency)) {
            Some(Some(verdict @ Verdict::Differs { .. })) => {
                report.verdict = verdict;
                return true;
            }
            Some(Some(_)) | None => {}
            Some(None) => {
                matching.proved.valid = true;
                report.notes.push(format!("valid_out is valid_in of {latency} clocks before"));
            }
        }
    }
    let mut unmatched = std::mem::take(&mut matching.unmatched);
    unmatched.retain(|u| !matching.proved.matched.contains(&u.0));
    e.spend(GATE * (e.words.aig.gates() as u64 - made));
    let is_equal = outputs.iter().all(|(j, word)| *word == gates.bits.outputs[*j]);
    if !is_equal {
        gates.add_gates_by_types(model, e);
    }
    let roots: Vec<Lit> = outputs.iter().flat_map(|(j, w)| w.iter().chain(&gates.bits.outputs[*j])).copied().collect();
    if is_equal {
        // Nothing is searched.
    } else if without_sat {
        e.normalise(&roots);
    } else {
        let small = Limits { sat_steps: effort.limits.sat_steps / 30, cone: 5_000, ..effort.limits };
        let most = e.left / 2;
        e.within(most, |e| e.sweep(&roots, small));
    }
    for (at, (j, word)) in outputs.iter().enumerate() {
        // Each output may use at most half of the remaining budget, so that some remains for the others.
        let share = e.left / 2_u64.min((outputs.len() - at) as u64);
        let wanted = &gates.bits.outputs[*j];
        let outcome = if without_sat { e.compared(word, wanted) } else { e.within(share, |e| e.equal(word, wanted)) };
        match outcome {
            Outcome::Equal => {
                matching.proved.outputs.insert(*j);
                e.show_proved(matching.proved.outputs.len());
            }
            Outcome::Differs(values) => {
                let witness = witness(model, rtl, &matching, e, &unmatched, (*j, word), &values);
                let verdict = explain(model, latency, *j, witness);
                if matches!(verdict, Verdict::Differs { .. }) {
                    report.verdict = verdict;
                    return true;
                }
            }
            Outcome::Unknown => {}
        }
    }
    false
}

/// Returns the verdict if the valid flag differs or is undecided; `None` if it is proved.
fn valid_flag(e: &mut Engine, found: &[Lit], wanted: &[Lit], latency: u32) -> Option<Verdict> {
    match e.equal(found, wanted) {
        Outcome::Equal => None,
        Outcome::Unknown => {
            Some(Verdict::Unknown { reason: format!("valid_out was not decided: {}", e.limit_reached()) })
        }
        Outcome::Differs(pattern) => {
            let values = e.evaluate(&pattern);
            let seen = |l: Lit| u8::from(values[l.node() as usize] != l.is_negated());
            let (found, wanted) = (seen(found[0]), seen(wanted[0]));
            Some(if found == wanted {
                Verdict::Unknown {
                    reason: "valid_out: a difference was found that its gates do not confirm".to_owned(),
                }
            } else {
                let reason = format!(
                    "valid_out is not valid_in of {latency} clocks before: it can be {found} where that was {wanted}"
                );
                Verdict::Differs { reason, counterexample: None }
            })
        }
    }
}

/// Leaves of the complete proof obligation, in which no gates are replaced.
struct Plain<'a> {
    rtl: &'a Rtl,
    inputs: &'a [Vec<Lit>],
    ports: &'a PortRoles,
    latency: u32,
    controls: ControlValues,
    others: Pins,
    /// Bits of data ports that belong to no element in their cycle.
    beside: Pins,
}

impl Leaves for Plain<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit> {
        if let Some(level) = self.controls.level(signal) {
            return vec![Lit::constant(level)];
        }
        let places = (self.rtl, self.ports, self.inputs);
        data_word(e, places, signal, (k, self.latency), &mut self.beside).unwrap_or_else(|| {
            let port = self.rtl.signal(signal);
            let pin = |i| e.words.aig.input(format!("{}[{i}]@{k}", port.name));
            self.others.entry((signal, k)).or_insert_with(|| (0..port.width).map(pin).collect()).clone()
        })
    }

    fn known(&mut self, _: &mut Engine, signal: SignalId, k: u32) -> Option<Vec<Lit>> {
        self.ports.phase(signal, k).map(|value| constant(value, self.rtl.signal(signal).width))
    }
}

/// Returns the bits of a data port in a cycle, composed of the bits of its elements; `None` for another port or cycle.
/// Bits without an element are free.
fn data_word(
    e: &mut Engine,
    (rtl, ports, inputs): (&Rtl, &PortRoles, &[Vec<Lit>]),
    signal: SignalId,
    (k, latency): (u32, u32),
    beside: &mut Pins,
) -> Option<Vec<Lit>> {
    let port = rtl.signal(signal);
    let mut word: Vec<Option<Lit>> = Vec::new();
    for (i, lo) in ports.on(signal, k, latency) {
        word.resize(port.width as usize, None);
        for (place, &bit) in word[lo as usize..].iter_mut().zip(&inputs[i]) {
            *place = Some(bit);
        }
    }
    if word.contains(&None) {
        let pin = |i| e.words.aig.input(format!("{}[{i}]@{k}", port.name));
        let pins = beside.entry((signal, k)).or_insert_with(|| (0..port.width).map(pin).collect());
        word.iter_mut().zip(pins).for_each(|(place, pin)| *place = place.or(Some(*pin)));
    }
    (!word.is_empty()).then(|| word.into_iter().flatten().collect())
}

/// Returns the complete proof obligation as one graph; see [`super::equiv::miter`].
pub(super) fn miter(model: &Model, rtl: &Rtl, ports: &PortRoles, latency: u32, structure: u32) -> Option<Aig> {
    let mut e = Engine::new(Box::new(super::sat::Embedded));
    let mut at = 0;
    let mut inputs: Vec<Vec<Lit>> = Vec::new();
    for kif in model.input_kifs() {
        inputs.push((at..at + kif.width()).map(|i| e.words.aig.input(format!("model_inp[{i}]"))).collect());
        at += kif.width();
    }
    let bits = blast(&mut e.words, model, &inputs);
    let controls = ControlValues::running(ports);
    let mut leaves =
        Plain { rtl, inputs: &inputs, ports, latency, controls, others: Pins::default(), beside: Pins::default() };
    let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, latency.max(structure) + 4);
    let mut differ = Lit::FALSE;
    for (j, place) in ports.outputs.iter().enumerate() {
        let Some((port, lo)) = *place else { continue };
        let word = unroll.word(&mut Gates { e: &mut e, leaves: &mut leaves }, rtl.read(port), 0).ok()?;
        for (i, &expected) in bits.outputs[j].iter().enumerate() {
            let x = e.words.aig.xor(word[lo as usize + i], expected);
            differ = e.words.aig.or(differ, x);
        }
    }
    e.words.aig.output(differ, "differ");
    Some(e.words.aig)
}

/// Returns the raw integer value of a word of literals.
fn code(values: &[bool], word: &[Lit], kif: Kif) -> BigInt {
    let mut raw = BigInt::ZERO;
    for (i, l) in word.iter().enumerate() {
        raw.set_bit(i as u64, values[l.node() as usize] != l.is_negated());
    }
    wrap(&raw, kif)
}

/// Returns the values of the model and the design for an assignment of the inputs.
fn witness(
    model: &Model,
    rtl: &Rtl,
    matching: &Matching<'_, '_>,
    e: &Engine,
    unmatched: &[(u32, SignalId, Vec<Lit>)],
    (output, word): (usize, &[Lit]),
    pattern: &[bool],
) -> Witness {
    let values = e.evaluate(pattern);
    let inputs: Vec<BigInt> =
        matching.gates.inputs.iter().zip(model.input_kifs()).map(|(word, &kif)| code(&values, word, kif)).collect();
    let seen = unmatched.iter().map(|(op, signal, word)| {
        let kif = model.kif(alir_core::ir::ValueId(*op));
        let width = word.len().min(kif.width() as usize);
        let value = code(&values, &word[..width], Kif { signed: false, int: width as i32, frac: 0 });
        ObservedSignal { op: *op, signal: rtl.signal(*signal).name.clone(), width: width as u32, value }
    });
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
    Witness { inputs, others, unbalanced, found: code(&values, word, model.output_kif(output)), seen: seen.collect() }
}
