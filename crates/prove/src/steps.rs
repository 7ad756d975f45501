//! A pass-by-pass proof: from the model over intermediate programs to the RTL.
//!
//! Optimisation applies one change after another. A direct comparison of the result is hard, but one change is easy to
//! prove. So a caller that has the intermediate programs provides them ([`Steps`]): each program is proved equal to the
//! previous one, and the RTL equal to the last. Equality for every input is transitive, so the programs need not be
//! trusted: wrong programs make this proof fail, and never prove anything.
//!
//! RTL with intermediate programs is first compared over the gates of the last program, RTL without such programs over
//! the gates of the model: a linear pass that decides nearly all generated RTL. Other methods decide the rest.

use super::certify::{self, GateContext};
use super::chain::{Chain, StepResult};
use super::engine::{Counts, Engine, Question};
use super::equiv::{self, InputTiming, Report, Request, Verdict};
use super::progress::traced;
use super::sat::Solvers;
use super::{blast, phases, value_classes};
use alir_core::ir::Model;
use alir_hdl::{Rtl, operation_in_name};
use alir_interp::{LookupMiss, golden};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Budget in ticks for a direct proof, before the intermediate programs are used: a constant, and an amount for each
/// operation of the model. Half of the RTL files of networks are proved with less at -O2, nearly all at -O1. Of the
/// other files (`models/nets`, -O2), two and a half times this budget proves none more, and costs up to a second.
const DIRECT_BUDGET: (u64, u64) = (25_000_000, 6_000);
/// Divisor of [`DIRECT_BUDGET`] for RTL with an initiation interval above one.
const MULTIPLEXED_DIVISOR: u64 = 8;
/// Budget in ticks for one step, and for the RTL against the last program.
const STEP_BUDGET: (u64, u64) = (600_000_000, 60_000);

/// Budgets in ticks for one step: value by value, and over the gates of both programs, before the other method is
/// tried. The first method proves nearly all passes of networks; passes that remove bits by ranges of sums of thousands
/// of values need the second.
const STEP_VALUES_BUDGET: (u64, u64) = (300_000_000, 20_000);
const STEP_GATES_BUDGET: (u64, u64) = (50_000_000, 15_000);

/// Budgets in ticks for RTL over the gates of a program: before the other methods, and after a first part of their
/// budget. RTL with tables that replace logic needs the second budget.
const GATES_BUDGET: (u64, u64) = (2_000_000, 10_000);
const GATES_RETRY_BUDGET: (u64, u64) = (40_000_000, 60_000);
/// Budget in ticks for RTL with an initiation interval above one over the gates of all programs; this method seldom
/// succeeds for such RTL.
const GATES_MULTIPLEXED_BUDGET: (u64, u64) = (2_000_000, 1_000);
/// First part of the budget in ticks for a comparison with named signals.
const NAMED_SIGNALS_BUDGET: (u64, u64) = (30_000_000, 10_000);
/// Largest upper bound of the number of gates of a program whose gates are built. For larger programs the checker's
/// limit would end the construction after most of the work.
const MAX_GATES: u64 = 24_000_000;

/// Intermediate programs between the model and an RTL file, in order, and the values of the last program that the RTL's
/// signals are named after. The proof trusts none of these data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// Intermediate programs; the last one has each operation that the RTL computes.
    pub programs: Vec<Model>,
    /// Value indices of the last program by signal name in lower case. A register or a part of such a signal has the
    /// name followed by an underscore and a suffix.
    pub names: FxHashMap<String, u32>,
    /// `true` if the caller has already proved that the last program equals the model.
    pub are_proved: bool,
}

impl Steps {
    /// Returns a copy of a design with the signal names of unoptimised RTL that is generated from the last program.
    fn renamed(&self, rtl: &Rtl) -> Rtl {
        rtl.renamed(|name| {
            let Some((operation, suffix)) = operation_in_name(name) else { return format!("other_{name}") };
            let stated = format!("v{operation}{}", suffix.to_ascii_lowercase());
            let mut end = stated.len();
            loop {
                if let Some(number) = self.names.get(&stated[..end]) {
                    return format!("v{number}{}", &stated[end..]);
                }
                match stated[..end].rfind('_') {
                    Some(before) => end = before,
                    None => return format!("other_{name}"),
                }
            }
        })
    }

