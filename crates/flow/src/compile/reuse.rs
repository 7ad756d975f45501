//! Hardware with an initiation interval above 1 ([`super::Pipeline::interval`]): planning, checking, lowering.

use super::spec::{Arrival, Budget, Clock, DelayModel, Engine, Passes, Pipeline, Products, Spec, Stages};
use super::{Error, ErrorKind, bug, steps};
use alir_core::diag::{Diagnostic, Diagnostics, Place, Severity, counted, four_digits};
use alir_core::ir::machine::Machine;
use alir_core::ir::{Builder, Model, Op, Output, ValueId};
use alir_core::num::{Interval, Kif};
use alir_hw::emit::axis::{Axis, Stream};
use alir_hw::emit::{ReuseFacts, ReuseGroup, ReuseRegion};
use alir_hw::netlist::{Netlist, lower_reused};
use alir_hw::reuse::serial::{self, Graph, Refusal};
use alir_hw::reuse::{self, Engines, Group, Inputs, MAX_INTERVAL, Plan, Region};
use alir_opt::passes;
use alir_opt::schedule::Effort;
use alir_prove::steps::Steps;
use std::borrow::Cow;

/// Passes before the search for equal blocks; each pass transforms equal parts of a program equally.
const BEFORE: &[&str] = &["dce", "simplify", "cse", "dce"];

/// Passes on the joined logic of parts that were optimised separately, and on bit-serial logic.
const JOINED: &[&str] = &["cse", "dce"];

/// Pass that is not used: it would replace the adder of the phase counter with a look-up table, which is harder to
/// read.
const LEFT_OUT: &str = "functions";

/// Maximum number of plans that are built until one meets the clock period.
const ROUNDS: u32 = 16;

/// Round from which on the operands of shared units are selected one cycle earlier, in a separate cycle.
const CHOSEN_BEFORE: u32 = 4;

/// Number of operations above which bit-serial hardware is considered only on request.
const SERIAL_OPERATIONS: usize = 50_000;

/// Maximum number of rows in the table of units of the header comment.
const TABLE_ROWS: usize = 64;

/// Maximum number of blocks in a row of the table of units.
const TABLE_BLOCKS: usize = 8;

/// Phrase in the header comment of bit-serial RTL.
pub(super) const BIT_BY_BIT: &str = "bit by bit";

/// Phrase before [`BIT_BY_BIT`] in the header comment if only a part of the program is bit-serial.
const IN_PART: &str = "in part";

/// Plan of time-multiplexed hardware: the shared instances and their cycles.
#[derive(Clone, Debug)]
pub enum SharingPlan {
    /// Equal parts of the program share units.
    Fold(Plan),
    /// Bit-serial arithmetic for the whole program.
    Serial(Graph, serial::Plan),
}

/// A program with the plan of its time-multiplexed hardware.
#[derive(Clone, Debug)]
pub struct SharedHardware<'d> {
    /// Program that the caller passed.
    pub source: &'d Model,
    /// Program that was planned: `source` after passes.
    pub program: Model,
    /// Plan of the shared instances and their cycles.
    pub plan: SharingPlan,
    /// Smallest interval for which bit-serial hardware exists; `None` if the requested interval suffices.
    pub serial_from: Option<u32>,
    /// Names of the passes on the program or on each of its parts; empty if only the hardware as a whole was optimised.
    optimised_by: Vec<&'static str>,
    /// Names of the passes on the whole logic of a plan with shared units.
    joined_by: Vec<&'static str>,
    /// Plan as a state machine with optimised logic.
    machine: Machine,
}

impl SharingPlan {
    /// Returns the initiation interval in cycles.
    pub fn interval(&self) -> u32 {
        match self {
            SharingPlan::Fold(plan) => plan.interval,
            SharingPlan::Serial(_, plan) => plan.interval,
        }
    }

    /// Returns the number of cycles from the edge that accepts a sample to its result.
    pub fn latency(&self) -> u32 {
        match self {
            SharingPlan::Fold(plan) => plan.latency,
            SharingPlan::Serial(_, plan) => plan.latency,
        }
    }
}

impl Spec {
    /// Returns the initiation interval in cycles; `None` if it is 1.
    pub fn interval(&self) -> Option<u32> {
        self.pipeline.interval.filter(|&interval| interval != 1)
    }

