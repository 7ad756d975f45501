//! `prove --via yosys`: yosys's reading of a file against the model, with the verdicts that our own reader leads to.

use crate::harness::{Case, optimised, read_model, skip};
use crate::mutants::{Mistake, mutated};
use alir_testing::random::{Profile, Recipe, SplitMix};
use alir2hdl::emit::Language;
use alir2hdl::netlist::{Options, ResetOptions};
use alir2hdl::prove::equiv::{self, Request, Verdict};
use alir2hdl::prove::sat::Embedded;
use alir2hdl::rtl;
use alir2hdl::schedule;
use alir2hdl::verify::{Tools, via};
use std::path::Path;
use std::process::Command;

fn there(language: Language) -> bool {
    let tools = Tools::from_environment();
    let needed = if language == Language::Vhdl { &["yosys", "ghdl"][..] } else { &["yosys"] };
    let missing = needed.iter().find(|tool| tools.find(tool).is_none());
    missing.inspect(|tool| skip(tool, "not on the PATH")).is_none()
}

#[test]
fn sim_yosys_reads_what_we_read() {
    let control = |asynchronous, data| Options {
        top: "dut".into(),
        valid: true,
        enable: true,
        reset: Some(ResetOptions { asynchronous, active_high: true, data }),
        ..Options::default()
    };
    let plain = || Options { top: "dut".into(), ..Options::default() };
    let mut differ = 0;
    for (name, level, stages, language, options) in [
        ("tiny_ops", 1, 0, Language::Verilog, plain()),
        ("edge_kif", 1, 3, Language::Verilog, control(false, true)),
        ("bit_logic", 0, 2, Language::Vhdl, control(true, false)),
        ("22", 2, 3, Language::Vhdl, control(false, false)),
        ("23", 0, 2, Language::Verilog, control(true, true)),
        ("24", 1, 2, Language::Vhdl, control(true, true)),
    ] {
        if !there(language) {
            continue;
        }
        let model = match name.parse() {
            Ok(seed) => Recipe::seeded(Profile::TINY, 20, seed).build(),
            Err(_) => read_model(name),
        };
        let built = optimised(&model, level);
        let schedule = schedule::random(&built, stages, false, 5);
        let case = Case::optimised(&model, &built, &schedule, &options, 1, 1);
        let good = String::from_utf8(case.text(language).1).expect("text");
        let request = Request { latency: Some(case.netlist.interface.latency), ..Request::default() };
        // What costs most is the large ones' many signals: two mistakes each.
        let mistakes = match name.parse::<u64>() {
            Ok(_) => &[Mistake::Operand, Mistake::Register, Mistake::Reset][..],
            Err(_) => &[Mistake::Operand, Mistake::Register],
        };
        let mistaken = |m: &Mistake| mutated(&good, *m, language, &mut SplitMix::new(7));
        let bad: Vec<(String, String)> = mistakes.iter().filter_map(mistaken).collect();
        for (text, what) in std::iter::once((good.clone(), "good".to_owned())).chain(bad) {
            let Ok(rtl) = rtl::read(language, &text, None) else { continue };
            let ours = equiv::prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict;
            let path = Path::new(if language == Language::Vhdl { "dut.vhd" } else { "dut.v" });
            let source = via::SourceFile { path: path.into(), text };
            let rtl = via::yosys(&Tools::from_environment(), &[source], None).unwrap_or_else(|e| panic!("{name}: {e}"));
            let asked = Request { gates_only: true, ..request.clone() };
            let theirs = equiv::prove(&model, &rtl, &asked, Box::new(Embedded)).0.verdict;
            match (&ours, &theirs) {
                (Verdict::Proved, Verdict::Proved) => {}
                (Verdict::Differs { .. }, Verdict::Differs { .. }) => differ += 1,
                _ => panic!("{name}, {language:?}, {what}: ours {ours:?}, by yosys {theirs:?}"),
            }
            assert!(what != "good" || theirs == Verdict::Proved);
        }
    }
    let all = there(Language::Verilog) && there(Language::Vhdl);
    assert!(!all || differ >= 7, "only {differ} mutants differ");
}

/// The program's exit code and all that it says about files of this folder. What yosys makes of a file, as words and as
/// gates, is read and proved: signals driven in parts by many processes, bits that nothing drives any more, gates in
/// place of sums.
#[test]
fn sim_what_yosys_writes_is_proved() {
    if !there(Language::Verilog) {
        return;
    }
    for (name, stages, gates) in
        [("bit_logic", 3, false), ("tiny_ops", 3, false), ("edge_kif", 0, true), ("edge_kif", 3, true)]
    {
        let model = read_model(name);
        let built = optimised(&model, 1);
        let schedule = schedule::random(&built, stages, false, 5);
        let case =
            Case::optimised(&model, &built, &schedule, &Options { top: "dut".into(), ..Options::default() }, 1, 1);
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("dut.v"), case.text(Language::Verilog).1).expect("the file");
        let synthesis = if gates { "synth -flatten" } else { "opt" };
        let script = format!("read_verilog dut.v; hierarchy -top dut; proc; {synthesis}; write_verilog -noattr out.v");
        let done = Command::new("yosys").args(["-q", "-p", &script]).current_dir(dir.path()).output().expect("yosys");
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let written = std::fs::read_to_string(dir.path().join("out.v")).expect("what yosys wrote");
        let rtl = rtl::read(Language::Verilog, &written, None).unwrap_or_else(|e| panic!("{name}: {e}"));
        let request = Request { latency: Some(case.netlist.interface.latency), ..Request::default() };
        let report = equiv::prove(&model, &rtl, &request, Box::new(Embedded)).0;
        assert_eq!(report.verdict, Verdict::Proved, "{name}, {stages} stages");
    }
}

