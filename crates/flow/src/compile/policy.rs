//! Resolution of the options of a [`Spec`] into settings of the scheduler, the device and the netlist: each default and
//! the reason for it, in one place.

use super::spec::{DelayModel, LookupTables, Passes, Products, Spec, Stages};
use super::{Error, bug};
use alir_core::diag::{Diagnostic, Place, four_digits, four_digits_up};
use alir_core::ir::{Model, Op};
use alir_hw::device::{Delays, Device, Estimate, InARow, Resources, Surroundings, TableStyle};
use alir_hw::emit;
use alir_hw::netlist::{self, Adders, BlockRegisters, Fabric, Multipliers, Netlist};
use alir_opt::passes::{self, PassStat};
use alir_opt::schedule::{
    self, BoundFlag, ByWidth, Delay, Effort, Goal, LatencyFields, Objective, Outcome, PathElement, Uses,
};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Origin of a program's delays.
#[derive(Clone, Debug)]
pub enum Source {
    /// The latency fields of the file.
    LatencyFields,
    /// Delays by operand and result widths.
    Width,
    /// Delays of a device.
    Device(Arc<Delays>),
    /// Delays of a device in the program without registers. They are a first estimate; the estimate of the finished
    /// pipeline decides.
    InARow(Arc<InARow>),
}

impl Deref for Source {
    type Target = dyn Delay;

    fn deref(&self) -> &(dyn Delay + 'static) {
        match self {
            Source::LatencyFields => &LatencyFields,
            Source::Width => &ByWidth,
            Source::Device(delays) => &**delays,
            Source::InARow(delays) => &**delays,
        }
    }
}

/// A schedule, with the goal and delays of its search.
pub(super) struct ScheduleOutcome {
    pub(super) outcome: Outcome,
    pub(super) delays: Source,
    goal: Goal,
}

/// A program with shorter carry chains, and the statistics of the pass that split them.
pub(super) type Shortened = (Model, Vec<PassStat>);

/// Reason for which a program has no schedule.
enum Unscheduled {
    /// A request that cannot be fulfilled, or an internal error.
    Error(Error),
    /// A clock period that no schedule meets; with the schedule of the shortest estimated period, and this period in
    /// nanoseconds.
    Missed { made: Box<ScheduleOutcome>, found: f64 },
}

/// Error of a program that has no schedule, and its shortest clock period in nanoseconds (infinite if none is known).
struct Refusal {
    error: Error,
    period: f64,
}

impl From<Error> for Unscheduled {
    fn from(error: Error) -> Unscheduled {
        Unscheduled::Error(error)
    }
}

impl Spec {
    /// Returns the target device: the named one, else the fallback, else the default device.
    pub fn device(&self) -> Device {
        self.target.device.or(self.target.fallback).unwrap_or_default()
    }

    /// Returns the origin of the delays.
    pub fn delay_model(&self) -> DelayModel {
        // A period is a time, and only a device or a unit turns operations into times.
        let is_timed = self.clock.period.is_some() || self.target.device.is_some();
        let by_device = is_timed && self.clock.delay_unit.is_none();
        self.target.delays.unwrap_or(match by_device {
            true => DelayModel::Device,
            false => DelayModel::LatencyFields,
        })
    }

    /// Returns the delays of a program's operations.
    pub fn delays(&self, model: &Model) -> Source {
        match self.delay_model() {
            DelayModel::LatencyFields if model.has_delays() => Source::LatencyFields,
            DelayModel::LatencyFields | DelayModel::Width => Source::Width,
            DelayModel::Device => Source::Device(Arc::new(Delays::new(model, self.device(), self.fabric()))),
        }
    }

    /// Returns the unit and the origin of the delays, in words for messages.
    pub fn unit(&self, model: &Model) -> (&'static str, &'static str) {
        match self.delay_model() {
            DelayModel::LatencyFields if model.has_delays() => ("latency units", "latency fields"),
            DelayModel::LatencyFields | DelayModel::Width => ("LUT levels", "widths"),
            DelayModel::Device => ("ns", "device"),
        }
    }

    /// Returns the goal of the scheduler.
    pub fn goal(&self) -> Goal {
        let pipeline = &self.pipeline;
        Goal {
            stages: match pipeline.stages {
                Some(Stages::Exactly(n)) => Some(n),
                Some(Stages::Fewest) | None => None,
            },
            max_stage_delay: self.clock.period.map(|period| self.logic_time(period)).or(pipeline.max_stage_delay),
            register_inputs: pipeline.register_inputs,
            register_outputs: pipeline.register_outputs,
            input_delay: pipeline.input_delay,
            output_delay: pipeline.output_delay,
            objective: pipeline.objective,
            effort: pipeline.effort,
        }
    }

    /// Returns `true` if no registers are requested.
    pub fn is_combinational(&self) -> bool {
        self.interval().is_none()
            && self.goal().is_combinational()
            && !self.pipeline.register_inputs
            && !self.pipeline.register_outputs
    }