    /// Returns `true` if the last program differs from the model, and every program has the model's ports.
    fn has_intermediate_programs(&self, model: &Model) -> bool {
        let same = |p: &Model| {
            p.input_kifs() == model.input_kifs()
                && p.outputs().len() == model.outputs().len()
                && (0..p.outputs().len()).all(|j| p.output_kif(j) == model.output_kif(j))
        };
        self.programs.last().is_some_and(|last| last != model) && self.programs.iter().all(same)
    }
}

/// Remaining and spent ticks of a run, and the number of bits proved by each method.
struct Budget {
    left: u64,
    spent: u64,
    counts: Counts,
}

impl Budget {
    fn spend(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units);
        self.spent += units;
    }

    fn add_spent(&mut self, e: &Engine) {
        self.left = self.left.saturating_sub(e.spent);
        self.spent += e.spent;
        self.counts.add(&e.counts);
    }
}

/// Proves or refutes that `rtl` computes `model`. The methods run in this order until one decides: the gates of the
/// last intermediate program ([`GATES_BUDGET`]); its named signals, while other threads prove the intermediate
/// programs; a direct comparison with a first part of the budget ([`DIRECT_BUDGET`]); the intermediate programs one
/// after another; a direct comparison with the remaining budget. The reference interpreter of the model confirms each
/// difference, regardless of the program in which it was found.
pub fn prove(
    model: &Model,
    rtl: &Rtl,
    steps: Option<&dyn Fn() -> Option<Rc<Steps>>>,
    request: &Request,
    solver: Solvers<'_>,
) -> (Report, Engine) {
    let repeats = is_repeated(rtl);
    if steps.is_none() && (repeats || request.gates_only) {
        return equiv::prove(model, rtl, request, solver());
    }
    let work = request.work.unwrap_or(super::engine::WORK);
    let mut budget = Budget { left: work, spent: 0, counts: Counts::default() };
    let build = || steps.and_then(|steps| steps()).filter(|steps| steps.has_intermediate_programs(model));
    let part = Request { work: Some(amount(STEP_BUDGET, model)), progress: None, ..request.clone() };
    // The signals of time-multiplexed and bit-serial hardware do not match the program value by value.
    let is_pipeline = !repeats && !request.gates_only;
    let mut usable = if is_pipeline { build() } else { None };
    let mut over_last = OverLast::default();
    if is_pipeline {
        let steps = usable.as_deref();
        let last = steps.and_then(|steps| steps.programs.last());
        let mut by_last = || {
            let mut found = OverLast::new(last.unwrap_or(model), rtl, request, &part, solver, &mut budget);
            if let (None, Some(steps), Some(last)) = (&found.found, steps, last) {
                let part = Request { progress: request.progress.clone(), ..part.clone() };
                found.found = Some(by_names_or_gates(last, rtl, steps, (&found.gates, &part), solver, &mut budget));
            }
            found
        };
        over_last = match steps.filter(|steps| !steps.are_proved) {
            // This method nearly always proves the RTL, and then needs all steps, so the steps are proved at the same
            // time.
            Some(steps) => {
                let first = || {
                    let found = by_last();
                    (found.is_proved(), found)
                };
                let (mut found, chain) = proved_chain((model, &steps.programs), &part, work, solver, first);
                found.chain = chain;
                found
            }
            None => by_last(),
        };
    }
    let mut questions = Vec::new();
    if !over_last.is_proved() {
        let has_programs = usable.is_some() || (!is_pipeline && steps.is_some());
        // A direct proof of time-multiplexed hardware succeeds early or almost never.
        let directly = amount(DIRECT_BUDGET, model) / if repeats { MULTIPLEXED_DIVISOR } else { 1 };
        let directly = if has_programs { directly.min(budget.left) } else { budget.left };
        let direct = Request { work: Some(directly), ..request.clone() };
        let (mut report, mut engine) =
            traced("directly", equiv::decision, || equiv::prove(model, rtl, &direct, solver()));
        budget.add_spent(&engine);
        if !has_programs || !matches!(report.verdict, Verdict::Unknown { .. }) || budget.left == 0 {
            report.bits = budget.counts;
            engine.spent = budget.spent;
            return (report, engine);
        }
        questions = std::mem::take(&mut engine.questions);
    }
    if !is_pipeline {
        usable = build();
    }
    let found = match usable {
        Some(steps) => by_steps(model, rtl, &steps, over_last, &part, solver, &mut budget),
        None => over_last.found.map(|(mut report, engine)| {
            report.notes.push("compared over the gates of the model".to_owned());
            (report, engine)
        }),
    };
    let (mut report, mut engine) = found.unwrap_or_else(|| {
        let rest = Request { work: Some(budget.left), ..request.clone() };
        let (report, engine) =
            traced("directly, with the rest", equiv::decision, || equiv::prove(model, rtl, &rest, solver()));
        budget.add_spent(&engine);
        (report, engine)
    });
    report.bits = budget.counts;
    questions.append(&mut engine.questions);
    engine.questions = questions;
    engine.spent = budget.spent;
    (report, engine)
}

