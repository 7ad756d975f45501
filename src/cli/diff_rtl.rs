//! `alir2hdl diff` for two RTL files: reports signals with different drivers, aligned like operations of programs.
//!
//! Names of internal signals are not compared: files that differ only in such names are equal.

use super::Failure;
use super::diff::{Difference, Operation, Operations, PortChange};
use super::rtl_graph::{drivers, graph, read};
use crate::diag::{Diagnostic, Place, printable};
use crate::ir::{AlignmentGraph, align_graphs};
use crate::rtl::{Binary, Compare, Expr, Language, NodeId, Reduce, Rtl, Shift, SignalId, operands};
use std::collections::HashSet;
use std::path::Path;

/// Maximum depth of a printed expression.
const DEPTH: u32 = 4;
/// Maximum number of printed parts of a concatenation, and of printed drivers of a signal.
const PARTS: usize = 4;
/// Maximum number of printed characters of an expression.
const LENGTH: usize = 100;

/// An elaborated file with the graph of its signals and expressions.
struct Side {
    rtl: Rtl,
    language: Language,
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
    if a.language != b.language {
        let message = format!("one file is {}, the other {}", a.language.name(), b.language.name());
        let help = "files of one language are compared; `alir2hdl prove MODEL FILE` proves each equal to its model";
        return Err(Failure::input(Diagnostic::error("E0802", Place::Whole, message).with_help(help)));
    }
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
        renamed: Some(renamed),
        ..a.without_readers(a.changed(&equal_a), &b, b.changed(&equal_b))
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
        let (rtl, language, text) = read(path)?;
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let (graph, nodes) = graph(&rtl, &|node| node);
        Ok(Side { rtl, language, lines, graph, nodes })
    }

    /// Returns two lists of changed signals as operations. Signals with equal drivers in both files are omitted, as
    /// they only read changed signals.
    fn without_readers(&self, own: Vec<SignalId>, other: &Side, others: Vec<SignalId>) -> Operations {
        let drivers = |side: &Side, ids: &[SignalId]| ids.iter().map(|&id| side.driver_text(id)).collect::<Vec<_>>();
        let (texts, other_texts) = (drivers(self, &own), drivers(other, &others));
        let kept = |ids: &[SignalId], texts: &[Option<String>], others: &[Option<String>]| {
            let others: HashSet<&String> = others.iter().flatten().collect();
            let is_kept = |text: &Option<String>| text.as_ref().is_none_or(|text| !others.contains(text));
            let kept = ids.iter().zip(texts).filter(|(_, text)| is_kept(text));
            kept.map(|(&id, _)| id).collect::<Vec<_>>()
        };
        let (mut removed, mut added) = (kept(&own, &texts, &other_texts), kept(&others, &other_texts, &texts));
        // If all drivers are equal as text, all signals are listed.
        if removed.is_empty() && added.is_empty() {
            (removed, added) = (own, others);
        }
        let operations = |side: &Side, ids: Vec<SignalId>| ids.into_iter().map(|id| side.operation(id)).collect();
        Operations { removed: operations(self, removed), added: operations(other, added), ..Operations::default() }
    }

    /// Returns the name, all drivers, resets and the power-on value of a signal as text; `None` if an expression is too
    /// deep to be printed completely, or reads a table.
    fn driver_text(&self, id: SignalId) -> Option<String> {
        let signal = self.rtl.signal(id);
        let mut text = format!("{} {}", signal.name, signal.width);
        let mut add = |word: &str, node: NodeId| {
            text.push_str(word);
            print(&self.rtl, node, DEPTH, &mut text);
        };
        signal.wires.iter().for_each(|&(lo, node)| add(&format!("; {lo} ="), node));
        for register in &signal.registers {
            add(&format!("; {} <= {} ", register.lo, register.rising), register.next);
            add(" clock ", self.rtl.read(register.clock));
            for &(condition, value) in &register.resets {
                add(" reset ", condition);
                add(" to ", value);
            }
        }
        signal.init.into_iter().for_each(|node| add(" from ", node));
        (!text.contains("...") && !text.contains("table of")).then_some(text)
    }

    /// Returns the signals with an expression that differs from its partner.
    fn changed(&self, is_equal: &[bool]) -> Vec<SignalId> {
        let mut is_changed: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for (at, (own, operands)) in is_equal.iter().zip(&self.graph.operands).enumerate() {
            // Operands that are signals are reported separately. Only feedback through signals leads to later nodes.
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
        signals
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
    // Concatenations store the low bits first; HDL writes the high bits first.
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
