//! Calibration (section 3 of the contract, `docs/network.md`): derives the types of all buffers and weights from
//! samples, so that the fixed-point network approximates the floating-point network.
//!
//! The search starts with the contract's baseline rule: each buffer is signed if any value is negative, has the fewest
//! integer bits without overflow, and all other bits are fractional. Then the search moves the binary point of one
//! buffer or weight at a time, as long as the mean error over the samples decreases: a few values saturate, all others
//! have a finer step. A move is rejected if it makes any output worse than the baseline.
//!
//! Calibration runs networks in binary64, quantised by the rules of the contract. With types of up to 16 bits every sum
//! is exact; entries of tables are computed by libm.

use super::bind::{BoundNetwork, Constants, Operation, Step};
use super::layout::Operand;
use super::read::Graph;
use crate::deviation::Deviation;
use crate::function::Function;
use crate::json::Value;
use alir_core::num::Kif;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Largest width of a calibrated type in bits: the largest input of a table.
pub const MAX_BITS: u32 = 16;

/// Maximum number of samples in the search; the report covers all samples.
const SEARCHED: usize = 512;

/// Number of passes of the search over all types.
const SWEEPS: usize = 3;

/// Widths in bits.
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    /// Width of buffers.
    pub activations: u32,
    /// Width of weights.
    pub weights: u32,
}

/// Error of one buffer against its floating-point values.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferError {
    /// Name of the buffer, `LAYER:NAME` or `NAME`.
    pub name: String,
    /// Type of the buffer; `None` if it is exact.
    pub kif: Option<Kif>,
    /// `true` if the buffer is an output of the network.
    pub output: bool,
    /// Smallest and largest floating-point value.
    pub range: (f64, f64),
    /// Fraction of the elements that saturate.
    pub saturated: f64,
    /// Mean of the absolute error over samples and elements.
    pub mean: f64,
    /// Largest absolute error.
    pub largest: f64,
    /// Signal-to-noise ratio in dB; `None` without an error.
    pub ratio: Option<f64>,
}

/// Result of calibration.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// Content of the quantisation file.
    pub file: String,
    /// Errors of the buffers in the order of their computation, inputs first.
    pub report: Vec<BufferError>,
    /// Mean error of each output with the baseline types, in the order of the outputs.
    pub baseline: Vec<f64>,
}

/// Types of buffers, weights and biases by name, and of tables within nodes by node.
#[derive(Clone, Debug, Default, PartialEq)]
struct Types {
    buffers: BTreeMap<String, Kif>,
    weights: BTreeMap<String, Kif>,
    biases: BTreeMap<String, Kif>,
    /// Types of the scales of scores and of the tables of rotations.
    constants: BTreeMap<String, Kif>,
    tables: BTreeMap<String, Kif>,
}

/// Name of the type that a move of the search changes.
#[derive(Clone, Debug)]
enum Key {
    Buffer(String),
    Weight(String),
    Table(String),
}

/// Searches types for a network, and ignores its current types. The result file keeps the constants of norms in the
/// settings `nodes`. A sample is a row with the elements of all inputs.
///
/// # Errors
/// If a value is not finite.
pub fn calibrate(
    graph: &Graph,
    program: &BoundNetwork,
    samples: &[Vec<f64>],
    bits: Bits,
    nodes: Option<&Value>,
) -> Result<Calibration, String> {
    let search = Search::new(graph, program, samples)?;
    let baseline = search.baseline(bits);
    let all = search.errors(&baseline, samples.len());
    let found = search.improved(&baseline);
    // The search runs on a part of the samples. Its types are used only if no output is worse over all samples.
    let errors = search.errors(&found, samples.len());
    let types = if errors.iter().zip(&all).all(|(x, y)| x <= y) { found } else { baseline };
    Ok(Calibration { file: search.file(&types, nodes), report: search.report(&types), baseline: all })
}

struct Search<'a> {
    graph: &'a Graph,
    program: &'a BoundNetwork,
    samples: &'a [Vec<f64>],
    /// Values of every slot of the floating-point network, for each sample.
    floats: Vec<Vec<Vec<f64>>>,
    /// Smallest and largest table value of each step with an internal table.
    tables: BTreeMap<String, (f64, f64)>,
}

