//! A table of wrong command lines: no panic, no file written or changed, exit code and error code as documented.
//!
//! Each line is the exit code, the code of the error, and the command line. The files that it names are in [`folder`].

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models/");

const TABLE: &str = "\
2 E0002 chek m.json.gz
2 E0002 nonsense
2 E0002 nonsense --verilog o.v
2 E0002 -q veiw m.json.gz -o o.html
2 E0002 --no-such-option
2 E0002 m.json.gz --no-such-option
2 E0002 m.json.gz --verilog
2 E0002 m.json.gz extra.json --verilog o.v
2 E0002 check
2 E0002 check m.json.gz --verilog o.v
2 E0002 check m.json.gz --format nonsense
2 E0002 check m.json.gz --max-ops many
2 E0002 check m.json.gz --max-ops -1
2 E0002 check m.json.gz --max-shift 100000000
2 E0002 check m.json.gz --max-width 0
2 E0002 check m.json.gz --max-problems 0
2 E0002 check m.json.gz -q -v
2 E0002 check m.json.gz --color sometimes
2 E0002 man nonsense
2 E0002 man check --output pages
2 E0002 man chek
2 E0002 completions
2 E0002 completions nonsense
2 E0002 passes extra
2 E0002 report
2 E0002 report dir --csv --json
2 E0002 report dir --sort nonsense
2 E0002 report dir --descending
2 E0002 run m.json.gz --output o.npy --threads 0 --input x.npy
2 E0002 run m.json.gz x.npy --input x.npy
2 E0002 run m.json.gz --input x.npy --output o.npy --trace 0
2 E0002 run m.json.gz --input x.npy --trace -1
2 E0002 run m.json.gz --input x.npy --trace 0 --check-intervals
2 E0002 run m.json.gz --input x.npy --output o.npy --lookup-miss maybe
2 E0002 run m.json.gz --input x.npy --output o.npy --engine quick
2 E0002 run s.json.gz --output o.npz --cycles some
2 E0002 verify m.json.gz --vcd
2 E0002 verify m.json.gz --vectors 0
2 E0002 verify m.json.gz --sim modelsim
2 E0002 verify m.json.gz --vhdl-standard 87
2 E0002 verify s.json.gz --input x.npy --vectors 3
2 E0002 verify m.json.gz --rtl t.v --lang vhdl
2 E0002 verify m.json.gz --array x
2 E0002 project m.json.gz -o build --input x.npy --vectors 3
2 E0002 view m.json.gz o.html
2 E0002 view m.json.gz -o o.html --max-samples 3
2 E0002 view m.json.gz -o o.html --input x.npy --max-samples 0
2 E0002 prove m.json.gz
2 E0002 prove m.json.gz t.v --register-inputs
2 E0002 prove m.json.gz t.v --via vivado
2 E0002 prove m.json.gz t.v --pipeline -1
2 E0002 project m.json.gz
2 E0002 project m.json.gz --output o --flow modelsim
2 E0002 project m.json.gz --output o --vectors 0
2 E0002 info m.json.gz --pipeline 3 --sweep nonsense
2 E0002 convert m.json.gz
2 E0002 convert m.json.gz o.json --to alir9
2 E0002 convert m.json.gz o.aig --pipeline 100000
2 E0002 m.json.gz --verilog o.v -O3
2 E0002 m.json.gz --verilog o.v -O1 --passes dce
2 E0002 m.json.gz --verilog o.v --pipeline some
2 E0002 m.json.gz --verilog o.v --pipeline -2
2 E0002 m.json.gz --verilog o.v --pipeline 1.5
2 E0002 m.json.gz --verilog o.v --max-stage-delay fast
2 E0002 m.json.gz --verilog o.v --max-stage-delay 1 --clock-period 2
2 E0002 m.json.gz --verilog o.v --delay-unit 2
2 E0002 m.json.gz --verilog o.v --device abacus
2 E0002 m.json.gz --verilog o.v --reset maybe
2 E0002 m.json.gz --verilog o.v --ports some
2 E0002 m.json.gz --verilog o.v --port-style mine
2 E0002 m.json.gz --verilog o.v --port clk
2 E0002 m.json.gz --verilog o.v --port clk=a,clk=b
2 E0002 m.json.gz --verilog o.v --port clk=a --port clock=a
2 E0602 m.json.gz --verilog o.v --port in=x,out=X
2 E0002 m.json.gz --verilog o.v --rom-style paper
2 E0002 m.json.gz --verilog o.v --wrapper wishbone
2 E0002 m.json.gz --verilog o.v --split-above few
2 E0002 m.json.gz --verilog o.v --hierarchy tree
2 E0801 m.json.gz --verilog o.v --hierarchy stages
2 E0801 m.json.gz --verilog o.v --hierarchy layers --pipeline 2
2 E0802 m.json.gz --verilog - --json
2 E0802 m.json.gz --cpp - --json
2 E0802 m.json.gz -o o.v --witness - --json
2 E0802 info m.json.gz --sweep 2 --svg -
2 E0811 info n.onnx --tokens 2
2 E0811 info m.json.gz --tokens 2
2 E0802 diff t.v m.json.gz
2 E0002 m.json.gz --verilog o.v --use-dsp perhaps
2 E0002 diff m.json.gz
2 E0002 diff m.json.gz m.json.gz --samples 0
2 E0001 check absent.json
2 E0001 check dir
2 E0001 info absent.json
2 E0001 absent.json --verilog o.v
2 E0001 m.json.gz --verilog absent/o.v
2 E0001 m.json.gz --verilog dir
2 E0001 m.json.gz --vhdl absent/o.vhd
2 E0001 m.json.gz --verilog o.v --interface absent/o.json
2 E0001 m.json.gz --verilog o.v --vhdl dir
2 E0001 convert absent.json o.json
2 E0001 convert m.json.gz absent/o.json
2 E0001 convert m.json.gz dir --to alir4
2 E0001 convert absent.aig o.aag
2 E0001 run absent.json --input x.npy --output o.npy
2 E0001 run m.json.gz --input absent.npy --output o.npy
2 E0001 run m.json.gz --input x.npy --output absent/o.npy
2 E0001 run m.json.gz --input absent.csv --output o.csv
2 E0001 prove m.json.gz absent.v
2 E0001 prove absent.json t.v
2 E0001 view m.json.gz -o absent/o.html
2 E0001 view m.json.gz -o o.html --svg absent/o.svg
2 E0001 view m.json.gz -o o.html --input absent.npy
2 E0001 report absent
2 E0001 diff m.json.gz absent.json
2 E0001 diff absent.json m.json.gz
2 E0003 m.json.gz --verilog m.json.gz
2 E0003 m.json.gz --verilog o.v --interface ./m.json.gz
2 E0003 view m.json.gz -o m.json.gz
2 E0003 view m.json.gz -o o.html --input x.npy --svg dir/../x.npy
2 E0003 run m.json.gz --input x.npy --output x.npy
2 E0003 run m.json.gz --input x.npy --output m.json.gz
2 E0003 info m.json.gz --sweep --svg m.json.gz
2 E0003 prove m.json.gz t.v --testbench t.v
2 E0004 explain E9999
2 E0004 explain nonsense
2 E0004 explain 9503
2 E0005 check utf16.json
2 E0005 utf16.json --verilog o.v
2 E0005 check unmarked.json
2 E0005 prove m.json.gz utf16.v
2 E0703 run m.json.gz --input utf16.csv --output o.csv
2 E0101 check cut.json.gz
2 E0101 check m.json.gz cut.json.gz s.json.gz
2 E0001 check m.json.gz absent.json
2 E0115 check t.v
2 E0115 info t.vhd
2 E0911 prove t.v m.json.gz
2 E0911 prove m.json.gz m.json.gz
2 E0911 prove m.json.gz s.json.gz
2 E0803 m.json.gz --verilog o.v --axis-user 3
2 E0101 cut.json.gz --verilog o.v
2 E0102 check corrupt.json.gz
2 E0103 check trailing.json.gz
2 E0104 check m.json.gz --max-bytes 100
2 E0106 check empty.json
2 E0106 run empty.json --input x.npy --output o.npy
2 E0110 check broken.json
2 E0110 broken.json --verilog o.v
2 E0115 check words.txt
2 E0115 words.txt --verilog o.v
2 E0703 run m.json.gz --input empty.csv --output o.csv
2 E0703 run m.json.gz --input comments.csv --output o.csv
2 E0111 check half.json
2 E0112 check twice.json
2 E0113 check nan.json
2 E1505 check x.npy
2 E1505 x.npy --verilog o.v
2 E0121 check object.json
2 E0201 m.json.gz --verilog o.v --max-ops 3
2 E0202 m.json.gz --verilog o.v --max-table-entries 1
2 E0301 m.json.gz --verilog o.v --passes nonsense
2 E0301 m.json.gz --verilog o.v --passes dce,nonsense
2 E0301 info m.json.gz --passes nonsense
2 E0303 m.json.gz --verilog o.v --assume-intervals --prove
2 E0501 m.json.gz --verilog o.v --max-stage-delay nan
2 E0501 m.json.gz --verilog o.v --max-stage-delay -1
2 E0502 m.json.gz --verilog o.v --pipeline 1000000
2 E0503 m.json.gz --verilog o.v --max-stage-delay 0
2 E0503 info m.json.gz --max-stage-delay 0
2 E0505 m.json.gz --verilog o.v --clock-period -1
2 E0505 m.json.gz --verilog o.v --clock-period nan
2 E0505 m.json.gz --verilog o.v --clock-period 5 --delay-unit 0
2 E0505 m.json.gz --verilog o.v --pipeline auto
2 E0601 m.json.gz --verilog o.v --top module
2 E0601 m.json.gz --verilog o.v --top two/words
2 E0601 m.json.gz --vhdl o.vhd --top entity
2 E0602 m.json.gz --verilog o.v --pipeline 2 --top clk
2 E0602 m.json.gz --verilog o.v --pipeline 2 --clk-name model_inp
2 E0611 m.json.gz --verilog o.v --wrapper axis --pipeline 2 --packing 8
2 E0701 run m.json.gz --input dir --output o.npy
2 E0702 run m.json.gz --input wide.npy --output o.npy
2 E0702 run m.json.gz --input m.json.gz.npy --output o.npy
2 E0703 run m.json.gz --input short.csv --output o.csv
2 E0703 run m.json.gz --input letters.csv --output o.csv
2 E0705 run m.json.gz --input x.npy --output o.unknown
2 E0705 run m.json.gz --input x.npy --output o
2 E0706 run m.json.gz --input nan.csv --output o.csv
2 E0709 run - --input - --output o.csv
2 E0709 run m.json.gz --input x.npy --output - --check-intervals
2 E0709 run m.json.gz --input x.npy --output o.csv --codes --on-error nan
2 E0709 run s.json.gz --cycles 3 --output o.npz --codes --undefined nan
2 E0710 run m.json.gz --input x.npy --trace 100000000
2 E0711 run s.json.gz --input dir --output o.npz
2 E0712 run s.json.gz --output o.npz --cycles 3
2 E0801 m.json.gz --verilog o.v --enable
2 E0801 m.json.gz --verilog o.v --reset sync
2 E0801 m.json.gz --verilog o.v --pipeline 2 --reset-data
2 E0801 m.json.gz --verilog o.v --pipeline 2 --reset sync
2 E0801 m.json.gz --verilog o.v --pipeline 2 --reset-polarity low
2 E0801 m.json.gz --verilog o.v --pipeline 2 --use-dsp yes --device ice40
2 E0802 m.json.gz
2 E0802 m.json.gz --pipeline 3
2 E0802 m.json.gz --verilog o.v --vhdl o.v
2 E0802 m.json.gz --verilog o.v --vhdl ./o.v
2 E0802 m.json.gz --verilog - --interface -
2 E0802 view m.json.gz -o o.html --svg dir/../o.html
2 E0803 m.json.gz --verilog o.v --axis-width 8
2 E0803 m.json.gz --verilog o.v --packing dense
2 E0803 m.json.gz --verilog o.v --wrapper axis --pipeline 2 --valid
2 E0802 m.json.gz --verilog o.v --pipeline 2 --assertions
2 E0802 m.json.gz --systemverilog o.sv --vhdl o.vhd --pipeline 2 --assertions
2 E0801 m.json.gz --systemverilog o.sv --assertions
2 E0801 m.json.gz --systemverilog o.sv --ii 4 --assertions
2 E0803 m.json.gz --verilog o.v --wrapper axis --pipeline 2 --axis-flow stall --axis-depth 3
2 E0804 s.json.gz --verilog o.v --pipeline 2
2 E0804 s.json.gz --verilog o.v --valid
2 E0804 s.json.gz --verilog o.v --wrapper axis
2 E0804 s.json.gz --verilog o.v --assume-intervals
2 E0804 m.json.gz --verilog o.v --retime no
2 E0804 view s.json.gz -o o.html --pipeline 2
2 E0804 project s.json.gz --output o --pipeline 2
2 E0804 run m.json.gz --input x.npy --output o.npy --cycles 3
2 E0804 run s.json.gz --input dir --output o.npz --threads 2
2 E0804 run s.json.gz --input dir --trace 0
2 E0804 prove s.json.gz t.v --pipeline 2
2 E0804 prove m.json.gz t.v --depth 3
2 E0805 project m.json.gz --output o --part nonsense
2 E0805 project m.json.gz --output o --core-version 1
2 E0805 project m.json.gz --output o --core-version 1.0.x
2 E0805 project m.json.gz --output dir
2 E0807 prove m.json.gz t.v t.vhd
2 E0901 convert words.aag o.aig
2 E0902 convert words.aignet o.aig
2 E0903 prove m.json.gz words.v
2 E0908 prove m.json.gz t.v --solver ./m.json.gz
3 E1001 prove m.json.gz t.v --solver kissat
3 E1001 prove m.json.gz t.v --solver ./absent
3 E1001 prove m.json.gz t.v --via yosys
3 E1001 prove m.json.gz t.vhd --via yosys
3 E1001 verify m.json.gz
3 E1001 verify m.json.gz --sim ghdl
3 E1001 verify s.json.gz --sim verilator
2 E1006 verify m.json.gz --sim ghdl --lang verilog
2 E1106 convert m.json.gz o.bin
2 E1106 convert m.json.gz o.v
2 E1106 convert m.json.gz o.nonsense
2 E1107 convert m.json.gz o.json --pipeline 2
2 E1107 convert m.json.gz o.json --aignet-xor
2 E1201 report dir
";

