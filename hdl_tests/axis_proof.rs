//! The wrapper's handshake proved by yosys: induction over any number of clocks, whatever the pipeline inside computes.
//!
//! The pipeline is taken out: its outputs are inputs that may be anything (where it waits, anything that stays as long
//! as it does). Shown are: a beat that waits stays as it is; credits, places and samples on their way always add up, so
//! that none is lost, none is made, and they leave in order; counters of beats stay in range; a sample is never written
//! over.

use crate::axis::{Case, beat_by_beat, case};
use crate::projects::tool;
use alir2hdl::emit::Language;
use alir2hdl::emit::axis::Axis;
use std::process::Command;

/// The wrapper without its pipeline, with what is to be shown.
fn harness(axis: &Axis, text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(from) = text.find(&format!("    {} u_core (", axis.core.top)) {
        let to = from + text[from..].find(");\n").expect("the instance ends");
        text.replace_range(from..to + 2, "");
    }
    if text.contains("    wire core_ready;\n") {
        text = text.replacen("    wire core_ready;\n", "", 1);
        let header = format!("module {} (", axis.top);
        text = text.replacen(&header, &format!("{header}\n    input wire core_ready,"), 1);
    }
    let passes = axis.core.input_beats > 1;
    let has_core_out = text.contains(" core_out;\n");
    if has_core_out {
        let to = text.find(" core_out;\n").expect("it is there");
        let from = text[..to].rfind('\n').expect("a line before it") + 1;
        let declaration = text[from..to].trim().to_owned();
        text.replace_range(from..to + " core_out;\n".len(), "");
        let header = format!("module {} (", axis.top);
        text = text.replacen(&header, &format!("{header}\n    input {declaration} core_out,"), 1);
    }
    let user = if axis.user > 0 { ["s_axis_tuser, ", "m_axis_tuser, "] } else { ["", ""] };
    let (in_width, out_width) = (axis.input.data_width + axis.user, axis.output.data_width + axis.user);
    let mut registers = vec![
        ("stalled", 0, "aresetn & m_axis_tvalid & ~m_axis_tready".to_owned()),
        ("out_seen", out_width, format!("{{{}m_axis_tlast, m_axis_tdata}}", user[1])),
        ("waiting", 0, "aresetn & s_axis_tvalid & ~s_axis_tready".to_owned()),
        ("in_seen", in_width, format!("{{{}s_axis_tlast, s_axis_tdata}}", user[0])),
    ];
    let mut rules = vec![
        "if (!started) assume (!aresetn);".to_owned(),
        format!("if (waiting) assume (s_axis_tvalid && in_seen == {});", registers[3].2),
        format!("if (stalled) assert (m_axis_tvalid && out_seen == {});", registers[1].2),
    ];
    for (counter, stream) in [("sample_beats", &axis.input), ("beat", &axis.output)] {
        if stream.beats > 1 {
            rules.push(format!("if (started) assert ({counter} <= 32'd{});", stream.beats - 1));
        }
    }
    if passes {
        // Within a sample the core moves on with a beat, and only then.
        rules.push("if (started) assert ((advance & ~first) == (goes & ~first) && !(goes & ~advance));".to_owned());
    }
    let latency = axis.core.latency - (axis.core.input_beats - 1);
    if let Some(depth) = axis.depth {
        let mut all = vec!["32'd0 + credits + held".to_owned()];
        all.extend((0..latency).map(|k| format!("valid[{k}]")));
        if passes {
            // Where a sample has begun there is a place for its result.
            rules.push("if (started) assert (first || credits != 0);".to_owned());
            rules.push("if (started) assert (!(put & ~advance));".to_owned());
        }
        all.extend((axis.input.beats > 1 && !passes).then(|| "sample_valid".to_owned()));
        rules.push(format!("if (started) assert ({} == 32'd{depth});", all.join(" + ")));
        rules.push(format!("if (started) assert (put_at < 32'd{depth} && get_at < 32'd{depth});"));
        rules.push(format!("if (started) assert ((32'd0 + get_at + held) % 32'd{depth} == put_at);"));
        rules.push(format!("if (started) assert (!(put && held == 32'd{depth}));"));
    } else {
        // Who is at the end leaves only where there is room.
        let done = if latency > 0 { format!("valid[{}]", latency - 1) } else { "sample_valid".to_owned() };
        rules.push(format!("if (started) assert (!({done} & advance & ~result_free));"));
        if passes {
            rules.push("if (started) assert (!(sample_valid & ~advance));".to_owned());
        } else if axis.input.beats > 1 {
            rules.push("if (started) assert (!(take & sample_valid & ~advance));".to_owned());
        }
        if has_core_out {
            let width = |elements: &[alir2hdl::netlist::Element]| elements.iter().map(|e| e.width).sum::<u32>();
            registers.push(("core_seen", width(&axis.core.outputs), "core_out".to_owned()));
            let core_in = width(&axis.core.inputs);
            let stays = match (latency, core_in) {
                (0, 0) => "started".to_owned(),
                (0, _) => {
                    registers.push(("core_read", core_in, "core_in".to_owned()));
                    "started && core_in == core_read".to_owned()
                }
                _ => {
                    registers.push(("held_back", 0, "~advance".to_owned()));
                    "held_back".to_owned()
                }
            };
            rules.push(format!("if ({stays}) assume (core_out == core_seen);"));
        }
    }
    let mut added = String::from("    reg started = 1'b0;\n    always @(posedge aclk) started <= 1'b1;\n");
    for (name, hi, value) in &registers {
        let (range, first) = if *hi == 0 { (String::new(), " = 1'b0") } else { (format!("[{hi}:0] "), "") };
        added.push_str(&format!("    reg {range}{name}{first};\n    always @(posedge aclk) {name} <= {value};\n"));
    }
    rules.iter().for_each(|rule| added.push_str(&format!("    always @* begin {rule} end\n")));
    text.replacen("\nendmodule", &format!("\n{added}endmodule"), 1)
}

