//! Lemmas: equalities of two values as functions of values that are already known. This module chooses lemmas, and
//! tries, proves or refutes them.

use super::super::engine::{Counts, Question};
use super::super::equiv::{self, Report, Request, Verdict};
use super::super::program;
use super::super::progress::traced;
use super::super::sat::Solvers;
use super::numbering::{Numbering, Root, Window};
use super::pieces::{self, Comparison};
use super::range::{Affine, Range};
use super::samples::Shown;
use alir_core::ir::Model;
use alir_core::num::SplitMix;
use alir_interp::{LookupMiss, Plan, PlanOptions, golden};
use num_bigint::BigInt;
use rustc_hash::FxHashSet;

/// Cost in ticks of building a lemma, for each of its operations.
const BUILD: u64 = 1_500;
/// Largest number of operations of a lemma, both sides together.
const WINDOW: usize = 256;
/// Numbers of known values that the paths of a lemma may cross; they are tried in this order.
const CROSSED: [u32; 3] = [0, 2, 8];
/// Budget of a lemma in ticks up to which only the nearest known values are its inputs.
pub(super) const NEAR_ONLY: u64 = 30_000;
/// Largest number of candidates that a value is compared with (.0), and of proofs among them (.1).
const CANDIDATES: (usize, usize) = (8, 2);
/// Number of sample values of a shared input by which neighbours are compared.
const LOCAL: u64 = 96;
/// Largest number of operations in which the inputs of a candidate are counted.
const NEAR: usize = 64;
/// Number of inputs for which a lemma is tried before it is proved.
const TRIALS: usize = 12;
/// Cost in ticks of one trial, for each operation.
const TRIAL: u64 = 30;
/// Largest number of input combinations for which all are tried.
const MOST_INPUTS: u64 = 1 << 20;
/// Cost in ticks of the batch engine's plans, for each operation.
const PLAN: u64 = 1_000;
/// Number of operations that the batch engine evaluates in one tick.
const EVALUATED: u64 = 10;
/// Budget for trying all inputs, as a multiple of the budget of a proof.
const TRIED: u64 = 10;
/// Number of inputs that are tried at once.
const BLOCK: u64 = 1 << 14;

/// Budget used by a comparison, and the records it produced for a certificate.
pub(super) struct Spending<'s> {
    pub(super) request: &'s Request,
    pub(super) solver: Solvers<'s>,
    /// Remaining budget in ticks.
    pub(super) left: u64,
    /// Ticks spent so far.
    pub(super) spent: u64,
    pub(super) counts: Counts,
    pub(super) questions: Vec<Question>,
    /// Number of undecided lemmas of a round: neither proved nor refuted.
    pub(super) open: usize,
    /// Smallest and largest output of the lemma that was last decided for all inputs.
    pub(super) ends: Option<(i64, i64)>,
}

