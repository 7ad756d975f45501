//! Options of the hardware as plain data: [`Spec`] and its parts, and the conflicts between options.
//!
//! A `Spec` is complete: equal specs and equal designs give equal bytes. `policy` resolves the options for the
//! scheduler, the device and the netlist; this module only stores and checks them.

use alir_core::diag::{Diagnostic, Diagnostics, Place, four_digits_down, four_digits_up};
use alir_core::ir::Labels;
use alir_hw::device::Device;
use alir_hw::emit::axis::{AxisOptions, Flow};
use alir_hw::emit::{self, Hierarchy};
use alir_hw::netlist::{self, Languages, NameKind, PortNames, Ports, ResetOptions, names};
use alir_hw::retime::Slack;
use alir_opt::schedule::{Effort, Objective};
use std::sync::Arc;

/// Message about a port option that an AXI4-Stream wrapper determines.
pub(crate) const NOT_WITH_WRAPPER: &str = "incompatible with --wrapper axis";

/// All options that determine the hardware of a design.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// Optimisations that run, and the facts that they may assume.
    pub optimisation: Optimisation,
    /// Placement of the pipeline registers of a program.
    pub pipeline: Pipeline,
    /// Clock that the hardware must meet.
    pub clock: Clock,
    /// Target device, delay model and multiplier style.
    pub target: Target,
    /// Name, ports, registers and wrapper of the module.
    pub module: ModuleSpec,
    /// AXI4-Stream wrapper around the module, if any.
    pub wrapper: Option<AxisOptions>,
    /// Style of the generated RTL.
    pub text: Text,
    /// `true` if each optimisation, the netlist and each RTL file is proved equal to the program as it was read.
    pub prove: bool,
    /// Provenance in the header comment; `None`: only the version.
    pub provenance: Option<Provenance>,
}

/// Provenance of generated files: the command and the checksum of the design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Command line, word by word, without folders.
    pub command: Vec<String>,
    /// SHA-256 of the design's file, in hexadecimal digits.
    pub model: String,
}

/// Columns of a line of [`Provenance`], without the comment marker. A single word may be longer.
const HEAD_COLUMNS: usize = 100;

impl Provenance {
    /// Returns the lines for the header comment of a file: one or more lines `command: ...`, and `model: SHA-256 ...`.
    /// Lines break between options, and continuation lines of the command are indented. Words that a shell would split
    /// are quoted; characters other than printable ASCII are escaped.
    pub fn lines(&self) -> Vec<String> {
        let mut options: Vec<String> = Vec::new();
        for (at, word) in self.command.iter().enumerate() {
            let is_value = !word.starts_with('-') && at > 0 && self.command[at - 1].starts_with("--");
            match options.last_mut().filter(|_| is_value) {
                Some(option) => *option = format!("{option} {}", quoted(word)),
                None => options.push(quoted(word)),
            }
        }
        let mut lines: Vec<String> = Vec::new();
        for option in options {
            match lines.last_mut() {
                Some(line) if line.len() + 1 + option.len() <= HEAD_COLUMNS => {
                    line.push(' ');
                    line.push_str(&option);
                }
                Some(_) => lines.push(format!("{COMMAND}     {option}")),
                None => lines.push(format!("{COMMAND} {option}")),
            }
        }
        lines.push(format!("model: SHA-256 {}", self.model));
        lines
    }
}

/// Prefix of each line of a command. The prover skips such lines when it searches for the latency in a header comment.
const COMMAND: &str = "command:";

/// Returns a word, quoted if a shell would split it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut text = String::from("'");
    for c in word.chars() {
        match c {
            '\'' => text.push_str("'\\''"),
            ' '..='~' => text.push(c),
            c => text.extend(c.escape_default()),
        }
    }
    text.push('\'');
    text
}

