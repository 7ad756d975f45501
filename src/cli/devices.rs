//! `alir2hdl devices`: lists the values of `--device`, `--part` and `--board`.

use super::{ExitStatus, Failure, print, schema};
use crate::device::Device;
use crate::diag::{Diagnostic, Place};
use crate::project::{BOARDS, DEVICES};
use serde_json::json;
use std::fmt::Write;

/// List the devices, part numbers and boards that are known
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl devices
  alir2hdl devices zynq               those with this in a name
  alir2hdl devices --json | jq -r .boards[].name")]
pub(super) struct Args {
    /// List only names that contain TEXT, in upper or lower case
    #[arg(value_name = "TEXT")]
    filter: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Returns `true` if one of the names matches the filter.
    fn lists(&self, names: &[&str]) -> bool {
        let Some(filter) = &self.filter else { return true };
        let filter = filter.to_lowercase();
        // A complete part number begins with a prefix in the list.
        names.iter().any(|name| {
            let name = name.to_lowercase();
            name.contains(&filter) || (name.len() >= SHORTEST_PREFIX && filter.starts_with(&name))
        })
    }
}

/// Minimum length of a name that matches a longer filter, such as a prefix of part numbers.
const SHORTEST_PREFIX: usize = 3;

/// Runs the sub-command.
pub(super) fn run(args: &Args) -> Result<ExitStatus, Failure> {
    let devices: Vec<&str> = Device::ALL.map(Device::name).into_iter().filter(|name| args.lists(&[name])).collect();
    let parts: Vec<_> =
        DEVICES.iter().filter(|part| args.lists(&[part.prefix, part.family, part.figures().name()])).collect();
    let boards: Vec<_> = BOARDS.iter().filter(|board| args.lists(&[board.name, board.part])).collect();
    if args.json {
        let parts = parts.iter().map(|part| {
            let (figures, flow) = (part.figures().name(), part.flow.name());
            json!({ "prefix": part.prefix, "family": part.family, "figures": figures, "flow": flow })
        });
        let boards = boards.iter().map(|board| json!({ "name": board.name, "part": board.part }));
        let content = json!({
            "devices": devices,
            "parts": parts.collect::<Vec<_>>(),
            "boards": boards.collect::<Vec<_>>(),
        });
        return print(schema::document("alir2hdl.devices/1", &content).as_bytes());
    }
    if devices.is_empty() && parts.is_empty() && boards.is_empty() {
        let asked = args.filter.as_deref().unwrap_or_default();
        let message = format!("no device, part number or board has {asked:?} in its name");
        let error = Diagnostic::error("E0002", Place::Flag("TEXT".into()), message);
        return Err(Failure::input(error.with_help("`alir2hdl devices` lists all")));
    }
    let mut sections: Vec<String> = Vec::new();
    if !devices.is_empty() {
        let mut text = String::from("--device takes one of these, whose area and delays are known:\n");
        for name in devices {
            let _ = writeln!(text, "  {name}");
        }
        sections.push(text);
    }
    if !parts.is_empty() {
        let or = if sections.is_empty() { "--device takes" } else { "or" };
        let mut text = format!("{or} a part number that begins like one of these:\n");
        let widest = parts.iter().map(|part| part.prefix.len()).max().unwrap_or(0);
        let begin = widest.max("begins with".len()) + 2;
        let _ = writeln!(text, "  {:<begin$}{:<24}{:<14}flow", "begins with", "family", "figures of");
        for part in parts {
            let (figures, tool) = (part.figures().name(), part.flow.name());
            let _ = writeln!(text, "  {:<begin$}{:<24}{figures:<14}{tool}", part.prefix, part.family);
        }
        sections.push(text);
    }
    if !boards.is_empty() {
        let mut text = String::from("--board of `alir2hdl project` takes one of these:\n");
        let widest = boards.iter().map(|board| board.name.len()).max().unwrap_or(0).max(10) + 2;
        for board in boards {
            let _ = writeln!(text, "  {:<widest$}{}", board.name, board.part);
        }
        sections.push(text);
    }
    let text = sections.join("\n");
    print(text.as_bytes())
}
