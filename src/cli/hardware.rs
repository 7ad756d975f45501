//! The options that say what the hardware looks like, the same in every sub-command that makes some: they fill a
//! [`Spec`].

use super::device::{DelayModelArg, DeviceArgs};
use crate::compile::{
    Arrival, Budget, Clock, DelayModel, Engine, ModuleSpec, Pipeline, Products, Spec, Stages, Target, Top,
};
use crate::diag::{Diagnostic, Place, four_digits};
use crate::netlist::{Ports, ResetOptions};
use crate::prove::equiv::Presence;
use crate::schedule::{Effort, Objective};
use clap::ValueEnum;
use std::sync::Arc;

/// Where the registers are.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Pipeline and device")]
pub(super) struct PipelineArgs {
    /// Cut the logic into N stages; 0 is combinational, auto takes the fewest that meet the clock
    #[arg(long, visible_alias = "stages", value_name = "N|auto", allow_negative_numbers = true, value_parser = stages)]
    pub(super) pipeline: Option<Stages>,
    /// Accept one sample every K clocks with shared hardware; auto: the smallest K within --max-luts and --max-ffs
    #[arg(long, value_name = "K|auto", allow_negative_numbers = true, value_parser = intervals)]
    pub(super) ii: Option<Intervals>,
    /// Allow --ii auto this many look-up tables
    #[arg(long, value_name = "N", requires = "ii", hide_short_help = true, allow_negative_numbers = true)]
    pub(super) max_luts: Option<u64>,
    /// Allow --ii auto this many flip-flops
    #[arg(long, value_name = "N", requires = "ii", hide_short_help = true, allow_negative_numbers = true)]
    pub(super) max_ffs: Option<u64>,
    /// Refuse --ii if less than P per cent of the logic is shared
    #[arg(long, value_name = "P", requires = "ii", hide_short_help = true, allow_negative_numbers = true)]
    pub(super) ii_share: Option<f64>,
    /// Allow at most L clocks from a sample to its result
    #[arg(long, value_name = "L", requires = "ii", hide_short_help = true, allow_negative_numbers = true)]
    pub(super) max_latency: Option<u32>,
    /// Share equal parts (fold), work bit by bit (serial), both (mixed), or what is smallest (auto)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        hide_short_help = true,
        requires = "ii",
        hide_possible_values = true
    )]
    pub(super) ii_engine: EngineArg,
    /// Read inputs at one edge (captured), for K clocks (held), or in AXI transfers (beats)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        hide_short_help = true,
        requires = "ii",
        hide_possible_values = true
    )]
    pub(super) ii_input: InputArg,
    /// Register the inputs: one more clock of latency
    #[arg(long, hide_short_help = true)]
    pub(super) register_inputs: bool,
    /// Register the outputs once more: one more clock of latency
    #[arg(long, hide_short_help = true)]
    pub(super) register_outputs: bool,
    /// Use the fewest stages of at most this delay, in units of the latency fields (with --device ns)
    #[arg(long, value_name = "D", allow_negative_numbers = true, hide_short_help = true)]
    pub(super) max_stage_delay: Option<f64>,
    /// Meet this clock with the fewest stages: 5, 5ns or 200MHz, by the times of --device
    #[arg(long, value_name = "NS", allow_negative_numbers = true, conflicts_with = "max_stage_delay", value_parser = period,
          group = "clock")]
    pub(super) clock_period: Option<f64>,
    /// Meet this clock, in MHz
    #[arg(long, value_name = "MHZ", allow_negative_numbers = true, conflicts_with = "max_stage_delay", value_parser = frequency,
          group = "clock")]
    pub(super) freq: Option<f64>,
    /// Take the latency fields for times: nanoseconds in one of their units
    #[arg(long, value_name = "NS", requires = "clock", allow_negative_numbers = true, hide_short_help = true)]
    pub(super) delay_unit: Option<f64>,
    /// Take this many nanoseconds off the clock period
    #[arg(long, value_name = "NS", default_value_t = 0.0, hide_short_help = true, allow_negative_numbers = true)]
    pub(super) clock_uncertainty: f64,
    /// Expect inputs this long after the clock edge
    #[arg(long, value_name = "D", default_value_t = 0.0, hide_short_help = true, allow_negative_numbers = true)]
    pub(super) input_delay: f64,
    /// Leave this much time after the last stage
    #[arg(long, value_name = "D", default_value_t = 0.0, hide_short_help = true, allow_negative_numbers = true)]
    pub(super) output_delay: f64,
    /// Minimise the longest stage (delay), or registers in stages 10 % (balanced) or 20 % longer (registers)
    #[arg(long, alias = "objective", value_enum, default_value_t, value_name = "WHAT",
          conflicts_with_all = ["max_stage_delay", "clock_period", "freq"], hide_short_help = true, hide_possible_values = true)]
    pub(super) pipeline_objective: ObjectiveArg,
    /// Search for fewer registers not at all (fast), for a second (normal) or a minute (max)
    #[arg(long, value_enum, default_value_t, value_name = "HOW", hide_short_help = true, hide_possible_values = true)]
    pub(super) effort: EffortArg,
    /// Put multiplications into DSP blocks (yes), into adders (no), or as synthesis does (auto)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        help_heading = "Pipeline and device",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(super) use_dsp: UseDspArg,
    #[command(flatten)]
    pub(super) device: DeviceArgs,
}

