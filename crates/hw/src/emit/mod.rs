//! Code generators for a netlist: Verilog, SystemVerilog and VHDL.
//!
//! The HDL source is a pure function of the [`Netlist`], the [`Language`] and the [`Options`]. The guarantees for tools
//! and readers are in `docs/rtl-interface.md`, section "Language": one self-contained file, one assignment for each
//! net, wiring written where it is used, one group for the registers of a boundary, one sink for unread bits, no lint
//! pragma.
//!
//! [`plan`] computes the layout for all languages; [`verilog`], [`system_verilog`] and [`vhdl`] define the syntax of
//! expressions and declarations; the templates (`templates/`) define the structure of the file. A large module is split
//! by pipeline stage, see [`Options::split_above`].

pub mod assertions;
mod attributes;
pub mod axis;
mod context;
pub mod latin1;
mod line;
mod plan;
mod rom;
mod shared;
mod sidecar;
mod sink;
mod system_verilog;
mod table_modules;
mod verilog;
mod verilog_tables;
mod verilog_wiring;
mod vhdl;
mod vhdl_tables;
mod view;

use crate::netlist::Netlist;
use alir_core::parallel;
use context::Printing;
use sink::Sink;
use std::io;

pub use crate::device::TableStyle as RomStyle;
pub use alir_hdl::Language;
pub use sidecar::{
    MachineFacts, RegisterFacts, ReuseFacts, ReuseGroup, ReuseRegion, ScheduleFacts, Sidecar, StageDelays, StageFacts,
};

/// Division of the RTL into modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hierarchy {
    /// By stages if the netlist has more than [`Options::split_above`] nets, otherwise a single module.
    #[default]
    Auto,
    /// One module.
    Flat,
    /// A module for each pipeline stage, if there are several.
    Stages,
    /// A module for each node of the source network, if it has nodes.
    Layers,
}

/// Options of the RTL file of a netlist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Implementation of read-only memories.
    pub rom_style: RomStyle,
    /// Division into modules (or entities) in the same file.
    pub hierarchy: Hierarchy,
    /// Number of nets above which [`Hierarchy::Auto`] divides a module; synthesis tools and viewers are slow with
    /// larger flat modules.
    pub split_above: usize,
    /// `true` if chains of registers may become shift register primitives, `false` if not; `None` leaves the choice to
    /// synthesis.
    pub shreg_extract: Option<bool>,
    /// `true` if an attribute requests that synthesis keeps the name of every net and register. Costs area, because
    /// logic is not merged across such nets.
    pub keep_names: bool,
    /// `true` if an attribute requests DSPs for products.
    pub use_dsp: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            rom_style: RomStyle::Auto,
            hierarchy: Hierarchy::Auto,
            split_above: 20_000,
            shreg_extract: None,
            keep_names: false,
            use_dsp: false,
        }
    }
}

/// Writes `netlist` as one self-contained file.
///
/// # Errors
/// Errors of `out`.
pub fn write(netlist: &Netlist, language: Language, options: &Options, out: &mut dyn io::Write) -> io::Result<()> {
    let threads = parallel::threads(netlist.nets().len(), NETS_PER_THREAD);
    write_by(Printing { threads, chunk: CHUNK }, netlist, language, options, out)
}

/// Number of nets per thread above which another thread reduces the run time.
const NETS_PER_THREAD: usize = 10_000;

/// Number of nets that a thread renders at once, about 200 kilobytes of HDL source.
const CHUNK: usize = 2_000;

/// Like [`write()`], with explicit numbers of threads and nets.
fn write_by(
    printing: Printing,
    netlist: &Netlist,
    language: Language,
    options: &Options,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut sink = Sink::new(out, language == Language::Vhdl);
    let verilog = |standard, sink: &mut Sink<'_>| verilog::write(netlist, options, standard, printing, sink);
    let written = match language {
        Language::Verilog => verilog(verilog::Standard::Verilog2001, &mut sink),
        Language::SystemVerilog => verilog(verilog::Standard::SystemVerilog2017, &mut sink),
        Language::Vhdl => vhdl::write(netlist, options, printing, &mut sink),
    };
    sink.finish(written)
}

