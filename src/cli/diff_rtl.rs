//! `alir2hdl diff` of two RTL files: signals whose drivers differ, aligned as operations of programs are.
//!
//! Names of internal signals are not compared: two files that differ in them only are equal.

use super::Failure;
use super::diff::{Difference, Operation, Operations, PortChange};
use super::rtl_files::{elaborated, in_file, read_file, text_of};
use crate::diag::printable;
use crate::ir::{AlignmentGraph, align_graphs};
use crate::rtl::project::{ProjectFiles, RtlProject};
use crate::rtl::{Binary, Compare, Expr, NodeId, Reduce, Rtl, Shift, SignalId, operands};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// Levels of an expression that are printed.
const DEPTH: u32 = 4;
/// Parts of a concatenation, and drivers of a signal, that are printed.
const PARTS: usize = 4;
/// Characters of an expression that are printed.
const LENGTH: usize = 100;

/// An elaborated file with the graph of its signals and expressions.
struct Side {
    rtl: Rtl,
    /// Byte offsets at which lines begin.
    lines: Vec<usize>,
    graph: AlignmentGraph,
    /// Expression of each node of the graph.
    nodes: Vec<NodeId>,
}

/// Compares two RTL files.
///
/// # Errors
/// If one cannot be read (exit code 2).
pub(super) fn compare(first: &Path, second: &Path) -> Result<Difference, Failure> {
    let (a, b) = (Side::read(first)?, Side::read(second)?);
    let mut found = Difference { is_rtl: true, ..Difference::default() };
    compare_ports(&a.rtl, &b.rtl, &mut found);
    let pairs = align_graphs(&a.graph, &b.graph);
    let mut partner = vec![None; a.nodes.len()];
    for &(x, y) in &pairs {
        if a.graph.kinds[x as usize] == b.graph.kinds[y as usize] {
            partner[x as usize] = Some(y);
        }
    }
    let (mut equal_a, mut equal_b) = (vec![false; a.nodes.len()], vec![false; b.nodes.len()]);
    let mut renamed = 0;
    for (x, y) in pairs {
        // A pair is equal only if its operands are pairs too.
        let of_x = a.graph.operands[x as usize].iter().map(|&operand| partner[operand as usize]);
        let is_equal =
            partner[x as usize].is_some() && of_x.eq(b.graph.operands[y as usize].iter().map(|&operand| Some(operand)));
        if !is_equal {
            continue;
        }
        (equal_a[x as usize], equal_b[y as usize]) = (true, true);
        if let (Expr::Signal(x), Expr::Signal(y)) = (a.rtl.expr(a.nodes[x as usize]), b.rtl.expr(b.nodes[y as usize])) {
            renamed += usize::from(a.rtl.signal(*x).name != b.rtl.signal(*y).name);
        }
    }
    found.operations.push(Operations {
        first: a.rtl.signals().len(),
        second: b.rtl.signals().len(),
        removed: a.changed(&equal_a),
        added: b.changed(&equal_b),
        renamed: Some(renamed),
        ..Operations::default()
    });
    Ok(found)
}

/// Adds the differences between the ports.
fn compare_ports(a: &Rtl, b: &Rtl, found: &mut Difference) {
    for (what, of_a, of_b) in [("input", &a.inputs, &b.inputs), ("output", &a.outputs, &b.outputs)] {
        let names =
            |rtl: &Rtl, ports: &[SignalId]| ports.iter().map(|&id| rtl.signal(id).name.clone()).collect::<Vec<_>>();
        let (names_a, names_b) = (names(a, of_a), names(b, of_b));
        if names_a != names_b {
            let shown = [names_a.join(", "), names_b.join(", ")];
            found.shape.push(format!("{what} ports {} in the first, {} in the second", shown[0], shown[1]));
            continue;
        }
        for (&x, &y) in of_a.iter().zip(of_b) {
            let (x, y) = (a.signal(x), b.signal(y));
            if x.width != y.width {
                let [first, second] = [x.width, y.width].map(|width| crate::diag::counted(width as usize, "bit"));
                found.ports.push(PortChange { port: format!("{what} {}", x.name), first, second });
            }
        }
    }
}

