//! Code generator for VHDL, in the common subset of 1993 and 2008.
//!
//! Every net is a `signed` or an `unsigned`, even a net of one bit. Extensions and shifts are `resize` and
//! `shift_left`. Other wiring is a concatenation of slices and qualified aggregates with `&`, but never of single
//! elements, so that the operands of an operator have only one possible type. Ports of the module are `std_logic` and
//! `std_logic_vector`, which are converted to and from nets. A table is an indexed constant array, because GHDL 2.0
//! drops the `others` of a `case` with few choices. `to_01` prevents a simulation warning for each bit that is unknown
//! at time zero.

use super::Options;
use super::attributes::{AttributeRequest, Requests};
use super::context::{Context, Printing};
use super::line::{Line, Spelt, spelt};
use super::plan::{self, Part, Plan};
use super::rom::{Arrays, Tables};
use super::shared::{self, Above, Item, Items, Term};
use super::sink::Sink;
use super::table_modules;
use super::vhdl_tables::VhdlTable;
use super::view::{
    self, Dialect, GroupView, InstanceView, ModuleView, NetView, RomView, SectionView, TableInstance, View,
};
use crate::device::Form;
use crate::netlist::{Cell, Direction, NetId, Netlist, Piece, Port, Wiring};
use askama::Template;
use rustc_hash::FxHashSet;
use std::fmt;

/// Writes the whole file.
pub(super) fn write(netlist: &Netlist, options: &Options, printing: Printing, out: &mut Sink<'_>) -> fmt::Result {
    let tables = &Tables::new(netlist, options.rom_style, Arrays::Every);
    let netlist = &Context::new(netlist, Requests::from_options(options), &tables.forms, printing);
    let plan = &Plan::new(netlist, options);
    let table_entities = table_modules::modules(netlist, &tables.pieces).into_iter().map(VhdlTable).collect();
    let names = &Names::new(netlist);
    let entities = view::modules(View { netlist, tables, plan, dialect: Vhdl { names } });
    File { head: view::head::<Vhdl<'_>>(netlist), table_entities, entities }.render_into(out).map_err(|_| fmt::Error)
}

#[derive(Template)]
#[template(path = "vhdl/file.vhd")]
struct File<'a> {
    head: Vec<String>,
    table_entities: Vec<VhdlTable>,
    entities: Vec<ModuleView<'a, Vhdl<'a>>>,
}

/// Template of the lines of some nets of a section.
#[derive(Template)]
#[template(path = "vhdl/nets.vhd")]
struct NetsFile<'a> {
    module: ModuleView<'a, Vhdl<'a>>,
    nets: &'a [NetId],
}

impl<'a> NetsFile<'a> {
    fn nets(&self) -> impl Iterator<Item = NetView<'a, Vhdl<'a>>> + use<'a> {
        self.module.declared(self.nets)
    }
}

/// Names that only VHDL needs, distinct from the names of the netlist: for the nets of output ports (VHDL-93 cannot
/// read output ports), for array types, and for concatenations in port maps (which VHDL-93 does not allow).
struct Names {
    /// Names of the netlist with one of these suffixes, in lower case.
    taken: FxHashSet<String>,
}

/// Suffix of the port that exports a net from its module.
const PORT: &str = "_o";

/// Suffix of the type of a memory.
const TYPE: &str = "_words";

/// Suffix of the address of a table instance.
const ADDRESS: &str = "_address";

impl Names {
    fn new(netlist: &Netlist) -> Names {
        let nets = (0..netlist.nets().len() as u32).map(|net| netlist.name(NetId(net)));
        let ports = netlist.ports().iter().map(|port| port.name.as_str());
        let roms = netlist.roms().iter().map(|rom| rom.name.as_str());
        let lower = nets.chain(ports).chain(roms).filter(|name| name.ends_with(['o', 'O', 's', 'S']));
        let lower = lower.map(str::to_ascii_lowercase);
        Names { taken: lower.filter(|name| [PORT, TYPE, ADDRESS].iter().any(|end| name.ends_with(end))).collect() }
    }

