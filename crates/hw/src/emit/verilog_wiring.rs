//! Wiring in Verilog and SystemVerilog: names, selects, constants and concatenations.

use super::context::Context;
use super::line::Line;
use super::shared::{Constant, Item, Items};
use crate::netlist::{NetId, Piece};

/// Writes bits of an object of `width` bits: its name, a bit select, or a part select.
pub(super) fn select(line: &mut Line<'_>, name: &str, width: u32, lo: u32, taken: u32) {
    line.push(name);
    if taken == width {
        return;
    }
    line.push("[");
    if taken > 1 {
        line.number(lo + taken - 1);
        line.push(":");
    }
    line.number(lo);
    line.push("]");
}

fn net_bits(netlist: &Context<'_>, line: &mut Line<'_>, net: NetId, lo: u32, taken: u32) {
    select(line, netlist.read_name(net), netlist.width(net), lo, taken);
}

/// Writes a constant literal.
fn literal(line: &mut Line<'_>, bits: &Constant<'_>) {
    let width = bits.width();
    match bits.uniform() {
        Some(one) if width == 1 => line.push(if one { "1'b1" } else { "1'b0" }),
        Some(false) if width <= 64 => {
            line.number(width);
            line.push("'d0");
        }
        Some(one) if width > 8 => {
            line.push("{");
            line.number(width);
            line.push("{1'b");
            line.bit(one);
            line.push("}}");
        }
        _ if width <= 8 => {
            line.number(width);
            line.push("'b");
            bits.binary(line);
        }
        _ => {
            line.number(width);
            line.push("'h");
            bits.hex(line);
        }
    }
}

/// Writes non-empty wiring as an operand: one item, or a concatenation.
pub(super) fn operand(netlist: &Context<'_>, line: &mut Line<'_>, pieces: &[Piece]) {
    let braces = Items::are_several(pieces);
    if braces {
        line.push("{");
    }
    for (index, item) in Items::new(pieces).enumerate() {
        if index > 0 {
            line.push(",");
            line.blank();
        }
        match item {
            Item::Bits { net, lo, width } => net_bits(netlist, line, net, lo, width),
            Item::Repeat { net, bit, count } => {
                line.push("{");
                line.number(count);
                line.push("{");
                net_bits(netlist, line, net, bit, 1);
                line.push("}}");
            }
            Item::Const(bits) => literal(line, &bits),
        }
    }
    if braces {
        line.push("}");
    }
}
