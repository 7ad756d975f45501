//! Pieces that the bits of one table share: a search over all bits together, for addresses of one bit more than a
//! look-up table has inputs.
//!
//! A bit needs one piece if any inputs that fit a look-up table determine it: address bits, other bits of the word,
//! pieces made for them (functional dependence, as in resubstitution: A. Mishchenko, R. Brayton, *Scalable logic
//! synthesis using a simple circuit structure*, IWLS 2006). Where a bit lacks one input, a function of all address bits
//! but one is made that completes it, and with it as many other bits as possible, each with other inputs of its own. A
//! bit and its other inputs demand that the function differs between some addresses; bits agree on one function as long
//! as the graph of all these demands has two colours.
//!
//! Which bit comes first decides much, so a few orders are tried, by the pseudo-random sequence that tests use too. The
//! work is counted and has a limit for each bit of the word.

use alir_core::num::SplitMix;

/// A value for each address of up to seven bits.
pub(super) type Function = u128;

/// Most bits of an address.
pub(super) const MOST_ADDRESS_BITS: usize = 7;

/// Orders of the bits that are tried.
const ORDERS: u64 = 4;
/// Work for each bit of the word in each order.
const WORK: u32 = 6000;
/// Largest part of it in one search for the inputs of a bit;
const WORK_A_BIT: u32 = 1000;
/// for a function that completes a bit, for each address bit that it does not read;
const WORK_A_FUNCTION: u32 = 1000;
/// and for another bit that it might complete.
const WORK_A_SERVICE: u32 = 100;
/// Functions that are counted out for each address bit that they do not read, and how many such address bits.
const FUNCTIONS: usize = 2;
const IDLE_BITS: usize = 2;
/// Levels of pieces: what reads the word waits for all of them.
const MOST_LEVELS: u32 = 3;

/// The values of the address bits.
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

/// Something that a piece may read.
#[derive(Clone, Debug)]
pub(super) struct PieceSignal {
    /// Its values.
    pub(super) value: Function,
    /// Indices of the earlier signals that determine the values; empty for an address bit.
    pub(super) inputs: Vec<usize>,
    /// Number of pieces on the longest path up to this signal, itself included.
    pub(super) level: u32,
}

impl PieceSignal {
    /// Its values by those of its inputs, the first one the lowest bit of the index. What does not occur is zero.
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

/// Signals that begin with the address bits, `most + 1` of them, and hold every one of `bits`; none of the others reads
/// more than `most`. Nothing if there are not fewer than `limit` others. No bit may be constant.
pub(super) fn search(most: usize, bits: &[Function], limit: usize) -> Option<Vec<PieceSignal>> {
    let (mut best, mut limit) = (None, limit);
    for order in 0..ORDERS {
        let mut search = Search::new(most, bits.len(), order);
        if search.run(bits, limit) {
            limit = search.made();
            best = Some(search.signals);
        }
    }
    best
}

struct Search {
    /// Inputs of a piece, one less than there are address bits.
    most: usize,
    /// Every address.
    all: Function,
    signals: Vec<PieceSignal>,
    work: u32,
    /// Decides orders; nothing: as they come.
    random: Option<SplitMix>,
}

/// A function that is to be made, and the bits that it completes, each with its other inputs.
struct Completion {
    value: Function,
    bits: Vec<(Function, Vec<usize>)>,
}

/// Candidates for the inputs of a bit.
struct Candidates {
    /// Their signals.
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

    /// Number of pieces.
    fn made(&self) -> usize {
        self.signals.len() - self.most - 1
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        if let Some(random) = &mut self.random {
            for at in (1..items.len()).rev() {
                items.swap(at, random.below(at as u64 + 1) as usize);
            }
        }
    }

    fn known(&self, value: Function) -> Option<usize> {
        self.signals.iter().position(|signal| signal.value == value)
    }

