//! SystemVerilog assertions about a module, in a separate module that `bind` instantiates in it.
//!
//! Synthesis, the prover and the certificate checker skip the assertions (`SYNTHESIS`), and so does Icarus, which does
//! not support `bind` (`__ICARUS__`). Every property is checked at the rising clock edge.

use super::axis::Axis;
use crate::netlist::{Element, Interface};
use alir_core::num::Interval;
use askama::Template;

/// Intervals of the elements in raw integer values; `None` if only the type is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementRanges {
    /// Inputs, in order.
    pub inputs: Vec<Option<Interval>>,
    /// Outputs, in order.
    pub outputs: Vec<Option<Interval>>,
}

/// Returns the module with the assertions and its `bind`, for the end of the file; empty if nothing can be asserted.
/// Elements of a stream whose samples take several beats have no range assertions.
pub fn text(interface: &Interface, axis: Option<&Axis>, ranges: &ElementRanges) -> String {
    let view = match axis {
        Some(axis) => View::from_wrapper(axis, ranges),
        None => View::from_pipeline(interface, ranges),
    };
    let asserts = view.valid_latency.is_some() || !view.streams.is_empty() || !view.ranges.is_empty();
    let file = || File { v: view }.render().expect("templates always render") + "\n";
    if asserts { file() } else { String::new() }
}

#[derive(Template)]
#[template(path = "verilog/assertions.sv")]
struct File {
    v: View,
}

struct View {
    about: String,
    top: String,
    name: String,
    ports: Vec<Port>,
    /// Number of cycles until outputs depend on inputs; `None` for a combinational core or a wrapper.
    filled: Option<u32>,
    /// Condition under which the reset is active; `None` without a reset.
    reset: Option<&'static str>,
    /// Event control of the processes of counters and flags.
    events: &'static str,
    /// Condition under which the registers load.
    enable: &'static str,
    valid_latency: Option<u32>,
    streams: Vec<StreamView>,
    ranges: Vec<RangeView>,
}

/// A port of the module with the assertions.
struct Port {
    name: String,
    data_type: String,
    /// Signal of the checked module to which the port is connected.
    actual: String,
}

impl Port {
    fn bit(name: &str, actual: &str) -> Port {
        Port { name: name.to_owned(), data_type: String::new(), actual: actual.to_owned() }
    }

    fn vector(name: String, width: u32, actual: String) -> Port {
        Port { name, data_type: format!("[{}:0] ", width - 1), actual }
    }
}

/// A stream of a wrapper.
struct StreamView {
    /// Prefix of the stream's ports in the module with the assertions.
    side: &'static str,
    /// Prefix of the stream's ports in the wrapper.
    port: String,
    hi: u32,
    payload: String,
}

/// Range of an element whose interval is narrower than its type.
struct RangeView {
    port: String,
    when: String,
    condition: String,
    text: String,
}

impl View {
    fn new(top: &str) -> View {
        View {
            about: format!("Assertions about {top}"),
            top: top.to_owned(),
            name: format!("{top}_assertions"),
            ports: Vec::new(),
            filled: None,
            reset: None,
            events: "posedge clock",
            enable: "1'b1",
            valid_latency: None,
            streams: Vec::new(),
            ranges: Vec::new(),
        }
    }

    fn from_pipeline(interface: &Interface, ranges: &ElementRanges) -> View {
        let mut view = View::new(&interface.top);
        let Some(clock) = &interface.clock else { return view };
        view.ports.push(Port::bit("clock", clock));
        if let Some(reset) = &interface.reset {
            view.ports.push(Port::bit("reset", reset));
            view.reset = Some(if interface.reset_active_high { "reset" } else { "!reset" });
            view.events = match (interface.reset_async, interface.reset_active_high) {
                (false, _) => view.events,
                (true, true) => "posedge clock or posedge reset",
                (true, false) => "posedge clock or negedge reset",
            };
        }
        if let Some(enable) = &interface.enable {
            view.ports.push(Port::bit("enable", enable));
            view.enable = "enable";
        }
        view.filled = (interface.latency > 0).then_some(interface.latency);
        let (mut inputs, mut outputs) = (view.enable.to_owned(), view.is_filled());
        if let Some((valid_in, valid_out)) = &interface.valid {
            view.ports.extend([Port::bit("valid_in", valid_in), Port::bit("valid_out", valid_out)]);
            view.valid_latency = view.filled;
            inputs += " && valid_in";
            outputs += " && valid_out";
        }
        let ports = Ports { elements: &interface.inputs, widths: None };
        view.add_ranges("input", &ports, &ranges.inputs, &inputs);
        let ports = Ports { elements: &interface.outputs, widths: None };
        view.add_ranges("output", &ports, &ranges.outputs, &outputs);
        view
    }

