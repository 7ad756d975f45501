//! Syntax tree of Verilog. Expressions are stored in one arena, so that dropping deep ones needs no recursion.

use num_bigint::BigUint;

/// Index of an interned name.
pub(super) type Sym = u32;
/// Index of an expression in the arena.
pub(super) type ExprId = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Plus,
    Minus,
    LogicNot,
    Not,
    And,
    Nand,
    Or,
    Nor,
    Xor,
    Xnor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Power,
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    Shl,
    Shr,
    Sshl,
    Sshr,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    CaseEqual,
    CaseNotEqual,
    And,
    Xor,
    Xnor,
    Or,
    LogicAnd,
    LogicOr,
}

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Number {
        value: BigUint,
        /// Mask of the bits that are `x`, `z` or `?`.
        unknown: BigUint,
        /// Mask of the bits that are `z` or `?`.
        open: BigUint,
        width: u32,
        signed: bool,
        sized: bool,
    },
    Name(Sym),
    Index(ExprId, ExprId),
    Range(ExprId, ExprId, ExprId),
    /// Indexed part select: base, start, width, and `true` for `+:`.
    Part(ExprId, ExprId, ExprId, bool),
    Concat(Vec<ExprId>),
    Repeat(ExprId, ExprId),
    Unary(Unary, ExprId),
    Binary(Op, ExprId, ExprId),
    Cond(ExprId, ExprId, ExprId),
    Call(Sym, Vec<ExprId>),
    /// Hierarchical name: generate blocks, each with the index of the loop iteration, and the name.
    Path(Vec<(Sym, Option<ExprId>)>, Sym),
    System(Sym, Vec<ExprId>),
    /// SystemVerilog cast `8'(x)`: changes the width and keeps the sign of the operand.
    Cast(ExprId, ExprId),
}

pub(super) type Range = Option<(ExprId, ExprId)>;

#[derive(Clone, Debug)]
pub(super) enum Statement {
    Null,
    /// Optional name, declarations, and statements.
    Block(Option<Sym>, Vec<Decl>, Vec<Statement>),
    If(ExprId, Box<Statement>, Option<Box<Statement>>),
    Case {
        wild: bool,
        x_wild: bool,
        selector: ExprId,
        items: Vec<(Vec<ExprId>, Statement)>,
        default: Option<Box<Statement>>,
    },
    Assign {
        target: ExprId,
        value: ExprId,
        blocking: bool,
        at: u32,
    },
    For(Box<Statement>, ExprId, Box<Statement>, Box<Statement>),
    While(ExprId, Box<Statement>),
    Repeat(ExprId, Box<Statement>),
    /// `disable` of an enclosing block or task.
    Disable(Sym, u32),
    /// Task call with arguments.
    Call(Sym, Vec<ExprId>, u32),
    /// `$readmemh` or `$readmemb`: file, memory, first and last address.
    ReadMemory {
        hex: bool,
        args: Vec<ExprId>,
        at: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeclKind {
    Wire,
    Reg,
    Integer,
    Genvar,
}

#[derive(Clone, Debug)]
pub(super) struct Decl {
    pub(super) kind: DeclKind,
    pub(super) signed: bool,
    pub(super) range: Range,
    pub(super) name: Sym,
    /// Address ranges of a memory or an array of nets.
    pub(super) memory: Vec<(ExprId, ExprId)>,
    pub(super) value: Option<ExprId>,
    pub(super) at: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
    /// `inout`, for arguments of tasks only.
    Both,
}

#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) direction: Direction,
    pub(super) kind: DeclKind,
    pub(super) signed: bool,
    pub(super) range: Range,
    pub(super) name: Sym,
    pub(super) value: Option<ExprId>,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: Sym,
    pub(super) local: bool,
    pub(super) signed: bool,
    pub(super) integer: bool,
    pub(super) range: Range,
    pub(super) value: ExprId,
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: Sym,
    /// `true` if each call has its own variables.
    pub(super) automatic: bool,
    pub(super) signed: bool,
    pub(super) integer: bool,
    pub(super) range: Range,
    pub(super) inputs: Vec<Decl>,
    pub(super) locals: Vec<Decl>,
    pub(super) params: Vec<Param>,
    pub(super) body: Statement,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) name: Sym,
    pub(super) args: Vec<(Direction, Decl)>,
    pub(super) locals: Vec<Decl>,
    pub(super) params: Vec<Param>,
    pub(super) body: Statement,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) module: Sym,
    pub(super) name: Sym,
    /// Range of an array of instances.
    pub(super) range: Range,
    pub(super) params: Vec<(Option<Sym>, ExprId)>,
    pub(super) ports: Vec<(Option<Sym>, Option<ExprId>)>,
    pub(super) at: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Events {
    /// `@*`.
    Combinational,
    /// List of signals without edges.
    Levels(Vec<ExprId>),
    /// Edges: signal, and `true` for the rising edge.
    Edges(Vec<(Sym, bool)>),
}

#[derive(Clone, Debug)]
pub(super) enum Item {
    Param(Param),
    Decl(Decl),
    Assign(ExprId, ExprId, u32),
    /// Gate: output, inputs, and the function of the inputs.
    Gate(ExprId, Vec<ExprId>, ExprId, u32),
    Always(Events, Statement, u32),
    Initial(Statement, u32),
    Instance(Instance),
    Function(Box<Function>),
    Task(Box<Task>),
    /// Generate block: optional name, and items.
    GenBlock(Option<Sym>, Vec<Item>),
    GenFor {
        var: Sym,
        init: ExprId,
        cond: ExprId,
        step_var: Sym,
        step: ExprId,
        body: Box<Item>,
    },
    GenIf(ExprId, Box<Item>, Option<Box<Item>>),
    GenCase(ExprId, Vec<(Vec<ExprId>, Item)>, Option<Box<Item>>),
    Nothing,
}

#[derive(Clone, Debug)]
pub(super) struct Module {
    pub(super) name: Sym,
    /// Names of the ports in the order of the header, for connections by position.
    pub(super) header: Vec<Sym>,
    pub(super) ports: Vec<Port>,
    pub(super) items: Vec<Item>,
    pub(super) at: u32,
}

/// Parsed file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) exprs: Vec<Expr>,
    /// Byte offset of each expression.
    pub(super) at: Vec<u32>,
    pub(super) names: Vec<String>,
    pub(super) modules: Vec<Module>,
    pub(super) head: Vec<String>,
    /// `true` if undeclared names may be implicit nets of one bit.
    pub(super) implicit: bool,
}
