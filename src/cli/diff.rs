//! `alir2hdl diff`: compares two models, optionally with a proof, or two RTL files.

use super::diff_proof::{self, DiffProof};
use super::diff_rtl;
use super::input::{Design, InputArgs};
use super::proof_effort::ProofEffortArgs;
use super::rtl_files::is_rtl;
use super::{ExitStatus, Failure, Global, print, schema};
use crate::diag::{Diagnostic, Place, counted};
use crate::interp::meaning;
use crate::interp::samples::{Port, input_ports, output_ports};
use crate::ir::machine::{Machine, SignalId};
use crate::ir::{Model, ValueId, align};
use crate::num::{align as align_code, wrap};
use crate::verify::arrays::types_of;
use crate::verify::{MachineRun, Rows, Vectors, machine_stimulus};
use num_bigint::BigInt;
use serde::Serialize;
use std::collections::HashSet;
use std::path::PathBuf;

/// Compare two models, on samples or for every input, or two RTL files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl diff old.json.gz new.json.gz
  alir2hdl diff old.json.gz new.json.gz --samples 100000 --seed 7
  alir2hdl diff old.json.gz new.json.gz --json | jq .outputs
  alir2hdl diff kernel.llv model.json.gz --prove         equal for every input, or inputs that show where not
  alir2hdl diff old.v new.v                              signals whose drivers differ

Models are equal (exit code 0) if ports, operations, tables and connections are the same; else they are different \
(1), also where the outputs agree on every sample: samples are no proof. Declared intervals, latencies and costs are \
not compared. Samples are the corners of both models' inputs and random ones; a sample is a real number, which each \
model quantises as it does. Operations are counted from 0 in each file; one whose operands are other operations \
counts as changed, and is left out if it only reads a changed operation of the same number.

--prove proves that the outputs are the same numbers for every input, whatever the operations of the models. Exit \
code 0: proved; 1: they differ (for inputs that the reference interpreters of both confirm); 5: undecided. Where ports \
have different types, an input is any number of the smallest type that holds those of both, which each model \
quantises as it does. A lookup outside its table reads zero.

RTL files of one language (.v, .sv, .vhd or .vhdl) are elaborated and their signals aligned like operations of \
models. A signal differs if its driver does; other names of internal signals are counted, and are no difference. \
Whether RTL computes the same is decided by `alir2hdl prove MODEL FILE`.")]
#[command(
    mut_arg("prove_effort", |arg| arg.requires("prove")),
    mut_arg("work", |arg| arg.requires("prove")),
    mut_arg("sat_steps", |arg| arg.requires("prove"))
)]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The model that it is compared with
    #[arg(value_name = "OTHER")]
    other: PathBuf,
    /// Compare on this many samples; cycles of a state machine [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    samples: Option<u32>,
    /// Draw other samples [default: 1]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Prove that the outputs are equal for every input, or show where not
    #[arg(long)]
    prove: bool,
    #[command(flatten)]
    effort: ProofEffortArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Default number of samples, and default seed.
const SAMPLES: u32 = 1000;
const SEED: u64 = 1;

/// Differences between two designs.
#[derive(Debug, Default, Serialize)]
pub(super) struct Difference {
    /// `true` for two RTL files.
    #[serde(skip)]
    pub(super) is_rtl: bool,
    pub(super) equal: bool,
    /// Structural differences: kind of design, number of ports, connections.
    pub(super) shape: Vec<String>,
    /// Ports with different types.
    pub(super) ports: Vec<PortChange>,
    pub(super) operations: Vec<Operations>,
    pub(super) outputs: Outputs,
    /// Result of `--prove`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proof: Option<DiffProof>,
}

/// Port with different types in the two designs.
#[derive(Debug, Serialize)]
pub(super) struct PortChange {
    pub(super) port: String,
    pub(super) first: String,
    pub(super) second: String,
}