/// Selection of optimisations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Optimisation {
    /// Passes that run.
    pub passes: Passes,
    /// `true` if every input and every value is assumed to stay in the interval that its model declares. The hardware
    /// then equals the model for such inputs only, and its header comment states this assumption.
    pub assume_intervals: bool,
    /// Use of the slack in the pipelines of a state machine. `None`: optimisation levels above 0 minimise registers;
    /// level 0 and named passes do not move registers.
    pub retime: Option<Retime>,
}

/// Timing of a sample at the ports of time-multiplexed hardware, which accepts a sample every [`Pipeline::interval`]
/// cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// Valid at the clock edge that accepts the sample: registers capture it.
    #[default]
    Captured,
    /// Stable from that edge until the next accepting edge: the sender keeps the value, so that no register has to
    /// capture it.
    Held,
    /// Transferred in beats, as on the stream of a wrapper.
    Beats,
}

/// Selection of passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passes {
    /// The passes of a level: 0 none, 1 cheap passes that never worsen the result, 2 also passes that search.
    Level(u8),
    /// The passes with these names, in this order.
    Named(Vec<String>),
}

/// Optimisation level if the user requests none.
pub(super) const DEFAULT_LEVEL: u8 = 1;

impl Default for Passes {
    fn default() -> Passes {
        Passes::Level(DEFAULT_LEVEL)
    }
}

/// Use of the slack in the pipelines of a state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retime {
    /// Registers are not moved.
    No,
    /// The slack is used for this objective.
    For(Slack),
}

/// Placement of the pipeline registers of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipeline {
    /// Number of stages. `None`: the number that [`Pipeline::max_stage_delay`] or the clock requires, else
    /// combinational.
    pub stages: Option<Stages>,
    /// Largest delay of a stage, in units of the delays.
    pub max_stage_delay: Option<f64>,
    /// `true` if inputs are registered too: one more cycle of latency.
    pub register_inputs: bool,
    /// `true` if outputs are registered once more after the last stage: one more cycle of latency.
    pub register_outputs: bool,
    /// Time after the clock edge at which inputs arrive, in units of the delays.
    pub input_delay: f64,
    /// Time that is required after the logic of the last stage, in units of the delays.
    pub output_delay: f64,
    /// Objective for a given number of stages.
    pub objective: Objective,
    /// Effort of the search for fewer registers.
    pub effort: Effort,
    /// Initiation interval in cycles; hardware is time-multiplexed if it is above 1. `None` or 1: one sample per cycle.
    pub interval: Option<u32>,
    /// Engine of time-multiplexed hardware.
    pub engine: Engine,
    /// Timing of the inputs of time-multiplexed hardware.
    pub arrival: Arrival,
    /// Resource budget of the hardware: the smallest interval whose estimate is within the budget is selected.
    pub budget: Option<Budget>,
    /// Required minimum of the logic that shares hardware, in per cent.
    pub least_share: Option<f64>,
    /// Maximum latency in cycles, if [`Pipeline::interval`] or [`Pipeline::budget`] is given.
    pub max_latency: Option<u32>,
    /// Further initiation intervals for a comparison; generated hardware has only one interval.
    pub compared: Vec<u32>,
}

/// Resource budget on a device; the estimate must not exceed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of LUTs.
    pub luts: Option<u64>,
    /// Maximum number of flip-flops.
    pub ffs: Option<u64>,
}

/// Engine for time-multiplexed hardware with an initiation interval above 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The engine with the smallest estimated number of LUTs.
    #[default]
    Auto,
    /// Equal parts of the program share functional units.
    Fold,
    /// Bit-serial arithmetic.
    Serial,
    /// Equal parts of the program share functional units, and other parts are bit-serial if the estimate then has fewer
    /// LUTs.
    Mixed,
}

/// Number of pipeline stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// The given number; 0: combinational.
    Exactly(u32),
    /// The smallest number that meets the bound or the clock.
    Fewest,
}

/// Clock that the hardware must meet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clock {
    /// Clock period in nanoseconds. With the delays of a device the period includes registers, otherwise it is the time
    /// of the logic alone.
    pub period: Option<f64>,
    /// Nanoseconds per unit of delay, by default 1; delays of a device are in nanoseconds.
    pub delay_unit: Option<f64>,
    /// Clock uncertainty in nanoseconds, subtracted from the period.
    pub uncertainty: f64,
    /// `true` if the period was given as a frequency.
    pub is_frequency: bool,
}

