//! Value-by-value comparison of two programs: detects the values that are the same number for every input.
//!
//! Values are numbered as in value numbering (Alpern, Wegman and Zadeck, POPL 1988, in its hashing form): equal
//! operations on operands of the same classes are one class. Operations are described over real numbers: sums are sets
//! of terms, and a type is omitted if intervals, which start at the types of the ports, prove that no value overflows
//! it or is rounded by it. A product with a constant is a sum, and a bitwise AND with a mask of ones is its other
//! operand. Rounded or rectified values are described by the sum before rounding ([`rounding`]). So a program that was
//! narrowed, reordered or shared has the same classes. Operations that a pass left unchanged are found first, by their
//! operands alone ([`common`]). If two programs differ, a value of the second is compared with a
//! value of the first that has the same samples. Such a lemma is proved over the nearest values that are known to be
//! equal, as free inputs. If it holds, the two classes become one, and their readers are equal without further lemmas.
//! A lemma is stronger than necessary, so a failed one proves nothing.
//!
//! Remaining outputs are compared over the same known values, and if that fails, as whole programs.

mod common;
mod numbering;
mod pieces;
mod range;
mod rounding;
mod samples;
mod statements;

use super::engine::Engine;
use super::equiv::{self, Report, Request};
use super::program;
use super::progress::traced;
use super::sat::Solvers;
use alir_core::ir::{Model, Output, ValueId};
use num_traits::Zero;
use numbering::{Numbering, Root, TERMS};
use range::{Affine, Range};
use rustc_hash::{FxHashMap, FxHashSet};
use samples::Samples;
use statements::{NEAR_ONLY, Spending, is_constant, neighbours, partner};

/// Budgets of one lemma in ticks, in successive rounds; values that are undecided after one round are tried again. Most
/// programs need no lemmas, and most lemmas take less than the second budget.
const ROUNDS: [u64; 4] = [0, NEAR_ONLY, 300_000, 3_000_000];
/// Factor of the budget for the proof obligation over the undecided outputs.
const OUTPUTS: u64 = 10;
/// Budget of all lemmas together in ticks: a constant, and an amount for each operation of both programs.
const LEMMAS: (u64, u64) = (400_000_000, 160_000);
/// Ticks for each operation, of numbering (.0), and of the comparison of samples (.1).
const NUMBERING: (u64, u64) = (100, 1_000);
/// Ticks for each operation of the search of operations that both programs have.
const COMMON: u64 = 10;

/// Proves or refutes that two programs are equal. Their ports have the same types. Only differences between the outputs
/// of the whole programs are reported.
pub fn prove(a: &Model, b: &Model, request: &Request, solver: Solvers<'_>) -> (Report, Engine) {
    let (found, mut engine) = prove_by_values(a, b, request, solver);
    if let Some(report) = found {
        return (report, engine);
    }
    let left = request.work.unwrap_or(super::engine::WORK).saturating_sub(engine.spent);
    let rest = Request { work: Some(left), latency: Some(0), ..request.clone() };
    let (mut report, mut whole) =
        traced("as whole programs", equiv::decision, || equiv::prove(a, &program::rtl(b, a), &rest, solver()));
    engine.counts.add(&report.bits);
    report.bits = engine.counts;
    engine.spent += whole.spent;
    engine.questions.append(&mut whole.questions);
    whole.spent = engine.spent;
    whole.questions = engine.questions;
    whole.counts = report.bits;
    (report, whole)
}

/// Proves that the second program equals the first, value by value; returns no report if some outputs are undecided.
/// The engine has the ticks and counts.
pub fn prove_by_values(a: &Model, b: &Model, request: &Request, solver: Solvers<'_>) -> (Option<Report>, Engine) {
    let request = Request { latency: Some(0), ..request.clone() };
    let mut spending = Spending::new(&request, solver, request.work.unwrap_or(super::engine::WORK));
    let (report, _) = traced(
        "by values",
        |(report, spent): &(Option<Report>, u64)| (report.is_some(), *spent),
        || (by_values(a, b, &mut spending), spending.spent),
    );
    let mut engine = Engine::new(solver());
    engine.spent = spending.spent;
    engine.questions = spending.questions;
    engine.counts = spending.counts;
    (report, engine)
}

/// Facts about the second program's values before a round.
#[derive(Default)]
struct Known {
    /// Values of the first program that are the same operation on the same values, for each value of the second.
    common: Vec<Option<ValueId>>,
    /// Values that were proved to be affine images of values of the first program.
    images: FxHashMap<ValueId, (ValueId, Affine)>,
    /// Ranges of values of the first program for all inputs of a lemma.
    ranges: FxHashMap<ValueId, Range>,
    /// Values for which lemmas are tried; `None` for all.
    wanted: Option<FxHashSet<ValueId>>,
    samples: Option<Samples>,
}