/// Changes to a program's operations and tables, or to the signals of RTL.
#[derive(Debug, Default, Serialize)]
pub(super) struct Operations {
    /// Block of a state machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) block: Option<String>,
    pub(super) first: usize,
    pub(super) second: usize,
    /// Operations of the first design without an equal one in the second.
    pub(super) removed: Vec<Operation>,
    /// Operations of the second design without an equal one in the first.
    pub(super) added: Vec<Operation>,
    /// Number of equal RTL signals with different names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) renamed: Option<usize>,
    /// Indices of look-up tables with different entries, or that only one design has.
    pub(super) tables: Vec<usize>,
}

#[derive(Debug, Serialize)]
pub(super) struct Operation {
    pub(super) operation: usize,
    pub(super) what: String,
    /// Name of the signal (RTL).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signal: Option<String>,
    /// Line of its declaration, from 1 (RTL).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
}

impl Operation {
    /// Returns number and text of the operation.
    fn key(&self) -> (usize, String) {
        (self.operation, self.what.clone())
    }
}

/// Results of the comparison at the outputs.
#[derive(Debug, Default, Serialize)]
pub(super) struct Outputs {
    /// Number of compared samples; 0 if the ports are incompatible.
    samples: usize,
    different: Vec<OutputChange>,
}

/// Output with different values.
#[derive(Debug, Serialize)]
struct OutputChange {
    output: String,
    /// Number of samples with a difference; the next field is the first such sample, from 0.
    samples: usize,
    first_sample: usize,
    /// Raw integer values on the first design's inputs in this sample; for a state machine in this cycle.
    inputs: Vec<String>,
    /// Output values in this sample, as raw integer values with their real values.
    first: String,
    second: String,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let mut found = match [args.input.path(), &args.other].map(is_rtl) {
        [true, true] => {
            args.refuse_rtl_options()?;
            diff_rtl::compare(args.input.path(), &args.other)?
        }
        [false, false] => args.compare_designs(global)?,
        _ => {
            let message = "one file is RTL, the other a model";
            let help = "`alir2hdl prove MODEL FILE` decides whether RTL computes a model";
            return Err(Failure::input(Diagnostic::error("E0802", Place::Whole, message).with_help(help)));
        }
    };
    let changed = |o: &Operations| !(o.removed.is_empty() && o.added.is_empty() && o.tables.is_empty());
    found.operations.retain(|o| o.block.is_none() || changed(o));
    found.equal = found.shape.is_empty()
        && found.ports.is_empty()
        && found.outputs.different.is_empty()
        && !found.operations.iter().any(changed);
    let text = if args.json { schema::document("alir2hdl.diff/1", &found) } else { to_human_text(&found) };
    print(text.as_bytes())?;
    Ok(match found.proof.as_ref().map(|proof| proof.verdict) {
        Some("proved") => ExitStatus::Ok,
        Some("unknown") => ExitStatus::Undecided,
        None if found.equal => ExitStatus::Ok,
        _ => ExitStatus::Mismatch,
    })
}

impl Args {
    /// Compares two models or two state machines, with a proof if it is requested.
    fn compare_designs(&self, global: Global) -> Result<Difference, Failure> {
        let (first, facts) = self.input.read_design(global)?;
        let (second, other_facts) = self.input.with_path(&self.other).read_design(global)?;
        let (count, seed) = (self.samples.unwrap_or(SAMPLES) as usize, self.seed.unwrap_or(SEED));
        const KINDS: &str = "one is a program, the other a state machine";
        let mut found = match (&first, &second) {
            (Design::Model(a), Design::Model(b)) => compare_models(a, b, count, seed),
            (Design::Machine(a), Design::Machine(b)) => compare_machines(a, b, count, seed),
            _ => Difference { shape: vec![KINDS.into()], ..Difference::default() },
        };
        if self.prove {
            let effort = self.effort.budget();
            found.proof = Some(match (&first, &second) {
                (Design::Model(a), Design::Model(b)) => {
                    diff_proof::prove_models((a, &facts), (b, &other_facts), effort)?
                }
                (Design::Machine(a), Design::Machine(b)) => diff_proof::prove_machines(a, b, effort),
                _ => DiffProof::differs(KINDS.into()),
            });
        }
        Ok(found)
    }

