//! From draft to netlist: drops what nobody reads, puts in the registers, the ports and the control signals.
//!
//! Each demanded bit that a later stage reads is held exactly once at every boundary between: where it is read is found
//! by looking behind aliases down to the bit that was computed, and that bit's present place, which moves from register to
//! register. Constant bits and repeated sign bits never reach a register.

use super::builder::{Draft, repeat};
use super::cell::{
    Cell, Direction, Element, Interface, Net, NetId, Netlist, Piece, Port, PortId, Reset, Rom, RomId, Wiring,
};
use super::demand::{Demand, Select, for_each_part};
use super::describe::Describer;
use super::lower::Drafted;
use super::names;
use super::options::{Options, Ports};
use super::wiring::Pool;
use crate::ir::Model;
use crate::num::Kif;
use crate::schedule::Schedule;
use rustc_hash::FxHashMap;

/// Where a bit is at present: a net of the finished netlist and a bit of it.
#[derive(Clone, Copy)]
struct Place {
    net: u32,
    bit: u32,
}

/// Marks a net that has not been made.
const NOWHERE: u32 = u32::MAX;

/// The finished form of a draft net, as far as its readers need it.
#[derive(Clone, Copy)]
struct Made {
    net: u32,
    stage: u32,
    /// Which bit of the draft net is its lowest, if what is left of that is one run; else [`SCATTERED`].
    lowest: u32,
}

/// Marks a net that has lost bits from within.
const SCATTERED: u32 = u32::MAX;

/// Finishes a draft.
pub(super) fn assemble(drafted: Drafted, model: &Model, schedule: &Schedule, options: &Options) -> Netlist {
    let Drafted { draft, outputs } = drafted;
    let reader = schedule.boundaries() + 1;
    let demand = Demand::of(&draft, &outputs, reader);
    let registered = demand.held_bits() > 0;
    let outside = Outside::new(model, schedule, options, registered);
    let describer = Describer::new(model, outside.taken_names());
    let mut assembly = Assembly {
        made: draft.nets.iter().map(|n| Made { net: NOWHERE, stage: n.stage, lowest: SCATTERED }).collect(),
        places: vec![Place { net: NOWHERE, bit: 0 }; demand.held_bits()],
        draft: &draft,
        demand: &demand,
        nets: Vec::with_capacity(draft.nets.len() + draft.nets.len() / 8),
        pool: Pool::with_capacity(draft.pool.len()),
        roms: Vec::new(),
        rom_ids: FxHashMap::default(),
        zeros: FxHashMap::default(),
        runs: Vec::new(),
        describer,
        enable: None,
        reset: None,
        outside,
    };
    let valid_in = assembly.control_inputs(schedule);
    let valid_out = assembly.stages(schedule, options, valid_in);
    assembly.outputs(&outputs, reader, valid_out);
    assembly.finish(model, schedule, options)
}

/// The ports, and where each element is on them.
struct Outside {
    ports: Vec<Port>,
    inputs: Vec<(Option<PortId>, Element)>,
    outputs: Vec<(Option<PortId>, Element)>,
    top: String,
    clock: Option<PortId>,
    reset: Option<PortId>,
    enable: Option<PortId>,
    valid: Option<(PortId, PortId)>,
}

impl Outside {
    /// `registered`: whether there are data registers.
    fn new(model: &Model, schedule: &Schedule, options: &Options, registered: bool) -> Outside {
        let mut outside = Outside {
            ports: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            top: names::legalise(&options.top),
            clock: None,
            reset: None,
            enable: None,
            valid: None,
        };
        let names = &options.names;
        let flags = options.valid && schedule.latency() > 0;
        if registered || flags {
            outside.clock = Some(outside.scalar(&names.clock, Direction::In));
            if options.reset.is_some_and(|r| flags || r.data) {
                outside.reset = Some(outside.scalar(&names.reset, Direction::In));
            }
            if options.enable {
                outside.enable = Some(outside.scalar(&names.enable, Direction::In));
            }
        }
        let valid_in = options.valid.then(|| outside.scalar(&names.valid_in, Direction::In));
        outside.inputs = outside.elements(options, Direction::In, model.input_kifs().iter().copied());
        let valid_out = options.valid.then(|| outside.scalar(&names.valid_out, Direction::Out));
        let kifs = (0..model.outputs().len()).map(|j| model.output_kif(j));
        outside.outputs = outside.elements(options, Direction::Out, kifs);
        outside.valid = valid_in.zip(valid_out);
        outside
    }

