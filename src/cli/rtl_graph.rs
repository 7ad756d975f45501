//! Graphs of signals and expressions of RTL files, and matching names of corresponding values in two files.

use super::Failure;
use super::rtl_files::{ReadRtl, in_file, read_file, text_of};
use crate::ir::{AlignmentGraph, align_graphs};
use crate::rtl::project::{ProjectFiles, RtlProject};
use crate::rtl::{Expr, Language, NodeId, Rtl, SignalId, operands};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

/// Names of the signals that have the value of one expression.
pub(super) type SignalNames = Vec<String>;

/// Returns the names of corresponding values in two RTL files, and all names of each file.
///
/// Registers and renamed signals are ignored, so files with different pipeline stages correspond too.
pub(super) fn corresponding_names(old: &Rtl, new: &Rtl) -> NameAlignment {
    let [(a, names_a), (b, names_b)] = [old, new].map(values);
    let pairs = align_graphs(&a, &b).into_iter();
    let pairs = pairs.map(|(x, y)| (names_a[x as usize].clone(), names_b[y as usize].clone()));
    let pairs = pairs.filter(|(x, y)| !x.is_empty() && !y.is_empty()).collect();
    NameAlignment { pairs, old: names_a.concat(), new: names_b.concat() }
}

/// Names of corresponding values of two RTL files.
pub(super) struct NameAlignment {
    pub(super) pairs: Vec<(SignalNames, SignalNames)>,
    /// All names of the first file.
    pub(super) old: SignalNames,
    /// All names of the second file.
    pub(super) new: SignalNames,
}

/// Returns the language in which `generate` would write a file with this name.
pub(super) fn generated_language(path: &Path, language: Language) -> Language {
    let is_system = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sv"));
    if is_system { Language::SystemVerilog } else { language }
}

/// Reads and elaborates an RTL file; returns its language and source, too.
pub(super) fn read(path: &Path) -> Result<(Rtl, Language, Arc<str>), Failure> {
    let files = ProjectFiles { files: vec![path.to_owned()], ..ProjectFiles::default() };
    let project: RtlProject = RtlProject::load(&files, &text_of, &read_file)?;
    let (language, source) = (project.language, Arc::clone(&project.text));
    let rtl = ReadRtl::new(project, None, None).elaborated(&|_| true);
    let rtl = rtl.map_err(|failure| in_file(failure.diagnostics, path))?.rtl;
    Ok((rtl, generated_language(path, language), source))
}

/// Returns the graph of values in a file, and the names of each node. A signal or register with a single driver of all
/// its bits is merged with this driver.
fn values(rtl: &Rtl) -> (AlignmentGraph, Vec<SignalNames>) {
    let mut is_port = vec![false; rtl.signals().len()];
    rtl.inputs.iter().chain(&rtl.outputs).for_each(|port| is_port[port.0 as usize] = true);
    let mut value: Vec<Option<NodeId>> = vec![None; rtl.signals().len()];
    let mut is_entered = vec![false; rtl.signals().len()];
    for first in 0..rtl.signals().len() {
        let (mut chain, mut at) = (Vec::new(), SignalId(first as u32));
        let end = loop {
            let index = at.0 as usize;
            if let Some(known) = value[index] {
                break known;
            }
            let driver = match &drivers(rtl, at)[..] {
                &[(0, node, _)] if !is_port[index] && rtl.width(node) == rtl.signal(at).width => Some(node),
                _ => None,
            };
            // A register that only keeps its own value is a node.
            let Some(driver) = driver.filter(|_| !std::mem::replace(&mut is_entered[index], true)) else {
                break rtl.read(at);
            };
            chain.push(index);
            match *rtl.expr(driver) {
                Expr::Signal(next) => at = next,
                _ => break driver,
            }
        };
        value[at.0 as usize].get_or_insert(end);
        chain.into_iter().for_each(|index| value[index] = Some(end));
    }
    let resolved = |node: NodeId| match *rtl.expr(node) {
        Expr::Signal(id) => value[id.0 as usize].unwrap_or(node),
        _ => node,
    };
    let (graph, nodes) = graph(rtl, &resolved);
    let places: HashMap<NodeId, usize> = nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let mut names = vec![SignalNames::new(); nodes.len()];
    for (id, signal) in (0..).zip(rtl.signals()) {
        if let Some(&at) = places.get(&resolved(rtl.read(SignalId(id)))) {
            names[at].push(signal.name.clone());
        }
    }
    (graph, names)
}