    /// Returns the timing of a sample's elements: the cycles and port bits in which they arrive.
    ///
    /// # Errors
    /// If the beats of a sample do not fit the interval, or an element does not fit the width of a beat.
    fn inputs(&self, program: &Model, interval: u32) -> Result<Inputs, Error> {
        let wrapper = match (self.pipeline.arrival, &self.wrapper) {
            (Arrival::Held, _) => return Ok(Inputs::Held),
            (Arrival::Beats, Some(wrapper)) => wrapper,
            (Arrival::Captured, _) | (Arrival::Beats, None) => return Ok(Inputs::Captured),
        };
        let widths: Vec<u32> = program.input_kifs().iter().map(|kif| kif.width()).collect();
        let stream = Stream::from_inputs(&widths, wrapper).map_err(Error::request)?;
        let refuse = |message: String, help: String| {
            let place = Place::Flag("--ii-input".into());
            Err(Error::request(Diagnostic::error("E0816", place, message).with_help(help)))
        };
        if stream.beats > interval {
            let message =
                format!("a sample is {} beats, and the core accepts a sample every {interval} clocks", stream.beats);
            let help = format!("use --ii {} or a wider --axis-width, or leave --ii-input beats out", stream.beats);
            return refuse(message, help);
        }
        let mut places = Vec::with_capacity(widths.len());
        for (e, (slot, &width)) in stream.slots.iter().zip(&widths).enumerate() {
            let (beat, lo) = (slot.lsb / stream.data_width, slot.lsb % stream.data_width);
            if lo + width > stream.data_width {
                let message = format!("input {e} begins in beat {beat} and ends in a later one");
                let help = "use an --axis-width that elements fit into, such as a multiple of their slots; or \
                            leave \
                            --ii-input beats out";
                return refuse(message, help.into());
            }
            places.push((beat, lo, width));
        }
        if stream.beats == 1 {
            let message = format!("a sample is one beat of {} bits: there is nothing to wait for", stream.data_width);
            return refuse(message, "use a smaller --axis-width, or leave --ii-input beats out".into());
        }
        Ok(Inputs::beats(stream.beats, &places))
    }

    /// Returns `true` if the hardware is time-multiplexed: an interval other than 1 or a budget is given.
    pub(super) fn is_time_multiplexed(&self) -> bool {
        self.interval().is_some() || self.pipeline.budget.is_some()
    }

    /// Returns the errors of options that are invalid or incompatible with [`Spec::interval`].
    pub(super) fn interval_problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut problem = |code, flag: &str, message: String, help: &str| {
            problems.push(Diagnostic::error(code, Place::Flag(flag.into()), message).with_help(help));
        };
        if !self.pipeline.compared.is_empty() {
            let help = "use one; `alir2hdl info` compares several";
            problem("E0810", "--ii", "several intervals are given".into(), help);
            return problems;
        }
        if !self.is_time_multiplexed() {
            return problems;
        }
        let budget = self.pipeline.budget;
        match (budget, self.pipeline.interval) {
            (Some(Budget { luts: None, ffs: None }), _) => {
                problem("E0810", "--ii", "auto needs a budget".into(), "add --max-luts N or --max-ffs N");
            }
            (Some(_), Some(_)) => {
                let help = "--max-luts and --max-ffs go with --ii auto; leave them out, or the number";
                problem("E0810", "--ii", "an interval is given, and a budget to choose it by".into(), help);
            }
            _ => {}
        }
        if let Some(share) = self.pipeline.least_share.filter(|share| !(0.0..=100.0).contains(share)) {
            problem("E0815", "--ii-share", format!("{share} is not a percentage"), "use 0 to 100");
        }
        let interval = self.pipeline.interval.unwrap_or(MAX_INTERVAL);
        if interval == 0 || interval > MAX_INTERVAL {
            let help = format!("use 1 to {MAX_INTERVAL}; 1 is a new sample every clock");
            problem("E0810", "--ii", format!("{interval} is not a valid interval"), &help);
        }
        if let Some(Stages::Exactly(_)) = self.pipeline.stages {
            let help = "leave it out: the latency is a result; --clock-period or --max-stage-delay limit the stages";
            problem("E0816", "--pipeline", "a number of stages does not go with --ii".into(), help);
        }
        let arrival = self.pipeline.arrival;
        if arrival == Arrival::Held && self.wrapper.is_some() {
            let message =
                "held does not go with a wrapper, which collects the next sample while the core reads this one";
            let help = "leave it out: a register captures the sample; or use --ii-input beats";
            problem("E0816", "--ii-input", message.into(), help);
        }
        if arrival == Arrival::Beats && self.wrapper.is_none() {
            let message = "beats are those of a wrapper's stream, and none is requested";
            problem("E0816", "--ii-input", message.into(), "add --wrapper axis --axis-width BITS, or leave it out");
        }
        if arrival == Arrival::Beats && self.pipeline.engine == Engine::Serial {
            let message = "a fully bit-serial core captures whole samples";
            problem("E0816", "--ii-input", message.into(), "leave it out, or use --ii-engine fold or mixed");
        }
        if arrival != Arrival::Captured && self.pipeline.register_inputs {
            let message = "held inputs exclude --register-inputs, which captures them";
            problem("E0816", "--ii-input", message.into(), "leave one of them out");
        }
        let leave = "leave it out, or accept a sample every clock (without --ii)";
        let not_yet = [("--assume-intervals", self.optimisation.assume_intervals)];
        for (flag, _) in not_yet.into_iter().filter(|(_, given)| *given) {
            problem("E0816", flag, "does not go with --ii yet".into(), leave);
        }
        problems
    }

    /// Rejects an initiation interval other than 1 together with an option or command that does not support it.
    ///
    /// # Errors
    /// `E0816` if the initiation interval is not 1.
    pub fn require_ii_one(&self, asked: &str) -> Result<(), Diagnostics> {
        match self.interval() {
            None => Ok(()),
            Some(_) => {
                let message =
                    format!("{asked} requires hardware that accepts a sample every clock, and --ii shares hardware");
                let help = "leave one of the two out; `info --ii 1,2,4` compares intervals";
                Err(Diagnostic::error("E0816", Place::Flag("--ii".into()), message).with_help(help).into())
            }
        }
    }
}

