//! Options by name: their values, their parsing, and the words of a command in a header comment.

use super::{HardwareOptions, NS_OF_MHZ, NamedDevice, PortRole, PortStyle, ResetKind, named_port};
use crate::compile::{Arrival, DelayModel, Engine, LookupTables, Products, Retime, Stages};
use alir_core::diag::{Diagnostic, Place};
use alir_hw::emit::Hierarchy;
use alir_hw::emit::axis::Packing;
use alir_hw::netlist::Ports;
use alir_hw::retime::Slack;
use alir_opt::schedule::{Effort, Objective};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A boolean.
    Flag(bool),
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A word.
    Text(String),
    /// Several values.
    List(Vec<OptionValue>),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Flag(flag) => write!(f, "{flag}"),
            OptionValue::Integer(number) => write!(f, "{number}"),
            OptionValue::Real(number) => write!(f, "{number}"),
            OptionValue::Text(text) => f.write_str(text),
            OptionValue::List(values) => {
                for (k, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if k == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

/// Reason that an option cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionFault {
    /// No option has this name; with the nearest name, if any.
    Unknown(Option<&'static str>),
    /// The value is invalid.
    Value(Diagnostic),
}

/// Returns the result of `set`, or the result of `next` if `set` reports an unknown name.
///
/// # Errors
/// The fault of the last call.
pub fn or_next(
    set: Result<(), OptionFault>,
    next: impl FnOnce() -> Result<(), OptionFault>,
) -> Result<(), OptionFault> {
    match set {
        Err(OptionFault::Unknown(_)) => next(),
        done => done,
    }
}

type Setter = fn(&mut HardwareOptions, &OptionValue) -> Result<(), String>;

/// An option: its name with underscores, aliases, and the function that stores its value.
struct NamedOption {
    name: &'static str,
    aliases: &'static [&'static str],
    is_flag: bool,
    set: Setter,
}

const fn value(name: &'static str, aliases: &'static [&'static str], set: Setter) -> NamedOption {
    NamedOption { name, aliases, is_flag: false, set }
}

const fn flag(name: &'static str, set: Setter) -> NamedOption {
    NamedOption { name, aliases: &[], is_flag: true, set }
}

/// Stores a converted value in a field.
macro_rules! store {
    ($field:ident, $convert:expr) => {
        |options, value| {
            options.$field = $convert(value)?;
            Ok(())
        }
    };
    (some $field:ident, $convert:expr) => {
        |options, value| {
            options.$field = Some($convert(value)?);
            Ok(())
        }
    };
}

/// Stores the name of a port that an option of version 0.2 sets.
macro_rules! port_name {
    ($role:ident) => {
        |options, value| {
            options.names.former.push((PortRole::$role, text(value)?));
            Ok(())
        }
    };
}

const OPTIONS: &[NamedOption] = &[
    value("optimise", &[], |options, value| match unsigned::<u8>(value)? {
        level @ 0..=2 => {
            options.level = Some(level);
            Ok(())
        }
        level => Err(format!("no level {level}; levels are 0, 1, 2")),
    }),
    value("passes", &[], store!(some passes, texts)),
    flag("assume_intervals", store!(assume_intervals, flag_value)),
    value("retime", &[], store!(some retime, |value| choice(value, RETIME))),
    value("pipeline", &["stages"], store!(some stages, |value: &OptionValue| stages(&value.to_string()))),
    value("ii", &[], store!(some intervals, |value: &OptionValue| intervals(&value.to_string()))),
    value("max_luts", &[], store!(some max_luts, unsigned::<u64>)),
    value("max_ffs", &[], store!(some max_ffs, unsigned::<u64>)),
    value("ii_share", &[], store!(some ii_share, real)),
    value("max_latency", &[], store!(some max_latency, unsigned::<u32>)),
    value("ii_engine", &[], store!(engine, |value| choice(value, ENGINES))),
    value("ii_input", &[], store!(arrival, |value| choice(value, ARRIVALS))),
    flag("register_inputs", store!(register_inputs, flag_value)),
    flag("register_outputs", store!(register_outputs, flag_value)),
    value("max_stage_delay", &[], store!(some max_stage_delay, real)),
    value("clock_period", &[], store!(some clock_period, |value: &OptionValue| period(&value.to_string()))),
    value("freq", &[], store!(some freq, |value: &OptionValue| frequency(&value.to_string()))),
    value("delay_unit", &[], store!(some delay_unit, real)),
    value("clock_uncertainty", &[], store!(clock_uncertainty, real)),
    value("input_delay", &[], store!(input_delay, real)),
    value("output_delay", &[], store!(output_delay, real)),
    value("pipeline_objective", &[], store!(objective, |value| choice(value, OBJECTIVES))),
    value("effort", &[], store!(effort, |value| choice(value, EFFORTS))),
    value("use_dsp", &[], store!(products, |value| choice(value, PRODUCTS))),
    value("device", &["part"], |options, value| {
        for name in texts(value)? {
            options.devices.push(NamedDevice::parse(&name)?);
        }
        Ok(())
    }),
    value("delay_model", &[], store!(some delay_model, |value| choice(value, DELAY_MODELS))),
    value("top", &[], store!(some top, text)),
    value("ports", &[], store!(ports, |value| choice(value, PORTS))),
    flag("valid", store!(valid, flag_value)),
    flag("enable", store!(enable, flag_value)),
    value("reset", &[], store!(reset, |value| choice(value, RESETS))),
    flag("reset_data", store!(reset_data, flag_value)),
    value("reset_polarity", &[], store!(reset_low, |value| choice(value, POLARITIES))),
    value("port_style", &[], |options, value| {
        options.names.style = choice(value, PORT_STYLES)?;
        Ok(())
    }),
    value("port", &[], |options, value| {
        for name in texts(value)? {
            options.names.named.push(named_port(&name)?);
        }
        Ok(())
    }),
    value("clk_name", &[], port_name!(Clock)),
    value("rst_name", &[], port_name!(Reset)),
    value("ce_name", &[], port_name!(Enable)),
    value("valid_in_name", &[], port_name!(ValidIn)),
    value("valid_out_name", &[], port_name!(ValidOut)),
    value("ready_name", &[], port_name!(Ready)),
    value("input_name", &[], port_name!(Inputs)),
    value("output_name", &[], port_name!(Outputs)),
    value("wrapper", &[], |options, value| {
        options.axis = choice(value, WRAPPERS)?;
        options.no_wrapper = !options.axis;
        Ok(())
    }),
    value("packing", &[], store!(packing, |value| choice(value, PACKINGS))),
    value("axis_width", &[], store!(some axis_width, unsigned::<u32>)),
    value("axis_user", &[], store!(axis_user, unsigned::<u32>)),
    value("axis_flow", &[], store!(axis_stall, |value| choice(value, AXIS_FLOWS))),
    value("axis_depth", &[], store!(some axis_depth, unsigned::<u32>)),
    value("rom_style", &[], store!(tables, |value| choice(value, TABLES))),
    value("shreg_extract", &[], store!(some shreg_extract, |value| choice(value, YES_NO))),
    flag("assertions", store!(assertions, flag_value)),
    flag("keep_names", store!(keep_names, flag_value)),
    value("names", &[], store!(index_names, |value| choice(value, NAMES))),
    value("hierarchy", &[], store!(hierarchy, |value| choice(value, HIERARCHIES))),
    value("names_from", &[], store!(some names_from, path)),
    value("split_above", &[], store!(split_above, unsigned::<usize>)),
    flag("prove", store!(prove, flag_value)),
];

const RETIME: &[(&str, Retime)] =
    &[("no", Retime::No), ("registers", Retime::For(Slack::Registers)), ("delay", Retime::For(Slack::Delay))];
const HIERARCHIES: &[(&str, Hierarchy)] = &[
    ("auto", Hierarchy::Auto),
    ("flat", Hierarchy::Flat),
    ("stages", Hierarchy::Stages),
    ("layers", Hierarchy::Layers),
];
const ENGINES: &[(&str, Engine)] =
    &[("auto", Engine::Auto), ("fold", Engine::Fold), ("serial", Engine::Serial), ("mixed", Engine::Mixed)];
const ARRIVALS: &[(&str, Arrival)] =
    &[("captured", Arrival::Captured), ("held", Arrival::Held), ("beats", Arrival::Beats)];
const OBJECTIVES: &[(&str, Objective)] =
    &[("delay", Objective::Delay), ("balanced", Objective::Balanced), ("registers", Objective::Registers)];
const EFFORTS: &[(&str, Effort)] = &[("fast", Effort::Fast), ("normal", Effort::Normal), ("max", Effort::Max)];
const PRODUCTS: &[(&str, Products)] = &[("auto", Products::Auto), ("no", Products::Logic), ("yes", Products::Blocks)];
const DELAY_MODELS: &[(&str, DelayModel)] =
    &[("latency-fields", DelayModel::LatencyFields), ("device", DelayModel::Device), ("width", DelayModel::Width)];
const PORTS: &[(&str, Ports)] = &[("packed", Ports::Packed), ("split", Ports::Split)];
const RESETS: &[(&str, ResetKind)] =
    &[("none", ResetKind::None), ("sync", ResetKind::Sync), ("async", ResetKind::Async)];
/// Reset polarities; the value is `true` for an active-low reset.
pub(crate) const POLARITIES: &[(&str, bool)] = &[("high", false), ("low", true)];
pub(crate) const PORT_STYLES: &[(&str, PortStyle)] =
    &[("alkaid", PortStyle::Alkaid), ("plain", PortStyle::Plain), ("ap", PortStyle::Ap)];
/// Wrappers; the value is `true` for AXI4-Stream.
const WRAPPERS: &[(&str, bool)] = &[("none", false), ("axis", true)];
const PACKINGS: &[(&str, Packing)] = &[
    ("auto", Packing::Auto),
    ("8", Packing::Slot(8)),
    ("16", Packing::Slot(16)),
    ("32", Packing::Slot(32)),
    ("64", Packing::Slot(64)),
    ("dense", Packing::Dense),
];
/// Flow controls; the value is `true` for a pipeline that stalls.
const AXIS_FLOWS: &[(&str, bool)] = &[("fifo", false), ("stall", true)];
const TABLES: &[(&str, LookupTables)] = &[
    ("auto", LookupTables::Auto),
    ("logic", LookupTables::Logic),
    ("block", LookupTables::Block),
    ("lut", LookupTables::Pieces),
];
const NAMES: &[(&str, bool)] = &[("source", false), ("index", true)];
const YES_NO: &[(&str, bool)] = &[("no", false), ("yes", true)];

/// Returns the choice that a word names.
///
/// # Errors
/// Returns the expected form.
pub fn choice<T: Copy>(value: &OptionValue, known: &[(&str, T)]) -> Result<T, String> {
    let word = value.to_string();
    let names = || known.iter().map(|(name, _)| *name);
    let found = known.iter().find(|(name, _)| *name == word).map(|(_, choice)| *choice);
    found.ok_or_else(|| {
        let guess = near(&word, names()).map(|name| format!("did you mean {name}? ")).unwrap_or_default();
        format!("{guess}known are {}", names().collect::<Vec<_>>().join(", "))
    })
}

/// Returns several choices, from a list or from one word with commas.
///
/// # Errors
/// Returns the expected form.
pub fn choices<T: Copy>(value: &OptionValue, known: &[(&str, T)]) -> Result<Vec<T>, String> {
    texts(value)?.into_iter().map(|word| choice(&OptionValue::Text(word), known)).collect()
}

/// Builds the fault of an invalid value. `expected` is the form of valid ones.
pub fn invalid(name: &str, value: &OptionValue, expected: String) -> OptionFault {
    let shown = if name == "optimise" { "-O".to_owned() } else { format!("--{}", name.replace('_', "-")) };
    let message = format!("{:?} is not a value of {shown}", value.to_string());
    OptionFault::Value(Diagnostic::error("E0002", Place::Flag(shown), message).with_help(expected))
}

/// Returns the path of a file.
///
/// # Errors
/// Returns the expected form.
pub fn path(value: &OptionValue) -> Result<PathBuf, String> {
    text(value).map(PathBuf::from).map_err(|_| "the path of a file".to_owned())
}

/// Returns the paths of files, from a list or from one path.
///
/// # Errors
/// Returns the expected form.
pub fn paths(value: &OptionValue) -> Result<Vec<PathBuf>, String> {
    match value {
        OptionValue::List(values) => values.iter().map(path).collect(),
        one => path(one).map(|file| vec![file]),
    }
}

/// Returns `true` or `false`.
///
/// # Errors
/// Returns the expected form.
pub fn flag_value(value: &OptionValue) -> Result<bool, String> {
    match value {
        OptionValue::Flag(flag) => Ok(*flag),
        _ => Err("true or false".to_owned()),
    }
}

/// Returns a word.
///
/// # Errors
/// Returns the expected form.
pub fn text(value: &OptionValue) -> Result<String, String> {
    match value {
        OptionValue::Text(text) => Ok(text.clone()),
        _ => Err("a word".to_owned()),
    }
}

/// Returns several words, from a list or from one word with commas.
///
/// # Errors
/// Returns the expected form.
pub fn texts(value: &OptionValue) -> Result<Vec<String>, String> {
    match value {
        OptionValue::List(values) => values.iter().map(text).collect(),
        _ => Ok(text(value)?.split(',').map(str::to_owned).collect()),
    }
}

/// Returns a number from 0 up.
///
/// # Errors
/// Returns the expected form.
pub fn unsigned<T: TryFrom<u64>>(value: &OptionValue) -> Result<T, String> {
    let number = match value {
        OptionValue::Integer(number) => u64::try_from(*number).ok(),
        OptionValue::Text(text) => text.parse().ok(),
        _ => None,
    };
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| "a number from 0 up".to_owned())
}

/// Returns a number within a range.
///
/// # Errors
/// Returns the expected form.
pub fn within(value: &OptionValue, range: RangeInclusive<u32>) -> Result<u32, String> {
    let number = unsigned(value).ok().filter(|number| range.contains(number));
    number.ok_or_else(|| match *range.end() {
        u32::MAX => format!("a number from {} up", range.start()),
        most => format!("a number from {} to {most}", range.start()),
    })
}

/// Returns a real number.
///
/// # Errors
/// Returns the expected form.
pub fn real(value: &OptionValue) -> Result<f64, String> {
    let number = match value {
        OptionValue::Integer(number) => Some(*number as f64),
        OptionValue::Real(number) => Some(*number),
        OptionValue::Text(text) => text.parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| "a number".to_owned())
}

/// Parses a number of stages.
///
/// # Errors
/// Returns the expected form.
pub fn stages(text: &str) -> Result<Stages, String> {
    match text {
        "auto" => Ok(Stages::Fewest),
        _ => text.parse().map(Stages::Exactly).map_err(|_| "a number of stages, or auto".to_owned()),
    }
}

/// Parses initiation intervals: numbers of cycles separated by commas, or `auto`, which gives an empty list.
///
/// # Errors
/// Returns the expected form.
pub fn intervals(words: &str) -> Result<Vec<u32>, String> {
    if words == "auto" {
        return Ok(Vec::new());
    }
    let number = |word: &str| {
        word.parse().map_err(|_| match words.contains(',') {
            true => format!("{word:?} is no number of clocks; give numbers with commas, such as 1,2,4"),
            false => "a number of clocks, or auto".to_owned(),
        })
    };
    words.split(',').map(number).collect()
}

/// Parses a clock period in nanoseconds, from a time or a frequency with or without a unit.
///
/// # Errors
/// Returns the expected form.
pub fn period(text: &str) -> Result<f64, String> {
    match quantity(text) {
        Some((time, "" | "ns")) => Ok(time),
        Some((time, "ps")) => Ok(time / 1000.0),
        Some((time, "us")) => Ok(time * 1000.0),
        Some((mhz, "mhz")) => Ok(NS_OF_MHZ / mhz),
        Some((ghz, "ghz")) => Ok(1.0 / ghz),
        _ => Err("a time or a frequency: 5, 5ns or 200MHz".to_owned()),
    }
}

/// Parses a frequency in MHz, with or without a unit.
///
/// # Errors
/// Returns the expected form.
pub fn frequency(text: &str) -> Result<f64, String> {
    match quantity(text) {
        Some((mhz, "" | "mhz")) if mhz > 0.0 => Ok(mhz),
        Some((ghz, "ghz")) if ghz > 0.0 => Ok(NS_OF_MHZ * ghz),
        Some((ns, "ns")) if ns > 0.0 => Ok(NS_OF_MHZ / ns),
        _ => Err("a frequency above zero: 200 or 200MHz".to_owned()),
    }
}

/// Returns a number and its unit in lower case; `None` for other text.
fn quantity(text: &str) -> Option<(f64, &'static str)> {
    const UNITS: [&str; 5] = ["ns", "ps", "us", "mhz", "ghz"];
    let lower = text.trim().to_ascii_lowercase();
    let unit = UNITS.into_iter().find(|unit| lower.ends_with(unit)).unwrap_or_default();
    let number = lower[..lower.len() - unit.len()].trim_end().parse().ok()?;
    Some((number, unit))
}

/// Returns the name that a mistyped word probably means: the word differs from it in few letters, or is a prefix of
/// this name only.
pub fn near<'n>(word: &str, names: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    let word = word.to_ascii_lowercase();
    let allowed = if word.len() < 4 { 1 } else { 2 };
    let distance = |name: &&str| crate::project::edits(word.as_bytes(), name.as_bytes());
    let within = |most: usize| names.clone().min_by_key(distance).filter(|name| distance(name) <= most);
    let mut longer = names.clone().filter(|name| word.len() > 2 && name.starts_with(&word));
    let only_longer = longer.next().filter(|_| longer.next().is_none());
    within(1).or(only_longer).or_else(|| within(allowed))
}