    /// Returns `name` with a suffix that makes it unique. The result depends only on the arguments, so that the
    /// declaration and all uses have the same name.
    fn fresh(&self, name: &str, suffix: &str) -> String {
        let mut fresh = format!("{name}{suffix}");
        while self.taken.contains(&fresh.to_ascii_lowercase()) {
            fresh.push_str(suffix);
        }
        fresh
    }

    fn output_of(&self, name: &str) -> String {
        self.fresh(name, PORT)
    }
}

/// The VHDL dialect, with the names that only VHDL needs.
#[derive(Clone, Copy)]
struct Vhdl<'a> {
    names: &'a Names,
}

impl Dialect for Vhdl<'_> {
    const COMMENT: &'static str = "--";
    const COLUMN: usize = 20;

    /// Writes a type such as `signed(7 downto 0)`.
    fn net_type(self, line: &mut Line<'_>, width: u32, signed: bool) {
        vector_type(line, width, signed);
    }

    /// Writes bits of a port: its name, or a slice. A scalar port has no slices.
    fn port_bits(line: &mut Line<'_>, port: &Port, lo: u32, taken: u32) {
        slice(line, &port.name, port.width, lo, taken);
    }

    fn word(width: u32, word: u64) -> String {
        binary(width, word)
    }

    fn whole(view: &View<'_, Self>, line: &mut Line<'_>, wiring: &[Piece], signed: bool) {
        pieces(view.netlist, line, wiring, Some(signed), Use::Whole);
    }

    fn expression(view: &View<'_, Self>, line: &mut Line<'_>, net: NetId) {
        expression(view.netlist, &view.tables.forms, line, net);
    }

    fn driver(view: &View<'_, Self>, line: &mut Line<'_>, port: &Port, wiring: &[Piece]) {
        if port.scalar {
            return bit(view.netlist, line, wiring);
        }
        line.push("std_logic_vector(");
        pieces(view.netlist, line, wiring, None, Use::Converted);
        line.push(")");
    }
}

/// Returns the name of the type of a number.
fn type_name(signed: bool) -> &'static str {
    if signed { "signed" } else { "unsigned" }
}

/// Writes a type such as `unsigned(7 downto 0)`.
fn vector_type(line: &mut Line<'_>, width: u32, signed: bool) {
    line.push(type_name(signed));
    line.push("(");
    line.number(width - 1);
    line.push(" downto 0)");
}

/// Writes bits of an object of `width` bits, with the type of the object.
fn slice(line: &mut Line<'_>, name: &str, width: u32, lo: u32, taken: u32) {
    line.push(name);
    if taken < width {
        line.push("(");
        line.number(lo + taken - 1);
        line.push(" downto ");
        line.number(lo);
        line.push(")");
    }
}

/// Writes bits of a net, with the type of the net.
fn net_bits(netlist: &Context<'_>, line: &mut Line<'_>, net: NetId, lo: u32, taken: u32) {
    let name = netlist.read_name(net);
    if netlist.is_scalar_port(net) {
        line.push("unsigned'(0 => ");
        line.push(name);
        line.push(")");
    } else {
        slice(line, name, netlist.width(net), lo, taken);
    }
}

/// Writes one bit as a `std_logic`.
fn net_bit(netlist: &Context<'_>, line: &mut Line<'_>, net: NetId, bit: u32) {
    line.push(netlist.read_name(net));
    if !netlist.is_scalar_port(net) {
        line.push("(");
        line.number(bit);
        line.push(")");
    }
}

/// Returns a `std_logic` literal.
pub(super) fn digit(one: bool) -> &'static str {
    if one { "'1'" } else { "'0'" }
}

/// Largest number of equal bits that are written as a string literal; longer constants are aggregates.
const STRING: u32 = 16;