/// Computes the classes of all values of both programs. Each lemma takes at most `lemma` ticks; no lemma starts after
/// `lemmas` ticks are spent.
fn numbered<'a>(
    [a, b]: [&'a Model; 2],
    known: &mut Known,
    (lemma, lemmas): (u64, u64),
    spending: &mut Spending<'_>,
) -> Numbering<'a> {
    let operations = (a.nodes().len() + b.nodes().len()) as u64;
    spending.spend(NUMBERING.0 * operations);
    // The second program may have more terms, so that it has those of the first if it is similar.
    let most_terms = (TERMS.1.0 + TERMS.1.1 * a.nodes().len()).min(TERMS.1.2);
    let most_terms = [most_terms, 2 * most_terms];
    let mut numbering = Numbering {
        programs: [a, b],
        classes: Vec::new(),
        keys: FxHashMap::default(),
        rounded: FxHashMap::default(),
        finer: FxHashMap::default(),
        tables: FxHashMap::default(),
        writes_counts: numbering::words(a) != numbering::words(b),
        of: [Vec::with_capacity(a.nodes().len()), Vec::with_capacity(b.nodes().len())],
        directions: FxHashMap::default(),
        terms: most_terms,
        shapes: most_terms,
        narrower: FxHashMap::default(),
        readers: FxHashMap::default(),
    };
    for id in a.ids() {
        let class = numbering.known(0, id).unwrap_or_else(|new| {
            let new = *new;
            let mut range = new.range.clone();
            if let Some(seen) = known.ranges.get(&id) {
                range = range.meet(seen);
            }
            let class = numbering.class(Some((0, id)), range);
            numbering.describe(class, &new);
            numbering.keys.insert(new.key, class);
            numbering.shape(class, new.shape);
            class
        });
        numbering.enter(0, id, class);
    }
    for class in 0..numbering.classes.len() as u32 {
        for operand in numbering.operands(class) {
            numbering.readers.entry(operand).or_default().push(class);
        }
    }
    for id in b.ids() {
        if let Some(same) = known.common.get(id.index()).copied().flatten() {
            let class = numbering.of[0][same.index()];
            numbering.enter(1, id, class);
            continue;
        }
        let class = match numbering.known(1, id) {
            Ok(class) => class,
            Err(new) => {
                let new = *new;
                let range = new.range.clone();
                let own = numbering.class(Some((1, id)), range.clone());
                numbering.describe(own, &new);
                // An equal sum of the same values needs no lemma.
                let is_known = numbering.classes[own as usize].image.as_ref().is_some_and(|(base, _)| {
                    let base = &numbering.classes[*base as usize];
                    base.shared || base.def.is_none_or(|(side, _)| side == 0)
                });
                let is_wanted = lemma > 0 && known.wanted.as_ref().is_none_or(|wanted| wanted.contains(&id));
                let mut found = known.images.get(&id).map(|(value, of)| (numbering.of[0][value.index()], of.clone()));
                if found.is_none() && !is_known && is_wanted && spending.spent < lemmas {
                    let samples = known.samples.get_or_insert_with(|| {
                        spending.spend(NUMBERING.1 * operations);
                        Samples::new(&numbering)
                    });
                    let near = neighbours(&numbering, own, spending);
                    found = partner(&numbering, near, own, (lemma, lemmas), spending)
                        .or_else(|| partner(&numbering, samples.like(id, &numbering), own, (lemma, lemmas), spending));
                    if let Some((class, affine)) = &found
                        && let Some((0, value)) = numbering.classes[*class as usize].def
                    {
                        known.images.insert(id, (value, affine.clone()));
                        if let Some((lo, hi)) = spending.ends
                            && let Some(kif) = numbering.root_kif((*class, affine), own)
                            && let seen = (Range { lo: lo.into(), hi: hi.into(), frac: i64::from(kif.frac) })
                            && let Some(before) = affine.before(&seen)
                        {
                            known.ranges.insert(value, before);
                        }
                    }
                }
                let class = match found {
                    Some((class, affine)) if affine.is_identity() => {
                        numbering.classes.pop();
                        let known = &mut numbering.classes[class as usize];
                        known.range = known.range.clone().meet(&range);
                        class
                    }
                    Some((class, affine)) => {
                        numbering.becomes(own, class, affine);
                        own
                    }
                    None => own,
                };
                numbering.keys.insert(new.key, class);
                numbering.shape(class, new.shape);
                class
            }
        };
        numbering.enter(1, id, class);
    }
    numbering
}

/// Returns the proof if all outputs are the same operations on the same values, which `common` contains; `None` if some
/// are not.
fn by_common_values(
    [a, b]: [&Model; 2],
    common: &[Vec<Option<ValueId>>; 2],
    spending: &mut Spending<'_>,
) -> Option<Report> {
    let root = |model: &Model, side: usize, j: usize| {
        let Output { source, shift, neg } = model.outputs()[j];
        let source = source.map(|value| common[side][value.index()]);
        (source != Some(None)).then(|| (source, shift, neg, model.output_kif(j)))
    };
    let is_same = |j: usize| root(a, 0, j) == root(b, 1, j) && root(b, 1, j).is_some();
    if !(0..a.outputs().len()).all(is_same) {
        return None;
    }
    spending.counts.structural += (0..a.outputs().len()).map(|j| u64::from(a.output_kif(j).width())).sum::<u64>();
    let operations_matched = common[1].iter().flatten().count() as u64;
    Some(Report { operations_matched, bits: spending.counts, ..equiv::Report::before(0) })
}

/// Returns the proof by values; `None` if it fails.
fn by_values(a: &Model, b: &Model, spending: &mut Spending<'_>) -> Option<Report> {
    let operations = (a.nodes().len() + b.nodes().len()) as u64;
    spending.spend(COMMON * operations);
    let common = common::common_values([a, b]);
    if let Some(report) = by_common_values([a, b], &common, spending) {
        return Some(report);
    }
    let [_, common] = common;
    let lemmas = spending.spent + (LEMMAS.0 + LEMMAS.1 * operations).min(spending.left / 5);
    let mut known = Known { common, ..Known::default() };
    let mut rounds = ROUNDS.into_iter();
    let mut lemma = rounds.next()?;
    loop {
        let before = (known.images.len(), known.ranges.len());
        spending.open = 0;
        let numbering = numbered([a, b], &mut known, (lemma, lemmas), spending);
        let (open, bits) = open_outputs(&numbering);
        let mut report = equiv::Report::before(0);
        if !open[0].is_empty() && lemma == 0 {
            known.wanted = Some(unknown(&numbering));
            lemma = rounds.next()?;
            continue;
        }
        if !open[0].is_empty() {
            let roots: Vec<u32> = open.iter().flatten().filter_map(|root| root.class).collect();
            let window = numbering.window(&roots, 0, usize::MAX)?;
            let statements = [0, 1].map(|side| numbering.statement(&window, &open[side], false));
            let [Some(first), Some(second)] = statements else { return None };
            let (found, equal) = spending.equal(&first, &second, OUTPUTS * lemma);
            if !equal {
                if spending.spent >= lemmas {
                    return None;
                }
                // New results allow other lemmas; without new results the lemmas need a larger budget.
                constants(&numbering, &open[0], &mut known, (lemma, lemmas), spending);
                let is_more = (known.images.len(), known.ranges.len()) != before;
                if !is_more && spending.open == 0 && lemma > NEAR_ONLY {
                    return None;
                }
                if !is_more || lemma == NEAR_ONLY {
                    lemma = rounds.next()?;
                }
                known.wanted = Some(unknown(&numbering));
                continue;
            }
            report = found;
        }
        spending.counts.structural += bits;
        let is_shared = |class: &&u32| numbering.classes[**class as usize].shared;
        report.operations_matched = numbering.of[1].iter().filter(is_shared).count() as u64;
        report.bits = spending.counts;
        return Some(report);
    }
}

