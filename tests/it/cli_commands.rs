//! Names of sub-commands, options and results: what is typed first works, or the answer says what does.

use crate::common::{model, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs the program in a folder; expects success.
#[track_caller]
fn fine(folder: &Path, arguments: &[&str]) -> (String, String) {
    let (code, out, err) = run(folder, arguments);
    assert_eq!(code, 0, "{arguments:?}: {err}");
    (out, err)
}

#[test]
fn help_is_a_sub_command_too() {
    let here = Path::new(".");
    assert_eq!(fine(here, &["help"]).0, fine(here, &["--help"]).0);
    assert_eq!(fine(here, &["help", "prove"]).0, fine(here, &["prove", "--help"]).0);
    assert_eq!(fine(here, &["-q", "help", "verify"]).0, fine(here, &["help", "simulate"]).0);
    let (code, _, err) = run(here, &["help", "proof"]);
    assert!(code == 2 && err.contains("did you mean `prove`?"), "{err}");
    let (code, out, err) = run(here, &[]);
    assert!(code == 2 && out.is_empty() && err == fine(here, &["-h"]).0, "{err}");
}

#[test]
fn a_folder_is_no_model_and_a_sub_command_is_offered() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(model("tiny_ops"), folder.path().join("m.json.gz")).unwrap();
    for (word, meant) in [("build", "generate"), ("sim", "verify"), ("synth", "generate"), ("results", "report")] {
        for is_folder in [false, true] {
            if is_folder {
                fs::create_dir(folder.path().join(word)).unwrap();
            }
            let (code, out, err) = run(folder.path(), &[word, "m.json.gz"]);
            assert!(code == 2 && out.is_empty(), "{err}");
            assert!(err.contains(&format!("did you mean `{meant}`?")), "{err}");
            assert_eq!(err.contains("is a folder"), is_folder, "{err}");
        }
    }
}

#[test]
fn a_number_of_stages_may_follow_sweep_with_a_blank() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = model("tiny_ops");
    let with_blank = fine(folder.path(), &["info", &tiny, "--json", "--sweep", "4"]).0;
    assert_eq!(with_blank, fine(folder.path(), &["info", &tiny, "--json", "--sweep=4"]).0);
    assert_eq!(fine(folder.path(), &["info", "--sweep", "4", &tiny, "--json"]).0, with_blank);
    // Without a number the file is still the model.
    let twelve: Value = serde_json::from_str(&fine(folder.path(), &["info", "--json", "--sweep", &tiny]).0).unwrap();
    assert_eq!(twelve["sweep"].as_array().unwrap().len(), 12);
}

