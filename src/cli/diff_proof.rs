//! `alir2hdl diff --prove`: proves or refutes that two models are equal for every input.

use super::Failure;
use super::diff::codes;
use super::input::FileFacts;
use crate::compile::{self, Spec};
use crate::diag::counted;
use crate::emit::Language;
use crate::interp::samples::{Port, input_ports, output_ports};
use crate::ir::Model;
use crate::ir::machine::Machine;
use crate::prove::equiv::{Report, Request, Verdict};
use crate::prove::options::ProofBudget;
use crate::prove::sat::Embedded;
use crate::prove::{self, machine, pair};
use crate::rtl;
use crate::verify::{MachineRun, Rows};
use num_bigint::BigInt;
use serde::Serialize;

/// Maximum number of printed cycles of a counterexample; the last cycles are the most useful ones.
const CYCLES: usize = 8;

/// Result of a proof that two programs are equal.
#[derive(Debug, Serialize)]
pub(super) struct DiffProof {
    /// `proved`, `differs` or `unknown`.
    pub(super) verdict: &'static str,
    /// Reason why the designs are not proved equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Inputs for which the reference interpreters of both designs return different outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) counterexample: Option<ShownDifference>,
    /// Further remarks about the verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

/// Inputs that show a difference.
#[derive(Debug, Serialize)]
pub(super) struct ShownDifference {
    /// Raw integer values of the first design's inputs; for a state machine in each cycle from power-on.
    pub(super) inputs: Vec<Vec<String>>,
    /// The counterexample's inputs as raw integer values of the second model, where its ports have other types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inputs_of_second: Option<Vec<String>>,
    pub(super) output: String,
    /// Raw integer and real value of the output in both designs.
    pub(super) first: String,
    pub(super) second: String,
}

/// Returns the request for a comparison of two programs.
fn request(budget: ProofBudget) -> Request {
    Request { latency: Some(0), limits: budget.limits(), work: Some(budget.work()), ..Request::default() }
}

impl DiffProof {
    /// Builds the verdict `unknown`, with the reason that the comparison is impossible or undecided.
    fn unknown(reason: String) -> DiffProof {
        DiffProof { verdict: "unknown", reason: Some(reason), counterexample: None, notes: Vec::new() }
    }

    /// Builds the verdict `differs` for a difference that needs no counterexample.
    pub(super) fn differs(reason: String) -> DiffProof {
        DiffProof { verdict: "differs", reason: Some(reason), counterexample: None, notes: Vec::new() }
    }

    fn new(verdict: &Verdict) -> DiffProof {
        match verdict {
            Verdict::Proved => DiffProof { verdict: "proved", reason: None, counterexample: None, notes: Vec::new() },
            Verdict::Differs { reason, .. } => DiffProof::differs(reason.clone()),
            Verdict::Unknown { reason } => DiffProof::unknown(reason.clone()),
        }
    }

    /// Returns the result as text; the last line has the verdict.
    pub(super) fn to_human_text(&self) -> String {
        let mut text = String::new();
        if let Some(found) = &self.counterexample {
            let first = found.inputs.len().saturating_sub(CYCLES);
            for (cycle, row) in found.inputs.iter().enumerate().skip(first) {
                let when = if found.inputs.len() > 1 { format!(" in cycle {cycle}") } else { String::new() };
                text.push_str(&format!("  inputs{when} (codes): {}\n", codes(row)));
            }
            if let Some(row) = &found.inputs_of_second {
                text.push_str(&format!("  the same as codes of the second: {}\n", codes(row)));
            }
        }
        for note in &self.notes {
            text.push_str(&format!("  {note}\n"));
        }
        let reason = crate::diag::printable(self.reason.as_deref().unwrap_or_default());
        text.push_str(&match self.verdict {
            "proved" => "proved: the same outputs for every input\n".to_owned(),
            verdict => format!("{verdict}: {reason}\n"),
        });
        text
    }

