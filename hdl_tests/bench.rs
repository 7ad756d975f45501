//! The testbenches themselves, on modules written by hand: right ones pass, and each way of being wrong is found.

use crate::harness::{self, Design, STANDARDS, simulate, simulators};
use alir2hdl::emit::Language;
use alir2hdl::netlist::{Element, Interface};
use alir2hdl::num::{Kif, wrap};
use alir2hdl::verify::{Cycles, Difference, Mismatch, Report, Rows, Vectors};
use num_bigint::BigInt;

fn element(port: &str, lsb: u32, width: u32, signed: bool, name: &str) -> Element {
    Element { port: port.into(), lsb, width, signed, fractionals: 0, name: name.into(), beat: 0 }
}

/// Two inputs of 5 (signed) and 70 bits; two outputs: their sum in 71 signed bits, and the first one's complement.
fn interface(latency: u32) -> Interface {
    Interface {
        top: "adder".into(),
        latency,
        initiation_interval: 1,
        input_hold: 1,
        input_beats: 1,
        clock: (latency > 0).then(|| "clk".into()),
        reset: None,
        reset_active_high: true,
        reset_async: false,
        enable: None,
        valid: None,
        ready: None,
        stateful: false,
        inputs: vec![element("model_inp", 0, 5, true, "inp[0]"), element("model_inp", 5, 70, false, "inp[1]")],
        outputs: vec![element("model_out", 0, 71, true, "out[0]"), element("model_out", 71, 5, true, "out[1]")],
    }
}

fn vectors(count: u32) -> Vectors {
    let sum = Kif { signed: true, int: 70, frac: 0 };
    let second = |i: u32| (BigInt::from(i) * 0x1234_5678_9abc_def1_u64 * 77u32) % (BigInt::from(1) << 70u32);
    let inputs: Vec<Vec<BigInt>> = (0..count).map(|i| vec![BigInt::from(i % 32) - 16, second(i)]).collect();
    let outputs: Vec<Vec<BigInt>> = inputs.iter().map(|r| vec![wrap(&(&r[0] + &r[1]), sum), -&r[0] - 1]).collect();
    Vectors { inputs: Rows::new(2, inputs), outputs: Rows::new(2, outputs) }
}

const SUM: &str = "{{66{model_inp[4]}}, model_inp[4:0]} + {1'b0, model_inp[74:5]}";
const SUM_VHDL: &str = "std_logic_vector(unsigned(resize(signed(model_inp(4 downto 0)), 71)) + \
                        resize(unsigned(model_inp(74 downto 5)), 71))";

fn verilog(ports: &str, body: &str) -> Design {
    let text = format!(
        "module adder({ports}input wire [74:0] model_inp, output wire [75:0] model_out);\n\
         wire [70:0] sum = {SUM};\nwire [75:0] d = {{~model_inp[4:0], sum}};\n{body}\nendmodule\n"
    );
    vec![("design.v".into(), text.into_bytes())]
}

fn vhdl(ports: &str, signals: &str, body: &str) -> Design {
    let text = format!(
        "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n\
         entity adder is port ({ports}model_inp : in std_logic_vector(74 downto 0);\n\
         model_out : out std_logic_vector(75 downto 0)); end entity;\n\
         architecture rtl of adder is signal d : std_logic_vector(75 downto 0); {signals}\n\
         begin d <= (not model_inp(4 downto 0)) & {SUM_VHDL};\n{body}\nend architecture;\n"
    );
    vec![("design.vhd".into(), text.into_bytes())]
}

/// Returns the report of each simulator of both languages about the same behaviour.
fn reports(verilog: &Design, vhdl: &Design, lanes: &[Cycles]) -> Vec<(String, Report)> {
    let mut all = Vec::new();
    for ((language, standards), design) in STANDARDS.into_iter().zip([verilog, vhdl]) {
        for simulator in simulators(language) {
            for standard in standards {
                let report = simulate(simulator, language, standard, design, lanes);
                all.push((format!("{} {standard}", simulator.name()), report.unwrap_or_else(|e| panic!("{e}"))));
            }
        }
    }
    all
}

fn assert_clean(reports: &[(String, Report)], lanes: &[Cycles]) {
    for (name, report) in reports {
        harness::assert_clean(name, report, lanes);
    }
}

#[test]
fn sim_combinational_module_passes() {
    let lanes = [Cycles::plan(&interface(0), &vectors(50), 1)];
    let good = reports(&verilog("", "assign model_out = d;"), &vhdl("", "", "model_out <= d;"), &lanes);
    assert_clean(&good, &lanes);
}

