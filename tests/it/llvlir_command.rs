//! The command line on integer kernels.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};

fn alir2hdl() -> Command {
    Command::cargo_bin("alir2hdl").unwrap()
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/llvlir").join(name).with_extension("llvlirs")
}

/// Runs it, and gives what it writes to stdout.
fn output(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn every_shipped_example_is_valid() {
    let folder = example("x").parent().unwrap().to_owned();
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let said = output(alir2hdl().arg("check").arg(entry.unwrap().path()));
        assert!(said.starts_with("valid: ") && said.contains("LLVLIR text"), "{said}");
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn run_takes_and_gives_signed_integers_and_larger_ones_wrap() {
    let folder = tempfile::tempdir().unwrap();
    let samples = folder.path().join("in.csv");
    fs::write(&samples, "255,1\n-1,1\n4294967295,257\n").unwrap();
    let mut run = alir2hdl();
    let said = output(run.arg("run").arg(example("crc32")).arg("--input").arg(&samples).args(["--output", "-"]));
    // crc = crc >> 8 ^ table[(crc ^ byte) & 255]: 0xff ^ 1 = 0xfe, whose entry is 0x5a05df1b.
    assert_eq!(said, "1510334235\n1526341860\n1526341860\n");
    let mut trace = alir2hdl();
    let said = output(trace.arg("run").arg(example("crc32")).arg("--input").arg(&samples).args(["--trace", "1"]));
    assert!(said.contains("%3 = xor.i32 %0, %2    ; -2\n"), "{said}");
}

#[test]
fn a_program_without_inputs_needs_no_samples() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("constant.llvlirs");
    fs::write(
        &program,
        "llvlir 0\n%0 = const.iv200 -803469022129495137770981046170581301261101496891396417650688\nout \"y\" = %0\n",
    )
    .unwrap();
    let said = output(alir2hdl().arg("run").arg(&program).args(["--output", "-"]));
    assert_eq!(said, "-803469022129495137770981046170581301261101496891396417650688\n");
}

#[test]
fn an_invalid_program_is_shown_with_a_caret_and_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("wrong.llvlirs");
    fs::write(&program, "llvlir 0\nin %0 \"a\": i32\nin %1 \"b\": i8\n%2 = xor.i32 %0, %1\nout \"y\" = %0\n").unwrap();
    let said = alir2hdl().arg("check").arg(&program).assert().code(2);
    let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
    assert!(said.contains("error[E1418] in ") && said.contains(" at line 4, column 18: "), "{said}");
    assert!(said.contains("  4 | %2 = xor.i32 %0, %1\n    |                  ^\n"), "{said}");
}

#[test]
fn a_text_whose_header_was_forgotten_is_told_so_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("kernel");
    for (text, line) in [
        ("; a kernel\nin %0 \"a\": i8\nout \"y\" = %0\n", 2),
        ("\n  ; nothing else", 2),
        ("in %x0 \"a\": v2.i8\nout \"y\" = %x0\n", 1),
        ("%0 = const.i8 1\nout \"y\" = %0\n", 1),
    ] {
        fs::write(&program, text).unwrap();
        let said = alir2hdl().arg("check").arg(&program).assert().code(2);
        let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
        assert!(said.contains("error[E1438] in ") && said.contains(&format!(" at line {line}, column 1: ")), "{said}");
        assert!(said.contains("help: a text starts with `llvlir 0`"), "{said}");
    }
    // The header in capitals begins as bytes do.
    fs::write(&program, "LLVLIR 0\nout \"y\" = %0\n").unwrap();
    let said = alir2hdl().arg("check").arg(&program).assert().code(2);
    let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
    assert!(said.contains("E1402") && said.contains("`llvlir 0`, in small letters"), "{said}");
    // VHDL in capitals, and a page of another form, are no kernels.
    for (text, shown) in
        [("LIBRARY ieee;\nUSE ieee.std_logic_1164.all;\n", "it looks like VHDL"), ("%PDF-1.4\n", "%PDF-1.4")]
    {
        fs::write(&program, text).unwrap();
        let said = alir2hdl().arg("check").arg(&program).assert().code(2);
        let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
        assert!(said.contains("error[E0115]") && said.contains(shown), "{said}");
    }
}