    fn from_machine_verdict(verdict: &machine::Verdict) -> DiffProof {
        match verdict {
            machine::Verdict::Proved => DiffProof::new(&Verdict::Proved),
            machine::Verdict::Differs { reason, .. } => DiffProof::differs(reason.clone()),
            machine::Verdict::Unknown { reason } => DiffProof::unknown(reason.clone()),
        }
    }
}

/// Proves or refutes that two programs are equal for every input. Lowered programs are also compared with their
/// sources.
pub(super) fn prove_models(
    (a, of_a): (&Model, &FileFacts),
    (b, of_b): (&Model, &FileFacts),
    effort: ProofBudget,
) -> Result<DiffProof, Failure> {
    for (what, x, y) in [("input", a.n_inputs(), b.n_inputs()), ("output", a.outputs().len(), b.outputs().len())] {
        if x != y {
            return Ok(DiffProof::differs(format!(
                "{} in the first, {y} in the second",
                counted(x, &format!("{what} element"))
            )));
        }
    }
    let (report, difference) = prove::models(a, b, &request(effort));
    let mut proof = DiffProof::new(&report.verdict);
    if let Some(difference) = difference {
        let shown = counterexample(a, b, &difference);
        proof.reason =
            Some(format!("{} is {} in the first, {} in the second", shown.output, shown.first, shown.second));
        proof.counterexample = Some(shown);
    }
    if proof.verdict != "proved" {
        return Ok(proof);
    }
    for (which, model, facts) in [("first", a, of_a), ("second", b, of_b)] {
        let Some((kind, report)) = own_meaning(model, facts, effort) else { continue };
        match report.verdict {
            Verdict::Proved => {
                proof.notes.push(format!("the {which} is the {kind} that it was lowered from: proved too"))
            }
            Verdict::Differs { reason, .. } => {
                let message = format!("the {which} is not the {kind} that it was lowered from: {reason}");
                return Err(Failure::bug(message));
            }
            Verdict::Unknown { reason } => {
                let reason = format!(
                    "the lowered programs are equal, but whether the {which} is its {kind} was not decided: {reason}"
                );
                return Ok(DiffProof::unknown(reason));
            }
        }
    }
    Ok(proof)
}

/// Compares a lowered program with its source, if it has one; also returns the kind of the source.
fn own_meaning(model: &Model, facts: &FileFacts, effort: ProofBudget) -> Option<(String, Report)> {
    let source = facts.source(model)?;
    let report = prove::source_of(model, &*source, &request(effort));
    Some((source.kind().to_owned(), report))
}

fn shown(code: &BigInt, port: &Port) -> String {
    format!("{code} ({})", port.real_of_code(code).0)
}

fn strings(codes: &[BigInt]) -> Vec<String> {
    codes.iter().map(ToString::to_string).collect()
}

fn counterexample(a: &Model, b: &Model, found: &pair::Difference) -> ShownDifference {
    let j = found.output;
    ShownDifference {
        inputs: vec![strings(&found.inputs[0])],
        inputs_of_second: (input_ports(a) != input_ports(b)).then(|| strings(&found.inputs[1])),
        output: format!("output {j}"),
        first: shown(&found.codes[0], &output_ports(a)[j]),
        second: shown(&found.codes[1], &output_ports(b)[j]),
    }
}

/// Proves or refutes that two state machines are equal from power-on: generates RTL of the second machine without
/// optimisation, and proves this RTL equal to each of the two machines.
pub(super) fn prove_machines(a: &Machine, b: &Machine, effort: ProofBudget) -> DiffProof {
    let ports = |m: &Machine| {
        let port = |id| (m.signal(id).name.clone(), m.signal(id).elements.clone());
        [m.inputs().map(port).collect::<Vec<_>>(), m.outputs().map(port).collect()]
    };
    if ports(a) != ports(b) {
        return DiffProof::differs("the ports have other names or types".into());
    }
    // RTL may choose the initial value of an undefined register, so the RTL of one machine proves nothing about the
    // other.
    let undefined = |m: &Machine| {
        let open =
            m.signals().iter().find(|s| s.kind == crate::ir::machine::SignalKind::Register && s.reset_to.is_none());
        open.map(|signal| signal.name.clone())
    };
    if let Some(name) = undefined(a).or_else(|| undefined(b)) {
        return DiffProof::unknown(format!(
            "register {name:?} has no value at power-on, where machines cannot be compared"
        ));
    }
    let spec = Spec {
        optimisation: compile::Optimisation { passes: compile::Passes::Level(0), ..Default::default() },
        ..Spec::default()
    };
    let text = match compile::machine(b, &spec) {
        Ok(hardware) => hardware.text(Language::Verilog),
        Err(error) => {
            return DiffProof::unknown(format!("no hardware can be made of the second: {}", error.diagnostics));
        }
    };
    let rtl = match rtl::read(rtl::Language::Verilog, &text, None) {
        Ok(rtl) => rtl,
        Err(why) => return DiffProof::unknown(format!("the hardware of the second cannot be read: {why}")),
    };
    let request =
        machine::MachineRequest { limits: effort.limits(), work: effort.work(), ..machine::MachineRequest::default() };
    let against = |design: &Machine| prove::state_machine(design, &rtl, &request, &|| Box::new(Embedded)).0.verdict;
    let verdict = against(a);
    if let machine::Verdict::Differs { counterexample: Some(found), .. } = &verdict {
        return confirmed(a, b, found.inputs.clone());
    }
    let proof = DiffProof::from_machine_verdict(&verdict);
    match (proof.verdict, against(b)) {
        ("proved", machine::Verdict::Proved) => proof,
        ("proved", _) => DiffProof::unknown("whether hardware of the second is the second was not decided".into()),
        // A difference without counterexample, such as a control port, is not a difference between values.
        ("differs", _) => DiffProof::unknown(proof.reason.unwrap_or_default()),
        _ => proof,
    }
}

/// Returns the difference that inputs from power-on show, if the reference simulator confirms it.
fn confirmed(a: &Machine, b: &Machine, inputs: Vec<Vec<BigInt>>) -> DiffProof {
    let width = inputs.first().map_or(0, Vec::len);
    let rows = Rows::new(width, inputs.clone());
    let runs = [a, b].map(|machine| MachineRun::interpreted(machine, rows.clone()));
    let mut names = Vec::new();
    for id in a.outputs() {
        let signal = a.signal(id);
        for (k, &kif) in signal.elements.iter().enumerate() {
            names
                .push((format!("output port {:?}, element {k}", signal.name), Port { kif, frac: i64::from(kif.frac) }));
        }
    }
    for cycle in 0..inputs.len() {
        for (j, (name, port)) in names.iter().enumerate() {
            let seen = |run: &MachineRun| match run.defined()[cycle][j] {
                true => shown(&run.outputs().row(cycle)[j], port),
                false => "undefined".to_owned(),
            };
            let (first, second) = (seen(&runs[0]), seen(&runs[1]));
            if first != second {
                let mut proof = DiffProof::differs(format!(
                    "{name} is {first} in the first, {second} in the second, in cycle {cycle} from power-on"
                ));
                proof.counterexample = Some(ShownDifference {
                    inputs: inputs[..=cycle].iter().map(|row| strings(row)).collect(),
                    inputs_of_second: None,
                    output: name.clone(),
                    first,
                    second,
                });
                return proof;
            }
        }
    }
    DiffProof::unknown("a difference was found that the golden simulator does not confirm".into())
}
