//! `alir2hdl explore` with Snakemake; synthesis is stood in for, so that it can be counted, fail and kill.

use alir_testing::tools::tool;
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Substitute for yosys: writes a line into `count` for each synthesis (not for the registers around it) and a
/// report. It fails for the variants that `fail` names, and ends Snakemake without warning once `kill` has this many
/// lines left.
const YOSYS: &str = r#"#!/bin/sh
case "$*" in *registered.ys) exit 0 ;; esac
base=@BASE@ variant=$(basename "$(dirname "$PWD")")
echo "$variant" >>"$base/count"
if [ -e "$base/kill" ] && [ "$(wc -l <"$base/count")" -ge 3 ]; then
    pid=$$
    while [ "$pid" -gt 1 ]; do
        pid=$(awk '/^PPid/ { print $2 }' "/proc/$pid/status")
        if tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q 'bin/snakemake'; then kill -KILL "$pid"; fi
    done
    exit 1
fi
if grep -qx "$variant" "$base/fail" 2>/dev/null; then echo "ERROR: out of luck"; exit 1; fi
cat >reports/yosys/stat.json <<END
{"creator": "Yosys stand-in", "design": {"num_cells_by_type": {"LUT4": 100, "TRELLIS_FF": 10}}}
END
"#;

const NEXTPNR: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" = --report ] && report=$2
    shift
done
echo '{"fmax": {"clk": {"achieved": 90.0, "constraint": 200.0}},
    "utilization": {"TRELLIS_COMB": {"used": 120}, "TRELLIS_FF": {"used": 10}}}' >"$report"
"#;

