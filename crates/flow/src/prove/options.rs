//! Options of a proof.

use crate::options::{
    NameOptions, OptionFault, OptionValue, choice, flag_value, invalid, named_port, text, texts, unsigned, within,
};
use crate::options::{POLARITIES, PORT_STYLES};
use alir_prove::engine::{Limits, WORK};
use alir_prove::equiv::{InputTiming, Request};
use alir_prove::machine::MachineRequest;
use std::num::NonZeroUsize;

/// Level of the budget of a proof; each level has ten times the budget of the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProofLevel {
    /// A tenth of the default budget.
    Fast,
    /// Default budget.
    #[default]
    Normal,
    /// Ten times the default budget.
    Max,
}

/// Budget of a proof: a level, or its individual limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProofBudget {
    /// Level that scales all limits without a value of their own.
    pub level: ProofLevel,
    /// Limit of the whole run in ticks.
    pub work: Option<u64>,
    /// Limit of the SAT solver for one output bit, in its steps.
    pub sat_steps: Option<u64>,
}

impl ProofBudget {
    /// Scales a default limit by the level.
    fn scaled(&self, usual: u64) -> u64 {
        match self.level {
            ProofLevel::Fast => usual / 10,
            ProofLevel::Normal => usual,
            ProofLevel::Max => usual.saturating_mul(10),
        }
    }

    /// Returns the limit of the whole run in ticks.
    pub fn work(&self) -> u64 {
        self.work.unwrap_or_else(|| self.scaled(WORK))
    }

    /// Returns the limits of the engine.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits { sat_steps: self.sat_steps.unwrap_or_else(|| self.scaled(usual.sat_steps)), ..usual }
    }
}

/// Options of a proof. If an option is `None`, its value is taken from the header comment or from the RTL itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProofOptions {
    /// Name of the module.
    pub top: Option<String>,
    /// Required latency in clock cycles.
    pub latency: Option<u32>,
    /// Required initiation interval in clock cycles.
    pub interval: Option<u32>,
    /// Cycles in which the inputs are valid.
    pub input_timing: Option<InputTiming>,
    /// Names of the control ports.
    pub names: NameOptions,
    /// `true` if the reset is active low.
    pub reset_low: Option<bool>,
    /// Budget of the proof.
    pub budget: ProofBudget,
    /// `true` if only gates are compared, without word-level methods.
    pub gates_only: bool,
    /// Maximum number of cycles from power-on that the search for a difference of a state machine covers.
    pub depth: Option<u32>,
    /// `true` if a certificate is recorded.
    pub certificate: bool,
    /// Number of threads; `None`: all cores.
    pub threads: Option<NonZeroUsize>,
}

const LEVELS: &[(&str, ProofLevel)] =
    &[("fast", ProofLevel::Fast), ("normal", ProofLevel::Normal), ("max", ProofLevel::Max)];

impl ProofOptions {
    /// Names of the options.
    pub const NAMES: &'static [&'static str] = &[
        "top",
        "latency",
        "ii",
        "ii_input",
        "port_style",
        "port",
        "reset_polarity",
        "prove_effort",
        "work",
        "sat_steps",
        "gates_only",
        "depth",
        "threads",
    ];

    /// Sets an option by its name.
    ///
    /// # Errors
    /// If no option has that name; if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let timings = [("captured", 0), ("held", 1), ("beats", 2)];
        let result = match name {
            "top" => text(value).map(|top| self.top = Some(top)),
            "latency" => unsigned(value).map(|clocks| self.latency = Some(clocks)),
            "ii" => unsigned(value).map(|clocks| self.interval = Some(clocks)),
            "ii_input" => choice(value, &timings).map(|timing| {
                self.input_timing =
                    Some([InputTiming::Accepted, InputTiming::Held, InputTiming::Beats(None)][timing as usize].clone());
            }),
            "port_style" => choice(value, PORT_STYLES).map(|style| self.names.style = style),
            "port" => texts(value).and_then(|names| {
                for name in names {
                    self.names.named.push(named_port(&name)?);
                }
                Ok(())
            }),
            "reset_polarity" => choice(value, POLARITIES).map(|low| self.reset_low = Some(low)),
            "prove_effort" => choice(value, LEVELS).map(|level| self.budget.level = level),
            "work" => unsigned(value).map(|ticks| self.budget.work = Some(ticks)),
            "sat_steps" => unsigned(value).map(|steps| self.budget.sat_steps = Some(steps)),
            "gates_only" => flag_value(value).map(|only| self.gates_only = only),
            "depth" => unsigned(value).map(|cycles| self.depth = Some(cycles)),
            "threads" => within(value, 1..=1024).map(|threads| self.threads = NonZeroUsize::new(threads as usize)),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    /// Returns the request for a program.
    pub fn request(&self) -> Request {
        Request {
            latency: self.latency,
            interval: self.interval,
            input_timing: self.input_timing.clone().unwrap_or(InputTiming::Stated),
            limits: self.budget.limits(),
            work: Some(self.budget.work()),
            keep_questions: self.certificate,
            gates_only: self.gates_only,
            names: self.names.control(self.reset_low),
            threads: self.threads,
            ..Request::default()
        }
    }

    /// Returns the request for a state machine.
    pub fn machine_request(&self) -> MachineRequest {
        let usual = MachineRequest::default();
        MachineRequest {
            limits: self.budget.limits(),
            work: self.budget.work(),
            depth: self.depth.unwrap_or(usual.depth),
            keep_questions: self.certificate,
            ..usual
        }
    }
}
