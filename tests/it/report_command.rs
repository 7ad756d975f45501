//! `alir2hdl report` on files of every tool.

use alir2hdl::report::{self, BuildRow, Stage};
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
    let rows = report::read("v", &Path::new(ROOT).join("tests/data/reports/vivado")).unwrap().rows;
    let routed = BuildRow {
        run: "v/reports/vivado".into(),
        tool: "vivado",
        state: Some(Stage::Routed),
        result: true,
        part: Some("xcvu13p-flga2577-2-e".into()),
        luts: Some(1234.0),
        registers: Some(702.0),
        dsps: Some(3.0),
        brams: Some(1.5),
        urams: Some(2.0),
        carries: Some(77.0),
        clock: rows[1].clock.clone(),
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
        clocks: rows[1].clocks.clone(),
        further: rows[1].further.clone(),
        ..BuildRow::default()
    };
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1], routed);
    assert_eq!(
        (rows[0].state, rows[0].luts, rows[0].slack_ns, rows[0].power_w),
        (Some(Stage::Synthesized), Some(1310.0), Some(1.9), None)
    );
}

#[test]
fn quartus_is_read() {
    let rows = report::read("q", &Path::new(ROOT).join("tests/data/reports/quartus")).unwrap().rows;
    let routed = BuildRow {
        run: "q".into(),
        tool: "quartus",
        state: Some(Stage::Routed),
        result: true,
        part: Some("10AX115N2F45E1SG".into()),
        alms: Some(1250.0),
        registers: Some(2345.0),
        dsps: Some(4.0),
        brams: Some(2.0),
        clock: Some("clk".into()),
        period_ns: Some(4.0),
        slack_ns: Some(-0.25),
        worst_slack_ns: Some(-0.25),
        hold_ns: Some(0.02),
        fmax_mhz: Some(235.29),
        restricted_fmax_mhz: Some(235.29),
        clocks: rows[0].clocks.clone(),
        further: rows[0].further.clone(),
        power_w: rows[0].power_w,
        dynamic_w: rows[0].dynamic_w,
        ..BuildRow::default()
    };
    assert!((rows[0].power_w.unwrap() - 2.34567).abs() < 1e-12, "milliwatts");
    assert!((rows[0].dynamic_w.unwrap() - 0.34567).abs() < 1e-12, "milliwatts");
    assert_eq!(rows, [routed]);
}

#[test]
fn yosys_and_nextpnr_are_read() {
    let rows = report::read("o", &Path::new(ROOT).join("tests/data/reports/open")).unwrap().rows;
    assert_eq!(
        rows.iter().map(|row| (row.tool, row.state)).collect::<Vec<_>>(),
        [("nextpnr", Some(Stage::Routed)), ("yosys", Some(Stage::Synthesized))]
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
    assert_eq!(tools, ["vivado", "quartus", "nextpnr"], "{text}");
    let (_, text, _) = run(&["reports", "--all-stages"]);
    assert_eq!(text.lines().count(), 6, "{text}");
    let (_, json, _) = run(&["reports", "--json", "--sort", "luts"]);
    let all: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(all["schema"], "alir2hdl.report/2");
    let rows = all["rows"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|r| r["luts"].as_f64()).collect::<Vec<_>>(),
        [Some(1234.0), Some(1310.0), Some(1527.0), Some(1769.0), None]
    );
    assert!(rows[2]["power_w"].is_null() && rows[2]["tool"] == "yosys" && rows[4]["alms"] == 1250);
    let results: Vec<bool> = rows.iter().map(|row| row["result"].as_bool().unwrap()).collect();
    assert_eq!(results, [true, false, false, true, true]);
    let (_, csv, _) = run(&["reports", "--csv"]);
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [25; 4]);
    let (_, markdown, _) = run(&["reports/vivado", "--markdown"]);
    let bars: Vec<usize> = markdown.lines().map(|line| line.matches('|').count()).collect();
    assert!(bars.len() == 3 && bars.iter().all(|&n| n == bars[0]), "{markdown}");
}

