//! `alir2hdl completions`: completion of command lines in a shell.
//!
//! The shell script calls the program, which completes options and files with its own parser, and values from its own
//! tables (devices, boards, passes, codes).

use super::{ExitStatus, Failure, explain, print};
use crate::device::Device;
use crate::options::port_roles;
use crate::passes::PASSES;
use crate::project::{BOARDS, DEVICES};
use clap::{ArgAction, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, EnvCompleter};
use clap_complete::{env, shells};
use std::ffi::OsString;

/// Environment variable that the script sets when it calls the program.
const VARIABLE: &str = "ALIR2HDL_COMPLETE";

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  echo 'source <(alir2hdl completions bash)' >> ~/.bashrc
  echo 'source <(alir2hdl completions zsh)' >> ~/.zshrc
  alir2hdl completions fish > ~/.config/fish/completions/alir2hdl.fish")]
pub(super) struct Args {
    /// The shell
    shell: shells::Shell,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args) -> Result<ExitStatus, Failure> {
    let shell: &dyn EnvCompleter = match args.shell {
        shells::Shell::Elvish => &env::Elvish,
        shells::Shell::Fish => &env::Fish,
        shells::Shell::PowerShell => &env::Powershell,
        shells::Shell::Zsh => &env::Zsh,
        _ => &env::Bash,
    };
    let mut text = Vec::new();
    let program = "alir2hdl";
    shell
        .write_registration(VARIABLE, program, program, program, &mut text)
        .map_err(|error| Failure::io("stdout".as_ref(), "write", &error))?;
    print(&text)
}

/// Prints completions if a shell requests them. Returns `false` otherwise.
pub(super) fn answer(words: &[OsString]) -> bool {
    if std::env::var_os(VARIABLE).is_none() {
        return false;
    }
    let folder = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(|| with_values(super::command())).var(VARIABLE);
    // Errors are ignored, as a shell does not print them during typing.
    asked.try_complete(words.iter().cloned(), folder.as_deref()).unwrap_or(true)
}

/// Returns a command whose arguments complete their values.
fn with_values(command: Command) -> Command {
    let commands: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let described = |command: Command| {
        let commands = commands.clone();
        command.mut_args(|arg| match arg.get_id().as_str() {
            "device" => arg.add(ArgValueCandidates::new(devices)),
            "board" => arg.add(ArgValueCandidates::new(|| {
                BOARDS.iter().map(|board| candidate(board.name, board.part)).collect()
            })),
            "passes" if arg.get_action().takes_values() => arg.add(ArgValueCandidates::new(|| {
                PASSES.iter().map(|pass| candidate(pass.name, pass.summary)).collect()
            })),
            "port" => arg.add(ArgValueCandidates::new(|| {
                port_roles().map(|role| CompletionCandidate::new(format!("{role}="))).collect()
            })),
            "code" => arg.add(ArgValueCandidates::new(|| {
                explain::codes().map(|(code, meaning)| candidate(code, meaning)).collect()
            })),
            "command" if !matches!(arg.get_action(), ArgAction::SetTrue) => {
                let commands = commands.clone();
                arg.add(ArgValueCandidates::new(move || commands.iter().map(CompletionCandidate::new).collect()))
            }
            _ => arg,
        })
    };
    described(command).mut_subcommands(described)
}

/// Returns the names of families, then prefixes of part numbers.
fn devices() -> Vec<CompletionCandidate> {
    let families = Device::ALL.into_iter().map(|device| CompletionCandidate::new(device.name()));
    families.chain(DEVICES.iter().map(|part| candidate(part.prefix, part.family))).collect()
}

fn candidate(name: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(name).help(Some(help.to_owned().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words offered for the last word of a command line.
    fn offered(line: &str) -> Vec<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let last = words.len() - 1;
        let mut command = with_values(super::super::command());
        let found = clap_complete::engine::complete(&mut command, words, last, None).expect("a word to complete");
        found.into_iter().map(|found| found.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn names_that_options_take_are_offered() {
        for (line, expected) in [
            ("alir2hdl pro", "prove"),
            ("alir2hdl help pro", "project"),
            ("alir2hdl generate m --dev", "--device"),
            ("alir2hdl generate m --device ultra", "ultrascale+"),
            ("alir2hdl m --device xc7", "xc7z020"),
            ("alir2hdl project m --device xc7z020,ec", "xc7z020,ecp5"),
            ("alir2hdl project m --board ", BOARDS[0].name),
            ("alir2hdl verify m --sim iverilog,g", "iverilog,ghdl"),
            ("alir2hdl verify m --port clk=c,rs", "clk=c,rst="),
            ("alir2hdl explain E05", "E0503"),
            ("alir2hdl prove m --prove-effort ", "fast"),
            ("alir2hdl info m --passes ", PASSES[0].name),
        ] {
            let words = offered(line);
            assert!(words.iter().any(|word| word == expected), "{line}: {words:?}");
        }
    }

    /// Options of earlier versions are deprecated, so they are not offered.
    #[test]
    fn deprecated_options_are_not_offered() {
        let words = offered("alir2hdl generate m --c");
        assert!(words.iter().any(|word| word == "--clock-period"), "{words:?}");
        assert!(words.iter().all(|word| word != "--clk-name"), "{words:?}");
    }
}
