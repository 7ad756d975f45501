//! How things are spelt in VHDL, in the part that 1993 and 2008 share.
//!
//! Every net is an `unsigned`, also a net of one bit; wiring is slices and qualified aggregates joined by `&`, never single
//! elements, so that an operator's operands have one possible type. Ports of the module are `std_logic` and
//! `std_logic_vector`; conversions stand where they meet a net. A table is a function with one `case`, which needs no
//! conversion of its address to an integer and so says nothing of unknown bits at time zero; block memory wants a constant array.

use super::Options;
use super::attributes::Requests;
use super::columns::Columns;
use super::context::Context;
use super::plan::{self, Group, Kind, Module, OutputSlice, Plan, Section};
use super::rom::{self, Form};
use super::shared::{self, Item, Items};
use super::sink::Sink;
use crate::netlist::{Cell, Direction, NetId, Netlist, Piece, Port, Rom, Wiring};
use askama::Template;
use rustc_hash::FxHashSet;
use std::fmt::{self, Display, Write};

/// Writes the whole file.
pub(super) fn write(netlist: &Netlist, options: &Options, out: &mut Sink<'_>) -> fmt::Result {
    let netlist = &Context::new(netlist, Requests::of(options));
    let plan = Plan::new(netlist, options.split_above);
    let forms = rom::forms(netlist, options.rom_style);
    let names = Names::new(netlist);
    let entity = |module| Entity { netlist, forms: &forms, plan: &plan, names: &names, module };
    let entities = plan.modules.iter().map(entity).collect();
    File { head: shared::head("--", netlist), entities }.render_into(out).map_err(|_| fmt::Error)
}

#[derive(Template)]
#[template(path = "vhdl/file.vhd")]
struct File<'a> {
    head: Vec<String>,
    entities: Vec<Entity<'a>>,
}

/// Names that only VHDL needs, distinct from those of the netlist: output ports cannot be read, arrays need a type.
struct Names {
    /// The netlist's names that end like a name made here, in lower case.
    taken: FxHashSet<String>,
}

/// Ends the name of the port through which a net leaves its stage.
const PORT: &str = "_o";

/// Ends the name of a memory's type.
const TYPE: &str = "_words";

impl Names {
    fn new(netlist: &Netlist) -> Names {
        let nets = (0..netlist.nets().len() as u32).map(|net| netlist.name(NetId(net)));
        let ports = netlist.ports().iter().map(|port| port.name.as_str());
        let roms = netlist.roms().iter().map(|rom| rom.name.as_str());
        let lower = nets.chain(ports).chain(roms).filter(|name| name.ends_with(['o', 'O', 's', 'S']));
        let lower = lower.map(str::to_ascii_lowercase);
        Names { taken: lower.filter(|name| name.ends_with(PORT) || name.ends_with(TYPE)).collect() }
    }

    /// `name` with a suffix that makes it new. A pure function, so that declaration and use agree.
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

/// `unsigned(7 downto 0)`.
struct Subtype(u32);

impl Display for Subtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unsigned({} downto 0)", self.0 - 1)
    }
}

/// Bits as an `unsigned`.
fn net_bits(out: &mut impl Write, netlist: &Context<'_>, net: NetId, lo: u32, taken: u32) -> fmt::Result {
    let name = netlist.read_name(net);
    if netlist.is_scalar_port(net) {
        return write!(out, "unsigned'(0 => {name})");
    }
    out.write_str(name)?;
    if taken == netlist.width(net) { Ok(()) } else { write!(out, "({} downto {lo})", lo + taken - 1) }
}

/// One bit as a `std_logic`.
fn net_bit(out: &mut impl Write, netlist: &Context<'_>, net: NetId, bit: u32) -> fmt::Result {
    let name = netlist.read_name(net);
    if netlist.is_scalar_port(net) { out.write_str(name) } else { write!(out, "{name}({bit})") }
}

/// Equal bits beyond this are an aggregate, fewer a string.
const STRING: u32 = 16;

