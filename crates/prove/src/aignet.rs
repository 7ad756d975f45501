//! Array format of ACL2's Aignet library: two little-endian 32-bit words for each node.
//!
//! `word0 = data0 << 2 | type`, `word1 = data1 << 2 | phase << 1 | register flag`. Types: 0 constant, 1 and, 2 input, 3
//! output. With the register flag, an input is a register's output and an output is a register's next value. The slots
//! contain by type: for an AND its two fanin literals, below its own id; for an input its number in slot 1; for an
//! output its fanin literal in slot 0 and its number in slot 1; for a register output its number in slot 1; for a
//! register's next value its fanin literal in slot 0 and the *id* of its register output in slot 1. The phase is the
//! node's value with all inputs and registers 0. Source: ACL2 documentation, topic "aignet-impl".

use super::aig::{Aig, Gate, Lit};
use alir_core::diag::{Diagnostic, Place};

/// Interpretation of a register flag that is set on a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GateFlag {
    /// Error: the supported version of the format does not define the flag on gates.
    #[default]
    Refuse,
    /// The gate is an exclusive or, as in newer versions of the format.
    Xor,
}

const CONSTANT: u32 = 0;
const AND: u32 = 1;
const INPUT: u32 = 2;
const OUTPUT: u32 = 3;

/// Returns the graph as an array in bytes. Node ids are those of `aig`; outputs and next values follow at the end.
pub fn write(aig: &Aig) -> Vec<u8> {
    let mut out = Vec::with_capacity((aig.len() + aig.outputs().len() + aig.latches().len()) * 8);
    let mut phase = Vec::with_capacity(aig.len());
    let mut push = |kind: u32, slots: [u32; 2], phase: bool, register: bool| {
        out.extend_from_slice(&(slots[0] << 2 | kind).to_le_bytes());
        out.extend_from_slice(&(slots[1] << 2 | u32::from(phase) << 1 | u32::from(register)).to_le_bytes());
    };
    let seen = |phase: &[bool], l: Lit| phase[l.node() as usize] != l.is_negated();
    for node in 0..aig.len() as u32 {
        let own = match aig.gate(node) {
            Gate::And(a, b) => seen(&phase, a) && seen(&phase, b),
            Gate::False | Gate::Input(_) | Gate::Latch(_) => false,
        };
        match aig.gate(node) {
            Gate::False => push(CONSTANT, [0, 0], false, false),
            Gate::And(a, b) => push(AND, [a.0, b.0], own, false),
            Gate::Input(number) => push(INPUT, [0, number], false, false),
            Gate::Latch(number) => push(INPUT, [0, number], false, true),
        }
        phase.push(own);
    }
    for (number, pin) in aig.outputs().iter().enumerate() {
        push(OUTPUT, [pin.lit.0, number as u32], seen(&phase, pin.lit), false);
    }
    for latch in aig.latches() {
        if let Some(next) = latch.next {
            push(OUTPUT, [next.0, latch.node], seen(&phase, next), true);
        }
    }
    out
}

