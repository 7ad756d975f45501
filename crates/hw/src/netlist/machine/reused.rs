//! Lowering of time-multiplexed hardware: a state machine with the ports of the program.

use super::super::cell::{Cell, Element, Interface, Netlist};
use super::super::constants;
use super::super::describe::element_line;
use super::super::options::Options;
use alir_core::ir::machine::Machine;

/// Cycles and port bits of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtPorts {
    /// All elements are stable for this number of cycles, from the cycle whose edge accepts the sample on.
    Whole(u32),
    /// The elements share a port and come in this number of beats, one beat per cycle from the accepting cycle on.
    /// [`lower_reused`] sets the port name of the elements.
    Beats(u32, Vec<Element>),
}

/// Returns the netlist of a machine with initiation interval `interval` and latency `latency`, in cycles. The input
/// ports of the machine are reset, enable and valid flag, if `options` request them, then the program's inputs. The
/// output ports are `ready`, the valid flag if requested, then the program's outputs.
pub fn lower_reused(
    machine: &Machine,
    options: &Options,
    (interval, latency): (u32, u32),
    at_ports: AtPorts,
) -> Netlist {
    let names = &options.names;
    let mut netlist = super::lowered(machine, (&options.top, &names.clock), options.fabric);
    let wanted = |name: &String, there: bool| there.then(|| name.clone());
    let reset = wanted(&names.reset, options.reset.is_some());
    let enable = wanted(&names.enable, options.enable);
    let valid = options.valid.then(|| (names.valid_in.clone(), names.valid_out.clone()));
    let ready = Some(names.ready.clone());
    let controls = [&netlist.interface.clock, &reset, &enable, &ready].into_iter().flatten();
    let controls: Vec<&String> = controls.chain(valid.iter().flat_map(|(a, b)| [a, b])).collect();
    for port in &mut netlist.ports {
        port.scalar = controls.contains(&&port.name);
    }
    if let Some(asked) = options.reset {
        for net in &mut netlist.nets {
            if let Cell::Register { reset: Some(reset), .. } = &mut net.cell {
                reset.active_high = asked.active_high;
                reset.asynchronous = asked.asynchronous;
            }
        }
    }
    if options.fabric.differences {
        constants::as_differences(&mut netlist);
    }
    let flags = usize::from(valid.is_some());
    let given = usize::from(reset.is_some()) + usize::from(enable.is_some()) + flags;
    let mut inputs = netlist.interface.inputs.split_off(given);
    let mut outputs = netlist.interface.outputs.split_off(1 + flags);
    let when = inputs_line(&at_ports, interval, &names.ready);
    let (mut input_hold, mut input_beats) = (1, 1);
    match at_ports {
        AtPorts::Whole(clocks) => input_hold = clocks,
        AtPorts::Beats(count, elements) => {
            input_beats = count;
            let port = inputs.first().map(|whole| whole.port.clone()).unwrap_or_default();
            inputs = elements;
            inputs.iter_mut().filter(|element| element.width > 0).for_each(|element| element.port.clone_from(&port));
        }
    }
    for (elements, kind, own) in
        [(&mut inputs, "inp", &options.labels.inputs), (&mut outputs, "out", &options.labels.outputs)]
    {
        for (index, element) in elements.iter_mut().enumerate() {
            element.name = own.get(index).cloned().unwrap_or_else(|| format!("{kind}[{index}]"));
        }
    }
    let clock = netlist.interface.clock.take();
    let top = std::mem::take(&mut netlist.interface.top);
    netlist.interface = Interface {
        latency,
        initiation_interval: interval,
        input_hold,
        input_beats,
        clock,
        reset,
        reset_active_high: options.reset.is_none_or(|reset| reset.active_high),
        reset_async: options.reset.is_some_and(|reset| reset.asynchronous),
        enable,
        valid,
        ready,
        ..Interface::plain(top, inputs, outputs)
    };
    let interface = &netlist.interface;
    let clocks = if latency == 1 { "clock" } else { "clocks" };
    let mut header = vec![
        format!("{}: time-multiplexed datapath", interface.top),
        format!("latency {latency} {clocks}, initiation interval {interval}: a new input every {interval} clocks"),
        when,
        "elements: port bits, type (s signed, u unsigned, width, fractional bits)".into(),
    ];
    header.extend(interface.inputs.iter().chain(&interface.outputs).map(element_line));
    netlist.header = header;
    netlist
}

/// Returns the line of the header comment that states when inputs are read.
fn inputs_line(at_ports: &AtPorts, interval: u32, ready: &str) -> String {
    let then = format!("a result stays for {interval} clocks");
    match at_ports {
        AtPorts::Whole(1) => format!("inputs are read where {ready} is 1, {then}"),
        AtPorts::Whole(n) => format!("inputs must stay for {n} clocks from where {ready} is 1, {then}"),
        AtPorts::Beats(count, _) => {
            format!("inputs come in {count} beats, one a clock from where {ready} is 1, {then}")
        }
    }
}
