//! How things are spelt in Verilog-2001.
//!
//! The subset is small, so that every tool (and every reader) agrees on it: nets are unsigned; operands of an operator have the
//! width of its result, by explicit slices, concatenations and replications; the only signed expressions are the operands of
//! a signed product, `$signed({{n{msb}}, x})` of the product's width, which synthesisers trim back to the true multiplier.
//! A table is a function with one `case`, or a memory with initial contents where block memory is wanted.

use super::Options;
use super::attributes::Requests;
use super::columns::{Columns, number};
use super::context::Context;
use super::plan::{self, Group, Kind, Module, OutputSlice, Plan, Section, Unread};
use super::rom::{self, Form};
use super::shared::{self, Constant, Item, Items};
use super::sink::Sink;
use crate::netlist::{Cell, Direction, NetId, Netlist, Piece, Rom, Wiring};
use askama::Template;
use std::fmt::{self, Display, Write};

/// Writes the whole file.
pub(super) fn write(netlist: &Netlist, options: &Options, out: &mut Sink<'_>) -> fmt::Result {
    let netlist = &Context::new(netlist, Requests::of(options));
    let plan = Plan::new(netlist, options.split_above);
    let forms = rom::forms(netlist, options.rom_style);
    let modules =
        plan.modules.iter().map(|module| ModuleText { netlist, forms: &forms, plan: &plan, module }).collect();
    let head = shared::head("//", netlist);
    File { head, modules }.render_into(out).map_err(|_| fmt::Error)
}

#[derive(Template)]
#[template(path = "verilog/file.v")]
struct File<'a> {
    head: Vec<String>,
    modules: Vec<ModuleText<'a>>,
}

/// `[7:0] `, or nothing for one bit.
struct Range(u32);

impl Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 {
            return Ok(());
        }
        f.write_str("[")?;
        number(f, self.0 - 1)?;
        f.write_str(":0] ")
    }
}

/// Bits of something `width` wide: its name, one bit, or a part select.
fn select(out: &mut impl Write, name: &str, width: u32, lo: u32, taken: u32) -> fmt::Result {
    out.write_str(name)?;
    if taken == width {
        return Ok(());
    }
    out.write_str("[")?;
    if taken > 1 {
        number(out, lo + taken - 1)?;
        out.write_str(":")?;
    }
    number(out, lo)?;
    out.write_str("]")
}

fn net_bits(out: &mut impl Write, netlist: &Context<'_>, net: NetId, lo: u32, taken: u32) -> fmt::Result {
    select(out, netlist.read_name(net), netlist.width(net), lo, taken)
}

/// A constant, low bits first.
fn literal(out: &mut Columns<'_, '_>, bits: &Constant<'_>) -> fmt::Result {
    let width = bits.width();
    match bits.uniform() {
        Some(one) if width == 1 => write!(out, "1'b{}", u8::from(one)),
        Some(false) if width <= 64 => {
            number(out, width)?;
            out.write_str("'d0")
        }
        Some(one) if width > 8 => write!(out, "{{{width}{{1'b{}}}}}", u8::from(one)),
        _ if width <= 8 => {
            write!(out, "{width}'b")?;
            bits.binary(out)
        }
        _ => {
            write!(out, "{width}'h")?;
            bits.hex(out)
        }
    }
}

/// Wiring as an operand: one item, or a concatenation. Never empty.
fn pieces(out: &mut Columns<'_, '_>, netlist: &Context<'_>, pieces: &[Piece]) -> fmt::Result {
    let braces = Items::are_several(pieces);
    if braces {
        out.write_str("{")?;
    }
    for (index, item) in Items::of(pieces).enumerate() {
        if index > 0 {
            out.write_str(",")?;
            out.blank()?;
        }
        match item {
            Item::Bits { net, lo, width } => net_bits(out, netlist, net, lo, width)?,
            Item::Repeat { net, bit, count } => {
                out.write_str("{")?;
                number(out, count)?;
                out.write_str("{")?;
                net_bits(out, netlist, net, bit, 1)?;
                out.write_str("}}")?;
            }
            Item::Const(bits) => literal(out, &bits)?,
        }
    }
    if braces {
        out.write_str("}")?;
    }
    Ok(())
}

