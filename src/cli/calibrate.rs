//! `alir2hdl calibrate`: chooses types for a network from samples, and reports the error compared with its
//! floating-point form.

use super::info::plot;
use super::input::{InputArgs, ReadingOptions};
use super::paths::listed;
use super::source::{self, Kind};
use super::{ExitStatus, Failure, Global, print, report, schema};
use crate::diag::{Diagnostic, Diagnostics, Place, four_digits, printable};
use crate::files::Batch;
use crate::interp::samples::array::{Array, Numbers};
use crate::network::graph::BoundNetwork;
use crate::network::graph::calibrate::{self, Bits, BufferError, Calibration, MAX_BITS};
use crate::network::graph::read_file;
use crate::options::{OptionFault, OptionValue, invalid, path, within};
use serde_json::json;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Maximum number of values in all samples of an input.
const MAX_NUMBERS: u64 = 1 << 28;

/// Choose fixed-point types for a float network from samples
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl calibrate net.json --weights w.npz --samples x.npy --bits 8 -o q.json
  alir2hdl calibrate net.json --weights w.npz --samples a=a.npy,b=b.npy \\
    --bits 8 -o q.json
  alir2hdl net.json --weights w.npz --quant q.json -o net.v

Samples are real numbers, one row a sample, in an npy file for each input. With --quant the constants of norms (rstd, \
mean)
of that file are taken, and kept in the result.",
    mut_arg("model", |arg| arg.help("Float network: an IR v2 graph in JSON; - for stdin"))
)]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Read samples of an input from this npy file; NAME=x.npy where there are several inputs
    #[arg(long = "samples", value_name = "[NAME=]FILE", required = true)]
    sample_files: Vec<PathBuf>,
    #[command(flatten)]
    options: CalibrationOptions,
    /// Write the quantisation file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Numbers of bits, and the chart of the result.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CalibrationOptions {
    /// Give every buffer this many bits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=MAX_BITS as i64))]
    bits: u32,
    /// Give weights this many bits [default: as --bits]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=MAX_BITS as i64))]
    weight_bits: Option<u32>,
    /// Draw the signal-to-noise ratio of every buffer into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl CalibrationOptions {
    /// Names of the options.
    pub const NAMES: &'static [&'static str] = &["bits", "weight_bits", "svg"];

    /// Sets an option by its name.
    ///
    /// # Errors
    /// If the option does not exist, or if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let result = match name {
            "bits" => within(value, 2..=MAX_BITS).map(|bits| self.bits = bits),
            "weight_bits" => within(value, 2..=MAX_BITS).map(|bits| self.weight_bits = Some(bits)),
            "svg" => path(value).map(|file| self.svg = Some(file)),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }
}

/// File of samples, with the name of its input if one is given.
pub type SampleFile = (Option<String>, PathBuf);

fn wrong(place: &str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E2010", Place::Path(place.into()), message.into())
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let words = args.sample_files.iter().flat_map(|file| listed(file, names_samples));
    let file = |word: PathBuf| match word.to_string_lossy().split_once('=') {
        Some((name, path)) => (Some(name.to_owned()), PathBuf::from(path)),
        None => (None, word),
    };
    let files: Vec<SampleFile> = words.map(file).collect();
    let (found, count, mut batch, warnings) = calibrated(&args.input, &files, &args.options)?;
    report(&warnings.in_file(&args.input.model), global);
    batch.add(&args.output, found.file.as_bytes()).map_err(|e| Failure::io(&args.output, "write", &e))?;
    super::commit(batch)?;
    match (args.json, global.quiet) {
        (true, _) => print(as_json(&found, count).as_bytes()),
        (false, false) => print(table(&found, count).as_bytes()),
        (false, true) => Ok(ExitStatus::Ok),
    }
}

/// Chooses types for a network and returns the quantisation file.
///
/// # Errors
/// If the network, a sample or an option is invalid, or if the chart cannot be written.
pub fn calibrate_network(
    network: &Path,
    reading: ReadingOptions,
    samples: &[SampleFile],
    options: &CalibrationOptions,
) -> Result<String, Failure> {
    let (found, _, batch, _) = calibrated(&InputArgs::new(network, reading), samples, options)?;
    super::commit(batch)?;
    Ok(found.file)
}