    /// Returns the part of a clock period that remains for logic, in units of the delays. The clock uncertainty is
    /// subtracted and, for delays of a device, also the time of a register.
    fn logic_time(&self, period: f64) -> f64 {
        match self.delay_model() {
            DelayModel::Device => (period - self.register_time() - self.clock.uncertainty).max(0.0),
            DelayModel::LatencyFields | DelayModel::Width => {
                (period - self.clock.uncertainty).max(0.0) / self.unit_ns()
            }
        }
    }

    /// Returns the number of nanoseconds in a unit of delay.
    fn unit_ns(&self) -> f64 {
        self.clock.delay_unit.unwrap_or(1.0)
    }

    /// Returns the clock uncertainty and I/O delays in nanoseconds. The scheduler, the estimate and the constraints use
    /// these values.
    pub fn io_timing(&self) -> Surroundings {
        let unit = if self.delay_model() == DelayModel::Device { 1.0 } else { self.unit_ns() };
        Surroundings {
            input_ns: unit * self.pipeline.input_delay,
            output_ns: unit * self.pipeline.output_delay,
            uncertainty_ns: self.clock.uncertainty,
        }
    }

    /// Returns the part of the clock period that a register of the device takes, in nanoseconds.
    fn register_time(&self) -> f64 {
        self.device().technology().register_time()
    }

    /// Returns `true` if a clock period or a maximum stage delay is given.
    fn is_bounded(&self) -> bool {
        self.clock.period.is_some() || self.pipeline.max_stage_delay.is_some()
    }

    /// Returns `true` if optimisations that search are enabled.
    pub(super) fn searches(&self) -> bool {
        matches!(self.optimisation.passes, Passes::Level(2..))
    }

    /// Returns `true` if multipliers may be pipelined internally: they are built in logic, and the delays of their
    /// parts are known.
    pub fn pipelines_multipliers(&self) -> bool {
        let in_stages = match self.pipeline.stages {
            Some(Stages::Exactly(stages)) => stages > 1,
            Some(Stages::Fewest) => true,
            None => self.is_bounded(),
        };
        in_stages && self.target.products == Products::Logic && self.delay_model() == DelayModel::Device
    }

    /// Returns `true` if pipelining multipliers is worth the adders between their parts. Without a bound on the stage
    /// delay the result is `true`. With a bound, it is `true` if the pipelined program meets the bound with a shorter
    /// latency, or, if neither program meets the bound, has a shorter period.
    pub(super) fn benefits_from_pipelining(&self, cut: &Model, whole: &Model) -> bool {
        if !self.is_bounded() {
            return true;
        }
        if cut == whole {
            return false;
        }
        // The search for the fewest register bits takes long for large programs, and with the largest effort.
        let own = self.pipeline.effort;
        let first = match (own, is_small(cut) && is_small(whole)) {
            (Effort::Fast, _) | (_, false) => Effort::Fast,
            (Effort::Normal | Effort::Max, true) => Effort::Normal,
        };
        let latency = |program: &Model, effort| {
            let mut spec = self.clone();
            spec.pipeline.effort = effort;
            spec.attempt_with_splits(program).map(|(made, _)| made.outcome.schedule.latency())
        };
        let gains = |effort| match (latency(cut, effort), latency(whole, effort)) {
            (Ok(cut), Ok(whole)) => Ok(cut < whole),
            (Ok(_), Err(_)) => Ok(true),
            (Err(_), Ok(_)) => Ok(false),
            (Err(cut), Err(whole)) => Err(cut.period < whole.period),
        };
        match gains(first) {
            Ok(gains) => gains,
            Err(_) if first != own => gains(own).unwrap_or_else(|is_nearer| is_nearer),
            Err(is_nearer) => is_nearer,
        }
    }

