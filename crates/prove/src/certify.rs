//! Generation of certificates for `alir2hdl-check`: a search for records over the checker's own gates.
//!
//! Programs are built value by value, as in the checker. Each bit of a value that is not yet a gate of the earlier
//! programs is compared with the literals that have the same samples: by all assignments of a few leaves, or by a SAT
//! query with a proof. An equality becomes a record, and the records are applied as in the checker, so that later
//! values are built over the same gates.

use super::engine::{CLAUSES, STEP};
use super::lrat::Lemma;
use super::sat;
use alir_core::ir::Model;
use alir_core::num::SplitMix;
use alir_formats::{self, Target};
use alir2hdl_check::certificate::{Certificate, HEAD, Place, Step};
use alir2hdl_check::clocks::{InputTiming, SampleTiming};
use alir2hdl_check::graph::{Graph, Lit};
use alir2hdl_check::induction::Induction;
use alir2hdl_check::machine::Machine;
use alir2hdl_check::program::{Image, Program, Type};
use alir2hdl_check::records::{MOST_LEAVES, Question, Reason, Record};
use alir2hdl_check::sums::Sum;
use alir2hdl_check::text::Text;
use alir2hdl_check::{AT_THE_END, Compared, Side, ValueCallback};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::hash::{Hash, Hasher};

/// Largest number of gates with equal samples that are compared with one bit.
const CANDIDATES: usize = 3;
/// Largest number of gates with equal samples that are compared over the values on which both gates depend.
const NEAR: usize = 64;
/// Largest number of leaves of an exhaustive comparison.
const LEAVES: usize = 12;
/// Largest number of leaves over which two gates are compared.
const FRONTIER: usize = 64;
/// Numbers of levels below two gates for successive comparisons; the last one covers all levels.
const LEVELS: [usize; 10] = [1, 2, 3, 4, 6, 9, 14, 25, 50, usize::MAX];
/// Number of levels from which on the SAT solver is queried if there are too many leaves for all assignments.
const ASKED: usize = 9;

/// Number of 64-bit words of sampled assignments.
const WORDS: usize = 8;
/// Largest number of passes that remove unused affine images from the records.
const REWRITTEN: usize = 4;
/// Budget of a repeated solver query, in solver steps.
const ASKED_AGAIN: u64 = 1_000_000;

/// Values of all gates for random assignments of the inputs.
#[derive(Clone)]
struct Samples {
    words: Vec<[u64; WORDS]>,
    random: SplitMix,
}

/// Seeds of the samples. The second one is tried if an output is undecided with the first, as unlucky samples can
/// mislead the search.
const SEEDS: [u64; 2] = [1, 2];

impl Samples {
    fn new(seed: u64) -> Samples {
        // Node 0 is the constant, node 1 the unknown bit.
        Samples { words: vec![[0; WORDS]; 2], random: SplitMix::new(seed) }
    }

    /// Computes the samples of all gates added since the last call.
    fn extend(&mut self, g: &Graph) {
        for node in self.words.len()..g.count() {
            let words = match g.created_from(node as u32) {
                Some((a, b)) => {
                    let (p, q) = (self.values(a), self.values(b));
                    std::array::from_fn(|i| p[i] & q[i])
                }
                None => std::array::from_fn(|_| self.random.word()),
            };
            self.words.push(words);
        }
    }

    fn values(&self, lit: Lit) -> [u64; WORDS] {
        self.words[lit.node()].map(|word| if lit.is_negated() { !word } else { word })
    }
}

/// Limits of one comparison of two gates.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// Number of gates of the cone.
    gates: usize,
    /// Number of solver steps.
    steps: u64,
}

/// Limits without the SAT solver.
const BY_TRIAL: Effort = Effort { gates: 1_500, steps: 0 };
/// Limits for one bit of a value.
const OF_VALUE: Effort = Effort { gates: 1_500, steps: 2_000 };
/// Limits for one bit of a value whose samples indicate an affine image of another value.
const OF_LIKE: Effort = Effort { gates: 3_000, steps: 20_000 };
/// Limits for one bit of an output.
const OF_OUTPUT: Effort = Effort { gates: 60_000, steps: 100_000 };
/// Limits of a proof step: number of solver steps, and number of visited gates.
const OF_STEP: (u64, u64) = (150_000, 100_000_000);

/// Sample signature of a value: its raw integer values for the sampled assignments, up to an affine map.
#[derive(Clone)]
struct SampleSignature {
    /// Hash that is equal for all affine images of the value.
    direction: u64,
    /// First sample as a raw integer value, and the difference between the first sample and the next one with another
    /// value.
    first: i128,
    step: i128,
    frac: i64,
}

impl SampleSignature {
    /// Returns the signature of a value; `None` if all samples are equal or the value has too many bits.
    fn find(samples: &Samples, bits: &[Lit], kind: Type) -> Option<SampleSignature> {
        if bits.len() > 100 {
            return None;
        }
        let words: Vec<[u64; WORDS]> = bits.iter().map(|&bit| samples.values(bit)).collect();
        let code = |at: usize| {
            let bit = |i: usize| i128::from(words[i][at / 64] >> (at % 64) & 1);
            let raw = (0..bits.len()).fold(0, |code, i| code | bit(i) << i);
            if kind.signed && !bits.is_empty() { raw - (bit(bits.len() - 1) << bits.len()) } else { raw }
        };
        let (first, mut step) = (code(0), 0i128);
        let mut hash = FxHasher::default();
        for at in 1..64 * WORDS {
            let more = code(at) - first;
            if step == 0 {
                step = more;
            }
            // The odd factor and the power of two of this difference, relative to the first nonzero difference.
            let zeros = |v: i128| i64::from(v.trailing_zeros());
            let odd = if more == 0 { 0 } else { (more >> zeros(more)) * step.signum() };
            (odd, if more == 0 { 0 } else { zeros(more) - zeros(step) }).hash(&mut hash);
        }
        (step != 0).then(|| SampleSignature { direction: hash.finish(), first, step, frac: kind.frac })
    }

    /// Returns an affine image of another value and a shift `n`, such that this value has the samples of the image
    /// times `2^-n`. Returns `None` if no such image fits the integer types.
    fn as_image_of(&self, other: &SampleSignature, of: (usize, usize)) -> Option<(Image, i64)> {
        let point = |shown: &SampleSignature| i64::from(shown.step.trailing_zeros()) - shown.frac;
        let (minus, shift) = ((self.step < 0) != (other.step < 0), point(self) - point(other));
        let frac = self.frac.max(other.frac - shift);
        let at = |v: i128, from: i64| {
            u32::try_from(frac - from).ok().filter(|&up| up < 60).and_then(|up| v.checked_mul(1 << up))
        };
        let (own, its) = (at(self.first, self.frac)?, at(other.first, other.frac - shift)?);
        let plus = own.checked_add(if minus { its } else { -its })?;
        let zeros = if plus == 0 { 0 } else { plus.trailing_zeros() };
        let (constant, point) =
            (i64::try_from(plus >> zeros).ok()?, if plus == 0 { -shift } else { frac - i64::from(zeros) });
        Some((Image { of, minus, shift: shift + point, constant }, point))
    }
}

/// Returns the terms of a sum divided by their common power of two, with a positive first factor; all affine images of
/// the sum share these terms. Returns `None` if the sum has fewer than two terms.
fn direction(sum: &Sum) -> Option<Vec<(u32, i128)>> {
    let (_, first) = sum.terms.first().filter(|_| sum.terms.len() > 1)?;
    let zeros = sum.terms.iter().fold(0, |all, (_, factor)| all | factor).trailing_zeros();
    Some(sum.terms.iter().map(|&(term, factor)| (term, (factor >> zeros) * first.signum())).collect())
}

/// Values by the hash of their signature's direction: index of the program, index of the value, and signature.
type ByDirection = FxHashMap<u64, Vec<((usize, usize), SampleSignature)>>;

/// A value with a proved range.
#[derive(Clone)]
struct BoundedWord {
    /// Index of its program and of the value, if the range is narrower than that of its type.
    value: Option<(usize, usize)>,
    /// Gates of its bits.
    nodes: Vec<u32>,
}

/// Records of one proof step, and the remaining budget of the step.
#[derive(Clone)]
struct Recorder {
    places: BTreeMap<usize, Place>,
    /// Bits of the value to which the next records belong.
    bits: Vec<Lit>,
    /// Remaining solver steps and visited gates, initially those of [`OF_STEP`].
    steps: u64,
    gates: u64,
    /// Initial value of `gates`.
    most: u64,
    how: SearchMode,
    /// Ticks spent by the solver.
    spent: u64,
}

/// Mode of the search for equalities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchMode {
    /// Writes records for a certificate.
    Recorded,
    /// Divides the solver's steps of each query by `part`, limits the ticks of a step, and records nothing.
    Within {
        /// Divisor of the solver's steps.
        part: u64,
        /// Budget of a step, in ticks.
        most: u64,
    },
}

impl Recorder {
    fn new(how: SearchMode) -> Recorder {
        let (places, (mut steps, mut gates)) = (BTreeMap::new(), OF_STEP);
        if let SearchMode::Within { most, .. } = how {
            (steps, gates) = (steps.min(most / ASKING), gates.min(most / UNITS.1));
        }
        Recorder { places, bits: Vec::new(), steps, gates, most: gates, how, spent: 0 }
    }

    /// Returns `true` if the budget of the step is exhausted.
    fn is_done(&self) -> bool {
        self.gates == 0 || self.steps == 0
    }