    /// Returns an error for options that need models.
    fn refuse_rtl_options(&self) -> Result<(), Failure> {
        let given = [("--prove", self.prove), ("--samples", self.samples.is_some()), ("--seed", self.seed.is_some())];
        let refuse = |flag: &str| {
            let message = "RTL files are compared by their structure";
            let help = "`alir2hdl prove MODEL FILE` proves RTL equal to its model";
            Diagnostic::error("E0802", Place::Flag(flag.into()), message).with_help(help)
        };
        let problems: Vec<Diagnostic> =
            given.iter().filter(|(_, given)| *given).map(|(flag, _)| refuse(flag)).collect();
        if problems.is_empty() { Ok(()) } else { Err(Failure::input(crate::diag::Diagnostics(problems))) }
    }
}

fn compare_models(a: &Model, b: &Model, count: usize, seed: u64) -> Difference {
    let mut found = Difference::default();
    let mut same_shape = true;
    for (what, x, y) in [("input", a.n_inputs(), b.n_inputs()), ("output", a.outputs().len(), b.outputs().len())] {
        if x != y {
            same_shape = false;
            found.shape.push(format!("{x} {what} elements in the first, {y} in the second"));
        }
    }
    let inputs = (input_ports(a), input_ports(b));
    let outputs = (output_ports(a), output_ports(b));
    found.ports.extend(ports("input", &inputs.0, &inputs.1));
    found.ports.extend(ports("output", &outputs.0, &outputs.1));
    let operations = operations(a, b);
    let reordered = a.outputs().iter().zip(b.outputs()).position(|(x, y)| (x.neg, x.shift) != (y.neg, y.shift));
    if let Some(at) = reordered {
        let [x, y] = [a, b].map(|model| {
            let output = &model.outputs()[at];
            format!("{}2^{}", if output.neg { "-" } else { "" }, output.shift)
        });
        found
            .shape
            .push(format!("output {at} is its operation's value times {x} in the first, times {y} in the second"));
    } else if operations.removed.is_empty() && operations.added.is_empty() && same_shape {
        let moved = a.outputs().iter().zip(b.outputs()).position(|(x, y)| x.source != y.source);
        found.shape.extend(moved.map(|at| format!("output {at} shows another operation")));
    }
    found.operations.push(operations);
    if same_shape {
        let rows = samples(a, b, (&inputs.0, &inputs.1), count, seed);
        let results = rows.clone().map(|(model, rows)| Vectors::from_inputs(model, rows).outputs);
        let name = |j: usize| format!("output {j}");
        found.outputs = compare(&rows[0].1, (&outputs.0, &outputs.1), &results, &[], name);
    }
    found
}

/// Returns samples with corner cases of both models and random values, as raw integer values of each model's inputs.
fn samples<'m>(
    a: &'m Model,
    b: &'m Model,
    (of_a, of_b): (&[Port], &[Port]),
    count: usize,
    seed: u64,
) -> [(&'m Model, Rows); 2] {
    if of_a == of_b {
        let rows = Vectors::generate_inputs(a, count, seed);
        return [(a, rows.clone()), (b, rows)];
    }
    let own =
        [(a, of_a), (b, of_b)].map(|(model, types)| (Vectors::generate_inputs(model, count.div_ceil(2), seed), types));
    let codes = |to: &[Port]| {
        let mut rows = Vec::new();
        for (from, types) in &own {
            for i in 0..from.len() {
                let moved = from.row(i).iter().zip(types.iter().zip(to));
                rows.push(
                    moved.map(|(code, (from, to))| wrap(&align_code(code, from.frac, to.frac), to.kif)).collect(),
                );
            }
        }
        Rows::new(to.len(), rows)
    };
    [(a, codes(of_a)), (b, codes(of_b))]
}

/// Returns the ports with different types, among those that both designs have.
fn ports<'p>(what: &'p str, a: &'p [Port], b: &'p [Port]) -> impl Iterator<Item = PortChange> + 'p {
    let shown = |port: &Port| match port.frac - i64::from(port.kif.frac) {
        0 => port.kif.to_string(),
        shift => format!("{}, times 2^{shift}", port.kif),
    };
    let pairs = a.iter().zip(b).enumerate().filter(|(_, (x, y))| x != y);
    pairs.map(move |(k, (x, y))| PortChange { port: format!("{what} {k}"), first: shown(x), second: shown(y) })
}

