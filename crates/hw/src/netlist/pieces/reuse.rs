//! Search for pieces that the bits of one table share, for addresses of one bit more than a LUT has inputs. A *piece*
//! is a function that fits one LUT.
//!
//! A bit needs only one piece if few enough signals determine it: address bits, other bits of the word, pieces of these
//! (functional dependence, as in resubstitution: A. Mishchenko, R. Brayton, *Scalable logic synthesis using a simple
//! circuit structure*, IWLS 2006). If a bit lacks one input, the search adds a function of all address bits but one
//! that completes the bit, and with it as many other bits as possible, each with other inputs of its own. A bit and its
//! other inputs require that the function differs between some addresses; several bits can use one function as long as
//! the graph of all these constraints can be coloured with two colours.
//!
//! The result depends on the order of the bits, so a few pseudo-random orders are tried. A budget limits the work in
//! proportion to the number of bits of the word.

use alir_core::num::SplitMix;

/// Truth table of a function of up to seven address bits: bit `a` is its value at address `a`.
pub(super) type Function = u128;

/// Largest number of address bits.
pub(super) const MOST_ADDRESS_BITS: usize = 7;

/// Number of orders of the bits that are tried.
const ORDERS: u64 = 4;
/// Budget in steps for each bit of the word in each order.
const WORK: u32 = 6000;
/// Largest part of the budget for one search for the inputs of a bit.
const WORK_PER_BIT: u32 = 1000;
/// Largest part of the budget for the functions that complete a bit without one given address bit.
const WORK_PER_FUNCTION: u32 = 1000;
/// Largest part of the budget for one more bit that a function might complete.
const WORK_PER_FURTHER_BIT: u32 = 100;
/// Maximum number of functions evaluated for each address bit that the functions do not read.
const FUNCTIONS: usize = 2;
/// Maximum number of unread address bits for which functions are evaluated.
const IDLE_BITS: usize = 2;
/// Largest number of pieces on a path, which limits the delay of the word.
const MOST_LEVELS: u32 = 3;

/// Truth tables of the address bits.
const VARIABLES: [Function; MOST_ADDRESS_BITS] = {
    let mut all = [0; MOST_ADDRESS_BITS];
    let mut bit = 0;
    while bit < MOST_ADDRESS_BITS {
        // Blocks of 2^bit zeros and as many ones, from the lowest address.
        all[bit] = (Function::MAX / ((1 << (1 << bit)) + 1)) << (1 << bit);
        bit += 1;
    }
    all
};

/// A signal that a piece can read: an address bit or another piece.
#[derive(Clone, Debug)]
pub(super) struct PieceSignal {
    /// Truth table over the address.
    pub(super) value: Function,
    /// Indices of the earlier signals that determine the value; empty for an address bit.
    pub(super) inputs: Vec<usize>,
    /// Number of pieces on the longest path up to and including this signal.
    pub(super) level: u32,
}

impl PieceSignal {
    /// Returns the truth table of the signal over its inputs; the first input is the lowest bit of the index. Entries
    /// for input values that do not occur are zero.
    pub(super) fn table(&self, signals: &[PieceSignal]) -> u64 {
        let addresses = 1 << signals.iter().take_while(|signal| signal.inputs.is_empty()).count();
        let bit = |value: Function, address: u32| (value >> address & 1) as u64;
        (0..addresses).fold(0, |table, address| {
            let read = |(i, &input): (usize, &usize)| bit(signals[input].value, address) << i;
            let index: u64 = self.inputs.iter().enumerate().map(read).sum();
            table | bit(self.value, address) << index
        })
    }
}

/// Returns signals that compute all `bits`: first the `most + 1` address bits, then pieces with at most `most` inputs
/// each. Returns `None` if `limit` pieces or more are needed. No bit may be constant.
pub(super) fn search(most: usize, bits: &[Function], limit: usize) -> Option<Vec<PieceSignal>> {
    let (mut best, mut limit) = (None, limit);
    for order in 0..ORDERS {
        let mut search = Search::new(most, bits.len(), order);
        if search.run(bits, limit) {
            limit = search.piece_count();
            best = Some(search.signals);
        }
    }
    best
}