/// Comparison of the RTL with the last program: the gates of that program, the result of a proof, and the results of
/// all steps up to the program if they are known.
#[derive(Default)]
struct OverLast {
    gates: Option<RefCell<GateContext>>,
    found: Option<(Report, Engine)>,
    chain: Option<StepResult>,
}

impl OverLast {
    /// Returns `true` if the RTL is proved equal to the last program.
    fn is_proved(&self) -> bool {
        self.found.as_ref().is_some_and(|(report, _)| report.verdict == Verdict::Proved)
    }

    /// Builds the gates of a program, and compares the RTL over them. `whole` is the request of the caller, whose
    /// progress counter is used.
    fn new(
        program: &Model,
        rtl: &Rtl,
        whole: &Request,
        part: &Request,
        solver: Solvers<'_>,
        budget: &mut Budget,
    ) -> OverLast {
        let is_small = blast::gates_at_most(program) <= MAX_GATES;
        let gates = is_small.then(|| GateContext::new(program, within(budget, part)).map(RefCell::new)).flatten();
        let part = Request { progress: whole.progress.clone(), ..part.clone() };
        let found =
            prove_over_gates(gates.as_ref(), amount(GATES_BUDGET, program), (program, rtl), &part, solver, budget);
        OverLast { found: found.filter(|found| found.0.verdict == Verdict::Proved), gates, chain: None }
    }
}

/// Returns `true` if the RTL states an initiation interval above one.
fn is_repeated(rtl: &Rtl) -> bool {
    matches!(phases::stated_interval(rtl), Some(2..))
}

/// Returns the remaining ticks for a part of a proof.
fn within(budget: &Budget, part: &Request) -> u64 {
    part.work.unwrap_or(u64::MAX).min(budget.left)
}

/// Compares RTL with the last program, by all other methods and over its gates in turn: first with a small budget, then
/// with the remaining budget.
fn by_names_or_gates(
    program: &Model,
    rtl: &Rtl,
    steps: &Steps,
    (gates, part): (&Option<RefCell<GateContext>>, &Request),
    solver: Solvers<'_>,
    budget: &mut Budget,
) -> (Report, Engine) {
    let is_open = |found: &(Report, Engine)| matches!(found.0.verdict, Verdict::Unknown { .. });
    let mut compare = |names: u64, most: u64| {
        let first = Request { work: Some(names.min(within(budget, part))), ..part.clone() };
        let found = by_last_program(program, rtl, steps, &first, solver, budget);
        if !is_open(&found) {
            return found;
        }
        let over = prove_over_gates(gates.as_ref(), most, (program, rtl), part, solver, budget);
        over.filter(|found| found.0.verdict == Verdict::Proved).unwrap_or(found)
    };
    let found = compare(amount(NAMED_SIGNALS_BUDGET, program), amount(GATES_RETRY_BUDGET, program));
    if is_open(&found) { compare(u64::MAX, u64::MAX) } else { found }
}

/// Compares RTL with the last program by all methods except its gates, with signals named after its values.
fn by_last_program(
    program: &Model,
    rtl: &Rtl,
    steps: &Steps,
    part: &Request,
    solver: Solvers<'_>,
    budget: &mut Budget,
) -> (Report, Engine) {
    let request = Request { work: Some(within(budget, part)), ..part.clone() };
    let found = traced("by the last program", equiv::decision, || {
        equiv::prove(program, &steps.renamed(rtl), &request, solver())
    });
    budget.add_spent(&found.1);
    found
}

