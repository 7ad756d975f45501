//! Data structure of a netlist: nets, cells, wiring, ports.

use alir_core::ir::{Layers, Model, Node};
use alir_core::num::Kif;
use rustc_hash::FxHashSet;
use serde::Serialize;

/// Index of a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NetId(pub u32);

/// Index of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortId(pub u32);

/// Index of a read-only memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RomId(pub u32);

impl NetId {
    /// Returns the index as `usize`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A run of bits inside wiring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Bits `lo .. lo + width` of a net.
    Bits {
        /// The net.
        net: NetId,
        /// Lowest bit of the slice.
        lo: u32,
        /// Number of bits, at least 1.
        width: u32,
    },
    /// One bit of a net, repeated `count` times: a sign extension or a mask.
    Repeat {
        /// The net.
        net: NetId,
        /// The bit.
        bit: u32,
        /// Number of repetitions, at least 2 (one is [`Piece::Bits`]).
        count: u32,
    },
    /// A constant bit, repeated `width` times. Other constants consist of several pieces.
    Const {
        /// The bit.
        one: bool,
        /// Number of repetitions, at least 1.
        width: u32,
    },
}

impl Piece {
    /// Returns the number of bits.
    pub fn width(self) -> u32 {
        match self {
            Piece::Bits { width, .. } | Piece::Const { width, .. } => width,
            Piece::Repeat { count, .. } => count,
        }
    }

    /// Returns the net of the bits; `None` for constants.
    pub fn net(self) -> Option<NetId> {
        match self {
            Piece::Bits { net, .. } | Piece::Repeat { net, .. } => Some(net),
            Piece::Const { .. } => None,
        }
    }
}

/// A cell's operand: a run of pieces in the netlist's pool, low bits first. May be empty only for an empty port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wiring {
    /// Index of the first piece.
    pub(crate) start: u32,
    /// Number of pieces.
    pub(crate) len: u32,
    /// Number of bits.
    pub(crate) width: u32,
}

impl Wiring {
    /// Returns the number of bits.
    pub fn width(self) -> u32 {
        self.width
    }
}

/// Reset of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reset {
    /// One bit that resets the register.
    pub when: Wiring,
    /// `true` if a high level of `when` resets the register.
    pub active_high: bool,
    /// `true` if the reset acts without a clock edge.
    pub asynchronous: bool,
    /// Reset value: constant wiring of the register's width.
    pub value: Wiring,
}