#[test]
fn convert_goes_round_and_to_alir() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    output(alir2hdl().arg("convert").arg(example("fir")).arg(at("fir.llvlir")));
    output(alir2hdl().arg("convert").arg(at("fir.llvlir")).arg("-o").arg(at("fir.llvlirs")));
    output(alir2hdl().arg("convert").arg(at("fir.llvlirs")).arg(at("again.llvlir.gz")));
    output(alir2hdl().arg("convert").arg(at("again.llvlir.gz")).arg(at("again.llvlir")));
    assert_eq!(fs::read(at("fir.llvlir")).unwrap(), fs::read(at("again.llvlir")).unwrap());
    output(alir2hdl().arg("convert").arg(at("fir.llvlir")).arg(at("fir.json.gz")));
    assert!(output(alir2hdl().arg("check").arg(at("fir.json.gz"))).contains("ALIR JSON"));
    // And back: what it computes is the same, port for port.
    output(alir2hdl().arg("convert").arg(at("fir.json.gz")).arg(at("back.llvlirs")));
    output(alir2hdl().args(["fir.llvlir", "--verilog", "fir.v"]).current_dir(folder.path()));
    let said = output(alir2hdl().args(["prove", "back.llvlirs", "fir.v"]).current_dir(folder.path()));
    assert!(said.starts_with("proved: "), "{said}");
}

#[test]
fn a_model_of_fractions_is_not_said_in_llvlir() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("x.llvlir");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/jet_mlp.json.gz");
    let said = alir2hdl().arg("convert").arg(model).arg(&at).assert().code(2);
    let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
    assert!(said.contains("error[E1109]") && said.contains("input element 0: its step is 2^-"), "{said}");
    assert!(!at.exists());
}

#[test]
fn hardware_of_a_kernel_is_proved_from_the_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hex_digit.v");
    alir2hdl()
        .arg(example("hex_digit"))
        .arg("--verilog")
        .arg(&file)
        .args(["--pipeline", "2", "--prove"])
        .assert()
        .success();
    let said = output(alir2hdl().arg("prove").arg(example("hex_digit")).arg(&file));
    assert!(said.starts_with("proved: ") && said.contains("has the semantics of the kernel"), "{said}");
    // Another kernel is not what the file is.
    let other = folder.path().join("other.llvlirs");
    let text = fs::read_to_string(example("hex_digit")).unwrap().replace("0123456789abcdef", "0123456789ABCDEF");
    fs::write(&other, text).unwrap();
    alir2hdl().arg("prove").arg(&other).arg(&file).assert().code(1);
}

#[test]
fn labels_and_port_names_are_names_of_signals_and_elements() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let program = "llvlir 0\n\
        in %0 \"crc\": i32\n\
        in %x0 \"data\": v4.i8\n\
        in %m0 \"signal\": m4\n\
        label.local \"sum of all\"\n\
        %x1 = cumsum.v4.i8 %x0, %m0\n\
        label.local \"v3\"\n\
        %1 = subi.i32 %0, 5\n\
        label.local \"crc_s1\"\n\
        %2 = addi.i32 %1, 77\n\
        %3 = mulu.i32 %2, %0\n\
        out \"high\" = %3\n\
        out \"sums\" = %x1\n";
    fs::write(at("k.llvlirs"), program).unwrap();
    let mut job = alir2hdl();
    job.arg(at("k.llvlirs")).args(["--pipeline", "2", "-O0"]);
    job.arg("--verilog").arg(at("k.v")).arg("--interface").arg(at("k.json")).arg("--prove");
    job.assert().success();
    let text = fs::read_to_string(at("k.v")).unwrap();
    for name in [" crc =", " data_0 =", " signal_3 =", " sum_of_all_2 =", "high_s2"] {
        assert!(text.contains(name), "no{name} in\n{text}");
    }
    // Names that could collide with others follow their number: `crc_s1` is what a register holds of `crc`.
    assert!(text.contains("_v3 =") && text.contains("_crc_s1_s1;"), "{text}");
    // Optimisation keeps them, though what a label names is then done by another operation.
    let mut job = alir2hdl();
    job.arg(at("k.llvlirs")).args(["-O1", "--verilog"]).arg(at("k.v")).assert().success();
    let text = fs::read_to_string(at("k.v")).unwrap();
    for name in [" crc =", "_v3 =", "_crc_s1 =", " sum_of_all_2 =", " high ="] {
        assert!(text.contains(name), "no{name} in\n{text}");
    }
    let facts = fs::read_to_string(at("k.json")).unwrap();
    for name in ["crc", "data[0]", "signal[3]", "high", "sums[2]"] {
        assert!(facts.contains(&format!("\"name\": \"{name}\"")), "no {name} in\n{facts}");
    }
}

#[test]
fn info_says_ports_and_rows_on_one_screen() {
    let said = output(alir2hdl().arg("info").arg(example("fir")));
    assert!(said.lines().count() <= 50, "{said}");
    for part in ["ports in ", "ports out ", "rows ", "of LLVLIR", "after optimisation"] {
        assert!(said.contains(part), "no {part:?} in\n{said}");
    }
    let said = output(alir2hdl().arg("info").arg(example("fir")).arg("--json"));
    assert!(said.contains("\"kernel\": {") && said.contains("\"rows\": ["), "{said}");
}
