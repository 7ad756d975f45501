//! `alir2hdl convert`: writes a model in another format or version.

use super::graphs::{self, Form};
use super::input::{InputArgs, variant};
use super::{ExitStatus, Failure, Global, say};
use crate::diag::{Diagnostic, Place};
use crate::files::Batch;
use crate::formats::{self, Target};
use crate::ir::Model;
use crate::llvlir::raise::raise;
use crate::llvlir::{self, Program, bytes, text};
use crate::options::{OptionFault, OptionValue, invalid, within};
use crate::prove::aignet::GateFlag;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Write a model in another version or format
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl convert model.v2.json model.json.gz
  alir2hdl convert model.json.gz old.json --to alir2
  alir2hdl convert model.json.gz code.bin --to bytecode4
  alir2hdl convert model.json.gz - | jq .model[0]
  alir2hdl convert crc32.llvlirs crc32.llvlir          kernels
  alir2hdl convert model.json.gz model.aig             gates, for ABC
  alir2hdl convert graph.aignet graph.aig
  alir2hdl convert matrix.npy --input-type s8.5 -o out.json.gz

Byte code and DAIS binary contain types only: intervals, latencies and costs are left out. Gates are the function only
(a lookup outside its table gives zero); an Aignet array has no names.

What the format cannot represent is refused by name; nothing is written then.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The new file; its extension selects the format, .gz compresses it; - for stdout
    #[arg(value_name = "OUT", required_unless_present = "output_file")]
    output: Option<PathBuf>,
    /// Write to this file, like OUT
    #[arg(
        id = "output_file",
        short = 'o',
        long = "output",
        value_name = "OUT",
        conflicts_with = "output",
        hide_short_help = true
    )]
    output_file: Option<PathBuf>,
    #[command(flatten)]
    written: ConversionOptions,
    /// Read gates of an Aignet array whose register flag is set as exclusive ors
    #[arg(long)]
    aignet_xor: bool,
}

/// Format of the output.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConversionOptions {
    /// Write this format, whatever the extension of OUT
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<To>,
    /// Add this many registers after each output bit of a gate graph
    #[arg(long, visible_alias = "stages", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=65_536))]
    pipeline: Option<u32>,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum To {
    /// JSON that alkaid 0.7 reads
    Alir2,
    /// JSON of version 3
    Alir3,
    /// JSON that alkaid 0.8 reads
    Alir4,
    /// Byte code of version 2, in 32-bit words
    Bytecode2,
    /// Byte code of version 4
    Bytecode4,
    /// DAIS binary of version 1, as da4ml 0.6 writes
    Dais1,
    /// Integer kernels as bytes
    Llvlir,
    /// Integer kernels as text
    Llvlirs,
    /// Gates: AIGER 1.9, binary
    Aig,
    /// Gates: AIGER 1.9, ASCII
    Aag,
    /// Gates: the array of ACL2's Aignet
    Aignet,
}

/// Output of the conversion: a program, or its gates.
enum Goal {
    Program(Target),
    Gates(Form),
    /// Integer kernel; `true` for its text form.
    Kernel(bool),
}

impl Args {
    fn output(&self) -> &Path {
        self.output.as_deref().or(self.output_file.as_deref()).unwrap_or(Path::new("-"))
    }
}

/// Returns `true` if the output's name has this extension, ignoring `.gz`.
fn ends_in(output: &Path, extension: &str) -> bool {
    let name = output.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    Path::new(name).extension().is_some_and(|e| e == extension)
}

impl ConversionOptions {
    /// Names of the options.
    pub const NAMES: &'static [&'static str] = &["to", "pipeline", "stages"];

    /// Sets an option by its name.
    ///
    /// # Errors
    /// If the option does not exist, or if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let result = match name {
            "to" => variant(value).map(|form| self.to = Some(form)),
            "pipeline" | "stages" => within(value, 0..=65_536).map(|count| self.pipeline = Some(count)),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    fn goal(&self, output: &Path) -> Result<Goal, Failure> {
        Ok(match self.to {
            Some(To::Alir2) => Goal::Program(Target::Alir2),
            Some(To::Alir3) => Goal::Program(Target::Alir3),
            Some(To::Alir4) => Goal::Program(Target::Alir4),
            Some(To::Bytecode2) => Goal::Program(Target::Bytecode2),
            Some(To::Bytecode4) => Goal::Program(Target::Bytecode4),
            Some(To::Dais1) => Goal::Program(Target::Dais1),
            Some(To::Llvlir) => Goal::Kernel(false),
            Some(To::Llvlirs) => Goal::Kernel(true),
            Some(To::Aig) => Goal::Gates(Form::Aig),
            Some(To::Aag) => Goal::Gates(Form::Aag),
            Some(To::Aignet) => Goal::Gates(Form::Aignet),
            None => match Form::from_file_name(output) {
                Some(form) => Goal::Gates(form),
                None if ends_in(output, "llvlir") => Goal::Kernel(false),
                None if ends_in(output, "llvlirs") => Goal::Kernel(true),
                None => Goal::Program(target_of_name(output)?),
            },
        })
    }

    /// Returns an error for contradictory options.
    fn check(&self, goal: &Goal, from_gates: bool) -> Result<(), Failure> {
        let refuse = |flag: &str, message: &str| Err(graphs::refused(flag, message.to_owned()));
        match goal {
            Goal::Program(_) | Goal::Kernel(_) if from_gates => {
                refuse("--to", "gates cannot be made into a program again")
            }
            Goal::Program(_) | Goal::Kernel(_) if self.pipeline.is_some() => {
                refuse("--pipeline", "a program has no registers; .aig, .aag and .aignet files have")
            }
            Goal::Gates(_) if from_gates && self.pipeline.is_some() => {
                refuse("--pipeline", "registers are put behind a model's outputs, not behind those of gates")
            }
            _ => Ok(()),
        }
    }
}

