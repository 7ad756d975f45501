//! Modules of tables in pieces, independent of the language. Each table has a module. Inside it there is a module for
//! each level of pieces that other pieces read.
//!
//! Synthesis tools flatten modules and combine small functions into wide ones, so the modules of levels have an
//! attribute that keeps their hierarchy. Pieces that no other piece reads are in the module of the table, which has no
//! such attribute: logic that reads the word may absorb these pieces.

use super::line::Line;
use crate::netlist::pieces::{Pieces, Source};
use crate::netlist::{Netlist, Rom};
use rustc_hash::FxHashMap;

/// A module in the generated HDL.
pub(super) struct TableModule {
    pub(super) name: String,
    /// `true` if the hierarchy of the module is kept, for the module of a level; `false` for the module of a table.
    pub(super) kept: bool,
    /// Widths in bits of the input port and of the output port.
    pub(super) widths: [u32; 2],
    /// Instances of the modules of levels.
    pub(super) levels: Vec<Level>,
    /// Pieces of the module. In the module of a level, the number of a piece is its bit of the output.
    pub(super) pieces: Vec<LookUp>,
    /// Bits of the word, lowest first.
    pub(super) word: Vec<Bit>,
    /// Address bits that are never read.
    pub(super) unread: Vec<Bit>,
}

/// Instance of the module of a level inside the module of a table.
pub(super) struct Level {
    /// Number of the level, from 1.
    pub(super) number: u32,
    /// Name of the module of the level.
    pub(super) module: String,
    /// Input bits, lowest first.
    pub(super) inputs: Vec<Bit>,
    /// Number of output bits.
    pub(super) width: u32,
}

/// A piece: a constant vector that is indexed by some bits.
pub(super) struct LookUp {
    pub(super) number: u32,
    /// Bits of the vector, repeated to fill 64 bits.
    values: u64,
    /// Bits of the index, lowest first.
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

/// Returns the name of the module of a table in pieces.
pub(super) fn module_name(netlist: &Netlist, rom: &Rom) -> String {
    format!("{}_{}", netlist.interface.top, rom.name)
}

/// Returns the modules of all tables in pieces. Each module comes after the modules that it instantiates.
pub(super) fn modules(netlist: &Netlist, pieces: &[Option<Pieces>]) -> Vec<TableModule> {
    let in_pieces = netlist.roms().iter().zip(pieces).filter_map(|(rom, pieces)| Some((rom, pieces.as_ref()?)));
    in_pieces.flat_map(|(rom, pieces)| table_modules_of(module_name(netlist, rom), rom, pieces)).collect()
}

/// Returns the modules of a table, with the modules of its levels before the module of the table.
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

/// Returns the address bits on which no bit of the word depends.
fn unread(rom: &Rom, table: &Pieces) -> Vec<Bit> {
    let all = || table.pieces.iter().flat_map(|piece| &piece.inputs).chain(&table.bits);
    let is_read = |bit: u32| all().any(|&source| source == Source::Address(bit));
    (0..rom.addr_width).filter(|&bit| !is_read(bit)).map(|bit| Bit::Of(Vector::Input, bit)).collect()
}

struct Maker<'a> {
    table: &'a Pieces,
    /// Bit of the table's module that each piece drives, for the pieces created so far.
    made: FxHashMap<u32, Bit>,
    modules: Vec<TableModule>,
    levels: Vec<Level>,
}

impl Maker<'_> {
    /// Returns the bit of the table's module that a source drives.
    fn bit(&self, source: Source) -> Bit {
        match source {
            Source::Constant(one) => Bit::Constant(one),
            Source::Address(bit) => Bit::Of(Vector::Input, bit),
            Source::Piece(piece) => self.made[&piece],
        }
    }

    /// Adds the module of a level.
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

    /// Returns the pieces that no other piece reads.
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
    /// Returns the number of bits of the vector.
    pub(super) fn width(&self) -> u32 {
        1 << self.inputs.len()
    }

    /// Returns the bits of the vector.
    pub(super) fn values(&self) -> u64 {
        self.values & u64::MAX >> (64 - self.width())
    }
}

/// Returns list items joined with `between` and broken into lines; the text begins at about `column`.
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