/// Wiring where an expression is wanted.
struct Operand<'a> {
    netlist: &'a Context<'a>,
    pieces: &'a [Piece],
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        pieces(&mut Columns::new(f, 30), self.netlist, self.pieces)
    }
}

/// The right side of a net's assignment.
struct Expression<'a> {
    netlist: &'a Context<'a>,
    forms: &'a [Form],
    net: NetId,
}

impl Display for Expression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let netlist = self.netlist;
        let net = netlist.net(self.net);
        let out = &mut Columns::new(f, 30);
        let operand = |out: &mut Columns<'_, '_>, w: Wiring| pieces(out, netlist, netlist.pieces(w));
        let prefix = |out: &mut Columns<'_, '_>, operator: &str, a: Wiring| {
            out.write_str(operator)?;
            operand(out, a)
        };
        let infix = |out: &mut Columns<'_, '_>, operator: &str, a: Wiring, b: Wiring| {
            operand(out, a)?;
            out.write_str(" ")?;
            out.write_str(operator)?;
            out.blank()?;
            operand(out, b)
        };
        match net.cell {
            Cell::Input { port, lo } => {
                let port = &netlist.ports()[port.0 as usize];
                port_bits(out, port, lo, net.width)
            }
            Cell::Alias { x } => operand(out, x),
            Cell::Add { a, b } => infix(out, "+", a, b),
            Cell::Sub { a, b } => infix(out, "-", a, b),
            Cell::Neg { a } => prefix(out, "-", a),
            Cell::Mul { a, b, signed } => {
                factor(out, netlist, a, net.width, signed)?;
                out.write_str(" *")?;
                out.blank()?;
                factor(out, netlist, b, net.width, signed)
            }
            Cell::Mux { sel, on_true, on_false } => {
                operand(out, sel)?;
                out.write_str(" ? ")?;
                operand(out, on_true)?;
                out.write_str(" :")?;
                out.blank()?;
                operand(out, on_false)
            }
            Cell::Not { a } => prefix(out, "~", a),
            Cell::And { a, b } => infix(out, "&", a, b),
            Cell::Or { a, b } => infix(out, "|", a, b),
            Cell::Xor { a, b } => infix(out, "^", a, b),
            Cell::ReduceOr { a } => prefix(out, "|", a),
            Cell::ReduceAnd { a } => prefix(out, "&", a),
            Cell::Rom { rom, addr } => {
                let (open, close) = match self.forms[rom.0 as usize] {
                    Form::Memory => ("[", "]"),
                    Form::Function | Form::LogicFunction => ("(", ")"),
                };
                out.write_str(&netlist.roms()[rom.0 as usize].name)?;
                out.write_str(open)?;
                operand(out, addr)?;
                out.write_str(close)
            }
            Cell::Register { d, .. } => operand(out, d),
        }
    }
}

/// A factor extended or cut to the width of the product.
fn factor(out: &mut Columns<'_, '_>, netlist: &Context<'_>, x: Wiring, width: u32, signed: bool) -> fmt::Result {
    let wide = shared::resized(netlist.pieces(x), width, signed);
    if !signed {
        return pieces(out, netlist, &wide);
    }
    out.write_str("$signed(")?;
    pieces(out, netlist, &wide)?;
    out.write_str(")")
}

fn port_bits(out: &mut impl Write, port: &crate::netlist::Port, lo: u32, taken: u32) -> fmt::Result {
    // A port of one bit that is not scalar is a vector `[0:0]`; its name alone is the bit.
    select(out, &port.name, port.width, lo, taken)
}

/// A net of a module, or a register.
struct NetText<'a> {
    netlist: &'a Context<'a>,
    forms: &'a [Form],
    module: &'a Module,
    net: NetId,
}

impl<'a> NetText<'a> {
    fn range(&self) -> Range {
        Range(self.netlist.width(self.net))
    }