impl Clock {
    /// Returns the option that the period was given by, as the place of a message.
    pub(super) fn place(&self) -> Place {
        Place::Flag(if self.is_frequency { "--freq" } else { "--clock-period" }.into())
    }

    /// Returns the bound that a user may request for a shortest period, as text: a frequency in MHz, or a period in
    /// nanoseconds.
    pub(super) fn bound(&self, period_ns: f64) -> String {
        match self.is_frequency {
            true => format!("{} MHz or less", four_digits_down(1e3 / period_ns)),
            false => format!("{} ns or more", four_digits_up(period_ns)),
        }
    }
}

/// Target of the hardware: device, delay model and multiplier style.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// Device that the user named; the scheduler uses its delays.
    pub device: Option<Device>,
    /// Device if the user named none; `None`: no particular device.
    pub fallback: Option<Device>,
    /// Origin of the delays for the scheduler. `None`: the device if the user named one or gave a period, unless a unit
    /// of delay is given; otherwise the latency fields.
    pub delays: Option<DelayModel>,
    /// Implementation of multiplications.
    pub products: Products,
}

/// Origin of the delays of operations for the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayModel {
    /// The latency fields of the model; widths if the model has no latencies.
    LatencyFields,
    /// The delays of the device's LUTs and carry chains, in nanoseconds.
    Device,
    /// Widths, in LUT levels.
    Width,
}

/// Implementation of multiplications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// The choice of the synthesiser.
    #[default]
    Auto,
    /// Logic, as rows of adders.
    Logic,
    /// DSPs of the device, requested by attributes. Wide multiplications are split to the size of a DSP.
    Blocks,
}

/// Name, ports, registers and wrapper of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSpec {
    /// Name of the top module. The name may be a default, which is changed if it is illegal.
    pub top: Top,
    /// Layout of the elements on ports.
    pub ports: Ports,
    /// Names of the ports.
    pub names: PortNames,
    /// `true` if a valid flag accompanies the data.
    pub valid: bool,
    /// `true` if a clock enable stalls the whole pipeline.
    pub enable: bool,
    /// The reset, if any.
    pub reset: Option<ResetOptions>,
    /// Names of elements and values in the source of a program, which become signal names.
    pub labels: Arc<Labels>,
    /// Languages in which the module is generated: keywords of other languages are legal names.
    pub languages: Languages,
}

/// Name of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Top {
    /// A name that the user chose; an illegal name is an error.
    Named(String),
    /// A file name without folder and extension, which is made legal and different from every port.
    Like(String),
}

impl Default for ModuleSpec {
    fn default() -> ModuleSpec {
        let netlist::Options { ports, names, valid, enable, reset, labels, languages, .. } =
            netlist::Options::default();
        ModuleSpec { top: Top::Like("model".into()), ports, names, valid, enable, reset, labels, languages }
    }
}

/// Style of the generated RTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Implementation of look-up tables.
    pub tables: LookupTables,
    /// Attribute that allows (`true`) or forbids shift registers for chains of registers; `None`: the choice of the
    /// synthesiser.
    pub shreg_extract: Option<bool>,
    /// `true` if the synthesiser is instructed to keep every name, at the cost of area.
    pub keep_names: bool,
    /// Division into modules.
    pub hierarchy: Hierarchy,
    /// Number of nets above which [`Hierarchy::Auto`] creates a module for each pipeline stage.
    pub split_above: usize,
    /// `true` if SystemVerilog has assertions about ranges, valid flags and streams.
    pub assertions: bool,
    /// `true` if signals are named by the number of their operation, even if the source has names.
    pub index_names: bool,
}

impl Default for Text {
    fn default() -> Text {
        let emit::Options { shreg_extract, keep_names, hierarchy, split_above, .. } = emit::Options::default();
        Text {
            tables: LookupTables::Auto,
            shreg_extract,
            keep_names,
            hierarchy,
            split_above,
            assertions: false,
            index_names: false,
        }
    }
}