/// Writes equal bits as an aggregate after the name of their type: `'(7 downto 0 => '1')`.
fn aggregate(line: &mut Line<'_>, width: u32, element: impl Fn(&mut Line<'_>)) {
    line.push("'(");
    line.number(width - 1);
    line.push(" downto 0 => ");
    element(line);
    line.push(")");
}

/// Maximum width in bits of a literal within a concatenation: synthesis by GHDL 2.0 writes wider constants as text.
const CHUNK: usize = 32;

/// Writes constant bits of a type, high bits first.
fn constant(line: &mut Line<'_>, bits: &[bool], signed: bool) {
    let one = bits[0];
    if bits.len() > STRING as usize && bits.iter().all(|&bit| bit == one) {
        line.push(type_name(signed));
        return aggregate(line, bits.len() as u32, |line| line.push(digit(one)));
    }
    line.push("\"");
    bits.iter().for_each(|&bit| line.bit(bit));
    line.push("\"");
}

/// Writes an item of a concatenation of a type.
fn item(netlist: &Context<'_>, line: &mut Line<'_>, item: &Item<'_>, signed: bool) {
    match item {
        Item::Bits { net, lo, width } => {
            converted(line, netlist.is_signed(*net), signed, |line| net_bits(netlist, line, *net, *lo, *width));
        }
        Item::Repeat { net, bit, count } => {
            line.push(type_name(signed));
            aggregate(line, *count, |line| net_bit(netlist, line, *net, *bit));
        }
        Item::Const(bits) => constant(line, &bits.bits(), signed),
    }
}

/// Use of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The whole right side of an assignment.
    Whole,
    /// Operand of an operator.
    Operand,
    /// Argument of a conversion, which does not determine the type of a string literal.
    Converted,
}

/// Writes an expression of type `own`, converted to type `wanted`.
fn converted(line: &mut Line<'_>, own: bool, wanted: bool, write: impl FnOnce(&mut Line<'_>)) {
    if own == wanted {
        return write(line);
    }
    line.push(type_name(wanted));
    line.push("(");
    write(line);
    line.push(")");
}

/// Writes non-empty wiring as a number of the type `wanted`: signed, unsigned, or `None` for the shorter notation.
fn pieces(netlist: &Context<'_>, line: &mut Line<'_>, pieces: &[Piece], wanted: Option<bool>, usage: Use) {
    if let Some(term) = Term::new(netlist, pieces, wanted) {
        return number(netlist, line, &term, wanted);
    }
    let mut signs = pieces.iter().filter_map(|piece| match *piece {
        Piece::Bits { net, .. } => Some(netlist.is_signed(net)),
        Piece::Repeat { .. } | Piece::Const { .. } => None,
    });
    // The common type of the parts. If the types differ, each part is converted to the requested type.
    let first = signs.next();
    let own = first.filter(|&first| signs.all(|sign| sign == first)).or(wanted).unwrap_or(false);
    match wanted.filter(|&wanted| wanted != own) {
        Some(wanted) => converted(line, own, wanted, |line| concatenation(netlist, line, pieces, own, Use::Converted)),
        None => concatenation(netlist, line, pieces, own, usage),
    }
}

/// Writes a number: bits of a net, extended and shifted.
fn number(netlist: &Context<'_>, line: &mut Line<'_>, term: &Term, wanted: Option<bool>) {
    let Term { net, lo, taken, shift, above, width } = *term;
    let own = netlist.is_signed(net);
    let sign = match above {
        Above::Nothing if term.is_plain() => wanted.unwrap_or(own),
        Above::Nothing => own,
        Above::Sign => true,
        Above::Zero => false,
    };
    converted(line, sign, wanted.unwrap_or(sign), |line| {
        line.push(if shift > 0 { "shift_left(" } else { "" });
        line.push(if term.is_plain() { "" } else { "resize(" });
        converted(line, own, sign, |line| net_bits(netlist, line, net, lo, taken));
        if !term.is_plain() {
            line.push(", ");
            line.number(width);
            line.push(")");
        }
        if shift > 0 {
            line.push(", ");
            line.number(shift);
            line.push(")");
        }
    });
}