/// Compares the outputs of two runs as real numbers; `defined` marks valid values of both runs, if not all are valid.
fn compare(
    inputs: &Rows,
    (of_a, of_b): (&[Port], &[Port]),
    [a, b]: &[Rows; 2],
    defined: &[[&[bool]; 2]],
    name: impl Fn(usize) -> String,
) -> Outputs {
    let mut different: Vec<Option<OutputChange>> = of_a.iter().map(|_| None).collect();
    for sample in 0..a.len() {
        for (j, (x, y)) in a.row(sample).iter().zip(b.row(sample)).enumerate() {
            let known = defined.get(sample).map_or([true; 2], |[a, b]| [a[j], b[j]]);
            let frac = of_a[j].frac.max(of_b[j].frac);
            let same = known[0] == known[1]
                && (!known[0] || align_code(x, of_a[j].frac, frac) == align_code(y, of_b[j].frac, frac));
            if same {
                continue;
            }
            let shown = |code: &BigInt, known, port: &Port| match known {
                true => format!("{code} ({})", port.real_of_code(code).0),
                false => "undefined".to_owned(),
            };
            let change = different[j].get_or_insert_with(|| OutputChange {
                output: name(j),
                samples: 0,
                first_sample: sample,
                inputs: inputs.row(sample).iter().map(ToString::to_string).collect(),
                first: shown(x, known[0], &of_a[j]),
                second: shown(y, known[1], &of_b[j]),
            });
            change.samples += 1;
        }
    }
    Outputs { samples: a.len(), different: different.into_iter().flatten().collect() }
}

/// Returns the changes between the operations of two programs.
fn operations(a: &Model, b: &Model) -> Operations {
    let kind = |model: &Model, id: ValueId| {
        let mut op = model.node(id).op.clone();
        op.map_operands(|_| ValueId(0));
        (op, model.kif(id))
    };
    let mut partner: Vec<Option<usize>> = vec![None; a.nodes().len()];
    for (x, y) in align(a, b).into_iter().filter(|&(x, y)| kind(a, x) == kind(b, y)) {
        partner[x.index()] = Some(y.index());
    }
    let mut kept = vec![false; b.nodes().len()];
    // A pair of operations is equal only if its operands are pairs too.
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let shown = |model: &Model, k: usize| {
        let id = ValueId(k as u32);
        Operation {
            operation: k,
            what: format!("{}, {}", meaning(model, &model.node(id).op, &|v| v.to_string()), model.kif(id)),
            signal: None,
            line: None,
        }
    };
    for (i, other) in partner.iter().enumerate() {
        let same = other.filter(|&j| {
            let operands = |model: &Model, k: usize| model.node(ValueId(k as u32)).op.operands();
            let renumbered = operands(a, i).into_iter().map(|v| partner[v.index()]);
            renumbered.eq(operands(b, j).into_iter().map(|v| Some(v.index())))
        });
        match same {
            Some(j) => kept[j] = true,
            None => removed.push(shown(a, i)),
        }
    }
    added.extend((0..b.nodes().len()).filter(|&j| !kept[j]).map(|j| shown(b, j)));
    // An operation with the same text in both designs is not reported, as it only reads a changed operation.
    let texts = |list: &[Operation]| list.iter().map(Operation::key).collect::<HashSet<_>>();
    let (in_first, in_second) = (texts(&removed), texts(&added));
    let is_kept = |o: &Operation| !(in_first.contains(&o.key()) && in_second.contains(&o.key()));
    if removed.iter().chain(&added).any(is_kept) {
        removed.retain(is_kept);
        added.retain(is_kept);
    }
    let entries = |model: &Model, k: usize| {
        let table = model.tables().get(k)?;
        Some((table.entries.clone(), table.out.frac))
    };
    let tables = 0..a.tables().len().max(b.tables().len());
    let tables = tables.filter(|&k| entries(a, k) != entries(b, k)).collect();
    Operations { first: a.nodes().len(), second: b.nodes().len(), removed, added, tables, ..Operations::default() }
}

