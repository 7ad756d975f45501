//! `alir2hdl convert`: a model file in another version or form.

use super::input::InputArgs;
use super::{ExitStatus, Failure, Global};
use crate::diag::{Diagnostic, Place};
use crate::files::Batch;
use crate::formats::{self, Target};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write a model in another version or form
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl convert model.v2.json model.json.gz
  alir2hdl convert model.json.gz old.json --to alir2    sums are split, relative shifts folded
  alir2hdl convert dais.json model.json.gz              DAIS of every age, upgraded
  alir2hdl convert model.json.gz model.alirz            a third of the size, fast to load
  alir2hdl convert model.json.gz code.bin --to bytecode4
  alir2hdl convert model.json.gz - | jq .model[0]

Byte code and DAIS binary hold types only: intervals, latencies and costs are left out.

What the version cannot say is refused by name; nothing is written then.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Where it goes: gzip if the name ends in `.gz`; `-` for stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// What to write [default: as OUT ends: `.alirz` so, `.json` or no extension `alir4`]
    #[arg(long, value_enum, value_name = "FORM")]
    to: Option<To>,
}

/// What can be written.
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
    /// The compact form: small, and fast to load
    Alirz,
}

impl Args {
    fn target(&self) -> Result<Target, Failure> {
        Ok(match self.to {
            Some(To::Alir2) => Target::Alir2,
            Some(To::Alir3) => Target::Alir3,
            Some(To::Alir4) => Target::Alir4,
            Some(To::Bytecode2) => Target::Bytecode2,
            Some(To::Bytecode4) => Target::Bytecode4,
            Some(To::Dais1) => Target::Dais1,
            Some(To::Alirz) => Target::Alirz,
            None => self.target_of_name()?,
        })
    }

    /// What the name of the output asks for: nothing and `.json` JSON, `.alirz` the compact form, `.gz` aside.
    fn target_of_name(&self) -> Result<Target, Failure> {
        if self.output.as_os_str() == "-" {
            return Ok(Target::Alir4);
        }
        let name = self.output.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let help = match Path::new(name).extension().and_then(OsStr::to_str) {
            None | Some("json") => return Ok(Target::Alir4),
            Some("alirz") => return Ok(Target::Alirz),
            Some("bin") => "add --to bytecode2, --to bytecode4 or --to dais1",
            Some("v" | "sv") => "alir2hdl MODEL --verilog FILE writes Verilog; here add --to, or end the name in .json",
            Some("vhd" | "vhdl") => "alir2hdl MODEL --vhdl FILE writes VHDL; here add --to, or end the name in .json",
            Some(_) => "add --to (alir4, alirz, ...), or end the name in .json, .json.gz or .alirz",
        };
        let message = "the name of the output does not tell which form is meant";
        let place = Place::Flag("--to".into());
        Err(Failure::input(Diagnostic::error("E1106", place, message).with_help(help)))
    }
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let target = args.target()?;
    let model = args.input.read(global)?;
    let prepared = formats::prepare(&model, target).map_err(Failure::input)?;
    let packed = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let write = |out: &mut dyn Write| if packed { prepared.write_gzip(out) } else { prepared.write(out) };
    let mut batch = Batch::default();
    let staged = match args.output.as_os_str() == "-" {
        true => batch.add_stdout(write),
        false => batch.add_with(&args.output, write),
    };
    staged.and_then(|()| batch.commit()).map_err(|e| Failure::io(&args.output, "write", &e))?;
    Ok(ExitStatus::Ok)
}