/// Writes wiring as a concatenation of parts of one type.
fn concatenation(netlist: &Context<'_>, line: &mut Line<'_>, pieces: &[Piece], signed: bool, usage: Use) {
    let parentheses = usage == Use::Operand && Items::are_several(pieces);
    let qualified = usage == Use::Converted && pieces.iter().all(|piece| matches!(piece, Piece::Const { .. }));
    line.push(match (parentheses, qualified, signed) {
        (true, _, _) => "(",
        (_, true, false) => "unsigned'(",
        (_, true, true) => "signed'(",
        _ => "",
    });
    let several = Items::are_several(pieces);
    let mut open = 0;
    for (index, each) in Items::new(pieces).enumerate() {
        if index > 0 {
            line.push(" &");
            line.blank();
        }
        match &each {
            Item::Const(bits) if several && bits.width() as usize > CHUNK => {
                // Nested parentheses make the concatenation right-associative; otherwise GHDL would join the chunks to
                // a single constant.
                for (part, chunk) in bits.bits().chunks(CHUNK).enumerate() {
                    if part > 0 {
                        line.push(" &");
                        line.blank();
                        line.push(if index == 0 { "(" } else { "" });
                        open += u32::from(index == 0);
                    }
                    constant(line, chunk, signed);
                }
            }
            _ => item(netlist, line, &each, signed),
        }
    }
    (0..open).for_each(|_| line.push(")"));
    line.push(if parentheses || qualified { ")" } else { "" });
}

/// Writes one bit of wiring as a `std_logic`.
fn bit(netlist: &Context<'_>, line: &mut Line<'_>, wiring: &[Piece]) {
    match wiring {
        &[Piece::Bits { net, lo, .. }] => net_bit(netlist, line, net, lo),
        &[Piece::Const { one, .. }] => line.push(digit(one)),
        other => unreachable!("one bit of wiring is one piece, not {other:?}"),
    }
}

/// Writes a condition such as `v3(0) = '1'`.
fn is_set(netlist: &Context<'_>, line: &mut Line<'_>, wiring: Wiring, level: bool) {
    bit(netlist, line, netlist.pieces(wiring));
    line.push(" = ");
    line.push(digit(level));
}

