//! The user's own samples and the user's own hardware: `verify --input --expect --rtl`, and samples in a project.

use crate::projects::tool;
use crate::schema::keeps_to;
use alir_testing::first_or_all;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Exit code, standard output and standard error of the program in a folder.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_alir2hdl")).current_dir(folder).args(arguments).output();
    let output = output.expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn expect(folder: &Path, arguments: &[&str], code: i32, words: &[&str]) {
    let (found, out, err) = run(folder, arguments);
    assert_eq!(found, code, "{arguments:?}: {out}{err}");
    for word in words {
        assert!(out.contains(word) || err.contains(word), "{arguments:?}: {word:?} is not in {out}{err}");
    }
}

fn data(name: &str) -> String {
    Path::new(ROOT).join("tests/data").join(name).display().to_string()
}

/// Rows of a CSV file, the numbers as text.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).expect("a file of samples");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Another number than this one.
fn other(number: &str) -> String {
    if number.parse() == Ok(0.0) { "1".into() } else { "0".into() }
}

fn write_rows(path: &Path, rows: &[Vec<String>]) {
    let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
    std::fs::write(path, text).expect("written");
}

/// Sources of every kind: how they are named, and samples.
fn sources(folder: &Path) -> Vec<(Vec<String>, String)> {
    let sort = Path::new(ROOT).join("examples/llvlir/sort.llvlirs").display().to_string();
    let bytes: String = (0..40).map(|k| format!("{},{},{},{}\n", k * 37 - 500, k, 255 - k, k * k)).collect();
    std::fs::write(folder.join("bytes.csv"), bytes).expect("written");
    let plain = |model: &str| vec![model.to_owned()];
    vec![
        (plain(&data("models/tiny_ops/model.json.gz")), data("models/tiny_ops/inputs.npy")),
        (plain(&data("network/qonnx/mlp_pow2/model.onnx")), data("network/qonnx/mlp_pow2/inputs.npy")),
        (
            [data("network/matrix/m8/matrix.npy"), "--input-type".into(), "s8.2,RND,SAT".into()].to_vec(),
            data("network/matrix/m8/inputs.npy"),
        ),
        (plain(&data("network/qonnx/mlp_float_scales/model.onnx")), data("network/qonnx/mlp_float_scales/inputs.npy")),
        (plain(&sort), folder.join("bytes.csv").display().to_string()),
    ]
}

#[test]
fn sim_system_verilog_is_simulated_by_what_reads_it() {
    if tool("iverilog").is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let model = data("models/tiny_ops/model.json.gz");
    let of = |lang, sim| ["verify", &model, "--lang", lang, "--sim", sim, "--vectors", "200"];
    expect(folder.path(), &of("systemverilog", "iverilog"), 0, &["systemverilog", "equal: "]);
    expect(folder.path(), &of("systemverilog", "ghdl"), 2, &["E1006", "ghdl does not read systemverilog"]);
    expect(folder.path(), &of("vhdl", "iverilog"), 2, &["E1006", "iverilog does not read vhdl"]);
}

