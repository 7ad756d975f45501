//! Samples of the user: inputs and expected outputs from files, in the format of `run`.
//!
//! Inputs are converted to raw integer values as in `run`. Expected numbers are converted in the opposite direction: if
//! `run` would write the number for the model's own output, the number represents this output, even if `run` had to
//! round it to float64. Any other number represents the raw integer value that equals it exactly. A number that the
//! output's type cannot represent is always a difference.

use super::arrays::{Arrays, Side};
use super::machine::{MachineRun, machine_stimulus};
use super::vectors::{Rows, Vectors};
use crate::compile::Source;
use alir_core::diag::{Diagnostic, Diagnostics, Place, counted};
use alir_core::ir::Model;
use alir_core::ir::machine::Machine;
use alir_core::num::{Kif, wrap};
use alir_interp::batch::codes_of_row;
use alir_interp::samples::{Number, Port, Reader, RealEncoder, Values, input_ports, output_ports};
use alir_network::exact::Rational;
use alir_network::port::{ReferenceSemantics, number};
use num_bigint::BigInt;
use std::path::Path;

/// Error code for missing samples.
pub const NO_SAMPLES: &str = "E0712";

/// Error code for a number of an integer kernel that is not an integer.
pub const NO_INTEGER: &str = "E0713";

/// Error code for a number of a network that the type of its port cannot represent.
pub const NO_CODE: &str = "E0812";

/// Number of rows that are read at a time.
const BLOCK: usize = 1024;

/// Maximum number of differences that are shown.
const SHOWN: usize = 5;

/// Files with the user's samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files<'a> {
    /// File of the inputs; `None` if the design has no inputs.
    pub input: Option<&'a Path>,
    /// Name of the inputs' array in an npz file. Not used for a state machine, whose arrays have the names of its
    /// ports.
    pub array: Option<&'a str>,
    /// File of the expected outputs; `None`: the outputs of the reference interpreter.
    pub expect: Option<&'a Path>,
    /// Name of the expected outputs' array in an npz file.
    pub expect_array: Option<&'a str>,
    /// `true` if both files contain raw integer values, `false` if they contain real numbers.
    pub codes: bool,
}

/// Interpretation of the numbers in sample files for a program.
pub enum Numbers<'a> {
    /// Real values of the ports, quantised by floor and wrap, after the encoder if there is one.
    Ports(Option<RealEncoder>),
    /// Real values of a network, which quantises them itself.
    Network(&'a dyn ReferenceSemantics),
    /// Integers of any size, which wrap.
    Kernel,
}

/// A program, its source, and the interpretation of its numbers.
pub struct Subject<'a> {
    /// The program.
    pub model: &'a Model,
    /// The source of the lowering; `None`: the program is the specification.
    pub source: Option<&'a dyn Source>,
    /// Interpretation of the numbers in the files.
    pub numbers: Numbers<'a>,
}

/// An expected value that differs from the model's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dissent {
    /// Index of the sample, or of the cycle of a state machine.
    pub sample: usize,
    /// Index of the output element.
    pub element: usize,
    /// The expected number, and its raw integer value if it has one.
    pub expected: String,
    /// The model's number and raw integer value.
    pub model: String,
}

/// Places where expected values differ from the values of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedMismatches {
    /// The first few differences.
    pub first: Vec<Dissent>,
    /// Number of differences.
    pub count: usize,
    /// Number of differences whose expected value the output type cannot represent: no hardware can produce these.
    pub impossible: usize,
}

impl ExpectedMismatches {
    /// Returns `true` if all expected values are equal to those of the model.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of differences as a title.
    pub fn title(&self) -> String {
        let (values, is) = (counted(self.count, "expected value"), if self.count == 1 { "is" } else { "are" });
        format!("{values} {is} not the model's own")
    }

