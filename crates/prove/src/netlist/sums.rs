//! Sums as polynomials over bits.
//!
//! A bit of a carry chain selects the carry from below (if `half` is 1), or the bit that starts a carry (`start`). For
//! any cells before the chain, the chain adds two words: with `D = start` and `B = half xor start`, `sum(2^k (D_k +
//! B_k)) + carry = sum(2^k (half_k xor carry_k)) + 2^n carry_n` is an identity. Synthesis adds three and more numbers
//! with compressors before the chain, so that `D` and `B` are functions of several bits. In integer polynomials over
//! these bits the products cancel, and the result is the sum of the RTL's adders, modulo a power of two. If the lower
//! bits are proved equal, the remaining bit is equal too.

use super::super::aig::Lit;
use super::polynomial::{Function, Monomial, Polynomial, Variables};
use super::sweep::Sweep;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Largest numbers of bits of a sum, terms of a polynomial, and rewriting steps of one proof.
const MOST_BITS: usize = 120;
const MOST_TERMS: usize = 1_200;
const MOST_STEPS: usize = 200;
/// Largest number of leaves of the function of one bit.
const MOST_LEAVES: usize = 9;

/// Largest number of adder bits from which the bit to replace is selected.
const MOST_TRIED: usize = 16;
/// Largest number of terms read and written in one attempt. Of 1,309 proved sums of `jet_mlp` none takes more than
/// 25,506, while failing attempts would take up to forty times as much.
const MOST_WORK: usize = 32_000;
/// Largest number of such selections in one proof, and of terms of a polynomial for them.
const MOST_CHOICES: usize = 24;
const MOST_TERMS_TRIED: usize = 450;
/// Maximum number of leaves of an RTL bit that is replaced by its definition.
const MOST_VISIBLE: usize = 5;
/// Numbers of 64-bit words for the variables of a proof; wide sums need the larger one.
const FEW: usize = 4;
const MANY: usize = 16;

/// Bit of a carry chain: the carry upwards is `half ? carry : start`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) half: Lit,
    pub(super) carry: Lit,
    pub(super) start: Lit,
}

/// Carries and sum bits of the netlist's chains.
#[derive(Default)]
pub(super) struct Sums {
    links: FxHashMap<Lit, Link>,
    /// Sum bits: half sum and carry, in any order.
    halves: FxHashMap<Lit, (Lit, Lit)>,
    /// Functions `start + (half xor start)` of cells by `half` and `start`; with `true`, over the inputs of the LUTs
    /// before the cells.
    cells: FxHashMap<(Lit, Lit, bool), Option<Rc<Function>>>,
    /// Functions of nodes over the inputs of their gates.
    definitions: FxHashMap<u32, Option<Rc<Function>>>,
}

impl Sums {
    pub(super) fn note_carry(&mut self, x: Lit, link: Link) {
        if x.as_const().is_none() {
            self.links.entry(x).or_insert(link);
        }
    }

    pub(super) fn note_half(&mut self, x: Lit, a: Lit, b: Lit) {
        if (self.links.contains_key(&a) || self.links.contains_key(&b)) && x.as_const().is_none() {
            self.halves.entry(x).or_insert((a, b));
        }
    }

    /// Records the carry chain data of a bit under another literal too. Under a constant it would precede the first
    /// cell of other chains.
    pub(super) fn rename(&mut self, bit: Lit, name: Lit) {
        if let Some(&link) = self.links.get(&bit) {
            self.note_carry(name, link);
        }
    }
}

