//! Hardware options, common to all sub-commands that build hardware; they are stored in [`HardwareOptions`].

use super::device::{DelayModelArg, DeviceArgs};
use crate::compile::{Arrival, Engine, Products, Stages};
use crate::netlist::Ports;
use crate::options::{self, HardwareOptions, ResetKind, frequency, period, stages};
use crate::prove::equiv::InputTiming;
use crate::schedule::{Effort, Objective};
use clap::ValueEnum;

/// Options of the pipeline and the device.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Pipeline and device")]
pub(super) struct PipelineArgs {
    /// Partition into N stages; 0 is combinational, auto takes the fewest that meet the clock
    #[arg(long, visible_alias = "stages", value_name = "N|auto", allow_negative_numbers = true, value_parser = stages)]
    pub(super) pipeline: Option<Stages>,
    /// Accept one sample every K clocks with shared hardware; auto: the smallest K within --max-luts and --max-ffs
    #[arg(long, value_name = "K|auto", allow_negative_numbers = true, value_parser = intervals)]
    pub(super) ii: Option<Intervals>,
    /// Allow --ii auto this many LUTs
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
    #[arg(
        long,
        value_name = "NS",
        allow_negative_numbers = true,
        conflicts_with = "max_stage_delay",
        value_parser = period,
        group = "clock"
    )]
    pub(super) clock_period: Option<f64>,
    /// Meet this clock, in MHz
    #[arg(
        long,
        value_name = "MHZ",
        allow_negative_numbers = true,
        conflicts_with = "max_stage_delay",
        value_parser = frequency,
        group = "clock"
    )]
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
    /// Minimise the critical stage delay (delay), or registers in stages 10 % (balanced) or 20 % longer (registers)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHAT",
        conflicts_with_all = ["max_stage_delay", "clock_period", "freq"],
        hide_short_help = true,
        hide_possible_values = true
    )]
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

/// Argument of `--use-dsp`: implementation of multiplications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum UseDspArg {
    /// Left to synthesis
    #[default]
    Auto,
    /// Logic: rows of adders
    No,
    /// DSP blocks of --device, requested by attributes; wide multiplications are split to their size
    Yes,
}

/// Argument of `--ii-engine`: method of hardware reuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum EngineArg {
    /// The method with the fewest estimated LUTs
    #[default]
    Auto,
    /// Resource sharing: equal parts of the model share hardware
    Fold,
    /// Bit-serial arithmetic, least significant bit first, one or a few bits per clock; the model need not have equal
    /// parts
    Serial,
    /// Equal parts share hardware, and the rest is bit-serial where that takes less
    Mixed,
}

/// Argument of `--ii-input`: clocks in which inputs are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum InputArg {
    /// Only at the edge that accepts a sample: registers capture it
    #[default]
    Captured,
    /// For K clocks from that edge on: the sender keeps the sample stable, and no registers capture it
    Held,
    /// Beat by beat, as the stream of --wrapper axis transfers them, without registers for a whole sample. A pause
    /// between the beats of a packet also delays the samples before it
    Beats,
}

impl InputArg {
    /// Returns the corresponding option of the compiler.
    fn arrival(self) -> Arrival {
        match self {
            InputArg::Captured => Arrival::Captured,
            InputArg::Held => Arrival::Held,
            InputArg::Beats => Arrival::Beats,
        }
    }

    /// Returns the corresponding option of a proof.
    pub(super) fn input_timing(self) -> InputTiming {
        match self {
            InputArg::Captured => InputTiming::Accepted,
            InputArg::Held => InputTiming::Held,
            InputArg::Beats => InputTiming::Beats(None),
        }
    }
}

/// Argument of `--ii`: initiation intervals in clocks. Several are compared; none (`auto`) requests the smallest one
/// within a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Intervals(pub(super) Vec<u32>);

/// Parses the argument of `--ii`.
fn intervals(text: &str) -> Result<Intervals, String> {
    options::intervals(text).map(Intervals)
}

/// Argument of `--pipeline-objective`; see [`Objective`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ObjectiveArg {
    /// The smallest critical stage delay, then the fewest registers
    #[default]
    Delay,
    /// The fewest registers with stages up to 1.1 times as long
    Balanced,
    /// The fewest registers with stages up to 1.2 times as long
    Registers,
}

/// Argument of `--effort`; see [`Effort`].
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
    /// Stores the options.
    pub(super) fn fill(&self, options: &mut HardwareOptions) {
        *options = HardwareOptions {
            stages: self.pipeline,
            intervals: self.ii.as_ref().map(|ii| ii.0.clone()),
            max_luts: self.max_luts,
            max_ffs: self.max_ffs,
            ii_share: self.ii_share,
            max_latency: self.max_latency,
            engine: match self.ii_engine {
                EngineArg::Auto => Engine::Auto,
                EngineArg::Fold => Engine::Fold,
                EngineArg::Serial => Engine::Serial,
                EngineArg::Mixed => Engine::Mixed,
            },
            arrival: self.ii_input.arrival(),
            register_inputs: self.register_inputs,
            register_outputs: self.register_outputs,
            max_stage_delay: self.max_stage_delay,
            clock_period: self.clock_period,
            freq: self.freq,
            delay_unit: self.delay_unit,
            clock_uncertainty: self.clock_uncertainty,
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
            products: match self.use_dsp {
                UseDspArg::Auto => Products::Auto,
                UseDspArg::No => Products::Logic,
                UseDspArg::Yes => Products::Blocks,
            },
            devices: self.device.named().to_vec(),
            delay_model: self.device.delay_model.map(DelayModelArg::model),
            ..std::mem::take(options)
        };
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

/// Argument of `--reset-polarity`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum PolarityArg {
    /// 1
    #[default]
    High,
    /// 0; the port's name ends in `_n` unless it is given
    Low,
}

/// Argument of `--ports`; see [`Ports`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum PortsArg {
    /// One input port and one output port
    #[default]
    Packed,
    /// A port for each element
    Split,
}

/// Argument of `--reset`.
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
    /// Stores the options.
    pub(super) fn fill(&self, options: &mut HardwareOptions) {
        *options = HardwareOptions {
            top: self.top.clone(),
            ports: match self.ports {
                PortsArg::Packed => Ports::Packed,
                PortsArg::Split => Ports::Split,
            },
            valid: self.valid,
            enable: self.enable,
            reset: match self.reset {
                ResetArg::None => ResetKind::None,
                ResetArg::Sync => ResetKind::Sync,
                ResetArg::Async => ResetKind::Async,
            },
            reset_data: self.reset_data,
            reset_low: self.reset_polarity == PolarityArg::Low,
            names: self.names.options(),
            ..std::mem::take(options)
        };
    }
}
