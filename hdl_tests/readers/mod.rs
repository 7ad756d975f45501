//! The readers of Verilog and VHDL against simulators: random designs in every form that the languages have for
//! hardware, not only those that we write.
//!
//! What a reader makes of a text is evaluated by [`eval`], which knows nothing of the languages, and compared bit for
//! bit with Icarus Verilog and GHDL over the same vectors. A bit that the simulator calls unknown may be anything here.
//! A bit that it knows has to be the same here, whatever undefined values are taken for.

mod eval;
mod verilog;
mod vhdl;

use crate::harness;
use alir_testing::random::SplitMix;
use alir2hdl::rtl::{self, Language};
use eval::{Run, Undefined};
use num_bigint::BigUint;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Bits of a vector that each input may use.
const SLOT: u32 = 72;
/// Inputs of a design, at most.
const SLOTS: u32 = 8;

/// A random design.
struct Design {
    name: String,
    text: String,
    /// Names and widths. An input called `clk` is the clock.
    inputs: Vec<(String, u32)>,
    outputs: Vec<(String, u32)>,
}

/// Random choices of the generators.
trait Chance {
    fn rng(&mut self) -> &mut SplitMix;

    /// Number of names given so far.
    fn names(&mut self) -> &mut u32;

    /// A number below `n`; zero if there is none.
    fn below(&mut self, n: u64) -> u64 {
        self.rng().below(n.max(1))
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len() as u64) as usize]
    }

    /// A new name that begins like this.
    fn name(&mut self, stem: &str) -> String {
        *self.names() += 1;
        format!("{stem}{}", self.names())
    }
}

/// The part of a vector that is an input's value.
fn stimulus(vector: &BigUint, input: usize, width: u32) -> BigUint {
    (vector >> (SLOT * input as u32)) & ((BigUint::from(1u32) << width) - 1u32)
}

/// Vectors with the values that matter: all zeros, all ones, small ones, single bits, equal ones.
fn vectors(count: usize, seed: u64) -> Vec<BigUint> {
    let mut rng = SplitMix::new(seed);
    let uniform = |rng: &mut SplitMix| rng.bits(SLOT).to_biguint().expect("not negative");
    (0..count)
        .map(|_| {
            let mut all = BigUint::ZERO;
            let mut last = BigUint::ZERO;
            for slot in 0..SLOTS {
                let value = match rng.below(10) {
                    0 => BigUint::ZERO,
                    1 => (BigUint::from(1u32) << SLOT) - 1u32,
                    2 | 3 => BigUint::from(rng.below(10)),
                    4 => BigUint::from(1u32) << rng.below(SLOT.into()),
                    5 => last.clone(),
                    _ => uniform(&mut rng),
                };
                last.clone_from(&value);
                all |= value << (SLOT * slot);
            }
            all
        })
        .collect()
}

/// Counts of a comparison.
#[derive(Default, Debug)]
struct Findings {
    /// Bits compared.
    bits: usize,
    /// Bits that the simulator does not know and that have one value here.
    decided: usize,
    /// Bits that are undefined here and known to the simulator.
    loose: Vec<String>,
    wrong: Vec<String>,
    /// Files that the reader refuses, with its message.
    refused: Vec<String>,
    read: usize,
}

