//! Word-level comparison of a design with a model, by linear integer forms.

use super::aig::{Gate, Lit};
use super::candidates::{BitRun, Columns, gaps, remarked_runs, runs, runs_and_sign};
use super::design_forms::{Arithmetic, Word};
use super::engine::{Engine, FORMS, GATE, Limits, Outcome};
use super::equiv::{ObservedSignal, Report, Verdict, Witness, explain, hinted_operation, operation_of};
use super::linear_forms::bits::Bits;
use super::linear_forms::model::{ModelForms, forms};
use super::linear_forms::polynomial::MONOMIAL;
use super::linear_forms::samples::{LANES, Samples, TERM};
use super::linear_forms::{FormId, LinearForms, OrOverflow, Range, RuleSet, Shape, power};
use super::port_roles::{ControlValues, PortRoles};
use super::proved::{Claim, Proved};
use super::unroll::{Domain, Fault, Unroll, WordResult};
use alir_core::ir::{Model, Op, ValueId};
use alir_core::num::{Kif, wrap};
use alir_hdl::{Binary, Compare, Reduce, Rtl, Shift, SignalId};
use num_bigint::{BigInt, BigUint};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Largest number of monomials that one query may create.
const MULTIPLIED: u64 = 1_000_000;
/// Largest number of terms that one query may visit to replace names by their definitions.
const UNFOLDED: u64 = 10_000_000;
/// Number of terms visited for one query about nearby names: a fraction of the method's budget, and its lower and upper
/// bound.
const NEARBY: (u64, u64, u64) = (20, 300_000, 50_000_000);
/// Smallest budget of a query about nearby names after any number of undecided queries. It is also the largest budget
/// if the form already is a value of the model, under another name than the signal's.
const LEAST_NEARBY: u64 = 100_000;
/// Smallest budget of a query in monomials or terms, after any number of undecided queries.
const LEAST: u64 = 5_000;
/// Largest width of a signal that is compared with all of the model's values.
const MAX_SHOWN: u32 = 100;
/// Number of operations for each product from which on products count as few.
const FEW_PRODUCTS: usize = 40;
/// Largest number of constants added after ReLUs of one value that are tried.
const MAX_ROUNDINGS: usize = 4;
/// Largest width of a free value that is one atom.
const FREE_BITS: u32 = 64;

struct FormComparison<'a> {
    terms: &'a mut LinearForms,
    e: &'a mut Engine,
    model: &'a Model,
    rtl: &'a Rtl,
    forms: &'a ModelForms,
    ports: &'a PortRoles,
    latency: u32,
    controls: ControlValues,
    bits: Bits,
    samples: Option<Samples>,
    /// Bits of the model's values by their samples.
    columns: Option<Columns>,
    /// Remaining number of terms to visit for the replacement of names by their definitions.
    apart: u64,
    /// Adaptive budget of a query about nearby names.
    nearby: AdaptiveBudget,
    /// Adaptive budgets of queries that multiply out, and of queries that expand names.
    multiplied: AdaptiveBudget,
    unfolded: AdaptiveBudget,
    /// Remaining ticks for internal signals.
    hints: u64,
    /// Inputs of other cycles as parts of words, created on first use.
    others: FxHashMap<(SignalId, u32), Word>,
    /// Words of data ports with bits that belong to no element in their cycle.
    beside: FxHashMap<(SignalId, u32), Word>,
    proved: &'a mut Proved,
    /// `true` if signals are compared with runs of bits.
    in_pieces: bool,
    /// Constants added after a ReLU of each value, in units of its raw integer.
    roundings: FxHashMap<ValueId, Vec<i128>>,
    unmatched: Vec<(u32, SignalId, FormId)>,
    /// Failed searches: form of a signal, value (`None` for any value), and width. The search would be repeated for
    /// registers.
    not_seen: FxHashSet<(FormId, Option<ValueId>, u32)>,
}

/// A form with the same low bits as a signal, and the claim about the signal.
type Same = Option<(FormId, Claim)>;

/// Adaptive budget for queries of one kind: halved after each query that used much of it without a result.
struct AdaptiveBudget(u64);

impl AdaptiveBudget {
    fn took(&mut self, work: u64, helped: bool) {
        if !helped && work >= self.0 / 4 {
            self.0 = (self.0 / 2).max(LEAST);
        }
    }
}

/// Answer to a query about forms.
enum Answer {
    Equal,
    Differs(Samples, usize),
    Unknown,
}

