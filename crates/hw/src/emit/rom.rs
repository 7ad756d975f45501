//! Implementations of look-up tables in RTL files.
//!
//! For logic and for "the synthesis tool decides", a table is a function with a single `case`. Every vendor's guide
//! describes this format, and yosys gives the same results for a `case`, a memory and constant vectors (the differences
//! for six tables are noise). BRAM is only inferred with a register at the output of the table; without one, the table
//! stays logic regardless of the request. In Verilog, a BRAM with one read port is a `case`, too: the ROM template of
//! Vivado (UG901, "ROM HDL Coding Techniques") and Quartus ("Inferring ROM Functions from HDL Code"). Yosys reads a
//! `case` in linear time, and an `initial` block in time quadratic in its number of words. A memory that several
//! lookups read is an array, so that the lookups are ports of one memory. For the reason above, its contents are in
//! `initial` blocks of [`BLOCK_WORDS`] words. In VHDL a BRAM is an array constant. [`crate::device`] decides on the
//! implementation of each table.

use super::RomStyle;
use crate::device::{Form, Forms};
use crate::netlist::pieces::Pieces;
use crate::netlist::{Cell, NetId, Netlist};
use rustc_hash::FxHashSet;

/// Implementation of the tables of a netlist in HDL.
pub(super) struct Tables {
    /// Implementation of each table.
    pub(super) forms: Vec<Form>,
    /// `true` for each table that is an array.
    pub(super) arrays: Vec<bool>,
    /// Decomposition of each table in pieces; `None` for other tables.
    pub(super) pieces: Vec<Option<Pieces>>,
    /// Names of nets, ports and tables that begin with the prefix of instances, in lower case.
    taken: FxHashSet<String>,
}

/// Number of words in one `initial` block of Verilog.
pub(super) const BLOCK_WORDS: usize = 64;

/// BRAMs that are written as arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrays {
    /// All BRAMs.
    Every,
    /// BRAMs that several lookups read.
    Shared,
}

/// Prefix of the names of instances.
const INSTANCE: &str = "u_";

impl Tables {
    /// Decides on the implementation of each table.
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

    /// Returns a unique name for the instance that drives a net.
    pub(super) fn instance(&self, net: &str) -> String {
        let mut name = format!("{INSTANCE}{net}");
        while self.taken.contains(&name.to_ascii_lowercase()) {
            name.push_str("_i");
        }
        name
    }
}