/// Returns the key in the quantisation file of a step's table; `None` if the step has no internal table.
fn table_key(graph: &Graph, step: &Step) -> Option<String> {
    let node = graph.nodes.get(step.node)?;
    matches!(step.operation, Operation::Swiglu { .. }).then(|| format!("{}:{}:{}", node.layer, node.op, node.nth))
}

/// Returns the smallest number of integer bits `i` with `|x| < 2^i`.
fn integer_bits(x: f64) -> i32 {
    let mut bits = x.abs().log2().floor() as i32 + 1;
    // The logarithm is rounded, so the estimate may be too small or too large.
    while x.abs() >= 2f64.powi(bits) {
        bits += 1;
    }
    while x.abs() < 2f64.powi(bits - 1) {
        bits -= 1;
    }
    bits
}

/// Returns the type by the baseline rule: signed if any value is negative, fewest integer bits, all other bits
/// fractional.
fn type_of((low, high): (f64, f64), bits: u32) -> Kif {
    let most = low.abs().max(high.abs());
    if most == 0.0 {
        return Kif { signed: false, int: 1, frac: 0 };
    }
    let (signed, int) = (low < 0.0, integer_bits(most));
    Kif { signed, int, frac: bits as i32 - i32::from(signed) - int }
}

fn joined(range: (f64, f64), x: f64) -> (f64, f64) {
    (range.0.min(x), range.1.max(x))
}

fn range_of(constants: &Constants) -> (f64, f64) {
    constants.floats.iter().fold((0.0, 0.0), |range, &x| joined(range, x))
}

/// Returns the type of an intermediate value of a node, from its range or, for records with a fixed range, from `bits`.
fn record_type(record: &str, range: (f64, f64), bits: u32) -> Kif {
    let n = bits as i32;
    match record {
        "difference" => Kif { signed: true, int: 3, frac: n - 4 },
        "exp" | "probability" => Kif { signed: false, int: 1, frac: n - 1 },
        "inverse" => Kif { signed: false, int: 1, frac: n + 2 },
        _ => type_of(range, bits),
    }
}

/// Returns the constants of a step that have separate types.
fn weights_of(step: &Step) -> Vec<&Constants> {
    match &step.operation {
        Operation::Product { matrix: weights, .. }
        | Operation::Norm { factors: weights, .. }
        | Operation::Normalise { factors: weights, .. } => vec![weights],
        Operation::Embed { rows, .. } => {
            [Some(&rows.weight), rows.positions.as_ref()].into_iter().flatten().map(AsRef::as_ref).collect()
        }
        _ => Vec::new(),
    }
}