impl FormComparison<'_> {
    /// Returns an undefined word.
    fn free(&mut self, width: u32) -> WordResult<Self> {
        let mut parts = Vec::new();
        self.between(&mut parts, (0, width))?;
        Ok(match parts[..] {
            [(_, one)] => Word::One(one),
            _ => Word::Many(parts.into(), width),
        })
    }

    /// Returns the word of a data port, composed of the raw values of its elements, and `true` if it has no other bits.
    fn data(
        &mut self,
        signal: SignalId,
        at: u32,
        mut code: impl FnMut(&mut LinearForms, usize, Kif) -> OrOverflow<FormId>,
    ) -> OrOverflow<(Word, bool)> {
        let width = self.rtl.signal(signal).width;
        let mut parts: Vec<(u32, FormId)> = Vec::new();
        let mut elements: Vec<(u32, usize)> = self.ports.on(signal, at, self.latency).map(|(i, lo)| (lo, i)).collect();
        elements.sort_unstable();
        let (mut end, mut is_whole) = (0, true);
        for (lo, i) in elements {
            let kif = self.model.input_kifs()[i];
            is_whole &= lo == end;
            self.between(&mut parts, (end, lo))?;
            parts.push((lo, code(self.terms, i, kif)?));
            end = lo + kif.width();
        }
        is_whole &= end == width;
        self.between(&mut parts, (end, width))?;
        let word = match parts[..] {
            [(_, one)] => Word::One(one),
            _ => Word::Many(parts.into(), width),
        };
        Ok((word, is_whole))
    }

    /// Appends free bits as a part of a word.
    fn between(&mut self, parts: &mut Vec<(u32, FormId)>, (mut lo, hi): (u32, u32)) -> OrOverflow<()> {
        while lo < hi {
            let width = (hi - lo).min(FREE_BITS);
            parts.push((lo, self.terms.free((0, (1 << width) - 1))?));
            lo += width;
        }
        Ok(())
    }

    fn samples(&mut self, f: FormId) -> [i128; LANES] {
        let samples = self.samples.get_or_insert_with(|| Samples::random(self.terms, 0x70_72_6f_76_65));
        let values = samples.lanes(self.terms, f);
        self.terms.charge(samples.take_work());
        values
    }

    /// Returns `true` if a difference is zero modulo `2^width` for all samples.
    fn samples_agree(&mut self, d: FormId, width: u32) -> bool {
        let mask = if width < 128 { (1i128 << width) - 1 } else { -1 };
        self.samples(d).iter().all(|v| v & mask == 0)
    }

    /// Proves or refutes that a difference is zero modulo `2^width` for every input.
    fn is_zero(&mut self, d: FormId, width: u32, limits: Limits) -> Answer {
        let mask = if width < 128 { (1i128 << width) - 1 } else { -1 };
        if let Some(lane) = self.samples(d).iter().position(|v| v & mask != 0)
            && let Some(samples) = self.samples.take()
        {
            return Answer::Differs(samples, lane);
        }
        let gates = self.e.words.aig.gates() as u64;
        let Ok(word) = self.bits.word(self.terms, self.e, d, width as usize) else { return Answer::Unknown };
        self.e.spend(GATE * (self.e.words.aig.gates() as u64 - gates));
        let saved = std::mem::replace(&mut self.e.limits, limits);
        let outcome = self.e.equal(&word, &vec![Lit::FALSE; word.len()]);
        self.e.limits = saved;
        match outcome {
            Outcome::Equal => Answer::Equal,
            Outcome::Unknown => Answer::Unknown,
            Outcome::Differs(inputs) => {
                let mut number: FxHashMap<u32, bool> = FxHashMap::default();
                for pin in self.e.words.aig.inputs() {
                    if let Gate::Input(n) = self.e.words.aig.gate(pin.lit.node()) {
                        number.insert(pin.lit.node(), inputs.get(n as usize).copied().unwrap_or(false));
                    }
                }
                let bits = &self.bits;
                let samples = Samples::single(self.terms, |a| {
                    let word = bits.atom(a)?;
                    let mut value = 0i128;
                    for (i, l) in word.iter().enumerate() {
                        let set = match l.as_const() {
                            Some(c) => c,
                            None => number.get(&l.node()).copied().unwrap_or(false) != l.is_negated(),
                        };
                        if set {
                            value += if i + 1 == word.len() { -(1i128 << i) } else { 1 << i };
                        }
                    }
                    Some(value)
                });
                Answer::Differs(samples, 0)
            }
        }
    }

    /// Returns `true` if the gates of two forms are equal bit by bit, within limits.
    fn same_bits(&mut self, f: FormId, g: FormId, width: u32, limits: Limits) -> bool {
        let gates = self.e.words.aig.gates() as u64;
        let words = (
            self.bits.word(self.terms, self.e, f, width as usize),
            self.bits.word(self.terms, self.e, g, width as usize),
        );
        self.e.spend(GATE * (self.e.words.aig.gates() as u64 - gates));
        let (Ok(f), Ok(g)) = words else { return false };
        let saved = std::mem::replace(&mut self.e.limits, limits);
        let outcome = self.e.equal(&f, &g);
        self.e.limits = saved;
        outcome == Outcome::Equal
    }

    /// Compares a signal with the operation in its name. Also tries the operation plus the constant of a rounding after
    /// its ReLU, as optimisation may add that constant before the ReLU.
    fn compare(&mut self, signal: SignalId, op: ValueId, f: FormId) -> OrOverflow<Same> {
        for moved in self.roundings.get(&op).cloned().unwrap_or_default() {
            if let Some(same) = self.compare_moved(signal, (op, moved), f)? {
                return Ok(Some(same));
            }
        }
        self.compare_moved(signal, (op, 0), f)
    }

    /// Compares a signal with an operation plus a constant. After optimisation a signal may have some of the bits only,
    /// the negative, or the distance to a constant. Returns the signal's form over values of the model, if one is
    /// proved.
    fn compare_moved(&mut self, signal: SignalId, (op, moved): (ValueId, i128), f: FormId) -> OrOverflow<Same> {
        let width = self.rtl.signal(signal).width;
        let whole = self.model.kif(op).width();
        let (model, meaning) = self.moved_value(op, moved)?;
        let plain = (model, Claim { offset: moved, ..Claim::whole(op, width) });
        if self.terms.difference(f, model, width)?.is_none() {
            return Ok(Some(plain));
        }
        let Some(apart) = self.terms.difference(f, meaning, width)? else { return Ok(Some(plain)) };
        // For a decomposed table: one of the bits may be the sign of the operand.
        if self.terms.is_table(meaning) && self.terms.vanishes_by_value(apart, width)? {
            return Ok(Some(plain));
        }
        let known_well = self.is_known_well(signal, f)?;
        if known_well && width + 1 < whole {
            return Ok(None);
        }
        let (shown, meant) = (self.samples(f), self.samples(model));
        let mask = if width < 128 { (1i128 << width) - 1 } else { -1 };
        // Candidate runs of bits by their samples. Forms are compared first, then the gates of the most likely
        // candidates.
        let mut open: Vec<(FormId, FormId, Claim)> = Vec::new();
        self.terms.charge(u64::from(whole) * TERM);
        for negative in [false, true] {
            let sign = if negative { -1 } else { 1 };
            for skipped in 0..if known_well { 1 } else { whole.min(120) } {
                let part = |m: i128| (sign * m) >> skipped;
                // A whole number may differ by a constant.
                let offset =
                    if skipped == 0 && self.in_pieces { shown[0].wrapping_sub(part(meant[0])) & mask } else { 0 };
                if shown.iter().zip(&meant).any(|(&v, &m)| part(m).wrapping_add(offset).wrapping_sub(v) & mask != 0) {
                    continue;
                }
                let offset =
                    if width < 120 && offset >> (width.max(1) - 1) != 0 { offset - (1 << width) } else { offset };
                let claim = Claim { offset: offset + sign * moved, ..Claim::run(op, negative, skipped, width) };
                let signed = self.terms.scale(model, sign)?;
                let signed = self.terms.offset(signed, offset)?;
                let found = self.terms.floor(signed, skipped)?;
                let signed = self.terms.scale(meaning, sign)?;
                let signed = self.terms.offset(signed, offset)?;
                let part = self.terms.floor(signed, skipped)?;
                for equal in [found, part] {
                    if self.terms.difference(f, equal, width)?.is_none() {
                        return Ok(Some((found, claim)));
                    }
                }
                if let Some(chosen) = self.terms.floors_chosen(signed, skipped)?
                    && self.terms.difference(f, chosen, width)?.is_none()
                {
                    return Ok(Some((found, claim)));
                }
                open.push((found, part, claim));
            }
        }
        // If the comment in the file agrees with the samples, only its claim is compared.
        if let Some(runs) = self.remarked(signal, (op, moved), f)? {
            let of = (op, moved, false, model);
            if let Some(same) = self.match_bit_fields(f, width, of, runs.clone(), false)? {
                return Ok(Some(same));
            }
            if let Some(same) = self.in_pieces(f, width, (op, moved), false)? {
                return Ok(Some(same));
            }
            return self.match_bit_fields(f, width, of, runs, true);
        }
        // Samples do not distinguish a run that ends below the sign from a run that ends with the sign.
        if !known_well && let Some(same) = self.in_pieces(f, width, (op, moved), false)? {
            return Ok(Some(same));
        }
        for (found, part, claim) in open.iter().take(3) {
            if self.same_by_names(f, *part, *part, width) {
                return Ok(Some((*found, claim.clone())));
            }
        }
        for (found, part, claim) in open.iter().take(2) {
            if self.same_gates(f, *part, width)? {
                // A sum keeps its own form, which contains more information than the name, such as the position of its
                // sign.
                let keeps_form = meaning == model;
                let form = if keeps_form { f } else { *found };
                return Ok(Some((form, Claim { keeps_form, ..claim.clone() })));
            }
        }
        if known_well { Ok(None) } else { self.in_pieces(f, width, (op, moved), true) }
    }

    /// Returns the runs of bits of a value that the comment in the file states for a signal, if the samples agree.
    fn remarked(
        &mut self,
        signal: SignalId,
        (op, moved): (ValueId, i128),
        f: FormId,
    ) -> OrOverflow<Option<Vec<BitRun>>> {
        if !self.in_pieces {
            return Ok(None);
        }
        let width = self.rtl.signal(signal).width;
        let name = &self.rtl.signal(signal).name;
        let Some(runs) = self.rtl.remark(name).and_then(|r| remarked_runs(r, self.model.kif(op), width)) else {
            return Ok(None);
        };
        let (model, _) = self.moved_value(op, moved)?;
        let expected = self.pieces(model, &runs)?;
        let (shown, meant) = (self.samples(f), self.samples(expected));
        let mask = if width < 128 { (1i128 << width) - 1 } else { -1 };
        let agree = shown.iter().zip(&meant).all(|(&v, &m)| v.wrapping_sub(m) & mask == 0);
        Ok(agree.then_some(runs))
    }

    /// Returns the form of a signal with several runs of bits of one value of the model. Compares structurally only, or
    /// also by gates if `thoroughly`.
    fn in_pieces(&mut self, f: FormId, width: u32, (op, moved): (ValueId, i128), thoroughly: bool) -> OrOverflow<Same> {
        if !self.in_pieces {
            return Ok(None);
        }
        let (model, _) = self.moved_value(op, moved)?;
        let whole = self.model.kif(op).width() + u32::from(moved != 0);
        let shown = self.samples(f);
        for negative in [false, true] {
            let sign = if negative { -1 } else { 1 };
            let signed = self.terms.scale(model, sign)?;
            let meant = self.samples(signed);
            let whole = whole + u32::from(negative);
            self.terms.charge(u64::from(whole + 2 * width) * TERM);
            let guesses = [runs(&shown, width, &meant, whole), runs_and_sign(&shown, width, &meant, whole)];
            let [first, second] = guesses.map(|guess| guess.filter(|runs| runs.len() > 1));
            let second = second.filter(|runs| first.as_ref() != Some(runs));
            for runs in [first, second].into_iter().flatten() {
                if let Some(same) = self.match_bit_fields(f, width, (op, moved, negative, signed), runs, thoroughly)? {
                    return Ok(Some(same));
                }
            }
        }
        Ok(None)
    }

    /// Matches runs of bits of a value, or of its negative, whose form is `signed`.
    fn match_bit_fields(
        &mut self,
        f: FormId,
        width: u32,
        (op, moved, negative, signed): (ValueId, i128, bool, FormId),
        runs: Vec<BitRun>,
        thoroughly: bool,
    ) -> OrOverflow<Same> {
        let (model, meaning) = self.moved_value(op, moved)?;
        if thoroughly && moved == 0 && self.terms.rules().has_names() && !negative && meaning != model {
            let whole = self.model.kif(op).width();
            let meant = self.samples(model);
            for (lo, hi) in gaps(&runs, &meant) {
                if whole > hi {
                    self.learn_gap(model, meaning, (lo, hi), whole)?;
                }
            }
        }
        let sign = if negative { -1 } else { 1 };
        let meaning = self.terms.scale(meaning, sign)?;
        let (found, part) = (self.pieces(signed, &runs)?, self.pieces(meaning, &runs)?);
        let claim = Claim { runs, offset: sign * moved, ..Claim::run(op, negative, 0, width) };
        for equal in [found, part] {
            if self.terms.difference(f, equal, width)?.is_none() {
                return Ok(Some((found, claim)));
            }
        }
        let asked = thoroughly && (self.same_by_names(f, part, part, width) || self.same_gates(f, part, width)?);
        Ok(asked.then_some((found, claim)))
    }

    /// Tries to prove that bits `lo .. hi` of a named value of `whole` bits, which are zero for all samples, are always
    /// zero. Then floors at these bits are expressed by the floor at `hi`.
    fn learn_gap(&mut self, name: FormId, meaning: FormId, (lo, hi): (u32, u32), whole: u32) -> OrOverflow<()> {
        if self.terms.knows_gap(name, lo)? {
            return Ok(());
        }
        let low = self.terms.floor(meaning, lo)?;
        let high = self.terms.floor(meaning, hi)?;
        let above = self.terms.scale(high, power(hi - lo)?)?;
        // Both are numbers of `whole - lo` bits, so they are equal if they are equal modulo that power of two.
        if self.same_gates(low, above, whole - lo)? {
            self.terms.gap(name, lo, hi)?;
        }
        Ok(())
    }

    /// Returns the concatenation of runs of a value's bits.
    fn pieces(&mut self, value: FormId, runs: &[BitRun]) -> OrOverflow<FormId> {
        let (mut out, mut parts) = (self.terms.constant(0), Vec::new());
        for (i, &(at, from, count)) in runs.iter().enumerate() {
            let mut part = self.terms.floor(value, from)?;
            if i + 1 < runs.len() {
                part = self.terms.value(part, count, false)?;
            }
            out = self.terms.linear(out, power(at)?, part)?;
            parts.push((at, part));
        }
        self.terms.set_shape(out, Shape::Fields(parts.into()));
        Ok(out)
    }

    /// Returns the form of an operation plus a constant, by its name and by its definition.
    fn moved_value(&mut self, op: ValueId, moved: i128) -> OrOverflow<(FormId, FormId)> {
        let model = self.forms.ops[op.index()];
        let meaning = self.terms.meaning(model);
        Ok((self.terms.offset(model, moved)?, self.terms.offset(meaning, moved)?))
    }

    /// Returns the form of a signal that has a run of bits of another value of the model.
    fn shown(&mut self, signal: SignalId, f: FormId) -> OrOverflow<Same> {
        let width = self.rtl.signal(signal).width;
        if !self.in_pieces || width > MAX_SHOWN || self.terms.is_sum_of_names(f) {
            return Ok(None);
        }
        let lanes = self.samples(f);
        if self.columns.is_none() {
            let mut columns = Columns::default();
            for id in self.model.ids() {
                let lanes = self.samples(self.forms.ops[id.index()]);
                self.terms.charge(u64::from(self.model.kif(id).width()) * TERM);
                columns.add(id.0, self.model.kif(id).width(), &lanes);
            }
            self.columns = Some(columns);
        }
        self.terms.charge(u64::from(width) * TERM);
        let mask = (1i128 << width) - 1;
        let guesses = self.columns.as_ref().map(|c| c.guesses(&lanes, width)).unwrap_or_default();
        for (op, skipped) in guesses {
            let model = self.forms.ops[op as usize];
            let meant = self.samples(model);
            let meaning = self.terms.meaning(model);
            // Gates contribute little to the comparison of parts of products.
            if self.terms.multiplies(meaning) {
                continue;
            }
            let is_run =
                |skipped: u32| lanes.iter().zip(&meant).all(|(&v, &m)| (m >> skipped).wrapping_sub(v) & mask == 0);
            let Some(skipped) = skipped.filter(|&s| is_run(s)) else {
                if let Some(found) = self.in_pieces(f, width, (ValueId(op), 0), true)? {
                    return Ok(Some(found));
                }
                continue;
            };
            let (found, part) = (self.terms.floor(model, skipped)?, self.terms.floor(meaning, skipped)?);
            let claim = Claim::run(ValueId(op), false, skipped, width);
            for equal in [found, part] {
                if self.terms.difference(f, equal, width)?.is_none() {
                    return Ok(Some((found, claim)));
                }
            }
            if self.same_by_names(f, part, part, width) || self.same_gates(f, part, width)? {
                return Ok(Some((found, claim)));
            }
        }
        Ok(None)
    }

    /// Returns the form `same`, which equals `f` modulo the signal's width, so that a word that is a number of this
    /// width remains one.
    fn fitted(&mut self, signal: SignalId, f: FormId, same: FormId) -> OrOverflow<FormId> {
        let width = self.rtl.signal(signal).width;
        let range = self.terms.range(f);
        if fits(self.terms.range(same), width) {
            return Ok(same);
        }
        if fits(range, width) {
            return self.terms.value(same, width, range.0 < 0);
        }
        // Otherwise, the form may be such a number after the removal of multiples of the modulus.
        let reduced = self.terms.reduced(same, width)?;
        Ok(if fits(self.terms.range(reduced), width) { reduced } else { same })
    }

    /// Returns `true` if two forms are equal by their gates, within a small budget.
    fn same_gates(&mut self, f: FormId, g: FormId, width: u32) -> OrOverflow<bool> {
        let Some(d) = self.terms.difference(f, g, width)? else { return Ok(true) };
        if self.hints == 0 {
            return Ok(false);
        }
        let before = self.e.left;
        let steps = self.e.limits.sat_steps / 600;
        let small = Limits { sat_steps: steps, cone: 5_000, exhaustive_leaves: 12, deep: false };
        let equal = self.same_bits(f, g, width, small) || matches!(self.is_zero(d, width, small), Answer::Equal);
        self.hints = self.hints.saturating_sub(before - self.e.left);
        Ok(equal)
    }

    /// Returns `true` if two forms are equal once names are replaced by their definitions: nearby names, all that are
    /// multiplied, or all that occur in only one of them. `named` is the name whose definition `g` is, or `g` itself.
    fn same_by_names(&mut self, f: FormId, g: FormId, named: FormId, width: u32) -> bool {
        self.same_locally(f, g, width) || self.same_multiplied(f, g, width) || self.same_apart(f, named, width)
    }

    /// Returns `true` if two forms are equal by nearby names; `false` unless all operations have names.
    fn same_locally(&mut self, f: FormId, g: FormId, width: u32) -> bool {
        if self.terms.rules() != RuleSet::Local {
            return false;
        }
        let least = LEAST_NEARBY.min(self.nearby.0);
        let most = if self.terms.is_renamed(f) { least } else { self.nearby.0 };
        let before = self.terms.work();
        let same = self.terms.within(most, |t| t.same_locally(f, g, width, most)).unwrap_or(false);
        self.nearby.took(self.terms.work() - before, same);
        self.nearby.0 = self.nearby.0.max(least);
        same
    }

    /// Returns `true` if two forms are equal once products are multiplied out, within the budget of a query.
    fn same_multiplied(&mut self, f: FormId, g: FormId, width: u32) -> bool {
        let most = (self.apart / MONOMIAL).min(self.multiplied.0);
        let before = self.terms.work();
        let same = self.terms.same_multiplied(f, g, width, most).unwrap_or(false);
        let work = self.terms.work() - before;
        self.apart = self.apart.saturating_sub(work);
        self.multiplied.took(work / MONOMIAL, same);
        same
    }

    /// Returns `true` if two forms are equal once names are replaced by their definitions, within the budget of a
    /// query.
    fn same_apart(&mut self, f: FormId, g: FormId, width: u32) -> bool {
        if self.apart == 0 {
            return false;
        }
        let before = self.terms.work();
        let most = self.unfolded.0;
        let same = self.terms.within(most, |t| t.same_unfolded(f, g, width)).unwrap_or(false);
        let work = self.terms.work() - before;
        self.apart = self.apart.saturating_sub(work);
        self.unfolded.took(work, same);
        same
    }

    /// Returns the values of the model and the design for one sampled assignment.
    fn witness(&mut self, output: usize, found: FormId, mut samples: Samples, lane: usize) -> Witness {
        let value = |samples: &mut Samples, terms: &LinearForms, f: FormId, kif: Kif| {
            wrap(&BigInt::from(samples.lanes(terms, f)[lane]), kif)
        };
        let (terms, model) = (&*self.terms, self.model);
        let inputs = self.forms.inputs.iter().zip(model.input_kifs());
        let inputs = inputs.map(|(&f, &kif)| value(&mut samples, terms, f, kif)).collect();
        let mut seen = Vec::new();
        for &(op, signal, f) in &self.unmatched {
            let width = self.rtl.signal(signal).width.min(model.kif(ValueId(op)).width());
            let kif = Kif { signed: false, int: width as i32, frac: 0 };
            let value = value(&mut samples, terms, f, kif);
            seen.push(ObservedSignal { op, signal: self.rtl.signal(signal).name.clone(), width, value });
        }
        let mut others: Vec<(u32, Vec<BigInt>)> = Vec::new();
        let mut moments: Vec<u32> = self.others.keys().map(|(_, k)| *k).collect();
        moments.sort_unstable();
        moments.dedup();
        for k in moments {
            let mut codes = Vec::new();
            for (place, &kif) in self.ports.inputs.iter().zip(model.input_kifs()) {
                let word = place.and_then(|(s, lo)| self.others.get(&(s, k)).map(|w| (w, lo)));
                let form = word.and_then(|(w, lo)| match w {
                    Word::One(f) => Some(*f),
                    Word::Many(parts, _) => parts.iter().find(|p| p.0 == lo).map(|p| p.1),
                });
                codes.push(form.map_or(BigInt::ZERO, |f| value(&mut samples, terms, f, kif)));
            }
            others.push((k, codes));
        }
        let unbalanced = self.others.keys().any(|(s, _)| self.ports.inputs.iter().flatten().any(|p| p.0 == *s));
        let found = value(&mut samples, terms, found, model.output_kif(output));
        Witness { inputs, others, unbalanced, found, seen }
    }
}