impl<'s> Spending<'s> {
    pub(super) fn new(request: &'s Request, solver: Solvers<'s>, left: u64) -> Spending<'s> {
        Spending {
            request,
            solver,
            left,
            spent: 0,
            counts: Counts::default(),
            questions: Vec::new(),
            open: 0,
            ends: None,
        }
    }

    /// Charges ticks to the budget.
    pub(super) fn spend(&mut self, ticks: u64) {
        self.spent += ticks;
        self.left = self.left.saturating_sub(ticks);
    }

    /// Returns `true` if two small programs with one output differ for one of a few inputs in their ranges.
    pub(super) fn differ(&mut self, a: &Model, b: &Model, ranges: &[Range]) -> bool {
        self.spend(TRIAL * (TRIALS * (a.nodes().len() + b.nodes().len())) as u64);
        let mut rng = SplitMix::new(0x74_72_69_61);
        (0..TRIALS).any(|trial| {
            let codes: Vec<BigInt> = ranges
                .iter()
                .map(|range| match trial {
                    0 => range.lo.clone(),
                    1 => range.hi.clone(),
                    _ => &range.lo + BigInt::from(rng.word()) * (&range.hi - &range.lo + 1) / (BigInt::from(1) << 64),
                })
                .collect();
            golden(a, &codes, LookupMiss::Zero).ok() != golden(b, &codes, LookupMiss::Zero).ok()
        })
    }

    /// Proves or refutes that two small programs with one output are equal, by evaluation for all inputs in their
    /// ranges. Returns `None` if there are too many inputs, or if the evaluation would take more than `most` ticks.
    pub(super) fn tried(&mut self, a: &Model, b: &Model, ranges: &[Range], most: u64) -> Option<bool> {
        let sizes: Vec<u64> =
            ranges.iter().map(|range| u64::try_from(&range.hi - &range.lo + 1).ok()).collect::<Option<_>>()?;
        let all = sizes.iter().try_fold(1u64, |all, size| all.checked_mul(*size))?;
        if all > MOST_INPUTS {
            return None;
        }
        let operations = (a.nodes().len() + b.nodes().len()) as u64;
        let ticks = PLAN * operations + all * (operations + 8 * ranges.len() as u64) / EVALUATED;
        if ticks > self.left.min(most) || [a, b].iter().any(|model| model.output_kif(0).width() > 62) {
            return None;
        }
        let low: Vec<i64> = ranges.iter().map(|range| i64::try_from(&range.lo).ok()).collect::<Option<_>>()?;
        self.spend(ticks);
        let plans = [a, b]
            .map(|model| Plan::new(model, PlanOptions { lookup_miss: LookupMiss::Zero, ..PlanOptions::default() }));
        let mut at = vec![0u64; sizes.len()];
        let mut ends = (i64::MAX, i64::MIN);
        let (mut codes, mut left) = (Vec::new(), all);
        while left > 0 {
            let rows = left.min(BLOCK);
            codes.clear();
            for _ in 0..rows {
                codes.extend(at.iter().zip(&low).map(|(at, low)| low + *at as i64));
                for (digit, size) in at.iter_mut().zip(&sizes) {
                    *digit += 1;
                    if *digit < *size {
                        break;
                    }
                    *digit = 0;
                }
            }
            let mut found = [vec![0i64; rows as usize], vec![0i64; rows as usize]];
            for (plan, found) in plans.iter().zip(&mut found) {
                if !plan.runner().run_codes(&codes, found).is_empty() {
                    return None;
                }
            }
            if found[0] != found[1] {
                return Some(false);
            }
            ends = found[1].iter().fold(ends, |(lo, hi), code| (lo.min(*code), hi.max(*code)));
            left -= rows;
        }
        self.ends = Some(ends);
        self.count_exhaustive(a);
        Some(true)
    }

    /// Proves or refutes interval by interval that two small programs with one input and one output are equal. Returns
    /// `None` if the comparison takes more than `most` ticks.
    pub(super) fn by_pieces(&mut self, a: &Model, b: &Model, ranges: &[Range], most: u64) -> Option<bool> {
        let [range] = ranges else { return None };
        let all = (i128::try_from(&range.lo).ok()?, i128::try_from(&range.hi).ok()?);
        let (found, spent) = pieces::compare(a, b, all, self.left.min(most));
        self.spend(spent);
        match found {
            Comparison::Equal((lo, hi)) => {
                self.ends = i64::try_from(lo).ok().zip(i64::try_from(hi).ok());
                self.count_exhaustive(a);
                Some(true)
            }
            Comparison::Different => Some(false),
            Comparison::Undecided => None,
        }
    }

    /// Adds the bits of a small program's output to the counts of exhaustive proofs.
    fn count_exhaustive(&mut self, model: &Model) {
        let bits = u64::from(model.output_kif(0).width());
        self.counts.exhaustive += bits;
        self.counts.tried += bits;
    }

    /// Runs a method that decides a lemma.
    fn traced(&mut self, method: &str, run: impl FnOnce(&mut Self) -> Option<bool>) -> Option<bool> {
        let before = self.spent;
        let result = |&(equal, spent): &(Option<bool>, u64)| (equal == Some(true), spent);
        traced(method, result, || (run(self), self.spent - before)).0
    }

    /// Proves two small programs equal within `ticks`; the second result is `true` if they are proved equal.
    pub(super) fn equal(&mut self, a: &Model, b: &Model, ticks: u64) -> (Report, bool) {
        self.spend(BUILD * (a.nodes().len() + b.nodes().len()) as u64);
        let request = Request { work: Some(ticks.min(self.left)), progress: None, ..self.request.clone() };
        let (report, mut e) =
            traced("lemma as RTL", equiv::decision, || equiv::prove(a, &program::rtl(b, a), &request, (self.solver)()));
        self.spend(e.spent);
        let equal = report.verdict == Verdict::Proved;
        if equal {
            self.counts.add(&e.counts);
            self.questions.append(&mut e.questions);
        }
        (report, equal)
    }
}