impl<'d> SharedHardware<'d> {
    /// Returns the percentage of the program's estimated logic that is shared.
    pub fn shared(&self) -> f64 {
        match &self.plan {
            SharingPlan::Fold(plan) => plan.shared(),
            SharingPlan::Serial(..) => serial::shared(&self.program),
        }
    }

    /// Rejects a plan that exceeds the requested latency or shares less logic than requested.
    fn within(&self, spec: &Spec) -> Result<(), Error> {
        let (interval, latency, share) = (self.plan.interval(), self.plan.latency(), self.shared());
        if let Some(least) = spec.pipeline.least_share.filter(|least| share < *least) {
            let message = format!("{share:.1} % of the logic share hardware with --ii {interval}, less than {least} %");
            let help = "use another interval or a smaller share; `alir2hdl info --ii 2,4,8` shows what would be shared";
            let place = Place::Flag("--ii-share".into());
            return Err(Error::request(Diagnostic::error("E0815", place, message).with_help(help)));
        }
        if let Some(most) = spec.pipeline.max_latency.filter(|most| latency > *most) {
            let help = match &self.plan {
                SharingPlan::Fold(plan) => {
                    let least = reuse::Figures::new(&self.program, plan).latency_at_least;
                    format!("use {latency}; no plan of these blocks has less than {least}")
                }
                SharingPlan::Serial(..) => format!("use {latency}, or --ii-engine fold"),
            };
            let message = format!(
                "with --ii {interval} the smallest latency found is {}, more than {most}",
                counted(latency, "clock")
            );
            let place = Place::Flag("--max-latency".into());
            return Err(Error::request(Diagnostic::error("E0819", place, message).with_help(help)));
        }
        Ok(())
    }

    /// Returns the smallest tried interval whose estimate is within a budget. Each interval up to 16 is tried, then the
    /// interval grows by a sixteenth per step, up to the maximum latency.
    ///
    /// # Errors
    /// If no tried interval is within the budget, or if other options are invalid.
    pub(super) fn smallest_interval_within(source: &Model, spec: &Spec, budget: Budget) -> Result<u32, Error> {
        /// Number of operations that are planned and lowered before the search gives up.
        const WORK: usize = 20_000_000;
        let mut work = WORK;
        let mut tried: Vec<String> = Vec::new();
        let mut best: Option<(u64, u32)> = None;
        let mut refused = None;
        let mut interval = 1;
        while interval <= MAX_INTERVAL && work > 0 {
            work = work.saturating_sub(source.nodes().len() + 1);
            let mut one = spec.clone();
            one.pipeline.budget = None;
            one.pipeline.interval = Some(interval);
            match super::model(source, &one) {
                Ok(hardware) => {
                    let estimate = hardware.estimate();
                    let within = |most: Option<u64>, taken: u64| most.is_none_or(|most| taken <= most);
                    if within(budget.luts, estimate.lut) && within(budget.ffs, estimate.ff) {
                        return Ok(interval);
                    }
                    tried.push(format!("{interval}: {} LUT, {} FF", estimate.lut, estimate.ff));
                    best = best.min(Some((estimate.lut, interval))).or(Some((estimate.lut, interval)));
                }
                Err(why) if why.kind == super::ErrorKind::Request => refused = refused.or(Some(why)),
                Err(why) => return Err(why),
            }
            interval += (interval / 16).max(1);
        }
        let Some((luts, at)) = best else { return Err(refused.expect("something was tried")) };
        let shown = (tried.len().div_ceil(12)).max(1);
        let table: Vec<&str> = tried.iter().step_by(shown).map(String::as_str).collect();
        let message = format!("no tried interval is within the budget; {}", table.join("; "));
        let help = format!("the smallest estimate of all {} is {luts} LUT, with --ii {at}: allow more", tried.len());
        Err(Error::request(Diagnostic::error("E0818", Place::Flag("--ii".into()), message).with_help(help)))
    }

