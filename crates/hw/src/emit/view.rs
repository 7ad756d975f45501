//! View of a planned file for the templates, independent of the language.
//!
//! A template iterates over modules, sections, nets, register groups, instances and outputs; this module defines their
//! names and their order. The [`Dialect`] defines the syntax, and adds methods to these types if its template needs
//! more.

use super::attributes::AttributeRequest;
use super::context::{Context, Printing};
use super::line::{Line, Spelt, spelt};
use super::plan::{self, Group, Kind, Module, OutputSlice, Part, Plan, Section};
use super::rom::Tables;
use super::shared;
use super::table_modules::module_name;
use crate::device::{Form, memory_words};
use crate::netlist::{Cell, NetId, Netlist, Piece, Port, Rom, Wiring};
use alir_core::parallel;
use askama::Template;
use std::fmt;

/// Syntax of an HDL.
pub(super) trait Dialect: Copy {
    /// Token that begins a comment.
    const COMMENT: &'static str;

    /// Approximate column at which the right side of an assignment begins.
    const COLUMN: usize;

    /// Writes the type of a net of this width and sign for a declaration.
    fn net_type(self, line: &mut Line<'_>, width: u32, signed: bool);

    /// Writes bits of a port of the module for an assignment.
    fn port_bits(line: &mut Line<'_>, port: &Port, lo: u32, taken: u32);

    /// Returns a constant word of a table.
    fn word(width: u32, word: u64) -> String;

    /// Writes non-empty wiring as the right side of an assignment to a target with this sign.
    fn whole(view: &View<'_, Self>, line: &mut Line<'_>, pieces: &[Piece], signed: bool);

    /// Writes the right side of a net's assignment.
    fn expression(view: &View<'_, Self>, line: &mut Line<'_>, net: NetId);

    /// Writes the driver of bits of an output port.
    fn driver(view: &View<'_, Self>, line: &mut Line<'_>, port: &Port, pieces: &[Piece]);
}

/// Data that all parts of a file need.
#[derive(Clone, Copy)]
pub(super) struct View<'a, D> {
    pub(super) netlist: &'a Context<'a>,
    pub(super) tables: &'a Tables,
    pub(super) plan: &'a Plan,
    pub(super) dialect: D,
}

/// Returns a comment that extends to the end of the line.
fn remark<'s, D: Dialect>(text: &'s str) -> Spelt<impl Fn(&mut Line<'_>) + use<'s, D>> {
    spelt(0, move |line| shared::remark(line, D::COMMENT, text))
}

/// A net of a module, or a register.
#[derive(Clone, Copy)]
pub(super) struct NetView<'a, D> {
    pub(super) view: View<'a, D>,
    pub(super) module: &'a Module,
    pub(super) net: NetId,
}