impl Domain for FormComparison<'_> {
    type Word = Word;

    fn truth(&self, x: &Word) -> Option<bool> {
        match x {
            Word::One(f) => self.terms.as_const(*f).map(|v| v & 1 == 1),
            Word::Many(..) => None,
        }
    }

    fn constant(&mut self, value: &BigUint, width: u32) -> WordResult<Self> {
        Arithmetic(self.terms).constant(value, width)
    }

    fn slice(&mut self, x: &Word, lo: u32, width: u32) -> WordResult<Self> {
        Arithmetic(self.terms).slice(x, lo, width)
    }

    fn concat(&mut self, parts: &[(Word, u32)]) -> WordResult<Self> {
        let mut known = parts.to_vec();
        for (word, width) in &mut known {
            if let Word::One(f) = word {
                *f = self.terms.bits_by_name(*f, *width)?;
            }
        }
        Arithmetic(self.terms).concat(&known)
    }

    fn extend(&mut self, x: &Word, from: u32, signed: bool, width: u32) -> WordResult<Self> {
        Arithmetic(self.terms).extend(x, from, signed, width)
    }

    fn repeat(&mut self, x: &Word, from: u32, count: u32) -> WordResult<Self> {
        Arithmetic(self.terms).repeat(x, from, count)
    }

    fn not(&mut self, x: &Word, _width: u32) -> WordResult<Self> {
        Arithmetic(self.terms).not(x)
    }

    fn binary(&mut self, op: Binary, a: &Word, b: &Word, width: u32) -> WordResult<Self> {
        Arithmetic(self.terms).binary(op, a, b, width)
    }

    fn compare(&mut self, op: Compare, a: &Word, b: &Word, width: u32) -> WordResult<Self> {
        Arithmetic(self.terms).compare(op, a, b, width)
    }

    fn reduce(&mut self, op: Reduce, x: &Word, width: u32) -> WordResult<Self> {
        Arithmetic(self.terms).reduce(op, x, width)
    }

    fn shift(&mut self, op: Shift, x: &Word, by: (&Word, u32), width: u32) -> WordResult<Self> {
        Arithmetic(self.terms).shift(op, x, by, width)
    }

    fn table(
        &mut self,
        entries: &Arc<Vec<BigUint>>,
        addr: (&Word, u32),
        missing: &Word,
        _width: u32,
    ) -> WordResult<Self> {
        Arithmetic(self.terms).table(entries, addr, missing)
    }

    fn mux(&mut self, cond: &Word, yes: &Word, no: &Word, width: u32) -> WordResult<Self> {
        Arithmetic(self.terms).mux(cond, yes, no, width)
    }

    fn input(&mut self, signal: SignalId, k: u32) -> WordResult<Self> {
        if let Some(level) = self.controls.level(signal) {
            return Ok(Word::One(self.terms.constant(i128::from(level))));
        }
        if let Some(known) = self.others.get(&(signal, k)) {
            return Ok(known.clone());
        }
        if self.ports.on(signal, k, self.latency).next().is_some() {
            if let Some(known) = self.beside.get(&(signal, k)) {
                return Ok(known.clone());
            }
            let forms = self.forms;
            let (word, is_whole) = self.data(signal, k, |_, i, _| Ok(forms.inputs[i]))?;
            if !is_whole {
                self.beside.insert((signal, k), word.clone());
            }
            return Ok(word);
        }
        // The same elements in another cycle.
        let word = if let Some(like) = self.ports.moment(signal, self.latency) {
            self.data(signal, like, |t, _, kif| {
                let width = kif.width();
                if width > 100 {
                    return Err(super::linear_forms::Overflow);
                }
                let half = if kif.signed { 1i128 << (width - 1) } else { 0 };
                t.free((-half, (1 << width) - half - 1))
            })?
            .0
        } else {
            self.free(self.rtl.signal(signal).width)?
        };
        self.others.insert((signal, k), word.clone());
        Ok(word)
    }

    fn unknown(&mut self, width: u32) -> WordResult<Self> {
        self.free(width)
    }

    fn before(&mut self, signal: SignalId, lo: u32, width: u32) -> WordResult<Self> {
        match self.ports.before(signal, lo, width) {
            Some(value) => self.constant(&value, width),
            None => self.free(width),
        }
    }

    fn known(&mut self, signal: SignalId, k: u32) -> Option<WordResult<Self>> {
        let value = self.ports.phase(signal, k)?.clone();
        Some(self.constant(&value, self.rtl.signal(signal).width))
    }

    fn signal(&mut self, signal: SignalId, k: u32, word: Word) -> WordResult<Self> {
        let word = self.said(signal, k, word)?;
        let Word::One(f) = word else { return Ok(word) };
        let width = self.rtl.signal(signal).width;
        let f = self.in_window(f, width)?;
        Ok(Word::One(self.terms.as_known(f, width)?))
    }
}