fn item(out: &mut impl Write, netlist: &Context<'_>, item: &Item<'_>) -> fmt::Result {
    match item {
        Item::Bits { net, lo, width } => net_bits(out, netlist, *net, *lo, *width),
        Item::Repeat { net, bit, count } => {
            write!(out, "unsigned'({} downto 0 => ", count - 1)?;
            net_bit(out, netlist, *net, *bit)?;
            out.write_str(")")
        }
        Item::Const(bits) => match bits.uniform() {
            Some(one) if bits.width() > STRING => {
                write!(out, "unsigned'({} downto 0 => '{}')", bits.width() - 1, u8::from(one))
            }
            _ => {
                out.write_str("\"")?;
                bits.binary(out)?;
                out.write_str("\"")
            }
        },
    }
}

/// How an expression is going to be used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// As a whole right side.
    Whole,
    /// Beside an operator.
    Operand,
    /// In a conversion, which tells nothing about the type of a string.
    Converted,
}

/// Wiring as an `unsigned`. Never empty.
fn pieces(out: &mut Columns<'_, '_>, netlist: &Context<'_>, pieces: &[Piece], usage: Use) -> fmt::Result {
    let parentheses = usage == Use::Operand && Items::are_several(pieces);
    let qualified = usage == Use::Converted && pieces.iter().all(|piece| matches!(piece, Piece::Const { .. }));
    out.write_str(match (parentheses, qualified) {
        (true, _) => "(",
        (_, true) => "unsigned'(",
        _ => "",
    })?;
    for (index, each) in Items::of(pieces).enumerate() {
        if index > 0 {
            out.write_str(" &")?;
            out.blank()?;
        }
        item(out, netlist, &each)?;
    }
    out.write_str(if parentheses || qualified { ")" } else { "" })
}

/// A bit as a `std_logic`.
fn bit(out: &mut impl Write, netlist: &Context<'_>, wiring: Wiring) -> fmt::Result {
    match netlist.pieces(wiring) {
        &[Piece::Bits { net, lo, .. }] => net_bit(out, netlist, net, lo),
        &[Piece::Const { one, .. }] => write!(out, "'{}'", u8::from(one)),
        other => unreachable!("one bit of wiring is one piece, not {other:?}"),
    }
}

/// `v3(0) = '1'`.
fn is_set(netlist: &Context<'_>, wiring: Wiring, level: bool) -> String {
    let mut out = String::new();
    bit(&mut out, netlist, wiring).expect("a string takes everything");
    out.push_str(if level { " = '1'" } else { " = '0'" });
    out
}

/// The right side of a net's assignment.
struct Expression<'a> {
    netlist: &'a Context<'a>,
    forms: &'a [Form],
    net: NetId,
}

impl Expression<'_> {
    fn operand(&self, out: &mut Columns<'_, '_>, w: Wiring, usage: Use) -> fmt::Result {
        pieces(out, self.netlist, self.netlist.pieces(w), usage)
    }

    fn prefix(&self, out: &mut Columns<'_, '_>, operator: &str, a: Wiring) -> fmt::Result {
        out.write_str(operator)?;
        self.operand(out, a, Use::Operand)
    }

    fn infix(&self, out: &mut Columns<'_, '_>, operator: &str, a: Wiring, b: Wiring) -> fmt::Result {
        self.operand(out, a, Use::Operand)?;
        write!(out, " {operator}")?;
        out.blank()?;
        self.operand(out, b, Use::Operand)
    }

    /// The exact product has as many bits as both factors together; fewer are its low ones.
    fn product(&self, out: &mut Columns<'_, '_>, a: Wiring, b: Wiring, signed: bool) -> fmt::Result {
        let width = self.netlist.width(self.net);
        let cut = |w: Wiring| plan::slice(self.netlist.pieces(w), 0, w.width().min(width));
        let (a, b) = (cut(a), cut(b));
        let whole = |pieces: &[Piece]| pieces.iter().map(|p| p.width()).sum::<u32>();
        let resized = whole(&a) + whole(&b) != width;
        out.write_str(if resized { "resize(" } else { "" })?;
        if signed {
            out.write_str("unsigned(signed(")?;
            pieces(out, self.netlist, &a, Use::Converted)?;
            out.write_str(") *")?;
            out.blank()?;
            out.write_str("signed(")?;
            pieces(out, self.netlist, &b, Use::Converted)?;
            out.write_str("))")?;
        } else {
            pieces(out, self.netlist, &a, Use::Operand)?;
            out.write_str(" *")?;
            out.blank()?;
            pieces(out, self.netlist, &b, Use::Operand)?;
        }
        if resized { write!(out, ", {width})") } else { Ok(()) }
    }

    /// Comparison of bit patterns: `std_logic_vector` has no opinion about numbers and no warnings at time zero.
    fn reduction(&self, out: &mut Columns<'_, '_>, a: Wiring, operator: &str, all: bool) -> fmt::Result {
        out.write_str("\"1\" when std_logic_vector(")?;
        self.operand(out, a, Use::Converted)?;
        write!(out, ") {operator}")?;
        out.blank()?;
        let digit = if all { '1' } else { '0' };
        if a.width() > STRING {
            write!(out, "std_logic_vector'({} downto 0 => '{digit}')", a.width() - 1)?;
        } else {
            write!(out, "\"{}\"", digit.to_string().repeat(a.width() as usize))?;
        }
        out.write_str(" else \"0\"")
    }
}

