//! Cell libraries against an independent description: the simulation models of the installed Yosys, in Icarus Verilog.

use crate::gates::run;
use crate::harness::skip;
use alir_testing::random::SplitMix;
use alir_testing::tools::tool;
use alir2hdl::rtl::netlist::{CellFamily, GENERIC_CELLS};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Random inputs for each cell.
const STEPS: usize = 400;

/// Cell: name, parameters (`?n` for a random value of n bits, each time another one), the clock and the other inputs,
/// outputs, with `:n` for n bits.
type Cell = (&'static str, &'static str, &'static str, &'static str);

const XILINX: &[Cell] = &[
    ("LUT1", "INIT=?2", "I0", "O"),
    ("LUT2", "INIT=?4", "I0 I1", "O"),
    ("LUT3", "INIT=?8", "I0 I1 I2", "O"),
    ("LUT4", "INIT=?16", "I0 I1 I2 I3", "O"),
    ("LUT5", "INIT=?32", "I0 I1 I2 I3 I4", "O"),
    ("LUT6", "INIT=?64", "I0 I1 I2 I3 I4 I5", "O"),
    ("LUT6_2", "INIT=?64", "I0 I1 I2 I3 I4 I5", "O5 O6"),
    ("MUXF7", "", "I0 I1 S", "O"),
    ("MUXF8", "", "I0 I1 S", "O"),
    ("MUXF9", "", "I0 I1 S", "O"),
    ("MUXCY", "", "CI DI S", "O"),
    ("XORCY", "", "CI LI", "O"),
    ("CARRY4", "", "CI CYINIT DI:4 S:4", "O:4 CO:4"),
    ("CARRY8", "", "CI DI:8 S:8", "O:8 CO:8"),
    ("INV", "", "I", "O"),
    ("FDRE", "INIT=?1 IS_C_INVERTED=?1 IS_D_INVERTED=?1 IS_R_INVERTED=?1", "C@ CE D R", "Q"),
    ("FDSE", "INIT=?1 IS_C_INVERTED=?1 IS_D_INVERTED=?1 IS_S_INVERTED=?1", "C@ CE D S", "Q"),
    ("FDCE", "INIT=?1 IS_C_INVERTED=?1 IS_D_INVERTED=?1 IS_CLR_INVERTED=?1", "C@ CE D CLR", "Q"),
    ("FDPE", "INIT=?1 IS_C_INVERTED=?1 IS_D_INVERTED=?1 IS_PRE_INVERTED=?1", "C@ CE D PRE", "Q"),
    ("SRL16E", "INIT=?16 IS_CLK_INVERTED=?1", "CLK@ CE D A0 A1 A2 A3", "Q"),
    ("SRLC16E", "INIT=?16 IS_CLK_INVERTED=?1", "CLK@ CE D A0 A1 A2 A3", "Q Q15"),
    ("SRLC32E", "INIT=?32 IS_CLK_INVERTED=?1", "CLK@ CE D A:5", "Q Q31"),
];

const ECP5: &[Cell] = &[
    ("LUT2", "INIT=?4", "A B", "Z"),
    ("LUT4", "INIT=?16", "A B C D", "Z"),
    ("PFUMX", "", "ALUT BLUT C0", "Z"),
    ("L6MUX21", "", "D0 D1 SD", "Z"),
    ("INV", "", "A", "Z"),
    ("CCU2C", "INIT0=?16 INIT1=?16 INJECT1_0=\"NO\" INJECT1_1=\"NO\"", "CIN A0 B0 C0 D0 A1 B1 C1 D1", "S0 S1 COUT"),
    ("CCU2C", "INIT0=?16 INIT1=?16 INJECT1_0=\"YES\" INJECT1_1=\"NO\"", "CIN A0 B0 C0 D0 A1 B1 C1 D1", "S0 S1 COUT"),
    ("TRELLIS_FF", "CEMUX=\"CE\" REGSET=\"SET\"", "CLK@ LSR CE DI M", "Q"),
    ("TRELLIS_FF", "CEMUX=\"INV\" LSRMUX=\"INV\"", "CLK@ LSR CE DI M", "Q"),
    ("TRELLIS_FF", "CEMUX=\"1\" SRMODE=\"ASYNC\"", "CLK@ LSR CE DI M", "Q"),
    ("TRELLIS_FF", "CEMUX=\"CE\" SRMODE=\"ASYNC\" REGSET=\"SET\" LSRMUX=\"INV\"", "CLK@ LSR CE DI M", "Q"),
];