#[test]
fn sim_own_samples_and_what_run_writes_agree_for_every_source() {
    if tool("iverilog").is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    // One of each kind of source; the nightly run takes more of them.
    for (model, input) in first_or_all(&sources(folder), 3) {
        let model: Vec<&str> = model.iter().map(String::as_str).collect();
        let of = |command: &'static str, more: &[&'static str]| {
            [&[command], model.as_slice(), &["--input", input], more].concat()
        };
        for format in ["y.csv", "y.npy"] {
            expect(folder, &of("run", &["--output", format]), 0, &[]);
            expect(folder, &of("verify", &["--expect", format, "--sim", "iverilog"]), 0, &["equal: "]);
        }
        // One expected value is another one.
        let mut wrong = rows(&folder.join("y.csv"));
        let last = wrong.len() - 1;
        let element = wrong[last].len() - 1;
        wrong[last][element] = other(&wrong[last][element]);
        write_rows(&folder.join("wrong.csv"), &wrong);
        let named = format!("sample {last}, out[{element}]: expected ");
        let words = ["DIFFERENT", named.as_str(), "the model gives "];
        expect(folder, &of("verify", &["--expect", "wrong.csv", "--sim", "iverilog"]), 1, &words);
        // Rows too few and too many, an element too few.
        let mut rows = wrong.clone();
        rows.pop();
        write_rows(&folder.join("other.csv"), &rows);
        expect(
            folder,
            &of("verify", &["--expect", "other.csv", "--sim", "iverilog"]),
            2,
            &["E1008", "rows of expected"],
        );
        rows.extend([wrong[0].clone(), wrong[0].clone()]);
        write_rows(&folder.join("other.csv"), &rows);
        expect(folder, &of("verify", &["--expect", "other.csv", "--sim", "iverilog"]), 2, &["E1008", "more rows"]);
        rows.iter_mut().for_each(|row| row.push("0".into()));
        write_rows(&folder.join("other.csv"), &rows);
        expect(folder, &of("verify", &["--expect", "other.csv", "--sim", "iverilog"]), 2, &["E0703", "an output"]);
    }
}

