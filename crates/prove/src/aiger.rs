//! AIGER 1.9, ASCII and binary: a file format of other provers.
//!
//! Inputs, registers with their power-on values, outputs and the symbol table are kept. Bad states and constraints are
//! read as outputs named `bad` and `constraint`; justice and fairness are rejected, as no proof here needs them.
//! Source: Biere, Heljanko, Wieringa, "AIGER 1.9 and beyond", FMV report 11/2.

use super::aig::{Aig, Gate, Lit};
use alir_core::diag::{Diagnostic, Place};
use std::fmt::Write as _;

/// Encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `aag`, text.
    Ascii,
    /// `aig`, gates as differences in a variable-length code.
    Binary,
}

/// Returns the content of a file. Nodes are renumbered as the format requires: inputs, registers, gates.
pub fn write(aig: &Aig, encoding: Encoding) -> Vec<u8> {
    let mut variable = vec![0u32; aig.len()];
    let mut next = 1;
    for pin in aig.inputs() {
        variable[pin.lit.node() as usize] = next;
        next += 1;
    }
    for latch in aig.latches() {
        variable[latch.node as usize] = next;
        next += 1;
    }
    let mut gates = Vec::with_capacity(aig.gates());
    for node in 0..aig.len() as u32 {
        if let Gate::And(a, b) = aig.gate(node) {
            variable[node as usize] = next;
            next += 1;
            gates.push((node, a, b));
        }
    }
    let number = |l: Lit| variable[l.node() as usize] * 2 + u32::from(l.is_negated());
    let kind = if encoding == Encoding::Ascii { "aag" } else { "aig" };
    let counts = [next as usize - 1, aig.inputs().len(), aig.latches().len(), aig.outputs().len(), gates.len()]
        .map(|n| n.to_string());
    let mut head = format!("{kind} {}\n", counts.join(" "));
    if encoding == Encoding::Ascii {
        for pin in aig.inputs() {
            let _ = writeln!(head, "{}", number(pin.lit));
        }
    }
    for latch in aig.latches() {
        let own = Lit::new(latch.node, false);
        if encoding == Encoding::Ascii {
            let _ = write!(head, "{} ", number(own));
        }
        let _ = write!(head, "{}", number(latch.next.unwrap_or(own)));
        match latch.init {
            // 0 is the format's default.
            Some(false) => {}
            Some(true) => head.push_str(" 1"),
            None => {
                let _ = write!(head, " {}", number(own));
            }
        }
        head.push('\n');
    }
    for pin in aig.outputs() {
        let _ = writeln!(head, "{}", number(pin.lit));
    }
    let mut out = head.into_bytes();
    for (node, a, b) in gates {
        let left = variable[node as usize] * 2;
        let (high, low) = (number(a).max(number(b)), number(a).min(number(b)));
        match encoding {
            Encoding::Ascii => out.extend_from_slice(format!("{left} {high} {low}\n").as_bytes()),
            Encoding::Binary => {
                push_delta(&mut out, left - high);
                push_delta(&mut out, high - low);
            }
        }
    }
    let mut symbols = String::new();
    let names = |symbols: &mut String, letter: char, names: &mut dyn Iterator<Item = &str>| {
        for (i, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
            let _ = writeln!(symbols, "{letter}{i} {name}");
        }
    };
    names(&mut symbols, 'i', &mut aig.inputs().iter().map(|p| p.name.as_str()));
    names(&mut symbols, 'l', &mut aig.latches().iter().map(|l| l.name.as_str()));
    names(&mut symbols, 'o', &mut aig.outputs().iter().map(|p| p.name.as_str()));
    out.extend_from_slice(symbols.as_bytes());
    out
}