#[test]
fn a_sweep_takes_a_range_that_begins_without_registers() {
    let folder = tempfile::tempdir().unwrap();
    let (json, _) =
        fine(folder.path(), &["info", &model("tiny_ops"), "--sweep", "0..2", "--device", "xcku5p", "--json"]);
    let facts: Value = serde_json::from_str(&json).unwrap();
    let rows = facts["sweep"].as_array().unwrap();
    let column = |name: &str| rows.iter().map(|row| row[name].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((column("stages"), column("latency")), (vec![0, 1, 2], vec![0, 1, 2]));
    assert_eq!(rows[0]["register_bits"], 0);
    // Without registers a result takes one period, not none.
    assert!(rows.iter().all(|row| row["on_device"]["latency_ns"].as_f64().unwrap() > 0.0), "{json}");
    assert_eq!(rows[0]["delay_in_all"], rows[0]["stage_delay"]);
}

#[test]
fn short_help_has_no_example_with_an_option_that_it_hides() {
    let here = Path::new(".");
    let (overview, _) = fine(here, &["help"]);
    let names = overview.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let mut seen = 0;
    for name in names.filter(|name| !name.is_empty() && *name != "alir2hdl" && *name != "help") {
        let (text, _) = fine(here, &[name, "-h"]);
        let (options, examples) = text.split_once("Examples:\n").unwrap_or((&text, ""));
        for line in examples.lines().filter(|line| line.trim_start().starts_with("alir2hdl ")) {
            let call = line.trim_start().split("   ").next().unwrap().split(" -- ").next().unwrap();
            for word in call.split(' ').take_while(|word| *word != "|").filter(|word| word.starts_with("--")) {
                let option = word.split('=').next().unwrap();
                assert!(options.contains(option), "{name} -h has an example with {option}, which it does not list");
                seen += 1;
            }
        }
    }
    assert!(seen > 15, "only {seen} options in examples");
}

#[test]
fn messages_name_options_as_they_were_typed() {
    let here = Path::new(".");
    let tiny = model("tiny_ops");
    let failed = |words: &[&str]| {
        let (code, _, err) = run(here, words);
        assert_eq!(code, 2, "{err}");
        err
    };
    assert!(failed(&[&tiny, "--stages", "20000", "--verilog", "-"]).contains(" at --stages: "));
    assert!(failed(&[&tiny, "--pipeline", "20000", "--verilog", "-"]).contains(" at --pipeline: "));
    assert!(failed(&[&tiny, "--stages", "x", "--verilog", "-"]).contains("'--stages <"));
}

#[test]
fn a_sweep_shows_which_stages_meet_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let sorting = model("sort_topk");
    let sweep = ["info", &sorting, "--sweep", "4", "--device", "xc7z020", "--freq", "50"];
    let table = fine(folder.path(), &sweep).0;
    assert!(table.contains("meets period"), "{table}");
    let json: Value = serde_json::from_str(&fine(folder.path(), &[&sweep[..], &["--json"]].concat()).0).unwrap();
    let rows = json["sweep"].as_array().unwrap();
    let meets: Vec<bool> = rows.iter().map(|row| row["meets_period"].as_bool().unwrap()).collect();
    assert!(!meets[0] && meets[3] && meets.is_sorted(), "{meets:?}");
    let pictured = [&["info", &sorting, "--sweep", "2", "--device", "xc7z020", "--svg", "s.svg"][..]];
    for (clock, required) in [
        (&["--freq", "50"][..], Some("required 50 MHz")),
        (&["--clock-period", "0.5"], Some("required 2000 MHz \u{2191}")),
        (&[], None),
    ] {
        fine(folder.path(), &[pictured[0], clock].concat());
        let drawn = std::fs::read_to_string(folder.path().join("s.svg")).unwrap();
        assert_eq!(drawn.matches("required").count(), usize::from(required.is_some()), "{drawn}");
        assert!(required.is_none_or(|label| drawn.contains(label)), "{drawn}");
    }
    for row in rows {
        let clock_mhz = row["on_device"]["clock_mhz"].as_f64().unwrap();
        assert_eq!(row["meets_period"], clock_mhz >= 50.0, "{row}");
    }
}

#[test]
fn the_ending_of_a_page_says_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = model("tiny_ops");
    let files = || -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    for (options, written) in [
        (&["-o", "a.svg"][..], &["a.svg"][..]),
        (&["--svg", "b.svg"], &["a.svg", "b.svg"]),
        (&["-o", "c.html", "--svg", "c.svg"], &["a.svg", "b.svg", "c.html", "c.svg"]),
    ] {
        let said = fine(folder.path(), &[&["view", &tiny, "--stages", "2"][..], options].concat()).1;
        assert_eq!(files(), written, "{said}");
    }
    assert!(std::fs::read_to_string(folder.path().join("a.svg")).unwrap().starts_with("<svg"));
}

/// Numbers in a string that have more than four significant digits, counts aside.
fn long_figures(text: &str) -> Vec<String> {
    let numbers = text.split(|c: char| !(c.is_ascii_digit() || c == '.')).map(|n| n.trim_matches('.'));
    let is_long = |number: &&str| {
        let digits = number.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count();
        number.matches('.').count() == 1 && digits > 4
    };
    numbers.filter(is_long).map(str::to_owned).collect()
}

#[test]
fn no_figure_for_people_has_more_than_four_significant_digits() {
    assert_eq!(long_figures("1.2345 ns, 12.34 and 0.0001234; 19.593x 1.2.3.4.5"), ["1.2345", "19.593"]);
    let folder = tempfile::tempdir().unwrap();
    let (jet, machine) = (model("jet_mlp"), model("fsm/mlp_pipeline").replace("model.json", "fsm.json"));
    for arguments in [
        &["info", &jet, "-v"][..],
        &["info", &jet, "--stages", "3", "-v"],
        &["info", &jet, "--stages", "3", "--device", "xcku5p"],
        &["info", &jet, "--sweep", "3", "--device", "ultrascale+"],
        &["info", &jet, "--ii", "8"],
        &["info", &machine, "-v"],
        &["generate", &jet, "-o", "j.v", "--prove", "--timings"],
        &["prove", &jet, "j.v"],
        &["view", &jet, "--stages", "3", "-o", "j.html"],
        &["project", &jet, "-o", "p", "--flow", "vivado,yosys", "--device", "xcku5p,lfe5u-85f", "--vectors", "2"],
    ] {
        let (out, err) = fine(folder.path(), arguments);
        assert_eq!(long_figures(&out), [""; 0], "{arguments:?}");
        assert_eq!(long_figures(&err), [""; 0], "{arguments:?}");
    }
}

