//! Verilog and VHDL front ends: parsing and elaboration of RTL files to designs.
//!
//! [`read`] elaborates HDL source to [`Rtl`]: signals and their drivers as words with explicit widths. Processes are
//! executed symbolically, and instances are flattened. The front ends are written against the standards (IEEE
//! 1364-2001, IEEE 1076 and 1076.3) and share no code with the code generator: this crate may use `diag` and `num` only
//! (`tests/it/layering.rs`). Constructs outside of the subset (docs/readers.md) are rejected with their position, never
//! guessed.
//!
//! `design`: the elaborated design; `verilog`, `vhdl`: the front ends; `project`: several files as one source; `paths`:
//! symbolic execution of processes in both languages; `loops`: signals that depend on themselves as words but not bit
//! by bit; `source`: positions and messages; `names`: operations in names of signals.
//!
//! ```
//! use alir_hdl::{Language, read};
//!
//! let verilog = "module inc(input [3:0] x, output [3:0] y); assign y = x + 4'd1; endmodule";
//! assert!(read(Language::Verilog, verilog, Some("inc")).is_ok());
//! let error = read(Language::Verilog, "module inc(input x); initial forever #1; endmodule", None).unwrap_err();
//! assert_eq!(error.code, "E0903", "{error}");
//! ```
//!
//! (`tests/it/crate_examples.rs` runs this example.)

#![forbid(unsafe_code)]

mod design;
mod loops;
mod names;
pub mod netlist;
mod paths;
pub mod project;
mod register_holds;
mod source;
pub mod verilog;
pub mod vhdl;

pub use design::*;
pub use names::operation_in_name;

use alir_core::diag::{Diagnostic, Place};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Language of HDL source, both for reading and for generated files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Verilog-2001. Files that are read may also use the SystemVerilog constructs of [`Language::SystemVerilog`].
    Verilog,
    /// SystemVerilog-2017, for generated files; such files are read as [`Language::Verilog`].
    SystemVerilog,
    /// VHDL-1993 and VHDL-2008 with `numeric_std`. Generated files use only the common subset of both.
    Vhdl,
}

impl Language {
    /// Returns the name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Language::Verilog => "verilog",
            Language::SystemVerilog => "systemverilog",
            Language::Vhdl => "vhdl",
        }
    }

    /// Returns the usual file extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Verilog => "v",
            Language::SystemVerilog => "sv",
            Language::Vhdl => "vhd",
        }
    }

    /// Returns the language by the extension of the file, or by its content if the extension is inconclusive.
    pub fn detect(path: &Path, text: &str) -> Language {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("v" | "sv" | "vh") => Language::Verilog,
            Some("vhd" | "vhdl") => Language::Vhdl,
            // Netlists in JSON are read as structural Verilog.
            _ if netlist::is_json(text.as_bytes()) => Language::Verilog,
            _ => {
                let text = text.to_ascii_lowercase();
                let has = |word: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == word);
                if has("architecture") && !has("endmodule") { Language::Vhdl } else { Language::Verilog }
            }
        }
    }
}

/// Stack size in bytes of the front end's thread, as files may have deeply nested expressions.
const STACK: usize = 1 << 30;

/// Maximum size of a source in bytes.
const MAX_TEXT: usize = 1 << 28;

/// Decodes the bytes of a file as UTF-8, otherwise as ISO 8859-1, the character set of VHDL. A byte order mark is
/// removed.
///
/// # Errors
/// `E0005` for UTF-16; `E0913` for a gzip file.
pub fn decoded(mut bytes: Vec<u8>) -> Result<String, Diagnostic> {
    if let Some(problem) = alir_core::diag::utf16(&bytes) {
        return Err(problem);
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let error = Diagnostic::error("E0913", Place::Whole, "this is a gzip file; Verilog and VHDL are read unpacked");
        return Err(error.with_help("unpack it with gunzip"));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect()))
}

