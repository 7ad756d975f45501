//! Project folder that a synthesis or simulation flow uses without changes.
//!
//! All files are rendered by templates from a design and a [`FolderSpec`]. They are the same on every machine, at any
//! date and in any folder; scripts find their files relative to themselves.

pub mod build;
mod fit;
mod lattice;
pub mod options;
mod parts;

pub use lattice::{NextpnrDevice, NextpnrFamily, nextpnr_device};
pub use parts::{BOARDS, Board, DEVICES, PartFamily, edits, families, family_prefixes, find};

use crate::compile::Provenance;
use crate::verify::{MachineRun, Rows, Testbench, Vectors, in_quotes};
use alir_core::diag::{four_digits, four_digits_up};
use alir_core::files::FileSet;
use alir_hw::device::{Estimate, Surroundings};
use alir_hw::emit::axis::{Axis, AxisNames};
use alir_hw::emit::latin1;
use alir_hw::netlist::{Direction, Element, Interface, Netlist};
use askama::Template;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// Tool flow of a project folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flow {
    /// AMD Vivado: Tcl, XDC, IP-XACT.
    Vivado,
    /// Intel Quartus: Tcl, SDC.
    Quartus,
    /// yosys, with nextpnr for ECP5 and iCE40.
    Yosys,
    /// FuseSoC core and EDAM.
    Fusesoc,
    /// Microchip Libero SoC: Tcl, SDC.
    Libero,
    /// No tool flow: only RTL, testbenches and their Makefile.
    Plain,
}

impl Flow {
    /// Every flow, in the order of the enumeration.
    pub const ALL: [Flow; 6] = [Flow::Vivado, Flow::Quartus, Flow::Yosys, Flow::Fusesoc, Flow::Libero, Flow::Plain];

    /// Returns the value of `--flow` for this flow.
    pub fn name(self) -> &'static str {
        match self {
            Flow::Vivado => "vivado",
            Flow::Quartus => "quartus",
            Flow::Yosys => "yosys",
            Flow::Fusesoc => "fusesoc",
            Flow::Libero => "libero",
            Flow::Plain => "plain",
        }
    }

    /// Returns `true` if the files of the flow are specific to one part.
    fn has_part(self) -> bool {
        !matches!(self, Flow::Fusesoc | Flow::Plain)
    }
}

/// Options of a project folder.
#[derive(Clone, Copy, Debug)]
pub struct FolderSpec<'a> {
    /// Tool flows of the folder.
    pub flows: &'a [Flow],
    /// Parts, at most one for each vendor, assigned to flows by [`PartFamily::flow`]; missing ones have defaults.
    pub parts: &'a [&'a str],
    /// Period of the clock in nanoseconds.
    pub clock_ns: f64,
    /// Clock uncertainty and I/O delays, as used for the schedule.
    pub around: Surroundings,
    /// Vendor, library, name and version of the core.
    pub core: CoreName<'a>,
    /// `true` if the clock period is a default rather than a requested one.
    pub is_default_clock: bool,
    /// Target board, if any. The board's part is one of `parts`, and the design has an AXI4-Stream wrapper.
    pub board: Option<&'static Board>,
}

/// Identifier of the core: vendor, library, name and version (VLNV) of IP-XACT and FuseSoC.
#[derive(Clone, Copy, Debug)]
pub struct CoreName<'a> {
    /// Vendor.
    pub vendor: &'a str,
    /// Library.
    pub library: &'a str,
    /// Name; `None`: the name of the module.
    pub name: Option<&'a str>,
    /// Version.
    pub version: &'a str,
}

/// Returns the default part of a flow.
pub fn default_part(flow: Flow) -> &'static str {
    match flow {
        Flow::Quartus => "10AX115N2F45E1SG",
        Flow::Yosys => "LFE5U-25F",
        Flow::Libero => "MPF300T-1FCG1152E",
        Flow::Vivado | Flow::Fusesoc | Flow::Plain => "xcvu13p-flga2577-2-e",
    }
}

impl<'a> FolderSpec<'a> {
    /// Returns a message that compares the estimated clock period with that of the folder.
    fn clock_comparison(&self, estimate: &Estimate) -> String {
        if estimate.period_ns <= 0.0 {
            return String::new();
        }
        let what = if estimate.ff > 0 { "clock period" } else { "path" };
        let (period, missing) = (four_digits_up(estimate.period_ns), estimate.period_ns - self.clock_ns);
        let than = if self.is_default_clock { "longer than the default clock period" } else { "too long" };
        let missing = if missing > 0.0005 { format!(", {} ns {than}", four_digits(missing)) } else { String::new() };
        format!("; estimated {what} {period} ns on {}{missing}", estimate.device)
    }

