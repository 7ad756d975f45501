//! Reserved words for module and port names, with the language or tool that reserves them: one table, [`TABLE`].
//!
//! A name that the caller chooses must be legal in the requested [`Languages`]: [`reserved_by`] returns the language or
//! tool that reserves it. Generated names must be legal in all languages: [`is_reserved`] checks this. The reserved
//! words are the keywords of Verilog (IEEE 1364-2005), SystemVerilog (1800-2023, because many flows read every file as
//! SystemVerilog) and VHDL (1076-2019), the names that the generated VHDL uses from `std`, `std_logic_1164` and
//! `numeric_std` (a signal with such a name would hide them), the names that the code generators use, and names that
//! individual tools reject or warn about.
//!
//! The comparison ignores case for keywords, as in VHDL, and for some module names; most words of tools are compared
//! with case. The table has no entries for Tcl, whose commands are not names of objects, for GHDL, whose libraries only
//! hide names of [`LIBRARY`], and for cocotb 2, whose attributes begin with an underscore.

use rustc_hash::FxHashSet;
use std::sync::OnceLock;

/// HDL languages in which a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Languages {
    /// Verilog and SystemVerilog.
    pub verilog: bool,
    /// VHDL.
    pub vhdl: bool,
}

impl Languages {
    /// Verilog and VHDL.
    pub const BOTH: Languages = Languages { verilog: true, vhdl: true };
    /// Verilog only.
    pub const VERILOG: Languages = Languages { verilog: true, vhdl: false };
    /// VHDL only.
    pub const VHDL: Languages = Languages { verilog: false, vhdl: true };

    /// Returns the names of the languages, for messages.
    pub fn names(self) -> &'static str {
        match (self.verilog, self.vhdl) {
            (true, false) => "Verilog",
            (false, true) => "VHDL",
            _ => "both Verilog and VHDL",
        }
    }
}

impl Default for Languages {
    fn default() -> Languages {
        Languages::BOTH
    }
}

/// Kind of the object that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A module or an entity, and its file.
    Module,
    /// A port or a signal.
    Port,
}

/// Words that a language or a tool reserves.
#[derive(Clone, Copy, Debug)]
pub struct Reservation {
    /// Language or tool, for the message "reserved by ...".
    pub by: &'static str,
    /// Languages of the files in which the words are reserved.
    pub languages: Languages,
    /// `true` if the words are reserved for module names only.
    pub is_module_only: bool,
    /// `true` if the comparison distinguishes upper and lower case.
    pub is_exact: bool,
    /// Reserved words.
    pub words: &'static [&'static str],
}