impl Display for Expression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let netlist = self.netlist;
        let net = netlist.net(self.net);
        let out = &mut Columns::new(f, 20);
        match net.cell {
            Cell::Input { port, lo } => {
                let port = &netlist.ports()[port.0 as usize];
                out.write_str("unsigned(")?;
                port_bits(out, port, lo, net.width)?;
                out.write_str(")")
            }
            Cell::Alias { x } => self.operand(out, x, Use::Whole),
            Cell::Add { a, b } => self.infix(out, "+", a, b),
            Cell::Sub { a, b } => self.infix(out, "-", a, b),
            Cell::Neg { a } => self.prefix(out, "0 - ", a),
            Cell::Mul { a, b, signed } => self.product(out, a, b, signed),
            Cell::Mux { sel, on_true, on_false } => {
                self.operand(out, on_true, Use::Whole)?;
                write!(out, " when {} else", is_set(netlist, sel, true))?;
                out.blank()?;
                self.operand(out, on_false, Use::Whole)
            }
            Cell::Not { a } => self.prefix(out, "not ", a),
            Cell::And { a, b } => self.infix(out, "and", a, b),
            Cell::Or { a, b } => self.infix(out, "or", a, b),
            Cell::Xor { a, b } => self.infix(out, "xor", a, b),
            Cell::ReduceOr { a } => self.reduction(out, a, "/=", false),
            Cell::ReduceAnd { a } => self.reduction(out, a, "=", true),
            Cell::Rom { rom, addr } => {
                let name = &netlist.roms()[rom.0 as usize].name;
                let memory = self.forms[rom.0 as usize] == Form::Memory;
                if memory {
                    write!(out, "unsigned({name}(to_integer(")?
                } else {
                    write!(out, "{name}(")?
                }
                self.operand(out, addr, Use::Converted)?;
                out.write_str(if memory { ")))" } else { ")" })
            }
            Cell::Register { d, .. } => self.operand(out, d, Use::Whole),
        }
    }
}

/// Bits of a port of the module as they stand in an assignment: its name, a slice, or nothing but the name of a scalar.
fn port_bits(out: &mut impl Write, port: &Port, lo: u32, taken: u32) -> fmt::Result {
    out.write_str(&port.name)?;
    if taken == port.width { Ok(()) } else { write!(out, "({} downto {lo})", lo + taken - 1) }
}

/// Wiring where a whole `unsigned` is wanted.
struct Value<'a> {
    netlist: &'a Context<'a>,
    wiring: Option<Wiring>,
}

impl Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wiring {
            Some(w) => pieces(&mut Columns::new(f, 30), self.netlist, self.netlist.pieces(w), Use::Whole),
            None => Ok(()),
        }
    }
}

/// A net of an entity, or a register.
struct NetText<'a> {
    netlist: &'a Context<'a>,
    forms: &'a [Form],
    net: NetId,
}