/// Implementation of look-up tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookupTables {
    /// The choice of the synthesiser. With optimisations that search: BRAM if it takes a smaller fraction of the
    /// device.
    #[default]
    Auto,
    /// Logic.
    Logic,
    /// BRAM, if a register follows the look-up table.
    Block,
    /// Logic, decomposed by a search into functions of one LUT each.
    Pieces,
}

/// Returns the note that a name in the RTL differs from the name in the source.
pub(super) fn renamed(message: String, help: &str) -> Diagnostic {
    Diagnostic::note("N0601", Place::Whole, message).with_help(help)
}

impl Spec {
    /// Returns the name of the top module, which is the wrapper if there is one.
    pub fn top(&self) -> String {
        match &self.module.top {
            Top::Named(top) => top.clone(),
            Top::Like(stem) => {
                let legal = names::legalise_in(stem, NameKind::Module, self.module.languages);
                let clashes = self.check_names(&legal).is_err();
                if clashes { format!("{legal}_top") } else { legal }
            }
        }
    }

    /// Returns a note if the module's name differs from the name that it was derived from.
    pub(super) fn renamed(&self, top: &str) -> Option<Diagnostic> {
        let Top::Like(stem) = &self.module.top else { return None };
        if top == stem {
            return None;
        }
        let why = netlist::why_not(stem, NameKind::Module, self.module.languages);
        let why = why.unwrap_or_else(|| "is the name of a port".into());
        Some(renamed(format!("the module is called {top}: `{stem}` {why}"), "--top names the module"))
    }

    /// Returns the errors of options that contradict each other, have no effect in a program, or contain illegal names.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut problem = |code, flag: &str, message: &str, help: &str| {
            problems.push(Diagnostic::error(code, Place::Flag(flag.into()), message).with_help(help));
        };
        let registers = "add some with --pipeline N, --max-stage-delay D, --clock-period NS or --register-inputs";
        let module = &self.module;
        if self.wrapper.is_some() {
            let help = "leave it out: the wrapper has ports of its own and controls the pipeline itself";
            for flag in module.determined_by_wrapper() {
                problem("E0803", flag, NOT_WITH_WRAPPER, help);
            }
        } else if self.is_time_multiplexed() {
            // The reset clears the phase.
        } else if self.is_combinational() {
            if module.enable {
                problem("E0801", "--enable", "there is no register that it could hold", registers);
            }
            if module.reset.is_some() {
                problem("E0801", "--reset", "there is no register that it could clear", registers);
            }
        } else if module.reset.is_some_and(|reset| !reset.data) && !module.valid {
            let help = "add --valid to have flags that it clears, or --reset-data to clear the data registers";
            problem("E0801", "--reset", "it would clear nothing: data registers stay without reset", help);
        }
        if self.text.assertions {
            let what = "assertions are checked at the clock edges of a pipeline that accepts a sample every clock";
            if self.is_time_multiplexed() {
                problem("E0801", "--assertions", what, "leave out --assertions, or --ii");
            } else if self.wrapper.is_none() && self.is_combinational() {
                problem("E0801", "--assertions", what, registers);
            }
        }
        problems.extend(self.interval_problems());
        problems.extend(self.check_names(&self.top()).err().unwrap_or_default());
        problems
    }

    /// Checks that the names of the module `top` and of its ports are legal.
    fn check_names(&self, top: &str) -> Result<(), Vec<Diagnostic>> {
        match &self.wrapper {
            Some(wrapper) => wrapper.names.check(top, self.module.languages),
            None => netlist::Options { ready: self.is_time_multiplexed(), ..self.module.options(top) }.check(),
        }
    }

    /// Rejects the assumption of input intervals together with an option or command that covers every input.
    ///
    /// # Errors
    /// `E0303` if intervals are assumed.
    pub fn reject_input_ranges(&self, asked: &str) -> Result<(), Diagnostics> {
        if !self.optimisation.assume_intervals {
            return Ok(());
        }
        let message =
            format!("{asked} takes inputs outside the declared intervals too, about which nothing is then known");
        let place = Place::Flag("--assume-intervals".into());
        Err(Diagnostic::error("E0303", place, message).with_help("leave one of the two out").into())
    }

    /// Returns the netlist options of a program whose top module is called `top`. With a wrapper, they are the options
    /// of its core.
    pub(super) fn core(&self, top: &str) -> netlist::Options {
        let options = match &self.wrapper {
            None => self.module.options(top),
            Some(wrapper) => netlist::Options {
                top: format!("{top}_core"),
                // A pipeline that receives a sample in several beats stalls while a beat is missing.
                enable: wrapper.flow == Flow::Stall
                    || (self.is_time_multiplexed() && self.pipeline.arrival == Arrival::Beats),
                ..netlist::Options::default()
            },
        };
        netlist::Options { fabric: self.fabric(), labels: self.labels(), ..options }
    }

    /// Returns the names of signals and elements in the source.
    pub(super) fn labels(&self) -> Arc<Labels> {
        match self.text.index_names {
            true => {
                let labels = (*self.module.labels).clone();
                Arc::new(Labels { values: Vec::new(), has_layered_names: false, ..labels })
            }
            false => Arc::clone(&self.module.labels),
        }
    }
}