/// Proves that a sum bit of the netlist equals a sum bit of the RTL.
pub(super) fn prove(sweep: &mut Sweep, x: Lit, y: Lit) -> bool {
    // The complement of a sum bit is compared as the bit itself.
    for (x, y) in [(x, y), (!x, !y)] {
        let Some(adder) = sweep.words.adder_of(y.node()).map(|(_, bit)| bit) else { return false };
        let residuals: [fn(&mut Sweep, Lit) -> Residual; 3] =
            [|sweep, x| chain_residual(sweep, x, false), |sweep, x| chain_residual(sweep, x, true), word_residual];
        let mut last = None;
        for find in residuals {
            // If no LUTs precede the cells, this sum is the same as the last one.
            let Some((mut residual, bit)) = find(sweep, x).filter(|found| last.as_ref() != Some(found)) else {
                continue;
            };
            last = Some((residual.clone(), bit));
            residual.push(term(y, (1u128 << bit).wrapping_neg()));
            // The RTL's sum may have bits below the lowest bit of the chain.
            let shift = adder.saturating_sub(bit);
            let bits = (bit + 1 + shift) as u32;
            if bits as usize <= MOST_BITS && is_zero(sweep, &residual, shift, bits) {
                return true;
            }
        }
    }
    // A low bit of a sum without a carry chain is a sum of products modulo 2.
    let Some(own) = bit_function(sweep, x) else { return false };
    is_zero(sweep, &[(own, 1), term(y, 1)], 0, 1)
}

/// Returns words of the RTL's adders near a bit: those of the next lower bit of its carry chain, and of the leaves of
/// its cell.
pub(super) fn words_near(sweep: &mut Sweep, x: Lit) -> Vec<Lit> {
    let mut nodes = Vec::new();
    let links = &sweep.sums.links;
    let halves =
        sweep.sums.halves.get(&x).or_else(|| sweep.sums.halves.get(&!x)).map_or(vec![x, !x], |&(a, b)| vec![a, b]);
    if let Some(link) = halves.iter().find_map(|carry| links.get(carry)).copied() {
        let lower = sweep.xor(link.half, link.carry);
        nodes.push(sweep.placed(lower).node());
    }
    if let Some(cell) = sweep.cone(&[x], 300, is_variable) {
        nodes.extend_from_slice(Sweep::leaves(&cell));
    }
    nodes.truncate(2 * MOST_LEAVES);
    let adders = nodes.into_iter().filter_map(|node| sweep.words.adder_of(node));
    adders.flat_map(|(adder, _)| adder.out.iter().copied()).collect()
}

/// Functions with their factors in a sum.
type Summands = Vec<(Rc<Function>, u128)>;

/// Sum that is 0 together with a bit, and the position of the bit; `None` if there is none.
type Residual = Option<(Summands, usize)>;

fn term(lit: Lit, factor: u128) -> (Rc<Function>, u128) {
    (Rc::new(Function::literal(lit)), factor)
}

/// Returns the terms of the carry chain below a sum bit, without that bit: `2^n half + ... - ...`, and its position
/// `n`. With `is_opened` the functions of the cells are over the inputs of the LUTs before them.
fn chain_residual(sweep: &mut Sweep, x: Lit, is_opened: bool) -> Residual {
    let links = &sweep.sums.links;
    let (half, carry) = match sweep.sums.halves.get(&x) {
        Some(&(a, b)) if links.contains_key(&b) => (a, b),
        Some(&(a, b)) => (b, a),
        // The carry out of the highest cell, or the sum of a cell whose half sum is constant.
        None if links.contains_key(&x) => (Lit::FALSE, x),
        None if links.contains_key(&!x) => (Lit::TRUE, !x),
        None => return None,
    };
    let mut links = Vec::new();
    let mut at = carry;
    while let Some(&link) = sweep.sums.links.get(&at) {
        links.push(link);
        at = link.carry;
        if links.len() > MOST_BITS {
            return None;
        }
    }
    links.reverse();
    let mut residual = vec![term(at, 1)];
    for (k, link) in links.iter().enumerate() {
        residual.push((cell(sweep, link, is_opened)?, 1u128 << k));
        let sum = sweep.xor(link.half, link.carry);
        // Bits without readers were not compared before.
        residual.push(term(sweep.placed(sum), (1u128 << k).wrapping_neg()));
    }
    let n = links.len();
    // Modulo 2^(n + 1) the half sum equals the sum of its two parts.
    residual.push((bit_function(sweep, half)?, 1u128 << n));
    Some((residual, n))
}