/// Where multiplications go, as it is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum UseDspArg {
    /// The synthesiser chooses
    #[default]
    Auto,
    /// Into logic, as rows of adders
    No,
    /// Into the blocks of --device, wide ones split to their size, with attributes that ask for them
    Yes,
}

/// Method of hardware reuse, as given on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum EngineArg {
    /// The one that is estimated to take the fewest tables
    #[default]
    Auto,
    /// Parts of the model that are equal share hardware
    Fold,
    /// Values go through bit by bit, the lowest first, one or a few a clock: nothing has to repeat
    Serial,
    /// Equal parts share hardware, and what is left goes through bit by bit where that takes less
    Mixed,
}

/// For how long inputs are read, as it is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum InputArg {
    /// At the edge that accepts a sample alone: registers capture it
    #[default]
    Captured,
    /// For K clocks from the one with that edge on: whoever sends the sample must hold it, and no register captures it
    Held,
    /// Beat by beat, as the stream of --wrapper axis brings them: no register gathers a sample. Where a packet pauses
    /// between its beats, the samples before it wait too
    Beats,
}

impl InputArg {
    fn arrival(self) -> Arrival {
        match self {
            InputArg::Captured => Arrival::Captured,
            InputArg::Held => Arrival::Held,
            InputArg::Beats => Arrival::Beats,
        }
    }

    pub(super) fn presence(self) -> Presence {
        match self {
            InputArg::Captured => Presence::Accepted,
            InputArg::Held => Presence::Held,
            InputArg::Beats => Presence::Beats(None),
        }
    }
}

/// A number of stages as it is typed.
fn stages(text: &str) -> Result<Stages, String> {
    match text {
        "auto" => Ok(Stages::Fewest),
        _ => text.parse().map(Stages::Exactly).map_err(|_| "a number of stages, or auto".to_owned()),
    }
}

/// Nanoseconds in a period of one megahertz.
const NS_OF_MHZ: f64 = 1000.0;

/// A clock period in nanoseconds, from a time or a frequency with or without a unit.
fn period(text: &str) -> Result<f64, String> {
    match quantity(text) {
        Some((time, "" | "ns")) => Ok(time),
        Some((time, "ps")) => Ok(time / 1000.0),
        Some((time, "us")) => Ok(time * 1000.0),
        Some((mhz, "mhz")) => Ok(NS_OF_MHZ / mhz),
        Some((ghz, "ghz")) => Ok(1.0 / ghz),
        _ => Err("a time or a frequency: 5, 5ns or 200MHz".to_owned()),
    }
}

/// A frequency in MHz, with or without a unit.
fn frequency(text: &str) -> Result<f64, String> {
    match quantity(text) {
        Some((mhz, "" | "mhz")) if mhz > 0.0 => Ok(mhz),
        Some((ghz, "ghz")) if ghz > 0.0 => Ok(NS_OF_MHZ * ghz),
        Some((ns, "ns")) if ns > 0.0 => Ok(NS_OF_MHZ / ns),
        _ => Err("a frequency above zero: 200 or 200MHz".to_owned()),
    }
}

/// A number and its unit in lower case.
fn quantity(text: &str) -> Option<(f64, &'static str)> {
    const UNITS: [&str; 5] = ["ns", "ps", "us", "mhz", "ghz"];
    let lower = text.trim().to_ascii_lowercase();
    let unit = UNITS.into_iter().find(|unit| lower.ends_with(unit)).unwrap_or_default();
    let number = lower[..lower.len() - unit.len()].trim_end().parse().ok()?;
    Some((number, unit))
}