    fn name(&self) -> &'a str {
        self.netlist.name(self.net)
    }

    fn remark(&self) -> shared::Remark<'a> {
        shared::Remark { sign: "//", text: self.netlist.comment(self.net) }
    }

    fn expression(&self) -> Expression<'a> {
        Expression { netlist: self.netlist, forms: self.forms, net: self.net }
    }

    /// Whether the port list has declared it.
    fn is_port(&self) -> bool {
        self.module.exports.binary_search(&self.net).is_ok()
    }

    fn has_attributes(&self) -> bool {
        !self.attributes().is_empty()
    }

    fn attributes(&self) -> &'static str {
        let wants_logic = match self.netlist.net(self.net).cell {
            Cell::Rom { rom, .. } => self.forms[rom.0 as usize] == Form::LogicFunction,
            _ => false,
        };
        self.netlist.requests.verilog_net(wants_logic)
    }

    fn register_attributes(&self) -> &'static str {
        self.netlist.requests.verilog_register()
    }

    fn constant(&self, wiring: Option<Wiring>) -> Operand<'a> {
        Operand { netlist: self.netlist, pieces: wiring.map_or(&[], |w| self.netlist.pieces(w)) }
    }

    fn has_initial_value(&self) -> bool {
        shared::init(self.netlist, self.net).is_some()
    }

    fn initial_value(&self) -> Operand<'a> {
        self.constant(shared::init(self.netlist, self.net))
    }

    fn reset_value(&self) -> Operand<'a> {
        self.constant(shared::reset_value(self.netlist, self.net))
    }

    fn next(&self) -> Expression<'a> {
        self.expression()
    }
}

/// Everything below a module of the template.
#[derive(Clone, Copy)]
struct ModuleText<'a> {
    netlist: &'a Context<'a>,
    forms: &'a [Form],
    plan: &'a Plan,
    module: &'a Module,
}

impl<'a> ModuleText<'a> {
    fn name(&self) -> &'a str {
        &self.module.name
    }

    fn attributes(&self) -> Option<String> {
        self.netlist.requests.verilog_module().filter(|_| self.module.clocked)
    }

    fn nets(&self, nets: &'a [NetId]) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        let ModuleText { netlist, forms, module, .. } = *self;
        nets.iter().map(move |&net| NetText { netlist, forms, module, net })
    }

    fn ports(&self) -> Vec<String> {
        let mut ports = Vec::new();
        if self.module.stage.is_none() {
            for port in self.netlist.ports() {
                let direction = match port.direction {
                    Direction::In => "input ",
                    Direction::Out => "output",
                };
                // A vector of one bit stays a vector: the port's shape does not depend on its width.
                let range = if port.scalar { String::new() } else { format!("[{}:0] ", port.width - 1) };
                ports.push(format!("{direction} wire {range}{}", port.name));
            }
        } else {
            ports.extend(shared::clock(self.netlist, self.module).map(|clock| format!("input  wire {clock}")));
            let line = |kind: &str, net: NetId| {
                format!("{kind} {}{}", Range(self.netlist.width(net)), self.netlist.read_name(net))
            };
            let requests = self.netlist.requests;
            ports.extend(self.module.imports.iter().map(|&net| line("input  wire", net)));
            ports.extend(self.module.exports.iter().map(|&net| match self.netlist.net(net).cell {
                Cell::Register { .. } => line(&format!("{}output reg", requests.verilog_register()), net),
                _ => line(&format!("{}output wire", requests.verilog_net(false)), net),
            }));
        }
        shared::with_commas(ports)
    }

    fn has_memories(&self) -> bool {
        self.memories().next().is_some()
    }

    fn memories(&self) -> impl Iterator<Item = RomText<'a>> + use<'a> {
        self.roms(|form| form == Form::Memory)
    }

    fn has_functions(&self) -> bool {
        self.functions().next().is_some()
    }

    fn functions(&self) -> impl Iterator<Item = RomText<'a>> + use<'a> {
        self.roms(|form| form != Form::Memory)
    }

    fn roms(&self, wanted: fn(Form) -> bool) -> impl Iterator<Item = RomText<'a>> + use<'a> {
        let ModuleText { netlist, forms, module, .. } = *self;
        let used = module.roms.iter().map(|&rom| rom as usize);
        used.filter(move |&rom| wanted(forms[rom]))
            .map(move |rom| RomText { rom: &netlist.roms()[rom], form: forms[rom] })
    }

    fn has_early_registers(&self) -> bool {
        self.early_registers().next().is_some()
    }

    fn early_registers(&self) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        self.nets(&self.module.early).filter(|net| !net.is_port())
    }

    fn has_links(&self) -> bool {
        !self.module.links.is_empty()
    }

    fn links(&self) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        self.nets(&self.module.links)
    }

    fn sections(&self) -> impl Iterator<Item = SectionText<'a>> + use<'a> {
        let module = *self;
        self.module.sections.iter().map(move |section| SectionText { module, section })
    }

    fn instances(&self) -> impl Iterator<Item = InstanceText<'a>> + use<'a> {
        let ModuleText { netlist, plan, .. } = *self;
        self.module.instances.iter().map(move |&index| InstanceText { netlist, module: &plan.modules[index] })
    }

    fn outputs(&self) -> impl Iterator<Item = OutputText<'a>> + use<'a> {
        let netlist = self.netlist;
        let ports = if self.module.stage.is_none() { netlist.ports().len() } else { 0 };
        (0..ports).flat_map(move |port| {
            plan::output_slices(netlist, port).into_iter().map(move |slice| OutputText { netlist, port, slice })
        })
    }

    fn has_outputs(&self) -> bool {
        self.outputs().next().is_some()
    }

    fn has_unread_bits(&self) -> bool {
        !self.module.unread.is_empty()
    }

    fn unread_bits(&self) -> UnreadBits<'a> {
        UnreadBits { netlist: self.netlist, unread: &self.module.unread }
    }
}