const ICE40: &[Cell] = &[
    ("SB_LUT4", "LUT_INIT=?16", "I0 I1 I2 I3", "O"),
    ("SB_CARRY", "", "I0 I1 CI", "CO"),
    ("SB_DFF", "", "C@ D", "Q"),
    ("SB_DFFE", "", "C@ E D", "Q"),
    ("SB_DFFSR", "", "C@ R D", "Q"),
    ("SB_DFFR", "", "C@ R D", "Q"),
    ("SB_DFFSS", "", "C@ S D", "Q"),
    ("SB_DFFS", "", "C@ S D", "Q"),
    ("SB_DFFESR", "", "C@ E R D", "Q"),
    ("SB_DFFER", "", "C@ E R D", "Q"),
    ("SB_DFFESS", "", "C@ E S D", "Q"),
    ("SB_DFFES", "", "C@ E S D", "Q"),
    ("SB_DFFN", "", "C@ D", "Q"),
    ("SB_DFFNESR", "", "C@ E R D", "Q"),
    ("SB_DFFNES", "", "C@ E S D", "Q"),
    ("ICESTORM_LC", "LUT_INIT=?16 CARRY_ENABLE=1", "I0 I1 I2 I3 CIN CLK@ CEN SR", "LO O COUT"),
    (
        "ICESTORM_LC",
        "LUT_INIT=?16 DFF_ENABLE=1 SET_NORESET=?1 ASYNC_SR=?1 NEG_CLK=?1",
        "I0 I1 I2 I3 CIN CLK@ CEN SR",
        "LO O",
    ),
    ("SB_RAM40_4K", "READ_MODE=0 INIT_0=?256 INIT_F=?256", "RCLK@ RCLKE RE RADDR:11 WE=0 WCLKE=0 WCLK=0", "RDATA:16"),
    ("SB_RAM40_4K", "READ_MODE=1 INIT_0=?256 INIT_F=?256", "RCLK@ RCLKE RE RADDR:11 WE=0 WCLKE=0 WCLK=0", "RDATA:16"),
    ("SB_RAM40_4K", "READ_MODE=2 INIT_0=?256 INIT_F=?256", "RCLK@ RCLKE RE RADDR:11 WE=0 WCLKE=0 WCLK=0", "RDATA:16"),
    ("SB_RAM40_4K", "READ_MODE=3 INIT_0=?256 INIT_F=?256", "RCLK@ RCLKE RE RADDR:11 WE=0 WCLKE=0 WCLK=0", "RDATA:16"),
    (
        "SB_MAC16",
        "TOPOUTPUT_SELECT=3 BOTOUTPUT_SELECT=3 A_SIGNED=?1 B_SIGNED=?1 A_REG=?1 B_REG=?1 PIPELINE_16x16_MULT_REG2=?1",
        "CLK@ CE A:16 B:16 AHOLD BHOLD IRSTTOP=0 IRSTBOT=0",
        "O:32",
    ),
    (
        "SB_MAC16",
        "TOPOUTPUT_SELECT=?1 BOTOUTPUT_SELECT=?1 A_SIGNED=?1 B_SIGNED=?1 A_REG=?1 C_REG=?1 D_REG=?1 \
         TOPADDSUB_LOWERINPUT=2 BOTADDSUB_LOWERINPUT=2 TOPADDSUB_UPPERINPUT=1 BOTADDSUB_UPPERINPUT=1 \
         TOPADDSUB_CARRYSELECT=3",
        SB_MAC16_INPUTS,
        "O:32 CO ACCUMCO",
    ),
    (
        "SB_MAC16",
        "TOPOUTPUT_SELECT=1 BOTOUTPUT_SELECT=?1 BOTADDSUB_CARRYSELECT=?1 TOPADDSUB_CARRYSELECT=2 \
         TOPADDSUB_UPPERINPUT=?1 BOTADDSUB_UPPERINPUT=?1 PIPELINE_16x16_MULT_REG2=?1",
        SB_MAC16_INPUTS,
        "O:32 CO ACCUMCO",
    ),
    (
        "SB_MAC16",
        "TOPOUTPUT_SELECT=1 BOTOUTPUT_SELECT=1 BOTADDSUB_CARRYSELECT=3 TOPADDSUB_CARRYSELECT=?1 B_SIGNED=1 \
         TOPADDSUB_LOWERINPUT=2 BOTADDSUB_LOWERINPUT=2",
        SB_MAC16_INPUTS,
        "O:32 CO ACCUMCO",
    ),
];