impl Side {
    fn read(path: &Path) -> Result<Side, Failure> {
        let files = ProjectFiles { files: vec![path.to_owned()], ..ProjectFiles::default() };
        let project: RtlProject = RtlProject::load(&files, &text_of, &read_file)?;
        let rtl = elaborated(&project, None, &|_| true).map_err(|failure| in_file(failure.diagnostics, path))?;
        let lines = std::iter::once(0).chain(project.text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let (graph, nodes) = graph(&rtl);
        Ok(Side { rtl, lines, graph, nodes })
    }

    /// Returns the signals of which an expression is not equal to its partner.
    fn changed(&self, is_equal: &[bool]) -> Vec<Operation> {
        let mut is_changed: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for (at, (own, operands)) in is_equal.iter().zip(&self.graph.operands).enumerate() {
            // Signals report their own drivers; only feedback leads to later nodes, and it passes through signals.
            let mut inner = operands
                .iter()
                .map(|&operand| operand as usize)
                .filter(|&operand| operand < at && !matches!(self.rtl.expr(self.nodes[operand]), Expr::Signal(_)));
            is_changed.push(!own || inner.any(|operand| is_changed[operand]));
        }
        let signal = |(at, _): (usize, &bool)| match *self.rtl.expr(self.nodes[at]) {
            Expr::Signal(id) => Some(id),
            _ => None,
        };
        let mut signals: Vec<SignalId> =
            is_changed.iter().enumerate().filter(|(_, changed)| **changed).filter_map(signal).collect();
        signals.sort_unstable();
        signals.into_iter().map(|id| self.operation(id)).collect()
    }

    /// Describes a signal.
    fn operation(&self, id: SignalId) -> Operation {
        let signal = self.rtl.signal(id);
        let drivers = drivers(&self.rtl, id);
        let shown = drivers.iter().take(PARTS).map(|&(lo, node, is_register)| {
            let place = match self.rtl.width(node) == signal.width {
                true => String::new(),
                false => format!("[{lo} +: {}]", self.rtl.width(node)),
            };
            let mut text = String::new();
            print(&self.rtl, node, DEPTH, &mut text);
            if let Some((end, _)) = text.char_indices().nth(LENGTH) {
                text.truncate(end);
                text.push_str("...");
            }
            format!("{}{place} {} {text}", signal.name, if is_register { "<=" } else { "=" })
        });
        let mut what = shown.collect::<Vec<_>>().join("; ");
        if drivers.len() > PARTS {
            what.push_str("; ...");
        }
        if what.is_empty() {
            what.clone_from(&signal.name);
        }
        let line = self.lines.partition_point(|&begin| begin <= signal.at as usize);
        Operation {
            operation: id.0 as usize,
            what: printable(&what),
            signal: Some(signal.name.clone()),
            line: Some(line),
        }
    }
}

/// Drivers of a signal: lowest bit, value, and `true` for a register.
fn drivers(rtl: &Rtl, id: SignalId) -> Vec<(u32, NodeId, bool)> {
    let signal = rtl.signal(id);
    let wires = signal.wires.iter().map(|&(lo, node)| (lo, node, false));
    wires.chain(signal.registers.iter().map(|register| (register.lo, register.next, true))).collect()
}

/// Operands of an expression; of a signal everything that drives it.
fn all_operands(rtl: &Rtl, node: NodeId) -> Vec<NodeId> {
    let mut all = Vec::new();
    let Expr::Signal(id) = *rtl.expr(node) else {
        operands(rtl.expr(node), &mut |&operand| all.push(operand));
        return all;
    };
    let signal = rtl.signal(id);
    all.extend(drivers(rtl, id).into_iter().map(|(_, node, _)| node));
    for register in &signal.registers {
        all.push(rtl.read(register.clock));
        all.extend(register.resets.iter().flat_map(|&(condition, value)| [condition, value]));
    }
    all.extend(signal.init);
    all
}

/// Returns the graph of signals and expressions, and the expression of each of its nodes.
fn graph(rtl: &Rtl) -> (AlignmentGraph, Vec<NodeId>) {
    let mut is_port = vec![false; rtl.signals().len()];
    rtl.inputs.iter().chain(&rtl.outputs).for_each(|port| is_port[port.0 as usize] = true);
    // Internal signals first: in generated files they are in the order of operations.
    let ids = || (0..rtl.signals().len() as u32).map(SignalId);
    let mut nodes = Vec::new();
    let mut place: Vec<Option<u32>> = vec![None; rtl.len()];
    let mut is_entered = vec![false; rtl.len()];
    for ports in [false, true] {
        for root in ids().filter(|id| is_port[id.0 as usize] == ports) {
            let mut open = vec![(rtl.read(root), false)];
            while let Some((node, is_done)) = open.pop() {
                if is_done {
                    place[node.0 as usize] = Some(nodes.len() as u32);
                    nodes.push(node);
                } else if !std::mem::replace(&mut is_entered[node.0 as usize], true) {
                    open.push((node, true));
                    open.extend(all_operands(rtl, node).into_iter().rev().map(|operand| (operand, false)));
                }
            }
        }
    }
    let mut kinds = Kinds { rtl, is_port, tables: HashMap::new() };
    let mut graph = AlignmentGraph::default();
    for &node in &nodes {
        graph.kinds.push(kinds.hash(node, true));
        graph.classes.push(kinds.hash(node, false));
        let of_node = all_operands(rtl, node).into_iter().filter_map(|operand| place[operand.0 as usize]);
        graph.operands.push(of_node.collect());
    }
    for &port in &rtl.outputs {
        let mut hasher = DefaultHasher::new();
        rtl.signal(port).name.hash(&mut hasher);
        graph.outputs.extend(place[rtl.read(port).0 as usize].map(|at| (at, hasher.finish())));
    }
    (graph, nodes)
}

/// Hashes of expressions without their operands.
struct Kinds<'r> {
    rtl: &'r Rtl,
    is_port: Vec<bool>,
    /// Hashes of tables by their address: lookups share them.
    tables: HashMap<usize, u64>,
}