    fn push(&mut self, value: Function, inputs: Vec<usize>) -> usize {
        self.known(value).unwrap_or_else(|| {
            let level = 1 + inputs.iter().map(|&input| self.signals[input].level).max().unwrap_or(0);
            self.signals.push(PieceSignal { value, inputs, level });
            self.signals.len() - 1
        })
    }

    /// The address bits that a function depends on.
    fn support(&self, value: Function) -> Vec<usize> {
        let differs = |bit: usize| (value >> (1 << bit) ^ value) & !VARIABLES[bit] & self.all != 0;
        (0..=self.most).filter(|&bit| differs(bit)).collect()
    }

    /// Makes all bits with fewer than `limit` pieces, if that works out.
    fn run(&mut self, bits: &[Function], limit: usize) -> bool {
        let mut open = bits.to_vec();
        open.sort_unstable();
        open.dedup();
        // In the order of the word.
        open.sort_by_key(|value| bits.iter().position(|bit| bit == value));
        self.shuffle(&mut open);
        loop {
            let before = open.len();
            open.retain(|&value| self.known(value).is_none() && !self.dependent(value));
            if open.is_empty() {
                return self.made() < limit;
            }
            if self.made() + open.len() >= limit {
                return false;
            }
            if open.len() == before {
                self.complete(&open);
            }
        }
    }

    /// Makes a bit that signals determine.
    fn dependent(&mut self, value: Function) -> bool {
        let support = self.support(value);
        let inputs = match support.len() <= self.most {
            true => Some(support),
            false => self.inputs_of(value),
        };
        let found = inputs.is_some();
        if let Some(inputs) = inputs {
            self.push(value, inputs);
        }
        found
    }

    fn candidates(&mut self, without: Option<usize>) -> Candidates {
        // What came last is nearest to the bits that are left.
        let fits = |&at: &usize| self.signals[at].level < MOST_LEVELS && Some(at) != without;
        let mut signals: Vec<usize> = (0..self.signals.len()).rev().filter(fits).collect();
        if without.is_some() {
            self.shuffle(&mut signals);
        }
        let values = signals.iter().map(|&at| self.signals[at].value).collect();
        Candidates { signals, values }
    }

    fn take(&mut self, wanted: u32) -> u32 {
        let granted = wanted.min(self.work);
        self.work -= granted;
        granted
    }

    /// Signals that determine a function, if few enough do.
    fn inputs_of(&mut self, value: Function) -> Option<Vec<usize>> {
        let candidates = self.candidates(None);
        let mut work = self.take(WORK_A_BIT);
        let mut chosen = Vec::new();
        let mut free = vec![true; candidates.values.len()];
        let found = covered(value, &[self.all], &candidates.values, &mut free, self.most, &mut work, &mut chosen);
        self.work += work;
        found.then(|| chosen.iter().map(|&at| candidates.signals[at]).collect())
    }