#[test]
fn sim_own_codes_and_archives_are_taken_and_impossible_values_told() {
    if tool("ghdl").is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    let (model, x) = (data("models/tiny_ops/model.json.gz"), data("models/tiny_ops/inputs.npy"));
    // Codes out of reals, then codes on both sides.
    expect(folder, &["run", &model, "--input", &x, "--output", "y.csv"], 0, &[]);
    let zeros = "0,0,0,0\n".repeat(20);
    std::fs::write(folder.join("codes.csv"), zeros).expect("written");
    expect(folder, &["run", &model, "--input", "codes.csv", "--output", "z.csv", "--codes"], 0, &[]);
    let verify = ["verify", &model, "--sim", "ghdl", "--pipeline", "3", "--valid", "--enable", "--input"];
    let verify = |more: &[&'static str]| [verify.as_slice(), more].concat();
    expect(folder, &verify(&["codes.csv", "--expect", "z.csv", "--codes"]), 0, &["equal: 20 samples"]);
    let mut impossible = rows(&folder.join("y.csv"));
    impossible[2][0] = "1e9".into();
    impossible[3][1] = "0.0123".into();
    write_rows(&folder.join("impossible.csv"), &impossible);
    let mut arguments = verify(&[]);
    arguments.extend([x.as_str(), "--expect", "impossible.csv"]);
    let words =
        ["2 of the expected values", "sample 2, out[0]: expected 1000000000", "sample 3, out[1]: expected 0.0123"];
    expect(folder, &arguments, 1, &words);
    impossible[2][0] = "nan".into();
    write_rows(&folder.join("impossible.csv"), &impossible);
    expect(folder, &arguments, 2, &["E1008", "sample 2, output 0"]);
}

#[test]
fn sim_own_samples_go_through_a_wrapper_and_a_state_machine() {
    if tool("iverilog").is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    let model = data("models/jet_mlp/model.json.gz");
    let samples = "1,".repeat(15) + "1\n" + &("0.5,-3,".repeat(8).trim_end_matches(',').to_owned() + "\n").repeat(30);
    std::fs::write(folder.join("x.csv"), samples).expect("written");
    expect(folder, &["run", &model, "--input", "x.csv", "--output", "y.csv"], 0, &[]);
    let axis = ["verify", &model, "--sim", "iverilog", "--input", "x.csv", "--wrapper", "axis", "--axis-width", "64"];
    let axis = |expect: &'static str| [axis.as_slice(), &["--pipeline", "2", "--expect", expect]].concat();
    expect(folder, &axis("y.csv"), 0, &["equal: 31 samples"]);
    let mut wrong = rows(&folder.join("y.csv"));
    wrong[30][4] = other(&wrong[30][4]);
    write_rows(&folder.join("wrong.csv"), &wrong);
    expect(folder, &axis("wrong.csv"), 1, &["DIFFERENT", "sample 30, out[4]: expected "]);

    let machine = data("models/fsm/biquad/fsm.json.gz");
    let inputs = data("models/fsm/biquad");
    expect(folder, &["run", &machine, "--input", &inputs, "--output", "y.npz"], 0, &[]);
    let of = ["verify", &machine, "--sim", "iverilog", "--input", &inputs, "--expect"];
    expect(folder, &[&of, ["y.npz"].as_slice()].concat(), 0, &["equal: "]);
    expect(folder, &["run", &machine, "--input", &inputs, "--output", "y.csv"], 0, &[]);
    let mut wrong = rows(&folder.join("y.csv"));
    let last = wrong.len() - 1;
    wrong[last][0] = other(&wrong[last][0]);
    write_rows(&folder.join("wrong.csv"), &wrong);
    let named = format!("sample {last}, out[0]: expected ");
    expect(folder, &[&of, ["wrong.csv"].as_slice()].concat(), 1, &[&named]);
    wrong.pop();
    write_rows(&folder.join("wrong.csv"), &wrong);
    expect(folder, &[&of, ["wrong.csv"].as_slice()].concat(), 2, &["E1008"]);
}

/// Text of a model, in a file.
fn text(folder: &Path, file: &str, options: &[&str]) -> PathBuf {
    let model = data("models/tiny_ops/model.json.gz");
    let language = if file.ends_with(".v") { "--verilog" } else { "--vhdl" };
    expect(folder, &[&[model.as_str(), language, file, "-q"], options].concat(), 0, &[]);
    folder.join(file)
}

#[test]
fn sim_hardware_from_elsewhere_is_held_to_the_model() {
    if tool("iverilog").is_none() || tool("ghdl").is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    let model = data("models/tiny_ops/model.json.gz");
    let options = ["--pipeline", "3", "--valid", "--enable", "--ports", "split", "--reset", "sync"];
    let verify = |simulator: &'static str, more: &[&'static str], options: &[&'static str]| {
        let head = ["verify", &model, "--vectors", "60", "--sim", simulator];
        let (code, out, err) = run(folder, &[&head, options, more].concat());
        (code, out + &err)
    };
    #[track_caller]
    fn says((code, said): (i32, String), expected: i32, words: &[&str]) {
        assert!(code == expected && words.iter().all(|word| said.contains(word)), "{code}: {said}");
    }
    for (file, simulator) in [("o.v", "iverilog"), ("o.vhd", "ghdl")] {
        text(folder, file, &options);
        let sound = std::fs::read_to_string(folder.join(file)).expect("text");
        let rtl = ["--rtl", if simulator == "ghdl" { "o.vhd" } else { "o.v" }];
        says(verify(simulator, &rtl, &options), 0, &["equal: 60 samples"]);
        // Latency and ports are those of the header comment, unless options of them are given.
        says(verify(simulator, &rtl, &[]), 0, &["equal: 60 samples"]);
        // Distinguished by the contents.
        std::fs::write(folder.join("text"), &sound).expect("written");
        says(verify(simulator, &["--rtl", "text", "--top", "o"], &options), 0, &["equal: 60 samples"]);
        // Another latency is other hardware.
        let other = ["--pipeline", "2", "--valid", "--enable", "--ports", "split", "--reset", "sync"];
        says(verify(simulator, &rtl, &other), 1, &["DIFFERENT"]);
        let operator = if simulator == "ghdl" { ("+ ", "- ") } else { (" + ", " - ") };
        let broken = sound.replacen(operator.0, operator.1, 1);
        assert_ne!(broken, sound);
        std::fs::write(folder.join("text"), broken).expect("written");
        says(verify(simulator, &["--rtl", "text"], &options), 1, &["DIFFERENT", ": expected ", ", found "]);
        // Ports that are missing, of another width, or without a driver.
        let packed = ["--pipeline", "3", "--valid", "--enable", "--reset", "sync"];
        says(verify(simulator, &rtl, &packed), 2, &["E1009", "has no port `model_inp`", "in model_inp[14:0]"]);
        let fewer = ["--pipeline", "3", "--ports", "split"];
        says(verify(simulator, &rtl, &fewer), 2, &["E1009", "`rst` that nothing would drive"]);
        says(verify(simulator, &[rtl[0], rtl[1], "--top", "nope"], &options), 2, &["E1009", "`nope`", "there are: o"]);
        // Not the language.
        let cut = &sound[..sound.len() - 200];
        std::fs::write(folder.join("text"), cut).expect("written");
        says(verify(simulator, &["--rtl", "text", "--top", "o"], &options), 2, &["E1010", "--rtl"]);
    }
    says(verify("iverilog", &["--rtl", "o.v", "o.vhd"], &options), 2, &["E1009", "files of one language"]);
    says(verify("iverilog", &["--rtl", "o.vhd"], &options), 2, &["E1006"]);
    says(verify("iverilog", &["--rtl", "absent.v"], &options), 2, &["E0001"]);
    let unused = ["--max-stage-delay", "5"];
    says(verify("iverilog", &["--rtl", "o.v"], &unused), 2, &["E1011", "--max-stage-delay"]);
    // Constraints are no source.
    std::fs::write(folder.join("o.xdc"), "create_clock -period 5 [get_ports clk]\n").expect("written");
    says(verify("iverilog", &["--rtl", "o.v", "o.xdc"], &options), 0, &["equal: 60 samples"]);
    // Several files, one of which has an instance of the other.
    text(folder, "part.v", &[]);
    let whole = "module whole(input [14:0] model_inp, output [343:0] model_out);\n\
                 part p(.model_inp(model_inp), .model_out(model_out));\nendmodule\n";
    std::fs::write(folder.join("whole.sv"), whole).expect("written");
    says(verify("iverilog", &["--rtl", "part.v", "whole.sv"], &[]), 0, &["equal: "]);
    std::fs::write(folder.join("whole.sv"), whole.replace("[14:0]", "[15:0]")).expect("written");
    says(verify("iverilog", &["--rtl", "part.v", "whole.sv"], &[]), 2, &["E1009", "has 16 bits and should have 15"]);
}

