//! Elaboration of Verilog: parameters, generate blocks and hierarchy are expanded, widths and signs are made explicit
//! (IEEE 1364-2001, sections 4 and 5), and processes are executed symbolically.

mod calls;
mod expressions;
mod memory;
mod modules;
mod process;
mod statements;
mod targets;

use super::ast::{Expr, ExprId, File, Function, Item, Module, Port, Range, Sym, Task};
use crate::paths::Unassigned;
use crate::source::error;
use crate::{FindData, MAX_WIDTH, MAX_WORK, NodeId, Rtl, SignalId};
use alir_core::diag::Diagnostic;
use memory::{Memory, Step};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

type Result<T> = std::result::Result<T, Diagnostic>;

/// Maximum number of iterations of all loops in a file.
const MAX_ITERATIONS: u32 = 2_000_000;
/// Maximum nesting depth of calls of functions and tasks.
const MAX_CALLS: u32 = 64;

/// Bounds of a vector or memory.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    msb: i64,
    lsb: i64,
    /// `true` if no bounds were written: a value of one bit, which has no part selects.
    scalar: bool,
}

impl Bounds {
    fn from_width(width: u32) -> Bounds {
        Bounds { msb: i64::from(width) - 1, lsb: 0, scalar: false }
    }

    const SCALAR: Bounds = Bounds { msb: 0, lsb: 0, scalar: true };

    fn width(self) -> u32 {
        (self.msb - self.lsb).unsigned_abs() as u32 + 1
    }

    /// Returns the position of index `i` from the least significant bit, which may be outside of the bounds.
    fn position(self, i: i64) -> i64 {
        if self.msb >= self.lsb { i.saturating_sub(self.lsb) } else { self.lsb.saturating_sub(i) }
    }
}

#[derive(Clone, Copy)]
enum Object<'a> {
    Signal {
        id: SignalId,
        bounds: Bounds,
        signed: bool,
    },
    /// Variable of a function or process; its value is stored in the state under this number.
    Variable {
        id: u32,
        bounds: Bounds,
        signed: bool,
    },
    /// Parameter, or loop variable of a generate loop.
    Param {
        value: NodeId,
        bounds: Bounds,
        signed: bool,
    },
    /// Memory or array of nets, with the bounds of its words.
    Memory {
        id: usize,
        bounds: Bounds,
        signed: bool,
    },
    Function(&'a Function),
    Task(&'a Task),
    Genvar,
}

/// Scope of names. Generate blocks and functions also see the names of enclosing scopes.
struct Scope<'a> {
    names: FxHashMap<Sym, Object<'a>>,
    parent: Option<usize>,
    path: String,
}

/// Storage location of a value during the execution of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Slot {
    /// Set after `disable` of a named block or a task; a missing flag is not set. Flags are ordered first.
    Flag(u32),
    Variable(u32),
    /// A blocking assignment to a signal.
    Signal(SignalId),
    /// A nonblocking assignment to a signal.
    Next(SignalId),
}

/// Values during the execution of a process. The map is ordered, so that equal files result in equal expressions.
#[derive(Clone, Default)]
struct State {
    values: BTreeMap<Slot, NodeId>,
}