    /// Returns the clock period minus its uncertainty, in nanoseconds; the whole period if no time would remain.
    fn certain_clock_ns(&self) -> f64 {
        let certain = self.clock_ns - self.around.uncertainty_ns;
        if certain > 0.0 { certain } else { self.clock_ns }
    }

    /// Returns the part of a flow, and its family.
    fn part(&self, flow: Flow) -> (&'a str, PartFamily) {
        let default = default_part(flow);
        let known = |part: &'a str| find(part).ok().filter(|d| d.flow == flow).map(|d| (part, d));
        let requested = self.parts.iter().find_map(|part| known(part));
        requested.or_else(|| known(default)).expect("defaults are known parts")
    }
}

/// Contents of a project folder.
pub struct FolderContents<'a> {
    /// The pipeline.
    pub netlist: &'a Netlist,
    /// AXI4-Stream wrapper of the pipeline, if it has one.
    pub axis: Option<&'a Axis>,
    /// Verilog source, wrapper included.
    pub verilog: String,
    /// VHDL source, wrapper included.
    pub vhdl: String,
    /// Testbench of the design.
    pub bench: &'a dyn Testbench,
    /// Samples for the cocotb test.
    pub samples: Samples<'a>,
    /// Description of the interface, the base of `metadata.json`.
    pub facts: Value,
    /// Estimated resources and timing of the pipeline on the device.
    pub estimate: Value,
    /// Provenance in the header comment of each file.
    pub provenance: Option<&'a Provenance>,
}

/// Stimulus and expected outputs of the cocotb test.
#[derive(Clone, Copy, Debug)]
pub enum Samples<'a> {
    /// Samples of a pipeline.
    Model(&'a Vectors),
    /// Cycles of a state machine from power-on.
    Machine(&'a MachineRun),
}

impl Samples<'_> {
    /// Returns the number of samples or cycles.
    fn len(&self) -> usize {
        match self {
            Samples::Model(vectors) => vectors.inputs.len(),
            Samples::Machine(run) => run.inputs().len(),
        }
    }
}

/// A port of the top module.
#[derive(Clone, Debug, Serialize)]
struct Port {
    name: String,
    input: bool,
    /// Index of the highest bit; `None` for a single bit that is not a vector.
    hi: Option<u32>,
}

impl Port {
    fn new(name: &str, input: bool, width: Option<u32>) -> Port {
        Port { name: name.to_owned(), input, hi: width.map(|w| w - 1) }
    }

    fn direction(&self) -> &'static str {
        if self.input { "in" } else { "out" }
    }
}

/// Returns the ports of the top module: the wrapper's if there is one, otherwise the pipeline's.
fn ports(design: &FolderContents<'_>) -> Vec<Port> {
    let Some(axis) = design.axis else {
        let port = |p: &alir_hw::netlist::Port| {
            Port::new(&p.name, p.direction == Direction::In, if p.scalar { None } else { Some(p.width) })
        };
        return design.netlist.ports().iter().map(port).collect();
    };
    let port = |(name, direction, width): (String, Direction, Option<u32>)| {
        Port::new(&name, direction == Direction::In, width)
    };
    axis.ports().into_iter().map(port).collect()
}

/// Values for all templates. Names are identifiers in both languages ([`alir_hw::netlist::names`]) and a part number
/// consists of letters, digits, `-` and `_`, so that no value needs quoting in Tcl, YAML, make or a shell.
#[derive(Clone)]
struct View<'a> {
    top: String,
    bench: String,
    vivado_part: &'a str,
    quartus_part: &'a str,
    quartus_family: &'static str,
    yosys_part: &'a str,
    libero_part: &'a str,
    clock: Option<String>,
    /// Name of the reset, and `true` if it is active high.
    reset: Option<(String, bool)>,
    /// Names of the wrapper's ports, if there is one.
    streams: Option<&'a AxisNames>,
    /// Clock period in nanoseconds, as text and as a number.
    period: String,
    clock_ns: f64,
    /// Part of the clock period that remains for a path from input to output, in nanoseconds.
    path: String,
    /// Clock frequency in MHz.
    frequency: String,
    /// Frequency of the clock period minus its uncertainty, in MHz: nextpnr has no option for uncertainty.
    nextpnr_frequency: String,
    /// Clock uncertainty in nanoseconds; `None` if it is zero.
    uncertainty: Option<String>,
    input_delay: String,
    output_delay: String,
    core: CoreName<'a>,
    is_default_clock: bool,
    ports: Vec<Port>,
    /// Elements of the inputs, and of the outputs.
    sides: [Side; 2],
    /// Structures of the ports that have several elements.
    structures: Vec<PortStructure>,
    /// `true` if a sample consists of several transfers.
    transfers: bool,
    data_files: Vec<String>,
    /// Number of rows that the testbench checks, and of samples that the cocotb test runs.
    rows: usize,
    cocotb_rows: usize,
    /// `true` for a state machine, which has no single latency.
    stateful: bool,
    latency: u32,
    interval: u32,
    /// `true` if an output states when a sample is accepted.
    gated: bool,
    nextpnr: Nextpnr,
    flows: Vec<Flow>,
    facts_version: &'static str,
    /// Width of `tuser` in bits; 0 without it.
    axis_user: u32,
    board: Option<&'static Board>,
    /// Width of the input stream's `tdata` in bits; 0 without a wrapper.
    stream: u32,
    /// Lines of the header comment of each file.
    made_by: Vec<String>,
}