    /// Returns the properties of the target fabric: multipliers, LUT inputs and adders.
    pub fn fabric(&self) -> Fabric {
        let technology = self.device().technology();
        let multipliers = match (self.target.products, technology.multiplier) {
            (Products::Blocks, Some((longer, shorter))) => Multipliers::Blocks { longer, shorter },
            (Products::Auto | Products::Blocks, _) => Multipliers::Synthesiser,
            (Products::Logic, _) => Multipliers::Rows,
        };
        // A sum that is merged into the adder of another sum waits for the latest operand and takes one more LUT level.
        // Sums are therefore not merged if a clock has to be met, or if stages are partitioned by the device's delays
        // of single operations.
        let in_stages = self.target.delays.is_some() || !self.goal().is_combinational();
        let by_time = self.is_bounded() || (in_stages && self.delay_model() == DelayModel::Device);
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
            differences: self.searches() && technology.table_before_carry,
        }
    }

    /// Returns the registers of the DSPs that multiplications are mapped to. Returns `None` unless the mapping is
    /// certain: a device is named, or the RTL requests DSPs. DSP registers have no asynchronous reset.
    fn block_registers(&self) -> Option<BlockRegisters> {
        let named = self.target.device.is_some() || self.target.products == Products::Blocks;
        let reset_at_once = self.module.reset.is_some_and(|reset| reset.asynchronous && reset.data);
        let possible = named && !reset_at_once && self.target.products != Products::Logic;
        self.device().technology().block_registers().filter(|_| possible)
    }

    /// Returns the implementation style of look-up tables.
    pub fn table_style(&self) -> TableStyle {
        let device = self.device();
        match self.text.tables {
            LookupTables::Auto if self.searches() => TableStyle::ByCost { device },
            LookupTables::Auto => TableStyle::Auto,
            LookupTables::Logic => TableStyle::Logic,
            LookupTables::Block => TableStyle::Block,
            LookupTables::Pieces => TableStyle::Pieces { table_inputs: device.technology().table_inputs },
        }
    }

    /// Returns the options of the code generator.
    pub fn text_options(&self) -> emit::Options {
        emit::Options {
            rom_style: self.table_style(),
            hierarchy: self.text.hierarchy,
            split_above: self.text.split_above,
            shreg_extract: self.text.shreg_extract,
            keep_names: self.text.keep_names,
            use_dsp: self.target.products == Products::Blocks,
        }
    }

    /// Returns the resource and timing estimate of a netlist on the device.
    pub fn estimate(&self, netlist: &Netlist) -> Estimate {
        let multiplier_blocks = self.fabric().multipliers != Multipliers::Rows;
        // Delays without a unit of time cannot be combined with delays of a device.
        let has_times = self.delay_model() == DelayModel::Device || self.clock.delay_unit.is_some();
        let around = match has_times {
            true => self.io_timing(),
            false => Surroundings { uncertainty_ns: self.clock.uncertainty, ..Surroundings::default() },
        };
        Estimate::within(netlist, self.device(), Resources { multiplier_blocks, tables: self.table_style() }, around)
    }

    /// Returns the schedule of an optimised program, validated by the independent checker. If a period in nanoseconds
    /// is to be met on a device, the estimate of the schedule's netlist meets the period.
    ///
    /// # Errors
    /// If the goal cannot be reached, or if the checker objects, which is an internal error.
    pub(super) fn schedule(&self, model: &Model) -> Result<ScheduleOutcome, Error> {
        let made = self.attempt(model).map_err(|why| self.refusal(model, why).error)?;
        self.check(model, &made)?;
        Ok(made)
    }

    /// Like [`Spec::schedule`], but splits carry chains if the program misses the requested period or stage delay.
    /// Returns the program with shorter chains if it is the scheduled one.
    ///
    /// # Errors
    /// As [`Spec::schedule`]; the error is that of the program with the shortest period.
    pub(super) fn schedule_with_splits(&self, model: &Model) -> Result<(ScheduleOutcome, Option<Shortened>), Error> {
        let (made, shortened) = self.attempt_with_splits(model).map_err(|refusal| refusal.error)?;
        self.check(shortened.as_ref().map_or(model, |(program, _)| program), &made)?;
        Ok((made, shortened))
    }

    fn attempt_with_splits(&self, model: &Model) -> Result<(ScheduleOutcome, Option<Shortened>), Refusal> {
        let why = match self.attempt(model) {
            Ok(made) => return Ok((made, None)),
            Err(why) if !self.splits_sums() => return Err(self.refusal(model, why)),
            Err(why) => why,
        };
        let mut programs: Vec<Shortened> = Vec::new();
        for name in passes::SHORTER_CHAINS {
            let (program, stats) = passes::run_trusting(model, &[name], self.trust());
            if let Cow::Owned(program) = program
                && programs.last().is_none_or(|(last, _)| *last != program)
            {
                programs.push((program, stats));
            }
        }
        // Shorter chains do not help if another path is slowest.
        let slowest = |program: &Model| {
            let delays = self.delays(program);
            program.ids().map(|id| delays.own_delay(program, id)).fold(0.0, f64::max)
        };
        let of_whole = slowest(model);
        programs.retain(|(program, _)| slowest(program) < of_whole);
        let Some(finest) = programs.len().checked_sub(1) else { return Err(self.refusal(model, why)) };
        // Prefers the fewest stages, then the longest chains. Only the program with the shortest chains is also
        // scheduled by stage count.
        let mut quick = self.clone();
        quick.pipeline.effort = Effort::Fast;
        let stages = |program: &Model| Some(quick.by_delays(program).ok()?.outcome.schedule.stages);
        let mut ranked: Vec<(u32, usize)> =
            programs.iter().enumerate().filter_map(|(k, (program, _))| Some((stages(program)?, k))).collect();
        ranked.sort_unstable();
        for (_, k) in ranked {
            if let Ok(made) = self.attempt(&programs[k].0) {
                return Ok((made, Some(programs.swap_remove(k))));
            }
        }
        let program = &programs[finest].0;
        match if is_small(program) { self } else { &quick }.attempt(program) {
            Ok(made) => {
                let mut exact = self.clone();
                exact.pipeline.stages = Some(Stages::Exactly(made.outcome.schedule.stages));
                Ok((exact.attempt(program).unwrap_or(made), Some(programs.swap_remove(finest))))
            }
            Err(other) if is_nearer(&other, &why) => Err(self.refusal(program, other)),
            Err(_) => Err(self.refusal(model, why)),
        }
    }

    /// Returns `true` if sums may be split for a pipeline: its stages have a bound, and the delays are those of a
    /// device.
    fn splits_sums(&self) -> bool {
        let in_stages = !matches!(self.pipeline.stages, Some(Stages::Exactly(0 | 1)));
        let is_optimised = matches!(self.optimisation.passes, Passes::Level(1..));
        in_stages && is_optimised && self.is_bounded() && self.delay_model() == DelayModel::Device
    }

    fn refusal(&self, model: &Model, why: Unscheduled) -> Refusal {
        match why {
            Unscheduled::Error(error) => Refusal { error, period: f64::INFINITY },
            Unscheduled::Missed { made, found } => Refusal { error: self.too_fast(model, &made, found), period: found },
        }
    }

    fn attempt(&self, model: &Model) -> Result<ScheduleOutcome, Unscheduled> {
        self.check_clock()?;
        let delays = self.delays(model);
        let goal = self.goal();
        match (&delays, self.clock.period) {
            (Source::Device(known), Some(period)) => self.within_period(model, known, period),
            (Source::Device(known), _) if goal.max_stage_delay.is_none() && !goal.is_combinational() => {
                Ok(self.measured(model, known, &goal, f64::INFINITY)?.0)
            }
            _ => Ok(ScheduleOutcome { outcome: self.find(model, &*delays, &goal)?, delays, goal }),
        }
    }

    /// Returns a schedule by the delays of single operations. Its netlist meets the clock period if a period is given
    /// for a device.
    ///
    /// # Errors
    /// If such a schedule does not exist.
    fn by_delays(&self, model: &Model) -> Result<ScheduleOutcome, Error> {
        let (delays, goal) = (self.delays(model), self.goal());
        match (&delays, self.clock.period) {
            (Source::Device(known), Some(period)) => self.meet_by_delays(model, known, period),
            _ => Ok(ScheduleOutcome { outcome: self.find(model, &*delays, &goal)?, delays, goal }),
        }
    }

    /// Returns a schedule whose netlist meets a clock period in nanoseconds by the estimate. The schedule has the
    /// required number of stages, else the fewest. `known` are the delays of operations without registers.
    ///
    /// # Errors
    /// If no schedule is found.
    fn within_period(&self, model: &Model, known: &Arc<Delays>, period: f64) -> Result<ScheduleOutcome, Unscheduled> {
        let goal = self.goal();
        // If even registers alone exceed the period, the schedule with the shortest period is still computed for the
        // error message.
        if period < self.time_of_registers() {
            return self.by_number_of_stages(model, known, period);
        }
        match self.meet_by_delays(model, known, period) {
            Ok(found) if goal.stages.is_some() => Ok(found),
            Ok(found) => Ok(self.with_fewer_stages(model, known, found, period)?),
            Err(_) => self.by_number_of_stages(model, known, period),
        }
    }

    /// Returns a schedule whose netlist meets a clock period by the estimate. The search bounds the stage delay by the
    /// delays of operations.
    ///
    /// # Errors
    /// If no bound leads to such a schedule.
    fn meet_by_delays(&self, model: &Model, known: &Arc<Delays>, period: f64) -> Result<ScheduleOutcome, Error> {
        let goal = self.goal();
        let time = self.time_for_logic(period)?;
        let by = |delays: &Source| {
            meet(period, time, |bound| {
                let goal = Goal { max_stage_delay: Some(bound), ..goal };
                let outcome = self.find(model, &**delays, &goal)?;
                let estimate = self.estimate_of(model, &outcome)?;
                Ok((ScheduleOutcome { outcome, delays: delays.clone(), goal }, estimate))
            })
        };
        // Pins and LUTs of the pipeline may be better than the first delays assume, so other delays are tried too; the
        // estimate of the netlist decides.
        let in_a_row = || by(&Source::InARow(Arc::new(known.in_a_row(model))));
        by(&Source::Device(known.clone())).or_else(|_| in_a_row())
    }

    /// Returns the schedule with the fewest stages whose netlist meets a period. The function is called if bounds on
    /// the stage delay led to no schedule: it schedules for one number of stages after another, without a period.
    ///
    /// # Errors
    /// If no number of stages up to [`MAX_AUTO_STAGES`] meets the period.
    fn by_number_of_stages(
        &self,
        model: &Model,
        known: &Arc<Delays>,
        period: f64,
    ) -> Result<ScheduleOutcome, Unscheduled> {
        let goal = Goal { max_stage_delay: None, ..self.goal() };
        let last = self.most_stages(model);
        let counts: Vec<u32> = match goal.stages {
            Some(stages) => vec![stages],
            None => stage_counts(model.nodes().len(), last),
        };
        // If registers alone exceed the period, refinement cannot help; the shortest period is reported.
        let is_below_registers = period < self.time_of_registers() && !is_small(model);
        let worth = if is_below_registers { 0.0 } else { worth_refining(model, period) };
        let mut best: Option<(ScheduleOutcome, f64)> = None;
        for stages in counts {
            let (made, found) = self.measured(model, known, &Goal { stages: Some(stages), ..goal }, worth)?;
            if found <= period {
                return Ok(made);
            }
            if best.as_ref().is_none_or(|(_, least)| found < *least) {
                best = Some((made, found));
            }
        }
        let (mut made, mut found) = best.expect("at least one number of stages is tried");
        if is_below_registers {
            (made, found) = self.measured(model, known, &made.goal, worth_refining(model, found))?;
        }
        Err(Unscheduled::Missed { made: Box::new(made), found })
    }

    /// Returns the schedule for the stage count of `goal`, and the estimated clock period of its netlist in
    /// nanoseconds. A schedule with a period above `worth` is not refined.
    fn measured(
        &self,
        model: &Model,
        known: &Arc<Delays>,
        goal: &Goal,
        worth: f64,
    ) -> Result<(ScheduleOutcome, f64), Error> {
        let outcome = self.find(model, &**known, goal)?;
        let first = ScheduleOutcome { outcome, delays: Source::Device(known.clone()), goal: *goal };
        let found = self.estimate_of(model, &first.outcome)?.period_ns;
        match goal.effort {
            Effort::Normal | Effort::Max if found <= worth => self.refined(model, known, (first, found)),
            _ => Ok((first, found)),
        }
    }

    /// Returns the number of stages up to which `--pipeline auto` tries: one after each operation, and those inside of
    /// DSPs. Further stages would only contain registers without logic.
    fn most_stages(&self, model: &Model) -> u32 {
        let in_block = self.block_registers().map_or(0, |registers| registers.before + registers.behind);
        (depth(model, in_block) + DEPTH_MARGIN).min(MAX_AUTO_STAGES)
    }

    /// Returns the error that no schedule was found that meets the clock. `made` is the schedule with the shortest
    /// period of all schedules tried, `found` is this period in nanoseconds.
    fn too_fast(&self, model: &Model, made: &ScheduleOutcome, found: f64) -> Error {
        let period = self.clock.period.unwrap_or_default();
        let schedule = &made.outcome.schedule;
        let estimate = self.estimate_of(model, &made.outcome).ok();
        let has_registers = estimate.as_ref().is_some_and(|estimate| estimate.ff > 0);
        let times = estimate.map(|estimate| estimate.stage_periods_ns).unwrap_or_default();
        let slowest = (0..times.len()).max_by(|&a, &b| times[a].total_cmp(&times[b]).then(b.cmp(&a)));
        let arcs = Delays::near(model, self.device(), self.fabric(), schedule);
        let uses = Uses::whole_values(model);
        let view = schedule::view(model, &arcs, &Goal { max_stage_delay: None, ..self.goal() }, &uses, schedule);
        let path = slowest.and_then(|stage| view.stages.get(stage)).map_or(&[][..], |stage| &stage.path);
        let longest = path.iter().max_by(|a, b| a.delay.total_cmp(&b.delay)).map(|step| step.what);
        let limit = match longest {
            Some(PathElement::Op(id)) => {
                let node = model.node(id);
                let table = if matches!(node.op, Op::Lookup { .. }) { ", a look-up table (--rom-style)" } else { "" };
                let product = match (&node.op, self.fabric().multipliers) {
                    (Op::Mul { .. }, Multipliers::Rows) => ", a product in logic (--use-dsp yes puts it into a DSP)",
                    (Op::Mul { .. }, _) => ", a product (-O2 --use-dsp no splits it)",
                    _ => "",
                };
                let is_sum = matches!(node.op, Op::Add { .. } | Op::Sub { .. } | Op::Neg { .. } | Op::AddConst { .. });
                let sum = if is_sum && !self.splits_sums() { ", a carry chain (-O1 in stages splits it)" } else { "" };
                format!("; v{} ({}) limits it{table}{product}{sum}", node.origin, node.op.name())
            }
            Some(PathElement::Before) => "; --input-delay limits it".to_owned(),
            Some(PathElement::After) => "; --output-delay limits it".to_owned(),
            Some(PathElement::Negation(_)) | None => String::new(),
        };
        let stages = |n: u32| if n == 1 { "1 stage".to_owned() } else { format!("{n} stages") };
        let verb = |n: u32, one: &'static str, several: &'static str| if n == 1 { one } else { several };
        let registers_alone = self.registers_alone(period).filter(|_| has_registers);
        let (device, bound, found) = (self.device().name(), self.clock.bound(found), four_digits_up(found));
        let shown = four_digits(period);
        let message = match (registers_alone, self.goal().stages) {
            (Some(message), _) => message,
            (_, Some(n)) => format!("{} {} not meet {shown} ns on {device}", stages(n), verb(n, "does", "do")),
            (_, None) => {
                let last = stages(self.most_stages(model));
                format!("no pipeline of up to {last} was found that meets {shown} ns on {device}")
            }
        };
        let (count, verb) = (stages(schedule.stages), verb(schedule.stages, "takes", "take"));
        let more = if self.goal().stages.is_some() { "; --pipeline auto takes as many stages as needed" } else { "" };
        let help = format!("require {bound}: {count} {verb} {found} ns by the estimate{limit}{more}");
        Error::request(Diagnostic::error("E0506", self.clock.place(), message).with_help(help))
    }

    /// Returns the resource and timing estimate of a schedule's netlist.
    fn estimate_of(&self, model: &Model, outcome: &Outcome) -> Result<Estimate, Error> {
        let options = netlist::Options { fabric: self.fabric(), ..netlist::Options::default() };
        let netlist = super::program::lower(model, outcome, &options)?;
        Ok(self.estimate(&netlist))
    }

    /// Returns the best of several schedules of equal stage count by the estimate, and its period in nanoseconds.
    /// Registers determine which gates share a LUT and which pins they use, so each schedule uses the delays measured
    /// on the previous schedule. `delays` are the delays without registers, by which `first` was built; `period` is the
    /// period of `first`.
    fn refined(
        &self,
        model: &Model,
        delays: &Delays,
        (first, period): (ScheduleOutcome, f64),
    ) -> Result<(ScheduleOutcome, f64), Error> {
        let goal = first.goal;
        let (mut best, mut period) = (first, period);
        let guess = Goal { effort: Effort::Fast, ..goal };
        let guess = self.find(model, &delays.in_a_row(model), &guess)?.schedule;
        let seeds = [(best.outcome.schedule.clone(), REFINEMENTS), (guess, 1)];
        for (mut last, rounds) in seeds {
            for _ in 0..rounds {
                let delays = Delays::near(model, self.device(), self.fabric(), &last);
                let outcome = self.find(model, &delays, &goal)?;
                if outcome.schedule == last {
                    break;
                }
                last = outcome.schedule.clone();
                let found = self.estimate_of(model, &outcome)?.period_ns;
                // Where register bits are minimised, a slightly longer period is accepted.
                let (same, much) = if goal.objective == Objective::Delay { (1.0, 1.0) } else { (1.01, 0.99) };
                let is_less = outcome.counted() < best.outcome.counted();
                if found < much * period || (found <= same * period && is_less) {
                    best = ScheduleOutcome { outcome, delays: Source::Device(Arc::new(delays)), goal };
                    period = found;
                }
            }
        }
        Ok((best, period))
    }

    /// Returns the schedule with the fewest stages that meets a period by the estimate, starting from `best`, which
    /// meets it. `delays` are the delays without registers.
    fn with_fewer_stages(
        &self,
        model: &Model,
        delays: &Arc<Delays>,
        mut best: ScheduleOutcome,
        period: f64,
    ) -> Result<ScheduleOutcome, Error> {
        let mut of_fewer = None;
        // The period is not a monotone function of the number of stages. For small programs every number is tried; for
        // other programs the search continues after the first failure only if it is a near miss.
        let mut failures = 0;
        let is_small = is_small(model);
        let worth = worth_refining(model, period);
        for stages in (1..best.outcome.schedule.stages).rev() {
            let goal = Goal { stages: Some(stages), max_stage_delay: None, ..self.goal() };
            let (fewer, found) = self.measured(model, delays, &goal, worth)?;
            if found <= period {
                of_fewer = Some(found);
                best = fewer;
                continue;
            }
            failures += 1;
            if !is_small && (failures == 2 || found > NEAR_MISS * period) {
                break;
            }
        }
        // The remaining slack is used to minimise registers.
        if let Some(found) = of_fewer {
            let taken = self.time_of_registers();
            let bound = best.outcome.max_stage_delay * (period - taken) / (found - taken);
            let stages = Some(best.outcome.schedule.stages);
            for share in SPARING {
                let goal = Goal { stages, max_stage_delay: Some(share * bound), ..self.goal() };
                let Ok(outcome) = self.find(model, &*best.delays, &goal) else { break };
                let is_less = outcome.counted() < best.outcome.counted();
                if is_less && self.estimate_of(model, &outcome)?.period_ns <= period {
                    best = ScheduleOutcome { outcome, goal, ..best };
                    break;
                }
            }
        }
        Ok(best)
    }

    /// Returns the bits of each value that a schedule for this goal counts in registers. Only the search for the fewest
    /// register bits counts exact bits; other searches count whole values.
    fn uses(&self, model: &Model, goal: &Goal) -> Uses {
        match goal.effort == Effort::Fast || goal.is_combinational() {
            true => Uses::whole_values(model),
            false => netlist::uses_with_blocks(model, self.fabric(), self.block_registers()),
        }
    }

    /// Validates a schedule with the independent checker.
    fn check(&self, model: &Model, made: &ScheduleOutcome) -> Result<(), Error> {
        let uses = self.uses(model, &made.goal);
        made.outcome.check(model, &*made.delays, &made.goal, &uses).map_err(bug)?;
        Ok(())
    }

    /// Returns the schedule for one goal. The search produces many schedules; only the result is validated.
    fn find(&self, model: &Model, delay: &dyn Delay, goal: &Goal) -> Result<Outcome, Error> {
        schedule::schedule(model, delay, goal, &self.uses(model, goal)).map_err(|why| {
            let clock =
                BoundFlag { name: "--clock-period", unit: 1.0, unit_name: "ns", overhead: self.time_of_registers() };
            let given = match (self.clock.period, self.delay_model()) {
                (None, _) => BoundFlag::stage_delay(self.unit(model).0),
                (Some(_), DelayModel::Device) => clock,
                (Some(_), _) => BoundFlag { unit: self.unit_ns(), overhead: self.clock.uncertainty, ..clock },
            };
            Error::request(why.diagnostic(model, &given))
        })
    }

    /// Checks that clock period, uncertainty and delay unit are valid durations, and that the device supports the
    /// options.
    pub(super) fn check_clock(&self) -> Result<(), Error> {
        let wrong = |flag: &str, message: String, help: &str| {
            Err(Error::request(Diagnostic::error("E0505", Place::Flag(flag.into()), message).with_help(help)))
        };
        if self.target.products == Products::Blocks && self.device().technology().multiplier.is_none() {
            let place = Place::Flag("--use-dsp".into());
            let message = format!("{} has no multiplier blocks", self.device().name());
            let help = "leave it out, or name another --device";
            return Err(Error::request(Diagnostic::error("E0801", place, message).with_help(help)));
        }
        if self.pipeline.stages == Some(Stages::Fewest) && self.goal().max_stage_delay.is_none() {
            let help = "add --clock-period NS or --max-stage-delay D, or use a number of stages";
            return wrong("--pipeline", "auto needs a clock to meet".to_owned(), help);
        }
        let uncertainty = self.clock.uncertainty;
        if !(uncertainty.is_finite() && uncertainty >= 0.0) {
            return wrong(
                "--clock-uncertainty",
                format!("{uncertainty} is not a duration"),
                "give nanoseconds, 0 or more",
            );
        }
        if self.clock.period.is_some_and(|period| period > 0.0 && uncertainty >= period) {
            let message = format!("{uncertainty} ns leave nothing of the period");
            return wrong("--clock-uncertainty", message, "give less, or a longer --clock-period");
        }
        match self.clock.period {
            Some(period) if !(period.is_finite() && period >= 0.0) => wrong(
                "--clock-period",
                format!("{period} is not a duration"),
                "a period is a positive time: 5, 5ns or 200MHz",
            ),
            _ if !(self.unit_ns().is_finite() && self.unit_ns() > 0.0) => {
                wrong("--delay-unit", format!("{} is no unit", self.unit_ns()), "a unit is a finite number above zero")
            }
            _ => Ok(()),
        }
    }

    /// Returns the part of a clock period that the registers of the device and the clock uncertainty take, in
    /// nanoseconds.
    fn time_of_registers(&self) -> f64 {
        self.register_time() + self.clock.uncertainty
    }

    /// Returns the message that registers alone take more than a clock period in nanoseconds; `None` if they take less.
    fn registers_alone(&self, period: f64) -> Option<String> {
        let also = match self.clock.uncertainty {
            0.0 => String::new(),
            ns => format!(", and --clock-uncertainty {} ns", four_digits(ns)),
        };
        let (device, register) = (self.device().name(), four_digits(self.register_time()));
        (period < self.time_of_registers()).then(|| format!("a register of {device} alone takes {register} ns{also}"))
    }

    /// Returns the part of the clock period that remains for logic on the device, in nanoseconds.
    ///
    /// # Errors
    /// If no time remains.
    fn time_for_logic(&self, period: f64) -> Result<f64, Error> {
        let taken = self.time_of_registers();
        // A design without logic needs only the time of its registers.
        let Some(message) = self.registers_alone(period) else { return Ok(period - taken) };
        let help = format!("require {}, or another --device", self.clock.bound(taken));
        Err(Error::request(Diagnostic::error("E0506", self.clock.place(), message).with_help(help)))
    }
}