/// Writes the right side of a net's assignment, with the net's type.
fn expression(netlist: &Context<'_>, forms: &[Form], line: &mut Line<'_>, id: NetId) {
    let net = netlist.net(id);
    let signed = netlist.is_signed(id);
    let sign = Some(signed);
    match net.cell {
        Cell::Input { port, lo } => {
            line.push(type_name(signed));
            line.push("(");
            Vhdl::port_bits(line, &netlist.ports()[port.0 as usize], lo, net.width);
            line.push(")");
        }
        Cell::Alias { x } | Cell::Register { d: x, .. } => operand(netlist, line, x, sign, Use::Whole),
        Cell::Add { a, b } => infix(netlist, line, a, " +", b, sign),
        Cell::Sub { a, b } => infix(netlist, line, a, " -", b, sign),
        Cell::Three { a, b, c, minus } => {
            infix(netlist, line, a, shared::plus_or_minus(minus[0]), b, sign);
            line.push(shared::plus_or_minus(minus[1]));
            line.blank();
            operand(netlist, line, c, sign, Use::Operand);
        }
        // GHDL 2.0 synthesises `0 - x` as `x - 0` if `x` is signed. The operator `-x` is not defined for an unsigned
        // `x`.
        Cell::Neg { a } => prefix(netlist, line, if signed { "-" } else { "0 - " }, a, sign),
        Cell::Mul { a, b, signed: own } => product(netlist, line, (net.width, signed), [a, b], own),
        Cell::Less { a, b, signed } => {
            line.push("\"1\" when ");
            infix(netlist, line, a, " <", b, Some(signed));
            line.push(" else \"0\"");
        }
        Cell::Mux { sel, on_true, on_false } => {
            operand(netlist, line, on_true, sign, Use::Whole);
            line.push(" when ");
            is_set(netlist, line, sel, true);
            line.push(" else");
            line.blank();
            operand(netlist, line, on_false, sign, Use::Whole);
        }
        Cell::Not { a } => prefix(netlist, line, "not ", a, sign),
        Cell::And { a, b } => infix(netlist, line, a, " and", b, sign),
        Cell::Or { a, b } => infix(netlist, line, a, " or", b, sign),
        Cell::Xor { a, b } => infix(netlist, line, a, " xor", b, sign),
        Cell::ReduceOr { a } => reduction(netlist, line, a, " /=", false),
        Cell::ReduceAnd { a } => reduction(netlist, line, a, " =", true),
        Cell::Rom { rom, addr } => {
            let (open, close) = match forms[rom.0 as usize] {
                Form::Memory => ("(to_integer(", ")))"),
                Form::Function | Form::LogicFunction => ("(to_integer(to_01(", "))))"),
                Form::Pieces => unreachable!("an instance drives the net"),
            };
            line.push(type_name(signed));
            line.push("(");
            line.push(&netlist.roms()[rom.0 as usize].name);
            line.push(open);
            operand(netlist, line, addr, Some(false), Use::Converted);
            line.push(close);
        }
    }
}

fn operand(netlist: &Context<'_>, line: &mut Line<'_>, wiring: Wiring, wanted: Option<bool>, usage: Use) {
    pieces(netlist, line, netlist.pieces(wiring), wanted, usage);
}

fn prefix(netlist: &Context<'_>, line: &mut Line<'_>, operator: &str, a: Wiring, wanted: Option<bool>) {
    line.push(operator);
    operand(netlist, line, a, wanted, Use::Operand);
}

fn infix(netlist: &Context<'_>, line: &mut Line<'_>, a: Wiring, operator: &str, b: Wiring, wanted: Option<bool>) {
    operand(netlist, line, a, wanted, Use::Operand);
    line.push(operator);
    line.blank();
    operand(netlist, line, b, wanted, Use::Operand);
}

/// Writes a product. The exact product is as wide as both factors together. If the net is narrower, its value is the
/// low bits of the product, which `resize` returns for an `unsigned` only. `own` is `true` if the factors are signed.
fn product(netlist: &Context<'_>, line: &mut Line<'_>, (width, signed): (u32, bool), factors: [Wiring; 2], own: bool) {
    let [a, b] = factors.map(|w| plan::slice(netlist.pieces(w), 0, w.width().min(width)));
    let whole: u32 = a.iter().chain(&b).map(|p| p.width()).sum();
    let is_resized = whole != width;
    let write = |line: &mut Line<'_>| {
        pieces(netlist, line, &a, Some(own), Use::Operand);
        line.push(" *");
        line.blank();
        pieces(netlist, line, &b, Some(own), Use::Operand);
    };
    if !is_resized {
        return converted(line, own, signed, write);
    }
    converted(line, false, signed, |line| {
        line.push("resize(");
        converted(line, own, false, write);
        line.push(", ");
        line.number(width);
        line.push(")");
    });
}

/// Writes a comparison of bit patterns as `std_logic_vector`, which causes no warnings at time zero.
fn reduction(netlist: &Context<'_>, line: &mut Line<'_>, a: Wiring, operator: &str, all: bool) {
    line.push("\"1\" when std_logic_vector(");
    operand(netlist, line, a, None, Use::Converted);
    line.push(")");
    line.push(operator);
    line.blank();
    if a.width() > STRING {
        line.push("std_logic_vector");
        aggregate(line, a.width(), |line| line.push(digit(all)));
    } else {
        line.push("\"");
        (0..a.width()).for_each(|_| line.bit(all));
        line.push("\"");
    }
    line.push(" else \"0\"");
}

