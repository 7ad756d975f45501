//! Code generator for Verilog-2001, and the parts that SystemVerilog shares ([`super::system_verilog`]).
//!
//! The generated subset is small, so that all tools and readers interpret it in the same way. Nets of Verilog-2001 are
//! unsigned. Explicit slices, concatenations and replications extend the operands of an operator to the width of its
//! result. The only signed expressions are the operands of signed comparisons and products. An operand of a product is
//! `$signed({{n{msb}}, x})` of the width of the product; synthesis reduces the product to a multiplier of the original
//! widths. A table is a function with a single `case`, or a memory with initial contents if BRAM is requested.

use super::Options;
use super::attributes::Requests;
use super::context::{Context, Printing};
use super::line::{Line, Spelt, spelt};
use super::plan::{Kind, Part, Plan, Unread, UnreadGroup};
use super::rom::{Arrays, BLOCK_WORDS, Tables};
use super::shared;
use super::sink::Sink;
use super::system_verilog;
use super::table_modules;
use super::verilog_tables::VerilogTable;
use super::verilog_wiring::{operand, select};
use super::view::{
    self, Dialect, GroupView, InstanceView, ModuleView, NetView, RomView, SectionView, TableInstance, View, Word,
};
use crate::device::Form;
use crate::netlist::{Cell, Direction, NetId, Netlist, Piece, Port, RomId, Wiring};
use askama::Template;
use std::fmt;

/// Writes the whole file.
pub(super) fn write(
    netlist: &Netlist,
    options: &Options,
    standard: Standard,
    printing: Printing,
    out: &mut Sink<'_>,
) -> fmt::Result {
    let tables = &Tables::new(netlist, options.rom_style, Arrays::Shared);
    let netlist = &Context::new(netlist, Requests::from_options(options), &tables.forms, printing);
    let plan = &Plan::new(netlist, options);
    let table_modules = table_modules::modules(netlist, &tables.pieces).into_iter().map(VerilogTable).collect();
    let modules = view::modules(View { netlist, tables, plan, dialect: Verilog(standard) });
    File { head: view::head::<Verilog>(netlist), table_modules, modules }.render_into(out).map_err(|_| fmt::Error)
}

#[derive(Template)]
#[template(path = "verilog/file.v")]
struct File<'a> {
    head: Vec<String>,
    table_modules: Vec<VerilogTable>,
    modules: Vec<ModuleView<'a, Verilog>>,
}

/// Template of the lines of some nets of a section.
#[derive(Template)]
#[template(path = "verilog/nets.v")]
struct NetsFile<'a> {
    module: ModuleView<'a, Verilog>,
    nets: &'a [NetId],
}

impl<'a> NetsFile<'a> {
    fn nets(&self) -> impl Iterator<Item = NetView<'a, Verilog>> + use<'a> {
        self.module.declared(self.nets)
    }
}

/// Version of the language.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standard {
    Verilog2001,
    SystemVerilog2017,
}

/// The Verilog dialect: Verilog-2001 or SystemVerilog-2017.
#[derive(Clone, Copy)]
pub(super) struct Verilog(Standard);

impl Verilog {
    fn is_system(self) -> bool {
        self.0 == Standard::SystemVerilog2017
    }
}

impl Dialect for Verilog {
    const COMMENT: &'static str = "//";
    const COLUMN: usize = 30;

    /// Writes a range such as `[7:0] `, or nothing for one bit; in SystemVerilog, `signed` comes before the range.
    fn net_type(self, line: &mut Line<'_>, width: u32, signed: bool) {
        line.push(if signed && self.is_system() { "signed " } else { "" });
        if width > 1 {
            line.push("[");
            line.number(width - 1);
            line.push(":0] ");
        }
    }

    fn port_bits(line: &mut Line<'_>, port: &Port, lo: u32, taken: u32) {
        // A port of one bit that is not scalar is a vector `[0:0]`; its name without a select is that bit.
        select(line, &port.name, port.width, lo, taken);
    }

    fn word(width: u32, word: u64) -> String {
        format!("{width}'h{word:0digits$x}", digits = width.div_ceil(4) as usize)
    }

    fn whole(view: &View<'_, Verilog>, line: &mut Line<'_>, pieces: &[Piece], signed: bool) {
        // A constant can be assigned to a signed or an unsigned net.
        let is_typed = view.dialect.is_system() && pieces.iter().any(|piece| piece.net().is_some());
        match is_typed {
            true => system_verilog::operand(view.netlist, line, pieces, Some(signed)),
            false => operand(view.netlist, line, pieces),
        }
    }