/// Proves values of the first program to be constant, among those on which undecided outputs depend. An example is a
/// rectified sum that is never positive, which the other program may have removed.
fn constants(
    numbering: &Numbering<'_>,
    open: &[Root<'_>],
    known: &mut Known,
    (lemma, lemmas): (u64, u64),
    spending: &mut Spending<'_>,
) {
    let Some(samples) = &known.samples else { return };
    let is_open = |class: u32| {
        let found = &numbering.classes[class as usize];
        !numbering.is_constant(class) && matches!(found.def, Some((0, _)))
    };
    let mut left: Vec<u32> = open.iter().filter_map(|root| root.class).collect();
    let mut seen: FxHashSet<u32> = left.iter().copied().collect();
    let mut found: Vec<u32> = Vec::new();
    while let Some(class) = left.pop() {
        if let Some((0, id)) = numbering.classes[class as usize].def
            && is_open(class)
            && samples.shown[0].get(id.index()).is_some_and(|shown| shown.step.is_zero())
        {
            found.push(class);
        }
        left.extend(numbering.operands(class).into_iter().filter(|operand| seen.insert(*operand)));
    }
    // A value that is constant because an operand is constant needs no lemma.
    found.sort_unstable();
    let mut done: FxHashSet<u32> = FxHashSet::default();
    for class in found {
        let Some((_, id)) = numbering.classes[class as usize].def else { continue };
        let is_new = known.ranges.get(&id).is_none_or(|range| range.lo != range.hi);
        if spending.spent >= lemmas || !is_new || numbering.operands(class).iter().any(|operand| done.contains(operand))
        {
            continue;
        }
        let shown = &samples.shown[0][id.index()];
        let number = Range { lo: shown.first.clone(), hi: shown.first.clone(), frac: shown.frac };
        if is_constant(numbering, class, &number, lemma, spending) {
            known.ranges.insert(id, number);
            done.insert(class);
        }
    }
}

/// Returns the outputs of both programs that are not known to be equal, and the number of bits of all other outputs.
fn open_outputs<'r>(numbering: &Numbering<'_>) -> ([Vec<Root<'r>>; 2], u64) {
    let root = |side: usize, j: usize| {
        let model = numbering.programs[side];
        let output = &model.outputs()[j];
        let class = output.source.map(|v| numbering.representative(numbering.of[side][v.index()]));
        Root { class, neg: output.neg, shift: output.shift, affine: None, kif: model.output_kif(j) }
    };
    let (mut open, mut bits) = ([Vec::new(), Vec::new()], 0);
    for j in 0..numbering.programs[0].outputs().len() {
        let pair = [root(0, j), root(1, j)];
        let same = |[x, y]: [Root<'_>; 2]| (x.class, x.neg, x.shift, x.kif) == (y.class, y.neg, y.shift, y.kif);
        if same(pair) || pair[0].kif.is_zero() {
            bits += u64::from(pair[0].kif.width());
        } else {
            open[0].push(pair[0]);
            open[1].push(pair[1]);
        }
    }
    (open, bits)
}

/// Returns the values of the second program on which its undecided outputs depend, up to values that the first program
/// has too.
fn unknown(numbering: &Numbering<'_>) -> FxHashSet<ValueId> {
    let model = numbering.programs[1];
    let is_known = |class: u32| {
        let found = &numbering.classes[class as usize];
        let of_known = |(base, _): &(u32, Affine)| numbering.classes[*base as usize].shared;
        found.shared || numbering.is_constant(class) || found.image.as_ref().is_some_and(of_known)
    };
    let mut left: Vec<ValueId> = model.outputs().iter().filter_map(|output| output.source).collect();
    let mut unknown = FxHashSet::default();
    while let Some(value) = left.pop() {
        if !is_known(numbering.of[1][value.index()]) && unknown.insert(value) {
            left.extend(model.node(value).op.operands());
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::range::{Form, Range};
    use super::*;
    use crate::equiv::Verdict;
    use crate::sat::Embedded;
    use alir_core::ir::{BinaryBits, Builder, Op, Table, draw_inputs};
    use alir_core::num::{Code, Interval, Kif, SplitMix};
    use alir_interp::{LookupMiss, Step, golden, golden_steps};
    use alir_opt::passes::{self, Trust};
    use alir_testing::random::{Profile, Recipe, choices, with_a_sum_for_a_difference};
    use num_bigint::BigInt;
    use num_traits::Zero;

    /// Returns the number of each value for one input, as raw integer value and binary point.
    fn numbers(model: &Model, codes: &[BigInt]) -> Vec<(BigInt, i64)> {
        let mut all = Vec::new();
        golden_steps(model, codes, LookupMiss::Zero, |step| {
            if let Step::Op { id, code, .. } = step {
                all.push((code.clone(), i64::from(model.kif(id).frac)));
            }
        })
        .expect("lookups outside of tables read zero");
        all
    }

    /// Checks images, sums and overflowing sums for one input, except those of values that no program has.
    fn relations_hold(numbering: &Numbering<'_>, of_class: &FxHashMap<u32, (BigInt, i64)>, seed: u64) {
        // All numbers in units of 2^-300, so that none is rounded.
        const UNIT: i64 = 300;
        let moved = |number: &BigInt, frac: i64| number << (UNIT - frac);
        let number = |class: u32| -> Option<BigInt> {
            let found = &numbering.classes[class as usize];
            if found.range.lo == found.range.hi {
                return Some(moved(&found.range.lo, found.range.frac));
            }
            of_class.get(&class).map(|(code, frac)| moved(code, *frac))
        };
        let sum = |form: &Form| -> Option<BigInt> {
            let mut sum = moved(&form.constant.into(), 0);
            for (class, count) in &form.terms {
                sum += number(*class)? * count;
            }
            Some(if form.frac >= 0 { sum >> form.frac } else { sum << -form.frac })
        };
        for (class, found) in (0..).zip(&numbering.classes) {
            let Some(own) = number(class) else { continue };
            if let Some(found) = found.form.as_ref().and_then(|form| sum(form)) {
                assert_eq!(own, found, "seed {seed}: class {class} as a sum");
            }
            if let Some((form, lost)) = &found.wrapped
                && let Some(sum) = sum(form)
            {
                let unit = BigInt::from(1) << (UNIT + lost);
                assert!(((own.clone() - sum) % unit).is_zero(), "seed {seed}: class {class} overflows");
            }
            for rounded in [&found.rounded, &found.floor].into_iter().flatten() {
                let Some(sum) = sum(&rounded.form) else { continue };
                let mut code = sum >> (UNIT - rounded.frac);
                if rounded.rectified {
                    code = code.max(BigInt::zero());
                }
                if let Some(range) = &rounded.range {
                    let number = (&code + rounded.plus) << (UNIT - rounded.frac);
                    let (lo, hi) = (moved(&range.lo, range.frac), moved(&range.hi, range.frac));
                    assert!(lo <= number && number <= hi, "seed {seed}: {rounded:?}");
                }
                let more = own.clone() - ((code + rounded.plus) << (UNIT - rounded.frac));
                match rounded.lost {
                    Some(lost) => {
                        assert!((more % (BigInt::from(1) << (UNIT + lost))).is_zero(), "seed {seed}: {rounded:?}")
                    }
                    None => assert!(more.is_zero(), "seed {seed}: class {class} is not {rounded:?}"),
                }
            }
            if let Some((narrower, kif)) = numbering.narrower.get(&class)
                && let Some(narrower) = number(*narrower)
            {
                let least = moved(&kif.min_code(), i64::from(kif.frac));
                let all = BigInt::from(1) << (UNIT + i64::from(kif.int) + i64::from(kif.signed));
                let wrapped = ((narrower - &least) % &all + &all) % &all + least;
                assert_eq!(own, wrapped, "seed {seed}: class {class} from one with fewer values");
            }
            if let Some((base, affine)) = &found.image
                && let Some(base) = number(*base)
            {
                let scaled = if affine.shift >= 0 { base << affine.shift } else { base >> -affine.shift };
                let scaled = if affine.neg { -scaled } else { scaled };
                assert_eq!(
                    own,
                    scaled + moved(&affine.plus.lo, affine.plus.frac),
                    "seed {seed}: class {class} as an image"
                );
            }
        }
    }

    /// Returns the classes of two programs after a check with the reference interpreter, for 40 inputs: all values of a
    /// class are the same number, in the range of the class, and have the relations of the class to other classes.
    fn numbered_correctly<'a>([a, b]: [&'a Model; 2], seed: u64) -> Numbering<'a> {
        let [_, common] = common::common_values([a, b]);
        numbered_over([a, b], common, seed);
        numbered_over([a, b], Vec::new(), seed)
    }

    /// Like [`numbered_correctly`], for these common values.
    fn numbered_over<'a>([a, b]: [&'a Model; 2], common: Vec<Option<ValueId>>, seed: u64) -> Numbering<'a> {
        let request = Request { latency: Some(0), ..Request::default() };
        let solver: Solvers<'_> = &|| Box::new(Embedded);
        let mut spending = Spending::new(&request, solver, 1 << 32);
        let mut known = Known { common, ..Known::default() };
        let numbering = numbered([a, b], &mut known, (3_000_000, 1 << 32), &mut spending);
        let mut rng = SplitMix::new(seed);
        for _ in 0..40 {
            let codes = draw_inputs(a, &mut rng);
            let mut of_class: FxHashMap<u32, (BigInt, i64)> = FxHashMap::default();
            for (side, model) in [a, b].into_iter().enumerate() {
                for (&class, (code, frac)) in numbering.of[side].iter().zip(numbers(model, &codes)) {
                    let range = &numbering.classes[class as usize].range;
                    let (first, at) = of_class.entry(class).or_insert((code.clone(), frac));
                    let most = frac.max(*at).max(range.frac);
                    assert_eq!(&code << (most - frac), &*first << (most - *at), "seed {seed}, class {class}");
                    let own = range.at(most).expect("near");
                    let number = code << (most - frac);
                    assert!(own.lo <= number && number <= own.hi, "seed {seed}: {number} in {range:?}");
                    assert_eq!(number & ((BigInt::from(1) << (most - range.frac)) - 1), BigInt::ZERO, "seed {seed}");
                }
            }
            relations_hold(&numbering, &of_class, seed);
        }
        numbering
    }

    /// Numbers random and mutated programs together with the programs after passes. All values of a class have the same
    /// number by the reference interpreter, within the range of the class.
    #[test]
    fn values_of_a_class_are_the_same_number() {
        let (mut shared, mut all) = (0, 0);
        let (mut images, mut sums, mut wrapped, mut rounded, mut rectified) = (0, 0, 0, 0, 0);
        // The last seed has an overflowing sum over another overflowing sum, without any terms after expansion.
        for seed in alir_testing::seeds(0..90).chain([20_049]) {
            let profile = if seed % 3 == 0 { Profile::TINY } else { Profile::SMALL };
            let a = Recipe::seeded(profile, 30, seed).build();
            let from = if seed % 5 == 0 { with_a_sum_for_a_difference(&a).unwrap_or(a.clone()) } else { a.clone() };
            let names = passes::pipeline(2);
            let b = names[..1 + seed as usize % names.len()]
                .iter()
                .filter_map(|name| passes::find(name))
                .fold(from, |model, pass| pass.apply(&model, Trust::Types));
            let numbering = numbered_correctly([&a, &b], seed);
            for class in &numbering.classes {
                images += usize::from(class.image.is_some());
                sums += usize::from(class.form.as_ref().is_some_and(|form| form.terms.len() > 1));
                wrapped += usize::from(class.wrapped.is_some());
                rounded += usize::from(class.rounded.as_ref().is_some_and(|of| !of.rectified));
                rectified += usize::from(class.rounded.as_ref().is_some_and(|of| of.rectified));
            }
            all += b.nodes().len();
            shared += numbering.of[1].iter().filter(|&&class| numbering.classes[class as usize].shared).count();
        }
        assert!(shared * 2 > all, "{shared} of {all} values are known to be the same");
        assert!(
            images > 100 && sums > 100 && wrapped > 20 && rounded > 100 && rectified > 20,
            "{images} images, {sums} sums, {wrapped} that overflow, {rounded} rounded, {rectified} rectified"
        );
    }

    /// A lemma that is tried for all inputs holds if and only if the reference interpreter confirms each input.
    #[test]
    fn trying_all_inputs_is_what_the_golden_interpreter_says() {
        let (mut equal, mut different) = (0, 0);
        for seed in 0..120u64 {
            let kif = |signed, width: i32, frac| Kif { signed, int: width - i32::from(signed) - frac, frac };
            let mut rng = SplitMix::new(seed);
            let types = [kif(seed % 2 == 0, 4, 1), kif(seed % 3 == 0, 3, 0)];
            let program = |second: bool| {
                let mut builder = Builder::new(vec![0; 2]);
                let [x, y] = [0, 1].map(|at| builder.op(Op::Input { input: at as u32 }, Interval::full(types[at])));
                let value = Code::from(&BigInt::from(3 + i32::from(second && seed % 4 == 1)));
                let a = builder.op(Op::AddConst { x, value, shift: 1 }, Interval::full(kif(true, 7, 2)));
                // Without the sign bit of the sum the second program differs, unless no sum is negative.
                let sum =
                    builder.op(Op::Add { a, b: y, shift: 0 }, Interval::full(kif(!second || seed % 4 == 2, 8, 2)));
                let out = builder.op(Op::Relu { x: sum }, Interval::full(kif(false, 8, 2)));
                builder.output(Output { source: Some(out), shift: 0, neg: false });
                builder.finish().expect("a program")
            };
            let (a, b) = (program(false), program(true));
            let ranges = types.map(|kif| {
                let all = Range::from_kif(kif);
                let lo = &all.lo + BigInt::from(rng.below(3));
                Range { hi: &all.hi - BigInt::from(rng.below(3)), lo, frac: all.frac }
            });
            let mut outputs = Vec::new();
            let mut golden_equal = true;
            let mut x = ranges[0].lo.clone();
            while x <= ranges[0].hi {
                let mut y = ranges[1].lo.clone();
                while y <= ranges[1].hi {
                    let codes = [x.clone(), y.clone()];
                    let run = |model| golden(model, &codes, LookupMiss::Zero).expect("no lookups").swap_remove(0);
                    golden_equal &= run(&a) == run(&b);
                    outputs.push(run(&b));
                    y += 1;
                }
                x += 1;
            }
            let request = Request::default();
            let solver: Solvers<'_> = &|| Box::new(Embedded);
            let mut spending = Spending::new(&request, solver, 1 << 32);
            assert_eq!(spending.tried(&a, &b, &ranges, 1 << 32), Some(golden_equal), "seed {seed}");
            if golden_equal {
                let ends = spending.ends.map(|(lo, hi)| (BigInt::from(lo), BigInt::from(hi)));
                assert_eq!(ends, outputs.iter().min().cloned().zip(outputs.iter().max().cloned()), "seed {seed}");
                equal += 1;
            } else {
                different += 1;
            }
        }
        assert!(equal > 20 && different > 20, "{equal} equal, {different} different");
    }

    /// One program has another constant or table entry, and is compared with the results of passes. It is proved equal
    /// only if both agree on all tried inputs.
    #[test]
    fn another_constant_is_no_proof() {
        let (mut proved, mut refuted) = (0, 0);
        for seed in 0..80u64 {
            let a = Recipe::seeded(Profile::SMALL, 24, seed).build();
            let mut rng = SplitMix::new(seed);
            let Some(other) = with_another_constant(&a, &mut rng) else { continue };
            let b = passes::pipeline(2)
                .iter()
                .filter_map(|name| passes::find(name))
                .fold(other, |model, pass| pass.apply(&model, Trust::Types));
            let request = Request { work: Some(30_000_000), ..Request::default() };
            let (report, _) = prove(&a, &b, &request, &|| Box::new(Embedded));
            let differs = (0..300).any(|_| {
                let codes = draw_inputs(&a, &mut rng);
                golden(&a, &codes, LookupMiss::Zero).ok() != golden(&b, &codes, LookupMiss::Zero).ok()
            });
            assert!(!(differs && report.verdict == Verdict::Proved), "seed {seed}");
            proved += usize::from(report.verdict == Verdict::Proved);
            refuted += usize::from(differs);
        }
        assert!(proved > 3 && refuted > 20, "{proved} proved, {refuted} refuted");
    }

    /// A program is proved equal to itself without value numbering; one with another constant or table is not.
    #[test]
    fn common_values_are_the_same_number() {
        let (mut equal, mut other) = (0, 0);
        let request = Request::default();
        let solver: Solvers<'_> = &|| Box::new(Embedded);
        for seed in 0..200u64 {
            let a = if seed % 4 == 0 { lookups(seed) } else { Recipe::seeded(Profile::SMALL, 24, seed).build() };
            let is_common = |b: &Model| {
                let common = common::common_values([&a, b]);
                by_common_values([&a, b], &common, &mut Spending::new(&request, solver, 1 << 32)).is_some()
            };
            assert!(is_common(&a), "seed {seed}");
            let mut rng = SplitMix::new(seed);
            let Some(b) = with_another_constant(&a, &mut rng) else { continue };
            let differs = (0..100).any(|_| {
                let codes = draw_inputs(&a, &mut rng);
                golden(&a, &codes, LookupMiss::Zero).ok() != golden(&b, &codes, LookupMiss::Zero).ok()
            });
            assert!(!(differs && is_common(&b)), "seed {seed}");
            if is_common(&b) {
                equal += 1
            } else {
                other += 1
            };
        }
        assert!(equal > 5 && other > 50, "{equal} equal, {other} other");
    }

    /// Returns a program that reads one of two random tables twice, and the other one once.
    fn lookups(seed: u64) -> Model {
        let mut rng = SplitMix::new(seed);
        let kif = Kif { signed: false, int: 3, frac: 0 };
        let mut builder = Builder::new(vec![0; 3]);
        let tables = [0, 1].map(|_| {
            let entries = (0..8).map(|_| rng.below(8) as i32).collect();
            builder.table(Table { entries, out: Interval::full(kif), hash: String::new(), inp_width: 3 })
        });
        for (input, table) in (0..).zip([tables[0], tables[1], tables[0]]) {
            let x = builder.op(Op::Input { input }, Interval::full(kif));
            let read = builder.op(Op::Lookup { x, table, base: Code::ZERO }, Interval::full(kif));
            builder.output(Output { source: Some(read), shift: 0, neg: false });
        }
        builder.finish().expect("a program")
    }

    /// Returns a program with 1 added to a constant or to an entry of a table.
    fn with_another_constant(model: &Model, rng: &mut SplitMix) -> Option<Model> {
        let is_constant = |id: &ValueId| matches!(model.node(*id).op, Op::Const { .. } | Op::AddConst { .. });
        let constants: Vec<ValueId> = model.ids().filter(is_constant).collect();
        let tables = model.tables().len() as u64;
        let chosen = rng.below(constants.len() as u64 + tables + u64::from(constants.is_empty() && tables == 0));
        let mut builder = Builder::like(model);
        builder.clear_tables();
        for (at, table) in (0..).zip(model.tables()) {
            let mut table = table.clone();
            if at + constants.len() as u64 == chosen {
                let entry = rng.below(table.entries.len() as u64) as usize;
                table.entries[entry] ^= 1;
            }
            builder.table(table);
        }
        for id in model.ids() {
            let mut node = model.node(id).clone();
            if let Op::Const { value } | Op::AddConst { value, .. } = &mut node.op
                && constants.get(chosen as usize) == Some(&id)
            {
                *value = Code::from(&(value.to_big() + 1));
            }
            builder.push(alir_core::ir::Node { interval: Interval::full(model.kif(id)), ..node });
        }
        for output in model.outputs() {
            builder.output(*output);
        }
        let same_ports = |other: &Model| (0..model.outputs().len()).all(|j| other.output_kif(j) == model.output_kif(j));
        builder.finish().ok().filter(same_ports)
    }

    /// A difference to the larger of two numbers, clipped, reads only half of a table, so the other half may differ. An
    /// example is a softmax with exponentials of differences to the maximum. The same holds for the smaller number.
    #[test]
    fn differences_to_the_larger_of_two_numbers_are_not_positive() {
        let kif = |signed, width: i32| Kif { signed, int: width - i32::from(signed), frac: 0 };
        let full = |signed, width| Interval::full(kif(signed, width));
        let program = |second: bool, (is_maximum, is_signed): (bool, bool), sees_all: bool| {
            let mut builder = Builder::new(vec![0; 3]);
            let entries = (0..16).map(|at| if (at < 9) == is_maximum || at == 8 || !second { at } else { 0 }).collect();
            let table = Table { entries, out: Interval::new(0, 15, 0), hash: String::new(), inp_width: 4 };
            let table = builder.table(table);
            let [x, y, z] = [0, 1, 2].map(|input| builder.op(Op::Input { input }, full(true, 40)));
            let choice = |builder: &mut Builder, a, b| {
                let mut cond = builder.op(Op::Sub { a, b, shift: 0 }, full(true, 41));
                if !is_signed {
                    // The top bit of this unsigned sum is set if the difference is not negative.
                    let value = Code::from(&(BigInt::from(1) << 40));
                    cond = builder.op(Op::AddConst { x: cond, value, shift: 0 }, full(false, 41));
                }
                let (on_true, on_false) = if is_maximum == is_signed { (b, a) } else { (a, b) };
                builder.op(Op::Mux { cond, on_true, on_false, shift: 0 }, full(true, 40))
            };
            let first = choice(&mut builder, x, y);
            let all = choice(&mut builder, first, z);
            let of = if sees_all { x } else { builder.op(Op::Neg { x: y }, full(true, 40)) };
            let difference = builder.op(Op::Sub { a: of, b: all, shift: 0 }, full(true, 41));
            let mut clipped = difference;
            for (most, value) in [(-8, -8), (8, 7)] {
                let by = Op::AddConst { x: clipped, value: Code::from(&BigInt::from(-most)), shift: 0 };
                let cond = builder.op(by, full(true, 43));
                let end = builder.op(Op::Const { value: Code::from(&BigInt::from(value)) }, full(true, 5));
                let (on_true, on_false) = if most < 0 { (end, clipped) } else { (clipped, end) };
                let kif = full(true, if most < 0 { 42 } else { 4 });
                clipped = builder.op(Op::Mux { cond, on_true, on_false, shift: 0 }, kif);
            }
            let read = Op::Lookup { x: clipped, table, base: Code::from(&BigInt::from(-8)) };
            let out = builder.op(read, full(false, 4));
            builder.output(Output { source: Some(out), shift: 0, neg: false });
            builder.finish().expect("a program")
        };
        for choice in [(true, true), (false, true), (true, false), (false, false)] {
            let found = |sees_all| {
                let (a, b) = (program(false, choice, sees_all), program(true, choice, sees_all));
                let (report, engine) = prove(&a, &b, &Request::default(), &|| Box::new(Embedded));
                (report.verdict, engine.counts.sat)
            };
            assert_eq!(found(true), (Verdict::Proved, 0), "{choice:?}");
            assert!(matches!(found(false).0, Verdict::Differs { .. }));
        }
    }

    /// Equalities that numbering alone proves: other operand orders, other types, shared values, constants.
    #[test]
    fn programs_that_say_the_same_otherwise_need_no_statement() {
        let kif = |signed, width: i32, frac| Kif { signed, int: width - i32::from(signed) - frac, frac };
        let program = |wide: bool| {
            let mut builder = Builder::new(vec![0; 2]);
            let x = builder.op(Op::Input { input: 0 }, Interval::full(kif(true, 8, 2)));
            let y = builder.op(Op::Input { input: 1 }, Interval::full(kif(false, 6, 0)));
            let more = i32::from(wide) * 3;
            let sum = match wide {
                true => Op::Add { a: y, b: x, shift: 0 },
                false => {
                    Op::Sum { terms: [x, y].map(|value| alir_core::ir::Term { value, shift: 0, neg: false }).into() }
                }
            };
            let sum = builder.op(sum, Interval::full(kif(true, 10 + more, 2)));
            let rectified = builder.op(Op::Relu { x: sum }, Interval::full(kif(false, 9 + more, 2)));
            let again = match wide {
                true => builder.op(Op::Quantise { x: rectified, shift: 0 }, Interval::full(kif(false, 20, 2))),
                false => rectified,
            };
            let out = builder.op(Op::Mul { a: again, b: x }, Interval::full(kif(true, 17, 4)));
            builder.output(Output { source: Some(out), shift: 0, neg: false });
            builder.finish().expect("a program")
        };
        let (a, b) = (program(false), program(true));
        let request = Request::default();
        let (report, engine) = prove(&a, &b, &request, &|| Box::new(Embedded));
        assert_eq!(report.verdict, Verdict::Proved);
        assert_eq!((engine.counts.sat, engine.counts.exhaustive, engine.counts.affine), (0, 0, 0));
        assert!(engine.spent < 10_000, "{} units", engine.spent);
    }

    /// Bits are dropped at different positions, before or after other operations. The sums are equal by numbering or as
    /// integer forms.
    #[test]
    fn roundings_that_were_moved_need_no_solver() {
        let kif = |signed, width: i32, frac| Kif { signed, int: width - i32::from(signed) - frac, frac };
        let full = |kif| Interval::full(kif);
        let half = |x| Op::AddConst { x, value: Code::from(1), shift: 4 };
        // `max(x + y, 0)` rounded to nearest at three fractional bits, plus `z` with two fractional bits; three integer
        // bits of the sum are read.
        let program = |moved: bool| {
            let mut builder = Builder::new(vec![0; 3]);
            let [x, y, z] = [0, 1, 2]
                .map(|at| builder.op(Op::Input { input: at }, full(kif(true, 20 - 8 * at as i32, 9 - at as i32))));
            let sum = builder.op(Op::Add { a: x, b: y, shift: 0 }, full(kif(true, 22, 9)));
            let rounded = if moved {
                // The constant is added first, and no bits below the read places are computed.
                let sum = builder.op(half(sum), full(kif(true, 17, 3)));
                let sum = builder.op(Op::Relu { x: sum }, full(kif(false, 16, 3)));
                builder.op(Op::Quantise { x: sum, shift: 0 }, full(kif(false, 6, 3)))
            } else {
                let sum = builder.op(Op::Relu { x: sum }, full(kif(false, 21, 9)));
                let sum = builder.op(half(sum), full(kif(false, 22, 9)));
                builder.op(Op::Quantise { x: sum, shift: 0 }, full(kif(false, 13, 3)))
            };
            let width = if moved { 6 } else { 20 };
            let all = builder.op(Op::Add { a: rounded, b: z, shift: 0 }, full(kif(!moved, width + 4, 7)));
            let out = builder.op(Op::Quantise { x: all, shift: 0 }, full(kif(false, 5, 2)));
            builder.output(Output { source: Some(out), shift: 0, neg: false });
            builder.finish().expect("a program")
        };
        let (a, b) = (program(false), program(true));
        let mut rng = SplitMix::new(7);
        for _ in 0..500 {
            let codes = draw_inputs(&a, &mut rng);
            assert_eq!(golden(&a, &codes, LookupMiss::Zero), golden(&b, &codes, LookupMiss::Zero));
        }
        let (report, engine) = prove(&a, &b, &Request::default(), &|| Box::new(Embedded));
        assert_eq!(report.verdict, Verdict::Proved);
        assert_eq!((engine.counts.sat, engine.counts.exhaustive), (0, 0));
        assert!(engine.spent < 500_000, "{} units", engine.spent);
    }

    /// The upper and lower bits of `x`, the latter masked by ones, are added to `z`, and the sum is multiplied by a
    /// constant. `z` is read from the lower bits of its sum with the upper bits of `x`. In some programs the parts of
    /// `x` do not fit together.
    #[test]
    fn joined_parts_of_a_value_need_no_solver() {
        let kif = |signed, width: i32, frac| Kif { signed, int: width - i32::from(signed) - frac, frac };
        let full = |kif| Interval::full(kif);
        let (mut equal, mut other) = (0, 0);
        for seed in 0..200 {
            let mut rng = SplitMix::new(seed);
            let (signed, width, frac) = (rng.below(2) == 0, 8 + rng.below(30) as i32, rng.below(6) as i32);
            let low = 1 + rng.below(6) as i32;
            let factor = 1 + rng.below(60) as i32;
            let factor = if rng.below(2) == 0 { -factor } else { factor };
            let (gap, is_masked_by_ones) = (i32::from(rng.below(4) == 0), rng.below(4) != 0);
            let program = |parts: bool| {
                let mut builder = Builder::new(vec![0; 2]);
                let (all, less) = (kif(signed, width, frac), kif(false, low, frac));
                let x = builder.op(Op::Input { input: 0 }, full(all));
                let z = builder.op(Op::Input { input: 1 }, full(less));
                let (x, z) = if parts {
                    let last = builder.op(Op::Quantise { x, shift: 0 }, full(less));
                    let ones = (1 << low) - 1 - i32::from(!is_masked_by_ones);
                    let mask = builder.op(Op::Const { value: Code::from(i64::from(ones)) }, full(less));
                    let and = Op::Binary { op: BinaryBits::And, a: last, b: mask, shift: 0 };
                    let last = builder.op(and, full(less));
                    let first = kif(signed, width - low - gap, frac - low - gap);
                    let first = builder.op(Op::Quantise { x, shift: 0 }, full(first));
                    let sum = builder.op(Op::Add { a: first, b: z, shift: 0 }, full(all));
                    let z = builder.op(Op::Quantise { x: sum, shift: 0 }, full(less));
                    (builder.op(Op::Add { a: first, b: last, shift: 0 }, full(all)), z)
                } else {
                    (x, z)
                };
                let value = builder.op(Op::Add { a: x, b: z, shift: 0 }, full(kif(true, width + 2, frac)));
                let number = builder.op(Op::Const { value: Code::from(i64::from(factor)) }, full(kif(true, 8, 2)));
                let product = kif(true, width + 10, frac + 2);
                let product = if parts {
                    builder.op(Op::Mul { a: number, b: value }, full(product))
                } else {
                    let bits = (0..6).filter(|bit| factor.unsigned_abs() >> bit & 1 == 1);
                    let term = |bit| alir_core::ir::Term { value, shift: bit - 2, neg: factor < 0 };
                    builder.op(Op::Sum { terms: bits.map(term).collect() }, full(product))
                };
                builder.output(Output { source: Some(product), shift: 0, neg: false });
                builder.finish().expect("a program")
            };
            let (a, b) = (program(false), program(true));
            let same = (0..200).all(|_| {
                let codes = draw_inputs(&a, &mut rng);
                crate::pair::difference((&a, &b), [codes.clone(), codes]).is_none()
            });
            assert_eq!(same, gap == 0 && is_masked_by_ones, "seed {seed}");
            // Rules for values of the first program are fewer, so each order is tried.
            for (first, second) in [(&a, &b), (&b, &a)] {
                let request = Request { work: Some(2_000_000), ..Request::default() };
                let (report, engine) = prove(first, second, &request, &|| Box::new(Embedded));
                assert_eq!(report.verdict == Verdict::Proved, same, "seed {seed}");
                let counts = &engine.counts;
                assert!(!same || (counts.sat, counts.exhaustive, counts.affine) == (0, 0, 0), "seed {seed}");
            }
            *if same { &mut equal } else { &mut other } += 1;
        }
        assert!(equal >= 50 && other >= 50, "{equal} equal, {other} not");
    }

    /// A rectified sum is truncated to a signed type before it is added to `z`. One program computes only those places
    /// of the rectified value on which the result depends. In some programs one more place is missing, top or last.
    #[test]
    fn rectified_values_with_fewer_places_need_no_solver() {
        let kif = |signed, int, frac| Kif { signed, int, frac };
        let full = |kif| Interval::full(kif);
        let (mut equal, mut other) = (0, 0);
        for seed in 0..200 {
            let mut rng = SplitMix::new(seed);
            let (int, frac) = (2 + rng.below(4) as i32, 2 + rng.below(6) as i32);
            let (top, more) = (int + 1 + rng.below(4) as i32, 2 + rng.below(5) as i32);
            // Places above and below those that are read.
            let (above, below) = match rng.below(4) {
                0 => (-1, rng.below(3) as i32),
                1 => (rng.below(3) as i32, -1),
                _ => (rng.below(3) as i32, rng.below(3) as i32),
            };
            let program = |few: bool| {
                let mut builder = Builder::new(vec![0; 3]);
                let wide = kif(true, top, frac + more);
                let [x, y] = [0, 1].map(|input| builder.op(Op::Input { input }, full(wide)));
                let z = builder.op(Op::Input { input: 2 }, full(kif(true, int, frac)));
                let sum = builder.op(Op::Add { a: x, b: y, shift: 0 }, full(kif(true, top + 1, frac + more)));
                // Half of the last place of the first program's truncated value.
                let half = |x| Op::AddConst { x, value: Code::from(1), shift: frac + 2 };
                let (value, place) = if few {
                    let sum = builder.op(half(sum), full(kif(true, top + 2, frac + more)));
                    let value = kif(false, int + 1 + above, frac + below);
                    (builder.op(Op::Relu { x: sum }, full(value)), frac)
                } else {
                    let sum = builder.op(Op::Relu { x: sum }, full(kif(false, top + 1, frac + more)));
                    (builder.op(half(sum), full(kif(false, top + 2, frac + more))), frac + 1)
                };
                let value = builder.op(Op::Quantise { x: value, shift: 0 }, full(kif(true, int, place)));
                let sum = builder.op(Op::Add { a: value, b: z, shift: 0 }, full(kif(true, int + 1, place)));
                let last = Op::AddConst { x: sum, value: Code::from(1), shift: frac };
                let sum = builder.op(last, full(kif(true, int + 2, place)));
                let out = builder.op(Op::Quantise { x: sum, shift: 0 }, full(kif(true, int, frac - 1)));
                builder.output(Output { source: Some(out), shift: 0, neg: false });
                builder.finish().expect("a program")
            };
            let (a, b) = (program(false), program(true));
            let same = (0..400).all(|_| {
                let codes = draw_inputs(&a, &mut rng);
                crate::pair::difference((&a, &b), [codes.clone(), codes]).is_none()
            });
            assert_eq!(same, above >= 0 && below >= 0, "seed {seed}");
            numbered_correctly([&a, &b], seed);
            let request = Request { work: Some(20_000_000), ..Request::default() };
            let (report, engine) = prove(&a, &b, &request, &|| Box::new(Embedded));
            assert_eq!(report.verdict == Verdict::Proved, same, "seed {seed}");
            let counts = &engine.counts;
            assert!(!same || (counts.sat, counts.exhaustive, counts.affine) == (0, 0, 0), "seed {seed}");
            *if same { &mut equal } else { &mut other } += 1;
        }
        assert!(equal >= 50 && other >= 50, "{equal} equal, {other} not");
    }

    /// A table over an unsigned value replaces a choice over the same bits in a signed type. Entries that no value
    /// reads are random; in some programs an entry that is read is wrong.
    #[test]
    fn entries_that_no_value_reads_need_no_solver() {
        let kif = |signed, int, frac| Kif { signed, int, frac };
        let full = |kif| Interval::full(kif);
        for seed in 0..100 {
            let mut rng = SplitMix::new(seed);
            let (int, more) = (2 + rng.below(3) as i32, 1 + rng.below(2) as i32);
            let (end, size) = (1i32 << int, 1i32 << (int + 1 + more));
            let is_wrong = seed % 2 == 1;
            let mut entries: Vec<i32> = (0..size).map(|_| rng.below(64) as i32).collect();
            for number in -end..end {
                entries[number.rem_euclid(size) as usize] = if number < 0 { 7 } else { number + 1 };
            }
            if is_wrong {
                let number = rng.below(2 * end as u64) as i32 - end;
                entries[number.rem_euclid(size) as usize] += 1;
            }
            let program = |is_table: bool| {
                let mut builder = Builder::new(vec![0; 2]);
                let [x, y] = [0, 1].map(|input| builder.op(Op::Input { input }, full(kif(true, int - 1, 40))));
                let unsigned = kif(false, int + 1 + more, 0);
                let word = builder.op(Op::Add { a: x, b: y, shift: 0 }, full(unsigned));
                let out = kif(false, 6, 0);
                let out = if is_table {
                    let out = Interval::full(out);
                    let table = Table {
                        entries: entries.clone(),
                        out,
                        hash: String::new(),
                        inp_width: i64::from(unsigned.width()),
                    };
                    let table = builder.table(table);
                    builder.op(Op::Lookup { x: word, table, base: Code::ZERO }, full(kif(false, 6, 0)))
                } else {
                    let signed = builder.op(Op::Quantise { x: word, shift: 0 }, full(kif(true, int + more, 0)));
                    let sum = Op::AddConst { x: signed, value: Code::from(1), shift: 0 };
                    let sum = builder.op(sum, full(kif(true, int + more, 0)));
                    let seven = builder.op(Op::Const { value: Code::from(7) }, full(kif(false, 3, 0)));
                    let choice = Op::Mux { cond: signed, on_true: seven, on_false: sum, shift: 0 };
                    builder.op(choice, full(out))
                };
                builder.output(Output { source: Some(out), shift: 0, neg: false });
                builder.finish().expect("a program")
            };
            let (a, b) = (program(false), program(true));
            numbered_correctly([&a, &b], seed);
            let request = Request { work: Some(20_000_000), ..Request::default() };
            let (report, engine) = prove(&a, &b, &request, &|| Box::new(Embedded));
            assert_eq!(report.verdict == Verdict::Proved, !is_wrong, "seed {seed}");
            assert!(is_wrong || (engine.counts.tried, engine.counts.sat) == (6, 0), "seed {seed}");
        }
    }

    /// A conditional negation that was moved into a sum: all signs of a tree of any size cancel.
    #[test]
    fn sums_of_choices_of_sign_are_multiplied_out() {
        let negated = |model: &Model| passes::run(model, &["signs", "dce", "demand", "ranges", "cse", "dce"]).0;
        for seed in 0..16 {
            let model = choices::program(seed);
            let request = Request { work: Some(20_000_000), ..Request::default() };
            let verdict = prove(&model, &negated(&model), &request, &|| Box::new(Embedded)).0.verdict;
            assert_eq!(verdict, Verdict::Proved, "seed {seed}");
        }
        let model = choices::magnitudes(33, 9);
        let (report, engine) = prove(&model, &negated(&model), &Request::default(), &|| Box::new(Embedded));
        assert_eq!((&report.verdict, engine.counts.sat), (&Verdict::Proved, 0));
    }
}
