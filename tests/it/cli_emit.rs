//! The main job and `info` from the outside: files, messages, exit codes.

use assert_cmd::Command;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

fn model(name: &str) -> String {
    format!("{}/tests/data/models/{name}/model.json.gz", env!("CARGO_MANIFEST_DIR"))
}

/// The program in a folder of its own.
fn alir2hdl(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    command.current_dir(folder).args(arguments);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = alir2hdl(folder, arguments).output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

/// Runs it on a model and expects a refusal that contains `said`, and no file.
#[track_caller]
fn refused(arguments: &[&str], said: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let tiny = model("tiny_ops");
    let (code, stdout, stderr) = run(folder.path(), &[&[tiny.as_str()], arguments].concat());
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains(said), "no `{said}` in:\n{stderr}");
    assert_eq!(stdout, "");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0, "a file was written");
}

#[test]
fn both_languages_and_the_interface_are_written_in_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let jet = model("jet_mlp");
    let arguments =
        [&jet, "--verilog", "jet.v", "--vhdl", "jet.vhd", "--interface", "jet.json", "--pipeline", "3", "--valid"];
    let (code, stdout, stderr) = run(folder.path(), &arguments);
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    assert!(stderr.starts_with("jet: ") && stderr.contains("latency 3"), "{stderr}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("jet.v").contains("\nmodule jet (\n"));
    assert!(read("jet.vhd").contains("\nentity jet is\n"));
    let facts: Value = serde_json::from_str(&read("jet.json")).unwrap();
    assert_eq!((&facts["generator"], &facts["top"]), (&Value::from("alir2hdl"), &Value::from("jet")));
    assert_eq!(facts["language"], "both");
    assert_eq!((&facts["latency"], &facts["initiation_interval"]), (&Value::from(3), &Value::from(1)));
    assert_eq!(facts["stages"].as_array().unwrap().len(), 3);
    assert_eq!(facts["inputs"].as_array().unwrap().len(), 16);
    assert_eq!(facts["outputs"][0]["port"], "model_out");
    let bits: u64 = facts["stages"].as_array().unwrap().iter().map(|s| s["register_bits"].as_u64().unwrap()).sum();
    assert_eq!(facts["register_bits"].as_u64(), Some(bits));
    let checksum = facts["model_checksum"].as_str().unwrap();
    assert!(checksum.starts_with("crc32:") && checksum.len() == 14, "{checksum}");
}

#[test]
fn the_same_request_gives_the_same_bytes_and_stdout_is_a_file_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let sorting = model("sort_topk");
    let options = ["--pipeline", "2", "--ports", "split", "--top", "sorter", "-q"];
    let (code, first, stderr) = run(folder.path(), &[&[sorting.as_str(), "--verilog", "-"], &options[..]].concat());
    assert_eq!((code, stderr.as_str()), (0, ""));
    run(folder.path(), &[&[sorting.as_str(), "--verilog", "other_name.v"], &options[..]].concat());
    assert_eq!(fs::read_to_string(folder.path().join("other_name.v")).unwrap(), first);
}

#[test]
fn a_module_is_called_like_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = model("tiny_ops");
    run(folder.path(), &[&tiny, "--verilog", "my-filter.v", "--vhdl", "signal.vhd"]);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("my-filter.v").contains("\nmodule my_filter (\n"));
    assert!(read("signal.vhd").contains("\nentity signal_m is\n"));
    // A port keeps its name; the module gives way.
    run(folder.path(), &[&tiny, "--verilog", "clk.v", "--pipeline", "1"]);
    assert!(read("clk.v").contains("\nmodule clk_top (\n"));
}

