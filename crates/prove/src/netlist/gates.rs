//! Gate-level words for the unrolling of the RTL and of the netlist.

use super::super::aig::Lit;
use super::super::bit_vector::{constant, resize};
use super::super::port_roles::{ControlValues, PortRoles};
use super::super::unroll::{Domain, Fault, WordResult};
use super::sweep::Sweep;
use alir_hdl::{Binary, Compare, Reduce, Rtl, Shift, SignalId};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Largest address in bits of a table that is expanded to gates.
const MOST_ADDRESS: usize = 16;

/// Bits of ports in each cycle.
pub(crate) type Pins = FxHashMap<(SignalId, u32), Vec<Lit>>;

/// One side of the comparison: the RTL or the netlist.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) rtl: &'a Rtl,
    pub(crate) leaves: Leaves<'a>,
}

/// Leaves of the unrolling.
#[derive(Clone, Copy)]
pub(crate) enum Leaves<'a> {
    /// Inputs of a pipeline with this latency.
    Ports(&'a PortRoles, u32),
    /// Bits of inputs and registers in one clock cycle.
    Cycle(&'a FxHashMap<SignalId, Vec<Lit>>),
}

/// Domain of the unrolling, whose words consist of gates of the sweep.
pub(crate) struct SideGates<'a, 's> {
    sweep: &'s mut Sweep,
    side: Side<'a>,
    controls: Option<ControlValues>,
    pins: &'s mut Pins,
}

impl<'a, 's> SideGates<'a, 's> {
    pub(crate) fn new(sweep: &'s mut Sweep, side: Side<'a>, pins: &'s mut Pins) -> SideGates<'a, 's> {
        let controls = match side.leaves {
            Leaves::Ports(ports, _) => Some(ControlValues::running(ports)),
            Leaves::Cycle(_) => None,
        };
        SideGates { sweep, side, controls, pins }
    }

    /// Returns the bits of an input port in a cycle.
    pub(super) fn pin(&mut self, signal: SignalId, k: u32) -> Vec<Lit> {
        if let Some(level) = self.controls.as_ref().and_then(|controls| controls.level(signal)) {
            return vec![Lit::constant(level)];
        }
        if let Some(known) = self.pins.get(&(signal, k)) {
            return known.clone();
        }
        let mut word: Vec<Option<Lit>> = vec![None; self.side.rtl.signal(signal).width as usize];
        match self.side.leaves {
            Leaves::Ports(ports, latency) => {
                for (i, lo) in ports.on(signal, k, latency) {
                    for (place, &bit) in word[lo as usize..].iter_mut().zip(&self.sweep.inputs[i]) {
                        *place = Some(bit);
                    }
                }
            }
            // A clock that is used as data may have any value.
            Leaves::Cycle(leaves) => word
                .iter_mut()
                .zip(leaves.get(&signal).into_iter().flatten())
                .for_each(|(place, bit)| *place = Some(*bit)),
        }
        let word: Vec<Lit> = word.into_iter().map(|bit| bit.unwrap_or_else(|| self.sweep.input())).collect();
        self.pins.insert((signal, k), word.clone());
        word
    }

    fn pairs(&mut self, a: &[Lit], b: &[Lit], gate: impl Fn(&mut Sweep, Lit, Lit) -> Lit) -> Arc<[Lit]> {
        a.iter().zip(b).map(|(&x, &y)| gate(self.sweep, x, y)).collect()
    }
}

impl Domain for SideGates<'_, '_> {
    type Word = Arc<[Lit]>;

    fn truth(&self, x: &Arc<[Lit]>) -> Option<bool> {
        x.first().and_then(|bit| bit.as_const())
    }

    fn constant(&mut self, value: &BigUint, width: u32) -> WordResult<Self> {
        Ok(constant(value, width).into())
    }

    fn slice(&mut self, x: &Arc<[Lit]>, lo: u32, width: u32) -> WordResult<Self> {
        Ok(x[lo as usize..][..width as usize].into())
    }

    fn concat(&mut self, parts: &[(Arc<[Lit]>, u32)]) -> WordResult<Self> {
        Ok(parts.iter().flat_map(|(part, _)| part.iter().copied()).collect())
    }

    fn extend(&mut self, x: &Arc<[Lit]>, _from: u32, signed: bool, width: u32) -> WordResult<Self> {
        Ok(resize(x, signed, width as usize).into())
    }

    fn repeat(&mut self, x: &Arc<[Lit]>, _from: u32, count: u32) -> WordResult<Self> {
        Ok(x.repeat(count as usize).into())
    }

    fn not(&mut self, x: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        Ok(x.iter().map(|&bit| !bit).collect())
    }

    fn binary(&mut self, op: Binary, a: &Arc<[Lit]>, b: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        let words = &mut self.sweep.words;
        Ok(match op {
            Binary::And => self.pairs(a, b, |s, x, y| s.words.aig.and(x, y)),
            Binary::Or => self.pairs(a, b, |s, x, y| s.words.aig.or(x, y)),
            Binary::Xor => self.pairs(a, b, |s, x, y| s.xor(x, y)),
            Binary::Add => words.add(a, b, Lit::FALSE, false).into(),
            Binary::Sub => words.sub(a, b, false).into(),
            Binary::Mul => words.mul((a, false), (b, false), a.len()).into(),
            Binary::Div => words.divide(a, b).0.into(),
            Binary::Rem => words.divide(a, b).1.into(),
        })
    }

    fn compare(&mut self, op: Compare, a: &Arc<[Lit]>, b: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        let words = &mut self.sweep.words;
        let bit = match op {
            Compare::Equal => words.equal(a, b),
            Compare::Less => words.less(a, b, false),
            Compare::SignedLess => words.less(a, b, true),
        };
        Ok([bit].into())
    }

    fn reduce(&mut self, op: Reduce, x: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        let words = &mut self.sweep.words;
        let bit = match op {
            Reduce::All => words.all(x),
            Reduce::Any => words.any(x),
            Reduce::Parity => words.parity(x),
        };
        Ok([bit].into())
    }

    fn shift(&mut self, op: Shift, x: &Arc<[Lit]>, by: (&Arc<[Lit]>, u32), _width: u32) -> WordResult<Self> {
        let fill = if op == Shift::SignedRight { x.last().copied().unwrap_or(Lit::FALSE) } else { Lit::FALSE };
        Ok(self.sweep.words.shift(x, by.0, op == Shift::Left, fill).into())
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
        let is_full = entries.len() >> used.min(63) > 0;
        let is_constant = missing.iter().all(|bit| bit.as_const().is_some());
        if used > MOST_ADDRESS || !(is_full || is_constant) {
            return Err(Fault::Overflow);
        }
        let bit = |i: usize, bit: usize| match entries.get(i) {
            Some(entry) => entry.bit(bit as u64),
            None => missing[bit] == Lit::TRUE,
        };
        Ok(self.sweep.words.table(&addr.0[..used], width as usize, bit).into())
    }

    fn mux(&mut self, cond: &Arc<[Lit]>, yes: &Arc<[Lit]>, no: &Arc<[Lit]>, _width: u32) -> WordResult<Self> {
        let select = cond[0];
        Ok(self.pairs(yes, no, |s, yes, no| s.mux(select, yes, no)))
    }

    fn input(&mut self, signal: SignalId, k: u32) -> WordResult<Self> {
        Ok(self.pin(signal, k).into())
    }

    fn unknown(&mut self, width: u32) -> WordResult<Self> {
        Ok((0..width).map(|_| self.sweep.input()).collect())
    }

    fn before(&mut self, signal: SignalId, lo: u32, width: u32) -> WordResult<Self> {
        match self.side.leaves {
            Leaves::Ports(ports, _) if let Some(value) = ports.before(signal, lo, width) => {
                self.constant(&value, width)
            }
            _ => self.unknown(width),
        }
    }

    fn known(&mut self, signal: SignalId, k: u32) -> Option<WordResult<Self>> {
        let Leaves::Ports(ports, _) = self.side.leaves else { return None };
        let value = ports.phase(signal, k)?;
        Some(Ok(constant(value, self.side.rtl.signal(signal).width).into()))
    }

    fn signal(&mut self, signal: SignalId, _k: u32, word: Arc<[Lit]>) -> WordResult<Self> {
        if self.sweep.is_done() {
            return Err(Fault::Overflow);
        }
        if let Leaves::Cycle(leaves) = self.side.leaves
            && let Some(state) = leaves.get(&signal)
        {
            return Ok(state.as_slice().into());
        }
        Ok(self.sweep.signal(&self.side.rtl.signal(signal).name, &word))
    }
}