/// Returns the HDL source that [`write()`] writes.
pub fn text(netlist: &Netlist, language: Language, options: &Options) -> String {
    let mut bytes = Vec::new();
    write(netlist, language, options, &mut bytes).expect("memory does not refuse a write");
    String::from_utf8(bytes).expect("names and comments are text")
}

#[cfg(test)]
mod sample;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlist::{Cell, Direction, OperationLayers};
    use sample::{Sample, bits, constant, everything, repeat};

    fn verilog(netlist: &Netlist) -> String {
        text(netlist, Language::Verilog, &Options::default())
    }

    fn vhdl(netlist: &Netlist) -> String {
        text(netlist, Language::Vhdl, &Options::default())
    }

    #[track_caller]
    fn assert_line(text: &str, line: &str) {
        assert!(text.lines().any(|l| l.trim() == line), "no line `{line}` in\n{text}");
    }

    #[test]
    fn wiring_is_written_where_it_is_used() {
        let (v, vhd) = (verilog(&everything()), vhdl(&everything()));
        assert_line(&v, "wire [9:0] v7 = {{2{v0[7]}}, v0} - {1'b0, v1, 1'b0};  // the net v7");
        assert_line(
            &vhd,
            "v7 <= (unsigned'(1 downto 0 => v0(7)) & v0) - shift_left(resize(v1, 10), 1);  -- the net v7",
        );
        assert_line(&v, "wire [9:0] v31 = {{2{v0[7]}}, v0} + {1'b0, v1, 1'b0} - {{2{v1[7]}}, v1};  // the net v31");
        let one_line = vhd.split_whitespace().collect::<Vec<_>>().join(" ");
        let sum = "(unsigned'(1 downto 0 => v0(7)) & v0) + shift_left(resize(v1, 10), 1) \
                   - (unsigned'(1 downto 0 => v1(7)) & v1)";
        assert!(one_line.contains(&format!("v31 <= {sum};")), "{vhd}");
        assert_line(&v, "wire [123:0] v19 = 124'hf0000000000000000000000000ffff8;  // the net v19");
    }

    #[test]
    fn signed_factors_are_sign_extended_so_that_synthesis_trims_them() {
        let (v, vhd) = (verilog(&everything()), vhdl(&everything()));
        assert_line(&v, "wire [9:0] v11 = $signed({{2{v0[7]}}, v0}) * $signed({{5{v3[4]}}, v3});  // the net v11");
        assert_line(&v, "wire [5:0] v12 = v0[5:0] * {1'b0, v3};  // the net v12");
        assert_line(&vhd, "v11 <= resize(unsigned(signed(v0) * signed(v3)), 10);  -- the net v11");
        assert_line(&vhd, "v10 <= unsigned(signed(v0) * signed(v3));  -- the net v10");
    }

    #[test]
    fn system_verilog_has_signed_signals_and_casts() {
        let mut s = Sample::new();
        s.clock();
        let x = s.input("inp_0", 8, false);
        let y = s.input("inp_1", 5, false);
        s.netlist.nets[x.index()].signed = true;
        let a = s.wiring(&[constant(false, 4), bits(x, 0, 8)]);
        let b = s.wiring(&[bits(x, 0, 8), repeat(x, 7, 4)]);
        let difference = s.net("difference", 12, Cell::Sub { a, b });
        s.netlist.nets[difference.index()].signed = true;
        let (a, b) = (s.all(difference), s.wiring(&[bits(y, 0, 5), constant(false, 7)]));
        let less = s.net("less", 1, Cell::Less { a, b, signed: true });
        let product = s.net("product", 12, Cell::Mul { a, b, signed: true });
        let a = s.wiring(&[bits(x, 2, 6), repeat(x, 7, 6)]);
        let minus = s.net("minus", 12, Cell::Neg { a });
        s.netlist.nets[minus.index()].signed = true;
        let held = s.register("held", minus, None, None, false);
        s.output("out_0", false, &[bits(held, 0, 12), bits(less, 0, 1), bits(product, 0, 12)]);
        let text = text(&s.netlist, Language::SystemVerilog, &Options::default());
        assert_line(&text, "wire signed [7:0] x_inp_0 = $signed(inp_0);  // the net x_inp_0");
        let line = "wire signed [11:0] difference = (12'(x_inp_0) <<< 4) - 12'(x_inp_0);  // the net difference";
        assert_line(&text, line);
        assert_line(&text, "wire less = difference < $signed(12'(x_inp_1));  // the net less");
        let line = "wire [11:0] product = $unsigned(difference * $signed(12'(x_inp_1)));  // the net product";
        assert_line(&text, line);
        assert_line(&text, "wire signed [11:0] minus = -(12'($signed(x_inp_0[7:2])));  // the net minus");
        assert_line(&text, "always_ff @(posedge clk) begin");
        assert_line(&text, "localparam int LATENCY = 1;");
        let vhdl = vhdl(&s.netlist);
        assert_line(
            &vhdl,
            "difference <= shift_left(resize(x_inp_0, 12), 4) - resize(x_inp_0, 12);  -- the net difference",
        );
        assert_line(&vhdl, "less <= \"1\" when difference < signed(resize(x_inp_1, 12)) else \"0\";  -- the net less");
    }

    #[test]
    fn unread_bits_of_ports_and_nets_that_have_some_end_in_the_sink() {
        let mut s = Sample::new();
        let x = s.input("inp_0", 8, false);
        let port = s.port("inp_1", Direction::In, 6, false);
        let y = s.net("y", 3, Cell::Input { port, lo: 2 });
        let a = s.wiring(&[bits(x, 0, 5)]);
        let b = s.wiring(&[bits(y, 0, 3), repeat(y, 2, 2)]);
        // Three bits of a product need three bits of each factor.
        let product = s.net("product", 3, Cell::Mul { a, b, signed: false });
        s.output("out_0", false, &[bits(product, 0, 3)]);
        assert_line(&verilog(&s.netlist), "wire unused_bits = &{1'b0, inp_1[1:0], inp_1[5], x_inp_0};");
        assert!(!vhdl(&s.netlist).contains("unused"));
    }

    #[test]
    fn many_signals_with_unread_bits_are_reduced_in_small_groups() {
        let mut s = Sample::new();
        let halves: Vec<_> = (0..11)
            .map(|i| {
                let x = s.input(&format!("inp_{i}"), 4, false);
                bits(x, 0, 2)
            })
            .collect();
        s.output("out_0", false, &halves);
        let v = verilog(&s.netlist);
        let reductions: Vec<&str> = v.lines().filter(|line| line.contains("wire unused_bits_x_inp_")).collect();
        let sizes: Vec<usize> = reductions.iter().map(|line| line.matches(", x_inp_").count()).collect();
        assert!(sizes.len() > 1 && sizes.iter().all(|size| (1..=8).contains(size)), "{reductions:?}");
        assert_eq!(sizes.iter().sum::<usize>(), 11);
    }

    #[test]
    fn a_comment_gives_no_orders_to_tools() {
        let v = verilog(&everything());
        assert_line(&v, "// - verilator would obey this");
    }

    #[test]
    fn no_line_is_longer_than_readers_and_tools_like() {
        for split_above in [0, 20_000] {
            for language in [Language::Verilog, Language::Vhdl] {
                let options = Options { split_above, ..Options::default() };
                let text = text(&everything(), language, &options);
                let longest = text.lines().max_by_key(|line| line.len()).unwrap();
                assert!(longest.len() < 300, "{longest}");
                assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
            }
        }
    }

    #[test]
    fn block_memory_is_asked_for_only_where_a_register_follows() {
        let mut s = Sample::new();
        s.clock();
        let x = s.input("inp_0", 4, false);
        let table = s.rom("squares", 4, 8, (0..16).map(|i| i * i).collect());
        let roots = s.rom("roots", 4, 2, vec![0, 1, 1, 1, 2]);
        let addr = s.all(x);
        let square = s.net("square", 8, Cell::Rom { rom: table, addr });
        let root = s.net("root", 2, Cell::Rom { rom: roots, addr });
        let held = s.register("square_r", square, None, None, false);
        s.output("out_0", false, &[bits(held, 0, 8), bits(root, 0, 2)]);
        let options = Options { rom_style: RomStyle::Block, ..Options::default() };
        let v = text(&s.netlist, Language::Verilog, &options);
        assert_line(&v, "(* rom_style = \"block\", syn_romstyle = \"block_rom\" *)");
        assert_line(&v, "assign square = squares(x_inp_0);  // the net square");
        assert_line(&v, "(* rom_style = \"block\" *) case (rom_address)");
        assert_line(&v, "wire [1:0] root = roots(x_inp_0);  // the net root");
        assert_line(&v, "default: roots = 2'h0;");
        assert!(!v.contains("initial"), "{v}");
        let vhd = text(&s.netlist, Language::Vhdl, &options);
        assert_line(&vhd, "attribute rom_style of squares : constant is \"block\";");
    }

    #[test]
    fn a_block_memory_with_several_read_ports_is_an_array_filled_in_blocks() {
        let mut s = Sample::new();
        s.clock();
        let x = s.input("inp_0", 7, false);
        let table = s.rom("squares", 7, 8, (0..128).collect());
        let addr = s.all(x);
        let (low, high) = (s.wiring(&[bits(x, 0, 7)]), addr);
        let first = s.net("first", 8, Cell::Rom { rom: table, addr: low });
        let second = s.net("second", 8, Cell::Rom { rom: table, addr: high });
        let (first, second) =
            (s.register("a_r", first, None, None, false), s.register("b_r", second, None, None, false));
        s.output("out_0", false, &[bits(first, 0, 8), bits(second, 0, 8)]);
        let options = Options { rom_style: RomStyle::Block, ..Options::default() };
        let v = text(&s.netlist, Language::Verilog, &options);
        assert_line(&v, "wire [7:0] first = squares[x_inp_0];  // the net first");
        assert_line(&v, "squares[64] = 8'h40;");
        // The `initial` blocks cover the whole array.
        let (words, blocks) = (v.matches("        squares[").count(), v.matches("initial begin").count());
        assert_eq!((words, blocks), (128, 2), "{v}");
    }

    #[test]
    fn tables_in_pieces_are_modules_of_the_same_names_in_both_languages() {
        let mut s = Sample::new();
        let x = s.input("inp_0", 4, false);
        let roots = s.rom("roots", 5, 1, (0..32).map(|i| u64::from(i % 7 < 3)).collect());
        let addr = s.wiring(&[bits(x, 0, 4), bits(x, 3, 1)]);
        let root = s.net("root", 1, Cell::Rom { rom: roots, addr });
        // Signals with names that instances would have.
        let y = s.input("u_root", 5, false);
        let addr = s.all(y);
        let other = s.net("Root_address", 1, Cell::Rom { rom: roots, addr });
        s.output("out_0", false, &[bits(root, 0, 1), bits(other, 0, 1)]);
        let options = Options { rom_style: RomStyle::Pieces { table_inputs: 4 }, ..Options::default() };
        let v = text(&s.netlist, Language::Verilog, &options);
        let vhd = text(&s.netlist, Language::Vhdl, &options);
        assert_line(&v, "sample_roots u_root_i (.address({x_inp_0[3], x_inp_0}), .word(root));  // the net root");
        assert_line(&vhd, "root_address_address <= x_inp_0(3 downto 3) & x_inp_0;");
        let map = "port map (address => root_address_address, word => root);  -- the net root";
        assert_line(&vhd, &format!("u_root_i : entity work.sample_roots {map}"));
        let map = "port map (address => x_u_root, word => Root_address);  -- the net Root_address";
        assert_line(&vhd, &format!("u_Root_address : entity work.sample_roots {map}"));
        for name in ["sample_roots", "sample_roots_level_1"] {
            assert_line(&v, &format!("module {name} ("));
            assert_line(&vhd, &format!("entity {name} is"));
        }
        assert_line(&v, "(* keep_hierarchy = \"yes\" *)");
        assert_line(&vhd, "attribute keep_hierarchy of rtl : architecture is \"yes\";");
        assert!(!vhd.contains("case"), "{vhd}");
    }

    #[test]
    fn a_large_netlist_has_a_module_for_each_stage_with_nets_as_ports() {
        let options = Options { split_above: 1, ..Options::default() };
        let v = text(&everything(), Language::Verilog, &options);
        assert_line(&v, "module sample_stage_1 (");
        assert_line(&v, "output reg [6:0] v24_r,");
        assert_line(&v, "sample_stage_2 u_sample_stage_2 (");
        let vhd = text(&everything(), Language::Vhdl, &options);
        assert_line(&vhd, "u_sample_stage_1 : entity work.sample_stage_1");
        assert_line(&vhd, "v24_r_o => v24_r,");
    }

    #[test]
    fn layers_are_modules_or_headings() {
        let mut netlist = everything();
        // Inputs belong to no operation. The first two other nets get one operation each.
        let numbered = (0..netlist.nets.len()).filter(|&net| !matches!(netlist.nets[net].cell, Cell::Input { .. }));
        for (operation, net) in (0..2).zip(numbered.collect::<Vec<_>>()) {
            netlist.nets[net].operation = Some(operation);
        }
        netlist.layers = OperationLayers {
            names: vec!["fc/1 (MatMul)".into(), "Fc_1 (Add)".into()],
            by_operation: vec![Some(0), Some(1)],
        };
        let options = Options { hierarchy: Hierarchy::Layers, ..Options::default() };
        for (language, text) in [Language::Verilog, Language::SystemVerilog, Language::Vhdl]
            .map(|language| (language, text(&netlist, language, &options)))
        {
            let comment = if language == Language::Vhdl { "--" } else { "//" };
            assert_line(&text, &format!("{comment} Layer fc/1 (MatMul)"));
            for module in ["sample_fc_1", "sample_Fc_1_2"] {
                match language {
                    Language::Vhdl => assert_line(&text, &format!("u_{module} : entity work.{module}")),
                    _ => assert_line(&text, &format!("{module} u_{module} (")),
                }
            }
        }
        let flat = text(&netlist, Language::Verilog, &Options::default());
        assert_eq!(flat.matches("\nmodule ").count(), 1);
        assert!(flat.contains("\n    // Layer fc/1 (MatMul)\n"), "{flat}");
    }

    #[test]
    fn the_number_of_threads_leaves_no_trace_in_a_file() {
        for language in [Language::Verilog, Language::SystemVerilog, Language::Vhdl] {
            for split_above in [1, 20_000] {
                let options = Options { split_above, ..Options::default() };
                let [one, two, five] = [1, 2, 5].map(|threads| {
                    let mut bytes = Vec::new();
                    write_by(Printing { threads, chunk: 3 }, &everything(), language, &options, &mut bytes)
                        .expect("written");
                    String::from_utf8(bytes).expect("text")
                });
                assert_eq!(one, two);
                assert_eq!(one, five);
                assert!(one.contains("v24_r"), "{one}");
            }
        }
    }

    #[test]
    fn feedback_is_declared_before_it_is_read() {
        let v = verilog(&everything());
        let at = |what: &str| v.find(what).unwrap_or_else(|| panic!("no `{what}`"));
        assert!(at("reg [3:0] count;") < at("count + 4'b0001"));
        assert_eq!(v.matches("reg [3:0] count;").count(), 1);
    }

    #[test]
    fn a_module_without_ports_is_still_one() {
        let s = Sample::new();
        assert_line(&verilog(&s.netlist), "module sample (");
        assert!(!vhdl(&s.netlist).contains("port"));
    }

    #[test]
    fn constants_need_no_net() {
        let mut s = Sample::new();
        s.output("out_0", false, &[constant(true, 2), constant(false, 1)]);
        assert_line(&verilog(&s.netlist), "assign out_0 = 3'b011;");
        assert_line(&vhdl(&s.netlist), "out_0 <= std_logic_vector(unsigned'(\"011\"));");
    }
}