fn push_delta(out: &mut Vec<u8>, mut delta: u32) {
    while delta >= 0x80 {
        out.push(delta as u8 | 0x80);
        delta >>= 7;
    }
    out.push(delta as u8);
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'a> Reader<'a> {
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("E0901", Place::Byte(self.at as u64), message)
    }

    fn line(&mut self) -> Result<&'a str> {
        let rest = &self.bytes[self.at..];
        let end =
            rest.iter().position(|&b| b == b'\n').ok_or_else(|| self.error("the AIGER file ends inside a line"))?;
        let line = std::str::from_utf8(&rest[..end]).map_err(|_| self.error("a line that is not text"))?;
        self.at += end + 1;
        Ok(line.trim_end_matches('\r'))
    }

    fn numbers(&mut self) -> Result<Vec<u32>> {
        let start = self.at;
        let line = self.line()?;
        let parsed: std::result::Result<Vec<u32>, _> = line.split_ascii_whitespace().map(str::parse).collect();
        parsed.map_err(|_| {
            Diagnostic::error("E0901", Place::Byte(start as u64), format!("expected numbers, not {line:?}"))
        })
    }

    fn one(&mut self, what: &str, max: u32) -> Result<u32> {
        let start = self.at;
        match self.numbers()?[..] {
            [literal] if literal <= max => Ok(literal),
            _ => Err(Diagnostic::error("E0901", Place::Byte(start as u64), format!("expected one literal of {what}"))),
        }
    }

    fn delta(&mut self) -> Result<u32> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let &byte = self.bytes.get(self.at).ok_or_else(|| self.error("the AIGER file ends inside its gates"))?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return u32::try_from(value).map_err(|_| self.error("a difference of more than 32 bits"));
            }
        }
        Err(self.error("a difference of more than 32 bits"))
    }
}

/// Parses a file in either encoding.
///
/// # Errors
/// `E0901` with the byte offset if the file is malformed, has a combinational loop or uses justice or fairness.
pub fn read(bytes: &[u8]) -> Result<Aig> {
    let mut r = Reader { bytes, at: 0 };
    let header = r.line()?.to_owned();
    let mut words = header.split(' ');
    let binary = match words.next() {
        Some("aig") => true,
        Some("aag") => false,
        _ => {
            return Err(Diagnostic::error(
                "E0901",
                Place::Byte(0),
                "not an AIGER file: it starts with neither aag nor aig",
            ));
        }
    };
    let counts: Vec<u32> = words
        .map(|w| {
            w.parse().map_err(|_| Diagnostic::error("E0901", Place::Byte(4), "the header's counts are not numbers"))
        })
        .collect::<Result<_>>()?;
    if !(5..=9).contains(&counts.len()) {
        return Err(Diagnostic::error("E0901", Place::Byte(0), "an AIGER header has 5 to 9 counts"));
    }
    let count = |i: usize| counts.get(i).copied().unwrap_or(0);
    let (max, n_in, n_latch, n_out, n_and, n_bad, n_constraint) =
        (count(0), count(1), count(2), count(3), count(4), count(5), count(6));
    if count(7) > 0 || count(8) > 0 {
        return Err(r.error("justice and fairness properties are not supported"));
    }
    let used = u64::from(n_in) + u64::from(n_latch) + u64::from(n_and);
    // Every object takes at least one byte, so this check bounds the allocation for a false header.
    let smallest =
        u64::from(n_latch) + u64::from(n_out) + u64::from(n_and) * 2 + if binary { 0 } else { u64::from(n_in) };
    if used > u64::from(max) || (binary && used != u64::from(max)) || max >= 1 << 29 || smallest > bytes.len() as u64 {
        return Err(Diagnostic::error("E0901", Place::Byte(0), "the header's counts do not fit together or the file"));
    }
    if !binary && u64::from(max) > 64 * (bytes.len() as u64) {
        return Err(Diagnostic::error("E0901", Place::Byte(0), "the header's largest variable is far beyond the file"));
    }
    if binary && u64::from(n_in) > 1 << 26 {
        return Err(Diagnostic::error("E0901", Place::Byte(0), "more than 2^26 inputs"));
    }
    let top = max * 2 + 1;
    let mut aig = Aig::new();
    let mut lits: Vec<Option<Lit>> = vec![None; max as usize + 1];
    lits[0] = Some(Lit::FALSE);
    let define = |r: &Reader<'_>, lits: &mut Vec<Option<Lit>>, literal: u32, lit: Lit| {
        let slot = &mut lits[literal as usize / 2];
        if literal % 2 == 1 || slot.is_some() {
            return Err(r.error(format!("literal {literal} cannot be defined here")));
        }
        *slot = Some(lit);
        Ok(())
    };
    for i in 0..n_in {
        let literal = if binary { (i + 1) * 2 } else { r.one("an input", top)? };
        let lit = aig.input("");
        define(&r, &mut lits, literal, lit)?;
    }
    let mut nexts = Vec::new();
    for i in 0..n_latch {
        let mut fields = r.numbers()?;
        if binary {
            fields.insert(0, (n_in + i + 1) * 2);
        }
        let init = match fields[..] {
            [_, _] | [_, _, 0] => Some(false),
            [_, _, 1] => Some(true),
            [own, _, same] if own == same => None,
            _ => return Err(r.error("a register line is: literal, next literal, and at most 0, 1 or its own literal")),
        };
        if fields[0] > top || fields[1] > top {
            return Err(r.error("a register names a literal beyond the largest variable"));
        }
        let lit = aig.latch("", init);
        define(&r, &mut lits, fields[0], lit)?;
        nexts.push(fields[1]);
    }
    let mut pins = Vec::new();
    for (n, name) in [(n_out, ""), (n_bad, "bad"), (n_constraint, "constraint")] {
        for _ in 0..n {
            pins.push((r.one("an output", top)?, name));
        }
    }
    let mut gates: Vec<[u32; 3]> = Vec::new();
    for i in 0..n_and {
        if binary {
            let left = (n_in + n_latch + i + 1) * 2;
            let high = left.checked_sub(r.delta()?).filter(|&h| h < left);
            let high = high.ok_or_else(|| r.error("a gate's operand is not earlier than the gate"))?;
            let low = high.checked_sub(r.delta()?).ok_or_else(|| r.error("a gate's operand is below zero"))?;
            gates.push([left, high, low]);
        } else {
            match r.numbers()?[..] {
                [left, a, b] if left <= top && a <= top && b <= top => gates.push([left, a, b]),
                _ => return Err(r.error("a gate is three literals within the largest variable")),
            }
        }
    }
    build_gates(&mut aig, &mut lits, &gates, max).map_err(|m| r.error(m))?;
    let lit_of = |r: &Reader<'_>, literal: u32| match lits[literal as usize / 2] {
        Some(lit) => Ok(lit.xor(literal % 2 == 1)),
        None => Err(r.error(format!("literal {literal} is used but never defined"))),
    };
    for (i, next) in nexts.into_iter().enumerate() {
        let lit = lit_of(&r, next)?;
        aig.set_next(i, lit);
    }
    for (literal, name) in pins {
        let lit = lit_of(&r, literal)?;
        aig.output(lit, name);
    }
    read_symbols(&mut r, &mut aig)?;
    Ok(aig)
}

