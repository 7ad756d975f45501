//! What hardware is wanted, as plain data: [`Spec`] and its parts, and which wishes contradict one another.
//!
//! A `Spec` is complete: two equal ones and two equal designs give equal bytes. What the wishes mean for the scheduler,
//! the device and the netlist is decided in `policy`; nothing here computes.

use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::Labels;
use alir_hw::device::Device;
use alir_hw::emit;
use alir_hw::emit::axis::{AxisOptions, Flow};
use alir_hw::netlist::{self, Languages, NameKind, PortNames, Ports, ResetOptions, names};
use alir_hw::retime::Slack;
use alir_opt::schedule::{Effort, Objective};
use std::sync::Arc;

/// Everything that says which hardware is made of a design.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// Which optimisations run, and what they may take for granted.
    pub optimisation: Optimisation,
    /// Where the registers of a program are.
    pub pipeline: Pipeline,
    /// The clock that the registers shall meet.
    pub clock: Clock,
    /// What the hardware is made for.
    pub target: Target,
    /// The module as it is seen from outside.
    pub module: ModuleSpec,
    /// The AXI4-Stream wrapper around it, if there is one.
    pub wrapper: Option<AxisOptions>,
    /// How text is written.
    pub text: Text,
    /// Whether each optimisation, the netlist and each text is proved to be what was handed in.
    pub prove: bool,
    /// What the head of the text says of its making; nothing: the version only.
    pub provenance: Option<Provenance>,
}

/// What the head of a text says of its making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The call, word by word, without folders.
    pub command: Vec<String>,
    /// SHA-256 of the bytes of the design's file, in hexadecimal digits.
    pub model: String,
}

/// Columns of the lines of [`Provenance`], without the sign of a comment. A single word may be longer.
const HEAD_COLUMNS: usize = 100;

impl Provenance {
    /// The lines in the head of a file: `command: ...`, as many as it takes, and `model: SHA-256 ...`. Words that a
    /// shell would take apart stand in quotes; what is not printable ASCII is escaped.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in self.command.iter().map(|word| quoted(word)) {
            match lines.last_mut() {
                Some(line) if line.len() + 1 + word.len() <= HEAD_COLUMNS => {
                    line.push(' ');
                    line.push_str(&word);
                }
                _ => lines.push(format!("{COMMAND} {word}")),
            }
        }
        lines.push(format!("model: SHA-256 {}", self.model));
        lines
    }
}

/// What each line of a command begins with. The prover looks at no such line when it looks for the latency that a head
/// states.
const COMMAND: &str = "command:";

/// A word as a shell takes it as one.
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

/// Which optimisations run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Optimisation {
    /// The passes.
    pub passes: Passes,
    /// Whether every input and every value is taken to stay in the interval that its model declares; the hardware is
    /// then the model's for such inputs only, which its head says.
    pub assume_intervals: bool,
    /// What the slack of the pipelines inside a state machine is used for; nothing: registers are saved where a level
    /// optimises, and stay where they are with level 0 and named passes.
    pub retime: Option<Retime>,
}

/// When a sample is at the ports of hardware that takes one every [`Pipeline::interval`] clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// At the edge that accepts it: registers capture it.
    #[default]
    Captured,
    /// From there on until the next one: whoever sends it holds it, and no register has to capture it.
    Held,
    /// Beat by beat, as a wrapper's stream has it.
    Beats,
}

/// A choice of passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passes {
    /// Those of a level: 0 none, 1 what is cheap and never worse, 2 also what searches.
    Level(u8),
    /// These, by name and in this order.
    Named(Vec<String>),
}

/// The level of optimisation if nothing is said.
pub(super) const DEFAULT_LEVEL: u8 = 1;

impl Default for Passes {
    fn default() -> Passes {
        Passes::Level(DEFAULT_LEVEL)
    }
}

/// What the slack of a state machine's pipelines is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retime {
    /// Nothing: registers stay where the file has them.
    No,
    /// This.
    For(Slack),
}