#[test]
fn requests_that_contradict_each_other_are_refused_before_anything_is_read() {
    refused(&[], "nothing to write");
    refused(&["--verilog", "x", "--vhdl", "x"], "--verilog goes to x too");
    refused(&["--verilog", ""], "a value is required");
    refused(&["--verilog", "x.v", "--reset-data", "--pipeline", "1"], "there is no reset");
    refused(&["--verilog", "x.v", "--enable"], "there is no register that it could hold");
    refused(&["--verilog", "x.v", "--reset", "sync", "--valid"], "there is no register that it could clear");
    refused(&["--verilog", "x.v", "--reset", "async", "--pipeline", "2"], "it would clear nothing");
    refused(&["--verilog", "x.v", "--top", "wire"], "`wire_m` would be");
    refused(&["--verilog", "x.v", "--top", "CLK"], "names must differ");
    refused(&["--verilog", "x.v", "--pipeline", "-1"], "invalid value");
    refused(&["--verilog", "x.v", "-O7"], "not from 0 to 2");
}

#[test]
fn impossible_pipelines_say_what_is_possible() {
    refused(&["--verilog", "x.v", "--max-stage-delay", "-2"], "is not a delay");
    let too_short = ["--verilog", "x.v", "--max-stage-delay", "0.01"];
    refused(&too_short, "v15 (relu) alone takes 3 latency units, more than a stage's 0.01 latency units");
    refused(&too_short, "no number of stages helps; require --max-stage-delay 3 or more");
    let too_short = ["--verilog", "x.v", "--max-stage-delay", "0.01", "--device", "ecp5"];
    refused(&too_short, " ns, more than a stage's 0.01 ns");
    refused(&["--verilog", "x.v", "--clock-period", "-5"], "a period is a positive time");
    refused(&["--verilog", "x.v", "--pipeline", "1000000"], "stages are more than");
}

#[test]
fn files_that_cannot_be_written_leave_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = model("tiny_ops");
    fs::write(folder.path().join("x.v"), "mine").unwrap();
    let (code, _, stderr) = run(folder.path(), &[&tiny, "--verilog", "x.v", "--vhdl", "nowhere/x.vhd"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("--vhdl") && stderr.contains("the folder nowhere does not exist"), "{stderr}");
    assert!(!stderr.contains(".alir2hdl-"), "{stderr}");
    assert_eq!(fs::read_to_string(folder.path().join("x.v")).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let (code, _, stderr) = run(folder.path(), &[&tiny, "--verilog", "."]);
    assert_eq!(code, 2, "{stderr}");
}

#[test]
fn a_bad_model_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.json"), "{\"meta\": \"Other\"}").unwrap();
    let (code, _, stderr) = run(folder.path(), &["bad.json", "--verilog", "x.v", "--error-format", "json"]);
    assert_eq!(code, 2);
    for line in stderr.lines() {
        let problem: Value = serde_json::from_str(line).expect("one JSON object a line");
        assert!(problem["code"].as_str().is_some_and(|code| code.starts_with('E')));
    }
    assert!(!folder.path().join("x.v").exists());
    let (code, _, stderr) = run(folder.path(), &["missing.json", "--verilog", "x.v"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("missing.json"), "{stderr}");
}

#[test]
fn info_counts_operations_and_shows_stages() {
    let folder = tempfile::tempdir().unwrap();
    let jet = model("jet_mlp");
    let (code, text, _) = run(folder.path(), &["info", &jet, "--pipeline", "3", "--effort", "fast"]);
    assert_eq!(code, 0);
    let line =
        |start: &str| text.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("no {start}:\n{text}"));
    assert!(line("operations").contains("2034"));
    assert!(line("inputs").contains("111 bits"));
    assert!(line("latency 3 clocks").contains("register bits"));
    assert_eq!(text.lines().filter(|l| l.starts_with(['1', '2', '3'])).count(), 3, "{text}");
}

