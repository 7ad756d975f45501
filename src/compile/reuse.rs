//! Programs that take a sample every few clocks ([`super::Pipeline::interval`]): planned, judged, lowered.

use super::spec::{Budget, DelayModel, Passes, Pipeline, Spec, Stages};
use super::{Error, bug};
use crate::diag::{Diagnostic, Diagnostics, Place, Severity};
use crate::emit::axis::Axis;
use crate::emit::{ReuseFacts, ReuseGroup};
use crate::ir::machine::Machine;
use crate::ir::{Model, Op};
use crate::netlist::{Netlist, lower_reused};
use crate::num::Kif;
use crate::passes;
use crate::reuse::{self, Group, MAX_INTERVAL, Plan};
use crate::schedule::Effort;

/// Passes before blocks are looked for: those that do the same to equal parts of a program.
const BEFORE: &[&str] = &["dce", "simplify", "cse", "dce"];

/// Plans that are made until one meets the clock.
const ROUNDS: u32 = 6;

/// A program with its plan.
#[derive(Clone, Debug)]
pub struct Reused<'d> {
    /// As it was handed in.
    pub source: &'d Model,
    /// As it was planned.
    pub program: Model,
    /// Who shares which hardware, and when.
    pub plan: Plan,
    /// The plan as a state machine, its logic optimised.
    machine: Machine,
}

impl Spec {
    /// Clocks between two samples, where that is not one.
    pub fn interval(&self) -> Option<u32> {
        self.pipeline.interval.filter(|&interval| interval != 1)
    }

    /// Whether hardware is to be used again and again for one sample.
    pub(super) fn takes_turns(&self) -> bool {
        self.interval().is_some() || self.pipeline.budget.is_some()
    }

