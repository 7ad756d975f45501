//! The options that say what the hardware looks like, the same in every sub-command that makes some, and the road
//! from a model to a netlist that they describe.

use super::device::{self, DelayModelArg, DeviceArgs};
use super::{ExitStatus, Failure};
use crate::device::TableStyle;
use crate::diag::{Diagnostic, Diagnostics, Place, Severity};
use crate::ir::Model;
use crate::netlist::{self, Adders, BlockRegisters, Fabric, Multipliers, Netlist, Ports, ResetOptions};
use crate::schedule::{self, BoundFlag, Delay, Effort, Goal, Objective, Outcome, Uses};
use clap::ValueEnum;
use std::borrow::Cow;

/// Where the registers are.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Pipeline")]
pub(super) struct PipelineArgs {
    /// Cut the logic into N stages, each of which ends in registers; 0 or nothing: combinational; auto: the fewest that
    /// meet --clock-period or --max-stage-delay
    #[arg(long, value_name = "N|auto", allow_negative_numbers = true, value_parser = stages)]
    pub(super) pipeline: Option<Stages>,
    /// Also register the inputs: one more clock of latency
    #[arg(long)]
    pub(super) register_inputs: bool,
    /// Register the outputs once more, behind the last stage's own registers and with no logic between: one more
    /// clock of latency
    #[arg(long)]
    pub(super) register_outputs: bool,
    /// Use the fewest stages whose delay is at most D, in the units of the model's latency fields (of LUT levels for
    /// a file that has none); together with --pipeline N: exactly N stages
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(super) max_stage_delay: Option<f64>,
    /// The same with the bound in nanoseconds. With --delay-model device (and so with --pipeline auto) it is the period of the
    /// clock on --device, registers included; else the logic between two registers takes at most NS, one unit of delay being
    /// --delay-unit nanoseconds, and what the clock itself takes (register, skew, setup) is to be left out of NS
    #[arg(long, value_name = "NS", allow_negative_numbers = true, conflicts_with = "max_stage_delay")]
    pub(super) clock_period: Option<f64>,
    /// Nanoseconds in a unit of delay: what a latency of 1 in the file means on the device [default: 1; with
    /// --delay-model device the delays are nanoseconds]
    #[arg(long, value_name = "NS", requires = "clock_period", allow_negative_numbers = true)]
    pub(super) delay_unit: Option<f64>,
    /// Time after the clock edge at which inputs arrive
    #[arg(long, value_name = "D", default_value_t = 0.0, hide_short_help = true, allow_negative_numbers = true)]
    pub(super) input_delay: f64,
    /// Time that is needed behind the last stage's logic
    #[arg(long, value_name = "D", default_value_t = 0.0, hide_short_help = true, allow_negative_numbers = true)]
    pub(super) output_delay: f64,
    /// What --pipeline N alone spares: the longest stage, or registers
    #[arg(long, alias = "objective", value_enum, default_value_t, value_name = "WHAT",
          conflicts_with_all = ["max_stage_delay", "clock_period"])]
    pub(super) pipeline_objective: ObjectiveArg,
    /// How long to look for fewer registers
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub(super) effort: EffortArg,
    /// Whether multiplications go into multiplier blocks: `yes` asks synthesis for them, `no` makes adders
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "Resources")]
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

/// How many stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stages {
    /// This many.
    Exactly(u32),
    /// As many as the clock needs.
    Fewest,
}

