//! Netlists as synthesis writes them, and as it should not: shift registers, carry chains, ROMs in block RAM,
//! mutations.

use crate::common::{run, table_model};
use std::fmt::Write;
use std::path::Path;
use tempfile::TempDir;

/// Folder with a model and the RTL that `options` give.
fn folder(entry: impl Fn(i32) -> i32, options: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    table_model(dir.path(), entry);
    let mut all = vec!["table.json", "--verilog", "rtl.v", "--top", "top"];
    all.extend(options.split_whitespace());
    let (code, out, errors) = run(dir.path(), &all);
    assert_eq!(code, 0, "{out}{errors}");
    dir
}

/// Exit code and messages of `prove` for a netlist of `folder`.
fn prove(dir: &TempDir, netlist: &str) -> (i32, String) {
    std::fs::write(dir.path().join("net.v"), netlist).unwrap();
    let (code, out, errors) = run(dir.path(), &["prove", "table.json", "net.v", "--rtl", "rtl.v", "--top", "top"]);
    (code, out + &errors)
}

const fn squares(i: i32) -> i32 {
    (i * i * 3 + 5) % 200
}

/// Bit of each entry of a table, the initial value of a look-up table.
fn column(entry: impl Fn(i32) -> i32, bit: u32) -> u32 {
    (0..16).map(|i| ((entry(i) >> bit & 1) as u32) << i).sum()
}

/// Look-up tables before shift registers of four stages, with `enable` and `clock` as connections of these.
fn shifting_netlist(enable: &str, clock: &str) -> String {
    let mut text = "module top(clk, ce, model_inp, model_out);\ninput clk, ce; input [3:0] model_inp; output [7:0] \
                    model_out; wire [7:0] d; wire clk_n;\nINV inverter (.I(clk), .O(clk_n));\n"
        .to_owned();
    for bit in 0..8 {
        writeln!(
            text,
            "LUT4 #(.INIT(16'h{:x})) l{bit} (.I0(model_inp[0]), .I1(model_inp[1]), .I2(model_inp[2]), \
             .I3(model_inp[3]), .O(d[{bit}]));\n\
             SRL16E #(.INIT(4'h0)) s{bit} (.CE({enable}), .CLK({clock}), .D(d[{bit}]), .A0(1'h1), .A1(1'h1), \
             .A2(1'h0), .A3(1'h0), .Q(model_out[{bit}]));",
            column(squares, bit)
        )
        .unwrap();
    }
    text + "endmodule\n"
}

/// Yosys 0.23 drops the enable of a chain of registers when `synth_xilinx` takes a shift register for it.
#[test]
fn shift_registers_without_enable_or_with_the_other_edge_differ() {
    let dir = folder(squares, "--pipeline 4 --enable");
    let (code, said) = prove(&dir, &shifting_netlist("ce", "clk"));
    assert!(code == 0 && said.contains("latency 4 clocks"), "{said}");
    let (code, said) = prove(&dir, &shifting_netlist("1'h1", "clk"));
    assert!(code == 1 && said.contains("changes although the clock enable is low"), "{said}");
    let (code, said) = prove(&dir, &shifting_netlist("ce", "clk_n"));
    assert!(code == 2 && said.contains("the clock of s0"), "{said}");
}

/// Yosys 0.23 compares words with constant bits by `<=` instead of `<` in `synth_gowin`: the carry into the chain.
#[test]
fn comparisons_with_another_carry_differ() {
    let entry = |i| i32::from(i >> 2 < (i & 3)) * 255;
    let dir = folder(entry, "");
    let netlist = |carry: &str| {
        let outputs: String =
            (0..8).map(|bit| format!("LUT1 #(.INIT(2'h1)) l{bit} (.I0(c[2]), .F(model_out[{bit}]));\n")).collect();
        format!(
            "module top(model_inp, model_out);\ninput [3:0] model_inp; output [7:0] model_out; wire [2:0] c; wire \
             [1:0] s;\n{carry} start (.{}(c[0]));\n\
             ALU #(.ALU_MODE(32'sd1)) a0 (.CIN(c[0]), .COUT(c[1]), .I0(model_inp[2]), .I1(model_inp[0]), .I3(1'h0), \
             .SUM(s[0]));\n\
             ALU #(.ALU_MODE(32'sd1)) a1 (.CIN(c[1]), .COUT(c[2]), .I0(model_inp[3]), .I1(model_inp[1]), .I3(1'h0), \
             .SUM(s[1]));\n{outputs}endmodule\n",
            &carry[..1]
        )
    };
    let (code, said) = prove(&dir, &netlist("VCC"));
    assert!(code == 0 && said.contains("proved: equal"), "{said}");
    let (code, said) = prove(&dir, &netlist("GND"));
    assert!(code == 1 && said.contains("the file gives 255, the model 0"), "{said}");
}