fn told(dir: &Path, yosys: Option<&str>, files: &[&str], options: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alir2hdl"));
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/edge_kif/model.json.gz");
    command.current_dir(dir).arg("prove").arg(model).args(files).args(options);
    if let Some(yosys) = yosys {
        command.env("ALIR2HDL_YOSYS", yosys);
    }
    let output = command.output().expect("our own program");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (output.status.code(), said.concat())
}

#[test]
fn sim_several_files_are_one_design_for_yosys() {
    if !there(Language::Verilog) {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let model = read_model("edge_kif");
    let built = optimised(&model, 1);
    let schedule = schedule::random(&built, 2, false, 5);
    let options = Options { top: "core".into(), ..Options::default() };
    let case = Case::optimised(&model, &built, &schedule, &options, 1, 1);
    let core = String::from_utf8(case.text(Language::Verilog).1).expect("text");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("a file");
    let inputs: u32 = model.input_kifs().iter().map(|k| k.width()).sum();
    let outputs: u32 = (0..model.outputs().len()).map(|j| model.output_kif(j).width()).sum();
    // A wrapper with a parameter, which inverts twice, and once only for the value 1.
    let wrapper = |value| {
        format!(
            "module turn #(parameter W = 1, parameter KEEP = 0)(input [W-1:0] x, output [W-1:0] y);\n\
             assign y = KEEP ? x : ~x;\nendmodule\n\
             module outer(input clk, input [{i}:0] model_inp, output [{o}:0] model_out);\n\
             wire [{i}:0] a, b;\n\
             turn #(.W({i} + 1)) one(.x(model_inp), .y(a));\n\
             turn #(.W({i} + 1), .KEEP({value})) two(.x(a), .y(b));\n\
             core inner(.clk(clk), .model_inp(b), .model_out(model_out));\nendmodule\n",
            i = inputs - 1,
            o = outputs - 1
        )
    };
    write("core.v", &core);
    write("outer.v", &wrapper(0));
    write("wrong.v", &wrapper(1));
    let latency = case.netlist.interface.latency.to_string();
    let options = ["--via", "yosys", "--pipeline", &latency];
    let (code, said) = told(dir.path(), None, &["outer.v", "core.v"], &options);
    assert!(code == Some(0) && said.contains("read by yosys"), "{said}");
    let (code, said) = told(dir.path(), None, &["wrong.v", "core.v"], &[&options[..], &["--top", "outer"]].concat());
    assert!(code == Some(1) && said.contains("inputs (codes)"), "{said}");
    let (code, said) = told(dir.path(), None, &["core.v"], &[&options[..2], &["--pipeline", "1"]].concat());
    assert!(code == Some(1) && said.contains("latency"), "{said}");
    // Our own front ends read several files, too.
    let (code, said) = told(dir.path(), None, &["outer.v", "core.v"], &["--pipeline", &latency]);
    assert!(code == Some(0) && !said.contains("read by yosys"), "{said}");
}

#[test]
fn sim_what_yosys_cannot_say_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("a file");
    write("latch.v", "module m(input clk, input d, output reg q); always @* if (clk) q = d; endmodule\n");
    write(
        "clocks.v",
        "module m(input clk, input c2, input d, output reg q); reg p; always @(posedge clk) p <= d;\n\
         always @(posedge c2) q <= p; endmodule\n",
    );
    write(
        "edges.v",
        "module m(input clk, input d, output reg q); reg p; always @(posedge clk) p <= d;\n\
         always @(negedge clk) q <= p; endmodule\n",
    );
    write("drivers.v", "module m(input a, input b, output y); assign y = a; assign y = b; endmodule\n");
    write("part.v", "module m(input a, output y); other o(.a(a), .y(y)); endmodule\n");
    write("text.v", "module m(input a, output y) assign y = a; endmodule\n");
    write("up.v", "module m(input [0:3] a, output y); assign y = a[0]; endmodule\n");
    write(
        "gated.v",
        "module m(input clk, input e, input d, output reg q); wire g = clk & e; always @(posedge g) q <= d; \
         endmodule\n",
    );
    let via = ["--via", "yosys"];
    let (code, said) = told(dir.path(), Some("/no/such/yosys"), &["part.v"], &via);
    assert!(code == Some(3) && said.contains("E1001") && said.contains("yosys is not on the PATH"), "{said}");
    if !there(Language::Verilog) {
        return;
    }
    for (file, what) in [
        ("latch.v", "latch"),
        ("clocks.v", "two clocks"),
        ("edges.v", "two clocks or edges"),
        ("drivers.v", "drivers"),
        ("part.v", "other"),
        ("text.v", "syntax error"),
        ("up.v", "upwards"),
        ("gated.v", "is not an input"),
    ] {
        let (code, said) = told(dir.path(), None, &[file], &via);
        assert!(code == Some(2) && said.contains("E09") && said.contains(what), "{file}: {code:?} {said}");
    }
    let (code, said) = told(dir.path(), None, &["latch.v"], &[&via[..], &["--top", "m; shell"]].concat());
    assert!(code == Some(2) && said.contains("no name of a module"), "{said}");
}