    /// Returns a line for each of the first few differences.
    pub fn lines(&self) -> String {
        let line = |d: &Dissent| {
            format!("  sample {}, out[{}]: expected {}, the model gives {}\n", d.sample, d.element, d.expected, d.model)
        };
        let mut text: String = self.first.iter().map(line).collect();
        if self.count > self.first.len() {
            text.push_str(&format!("  ... and {} more\n", self.count - self.first.len()));
        }
        text
    }

    fn add(&mut self, sample: usize, element: usize, wanted: &Wanted, (golden, real): (&BigInt, Option<f64>)) {
        self.count += 1;
        let shown = |code: &BigInt, real: Option<f64>| match real {
            Some(real) => format!("{real} (code {code})"),
            None => code.to_string(),
        };
        let expected = match wanted {
            Wanted::Code(code, real) => shown(code, *real),
            Wanted::Impossible(number) => {
                self.impossible += 1;
                format!("{number}, which the type of the output does not hold")
            }
        };
        if self.first.len() < SHOWN {
            self.first.push(Dissent { sample, element, expected, model: shown(golden, real) });
        }
    }
}

/// The user's samples for a program.
pub struct Own {
    /// Raw integer values of the inputs and of the expected outputs.
    pub vectors: Vectors,
    /// Differences between the expected outputs and the model.
    pub dissents: ExpectedMismatches,
    /// Notes about the files.
    pub notes: Diagnostics,
}

/// The user's samples for a state machine.
pub struct OwnRun {
    /// Inputs and expected outputs of each cycle; outputs that the state machine leaves undefined are not compared.
    pub run: MachineRun,
    /// Differences between the expected outputs and the state machine.
    pub dissents: ExpectedMismatches,
    /// Notes about the files.
    pub notes: Diagnostics,
}

/// Expected value in a file.
#[derive(Clone, Debug, PartialEq)]
enum Wanted {
    /// A raw integer value, and its real value if the file has real numbers.
    Code(BigInt, Option<f64>),
    /// A number that the output's type cannot represent.
    Impossible(String),
}

impl Wanted {
    fn is(&self, golden: &BigInt) -> bool {
        matches!(self, Wanted::Code(code, _) if code == golden)
    }
}

/// Function that returns the real number of a raw integer value.
type ToReal<'a> = &'a dyn Fn(&BigInt) -> f64;

/// Function that returns the raw integer value of a real number; `None` if there is none.
type ToCode<'a> = &'a dyn Fn(&Rational) -> Option<BigInt>;

/// Conversion between raw values of one output element and reals.
struct Written<'a> {
    kif: Kif,
    real: ToReal<'a>,
    code: ToCode<'a>,
    /// `true` if the file has raw integer values.
    codes: bool,
}

impl Written<'_> {
    /// Returns the expected value of a number in the file. The last argument is the value that the model computes.
    ///
    /// # Errors
    /// If the file does not contain a number there.
    fn wanted(&self, block: &Values, index: usize, golden: &BigInt) -> Result<Wanted, String> {
        let (exact, shown) = match block {
            // A number that `run` rounded to float64 represents the model's output.
            Values::Reals(v) if !self.codes && (self.real)(golden) == v[index] => {
                return Ok(Wanted::Code(golden.clone(), Some(v[index])));
            }
            Values::Reals(v) => {
                let no_number = || format!("{} is nothing that an output can be", v[index]);
                (Rational::from_f64(v[index]).ok_or_else(no_number)?, v[index].to_string())
            }
            Values::Integers(v) => (Rational::from(v[index]), v[index].to_string()),
            Values::Wide(v) => (Rational::from(v[index].clone()), v[index].to_string()),
            Values::Numbers(v) => {
                if let Number::Float(real) = v[index]
                    && !self.codes
                    && (self.real)(golden) == real
                {
                    return Ok(Wanted::Code(golden.clone(), Some(real)));
                }
                let no_number = || format!("{} is nothing that an output can be", v[index]);
                (Rational::from_number(&v[index]).ok_or_else(no_number)?, v[index].to_string())
            }
        };
        let code = if self.codes { exact.code(0) } else { (self.code)(&exact) };
        Ok(match code.filter(|code| self.kif.holds(code)) {
            Some(code) => Wanted::Code(code, (!self.codes).then(|| exact.to_f64())),
            None => Wanted::Impossible(shown),
        })
    }
}

