//! `alir2hdl convert`: a model file in another version.

use super::input::InputArgs;
use super::{ExitStatus, Failure, Global};
use crate::files::Batch;
use crate::formats::{self, Target};
use std::io::Write;
use std::path::PathBuf;

/// Write a model in another version of the file format
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl convert model.v2.json model.json.gz
  alir2hdl convert model.json.gz old.json --to alir2    sums are split, relative shifts folded
  alir2hdl convert model.json.gz - | jq .model[0]

What the version cannot say is refused by name; nothing is written then.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Where it goes: gzip if the name ends in `.gz`; `-` for stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The version to write
    #[arg(long, value_enum, default_value_t = To::Alir4, value_name = "VERSION")]
    to: To,
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
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let model = args.input.read(global)?;
    let target = match args.to {
        To::Alir2 => Target::Alir2,
        To::Alir3 => Target::Alir3,
        To::Alir4 => Target::Alir4,
    };
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