    /// What does not go with [`Spec::interval`].
    pub(super) fn interval_problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut problem = |code, flag: &str, message: String, help: &str| {
            problems.push(Diagnostic::error(code, Place::Flag(flag.into()), message).with_help(help));
        };
        if !self.pipeline.compared.is_empty() {
            let help = "ask for one; `alir2hdl info` compares several";
            problem("E0810", "--ii", "several intervals are given".into(), help);
            return problems;
        }
        if !self.takes_turns() {
            return problems;
        }
        let budget = self.pipeline.budget;
        match (budget, self.pipeline.interval) {
            (Some(Budget { luts: None, ffs: None }), _) => {
                problem(
                    "E0810",
                    "--ii",
                    "auto needs to know what may be taken".into(),
                    "add --max-luts N or --max-ffs N",
                );
            }
            (Some(_), Some(_)) => {
                let help = "--max-luts and --max-ffs go with --ii auto; leave them out, or the number";
                problem("E0810", "--ii", "an interval is given, and a budget to choose it by".into(), help);
            }
            _ => {}
        }
        if let Some(share) = self.pipeline.least_share.filter(|share| !(0.0..=100.0).contains(share)) {
            problem("E0815", "--ii-share", format!("{share} is no percentage"), "ask for 0 to 100");
        }
        let interval = self.pipeline.interval.unwrap_or(MAX_INTERVAL);
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
        let not_yet = [("--assume-intervals", self.optimisation.assume_intervals)];
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
    /// [`Reused::of`], if it is within what is asked of its latency and of what it shares.
    ///
    /// # Errors
    /// Those of [`Reused::of`]; if it is not.
    pub(super) fn within(source: &'d Model, spec: &Spec, interval: u32) -> Result<Option<Reused<'d>>, Error> {
        let Some(made) = Reused::of(source, spec, interval)? else { return Ok(None) };
        let (plan, share) = (&made.plan, made.plan.shared());
        if let Some(least) = spec.pipeline.least_share.filter(|least| share < *least) {
            let message =
                format!("{share:.1} % of the logic share hardware with --ii {interval}, and {least} % are asked for");
            let help =
                "ask for another interval or a smaller share; `alir2hdl info --ii 2,4,8` shows what would be shared";
            let place = Place::Flag("--ii-share".into());
            return Err(Error::request(Diagnostic::error("E0815", place, message).with_help(help)));
        }
        if let Some(most) = spec.pipeline.max_latency.filter(|most| plan.latency > *most) {
            let least = reuse::Figures::of(&made.program, plan).latency_at_least;
            let message = format!(
                "with --ii {interval} the smallest latency that was found is {} clocks, and {most} are asked for",
                plan.latency
            );
            let help = format!("ask for {}; no plan of these blocks has less than {least}", plan.latency);
            let place = Place::Flag("--max-latency".into());
            return Err(Error::request(Diagnostic::error("E0819", place, message).with_help(help)));
        }
        Ok(Some(made))
    }

    /// The smallest interval of those that are tried whose estimate is within a budget. Those up to 16 are all tried,
    /// then each a sixteenth longer than the one before; what takes longer than a latency allows is not.
    ///
    /// # Errors
    /// If there is none; those of other wishes.
    pub(super) fn fewest(source: &Model, spec: &Spec, budget: Budget) -> Result<u32, Error> {
        /// Operations that are planned and lowered before the search gives up.
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
        let message = format!("no interval that was tried stays within the budget; {}", table.join("; "));
        let help = format!("the least that was found are {luts} LUT, with --ii {at}; ask for more");
        Err(Error::request(Diagnostic::error("E0818", Place::Flag("--ii".into()), message).with_help(help)))
    }

    /// Plans a program; nothing if it computes constants alone, which take no clock.
    ///
    /// # Errors
    /// If a pass that was named does not exist, or a block cannot be cut as short as the clock asks; if the checker
    /// objects to the plan, which is our mistake.
    pub(super) fn of(source: &'d Model, spec: &Spec, interval: u32) -> Result<Option<Reused<'d>>, Error> {
        if spec.optimisation.retime.is_some() {
            let message = "--retime does not go with a program, which has no registers of its own";
            let place = Place::Flag("--retime".into());
            return Err(Error::request(Diagnostic::error("E0804", place, message).with_help("leave it out")));
        }
        // The pass would make the counter of phases a table of itself; `prove` finds that too, but a sum reads better.
        let after: Vec<&str> = spec.passes(false)?.into_iter().filter(|name| *name != "functions").collect();
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
        let mut block = spec.clone();
        block.pipeline = Pipeline {
            interval: None,
            effort: Effort::Fast,
            // Blocks lie between registers; those at ports are the plan's.
            register_inputs: false,
            register_outputs: false,
            ..block.pipeline
        };
        let period = spec.clock.period.filter(|_| spec.delay_model() == DelayModel::Device);
        let mut best = f64::INFINITY;
        for round in 0..ROUNDS {
            let made = match reuse::plan(&program, interval, |template| block.stages_of(template)) {
                Ok(plan) => plan,
                Err(why) if round == 0 => return Err(why),
                // Nothing is left of the clock for a block's first stage.
                Err(_) => break,
            };
            let plan = if spec.pipeline.register_outputs { made.with_registered_outputs() } else { made };
            let judged = reuse::check(&program, &plan);
            judged.map_err(|why| bug(diagnostic(format!("the plan of --ii {interval} is wrong: {why}"))))?;
            let machine = reuse::machine(&program, &plan, &spec.with_ready("model"));
            let machine = machine.with_blocks(|model| passes::run(model, &after).0);
            let reused = Reused { source, program: program.clone(), plan, machine };
            let Some(period) = period else { return Ok(Some(reused)) };
            // Blocks are cut as if nothing stood before them; multiplexers do.
            let found = spec.estimate(&reused.netlist(spec, "model")?).period_ns;
            if found <= period {
                return Ok(Some(reused));
            }
            best = best.min(found);
            block.pipeline.input_delay += found - period;
        }
        let message =
            format!("with --ii {interval} the shortest period that was found is {best:.2} ns by the estimate");
        let help = format!("ask for --clock-period {}", (100.0 * best).ceil() / 100.0);
        Err(Error::request(Diagnostic::error("E0506", Place::Flag("--clock-period".into()), message).with_help(help)))
    }

    /// The netlist called `top`, judged by the independent checker.
    ///
    /// # Errors
    /// If the checker objects, which is our mistake.
    pub(super) fn lower(&self, spec: &Spec, top: &str) -> Result<(Netlist, Option<Axis>), Error> {
        let netlist = self.netlist(spec, top)?;
        let axis = spec.wrapped(&netlist, top)?;
        Ok((netlist, axis))
    }

    /// The netlist alone.
    fn netlist(&self, spec: &Spec, top: &str) -> Result<Netlist, Error> {
        let netlist = lower_reused(&self.machine, &spec.with_ready(top), self.plan.latency, self.plan.interval);
        netlist.check().map_err(|found| bug(Diagnostics(found)))?;
        Ok(netlist)
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
        ReuseFacts { shared_percent: tenths(self.plan.shared()), groups: self.plan.groups.iter().map(group).collect() }
    }

    /// One line about what was made.
    pub(super) fn summary(&self, netlist: &Netlist) -> String {
        let Plan { interval, latency, groups, .. } = &self.plan;
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
            self.plan.shared(),
            self.plan.left(),
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
