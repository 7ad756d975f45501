//! Tables in pieces, for every language: a module for each table, and inside it one for each level of pieces that
//! others read.
//!
//! Synthesisers flatten a module and rebuild wide functions from small ones, so the inner levels have an attribute that
//! keeps them as modules. The last pieces are in the table's own module, which has no such attribute: logic that reads
//! the word may absorb them.

use super::line::Line;
use crate::netlist::pieces::{Pieces, Source};
use crate::netlist::{Netlist, Rom};
use rustc_hash::FxHashMap;

/// A module in the generated HDL.
pub(super) struct TableModule {
    pub(super) name: String,
    /// `true` if the boundary is kept: the module holds a level of a table. Otherwise it is the table's own module.
    pub(super) kept: bool,
    /// Bits of what it reads and of what it makes.
    pub(super) widths: [u32; 2],
    /// The modules inside.
    pub(super) levels: Vec<Level>,
    /// Its pieces; in the module of a level, each makes the bit of its number.
    pub(super) pieces: Vec<LookUp>,
    /// The bits of a word, the lowest first.
    pub(super) word: Vec<Bit>,
    /// Bits of the address that nothing reads.
    pub(super) unread: Vec<Bit>,
}

/// A level, as the table's own module sees it.
pub(super) struct Level {
    /// From 1 up.
    pub(super) number: u32,
    /// The module that holds it.
    pub(super) module: String,
    /// Input bits, the lowest first.
    pub(super) inputs: Vec<Bit>,
    /// Bits that it makes.
    pub(super) width: u32,
}

/// A piece: a constant vector, and one bit of it.
pub(super) struct LookUp {
    pub(super) number: u32,
    /// The vector, repeated up to 64 bits.
    values: u64,
    /// The bits of its index, the lowest first.
    pub(super) inputs: Vec<Bit>,
}

/// A bit in a [`TableModule`].
#[derive(Clone, Copy)]
pub(super) enum Bit {
    Constant(bool),
    /// A bit of a vector.
    Of(Vector, u32),
    /// Output of a piece of the table's own module.
    Piece(u32),
}

/// A vector in a [`TableModule`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vector {
    /// Input of the module.
    Input,
    /// Output of a level.
    Level(u32),
}

/// The name of the module that holds a table in pieces.
pub(super) fn module_name(netlist: &Netlist, rom: &Rom) -> String {
    format!("{}_{}", netlist.interface.top, rom.name)
}

/// Returns the modules of all tables in pieces, each after its submodules.
pub(super) fn modules(netlist: &Netlist, pieces: &[Option<Pieces>]) -> Vec<TableModule> {
    let in_pieces = netlist.roms().iter().zip(pieces).filter_map(|(rom, pieces)| Some((rom, pieces.as_ref()?)));
    in_pieces.flat_map(|(rom, pieces)| table_modules_of(module_name(netlist, rom), rom, pieces)).collect()
}

/// Returns the module of a table after its submodules.
fn table_modules_of(name: String, rom: &Rom, table: &Pieces) -> Vec<TableModule> {
    let mut maker = Maker { table, made: FxHashMap::default(), modules: Vec::new(), levels: Vec::new() };
    for level in 1..=table.inner_levels() {
        maker.level(&name, level);
    }
    let pieces = maker.outer();
    let word = table.bits.iter().map(|&bit| maker.bit(bit)).collect();
    let Maker { mut modules, levels, .. } = maker;
    let widths = [rom.addr_width, rom.word_width];
    let unread = unread(rom, table);
    modules.push(TableModule { name, kept: false, widths, levels, pieces, word, unread });
    modules
}

/// Bits of the address on which no bit of the word depends.
fn unread(rom: &Rom, table: &Pieces) -> Vec<Bit> {
    let all = || table.pieces.iter().flat_map(|piece| &piece.inputs).chain(&table.bits);
    let is_read = |bit: u32| all().any(|&source| source == Source::Address(bit));
    (0..rom.addr_width).filter(|&bit| !is_read(bit)).map(|bit| Bit::Of(Vector::Input, bit)).collect()
}

struct Maker<'a> {
    table: &'a Pieces,
    /// Names in the table's module of the pieces created so far.
    made: FxHashMap<u32, Bit>,
    modules: Vec<TableModule>,
    levels: Vec<Level>,
}

impl Maker<'_> {
    /// Returns the name of a source in the table's module.
    fn bit(&self, source: Source) -> Bit {
        match source {
            Source::Constant(one) => Bit::Constant(one),
            Source::Address(bit) => Bit::Of(Vector::Input, bit),
            Source::Piece(piece) => self.made[&piece],
        }
    }

    /// The module of a level.
    fn level(&mut self, name: &str, level: u32) {
        let mut sources: Vec<Source> = Vec::new();
        let mut pieces = Vec::new();
        let of_level = (0..).zip(&self.table.pieces).filter(|(_, piece)| piece.inner && piece.level == level);
        for (bit, (number, piece)) in (0..).zip(of_level) {
            let mut inputs = Vec::new();
            for &input in &piece.inputs {
                let at = sources.iter().position(|&source| source == input).unwrap_or_else(|| {
                    sources.push(input);
                    sources.len() - 1
                });
                inputs.push(Bit::Of(Vector::Input, at as u32));
            }
            pieces.push(LookUp { number: bit, values: piece.table, inputs });
            self.made.insert(number, Bit::Of(Vector::Level(level), bit));
        }
        let inputs: Vec<Bit> = sources.iter().map(|&source| self.bit(source)).collect();
        let (module, width) = (format!("{name}_level_{level}"), pieces.len() as u32);
        self.modules.push(TableModule {
            name: module.clone(),
            kept: true,
            widths: [inputs.len() as u32, width],
            levels: Vec::new(),
            pieces,
            word: Vec::new(),
            unread: Vec::new(),
        });
        self.levels.push(Level { number: level, module, inputs, width });
    }

    /// The pieces that no other reads.
    fn outer(&mut self) -> Vec<LookUp> {
        let mut pieces = Vec::new();
        for (number, piece) in (0..).zip(&self.table.pieces).filter(|(_, piece)| !piece.inner) {
            let inputs = piece.inputs.iter().map(|&input| self.bit(input)).collect();
            pieces.push(LookUp { number, values: piece.table, inputs });
            self.made.insert(number, Bit::Piece(number));
        }
        pieces
    }
}

impl TableModule {
    /// Returns the names of the two ports.
    pub(super) fn ports(&self) -> [&'static str; 2] {
        if self.kept { ["x", "y"] } else { ["address", "word"] }
    }

    /// Returns the name of a vector.
    pub(super) fn name_of(&self, vector: Vector) -> String {
        match vector {
            Vector::Input => self.ports()[0].to_owned(),
            Vector::Level(level) => format!("level_{level}"),
        }
    }
}

impl LookUp {
    /// Bits of the vector.
    pub(super) fn width(&self) -> u32 {
        1 << self.inputs.len()
    }

    /// The vector.
    pub(super) fn values(&self) -> u64 {
        self.values & u64::MAX >> (64 - self.width())
    }
}

/// Joins list items with `between`, beginning at about `column`, broken into lines.
pub(super) fn list(items: impl IntoIterator<Item = String>, between: &str, column: usize) -> String {
    let mut text = String::new();
    let mut line = Line::new(&mut text, column);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            line.push(between);
            line.blank();
        }
        line.push(&item);
    }
    text
}
