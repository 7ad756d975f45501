//! Errors of LLVLIR programs: reasons as in `docs/llvlir.md`, each with its error code.

use alir_core::diag::{Diagnostic, Place};

/// Reason why a program is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "docs/llvlir.md and docs/errors.md describe each by its name")]
pub enum Reason {
    Magic,
    Edition,
    Flags,
    Truncated,
    Trailing,
    Leb,
    Row,
    Refused,
    Type,
    Width,
    Lanes,
    Scope,
    Kind,
    Name,
    DupName,
    Delta,
    Register,
    OperandType,
    Mask,
    Imm,
    Cmp,
    Order,
    Bswap,
    Widen,
    Narrow,
    DivLimit,
    Result,
    Permute,
    LabelDup,
    LabelUnknown,
    LabelEmpty,
    Array,
    Utf8,
    TableMixed,
    TableLimit,
    LoadType,
    NoOutput,
    Syntax,
    Op,
    Count,
    Number,
    OpLimit,
}

impl Reason {
    /// Returns the stable error code, and the name in `docs/llvlir.md`.
    fn code_and_name(self) -> (&'static str, &'static str) {
        match self {
            Reason::Magic => ("E1401", "magic"),
            Reason::Edition => ("E1402", "edition"),
            Reason::Flags => ("E1403", "flags"),
            Reason::Truncated => ("E1404", "truncated"),
            Reason::Trailing => ("E1405", "trailing"),
            Reason::Leb => ("E1406", "leb"),
            Reason::Row => ("E1407", "row"),
            Reason::Refused => ("E1408", "refused"),
            Reason::Type => ("E1409", "type"),
            Reason::Width => ("E1410", "width"),
            Reason::Lanes => ("E1411", "lanes"),
            Reason::Scope => ("E1412", "scope"),
            Reason::Kind => ("E1413", "kind"),
            Reason::Name => ("E1414", "name"),
            Reason::DupName => ("E1415", "dup-name"),
            Reason::Delta => ("E1416", "delta"),
            Reason::Register => ("E1417", "register"),
            Reason::OperandType => ("E1418", "operand-type"),
            Reason::Mask => ("E1419", "mask"),
            Reason::Imm => ("E1420", "imm"),
            Reason::Cmp => ("E1421", "cmp"),
            Reason::Order => ("E1422", "order"),
            Reason::Bswap => ("E1423", "bswap"),
            Reason::Widen => ("E1424", "widen"),
            Reason::Narrow => ("E1425", "narrow"),
            Reason::DivLimit => ("E1426", "div-limit"),
            Reason::Result => ("E1427", "result"),
            Reason::Permute => ("E1428", "permute"),
            Reason::LabelDup => ("E1429", "label-dup"),
            Reason::LabelUnknown => ("E1430", "label-unknown"),
            Reason::LabelEmpty => ("E1431", "label-empty"),
            Reason::Array => ("E1432", "array"),
            Reason::Utf8 => ("E1433", "utf8"),
            Reason::TableMixed => ("E1434", "table-mixed"),
            Reason::TableLimit => ("E1435", "table-limit"),
            Reason::LoadType => ("E1436", "load-type"),
            Reason::NoOutput => ("E1437", "no-output"),
            Reason::Syntax => ("E1438", "syntax"),
            Reason::Op => ("E1439", "op"),
            Reason::Count => ("E1440", "count"),
            Reason::Number => ("E1441", "number"),
            Reason::OpLimit => ("E1442", "op-limit"),
        }
    }

    /// Returns the stable error code, `E14xx`.
    pub fn code(self) -> &'static str {
        self.code_and_name().0
    }

    /// Returns the name of the reason in `docs/llvlir.md`.
    pub fn name(self) -> &'static str {
        self.code_and_name().1
    }
}

/// Invalid part of an item. The parsers of both formats add its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The row (operation code) of an operation; in text format, its word.
    Row,
    /// A parameter, counted from 0.
    Param(usize),
    /// An operand, counted from 0.
    Operand(usize),
    /// The name of a port.
    Name,
    /// The register of a port.
    Value,
}

/// An error in an item, without its location in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Reason of the error.
    pub reason: Reason,
    /// Invalid part of the item.
    pub field: Field,
    /// Message of the error.
    pub message: String,
    /// Suggested correction.
    pub help: Option<String>,
}

impl Fault {
    pub(super) fn new(reason: Reason, field: Field, message: impl Into<String>) -> Fault {
        Fault { reason, field, message: message.into(), help: None }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }
}

/// An error at a location in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Reason of the error.
    pub reason: Reason,
    /// Location in the file.
    pub place: Place,
    /// Message of the error.
    pub message: String,
    /// Suggested correction.
    pub help: Option<String>,
    /// Line of the source with a caret below the location, if the file is text.
    pub excerpt: Option<String>,
}

impl Problem {
    /// Converts the problem to a diagnostic.
    pub fn diagnostic(self) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.reason.code(), self.place, self.message);
        diagnostic.detail = self.excerpt.map(Box::new);
        match self.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}
