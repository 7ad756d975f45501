//! Code generator for SystemVerilog-2017 expressions: signals have the sign of their values, and casts change widths.
//!
//! All operands of an operator have the width and the sign of its result: `W'(x)` extends according to the sign of `x`,
//! and `$signed` and `$unsigned` change the sign. A cast after a prefix operator is in parentheses, because yosys 0.23
//! interprets `-8'(x)` as a cast to minus eight bits.

use super::context::Context;
use super::line::Line;
use super::shared::{self, Above, Items, Term};
use super::verilog_wiring as verilog;
use crate::netlist::{Cell, NetId, Piece, RomId, Wiring};

/// Writes the right side of a net's assignment, with the sign of the net. `lookup` returns the brackets around the
/// address of a table.
pub(super) fn expression(
    netlist: &Context<'_>,
    line: &mut Line<'_>,
    net: NetId,
    lookup: impl Fn(RomId) -> (&'static str, &'static str),
) {
    let signed = netlist.is_signed(net);
    let (net, sign) = (netlist.net(net), Some(signed));
    let pieces = |wiring: Wiring| netlist.pieces(wiring);
    match net.cell {
        Cell::Input { port, lo } => converted(line, false, sign, |line| {
            let port = &netlist.ports()[port.0 as usize];
            verilog::select(line, &port.name, port.width, lo, net.width);
        }),
        Cell::Alias { x } | Cell::Register { d: x, .. } => operand(netlist, line, pieces(x), sign),
        Cell::Add { a, b } => infix(netlist, line, " +", [a, b], sign),
        Cell::Sub { a, b } => infix(netlist, line, " -", [a, b], sign),
        Cell::Three { a, b, c, minus } => {
            infix(netlist, line, shared::plus_or_minus(minus[0]), [a, b], sign);
            line.push(shared::plus_or_minus(minus[1]));
            line.blank();
            operand(netlist, line, pieces(c), sign);
        }
        Cell::Neg { a } => prefix(netlist, line, "-", a, sign),
        Cell::Mul { a, b, signed } => converted(line, signed, sign, |line| {
            let [a, b] = [a, b].map(|x| shared::resized(pieces(x), net.width, signed));
            operand(netlist, line, &a, Some(signed));
            line.push(" *");
            line.blank();
            operand(netlist, line, &b, Some(signed));
        }),
        Cell::Less { a, b, signed } => converted(line, false, sign, |line| {
            infix(netlist, line, " <", [a, b], Some(signed));
        }),
        Cell::Mux { sel, on_true, on_false } => {
            operand(netlist, line, pieces(sel), None);
            line.push(" ? ");
            infix(netlist, line, " :", [on_true, on_false], sign);
        }
        Cell::Not { a } => prefix(netlist, line, "~", a, sign),
        Cell::And { a, b } => infix(netlist, line, " &", [a, b], sign),
        Cell::Or { a, b } => infix(netlist, line, " |", [a, b], sign),
        Cell::Xor { a, b } => infix(netlist, line, " ^", [a, b], sign),
        Cell::ReduceOr { a } => converted(line, false, sign, |line| prefix(netlist, line, "|", a, None)),
        Cell::ReduceAnd { a } => converted(line, false, sign, |line| prefix(netlist, line, "&", a, None)),
        Cell::Rom { rom, addr } => converted(line, false, Some(signed), |line| {
            let (open, close) = lookup(rom);
            line.push(&netlist.roms()[rom.0 as usize].name);
            line.push(open);
            operand(netlist, line, pieces(addr), Some(false));
            line.push(close);
        }),
    }
}

/// Writes an expression with the sign `own`, converted to the sign `wanted` unless that is `None`.
fn converted(line: &mut Line<'_>, own: bool, wanted: Option<bool>, write: impl FnOnce(&mut Line<'_>)) {
    let is_converted = wanted.is_some_and(|wanted| wanted != own);
    if is_converted {
        line.push(if own { "$unsigned(" } else { "$signed(" });
    }
    write(line);
    line.push(if is_converted { ")" } else { "" });
}