/// Returns the terms of the adder of a netlist word, as in DSP cells: both operands minus the lower bits of the sum.
fn word_residual(sweep: &mut Sweep, x: Lit) -> Residual {
    if x.node() < sweep.begin() || x.is_negated() {
        return None;
    }
    let (adder, bit) = sweep.words.adder_of(x.node())?;
    let adder = adder.clone();
    if adder.out[bit] != x || bit >= MOST_BITS {
        return None;
    }
    let mut residual = vec![term(adder.carry, 1)];
    for k in 0..=bit {
        for operand in [adder.a[k], adder.b[k]] {
            residual.push(term(sweep.resolved(operand), 1u128 << k));
        }
        if k < bit {
            residual.push(term(sweep.placed(adder.out[k]), (1u128 << k).wrapping_neg()));
        }
    }
    Some((residual, bit))
}

/// Returns the function `start + (half xor start)` of a cell.
fn cell(sweep: &mut Sweep, link: &Link, is_opened: bool) -> Option<Rc<Function>> {
    let key = (link.half, link.start, is_opened);
    if let Some(known) = sweep.sums.cells.get(&key) {
        return known.clone();
    }
    let opened = if is_opened { opened_cell(sweep, link) } else { None };
    let found = opened.or_else(|| cell_function(sweep, link.half, link.start, &[])).map(Rc::new);
    sweep.sums.cells.insert(key, found.clone());
    found
}

/// Returns the function of a cell over the inputs of the LUTs that compute `half` and `start`, as products of both only
/// cancel over these inputs.
fn opened_cell(sweep: &mut Sweep, link: &Link) -> Option<Function> {
    let mut opened = Vec::new();
    let mut open = |sweep: &Sweep, lit: Lit| {
        let lit = match sweep.matched(lit.node()).first() {
            Some(&(net, negated)) => Lit::new(net, negated != lit.is_negated()),
            None => lit,
        };
        if sweep.is_net(lit.node()) {
            opened.push(lit);
        }
        lit
    };
    let (half, start) = (open(sweep, link.half), open(sweep, link.start));
    if opened.is_empty() {
        return None;
    }
    cell_function(sweep, half, start, &opened)
}

fn cell_function(sweep: &mut Sweep, half: Lit, start: Lit, opened: &[Lit]) -> Option<Function> {
    let (leaves, tables) = tables(sweep, &[half, start], opened)?;
    let other: Vec<u64> = tables[0].iter().zip(&tables[1]).map(|(half, start)| half ^ start).collect();
    Some(Function::from_tables(&[&tables[1], &other], &leaves))
}

/// Returns the truth tables of literals over bits of the RTL's signals and nets.
fn tables(sweep: &mut Sweep, of: &[Lit], opened: &[Lit]) -> Option<(Vec<u32>, Vec<Vec<u64>>)> {
    // A literal that is itself such a bit is a leaf, unless it is opened.
    let is_leaf = |sweep: &Sweep, lit: Lit| is_variable(sweep, lit.node()) && !opened.contains(&lit);
    let roots: Vec<Lit> = of.iter().copied().filter(|&lit| lit.node() != 0 && !is_leaf(sweep, lit)).collect();
    let mut window = sweep.cone(&roots, 300, is_variable)?;
    for &lit in of {
        if lit.node() != 0 && is_leaf(sweep, lit) {
            sweep.add_leaf(&mut window, lit.node());
        }
    }
    if Sweep::leaves(&window).len() > MOST_LEAVES {
        return None;
    }
    let tables = sweep.tables(&window, of);
    Some((Sweep::leaves(&window).to_vec(), tables))
}

fn is_variable(sweep: &Sweep, node: u32) -> bool {
    sweep.is_visible(node) || sweep.is_net(node) || sweep.words.adder_of(node).is_some() || sweep.is_input(node)
}