    fn expression(view: &View<'_, Verilog>, line: &mut Line<'_>, net: NetId) {
        if view.dialect.is_system() {
            return system_verilog::expression(view.netlist, line, net, |rom| lookup(view, rom));
        }
        let netlist = view.netlist;
        let net = netlist.net(net);
        let pieces = |wiring: Wiring| netlist.pieces(wiring);
        match net.cell {
            Cell::Input { port, lo } => Verilog::port_bits(line, &netlist.ports()[port.0 as usize], lo, net.width),
            Cell::Alias { x } | Cell::Register { d: x, .. } => operand(netlist, line, pieces(x)),
            Cell::Add { a, b } => infix(netlist, line, " +", a, b),
            Cell::Sub { a, b } => infix(netlist, line, " -", a, b),
            Cell::Three { a, b, c, minus } => {
                infix(netlist, line, shared::plus_or_minus(minus[0]), a, b);
                line.push(shared::plus_or_minus(minus[1]));
                line.blank();
                operand(netlist, line, pieces(c));
            }
            Cell::Neg { a } => prefix(netlist, line, "-", a),
            Cell::Mul { a, b, signed } => {
                factor(netlist, line, a, net.width, signed);
                line.push(" *");
                line.blank();
                factor(netlist, line, b, net.width, signed);
            }
            Cell::Less { a, b, signed } => {
                factor(netlist, line, a, a.width(), signed);
                line.push(" <");
                line.blank();
                factor(netlist, line, b, b.width(), signed);
            }
            Cell::Mux { sel, on_true, on_false } => {
                operand(netlist, line, pieces(sel));
                line.push(" ? ");
                infix(netlist, line, " :", on_true, on_false);
            }
            Cell::Not { a } => prefix(netlist, line, "~", a),
            Cell::And { a, b } => infix(netlist, line, " &", a, b),
            Cell::Or { a, b } => infix(netlist, line, " |", a, b),
            Cell::Xor { a, b } => infix(netlist, line, " ^", a, b),
            Cell::ReduceOr { a } => prefix(netlist, line, "|", a),
            Cell::ReduceAnd { a } => prefix(netlist, line, "&", a),
            Cell::Rom { rom, addr } => {
                let (open, close) = lookup(view, rom);
                line.push(&netlist.roms()[rom.0 as usize].name);
                line.push(open);
                operand(netlist, line, pieces(addr));
                line.push(close);
            }
        }
    }

    fn driver(view: &View<'_, Verilog>, line: &mut Line<'_>, _port: &Port, pieces: &[Piece]) {
        Verilog::whole(view, line, pieces, false);
    }
}

/// Returns the brackets around the address of a table: those of an array or of a function call.
fn lookup(view: &View<'_, Verilog>, rom: RomId) -> (&'static str, &'static str) {
    match view.tables.forms[rom.0 as usize] {
        Form::Memory if view.tables.arrays[rom.0 as usize] => ("[", "]"),
        Form::Memory | Form::Function | Form::LogicFunction => ("(", ")"),
        Form::Pieces => unreachable!("an instance drives the net"),
    }
}

fn prefix(netlist: &Context<'_>, line: &mut Line<'_>, operator: &str, a: Wiring) {
    line.push(operator);
    operand(netlist, line, netlist.pieces(a));
}

fn infix(netlist: &Context<'_>, line: &mut Line<'_>, operator: &str, a: Wiring, b: Wiring) {
    operand(netlist, line, netlist.pieces(a));
    line.push(operator);
    line.blank();
    operand(netlist, line, netlist.pieces(b));
}

/// Writes an operand of a product or comparison, extended or truncated to `width` bits.
fn factor(netlist: &Context<'_>, line: &mut Line<'_>, x: Wiring, width: u32, signed: bool) {
    let wide = shared::resized(netlist.pieces(x), width, signed);
    if !signed {
        return operand(netlist, line, &wide);
    }
    line.push("$signed(");
    operand(netlist, line, &wide);
    line.push(")");
}