/// Files of every sort, right and wrong.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let put = |name: &str, bytes: &[u8]| fs::write(at(name), bytes).expect("written");
    let model = fs::read(format!("{DATA}tiny_ops/model.json.gz")).expect("there");
    put("m.json.gz", &model);
    put("s.json.gz", &fs::read(format!("{DATA}fsm/biquad/fsm.json.gz")).expect("there"));
    put("x.npy", &fs::read(format!("{DATA}tiny_ops/inputs.npy")).expect("there"));
    put("wide.npy", &fs::read(format!("{DATA}jet_mlp/inputs.npy")).expect("there"));
    put("m.json.gz.npy", &model);
    put("cut.json.gz", &model[..model.len() / 2]);
    let mut corrupt = model.clone();
    let last = corrupt.len() - 6;
    corrupt[last] ^= 0xff;
    put("corrupt.json.gz", &corrupt);
    put("trailing.json.gz", &[&model[..], b"more"].concat());
    put("empty.json", b"");
    put("words.txt", b"these are words\n");
    put("words.v", b"these are words\n");
    put("words.aag", b"these are words\n");
    put("words.aignet", b"these are words\n");
    put("half.json", br#"{"meta": "ALIRModel", "spec_version": 4, "mod"#);
    put("twice.json", br#"{"meta": "ALIRModel", "spec_version": 4, "model": [[0, 0], [], [], [], [], [], 1, 1]} {}"#);
    put("nan.json", br#"{"meta": "ALIRModel", "spec_version": 4, "model": [[1, 0], [NaN], [], [], [], [], 1, 1]}"#);
    put("object.json", br#"{"meta": "Something", "spec_version": 4, "model": []}"#);
    put("short.csv", b"1,2\n");
    put("letters.csv", b"1,2,3,4,5,6,7,8\na,b,c,d,e,f,g,h\n");
    put("n.onnx", include_bytes!("../../examples/perceptron.onnx"));
    fs::create_dir(at("dir")).expect("made");
    put("dir/something", b"else");
    let made = |arguments: &[&str]| {
        let status = alir2hdl(folder.path(), arguments).output().expect("it runs").status;
        assert!(status.success(), "{arguments:?}");
    };
    made(&["m.json.gz", "--verilog", "t.v", "--vhdl", "t.vhd"]);
    put("nan.csv", b"nan,nan,nan,nan\n");
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    put("utf16.json", &wide("\u{feff}{\"meta\": \"ALIRModel\"}"));
    put("unmarked.json", &wide("{\"meta\": \"ALIRModel\"}"));
    put("utf16.csv", &wide("\u{feff}1,2,3,4\n"));
    put("utf16.v", &wide("\u{feff}module m; endmodule\n"));
    put("empty.csv", b"");
    put("comments.csv", b"# nothing\na,b,c,d\n");
    put("broken.json", br#"{"meta" "ALIRModel"}"#);
    folder
}

/// Without any tool of the environment.
fn alir2hdl(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    command.env_clear().current_dir(folder).args(arguments).stdin(std::process::Stdio::null());
    command
}

/// All files below a folder, and the folders.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            files.extend(contents(&entry));
        }
        files.insert(entry.clone(), fs::read(&entry).ok());
    }
    files
}

#[test]
fn wrong_command_lines_end_as_documented() {
    let folder = folder();
    let folder = folder.path();
    let before = contents(folder);
    let mut wrong = Vec::new();
    assert!(TABLE.lines().count() >= 150);
    for line in TABLE.lines() {
        let mut words = line.split(' ');
        let status: i32 = words.next().and_then(|word| word.parse().ok()).expect("an exit code");
        let code = words.next().expect("a code");
        let mut arguments = vec!["--error-format=json"];
        arguments.extend(words);
        // A main job's options and a sub-command's both precede the global one here.
        arguments.rotate_left(1);
        let output = alir2hdl(folder, &arguments).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let parsed: Vec<Option<serde_json::Value>> = said.lines().map(|l| serde_json::from_str(l).ok()).collect();
        let mut codes: Vec<String> = Vec::new();
        // Nothing is printed before a refusal; `check` prints a line for each file that is valid.
        let mut fine = output.status.code() == Some(status) && !said.is_empty();
        fine &= output.stdout.is_empty() || line.contains(" check ");
        for diagnostic in parsed {
            let Some(diagnostic) = diagnostic else {
                fine = false;
                continue;
            };
            let severity = diagnostic["severity"].as_str().unwrap_or_default();
            fine &= severity != "bug" && diagnostic["place"].is_object();
            if severity == "error" {
                codes.push(diagnostic["code"].as_str().unwrap_or_default().to_owned());
            }
        }
        fine &= !codes.is_empty() && codes.iter().all(|found| found == code);
        if !fine {
            wrong.push(format!("{line}\n    ends with {:?}: {said}", output.status.code()));
        }
        if contents(folder) != before {
            wrong.push(format!("{line}\n    has written something"));
            break;
        }
    }
    assert!(wrong.is_empty(), "{} of the table:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn options_with_nothing_to_act_on_are_warned_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::copy(format!("{DATA}jet_mlp/model.json.gz"), folder.join("j.json.gz")).expect("copied");
    let said = |options: &str| {
        let mut arguments = vec!["j.json.gz", "-O0", "--verilog", "o.v", "--error-format=json"];
        arguments.extend(options.split_whitespace());
        let output = alir2hdl(folder, &arguments).output().expect("it runs");
        assert!(output.status.success(), "{options}: {output:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let objects = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let flags = objects.filter(|o| o["code"] == "W0801").map(|o| o["place"]["flag"].as_str().unwrap().to_owned());
        flags.collect::<Vec<_>>()
    };
    // What has nothing to act on here, and where it has.
    for (option, others, where_it_acts) in [
        ("--clk-name", "c", "--pipeline 2"),
        ("--rst-name", "r", "--pipeline 2 --valid --reset sync"),
        ("--ce-name", "e", "--pipeline 2 --enable"),
        ("--valid-in-name", "v", "--valid"),
        ("--valid-out-name", "v", "--pipeline 2 --valid"),
        ("--shreg-extract", "no", "--pipeline 2"),
        ("--effort", "fast", "--pipeline 3"),
        ("--pipeline-objective", "registers", "--pipeline 3"),
    ] {
        let option_and_value = format!("{option} {others}");
        assert_eq!(said(&option_and_value), [option], "{option_and_value}");
        assert!(said(&format!("{option_and_value} {where_it_acts}")).is_empty(), "{option_and_value} {where_it_acts}");
    }
    assert_eq!(said("--rom-style block --use-dsp yes --pipeline 2"), ["--use-dsp", "--rom-style"]);
    // Options about the RTL in a command that writes a C++ header alone.
    let header = "generate j.json.gz -O0 -o o.hpp --names index --names-from j.json.gz --keep-names --split-above 9";
    // The same in every sub-command (of `verify` in hdl_tests, where simulators are).
    for (line, expected) in [
        (header, &["--keep-names", "--names", "--names-from", "--split-above"] as &[&str]),
        ("generate j.json.gz -O0 -o o.hpp --verilog o.v --names index --split-above 9", &[]),
        ("info j.json.gz --rom-style block --use-dsp yes", &["--use-dsp", "--rom-style"]),
        ("info j.json.gz --effort fast", &["--effort"]),
        ("info j.json.gz --effort fast --sweep", &[]),
        ("view j.json.gz -o v.html --use-dsp no --effort max", &["--effort", "--use-dsp"]),
        ("view j.json.gz -o v.html --pipeline 3 --effort fast", &[]),
        ("project j.json.gz -o p --pipeline 0 --clk-name c --rom-style logic", &["--rom-style", "--clk-name"]),
        ("project j.json.gz -o p --pipeline 2 --clk-name c", &[]),
        ("project j.json.gz -o p --core-vendor v --core-library l", &["--core-vendor", "--core-library"]),
        (
            "project j.json.gz -o p --flow yosys,libero --core-name n --core-version 2.0.0",
            &["--core-name", "--core-version"],
        ),
        ("project j.json.gz -o p --flow quartus,fusesoc --core-vendor v --core-name n", &[]),
        ("project j.json.gz -o p --flow vivado --core-library l --core-version 2.0.0", &[]),
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--error-format=json"]).collect();
        let output = alir2hdl(folder, &words).output().expect("it runs");
        assert!(output.status.success(), "{line}: {output:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let objects = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let flags: Vec<_> = objects.filter(|o| o["code"] == "W0801").map(|o| o["place"]["flag"].clone()).collect();
        assert_eq!(flags, expected, "{line}");
    }
    // Defaults, given or not, are no request.
    assert!(said("--rom-style auto --use-dsp auto --effort normal").is_empty());
}

/// Errors of the command line state their option in the JSON form, too.
#[test]
fn wrong_options_are_named() {
    let folder = folder();
    for (line, flag) in [
        ("m.json.gz -o o.v --pipeline x", Some("--pipeline")),
        ("m.json.gz -o o.v --stages x", Some("--stages")),
        ("m.json.gz -o o.v -O7", Some("-O")),
        ("m.json.gz -o o.v --no-such-option", Some("--no-such-option")),
        ("m.json.gz -o o.v --clock-period", Some("--clock-period")),
        ("m.json.gz -o o.v --freq 1 --clock-period 2", Some("--freq")),
        ("m.json.gz -o o.v --quant", Some("--quant")),
        ("m.json.gz -o o.v --max-luts 3", Some("--ii")),
        ("m.json.gz -o o.v --port clk=a,ce=b,clock=c", Some("--port clk")),
        ("m.json.gz -o o.v --port in=a --input-name b", Some("--port in")),
        ("project m.json.gz -o p --port rst=a,rst=b --reset sync", Some("--port rst")),
        ("prove m.json.gz o.v --port clk=a,clk=b", Some("--port clk")),
        ("run m.json.gz --output o.npy --threads 0", Some("--threads")),
        ("m.json.gz extra.json -o o.v", None),
        ("check", None),
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--error-format=json"]).collect();
        let output = alir2hdl(folder.path(), &words).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let objects = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let error = objects.into_iter().find(|object| object["severity"] == "error").expect("an error");
        assert_eq!((output.status.code(), &error["code"]), (Some(2), &"E0002".into()), "{line}: {said}");
        assert_eq!(error["place"]["flag"].as_str(), flag, "{line}: {said}");
    }
}

#[test]
fn several_files_are_checked_each() {
    let folder = folder();
    let folder = folder.path();
    let check = |arguments: &[&str]| {
        let output = alir2hdl(folder, &[&["check"], arguments].concat()).output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, err) = check(&["m.json.gz", "cut.json.gz", "s.json.gz"]);
    assert_eq!(code, Some(2));
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].starts_with("m.json.gz: valid: ") && lines[1].starts_with("s.json.gz: valid: a state machine"),
        "{out}"
    );
    assert!(err.contains("error[E0101] in cut.json.gz") && err.ends_with("2 of 3 files are valid\n"), "{err}");
    let (code, out, err) = check(&["--json", "m.json.gz", "cut.json.gz"]);
    assert_eq!((code, err.as_str()), (Some(2), ""));
    let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(value["schema"], "alir2hdl.check/1");
    let (good, bad) = (&value["files"][0], &value["files"][1]);
    assert_eq!((&good["valid"], &good["kind"]), (&true.into(), &"program".into()));
    assert_eq!((&bad["valid"], &bad["problems"][0]["code"]), (&false.into(), &"E0101".into()));
    assert_eq!(check(&["--json", "m.json.gz", "s.json.gz"]).0, Some(0));
    assert!(check(&["m.json.gz"]).1.starts_with("valid: "));
    let utf16: serde_json::Value = serde_json::from_str(&check(&["--json", "utf16.json"]).1).expect("JSON");
    let problem = &utf16["files"][0]["problems"][0];
    assert_eq!((&problem["code"], &problem["file"]), (&"E0005".into(), &"utf16.json".into()));
}

#[test]
fn the_head_says_what_the_text_comes_from_wherever_it_is_made() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("deep")).expect("made");
    let copy = folder.join("deep/m.json.gz");
    fs::copy(folder.join("m.json.gz"), &copy).expect("copied");
    let text = |arguments: &[&str]| {
        let output = alir2hdl(folder, arguments).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let here = text(&["m.json.gz", "--verilog", "-", "--pipeline", "2", "--valid"]);
    let there = text(&["-q", "--valid", "--pipeline=2", "--prove", copy.to_str().expect("a path"), "--verilog", "-"]);
    assert_eq!(here, there);
    let head: Vec<&str> = here.lines().take(3).collect();
    assert_eq!(head[0], concat!("// Generated by alir2hdl ", env!("CARGO_PKG_VERSION")));
    assert_eq!(head[1], "// command: alir2hdl m.json.gz --pipeline 2 --valid");
    let digest = head[2].strip_prefix("// model: SHA-256 ").expect("the third line names the model");
    assert!(digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{digest}");
    let vhdl = text(&["m.json.gz", "--vhdl", "-"]);
    assert!(
        vhdl.contains("\n-- command: alir2hdl m.json.gz\n") && vhdl.contains(&format!("-- model: SHA-256 {digest}\n"))
    );
    let machine = text(&["s.json.gz", "--verilog", "-"]);
    assert!(machine.contains("\n// command: alir2hdl s.json.gz\n") && !machine.contains(digest));
}

#[test]
fn a_command_in_the_head_states_no_latency() {
    let folder = folder();
    let folder = folder.path();
    fs::copy(folder.join("m.json.gz"), folder.join("latency 7.json.gz")).expect("copied");
    for arguments in [["latency 7.json.gz", "--verilog", "l.v"], ["prove", "m.json.gz", "l.v"]] {
        let output = alir2hdl(folder, &arguments).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
    }
}

/// Slips of users of other tools, each with the beginning of the help that answers it.
const SLIPS: &str = include_str!("../data/slips.txt");

#[test]
fn slips_are_answered_by_what_would_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::copy(format!("{DATA}tiny_ops/model.json.gz"), folder.join("m.json.gz")).expect("a model");
    fs::create_dir(folder.join("folder")).expect("a folder");
    fs::write(folder.join("a.v"), "module a; endmodule\n").expect("a file");
    fs::write(folder.join("x.csv"), "1,2,3,4\n").expect("a file");
    let before = contents(folder);
    assert!(SLIPS.lines().count() >= 110);
    let mut wrong = Vec::new();
    for line in SLIPS.lines() {
        let (words, help) = line.split_once(" => ").expect("a command and its help");
        let words: Vec<&str> = words.split(' ').collect();
        let output = alir2hdl(folder, &words).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let is_answered = said.lines().any(|line| line.strip_prefix("  help: ").is_some_and(|it| it.starts_with(help)));
        if output.status.code() != Some(2) || !is_answered || said.lines().count() > 4 {
            wrong.push(format!("{line}\n    ends with {:?}: {said}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{} slips:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(contents(folder), before, "something was written");
}
