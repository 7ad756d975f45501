//! A netlist with a cache of the net properties that code generators need most often.

use super::attributes::Requests;
use super::plan::scalar_port;
use crate::device::Form;
use crate::netlist::{Cell, NetId, Netlist};
use std::ops::Deref;

/// A netlist and a compact table of its nets. Names and widths are looked up for every operand of every net, in random
/// order; each look-up in the netlist itself would miss the processor's cache.
pub(super) struct Context<'n> {
    netlist: &'n Netlist,
    nets: Vec<Entry<'n>>,
    /// Attributes requested from synthesis.
    pub(super) requests: Requests,
    /// Numbers of threads and nets for rendering.
    pub(super) printing: Printing,
}

/// Numbers of threads and nets for rendering. They do not affect the generated file.
#[derive(Clone, Copy)]
pub(super) struct Printing {
    /// Number of threads that render lines.
    pub(super) threads: usize,
    /// Number of nets that a thread renders at once.
    pub(super) chunk: usize,
}

struct Entry<'n> {
    /// Name by which expressions read the net.
    name: &'n str,
    width: u32,
    is_scalar_port: bool,
    is_signed: bool,
}

impl<'n> Context<'n> {
    /// Creates a context; `forms` contains the implementation of each table. A net that reads a table in pieces is
    /// connected to a port, and therefore unsigned.
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

    /// Returns the name by which expressions read a net: the name of the scalar port if the net is one, otherwise its
    /// own name.
    pub(super) fn read_name(&self, net: NetId) -> &'n str {
        self.nets[net.index()].name
    }

    /// Returns the number of bits of a net.
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