impl<'a> NetText<'a> {
    fn name(&self) -> &'a str {
        self.netlist.name(self.net)
    }

    fn subtype(&self) -> Subtype {
        Subtype(self.netlist.width(self.net))
    }

    fn remark(&self) -> shared::Remark<'a> {
        shared::Remark { sign: "--", text: self.netlist.comment(self.net) }
    }

    fn expression(&self) -> Expression<'a> {
        Expression { netlist: self.netlist, forms: self.forms, net: self.net }
    }

    fn attributes(&self) -> Vec<String> {
        let mut lines = self.netlist.requests.vhdl_signal(self.name(), self.is_register());
        if !wants_logic(self.netlist, self.forms, self.net) {
            return lines;
        }
        let line = |&(attribute, value): &(&str, &str)| {
            format!("attribute {attribute} of {} : signal is \"{value}\";", self.name())
        };
        lines.extend([("rom_style", "distributed"), ("romstyle", "logic"), ("syn_romstyle", "logic")].iter().map(line));
        lines
    }

    fn is_register(&self) -> bool {
        matches!(self.netlist.net(self.net).cell, Cell::Register { .. })
    }

    fn initial_value(&self) -> String {
        match shared::init(self.netlist, self.net) {
            Some(init) => format!(" := {}", Value { netlist: self.netlist, wiring: Some(init) }),
            None => String::new(),
        }
    }

    fn reset_value(&self) -> Value<'a> {
        Value { netlist: self.netlist, wiring: shared::reset_value(self.netlist, self.net) }
    }
}

fn wants_logic(netlist: &Context<'_>, forms: &[Form], net: NetId) -> bool {
    match netlist.net(net).cell {
        Cell::Rom { rom, .. } => forms[rom.0 as usize] == Form::LogicFunction,
        _ => false,
    }
}

/// Everything below an entity of the template.
#[derive(Clone, Copy)]
struct Entity<'a> {
    netlist: &'a Context<'a>,
    forms: &'a [Form],
    plan: &'a Plan,
    names: &'a Names,
    module: &'a Module,
}

impl<'a> Entity<'a> {
    fn name(&self) -> &'a str {
        &self.module.name
    }

    fn nets(&self, nets: &'a [NetId]) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        let Entity { netlist, forms, .. } = *self;
        nets.iter().map(move |&net| NetText { netlist, forms, net })
    }

    fn has_ports(&self) -> bool {
        !self.ports().is_empty()
    }

    fn ports(&self) -> Vec<String> {
        let mut ports = Vec::new();
        if self.module.stage.is_none() {
            for port in self.netlist.ports() {
                let direction = match port.direction {
                    Direction::In => "in ",
                    Direction::Out => "out",
                };
                // A vector of one bit stays a vector: the port's shape does not depend on its width.
                let subtype = match port.scalar {
                    true => "std_logic".to_owned(),
                    false => format!("std_logic_vector({} downto 0)", port.width - 1),
                };
                ports.push(format!("{} : {direction} {subtype}", port.name));
            }
        } else {
            ports.extend(shared::clock(self.netlist, self.module).map(|clock| format!("{clock} : in  std_logic")));
            ports.extend(self.module.imports.iter().map(|&net| {
                let name = self.netlist.read_name(net);
                let scalar = self.netlist.is_scalar_port(net);
                if scalar {
                    format!("{name} : in  std_logic")
                } else {
                    format!("{name} : in  {}", Subtype(self.netlist.width(net)))
                }
            }));
            ports.extend(self.module.exports.iter().map(|&net| {
                let name = self.names.output_of(self.netlist.name(net));
                format!("{name} : out {}", Subtype(self.netlist.width(net)))
            }));
        }
        let last = ports.len().saturating_sub(1);
        ports[..last].iter_mut().for_each(|port| port.push(';'));
        ports
    }

    fn attribute_declarations(&self) -> Vec<String> {
        let nets = || self.module.sections.iter().flat_map(|s| s.nets.iter());
        let needed = if nets().any(|&net| wants_logic(self.netlist, self.forms, net)) {
            ["rom_style", "romstyle", "syn_romstyle"].as_slice()
        } else if self.memories().next().is_some() {
            ["rom_style", "syn_romstyle"].as_slice()
        } else {
            &[]
        };
        let mut lines = self.netlist.requests.vhdl_architecture(self.module.clocked);
        lines.extend(needed.iter().map(|attribute| format!("attribute {attribute} : string;")));
        lines
    }

    fn memories(&self) -> impl Iterator<Item = RomText<'a>> + use<'a> {
        self.roms(|form| form == Form::Memory)
    }

    fn functions(&self) -> impl Iterator<Item = RomText<'a>> + use<'a> {
        self.roms(|form| form != Form::Memory)
    }

    fn roms(&self, wanted: fn(Form) -> bool) -> impl Iterator<Item = RomText<'a>> + use<'a> {
        let Entity { netlist, forms, names, module, .. } = *self;
        let used = module.roms.iter().map(|&rom| rom as usize);
        used.filter(move |&rom| wanted(forms[rom])).map(move |rom| RomText { rom: &netlist.roms()[rom], names })
    }

    fn has_links(&self) -> bool {
        !self.module.links.is_empty()
    }

    fn links(&self) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        self.nets(&self.module.links)
    }

    fn sections(&self) -> impl Iterator<Item = SectionText<'a>> + use<'a> {
        let entity = *self;
        self.module.sections.iter().map(move |section| SectionText { entity, section })
    }

    fn instances(&self) -> impl Iterator<Item = InstanceText<'a>> + use<'a> {
        let Entity { netlist, plan, names, .. } = *self;
        self.module.instances.iter().map(move |&index| InstanceText { netlist, names, module: &plan.modules[index] })
    }

    fn has_outputs(&self) -> bool {
        self.outputs().next().is_some()
    }

    fn outputs(&self) -> impl Iterator<Item = OutputText<'a>> + use<'a> {
        let Entity { netlist, names, module, .. } = *self;
        let ports = if module.stage.is_none() { netlist.ports().len() } else { 0 };
        let of_ports = (0..ports).flat_map(move |port| {
            plan::output_slices(netlist, port).into_iter().map(move |slice| OutputText::Port { netlist, port, slice })
        });
        of_ports.chain(module.exports.iter().map(move |&net| OutputText::Export { netlist, names, net }))
    }
}