#[test]
fn what_each_pass_saved_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let jet = model("jet_mlp");
    let (_, text, _) = run(folder.path(), &["info", &jet, "--json", "--passes", "ranges,demand"]);
    let info: Value = serde_json::from_str(&text).unwrap();
    let passes = info["passes"].as_array().unwrap();
    assert_eq!(passes.iter().map(|p| p["name"].as_str().unwrap()).collect::<Vec<_>>(), ["ranges", "demand"]);
    let number = |pass: usize, what: &str| passes[pass][what].as_u64().unwrap();
    assert_eq!(number(0, "bits_after"), number(1, "bits_before"));
    assert!(number(1, "bits_after") < number(0, "bits_before"));
    let line = format!("demand {} to {}", number(1, "ops_before"), number(1, "ops_after"));
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, text, _) = run(folder.path(), &["info", &jet, "--passes", "ranges,demand"]);
    assert!(squeezed(&text).contains(&line), "{text}");
    let (_, _, said) = run(folder.path(), &[&jet, "--verilog", "j.v", "--passes", "ranges,demand", "-v"]);
    assert!(squeezed(&said).contains(&line), "{said}");
    let (_, _, said) = run(folder.path(), &[&jet, "--verilog", "j.v", "--passes", "ranges,demand"]);
    assert!(!squeezed(&said).contains(&line), "{said}");
}

#[test]
fn info_in_json_agrees_with_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let sorting = model("sort_topk");
    let pipeline = ["--pipeline", "2", "--register-inputs", "--effort", "fast"];
    let (_, text, _) = run(folder.path(), &[&["info", &sorting, "--json"], &pipeline[..]].concat());
    run(folder.path(), &[&[sorting.as_str(), "--interface", "s.json"], &pipeline[..]].concat());
    let info: Value = serde_json::from_str(&text).unwrap();
    let written: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("s.json")).unwrap()).unwrap();
    assert_eq!(info["pipeline"]["register_bits"], written["register_bits"]);
    assert_eq!(info["pipeline"]["latency"], 3);
    assert_eq!(written["latency"], 3);
    let counted: u64 = info["kinds"].as_array().unwrap().iter().map(|k| k["count"].as_u64().unwrap()).sum();
    assert_eq!(info["operations"].as_u64(), Some(counted));
}

#[test]
fn programs_that_read_errors_get_those_of_the_command_line_too() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        ["--error-format", "json", "model.json", "--pipeline", "-1"].as_slice(),
        &["--error-format=json", "model.json", "--verilgo", "x.v"],
        &["run", "--error-format=json"],
    ] {
        let (code, stdout, stderr) = run(folder.path(), arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        let error: Value = serde_json::from_str(&stderr).unwrap_or_else(|e| panic!("{e}: {stderr}"));
        assert_eq!((&error["code"], &error["severity"]), (&Value::from("E0002"), &Value::from("error")));
        assert!(!error["message"].as_str().unwrap().contains('\n'), "{error}");
    }
    let (code, stdout, _) = run(folder.path(), &["--error-format=json", "--version"]);
    assert_eq!(code, 0);
    assert!(stdout.starts_with("alir2hdl "));
}

#[test]
fn extensions_in_capitals_are_not_part_of_the_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (code, _, said) = crate::common::run(folder.path(), &[&crate::common::model("tiny_ops"), "-o", "sig.V"]);
    assert_eq!(code, 0, "{said}");
    let text = std::fs::read_to_string(folder.path().join("sig.V")).expect("a file");
    assert!(text.contains("\nmodule sig (") || text.contains("\nmodule sig("), "{text}");
}