/// Writes non-empty wiring as an operand, with the sign `wanted` unless that is `None`.
pub(super) fn operand(netlist: &Context<'_>, line: &mut Line<'_>, pieces: &[Piece], wanted: Option<bool>) {
    if let Some(term) = Term::new(netlist, pieces, wanted) {
        return converted(line, term_sign(netlist, &term), wanted, |line| write_term(netlist, line, &term));
    }
    if wanted == Some(true)
        && let Some(number) = small_number(pieces)
    {
        line.number(pieces.iter().map(|piece| piece.width()).sum());
        line.push("'sd");
        return line.number(number);
    }
    converted(line, false, wanted, |line| verilog::operand(netlist, line, pieces));
}

/// Writes non-empty wiring as an unsigned expression that can be connected to a port.
///
/// A whole signed net is written as a range, because yosys 0.23 fails with an assertion on `$unsigned(x)` and `{x}`.
pub(super) fn address(netlist: &Context<'_>, line: &mut Line<'_>, pieces: &[Piece]) {
    let is_signed_net = |term: &Term| term.is_plain() && term.width > 1 && term_sign(netlist, term);
    let Some(term) = Term::new(netlist, pieces, None).filter(is_signed_net) else {
        return operand(netlist, line, pieces, Some(false));
    };
    line.push(netlist.read_name(term.net));
    line.push("[");
    line.number(term.width - 1);
    line.push(":0]");
}

/// Returns the value of a constant if its highest bit is 0 and its value fits into 31 bits, otherwise `None`.
fn small_number(pieces: &[Piece]) -> Option<u32> {
    let (mut value, mut at) = (0, 0);
    for piece in pieces {
        let Piece::Const { one, width } = *piece else { return None };
        if one && at + width > 31 {
            return None;
        }
        value |= if one { ((1u32 << width) - 1) << at } else { 0 };
        at += width;
    }
    let is_positive = matches!(pieces.last(), Some(Piece::Const { one: false, .. }));
    is_positive.then_some(value)
}

/// Returns `true` if [`write_term`] writes a term as a signed expression.
fn term_sign(netlist: &Context<'_>, term: &Term) -> bool {
    match term.above {
        Above::Sign => true,
        Above::Zero => false,
        Above::Nothing => term.taken == netlist.width(term.net) && netlist.is_signed(term.net),
    }
}

fn write_term(netlist: &Context<'_>, line: &mut Line<'_>, term: &Term) {
    let Term { net, lo, taken, shift, above, width } = *term;
    let (name, own) = (netlist.read_name(net), netlist.is_signed(net));
    if term.is_plain() {
        return verilog::select(line, name, netlist.width(net), lo, taken);
    }
    line.push(if shift > 0 { "(" } else { "" });
    line.number(width);
    line.push("'(");
    let wanted = match above {
        Above::Nothing => None,
        Above::Sign => Some(true),
        Above::Zero => Some(false),
    };
    let is_whole = taken == netlist.width(net);
    converted(line, own && is_whole, wanted, |line| {
        verilog::select(line, name, netlist.width(net), lo, taken);
    });
    line.push(")");
    if shift > 0 {
        line.push(" <<< ");
        line.number(shift);
        line.push(")");
    }
}

fn infix(netlist: &Context<'_>, line: &mut Line<'_>, operator: &str, [a, b]: [Wiring; 2], sign: Option<bool>) {
    operand(netlist, line, netlist.pieces(a), sign);
    line.push(operator);
    line.blank();
    operand(netlist, line, netlist.pieces(b), sign);
}

fn prefix(netlist: &Context<'_>, line: &mut Line<'_>, operator: &str, a: Wiring, sign: Option<bool>) {
    let pieces = netlist.pieces(a);
    let term = Term::new(netlist, pieces, sign);
    let is_cast = term.is_some_and(|term| !term.is_plain());
    let brackets = is_cast || (term.is_none() && !Items::are_several(pieces));
    line.push(operator);
    line.push(if brackets { "(" } else { "" });
    operand(netlist, line, pieces, sign);
    line.push(if brackets { ")" } else { "" });
}