impl Reservation {
    const fn keywords(by: &'static str, languages: Languages, words: &'static [&'static str]) -> Reservation {
        Reservation { by, languages, is_module_only: false, is_exact: false, words }
    }

    const fn tool(by: &'static str, words: &'static [&'static str]) -> Reservation {
        Reservation { by, languages: Languages::VERILOG, is_module_only: false, is_exact: true, words }
    }

    const fn modules(by: &'static str, is_exact: bool, words: &'static [&'static str]) -> Reservation {
        Reservation { by, languages: Languages::BOTH, is_module_only: true, is_exact, words }
    }

    fn holds(&self, name: &str) -> bool {
        let same = |word: &&&str| if self.is_exact { **word == name } else { word.eq_ignore_ascii_case(name) };
        self.words.iter().any(|word| same(&word))
    }

    fn concerns(&self, kind: NameKind, languages: Languages) -> bool {
        let used = (self.languages.verilog && languages.verilog) || (self.languages.vhdl && languages.vhdl);
        used && (kind == NameKind::Module || !self.is_module_only)
    }
}

/// All reserved words.
pub const TABLE: &[Reservation] = &[
    Reservation::keywords("Verilog", Languages::VERILOG, VERILOG),
    Reservation::keywords("SystemVerilog", Languages::VERILOG, SYSTEM_VERILOG),
    Reservation::keywords("VHDL", Languages::VHDL, VHDL),
    Reservation::keywords("the standard libraries of VHDL", Languages::VHDL, LIBRARY),
    Reservation::keywords("the generated text itself", Languages::BOTH, WRITERS),
    Reservation::tool("the generated text itself", CONSTANTS),
    Reservation::tool("SystemVerilog's package std (Verilator stops)", STD_PACKAGE),
    Reservation::tool("Icarus Verilog", ICARUS),
    Reservation::tool("the C++ class that Verilator makes", VERILATOR_CLASS),
    Reservation::tool("a macro in the C++ class that Verilator makes", MACROS),
    Reservation::tool("C++ (Verilator warns)", CPP),
    Reservation {
        languages: Languages::VERILOG,
        ..Reservation::modules("Verilator, for its outermost scope", true, &["TOP"])
    },
    Reservation::modules("Windows, for a device", false, WINDOWS),
    Reservation::modules("Vivado, for a primitive", true, VIVADO),
    Reservation::modules("Quartus, for a primitive", false, QUARTUS),
];

/// Returns the language or tool that reserves a name in these languages; `None` if the name is allowed.
pub fn reserved_by(name: &str, kind: NameKind, languages: Languages) -> Option<&'static str> {
    let mut all = TABLE.iter().filter(|reservation| reservation.concerns(kind, languages));
    all.find(|reservation| reservation.holds(name)).map(|reservation| reservation.by)
}

/// Returns `true` if any language or tool reserves a name for a module or a port.
pub fn is_reserved(name: &str) -> bool {
    // Nearly all names of a netlist are like `v17`, and no reserved word has a digit in second place.
    if name.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..name.len()) else { return false };
    lower.copy_from_slice(name.as_bytes());
    lower.make_ascii_lowercase();
    let (any_case, exact) = words();
    any_case.contains(&*lower) || exact.contains(name.as_bytes())
}

/// Length of the longest reserved word, in bytes.
const LONGEST: usize = 25;

type Words = FxHashSet<&'static [u8]>;

/// Returns the words that are reserved regardless of case, in lower case, and the words that are reserved with exact
/// case.
fn words() -> &'static (Words, Words) {
    static WORDS: OnceLock<(Words, Words)> = OnceLock::new();
    let of = |is_exact| {
        let reservations = TABLE.iter().filter(|reservation| reservation.is_exact == is_exact);
        reservations.flat_map(|reservation| reservation.words.iter().map(|word| word.as_bytes())).collect()
    };
    WORDS.get_or_init(|| (of(false), of(true)))
}

/// Classes that are visible in every SystemVerilog file (IEEE 1800-2023, annex G).
const STD_PACKAGE: &[&str] = &["mailbox", "semaphore"];

/// Keywords of Verilog-AMS that Icarus Verilog recognises by default.
const ICARUS: &[&str] = &["bool", "wreal"];

/// Members of the C++ class of a Verilator model, declared in `verilated.h` and the generated header.
const VERILATOR_CLASS: &[&str] = &[
    "CData",
    "IData",
    "QData",
    "SData",
    "VerilatedContext",
    "VerilatedModel",
    "WData",
    "contextp",
    "eval",
    "eval_end_step",
    "eval_step",
    "eventsPending",
    "hierName",
    "modelName",
    "name",
    "nextTimeSlot",
    "rootp",
    "threads",
    "trace",
    "vlSymsp",
];

/// Macros of the headers that the C++ class of a Verilator model includes.
const MACROS: &[&str] = &[
    "BUFSIZ",
    "EOF",
    "INFINITY",
    "M_PI",
    "NAN",
    "PRIx64",
    "RAND_MAX",
    "UINT8_MAX",
    "VERILATOR_VERSION_INTEGER",
    "errno",
];

