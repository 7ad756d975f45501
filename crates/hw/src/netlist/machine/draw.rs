//! Lowering of a state machine to the cells of a draft.

use super::super::arith::Bitwise;
use super::super::builder::{Draft, Owner};
use super::super::cell::{Cell, NetId, Piece, PortId, Wiring};
use super::super::demand::Load;
use super::super::lower::{self, Drafted, placed};
use super::super::options::Fabric;
use super::super::wiring::EMPTY;
use super::converted;
use super::index::Hits;
use alir_core::ir::machine::{Access, BlockId, Connection, Machine, Settle, SignalId, SignalKind};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Cells of a machine, before trimming and names.
pub(super) struct Drawn {
    /// Cells, all of stage 1. The port of an input cell is the index of its element among all input elements. A
    /// register cell is the current value of the register.
    pub(super) draft: Draft,
    /// Next state of each register that has a net.
    pub(super) loads: Vec<(NetId, Load)>,
    /// For each register of `loads`, the bits that its readers use: its own bits, or equivalent bits.
    pub(super) shown: Vec<Vec<Piece>>,
    /// Bits of each element of each output port.
    pub(super) outputs: Vec<Vec<Wiring>>,
    /// Range of nets of each block.
    pub(super) blocks: Vec<(Range<u32>, BlockId)>,
}

/// Builds the cells of a machine. `shown` contains the bits that readers of each register use, from
/// [`super::redundant::find`]; `None` for the registers' own bits.
pub(super) fn draw(machine: &Machine, fabric: Fabric, shown: Option<Vec<Vec<Piece>>>) -> Drawn {
    let mut lowering = Lowering {
        machine,
        fabric,
        draft: Draft::with_capacity(machine.blocks().iter().map(|b| b.model.nodes().len()).sum()),
        values: machine.signals().iter().map(|s| vec![EMPTY; s.elements.len()]).collect(),
        objects: first_objects(machine),
        registers: machine.signals().iter().map(|s| vec![None; s.elements.len()]).collect(),
        loads: Vec::new(),
        shown: Vec::new(),
        blocks: Vec::new(),
        reads: FxHashMap::default(),
    };
    lowering.inputs();
    lowering.registers(shown);
    for &step in machine.order() {
        match step {
            Settle::Connection(c) => lowering.settle(&machine.connections()[c]),
            Settle::Block(b) => lowering.block(b),
        }
    }
    for connection in machine.connections() {
        if machine.signal(connection.dst.signal).kind == SignalKind::Register {
            lowering.load(connection);
        }
    }
    let outputs = machine.outputs().map(|s| lowering.values[s.index()].clone()).collect();
    let loads =
        lowering.loads.into_iter().map(|(net, load)| (net, load.expect("a driven register is loaded"))).collect();
    Drawn { draft: lowering.draft, loads, shown: lowering.shown, outputs, blocks: lowering.blocks }
}

/// Returns the index of each signal's first element among all elements, as in [`Owner::Object`].
pub(super) fn first_objects(machine: &Machine) -> Vec<u32> {
    let mut next = 0;
    let first = |signal: &alir_core::ir::machine::Signal| {
        let first = next;
        next += u32::try_from(signal.elements.len()).expect("fewer than 2^32 elements");
        first
    };
    machine.signals().iter().map(first).collect()
}

pub(super) struct Lowering<'a> {
    machine: &'a Machine,
    /// Properties of the target device, for the logic of blocks.
    fabric: Fabric,
    pub(super) draft: Draft,
    /// Bits of each element of each signal so far.
    values: Vec<Vec<Wiring>>,
    /// Index of each signal's first element among all elements.
    objects: Vec<u32>,
    /// Index in [`Lowering::loads`] of each driven element of a register; `None` for other elements.
    registers: Vec<Vec<Option<u32>>>,
    loads: Vec<(NetId, Option<Load>)>,
    shown: Vec<Vec<Piece>>,
    blocks: Vec<(Range<u32>, BlockId)>,
    /// Values of indexed views that were read before, so that each view is built only once.
    reads: FxHashMap<Access, Vec<Wiring>>,
}