#[test]
fn sim_a_wrapper_from_elsewhere_is_held_to_the_model() {
    if tool("iverilog").is_none() || tool("ghdl").is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    let model = data("models/tiny_ops/model.json.gz");
    let options = ["--pipeline", "2", "--wrapper", "axis", "--axis-width", "32"];
    for (file, simulator) in [("o.v", "iverilog"), ("o.vhd", "ghdl")] {
        text(folder, file, &options);
        let text_of_file = std::fs::read_to_string(folder.join(file)).expect("text");
        let verify = |options: &[&str], code: i32, words: &[&str]| {
            let head = ["verify", &model, "--vectors", "40", "--sim", simulator, "--rtl", file, "--top", "o"];
            expect(folder, &[&head, options].concat(), code, words);
        };
        verify(&options, 0, &["equal: 40 samples in "]);
        verify(&["--pipeline", "2", "--wrapper", "axis", "--axis-width", "64"], 2, &["E1009", "_axis_tdata"]);
        verify(&["--pipeline", "2"], 2, &["E1009", "has no port"]);
        let operator = if simulator == "ghdl" { ("+ ", "- ") } else { (" + ", " - ") };
        // The pipeline comes before the wrapper.
        let broken = text_of_file.replacen(operator.0, operator.1, 1);
        assert_ne!(broken, text_of_file);
        std::fs::write(folder.join(file), broken).expect("written");
        verify(&options, 1, &["DIFFERENT", "not the beat that is due"]);
    }
}

