//! Conversion of netlists to designs: flattens the hierarchy, creates a signal for each bit of each net, and copies
//! cells from their patterns.

use super::cells::Cells;
use super::structure::{
    Bit, Connection, Direction, Entry, FIRST, Instance, Module, Name, Netlist, ONE, UNDEFINED, ZERO,
};
use crate::source::{error, place};
use crate::{Binary, Expr, NodeId, Reduce, Rtl, SignalId};
use alir_core::diag::Diagnostic;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

type Result<T> = std::result::Result<T, Diagnostic>;

/// Maximum depth of the hierarchy, total number of instances, and number of nets.
const MAX_DEPTH: usize = 50;
const MAX_INSTANCES: u64 = 20_000_000;
const MAX_NETS: usize = 1 << 24;

/// Builds the design of a module.
///
/// # Errors
/// `E0914` for a cell that no library has; `E0903` and `E0904` as for Verilog.
pub(super) fn flatten(text: &str, netlist: &Netlist<'_>, cells: &mut Cells, top: Name) -> Result<Rtl> {
    let name = netlist.names[top as usize];
    let Some(Entry::Structural(module)) = netlist.modules.get(&top) else {
        return Err(error(text, 0, format!("{name} is no structural module")));
    };
    let mut f = Flattener {
        text,
        netlist,
        cells,
        rtl: Rtl::new(name.to_owned(), netlist.head.clone()),
        obligations: Vec::new(),
    };
    if instances(netlist, top, 0, &mut FxHashMap::default()) > MAX_INSTANCES {
        let message = "more than 20,000,000 instances, or instances nested more than 50 deep";
        return Err(error(text, module.at, message));
    }
    f.top(module)?;
    f.rtl.free_undriven();
    for (value, path, kind, at) in &f.obligations {
        if !is_zero(&f.rtl, *value) {
            let message =
                format!("the cell {kind} (instance {path}) is used in a way that its description does not have");
            let help = "memories are supported as ROM (write enables are constant 0), parameters with the values that \
                        crates/hdl/cells describes";
            return Err(Diagnostic::error("E0914", place(text, *at), message).with_help(help));
        }
    }
    f.rtl.complete_drivers(|at| place(text, at))?;
    Ok(f.rtl)
}

/// Returns the number of instances below a module; `u64::MAX` if the number or the depth of the hierarchy is too large.
fn instances(netlist: &Netlist<'_>, module: Name, depth: usize, known: &mut FxHashMap<Name, u64>) -> u64 {
    if let Some(&count) = known.get(&module) {
        return count;
    }
    if depth > MAX_DEPTH {
        return u64::MAX;
    }
    let Some(Entry::Structural(body)) = netlist.modules.get(&module) else { return 0 };
    let inner = body.instances.iter().map(|i| instances(netlist, i.kind, depth + 1, known));
    let count = inner.fold(0u64, |sum, count| sum.saturating_add(count).saturating_add(1));
    known.insert(module, count);
    count
}

/// Output of a cell whose description is valid only if this output is constant 0.
const MUST_BE_ZERO: &str = "must_be_zero";

/// Returns `true` if a value is constant 0, evaluated through assignments and gates.
fn is_zero(rtl: &Rtl, node: NodeId) -> bool {
    /// Returns the common value of all bits; `None` if it is unknown.
    fn level(rtl: &Rtl, node: NodeId, depth: u32) -> Option<bool> {
        if depth > 64 {
            return None;
        }
        let of = |n: NodeId| level(rtl, n, depth + 1);
        match rtl.expr(node) {
            Expr::Const(value) if value.count_ones() == 0 => Some(false),
            Expr::Const(value) if value.count_ones() == u64::from(rtl.width(node)) => Some(true),
            Expr::Signal(s) => match (&rtl.signal(*s).wires[..], &rtl.signal(*s).registers[..]) {
                (&[(0, value)], []) if rtl.width(value) == rtl.signal(*s).width => of(value),
                _ => None,
            },
            Expr::Not(x) => of(*x).map(|level| !level),
            Expr::Slice { x, .. } | Expr::Repeat { x } => of(*x),
            Expr::Extend { x, .. } => of(*x).filter(|level| !level),
            Expr::Concat(parts) => {
                let first = of(parts[0])?;
                parts[1..].iter().all(|&part| of(part) == Some(first)).then_some(first)
            }
            Expr::Reduce(op, x) if *op != Reduce::Parity => of(*x),
            Expr::Binary(op @ (Binary::And | Binary::Or), a, b) => match (of(*a), of(*b)) {
                (Some(x), Some(y)) if x == y => Some(x),
                (Some(x), _) | (_, Some(x)) if x == (*op == Binary::Or) => Some(x),
                _ => None,
            },
            Expr::Mux(c, yes, no) => match of(*c) {
                Some(true) => of(*yes),
                Some(false) => of(*no),
                None => of(*yes).filter(|&level| of(*no) == Some(level)),
            },
            _ => None,
        }
    }
    level(rtl, node, 0) == Some(false)
}