fn stages(text: &str) -> Result<Stages, String> {
    match text {
        "auto" => Ok(Stages::Fewest),
        _ => text.parse().map(Stages::Exactly).map_err(|_| "a number of stages, or auto".to_owned()),
    }
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
    /// What is asked of the scheduler.
    pub(super) fn goal(&self) -> Goal {
        Goal {
            stages: match self.pipeline {
                Some(Stages::Exactly(n)) => Some(n),
                Some(Stages::Fewest) | None => None,
            },
            max_stage_delay: self.clock_period.map(|period| self.logic_time(period)).or(self.max_stage_delay),
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
        }
    }

    /// A clock period in units of the delays, without what registers take.
    fn logic_time(&self, period: f64) -> f64 {
        match self.delay_model() {
            DelayModelArg::Device => (period - self.register_time()).max(0.0),
            DelayModelArg::LatencyFields | DelayModelArg::Width => period / self.unit_ns(),
        }
    }

    /// Nanoseconds in a unit of delay.
    fn unit_ns(&self) -> f64 {
        self.delay_unit.unwrap_or(1.0)
    }

    /// Whether the number of stages is left to us.
    pub(super) fn is_automatic(&self) -> bool {
        self.pipeline == Some(Stages::Fewest)
    }

    /// The options that were given another value than their default.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let options = [
            ("--delay-model", self.device.delay_model.is_some()),
            ("--pipeline", self.pipeline.is_some()),
            ("--register-inputs", self.register_inputs),
            ("--register-outputs", self.register_outputs),
            ("--max-stage-delay", self.max_stage_delay.is_some()),
            ("--clock-period", self.clock_period.is_some()),
            ("--input-delay", self.input_delay != 0.0),
            ("--output-delay", self.output_delay != 0.0),
            ("--pipeline-objective", self.pipeline_objective != ObjectiveArg::default()),
            ("--effort", self.effort != EffortArg::default()),
            ("--use-dsp", self.use_dsp != UseDspArg::default()),
        ];
        options.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }

    /// Whether the text asks for multiplier blocks.
    pub(super) fn wants_dsp(&self) -> bool {
        self.use_dsp == UseDspArg::Yes
    }

    /// Whether a clock is to be met.
    fn is_bounded(&self) -> bool {
        self.clock_period.is_some() || self.max_stage_delay.is_some()
    }

    /// Whether registers may stand within products: these are logic, and it is known what their parts take.
    pub(super) fn cuts_products(&self) -> bool {
        let in_stages = match self.pipeline {
            Some(Stages::Exactly(stages)) => stages > 1,
            Some(Stages::Fewest) => true,
            None => self.is_bounded(),
        };
        in_stages && self.use_dsp == UseDspArg::No && self.delay_model() == DelayModelArg::Device
    }

    /// Whether products in parts are worth the adders between them: always where the longest stage shall be short, else if they
    /// meet the clock in fewer stages than whole ones. `optimised` makes the program with and without them.
    pub(super) fn gains_by_cutting<'m>(&self, optimised: impl Fn(bool) -> Cow<'m, Model>) -> bool {
        if !self.is_bounded() {
            return true;
        }
        let quick = PipelineArgs { effort: EffortArg::Fast, ..self.clone() };
        let latency = |cut| {
            let outcome = quick.schedule(&optimised(cut), Registers::OfAnyBlock).ok()?;
            Some(outcome.schedule.latency())
        };
        match (latency(true), latency(false)) {
            (Some(cut), Some(whole)) => cut < whole,
            (cut, _) => cut.is_some(),
        }
    }

    /// What the logic is made for.
    pub(super) fn fabric(&self) -> Fabric {
        let multipliers = match (self.use_dsp, self.device().technology().multiplier) {
            (UseDspArg::Yes, Some((longer, shorter))) => Multipliers::Blocks { longer, shorter },
            (UseDspArg::Auto | UseDspArg::Yes, _) => Multipliers::Synthesiser,
            (UseDspArg::No, _) => Multipliers::Rows,
        };
        let technology = self.device().technology();
        // A sum within another's adder waits for the later operand and takes a table more: where a clock is to be met, and stages are
        // made by the device's delays of single operations, it is left alone.
        let by_time = self.is_bounded() || self.delay_model() == DelayModelArg::Device;
        let adders = match (technology.three_operands, by_time) {
            (true, false) => Adders::Three,
            (true, true) => Adders::Sums,
            (false, _) => Adders::Two,
        };
        Fabric {
            multipliers,
            table_inputs: technology.table_inputs,
            adders,
            start_addresses: technology.synthesised_by_yosys,
        }
    }

    /// The registers of the multiplier blocks that multiplications go into, where it is known that they do: on a device that was
    /// named, or where the text asks for blocks.
    fn block_registers(&self, registers: Registers) -> Option<BlockRegisters> {
        let named = self.device.device.is_some() || self.use_dsp == UseDspArg::Yes;
        match (self.use_dsp, registers) {
            (UseDspArg::No, _) | (_, Registers::OfTheFabric) => None,
            (UseDspArg::Auto | UseDspArg::Yes, Registers::OfAnyBlock) => {
                self.device().technology().block_registers().filter(|_| named)
            }
        }
    }

    /// What lowering shall make, for the device and with the multipliers that are asked for.
    pub(super) fn for_device(&self, options: netlist::Options) -> netlist::Options {
        netlist::Options { fabric: self.fabric(), ..options }
    }

    /// Whether no register at all is asked for.
    pub(super) fn is_combinational(&self) -> bool {
        self.goal().is_combinational() && !self.register_inputs && !self.register_outputs
    }

    /// The schedule, judged by the independent checker.
    ///
    /// # Errors
    /// If the goal cannot be reached (exit code 2), or if the checker objects, which is our mistake (exit code 4).
    pub(super) fn schedule(&self, model: &Model, registers: Registers) -> Result<Outcome, Failure> {
        self.check_clock()?;
        let delay = self.delays(model);
        let goal = self.goal();
        let period = match self.delay_model() {
            DelayModelArg::Device if goal.stages.is_none() => self.clock_period,
            _ => None,
        };
        let Some(period) = period else { return self.keep(model, &*delay, &goal, registers) };
        device::meet(period, self.time_for_logic(period)?, |bound| {
            let outcome = self.keep(model, &*delay, &Goal { max_stage_delay: Some(bound), ..goal }, registers)?;
            let netlist = lower(model, &outcome, &self.for_device(netlist::Options::default()))?;
            // Logic is what takes longest.
            let estimate = self.estimate(&netlist, TableStyle::Auto);
            Ok((outcome, estimate))
        })
    }

    /// The schedule for one goal, judged by the independent checker.
    fn keep(&self, model: &Model, delay: &dyn Delay, goal: &Goal, registers: Registers) -> Result<Outcome, Failure> {
        // Without a search there is nothing to count exactly for.
        let quick = goal.effort == Effort::Fast || goal.is_combinational();
        let uses = match quick {
            true => Uses::whole_values(model),
            false => netlist::uses_with_blocks(model, self.fabric(), self.block_registers(registers)),
        };
        let outcome = schedule::schedule(model, delay, goal, &uses).map_err(|why| {
            let name = "--clock-period";
            let given = match (self.clock_period, self.delay_model()) {
                (None, _) => BoundFlag::STAGE_DELAY,
                (Some(_), DelayModelArg::Device) => BoundFlag { name, unit: 1.0, overhead: self.register_time() },
                (Some(_), _) => BoundFlag { name, unit: self.unit_ns(), overhead: 0.0 },
            };
            Failure::input(why.diagnostic(model, &given))
        })?;
        outcome.check(model, delay, goal, &uses).map_err(bug)?;
        Ok(outcome)
    }

    /// Whether period and unit are times.
    fn check_clock(&self) -> Result<(), Failure> {
        let wrong = |flag: &str, message: String, help: &str| {
            Err(Failure::input(Diagnostic::error("E0505", Place::Flag(flag.into()), message).with_help(help)))
        };
        if self.use_dsp == UseDspArg::Yes && self.device().technology().multiplier.is_none() {
            let place = Place::Flag("--use-dsp".into());
            let message = format!("{} has no multiplier blocks", self.device().name());
            let help = "leave it out, or name another --device";
            return Err(Failure::input(Diagnostic::error("E0801", place, message).with_help(help)));
        }
        if self.pipeline == Some(Stages::Fewest) && self.goal().max_stage_delay.is_none() {
            let help = "add --clock-period NS or --max-stage-delay D, or ask for a number of stages";
            return wrong("--pipeline", "auto needs a clock to meet".to_owned(), help);
        }
        match self.clock_period {
            Some(period) if !(period.is_finite() && period >= 0.0) => {
                wrong("--clock-period", format!("{period} is no time"), "a period is a finite number of nanoseconds")
            }
            _ if !(self.unit_ns().is_finite() && self.unit_ns() > 0.0) => {
                wrong("--delay-unit", format!("{} is no unit", self.unit_ns()), "a unit is a finite number above zero")
            }
            _ => Ok(()),
        }
    }
}

