//! Decomposition of tables into functions of few inputs (*pieces*), each of which fits one LUT of the device.
//!
//! Synthesisers build a bit with 8 address bits from four LUTs and the multiplexers of the slice, which is fast. Most
//! bits of a smooth function need fewer cells as a function of functions. A bit `f` with more inputs than a LUT is
//! decomposed as `h(g1(B), .., gk(B), S)` (R. L. Ashenhurst, *The decomposition of switching functions*, 1957; H. A.
//! Curtis, *A New Approach to the Design of Switching Circuits*, 1962). `B` are as many inputs as a LUT has. `S` are
//! all other inputs, and also some inputs of `B` if that needs fewer `g` (then the decomposition is not disjoint). The
//! `g` encode the distinct columns of `f` over `B`, separately for each value of the inputs in both `S` and `B`. If no
//! such decomposition exists, `f` is split at its highest input. Equal functions are built once, also across bits.
//!
//! The search is exhaustive up to [`WIDEST`] inputs, and its work is proportional to the number of table words. If an
//! address has one bit more than a LUT has inputs, a second search examines all bits of the word together ([`reuse`]).

mod reuse;

use super::Rom;
use rustc_hash::FxHashMap;

/// Maximum number of inputs of a function that is decomposed; wider functions are split first.
const WIDEST: usize = 9;

/// Maximum number of address bits of a table that is decomposed.
pub(crate) const MOST_ADDRESS_BITS: u32 = 14;

/// Maximum number of inputs of a piece.
const MOST_INPUTS: usize = 6;

/// Input of a piece, or source of a bit of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A constant.
    Constant(bool),
    /// A bit of the address.
    Address(u32),
    /// A piece, by its index.
    Piece(u32),
}

/// A function with at most as many inputs as a LUT.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Inputs; the first input is the lowest bit of the index into `table`.
    pub(crate) inputs: Vec<Source>,
    /// Truth table over the inputs.
    pub(crate) table: u64,
    /// Number of pieces on the longest path up to and including this piece.
    pub(crate) level: u32,
    /// `true` if another piece reads this piece.
    pub(crate) inner: bool,
}

/// Table decomposed into pieces.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    /// Pieces in topological order.
    pub(crate) pieces: Vec<Piece>,
    /// Source of each bit of a word.
    pub(crate) bits: Vec<Source>,
}

/// Truth table over the address: one bit for each address.
type Function = Vec<u64>;

fn bit(f: &[u64], at: usize) -> bool {
    f[at >> 6] >> (at & 63) & 1 == 1
}

fn is_constant(f: &[u64]) -> Option<bool> {
    match f[0] {
        0 | u64::MAX if f.iter().all(|&word| word == f[0]) => Some(f[0] != 0),
        _ => None,
    }
}

impl Pieces {
    /// Decomposes a table for LUTs of `table_inputs` inputs, between 3 and 6.
    pub(crate) fn new(rom: &Rom, table_inputs: u32) -> Pieces {
        // A function has at least one word of 64 values; no bit depends on the added address bits.
        let inputs = rom.addr_width.max(6);
        let addresses = 1usize << inputs;
        let mut state = State {
            inputs,
            most: (table_inputs as usize).clamp(3, MOST_INPUTS),
            pieces: Vec::new(),
            known: FxHashMap::default(),
        };
        for input in 0..inputs {
            let f = state.function(|address| address >> input & 1 == 1);
            state.known.insert(f, Source::Address(input));
        }
        let mask = (1usize << rom.addr_width) - 1;
        let mut functions = vec![vec![0u64; addresses / 64]; rom.word_width as usize];
        for address in 0..addresses {
            let word = rom.words.get(address & mask).copied().unwrap_or(0);
            for (position, f) in functions.iter_mut().enumerate() {
                f[address >> 6] |= (word >> position & 1) << (address & 63);
            }
        }
        // High bits are the simplest, so they come first, and other bits can reuse their pieces.
        let mut bits: Vec<Source> = functions.iter().rev().map(|f| state.realise(f)).collect();
        bits.reverse();
        let (mut pieces, bits) = state.shared(&functions).unwrap_or((state.pieces, bits));
        for at in 0..pieces.len() {
            for input in pieces[at].inputs.clone() {
                if let Source::Piece(read) = input {
                    pieces[read as usize].inner = true;
                }
            }
        }
        Pieces { pieces, bits }
    }

    /// Returns the number of levels of pieces that other pieces read.
    pub(crate) fn inner_levels(&self) -> u32 {
        self.pieces.iter().filter(|piece| piece.inner).map(|piece| piece.level).max().unwrap_or(0)
    }
}

struct State {
    inputs: u32,
    /// Maximum number of inputs of a piece.
    most: usize,
    pieces: Vec<Piece>,
    known: FxHashMap<Function, Source>,
}