fn bit_function(sweep: &mut Sweep, lit: Lit) -> Option<Rc<Function>> {
    let (leaves, tables) = tables(sweep, &[lit], &[])?;
    Some(Rc::new(Function::from_tables(&[&tables[0]], &leaves)))
}

/// Returns the function of a node over the inputs of its gates.
fn definition(sweep: &mut Sweep, node: u32) -> Option<Rc<Function>> {
    if let Some(known) = sweep.sums.definitions.get(&node) {
        return known.clone();
    }
    let found = gates_function(sweep, node).map(Rc::new);
    sweep.sums.definitions.insert(node, found.clone());
    found
}

fn gates_function(sweep: &mut Sweep, node: u32) -> Option<Function> {
    let window = sweep.cone(&[Lit::new(node, false)], 300, is_variable)?;
    // Upper bits of sums are functions of too many bits to be products of them.
    let most = if sweep.is_visible(node) { MOST_VISIBLE } else { MOST_LEAVES };
    if Sweep::leaves(&window).len() > most || sweep.is_input(node) {
        return None;
    }
    let tables = sweep.tables(&window, &[Lit::new(node, false)]);
    Some(Function::from_tables(&[&tables[0]], Sweep::leaves(&window)))
}

/// Returns `true` if a sum times `2^shift` is 0 modulo `2^bits` for all inputs. Variables are replaced by their
/// definitions, the highest first, bits of adders last. If the terms do not cancel, the adder bit whose definition
/// leaves the fewest terms is replaced: common operands of both sides must remain, and the order of the variables does
/// not identify them.
fn is_zero(sweep: &mut Sweep, residual: &[(Rc<Function>, u128)], shift: usize, bits: u32) -> bool {
    [(1, MOST_TERMS), (MOST_TRIED, MOST_TERMS_TRIED)].into_iter().any(|(tried, terms)| {
        let few = Cancellation::<FEW>::new(residual, shift, bits).and_then(|mut c| c.run(sweep, tried, terms));
        few.or_else(|| Cancellation::<MANY>::new(residual, shift, bits)?.run(sweep, tried, terms)).unwrap_or(false)
    })
}

/// Replacement of the variables of a polynomial until all terms cancel.
struct Cancellation<const N: usize> {
    residual: Polynomial<N>,
    variables: Variables<N>,
    /// Replaced variables of adder words, each with the number of terms before the replacement.
    used: FxHashSet<(u32, u32)>,
    /// Nets whose cells were used to replace a bit of the RTL.
    expanded: FxHashSet<u32>,
    /// Variables without a known definition.
    kept: FxHashSet<u32>,
}

/// Replacement of a variable in a polynomial.
enum Replacement<const N: usize> {
    /// Summand that changes the polynomial.
    Change(Polynomial<N>),
    /// Function that equals the variable.
    Value(Rc<Function>),
}

/// Origin of the terms that replace a variable.
#[derive(Clone, Copy)]
enum By {
    /// The variable's word is replaced by the operands of an adder.
    Adder,
    /// The variable's own gates.
    Gates,
    /// The gates of a net that equals the variable.
    Net(u32),
}

impl<const N: usize> Cancellation<N> {
    /// Returns the sum times `2^shift` modulo `2^bits`; `None` if it has too many variables.
    fn new(residual: &[(Rc<Function>, u128)], shift: usize, bits: u32) -> Option<Self> {
        let (mut variables, mut sum) = (Variables::default(), Polynomial::zero(bits));
        for (function, factor) in residual {
            sum.add_function(&mut variables, function, (Monomial::ONE, factor << shift))?;
        }
        let (used, expanded, kept) = Default::default();
        Some(Cancellation { residual: sum, variables, used, expanded, kept })
    }

