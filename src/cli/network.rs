//! What sub-commands do differently for a network: samples through its golden evaluator, its listing, its ports in the
//! interface JSON.

use super::{ExitStatus, Failure, Global, report, schema};
use crate::diag::{Diagnostic, Place};
use crate::interp::samples::{Port, Reader, Values, Writer, input_ports};
use crate::ir::Model;
use crate::network::deviation::Deviation;
use crate::network::exact::Rational;
use crate::network::graph::outline::size_of;
use crate::network::graph::quant::QuantFile;
use crate::network::graph::{Graph, Kind, Role};
use crate::network::port::{self, Encoder, Group, InputElement, Meaning};
use crate::network::quantise::Quantiser;
use crate::num::Kif;
use crate::verify::own;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Rows that are read at a time.
const BLOCK: usize = 256;

/// Samples through the golden evaluator.
pub(super) struct Run<'a> {
    /// The lowered program, for the types of its ports.
    pub(super) model: &'a Model,
    /// What is run.
    pub(super) meaning: &'a dyn Meaning,
    /// The samples.
    pub(super) input: &'a Path,
    /// Which array of an archive.
    pub(super) array: Option<&'a str>,
    /// Where the results go.
    pub(super) output: Option<&'a Path>,
    /// Whether both are port codes.
    pub(super) codes: bool,
    /// Whether the floating-point network runs, and the error of the other against it is printed.
    pub(super) float: bool,
}

impl Run<'_> {
    /// Runs all samples.
    ///
    /// # Errors
    /// What is wrong with the files (exit code 2).
    pub(super) fn run(&self, global: Global) -> Result<ExitStatus, Failure> {
        let mut reader =
            Reader::open(self.input, self.array, self.model.input_kifs(), self.codes).map_err(Failure::input)?;
        let columns: Vec<Kif> = (0..self.model.outputs().len()).map(|j| self.model.output_kif(j)).collect();
        let mut writer = match self.output {
            Some(path) => Some(Writer::create(path, &columns, self.codes, reader.rows()).map_err(Failure::input)?),
            None => None,
        };
        let ports = input_ports(self.model);
        let (inputs, mut errors) = (self.meaning.inputs(), Errors::new(self.meaning.output_groups()));
        let (mut block, mut sample) = (Values::default(), 0usize);
        loop {
            let rows = reader.read(BLOCK, &mut block).map_err(Failure::input)?;
            if rows == 0 {
                break;
            }
            let mut reals = Vec::with_capacity(rows * columns.len());
            let mut whole = Vec::new();
            for row in 0..rows {
                let fail = |(k, why): (usize, String)| {
                    let message = format!("sample {}, input {k}: {why}", sample + row);
                    Failure::input(
                        Diagnostic::error(own::NO_CODE, Place::Whole, message).in_file(reader.name().as_ref()),
                    )
                };
                let codes = self.codes_of(&block, row, inputs, &ports).map_err(fail)?;
                let exact = self.meaning.evaluate(&codes);
                if self.float {
                    let row = (0..inputs.len()).map(|k| number(&block, row * inputs.len() + k)).collect::<Vec<f64>>();
                    errors.add(&exact, &self.meaning.evaluate_float(&row));
                }
                if self.codes {
                    let units = self.meaning.output_units();
                    let code = |(k, value): (usize, &Rational)| units[k].code(value, columns[k].frac.into());
                    let row: Option<Vec<BigInt>> = exact.iter().enumerate().map(code).collect();
                    whole.extend(row.ok_or_else(|| fail((0, "an output that its type does not hold".into())))?);
                } else {
                    reals.extend(exact.iter().map(Rational::to_f64));
                }
            }
            sample += rows;
            if let Some(writer) = &mut writer {
                let values = match (self.codes, whole.iter().map(ToPrimitive::to_i64).collect::<Option<Vec<i64>>>()) {
                    (false, _) => Values::Reals(reals),
                    (true, Some(small)) => Values::Integers(small),
                    (true, None) => Values::Wide(whole),
                };
                writer.write(&values, &[]).map_err(Failure::input)?;
            }
        }
        if let Some(writer) = writer {
            writer.finish().map_err(Failure::input)?;
        }
        report(&reader.take_notes(), global);
        match self.float {
            true => super::print(errors.table().as_bytes()),
            false => Ok(ExitStatus::Ok),
        }
    }

    fn codes_of(
        &self,
        block: &Values,
        row: usize,
        inputs: &[InputElement],
        ports: &[Port],
    ) -> Result<Vec<BigInt>, (usize, String)> {
        let code = |k: usize| {
            let index = row * inputs.len() + k;
            if self.codes {
                return block.code(index, ports[k], true);
            }
            Ok(inputs[k].encoder.code(&port::number(block, index)?))
        };
        (0..inputs.len()).map(|k| code(k).map_err(|why| (k, why))).collect()
    }
}

