//! Certificates for `alir2hdl-check`: what it needs to be told, found by search over its own gates.
//!
//! The checker builds a program and what was made of it value by value. Here the same is done, and each bit of a value that
//! is no gate of the program yet is compared with those that have the same samples: by all assignments of a few leaves,
//! or by a SAT question with a proof. What is found becomes a record, is applied as the checker will apply it, and makes the values
//! above it the same gates.

use super::sat;
use alir2hdl_check::certificate::{Certificate, HEAD, Step};
use alir2hdl_check::graph::{Graph, Lit, MOST_LEAVES, Reason, Record, WORDS};
use alir2hdl_check::program::{Image, Program, Type};
use alir2hdl_check::sums::Sum;
use alir2hdl_check::text::Text;
use alir2hdl_check::{AT_THE_END, Compared, Side};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::hash::{Hash, Hasher};

/// Gates with the same samples that are tried for one bit.
const CANDIDATES: usize = 3;
/// As many of them are tried for all assignments of values that both are made of.
const NEAR: usize = 64;
/// Leaves of which all assignments are tried.
const LEAVES: usize = 12;
/// Most leaves over which two gates are compared.
const FRONTIER: usize = 64;
/// Levels below two gates that are looked at, one after another; the last one is all of them.
const LEVELS: [usize; 10] = [1, 2, 3, 4, 6, 9, 14, 25, 50, usize::MAX];
/// Levels from which on the solver is asked.
const ASKED: usize = 9;

/// What one comparison of two gates may take.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// Gates of the cone.
    gates: usize,
    /// Steps of the solver.
    steps: u64,
}

/// Without the solver.
const BY_TRIAL: Effort = Effort { gates: 1_500, steps: 0 };
/// For a bit of a value.
const OF_VALUE: Effort = Effort { gates: 1_500, steps: 2_000 };
/// For a bit of a value that shows an image of another one.
const OF_LIKE: Effort = Effort { gates: 3_000, steps: 20_000 };
/// For a bit of an output.
const OF_OUTPUT: Effort = Effort { gates: 60_000, steps: 100_000 };
/// What a step may take in all: steps of the solver, and gates that are looked at.
const OF_STEP: (u64, u64) = (150_000, 100_000_000);

/// What a value is for the assignments that are looked at.
struct Shown {
    /// The same for all images of it.
    direction: u64,
    /// The first code, and by how much the first other one is more.
    first: i128,
    step: i128,
    frac: i64,
}

impl Shown {
    /// Nothing of a value that is always the same, or has too many bits.
    fn of(g: &Graph, bits: &[Lit], kind: Type) -> Option<Shown> {
        if bits.len() > 100 {
            return None;
        }
        let words: Vec<[u64; WORDS]> = bits.iter().map(|&bit| g.sampled(bit)).collect();
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
            // By which odd number, and power of two, it is more than the first other one.
            let zeros = |v: i128| i64::from(v.trailing_zeros());
            let odd = if more == 0 { 0 } else { (more >> zeros(more)) * step.signum() };
            (odd, if more == 0 { 0 } else { zeros(more) - zeros(step) }).hash(&mut hash);
        }
        (step != 0).then(|| Shown { direction: hash.finish(), first, step, frac: kind.frac })
    }

    /// What this is of a value that has shown an image of it.
    fn as_image_of(&self, other: &Shown, is_own: bool, value: usize) -> Option<Image> {
        let point = |shown: &Shown| i64::from(shown.step.trailing_zeros()) - shown.frac;
        let (minus, shift) = ((self.step < 0) != (other.step < 0), point(self) - point(other));
        let frac = self.frac.max(other.frac - shift);
        let at = |v: i128, from: i64| {
            u32::try_from(frac - from).ok().filter(|&up| up < 60).and_then(|up| v.checked_mul(1 << up))
        };
        let (own, its) = (at(self.first, self.frac)?, at(other.first, other.frac - shift)?);
        let plus = own.checked_add(if minus { its } else { -its })?;
        let zeros = if plus == 0 { 0 } else { plus.trailing_zeros() };
        let constant = (i64::try_from(plus >> zeros).ok()?, if plus == 0 { 0 } else { frac - i64::from(zeros) });
        Some(Image { is_own, value, minus, shift, constant })
    }
}

/// What all images of a sum have in common, if it is more than a term: its terms up to one factor.
fn direction(sum: &Sum) -> Option<Vec<(u32, i128)>> {
    let (_, first) = sum.terms.first_key_value().filter(|_| sum.terms.len() > 1)?;
    let zeros = sum.terms.values().fold(0, |all, factor| all | factor).trailing_zeros();
    Some(sum.terms.iter().map(|(&term, factor)| (term, (factor >> zeros) * first.signum())).collect())
}

/// Values by their direction.
type ByDirection = FxHashMap<u64, Vec<(usize, Shown)>>;