#[test]
fn an_estimate_says_which_hardware_it_is_about() {
    let jet = model("jet_mlp");
    let said =
        |options: &[&str]| fine(Path::new("."), &[&["info", jet.as_str(), "--device", "xcku5p"], options].concat()).0;
    assert!(said(&[]).contains("estimate for xcku5p, combinational\n"));
    assert!(said(&["--stages", "2", "--register-inputs"]).contains("estimate for xcku5p, latency 3\n"));
    let sweep = said(&["--sweep", "2"]);
    assert!(sweep.contains("estimate for xcku5p, combinational\n"), "{sweep}");
    assert!(sweep.contains("the estimate above the table is that of the combinational module"), "{sweep}");
}

#[test]
fn every_command_prints_the_same_clock_which_can_be_required() {
    let folder = tempfile::tempdir().unwrap();
    let (product, device) = (model("var_mul"), ["--device", "ice40", "--stages", "4"]);
    let with = |command: &[&str]| fine(folder.path(), &[command, &device[..]].concat());
    let made = with(&[&product, "-o", "m.v"]).1;
    let period = made.split("estimated clock period ").nth(1).and_then(|s| s.split(' ').next()).expect("a period");
    let info = with(&["info", &product]).0;
    assert!(info.contains(&format!(" MHz, {period} ns")), "{period}: {info}");
    assert!(info.contains(&format!("critical stage {period} ns")), "{period}: {info}");
    let sweep = fine(folder.path(), &["info", &product, "--sweep", "4..4", "--device", "ice40"]).0;
    assert!(sweep.lines().any(|row| row.starts_with("4 ") && row.contains(&format!(" {period} "))), "{sweep}");
    assert!(with(&["view", &product, "-o", "m.html"]).1.contains(&format!("critical stage delay {period} ns")));
    let project = with(&["project", &product, "-o", "p", "--flow", "yosys", "--vectors", "2"]).1;
    assert!(project.contains(&format!("estimated clock period {period} ns")), "{project}");
    let exact: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("p/metadata.json")).unwrap()).unwrap();
    let exact = exact["estimate"]["period_ns"].as_f64().unwrap();
    assert!(period.parse::<f64>().unwrap() > exact, "{period} is not rounded: choose another model");
    with(&["info", &product, "--clock-period", period]);
}

#[test]
fn a_sweep_claims_no_fewest_registers_for_the_delays_of_a_device() {
    // With a longer period five stages of the same delay have fewer register bits.
    let folder = tempfile::tempdir().unwrap();
    let sorting = model("sort_topk");
    let of = |options: &[&str]| {
        let fixed = ["info", sorting.as_str(), "--device", "generic"];
        fine(folder.path(), &[&fixed[..], options].concat()).0
    };
    assert!(of(&["--sweep", "5..5"]).contains("fewest register bits for these delays of operations, in ns"));
    let (latency_fields, _) = fine(folder.path(), &["info", &sorting, "--sweep", "5..5"]);
    assert!(latency_fields.contains("fewest register bits at this delay, in latency units"), "{latency_fields}");
}

#[test]
fn the_viewer_gives_the_critical_path_of_a_device_no_slack() {
    let folder = tempfile::tempdir().unwrap();
    let softmax = alir_testing::repository().join("examples/softmax_tables/softmax.json.gz").display().to_string();
    fine(folder.path(), &["view", &softmax, "--stages", "4", "--device", "xcvu13p", "-o", "m.html"]);
    let page = fs::read_to_string(folder.path().join("m.html")).unwrap();
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("the data");
    let data: Value = serde_json::from_str(data).expect("JSON");
    let numbers = |list: &Value| list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<f64>>();
    let (arrival, slack, stage) = (numbers(&data["arrival"]), numbers(&data["slack"]), numbers(&data["ops"]["s"]));
    let delays: Vec<f64> =
        data["columns"].as_array().unwrap().iter().map(|c| c["delay"].as_f64().unwrap_or(0.0)).collect();
    for (k, &at) in arrival.iter().enumerate() {
        assert!(at <= delays[stage[k] as usize] + 1e-3 && slack[k] >= 0.0, "operation {k} arrives at {at}");
    }
    let critical = (0..delays.len()).max_by(|&a, &b| delays[a].total_cmp(&delays[b])).unwrap();
    let path = numbers(&data["paths"][critical]);
    assert!(!path.is_empty() && path.iter().all(|&k| slack[k as usize] < 1e-6), "{path:?}");
}