impl Kinds<'_> {
    /// Returns the hash of an expression, with widths, places and constants or without.
    fn hash(&mut self, node: NodeId, has_types: bool) -> u64 {
        let mut hasher = DefaultHasher::new();
        let expr = self.rtl.expr(node);
        std::mem::discriminant(expr).hash(&mut hasher);
        match expr {
            Expr::Binary(op, ..) => std::mem::discriminant(op).hash(&mut hasher),
            Expr::Compare(op, ..) => std::mem::discriminant(op).hash(&mut hasher),
            Expr::Reduce(op, _) => std::mem::discriminant(op).hash(&mut hasher),
            Expr::Shift(op, ..) => std::mem::discriminant(op).hash(&mut hasher),
            Expr::Signal(id) => {
                let signal = self.rtl.signal(*id);
                let port = self.is_port[id.0 as usize].then_some(&signal.name);
                (port, signal.registers.is_empty()).hash(&mut hasher);
            }
            _ => {}
        }
        if has_types {
            self.rtl.width(node).hash(&mut hasher);
            match expr {
                Expr::Const(value) => value.hash(&mut hasher),
                Expr::Slice { lo, .. } => lo.hash(&mut hasher),
                Expr::Extend { signed, .. } => signed.hash(&mut hasher),
                Expr::Table(entries, ..) => {
                    let address = std::sync::Arc::as_ptr(entries) as usize;
                    let of_entries = self.tables.entry(address).or_insert_with(|| {
                        let mut hasher = DefaultHasher::new();
                        entries.hash(&mut hasher);
                        hasher.finish()
                    });
                    of_entries.hash(&mut hasher);
                }
                Expr::Signal(id) => {
                    let signal = self.rtl.signal(*id);
                    signal.wires.iter().for_each(|(lo, _)| lo.hash(&mut hasher));
                    for register in &signal.registers {
                        (register.lo, register.rising, register.resets.len()).hash(&mut hasher);
                    }
                    signal.init.is_some().hash(&mut hasher);
                }
                _ => {}
            }
        }
        hasher.finish()
    }
}