/// What the data registers are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registers {
    /// The registers within multiplier blocks can be some of them.
    OfAnyBlock,
    /// They need the flip-flops of the fabric.
    OfTheFabric,
}

/// How good the register bits are, for people; nothing where there was no search.
pub(super) fn quality(outcome: &Outcome) -> String {
    let inside = match outcome.bits_in_blocks {
        0 => String::new(),
        bits => format!(", {bits} of them within multiplier blocks"),
    };
    let counted = match outcome.weight {
        1 => String::new(),
        weight => format!(", {weight} within blocks counted as one"),
    };
    match &outcome.certificate {
        None => inside,
        Some(_) if outcome.gap() == 0.0 => format!("{inside} (the fewest possible{counted})"),
        Some(_) if outcome.gap().is_infinite() => format!("{inside} (how far above the fewest{counted} is not known)"),
        Some(_) => format!("{inside} (at most {:.2} % above the fewest{counted})", 100.0 * outcome.gap()),
    }
}

/// A checker's complaint about our own work (exit code 4).
pub(super) fn bug(found: impl Into<Diagnostics>) -> Failure {
    let mut diagnostics = found.into();
    diagnostics.0.iter_mut().for_each(|d| d.severity = Severity::Bug);
    Failure { status: ExitStatus::Bug, diagnostics }
}