/// Returns comments at the ends of lines by the name that the line drives: `NAME = ...; // remark`, or `<=` and `--`.
fn remarks(language: Language, text: &str) -> FxHashMap<String, String> {
    let mark = match language {
        Language::Verilog | Language::SystemVerilog => "//",
        Language::Vhdl => "--",
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = FxHashMap::default();
    for line in text.lines() {
        let Some((code, remark)) = line.split_once(mark) else { continue };
        let Some((target, _)) = code.split_once('=') else { continue };
        let target = target.trim_end_matches(['<', ':']).trim_end();
        let start = target.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
        if start < target.len() {
            found.entry(target[start..].to_owned()).or_insert_with(|| remark.trim().to_owned());
        }
    }
    found
}

/// Reads and elaborates a source.
///
/// # Errors
/// If the text is not valid in the language, or is outside of the supported subset.
pub fn read(language: Language, text: &str, top: Option<&str>) -> Result<Rtl, Diagnostic> {
    let find = |_: u64, name: &str| Err(format!("the file {name} is not read here: only the source is given"));
    read_with(language, text, top, &find)
}

/// Function that returns the contents of a data file, which a line of the source names, or the reason for its failure.
pub(crate) type FindData<'a> = dyn Fn(u64, &str) -> Result<String, String> + Sync + 'a;

/// Like [`read`], with data files.
pub(crate) fn read_with(
    language: Language,
    text: &str,
    top: Option<&str>,
    find: &FindData<'_>,
) -> Result<Rtl, Diagnostic> {
    if text.len() > MAX_TEXT {
        return Err(Diagnostic::error("E0903", Place::Whole, "a text of more than 256 MiB"));
    }
    // The front ends recurse over expressions, to the maximum depth that their parsers accept.
    std::thread::scope(|s| {
        let reader = std::thread::Builder::new().stack_size(STACK).spawn_scoped(s, || match language {
            Language::Verilog | Language::SystemVerilog => verilog::read(text, top, find),
            Language::Vhdl => vhdl::read(text, top, find),
        });
        let mut rtl = match reader {
            Ok(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(e) => Err(Diagnostic::error("E0905", Place::Whole, format!("cannot start a thread to read with: {e}"))),
        }?;
        rtl.remarks = remarks(language, text);
        Ok(rtl)
    })
}

#[cfg(test)]
mod forms;

#[cfg(test)]
mod tests {
    use super::*;
    use super::{Expr, NodeId};

    /// Returns the diagnostics of a front end for a file; empty if it accepts the file.
    pub(super) fn said(language: Language, text: &str) -> String {
        read(language, text, None).err().map_or(String::new(), |e| e.to_string())
    }

    #[test]
    fn the_system_verilog_of_generated_files_is_read() {
        let text = "module m(input wire logic clk, input wire logic [3:0] x, output wire logic [7:0] y);
            localparam int LATENCY = 1, II = 1;
            localparam int unsigned DEPTH = 2;
            wire logic signed [3:0] a = $signed(x);
            wire logic signed [7:0] b = (8'(a) <<< 2) - 8'(a);
            logic signed [7:0] r;
            always_ff @(posedge clk) begin r <= -(8'(b[3:0])); end
            assign y = $unsigned(r);
            endmodule";
        assert_eq!(said(Language::SystemVerilog, text), "");
        // These keywords of SystemVerilog are valid names in Verilog-2001.
        let text = "module m(input logic, output int); wire bit = logic; assign int = bit; endmodule";
        assert_eq!(said(Language::Verilog, text), "");
        let value = |expression: &str| {
            let text = format!("module m(output [7:0] y);\nassign y = {expression};\nendmodule\n");
            value(Language::Verilog, &text)
        };
        assert_eq!(value("8'(4'sb1010)"), Some(0xfa));
        assert_eq!(value("8'(4'b1010)"), Some(0x0a));
        // The operand is self-determined.
        assert_eq!(value("8'(4'd15 + 4'd1)"), Some(0));
        assert_eq!(value("2'(4'b0111)"), Some(3));
        refused(Language::Verilog, "module m(output y); assign y = ", "; endmodule", &[("0'(1'b1)", "cast")]);
    }

    pub(super) fn refused(language: Language, head: &str, tail: &str, cases: &[(&str, &str)]) {
        for (body, why) in cases {
            let text = format!("{head}{body}{tail}");
            let said = said(language, &text);
            match why.is_empty() {
                true => assert_eq!(said, "", "{text}"),
                false => {
                    assert!(said.contains(why) && said.contains("line"), "{why} is not what is said: {said:?}\n{text}")
                }
            }
        }
    }

    #[test]
    fn comments_at_the_ends_of_lines_belong_to_what_these_drive() {
        let verilog = "module m(input [3:0] a, output [3:0] y); // y = ?\n  wire [3:0] t = a + 4'd1;  // one more\n\
                       // u = none\n  wire [3:0] u;\n  assign u = t ^ a; // = both\n  assign y = u; // out\n\
                       endmodule\n";
        let rtl = read(Language::Verilog, verilog, None).unwrap();
        let said = ["t", "u", "y", "a", "u1.t"].map(|name| rtl.remark(name));
        assert_eq!(said, [Some("one more"), Some("= both"), Some("out"), None, Some("one more")]);
        let vhdl = "entity m is port (a: in bit; y: out bit); end;\narchitecture r of m is\nsignal t: bit;\nbegin\n\
                    t <= not a;  -- the other\n  y <= t; end;\n";
        let found = remarks(Language::Vhdl, vhdl);
        assert_eq!(found.get("t").map(String::as_str), Some("the other"));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn verilog_that_has_no_one_meaning_is_refused_by_name() {
        let head = "module m(input clk, input rst, input [3:0] a, input [3:0] b, output reg [3:0] y);\n";
        refused(
            Language::Verilog,
            head,
            "\nendmodule\n",
            &[
                ("always @* if (a[0]) y = b;", "a latch"),
                ("always @* y = a[0] ? b : 4'bz;", "tri-states are not supported"),
                ("always @* y = a; assign y = b;", "two drivers"),
                ("wire [3:0] t; always @* t = a; always @* y = t;", "t is a net"),
                ("always @* a = b; always @* y = a;", "a is a net"),
                ("wire [3:0] t = a; initial t = 4'd1; always @* y = t;", "t is a net"),
                ("tri [3:0] t; always @(posedge clk) t[1] <= b[0]; always @* y = t;", "t is a net"),
                ("wire [3:0] t; always @* y = t;", "nothing drives"),
                ("wire [3:0] t; assign t[0] = a[0]; always @* y = t;", ""),
                ("reg [3:0] t; always @* begin t[1:0] = a[1:0]; if (a[0]) t[2] = b[0]; y = t; end", "a latch"),
                ("always @(a) y = a & b;", "not in the event list"),
                ("always @(a[0]) y = a;", "not in the event list"),
                ("always @(a or b) y = a & b;", ""),
                ("reg [3:0] t; always @* begin y = t; t = a; end", "before this process assigns it"),
                ("always #1 y = a;", "expected @"),
                ("always @(posedge clk or posedge rst) if (rst) y <= a; else y <= b;", "not constant"),
                ("always @(posedge a) y <= b;", "a clock of more than one bit"),
                ("always @(posedge clk or b) y <= b;", "edges and levels"),
                ("reg [3:0] t; always @(posedge clk) t = a; always @(posedge clk) y <= t;", "a race"),
                ("function [3:0] f(input [3:0] x); f = x & b; endfunction always @* y = f(a);", "reads a signal"),
                (
                    "reg [3:0] t; function [3:0] f(input [3:0] x); begin t = x; f = x; end endfunction\n\
                  always @(posedge clk) y <= f(a);",
                    "assigns to a signal",
                ),
                ("always @* casez (a) 4'b1x??: y = a; default: y = b; endcase", "a label with x"),
                ("always @* case (a) 4'b1??0: y = a; default: y = b; endcase", "a label with x"),
                // Every value of the selector has a label, so no default is needed.
                ("always @* case (a[1:0]) 2'd0: y = a; 2'd1, 2'd2: y = b; 2'd3: y = ~a; endcase", ""),
                ("always @* case (a[1:0]) 2'd0: y = a; 2'd1: y = b; 2'd3: y = ~a; endcase", "a latch"),
                ("always @* y = 'h1_0000_0000;", "does not fit"),
                ("always @* y = 'shf;", "has a size"),
                ("always @* y = {a, 1};", "without size"),
                ("reg [3:0] m [0:3]; always @(posedge clk) begin m[a] <= b; y <= m[b]; end", ""),
                ("reg [3:0] m [0:3]; always @(posedge clk) begin m <= b; y <= m[b]; end", "word by word"),
                ("reg [3:0] m [0:3]; always @(posedge clk) begin m[4] <= b; y <= m[b]; end", "outside the memory"),
                ("reg [31:0] m [0:65535]; always @(posedge clk) begin m[a] <= b; y <= m[b]; end", "2^20 bits"),
                ("reg [31:0] m [0:16777215]; always @(posedge clk) y <= m[b];", "2^23 words"),
                ("always @* y = 4'd3;", "never runs"),
                ("task t(output [3:0] z); z = b; endtask always @* t(y);", "a function or task that reads a signal"),
                ("task t(input [3:0] x, output [3:0] z); z = x + 1; endtask always @(a) t(a, y);", ""),
                ("task t; t; endtask always @(a) begin y = a; t; end", "64 deep"),
                ("task t(input x); ; endtask always @(a) begin y = a; t; end", "takes 1 arguments"),
                ("always @(a) begin y = a; t; end", "no task is called t"),
                (
                    "function f(input x); t(x); endfunction task t(input x); ; endtask always @(a) y = f(a[0]);",
                    "a function that calls a task",
                ),
                ("defparam u.P = 3; always @* y = a;", "defparam is not read"),
                ("always @* y = a ** {17{b}};", "more than 64 bits"),
                ("always @* y = a; wire t = u.b;", "other paths are not supported"),
                ("always @* y = n;", "n is not declared as a value"),
                ("wire [3:0] n; assign n = a; assign o = n[0]; always @* y = o;", ""),
                ("`default_nettype none\nassign o = a; always @* y = a;", "o is not declared"),
                ("`include \"x.v\"\n", "`include is not supported"),
                ("always @* y = `F;", "`F is not supported"),
                ("always @* y = a; and (y, a, b);", "more than one bit"),
                ("always @* y = a; wire t; and #1 (t, a[0], b[0]);", "expected (, found #"),
                (
                    "integer i; always @* for (i = 0; i < 4; i = i + 1) y[i] = a[3 - i];\n\
                  reg [3:0] t; always @* for (i = 0; i < 4; i = i + 1) t[i] = a[i];",
                    "",
                ),
            ],
        );
    }

    #[test]
    fn vhdl_that_has_no_one_meaning_is_refused_by_name() {
        let head = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n\
                    entity m is port (clk, rst : in std_logic; a, b : in unsigned(3 downto 0); y : out unsigned(3 \
                    downto 0));\n\
                    end entity;\narchitecture r of m is\n";
        refused(
            Language::Vhdl,
            head,
            "\nend architecture;\n",
            &[
                ("begin process (a, b) begin if a(0) = '1' then y <= b; end if; end process;", "a latch"),
                ("begin y <= a when rst = '1' else (others => 'Z');", "a tri-state"),
                ("begin y <= a; y <= b;", "two drivers"),
                ("begin y <= 3 - \"0101\";", ""),
                ("begin y <= \"0101\" + 3;", ""),
                ("begin y <= a after 1 ns;", "delays are not supported"),
                ("begin process (a) begin y <= a and b; end process;", "not in the sensitivity list"),
                ("begin process begin y <= a; end process;", "without a sensitivity list"),
                (
                    "begin process (clk) begin if rst = '1' then y <= a; elsif rising_edge(clk) then y <= b; end if; \
                     end process;",
                    "not in the sensitivity list",
                ),
                (
                    "begin process (clk, rst) begin if rst = '1' then y <= a; elsif rising_edge(clk) then y <= b; end \
                     if; end process;",
                    "not constant",
                ),
                (
                    "begin process (a, b) begin case a is when \"0000\" => y <= a; when \"0001\" => y <= b; end case; \
                     end process;",
                    "others is missing",
                ),
                ("begin process begin wait until rising_edge(clk); y <= a; end process;", ""),
                ("begin y <= a + (-1);", "a negative number with an unsigned vector"),
                ("signal s : std_logic_vector(3 downto 0);\nbegin y <= unsigned(s + s);", "std_logic_vector"),
                ("use ieee.std_logic_arith.all;\nbegin y <= a;", "the package ieee.std_logic_arith"),
                ("begin y <= shift_left(a, 1)(3 downto 0);", ""),
                ("constant c : unsigned := a(3 downto 0);\nbegin y <= a;", "a constant is needed here"),
                (
                    "type t is (p, q, r); signal s : t;\nbegin process (s, a) begin case s is when p => y <= a; when \
                     q => y <= not a; end case; end process;",
                    "others is missing",
                ),
                (
                    "type t is (p, q); signal s : t;\nbegin process (s, a) begin case s is when p => y <= a; when q \
                     => y <= not a; end case; end process; s <= q when rst = '1' else p;",
                    "",
                ),
                (
                    "type t is (p, q); type u is (p, r); signal s : t; signal v : u;\nbegin s <= p; v <= p; y <= a \
                     when s = q else b;",
                    "",
                ),
                (
                    "type t is (p, q); type u is (p, q); signal s : t; signal v : u;\nbegin s <= v; y <= a;",
                    "t is expected here, not u",
                ),
                (
                    "type t is record f : std_logic; end record; signal s : t;\nbegin s.f <= rst; y(3 downto 1) <= \
                     a(3 downto 1); y(0) <= s.g;",
                    "no field g",
                ),
                (
                    "type t is record f, g : std_logic; end record; signal s : t;\nbegin s <= (f => rst); y <= a;",
                    "without the field g",
                ),
                ("signal n : integer range 0 to 5;\nbegin n <= 6; y <= a;", "outside of the range 0 to 5"),
                ("signal n : integer;\nbegin n <= to_integer(a) - to_integer(b); y <= to_unsigned(abs n, 4);", ""),
                (
                    "type t is array (0 to 3) of unsigned(3 downto 0); signal m : t;\nbegin m(to_integer(a)) <= b; y \
                     <= a;",
                    "at a constant place",
                ),
                (
                    "type t is array (0 to 3) of unsigned(3 downto 0); signal m : t;\nbegin process (clk) begin if \
                     rising_edge(clk) then m(4) <= b; end if; end process; y <= a;",
                    "outside the array",
                ),
                ("type t is array (0 to 1, 0 to 1) of std_logic;\nbegin y <= a;", ""),
                ("type t is array (natural range <>, 0 to 1) of std_logic;\nbegin y <= a;", "without ranges"),
                (
                    "type t is array (0 to 9999999) of unsigned(3 downto 0); signal m : t;\nbegin y <= a;",
                    "more than 2^20 bits",
                ),
                ("use work.p.all;\nbegin y <= a;", "not in the file before this"),
                (
                    "function f(x : unsigned) return unsigned is begin return x; end function;\nfunction f(x : \
                     signed) return unsigned is begin return unsigned(x); end function;\nbegin y <= f(signed(a));",
                    "",
                ),
                (
                    "function f(x : unsigned) return unsigned is begin return f(x); end function;\nbegin y <= f(a);",
                    "64 deep",
                ),
                (
                    "function \"+\"(x, z : std_logic) return std_logic is begin return x; end function;\nbegin y <= a;",
                    "operators of the user are not read",
                ),
                ("alias h : unsigned(1 downto 0) is a(3 downto 2);\nbegin y <= h & h(1) & h(0);", ""),
                (
                    "begin assert a = b report \"x\" severity note; g : block is signal s : unsigned(3 downto 0); \
                     begin s <= a; y <= s; end block;",
                    "",
                ),
                ("begin y <= a when std_match(a, unsigned'(\"01\" & \"-1\")) else b;", "a pattern that is a string"),
            ],
        );
    }

    /// Returns the value of a constant expression; `None` for others.
    fn settled(rtl: &Rtl, node: NodeId) -> Option<u64> {
        match rtl.expr(node) {
            Expr::Const(v) => u64::try_from(&**v).ok(),
            Expr::Signal(id) => {
                let wires = &rtl.signal(*id).wires;
                wires.first()?;
                wires.iter().try_fold(0, |all, &(lo, n)| Some(all | settled(rtl, n)? << lo))
            }
            Expr::Slice { x, lo } => Some(settled(rtl, *x)? >> lo & ((1 << rtl.width(node)) - 1)),
            Expr::Concat(parts) => {
                let join = |high: u64, part: &NodeId| Some(high << rtl.width(*part) | settled(rtl, *part)?);
                parts.iter().rev().try_fold(0, join)
            }
            _ => None,
        }
    }

    /// Returns the value of the output, if it is constant.
    pub(super) fn value(language: Language, text: &str) -> Option<u64> {
        let rtl = read(language, text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
        settled(&rtl, rtl.read(rtl.outputs[0]))
    }

    #[test]
    fn constants_are_those_of_the_standards() {
        let verilog = [
            // A parameter with a range counts its bits as declared, and its value is truncated to this range.
            ("localparam [0:7] P = 8'h80; assign y = P[0];", 1),
            ("localparam [8:1] P = 8'h01; assign y = P[1];", 1),
            ("localparam [4:0] P = 4'hf + 4'h1; assign y = P;", 16),
            ("function integer f(input integer n); f = n + 1; endfunction localparam N = f(40); assign y = N;", 41),
            (
                "function [7:0] f(input [7:0] x); integer i; begin f = 0; for (i = 0; i < 8; i = i + 1) f = f + x[i]; \
                 end\n\
              endfunction assign y = f(8'hb7);",
                6,
            ),
            (
                "wire n, o, p, q, r, s; nand g (n, 1'b1, 1'b0, 1'b1); xnor (o, 1'b1, 1'b0, 1'b1);\n\
                 buf (p, q, 1'b1); not g2 (r, 1'b1), g3 (s, 1'b0); assign y = {r, s, n, o, p, q, 2'b00};",
                0b0111_1100,
            ),
            ("wire signed [3:0] a = -4'sd3; assign y = (a ** 2'd2) + (a >>> 1) + (a / 2);", 6),
        ];
        for (body, want) in verilog {
            let text = format!("module m(output [7:0] y);\n{body}\nendmodule\n");
            let text = text.replace("wire signed [3:0] a = -4'sd3;", "localparam signed [3:0] a = -4'sd3;");
            assert_eq!(value(Language::Verilog, &text), Some(want), "{text}");
        }
        let vhdl = [
            // Without a context, the indices of strings ascend; those of an aggregate follow its target.
            ("constant c : std_logic_vector := \"1000\";", "(0 => c(0), others => '0')", 1),
            ("constant c : std_logic_vector(0 to 7) := (0 => '1', others => '0');", "unsigned(c)", 128),
            ("constant c : std_logic_vector(8 downto 1) := (1 => '1', others => '0');", "unsigned(c)", 1),
            // Integers are not truncated before a division or a comparison.
            ("constant c : unsigned(3 downto 0) := \"1111\";", "resize(c / 17, 8)", 0),
            ("constant c : unsigned(3 downto 0) := \"0101\";", "resize(37 / c, 8)", 7),
            ("constant c : signed(3 downto 0) := \"1000\";", "resize(unsigned(c mod 3), 8)", 1),
            ("constant c : signed(3 downto 0) := \"1001\";", "resize(unsigned(c rem 4), 8)", 13),
            ("constant c : signed(3 downto 0) := \"1000\";", "resize(unsigned(c / 8), 8)", 0),
            ("", "9 - \"00000101\"", 4),
            ("", "\"00000101\" + 9", 14),
            (
                "function f(p, q : unsigned) return unsigned is begin return p - q; end function;\n\
              constant c : unsigned(7 downto 0) := \"00000111\";",
                "f(q => to_unsigned(2, 8), p => c)",
                5,
            ),
        ];
        for (decl, value_text, want) in vhdl {
            let text = format!(
                "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n\
                 entity m is port (y : out unsigned(7 downto 0)); end entity;\n\
                 architecture r of m is\n{decl}\nbegin y <= {value_text};\nend architecture;\n"
            );
            assert_eq!(value(Language::Vhdl, &text), Some(want), "{text}");
        }
    }
}