    /// Proves that a bit of the value equals another literal, with the necessary leaves and ranges only. Tries all
    /// assignments of up to `most` leaves; with more leaves, queries the solver with a limit of `steps`. Appends the
    /// record and merges the two literals.
    fn shown(&mut self, g: &mut Graph, at: usize, mut asked: SolverQuery, most: usize, steps: u64) -> bool {
        let (own, other) = (g.root(asked.pair.0), g.root(asked.pair.1));
        let Some(bit) = self.bits.iter().position(|&bit| g.root(bit) == own) else { return false };
        if own == other {
            return true;
        }
        asked.ranges.sort_unstable();
        asked.ranges.dedup();
        let (mut ranges, mut is_first) = (asked.ranges, true);
        loop {
            let Some(leaves) = reached(g, [own, other], &asked.leaves, &ranges) else { return false };
            let mut record = Record { bit, other, leaves, ranges, reason: Reason::Exhaustion };
            let Ok(question) = Question::new(g, own, &record) else { return false };
            if self.how != SearchMode::Recorded {
                let by_trial = record.leaves.len() <= most;
                let holds = if by_trial { question.exhaust().is_ok() } else { self.is_refuted(&question, steps) };
                if holds {
                    g.merge(own, other);
                }
                return holds;
            }
            let needed = if record.leaves.len() <= most {
                question.exhaust().ok()
            } else {
                let found = if is_first {
                    self.refuted(&question, steps)
                } else {
                    sat::refutation(&question.clauses(), &mut ASKED_AGAIN.clone())
                };
                found.and_then(|lemmas| {
                    let needed = question.follow(&lemmas).ok();
                    record.reason = Reason::Clauses(lemmas);
                    needed
                })
            };
            let Some(needed) = needed else { return false };
            if needed.iter().all(|&needed| needed) {
                g.merge(own, other);
                self.places.entry(at).or_default().records.push(record);
                return true;
            }
            is_first = false;
            // If one of several ranges suffices, each of them is reported as unneeded, and all but one can be removed.
            let unneeded = needed.iter().filter(|&&needed| !needed).count();
            let all: Vec<(usize, usize)> =
                record.ranges.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(&range, _)| range).collect();
            let without = |ranges: &[(usize, usize)], g: &Graph| {
                let leaves = reached(g, [own, other], &asked.leaves, ranges)?;
                let record = Record { ranges: ranges.to_vec(), leaves, ..record.clone() };
                (record.leaves.len() <= most && Question::new(g, own, &record).ok()?.exhaust().is_ok()).then_some(())
            };
            ranges = if unneeded == 1 || record.leaves.len() > most || without(&all, g).is_some() {
                all
            } else {
                let last = needed.iter().rposition(|&needed| !needed);
                let kept = record.ranges.iter().enumerate().filter(|(i, _)| Some(*i) != last);
                kept.map(|(_, &range)| range).collect()
            };
        }
    }

    /// Returns an LRAT refutation of the difference of two literals; `None` if the solver does not find one.
    fn refuted(&mut self, question: &Question, steps: u64) -> Option<Vec<Lemma>> {
        self.asked(question, steps, sat::refutation)
    }

    /// Returns `true` if the solver proves two literals equal.
    fn is_refuted(&mut self, question: &Question, steps: u64) -> bool {
        let asked = |clauses: &[Vec<i32>], steps: &mut u64| sat::is_refuted(clauses, steps).then_some(());
        self.asked(question, steps, asked).is_some()
    }

    /// Queries the solver within the remaining budget, and charges its cost.
    fn asked<T>(
        &mut self,
        question: &Question,
        steps: u64,
        ask: impl FnOnce(&[Vec<i32>], &mut u64) -> Option<T>,
    ) -> Option<T> {
        let part = if let SearchMode::Within { part, .. } = self.how { part } else { 1 };
        let given = (steps / part).min(self.steps);
        let clauses = question.clauses();
        if given == 0 {
            return None;
        }
        let mut left = given;
        let found = ask(&clauses, &mut left);
        self.steps -= given - left;
        self.gates = self.gates.saturating_sub(7 * clauses.len() as u64);
        // A gate has three clauses.
        let gates = clauses.len() as u64 / 3;
        self.spent += CLAUSES * gates + (given - left) * (STEP.0 + gates / STEP.1);
        found
    }
}

/// Equality that a record must prove.
struct SolverQuery {
    /// A bit of the value, and the literal that it equals.
    pair: (Lit, Lit),
    /// Gates that may be leaves of the comparison.
    leaves: Vec<u32>,
    /// Values whose ranges may be used.
    ranges: Vec<(usize, usize)>,
}

/// Returns the leaves on which two literals and ranges depend, in order; `None` if they also depend on other gates.
fn reached(g: &Graph, pair: [Lit; 2], leaves: &[u32], ranges: &[(usize, usize)]) -> Option<Vec<u32>> {
    let leaves: FxHashSet<u32> = leaves.iter().map(|&leaf| g.root(Lit(leaf << 1)).node() as u32).collect();
    let mut stack: Vec<u32> = pair.iter().map(|&lit| g.root(lit).node() as u32).collect();
    for &range in ranges {
        stack.extend(g.sums.value(range)?.bits.iter().map(|&bit| g.root(bit).node() as u32));
    }
    let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
    while let Some(node) = stack.pop() {
        if node == 0 || !seen.insert(node) {
            continue;
        }
        if leaves.contains(&node) {
            found.push(node);
            continue;
        }
        let (a, b) = g.operands(node)?;
        stack.extend([a.node() as u32, b.node() as u32]);
    }
    found.sort_unstable();
    Some(found)
}

/// The search for the records of one step.
#[derive(Clone)]
struct Search {
    samples: Samples,
    seed: u64,
    recorder: Recorder,
    /// Values of the previous program, and of the program under construction.
    before: ByDirection,
    own: ByDirection,
    /// Values with proved ranges.
    ranges: Vec<BoundedWord>,
    /// Indices into `ranges` by gate: the values that have the gate as a bit.
    ranges_of: FxHashMap<u32, Vec<usize>>,
    /// Gates of values that are sums, which may be leaves of comparisons. Among affine images of one another, only the
    /// gates of the oldest value are leaves.
    sums: FxHashSet<u32>,
    /// Gates in `sums` by the terms of the sum up to a common factor; see [`direction`].
    oldest: FxHashMap<Vec<(u32, i128)>, Vec<u32>>,
    /// Gates of the operands of the current operation, if it is not a sum.
    operands: FxHashSet<u32>,
    /// Pairs whose comparison failed in this step.
    failed: FxHashSet<(Lit, Lit)>,
    /// Number of gates that existed before the step.
    start: usize,
    /// Gates of the values of all sides so far, by their samples up to complement.
    by_samples: FxHashMap<[u64; WORDS], Vec<Lit>>,
    /// Nodes of the gates in `by_samples`.
    known: FxHashSet<u32>,
}

/// Returns the samples up to complement, and `true` if they were complemented.
fn normal(samples: [u64; WORDS]) -> ([u64; WORDS], bool) {
    if samples[0] & 1 == 1 { (samples.map(|word| !word), true) } else { (samples, false) }
}

impl Search {
    fn new(seed: u64) -> Search {
        Search {
            samples: Samples::new(seed),
            seed,
            recorder: Recorder::new(SearchMode::Recorded),
            by_samples: FxHashMap::from_iter([([0; WORDS], vec![Lit::FALSE])]),
            known: FxHashSet::default(),
            before: ByDirection::default(),
            own: ByDirection::default(),
            ranges: Vec::new(),
            ranges_of: FxHashMap::default(),
            sums: FxHashSet::default(),
            oldest: FxHashMap::default(),
            operands: FxHashSet::default(),
            failed: FxHashSet::default(),
            start: 0,
        }
    }

    /// Starts a step over the existing gates.
    fn begin(&mut self, how: SearchMode, g: &Graph) {
        self.recorder = Recorder::new(how);
        self.start = g.count();
        self.failed.clear();
        // RTL files have signals, not operations.
        self.operands.clear();
    }

    fn sampled(&mut self, g: &Graph, lit: Lit) -> [u64; WORDS] {
        self.samples.extend(g);
        self.samples.values(lit)
    }

    fn learn(&mut self, g: &Graph, bits: &[Lit]) {
        for &bit in bits {
            let bit = g.root(bit);
            if bit.is_known() && self.known.insert(bit.node() as u32) {
                let (key, flip) = normal(self.sampled(g, bit));
                self.by_samples.entry(key).or_default().push(bit.flipped(flip));
            }
        }
    }

    /// Builds the affine image that an operation is likely to equal, before the operation is built. Returns the bits
    /// and the number of fractional bits of every such image.
    fn prepare(
        &mut self,
        g: &mut Graph,
        program: &Program,
        at: usize,
        shown: Option<&SampleSignature>,
    ) -> Vec<(Vec<Lit>, i64)> {
        let sum = program.sum(g, at);
        self.operands.clear();
        if sum.is_none() {
            let own = g.sums.programs.len() - 1;
            for &value in &program.operations[at].operands {
                self.know_range(g, (own, value), true);
                let bits = g.sums.own()[value].bits.iter().map(|&bit| g.root(bit).node() as u32);
                self.operands.extend(bits.filter(|&node| node != 0));
            }
        }
        let (mut likes, mut found) = (Vec::new(), None);
        let Some(shown) = shown else { return likes };
        for values in [&self.before, &self.own] {
            for (of, other) in values.get(&shown.direction).map_or(&[][..], Vec::as_slice) {
                let Some((image, point)) = shown.as_image_of(other, *of) else { continue };
                let Ok((value, own)) = image.sum(g) else { continue };
                if (image.minus, image.constant) == (false, 0) {
                    let mut bits = value.bits.clone();
                    if !value.kind.signed {
                        bits.push(Lit::FALSE);
                    }
                    likes.push((bits, value.kind.frac + point));
                } else if found.is_none() && sum.as_ref().is_none_or(|sum| sum.is_moved(&own)) {
                    found = Some((image, point));
                }
            }
        }
        if likes.is_empty()
            && let Some((image, point)) = found
        {
            self.know_range(g, image.of, false);
            let known = image.sum(g).ok().and_then(|(_, sum)| g.sums.known(&sum));
            let like = known.or_else(|| {
                let like = image.make(g).ok()?;
                self.learn(g, &like.0);
                self.recorder.places.entry(at).or_default().images.push(image);
                Some(like)
            });
            likes.extend(like.map(|(bits, frac)| (bits, frac + point)));
        }
        likes
    }

    /// Records the range of a value, and the gates of its bits as leaves if it is a sum. With `for_range`, the range of
    /// a value with only one gate is not recorded.
    fn know_range(&mut self, g: &mut Graph, of: (usize, usize), for_range: bool) {
        let Some(value) = g.sums.value(of) else { return };
        let nodes: FxHashSet<u32> = value.bits.iter().map(|&bit| g.root(bit).node() as u32).collect();
        let mut nodes: Vec<u32> = nodes.into_iter().filter(|&node| node != 0).collect();
        nodes.sort_unstable();
        if let Some(direction) = value.sum.as_ref().and_then(direction) {
            let oldest = self.oldest.entry(direction).or_default();
            if oldest.is_empty() || nodes.last() < oldest.last() {
                oldest.iter().for_each(|node| _ = self.sums.remove(node));
                self.sums.extend(&nodes);
                oldest.clone_from(&nodes);
            }
        }
        let Some(last) = nodes.last() else { return };
        let same = self.ranges_of.get(last).map_or(&[][..], Vec::as_slice);
        let is_known = same.iter().any(|&known| self.ranges[known].nodes == nodes);
        if is_known || (for_range && nodes.len() == 1) {
            return;
        }
        let all = match value.kind {
            Type { width: 100.., .. } => None,
            Type { signed: true, width, .. } => Some((-1i128 << width >> 1, (1 << width >> 1) - 1)),
            Type { width, .. } => Some((0, (1 << width) - 1)),
        };
        let is_less = value.range.is_some() && value.range != all;
        nodes.iter().for_each(|&node| self.ranges_of.entry(node).or_default().push(self.ranges.len()));
        self.ranges.push(BoundedWord { value: is_less.then_some(of), nodes });
    }

