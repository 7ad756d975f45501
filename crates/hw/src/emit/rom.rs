//! How each table is written.
//!
//! Logic and "the synthesiser's choice" are a function with one `case`: the form that every vendor's guide knows, and
//! as good as any other under yosys (QoR of six tables as `case`, memory, and constant vectors differ by noise only).
//! Block memory wants an array with initial contents, and a register at the table's output: without one there is no
//! block memory to be had, so such a table stays a function whatever was asked. What is asked of each table is decided
//! by [`crate::device`].

use super::RomStyle;
use crate::device::{Form, Forms};
use crate::netlist::pieces::Pieces;
use crate::netlist::{NetId, Netlist};
use rustc_hash::FxHashSet;

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
    /// Decides it.
    pub(super) fn new(netlist: &Netlist, style: RomStyle) -> Tables {
        let Forms { forms, pieces } = Forms::of(netlist, style);
        let mut taken = FxHashSet::default();
        if forms.contains(&Form::Pieces) {
            let nets = (0..netlist.nets().len() as u32).map(|net| netlist.name(NetId(net)));
            let names = nets.chain(netlist.ports().iter().map(|port| port.name.as_str()));
            let lower = names.chain(netlist.roms().iter().map(|rom| rom.name.as_str())).map(str::to_ascii_lowercase);
            taken = lower.filter(|name| name.starts_with(INSTANCE)).collect();
        }
        Tables { forms, pieces, taken }
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
