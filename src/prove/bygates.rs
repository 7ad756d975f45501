//! The comparison on gates: for what forms cannot say.

use super::aig::{Aig, Lit};
use super::blast::{ModelBits, blast};
use super::bywords::Proved;
use super::engine::{Engine, Limits, Outcome};
use super::equiv::{Report, Seen, Verdict, Witness, explain, operation_of};
use super::ports::{Controls, Ports};
use super::unroll::{Fault, Gates, Leaves, Unroll};
use super::word::resize;
use crate::ir::Model;
use crate::num::{Kif, wrap};
use crate::rtl::{Rtl, SignalId};
use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

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
    /// Units of work that are kept for the outputs.
    reserve: u64,
}

impl Matching<'_> {
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
        if let Some(level) = self.controls.level(signal) {
            return vec![Lit::constant(level)];
        }
        let width = self.rtl.signal(signal).width as usize;
        let name = &self.rtl.signal(signal).name;
        let free = |e: &mut Engine, others: &mut FxHashMap<(SignalId, u32), Vec<Lit>>| {
            others
                .entry((signal, k))
                .or_insert_with(|| (0..width).map(|i| e.words.aig.input(format!("{name}[{i}]@{k}"))).collect())
                .clone()
        };
        match data_word(self.rtl, self.ports, self.inputs, signal, (k, self.latency)) {
            Some(word) => word,
            None => free(e, &mut self.others),
        }
    }

    fn unknown(&mut self, e: &mut Engine, width: u32) -> Vec<Lit> {
        (0..width).map(|_| e.words.aig.input("undefined")).collect()
    }

    fn before(&mut self, e: &mut Engine, signal: SignalId, lo: u32, width: u32) -> Vec<Lit> {
        match self.ports.before(signal, lo, width) {
            Some(value) => (0..u64::from(width)).map(|i| Lit::constant(value.bit(i))).collect(),
            None => self.unknown(e, width),
        }
    }

    fn signal(&mut self, e: &mut Engine, signal: SignalId, _k: u32, bits: Vec<Lit>) -> Vec<Lit> {
        let Some(op) = operation_of(self.model, self.rtl, signal) else { return bits };
        let kif = self.model.kif(op);
        let model = resize(self.bits.op(op), kif.signed, bits.len());
        // A register of a matched signal carries the model's gates already.
        if bits == model {
            if self.matched.insert(op.0) {
                e.counts.structural += bits.len() as u64;
            }
            return bits;
        }
        if e.left <= self.reserve {
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

/// Compares by gates what is not proved yet.
pub(super) fn compare(
    model: &Model,
    rtl: &Rtl,
    ports: &Ports,
    (latency, structure): (u32, u32),
    proved: &Proved,
    report: &mut Report,
    e: &mut Engine,
) {
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
    let mut matching = Matching {
        model,
        rtl,
        bits: &bits,
        inputs: &inputs,
        ports,
        latency,
        controls: Controls::running(ports),
        others: FxHashMap::default(),
        by_signature,
        matched: FxHashSet::default(),
        unmatched: Vec::new(),
        reserve: e.left / 2,
    };
    let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, ports.depth(latency, structure));
    let mut outputs = Vec::new();
    for (j, place) in ports.outputs.iter().enumerate() {
        let Some((port, lo)) = *place else { continue };
        if proved.outputs.contains(&j) {
            continue;
        }
        let word = match unroll.word(&mut Gates { e, leaves: &mut matching }, rtl.read(port), 0) {
            Ok(word) => word,
            Err(Fault::Loop(s)) => {
                let reason = format!("{} depends on itself without a register", rtl.signal(s).name);
                report.verdict = Verdict::Differs { reason, counterexample: None };
                return;
            }
            // Gates can say everything.
            Err(Fault::Beyond) => Vec::new().into(),
        };
        let width = model.output_kif(j).width() as usize;
        outputs.push((j, word[lo as usize..lo as usize + width].to_vec()));
    }
    if let Some((valid_in, valid_out)) = ports.valid.filter(|_| !proved.valid) {
        let wanted: Arc<[Lit]> = matching.input(e, valid_in, latency).into();
        let found = match unroll.word(&mut Gates { e, leaves: &mut matching }, rtl.read(valid_out), 0) {
            Ok(word) => word,
            Err(_) => {
                let reason = "valid_out depends on itself without a register".to_owned();
                report.verdict = Verdict::Differs { reason, counterexample: None };
                return;
            }
        };
        if let Some(verdict) = valid_flag(e, &found, &wanted, latency) {
            report.verdict = verdict;
            return;
        }
        report.notes.push(format!("valid_out is valid_in of {latency} clocks before"));
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
                let witness = witness(model, rtl, &matching, e, &unmatched, (*j, word), &values);
                report.verdict = explain(model, latency, *j, witness);
                return;
            }
            Outcome::Unknown => {
                let reason = format!("output {j}: its cone was not decided: {}", e.limit_reached());
                report.verdict = Verdict::Unknown { reason };
                report.open = Some(*j);
                return;
            }
        }
    }
}