/// Returns the format for the extension of the output's name, ignoring `.gz`; JSON without extension.
fn target_of_name(output: &Path) -> Result<Target, Failure> {
    if output.as_os_str() == "-" {
        return Ok(Target::Alir4);
    }
    let name = output.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let help = match Path::new(name).extension().and_then(OsStr::to_str) {
        None | Some("json") => return Ok(Target::Alir4),
        Some("bin") => "add --to=bytecode2, --to=bytecode4 or --to=dais1",
        Some("v" | "sv") => {
            "`alir2hdl MODEL --verilog FILE` writes Verilog; here add --to=alir4, or end the name in .json"
        }
        Some("vhd" | "vhdl") => {
            "`alir2hdl MODEL --vhdl FILE` writes VHDL; here add --to=alir4, or end the name in .json"
        }
        Some(_) => {
            "add --to (alir4, bytecode4, aig, ...), or end the name in .json, .json.gz, .llvlir, .llvlirs, .aig, \
             .aag or .aignet"
        }
    };
    let message = "the ending of the output's name belongs to no format";
    let place = Place::Flag("--to".into());
    Err(Failure::input(Diagnostic::error("E1106", place, message).with_help(help)))
}

/// Converts a program of integers to a kernel. Prints a note if the kernel interprets unsigned values as signed.
fn kernel_from_model(model: &Model, global: Global) -> Result<Program, Failure> {
    let program = raise(model, llvlir::Limits::default()).map_err(|refusal| {
        let place = Place::Flag("--to".into());
        let message = format!("this cannot be said in LLVLIR: {refusal}");
        let help = "LLVLIR programs have integers on their ports and at most 1024 bits everywhere";
        Failure::input(Diagnostic::error("E1109", place, message).with_help(help))
    })?;
    let outputs = (0..model.outputs().len()).map(|at| model.output_kif(at));
    let unsigned = model.input_kifs().iter().copied().chain(outputs).filter(|kif| !kif.signed).count();
    if unsigned > 0 {
        say(
            &format!(
                "{unsigned} elements have no sign in the model: their bits stay, and LLVLIR reads them as two's \
                 complement (of 8 bits 255 is -1)"
            ),
            global,
        );
    }
    Ok(program)
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let goal = args.written.goal(args.output())?;
    let from = Form::from_file_name(&args.input.model);
    args.written.check(&goal, from.is_some())?;
    if args.aignet_xor && from != Some(Form::Aignet) {
        let message = "it is about reading an .aignet file, and this is none";
        return Err(graphs::refused("--aignet-xor", message.to_owned()));
    }
    match goal {
        Goal::Program(target) => stage_program(args.output(), &args.input.read(global)?, target),
        Goal::Kernel(as_text) => {
            let program = match args.input.read_kernel()? {
                Some(program) => program,
                None => kernel_from_model(&args.input.read(global)?, global)?,
            };
            stage_kernel(args.output(), &program, as_text)
        }
        Goal::Gates(form) => {
            let flag = if args.aignet_xor { GateFlag::Xor } else { GateFlag::Refuse };
            let graph = match from {
                Some(from) => graphs::read(&args.input.model, from, flag)?,
                None => graphs::model_graph(&args.input.read(global)?, args.written.pipeline.unwrap_or(0))?,
            };
            let bytes = form.write(&graph)?;
            stage(args.output(), |out| out.write_all(&bytes))
        }
    }
}

/// Writes a program in memory, or the kernel that it was lowered from, to a file.
///
/// # Errors
/// If options contradict each other, if the format cannot represent the program, or if the file cannot be written.
pub(super) fn in_memory(
    (model, kernel): (&Model, Option<&Program>),
    output: &Path,
    options: &ConversionOptions,
) -> Result<(), Failure> {
    let goal = options.goal(output)?;
    options.check(&goal, false)?;
    let quiet = Global { quiet: true, ..Global::default() };
    match (goal, kernel) {
        (Goal::Program(target), _) => stage_program(output, model, target),
        (Goal::Kernel(as_text), Some(program)) => stage_kernel(output, program, as_text),
        (Goal::Kernel(as_text), None) => stage_kernel(output, &kernel_from_model(model, quiet)?, as_text),
        (Goal::Gates(form), _) => {
            let bytes = form.write(&graphs::model_graph(model, options.pipeline.unwrap_or(0))?)?;
            stage(output, |out| out.write_all(&bytes))
        }
    }
    .map(|_| ())
}

fn stage_program(output: &Path, model: &Model, target: Target) -> Result<ExitStatus, Failure> {
    let prepared = formats::prepare(model, target).map_err(Failure::input)?;
    stage(output, |out| prepared.write(out))
}

fn stage_kernel(output: &Path, program: &Program, as_text: bool) -> Result<ExitStatus, Failure> {
    let bytes = if as_text { text::write(program).into_bytes() } else { bytes::write(program) };
    stage(output, |out| out.write_all(&bytes))
}

/// Writes the output to its target, compressed if the name ends in `.gz`.
fn stage(output: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<ExitStatus, Failure> {
    let write = |out: &mut dyn Write| formats::write_named(output, out, write);
    let mut batch = Batch::default();
    batch.add_with(output, write).map_err(|e| Failure::io(output, "write", &e))?;
    super::commit(batch)?;
    Ok(ExitStatus::Ok)
}