struct SectionText<'a> {
    entity: Entity<'a>,
    section: &'a Section,
}

impl<'a> SectionText<'a> {
    fn heading(&self) -> String {
        shared::heading(self.section.kind)
    }

    fn has_nets(&self) -> bool {
        self.nets().next().is_some()
    }

    fn has_signals(&self) -> bool {
        self.has_nets() || self.registers().next().is_some()
    }

    fn nets(&self) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        // A scalar port is read by its own name and needs no signal.
        let netlist = self.entity.netlist;
        self.entity.nets(&self.section.nets).filter(move |net| !netlist.is_scalar_port(net.net))
    }

    fn registers(&self) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        let entity = self.entity;
        self.section.groups.iter().flat_map(move |group| entity.nets(&group.registers))
    }

    fn groups(&self) -> impl Iterator<Item = GroupText<'a>> + use<'a> {
        let (entity, kind) = (self.entity, self.section.kind);
        self.section.groups.iter().map(move |group| GroupText { entity, kind, group })
    }
}

/// Registers in one process.
struct GroupText<'a> {
    entity: Entity<'a>,
    kind: Kind,
    group: &'a Group,
}

impl<'a> GroupText<'a> {
    fn heading(&self) -> String {
        shared::group_heading(self.entity.netlist, self.kind, self.group)
    }

    fn registers(&self) -> impl Iterator<Item = NetText<'a>> + use<'a> {
        self.entity.nets(&self.group.registers)
    }

    fn clock(&self) -> &'a str {
        shared::clock(self.entity.netlist, self.entity.module).unwrap_or_default()
    }

    fn sensitivity(&self) -> String {
        let netlist = self.entity.netlist;
        match self.group.reset {
            Some(reset) if reset.asynchronous => {
                let read = plan::nets_of(netlist, reset.when);
                let names = std::iter::once(self.clock()).chain(read.map(|net| netlist.read_name(net)));
                names.collect::<Vec<_>>().join(", ")
            }
            _ => self.clock().to_owned(),
        }
    }

    fn has_asynchronous_reset(&self) -> bool {
        self.group.reset.is_some_and(|reset| reset.asynchronous)
    }

    fn has_synchronous_reset(&self) -> bool {
        self.group.reset.is_some_and(|reset| !reset.asynchronous)
    }

    fn reset_condition(&self) -> String {
        self.group.reset.map_or_else(String::new, |r| is_set(self.entity.netlist, r.when, r.active_high))
    }

    fn has_enable(&self) -> bool {
        self.group.enable.is_some()
    }

    fn enable_condition(&self) -> String {
        self.group.enable.map_or_else(String::new, |enable| is_set(self.entity.netlist, enable, true))
    }
}

/// A stage inside the top entity.
struct InstanceText<'a> {
    netlist: &'a Context<'a>,
    names: &'a Names,
    module: &'a Module,
}

