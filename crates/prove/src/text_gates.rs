//! Comparison of a design over the checker's gates, which a program and all sides compared with it share.
//!
//! In these gates, values of a program that are equal sums are the same gates, for any order of addition in the RTL. A
//! bit that the RTL computes in another way is searched among gates with the same samples, as for a certificate. The
//! design itself is parsed by our own front end.

use super::certify::GateContext;
use super::engine::GATE;
use super::port_roles::{ControlValues, PortRoles};
use super::unroll::{Domain, Fault, Unroll, WordResult};
use alir_hdl::{Binary, Compare, Reduce, Rtl, Shift, SignalId};
use alir2hdl_check::graph::{Graph, Lit};
use alir2hdl_check::words;
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Largest number of address bits of a table that is expanded to gates.
const MOST_ADDRESS: usize = 16;

/// Proved parts of a design.
pub(super) struct Shown {
    /// Outputs that are proved equal to those of the program.
    pub(super) outputs: FxHashSet<usize>,
    /// `true` if the valid flag is proved.
    pub(super) valid: bool,
    /// Ticks spent.
    pub(super) spent: u64,
}

/// Compares the outputs of a design with those of the first program, within about `most` ticks.
pub(super) fn compare(
    shared: &mut GateContext,
    (rtl, ports): (&Rtl, &PortRoles),
    (latency, structure): (u32, u32),
    most: u64,
) -> Shown {
    shared.begin(most);
    let made = shared.graph().count();
    let controls = ControlValues::running(ports);
    let mut gates = TextGates { shared, rtl, ports, latency, controls, pins: FxHashMap::default() };
    let mut unroll: Unroll<'_, Arc<[Lit]>> = Unroll::new(rtl, ports.depth(latency, structure));
    let (mut shown, mut open) = (FxHashSet::default(), Vec::new());
    for (j, place) in ports.outputs.iter().enumerate() {
        let Some((port, lo)) = *place else { continue };
        if let Ok(word) = unroll.word(&mut gates, rtl.read(port), 0) {
            let expected = gates.shared.output(j);
            let found = word[lo as usize..][..expected.len()].to_vec();
            open.push((j, expected, found));
        }
    }
    let valid = ports.valid.is_some_and(|(valid_in, valid_out)| {
        let found = unroll.word(&mut gates, rtl.read(valid_out), 0);
        let wanted = gates.input(valid_in, latency);
        found.ok().zip(wanted.ok()).is_some_and(|(found, wanted)| {
            let same = |(&a, &b): (&Lit, &Lit)| b.is_known() && gates.g().root(a) == gates.g().root(b);
            found.iter().zip(&*wanted).all(same)
        })
    });
    for (j, expected, found) in open {
        if !shared.is_done() && shared.are_equal(&expected, &found) {
            shown.insert(j);
        }
    }
    let spent = shared.spent() + GATE * (shared.graph().count() - made) as u64;
    // Beyond the size limit of the graph, gates are not valid.
    if shared.graph().is_full {
        return Shown { outputs: FxHashSet::default(), valid: false, spent };
    }
    Shown { outputs: shown, valid, spent }
}

/// Words of the checker's gates.
struct TextGates<'a> {
    shared: &'a mut GateContext,
    rtl: &'a Rtl,
    ports: &'a PortRoles,
    latency: u32,
    controls: ControlValues,
    /// Bits of ports in each cycle.
    pins: FxHashMap<(SignalId, u32), Vec<Lit>>,
}

impl TextGates<'_> {
    fn g(&mut self) -> &mut Graph {
        self.shared.graph()
    }

    fn bits(value: &BigUint, width: u32) -> Arc<[Lit]> {
        (0..u64::from(width)).map(|bit| Lit::constant(value.bit(bit))).collect()
    }

    fn pairs(&mut self, a: &[Lit], b: &[Lit], mut gate: impl FnMut(&mut Graph, Lit, Lit) -> Lit) -> Vec<Lit> {
        a.iter().zip(b).map(|(&x, &y)| gate(self.g(), x, y)).collect()
    }
}