#[test]
fn suggestions_are_close_or_missing() {
    let tiny = model("tiny_ops");
    let help = |words: &[&str]| {
        let (code, _, err) = run(Path::new("."), words);
        assert_eq!(code, 2, "{words:?}: {err}");
        err.lines().find_map(|line| line.strip_prefix("  help: ")).unwrap_or_default().to_owned()
    };
    assert_eq!(help(&[&tiny, "--verilog", "x.v", "--systemverilg", "x.sv"]), "did you mean --systemverilog FILE?");
    assert_eq!(help(&[&tiny, "-o", "x.v", "--vaild"]), "did you mean --valid?");
    assert_eq!(help(&[&tiny, "-o", "x.v", "--clock_period=5"]), "did you mean --clock-period 5?");
    assert_eq!(help(&[&tiny, "-o", "x.v", "--qwertyuiop"]), "`alir2hdl generate --help` lists its options");
    assert!(help(&["check", &tiny, "--stages"]).contains("`generate`"));
}

#[test]
fn the_ending_of_a_result_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = model("tiny_ops");
    let file = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    fine(
        folder.path(),
        &["generate", &tiny, "-o", "a.v", "-o", "a.vhd", "-o", "a.vhdl", "-o", "a.hpp", "-o", "a.json"],
    );
    assert!(file("a.v").contains("module a") && file("a.vhd").contains("entity a is"));
    assert_eq!(file("a.vhd"), file("a.vhdl"));
    assert!(file("a.hpp").contains("namespace a") && file("a.json").contains("\"latency\""));
    // The same request has the same text, with and without the sub-command.
    fine(folder.path(), &[&tiny, "-o", "a.v", "--stages", "2"]);
    let bare = file("a.v");
    fine(folder.path(), &["generate", "--stages", "2", &tiny, "--verilog", "a.v"]);
    assert_eq!(file("a.v"), bare);
    // Verilog-2001 in a file of SystemVerilog, and other mixtures.
    for (option, name, warned) in [
        ("-o", "x.sv", false),
        ("--systemverilog", "x.sv", false),
        ("--systemverilog", "x.v", true),
        ("--verilog", "x.sv", true),
        ("--verilog", "x.vhd", true),
        ("--vhdl", "y.v", true),
        ("--verilog", "z.V", false),
        ("--verilog", "z", false),
    ] {
        let (_, err) = fine(folder.path(), &[&tiny, option, name]);
        assert_eq!(err.contains("warning[W0802]"), warned, "{option} {name}: {err}");
    }
    for (name, said) in
        [("q", "extension"), ("q.txt", "extension"), ("-", "stdout"), (".", "folder"), ("new/", "folder")]
    {
        let (code, _, err) = run(folder.path(), &[&tiny, "-o", name]);
        assert!(code == 2 && err.contains("E0802") && err.contains(said), "{name}: {err}");
    }
}

#[test]
fn version_and_devices_are_sub_commands() {
    let here = Path::new(".");
    assert_eq!(fine(here, &["version"]).0, fine(here, &["--version"]).0);
    let (listed, _) = fine(here, &["devices"]);
    for name in ["ultrascale+", "ecp5", "xczu9eg", "agf", "kv260", "vivado"] {
        assert!(listed.contains(name), "{name}");
    }
    assert_eq!(fine(here, &["simulate", "-h"]).0, fine(here, &["verify", "-h"]).0);
}

#[test]
fn devices_are_filtered_by_a_part_of_a_name() {
    let here = Path::new(".");
    let listed = |filter: &str| fine(here, &["devices", filter]).0;
    let zynq = listed("ZYNQ");
    assert!(zynq.contains("xc7z020") && !zynq.contains("xcku5p") && !zynq.contains("--board"), "{zynq}");
    // A whole part number: its prefix and the board that carries it.
    let part = listed("xc7z020clg400-1");
    assert!(part.contains("xc7z020 ") && part.contains("pynq-z2") && !part.contains("xc7z010"), "{part}");
    let (code, _, err) = run(here, &["devices", "nonesuch"]);
    assert!(code == 2 && err.contains("nonesuch"), "{err}");
}