/// Clocks between two samples, as they are typed; several are compared, none: as few as a budget allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Intervals(pub(super) Vec<u32>);

fn intervals(text: &str) -> Result<Intervals, String> {
    if text == "auto" {
        return Ok(Intervals(Vec::new()));
    }
    let number = |text: &str| text.parse().map_err(|_| "a number of clocks".to_owned());
    text.split(',').map(number).collect::<Result<_, _>>().map(Intervals)
}

/// [`Objective`] as it is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ObjectiveArg {
    /// The smallest longest stage, then the fewest registers
    #[default]
    Delay,
    /// The fewest registers with stages up to 1.1 times as long
    Balanced,
    /// The fewest registers with stages up to 1.2 times as long
    Registers,
}

/// [`Effort`] as it is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum EffortArg {
    /// A balanced schedule in linear time
    Fast,
    /// About a second more for fewer registers
    #[default]
    Normal,
    /// Up to about a minute for the fewest registers
    Max,
}

impl PipelineArgs {
    /// Stores the options in `spec`.
    pub(super) fn fill(&self, spec: &mut Spec) {
        spec.pipeline = Pipeline {
            stages: self.pipeline,
            max_stage_delay: self.max_stage_delay,
            register_inputs: self.register_inputs,
            register_outputs: self.register_outputs,
            input_delay: self.input_delay,
            output_delay: self.output_delay,
            objective: match self.pipeline_objective {
                ObjectiveArg::Delay => Objective::Delay,
                ObjectiveArg::Balanced => Objective::Balanced,
                ObjectiveArg::Registers => Objective::Registers,
            },
            effort: match self.effort {
                EffortArg::Fast => Effort::Fast,
                EffortArg::Normal => Effort::Normal,
                EffortArg::Max => Effort::Max,
            },
            interval: self.ii.as_ref().and_then(|ii| ii.0.first().copied()),
            budget: match &self.ii {
                Some(ii) if ii.0.is_empty() || self.max_luts.is_some() || self.max_ffs.is_some() => {
                    Some(Budget { luts: self.max_luts, ffs: self.max_ffs })
                }
                _ => None,
            },
            least_share: self.ii_share,
            max_latency: self.max_latency,
            compared: self.ii.iter().flat_map(|ii| ii.0.iter().skip(1).copied()).collect(),
            engine: match self.ii_engine {
                EngineArg::Auto => Engine::Auto,
                EngineArg::Fold => Engine::Fold,
                EngineArg::Serial => Engine::Serial,
                EngineArg::Mixed => Engine::Mixed,
            },
            arrival: self.ii_input.arrival(),
        };
        spec.clock = Clock {
            period: self.period(),
            delay_unit: self.delay_unit,
            uncertainty: self.clock_uncertainty,
            is_frequency: self.freq.is_some(),
        };
        spec.target = Target {
            device: self.device.figures(),
            fallback: None,
            delays: self.device.delay_model.map(DelayModelArg::model),
            products: match self.use_dsp {
                UseDspArg::Auto => Products::Auto,
                UseDspArg::No => Products::Logic,
                UseDspArg::Yes => Products::Blocks,
            },
        };
    }

    /// The clock period that was requested, in nanoseconds.
    pub(super) fn period(&self) -> Option<f64> {
        self.clock_period.or(self.freq.map(|mhz| NS_OF_MHZ / mhz))
    }

    /// A note that says which delays a clock period is met by, where the command line names no device.
    pub(super) fn assumption(&self, spec: &Spec) -> Option<Diagnostic> {
        self.period().filter(|_| self.device.is_unnamed())?;
        let flag = if self.freq.is_some() { "--freq" } else { "--clock-period" };
        let message = match spec.delay_model() {
            DelayModel::Device => {
                format!("no device is named: operations and registers take the times of {}", spec.device().name())
            }
            DelayModel::LatencyFields | DelayModel::Width => {
                let unit = spec.clock.delay_unit.unwrap_or(1.0);
                format!("one unit of the model's delays counts as {} ns, and registers as none", four_digits(unit))
            }
        };
        let help = "--device NAME takes the times of a device; `alir2hdl devices` lists them";
        Some(Diagnostic::note("N0803", Place::Flag(flag.into()), message).with_help(help))
    }