/// Inputs of the multiplier of iCE40 with its adders.
const SB_MAC16_INPUTS: &str = "CLK@ CE A:16 B:16 C:16 D:16 CI AHOLD BHOLD CHOLD DHOLD OHOLDTOP OHOLDBOT OLOADTOP \
                               OLOADBOT ADDSUBTOP ADDSUBBOT ORSTTOP ORSTBOT IRSTTOP=0 IRSTBOT=0";

const GOWIN: &[Cell] = &[
    ("LUT1", "INIT=?2", "I0", "F"),
    ("LUT2", "INIT=?4", "I0 I1", "F"),
    ("LUT3", "INIT=?8", "I0 I1 I2", "F"),
    ("LUT4", "INIT=?16", "I0 I1 I2 I3", "F"),
    ("MUX2_LUT5", "", "I0 I1 S0", "O"),
    ("MUX2_LUT8", "", "I0 I1 S0", "O"),
    ("ALU", "ALU_MODE=0", "I0 I1 I3 CIN", "SUM COUT"),
    ("ALU", "ALU_MODE=1", "I0 I1 I3 CIN", "SUM COUT"),
    ("ALU", "ALU_MODE=2", "I0 I1 I3 CIN", "SUM COUT"),
    ("ALU", "ALU_MODE=3", "I0 I1 I3 CIN", "SUM COUT"),
    ("ALU", "ALU_MODE=4", "I0 I1 I3 CIN", "SUM COUT"),
    ("ALU", "ALU_MODE=5", "I0 I1 I3 CIN", "SUM COUT"),
    ("ALU", "ALU_MODE=6", "I0 I1 I3 CIN", "SUM COUT"),
    ("ALU", "ALU_MODE=7", "I0 I1 I3 CIN", "SUM COUT"),
    ("ALU", "ALU_MODE=8", "I0 I1 I3 CIN", "SUM COUT"),
    ("ALU", "ALU_MODE=9", "I0 I1 I3 CIN", "SUM COUT"),
    ("DFF", "INIT=?1", "CLK@ D", "Q"),
    ("DFFE", "INIT=?1", "CLK@ CE D", "Q"),
    ("DFFS", "", "CLK@ D SET", "Q"),
    ("DFFSE", "", "CLK@ D CE SET", "Q"),
    ("DFFR", "", "CLK@ D RESET", "Q"),
    ("DFFRE", "", "CLK@ D CE RESET", "Q"),
    ("DFFP", "", "CLK@ D PRESET", "Q"),
    ("DFFPE", "", "CLK@ D CE PRESET", "Q"),
    ("DFFC", "", "CLK@ D CLEAR", "Q"),
    ("DFFCE", "", "CLK@ D CE CLEAR", "Q"),
    ("DFFNRE", "", "CLK@ D CE RESET", "Q"),
    ("DFFNPE", "", "CLK@ D CE PRESET", "Q"),
];

const INTEL: &[Cell] = &[
    ("MISTRAL_ALUT2", "LUT=?4", "A B", "Q"),
    ("MISTRAL_ALUT3", "LUT=?8", "A B C", "Q"),
    ("MISTRAL_ALUT4", "LUT=?16", "A B C D", "Q"),
    ("MISTRAL_ALUT5", "LUT=?32", "A B C D E", "Q"),
    ("MISTRAL_ALUT6", "LUT=?64", "A B C D E F", "Q"),
    ("MISTRAL_NOT", "", "A", "Q"),
    ("MISTRAL_ALUT_ARITH", "LUT0=?16 LUT1=?16", "A B C D0 D1 CI", "SO CO"),
    ("MISTRAL_FF", "", "DATAIN CLK@ ACLR ENA SCLR SLOAD SDATA", "Q"),
];

