//! Reference simulator of stateful designs: implements `docs/fsm.md` cycle by cycle, in integers of any size.

use super::golden::{LookupMiss, MissedEntry, golden};
use alir_core::ir::machine::{Access, BlockId, Connection, Machine, Settle, SignalId, SignalKind};
use alir_core::num::{Kif, align, wrap};
use num_bigint::BigInt;

/// Value of one element: its raw integer value, and a flag for values that do not depend on undefined registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementValue {
    /// Raw integer value in the element's type; 0 for undefined registers at power-on.
    pub code: BigInt,
    /// `true` if all values from which it was computed were defined.
    pub defined: bool,
}

/// Simulation of a stateful design.
#[derive(Clone, Debug)]
pub struct Simulation<'a> {
    machine: &'a Machine,
    /// Values of all elements of all signals.
    values: Vec<Vec<ElementValue>>,
    miss: LookupMiss,
}

/// A lookup outside its table inside a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockMiss {
    /// The block.
    pub block: BlockId,
    /// Missing entry of the lookup.
    pub miss: MissedEntry,
}

impl<'a> Simulation<'a> {
    /// Returns the design at power-on: registers have their reset values; registers without a reset value are 0 and
    /// undefined.
    pub fn new(machine: &'a Machine, miss: LookupMiss) -> Simulation<'a> {
        let values = machine.signals().iter().map(|signal| {
            let initial = |k: usize| match &signal.reset_to {
                Some(to) if signal.kind == SignalKind::Register => ElementValue { code: to[k].clone(), defined: true },
                _ => ElementValue { code: BigInt::ZERO, defined: signal.kind != SignalKind::Register },
            };
            (0..signal.elements.len()).map(initial).collect()
        });
        Simulation { machine, values: values.collect(), miss }
    }

    /// Sets the raw integer values of one input port, wrapped to its types.
    ///
    /// # Panics
    /// If the length of `codes` differs from the port's, or `port` is not an input.
    pub fn apply(&mut self, port: SignalId, codes: &[BigInt]) {
        let signal = self.machine.signal(port);
        assert_eq!(signal.kind, SignalKind::Input, "{} is an input", signal.name);
        assert_eq!(codes.len(), signal.elements.len(), "one code for each element of {}", signal.name);
        let cells = codes.iter().zip(&signal.elements);
        self.values[port.index()] = cells.map(|(c, &kif)| ElementValue { code: wrap(c, kif), defined: true }).collect();
    }

    /// Computes all combinational values from the inputs and registers.
    ///
    /// # Errors
    /// With [`LookupMiss::Error`], the first lookup outside its table.
    pub fn settle(&mut self) -> Result<(), BlockMiss> {
        for &step in self.machine.order() {
            match step {
                Settle::Connection(c) => {
                    let connection = &self.machine.connections()[c];
                    let taken = self.taken(connection).expect("checked: not clocked means always driven");
                    let dst = &connection.dst;
                    self.values[dst.signal.index()][dst.lo..dst.hi].clone_from_slice(&taken);
                }
                Settle::Block(b) => self.block(b)?,
            }
        }
        Ok(())
    }

    /// Performs one rising edge of the clock; call [`Simulation::settle`] before and after it.
    pub fn clock(&mut self) {
        // All registers load at once: all values are read before any is written.
        let mut next = Vec::new();
        for connection in self.machine.connections() {
            let dst = &connection.dst;
            if self.machine.signal(dst.signal).kind != SignalKind::Register {
                continue;
            }
            // If an index or enable is undefined, the values that depend on it are undefined, too.
            let decides = |access: &Access| self.read(access)[0].defined;
            let sure_index = dst.dynamic.as_ref().is_none_or(|(index, _)| decides(index));
            let sure = sure_index && connection.enable_if.as_ref().is_none_or(decides);
            next.push((dst, self.offset(dst), self.taken(connection), sure, sure_index));
        }
        // Reset has priority, also for elements without a driver.
        let resets: Vec<(SignalId, bool, bool)> = self
            .machine
            .signal_ids()
            .filter(|&s| self.machine.signal(s).kind == SignalKind::Register)
            .filter_map(|s| {
                let when = self.machine.signal(s).reset_if.as_ref()?;
                Some((s, self.is_set(when), self.read(when)[0].defined))
            })
            .collect();
        for (dst, offset, cells, sure, sure_index) in next {
            let elements = &mut self.values[dst.signal.index()];
            for (k, cell) in cells.into_iter().flatten().enumerate() {
                let at = usize::try_from(&offset + dst.lo + k).ok();
                if let Some(slot) = at.and_then(|at| elements.get_mut(at)) {
                    *slot = cell;
                }
            }
            let moves = dst.dynamic.is_some();
            let reached = match usize::try_from(&offset + dst.lo) {
                _ if sure => 0..0,
                _ if moves && !sure_index => dst.lo..elements.len(),
                Ok(from) => from.min(elements.len())..from.saturating_add(dst.len()).min(elements.len()),
                Err(_) => 0..0,
            };
            elements[reached].iter_mut().for_each(|cell| cell.defined = false);
        }
        for (signal, resets, sure) in resets {
            let elements = &mut self.values[signal.index()];
            if resets {
                let to = self.machine.signal(signal).reset_to.as_ref().expect("checked: a reset has a value");
                *elements = to.iter().map(|c| ElementValue { code: c.clone(), defined: true }).collect();
            }
            if !sure {
                elements.iter_mut().for_each(|cell| cell.defined = false);
            }
        }
    }

    /// Stores raw integer values, wrapped to its types, in a register; the values are considered defined.
    ///
    /// # Panics
    /// If the length of `codes` differs from the register's, or the signal is not a register.
    pub fn load(&mut self, register: SignalId, codes: &[BigInt]) {
        let signal = self.machine.signal(register);
        assert_eq!(signal.kind, SignalKind::Register, "{} is a register", signal.name);
        assert_eq!(codes.len(), signal.elements.len(), "one value for each element of {}", signal.name);
        let cell = |(code, &kif): (&BigInt, &Kif)| ElementValue { code: wrap(code, kif), defined: true };
        self.values[register.index()] = codes.iter().zip(&signal.elements).map(cell).collect();
    }

    /// Returns the values of a signal's elements.
    pub fn values(&self, signal: SignalId) -> &[ElementValue] {
        &self.values[signal.index()]
    }

    fn is_set(&self, access: &Access) -> bool {
        self.read(access)[0].code != BigInt::ZERO
    }

    /// Returns the current values of a connection, converted to the destination's types; `None` if a register keeps its
    /// value.
    fn taken(&self, connection: &Connection) -> Option<Vec<ElementValue>> {
        let Connection { src, dst, enable_if, alternative } = connection;
        let enable = enable_if.as_ref().map(|e| self.read(e)[0].clone());
        let source = match (&enable, alternative) {
            (Some(e), None) if e.code == BigInt::ZERO => return None,
            (Some(e), Some(alternative)) if e.code == BigInt::ZERO => alternative,
            _ => src,
        };
        let sure = enable.is_none_or(|e| e.defined);
        let from = self.machine.types(source);
        let to = self.machine.types(dst);
        let cells = self.read(source).into_iter().zip(from.iter().zip(to));
        Some(
            cells
                .map(|(cell, (from, to))| ElementValue {
                    code: wrap(&align(&cell.code, i64::from(from.frac), i64::from(to.frac)), *to),
                    defined: cell.defined && sure,
                })
                .collect(),
        )
    }

    /// Returns the number of elements by which an index moves a view.
    fn offset(&self, access: &Access) -> BigInt {
        match &access.dynamic {
            None => BigInt::ZERO,
            Some((index, mult)) => &self.read(index)[0].code * BigInt::from(*mult),
        }
    }

    fn read(&self, access: &Access) -> Vec<ElementValue> {
        let elements = &self.values[access.signal.index()];
        let Some((index, _)) = &access.dynamic else { return elements[access.lo..access.hi].to_vec() };
        let offset = self.offset(access);
        let sure = self.read(index)[0].defined;
        (access.lo..access.hi)
            .map(|k| {
                let at = usize::try_from(&offset + k).ok();
                let cell = at.and_then(|at| elements.get(at)).cloned();
                let cell = cell.unwrap_or(ElementValue { code: BigInt::ZERO, defined: true });
                ElementValue { defined: cell.defined && sure, ..cell }
            })
            .collect()
    }

    fn block(&mut self, id: BlockId) -> Result<(), BlockMiss> {
        let block = &self.machine.blocks()[id.index()];
        let cells: &[ElementValue] = block.input.map_or(&[], |s| &self.values[s.index()]);
        let types = block.input.map_or(&[][..], |s| &self.machine.signal(s).elements);
        let model = &block.model;
        let inputs: Vec<BigInt> = cells
            .iter()
            .zip(types)
            .zip(model.input_kifs().iter().zip(model.inp_shifts()))
            .map(|((cell, from), (port, &shift))| {
                wrap(&align(&cell.code, i64::from(from.frac) - i64::from(shift), i64::from(port.frac)), *port)
            })
            .collect();
        let defined = cells.iter().all(|c| c.defined);
        let codes = golden(model, &inputs, self.miss).map_err(|miss| BlockMiss { block: id, miss })?;
        let Some(output) = block.output else { return Ok(()) };
        let types = &self.machine.signal(output).elements;
        let results = codes.iter().enumerate().zip(types).map(|((j, code), to)| {
            let from = i64::from(model.output_kif(j).frac);
            ElementValue { code: wrap(&align(code, from, i64::from(to.frac)), *to), defined }
        });
        self.values[output.index()] = results.collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alir_core::ir::machine::{MachineBuilder, MachineProblem, Signal};
    use alir_core::ir::{Builder, Op, Output};
    use alir_core::num::{Interval, Kif};

    const BIT: Kif = Kif { signed: false, int: 1, frac: 0 };
    const U3: Kif = Kif { signed: false, int: 3, frac: 0 };

    fn signal(name: &str, kind: SignalKind, elements: &[Kif]) -> Signal {
        Signal {
            name: name.into(),
            kind,
            output: false,
            elements: elements.to_vec(),
            reset_to: None,
            reset_if: None,
            schedule: None,
        }
    }

    fn view(signal: SignalId, lo: usize, hi: usize) -> Access {
        Access { signal, lo, hi, dynamic: None }
    }

    fn connect(src: Access, dst: Access) -> Connection {
        Connection { src, dst, enable_if: None, alternative: None }
    }

    /// Returns a counter modulo 8 that starts at 5, with enable and reset.
    fn counter() -> Machine {
        let mut b = MachineBuilder::default();
        let mut inc = Builder::new(vec![0]);
        let x = inc.op(Op::Input { input: 0 }, Interval::new(0, 7, 0));
        let y = inc.op(Op::AddConst { x, value: 1.into(), shift: 0 }, Interval::new(0, 7, 0));
        inc.output(Output { source: Some(y), shift: 0, neg: false });
        let block = b.block("inc".into(), inc.finish().unwrap());
        let rst = b.signal(signal("rst", SignalKind::Input, &[BIT]));
        let en = b.signal(signal("en", SignalKind::Input, &[BIT]));
        let count = b.signal(Signal {
            reset_to: Some(vec![BigInt::from(5)]),
            output: true,
            ..signal("count", SignalKind::Register, &[U3])
        });
        let from = b.signal(signal("INTERNAL_inc_inp", SignalKind::BlockInput(block), &[U3]));
        let to = b.signal(signal("INTERNAL_inc_outp", SignalKind::BlockOutput(block), &[U3]));
        b.reset_if(count, view(rst, 0, 1));
        b.connection(connect(view(count, 0, 1), view(from, 0, 1)));
        b.connection(Connection { enable_if: Some(view(en, 0, 1)), ..connect(view(to, 0, 1), view(count, 0, 1)) });
        b.finish().unwrap()
    }

    #[test]
    fn a_counter_counts_holds_and_resets() {
        let machine = counter();
        let mut sim = Simulation::new(&machine, LookupMiss::Error);
        let ids: Vec<SignalId> = machine.signal_ids().collect();
        let mut seen = Vec::new();
        for (rst, en) in [(0, 1), (0, 1), (0, 0), (0, 1), (1, 0), (0, 1)] {
            sim.apply(ids[0], &[BigInt::from(rst)]);
            sim.apply(ids[1], &[BigInt::from(en)]);
            sim.settle().unwrap();
            seen.push(i64::try_from(&sim.values(ids[2])[0].code).unwrap());
            sim.clock();
        }
        // Reset has priority over a missing enable.
        assert_eq!(seen, [5, 6, 7, 7, 0, 5]);
    }

    fn problems(make: impl Fn(&mut MachineBuilder)) -> Vec<&'static str> {
        let mut b = MachineBuilder::default();
        make(&mut b);
        b.finish().err().unwrap_or_default().iter().map(|p: &MachineProblem| p.code).collect()
    }

    #[test]
    fn loops_latches_and_second_drivers_are_refused() {
        let wires = |b: &mut MachineBuilder| {
            (b.signal(signal("a", SignalKind::Wire, &[U3])), b.signal(signal("b", SignalKind::Wire, &[U3])))
        };
        let codes = problems(|b| {
            let (x, y) = wires(b);
            b.connection(connect(view(x, 0, 1), view(y, 0, 1)));
            b.connection(connect(view(y, 0, 1), view(x, 0, 1)));
        });
        assert_eq!(codes, ["E0414"]);
        let codes = problems(|b| {
            let i = b.signal(signal("i", SignalKind::Input, &[BIT]));
            let x = b.signal(signal("x", SignalKind::Wire, &[BIT]));
            let enable_if = Some(view(i, 0, 1));
            b.connection(Connection { enable_if, ..connect(view(i, 0, 1), view(x, 0, 1)) });
        });
        assert_eq!(codes, ["E0411"]);
        let codes = problems(|b| {
            let i = b.signal(signal("i", SignalKind::Input, &[U3]));
            let x = b.signal(signal("x", SignalKind::Wire, &[U3, U3]));
            b.connection(connect(view(i, 0, 1), view(x, 0, 1)));
            b.connection(connect(view(i, 0, 1), view(x, 0, 1)));
        });
        assert_eq!(codes, ["E0412", "E0413"]);
    }

    #[test]
    fn an_index_past_the_end_reads_zero_and_writes_nothing() {
        let mut b = MachineBuilder::default();
        let index = b.signal(signal("index", SignalKind::Input, &[U3]));
        let value = b.signal(signal("value", SignalKind::Input, &[U3]));
        let mem = b.signal(Signal {
            reset_to: Some(vec![BigInt::from(1), BigInt::from(2), BigInt::from(3)]),
            ..signal("mem", SignalKind::Register, &[U3; 3])
        });
        let q = b.signal(Signal { output: true, ..signal("q", SignalKind::Wire, &[U3]) });
        let at = |lo| Access { dynamic: Some((Box::new(view(index, 0, 1)), 1)), ..view(mem, lo, lo + 1) };
        b.connection(connect(at(0), view(q, 0, 1)));
        b.connection(connect(view(value, 0, 1), at(0)));
        let machine = b.finish().unwrap();
        let mut sim = Simulation::new(&machine, LookupMiss::Error);
        let mut seen = Vec::new();
        for (i, v) in [(2, 7), (2, 6), (5, 4), (0, 0)] {
            sim.apply(index, &[BigInt::from(i)]);
            sim.apply(value, &[BigInt::from(v)]);
            sim.settle().unwrap();
            seen.push(i64::try_from(&sim.values(q)[0].code).unwrap());
            sim.clock();
        }
        assert_eq!(seen, [3, 7, 0, 1]);
    }
}