impl State {
    fn function(&self, value: impl Fn(usize) -> bool) -> Function {
        let mut f = vec![0u64; 1 << (self.inputs - 6)];
        for (index, word) in f.iter_mut().enumerate() {
            for at in 0..64 {
                *word |= u64::from(value(index * 64 + at)) << at;
            }
        }
        f
    }

    /// Returns the pieces and bits of the search over all bits ([`reuse`]); `None` if this search does not apply or
    /// needs as many pieces as exist.
    fn shared(&self, functions: &[Function]) -> Option<(Vec<Piece>, Vec<Source>)> {
        let most = self.most;
        if self.inputs as usize != most + 1 {
            return None;
        }
        let value = |f: &Function| (0..).zip(f).fold(0, |all, (i, &word)| all | u128::from(word) << (64 * i));
        let wanted: Vec<reuse::Function> =
            functions.iter().rev().filter(|f| is_constant(f).is_none()).map(value).collect();
        let signals = reuse::search(most, &wanted, self.pieces.len())?;
        let source = |at: usize| match at.checked_sub(most + 1) {
            None => Source::Address(at as u32),
            Some(piece) => Source::Piece(piece as u32),
        };
        let piece = |signal: &reuse::PieceSignal| Piece {
            inputs: signal.inputs.iter().map(|&input| source(input)).collect(),
            table: signal.table(&signals),
            level: signal.level,
            inner: false,
        };
        let bit = |f: &Function| match is_constant(f) {
            Some(one) => Source::Constant(one),
            None => source(signals.iter().position(|s| s.value == value(f)).expect("searched for")),
        };
        Some((signals[most + 1..].iter().map(piece).collect(), functions.iter().map(bit).collect()))
    }

    /// Returns the source of a function's value and creates the missing pieces.
    fn realise(&mut self, f: &Function) -> Source {
        if let Some(one) = is_constant(f) {
            return Source::Constant(one);
        }
        if let Some(&known) = self.known.get(f) {
            return known;
        }
        let support = self.support(f);
        if support.len() <= self.most {
            let inputs = support.iter().map(|&input| Source::Address(input)).collect();
            let table = compact(f, &support);
            return self.piece(f, inputs, table[0]);
        }
        match self.decomposition(f, &support) {
            Some(found) => self.compose(f, &support, &found),
            None => self.split(f, &support),
        }
    }

    /// Returns the inputs that a function depends on, in rising order.
    fn support(&self, f: &[u64]) -> Vec<u32> {
        (0..self.inputs).filter(|&input| depends(f, input)).collect()
    }

    /// Adds a piece for the function `f`, with these inputs and this truth table over the inputs.
    fn piece(&mut self, f: &Function, inputs: Vec<Source>, table: u64) -> Source {
        let level = inputs.iter().map(|input| match input {
            Source::Piece(read) => self.pieces[*read as usize].level,
            _ => 0,
        });
        let level = 1 + level.max().unwrap_or(0);
        let made = Source::Piece(self.pieces.len() as u32);
        self.pieces.push(Piece { inputs, table, level, inner: false });
        self.known.insert(f.clone(), made);
        made
    }

    /// Builds `f` as a multiplexer whose select is the highest input of `f`.
    fn split(&mut self, f: &Function, support: &[u32]) -> Source {
        let highest = support[support.len() - 1];
        let halves = [false, true].map(|one| {
            let half = self.function(|at| bit(f, at & !(1 << highest) | usize::from(one) << highest));
            self.realise(&half)
        });
        let inputs = [halves[0], halves[1], Source::Address(highest)];
        self.combine(f, &inputs, |x| if x[2] { x[1] } else { x[0] })
    }

    /// Adds a piece that computes `value` of the sources; sources may be constant.
    fn combine(&mut self, f: &Function, sources: &[Source], value: impl Fn(&[bool]) -> bool) -> Source {
        let mut inputs: Vec<Source> = Vec::new();
        for &source in sources {
            if !matches!(source, Source::Constant(_)) && !inputs.contains(&source) {
                inputs.push(source);
            }
        }
        let mut table = 0u64;
        for index in 0..64usize {
            let read: Vec<bool> = sources
                .iter()
                .map(|source| match source {
                    Source::Constant(one) => *one,
                    other => {
                        let at = inputs.iter().position(|input| input == other).expect("taken above");
                        index >> at & 1 == 1
                    }
                })
                .collect();
            table |= u64::from(value(&read)) << index;
        }
        self.piece(f, inputs, table)
    }