/// ROM in block RAM as Yosys writes it: what no address reads is undefined, and so is the second port.
#[test]
fn undefined_bits_of_roms_matter_only_where_they_are_read() {
    let dir = folder(squares, "--pipeline 1");
    let netlist = |padding: &str, entry: &dyn Fn(i32) -> String| {
        let words: String = (0..16).rev().map(|i| format!("{padding}{}", entry(i))).collect();
        let unused = "x".repeat(64);
        format!(
            "module top(clk, model_inp, model_out);\ninput clk; input [3:0] model_inp; output [7:0] model_out; wire \
             [7:0] open;\n\
             RAMB18E1 #(.INIT_00(256'h{words}), .INIT_01(256'h{unused}), .INITP_00(256'h{unused}), .INIT_A(18'hxxxxx), \
             .SRVAL_A(18'hxxxxx), .RAM_MODE(\"TDP\"), .READ_WIDTH_A(32'd18), .READ_WIDTH_B(32'd0)) rom (\n\
             .ADDRARDADDR({{ 6'h00, model_inp, 4'h0 }}), .ADDRBWRADDR(14'hxxx0), .CLKARDCLK(clk), .CLKBWRCLK(1'h0), \
             .DIADI(16'hxxxx), .ENARDEN(1'h1), .ENBWREN(1'h0), .REGCEAREGCE(1'h0), .REGCEB(1'h0), \
             .RSTRAMARSTRAM(1'h0), .RSTRAMB(1'h0), .RSTREGARSTREG(1'h0), .RSTREGB(1'h0), .WEA(2'h0), .WEBWE(4'h0), \
             .DOADO({{ open, model_out }}));\nendmodule\n"
        )
    };
    let word = |i: i32| format!("{:02x}", squares(i));
    for padding in ["xx", "x7", "00"] {
        let (code, said) = prove(&dir, &netlist(padding, &word));
        assert!(code == 0 && said.contains("latency 1 clock"), "{padding}: {said}");
    }
    for wrong in ["5x", "xx"] {
        let (code, said) = prove(&dir, &netlist("xx", &|i| if i == 9 { wrong.into() } else { word(i) }));
        assert!(matches!(code, 1 | 5), "{wrong}: {said}");
    }
    let (code, said) = prove(&dir, &netlist("xx", &|i| if i == 9 { "5f".into() } else { word(i) }));
    assert!(code == 1 && said.contains("inputs (codes): 9"), "{said}");
}

/// ROM in block RAM whose reset value is undefined where nothing reads the word.
#[test]
fn undefined_reset_values_of_roms_matter_only_where_they_are_read() {
    let dir = folder(squares, "--pipeline 1 --reset sync --reset-data");
    let netlist = |value: &str| {
        let words: String = (0..16).rev().map(|i| format!("00{:02x}", squares(i))).collect();
        format!(
            "module top(clk, rst, model_inp, model_out);\ninput clk, rst; input [3:0] model_inp; output [7:0] \
             model_out; wire [7:0] open;\n\
             RAMB18E1 #(.INIT_00(256'h{words}), .SRVAL_A({value}), .RAM_MODE(\"TDP\"), .READ_WIDTH_A(32'd18)) rom (\n\
             .ADDRARDADDR({{ 6'h00, model_inp, 4'h0 }}), .CLKARDCLK(clk), .ENARDEN(1'h1), .REGCEAREGCE(1'h0), \
             .RSTRAMARSTRAM(rst), .RSTREGARSTREG(1'h0), .WEA(2'h0), .WEBWE(4'h0), .ENBWREN(1'h0), \
             .DOADO({{ open, model_out }}));\nendmodule\n"
        )
    };
    for sound in ["18'h00000", "18'bxxxxxxxxxx00000000", "18'h3ff00"] {
        let (code, said) = prove(&dir, &netlist(sound));
        assert!(code == 0 && said.contains("latency 1 clock"), "{sound}: {said}");
    }
    for wrong in ["18'bxxxxxxxxxxx0000000", "18'h00001"] {
        let (code, said) = prove(&dir, &netlist(wrong));
        assert!(matches!(code, 1 | 5), "{wrong}: {said}");
    }
}