/// Compares what the reader makes of the designs with what a simulator showed: for each vector and each design a line
/// with the values of its outputs as bits.
fn compare(language: Language, designs: &[Design], vectors: &[BigUint], shown: &str) -> Findings {
    let lines: Vec<&str> = shown.lines().filter(|l| l.starts_with("= ")).collect();
    assert_eq!(lines.len(), designs.len() * vectors.len(), "lines of the simulator\n{shown}");
    let mut f = Findings::default();
    for (d, design) in designs.iter().enumerate() {
        let rtl = match rtl::read(language, &design.text, Some(&design.name)) {
            Ok(rtl) => rtl,
            Err(e) => {
                f.refused.push(format!("{e}\n{}", design.text));
                continue;
            }
        };
        f.read += 1;
        let mut runs = [Undefined::Zeros, Undefined::Ones, Undefined::Random(d as u64)].map(|u| Run::new(&rtl, u));
        'vectors: for (v, vector) in vectors.iter().enumerate() {
            let values: Vec<BigUint> = design
                .inputs
                .iter()
                .enumerate()
                .map(|(i, (name, width))| if name == "clk" { BigUint::ZERO } else { stimulus(vector, i, *width) })
                .collect();
            runs.iter_mut().for_each(|r| r.set(&values));
            let words: Vec<&str> = lines[v * designs.len() + d].split_whitespace().skip(1).collect();
            assert_eq!(words.len(), design.outputs.len());
            for ((&port, (name, width)), word) in rtl.outputs.iter().zip(&design.outputs).zip(words) {
                assert_eq!(word.len(), *width as usize, "{name}");
                let own: Vec<BigUint> = runs.iter_mut().map(|r| r.port(port)).collect();
                for (i, bit) in word.bytes().rev().enumerate() {
                    let bits: Vec<bool> = own.iter().map(|o| o.bit(i as u64)).collect();
                    let settled = bits.iter().all(|&b| b == bits[0]);
                    f.bits += 1;
                    let list = match bit {
                        b'0' | b'1' if !settled => &mut f.loose,
                        b'0' | b'1' if bits[0] != (bit == b'1') => &mut f.wrong,
                        b'0' | b'1' => continue,
                        _ => {
                            f.decided += usize::from(settled);
                            continue;
                        }
                    };
                    let shown: Vec<String> =
                        design.inputs.iter().zip(&values).map(|((n, w), v)| format!("{n}={w}'h{v:x}")).collect();
                    let own = &own[0];
                    list.push(format!(
                        "{}: bit {i} of {name}: simulator {word}, reader {own:0>w$b}, vector {v}, {}\n{}",
                        design.name,
                        shown.join(" "),
                        design.text,
                        w = *width as usize,
                    ));
                    break 'vectors;
                }
            }
            runs.iter_mut().for_each(Run::edge);
        }
    }
    f
}

/// Outputs of a simulator for designs that it can run at all: those over which it fails are left out, and counted.
fn simulated(
    mut designs: Vec<Design>,
    simulate: &dyn Fn(&[Design]) -> Result<String, String>,
) -> Vec<(Vec<Design>, String)> {
    match simulate(&designs) {
        Ok(shown) => vec![(designs, shown)],
        Err(e) if designs.len() == 1 => {
            eprintln!("{} is too much for the simulator: {e}", designs[0].name);
            Vec::new()
        }
        Err(_) => {
            let rest = designs.split_off(designs.len() / 2);
            let mut all = simulated(designs, simulate);
            all.extend(simulated(rest, simulate));
            all
        }
    }
}

/// Runs a tool in a folder.
fn run(dir: &Path, tool: &str, args: &[&str]) -> Result<String, String> {
    let done = Command::new(tool).args(args).current_dir(dir).output().unwrap_or_else(|e| panic!("{tool}: {e}"));
    let all = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let faults: Vec<&str> = all.lines().filter(|l| !l.contains("warning:")).take(5).collect();
    if done.status.success() { Ok(all) } else { Err(format!("{tool}: {}", faults.join("\n"))) }
}