    /// Plans the time-multiplexed hardware of a program. Returns `None` if all outputs are constant, as constants need
    /// no cycle.
    ///
    /// # Errors
    /// If a named pass does not exist, a block cannot be partitioned as finely as the clock requires, or the requested
    /// engine cannot implement the program; if the checker objects to the plan, which is an internal error.
    pub(super) fn new(source: &'d Model, spec: &Spec, interval: u32) -> Result<Option<SharedHardware<'d>>, Error> {
        if spec.optimisation.retime.is_some() {
            let message = "--retime requires a state machine: a program has no registers of its own";
            let place = Place::Flag("--retime".into());
            return Err(Error::request(Diagnostic::error("E0804", place, message).with_help("leave it out")));
        }
        let after = passes_after(spec)?;
        let before = match spec.optimisation.passes {
            Passes::Level(1..) => BEFORE,
            _ => &["dce"],
        };
        let program = passes::run(source, before).0;
        let free = reuse::free(&program);
        let sources = program.outputs().iter().filter_map(|output| output.source);
        if sources.into_iter().all(|v| reuse::origin(&program, &free, v).base.is_none()) {
            return Ok(None);
        }
        let engine = spec.pipeline.engine;
        let hard_to_prove = multiplies_in_logic(&program, spec);
        let serial = match engine {
            Engine::Fold | Engine::Mixed => None,
            Engine::Auto if hard_to_prove || spec.pipeline.arrival == Arrival::Beats => None,
            Engine::Auto if program.nodes().len() > SERIAL_OPERATIONS => None,
            Engine::Auto | Engine::Serial => Some(Self::serial(source, spec, interval, &after, before)),
        };
        let (serial, serial_from) = match serial {
            Some(Ok(Ok(serial))) => (Some(serial.within(spec).map(|()| serial)), None),
            Some(Ok(Err(refusal))) if engine == Engine::Serial => return Err(not_serial(interval, &refusal)),
            Some(Ok(Err(Refusal::NeedsInterval(from)))) => (None, Some(from)),
            Some(Err(why)) => (Some(Err(why)), None),
            Some(Ok(Err(Refusal::Operation(_)))) | None => (None, None),
        };
        if engine == Engine::Serial {
            return serial.transpose();
        }
        let serial = match serial {
            Some(Err(why)) if why.kind == ErrorKind::Bug => return Err(why),
            serial => serial.and_then(Result::ok),
        };
        let folded = |bit_by_bit: bool| {
            let fold = Self::folded(source, &program, spec, interval, (&after, bit_by_bit));
            fold.and_then(|fold| fold.within(spec).map(|()| SharedHardware { serial_from, ..fold }))
        };
        let tries_mixed = match engine {
            Engine::Mixed => return folded(true).map(Some),
            Engine::Fold => false,
            Engine::Auto | Engine::Serial => {
                let multiplies = program.nodes().iter().any(|node| matches!(node.op, Op::Mul { .. }));
                program.nodes().len() <= SERIAL_OPERATIONS && !multiplies
            }
        };
        let fold = folded(false);
        // Without a bit-serial part the result equals `fold`.
        let mixed = tries_mixed.then(|| folded(true));
        let mixed = match mixed {
            Some(Err(why)) if why.kind == ErrorKind::Bug => return Err(why),
            mixed => {
                mixed.and_then(Result::ok).filter(|mixed| mixed.fold().is_some_and(|plan| !plan.regions.is_empty()))
            }
        };
        let fold = match fold {
            Err(why) if why.kind == ErrorKind::Bug || (serial.is_none() && mixed.is_none()) => return Err(why),
            fold => fold.ok(),
        };
        // Selects the first candidate with the fewest LUTs. The mixed engine needs more time for search and proof, so
        // it is selected only if it saves a twentieth of the LUTs.
        let mut best: Option<(u64, SharedHardware<'d>)> = None;
        for (one, weight) in fold.into_iter().chain(serial).map(|one| (one, 20)).chain(mixed.map(|one| (one, 21))) {
            let tables = spec.estimate(&one.netlist(spec, "model")?).lut * weight;
            if best.as_ref().is_none_or(|(least, _)| tables < *least) {
                best = Some((tables, one));
            }
        }
        Ok(best.map(|(_, one)| one))
    }

    /// Returns the program as bit-serial hardware; the inner error states why that is impossible.
    fn serial(
        source: &'d Model,
        spec: &Spec,
        interval: u32,
        passes: &[&str],
        light: &[&str],
    ) -> Result<Result<SharedHardware<'d>, Refusal>, Error> {
        let program = serial::sums_of_two(&passes::run(source, passes).0);
        let graph = serial::graph(&program);
        let plan = match serial::plan(&graph, interval, &graph.arrivals(spec.pipeline.arrival == Arrival::Held)) {
            Ok(plan) if spec.pipeline.register_outputs => plan.with_registered_outputs(),
            Ok(plan) => plan,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let checked = serial::check(&graph, &plan);
        checked.map_err(|why| bug(diagnostic(format!("the bit-serial plan of --ii {interval} is wrong: {why}"))))?;
        let machine = serial::machine(&program, &graph, &plan, &spec.with_ready("model"));
        let machine = machine.with_blocks(|model| passes::run(model, light).0);
        let plan = SharingPlan::Serial(graph, plan);
        let optimised_by = static_names(passes);
        let joined_by = Vec::new();
        let reused = SharedHardware { source, program, plan, serial_from: None, optimised_by, joined_by, machine };
        if spec.clock.period.or(spec.pipeline.max_stage_delay).is_some() {
            let mut whole = spec.clone();
            whole.pipeline = Pipeline {
                interval: None,
                effort: Effort::Fast,
                register_inputs: false,
                register_outputs: false,
                ..whole.pipeline
            };
            match spec.clock.period.filter(|_| spec.delay_model() == DelayModel::Device) {
                Some(period) => {
                    // Rejects a clock that even a wire does not meet.
                    whole.stages_of(&wire())?;
                    let found = spec.estimate(&reused.netlist(spec, "model")?).period_ns;
                    if found > period {
                        return Err(too_slow(&spec.clock, interval, found));
                    }
                }
                // Rejects an operation that is slower than the largest stage delay.
                None => drop(whole.stages_of(&reused.program)?),
            }
        }
        Ok(Ok(reused))
    }

    /// Returns the program with resource sharing between equal parts. With `bit_by_bit`, other parts may be bit-serial.
    fn folded(
        source: &'d Model,
        program: &Model,
        spec: &Spec,
        interval: u32,
        (after, bit_by_bit): (&[&str], bool),
    ) -> Result<SharedHardware<'d>, Error> {
        let optimise = |block: &Model| passes::run(block, after).0;
        let inputs = &spec.inputs(program, interval)?;
        let optimise = &optimise as &dyn Fn(&Model) -> Model;
        let by_parts = bit_by_bit.then_some(optimise);
        let mut engines = Engines { inputs, optimise: by_parts, bit_by_bit, chosen_before: false };
        let mut block = spec.clone();
        block.pipeline = Pipeline {
            interval: None,
            effort: Effort::Fast,
            // The plan provides the registers around blocks and at ports.
            register_inputs: false,
            register_outputs: false,
            ..block.pipeline
        };
        let period = spec.clock.period.filter(|_| spec.delay_model() == DelayModel::Device);
        let mut best = f64::INFINITY;
        // Fraction of the clock period for which blocks are partitioned. It decreases because the wires of the whole
        // design are longer than those of a single block.
        let mut part: f64 = 1.0;
        for round in 0..ROUNDS {
            let stages = |template: &Model| {
                // Uses a larger fraction if a single operation exceeds the first fraction.
                let mut tighter = [part, part.powf(2.0 / 3.0), part.cbrt()].into_iter().filter(|_| part < 1.0);
                let cut = tighter.find_map(|part| {
                    let clock = Clock { period: period.map(|period| period * part), ..block.clock };
                    Spec { clock, ..block.clone() }.stages_of(template).ok()
                });
                cut.map_or_else(|| block.stages_of(template), Ok)
            };
            let (anew, made) = match reuse::plan(program, interval, &engines, stages) {
                Ok(plan) => plan,
                // An operation is slower than the clock. After optimisation it may consist of faster operations.
                Err(_) if round == 0 && !bit_by_bit => {
                    engines.optimise = Some(optimise);
                    continue;
                }
                Err(why) if best.is_infinite() && engines.chosen_before => return Err(why),
                // The clock period leaves no time for a block's first stage: a register is placed before it.
                Err(_) if !engines.chosen_before => {
                    engines.chosen_before = true;
                    block.pipeline.input_delay = spec.pipeline.input_delay;
                    continue;
                }
                Err(_) => break,
            };
            let program = anew.as_ref().unwrap_or(program);
            let plan = if spec.pipeline.register_outputs { made.with_registered_outputs() } else { made };
            let checked = reuse::check(program, &plan);
            checked.map_err(|why| bug(diagnostic(format!("the plan of --ii {interval} is wrong: {why}"))))?;
            let machine = reuse::machine(program, &plan, &spec.with_ready("model"));
            // Parts that are optimised separately are joined unchanged: their gates are those of
            // [`SharedHardware::steps`].
            let joined = if engines.optimise.is_some() { JOINED } else { after };
            let machine = machine.with_blocks(|model| passes::run(model, joined).0);
            let plan = SharingPlan::Fold(plan);
            let optimised_by = engines.optimise.map_or_else(Vec::new, |_| static_names(after));
            let joined_by = static_names(joined);
            let program = program.clone();
            let reused = SharedHardware { source, program, plan, serial_from: None, optimised_by, joined_by, machine };
            let Some(period) = period else { return Ok(reused) };
            let found = spec.estimate(&reused.netlist(spec, "model")?).period_ns;
            if found <= period {
                return Ok(reused);
            }
            best = best.min(found);
            let as_asked = part == 1.0 && block.pipeline.input_delay == spec.pipeline.input_delay;
            if as_asked && !engines.chosen_before {
                // The partition of a block does not account for the multiplexers before it.
                block.pipeline.input_delay += found - period;
            } else if round < CHOSEN_BEFORE || engines.chosen_before {
                part *= (period / found).clamp(0.7, 0.94);
            } else {
                engines.chosen_before = true;
                block.pipeline.input_delay = spec.pipeline.input_delay;
            }
        }
        Err(too_slow(&spec.clock, interval, best))
    }

    /// Returns the netlist called `top`, validated by the independent checker.
    ///
    /// # Errors
    /// If the checker objects, which is an internal error.
    pub(super) fn lower(&self, spec: &Spec, top: &str) -> Result<(Netlist, Option<Axis>), Error> {
        let netlist = self.netlist(spec, top)?;
        let axis = spec.wrapped(&netlist, top)?;
        Ok((netlist, axis))
    }

    /// Builds the netlist without checking it.
    fn netlist(&self, spec: &Spec, top: &str) -> Result<Netlist, Error> {
        let (interval, latency) = (self.plan.interval(), self.plan.latency());
        let inputs = match &self.plan {
            SharingPlan::Fold(plan) => plan.inputs.clone(),
            SharingPlan::Serial(..) => spec.inputs(&self.program, interval)?,
        };
        let options = spec.with_ready(top);
        let at_ports = inputs.at_ports(self.program.input_kifs(), interval);
        let mut netlist = lower_reused(&self.machine, &options, (interval, latency), at_ports);
        // The prover recognises the program by this line.
        let how = match &self.plan {
            SharingPlan::Serial(..) => Some((self.program.nodes().len(), BIT_BY_BIT.to_owned())),
            SharingPlan::Fold(_) => {
                let program = self.with_parts_bit_by_bit();
                program.map(|program| (program.nodes().len(), format!("{IN_PART} {BIT_BY_BIT}")))
            }
        };
        if let Some((count, how)) = how {
            netlist.add_header_line(format!("{top}: {count} operation{}, {how}", if count == 1 { "" } else { "s" }));
        }
        if let SharingPlan::Fold(plan) = &self.plan {
            netlist.add_before_elements(self.phase_table(plan));
        }
        netlist.check().map_err(|found| bug(Diagnostics(found)))?;
        Ok(netlist)
    }

    /// Returns the intermediate programs between the source and the function of the hardware, with the names of the
    /// registers that contain values of the last program. They are an untrusted hint for the prover.
    ///
    /// In a plan with blocks, the first program has the original operations of each block, and each further program has
    /// the blocks after one more pass, as the result of all passes may differ much from the original. With resource
    /// sharing, the last programs are the logic unrolled over the cycles of one sample, after each pass on the whole
    /// logic.
    pub fn steps(&self, spec: &Spec) -> Steps {
        let plan = match &self.plan {
            SharingPlan::Serial(..) => {
                let optimised = steps::pass_steps(self.source, &self.optimised_by);
                return steps::with_sums_of_two(self.source, optimised.programs);
            }
            SharingPlan::Fold(plan) => plan,
        };
        let mut programs = vec![self.program.clone()];
        let mut add = |parts: &[&Model]| {
            let (program, given) = reuse::program_of(&self.program, plan, parts);
            if programs.last() != Some(&program) {
                programs.push(program);
            }
            given
        };
        let (specified, implemented) = (plan.specification_blocks(), plan.implementation_blocks());
        add(&specified);
        let mut parts: Vec<Cow<'_, Model>> = specified.iter().copied().map(Cow::Borrowed).collect();
        for pass in self.optimised_by.iter().filter_map(|name| passes::find(name)) {
            let mut typed = Vec::with_capacity(parts.len());
            for ((part, specified), implemented) in parts.iter_mut().zip(&specified).zip(&implemented) {
                // A block whose implementation equals its specification was not optimised.
                if specified != implemented {
                    *part = Cow::Owned(pass.apply(part, passes::Trust::Types));
                }
                let is_unchanged = specified == implemented;
                typed.push(if is_unchanged { part.clone() } else { Cow::Owned(reuse::typed(part, specified)) });
            }
            add(&typed.iter().map(|part| &**part).collect::<Vec<_>>());
        }
        let given = add(&implemented);
        // Names of the registers that contain these values.
        let name = |v: ValueId| format!("v{}", self.program.node(v).origin);
        let mut names = given.into_iter().map(|(v, made)| (name(v), made.0)).collect();
        let unrolled = self.unrolled(spec);
        if !unrolled.is_empty() {
            // Values of unrolled programs exist in single cycles, and no signal is named after them.
            names = rustc_hash::FxHashMap::default();
            programs.extend(unrolled);
        }
        Steps { programs, names, ..Steps::default() }
    }

    /// Returns the logic of shared instances unrolled over the cycles of one sample: as planned, and after each pass on
    /// the whole logic. These are intermediate programs between the plan and the RTL. Empty if results are collected
    /// bit-serially.
    pub fn unrolled(&self, spec: &Spec) -> Vec<Model> {
        let SharingPlan::Fold(plan) = &self.plan else { return Vec::new() };
        let options = spec.with_ready("model");
        let clocks = reuse::Clocks { inputs: &plan.inputs, interval: plan.interval, latency: plan.latency };
        let mut machine = reuse::machine(&self.program, plan, &options);
        let mut programs: Vec<Model> = Vec::new();
        let passes = self.joined_by.iter().filter_map(|name| passes::find(name)).map(Some);
        for pass in std::iter::once(None).chain(passes) {
            if let Some(pass) = pass {
                machine = machine.with_blocks(|model| pass.apply(model, passes::Trust::Types));
            }
            match reuse::unrolled(&self.program, &machine, &options, clocks) {
                Some(program) if programs.last() != Some(&program) => programs.push(program),
                _ => {}
            }
        }
        programs
    }

    /// Returns the program that the hardware computes; `None` if no part of it is bit-serial.
    fn with_parts_bit_by_bit(&self) -> Option<Model> {
        let SharingPlan::Fold(plan) = &self.plan else { return None };
        (!plan.regions.is_empty()).then(|| reuse::program_of(&self.program, plan, &plan.implementation_blocks()).0)
    }

    /// Returns the lines of the header comment that list the computations of each unit by cycle of a sample.
    fn phase_table(&self, plan: &Plan) -> Vec<String> {
        let name = |v: &ValueId| format!("v{}", self.program.node(*v).origin);
        let mut lines = vec![
            format!(
                "phase counts the clocks of a sample, 0 to {}; phase_is_P is 1 in phase P, at_K in several phases",
                plan.interval - 1
            ),
            "captured_E_sK holds input E, vN_sK the value of operation N; each K is one more sample".to_owned(),
            "names with a prefix before vN, and comments about them, number the nets of the logic, not operations"
                .to_owned(),
        ];
        let mut single = 0;
        let mut rows = Vec::new();
        for (number, group) in (1..).zip(&plan.groups) {
            let size = counted(group.template.nodes().len(), "operation");
            for unit in 0..group.units {
                let mut blocks: Vec<_> = group.instances.iter().filter(|block| block.unit == unit).collect();
                if blocks.len() < 2 {
                    single += blocks.len();
                    continue;
                }
                blocks.sort_by_key(|block| block.start);
                let shown = |block: &&reuse::Instance| match block.outputs.first() {
                    Some(v) => format!("{} {}", block.start, name(v)),
                    None => block.start.to_string(),
                };
                let starts: Vec<String> = blocks.iter().take(TABLE_BLOCKS).map(shown).collect();
                let more = match blocks.len().saturating_sub(TABLE_BLOCKS) {
                    0 => String::new(),
                    more => format!(", {more} more"),
                };
                rows.push(format!("  block {number}, unit {}, {size}: {}{more}", unit + 1, starts.join(", ")));
            }
        }
        for (number, region) in (1..).zip(&plan.regions) {
            let digit = counted(region.plan.digit as usize, "bit");
            let size = counted(region.implementation.nodes().len(), "operation");
            rows.push(format!("  bit-serial part {number}, {size}: {digit} a clock, {} clocks", region.clocks()));
        }
        if !rows.is_empty() {
            lines.push(
                "shared functional units: clock of the sample in which each reads its inputs, first result".to_owned(),
            );
        }
        let more = rows.len().saturating_sub(TABLE_ROWS);
        lines.extend(rows.into_iter().take(TABLE_ROWS));
        lines.extend((more > 0).then(|| format!("  {more} more")));
        lines.extend((single > 0).then(|| format!("not shared: {}", counted(single, "block"))));
        lines
    }

    /// Returns the name of the engine: `fold`, `serial`, or `mixed`.
    pub fn engine(&self) -> &'static str {
        match &self.plan {
            SharingPlan::Fold(plan) if plan.regions.is_empty() => "fold",
            SharingPlan::Fold(_) => "mixed",
            SharingPlan::Serial(..) => "serial",
        }
    }