/// Where the registers of a program are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipeline {
    /// Number of stages; nothing: as [`Pipeline::max_stage_delay`] or the clock asks, else combinational.
    pub stages: Option<Stages>,
    /// Most delay of a stage, in units of the delays.
    pub max_stage_delay: Option<f64>,
    /// Whether inputs are registered too: one more clock of latency.
    pub register_inputs: bool,
    /// Whether outputs are held once more behind the last stage: one more clock of latency.
    pub register_outputs: bool,
    /// Time after the clock edge at which inputs arrive, in units of the delays.
    pub input_delay: f64,
    /// Time that is needed behind the last stage's logic, in units of the delays.
    pub output_delay: f64,
    /// What a number of stages alone spares.
    pub objective: Objective,
    /// How long fewer registers are looked for.
    pub effort: Effort,
    /// Clocks between two samples, by hardware that is used again and again for each; nothing or 1: a sample every
    /// clock.
    pub interval: Option<u32>,
    /// How hardware is used again.
    pub engine: Engine,
    /// When a sample is at the ports, where that is used again.
    pub arrival: Arrival,
    /// What the hardware may take: the smallest interval whose estimate is within it.
    pub budget: Option<Budget>,
    /// Least share of the logic, in per cent, that shall share hardware.
    pub least_share: Option<f64>,
    /// Most clocks from a sample to its result, where [`Pipeline::interval`] or [`Pipeline::budget`] is given.
    pub max_latency: Option<u32>,
    /// Intervals that shall be compared with it: hardware has one.
    pub compared: Vec<u32>,
}

/// What hardware may take of a device, by the estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Look-up tables.
    pub luts: Option<u64>,
    /// Flip-flops.
    pub ffs: Option<u64>,
}

/// How hardware is used again where a sample is taken every few clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The one that is estimated to take fewer tables.
    #[default]
    Auto,
    /// Equal parts of the program share copies.
    Fold,
    /// Values go through bit by bit.
    Serial,
    /// Equal parts of the program share copies, and the rest goes through bit by bit where that is estimated to take
    /// fewer tables.
    Mixed,
}

/// How many stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// This many; 0: combinational.
    Exactly(u32),
    /// As many as the bound or the clock needs.
    Fewest,
}

/// The clock that shall be met.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clock {
    /// Its period in nanoseconds; with the delays of a device registers are part of it, else it is the time of the
    /// logic.
    pub period: Option<f64>,
    /// Nanoseconds in a unit of delay, 1 if nothing is given; the delays of a device are nanoseconds.
    pub delay_unit: Option<f64>,
    /// By how many nanoseconds an edge may come too early: taken off the period.
    pub uncertainty: f64,
}

/// What the hardware is made for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// The device that was named; its delays are those of the scheduler.
    pub device: Option<Device>,
    /// The device where none was named; nothing: none in particular.
    pub fallback: Option<Device>,
    /// Where the scheduler takes delays from; `None`: the device where one is named or a period is given, both without a unit
    /// of delay; else the latency fields.
    pub delays: Option<DelayModel>,
    /// Where multiplications go.
    pub products: Products,
}

/// Where the scheduler takes the time of an operation from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayModel {
    /// The model's latencies; of a model that has none, widths.
    LatencyFields,
    /// The tables and carry chains of the device, in nanoseconds.
    Device,
    /// Widths, in levels of look-up tables.
    Width,
}

/// Where multiplications go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// Where the synthesiser puts them.
    #[default]
    Auto,
    /// Into logic, as rows of adders.
    Logic,
    /// Into the multiplier blocks of the device, wide ones split to their size, with attributes that ask for them.
    Blocks,
}

/// The module as it is seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSpec {
    /// Its name, and whether somebody has chosen it: a name that nobody chose is changed where it is not legal.
    pub top: Top,
    /// Layout of the elements on ports.
    pub ports: Ports,
    /// Names of the ports.
    pub names: PortNames,
    /// Whether a valid flag travels beside the data.
    pub valid: bool,
    /// Whether a clock enable holds the whole pipeline.
    pub enable: bool,
    /// The reset, if there is one.
    pub reset: Option<ResetOptions>,
    /// Names that the source of a program has for elements and values: they become names of signals.
    pub labels: Arc<Labels>,
    /// Languages that it is written in: a word of another one is no bad name.
    pub languages: Languages,
}

/// The name of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Top {
    /// This one; a name that cannot be kept is an error.
    Named(String),
    /// One like that of a file without folder and extension, made legal and different from every port.
    Like(String),
}

impl Default for ModuleSpec {
    fn default() -> ModuleSpec {
        let netlist::Options { ports, names, valid, enable, reset, labels, languages, .. } =
            netlist::Options::default();
        ModuleSpec { top: Top::Like("model".into()), ports, names, valid, enable, reset, labels, languages }
    }
}

/// How text is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// What lookup tables become.
    pub tables: LookupTables,
    /// Whether synthesis may make shift registers of chains of registers; nothing: its choice.
    pub shreg_extract: Option<bool>,
    /// Whether synthesis is asked to keep every name, at the price of area.
    pub keep_names: bool,
    /// Nets above which each pipeline stage is a module of its own.
    pub split_above: usize,
    /// Whether signals are named by the number of their operation, also where the source has names.
    pub index_names: bool,
}