/// A register whose reset value is its power-on value, which is not that of the RTL, and one without reset.
#[test]
fn outputs_after_a_reset_are_those_of_the_rtl() {
    let dir = folder(squares, "--pipeline 1 --reset sync --reset-data --valid");
    let netlist = |set: &str, reset: &str| {
        let mut text =
            "module top(clk, rst, valid_in, valid_out, model_inp, model_out);\ninput clk, rst, valid_in; input \
                        [3:0] model_inp; output valid_out; output [7:0] model_out; wire [7:0] d;\n"
                .to_owned();
        let mut register = |name: &str, d: &str, q: &str, set: &str, reset: &str| {
            writeln!(
                text,
                "TRELLIS_FF #(.REGSET(\"{set}\"), .SRMODE(\"LSR_OVER_CE\")) {name} (.CLK(clk), .CE(1'h1), \
                 .LSR({reset}), .DI({d}), .Q({q}));"
            )
            .unwrap();
        };
        register("v", "valid_in", "valid_out", "RESET", "rst");
        for bit in 0..8 {
            let (set, reset) = if bit == 3 { (set, reset) } else { ("RESET", "rst") };
            register(&format!("r{bit}"), &format!("d[{bit}]"), &format!("model_out[{bit}]"), set, reset);
        }
        for bit in 0..8 {
            writeln!(
                text,
                "LUT4 #(.INIT(16'h{:x})) l{bit} (.A(model_inp[0]), .B(model_inp[1]), .C(model_inp[2]), \
                 .D(model_inp[3]), .Z(d[{bit}]));",
                column(squares, bit)
            )
            .unwrap();
        }
        text + "endmodule\n"
    };
    let (code, said) = prove(&dir, &netlist("RESET", "rst"));
    assert!(code == 0 && said.contains("proved: equal"), "{said}");
    let (code, said) = prove(&dir, &netlist("SET", "rst"));
    assert!(code == 1 && said.contains("after the reset"), "{said}");
    let (code, said) = prove(&dir, &netlist("RESET", "1'h0"));
    assert!(code == 5 && said.contains("after the reset"), "{said}");
}

/// Names of nets are hints: those of other bits of the RTL neither prevent a proof nor replace one.
#[test]
fn names_of_other_bits_decide_nothing() {
    let dir = folder(squares, "");
    let rtl = std::fs::read_to_string(dir.path().join("rtl.v")).unwrap();
    let inner = rtl.lines().find_map(|line| line.trim().strip_prefix("wire [7:0] ")).expect("the table's signal");
    let name = inner.split([';', ' ']).next().unwrap();
    let netlist = |rotation: usize, mutation: u32| {
        let mut text = format!(
            "module top(model_inp, model_out);\ninput [3:0] model_inp; output [7:0] model_out; wire [7:0] {name}; wire \
             \\{name}[99999999999999999999]  = 1'h0;\n"
        );
        for bit in 0..8 {
            let other = (bit as usize + rotation) % 8;
            let init = column(squares, bit) ^ if bit == 6 { mutation } else { 0 };
            writeln!(
                text,
                "LUT4 #(.INIT(16'h{init:x})) l{bit} (.I0(model_inp[0]), .I1(model_inp[1]), .I2(model_inp[2]), \
                 .I3(model_inp[3]), .O({name}[{other}]));\nassign model_out[{bit}] = {name}[{other}];"
            )
            .unwrap();
        }
        text + "endmodule\n"
    };
    for rotation in [0, 1, 5] {
        let (code, said) = prove(&dir, &netlist(rotation, 0));
        assert!(code == 0 && said.contains("proved: equal"), "{rotation}: {said}");
        let (code, said) = prove(&dir, &netlist(rotation, 0x400));
        assert!(code == 1 && said.contains("differs"), "{rotation}: {said}");
    }
}

