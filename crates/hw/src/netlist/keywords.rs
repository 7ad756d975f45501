//! Words that a module or a port cannot be called, and which language or tool refuses them: one table, [`TABLE`].
//!
//! A name must be usable in the languages of a call ([`Languages`]): [`reserved_by`] names the language or tool that
//! refuses it. Names that no caller chose are usable in both at once, which [`is_reserved`] asks for. Refused are the
//! keywords of Verilog (IEEE 1364-2005), SystemVerilog (1800-2023, because many flows read every file as SystemVerilog)
//! and VHDL (1076-2019), the names that the generated VHDL takes from `std`, `std_logic_1164` and `numeric_std` (a
//! signal of that name would hide them), the names that the writers use themselves, and what single tools refuse or
//! warn about.
//!
//! Keywords are compared without case, as VHDL does; what only a tool refuses is compared with case. Nothing is listed
//! for Tcl, whose commands are no names of objects, for GHDL, whose libraries only hide what [`LIBRARY`] holds, and for
//! cocotb 2, whose own attributes begin with an underscore.

use rustc_hash::FxHashSet;
use std::sync::OnceLock;

/// The languages that a name is used in.
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
    /// Verilog alone.
    pub const VERILOG: Languages = Languages { verilog: true, vhdl: false };
    /// VHDL alone.
    pub const VHDL: Languages = Languages { verilog: false, vhdl: true };

    /// The languages, for a message.
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
    /// A module, an entity, and the file that holds it.
    Module,
    /// A port or a signal.
    Port,
}

/// Words that a language or a tool refuses.
#[derive(Clone, Copy, Debug)]
pub struct Reservation {
    /// The language or tool, for a message: "reserved by ...".
    pub by: &'static str,
    /// Languages in whose files the words are refused.
    pub languages: Languages,
    /// `true` if only names of modules are checked.
    pub is_module_only: bool,
    /// `true` if upper and lower case are distinguished.
    pub is_exact: bool,
    /// The words.
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

/// Every word that is refused.
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

/// The language or tool that refuses a name in these languages, if one does.
pub fn reserved_by(name: &str, kind: NameKind, languages: Languages) -> Option<&'static str> {
    let mut all = TABLE.iter().filter(|reservation| reservation.concerns(kind, languages));
    all.find(|reservation| reservation.holds(name)).map(|reservation| reservation.by)
}

/// Returns `true` if some language or tool refuses a name for a module or a port.
pub fn is_reserved(name: &str) -> bool {
    // `v17` and the like, nearly all names of a netlist: no word of any list has a digit in second place.
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

/// Bytes of the longest word.
const LONGEST: usize = 25;

type Words = FxHashSet<&'static [u8]>;

/// Words that are refused whatever their case, in lower case, and those of which only the spelling is.
fn words() -> &'static (Words, Words) {
    static WORDS: OnceLock<(Words, Words)> = OnceLock::new();
    let of = |is_exact| {
        let reservations = TABLE.iter().filter(|reservation| reservation.is_exact == is_exact);
        reservations.flat_map(|reservation| reservation.words.iter().map(|word| word.as_bytes())).collect()
    };
    WORDS.get_or_init(|| (of(false), of(true)))
}

/// Classes that every SystemVerilog file sees (IEEE 1800-2023, annex G).
const STD_PACKAGE: &[&str] = &["mailbox", "semaphore"];

/// Words of Verilog-AMS that Icarus Verilog reads by default.
const ICARUS: &[&str] = &["bool", "wreal"];

/// Members of the class of a model: what `verilated.h` and the generated header declare.
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

/// Macros of the headers that Verilator's class includes.
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

/// File names that Windows keeps for devices, whatever their extension (Microsoft, "Naming Files, Paths, and
/// Namespaces").
const WINDOWS: &[&str] = &[
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1", "lpt2", "lpt3",
    "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// Primitives of AMD's library that synthesis would take a module of this name for (UG953, UG974).
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

/// Names made by the writers: the architecture, the sink of unread bits, the parameter of table functions, attributes.
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

/// Names of libraries that are visible in the generated VHDL, and of standard packages and types around it.
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

/// IEEE 1364-2005, annex B.
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

/// IEEE 1076-2019, 15.10; it contains those of 1993 and 2008.
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
        // A port is no file and no primitive.
        assert_eq!(by("aux", Languages::BOTH), None);
        assert!(reserved_by("Aux", NameKind::Module, Languages::VHDL).is_some_and(|by| by.starts_with("Windows")));
    }
}
