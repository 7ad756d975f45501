//! Sub-commands on networks: samples through the reference evaluator, listings, ports in the interface JSON.

use super::{ExitStatus, Failure, Global, report, schema};
use crate::diag::{Diagnostic, Place};
use crate::interp::samples::{Port, Reader, Values, Writer, input_ports};
use crate::ir::Model;
use crate::network::deviation::Deviation;
use crate::network::exact::Rational;
use crate::network::graph::outline::{heads, parts, size_of, times};
use crate::network::graph::quant::QuantFile;
use crate::network::graph::{Graph, Kind, Role};
use crate::network::port::{self, Encoder, Group, InputElement, ReferenceSemantics};
use crate::network::quantise::Quantiser;
use crate::num::Kif;
use crate::verify::own;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Number of rows that are read at a time.
const BLOCK: usize = 256;

/// Run of samples through the reference evaluator.
pub(super) struct Run<'a> {
    /// The lowered program, for the types of its ports.
    pub(super) model: &'a Model,
    /// Reference semantics of the network.
    pub(super) meaning: &'a dyn ReferenceSemantics,
    /// File of the samples.
    pub(super) input: &'a Path,
    /// Name of the array in an archive.
    pub(super) array: Option<&'a str>,
    /// File of the results; `None` for stdout.
    pub(super) output: Option<&'a Path>,
    /// `true` if samples and results are raw integer values.
    pub(super) codes: bool,
    /// `true` if the floating-point network runs too, and the error of the quantised network is printed.
    pub(super) float: bool,
}