    /// Returns the plan of shared units; `None` for bit-serial hardware.
    pub fn fold(&self) -> Option<&Plan> {
        match &self.plan {
            SharingPlan::Fold(plan) => Some(plan),
            SharingPlan::Serial(..) => None,
        }
    }

    /// Returns the facts about resource sharing for the interface file.
    pub(super) fn facts(&self) -> ReuseFacts {
        let bits = |kifs: &mut dyn Iterator<Item = Kif>| kifs.map(|kif| u64::from(kif.width())).sum();
        let group = |group: &Group| {
            let (template, outputs) = (&group.template, group.template.outputs().len());
            ReuseGroup {
                instances: group.instances.len(),
                copies: group.units,
                operations: template.nodes().len(),
                input_bits: bits(&mut template.input_kifs().iter().copied()),
                output_bits: bits(&mut (0..outputs).map(|j| template.output_kif(j))),
                clocks: (0..outputs).map(|j| Plan::output_latency(group, j)).max().unwrap_or(1),
            }
        };
        let region = |region: &Region| {
            let (template, outputs) = (&region.implementation, region.implementation.outputs().len());
            ReuseRegion {
                bits_per_clock: region.plan.digit,
                operations: template.nodes().len(),
                input_bits: bits(&mut template.input_kifs().iter().copied()),
                output_bits: bits(&mut (0..outputs).map(|j| template.output_kif(j))),
                clocks: region.clocks(),
            }
        };
        let tenths = |x: f64| (10.0 * x).round() / 10.0;
        match &self.plan {
            SharingPlan::Fold(plan) => ReuseFacts {
                engine: self.engine(),
                bits_per_clock: None,
                shared_percent: Some(tenths(plan.shared())),
                groups: plan.groups.iter().map(group).collect(),
                regions: plan.regions.iter().map(region).collect(),
            },
            SharingPlan::Serial(_, plan) => ReuseFacts {
                engine: self.engine(),
                bits_per_clock: Some(plan.digit),
                shared_percent: None,
                groups: Vec::new(),
                regions: Vec::new(),
            },
        }
    }

