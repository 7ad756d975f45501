//! The builder, which is the only way to create a [`Model`].

use super::check::{self, IncrementalChecker, Problem};
use super::model::{Model, Node, Output, Table};
use super::{Op, TableId, ValueId};
use crate::num::{Interval, Kif};

/// Limits on a model, which protect against hostile files. Each is an option of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a file after decompression, in bytes.
    pub max_bytes: u64,
    /// Maximum number of operations.
    pub max_ops: u64,
    /// Maximum number of lookup table entries, all tables together.
    pub max_table_entries: u64,
    /// Maximum absolute value of any shift and of any number of fractional bits.
    pub max_shift: u32,
    /// Maximum width of any value and of any aligned intermediate value, in bits.
    pub max_width: u32,
    /// Number of problems after which a check stops.
    pub max_problems: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_bytes: 1 << 30,
            max_ops: 10_000_000,
            max_table_entries: 1 << 26,
            max_shift: 4096,
            max_width: 65_536,
            max_problems: 50,
        }
    }
}

impl Limits {
    /// Returns the limits of models derived from a valid one, which may exceed the limits on files by a few bits.
    pub fn derived() -> Limits {
        Limits {
            max_ops: u64::from(u32::MAX),
            max_table_entries: u64::MAX,
            max_shift: i32::MAX as u32 / 4,
            max_width: u32::MAX / 4,
            ..Limits::default()
        }
    }
}

/// Collects the parts of a program; [`Builder::finish`] checks them.
#[derive(Clone, Debug)]
pub struct Builder {
    limits: Limits,
    parts: Model,
    /// Types of inputs and intervals of outputs, if they are taken from another model.
    ports: Option<(Vec<Kif>, Vec<Interval>)>,
    /// Checker of the operations appended by [`Builder::push_checked`].
    checker: IncrementalChecker,
}

impl Builder {
    /// Creates an empty program whose inputs have the shifts `inp_shifts`.
    pub fn new(inp_shifts: Vec<i32>) -> Builder {
        Builder {
            limits: Limits::default(),
            parts: Model {
                inp_shifts,
                nodes: Vec::new(),
                outputs: Vec::new(),
                tables: Vec::new(),
                carry_size: 1,
                adder_size: -1,
                kifs: Vec::new(),
                input_kifs: Vec::new(),
                output_intervals: Vec::new(),
            },
            ports: None,
            checker: IncrementalChecker::default(),
        }
    }

    /// Creates a program with the inputs, tables, cost model and *port types* of `model`, but without operations and
    /// outputs. Passes start here, so that the port layout remains that of the file.
    pub fn like(model: &Model) -> Builder {
        let mut builder = Builder::new(model.inp_shifts.clone());
        builder.limits = Limits::derived();
        builder.parts.tables = model.tables.clone();
        builder.parts.carry_size = model.carry_size;
        builder.parts.adder_size = model.adder_size;
        builder.ports = Some((model.input_kifs.clone(), model.output_intervals.clone()));
        builder
    }

    /// Sets the limits.
    pub fn limits(&mut self, limits: Limits) -> &mut Builder {
        self.limits = limits;
        // Operations that were checked under other limits are checked again.
        self.checker = IncrementalChecker::default();
        self
    }

    /// Sets the producer's cost model parameters.
    pub fn cost_model(&mut self, carry_size: i64, adder_size: i64) -> &mut Builder {
        self.parts.carry_size = carry_size;
        self.parts.adder_size = adder_size;
        self
    }

    /// Reserves memory for `operations` further operations.
    pub fn reserve(&mut self, operations: usize) -> &mut Builder {
        self.checker.reserve(operations);
        self.parts.nodes.reserve_exact(operations);
        self
    }

    /// Appends an operation and returns the id of its value.
    pub fn push(&mut self, node: Node) -> ValueId {
        let id = ValueId(self.parts.nodes.len() as u32);
        self.parts.nodes.push(node);
        id
    }

