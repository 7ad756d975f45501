//! Options of hardware as typed values: [`HardwareOptions`], which become a [`Spec`].
//!
//! The command line fills the fields from its parser; Python and the header comments of RTL files set options by name
//! ([`HardwareOptions::set`]). Rules between options are in [`HardwareOptions::problems`], once for all callers.
//!
//! | file | contents |
//! |---|---|
//! | `by_name` | names, values and parsing of each option |
//! | `device` | devices by name |
//! | `ports` | names and styles of ports |

mod by_name;
mod description;
mod device;
mod ports;
mod stage_counts;

pub use by_name::{
    OptionFault, OptionValue, choice, choices, flag_value, frequency, intervals, invalid, near, or_next, path, paths,
    period, real, stages, text, texts, unsigned, within,
};
pub(crate) use by_name::{POLARITIES, PORT_STYLES};
pub use description::DescriptionOptions;
pub use device::NamedDevice;
pub use ports::{NameOptions, PortRole, PortStyle, named_port, port_roles};
pub use stage_counts::StageCounts;

use crate::compile::{
    Arrival, Budget, Clock, DelayModel, Engine, LookupTables, ModuleSpec, NOT_WITH_WRAPPER, Optimisation, Passes,
    Pipeline, Products, Retime, Spec, Stages, Target, Text, Top,
};
use alir_core::diag::{Diagnostic, Diagnostics, Place, four_digits};
use alir_hw::emit::axis::{AxisOptions, Flow, Packing};
use alir_hw::emit::{self, Hierarchy};
use alir_hw::netlist::{PortNames, Ports, ResetOptions};
use alir_opt::schedule::{Effort, Objective};
use std::path::PathBuf;
use std::sync::Arc;

/// Nanoseconds in the period of a clock of one megahertz.
pub const NS_OF_MHZ: f64 = 1000.0;

/// Kind of the reset port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetKind {
    /// No reset port.
    #[default]
    None,
    /// A reset that acts on the clock edge.
    Sync,
    /// A reset that acts immediately.
    Async,
}

/// Options of the hardware, one field each; `None` if an option was not given.
#[derive(Clone, Debug, PartialEq)]
pub struct HardwareOptions {
    /// Optimisation level, 0 to 2.
    pub level: Option<u8>,
    /// Names of the passes, in their order.
    pub passes: Option<Vec<String>>,
    /// File with an earlier version of the design, a model or RTL, whose signal names are kept.
    pub names_from: Option<PathBuf>,
    /// `true` if inputs are assumed to stay in their declared intervals.
    pub assume_intervals: bool,
    /// Use of the slack in the pipelines of a state machine.
    pub retime: Option<Retime>,
    /// Number of pipeline stages.
    pub stages: Option<Stages>,
    /// Initiation intervals in cycles; an empty list selects the smallest interval within the budget.
    pub intervals: Option<Vec<u32>>,
    /// Maximum number of LUTs, for the smallest interval.
    pub max_luts: Option<u64>,
    /// Maximum number of flip-flops, for the smallest interval.
    pub max_ffs: Option<u64>,
    /// Required minimum of the logic that shares hardware, in per cent.
    pub ii_share: Option<f64>,
    /// Maximum latency in cycles.
    pub max_latency: Option<u32>,
    /// Engine of time-multiplexed hardware.
    pub engine: Engine,
    /// Timing of the inputs of time-multiplexed hardware.
    pub arrival: Arrival,
    /// `true` if inputs are registered.
    pub register_inputs: bool,
    /// `true` if outputs are registered once more after the last stage.
    pub register_outputs: bool,
    /// Maximum delay of a stage, in the unit of the delay model.
    pub max_stage_delay: Option<f64>,
    /// Clock period, in nanoseconds.
    pub clock_period: Option<f64>,
    /// Clock frequency, in MHz.
    pub freq: Option<f64>,
    /// Nanoseconds per unit of the delay model: of the latency fields, or of a LUT level.
    pub delay_unit: Option<f64>,
    /// Clock uncertainty, in nanoseconds.
    pub clock_uncertainty: f64,
    /// Time after the clock edge at which inputs arrive, in the unit of the delay model.
    pub input_delay: f64,
    /// Time that is required after the last stage, in the unit of the delay model.
    pub output_delay: f64,
    /// Objective for a given number of stages.
    pub objective: Objective,
    /// Effort of the search for fewer registers.
    pub effort: Effort,
    /// Implementation of multiplications.
    pub products: Products,
    /// Devices, families or parts.
    pub devices: Vec<NamedDevice>,
    /// Origin of the delays.
    pub delay_model: Option<DelayModel>,
    /// Name of the module.
    pub top: Option<String>,
    /// Layout of the elements on ports.
    pub ports: Ports,
    /// `true` if valid flags accompany the data.
    pub valid: bool,
    /// `true` if there is a clock enable.
    pub enable: bool,
    /// The reset port.
    pub reset: ResetKind,
    /// `true` if the reset clears the data registers too.
    pub reset_data: bool,
    /// `true` if the reset acts when it is low.
    pub reset_low: bool,
    /// Names of the ports.
    pub names: NameOptions,
    /// `true` if there is an AXI4-Stream wrapper.
    pub axis: bool,
    /// `true` if a wrapper was ruled out explicitly, even if a board implies one.
    pub no_wrapper: bool,
    /// Padding of elements on `tdata`.
    pub packing: Packing,
    /// Width of `tdata` in bits.
    pub axis_width: Option<u32>,
    /// Width of `tuser` in bits.
    pub axis_user: u32,
    /// `true` if the pipeline stalls instead of filling a FIFO.
    pub axis_stall: bool,
    /// Capacity of the FIFO in samples.
    pub axis_depth: Option<u32>,
    /// Implementation of look-up tables.
    pub tables: LookupTables,
    /// Attribute that allows or forbids shift registers.
    pub shreg_extract: Option<bool>,
    /// `true` if synthesis keeps every name.
    pub keep_names: bool,
    /// `true` if SystemVerilog has assertions.
    pub assertions: bool,
    /// `true` if signals are named by the numbers of operations.
    pub index_names: bool,
    /// Division into modules.
    pub hierarchy: Hierarchy,
    /// Number of nets above which [`Hierarchy::Auto`] creates a module for each stage.
    pub split_above: usize,
    /// `true` if each generated file is proved.
    pub prove: bool,
}