fn number(block: &Values, index: usize) -> f64 {
    match block {
        Values::Reals(v) => v[index],
        other => other.number(index).to_f64(),
    }
}

/// How far a network lies from its floating-point form, by output.
pub(super) struct Errors {
    groups: Vec<(Group, Deviation)>,
}

impl Errors {
    fn new(groups: &[Group]) -> Errors {
        Errors { groups: groups.iter().map(|group| (group.clone(), Deviation::default())).collect() }
    }

    fn add(&mut self, exact: &[Rational], float: &[f64]) {
        let mut pairs = exact.iter().zip(float);
        for (group, sums) in &mut self.groups {
            for (exact, float) in pairs.by_ref().take(group.size) {
                sums.add(exact.to_f64(), *float);
            }
        }
    }

    /// The table for people.
    fn table(&self) -> String {
        let mut text = format!("{:<24} {:>12} {:>12} {:>10}\n", "output", "mean error", "largest", "SNR dB");
        for (group, sums) in &self.groups {
            let ratio = match sums.ratio() {
                Some(ratio) if ratio.is_finite() => format!("{ratio:.1}"),
                Some(_) => "-".into(),
                None => "exact".into(),
            };
            let name = crate::diag::printable(&group.name);
            let (mean, largest) = (sums.mean(), sums.largest());
            text.push_str(&format!("{name:<24} {mean:>12.6} {largest:>12.6} {ratio:>10}\n"));
        }
        text
    }
}

/// The ports of a network for the interface JSON: names, types, what codes mean, how real inputs become codes.
pub(super) fn interface(meaning: &dyn Meaning, model: &Model) -> Value {
    let mut inputs = Vec::new();
    let mut first = 0;
    for group in meaning.input_groups() {
        // Elements that are alike are told once.
        let elements = &meaning.inputs()[first..first + group.size];
        let mut runs: Vec<(usize, &InputElement)> = Vec::new();
        for element in elements {
            match runs.last_mut() {
                Some((count, last)) if *last == element => *count += 1,
                _ => runs.push((1, element)),
            }
        }
        let mut start = first;
        let elements: Vec<Value> = runs
            .into_iter()
            .map(|(count, element)| {
                let value = json!({
                    "first": start,
                    "count": count,
                    "type": element.kif.to_string(),
                    "scale": element.unit.scale.to_fraction(),
                    "offset": element.unit.offset.to_fraction(),
                    "encoder": encoder(&element.encoder),
                });
                start += count;
                value
            })
            .collect();
        inputs.push(json!({ "name": group.name, "first": first, "count": group.size, "elements": elements }));
        first += group.size;
    }
    let mut outputs = Vec::new();
    let mut first = 0;
    for group in meaning.output_groups() {
        let element = |k: usize| {
            let unit = &meaning.output_units()[k];
            json!({
                "type": model.output_kif(k).to_string(),
                "scale": unit.scale.to_fraction(),
                "offset": unit.offset.to_fraction(),
            })
        };
        let elements: Vec<Value> = (first..first + group.size).map(element).collect();
        outputs.push(json!({ "name": group.name, "first": first, "count": group.size, "elements": elements }));
        first += group.size;
    }
    json!({ "inputs": inputs, "outputs": outputs })
}

fn encoder(encoder: &Encoder) -> Value {
    let formula = encoder.to_string();
    match encoder {
        Encoder::Quantise(Quantiser { kif, round, overflow }) => {
            json!({ "formula": formula, "type": kif.to_string(), "round": round.name(), "overflow": overflow.name() })
        }
        Encoder::Affine { gain, bias, low, high, round, zero } => json!({
            "formula": formula,
            "gain": gain.to_fraction(),
            "bias": bias.to_fraction(),
            "low": low.to_string(),
            "high": high.to_string(),
            "round": round.name(),
            "zero": zero.to_string(),
        }),
        Encoder::Sign { gain, bias } => {
            json!({ "formula": formula, "gain": gain.to_fraction(), "bias": bias.to_fraction() })
        }
    }
}