    /// Collects the gates below some gates, and their leaves: inputs, and gates for which `ends` returns `true`.
    /// Returns `false` if a limit is exceeded.
    fn deepened(
        &mut self,
        g: &Graph,
        nodes: &[u32],
        ends: impl Fn(&Search, u32) -> bool,
        (seen, leaves): &mut (FxHashSet<u32>, Vec<u32>),
    ) -> bool {
        let mut stack: Vec<(u32, bool)> = nodes.iter().map(|&node| (node, true)).collect();
        while let Some((node, is_first)) = stack.pop() {
            if node == 0 || !seen.insert(node) {
                continue;
            }
            match g.operands(node) {
                Some((a, b)) if is_first || !ends(self, node) => {
                    stack.extend([a, b].map(|lit| (lit.node() as u32, false)));
                }
                _ => leaves.push(node),
            }
            if leaves.len() > FRONTIER || seen.len() > OF_VALUE.gates {
                return false;
            }
        }
        self.recorder.gates = self.recorder.gates.saturating_sub(seen.len() as u64);
        true
    }

    /// Proves that two literals are equal over the gates of other values, within the proved ranges of these values.
    fn equal_over_values(&mut self, g: &mut Graph, at: usize, pair: (Lit, Lit), effort: Effort) -> bool {
        // Older gates on which the newer gate depends.
        let (x, y) = (pair.0.node() as u32, pair.1.node() as u32);
        let mut found = Default::default();
        if x.max(y) as usize >= self.start
            && self.deepened(g, &[x.max(y)], |search, node| (node as usize) < search.start, &mut found)
            && let Some(cone) = between(g, [x, y], &found.1)
        {
            found.0.extend(cone);
            if self.over(g, at, pair, found, false, effort) {
                return true;
            }
        }
        // Operands of the operation; gates of single bits may also be older than the step.
        let mut found = Default::default();
        if self.operands.len() <= LEAVES
            && self.deepened(g, &[x, y], |search, node| search.operands.contains(&node), &mut found)
            && self.over(g, at, pair, found, false, effort)
        {
            return true;
        }
        // Sums on which both gates depend.
        let mut found = Default::default();
        self.deepened(
            g,
            &[x, y],
            |search, node| (node as usize) < search.start && search.sums.contains(&node),
            &mut found,
        ) && self.over(g, at, pair, found, true, effort)
    }

    /// Proves that two literals are equal over some leaves, with the ranges of values whose bits are all leaves or
    /// gates of the cone. With `more`, adds the missing bits of other values as leaves.
    fn over(
        &mut self,
        g: &mut Graph,
        at: usize,
        pair: (Lit, Lit),
        mut found: (FxHashSet<u32>, Vec<u32>),
        more: bool,
        effort: Effort,
    ) -> bool {
        let mut nodes: Vec<u32> = if more { found.1.clone() } else { found.0.iter().copied().collect() };
        nodes.sort_unstable();
        let known = nodes.iter().filter_map(|node| self.ranges_of.get(node)).flatten();
        // Values of which most bits are leaves come first, as the number of ranges is limited.
        let missing = |known: usize| self.ranges[known].nodes.iter().filter(|node| !found.0.contains(node)).count();
        let known: BTreeSet<(usize, usize)> = known.map(|&known| (missing(known), known)).collect();
        let mut ranges = Vec::new();
        for (_, known) in known {
            let BoundedWord { nodes, value } = self.ranges[known].clone();
            if nodes.iter().any(|node| !found.0.contains(node)) {
                let mut wider = found.clone();
                let is_leaf = |node: &u32| self.sums.contains(node) || g.operands(*node).is_none();
                if !nodes.iter().all(is_leaf) {
                    continue;
                }
                wider.1.extend(nodes.into_iter().filter(|&node| wider.0.insert(node)));
                if !more || wider.1.len() > FRONTIER {
                    continue;
                }
                found = wider;
            }
            ranges.extend(value);
        }
        self.recorder.shown(g, at, SolverQuery { pair, leaves: found.1, ranges }, MOST_LEAVES, effort.steps)
    }

    /// Returns `true` if all bits are proved equal to those of a value with an affine relation.
    fn place_all(&mut self, g: &mut Graph, at: usize, bits: &[Lit], frac: i64, likes: &[(Vec<Lit>, i64)]) -> bool {
        let mut pairs: Vec<Vec<(Lit, Lit)>> = likes
            .iter()
            .map(|(like, point)| {
                let bit = |(i, &bit): (i64, &Lit)| match usize::try_from(i + point - frac) {
                    Ok(place) => (bit, like.get(place).or(like.last()).copied().unwrap_or(Lit::FALSE)),
                    Err(_) => (bit, Lit::FALSE),
                };
                (0..).zip(bits).map(bit).collect()
            })
            .collect();
        // Candidates with the fewest unproved bits first.
        let open = |pairs: &Vec<(Lit, Lit)>| pairs.iter().filter(|(x, y)| g.root(*x) != g.root(*y)).count();
        pairs.sort_by_cached_key(open);
        pairs
            .into_iter()
            .take(CANDIDATES)
            .any(|pairs| pairs.into_iter().all(|pair| self.becomes_equal(g, at, pair, OF_LIKE)))
    }

    /// Returns `true` if a bit of the value equals another literal, or has equal samples and is proved equal.
    fn becomes_equal(&mut self, g: &mut Graph, at: usize, (own, other): (Lit, Lit), effort: Effort) -> bool {
        let (x, y) = (g.root(own), g.root(other));
        let is_alike = |search: &mut Search| x.is_known() && search.sampled(g, x) == search.sampled(g, y);
        x == y || (is_alike(self) && self.equal(g, at, (x, y), effort))
    }

    /// Searches the known gates for one that equals a bit of this value.
    fn place(&mut self, g: &mut Graph, at: usize, bit: Lit) {
        let bit = g.root(bit);
        if bit.node() == 0 || !bit.is_known() || self.known.contains(&(bit.node() as u32)) {
            return;
        }
        if self.recorder.how != SearchMode::Recorded && self.recorder.is_done() {
            return;
        }
        let (key, flip) = normal(self.sampled(g, bit));
        let candidates = self.by_samples.get(&key).cloned().unwrap_or_default();
        let pair = |old: &Lit| (bit, old.flipped(flip));
        // The samples of gates that are almost always false do not distinguish them, so candidates over the same older
        // gates are tried first.
        let below = self.newest_below(g, bit);
        let mut near = candidates.clone();
        near.sort_by_key(|old| (old.node() < below, old.node()));
        if near.len() > NEAR && !self.operands.is_empty() && self.operands.len() <= LEAVES {
            near.retain(|old| self.is_of_operands(g, *old));
        }
        // A bit that equals a constant, too, equals the same bit of the program.
        let own = near.first().filter(|old| old.node() >= below);
        let _ = near.iter().take(NEAR).any(|old| self.equal_over_values(g, at, pair(old), BY_TRIAL))
            || own
                .into_iter()
                .chain(candidates.iter().take(CANDIDATES))
                .any(|old| self.equal(g, at, pair(old), OF_VALUE));
    }

    /// Returns `true` if a gate is a function of the operation's operands.
    fn is_of_operands(&mut self, g: &Graph, gate: Lit) -> bool {
        // A gate depends on older gates only.
        let oldest = self.operands.iter().copied().min().unwrap_or(0);
        let (mut seen, mut stack, mut is_function) = (FxHashSet::default(), vec![gate.node() as u32], true);
        while let Some(node) = stack.pop() {
            if node == 0 || self.operands.contains(&node) || !seen.insert(node) {
                continue;
            }
            match g.operands(node).filter(|_| node > oldest && seen.len() < OF_VALUE.gates) {
                Some((a, b)) => stack.extend([a.node() as u32, b.node() as u32]),
                None => {
                    is_function = false;
                    break;
                }
            }
        }
        self.recorder.gates = self.recorder.gates.saturating_sub(seen.len() as u64);
        is_function
    }

    /// Returns the newest gate before this step on which a bit depends.
    fn newest_below(&self, g: &Graph, bit: Lit) -> usize {
        let (mut seen, mut stack, mut newest) = (FxHashSet::default(), vec![bit.node()], 0);
        while let Some(node) = stack.pop() {
            if node < self.start {
                newest = newest.max(node);
            } else if seen.len() < FRONTIER && seen.insert(node) {
                stack.extend(g.operands(node as u32).into_iter().flat_map(|(a, b)| [a.node(), b.node()]));
            }
        }
        newest
    }

    /// Proves that two literals are equal within the given limits, and merges them.
    fn equal(&mut self, g: &mut Graph, at: usize, pair: (Lit, Lit), effort: Effort) -> bool {
        let mut size = 0;
        if !self.failed.insert(pair) {
            return false;
        }
        if self.equal_over_values(g, at, pair, effort) {
            return true;
        }
        for levels in LEVELS {
            let Some(cut) = self.cut(g, pair, levels, effort.gates) else { return false };
            if cut.gates == size {
                continue;
            }
            size = cut.gates;
            let is_tried = cut.leaves.len() <= LEAVES;
            if is_tried {
                let words = 1 << cut.leaves.len().saturating_sub(6);
                self.recorder.gates = self.recorder.gates.saturating_sub(size as u64 * words);
            }
            if is_tried || cut.is_whole || levels >= ASKED {
                // Leaves that are not inputs may allow a false difference, so the solver gets fewer steps.
                let steps = if cut.is_whole { effort.steps } else { effort.steps / 8 };
                let asked = SolverQuery { pair, leaves: cut.leaves, ranges: Vec::new() };
                if self.recorder.shown(g, at, asked, LEAVES, steps) {
                    return true;
                }
            }
            if cut.is_whole {
                return false;
            }
        }
        false
    }

