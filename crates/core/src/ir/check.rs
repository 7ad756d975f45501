//! Semantic rules of a valid program (section 4 of the specification).
//!
//! Syntax (record lengths, numbers that are not integers, unknown opcodes) is checked by the parsers of each format.

use super::builder::Limits;
use super::model::{Model, Node, Output};
use super::{Op, ValueId};
use crate::num::{Code, Interval, Kif};
use std::fmt;

/// Part of an operation that violates a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The operation as a whole.
    Whole,
    /// The k-th operand, in the order of the version 4 `addr` field.
    Operand(usize),
    /// The index of an external input.
    Input,
    /// The k-th entry of the version 4 `data` field.
    Data(usize),
    /// The interval.
    Interval,
    /// The latency.
    Latency,
    /// The cost.
    Cost,
}

/// Location of a problem in a program. Parsers translate it to a location in their file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// The program as a whole.
    Model,
    /// The shift of an input.
    InputShift(usize),
    /// Part of an operation.
    Op(usize, Part),
    /// The source index of an output.
    OutputSource(usize),
    /// The shift of an output.
    OutputShift(usize),
    /// A table.
    Table(usize),
    /// An entry of a table.
    TableEntry(usize, usize),
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Site::Model => f.write_str("model"),
            Site::InputShift(i) => write!(f, "inp_shifts[{i}]"),
            Site::OutputSource(j) => write!(f, "out_idxs[{j}]"),
            Site::OutputShift(j) => write!(f, "out_shifts[{j}]"),
            Site::Table(t) => write!(f, "tables[{t}]"),
            Site::TableEntry(t, k) => write!(f, "tables[{t}].table[{k}]"),
            Site::Op(i, part) => {
                write!(f, "ops[{i}]")?;
                match part {
                    Part::Whole => Ok(()),
                    Part::Operand(k) => write!(f, ".addr[{k}]"),
                    Part::Input => f.write_str(".data[0]"),
                    Part::Data(k) => write!(f, ".data[{k}]"),
                    Part::Interval => f.write_str(".qint"),
                    Part::Latency => f.write_str(".latency"),
                    Part::Cost => f.write_str(".cost"),
                }
            }
        }
    }
}

/// A violated rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Stable code, `E02xx`.
    pub code: &'static str,
    /// Location in the program.
    pub site: Site,
    /// Message of the problem.
    pub message: String,
    /// Suggested correction.
    pub help: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.site, self.message, self.help)
    }
}

/// Result of a check: problems, and the types that were computed during the check.
#[derive(Debug, PartialEq)]
pub(super) struct Checked {
    /// Every violated rule, up to the limit.
    pub(super) problems: Vec<Problem>,
    /// The type of each operation; complete if there are no problems.
    pub(super) kifs: Vec<Kif>,
    /// The type of each input port element, from its readers.
    pub(super) input_kifs: Vec<Kif>,
    /// The interval of each output element.
    pub(super) output_intervals: Vec<Interval>,
}

/// Checks all invariants of a [`Model`]; `parts` has no derived types yet. `ports` are the port types if they are taken
/// from another model. Takes linear time, without allocation for valid operations.
pub(super) fn check(parts: &Model, limits: &Limits, ports: Option<&(Vec<Kif>, Vec<Interval>)>) -> Checked {
    let mut checker =
        Checker { parts, limits, problems: Vec::new(), kifs: Vec::with_capacity(parts.nodes.len()), most: (0, 0) };
    checker.sizes();
    checker.tables();
    for index in 0..parts.nodes.len() {
        if checker.is_full() {
            break;
        }
        checker.op(index);
    }
    checker.outputs();
    let (mut input_kifs, mut output_intervals) = (Vec::new(), Vec::new());
    if let Some((inputs, outputs)) = ports {
        assert_eq!(inputs.len(), parts.inp_shifts.len(), "a pass keeps the inputs");
        assert_eq!(outputs.len(), parts.outputs.len(), "a pass keeps the outputs");
        (input_kifs, output_intervals) = (inputs.clone(), outputs.clone());
    } else if checker.problems.is_empty() {
        // The port types of a valid program are computed from its operations, and may still be too wide.
        input_kifs = derived_input_kifs(parts, &checker.kifs);
        output_intervals = derived_output_intervals(parts);
        checker.port_widths(&input_kifs, &output_intervals);
    }
    Checked { problems: checker.problems, kifs: checker.kifs, input_kifs, output_intervals }
}