/// Returns `true` if the program of `one` came nearer to the requested period than the program of `other`. If neither
/// has a schedule, `one` is nearer, as splitting sums only shortens the delays of single operations.
fn is_nearer(one: &Unscheduled, other: &Unscheduled) -> bool {
    match (one, other) {
        (Unscheduled::Missed { found: one, .. }, Unscheduled::Missed { found: other, .. }) => one < other,
        (Unscheduled::Error(_), Unscheduled::Error(_)) => true,
        _ => false,
    }
}

/// Factors of the largest stage delay that a period allows, used as bounds when register bits are minimised.
const SPARING: [f64; 2] = [1.0, 0.97];

/// Number of refined schedules that are compared with the first schedule by the estimate.
const REFINEMENTS: u32 = 2;

/// Maximum number of rounds in which the bound is tightened until the netlist meets the clock.
const ROUNDS: u32 = 8;

/// Repeats `attempt` with tighter bounds until the estimate of the result meets `period`. Delays of operations add up
/// to slightly less than the delay of a stage, as a carry chain starts again after a register.
fn meet<T>(period: f64, bound: f64, mut attempt: impl FnMut(f64) -> Result<(T, Estimate), Error>) -> Result<T, Error> {
    let register = period - bound;
    let mut bound = bound;
    let (mut found, mut estimate) = attempt(bound)?;
    for _ in 0..ROUNDS {
        if estimate.period_ns <= period {
            return Ok(found);
        }
        bound *= ((period - register) / (estimate.period_ns - register)).clamp(0.5, 0.98);
        let Ok(next) = attempt(bound) else { break };
        (found, estimate) = next;
    }
    if estimate.period_ns <= period { Ok(found) } else { Err(unmet()) }
}

