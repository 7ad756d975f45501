//! Tests of `explain`, `man`, `diff` and colours.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models/");

fn ran(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    let output = command.current_dir(folder).args(arguments).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("a code"), text(output.stdout), text(output.stderr))
}

#[test]
fn explain_prints_what_the_document_says() {
    let here = Path::new(".");
    let (code, said, _) = ran(here, &["explain", "E0503"]);
    assert_eq!(code, 0);
    let rows = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/errors.md")).expect("there");
    let row = rows.lines().find(|line| line.starts_with("| E0503 |")).expect("a row");
    for cell in row.trim_matches('|').split(" | ").skip(1) {
        assert!(said.contains(cell.trim()), "{cell} in {said}");
    }
    assert!(said.starts_with("E0503, an error (Pipelines)\n"), "{said}");
    assert_eq!(ran(here, &["explain", "e0503"]).1, said);
    assert!(ran(here, &["explain", "W0701"]).1.starts_with("W0701, a warning"));
    let (code, list, _) = ran(here, &["explain"]);
    let listed = list.lines().filter(|line| line.starts_with("  ")).count();
    assert_eq!((code, listed), (0, rows.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| code")).count()));
    let (code, _, said) = ran(here, &["explain", "E0505x"]);
    assert!(code == 2 && said.contains("E0004") && said.contains("did you mean E0505?"), "{said}");
}

/// The script for bash calls the program for every word.
#[test]
#[cfg(unix)]
fn bash_completes_commands_files_and_values() {
    const SCRIPT: &str = r#"
        source <(alir2hdl completions bash)
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9
        "$(complete -p alir2hdl | sed 's/.*-F \([^ ]*\).*/\1/')" alir2hdl "${@: -1}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a model.json.gz"), "").expect("written");
    let programs = Path::new(env!("CARGO_BIN_EXE_alir2hdl")).parent().expect("a folder").to_owned();
    let path = std::env::join_paths(
        [programs].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").expect("set"))),
    )
    .expect("a path");
    for (line, expected) in [
        ("alir2hdl pro", "prove\nproject\n"),
        ("alir2hdl check a", "a model.json.gz\n"),
        ("alir2hdl generate m --device xc7z02", "xc7z020\n"),
        ("alir2hdl verify m --sim iverilog,g", "iverilog,ghdl\n"),
    ] {
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", SCRIPT, "bash"]).args(line.split(' ')).current_dir(folder.path());
        let output = bash.env("PATH", &path).output().expect("it runs");
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(String::from_utf8(output.stdout).expect("text"), expected, "{line}: {said}");
    }
}

#[test]
fn every_sub_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(ran(folder.path(), &["man", "--output", "man1"]).0, 0);
    let page = |name: &str| fs::read_to_string(folder.path().join("man1").join(name)).expect("a page");
    let whole = page("alir2hdl.1");
    assert_eq!(ran(folder.path(), &["man"]).1, whole);
    // Every page that one names is there, and as it is printed.
    let mut names = 0;
    for entry in fs::read_dir(folder.path().join("man1")).expect("a folder") {
        let file = entry.expect("an entry").file_name().into_string().expect("text");
        let text = page(&file);
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH \"EXIT STATUS\"", ".SH ENVIRONMENT", ".SH \"SEE ALSO\""] {
            assert!(text.contains(section), "{file} lacks {section}:\n{text}");
        }
        for named in text.replace("\\-", "-").split(['\n', ' ', ',']).filter_map(|word| word.strip_suffix("(1)")) {
            let named = named.trim_start_matches("\\fB").trim_end_matches("\\fR");
            if !named.starts_with("alir2hdl") {
                continue;
            }
            assert!(folder.path().join(format!("man1/{named}.1")).is_file(), "{file} names {named}");
            names += 1;
        }
        if let Some(sub) = file.strip_prefix("alir2hdl-").and_then(|f| f.strip_suffix(".1")) {
            assert_eq!(ran(folder.path(), &["man", sub]).1, text);
        }
    }
    assert!(names > 100);
    // Examples keep their lines.
    let verify = page("alir2hdl-verify.1").replace("\\-", "-");
    let examples =
        verify.split(".SH EXAMPLES\n.nf\n").nth(1).and_then(|rest| rest.split("\n.fi").next()).expect("some");
    assert!(examples.lines().count() >= 3 && examples.lines().all(|line| line.starts_with("alir2hdl ")), "{examples}");
}