#[test]
fn run_takes_samples_after_the_model_and_writes_to_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let (tiny, machine) = (model("tiny_ops"), model("fsm/biquad").replace("model.json", "fsm.json"));
    let inputs = tiny.replace("model.json.gz", "inputs.npy");
    let (rows, _) = fine(folder.path(), &["run", &tiny, &inputs]);
    assert!(rows.lines().count() > 1);
    assert_eq!(fine(folder.path(), &["run", &tiny, "--input", &inputs, "--output", "-"]).0, rows);
    assert_eq!(fine(folder.path(), &["run", &tiny, &inputs, "-o", "y.csv"]).0, "");
    assert_eq!(fs::read_to_string(folder.path().join("y.csv")).unwrap(), rows);
    // A command that prints something else writes no results as well.
    assert!(fine(folder.path(), &["run", &tiny, &inputs, "--trace", "1"]).0.starts_with("sample 1\n"));
    assert!(
        !fine(folder.path(), &["run", &tiny, &inputs, "--check-intervals"]).0.contains(rows.lines().next().unwrap())
    );
    let (code, _, err) = run(folder.path(), &["run", &tiny]);
    assert!(code == 2 && err.contains("E0712") && err.contains("run MODEL SAMPLES.npy"), "{err}");
    let (code, _, err) = run(folder.path(), &["run", &tiny, &inputs, "y.npy"]);
    assert!(code == 2 && err.contains("-o y.npy names the result"), "{err}");
    let (code, _, _) = run(folder.path(), &["run", &machine, "--cycles", "3"]);
    assert_eq!(code, 2, "it has an input port");
}

#[test]
fn view_names_its_page_like_the_model() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(model("tiny_ops"), folder.path().join("tiny.json.gz")).unwrap();
    let (_, err) = fine(folder.path(), &["view", "tiny.json.gz", "--stages", "1"]);
    assert!(err.starts_with("tiny.html: "), "{err}");
    let page = fs::read(folder.path().join("tiny.html")).unwrap();
    fine(folder.path(), &["view", "tiny.json.gz", "--stages", "1", "-o", "other.html"]);
    assert_eq!(fs::read(folder.path().join("other.html")).unwrap(), page);
}

#[test]
fn codes_are_explained_with_and_without_zeros() {
    let here = Path::new(".");
    let whole = fine(here, &["explain", "E0503"]).0;
    for short in ["E503", "e503", "e0503", "[E0503]", " E503 ", "503", "0503"] {
        assert_eq!(fine(here, &["explain", short]).0, whole, "{short}");
    }
    let (code, _, err) = run(here, &["explain", "9503"]);
    assert!(code == 2 && err.contains("there is no code"), "{err}");
}

#[test]
fn lists_take_commas() {
    let folder = tempfile::tempdir().unwrap();
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/network/ir/mlp_relu/");
    let (graph, weights, quant) =
        (format!("{net}net.json"), format!("{net}weights.safetensors"), format!("{net}quant.json"));
    // One of the two has nothing that is needed, which is fine.
    fs::create_dir(folder.path().join("none")).unwrap();
    let both = format!("{weights},{weights}");
    let (code, _, twice) = run(folder.path(), &["check", &graph, "--weights", &both, "--quant", &quant]);
    let (expected, _, apart) =
        run(folder.path(), &["check", &graph, "--weights", &weights, "--weights", &weights, "--quant", &quant]);
    assert_eq!((code, twice), (expected, apart));
    // A file with a comma in its name is one file.
    fs::copy(&weights, folder.path().join("a,b.safetensors")).unwrap();
    fine(folder.path(), &["check", &graph, "--weights", "a,b.safetensors", "--quant", &quant]);
    let tiny = model("tiny_ops");
    fine(folder.path(), &["generate", &tiny, "-o", "t.v,t.vhd"]);
    assert!(folder.path().join("t.v").exists() && folder.path().join("t.vhd").exists());
    let (code, _, err) = run(folder.path(), &["generate", &tiny, "-o", "u.v,u.v"]);
    assert!(code == 2 && err.contains("E0802") && !folder.path().join("u.v").exists(), "{err}");
    // Simulators by name are looked for one by one: here none of them is there.
    let command = |words: &[&str]| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
        let output = command.env_clear().current_dir(folder.path()).args(words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, err) = command(&["verify", &tiny, "--sim", "iverilog,ghdl"]);
    assert!(code == Some(3) && err.contains("iverilog") && err.contains("ghdl"), "{err}");
    let (code, err) = command(&["verify", &tiny, "--sim", "iverilog,ghdl", "--lang", "vhdl"]);
    assert!(code == Some(3) && !err.contains("iverilog") && err.contains("ghdl"), "{err}");
}