impl Default for Text {
    fn default() -> Text {
        let emit::Options { shreg_extract, keep_names, split_above, .. } = emit::Options::default();
        Text { tables: LookupTables::Auto, shreg_extract, keep_names, split_above, index_names: false }
    }
}

/// What lookup tables become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookupTables {
    /// The synthesiser's choice; with optimisations that search, block memory where that is a smaller share of the
    /// device.
    #[default]
    Auto,
    /// Logic.
    Logic,
    /// Block memory, where a register follows the table.
    Block,
    /// Logic, taken apart by a search into functions that fill one look-up table of the device each.
    Pieces,
}

impl Spec {
    /// The name of the top module: of the wrapper, if there is one.
    pub fn top(&self) -> String {
        match &self.module.top {
            Top::Named(top) => top.clone(),
            Top::Like(stem) => {
                let legal = names::legalise_in(stem, NameKind::Module, self.module.languages);
                let clashes = self.module.options(&legal).check().is_err();
                if clashes { format!("{legal}_top") } else { legal }
            }
        }
    }

    /// Why the module is called otherwise than what its name was derived from; `None` if it is called so.
    pub fn renamed(&self, top: &str) -> Option<String> {
        let Top::Like(stem) = &self.module.top else { return None };
        if top == stem {
            return None;
        }
        let why = netlist::why_not(stem, NameKind::Module, self.module.languages);
        Some(format!("the module is called {top}: `{stem}` {}", why.unwrap_or_else(|| "is the name of a port".into())))
    }

    /// What cannot be meant for a program: requests that contradict each other, ask for something that would not be
    /// there, or names that cannot be kept.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut problem = |code, flag: &str, message: &str, help: &str| {
            problems.push(Diagnostic::error(code, Place::Flag(flag.into()), message).with_help(help));
        };
        let registers = "ask for some with --pipeline N, --max-stage-delay D, --clock-period NS or --register-inputs";
        let module = &self.module;
        if self.takes_turns() {
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
        if self.wrapper.is_some() && module.has_controls() {
            let help = "leave it out: the wrapper has ports of its own and controls the pipeline itself";
            problem("E0803", "--wrapper", "with --valid, --enable, --reset or names of ports", help);
        }
        problems.extend(self.interval_problems());
        let named = netlist::Options { ready: self.takes_turns(), ..module.options(&self.top()) };
        problems.extend(named.check().err().unwrap_or_default());
        problems
    }

    /// Refuses an assumption of intervals beside something that is about every input.
    ///
    /// # Errors
    /// `E0303` if intervals are assumed.
    pub fn every_input(&self, asked: &str) -> Result<(), Diagnostics> {
        if !self.optimisation.assume_intervals {
            return Ok(());
        }
        let message =
            format!("{asked} takes inputs outside the declared intervals too, about which nothing is then known");
        let place = Place::Flag("--assume-intervals".into());
        Err(Diagnostic::error("E0303", place, message).with_help("leave one of the two out").into())
    }

    /// The options of the netlist of a program, where the whole is called `top`: with a wrapper, those of its core.
    pub(super) fn core(&self, top: &str) -> netlist::Options {
        let options = match &self.wrapper {
            None => self.module.options(top),
            Some(wrapper) => netlist::Options {
                top: format!("{top}_core"),
                // What beats go through stands still while one is missing.
                enable: wrapper.flow == Flow::Stall || (self.takes_turns() && self.pipeline.arrival == Arrival::Beats),
                ..netlist::Options::default()
            },
        };
        netlist::Options { fabric: self.fabric(), labels: self.labels(), ..options }
    }

    /// Returns the names that signals and elements have from the source.
    pub(super) fn labels(&self) -> Arc<Labels> {
        match self.text.index_names {
            true => Arc::new(Labels { values: Vec::new(), ..(*self.module.labels).clone() }),
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

    /// Whether anything is asked of the ports that a wrapper decides itself.
    fn has_controls(&self) -> bool {
        let named = self.names != PortNames::default();
        self.valid || self.enable || self.reset.is_some() || self.ports != Ports::Packed || named
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
        assert_eq!(rest.flat_map(|line| line.split(' ')).count(), 40);
    }

    #[test]
    fn names_of_files_cannot_leave_the_comment() {
        let found = lines(&["a b", "it's", "", "x\nmodule y;", "\u{fc}.json", "end\\"]);
        assert_eq!(found[0], "command: 'a b' 'it'\\''s' '' 'x\\nmodule y;' '\\u{fc}.json' 'end\\'");
    }
}
