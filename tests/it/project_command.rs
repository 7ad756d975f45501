//! `project` and `explore` on the command line, without the tools that their folders are for.

use crate::common::{model, run};
use std::path::Path;

/// Returns the temporary files below a folder.
#[cfg(unix)]
fn temporary_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(temporary_files(&entry.path()));
        } else if entry.file_name().to_string_lossy().starts_with(".alir2hdl-") {
            found.push(entry.path());
        }
    }
    found
}

#[cfg(unix)]
#[test]
fn an_interrupted_project_leaves_no_temporary_files() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, tiny) = (dir.path().join("p"), model("tiny_ops"));
    let words = ["project", &tiny, "-o", "p", "--stages", "1", "--vectors", "100000"];
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_alir2hdl"))
        .current_dir(dir.path())
        .args(words)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !folder.exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    // It may have ended before.
    let status = child.wait().unwrap().code();
    assert!(status == Some(130) || status == Some(0), "{status:?}");
    assert_eq!(temporary_files(&folder), [""; 0].map(std::path::PathBuf::from));
    // What a killed run leaves is no foreign content.
    std::fs::create_dir_all(folder.join("rtl")).unwrap();
    std::fs::write(folder.join("rtl/.alir2hdl-a1B2c3"), "half").unwrap();
    let (code, _, said) = run(dir.path(), &["project", &tiny, "-o", "p", "--stages", "1"]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_project_keeps_the_names_of_the_rtl_that_it_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = model("tiny_ops");
    let words = ["project", &tiny, "-o", "p", "--top", "net", "--stages", "1"];
    assert_eq!(run(dir.path(), &words).0, 0);
    let before = std::fs::read_to_string(dir.path().join("p/rtl/net.v")).unwrap();
    let (code, _, said) = run(dir.path(), &[&words[..], &["--names-from", "p/rtl/net.v"]].concat());
    assert_eq!(code, 0, "{said}");
    let after = std::fs::read_to_string(dir.path().join("p/rtl/net.v")).unwrap();
    assert_eq!(crate::common::body(&before), crate::common::body(&after));
    // A model that names are kept from is not replaced.
    std::fs::copy(&tiny, dir.path().join("old.json")).unwrap();
    let (code, _, said) = run(dir.path(), &[&tiny, "-o", "old.json", "--names-from", "old.json"]);
    assert!(code == 2 && said.contains("E0003"), "{said}");
}

#[test]
fn devices_and_clocks_of_projects() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = model("tiny_ops");
    let project = |more: &[&str]| run(dir.path(), &[&["project", &tiny, "-o", "p"], more].concat());
    for devices in ["ecp5,ice40", "LFE5U-25F,ice40", "xcvu13p,7series"] {
        let (code, _, said) = project(&["--flow", "yosys,vivado", "--stages", "2", "--device", devices]);
        assert!(code == 2 && said.contains("E0805") && said.contains("of one vendor"), "{devices}: {said}");
    }
    // A family and one of its parts.
    let (code, _, said) = project(&["--flow", "vivado", "--stages", "2", "--device", "xcku5p,xcku5p-ffvb676-2-e"]);
    assert_eq!(code, 0, "{said}");
    let script = std::fs::read_to_string(dir.path().join("p/scripts/vivado.tcl")).unwrap();
    assert!(script.contains("-part xcku5p-ffvb676-2-e"), "{script}");
    // Tools reject a clock of 0 MHz.
    let (code, _, said) = project(&["--flow", "yosys", "--device", "ecp5", "--stages", "2", "--clock-period", "3e6"]);
    assert_eq!(code, 0, "{said}");
    let constraints = std::fs::read_to_string(dir.path().join("p/constraints/clock.lpf")).unwrap();
    assert!(constraints.contains(" 0.0003333 MHZ"), "{constraints}");
    let wide = model("wide_acc");
    let slow = ["project", &wide, "-o", "q", "--flow", "yosys", "--device", "ice40"];
    let (code, _, said) = run(dir.path(), &slow);
    assert!(code == 2 && said.contains("E0506") && said.contains("the default: no --clock-period is given"), "{said}");
    let (code, _, said) = run(dir.path(), &[&slow[..], &["--clock-period", "5"]].concat());
    assert!(code == 2 && said.contains("E0506") && !said.contains("the default"), "{said}");
}

/// `project` rejects an objective alongside a clock period: the default one of `explore` is not passed on.
#[test]
fn explorations_may_have_a_clock_period() {
    let dir = tempfile::tempdir().unwrap();
    for clock in [["--clock-period", "50"], ["--freq", "20"]] {
        let shared = ["-O2", "--use-dsp", "no", clock[0], clock[1]];
        let words = ["explore", &model("tiny_ops"), "--pipeline", "1..2", "--device", "ecp5", "-o", "night", "--"];
        let (code, _, said) = run(dir.path(), &[&words[..], &shared[..]].concat());
        assert!(code == 0 && said.contains("night: 2 variants;"), "{said}");
        let one = ["explore", &model("tiny_ops"), "--pipeline", "1..1", "-o", "night"];
        assert!(run(dir.path(), &one).2.contains("night: 1 variant;"));
    }
}

/// A VHDL component or instance without ports has no list of them.
#[test]
fn modules_without_ports_have_no_lists_of_ports() {
    let dir = tempfile::tempdir().unwrap();
    let model = r#"{"model":[[0,1],[],[-1],[0],[false],[],-1,-1,null],"meta":"ALIRModel","spec_version":4}"#;
    std::fs::write(dir.path().join("none.json"), model).unwrap();
    let (code, _, said) = run(dir.path(), &["project", "none.json", "-o", "p"]);
    assert_eq!(code, 0, "{said}");
    for file in ["p/rtl/none_pkg.vhd", "p/rtl/none.vho"] {
        let text = std::fs::read_to_string(dir.path().join(file)).unwrap();
        assert!(text.contains("none") && !text.contains("port (") && !text.contains("port map"), "{text}");
    }
}