impl FormComparison<'_> {
    /// Records that the parts of a signal's word are parts of the equal value of the model, as other signals may read
    /// the parts.
    fn learn_parts(&mut self, signal: SignalId, word: &Word, same: FormId) -> OrOverflow<()> {
        let parts: Arc<[(u32, FormId)]> = match word {
            Word::Many(parts, _) => parts.clone(),
            Word::One(f) => match self.terms.shape(*f) {
                Some(Shape::Fields(parts)) => parts.clone(),
                _ => return Ok(()),
            },
        };
        let width = self.rtl.signal(signal).width;
        let ends = parts.iter().skip(1).map(|p| p.0).chain([width]);
        for (&(start, part), end) in parts.iter().zip(ends) {
            if end > start && !self.terms.is_sum_of_names(part) {
                let bits = self.terms.floor(same, start)?;
                self.terms.record_low_bits(part, end - start, bits);
            }
        }
        Ok(())
    }

    /// Returns the form of a claim.
    fn claimed(&mut self, claim: &Claim) -> OrOverflow<FormId> {
        let value = self.terms.scale(self.forms.ops[claim.op.index()], if claim.negative { -1 } else { 1 })?;
        let value = self.terms.offset(value, claim.offset)?;
        match claim.runs[..] {
            [(0, from, _)] => self.terms.floor(value, from),
            _ => self.pieces(value, &claim.runs),
        }
    }

    /// Returns the form and the claim of a signal for which another method has proved the claim; `None` if none has.
    fn proved_before(&mut self, signal: SignalId, k: u32, f: FormId) -> OrOverflow<Same> {
        Ok(match self.proved.signals.get(&(signal, k)).cloned() {
            Some(claim) if claim.keeps_form => Some((f, claim)),
            Some(claim) => Some((self.claimed(&claim)?, claim)),
            None => None,
        })
    }

    /// Returns the word of a signal over values of the model if a relation is proved; otherwise the given word.
    fn said(&mut self, signal: SignalId, k: u32, word: Word) -> WordResult<Self> {
        let named = operation_of(self.model, self.rtl, signal);
        let hint = named.or_else(|| hinted_operation(self.model, self.rtl, signal).filter(|_| self.in_pieces));
        let f = match (&word, hint) {
            (Word::One(f), _) => *f,
            (_, Some(_)) => Arithmetic(self.terms).form(&word)?,
            (_, None) => return Ok(word),
        };
        if let Some(op) = named
            && f == self.forms.ops[op.index()]
        {
            let width = self.rtl.signal(signal).width;
            self.proved.matched.insert(op.0);
            self.proved.claim(signal, k, Claim::whole(op, width));
            return Ok(Word::One(f));
        }
        let width = self.rtl.signal(signal).width;
        let mut same = None;
        // With few rules, only relations that the rules do not derive are used, as the own forms of sums contain more
        // information.
        let known_well = self.is_known_well(signal, f)?;
        if self.in_pieces {
            same = self.proved_before(signal, k, f)?.filter(|(_, claim)| !known_well || self.is_whole(claim));
        }
        if let (None, Some(op)) = (&same, hint) {
            same = self.unless_not_seen((f, Some(op), width), |d| FormComparison::compare(d, signal, op, f))?;
        }
        if same.is_none() && !known_well {
            same = self.proved_before(signal, k, f)?;
        }
        if let (None, Some(op)) = (&same, named) {
            self.proved.unmatched.entry(op.0).or_insert(signal);
            if !self.proved.matched.contains(&op.0) && self.unmatched.len() < 100_000 {
                self.unmatched.push((op.0, signal, f));
            }
        }
        if same.is_none() && !known_well {
            same = self.unless_not_seen((f, None, width), |d| d.shown(signal, f))?;
        }
        let Some((same, claim)) = same else {
            return Ok(if hint.is_some() {
                Word::One(self.in_window(f, self.rtl.signal(signal).width)?)
            } else {
                word
            });
        };
        if named == Some(claim.op) {
            self.proved.matched.insert(claim.op.0);
            self.learn_parts(signal, &word, same)?;
        }
        self.proved.claim(signal, k, claim);
        Ok(Word::One(self.fitted(signal, f, same)?))
    }

    /// Returns `true` if a form is a function of one named value, every operation has a name, and the file does not
    /// state the signal's value. Equal bits of other values, such as those of a later sum, would only make the form a
    /// function of several values.
    fn is_known_well(&mut self, signal: SignalId, f: FormId) -> OrOverflow<bool> {
        if self.terms.rules() != RuleSet::Local || self.rtl.remark(&self.rtl.signal(signal).name).is_some() {
            return Ok(false);
        }
        self.terms.speaks_of_one_name(f)
    }

    /// Returns `true` if a signal contains all bits of a value, perhaps negated or plus a constant.
    fn is_whole(&self, claim: &Claim) -> bool {
        matches!(claim.runs[..], [(0, 0, width)] if width >= self.model.kif(claim.op).width())
    }

    /// Runs a search for an equal value of the model, unless the same search failed before.
    fn unless_not_seen(
        &mut self,
        question: (FormId, Option<ValueId>, u32),
        ask: impl FnOnce(&mut Self) -> OrOverflow<Same>,
    ) -> OrOverflow<Same> {
        if self.not_seen.contains(&question) {
            return Ok(None);
        }
        let same = ask(self)?;
        if same.is_none() {
            self.not_seen.insert(question);
        }
        Ok(same)
    }

    /// Moves a form by a multiple of `2^width` into the range of signed or unsigned words of this width, if possible.
    /// The result is the intended residue of arithmetic modulo `2^width`, such as -12 for 2036 in the RTL.
    fn in_window(&mut self, f: FormId, width: u32) -> OrOverflow<FormId> {
        let range = self.terms.range(f);
        if !self.in_pieces || width == 0 || width > MAX_SHOWN || fits(range, width) {
            return Ok(f);
        }
        let size = 1i128 << width;
        for lowest in [-(size / 2), 0] {
            let turns = (range.0 - lowest).div_euclid(size);
            if turns.unsigned_abs() < 1 << 20 && range.1 - turns * size < lowest + size {
                return self.terms.offset(f, -turns * size);
            }
        }
        Ok(f)
    }
}