/// Builds the gates, which the file may list in any order; each variable once.
fn build_gates(
    aig: &mut Aig,
    lits: &mut [Option<Lit>],
    gates: &[[u32; 3]],
    max: u32,
) -> std::result::Result<(), String> {
    let mut gate_of = vec![u32::MAX; max as usize + 1];
    for (i, [left, _, _]) in gates.iter().enumerate() {
        let slot = &mut gate_of[*left as usize / 2];
        if left % 2 == 1 || *slot != u32::MAX || lits[*left as usize / 2].is_some() {
            return Err(format!("literal {left} is defined twice or negated"));
        }
        *slot = i as u32;
    }
    let mut open = vec![false; gates.len()];
    let mut stack = Vec::new();
    for first in 0..gates.len() {
        stack.push(first);
        while let Some(&i) = stack.last() {
            let [left, a, b] = gates[i];
            if lits[left as usize / 2].is_some() {
                stack.pop();
                continue;
            }
            let missing = [a, b].into_iter().find(|l| lits[*l as usize / 2].is_none());
            if let Some(literal) = missing {
                let needed = gate_of[literal as usize / 2];
                if needed == u32::MAX {
                    return Err(format!("literal {literal} is used but never defined"));
                }
                if open[i] && open[needed as usize] {
                    return Err(format!("literal {literal} depends on itself"));
                }
                open[i] = true;
                stack.push(needed as usize);
                continue;
            }
            let of = |l: u32| lits[l as usize / 2].unwrap_or(Lit::FALSE).xor(l % 2 == 1);
            let made = aig.and(of(a), of(b));
            lits[left as usize / 2] = Some(made);
            stack.pop();
        }
    }
    Ok(())
}