    /// Returns the decomposition with the fewest `g` and a single piece for `h`; `None` if no such decomposition
    /// exists.
    fn decomposition(&self, f: &Function, support: &[u32]) -> Option<Decomposition> {
        let (width, most) = (support.len(), self.most);
        let rest = width - most;
        if width > WIDEST || rest >= most {
            return None;
        }
        let values = compact(f, support);
        // For each choice of `bound`, the column of each value of the bound inputs.
        let choices: Vec<(u32, Vec<u8>)> =
            subsets(width, most).map(|bound| (bound, columns(&values, width, bound))).collect();
        for functions in 1..=most - rest {
            let count = most - rest - functions;
            for (bound, columns) in &choices {
                for shared in subsets(most, count) {
                    if let Some(codes) = codes(columns, shared, functions) {
                        return Some(Decomposition { bound: *bound, shared, functions, codes });
                    }
                }
            }
        }
        None
    }

    /// Returns the functions `g` of a decomposition.
    fn numbers(&self, found: &Decomposition, support: &[u32]) -> Vec<Function> {
        let bound = chosen(support, found.bound);
        let mut numbers = vec![vec![0u64; 1 << (self.inputs - 6)]; found.functions];
        for at in 0..1usize << self.inputs {
            let code = u64::from(found.codes[gathered(at, &bound)]);
            for (function, g) in numbers.iter_mut().enumerate() {
                g[at >> 6] |= (code >> function & 1) << (at & 63);
            }
        }
        numbers
    }

    fn compose(&mut self, f: &Function, support: &[u32], found: &Decomposition) -> Source {
        let mut direct = chosen(support, !found.bound);
        direct.extend(chosen(&chosen(support, found.bound), found.shared));
        let mut sources: Vec<Source> = direct.iter().map(|&input| Source::Address(input)).collect();
        let numbers = self.numbers(found, support);
        for g in &numbers {
            sources.push(self.realise(g));
        }
        // Truth table of `h`; entries for input values that do not occur are arbitrary.
        let mut table = [false; 64];
        for at in 0..1usize << self.inputs {
            let numbered = numbers.iter().enumerate().fold(0, |v, (i, g)| v | usize::from(bit(g, at)) << i);
            table[gathered(at, &direct) | numbered << direct.len()] = bit(f, at);
        }
        self.combine(f, &sources, |x| table[x.iter().enumerate().fold(0, |v, (i, &b)| v | usize::from(b) << i)])
    }
}

/// Returns the inputs whose bits in `set` are set.
fn chosen(inputs: &[u32], set: u32) -> Vec<u32> {
    inputs.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, &input)| input).collect()
}

/// Returns the values of some inputs at an address, packed from bit 0 on.
fn gathered(address: usize, inputs: &[u32]) -> usize {
    inputs.iter().enumerate().fold(0, |v, (i, &input)| v | (address >> input & 1) << i)
}

/// Decomposition of a function.
struct Decomposition {
    /// Set of inputs that the `g` read, as bits.
    bound: u32,
    /// Set of bound inputs that `h` also reads, as bits.
    shared: u32,
    /// Number of `g`.
    functions: usize,
    /// Values of all `g`, as bits, for each value of the bound inputs.
    codes: Vec<u8>,
}

/// Returns `true` if a function depends on an input.
fn depends(f: &[u64], input: u32) -> bool {
    const LOW: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0f0f_0f0f_0f0f_0f0f,
        0x00ff_00ff_00ff_00ff,
        0x0000_ffff_0000_ffff,
        0x0000_0000_ffff_ffff,
    ];
    match input {
        0..6 => f.iter().any(|word| (word >> (1 << input) ^ word) & LOW[input as usize] != 0),
        _ => {
            let stride = 1usize << (input - 6);
            (0..f.len()).filter(|at| at & stride == 0).any(|at| f[at] != f[at | stride])
        }
    }
}

/// Returns the truth table of a function over only the inputs `support`, repeated up to 64 values.
fn compact(f: &[u64], support: &[u32]) -> Vec<u64> {
    let width = support.len();
    let values = 1usize << width.max(6);
    let mut all = vec![0u64; values / 64];
    for value in 0..values {
        let address = support.iter().enumerate().fold(0, |v, (i, &input)| v | (value >> i & 1) << input);
        all[value >> 6] |= u64::from(bit(f, address)) << (value & 63);
    }
    all
}

/// Returns all subsets of `count` of the numbers below `of`, as bit sets.
fn subsets(of: usize, count: usize) -> impl Iterator<Item = u32> {
    (0..1u32 << of).filter(move |set| set.count_ones() as usize == count)
}