/// Returns `true` if all numbers within these bounds are words of this width, signed or not.
fn fits(range: Range, width: u32) -> bool {
    let bits = |v: i128| 128 - (v ^ v >> 127).leading_zeros();
    let most = bits(range.0).max(bits(range.1));
    if range.0 < 0 { most < width } else { most <= width }
}

/// Returns the constants added after a ReLU of each value of the model, in units of the value's raw integer:
/// optimisation may add them before the ReLU.
fn roundings(model: &Model) -> FxHashMap<ValueId, Vec<i128>> {
    let mut found: FxHashMap<ValueId, Vec<i128>> = FxHashMap::default();
    for id in model.ids() {
        let Op::AddConst { x: relu, value, shift } = &model.node(id).op else { continue };
        let Op::Relu { x } = model.node(*relu).op else { continue };
        let Some(value) = value.to_i128().filter(|v| (1..1 << 60).contains(v)) else { continue };
        let up = i64::from(model.kif(x).frac) - i64::from(*shift);
        let code = match u32::try_from(up.unsigned_abs()) {
            Ok(up_by @ 0..60) if up >= 0 => value << up_by,
            Ok(down @ 0..60) if value.trailing_zeros() >= down => value >> down,
            _ => continue,
        };
        let all = found.entry(x).or_default();
        if all.len() < MAX_ROUNDINGS && !all.contains(&code) {
            all.push(code);
        }
    }
    found
}