fn compare_machines(a: &Machine, b: &Machine, cycles: usize, seed: u64) -> Difference {
    let mut found = Difference::default();
    let lists = |machine: &Machine| [machine.inputs().collect::<Vec<_>>(), machine.outputs().collect::<Vec<_>>()];
    let (of_a, of_b) = (lists(a), lists(b));
    for (what, x, y) in [("input", &of_a[0], &of_b[0]), ("output", &of_a[1], &of_b[1])] {
        let names = |machine: &Machine, ids: &[SignalId]| {
            ids.iter().map(|&id| machine.signal(id).name.clone()).collect::<Vec<_>>()
        };
        let (names_a, names_b) = (names(a, x), names(b, y));
        if names_a != names_b {
            let all = [names_a, names_b].map(|names| format!("{names:?}"));
            found.shape.push(format!("{what} ports {} in the first, {} in the second", all[0], all[1]));
            continue;
        }
        for (&x, &y) in x.iter().zip(y) {
            let (types_a, types_b) = (types_of(a, x), types_of(b, y));
            if types_a.len() != types_b.len() {
                let name = &a.signal(x).name;
                let message = format!("{what} port {name:?} has {} and {} elements", types_a.len(), types_b.len());
                found.shape.push(message);
            }
            let what = format!("{what} port {:?}, element", a.signal(x).name);
            found.ports.extend(ports(&what, &types_a, &types_b));
        }
    }
    let comparable = found.shape.is_empty() && found.ports.iter().all(|change| change.port.starts_with("output"));
    let names = |machine: &Machine| machine.blocks().iter().map(|block| block.name.clone()).collect::<Vec<_>>();
    if names(a) == names(b) {
        for (x, y) in a.blocks().iter().zip(b.blocks()) {
            found.operations.push(Operations { block: Some(x.name.clone()), ..operations(&x.model, &y.model) });
        }
    } else {
        found.shape.push(format!("blocks {:?} in the first, {:?} in the second", names(a), names(b)));
    }
    if a.signals() != b.signals() {
        found.shape.push("signals or registers differ".into());
    }
    if a.connections() != b.connections() {
        found.shape.push("connections differ".into());
    }
    if comparable {
        let inputs = machine_stimulus(a, cycles, seed);
        let runs = [a, b].map(|machine| MachineRun::interpreted(machine, inputs.clone()));
        let flat =
            |machine: &Machine, ids: &[SignalId]| ids.iter().flat_map(|&id| types_of(machine, id)).collect::<Vec<_>>();
        let of_element: Vec<String> = of_a[1]
            .iter()
            .flat_map(|&id| {
                let signal = a.signal(id);
                (0..signal.elements.len()).map(move |k| format!("output port {:?}, element {k}", signal.name))
            })
            .collect();
        let defined: Vec<[&[bool]; 2]> =
            runs[0].defined().iter().zip(runs[1].defined()).map(|(x, y)| [x.as_slice(), y.as_slice()]).collect();
        let results = [runs[0].outputs().clone(), runs[1].outputs().clone()];
        let types = (flat(a, &of_a[1]), flat(b, &of_b[1]));
        found.outputs = compare(&inputs, (&types.0, &types.1), &results, &defined, |j| of_element[j].clone());
    }
    found
}

