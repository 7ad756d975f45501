//! Lowering of a state machine to a netlist: one draft with all combinational logic, with registers as sources and
//! sinks.
//!
//! [`draw`] implements the semantics of `docs/fsm.md` connection by connection, [`redundant`] finds register bits that
//! always equal a constant or another bit, [`names`] keeps the names of the input file. Demand is propagated through
//! registers and their feedback, so a register only has bits that affect an output.

mod draw;
mod index;
mod names;
mod redundant;
mod reused;

use super::body::Body;
use super::cell::{
    Cell, Direction, Element, Interface, Net, NetId, Netlist, OperationLayers, Port, PortId, Reset, Wiring,
};
use super::demand::{Demand, Load, Select};
use super::options::Fabric;
use alir_core::ir::machine::{Machine, SignalId};
use alir_core::num::Kif;
use draw::Drawn;
use names::Names;
pub(crate) use names::SHARED_LOGIC;
pub use reused::{AtPorts, lower_reused};

/// Maximum number of drafts of a machine, each without the redundant register bits of the previous one. Two suffice for
/// nearly all machines.
const ROUNDS: usize = 8;

/// Returns the netlist of a state machine, with the module name `top`. Ports, registers and blocks keep their names if
/// both languages allow them.
pub fn lower_machine(machine: &Machine, top: &str) -> Netlist {
    lowered(machine, (top, "clk"), Fabric::default())
}

/// Lowers a machine for a fabric; `clock` is the name of the clock port.
fn lowered(machine: &Machine, (top, clock): (&str, &str), fabric: Fabric) -> Netlist {
    let mut drawn = draw::draw(machine, fabric, None);
    for _ in 1..ROUNDS {
        let Some(shown) = redundant::find(&mut drawn) else { break };
        drawn = draw::draw(machine, fabric, Some(shown));
    }
    let roots: Vec<Wiring> = drawn.outputs.iter().flatten().copied().collect();
    let demand = Demand::new_machine(&drawn.draft, &roots, &drawn.loads);
    finish(machine, (top, clock), &drawn, &demand)
}

/// Ports, and the position of each element on the ports.
struct Outside {
    ports: Vec<Port>,
    clock: Option<PortId>,
    inputs: Vec<(Option<PortId>, Element)>,
    outputs: Vec<(Option<PortId>, Element)>,
}

impl Outside {
    fn new(machine: &Machine, names: &Names<'_>, registered: bool) -> Outside {
        let mut outside = Outside { ports: Vec::new(), clock: None, inputs: Vec::new(), outputs: Vec::new() };
        if registered {
            outside.clock = Some(PortId(0));
            let name = names.clock().to_owned();
            outside.ports.push(Port { name, direction: Direction::In, width: 1, scalar: true, driver: None });
        }
        outside.inputs = machine.inputs().flat_map(|s| outside.port(machine, names, s, Direction::In)).collect();
        outside.outputs = machine.outputs().flat_map(|s| outside.port(machine, names, s, Direction::Out)).collect();
        outside
    }

    fn port(
        &mut self,
        machine: &Machine,
        names: &Names<'_>,
        id: SignalId,
        direction: Direction,
    ) -> Vec<(Option<PortId>, Element)> {
        let signal = machine.signal(id);
        let port = PortId(self.ports.len() as u32);
        let name = names.port(id);
        let mut lsb = 0;
        let mut elements = Vec::with_capacity(signal.elements.len());
        for (k, kif) in signal.elements.iter().enumerate() {
            let width = kif.width();
            let shown = names::shown(&signal.name);
            let element = Element {
                port: if width > 0 { name.to_owned() } else { String::new() },
                lsb: if width > 0 { lsb } else { 0 },
                width,
                signed: kif.signed,
                fractionals: kif.frac,
                name: if signal.elements.len() == 1 { shown } else { format!("{shown}[{k}]") },
                beat: 0,
            };
            lsb += width;
            elements.push(((width > 0).then_some(port), element));
        }
        if lsb > 0 {
            self.ports.push(Port { name: name.to_owned(), direction, width: lsb, scalar: false, driver: None });
        }
        elements
    }
}