#[test]
fn several_folders_give_one_table() {
    let (code, text, _) = run(&["reports/open", "reports/quartus"]);
    assert!(code == 0 && text.lines().count() == 3 && text.contains("reports/quartus"), "{text}");
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
            let rows = report::read("x", folder.path()).unwrap().rows;
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

    WNS(ns)  TNS(ns)  TNS Failing Endpoints  WHS(ns)  THS(ns)  THS Failing Endpoints  WPWS(ns)  TPWS(ns)  TPWS \
    Failing Endpoints
    -------  -------  ---------------------  -------  -------  ---------------------  --------  --------  \
    ----------------------
     -3.250  -99.000                     12   -0.125   -1.000                   1920     0.500     \
     0.000                       0

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

fn one_file(name: &str, text: &str) -> Vec<BuildRow> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    report::read("x", folder.path()).unwrap().rows
}

#[test]
fn figures_of_a_row_are_of_one_clock_and_the_worst_path_is_separate() {
    let rows = one_file("t.rpt", CLOCKS);
    let row = &rows[0];
    assert_eq!((row.clock.as_deref(), row.period_ns, row.slack_ns), (Some("half"), Some(10.0), Some(-0.75)));
    assert_eq!(row.fmax_mhz, Some(1000.0 / 10.75));
    assert_eq!((row.worst_slack_ns, row.hold_ns, row.failing), (Some(-3.25), Some(-0.125), Some(1932.0)));
}