struct Elab<'a> {
    text: &'a str,
    find: &'a FindData<'a>,
    /// `true` for a module of a cell library.
    is_cell: bool,
    file: &'a File,
    rtl: Rtl,
    scopes: Vec<Scope<'a>>,
    memories: Vec<Memory>,
    /// Number of words of all memories.
    words: u64,
    /// Names that the current module assigns outside of `initial` blocks.
    written: FxHashSet<Sym>,
    /// Names that modules assign outside of `initial` blocks, for the modules analysed so far.
    assigned_names: FxHashMap<Sym, FxHashSet<Sym>>,
    /// Generate blocks by their enclosing scope, name, and iteration.
    blocks: FxHashMap<(usize, Sym, Option<i64>), usize>,
    /// Scope of each iteration of a generate loop, with the scope of the loop and the number of the iteration.
    turns: FxHashMap<usize, (usize, i64)>,
    variables: u32,
    iterations: u32,
    calls: u32,
    instances: u32,
    modules: FxHashMap<Sym, &'a Module>,
    /// Ports by the names of module and port.
    ports: FxHashMap<(Sym, Sym), &'a Port>,
    /// Free nodes that represent "not assigned yet" in a process.
    unassigned: Unassigned,
    /// Signals that a process does not assign on every path, with the byte offset of the process.
    latches: Vec<(SignalId, u32)>,
    /// Stack of the functions that are being evaluated.
    active: Vec<Sym>,
    /// Loop variables, which several processes may share.
    integers: Vec<SignalId>,
    /// Nets, which no process assigns.
    nets: FxHashSet<SignalId>,
    /// Signals that clocked processes assign with `=`, with the byte offset of the process.
    immediate: Vec<(SignalId, u32)>,
    /// Signals that clocked processes read, with the byte offset of the process and the reading expression.
    sampled: Vec<(SignalId, u32, ExprId)>,
}

/// Kind of the code that is executed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A constant expression, or the body of an `initial`.
    Constant,
    /// A continuous assignment.
    Wire,
    /// A process that waits for an edge.
    Edge,
    /// Level-sensitive process. A signal that the process does not assign on every path would be a latch.
    Level,
}

/// Process that is being executed.
struct Process {
    state: State,
    scope: usize,
    kind: Kind,
    /// `true` for the body of a function.
    function: bool,
    /// Stack of the named blocks and tasks that are being executed, with their flags.
    named: Vec<(Sym, u32)>,
    /// Bits of signals that were read before this process assigned them: signal, lowest bit, end, and reading
    /// expression.
    reads: Vec<(SignalId, u32, u32, ExprId)>,
}

impl Process {
    fn new(scope: usize, kind: Kind) -> Process {
        Process { state: State::default(), scope, kind, function: false, named: Vec::new(), reads: Vec::new() }
    }
}

/// Elaborates module `top`, or the only module that no other one instantiates.
pub(super) fn elaborate(text: &str, file: &File, top: Option<&str>, find: &FindData<'_>) -> Result<Rtl> {
    elaborate_with(text, file, find_top(text, file, top)?, None, find)
}

/// Elaborates a cell by its number, with constant expressions for parameters. Undriven signals are undefined.
pub(super) fn elaborate_module(
    text: &str,
    file: &File,
    module: usize,
    params: &[(Option<Sym>, ExprId)],
) -> Result<Rtl> {
    let find = |_: u64, name: &str| Err(format!("the file {name} is not read in a library of cells"));
    elaborate_with(text, file, &file.modules[module], Some(params), &find)
}

fn elaborate_with<'a>(
    text: &'a str,
    file: &'a File,
    top: &'a Module,
    cell: Option<&[(Option<Sym>, ExprId)]>,
    find: &'a FindData<'a>,
) -> Result<Rtl> {
    let mut modules = FxHashMap::default();
    for module in &file.modules {
        if modules.insert(module.name, module).is_some() {
            return Err(error(text, module.at, "a second module of this name"));
        }
    }
    let ports = |m: &'a Module| m.ports.iter().map(|port| ((m.name, port.name), port));
    let ports = file.modules.iter().flat_map(ports).collect();
    let mut e = Elab {
        text,
        find,
        is_cell: cell.is_some(),
        file,
        rtl: Rtl::new(file.names[top.name as usize].clone(), file.head.clone()),
        scopes: Vec::new(),
        memories: Vec::new(),
        words: 0,
        written: FxHashSet::default(),
        assigned_names: FxHashMap::default(),
        blocks: FxHashMap::default(),
        turns: FxHashMap::default(),
        variables: 0,
        iterations: 0,
        calls: 0,
        instances: 0,
        modules,
        ports,
        unassigned: Default::default(),
        latches: Vec::new(),
        active: Vec::new(),
        integers: Vec::new(),
        nets: FxHashSet::default(),
        immediate: Vec::new(),
        sampled: Vec::new(),
    };
    // Constants refer to no names, so any scope is correct.
    let params: Vec<_> = cell.unwrap_or_default().iter().map(|&(name, value)| (name, value, 0)).collect();
    e.module(top, String::new(), &params, None)?;
    e.check_processes()?;
    if cell.is_some() {
        e.rtl.free_undriven();
    }
    e.rtl.complete_drivers(|at| crate::source::place(text, at))?;
    Ok(e.rtl)
}