impl Subject<'_> {
    /// Reads the user's samples.
    ///
    /// # Errors
    /// Problems of the files: text that is no number, a wrong shape, or different numbers of rows.
    pub fn read(mut self, files: &Files<'_>) -> Result<Own, Diagnostic> {
        let mut notes = Diagnostics::default();
        let inputs = self.inputs(files, &mut notes)?;
        let vectors = Vectors::from_inputs(self.model, inputs);
        let vectors = match self.source {
            Some(source) => vectors.with_outputs_of(source)?,
            None => vectors,
        };
        let Some(path) = files.expect else {
            return Ok(Own { vectors, dissents: ExpectedMismatches::default(), notes });
        };
        let (outputs, dissents) = self.expected(path, files, &vectors.outputs, &mut notes)?;
        Ok(Own { vectors: Vectors { outputs, ..vectors }, dissents, notes })
    }

    /// Reads the inputs as raw values. A program without inputs has one sample without numbers.
    fn inputs(&mut self, files: &Files<'_>, notes: &mut Diagnostics) -> Result<Rows, Diagnostic> {
        let ports = input_ports(self.model);
        let Some(path) = files.input else {
            return if ports.is_empty() { Ok(Rows::new(0, [Vec::new()])) } else { Err(no_input()) };
        };
        let codes = files.codes || matches!(self.numbers, Numbers::Kernel);
        let mut reader = Reader::open(path, files.array, self.model.input_kifs(), codes)?;
        if let Numbers::Ports(encoder) = &mut self.numbers
            && !codes
        {
            reader = match encoder.take() {
                Some(encoder) => reader.encoded(encoder),
                None => reader.counting_wraps(&ports),
            };
        }
        let mut rows = Rows::new(ports.len(), []);
        let mut block = Values::default();
        loop {
            let count = reader.read(BLOCK, &mut block)?;
            if count == 0 {
                break;
            }
            for row in 0..count {
                rows.push(self.row(&block, row, &ports, codes, (reader.name(), rows.len()))?);
            }
        }
        notes.0.extend(reader.take_notes().0);
        if rows.is_empty() { Err(no_samples(reader.name())) } else { Ok(rows) }
    }

    fn row(
        &self,
        block: &Values,
        row: usize,
        ports: &[Port],
        codes: bool,
        (name, sample): (&str, usize),
    ) -> Result<Vec<BigInt>, Diagnostic> {
        let first = row * ports.len();
        let fail = |code, input, why: String| {
            let message = format!("sample {sample}, input {input}: {why}");
            Diagnostic::error(code, Place::Whole, message).in_file(name.as_ref())
        };
        match &self.numbers {
            Numbers::Network(meaning) if !codes => {
                let code = |(k, element): (usize, &alir_network::port::InputElement)| {
                    let exact = number(block, first + k).map_err(|why| fail(NO_CODE, k, why))?;
                    Ok(element.encoder.code(&exact))
                };
                meaning.inputs().iter().enumerate().map(code).collect()
            }
            Numbers::Kernel => {
                let code = |(k, port): (usize, &Port)| {
                    let exact = number(block, first + k).map_err(|why| fail(NO_INTEGER, k, why))?;
                    let no_integer = || fail(NO_INTEGER, k, format!("{} is not an integer", exact.to_f64()));
                    Ok(wrap(&exact.code(0).ok_or_else(no_integer)?, port.kif))
                };
                ports.iter().enumerate().map(code).collect()
            }
            Numbers::Ports(_) | Numbers::Network(_) => {
                codes_of_row(ports, block, row, codes).map_err(|fault| fault.diagnostic(name, sample as u64))
            }
        }
    }

    /// Reads the expected outputs and lists their differences from the outputs that the model computes.
    fn expected(
        &self,
        path: &Path,
        files: &Files<'_>,
        golden: &Rows,
        notes: &mut Diagnostics,
    ) -> Result<(Rows, ExpectedMismatches), Diagnostic> {
        let ports = output_ports(self.model);
        let kifs: Vec<Kif> = ports.iter().map(|port| port.kif).collect();
        let codes = files.codes || matches!(self.numbers, Numbers::Kernel);
        let mut reader = Reader::open(path, files.expect_array, &kifs, codes).map_err(about_outputs)?;
        let mut found = Found::new(path, golden);
        let mut block = Values::default();
        loop {
            let count = reader.read(BLOCK, &mut block).map_err(about_outputs)?;
            if count == 0 {
                break;
            }
            for row in 0..count {
                let take = |element: usize, golden: &BigInt| {
                    let port = ports[element];
                    let (real, code): (ToReal<'_>, ToCode<'_>) = match &self.numbers {
                        Numbers::Network(meaning) => {
                            let unit = &meaning.output_units()[element];
                            (&|c| unit.value(c, port.frac).to_f64(), &|x| unit.code(x, port.frac))
                        }
                        Numbers::Ports(_) | Numbers::Kernel => (&|c| port.real_of_code(c).0, &|x| x.code(port.frac)),
                    };
                    let written = Written { kif: port.kif, real, code, codes };
                    let wanted = written.wanted(&block, row * ports.len() + element, golden)?;
                    Ok((wanted, (!codes).then(|| real(golden))))
                };
                found.row(take)?;
            }
        }
        notes.0.extend(reader.take_notes().0);
        found.finish()
    }
}