/// Returns the classes of the first program that may be affine images of class `own`: they depend only on the one value
/// that determines `own`, and the sampled values agree. Samples of this value are more useful than those of the
/// program's inputs, for which a value deep inside a program is often constant.
pub(super) fn neighbours(numbering: &Numbering<'_>, own: u32, spending: &mut Spending<'_>) -> Vec<(u32, Affine)> {
    let none = FxHashSet::default();
    let port_of = |class: u32| match numbering.window_over(&[class], 0, NEAR, &none)?.ports[..] {
        [port] if port != class => Some(port),
        _ => None,
    };
    let Some(port) = port_of(own) else { return Vec::new() };
    let (mut near, mut at) = (vec![port], 0);
    while at < near.len() && near.len() < NEAR {
        for &reader in numbering.readers.get(&near[at]).map_or(&[][..], Vec::as_slice) {
            if !near.contains(&reader) && (near.len() < NEAR) && port_of(reader) == Some(port) {
                near.push(reader);
            }
        }
        at += 1;
    }
    near.push(own);
    near.remove(0);
    let Some(window) = numbering.window_over(&near, 0, WINDOW, &none) else { return Vec::new() };
    let root = |class: &u32| {
        let kif = numbering.classes[*class as usize].range.kif()?;
        Some(Root { class: Some(*class), neg: false, shift: 0, affine: None, kif })
    };
    let roots: Option<Vec<Root<'_>>> = near.iter().map(root).collect();
    let Some(roots) = roots else { return Vec::new() };
    let Some(model) = numbering.statement(&window, &roots, false) else { return Vec::new() };
    let Some(range) = numbering.input(port).0.at_kif() else { return Vec::new() };
    spending.spend(TRIAL * LOCAL * model.nodes().len() as u64);
    let mut all: Vec<Shown> = Vec::with_capacity(near.len());
    for sample in 0..LOCAL {
        let code = &range.lo + (&range.hi - &range.lo) * sample / (LOCAL - 1);
        let Ok(found) = golden(&model, &[code], LookupMiss::Zero) else { return Vec::new() };
        for (at, code) in found.iter().enumerate() {
            match all.get_mut(at) {
                Some(shown) => shown.add(code),
                None => all.push(Shown::new(code.clone(), roots[at].kif)),
            }
        }
    }
    all.iter_mut().for_each(Shown::finish);
    let Some(own) = all.pop() else { return Vec::new() };
    let same = |(class, shown): (u32, Shown)| {
        (shown.direction == own.direction).then(|| own.as_image_of(&shown).map(|affine| (class, affine))).flatten()
    };
    near.into_iter().zip(all).filter_map(same).collect()
}