/// Compares the RTL with existing gates; stops after about `most` ticks.
fn prove_over_gates(
    shared: Option<&RefCell<GateContext>>,
    most: u64,
    (program, rtl): (&Model, &Rtl),
    part: &Request,
    solver: Solvers<'_>,
    budget: &mut Budget,
) -> Option<(Report, Engine)> {
    let request = Request { work: Some(most.min(within(budget, part))), ..part.clone() };
    let shared = shared?;
    let found = traced("over gates", equiv::decision, || {
        equiv::prove_with_gates(Some(shared), program, rtl, &request, solver())
    });
    budget.add_spent(&found.1);
    Some(found)
}

/// Proves RTL with an initiation interval above one over existing gates, as the checker does: all signals cycle by
/// cycle from a sample on, instead of back from the outputs.
fn prove_by_cycles(
    shared: &RefCell<GateContext>,
    (mut report, engine): (Report, Engine),
    rtl: &Rtl,
    part: &Request,
    budget: &mut Budget,
) -> Option<(Report, Engine)> {
    let (sample_timing, source) = (report.sample_timing()?, part.source.as_ref()?);
    if !matches!(report.verdict, Verdict::Unknown { .. }) {
        return None;
    }
    let mut shared = shared.borrow_mut();
    let is_text = shared.matches_rtl(source, &rtl.top, &sample_timing, within(budget, part));
    budget.spend(shared.spent());
    if !is_text {
        return None;
    }
    report.verdict = Verdict::Proved;
    report.notes.push("unrolled cycle by cycle, as in alir2hdl-check".to_owned());
    Some((report, engine))
}

/// Returns a budget for a program in ticks.
fn amount((constant, each): (u64, u64), program: &Model) -> u64 {
    constant + each * program.nodes().len() as u64
}

/// Returns `true` if a program is proved equal to the previous one: value by value, over the gates of both, or as whole
/// programs. Each method has a small budget first, then the remaining budget.
fn is_next(
    before: &Model,
    program: &Model,
    part: &Request,
    solver: Solvers<'_>,
    budget: &mut Budget,
    questions: &mut Vec<Question>,
) -> bool {
    let mut words = |is_whole: bool, work: u64, budget: &mut Budget| {
        let request = Request { work: Some(work.min(within(budget, part))), ..part.clone() };
        let (is_shown, mut e) = if is_whole {
            let (report, e) = value_classes::prove(before, program, &request, solver);
            (report.verdict == Verdict::Proved, e)
        } else {
            let (report, e) = value_classes::prove_by_values(before, program, &request, solver);
            (report.is_some(), e)
        };
        budget.add_spent(&e);
        questions.append(&mut e.questions);
        is_shown
    };
    let gates = |most: u64, budget: &mut Budget| {
        let (is_shown, _, spent) = traced(
            "step over gates",
            |found: &(bool, _, u64)| (found.0, found.2),
            || certify::prove_chain(before, std::slice::from_ref(program), most, within(budget, part)),
        );
        budget.spend(spent);
        is_shown
    };
    words(false, amount(STEP_VALUES_BUDGET, program), budget)
        || gates(amount(STEP_GATES_BUDGET, program), budget)
        || words(true, u64::MAX, budget)
        || gates(u64::MAX, budget)
}

/// Proves each program equal to the previous one, and the first one to the model, while this thread runs `first`; see
/// [`Chain::prove`].
fn proved_chain<T>(
    (model, programs): (&Model, &[Model]),
    part: &Request,
    left: u64,
    solver: Solvers<'_>,
    first: impl FnOnce() -> (bool, T),
) -> (T, Option<StepResult>) {
    // Programs are compared as combinational functions, for any timing of the RTL.
    let combinational = Request {
        latency: Some(0),
        interval: None,
        input_timing: InputTiming::Stated,
        names: equiv::ControlNames::default(),
        gates_only: false,
        progress: None,
        ..part.clone()
    };
    let step = |before: &Model, program: &Model| {
        let mut budget = Budget { left, spent: 0, counts: Counts::default() };
        let mut questions = Vec::new();
        let is_proved = is_next(before, program, &combinational, solver, &mut budget, &mut questions);
        StepResult { is_proved, spent: budget.spent, counts: budget.counts, questions }
    };
    Chain::new(model, programs).prove(part.threads, &step, first)
}

