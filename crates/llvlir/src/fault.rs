//! Reasons why a program is invalid, as in `docs/llvlir.md`, each with its code.

use alir_core::diag::{Diagnostic, Place};

/// Why a program is refused.
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
    /// The stable code and the name that `docs/llvlir.md` gives it.
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

    /// The stable code.
    pub fn code(self) -> &'static str {
        self.code_and_name().0
    }

    /// The name that `docs/llvlir.md` gives it.
    pub fn name(self) -> &'static str {
        self.code_and_name().1
    }
}

/// Wrong part of an item. Readers add its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The row of an operation; the word.
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

/// A part that is wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Why.
    pub reason: Reason,
    /// Which part.
    pub field: Field,
    /// In words.
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

/// A problem at a place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Why.
    pub reason: Reason,
    /// Where.
    pub place: Place,
    /// In words.
    pub message: String,
    /// Suggested correction.
    pub help: Option<String>,
    /// The line of the source with a caret below the place.
    pub excerpt: Option<String>,
}

impl Problem {
    /// The problem as a diagnostic.
    pub fn diagnostic(self) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.reason.code(), self.place, self.message);
        diagnostic.detail = self.excerpt.map(Box::new);
        match self.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}
