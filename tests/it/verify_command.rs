//! `alir2hdl verify` from outside: what is refused, what is missing, what remains.

use alir_testing::tools::tool;
use assert_cmd::Command;
use std::path::PathBuf;

fn model(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data/models", name, "model.json.gz"].iter().collect()
}

fn verify(name: &str, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("alir2hdl").unwrap();
    command.arg("verify").arg(model(name)).args(args);
    command
}

fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

/// Without any tool.
fn bare(name: &str, args: &[&str]) -> Command {
    let mut command = verify(name, args);
    command.env_clear().current_dir(std::env::temp_dir());
    command
}

#[test]
fn a_missing_simulator_ends_with_code_3_and_a_way_out() {
    let said = stderr(&bare("tiny_ops", &["--sim", "ghdl"]).assert().code(3));
    assert!(
        said.contains("E1001") && said.contains("`ghdl` was not found") && said.contains("apt install ghdl"),
        "{said}"
    );
    let said = stderr(&bare("tiny_ops", &[]).assert().code(3));
    assert!(said.contains("`verilator`") && said.contains("`iverilog`") && said.contains("`ghdl`"), "{said}");
}

#[test]
fn a_simulator_of_the_other_language_is_refused() {
    let said = stderr(&bare("tiny_ops", &["--sim", "ghdl", "--lang", "verilog"]).assert().code(2));
    assert!(said.contains("E1006") && said.contains("ghdl reads VHDL"), "{said}");
}

#[test]
fn vcd_without_a_folder_is_refused() {
    let said = stderr(&bare("tiny_ops", &["--vcd"]).assert().code(2));
    assert!(said.contains("--keep"), "{said}");
}

/// Files with an initiation interval are simulated by the timing of their header comment, and by no other.
#[test]
fn sim_given_files_with_an_initiation_interval_are_simulated_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let alir2hdl = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("alir2hdl").unwrap();
        command.current_dir(dir.path()).args(arguments);
        command
    };
    let tiny = model("tiny_ops");
    let tiny = tiny.to_str().unwrap();
    let simulators: Vec<[&str; 2]> =
        [["iverilog", "q.v"], ["ghdl", "q.vhd"]].into_iter().filter(|[name, _]| tool(name).is_some()).collect();
    for options in [&["--ii", "4"][..], &["--ii", "8", "--ii-engine", "serial", "--reset", "sync", "--valid"]] {
        alir2hdl(&[&["generate", tiny, "--verilog", "q.v", "--vhdl", "q.vhd", "-q"], options].concat())
            .assert()
            .code(0);
        for &[simulator, file] in &simulators {
            let fixed = ["verify", tiny, "--rtl", file, "--sim", simulator, "--vectors", "20"];
            alir2hdl(&fixed).assert().code(0);
            for (given, message) in [
                (&["--ii", "4"][..], "from their header comment only"),
                (&["--pipeline", "3"], "--pipeline does not apply: the header comment of the file states"),
                (&["--valid"], "--valid does not apply: the header comment of the file states"),
            ] {
                let said = stderr(&alir2hdl(&[&fixed[..], given].concat()).assert().code(2));
                assert!(
                    said.contains("E1011") && said.contains(message) && said.contains("prove MODEL FILE"),
                    "{said}"
                );
            }
            // Another version may share other parts.
            let path = dir.path().join(file);
            let source = std::fs::read_to_string(&path).unwrap();
            let (before, rest) = source.split_once("latency ").expect("a header comment");
            std::fs::write(&path, format!("{before}latency 9{rest}")).unwrap();
            let said = stderr(&alir2hdl(&fixed).assert().code(2));
            assert!(said.contains("E1011") && said.contains("prove MODEL FILE"), "{said}");
        }
    }
}

#[test]
fn sim_names_with_any_character_are_simulated_as_vhdl_93() {
    if tool("ghdl").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let kernel = "llvlir 0\nin %0 \"\u{540d} \u{c0}\u{e9}\u{1f600}\": i8\n%1 = not.i8 %0\nout \"\u{3bb}\" = %1\n";
    std::fs::write(dir.path().join("k.llvlir"), kernel).unwrap();
    for wrapper in [&[][..], &["--wrapper", "axis"]] {
        for standard in ["93", "08"] {
            let mut command = Command::cargo_bin("alir2hdl").unwrap();
            command.current_dir(dir.path()).args(["verify", "k.llvlir", "--lang", "vhdl", "--sim", "ghdl"]);
            command.args(["--vectors", "5", "--vhdl-standard", standard]).args(wrapper).assert().code(0);
        }
    }
    let mut command = Command::cargo_bin("alir2hdl").unwrap();
    command.current_dir(dir.path()).args(["project", "k.llvlir", "-o", "p", "--vectors", "5"]).assert().code(0);
    for file in ["rtl/k.vhd", "rtl/k_pkg.vhd", "tb/bench.vhd"] {
        let bytes = std::fs::read(dir.path().join("p").join(file)).unwrap();
        assert!(!bytes.iter().any(|byte| (0x80..0xa0).contains(byte)), "{file}");
    }
}

#[test]
fn sim_what_is_kept_can_be_run_again_by_hand() {
    if tool("ghdl").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let keep = dir.path().join("kept");
    let args = ["--sim", "ghdl", "--vectors", "50", "--pipeline", "2", "--valid", "--vcd", "--keep"];
    let run = || verify("tiny_ops", &args).arg(&keep).assert().code(0);
    let said = String::from_utf8(run().get_output().stdout.clone()).unwrap();
    assert!(said.starts_with("ghdl       vhdl     equal: 50 samples in "), "{said}");
    let again = std::process::Command::new("sh").arg(keep.join("ghdl/run.sh")).output().unwrap();
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(again.status.success() && said.contains("DONE 0 ") && !said.contains("MISMATCH"), "{said}");
    assert!(std::fs::metadata(keep.join("ghdl/wave.vcd")).unwrap().len() > 1000);
    // A second run takes the folder over; a stranger's is left alone.
    run();
    std::fs::remove_file(keep.join("ghdl/run.sh")).unwrap();
    let refused = verify("tiny_ops", &args).arg(&keep).assert().code(2);
    assert!(stderr(&refused).contains("E1007"));
}

#[test]
fn sim_a_simulation_that_takes_too_long_is_ended_and_undecided() {
    let tools = tempfile::tempdir().unwrap();
    let ghdl = tools.path().join("ghdl");
    std::fs::write(&ghdl, "#!/bin/sh\ncase $1 in --version) echo GHDL 0 ;; *) exec sleep 60 ;; esac\n").unwrap();
    std::fs::set_permissions(&ghdl, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = verify("tiny_ops", &["--sim", "ghdl", "--timeout", "1"]);
    let said = stderr(&command.env("ALIR2HDL_TOOLS", tools.path()).assert().code(5));
    assert!(said.contains("E1003") && said.contains("--timeout"), "{said}");
}
