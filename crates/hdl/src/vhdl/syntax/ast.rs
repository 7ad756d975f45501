//! Syntax tree of VHDL.

/// Expression with its byte offset.
#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Expr {
    pub(in crate::vhdl) at: u32,
    pub(in crate::vhdl) kind: Kind,
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) enum Kind {
    Int(i64),
    Real(f64),
    Bit(char),
    Text(String),
    Name(String),
    /// `f(x)`, `v(3)`, `v(7 downto 0)` or `unsigned(x)`; the declarations of the names decide which one.
    Call(Box<Expr>, Vec<Arg>),
    /// `v'length`.
    Attribute(Box<Expr>, String),
    /// `r.field` or `work.pack.name`; the declarations of the names decide which one.
    Field(Box<Expr>, String),
    /// `unsigned'(x)`.
    Qualified(TypeName, Vec<Arg>),
    /// `(others => '0')`, `(a, b)`; one positional element is a bracketed expression.
    Aggregate(Vec<Arg>),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `7 downto 0`; `true` for `downto`.
    Range(Box<Expr>, Box<Expr>, bool),
    Open,
}

/// `x`, or `choice | choice => x`. The flag for `others` distinguishes it from an argument without choices.
#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Arg {
    pub(in crate::vhdl) choices: Vec<Expr>,
    pub(in crate::vhdl) others: bool,
    pub(in crate::vhdl) value: Expr,
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) struct TypeName {
    pub(in crate::vhdl) name: String,
    /// Package of the type, if the name is qualified.
    pub(in crate::vhdl) package: Option<String>,
    pub(in crate::vhdl) range: Option<Box<Expr>>,
    pub(in crate::vhdl) at: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::vhdl) enum Class {
    Signal,
    Constant,
    Variable,
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Object {
    pub(in crate::vhdl) class: Class,
    pub(in crate::vhdl) name: String,
    pub(in crate::vhdl) ty: TypeName,
    pub(in crate::vhdl) value: Option<Expr>,
    pub(in crate::vhdl) at: u32,
    /// `true` for an output port or parameter.
    pub(in crate::vhdl) output: bool,
    /// `true` for an `inout` parameter.
    pub(in crate::vhdl) both: bool,
    /// `true` for a parameter of class `signal`.
    pub(in crate::vhdl) signal: bool,
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) enum Decl {
    Object(Object),
    /// `type t is array (0 to 7) of element`; without a range if each object declares one.
    Array {
        name: String,
        range: Option<Expr>,
        /// Further dimensions.
        more: Vec<Expr>,
        element: TypeName,
    },
    /// `type t is (a, b)`.
    Enum {
        name: String,
        literals: Vec<(String, u32)>,
        at: u32,
    },
    /// `type t is record ... end record`.
    Record {
        name: String,
        fields: Vec<Object>,
        at: u32,
    },
    /// `alias a : t is x`.
    Alias {
        name: String,
        ty: Option<TypeName>,
        of: Expr,
        at: u32,
    },
    /// `file f : text open read_mode is "name"`. Without a name, the file is opened by a later call.
    File {
        name: String,
        path: Option<Expr>,
        at: u32,
    },
    /// `use work.p.all`.
    Use(Use),
    Subtype {
        name: String,
        ty: TypeName,
    },
    Function(Function),
    Procedure(Procedure),
    Component(Entity),
}

/// Use clause: package, used name (`None` for all), and byte offset.
#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Use {
    pub(in crate::vhdl) package: String,
    pub(in crate::vhdl) name: Option<String>,
    pub(in crate::vhdl) at: u32,
}