fn read_symbols(r: &mut Reader<'_>, aig: &mut Aig) -> Result<()> {
    while r.at < r.bytes.len() {
        let line = r.line()?;
        if line.starts_with('c') && line.trim() == "c" {
            return Ok(());
        }
        let (key, name) = line.split_once(' ').ok_or_else(|| r.error(format!("expected a symbol, not {line:?}")))?;
        let (letter, index) = key.split_at(key.len().min(1));
        let index: usize = index.parse().map_err(|_| r.error(format!("expected a symbol, not {line:?}")))?;
        let known = match letter {
            "i" | "l" | "o" => aig.rename(letter, index, name),
            // Names of bad states and constraints are ignored.
            "b" | "c" | "j" | "f" => true,
            _ => false,
        };
        if !known {
            return Err(r.error(format!("symbol {key:?} names nothing in this file")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aig::tests_support::{pattern_outputs, sample};
    use std::process::Command;

    #[test]
    fn both_encodings_read_back_equal() {
        let g = sample();
        for encoding in [Encoding::Ascii, Encoding::Binary] {
            let bytes = write(&g, encoding);
            let back = read(&bytes).unwrap();
            assert_eq!(write(&back, encoding), bytes);
            assert_eq!(pattern_outputs(&back), pattern_outputs(&g));
            assert_eq!(back.inputs()[1].name, "model_inp[1]");
            assert_eq!(back.latches()[0].name, "q[0]");
            assert_eq!(back.latches().iter().map(|l| l.init).collect::<Vec<_>>(), [Some(true), None]);
        }
    }

    #[test]
    fn the_crate_flussab_aiger_reads_what_we_write() {
        let g = sample();
        let ascii = write(&g, Encoding::Ascii);
        let theirs =
            flussab_aiger::ascii::Parser::<u32>::from_read(&ascii[..], Default::default()).unwrap().parse().unwrap();
        assert_eq!((theirs.inputs.len(), theirs.latches.len(), theirs.outputs.len()), (4, 2, 3));
        assert_eq!(theirs.and_gates.len(), g.gates());
        let binary = write(&g, Encoding::Binary);
        let theirs =
            flussab_aiger::binary::Parser::<u32>::from_read(&binary[..], Default::default()).unwrap().parse().unwrap();
        assert_eq!(theirs.and_gates.len(), g.gates());
        assert_eq!(theirs.symbols.len(), 4 + 2 + 3);
    }

    #[test]
    fn abc_reads_what_we_write_and_finds_it_equal() {
        let Some(abc) = alir_testing::tools::tool("berkeley-abc") else { return };
        let dir = tempfile::tempdir().unwrap();
        let g = sample();
        // ABC reads the binary encoding only.
        std::fs::write(dir.path().join("a.aig"), write(&g, Encoding::Binary)).unwrap();
        let out = Command::new(abc)
            .current_dir(dir.path())
            .args(["-c", "read_aiger a.aig; print_stats; write_aiger -s b.aig; dsec a.aig b.aig"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(text.contains("i/o =") && text.to_lowercase().contains("equivalent"), "{text}");
        let back = read(&std::fs::read(dir.path().join("b.aig")).unwrap()).unwrap();
        assert_eq!(back.inputs()[1].name, "model_inp[1]");
    }

    #[test]
    fn malformed_files_are_refused() {
        for (bytes, what) in [
            (&b"aag 1 1 0 1 0\n2\n4\n"[..], "expected one literal"),
            (b"aag 2 1 0 1 1\n2\n4\n4 5 2\n", "itself"),
            (b"aag 3 1 0 1 2\n2\n4\n4 6 2\n6 4 2\n", "itself"),
            (b"aag 3 1 0 1 1\n2\n6\n4 2 2\n", "never defined"),
            (b"aag 4000000000 1 0 1 0\n", "fit together"),
            (b"aig 1 0 0 1 1\n2\n\x00\x00", "earlier"),
            (b"aig 1 0 0 1 1\n2\n\xff\xff\xff\xff\xff\xff", "32 bits"),
            (b"aag 1 1 0 0 0\n2\nx0 a\n", "symbol"),
            (b"aag 1 1 0 0 0 0 0 1 0\n2\n", "justice"),
            (b"hello\n", "not an AIGER"),
        ] {
            let error = read(bytes).err().unwrap_or_else(|| panic!("{what}: accepted"));
            assert!(error.message.contains(what), "{what}: {}", error.message);
        }
    }
}
