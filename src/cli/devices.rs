//! `alir2hdl devices`: what `--device`, `--part` and `--board` take.

use super::{ExitStatus, Failure, print, schema};
use crate::device::Device;
use crate::project::{BOARDS, DEVICES};
use serde_json::json;
use std::fmt::Write;

/// List the devices, part numbers and boards that are known
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl devices
  alir2hdl devices | grep -i zynq
  alir2hdl devices --json | jq -r .boards[].name")]
pub(super) struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args) -> Result<ExitStatus, Failure> {
    if args.json {
        let parts = DEVICES.iter().map(|part| {
            json!({
                "prefix": part.prefix, "family": part.family, "figures": part.figures().name(), "flow": part.flow.name(),
            })
        });
        let boards = BOARDS.iter().map(|board| json!({ "name": board.name, "part": board.part }));
        let content = json!({
            "devices": Device::ALL.map(Device::name),
            "parts": parts.collect::<Vec<_>>(),
            "boards": boards.collect::<Vec<_>>(),
        });
        return print(schema::document("alir2hdl.devices/1", &content).as_bytes());
    }
    let mut text = String::from("--device takes one of these, whose area and delays are known:\n");
    for device in Device::ALL {
        let _ = writeln!(text, "  {}", device.name());
    }
    text.push_str("\nor a part number that begins like one of these:\n");
    let _ = writeln!(text, "  {:<12}{:<24}{:<14}flow", "begins with", "family", "figures of");
    for part in DEVICES {
        let (figures, tool) = (part.figures().name(), part.flow.name());
        let _ = writeln!(text, "  {:<12}{:<24}{figures:<14}{tool}", part.prefix, part.family);
    }
    text.push_str("\n--board of `alir2hdl project` takes one of these:\n");
    for board in BOARDS {
        let _ = writeln!(text, "  {:<12}{}", board.name, board.part);
    }
    print(text.as_bytes())
}