/// The search for the records of one step.
struct Search {
    /// Values of the program before, and of the one that is built.
    before: ByDirection,
    own: ByDirection,
    images: FxHashMap<usize, Vec<Image>>,
    /// Gates of values, and what is false because the values are in their ranges.
    ranges: Vec<(Vec<u32>, Vec<Lit>)>,
    /// Which of these have a gate.
    ranges_of: FxHashMap<u32, Vec<usize>>,
    /// Gates of values that are sums: what is made of these is looked at over them. Of values that are images of one another
    /// these are the gates of the oldest one, which those of the others are made of.
    sums: FxHashSet<u32>,
    /// Those gates by what all images of the value have in common: the terms up to one factor.
    oldest: FxHashMap<Vec<(u32, i128)>, Vec<u32>>,
    /// Pairs that were looked at without success in this step.
    failed: FxHashSet<(Lit, Lit)>,
    /// Number of gates ahead of the step.
    start: usize,
    /// Gates of values of the first side, and those made since, by their samples or the complements.
    by_samples: FxHashMap<[u64; WORDS], Vec<Lit>>,
    /// Those that are among them.
    known: FxHashSet<u32>,
    records: FxHashMap<usize, Vec<Record>>,
    /// What is left of [`OF_STEP`].
    steps: u64,
    gates: u64,
}

/// Samples up to the complement, and whether it is that.
fn normal(samples: [u64; WORDS]) -> ([u64; WORDS], bool) {
    if samples[0] & 1 == 1 { (samples.map(|word| !word), true) } else { (samples, false) }
}

impl Search {
    fn new() -> Search {
        Search {
            by_samples: FxHashMap::from_iter([([0; WORDS], vec![Lit::FALSE])]),
            known: FxHashSet::default(),
            records: FxHashMap::default(),
            before: ByDirection::default(),
            own: ByDirection::default(),
            images: FxHashMap::default(),
            ranges: Vec::new(),
            ranges_of: FxHashMap::default(),
            sums: FxHashSet::default(),
            oldest: FxHashMap::default(),
            failed: FxHashSet::default(),
            start: 0,
            steps: OF_STEP.0,
            gates: OF_STEP.1,
        }
    }

    fn learn(&mut self, g: &Graph, bits: &[Lit]) {
        for &bit in bits {
            let bit = g.root(bit);
            if self.known.insert(bit.node() as u32) {
                let (key, flip) = normal(g.sampled(bit));
                self.by_samples.entry(key).or_default().push(bit.flipped(flip));
            }
        }
    }

    /// Makes an image of a value that an operation seems to be, before it is made; bits that it seems to have, with their
    /// fractional bits.
    fn prepare(&mut self, g: &mut Graph, program: &Program, at: usize, shown: Option<&Shown>) -> Vec<(Vec<Lit>, i64)> {
        let sum = program.sum(g, at);
        if sum.is_none() {
            for &value in program.operands(at) {
                self.make(g, at, Image { is_own: true, value, minus: false, shift: 0, constant: (0, 0) }, true);
            }
        }
        let (mut likes, mut found) = (Vec::new(), None);
        let Some(shown) = shown else { return likes };
        for (is_own, values) in [(false, &self.before), (true, &self.own)] {
            for (value, other) in values.get(&shown.direction).map_or(&[][..], Vec::as_slice) {
                let Some(image) = shown.as_image_of(other, is_own, *value) else { continue };
                let Ok((value, own)) = image.sum(g) else { continue };
                if (image.minus, image.constant.0) == (false, 0) {
                    let mut bits = value.bits.clone();
                    if !value.kind.signed {
                        bits.push(Lit::FALSE);
                    }
                    likes.push((bits, value.kind.frac - image.shift));
                } else if found.is_none() && sum.as_ref().is_none_or(|sum| *sum == own) {
                    found = Some(image);
                }
            }
        }
        if likes.is_empty()
            && let Some(image) = found
        {
            likes.extend(self.make(g, at, image, false));
        }
        likes
    }

    /// Makes an image, and keeps it; if it is wanted for the range alone only if that is not known.
    fn make(&mut self, g: &mut Graph, at: usize, image: Image, for_range: bool) -> Option<(Vec<Lit>, i64)> {
        let values = if image.is_own { &g.sums.own } else { &g.sums.before };
        let value = values.get(image.value)?;
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
        let same = self.ranges_of.get(nodes.last()?).map_or(&[][..], Vec::as_slice);
        let is_known = same.iter().any(|&known| self.ranges[known].0 == nodes);
        if for_range && (is_known || nodes.len() == 1) {
            return None;
        }
        let (bits, frac, facts) = image.make(g).ok()?;
        let facts: Vec<Lit> = facts.into_iter().filter(|fact| fact.node() != 0).collect();
        self.learn(g, &bits);
        self.images.entry(at).or_default().push(image);
        if !is_known {
            nodes.iter().for_each(|&node| self.ranges_of.entry(node).or_default().push(self.ranges.len()));
            self.ranges.push((nodes, facts));
        }
        Some((bits, frac))
    }

