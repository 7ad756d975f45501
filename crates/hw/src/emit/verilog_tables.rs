//! Code generator for tables in pieces in Verilog.

use super::table_modules::{Bit, Level, LookUp, TableModule, list};
use super::verilog::Verilog;
use super::view::Dialect;

/// Module of a table or of a level.
pub(super) struct VerilogTable(pub(super) TableModule);

impl VerilogTable {
    fn bit(&self, bit: Bit) -> String {
        match bit {
            Bit::Constant(one) => format!("1'b{}", u8::from(one)),
            Bit::Of(vector, bit) => format!("{}[{bit}]", self.0.name_of(vector)),
            Bit::Piece(number) => format!("p{number}"),
        }
    }

    /// Returns the concatenation of bits.
    fn joined(&self, bits: &[Bit]) -> String {
        format!("{{{}}}", list(bits.iter().rev().map(|&bit| self.bit(bit)), ",", 30))
    }

    pub(super) fn ports(&self) -> [String; 2] {
        let [(reads, input), (makes, output)] = [0, 1].map(|i| (self.0.widths[i] - 1, self.0.ports()[i]));
        [format!("input  wire [{reads}:0] {input},"), format!("output wire [{makes}:0] {output}")]
    }

    pub(super) fn has_unread_bits(&self) -> bool {
        !self.0.unread.is_empty()
    }

    /// Returns the reduction of all unread address bits to one bit.
    pub(super) fn unread_bits(&self) -> String {
        let bits = self.0.unread.iter().map(|&bit| self.bit(bit));
        format!("&{{{}}}", list(std::iter::once("1'b0".to_owned()).chain(bits), ",", 30))
    }

    pub(super) fn instance(&self, level: &Level) -> String {
        let Level { number, module, inputs, .. } = level;
        format!("{module} u_level_{number} (.x({}), .y(level_{number}));", self.joined(inputs))
    }

    pub(super) fn values(&self, piece: &LookUp) -> String {
        Verilog::word(piece.width(), piece.values())
    }

    /// Returns the assignment target of a piece.
    pub(super) fn target(&self, piece: &LookUp) -> String {
        if self.0.kept { format!("assign y[{}]", piece.number) } else { format!("wire p{}", piece.number) }
    }

    pub(super) fn index(&self, piece: &LookUp) -> String {
        self.joined(&piece.inputs)
    }

    pub(super) fn word(&self) -> String {
        self.joined(&self.0.word)
    }
}