/// Returns the user's samples for a state machine, or a random run of `cycles` cycles if there are no files.
///
/// # Errors
/// Problems of the files: a missing array, a wrong shape, or different numbers of rows.
pub fn machine_run(
    machine: &Machine,
    files: Option<&Files<'_>>,
    cycles: usize,
    seed: u64,
) -> Result<OwnRun, Diagnostic> {
    let Some(files) = files else {
        let run = MachineRun::interpreted(machine, machine_stimulus(machine, cycles, seed));
        return Ok(OwnRun { run, dissents: ExpectedMismatches::default(), notes: Diagnostics::default() });
    };
    read_run(machine, files, cycles)
}

/// Reads the user's samples for a state machine. A state machine without input ports runs for `cycles` cycles.
fn read_run(machine: &Machine, files: &Files<'_>, cycles: usize) -> Result<OwnRun, Diagnostic> {
    let mut notes = Diagnostics::default();
    let inputs = match files.input {
        Some(path) => {
            let mut arrays = Arrays::open(machine, Side::Inputs, path, files.codes)?;
            let rows = arrays.rows()?;
            notes.0.extend(arrays.take_notes().0);
            rows
        }
        None if machine.inputs().next().is_none() => Rows::new(0, vec![Vec::new(); cycles]),
        None => return Err(no_input()),
    };
    if inputs.is_empty() {
        return Err(no_samples(&files.input.map_or_else(String::new, |path| path.display().to_string())));
    }
    let run = MachineRun::interpreted(machine, inputs);
    let Some(path) = files.expect else { return Ok(OwnRun { run, dissents: ExpectedMismatches::default(), notes }) };
    let mut arrays = Arrays::open(machine, Side::Outputs, path, files.codes).map_err(about_outputs)?;
    let mut found = Found::new(path, run.outputs());
    let width = run.outputs().elements();
    let mut numbers = Vec::with_capacity(width);
    loop {
        let take = |at: super::arrays::At<'_>| {
            let number = match at.block {
                Values::Reals(v) => Values::Reals(vec![v[at.index]]),
                Values::Integers(v) => Values::Integers(vec![v[at.index]]),
                Values::Wide(v) => Values::Wide(vec![v[at.index].clone()]),
                Values::Numbers(v) => Values::Numbers(vec![v[at.index].clone()]),
            };
            Ok((number, at.port))
        };
        let Some(row) = arrays.next_row(take).map_err(about_outputs)? else { break };
        numbers.clear();
        numbers.extend(row);
        let cycle = found.rows.len();
        let take = |element: usize, golden: &BigInt| {
            let (block, port) = &numbers[element];
            // Values in the file for undefined outputs (`run` writes NaN or a value computed from zeros) are not
            // compared.
            if !run.defined()[cycle][element] {
                return Ok((Wanted::Code(golden.clone(), None), None));
            }
            let (real, code) = (|c: &BigInt| port.real_of_code(c).0, |x: &Rational| x.code(port.frac));
            let written = Written { kif: port.kif, real: &real, code: &code, codes: files.codes };
            Ok((written.wanted(block, 0, golden)?, (!files.codes).then(|| real(golden))))
        };
        found.row(take)?;
    }
    notes.0.extend(arrays.take_notes().0);
    let (outputs, dissents) = found.finish()?;
    Ok(OwnRun { run: run.expecting(outputs), dissents, notes })
}