/// Returns the types, the number of samples, the chart as a file that is not yet written, and warnings about the graph.
fn calibrated(
    input: &InputArgs,
    files: &[SampleFile],
    options: &CalibrationOptions,
) -> Result<(Calibration, usize, Batch, Diagnostics), Failure> {
    let bytes = read_file(&input.model).map_err(Failure::input)?;
    let name = source::shown(&input.model);
    let kind = Kind::detect_file(&bytes, &input.model);
    if kind != Some(Kind::Graph) {
        let message = "this is no IR v2 graph, and only those are calibrated";
        let help = match kind {
            Some(Kind::Onnx) => {
                "a QONNX file has its types in Quant nodes; give those inside Softmax and norms with --quant, under \
                 nodes (docs/transformers.md, section 5)"
            }
            _ => "programs have the types of all their values in them",
        };
        return Err(Failure::input(wrong(&name, message).with_help(help)));
    }
    let (structure, golden, nodes) = input.sources().floating(&bytes, &name)?;
    let samples = samples(files, golden.program())?;
    let bits = Bits { activations: options.bits, weights: options.weight_bits.unwrap_or(options.bits) };
    let found = calibrate::calibrate(&structure.graph, golden.program(), &samples, bits, nodes.as_ref())
        .map_err(|what| Failure::input(wrong(&name, what)))?;
    let mut batch = Batch::default();
    if let Some(path) = &options.svg {
        // The title contains only the file name, so that the chart is the same in every folder.
        let title = input.model.file_name().map_or_else(|| name.clone(), |file| file.to_string_lossy().into_owned());
        let chart = picture(&title, &found.report);
        batch.add(path, chart.as_bytes()).map_err(|e| Failure::io(path, "write", &e))?;
    }
    Ok((found, samples.len(), batch, structure.warnings()))
}

/// Returns `true` if a word is `NAME=FILE` or a file that exists.
fn names_samples(word: &Path) -> bool {
    let text = word.to_string_lossy();
    word.exists() || text.split_once('=').is_some_and(|(_, path)| Path::new(path).exists())
}

/// Reads the samples of all inputs; a row has the elements of all inputs, concatenated.
fn samples(files: &[SampleFile], program: &BoundNetwork) -> Result<Vec<Vec<f64>>, Failure> {
    let names: Vec<&str> = program.inputs.iter().map(|input| program.names[input.slot].name.as_str()).collect();
    let mut found: Vec<Option<(usize, Vec<f64>)>> = vec![None; names.len()];
    for (name, path) in files {
        let shown = source::shown(path);
        let index = match name {
            // An input is called `0:input`, or `input` if there is only one such instance.
            Some(name) => {
                let bare = |full: &str| full.split_once(':').map_or(full.to_owned(), |(_, bare)| bare.to_owned());
                let exact = names.iter().position(|known| known == name);
                let mut alike = (0..names.len()).filter(|&k| bare(names[k]) == *name);
                let only = alike.next().filter(|_| alike.next().is_none());
                exact.or(only).ok_or_else(|| unknown(name, &names))?
            }
            None if names.len() == 1 => 0,
            None => return Err(unknown(&shown, &names)),
        };
        if found[index].is_some() {
            let message = format!("the input {} has samples already", names[index]);
            return Err(Failure::input(wrong(name.as_ref().unwrap_or(&shown), message)));
        }
        found[index] = Some(rows(path, program.inputs[index].elements)?);
    }
    let missing =
        |k: usize| Failure::input(wrong(names[k], "the input has no samples").with_help("add --samples NAME=x.npy"));
    let found: Vec<(usize, Vec<f64>)> =
        found.into_iter().enumerate().map(|(k, rows)| rows.ok_or_else(|| missing(k))).collect::<Result<_, _>>()?;
    let count = found.first().map_or(0, |(count, _)| *count);
    if let Some(k) = found.iter().position(|(other, _)| *other != count) {
        let message = format!("{} samples, but {} has {count}", found[k].0, names[0]);
        return Err(Failure::input(wrong(names[k], message)));
    }
    if count == 0 {
        return Err(Failure::input(wrong(names[0], "there are no samples")));
    }
    let width = |k: usize| program.inputs[k].elements;
    let row = |row: usize| {
        found.iter().enumerate().flat_map(|(k, (_, all))| all[row * width(k)..(row + 1) * width(k)].to_vec()).collect()
    };
    Ok((0..count).map(row).collect())
}

fn unknown(name: &str, names: &[&str]) -> Failure {
    let message = format!("{name} is none of the inputs: {}", names.join(", "));
    Failure::input(wrong("--samples", message).with_help("give --samples NAME=x.npy for each input"))
}