/// Returns the types of the input ports: for each port the narrowest type from which every reader gets its bits
/// (specification, section 2).
pub(super) fn derived_input_kifs(parts: &Model, kifs: &[Kif]) -> Vec<Kif> {
    let mut ports = vec![Kif::ZERO; parts.inp_shifts.len()];
    for (node, &reader) in parts.nodes.iter().zip(kifs) {
        let Op::Input { input } = node.op else { continue };
        widen_port(&mut ports[input as usize], reader);
    }
    ports
}

/// Widens the type of an input port for one more reader.
fn widen_port(port: &mut Kif, reader: Kif) {
    if reader.is_zero() {
        return;
    }
    if port.is_zero() {
        *port = reader;
        return;
    }
    let top = (port.int + i32::from(port.signed)).max(reader.int + i32::from(reader.signed));
    let signed = port.signed || reader.signed;
    *port = Kif { signed, int: top - i32::from(signed), frac: port.frac.max(reader.frac) };
}

/// Returns the intervals of the outputs: those of their sources, scaled and negated.
pub(super) fn derived_output_intervals(parts: &Model) -> Vec<Interval> {
    let interval = |out: &Output| match out.source {
        None => Interval::new(0, 0, 0),
        Some(v) => {
            let interval = parts.node(v).interval.scaled(out.shift);
            if out.neg { interval.negated() } else { interval }
        }
    };
    parts.outputs.iter().map(interval).collect()
}

/// Incremental checker of a program under construction: each operation is checked when it is appended. A few
/// comparisons decide the common valid cases; all other cases use the rules of [`check`]. The result is only whether
/// the program is valid; [`check`] reports the problems.
#[derive(Clone, Debug, Default)]
pub(super) struct IncrementalChecker {
    /// Types of the operations so far, all of which are valid.
    kifs: Vec<Kif>,
    /// Largest width and number of fractional bits, as in [`Checker::most`].
    most: (u64, u64),
    /// Types of the input ports, from their readers so far.
    input_kifs: Vec<Kif>,
    /// `true` if any problem was detected.
    has_problem: bool,
}

impl IncrementalChecker {
    /// Reserves memory for `operations` further operations.
    pub(super) fn reserve(&mut self, operations: usize) {
        self.kifs.reserve_exact(operations);
    }

    /// Records the operation appended next and returns `true` if the fast rules show that it is valid.
    #[inline(always)]
    pub(super) fn fast_path_valid(&mut self, parts: &Model, limits: &Limits, node: &Node) -> bool {
        let index = parts.nodes.len();
        if self.has_problem || self.kifs.len() != index {
            return false;
        }
        let kif = node.interval.kif();
        let most = (self.most.0.max(kif.width().into()), self.most.1.max(kif.frac.unsigned_abs().into()));
        let exists = |v: &ValueId| v.index() < index;
        // As in `Checker::is_surely_within`: whether all operands exist, the shift, and the bits of a constant.
        let (exists_all, shift, more) = match &node.op {
            Op::Input { input } => ((*input as usize) < parts.inp_shifts.len(), 0, 0),
            Op::Const { .. } => (true, 0, 0),
            Op::Neg { x } | Op::Relu { x } => (exists(x), 0, 0),
            Op::Quantise { x, shift } => (exists(x), *shift, 0),
            Op::Add { a, b, shift } | Op::Sub { a, b, shift } | Op::Binary { a, b, shift, .. } => {
                (exists(a) && exists(b), *shift, 0)
            }
            Op::AddConst { x, value, shift } => (exists(x), *shift, value.bits() + 1),
            Op::Mux { cond, on_true, on_false, shift } => {
                (exists(cond) && exists(on_true) && exists(on_false), *shift, 0)
            }
            Op::Mul { a, b } => (exists(a) && exists(b), 0, 0),
            // The fast rules do not cover these operations.
            Op::Lookup { .. } | Op::Unary { .. } | Op::Sum { .. } => return false,
        };
        let is_narrow = is_within_width(most, shift, more, limits);
        let has_small_shift = shift.unsigned_abs() <= limits.max_shift && kif.frac.unsigned_abs() <= limits.max_shift;
        if !(exists_all && is_narrow && has_small_shift && node.latency.is_finite() && node.cost.is_finite()) {
            return false;
        }
        self.most = most;
        self.record(parts, &node.op, kif);
        true
    }