#[test]
fn a_network_without_quantisers_is_warned_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/network/float_matmul.onnx");
    let (_, said) = fine(folder.path(), &["generate", net, "--input-type", "s8.4", "-o", "f.v"]);
    assert!(said.contains("warning[W0820]") && said.contains("no quantiser") && said.contains("calibrate"), "{said}");
    let quantised = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/perceptron.onnx");
    let (_, said) = fine(folder.path(), &["generate", quantised, "-o", "p.v"]);
    assert!(!said.contains("W0820"), "{said}");
}

/// Each mistake is answered at the option that was typed, and no option is ignored.
#[test]
fn no_option_is_ignored_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = model("tiny_ops");
    fine(folder.path(), &["generate", &tiny, "-o", "m.v"]);
    let network = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/quantised_network/net.json");
    for (arguments, said) in [
        (&["prove", &tiny, "m.v", "--rtl", "missing.v"][..], "error[E0804] at --rtl"),
        (&["prove", &tiny, "m.v", "--instance", "a.b"], "error[E0804] at --instance"),
        (&["prove", &tiny, "m.v", "--cells", "xilinx"], "error[E0804] at --cells"),
        (&["info", network, "--nodes", "layer"], "error[E2003] at --nodes: \"layer\" is no condition"),
        (&["info", network, "--nodes", "op=zzz"], "nodes: nothing is selected"),
        (&["info", &tiny, "--clock-uncertainty", "-1"], "error[E0505] at --clock-uncertainty"),
        (&["verify", &tiny, "--timeout", "0"], "'--timeout <SECONDS>'"),
        (&["generate", &tiny, "-o", "o.v", "--max-ops", "x"], "'--max-ops <N>': not a whole number"),
        (&["generate", &tiny, "-o", "o.v", "--stages", "1", "--port", "clk=model_inp"], "error[E0602] at --port clk"),
        (&["generate", &tiny, "-o", "o.v", "--stages", "1", "--port", "in=clk"], "error[E0602] at --port in"),
    ] {
        let (code, out, err) = run(folder.path(), arguments);
        assert!(code == 2 && out.is_empty() && err.contains(said), "{arguments:?}: {err}");
    }
    let (_, err) = fine(folder.path(), &["generate", &tiny, "-o", "o.v", "--port", "rst=reset"]);
    assert!(err.contains("warning[W0801] at --port rst"), "{err}");
    let selected = fine(folder.path(), &["info", network, "--nodes", "op=relu"]).0;
    assert!(selected.contains("relu") && !selected.contains("linear"), "{selected}");
}

/// The command that a refutation prints shows what the model computes for the counterexample.
#[test]
fn a_refutation_prints_the_command_that_replays_it() {
    let folder = tempfile::tempdir().unwrap();
    let name = "it's a model.json.gz";
    fs::copy(model("tiny_ops"), folder.path().join(name)).unwrap();
    fine(folder.path(), &["generate", name, "-o", "m.v"]);
    let text = fs::read_to_string(folder.path().join("m.v")).unwrap();
    fs::write(folder.path().join("m.v"), text.replacen(" + ", " - ", 1)).unwrap();
    let (code, out, _) = run(folder.path(), &["prove", name, "m.v"]);
    assert_eq!(code, 1, "{out}");
    assert!(!out.contains("matched by name"), "{out}");
    let command = out.lines().find_map(|line| line.trim().strip_prefix("replay: ")).expect("a command");
    let expected: Vec<&str> = out.split("output ").nth(2).unwrap().split(": the file gives ").collect();
    let (element, value) = (expected[0].parse::<usize>().unwrap(), expected[1].split("the model ").nth(1).unwrap());
    let value = value.lines().next().unwrap();
    let command = command.replace("alir2hdl", env!("CARGO_BIN_EXE_alir2hdl"));
    let replayed = std::process::Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output().unwrap();
    let row = String::from_utf8(replayed.stdout).unwrap();
    assert_eq!(row.trim().split(',').nth(element), Some(value), "{command}: {row}");
}