/// Returns the error that a bound led to no schedule that meets the period. The caller tries other bounds, and reports
/// their errors.
fn unmet() -> Error {
    let message = "the clock period is not met";
    Error::request(Diagnostic::error("E0506", Place::Flag("--clock-period".into()), message))
}

/// Largest number of stages that `--pipeline auto` tries.
const MAX_AUTO_STAGES: u32 = 64;

/// Number of stages that are tried beyond those of the longest path.
const DEPTH_MARGIN: u32 = 2;

/// Largest number of operations for which every smaller number of stages is tried.
const EXHAUSTIVE_OPERATIONS: usize = 400;

/// Returns `true` if every number of stages of the program is tried, with the full effort.
fn is_small(model: &Model) -> bool {
    model.nodes().len() <= EXHAUSTIVE_OPERATIONS
}

/// Largest ratio of the achieved to the required period of a near miss.
const NEAR_MISS: f64 = 1.1;

/// Number of operations above which refinement takes noticeable time.
const LARGE: usize = 4_000;

/// Largest ratio of the achieved to the required period for which schedules of programs above [`LARGE`] are refined.
/// For 100 schedules of smaller programs, refinement shortened the period by at most 6 % in 95 of them, and by 19 % in
/// the best case.
const WORTH_REFINING: f64 = 1.15;