/// State of one search, with one order of the bits.
struct Search {
    /// Largest number of inputs of a piece, one less than the number of address bits.
    most: usize,
    /// Set of all addresses.
    all: Function,
    signals: Vec<PieceSignal>,
    /// Remaining budget in steps.
    work: u32,
    /// Source of random orders; `None` keeps the given order.
    random: Option<SplitMix>,
}

/// A function to be added, and the bits that it completes, each with its other inputs.
struct Completion {
    value: Function,
    bits: Vec<(Function, Vec<usize>)>,
}

/// Candidates for the inputs of a bit: indices of signals, and their truth tables.
struct Candidates {
    signals: Vec<usize>,
    values: Vec<Function>,
}

impl Search {
    fn new(most: usize, bits: usize, order: u64) -> Search {
        let addresses = 1u32 << (most + 1);
        let all = Function::MAX >> (128 - addresses);
        let address_bit = |&value: &Function| PieceSignal { value: value & all, inputs: Vec::new(), level: 0 };
        Search {
            most,
            all,
            signals: VARIABLES[..=most].iter().map(address_bit).collect(),
            work: WORK * u32::try_from(bits).expect("a word has few bits"),
            random: (order > 0).then(|| SplitMix::new(order)),
        }
    }

    /// Returns the number of pieces so far.
    fn piece_count(&self) -> usize {
        self.signals.len() - self.most - 1
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        if let Some(random) = &mut self.random {
            for at in (1..items.len()).rev() {
                items.swap(at, random.below(at as u64 + 1) as usize);
            }
        }
    }

    /// Returns the index of the signal with this truth table.
    fn known(&self, value: Function) -> Option<usize> {
        self.signals.iter().position(|signal| signal.value == value)
    }

    /// Adds a piece unless a signal with its truth table exists; returns the index of the signal.
    fn push(&mut self, value: Function, inputs: Vec<usize>) -> usize {
        self.known(value).unwrap_or_else(|| {
            let level = 1 + inputs.iter().map(|&input| self.signals[input].level).max().unwrap_or(0);
            self.signals.push(PieceSignal { value, inputs, level });
            self.signals.len() - 1
        })
    }

    /// Returns the address bits that a function depends on.
    fn support(&self, value: Function) -> Vec<usize> {
        let differs = |bit: usize| (value >> (1 << bit) ^ value) & !VARIABLES[bit] & self.all != 0;
        (0..=self.most).filter(|&bit| differs(bit)).collect()
    }

    /// Adds pieces for all bits. Returns `true` if fewer than `limit` pieces suffice.
    fn run(&mut self, bits: &[Function], limit: usize) -> bool {
        let mut open = bits.to_vec();
        open.sort_unstable();
        open.dedup();
        // Restores the order of the bits in the word.
        open.sort_by_key(|value| bits.iter().position(|bit| bit == value));
        self.shuffle(&mut open);
        loop {
            let before = open.len();
            open.retain(|&value| self.known(value).is_none() && !self.add_dependent(value));
            if open.is_empty() {
                return self.piece_count() < limit;
            }
            if self.piece_count() + open.len() >= limit {
                return false;
            }
            if open.len() == before {
                self.complete(&open);
            }
        }
    }

    /// Adds the piece of a bit that existing signals determine. Returns `false` if the search finds no such signals.
    fn add_dependent(&mut self, value: Function) -> bool {
        let support = self.support(value);
        let inputs = match support.len() <= self.most {
            true => Some(support),
            false => self.determining_inputs(value),
        };
        let found = inputs.is_some();
        if let Some(inputs) = inputs {
            self.push(value, inputs);
        }
        found
    }

    /// Returns the signals that a new piece can read, except for the address bit `without`.
    fn candidates(&mut self, without: Option<usize>) -> Candidates {
        // The latest signals first: they are closest to the remaining bits.
        let fits = |&at: &usize| self.signals[at].level < MOST_LEVELS && Some(at) != without;
        let mut signals: Vec<usize> = (0..self.signals.len()).rev().filter(fits).collect();
        if without.is_some() {
            self.shuffle(&mut signals);
        }
        let values = signals.iter().map(|&at| self.signals[at].value).collect();
        Candidates { signals, values }
    }

    /// Takes up to `wanted` steps from the budget; returns their number.
    fn take(&mut self, wanted: u32) -> u32 {
        let granted = wanted.min(self.work);
        self.work -= granted;
        granted
    }

