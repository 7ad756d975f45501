//! Programs that take a sample every few clocks ([`super::Pipeline::interval`]): planned, judged, lowered.

use super::spec::{DelayModel, Engine, Passes, Pipeline, Spec, Stages};
use super::{Error, ErrorKind, bug};
use crate::diag::{Diagnostic, Diagnostics, Place, Severity};
use crate::emit::{ReuseFacts, ReuseGroup};
use crate::ir::machine::Machine;
use crate::ir::{Model, Op};
use crate::netlist::{Netlist, lower_reused};
use crate::num::Kif;
use crate::passes;
use crate::reuse::serial::{self, Graph, Refusal};
use crate::reuse::{self, Group, MAX_INTERVAL, Plan};
use crate::schedule::Effort;

/// Passes before blocks are looked for: those that do the same to equal parts of a program.
const BEFORE: &[&str] = &["dce", "simplify", "cse", "dce"];

/// Plans that are made until one meets the clock.
const ROUNDS: u32 = 6;

/// Operations from which on a program is not looked at bit by bit unless that is asked for.
const SERIAL_OPERATIONS: usize = 50_000;

/// What the head of a text says where values go through bit by bit.
pub(super) const BIT_BY_BIT: &str = "bit by bit";

/// Who shares which hardware, and when.
#[derive(Clone, Debug)]
pub enum Planned {
    /// Equal parts of the program share copies.
    Fold(Plan),
    /// Values go through bit by bit.
    Serial(Graph, serial::Plan),
}

/// A program with its plan.
#[derive(Clone, Debug)]
pub struct Reused<'d> {
    /// As it was handed in.
    pub source: &'d Model,
    /// As it was planned.
    pub program: Model,
    /// Who shares which hardware, and when.
    pub plan: Planned,
    /// The smallest interval at which values can go through bit by bit, where this one is smaller.
    pub serial_from: Option<u32>,
    /// The plan as a state machine, its logic optimised.
    machine: Machine,
}

impl Planned {
    /// A sample every so many clocks, and the clocks until its result.
    pub fn times(&self) -> (u32, u32) {
        match self {
            Planned::Fold(plan) => (plan.interval, plan.latency),
            Planned::Serial(_, plan) => (plan.interval, plan.latency),
        }
    }
}

impl Spec {
    /// Clocks between two samples, where that is not one.
    pub fn interval(&self) -> Option<u32> {
        self.pipeline.interval.filter(|&interval| interval != 1)
    }

    /// What does not go with [`Spec::interval`].
    pub(super) fn interval_problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut problem = |code, flag: &str, message: String, help: &str| {
            problems.push(Diagnostic::error(code, Place::Flag(flag.into()), message).with_help(help));
        };
        let Some(interval) = self.interval() else { return problems };
        if interval == 0 || interval > MAX_INTERVAL {
            let help = format!("ask for 1 to {MAX_INTERVAL}; 1 is a new sample every clock");
            problem("E0810", "--ii", format!("{interval} is no interval"), &help);
        }
        if let Some(Stages::Exactly(_)) = self.pipeline.stages {
            let help =
                "leave it out: the latency is a result; --clock-period or --max-stage-delay cut what takes too long";
            problem("E0816", "--pipeline", "a number of stages does not go with --ii".into(), help);
        }
        let leave = "leave it out, or take a sample every clock (without --ii)";
        let not_yet = [
            ("--register-inputs", self.pipeline.register_inputs),
            ("--register-outputs", self.pipeline.register_outputs),
            ("--use-dsp", self.target.products != super::Products::Auto),
            ("--wrapper", self.wrapper.is_some()),
            ("--assume-intervals", self.optimisation.assume_intervals),
        ];
        for (flag, _) in not_yet.into_iter().filter(|(_, given)| *given) {
            problem("E0816", flag, "does not go with --ii yet".into(), leave);
        }
        problems
    }

    /// Refuses an interval beside something that does not know it yet.
    ///
    /// # Errors
    /// `E0816` if a sample shall not be taken every clock.
    pub fn every_clock(&self, asked: &str) -> Result<(), Diagnostics> {
        match self.interval() {
            None => Ok(()),
            Some(_) => {
                let message =
                    format!("{asked} shows hardware that takes a sample every clock; --ii is not known there yet");
                let help = "leave it out; the main job, `verify` and `prove` take it";
                Err(Diagnostic::error("E0816", Place::Flag("--ii".into()), message).with_help(help).into())
            }
        }
    }
}