impl<'a, D: Dialect + 'a> NetView<'a, D> {
    pub(super) fn name(&self) -> &'a str {
        self.view.netlist.name(self.net)
    }

    pub(super) fn net_type(&self) -> Spelt<impl Fn(&mut Line<'_>) + use<'a, D>> {
        let (dialect, width) = (self.view.dialect, self.view.netlist.width(self.net));
        let signed = self.view.netlist.is_signed(self.net);
        spelt(0, move |line| dialect.net_type(line, width, signed))
    }

    pub(super) fn remark(&self) -> Spelt<impl Fn(&mut Line<'_>) + use<'a, D>> {
        remark::<D>(self.view.netlist.comment(self.net))
    }

    /// Returns the name of the layer that begins with this net, or `None` if no layer begins here.
    pub(super) fn layer(&self) -> Option<&'a str> {
        let netlist: &'a Netlist = self.view.netlist;
        self.view.plan.layer_starts.get(&self.net).map(|&layer| netlist.layer_names()[layer as usize].as_str())
    }

    pub(super) fn expression(&self) -> Spelt<impl Fn(&mut Line<'_>) + use<'a, D>> {
        let (view, net) = (self.view, self.net);
        spelt(D::COLUMN, move |line| D::expression(&view, line, net))
    }

    pub(super) fn has_initial_value(&self) -> bool {
        shared::init(self.view.netlist, self.net).is_some()
    }

    pub(super) fn initial_value(&self) -> Spelt<impl Fn(&mut Line<'_>) + use<'a, D>> {
        self.constant(shared::init(self.view.netlist, self.net))
    }

    pub(super) fn reset_value(&self) -> Spelt<impl Fn(&mut Line<'_>) + use<'a, D>> {
        self.constant(shared::reset_value(self.view.netlist, self.net))
    }

    fn constant(&self, wiring: Option<Wiring>) -> Spelt<impl Fn(&mut Line<'_>) + use<'a, D>> {
        let view = self.view;
        let signed = view.netlist.is_signed(self.net);
        spelt(30, move |line| {
            if let Some(wiring) = wiring {
                D::whole(&view, line, view.netlist.pieces(wiring), signed);
            }
        })
    }

    /// Returns the instance of a table in pieces that drives the net, or `None` if another cell drives it.
    pub(super) fn table_instance(&self) -> Option<TableInstance> {
        let View { netlist, tables, .. } = self.view;
        let Cell::Rom { rom, addr: address } = netlist.net(self.net).cell else { return None };
        (tables.forms[rom.0 as usize] == Form::Pieces).then(|| TableInstance {
            module: module_name(netlist, &netlist.roms()[rom.0 as usize]),
            label: tables.instance(self.name()),
            address,
        })
    }

    /// Returns the synthesis attribute of the net, or `None`.
    pub(super) fn request(&self) -> Option<AttributeRequest> {
        let cell = self.view.netlist.net(self.net).cell;
        let tables = self.view.tables;
        let table = match cell {
            Cell::Rom { rom, .. } => match tables.forms[rom.0 as usize] {
                Form::LogicFunction => Some(AttributeRequest::Logic),
                // The array itself has the attribute.
                Form::Memory if !tables.arrays[rom.0 as usize] => Some(AttributeRequest::Block),
                Form::Memory | Form::Function | Form::Pieces => None,
            },
            _ => None,
        };
        self.view.netlist.requests.request(table, matches!(cell, Cell::Mul { .. }))
    }
}

/// Instance of the module of a table in pieces.
pub(super) struct TableInstance {
    /// Name of the module of the table.
    pub(super) module: String,
    /// Label of the instance.
    pub(super) label: String,
    /// Address of the table.
    pub(super) address: Wiring,
}

/// A module (Verilog) or an entity with its architecture (VHDL).
#[derive(Clone, Copy)]
pub(super) struct ModuleView<'a, D> {
    pub(super) view: View<'a, D>,
    pub(super) module: &'a Module,
}

/// Returns the modules of a file.
pub(super) fn modules<D: Dialect>(view: View<'_, D>) -> Vec<ModuleView<'_, D>> {
    view.plan.modules.iter().map(|module| ModuleView { view, module }).collect()
}

impl<'a, D: Dialect + 'a> ModuleView<'a, D> {
    pub(super) fn name(&self) -> &'a str {
        &self.module.name
    }

    /// Returns the name of the layer that the module implements, or `None`.
    pub(super) fn layer(&self) -> Option<&'a str> {
        let netlist: &'a Netlist = self.view.netlist;
        match self.module.part {
            Part::Layer(layer) => Some(&netlist.layer_names()[layer as usize]),
            Part::Top | Part::Stage => None,
        }
    }

    pub(super) fn nets(&self, nets: &'a [NetId]) -> impl Iterator<Item = NetView<'a, D>> + use<'a, D> {
        let ModuleView { view, module } = *self;
        nets.iter().map(move |&net| NetView { view, module, net })
    }

    /// Returns the nets that need a declaration. A scalar input port needs none, because its port name is read instead.
    pub(super) fn declared(&self, nets: &'a [NetId]) -> impl Iterator<Item = NetView<'a, D>> + use<'a, D> {
        let netlist = self.view.netlist;
        self.nets(nets).filter(move |net| !netlist.is_scalar_port(net.net))
    }

    pub(super) fn memories(&self) -> impl Iterator<Item = RomView<'a, D>> + use<'a, D> {
        let view = self.view;
        self.module.sections.iter().flat_map(move |section| section_roms(view, section, |_, is_array| is_array))
    }

    pub(super) fn has_links(&self) -> bool {
        !self.module.links.is_empty()
    }

    pub(super) fn links(&self) -> impl Iterator<Item = NetView<'a, D>> + use<'a, D> {
        self.nets(&self.module.links)
    }

    pub(super) fn sections(&self) -> impl Iterator<Item = SectionView<'a, D>> + use<'a, D> {
        let module = *self;
        self.module.sections.iter().map(move |section| SectionView { module, section })
    }

    pub(super) fn instances(&self) -> impl Iterator<Item = InstanceView<'a, D>> + use<'a, D> {
        let view = self.view;
        self.module.instances.iter().map(move |&index| InstanceView { view, module: &view.plan.modules[index] })
    }

    /// Returns the elements of the output ports; the modules of stages and layers have none.
    pub(super) fn outputs(&self) -> impl Iterator<Item = OutputView<'a, D>> + use<'a, D> {
        let view = self.view;
        let ports = if self.module.part == Part::Top { view.netlist.ports() } else { &[] };
        ports.iter().flat_map(move |port| {
            plan::output_slices(view.netlist, port).into_iter().map(move |slice| OutputView { view, port, slice })
        })
    }

    /// Returns `true` if [`ModuleView::outputs`] is not empty.
    pub(super) fn has_outputs(&self) -> bool {
        self.module.part == Part::Top && self.view.netlist.ports().iter().any(|port| port.driver.is_some())
    }
}

/// Returns the tables that are first read in the section.
fn section_roms<'a, D: Dialect + 'a>(
    view: View<'a, D>,
    section: &'a Section,
    wanted: fn(Form, bool) -> bool,
) -> impl Iterator<Item = RomView<'a, D>> + use<'a, D> {
    let used = section.roms.iter().map(|&rom| rom as usize);
    used.filter(move |&rom| wanted(view.tables.forms[rom], view.tables.arrays[rom])).map(move |rom| RomView {
        rom: &view.netlist.roms()[rom],
        form: view.tables.forms[rom],
        view,
    })
}

/// Lines of many nets, rendered in chunks on several threads. Each chunk is a separate template.
pub(super) struct NetLines<'a, F> {
    nets: &'a [NetId],
    printing: Printing,
    template: F,
}