/// An operation inserted anywhere into a chain of equal ones renames no other signal.
#[test]
fn names_from_an_earlier_version_stay() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, at: Option<usize>| {
        let mut nodes = vec!["[[],-1,[0],[-8,7,1],0,0]".to_owned(), "[[],-1,[1],[-8,7,1],0,0]".to_owned()];
        let mut last = 0;
        for k in 0..60 {
            if at == Some(k) {
                nodes.push(format!("[[{last}],2,[],[0,7,1],0,0]"));
                last = nodes.len() - 1;
            }
            nodes.push(format!("[[{last},1],0,[{}],[-8,7,1],0,0]", k * k % 3));
            last = nodes.len() - 1;
        }
        let nodes = nodes.join(",");
        let model = format!("[[2,1],[0,0],[{last}],[0],[false],[{nodes}],1,1,null]");
        let text = format!("{{\"model\":{model},\"meta\":\"ALIRModel\",\"spec_version\":4}}");
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    let run = |words: &[&str]| crate::common::run(folder.path(), words);
    let lines = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("a file");
        let body = text.lines().filter(|line| !line.starts_with("//"));
        body.map(str::to_owned).collect()
    };
    write("old.json", None);
    let (code, _, said) = run(&["old.json", "-o", "m.v", "-O0", "-q"]);
    assert_eq!(code, 0, "{said}");
    let old: std::collections::BTreeSet<String> = lines("m.v").into_iter().collect();
    for name in ["old.v", "old.sv", "old.vhd"] {
        // Another number of stages, and names of other modules.
        let (code, _, said) = run(&["old.json", "-o", name, "-O0", "-q", "--stages", "2"]);
        assert_eq!(code, 0, "{said}");
    }
    for at in [0, 1, 30, 59] {
        write("new.json", Some(at));
        let changed = |more: &[&str]| {
            let (code, _, said) = run(&[&["new.json", "-o", "m.v", "-O0", "-q"], more].concat());
            assert_eq!(code, 0, "{said}");
            lines("m.v").iter().filter(|line| !old.contains(*line)).count()
        };
        let without = changed(&[]);
        for from in ["old.v", "old.sv", "old.vhd", "old.json"] {
            let with = changed(&["--names-from", from]);
            assert!(with <= 4 && (at > 40 || with + 10 < without), "{at}: {with} lines, {without} without the option");
        }
        let (code, said, _) = run(&["prove", "new.json", "m.v"]);
        assert!(code == 0, "{said}");
    }
    // Operation 32 was inserted: the first one that differs in the file of the earlier version reads it.
    write("new.json", Some(30));
    run(&["old.json", "-o", "earlier.v", "-O0", "-q"]);
    let (code, said, _) = run(&["prove", "new.json", "earlier.v"]);
    assert!(code == 1 && said.contains("first operation that differs: 33 (signal v32)"), "{said}");
    assert!(said.contains("without a signal in the file: 32"), "{said}");
    let (code, _, said) = run(&["prove", "old.v", "m.v"]);
    assert!(code == 2 && said.contains("alir2hdl diff old.v m.v"), "{said}");
    let foreign = "module m (input wire [3:0] x, output wire [3:0] y); assign y = ~x; endmodule";
    std::fs::write(folder.path().join("foreign.v"), foreign).expect("written");
    let messages =
        [("foreign.v", "no signals that are named by operations"), ("none.json", "E0001"), ("none.v", "E0001")];
    for (old, message) in messages {
        let (code, _, said) = run(&["new.json", "-o", "n.v", "--names-from", old]);
        assert!(code == 2 && said.contains(message), "{said}");
    }
    for shared in [&["--ii", "4"][..], &["--ii", "auto", "--max-luts", "1000"]] {
        let (code, _, said) = run(&[&["new.json", "-o", "n.v", "--names-from", "old.json"], shared].concat());
        assert!(code == 2 && said.contains("E0804") && said.contains("--names-from"), "{said}");
        assert!(said.contains("leave out --names-from or --ii") && !folder.path().join("n.v").exists(), "{said}");
    }
}

/// Reductions of unread bits, which have other members in every version, are no uses of a signal.
#[test]
fn names_stay_where_groups_of_unread_bits_change() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |words: &[&str]| {
        let (code, _, said) = crate::common::run(folder.path(), words);
        assert_eq!(code, 0, "{said}");
    };
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    run(&["convert", &crate::common::model("jet_mlp"), "old.json"]);
    let mut model: serde_json::Value = serde_json::from_str(&read("old.json")).expect("JSON");
    // A quantiser after operation 16, for all that read it.
    const AT: u64 = 16;
    let moved = |operand: u64| if operand < AT { operand } else { operand + 1 };
    let operations = model["model"][5].as_array_mut().expect("operations");
    for operand in operations.iter_mut().flat_map(|one| one[0].as_array_mut().expect("operands")) {
        *operand = moved(operand.as_u64().expect("a number")).into();
    }
    let [mut low, mut high, step] = [0, 1, 2].map(|at| operations[AT as usize][3][at].as_f64().expect("a number"));
    let wide = 2.0 * step;
    (low, high) = ((low / wide).floor() * wide, (high / wide).floor() * wide);
    let mut quantiser = operations[AT as usize].clone();
    (quantiser[0], quantiser[1]) = (serde_json::json!([AT]), 3.into());
    (quantiser[2], quantiser[3]) = (serde_json::json!([0]), serde_json::json!([low, high, wide]));
    operations.insert(AT as usize + 1, quantiser);
    for source in model["model"][2].as_array_mut().expect("outputs") {
        if let Some(operation) = source.as_u64() {
            *source = moved(operation).into();
        }
    }
    std::fs::write(folder.path().join("new.json"), model.to_string()).expect("written");
    run(&["old.json", "-o", "old.v", "-q", "--stages", "3", "--top", "m"]);
    run(&["new.json", "-o", "new.v", "-q", "--stages", "3", "--top", "m", "--names-from", "old.v"]);
    let (old, new) = (read("old.v"), read("new.v"));
    let old: std::collections::BTreeSet<&str> = old.lines().collect();
    let changed = new.lines().filter(|line| !old.contains(line)).count();
    assert!(changed < 250, "{changed} of {} lines", new.lines().count());
}