    /// Returns at most `most` signals that determine a function; `None` if the search finds none.
    fn determining_inputs(&mut self, value: Function) -> Option<Vec<usize>> {
        let candidates = self.candidates(None);
        let mut work = self.take(WORK_PER_BIT);
        let mut chosen = Vec::new();
        let mut free = vec![true; candidates.values.len()];
        let found = covered(value, &[self.all], &candidates.values, &mut free, self.most, &mut work, &mut chosen);
        self.work += work;
        found.then(|| chosen.iter().map(|&at| candidates.signals[at]).collect())
    }

    /// Adds the pieces of the first of the open bits, and of others that can share a piece with it.
    fn complete(&mut self, open: &[Function]) {
        match self.completion(open) {
            Some(Completion { value, bits }) => {
                let support = self.support(value);
                let shared = self.push(value, support);
                for (bit, mut inputs) in bits {
                    inputs.push(shared);
                    self.push(bit, inputs);
                }
            }
            None => {
                // A multiplexer of two functions of the lower address bits always works.
                let (value, top) = (open[0], VARIABLES[self.most] & self.all);
                let shift = 1 << self.most;
                let low = value & !top;
                let high = value & top;
                let parts = [low | low << shift, high | high >> shift].map(|part| {
                    let support = self.support(part);
                    self.push(part, support)
                });
                self.push(value, vec![parts[0], parts[1], self.most]);
            }
        }
    }

    /// Returns the function that completes the first of the open bits and as many others as possible.
    fn completion(&mut self, open: &[Function]) -> Option<Completion> {
        let mut best: Option<Completion> = None;
        let most = self.most;
        let mut idle_bits: Vec<usize> = (0..=most).rev().collect();
        self.shuffle(&mut idle_bits);
        let mut used = 0;
        for idle in idle_bits {
            let Candidates { signals, values } = self.candidates(Some(idle));
            // The address bit that the function does not read becomes the highest.
            let turned = |value: Function| exchanged(value, idle, most);
            let values: Vec<Function> = values.into_iter().map(turned).collect();
            let bits: Vec<Function> = open.iter().map(|&bit| turned(bit)).collect();
            let top = VARIABLES[most];
            let start: Vec<Vec<Function>> = bits.iter().map(|&bit| parted(&[self.all], top, bit)).collect();
            let inputs =
                |chosen: &[usize]| -> Vec<usize> { chosen.iter().map(|&at| signals[at]).chain([idle]).collect() };
            let (mut tried, mut spent) = (0, 0);
            let granted = self.take(WORK_PER_FUNCTION);
            let mut work = granted;
            let mut visit = |classes: &[Function], chosen: &[usize]| {
                let Some(mut constraints) = Constraints::default().with(bits[0], classes, most) else { return false };
                let mut served = vec![(open[0], inputs(chosen))];
                for other in 1..open.len() {
                    let mut work = WORK_PER_FURTHER_BIT.min(self.work.saturating_sub(spent));
                    spent += work;
                    let mut found = None;
                    let mut agree = |classes: &[Function], chosen: &[usize]| {
                        found = constraints.with(bits[other], classes, most).map(|more| (more, inputs(chosen)));
                        found.is_some()
                    };
                    choices(bits[other], &start[other], &values, most - 2, &mut work, &mut Vec::new(), &mut agree);
                    spent -= work;
                    if let Some((more, inputs)) = found {
                        constraints = more;
                        served.push((open[other], inputs));
                    }
                }
                if best.as_ref().is_none_or(|best| served.len() > best.bits.len()) {
                    let value = constraints.function();
                    best = Some(Completion { value: turned(value | value << (1 << most)), bits: served });
                }
                tried += 1;
                tried == FUNCTIONS
            };
            choices(bits[0], &start[0], &values, most - 2, &mut work, &mut Vec::new(), &mut visit);
            self.work = (self.work + work).saturating_sub(spent);
            used += usize::from(tried > 0);
            if used == IDLE_BITS {
                break;
            }
        }
        best
    }
}

/// Returns a function with two address bits exchanged.
fn exchanged(value: Function, low: usize, high: usize) -> Function {
    if low == high {
        return value;
    }
    let distance = (1 << high) - (1 << low);
    let moved = (value >> distance ^ value) & VARIABLES[low] & !VARIABLES[high];
    value ^ moved ^ moved << distance
}