impl Default for HardwareOptions {
    fn default() -> HardwareOptions {
        HardwareOptions {
            level: None,
            passes: None,
            names_from: None,
            assume_intervals: false,
            retime: None,
            stages: None,
            intervals: None,
            max_luts: None,
            max_ffs: None,
            ii_share: None,
            max_latency: None,
            engine: Engine::default(),
            arrival: Arrival::default(),
            register_inputs: false,
            register_outputs: false,
            max_stage_delay: None,
            clock_period: None,
            freq: None,
            delay_unit: None,
            clock_uncertainty: 0.0,
            input_delay: 0.0,
            output_delay: 0.0,
            objective: Objective::default(),
            effort: Effort::default(),
            products: Products::default(),
            devices: Vec::new(),
            delay_model: None,
            top: None,
            ports: Ports::default(),
            valid: false,
            enable: false,
            reset: ResetKind::default(),
            reset_data: false,
            reset_low: false,
            names: NameOptions::default(),
            axis: false,
            no_wrapper: false,
            packing: Packing::Auto,
            axis_width: None,
            axis_user: AxisOptions::default().user,
            axis_stall: false,
            axis_depth: None,
            tables: LookupTables::default(),
            shreg_extract: None,
            keep_names: false,
            assertions: false,
            index_names: false,
            hierarchy: Hierarchy::default(),
            split_above: emit::Options::default().split_above,
            prove: false,
        }
    }
}

impl HardwareOptions {
    /// Returns the [`Spec`] of these options; `stem` is the default name of the module. Contradictions are reported by
    /// [`HardwareOptions::problems`] and [`Spec::problems`].
    pub fn spec(&self, stem: &str) -> Spec {
        let reset = |asynchronous| ResetOptions { asynchronous, active_high: !self.reset_low, data: self.reset_data };
        let default = ModuleSpec::default();
        Spec {
            optimisation: Optimisation {
                passes: match (&self.passes, self.level) {
                    (Some(names), _) => Passes::Named(names.clone()),
                    (None, Some(level)) => Passes::Level(level),
                    (None, None) => Passes::default(),
                },
                assume_intervals: self.assume_intervals,
                retime: self.retime,
            },
            pipeline: self.pipeline(),
            clock: Clock {
                period: self.period(),
                delay_unit: self.delay_unit,
                uncertainty: self.clock_uncertainty,
                is_frequency: self.freq.is_some(),
            },
            target: Target {
                device: NamedDevice::first_figures(&self.devices),
                fallback: None,
                delays: self.delay_model,
                products: self.products,
            },
            module: ModuleSpec {
                top: match &self.top {
                    Some(top) => Top::Named(top.clone()),
                    None => Top::Like(stem.to_owned()),
                },
                ports: self.ports,
                names: if self.axis { PortNames::default() } else { self.names.names(!self.reset_low) },
                valid: self.valid,
                enable: self.enable,
                reset: match self.reset {
                    ResetKind::None => None,
                    ResetKind::Sync => Some(reset(false)),
                    ResetKind::Async => Some(reset(true)),
                },
                labels: Arc::clone(&default.labels),
                languages: default.languages,
            },
            wrapper: self.axis.then_some(AxisOptions {
                packing: self.packing,
                width: self.axis_width,
                user: self.axis_user,
                flow: if self.axis_stall { Flow::Stall } else { Flow::Fifo(self.axis_depth) },
                names: self.names.stream_names(),
            }),
            text: Text {
                tables: self.tables,
                shreg_extract: self.shreg_extract,
                keep_names: self.keep_names,
                hierarchy: self.hierarchy,
                split_above: self.split_above,
                assertions: self.assertions,
                index_names: self.index_names,
            },
            prove: self.prove,
            provenance: None,
        }
    }