struct SectionText<'a> {
    module: ModuleText<'a>,
    section: &'a Section,
}

impl<'a> SectionText<'a> {
    fn heading(&self) -> String {
        shared::heading(self.section.kind)
    }

    fn has_nets(&self) -> bool {
        self.nets().next().is_some()
    }

    fn nets(&self) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        // A scalar port is read by its own name and needs no net.
        let netlist = self.module.netlist;
        self.module.nets(&self.section.nets).filter(move |net| !netlist.is_scalar_port(net.net))
    }

    fn groups(&self) -> impl Iterator<Item = GroupText<'a>> + use<'a> {
        let (module, kind) = (self.module, self.section.kind);
        self.section.groups.iter().map(move |group| GroupText { module, kind, group })
    }
}

/// Registers in one process.
struct GroupText<'a> {
    module: ModuleText<'a>,
    kind: Kind,
    group: &'a Group,
}

impl<'a> GroupText<'a> {
    fn heading(&self) -> String {
        shared::group_heading(self.module.netlist, self.kind, self.group)
    }

    fn registers(&self) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        self.module.nets(&self.group.registers)
    }

    fn declared_here(&self) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        let early = &self.module.module.early;
        self.registers().filter(move |net| !net.is_port() && early.binary_search(&net.net).is_err())
    }

    fn has_initial_values(&self) -> bool {
        self.registers().any(|register| register.has_initial_value())
    }

    fn events(&self) -> String {
        let clock = shared::clock(self.module.netlist, self.module.module).unwrap_or_default();
        match self.group.reset {
            Some(reset) if reset.asynchronous => {
                let edge = if reset.active_high { "posedge" } else { "negedge" };
                format!("posedge {clock} or {edge} {}", self.bit(reset.when))
            }
            _ => format!("posedge {clock}"),
        }
    }

    fn has_reset(&self) -> bool {
        self.group.reset.is_some()
    }

    fn reset_condition(&self) -> String {
        self.group.reset.map_or_else(String::new, |reset| {
            format!("{}{}", if reset.active_high { "" } else { "!" }, self.bit(reset.when))
        })
    }

    fn has_enable(&self) -> bool {
        self.group.enable.is_some()
    }

    fn enable_condition(&self) -> String {
        self.group.enable.map_or_else(String::new, |enable| self.bit(enable))
    }

    fn bit(&self, wiring: Wiring) -> String {
        let netlist = self.module.netlist;
        Operand { netlist, pieces: netlist.pieces(wiring) }.to_string()
    }
}