#[test]
fn sim_a_wrong_bit_is_found_with_element_sample_and_values() {
    // The lowest bit of the second element is inverted whenever the first input is 3 (sample 19).
    let bad_verilog = verilog("", "assign model_out = d ^ {4'b0, model_inp[4:0] == 5'd3, 71'b0};");
    let bad_vhdl = vhdl(
        "",
        "",
        "model_out <= d(75 downto 72) & (not d(71)) & d(70 downto 0) when model_inp(4 downto 0) = \"00011\" else d;",
    );
    let lanes = [Cycles::plan(&interface(0), &vectors(40), 1)];
    for (name, report) in reports(&bad_verilog, &bad_vhdl, &lanes) {
        assert_eq!((report.wrong_rows, report.mismatches.len()), (1, 1), "{name}");
        let what = &report.mismatches[0].what;
        let Difference::Output { element, sample, expected, found, .. } = what else { panic!("{name}: {what:?}") };
        assert_eq!((*element, *sample), (1, Some(19)), "{name}");
        assert_eq!((expected, found.as_ref()), (&BigInt::from(-4), Some(&BigInt::from(-3))), "{name}");
    }
}

#[test]
fn sim_undriven_outputs_are_unknown_not_equal() {
    let lanes = [Cycles::plan(&interface(0), &vectors(3), 1)];
    let bad_verilog = verilog("", "assign model_out[70:0] = d[70:0];");
    let bad_vhdl = vhdl("", "", "model_out(70 downto 0) <= d(70 downto 0);");
    for (name, report) in reports(&bad_verilog, &bad_vhdl, &lanes) {
        assert_eq!(report.wrong_rows, 3, "{name}");
        let found = |m: &Mismatch| match &m.what {
            Difference::Output { element, found, .. } => (*element, found.is_some()),
            Difference::Valid { .. } | Difference::Stream(_) => panic!("there is neither valid flag nor stream"),
        };
        // Verilator has two values only.
        let known = name.starts_with("verilator");
        assert!(report.mismatches.iter().all(|m| found(m) == (1, known)), "{name}: {:?}", report.mismatches);
    }
}

/// A pipeline of two registers with every control signal.
fn controlled(reset_async: bool, active_high: bool) -> Interface {
    Interface {
        reset: Some("rst".into()),
        reset_async,
        reset_active_high: active_high,
        enable: Some("ce".into()),
        valid: Some(("valid_in".into(), "valid_out".into())),
        ..interface(2)
    }
}

fn controlled_verilog(reset_async: bool, active_high: bool, mistake: bool) -> Design {
    let level = if active_high { "rst" } else { "!rst" };
    let edge = match (reset_async, active_high) {
        (false, _) => "",
        (true, true) => " or posedge rst",
        (true, false) => " or negedge rst",
    };
    // The mistake: one of the flags goes on while the pipeline is held.
    let flags =
        if mistake { "v2 <= v1; if (ce) v1 <= valid_in;" } else { "if (ce) begin v1 <= valid_in; v2 <= v1; end" };
    verilog(
        "input wire clk, input wire rst, input wire ce, input wire valid_in, output wire valid_out, ",
        &format!(
            "reg [75:0] r1, r2; reg v1, v2;\n\
             always @(posedge clk) if (ce) begin r1 <= d; r2 <= r1; end\n\
             always @(posedge clk{edge}) if ({level}) begin v1 <= 0; v2 <= 0; end else begin {flags} end\n\
             assign model_out = r2; assign valid_out = v2;"
        ),
    )
}

fn controlled_vhdl(reset_async: bool, active_high: bool, mistake: bool) -> Design {
    let level = if active_high { "rst = '1'" } else { "rst = '0'" };
    let flags = if mistake {
        "v2 <= v1; if ce = '1' then v1 <= valid_in; end if;"
    } else {
        "if ce = '1' then v1 <= valid_in; v2 <= v1; end if;"
    };
    let process = if reset_async {
        format!(
            "process (clk, rst) begin if {level} then v1 <= '0'; v2 <= '0'; \
             elsif rising_edge(clk) then {flags} end if; end process;"
        )
    } else {
        format!(
            "process (clk) begin if rising_edge(clk) then if {level} then v1 <= '0'; v2 <= '0'; \
             else {flags} end if; end if; end process;"
        )
    };
    vhdl(
        "clk, rst, ce, valid_in : in std_logic; valid_out : out std_logic; ",
        "signal r1, r2 : std_logic_vector(75 downto 0); signal v1, v2 : std_logic;",
        &format!(
            "process (clk) begin if rising_edge(clk) then if ce = '1' then r1 <= d; r2 <= r1; end if; end if; \
             end process;\n{process}\nmodel_out <= r2; valid_out <= v2;"
        ),
    )
}