/// Splits classes of addresses by a signal; keeps the parts in which `value` is not constant.
fn parted(classes: &[Function], signal: Function, value: Function) -> Vec<Function> {
    let mut parts = Vec::with_capacity(2 * classes.len());
    part(classes, signal, value, &mut parts);
    parts
}

/// Like [`parted`], into an existing vector.
fn part(classes: &[Function], signal: Function, value: Function, parts: &mut Vec<Function>) {
    parts.clear();
    let halves = classes.iter().flat_map(|class| [class & signal, class & !signal]);
    parts.extend(halves.filter(|half| half & value != 0 && half & !value != 0));
}

/// Returns `true` if at most `left` of the free candidates determine a function within each class of addresses, and
/// adds them to `chosen`. Exact unless the budget `work` is exhausted.
fn covered(
    value: Function,
    classes: &[Function],
    candidates: &[Function],
    free: &mut [bool],
    left: usize,
    work: &mut u32,
    chosen: &mut Vec<usize>,
) -> bool {
    let Some(first) = classes.first() else { return true };
    if left == 1 {
        *work = work.saturating_sub(1 + candidates.len() as u32 / 8);
        let determines = |at: &usize| {
            free[*at]
                && classes.iter().all(|class| {
                    let wrong = (candidates[*at] ^ value) & class;
                    wrong == 0 || wrong == *class
                })
        };
        let found = (0..candidates.len()).find(determines);
        chosen.extend(found);
        return found.is_some();
    }
    // One of the inputs must distinguish these two addresses; then recurse for the others.
    let [one, zero] = [first & value, first & !value].map(|part| part.trailing_zeros());
    let mut options: Vec<(u32, usize, Vec<Function>)> = Vec::new();
    for (at, &candidate) in candidates.iter().enumerate() {
        if free[at] && (candidate >> one ^ candidate >> zero) & 1 == 1 {
            *work = work.saturating_sub(1);
            let parts = parted(classes, candidate, value);
            let pairs = |class: &Function| (class & value).count_ones() * (class & !value).count_ones();
            options.push((parts.iter().map(pairs).sum(), at, parts));
        }
    }
    options.sort_by_key(|&(pairs, at, _)| (pairs, at));
    let mut found = false;
    for (_, at, parts) in &options {
        if *work == 0 {
            break;
        }
        // This branch covers all choices that contain this candidate, so later options exclude the candidate.
        free[*at] = false;
        chosen.push(*at);
        found = covered(value, parts, candidates, free, left - 1, work, chosen);
        if found {
            break;
        }
        chosen.pop();
    }
    options.iter().for_each(|&(_, at, _)| free[at] = true);
    found
}

/// Visits choices of `left` candidates with the classes that remain, until `visit` returns `true` or the budget `work`
/// is exhausted. Returns `true` if it stopped early.
fn choices(
    value: Function,
    classes: &[Function],
    candidates: &[Function],
    left: usize,
    work: &mut u32,
    chosen: &mut Vec<usize>,
    visit: &mut dyn FnMut(&[Function], &[usize]) -> bool,
) -> bool {
    if left == 0 || classes.is_empty() {
        if *work == 0 {
            return true;
        }
        *work -= 1;
        return visit(classes, chosen);
    }
    let from = chosen.last().map_or(0, |last| last + 1);
    let mut parts = Vec::with_capacity(2 * classes.len());
    for at in from..candidates.len() {
        part(classes, candidates[at], value, &mut parts);
        chosen.push(at);
        let enough = choices(value, &parts, candidates, left - 1, work, chosen, visit);
        chosen.pop();
        if enough || *work == 0 {
            return true;
        }
    }
    false
}

/// Constraints on a function of all but the highest address bit: for each pair of address sets, the function has one
/// value on the first set and the other value on the second. All sets are disjoint.
#[derive(Clone, Default)]
struct Constraints(Vec<(u64, u64)>);