/// Returns the sets of rules with which a model's forms are compared, in order.
pub(super) fn choose_rules(model: &Model, all_rules: bool) -> Vec<RuleSet> {
    let count = |wanted: fn(&Op) -> bool| model.nodes().iter().filter(|n| wanted(&n.op)).count();
    let (products, lookups) = (count(|op| matches!(op, Op::Mul { .. })), count(|op| matches!(op, Op::Lookup { .. })));
    // If each row of a multiplier has a name, the rows cannot be added up. So rule sets with names come later, unless
    // products are few.
    let few: &[RuleSet] = match products {
        _ if all_rules => &[],
        0 => &[RuleSet::Local],
        _ if products * FEW_PRODUCTS < model.nodes().len() => &[RuleSet::Local, RuleSet::Rows],
        _ => &[RuleSet::Rows, RuleSet::Local],
    };
    let by_bits = (products > 0 && lookups > 0).then_some(RuleSet::Bits);
    few.iter().copied().chain(by_bits).chain([RuleSet::All]).collect()
}

/// Budget and limits of a comparison by forms.
pub(super) struct FormEffort {
    /// Budget in ticks.
    pub(super) cap: u64,
    /// Limits of one query on gates.
    pub(super) limits: Limits,
    /// `true` if outputs may be compared by gates.
    pub(super) asks_gates: bool,
}

