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
        clock: rows[0].clock.clone(),
        period_ns: Some(5.0),
        slack_ns: Some(1.0),
        worst_slack_ns: Some(1.0),
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
        ("synthesized", Some(1310.0), Some(1.9), None)
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
        [("nextpnr", "routed"), ("yosys", "synthesized")]
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
    assert_eq!(all["schema"], "alir2hdl.report/2");
    let rows = all["rows"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|r| r["luts"].as_f64().unwrap()).collect::<Vec<_>>(),
        [1234.0, 1250.0, 1310.0, 1527.0, 1769.0]
    );
    assert!(rows[3]["power_w"].is_null() && rows[3]["tool"] == "yosys");
    let (_, csv, _) = run(&["reports", "--csv"]);
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [21; 6]);
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

const CLOCKS: &str = "\
| Tool Version : Vivado v.2022.1 (lin64)
| Command      : report_timing_summary -file t.rpt
| Device       : xcku5p-ffvb676
STATE

| Design Timing Summary
| ---------------------

    WNS(ns)  TNS(ns)  TNS Failing Endpoints  WHS(ns)  THS(ns)  THS Failing Endpoints  WPWS(ns)  TPWS(ns)  TPWS Failing Endpoints
    -------  -------  ---------------------  -------  -------  ---------------------  --------  --------  ----------------------
     -3.250  -99.000                     12   -0.125   -1.000                   1920     0.500     0.000                       0

| Clock Summary
| -------------

Clock   Waveform(ns)    Period(ns)  Frequency(MHz)
-----   ------------    ----------  --------------
fast    {0.000 1.000}   2.000       500.000
  half  {0.000 5.000}   10.000      100.000
io      {0.000 1.000}   2.000       500.000

| Intra Clock Table
| -----------------

Clock       WNS(ns)  TNS(ns)  TNS Failing Endpoints  WPWS(ns)  TPWS(ns)  TPWS Failing Endpoints
-----       -------  -------  ---------------------  --------  --------  ----------------------
fast          1.500    0.000                      0     0.500     0.000                       0
  half       -0.750   -1.500                      3     4.500     0.000                       0
io           -3.250  -97.500                      9

";

fn one_file(name: &str, text: &str) -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    report::read("x", folder.path()).unwrap()
}

#[test]
fn figures_of_one_clock_stand_together_and_the_worst_path_beside_them() {
    let rows = one_file("t.rpt", CLOCKS);
    let row = &rows[0];
    assert_eq!((row.clock.as_deref(), row.period_ns, row.slack_ns), (Some("half"), Some(10.0), Some(-0.75)));
    assert_eq!(row.fmax_mhz, Some(1000.0 / 10.75));
    assert_eq!((row.worst_slack_ns, row.hold_ns, row.failing), (Some(-3.25), Some(-0.125), Some(1932.0)));
}

#[test]
fn a_stage_is_read_from_the_report_or_its_name_and_never_assumed() {
    for (name, state, expected) in [
        ("t.rpt", "", ""),
        ("top_timing_summary_placed.rpt", "", "placed"),
        ("top_timing_summary_postroute_physopted.rpt", "", "routed"),
        ("t_routed.rpt", "| Design State : Physopt postPlace", "physopt"),
        ("t.rpt", "| Design State : routed", "routed"),
        ("t.rpt", "| Design State : Fully Placed", "placed"),
        ("t.rpt", "| Design State : synthesized", "synthesized"),
    ] {
        assert_eq!(one_file(name, &CLOCKS.replace("STATE", state))[0].state, expected, "{name} {state}");
    }
}

#[test]
fn the_top_row_of_a_hierarchy_is_read_by_its_headings() {
    let text = "\
| Tool Version : Vivado v.2023.1 (lin64)
| Command      : report_utilization -hierarchical
| Device       : xcku5p-ffvb676-2-e
| Design State : Routed
+----------+--------+------------+-----------+--------+--------+------+------------+
| Instance | Module | Total LUTs | FFs       | RAMB36 | RAMB18 | URAM | DSP Blocks |
+----------+--------+------------+-----------+--------+--------+------+------------+
| top      |  (top) | 120(1.20%) | 31(0.01%) |      2 |      1 |    0 |          4 |
|   (top)  |  (top) |          7 |         1 |      0 |      0 |    0 |          0 |
+----------+--------+------------+-----------+--------+--------+------+------------+
";
    let row = &one_file("h.rpt", text)[0];
    assert_eq!((row.luts, row.registers, row.brams), (Some(120.0), Some(31.0), Some(2.5)));
    assert_eq!((row.urams, row.dsps, row.carries), (Some(0.0), Some(4.0), None));
}

#[test]
fn a_report_of_a_part_of_the_design_is_no_row() {
    let text = "| Tool Version : Vivado v.2023.1\n| Command      : report_utilization -pblocks a\n\
                | Site Type | Used |\n| CLB LUTs | 5 |\n";
    assert!(one_file("p.rpt", text).is_empty());
}