/// What the module looks like from outside.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ports")]
pub(super) struct PortArgs {
    /// Module name [default: the stem of the output file]
    #[arg(long, value_name = "NAME")]
    pub(super) top: Option<String>,
    /// All elements on one port (model_inp, model_out), or a port each (inp_0, ..., out_0, ...)
    #[arg(long, value_enum, default_value_t, value_name = "LAYOUT")]
    pub(super) ports: PortsArg,
    /// Ports valid_in and valid_out: a flag that travels beside the data
    #[arg(long)]
    pub(super) valid: bool,
    /// Port ce: the pipeline holds while it is low
    #[arg(long)]
    pub(super) enable: bool,
    /// Port rst: clears the valid flags
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub(super) reset: ResetArg,
    /// The reset clears the data registers too
    #[arg(long)]
    pub(super) reset_data: bool,
    /// The level at which the reset resets
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
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
    /// What lowering shall make, under the name `top`.
    pub(super) fn options(&self, top: &str) -> netlist::Options {
        let active_high = self.reset_polarity == PolarityArg::High;
        let reset = |asynchronous| ResetOptions { asynchronous, active_high, data: self.reset_data };
        netlist::Options {
            top: top.to_owned(),
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
            fabric: Fabric::default(),
        }
    }

    /// What the data registers are like: a multiplier block's have no asynchronous reset.
    pub(super) fn registers(&self) -> Registers {
        match (self.reset, self.reset_data) {
            (ResetArg::Async, true) => Registers::OfTheFabric,
            _ => Registers::OfAnyBlock,
        }
    }

    /// Whether anything is asked of the ports that a wrapper decides itself.
    pub(super) fn has_controls(&self) -> bool {
        self.valid
            || self.enable
            || self.reset != ResetArg::None
            || self.ports != PortsArg::Packed
            || self.names.names(true) != netlist::PortNames::default()
    }

    /// The module name where none is given: that of a file without folder and extension, made legal and different from
    /// every port.
    pub(super) fn top_from_stem(&self, stem: &str) -> String {
        let legal = netlist::names::legalise(stem);
        let clashes = self.options(&legal).check().is_err();
        if clashes { format!("{legal}_top") } else { legal }
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

    /// Requests that contradict each other or ask for something that would not be there.
    pub(super) fn problems(&self, pipeline: &PipelineArgs) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut problem = |flag: &str, message: &str, help: &str| {
            problems.push(Diagnostic::error("E0801", Place::Flag(flag.into()), message).with_help(help));
        };
        let has_reset = self.reset != ResetArg::None;
        if self.reset_data && !has_reset {
            problem("--reset-data", "there is no reset", "add --reset sync or --reset async");
        }
        if self.reset_polarity == PolarityArg::Low && !has_reset {
            problem("--reset-polarity", "there is no reset", "add --reset sync or --reset async");
        }
        let registers = "ask for some with --pipeline N, --max-stage-delay D, --clock-period NS or --register-inputs";
        if pipeline.is_combinational() {
            if self.enable {
                problem("--enable", "there is no register that it could hold", registers);
            }
            if has_reset {
                problem("--reset", "there is no register that it could clear", registers);
            }
        } else if has_reset && !self.valid && !self.reset_data {
            let help = "add --valid to have flags that it clears, or --reset-data to clear the data registers";
            problem("--reset", "it would clear nothing: data registers stay without reset", help);
        }
        problems
    }
}

/// The netlist of a scheduled model, judged by the independent checker.
///
/// # Errors
/// If the checker objects, which is our mistake (exit code 4).
pub(super) fn lower(model: &Model, outcome: &Outcome, options: &netlist::Options) -> Result<Netlist, Failure> {
    let netlist = netlist::lower(model, &outcome.schedule, options);
    netlist.check().and_then(|()| netlist.check_pipeline()).map_err(|found| bug(Diagnostics(found)))?;
    Ok(netlist)
}