impl Run<'_> {
    /// Runs all samples.
    ///
    /// # Errors
    /// If a file is invalid or cannot be written (exit code 2).
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
        let mut inner_errors = Errors::new(&self.meaning.inner_groups());
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
                let exact = if self.float {
                    let row = (0..inputs.len()).map(|k| number(&block, row * inputs.len() + k)).collect::<Vec<f64>>();
                    let (exact, inner) = self.meaning.evaluate_all(&codes);
                    let (float, inner_float) = self.meaning.evaluate_all_float(&row);
                    errors.add(&exact, &float);
                    inner_errors.add(&inner, &inner_float);
                    exact
                } else {
                    self.meaning.evaluate(&codes)
                };
                if self.codes {
                    let units = self.meaning.output_units();
                    let code = |(k, value): (usize, &Rational)| units[k].code(value, columns[k].frac.into());
                    let row: Option<Vec<BigInt>> = exact.iter().enumerate().map(code).collect();
                    whole.extend(row.ok_or_else(|| fail((0, "an output that its type cannot represent".into())))?);
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
            true => {
                let inner = self.meaning.has_records() || global.verbose;
                let inner = if inner { inner_errors.table("buffer") } else { String::new() };
                super::print((errors.table("output") + &inner).as_bytes())
            }
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

/// Error of a network against its floating-point model, by output.
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

    /// Formats the errors as a table; empty without groups.
    fn table(&self, title: &str) -> String {
        if self.groups.is_empty() {
            return String::new();
        }
        let mut text = format!("{title:<24} {:>12} {:>12} {:>10}\n", "mean error", "largest", "SNR dB");
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

/// Returns the ports of a network for the interface JSON: names, types, scales of raw integer values, and the
/// conversion of real inputs.
pub(super) fn interface(meaning: &dyn ReferenceSemantics, model: &Model) -> Value {
    let mut inputs = Vec::new();
    let mut first = 0;
    for group in meaning.input_groups() {
        // Elements with equal values are printed once.
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

/// Returns a count as a JSON number, saturated at the largest one.
fn number_of(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Returns a table of heads, tables and multipliers; equal entries of several nodes share a row.
fn parts_table(graph: &Graph, quant: &QuantFile) -> String {
    let (mut all_heads, mut rows) = (BTreeMap::new(), BTreeMap::new());
    for node in &graph.nodes {
        if let Some(heads) = heads(graph, node) {
            let text = format!(
                "{} heads, {} key and value heads, head_dim {}{}",
                heads.heads,
                heads.kv_heads,
                heads.head_dim,
                if heads.causal { ", causal" } else { "" }
            );
            *all_heads.entry((&node.op, text)).or_insert(0u64) += 1;
        }
        let parts = parts(graph, node, quant);
        for table in parts.tables {
            let text = format!("{} bits to {} bits", table.address, table.entry);
            *rows.entry((&node.op, "table", table.name, text)).or_insert(0u128) += table.count;
        }
        for multiplier in parts.multipliers {
            let text = format!("{} x {} bits", multiplier.a, multiplier.b);
            *rows.entry((&node.op, "multiplier", multiplier.name, text)).or_insert(0) += multiplier.count;
        }
    }
    let mut text = String::new();
    for ((op, heads), nodes) in all_heads {
        text.push_str(&format!("\n{}, {nodes} nodes: {heads}", crate::diag::printable(op)));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    if !rows.is_empty() {
        text.push_str(&format!("\n{:<16} {:<11} {:<16} {:>14}  widths\n", "operation", "part", "of", "count"));
    }
    for ((op, part, name, widths), count) in rows {
        text.push_str(&format!("{:<16} {part:<11} {name:<16} {count:>14}  {widths}\n", crate::diag::printable(op)));
    }
    text
}

/// Row of an operation: number of nodes, weights, thirds of adders, and the requirement of the operation (`Ok`) or the
/// reason why the operation is not supported (`Err`).
type Row = (usize, u128, u128, Result<&'static str, String>);

/// Returns the listing of a graph for `info`: a summary, with all nodes and buffers if `all`.
pub(super) fn listing(graph: &Graph, quant: &QuantFile, as_json: bool, all: bool) -> String {
    let supported = |kind: &Kind| match kind {
        Kind::Unsupported(why) | Kind::Faulty(why) => Err(why.clone()),
        Kind::Norm { .. } => Ok("with rstd in the quantisation file"),
        Kind::Attention { .. } | Kind::Softmax { .. } | Kind::Rope { .. } => {
            Ok("with records in the quantisation file")
        }
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
            let parts = parts(graph, node, quant);
            let tables = parts.tables.iter().map(|t| {
                json!({ "name": t.name, "count": number_of(t.count), "address_bits": t.address, "entry_bits": t.entry })
            });
            let multipliers = parts
                .multipliers
                .iter()
                .map(|m| json!({ "name": m.name, "count": number_of(m.count), "widths": [m.a, m.b] }));
            let heads = heads(graph, node).map(
                |h| json!({ "heads": h.heads, "kv_heads": h.kv_heads, "head_dim": h.head_dim, "causal": h.causal }),
            );
            json!({
                "tokens": times(graph, node), "heads": heads, "tables": tables.collect::<Vec<_>>(),
                "multipliers": multipliers.collect::<Vec<_>>(),
                "index": node.index, "layer": node.layer, "op": node.op, "kernel": node.kernel, "nth": node.nth,
                "runs": node.runs, "supported": supported(&node.kind).is_ok(), "why_not": supported(&node.kind).err(),
                "weights": size.weights as u64, "expected_adders": number_of(size.adders()),
            })
        });
        let buffers = graph.buffers.iter().map(|b| {
            json!({
                "name": b.name, "scope": if b.layered { "layer" } else { "global" }, "role": role(b.role),
                "dtype": b.dtype, "shape": b.sizes, "one_token": b.shape(), "bytes": bytes(b),
                "alias_of": graph.buffers[b.root].name,
            })
        });
        let all = json!({
            "form": "IR v2 graph",
            "tokens": graph.window.tokens,
            "position_offset": graph.window.offset,
            "layers": graph.layers().len(),
            "nodes": graph.nodes.len(),
            "buffers": graph.buffers.len(),
            "weights": weights as u64,
            "expected_adders": number_of(adders(thirds)),
            "node_list": nodes.collect::<Vec<_>>(),
            "buffer_list": buffers.collect::<Vec<_>>(),
        });
        return schema::document("alir2hdl.info-network/1", &all);
    }
    let window = &graph.window;
    let tokens = match window.tokens {
        1 => String::new(),
        tokens => format!(", {tokens} tokens from position {}", window.offset),
    };
    let mut text = format!(
        "IR v2 graph: {} layers, {} nodes, {} buffers{tokens}\n{weights} weights in matrices, {} expected adders\n\n",
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
    text.push_str(&parts_table(graph, quant));
    if all {
        text.push_str(&format!("\n{:<28} {:>6} {:>14} {:>16}\n", "node", "tokens", "weights", "adders"));
        for node in &graph.nodes {
            let size = size_of(graph, node, quant);
            let title = crate::diag::printable(&format!("{}. {}", node.index, node.title()));
            let tokens = times(graph, node);
            text.push_str(&format!("{title:<28} {tokens:>6} {:>14} {:>16}\n", size.weights, size.adders()));
        }
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