    /// The gates that some gates are made of, as far as those where `ends` says so, or inputs: these are added to the
    /// leaves. Nothing if there are too many.
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
        self.gates = self.gates.saturating_sub(seen.len() as u64);
        true
    }

    /// Shows that two literals are equal over gates of values, where these are in their ranges.
    fn equal_over_values(&mut self, g: &mut Graph, at: usize, pair: (Lit, Lit), effort: Effort) -> bool {
        // Gates of before this step that the newer one is made of.
        let (x, y) = (pair.0.node() as u32, pair.1.node() as u32);
        let mut found = Default::default();
        if x.max(y) as usize >= self.start
            && self.deepened(g, &[x.max(y)], |search, node| (node as usize) < search.start, &mut found)
            && let Ok(cone) = g.cone(&[pair.0, pair.1], &found.1)
        {
            found.0.extend(&cone);
            if self.over(g, at, pair, found, false, effort) {
                return true;
            }
        }
        // Sums that both are made of.
        let mut found = Default::default();
        self.deepened(
            g,
            &[x, y],
            |search, node| (node as usize) < search.start && search.sums.contains(&node),
            &mut found,
        ) && self.over(g, at, pair, found, true, effort)
    }

    /// Shows that two literals are equal over some leaves. With `more`, also where values are in their ranges of which the
    /// two do not depend on every bit.
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
        // Values of which most bits are there first: others would take their place.
        let missing = |known: usize| self.ranges[known].0.iter().filter(|node| !found.0.contains(node)).count();
        let known: BTreeSet<(usize, usize)> = known.map(|&known| (missing(known), known)).collect();
        let mut facts = Vec::new();
        for (_, known) in known {
            let (nodes, own) = self.ranges[known].clone();
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
            facts.extend(own);
        }
        let mut leaves = found.1;
        leaves.sort_unstable();
        self.shown(g, at, Record { pair, leaves, facts, reason: Reason::Exhaustion }, effort)
    }

    /// Shows that bits are those of a value that was shown to be like it, as one of them is.
    fn place_all(&mut self, g: &mut Graph, at: usize, bits: &[Lit], frac: i64, likes: &[(Vec<Lit>, i64)]) {
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
        // Those that are the most of it already.
        let open = |pairs: &Vec<(Lit, Lit)>| pairs.iter().filter(|(x, y)| g.root(*x) != g.root(*y)).count();
        pairs.sort_by_cached_key(open);
        for pairs in pairs.into_iter().take(CANDIDATES) {
            let is_placed = |(x, y): (Lit, Lit)| {
                let (x, y) = (g.root(x), g.root(y));
                x == y || (g.sampled(x) == g.sampled(y) && self.equal(g, at, (x, y), OF_LIKE))
            };
            if pairs.into_iter().all(is_placed) {
                return;
            }
        }
    }

    /// Looks for a known gate that a bit of this value is equal to.
    fn place(&mut self, g: &mut Graph, at: usize, bit: Lit) {
        let bit = g.root(bit);
        if bit.node() == 0 || self.known.contains(&(bit.node() as u32)) {
            return;
        }
        let (key, flip) = normal(g.sampled(bit));
        let candidates = self.by_samples.get(&key).cloned().unwrap_or_default();
        let pair = |old: &Lit| (bit, old.flipped(flip));
        // Many gates are hardly ever true: what is made of the same gates of before stands right behind these.
        let below = self.newest_below(g, bit);
        let mut near = candidates.clone();
        near.sort_by_key(|old| (old.node() < below, old.node()));
        let _ = near.iter().take(NEAR).any(|old| self.equal_over_values(g, at, pair(old), BY_TRIAL))
            || candidates.iter().take(CANDIDATES).any(|old| self.equal(g, at, pair(old), OF_VALUE));
    }

    /// The newest gate of before this step that a bit is made of.
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

    /// Shows that two literals are equal, if that is possible with this effort, and makes them so.
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
            let record = |reason| Record { pair, leaves: cut.leaves.clone(), facts: Vec::new(), reason };
            let found = if cut.leaves.len() <= LEAVES {
                let words = 1 << cut.leaves.len().saturating_sub(6);
                self.gates = self.gates.saturating_sub(size as u64 * words);
                Some(record(Reason::Exhaustion))
            } else if cut.is_whole || levels >= ASKED {
                self.asked(g, &record(Reason::Exhaustion), cut.is_whole, effort)
                    .map(|clauses| record(Reason::Clauses(clauses)))
            } else {
                continue;
            };
            if let Some(record) = found
                && self.kept(g, at, record)
            {
                return true;
            }
            if cut.is_whole {
                return false;
            }
        }
        false
    }

    /// Shows a record, by all assignments if the leaves are few.
    fn shown(&mut self, g: &mut Graph, at: usize, mut record: Record, effort: Effort) -> bool {
        if record.leaves.len() > MOST_LEAVES {
            match self.asked(g, &record, true, effort) {
                Some(clauses) => record.reason = Reason::Clauses(clauses),
                None => return false,
            }
        }
        self.kept(g, at, record)
    }

    /// Applies a record, and keeps it if it holds.
    fn kept(&mut self, g: &mut Graph, at: usize, record: Record) -> bool {
        let holds = g.apply(&record).is_ok();
        if holds {
            self.records.entry(at).or_default().push(record);
        }
        holds
    }

    /// Clauses that refute that two literals differ.
    fn asked(&mut self, g: &Graph, record: &Record, is_whole: bool, effort: Effort) -> Option<Vec<Vec<i32>>> {
        // Leaves that are no inputs may be what makes them differ: less is given to that.
        let given = if is_whole { effort.steps } else { effort.steps / 8 }.min(self.steps);
        let lits: Vec<Lit> = [record.pair.0, record.pair.1].into_iter().chain(record.facts.iter().copied()).collect();
        let cone = g.cone(&lits, &record.leaves).ok().filter(|_| given > 0)?;
        let mut steps = given;
        let found = sat::refutation(&g.question(&lits, &record.leaves, &cone), &mut steps);
        self.steps -= given - steps;
        self.gates = self.gates.saturating_sub(20 * cone.len() as u64);
        found
    }

    /// The gates within some levels below two literals; nothing if there are more than `most`, or the step has taken all
    /// that it may.
    fn cut(&mut self, g: &Graph, pair: (Lit, Lit), levels: usize, most: usize) -> Option<Cut> {
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut cut = Cut { leaves: Vec::new(), gates: 0, is_whole: true };
        let mut level = vec![pair.0.node() as u32, pair.1.node() as u32];
        for deep in 0.. {
            self.gates = self.gates.saturating_sub(level.len() as u64);
            if self.gates == 0 || cut.gates > most {
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
        cut.leaves.sort_unstable();
        Some(cut)
    }
}

/// The gates within some levels below others.
struct Cut {
    /// Where they end.
    leaves: Vec<u32>,
    /// How many there are.
    gates: usize,
    /// Whether the leaves are inputs.
    is_whole: bool,
}

/// The model's gates, and a search that knows them.
///
/// # Errors
/// What the checker objects to.
fn begin(model: &Program) -> Result<(Compared, RefCell<Search>), String> {
    let search = RefCell::new(Search::new());
    let compared = Compared::of(model, None, &mut |g: &mut Graph, at, bits: Option<&[Lit]>| {
        let Some(bits) = bits else { return Ok(()) };
        let mut search = search.borrow_mut();
        search.learn(g, bits);
        if let Some(shown) = Shown::of(g, bits, model.kind(at)) {
            search.own.entry(shown.direction).or_default().push((at, shown));
        }
        Ok(())
    })?;
    Ok((compared, search))
}

/// What the checker needs to see that this is the model, over what was built before.
///
/// # Errors
/// What the checker objects to.
fn step(compared: &mut Compared, search: &RefCell<Search>, side: &Side<'_>) -> Result<Step, String> {
    (search.borrow_mut().steps, search.borrow_mut().gates) = OF_STEP;
    search.borrow_mut().start = compared.graph.count();
    let own = std::mem::take(&mut search.borrow_mut().own);
    search.borrow_mut().before = own;
    // What its values will show.
    let mut all = Vec::new();
    if let Side::Program(program) = side {
        Compared::of(program, None, &mut |g: &mut Graph, at, bits: Option<&[Lit]>| {
            all.extend(bits.map(|bits| Shown::of(g, bits, program.kind(at))));
            Ok(())
        })?;
    }
    search.borrow_mut().failed.clear();
    let mut likes = Vec::new();
    compared.follow(side, &mut |g: &mut Graph, at, bits: Option<&[Lit]>| {
        let mut search = search.borrow_mut();
        let Some(bits) = bits else {
            if let (Side::Program(program), Some(shown)) = (side, all.get(at)) {
                likes = search.prepare(g, program, at, shown.as_ref());
            }
            return Ok(());
        };
        if let Some(Some(shown)) = all.get_mut(at).map(Option::take) {
            search.own.entry(shown.direction).or_default().push((at, shown));
        }
        match side {
            Side::Program(program) if !likes.is_empty() => {
                search.place_all(g, at, bits, program.kind(at).frac, &likes);
            }
            _ => bits.iter().for_each(|&bit| search.place(g, at, bit)),
        }
        search.learn(g, bits);
        Ok(())
    })?;
    let mut search = search.borrow_mut();
    // What is open at the outputs gets more: most of it where nothing follows.
    let effort = if matches!(side, Side::Text(_)) { OF_OUTPUT } else { OF_LIKE };
    let all = |side: &[Vec<Lit>]| side.concat();
    let pairs: Vec<(Lit, Lit)> = all(&compared.expected).into_iter().zip(all(&compared.found)).collect();
    let g = &mut compared.graph;
    search.failed.clear();
    for (x, y) in pairs {
        let (x, y) = (g.root(x), g.root(y));
        if x != y && g.sampled(x) == g.sampled(y) {
            search.equal(g, AT_THE_END, (x, y), effort);
        }
    }
    let records = std::mem::take(&mut search.records).into_iter().collect();
    let images = std::mem::take(&mut search.images).into_iter().collect();
    Ok(Step { program: None, records, images })
}

/// Whether each output is the same gates on both sides.
fn shown(compared: &Compared) -> Vec<bool> {
    (0..compared.expected.len()).map(|output| compared.is_shown(output)).collect()
}

/// A certificate, and which outputs it shows.
pub struct Recorded {
    /// What the checker replays.
    pub certificate: Certificate,
    /// Whether it shows each output.
    pub shown: Vec<bool>,
}

/// Records a certificate for a text, over programs between with their file names if there are any: that one of the two
/// ways which shows more outputs.
///
/// # Errors
/// What the checker objects to in the text or a program.
pub fn record(model: &Program, between: &[(String, Program)], text: &Text<'_>) -> Result<Recorded, String> {
    let (mut compared, search) = begin(model)?;
    let mut certificate = Certificate::default();
    let programs = between.iter().map(|(name, program)| (Some(name), Side::Program(program)));
    for (name, side) in programs.chain([(None, Side::Text(text))]) {
        let made = step(&mut compared, &search, &side)?;
        certificate.steps.push(Step { program: name.cloned(), ..made });
    }
    let over = Recorded { certificate, shown: shown(&compared) };
    if between.is_empty() || over.shown.iter().all(|&shown| shown) {
        return Ok(over);
    }
    drop((compared, search));
    let (mut compared, search) = begin(model)?;
    let steps = vec![step(&mut compared, &search, &Side::Text(text))?];
    let straight = shown(&compared);
    let count = |list: &[bool]| list.iter().filter(|&&shown| shown).count();
    if count(&over.shown) > count(&straight) {
        return Ok(over);
    }
    Ok(Recorded { certificate: Certificate { steps, case: None }, shown: straight })
}

/// The lines of the file of a certificate.
pub fn text(certificate: &Certificate) -> String {
    let mut out = format!("{HEAD}\n");
    if let Some(case) = &certificate.case {
        let bits: String = case.iter().map(|&bit| if bit { '1' } else { '0' }).collect();
        let _ = writeln!(out, "case {bits}");
    }
    for step in &certificate.steps {
        let _ = writeln!(out, "step {}", step.program.as_deref().unwrap_or("text"));
        let places: BTreeSet<usize> = step.records.keys().chain(step.images.keys()).copied().collect();
        for place in places {
            let _ = writeln!(out, "at {place}");
            for image in step.images.get(&place).into_iter().flatten() {
                let (own, minus, (code, point)) = (u8::from(image.is_own), u8::from(image.minus), image.constant);
                let _ = writeln!(out, "image {own} {} {minus} {} {code} {point}", image.value, image.shift);
            }
            for record in step.records.get(&place).into_iter().flatten() {
                let word = if record.reason == Reason::Exhaustion { "all" } else { "clauses" };
                let _ = write!(out, "{word} {} {}", record.pair.0.0, record.pair.1.0);
                for leaf in &record.leaves {
                    let _ = write!(out, " {leaf}");
                }
                for (i, fact) in record.facts.iter().enumerate() {
                    let _ = write!(out, "{}{}", if i == 0 { " / " } else { " " }, fact.0);
                }
                out.push('\n');
                if let Reason::Clauses(clauses) = &record.reason {
                    for clause in clauses {
                        for literal in clause {
                            let _ = write!(out, "{literal} ");
                        }
                        out.push_str("0\n");
                    }
                    out.push_str("end\n");
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats;
    use crate::interp::{LookupMiss, golden};
    use crate::ir::{BinaryBits, Builder, Model, Op, Output, ValueId};
    use crate::num::{Interval, Kif, wrap};
    use crate::random::{self, Profile, Recipe};
    use num_bigint::BigInt;

    /// The program as the checker reads it; nothing if JSON has no words for it, or the checker reads no such thing.
    fn program(model: &Model) -> Option<Program> {
        let mut bytes = Vec::new();
        formats::prepare(model, formats::Target::Alir4).ok()?.write(&mut bytes).unwrap();
        Program::read(&bytes).ok()
    }

    /// Small programs, and some of any width.
    fn drawn(seed: u64) -> Model {
        if seed.is_multiple_of(4) { random::model(seed) } else { Recipe::seeded(Profile::TINY, 24, seed).build() }
    }

    /// The checker's gates of a program, for random inputs, are what the golden interpreter says.
    #[test]
    fn the_checkers_gates_agree_with_the_golden_interpreter() {
        let (mut compared_outputs, mut recorded) = (0, 0);
        for seed in 0..300 {
            let model = drawn(seed);
            let Some(same) = program(&model) else { continue };
            let Ok(mut compared) = Compared::of(&same, None, &mut |_, _, _| Ok(())) else { continue };
            compared.follow(&Side::Program(&same), &mut |_, _, _| Ok(())).unwrap();
            compared_outputs += agrees(&model, &compared, &format!("seed {seed}"));
            // Ranges that are known by then may make other gates of it; a record shows that those are the same.
            if compared.open().next().is_some() {
                let (mut again, search) = begin(&same).unwrap();
                step(&mut again, &search, &Side::Program(&same)).unwrap();
                assert_eq!(again.open().next(), None, "seed {seed}: a program is itself");
                recorded += 1;
            }
        }
        assert!(compared_outputs > 10_000 && recorded < 10, "{compared_outputs} {recorded}");
    }

    /// So are those of a text, as it is read, in both languages with all kinds of ports.
    #[test]
    fn the_checkers_reading_of_texts_agrees_with_the_golden_interpreter() {
        use crate::netlist::{Options, PortNames, Ports, ResetOptions, lower};
        use crate::rtl::Language;
        let mut compared_outputs = 0;
        for seed in 0..160u64 {
            let model = drawn(seed);
            let Some(same) = program(&model) else { continue };
            let (optimised, _) = crate::passes::run(&model, crate::passes::pipeline((seed % 3) as u8));
            let schedule = match seed / 3 % 4 {
                0 => crate::schedule::Schedule::combinational(optimised.nodes().len()),
                stages => crate::schedule::random(&optimised, stages as u32, seed.is_multiple_of(2), seed),
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
            let emitted = crate::emit::Options { keep_names: bit(7), use_dsp: bit(8), ..Default::default() };
            for language in [Language::Verilog, Language::Vhdl] {
                let text = crate::emit::text(&netlist, language, &emitted);
                let what = format!("seed {seed}\n{text}");
                let read = Text::read(&text).unwrap_or_else(|why| panic!("{why}: {what}"));
                let mut compared = Compared::of(&same, None, &mut |_, _, _| Ok(())).unwrap();
                let built = compared.follow(&Side::Text(&read), &mut |_, _, _| Ok(()));
                built.unwrap_or_else(|why| panic!("{why}: {what}"));
                compared_outputs += agrees(&model, &compared, &what);
                let has_flags = compared.expected.len() > model.outputs().len();
                assert!(has_flags == bit(4) && (!has_flags || compared.is_shown(model.outputs().len())), "{what}");
                let latency = netlist.interface.latency;
                let clocks = if latency == 0 { "combinational".into() } else { format!("after {latency} clocks") };
                // Constants are of no clock.
                let is_constant = compared.found.iter().flatten().all(|&bit| compared.graph.root(bit).node() == 0);
                assert!(is_constant || compared.statement.starts_with(&clocks), "{}: {what}", compared.statement);
            }
        }
        assert!(compared_outputs > 50_000, "{compared_outputs}");
    }

    /// For the assignments that were looked at, the second side is what the golden interpreter says; how many outputs.
    fn agrees(model: &Model, compared: &Compared, what: &str) -> usize {
        let code = |bits: &[Lit], kif: Kif, at: usize| {
            let mut raw = BigInt::ZERO;
            for (i, &bit) in bits.iter().enumerate() {
                raw.set_bit(i as u64, compared.graph.sampled(bit)[at / 64] >> (at % 64) & 1 == 1);
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

    /// A program of three inputs of seven bits; `made` gives the value of its only output.
    fn of_three(made: impl Fn(&mut Builder, [ValueId; 3]) -> ValueId) -> Program {
        let mut b = Builder::new(vec![0; 3]);
        let inputs = [0, 1, 2].map(|input| b.op(Op::Input { input }, Interval::full(kif(true, 6, 0))));
        let source = Some(made(&mut b, inputs));
        b.output(Output { source, shift: 0, neg: false });
        program(&b.finish().expect("a program")).expect("JSON has words for it")
    }

    /// `2 x + y - z + 1` is rectified, 1 is added, and three bits are dropped.
    fn rounded_behind() -> Program {
        of_three(|b, [x, y, z]| {
            let sum = b.op(Op::Add { a: y, b: x, shift: 1 }, Interval::full(kif(true, 8, 0)));
            let sum = b.op(Op::Sub { a: sum, b: z, shift: 0 }, Interval::full(kif(true, 8, 0)));
            let sum = b.op(Op::AddConst { x: sum, value: 1.into(), shift: 0 }, Interval::full(kif(true, 9, 0)));
            let positive = b.op(Op::Relu { x: sum }, Interval::full(kif(false, 9, 0)));
            // What it is for numbers that the sum never is does not matter: it overflows there.
            let more = b.op(Op::AddConst { x: positive, value: 1.into(), shift: 0 }, Interval::full(kif(false, 8, 0)));
            b.op(Op::Quantise { x: more, shift: 0 }, Interval::full(kif(false, 9, -3)))
        })
    }

    /// All is added ahead of the rectifier, by taking the negative of the sum from it.
    fn rounded_ahead(plus: i64) -> Program {
        of_three(move |b, [x, y, z]| {
            let sum = b.op(Op::Sub { a: z, b: x, shift: 1 }, Interval::full(kif(true, 8, 0)));
            let sum = b.op(Op::Sub { a: sum, b: y, shift: 0 }, Interval::full(kif(true, 8, 0)));
            let constant = b.op(Op::Const { value: plus.into() }, Interval::full(kif(true, 6, 0)));
            let sum = b.op(Op::Sub { a: constant, b: sum, shift: 0 }, Interval::full(kif(true, 9, 0)));
            b.op(Op::Relu { x: sum }, Interval::full(kif(false, 9, -3)))
        })
    }

    fn replayed(first: &Program, second: &Program, made: &Step) -> Result<bool, String> {
        let mut compared = Compared::of(first, None, &mut |_, _, _| Ok(())).unwrap();
        compared.replay(&Side::Program(second), made)?;
        Ok(compared.open().next().is_none())
    }

    /// A value that is the negative of another one and a constant is its image, and what both are made into is compared over
    /// the one, where it is in its range.
    #[test]
    fn what_is_made_of_an_image_is_compared_over_its_value_in_its_range() {
        let (first, second) = (rounded_behind(), rounded_ahead(2));
        let (mut compared, search) = begin(&first).unwrap();
        let made = step(&mut compared, &search, &Side::Program(&second)).unwrap();
        assert_eq!(compared.open().next(), None);
        assert_eq!(replayed(&first, &second, &made), Ok(true));
        let images = made.images.values().flatten().filter(|image| image.constant.0 != 0 || image.minus).count();
        let with_facts = made.records.values().flatten().filter(|record| !record.facts.is_empty()).count();
        assert!(images > 0 && with_facts > 0, "{images} images, {with_facts} records with facts");
        // Without images the records do not hold, or show nothing.
        assert_ne!(replayed(&first, &second, &Step { images: Default::default(), ..made.clone() }), Ok(true));
        // A sum that is one more is no such thing.
        let other = rounded_ahead(3);
        let (mut compared, search) = begin(&first).unwrap();
        let wrong = step(&mut compared, &search, &Side::Program(&other)).unwrap();
        assert_ne!(replayed(&first, &other, &wrong), Ok(true));
        assert_ne!(replayed(&first, &other, &made), Ok(true));
    }

    /// Each record of an image with another number, and each other one with another gate or without what it knows: refused,
    /// or of no consequence; never a reason for what is wrong.
    #[test]
    fn corrupted_images_and_facts_are_refused() {
        let (first, second, other) = (rounded_behind(), rounded_ahead(2), rounded_ahead(3));
        let (mut compared, search) = begin(&first).unwrap();
        let made = step(&mut compared, &search, &Side::Program(&second)).unwrap();
        let mut corrupted: Vec<(Step, bool)> = Vec::new();
        for (place, images) in &made.images {
            for i in 0..images.len() {
                let mut change = |change: &dyn Fn(&mut Image), is_refused: bool| {
                    let mut step = made.clone();
                    change(&mut step.images.get_mut(place).unwrap()[i]);
                    corrupted.push((step, is_refused));
                };
                change(&|image| image.value = 1_000, true);
                change(&|image| image.shift = i64::MIN, true);
                change(&|image| image.shift = 100_000, true);
                change(&|image| image.constant = (1, i64::MAX), true);
                change(&|image| image.constant = (i64::MIN, 4_000), true);
                change(&|image| image.is_own = !image.is_own, false);
                change(&|image| image.value = 0, false);
                change(&|image| image.minus = !image.minus, false);
                change(&|image| image.shift += 1, false);
                change(&|image| image.constant.0 += 1, false);
            }
        }
        for (place, records) in &made.records {
            for i in 0..records.len() {
                let mut change = |change: &dyn Fn(&mut Record), is_refused: bool| {
                    let mut step = made.clone();
                    change(&mut step.records.get_mut(place).unwrap()[i]);
                    corrupted.push((step, is_refused));
                };
                change(&|record| record.pair.1 = !record.pair.1, true);
                change(&|record| record.facts.push(Lit(1_000_000)), true);
                change(&|record| record.facts.push(record.pair.0), true);
                change(&|record| record.facts.push(Lit::TRUE), true);
                change(&|record| record.facts.clear(), false);
                change(&|record| record.leaves.truncate(1), false);
            }
        }
        assert!(corrupted.len() > 50, "{}", corrupted.len());
        for (at, (step, is_refused)) in corrupted.iter().enumerate() {
            let mut again = Compared::of(&first, None, &mut |_, _, _| Ok(())).unwrap();
            let replay = again.replay(&Side::Program(&second), step);
            assert!(replay.is_err() || !is_refused, "{at}: {step:?}");
            for node in 0..again.graph.count() as u32 {
                let lit = Lit(node << 1);
                let (own, root) = (again.graph.sampled(lit), again.graph.sampled(again.graph.root(lit)));
                assert_eq!(own, root, "{at}: gate {node}");
            }
            assert_ne!(replayed(&first, &other, step), Ok(true), "{at}");
        }
    }

    /// Two terms that are found to be the same after sums were made of them are one from the next program on.
    #[test]
    fn terms_that_become_the_same_are_one_in_the_next_program() {
        let bit = Interval::full(kif(false, 1, 0));
        let and = |b: &mut Builder, x, y| b.op(Op::Binary { op: BinaryBits::And, a: x, b: y, shift: 0 }, bit.clone());
        let first = of_three(|b, [x, y, z]| {
            let (p, q) = (and(b, x, x), and(b, y, y));
            let term = and(b, p, q);
            let sum = b.op(Op::Add { a: term, b: y, shift: 0 }, Interval::full(kif(true, 7, 0)));
            b.op(Op::Add { a: sum, b: z, shift: 0 }, Interval::full(kif(true, 8, 0)))
        });
        let second = of_three(|b, [x, y, z]| {
            let (p, q) = (and(b, x, x), and(b, y, y));
            let both = and(b, p, q);
            let other = b.op(Op::Binary { op: BinaryBits::Xor, a: p, b: both, shift: 0 }, bit.clone());
            // The same as `p`.
            let again = b.op(Op::Binary { op: BinaryBits::Or, a: both, b: other, shift: 0 }, bit.clone());
            let term = and(b, again, q);
            let sum = b.op(Op::Add { a: y, b: z, shift: 0 }, Interval::full(kif(true, 7, 0)));
            b.op(Op::Add { a: sum, b: term, shift: 0 }, Interval::full(kif(true, 8, 0)))
        });
        let mut compared = Compared::of(&first, None, &mut |_, _, _| Ok(())).unwrap();
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
        let record = Record { pair: (again, p), leaves, facts: vec![], reason: Reason::Exhaustion };
        compared.graph.apply(&record).unwrap();
        // The sums are not looked at again in this program.
        assert!(!compared.is_shown(0));
        let found = compared.found[0].clone();
        compared.follow(&Side::Program(&first), &mut |_, _, _| Ok(())).unwrap();
        let same = |(&x, &y): (&Lit, &Lit)| compared.graph.root(x) == compared.graph.root(y);
        assert!(found.iter().zip(&compared.expected[0]).all(same));
    }

    /// The low and the high bits of a number, added to something one after the other, are the number added to it: known from the
    /// next program on. Other bits of it are not.
    #[test]
    fn a_number_that_was_taken_apart_is_its_halves() {
        let full = |signed, int, frac| Interval::full(kif(signed, int, frac));
        let whole =
            |b: &mut Builder, x, y| b.op(Op::Binary { op: BinaryBits::Xor, a: x, b: y, shift: 0 }, full(true, 6, 0));
        let first = of_three(|b, [x, y, z]| {
            let number = whole(b, x, y);
            b.op(Op::Add { a: number, b: z, shift: 0 }, full(true, 8, 0))
        });
        let halves = |of_low: i32| {
            of_three(move |b, [x, y, z]| {
                let number = whole(b, x, y);
                let high = b.op(Op::Quantise { x: number, shift: 0 }, full(true, 6, -3));
                let low = b.op(Op::Quantise { x: number, shift: 0 }, full(false, of_low, 0));
                let sum = b.op(Op::Add { a: low, b: z, shift: 0 }, full(true, 8, 0));
                b.op(Op::Add { a: sum, b: high, shift: 0 }, full(true, 8, 0))
            })
        };
        for (of_low, is_same) in [(3, true), (2, false)] {
            let mut compared = Compared::of(&first, None, &mut |_, _, _| Ok(())).unwrap();
            compared.follow(&Side::Program(&halves(of_low)), &mut |_, _, _| Ok(())).unwrap();
            let found = compared.found[0].clone();
            assert!(!compared.is_shown(0));
            compared.follow(&Side::Program(&first), &mut |_, _, _| Ok(())).unwrap();
            let same = |(&x, &y): (&Lit, &Lit)| compared.graph.root(x) == compared.graph.root(y);
            assert_eq!(found.iter().zip(&compared.expected[0]).all(same), is_same, "{of_low}");
        }
    }

    /// Programs that optimisation leaves are shown to be the one before, and only what is equal becomes one gate.
    #[test]
    fn optimised_programs_are_shown_one_after_another() {
        let (mut outputs, mut shown, mut images, mut facts) = (0, 0, 0, 0);
        for seed in 0..60 {
            let model = drawn(4 * seed + 1);
            let Some(first) = program(&model) else { continue };
            let Ok((mut compared, search)) = begin(&first) else { continue };
            let mut current = model;
            let mut steps = Vec::new();
            for name in crate::passes::pipeline((1 + seed % 2) as u8) {
                let (next, _) = crate::passes::run(&current, &[name]);
                let Some(second) = program(&next).filter(|_| next != current) else { continue };
                let made = step(&mut compared, &search, &Side::Program(&second)).unwrap();
                images += made.images.len();
                facts += made.records.values().flatten().filter(|record| !record.facts.is_empty()).count();
                steps.push((second, made));
                current = next;
            }
            outputs += compared.expected.len();
            shown += compared.expected.len() - compared.open().count();
            let g = &compared.graph;
            for node in 0..g.count() as u32 {
                let lit = Lit(node << 1);
                assert_eq!(g.sampled(lit), g.sampled(g.root(lit)), "seed {seed} gate {node}");
            }
            let mut again = Compared::of(&first, None, &mut |_, _, _| Ok(())).unwrap();
            for (second, made) in &steps {
                again.replay(&Side::Program(second), made).unwrap();
            }
            assert!(again.open().eq(compared.open()), "seed {seed}");
        }
        assert!(shown * 20 >= outputs * 19 && images > 100 && facts > 0, "{shown} of {outputs}, {images}, {facts}");
    }

    /// What records and sums make equal between two different programs is equal: gates with one root have the same samples.
    #[test]
    fn only_what_is_equal_becomes_one_gate() {
        for seed in 0..200 {
            let model = drawn(seed);
            let mut other = crate::ir::Builder::like(&model);
            // One operation of the second program is another one.
            let changed = (seed as usize * 7) % model.nodes().len().max(1);
            for (at, node) in model.nodes().iter().enumerate() {
                let mut node = node.clone();
                if at == changed {
                    node.op = match node.op {
                        crate::ir::Op::Add { a, b, shift } => crate::ir::Op::Sub { a, b, shift },
                        crate::ir::Op::Sub { a, b, shift } => crate::ir::Op::Add { a, b, shift },
                        crate::ir::Op::Relu { x } => crate::ir::Op::Quantise { x, shift: 0 },
                        crate::ir::Op::Quantise { x, .. } => crate::ir::Op::Relu { x },
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
            let (Some(first), Some(second)) = (program(&model), program(&other)) else { continue };
            let Ok((mut compared, search)) = begin(&first) else { continue };
            let Ok(made) = step(&mut compared, &search, &Side::Program(&second)) else { continue };
            let g = &compared.graph;
            for node in 0..g.count() as u32 {
                let lit = Lit(node << 1);
                assert_eq!(g.sampled(lit), g.sampled(g.root(lit)), "seed {seed} gate {node}");
            }
            // The same records make the same gates equal, in the file's form too.
            let certificate = Certificate { steps: vec![made], case: None };
            let read = Certificate::read(&text(&certificate)).unwrap();
            assert_eq!(read, certificate);
            let mut again = Compared::of(&first, None, &mut |_, _, _| Ok(())).unwrap();
            again.replay(&Side::Program(&second), &read.steps[0]).unwrap();
            for j in 0..compared.expected.len() {
                assert_eq!(again.is_shown(j), compared.is_shown(j), "seed {seed} output {j}");
            }
        }
    }
}
