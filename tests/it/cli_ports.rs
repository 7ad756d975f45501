//! Control ports, port names and attributes from the outside.

use assert_cmd::Command;
use std::path::Path;

fn run(arguments: &[&str]) -> (i32, String, String) {
    let model = format!("{}/tests/data/models/tiny_ops/model.json.gz", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_alir2hdl"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .args([&[model.as_str(), "--verilog", "-", "--top", "dut", "-q"], arguments].concat())
        .output()
        .expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

/// The port list of what is written.
fn ports(arguments: &[&str]) -> Vec<String> {
    let (code, text, said) = run(arguments);
    assert_eq!(code, 0, "{said}");
    let list = text.split("module dut (").nth(1).and_then(|rest| rest.split(");").next()).expect("a port list");
    let declarations =
        list.lines().filter(|line| ["input", "output"].iter().any(|side| line.trim_start().starts_with(side)));
    declarations.filter_map(|line| line.split_whitespace().last()).map(|n| n.trim_end_matches(',').into()).collect()
}

const CONTROLS: [&str; 6] = ["--pipeline", "2", "--valid", "--enable", "--reset", "async"];

#[test]
fn styles_name_every_port() {
    let of = |style: &[&str]| ports(&[&CONTROLS[..], style].concat());
    assert_eq!(of(&[]), ["clk", "rst", "ce", "valid_in", "model_inp", "valid_out", "model_out"]);
    assert_eq!(of(&["--port-style", "plain"]), ["clk", "rst", "en", "in_valid", "in_data", "out_valid", "out_data"]);
    assert_eq!(
        of(&["--port-style", "ap", "--reset-polarity", "low"]),
        ["ap_clk", "ap_rst_n", "ap_ce", "ap_start", "input_1", "ap_done", "layer_out"]
    );
}

#[test]
fn a_name_that_is_given_wins_over_the_style() {
    let given = [
        "--port-style",
        "ap",
        "--clk-name",
        "c",
        "--rst-name",
        "r",
        "--ce-name",
        "e",
        "--valid-in-name",
        "vi",
        "--valid-out-name",
        "vo",
        "--input-name",
        "x",
        "--output-name",
        "y",
    ];
    assert_eq!(ports(&[&CONTROLS[..], &given].concat()), ["c", "r", "e", "vi", "x", "vo", "y"]);
    let split = ports(&["--ports", "split", "--input-name", "x", "--output-name", "out"]);
    assert!(split.iter().any(|name| name == "x_1") && split.iter().any(|name| name == "out_1"), "{split:?}");
}

#[test]
fn a_bad_name_is_refused_with_its_option() {
    for (arguments, said) in [
        (["--input-name", "my input"], "--port in"),
        (["--output-name", "model_inp"], "is that of the input port too"),
        (["--input-name", "keep"], "`keep_m` would be"),
        (["--reset-polarity", "low"], "there is no reset"),
    ] {
        let (code, text, stderr) = run(&arguments);
        assert_eq!((code, text.as_str()), (2, ""), "{arguments:?}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
}

#[test]
fn attributes_are_there_for_both_vendors() {
    let (_, text, _) = run(&["--pipeline", "2", "--shreg-extract", "no", "--keep-names"]);
    assert!(text.contains(
        "(* shreg_extract = \"no\", altera_attribute = \"-name AUTO_SHIFT_REGISTER_RECOGNITION OFF\" *)\nmodule dut"
    ));
    assert!(text.contains("(* keep = \"true\", syn_preserve = 1 *) reg "));
    assert!(text.contains("(* keep = \"true\", syn_keep = 1 *) wire "));
    // Without registers there is nothing to say about shift registers.
    let (_, text, _) = run(&["--shreg-extract", "no"]);
    assert!(!text.contains("shreg_extract"));
}

#[test]
fn a_wrapper_has_stream_ports_and_says_where_elements_are() {
    let streams = ["--wrapper", "axis", "--pipeline", "2", "--axis-width", "16"];
    let (code, text, said) = run(&streams);
    assert_eq!(code, 0, "{said}");
    assert!(text.contains("module dut_core (") && text.contains("module dut ("));
    assert!(text.contains("input  wire [15:0] s_axis_tdata"));
    // Power-on values are those of the reset, and no block is nested without a reason.
    assert!(text.contains("        held = 2'd0;\n        credits = 2'd2;\n    end"), "{text}");
    assert!(text.contains("    initial valid = {2{1'b0}};") && !text.contains("begin\n        begin"), "{text}");
    for (arguments, said) in [
        (&["--wrapper", "axis", "--valid"][..], "at --valid: incompatible with --wrapper axis"),
        (&["--axis-width", "16"], "add --wrapper axis"),
        (&["--wrapper", "axis", "--axis-width", "12"], "--axis-width"),
        (&["--wrapper", "axis", "--axis-flow", "stall", "--axis-depth", "4", "--pipeline", "2"], "no FIFO"),
    ] {
        let (code, _, stderr) = run(arguments);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(stderr.contains(said) || stderr.contains("the wrapper has"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_wrapper_of_a_model_without_bits_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = r#"{"model":[[1,1],[0],[0],[0],[false],[[[],-1,[0],[0.0,0.0,1.0],0.0,0.0]],1,-1,null],
        "meta":"ALIRModel","spec_version":4}"#;
    std::fs::write(folder.path().join("m.json"), model).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    command.current_dir(folder.path()).args([
        "generate",
        "m.json",
        "-o",
        "t.v",
        "--wrapper",
        "axis",
        "--pipeline",
        "1",
    ]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("E0611") && stderr.contains("the inputs and outputs of the model have no bits"),
        "{stderr}"
    );
    assert!(!folder.path().join("t.v").exists());
}

/// Each option that a wrapper determines is named, and nothing recommends another one that is refused.
#[test]
fn a_wrapper_names_the_options_that_it_determines() {
    for stages in ["0", "2"] {
        for (given, flag) in [
            (&["--reset", "sync"][..], "--reset"),
            (&["--enable"], "--enable"),
            (&["--ports", "split"], "--ports"),
            (&["--port", "ce=advance"], "--port ce"),
            (&["--port-style", "plain"], "--port-style"),
        ] {
            let (code, _, stderr) = run(&[&["--wrapper", "axis", "--stages", stages], given].concat());
            assert_eq!(code, 2, "{given:?}");
            assert!(stderr.contains(&format!("E0803] at {flag}: ")) && !stderr.contains("E0801"), "{stderr}");
        }
    }
}

/// `--port` names the wrapper's clock and reset, and its streams by their prefixes; a name that is taken is an error.
#[test]
fn ports_of_a_wrapper_have_the_names_that_were_given() {
    let wrapped = |names| ports(&["--wrapper", "axis", "--pipeline", "2", "--axis-user", "0", "--port", names]);
    let streams = |clock: [&str; 2], prefixes: [&str; 2]| {
        let signals = ["tdata", "tvalid", "tready", "tlast"];
        let of_streams = prefixes.iter().flat_map(|prefix| signals.map(|signal| format!("{prefix}_{signal}")));
        clock.into_iter().map(str::to_owned).chain(of_streams).collect::<Vec<_>>()
    };
    assert_eq!(wrapped("clk=clk,rst=Rst_N,in=rx,out=tx"), streams(["clk", "Rst_N"], ["rx", "tx"]));
    assert_eq!(wrapped("out=tx"), streams(["aclk", "aresetn"], ["s_axis", "tx"]));
    for (names, flag) in [
        ("in=rx,out=RX", "E0602] at --port out"),
        ("clk=s_axis_tdata", "E0602] at --port clk"),
        ("rst=result", "E0602] at --port rst"),
        ("in=rx_", "E0601] at --port in"),
        ("clk=wire", "E0601] at --port clk"),
    ] {
        let (code, text, said) = run(&["--wrapper", "axis", "--pipeline", "2", "--port", names]);
        assert_eq!((code, text.as_str()), (2, ""), "{names}");
        assert!(said.contains(flag), "{names}: {said}");
    }
}

/// The interface of a wrapped module is that of the wrapper: ports of the instance and places of the elements.
#[test]
fn the_interface_of_a_wrapper_describes_the_wrapper() {
    for (width, is_split) in [("512", false), ("16", true)] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("w.json");
        let words = ["--wrapper", "axis", "--pipeline", "2", "--axis-width", width, "--interface"];
        let words = [&words[..], &[file.to_str().expect("UTF-8")]].concat();
        let declared = ports(&words);
        let json = std::fs::read_to_string(&file).expect("the interface");
        crate::schema::keeps_to("interface", &json);
        let facts: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let named = facts["ports"].as_array().expect("ports").iter().filter_map(|port| port["name"].as_str());
        assert_eq!(named.collect::<Vec<_>>(), declared);
        assert_eq!((&facts["clock"], &facts["reset"]["port"]), (&"aclk".into(), &"aresetn".into()));
        assert_eq!(facts["latency"], facts["axis"]["latency"]);
        assert_eq!(facts["core"]["latency"], 2);
        assert_eq!(facts["core"]["top"], "dut_core");
        let slots = facts["axis"]["s_axis"]["slots"].as_array().expect("slots");
        for (element, slot) in facts["inputs"].as_array().expect("inputs").iter().zip(slots) {
            let at = |key: &str| element.get(key).and_then(serde_json::Value::as_u64).unwrap_or(0);
            assert_eq!(at("beat") * width.parse::<u64>().unwrap() + at("lsb"), slot["lsb"].as_u64().unwrap());
        }
        assert_eq!(facts["axis"]["s_axis"]["beats"].as_u64().unwrap() > 1, is_split);
    }
}
