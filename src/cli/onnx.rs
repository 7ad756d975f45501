//! QONNX files on the command line: parsing, with notes about removed operators, and the output of `info`.

use super::source::ReadNetwork;
use super::{Failure, Global, report, say, schema};
use crate::cmvm;
use crate::diag::{Diagnostic, Diagnostics, Place, printable};
use crate::ir::{Layers, Model};
use crate::network::graph::quant::{QUANT_PROBLEM, QuantFile};
use crate::network::onnx::{self, OnnxMeaning, Refusal, front, lower};
use crate::network::quantise::Quantiser;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

/// Options for parsing a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options<'a> {
    /// Path of the quantisation file.
    pub(super) quant_file: Option<&'a Path>,
    /// Type of the input port; `None` for that of the first quantiser.
    pub(super) input_type: Option<Quantiser>,
    /// Largest number of expected adders.
    pub(super) max_adders: u64,
    /// Largest width of a table's input in bits.
    pub(super) max_table_bits: u32,
    /// Latency limit and search budget of each matrix.
    pub(super) cmvm: cmvm::Options,
}

/// Parses and lowers a file. Returns the program, its layers, and the reference semantics of the network.
///
/// # Errors
/// If the file is invalid or not supported; the message names the node (exit code 2).
pub(super) fn read(
    bytes: &[u8],
    file: &str,
    options: &Options<'_>,
    quant: &QuantFile,
    global: Global,
) -> Result<(Model, Layers, ReadNetwork), Failure> {
    let refused = |refusals| refused(refusals, file, options.quant_file);
    let limits = onnx::Options { max_adders: options.max_adders, folder: folder(file) };
    let network = onnx::read_with(bytes, &limits, quant).map_err(refused)?;
    let (weights, adders) = (network.size.weights(), network.size.adders());
    if global.verbose {
        say(&format!("{weights} weights, some {adders} adders expected"), global);
    }
    if let Some(cut) = &network.cut {
        let message = format!("the {cut} at the end was removed: its inputs are the outputs");
        let note = Diagnostic::note("N0820", Place::Path("graph.output".into()), message).in_file(file.as_ref());
        report(&note.into(), global);
    }
    if let Some(warning) = float_weights(bytes, &network) {
        report(&warning.in_file(file.as_ref()).into(), global);
    }
    let front = front::front(&network, options.input_type).map_err(|r| refused(vec![r]))?;
    let lowering = lower::Options { max_table_bits: options.max_table_bits, cmvm: options.cmvm };
    let lowered = lower::lower(&network, &front, &lowering).map_err(|fault| match fault {
        lower::Refused::Network(refusal) => refused(vec![refusal]),
        lower::Refused::Latency(missed) => Failure::input(missed.diagnostic().in_file(file.as_ref())),
    })?;
    let types = lowered.model.output_intervals().to_vec();
    let meaning = Box::new(OnnxMeaning::new(network, front, lowered.units, types));
    let form = format!("ONNX, {weights} weights");
    Ok((lowered.model, lowered.layers, ReadNetwork { meaning, form }))
}

/// Returns the folder of a file, which may contain external data; `None` for standard input.
fn folder(file: &str) -> Option<&Path> {
    Path::new(file).parent().filter(|_| file != "-")
}

/// Converts refusals to a failure; `quant_file` is the path of the quantisation file.
fn refused(refusals: Vec<Refusal>, file: &str, quant_file: Option<&Path>) -> Failure {
    let one = |refusal: &Refusal| match quant_file.filter(|_| refusal.is_of_quant()) {
        Some(path) => Diagnostic { code: QUANT_PROBLEM, ..diagnostic(refusal, &path.to_string_lossy()) },
        None => diagnostic(refusal, file),
    };
    Failure::input(Diagnostics(refusals.iter().map(one).collect()))
}

/// Returns the structure of a file with missing records; `None` if no records are missing, and for a file that is
/// rejected for another reason.
pub(super) fn incomplete(bytes: &[u8], file: &str, max_adders: u64, quant: &QuantFile) -> Option<onnx::Structure> {
    let limits = onnx::Options { max_adders, folder: folder(file) };
    onnx::structure(bytes, &limits, quant).ok().filter(|structure| !structure.missing.is_empty())
}

/// Number of significant bits above which a weight counts as not quantised.
const FLOAT_BITS: u64 = 16;

/// Returns a warning if a file has floating-point weights and no quantiser.
fn float_weights(bytes: &[u8], network: &onnx::Network) -> Option<Diagnostic> {
    // Nearly every network has a quantiser among its steps; this check avoids the scan of all weights.
    if network.steps.iter().any(|step| step.operator.ends_with("Quant")) {
        return None;
    }
    let weights = network.size.matrices.first()?;
    let constants = (0..network.tensors.len()).filter_map(|tensor| network.constant(tensor));
    // Weights are small, so a long numerator means many fractional bits.
    let bits = constants.flat_map(|tensor| &tensor.values).map(|value| value.numerator().bits()).max()?;
    if bits <= FLOAT_BITS || onnx::summary(bytes).ok()?.operators.keys().any(|name| name.ends_with("Quant")) {
        return None;
    }
    let message = format!("the network has no quantiser: its weights, of up to {bits} bits, and all sums stay exact");
    let help = "export it with quantisers (Brevitas, QKeras), or choose types with `alir2hdl calibrate`";
    Some(Diagnostic::warning("W0820", Place::Path(printable(&weights.0)), message).with_help(help))
}