    /// Replaces variables until all terms cancel, with `tried` candidates in each step and at most `terms` terms;
    /// `None` if there are too many variables.
    fn run(&mut self, sweep: &mut Sweep, tried: usize, terms: usize) -> Option<bool> {
        let (mut choices, mut work) = (0, 0);
        for _ in 0..MOST_STEPS {
            if self.residual.len() == 0 {
                return Some(true);
            }
            let all = self.residual.variables();
            self.variables.retain(all);
            let candidates = self.candidates(sweep, all, tried);
            let highest = all.numbers().map(|number| self.variables.node(number)).max().unwrap_or_default();
            let is_choice = candidates.len() > 1;
            choices += usize::from(is_choice);
            if candidates.is_empty() || self.residual.len() > terms || choices > MOST_CHOICES || work > MOST_WORK {
                break;
            }
            let mut best: Option<((bool, isize), u32, By, Replacement<N>)> = None;
            for variable in candidates {
                sweep.spend(4 + self.residual.len() as u64 / 4);
                let Some((by, mut found)) = self.replacement(sweep, variable, highest) else {
                    self.kept.insert(variable);
                    continue;
                };
                if let Replacement::Value(value) = &found
                    && is_choice
                {
                    let mut change = Polynomial::zero(self.residual.bits());
                    substitute(self.terms_with(variable), value, &mut self.variables, &mut change)?;
                    found = Replacement::Change(change);
                }
                let (written, growth) = match &found {
                    Replacement::Change(change) => (change.len(), self.residual.growth(change)),
                    Replacement::Value(_) => (0, 0),
                };
                work += self.residual.len() + written;
                // Cells of the netlist are used only if the RTL's gates give no replacement.
                let cost = (matches!(by, By::Net(_)), growth);
                if best.as_ref().is_none_or(|&(least, ..)| cost < least) {
                    best = Some((cost, variable, by, found));
                }
            }
            let Some((_, variable, by, found)) = best else { continue };
            match by {
                By::Adder => self.used.insert((variable, self.residual.len() as u32)),
                By::Net(net) => self.expanded.insert(net),
                By::Gates => true,
            };
            match found {
                Replacement::Change(change) => self.residual.add_all(&change),
                Replacement::Value(value) => {
                    let terms = self.terms_with(variable);
                    work += terms.1.len() * value.len();
                    substitute(terms, &value, &mut self.variables, &mut self.residual)?;
                }
            }
        }
        (!self.variables.is_exhausted()).then_some(false)
    }

    /// Returns the highest variable that is not a bit of an adder, otherwise at most `tried` bits of adders, whose
    /// definitions have many more terms and may be unnecessary.
    fn candidates(&self, sweep: &Sweep, all: Monomial<N>, tried: usize) -> Vec<u32> {
        let nodes = || all.numbers().map(|number| self.variables.node(number));
        let is_open = |node: u32| !self.kept.contains(&node) && !sweep.is_input(node);
        let is_sum = |node: u32| sweep.words.adder_of(node).is_some();
        let other =
            nodes().fold(0, |best, node| if node > best && is_open(node) && !is_sum(node) { node } else { best });
        if other != 0 {
            return vec![other];
        }
        let mut sums: Vec<u32> = nodes().filter(|&node| is_open(node)).collect();
        sums.sort_unstable_by(|a, b| b.cmp(a));
        sums.truncate(tried);
        sums
    }

    fn replacement(&mut self, sweep: &mut Sweep, variable: u32, highest: u32) -> Option<(By, Replacement<N>)> {
        if !self.used.contains(&(variable, self.residual.len() as u32))
            && let Some(change) = self.without_adder(sweep, variable, highest)
        {
            return Some((By::Adder, Replacement::Change(change)));
        }
        // A bit of the RTL that equals a cell's output can also be replaced by the function of the cell.
        let own = definition(sweep, variable).map(|own| (own, By::Gates));
        let (definition, by) = own.or_else(|| {
            let nets = sweep.matched(variable).to_vec();
            nets.into_iter().filter(|(net, _)| !self.expanded.contains(net)).find_map(|(net, negated)| {
                let own = definition(sweep, net)?;
                Some((if negated { Rc::new(own.complement()) } else { own }, By::Net(net)))
            })
        })?;
        Some((by, Replacement::Value(definition)))
    }