    fn from_wrapper(axis: &Axis, ranges: &ElementRanges) -> View {
        let mut view = View::new(&axis.top);
        let names = &axis.names;
        view.ports.extend([Port::bit("clock", &names.clock), Port::bit("reset", &names.reset)]);
        view.reset = Some("!reset");
        let sides = [("input", &names.input, &axis.input), ("output", &names.output, &axis.output)];
        for (side, port, stream) in sides {
            let mut payload = format!("{side}_end, {side}_data");
            for (own, signal) in [("valid", "tvalid"), ("ready", "tready"), ("end", "tlast")] {
                view.ports.push(Port::bit(&format!("{side}_{own}"), &format!("{port}_{signal}")));
            }
            view.ports.push(Port::vector(format!("{side}_data"), stream.data_width, format!("{port}_tdata")));
            if axis.user > 0 {
                view.ports.push(Port::vector(format!("{side}_user"), axis.user, format!("{port}_tuser")));
                payload = format!("{side}_user, {payload}");
            }
            let (hi, payload) = (stream.data_width + axis.user, format!("{{{payload}}}"));
            view.streams.push(StreamView { side, port: port.clone(), hi, payload });
        }
        let (inputs, outputs) = axis.elements();
        if axis.input.beats == 1 {
            let ports = Ports { elements: &inputs, widths: Some(axis.input.data_width) };
            view.add_ranges("input", &ports, &ranges.inputs, "input_valid && input_ready");
        }
        if axis.output.beats == 1 {
            let ports = Ports { elements: &outputs, widths: Some(axis.output.data_width) };
            view.add_ranges("output", &ports, &ranges.outputs, "output_valid");
        }
        view
    }

    /// Adds the assertions about elements whose intervals are narrower than their types.
    fn add_ranges(&mut self, side: &str, ports: &Ports<'_>, ranges: &[Option<Interval>], when: &str) {
        for (k, (element, range)) in ports.elements.iter().zip(ranges).enumerate() {
            let Some(range) = range.as_ref().filter(|_| element.width > 0) else { continue };
            let all = Interval::full(element.kif());
            let port = format!("{side}_{k}");
            let literal = |code: &alir_core::num::Code| {
                let (minus, sign) = (if code.is_negative() { "-" } else { "" }, if element.signed { "s" } else { "" });
                let size = if code.is_negative() { code.negated() } else { code.clone() };
                format!("{minus}{}'{sign}d{size}", element.width)
            };
            let low = (range.min > all.min).then(|| format!("{port} >= {}", literal(&range.min)));
            let high = (range.max < all.max).then(|| format!("{port} <= {}", literal(&range.max)));
            let condition: Vec<String> = low.into_iter().chain(high).collect();
            if condition.is_empty() {
                continue;
            }
            let (sign, bits) = (if element.signed { "signed " } else { "" }, ports.select(element));
            self.ports.push(Port {
                name: port.clone(),
                data_type: format!("{sign}[{}:0] ", element.width - 1),
                actual: if element.signed { format!("$signed({bits})") } else { bits },
            });
            self.ranges.push(RangeView {
                when: when.to_owned(),
                condition: condition.join(" && "),
                text: format!("{side} {k}, which is {} to {},", range.min, range.max),
                port,
            });
        }
    }

    /// Returns the condition under which outputs depend on inputs.
    fn is_filled(&self) -> String {
        self.filled.map_or_else(|| "1'b1".to_owned(), |latency| format!("clocks == {latency}"))
    }

    /// Returns the condition under which the reset is active; constant 0 without a reset.
    fn in_reset(&self) -> &'static str {
        if self.reset.is_some() { "in_reset" } else { "1'b0" }
    }

    /// Returns the next value of the valid flags.
    fn next_flags(&self) -> String {
        match self.valid_latency {
            Some(latency) if latency > 1 => format!("{{flags[{}:1], valid_in}}", latency - 1),
            _ => "valid_in".to_owned(),
        }
    }
}

/// Elements of the inputs or of the outputs, and the width of their port.
struct Ports<'a> {
    elements: &'a [Element],
    /// Width of their port in bits; `None` if the port consists of the elements only.
    widths: Option<u32>,
}

impl Ports<'_> {
    /// Returns the bits of an element on its port.
    fn select(&self, element: &Element) -> String {
        let on_port = |e: &&Element| e.port == element.port;
        let own = || self.elements.iter().filter(on_port).map(|e| e.lsb + e.width).max();
        let (name, lo, hi) = (&element.port, element.lsb, element.lsb + element.width - 1);
        match self.widths.or_else(own) {
            Some(width) if width == element.width => name.clone(),
            _ if lo == hi => format!("{name}[{lo}]"),
            _ => format!("{name}[{hi}:{lo}]"),
        }
    }
}