/// Nodes of one operation: how many, weights, thirds of adders, and whether the operation is supported.
type Row = (usize, u128, u128, Result<&'static str, String>);

/// The listing of a graph for `info`: one screen, or with its buffers if `all`.
pub(super) fn listing(graph: &Graph, quant: &QuantFile, as_json: bool, all: bool) -> String {
    let supported = |kind: &Kind| match kind {
        Kind::Unsupported(why) | Kind::Faulty(why) => Err(why.clone()),
        Kind::Norm { .. } => Ok("with a constant rstd"),
        _ => Ok("yes"),
    };
    let mut by_op: BTreeMap<&str, Row> = BTreeMap::new();
    for node in &graph.nodes {
        let size = size_of(graph, node, quant);
        let entry = by_op.entry(&node.op).or_insert((0, 0, 0, supported(&node.kind)));
        entry.0 += 1;
        entry.1 += size.weights;
        entry.2 += size.thirds;
    }
    let adders = |thirds: u128| (thirds + 1) / 3;
    let bytes = |b: &crate::network::graph::Buffer| {
        let size = match b.dtype.as_str() {
            "fp32" => 4,
            "bf16" | "fp16" => 2,
            "int8" => 1,
            _ => return None,
        };
        b.sizes.iter().try_fold(size, |n: u64, &s| n.checked_mul(s))
    };
    let role = |role: Role| format!("{role:?}").to_lowercase();
    let (weights, thirds) = by_op.values().fold((0, 0), |(w, t), entry| (w + entry.1, t + entry.2));
    if as_json {
        let nodes = graph.nodes.iter().map(|node| {
            let size = size_of(graph, node, quant);
            json!({
                "index": node.index, "layer": node.layer, "op": node.op, "kernel": node.kernel, "nth": node.nth,
                "runs": node.runs, "supported": supported(&node.kind).is_ok(), "why_not": supported(&node.kind).err(),
                "weights": size.weights as u64, "expected_adders": size.adders() as u64,
            })
        });
        let buffers = graph.buffers.iter().map(|b| {
            json!({
                "name": b.name, "scope": if b.layered { "layer" } else { "global" }, "role": role(b.role), "dtype": b.dtype,
                "shape": b.sizes, "one_token": b.shape(), "bytes": bytes(b), "alias_of": graph.buffers[b.root].name,
            })
        });
        let all = json!({
            "form": "IR v2 graph",
            "layers": graph.layers().len(),
            "nodes": graph.nodes.len(),
            "buffers": graph.buffers.len(),
            "weights": weights as u64,
            "expected_adders": adders(thirds) as u64,
            "node_list": nodes.collect::<Vec<_>>(),
            "buffer_list": buffers.collect::<Vec<_>>(),
        });
        return schema::document("alir2hdl.info-network/1", &all);
    }
    let mut text = format!(
        "IR v2 graph: {} layers, {} nodes, {} buffers\n{weights} weights in matrices, {} expected adders\n\n",
        graph.layers().len(),
        graph.nodes.len(),
        graph.buffers.len(),
        adders(thirds)
    );
    text.push_str(&format!("{:<16} {:>6} {:>14} {:>16}  supported\n", "operation", "nodes", "weights", "adders"));
    for (op, (count, weights, thirds, supported)) in &by_op {
        let said = match supported {
            Ok(text) => (*text).to_string(),
            Err(why) => format!("no: {why}"),
        };
        let op = crate::diag::printable(op);
        text.push_str(&format!(
            "{op:<16} {count:>6} {weights:>14} {:>16}  {}\n",
            adders(*thirds),
            crate::diag::printable(&said)
        ));
    }
    if !all {
        text.push_str(&format!("\n{} buffers (-v lists them)\n", graph.buffers.len()));
        return text;
    }
    text.push_str(&format!("\n{:<20} {:<7} {:<11} {:<6} {:>14}  shape\n", "buffer", "scope", "role", "dtype", "bytes"));
    for buffer in &graph.buffers {
        let alias = match graph.buffers[buffer.root].name == buffer.name {
            true => String::new(),
            false => format!(", the storage of {}", graph.buffers[buffer.root].name),
        };
        let line = format!(
            "{:<20} {:<7} {:<11} {:<6} {:>14}  {:?}{alias}",
            buffer.name,
            if buffer.layered { "layer" } else { "global" },
            role(buffer.role),
            buffer.dtype,
            bytes(buffer).map_or_else(|| "-".into(), |n| n.to_string()),
            buffer.sizes
        );
        text.push_str(&crate::diag::printable(&line));
        text.push('\n');
    }
    text
}