/// Look-up tables are named after their first reader: for every order in the model, and for all numbers of stages.
#[test]
fn names_of_tables_stay() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lines = |model: &str, name: &str, more: &[&str]| -> Vec<String> {
        let words = [&[model, "-o", name, "-q", "--top", "m"], more].concat();
        let (code, _, said) = crate::common::run(folder.path(), &words);
        assert_eq!(code, 0, "{said}");
        let rtl = std::fs::read_to_string(folder.path().join(name)).expect("a file");
        let comment = if name.ends_with("vhd") { "--" } else { "//" };
        rtl.lines().filter(|line| !line.starts_with(comment)).map(str::to_owned).collect()
    };
    let (code, _, said) =
        crate::common::run(folder.path(), &["convert", &crate::common::model("lut_heavy"), "old.json"]);
    assert_eq!(code, 0, "{said}");
    let text = std::fs::read_to_string(folder.path().join("old.json")).expect("a file");
    let old: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // The last table becomes the first one.
    let mut rotated = old.clone();
    let tables = rotated["model"][8].as_array_mut().expect("tables");
    tables.rotate_right(1);
    let count = tables.len() as u64;
    for lookup in rotated["model"][5].as_array_mut().expect("operations").iter_mut().filter(|one| one[1] == 8) {
        lookup[2][0] = ((lookup[2][0].as_u64().expect("a table") + 1) % count).into();
    }
    std::fs::write(folder.path().join("rotated.json"), rotated.to_string()).expect("written");
    for name in ["m.v", "m.sv", "m.vhd"] {
        assert!(lines("old.json", name, &[]) == lines("rotated.json", name, &[]), "{name}");
    }
    let names = |more: &[&str]| -> std::collections::BTreeSet<String> {
        let functions = lines("old.json", "m.v", more);
        let names = functions.iter().filter_map(|line| line.split_once("function automatic [")?.1.split_once("] rom"));
        names.map(|(_, rest)| rest.to_owned()).collect()
    };
    let combinational = names(&["-O0"]);
    assert!(combinational.len() > 10 && combinational == names(&["-O0", "--stages", "3"]), "{combinational:?}");
    // Operation 20 is operation 19 negated, for all that read it. The tables after it keep their names.
    let mut negated = old;
    let operations = negated["model"][5].as_array_mut().expect("operations");
    for operand in operations.iter_mut().flat_map(|one| one[0].as_array_mut().expect("operands")) {
        let value = operand.as_u64().expect("a number");
        *operand = (value + u64::from(value >= 19)).into();
    }
    let [low, high, step] = [0, 1, 2].map(|at| operations[19][3][at].as_f64().expect("a number"));
    operations.insert(20, serde_json::json!([[19], -2, [], [-high, -low, step], 0, 0]));
    for source in negated["model"][2].as_array_mut().expect("outputs") {
        let value = source.as_i64().expect("a number");
        *source = (value + i64::from(value >= 19)).into();
    }
    std::fs::write(folder.path().join("negated.json"), negated.to_string()).expect("written");
    let before: std::collections::BTreeSet<String> = lines("old.json", "old.v", &[]).into_iter().collect();
    let after = lines("negated.json", "m.v", &["--names-from", "old.v"]);
    let changed = after.iter().filter(|line| !before.contains(*line)).count();
    // The entries of one table are those for the negated operand.
    assert!(changed < 1200, "{changed} of {} lines", after.len());
    let (code, said, _) = crate::common::run(folder.path(), &["prove", "negated.json", "m.v"]);
    assert!(code == 0, "{said}");
}