/// Mutations of a bit of a look-up table, of a reset value and of a register's controls.
#[test]
fn mutated_netlists_differ() {
    let dir = folder(squares, "--pipeline 1 --reset sync --reset-data --enable");
    let good = (0..8).fold(
        "module top(clk, rst, ce, model_inp, model_out);\ninput clk, rst, ce; input [3:0] model_inp; output [7:0] \
         model_out; wire [7:0] d;\n"
            .to_owned(),
        |text, bit| {
            let init = column(squares, bit);
            text + &format!(
                "SB_LUT4 #(.LUT_INIT(16'h{init:04x})) l{bit} (.I0(model_inp[0]), .I1(model_inp[1]), \
                 .I2(model_inp[2]), .I3(model_inp[3]), .O(d[{bit}]));\n\
                 SB_DFFESR r{bit} (.C(clk), .E(en), .R(rst), .D(d[{bit}]), .Q(model_out[{bit}]));\n"
            )
        },
    ) + "wire en; SB_LUT4 #(.LUT_INIT(16'heeee)) e (.I0(ce), .I1(rst), .I2(1'h0), .I3(1'h0), .O(en));\nendmodule\n";
    let (code, said) = prove(&dir, &good);
    assert!(code == 0 && said.contains("proved: equal"), "{said}");
    let mut mutants: Vec<(String, String)> = (0..8)
        .map(|bit| {
            let init = column(squares, bit);
            (format!("16'h{init:04x})) l{bit} "), format!("16'h{:04x})) l{bit} ", init ^ 1 << (bit * 5 % 16)))
        })
        .collect();
    let others = [
        ("SB_DFFESR r3 (.C(clk), .E(en), .R(rst)", "SB_DFFESS r3 (.C(clk), .E(en), .S(rst)"),
        ("r5 (.C(clk), .E(en)", "r5 (.C(clk), .E(~en)"),
        ("r2 (.C(clk), .E(en), .R(rst)", "r2 (.C(clk), .E(en), .R(~rst)"),
        ("16'heeee", "16'h8888"),
    ];
    mutants.extend(others.map(|(from, to)| (from.to_owned(), to.to_owned())));
    for (from, to) in mutants {
        assert!(good.contains(&from), "{from}");
        let (code, said) = prove(&dir, &good.replacen(&from, &to, 1));
        assert!(code == 1 && said.contains("differs"), "{to}: {said}");
    }
    let other_edge = good.replacen("SB_DFFESR r1 (.C(clk)", "SB_DFFNESR r1 (.C(clk)", 1);
    let (code, said) = prove(&dir, &other_edge);
    assert!(code == 2 && said.contains("different clocks"), "{said}");
}

/// Registers of the control that begin with another value: the counter of phases, and the flag of the first phase,
/// without which the sample of the first clock after a reset is lost.
#[test]
fn the_first_clock_after_a_reset_is_that_of_the_rtl() {
    let dir = folder(squares, "--ii 2 --reset sync --valid");
    // Which of `odd`, a counter that is 1 in phase 1, and `even` the reset sets.
    let netlist = |odd: bool, even: bool| {
        let mut text = "module top(clk, rst, valid_in, model_inp, ready, valid_out, model_out);\ninput clk, rst, \
                        valid_in; input [3:0] model_inp; output ready, valid_out; output [7:0] model_out; wire [3:0] \
                        x; wire [7:0] d; wire odd, even, seen, is_seen;\nINV i (.I(odd), .O(ready));\n\
                        LUT2 #(.INIT(4'h8)) l (.I0(odd), .I1(seen), .O(is_seen));\n"
            .to_owned();
        let mut register = |enable: &str, d: &str, q: &str, set: Option<bool>| {
            let (cell, port, init) = match set {
                Some(true) => ("FDSE", "S(rst)", "1"),
                Some(false) => ("FDRE", "R(rst)", "0"),
                None => ("FDRE", "R(1'h0)", "x"),
            };
            let name = q.replace(['[', ']'], "_");
            writeln!(text, "{cell} #(.INIT(1'h{init})) r_{name} (.C(clk), .CE({enable}), .D({d}), .Q({q}), .{port});")
                .unwrap();
        };
        register("1'h1", "ready", "odd", Some(odd));
        register("1'h1", "odd", "even", Some(even));
        register("even", "valid_in", "seen", Some(false));
        register("1'h1", "is_seen", "valid_out", Some(false));
        (0..4).for_each(|bit| register("even", &format!("model_inp[{bit}]"), &format!("x[{bit}]"), None));
        (0..8).for_each(|bit| register("odd", &format!("d[{bit}]"), &format!("model_out[{bit}]"), None));
        for bit in 0..8 {
            let init = column(squares, bit);
            writeln!(
                text,
                "LUT4 #(.INIT(16'h{init:x})) l{bit} (.I0(x[0]), .I1(x[1]), .I2(x[2]), .I3(x[3]), .O(d[{bit}]));"
            )
            .unwrap();
        }
        text + "endmodule\n"
    };
    let (code, said) = prove(&dir, &netlist(false, true));
    assert!(code == 0 && said.contains("proved: equal"), "{said}");
    for even in [false, true] {
        let (code, said) = prove(&dir, &netlist(true, even));
        assert!(code == 1 && said.contains("bit 0 of ready 0 clocks after the reset"), "{said}");
    }
    let (code, said) = prove(&dir, &netlist(false, false));
    assert!(code == 5 && said.contains("accepted 0 clocks after the reset"), "{said}");
    // Without the RTL, which states the interval, it has to be given.
    let alone = |netlist: &str| {
        std::fs::write(dir.path().join("net.v"), netlist).unwrap();
        let options = ["prove", "table.json", "net.v", "--top", "top", "--ii", "2", "--stages", "2"];
        let (code, out, errors) = run(dir.path(), &options);
        (code, out + &errors)
    };
    let (code, said) = alone(&netlist(false, true));
    assert!(code == 0 && said.contains("proved: equal"), "{said}");
    for (odd, even) in [(true, true), (true, false), (false, false)] {
        let (code, said) = alone(&netlist(odd, even));
        assert!(code == 5 && said.contains("after the reset"), "{odd} {even}: {said}");
    }
}