/// Returns the contents of a file as JSON if the file is unusable or records are missing; `None` if the file may be
/// usable.
///
/// # Errors
/// If the file is not ONNX (exit code 2).
pub(super) fn info_json(
    bytes: &[u8],
    file: &str,
    incomplete: Option<&onnx::Structure>,
) -> Result<Option<String>, Failure> {
    let mut summary = onnx::summary(bytes).map_err(|r| Failure::input(diagnostic(&r, file)))?;
    if is_usable(&summary) && incomplete.is_none() {
        return Ok(None);
    }
    let missing = incomplete.into_iter().flat_map(|structure| &structure.missing);
    summary.refusals.extend(missing.map(|node| Refusal::new(node.place.clone(), node.message.clone())));
    let nodes = summary.nodes.iter().enumerate().map(|(index, node)| {
        json!({ "index": index, "place": node.place, "needed": node.needed, "supported": node.supported })
    });
    let initialisers = summary.buffers.iter();
    let initialisers = initialisers.map(|(name, shape, bytes)| json!({ "name": name, "shape": shape, "bytes": bytes }));
    let refusals = summary.refusals.iter().map(|r| json!({ "place": r.place, "message": r.message, "help": r.help }));
    let operators = summary.operators.iter();
    let operators = operators
        .map(|(operator, (count, supported))| json!({ "operator": operator, "nodes": count, "supported": supported }));
    let ports = |ports: &[onnx::PortSummary]| {
        ports.iter().map(|p| json!({ "name": p.name, "shape": p.shape })).collect::<Vec<_>>()
    };
    let all = json!({
        "form": "ONNX",
        "usable": false,
        "input_list": ports(&summary.inputs),
        "output_list": ports(&summary.outputs),
        "operators": operators.collect::<Vec<_>>(),
        "node_list": nodes.collect::<Vec<_>>(),
        "initialiser_list": initialisers.collect::<Vec<_>>(),
        "refusals": refusals.collect::<Vec<_>>(),
    });
    Ok(Some(schema::document("alir2hdl.info-onnx/1", &all)))
}

/// Returns `true` if the summary of a file shows no reason why the file cannot be used.
fn is_usable(summary: &onnx::Summary) -> bool {
    summary.refusals.is_empty() && summary.nodes.iter().all(|node| node.supported || !node.needed)
}

/// Converts a refusal to a diagnostic of the file.
fn diagnostic(refusal: &Refusal, file: &str) -> Diagnostic {
    let place = if refusal.place.is_empty() { Place::Whole } else { Place::Path(refusal.place.clone()) };
    let diagnostic = Diagnostic::error("E0820", place, refusal.message.clone()).in_file(file.as_ref());
    match &refusal.help {
        Some(help) => diagnostic.with_help(help.clone()),
        None => diagnostic,
    }
}

/// Returns a description of a file as text, with a list of its initialisers if `all`, and `true` if the file may be
/// usable.
///
/// # Errors
/// If the file is not ONNX (exit code 2).
pub(super) fn info(
    bytes: &[u8],
    file: &str,
    all: bool,
    incomplete: Option<&onnx::Structure>,
) -> Result<(String, bool), Failure> {
    let summary = onnx::summary(bytes).map_err(|r| Failure::input(diagnostic(&r, file)))?;
    let mut text = String::new();
    let needed = summary.nodes.iter().filter(|node| node.needed).count();
    let _ = writeln!(text, "ONNX file: {} nodes, {needed} of them needed by the output", summary.nodes.len());
    for (label, ports) in [("input", &summary.inputs), ("output", &summary.outputs)] {
        for port in ports {
            let _ = writeln!(text, "{label:<6}  {} [{}]", printable(&port.name), printable(&port.shape.join(", ")));
        }
    }
    for (operator, (count, supported)) in &summary.operators {
        let remark = if *supported { "" } else { "   not supported" };
        let _ = writeln!(text, "  {count:6}  {}{remark}", printable(operator));
    }
    let bytes: u64 = summary.buffers.iter().map(|(_, _, bytes)| bytes).sum();
    let hint = if all { "" } else { " (-v lists them)" };
    let _ = writeln!(text, "{} initialisers, {bytes} bytes{hint}", summary.buffers.len());
    for (name, shape, bytes) in summary.buffers.iter().filter(|_| all) {
        let _ = writeln!(text, "  {} {shape:?}, {bytes} bytes", printable(name));
    }
    for node in summary.nodes.iter().filter(|node| node.needed && !node.supported) {
        let _ = writeln!(text, "not supported: {}", printable(&node.place));
    }
    for refusal in &summary.refusals {
        let _ = writeln!(text, "not usable: {}", printable(&refusal.to_string()));
    }
    if let Some(structure) = incomplete {
        let (weights, adders) = (structure.size.weights(), structure.size.adders());
        let _ = writeln!(text, "{weights} weights, some {adders} adders expected");
        for node in &structure.missing {
            let _ = writeln!(text, "{}: {}", printable(&node.place), printable(&node.message));
        }
    }
    let usable = is_usable(&summary) && incomplete.is_none();
    Ok((text, usable))
}