fn find_top<'a>(text: &str, file: &'a File, top: Option<&str>) -> Result<&'a Module> {
    if let Some(top) = top {
        let found = file.modules.iter().find(|m| file.names[m.name as usize] == top);
        return found.ok_or_else(|| {
            let names: Vec<_> = file.modules.iter().map(|m| file.names[m.name as usize].as_str()).collect();
            error(text, 0, format!("no module is called {top}")).with_help(format!("modules: {}", names.join(", ")))
        });
    }
    let mut used = rustc_hash::FxHashSet::default();
    fn visit(item: &Item, used: &mut rustc_hash::FxHashSet<Sym>) {
        match item {
            Item::Instance(i) => {
                used.insert(i.module);
            }
            Item::GenBlock(_, items) => items.iter().for_each(|i| visit(i, used)),
            Item::GenFor { body, .. } => visit(body, used),
            Item::GenIf(_, yes, no) => {
                visit(yes, used);
                no.iter().for_each(|i| visit(i, used));
            }
            Item::GenCase(_, items, default) => {
                items.iter().for_each(|(_, i)| visit(i, used));
                default.iter().for_each(|i| visit(i, used));
            }
            _ => {}
        }
    }
    file.modules.iter().flat_map(|m| &m.items).for_each(|i| visit(i, &mut used));
    let tops: Vec<_> = file.modules.iter().filter(|m| !used.contains(&m.name)).collect();
    match tops[..] {
        [one] => Ok(one),
        [] => Err(error(text, 0, "the file has no top module")),
        _ => Err(error(text, tops[1].at, "more than one module that no other module instantiates")
            .with_help("choose one with --top NAME")),
    }
}

impl<'a> Elab<'a> {
    fn fail<T>(&self, e: ExprId, message: impl Into<String>) -> Result<T> {
        Err(error(self.text, self.file.at[e as usize], message))
    }