/// `--rtl` with RTL of another model, with the netlist itself, and with the wrapper around the module.
#[test]
fn rtl_that_does_not_help_is_named() {
    let dir = folder(squares, "");
    let mut text = "module top(model_inp, model_out);\ninput [3:0] model_inp; output [7:0] model_out;\n".to_owned();
    for bit in 0..8 {
        // Look-up tables of Yosys itself, as a cell and as an expression.
        let init = column(squares, bit);
        match bit % 2 {
            0 => writeln!(text, "  assign model_out[{bit}] = 16'h{init:x} >> model_inp;"),
            _ => writeln!(
                text,
                "  \\$lut #(.WIDTH(4), .LUT(16'h{init:x})) l{bit} (.A(model_inp), .Y(model_out[{bit}]));"
            ),
        }
        .unwrap();
    }
    text.push_str("endmodule\n");
    let (code, said) = prove(&dir, &text);
    assert!(code == 0 && said.contains("compared with rtl.v"), "{said}");
    let wrong = format!("16'h{:x}", column(squares, 3) ^ 0x80);
    let (code, said) = prove(&dir, &text.replace(&format!("16'h{:x}", column(squares, 3)), &wrong));
    assert!(code == 1 && said.contains("the file gives"), "{said}");
    std::fs::copy(dir.path().join("rtl.v"), dir.path().join("right.v")).unwrap();
    std::fs::write(dir.path().join("rtl.v"), &text).unwrap();
    let (code, said) = prove(&dir, &text);
    assert!(code == 2 && said.contains("rtl.v is a netlist itself"), "{said}");
    // The module of the netlist's name below a wrapper, which is the top of the file.
    let wrapper = "module outer(input [3:0] a, output [7:0] b); top u (.model_inp(a), .model_out(b)); endmodule\n";
    let right = std::fs::read_to_string(dir.path().join("right.v")).unwrap();
    std::fs::write(dir.path().join("rtl.v"), right + wrapper).unwrap();
    let (code, said) = prove(&dir, &text);
    assert!(code == 0 && said.contains("compared with rtl.v"), "{said}");
    let other = folder(|i| squares(i) ^ i32::from(i == 9), "");
    std::fs::copy(other.path().join("rtl.v"), dir.path().join("rtl.v")).unwrap();
    let (code, said) = prove(&dir, &text);
    assert!(code == 0 && said.contains("rtl.v was not used, because it is not proved equal to the model"), "{said}");
}