impl Lowering<'_> {
    /// Sets the element that owns all nets created from now on.
    fn begin(&mut self, signal: SignalId, element: usize) {
        let object = self.objects[signal.index()] + element as u32;
        self.draft.begin(Owner::Object(object), 1);
    }

    fn inputs(&mut self) {
        let machine = self.machine;
        let mut port = 0;
        for id in machine.inputs() {
            for (k, kif) in machine.signal(id).elements.iter().enumerate() {
                if kif.width() > 0 {
                    self.begin(id, k);
                    let bits = self.draft.wire(kif.width(), Cell::Input { port: PortId(port), lo: 0 });
                    self.values[id.index()][k] = self.draft.finish(bits);
                }
                port += 1;
            }
        }
    }

    /// Creates the nets of all registers, before any logic that reads them.
    fn registers(&mut self, shown: Option<Vec<Vec<Piece>>>) {
        let machine = self.machine;
        let is_register = |id: SignalId| machine.signal(id).kind == SignalKind::Register;
        let mut driven: Vec<Vec<bool>> = machine.signals().iter().map(|s| vec![false; s.elements.len()]).collect();
        for dst in machine.connections().iter().map(|c| &c.dst).filter(|dst| is_register(dst.signal)) {
            written(dst, machine.signal(dst.signal).elements.len()).for_each(|e| driven[dst.signal.index()][e] = true);
        }
        for id in machine.signal_ids().filter(|&id| is_register(id)) {
            for (k, kif) in machine.signal(id).elements.iter().enumerate() {
                if kif.width() == 0 {
                    continue;
                }
                if !driven[id.index()][k] {
                    // An undriven register keeps its initial value; any value is allowed without one.
                    let code = machine.signal(id).reset_to.as_ref().map_or(BigInt::ZERO, |to| to[k].clone());
                    self.values[id.index()][k] = self.code(&code, kif.width());
                    continue;
                }
                self.begin(id, k);
                let cell = Cell::Register { d: EMPTY, enable: None, reset: None, init: None };
                let bits = self.draft.wire(kif.width(), cell);
                let bits = self.draft.finish(bits);
                let net = self.draft.pool.piece(bits, 0).net().expect("a whole net");
                self.registers[id.index()][k] = Some(self.loads.len() as u32);
                self.loads.push((net, None));
                self.values[id.index()][k] = bits;
            }
        }
        let whole = |lowering: &Self, net: NetId| {
            vec![Piece::Bits { net, lo: 0, width: lowering.draft.nets[net.index()].width }]
        };
        self.shown = shown.unwrap_or_else(|| self.loads.iter().map(|(net, _)| whole(self, *net)).collect());
        for (values, registers) in self.values.iter_mut().zip(&self.registers) {
            for (value, register) in values.iter_mut().zip(registers) {
                if let Some(register) = register {
                    self.draft.pool.open();
                    self.shown[*register as usize].iter().for_each(|&piece| self.draft.pool.push(piece));
                    *value = self.draft.pool.close();
                }
            }
        }
    }

    /// Returns constant wiring: the low `width` bits of a raw integer value.
    pub(super) fn code(&mut self, code: &BigInt, width: u32) -> Wiring {
        self.draft.pool.open();
        self.draft.pool.push_int(code, width);
        self.draft.pool.close()
    }

    /// Returns the bits of a view's elements.
    fn read(&mut self, access: &Access) -> Vec<Wiring> {
        let Some((index, mult)) = &access.dynamic else {
            return self.values[access.signal.index()][access.lo..access.hi].to_vec();
        };
        // All elements that a view can reach are final before the first read of the view.
        if let Some(known) = self.reads.get(access) {
            return known.clone();
        }
        let index = self.read(index)[0];
        let reached = self.values[access.signal.index()][access.lo..].to_vec();
        let shown = self.at_index(&reached, access.len(), index, *mult);
        self.reads.insert(access.clone(), shown.clone());
        shown
    }

    /// Returns a condition of one bit.
    fn bit(&mut self, access: &Access) -> Wiring {
        self.read(access)[0]
    }

    /// Returns the values that a connection carries, in the types of its destination.
    fn taken(&mut self, connection: &Connection, source: &Access) -> Vec<Wiring> {
        let bits = self.read(source);
        let types = self.machine.types(source).to_vec();
        let to = self.machine.types(&connection.dst).to_vec();
        let parts = bits.into_iter().zip(types.into_iter().zip(to));
        parts.map(|(bits, (from, to))| converted(&mut self.draft, bits, from, to)).collect()
    }

    /// Returns the values that a connection transfers. With two sources, a multiplexer selects between them; with a
    /// single source, the second result is the enable condition, if any.
    fn chosen(&mut self, connection: &Connection) -> (Vec<Wiring>, Option<Wiring>) {
        self.begin(connection.dst.signal, connection.dst.lo);
        let taken = self.taken(connection, &connection.src);
        let Some(enable) = &connection.enable_if else { return (taken, None) };
        let enable = self.bit(enable);
        let Some(alternative) = &connection.alternative else { return (taken, Some(enable)) };
        let other = self.taken(connection, alternative);
        let mut chosen = Vec::with_capacity(taken.len());
        for (k, (a, b)) in taken.into_iter().zip(other).enumerate() {
            self.begin(connection.dst.signal, connection.dst.lo + k);
            chosen.push(self.select(enable, a, b));
        }
        (chosen, None)
    }

    /// Returns `a` if `sel` is set, otherwise `b`.
    pub(super) fn select(&mut self, sel: Wiring, a: Wiring, b: Wiring) -> Wiring {
        if a.width() == 0 { a } else { self.draft.bitwise(Bitwise::Select(sel), a, b) }
    }

    /// Lowers a connection to a signal that is not a register.
    fn settle(&mut self, connection: &Connection) {
        let dst = &connection.dst;
        let (chosen, enable) = self.chosen(connection);
        assert!(enable.is_none(), "checked: what is not clocked is always driven");
        let signal = self.machine.signal(dst.signal);
        for (k, bits) in chosen.into_iter().enumerate() {
            let element = dst.lo + k;
            // A wire gets a named net in the HDL source. Block inputs have names within the block, and an output is
            // named by its port.
            let named = signal.kind == SignalKind::Wire && !signal.output && bits.width() > 0;
            self.values[dst.signal.index()][element] = if named {
                self.begin(dst.signal, element);
                self.draft.finish(bits)
            } else {
                bits
            };
        }
    }

    fn block(&mut self, id: BlockId) {
        let machine = self.machine;
        let block = &machine.blocks()[id.index()];
        let Some(output) = block.output else { return };
        let model = &block.model;
        let mut inputs = Vec::with_capacity(model.n_inputs());
        if let Some(input) = block.input {
            let types = &machine.signal(input).elements;
            for (k, (from, (port, &shift))) in
                types.iter().zip(model.input_kifs().iter().zip(model.inp_shifts())).enumerate()
            {
                let bits = placed(self.values[input.index()][k], *from, port.frac, shift);
                inputs.push(self.draft.window(bits, 0, port.width()));
            }
        }
        let first = self.draft.nets.len() as u32;
        let draft = std::mem::replace(&mut self.draft, Draft::with_capacity(0));
        let Drafted { draft, outputs } = lower::block(draft, model, inputs, self.fabric);
        self.draft = draft;
        self.blocks.push((first..self.draft.nets.len() as u32, id));
        for (j, (bits, to)) in outputs.into_iter().zip(&machine.signal(output).elements).enumerate() {
            self.values[output.index()][j] = converted(&mut self.draft, bits, model.output_kif(j), *to);
        }
    }

    /// Lowers a connection to a register.
    fn load(&mut self, connection: &Connection) {
        let dst = &connection.dst;
        let (chosen, enable) = self.chosen(connection);
        let reset_if = self.machine.signal(dst.signal).reset_if.clone();
        let reset = reset_if.map(|when| self.bit(&when));
        let elements = self.machine.signal(dst.signal).elements.len();
        let Some((index, mult)) = dst.dynamic.as_ref().filter(|(_, mult)| *mult > 0) else {
            for (k, bits) in chosen.into_iter().enumerate() {
                self.load_element(dst.signal, dst.lo + k, bits, enable, reset);
            }
            return;
        };
        let index = self.read(index)[0];
        let mut hits = Hits::new(self, index, *mult, chosen, elements - dst.lo);
        for element in written(dst, elements) {
            self.begin(dst.signal, element);
            let (bits, hit) = hits.get(self, element - dst.lo);
            let enable = match enable {
                Some(enable) => self.draft.bitwise(Bitwise::And, enable, hit),
                None => hit,
            };
            self.load_element(dst.signal, element, bits, Some(enable), reset);
        }
    }

    fn load_element(
        &mut self,
        signal: SignalId,
        element: usize,
        d: Wiring,
        enable: Option<Wiring>,
        reset: Option<Wiring>,
    ) {
        let Some(register) = self.registers[signal.index()][element] else { return };
        let register = register as usize;
        let width = d.width();
        let init = self.machine.signal(signal).reset_to.as_ref().map(|to| to[element].clone());
        let init = init.map(|code| self.code(&code, width));
        let fixed =
            |lowering: &Self, bit: Wiring| lowering.draft.pool.is_const(bit).then(|| !lowering.draft.pool.is_zero(bit));
        let mut load = Load { d, enable, reset: reset.zip(init), init };
        match reset.and_then(|when| fixed(self, when)) {
            Some(true) => {
                load = Load { d: init.expect("checked: a reset has a value"), enable: None, reset: None, init }
            }
            Some(false) => load.reset = None,
            None => {}
        }
        match load.enable.and_then(|enable| fixed(self, enable)) {
            Some(true) => load.enable = None,
            // The register keeps its value until a reset.
            Some(false) => {
                self.draft.pool.open();
                let net = self.loads[register].0;
                self.draft.pool.push(Piece::Bits { net, lo: 0, width });
                load = Load { d: self.draft.pool.close(), enable: None, ..load };
            }
            None => {}
        }
        self.loads[register].1 = Some(load);
    }
}

/// Returns the elements that a connection to `dst` can write, for a signal of `n` elements.
fn written(dst: &Access, n: usize) -> Box<dyn Iterator<Item = usize>> {
    let (lo, len) = (dst.lo, dst.len());
    match &dst.dynamic {
        Some((_, mult)) if *mult > 0 => {
            let mult = *mult;
            Box::new((lo..n).filter(move |e| (e - lo) % mult < len))
        }
        _ => Box::new(lo..dst.hi),
    }
}