impl<'a, T: Template, F: Fn(&'a [NetId]) -> T + Sync> fmt::Display for NetLines<'a, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Printing { threads, chunk } = self.printing;
        if threads <= 1 || self.nets.len() <= chunk {
            return (self.template)(self.nets).render_into(f).map_err(|_| fmt::Error);
        }
        // Four chunks for each thread balance the load and need little memory.
        for nets in self.nets.chunks(4 * threads * chunk) {
            let chunks: Vec<&[NetId]> = nets.chunks(chunk).collect();
            for lines in parallel::map(&chunks, threads, |nets| (self.template)(nets).render()) {
                f.write_str(&lines.map_err(|_| fmt::Error)?)?;
            }
        }
        Ok(())
    }
}

/// A section of a module.
pub(super) struct SectionView<'a, D> {
    module: ModuleView<'a, D>,
    section: &'a Section,
}

impl<'a, D: Dialect + 'a> SectionView<'a, D> {
    pub(super) fn heading(&self) -> String {
        shared::heading(self.module.view.netlist, self.section.kind)
    }

    pub(super) fn has_nets(&self) -> bool {
        self.nets().next().is_some()
    }

    pub(super) fn nets(&self) -> impl Iterator<Item = NetView<'a, D>> + use<'a, D> {
        self.module.declared(&self.section.nets)
    }

    /// Returns the lines of [`SectionView::nets`], rendered by a template for each chunk.
    pub(super) fn lines<T, F: Fn(ModuleView<'a, D>, &'a [NetId]) -> T>(
        &self,
        template: F,
    ) -> NetLines<'a, impl Fn(&'a [NetId]) -> T + use<'a, D, T, F>> {
        let module = self.module;
        let printing = module.view.netlist.printing;
        NetLines { nets: &self.section.nets, printing, template: move |nets| template(module, nets) }
    }

    pub(super) fn functions(&self) -> impl Iterator<Item = RomView<'a, D>> + use<'a, D> {
        section_roms(self.module.view, self.section, |form, is_array| form != Form::Pieces && !is_array)
    }

    pub(super) fn has_functions(&self) -> bool {
        self.functions().next().is_some()
    }

    pub(super) fn registers(&self) -> impl Iterator<Item = NetView<'a, D>> + use<'a, D> {
        let module = self.module;
        self.section.groups.iter().flat_map(move |group| module.nets(&group.registers))
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = GroupView<'a, D>> + use<'a, D> {
        let (module, kind) = (self.module, self.section.kind);
        self.section.groups.iter().map(move |group| GroupView { module, kind, group })
    }
}

/// Registers of one process.
pub(super) struct GroupView<'a, D> {
    pub(super) module: ModuleView<'a, D>,
    kind: Kind,
    pub(super) group: &'a Group,
}

