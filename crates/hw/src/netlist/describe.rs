//! Names, comments and the header comment of an RTL file.
//!
//! Names contain the index of the operation in the input file ([`alir_core::ir::Node::origin`]), so neither
//! optimisation nor a different number of stages renames nets.

use super::builder::Owner;
use super::cell::{Element, Interface, Netlist};
use super::names::{Scheme, Stems, layer_prefix, push_letters, unique};
use alir_core::ir::{Labels, Layers, Model, Op, ValueId};
use alir_core::num::{Code, Interval, Kif, push_decimal};
use alir_opt::schedule::Schedule;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Reason for which a describer does not handle [`Owner::Object`].
const NO_OBJECTS: &str = "the lowering of state machines describes their elements";

/// Writes names and comments into the netlist's text pool.
pub(super) struct Describer<'a> {
    model: &'a Model,
    text: String,
    scheme: Scheme,
    /// Names that are in use and do not follow the scheme.
    taken: Vec<String>,
    /// Origin of each operation; empty if every operation is its own origin.
    origins: Vec<u32>,
    /// For each operation, the number of earlier operations with the same origin; empty if all numbers are 0.
    repeated: Vec<u32>,
    /// Number of memories that are named after each operation.
    memories: FxHashMap<u32, u32>,
    /// Names of operations in the source, by origin.
    labels: FxHashMap<u32, String>,
    /// Number that the name of an operation contains, by origin; empty if the numbers equal the origins.
    numbers: Vec<u32>,
    /// `true` if comments state the number of an input.
    numbers_inputs: bool,
    layers: Layers,
    /// Prefix of the names of operations of each layer; empty without layers.
    layer_prefixes: Vec<String>,
}