    /// Checks the operation that was appended last against every rule.
    #[cold]
    pub(super) fn check_last(&mut self, parts: &Model, limits: &Limits) {
        let Some(index) = parts.nodes.len().checked_sub(1) else { return };
        if self.has_problem || self.kifs.len() != index {
            self.has_problem = true;
            return;
        }
        let kifs = std::mem::take(&mut self.kifs);
        let mut checker = Checker { parts, limits, problems: Vec::new(), kifs, most: self.most };
        checker.op(index);
        self.has_problem = !checker.problems.is_empty();
        (self.kifs, self.most) = (checker.kifs, checker.most);
        if !self.has_problem
            && let Some(kif) = self.kifs.pop()
        {
            self.record(parts, &parts.nodes[index].op, kif);
        }
    }

    /// Records a valid operation of type `kif`.
    #[inline(always)]
    fn record(&mut self, parts: &Model, op: &Op, kif: Kif) {
        if let Op::Input { input } = op {
            if self.input_kifs.len() < parts.inp_shifts.len() {
                self.input_kifs.resize(parts.inp_shifts.len(), Kif::ZERO);
            }
            widen_port(&mut self.input_kifs[*input as usize], kif);
        }
        self.kifs.push(kif);
    }

    /// Returns the result of [`check`] for a program whose operations were all checked; only the remaining rules are
    /// checked. Returns `None` if [`check`] has to run.
    pub(super) fn conclude(
        mut self,
        parts: &Model,
        limits: &Limits,
        ports: Option<&(Vec<Kif>, Vec<Interval>)>,
    ) -> Option<Checked> {
        // A limit of 0 problems would hide all problems.
        if self.has_problem || self.kifs.len() != parts.nodes.len() || limits.max_problems == 0 {
            return None;
        }
        self.input_kifs.resize(parts.inp_shifts.len(), Kif::ZERO);
        let mut checker = Checker { parts, limits, problems: Vec::new(), kifs: self.kifs, most: self.most };
        checker.sizes();
        checker.tables();
        checker.outputs();
        if !checker.problems.is_empty() {
            return None;
        }
        if let Some((inputs, outputs)) = ports {
            // If the numbers of ports differ, `check` reports it.
            let fit = inputs.len() == parts.inp_shifts.len() && outputs.len() == parts.outputs.len();
            let (input_kifs, output_intervals) = (inputs.clone(), outputs.clone());
            return fit.then_some(Checked { problems: Vec::new(), kifs: checker.kifs, input_kifs, output_intervals });
        }
        let output_intervals = derived_output_intervals(parts);
        checker.port_widths(&self.input_kifs, &output_intervals);
        let Checker { problems, kifs, .. } = checker;
        problems.is_empty().then_some(Checked { problems, kifs, input_kifs: self.input_kifs, output_intervals })
    }
}

/// Returns `true` if an operation is within the width limit for any operands. `most` are the largest width and the
/// largest number of fractional bits of any operand and of the result; `more` is the width of a constant.
#[inline]
fn is_within_width(most: (u64, u64), shift: i32, more: u64, limits: &Limits) -> bool {
    // A product has twice the bits; aligning operands to one another and to the result adds at most the rest.
    2 * most.0 + 4 * most.1 + 3 * u64::from(shift.unsigned_abs()) + more <= u64::from(limits.max_width)
}

struct Checker<'a> {
    parts: &'a Model,
    limits: &'a Limits,
    problems: Vec<Problem>,
    /// Types of the operations checked so far.
    kifs: Vec<Kif>,
    /// Largest width, and largest absolute number of fractional bits, of these types and of the current operation's
    /// type.
    most: (u64, u64),
}