/// Rounds to the nearest representable value, halves up or to even, with saturation; returns `true` if it saturates.
fn quantised(x: f64, kif: Kif, to_even: bool) -> (f64, bool) {
    let step = 2f64.powi(-kif.frac);
    let exact = x / step;
    let code = if to_even { exact.round_ties_even() } else { (exact + 0.5).floor() };
    let top = 2f64.powi(kif.int + kif.frac) - 1.0;
    let bottom = if kif.signed { -top - 1.0 } else { 0.0 };
    (code.clamp(bottom, top) * step, code < bottom || code > top)
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, program: &'a BoundNetwork, samples: &'a [Vec<f64>]) -> Result<Search<'a>, String> {
        let mut search = Search { graph, program, samples, floats: Vec::new(), tables: BTreeMap::new() };
        search.floats = samples.iter().map(|row| search.run(row, None).0).collect();
        if search.floats.iter().flatten().flatten().any(|x| !x.is_finite()) {
            return Err("a value of the floating-point network is not finite".into());
        }
        for step in &program.steps {
            if let (Operation::Swiglu { x, .. }, Some(key)) = (&step.operation, table_key(graph, step)) {
                let mut range = (0.0, 0.0);
                for slots in &search.floats {
                    for token in 0..step.layout.tokens {
                        let gates = x.token(slots, token);
                        let silu = |x: &f64| Function::Silu.approximate(*x);
                        range = gates.iter().take(step.per_token()).map(silu).fold(range, joined);
                    }
                }
                search.tables.insert(key, range);
            }
        }
        Ok(search)
    }

    /// Returns the names of intermediate values of nodes, with their records.
    fn record_slots(&self) -> BTreeMap<&str, &'static str> {
        let slots = self.program.steps.iter().filter_map(|step| Some((step.slot, step.record?)));
        slots.map(|(slot, record)| (self.program.names[slot].name.as_str(), record)).collect()
    }

    /// Returns `true` if the slot contains the row indices of an embedding. The number of rows determines their type.
    fn is_id(&self, slot: usize) -> bool {
        self.program
            .steps
            .iter()
            .any(|step| matches!(&step.operation, Operation::Embed { ids, .. } if ids.slot == slot))
    }

    /// Returns the range of each buffer over the samples, by name.
    fn ranges(&self) -> BTreeMap<String, (f64, f64)> {
        let mut ranges: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for (slot, group) in self.program.names.iter().enumerate().filter(|(slot, _)| !self.is_id(*slot)) {
            let range = ranges.entry(group.name.clone()).or_insert((0.0, 0.0));
            *range = self.floats.iter().flat_map(|slots| &slots[slot]).fold(*range, |range, &x| joined(range, x));
        }
        ranges
    }

    fn baseline(&self, bits: Bits) -> Types {
        let mut types = Types::default();
        let records = self.record_slots();
        for (name, range) in self.ranges() {
            let kif = match records.get(name.as_str()) {
                Some(record) => record_type(record, range, bits.activations),
                None => type_of(range, bits.activations),
            };
            types.buffers.insert(name, kif);
        }
        for step in &self.program.steps {
            let constants = match &step.operation {
                Operation::Scores { scale, .. } => scale,
                Operation::Rotate { table, .. } => table,
                _ => continue,
            };
            // The scale has two bits more than a value, because its error affects every score.
            types.constants.insert(constants.name.clone(), type_of(range_of(constants), bits.activations + 2));
        }
        for (key, range) in &self.tables {
            types.tables.insert(key.clone(), type_of(*range, bits.activations));
        }
        for step in &self.program.steps {
            for weights in weights_of(step) {
                types.weights.insert(weights.name.clone(), type_of(range_of(weights), bits.weights));
            }
        }
        self.with_biases(types)
    }

    /// Sets the types of biases: the fractional bits of the sum, and one integer bit more than the range of the bias
    /// needs.
    fn with_biases(&self, mut types: Types) -> Types {
        types.biases.clear();
        for step in &self.program.steps {
            let frac_of = |x: &Operand| types.buffers[&self.program.names[x.slot].name].frac;
            let (bias, frac) = match &step.operation {
                Operation::Product { x, matrix, bias: Some(bias) } => {
                    (bias, frac_of(x) + types.weights[&matrix.name].frac)
                }
                Operation::Norm { x, factors, bias: Some(bias), .. } => {
                    (bias, frac_of(x) + types.weights[&factors.name].frac)
                }
                Operation::Normalise { x, rstd, factors, bias: Some(bias), .. } => {
                    let rstd = frac_of(&Operand::whole(*rstd));
                    (bias, frac_of(x) + types.weights[&factors.name].frac + rstd)
                }
                // The finer one of the steps of the input and of the output.
                Operation::AddConstants { x, bias } => (bias, frac_of(x).max(frac_of(&Operand::whole(step.slot)))),
                _ => continue,
            };
            let range = range_of(bias);
            let whole = type_of(range, 1).int + 1;
            let frac = types.biases.get(&bias.name).map_or(frac, |known| known.frac.max(frac));
            types.biases.insert(bias.name.clone(), Kif { signed: true, int: whole.max(1 - frac), frac });
        }
        types
    }

    /// Runs a sample: returns the values of every slot, quantised by `types` if given, and the number of saturated
    /// elements of each slot.
    fn run(&self, row: &[f64], types: Option<(&Types, &Numbers)>) -> (Vec<Vec<f64>>, Vec<usize>) {
        let program = self.program;
        let mut slots: Vec<Vec<f64>> = vec![Vec::new(); program.slots];
        let mut saturated = vec![0; program.slots];
        let mut fill = |slots: &mut Vec<Vec<f64>>, slot: usize, mut values: Vec<f64>| {
            if let Some((types, _)) = types
                && let Some(&kif) = types.buffers.get(&program.names[slot].name)
            {
                for value in &mut values {
                    let (near, over) = quantised(*value, kif, false);
                    *value = near;
                    saturated[slot] += usize::from(over);
                }
            }
            slots[slot] = values;
        };
        let mut rest = row.iter().copied();
        for input in &program.inputs {
            let values = rest.by_ref().take(input.elements).collect();
            fill(&mut slots, input.slot, values);
        }
        for step in &program.steps {
            let table = types.and_then(|(types, _)| types.tables.get(&table_key(self.graph, step)?).copied());
            let values = computed(step, &slots, types.map(|t| t.1), table);
            fill(&mut slots, step.slot, values);
        }
        (slots, saturated)
    }

    /// Returns the constants quantised by these types.
    fn numbers(&self, types: &Types) -> Numbers {
        let mut numbers = Numbers::default();
        let mut add = |constants: &Constants, kif: Kif| {
            numbers
                .0
                .entry(constants.name.clone())
                .or_insert_with(|| constants.floats.iter().map(|&x| quantised(x, kif, true).0).collect());
        };
        for step in &self.program.steps {
            for weights in weights_of(step) {
                add(weights, types.weights[&weights.name]);
            }
            match &step.operation {
                Operation::Product { bias: Some(bias), .. }
                | Operation::Norm { bias: Some(bias), .. }
                | Operation::Normalise { bias: Some(bias), .. }
                | Operation::AddConstants { bias, .. } => add(bias, types.biases[&bias.name]),
                Operation::Scores { scale: constants, .. } | Operation::Rotate { table: constants, .. } => {
                    add(constants, types.constants[&constants.name]);
                }
                _ => {}
            }
        }
        numbers
    }

    /// Returns the mean error of every output over the first `samples` samples.
    fn errors(&self, types: &Types, samples: usize) -> Vec<f64> {
        let numbers = self.numbers(types);
        let outputs = &self.program.outputs;
        let mut sums = vec![0.0; outputs.len()];
        for (row, floats) in self.samples.iter().zip(&self.floats).take(samples) {
            let (slots, _) = self.run(row, Some((types, &numbers)));
            for (sum, &slot) in sums.iter_mut().zip(outputs) {
                *sum += slots[slot].iter().zip(&floats[slot]).map(|(x, y)| (x - y).abs()).sum::<f64>();
            }
        }
        let count = |slot: usize| (samples.min(self.samples.len()) * self.program.names[slot].size).max(1) as f64;
        sums.iter().zip(outputs).map(|(sum, &slot)| sum / count(slot)).collect()
    }

    /// Returns types with a smaller mean error: moves each binary point as long as the error decreases and no output is
    /// worse than with the baseline types.
    fn improved(&self, baseline: &Types) -> Types {
        let first = self.errors(baseline, SEARCHED);
        let score =
            |errors: &[f64]| errors.iter().zip(&first).map(|(x, y)| if *y > 0.0 { x / y } else { *x }).sum::<f64>();
        let (mut best, mut least) = (baseline.clone(), score(&first));
        // Types of intermediate values follow from the widths and the ranges.
        let records = self.record_slots();
        let buffers = baseline.buffers.keys().filter(|name| !records.contains_key(name.as_str()));
        let keys = [
            buffers.cloned().map(Key::Buffer).collect::<Vec<_>>(),
            baseline.tables.keys().cloned().map(Key::Table).collect(),
            baseline.weights.keys().cloned().map(Key::Weight).collect(),
        ];
        for _ in 0..SWEEPS {
            let before = least;
            for key in keys.iter().flatten() {
                for by in [-1, 1] {
                    while let Some(moved) = self.moved(&best, key, by) {
                        let errors = self.errors(&moved, SEARCHED);
                        if score(&errors) >= least || errors.iter().zip(&first).any(|(x, y)| x > y) {
                            break;
                        }
                        (best, least) = (moved, score(&errors));
                    }
                }
            }
            if least >= before {
                break;
            }
        }
        best
    }

    /// Returns the types with one binary point moved by `by` bits; `None` for a buffer of zeros.
    fn moved(&self, types: &Types, key: &Key, by: i32) -> Option<Types> {
        let mut types = types.clone();
        let kif = match key {
            Key::Buffer(name) => types.buffers.get_mut(name),
            Key::Weight(name) => types.weights.get_mut(name),
            Key::Table(name) => types.tables.get_mut(name),
        }?;
        if kif.width() == 1 {
            return None;
        }
        *kif = Kif { int: kif.int + by, frac: kif.frac - by, ..*kif };
        Some(self.with_biases(types))
    }

    fn report(&self, types: &Types) -> Vec<BufferError> {
        let numbers = self.numbers(types);
        let slots = self.program.slots;
        let (mut saturated, mut errors) = (vec![0usize; slots], vec![Deviation::default(); slots]);
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); slots];
        for (row, floats) in self.samples.iter().zip(&self.floats) {
            let (values, over) = self.run(row, Some((types, &numbers)));
            for slot in 0..slots {
                saturated[slot] += over[slot];
                for (x, y) in values[slot].iter().zip(&floats[slot]) {
                    errors[slot].add(*x, *y);
                    ranges[slot] = joined(ranges[slot], *y);
                }
            }
        }
        let row = |slot: usize| {
            let group = &self.program.names[slot];
            let error = errors[slot];
            BufferError {
                name: group.name.clone(),
                kif: types.buffers.get(&group.name).copied(),
                output: self.program.outputs.contains(&slot),
                range: ranges[slot],
                saturated: saturated[slot] as f64 / error.count(),
                mean: error.mean(),
                largest: error.largest(),
                ratio: error.ratio(),
            }
        };
        let inputs = self.program.inputs.iter().map(|input| input.slot);
        inputs.chain(self.program.steps.iter().map(|step| step.slot)).map(row).collect()
    }

    fn file(&self, types: &Types, nodes: Option<&Value>) -> String {
        let entry = |kif: &Kif, round: &str| {
            let Kif { signed, int, frac } = kif;
            format!(
                "{{\"type\": [{}, {int}, {frac}], \"round\": \"{round}\", \"overflow\": \"SAT\"}}",
                u8::from(*signed)
            )
        };
        let mut text = String::from("{\n \"format\": \"alir2hdl-quant\",\n \"version\": 1,\n \"buffers\": {\n");
        let of = |types: &BTreeMap<String, Kif>, round: &'static str| {
            types.iter().map(move |(name, kif)| (name.clone(), entry(kif, round))).collect::<Vec<_>>()
        };
        let mut entries: BTreeMap<String, String> = BTreeMap::new();
        entries.extend(of(&types.biases, "RND_CONV"));
        entries.extend(of(&types.weights, "RND_CONV"));
        let records = self.record_slots();
        let buffers = types.buffers.iter().filter(|(name, _)| !records.contains_key(name.as_str()));
        entries.extend(buffers.map(|(name, kif)| (name.clone(), entry(kif, "RND"))));
        let lines: Vec<String> = entries
            .iter()
            .map(|(name, entry)| format!("  {}: {entry}", Value::String(name.clone()).to_text()))
            .collect();
        let _ = write!(text, "{}\n }},\n \"nodes\": {{", lines.join(",\n"));
        // The given settings of nodes are kept; records within nodes are replaced.
        let mut own: BTreeMap<String, BTreeMap<&str, String>> = BTreeMap::new();
        for (key, kif) in &types.tables {
            own.entry(key.clone()).or_default().insert("table", entry(kif, "RND_CONV"));
        }
        for (name, kif) in &types.constants {
            let Some((key, record)) = name.rsplit_once('.') else { continue };
            let record = if record == "scale" { "scale" } else { "table" };
            own.entry(key.to_owned()).or_default().insert(record, entry(kif, "RND_CONV"));
        }
        for (name, record) in &records {
            let key = name.rsplit_once('.').map_or(*name, |(key, _)| key);
            own.entry(key.to_owned()).or_default().insert(record, entry(&types.buffers[*name], "RND"));
        }
        for records in own.values_mut().filter(|records| records.contains_key("mean_square")) {
            let members: Vec<String> = records.iter().map(|(name, text)| format!("\"{name}\": {text}")).collect();
            *records = BTreeMap::from([("rstd", format!("{{{}}}", members.join(", ")))]);
        }
        let mut lines: Vec<String> = Vec::new();
        let given = nodes.and_then(Value::members).unwrap_or_default();
        for (key, value) in given {
            let ours = own.remove(key).unwrap_or_default();
            // Records of an entry for an operator would be overridden, so only the constants of such an entry are kept.
            let kept = value.members().unwrap_or_default().iter();
            let kept =
                kept.filter(|(name, value)| matches!(name.as_str(), "rstd" | "mean") && value.members().is_none());
            let kept = kept.map(|(name, value)| (name.as_str(), value.to_text()));
            let members: Vec<String> = kept
                .chain(ours)
                .map(|(name, text)| format!("{}: {text}", Value::String(name.to_owned()).to_text()))
                .collect();
            lines.push(format!("\n  {}: {{{}}}", Value::String(key.clone()).to_text(), members.join(", ")));
        }
        for (key, records) in own {
            let members: Vec<String> = records.iter().map(|(name, text)| format!("\"{name}\": {text}")).collect();
            lines.push(format!("\n  {}: {{{}}}", Value::String(key).to_text(), members.join(", ")));
        }
        let end = if lines.is_empty() { "" } else { "\n " };
        let _ = write!(text, "{}{end}}}\n}}\n", lines.join(","));
        text
    }
}

