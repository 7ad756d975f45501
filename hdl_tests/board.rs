//! Projects for boards: the block design under the stub of Vivado, the driver against a simulated DMA engine, and
//! `--flow libero`.

use crate::projects::{tool, works};
use alir_testing::tools::skip;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PROGRAM: &str = env!("CARGO_BIN_EXE_alir2hdl");

/// A bitstream that misses the timing is an error, and does not reach `board/`.
#[test]
fn the_script_of_a_board_fails_on_negative_slack() {
    if tool("tclsh").is_none() {
        return;
    }
    let made = project("examples/jet_mlp.json.gz", &["--flow", "vivado", "--stages", "2", "--board", "kv260"]);
    for (slacks, kind) in [("-0.2 0.1", "setup slack is -0.2 ns"), ("0.1 -0.3", "hold slack is -0.3 ns")] {
        let output = stub_command("vivado", "board.tcl", made.path(), &[]).env("SLACKS", slacks).output();
        let output = output.expect("tclsh starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(&format!("timing is not met: the worst {kind}")), "{said}");
        assert!(!made.path().join("board/jet_mlp.bit").exists());
    }
    let output = stub_command("vivado", "board.tcl", made.path(), &[]).env("SLACKS", "0.2 0.1").output();
    assert!(output.expect("tclsh starts").status.success() && made.path().join("board/jet_mlp.bit").exists());
}

/// Makes a project in a folder of its own.
fn project(model: &str, arguments: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().to_str().expect("text");
    works(PROGRAM, Path::new(ROOT), &[&["project", model, "-q", "--vectors", "5", "-o", output], arguments].concat());
    folder
}

/// Runs a script of a project under the stub.
fn under_stub(vendor: &str, script: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = stub_command(vendor, script, folder, arguments).output().expect("tclsh starts");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{script} {arguments:?}: {said}");
    said
}

/// Returns the command that runs a script of a project under the stub.
fn stub_command(vendor: &str, script: &str, folder: &Path, arguments: &[&str]) -> Command {
    let facts = std::fs::read(folder.join("metadata.json")).expect("metadata");
    let facts: serde_json::Value = serde_json::from_slice(&facts).expect("JSON");
    let ports = facts["project"]["top_ports"].as_array().expect("ports").iter().map(|port| {
        let width = if port["vector"] == true { port["width"].as_u64().expect("a number") } else { 0 };
        format!("{} {width}", port["name"].as_str().expect("a name"))
    });
    let ports = ports.collect::<Vec<_>>().join(" ");
    let script = folder.join("scripts").join(script);
    let stub = format!("{ROOT}/hdl_tests/vendor.tcl");
    let mut command = Command::new("tclsh");
    command.current_dir("/").args([stub.as_str(), vendor, script.to_str().expect("text"), &ports]).args(arguments);
    command
}

#[test]
fn block_designs_of_boards_connect_everything() {
    if tool("tclsh").is_none() {
        return;
    }
    for (board, more, reset) in [
        ("kv260", &[] as &[&str], "aresetn"),
        ("kv260", &["--port", "clk=clk,rst=rst_n,in=rx"], "rst_n"),
        ("zcu102", &["--wrapper", "axis", "--axis-width", "128", "--axis-user", "0"], "aresetn"),
        ("PYNQ-Z2", &["--axis-flow", "stall", "--wrapper", "axis"], "aresetn"),
        ("kv260", &["--axis-width", "32", "--axis-user", "2", "--axis-flow", "stall", "--packing", "16"], "aresetn"),
    ] {
        let made = project(
            "examples/jet_mlp.json.gz",
            &[&["--flow", "vivado", "--pipeline", "3", "--board", board], more].concat(),
        );
        let said = under_stub("vivado", "board.tcl", made.path(), &[]);
        assert!(said.ends_with("END\n"), "{board}: {said}");
        for result in ["jet_mlp.bit", "jet_mlp.hwh", "driver.py"] {
            assert!(made.path().join("board").join(result).is_file(), "{board}: {result}");
        }
        let metadata = ["metadata.json", "board/metadata.json"].map(|file| std::fs::read(made.path().join(file)).ok());
        assert!(metadata[0].is_some() && metadata[0] == metadata[1], "{board}");
        // Without a connection, or with a width that does not fit, the stub refuses it.
        let script = made.path().join("scripts/board.tcl");
        let text = std::fs::read_to_string(&script).expect("a script");
        let no_reset = format!(" model/{reset}}}");
        for (right, wrong) in
            [(no_reset.as_str(), "}"), ("tdata_width ", "tdata_width 1"), ("model/m_axis dma", "dma/M_AXIS_MM2S dma")]
        {
            assert!(text.contains(right), "{right}");
            std::fs::write(&script, text.replacen(right, wrong, 1)).expect("written");
            let run = std::panic::catch_unwind(|| under_stub("vivado", "board.tcl", made.path(), &[]));
            assert!(run.is_err(), "{board}: the stub takes {wrong:?} for {right:?}");
        }
    }
}

#[test]
fn drivers_of_boards_give_the_bits_of_the_model_through_a_simulated_dma() {
    let python = Path::new(ROOT).join(".venv/bin/python");
    if tool("iverilog").is_none() {
        return;
    }
    if !Command::new(&python).args(["-c", "import numpy"]).output().is_ok_and(|o| o.status.success()) {
        skip("numpy", "not in .venv");
        return;
    }
    let models = format!("{ROOT}/tests/data/models");
    // Negative fractions and elements without bits; 102 bits; all kinds of operations; tables.
    for (model, width) in [("edge_kif", "64"), ("over64", "32"), ("tiny_ops", "64"), ("lut_heavy", "128")] {
        let (file, samples) = (format!("{models}/{model}/model.json.gz"), format!("{models}/{model}/inputs.npy"));
        let work = tempfile::tempdir().expect("a temporary folder");
        let text = |name: &str| work.path().join(name).to_str().expect("text").to_owned();
        let cut = format!("import numpy as n; n.save({:?}, n.load({samples:?})[:60])", text("x.npy"));
        works(&python, work.path(), &["-c", &cut]);
        works(PROGRAM, work.path(), &["run", &file, "--input", &text("x.npy"), "--output", &text("y.npy"), "-q"]);
        let streams = ["--wrapper", "axis", "--axis-user", "0", "--axis-width", width];
        let made = project(
            &file,
            &[&["--flow", "vivado", "--board", "kv260", "--pipeline", "2"], streams.as_slice()].concat(),
        );
        let user = format!("{ROOT}/hdl_tests/board_user.py");
        let folder = made.path().to_str().expect("text");
        let said = works(&python, work.path(), &[&user, folder, &text("x.npy"), &text("y.npy"), &text(".")]);
        assert!(said.contains("BOARD 60 samples"), "{model}: {said}");
    }
}

/// The encoders and units of networks and matrices: factors that are no powers of two, every rounding, saturation.
#[test]
fn drivers_of_networks_encode_as_the_network_says() {
    let python = Path::new(ROOT).join(".venv/bin/python");
    if tool("iverilog").is_none() {
        return;
    }
    if !Command::new(&python).args(["-c", "import numpy"]).output().is_ok_and(|o| o.status.success()) {
        skip("numpy", "not in .venv");
        return;
    }
    let network = format!("{ROOT}/examples/quantised_network/network.onnx");
    let bipolar = format!("{ROOT}/tests/data/network/qonnx/bipolar/model.onnx");
    let (float, signed, unsigned) = ("", "s7.3,", "u6.2,");
    let mut cases = vec![(network.clone(), float.to_owned()), (bipolar, float.to_owned())];
    // The last row of types ends at the other modes of overflow.
    for (kind, modes) in [
        (signed, ["TRN,SAT", "TRN_ZERO,WRAP", "RND,SAT_SYM", "RND_CONV,SAT_ZERO"]),
        (unsigned, ["RND_INF,SAT", "RND_ZERO,WRAP", "RND_MIN_INF,SAT_SYM", "RND_CONV,SAT"]),
    ] {
        cases.extend(modes.map(|mode| ("matrix.npy".to_owned(), format!("{kind}{mode}"))));
    }
    for (file, kind) in cases {
        let work = tempfile::tempdir().expect("a temporary folder");
        let text = |name: &str| work.path().join(name).to_str().expect("text").to_owned();
        let file = if file == "matrix.npy" { text("matrix.npy") } else { file };
        works(
            &python,
            work.path(),
            &["-c", "import numpy as n; n.save('matrix.npy', n.array([[3., -5.], [0.5, 7.], [-1., 2.]]))"],
        );
        let given: Vec<&str> = if kind.is_empty() { vec![] } else { vec!["--input-type", &kind] };
        let facts = works(PROGRAM, work.path(), &[&["info", file.as_str(), "--json"], given.as_slice()].concat());
        let facts: serde_json::Value = serde_json::from_str(&facts).expect("JSON");
        // Eighths meet every tie of the types above.
        let samples = format!(
            "import numpy as n; r = n.random.default_rng(3); x = r.normal(0, 2, (40, {0})); x[:20] = r.integers(-80, \
             80, (20, {0})) / 16; x[20:24] *= 1e3; n.save('x.npy', x)",
            facts["inputs"]["elements"]
        );
        works(&python, work.path(), &["-c", &samples]);
        let run = ["run", &file, "--input", &text("x.npy"), "--output", &text("y.npy"), "-q"];
        works(PROGRAM, work.path(), &[&run, given.as_slice()].concat());
        let options =
            ["--flow", "vivado", "--board", "kv260", "--pipeline", "2", "--wrapper", "axis", "--axis-user", "0"];
        let made = project(&file, &[options.as_slice(), &given].concat());
        let user = format!("{ROOT}/hdl_tests/board_user.py");
        let folder = made.path().to_str().expect("text");
        let said = works(&python, work.path(), &[&user, folder, &text("x.npy"), &text("y.npy"), &text(".")]);
        assert!(said.contains("BOARD 40 samples"), "{file} {kind}: {said}");
    }
}

#[test]
fn what_a_board_cannot_do_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (arguments, words) in [
        (&["--board", "kv260"] as &[&str], "--flow vivado"),
        (&["--board", "kv206", "--flow", "vivado"], "known are kv260, zcu102, pynq-z2"),
        (&["--board", "kv260", "--flow", "vivado", "--part", "xczu9eg-ffvb1156-2-e"], "leave --device out"),
        (&["--board", "kv260", "--flow", "vivado", "--wrapper", "axis", "--axis-width", "48"], "no streams of 48 bits"),
        (&["--board", "kv260", "--flow", "vivado", "--wrapper", "axis", "--packing", "dense"], "leave --packing out"),
        (&["--board", "kv260", "--flow", "vivado", "--packing", "dense"], "leave --packing out"),
        (&["--board", "kv260", "--flow", "vivado", "--wrapper", "none"], "leave out --board, or --wrapper none"),
        (&["--board", "kv260", "--flow", "vivado", "--valid"], "incompatible with --board, which implies --wrapper"),
        (&["--board", "kv260", "--flow", "vivado", "--port", "ce=en"], "at --port ce: incompatible with --board"),
    ] {
        let mut command = Command::new(PROGRAM);
        command.current_dir(ROOT).args(["project", "examples/jet_mlp.json.gz", "-o"]).arg(folder.path().join("p"));
        let output = command.args(arguments).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(words), "{arguments:?}: {said}");
        assert_eq!(said.matches("error[").count(), 1, "{arguments:?}: {said}");
        assert!(!folder.path().join("p").exists());
    }
}