    /// Appends an operation and checks it at once. If all operations were appended by this method, [`Builder::finish`]
    /// does not check them again; the messages about invalid operations are the same. The tables that an operation
    /// reads must be added before the operation.
    #[inline(always)]
    pub fn push_checked(&mut self, node: Node) -> ValueId {
        let id = ValueId(self.parts.nodes.len() as u32);
        let is_valid = self.checker.fast_path_valid(&self.parts, &self.limits, &node);
        self.parts.nodes.push(node);
        if !is_valid {
            self.checker.check_last(&self.parts, &self.limits);
        }
        id
    }

    /// Appends an operation with latency 0, cost 0 and its own index as origin; returns the id of its value.
    pub fn op(&mut self, op: Op, interval: Interval) -> ValueId {
        let origin = self.parts.nodes.len() as u32;
        self.push(Node { op, interval, latency: 0.0, cost: 0.0, origin })
    }

    /// Returns the operations so far.
    #[inline]
    pub fn nodes(&self) -> &[Node] {
        &self.parts.nodes
    }

    /// Returns the tables so far.
    pub fn tables(&self) -> &[Table] {
        &self.parts.tables
    }

    /// Appends a lookup table and returns its id.
    pub fn table(&mut self, table: Table) -> TableId {
        let id = TableId(self.parts.tables.len() as u32);
        self.parts.tables.push(table);
        id
    }

    /// Removes all tables, for a pass that drops or reorders those of [`Builder::like`].
    pub fn clear_tables(&mut self) -> &mut Builder {
        self.parts.tables.clear();
        self.checker = IncrementalChecker::default();
        self
    }

    /// Appends an output element.
    pub fn output(&mut self, output: Output) -> &mut Builder {
        self.parts.outputs.push(output);
        self
    }

    /// Returns the output elements so far.
    pub fn outputs(&self) -> &[Output] {
        &self.parts.outputs
    }

    /// Returns the problems that [`Builder::finish`] would report.
    pub fn check(&self) -> Vec<Problem> {
        check::check(&self.parts, &self.limits, self.ports.as_ref()).problems
    }

    /// Checks the program and returns it.
    ///
    /// # Errors
    /// Every problem found, up to [`Limits::max_problems`], in the order of the program.
    pub fn finish(mut self) -> Result<Model, Vec<Problem>> {
        let checker = std::mem::take(&mut self.checker);
        let early = checker.conclude(&self.parts, &self.limits, self.ports.as_ref());
        let full = || check::check(&self.parts, &self.limits, self.ports.as_ref());
        debug_assert!(
            early.as_ref().is_none_or(|early| *early == full()),
            "the incremental check agrees with the full check"
        );
        let checked = early.unwrap_or_else(full);
        if !checked.problems.is_empty() {
            return Err(checked.problems);
        }
        self.parts.kifs = checked.kifs;
        self.parts.input_kifs = checked.input_kifs;
        self.parts.output_intervals = checked.output_intervals;
        Ok(self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_readers(first: Interval, second: Interval) -> Kif {
        let mut b = Builder::new(vec![0]);
        let x = b.op(Op::Input { input: 0 }, first);
        b.op(Op::Input { input: 0 }, second);
        b.output(Output { source: Some(x), shift: 0, neg: false });
        b.finish().unwrap().input_kifs()[0]
    }

    #[test]
    fn an_input_port_serves_all_its_readers() {
        // u4.0 and s4.2 (signed + int = 2): top weight 4, two fractional bits, signed.
        let port = two_readers(Interval::new(0, 15, 0), Interval::new(-8, 7, 2));
        assert_eq!(port, Kif { signed: true, int: 3, frac: 2 });
        // A reader of width 0 does not widen the port.
        let port = two_readers(Interval::new(0, 15, 0), Interval::new(0, 0, 9));
        assert_eq!(port, Kif { signed: false, int: 4, frac: 0 });
    }

    #[test]
    fn an_output_has_the_type_of_its_scaled_and_negated_interval() {
        let mut b = Builder::new(vec![0]);
        let x = b.op(Op::Input { input: 0 }, Interval::new(0, 15, 0));
        b.output(Output { source: Some(x), shift: 1, neg: true });
        b.output(Output { source: None, shift: 0, neg: false });
        let model = b.finish().unwrap();
        assert_eq!(model.output_kif(0), Kif { signed: true, int: 5, frac: -1 });
        assert_eq!(model.output_kif(1), Kif::ZERO);
    }
}