/// A folder with models and substitutes.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().expect("a temporary folder") };
        let yosys = YOSYS.replace("@BASE@", place.folder.path().to_str().expect("text"));
        for (name, text) in [("yosys", yosys.as_str()), ("nextpnr", NEXTPNR)] {
            std::fs::write(place.path(name), text).expect("written");
            std::fs::set_permissions(place.path(name), PermissionsExt::from_mode(0o755)).expect("it may be run");
        }
        let softmax = Path::new(ROOT).join("examples/softmax_tables/softmax.json.gz");
        std::fs::copy(softmax, place.path("softmax.json.gz")).expect("copied");
        std::fs::copy(Path::new(ROOT).join("examples/llvlir/crc32.llvlirs"), place.path("crc.llvlirs"))
            .expect("copied");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `explore` over both models into `night`.
    fn explore(&self, more: &[&str]) -> Output {
        let mut path = std::env::var_os("PATH").unwrap_or_default();
        path.push(OsString::from(format!(":{ROOT}/.venv/bin")));
        let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
        command.current_dir(self.folder.path()).env("PATH", path).env("HOME", self.folder.path());
        command.env("YOSYS", self.path("yosys")).env("NEXTPNR", self.path("nextpnr")).env("ECPPACK", "true");
        command.args([
            "explore",
            "softmax.json.gz",
            "crc.llvlirs",
            "--pipeline",
            "1..2",
            "--objective",
            "delay,registers",
        ]);
        command.args(["--device", "ecp5", "--flow", "yosys", "-o", "night"]).args(more);
        command.output().expect("the program starts")
    }

    /// The variants that were synthesised so far.
    fn count(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("count")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn results(&self) -> Value {
        let text = std::fs::read(self.path("night/results.json")).expect("results");
        serde_json::from_slice(&text).expect("JSON")
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn sim_explore_survives_a_kill_and_a_failing_tool_and_redoes_only_what_changed() {
    if tool("snakemake").is_none() {
        return;
    }
    let place = Place::new();
    // Snakemake is killed during the third synthesis.
    std::fs::write(place.path("kill"), "").expect("written");
    let killed = place.explore(&["--run", "--jobs", "1"]);
    assert_eq!(killed.status.code(), Some(2), "{}", said(&killed));
    assert!(said(&killed).contains("E1202"), "{}", said(&killed));
    assert_eq!(place.count().len(), 3);
    std::fs::remove_file(place.path("kill")).expect("it was there");

    // The next run goes on: the two that were done are not made again. One variant fails and stops no other; Snakemake
    // chooses the order, so that it must be one that is still to be made.
    let open = |variant: &&str| place.count()[..2].iter().all(|done| done != variant);
    let unlucky = ["crc_p2_registers", "crc_p2_delay", "crc_p1_delay"].into_iter().find(open).expect("two are done");
    std::fs::write(place.path("fail"), format!("{unlucky}\n")).expect("written");
    let second = place.explore(&["--run", "--jobs", "2"]);
    assert_eq!(second.status.code(), Some(1), "{}", said(&second));
    assert!(said(&second).contains("7 done, 1 failed, 0 open"), "{}", said(&second));
    let before = &place.count()[..2];
    assert!(before.iter().all(|done| place.count()[2..].iter().all(|again| again != done)), "{:?}", place.count());
    assert_eq!(place.count().len(), 3 + 6);
    let results = place.results();
    let rows = results["variants"].as_array().expect("rows").clone();
    assert_eq!(rows.len(), 8);
    for row in &rows {
        let failed = row["variant"] == unlucky;
        assert_eq!(row["status"], if failed { "failed" } else { "done" }, "{row}");
        assert_eq!(row["reason"].as_str(), failed.then_some("synthesise: ERROR: out of luck"), "{row}");
        assert_eq!(row["proof"], "proved", "{row}");
        if !failed {
            assert_eq!((row["luts"].as_f64(), row["fmax_mhz"].as_f64()), (Some(120.0), Some(90.0)), "{row}");
        }
    }
    for (file, words) in [("results.html", "out of luck"), ("results.csv", "out of luck"), ("tradeoffs.svg", "softmax")]
    {
        let text = std::fs::read_to_string(place.path("night").join(file)).expect("a result");
        assert!(text.contains(words), "{file}");
    }

    // Once fixed, only the failed one is run; then no work remains, however often it is started.
    std::fs::remove_file(place.path("fail")).expect("it was there");
    for _ in 0..2 {
        let third = place.explore(&["--run"]);
        assert_eq!(third.status.code(), Some(0), "{}", said(&third));
        assert_eq!(place.count()[9..], [unlucky]);
    }

    // Another file of a model is processed again, the other model stays.
    let kernel = std::fs::read_to_string(place.path("crc.llvlirs")).expect("a kernel");
    std::fs::write(place.path("crc.llvlirs"), kernel.replace("edb88320", "82f63b78")).expect("written");
    let changed = place.explore(&["--run"]);
    assert_eq!(changed.status.code(), Some(0), "{}", said(&changed));
    let mut again = place.count()[10..].to_vec();
    again.sort();
    assert_eq!(again, ["crc_p1_delay", "crc_p1_registers", "crc_p2_delay", "crc_p2_registers"]);
}

#[test]
fn explore_refuses_what_cannot_work_before_anything_is_written() {
    let place = Place::new();
    for (more, code, words) in [
        (&["--", "--no-such-option"] as &[&str], 2, "--no-such-option"),
        (&["--", "--pipeline=3"], 2, "--pipeline"),
        (&["--", "--clock-period=soon"], 2, "soon"),
    ] {
        let refused = place.explore(more);
        assert_eq!(refused.status.code(), Some(code), "{}", said(&refused));
        assert!(said(&refused).contains(words), "{}", said(&refused));
        assert!(!place.path("night").exists());
    }
    let written = place.explore(&[]);
    assert_eq!(written.status.code(), Some(0), "{}", said(&written));
    assert!(place.path("night/Snakefile").is_file() && place.path("night/models/crc.llvlirs").is_file());
    // No place of this machine is in the folder: it can be moved.
    let plan = std::fs::read_to_string(place.path("night/plan.json")).expect("a plan");
    assert!(!plan.contains(place.folder.path().to_str().expect("text")) && !plan.contains(ROOT), "{plan}");
    // Nothing was run: everything is open, which is no failure.
    let mut collect = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    let collected = collect.arg("explore").arg("--collect").arg(place.path("night")).output().expect("it starts");
    assert!(
        collected.status.success() && said(&collected).contains("0 done, 0 failed, 8 open"),
        "{}",
        said(&collected)
    );
    std::fs::create_dir(place.path("other")).expect("a folder");
    std::fs::write(place.path("other/file"), "").expect("written");
    let mut occupied = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    occupied.arg("explore").arg(place.path("crc.llvlirs")).arg("-o").arg(place.path("other"));
    let occupied = occupied.output().expect("it starts");
    assert!(occupied.status.code() == Some(2) && said(&occupied).contains("E0805"), "{}", said(&occupied));
}