#[test]
fn sim_what_verify_prints_as_json_keeps_to_its_schema() {
    if tool("iverilog").is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    let model = data("models/tiny_ops/model.json.gz");
    let machine = data("models/fsm/biquad/fsm.json.gz");
    let json = |arguments: &[&str], code: i32| {
        let head = ["verify", "--json", "--sim", "iverilog", "--vectors", "40"];
        let (found, out, err) = run(folder, &[&head, arguments].concat());
        assert_eq!(found, code, "{arguments:?}: {out}{err}");
        keeps_to("verify", &out);
        (serde_json::from_str::<serde_json::Value>(&out).expect("JSON"), err)
    };
    let (equal, _) = json(&[&model, "--pipeline", "2", "--valid"], 0);
    assert_eq!(equal["simulations"][0]["result"], "equal");
    let (stream, warned) = json(&[&model, "--pipeline", "2", "--wrapper", "axis", "--use-dsp", "no"], 0);
    assert!(stream["beats"]["in"].as_u64() >= Some(40), "{stream}");
    // tiny_ops multiplies: nothing to warn of. It has no registers without a pipeline.
    assert!(!warned.contains("W0801"), "{warned}");
    assert!(json(&[&model, "--clk-name", "c"], 0).1.contains("--clk-name: has no effect"));
    json(&[&machine], 0);
    // Differences: of data, of a flag that comes too late, of a stream, of a machine; and files that are refused.
    let broken = |options: &[&str], design: &str| {
        expect(folder, &[&[design, "--verilog", "b.v", "-q"], options].concat(), 0, &[]);
        let text = std::fs::read_to_string(folder.join("b.v")).expect("text");
        std::fs::write(folder.join("b.v"), text.replacen(" + ", " - ", 1)).expect("written");
    };
    for (options, design) in [
        (&["--pipeline", "1"] as &[&str], &model),
        (&["--pipeline", "1", "--wrapper", "axis"], &model),
        (&[], &machine),
    ] {
        broken(options, design);
        let (found, _) = json(&[&[design.as_str(), "--rtl", "b.v", "--top", "b"], options].concat(), 1);
        assert_eq!(found["simulations"][0]["result"], "different");
        assert!(!found["simulations"][0]["mismatches"].as_array().expect("a list").is_empty());
    }
    broken(&["--pipeline", "1", "--valid"], &model);
    let (late, _) = json(&[&model, "--rtl", "b.v", "--pipeline", "2", "--valid"], 1);
    let ports =
        late["simulations"][0]["mismatches"].as_array().expect("a list").iter().filter(|m| m["port"] == "valid");
    assert!(ports.count() > 0, "{late}");
    std::fs::write(folder.join("c.v"), "module c(input [14:0] model_inp, output [343:0] model_out); endmodule x")
        .expect("written");
    let (refused, _) = json(&[&model, "--rtl", "c.v", "--top", "c"], 2);
    assert_eq!(refused["simulations"][0]["result"], "failed");
}

#[test]
fn sim_a_state_machine_from_elsewhere_is_held_to_the_design() {
    if tool("iverilog").is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    let machine = data("models/fsm/biquad/fsm.json.gz");
    expect(folder, &[&machine, "--verilog", "m.v", "-q"], 0, &[]);
    let verify = ["verify", &machine, "--rtl", "m.v", "--vectors", "200", "--sim", "iverilog"];
    expect(folder, &verify, 0, &["equal: 200 samples"]);
    let sound = std::fs::read_to_string(folder.join("m.v")).expect("text");
    let broken = sound.replacen(" + ", " - ", 1);
    assert_ne!(broken, sound);
    std::fs::write(folder.join("m.v"), broken).expect("written");
    expect(folder, &verify, 1, &["DIFFERENT"]);
}

#[test]
fn a_model_without_inputs_runs_without_samples() {
    let folder = TempDir::new().expect("a folder");
    let folder = folder.path();
    let model = r#"{"meta": "ALIRModel", "spec_version": 4, "model": [[0, 1], [], [0], [0], [false],
        [[[], 5, [5], [5, 5, 1], 0, 0]], 1, 1, null]}"#;
    std::fs::write(folder.join("five.json"), model).expect("written");
    for engine in ["fast", "golden"] {
        assert_eq!(
            run(folder, &["run", "five.json", "--output", "-", "--engine", engine]),
            (0, "5.0\n".into(), "".into())
        );
    }
}