#[test]
fn a_stage_is_read_from_the_report_or_its_name_and_never_assumed() {
    for (name, state, expected) in [
        ("t.rpt", "", None),
        ("top_timing_summary_placed.rpt", "", Some(Stage::Placed)),
        ("top_timing_summary_postroute_physopted.rpt", "", Some(Stage::Routed)),
        ("t_routed.rpt", "| Design State : Physopt postPlace", Some(Stage::PhysOpt)),
        ("t.rpt", "| Design State : routed", Some(Stage::Routed)),
        ("t.rpt", "| Design State : Fully Placed", Some(Stage::Placed)),
        ("t.rpt", "| Design State : synthesized", Some(Stage::Synthesized)),
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

fn folder_of(files: &[(&str, &str)]) -> (tempfile::TempDir, report::Reports) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let reports = report::read("x", folder.path()).unwrap();
    (folder, reports)
}

fn utilisation(state: &str, luts: u32) -> String {
    format!(
        "| Tool Version : Vivado v.2024.1\n| Command      : report_utilization\n| Device       : xcvu13p-flga2577-2-e\n\
         | Design State : {state}\n| Site Type | Used | Fixed | Available |\n| CLB LUTs  | {luts} | 0 | 1728000 |\n"
    )
}

/// Vivado's project flow reports area after placement and timing after routing. A table for people has both in the row
/// of the build and names the stage of the area; JSON keeps each figure in the row of its stage. Area after synthesis
/// stays there.
#[test]
fn area_after_placement_is_marked_and_that_after_synthesis_is_not_taken() {
    let timing = CLOCKS.replace("STATE", "| Design State : Routed");
    let (placed, synthesised) = (utilisation("Fully Placed", 358), utilisation("Synthesized", 593));
    let (_, found) = folder_of(&[("t.rpt", &timing), ("u.rpt", &placed), ("s.rpt", &synthesised)]);
    let shown = report::for_people(&found.rows);
    assert_eq!((shown.len(), shown[0].luts, shown[0].area_state), (1, Some(358.0), Some(Stage::Placed)));
    assert!(report::text(&shown, &[]).contains("area_state"));
    let routed = found.rows.iter().find(|row| row.state == Some(Stage::Routed)).unwrap();
    assert_eq!((routed.luts, routed.result), (None, true));
    let (_, found) = folder_of(&[("t.rpt", &timing), ("s.rpt", &synthesised)]);
    assert_eq!(report::for_people(&found.rows)[0].luts, None);
}

const STA: &str = "\
Timing Analyzer report for top
+------------------------------------------+
; Clocks                                   ;
+------------+---------+--------+----------+
; Clock Name ; Type    ; Period ; Frequency ;
+------------+---------+--------+----------+
; a          ; Base    ; 4.000  ; 250.0 MHz ;
; b          ; Base    ; 10.000 ; 100.0 MHz ;
; v          ; Virtual ; 3.000  ; 333.3 MHz ;
+------------+---------+--------+----------+
+------------------------------------------+
; Slow 900mV 100C Model Fmax Summary       ;
+-----------+-----------------+------------+
; Fmax      ; Restricted Fmax ; Clock Name ;
+-----------+-----------------+------------+
; 92.5 MHz  ; 92.5 MHz        ; b          ;
; 260.0 MHz ; 240.0 MHz       ; a          ;
+-----------+-----------------+------------+
+------------------------------------------+
; Slow 900mV 100C Model Setup Summary      ;
+-------+--------+-------------------------+
; Clock ; Slack  ; End Point TNS           ;
+-------+--------+-------------------------+
; v     ; -3.884 ; -24.610                 ;
; b     ; -0.811 ; -1.000                  ;
; a     ; 0.154  ; 0.000                   ;
+-------+--------+-------------------------+
+------------------------------------------+
; Fast 900mV 0C Model Fmax Summary         ;
+-----------+-----------------+------------+
; Fmax      ; Restricted Fmax ; Clock Name ;
+-----------+-----------------+------------+
; 186.2 MHz ; 186.2 MHz       ; b          ;
; 486.1 MHz ; 300.0 MHz       ; a          ;
+-----------+-----------------+------------+
+------------------------------------------+
; Fast 900mV 0C Model Hold Summary         ;
+-------+--------+-------------------------+
; Clock ; Slack  ; End Point TNS           ;
+-------+--------+-------------------------+
; a     ; 0.021  ; 0.000                   ;
+-------+--------+-------------------------+
";

#[test]
fn quartus_has_the_worst_corner_of_one_clock() {
    let (_, found) = folder_of(&[("top.sta.rpt", STA)]);
    let row = &found.rows[0];
    assert_eq!((row.clock.as_deref(), row.period_ns, row.slack_ns), (Some("b"), Some(10.0), Some(-0.811)));
    assert_eq!((row.fmax_mhz, row.restricted_fmax_mhz), (Some(92.5), Some(92.5)));
    assert_eq!((row.worst_slack_ns, row.hold_ns, row.state), (Some(-3.884), Some(0.021), None));
    assert_eq!(row.clocks[0].restricted_fmax_mhz, Some(240.0));
    assert_eq!(row.clocks[2].kind.as_deref(), Some("virtual"));
    assert_eq!(row.meets_timing(), Some(false));
}

#[test]
fn quartus_pro_states_the_corner_in_a_column_and_its_synthesis_no_figure_in_the_summary() {
    let sta = STA
        .replace("Slow 900mV 100C Model ", "")
        .replace("End Point TNS           ;\n+-------+--------", "End Point TNS ; Failing End Points ;\n+--");
    let syn = "Synthesis Status : Successful\nRevision Name : top\nTop-level Entity Name : top\nFamily : Agilex 7\n";
    let report = "Synthesis report for top\n+---+\n; Synthesis Resource Usage Summary for \
                  Partition \"root_partition\" ;\n+---+---+\n\
                  ; Resource ; Usage ;\n; Estimate of Logic utilization (ALMs needed) ; 5529 ;\n\
                  ; Combinational ALUT usage for logic ; 8824 ;\n; Dedicated logic registers ; 9044 ;\n; Total DSP \
                  Blocks ; 3 ;\n";
    let fit = "Fitter Status : Successful\nDevice : AGFB014R24A2I2V\nLogic utilization (in ALMs) : 5,477 / 487,200 ( \
               1 % )\n\
               Total dedicated logic registers : 10271\nTotal RAM Blocks : 32 / 7,110 ( < 1 % )\nTotal DSP Blocks : 0 \
               / 4,510 ( 0 % )\n";
    let (_, found) = folder_of(&[
        ("top.sta.rpt", &sta),
        ("top.syn.summary", syn),
        ("top.syn.rpt", report),
        ("top.fit.summary", fit),
    ]);
    let [synthesised, routed] = &found.rows[..] else { panic!("{found:?}") };
    assert_eq!(
        (synthesised.alms, synthesised.aluts, synthesised.registers),
        (Some(5529.0), Some(8824.0), Some(9044.0))
    );
    assert_eq!((routed.alms, routed.registers, routed.brams), (Some(5477.0), Some(10271.0), Some(32.0)));
    assert_eq!((routed.luts, routed.part.as_deref()), (None, Some("AGFB014R24A2I2V")));
    assert_eq!((routed.state, routed.clock.as_deref()), (Some(Stage::Routed), Some("b")));
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
}

#[test]
fn other_tools_are_read() {
    let hls = "<profile><UserAssignments><Part>xc7z020-clg400-1</Part><TopModelName>top</TopModelName>\
               <TargetClockPeriod>5.00</TargetClockPeriod></UserAssignments><PerformanceEstimates>\
               <EstimatedClockPeriod>4.000</EstimatedClockPeriod><SummaryOfOverallLatency>\
               <Worst-caseLatency>10</Worst-caseLatency><Interval-max>8</Interval-max></SummaryOfOverallLatency>\
               </PerformanceEstimates><AreaEstimates><Resources><BRAM_18K>3</BRAM_18K><DSP48E>73</DSP48E><FF>7969</FF>\
               <LUT>2532</LUT><URAM>0</URAM></Resources></AreaEstimates></profile>";
    let diamond = "             Lattice Mapping Report File for Design Module 'top'\nTarget Device:  \
                   LFE5U-85FCABGA381\n\
                   Target Performance:   6\n   Number of registers:   2,541 out of 84255 (3%)\n   Number of \
                   LUT4s:       2251 out of 83640 (3%)\n\
                   \x20  Number of block RAMs:  1 out of 208 (0%)\n";
    let trace = "Lattice TRACE Report - Setup\nDevice,speed:    LFE5U-85F,6\n\
                 Preference                              |   Constraint|       Actual|Levels\n\
                 FREQUENCY NET \"clk\" 83.333333 MHz       |             |             |\n\
                 ;                                       |   80.000 MHz|   50.000 MHz|   2 *\n\
                 Timing errors: 12  Score: 99\n\
                 Preference(MIN Delays)                  |   Constraint|       Actual|Levels\n\
                 FREQUENCY NET \"clk\" 83.333333 MHz ;     |     0.000 ns|     0.175 ns|   1\nTiming errors: 0  \
                 Score: 0\n\
                 Timing errors: 12 (setup), 0 (hold)\n";
    let gowin = "//Copyright (C)2014-2023 Gowin Semiconductor Corporation.\n  <Report Title>: PnR Report\n\
                 \x20 <Part Number>: GW2A-LV18PG256C8/I7\n  Logic                       | 5081/20736  25%\n\
                 \x20   --LUT,ALU,ROM16           | 4355(3848 LUT, 507 ALU, 0 ROM16)\n  Register                    | \
                 2117/16173  14%\n\
                 \x20 BSRAM                       | 87%\n    --SDPB                    | 20\n    \
                 --DPB                     | 12\n  DSP                         | 62%\n";
    let log = "Yosys 0.33\n12. Printing statistics.\n=== top ===\n   Number of cells:                  5\n     \
               LUT4    3\n     TRELLIS_FF    2\n\n\
               13. Printing statistics.\n\n=== top ===\n   Number of cells:                121\n     \
               CCU2C                           6\n\
               \x20    LUT4                           53\n     TRELLIS_FF                     18\n\n6.48. Executing \
               CHECK pass\n";
    let newer = "=== top ===\n\n        +----------Local Count, excluding submodules.\n        |\n       12 \
                 wires\n        5 cells\n        3   LUT4\n        2   TRELLIS_FF\n";
    let pnr = "Info: Device utilisation:\nInfo: \t          TRELLIS_COMB:    75/24288     0%\nInfo: \t          \
               DP16KD:     3/   56     5%\n\
               Info: Max frequency for clock '$glbnet$clk': 283.37 MHz (PASS at 25.00 MHz)\n\
               Info: Max frequency for clock '$glbnet$clk': 273.75 MHz (PASS at 25.00 MHz)\n";
    let (_, found) = folder_of(&[
        ("hls/syn/report/top_csynth.xml", hls),
        (
            "hls/syn/report/part_csynth.xml",
            &hls.replace("2532", "9").replace("<TopModelName>top", "<TopModelName>other"),
        ),
        ("diamond/top.mrp", diamond),
        ("diamond/top.twr", trace),
        ("gowin/impl/pnr/top.rpt.txt", gowin),
        ("open/yosys.log", log),
        ("open/nextpnr.log", pnr),
        ("newer/stat.log", newer),
    ]);
    let row = |run: &str, tool: &str, state: Option<Stage>| {
        let is = |row: &&BuildRow| row.run.starts_with(&format!("x/{run}")) && (row.tool, row.state) == (tool, state);
        found.rows.iter().find(is).unwrap_or_else(|| panic!("{run} {tool}: {found:#?}"))
    };
    let hls = row("hls", "hls", None);
    assert_eq!((hls.luts, hls.registers, hls.dsps, hls.brams), (Some(2532.0), Some(7969.0), Some(73.0), Some(1.5)));
    assert_eq!((hls.fmax_mhz, hls.latency, hls.latency_ns, hls.slack_ns), (Some(250.0), Some(10.0), Some(40.0), None));
    let mapped = row("diamond", "diamond", Some(Stage::Synthesized));
    assert_eq!((mapped.luts, mapped.registers, mapped.brams), (Some(2251.0), Some(2541.0), Some(1.0)));
    let routed = row("diamond", "diamond", Some(Stage::Routed));
    assert_eq!((routed.clock.as_deref(), routed.fmax_mhz, routed.slack_ns), (Some("clk"), Some(50.0), Some(-7.5)));
    assert_eq!((routed.hold_ns, routed.failing), (Some(0.175), Some(12.0)));
    let gowin = row("gowin", "gowin", Some(Stage::Routed));
    assert_eq!((gowin.luts, gowin.registers, gowin.brams), (Some(4355.0), Some(2117.0), Some(32.0)));
    assert_eq!(gowin.carries, Some(507.0));
    let yosys = row("open", "yosys", Some(Stage::Synthesized));
    assert_eq!((yosys.luts, yosys.registers, yosys.result), (Some(65.0), Some(18.0), false));
    let nextpnr = row("open", "nextpnr", Some(Stage::Routed));
    assert_eq!((nextpnr.luts, nextpnr.brams, nextpnr.fmax_mhz), (Some(75.0), Some(3.0), Some(273.75)));
    assert_eq!((nextpnr.period_ns, nextpnr.result), (Some(40.0), true));
    assert_eq!(row("newer", "yosys", Some(Stage::Synthesized)).luts, Some(3.0));
}

#[test]
fn files_without_figures_are_named() {
    let (folder, found) = folder_of(&[
        ("u.rpt", "| Tool Version : Vivado v.2024.1\n| Command      : report_utilization\n| Device : a\n"),
        ("drc.rpt", "| Tool Version : Vivado v.2024.1\n| Command      : report_drc\n"),
        ("t.rpt", &utilisation("Routed", 3)),
    ]);
    assert_eq!(found.skipped.len(), 1);
    let (code, _, said) = run(&[folder.path().to_str().unwrap()]);
    assert!(code == 0 && said.contains("W1202") && said.contains("u.rpt"), "{said}");
}

#[test]
fn the_format_follows_from_the_name_and_missed_timing_from_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name).display().to_string();
    for (name, start) in [
        ("r.html", "<!DOCTYPE html>"),
        ("r.json", "{"),
        ("r.csv", "run,tool,state,part,luts"),
        ("r.tsv", "run\ttool\tstate"),
        ("r.md", "| run | tool |"),
    ] {
        let (code, shown, said) = run(&["reports", "-o", &out(name)]);
        assert_eq!((code, shown.as_str()), (0, ""), "{said}");
        assert!(std::fs::read_to_string(out(name)).unwrap().starts_with(start), "{name}");
    }
    assert_eq!(run(&["reports", "-o", &out("r.pdf")]).0, 2);
    let (_, csv, _) = run(&["reports/vivado", "--csv", "--columns", "tool,luts_available,tns_ns"]);
    assert!(csv.starts_with("tool,luts_available,tns_ns\nvivado,"), "{csv}");
    assert_eq!(run(&["reports/vivado", "--check"]).0, 0);
    assert_eq!(run(&["reports/quartus", "--check"]).0, 1);
    let (code, page, _) = run(&["reports/vivado", "--html", &out("p.html"), "-o", &out("p.json")]);
    assert_eq!((code, page.as_str()), (0, ""));
    assert!(std::fs::read_to_string(out("p.html")).unwrap().contains("<td class=\"word\">vivado</td>"));
}