/// The options of a wrapper that `--board` implies are those of `--wrapper axis`.
#[test]
fn a_board_accepts_the_options_of_its_wrapper() {
    for stages in ["0", "2"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(PROGRAM);
        command.current_dir(ROOT).args(["project", "examples/jet_mlp.json.gz", "--flow", "vivado", "--board", "kv260"]);
        command.args(["--stages", stages, "--axis-width", "32", "--port", "in=rx,out=tx,clk=ck,rst=rstb", "-o"]);
        let output = command.arg(folder.path().join("p")).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !said.contains("W0801"), "{said}");
        let rtl = std::fs::read_to_string(folder.path().join("p/rtl/jet_mlp.v")).expect("RTL");
        for port in ["wire [31:0] rx_tdata,", "wire [31:0] tx_tdata,", "wire ck,", "wire rstb,"] {
            assert!(rtl.contains(port), "{port}");
        }
    }
}

#[test]
fn scripts_for_libero_run_under_the_stub() {
    if tool("tclsh").is_none() {
        return;
    }
    for (model, more) in [
        ("examples/jet_mlp.json.gz", &["--pipeline", "3", "--part", "MPF300T-1FCG1152E"] as &[&str]),
        ("examples/lut_heavy.json.gz", &["--part", "mpf100t-fcvg484i"]),
        ("examples/moving_average/moving_average.json", &[]),
    ] {
        let made = project(model, &[&["--flow", "libero"], more].concat());
        for arguments in [&[] as &[&str], &["vhdl"], &["vhdl", "route"]] {
            let said = under_stub("libero", "libero.tcl", made.path(), arguments);
            assert!(said.ends_with("END\n"), "{model}: {said}");
            assert_eq!(said.contains("run_tool -name PLACEROUTE"), arguments.contains(&"route"), "{said}");
        }
    }
}