/// A variable of an `always_ff` has one driver: registers with power-on values have another process.
#[test]
fn registers_with_power_on_values_have_no_always_ff() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (jets, machine) = (model("jet_mlp"), model("fsm/biquad").replace("model.json", "fsm.json"));
    let cases: [(&str, &[&str]); 4] = [
        (&jets, &["--pipeline", "2", "--valid"]),
        (&jets, &["--pipeline", "2", "--valid", "--hierarchy", "stages"]),
        (&jets, &["--ii", "4", "--valid"]),
        (&machine, &[]),
    ];
    for (path, options) in cases {
        let (code, _, said) = run(folder, &[&[path, "-o", "m.sv", "-q"], options].concat());
        assert_eq!(code, 0, "{options:?}: {said}");
        let (code, _, said) = run(folder, &["prove", path, "m.sv", "--certificate", "proof"]);
        assert_eq!(code, 0, "{options:?}: {said}");
        let rtl = fs::read_to_string(folder.join("m.sv")).unwrap();
        // Names that an `initial` block and an `always_ff` assign to.
        let assigned = |begin: &str, operator: &str| -> HashSet<String> {
            let blocks = rtl.split(begin).skip(1).map(|rest| rest.split("\n    end\n").next().unwrap_or(rest));
            let names = blocks.flat_map(str::lines).filter_map(|line| line.split_once(operator));
            names.map(|(name, _)| name.trim().to_owned()).collect()
        };
        let (initial, clocked) = (assigned("    initial begin", " = "), assigned("    always_ff @", " <= "));
        assert!(!initial.is_empty() && initial.is_disjoint(&clocked), "{options:?}: {initial:?} {clocked:?}");
        let mut check = Command::new(env!("CARGO_BIN_EXE_alir2hdl-check"));
        let checked = check.current_dir(folder).args([path, "m.sv", "proof"]).output().expect("it runs");
        assert!(checked.status.success(), "{options:?}: {}", String::from_utf8_lossy(&checked.stdout));
        // Another power-on value of the counter is a difference.
        if rtl.contains("phase_is_0 = 1'b1") {
            fs::write(folder.join("wrong.sv"), rtl.replace("phase_is_0 = 1'b1", "phase_is_0 = 1'b0")).unwrap();
            assert_ne!(run(folder, &["prove", path, "wrong.sv"]).0, 0, "{options:?}");
        }
    }
}

#[test]
fn hierarchies_that_do_not_exist_are_named() {
    refused(&["-o", "t.v", "--hierarchy", "layers", "--pipeline", "2"], "only networks and ALIRPipeline files");
    let machine = model("fsm/biquad").replace("model.json", "fsm.json");
    let folder = tempfile::tempdir().unwrap();
    for hierarchy in ["layers", "stages"] {
        let (code, _, said) = run(folder.path(), &[&machine, "-o", "m.v", "--hierarchy", hierarchy]);
        assert!(code == 2 && said.contains("E0801") && !said.contains("--pipeline"), "{said}");
    }
}

#[test]
fn registers_of_the_outputs_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--pipeline", "2", "--register-inputs", "--register-outputs"];
    for name in ["m.v", "m.sv", "m.vhd"] {
        let (code, _, said) = run(folder.path(), &[&[&model("jet_mlp"), "-o", name], &options[..]].concat());
        assert_eq!(code, 0, "{said}");
        let rtl = fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(rtl.contains(" Output registers, ") && rtl.contains(" Registers after stage 2, "), "{name}");
        assert!(!rtl.contains("after stage 3"), "{name}");
    }
}