impl NetView<'_, Verilog> {
    /// Returns `true` if the net is declared in the port list.
    fn is_port(&self) -> bool {
        self.module.exports.binary_search(&self.net).is_ok()
    }

    /// Returns the instance that drives the net, or `None` if the net is not read from a table in pieces.
    fn instance(&self) -> Option<String> {
        let TableInstance { module, label, address } = self.table_instance()?;
        let netlist = self.view.netlist;
        let view = self.view;
        let address = spelt(30, move |line| match view.dialect.is_system() {
            true => system_verilog::address(netlist, line, netlist.pieces(address)),
            false => operand(netlist, line, netlist.pieces(address)),
        });
        Some(format!("{module} {label} (.address({address}), .word({}));", self.name()))
    }

    fn has_attributes(&self) -> bool {
        !self.attributes().is_empty()
    }

    fn attributes(&self) -> &'static str {
        self.view.netlist.requests.verilog_net(self.request())
    }

    fn register_attributes(&self) -> &'static str {
        self.view.netlist.requests.verilog_register()
    }
}

impl<'a> ModuleView<'a, Verilog> {
    fn attributes(&self) -> Option<String> {
        self.view.netlist.requests.verilog_module().filter(|_| self.module.clocked)
    }

    fn ports(&self) -> Vec<String> {
        let netlist = self.view.netlist;
        let (dialect, variable) = (self.view.dialect, self.variable());
        let mut ports = Vec::new();
        if self.module.part == Part::Top {
            for port in netlist.ports() {
                let direction = match port.direction {
                    Direction::In => "input ",
                    Direction::Out => "output",
                };
                // A vector of one bit remains a vector, so that the type of a port does not depend on its width.
                let range = if port.scalar { String::new() } else { format!("[{}:0] ", port.width - 1) };
                ports.push(format!("{direction} wire {range}{}", port.name));
            }
        } else {
            ports.extend(shared::clock(netlist, self.module).map(|clock| format!("input  wire {clock}")));
            let line = |kind: &str, net: NetId| {
                let signed = netlist.is_signed(net);
                let range = spelt(0, |line| dialect.net_type(line, netlist.width(net), signed));
                format!("{kind} {range}{}", netlist.read_name(net))
            };
            let requests = netlist.requests;
            ports.extend(self.module.imports.iter().map(|&net| line("input  wire", net)));
            ports.extend(self.module.exports.iter().map(|&net| match netlist.net(net).cell {
                Cell::Register { .. } => line(&format!("{}output {variable}", requests.verilog_register()), net),
                _ => {
                    let net_view = NetView { view: self.view, module: self.module, net };
                    line(&format!("{}output wire", requests.verilog_net(net_view.request())), net)
                }
            }));
        }
        shared::with_commas(ports)
    }

    /// Returns the keyword of a register.
    fn variable(&self) -> &'static str {
        if self.view.dialect.is_system() { "logic" } else { "reg" }
    }

    /// Returns the type of the module's constants.
    fn constant_type(&self) -> &'static str {
        if self.view.dialect.is_system() { "int" } else { "[31:0]" }
    }

    /// Returns latency and initiation interval, which are constants of the top module; `None` in other modules and in
    /// stateful designs.
    fn constants(&self) -> Option<[u32; 2]> {
        let interface = &self.view.netlist.interface;
        let is_known = self.module.part == Part::Top && !interface.stateful;
        is_known.then_some([interface.latency, interface.initiation_interval])
    }

    fn has_memories(&self) -> bool {
        self.memories().next().is_some()
    }

    fn has_early_registers(&self) -> bool {
        self.early_registers().next().is_some()
    }

    fn early_registers(&self) -> impl Iterator<Item = NetView<'a, Verilog>> + use<'a> {
        self.nets(&self.module.early).filter(|net| !net.is_port())
    }

    fn has_unread_bits(&self) -> bool {
        !self.module.unread.is_empty()
    }

    /// Returns the reductions of unread bits of ports and nets.
    fn unread_groups(&self) -> impl Iterator<Item = UnreadView<'a>> + use<'a> {
        let module = *self;
        self.module.unread.iter().map(move |group| UnreadView { group, module })
    }

    fn reduction(&self, group: &'a UnreadGroup) -> Spelt<impl Fn(&mut Line<'_>) + use<'a>> {
        let netlist = self.view.netlist;
        spelt(30, move |line| {
            // The constant makes the reduction independent of values: it is 0 in every tool.
            line.push("&{1'b0");
            for bits in &group.signals {
                line.push(",");
                line.blank();
                match *bits {
                    Unread::Net(net) => line.push(netlist.read_name(net)),
                    Unread::Port { port, lo, width } => {
                        Verilog::port_bits(line, &netlist.ports()[port], lo, width);
                    }
                }
            }
            line.push("}");
        })
    }
}