/// Prints an expression down to `depth` levels.
fn print(rtl: &Rtl, node: NodeId, depth: u32, text: &mut String) {
    let expr = rtl.expr(node);
    let width = rtl.width(node);
    let leaf = match expr {
        Expr::Const(value) if value.bits() <= 64 => Some(format!("{width}'d{value}")),
        Expr::Const(_) => Some(format!("{width}'d...")),
        Expr::Signal(id) => Some(rtl.signal(*id).name.clone()),
        Expr::Free => Some("undefined".to_owned()),
        _ if depth == 0 => Some("...".to_owned()),
        _ => None,
    };
    if let Some(leaf) = leaf {
        text.push_str(&leaf);
        return;
    }
    let mut parts = Vec::new();
    operands(expr, &mut |&operand| parts.push(operand));
    // Concatenations keep the low bits first; HDL writes the high ones first.
    if matches!(expr, Expr::Concat(_)) {
        parts.reverse();
    }
    let (begin, between, end) = match expr {
        Expr::Slice { lo, .. } => (String::new(), "", format!("[{} : {lo}]", u64::from(*lo) + u64::from(width) - 1)),
        Expr::Concat(_) => ("{".to_owned(), ", ", "}".to_owned()),
        Expr::Repeat { x } => (format!("{{{}{{", width / rtl.width(*x).max(1)), "", "}}".to_owned()),
        Expr::Extend { signed: true, .. } => (format!("signed {width}'("), "", ")".to_owned()),
        Expr::Extend { .. } => (format!("{width}'("), "", ")".to_owned()),
        Expr::Not(_) => ("~".to_owned(), "", String::new()),
        Expr::Binary(op, ..) => ("(".to_owned(), binary(*op), ")".to_owned()),
        Expr::Compare(op, ..) => match op {
            Compare::Equal => ("(".to_owned(), " == ", ")".to_owned()),
            Compare::Less => ("(".to_owned(), " < ", ")".to_owned()),
            Compare::SignedLess => ("signed (".to_owned(), " < ", ")".to_owned()),
        },
        Expr::Reduce(op, _) => {
            let sign = match op {
                Reduce::All => "&",
                Reduce::Any => "|",
                Reduce::Parity => "^",
            };
            (sign.to_owned(), "", String::new())
        }
        Expr::Shift(op, ..) => {
            let sign = match op {
                Shift::Left => " << ",
                Shift::Right => " >> ",
                Shift::SignedRight => " >>> ",
            };
            ("(".to_owned(), sign, ")".to_owned())
        }
        Expr::Mux(..) => ("mux(".to_owned(), ", ", ")".to_owned()),
        Expr::Table(entries, ..) => (format!("table of {}(", entries.len()), ", ", ")".to_owned()),
        Expr::Const(_) | Expr::Signal(_) | Expr::Free => return,
    };
    text.push_str(&begin);
    for (k, &part) in parts.iter().take(PARTS).enumerate() {
        text.push_str(if k > 0 { between } else { "" });
        print(rtl, part, depth - 1, text);
    }
    text.push_str(if parts.len() > PARTS { ", ..." } else { "" });
    text.push_str(&end);
}

fn binary(op: Binary) -> &'static str {
    match op {
        Binary::And => " & ",
        Binary::Or => " | ",
        Binary::Xor => " ^ ",
        Binary::Add => " + ",
        Binary::Sub => " - ",
        Binary::Mul => " * ",
        Binary::Div => " / ",
        Binary::Rem => " % ",
    }
}