/// What is wrong with the valid flag, or not known of it.
fn valid_flag(e: &mut Engine, found: &[Lit], wanted: &[Lit], latency: u32) -> Option<Verdict> {
    match e.equal(found, wanted) {
        Outcome::Equal => None,
        Outcome::Unknown => {
            Some(Verdict::Unknown { reason: format!("valid_out: its cone was not decided: {}", e.limit_reached()) })
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

/// Leaves of the whole statement: nothing is replaced.
struct Plain<'a> {
    rtl: &'a Rtl,
    inputs: &'a [Vec<Lit>],
    ports: &'a Ports,
    latency: u32,
    controls: Controls,
    others: FxHashMap<(SignalId, u32), Vec<Lit>>,
}

impl Leaves for Plain<'_> {
    fn input(&mut self, e: &mut Engine, signal: SignalId, k: u32) -> Vec<Lit> {
        if let Some(level) = self.controls.level(signal) {
            return vec![Lit::constant(level)];
        }
        data_word(self.rtl, self.ports, self.inputs, signal, (k, self.latency)).unwrap_or_else(|| {
            let port = self.rtl.signal(signal);
            let pin = |i| e.words.aig.input(format!("{}[{i}]@{k}", port.name));
            self.others.entry((signal, k)).or_insert_with(|| (0..port.width).map(pin).collect()).clone()
        })
    }

    fn unknown(&mut self, e: &mut Engine, width: u32) -> Vec<Lit> {
        (0..width).map(|_| e.words.aig.input("undefined")).collect()
    }

    fn signal(&mut self, _: &mut Engine, _: SignalId, _: u32, bits: Vec<Lit>) -> Vec<Lit> {
        bits
    }
}

/// The bits of a data port at a moment, made of those of the elements on it; nothing for another port or moment.
fn data_word(
    rtl: &Rtl,
    ports: &Ports,
    inputs: &[Vec<Lit>],
    signal: SignalId,
    (k, latency): (u32, u32),
) -> Option<Vec<Lit>> {
    let mut word = None;
    for (i, lo) in ports.on(signal, k, latency) {
        let bits = &inputs[i];
        let word = word.get_or_insert_with(|| vec![Lit::FALSE; rtl.signal(signal).width as usize]);
        word[lo as usize..lo as usize + bits.len()].copy_from_slice(bits);
    }
    word
}

/// The whole statement as one graph; see [`super::equiv::miter`].
pub(super) fn miter(model: &Model, rtl: &Rtl, ports: &Ports, latency: u32, structure: u32) -> Option<Aig> {
    let mut e = Engine::new(Box::new(super::sat::Embedded));
    let mut at = 0;
    let mut inputs: Vec<Vec<Lit>> = Vec::new();
    for kif in model.input_kifs() {
        inputs.push((at..at + kif.width()).map(|i| e.words.aig.input(format!("model_inp[{i}]"))).collect());
        at += kif.width();
    }
    let bits = blast(&mut e.words, model, &inputs);
    let controls = Controls::running(ports);
    let mut leaves = Plain { rtl, inputs: &inputs, ports, latency, controls, others: FxHashMap::default() };
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

/// A word of literals as a code.
fn code(values: &[bool], word: &[Lit], kif: Kif) -> BigInt {
    let mut raw = BigInt::ZERO;
    for (i, l) in word.iter().enumerate() {
        raw.set_bit(i as u64, values[l.node() as usize] != l.is_negated());
    }
    wrap(&raw, kif)
}

/// The values under an assignment of the inputs.
fn witness(
    model: &Model,
    rtl: &Rtl,
    matching: &Matching<'_>,
    e: &Engine,
    unmatched: &[(u32, SignalId, Vec<Lit>)],
    (output, word): (usize, &[Lit]),
    pattern: &[bool],
) -> Witness {
    let values = e.evaluate(pattern);
    let inputs: Vec<BigInt> =
        matching.inputs.iter().zip(model.input_kifs()).map(|(word, &kif)| code(&values, word, kif)).collect();
    let seen = unmatched.iter().map(|(op, signal, word)| {
        let kif = model.kif(crate::ir::ValueId(*op));
        let width = word.len().min(kif.width() as usize);
        let value = code(&values, &word[..width], Kif { signed: false, int: width as i32, frac: 0 });
        Seen { op: *op, signal: rtl.signal(*signal).name.clone(), width: width as u32, value }
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