impl<'d> Reused<'d> {
    /// Plans a program; nothing if it computes constants alone, which take no clock.
    ///
    /// # Errors
    /// If a pass that was named does not exist, a block cannot be cut as short as the clock asks, or the engine that is
    /// asked for cannot do it; if the checker objects to the plan, which is our mistake.
    pub(super) fn of(source: &'d Model, spec: &Spec, interval: u32) -> Result<Option<Reused<'d>>, Error> {
        if spec.optimisation.retime.is_some() {
            let message = "--retime does not go with a program, which has no registers of its own";
            let place = Place::Flag("--retime".into());
            return Err(Error::request(Diagnostic::error("E0804", place, message).with_help("leave it out")));
        }
        let after = spec.passes(false)?;
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
        let small = program.nodes().len() <= SERIAL_OPERATIONS;
        let wanted = engine == Engine::Serial || (engine == Engine::Auto && small);
        let (serial, refusal) = match wanted.then(|| Self::serial(source, spec, interval, &after, before)) {
            None => (None, None),
            Some(Ok(Ok(serial))) => (Some(serial), None),
            Some(Ok(Err(refusal))) => (None, Some(refusal)),
            Some(Err(why)) if engine == Engine::Serial || why.kind == ErrorKind::Bug => return Err(why),
            Some(Err(_)) => (None, None),
        };
        if engine == Engine::Serial {
            return match (serial, refusal) {
                (Some(serial), _) => Ok(Some(serial)),
                (None, refusal) => Err(not_serial(interval, refusal)),
            };
        }
        let serial_from = match refusal {
            Some(Refusal::NeedsInterval(from)) => Some(from),
            _ => None,
        };
        let fold = Self::folded(source, program, spec, interval, &after);
        Ok(Some(match (fold, serial) {
            (Ok(fold), None) => Reused { serial_from, ..fold },
            (Ok(fold), Some(serial)) => {
                let tables = |one: &Reused<'_>| Ok::<_, Error>(spec.estimate(&one.lower(spec, "model")?).lut);
                if tables(&serial)? < tables(&fold)? { serial } else { fold }
            }
            (Err(why), Some(serial)) if why.kind != ErrorKind::Bug => serial,
            (Err(why), _) => return Err(why),
        }))
    }

    /// The program with values that go through bit by bit.
    fn serial(
        source: &'d Model,
        spec: &Spec,
        interval: u32,
        passes: &[&str],
        light: &[&str],
    ) -> Result<Result<Reused<'d>, Refusal>, Error> {
        // What is longer than a stage by itself cannot be done in a clock either.
        let program = serial::sums_of_two(&passes::run(source, passes).0);
        let graph = serial::graph(&program);
        let plan = match serial::plan(&graph, interval) {
            Ok(plan) => plan,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let judged = serial::check(&graph, &plan);
        judged.map_err(|why| bug(diagnostic(format!("the bit-serial plan of --ii {interval} is wrong: {why}"))))?;
        let machine = serial::machine(&program, &graph, &plan, &spec.with_ready("model"));
        let machine = machine.with_blocks(|model| passes::run(model, light).0);
        let plan = Planned::Serial(graph, plan);
        let reused = Reused { source, program, plan, serial_from: None, machine };
        if let Some(period) = spec.clock.period.filter(|_| spec.delay_model() == DelayModel::Device) {
            let found = spec.estimate(&reused.lower(spec, "model")?).period_ns;
            if found > period {
                return Err(too_slow(interval, found));
            }
        } else if spec.clock.period.or(spec.pipeline.max_stage_delay).is_some() {
            let mut whole = spec.clone();
            whole.pipeline = Pipeline { interval: None, effort: Effort::Fast, ..whole.pipeline };
            whole.stages_of(&reused.program)?;
        }
        Ok(Ok(reused))
    }

    /// The program with equal parts that share copies.
    fn folded(
        source: &'d Model,
        program: Model,
        spec: &Spec,
        interval: u32,
        after: &[&str],
    ) -> Result<Reused<'d>, Error> {
        let mut block = spec.clone();
        block.pipeline = Pipeline { interval: None, effort: Effort::Fast, ..block.pipeline };
        let period = spec.clock.period.filter(|_| spec.delay_model() == DelayModel::Device);
        let mut best = f64::INFINITY;
        for round in 0..ROUNDS {
            let plan = match reuse::plan(&program, interval, |template| block.stages_of(template)) {
                Ok(plan) => plan,
                Err(why) if round == 0 => return Err(why),
                // Nothing is left of the clock for a block's first stage.
                Err(_) => break,
            };
            let judged = reuse::check(&program, &plan);
            judged.map_err(|why| bug(diagnostic(format!("the plan of --ii {interval} is wrong: {why}"))))?;
            let machine = reuse::machine(&program, &plan, &spec.with_ready("model"));
            let machine = machine.with_blocks(|model| passes::run(model, after).0);
            let plan = Planned::Fold(plan);
            let reused = Reused { source, program: program.clone(), plan, serial_from: None, machine };
            let Some(period) = period else { return Ok(reused) };
            // Blocks are cut as if nothing stood before them; multiplexers do.
            let found = spec.estimate(&reused.lower(spec, "model")?).period_ns;
            if found <= period {
                return Ok(reused);
            }
            best = best.min(found);
            block.pipeline.input_delay += found - period;
        }
        Err(too_slow(interval, best))
    }