/// Compares the undecided outputs by forms; returns `true` if this decides the verdict.
pub(super) fn compare(
    (model, rtl, ports): (&Model, &Rtl, &PortRoles),
    (latency, structure): (u32, u32),
    rules: RuleSet,
    effort: &FormEffort,
    proved: &mut Proved,
    report: &mut Report,
    e: &mut Engine,
) -> bool {
    let kept = e.reserve(effort.cap);
    let saved = std::mem::replace(&mut e.limits, effort.limits);
    let mut terms = LinearForms::with(rules);
    // Forms get three quarters of the budget if the gates of outputs are not compared, otherwise half.
    let most = e.left / 4 * if effort.asks_gates { 2 } else { 3 } / FORMS;
    terms.set_most(most);
    let for_forms = e.reserve(e.left - FORMS * most);
    let decided = match forms(&mut terms, model) {
        Err(_) => false,
        Ok(model_forms) => {
            let hints = e.left / if effort.asks_gates { 2 } else { 1 };
            let mut design = FormComparison {
                terms: &mut terms,
                e,
                model,
                rtl,
                forms: &model_forms,
                ports,
                latency,
                controls: ControlValues::running(ports),
                bits: Bits::new(rules == RuleSet::All),
                samples: None,
                columns: None,
                apart: most,
                nearby: AdaptiveBudget((most / NEARBY.0).clamp(NEARBY.1, NEARBY.2)),
                multiplied: AdaptiveBudget(MULTIPLIED),
                unfolded: AdaptiveBudget(UNFOLDED.min(most / 4)),
                hints,
                others: FxHashMap::default(),
                beside: FxHashMap::default(),
                proved,
                in_pieces: rules != RuleSet::Rows,
                roundings: roundings(model),
                unmatched: Vec::new(),
                not_seen: FxHashSet::default(),
            };
            match outputs(&mut design, structure, effort.asks_gates, report) {
                Ok(decided) => decided,
                Err(Fault::Loop(s)) => {
                    let reason = format!("{} depends on itself without a register", rtl.signal(s).name);
                    report.verdict = Verdict::Differs { reason, counterexample: None };
                    true
                }
                Err(Fault::Overflow) => false,
            }
        }
    };
    e.release(for_forms);
    e.spend(FORMS * terms.work());
    e.limits = saved;
    e.release(kept);
    decided
}