impl<'a> NetView<'a, Vhdl<'a>> {
    fn attributes(&self) -> Vec<String> {
        self.view.netlist.requests.vhdl_signal(self.name(), self.is_register(), self.request())
    }

    fn is_register(&self) -> bool {
        matches!(self.view.netlist.net(self.net).cell, Cell::Register { .. })
    }

    /// Returns the separate address signal of a table in pieces, or `None` if none is needed.
    fn address(&self) -> Option<Address<'a>> {
        let (netlist, wiring) = (self.view.netlist, self.table_instance()?.address);
        let name = self.view.dialect.names.fresh(self.name(), ADDRESS);
        // The name or a slice of a net needs no separate signal.
        let is_name = matches!(netlist.pieces(wiring), &[Piece::Bits { net, .. }] if !netlist.is_signed(net));
        (!is_name).then_some(Address { netlist, name, wiring })
    }

    /// Returns the instance of a table in pieces that drives the net, or `None` if another cell drives it.
    fn instance(&self) -> Option<String> {
        let TableInstance { module, label, address } = self.table_instance()?;
        let netlist = self.view.netlist;
        let address = match self.address() {
            Some(own) => own.name,
            None => spelt(30, |line| operand(netlist, line, address, Some(false), Use::Whole)).to_string(),
        };
        Some(format!("{label} : entity work.{module} port map (address => {address}, word => {});", self.name()))
    }
}

/// Address of a table in pieces that is not the name or a slice of a net.
struct Address<'a> {
    netlist: &'a Context<'a>,
    name: String,
    wiring: Wiring,
}

impl Address<'_> {
    fn net_type(&self) -> Spelt<impl Fn(&mut Line<'_>)> {
        spelt(0, |line| vector_type(line, self.wiring.width(), false))
    }

    fn expression(&self) -> Spelt<impl Fn(&mut Line<'_>)> {
        spelt(Vhdl::COLUMN, |line| operand(self.netlist, line, self.wiring, Some(false), Use::Whole))
    }
}

/// A net that other modules read, and its port.
struct Export<'a> {
    port: String,
    net: &'a str,
}

impl<'a> ModuleView<'a, Vhdl<'a>> {
    fn has_ports(&self) -> bool {
        !self.ports().is_empty()
    }

    fn ports(&self) -> Vec<String> {
        let netlist = self.view.netlist;
        let mut ports = Vec::new();
        if self.module.part == Part::Top {
            for port in netlist.ports() {
                let direction = match port.direction {
                    Direction::In => "in ",
                    Direction::Out => "out",
                };
                // A vector of one bit remains a vector, so that the type of a port does not depend on its width.
                let subtype = match port.scalar {
                    true => "std_logic".to_owned(),
                    false => format!("std_logic_vector({} downto 0)", port.width - 1),
                };
                ports.push(format!("{} : {direction} {subtype}", port.name));
            }
        } else {
            let subtype =
                |net: NetId| spelt(0, move |line| vector_type(line, netlist.width(net), netlist.is_signed(net)));
            ports.extend(shared::clock(netlist, self.module).map(|clock| format!("{clock} : in  std_logic")));
            ports.extend(self.module.imports.iter().map(|&net| {
                let name = netlist.read_name(net);
                match netlist.is_scalar_port(net) {
                    true => format!("{name} : in  std_logic"),
                    false => format!("{name} : in  {}", subtype(net)),
                }
            }));
            ports.extend(
                self.module
                    .exports
                    .iter()
                    .zip(self.exports())
                    .map(|(&net, export)| format!("{} : out {}", export.port, subtype(net))),
            );
        }
        let last = ports.len().saturating_sub(1);
        ports[..last].iter_mut().for_each(|port| port.push(';'));
        ports
    }

    fn attribute_declarations(&self) -> Vec<String> {
        let nets = || self.module.sections.iter().flat_map(|section| self.nets(&section.nets));
        let mut needed: Vec<&str> = Vec::new();
        for request in [AttributeRequest::Logic, AttributeRequest::Block, AttributeRequest::Dsp] {
            if nets().any(|net| net.request() == Some(request)) {
                needed.extend(Requests::vhdl_values(request).iter().map(|(attribute, _)| *attribute));
            }
        }
        if self.memories().next().is_some() {
            needed.extend(["rom_style", "syn_romstyle"].iter().filter(|a| !needed.contains(a)).collect::<Vec<_>>());
        }
        let mut lines = self.view.netlist.requests.vhdl_architecture(self.module.clocked);
        lines.extend(needed.iter().map(|attribute| format!("attribute {attribute} : string;")));
        lines
    }

    fn exports(&self) -> impl Iterator<Item = Export<'a>> + use<'a> {
        let View { netlist, dialect, .. } = self.view;
        self.module.exports.iter().map(move |&net| {
            let net = netlist.name(net);
            Export { port: dialect.names.output_of(net), net }
        })
    }

    fn drives_ports(&self) -> bool {
        self.has_outputs() || !self.module.exports.is_empty()
    }
}

