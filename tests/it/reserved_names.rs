//! Names of modules and ports that languages and tools refuse, at the command line and in the tools themselves.

use crate::common::run;
use alir2hdl::netlist::keywords::TABLE;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.json"), include_str!("../data/foreign/pair.json")).expect("the model is written");
    folder
}

fn words(by: &str) -> &'static [&'static str] {
    TABLE.iter().find(|reservation| reservation.by.starts_with(by)).expect("an entry").words
}

#[test]
fn a_name_is_refused_in_the_languages_of_the_call() {
    let folder = folder();
    for (options, refused) in [
        ("--verilog a.v --top out", None),
        ("--verilog a.v --vhdl a.vhd --top out", Some("`out`, the name of the module, is reserved by VHDL")),
        ("--vhdl a.vhd --top out", Some("reserved by VHDL")),
        ("--vhdl a.vhd --top wire", None),
        ("--vhdl a.vhd --input-name eval", None),
        ("--verilog a.v --input-name eval", Some("reserved by the C++ class that Verilator makes")),
        ("--verilog a.v --top eval", Some("reserved by the C++ class")),
        ("--verilog a.v --top TOP", Some("reserved by Verilator")),
        ("--verilog a.v --top top", None),
        ("--verilog a.v --output-name mailbox", Some("SystemVerilog's package std")),
        ("--verilog a.v --clk-name wreal --pipeline 1", Some("Icarus Verilog")),
        ("--verilog a.v --input-name delete", Some("C++ (Verilator warns)")),
        ("--verilog a.v --input-name errno", Some("a macro")),
        ("--verilog a.v --top Nul", Some("Windows, for a device")),
        ("--verilog a.v --input-name nul", None),
        ("--verilog a.v --top FDRE", Some("Vivado")),
        ("--verilog a.v --top latch", Some("Quartus")),
        ("--verilog a.v --top a__b", Some("is not legal in Verilog")),
    ] {
        let arguments: Vec<&str> = ["m.json"].into_iter().chain(options.split(' ')).collect();
        let (status, _, stderr) = run(folder.path(), &arguments);
        match refused {
            None => assert_eq!(status, 0, "{options}: {stderr}"),
            Some(why) => {
                assert_eq!(status, 2, "{options}: {stderr}");
                assert!(stderr.contains("error[E0601]") && stderr.contains(why), "{options}: {stderr}");
                // The name that is offered works.
                let better = stderr.split("help: `").nth(1).and_then(|rest| rest.split('`').next()).expect("a name");
                let bad = options.split(' ').skip_while(|word| !word.ends_with("-name") && *word != "--top").nth(1);
                let other = options.replace(bad.expect("the name"), better);
                let arguments: Vec<&str> = ["m.json"].into_iter().chain(other.split(' ')).collect();
                let (status, _, stderr) = run(folder.path(), &arguments);
                assert_eq!(status, 0, "{other}: {stderr}");
            }
        }
    }
}

#[test]
fn a_name_from_a_file_is_changed_with_a_word() {
    let folder = folder();
    let module = |file: &str| {
        let text = fs::read_to_string(folder.path().join(file)).expect("the file");
        let line =
            text.lines().find(|line| line.starts_with("module ") || line.starts_with("entity ")).expect("a module");
        line.split(' ').nth(1).expect("a name").to_owned()
    };
    for (options, file, name, why) in [
        ("--verilog out.v", "out.v", "out", None),
        ("--verilog out.v --vhdl out.vhd", "out.v", "out_m", Some("`out` is reserved by VHDL")),
        ("--verilog TOP.v", "TOP.v", "TOP_m", Some("`TOP` is reserved by Verilator")),
        ("--vhdl con.vhd", "con.vhd", "con_m", Some("`con` is reserved by Windows")),
        ("--verilog my-model.v", "my-model.v", "my_model", Some("`my-model` is not legal in Verilog")),
        ("--verilog clk.v --pipeline 1", "clk.v", "clk_top", Some("`clk` is the name of a port")),
        ("--verilog plain.v", "plain.v", "plain", None),
    ] {
        let arguments: Vec<&str> = ["m.json"].into_iter().chain(options.split(' ')).collect();
        let (status, _, stderr) = run(folder.path(), &arguments);
        assert_eq!((status, module(file).as_str()), (0, name), "{options}: {stderr}");
        let said = stderr.lines().find(|line| line.starts_with("note[N0601]"));
        let expected = why.map(|why| format!("note[N0601]: the module is called {name}: {why}"));
        assert!(
            said.zip(expected.as_ref()).map_or(said.is_none() == expected.is_none(), |(s, e)| s.starts_with(e)),
            "{stderr}"
        );
    }
}