/// Returns, for each value of the bound inputs, the index of the function's column: equal columns have equal indices. A
/// column is the truth table over the other inputs.
fn columns(values: &[u64], width: usize, bound: u32) -> Vec<u8> {
    let place = |of: &[usize], value: usize| of.iter().enumerate().fold(0, |v, (i, &to)| v | (value >> i & 1) << to);
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..width).partition(|i| bound >> i & 1 == 1);
    let places: Vec<usize> = (0..1usize << outside.len()).map(|free| place(&outside, free)).collect();
    let mut seen: Vec<u64> = Vec::new();
    (0..1usize << inside.len())
        .map(|value| {
            let base = place(&inside, value);
            let column =
                places.iter().enumerate().fold(0u64, |c, (i, free)| c | u64::from(bit(values, base | free)) << i);
            let number = seen.iter().position(|&other| other == column).unwrap_or_else(|| {
                seen.push(column);
                seen.len() - 1
            });
            number as u8
        })
        .collect()
}

/// Returns codes of `functions` bits that distinguish all columns with equal values of the shared inputs; `None` if
/// there are too many columns.
fn codes(columns: &[u8], shared: u32, functions: usize) -> Option<Vec<u8>> {
    const NONE: u8 = u8::MAX;
    let mut known = [[NONE; 64]; 64];
    let mut count = [0u8; 64];
    let mut codes = Vec::with_capacity(columns.len());
    for (value, &column) in columns.iter().enumerate() {
        let class = value & shared as usize;
        let code = &mut known[class][usize::from(column)];
        if *code == NONE {
            if usize::from(count[class]) == 1 << functions {
                return None;
            }
            *code = count[class];
            count[class] += 1;
        }
        codes.push(*code);
    }
    Some(codes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::num::SplitMix;

    /// Returns the word that the pieces compute for an address.
    fn word(table: &Pieces, address: u64) -> u64 {
        let mut values: Vec<bool> = Vec::new();
        let value = |source: Source, values: &[bool]| match source {
            Source::Constant(one) => one,
            Source::Address(bit) => address >> bit & 1 == 1,
            Source::Piece(piece) => values[piece as usize],
        };
        for piece in &table.pieces {
            let index = piece.inputs.iter().enumerate().fold(0, |v, (i, &s)| v | u64::from(value(s, &values)) << i);
            values.push(piece.table >> index & 1 == 1);
        }
        table.bits.iter().enumerate().fold(0, |v, (i, &s)| v | u64::from(value(s, &values)) << i)
    }

    fn rom(addr_width: u32, word_width: u32, words: Vec<u64>) -> Rom {
        Rom { name: "rom0".into(), addr_width, word_width, words, is_table: true, comment: String::new() }
    }

    #[test]
    fn pieces_read_like_the_table() {
        let mut rng = SplitMix::new(5);
        for round in 0..60 {
            let (addr_width, word_width) = (1 + rng.below(11) as u32, 1 + rng.below(7) as u32);
            let mask = (1 << word_width) - 1;
            let slope = rng.below(300);
            let words: Vec<u64> = (0..1 + rng.below(1 << addr_width))
                .map(|address| match round % 4 {
                    0 => rng.word() & mask,
                    1 => (address * address * slope / 700) & mask,
                    2 => ((address * slope) >> 5) & mask,
                    _ => u64::from((address * slope) >> 6 & 1 == 1) * mask,
                })
                .collect();
            let rom = rom(addr_width, word_width, words);
            for table_inputs in [3, 4, 6] {
                let table = Pieces::new(&rom, table_inputs);
                for address in 0..1 << addr_width {
                    let wanted = rom.words.get(address as usize).copied().unwrap_or(0);
                    assert_eq!(
                        word(&table, address),
                        wanted,
                        "round {round}, {table_inputs} inputs, address {address}"
                    );
                }
                for piece in &table.pieces {
                    assert!((1..=table_inputs as usize).contains(&piece.inputs.len()));
                    for &input in &piece.inputs {
                        if let Source::Piece(read) = input {
                            assert!(
                                table.pieces[read as usize].inner && table.pieces[read as usize].level < piece.level
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_smooth_table_takes_fewer_pieces_than_tables_and_multiplexers() {
        // exp with 8 address bits: without decomposition, four LUTs and three multiplexers for each bit of the word.
        let words = (0..256).map(|x| ((f64::from(x) / 32.0).exp()) as u64).collect();
        let table = Pieces::new(&rom(8, 12, words), 6);
        assert!(table.pieces.len() <= 48, "{}", table.pieces.len());
        assert_eq!(table.inner_levels(), 1);
    }

    #[test]
    fn equal_bits_are_one_piece() {
        let words = (0..128u64).map(|x| if x.count_ones() % 2 == 1 { 7 } else { 0 }).collect();
        let table = Pieces::new(&rom(7, 3, words), 6);
        assert_eq!(table.pieces.len(), 2);
        assert!(table.bits.iter().all(|&bit| bit == table.bits[0]));
    }
}