impl Constraints {
    /// Returns these constraints combined with the constraints of a bit, whose other inputs leave these classes; `None`
    /// if no function satisfies all of them.
    fn with(&self, bit: Function, classes: &[Function], most: usize) -> Option<Constraints> {
        let folded = |part: Function| (part | part >> (1 << most)) as u64 & (u64::MAX >> (64 - (1 << most)));
        let pairs = || classes.iter().map(|class| (folded(class & bit), folded(class & !bit)));
        if pairs().any(|(one, zero)| one & zero != 0) {
            return None;
        }
        let mut all = self.clone();
        pairs().all(|(one, zero)| all.add(one, zero)).then_some(all)
    }

    /// Adds a pair, merging it with the pairs that it overlaps. Returns `false` if no function satisfies all.
    fn add(&mut self, mut one: u64, mut zero: u64) -> bool {
        let mut at = 0;
        while at < self.0.len() {
            let (a, b) = self.0[at];
            let (same, crossed) = (a & one | b & zero, a & zero | b & one);
            match (same != 0, crossed != 0) {
                (true, true) => return false,
                (false, false) => {
                    at += 1;
                    continue;
                }
                (true, false) => (one, zero) = (one | a, zero | b),
                (false, true) => (one, zero) = (one | b, zero | a),
            }
            if one & zero != 0 {
                return false;
            }
            self.0.swap_remove(at);
            at = 0;
        }
        self.0.push((one, zero));
        true
    }

    /// Returns a function that satisfies all constraints.
    fn function(&self) -> Function {
        self.0.iter().fold(0, |all, &(one, _)| all | Function::from(one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_their_exchange() {
        for (bit, variable) in VARIABLES.iter().enumerate() {
            assert!((0..128).all(|at| variable >> at & 1 == at >> bit & 1));
        }
        let mut rng = SplitMix::new(3);
        let value = Function::from(rng.word()) << 64 | Function::from(rng.word());
        let turned = exchanged(value, 2, 6);
        assert!((0..128u32).all(|at| {
            let from = at & !0x44 | (at >> 2 & 1) << 6 | (at >> 6 & 1) << 2;
            turned >> at & 1 == value >> from & 1
        }));
        assert_eq!(exchanged(turned, 2, 6), value);
    }

    /// Asserts that every signal is a function of its inputs, that signals have few inputs, and that every bit is a
    /// signal.
    fn assert_complete(most: usize, bits: &[Function], signals: &[PieceSignal]) {
        for (at, signal) in signals.iter().enumerate().skip(most + 1) {
            assert!((1..=most).contains(&signal.inputs.len()) && signal.inputs.iter().all(|&input| input < at));
            assert!((1..=MOST_LEVELS).contains(&signal.level));
            let mut seen = [None; 64];
            for address in 0..1 << (most + 1) {
                let read = |&input: &usize| (signals[input].value >> address & 1) as usize;
                let index = signal.inputs.iter().fold(0, |index, input| 2 * index + read(input));
                let value = signal.value >> address & 1;
                assert_eq!(*seen[index].get_or_insert(value), value);
            }
        }
        assert!(bits.iter().all(|bit| signals.iter().any(|signal| signal.value == *bit)));
    }

    #[test]
    fn bits_are_found_and_pieces_have_few_inputs() {
        let mut rng = SplitMix::new(8);
        for round in 0..40 {
            let most = [3, 4, 5, 6][round % 4];
            let mask = Function::MAX >> (128 - (1u32 << (most + 1)));
            let bits: Vec<Function> = (0..1 + rng.below(6))
                .map(|_| (Function::from(rng.word()) << 64 | Function::from(rng.word())) & mask)
                .filter(|&bit| bit != 0 && bit != mask)
                .collect();
            let signals = search(most, &bits, usize::MAX).expect("no limit");
            assert_complete(most, &bits, &signals);
        }
    }

    #[test]
    fn bits_of_a_smooth_function_share_pieces() {
        // tanh of seven bits, the first table of lut_heavy: each of its 10 bits needs at least one piece.
        let word = |x: i32| ((f64::from(x) / 16.0).tanh() * 512.0).floor() as i32;
        let value = |bit: i32, at: i32| Function::from((word((at ^ 64) - 64) >> bit & 1) as u8) << at;
        let bits: Vec<Function> = (0..10).rev().map(|bit| (0..128).fold(0, |f, at| f | value(bit, at))).collect();
        let signals = search(6, &bits, usize::MAX).expect("no limit");
        assert_complete(6, &bits, &signals);
        assert!(signals.len() <= 7 + 19, "{}", signals.len() - 7);
    }
}
