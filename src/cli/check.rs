//! `alir2hdl check`: checks whether files are valid models.

use super::input::{Design, InputArgs};
use super::source::{self, Kind};
use super::{ErrorFormat, ExitStatus, Failure, Global, print, report, schema};
use crate::diag::Diagnostics;
use crate::ir::machine::SignalKind;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Check model files and report every problem
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl check model.json.gz
  alir2hdl check models/*.json.gz --json           one JSON object about all of them, on stdout
  alir2hdl check --error-format json model.json    one JSON object a problem, on stderr
  generate | alir2hdl check -

The exit code is 0 if all files are valid, else 2. Each code is explained in docs/errors.md.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// More models
    #[arg(value_name = "MORE")]
    more: Vec<PathBuf>,
    /// Print one JSON object about all files on stdout
    #[arg(long)]
    json: bool,
}

/// Contents of a valid file, as text and as JSON.
struct Found {
    text: String,
    facts: Value,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let paths = std::iter::once(args.input.path()).chain(args.more.iter().map(PathBuf::as_path));
    // Notes about a file are suppressed if the JSON object is printed.
    let within = Global { quiet: global.quiet || args.json, ..global };
    let results = paths.map(|path| (path, look(&args.input.with_path(path), within)));
    if args.json {
        let (document, all_valid) = to_document(results);
        print(document.as_bytes())?;
        return Ok(if all_valid { ExitStatus::Ok } else { ExitStatus::Input });
    }
    let (mut files, mut valid) = (0, 0);
    for (path, result) in results {
        files += 1;
        match result {
            Ok(found) => {
                valid += 1;
                let name = if args.more.is_empty() { String::new() } else { format!("{}: ", shown(path)) };
                if !global.quiet {
                    let lines: Vec<String> = found.text.lines().map(crate::diag::printable).collect();
                    print(format!("{}{}\n", crate::diag::printable(&name), lines.join("\n")).as_bytes())?;
                }
            }
            Err(failure) if args.more.is_empty() => return Err(failure),
            Err(failure) => report(&failure.diagnostics, global),
        }
    }
    if files > 1 && global.error_format == ErrorFormat::Text {
        super::say(&format!("{valid} of {files} files are valid"), global);
    }
    Ok(if valid == files { ExitStatus::Ok } else { ExitStatus::Input })
}

/// Returns all results as one JSON object, and `true` if all files are valid.
fn to_document<'p>(results: impl Iterator<Item = (&'p Path, Result<Found, Failure>)>) -> (String, bool) {
    let mut all_valid = true;
    let file = |(path, result): (&Path, Result<Found, Failure>)| match result {
        Ok(found) => {
            let mut value = json!({ "file": shown(path), "valid": true });
            if let (Value::Object(value), Value::Object(facts)) = (&mut value, found.facts) {
                value.extend(facts);
            }
            value
        }
        Err(Failure { diagnostics: Diagnostics(problems), .. }) => {
            all_valid = false;
            json!({ "file": shown(path), "valid": false, "problems": problems })
        }
    };
    let files: Vec<Value> = results.map(file).collect();
    (schema::document("alir2hdl.check/1", &json!({ "files": files })), all_valid)
}

/// Returns the JSON object of the sub-command for a design in memory.
pub(super) fn document(name: &str, design: &Design, form: &str) -> String {
    let found = std::iter::once((Path::new(name), Ok(describe(design, form))));
    to_document(found).0
}

/// Returns the name of a file for messages.
fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" { "stdin".into() } else { path.display().to_string() }
}

/// Checks one file.
fn look(input: &InputArgs, global: Global) -> Result<Found, Failure> {
    if let Some((Kind::Graph, bytes)) = input.network_file()?
        && !input.sources().has_weights()
    {
        let (sources, name) = (input.sources(), source::shown(input.path()));
        let structure = sources.structure_without_weights(&bytes, &name).map_err(|failure| input.cut(failure))?;
        report(&structure.warnings().in_file(input.path()), global);
        let outline = &structure.outline;
        let (nodes, weights, adders) = (outline.calls.len(), outline.size.weights, outline.size.adders());
        let types = if sources.has_quant() { "" } else { "types and " };
        let text = format!(
            "valid structure: {nodes} nodes run, {weights} weights, some {adders} adders expected; {types}weights \
             were not looked at, as none are given"
        );
        return Ok(Found { text, facts: json!({ "kind": "structure", "nodes": nodes, "weights": weights }) });
    }
    if let Some((Kind::Onnx, bytes)) = input.network_file()?
        && !input.sources().has_quant()
        && let Some(structure) = input.sources().incomplete_onnx(&bytes, &source::shown(input.path()))?
    {
        input.sources().refuse_token_options()?;
        let (nodes, weights, adders) = (structure.nodes, structure.size.weights(), structure.size.adders());
        let mut text = format!("valid structure: {nodes} nodes run, {weights} weights, some {adders} adders expected");
        for node in &structure.missing {
            text.push_str(&format!("\n{}: {}", node.place, node.message));
        }
        return Ok(Found { text, facts: json!({ "kind": "structure", "nodes": nodes, "weights": weights }) });
    }
    let (design, file) = input.read_design(global)?;
    Ok(describe(&design, &file.form))
}

/// Describes a valid design; `form` is the format of its file.
fn describe(design: &Design, form: &str) -> Found {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let model = match design {
        Design::Model(model) => model,
        Design::Machine(machine) => {
            let registers = machine.signals().iter().filter(|s| s.kind == SignalKind::Register).count();
            let (inputs, outputs) = (machine.inputs().count(), machine.outputs().count());
            let (blocks, bits) = (machine.blocks().len(), machine.register_bits());
            let text = format!(
                "valid: a state machine, {}, {}, {}, {} of {} ({form})",
                count(inputs, "input port"),
                count(outputs, "output port"),
                count(blocks, "block"),
                count(registers, "register"),
                count(bits as usize, "bit"),
            );
            let facts = json!({
                "kind": "machine", "form": form, "input_ports": inputs, "output_ports": outputs, "blocks": blocks,
                "registers": registers, "register_bits": bits,
            });
            return Found { text, facts };
        }
    };
    let (inputs, outputs, operations) = (model.n_inputs(), model.outputs().len(), model.nodes().len());
    let tables = model.tables().len();
    let mut text =
        format!("valid: {}, {}, {}", count(inputs, "input"), count(outputs, "output"), count(operations, "operation"));
    if tables > 0 {
        text.push_str(&format!(", {}", count(tables, "table")));
    }
    text.push_str(&format!(" ({form})"));
    let facts = json!({
        "kind": "program", "form": form, "inputs": inputs, "outputs": outputs,
        "operations": operations, "tables": tables,
    });
    Found { text, facts }
}