    fn taken_names(&self) -> Vec<&str> {
        self.ports.iter().map(|p| p.name.as_str()).chain([self.top.as_str()]).collect()
    }

    fn port(&mut self, name: &str, direction: Direction, width: u32, scalar: bool) -> PortId {
        let id = PortId(self.ports.len() as u32);
        self.ports.push(Port { name: name.to_owned(), direction, width, scalar, driver: None });
        id
    }

    fn scalar(&mut self, name: &str, direction: Direction) -> PortId {
        let name = names::unique(name, &self.taken_names());
        self.port(&name, direction, 1, true)
    }

    /// Makes the ports of all elements of one direction.
    fn elements(
        &mut self,
        options: &Options,
        direction: Direction,
        kifs: impl Iterator<Item = Kif>,
    ) -> Vec<(Option<PortId>, Element)> {
        let (label, packed, prefix) = match direction {
            Direction::In => ("inp", &options.names.inputs, &options.names.input_prefix),
            Direction::Out => ("out", &options.names.outputs, &options.names.output_prefix),
        };
        let name = match options.ports {
            Ports::Packed => names::unique(packed, &self.taken_names()),
            Ports::Split => self.free_prefix(prefix),
        };
        let mut elements = Vec::with_capacity(kifs.size_hint().0);
        let mut width = 0;
        for (index, kif) in kifs.enumerate() {
            let mut element = Element {
                port: String::new(),
                lsb: 0,
                width: kif.width(),
                signed: kif.signed,
                fractionals: kif.frac,
                name: format!("{label}[{index}]"),
            };
            let mut port = None;
            if element.width > 0 {
                match options.ports {
                    Ports::Packed => {
                        // The one port of this direction, made below: it comes next.
                        port = Some(PortId(self.ports.len() as u32));
                        (element.port, element.lsb) = (name.clone(), width);
                        width += element.width;
                    }
                    Ports::Split => {
                        element.port = format!("{name}_{index}");
                        port = Some(self.port(&element.port, direction, element.width, false));
                    }
                }
            }
            elements.push((port, element));
        }
        if width > 0 {
            self.port(&name, direction, width, false);
        }
        elements
    }

    /// A legal prefix such that no name begins with it and an underscore.
    fn free_prefix(&self, wish: &str) -> String {
        // `out` alone is a word of VHDL, `out_0` is not.
        let first = names::legalise(&format!("{wish}_0"));
        let legal = first.strip_suffix("_0").unwrap_or(&first).to_owned();
        let clashes = |prefix: &str| {
            let begin = format!("{}_", prefix.to_ascii_lowercase());
            self.taken_names().iter().any(|n| {
                let lower = n.to_ascii_lowercase();
                lower.strip_prefix(&begin).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
            })
        };
        let mut prefix = legal.clone();
        let mut n = 1;
        while clashes(&prefix) {
            n += 1;
            prefix = format!("{legal}{n}");
        }
        prefix
    }
}

struct Assembly<'a> {
    draft: &'a Draft,
    demand: &'a Demand,
    /// The finished net of each draft net.
    made: Vec<Made>,
    /// Where each bit of the held nets is at present.
    places: Vec<Place>,
    nets: Vec<Net>,
    pool: Pool,
    roms: Vec<Rom>,
    /// Finished memories by draft memory and the columns kept.
    rom_ids: FxHashMap<(RomId, u32, u32), RomId>,
    /// Constant zeros by width: reset values.
    zeros: FxHashMap<u32, Wiring>,
    /// Scratch of [`Assembly::register`].
    runs: Vec<(u32, u32)>,
    describer: Describer<'a>,
    enable: Option<Wiring>,
    reset: Option<Wiring>,
    outside: Outside,
}