impl<'a> SectionView<'a, Verilog> {
    fn net_lines(&self) -> impl fmt::Display + use<'a> {
        self.lines(|module, nets| NetsFile { module, nets })
    }
}

/// Signals of one section with unread bits, reduced to one net.
struct UnreadView<'a> {
    group: &'a UnreadGroup,
    module: ModuleView<'a, Verilog>,
}

impl<'a> UnreadView<'a> {
    fn heading(&self) -> Option<String> {
        self.group.heading.map(|kind| match kind {
            Kind::Stage(stage) if stage > 0 => format!("Stage {stage}"),
            other => shared::heading(self.module.view.netlist, other),
        })
    }

    fn reduction(&self) -> Spelt<impl Fn(&mut Line<'_>) + use<'a>> {
        self.module.reduction(self.group)
    }
}

impl<'a> GroupView<'a, Verilog> {
    fn declared_here(&self) -> impl Iterator<Item = NetView<'a, Verilog>> + use<'a> {
        let early = &self.module.module.early;
        self.registers().filter(move |net| !net.is_port() && early.binary_search(&net.net).is_err())
    }

    fn has_initial_values(&self) -> bool {
        self.registers().any(|register| register.has_initial_value())
    }

    /// Returns the keyword of the process: `always_ff` in SystemVerilog for registers without initial values, otherwise
    /// `always`. A variable that is assigned in `always_ff` must have no other driver such as an `initial` block (IEEE
    /// 1800-2017, 9.2.2.4), and Verilator warns about initial values in declarations.
    fn always(&self) -> &'static str {
        let is_system = self.module.view.dialect.is_system();
        if is_system && !self.has_initial_values() { "always_ff" } else { "always" }
    }

    fn events(&self) -> String {
        let clock = self.clock();
        match self.group.reset {
            Some(reset) if reset.asynchronous => {
                let edge = if reset.active_high { "posedge" } else { "negedge" };
                format!("posedge {clock} or {edge} {}", self.bit(reset.when))
            }
            _ => format!("posedge {clock}"),
        }
    }

    fn reset_condition(&self) -> String {
        self.group.reset.map_or_else(String::new, |reset| {
            format!("{}{}", if reset.active_high { "" } else { "!" }, self.bit(reset.when))
        })
    }

    fn enable_condition(&self) -> String {
        self.group.enable.map_or_else(String::new, |enable| self.bit(enable))
    }

    fn bit(&self, wiring: Wiring) -> String {
        let netlist = self.module.view.netlist;
        spelt(0, |line| operand(netlist, line, netlist.pieces(wiring))).to_string()
    }
}

impl InstanceView<'_, Verilog> {
    fn connections(&self) -> Vec<String> {
        let exports = self.module.exports.iter().map(|&net| self.view.netlist.read_name(net));
        shared::with_commas(self.inputs().chain(exports).map(|name| format!(".{name}({name})")).collect())
    }
}

impl<'a> RomView<'a, Verilog> {
    fn range(&self) -> Spelt<impl Fn(&mut Line<'_>) + use<'a>> {
        let (dialect, width) = (self.view.dialect, self.rom.word_width);
        spelt(0, move |line| dialect.net_type(line, width, false))
    }

    /// Returns the type of the function's result. Icarus 11 accepts no type for the input.
    fn data_type(&self) -> &'static str {
        if self.view.dialect.is_system() { "logic " } else { "" }
    }

    /// Returns the attributes of the `case`. Yosys builds a memory from the `case` and reads the attributes there;
    /// other tools read those of the net that reads the table.
    fn case_attributes(&self) -> &'static str {
        match self.form {
            Form::LogicFunction => "(* romstyle = \"logic\" *) ",
            Form::Memory => "(* rom_style = \"block\" *) ",
            Form::Function | Form::Pieces => "",
        }
    }

    fn attributes(&self) -> &'static str {
        "(* rom_style = \"block\", syn_romstyle = \"block_rom\" *)\n    "
    }

    /// Returns the words of each `initial` block.
    fn blocks(&self) -> impl Iterator<Item = Vec<Word>> + use<'a> {
        let words: Vec<Word> = self.memory_words().collect();
        let mut words = words.into_iter();
        std::iter::from_fn(move || {
            let block: Vec<Word> = words.by_ref().take(BLOCK_WORDS).collect();
            (!block.is_empty()).then_some(block)
        })
    }

    fn cases(&self) -> impl Iterator<Item = Word> + use<'a> {
        self.words(|width, address| format!("{width}'d{address}"))
    }
}
