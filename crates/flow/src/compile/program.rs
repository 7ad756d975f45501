//! Compilation of programs: optimisation according to a [`Spec`], scheduling, lowering.

use super::policy::{self, ScheduleOutcome};
use super::spec::{DelayModel, Passes, Spec};
use super::{Error, bug};
use crate::options::near;
use alir_core::diag::{Diagnostic, Diagnostics, Place, counted, delay_digits, four_digits, four_digits_up, with_unit};
use alir_core::ir::{Model, Op};
use alir_core::num::Interval;
use alir_hw::device::{Delays, Estimate, NarrowSums};
use alir_hw::emit::assertions::ElementRanges;
use alir_hw::emit::axis::Axis;
use alir_hw::netlist::{self, Interface, Netlist};
use alir_opt::passes::{self, PASSES, PassStat, Trust};
use alir_opt::schedule::{self, Outcome, Schedule};
use std::borrow::Cow;

/// Phrase in the header comment of RTL that assumes input intervals; the input elements follow it.
pub const ASSUMPTION: &str = "assumes that every input stays in its declared interval:";

/// A program after its optimisations.
#[derive(Clone, Debug)]
pub struct Optimised<'d> {
    /// Program that the caller passed.
    pub source: &'d Model,
    /// Program after the optimisations.
    pub program: Cow<'d, Model>,
    /// Statistics of each pass, in order.
    pub passes: Vec<PassStat>,
}

/// Optimises a program for the requested pipeline.
///
/// # Errors
/// If a named pass does not exist, or an option is set that only state machines support.
pub fn optimise<'d>(model: &'d Model, spec: &Spec) -> Result<Optimised<'d>, Error> {
    let names = pass_names(model, spec)?;
    Ok(run_passes(model, spec, &names))
}

/// Returns the passes that optimise a program for the required pipeline, in order.
///
/// # Errors
/// As [`optimise`].
pub(super) fn pass_names<'s>(model: &Model, spec: &'s Spec) -> Result<Vec<&'s str>, Error> {
    spec.require_ii_one("a schedule of stages").map_err(Error::request)?;
    spec.check_clock()?;
    let names = spec.passes(spec.cuts_products_of(model)?)?;
    if spec.optimisation.retime.is_some() {
        let message = "--retime does not go with a program, which has no registers of its own";
        let help = "--pipeline and --pipeline-objective place the registers of a program; leave out --retime";
        let place = Place::Flag("--retime".into());
        return Err(Error::request(Diagnostic::error("E0804", place, message).with_help(help)));
    }
    Ok(names)
}

/// Applies the passes of [`pass_names`].
pub(super) fn run_passes<'d>(model: &'d Model, spec: &Spec, names: &[&str]) -> Optimised<'d> {
    // Without passes, the program need not be copied.
    if names.is_empty() {
        return Optimised { source: model, program: Cow::Borrowed(model), passes: Vec::new() };
    }
    let (program, passes) = passes::run_trusting(model, names, spec.trust());
    Optimised { source: model, program, passes }
}

impl<'d> Optimised<'d> {
    /// Places the pipeline registers. Splits sums if the requested period or stage delay is too short for a whole sum.
    ///
    /// # Errors
    /// If the goal cannot be reached; if the checker objects, which is an internal error.
    pub fn schedule(self, spec: &Spec) -> Result<Scheduled<'d>, Error> {
        let Optimised { source, mut program, mut passes } = self;
        let (ScheduleOutcome { outcome, delays, .. }, shortened) = spec.schedule_with_splits(&program)?;
        if let Some((split, stats)) = shortened {
            program = Cow::Owned(split);
            passes.extend(stats);
        }
        Ok(Scheduled { source, program, passes, outcome, delays })
    }

    /// Returns a borrowed copy, so that the program can be scheduled more than once.
    pub fn borrowed(&self) -> Optimised<'_> {
        Optimised { source: self.source, program: Cow::Borrowed(&self.program), passes: Vec::new() }
    }

    /// Returns the estimate of the program without registers.
    pub fn estimate_combinational(&self, spec: &Spec) -> Estimate {
        let schedule = Schedule::combinational(self.program.nodes().len());
        let options = netlist::Options { fabric: spec.fabric(), ..netlist::Options::default() };
        spec.estimate(&netlist::lower(&self.program, &schedule, &options))
    }
}