/// Text of a library with other names of its modules.
fn renamed(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("module ") {
        Some(name) if name.starts_with('\\') => format!("module \\our_{}", &name[1..]),
        Some(name) => format!("module our_{name}"),
        None => line.to_owned(),
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// Test bench that compares our cells with those of Yosys for random inputs.
fn bench(cells: &[Cell]) -> String {
    let mut random = SplitMix::new(7);
    let mut hex = |bits: u32| {
        let digits: String = (0..bits.div_ceil(4)).map(|_| format!("{:x}", random.word() & 15)).collect();
        format!("{bits}'h{digits}")
    };
    let (mut out, mut checks, mut draws) =
        ("module bench;\n    reg clk = 0;\n    integer step, bad = 0;\n".to_owned(), String::new(), String::new());
    for (n, &(name, params, inputs, outputs)) in cells.iter().flat_map(|cell| [cell, cell, cell]).enumerate() {
        let port = |text: &str| {
            text.split_once(':').map_or((text.to_owned(), 1), |(name, width)| (name.to_owned(), width.parse().unwrap()))
        };
        let params: Vec<String> = params
            .split_whitespace()
            .map(|param| {
                let (name, value) = param.split_once('=').unwrap();
                format!(
                    ".{name}({})",
                    value.strip_prefix('?').map_or_else(|| value.to_owned(), |bits| hex(bits.parse().unwrap()))
                )
            })
            .collect();
        let mut pins = Vec::new();
        for input in inputs.split_whitespace() {
            if let Some(clock) = input.strip_suffix('@') {
                pins.push(format!(".{clock}(clk)"));
            } else if let Some((name, value)) = input.split_once('=') {
                pins.push(format!(".{name}({value})"));
            } else {
                let (name, width) = port(input);
                let _ = writeln!(out, "    reg [{}:0] i{n}_{name} = 0;", width - 1);
                let _ = writeln!(draws, "        i{n}_{name} = {{$random(seed), $random(seed)}};");
                pins.push(format!(".{name}(i{n}_{name})"));
            }
        }
        for side in ["", "our_"] {
            let mut own = pins.clone();
            for output in outputs.split_whitespace() {
                let (name, width) = port(output);
                let _ = writeln!(out, "    wire [{}:0] {side}o{n}_{name};", width - 1);
                own.push(format!(".{name}({side}o{n}_{name})"));
            }
            let given = if params.is_empty() { String::new() } else { format!(" #({})", params.join(", ")) };
            let kind = if name.starts_with('$') { format!("\\{side}{name} ") } else { format!("{side}{name}") };
            let _ = writeln!(out, "    {kind}{given} {side}u{n} ({});", own.join(", "));
        }
        for output in outputs.split_whitespace() {
            let (pin, _) = port(output);
            let _ = writeln!(
                checks,
                "        if (^o{n}_{pin} !== 1'bx && o{n}_{pin} !== our_o{n}_{pin}) begin bad = bad + 1; \
                 if (bad < 20) $display(\"{name} {n} {pin} step %0d: %h, ours %h\", step, o{n}_{pin}, \
                 our_o{n}_{pin}); end"
            );
        }
    }
    let _ = write!(
        out,
        "    integer seed = 3;\n    task compare; begin\n{checks}    end endtask\n    initial begin\n        #1 step \
         = 0;\n        \
         for (step = 0; step < {STEPS}; step = step + 1) begin\n{draws}        #1 compare; clk = 1; #1 compare; clk = \
         0; #1 compare;\n        end\n        \
         $display(\"bad %0d\", bad);\n    end\nendmodule\n"
    );
    out
}

/// Compares a library, where Icarus and Yosys' cells are installed.
fn compare(family: CellFamily, files: &[&str], cells: &[Cell]) {
    compare_text((family.name(), family.text()), files, cells);
}

/// Compares a library of this name and text, where Icarus and Yosys' cells are installed.
fn compare_text((library, text): (&str, &str), files: &[&str], cells: &[Cell]) {
    let (Some(yosys), Some(_)) = (tool("yosys"), tool("iverilog")) else { return };
    let share: PathBuf = yosys.parent().and_then(Path::parent).map(|prefix| prefix.join("share/yosys")).unwrap();
    let models: Vec<String> = files.iter().map(|file| share.join(file).display().to_string()).collect();
    if !models.iter().all(|file| Path::new(file).is_file()) {
        return skip("yosys", "its cell models are not where they should be");
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("ours.v"), renamed(text)).unwrap();
    std::fs::write(dir.path().join("bench.v"), bench(cells)).unwrap();
    let mut args =
        vec!["-g2012", "-DNO_ICE40_DEFAULT_ASSIGNMENTS", "-s", "bench", "-o", "bench.vvp", "bench.v", "ours.v"];
    args.extend(models.iter().map(String::as_str));
    let made = run(dir.path(), "iverilog", &args).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let said = run(dir.path(), "vvp", &["-n", "bench.vvp"]).unwrap();
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(said.trim_end().ends_with("bad 0"), "{library}: {said}");
}

#[test]
fn generic_cells_are_those_of_yosys() {
    let leaked = |text: String| -> &'static str { text.leak() };
    let mut cells: Vec<Cell> = vec![
        ("$lut", "WIDTH=1 LUT=?2", "A", "Y"),
        ("$lut", "WIDTH=4 LUT=?16", "A:4", "Y"),
        ("$_BUF_", "", "A", "Y"),
        ("$_NOT_", "", "A", "Y"),
        ("$_MUX_", "", "A B S", "Y"),
        ("$_NMUX_", "", "A B S", "Y"),
        ("$_AOI3_", "", "A B C", "Y"),
        ("$_OAI3_", "", "A B C", "Y"),
        ("$_AOI4_", "", "A B C D", "Y"),
        ("$_OAI4_", "", "A B C D", "Y"),
        ("$_MUX4_", "", "A B C D S T", "Y"),
        ("$_DFF_P_", "", "C@ D", "Q"),
        ("$_DFF_N_", "", "C@ D", "Q"),
    ];
    let gates = ["AND", "NAND", "OR", "NOR", "XOR", "XNOR", "ANDNOT", "ORNOT"];
    cells.extend(gates.map(|gate| -> Cell { (leaked(format!("$_{gate}_")), "", "A B", "Y") }));
    for n in 0..16 {
        let level = |bit: u32| if n >> bit & 1 == 0 { 'P' } else { 'N' };
        let (clock, reset, value, enable) = (level(0), level(1), n >> 2 & 1, level(3));
        cells.push((leaked(format!("$_DFFE_{clock}{enable}_")), "", "C@ D E", "Q"));
        for kind in ["DFF", "SDFF"] {
            cells.push((leaked(format!("$_{kind}_{clock}{reset}{value}_")), "", "C@ D R", "Q"));
        }
        for kind in ["DFFE", "SDFFE", "SDFFCE"] {
            cells.push((leaked(format!("$_{kind}_{clock}{reset}{value}{enable}_")), "", "C@ D E R", "Q"));
        }
    }
    compare_text(("generic", GENERIC_CELLS), &["simcells.v", "simlib.v"], &cells);
}

#[test]
fn xilinx_cells_are_those_of_yosys() {
    compare(CellFamily::Xilinx, &["xilinx/cells_sim.v"], XILINX);
}

#[test]
fn ecp5_cells_are_those_of_yosys() {
    compare(CellFamily::Ecp5, &["ecp5/cells_sim.v"], ECP5);
}

#[test]
fn ice40_cells_are_those_of_yosys() {
    compare(CellFamily::Ice40, &["ice40/cells_sim.v"], ICE40);
}

#[test]
fn gowin_cells_are_those_of_yosys() {
    compare(CellFamily::Gowin, &["gowin/cells_sim.v"], GOWIN);
}

#[test]
fn intel_cells_are_those_of_yosys() {
    compare(CellFamily::Intel, &["intel_alm/common/alm_sim.v", "intel_alm/common/dff_sim.v"], INTEL);
}
