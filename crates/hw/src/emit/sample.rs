//! Hand-written netlists for tests of the code generators.

use crate::netlist::{
    Cell, Direction, Interface, Net, NetId, Netlist, OperationLayers, Piece, Port, PortId, Reset, Rom, RomId, Wiring,
};

/// Builder of a netlist without any checks: tests use shapes that lowering may never generate.
pub(super) struct Sample {
    pub(super) netlist: Netlist,
    pub(super) stage: u32,
}

impl Sample {
    pub(super) fn new() -> Sample {
        let interface = Interface::plain("sample", Vec::new(), Vec::new());
        let netlist = Netlist {
            nets: Vec::new(),
            pieces: Vec::new(),
            roms: Vec::new(),
            ports: Vec::new(),
            text: String::new(),
            stage_remarks: Vec::new(),
            layers: OperationLayers::default(),
            header: vec!["A sample".into(), String::new(), "verilator would obey this".into()],
            interface,
        };
        Sample { netlist, stage: 1 }
    }

    pub(super) fn port(&mut self, name: &str, direction: Direction, width: u32, scalar: bool) -> PortId {
        self.netlist.ports.push(Port { name: name.into(), direction, width, scalar, driver: None });
        PortId(self.netlist.ports.len() as u32 - 1)
    }

    pub(super) fn clock(&mut self) {
        self.port("clk", Direction::In, 1, true);
        self.netlist.interface.clock = Some("clk".into());
        self.netlist.interface.latency = 1;
    }

    /// Adds an input port, and returns a net with all its bits.
    pub(super) fn input(&mut self, name: &str, width: u32, scalar: bool) -> NetId {
        let port = self.port(name, Direction::In, width, scalar);
        self.net(&format!("x_{name}"), width, Cell::Input { port, lo: 0 })
    }

    pub(super) fn output(&mut self, name: &str, scalar: bool, pieces: &[Piece]) {
        let driver = self.wiring(pieces);
        let port = self.port(name, Direction::Out, driver.width(), scalar);
        self.netlist.ports[port.0 as usize].driver = Some(driver);
    }

    pub(super) fn net(&mut self, name: &str, width: u32, cell: Cell) -> NetId {
        let name_at = self.netlist.text.len() as u32;
        self.netlist.text.push_str(name);
        let comment = format!("the net {name}");
        let comment_at = self.netlist.text.len() as u32;
        self.netlist.text.push_str(&comment);
        self.netlist.nets.push(Net {
            width,
            signed: false,
            cell,
            stage: self.stage,
            operation: None,
            output: None,
            name: (name_at, name.len() as u32),
            comment: (comment_at, comment.len() as u32),
        });
        NetId(self.netlist.nets.len() as u32 - 1)
    }

    pub(super) fn rom(&mut self, name: &str, addr_width: u32, word_width: u32, words: Vec<u64>) -> RomId {
        let comment = "a table".into();
        self.netlist.roms.push(Rom { name: name.into(), addr_width, word_width, words, is_table: true, comment });
        RomId(self.netlist.roms.len() as u32 - 1)
    }

    /// Adds wiring with these pieces, low bits first.
    pub(super) fn wiring(&mut self, pieces: &[Piece]) -> Wiring {
        let start = self.netlist.pieces.len() as u32;
        self.netlist.pieces.extend_from_slice(pieces);
        Wiring { start, len: pieces.len() as u32, width: pieces.iter().map(|p| p.width()).sum() }
    }

    /// Returns wiring with all bits of a net.
    pub(super) fn all(&mut self, net: NetId) -> Wiring {
        let piece = self.whole(net);
        self.wiring(&[piece])
    }

    pub(super) fn whole(&self, net: NetId) -> Piece {
        Piece::Bits { net, lo: 0, width: self.netlist.net(net).width }
    }

    pub(super) fn register(
        &mut self,
        name: &str,
        d: NetId,
        enable: Option<NetId>,
        reset: Option<(NetId, bool)>,
        init: bool,
    ) -> NetId {
        let width = self.netlist.net(d).width;
        let value = self.wiring(&[Piece::Const { one: true, width }]);
        let d = self.all(d);
        let enable = enable.map(|net| self.all(net));
        let reset =
            reset.map(|(net, asynchronous)| Reset { when: self.all(net), active_high: true, asynchronous, value });
        self.net(name, width, Cell::Register { d, enable, reset, init: init.then_some(value) })
    }
}

pub(super) fn bits(net: NetId, lo: u32, width: u32) -> Piece {
    Piece::Bits { net, lo, width }
}

pub(super) fn repeat(net: NetId, bit: u32, count: u32) -> Piece {
    Piece::Repeat { net, bit, count }
}

pub(super) fn constant(one: bool, width: u32) -> Piece {
    Piece::Const { one, width }
}