/// A stage inside the top module.
struct InstanceText<'a> {
    netlist: &'a Context<'a>,
    module: &'a Module,
}

impl InstanceText<'_> {
    fn name(&self) -> &str {
        &self.module.name
    }

    fn connections(&self) -> Vec<String> {
        let clock = shared::clock(self.netlist, self.module);
        let nets = self.module.imports.iter().chain(&self.module.exports);
        let names = clock.into_iter().chain(nets.map(|&net| self.netlist.read_name(net)));
        shared::with_commas(names.map(|name| format!(".{name}({name})")).collect())
    }
}

/// One element of an output port.
struct OutputText<'a> {
    netlist: &'a Context<'a>,
    port: usize,
    slice: OutputSlice,
}

impl OutputText<'_> {
    fn target(&self) -> String {
        let mut out = String::new();
        port_bits(&mut out, &self.netlist.ports()[self.port], self.slice.lo, self.slice.width)
            .expect("a string takes everything");
        out
    }

    fn expression(&self) -> Operand<'_> {
        Operand { netlist: self.netlist, pieces: &self.slice.pieces }
    }

    fn remark(&self) -> shared::Remark<'_> {
        shared::Remark { sign: "//", text: &self.slice.remark }
    }
}

/// The sink: one bit made of everything that nobody reads.
struct UnreadBits<'a> {
    netlist: &'a Context<'a>,
    unread: &'a [Unread],
}

impl Display for UnreadBits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let out = &mut Columns::new(f, 30);
        // The constant keeps the reduction from depending on values: it is 0 in every tool.
        out.write_str("&{1'b0")?;
        for bits in self.unread {
            out.write_str(",")?;
            out.blank()?;
            match *bits {
                Unread::Net { net, lo, width } => net_bits(out, self.netlist, net, lo, width)?,
                Unread::Port { port, lo, width } => port_bits(out, &self.netlist.ports()[port], lo, width)?,
            }
        }
        out.write_str("}")
    }
}

/// A table.
struct RomText<'a> {
    rom: &'a Rom,
    form: Form,
}

/// One entry.
struct Word {
    label: String,
    value: String,
}

impl<'a> RomText<'a> {
    fn name(&self) -> &'a str {
        &self.rom.name
    }

    fn range(&self) -> Range {
        Range(self.rom.word_width)
    }

    fn address_range(&self) -> Range {
        Range(self.rom.addr_width)
    }

    fn last_address(&self) -> u64 {
        rom::memory_words(self.rom) - 1
    }

    fn remark(&self) -> shared::Remark<'a> {
        shared::Remark { sign: "//", text: &self.rom.comment }
    }

    /// For yosys, which makes a memory of the `case` and looks there; the others look at the net that reads the table.
    fn case_attributes(&self) -> &'static str {
        if self.form == Form::LogicFunction { "(* romstyle = \"logic\" *) " } else { "" }
    }

    fn attributes(&self) -> &'static str {
        "(* rom_style = \"block\", syn_romstyle = \"block_rom\" *)\n    "
    }

    fn words(&self) -> impl Iterator<Item = Word> + use<'a> {
        let rom = self.rom;
        rom.words.iter().enumerate().map(move |(address, &word)| Word {
            label: format!("{}'d{address}", rom.addr_width),
            value: word_literal(rom.word_width, word),
        })
    }

    /// One for each address.
    fn memory_words(&self) -> impl Iterator<Item = Word> + use<'a> {
        let rom = self.rom;
        (0..=self.last_address()).map(move |address| {
            let word = rom.words.get(address as usize).copied().unwrap_or(0);
            Word { label: address.to_string(), value: word_literal(rom.word_width, word) }
        })
    }

    fn zero(&self) -> String {
        word_literal(self.rom.word_width, 0)
    }
}

fn word_literal(width: u32, word: u64) -> String {
    format!("{width}'h{word:0digits$x}", digits = width.div_ceil(4) as usize)
}