    /// Makes the first of some bits, and others with it if they can share.
    fn complete(&mut self, open: &[Function]) {
        match self.completion(open) {
            Some(Completion { value, bits }) => {
                let support = self.support(value);
                let made = self.push(value, support);
                for (bit, mut inputs) in bits {
                    inputs.push(made);
                    self.push(bit, inputs);
                }
            }
            None => {
                // As a multiplexer of two functions of the lower address bits.
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

    /// The function that completes the first of some bits and as many others as possible.
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
            let granted = self.take(WORK_A_FUNCTION);
            let mut work = granted;
            let mut visit = |classes: &[Function], chosen: &[usize]| {
                let Some(mut demands) = Demands::default().with(bits[0], classes, most) else { return false };
                let mut served = vec![(open[0], inputs(chosen))];
                for other in 1..open.len() {
                    let mut work = WORK_A_SERVICE.min(self.work.saturating_sub(spent));
                    spent += work;
                    let mut found = None;
                    let mut agree = |classes: &[Function], chosen: &[usize]| {
                        found = demands.with(bits[other], classes, most).map(|more| (more, inputs(chosen)));
                        found.is_some()
                    };
                    choices(bits[other], &start[other], &values, most - 2, &mut work, &mut Vec::new(), &mut agree);
                    spent -= work;
                    if let Some((more, inputs)) = found {
                        demands = more;
                        served.push((open[other], inputs));
                    }
                }
                if best.as_ref().is_none_or(|best| served.len() > best.bits.len()) {
                    let value = demands.function();
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

/// A function with two address bits exchanged.
fn exchanged(value: Function, low: usize, high: usize) -> Function {
    if low == high {
        return value;
    }
    let distance = (1 << high) - (1 << low);
    let moved = (value >> distance ^ value) & VARIABLES[low] & !VARIABLES[high];
    value ^ moved ^ moved << distance
}

/// Parts of the classes that a signal makes, as far as `value` takes both values in them.
fn parted(classes: &[Function], signal: Function, value: Function) -> Vec<Function> {
    let mut parts = Vec::with_capacity(2 * classes.len());
    part(classes, signal, value, &mut parts);
    parts
}

fn part(classes: &[Function], signal: Function, value: Function, parts: &mut Vec<Function>) {
    parts.clear();
    let halves = classes.iter().flat_map(|class| [class & signal, class & !signal]);
    parts.extend(halves.filter(|half| half & value != 0 && half & !value != 0));
}

/// Returns `true` if at most `left` of the free candidates determine a function inside each class, and adds them to
/// `chosen`. Exact as long as there is work left.
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
        let tells = |at: &usize| {
            free[*at]
                && classes.iter().all(|class| {
                    let wrong = (candidates[*at] ^ value) & class;
                    wrong == 0 || wrong == *class
                })
        };
        let found = (0..candidates.len()).find(tells);
        chosen.extend(found);
        return found.is_some();
    }
    // Two addresses that one of the inputs has to tell apart; then the others.
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
        // Without it from now on: choices that have it are all seen below.
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

/// Visits choices of `left` candidates with the classes that they leave, until a visit says that it is enough or the
/// work is used up.
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

/// Constraints on a function of all but the highest address bit: within each pair it has one value on the first part
/// and the other on the second. No two pairs meet.
#[derive(Clone, Default)]
struct Demands(Vec<(u64, u64)>);

impl Demands {
    /// With those of a bit whose other inputs leave these classes; nothing if no function satisfies all.
    fn with(&self, bit: Function, classes: &[Function], most: usize) -> Option<Demands> {
        let folded = |part: Function| (part | part >> (1 << most)) as u64 & (u64::MAX >> (64 - (1 << most)));
        let pairs = || classes.iter().map(|class| (folded(class & bit), folded(class & !bit)));
        if pairs().any(|(one, zero)| one & zero != 0) {
            return None;
        }
        let mut all = self.clone();
        pairs().all(|(one, zero)| all.add(one, zero)).then_some(all)
    }

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

    /// A function that satisfies them.
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

    /// Every signal is a function of its inputs, of which there are few, and every bit is a signal.
    fn hold(most: usize, bits: &[Function], signals: &[PieceSignal]) {
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
            hold(most, &bits, &signals);
        }
    }

    #[test]
    fn bits_of_a_smooth_function_share_pieces() {
        // tanh of seven bits, the first table of lut_heavy: 10 bits, one piece each at least.
        let word = |x: i32| ((f64::from(x) / 16.0).tanh() * 512.0).floor() as i32;
        let value = |bit: i32, at: i32| Function::from((word((at ^ 64) - 64) >> bit & 1) as u8) << at;
        let bits: Vec<Function> = (0..10).rev().map(|bit| (0..128).fold(0, |f, at| f | value(bit, at))).collect();
        let signals = search(6, &bits, usize::MAX).expect("no limit");
        hold(6, &bits, &signals);
        assert!(signals.len() <= 7 + 19, "{}", signals.len() - 7);
    }
}