    /// Returns the monomial of a single node; `None` if the node is no variable.
    fn alone(&self, node: u32) -> Option<Monomial<N>> {
        self.variables.known(node).map(Monomial::variable)
    }

    /// Returns the monomial of a variable of the polynomial, and the terms with it.
    fn terms_with(&self, variable: u32) -> (Monomial<N>, Vec<(Monomial<N>, u128)>) {
        let number = self.variables.known(variable).expect("a variable of the polynomial");
        let terms = self.residual.terms().filter(|(monomial, _)| monomial.contains(number));
        (Monomial::variable(number), terms.collect())
    }

    /// Replaces the word of an adder that contains a variable by the operands of the adder. Returns `None` if relevant
    /// bits of the word are missing, or a variable above the highest one would be introduced.
    fn without_adder(&mut self, sweep: &mut Sweep, variable: u32, highest: u32) -> Option<Polynomial<N>> {
        let (adder, _) = sweep.words.adder_of(variable)?;
        let mut adder = adder.clone();
        adder.out.iter_mut().for_each(|bit| *bit = sweep.resolved(*bit));
        let width = adder.out.len();
        if width > MOST_BITS {
            return None;
        }
        let (residual, bits, mask) = (&self.residual, self.residual.bits(), self.residual.mask());
        // Factor of the monomial of a single bit, 0 if the polynomial has no such term.
        let factor_of = |bit: Lit| {
            let own = self.alone(bit.node()).map_or(0, |monomial| residual.factor(&monomial));
            if bit.is_negated() { own.wrapping_neg() & mask } else { own }
        };
        // The factor of the word is the one on which most bits that belong to no operand agree. The lowest bits may
        // have other factors, as carries that are functions of these bits.
        let own: Vec<Option<u128>> = (0..width)
            .map(|j| {
                let out = adder.out[j];
                let is_own = out.node() != 0 && out.node() != adder.a[j].node() && out.node() != adder.b[j].node();
                Some(factor_of(out)).filter(|&own| is_own && own != 0)
            })
            .collect();
        let agreeing = |factor: u128| (0..width).filter(|&j| own[j] == Some((factor << j) & mask)).count();
        let factors = (0..width.min(16)).filter_map(|j| {
            let own = (own[j]? << (128 - bits)) as i128 >> (128 - bits);
            (own.trailing_zeros() >= j as u32).then_some((own >> j) as u128 & mask)
        });
        let factor = factors.max_by_key(|&factor| agreeing(factor))?;
        // Most of the relevant bits must be present; a single bit is replaced by the function of its gates instead.
        let relevant = width.min((bits - factor.trailing_zeros().min(bits)) as usize);
        if 2 * agreeing(factor) < relevant {
            return None;
        }
        let top = |x: &[Lit]| x[width - 1];
        let wraps = factor.trailing_zeros() as usize + width >= bits as usize;
        let is_unsigned = top(&adder.a) == Lit::FALSE && top(&adder.b) == Lit::FALSE;
        let is_signed = adder.exact || fits(&adder.a, &adder.b, adder.carry);
        // The factor of the sign determines the extension of the word.
        let negative = (factor << (width - 1)).wrapping_neg() & mask;
        let as_signed = if wraps {
            false
        } else if is_signed && (factor_of(adder.out[width - 1]) == negative || !is_unsigned) {
            true
        } else if is_unsigned {
            false
        } else {
            return None;
        };
        let mut change = Polynomial::zero(bits);
        for (word, scale) in [(&adder.a, factor), (&adder.b, factor), (&adder.out, factor.wrapping_neg())] {
            for (j, &bit) in word.iter().enumerate() {
                let weight = scale << j;
                let weight = if as_signed && j + 1 == width { weight.wrapping_neg() } else { weight };
                change.add_function(&mut self.variables, &Function::literal(bit), (Monomial::ONE, weight))?;
            }
        }
        change.add_function(&mut self.variables, &Function::literal(adder.carry), (Monomial::ONE, factor))?;
        // The replacement must remove the bit and introduce no higher variable.
        let is_there = |node: u32| {
            self.alone(node).is_some_and(|m| self.residual.factor(&m).wrapping_add(change.factor(&m)) & mask != 0)
        };
        let mut lits = [&adder.a, &adder.b, &adder.out].into_iter().flatten().chain([&adder.carry]);
        let is_lower = !is_there(variable) && !lits.any(|bit| bit.node() > highest && is_there(bit.node()));
        is_lower.then_some(change)
    }
}