/// Outputs of Icarus Verilog for the designs.
fn icarus(designs: &[Design], vectors: &[BigUint]) -> Result<String, String> {
    let dir = tempfile::tempdir().expect("a folder");
    let mut text: String = designs.iter().map(|d| d.text.as_str()).collect();
    let bits = SLOT * SLOTS;
    let _ = write!(text, "module tb;\nreg [{}:0] stim; reg clk; initial clk = 0;\n", bits - 1);
    let mut show = String::new();
    for (d, design) in designs.iter().enumerate() {
        let mut ports = Vec::new();
        for (i, (name, width)) in design.inputs.iter().enumerate() {
            ports.push(match name.as_str() {
                // The start of the clock at 0 is a falling edge.
                "clk" if design.text.contains("negedge clk") => ".clk(~clk)".to_owned(),
                "clk" => ".clk(clk)".to_owned(),
                _ => format!(".{name}(stim[{} +: {width}])", SLOT * i as u32),
            });
        }
        let (mut format, mut names) = (String::new(), String::new());
        for (name, width) in &design.outputs {
            let _ = writeln!(text, "wire [{}:0] d{d}_{name};", width - 1);
            ports.push(format!(".{name}(d{d}_{name})"));
            format.push_str(" %b");
            let _ = write!(names, ", d{d}_{name}");
        }
        let _ = writeln!(text, "{} u{d} ({});", design.name, ports.join(", "));
        let _ = writeln!(show, "$display(\"={format}\"{names});");
    }
    let _ = write!(text, "task show; begin\n{show}end endtask\ninitial begin\n");
    for vector in vectors {
        let _ = writeln!(text, "stim = {bits}'h{vector:x}; #1 show; clk = 1; #1 clk = 0; #1;");
    }
    text.push_str("end\nendmodule\n");
    if let Ok(kept) = std::env::var("READERS_KEEP") {
        std::fs::write(Path::new(&kept).join("all.v"), &text).expect("a file");
    }
    std::fs::write(dir.path().join("all.v"), text).expect("a file");
    // Without the option Icarus widens what has numbers without size until nothing is lost, against section 5.4.1 of
    // IEEE 1364-2005; with it Verilator and yosys agree.
    run(dir.path(), "iverilog", &["-g2001", "-gstrict-expr-width", "-s", "tb", "-o", "all.vvp", "all.v"])?;
    run(dir.path(), "vvp", &["-n", "all.vvp"])
}

/// Outputs of GHDL for the designs.
fn ghdl(standard: &str, designs: &[Design], vectors: &[BigUint]) -> Result<String, String> {
    let dir = tempfile::tempdir().expect("a folder");
    let mut text: String = designs.iter().map(|d| d.text.as_str()).collect();
    let bits = SLOT * SLOTS;
    let (mut decls, mut body, mut show) = (String::new(), String::new(), String::new());
    for (d, design) in designs.iter().enumerate() {
        let mut ports = Vec::new();
        for (i, (name, width)) in design.inputs.iter().enumerate() {
            let low = SLOT * i as u32;
            // The type of the port is in its declaration.
            let of = |ty: &str| design.text.contains(&format!("{name} : in {ty}("));
            let bits = format!("stim({} downto {low})", low + width - 1);
            ports.push(match name.as_str() {
                "clk" => "clk => clk".to_owned(),
                _ if of("unsigned") => format!("{name} => unsigned({bits})"),
                _ if of("signed") => format!("{name} => signed({bits})"),
                _ => format!("{name} => {bits}"),
            });
        }
        show.push_str("      write(l, string'(\"=\"));\n");
        for (name, width) in &design.outputs {
            let _ = writeln!(decls, "  signal d{d}_{name} : std_logic_vector({} downto 0);", width - 1);
            ports.push(format!("{name} => d{d}_{name}"));
            let _ = writeln!(show, "      write(l, string'(\" \") & str(d{d}_{name}));");
        }
        show.push_str("      writeline(output, l);\n");
        let _ = writeln!(body, "  u{d} : entity work.{} port map ({});", design.name, ports.join(", "));
    }
    let stims: Vec<String> = vectors.iter().map(|v| format!("\"{v:0>w$b}\"", w = bits as usize)).collect();
    let _ = write!(
        text,
        "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\nuse std.textio.all;\nentity tb is \
         end entity;\n\
         architecture t of tb is\n  function str(x : std_logic_vector) return string is\n\
         variable r : string(1 to x'length);\n  variable k : integer := 1;\n  begin\n\
         for i in x'range loop\n  r(k) := std_logic'image(x(i))(2);\n  k := k + 1;\n  end loop;\n  return r;\n  end \
         function;\n\
         type all_t is array (natural range <>) of std_logic_vector({top} downto 0);\n\
         constant stims : all_t(0 to {last}) := ({stims});\n\
         signal stim : std_logic_vector({top} downto 0) := (others => '0');\n  signal clk : std_logic := '0';\n\
         {decls}begin\n{body}\
         process\n    variable l : line;\n  begin\n    for v in stims'range loop\n      stim <= stims(v);\n      wait \
         for 1 ns;\n{show}\
         clk <= '1';\n      wait for 1 ns;\n      clk <= '0';\n      wait for 1 ns;\n    end loop;\n    wait;\n  end \
         process;\nend architecture;\n",
        top = bits - 1,
        last = vectors.len() - 1,
        stims = stims.join(",\n    "),
    );
    if let Ok(kept) = std::env::var("READERS_KEEP") {
        std::fs::write(Path::new(&kept).join("all.vhd"), &text).expect("a file");
    }
    std::fs::write(dir.path().join("all.vhd"), text).expect("a file");
    let standard = format!("--std={standard}");
    run(dir.path(), "ghdl", &["-a", &standard, "all.vhd"])?;
    run(dir.path(), "ghdl", &["-e", &standard, "tb"])?;
    run(dir.path(), "ghdl", &["-r", &standard, "tb", "--ieee-asserts=disable"])
}