impl View<'_> {
    /// Returns the PolarFire part in the form that Libero expects: die, speed and package.
    fn polarfire(&self) -> [String; 3] {
        let part = self.libero_part.to_ascii_uppercase();
        let (die, rest) = part.split_once('-').unwrap_or((&part, ""));
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (speed, package) = rest.split_at(digits);
        let speed = if speed.is_empty() { "STD".to_owned() } else { format!("-{speed}") };
        // The last letter is the temperature range.
        let package = package.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        [die.to_owned(), speed, if package.is_empty() { "FCG1152".to_owned() } else { package.to_owned() }]
    }

    /// Returns `true` if outputs follow inputs without a clock.
    fn is_combinational(&self) -> bool {
        self.clock.is_none()
    }

    /// Returns a description of the design in one line.
    fn about(&self) -> String {
        if self.stateful {
            return "State machine as hardware".to_owned();
        }
        if self.is_combinational() {
            return "Fixed-point model as combinational hardware, no clock".to_owned();
        }
        format!("Fixed-point model as hardware, latency {}, a sample every {}", clocks(self.latency), self.every())
    }

    /// Returns the latency with its unit.
    fn latency_in_words(&self) -> String {
        clocks(self.latency)
    }

    /// Returns the initiation interval in words: `clock`, `4 clocks`.
    fn every(&self) -> String {
        if self.interval == 1 { "clock".to_owned() } else { clocks(self.interval) }
    }

    /// Returns a description of the timing constraints in the constraint files.
    fn constraints(&self) -> String {
        let default = if self.is_default_clock { " (the default: none was requested)" } else { "" };
        if self.clock.is_none() {
            return format!("{} ns{default} for each path from an input to an output", self.path);
        }
        let uncertainty = match &self.uncertainty {
            Some(ns) => format!("uncertainty {ns} ns"),
            None => "no uncertainty".to_owned(),
        };
        format!(
            "clock of {} ns{default}, {uncertainty}, inputs {} ns after its edge, outputs {} ns before it",
            self.period, self.input_delay, self.output_delay
        )
    }

    /// Returns a description of the constraints of nextpnr.
    fn nextpnr_constraints(&self) -> String {
        match (&self.clock, &self.uncertainty) {
            (None, _) => "no constraint".to_owned(),
            (_, None) => format!("clock of {} MHz", self.nextpnr_frequency),
            (_, Some(_)) => format!("clock of {} MHz, the period without its uncertainty", self.nextpnr_frequency),
        }
    }

    /// Returns the prefix of macro names.
    fn macro_name(&self) -> String {
        self.top.to_ascii_uppercase()
    }

    /// Returns the full name of the core: vendor, library, name, version.
    fn vlnv(&self) -> String {
        format!("{}:{}:{}:{}", self.core.vendor, self.core.library, self.core_name(), self.core.version)
    }

    /// Returns the name of the core without vendor, library and version.
    fn core_name(&self) -> &str {
        self.core.name.unwrap_or(&self.top)
    }

    /// Returns `true` if the folder is for this flow.
    fn has(&self, flow: &str) -> bool {
        self.flows.iter().any(|f| f.name() == flow)
    }

    /// Returns the ports other than the clock.
    fn data_ports(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|p| self.clock.as_ref() != Some(&p.name))
    }

    /// Returns the module that places registers around the design, for timing analysis.
    fn timed(&self) -> Timed {
        // Appends underscores until no port name begins with the name.
        let free = |base: &str| {
            let taken = |name: &String| self.ports.iter().any(|port| port.name.starts_with(name.as_str()));
            let longer = std::iter::successors(Some(base.to_owned()), |name| Some(format!("{name}_")));
            longer.into_iter().find(|name| !taken(name)).expect("port names have a finite length")
        };
        let inner = free("inner");
        let named = |(k, port): (usize, &Port)| TimedPort { port: port.clone(), inner: format!("{inner}{k}") };
        Timed {
            clock: self.clock.clone().unwrap_or_else(|| free("clk")),
            ports: self.data_ports().enumerate().map(named).collect(),
            block: free("block"),
        }
    }

    /// Returns the clock frequency in hertz.
    fn frequency_hz(&self) -> u64 {
        (1e9 / self.clock_ns).round() as u64
    }

    fn stream_names(&self) -> &AxisNames {
        self.streams.expect("only templates for a wrapper use its names")
    }

    /// Returns the signals of the output stream (`master`) or of the input stream: AXI name and name of the port.
    fn stream_signals(&self, master: bool) -> Vec<(&'static str, String)> {
        let names = self.stream_names();
        let prefix = if master { &names.output } else { &names.input };
        let signals = ["tdata", "tvalid", "tready", "tlast", "tuser"];
        let present = signals.into_iter().filter(|s| *s != "tuser" || self.axis_user > 0);
        let upper = |s: &str| match s {
            "tdata" => "TDATA",
            "tvalid" => "TVALID",
            "tready" => "TREADY",
            "tlast" => "TLAST",
            _ => "TUSER",
        };
        present.map(|s| (upper(s), format!("{prefix}_{s}"))).collect()
    }
}