#[test]
fn a_model_is_equal_to_itself_in_every_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for name in ["tiny_ops/model.json.gz", "fsm/biquad/fsm.json.gz"] {
        let model = format!("{DATA}{name}");
        let (code, said, _) = ran(folder, &["diff", &model, &model]);
        assert!(code == 0 && said.starts_with("equal: "), "{said}");
    }
    let model = format!("{DATA}tiny_ops/model.json.gz");
    for form in ["m.json.gz", "m.json"] {
        assert_eq!(ran(folder, &["convert", &model, form]).0, 0);
        let (code, said, _) = ran(folder, &["diff", &model, form, "--samples", "300"]);
        assert!(code == 0 && said.contains("300 samples"), "{said}");
    }
    let (code, said, _) = ran(folder, &["diff", &model, &format!("{DATA}fsm/biquad/fsm.json.gz")]);
    assert!(code == 1 && said.contains("state machine"), "{said}");
    let (code, said, _) = ran(folder, &["diff", &model, &format!("{DATA}jet_mlp/model.json.gz"), "--samples", "5"]);
    assert!(code == 1 && said.contains("4 input elements in the first, 16 in the second"), "{said}");
}

/// A program of two inputs, followed by these operations; its output is the last.
fn program(operations: &[&str]) -> String {
    let input = |k: usize, max: i64| format!("[[],-1,[{k}],[-{},{max},1],0,0]", max + 1);
    let all = [vec![input(0, 7), input(1, 7)], operations.iter().map(ToString::to_string).collect()].concat();
    let last = all.len() - 1;
    let all = all.join(",");
    format!(r#"{{"meta":"ALIRModel","spec_version":4,"model":[[2,1],[0,0],[{last}],[0],[false],[{all}],1,1,null]}}"#)
}

#[test]
fn differences_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let put = |name: &str, operations: &[&str]| fs::write(folder.join(name), program(operations)).expect("written");
    let sum = "[[0,1],0,[0],[-16,14,1],0,0]";
    put("a.json", &[sum]);
    put("b.json", &["[[0,1],1,[0],[-16,14,1],0,0]"]);
    // The same function by other operations.
    put("c.json", &["[[0,1],0,[0],[-16,14,1],0,0]", "[[2],3,[0],[-16,14,1],0,0]"]);
    put("d.json", &["[[0,1],0,[0],[-8,7,1],0,0]"]);
    let told = |other: &str| {
        let (code, said, errors) = ran(folder, &["diff", "a.json", other, "--json"]);
        let told: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}{errors}"));
        assert_eq!((code, &told["equal"], &told["schema"]), (1, &false.into(), &"alir2hdl.diff/1".into()), "{said}");
        told
    };
    let minus = told("b.json");
    assert_eq!(minus["operations"][0]["removed"][0]["operation"], 2);
    assert_eq!(minus["operations"][0]["added"].as_array().expect("some").len(), 1);
    let seen = &minus["outputs"]["different"][0];
    assert!(seen["output"] == "output 0" && seen["samples"].as_u64().expect("a count") > 100, "{minus}");
    assert_eq!(seen["inputs"].as_array().expect("some").len(), 2);
    let longer = told("c.json");
    assert_eq!(longer["operations"][0]["removed"], Value::Array(Vec::new()));
    assert_eq!(longer["operations"][0]["added"][0]["operation"], 3);
    assert_eq!(longer["outputs"]["different"], Value::Array(Vec::new()));
    assert!(
        ran(folder, &["diff", "a.json", "c.json"])
            .1
            .ends_with("the same outputs on 1000 samples (--prove decides about every input)\n")
    );
    let narrow = told("d.json");
    assert_eq!(narrow["ports"][0]["port"], "output 0");
    assert!(!narrow["outputs"]["different"].as_array().expect("some").is_empty());
}

#[test]
fn errors_have_the_colours_that_are_asked_for() {
    let here = Path::new(".");
    for (options, coloured) in [(&["--color", "always"][..], true), (&["--color=never"], false), (&[], false)] {
        for wrong in [&["check", "absent.json"][..], &["check", "--no-such-option"]] {
            let said = ran(here, &[wrong, options].concat()).2;
            assert_eq!(said.contains('\u{1b}'), coloured, "{said:?}");
        }
    }
}

#[test]
fn errors_name_the_file_and_the_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    put("m.json", &program(&["[[0,9],0,[0],[-16,14,1],0,0]"]));
    put("t.v", "module m;\n  nonsense here\nendmodule\n");
    put("x.csv", "1,2\n1;2\n");
    put("good.json", &program(&["[[0,1],0,[0],[-16,14,1],0,0]"]));
    let cases: &[(&[&str], &str, Value)] = &[
        (&["check", "m.json"], "m.json", serde_json::json!({ "path": "model.ops[2].addr[1]" })),
        (&["check", "absent.json"], "absent.json", serde_json::json!({})),
        (
            &["run", "good.json", "--input", "x.csv", "--output", "y.csv"],
            "x.csv",
            serde_json::json!({ "line": 2, "column": 1 }),
        ),
    ];
    for (arguments, file, place) in cases {
        let (_, _, said) = ran(folder.path(), &[arguments, &["--error-format=json"][..]].concat());
        let said: Value = serde_json::from_str(said.lines().next().expect("a line")).expect("JSON");
        assert_eq!((&said["file"], &said["place"]), (&Value::from(*file), place), "{said}");
    }
    let (_, _, said) = ran(folder.path(), &["prove", "good.json", "t.v"]);
    assert!(said.starts_with("error[E0903] in t.v at line "), "{said}");
}