    /// Returns a summary of the hardware in one line.
    pub(super) fn summary(&self, netlist: &Netlist, axis: Option<&Axis>) -> String {
        let core = &netlist.interface;
        let core_bits = netlist.register_bits();
        let (top, registers, around) = match axis {
            None => (&core.top, core_bits, String::new()),
            Some(axis) => {
                let (top, latency) = (&core.top, core.latency);
                let around =
                    format!("; AXI4-Stream wrapper included; {top}: latency {latency}, {core_bits} register bits");
                (&axis.top, core_bits + axis.register_bits(), around)
            }
        };
        let sample_every = axis.map_or(core.initiation_interval, Axis::initiation_interval);
        let whole_latency = axis.map_or(core.latency, Axis::latency);
        let operations = counted(self.program.nodes().len(), "operation");
        let registers = counted(registers, "register bit");
        let Plan { groups, regions, .. } = match &self.plan {
            SharingPlan::Fold(plan) => plan,
            SharingPlan::Serial(graph, plan) => {
                let figures = serial::Figures::new(graph, plan);
                let bits = if plan.digit == 1 { "one bit".into() } else { format!("{} bits", plan.digit) };
                return format!(
                    "{top}: {operations}, a sample every {} clocks, latency {whole_latency}, {registers}; {bits} a \
                     clock: {}, \
                     {}{around}",
                    sample_every,
                    counted(figures.streams, "stream"),
                    counted(figures.full_adders, "full adder"),
                );
            }
        };
        let shared = groups.iter().filter(|group| (group.units as usize) < group.instances.len());
        let (mut blocks, mut units) = (0, 0);
        shared.for_each(|group| {
            blocks += group.instances.len();
            units += group.units;
        });
        let streams = match regions.iter().map(|region| region.implementation.nodes().len()).sum::<usize>() {
            0 => String::new(),
            serial => format!(", {} as bit-serial arithmetic", counted(serial, "operation")),
        };
        format!(
            "{top}: {operations}, a sample every {sample_every} clocks, latency {whole_latency}, {registers}; \
             {blocks} of \
             {} blocks share {}{streams}: {:.0} % of the logic is shared, {:.0} % is left before multiplexers{around}",
            groups.iter().map(|group| group.instances.len()).sum::<usize>(),
            counted(units, "unit"),
            self.fold().map_or(0.0, Plan::shared),
            self.fold().map_or(0.0, Plan::left),
        )
    }
}