/// Elements of all inputs or of all outputs.
#[derive(Clone)]
struct Side {
    /// Name of the list in VHDL.
    vhdl: &'static str,
    /// Prefix of an element in the names of Verilog macros.
    verilog: &'static str,
    elements: Vec<PlacedElement>,
}

/// An element and its position on a port.
#[derive(Clone)]
struct PlacedElement {
    /// Name for comments, in quotes.
    name: String,
    port: String,
    lsb: u32,
    hi: u32,
    width: u32,
    signed: bool,
    frac_bits: i64,
    transfer: u32,
    /// `true` if the element's bits continue in the next transfer.
    crosses: bool,
}

/// A packed structure of SystemVerilog as wide as a port.
#[derive(Clone)]
struct PortStructure {
    port: String,
    /// Fields from the highest bit to the lowest.
    fields: Vec<Field>,
}

/// A field of a [`PortStructure`].
#[derive(Clone)]
struct Field {
    /// Type and name of the field.
    declaration: String,
    /// The element and its type; `None` for padding.
    comment: Option<String>,
}

/// Returns the structures of ports with several elements that arrive in one transfer.
fn structures(sides: &[Side; 2], ports: &[Port]) -> Vec<PortStructure> {
    let whole = |side: &&Side| !side.elements.iter().any(|element| element.crosses || element.transfer > 0);
    let of_port = |side: &Side, port: &Port| {
        let mut elements: Vec<(usize, &PlacedElement)> = (side.elements.iter().enumerate())
            .filter(|(_, element)| element.port == port.name && element.width > 0)
            .collect();
        if elements.len() < 2 {
            return None;
        }
        elements.sort_by_key(|(_, element)| std::cmp::Reverse(element.lsb));
        let (mut fields, mut above) = (Vec::new(), port.hi? + 1);
        let unused = |fields: &mut Vec<Field>, from: u32, to: u32| {
            if from < to {
                let declaration = format!("logic [{}:0] unused_{from}", to - from - 1);
                fields.push(Field { declaration, comment: None });
            }
        };
        for (index, element) in elements {
            unused(&mut fields, element.hi + 1, above);
            let (sign, letter) = if element.signed { ("signed ", 's') } else { ("", 'u') };
            let name = format!("{}_{index}", side.verilog.to_ascii_lowercase());
            fields.push(Field {
                declaration: format!("logic {sign}[{}:0] {name}", element.width - 1),
                comment: Some(format!("{}, {letter}{}.{}", element.name, element.width, element.frac_bits)),
            });
            above = element.lsb;
        }
        unused(&mut fields, 0, above);
        Some(PortStructure { port: port.name.clone(), fields })
    };
    let pairs = sides.iter().filter(whole).flat_map(|side| ports.iter().map(move |port| (side, port)));
    pairs.filter_map(|(side, port)| of_port(side, port)).collect()
}

/// Returns the elements on the ports of the top module: inputs, then outputs.
fn sides(design: &FolderContents<'_>) -> [Side; 2] {
    let interface = &design.netlist.interface;
    let (inputs, outputs) = match design.axis {
        Some(axis) => axis.elements(),
        None => (interface.inputs.clone(), interface.outputs.clone()),
    };
    let widths = design.axis.map_or([u32::MAX; 2], |axis| [axis.input.data_width, axis.output.data_width]);
    let placed = |element: &Element, width: u32| PlacedElement {
        name: in_quotes(&element.name),
        port: element.port.clone(),
        lsb: element.lsb,
        hi: element.lsb + element.width.max(1) - 1,
        width: element.width,
        signed: element.signed,
        frac_bits: element.fractionals.into(),
        transfer: element.beat,
        crosses: u64::from(element.lsb) + u64::from(element.width) > u64::from(width),
    };
    let all = |elements: &[Element], width| elements.iter().map(|element| placed(element, width)).collect();
    [
        Side { vhdl: "INPUTS", verilog: "INPUT", elements: all(&inputs, widths[0]) },
        Side { vhdl: "OUTPUTS", verilog: "OUTPUT", elements: all(&outputs, widths[1]) },
    ]
}