#[test]
fn csv_is_read_with_tabs_blanks_and_comments() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    put("m.json", &program(&["[[0,1],0,[0],[-16,14,1],0,0]"]));
    for text in
        ["1,2\n3,4\n", "1 2\n3  4\n", "a\tb\n1\t2\n3\t4\n", "# both\n1, 2 # first\n3, 4\n", "\u{feff}1;2\n\n3;4\n"]
    {
        put("x.csv", text);
        let (code, said, errors) = ran(folder.path(), &["run", "m.json", "--input", "x.csv", "--output", "-"]);
        assert_eq!((code, said.as_str()), (0, "3.0\n7.0\n"), "{text:?}: {errors}");
    }
}

/// The commands of README.md and `docs/quick-start.md`, as a new user types them in a clone. (`verify` needs
/// simulators; `prove` of this model has tests of its own.)
#[cfg(unix)]
#[test]
fn the_tour_of_the_readme_runs_with_files_of_the_clone_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = ["README.md", "docs/quick-start.md"].map(|page| fs::read_to_string(root.join(page)).unwrap()).concat();
    let blocks = pages.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let commands: Vec<&str> = blocks
        .flat_map(|(block, _)| block.lines())
        .filter_map(|line| line.strip_prefix("alir2hdl "))
        .map(|line| line.split(" #").next().unwrap().trim())
        .filter(|line| !line.starts_with("verify") && !line.starts_with("prove"))
        .collect();
    assert!(commands.len() >= 8, "{commands:?}");
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("examples"), folder.path().join("examples")).unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let (code, _, said) = ran(folder.path(), &words);
        assert_eq!(code, 0, "alir2hdl {command}: {said}");
    }
    // What it writes lies in the folder that Git ignores.
    assert!(fs::read_to_string(root.join(".gitignore")).unwrap().lines().any(|line| line == "/out"));
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["examples", "out"]);
}

#[test]
fn words_of_other_tools_are_understood() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    let tiny = alir_testing::repository().join("tests/data/models/tiny_ops/model.json.gz").display().to_string();
    for (words, expected) in [
        (&["help"][..], "Usage: alir2hdl"),
        (&["help", "prove"], "Usage: alir2hdl prove"),
        (&["help", "simulate"], "Usage: alir2hdl verify"),
        (&["version"], "alir2hdl 0."),
        (&["explain", "E503"], "E0503, an error"),
        (&["explain", "w1202"], "W1202, a warning"),
    ] {
        let (code, said, err) = ran(here, words);
        assert!(code == 0 && said.contains(expected), "{words:?}: {said} {err}");
    }
    let (code, _, err) = ran(here, &["generate", &tiny, "-o", "a.v", "--output=b.vhd", "-o", "c.json", "--top", "t"]);
    assert_eq!(code, 0, "{err}");
    assert!(std::fs::read_to_string(here.join("a.v")).unwrap().contains("\nmodule t "));
    assert!(std::fs::read_to_string(here.join("b.vhd")).unwrap().contains("\nentity t is"));
    assert!(std::fs::read_to_string(here.join("c.json")).unwrap().contains("\"latency\""));
    let (code, _, err) = ran(here, &["generate", &tiny, "-o", "a.txt"]);
    assert!(code == 2 && err.contains("--output") && err.contains(".vhd") && err.lines().count() <= 2, "{err}");
    // A folder of that name is no model.
    std::fs::create_dir(here.join("build")).unwrap();
    for (word, better) in [("build", "generate"), ("prov", "prove"), ("sim", "verify"), ("synth", "generate")] {
        let (code, _, err) = ran(here, &[word, &tiny]);
        assert!(
            code == 2 && err.contains("E0002") && err.contains(&format!("did you mean `{better}`?")),
            "{word}: {err}"
        );
        assert!(err.lines().count() <= 3, "{err}");
    }
    let (code, _, err) = ran(here, &["help", "prov"]);
    assert!(code == 2 && err.contains("did you mean `prove`?"), "{err}");
}

#[test]
fn options_of_prove_have_their_own_heading() {
    let (code, said, _) = ran(std::path::Path::new("."), &["prove", "--help"]);
    let lines = said.lines().skip_while(|line| *line != "Ports:").skip(1);
    let ports: Vec<&str> = lines.take_while(|line| line.is_empty() || line.starts_with(' ')).collect();
    let ports = ports.join("\n");
    assert!(ports.contains("--port <ROLE=NAME>") && ports.contains("--port-style"), "{ports}");
    assert!(code == 0 && !ports.contains("--certificate") && !ports.contains("--json"), "{ports}");
}