/// Reads a file whose rows have `elements` values each. Returns the number of rows, and all values.
fn rows(path: &Path, elements: usize) -> Result<(usize, Vec<f64>), Failure> {
    let shown = path.display().to_string();
    let failed = |what: String| Failure::input(wrong(&shown, what));
    let mut file = File::open(path).map_err(|e| Failure::io(path, "read", &e))?;
    let array = Array::read(&mut file, MAX_NUMBERS, 32).map_err(failed)?;
    let count = array.shape.first().copied().unwrap_or(1) as usize;
    if count.checked_mul(elements) != Some(array.numbers.len()) {
        return Err(failed(format!(
            "an array of shape {:?}; a sample has {elements} elements, a row each",
            array.shape
        )));
    }
    let numbers: Vec<f64> = match array.numbers {
        Numbers::Floats(v) => v,
        Numbers::Integers(v) => v.into_iter().map(|x| x as f64).collect(),
        Numbers::Words(v) => v.into_iter().map(|x| x as f64).collect(),
    };
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(k) => {
            Err(failed(format!("row {}, column {} is {}", k / elements.max(1), k % elements.max(1), numbers[k])))
        }
        None => Ok((count, numbers)),
    }
}

fn ratio(row: &BufferError) -> String {
    row.ratio.map_or_else(|| "exact".into(), |ratio| format!("{ratio:.1}"))
}

/// Formats the report as a table.
fn table(found: &Calibration, samples: usize) -> String {
    let mut text = format!(
        "{:<24} {:<10} {:>11} {:>11} {:>10} {:>12} {:>12} {:>8}\n",
        "buffer", "type", "least", "most", "saturated", "mean error", "largest", "SNR dB"
    );
    for row in &found.report {
        let kif = row.kif.map_or_else(|| "exact".into(), |kif| kif.to_string());
        let _ = writeln!(
            text,
            "{:<24} {kif:<10} {:>11} {:>11} {:>8.3} % {:>12} {:>12} {:>8}{}",
            printable(&row.name),
            four_digits(row.range.0),
            four_digits(row.range.1),
            row.saturated * 100.0,
            four_digits(row.mean),
            four_digits(row.largest),
            ratio(row),
            if row.output { "  output" } else { "" }
        );
    }
    let errors: Vec<String> = found.baseline.iter().map(|error| four_digits(*error)).collect();
    let _ = writeln!(text, "{samples} samples; mean error of the outputs by the baseline rule: {}", errors.join(", "));
    text
}

fn as_json(found: &Calibration, samples: usize) -> String {
    let row = |row: &BufferError| {
        json!({
            "name": row.name, "type": row.kif.map(|kif| kif.to_string()), "output": row.output,
            "least": row.range.0, "most": row.range.1, "saturated": row.saturated,
            "mean_error": row.mean, "largest_error": row.largest, "snr_db": row.ratio,
        })
    };
    let all: Vec<_> = found.report.iter().map(row).collect();
    let content = json!({ "samples": samples, "buffers": all, "baseline_mean_error": found.baseline });
    schema::document("alir2hdl.calibrate/1", &content)
}

/// Draws a bar for each buffer: its signal-to-noise ratio, and the share of saturated values.
fn picture(title: &str, report: &[BufferError]) -> String {
    const LINE: usize = 22;
    let escaped = |text: &str| plot::escaped(&printable(text));
    let most = report.iter().filter_map(|row| row.ratio).fold(1.0, f64::max);
    let height = 70 + LINE * report.len();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"{height}\" viewBox=\"0 0 720 {height}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"720\" \
         height=\"{height}\" \
         fill=\"#fff\"/>\n<text x=\"16\" y=\"28\" font-size=\"16\" font-weight=\"bold\">{}: signal-to-noise ratio \
         (dB)</text>\n",
        plot::escaped(&plot::shortened(&printable(title), 46))
    );
    for (k, row) in report.iter().enumerate() {
        let y = 56 + LINE * k;
        let length = row.ratio.map_or(300.0, |ratio| 300.0 * (ratio / most).clamp(0.0, 1.0));
        let kif = row.kif.map_or_else(String::new, |kif| format!(" {kif}"));
        let over =
            if row.saturated > 0.0 { format!(", {:.2}% saturate", row.saturated * 100.0) } else { String::new() };
        let colour = if row.output { "#b5541c" } else { "#2f6690" };
        let _ = writeln!(
            out,
            "<text x=\"250\" y=\"{}\" text-anchor=\"end\">{}</text>\n<rect x=\"260\" y=\"{y}\" width=\"{length:.1}\" \
             height=\"14\" \
             fill=\"{colour}\"/>\n<text x=\"{:.1}\" y=\"{}\">{}{over}</text>",
            y + 11,
            escaped(&format!("{}{kif}", row.name)),
            266.0 + length,
            y + 11,
            ratio(row)
        );
    }
    out.push_str("</svg>\n");
    out
}