fn find(name: &str) -> Option<&'static NamedOption> {
    OPTIONS.iter().find(|option| option.name == name || option.aliases.contains(&name))
}

impl HardwareOptions {
    /// Returns the names of all options and their aliases, with underscores.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        OPTIONS.iter().flat_map(|option| [option.name].into_iter().chain(option.aliases.iter().copied()))
    }

    /// Sets an option by its name. The value `false` leaves an option as it is.
    ///
    /// # Errors
    /// If no option has that name; if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let option = find(name).ok_or_else(|| OptionFault::Unknown(near(name, HardwareOptions::names())))?;
        if *value == OptionValue::Flag(false) {
            return Ok(());
        }
        (option.set)(self, value).map_err(|expected| invalid(name, value, expected))
    }

    /// Returns the options that the words of a command contain. Words that are no valid option are skipped: a header
    /// comment is an untrusted hint.
    pub fn from_words<'w>(words: impl IntoIterator<Item = &'w str>) -> HardwareOptions {
        let mut options = HardwareOptions::default();
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let (name, inline) = match (word.strip_prefix("--"), word.strip_prefix("-O")) {
                (Some(long), _) => match long.split_once('=') {
                    Some((name, value)) => (name.replace('-', "_"), Some(value)),
                    None => (long.replace('-', "_"), None),
                },
                (None, Some(level)) => ("optimise".to_owned(), Some(level).filter(|level| !level.is_empty())),
                (None, None) => continue,
            };
            let Some(option) = find(&name) else { continue };
            let value = match (option.is_flag, inline) {
                (true, _) => Some(OptionValue::Flag(true)),
                (false, Some(value)) => Some(OptionValue::Text(value.to_owned())),
                (false, None) => words.next().map(|value| OptionValue::Text(value.to_owned())),
            };
            if let Some(value) = value {
                let _ = options.set(&name, &value);
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_nanoseconds_whatever_their_unit() {
        for text in ["5", "5ns", "5 ns", "5.0NS", "200MHz", "200 mhz", "0.2GHz", "5000ps", "0.005us"] {
            assert_eq!(period(text), Ok(5.0), "{text}");
        }
        for text in ["200", "200MHz", "0.2ghz", "5ns"] {
            assert_eq!(frequency(text), Ok(200.0), "{text}");
        }
        for wrong in ["", "ns", "5s", "5 n s", "fast", "5,0", "5nss"] {
            assert!(period(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "0", "-200", "nan", "fast", "5ps"] {
            assert!(frequency(wrong).is_err(), "{wrong}");
        }
    }

    fn set(options: &[(&str, OptionValue)]) -> Result<HardwareOptions, OptionFault> {
        let mut all = HardwareOptions::default();
        options.iter().try_for_each(|(name, value)| all.set(name, value)).map(|()| all)
    }

    #[test]
    fn words_and_typed_values_are_the_same_options() {
        let typed = set(&[
            ("optimise", OptionValue::Integer(2)),
            ("pipeline", OptionValue::Integer(3)),
            ("valid", OptionValue::Flag(true)),
            ("clock_period", OptionValue::Real(2.5)),
            ("device", OptionValue::Text("xcvu13p".into())),
            ("port", OptionValue::List(vec![OptionValue::Text("clk=c".into()), OptionValue::Text("in=x".into())])),
        ]);
        let words = "-O 2 m.json --stages 3 --unknown --valid --clock-period=2.5ns --part xcvu13p --port clk=c,in=x";
        assert_eq!(typed, Ok(HardwareOptions::from_words(words.split(' '))));
    }

    #[test]
    fn wrong_names_and_values_are_reported() {
        assert_eq!(set(&[("pipelin", OptionValue::Integer(3))]), Err(OptionFault::Unknown(Some("pipeline"))));
        for (name, value) in [
            ("pipeline", OptionValue::Integer(-1)),
            ("pipeline", OptionValue::Real(1.5)),
            ("optimise", OptionValue::Integer(3)),
            ("reset", OptionValue::Text("maybe".into())),
            ("valid", OptionValue::Integer(1)),
            ("axis_width", OptionValue::Integer(1 << 40)),
            ("device", OptionValue::Text("xcvu31".into())),
        ] {
            let Err(OptionFault::Value(found)) = set(&[(name, value.clone())]) else { panic!("{name}={value}") };
            assert!(found.code == "E0002" && found.help.is_some(), "{found}");
        }
    }

    #[test]
    fn options_that_exclude_or_require_each_other_are_refused() {
        let refused = |options: &[(&str, OptionValue)]| set(options).expect("options").checked_spec("m").is_err();
        let (one, fast) = (OptionValue::Real(1.0), OptionValue::Text("serial".into()));
        assert!(refused(&[("clock_period", one.clone()), ("freq", one.clone())]));
        assert!(refused(&[
            ("max_stage_delay", one.clone()),
            ("pipeline_objective", OptionValue::Text("registers".into()))
        ]));
        assert!(refused(&[("ii_engine", fast.clone())]));
        assert!(!refused(&[("ii_engine", fast), ("ii", OptionValue::Integer(4))]));
        assert!(refused(&[("axis_width", OptionValue::Integer(8))]));
        assert!(refused(&[("reset_data", OptionValue::Flag(true))]));
        assert!(refused(&[("delay_unit", one)]));
    }
}