/// Operation that drives a net. Every arithmetic result is taken modulo `2^width` of its net.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Bits `lo ..` of an input port.
    Input {
        /// The port.
        port: PortId,
        /// Lowest bit of the slice.
        lo: u32,
    },
    /// A name for wiring; the operand has the width of the net.
    Alias {
        /// The bits.
        x: Wiring,
    },
    /// `a + b`; both operands have the width of the net.
    Add {
        /// First operand.
        a: Wiring,
        /// Second operand.
        b: Wiring,
    },
    /// `a - b`; both operands have the width of the net.
    Sub {
        /// First operand.
        a: Wiring,
        /// Second operand.
        b: Wiring,
    },
    /// `a + b + c` in one adder, where `minus` marks the second and third operand as subtracted; all have the width of
    /// the net.
    Three {
        /// First operand.
        a: Wiring,
        /// Second operand.
        b: Wiring,
        /// Third operand.
        c: Wiring,
        /// `true` if the operand is subtracted, for the second and the third operand.
        minus: [bool; 2],
    },
    /// `-a`; the operand has the width of the net.
    Neg {
        /// Operand.
        a: Wiring,
    },
    /// Low bits of the exact product. Operands have any width and are both signed or both unsigned; the width of the
    /// net is at most the sum of their widths.
    Mul {
        /// First operand.
        a: Wiring,
        /// Second operand.
        b: Wiring,
        /// `true` if both operands are two's complement.
        signed: bool,
    },
    /// One bit that is set if `a < b`; both operands have equal width.
    Less {
        /// First operand.
        a: Wiring,
        /// Second operand.
        b: Wiring,
        /// `true` if both operands are two's complement.
        signed: bool,
    },
    /// `on_true` if `sel` is set, otherwise `on_false`; both have the width of the net.
    Mux {
        /// Select, one bit.
        sel: Wiring,
        /// Result if `sel` is set.
        on_true: Wiring,
        /// Result if `sel` is clear.
        on_false: Wiring,
    },
    /// Bitwise complement; the operand has the width of the net.
    Not {
        /// Operand.
        a: Wiring,
    },
    /// Bitwise and; both operands have the width of the net.
    And {
        /// First operand.
        a: Wiring,
        /// Second operand.
        b: Wiring,
    },
    /// Bitwise or; both operands have the width of the net.
    Or {
        /// First operand.
        a: Wiring,
        /// Second operand.
        b: Wiring,
    },
    /// Bitwise exclusive or; both operands have the width of the net.
    Xor {
        /// First operand.
        a: Wiring,
        /// Second operand.
        b: Wiring,
    },
    /// One bit that is set if any bit of the operand is set.
    ReduceOr {
        /// Operand of any width.
        a: Wiring,
    },
    /// One bit that is set if every bit of the operand is set.
    ReduceAnd {
        /// Operand of any width.
        a: Wiring,
    },
    /// Word of a read-only memory; addresses beyond the last word read zero.
    Rom {
        /// The memory; the net has the width of its words.
        rom: RomId,
        /// The address, unsigned, of the memory's address width.
        addr: Wiring,
    },
    /// Register, clocked by the rising edge. The only cell whose operands may be later nets.
    Register {
        /// Next value; it has the width of the net.
        d: Wiring,
        /// Clock enable, one bit; the register keeps its value while this bit is 0.
        enable: Option<Wiring>,
        /// Reset; it has priority over `enable`.
        reset: Option<Reset>,
        /// Power-on value: constant wiring of the net's width.
        init: Option<Wiring>,
    },
}

impl Cell {
    /// Calls `visit` for each operand: data, then select, address, enable, reset, reset value, power-on value.
    pub fn for_each_operand(&self, mut visit: impl FnMut(Wiring)) {
        match *self {
            Cell::Input { port: _, lo: _ } => {}
            Cell::Alias { x: a }
            | Cell::Neg { a }
            | Cell::Not { a }
            | Cell::ReduceOr { a }
            | Cell::ReduceAnd { a }
            | Cell::Rom { rom: _, addr: a } => visit(a),
            Cell::Add { a, b }
            | Cell::Sub { a, b }
            | Cell::Mul { a, b, signed: _ }
            | Cell::Less { a, b, signed: _ }
            | Cell::And { a, b }
            | Cell::Or { a, b }
            | Cell::Xor { a, b } => {
                visit(a);
                visit(b);
            }
            Cell::Three { a, b, c, minus: _ } => {
                visit(a);
                visit(b);
                visit(c);
            }
            Cell::Mux { sel, on_true, on_false } => {
                visit(on_true);
                visit(on_false);
                visit(sel);
            }
            Cell::Register { d, enable, reset, init } => {
                visit(d);
                enable.into_iter().for_each(&mut visit);
                reset.into_iter().for_each(|r| {
                    visit(r.when);
                    visit(r.value);
                });
                init.into_iter().for_each(&mut visit);
            }
        }
    }
}

/// A net with the cell that drives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net {
    /// Number of bits, at least 1.
    pub width: u32,
    /// `true` if the bits are a two's complement number; only for declarations in languages with typed signals. No cell
    /// depends on this flag.
    pub signed: bool,
    /// Cell that drives the net.
    pub cell: Cell,
    /// Pipeline stage that computes the net, from 1; for a register, the stage that ends with it (0: input register).
    pub stage: u32,
    /// Index of the program's operation that the net computes, for reports by operation; `None` for registers, ports
    /// and other nets without an operation.
    pub operation: Option<u32>,
    /// Index of the output element whose negation the net computes; `None` for other nets.
    pub output: Option<u32>,
    /// Name, legal and unique in Verilog and VHDL: start and length in the netlist's text pool.
    pub(crate) name: (u32, u32),
    /// Comment in the RTL file, possibly empty: start and length in the netlist's text pool.
    pub(crate) comment: (u32, u32),
}