fn report(name: &str, f: &Findings) {
    eprintln!(
        "{name}: {} read, {} refused, {} bits, {} unknown to the simulator only, {} loose, {} wrong",
        f.read,
        f.refused.len(),
        f.bits,
        f.decided,
        f.loose.len(),
        f.wrong.len()
    );
    for (kind, list) in [("wrong", &f.wrong), ("loose", &f.loose), ("refused", &f.refused)] {
        for one in list.iter().take(std::env::var("READERS_SHOW").map_or(1, |n| n.parse().unwrap_or(1))) {
            eprintln!("--- {kind}: {one}");
        }
    }
}

/// Compares designs with a simulator, a few hundred at a time.
fn compare_with_simulator(
    name: &str,
    language: Language,
    mut designs: Vec<Design>,
    vectors: &[BigUint],
    simulate: &dyn Fn(&[Design]) -> Result<String, String>,
) {
    let (mut wrong, mut refused, mut read) = (0, 0, 0);
    let asked = designs.len();
    while !designs.is_empty() {
        let rest = designs.split_off(designs.len().min(200));
        for (part, shown) in simulated(std::mem::replace(&mut designs, rest), simulate) {
            let f = compare(language, &part, vectors, &shown);
            report(name, &f);
            wrong += f.wrong.len() + f.loose.len();
            refused += f.refused.len();
            read += f.read;
        }
    }
    assert_eq!((wrong, refused), (0, 0), "designs that are read otherwise, and that are refused");
    assert!(read * 10 > asked * 9, "{name} could do {read} of {asked} designs");
}

/// Seeds of the designs: the usual number, or what `READERS_DESIGNS` says, from seed `READERS_SEED` on.
fn amount(usual: u64) -> std::ops::Range<u64> {
    let of = |name: &str, usual: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let first = of("READERS_SEED", 0);
    first..first + of("READERS_DESIGNS", usual)
}

#[test]
fn sim_verilog_is_read_as_icarus_simulates_it() {
    if Command::new("iverilog").arg("-V").output().is_err() {
        return harness::skip("iverilog", "not on the PATH");
    }
    let vectors = vectors(24, 1);
    compare_with_simulator(
        "Icarus Verilog",
        Language::Verilog,
        amount(150).map(verilog::design).collect(),
        &vectors,
        &|d| icarus(d, &vectors),
    );
}

#[test]
fn sim_vhdl_is_read_as_ghdl_simulates_it() {
    if Command::new("ghdl").arg("--version").output().is_err() {
        return harness::skip("ghdl", "not on the PATH");
    }
    let vectors = vectors(24, 2);
    for (i, standard) in ["93", "08"].into_iter().enumerate() {
        let designs = amount(120).filter(|seed| seed % 2 == i as u64).map(vhdl::design).collect();
        compare_with_simulator(&format!("GHDL {standard}"), Language::Vhdl, designs, &vectors, &|d| {
            ghdl(standard, d, &vectors)
        });
    }
}
