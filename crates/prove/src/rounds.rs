//! The schedule of a comparison: every method in turn, in rounds.
//!
//! The methods are structurally equal gates, forms with each set of rules, and gates with SAT. In each round every
//! method starts from the beginning with four times the budget of the previous round; all methods of a round have the
//! same budget. Facts that a method proves about an output or a signal are kept for all other methods. The budgets
//! depend only on the size of the model and the round, not on the remaining budget, so that a larger limit never proves
//! less. Within a method a query may take only a part of the budget: one hard cone does not starve the others.

use super::bit_level::{self, ModelGates};
use super::certify::GateContext;
use super::engine::{Engine, GATE, Limits};
use super::equiv::{Report, Verdict};
use super::linear_forms::RuleSet;
use super::netlist;
use super::port_roles::PortRoles;
use super::progress::traced;
use super::proved::Proved;
use super::text_gates;
use super::word_level;
use alir_core::ir::{Model, Op};
use alir_hdl::Rtl;
use std::cell::RefCell;

/// Budget in ticks of a method in the first round: a constant, and an amount for each operation of the model.
const CAP: (u64, u64) = (30_000_000, 10_000);
/// Factor by which the budget grows from round to round.
const GROWTH: u64 = 4;
/// Largest number of rounds; in the last one only the limits of single queries apply.
const ROUNDS: u32 = 7;
/// Number of rounds before SAT queries about whole outputs.
const WITHOUT_SAT: u32 = 1;

/// Selection of the methods of a comparison.
#[derive(Clone, Copy, Default)]
pub(super) struct Methods<'a> {
    /// If given, only these existing gates are used.
    pub(super) over: Option<&'a RefCell<GateContext>>,
    /// If given, only a comparison with this RTL is used.
    pub(super) hint: Option<&'a netlist::Hint<'a>>,
    /// `true` to use gates only, without forms.
    pub(super) gates_only: bool,
    /// `true` to restrict methods by forms to those with all rules.
    pub(super) all_rules: bool,
}

/// A model, the design compared with it, and the roles of its ports.
type Pair<'a> = (&'a Model, &'a Rtl, &'a PortRoles);

struct Rounds<'a, 'e> {
    pair: Pair<'a>,
    depths: (u32, u32),
    rules: Vec<RuleSet>,
    /// `true` if the model multiplies variables.
    multiplies: bool,
    /// Gates of the model, once they are built.
    gates: Option<ModelGates>,
    proved: Proved,
    report: &'e mut Report,
    e: &'e mut Engine,
}

/// Compares the outputs, and the valid flag if there is one; the verdict is in the report.
pub(super) fn compare(pair: Pair<'_>, depths: (u32, u32), methods: Methods<'_>, report: &mut Report, e: &mut Engine) {
    let rules = if methods.gates_only { Vec::new() } else { word_level::choose_rules(pair.0, methods.all_rules) };
    let multiplies = pair.0.nodes().iter().any(|n| matches!(n.op, Op::Mul { .. }));
    let mut schedule = Rounds { pair, depths, rules, multiplies, gates: None, proved: Proved::default(), report, e };
    if let Some(progress) = &schedule.e.progress {
        progress.compare(pair.2.outputs.iter().flatten().count());
    }
    let decided = match (methods.over, methods.hint) {
        (Some(shared), _) => schedule.over(&mut shared.borrow_mut()),
        (None, Some(hint)) => schedule.by_hint(hint),
        (None, None) => schedule.run(),
    };
    let Rounds { proved, report, e, .. } = schedule;
    let open = proved.open_operations();
    report.operations_matched = proved.matched.len() as u64;
    report.operations_unmatched = open.len() as u64;
    let name = |op: &u32| proved.unmatched.get(op).map(|&s| (*op, pair.1.signal(s).name.clone()));
    report.open_steps = open.iter().filter_map(name).collect();
    if !decided {
        undecided(pair, &proved, report, e);
    }
}