/// Module that places registers around the design, for timing analysis.
struct Timed {
    clock: String,
    /// All ports except the clock.
    ports: Vec<TimedPort>,
    /// Name of the instance of the design.
    block: String,
}

/// A port of the design with a register.
struct TimedPort {
    port: Port,
    /// Name of the signal between the register and the design.
    inner: String,
}

/// The device of nextpnr.
#[derive(Clone)]
struct Nextpnr {
    /// Family in the names of programs, files and cells: `ecp5`, `ice40`.
    family: &'static str,
    /// Display name of the family.
    title: &'static str,
    device: NextpnrDevice,
    /// Total width of all ports in bits.
    port_bits: u32,
}

impl Nextpnr {
    fn new(part: &str, port_bits: u32) -> Nextpnr {
        let device = nextpnr_device(part).unwrap_or_else(|_| {
            // Options with unknown parts were rejected, and all default parts exist.
            nextpnr_device(default_part(Flow::Yosys)).expect("the default part exists")
        });
        let (family, title) = match device.family {
            NextpnrFamily::Ecp5 => ("ecp5", "ECP5"),
            NextpnrFamily::Ice40 => ("ice40", "iCE40"),
        };
        Nextpnr { family, title, device, port_bits }
    }

    fn is_ecp5(&self) -> bool {
        self.device.family == NextpnrFamily::Ecp5
    }

    /// Returns `true` if the ports have more bits than the device has pins.
    fn exceeds_pins(&self) -> bool {
        self.port_bits > self.device.pins
    }

    /// Returns the file name extension of constraint files.
    fn constraints(&self) -> &'static str {
        if self.is_ecp5() { "lpf" } else { "pcf" }
    }
}

/// Formats a number of clock cycles with its unit.
fn clocks(n: u32) -> String {
    if n == 1 { "1 clock".to_owned() } else { format!("{n} clocks") }
}

macro_rules! templates {
    ($($name:ident $path:literal)*) => {$(
        #[derive(Template)]
        #[template(path = $path)]
        struct $name<'a> {
            v: View<'a>,
        }
    )*};
}

templates! {
    Makefile "project/sim.mk"
    Readme "project/readme.md"
    Xdc "project/clock.xdc"
    Sdc "project/clock.sdc"
    VivadoTcl "project/vivado.tcl"
    VivadoProject "project/vivado_project.tcl"
    QuartusTcl "project/quartus.tcl"
    LiberoTcl "project/libero.tcl"
    YosysScript "project/yosys.ys"
    NextpnrScript "project/ecp5.sh"
    NextpnrConstraints "project/nextpnr_constraints.txt"
    Registered "project/registered.v"
    RegisteredScript "project/registered.ys"
    Component "project/component.xml"
    Core "project/fusesoc.core"
    Cocotb "project/cocotb.py"
    EdalizeRun "project/edalize_run.py"
    VunitBench "project/vunit_bench.vhd"
    VunitRun "project/vunit_run.py"
    Filelist "project/filelist.f"
    FilelistVhdl "project/filelist_vhdl.f"
    PackageVhdl "project/package.vhd"
    HeaderVerilog "project/header.v"
    TypesSystemVerilog "project/types.sv"
    InstanceVerilog "project/instance.v"
    InstanceVhdl "project/instance.vhd"
}

/// Templates of the files for a board.
macro_rules! board_templates {
    ($($name:ident $path:literal)*) => {$(
        #[derive(Template)]
        #[template(path = $path)]
        struct $name<'a> {
            v: View<'a>,
            b: &'static Board,
        }
    )*};
}

board_templates! {
    BoardTcl "project/board.tcl"
    Driver "project/driver.py"
}

