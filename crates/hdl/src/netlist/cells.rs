//! Cell libraries, and elaborated patterns of cells with their parameters.
//!
//! Each library is a Verilog file. The Verilog front end elaborates a cell once for each set of parameters, and the
//! resulting pattern is copied for each of its instances in a netlist.

use super::structure::Param;
use crate::design::{Expr, NodeId, Rtl, SignalId, operands};
use crate::verilog::Library;
use alir_core::diag::{Diagnostic, Place};
use rustc_hash::FxHashMap;

/// FPGA family of a netlist's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellFamily {
    /// AMD (Xilinx) 7 series, UltraScale and UltraScale+.
    Xilinx,
    /// Lattice ECP5.
    Ecp5,
    /// Lattice iCE40.
    Ice40,
    /// Gowin.
    Gowin,
    /// Intel (Altera): Cyclone V, Agilex, and the cells of Yosys' `synth_intel_alm`.
    Intel,
}

impl CellFamily {
    /// All families.
    pub const ALL: [CellFamily; 5] =
        [CellFamily::Xilinx, CellFamily::Ecp5, CellFamily::Ice40, CellFamily::Gowin, CellFamily::Intel];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CellFamily::Xilinx => "xilinx",
            CellFamily::Ecp5 => "ecp5",
            CellFamily::Ice40 => "ice40",
            CellFamily::Gowin => "gowin",
            CellFamily::Intel => "intel",
        }
    }

    /// Returns the Verilog source of the library.
    pub fn text(self) -> &'static str {
        match self {
            CellFamily::Xilinx => include_str!("../../cells/xilinx.v"),
            CellFamily::Ecp5 => include_str!("../../cells/ecp5.v"),
            CellFamily::Ice40 => include_str!("../../cells/ice40.v"),
            CellFamily::Gowin => include_str!("../../cells/gowin.v"),
            CellFamily::Intel => include_str!("../../cells/intel.v"),
        }
    }
}

/// Verilog source of Yosys' internal cells, which may occur in a netlist together with cells of a family.
pub const GENERIC_CELLS: &str = include_str!("../../cells/yosys.v");

/// Elaborated cell with values for its parameters, which is copied into a design for each instance.
pub(super) struct Pattern {
    rtl: Rtl,
    /// Expressions of outputs and registers, with all operands, in topological order.
    order: Vec<NodeId>,
    /// Signals that have registers.
    states: Vec<SignalId>,
    /// Signals of the input ports.
    pub(super) inputs: Vec<SignalId>,
    /// Signals of the output ports.
    pub(super) outputs: Vec<SignalId>,
}

impl Pattern {
    fn new(rtl: Rtl) -> Pattern {
        let is_state = |s: SignalId| !rtl.signal(s).registers.is_empty();
        let mut done = vec![false; rtl.len()];
        let (mut order, mut states) = (Vec::new(), Vec::new());
        let mut stack: Vec<(NodeId, bool)> = rtl.outputs.iter().map(|&s| (rtl.read(s), false)).collect();
        let mut is_known = vec![false; rtl.signals().len()];
        // Operands of a register's next value are collected separately: the value of the register does not depend on
        // them.
        let mut later: Vec<NodeId> = Vec::new();
        loop {
            let Some((node, is_entered)) = stack.pop() else {
                match later.pop() {
                    Some(node) => stack.push((node, false)),
                    None => break,
                }
                continue;
            };
            if done[node.0 as usize] {
                continue;
            }
            if is_entered {
                done[node.0 as usize] = true;
                order.push(node);
                continue;
            }
            stack.push((node, true));
            match rtl.expr(node) {
                Expr::Signal(s) if rtl.signal(*s).input => {}
                Expr::Signal(s) if is_state(*s) => {
                    if !std::mem::replace(&mut is_known[s.0 as usize], true) {
                        states.push(*s);
                        let signal = rtl.signal(*s);
                        later.extend(signal.wires.iter().map(|w| w.1));
                        for register in &signal.registers {
                            later.push(register.next);
                            later.extend(register.resets.iter().flat_map(|&(cond, value)| [cond, value]));
                        }
                        later.extend(signal.init);
                    }
                }
                Expr::Signal(s) => stack.extend(rtl.signal(*s).wires.iter().map(|w| (w.1, false))),
                expr => operands(expr, &mut |&n| stack.push((n, false))),
            }
        }
        let (inputs, outputs) = (rtl.inputs.clone(), rtl.outputs.clone());
        Pattern { rtl, order, states, inputs, outputs }
    }