impl ModuleSpec {
    fn options(&self, top: &str) -> netlist::Options {
        netlist::Options {
            top: top.to_owned(),
            ports: self.ports,
            names: self.names.clone(),
            valid: self.valid,
            enable: self.enable,
            reset: self.reset,
            labels: Arc::clone(&self.labels),
            languages: self.languages,
            ..netlist::Options::default()
        }
    }

    /// Returns the given port options that a wrapper determines itself.
    fn determined_by_wrapper(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--valid", self.valid),
            ("--enable", self.enable),
            ("--reset", self.reset.is_some()),
            ("--ports", self.ports != Ports::Packed),
            ("--port", self.names != PortNames::default()),
        ];
        options.into_iter().filter_map(|(flag, given)| given.then_some(flag))
    }
}

#[cfg(test)]
mod provenance_tests {
    use super::*;

    fn lines(command: &[&str]) -> Vec<String> {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Provenance { command, model: "00ff".into() }.lines()
    }

    #[test]
    fn the_head_names_command_and_model() {
        assert_eq!(
            lines(&["alir2hdl", "m.json", "--pipeline", "3"]),
            ["command: alir2hdl m.json --pipeline 3", "model: SHA-256 00ff"]
        );
    }

    #[test]
    fn long_commands_are_wrapped_between_words() {
        let word = "--weights";
        let found = lines(&[word; 40]);
        assert!(found.len() > 3 && found.iter().all(|line| line.len() <= HEAD_COLUMNS), "{found:?}");
        let rest = found.iter().filter_map(|line| line.strip_prefix("command: "));
        assert_eq!(rest.flat_map(|line| line.split_whitespace()).count(), 40);
    }

    #[test]
    fn long_commands_are_not_wrapped_within_an_option() {
        let found = lines(&["--weights", "a_file_of_weights.npy"].repeat(9));
        let (first, rest) = found.split_first().expect("a line");
        assert!(first.starts_with("command: --weights ") && rest.len() > 1, "{found:?}");
        let (_, continued) = rest.split_last().expect("the model");
        let is_whole = |line: &String| line.starts_with("command:     --weights ") && line.ends_with(".npy");
        assert!(continued.iter().all(is_whole) && first.ends_with(".npy"), "{found:?}");
    }

    #[test]
    fn names_of_files_cannot_leave_the_comment() {
        let found = lines(&["a b", "it's", "", "x\nmodule y;", "\u{fc}.json", "end\\"]);
        assert_eq!(found[0], "command: 'a b' 'it'\\''s' '' 'x\\nmodule y;' '\\u{fc}.json' 'end\\'");
    }
}