/// A program with placed pipeline registers.
#[derive(Clone, Debug)]
pub struct Scheduled<'d> {
    /// Program that the caller passed.
    pub source: &'d Model,
    /// Program that is lowered.
    pub program: Cow<'d, Model>,
    /// Statistics of each pass, in order.
    pub passes: Vec<PassStat>,
    /// The schedule and its certificate.
    pub outcome: Outcome,
    /// Delays that the schedule is based on.
    pub delays: policy::Source,
}

impl Scheduled<'_> {
    /// Returns the netlist and, if requested, a wrapper; the name of the outermost module is `top`.
    ///
    /// # Errors
    /// If the wrapper cannot be built; if the checker objects, which is an internal error.
    pub fn lower(&self, spec: &Spec, top: &str) -> Result<(Netlist, Option<Axis>), Error> {
        let netlist = lower(&self.program, &self.outcome, &spec.core(top))?;
        let netlist = if spec.optimisation.assume_intervals { assuming(netlist, self.source) } else { netlist };
        let axis = spec.wrapped(&netlist, top)?;
        Ok((netlist, axis))
    }

    /// Returns the stages for display: operations, longest path and registers of each. For a device, the path is that
    /// of the finished netlist, with the delay that each operation adds.
    pub fn stages(&self, spec: &Spec) -> schedule::ScheduleView {
        let (program, schedule) = (&*self.program, &self.outcome.schedule);
        let uses = netlist::uses_with(program, spec.fabric());
        let view = |delay: &dyn schedule::Delay| schedule::view(program, delay, &spec.goal(), &uses, schedule);
        match spec.delay_model() {
            DelayModel::Device => view(&Delays::near(program, spec.device(), spec.fabric(), schedule)),
            DelayModel::LatencyFields | DelayModel::Width => view(&*self.delays),
        }
    }

    /// Returns the delay of each stage, in the unit of the delays. For a device, a stage delay is the clock period that
    /// the finished netlist requires, including registers, I/O delays and uncertainty; otherwise it is the longest
    /// path. A combinational design has one entry.
    pub fn stage_times(&self, spec: &Spec, netlist: &Netlist) -> Vec<f64> {
        match spec.delay_model() {
            DelayModel::Device => {
                let estimate = spec.estimate(netlist);
                match self.outcome.schedule.stages {
                    0 => vec![estimate.period_ns],
                    stages => (0..stages as usize)
                        .map(|stage| estimate.stage_periods_ns.get(stage).copied().unwrap_or_default())
                        .collect(),
                }
            }
            DelayModel::LatencyFields | DelayModel::Width => self.outcome.stage_delays.clone(),
        }
    }

    /// Returns the delay of each stage in words.
    pub(super) fn stage_remarks(&self, spec: &Spec, netlist: &Netlist) -> Vec<String> {
        let unit = spec.unit(&self.program).0;
        let remark = |delay: f64| {
            let delay = format!("{delay:.3}");
            let delay = delay.trim_end_matches('0').trim_end_matches('.');
            format!("delay {}", with_unit(delay, unit))
        };
        self.stage_times(spec, netlist).into_iter().map(remark).collect()
    }

    /// Returns the quality of the number of register bits in words; empty if there was no search.
    pub fn quality(&self) -> String {
        let outcome = &self.outcome;
        let inside = match outcome.bits_in_blocks {
            0 => String::new(),
            bits => format!(", {bits} of them in DSPs"),
        };
        let counted = match outcome.weight {
            1 => String::new(),
            weight => format!(", a bit in a DSP counted as 1/{weight}"),
        };
        // The certificate is valid for the delays that the schedule is based on. Delays of a device depend on the
        // schedule.
        let bound = match self.delays {
            policy::Source::LatencyFields | policy::Source::Width => "for this stage delay",
            policy::Source::Device(_) | policy::Source::InARow(_) => "for these delays of operations",
        };
        match &outcome.certificate {
            None => inside,
            Some(_) if outcome.gap() == 0.0 => format!("{inside} (the fewest {bound}{counted})"),
            Some(_) if outcome.gap().is_infinite() => {
                format!("{inside} (how far above the fewest {bound}{counted} is not known)")
            }
            Some(_) => format!("{inside} (at most {:.2} % above the fewest {bound}{counted})", 100.0 * outcome.gap()),
        }
    }

    /// Returns a summary of the hardware in one line.
    pub(super) fn summary(&self, spec: &Spec, netlist: &Netlist, axis: Option<&Axis>) -> String {
        let schedule = &self.outcome.schedule;
        let latency = schedule.latency();
        let longest = || {
            let times = self.stage_times(spec, netlist);
            let longest = times.iter().copied().fold(0.0, f64::max);
            let unit = spec.unit(&self.program).0;
            with_unit(&delay_digits(longest, unit), unit)
        };
        let has_clock = spec.delay_model() == DelayModel::Device && netlist.register_bits() > 0;
        let shape = match schedule.stages {
            stages if has_clock && stages > 0 => {
                let estimate = spec.estimate(netlist);
                // The printed period can be used as a required period.
                let (period, clock) = (four_digits_up(estimate.period_ns), four_digits(estimate.clock_mhz));
                format!("{}, estimated clock period {period} ns ({clock} MHz)", counted(stages, "stage"))
            }
            0 if latency == 0 => format!("combinational, delay {}", longest()),
            0 => {
                let ends = match (schedule.register_inputs, schedule.register_outputs) {
                    (true, true) => "inputs and outputs",
                    (true, false) => "inputs",
                    _ => "outputs",
                };
                format!("{ends} registered, delay {}", longest())
            }
            1 => format!("1 stage, delay {}", longest()),
            stages => format!("{stages} stages, critical stage delay {}", longest()),
        };
        let mut bits = netlist.register_bits();
        let (name, latency, around) = match axis {
            None => (&netlist.interface.top, latency, String::new()),
            Some(axis) => {
                let around = format!(
                    "; AXI4-Stream wrapper included, a sample every {}; {}: latency {latency}, {}",
                    axis.interval_in_words(),
                    netlist.interface.top,
                    counted(bits, "register bit")
                );
                bits += axis.register_bits();
                (&axis.top, axis.latency(), around)
            }
        };
        let operations = counted(self.program.nodes().len(), "operation");
        if axis.is_none() && latency == 0 && bits == 0 {
            return format!("{name}: {operations}, {shape}");
        }
        let (bits, quality) = (counted(bits, "register bit"), self.quality());
        // The certificate covers the pipeline only.
        let ends = if axis.is_some() { format!("{around}{quality}") } else { quality };
        format!("{name}: {operations}, {shape}, latency {latency}, {bits}{ends}")
    }
}

