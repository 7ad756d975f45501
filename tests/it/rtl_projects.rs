//! RTL of several files for `prove`: file lists, included files, macros, data files, and netlists in JSON.

use crate::common::{model, run, table_model};
use tempfile::TempDir;

/// Writes files below a folder.
fn write(dir: &TempDir, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Exit code and messages of `prove` in a folder.
fn prove(dir: &TempDir, model: &str, arguments: &str) -> (i32, String) {
    let mut all = vec!["prove", model];
    all.extend(arguments.split_whitespace());
    let (code, out, errors) = run(dir.path(), &all);
    (code, out + &errors)
}

/// A module around `core`, which is generated from `tiny_ops`.
const TOP: &str = "`include \"defs.vh\"\n\
    module dut(input [`INPUTS-1:0] model_inp, output [343:0] model_out);\n\
    `CORE u(.model_inp(model_inp `CHANGE), .model_out(model_out));\nendmodule\n";

fn project() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let arguments = [&*model("tiny_ops"), "--verilog", "core.v", "--top", "core"];
    assert_eq!(run(dir.path(), &arguments).0, 0);
    write(
        &dir,
        &[
            ("rtl/dut.v", TOP),
            (
                "inc/defs.vh",
                "`ifndef DEFS\n`define DEFS\n`define CORE core\n`ifndef CHANGE\n`define CHANGE\n`endif\n`endif\n",
            ),
            ("rtl/other.v", "module other(input a, output y); assign y = a; endmodule\n"),
            ("lists/all.f", "// sources\n+incdir+../inc -DINPUTS=15\n-f more.f # the rest\n../rtl/other.v\n"),
            ("lists/more.f", "../rtl/dut.v\n../core.v\n"),
        ],
    );
    dir
}

#[test]
fn file_lists_name_files_folders_and_macros() {
    let dir = project();
    let tiny_ops = model("tiny_ops");
    // Of the modules that no other uses, `dut` has the ports of the model.
    let (code, said) = prove(&dir, &tiny_ops, "-f lists/all.f");
    assert!(code == 0 && said.contains("proved: equal"), "{said}");
    let (code, said) = prove(&dir, &tiny_ops, "core.v rtl/dut.v -I inc -D INPUTS=15 --top dut");
    assert!(code == 0 && said.contains("proved: equal"), "{said}");
    let changed = ["prove", &tiny_ops, "-f", "lists/all.f", "-D", "CHANGE=^ 15'd2", "--json"];
    let (code, out, said) = run(dir.path(), &changed);
    assert!(code == 1 && out.contains("\"counterexample\""), "{out}{said}");
}

#[test]
fn modules_come_from_library_folders() {
    let dir = project();
    let tiny_ops = model("tiny_ops");
    std::fs::create_dir(dir.path().join("lib")).unwrap();
    std::fs::rename(dir.path().join("core.v"), dir.path().join("lib/core.v")).unwrap();
    // A file that no source instantiates is not read.
    let top = TOP.replace("`CORE u", "core u");
    let list = "-y lib -I inc -D INPUTS=15 rtl/dut.v";
    write(&dir, &[("lib/model_inp.v", "no Verilog"), ("y.f", list), ("rtl/dut.v", &top)]);
    for arguments in ["rtl/dut.v -y lib -I inc -D INPUTS=15", "-f y.f --top dut"] {
        let (code, said) = prove(&dir, &tiny_ops, arguments);
        assert!(code == 0 && said.contains("proved: equal"), "{arguments}: {said}");
    }
    let (code, said) = prove(&dir, &tiny_ops, "rtl/dut.v -I inc -D INPUTS=15");
    assert!(code == 2 && said.contains("core"), "{said}");
    let (code, said) = prove(&dir, &tiny_ops, "rtl/dut.v -y none -I inc -D INPUTS=15");
    assert!(code == 2 && said.contains("E0001") && said.contains("none"), "{said}");
}

#[test]
fn messages_about_projects_name_the_file() {
    let dir = project();
    let tiny_ops = model("tiny_ops");
    write(
        &dir,
        &[
            ("wrong.f", "core.v\n  -z 3\n"),
            ("absent.f", "core.v\nnone.v\n"),
            ("loop.f", "-f loop.f\n"),
            ("name.f", "+define+4=5\n"),
            ("other.vhd", "entity e is end;\n"),
            ("bad.v", "\nmodule bad(input a, output y);\nassign y = b;\nendmodule\n"),
        ],
    );
    for (arguments, why) in [
        ("rtl/dut.v core.v -D INPUTS=15", "in rtl/dut.v at line 1, column 1: no file defs.vh"),
        ("core.v bad.v --top bad", "in bad.v at line 3"),
        ("-f wrong.f", "error[E0917] in wrong.f at line 2, column 3: the option -z"),
        ("-f absent.f", "error[E0917] in absent.f at line 2, column 1: no file none.v"),
        ("-f loop.f", "nested more than 32 deep"),
        ("-f name.f", "error[E0917] in name.f at line 1"),
        ("-f no.f", "E0001"),
        ("core.v -D 4", "E0917"),
        ("core.v rtl/defs.vhd", "E0001"),
        ("core.v other.vhd", "E0807"),
    ] {
        let (code, said) = prove(&dir, &tiny_ops, arguments);
        assert!(code == 2 && said.contains(why), "{arguments}: {said}");
    }
}