impl InstanceText<'_> {
    fn name(&self) -> &str {
        &self.module.name
    }

    fn connections(&self) -> Vec<String> {
        let clock = shared::clock(self.netlist, self.module);
        let inputs = self.module.imports.iter().map(|&net| self.netlist.read_name(net));
        let same = clock.into_iter().chain(inputs).map(|name| format!("{name} => {name}"));
        let outputs = self.module.exports.iter().map(|&net| self.netlist.name(net));
        shared::with_commas(
            same.chain(outputs.map(|name| format!("{} => {name}", self.names.output_of(name)))).collect(),
        )
    }
}

/// What drives bits of an output port.
enum OutputText<'a> {
    /// An element of a port of the top entity.
    Port { netlist: &'a Context<'a>, port: usize, slice: OutputSlice },
    /// A net that leaves its stage.
    Export { netlist: &'a Context<'a>, names: &'a Names, net: NetId },
}

impl OutputText<'_> {
    fn target(&self) -> String {
        let mut out = String::new();
        match self {
            OutputText::Port { netlist, port, slice } => {
                port_bits(&mut out, &netlist.ports()[*port], slice.lo, slice.width).expect("a string takes everything");
            }
            OutputText::Export { netlist, names, net } => out.push_str(&names.output_of(netlist.name(*net))),
        }
        out
    }

    fn expression(&self) -> Driver<'_> {
        Driver(self)
    }

    fn remark(&self) -> shared::Remark<'_> {
        let text = match self {
            OutputText::Port { slice, .. } => slice.remark.as_str(),
            OutputText::Export { .. } => "",
        };
        shared::Remark { sign: "--", text }
    }
}

/// The right side of an output's assignment.
struct Driver<'a>(&'a OutputText<'a>);

impl Display for Driver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let out = &mut Columns::new(f, 40);
        match self.0 {
            OutputText::Export { netlist, net, .. } => out.write_str(netlist.name(*net)),
            OutputText::Port { netlist, port, slice } if netlist.ports()[*port].scalar => match slice.pieces[..] {
                [Piece::Bits { net, lo, .. }] => net_bit(out, netlist, net, lo),
                [Piece::Const { one, .. }] => write!(out, "'{}'", u8::from(one)),
                _ => unreachable!("a scalar port is driven by one bit"),
            },
            OutputText::Port { netlist, slice, .. } => {
                out.write_str("std_logic_vector(")?;
                pieces(out, netlist, &slice.pieces, Use::Converted)?;
                out.write_str(")")
            }
        }
    }
}

/// A table.
struct RomText<'a> {
    rom: &'a Rom,
    names: &'a Names,
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

    fn type_name(&self) -> String {
        self.names.fresh(&self.rom.name, TYPE)
    }

    /// Not `unsigned`: an array of those would give `&` a second meaning on every net.
    fn subtype(&self) -> String {
        format!("std_logic_vector({} downto 0)", self.rom.word_width - 1)
    }

    fn address_subtype(&self) -> Subtype {
        Subtype(self.rom.addr_width)
    }

    fn last_address(&self) -> u64 {
        rom::memory_words(self.rom) - 1
    }

    fn remark(&self) -> shared::Remark<'a> {
        shared::Remark { sign: "--", text: &self.rom.comment }
    }

    fn words(&self) -> impl Iterator<Item = Word> + use<'a> {
        let rom = self.rom;
        rom.words.iter().enumerate().map(move |(address, &word)| Word {
            label: binary(rom.addr_width, address as u64),
            value: binary(rom.word_width, word),
        })
    }

    /// One for each address, with commas.
    fn memory_words(&self) -> impl Iterator<Item = String> + use<'a> {
        let rom = self.rom;
        let last = self.last_address();
        (0..=last).map(move |address| {
            let word = rom.words.get(address as usize).copied().unwrap_or(0);
            format!("{}{}", binary(rom.word_width, word), if address == last { "" } else { "," })
        })
    }

    fn zero(&self) -> String {
        binary(self.rom.word_width, 0)
    }
}

/// A string of `width` binary digits.
fn binary(width: u32, value: u64) -> String {
    let mut digits = String::with_capacity(width as usize + 2);
    digits.push('"');
    digits.extend((0..width).rev().map(|bit| if bit < 64 && value >> bit & 1 == 1 { '1' } else { '0' }));
    digits.push('"');
    digits
}
