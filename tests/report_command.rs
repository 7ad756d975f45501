//! `alir2hdl report` on files of every tool.

use alir2hdl::report::{self, Row};
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_alir2hdl"))
        .current_dir(Path::new(ROOT).join("tests/data"))
        .arg("report")
        .args(arguments)
        .output()
        .expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

#[test]
fn vivado_is_read() {
    let rows = report::read("v", &Path::new(ROOT).join("tests/data/reports/vivado")).unwrap();
    let routed = Row {
        run: "v/reports/vivado".into(),
        tool: "vivado",
        state: "routed",
        part: Some("xcvu13p-flga2577-2-e".into()),
        luts: Some(1234.0),
        registers: Some(702.0),
        dsps: Some(3.0),
        brams: Some(1.5),
        urams: Some(2.0),
        carries: Some(77.0),
        period_ns: Some(5.0),
        slack_ns: Some(1.0),
        hold_ns: Some(0.032),
        failing: Some(0.0),
        fmax_mhz: Some(250.0),
        power_w: Some(3.456),
        dynamic_w: Some(0.456),
        latency: Some(3.0),
        latency_ns: Some(12.0),
    };
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0], routed);
    assert_eq!(
        (rows[1].state, rows[1].luts, rows[1].slack_ns, rows[1].power_w),
        ("synthesised", Some(1310.0), Some(1.9), None)
    );
}

#[test]
fn quartus_is_read() {
    let rows = report::read("q", &Path::new(ROOT).join("tests/data/reports/quartus")).unwrap();
    let routed = Row {
        run: "q".into(),
        tool: "quartus",
        state: "routed",
        part: Some("10AX115N2F45E1SG".into()),
        luts: Some(1250.0),
        registers: Some(2345.0),
        dsps: Some(4.0),
        brams: Some(2.0),
        period_ns: Some(4.0),
        slack_ns: Some(-0.25),
        hold_ns: Some(0.02),
        fmax_mhz: Some(235.29),
        power_w: rows[0].power_w,
        dynamic_w: rows[0].dynamic_w,
        ..Row::default()
    };
    assert!((rows[0].power_w.unwrap() - 2.34567).abs() < 1e-12, "milliwatts");
    assert!((rows[0].dynamic_w.unwrap() - 0.34567).abs() < 1e-12, "milliwatts");
    assert_eq!(rows, [routed]);
}

#[test]
fn yosys_and_nextpnr_are_read() {
    let rows = report::read("o", &Path::new(ROOT).join("tests/data/reports/open")).unwrap();
    assert_eq!(
        rows.iter().map(|row| (row.tool, row.state)).collect::<Vec<_>>(),
        [("nextpnr", "routed"), ("yosys", "synthesised")]
    );
    let placed = &rows[0];
    assert_eq!(
        (placed.luts, placed.registers, placed.dsps, placed.brams),
        (Some(1769.0), Some(439.0), Some(0.0), Some(0.0))
    );
    assert_eq!((placed.period_ns, placed.fmax_mhz), (Some(5.0), Some(180.018_005_371_093_75)));
    assert!((placed.slack_ns.unwrap() - (5.0 - 1000.0 / 180.018_005_371_093_75)).abs() < 1e-12);
    // 1051 tables, 70 carry cells of two, 84 memories of four.
    assert_eq!((rows[1].luts, rows[1].registers), (Some(1051.0 + 140.0 + 336.0), Some(439.0)));
}

#[test]
fn tables_have_every_form() {
    let (code, text, said) = run(&["reports", "--sort", "fmax_mhz", "--descending"]);
    assert_eq!((code, said.as_str()), (0, ""));
    let tools: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(tools, ["vivado", "vivado", "quartus", "nextpnr", "yosys"], "{text}");
    let (_, json, _) = run(&["reports", "--json", "--sort", "luts"]);
    let all: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(all["schema"], "alir2hdl.report/1");
    let rows = all["rows"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|r| r["luts"].as_f64().unwrap()).collect::<Vec<_>>(),
        [1234.0, 1250.0, 1310.0, 1527.0, 1769.0]
    );
    assert!(rows[3]["power_w"].is_null() && rows[3]["tool"] == "yosys");
    let (_, csv, _) = run(&["reports", "--csv"]);
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [19; 6]);
    let (_, markdown, _) = run(&["reports/vivado", "--markdown"]);
    let bars: Vec<usize> = markdown.lines().map(|line| line.matches('|').count()).collect();
    assert!(bars.len() == 4 && bars.iter().all(|&n| n == bars[0]), "{markdown}");
}

#[test]
fn several_folders_stand_side_by_side() {
    let (code, text, _) = run(&["reports/open", "reports/quartus"]);
    assert!(code == 0 && text.lines().count() == 4 && text.contains("reports/quartus"), "{text}");
}

#[test]
fn what_is_no_report_is_said() {
    let empty = tempfile::tempdir().unwrap();
    let (code, _, said) = run(&[empty.path().to_str().unwrap()]);
    assert!(code == 2 && said.contains("E1201"), "{said}");
    assert_eq!(run(&["nowhere"]).0, 2);
    assert_eq!(run(&["reports", "--sort", "price"]).0, 2);
}

#[test]
fn damaged_and_hostile_reports_do_no_harm() {
    let sources = [
        "vivado/reports/vivado/timing.rpt",
        "vivado/reports/vivado/utilization.rpt",
        "quartus/model.sta.rpt",
        "quartus/model.fit.summary",
        "open/stat.json",
        "open/report.json",
    ];
    let folder = tempfile::Builder::new().prefix("a|b,\"<x>\u{1b}[2J").tempdir().unwrap();
    for source in sources {
        let path = Path::new(ROOT).join("tests/data/reports").join(source);
        let whole = std::fs::read(&path).unwrap();
        let target = folder.path().join(path.file_name().unwrap());
        for part in 0..64 {
            let mut bytes = whole[..whole.len() * part / 64].to_vec();
            if let Some(last) = bytes.last_mut() {
                *last = [0xff, b'9', b'|', b';', 0][part % 5];
            }
            std::fs::write(&target, &bytes).unwrap();
            let rows = report::read("x", folder.path()).unwrap();
            assert!(rows.len() <= sources.len());
        }
        std::fs::write(&target, &whole).unwrap();
    }
    let (code, text, said) = run(&[folder.path().to_str().unwrap()]);
    assert!(code == 0 && !text.contains('\u{1b}'), "{said}");
    let (_, csv, _) = run(&[folder.path().to_str().unwrap(), "--csv"]);
    assert!(csv.lines().skip(1).all(|line| line.starts_with('"') && line.contains("\"\"<x>")), "{csv}");
    let (_, markdown, _) = run(&[folder.path().to_str().unwrap(), "--markdown"]);
    assert!(markdown.contains("a\\|b") && markdown.contains("\\<x\\>"), "{markdown}");
}
