//! Forms of look-up tables in RTL files.
//!
//! Logic and "the synthesiser's choice" are a function with one `case`: the form that every vendor's guide knows, and
//! as good as any other under yosys (QoR of six tables as `case`, memory, and constant vectors differ by noise only).
//! BRAM needs a register at the table's output: without one no BRAM is inferred, so such a table stays logic regardless
//! of the request. In Verilog a BRAM with one read port is a `case` too, the ROM template of Vivado (UG901, "ROM HDL
//! Coding Techniques") and Quartus ("Inferring ROM Functions from HDL Code"): yosys reads it in linear time, where an
//! `initial` block takes the square of its words. A memory that several lookups read is an array, which makes them
//! ports of one memory; its contents are in `initial` blocks of [`BLOCK_WORDS`] words for the same reason. In VHDL a
//! BRAM is an array constant. [`crate::device`] decides on the request for each table.

use super::RomStyle;
use crate::device::{Form, Forms};
use crate::netlist::pieces::Pieces;
use crate::netlist::{Cell, NetId, Netlist};
use rustc_hash::FxHashSet;

/// Implementation of the tables of a netlist in HDL.
pub(super) struct Tables {
    /// The form of each.
    pub(super) forms: Vec<Form>,
    /// `true` for each table that is an array.
    pub(super) arrays: Vec<bool>,
    /// Decompositions of the tables that are in pieces.
    pub(super) pieces: Vec<Option<Pieces>>,
    /// Names that instances cannot have, in lower case.
    taken: FxHashSet<String>,
}

/// Words of a memory in one `initial` block of Verilog.
pub(super) const BLOCK_WORDS: usize = 64;

/// BRAMs that are written as arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrays {
    /// All.
    Every,
    /// BRAMs that several lookups read.
    Shared,
}

/// Begins the name of an instance.
const INSTANCE: &str = "u_";

impl Tables {
    /// Decides it.
    pub(super) fn new(netlist: &Netlist, style: RomStyle, which: Arrays) -> Tables {
        let Forms { forms, pieces } = Forms::new(netlist, style);
        let mut lookups = vec![0usize; forms.len()];
        for net in netlist.nets() {
            if let Cell::Rom { rom, .. } = net.cell {
                lookups[rom.0 as usize] += 1;
            }
        }
        let is_array =
            |(form, &lookups): (&Form, &usize)| *form == Form::Memory && (which == Arrays::Every || lookups > 1);
        let arrays = forms.iter().zip(&lookups).map(is_array).collect();
        let mut taken = FxHashSet::default();
        if forms.contains(&Form::Pieces) {
            let nets = (0..netlist.nets().len() as u32).map(|net| netlist.name(NetId(net)));
            let names = nets.chain(netlist.ports().iter().map(|port| port.name.as_str()));
            let lower = names.chain(netlist.roms().iter().map(|rom| rom.name.as_str())).map(str::to_ascii_lowercase);
            taken = lower.filter(|name| name.starts_with(INSTANCE)).collect();
        }
        Tables { forms, arrays, pieces, taken }
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