impl<'a> SectionView<'a, Vhdl<'a>> {
    fn net_lines(&self) -> impl fmt::Display + use<'a> {
        self.lines(|module, nets| NetsFile { module, nets })
    }

    fn has_signals(&self) -> bool {
        self.has_nets() || self.registers().next().is_some()
    }
}

impl<'a> GroupView<'a, Vhdl<'a>> {
    fn sensitivity(&self) -> String {
        let netlist = self.module.view.netlist;
        match self.group.reset {
            Some(reset) if reset.asynchronous => {
                let read = plan::nets_of(netlist, reset.when);
                let names = std::iter::once(self.clock()).chain(read.map(|net| netlist.read_name(net)));
                names.collect::<Vec<_>>().join(", ")
            }
            _ => self.clock().to_owned(),
        }
    }

    fn reset_condition(&self) -> String {
        self.group.reset.map_or_else(String::new, |reset| self.is_set(reset.when, reset.active_high))
    }

    fn enable_condition(&self) -> String {
        self.group.enable.map_or_else(String::new, |enable| self.is_set(enable, true))
    }

    fn is_set(&self, wiring: Wiring, level: bool) -> String {
        let netlist = self.module.view.netlist;
        spelt(0, |line| is_set(netlist, line, wiring, level)).to_string()
    }
}

impl<'a> InstanceView<'a, Vhdl<'a>> {
    fn connections(&self) -> Vec<String> {
        let same = self.inputs().map(|name| format!("{name} => {name}"));
        let stage = ModuleView { view: self.view, module: self.module };
        let outputs = stage.exports().map(|export| format!("{} => {}", export.port, export.net));
        shared::with_commas(same.chain(outputs).collect())
    }
}

impl<'a> RomView<'a, Vhdl<'a>> {
    fn type_name(&self) -> String {
        self.view.dialect.names.fresh(&self.rom.name, TYPE)
    }

    /// Returns the element type of the array. `unsigned` would overload `&` for all nets.
    fn subtype(&self) -> String {
        format!("std_logic_vector({} downto 0)", self.rom.word_width - 1)
    }

    /// Returns the entry of each address, with commas.
    fn array(&self) -> Vec<String> {
        shared::with_commas(self.memory_words().map(|word| word.value).collect())
    }
}

/// Returns a string of `width` binary digits.
pub(super) fn binary(width: u32, value: u64) -> String {
    let mut digits = String::with_capacity(width as usize + 2);
    digits.push('"');
    digits.extend((0..width).rev().map(|bit| if bit < 64 && value >> bit & 1 == 1 { '1' } else { '0' }));
    digits.push('"');
    digits
}