/// Returns the passes that run on the planned hardware, or on the program before bit-serial planning.
///
/// # Errors
/// If a named pass does not exist.
pub(super) fn passes_after(spec: &Spec) -> Result<Vec<&str>, Error> {
    Ok(without_left_out(spec.passes(false)?))
}

/// Returns the registered names of the passes `names`.
fn static_names(names: &[&str]) -> Vec<&'static str> {
    names.iter().filter_map(|name| passes::find(name)).map(|pass| pass.name).collect()
}

/// Returns the passes of `names` that hardware with an interval supports.
pub(super) fn without_left_out<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    names.into_iter().filter(|name| *name != LEFT_OUT).collect()
}

impl Spec {
    fn with_ready(&self, top: &str) -> alir_hw::netlist::Options {
        alir_hw::netlist::Options { ready: true, ..self.core(top) }
    }

    /// Returns the stage of each operation of a block, from 0 on.
    fn stages_of(&self, template: &Model) -> Result<Vec<u32>, Error> {
        let outcome = self.schedule(template)?.outcome;
        let stage = |(node, &stage): (&alir_core::ir::Node, &u32)| match node.op {
            Op::Input { .. } | Op::Const { .. } => 0,
            _ => stage.max(1) - 1,
        };
        Ok(template.nodes().iter().zip(&outcome.schedule.stage).map(stage).collect())
    }
}