/// Returns the candidate of which class `own` is proved to be an affine image. `lemma` is the budget of one lemma in
/// ticks, `lemmas` the value of [`Spending::spent`] at which the search ends.
pub(super) fn partner(
    numbering: &Numbering<'_>,
    candidates: Vec<(u32, Affine)>,
    own: u32,
    (lemma, lemmas): (u64, u64),
    spending: &mut Spending<'_>,
) -> Option<(u32, Affine)> {
    // Candidates with fewer inputs are more likely; among equals, the first.
    let mut candidates: Vec<(usize, (u32, Affine))> = candidates
        .into_iter()
        .map(|found| {
            let window = numbering.window_over(&[found.0, own], 0, NEAR, &FxHashSet::default());
            (window.map_or(usize::MAX, |window| window.ports.len()), found)
        })
        .collect();
    candidates.sort_by_key(|(ports, _)| *ports);
    let candidates: Vec<(u32, Affine)> = candidates.into_iter().take(CANDIDATES.0).map(|(_, found)| found).collect();
    let mut sizes = vec![0; candidates.len()];
    // First use the nearest known values of one of the two as inputs, however far the other one is from them.
    let ports_of = |class: u32| numbering.window(&[class], 0, WINDOW).map(|window| window.ports);
    let own_ports = ports_of(own);
    // A lemma refuted over the nearest values may hold over more distant ones, but seldom does.
    let crossed = if lemma <= NEAR_ONLY { &CROSSED[..1] } else { &CROSSED[..] };
    let cuts = [None, None].into_iter().chain(crossed.iter().copied().map(Some)).enumerate();
    for (way, crossed) in cuts {
        let window = |(at, (class, _)): (usize, &(u32, Affine))| {
            let roots = [*class, own];
            let window = match (crossed, way) {
                (Some(crossed), _) => numbering.window(&roots, crossed, WINDOW)?,
                (None, 0) => numbering.window_to(&roots, own_ports.as_ref()?, NEAR)?,
                (None, _) => numbering.window_to(&roots, &ports_of(*class)?, NEAR)?,
            };
            Some((at, window))
        };
        let mut windows: Vec<(usize, Window)> = candidates.iter().enumerate().filter_map(window).collect();
        windows.retain(|(at, window)| std::mem::replace(&mut sizes[*at], window.inner.len()) != window.inner.len());
        // Candidates with fewer inputs are more likely.
        windows.sort_by_key(|(_, window)| window.ports.len());
        let mut proofs = CANDIDATES.1;
        for (at, window) in windows {
            if spending.spent >= lemmas {
                return None;
            }
            let (class, affine) = &candidates[at];
            let Some(kif) = numbering.root_kif((*class, affine), own) else { continue };
            let root = |class, affine| Root { class: Some(class), neg: false, shift: 0, affine, kif };
            let roots = [root(*class, (!affine.is_identity()).then_some(affine)), root(own, None)];
            if are_equal(numbering, &window, roots, lemma, spending, &mut proofs) {
                return Some((*class, affine.clone()));
            }
        }
    }
    None
}

/// Returns `true` if lemmas prove that a class is constant: `number` for every input.
pub(super) fn is_constant(
    numbering: &Numbering<'_>,
    class: u32,
    number: &Range,
    lemma: u64,
    spending: &mut Spending<'_>,
) -> bool {
    let kif = numbering.classes[class as usize].range.hull(number).and_then(|range| range.kif());
    let Some(kif) = kif else { return false };
    let affine = Affine { neg: false, shift: 0, plus: number.clone() };
    let root = |class, affine| Root { class, neg: false, shift: 0, affine, kif };
    let (mut size, mut proofs) = (0, CANDIDATES.1);
    CROSSED.iter().any(|&crossed| {
        let window = numbering.window(&[class], crossed, WINDOW);
        let Some(window) = window.filter(|window| std::mem::replace(&mut size, window.inner.len()) != size) else {
            return false;
        };
        let roots = [root(None, Some(&affine)), root(Some(class), None)];
        are_equal(numbering, &window, roots, lemma, spending, &mut proofs)
    })
}

/// Returns `true` if a lemma proves that two classes, or affine images of them, are equal.
fn are_equal(
    numbering: &Numbering<'_>,
    window: &Window,
    roots: [Root<'_>; 2],
    lemma: u64,
    spending: &mut Spending<'_>,
    proofs: &mut usize,
) -> bool {
    spending.ends = None;
    let statements = |clamped| {
        let [first, second] = roots.map(|root| numbering.statement(window, &[root], clamped));
        Some((first?, second?))
    };
    let Some((first, second)) = statements(false) else { return false };
    let ranges: Option<Vec<Range>> = window.ports.iter().map(|&port| numbering.input(port).0.at_kif()).collect();
    let Some(ranges) = ranges else { return false };
    if spending.differ(&first, &second, &ranges) {
        return false;
    }
    if let Some(equal) = spending
        .traced("lemma for all inputs", |s| s.tried(&first, &second, &ranges, TRIED * lemma))
        .or_else(|| spending.traced("lemma by intervals", |s| s.by_pieces(&first, &second, &ranges, TRIED * lemma)))
    {
        return equal;
    }
    if *proofs == 0 {
        return false;
    }
    *proofs -= 1;
    let holds = match spending.equal(&first, &second, lemma) {
        (_, true) => true,
        // The difference occurs only for values outside of an input's range: prove it with clamped inputs.
        (Report { verdict: Verdict::Differs { .. }, .. }, _) => {
            statements(true).is_some_and(|(first, second)| spending.equal(&first, &second, lemma).1)
        }
        _ => false,
    };
    spending.open += usize::from(!holds);
    holds
}