/// Returns the largest estimated period of a schedule, in nanoseconds, that is refined to meet `period`.
fn worth_refining(model: &Model, period: f64) -> f64 {
    if model.nodes().len() <= LARGE { f64::INFINITY } else { WORTH_REFINING * period }
}

/// Total number of operations in all tried schedules up to which no number of stages is skipped.
const SCAN_BUDGET: usize = 120_000;

/// Returns the numbers of stages to try, up to `last`: all numbers, or for large programs a selection in growing steps.
fn stage_counts(operations: usize, last: u32) -> Vec<u32> {
    let most = (SCAN_BUDGET / operations.max(1)).max(6);
    if last as usize <= most {
        return (1..=last).collect();
    }
    let ratio = f64::from(last).powf(1.0 / (most as f64 - 1.0));
    let mut counts: Vec<u32> = (0..most).map(|k| ratio.powi(k as i32).round() as u32).collect();
    counts.push(last);
    counts.retain(|&count| (1..=last).contains(&count));
    counts.dedup();
    counts
}

/// Returns the number of operations on the longest path from inputs to outputs; a product counts `in_product` more.
fn depth(model: &Model, in_product: u32) -> u32 {
    let mut depths: Vec<u32> = Vec::with_capacity(model.nodes().len());
    for id in model.ids() {
        let op = &model.node(id).op;
        let mut before = 0;
        op.for_each_operand(|v| before = before.max(depths[v.index()]));
        depths.push(before + 1 + if matches!(op, Op::Mul { .. }) { in_product } else { 0 });
    }
    depths.into_iter().max().unwrap_or(0)
}