/// Package, or package body.
#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Package {
    pub(in crate::vhdl) name: String,
    pub(in crate::vhdl) body: bool,
    pub(in crate::vhdl) uses: Vec<Use>,
    pub(in crate::vhdl) decls: Vec<Decl>,
    pub(in crate::vhdl) at: u32,
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Function {
    pub(in crate::vhdl) name: String,
    pub(in crate::vhdl) params: Vec<Object>,
    pub(in crate::vhdl) result: TypeName,
    pub(in crate::vhdl) decls: Vec<Decl>,
    pub(in crate::vhdl) body: Vec<Statement>,
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Procedure {
    pub(in crate::vhdl) name: String,
    pub(in crate::vhdl) params: Vec<Object>,
    pub(in crate::vhdl) decls: Vec<Decl>,
    pub(in crate::vhdl) body: Vec<Statement>,
    pub(in crate::vhdl) at: u32,
}

/// Choices with the alternative that they select; `true` for `others`.
pub(in crate::vhdl) type Choice<T> = (Vec<Expr>, bool, T);

#[derive(Clone, Debug)]
pub(in crate::vhdl) enum Statement {
    Null,
    /// Target, waveform (values with conditions; the last condition is optional), and `true` for a signal assignment.
    Assign {
        target: Expr,
        values: Vec<(Expr, Option<Expr>)>,
        signal: bool,
        at: u32,
    },
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    /// `case`, or `case?`, in which `-` matches any value.
    Case {
        selector: Expr,
        items: Vec<Choice<Vec<Statement>>>,
        matching: bool,
    },
    For {
        label: String,
        var: String,
        range: Expr,
        body: Vec<Statement>,
    },
    /// `while c loop`, or `loop`.
    While {
        label: String,
        cond: Option<Expr>,
        body: Vec<Statement>,
        at: u32,
    },
    /// `exit` (`true`) or `next`: label of the loop, and condition.
    Leave {
        exit: bool,
        label: Option<String>,
        cond: Option<Expr>,
        at: u32,
    },
    /// Procedure call with arguments.
    Call(Expr),
    /// `return` with a value in a function, or without a value in a procedure.
    Return(Option<Expr>, u32),
    /// `wait until ...`
    Wait(Expr),
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) enum Concurrent {
    Assign {
        target: Expr,
        values: Vec<(Expr, Option<Expr>)>,
        at: u32,
    },
    Select {
        selector: Expr,
        target: Expr,
        items: Vec<Choice<Expr>>,
        matching: bool,
        at: u32,
    },
    Process {
        waits: Waits,
        decls: Vec<Decl>,
        body: Vec<Statement>,
        at: u32,
    },
    Instance(Instance),
    For {
        label: String,
        var: String,
        range: Expr,
        decls: Vec<Decl>,
        body: Vec<Concurrent>,
    },
    /// `if ... elsif ... else generate`: each condition with its block.
    If {
        label: String,
        branches: Vec<(Option<Expr>, Block)>,
    },
    /// `case x generate`.
    Case {
        label: String,
        selector: Expr,
        items: Vec<Choice<Block>>,
    },
}

/// Body of a generate statement: label, declarations, statements.
#[derive(Clone, Debug, Default)]
pub(in crate::vhdl) struct Block {
    pub(in crate::vhdl) label: String,
    pub(in crate::vhdl) decls: Vec<Decl>,
    pub(in crate::vhdl) body: Vec<Concurrent>,
}

/// Sensitivity of a process.
#[derive(Clone, Debug)]
pub(in crate::vhdl) enum Waits {
    /// `process (all)`.
    All,
    List(Vec<Expr>),
    /// No sensitivity list: the body contains a `wait` statement.
    Inside,
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Instance {
    pub(in crate::vhdl) label: String,
    pub(in crate::vhdl) entity: String,
    pub(in crate::vhdl) architecture: Option<String>,
    /// `true` for an instance of an entity, `false` for one of a component.
    pub(in crate::vhdl) direct: bool,
    pub(in crate::vhdl) generics: Vec<Arg>,
    pub(in crate::vhdl) ports: Vec<Arg>,
    pub(in crate::vhdl) at: u32,
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Entity {
    pub(in crate::vhdl) name: String,
    /// Name in its original spelling.
    pub(in crate::vhdl) shown: String,
    pub(in crate::vhdl) generics: Vec<Object>,
    pub(in crate::vhdl) ports: Vec<Object>,
    pub(in crate::vhdl) decls: Vec<Decl>,
    pub(in crate::vhdl) uses: Vec<Use>,
    pub(in crate::vhdl) at: u32,
}

#[derive(Clone, Debug)]
pub(in crate::vhdl) struct Architecture {
    pub(in crate::vhdl) name: String,
    pub(in crate::vhdl) entity: String,
    pub(in crate::vhdl) uses: Vec<Use>,
    pub(in crate::vhdl) decls: Vec<Decl>,
    pub(in crate::vhdl) body: Vec<Concurrent>,
}

#[derive(Debug, Default)]
pub(in crate::vhdl) struct File {
    pub(in crate::vhdl) entities: Vec<Entity>,
    pub(in crate::vhdl) architectures: Vec<Architecture>,
    pub(in crate::vhdl) packages: Vec<Package>,
    /// Names of library clauses.
    pub(in crate::vhdl) libraries: Vec<String>,
    pub(in crate::vhdl) head: Vec<String>,
}
