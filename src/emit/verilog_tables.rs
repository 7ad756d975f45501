//! Tables in pieces, in Verilog: a module for each table, and inside it one for each level of pieces that others read.
//!
//! Synthesisers flatten a module and make wide functions of small ones again, so the inner levels ask to stay modules. The last
//! pieces stand in the table's own module, which does not ask: what reads the word may take them in.

use crate::netlist::Rom;
use crate::netlist::pieces::{Piece, Pieces, Source};
use rustc_hash::FxHashMap;

/// A module of the text.
pub(super) struct TableModule {
    pub(super) name: String,
    /// Whether its boundary is kept.
    pub(super) kept: bool,
    /// Declarations of its ports, with commas.
    pub(super) ports: [String; 2],
    /// What it holds.
    pub(super) lines: Vec<String>,
}

/// The module of a table and those inside it.
pub(super) fn modules(name: &str, rom: &Rom, table: &Pieces) -> Vec<TableModule> {
    let mut writer = Writer { table, spelt: FxHashMap::default(), modules: Vec::new(), lines: Vec::new() };
    writer.unread(rom);
    for level in 1..=table.inner_levels() {
        writer.level(name, level);
    }
    writer.outer();
    let mut bits: Vec<String> = table.bits.iter().map(|&bit| writer.source(bit)).collect();
    bits.reverse();
    writer.lines.push(format!("assign word = {{{}}};", bits.join(", ")));
    let Writer { mut modules, lines, .. } = writer;
    modules.push(TableModule {
        name: name.to_owned(),
        kept: false,
        ports: [port("input ", rom.addr_width, "address,"), port("output", rom.word_width, "word")],
        lines,
    });
    modules
}

fn port(direction: &str, width: u32, name: &str) -> String {
    format!("{direction} wire [{}:0] {name}", width - 1)
}

struct Writer<'a> {
    table: &'a Pieces,
    /// How pieces are called in the table's module.
    spelt: FxHashMap<u32, String>,
    modules: Vec<TableModule>,
    /// Of the table's module.
    lines: Vec<String>,
}

impl Writer<'_> {
    fn source(&self, source: Source) -> String {
        match source {
            Source::Constant(one) => format!("1'b{}", u8::from(one)),
            Source::Address(bit) => format!("address[{bit}]"),
            Source::Piece(piece) => self.spelt[&piece].clone(),
        }
    }

    /// Bits of the address on which no bit of the word depends.
    fn unread(&mut self, rom: &Rom) {
        let all = || self.table.pieces.iter().flat_map(|piece| &piece.inputs).chain(&self.table.bits);
        let is_read = |bit: u32| all().any(|&source| source == Source::Address(bit));
        let unread: Vec<String> =
            (0..rom.addr_width).filter(|&bit| !is_read(bit)).map(|bit| format!(", address[{bit}]")).collect();
        if !unread.is_empty() {
            self.lines.push(format!("wire unused_bits = &{{1'b0{}}};", unread.concat()));
        }
    }

    fn of_level(&self, level: u32) -> impl Iterator<Item = (u32, &Piece)> {
        (0..).zip(&self.table.pieces).filter(move |(_, piece)| piece.inner && piece.level == level)
    }

    /// The module of a level, and its instance.
    fn level(&mut self, name: &str, level: u32) {
        let mut sources: Vec<Source> = Vec::new();
        let (mut lines, mut numbers) = (Vec::new(), Vec::new());
        for (index, (number, piece)) in self.of_level(level).enumerate() {
            let mut inputs = Vec::new();
            for &input in &piece.inputs {
                let at = sources.iter().position(|&source| source == input).unwrap_or_else(|| {
                    sources.push(input);
                    sources.len() - 1
                });
                inputs.push(format!("x[{at}]"));
            }
            lines.push(constant(index, piece));
            lines.push(format!("assign y[{index}] = {};", read(index, inputs)));
            numbers.push(number);
        }
        let mut inputs: Vec<String> = sources.iter().map(|&source| self.source(source)).collect();
        inputs.reverse();
        let count = numbers.len() as u32;
        let module = format!("{name}_level_{level}");
        self.lines.push(format!("wire [{}:0] level_{level};", count - 1));
        self.lines.push(format!("{module} u_level_{level} (.x({{{}}}), .y(level_{level}));", inputs.join(", ")));
        let ports = [port("input ", sources.len() as u32, "x,"), port("output", count, "y")];
        self.modules.push(TableModule { name: module, kept: true, ports, lines });
        for (index, number) in numbers.into_iter().enumerate() {
            self.spelt.insert(number, format!("level_{level}[{index}]"));
        }
    }

    /// The pieces that no other reads.
    fn outer(&mut self) {
        for (number, piece) in (0..).zip(&self.table.pieces).filter(|(_, piece)| !piece.inner) {
            let index = number as usize;
            let inputs = piece.inputs.iter().map(|&input| self.source(input)).collect();
            self.lines.push(constant(index, piece));
            self.lines.push(format!("wire p{index} = {};", read(index, inputs)));
            self.spelt.insert(number, format!("p{index}"));
        }
    }
}

/// The values of a piece, as a vector.
fn constant(index: usize, piece: &Piece) -> String {
    let values = 1u32 << piece.inputs.len();
    let used = if values == 64 { piece.table } else { piece.table & ((1 << values) - 1) };
    format!("wire [{}:0] t{index} = {values}'h{used:0digits$x};", values - 1, digits = values.div_ceil(4) as usize)
}

/// The value of a piece.
fn read(index: usize, mut inputs: Vec<String>) -> String {
    inputs.reverse();
    format!("t{index}[{{{}}}]", inputs.join(", "))
}