/// Bit of the flat design.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wire {
    Zero,
    One,
    Undefined,
    /// Signal of one bit.
    Signal(SignalId),
}

struct Flattener<'a> {
    text: &'a str,
    netlist: &'a Netlist<'a>,
    cells: &'a mut Cells,
    rtl: Rtl,
    /// Values that must be constant 0, with instance, cell and byte offset.
    obligations: Vec<(NodeId, String, String, u32)>,
}

/// Bits of a module's nets in the flat design. A bit without an entry gets a new signal.
struct Scope {
    path: String,
    wires: Vec<Option<Wire>>,
}

impl Flattener<'_> {
    fn name(&self, name: Name) -> &str {
        self.netlist.names[name as usize]
    }

    fn top(&mut self, module: &Module<'_>) -> Result<()> {
        let mut scope = Scope { path: String::new(), wires: vec![None; module.count as usize] };
        let mut outputs = Vec::new();
        for &(net, direction) in &module.ports {
            let net = &module.nets[net];
            let (width, name) = (net.width(), self.name(net.name).to_owned());
            let port = self.rtl.add_signal(name.clone(), width, net.at);
            match direction {
                Direction::Input => {
                    self.rtl.signal_mut(port).input = true;
                    self.rtl.inputs.push(port);
                    for i in 0..width {
                        let bit = if width == 1 {
                            port
                        } else {
                            let whole = self.rtl.read(port);
                            let part = self.rtl.slice(whole, i, 1);
                            let bit = self.rtl.add_signal(format!("{name}[{}]", net.index(i)), 1, net.at);
                            self.rtl.signal_mut(bit).wires.push((0, part));
                            bit
                        };
                        scope.wires[(net.first + i) as usize] = Some(Wire::Signal(bit));
                    }
                }
                Direction::Output => {
                    self.rtl.outputs.push(port);
                    outputs.push((port, net.first, width));
                }
                Direction::Inout => {
                    return Err(error(self.text, net.at, format!("{name} is an inout port: a tri-state has no value")));
                }
            }
        }
        self.module(module, &mut scope, 0)?;
        for (port, first, width) in outputs {
            for i in 0..width {
                let wire = self.wire(module, &mut scope, first + i);
                let value = self.value(wire);
                self.rtl.signal_mut(port).wires.push((i, value));
            }
        }
        Ok(())
    }

    /// Returns the value of a bit.
    fn value(&mut self, wire: Wire) -> NodeId {
        match wire {
            Wire::Zero => self.rtl.number(0, 1),
            Wire::One => self.rtl.number(1, 1),
            Wire::Undefined => self.rtl.free(1),
            Wire::Signal(signal) => self.rtl.read(signal),
        }
    }

    fn wire(&mut self, module: &Module<'_>, scope: &mut Scope, bit: Bit) -> Wire {
        match bit {
            ZERO => return Wire::Zero,
            ONE => return Wire::One,
            UNDEFINED => return Wire::Undefined,
            _ => {}
        }
        if let Some(known) = scope.wires[bit as usize] {
            return known;
        }
        // Nets are sorted by their bits; a bit that belongs to no net is a complement.
        let at = module.nets.partition_point(|net| net.first <= bit);
        let net = at.checked_sub(1).map(|at| &module.nets[at]).filter(|net| bit < net.first + net.width());
        let (own, place) = match net {
            Some(net) if net.is_vector => {
                let index = net.index(bit - net.first);
                (Cow::Owned(format!("{}[{index}]", self.name(net.name))), net.at)
            }
            Some(net) => (Cow::Owned(self.name(net.name).to_owned()), net.at),
            None => (Cow::Borrowed("complement"), module.at),
        };
        let name = if scope.path.is_empty() { own.into_owned() } else { format!("{}.{own}", scope.path) };
        let wire = Wire::Signal(self.rtl.add_signal(name, 1, place));
        scope.wires[bit as usize] = Some(wire);
        wire
    }

    fn module(&mut self, module: &Module<'_>, scope: &mut Scope, depth: usize) -> Result<()> {
        self.constants(module, scope)?;
        for &(target, source, negated) in &module.assigns {
            let source = self.wire(module, scope, source);
            let mut value = self.value(source);
            if negated {
                value = self.rtl.not(value);
            }
            self.drive(module, scope, target, value)?;
        }
        for instance in &module.instances {
            if self.rtl.signals().len() > MAX_NETS || depth > MAX_DEPTH {
                return Err(error(
                    self.text,
                    instance.at,
                    "more than 2^24 nets, or instances nested more than 50 deep",
                ));
            }
            match self.netlist.modules.get(&instance.kind) {
                Some(Entry::Structural(inner)) => self.inner(module, scope, instance, inner, depth)?,
                _ => self.cell(module, scope, instance)?,
            }
        }
        for &(bit, level) in &module.pulls {
            let Wire::Signal(signal) = self.wire(module, scope, bit) else { continue };
            if self.rtl.signal(signal).wires.is_empty() && !self.rtl.signal(signal).input {
                let value = self.rtl.number(level.into(), 1);
                self.rtl.signal_mut(signal).wires.push((0, value));
            }
        }
        Ok(())
    }

    /// Replaces nets that are driven by constants (by assignments, or by cells such as `GND`) with these constants, so
    /// that constant folding applies to their readers.
    fn constants(&mut self, module: &Module<'_>, scope: &mut Scope) -> Result<()> {
        let mut found: Vec<(Bit, Bit)> = Vec::new();
        found.extend(
            module.assigns.iter().filter(|(_, source, negated)| *source < FIRST && !negated).map(|a| (a.0, a.1)),
        );
        for instance in &module.instances {
            let [connection] = connections(module, instance) else { continue };
            if self.netlist.modules.contains_key(&instance.kind) {
                continue;
            }
            let bits = &module.bits[connection.bits.start as usize..connection.bits.end as usize];
            let params = &module.params[instance.params.start as usize..instance.params.end as usize];
            let kind = self.netlist.names[instance.kind as usize];
            let pattern = self.cells.pattern(kind, params, &self.netlist.names);
            if let (Ok(Some(pattern)), &[bit]) = (pattern, bits)
                && let Some(level) = pattern.constant()
            {
                found.push((bit, Bit::from(level)));
            }
        }
        for (bit, value) in found {
            if bit >= FIRST && scope.wires[bit as usize].is_none() {
                scope.wires[bit as usize] = Some(match value {
                    ZERO => Wire::Zero,
                    ONE => Wire::One,
                    _ => Wire::Undefined,
                });
            }
        }
        Ok(())
    }

    fn drive(&mut self, module: &Module<'_>, scope: &mut Scope, bit: Bit, value: NodeId) -> Result<()> {
        match self.wire(module, scope, bit) {
            Wire::Signal(signal) if !self.rtl.signal(signal).input => {
                self.rtl.signal_mut(signal).wires.push((0, value));
                Ok(())
            }
            Wire::Signal(signal) => {
                let signal = self.rtl.signal(signal);
                let message = format!("{} is an input, and something drives it", signal.name);
                Err(Diagnostic::error("E0904", place(self.text, signal.at), message))
            }
            // Output of a cell that is connected to `x`.
            Wire::Undefined if bit == UNDEFINED => Ok(()),
            // The driver that made the net constant, or another one with the same value.
            wire => {
                let agrees = match wire {
                    Wire::Undefined => matches!(self.rtl.expr(value), Expr::Free),
                    _ => self.rtl.as_const(value).is_some_and(|level| level.bit(0) == (wire == Wire::One)),
                };
                if agrees {
                    return Ok(());
                }
                let net = module.nets.iter().rfind(|net| net.first <= bit && bit >= FIRST);
                let name = net.map_or("a constant", |net| self.name(net.name));
                let at = net.map_or(module.at, |net| net.at);
                let message = format!("{name} has a constant value and another driver");
                Err(Diagnostic::error("E0904", place(self.text, at), message))
            }
        }
    }

    fn below(&self, scope: &Scope, instance: &Instance) -> String {
        let name = self.name(instance.name);
        if scope.path.is_empty() { name.to_owned() } else { format!("{}.{name}", scope.path) }
    }

    /// Elaborates an instance of a structural module; its ports become the connected nets.
    fn inner(
        &mut self,
        module: &Module<'_>,
        scope: &mut Scope,
        instance: &Instance,
        inner: &Module<'_>,
        depth: usize,
    ) -> Result<()> {
        let mut own = Scope { path: self.below(scope, instance), wires: vec![None; inner.count as usize] };
        let mut is_connected = vec![false; inner.nets.len()];
        for (at, connection) in connections(module, instance).iter().enumerate() {
            let named = |&&(net, _): &&(usize, Direction)| Some(inner.nets[net].name) == connection.port;
            let port = match connection.port {
                Some(_) => inner.ports.iter().find(named),
                None => inner.ports.get(at),
            };
            let Some(&(net, direction)) = port else { return Err(self.no_port(instance, connection, at)) };
            let (first, width) = (inner.nets[net].first, inner.nets[net].width());
            if std::mem::replace(&mut is_connected[net], true) {
                return Err(self.connected_twice(instance, self.name(inner.nets[net].name)));
            }
            let bits = module.bits[connection.bits.start as usize..connection.bits.end as usize].to_vec();
            if bits.is_empty() {
                continue;
            }
            for i in 0..width {
                let wire = match (bits.get(i as usize), direction) {
                    (Some(&bit), Direction::Input) => self.wire(module, scope, bit),
                    (Some(&bit), _) if bit >= FIRST => self.wire(module, scope, bit),
                    (None, Direction::Input) => self.wire(module, scope, connection.fill),
                    _ => continue,
                };
                own.wires[(first + i) as usize] = Some(wire);
            }
        }
        self.module(inner, &mut own, depth + 1)
    }

    fn no_port(&self, instance: &Instance, connection: &Connection, at: usize) -> Diagnostic {
        let port = connection.port.map_or_else(|| format!("number {}", at + 1), |port| self.name(port).to_owned());
        let message =
            format!("{} (instance {}) has no port {port}", self.name(instance.kind), self.name(instance.name));
        error(self.text, instance.at, message)
    }

    fn connected_twice(&self, instance: &Instance, port: &str) -> Diagnostic {
        let (kind, name) = (self.name(instance.kind), self.name(instance.name));
        error(self.text, instance.at, format!("port {port} of {kind} (instance {name}) is connected twice"))
    }

    fn cell(&mut self, module: &Module<'_>, scope: &mut Scope, instance: &Instance) -> Result<()> {
        let kind = self.netlist.names[instance.kind as usize];
        let params = &module.params[instance.params.start as usize..instance.params.end as usize];
        let path = self.below(scope, instance);
        let pattern = self.cells.pattern(kind, params, &self.netlist.names);
        let pattern = pattern.map_err(|wrong| {
            let message = format!("the cell {kind} (instance {path}) cannot be read: {}", wrong.message);
            error(self.text, instance.at, message)
        })?;
        let Some(pattern) = pattern else {
            let message = format!("no cell library has {kind} (instance {path})");
            let help = "--cells FILE adds a Verilog file that describes it; --cells FAMILY chooses another library";
            return Err(Diagnostic::error("E0914", place(self.text, instance.at), message).with_help(help));
        };
        // Wires of each port; those of inputs include the extension to the width of the port.
        let mut inputs: Vec<(SignalId, Vec<Wire>)> = Vec::with_capacity(pattern.inputs.len());
        let mut outputs: Vec<Option<&[Bit]>> = vec![None; pattern.outputs.len()];
        let all = connections(module, instance);
        let place_of = |at: usize, connection: &Connection, list: &[SignalId]| match connection.port {
            Some(port) => list.iter().position(|&s| pattern.port(s).0 == self.netlist.names[port as usize]),
            None => list.iter().position(|&s| s.0 as usize == at),
        };
        for (at, connection) in all.iter().enumerate() {
            let bits = &module.bits[connection.bits.start as usize..connection.bits.end as usize];
            if let Some(port) = place_of(at, connection, &pattern.inputs) {
                let signal = pattern.inputs[port];
                let width = pattern.port(signal).1;
                let wires: Vec<Wire> = match bits {
                    [] => vec![Wire::Undefined; width as usize],
                    _ => (0..width as usize)
                        .map(|i| self.wire(module, scope, bits.get(i).copied().unwrap_or(connection.fill)))
                        .collect(),
                };
                if inputs.iter().any(|(known, _)| *known == signal) {
                    return Err(self.connected_twice(instance, pattern.port(signal).0));
                }
                inputs.push((signal, wires));
            } else if let Some(port) = place_of(at, connection, &pattern.outputs) {
                if outputs[port].replace(bits).is_some() {
                    return Err(self.connected_twice(instance, pattern.port(pattern.outputs[port]).0));
                }
            } else {
                return Err(self.no_port(instance, connection, at));
            }
        }
        let wires_of = |port: SignalId| inputs.iter().find(|(signal, _)| *signal == port).map(|(_, wires)| &wires[..]);
        let input = |rtl: &mut Rtl, port: SignalId| {
            let width = pattern.port(port).1;
            let open = [Wire::Undefined];
            let wires = match wires_of(port).unwrap_or(&open) {
                // The port is unconnected, or connected to an undefined value.
                [Wire::Undefined] => match pattern.unconnected(port) {
                    Some(level) => return rtl.number(level.into(), 1),
                    None => return rtl.free(width),
                },
                wires => wires,
            };
            let bits: Vec<NodeId> = wires
                .iter()
                .map(|wire| match *wire {
                    Wire::Zero => rtl.number(0, 1),
                    Wire::One => rtl.number(1, 1),
                    Wire::Undefined => rtl.free(1),
                    Wire::Signal(signal) => rtl.read(signal),
                })
                .collect();
            rtl.concat(&bits)
        };
        let clock = |rtl: &mut Rtl, port: SignalId| match wires_of(port) {
            Some(&[Wire::Signal(signal)]) => signal,
            // A constant or undefined clock has no edges: the clock port gets a signal of its own.
            _ => rtl.add_signal(format!("{path}.{}", pattern.port(port).0), 1, instance.at),
        };
        let values = pattern.instantiate(&mut self.rtl, (&path, instance.at), &input, &clock);
        for ((bits, value), &port) in outputs.into_iter().zip(values).zip(&pattern.outputs) {
            let is_zero = self.rtl.as_const(value).is_some_and(|value| value.count_ones() == 0);
            if pattern.port(port).0 == MUST_BE_ZERO && !is_zero {
                self.obligations.push((value, path.clone(), kind.to_owned(), instance.at));
            }
            for (i, &bit) in bits.into_iter().flatten().enumerate().take(self.rtl.width(value) as usize) {
                let part = self.rtl.slice(value, i as u32, 1);
                self.drive(module, scope, bit, part)?;
            }
        }
        Ok(())
    }
}

fn connections<'m>(module: &'m Module<'_>, instance: &Instance) -> &'m [Connection] {
    &module.connections[instance.connections.start as usize..instance.connections.end as usize]
}