impl Checker<'_> {
    fn is_full(&self) -> bool {
        self.problems.len() >= self.limits.max_problems
    }

    fn report(&mut self, code: &'static str, site: Site, message: impl Into<String>, help: impl Into<String>) {
        if !self.is_full() {
            self.problems.push(Problem { code, site, message: message.into(), help: help.into() });
        }
    }

    fn sizes(&mut self) {
        let n = self.parts.nodes.len() as u64;
        if n > self.limits.max_ops.min(u64::from(u32::MAX)) {
            let limit = self.limits.max_ops;
            self.report("E0201", Site::Model, format!("{n} operations, the limit is {limit}"), "raise --max-ops");
        }
        let entries: u64 = self.parts.tables.iter().map(|t| t.entries.len() as u64).sum();
        if entries > self.limits.max_table_entries {
            let limit = self.limits.max_table_entries;
            self.report(
                "E0202",
                Site::Model,
                format!("{entries} table entries in all, the limit is {limit}"),
                "raise --max-table-entries",
            );
        }
        for (i, &shift) in self.parts.inp_shifts.iter().enumerate() {
            self.shift(Site::InputShift(i), shift);
        }
    }

    fn shift(&mut self, site: Site, shift: i32) {
        if shift.unsigned_abs() > self.limits.max_shift {
            let limit = self.limits.max_shift;
            self.report(
                "E0203",
                site,
                format!("shift {shift} is beyond the limit of {limit}"),
                format!("use -{limit} to {limit}, or raise --max-shift"),
            );
        }
    }

    fn tables(&mut self) {
        for (t, table) in self.parts.tables.iter().enumerate() {
            let kif = table.out.kif();
            if !kif.is_zero() && table.out.frac.unsigned_abs() > self.limits.max_shift {
                let (frac, limit) = (table.out.frac, self.limits.max_shift);
                self.report(
                    "E0206",
                    Site::Table(t),
                    format!("{frac} fractional bits, the limit is {limit}"),
                    format!("use a step from 2^-{limit} to 2^{limit}, or raise --max-shift"),
                );
                continue;
            }
            // Every i32 fits a type of 31 bits and a sign.
            let bits = (kif.width() - u32::from(kif.signed)).min(31);
            let max = (1i64 << bits) - 1;
            let min = if kif.signed { -(1i64 << bits) } else { 0 };
            let outside = |entry: &i32| !(min..=max).contains(&i64::from(*entry));
            if let Some(k) = table.entries.iter().position(outside) {
                let more = table.entries[k + 1..].iter().filter(|e| outside(e)).count();
                let others = if more == 0 { String::new() } else { format!(" (nor do {more} later ones)") };
                self.report(
                    "E0204",
                    Site::TableEntry(t, k),
                    format!("entry {} does not fit the table's output type {kif}{others}", table.entries[k]),
                    format!("entries are codes from {min} to {max}"),
                );
            }
        }
    }

    fn op(&mut self, index: usize) {
        let parts = self.parts;
        let node = &parts.nodes[index];
        let kif = node.interval.kif();
        self.most = (self.most.0.max(kif.width().into()), self.most.1.max(kif.frac.unsigned_abs().into()));
        let before = self.problems.len();
        if !node.latency.is_finite() {
            self.report("E0205", Site::Op(index, Part::Latency), "latency is not finite", "use a number");
        }
        if !node.cost.is_finite() {
            self.report("E0205", Site::Op(index, Part::Cost), "cost is not finite", "use a number");
        }
        self.frac_bits(index, kif);
        self.operands(index, &node.op);
        // The next checks need the operands' types.
        if self.problems.len() == before && !self.is_full() {
            self.widths(index, kif);
            self.rules(index, kif);
        }
        self.kifs.push(kif);
    }

    fn frac_bits(&mut self, index: usize, kif: Kif) {
        // The step of an interval that contains only zero affects no width.
        if kif.is_zero() {
            return;
        }
        let (frac, limit) = (kif.frac, self.limits.max_shift);
        if frac.unsigned_abs() > limit {
            self.report(
                "E0206",
                Site::Op(index, Part::Interval),
                format!("{frac} fractional bits, the limit is {limit}"),
                format!("use a step from 2^-{limit} to 2^{limit}, or raise --max-shift"),
            );
        }
    }

    fn operands(&mut self, index: usize, op: &Op) {
        let mut k = 0;
        op.for_each_operand(|operand| {
            if operand.index() >= index {
                self.report(
                    "E0207",
                    Site::Op(index, Part::Operand(k)),
                    format!("operand {} is not earlier than operation {index}", operand.0),
                    "operations may only use earlier values",
                );
            }
            k += 1;
        });
        match op {
            Op::Input { input } if *input as usize >= self.parts.inp_shifts.len() => {
                let n = self.parts.inp_shifts.len();
                self.report(
                    "E0208",
                    Site::Op(index, Part::Input),
                    format!("input {input} does not exist"),
                    format!("the shape says {n} inputs, counted from 0"),
                );
            }
            Op::Lookup { table, .. } if table.index() >= self.parts.tables.len() => {
                let n = self.parts.tables.len();
                self.report(
                    "E0209",
                    Site::Op(index, Part::Data(0)),
                    format!("table {} does not exist", table.0),
                    format!("the file has {n} tables, counted from 0"),
                );
            }
            Op::Add { shift, .. } | Op::Sub { shift, .. } | Op::Quantise { shift, .. } | Op::Mux { shift, .. } => {
                self.shift(Site::Op(index, Part::Data(0)), *shift);
            }
            Op::Binary { shift, .. } => self.shift(Site::Op(index, Part::Data(0)), *shift),
            Op::AddConst { shift, .. } => self.shift(Site::Op(index, Part::Data(1)), *shift),
            Op::Sum { terms } => {
                if terms.is_empty() {
                    self.report("E0210", Site::Op(index, Part::Whole), "a sum of no terms", "give at least one term");
                }
                for (k, term) in terms.iter().enumerate() {
                    self.shift(Site::Op(index, Part::Data(2 * k + 1)), term.shift);
                }
            }
            _ => {}
        }
    }

    /// Returns the width of an operand times `2^shift` after alignment to `frac` fractional bits.
    fn aligned(&self, v: ValueId, shift: i64, frac: i64) -> i64 {
        let kif = self.kifs[v.index()];
        if kif.is_zero() {
            return 0;
        }
        i64::from(kif.width()) + (frac - (i64::from(kif.frac) - shift)).max(0)
    }

    /// Returns the number of fractional bits of a value; a very small number for a value without bits.
    fn frac(&self, v: ValueId) -> i64 {
        let kif = self.kifs[v.index()];
        // A value without bits is zero at every alignment, so it must not make the other operands wider.
        if kif.is_zero() { i64::MIN / 4 } else { i64::from(kif.frac) }
    }

    /// Returns the width that shifted operands need after alignment to one another and to the result's type.
    fn sum_width(&self, terms: impl Iterator<Item = (ValueId, i32)> + Clone, result: Kif) -> i64 {
        let Some(frac) = terms.clone().map(|(v, s)| self.frac(v) - i64::from(s)).max() else { return 0 };
        if frac < i64::MIN / 8 {
            return 0;
        }
        let finer = if result.is_zero() { 0 } else { (i64::from(result.frac) - frac).max(0) };
        terms.map(|(v, s)| self.aligned(v, i64::from(s), frac)).max().unwrap_or(0) + finer
    }

    /// Returns `true` if a quick estimate shows that an operation is within the width limit, as for nearly all
    /// operations.
    fn is_surely_within(&self, op: &Op) -> bool {
        let (shift, more) = match op {
            Op::Add { shift, .. } | Op::Sub { shift, .. } | Op::Quantise { shift, .. } => (*shift, 0),
            Op::Mux { shift, .. } | Op::Binary { shift, .. } => (*shift, 0),
            Op::AddConst { value, shift, .. } => (*shift, value.bits() + 1),
            Op::Sum { .. } => return false,
            _ => (0, 0),
        };
        is_within_width(self.most, shift, more, self.limits)
    }

    /// Checks the width of an operation's result and of its aligned intermediate values.
    fn widths(&mut self, index: usize, kif: Kif) {
        let node = &self.parts.nodes[index];
        let is_within = self.is_surely_within(&node.op);
        if is_within && !cfg!(debug_assertions) {
            return;
        }
        let out = i64::from(kif.frac);
        let own = if kif.is_zero() { 0 } else { i64::from(kif.int) + out + i64::from(kif.signed) };
        let finer = |frac: i64| if kif.is_zero() { 0 } else { (out - frac).max(0) };
        let wide = match &node.op {
            Op::Input { .. } | Op::Const { .. } | Op::Lookup { .. } | Op::Unary { .. } => 0,
            Op::Neg { x } | Op::Relu { x } => self.sum_width([(*x, 0)].into_iter(), kif),
            Op::Quantise { x, shift } => self.sum_width([(*x, *shift)].into_iter(), kif),
            Op::Add { a, b, shift } | Op::Sub { a, b, shift } | Op::Binary { a, b, shift, .. } => {
                self.sum_width([(*a, 0), (*b, *shift)].into_iter(), kif)
            }
            Op::Mux { on_true, on_false, shift, .. } => {
                let on_true = self.sum_width([(*on_true, 0)].into_iter(), kif);
                on_true.max(self.sum_width([(*on_false, *shift)].into_iter(), kif))
            }
            Op::Mul { a, b } => {
                let frac = self.frac(*a) + self.frac(*b);
                let bits = |v: &ValueId| i64::from(self.kifs[v.index()].width());
                if bits(a) == 0 || bits(b) == 0 { 0 } else { bits(a) + bits(b) + finer(frac) }
            }
            Op::AddConst { x, value, shift } => {
                let constant = i64::from(*shift);
                let frac = self.frac(*x).max(constant);
                let bits = value.bits() as i64 + 1 + frac - constant;
                self.aligned(*x, 0, frac).max(bits) + finer(frac)
            }
            Op::Sum { terms } => self.sum_width(terms.iter().map(|t| (t.value, t.shift)), kif),
        };
        let (need, limit) = (wide.max(own), i64::from(self.limits.max_width));
        debug_assert!(!is_within || need <= limit, "the estimate is an upper bound");
        if need > limit {
            self.report(
                "E0211",
                Site::Op(index, if own > limit { Part::Interval } else { Part::Whole }),
                format!("needs {need} bits once its operands are aligned, the limit is {limit}"),
                "use smaller shifts or steps, or raise --max-width",
            );
        }
    }

    /// Checks the rules about types that single operations have.
    fn rules(&mut self, index: usize, kif: Kif) {
        let parts = self.parts;
        let node = &parts.nodes[index];
        match &node.op {
            Op::Unary { op: super::UnaryBits::Not, x } => {
                let from = self.kifs[x.index()];
                if !kif.is_zero() && !from.is_zero() && from.frac != kif.frac {
                    self.report(
                        "E0212",
                        Site::Op(index, Part::Interval),
                        format!("a not has {} fractional bits, its operand {}", kif.frac, from.frac),
                        "its step must be its operand's",
                    );
                }
            }
            Op::Lookup { x, table, base } => self.lookup(index, *x, &parts.tables[table.index()], base, kif),
            _ => {}
        }
    }

    fn lookup(&mut self, index: usize, x: ValueId, table: &super::Table, base: &Code, kif: Kif) {
        let out = table.out.kif();
        if !kif.is_zero() && !out.is_zero() && kif.frac != out.frac {
            self.report(
                "E0213",
                Site::Op(index, Part::Interval),
                format!("the lookup has {} fractional bits, its table {}", kif.frac, out.frac),
                "its step must be that of the table's out_qint",
            );
        }
        let from = self.kifs[x.index()];
        let len = table.entries.len() as u64;
        if len == 0 {
            self.report("E0214", Site::Op(index, Part::Data(0)), "the table has no entries", "give at least one entry");
        } else if from.width() < 64 && len > 1 << from.width() {
            self.report(
                "E0215",
                Site::Op(index, Part::Data(0)),
                format!("the table has {len} entries, its operand of type {from} has {} codes", 1u64 << from.width()),
                "a table has at most 2^width entries",
            );
        } else if !holds_range(from, base, len) {
            let last = Code::from(base.to_big() + (len - 1));
            self.report(
                "E0216",
                Site::Op(index, Part::Operand(0)),
                format!("entries {} to {} leave the codes of the operand's type {from}", shown(base), shown(&last)),
                "base (the operand's min / step) and length must stay inside the operand's type",
            );
        }
    }

    fn outputs(&mut self) {
        for (j, out) in self.parts.outputs.iter().enumerate() {
            if let Some(v) = out.source
                && v.index() >= self.parts.nodes.len()
            {
                let n = self.parts.nodes.len();
                self.report(
                    "E0217",
                    Site::OutputSource(j),
                    format!("operation {} does not exist", v.0),
                    format!("the file has {n} operations, counted from 0; -1 is the constant zero"),
                );
            }
            self.shift(Site::OutputShift(j), out.shift);
        }
    }

    fn port_widths(&mut self, inputs: &[Kif], outputs: &[Interval]) {
        let inputs = inputs.iter().enumerate().map(|(i, kif)| (Site::InputShift(i), kif.width()));
        let outputs = outputs.iter().enumerate().map(|(j, out)| (Site::OutputSource(j), out.kif().width()));
        let limit = self.limits.max_width;
        for (site, width) in inputs.chain(outputs).filter(|&(_, width)| width > limit) {
            self.report(
                "E0211",
                site,
                format!("the port element needs {width} bits, the limit is {limit}"),
                "give its readers closer types, or raise --max-width",
            );
        }
    }
}