/// Words of C++ and its library that Verilator renames, with the warning SYMRSVDWORD (V3LanguageWords.h).
const CPP: &[&str] = &[
    "abort",
    "alignas",
    "alignof",
    "and_eq",
    "asm",
    "atomic_cancel",
    "atomic_commit",
    "atomic_noexcept",
    "auto",
    "bitand",
    "bitor",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "compl",
    "complex",
    "concept",
    "const_cast",
    "constexpr",
    "decltype",
    "delete",
    "double",
    "dynamic_cast",
    "explicit",
    "float",
    "friend",
    "goto",
    "inline",
    "list",
    "long",
    "mutable",
    "namespace",
    "noexcept",
    "not_eq",
    "nullptr",
    "operator",
    "or_eq",
    "override",
    "public",
    "requires",
    "set",
    "short",
    "sizeof",
    "static_assert",
    "static_cast",
    "switch",
    "synchronized",
    "template",
    "thread_local",
    "throw",
    "transaction_safe",
    "transaction_safe_dynamic",
    "try",
    "typeid",
    "typename",
    "uint32_t",
    "uint8_t",
    "using",
    "vector",
    "volatile",
    "wchar_t",
    "xor_eq",
];

/// File names that Windows reserves for devices, with any extension (Microsoft, "Naming Files, Paths, and Namespaces").
const WINDOWS: &[&str] = &[
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1", "lpt2", "lpt3",
    "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// Primitives of AMD's library: synthesis would treat a module with such a name as the primitive (UG953, UG974).
const VIVADO: &[&str] = &[
    "BUFG",
    "BUFGCE",
    "BUFGMUX",
    "BUFH",
    "BUFIO",
    "BUFR",
    "CARRY4",
    "CARRY8",
    "DSP48",
    "DSP48E1",
    "DSP48E2",
    "DSP58",
    "FDCE",
    "FDPE",
    "FDRE",
    "FDSE",
    "GND",
    "IBUF",
    "IBUFDS",
    "IDELAYE2",
    "IOBUF",
    "LDCE",
    "LDPE",
    "LOOKAHEAD8",
    "LUT1",
    "LUT2",
    "LUT3",
    "LUT4",
    "LUT5",
    "LUT6",
    "LUT6_2",
    "MMCME2_ADV",
    "MUXF7",
    "MUXF8",
    "MUXF9",
    "OBUF",
    "OBUFDS",
    "OBUFT",
    "PLLE2_ADV",
    "RAM32M",
    "RAM64M",
    "RAMB18E1",
    "RAMB18E2",
    "RAMB36E1",
    "RAMB36E2",
    "SRL16E",
    "SRLC32E",
    "STARTUPE2",
    "URAM288",
    "VCC",
    "XADC",
];

/// Primitives of Quartus (Quartus Help, "Primitives").
const QUARTUS: &[&str] = &[
    "alt_inbuf",
    "alt_iobuf",
    "alt_outbuf",
    "altsyncram",
    "carry",
    "carry_sum",
    "cascade",
    "dff",
    "dffe",
    "dffea",
    "dffeas",
    "global",
    "gnd",
    "jkff",
    "jkffe",
    "latch",
    "lcell",
    "lpm_mult",
    "opndrn",
    "row_global",
    "soft",
    "srff",
    "srffe",
    "tff",
    "tffe",
    "vcc",
];

/// Names that the code generators use: the architecture, the sink of unread bits, the parameter of table functions,
/// attributes.
const WRITERS: &[&str] = &[
    "altera_attribute",
    "keep",
    "rom_address",
    "rom_style",
    "romstyle",
    "rtl",
    "shreg_extract",
    "syn_keep",
    "syn_preserve",
    "syn_romstyle",
    "unused_bits",
    "unused_constants",
];

/// Constants of the generated modules in Verilog.
const CONSTANTS: &[&str] = &["INITIATION_INTERVAL", "LATENCY"];

/// Names that are visible in the generated VHDL: libraries, standard packages, types and functions.
const LIBRARY: &[&str] = &[
    "and_reduce",
    "bit",
    "bit_vector",
    "boolean",
    "character",
    "falling_edge",
    "false",
    "ieee",
    "integer",
    "is_x",
    "natural",
    "now",
    "numeric_std",
    "or_reduce",
    "positive",
    "real",
    "resize",
    "rising_edge",
    "rotate_left",
    "rotate_right",
    "shift_left",
    "shift_right",
    "signed",
    "standard",
    "std",
    "std_logic",
    "std_logic_1164",
    "std_logic_vector",
    "std_match",
    "std_ulogic",
    "std_ulogic_vector",
    "string",
    "time",
    "to_01",
    "to_bit",
    "to_bitvector",
    "to_integer",
    "to_signed",
    "to_stdlogicvector",
    "to_stdulogic",
    "to_unsigned",
    "to_x01",
    "true",
    "unsigned",
    "work",
];

/// Keywords of Verilog: IEEE 1364-2005, annex B.
const VERILOG: &[&str] = &[
    "always",
    "and",
    "assign",
    "automatic",
    "begin",
    "buf",
    "bufif0",
    "bufif1",
    "case",
    "casex",
    "casez",
    "cell",
    "cmos",
    "config",
    "deassign",
    "default",
    "defparam",
    "design",
    "disable",
    "edge",
    "else",
    "end",
    "endcase",
    "endconfig",
    "endfunction",
    "endgenerate",
    "endmodule",
    "endprimitive",
    "endspecify",
    "endtable",
    "endtask",
    "event",
    "for",
    "force",
    "forever",
    "fork",
    "function",
    "generate",
    "genvar",
    "highz0",
    "highz1",
    "if",
    "ifnone",
    "incdir",
    "include",
    "initial",
    "inout",
    "input",
    "instance",
    "integer",
    "join",
    "large",
    "liblist",
    "library",
    "localparam",
    "macromodule",
    "medium",
    "module",
    "nand",
    "negedge",
    "nmos",
    "nor",
    "noshowcancelled",
    "not",
    "notif0",
    "notif1",
    "or",
    "output",
    "parameter",
    "pmos",
    "posedge",
    "primitive",
    "pull0",
    "pull1",
    "pulldown",
    "pullup",
    "pulsestyle_ondetect",
    "pulsestyle_onevent",
    "rcmos",
    "real",
    "realtime",
    "reg",
    "release",
    "repeat",
    "rnmos",
    "rpmos",
    "rtran",
    "rtranif0",
    "rtranif1",
    "scalared",
    "showcancelled",
    "signed",
    "small",
    "specify",
    "specparam",
    "strong0",
    "strong1",
    "supply0",
    "supply1",
    "table",
    "task",
    "time",
    "tran",
    "tranif0",
    "tranif1",
    "tri",
    "tri0",
    "tri1",
    "triand",
    "trior",
    "trireg",
    "unsigned",
    "use",
    "uwire",
    "vectored",
    "wait",
    "wand",
    "weak0",
    "weak1",
    "while",
    "wire",
    "wor",
    "xnor",
    "xor",
];

/// Keywords of IEEE 1800-2023, annex B, beyond [`VERILOG`].
const SYSTEM_VERILOG: &[&str] = &[
    "1step",
    "accept_on",
    "alias",
    "always_comb",
    "always_ff",
    "always_latch",
    "assert",
    "assume",
    "before",
    "bind",
    "bins",
    "binsof",
    "bit",
    "break",
    "byte",
    "chandle",
    "checker",
    "class",
    "clocking",
    "const",
    "constraint",
    "context",
    "continue",
    "cover",
    "covergroup",
    "coverpoint",
    "cross",
    "dist",
    "do",
    "endchecker",
    "endclass",
    "endclocking",
    "endgroup",
    "endinterface",
    "endpackage",
    "endprogram",
    "endproperty",
    "endsequence",
    "enum",
    "eventually",
    "expect",
    "export",
    "extends",
    "extern",
    "final",
    "first_match",
    "foreach",
    "forkjoin",
    "global",
    "iff",
    "ignore_bins",
    "illegal_bins",
    "implements",
    "implies",
    "import",
    "inside",
    "int",
    "interconnect",
    "interface",
    "intersect",
    "join_any",
    "join_none",
    "let",
    "local",
    "logic",
    "longint",
    "matches",
    "modport",
    "nettype",
    "new",
    "nexttime",
    "null",
    "package",
    "packed",
    "priority",
    "program",
    "property",
    "protected",
    "pure",
    "rand",
    "randc",
    "randcase",
    "randsequence",
    "ref",
    "reject_on",
    "restrict",
    "return",
    "s_always",
    "s_eventually",
    "s_nexttime",
    "s_until",
    "s_until_with",
    "sequence",
    "shortint",
    "shortreal",
    "soft",
    "solve",
    "static",
    "string",
    "strong",
    "struct",
    "super",
    "sync_accept_on",
    "sync_reject_on",
    "tagged",
    "this",
    "throughout",
    "timeprecision",
    "timeunit",
    "type",
    "typedef",
    "union",
    "unique",
    "unique0",
    "until",
    "until_with",
    "untyped",
    "var",
    "virtual",
    "void",
    "wait_order",
    "weak",
    "wildcard",
    "with",
    "within",
];

/// Keywords of VHDL: IEEE 1076-2019, 15.10, which includes the keywords of 1993 and 2008.
const VHDL: &[&str] = &[
    "abs",
    "access",
    "after",
    "alias",
    "all",
    "and",
    "architecture",
    "array",
    "assert",
    "assume",
    "assume_guarantee",
    "attribute",
    "begin",
    "block",
    "body",
    "buffer",
    "bus",
    "case",
    "component",
    "configuration",
    "constant",
    "context",
    "cover",
    "default",
    "disconnect",
    "downto",
    "else",
    "elsif",
    "end",
    "entity",
    "exit",
    "fairness",
    "file",
    "for",
    "force",
    "function",
    "generate",
    "generic",
    "group",
    "guarded",
    "if",
    "impure",
    "in",
    "inertial",
    "inout",
    "is",
    "label",
    "library",
    "linkage",
    "literal",
    "loop",
    "map",
    "mod",
    "nand",
    "new",
    "next",
    "nor",
    "not",
    "null",
    "of",
    "on",
    "open",
    "or",
    "others",
    "out",
    "package",
    "parameter",
    "port",
    "postponed",
    "private",
    "procedure",
    "process",
    "property",
    "protected",
    "pure",
    "range",
    "record",
    "register",
    "reject",
    "release",
    "rem",
    "report",
    "restrict",
    "restrict_guarantee",
    "return",
    "rol",
    "ror",
    "select",
    "sequence",
    "severity",
    "shared",
    "signal",
    "sla",
    "sll",
    "sra",
    "srl",
    "strong",
    "subtype",
    "then",
    "to",
    "transport",
    "type",
    "unaffected",
    "units",
    "until",
    "use",
    "variable",
    "view",
    "vmode",
    "vpkg",
    "vprop",
    "vunit",
    "wait",
    "when",
    "while",
    "with",
    "xnor",
    "xor",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found() {
        for reservation in TABLE {
            for &word in reservation.words {
                assert!(is_reserved(word) && word.len() <= LONGEST, "{word}");
                let by = reserved_by(word, NameKind::Module, reservation.languages);
                assert!(by.is_some(), "{word}");
                assert!(reservation.is_exact || word.to_ascii_lowercase() == *word, "{word}");
            }
        }
        assert!(!is_reserved(&"x".repeat(LONGEST + 1)));
    }

    #[test]
    fn case_matters_to_tools_only() {
        assert!(is_reserved("Signal") && is_reserved("WIRE") && is_reserved("logic") && is_reserved("CON"));
        assert!(is_reserved("TOP") && is_reserved("vlSymsp"));
        assert!(!is_reserved("top") && !is_reserved("Name") && !is_reserved("lut6"));
        assert!(!is_reserved("v17") && !is_reserved("model_inp") && !is_reserved("clk"));
    }

    #[test]
    fn words_are_refused_in_their_languages() {
        let by = |name, languages| reserved_by(name, NameKind::Port, languages);
        assert_eq!(by("out", Languages::VERILOG), None);
        assert_eq!(by("out", Languages::BOTH), Some("VHDL"));
        assert_eq!(by("wire", Languages::VHDL), None);
        assert_eq!(by("trace", Languages::VHDL), None);
        assert_eq!(by("trace", Languages::VERILOG), Some("the C++ class that Verilator makes"));
        // The name of a port is not the name of a file or a primitive.
        assert_eq!(by("aux", Languages::BOTH), None);
        assert!(reserved_by("Aux", NameKind::Module, Languages::VHDL).is_some_and(|by| by.starts_with("Windows")));
    }
}