/// Quantised constants by name.
#[derive(Default)]
pub(super) struct Numbers(BTreeMap<String, Vec<f64>>);

/// Computes the values of a step in binary64, before quantisation.
pub(super) fn computed(step: &Step, slots: &[Vec<f64>], numbers: Option<&Numbers>, table: Option<Kif>) -> Vec<f64> {
    let result =
        step.by_token(|token| Ok::<_, std::convert::Infallible>(computed_token(step, slots, numbers, table, token)));
    let Ok(result) = result;
    result
}

fn computed_token(
    step: &Step,
    slots: &[Vec<f64>],
    numbers: Option<&Numbers>,
    table: Option<Kif>,
    token: usize,
) -> Vec<f64> {
    fn values<'a>(constants: &'a Constants, numbers: Option<&'a Numbers>) -> &'a [f64] {
        let found = numbers.and_then(|n| n.0.get(&constants.name)).filter(|n| n.len() == constants.floats.len());
        found.map_or(constants.floats.as_slice(), Vec::as_slice)
    }
    let silu = |x: f64| {
        let y = Function::Silu.approximate(x);
        table.map_or(y, |kif| quantised(y, kif, true).0)
    };
    let count = step.per_token();
    let all = |value: &dyn Fn(usize) -> f64| (0..count).map(value).collect::<Vec<f64>>();
    let mean = |x: &[f64], centred: bool| if centred { x.iter().sum::<f64>() / x.len() as f64 } else { 0.0 };
    match &step.operation {
        Operation::Product { x, matrix, bias } => {
            let (x, matrix) = (x.token(slots, token), values(matrix, numbers));
            let bias = bias.as_ref().map(|bias| values(bias, numbers));
            all(&|k| {
                let row = &matrix[k * x.len()..(k + 1) * x.len()];
                row.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>() + bias.map_or(0.0, |bias| bias[k])
            })
        }
        Operation::AddConstants { x, bias } => {
            let bias = values(bias, numbers);
            all(&|k| x.element(slots, token, k) + bias[k])
        }
        Operation::Add { a, b } => all(&|k| a.element(slots, token, k) + b.element(slots, token, k)),
        Operation::Relu { x } => all(&|k| x.element(slots, token, k).max(0.0)),
        Operation::Table { x, function } => all(&|k| function.approximate(*x.element(slots, token, k))),
        Operation::Swiglu { x, .. } => all(&|k| silu(*x.element(slots, token, k)) * x.element(slots, token, count + k)),
        Operation::Norm { x, mean, factors, bias } => {
            let (mean, factors) = (mean.to_f64(), values(factors, numbers));
            let bias = bias.as_ref().map(|bias| values(bias, numbers));
            all(&|k| (x.element(slots, token, k) - mean) * factors[k] + bias.map_or(0.0, |bias| bias[k]))
        }
        Operation::MeanSquare { x, centred } => {
            let x = x.token(slots, token);
            let mean = mean(&x, *centred);
            vec![x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len() as f64]
        }
        Operation::Normalise { x, centred, rstd, factors, bias } => {
            let (x, factors) = (x.token(slots, token), values(factors, numbers));
            let (mean, rstd) = (mean(&x, *centred), slots[*rstd][token]);
            let bias = bias.as_ref().map(|bias| values(bias, numbers));
            all(&|k| (x[k] - mean) * factors[k] * rstd + bias.map_or(0.0, |bias| bias[k]))
        }
        Operation::Embed { ids, rows } => {
            let (id, weight) = (*ids.element(slots, token, 0), values(&rows.weight, numbers));
            let id = (id >= 0.0 && id < rows.rows as f64).then_some(id as usize);
            all(&|k| {
                let row = id.map_or(0.0, |id| weight[id * count + k]);
                row + rows.positions.as_ref().map_or(0.0, |all| values(all, numbers)[token * count + k])
            })
        }
        Operation::Rotate { x, head_dim, table } => {
            let (half, table) = (head_dim / 2, values(table, numbers));
            all(&|k| {
                let pair = k % half;
                let (cos, sin) = (table[2 * (token * half + pair)], table[2 * (token * half + pair) + 1]);
                let first = x.element(slots, token, k / head_dim * head_dim + pair);
                let second = x.element(slots, token, k / head_dim * head_dim + half + pair);
                if k % head_dim < half { first * cos - second * sin } else { first * sin + second * cos }
            })
        }
        Operation::Scores { q, k, heads, scale } => {
            let scale = values(scale, numbers)[0];
            let mut scores = Vec::with_capacity(step.elements);
            for head in 0..heads.heads {
                for i in 0..heads.tokens {
                    for j in 0..heads.visible(i) {
                        let product = |d: usize| {
                            let query = q.element(slots, i, head * heads.head_dim + d);
                            query * k.element(slots, j, heads.group(head) * heads.head_dim + d)
                        };
                        scores.push((0..heads.head_dim).map(product).sum::<f64>() * scale);
                    }
                }
            }
            scores
        }
        Operation::Difference { x, rows } => {
            let row = |row: usize| {
                let row = &slots[*x][rows.row(row)];
                let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                row.iter().map(move |x| x - most)
            };
            (0..rows.count()).flat_map(row).collect()
        }
        Operation::RowSum { x, rows } => (0..rows.count()).map(|row| slots[*x][rows.row(row)].iter().sum()).collect(),
        Operation::RowProduct { x, factor, rows } => {
            let row = |row: usize| slots[*x][rows.row(row)].iter().map(move |x| x * slots[*factor][row]);
            (0..rows.count()).flat_map(row).collect()
        }
        Operation::Weighted { p, v, heads, rows } => all(&|k| {
            let (head, d) = (k / heads.value_dim, k % heads.value_dim);
            let row = &slots[*p][rows.row(head * heads.tokens + token)];
            let value = |j| v.element(slots, j, heads.group(head) * heads.value_dim + d);
            row.iter().enumerate().map(|(j, p)| p * value(j)).sum()
        }),
        Operation::Copy { x } => slots[*x].clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_rule_uses_the_fewest_integer_bits() {
        let kif = |signed, int, frac| Kif { signed, int, frac };
        assert_eq!(type_of((0.0, 3.99), 8), kif(false, 2, 6));
        assert_eq!(type_of((0.0, 4.0), 8), kif(false, 3, 5));
        assert_eq!(type_of((-0.26, 0.1), 8), kif(true, -1, 8));
        assert_eq!(type_of((-4.0, 0.0), 8), kif(true, 3, 4));
        assert_eq!(type_of((0.0, 0.0), 8).width(), 1);
    }

    #[test]
    fn halves_round_up_or_to_even_and_saturation_is_reported() {
        let kif = Kif { signed: true, int: 1, frac: 1 };
        let up = [-9.0, -0.25, 0.25, 0.75, 1.25, 9.0].map(|x| quantised(x, kif, false));
        assert_eq!(up, [(-2.0, true), (0.0, false), (0.5, false), (1.0, false), (1.5, false), (1.5, true)]);
        assert_eq!([0.25, 0.75, 1.25].map(|x| quantised(x, kif, true).0), [0.0, 1.0, 1.0]);
    }
}