/// A state machine whose signals `x` and `y` have these names, and the notes of a command about it.
fn notes_about(x: &str, y: &str, arguments: &[&str]) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models/fsm/leaky_integrator/fsm.json.gz");
    let mut text = String::new();
    let file = fs::File::open(path).expect("the machine");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("text");
    let folder = tempfile::tempdir().expect("a folder");
    let renamed = text.replace("\"x\"", &format!("\"{x}\"")).replace("\"y\"", &format!("\"{y}\""));
    fs::write(folder.path().join("m.json"), renamed).expect("the machine is written");
    let (status, _, stderr) = run(folder.path(), arguments);
    assert_eq!(status, 0, "{stderr}");
    stderr.lines().filter_map(|line| line.strip_prefix("note[N0601]: ")).map(str::to_owned).collect()
}

#[test]
fn ports_of_a_machine_that_are_called_otherwise_are_named() {
    let commands: [&[&str]; 2] = [&["m.json", "--verilog", "t.v"], &["project", "m.json", "-o", "p"]];
    for command in commands {
        assert!(notes_about("x", "y", command).is_empty());
        let notes = notes_about("signal", "a-b", command);
        let [first, second] = notes.as_slice() else { panic!("{notes:?}") };
        assert!(first.starts_with("a port is called a_b: `a-b` must be legal in both Verilog and VHDL"), "{first}");
        assert!(second.contains(": `signal` is reserved by VHDL"), "{second}");
    }
    let notes = notes_about("data", "DATA", commands[0]);
    assert_eq!(notes, ["a port is called DATA_2: `DATA` is too long, or another port is called nearly so"]);
}

#[test]
fn a_project_names_the_module_that_is_called_otherwise() {
    let folder = folder();
    fs::rename(folder.path().join("m.json"), folder.path().join("entity.json")).expect("renamed");
    let (status, _, stderr) = run(folder.path(), &["project", "entity.json", "-o", "p"]);
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains("note[N0601]: the module is called entity_m: `entity` is reserved by VHDL"), "{stderr}");
}

/// A module with a register, in which every word is an input port.
fn ports(words: &[&str]) -> String {
    let ports: String = words.iter().map(|word| format!("    input  wire {word},\n")).collect();
    let sum = words.join(" ^ ");
    format!(
        "module mm (\n{ports}    input  wire clk,\n    output reg  y\n);\n    always @(posedge clk) y <= {sum};\n\
         endmodule\n"
    )
}

/// Returns a tool's output for a file, and `true` if the tool accepts the file.
fn tool(folder: &Path, program: &str, arguments: &[&str]) -> Option<(bool, String)> {
    let output = Command::new(program).current_dir(folder).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Some((output.status.success(), text))
}

#[test]
fn sim_words_of_cpp_are_not_quiet_in_verilator() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = words("C++");
    fs::write(folder.path().join("mm.v"), ports(words)).expect("written");
    let lint = ["--lint-only", "-Wall", "-Wno-DECLFILENAME", "mm.v"];
    let Some((_, said)) = tool(folder.path(), "verilator", &lint) else { return };
    // Newer ones let these pass.
    let newer = ["complex", "list", "set", "vector"];
    for word in words.iter().filter(|word| !newer.contains(word)) {
        assert!(said.contains(&format!("'{word}'")), "{word}: {said}");
    }
}

#[test]
fn sim_members_of_verilators_class_break_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let newer = ["QData", "SData", "WData", "CData", "IData", "VerilatedContext", "VerilatedModel"];
    let words: Vec<&str> = words("the C++ class").iter().copied().filter(|word| !newer.contains(word)).collect();
    fs::write(folder.path().join("mm.v"), ports(&words)).expect("written");
    let Some((made, said)) = tool(folder.path(), "verilator", &["--cc", "--trace", "-Mdir", "o", "mm.v"]) else {
        return;
    };
    assert!(made, "{said}");
    let root = tool(folder.path(), "verilator", &["--getenv", "VERILATOR_ROOT"]).expect("verilator").1;
    let include = format!("-I{}/include", root.trim());
    let check = ["-std=c++17", "-fsyntax-only", "-fmax-errors=0", &include, "-Io", "o/Vmm.cpp"];
    let Some((compiled, said)) = tool(folder.path(), "g++", &check) else { return };
    assert!(!compiled);
    for word in words {
        assert!(said.contains(&format!("::{word}")) || said.contains(&format!(" {word}")), "{word}: {said}");
    }
}

#[test]
fn sim_words_that_stop_simulators() {
    let folder = tempfile::tempdir().expect("a folder");
    for (program, options, words) in [
        ("iverilog", &["-g2005", "-o", "x"][..], words("Icarus")),
        ("verilator", &["--lint-only", "-Wall", "-Wno-DECLFILENAME"], words("SystemVerilog's package")),
    ] {
        for word in words {
            fs::write(folder.path().join("mm.v"), ports(&[word])).expect("written");
            let Some((taken, said)) = tool(folder.path(), program, &[options, &["mm.v"]].concat()) else { return };
            assert!(!taken && said.contains("mm.v"), "{program} takes {word}: {said}");
        }
    }
}
