//! How each table is written.
//!
//! Logic and "the synthesiser's choice" are a function with one `case`: the form that every vendor's guide knows, and as
//! good as any other under yosys (QoR of six tables as `case`, memory, and constant vectors differ by noise only). Block memory
//! wants an array with initial contents, and a register at the table's output: without one there is no block memory to be had,
//! so such a table stays a function whatever was asked.

use super::RomStyle;
use crate::netlist::{Cell, Netlist, Piece, Rom};

/// The form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A function; the synthesiser decides.
    Function,
    /// A function; readers carry attributes that ask for logic.
    LogicFunction,
    /// An array with attributes that ask for block memory.
    Memory,
}

/// The form of each table of `netlist`.
pub(super) fn forms(netlist: &Netlist, style: RomStyle) -> Vec<Form> {
    match style {
        RomStyle::Auto => vec![Form::Function; netlist.roms().len()],
        RomStyle::Logic => vec![Form::LogicFunction; netlist.roms().len()],
        RomStyle::Block => {
            let registered = registered(netlist);
            let fits = |rom: &Rom| rom.addr_width <= 24 && memory_words(rom) <= 4 * rom.words.len().max(64) as u64;
            let form = |(rom, registered): (&Rom, bool)| {
                if registered && fits(rom) { Form::Memory } else { Form::Function }
            };
            netlist.roms().iter().zip(registered).map(form).collect()
        }
    }
}

/// Words of the array that stands for a table: every address has one.
pub(super) fn memory_words(rom: &Rom) -> u64 {
    1 << rom.addr_width.min(32)
}

/// Tables all of whose readers are followed by nothing but registers.
fn registered(netlist: &Netlist) -> Vec<bool> {
    let mut other_reader = vec![false; netlist.nets().len()];
    for net in netlist.nets() {
        if let Cell::Register { d, .. } = net.cell {
            // The whole word, as it is: anything else puts logic between memory and register.
            if let &[Piece::Bits { net: read, lo: 0, width }] = netlist.pieces(d)
                && netlist.net(read).width == width
            {
                continue;
            }
        }
        net.cell.for_each_operand(|w| {
            super::plan::nets_of(netlist, w).for_each(|read| other_reader[read.index()] = true);
        });
    }
    for driver in netlist.ports().iter().filter_map(|p| p.driver) {
        super::plan::nets_of(netlist, driver).for_each(|read| other_reader[read.index()] = true);
    }
    let mut registered = vec![true; netlist.roms().len()];
    for (id, net) in netlist.nets().iter().enumerate() {
        if let Cell::Rom { rom, .. } = net.cell {
            registered[rom.0 as usize] &= !other_reader[id];
        }
    }
    registered
}