#[test]
fn memories_come_from_files_in_both_languages() {
    let dir = tempfile::tempdir().unwrap();
    table_model(dir.path(), |i| (i * i * 3 + 5) % 200);
    let words = |each: &dyn Fn(i32) -> String| (0..16).map(|i| each((i * i * 3 + 5) % 200) + "\n").collect::<String>();
    write(
        &dir,
        &[
            (
                "rtl/rom.v",
                "module rom #(parameter FILE = \"data/rom.hex\") (input [3:0] model_inp, output [7:0] model_out);\n\
                 reg [7:0] words [0:15];\ninitial $readmemh(FILE, words);\nassign model_out = words[model_inp];\n\
                 endmodule\n",
            ),
            (
                "rtl/rom.vhd",
                "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all; use std.textio.all;\n\
                 entity rom is port (model_inp : in std_logic_vector(3 downto 0); model_out : out std_logic_vector(7 \
                 downto 0)); end entity;\n\
                 architecture r of rom is\ntype rom_t is array (0 to 15) of std_logic_vector(7 downto 0);\n\
                 impure function load return rom_t is file f : text open read_mode is \"data/rom.txt\";\n\
                 variable l : line; variable b : bit_vector(7 downto 0); variable m : rom_t; begin\n\
                 for i in rom_t'range loop readline(f, l); read(l, b); m(i) := to_stdlogicvector(b); end loop;\n\
                 return m; end function;\nsignal words : rom_t := load;\nbegin\n\
                 model_out <= words(to_integer(unsigned(model_inp)));\nend architecture;\n",
            ),
            ("rtl/data/rom.hex", &words(&|v| format!("{v:02x}"))),
            ("rtl/data/rom.txt", &words(&|v| format!("{v:08b}"))),
        ],
    );
    for file in ["rtl/rom.v", "rtl/rom.vhd"] {
        let (code, said) = prove(&dir, "table.json", file);
        assert!(code == 0 && said.contains("proved: equal"), "{file}: {said}");
    }
    // One wrong word is found.
    write(&dir, &[("rtl/data/rom.hex", &words(&|v| format!("{:02x}", if v == 5 { 4 } else { v })))]);
    let (code, said) = prove(&dir, "table.json", "rtl/rom.v");
    assert!(code == 1 && said.contains("the file gives 4, the model 5"), "{said}");
    std::fs::remove_file(dir.path().join("rtl/data/rom.hex")).unwrap();
    let (code, said) = prove(&dir, "table.json", "rtl/rom.v");
    assert!(code == 2 && said.contains("in rtl/rom.v at line 3") && said.contains("rom.hex"), "{said}");
}

#[test]
fn netlists_in_json_are_proved() {
    let dir = tempfile::tempdir().unwrap();
    table_model(dir.path(), |i| (i * i * 3 + 5) % 200);
    // Each bit of the result is a look-up table of four inputs.
    let bits: Vec<u32> = (0..16).map(|i| (i * i * 3 + 5) % 200).collect();
    let netlist = |change: u32| {
        let cells: Vec<String> = (0..8)
            .map(|bit| {
                let init: String = (0..16)
                    .rev()
                    .map(|i| {
                        char::from(b'0' + ((bits[i] >> bit & 1) ^ u32::from(i as u32 == change && bit == 0)) as u8)
                    })
                    .collect();
                format!(
                    "\"l{bit}\": {{\"type\": \"SB_LUT4\", \"parameters\": \
                     {{\"LUT_INIT\": \"{init}\"}}, \"connections\": {{\"I0\": [2], \"I1\": [3], \"I2\": [4], \"I3\": \
                     [5], \"O\": [{}]}}}}",
                    6 + bit
                )
            })
            .collect();
        format!(
            "{{\"creator\": \"test\", \"modules\": {{\"rom\": {{\"ports\": {{\"model_inp\": \
             {{\"direction\": \"input\", \"bits\": [2, 3, 4, 5]}}, \"model_out\": \
             {{\"direction\": \"output\", \"bits\": [6, 7, 8, 9, 10, 11, 12, 13]}}}}, \"cells\": \
             {{{}}}, \"netnames\": {{}}}}}}}}",
            cells.join(", ")
        )
    };
    write(&dir, &[("good.json", &netlist(99)), ("bad.json", &netlist(7))]);
    let (code, said) = prove(&dir, "table.json", "good.json");
    assert!(code == 0 && said.contains("proved: equal"), "{said}");
    let (code, said) = prove(&dir, "table.json", "bad.json");
    assert!(code == 1 && said.contains("inputs (codes): 7"), "{said}");
}