/// Renders a template; the result ends with a line break.
fn render(template: &impl Template) -> String {
    let mut text = template.render().expect("rendering to a string does not fail");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Formats a number with at most three decimals.
fn nanoseconds(ns: f64) -> String {
    let text = format!("{ns:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the frequency of a clock period in nanoseconds, in MHz. It has three decimals, or four significant digits if
/// the clock is slow, as tools reject a frequency of zero.
fn megahertz(ns: f64) -> String {
    let mhz = 1000.0 / ns;
    if mhz < 1.0 { four_digits(mhz) } else { nanoseconds(mhz) }
}

/// Computes the values for all templates.
fn view<'a>(spec: &FolderSpec<'a>, design: &FolderContents<'a>) -> View<'a> {
    let interface: &Interface = &design.netlist.interface;
    let ports = ports(design);
    let (top, latency, interval) = match design.axis {
        Some(axis) => (axis.top.clone(), axis.latency(), axis.initiation_interval()),
        None => (interface.top.clone(), interface.latency, interface.initiation_interval),
    };
    let (clock, reset) = match design.axis {
        Some(axis) => (Some(axis.names.clock.clone()), Some((axis.names.reset.clone(), false))),
        None => (interface.clock.clone(), interface.reset.clone().map(|r| (r, interface.reset_active_high))),
    };
    let sides = sides(design);
    let pins: u32 = ports.iter().map(|p| p.hi.map_or(1, |hi| hi + 1)).sum();
    View {
        bench: design.bench.name(),
        vivado_part: spec.part(Flow::Vivado).0,
        quartus_part: spec.part(Flow::Quartus).0,
        quartus_family: spec.part(Flow::Quartus).1.family,
        yosys_part: spec.part(Flow::Yosys).0,
        libero_part: spec.part(Flow::Libero).0,
        clock,
        reset,
        streams: design.axis.map(|axis| &axis.names),
        clock_ns: spec.clock_ns,
        period: nanoseconds(spec.clock_ns),
        path: nanoseconds(
            (spec.clock_ns - spec.around.input_ns - spec.around.output_ns - spec.around.uncertainty_ns).max(0.0),
        ),
        frequency: megahertz(spec.clock_ns),
        nextpnr_frequency: megahertz(spec.certain_clock_ns()),
        uncertainty: (spec.around.uncertainty_ns > 0.0).then(|| nanoseconds(spec.around.uncertainty_ns)),
        input_delay: nanoseconds(spec.around.input_ns),
        output_delay: nanoseconds(spec.around.output_ns),
        core: spec.core,
        is_default_clock: spec.is_default_clock,
        data_files: design.bench.rows().0.keys().cloned().collect(),
        rows: design.bench.expected_rows(),
        cocotb_rows: design.samples.len().min(COCOTB_SAMPLES),
        stateful: interface.stateful,
        latency,
        interval,
        gated: interface.ready.is_some(),
        nextpnr: Nextpnr::new(spec.part(Flow::Yosys).0, pins),
        flows: spec.flows.to_vec(),
        facts_version: env!("CARGO_PKG_VERSION"),
        axis_user: design.axis.map_or(0, |a| a.user),
        board: spec.board.filter(|_| design.axis.is_some()),
        stream: design.axis.map_or(0, |a| a.input.data_width),
        made_by: made_by(design.provenance),
        structures: structures(&sides, &ports),
        sides,
        transfers: design.axis.is_some_and(|axis| axis.input.beats.max(axis.output.beats) > 1)
            || interface.input_beats > 1,
        ports,
        top,
    }
}

/// Renders all files of the project folder; their names are paths in the folder.
pub fn package(spec: &FolderSpec<'_>, design: &FolderContents<'_>) -> FileSet {
    let view = view(spec, design);
    let top = view.top.clone();
    let mut files = FileSet::default();
    files.add(format!("rtl/{top}.v"), design.verilog.clone());
    files.add(format!("rtl/{top}.vhd"), design.vhdl.clone());
    let (wrapper, program) = design.bench.verilator();
    files.add("tb/bench.v", design.bench.verilog());
    files.add("tb/bench.vhd", design.bench.vhdl());
    files.add("tb/wrapper.v", wrapper);
    files.add("tb/bench.cpp", program);
    for (name, contents) in design.bench.rows().0 {
        files.add(format!("tb/{name}"), contents);
    }
    files.add("tb/samples.json", samples(design.samples));
    files.add(format!("tb/test_{}.py", top.to_ascii_lowercase()), render(&Cocotb { v: view.clone() }));
    files.add("tb/vunit_bench.vhd", render(&VunitBench { v: view.clone() }));
    files.add("sim/run.py", render(&VunitRun { v: view.clone() }));
    files.add("sim/Makefile", render(&Makefile { v: view.clone() }));
    files.add("filelist.f", render(&Filelist { v: view.clone() }));
    files.add("filelist_vhdl.f", render(&FilelistVhdl { v: view.clone() }));
    let package = render(&PackageVhdl { v: view.clone() });
    files.add(format!("rtl/{top}_pkg.vhd"), latin1::escaped(&package).into_owned());
    files.add(format!("rtl/{top}_types.sv"), render(&TypesSystemVerilog { v: view.clone() }));
    files.add(format!("rtl/{top}.vh"), render(&HeaderVerilog { v: view.clone() }));
    files.add(format!("rtl/{top}.veo"), render(&InstanceVerilog { v: view.clone() }));
    files.add(format!("rtl/{top}.vho"), render(&InstanceVhdl { v: view.clone() }));
    files.add("constraints/clock.xdc", render(&Xdc { v: view.clone() }));
    files.add("constraints/clock.sdc", render(&Sdc { v: view.clone() }));
    for flow in spec.flows {
        match flow {
            Flow::Vivado => {
                files.add("scripts/vivado.tcl", render(&VivadoTcl { v: view.clone() }));
                files.add("scripts/vivado_project.tcl", render(&VivadoProject { v: view.clone() }));
                files.add("component.xml", render(&Component { v: view.clone() }));
            }
            Flow::Libero => files.add("scripts/libero.tcl", render(&LiberoTcl { v: view.clone() })),
            Flow::Quartus => files.add("scripts/quartus.tcl", render(&QuartusTcl { v: view.clone() })),
            Flow::Yosys => {
                files.add("scripts/yosys.ys", render(&YosysScript { v: view.clone() }));
                let (family, ending) = (view.nextpnr.family, view.nextpnr.constraints());
                files.add(format!("scripts/{family}.sh"), render(&NextpnrScript { v: view.clone() }));
                files.add(format!("constraints/clock.{ending}"), render(&NextpnrConstraints { v: view.clone() }));
                // Yosys writes reports into this folder, and no yosys command creates a folder on every system.
                files.add("reports/yosys/.gitignore", "*\n!.gitignore\n");
                files.add("scripts/registered.ys", render(&RegisteredScript { v: view.clone() }));
                files.add("scripts/registered.v", render(&Registered { v: view.clone() }));
            }
            Flow::Fusesoc => {
                files.add(format!("{top}.core"), render(&Core { v: view.clone() }));
                files.add(format!("{top}.eda.yml"), synthesis_edam(&view));
                files.add(format!("{top}_sim.eda.yml"), simulation_edam(&view));
                files.add("scripts/edalize_run.py", render(&EdalizeRun { v: view.clone() }));
            }
            Flow::Plain => {}
        }
    }
    if let Some(board) = view.board {
        files.add("scripts/board.tcl", render(&BoardTcl { v: view.clone(), b: board }));
        files.add("board/driver.py", render(&Driver { v: view.clone(), b: board }));
    }
    for (name, contents) in &mut files.0 {
        insert_header_comment(name, contents, &view.made_by);
    }
    let facts = facts(spec, design, &view);
    let has_board = view.board.is_some();
    files.add("README.md", render(&Readme { v: view }));
    add_metadata(&mut files, facts, has_board);
    files
}

/// Returns the contents of `metadata.json`, without the list of files.
fn facts(spec: &FolderSpec<'_>, design: &FolderContents<'_>, view: &View<'_>) -> Value {
    let mut facts = design.facts.clone();
    facts["schema"] = "alir2hdl.project/1".into();
    facts["estimate"] = design.estimate.clone();
    facts["provenance"] = design
        .provenance
        .map_or(Value::Null, |provenance| json!({ "command": provenance.command, "model_sha256": provenance.model }));
    facts["project"] = json!({
        "flows": spec.flows.iter().map(|f| f.name()).collect::<Vec<_>>(),
        "parts": { "vivado": view.vivado_part, "quartus": view.quartus_part, "yosys": view.yosys_part,
                   "libero": view.libero_part },
        "core": view.vlnv(),
        "board": view.board.map(|board| board.name),
        "clock_period_ns": spec.clock_ns,
        "clock_uncertainty_ns": spec.around.uncertainty_ns,
        "input_delay_ns": spec.around.input_ns,
        "output_delay_ns": spec.around.output_ns,
        "top": view.top,
        "top_ports": view.ports.iter().map(|p| json!({
            "name": p.name, "direction": p.direction(), "width": p.hi.map_or(1, |hi| hi + 1), "vector": p.hi.is_some(),
        })).collect::<Vec<_>>(),
        "latency": (!view.stateful).then_some(view.latency),
        "initiation_interval": view.interval,
    });
    facts
}

/// Name of the copy of `metadata.json` for the driver: a board's folder is copied to the board on its own.
const BOARD_METADATA: &str = "board/metadata.json";

/// Adds `metadata.json` with the names of all files, itself included, and the copy for a board.
fn add_metadata(files: &mut FileSet, mut facts: Value, has_board: bool) {
    let own = ["metadata.json", BOARD_METADATA].into_iter().take(if has_board { 2 } else { 1 });
    facts["project"]["files"] = files.0.keys().cloned().chain(own.map(str::to_owned)).collect();
    let mut metadata = serde_json::to_string_pretty(&facts).expect("plain data");
    metadata.push('\n');
    if has_board {
        files.add(BOARD_METADATA, metadata.clone());
    }
    files.add("metadata.json", metadata);
}

/// Returns the version and provenance for the header comment of a file, line by line.
fn made_by(provenance: Option<&Provenance>) -> Vec<String> {
    let version = format!("Generated by alir2hdl {}", env!("CARGO_PKG_VERSION"));
    std::iter::once(version).chain(provenance.map(Provenance::lines).unwrap_or_default()).collect()
}

/// Inserts the version and provenance as a header comment in the file's language. RTL files already have the comment,
/// data files have no comments, and IP-XACT and `README.md` state the version and provenance elsewhere.
fn insert_header_comment(name: &str, contents: &mut Vec<u8>, lines: &[String]) {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let sign = match extension {
        "v" | "vhd" if name.starts_with("rtl/") && !name.ends_with("_pkg.vhd") => return,
        _ if name == "sim/Makefile" => "#",
        "v" | "sv" | "vh" | "veo" | "cpp" => "//",
        "vhd" | "vho" => "--",
        "tcl" | "xdc" | "sdc" | "lpf" | "pcf" | "ys" | "sh" | "py" | "f" | "core" | "gitignore" => "#",
        _ => return,
    };
    // A line that must be the first line of its file stays first.
    let first = contents.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let at = if contents.starts_with(b"#!") || contents.starts_with(b"CAPI=2:") { first } else { 0 };
    let header: String = lines.iter().map(|line| format!("{sign} {line}\n")).collect();
    contents.splice(at..at, header.into_bytes());
}

/// Returns the files that an earlier run wrote into a folder, as listed in its `metadata.json`. Paths outside of the
/// folder are left out. Returns an empty list if `metadata.json` is missing.
pub fn written(folder: &Path) -> Vec<String> {
    let read = std::fs::read(folder.join("metadata.json")).unwrap_or_default();
    let facts: Value = serde_json::from_slice(&read).unwrap_or_default();
    let names = facts["project"]["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let inside = |name: &&str| Path::new(name).components().all(|c| matches!(c, std::path::Component::Normal(_)));
    names.filter(inside).map(str::to_owned).collect()
}

/// Largest number of samples that the cocotb test runs.
const COCOTB_SAMPLES: usize = 200;

/// Returns the samples of the cocotb test as JSON. Raw integer values of any width are decimal strings; undefined
/// values are null.
fn samples(samples: Samples<'_>) -> String {
    let text = |rows: &Rows, defined: Option<&[Vec<bool>]>| -> Vec<Vec<Option<String>>> {
        let known = |row: usize, at: usize| defined.is_none_or(|defined| defined[row][at]);
        let row = |i| (0..).zip(rows.row(i)).map(move |(at, code)| known(i, at).then(|| code.to_string())).collect();
        (0..rows.len().min(COCOTB_SAMPLES)).map(row).collect()
    };
    let (inputs, outputs) = match samples {
        Samples::Model(vectors) => (text(&vectors.inputs, None), text(&vectors.outputs, None)),
        Samples::Machine(run) => (text(run.inputs(), None), text(run.outputs(), Some(run.defined()))),
    };
    let mut text = serde_json::to_string(&json!({ "inputs": inputs, "outputs": outputs })).expect("plain data");
    text.push('\n');
    text
}

/// Returns a design description for Edalize (EDAM) as JSON, which is a subset of YAML. File names are relative to the
/// project.
fn edam(view: &View<'_>, toplevel: &str, files: &[(String, &str)], tool_options: Value) -> String {
    let edam = json!({
        "version": "0.2.1",
        "name": view.top,
        "toplevel": toplevel,
        "files": files.iter().map(|(name, kind)| json!({"name": name, "file_type": kind})).collect::<Vec<_>>(),
        "tool_options": tool_options,
    });
    let mut text = serde_json::to_string_pretty(&edam).expect("plain data");
    text.push('\n');
    text
}

/// Returns the EDAM file of Edalize's synthesis tools.
fn synthesis_edam(view: &View<'_>) -> String {
    let mut tools = json!({ "yosys": {"arch": view.nextpnr.family, "output_format": "json"} });
    if view.has("vivado") {
        tools["vivado"] = json!({"part": view.vivado_part});
    }
    if view.has("quartus") {
        tools["quartus"] = json!({"family": view.quartus_family, "device": view.quartus_part});
    }
    let files = [
        (format!("rtl/{}.v", view.top), "verilogSource"),
        ("constraints/clock.xdc".into(), "xdc"),
        ("constraints/clock.sdc".into(), "SDC"),
    ];
    edam(view, &view.top, &files, tools)
}

/// Returns the EDAM file of Edalize's simulators. Each simulator uses the files of its language.
fn simulation_edam(view: &View<'_>) -> String {
    let tools = json!({
        "icarus": {"iverilog_options": ["-g2001"]},
        "ghdl": {"analyze_options": ["--std=08"], "run_options": ["--ieee-asserts=disable"]},
    });
    let mut files = vec![
        (format!("rtl/{}.v", view.top), "verilogSource"),
        ("tb/bench.v".into(), "verilogSource"),
        (format!("rtl/{}.vhd", view.top), "vhdlSource-2008"),
        ("tb/bench.vhd".into(), "vhdlSource-2008"),
    ];
    files.extend(view.data_files.iter().map(|name| (format!("tb/{name}"), "user")));
    edam(view, &view.bench, &files, tools)
}
