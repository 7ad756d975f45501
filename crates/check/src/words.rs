//! Gates for arithmetic on words, which are vectors of literals with low bits first: sums, products, multiplexers,
//! look-up tables.

use crate::graph::{Graph, Lit};

/// Returns the low `width` bits of a word, sign-extended or zero-extended.
pub fn resize(word: &[Lit], signed: bool, width: usize) -> Vec<Lit> {
    let fill = if signed { word.last().copied().unwrap_or(Lit::FALSE) } else { Lit::FALSE };
    (0..width).map(|i| word.get(i).copied().unwrap_or(fill)).collect()
}

/// Returns the bits of a value as a signed number of at least one bit.
pub fn exact(word: &[Lit], signed: bool) -> Vec<Lit> {
    let mut bits = word.to_vec();
    if !signed || bits.is_empty() {
        bits.push(Lit::FALSE);
    }
    bits
}

/// Returns `a + b + carry` modulo the common width.
pub fn add(g: &mut Graph, a: &[Lit], b: &[Lit], carry: Lit) -> Vec<Lit> {
    let mut carry = carry;
    let mut out = Vec::with_capacity(a.len());
    for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
        if i + 1 == a.len() {
            let half = g.xor(x, y);
            out.push(g.xor(half, carry));
        } else {
            let (sum, next) = g.full_adder(x, y, carry);
            out.push(sum);
            carry = next;
        }
    }
    out
}

/// Returns `a - b` modulo the common width.
pub fn subtract(g: &mut Graph, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
    let complement: Vec<Lit> = b.iter().map(|&lit| !lit).collect();
    add(g, a, &complement, Lit::TRUE)
}

/// Returns `-a` modulo its width.
pub fn negate(g: &mut Graph, a: &[Lit]) -> Vec<Lit> {
    subtract(g, &vec![Lit::FALSE; a.len()], a)
}

/// Returns a literal that is 1 if `a` is less than `b`, both as numbers of one width: the sign of their difference.
pub fn less(g: &mut Graph, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
    let (a, b) = (resize(a, signed, a.len() + 1), resize(b, signed, b.len() + 1));
    subtract(g, &a, &b)[a.len() - 1]
}

/// Returns `a * b` modulo the common width, with a row of adders for each bit of `b`.
pub fn multiply(g: &mut Graph, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
    let width = a.len();
    let mut total = vec![Lit::FALSE; width];
    for (i, &select) in b.iter().enumerate() {
        if g.is_full {
            break;
        }
        let row: Vec<Lit> = a[..width - i].iter().map(|&lit| g.and(lit, select)).collect();
        let high = add(g, &total[i..], &row, Lit::FALSE);
        total[i..].copy_from_slice(&high);
    }
    total
}

/// Returns `select ? yes : no`.
pub fn choose(g: &mut Graph, select: Lit, yes: &[Lit], no: &[Lit]) -> Vec<Lit> {
    yes.iter().zip(no).map(|(&y, &n)| g.mux(select, y, n)).collect()
}

/// Returns a literal that is 1 if any bit is set.
pub fn any(g: &mut Graph, word: &[Lit]) -> Lit {
    word.iter().fold(Lit::FALSE, |any, &lit| g.or(any, lit))
}

/// Returns a literal that is 1 if all bits are set.
pub fn all(g: &mut Graph, word: &[Lit]) -> Lit {
    word.iter().fold(Lit::TRUE, |all, &lit| g.and(all, lit))
}

/// Returns one bit of the entry at an address. `entries` contains this bit of every entry; its length is two to the
/// number of address bits.
fn table_bit(g: &mut Graph, address: &[Lit], entries: &[bool]) -> Lit {
    if entries.iter().all(|&bit| bit == entries[0]) {
        return Lit::constant(entries[0]);
    }
    let (&top, rest) = address.split_last().expect("different entries have an address");
    let (low, high) = entries.split_at(1 << rest.len());
    let (no, yes) = (table_bit(g, rest, low), table_bit(g, rest, high));
    g.mux(top, yes, no)
}

/// Returns the entry of a table at an address; `entry(i, bit)` is bit `bit` of entry `i`.
pub fn table(g: &mut Graph, address: &[Lit], width: usize, entry: impl Fn(usize, usize) -> bool) -> Vec<Lit> {
    (0..width)
        .map(|bit| {
            let column: Vec<bool> = (0..1usize << address.len()).map(|i| entry(i, bit)).collect();
            table_bit(g, address, &column)
        })
        .collect()
}