/// Returns `true` if yosys proves it, and the output of yosys.
fn proved(case: &Case, text: &str) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("wrapper.v"), harness(&case.axis, text)).expect("written");
    let script = format!(
        "read_verilog -formal wrapper.v; prep -top {top} -flatten; memory_map; opt -full; async2sync; opt_clean; \
         sat -tempinduct -prove-asserts -set-assumes -seq 1 -maxsteps 3 {top}",
        top = case.axis.top
    );
    let output = Command::new("yosys").current_dir(folder.path()).args(["-p", &script]).output().expect("yosys starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success() && said.contains("Induction step proven: SUCCESS!"), said)
}

/// Proves the first case of each kind, and checks that the proof fails with any of these places of the RTL broken.
/// Returns the kinds.
fn proved_kinds<K: PartialEq>(
    cases: impl Iterator<Item = Case>,
    kind: impl Fn(&Case) -> K,
    breaks: &[(&str, &str)],
) -> Vec<K> {
    let mut seen = Vec::new();
    for case in cases {
        let kind = kind(&case);
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let text = case.axis.text(Language::Verilog);
        let (is_proved, said) = proved(&case, &text);
        assert!(is_proved, "{:?}\n{}\n{said}", case.axis, harness(&case.axis, &text));
        for (right, broken) in breaks.iter().filter(|(right, _)| text.contains(right)) {
            assert!(!proved(&case, &text.replacen(right, broken, 1)).0, "{broken} is proved");
        }
    }
    seen
}

#[test]
fn sim_axis_handshake_is_proved_by_induction() {
    if tool("yosys").is_none() {
        return;
    }
    // Of each kind: FIFO or not, one beat or several on either side, registers inside or not.
    let kind = |case: &Case| {
        let axis = &case.axis;
        (axis.depth.is_some(), axis.input.beats > 1, axis.output.beats > 1, axis.core.latency > 0)
    };
    let small = |case: &Case| {
        let axis = &case.axis;
        axis.input.sample_width() + axis.output.sample_width() < 700 && axis.depth.is_none_or(|depth| depth < 8)
    };
    let breaks = [
        ("credits != ", "1'b1 || credits != "),
        ("else if (result_valid & m_axis_tready) beat", "else if (result_valid) beat"),
        ("assign advance = ", "assign advance = 1'b1 | "),
    ];
    // Even seeds have the names that the harness reads.
    let seen = proved_kinds((0..240).step_by(2).map(case).filter(small), kind, &breaks);
    assert!(seen.len() >= 10, "{seen:?}");
    // And where beats go into the core as they come.
    // With one place, or a result a clock after the last beat, nothing is on its way while beats come.
    let several = |case: &Case| {
        let interface = &case.axis.core;
        case.axis.depth != Some(1) && interface.latency > interface.input_beats
    };
    let kind = |case: &Case| (case.axis.depth.is_some(), case.axis.output.beats > 1);
    let breaks = [
        ("core_ready & (credits != ", "core_ready | (credits != "),
        (" & advance;\n    wire get", ";\n    wire get"),
        ("assign advance = moves & ~waits;", "assign advance = moves;"),
    ];
    let cases = (0..800).step_by(2).filter_map(beat_by_beat).filter(small).filter(several);
    let seen = proved_kinds(cases, kind, &breaks);
    assert!(seen.len() >= 3, "{seen:?}");
}
