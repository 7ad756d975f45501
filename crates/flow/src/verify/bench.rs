//! Self-checking testbenches for one or more modules.
//!
//! The testbenches in all three languages read the same files, with one row per cycle ([`Bench::rows`]), and print the
//! same lines (see [`super::compare`]). [`super::cycles`] decides the events of each cycle. Each module is a separate
//! *lane*, so that many small modules share one compilation and one run of a simulator.

use super::compare::{Report, read_report};
use super::cycles::{Bits, Cycles, Field};
use alir_core::files::FileSet;
use alir_hw::emit::latin1;
use alir_hw::netlist::Element;
use alir_hw::netlist::names::legalise;
use askama::Template;

/// Maximum number of mismatches that a lane prints; further ones are only counted.
pub const SHOWN: usize = 20;

/// A testbench for one or more modules, with one lane for each module.
#[derive(Clone, Copy, Debug)]
pub struct Bench<'a> {
    /// One run for each module.
    pub lanes: &'a [Cycles],
    /// `true` if a value change dump (`wave.vcd`) of all signals is written.
    pub vcd: bool,
}

/// A port and the expression that is connected to it, in the language of the testbench.
struct Connection {
    port: String,
    signal: String,
}

/// Bit range of a model's input or output element in a row.
pub(super) struct Shown {
    /// Name without characters that end a string literal in any of the languages.
    pub(super) name: String,
    pub(super) lo: u32,
    pub(super) hi: u32,
    pub(super) signed: bool,
}

impl Shown {
    pub(super) fn new(element: &Element, lo: u32) -> Shown {
        Shown { name: in_quotes(&element.name), lo, hi: lo + element.width - 1, signed: element.signed }
    }

    pub(super) fn width(&self) -> u32 {
        self.hi - self.lo + 1
    }

    /// Returns the value of the element as a Verilog expression.
    pub(super) fn verilog(&self, row: &str) -> String {
        let bits = format!("{row}[{}:{}]", self.hi, self.lo);
        if self.signed { format!("$signed({bits})") } else { bits }
    }
}

/// Returns a name that is valid in a string literal and a comment of Verilog, VHDL and C++.
pub(crate) fn in_quotes(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "[]()_.-+:/ ".contains(c);
    name.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}

/// Values of a lane for the templates.
struct Lane {
    index: usize,
    /// Number of rows of the lane's file.
    rows: usize,
    /// Number of rows whose output data is compared.
    compared: usize,
    /// Input elements of at least one bit.
    inputs: Vec<Shown>,
    outputs: Vec<Shown>,
    top: String,
    file: String,
    connections: Vec<Connection>,
    stimulus_width: u32,
    stimulus_hi: u32,
    response_width: u32,
    response_hi: u32,
    /// Data bits of a response, as an expression in the language of the testbench.
    data: Option<String>,
    has_valid: bool,
    /// `true` if rows have masks of the compared bits.
    masked: bool,
}

impl Lane {
    /// Returns the number of fields of a row.
    fn fields(&self) -> u32 {
        4 + u32::from(self.masked)
    }

    /// Returns the Verilog expression that reads a row.
    fn scan(&self, file: &str) -> String {
        match self.masked {
            false => format!("$fscanf({file}, \"%h %h %h %h\", next, flags, entered, expected)"),
            true => format!("$fscanf({file}, \"%h %h %h %h %h\", next, flags, entered, expected, defined)"),
        }
    }
}

#[derive(Template)]
#[template(path = "testbench/bench.v")]
struct VerilogBench {
    name: String,
    lanes: Vec<Lane>,
    shown: usize,
    vcd: bool,
}

#[derive(Template)]
#[template(path = "testbench/bench.vhd")]
struct VhdlBench {
    name: String,
    lanes: Vec<Lane>,
    shown: usize,
}

#[derive(Template)]
#[template(path = "testbench/wrapper.v")]
struct VerilatorWrapper {
    name: String,
    lanes: Vec<Lane>,
}

#[derive(Template)]
#[template(path = "testbench/bench.cpp")]
struct VerilatorBench {
    name: String,
    lanes: Vec<Lane>,
    shown: usize,
    vcd: bool,
}

/// Syntax of a testbench language for ranges of bits, and for the names of signals in a lane.
struct Style {
    range: fn(u32, u32) -> String,
    bit: fn(u32) -> String,
    /// `true` if the lane's index is appended to the names of stimulus and response: lanes of the wrapper share one
    /// scope.
    suffix: bool,
}

const VERILOG: Style = Style { range: |hi, lo| format!("[{hi}:{lo}]"), bit: |at| format!("[{at}]"), suffix: false };
const WRAPPER: Style = Style { suffix: true, ..VERILOG };
const VHDL: Style = Style { range: |hi, lo| format!("({hi} downto {lo})"), bit: |at| format!("({at})"), suffix: false };

/// A testbench in every language, with its input files and the parser of its output.
pub trait Testbench: Sync {
    /// Returns the name of the testbench's top module, which differs from the module names of the design.
    fn name(&self) -> String;

    /// Returns `bench.v`, for simulators that run Verilog with delays.
    fn verilog(&self) -> String;

    /// Returns `bench.vhd`, for VHDL of 1993 and of 2008.
    fn vhdl(&self) -> String;

    /// Returns `wrapper.v` and `bench.cpp`, for Verilator. The program reads its files itself: Verilator 5.006 loses
    /// the handle of a file that is opened in one process and read in another.
    fn verilator(&self) -> (String, String);

    /// Returns the files that the testbench reads.
    fn rows(&self) -> FileSet;