impl Spec {
    /// Returns the wrapper of a netlist, with the module name `top`; `None` if no wrapper is requested.
    ///
    /// # Errors
    /// If the wrapper cannot be built.
    pub(super) fn wrapped(&self, netlist: &Netlist, top: &str) -> Result<Option<Axis>, Error> {
        let around = |options| Axis::new(top, &netlist.interface, options).map_err(Error::request);
        self.wrapper.as_ref().map(around).transpose()
    }

    /// Returns the assumptions of the passes.
    pub(super) fn trust(&self) -> Trust {
        if self.optimisation.assume_intervals { Trust::Intervals } else { Trust::Types }
    }

    /// Returns `true` if the pipeline should have registers within products of this program.
    ///
    /// # Errors
    /// As [`Spec::passes`].
    fn cuts_products_of(&self, model: &Model) -> Result<bool, Error> {
        let has_products = model.nodes().iter().any(|node| matches!(node.op, Op::Mul { .. }));
        if !(self.searches() && self.pipelines_multipliers() && has_products) {
            return Ok(false);
        }
        let optimised = |cut| Ok::<_, Error>(passes::run_trusting(model, &self.passes(cut)?, self.trust()).0);
        let (cut, whole) = (optimised(true)?, optimised(false)?);
        Ok(self.benefits_from_pipelining(&cut, &whole))
    }