/// Expected rows read so far, and the model's rows for comparison.
struct Found<'a> {
    path: &'a Path,
    golden: &'a Rows,
    rows: Rows,
    dissents: ExpectedMismatches,
}

impl<'a> Found<'a> {
    fn new(path: &'a Path, golden: &'a Rows) -> Found<'a> {
        Found { path, golden, rows: Rows::new(golden.elements(), []), dissents: ExpectedMismatches::default() }
    }

    fn error(&self, message: String) -> Diagnostic {
        Diagnostic::error("E1008", Place::Whole, message).in_file(self.path)
    }

    /// Adds the next row. `take` returns the expected value of each element and the model's real value.
    fn row(
        &mut self,
        take: impl Fn(usize, &BigInt) -> Result<(Wanted, Option<f64>), String>,
    ) -> Result<(), Diagnostic> {
        let sample = self.rows.len();
        if sample >= self.golden.len() {
            let message = format!("more rows than samples: there are {} samples", self.golden.len());
            return Err(self.error(message).with_help("expected outputs have a row for each sample of --input"));
        }
        let mut row = Vec::with_capacity(self.golden.elements());
        for (element, golden) in self.golden.row(sample).iter().enumerate() {
            let wanted = take(element, golden);
            let (wanted, real) =
                wanted.map_err(|why| self.error(format!("sample {sample}, output {element}: {why}")))?;
            if !wanted.is(golden) {
                self.dissents.add(sample, element, &wanted, (golden, real));
            }
            row.push(match wanted {
                Wanted::Code(code, _) => code,
                Wanted::Impossible(_) => golden.clone(),
            });
        }
        self.rows.push(row);
        Ok(())
    }

    fn finish(self) -> Result<(Rows, ExpectedMismatches), Diagnostic> {
        let (rows, samples) = (self.rows.len(), self.golden.len());
        if rows < samples {
            let error = self.error(format!("{rows} rows of expected outputs for {samples} samples"));
            return Err(error.with_help("expected outputs have a row for each sample of --input"));
        }
        Ok((self.rows, self.dissents))
    }
}

/// Rewords a problem of a sample file for expected outputs, as parsers of samples report about inputs.
fn about_outputs(problem: Diagnostic) -> Diagnostic {
    let message = problem.message.replace("inputs", "outputs").replace("an input", "an output");
    let help = problem.help.map(|help| help.replace("inputs", "outputs").replace("an input", "an output"));
    Diagnostic { message, help, ..problem }
}

fn no_input() -> Diagnostic {
    Diagnostic::error(NO_SAMPLES, Place::Flag("--input".into()), "there is nothing to apply")
        .with_help("name a file of samples with --input")
}

fn no_samples(name: &str) -> Diagnostic {
    Diagnostic::error(NO_SAMPLES, Place::Flag("--input".into()), format!("{name} has no sample"))
}