    /// The options that were given another value than their default.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let options = [
            ("--delay-model", self.device.delay_model.is_some()),
            ("--pipeline", self.pipeline.is_some()),
            ("--ii", self.ii.is_some()),
            ("--ii-engine", self.ii_engine != EngineArg::default()),
            ("--ii-input", self.ii_input != InputArg::default()),
            ("--register-inputs", self.register_inputs),
            ("--register-outputs", self.register_outputs),
            ("--max-stage-delay", self.max_stage_delay.is_some()),
            ("--clock-period", self.clock_period.is_some()),
            ("--freq", self.freq.is_some()),
            ("--clock-uncertainty", self.clock_uncertainty != 0.0),
            ("--input-delay", self.input_delay != 0.0),
            ("--output-delay", self.output_delay != 0.0),
            ("--pipeline-objective", self.pipeline_objective != ObjectiveArg::default()),
            ("--effort", self.effort != EffortArg::default()),
            ("--use-dsp", self.use_dsp != UseDspArg::default()),
        ];
        options.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }
}

/// Options for the interface of the module.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ports")]
pub(super) struct PortArgs {
    /// Name the module [default: like the output file]
    #[arg(long, value_name = "NAME")]
    pub(super) top: Option<String>,
    /// Give all elements one port (packed), or each its own (split)
    #[arg(long, value_enum, default_value_t, value_name = "LAYOUT", hide_possible_values = true)]
    pub(super) ports: PortsArg,
    /// Add ports valid_in and valid_out
    #[arg(long)]
    pub(super) valid: bool,
    /// Add port ce, which holds the pipeline while it is low
    #[arg(long)]
    pub(super) enable: bool,
    /// Add port rst, which clears the valid flags
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub(super) reset: ResetArg,
    /// Clear the data registers by the reset too
    #[arg(long, hide_short_help = true)]
    pub(super) reset_data: bool,
    /// Reset at this level; low names the port rst_n
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL", hide_short_help = true)]
    pub(super) reset_polarity: PolarityArg,
    #[command(flatten)]
    pub(super) names: super::names::NameArgs,
}

/// A level as it is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum PolarityArg {
    /// 1
    #[default]
    High,
    /// 0; the port's name ends in `_n` unless it is given
    Low,
}

/// [`Ports`] as they are typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum PortsArg {
    /// One input port and one output port
    #[default]
    Packed,
    /// A port for each element
    Split,
}

/// The reset as it is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ResetArg {
    /// No reset port
    #[default]
    None,
    /// On the clock edge
    Sync,
    /// At once
    Async,
}

impl PortArgs {
    /// Stores the options in `spec`; `stem` is the default name of the module.
    pub(super) fn fill(&self, spec: &mut Spec, stem: &str) {
        let active_high = self.reset_polarity == PolarityArg::High;
        let reset = |asynchronous| ResetOptions { asynchronous, active_high, data: self.reset_data };
        spec.module = ModuleSpec {
            top: match &self.top {
                Some(top) => Top::Named(top.clone()),
                None => Top::Like(stem.to_owned()),
            },
            ports: match self.ports {
                PortsArg::Packed => Ports::Packed,
                PortsArg::Split => Ports::Split,
            },
            names: self.names.names(active_high),
            valid: self.valid,
            enable: self.enable,
            reset: match self.reset {
                ResetArg::None => None,
                ResetArg::Sync => Some(reset(false)),
                ResetArg::Async => Some(reset(true)),
            },
            labels: Arc::clone(&spec.module.labels),
            languages: spec.module.languages,
        };
    }

    /// The options that were given another value than their default, the module's name aside.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let options = [
            ("--ports", self.ports != PortsArg::default()),
            ("--valid", self.valid),
            ("--enable", self.enable),
            ("--reset", self.reset != ResetArg::default()),
            ("--reset-data", self.reset_data),
            ("--reset-polarity", self.reset_polarity != PolarityArg::default()),
        ];
        let given = options.into_iter().filter_map(|(flag, given)| given.then_some(flag));
        given.chain(self.names.given()).collect()
    }

    /// Options about a reset that the design does not have.
    pub(super) fn problems(&self) -> Vec<Diagnostic> {
        let of_reset =
            [("--reset-data", self.reset_data), ("--reset-polarity", self.reset_polarity != PolarityArg::default())];
        let given = of_reset.into_iter().filter(|(_, given)| *given && self.reset == ResetArg::None);
        let problem = |(flag, _): (&str, bool)| {
            Diagnostic::error("E0801", Place::Flag(flag.into()), "there is no reset")
                .with_help("add --reset sync or --reset async")
        };
        given.map(problem).collect()
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
}