/// Compares outputs and records the proved ones; returns `true` if a difference was detected.
fn outputs(
    design: &mut FormComparison<'_>,
    structure: u32,
    asks_gates: bool,
    report: &mut Report,
) -> Result<bool, Fault> {
    let (model, rtl, ports, latency) = (design.model, design.rtl, design.ports, design.latency);
    let mut unroll: Unroll<'_, Word> = Unroll::new(rtl, ports.depth(latency, structure));
    let mut found: Vec<(usize, u32, FormId)> = Vec::new();
    let mut beyond = false;
    for (j, place) in ports.outputs.iter().enumerate() {
        let Some((port, lo)) = *place else { continue };
        if design.proved.outputs.contains(&j) {
            continue;
        }
        let width = model.output_kif(j).width();
        let word = unroll.word(design, rtl.read(port), 0).and_then(|word| {
            let part = Arithmetic(design.terms).slice(&word, lo, width)?;
            Arithmetic(design.terms).form(&part)
        });
        match word {
            Ok(f) => found.push((j, width, f)),
            Err(Fault::Overflow) => beyond = true,
            Err(fault) => return Err(fault),
        }
        // The budget of forms is exhausted; the proved relations remain valid.
        if beyond && design.terms.is_spent() {
            break;
        }
    }
    if let Some((valid_in, valid_out)) = ports.valid.filter(|_| !design.proved.valid) {
        let word = unroll.word(design, rtl.read(valid_out), 0)?;
        let same = match (&word, design.others.get(&(valid_in, latency))) {
            (Word::One(f), Some(Word::One(g))) => {
                let (f, g) = (*f, *g);
                design.terms.same(f, g, 1)?
            }
            _ => false,
        };
        // Outputs that forms do not prove are compared by gates.
        if same {
            report.notes.push(format!("valid_out is valid_in of {latency} clocks before"));
            design.proved.valid = true;
        }
    }
    design.unmatched.sort_by_key(|u| (u.0, u.1));
    let count = found.len();
    for (at, (j, width, f)) in found.into_iter().enumerate() {
        // Each output may use at most half of the remaining budget, so that some remains for the others.
        let share = design.e.left / 2_u64.min((count - at) as u64);
        let kept = design.e.reserve(share);
        let answer = output(design, (j, width, f), asks_gates);
        design.e.release(kept);
        match answer {
            Ok(Answer::Equal) => {
                design.proved.outputs.insert(j);
                design.e.show_proved(design.proved.outputs.len());
            }
            Ok(Answer::Differs(samples, lane)) => {
                let witness = design.witness(j, f, samples, lane);
                let verdict = explain(model, latency, j, witness);
                if matches!(verdict, Verdict::Differs { .. }) {
                    report.verdict = verdict;
                    return Ok(true);
                }
            }
            Ok(Answer::Unknown) | Err(_) => {}
        }
    }
    Ok(false)
}

/// Proves or refutes that an output's form equals the model's.
fn output(
    design: &mut FormComparison<'_>,
    (j, width, f): (usize, u32, FormId),
    asks_gates: bool,
) -> OrOverflow<Answer> {
    let expected = design.forms.outputs[j];
    let Some(d) = design.terms.difference(f, expected, width)? else {
        design.e.counts.affine += u64::from(width);
        return Ok(Answer::Equal);
    };
    let meaning = design.terms.meaning(expected);
    let alike = design.samples_agree(d, width);
    if alike && design.same_by_names(f, meaning, expected, width) {
        design.e.counts.affine += u64::from(width);
        return Ok(Answer::Equal);
    }
    if alike && !asks_gates {
        return Ok(Answer::Unknown);
    }
    let limits = design.e.limits;
    if alike && design.same_bits(f, meaning, width, Limits { sat_steps: limits.sat_steps / 30, ..limits }) {
        return Ok(Answer::Equal);
    }
    Ok(design.is_zero(d, width, limits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_were_dear_in_vain_make_later_ones_cheaper() {
        let mut patience = AdaptiveBudget(80_000);
        patience.took(80_000, true);
        patience.took(19_999, false);
        assert_eq!(patience.0, 80_000);
        patience.took(20_000, false);
        assert_eq!(patience.0, 40_000);
        for _ in 0..10 {
            patience.took(patience.0, false);
        }
        assert_eq!(patience.0, LEAST);
    }

    #[test]
    fn what_is_beyond_a_limit_is_not_beyond_the_next() {
        let mut terms = LinearForms::with(RuleSet::All);
        let x = terms.free((0, 255)).unwrap();
        terms.charge(1_000);
        let too_much = terms.within(10, |t| {
            t.charge(11);
            t.floor(x, 3)
        });
        assert!(too_much.is_err());
        let high = terms.within(1_000, |t| t.floor(x, 3)).unwrap();
        // A nested limit is at most the rest of the outer one.
        let inner = terms.within(10, |t| {
            t.charge(11);
            t.within(1_000, |t| t.floor(x, 5))
        });
        assert!(inner.is_err());
        assert_eq!(terms.floor(x, 3).unwrap(), high);
    }
}