/// A read-only memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rom {
    /// Name, legal and unique.
    pub name: String,
    /// Width of an address, in bits.
    pub addr_width: u32,
    /// Width of a word, 1 to 64 bits.
    pub word_width: u32,
    /// The words, at most `2^addr_width`, each in the low `word_width` bits; missing words read as zero.
    pub words: Vec<u64>,
    /// `true` for a table of the model or a part of it; `false` for precomputed values of another operation, which
    /// always become logic.
    pub is_table: bool,
    /// Comment in the RTL file.
    pub comment: String,
}

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// An input.
    In,
    /// An output.
    Out,
}

/// A port of the module. Ports without bits do not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name, legal and unique.
    pub name: String,
    /// Direction of the port.
    pub direction: Direction,
    /// Width in bits, at least 1.
    pub width: u32,
    /// `true` if the port is declared as a single bit, not as a vector of one bit (clock, reset, valid, enable).
    pub scalar: bool,
    /// Driver of an output port, with the width of the port; `None` for an input port.
    pub driver: Option<Wiring>,
}

/// Position on the ports of an element of the model's input or output vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Element {
    /// Port name; empty for an element without bits.
    pub port: String,
    /// Lowest bit on the port.
    pub lsb: u32,
    /// Number of bits; 0 if the element has none.
    pub width: u32,
    /// `true` if the element is two's complement.
    pub signed: bool,
    /// Number of fractional bits: the weight of the lowest bit is `2^-fractionals` (for an input also divided by
    /// `2^inp_shift`).
    pub fractionals: i32,
    /// Name, such as `inp[3]`.
    pub name: String,
    /// Beat of the element: number of cycles from the cycle whose edge accepts a sample to the cycle with this element
    /// at the port. Always 0 if elements do not share port bits.
    #[serde(skip_serializing_if = "is_zero")]
    pub beat: u32,
}

fn is_zero(clocks: &u32) -> bool {
    *clocks == 0
}

impl Element {
    /// Returns the type of the element.
    pub fn kif(&self) -> Kif {
        let sign = i32::from(self.signed);
        if self.width == 0 {
            return Kif::ZERO;
        }
        Kif { signed: self.signed, int: self.width as i32 - self.fractionals - sign, frac: self.fractionals }
    }
}

/// Interface of the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Interface {
    /// Module name.
    pub top: String,
    /// Latency: rising edges from input to result; 0 if combinational.
    pub latency: u32,
    /// Initiation interval: cycles between two inputs.
    pub initiation_interval: u32,
    /// Number of cycles for which an input must be stable at the ports, including the cycle whose edge accepts the
    /// input.
    pub input_hold: u32,
    /// Number of beats (cycles) in which the ports transfer the elements of a sample.
    pub input_beats: u32,
    /// Name of the clock port; `None` if the module has no register.
    pub clock: Option<String>,
    /// Name of the reset port.
    pub reset: Option<String>,
    /// `true` if the reset is active high.
    pub reset_active_high: bool,
    /// `true` if the reset is asynchronous.
    pub reset_async: bool,
    /// Name of the clock enable port.
    pub enable: Option<String>,
    /// Names of the input and output valid ports.
    pub valid: Option<(String, String)>,
    /// Name of the port that is 1 in cycles in which a sample is accepted, for initiation intervals above one.
    pub ready: Option<String>,
    /// `true` for a state machine, whose outputs depend on all cycles since power-on; `latency` is then unused.
    pub stateful: bool,
    /// Input elements in order.
    pub inputs: Vec<Element>,
    /// Output elements in order.
    pub outputs: Vec<Element>,
}