impl<'a, D: Dialect + 'a> GroupView<'a, D> {
    pub(super) fn heading(&self) -> String {
        shared::group_heading(self.module.view.netlist, self.kind, self.group)
    }

    pub(super) fn registers(&self) -> impl Iterator<Item = NetView<'a, D>> + use<'a, D> {
        self.module.nets(&self.group.registers)
    }

    pub(super) fn clock(&self) -> &'a str {
        shared::clock(self.module.view.netlist, self.module.module).unwrap_or_default()
    }

    pub(super) fn has_reset(&self) -> bool {
        self.group.reset.is_some()
    }

    pub(super) fn has_asynchronous_reset(&self) -> bool {
        self.group.reset.is_some_and(|reset| reset.asynchronous)
    }

    pub(super) fn has_enable(&self) -> bool {
        self.group.enable.is_some()
    }
}

/// Instance of a stage or layer module inside the top module.
pub(super) struct InstanceView<'a, D> {
    pub(super) view: View<'a, D>,
    pub(super) module: &'a Module,
}

impl<'a, D> InstanceView<'a, D> {
    pub(super) fn name(&self) -> &'a str {
        &self.module.name
    }

    /// Returns the names of the input ports of the instance: the clock, if the module has one, and the nets of other
    /// modules.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &'a str> + use<'a, D> {
        let netlist = self.view.netlist;
        let imports = self.module.imports.iter().map(|&net| netlist.read_name(net));
        shared::clock(netlist, self.module).into_iter().chain(imports)
    }
}

/// Slice of an output port: an element, or bits without an element.
pub(super) struct OutputView<'a, D> {
    view: View<'a, D>,
    port: &'a Port,
    slice: OutputSlice,
}

impl<'a, D: Dialect + 'a> OutputView<'a, D> {
    pub(super) fn target(&self) -> String {
        let mut text = String::new();
        D::port_bits(&mut Line::new(&mut text, 0), self.port, self.slice.lo, self.slice.width);
        text
    }

    pub(super) fn expression(&self) -> Spelt<impl Fn(&mut Line<'_>)> {
        spelt(30, |line| D::driver(&self.view, line, self.port, &self.slice.pieces))
    }

    pub(super) fn remark(&self) -> Spelt<impl Fn(&mut Line<'_>)> {
        remark::<D>(&self.slice.remark)
    }
}

/// A look-up table.
pub(super) struct RomView<'a, D> {
    pub(super) rom: &'a Rom,
    pub(super) form: Form,
    pub(super) view: View<'a, D>,
}

/// Address label and value of one entry of a table.
pub(super) struct Word {
    pub(super) label: String,
    pub(super) value: String,
}

impl<'a, D: Dialect + 'a> RomView<'a, D> {
    pub(super) fn name(&self) -> &'a str {
        &self.rom.name
    }

    pub(super) fn last_address(&self) -> u64 {
        memory_words(self.rom) - 1
    }

    pub(super) fn address_type(&self) -> Spelt<impl Fn(&mut Line<'_>) + use<'a, D>> {
        let (dialect, width) = (self.view.dialect, self.rom.addr_width);
        spelt(0, move |line| dialect.net_type(line, width, false))
    }

    pub(super) fn remark(&self) -> Spelt<impl Fn(&mut Line<'_>) + use<'a, D>> {
        remark::<D>(&self.rom.comment)
    }

    /// Returns the words of the table in order, each with the `label` of its address.
    pub(super) fn words(&self, label: fn(u32, u64) -> String) -> impl Iterator<Item = Word> + use<'a, D> {
        let rom = self.rom;
        (0..).zip(&rom.words).map(move |(address, &word)| Word {
            label: label(rom.addr_width, address),
            value: D::word(rom.word_width, word),
        })
    }

    /// Returns the word of each address.
    pub(super) fn memory_words(&self) -> impl Iterator<Item = Word> + use<'a, D> {
        let rom = self.rom;
        (0..=self.last_address()).map(move |address| {
            let word = rom.words.get(address as usize).copied().unwrap_or(0);
            Word { label: address.to_string(), value: D::word(rom.word_width, word) }
        })
    }

    pub(super) fn zero(&self) -> String {
        D::word(self.rom.word_width, 0)
    }
}

/// Returns the header comment of the file.
pub(super) fn head<D: Dialect>(netlist: &Netlist) -> Vec<String> {
    let generated = format!("{} Generated by alir2hdl {}", D::COMMENT, env!("CARGO_PKG_VERSION"));
    let line = |text: &String| match text.as_str() {
        "" => D::COMMENT.to_owned(),
        text => remark::<D>(text).to_string().trim_start().to_owned(),
    };
    std::iter::once(generated).chain(netlist.header().iter().map(line)).collect()
}