/// Converts the draft to a netlist.
fn finish(machine: &Machine, (top, clock): (&str, &str), drawn: &Drawn, demand: &Demand) -> Netlist {
    let draft = &drawn.draft;
    let alive = |id: NetId| demand.is_alive(id, draft.nets[id.index()].width);
    let registered = drawn.loads.iter().any(|(net, _)| alive(*net));
    let mut names = Names::new(machine, (top, clock), &drawn.blocks);
    let mut outside = Outside::new(machine, &names, registered);
    let mut body = Body::new(draft, demand);
    for id in (0..draft.nets.len() as u32).map(NetId).filter(|&id| alive(id)) {
        let net = &draft.nets[id.index()];
        let name = names.name(id, net);
        let comment = names.comment(id, draft, demand);
        let inputs = &outside.inputs;
        let port = |element: u32| {
            let (port, element) = &inputs[element as usize];
            (port.expect("an element with bits is on a port"), element.lsb)
        };
        body.cell(id, port, |reader| names.rom(reader, draft), name, comment);
    }
    for (id, load) in &drawn.loads {
        if let Some(made) = body.made(*id) {
            let cell = register(&mut body, *id, load);
            body.complete(made, cell);
        }
    }
    body.infer_signs();
    let mut next = outside.outputs.iter().peekable();
    for wirings in &drawn.outputs {
        let mut port = None;
        body.pool.open();
        for wiring in wirings {
            body.push_carried(*wiring, Select::Low(wiring.width()), 1);
            port = port.or(next.next().and_then(|(port, _)| *port));
        }
        let driver = body.pool.close();
        if let Some(port) = port {
            outside.ports[port.0 as usize].driver = Some(driver);
        }
    }
    let name = |id: PortId| outside.ports[id.0 as usize].name.clone();
    let inputs = outside.inputs.into_iter().map(|(_, e)| e).collect();
    let outputs = outside.outputs.into_iter().map(|(_, e)| e).collect();
    let clock = outside.clock.map(name);
    let interface = Interface { clock, stateful: true, ..Interface::plain(names.top(), inputs, outputs) };
    let Body { nets, pool, roms, .. } = body;
    let header = header(machine, &interface, &nets);
    Netlist {
        nets,
        pieces: pool.into_pieces(),
        roms,
        ports: outside.ports,
        text: names.into_text(),
        header,
        stage_remarks: Vec::new(),
        layers: OperationLayers::default(),
        interface,
    }
}

/// Returns the cell of a register, reduced to the demanded bits.
fn register(body: &mut Body<'_>, id: NetId, load: &Load) -> Cell {
    let bits = Select::Of(id);
    let mut bit = |condition: Wiring| body.carry(condition, Select::Low(1), 1);
    let enable = load.enable.map(&mut bit);
    let reset = load.reset.map(|(when, value)| (bit(when), value));
    Cell::Register {
        d: body.carry(load.d, bits, 1),
        enable,
        reset: reset.map(|(when, value)| Reset {
            when,
            active_high: true,
            asynchronous: false,
            value: body.carry(value, bits, 1),
        }),
        init: load.init.map(|init| body.carry(init, bits, 1)),
    }
}

/// Returns the lines of the header comment.
fn header(machine: &Machine, interface: &Interface, nets: &[Net]) -> Vec<String> {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let registers = nets.iter().filter(|n| matches!(n.cell, Cell::Register { .. }));
    let bits: u64 = registers.map(|n| u64::from(n.width)).sum();
    let operations: usize = machine.blocks().iter().map(|b| b.model.nodes().len()).sum();
    let mut lines = vec![
        format!(
            "{}: a state machine, {} of {} together",
            interface.top,
            count(machine.blocks().len(), "block"),
            count(operations, "operation"),
        ),
        format!("{} in use, {} in the file", count(bits as usize, "register bit"), machine.register_bits()),
    ];
    for id in machine.inputs().chain(machine.outputs()) {
        let signal = machine.signal(id);
        if let Some((toggles, period)) = &signal.schedule {
            lines.push(format!("{}: {}", names::shown(&signal.name), schedule(toggles, *period)));
        }
    }
    lines.push("elements: port bits, type (s signed, u unsigned, width, fractional bits)".into());
    lines.extend(interface.inputs.iter().chain(&interface.outputs).map(super::describe::element_line));
    lines
}

/// Returns a description of a modulo schedule.
fn schedule(toggles: &[i64], period: i64) -> String {
    /// Maximum number of listed windows.
    const MOST: usize = 8;
    if period == 0 {
        return "always valid".into();
    }
    let mut windows: Vec<String> = toggles
        .chunks(2)
        .take(MOST)
        .map(|window| match window {
            [from, to] => format!("from cycle {from} to before {to}"),
            [from] => format!("from cycle {from}"),
            _ => String::new(),
        })
        .collect();
    if toggles.len() > 2 * MOST {
        windows.push("...".into());
    }
    let every = if period == 1 { "every cycle".to_owned() } else { format!("in every {period} cycles") };
    if windows.is_empty() { format!("never valid, {every}") } else { format!("valid {}, {every}", windows.join(", ")) }
}

/// Converts the bits of a value from type `from` to type `to`: aligns the binary points, then wraps.
fn converted(draft: &mut super::builder::Draft, bits: Wiring, from: Kif, to: Kif) -> Wiring {
    let placed = super::lower::placed(bits, from, to.frac, 0);
    draft.window(placed, 0, to.width())
}
