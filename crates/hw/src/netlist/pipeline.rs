//! Converts a draft to a netlist: removes unread nets, adds registers, ports and control signals.
//!
//! Each bit that a later stage reads has exactly one register at every boundary in between. A reader resolves aliases
//! to the computed bit, and uses the register that stores this bit in its stage. Constant bits and repeated sign bits
//! never reach a register.

use super::body::{Body, Place, remark};
use super::builder::Draft;
use super::cell::{
    Cell, Direction, Element, Interface, Net, NetId, Netlist, OperationLayers, Piece, Port, PortId, Reset, Wiring,
};
use super::demand::{Demand, Select};
use super::describe::Describer;
use super::keywords::{Languages, NameKind};
use super::lower::Drafted;
use super::names;
use super::options::{Options, Ports};
use alir_core::ir::Model;
use alir_core::num::Kif;
use alir_opt::schedule::Schedule;
use rustc_hash::FxHashMap;

/// Converts a draft to a pipelined netlist.
pub(super) fn assemble(drafted: Drafted, model: &Model, schedule: &Schedule, options: &Options) -> Netlist {
    let Drafted { draft, outputs } = drafted;
    let reader = schedule.boundaries() + 1;
    let demand = Demand::new(&draft, &outputs, reader);
    let registered = demand.held_bits() > 0;
    let outside = Outside::new(model, schedule, options, registered);
    let describer = Describer::labelled(model, outside.taken_names(), &options.labels);
    let mut assembly = Assembly {
        draft: &draft,
        demand: &demand,
        body: Body::new(&draft, &demand),
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
    assembly.body.infer_signs();
    if options.fabric.start_addresses {
        assembly.start_addresses();
    }
    assembly.finish(model, schedule, options)
}

/// Ports, and the position of each element on the ports.
struct Outside {
    ports: Vec<Port>,
    inputs: Vec<(Option<PortId>, Element)>,
    outputs: Vec<(Option<PortId>, Element)>,
    top: String,
    clock: Option<PortId>,
    reset: Option<PortId>,
    enable: Option<PortId>,
    valid: Option<(PortId, PortId)>,
    languages: Languages,
}

impl Outside {
    /// Creates all ports. `registered` is `true` if the module has data registers.
    fn new(model: &Model, schedule: &Schedule, options: &Options, registered: bool) -> Outside {
        let mut outside = Outside {
            ports: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            top: names::legalise_in(&options.top, NameKind::Module, options.languages),
            languages: options.languages,
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
        let name = names::unique_in(name, &self.taken_names(), self.languages);
        self.port(&name, direction, 1, true)
    }

    /// Creates the ports of all elements of one direction, and returns the port of each element.
    fn elements(
        &mut self,
        options: &Options,
        direction: Direction,
        kifs: impl Iterator<Item = Kif>,
    ) -> Vec<(Option<PortId>, Element)> {
        let (label, packed, prefix, own) = match direction {
            Direction::In => ("inp", &options.names.inputs, &options.names.input_prefix, &options.labels.inputs),
            Direction::Out => ("out", &options.names.outputs, &options.names.output_prefix, &options.labels.outputs),
        };
        let name = match options.ports {
            Ports::Packed => names::unique_in(packed, &self.taken_names(), options.languages),
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
                name: own.get(index).cloned().unwrap_or_else(|| format!("{label}[{index}]")),
                beat: 0,
            };
            let mut port = None;
            if element.width > 0 {
                match options.ports {
                    Ports::Packed => {
                        // The only data port of this direction; it is created below as the next port.
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

    /// Returns a legal prefix such that no used name is the prefix followed by an underscore and a digit.
    fn free_prefix(&self, wish: &str) -> String {
        // `out` alone is reserved in VHDL, `out_0` is not.
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
    body: Body<'a>,
    /// Constant zeros by width, for reset values.
    zeros: FxHashMap<u32, Wiring>,
    /// Scratch memory of [`Assembly::register`].
    runs: Vec<(u32, u32)>,
    describer: Describer<'a>,
    enable: Option<Wiring>,
    reset: Option<Wiring>,
    outside: Outside,
}

impl Assembly<'_> {
    /// Creates the nets of the control ports. Returns the valid flag of the inputs.
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
        let net =
            self.body.push(Net { width: 1, signed: false, cell, stage, operation: None, output: None, name, comment });
        self.body.whole(net)
    }

    /// Creates the nets of all stages and the registers between them. Returns the valid flag of the outputs.
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
                // The list consists of two sorted runs, earlier nets and nets of this stage, which this sort merges
                // fast.
                crossing.sort();
                self.boundary(stage, &crossing, options);
                valid = valid.map(|d| self.valid_flag(d, stage, options));
            }
        }
        valid
    }

    /// Returns `true` if any bit of a net is read beyond a stage boundary.
    fn crosses(&self, id: NetId, boundary: u32) -> bool {
        let held = self.demand.held(id).is_some_and(|first| {
            let width = self.draft.nets[id.index()].width;
            (first..first + width).any(|bit| self.demand.last(bit) > boundary)
        });
        held || self.demand.reach(id) > boundary
    }

    /// Creates the final cell of a net that is read.
    fn cell(&mut self, id: NetId) {
        let net = self.draft.nets[id.index()];
        let name = self.describer.name(net.owner, net.helper, None);
        let comment = remark(&mut self.describer, self.draft, self.demand, id);
        let (inputs, describer) = (&self.outside.inputs, &mut self.describer);
        let port = |element: u32| {
            let (port, element) = &inputs[element as usize];
            (port.expect("an element with bits is on a port"), element.lsb)
        };
        let rom_name = |reader: NetId| describer.rom_name(self.draft.nets[reader.index()].owner);
        let made = self.body.cell(id, port, rom_name, name, comment);
        if net.helper == 0 {
            let top = self.body.keeps_top(id) && net.offset + net.width == self.describer.value_width(net.owner);
            self.body.set_sign(made, top && self.describer.is_signed(net.owner));
        }
    }

    /// Creates the registers at the end of a stage.
    ///
    /// The first registers are those of values that later stages read by name, each with the bits that no earlier
    /// register stores. Then follow registers for bits that later stages read only through aliases.
    fn boundary(&mut self, boundary: u32, crossing: &[NetId], options: &Options) {
        let layer = self.body.nets.len() as u32;
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

    /// Creates a register for the bits of a net that later stages read and that no register of this boundary stores
    /// yet. `layer` is the index of the boundary's first net.
    fn register(&mut self, id: NetId, boundary: u32, layer: u32, options: &Options) {
        let draft = self.draft;
        let net = draft.nets[id.index()];
        let register = self.body.nets.len() as u32;
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        self.body.pool.open();
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
                let place = self.body.places[index as usize];
                if self.demand.last(index) <= boundary || place.net >= layer {
                    continue;
                }
                self.body.places[index as usize] = Place { net: register, bit: self.body.pool.written() };
                self.body.pool.push(Piece::Bits { net: NetId(place.net), lo: place.bit, width: 1 });
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
        let d = self.body.pool.close();
        if d.width() > 0 {
            let reset = options.reset.is_some_and(|r| r.data);
            let cell = self.register_cell(d, reset, false, options);
            let name = self.describer.name(net.owner, net.helper, Some(boundary));
            let whole = if net.helper == 0 { self.describer.value_width(net.owner) } else { net.width };
            let held = runs.iter().map(|r| (r.0 + net.offset, r.1 + net.offset));
            let partial = d.width() < whole;
            let comment = self.describer.held_comment(net.owner, net.helper, partial.then_some(held));
            // The register has the value's signedness if it stores the highest bit of the value.
            let is_value = net.helper == 0;
            let top = is_value && runs.last().is_some_and(|run| run.1 + net.offset == whole);
            let signed = top && self.describer.is_signed(net.owner);
            let held = self.body.push(Net {
                width: d.width(),
                signed,
                cell,
                stage: boundary,
                operation: None,
                output: None,
                name,
                comment,
            });
            if is_value {
                self.body.set_sign(held, signed);
            }
        }
        self.runs = runs;
    }

    fn register_cell(&mut self, d: Wiring, reset: bool, init: bool, options: &Options) -> Cell {
        let zeros = self.zeros(d.width());
        let reset = options.reset.filter(|_| reset).zip(self.reset).map(|(r, when)| Reset {
            when,
            active_high: r.active_high,
            asynchronous: r.asynchronous,
            value: zeros,
        });
        Cell::Register { d, enable: self.enable, reset, init: init.then_some(zeros) }
    }

    fn zeros(&mut self, width: u32) -> Wiring {
        let pool = &mut self.body.pool;
        *self.zeros.entry(width).or_insert_with(|| {
            pool.open();
            pool.push_const(false, width);
            pool.close()
        })
    }

    /// Sets a power-on value of registers that drive table addresses, which keeps these registers at the address.
    /// Otherwise Yosys converts a large table to a memory, absorbs address registers without a power-on value
    /// (`memory_dff`), and places them at the output of the memory, so the table would move to the previous stage.
    fn start_addresses(&mut self) {
        let mut registers: Vec<NetId> = Vec::new();
        for net in &self.body.nets {
            if let Cell::Rom { rom: _, addr } = net.cell {
                registers.extend(self.body.pool.pieces(addr).iter().filter_map(|piece| piece.net()));
            }
        }
        for id in registers {
            let zeros = self.zeros(self.body.nets[id.index()].width);
            if let Cell::Register { init, .. } = &mut self.body.nets[id.index()].cell {
                *init = Some(zeros);
            }
        }
    }

    /// Creates the valid flag at the end of a stage. Without a reset the flag has the power-on value 0, so the output
    /// is not valid before the first result.
    fn valid_flag(&mut self, d: Wiring, boundary: u32, options: &Options) -> Wiring {
        let cell = self.register_cell(d, true, options.reset.is_none(), options);
        let name = self.describer.valid_name(boundary);
        let comment = self.describer.no_comment();
        let net = self.body.push(Net {
            width: 1,
            signed: false,
            cell,
            stage: boundary,
            operation: None,
            output: None,
            name,
            comment,
        });
        self.body.whole(net)
    }

    /// Drives the output ports.
    fn outputs(&mut self, outputs: &[Wiring], stage: u32, valid: Option<Wiring>) {
        let mut at = 0;
        while at < outputs.len() {
            // All elements of a port are consecutive, from its lowest bit on.
            let Some(port) = self.outside.outputs[at].0 else {
                at += 1;
                continue;
            };
            self.body.pool.open();
            while at < outputs.len() && self.outside.outputs[at].0.is_none_or(|p| p == port) {
                self.body.push_carried(outputs[at], Select::Low(outputs[at].width()), stage);
                at += 1;
            }
            let driver = self.body.pool.close();
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
        let Outside { ports, inputs, outputs, top, clock, reset, enable, valid, languages: _ } = self.outside;
        let name = |id: PortId| ports[id.0 as usize].name.clone();
        let inputs = inputs.into_iter().map(|(_, e)| e).collect();
        let outputs = outputs.into_iter().map(|(_, e)| e).collect();
        let interface = Interface {
            latency: schedule.latency(),
            clock: clock.map(name),
            reset: reset.map(name),
            reset_active_high: options.reset.is_none_or(|r| r.active_high),
            reset_async: options.reset.is_some_and(|r| r.asynchronous),
            enable: enable.map(name),
            valid: valid.map(|(a, b)| (name(a), name(b))),
            ..Interface::plain(top, inputs, outputs)
        };
        let header = self.describer.header(schedule, &interface);
        Netlist {
            nets: self.body.nets,
            pieces: self.body.pool.into_pieces(),
            roms: self.body.roms,
            ports,
            text: self.describer.into_text(),
            header,
            stage_remarks: Vec::new(),
            layers: OperationLayers::new(model, &options.labels.layers),
            interface,
        }
    }
}

/// Returns all nets that are read, by stage and then by index.
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