    fn name(&self, sym: Sym) -> &'a str {
        &self.file.names[sym as usize]
    }

    fn expr(&self, e: ExprId) -> &'a Expr {
        &self.file.exprs[e as usize]
    }

    fn find(&self, scope: usize, sym: Sym) -> Option<&Object<'a>> {
        let mut at = Some(scope);
        while let Some(s) = at {
            if let Some(object) = self.scopes[s].names.get(&sym) {
                return Some(object);
            }
            at = self.scopes[s].parent;
        }
        None
    }

    /// Returns the function with this name. Other objects of this name are ignored, such as the result variable in the
    /// body of the function.
    fn function(&self, scope: usize, sym: Sym) -> Option<&'a Function> {
        let mut at = Some(scope);
        while let Some(s) = at {
            if let Some(&Object::Function(f)) = self.scopes[s].names.get(&sym) {
                return Some(f);
            }
            at = self.scopes[s].parent;
        }
        None
    }

    /// Returns the object that a name or a path through generate blocks denotes; `None` for other expressions.
    fn object(&self, p: &Process, e: ExprId) -> Result<Option<Object<'a>>> {
        match self.expr(e) {
            Expr::Name(sym) => Ok(self.find(p.scope, *sym).copied()),
            Expr::Path(path, name) => {
                let mut indices = Vec::with_capacity(path.len());
                for (_, index) in path {
                    indices.push(match index {
                        Some(i) => Some(self.peek_int(p, *i)?),
                        None => None,
                    });
                }
                // The first name may be declared in an enclosing scope.
                let Some(&(first, _)) = path.first() else { return Ok(None) };
                let mut scope = Some(p.scope);
                let mut found = None;
                while let (Some(s), None) = (scope, found) {
                    found = self.blocks.get(&(s, first, indices[0])).copied();
                    scope = self.scopes[s].parent;
                }
                for ((sym, _), index) in path.iter().zip(&indices).skip(1) {
                    found = found.and_then(|f| self.blocks.get(&(f, *sym, *index)).copied());
                }
                match found.and_then(|f| self.scopes[f].names.get(name)) {
                    Some(&object) => Ok(Some(object)),
                    None => self.fail(
                        e,
                        "no generate block with this name and iteration declares it, and other paths are not supported",
                    ),
                }
            }
            _ => Ok(None),
        }
    }

    /// Returns the name of an expression for messages.
    fn shown(&self, e: ExprId) -> &'a str {
        match self.expr(e) {
            Expr::Name(sym) | Expr::Path(_, sym) => self.name(*sym),
            _ => "this",
        }
    }

    /// Returns an error if elaboration exceeds its limits on memory and time.
    fn budget(&self, e: ExprId) -> Result<()> {
        if self.rtl.work() > MAX_WORK {
            return self.fail(e, "constants or expressions beyond the limits: too many, or too wide");
        }
        Ok(())
    }

    fn scope(&mut self, parent: Option<usize>, path: String) -> usize {
        self.scopes.push(Scope { names: FxHashMap::default(), parent, path });
        self.scopes.len() - 1
    }

    fn declare(&mut self, scope: usize, sym: Sym, object: Object<'a>, at: u32) -> Result<()> {
        if self.scopes[scope].names.insert(sym, object).is_some() {
            return Err(error(self.text, at, format!("{} is declared twice", self.name(sym))));
        }
        Ok(())
    }

    // ---- Constants

    fn constant(&mut self, scope: usize, e: ExprId) -> Result<BigUint> {
        let mut p = Process::new(scope, Kind::Constant);
        let (width, signed) = self.ty(&p, e)?;
        let node = self.eval(&mut p, e, width, signed)?;
        match self.rtl.as_const(node) {
            Some(v) => Ok(v.clone()),
            None => self.fail(e, "a constant is needed here"),
        }
    }

    /// Evaluates a constant expression as a signed number.
    fn int(&mut self, scope: usize, e: ExprId) -> Result<i64> {
        let p = Process::new(scope, Kind::Constant);
        let (width, signed) = self.ty(&p, e)?;
        let value = self.constant(scope, e)?;
        match small(&value, width, signed) {
            Some(v) if v.unsigned_abs() < 1 << 40 => Ok(v),
            _ => self.fail(e, "a constant beyond 2^40"),
        }
    }

    fn bounds(&mut self, scope: usize, range: Range) -> Result<Bounds> {
        let Some((msb, lsb)) = range else { return Ok(Bounds::SCALAR) };
        let bounds = Bounds { msb: self.int(scope, msb)?, lsb: self.int(scope, lsb)?, scalar: false };
        if (bounds.msb - bounds.lsb).unsigned_abs() >= u64::from(MAX_WIDTH) {
            return self.fail(msb, "a vector of more than 2^24 bits");
        }
        Ok(bounds)
    }
}

/// Returns a value as a signed number; `None` if it does not fit.
fn small(value: &BigUint, width: u32, signed: bool) -> Option<i64> {
    let v = i128::try_from(value).ok()?;
    let v = if signed && width > 0 && value.bit(u64::from(width) - 1) {
        v - 1i128.checked_shl(width).filter(|_| width < 127)?
    } else {
        v
    };
    i64::try_from(v).ok()
}

#[derive(Clone, Copy)]
enum Place {
    Signal(SignalId),
    Variable(u32),
    /// A word of a memory.
    Word(usize, u32),
}

/// Lowest bit of a select in a vector, which may be outside of the vector.
enum BitPosition {
    Constant(i64),
    /// Computed position, and `true` if it may be negative.
    Dynamic(NodeId, bool),
}

struct Target {
    what: Place,
    width: u32,
    lo: Option<u32>,
    dynamic: Option<(NodeId, bool)>,
    /// Width of the vector; of one word, if the target is a word at a computed address.
    whole: u32,
    /// Dimensions of the word's address, if the target is a word at a computed address.
    steps: Vec<Step>,
}