impl Assembly<'_> {
    /// Nets for the control ports. Returns the valid flag of the inputs.
    fn control_inputs(&mut self, schedule: &Schedule) -> Option<Wiring> {
        let stage = u32::from(!schedule.register_inputs);
        self.enable = self.outside.enable.map(|port| self.control_input(port, stage));
        self.reset = self.outside.reset.map(|port| self.control_input(port, stage));
        self.outside.valid.map(|(port, _)| self.control_input(port, stage))
    }

    fn control_input(&mut self, port: PortId, stage: u32) -> Wiring {
        let name = self.describer.control_name(&self.outside.ports[port.0 as usize].name);
        let comment = self.describer.no_comment();
        let cell = Cell::Input { port, lo: 0 };
        let net = self.push(Net { width: 1, cell, stage, name, comment });
        self.whole(net)
    }

    fn push(&mut self, net: Net) -> NetId {
        let id = NetId(self.nets.len() as u32);
        self.nets.push(net);
        id
    }

    fn whole(&mut self, net: NetId) -> Wiring {
        self.pool.open();
        self.pool.push(Piece::Bits { net, lo: 0, width: self.nets[net.index()].width });
        self.pool.close()
    }

    /// Makes the nets of all stages and the registers between them. Returns the valid flag of the outputs.
    fn stages(&mut self, schedule: &Schedule, options: &Options, mut valid: Option<Wiring>) -> Option<Wiring> {
        let order = by_stage(self.draft, self.demand, schedule.boundaries().max(1));
        let first = u32::from(!schedule.register_inputs);
        let mut next = order.iter().copied().peekable();
        // Nets that later stages read, in order.
        let mut crossing: Vec<NetId> = Vec::new();
        for stage in first..=schedule.boundaries().max(1) {
            while let Some(id) = next.next_if(|id| self.draft.nets[id.index()].stage == stage) {
                if self.demand.is_alive(id, self.draft.nets[id.index()].width) {
                    self.cell(id);
                }
                if self.demand.reach(id) > stage || self.demand.held(id).is_some() {
                    crossing.push(id);
                }
            }
            // Input registers are boundary 0, whether or not stages follow.
            if stage == 0 || stage <= schedule.boundaries() {
                crossing.retain(|&id| self.crosses(id, stage));
                crossing.sort_unstable();
                self.boundary(stage, &crossing, options);
                valid = valid.map(|d| self.valid_flag(d, stage, options));
            }
        }
        valid
    }

    /// Whether anything of a net is read beyond a boundary.
    fn crosses(&self, id: NetId, boundary: u32) -> bool {
        let held = self.demand.held(id).is_some_and(|first| {
            let width = self.draft.nets[id.index()].width;
            (first..first + width).any(|bit| self.demand.last(bit) > boundary)
        });
        held || self.demand.reach(id) > boundary
    }

    /// Makes the finished form of a net that somebody reads.
    fn cell(&mut self, id: NetId) {
        let net = self.draft.nets[id.index()];
        let stage = net.stage;
        let (bits, lowest) = (Select::Of(id), self.demand.run(Select::Of(id), 0, net.width).map_or(0, |r| r.0));
        let width = self.demand.count(bits, net.width);
        // Where carries run, the demanded bits are the lowest ones.
        let low = Select::Low(width);
        let cell = match net.cell {
            Cell::Input { port: element, lo: _ } => {
                let (port, element) = &self.outside.inputs[element.0 as usize];
                let port = port.expect("an element with bits is on a port");
                Cell::Input { port, lo: element.lsb + lowest }
            }
            Cell::Alias { x } => Cell::Alias { x: self.carry(x, bits, stage) },
            Cell::Not { a } => Cell::Not { a: self.carry(a, bits, stage) },
            Cell::And { a, b } => Cell::And { a: self.carry(a, bits, stage), b: self.carry(b, bits, stage) },
            Cell::Or { a, b } => Cell::Or { a: self.carry(a, bits, stage), b: self.carry(b, bits, stage) },
            Cell::Xor { a, b } => Cell::Xor { a: self.carry(a, bits, stage), b: self.carry(b, bits, stage) },
            Cell::Mux { sel, on_true, on_false } => Cell::Mux {
                sel: self.carry(sel, Select::Low(1), stage),
                on_true: self.carry(on_true, bits, stage),
                on_false: self.carry(on_false, bits, stage),
            },
            Cell::Neg { a } => Cell::Neg { a: self.carry(a, low, stage) },
            Cell::Add { a, b } => Cell::Add { a: self.carry(a, low, stage), b: self.carry(b, low, stage) },
            Cell::Sub { a, b } => Cell::Sub { a: self.carry(a, low, stage), b: self.carry(b, low, stage) },
            Cell::Mul { a, b, signed } => {
                Cell::Mul { a: self.carry(a, low, stage), b: self.carry(b, low, stage), signed }
            }
            Cell::ReduceOr { a } => Cell::ReduceOr { a: self.carry(a, Select::Low(a.width()), stage) },
            Cell::ReduceAnd { a } => Cell::ReduceAnd { a: self.carry(a, Select::Low(a.width()), stage) },
            Cell::Rom { rom, addr } => {
                let addr = self.carry(addr, Select::Low(addr.width()), stage);
                Cell::Rom { rom: self.rom(rom, lowest, width), addr }
            }
            Cell::Register { .. } => unreachable!("a draft has no registers"),
        };
        let name = self.describer.name(net.owner, net.helper, None);
        let comment = self.cell_comment(id, width);
        let made = self.push(Net { width, cell, stage, name, comment });
        let is_run = self.demand.run(bits, lowest, net.width).is_some_and(|(start, stop)| stop - start == width);
        self.made[id.index()] = Made { net: made.0, stage, lowest: if is_run { lowest } else { SCATTERED } };
        let Some(first) = self.demand.held(id) else { return };
        let mut place = 0;
        let mut from = 0;
        while let Some((start, stop)) = self.demand.run(bits, from, net.width) {
            for bit in start..stop {
                self.places[(first + bit) as usize] = Place { net: made.0, bit: place };
                place += 1;
            }
            from = stop;
        }
    }

    /// The remark on a net of which `width` bits are kept.
    fn cell_comment(&mut self, id: NetId, width: u32) -> (u32, u32) {
        let net = self.draft.nets[id.index()];
        if net.helper == 0 {
            let demand = self.demand;
            let run = move |from| demand.run(Select::Of(id), from, net.width);
            let kept = std::iter::successors(run(0), move |r| run(r.1))
                .map(|(start, stop)| (start + net.offset, stop + net.offset));
            let partial = width < self.describer.value_width(net.owner);
            return self.describer.comment(net.owner, partial.then_some(kept));
        }
        // The alias with the whole value follows; if nobody needs it, its explanation would be lost.
        let alias = self.draft.nets.get(id.index() + 1).filter(|n| n.owner == net.owner && n.helper == 0);
        match alias {
            Some(alias) if !self.demand.is_alive(NetId(id.0 + 1), alias.width) => {
                self.describer.helper_comment(net.owner)
            }
            _ => self.describer.no_comment(),
        }
    }

    /// Selected bits of draft wiring, as they are found in `stage`.
    fn carry(&mut self, wiring: Wiring, select: Select, stage: u32) -> Wiring {
        self.pool.open();
        self.push_carried(wiring, select, stage);
        self.pool.close()
    }

    fn push_carried(&mut self, wiring: Wiring, select: Select, stage: u32) {
        let draft = self.draft;
        let mut offset = 0;
        for &piece in draft.pool.pieces(wiring) {
            let (begin, end) = (offset, offset + piece.width());
            offset = end;
            let mut from = begin;
            while let Some((start, stop)) = self.demand.run(select, from, end) {
                self.push_piece(super::wiring::part(piece, start - begin, stop - start), stage);
                from = stop;
            }
        }
    }

    fn push_piece(&mut self, piece: Piece, stage: u32) {
        let draft = self.draft;
        let (net, lo, width) = match piece {
            Piece::Const { .. } => return self.pool.push(piece),
            Piece::Bits { net, lo, width } => (net, lo, width),
            Piece::Repeat { net, bit, .. } => (net, bit, 1),
        };
        let times = piece.width() / width;
        let made = self.made[net.index()];
        if made.stage == stage {
            let lo = if made.lowest == SCATTERED { self.demand.rank(net, lo) } else { lo - made.lowest };
            let bits = Piece::Bits { net: NetId(made.net), lo, width };
            return self.pool.push(if times > 1 { repeat(bits, times) } else { bits });
        }
        match draft.nets[net.index()].cell {
            Cell::Alias { x } => for_each_part(draft, x, lo, width, |part| self.push_held(part, times)),
            _ => self.push_held(Piece::Bits { net, lo, width }, times),
        }
    }

    /// Bits of a net that is no alias, from where they are held; one bit may be wanted several times.
    fn push_held(&mut self, piece: Piece, times: u32) {
        let (net, lo, width, times) = match piece {
            Piece::Const { one, width } => return self.pool.push_const(one, width * times),
            Piece::Bits { net, lo, width } => (net, lo, width, times),
            Piece::Repeat { net, bit, count } => (net, bit, 1, times * count),
        };
        let first = self.demand.held(net).expect("what a later stage reads is held") + lo;
        for index in first..first + width {
            let Place { net, bit } = self.places[index as usize];
            let bit = Piece::Bits { net: NetId(net), lo: bit, width: 1 };
            self.pool.push(repeat(bit, times));
        }
    }

    /// The registers that end a stage.
    ///
    /// First those of values that are read beyond it by their name, each with the bits that no earlier one holds; then
    /// the bits that only aliases of later stages will show.
    fn boundary(&mut self, boundary: u32, crossing: &[NetId], options: &Options) {
        let layer = self.nets.len() as u32;
        for &id in crossing {
            if self.demand.reach(id) > boundary {
                self.register(id, boundary, layer, options);
            }
        }
        for &id in crossing {
            if self.demand.reach(id) <= boundary {
                self.register(id, boundary, layer, options);
            }
        }
    }

    /// A register for the bits of a net that are needed beyond the boundary and not yet held in this layer, whose
    /// first net is `layer`.
    fn register(&mut self, id: NetId, boundary: u32, layer: u32, options: &Options) {
        let draft = self.draft;
        let net = draft.nets[id.index()];
        let register = self.nets.len() as u32;
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        self.pool.open();
        let mut offset = 0;
        let mut hold = |piece: Piece| {
            let begin = offset;
            offset += piece.width();
            let (net, lo, width) = match piece {
                Piece::Const { .. } => return,
                Piece::Bits { net, lo, width } => (net, lo, width),
                Piece::Repeat { net, bit, .. } => (net, bit, 1),
            };
            let Some(first) = self.demand.held(net) else { return };
            for bit in 0..width {
                let index = first + lo + bit;
                let place = self.places[index as usize];
                if self.demand.last(index) <= boundary || place.net >= layer {
                    continue;
                }
                self.places[index as usize] = Place { net: register, bit: self.pool.written() };
                self.pool.push(Piece::Bits { net: NetId(place.net), lo: place.bit, width: 1 });
                match runs.last_mut() {
                    Some((_, stop)) if *stop == begin + bit => *stop += 1,
                    _ => runs.push((begin + bit, begin + bit + 1)),
                }
            }
        };
        match net.cell {
            Cell::Alias { x } => draft.pool.pieces(x).iter().for_each(|&p| hold(p)),
            _ => hold(Piece::Bits { net: id, lo: 0, width: net.width }),
        }
        let d = self.pool.close();
        if d.width() > 0 {
            let reset = options.reset.is_some_and(|r| r.data);
            let cell = self.register_cell(d, reset, false, options);
            let name = self.describer.name(net.owner, net.helper, Some(boundary));
            let whole = if net.helper == 0 { self.describer.value_width(net.owner) } else { net.width };
            let held = runs.iter().map(|r| (r.0 + net.offset, r.1 + net.offset));
            let partial = d.width() < whole;
            let comment = self.describer.held_comment(net.owner, net.helper, partial.then_some(held));
            self.push(Net { width: d.width(), cell, stage: boundary, name, comment });
        }
        self.runs = runs;
    }

    fn register_cell(&mut self, d: Wiring, reset: bool, init: bool, options: &Options) -> Cell {
        let zeros = match self.zeros.get(&d.width()) {
            Some(&zeros) => zeros,
            None => {
                self.pool.open();
                self.pool.push_const(false, d.width());
                let zeros = self.pool.close();
                self.zeros.insert(d.width(), zeros);
                zeros
            }
        };
        let reset = options.reset.filter(|_| reset).zip(self.reset).map(|(r, when)| Reset {
            when,
            active_high: r.active_high,
            asynchronous: r.asynchronous,
            value: zeros,
        });
        Cell::Register { d, enable: self.enable, reset, init: init.then_some(zeros) }
    }

    /// The valid flag at the end of a stage. Without a reset it starts as 0, so that no result is announced before
    /// there is one.
    fn valid_flag(&mut self, d: Wiring, boundary: u32, options: &Options) -> Wiring {
        let cell = self.register_cell(d, true, options.reset.is_none(), options);
        let name = self.describer.valid_name(boundary);
        let comment = self.describer.no_comment();
        let net = self.push(Net { width: 1, cell, stage: boundary, name, comment });
        self.whole(net)
    }

    /// The finished memory with some columns of a draft memory.
    fn rom(&mut self, id: RomId, lowest: u32, width: u32) -> RomId {
        if let Some(&made) = self.rom_ids.get(&(id, lowest, width)) {
            return made;
        }
        let rom = &self.draft.roms[id.0 as usize];
        let mask = u64::MAX >> (64 - width);
        let words: Vec<u64> = rom.words.iter().map(|&w| (w >> lowest) & mask).collect();
        let made = RomId(self.roms.len() as u32);
        let name = self.describer.rom_name(rom.table);
        let comment = format!("table {}: {} words of {width} bits", rom.table, words.len());
        self.roms.push(Rom { name, addr_width: rom.addr_width, word_width: width, words, comment });
        self.rom_ids.insert((id, lowest, width), made);
        made
    }

    /// Drives the output ports.
    fn outputs(&mut self, outputs: &[Wiring], stage: u32, valid: Option<Wiring>) {
        let mut at = 0;
        while at < outputs.len() {
            // All elements of a port come one after the other, from its low end.
            let Some(port) = self.outside.outputs[at].0 else {
                at += 1;
                continue;
            };
            self.pool.open();
            while at < outputs.len() && self.outside.outputs[at].0.is_none_or(|p| p == port) {
                self.push_carried(outputs[at], Select::Low(outputs[at].width()), stage);
                at += 1;
            }
            let driver = self.pool.close();
            self.drive(port, driver);
        }
        if let Some(((_, port), driver)) = self.outside.valid.zip(valid) {
            self.drive(port, driver);
        }
    }

    fn drive(&mut self, port: PortId, driver: Wiring) {
        let port = &mut self.outside.ports[port.0 as usize];
        assert_eq!(port.width, driver.width(), "driver of port {}", port.name);
        port.driver = Some(driver);
    }

    fn finish(self, model: &Model, schedule: &Schedule, options: &Options) -> Netlist {
        let Outside { ports, inputs, outputs, top, clock, reset, enable, valid } = self.outside;
        let name = |id: PortId| ports[id.0 as usize].name.clone();
        let interface = Interface {
            top,
            latency: schedule.latency(),
            initiation_interval: 1,
            clock: clock.map(name),
            reset: reset.map(name),
            reset_active_high: options.reset.is_none_or(|r| r.active_high),
            reset_async: options.reset.is_some_and(|r| r.asynchronous),
            enable: enable.map(name),
            valid: valid.map(|(a, b)| (name(a), name(b))),
            inputs: inputs.into_iter().map(|(_, e)| e).collect(),
            outputs: outputs.into_iter().map(|(_, e)| e).collect(),
        };
        let header = super::describe::header(model, schedule, &interface);
        Netlist {
            nets: self.nets,
            pieces: self.pool.into_pieces(),
            roms: self.roms,
            ports,
            text: self.describer.into_text(),
            header,
            interface,
        }
    }
}

/// All nets that are read, by stage and then in order.
fn by_stage(draft: &Draft, demand: &Demand, stages: u32) -> Vec<NetId> {
    let used = |id: NetId| demand.reach(id) > 0 || demand.is_alive(id, draft.nets[id.index()].width);
    let mut starts = vec![0u32; stages as usize + 2];
    let ids = || (0..draft.nets.len() as u32).map(NetId);
    for id in ids().filter(|&id| used(id)) {
        starts[draft.nets[id.index()].stage as usize + 1] += 1;
    }
    for stage in 1..starts.len() {
        starts[stage] += starts[stage - 1];
    }
    let mut order = vec![NetId(0); starts[starts.len() - 1] as usize];
    for id in ids().filter(|&id| used(id)) {
        let next = &mut starts[draft.nets[id.index()].stage as usize];
        order[*next as usize] = id;
        *next += 1;
    }
    order
}