impl Rounds<'_, '_> {
    /// Runs the rounds; returns `true` if the proof was decided.
    fn run(&mut self) -> bool {
        let cap = CAP.0 + CAP.1 * self.pair.0.nodes().len() as u64;
        // Structural equality decides tables, selections and bitwise operations.
        if self.by_gates(cap, Limits { sat_steps: 0, ..self.e.limits }) {
            return true;
        }
        for round in 0..ROUNDS {
            let cap = cap.saturating_mul(GROWTH.saturating_pow(round));
            // Products are hard for SAT and easy for forms, so forms get another round first.
            let postponed = round == 0 && self.multiplies && !self.rules.is_empty();
            let limits = Limits { sat_steps: if postponed { 0 } else { self.e.limits.sat_steps }, ..self.e.limits };
            for rules in self.rules.clone() {
                let effort = word_level::FormEffort { cap, limits, asks_gates: round >= WITHOUT_SAT };
                let decided = self.traced(&format!("forms with {rules:?} rules"), |s| {
                    word_level::compare(s.pair, s.depths, rules, &effort, &mut s.proved, s.report, s.e)
                });
                if decided {
                    return true;
                }
            }
            if !postponed && self.by_gates(cap, limits) {
                return true;
            }
            if self.e.left == 0 {
                return false;
            }
        }
        false
    }

    /// Compares with existing gates.
    fn over(&mut self, shared: &mut GateContext) -> bool {
        let (_, rtl, ports) = self.pair;
        let shown = text_gates::compare(shared, (rtl, ports), self.depths, self.e.left);
        self.e.spend(shown.spent);
        let bits = |&j: &usize| u64::from(self.pair.0.output_kif(j).width());
        self.e.counts.structural += shown.outputs.iter().map(bits).sum::<u64>();
        (self.proved.outputs, self.proved.valid) = (shown.outputs, shown.valid);
        if self.proved.valid {
            self.report.notes.push(format!("valid_out is valid_in of {} clocks before", self.depths.0));
        }
        self.is_complete()
    }

    /// Compares with RTL that was proved before.
    fn by_hint(&mut self, hint: &netlist::Hint<'_>) -> bool {
        let shown = netlist::compare(hint, self.pair, self.depths, self.e);
        self.e.spend(shown.spent);
        self.e.counts.add(&shown.counts);
        (self.proved.outputs, self.proved.valid) = (shown.outputs, shown.valid);
        self.report.notes.push(format!("compared with RTL over {} gates", shown.gates));
        if let Some(verdict) = shown.verdict {
            self.report.verdict = verdict;
            return true;
        }
        if self.proved.valid {
            self.report.notes.push(format!("valid_out is valid_in of {} clocks before", self.depths.0));
        }
        self.is_complete()
    }

    /// Compares by gates, if the budget allows building the model's gates.
    fn by_gates(&mut self, cap: u64, limits: Limits) -> bool {
        if self.gates.is_none() {
            let most = super::blast::gates_at_most(self.pair.0);
            if most.saturating_mul(GATE) / 8 > cap.min(self.e.left) {
                return false;
            }
            self.gates = Some(ModelGates::new(self.pair.0, self.e));
        }
        let Some(gates) = self.gates.take() else { return false };
        let effort = bit_level::GateEffort { cap, limits };
        let method = if limits.sat_steps == 0 { "equal gates" } else { "gates with search" };
        let decided = self
            .traced(method, |s| bit_level::compare(s.pair, &gates, s.depths, &effort, &mut s.proved, s.report, s.e));
        self.gates = Some(gates);
        decided
    }

    /// Runs a method, which returns `true` if it refuted the equality; returns `true` if the proof is decided.
    fn traced(&mut self, method: &str, run: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.e.spent;
        let result = |found: &(bool, u64)| *found;
        traced(method, result, || (run(self) || self.is_complete(), self.e.spent - before)).0
    }

    fn is_complete(&self) -> bool {
        let ports = self.pair.2;
        let mut outputs = ports.outputs.iter().enumerate();
        outputs.all(|(j, place)| place.is_none() || self.proved.outputs.contains(&j))
            && (ports.valid.is_none() || self.proved.valid)
    }
}

/// Sets the undecided verdict: the undecided outputs, the limit reached, and the first undecided operation.
fn undecided((model, _, ports): Pair<'_>, proved: &Proved, report: &mut Report, e: &Engine) {
    let places = ports.outputs.iter().enumerate();
    let outputs: Vec<usize> =
        places.filter(|(j, place)| place.is_some() && !proved.outputs.contains(j)).map(|(j, _)| j).collect();
    let limit = e.limit_reached();
    let what = match outputs[..] {
        [] => "valid_out".to_owned(),
        [j] => format!("output {j}"),
        [j, ..] => format!("output {j} and {} more of {}", outputs.len() - 1, model.outputs().len()),
    };
    let step = report
        .open_steps
        .first()
        .map_or_else(String::new, |(op, name)| format!("; the first open step is {name} (operation {op})"));
    report.open = outputs.first().copied();
    report.verdict = Verdict::Unknown { reason: format!("{what} was not decided: {limit}{step}") };
}