#[test]
fn samples_outside_of_their_types_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.csv"), "100,2,3,4\n1,2,3,0\n").unwrap();
    for command in ["run", "verify"] {
        let tiny = model("tiny_ops");
        let arguments: &[&str] = match command {
            "run" => &["run", &tiny, "x.csv"],
            _ => &["verify", &tiny, "--input", "x.csv", "--sim", "iverilog"],
        };
        let (_, err) = fine(folder.path(), arguments);
        assert!(err.contains("note[N0704] in x.csv: 2 of 8 input numbers lie outside"), "{err}");
        assert!(err.contains("the first is 100 in sample 0, input 0, whose type s6.2 takes -8 to below 8"), "{err}");
    }
    fs::write(folder.path().join("x.csv"), "-8,0,3,0\n7.99,2,3,1\n").unwrap();
    let (_, err) = fine(folder.path(), &["run", &model("tiny_ops"), "x.csv"]);
    assert!(!err.contains("N0704"), "{err}");
}

#[test]
fn columns_of_devices_have_spaces_between() {
    let (listed, _) = fine(Path::new("."), &["devices"]);
    for line in listed.lines().filter(|line| line.starts_with("  lf")) {
        assert!(line.split_whitespace().next().is_some_and(|prefix| line.contains(&format!(" {prefix} "))), "{line}");
    }
}

#[test]
fn wrong_files_are_named_for_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("dir")).unwrap();
    std::fs::write(folder.path().join("x.csv"), "1,2\n0.5,1\n").unwrap();
    let tiny = model("tiny_ops");
    for (words, message) in [
        (&["prove", &tiny, "x.csv"][..], "this is a file of samples"),
        (&["prove", &tiny, "nodir/x.v"], "the folder nodir does not exist"),
        (&["run", &tiny, "nodir/x.csv"], "the folder nodir does not exist"),
        (&["report", "nodir"], "give the path of a file"),
        (&["report", "dirr"], "did you mean dir?"),
        (&["info", &tiny, "--ii", "2,x"], "\"x\" is no number of clocks; give numbers with commas, such as 1,2,4"),
        (&[&tiny, "-o", "t.v", "--wrapper", "axis", "--pipeline", "1", "--axis-width", "12"], "a multiple of 8 up to"),
    ] {
        let (code, _, said) = run(folder.path(), words);
        assert!(code == 2 && said.contains(message), "{words:?}: {said}");
    }
}

/// Options that `project` refuses in every variant are refused before a workflow is written.
#[test]
fn an_exploration_of_which_no_variant_can_succeed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (tiny, machine) = (model("tiny_ops"), model("fsm/biquad").replace("model.json", "fsm.json"));
    for (words, code) in [
        (&["--ii", "2"][..], "E0816"),
        (&["--enable", "--wrapper", "axis"], "E0803"),
        (&["--reset-data"], "E0801"),
        (&["--flow", "vivado", "--device", "ecp5"], "E0805"),
    ] {
        let fixed = ["explore", &tiny, "--pipeline", "1..3", "-o", "x", "--"];
        let (status, _, said) = run(folder.path(), &[&fixed[..], words].concat());
        assert!(status == 2 && said.contains(code), "{words:?}: {said}");
        assert!(!folder.path().join("x").exists(), "{words:?}");
    }
    // A variant without registers fails alone.
    let some = ["explore", &tiny, "--pipeline", "0..2", "-o", "x", "--", "--enable"];
    let (status, _, said) = run(folder.path(), &some);
    assert_eq!(status, 0, "{said}");
    let (status, _, said) = run(folder.path(), &["explore", &tiny, &machine, "-o", "y"]);
    assert!(status == 2 && said.contains("E0804") && said.contains(&format!("leave out {machine}")), "{said}");
}

#[test]
fn an_exploration_without_its_tools_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    let tiny = model("tiny_ops");
    command.env_clear().current_dir(folder.path()).args(["explore", &tiny, "-o", "x", "--flow", "yosys", "--run"]);
    let ended = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(3) && said.contains("yosys is not installed"), "{said}");
    assert!(!folder.path().join("x").exists());
}
