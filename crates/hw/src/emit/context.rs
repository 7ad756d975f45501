//! A netlist with what text needs of every net at hand.

use super::attributes::Requests;
use super::plan::scalar_port;
use crate::device::Form;
use crate::netlist::{Cell, NetId, Netlist};
use std::ops::Deref;

/// A netlist, and a small table beside it: names and widths are looked up for every operand of every net, in no order,
/// and would otherwise miss the cache every time.
pub(super) struct Context<'n> {
    netlist: &'n Netlist,
    nets: Vec<Entry<'n>>,
    /// Requests to synthesis.
    pub(super) requests: Requests,
    /// Division of the work.
    pub(super) printing: Printing,
}

/// Division of the work of printing; it leaves no trace in the file.
#[derive(Clone, Copy)]
pub(super) struct Printing {
    /// Threads that render lines at once.
    pub(super) threads: usize,
    /// Nets that a thread renders before it takes more.
    pub(super) chunk: usize,
}

struct Entry<'n> {
    /// The name by which text reads the net.
    name: &'n str,
    width: u32,
    is_scalar_port: bool,
    is_signed: bool,
}

impl<'n> Context<'n> {
    /// `forms`: those of the tables. What a table in pieces makes is connected to a port, which is unsigned.
    pub(super) fn new(netlist: &'n Netlist, requests: Requests, forms: &[Form], printing: Printing) -> Context<'n> {
        let is_port = |cell: Cell| matches!(cell, Cell::Rom { rom, .. } if forms[rom.0 as usize] == Form::Pieces);
        let entry = |(id, net): (u32, &crate::netlist::Net)| {
            let port = scalar_port(netlist, NetId(id));
            let name = port.unwrap_or_else(|| netlist.name(NetId(id)));
            let is_signed = net.signed && port.is_none() && !is_port(net.cell);
            Entry { name, width: net.width, is_scalar_port: port.is_some(), is_signed }
        };
        Context { netlist, nets: (0..).zip(netlist.nets()).map(entry).collect(), requests, printing }
    }

    /// The name by which text reads a net: its own, or that of the scalar port that it is.
    pub(super) fn read_name(&self, net: NetId) -> &'n str {
        self.nets[net.index()].name
    }

    /// Number of bits of a net.
    pub(super) fn width(&self, net: NetId) -> u32 {
        self.nets[net.index()].width
    }

    /// Returns `true` if a net is a number in two's complement.
    pub(super) fn is_signed(&self, net: NetId) -> bool {
        self.nets[net.index()].is_signed
    }

    /// Returns `true` if a net is a scalar input port.
    pub(super) fn is_scalar_port(&self, net: NetId) -> bool {
        self.nets[net.index()].is_scalar_port
    }
}

impl<'n> Deref for Context<'n> {
    type Target = Netlist;

    fn deref(&self) -> &Netlist {
        self.netlist
    }
}