/// Returns `true` if a large product is built as rows of adders. The prover recognises such a product only by its whole
/// operands, which do not exist in bit-serial hardware; small products are proved exhaustively.
fn multiplies_in_logic(program: &Model, spec: &Spec) -> bool {
    /// Largest total width of both factors of a small product.
    const SMALL: u32 = 8;
    let wide = |node: &alir_core::ir::Node| match node.op {
        Op::Mul { a, b } => program.kif(a).width() + program.kif(b).width() > SMALL,
        _ => false,
    };
    spec.target.products == Products::Logic && program.nodes().iter().any(wide)
}

/// Returns a program that copies one bit.
fn wire() -> Model {
    let mut b = Builder::new(vec![0]);
    let x = b.op(Op::Input { input: 0 }, Interval::new(0, 1, 0));
    b.output(Output { source: Some(x), shift: 0, neg: false });
    b.finish().unwrap_or_else(|problems| panic!("a wire is a program: {:?}", problems.first()))
}

fn diagnostic(message: String) -> Diagnostic {
    let mut diagnostic = Diagnostic::error("E0816", Place::Flag("--ii".into()), message);
    diagnostic.severity = Severity::Bug;
    diagnostic
}

/// Returns the error that no plan meets the clock period.
fn too_slow(clock: &Clock, interval: u32, best: f64) -> Error {
    let message = format!("with --ii {interval} the shortest estimated period found is {} ns", four_digits(best));
    let help = format!("require {}", clock.bound(best));
    Error::request(Diagnostic::error("E0506", clock.place(), message).with_help(help))
}

/// Returns the error that bit-serial hardware is impossible.
fn not_serial(interval: u32, refusal: &Refusal) -> Error {
    let place = Place::Flag("--ii-engine".into());
    let fold = "use --ii-engine fold".to_owned();
    let (message, help) = match refusal {
        Refusal::NeedsInterval(from) => (
            format!(
                "--ii {interval} is too small for the widest value to go through bit by bit, {} bits a clock at most: \
                 that \
                 takes {from} clocks",
                serial::MAX_DIGIT
            ),
            if *from <= MAX_INTERVAL { format!("use --ii {from} or more, or --ii-engine fold") } else { fold },
        ),
        Refusal::Operation(what) => (format!("bit-serial arithmetic is impossible: {what}"), fold),
    };
    Error::request(Diagnostic::error("E0817", place, message).with_help(help))
}