/// Returns `true` if all `len` raw integer values from `base` on belong to the type.
fn holds_range(kif: Kif, base: &Code, len: u64) -> bool {
    match base.to_i64() {
        Some(base) if kif.width() <= 100 => {
            let bits = kif.width() - u32::from(kif.signed && kif.width() > 0);
            let min = if kif.signed { -(1i128 << bits) } else { 0 };
            let last = i128::from(base) + i128::from(len) - 1;
            min <= i128::from(base) && last < 1i128 << bits
        }
        // A type of more than 100 bits contains every range that starts at a 64-bit integer and is not below its
        // minimum.
        Some(base) => kif.signed || base >= 0,
        None => kif.holds(&base.to_big()) && kif.holds(&(base.to_big() + (len - 1))),
    }
}

/// Formats an integer for a message; a very long integer only by its number of bits.
fn shown(code: &Code) -> String {
    if code.bits() > 256 { format!("(an integer of {} bits)", code.bits()) } else { code.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, Node, Table, TableId, UnaryBits};
    use super::*;
    use num_bigint::BigInt;

    /// Returns a program with one input of raw integer values -8 to 7.
    fn builder() -> (Builder, ValueId) {
        let mut b = Builder::new(vec![0]);
        let x = b.op(Op::Input { input: 0 }, Interval::new(-8, 7, 0));
        (b, x)
    }

    fn codes(b: &Builder) -> Vec<&'static str> {
        b.check().iter().map(|p| p.code).collect()
    }

    #[test]
    fn a_lookup_without_entries_or_with_too_many_is_refused() {
        let mut found = Vec::new();
        for len in [0, 1, 16, 17] {
            let (mut b, x) = builder();
            let table = Table { entries: vec![1; len], out: Interval::new(0, 1, 0), hash: String::new(), inp_width: 4 };
            let table = b.table(table);
            b.op(Op::Lookup { x, table, base: Code::from(-8) }, Interval::new(0, 1, 0));
            found.push(codes(&b));
        }
        assert_eq!(found, [vec!["E0214"], vec![], vec![], vec!["E0215"]]);
    }

    #[test]
    fn fast_and_exact_range_checks_agree_at_every_width() {
        let plain = |kif: Kif, base: &BigInt, len: u64| kif.holds(base) && kif.holds(&(base + (len - 1)));
        for width in [1, 2, 5, 62, 63, 64, 65, 99, 100, 101, 130] {
            for signed in [false, true] {
                let kif = Kif { signed, int: width - i32::from(signed), frac: 0 };
                for edge in [kif.min_code(), BigInt::ZERO, kif.max_code()] {
                    for (step, len) in [(-3, 1), (-3, 4), (-2, 4), (-1, 1), (0, 1), (0, 2), (1, 1), (-7, 9)] {
                        let base = &edge + step;
                        let fast = holds_range(kif, &Code::from(&base), len);
                        assert_eq!(fast, plain(kif, &base, len), "{len} codes from {base} in {kif}");
                    }
                }
            }
        }
    }

    #[test]
    fn table_entries_are_checked_against_the_declared_type() {
        let entry = |entry: i32, out: Interval| {
            let (mut b, _) = builder();
            b.table(Table { entries: vec![0, entry], out, hash: String::new(), inp_width: 1 });
            codes(&b)
        };
        assert_eq!(entry(3, Interval::new(0, 2, 0)), [""; 0], "2 bits hold a 3, whatever the interval says");
        assert_eq!(entry(4, Interval::new(0, 2, 0)), ["E0204"]);
        assert_eq!(entry(-1, Interval::new(0, 2, 0)), ["E0204"]);
        assert_eq!(entry(-4, Interval::new(-3, 2, 0)), [""; 0]);
        assert_eq!(entry(i32::MIN, Interval::new(-(1i64 << 40), 0, 0)), [""; 0]);
        assert_eq!(entry(1, Interval::new(0, 0, 0)), ["E0204"], "a type without bits holds zero only");
    }

    #[test]
    fn intermediate_widths_follow_the_alignment() {
        let needs = |op: &dyn Fn(ValueId) -> Op, limit: u32| {
            let (mut b, x) = builder();
            b.limits(Limits { max_width: limit, ..Limits::default() });
            b.op(op(x), Interval::new(0, 0, 0));
            codes(&b).is_empty()
        };
        // Four bits are added to four bits shifted left by ten.
        let add = |x| Op::Add { a: x, b: x, shift: 10 };
        assert!(needs(&add, 14) && !needs(&add, 13));
        let mul = |x| Op::Mul { a: x, b: x };
        assert!(needs(&mul, 8) && !needs(&mul, 7));
        let constant = |x| Op::AddConst { x, value: Code::from(3), shift: 10 };
        assert!(needs(&constant, 14) && !needs(&constant, 13));
    }

    #[test]
    fn a_value_without_bits_makes_nothing_wider() {
        let mut b = Builder::new(Vec::new());
        b.limits(Limits { max_width: 8, ..Limits::default() });
        let zero = b.op(Op::Const { value: Code::ZERO }, Interval::new(0, 0, 0));
        let one = b.op(Op::Const { value: Code::from(1) }, Interval::new(1, 1, 0));
        b.op(Op::Add { a: one, b: zero, shift: -1000 }, Interval::new(0, 1, 0));
        b.op(Op::Unary { op: UnaryBits::Not, x: zero }, Interval::new(0, 1, 3));
        assert_eq!(codes(&b), [""; 0]);
    }

    #[test]
    fn what_does_not_exist_is_named_by_site() {
        let (mut b, x) = builder();
        b.op(Op::Add { a: x, b: ValueId(1), shift: 0 }, Interval::new(-16, 14, 0));
        b.op(Op::Lookup { x, table: TableId(0), base: Code::from(-8) }, Interval::new(0, 1, 0));
        b.push(Node {
            op: Op::Input { input: 1 },
            interval: Interval::new(0, 1, 0),
            latency: f64::NAN,
            cost: 0.0,
            origin: 3,
        });
        let sites: Vec<_> = b.check().into_iter().map(|p| p.site).collect();
        let expected = [
            Site::Op(1, Part::Operand(1)),
            Site::Op(2, Part::Data(0)),
            Site::Op(3, Part::Latency),
            Site::Op(3, Part::Input),
        ];
        assert_eq!(sites, expected);
    }
}