/// Returns the drivers of a signal: lowest bit, value, and `true` for a register.
pub(super) fn drivers(rtl: &Rtl, id: SignalId) -> Vec<(u32, NodeId, bool)> {
    let signal = rtl.signal(id);
    let wires = signal.wires.iter().map(|&(lo, node)| (lo, node, false));
    wires.chain(signal.registers.iter().map(|register| (register.lo, register.next, true))).collect()
}

/// Returns the operands of an expression; for a signal all values on which its drivers and registers depend.
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

/// Returns for each signal `true` if a driver or a register reads it.
fn have_readers(rtl: &Rtl) -> Vec<bool> {
    let mut have_readers = vec![false; rtl.signals().len()];
    let mut mark = |node: NodeId| {
        if let Expr::Signal(id) = *rtl.expr(node) {
            have_readers[id.0 as usize] = true;
        }
    };
    (0..rtl.len() as u32).for_each(|node| operands(rtl.expr(NodeId(node)), &mut |&operand| mark(operand)));
    for id in (0..rtl.signals().len() as u32).map(SignalId) {
        all_operands(rtl, rtl.read(id)).into_iter().for_each(&mut mark);
    }
    have_readers
}

/// Returns the graph of signals and expressions, and the expression of each node. `value` maps an expression to an
/// equal one, which replaces it.
///
/// Internal signals without readers are omitted: generated files reduce all unread bits to one signal, whose operands
/// would otherwise differ between versions.
pub(super) fn graph(rtl: &Rtl, value: &dyn Fn(NodeId) -> NodeId) -> (AlignmentGraph, Vec<NodeId>) {
    let mut is_port = vec![false; rtl.signals().len()];
    rtl.inputs.iter().chain(&rtl.outputs).for_each(|port| is_port[port.0 as usize] = true);
    let have_readers = have_readers(rtl);
    // Internal signals come first, as generated files declare them in the order of operations.
    let ids = || (0..rtl.signals().len() as u32).map(SignalId);
    let mut nodes = Vec::new();
    let mut place: Vec<Option<u32>> = vec![None; rtl.len()];
    let mut is_entered = vec![false; rtl.len()];
    for ports in [false, true] {
        let is_root = |id: &SignalId| is_port[id.0 as usize] == ports && (ports || have_readers[id.0 as usize]);
        for root in ids().filter(is_root) {
            let mut open = vec![(value(rtl.read(root)), false)];
            while let Some((node, is_done)) = open.pop() {
                if is_done {
                    place[node.0 as usize] = Some(nodes.len() as u32);
                    nodes.push(node);
                } else if !std::mem::replace(&mut is_entered[node.0 as usize], true) {
                    open.push((node, true));
                    let operands = all_operands(rtl, node).into_iter().rev();
                    open.extend(operands.map(|operand| (value(operand), false)));
                }
            }
        }
    }
    let mut kinds = Kinds { rtl, is_port, tables: HashMap::new() };
    let mut graph = AlignmentGraph::default();
    for &node in &nodes {
        graph.kinds.push(kinds.hash(node, true));
        graph.classes.push(kinds.hash(node, false));
        let of_node = all_operands(rtl, node).into_iter().filter_map(|operand| place[value(operand).0 as usize]);
        graph.operands.push(of_node.collect());
    }
    for &port in &rtl.outputs {
        let mut hasher = DefaultHasher::new();
        rtl.signal(port).name.hash(&mut hasher);
        graph.outputs.extend(place[rtl.read(port).0 as usize].map(|at| (at, hasher.finish())));
    }
    (graph, nodes)
}

/// Hash computation for expressions without their operands.
struct Kinds<'r> {
    rtl: &'r Rtl,
    is_port: Vec<bool>,
    /// Hash of each table by its memory address, as look-ups share tables.
    tables: HashMap<usize, u64>,
}

impl Kinds<'_> {
    /// Returns the hash of an expression, optionally with widths, bit positions and constants.
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