impl Domain for TextGates<'_> {
    type Word = Arc<[Lit]>;

    fn truth(&self, x: &Arc<[Lit]>) -> Option<bool> {
        x.first().filter(|bit| bit.node() == 0).map(|&bit| bit == Lit::TRUE)
    }

    fn constant(&mut self, value: &BigUint, width: u32) -> WordResult<Self> {
        Ok(TextGates::bits(value, width))
    }

    fn slice(&mut self, x: &Arc<[Lit]>, lo: u32, width: u32) -> WordResult<Self> {
        Ok(x[lo as usize..][..width as usize].into())
    }

    fn concat(&mut self, parts: &[(Arc<[Lit]>, u32)]) -> WordResult<Self> {
        Ok(parts.iter().flat_map(|(part, _)| part.iter().copied()).collect())
    }

    fn extend(&mut self, x: &Arc<[Lit]>, _from: u32, signed: bool, width: u32) -> WordResult<Self> {
        Ok(words::resize(x, signed, width as usize).into())
    }

    fn repeat(&mut self, x: &Arc<[Lit]>, _from: u32, count: u32) -> WordResult<Self> {
        Ok(x.repeat(count as usize).into())
    }

    fn not(&mut self, x: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        Ok(x.iter().map(|&bit| !bit).collect())
    }

    fn binary(&mut self, op: Binary, a: &Arc<[Lit]>, b: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        Ok(match op {
            Binary::And => self.pairs(a, b, Graph::and),
            Binary::Or => self.pairs(a, b, Graph::or),
            Binary::Xor => self.pairs(a, b, Graph::xor),
            Binary::Add => words::add(self.g(), a, b, Lit::FALSE),
            Binary::Sub => words::subtract(self.g(), a, b),
            Binary::Mul => words::multiply(self.g(), a, b),
            // No program has a division.
            Binary::Div | Binary::Rem => return Err(Fault::Overflow),
        }
        .into())
    }

    fn compare(&mut self, op: Compare, a: &Arc<[Lit]>, b: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        let bit = match op {
            Compare::Equal => {
                let differ = self.pairs(a, b, Graph::xor);
                !words::any(self.g(), &differ)
            }
            Compare::Less => words::less(self.g(), a, b, false),
            Compare::SignedLess => words::less(self.g(), a, b, true),
        };
        Ok([bit].into())
    }

    fn reduce(&mut self, op: Reduce, x: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        let bit = match op {
            Reduce::All => words::all(self.g(), x),
            Reduce::Any => words::any(self.g(), x),
            Reduce::Parity => x.iter().fold(Lit::FALSE, |parity, &bit| self.g().xor(parity, bit)),
        };
        Ok([bit].into())
    }

    fn shift(&mut self, op: Shift, x: &Arc<[Lit]>, by: (&Arc<[Lit]>, u32), _width: u32) -> WordResult<Self> {
        let fill = if op == Shift::SignedRight { x.last().copied().unwrap_or(Lit::FALSE) } else { Lit::FALSE };
        let mut word = x.to_vec();
        for (k, &select) in by.0.iter().enumerate() {
            let step = 1usize.checked_shl(k as u32).filter(|&step| step < word.len());
            let from = |i: usize| {
                let step = step?;
                word.get(if op == Shift::Left { i.checked_sub(step)? } else { i + step }).copied()
            };
            let moved: Vec<Lit> = (0..word.len()).map(|i| from(i).unwrap_or(fill)).collect();
            word = words::choose(self.g(), select, &moved, &word);
        }
        Ok(word.into())
    }

    fn table(
        &mut self,
        entries: &Arc<Vec<BigUint>>,
        addr: (&Arc<[Lit]>, u32),
        missing: &Arc<[Lit]>,
        width: u32,
    ) -> WordResult<Self> {
        // High address bits that are always 0 are dropped.
        let used = addr.0.iter().rposition(|&bit| bit != Lit::FALSE).map_or(0, |last| last + 1);
        let (address, is_full) = (&addr.0[..used], entries.len() >> used.min(63) > 0);
        let is_constant = missing.iter().all(|bit| bit.node() == 0);
        if used > MOST_ADDRESS || !(is_full || is_constant) {
            return Err(Fault::Overflow);
        }
        let word = words::table(self.g(), address, width as usize, |i, bit| match entries.get(i) {
            Some(entry) => entry.bit(bit as u64),
            None => missing[bit] == Lit::TRUE,
        });
        Ok(word.into())
    }

    fn mux(&mut self, cond: &Arc<[Lit]>, yes: &Arc<[Lit]>, no: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        Ok(words::choose(self.g(), cond[0], yes, no).into())
    }

    fn input(&mut self, signal: SignalId, k: u32) -> WordResult<Self> {
        if let Some(level) = self.controls.level(signal) {
            return Ok([Lit::constant(level)].into());
        }
        let width = self.rtl.signal(signal).width;
        if !self.pins.contains_key(&(signal, k)) {
            // The valid flag in other cycles belongs to other samples, and may have any value.
            let is_flag = self.ports.valid.is_some_and(|(valid_in, _)| valid_in == signal);
            let mut word =
                if is_flag { vec![self.g().input(); width as usize] } else { vec![Lit::UNKNOWN; width as usize] };
            for (i, lo) in self.ports.on(signal, k, self.latency) {
                let input = self.shared.input(i);
                word[lo as usize..][..input.len()].copy_from_slice(input);
            }
            self.pins.insert((signal, k), word);
        }
        Ok(self.pins[&(signal, k)].as_slice().into())
    }

    fn unknown(&mut self, width: u32) -> WordResult<Self> {
        Ok(vec![Lit::UNKNOWN; width as usize].into())
    }

    fn before(&mut self, signal: SignalId, lo: u32, width: u32) -> WordResult<Self> {
        match self.ports.before(signal, lo, width) {
            Some(value) => Ok(TextGates::bits(&value, width)),
            None => self.unknown(width),
        }
    }

    fn known(&mut self, signal: SignalId, k: u32) -> Option<WordResult<Self>> {
        let value = self.ports.phase(signal, k)?;
        Some(Ok(TextGates::bits(value, self.rtl.signal(signal).width)))
    }

    fn signal(&mut self, _signal: SignalId, _k: u32, word: Arc<[Lit]>) -> WordResult<Self> {
        if self.g().is_full || self.shared.is_done() {
            return Err(Fault::Overflow);
        }
        Ok(self.shared.placed(&word).into())
    }
}