/// Adds the change of the terms with a variable when a function replaces the variable; returns `None` if there are too
/// many variables.
fn substitute<const N: usize>(
    (variable, terms): (Monomial<N>, Vec<(Monomial<N>, u128)>),
    value: &Function,
    variables: &mut Variables<N>,
    sum: &mut Polynomial<N>,
) -> Option<()> {
    for (monomial, factor) in terms {
        sum.add(monomial, factor.wrapping_neg());
        sum.add_function(variables, value, (monomial.without(variable), factor))?;
    }
    Some(())
}

/// Returns `true` if the copies of the sign bits show that the sum of two signed words cannot overflow.
fn fits(a: &[Lit], b: &[Lit], carry: Lit) -> bool {
    let width = a.len();
    if width > 100 {
        return false;
    }
    let range = |x: &[Lit]| -> (i128, i128) {
        let mut low = x.len();
        while low >= 2 && x[low - 1] == x[low - 2] {
            low -= 1;
        }
        match x[low - 1] {
            Lit::FALSE => (0, (1i128 << (low - 1)) - 1),
            Lit::TRUE => (-(1i128 << (low - 1)), -1),
            _ => (-(1i128 << (low - 1)), (1i128 << (low - 1)) - 1),
        }
    };
    let ((al, ah), (bl, bh)) = (range(a), range(b));
    let most = if carry == Lit::FALSE { 0 } else { 1 };
    al + bl >= -(1i128 << (width - 1)) && ah + bh + most < 1i128 << (width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Limits;
    use alir_core::num::SplitMix;

    const BITS: usize = 7;

    /// Sum of three or four words in a random order, and the same sum from compressors and a carry chain.
    struct Case {
        words: usize,
        /// Words whose negative values are replaced by 0.
        rectified: [bool; 4],
        /// Order in which the RTL adds.
        order: Vec<usize>,
        /// First bit of the carry chain; those below are look-up tables.
        first: usize,
        /// Bit whose carry is computed wrongly.
        wrong: Option<usize>,
    }

    impl Case {
        fn random(random: &mut SplitMix) -> Case {
            let words = 3 + random.below(2) as usize;
            let mut order: Vec<usize> = (0..words).collect();
            for i in (1..words).rev() {
                order.swap(i, random.below(i as u64 + 1) as usize);
            }
            let rectified = [(); 4].map(|()| random.below(2) == 1);
            Case { words, rectified, order, first: random.below(2) as usize, wrong: None }
        }

        /// Returns the number of bits, from the lowest on, that are proved equal to those of the RTL.
        fn proved_bits(&self) -> usize {
            let mut sweep = Sweep::new(&vec![BITS; self.words], Limits::default(), 100_000_000);
            let width = BITS + 2;
            // Rectified words have no sign; the others are read without one.
            let operands: Vec<Vec<Lit>> = (0..self.words)
                .map(|i| {
                    let word = sweep.inputs[i].clone();
                    let sign = word[BITS - 1];
                    let bit = |sweep: &mut Sweep, bit: Lit| match self.rectified[i] {
                        true => sweep.words.aig.and(bit, !sign),
                        false => bit,
                    };
                    (0..width).map(|k| word.get(k).map_or(Lit::FALSE, |&b| bit(&mut sweep, b))).collect()
                })
                .collect();
            let mut sum = operands[self.order[0]].clone();
            for &next in &self.order[1..] {
                sum = sweep.words.add(&sum, &operands[next], Lit::FALSE, false);
                sum = sum.into_iter().map(|bit| sweep.placed(bit)).collect();
            }
            sweep.begin_netlist();
            let (mut a, mut b) = (operands[0].clone(), operands[1].clone());
            for (level, c) in operands[2..].iter().enumerate() {
                let mut carries = vec![Lit::FALSE];
                let mut sums = Vec::new();
                for k in 0..width {
                    let half = sweep.xor(a[k], b[k]);
                    sums.push(sweep.xor(half, c[k]));
                    let two = sweep.words.aig.and(a[k], b[k]);
                    let more = if self.wrong == Some(k) && level == 0 { c[k] } else { sweep.words.aig.and(half, c[k]) };
                    carries.push(sweep.words.aig.or(two, more));
                }
                carries.truncate(width);
                // Each is the net of a look-up table.
                (a, b) = (sums, carries);
                for bit in a.iter_mut().chain(&mut b) {
                    *bit = sweep.placed(*bit);
                }
            }
            // A carry that was proved to be 0 does not precede the first cell.
            let zero = sweep.mux(a[0], b[1], a[2]);
            sweep.sums.rename(zero, Lit::FALSE);
            let mut carry = Lit::FALSE;
            for k in 0..width {
                let half = sweep.xor(a[k], b[k]);
                let [half, start] = [half, a[k]].map(|bit| sweep.placed(bit));
                let x = sweep.xor(half, carry);
                if !(prove(&mut sweep, x, sum[k]) || x == sum[k]) {
                    return k;
                }
                assert_eq!(sweep.placed(x), sum[k], "bit {k}");
                carry = match k < self.first {
                    true => sweep.words.aig.and(b[k], start),
                    false => sweep.mux(half, carry, start),
                };
            }
            width
        }
    }

    #[test]
    fn sums_from_compressors_are_those_of_adders() {
        let mut random = SplitMix::new(7);
        let cases: Vec<Case> = (0..20).map(|_| Case::random(&mut random)).collect();
        let (whole, open): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| case.proved_bits() == BITS + 2);
        // Where the RTL adds the words of the first compressor first and the last word last, carries may stay unknown.
        assert!(whole.len() >= 17, "only {} of 20", whole.len());
        assert!(open.iter().all(|case| case.words > 3));
    }

    #[test]
    fn sums_with_a_wrong_carry_are_not() {
        let mut random = SplitMix::new(8);
        let mut reached = 0;
        for i in 0..20 {
            let mut case = Case::random(&mut random);
            let wrong = random.below(BITS as u64 - 1) as usize;
            case.wrong = Some(wrong);
            let proved = case.proved_bits();
            assert!(proved <= wrong + 1, "case {i}");
            reached += usize::from(proved == wrong + 1);
        }
        assert!(reached >= 17, "only {reached} of 20");
    }

    #[test]
    fn wide_sums_have_more_variables() {
        let mut sweep = Sweep::new(&[4], Limits::default(), 100_000_000);
        let width = MOST_BITS;
        assert!(3 * width > 64 * FEW);
        let [a, b]: [Vec<Lit>; 2] = std::array::from_fn(|_| (0..width).map(|_| sweep.input()).collect());
        let sum = sweep.words.add(&a, &b, Lit::FALSE, false);
        sweep.begin_netlist();
        let of = |word: &[Lit], sign: u128| -> Summands {
            word.iter().enumerate().map(|(k, &bit)| term(bit, sign << k)).collect()
        };
        let residual = [of(&a, 1), of(&b, 1), of(&sum, u128::MAX)].concat();
        assert!(Cancellation::<FEW>::new(&residual, 0, width as u32).is_none());
        assert!(is_zero(&mut sweep, &residual, 0, width as u32));
        let wrong = [of(&a, 1), of(&b, 1), of(&sum, u128::MAX), vec![term(a[3], 8)]].concat();
        assert!(!is_zero(&mut sweep, &wrong, 0, width as u32));
    }
}