    /// Returns name and width of a port.
    pub(super) fn port(&self, signal: SignalId) -> (&str, u32) {
        let signal = self.rtl.signal(signal);
        (&signal.name, signal.width)
    }

    /// Returns the value of an unconnected input port, which a wire `unconnected_PORT` of the library specifies.
    pub(super) fn unconnected(&self, port: SignalId) -> Option<bool> {
        let name = &self.rtl.signal(port).name;
        let wire = self.rtl.signals().iter().find(|s| s.name.strip_prefix("unconnected_") == Some(name))?;
        let &[(0, value)] = &wire.wires[..] else { return None };
        self.rtl.as_const(value).map(|value| value.bit(0))
    }

    /// Returns the value of a constant cell with one output of one bit; `None` for other cells.
    pub(super) fn constant(&self) -> Option<bool> {
        match (&self.inputs[..], &self.outputs[..]) {
            ([], &[output]) => {
                let signal = self.rtl.signal(output);
                let &[(0, value)] = &signal.wires[..] else { return None };
                self.rtl.as_const(value).filter(|_| signal.width == 1).map(|value| value.bit(0))
            }
            _ => None,
        }
    }

    /// Copies the cell into a design and returns the values of its outputs in their order. `input` returns the value of
    /// an input port, `clock` the signal that is connected to an input port of one bit.
    pub(super) fn instantiate(
        &self,
        to: &mut Rtl,
        (path, at): (&str, u32),
        input: &dyn Fn(&mut Rtl, SignalId) -> NodeId,
        clock: &dyn Fn(&mut Rtl, SignalId) -> SignalId,
    ) -> Vec<NodeId> {
        let from = &self.rtl;
        let mut made: Vec<Option<NodeId>> = vec![None; from.len()];
        let mut copies: FxHashMap<SignalId, SignalId> = FxHashMap::default();
        for &s in &self.states {
            let signal = from.signal(s);
            let copy = to.add_signal(format!("{path}.{}", signal.name), signal.width, at);
            copies.insert(s, copy);
            made[from.read(s).0 as usize] = Some(to.read(copy));
        }
        for &node in &self.order {
            if made[node.0 as usize].is_some() {
                continue;
            }
            let width = from.width(node);
            let of = |n: &NodeId| made[n.0 as usize].expect("operands come first");
            let value = match from.expr(node) {
                Expr::Const(v) => to.constant((**v).clone(), width),
                Expr::Free => to.free(width),
                Expr::Signal(s) if from.signal(*s).input => input(to, *s),
                Expr::Signal(s) => {
                    let signal = from.signal(*s);
                    let mut wires: Vec<(u32, NodeId)> = signal.wires.iter().map(|&(lo, n)| (lo, of(&n))).collect();
                    wires.sort_unstable_by_key(|w| w.0);
                    let (mut parts, mut end) = (Vec::new(), 0);
                    let init = signal.init.and_then(|n| from.as_const(n)).cloned();
                    for (lo, part) in wires.into_iter().map(|(lo, n)| (lo, Some(n))).chain([(signal.width, None)]) {
                        if lo > end {
                            // Undriven bits keep their initial value.
                            let gap = match &init {
                                Some(value) => to.constant(value >> end, lo - end),
                                None => to.free(lo - end),
                            };
                            parts.push(gap);
                        }
                        end = lo + part.map_or(0, |n| to.width(n));
                        parts.extend(part);
                    }
                    to.concat(&parts)
                }
                Expr::Slice { x, lo } => to.slice(of(x), *lo, width),
                Expr::Concat(parts) => {
                    let parts: Vec<NodeId> = parts.iter().map(of).collect();
                    to.concat(&parts)
                }
                Expr::Repeat { x } => to.repeat(of(x), width / from.width(*x).max(1)),
                Expr::Extend { x, signed } => to.resize(of(x), width, *signed),
                Expr::Not(x) => to.not(of(x)),
                Expr::Binary(op, a, b) => to.binary(*op, of(a), of(b)),
                Expr::Compare(op, a, b) => to.compare(*op, of(a), of(b)),
                Expr::Reduce(op, x) => to.reduce(*op, of(x)),
                Expr::Shift(op, x, by) => to.shift(*op, of(x), of(by)),
                Expr::Mux(c, yes, no) => to.mux(of(c), of(yes), of(no)),
                Expr::Table(entries, addr, missing) => to.table(entries.clone(), of(addr), of(missing)),
            };
            made[node.0 as usize] = Some(value);
        }
        let of = |n: NodeId| made[n.0 as usize].expect("all nodes are copied");
        for &s in &self.states {
            let signal = from.signal(s);
            let copy = copies[&s];
            for register in &signal.registers {
                // A reset that is tied to its inactive level is dropped.
                let resets = register.resets.iter().map(|&(cond, value)| (of(cond), of(value)));
                let resets = resets.filter(|&(cond, _)| to.as_const(cond).is_none_or(|level| level.bit(0))).collect();
                let own = crate::Register {
                    lo: register.lo,
                    next: of(register.next),
                    clock: clock(to, from.input_alias(register.clock).unwrap_or(register.clock)),
                    rising: register.rising,
                    resets,
                };
                to.signal_mut(copy).registers.push(own);
            }
            let wires: Vec<(u32, NodeId)> = signal.wires.iter().map(|&(lo, n)| (lo, of(n))).collect();
            to.signal_mut(copy).wires = wires;
            to.signal_mut(copy).init = signal.init.map(of);
        }
        self.outputs.iter().map(|&s| of(from.read(s))).collect()
    }
}

