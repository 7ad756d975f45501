//! How each table is written.
//!
//! Logic and "the synthesiser's choice" are a function with one `case`: the form that every vendor's guide knows, and as
//! good as any other under yosys (QoR of six tables as `case`, memory, and constant vectors differ by noise only). Block memory
//! wants an array with initial contents, and a register at the table's output: without one there is no block memory to be had,
//! so such a table stays a function whatever was asked.

use super::RomStyle;
use super::pieces::{self, Pieces};
use crate::netlist::{Cell, NetId, Netlist, Piece, Rom};
use rustc_hash::FxHashSet;

/// The form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A function; the synthesiser decides.
    Function,
    /// A function; readers carry attributes that ask for logic.
    LogicFunction,
    /// An array with attributes that ask for block memory.
    Memory,
    /// A module that holds it in pieces.
    Pieces,
}

/// How the tables of a netlist are written.
pub(super) struct Tables {
    /// The form of each.
    pub(super) forms: Vec<Form>,
    /// Those in pieces.
    pub(super) pieces: Vec<Option<Pieces>>,
    /// Names that instances cannot have, in lower case.
    taken: FxHashSet<String>,
}

/// Begins the name of an instance.
const INSTANCE: &str = "u_";

impl Tables {
    /// Decides it. `in_pieces`: whether the language can be asked for [`Form::Pieces`].
    pub(super) fn new(netlist: &Netlist, style: RomStyle, in_pieces: bool) -> Tables {
        let mut tables = Tables { forms: Vec::new(), pieces: Vec::new(), taken: FxHashSet::default() };
        let RomStyle::Pieces { table_inputs } = style else {
            tables.forms = forms(netlist, style);
            return tables;
        };
        let fits = |rom: &Rom| in_pieces && (table_inputs + 1..=pieces::MOST_ADDRESS_BITS).contains(&rom.addr_width);
        for rom in netlist.roms() {
            let taken_apart = fits(rom).then(|| Pieces::of(rom, table_inputs));
            tables.forms.push(if taken_apart.is_some() { Form::Pieces } else { Form::LogicFunction });
            tables.pieces.push(taken_apart);
        }
        let nets = (0..netlist.nets().len() as u32).map(|net| netlist.name(NetId(net)));
        let names = nets.chain(netlist.ports().iter().map(|port| port.name.as_str()));
        let lower = names.chain(netlist.roms().iter().map(|rom| rom.name.as_str())).map(str::to_ascii_lowercase);
        tables.taken = lower.filter(|name| name.starts_with(INSTANCE)).collect();
        tables
    }

    /// A name for the instance that makes a net.
    pub(super) fn instance(&self, net: &str) -> String {
        let mut name = format!("{INSTANCE}{net}");
        while self.taken.contains(&name.to_ascii_lowercase()) {
            name.push_str("_i");
        }
        name
    }
}

/// The form of each table of `netlist`.
fn forms(netlist: &Netlist, style: RomStyle) -> Vec<Form> {
    match style {
        RomStyle::Auto => vec![Form::Function; netlist.roms().len()],
        RomStyle::Logic | RomStyle::Pieces { .. } => vec![Form::LogicFunction; netlist.roms().len()],
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
