//! Implementation of each look-up table of a netlist: logic, logic in pieces, or BRAM.
//!
//! With [`TableStyle::ByCost`], a table gets the implementation with the smallest share of the device. The cost is a
//! number of LUTs: logic costs the LUTs of its cover, each piece ([`crate::netlist::pieces`]) costs one LUT, and a BRAM
//! costs the ratio of LUTs to BRAMs of the device. Distributed memory is not an option: it needs one LUT for each 2^n
//! words of a bit (n is the number of LUT inputs), which is logic without minimisation. A BRAM needs and absorbs
//! registers directly after the table, at a stage boundary; a table without such registers stays logic.

use super::count::{tables as counted, total};
use super::cover::cover;
use super::forms::{Form, Forms};
use super::gates::{Gates, LARGE_TABLE};
use super::{Device, Technology};
use crate::netlist::pieces::{self, Pieces};
use crate::netlist::{Cell, Netlist, Piece, Rom, Wiring};

/// Requested implementation of look-up tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableStyle {
    /// The synthesis tool decides.
    #[default]
    Auto,
    /// Logic (LUTs).
    Logic,
    /// BRAM if only registers read the table, otherwise logic.
    Block,
    /// Logic, decomposed by a search into functions of one LUT each. Modules with an attribute keep the hierarchy of
    /// the pieces.
    Pieces {
        /// Number of inputs of a LUT.
        table_inputs: u32,
    },
    /// BRAM where it costs less than logic on the device; elsewhere the synthesis tool decides.
    ByCost {
        /// The device.
        device: Device,
    },
}

impl Forms {
    /// Decides on the implementation of each look-up table of `netlist`.
    pub(crate) fn new(netlist: &Netlist, style: TableStyle) -> Forms {
        let registered = match style {
            TableStyle::Block | TableStyle::ByCost { .. } => registered(netlist),
            TableStyle::Auto | TableStyle::Logic | TableStyle::Pieces { .. } => vec![false; netlist.roms().len()],
        };
        let mut all = Forms::default();
        for (rom, registered) in netlist.roms().iter().zip(registered) {
            let memory = registered
                && rom.is_table
                && rom.addr_width <= 24
                && memory_words(rom) <= 4 * rom.words.len().max(64) as u64;
            let mut taken_apart = None;
            all.forms.push(match style {
                TableStyle::Block if memory => Form::Memory,
                TableStyle::ByCost { device } if memory && block_is_cheaper(rom, device.technology()) => Form::Memory,
                TableStyle::Auto | TableStyle::Block | TableStyle::ByCost { .. } => Form::Function,
                TableStyle::Pieces { table_inputs }
                    if (table_inputs + 1..=pieces::MOST_ADDRESS_BITS).contains(&rom.addr_width) =>
                {
                    taken_apart = Some(Pieces::new(rom, table_inputs));
                    Form::Pieces
                }
                TableStyle::Logic | TableStyle::Pieces { .. } => Form::LogicFunction,
            });
            all.pieces.push(taken_apart);
        }
        all
    }
}

/// Returns the number of words of the array that implements a table: one for each address.
pub(crate) fn memory_words(rom: &Rom) -> u64 {
    1 << rom.addr_width.min(32)
}

/// Returns the number of BRAMs of a table.
pub(super) fn memories(rom: &Rom, technology: &Technology) -> u64 {
    (u64::from(rom.word_width) << rom.addr_width.min(40)).div_ceil(technology.memory)
}

/// Returns `true` if the BRAMs of a table are a smaller share of the device than its logic.
fn block_is_cheaper(rom: &Rom, technology: &Technology) -> bool {
    let blocks = (memories(rom, technology) * technology.tables_per_memory) as f64;
    // A table needs at most one LUT for each 8 words of a bit.
    let most = rom.word_width as f64 * (rom.words.len() as f64 / 8.0).max(1.0);
    if most <= blocks {
        return false;
    }
    if (u64::from(rom.word_width) << rom.addr_width.min(40)) > LARGE_TABLE {
        return true;
    }
    let gates = Gates::from_table(rom, technology);
    let cover = cover(&gates, &gates.ends, technology);
    total(&counted(&gates, &cover, technology), technology) > blocks
}

/// Returns for each table `true` if only registers read its words.
fn registered(netlist: &Netlist) -> Vec<bool> {
    let mut other_reader = vec![false; netlist.nets().len()];
    let mut read = |wiring: Wiring| {
        netlist.pieces(wiring).iter().filter_map(|piece| piece.net()).for_each(|net| other_reader[net.index()] = true);
    };
    for net in netlist.nets() {
        if let Cell::Register { d, .. } = net.cell {
            // The register must store the whole word unchanged; any other wiring may put logic between memory and
            // register.
            if let &[Piece::Bits { net: read, lo: 0, width }] = netlist.pieces(d)
                && netlist.net(read).width == width
            {
                continue;
            }
        }
        net.cell.for_each_operand(&mut read);
    }
    netlist.ports().iter().filter_map(|port| port.driver).for_each(&mut read);
    let mut registered = vec![true; netlist.roms().len()];
    for (net, other) in netlist.nets().iter().zip(other_reader) {
        if let Cell::Rom { rom, .. } = net.cell {
            registered[rom.0 as usize] &= !other;
        }
    }
    registered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlist::{self, Options};
    use alir_core::num::SplitMix;
    use alir_opt::schedule::{self, Schedule};

    /// Returns the implementation by cost of a table of random words, in the middle of a pipeline or without registers.
    fn form(address: u32, width: u32, registered: bool, device: Device) -> Form {
        use alir_core::ir::{Builder, Op, Output, Table};
        use alir_core::num::{Code, Interval};
        let mut rng = SplitMix::new(1);
        let mut builder = Builder::new(vec![0]);
        let x = builder.op(Op::Input { input: 0 }, Interval::new(0, (1 << address) - 1, 0));
        let out = Interval::new(0, (1 << width) - 1, 0);
        let entries = (0..1 << address).map(|_| rng.below(1 << width) as i32).collect();
        let table = builder.table(Table { entries, out: out.clone(), hash: String::new(), inp_width: 0 });
        let word = builder.op(Op::Lookup { x, table, base: Code::from(0) }, out);
        builder.output(Output { source: Some(word), shift: 0, neg: false });
        let model = builder.finish().expect("a valid program");
        let schedule = match registered {
            true => schedule::random(&model, 1, false, 1),
            false => Schedule::combinational(model.nodes().len()),
        };
        let netlist = netlist::lower(&model, &schedule, &Options::default());
        Forms::new(&netlist, TableStyle::ByCost { device }).forms[0]
    }

    #[test]
    fn a_large_table_before_a_register_is_a_block_memory() {
        let device = Device::Xcku5p;
        // Logic needs about 2^(address - 6) LUTs for each bit; a BRAM costs 452.
        assert_eq!(form(12, 9, true, device), Form::Memory);
        assert_eq!(form(12, 9, false, device), Form::Function, "no register to take in");
        assert_eq!(form(9, 9, true, device), Form::Function, "less logic than a memory is worth");
        // Four-input LUTs: four times as many LUTs; a BRAM costs 402.
        assert_eq!(form(10, 12, true, Device::Ecp5), Form::Memory);
        assert_eq!(form(10, 12, true, device), Form::Function);
    }
}