/// Cells of one netlist: libraries in their search order, and the patterns built so far.
pub(super) struct Cells {
    libraries: Vec<Library>,
    patterns: FxHashMap<String, std::rc::Rc<Pattern>>,
}

impl Cells {
    pub(super) fn new(libraries: Vec<Library>) -> Cells {
        Cells { libraries, patterns: FxHashMap::default() }
    }

    /// Returns the pattern of a cell, or `None` if no library has it.
    ///
    /// # Errors
    /// An error message of the front end.
    pub(super) fn pattern(
        &mut self,
        kind: &str,
        params: &[Param<'_>],
        names: &[&str],
    ) -> Result<Option<std::rc::Rc<Pattern>>, Diagnostic> {
        let mut key = kind.to_owned();
        for (name, value) in params {
            key.push('\n');
            key.push_str(name.map_or("", |n| names[n as usize]));
            key.push('=');
            key.push_str(value);
        }
        if let Some(known) = self.patterns.get(&key) {
            return Ok(Some(known.clone()));
        }
        let Some(library) = self.libraries.iter_mut().find(|library| library.has(kind)) else { return Ok(None) };
        for (i, (name, _)) in params.iter().enumerate() {
            if let Some(name) = name.filter(|_| params[..i].iter().any(|other| other.0 == *name)) {
                let message = format!("parameter {} is given twice", names[name as usize]);
                return Err(Diagnostic::error("E0903", Place::Flag(kind.to_owned()), message));
            }
        }
        let params: Vec<(Option<&str>, &str)> =
            params.iter().map(|&(name, value)| (name.map(|n| names[n as usize]), value)).collect();
        let pattern = std::rc::Rc::new(Pattern::new(library.elaborate(kind, &params)?));
        self.patterns.insert(key, pattern.clone());
        Ok(Some(pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_every_library_can_be_elaborated() {
        for text in CellFamily::ALL.map(CellFamily::text).into_iter().chain([GENERIC_CELLS]) {
            let mut library = Library::parse(text).unwrap();
            let names: Vec<String> = library.names().map(str::to_owned).collect();
            assert!(names.len() > 10, "{names:?}");
            for name in names {
                let rtl = library.elaborate(&name, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
                assert!(name == "GSR" || !rtl.outputs.is_empty(), "{name}");
                Pattern::new(rtl);
            }
        }
    }
}