impl Interface {
    /// Returns `true` if the outputs depend on the number of cycles since power-on or reset.
    pub fn counts_clocks(&self) -> bool {
        self.stateful || self.initiation_interval > 1
    }

    /// Returns `true` for a pipeline, which accepts a sample in every cycle.
    pub fn has_stages(&self) -> bool {
        self.latency > 0 && self.initiation_interval == 1
    }

    /// Returns the interface of a combinational module with these elements, without controls.
    pub fn plain(top: impl Into<String>, inputs: Vec<Element>, outputs: Vec<Element>) -> Interface {
        Interface {
            top: top.into(),
            latency: 0,
            initiation_interval: 1,
            input_hold: 1,
            input_beats: 1,
            clock: None,
            reset: None,
            reset_active_high: true,
            reset_async: false,
            enable: None,
            valid: None,
            ready: None,
            stateful: false,
            inputs,
            outputs,
        }
    }
}

/// Netlist of a module. The documentation of the module `netlist` lists the invariants; accessors such as
/// [`Netlist::net`] read the data.
#[derive(Clone, Debug)]
pub struct Netlist {
    pub(crate) nets: Vec<Net>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) roms: Vec<Rom>,
    pub(crate) ports: Vec<Port>,
    pub(crate) text: String,
    /// Lines of the header comment: port map, latency, properties of the model.
    pub(crate) header: Vec<String>,
    /// Comment on each stage from 1 on, such as its delay; empty without comments.
    pub(crate) stage_remarks: Vec<String>,
    /// Nodes of the source network for which operations were created.
    pub(crate) layers: OperationLayers,
    /// Interface of the module.
    pub interface: Interface,
}

/// Nodes of a source network, and the node of each operation of the program. For display only; no logic depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationLayers {
    /// Names of the nodes, printable ASCII, not empty; none for programs without a source network.
    pub(crate) names: Vec<String>,
    /// For each operation, the index of its node's name.
    pub(crate) by_operation: Vec<Option<u32>>,
}

impl OperationLayers {
    /// Returns the layers of an optimised program, from the layers of the operations' origins.
    pub(super) fn new(model: &Model, layers: &Layers) -> OperationLayers {
        if layers.names().is_empty() {
            return OperationLayers::default();
        }
        let named = |name: &String| Some(printable(name)).filter(|name| !name.is_empty()).unwrap_or("(no name)".into());
        let layer = |node: &Node| layers.layer(node.origin as usize).map(|layer| layer as u32);
        OperationLayers {
            names: layers.names().iter().map(named).collect(),
            by_operation: model.nodes().iter().map(layer).collect(),
        }
    }
}

/// Replaces all characters except printable ASCII by question marks and removes spaces at the end.
fn printable(line: &str) -> String {
    line.trim_end().chars().map(|c| if c == ' ' || c.is_ascii_graphic() { c } else { '?' }).collect()
}

impl Netlist {
    /// Returns all nets, in topological order except for the operands of registers.
    pub fn nets(&self) -> &[Net] {
        &self.nets
    }

    /// Returns a net.
    pub fn net(&self, id: NetId) -> &Net {
        &self.nets[id.index()]
    }

    /// Returns the pieces of an operand, low bits first.
    pub fn pieces(&self, wiring: Wiring) -> &[Piece] {
        &self.pieces[wiring.start as usize..(wiring.start + wiring.len) as usize]
    }

    /// Returns the read-only memories.
    pub fn roms(&self) -> &[Rom] {
        &self.roms
    }

    /// Returns the ports, in the order of declaration.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Returns the name of a net.
    pub fn name(&self, id: NetId) -> &str {
        let (start, len) = self.net(id).name;
        &self.text[start as usize..(start + len) as usize]
    }