    fn pipeline(&self) -> Pipeline {
        Pipeline {
            stages: self.stages,
            max_stage_delay: self.max_stage_delay,
            register_inputs: self.register_inputs,
            register_outputs: self.register_outputs,
            input_delay: self.input_delay,
            output_delay: self.output_delay,
            objective: self.objective,
            effort: self.effort,
            interval: self.intervals.as_ref().and_then(|ii| ii.first().copied()),
            budget: match &self.intervals {
                Some(ii) if ii.is_empty() || self.max_luts.is_some() || self.max_ffs.is_some() => {
                    Some(Budget { luts: self.max_luts, ffs: self.max_ffs })
                }
                _ => None,
            },
            least_share: self.ii_share,
            max_latency: self.max_latency,
            compared: self.intervals.iter().flat_map(|ii| ii.iter().skip(1).copied()).collect(),
            engine: self.engine,
            arrival: self.arrival,
        }
    }

    /// Returns the [`Spec`] of options that were set by name.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub fn checked_spec(&self, stem: &str) -> Result<Spec, Diagnostics> {
        let problems = [self.conflicts(), self.problems()].concat();
        if problems.is_empty() { Ok(self.spec(stem)) } else { Err(Diagnostics(problems)) }
    }

    /// Returns the requested clock period, in nanoseconds; `None` if no clock is requested.
    pub fn period(&self) -> Option<f64> {
        self.clock_period.or(self.freq.map(|mhz| NS_OF_MHZ / mhz))
    }

    /// Returns an error for each port with several names, and for each option of a reset, wrapper or FIFO in a design
    /// without that part.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = self.names.problems();
        problems.extend(self.reset_problems());
        problems.extend(self.wrapper_problems());
        problems
    }

    fn reset_problems(&self) -> Vec<Diagnostic> {
        let of_reset = [("--reset-data", self.reset_data), ("--reset-polarity", self.reset_low)];
        let given = of_reset.into_iter().filter(|(_, given)| *given && self.reset == ResetKind::None);
        let problem = |(flag, _): (&str, bool)| match self.axis {
            true => Diagnostic::error("E0803", Place::Flag(flag.into()), NOT_WITH_WRAPPER)
                .with_help("leave it out: the wrapper's reset is synchronous and active low"),
            false => Diagnostic::error("E0801", Place::Flag(flag.into()), "there is no reset")
                .with_help("add --reset sync or --reset async"),
        };
        given.map(problem).collect()
    }

    /// Returns the errors of options about a wrapper that was not requested, or about a FIFO that the wrapper does not
    /// have.
    pub fn wrapper_problems(&self) -> Vec<Diagnostic> {
        let refuse = |flag: &str, message: &str, help: &str| {
            vec![Diagnostic::error("E0803", Place::Flag(flag.into()), message).with_help(help)]
        };
        if self.axis {
            let help = "its ports are clk and rst, and the streams in and out, as in --port clk=clock,in=rx,out=tx";
            let no_port = |flag: String| refuse(&flag, NOT_WITH_WRAPPER, help);
            let problems: Vec<Diagnostic> = self.names.not_of_streams().into_iter().flat_map(no_port).collect();
            if !problems.is_empty() {
                return problems;
            }
        }
        if self.axis && self.axis_stall && self.axis_depth.is_some() {
            return refuse("--axis-depth", "a pipeline that stalls has no FIFO", "leave one of the two out");
        }
        if self.axis {
            return Vec::new();
        }
        let unused = |flag: &str| refuse(flag, "only a wrapper has this, and there is none", "add --wrapper axis");
        self.given_of_wrapper().flat_map(unused).collect()
    }

    /// Returns the errors of options that exclude or require each other for any design; the command line's parser has
    /// the same rules.
    fn conflicts(&self) -> Vec<Diagnostic> {
        let clock = [
            ("--max-stage-delay", self.max_stage_delay.is_some()),
            ("--clock-period", self.clock_period.is_some()),
            ("--freq", self.freq.is_some()),
        ];
        let clocks: Vec<&str> = clock.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect();
        let exclusive = |a: &str, b: &str| {
            let message = format!("{a} does not go with {b}");
            Diagnostic::error("E0002", Place::Flag(a.into()), message).with_help("leave one of the two out")
        };
        let requires = |flag: &str, other: &str| {
            let message = format!("{flag} requires {other}");
            Diagnostic::error("E0002", Place::Flag(flag.into()), message)
        };
        let mut problems = Vec::new();
        if let [first, second, ..] = clocks[..] {
            problems.push(exclusive(first, second));
        }
        if let (Some(clock), true) = (clocks.first(), self.objective != Objective::default()) {
            problems.push(exclusive("--pipeline-objective", clock));
        }
        if self.passes.is_some() && self.level.is_some() {
            problems.push(exclusive("--passes", "-O"));
        }
        if self.delay_unit.is_some() && self.period().is_none() {
            problems.push(requires("--delay-unit", "--clock-period or --freq"));
        }
        let of_interval = [
            ("--max-luts", self.max_luts.is_some()),
            ("--max-ffs", self.max_ffs.is_some()),
            ("--ii-share", self.ii_share.is_some()),
            ("--max-latency", self.max_latency.is_some()),
            ("--ii-engine", self.engine != Engine::default()),
            ("--ii-input", self.arrival != Arrival::default()),
        ];
        let unused = of_interval.into_iter().filter(|(_, given)| *given && self.intervals.is_none());
        problems.extend(unused.map(|(flag, _)| requires(flag, "--ii")));
        problems
    }

    /// Returns the pipeline options whose value differs from the default.
    pub fn given_of_pipeline(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--delay-model", self.delay_model.is_some()),
            ("--pipeline", self.stages.is_some()),
            ("--ii", self.intervals.is_some()),
            ("--ii-engine", self.engine != Engine::default()),
            ("--ii-input", self.arrival != Arrival::default()),
            ("--register-inputs", self.register_inputs),
            ("--register-outputs", self.register_outputs),
            ("--max-stage-delay", self.max_stage_delay.is_some()),
            ("--clock-period", self.clock_period.is_some()),
            ("--freq", self.freq.is_some()),
            ("--clock-uncertainty", self.clock_uncertainty != 0.0),
            ("--input-delay", self.input_delay != 0.0),
            ("--output-delay", self.output_delay != 0.0),
            ("--pipeline-objective", self.objective != Objective::default()),
            ("--effort", self.effort != Effort::default()),
            ("--use-dsp", self.products != Products::default()),
        ];
        options.into_iter().filter_map(|(flag, given)| given.then_some(flag))
    }

    /// Returns the port options whose value differs from the default, except the name of the module.
    pub fn given_of_ports(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--ports", self.ports != Ports::default()),
            ("--valid", self.valid),
            ("--enable", self.enable),
            ("--reset", self.reset != ResetKind::default()),
            ("--reset-data", self.reset_data),
            ("--reset-polarity", self.reset_low),
            ("--assertions", self.assertions),
        ];
        let given = options.into_iter().filter_map(|(flag, given)| given.then_some(flag));
        given.chain(self.names.given())
    }

    /// Returns the wrapper options whose value differs from the default.
    pub fn given_of_wrapper(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--wrapper", self.axis),
            ("--packing", self.packing != Packing::Auto),
            ("--axis-width", self.axis_width.is_some()),
            ("--axis-user", self.axis_user != AxisOptions::default().user),
            ("--axis-flow", self.axis_stall),
            ("--axis-depth", self.axis_depth.is_some()),
        ];
        options.into_iter().filter_map(|(flag, given)| given.then_some(flag))
    }

    /// Returns a note about the delays used for a clock period if no device is named; a warning if a device is named
    /// but the delays have no unit of time.
    pub fn assumption(&self, spec: &Spec) -> Option<Diagnostic> {
        self.period()?;
        let flag = if self.freq.is_some() { "--freq" } else { "--clock-period" };
        if !self.devices.is_empty() {
            return without_times(flag, spec);
        }
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
}

/// Returns a warning if the clock period of `flag` is compared with delays that have no unit of time, although a device
/// is named; `None` otherwise.
fn without_times(flag: &str, spec: &Spec) -> Option<Diagnostic> {
    let unit = match spec.delay_model() {
        DelayModel::Device => return None,
        DelayModel::LatencyFields => "unit of the latency fields",
        DelayModel::Width => "LUT level",
    };
    if spec.clock.delay_unit.is_some() {
        return None;
    }
    let device = spec.device().name();
    let message = format!("{flag} is met by other delays than those of {device}: one {unit} counts as 1 ns");
    let help = "leave out --delay-model, or state its unit: --delay-unit NS";
    Some(Diagnostic::warning("W0811", Place::Flag(flag.into()), message).with_help(help))
}