    /// Returns the gates within `levels` levels below two literals; `None` if there are more than `most` gates, or the
    /// budget of the step is exhausted.
    fn cut(&mut self, g: &Graph, pair: (Lit, Lit), levels: usize, most: usize) -> Option<Cut> {
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut cut = Cut { leaves: Vec::new(), gates: 0, is_whole: true };
        let mut level = vec![pair.0.node() as u32, pair.1.node() as u32];
        for deep in 0.. {
            self.recorder.gates = self.recorder.gates.saturating_sub(level.len() as u64);
            if self.recorder.gates == 0 || cut.gates > most {
                return None;
            }
            let mut next = Vec::new();
            for node in level {
                if node == 0 || !seen.insert(node) {
                    continue;
                }
                match g.operands(node) {
                    Some((a, b)) if deep < levels => {
                        cut.gates += 1;
                        next.extend([a.node() as u32, b.node() as u32]);
                    }
                    operands => {
                        cut.is_whole &= operands.is_none();
                        cut.leaves.push(node);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        Some(cut)
    }
}

/// Returns the gates between two gates and some leaves; `None` if the two gates also depend on inputs that are no
/// leaves.
fn between(g: &Graph, pair: [u32; 2], leaves: &[u32]) -> Option<FxHashSet<u32>> {
    let (mut seen, mut stack) = (FxHashSet::default(), pair.to_vec());
    while let Some(node) = stack.pop() {
        if node != 0 && !leaves.contains(&node) && seen.insert(node) {
            let (a, b) = g.operands(node)?;
            stack.extend([a.node() as u32, b.node() as u32]);
        }
    }
    Some(seen)
}

/// Extent of the gates within some levels below two literals.
struct Cut {
    /// Nodes at which the levels end.
    leaves: Vec<u32>,
    /// Number of gates.
    gates: usize,
    /// `true` if all leaves are inputs.
    is_whole: bool,
}

/// First side of a certificate: the specification.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Program(&'a Program),
    /// A state machine, its RTL file, and the equalities of its registers.
    Machine(&'a Machine, &'a Text<'a>, &'a Induction),
}

impl Origin<'_> {
    /// Builds the gates of the specification.
    fn compared(&self, made: ValueCallback<'_>) -> Result<Compared, String> {
        match *self {
            Origin::Program(model) => Compared::new(model, made),
            Origin::Machine(machine, text, induction) => Compared::new_machine(machine, text, (induction, true), made),
        }
    }
}

/// Builds the gates of the model, and the initial state of the search.
///
/// # Errors
/// The errors of the checker.
fn begin(origin: &Origin<'_>, seed: u64) -> Result<(Compared, RefCell<Search>), String> {
    let search = RefCell::new(Search::new(seed));
    let compared = origin.compared(&mut |g: &mut Graph, at, bits: Option<&[Lit]>| {
        let Some(bits) = bits else { return Ok(()) };
        let mut search = search.borrow_mut();
        search.learn(g, bits);
        search.samples.extend(g);
        // The current program is the last one in the list.
        let (number, kind) = match origin {
            Origin::Program(model) => (0, model.operations[at].kind),
            Origin::Machine(machine, ..) => (g.sums.programs.len() - 1, machine.kind(g.sums.programs.len() - 1, at)),
        };
        if let Some(shown) = SampleSignature::find(&search.samples, bits, kind) {
            search.own.entry(shown.direction).or_default().push(((number, at), shown));
        }
        Ok(())
    })?;
    Ok((compared, search))
}

/// Drops the unused image of a place; returns `true` if there was one.
fn drop_unused(g: &mut Graph, place: Option<&mut Place>) -> bool {
    let is_unused = !std::mem::take(&mut g.sums.unused).is_empty();
    place.filter(|_| is_unused).into_iter().for_each(|place| place.images.clear());
    is_unused
}

/// Proves a side equal to the model, and returns the records for the checker, and `true` if unused images were dropped.
///
/// # Errors
/// The errors of the checker.
fn step(compared: &mut Compared, search: &RefCell<Search>, side: &Side<'_>) -> Result<(Step, bool), String> {
    let how = search.borrow().recorder.how;
    search.borrow_mut().begin(how, &compared.graph);
    let own = std::mem::take(&mut search.borrow_mut().own);
    search.borrow_mut().before = own;
    // Expected signatures of the values of the side.
    let mut all = Vec::new();
    let mut samples = Samples::new(search.borrow().seed);
    let mut show = |program: &Program, g: &Graph, at: usize, bits: Option<&[Lit]>| {
        samples.extend(g);
        all.extend(bits.map(|bits| SampleSignature::find(&samples, bits, program.operations[at].kind)));
        Ok(())
    };
    match side {
        Side::Program(program) => {
            Compared::new(program, &mut |g: &mut Graph, at, bits| show(program, g, at, bits))?;
        }
        Side::MachineProgram(program, _) => {
            compared.clone().follow(side, &mut |g: &mut Graph, at, bits| show(program, g, at, bits))?;
        }
        Side::Text(..) => {}
    }
    let (mut likes, mut has_unused) = (Vec::new(), false);
    compared.follow(side, &mut |g: &mut Graph, at, bits: Option<&[Lit]>| {
        let mut search = search.borrow_mut();
        let Some(bits) = bits else {
            has_unused |= at > 0 && drop_unused(g, search.recorder.places.get_mut(&(at - 1)));
            if let Some((program, shown)) = side.program().zip(all.get(at)) {
                likes = search.prepare(g, program, at, shown.as_ref());
            }
            return Ok(());
        };
        if let Some(Some(shown)) = all.get_mut(at).map(Option::take) {
            let of = (g.sums.programs.len() - 1, at);
            search.own.entry(shown.direction).or_default().push((of, shown));
        }
        search.recorder.bits = bits.to_vec();
        match side.program() {
            Some(program)
                if !likes.is_empty() && search.place_all(g, at, bits, program.operations[at].kind.frac, &likes) => {}
            _ => bits.iter().for_each(|&bit| search.place(g, at, bit)),
        }
        search.learn(g, bits);
        Ok(())
    })?;
    let mut search = search.borrow_mut();
    let g = &mut compared.graph;
    has_unused |= drop_unused(g, search.recorder.places.get_mut(&all.len().saturating_sub(1)));
    // Undecided outputs get larger limits, the largest ones in the last step.
    let effort = if matches!(side, Side::Text(..)) { OF_OUTPUT } else { OF_LIKE };
    let pairs: Vec<(Lit, Lit)> = compared.found.concat().into_iter().zip(compared.expected.concat()).collect();
    search.recorder.bits = compared.found.concat();
    search.failed.clear();
    for pair in pairs {
        search.becomes_equal(g, AT_THE_END, pair, effort);
    }
    Ok((Step { places: finished(&mut search.recorder), ..Step::default() }, has_unused))
}

/// Takes the records out of the recorder, without empty places.
fn finished(recorder: &mut Recorder) -> BTreeMap<usize, Place> {
    let mut places = std::mem::take(&mut recorder.places);
    places.retain(|_, place| *place != Place::default());
    places
}

/// Map between two graphs of equal gates, where the second one lacks some affine images.
struct LiteralMap<'a> {
    old: &'a Graph,
    /// Unmapped inputs of the old graph in descending order, and number of visited gates of the new graph.
    inputs: Vec<u32>,
    looked_at: usize,
    names: FxHashMap<u32, Lit>,
}

impl LiteralMap<'_> {
    /// Maps a literal of the old graph to the new one; `None` if the new graph lacks it.
    fn name(&mut self, g: &Graph, lit: Lit) -> Option<Lit> {
        // The inputs of both graphs are in the same order.
        for node in self.looked_at as u32..g.count() as u32 {
            if node > 1 && g.created_from(node).is_none() {
                self.names.insert(self.inputs.pop()?, Lit(node << 1));
            }
        }
        self.looked_at = g.count();
        let mut failed: FxHashSet<u32> = FxHashSet::default();
        let mut stack = vec![lit.node() as u32];
        while let Some(&node) = stack.last() {
            if self.names.contains_key(&node) || failed.contains(&node) {
                stack.pop();
                continue;
            }
            let root = self.old.root(Lit(node << 1));
            let needed: Vec<Lit> = match self.old.created_from(node) {
                Some((a, b)) => vec![a, b],
                None => Vec::new(),
            };
            if let Some(open) = needed
                .iter()
                .map(|lit| lit.node() as u32)
                .find(|node| !self.names.contains_key(node) && !failed.contains(node))
            {
                stack.push(open);
                continue;
            }
            let of = |lit: Lit| self.names.get(&(lit.node() as u32)).map(|name| name.flipped(lit.is_negated()));
            let found = match needed[..] {
                [a, b] => of(a).zip(of(b)).and_then(|(a, b)| g.known(a, b).1),
                _ => None,
            };
            if let Some(name) = found.or_else(|| of(root).filter(|_| root.node() as u32 != node)) {
                self.names.insert(node, name);
            } else if root.node() as u32 != node && !failed.contains(&(root.node() as u32)) {
                stack.push(root.node() as u32);
            } else {
                failed.insert(node);
            }
        }
        self.names.get(&(lit.node() as u32)).map(|name| name.flipped(lit.is_negated()))
    }
}