    /// Returns the comment on a net, possibly empty: one line of printable characters.
    pub fn comment(&self, id: NetId) -> &str {
        let (start, len) = self.net(id).comment;
        &self.text[start as usize..(start + len) as usize]
    }

    /// Inserts a line of the header comment after its first line.
    pub fn add_header_line(&mut self, line: String) {
        self.header.insert(1, line);
    }

    /// Adds lines to the header comment before the list of elements.
    pub fn add_before_elements(&mut self, lines: impl IntoIterator<Item = String>) {
        let at = self.header.iter().position(|line| line.starts_with("elements:")).unwrap_or(self.header.len());
        self.header.splice(at..at, lines);
    }

    /// Returns the names of the source network's nodes with operations.
    pub fn layer_names(&self) -> &[String] {
        &self.layers.names
    }

    /// Returns the layer of each net: the latest of the layer of its operation and those of the nets that it reads, so
    /// that no layer reads a later one. Inputs and constants have no layer. Empty without layers.
    pub(crate) fn layers_of_nets(&self) -> Vec<Option<u32>> {
        if self.layers.names.is_empty() {
            return Vec::new();
        }
        let own = |net: &Net| match net.cell {
            Cell::Input { .. } => None,
            _ => self.layers.by_operation.get(net.operation? as usize).copied().flatten(),
        };
        let mut layers: Vec<Option<u32>> = self.nets.iter().map(own).collect();
        // Registers may precede the nets that they read.
        let mut changes = true;
        while changes {
            changes = false;
            for (index, net) in self.nets.iter().enumerate() {
                let mut latest = layers[index];
                net.cell.for_each_operand(|wiring| {
                    let read = self.pieces(wiring).iter().filter_map(|piece| piece.net());
                    latest = latest.max(read.filter_map(|net| layers[net.index()]).max());
                });
                changes |= latest != layers[index];
                layers[index] = latest;
            }
        }
        layers
    }

    /// Sets a comment on each stage from 1 on, which follows the heading of the stage.
    pub fn with_stage_remarks(self, stage_remarks: Vec<String>) -> Netlist {
        Netlist { stage_remarks, ..self }
    }

    /// Returns the lines of the header comment; printable characters only.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Appends a line to the header comment; all characters except printable ASCII become question marks.
    pub fn with_remark(mut self, line: &str) -> Netlist {
        self.header.push(printable(line));
        self
    }

    /// Inserts lines at the beginning of the header comment, with the same replacement as [`Netlist::with_remark`].
    pub fn with_head(mut self, lines: &[String]) -> Netlist {
        self.header.splice(0..0, lines.iter().map(|line| printable(line)));
        self
    }

    /// Returns the number of bits of all registers, including valid flags.
    pub fn register_bits(&self) -> u64 {
        self.stage_register_bits().iter().sum()
    }

    /// Returns the number of bits of the registers that an output port reads directly.
    pub fn output_register_bits(&self) -> u64 {
        let mut read: FxHashSet<NetId> = FxHashSet::default();
        let outputs = self.ports().iter().filter(|port| port.direction == Direction::Out);
        for port in outputs {
            read.extend(port.driver.into_iter().flat_map(|driver| self.pieces(driver)).filter_map(|piece| piece.net()));
        }
        let is_register = |id: &&NetId| matches!(self.net(**id).cell, Cell::Register { .. });
        read.iter().filter(is_register).map(|id| u64::from(self.net(*id).width)).sum()
    }

    /// Returns the number of register bits at the end of each stage, from index 0 (input registers) to the last stage
    /// that has any.
    pub fn stage_register_bits(&self) -> Vec<u64> {
        let mut bits = Vec::new();
        for net in self.nets() {
            if matches!(net.cell, Cell::Register { .. }) {
                let stage = net.stage as usize;
                if bits.len() <= stage {
                    bits.resize(stage + 1, 0);
                }
                bits[stage] += u64::from(net.width);
            }
        }
        bits
    }
}