/// Proves or refutes pass by pass; `None` if a pass is undecided.
fn by_steps(
    model: &Model,
    rtl: &Rtl,
    steps: &Steps,
    mut over_last: OverLast,
    part: &Request,
    solver: Solvers<'_>,
    budget: &mut Budget,
) -> Option<(Report, Engine)> {
    let last = steps.programs.last()?;
    let count = steps.programs.len();
    let repeats = is_repeated(rtl);
    // Proves the last program equal to the model over the gates of all programs, then the RTL over these gates, which
    // include the model's.
    let of_all = |budget: &mut Budget| {
        let (is_shown, shared, spent) = traced(
            "over the gates of all",
            |found: &(bool, _, u64)| (found.0, found.2),
            || certify::prove_chain(model, &steps.programs, u64::MAX, within(budget, part)),
        );
        budget.spend(spent);
        (is_shown, shared.map(RefCell::new))
    };
    let over_all = |shared: &Option<RefCell<GateContext>>, budget: &mut Budget| {
        // After a small budget, cycle-by-cycle comparison is faster.
        let most = if repeats { amount(GATES_MULTIPLEXED_BUDGET, model) } else { u64::MAX };
        let found = prove_over_gates(shared.as_ref(), most, (model, rtl), part, solver, budget)?;
        let mut found = match found.0.verdict {
            Verdict::Proved => found,
            _ => prove_by_cycles(shared.as_ref()?, found, rtl, part, budget)?,
        };
        found.0.notes.push(match count {
            1 => "compared over the gates of model and one intermediate program".to_owned(),
            _ => format!("compared over the gates of model and {count} intermediate programs"),
        });
        Some(found)
    };
    // In time-multiplexed hardware consecutive programs differ much, and the RTL differs much from the last program, so
    // the gates shared by all programs are used first. The programs of passes are compared faster one by one; the gates
    // of all are used only if a step is undecided. Bit-serial designs have no matching values.
    let mut shared = (repeats && !part.gates_only).then(|| of_all(budget));
    if let Some((_, shared)) = &shared
        && let Some(found) = over_all(shared, budget)
    {
        return Some(found);
    }
    let known = over_last.chain.take();
    let (mut report, mut engine) =
        over_last.found.unwrap_or_else(|| by_last_program(last, rtl, steps, part, solver, budget));
    match &mut report.verdict {
        Verdict::Proved => {}
        // A difference from the last program is reported if the model's output differs too.
        Verdict::Differs { counterexample: Some(c), reason } => {
            let expected = golden(model, &c.inputs, LookupMiss::Zero).ok()?.swap_remove(c.output);
            if expected == c.found {
                return None;
            }
            let names_values = *reason == c.reason();
            c.expected = expected;
            if names_values {
                *reason = c.reason();
            }
            // The operation belongs to the last program.
            c.first_operation = None;
            return Some((report, engine));
        }
        Verdict::Unknown { .. } if shared.is_none() && !steps.are_proved => {
            return over_all(&of_all(budget).1, budget);
        }
        // An error in ports, registers or control is independent of the program.
        Verdict::Differs { counterexample: None, .. } | Verdict::Unknown { .. } => return None,
    }
    if !steps.are_proved {
        let one_by_one = |budget: &mut Budget, engine: &mut Engine| {
            let mut chain = known.unwrap_or_else(|| {
                let chain = proved_chain((model, &steps.programs), part, budget.left, solver, || (true, ())).1;
                chain.unwrap_or_default()
            });
            let is_proved = chain.is_proved && chain.spent <= budget.left;
            budget.spend(chain.spent);
            budget.counts.add(&chain.counts);
            engine.questions.append(&mut chain.questions);
            is_proved
        };
        let is_shown = (repeats && shared.get_or_insert_with(|| of_all(budget)).0)
            || one_by_one(budget, &mut engine)
            || shared.get_or_insert_with(|| of_all(budget)).0;
        if !is_shown {
            return None;
        }
    }
    report.notes.push(match (steps.are_proved, count) {
        (true, _) => "compared with the optimised program, itself proved equal to the model".to_owned(),
        (false, 1) => "proved pass by pass over one intermediate program".to_owned(),
        (false, _) => format!("proved pass by pass over {count} intermediate programs"),
    });
    Some((report, engine))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program;
    use crate::sat::Embedded;
    use alir_core::ir::draw_inputs;
    use alir_core::num::SplitMix;
    use alir_hw::netlist;
    use alir_opt::passes::{self, Trust};
    use alir_testing::random::{Profile, Recipe, with_a_sum_for_a_difference};

    fn verdict_of(model: &Model, text: &Model, programs: Vec<Model>) -> Option<Verdict> {
        let stems = programs.last().map(netlist::stems).unwrap_or_default();
        let steps = Steps { programs, names: stems.into_iter().zip(0..).collect(), are_proved: false };
        let part = Request { latency: Some(0), work: Some(200_000_000), ..Request::default() };
        let mut budget = Budget { left: u64::MAX, spent: 0, counts: Counts::default() };
        let solver: Solvers<'_> = &|| Box::new(Embedded);
        let rtl = program::rtl(text, text);
        let over_last = OverLast::new(steps.programs.last()?, &rtl, &part, &part, solver, &mut budget);
        by_steps(model, &rtl, &steps, over_last, &part, solver, &mut budget).map(|(report, _)| report.verdict)
    }

    fn optimised(model: &Model) -> Vec<Model> {
        let mut programs = vec![model.clone()];
        for pass in passes::pipeline(2).iter().filter_map(|name| passes::find(name)) {
            programs.push(pass.apply(programs.last().unwrap(), Trust::Types));
        }
        programs
    }

    #[test]
    fn a_chain_of_optimised_programs_is_a_proof() {
        let mut proved = 0;
        for seed in 0..40 {
            let model = Recipe::seeded(Profile::TINY, 14, seed).build();
            let programs = optimised(&model);
            let text = programs.last().unwrap().clone();
            match verdict_of(&model, &text, programs) {
                Some(Verdict::Proved) => proved += 1,
                None => {}
                Some(other) => panic!("seed {seed}: {other:?}"),
            }
        }
        assert!(proved >= 35, "only {proved} of 40");
    }

    /// A program in the chain, or the RTL, is replaced. There is no proof unless it computes the same function, and the
    /// reference interpreter confirms any difference.
    #[test]
    fn a_wrong_program_between_proves_nothing() {
        let (mut refused, mut differ) = (0, 0);
        for seed in 0..60 {
            let model = Recipe::seeded(Profile::TINY, 14, seed).build();
            let Some(other) = with_a_sum_for_a_difference(&model).filter(|other| *other != model) else { continue };
            let golden = |m: &Model, codes: &[num_bigint::BigInt]| golden(m, codes, LookupMiss::Zero).unwrap();
            let (right, wrong) = (optimised(&model), optimised(&other));
            for (text, programs) in [
                // The RTL and its program are wrong; the program alone; the RTL alone; one intermediate program.
                (&other, vec![other.clone()]),
                (&model, vec![other.clone()]),
                (&other, vec![model.clone()]),
                (wrong.last().unwrap(), [&right[..3], &wrong[3..]].concat()),
                (right.last().unwrap(), [&right[..2], &wrong[2..3], &right[3..]].concat()),
            ] {
                match verdict_of(&model, text, programs) {
                    None => refused += 1,
                    Some(Verdict::Differs { counterexample: Some(c), .. }) => {
                        assert_eq!(golden(&model, &c.inputs)[c.output], c.expected, "seed {seed}");
                        assert_eq!(golden(text, &c.inputs)[c.output], c.found, "seed {seed}");
                        differ += 1;
                    }
                    Some(Verdict::Proved) => {
                        let mut rng = SplitMix::new(seed);
                        for _ in 0..200 {
                            let codes = draw_inputs(&model, &mut rng);
                            assert_eq!(golden(&model, &codes), golden(text, &codes), "seed {seed}");
                        }
                    }
                    Some(other) => panic!("seed {seed}: {other:?}"),
                }
            }
        }
        assert!(refused > 40 && differ > 5, "{refused} refused, {differ} differ");
    }
}