/// Returns the records without the dropped images, renumbered for the gates without them, and `true` if further images
/// became unused.
fn rewritten(
    origin: &Origin<'_>,
    sides: &[Side<'_>],
    old: &Graph,
    steps: &[Step],
) -> Result<(Compared, Vec<Step>, bool), String> {
    let inputs = (2..old.count() as u32).rev().filter(|&node| old.created_from(node).is_none()).collect();
    let mut renamed =
        LiteralMap { old, inputs, looked_at: 0, names: FxHashMap::from_iter([(0, Lit::FALSE), (1, Lit::UNKNOWN)]) };
    let mut compared = origin.compared(&mut |_, _, _| Ok(()))?;
    let (mut out, mut has_unused) = (Vec::new(), false);
    for (side, step) in sides.iter().zip(steps) {
        let mut recorder = Recorder { steps: u64::MAX, ..Recorder::new(SearchMode::Recorded) };
        let mut again = |g: &mut Graph, recorder: &mut Recorder, at: usize| {
            for record in step.places.get(&at).map_or(&[][..], |place| &place.records) {
                let Some(other) = renamed.name(g, record.other) else { continue };
                let leaf = |&leaf: &u32| renamed.name(g, Lit(leaf << 1)).map(|lit| lit.node() as u32);
                let Some(leaves) = record.leaves.iter().map(leaf).collect() else { continue };
                let Some(&bit) = recorder.bits.get(record.bit) else { continue };
                let asked = SolverQuery { pair: (g.root(bit), g.root(other)), leaves, ranges: record.ranges.clone() };
                if asked.pair.0 != asked.pair.1 {
                    let most = if record.reason == Reason::Exhaustion { MOST_LEAVES } else { 0 };
                    recorder.shown(g, at, asked, most, ASKED_AGAIN);
                }
            }
        };
        let mut last = None;
        compared.follow(side, &mut |g: &mut Graph, at, bits: Option<&[Lit]>| {
            match bits {
                None => {
                    has_unused |= last.is_some_and(|last| drop_unused(g, recorder.places.get_mut(&last)));
                    last = Some(at);
                    for image in step.places.get(&at).map_or(&[][..], |place| &place.images) {
                        if image.make(g).is_ok() {
                            recorder.places.entry(at).or_default().images.push(image.clone());
                        }
                    }
                }
                Some(bits) => {
                    recorder.bits = bits.to_vec();
                    again(g, &mut recorder, at);
                }
            }
            Ok(())
        })?;
        has_unused |= last.is_some_and(|last| drop_unused(&mut compared.graph, recorder.places.get_mut(&last)));
        recorder.bits = compared.found.concat();
        again(&mut compared.graph, &mut recorder, AT_THE_END);
        out.push(Step { places: finished(&mut recorder), ..step.clone() });
    }
    Ok((compared, out, has_unused))
}

/// Returns for each output `true` if it is proved equal on both sides.
fn shown(compared: &Compared) -> Vec<bool> {
    (0..compared.expected.len()).map(|output| compared.is_shown(output)).collect()
}

/// A certificate, and the outputs that it proves.
pub struct Recorded {
    /// Certificate for the checker.
    pub certificate: Certificate,
    /// For each output, `true` if the certificate proves it; for a state machine, the same for each equality that the
    /// induction needs.
    pub shown: Vec<bool>,
    /// Register bit of each expected word, in the checker's numbering; `None` for outputs, and for programs.
    pub(super) claimed: Vec<Option<usize>>,
}

/// A program with its file name; `None` for the RTL file.
type Named<'a> = (Option<&'a String>, Side<'a>);

/// Records a certificate over these sides. An intermediate program without records is dropped, and its neighbours are
/// compared directly. With `keep_bare`, a program without records is kept if it creates gates, as later sides may be
/// compared with these gates.
fn recorded(origin: &Origin<'_>, all: &[Named<'_>], seed: u64, keep_bare: bool) -> Result<Recorded, String> {
    let (mut compared, mut search) = begin(origin, seed)?;
    let (mut sides, mut steps, mut has_unused): (Vec<Named<'_>>, Vec<Step>, bool) = (Vec::new(), Vec::new(), false);
    for (at, &(name, side)) in all.iter().enumerate() {
        let before = (at + 1 < all.len()).then(|| (compared.clone(), search.clone()));
        let (made, unused) = step(&mut compared, &search, &side)?;
        match before {
            Some(before)
                if made.places.is_empty() && !(keep_bare && compared.graph.count() > before.0.graph.count()) =>
            {
                (compared, search) = before;
            }
            before => {
                has_unused |= unused;
                sides.push((name, side));
                let is_bare = before.is_some() && made.places.is_empty();
                let feeds = if let Side::MachineProgram(_, feeds) = side { feeds.to_vec() } else { Vec::new() };
                steps.push(Step { program: name.cloned(), is_bare, feeds, ..made });
            }
        }
    }
    drop(search);
    let named = sides;
    let sides: Vec<Side<'_>> = named.iter().map(|side| side.1).collect();
    let mut last = None;
    for _ in 0..REWRITTEN {
        if !has_unused {
            break;
        }
        let (again, made, unused) = rewritten(origin, &sides, &compared.graph, &steps)?;
        // The records still refer to gates by the indices of the first recording, so only the images are replaced.
        for (old, new) in steps.iter_mut().zip(&made) {
            for (at, place) in &mut old.places {
                place.images = new.places.get(at).map_or(Vec::new(), |place| place.images.clone());
            }
        }
        (last, has_unused) = (Some((again, made)), unused);
    }
    let (compared, steps) = last.unwrap_or((compared, steps));
    if has_unused {
        return Err("images that nothing is made of".into());
    }
    // Dropped images may have been the only content of a program's step.
    let is_needed = |at: usize| at + 1 == steps.len() || steps[at].is_bare == steps[at].places.is_empty();
    if !(0..steps.len()).all(is_needed) {
        let needed = named.into_iter().enumerate().filter(|&(at, _)| is_needed(at));
        return recorded(origin, &needed.map(|(_, side)| side).collect::<Vec<_>>(), seed, keep_bare);
    }
    let certificate = Certificate { steps, ..Certificate::default() };
    Ok(Recorded { shown: shown(&compared), claimed: compared.claimed, certificate })
}

/// Records a certificate for an RTL file, over intermediate programs with their file names. Tries several variants and
/// returns the one that proves the most outputs. `sample_timing` is the timing of an RTL file with an initiation
/// interval above one.
///
/// # Errors
/// The errors of the checker about the RTL file or a program.
pub fn record(
    model: &Program,
    between: &[(String, Program)],
    text: &Text<'_>,
    sample_timing: Option<&SampleTiming>,
) -> Result<Recorded, String> {
    let text = (None, Side::Text(text, sample_timing));
    let programs = between.iter().map(|(name, program)| (Some(name), Side::Program(program)));
    let sides: Vec<_> = programs.chain([text]).collect();
    // The last program contains the values of functional units, so it is always kept.
    let mut ways =
        vec![(0, SEEDS[0], sample_timing.is_some()), (0, SEEDS[0], sample_timing.is_none()), (0, SEEDS[1], false)];
    if between.is_empty() {
        ways.remove(1);
    } else {
        ways.push((between.len(), SEEDS[0], false));
    }
    let origin = Origin::Program(model);
    let mut best =
        best_of(ways.into_iter().map(|(from, seed, keep_bare)| recorded(&origin, &sides[from..], seed, keep_bare)))?;
    best.certificate.sample_timing = sample_timing.cloned();
    Ok(best)
}

/// A program for comparison with a state machine: its file name, its IR, and the machine's elements that drive its
/// inputs.
pub type SideProgram = (String, Program, Vec<usize>);

/// Records a certificate for the RTL file of a state machine.
///
/// # Errors
/// The errors of the checker about the RTL file or the induction.
pub(super) fn record_machine(
    machine: &Machine,
    beside: &[SideProgram],
    text: &Text<'_>,
    induction: &Induction,
) -> Result<Recorded, String> {
    let programs = beside.iter().map(|(name, program, feeds)| (Some(name), Side::MachineProgram(program, feeds)));
    let sides: Vec<_> = programs.chain([(None, Side::Text(text, None))]).collect();
    // Most state machines need no intermediate program; pipelines with retimed registers do.
    let mut ways = vec![(0, false), (beside.len(), false), (0, true)];
    if induction.depth == 0 {
        ways.swap(0, 1);
    }
    ways.truncate(if beside.is_empty() { 1 } else { ways.len() });
    let origin = Origin::Machine(machine, text, induction);
    let mut best =
        best_of(ways.into_iter().map(|(from, keep_bare)| recorded(&origin, &sides[from..], SEEDS[0], keep_bare)))?;
    best.certificate.induction = Some(induction.clone());
    Ok(best)
}

/// Returns the recording that proves the most outputs; stops at the first one that proves all.
fn best_of(ways: impl Iterator<Item = Result<Recorded, String>>) -> Result<Recorded, String> {
    let count = |recorded: &Recorded| recorded.shown.iter().filter(|&&shown| shown).count();
    let mut best: Option<Recorded> = None;
    for found in ways {
        let found = found?;
        let is_whole = count(&found) == found.shown.len();
        if best.as_ref().is_none_or(|best| count(&found) > count(best)) {
            best = Some(found);
        }
        if is_whole {
            break;
        }
    }
    best.ok_or_else(|| "nothing was recorded".to_owned())
}

/// Converts a program for the checker; `None` if ALIR JSON or the checker cannot represent it.
fn to_checker_program(model: &Model) -> Option<Program> {
    let mut bytes = Vec::new();
    alir_formats::prepare(model, Target::Alir4).ok()?.write(&mut bytes).ok()?;
    Program::read(&bytes).ok()
}

/// Ticks for an operation of a program (.0), and for a visited gate (.1).
const UNITS: (u64, u64) = (3_000, 2);
/// Ticks for a step of the solver, including the preparation of the query.
const ASKING: u64 = 2 * STEP.0;
/// Divisors of the solver's steps in successive rounds; most equalities need few steps.
const PARTS: [u64; 2] = [10, 1];

/// Proves that the last of several programs is equal to the model, by way of the programs before it, without recording
/// a certificate.
///
/// Returns `true` if the last program is proved equal, the shared gates if they were built, and the ticks spent. `most`
/// is the budget of one program in ticks, `all` that of all programs. A program whose gates would exceed the rest of
/// `all` is not built; then no shared gates are returned.
pub(super) fn prove_chain(model: &Model, programs: &[Model], most: u64, all: u64) -> (bool, Option<GateContext>, u64) {
    let (mut spent, mut last) = (0, None);
    for part in PARTS {
        let left = all.saturating_sub(spent);
        let Some(mut shared) = GateContext::within(model, SearchMode::Within { part, most: most.min(left) }, left)
        else {
            break;
        };
        let follows = programs.iter().all(|program| {
            let follows = spent + UNITS.0 * program.nodes().len() as u64 <= all && shared.follow(program);
            spent += shared.spent();
            follows
        });
        if follows && shared.compared.open().next().is_none() {
            return (true, Some(shared), spent);
        }
        last = follows.then_some(shared).or(last);
    }
    (false, last, spent)
}

/// Gates of a program, and of all sides that were compared with it.
pub(super) struct GateContext {
    compared: Compared,
    search: RefCell<Search>,
    /// Ticks that [`GateContext::spent`] has not reported yet.
    unpaid: u64,
}

impl GateContext {
    /// Builds the gates of a program. Returns `None` if the checker does not support it, or its cost exceeds the
    /// remaining ticks.
    pub(super) fn new(program: &Model, left: u64) -> Option<GateContext> {
        GateContext::within(program, SearchMode::Within { part: PARTS[0], most: 0 }, left)
    }

    /// Builds the gates of a program, and sets the mode of the search for equalities.
    fn within(program: &Model, how: SearchMode, left: u64) -> Option<GateContext> {
        let unpaid = UNITS.0 * program.nodes().len() as u64;
        if unpaid > left {
            return None;
        }
        let (compared, search) = begin(&Origin::Program(&to_checker_program(program)?), SEEDS[0]).ok()?;
        search.borrow_mut().recorder = Recorder::new(how);
        Some(GateContext { compared, search, unpaid })
    }

    /// Adds the gates of another program; returns `false` if the checker does not support the program or reports an
    /// error.
    fn follow(&mut self, program: &Model) -> bool {
        self.unpaid += UNITS.0 * program.nodes().len() as u64;
        to_checker_program(program)
            .is_some_and(|read| step(&mut self.compared, &self.search, &Side::Program(&read)).is_ok())
    }

    /// Returns `true` if an RTL file, simulated cycle by cycle by the checker, is proved equal to the program within a
    /// budget of about `most` ticks.
    pub(super) fn matches_rtl(&mut self, source: &str, top: &str, sample_timing: &SampleTiming, most: u64) -> bool {
        self.search.get_mut().recorder = Recorder::new(SearchMode::Within { part: 1, most });
        let text = Text::read(source).and_then(|text| if text.name() == top { Ok(text) } else { text.elaborate(top) });
        let Ok(text) = text else { return false };
        let made = step(&mut self.compared, &self.search, &Side::Text(&text, Some(sample_timing)));
        made.is_ok() && self.compared.open().next().is_none()
    }

    /// Starts the comparison of a design with a budget of about `most` ticks.
    pub(super) fn begin(&mut self, most: u64) {
        self.search.get_mut().begin(SearchMode::Within { part: PARTS[0], most }, &self.compared.graph);
    }

    /// Returns `true` if the budget is exhausted.
    pub(super) fn is_done(&mut self) -> bool {
        self.search.get_mut().recorder.is_done()
    }

    /// Returns the ticks spent since the last call.
    pub(super) fn spent(&mut self) -> u64 {
        let recorder = &self.search.get_mut().recorder;
        std::mem::take(&mut self.unpaid) + recorder.spent + UNITS.1 * (recorder.most - recorder.gates)
    }

    /// Returns the graph of all gates.
    pub(super) fn graph(&mut self) -> &mut Graph {
        &mut self.compared.graph
    }

    /// Returns the bits of an input element.
    pub(super) fn input(&self, element: usize) -> &[Lit] {
        &self.compared.inputs[element]
    }

    /// Returns the bits of an output of the first program.
    pub(super) fn output(&self, output: usize) -> Vec<Lit> {
        self.compared.expected[output].clone()
    }

    /// Searches for gates that equal the bits of a design's signal. Returns the bits, with the found gates in their
    /// place.
    pub(super) fn placed(&mut self, bits: &[Lit]) -> Vec<Lit> {
        let (g, search) = (&mut self.compared.graph, self.search.get_mut());
        search.recorder.bits = bits.to_vec();
        bits.iter().for_each(|&bit| search.place(g, 0, bit));
        search.learn(g, bits);
        bits.iter().map(|&bit| g.root(bit)).collect()
    }

    /// Returns `true` if an output is proved to have the expected bits. The comparison may use the whole remaining
    /// budget.
    pub(super) fn are_equal(&mut self, expected: &[Lit], found: &[Lit]) -> bool {
        let (g, search) = (&mut self.compared.graph, self.search.get_mut());
        search.recorder.bits = found.to_vec();
        search.failed.clear();
        found.iter().zip(expected).all(|(&own, &other)| search.becomes_equal(g, AT_THE_END, (own, other), OF_OUTPUT))
    }
}

/// Appends a line with a word and a list of numbers.
fn numbers(out: &mut String, word: &str, numbers: &[usize]) {
    out.push_str(word);
    numbers.iter().for_each(|number| _ = write!(out, " {number}"));
    out.push('\n');
}

/// Returns the content of a certificate file.
pub fn text(certificate: &Certificate) -> String {
    let mut out = format!("{HEAD}\n");
    if let Some(case) = &certificate.case {
        let bits: String = case.iter().map(|&bit| if bit { '1' } else { '0' }).collect();
        let _ = writeln!(out, "case {bits}");
    }
    if let Some(top) = &certificate.top {
        let _ = writeln!(out, "top {top}");
    }
    if let Some(Induction { settled, depth, classes, zeros }) = &certificate.induction {
        let _ = writeln!(out, "clocks {settled} {depth}");
        let classes = classes.iter().map(|class| ("same", class)).chain([("zero", zeros)]);
        for (word, bits) in classes.filter(|(_, bits)| !bits.is_empty()) {
            numbers(&mut out, word, bits);
        }
    }
    if let Some(SampleTiming { interval, latency, input_timing }) = &certificate.sample_timing {
        let _ = writeln!(
            out,
            "every {interval} {latency}{}",
            if *input_timing == InputTiming::Held { " held" } else { "" }
        );
        if let InputTiming::Beats(beats) = input_timing {
            numbers(&mut out, "beats", &beats.iter().flat_map(|&(beat, low)| [beat, low]).collect::<Vec<_>>());
        }
    }
    for step in &certificate.steps {
        let word = if step.is_bare { "between" } else { "step" };
        let _ = writeln!(out, "{word} {}", step.program.as_deref().unwrap_or("text"));
        if !step.feeds.is_empty() {
            numbers(&mut out, "feeds", &step.feeds);
        }
        for (at, place) in &step.places {
            let _ = writeln!(out, "at {at}");
            for Image { of, minus, shift, constant } in &place.images {
                let minus = u8::from(*minus);
                let _ = writeln!(out, "image {} {} {minus} {shift} {constant}", of.0, of.1);
            }
            for record in &place.records {
                let word = if record.reason == Reason::Exhaustion { "all" } else { "clauses" };
                let _ = write!(out, "{word} {} {}", record.bit, record.other.0);
                for leaf in &record.leaves {
                    let _ = write!(out, " {leaf}");
                }
                for (i, range) in record.ranges.iter().enumerate() {
                    let _ = write!(out, "{}{} {}", if i == 0 { " / " } else { " " }, range.0, range.1);
                }
                out.push('\n');
                let Reason::Clauses(lemmas) = &record.reason else { continue };
                for (literals, hints) in lemmas {
                    for literal in literals {
                        let _ = write!(out, "{literal} ");
                    }
                    out.push('0');
                    for hint in hints {
                        let _ = write!(out, " {hint}");
                    }
                    out.push_str(" 0\n");
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::ir::{BinaryBits, Builder, Model, Op, Output, ValueId};
    use alir_core::num::{Interval, Kif, wrap};
    use alir_interp::{LookupMiss, golden};
    use alir_testing::random::{self, Profile, Recipe};
    use num_bigint::BigInt;

    /// Returns a random program: a small one, or one with arbitrary widths.
    fn drawn(seed: u64) -> Model {
        if seed.is_multiple_of(4) { random::model(seed) } else { Recipe::seeded(Profile::TINY, 24, seed).build() }
    }

    /// The checker's gates of a program agree with the reference interpreter for random inputs.
    #[test]
    fn the_checkers_gates_agree_with_the_golden_interpreter() {
        let (mut compared_outputs, mut recorded) = (0, 0);
        for seed in 0..300 {
            let model = drawn(seed);
            let Some(same) = to_checker_program(&model) else { continue };
            let Ok(mut compared) = Compared::new(&same, &mut |_, _, _| Ok(())) else { continue };
            compared.follow(&Side::Program(&same), &mut |_, _, _| Ok(())).unwrap();
            compared_outputs += agrees(&model, &compared, &format!("seed {seed}"));
            // Ranges that are known after the first program may change the gates of the second one; records prove them
            // equal.
            if compared.open().next().is_some() {
                let (mut again, search) = begin(&Origin::Program(&same), 1).unwrap();
                step(&mut again, &search, &Side::Program(&same)).unwrap();
                assert_eq!(again.open().next(), None, "seed {seed}: a program is itself");
                recorded += 1;
            }
        }
        assert!(compared_outputs > 10_000 && recorded < 10, "{compared_outputs} {recorded}");
    }

    /// The checker's gates of RTL files also agree with the reference interpreter, in both languages with all kinds of
    /// ports.
    #[test]
    fn the_checkers_reading_of_texts_agrees_with_the_golden_interpreter() {
        use alir_hdl::Language;
        use alir_hw::netlist::{Options, PortNames, Ports, ResetOptions, lower};
        let mut compared_outputs = 0;
        for seed in 0..160u64 {
            let model = drawn(seed);
            let Some(same) = to_checker_program(&model) else { continue };
            let (optimised, _) = alir_opt::passes::run(&model, alir_opt::passes::pipeline((seed % 3) as u8));
            let schedule = match seed / 3 % 4 {
                0 => alir_opt::schedule::Schedule::combinational(optimised.nodes().len()),
                stages => alir_opt::schedule::random(&optimised, stages as u32, seed.is_multiple_of(2), seed),
            };
            let bit = |at: u32| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (32 + at) & 1 == 1;
            let reset = ResetOptions { asynchronous: bit(0), active_high: bit(1), data: bit(2) };
            let netlist = lower(
                &optimised,
                &schedule,
                &Options {
                    ports: if bit(3) { Ports::Split } else { Ports::Packed },
                    valid: bit(4),
                    enable: bit(5),
                    reset: bit(6).then_some(reset),
                    names: PortNames { reset: if bit(1) { "rst" } else { "rst_n" }.into(), ..PortNames::default() },
                    ..Options::default()
                },
            );
            let emitted = alir_hw::emit::Options { keep_names: bit(7), use_dsp: bit(8), ..Default::default() };
            for language in [Language::Verilog, Language::SystemVerilog, Language::Vhdl] {
                let text = alir_hw::emit::text(&netlist, language, &emitted);
                let what = format!("seed {seed}\n{text}");
                let read = Text::read(&text).unwrap_or_else(|why| panic!("{why}: {what}"));
                let mut compared = Compared::new(&same, &mut |_, _, _| Ok(())).unwrap();
                let built = compared.follow(&Side::Text(&read, None), &mut |_, _, _| Ok(()));
                built.unwrap_or_else(|why| panic!("{why}: {what}"));
                compared_outputs += agrees(&model, &compared, &what);
                let has_flags = compared.expected.len() > model.outputs().len();
                assert!(has_flags == bit(4) && (!has_flags || compared.is_shown(model.outputs().len())), "{what}");
                let latency = netlist.interface.latency;
                let clocks = if latency == 0 { "combinational".into() } else { format!("after {latency} clocks") };
                // The theorem about a constant names no cycle.
                let is_constant = compared.found.iter().flatten().all(|&bit| compared.graph.root(bit).node() == 0);
                assert!(is_constant || compared.statement.starts_with(&clocks), "{}: {what}", compared.statement);
            }
        }
        assert!(compared_outputs > 50_000, "{compared_outputs}");
    }

    /// Returns the values of gates for 64 assignments.
    fn values(g: &Graph) -> Vec<u64> {
        let mut random = SplitMix::new(7);
        g.values(|| random.word())
    }

    fn value(values: &[u64], lit: Lit) -> u64 {
        values[lit.node()] ^ if lit.is_negated() { u64::MAX } else { 0 }
    }

    /// Asserts that all gates agree with their equivalent literals.
    fn assert_sound(g: &Graph, what: &str) {
        let values = values(g);
        for node in 0..g.count() as u32 {
            assert_eq!(values[node as usize], value(&values, g.root(Lit(node << 1))), "{what}: gate {node}");
        }
    }

    /// Asserts that the second side agrees with the reference interpreter for 64 assignments; returns the number of
    /// outputs.
    fn agrees(model: &Model, compared: &Compared, what: &str) -> usize {
        let values = values(&compared.graph);
        let code = |bits: &[Lit], kif: Kif, at: usize| {
            let mut raw = BigInt::ZERO;
            for (i, &bit) in bits.iter().enumerate() {
                raw.set_bit(i as u64, value(&values, bit) >> at & 1 == 1);
            }
            wrap(&raw, kif)
        };
        for at in 0..64 {
            let inputs: Vec<BigInt> =
                compared.inputs.iter().zip(model.input_kifs()).map(|(bits, &kif)| code(bits, kif, at)).collect();
            for (j, expected) in golden(model, &inputs, LookupMiss::Zero).unwrap().iter().enumerate() {
                assert_eq!(code(&compared.found[j], model.output_kif(j), at), *expected, "output {j} of {what}");
            }
        }
        64 * model.outputs().len()
    }

    fn kif(signed: bool, int: i32, frac: i32) -> Kif {
        Kif { signed, int, frac }
    }

    /// Returns a program with three inputs of seven bits; `made` builds its only output.
    fn three_inputs(made: impl Fn(&mut Builder, [ValueId; 3]) -> ValueId) -> Program {
        let mut b = Builder::new(vec![0; 3]);
        let inputs = [0, 1, 2].map(|input| b.op(Op::Input { input }, Interval::full(kif(true, 6, 0))));
        let source = Some(made(&mut b, inputs));
        b.output(Output { source, shift: 0, neg: false });
        to_checker_program(&b.finish().expect("a program")).expect("JSON has words for it")
    }

    /// Returns a program that rectifies `2 x + y - z + 1`, adds 1, and drops three bits.
    fn rounded_behind() -> Program {
        three_inputs(|b, [x, y, z]| {
            let sum = b.op(Op::Add { a: y, b: x, shift: 1 }, Interval::full(kif(true, 8, 0)));
            let sum = b.op(Op::Sub { a: sum, b: z, shift: 0 }, Interval::full(kif(true, 8, 0)));
            let sum = b.op(Op::AddConst { x: sum, value: 1.into(), shift: 0 }, Interval::full(kif(true, 9, 0)));
            let positive = b.op(Op::Relu { x: sum }, Interval::full(kif(false, 9, 0)));
            // Sums that never occur would overflow here, so the result for them is irrelevant.
            let more = b.op(Op::AddConst { x: positive, value: 1.into(), shift: 0 }, Interval::full(kif(false, 8, 0)));
            b.op(Op::Quantise { x: more, shift: 0 }, Interval::full(kif(false, 9, -3)))
        })
    }

    /// Returns a program that adds the constants before the rectifier, and subtracts the negated sum.
    fn rounded_ahead(plus: i64) -> Program {
        three_inputs(move |b, [x, y, z]| {
            let sum = b.op(Op::Sub { a: z, b: x, shift: 1 }, Interval::full(kif(true, 8, 0)));
            let sum = b.op(Op::Sub { a: sum, b: y, shift: 0 }, Interval::full(kif(true, 8, 0)));
            let constant = b.op(Op::Const { value: plus.into() }, Interval::full(kif(true, 6, 0)));
            let sum = b.op(Op::Sub { a: constant, b: sum, shift: 0 }, Interval::full(kif(true, 9, 0)));
            b.op(Op::Relu { x: sum }, Interval::full(kif(false, 9, -3)))
        })
    }

    fn replayed(first: &Program, second: &Program, made: &Step) -> Result<bool, String> {
        let mut compared = Compared::new(first, &mut |_, _, _| Ok(())).unwrap();
        compared.replay(&Side::Program(second), made)?;
        Ok(compared.open().next().is_none())
    }

    /// Returns the only step from one program to another, and `true` if it proves all outputs.
    fn made(first: &Program, second: &Program) -> (Step, bool) {
        let Recorded { mut certificate, shown, .. } =
            recorded(&Origin::Program(first), &[(None, Side::Program(second))], 1, false).unwrap();
        (certificate.steps.remove(0), shown.into_iter().all(|shown| shown))
    }

    /// A value that is the negative of another one plus a constant is its affine image; functions of both are compared
    /// over the other value within its range.
    #[test]
    fn what_is_made_of_an_image_is_compared_over_its_value_in_its_range() {
        let (first, second, other) = (rounded_behind(), rounded_ahead(2), rounded_ahead(3));
        let (step, is_shown) = made(&first, &second);
        assert!(is_shown);
        assert_eq!(replayed(&first, &second, &step), Ok(true));
        let images = step.places.values().flat_map(|place| &place.images).filter(|image| image.minus).count();
        let ranges = step.places.values().flat_map(|place| &place.records).filter(|r| !r.ranges.is_empty()).count();
        assert!(images > 0 && ranges > 0, "{images} images, {ranges} records with ranges");
        // A sum that is larger by one is not equal.
        assert_ne!(replayed(&first, &other, &step), Ok(true));
        assert_ne!(replayed(&first, &other, &made(&first, &other).0), Ok(true));
    }

    /// Changes each image and each record by a number, an addition or an omission. The checker rejects all changes,
    /// except an image whose new definition is also useful.
    #[test]
    fn what_is_not_needed_or_does_not_hold_is_refused() {
        let (first, second, other) = (rounded_behind(), rounded_ahead(2), rounded_ahead(3));
        let (right, _) = made(&first, &second);
        let mut refused = 0;
        let mut corrupted = |change: &dyn Fn(&mut Step), what: &str| {
            let mut step = right.clone();
            change(&mut step);
            if step == right {
                return;
            }
            let mut again = Compared::new(&first, &mut |_, _, _| Ok(())).unwrap();
            let replay = again.replay(&Side::Program(&second), &step);
            assert!(replay.is_err(), "{what}: {step:?}");
            assert_sound(&again.graph, what);
            assert_ne!(replayed(&first, &other, &step), Ok(true), "{what}");
            refused += 1;
        };
        for (&at, place) in &right.places {
            for i in 0..place.images.len() {
                let mut change = |what: &str, change: &dyn Fn(&mut Image)| {
                    corrupted(&|step| change(&mut step.places.get_mut(&at).unwrap().images[i]), what);
                };
                change("no such value", &|image| image.of.1 = 1_000);
                change("no such program", &|image| image.of.0 = 7);
                change("another value", &|image| image.of.1 = 0);
                change("a shift beyond the limit", &|image| image.shift = i64::MIN);
                change("another shift", &|image| image.shift += 1);
                change("another sign", &|image| image.minus = !image.minus);
                change("a constant that is even", &|image| image.constant = 2);
                change("another constant", &|image| {
                    image.constant = if image.constant == 0 { 1 } else { -image.constant }
                });
            }
            for i in 0..place.records.len() {
                let mut change = |what: &str, change: &dyn Fn(&mut Record)| {
                    corrupted(&|step| change(&mut step.places.get_mut(&at).unwrap().records[i]), what);
                };
                change("the complement", &|record| record.other = !record.other);
                change("no such bit", &|record| record.bit = 1_000);
                change("leaves left out", &|record| record.leaves.truncate(1));
                change("leaves out of order", &|record| record.leaves.reverse());
                change("a leaf that does not exist", &|record| record.leaves.push(1_000_000));
                change("ranges left out", &|record| record.ranges.clear());
                change("a range that does not exist", &|record| record.ranges.push((9, 9)));
                change("a range that is not needed", &|record| record.ranges.insert(0, (0, 0)));
                let twice = |step: &mut Step| {
                    let records = &mut step.places.get_mut(&at).unwrap().records;
                    records.push(records[i].clone());
                };
                corrupted(&twice, "a record twice");
            }
            let moved = |step: &mut Step| _ = step.places.remove(&at).map(|place| step.places.insert(1_000, place));
            corrupted(&moved, "a place that does not exist");
        }
        assert!(refused > 30, "{refused}");
    }

    /// An added or missing literal, hint or clause in the lemmas of a record is rejected.
    #[test]
    fn clauses_say_what_is_needed_and_nothing_else() {
        let mut g = Graph::new();
        let bits: Vec<Lit> = (0..10).map(|_| g.input()).collect();
        let xor = |g: &mut Graph, bits: &[Lit]| bits.iter().fold(Lit::FALSE, |all, &bit| g.xor(all, bit));
        let forwards = xor(&mut g, &bits);
        let backwards = bits.iter().rev().copied().collect::<Vec<_>>();
        let backwards = xor(&mut g, &backwards);
        let leaves: Vec<u32> = bits.iter().map(|bit| bit.node() as u32).collect();
        let record = Record { bit: 0, other: forwards, leaves, ranges: vec![], reason: Reason::Exhaustion };
        let question = Question::new(&g, backwards, &record).unwrap();
        let lemmas = sat::refutation(&question.clauses(), &mut 1_000_000).expect("they are equal");
        assert!(lemmas.len() > 20, "{}", lemmas.len());
        assert_eq!(question.follow(&lemmas), Ok(vec![]));
        let mut refused = 0;
        for at in 0..lemmas.len() {
            let mut corrupted = |change: &dyn Fn(&mut Vec<Lemma>)| {
                let mut other = lemmas.clone();
                change(&mut other);
                assert!(question.follow(&other).is_err(), "{at}: {:?} {:?}", lemmas[at], other.get(at));
                refused += 1;
            };
            corrupted(&|all| drop(all.remove(at)));
            corrupted(&|all| all.insert(at, all[at].clone()));
            corrupted(&|all| _ = all[at].1.pop());
            corrupted(&|all| _ = all[at].1.remove(0));
            corrupted(&|all| all[at].1.push(1));
            corrupted(&|all| all[at].1.insert(0, 1));
            corrupted(&|all| all[at].1[0] = 0);
            corrupted(&|all| all[at].0.push(1_000_000));
            if let Some(&last) = lemmas[at].0.last() {
                corrupted(&|all| _ = all[at].0.pop());
                corrupted(&|all| all[at].0.push(last));
                corrupted(&|all| *all[at].0.last_mut().unwrap() = -last);
            }
        }
        assert!(refused > 200, "{refused}");
    }

    /// If an operand of an exclusive or equals the complement of an older gate, the exclusive or is merged with that of
    /// the older gate, although it was built from other gates.
    #[test]
    fn an_exclusive_or_is_one_gate_whichever_operand_is_negated() {
        let mut g = Graph::new();
        let [a, b, c, d] = [0; 4].map(|_| g.input());
        let (old, new) = (g.and(a, b), g.and(c, d));
        let first = g.xor(new, a);
        g.merge(new, !old);
        let count = g.count();
        assert_eq!((g.xor(old, a), g.xor(old, !a), g.count()), (!first, first, count));
    }

    /// Two terms that become equal after sums were built over them are merged in the next program.
    #[test]
    fn terms_that_become_the_same_are_one_in_the_next_program() {
        let bit = Interval::full(kif(false, 1, 0));
        let and = |b: &mut Builder, x, y| b.op(Op::Binary { op: BinaryBits::And, a: x, b: y, shift: 0 }, bit.clone());
        let first = three_inputs(|b, [x, y, z]| {
            let (p, q) = (and(b, x, x), and(b, y, y));
            let term = and(b, p, q);
            let sum = b.op(Op::Add { a: term, b: y, shift: 0 }, Interval::full(kif(true, 7, 0)));
            b.op(Op::Add { a: sum, b: z, shift: 0 }, Interval::full(kif(true, 8, 0)))
        });
        let second = three_inputs(|b, [x, y, z]| {
            let (p, q) = (and(b, x, x), and(b, y, y));
            let both = and(b, p, q);
            let other = b.op(Op::Binary { op: BinaryBits::Xor, a: p, b: both, shift: 0 }, bit.clone());
            // Equal to `p`.
            let again = b.op(Op::Binary { op: BinaryBits::Or, a: both, b: other, shift: 0 }, bit.clone());
            let term = and(b, again, q);
            let sum = b.op(Op::Add { a: y, b: z, shift: 0 }, Interval::full(kif(true, 7, 0)));
            b.op(Op::Add { a: sum, b: term, shift: 0 }, Interval::full(kif(true, 8, 0)))
        });
        let mut compared = Compared::new(&first, &mut |_, _, _| Ok(())).unwrap();
        let (p, q) = (compared.inputs[0][0], compared.inputs[1][0]);
        let mut again = Lit::FALSE;
        compared
            .follow(&Side::Program(&second), &mut |_, at, bits: Option<&[Lit]>| {
                again = bits.filter(|_| at == 7).map_or(again, |bits| bits[0]);
                Ok(())
            })
            .unwrap();
        assert_ne!(compared.graph.root(again), p);
        assert!(!compared.is_shown(0));
        let leaves = vec![p.node() as u32, q.node() as u32];
        let record = Record { bit: 0, other: p, leaves, ranges: vec![], reason: Reason::Exhaustion };
        record.apply(&mut compared.graph, again).unwrap();
        // Sums are not compared again in the same program.
        assert!(!compared.is_shown(0));
        let found = compared.found[0].clone();
        compared.follow(&Side::Program(&first), &mut |_, _, _| Ok(())).unwrap();
        let same = |(&x, &y): (&Lit, &Lit)| compared.graph.root(x) == compared.graph.root(y);
        assert!(found.iter().zip(&compared.expected[0]).all(same));
    }

    /// A sum of the low and the high bits of a number equals the number, from the next program on; a sum of other bits
    /// does not.
    #[test]
    fn a_number_that_was_taken_apart_is_its_halves() {
        let full = |signed, int, frac| Interval::full(kif(signed, int, frac));
        let whole =
            |b: &mut Builder, x, y| b.op(Op::Binary { op: BinaryBits::Xor, a: x, b: y, shift: 0 }, full(true, 6, 0));
        let first = three_inputs(|b, [x, y, z]| {
            let number = whole(b, x, y);
            b.op(Op::Add { a: number, b: z, shift: 0 }, full(true, 8, 0))
        });
        let halves = |of_low: i32| {
            three_inputs(move |b, [x, y, z]| {
                let number = whole(b, x, y);
                let high = b.op(Op::Quantise { x: number, shift: 0 }, full(true, 6, -3));
                let low = b.op(Op::Quantise { x: number, shift: 0 }, full(false, of_low, 0));
                let sum = b.op(Op::Add { a: low, b: z, shift: 0 }, full(true, 8, 0));
                b.op(Op::Add { a: sum, b: high, shift: 0 }, full(true, 8, 0))
            })
        };
        for (of_low, is_same) in [(3, true), (2, false)] {
            let mut compared = Compared::new(&first, &mut |_, _, _| Ok(())).unwrap();
            compared.follow(&Side::Program(&halves(of_low)), &mut |_, _, _| Ok(())).unwrap();
            let found = compared.found[0].clone();
            assert!(!compared.is_shown(0));
            compared.follow(&Side::Program(&first), &mut |_, _, _| Ok(())).unwrap();
            let same = |(&x, &y): (&Lit, &Lit)| compared.graph.root(x) == compared.graph.root(y);
            assert_eq!(found.iter().zip(&compared.expected[0]).all(same), is_same, "{of_low}");
        }
    }

    /// Each optimised program is proved equal to the previous one, and only equal values are merged.
    #[test]
    fn optimised_programs_are_shown_one_after_another() {
        let (mut outputs, mut shown, mut images, mut ranges, mut gone_over) = (0, 0, 0, 0, 0);
        for seed in 0..60 {
            let model = drawn(4 * seed + 1);
            let Some(first) = to_checker_program(&model) else { continue };
            let mut current = model;
            let mut programs = Vec::new();
            for name in alir_opt::passes::pipeline((1 + seed % 2) as u8) {
                let (next, _) = alir_opt::passes::run(&current, &[name]);
                let Some(second) = to_checker_program(&next).filter(|_| next != current) else { continue };
                programs.push(second);
                current = next;
            }
            let names: Vec<String> = (0..programs.len()).map(|i| i.to_string()).collect();
            let sides: Vec<_> = names.iter().map(Some).zip(programs.iter().map(Side::Program)).collect();
            let Ok(found) = recorded(&Origin::Program(&first), &sides, 1, false) else { continue };
            gone_over += programs.len() - found.certificate.steps.len();
            outputs += found.shown.len();
            shown += found.shown.iter().filter(|&&shown| shown).count();
            let mut again = Compared::new(&first, &mut |_, _, _| Ok(())).unwrap();
            for (at, step) in found.certificate.steps.iter().enumerate() {
                let is_last = at + 1 == found.certificate.steps.len();
                assert!(is_last || !step.places.is_empty(), "seed {seed}: a program without records");
                let (_, side) = sides.iter().find(|side| side.0 == step.program.as_ref()).expect("one of them");
                images += step.places.values().map(|place| place.images.len()).sum::<usize>();
                let records = step.places.values().flat_map(|place| &place.records);
                ranges += records.filter(|record| !record.ranges.is_empty()).count();
                again.replay(side, step).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            }
            assert_sound(&again.graph, &format!("seed {seed}"));
            assert!((0..found.shown.len()).all(|output| again.is_shown(output) == found.shown[output]), "seed {seed}");
        }
        assert!(shown * 20 >= outputs * 19 && images > 20 && ranges > 0, "{shown} of {outputs}, {images}, {ranges}");
        assert!(gone_over > 20, "{gone_over}");
    }

    /// Optimised programs are proved equal to the model without records. A program with another operation is not proved
    /// equal, and no program is proved with a budget of zero.
    #[test]
    fn programs_are_shown_without_records() {
        let (mut tried, mut shown, mut differ) = (0, 0, 0);
        for seed in 0..60 {
            let model = drawn(4 * seed + 1);
            let mut programs = vec![model.clone()];
            for name in alir_opt::passes::pipeline((1 + seed % 2) as u8) {
                programs.push(alir_opt::passes::run(programs.last().unwrap(), &[name]).0);
            }
            if to_checker_program(&model).is_none() || programs.iter().any(|made| to_checker_program(made).is_none()) {
                continue;
            }
            let (is_shown, _, spent) = prove_chain(&model, &programs, u64::MAX, u64::MAX);
            tried += 1;
            shown += u32::from(is_shown);
            let nothing = prove_chain(&model, &programs, u64::MAX, 0);
            assert!(spent > 0 && !nothing.0 && nothing.2 == 0);
            let Some(other) = alir_testing::random::with_a_sum_for_a_difference(&model).filter(|other| *other != model)
            else {
                continue;
            };
            if to_checker_program(&other).is_some() && prove_chain(&other, &programs, u64::MAX, u64::MAX).0 {
                let mut rng = SplitMix::new(seed);
                for _ in 0..200 {
                    let codes = alir_core::ir::draw_inputs(&model, &mut rng);
                    let golden = |m: &Model| alir_interp::golden(m, &codes, alir_interp::LookupMiss::Zero).unwrap();
                    assert_eq!(golden(&model), golden(&other), "seed {seed}");
                }
            } else {
                differ += 1;
            }
        }
        assert!(shown * 20 >= tried * 19 && tried > 30 && differ > 10, "{shown} of {tried}, {differ}");
    }

    /// Gates that records and sums merge between two different programs are equal: gates with one root have the same
    /// samples.
    #[test]
    fn only_what_is_equal_becomes_one_gate() {
        for seed in 0..200 {
            let model = drawn(seed);
            let mut other = alir_core::ir::Builder::like(&model);
            // One operation of the second program is another one.
            let changed = (seed as usize * 7) % model.nodes().len().max(1);
            for (at, node) in model.nodes().iter().enumerate() {
                let mut node = node.clone();
                if at == changed {
                    node.op = match node.op {
                        alir_core::ir::Op::Add { a, b, shift } => alir_core::ir::Op::Sub { a, b, shift },
                        alir_core::ir::Op::Sub { a, b, shift } => alir_core::ir::Op::Add { a, b, shift },
                        alir_core::ir::Op::Relu { x } => alir_core::ir::Op::Quantise { x, shift: 0 },
                        alir_core::ir::Op::Quantise { x, .. } => alir_core::ir::Op::Relu { x },
                        op => op,
                    };
                }
                other.push(node);
            }
            for &output in model.outputs() {
                other.output(output);
            }
            for table in model.tables() {
                other.table(table.clone());
            }
            let Ok(other) = other.finish() else { continue };
            let (Some(first), Some(second)) = (to_checker_program(&model), to_checker_program(&other)) else {
                continue;
            };
            let name = "other".to_owned();
            let Ok(found) = recorded(&Origin::Program(&first), &[(Some(&name), Side::Program(&second))], 1, false)
            else {
                continue;
            };
            // The written and parsed certificate merges the same gates.
            let mut certificate = found.certificate;
            certificate.steps.push(Step::default());
            let read = Certificate::read(&text(&certificate));
            if certificate.steps[0].places.is_empty() {
                assert!(
                    read.is_err_and(|why| why.contains("a program without records that is not marked as bare")),
                    "seed {seed}"
                );
                continue;
            }
            let read = read.unwrap();
            assert_eq!(read, certificate);
            let mut again = Compared::new(&first, &mut |_, _, _| Ok(())).unwrap();
            again.replay(&Side::Program(&second), &read.steps[0]).unwrap();
            assert_sound(&again.graph, &format!("seed {seed}"));
            assert_eq!(super::shown(&again), found.shown, "seed {seed}");
        }
    }
}