    /// The netlist called `top`, judged by the independent checker.
    ///
    /// # Errors
    /// If the checker objects, which is our mistake.
    pub(super) fn lower(&self, spec: &Spec, top: &str) -> Result<Netlist, Error> {
        let (interval, latency) = self.plan.times();
        let mut netlist = lower_reused(&self.machine, &spec.with_ready(top), latency, interval);
        if let Planned::Serial(..) = &self.plan {
            // Who proves the text finds the program by this line.
            let count = self.program.nodes().len();
            netlist
                .header
                .insert(1, format!("{top}: {count} operation{}, {BIT_BY_BIT}", if count == 1 { "" } else { "s" }));
        }
        netlist.check().map_err(|found| bug(Diagnostics(found)))?;
        Ok(netlist)
    }

    /// The plan, where equal parts share copies.
    pub fn fold(&self) -> Option<&Plan> {
        match &self.plan {
            Planned::Fold(plan) => Some(plan),
            Planned::Serial(..) => None,
        }
    }

    /// What the interface file says of who shares what.
    pub(super) fn facts(&self) -> ReuseFacts {
        let bits = |kifs: &mut dyn Iterator<Item = Kif>| kifs.map(|kif| u64::from(kif.width())).sum();
        let group = |group: &Group| {
            let (template, outputs) = (&group.template, group.template.outputs().len());
            ReuseGroup {
                instances: group.instances.len(),
                copies: group.copies,
                operations: template.nodes().len(),
                input_bits: bits(&mut template.input_kifs().iter().copied()),
                output_bits: bits(&mut (0..outputs).map(|j| template.output_kif(j))),
                clocks: (0..outputs).map(|j| Plan::made_after(group, j)).max().unwrap_or(1),
            }
        };
        let tenths = |x: f64| (10.0 * x).round() / 10.0;
        match &self.plan {
            Planned::Fold(plan) => ReuseFacts {
                engine: "fold",
                bits_per_clock: None,
                shared_percent: Some(tenths(plan.shared())),
                groups: plan.groups.iter().map(group).collect(),
            },
            Planned::Serial(_, plan) => ReuseFacts {
                engine: "serial",
                bits_per_clock: Some(plan.digit),
                shared_percent: None,
                groups: Vec::new(),
            },
        }
    }