#[test]
fn sim_controls_hold_under_random_stalls() {
    for (reset_async, active_high) in [(false, true), (false, false), (true, true), (true, false)] {
        let lanes = [Cycles::plan(&controlled(reset_async, active_high), &vectors(300), 7)];
        let good = reports(
            &controlled_verilog(reset_async, active_high, false),
            &controlled_vhdl(reset_async, active_high, false),
            &lanes,
        );
        assert_clean(&good, &lanes);
    }
}

#[test]
fn sim_mistakes_of_control_are_found() {
    let wrong = |asked: (bool, bool), built: (bool, bool), mistake: bool| {
        let lanes = [Cycles::plan(&controlled(asked.0, asked.1), &vectors(300), 7)];
        let found = reports(
            &controlled_verilog(built.0, built.1, mistake),
            &controlled_vhdl(built.0, built.1, mistake),
            &lanes,
        );
        for (name, report) in found {
            assert!(report.wrong_rows > 0, "{name}: asked {asked:?}, built {built:?}, mistake {mistake}");
        }
    };
    wrong((false, true), (false, true), true);
    // Asynchronous built as synchronous and the reverse, and the wrong polarity.
    wrong((true, true), (false, true), false);
    wrong((false, true), (true, true), false);
    wrong((false, true), (false, false), false);
}

#[test]
fn sim_a_latency_that_is_not_the_stated_one_is_found() {
    let two = verilog(
        "input wire clk, ",
        "reg [75:0] r1, r2; always @(posedge clk) begin r1 <= d; r2 <= r1; end assign model_out = r2;",
    );
    let two_vhdl = vhdl(
        "clk : in std_logic; ",
        "signal r1, r2 : std_logic_vector(75 downto 0);",
        "process (clk) begin if rising_edge(clk) then r1 <= d; r2 <= r1; end if; end process; model_out <= r2;",
    );
    let right = [Cycles::plan(&interface(2), &vectors(20), 1)];
    assert_clean(&reports(&two, &two_vhdl, &right), &right);
    let wrong = [Cycles::plan(&Interface { latency: 3, ..interface(2) }, &vectors(20), 1)];
    for (name, report) in reports(&two, &two_vhdl, &wrong) {
        assert_eq!(report.wrong_rows, 20, "{name}");
    }
}

#[test]
fn sim_lanes_are_independent() {
    let (first, second) = (Interface { top: "first".into(), ..interface(0) }, interface(0));
    let lanes = [Cycles::plan(&first, &vectors(30), 1), Cycles::plan(&second, &vectors(10), 1)];
    let rename = |design: Design| -> Design {
        let renamed = |text: Vec<u8>| String::from_utf8(text).unwrap().replace("adder", "first").into_bytes();
        design.into_iter().map(|(name, text)| (format!("first_{name}"), renamed(text))).collect()
    };
    let good = verilog("", "assign model_out = d;");
    let bad = rename(verilog("", "assign model_out = ~d;"));
    let good_vhdl = vhdl("", "", "model_out <= d;");
    let bad_vhdl = rename(vhdl("", "", "model_out <= not d;"));
    for (name, report) in reports(&[good, bad].concat(), &[good_vhdl, bad_vhdl].concat(), &lanes) {
        assert_eq!(report.wrong_rows, 30, "{name}");
        assert!(report.mismatches.iter().all(|m| m.lane == 0), "{name}");
        // Twenty rows are shown, each with both elements.
        assert_eq!(report.mismatches.len(), 40, "{name}");
    }
}

#[test]
fn sim_text_that_no_compiler_accepts_is_an_error_with_its_log() {
    let lanes = [Cycles::plan(&interface(0), &vectors(3), 1)];
    let designs = [(Language::Verilog, verilog("", "nonsense")), (Language::Vhdl, vhdl("", "", "nonsense"))];
    for (language, design) in designs {
        for simulator in simulators(language) {
            let error = simulate(simulator, language, "93", &design, &lanes).unwrap_err().to_string();
            assert!(error.contains("rejected the generated RTL") && error.contains("design."), "{error}");
        }
    }
}