    /// Returns the names of the passes that run; with `pipelines_multipliers`, for a pipeline with registers within
    /// products.
    ///
    /// # Errors
    /// If a named pass does not exist.
    pub(super) fn passes(&self, pipelines_multipliers: bool) -> Result<Vec<&str>, Error> {
        let names: Vec<&str> = match &self.optimisation.passes {
            Passes::Named(names) => names.iter().map(String::as_str).collect(),
            Passes::Level(_) if pipelines_multipliers => passes::IN_STAGES.to_vec(),
            Passes::Level(level) => passes::pipeline(*level).to_vec(),
        };
        let tables = match self.device().technology().narrow_sums {
            NarrowSums::InLuts => &passes::WIDE_TABLES,
            NarrowSums::InModules => &passes::ADAPTIVE_TABLES,
            NarrowSums::BeforeAdders => &passes::NARROW_TABLES,
        };
        // Time-multiplexed hardware is optimised without the passes for look-up tables.
        let names = match self.searches() && self.interval().is_none() {
            true => [&names[..], &tables[..]].concat(),
            false => names,
        };
        let unknown = names.iter().find(|name| passes::find(name).is_none());
        if let Some(name) = unknown {
            let known: Vec<_> = PASSES.iter().map(|p| p.name).collect();
            let message = format!("no pass is called {name:?}");
            let near = near(name, known.iter().copied());
            let guess = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
            let help = format!("{guess}passes: {}", known.join(", "));
            let place = Place::Flag("--passes".into());
            return Err(Error::request(Diagnostic::error("E0301", place, message).with_help(help)));
        }
        Ok(names)
    }
}

/// Returns the netlist of a scheduled program after the independent check.
///
/// # Errors
/// If the checker objects, which is an internal error.
pub(super) fn lower(model: &Model, outcome: &Outcome, options: &netlist::Options) -> Result<Netlist, Error> {
    let netlist = netlist::lower(model, &outcome.schedule, options);
    netlist.check().and_then(|()| netlist.check_pipeline()).map_err(|found| bug(Diagnostics(found)))?;
    Ok(netlist)
}

/// Returns the intervals of the elements in raw integer values, if the ports have the types of the program.
pub(super) fn element_ranges(model: &Model, interface: &Interface) -> ElementRanges {
    let mut inputs: Vec<Option<Interval>> = vec![None; interface.inputs.len()];
    for (node, kif) in model.nodes().iter().zip(model.kifs()) {
        let Op::Input { input } = node.op else { continue };
        let (range, element) = (&mut inputs[input as usize], &interface.inputs[input as usize]);
        // An operation that reads only some bits does not bound the whole element.
        if *kif != element.kif() || node.interval.frac != element.fractionals {
            continue;
        }
        *range = Some(match range.take() {
            None => node.interval.clone(),
            Some(other) => {
                let (min, max) = (node.interval.min.clone().max(other.min), node.interval.max.clone().min(other.max));
                // Disjoint intervals admit no value; then only the later interval is asserted.
                if min <= max { Interval::new(min, max, other.frac) } else { node.interval.clone() }
            }
        });
    }
    let outputs = model.output_intervals().iter().zip(&interface.outputs);
    let outputs = outputs.map(|(range, element)| (range.frac == element.fractionals).then(|| range.clone()));
    ElementRanges { inputs, outputs: outputs.collect() }
}

/// Returns the netlist with the assumed intervals of the inputs of `model` in its header comment.
fn assuming(netlist: Netlist, model: &Model) -> Netlist {
    let declared = model.nodes().iter().filter_map(|node| match node.op {
        Op::Input { input } => {
            let q = &node.interval;
            Some(format!("  inp[{input}]: codes {} to {}, in steps of 2^{}", q.min, q.max, -i64::from(q.frac)))
        }
        _ => None,
    });
    declared.fold(netlist.with_remark(ASSUMPTION), |netlist, line| netlist.with_remark(&line))
}