/// Parses and checks an array. The format has no names and no power-on values: names are empty, and power-on values 0.
///
/// # Errors
/// `E0902` with the byte offset of the first node that violates a rule of the format.
pub fn read(bytes: &[u8], flag: GateFlag) -> Result<Aig, Diagnostic> {
    let error = |id: usize, message: String| Err(Diagnostic::error("E0902", Place::Byte(id as u64 * 8), message));
    if !bytes.len().is_multiple_of(8) || bytes.is_empty() {
        return error(bytes.len() / 8, "an Aignet array is a whole number of 8-byte nodes, at least one".into());
    }
    let mut aig = Aig::new();
    // Literal of each id (structural hashing may have merged gates); `None` for outputs.
    let mut lits: Vec<Option<Lit>> = Vec::with_capacity(bytes.len() / 8);
    let mut phases: Vec<bool> = Vec::with_capacity(bytes.len() / 8);
    let mut registers: Vec<(usize, usize)> = Vec::new();
    for (id, pair) in bytes.chunks_exact(8).enumerate() {
        let word = |i: usize| u32::from_le_bytes([pair[i], pair[i + 1], pair[i + 2], pair[i + 3]]);
        let (kind, slots) = (word(0) & 3, [word(0) >> 2, word(4) >> 2]);
        let (phase, register) = (word(4) & 2 != 0, word(4) & 1 != 0);
        let fanin = |slot: u32| {
            let lit = lits.get(slot as usize / 2).copied().flatten().map(|l| l.xor(slot % 2 == 1))?;
            Some((lit, phases[slot as usize / 2] != (slot % 2 == 1)))
        };
        if (kind == CONSTANT) != (id == 0) {
            return error(id, "node 0, and no other, is the constant".into());
        }
        let (lit, own) = match (kind, register) {
            (CONSTANT, _) => (Some(Lit::FALSE), false),
            (AND, true) if flag == GateFlag::Refuse => {
                return Err(Diagnostic::error(
                    "E0902",
                    Place::Byte(id as u64 * 8),
                    format!("node {id} is a gate with its register flag set"),
                )
                .with_help("newer editions of Aignet mark exclusive ors so: --aignet-xor reads them"));
            }
            (AND, xor) => {
                let (Some((a, pa)), Some((b, pb))) = (fanin(slots[0]), fanin(slots[1])) else {
                    return error(id, format!("node {id}: a fanin is not an earlier gate, input or constant"));
                };
                if xor { (Some(aig.xor(a, b)), pa != pb) } else { (Some(aig.and(a, b)), pa && pb) }
            }
            (INPUT, false) => {
                if slots[1] as usize != aig.inputs().len() {
                    return error(id, format!("node {id}: input number {} out of order", slots[1]));
                }
                (Some(aig.input("")), false)
            }
            (INPUT, true) => {
                if slots[1] as usize != registers.len() {
                    return error(id, format!("node {id}: register number {} out of order", slots[1]));
                }
                registers.push((id, aig.latches().len()));
                (Some(aig.latch("", Some(false))), false)
            }
            (_, next_value) => {
                let Some((lit, phase)) = fanin(slots[0]) else {
                    return error(id, format!("node {id}: its fanin is not an earlier gate, input or constant"));
                };
                if next_value {
                    // Id 0 is allowed for a next value that belongs to no register.
                    if slots[1] != 0 {
                        let found = registers.binary_search_by_key(&(slots[1] as usize), |r| r.0);
                        let Ok(found) = found.map(|i| registers[i].1) else {
                            return error(id, format!("node {id}: {} is not an earlier register output", slots[1]));
                        };
                        if aig.latches()[found].next.is_some() {
                            return error(
                                id,
                                format!("node {id}: register output {} has a next value already", slots[1]),
                            );
                        }
                        aig.set_next(found, lit);
                    }
                } else {
                    if slots[1] as usize != aig.outputs().len() {
                        return error(id, format!("node {id}: output number {} out of order", slots[1]));
                    }
                    aig.output(lit, "");
                }
                (None, phase)
            }
        };
        if own != phase {
            return error(
                id,
                format!("node {id}: its phase bit is {}, its value at zero is {}", phase as u8, own as u8),
            );
        }
        lits.push(lit);
        phases.push(own);
    }
    Ok(aig)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aig::tests_support::{pattern_outputs, sample};

    #[test]
    fn an_and_of_two_inputs_is_these_words() {
        let mut g = Aig::new();
        let (a, b) = (g.input("a"), g.input("b"));
        let both = g.and(a, !b);
        g.output(!both, "y");
        let words: Vec<u32> = write(&g).chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
        // The constant; inputs 0 and 1; the AND of literals 2 and 5; an output of literal 7, which is 1 if all inputs
        // are 0.
        assert_eq!(words, [0, 0, 2, 0, 2, 1 << 2, 2 << 2 | 1, 5 << 2, 7 << 2 | 3, 2]);
    }

    #[test]
    fn arrays_round_trip() {
        let g = sample();
        let bytes = write(&g);
        let back = read(&bytes, GateFlag::Refuse).unwrap();
        assert_eq!(write(&back), bytes);
        assert_eq!(pattern_outputs(&back), pattern_outputs(&g));
    }

    #[test]
    fn wrong_phase_order_and_flags_are_refused() {
        let good = write(&sample());
        let gate = (0..good.len() / 8).find(|i| good[i * 8] & 3 == 1).unwrap();
        let mut flagged = good.clone();
        flagged[gate * 8 + 4] |= 1;
        let refused = read(&flagged, GateFlag::Refuse).err().unwrap();
        assert!(refused.help.unwrap().contains("--aignet-xor"));
        let mut phase = good.clone();
        phase[gate * 8 + 4] ^= 2;
        assert!(read(&phase, GateFlag::Refuse).err().unwrap().message.contains("phase"));
        let mut forward = good.clone();
        forward[gate * 8..gate * 8 + 4].copy_from_slice(&(((gate as u32 * 2) << 2) | 1).to_le_bytes());
        assert!(read(&forward, GateFlag::Refuse).err().unwrap().message.contains("earlier"));
        assert!(read(&good[..good.len() - 3], GateFlag::Refuse).is_err());
    }

    #[test]
    fn a_flagged_gate_is_an_exclusive_or_if_asked() {
        let mut bytes = Vec::new();
        for word in [0u32, 0, 2, 0, 2, 1 << 2, 2 << 2 | 1, 4 << 2 | 1, 6 << 2 | 3, 0] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        let g = read(&bytes, GateFlag::Xor).unwrap();
        assert_eq!(
            pattern_outputs(&g)[0][0] & 15,
            pattern_outputs(&{
                let mut x = Aig::new();
                let (a, b) = (x.input(""), x.input(""));
                let y = x.xor(a, b);
                x.output(y, "");
                x
            })[0][0]
                & 15
        );
    }
}