/// A netlist with logic between its cells is refused for that, not for cells that the RTL reader does not have.
#[test]
fn behaviour_next_to_cells_is_refused_by_its_place() {
    let dir = folder(squares, "");
    let text = "module top(model_inp, model_out);\ninput [3:0] model_inp; output [7:0] model_out;\n\
                assign model_out[7:1] = model_inp[3:0] & model_inp[2:0];\n\
                LUT1 #(.INIT(2'h1)) u (.I0(model_inp[0]), .O(model_out[0]));\nendmodule\n";
    std::fs::write(dir.path().join("net.v"), text).unwrap();
    for options in [&["--rtl", "rtl.v"][..], &[]] {
        let command = [&["prove", "table.json", "net.v"][..], options].concat();
        let (code, out, errors) = run(dir.path(), &command);
        let said = out + &errors;
        let is_named = said.contains("an operator in a netlist") && said.contains("line 3") && said.contains("LUT1");
        assert!(code == 2 && is_named, "{said}");
    }
}

/// State machine whose netlist is compared with generated or given RTL, from the power-on values on.
#[test]
fn netlists_of_state_machines_are_compared_with_rtl() {
    let dir = tempfile::tempdir().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/fsm/select_hold/fsm.json.gz");
    std::fs::copy(model, dir.path().join("fsm.json.gz")).unwrap();
    let (code, _, errors) = run(dir.path(), &["fsm.json.gz", "--verilog", "rtl.v"]);
    assert_eq!(code, 0, "{errors}");
    let mut good = "module top(clk, a, sel, b, en, y, z);\ninput clk, sel, en; input [7:0] a; input [5:0] b; output \
                    [8:0] y, z; wire [8:0] d;\n"
        .to_owned();
    for bit in 0..9 {
        let b = if (1..7).contains(&bit) { format!("b[{}]", bit - 1) } else { "1'h0".to_owned() };
        for (name, select, out) in [("l", "sel", "y"), ("m", "en", "d")] {
            let a = bit.min(7);
            writeln!(
                good,
                "LUT3 #(.INIT(8'hac)) {name}{bit} (.I0(a[{a}]), .I1({b}), .I2({select}), .O({out}[{bit}]));"
            )
            .unwrap();
        }
        let init = 0x1f3 >> bit & 1;
        writeln!(good, "FDRE #(.INIT(1'h{init})) r{bit} (.C(clk), .CE(1'h1), .R(1'h0), .D(d[{bit}]), .Q(z[{bit}]));")
            .unwrap();
    }
    good += "endmodule\n";
    let prove = |netlist: &str, more: &[&str]| {
        std::fs::write(dir.path().join("net.v"), netlist).unwrap();
        let (code, out, errors) = run(dir.path(), &[&["prove", "fsm.json.gz", "net.v"], more].concat());
        (code, out + &errors)
    };
    let (code, said) = prove(&good, &[]);
    assert!(code == 0 && said.contains("compared with generated RTL, which was proved equal"), "{said}");
    let (code, said) = prove(&good, &["--rtl", "rtl.v"]);
    assert!(code == 0 && said.contains("compared with rtl.v, which was proved equal"), "{said}");
    let changes = [
        ("8'hac)) l4", "8'hbc)) l4"),
        ("8'hac)) m8", "8'hca)) m8"),
        ("INIT(1'h0)) r2", "INIT(1'h1)) r2"),
        ("INIT(1'h1)) r6", "INIT(1'hx)) r6"),
        ("FDRE #(.INIT(1'h1)) r5", "FDSE #(.INIT(1'h1)) r5"),
    ];
    for (from, to) in changes {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let text = if to.starts_with("FDSE") {
            text.replacen("r5 (.C(clk), .CE(1'h1), .R(", "r5 (.C(clk), .CE(1'h1), .S(~", 1)
        } else {
            text
        };
        for more in [&[][..], &["--rtl", "rtl.v"]] {
            let (code, said) = prove(&text, more);
            assert!(code == 1 && said.contains("the machine says"), "{to}: {said}");
        }
    }
    // Wrong RTL is no hint; the netlist is proved without it.
    let rtl = std::fs::read_to_string(dir.path().join("rtl.v")).unwrap();
    std::fs::write(dir.path().join("wrong.v"), rtl.replace("sel_in ?", "!sel_in ?")).unwrap();
    let (code, said) = prove(&good, &["--rtl", "wrong.v"]);
    assert!(code == 0 && said.contains("wrong.v was not used: it was not proved to behave as the machine"), "{said}");
}