impl<'a> Describer<'a> {
    /// Returns a describer whose names differ from all of `taken`.
    pub(super) fn new(model: &'a Model, taken: Vec<&str>) -> Describer<'a> {
        Describer {
            model,
            text: String::new(),
            scheme: Scheme::avoiding(taken.iter().copied()),
            origins: origins(model),
            repeated: repeated_origins(model),
            memories: FxHashMap::default(),
            taken: taken.into_iter().map(str::to_owned).collect(),
            labels: FxHashMap::default(),
            numbers: Vec::new(),
            numbers_inputs: true,
            layers: Layers::default(),
            layer_prefixes: Vec::new(),
        }
    }

    /// Returns a describer that uses the names of the source, if legal and unique.
    pub(super) fn labelled(model: &'a Model, taken: Vec<&str>, labels: &Labels) -> Describer<'a> {
        let mut stems = Stems::avoiding(&taken);
        let mut named = FxHashMap::default();
        // Removed nets do not reserve names.
        let present: FxHashSet<u32> = match labels.values.is_empty() {
            true => FxHashSet::default(),
            false => model.nodes().iter().map(|node| node.origin).collect(),
        };
        for (origin, label) in labels.values.iter().filter(|(origin, _)| present.contains(origin)) {
            named.entry(*origin).or_insert_with(|| match stems.take(label) {
                Ok(stem) => stem,
                Err(stem) => format!("v{}_{stem}", labels.numbers.get(*origin as usize).unwrap_or(origin)),
            });
        }
        let layers = if labels.has_layered_names { labels.layers.clone() } else { Layers::default() };
        let layer_prefixes = layers.names().iter().map(|name| layer_prefix(name, &taken)).collect();
        let numbers = labels.numbers.clone();
        Describer { labels: named, numbers, layers, layer_prefixes, ..Describer::new(model, taken) }
    }

    /// Returns a describer for a part of a design, whose names all begin with `prefix`.
    pub(super) fn with_prefix(model: &'a Model, prefix: String) -> Describer<'a> {
        Describer { scheme: Scheme::with_prefix(prefix), ..Describer::new(model, Vec::new()) }
    }

    /// Returns the describer with comments that omit the numbers of inputs, for logic that is not in the source.
    pub(super) fn without_input_numbers(self) -> Describer<'a> {
        Describer { numbers_inputs: false, ..self }
    }

    /// Swaps the text pool, so that all parts of a design write into one pool.
    pub(super) fn swap_text(&mut self, text: &mut String) {
        std::mem::swap(&mut self.text, text);
    }

    /// Returns the text pool.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Returns the origin of an operation: its index in the source.
    fn origin(&self, id: ValueId) -> u32 {
        self.origins.get(id.index()).copied().unwrap_or(id.0)
    }

    /// Returns the start and the length of the text written since `start`.
    fn since(&self, start: usize) -> (u32, u32) {
        let index = |n: usize| u32::try_from(n).expect("less than 4 GiB of names and comments");
        (index(start), index(self.text.len() - start))
    }

    /// Writes the name of a net, or of its pipeline register at the end of a stage.
    pub(super) fn name(&mut self, owner: Owner, helper: u32, boundary: Option<u32>) -> (u32, u32) {
        let start = self.text.len();
        self.text.push_str(self.scheme.prefix());
        self.push_owner(owner);
        if helper > 0 {
            self.text.push('_');
            push_letters(&mut self.text, helper);
        }
        if let Some(boundary) = boundary {
            self.text.push_str("_s");
            push_decimal(&mut self.text, boundary.into());
        }
        self.since(start)
    }

    fn push_owner(&mut self, owner: Owner) {
        let (letter, number) = match owner {
            Owner::Input(i) => ("in", i),
            Owner::Output(j) => ("out", j),
            Owner::Op(op) => return self.push_value(ValueId(op)),
            Owner::Object(_) => unreachable!("{NO_OBJECTS}"),
        };
        self.text.push_str(letter);
        push_decimal(&mut self.text, number.into());
    }

    /// Appends an operation's name without the scheme's prefix.
    fn push_value(&mut self, id: ValueId) {
        if !self.labels.contains_key(&self.origin(id)) {
            self.push_layer(id);
        }
        self.push_short(id);
    }

    /// Appends the prefix of the layer of an operation, if any.
    fn push_layer(&mut self, id: ValueId) {
        if let Some(layer) = self.layers.layer(self.origin(id) as usize) {
            self.text.push_str(&self.layer_prefixes[layer]);
        }
    }

    /// Appends an operation's name without its layer, for comments.
    fn push_short(&mut self, id: ValueId) {
        match self.labels.get(&self.origin(id)) {
            Some(label) => {
                self.text.push_str(label);
                self.push_repetition(id);
            }
            None => self.push_numbered("v", id),
        }
    }

    /// Appends letters and the number of an operation.
    fn push_numbered(&mut self, letters: &str, id: ValueId) {
        let origin = self.origin(id);
        self.text.push_str(letters);
        let number = self.numbers.get(origin as usize).copied().unwrap_or(origin);
        push_decimal(&mut self.text, number.into());
        self.push_repetition(id);
    }

    /// Appends the position of an operation among the operations with the same origin, unless it is the first one.
    fn push_repetition(&mut self, id: ValueId) {
        if let Some(count) = repetition(&self.repeated, id.index()) {
            self.text.push('_');
            push_decimal(&mut self.text, count);
        }
    }

    /// Returns the lines of the header comment.
    pub(super) fn header(&self, schedule: &Schedule, interface: &Interface) -> Vec<String> {
        header(self.model, schedule, interface, !self.layer_prefixes.is_empty())
    }

    /// Writes the name of the net that a control port drives.
    pub(super) fn control_name(&mut self, port: &str) -> (u32, u32) {
        let taken: Vec<&str> = self.taken.iter().map(String::as_str).collect();
        let name = unique(&format!("{port}_net"), &taken);
        let start = self.text.len();
        self.text.push_str(&name);
        self.taken.push(name);
        self.since(start)
    }

    /// Writes the name of the valid flag at the end of a stage.
    pub(super) fn valid_name(&mut self, boundary: u32) -> (u32, u32) {
        let start = self.text.len();
        self.text.push_str(self.scheme.prefix());
        self.text.push_str("valid_s");
        push_decimal(&mut self.text, boundary.into());
        self.since(start)
    }

    /// Returns the name of the next memory whose first reader is this operation: `rom17` for operation 17.
    pub(super) fn rom_name(&mut self, reader: Owner) -> String {
        let Owner::Op(op) = reader else { unreachable!("only operations read memories") };
        let start = self.text.len();
        self.text.push_str(self.scheme.prefix());
        self.push_layer(ValueId(op));
        self.push_numbered("rom", ValueId(op));
        let earlier = self.memories.entry(op).or_default();
        if *earlier > 0 {
            self.text.push('_');
            push_letters(&mut self.text, *earlier);
        }
        *earlier += 1;
        self.text.split_off(start)
    }

    /// Returns the empty comment.
    pub(super) fn no_comment(&self) -> (u32, u32) {
        (0, 0)
    }

    /// Writes the comment of the net with the owner's value: operation, type and interval. If the net has only some
    /// bits of the type, `kept` lists them as half-open ranges.
    pub(super) fn comment(&mut self, owner: Owner, kept: Option<impl Iterator<Item = (u32, u32)>>) -> (u32, u32) {
        let start = self.text.len();
        let kept = kept.map(|runs| {
            let mut bits = String::new();
            push_runs(&mut bits, runs);
            bits + " of "
        });
        self.push_meaning(owner, kept.as_deref().unwrap_or_default());
        self.since(start)
    }

    /// Writes the comment of a helper net, for an owner without a net of its own.
    pub(super) fn helper_comment(&mut self, owner: Owner) -> (u32, u32) {
        let start = self.text.len();
        self.text.push_str("part of ");
        self.push_meaning(owner, "");
        self.since(start)
    }

    /// Writes the comment of a register that stores some bits of the owner's value or helper; empty if it stores all
    /// bits.
    pub(super) fn held_comment(
        &mut self,
        owner: Owner,
        helper: u32,
        runs: Option<impl Iterator<Item = (u32, u32)>>,
    ) -> (u32, u32) {
        let Some(runs) = runs else { return self.no_comment() };
        let start = self.text.len();
        push_runs(&mut self.text, runs);
        self.text.push_str(" of ");
        self.name(owner, helper, None);
        self.since(start)
    }

    /// Appends an owner's operation and type, with `kept` before the type.
    fn push_meaning(&mut self, owner: Owner, kept: &str) {
        match owner {
            Owner::Op(op) => self.push_operation(ValueId(op), kept),
            Owner::Input(i) => {
                let kif = self.model.input_kifs()[i as usize];
                let _ = write!(self.text, "input {i}, {kept}{kif}");
            }
            Owner::Output(j) => {
                let _ = write!(self.text, "output {j} negated");
            }
            Owner::Object(_) => unreachable!("{NO_OBJECTS}"),
        }
    }

    /// Returns `true` if an owner's value is signed.
    pub(super) fn is_signed(&self, owner: Owner) -> bool {
        match owner {
            Owner::Op(op) => self.model.kif(ValueId(op)).signed,
            Owner::Input(i) => self.model.input_kifs()[i as usize].signed,
            Owner::Output(j) => self.model.output_kif(j as usize).signed,
            Owner::Object(_) => unreachable!("{NO_OBJECTS}"),
        }
    }

    /// Returns the width of an owner's value. For an output it is the width of the port, which may be less than the
    /// width of the negated operand.
    pub(super) fn value_width(&self, owner: Owner) -> u32 {
        match owner {
            Owner::Op(op) => self.model.kif(ValueId(op)).width(),
            Owner::Input(i) => self.model.input_kifs()[i as usize].width(),
            Owner::Output(j) => self.model.output_kif(j as usize).width(),
            Owner::Object(_) => unreachable!("{NO_OBJECTS}"),
        }
    }

    fn push_operation(&mut self, id: ValueId, kept: &str) {
        let model = self.model;
        let node = model.node(id);
        self.text.push_str(noun(&node.op));
        self.text.push(' ');
        match &node.op {
            Op::Input { input } if self.numbers_inputs => push_decimal(&mut self.text, (*input).into()),
            // Removes the space after the noun.
            Op::Input { .. } => _ = self.text.pop(),
            Op::Const { value } => self.push_real(value, node.interval.frac),
            // Comments omit the number of a table, because it changes with every table inserted before it.
            Op::Neg { x } | Op::Relu { x } | Op::Unary { op: _, x } | Op::Lookup { x, .. } => self.push_short(*x),
            Op::Quantise { x, shift } => self.push_scaled(*x, *shift),
            Op::Add { a, b, shift } => self.push_two(*a, " + ", *b, *shift),
            Op::Sub { a, b, shift } => self.push_two(*a, " - ", *b, *shift),
            Op::Mul { a, b } => self.push_two(*a, " * ", *b, 0),
            Op::Binary { op: _, a, b, shift } => self.push_two(*a, ", ", *b, *shift),
            Op::AddConst { x, value, shift } => {
                self.push_short(*x);
                self.text.push_str(if value.is_negative() { " - " } else { " + " });
                let magnitude = if value.is_negative() { value.negated() } else { value.clone() };
                self.push_real(&magnitude, *shift);
            }
            Op::Mux { cond, on_true, on_false, shift } => {
                self.text.push_str("if top bit of ");
                self.push_short(*cond);
                self.text.push_str(" then ");
                self.push_short(*on_true);
                self.text.push_str(" else ");
                self.push_scaled(*on_false, *shift);
            }
            Op::Sum { terms } => {
                /// Maximum number of terms in a comment.
                const MOST: usize = 8;
                for (k, term) in terms.iter().take(MOST).enumerate() {
                    self.text.push_str(match (k, term.neg) {
                        (0, false) => "",
                        (0, true) => "-",
                        (_, false) => " + ",
                        (_, true) => " - ",
                    });
                    self.push_scaled(term.value, term.shift);
                }
                if terms.len() > MOST {
                    let _ = write!(self.text, " ... ({} terms)", terms.len());
                }
            }
        }
        self.push_kif(model.kif(id), kept);
        self.push_interval(&node.interval);
    }

    /// Appends a type like the `Display` of [`Kif`], without `std::fmt`, which is slower: every net has a type.
    fn push_kif(&mut self, kif: Kif, kept: &str) {
        self.text.push_str(", ");
        self.text.push_str(kept);
        self.text.push(if kif.signed { 's' } else { 'u' });
        push_decimal(&mut self.text, kif.width().into());
        self.text.push('.');
        self.push_signed(kif.frac.into());
        self.text.push(' ');
    }

    fn push_two(&mut self, a: ValueId, operator: &str, b: ValueId, shift: i32) {
        self.push_short(a);
        self.text.push_str(operator);
        self.push_scaled(b, shift);
    }

    fn push_scaled(&mut self, x: ValueId, shift: i32) {
        self.push_short(x);
        if shift != 0 {
            self.text.push_str("*2^");
            self.push_signed(shift.into());
        }
    }

    fn push_signed(&mut self, number: i64) {
        if number < 0 {
            self.text.push('-');
        }
        push_decimal(&mut self.text, number.unsigned_abs());
    }

    fn push_interval(&mut self, interval: &Interval) {
        self.text.push('[');
        self.push_real(&interval.min, interval.frac);
        self.text.push_str(", ");
        self.push_real(&interval.max, interval.frac);
        self.text.push(']');
    }

    /// Appends `code * 2^-frac`, in decimal if that is exact and short.
    fn push_real(&mut self, code: &Code, frac: i32) {
        /// Maximum number of digits after the point.
        const DIGITS: i32 = 12;
        match code.to_i64() {
            Some(0) => self.text.push('0'),
            Some(code) if (0..=DIGITS).contains(&frac) => {
                if code < 0 {
                    self.text.push('-');
                }
                let magnitude = code.unsigned_abs();
                push_decimal(&mut self.text, magnitude >> frac);
                let mut rest = magnitude & ((1 << frac) - 1);
                if rest > 0 {
                    self.text.push('.');
                    while rest > 0 {
                        rest *= 10;
                        self.text.push(char::from(b'0' + (rest >> frac) as u8));
                        rest &= (1 << frac) - 1;
                    }
                }
            }
            Some(code) if (-30..0).contains(&frac) && code.unsigned_abs() < 1 << 32 => {
                self.push_signed(code << -frac);
            }
            _ if code.to_i64().is_none() && code.to_big().bits() > 128 => {
                // The magnitude is more readable than hundreds of digits.
                let _ = write!(self.text, "about 2^{}", code.to_big().bits() as i64 - i64::from(frac));
            }
            _ => {
                let _ = write!(self.text, "{code}");
                if frac != 0 {
                    self.text.push_str("*2^");
                    self.push_signed(-i64::from(frac));
                }
            }
        }
    }
}

/// Returns the name of an operation's result.
fn noun(op: &Op) -> &'static str {
    match op {
        Op::Add { .. } => "sum",
        Op::Sub { .. } => "difference",
        Op::AddConst { value, .. } if value.is_negative() => "difference",
        Op::AddConst { .. } => "sum",
        Op::Sum { terms } if terms.len() == 2 && terms[0].neg != terms[1].neg => "difference",
        Op::Mul { .. } => "product",
        other => other.name(),
    }
}

/// Appends runs of bits, given as half-open ranges.
pub(super) fn push_runs(text: &mut String, runs: impl Iterator<Item = (u32, u32)>) {
    /// Maximum number of listed runs.
    const MOST: usize = 6;
    let mut runs = runs.peekable();
    let single = runs.peek().is_some_and(|r| r.1 - r.0 == 1);
    text.push_str(if single { "bit " } else { "bits " });
    for (k, (start, stop)) in runs.enumerate() {
        if k == MOST {
            text.push_str(", ...");
            break;
        }
        if k > 0 {
            text.push_str(", ");
        }
        if stop - start > 1 {
            push_decimal(text, u64::from(stop - 1));
            text.push(':');
        }
        push_decimal(text, start.into());
    }
}

/// Returns the origin of each operation, as a table for fast access; empty if every operation is its own origin.
fn origins(model: &Model) -> Vec<u32> {
    if (0..).zip(model.nodes()).all(|(index, node)| node.origin == index) {
        return Vec::new();
    }
    model.nodes().iter().map(|n| n.origin).collect()
}

/// Returns the number of earlier operations with the same origin for each operation; empty if all are 0.
fn repeated_origins(model: &Model) -> Vec<u32> {
    if model.nodes().windows(2).all(|w| w[0].origin < w[1].origin) {
        return Vec::new();
    }
    let mut seen: FxHashMap<u32, u32> = FxHashMap::default();
    model
        .nodes()
        .iter()
        .map(|n| {
            let count = seen.entry(n.origin).or_default();
            *count += 1;
            *count - 1
        })
        .collect()
}

/// Returns the suffix of an operation's name: its position among the operations with the same origin, counted from 1.
/// Returns `None` for the first of these operations, whose name has no suffix.
fn repetition(repeated: &[u32], index: usize) -> Option<u64> {
    repeated.get(index).filter(|&&earlier| earlier > 0).map(|&earlier| u64::from(earlier) + 1)
}

/// Returns one string per operation: the common prefix of the names of its signals in the RTL file of a program without
/// labels.
pub fn stems(model: &Model) -> Vec<String> {
    let repeated = repeated_origins(model);
    let stem = |(index, node): (usize, &alir_core::ir::Node)| match repetition(&repeated, index) {
        Some(count) => format!("v{}_{count}", node.origin),
        None => format!("v{}", node.origin),
    };
    model.nodes().iter().enumerate().map(stem).collect()
}

/// Like [`stems`], for the RTL file of this netlist, in which values may have names of the source.
pub fn stems_in(netlist: &Netlist, model: &Model, labels: &Labels) -> Vec<String> {
    let ports = netlist.ports().iter().map(|port| port.name.as_str());
    let taken = ports.chain([netlist.interface.top.as_str()]).collect();
    let mut describer = Describer::labelled(model, taken, labels);
    let stem = |index| {
        describer.text.clear();
        describer.text.push_str(describer.scheme.prefix());
        describer.push_value(ValueId(index));
        describer.text.clone()
    };
    (0..model.nodes().len() as u32).map(stem).collect()
}

fn header(model: &Model, schedule: &Schedule, interface: &Interface, has_layers: bool) -> Vec<String> {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut lines = vec![format!(
        "{}: {}, {}, {}, {}",
        interface.top,
        count(model.nodes().len(), "operation"),
        count(model.n_inputs(), "input"),
        count(model.outputs().len(), "output"),
        count(model.tables().len(), "table")
    )];
    lines.push(match interface.latency {
        0 => "combinational".into(),
        1 => "latency 1 clock, initiation interval 1".into(),
        n => format!("latency {n} clocks, initiation interval 1"),
    });
    if schedule.latency() > 0 {
        let inputs = if schedule.register_inputs { ", inputs registered" } else { "" };
        let stages = match schedule.stages {
            0 => "combinational".into(),
            1 => "1 pipeline stage, ending in registers".into(),
            n => format!("{n} pipeline stages, each ending in registers"),
        };
        let outputs = match (schedule.register_outputs, schedule.stages) {
            (false, _) => "",
            (true, 0) => ", outputs registered",
            (true, _) => ", outputs registered once more",
        };
        lines.push(format!("{stages}{inputs}{outputs}"));
    }
    let layers = if has_layers { "LAYER_vN is operation N, vN in comments; " } else { "" };
    let registers = if interface.latency > 0 { "; NAME_sK is NAME in the registers after stage K" } else { "" };
    let tables = if model.tables().is_empty() { "" } else { "; romN is the table that operation N reads first" };
    lines.push(format!("names: {layers}NAME_a, NAME_b, ... compute parts of NAME{registers}{tables}"));
    lines.push("elements: port bits, type (s signed, u unsigned, width, fractional bits)".into());
    lines.extend(interface.inputs.iter().chain(&interface.outputs).map(element_line));
    lines
}

pub(super) fn element_line(element: &Element) -> String {
    let Element { port, lsb, width, name, .. } = element;
    let bits = match width {
        0 => return format!("  {name}: always 0, no bits"),
        1 => format!("{port}[{lsb}]"),
        _ => format!("{port}[{}:{lsb}]", lsb + width - 1),
    };
    let beat = match element.beat {
        0 => String::new(),
        beat => format!(" in beat {beat}"),
    };
    format!("  {name}: {bits}{beat}, {}", element.kif())
}
