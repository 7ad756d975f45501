//! Code generator for tables in pieces in VHDL.
//!
//! A piece is an indexed constant, because GHDL 2.0 drops the `others` of a `case` with few choices. `to_01` prevents a
//! simulator warning for every unknown bit. An actual in a port map is a name, as VHDL-1993 requires.

use super::table_modules::{Bit, Level, LookUp, TableModule, Vector, list};
use super::vhdl::{binary, digit};

/// Entity of a table or of a level.
pub(super) struct VhdlTable(pub(super) TableModule);

impl VhdlTable {
    /// Returns one bit as a `std_logic`.
    fn bit(&self, bit: Bit) -> String {
        match bit {
            Bit::Constant(one) => digit(one).to_owned(),
            Bit::Of(vector, bit) => format!("{}({bit})", self.0.name_of(vector)),
            Bit::Piece(number) => format!("p{number}"),
        }
    }

    /// Returns a concatenation of bits of vectors. All parts are slices, so that the result has only one possible type.
    fn joined(&self, bits: &[Bit]) -> String {
        let mut slices: Vec<(Vector, u32, u32)> = Vec::new();
        for &bit in bits.iter().rev() {
            let Bit::Of(vector, bit) = bit else { unreachable!("look-up tables read vectors") };
            match slices.last_mut() {
                Some((last, _, low)) if *last == vector && *low == bit + 1 => *low = bit,
                _ => slices.push((vector, bit, bit)),
            }
        }
        let slice = |(vector, high, low)| format!("{}({high} downto {low})", self.0.name_of(vector));
        list(slices.into_iter().map(slice), " &", 40)
    }

    pub(super) fn ports(&self) -> [String; 2] {
        let [(reads, input), (makes, output)] = [0, 1].map(|i| (self.0.widths[i] - 1, self.0.ports()[i]));
        [format!("{input} : in  unsigned({reads} downto 0);"), format!("{output} : out unsigned({makes} downto 0)")]
    }

    pub(super) fn inputs(&self, level: &Level) -> String {
        self.joined(&level.inputs)
    }

    pub(super) fn values(&self, piece: &LookUp) -> String {
        match piece.width() {
            2 => binary(2, piece.values()),
            width => format!("x\"{:0digits$x}\"", piece.values(), digits = width as usize / 4),
        }
    }

    /// Returns the assignment target of a piece.
    pub(super) fn target(&self, piece: &LookUp) -> String {
        if self.0.kept { format!("y({})", piece.number) } else { format!("p{}", piece.number) }
    }

    pub(super) fn index(&self, piece: &LookUp) -> String {
        format!("to_integer(to_01({}))", self.joined(&piece.inputs))
    }

    /// Returns the bits of a word, lowest first.
    pub(super) fn word(&self) -> impl Iterator<Item = String> {
        self.0.word.iter().map(|&bit| self.bit(bit))
    }
}