    /// Returns the number of rows that the testbench must read before it prints `PASS` with this number.
    fn expected_rows(&self) -> usize;

    /// Returns `true` if a value change dump (`wave.vcd`) of all signals is written.
    fn vcd(&self) -> bool;

    /// Parses the output into a report in terms of the model; `None` if the output is incomplete.
    fn read(&self, said: &str) -> Option<Report>;
}

/// Returns the name of a testbench for these modules: `tb_` and the name of the first module.
pub(super) fn bench_name<'a>(tops: impl Iterator<Item = &'a str> + Clone) -> String {
    // A third-party module may have an escaped name.
    let mut name = legalise(&format!("tb_{}", tops.clone().next().unwrap_or("modules")));
    let taken = |name: &str| {
        let name = name.to_ascii_lowercase();
        tops.clone().any(|top| top.to_ascii_lowercase().starts_with(&name))
    };
    while taken(&name) {
        name.push_str("_x");
    }
    name
}

impl Testbench for Bench<'_> {
    fn name(&self) -> String {
        bench_name(self.lanes.iter().map(|lane| lane.layout.top.as_str()))
    }

    fn verilog(&self) -> String {
        let lanes = self.described(&VERILOG);
        render(&VerilogBench { name: self.name(), lanes, shown: SHOWN, vcd: self.vcd })
    }

    fn vhdl(&self) -> String {
        let text = render(&VhdlBench { name: self.name(), lanes: self.described(&VHDL), shown: SHOWN });
        latin1::escaped(&text).into_owned()
    }

    fn verilator(&self) -> (String, String) {
        let wrapper = VerilatorWrapper { name: self.name(), lanes: self.described(&WRAPPER) };
        let lanes = self.described(&WRAPPER);
        let program = VerilatorBench { name: self.name(), lanes, shown: SHOWN, vcd: self.vcd };
        (render(&wrapper), render(&program))
    }

    fn rows(&self) -> FileSet {
        let mut files = FileSet::default();
        for (index, lane) in self.lanes.iter().enumerate() {
            files.add(rows_name(index), rows_text(lane));
        }
        files
    }

    fn expected_rows(&self) -> usize {
        self.lanes.iter().map(|lane| lane.cycles.len()).sum()
    }

    fn vcd(&self) -> bool {
        self.vcd
    }

    fn read(&self, said: &str) -> Option<Report> {
        read_report(said, self.lanes)
    }
}

impl Bench<'_> {
    fn described(&self, style: &Style) -> Vec<Lane> {
        self.lanes.iter().enumerate().map(|(index, lane)| describe(index, lane, style)).collect()
    }
}

/// Renders a template and appends a line end.
pub(super) fn render(template: &impl Template) -> String {
    template.render().expect("templates always render") + "\n"
}

fn rows_name(index: usize) -> String {
    format!("rows_{index}.txt")
}

fn rows_text(lane: &Cycles) -> String {
    let nothing = Bits::zero(lane.layout.response_width);
    let (masked, digits) = (lane.is_masked(), lane.layout.response_width.div_ceil(4) as usize);
    let mut text = String::new();
    for cycle in &lane.cycles {
        let mut expected = cycle.sample.map_or_else(|| nothing.clone(), |s| lane.response(s));
        if let Some(valid) = cycle.valid {
            expected.set(0, valid);
        }
        let flags = u32::from(cycle.sample.is_some())
            + 2 * u32::from(cycle.valid.is_some())
            + 4 * u32::from(cycle.entered.is_some());
        let entered = cycle.entered.unwrap_or(0);
        text.push_str(&format!("{} {flags:x} {entered:08x} {}", cycle.stimulus.hex(), expected.hex()));
        if masked {
            text.push(' ');
            text.push_str(&cycle.defined.as_ref().map_or_else(|| "f".repeat(digits), Bits::hex));
        }
        text.push('\n');
    }
    // A file without this line is truncated.
    text.push_str("end\n");
    text
}

fn describe(index: usize, lane: &Cycles, style: &Style) -> Lane {
    let layout = &lane.layout;
    let suffix = if style.suffix { format!("_{index}") } else { String::new() };
    let connect = |row: &str, field: &Field| {
        let bits = if field.scalar { (style.bit)(field.lo) } else { (style.range)(field.hi(), field.lo) };
        Connection { port: field.port.clone(), signal: format!("{row}{suffix}{bits}") }
    };
    let clock = layout.clock.iter().map(|c| Connection { port: c.clone(), signal: "clk".to_owned() });
    let stimulus = layout.stimulus.iter().map(|f| connect("stimulus", f));
    let response = layout.response.iter().map(|f| connect("actual", f));
    let shown = |(element, lo): (&Element, u32)| (element.width > 0).then(|| Shown::new(element, lo));
    let has_data = layout.response.iter().any(|f| f.lo >= layout.data_lo);
    Lane {
        index,
        rows: lane.cycles.len(),
        compared: lane.compared(),
        inputs: (0..).zip(&lane.inputs).filter_map(|(at, e)| shown((e, layout.input_lo(at)))).collect(),
        outputs: (0..).zip(&lane.elements).filter_map(|(at, e)| shown((e, layout.output_lo(at)))).collect(),
        top: layout.top.clone(),
        file: rows_name(index),
        connections: clock.chain(stimulus).chain(response).collect(),
        stimulus_width: layout.stimulus_width,
        stimulus_hi: layout.stimulus_width - 1,
        response_width: layout.response_width,
        response_hi: layout.response_width - 1,
        data: has_data.then(|| (style.range)(layout.response_width - 1, layout.data_lo)),
        has_valid: layout.data_lo > 0,
        masked: lane.is_masked(),
    }
}