/// Maximum number of printed lines of each kind.
const SHOWN: usize = 10;

/// Appends the first lines, and the number of omitted ones.
fn cut(lines: impl ExactSizeIterator<Item = String>, text: &mut String) {
    let more = lines.len().saturating_sub(SHOWN);
    lines.take(SHOWN).for_each(|line| text.push_str(&format!("{line}\n")));
    if more > 0 {
        text.push_str(&format!("  ... and {more} more\n"));
    }
}

/// Returns the first raw integer values, and their number if some are omitted.
pub(super) fn codes(all: &[String]) -> String {
    match all.len() {
        0..=16 => all.join(" "),
        n => format!("{} ... ({n} codes; all with --json)", all[..16].join(" ")),
    }
}

fn to_human_text(found: &Difference) -> String {
    let mut text = String::new();
    cut(found.shape.iter().map(|line| crate::diag::printable(line)), &mut text);
    let port = |p: &PortChange| format!("{}: {} in the first, {} in the second", p.port, p.first, p.second);
    cut(found.ports.iter().map(port), &mut text);
    for operations in &found.operations {
        let block = operations.block.as_ref().map(|name| format!("block {name:?}: ")).unwrap_or_default();
        let (removed, added) = (operations.removed.len(), operations.added.len());
        if removed + added > 0 {
            let Operations { first, second, .. } = operations;
            let unit = if found.is_rtl { "signals" } else { "operations" };
            text.push_str(&format!("{block}{first} and {second} {unit}, {removed} removed, {added} added\n"));
            let line = |sign: char, o: &Operation| match o.line {
                Some(line) => format!("  {sign} line {line}: {}", o.what),
                None => format!("  {sign} {} {}", o.operation, o.what),
            };
            cut(operations.removed.iter().map(|o| line('-', o)), &mut text);
            cut(operations.added.iter().map(|o| line('+', o)), &mut text);
        }
        if let Some(renamed) = operations.renamed.filter(|renamed| *renamed > 0) {
            text.push_str(&format!("{} with another name\n", crate::diag::counted(renamed, "equal signal")));
        }
        if !operations.tables.is_empty() {
            let shown: Vec<String> = operations.tables.iter().take(SHOWN).map(ToString::to_string).collect();
            let more = if operations.tables.len() > SHOWN { ", ..." } else { "" };
            text.push_str(&format!("{block}tables that differ: {}{more}\n", shown.join(", ")));
        }
    }
    let Outputs { samples, different } = &found.outputs;
    let all_samples = counted(*samples, "sample");
    let is_proof = found.proof.is_some();
    let output = |o: &OutputChange| {
        let inputs = codes(&o.inputs);
        format!(
            "{}: differs in {} of {all_samples}, first in {}: {} and {}\n  inputs (codes): {inputs}",
            o.output, o.samples, o.first_sample, o.first, o.second
        )
    };
    cut(different.iter().map(output), &mut text);
    text.push_str(&match (found.equal, samples, different.is_empty()) {
        (true, ..) if found.is_rtl => "equal: the same ports, signals and operations\n".to_owned(),
        (false, ..) if found.is_rtl => "different\n".to_owned(),
        (true, ..) => format!("equal: the same program, and the same outputs on {all_samples}\n"),
        (false, 0, _) => "different; the outputs cannot be compared\n".to_owned(),
        (false, _, true) if is_proof => {
            format!("other operations, with the same outputs on {all_samples}\n")
        }
        (false, _, true) => {
            format!("different, with the same outputs on {all_samples} (--prove decides about every input)\n")
        }
        (false, ..) => "different\n".to_owned(),
    });
    if let Some(proof) = &found.proof {
        text.push_str(&proof.to_human_text());
    }
    text
}