    /// One line about what was made.
    pub(super) fn summary(&self, netlist: &Netlist) -> String {
        let Plan { interval, latency, groups, .. } = match &self.plan {
            Planned::Fold(plan) => plan,
            Planned::Serial(graph, plan) => {
                let streams = plan.streams.iter().flatten().count();
                let sum = |(node, stream): (&serial::Node, &Option<_>)| {
                    stream.is_some() && matches!(node.kind, serial::Kind::Sum { .. })
                };
                let bits = if plan.digit == 1 { "one bit".into() } else { format!("{} bits", plan.digit) };
                return format!(
                    "{}: {} operations, a sample every {} clocks, latency {}, {} register bits; {bits} a clock: {streams} \
                     streams, {} full adders",
                    netlist.interface.top,
                    self.program.nodes().len(),
                    plan.interval,
                    plan.latency,
                    netlist.register_bits(),
                    plan.digit as usize * graph.nodes.iter().zip(&plan.streams).filter(|&pair| sum(pair)).count(),
                );
            }
        };
        let shared = groups.iter().filter(|group| (group.copies as usize) < group.instances.len());
        let (mut blocks, mut copies) = (0, 0);
        shared.for_each(|group| {
            blocks += group.instances.len();
            copies += group.copies;
        });
        format!(
            "{}: {} operations, a sample every {interval} clocks, latency {latency}, {} register bits; {blocks} of {} blocks \
             share {copies} copies: {:.0} % of the logic is shared, {:.0} % is left before multiplexers",
            netlist.interface.top,
            self.program.nodes().len(),
            netlist.register_bits(),
            groups.iter().map(|group| group.instances.len()).sum::<usize>(),
            self.fold().map_or(0.0, Plan::shared),
            self.fold().map_or(0.0, Plan::left),
        )
    }
}

impl Spec {
    fn with_ready(&self, top: &str) -> crate::netlist::Options {
        crate::netlist::Options { ready: true, ..self.core(top) }
    }

    /// For each operation of a block, in which of its stages it is computed, from 0 on.
    fn stages_of(&self, template: &Model) -> Result<Vec<u32>, Error> {
        let outcome = self.schedule(template)?.outcome;
        let stage = |(node, &stage): (&crate::ir::Node, &u32)| match node.op {
            Op::Input { .. } | Op::Const { .. } => 0,
            _ => stage.max(1) - 1,
        };
        Ok(template.nodes().iter().zip(&outcome.schedule.stage).map(stage).collect())
    }
}

fn diagnostic(message: String) -> Diagnostic {
    let mut diagnostic = Diagnostic::error("E0816", Place::Flag("--ii".into()), message);
    diagnostic.severity = Severity::Bug;
    diagnostic
}

/// The complaint that nothing was found that meets the clock.
fn too_slow(interval: u32, best: f64) -> Error {
    let message = format!("with --ii {interval} the shortest period that was found is {best:.2} ns by the estimate");
    let help = format!("ask for --clock-period {}", (100.0 * best).ceil() / 100.0);
    Error::request(Diagnostic::error("E0506", Place::Flag("--clock-period".into()), message).with_help(help))
}

/// The complaint that values cannot go through bit by bit.
fn not_serial(interval: u32, refusal: Option<Refusal>) -> Error {
    let place = Place::Flag("--ii-engine".into());
    let fold = "ask for --ii-engine fold".to_owned();
    let (message, help) = match refusal {
        Some(Refusal::NeedsInterval(from)) => (
            format!(
                "--ii {interval} is too small for the widest value to go through bit by bit, {} bits a clock at most: that \
                 takes {from} clocks",
                serial::MAX_DIGIT
            ),
            if from <= MAX_INTERVAL { format!("ask for --ii {from} or more, or for --ii-engine fold") } else { fold },
        ),
        Some(other) => (format!("values cannot go through bit by bit: {other}"), fold),
        None => ("values cannot go through bit by bit".into(), fold),
    };
    Error::request(Diagnostic::error("E0817", place, message).with_help(help))
}
