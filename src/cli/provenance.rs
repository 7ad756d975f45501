//! Command line for the header comment of generated RTL. Options have a fixed order and paths have no folders, so that
//! equal requests result in equal files.

use super::paths;
use clap::{Arg, ArgMatches, Command, parser::ValueSource};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Options without an effect on the hardware, in addition to global options and names of results.
const SILENT: &[&str] = &["prove", "timings", "json", "namespace"];

/// Returns the words of a parsed command line: the sub-command, the model, then options in the order of the help, each
/// as `--option value`. Only the last component of a path is kept.
pub(super) fn command(matches: &ArgMatches, command: &Command) -> Vec<String> {
    let mut words = vec!["alir2hdl".to_owned()];
    let (command, matches) = match matches.subcommand() {
        Some((name, inner)) => {
            // `generate` may be omitted on the command line, so it is always omitted here.
            if name != "generate" {
                words.push(name.to_owned());
            }
            (command.find_subcommand(name).unwrap_or(command), inner)
        }
        None => (command, matches),
    };
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|arg| affects_hardware(arg)).partition(|arg| arg.is_positional());
    for arg in positional.into_iter().chain(options) {
        let id = arg.get_id().as_str();
        if !matches.try_contains_id(id).unwrap_or(false) || matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        // `--ii 1` is the default.
        let is_one = |word: &OsStr| word.to_str().and_then(|word| word.parse().ok()) == Some(1);
        if id == "ii" && matches.get_raw(id).into_iter().flatten().all(is_one) {
            continue;
        }
        let name = match (arg.get_long(), arg.get_short()) {
            (Some(long), _) => Some(format!("--{long}")),
            (None, Some(short)) => Some(format!("-{short}")),
            (None, None) => None,
        };
        if !arg.get_action().takes_values() {
            words.extend(name);
            continue;
        }
        let is_path = arg.get_value_parser().type_id() == clap::builder::ValueParser::path_buf().type_id();
        let shown =
            |value: &OsStr| if is_path { file_name(Path::new(value)) } else { value.to_string_lossy().into_owned() };
        for occurrence in matches.get_raw_occurrences(id).into_iter().flatten() {
            let values: Vec<String> = occurrence.map(shown).collect();
            match (&name, arg.get_value_delimiter()) {
                (Some(name), Some(delimiter)) => {
                    words.extend([name.clone(), values.join(&delimiter.to_string())]);
                }
                (Some(name), None) if name.len() == 2 => words.push(format!("{name}{}", values.concat())),
                (name, _) => words.extend(name.iter().cloned().chain(values)),
            }
        }
    }
    words
}

/// Returns `true` if an option affects the hardware.
fn affects_hardware(arg: &Arg) -> bool {
    let id = arg.get_id().as_str();
    !arg.is_global_set() && !SILENT.contains(&id) && !paths::is_result(id)
}

/// Returns the last component of a path, or the path if it has none. Dollar signs and backquotes, which a shell
/// expands, become underscores.
fn file_name(path: &Path) -> String {
    let name = path.file_name().map_or_else(|| path.to_owned(), PathBuf::from);
    name.to_string_lossy().replace(['$', '`'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted_line(line: &str) -> String {
        let mut parser = super::super::command();
        let matches = parser.try_get_matches_from_mut(line.split(' ')).expect("a valid line");
        command(&matches, &parser).join(" ")
    }

    #[test]
    fn equal_requests_have_equal_words() {
        let expected = "alir2hdl m.json --pipeline 3 --valid -O2";
        assert_eq!(quoted_line("alir2hdl m.json --pipeline 3 --valid -O2 --verilog m.v"), expected);
        assert_eq!(
            quoted_line("alir2hdl --verilog=out/x.v -q --valid -O 2 --pipeline=3 --prove a/../b/m.json"),
            expected
        );
        assert_eq!(quoted_line("alir2hdl generate m.json -O2 --valid --pipeline 3 -o x.v"), expected);
        assert_eq!(quoted_line("alir2hdl m.json --vhdl -"), "alir2hdl m.json");
        assert_eq!(quoted_line("alir2hdl - --vhdl -"), "alir2hdl -");
    }

    #[test]
    fn values_with_commas_and_repeated_options_are_kept() {
        assert_eq!(quoted_line("alir2hdl m --passes dce,cse --verilog x"), "alir2hdl m --passes dce,cse");
        assert_eq!(
            quoted_line("alir2hdl m --weights a/b --weights c --verilog x"),
            "alir2hdl m --weights b --weights c"
        );
        assert_eq!(
            quoted_line("alir2hdl project m -o out --flow yosys,plain"),
            "alir2hdl project m --flow yosys,plain"
        );
    }
}