/// Returns a netlist with every cell, every kind of piece and every kind of register.
pub(super) fn everything() -> Netlist {
    let mut s = Sample::new();
    s.clock();
    let (rst, ce, valid) = (s.input("rst", 1, true), s.input("ce", 1, true), s.input("valid_in", 1, true));
    let clear = s.input("clear", 1, true);
    let port = s.port("model_inp", Direction::In, 30, false);
    let a = s.net("v0", 8, Cell::Input { port, lo: 0 });
    let b = s.net("v1", 8, Cell::Input { port, lo: 8 });
    let c = s.net("v2", 1, Cell::Input { port, lo: 16 });
    let d = s.net("v3", 5, Cell::Input { port, lo: 17 });
    let (wa, wb) = (s.all(a), s.all(b));
    let mut outputs = Vec::new();
    let x = s.wiring(&[bits(b, 2, 3), constant(true, 1), constant(false, 2), repeat(a, 7, 3), constant(false, 80)]);
    outputs.push(s.net("v4", 89, Cell::Alias { x }));
    let long: Vec<Piece> = (0..60).map(|i| bits(a, i % 7, 1 + i % 2)).collect();
    let long = s.wiring(&long);
    outputs.push(s.net("v5", long.width(), Cell::Alias { x: long }));
    outputs.push(s.net("v6", 8, Cell::Add { a: wa, b: wb }));
    let extended = s.wiring(&[bits(a, 0, 8), repeat(a, 7, 2)]);
    let shifted = s.wiring(&[constant(false, 1), bits(b, 0, 8), constant(false, 1)]);
    outputs.push(s.net("v7", 10, Cell::Sub { a: extended, b: shifted }));
    outputs.push(s.net("v8", 8, Cell::Neg { a: wa }));
    let wd = s.all(d);
    outputs.push(s.net("v9", 13, Cell::Mul { a: wa, b: wd, signed: false }));
    outputs.push(s.net("v10", 13, Cell::Mul { a: wa, b: wd, signed: true }));
    outputs.push(s.net("v11", 10, Cell::Mul { a: wa, b: wd, signed: true }));
    outputs.push(s.net("v12", 6, Cell::Mul { a: wa, b: wd, signed: false }));
    let wc = s.all(c);
    let narrow = s.wiring(&[bits(a, 3, 1), constant(true, 1)]);
    outputs.push(s.net("v13", 1, Cell::Mul { a: wa, b: narrow, signed: true }));
    outputs.push(s.net("v14", 8, Cell::Mux { sel: wc, on_true: wa, on_false: wb }));
    let msb = s.wiring(&[bits(b, 7, 1)]);
    outputs.push(s.net("v15", 10, Cell::Mux { sel: msb, on_true: extended, on_false: shifted }));
    outputs.push(s.net("v16", 10, Cell::Not { a: extended }));
    outputs.push(s.net("v17", 10, Cell::And { a: extended, b: shifted }));
    let masked = s.wiring(&[repeat(c, 0, 8)]);
    outputs.push(s.net("v18", 8, Cell::Or { a: masked, b: wb }));
    let constant_one = s.wiring(&[constant(false, 3), constant(true, 17), constant(false, 100), constant(true, 4)]);
    outputs.push(s.net("v19", 124, Cell::Alias { x: constant_one }));
    let bit = s.wiring(&[bits(d, 4, 1)]);
    outputs.push(s.net("v20", 1, Cell::Xor { a: wc, b: bit }));
    outputs.push(s.net("v21", 1, Cell::ReduceOr { a: wa }));
    let wide = s.wiring(&[bits(a, 0, 8), bits(b, 0, 8), bits(d, 1, 3)]);
    outputs.push(s.net("v22", 1, Cell::ReduceAnd { a: wide }));
    outputs.push(s.net("v23", 1, Cell::ReduceAnd { a: wc }));
    let table = s.rom("table_0", 5, 7, (0..20).map(|i| i * 5 % 128).collect());
    let looked = s.net("v24", 7, Cell::Rom { rom: table, addr: wd });
    let small = s.rom("table_1", 1, 1, vec![1]);
    let looked_1 = s.net("v25", 1, Cell::Rom { rom: small, addr: wc });
    let _unread = s.net("v26", 8, Cell::Not { a: wb });
    outputs.push(s.net("v27", 1, Cell::Less { a: wa, b: wb, signed: false }));
    outputs.push(s.net("v28", 1, Cell::Less { a: extended, b: shifted, signed: true }));
    let nine = s.wiring(&[constant(true, 1), constant(false, 2), constant(true, 1), constant(false, 4)]);
    outputs.push(s.net("v29", 1, Cell::Less { a: nine, b: wa, signed: true }));
    outputs.push(s.net("v30", 1, Cell::Less { a: wb, b: nine, signed: false }));
    let third = s.wiring(&[bits(b, 0, 8), repeat(b, 7, 2)]);
    outputs.push(s.net("v31", 10, Cell::Three { a: extended, b: shifted, c: third, minus: [false, true] }));
    let held = s.register("v24_r", looked, None, None, false);
    let enabled = s.register("v25_r", looked_1, Some(ce), None, true);
    let cleared = s.register("v6_r", NetId(outputs[2].0), Some(ce), Some((rst, false)), false);
    let asynchronous = s.register("valid_r", valid, Some(ce), Some((clear, true)), true);
    s.stage = 2;
    let feedback = NetId(s.netlist.nets.len() as u32 + 1);
    let one = s.wiring(&[constant(true, 1), constant(false, 3)]);
    let count = s.wiring(&[bits(feedback, 0, 4)]);
    let next = s.net("count_next", 4, Cell::Add { a: count, b: one });
    let count = s.register("count", next, None, Some((clear, true)), false);
    outputs.extend([held, enabled, cleared, asynchronous, count]);
    let mut driver: Vec<Piece> = outputs.iter().map(|&net| s.whole(net)).collect();
    driver.extend([constant(false, 3), repeat(c, 0, 4)]);
    s.output("model_out", false, &driver);
    let flag = s.whole(asynchronous);
    s.output("valid_out", true, &[flag]);
    s.output("tied", false, &[constant(true, 2)]);
    s.netlist
}
