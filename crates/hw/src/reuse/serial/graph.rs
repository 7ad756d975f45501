//! Lowering of a program to operations on streams.

use super::{Kind, Node, Read};
use alir_core::ir::{Builder, Model, Node as Operation, Op, Output, Term, ValueId};
use alir_core::num::{Interval, Kif, wrap};
use num_bigint::BigInt;

/// Operations on streams, each after its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The operations.
    pub nodes: Vec<Node>,
    /// For each output element, its node and its type before the output's shift; `None` for the constant zero.
    pub outputs: Vec<Option<(Read, Kif)>>,
    /// For each operation of the program, its node; `None` for an operation whose result is always zero.
    pub of: Vec<Option<usize>>,
    /// Number of elements of the input port, including unread ones.
    pub n_inputs: usize,
}

impl Graph {
    /// Returns the first cycle in which each input of the module is available. With `held`, the sender keeps a sample
    /// stable at the port for an interval, so the result is 0; otherwise the edge that accepts a sample loads a
    /// register, so the result is 1.
    pub fn arrivals(&self, held: bool) -> Vec<u32> {
        vec![u32::from(!held); self.n_inputs]
    }
}

/// Returns the program with every sum decomposed into sums of two, like the adders of the hardware. The generated RTL
/// is compared with this program.
pub fn sums_of_two(model: &Model) -> Model {
    let mut out = Builder::like(model);
    let mut of: Vec<ValueId> = Vec::with_capacity(model.nodes().len());
    for node in model.nodes() {
        let mut node = node.clone();
        node.op.map_operands(|v| of[v.index()]);
        let Op::Sum { terms } = &node.op else {
            of.push(out.push(node));
            continue;
        };
        // Added terms come before subtracted ones.
        let mut terms = terms.clone();
        terms.sort_by_key(|term| term.neg);
        let mut range: Option<Interval> = None;
        let mut sum: Option<ValueId> = None;
        let last = terms.len() - 1;
        for (k, term) in terms.iter().enumerate() {
            let Term { value: b, shift, neg } = *term;
            let own = Interval::full(out.nodes()[b.index()].interval.kif());
            let exact = match &range {
                Some(range) => both(range, (&own, shift), neg),
                None if neg => own.scaled(shift).negated(),
                None => own.scaled(shift),
            };
            let interval = if k == last { node.interval.clone() } else { exact.clone() };
            range = Some(exact);
            let op = match sum {
                Some(a) if neg => Op::Sub { a, b, shift },
                Some(a) => Op::Add { a, b, shift },
                None if neg => {
                    let op = Op::Quantise { x: b, shift };
                    let x = out.push(Operation { op, interval: own.scaled(shift), ..node.clone() });
                    Op::Neg { x }
                }
                None => Op::Quantise { x: b, shift },
            };
            sum = Some(out.push(Operation { op, interval, ..node.clone() }));
        }
        of.extend(sum);
    }
    for output in model.outputs() {
        out.output(Output { source: output.source.map(|v| of[v.index()]), ..*output });
    }
    out.finish().unwrap_or_else(|problems| panic!("sums of two are a program: {:?}", problems.first()))
}

/// Returns the operations of a program on streams. A negated output becomes a negation node.
///
/// # Panics
/// If the program contains [`Op::Sum`]; see [`sums_of_two`].
pub fn graph(model: &Model) -> Graph {
    let of = Vec::with_capacity(model.nodes().len());
    let mut lowering = Lowering { model, nodes: Vec::new(), of, ports: vec![None; model.n_inputs()], zero: None };
    for id in model.ids() {
        let node = lowering.operation(id);
        lowering.of.push(node);
    }
    let mut outputs = Vec::with_capacity(model.outputs().len());
    for (j, output) in model.outputs().iter().enumerate() {
        let kif = model.output_intervals()[j].scaled(-output.shift).kif();
        let shown = output.source.filter(|_| !kif.is_zero()).map(|source| {
            let origin = model.node(source).origin;
            let mut x = lowering.value(source);
            if output.neg {
                let kind = Kind::Sum { a: None, b: x, minus: true };
                x = lowering.push(kind, kif, origin);
            }
            (x, kif)
        });
        outputs.push(shown);
    }
    Graph { nodes: lowering.nodes, outputs, of: lowering.of, n_inputs: model.n_inputs() }
}

struct Lowering<'a> {
    model: &'a Model,
    nodes: Vec<Node>,
    /// Node of each operation; `None` for an operation whose result is always zero.
    of: Vec<Option<usize>>,
    /// Nodes of the input elements that are read so far.
    ports: Vec<Option<Read>>,
    zero: Option<usize>,
}

impl Lowering<'_> {
    fn push(&mut self, kind: Kind, kif: Kif, origin: u32) -> Read {
        self.nodes.push(Node { kind, kif, origin });
        Read { node: self.nodes.len() - 1, shift: 0 }
    }

    /// Returns the node of a value. A value that is always zero reads a constant of one bit.
    fn value(&mut self, v: ValueId) -> Read {
        if let Some(node) = self.of[v.index()] {
            return Read { node, shift: 0 };
        }
        if let Some(node) = self.zero {
            return Read { node, shift: 0 };
        }
        let bit = Kif { signed: false, int: 1, frac: 0 };
        let read = self.push(Kind::Constant { code: BigInt::ZERO, low: 0 }, bit, self.model.node(v).origin);
        self.zero = Some(read.node);
        read
    }

    fn scaled(&mut self, v: ValueId, shift: i32) -> Read {
        let read = self.value(v);
        Read { shift: read.shift + shift, ..read }
    }

    fn operation(&mut self, id: ValueId) -> Option<usize> {
        let model = self.model;
        let node = model.node(id);
        let kif = model.kif(id);
        if kif.is_zero() {
            return None;
        }
        let kind = match &node.op {
            Op::Input { input } => {
                let port = model.input_kifs()[*input as usize];
                if port.is_zero() {
                    Kind::Constant { code: BigInt::ZERO, low: 0 }
                } else {
                    let read = match self.ports[*input as usize] {
                        Some(read) => read,
                        None => self.push(Kind::Port(*input), port, node.origin),
                    };
                    self.ports[*input as usize] = Some(read);
                    Kind::Quantised(read)
                }
            }
            Op::Const { value } => Kind::Constant { code: wrap(&value.to_big(), kif), low: -kif.frac },
            Op::Neg { x } => Kind::Sum { a: None, b: self.value(*x), minus: true },
            Op::Add { a, b, shift } => Kind::Sum { a: Some(self.value(*a)), b: self.scaled(*b, *shift), minus: false },
            Op::Sub { a, b, shift } => Kind::Sum { a: Some(self.value(*a)), b: self.scaled(*b, *shift), minus: true },
            Op::AddConst { x, value, shift } => {
                let constant = Kind::Constant { code: value.to_big(), low: -*shift };
                let wide = Kif::from_bits(true, value.bits() + 1, *shift);
                let b = self.push(constant, wide, node.origin);
                Kind::Sum { a: Some(self.value(*x)), b, minus: false }
            }
            Op::Relu { x } if model.kif(*x).signed => Kind::Relu(self.value(*x)),
            Op::Relu { x } => Kind::Quantised(self.value(*x)),
            Op::Quantise { x, shift } => Kind::Quantised(self.scaled(*x, *shift)),
            Op::Mux { cond, on_true, on_false, shift } => {
                let (one, zero) = (self.value(*on_true), self.scaled(*on_false, *shift));
                match model.kif(*cond).is_zero() {
                    true => Kind::Quantised(zero),
                    false => Kind::Choice { by: self.value(*cond), one, zero },
                }
            }
            Op::Sum { .. } => panic!("sums have two terms"),
            op @ (Op::Mul { .. } | Op::Lookup { .. } | Op::Unary { .. } | Op::Binary { .. }) => {
                let mut own = op.clone();
                let mut operands = Vec::new();
                let mut next = 0;
                op.for_each_operand(|v| operands.push(v));
                own.map_operands(|_| {
                    next += 1;
                    ValueId(next - 1)
                });
                let operands = operands.into_iter().map(|v| (self.value(v), model.node(v).interval.clone())).collect();
                Kind::Whole { op: own, operands, interval: node.interval.clone() }
            }
        };
        Some(self.push(kind, kif, node.origin).node)
    }
}

/// Returns the exact interval of `a ± b * 2^shift`.
fn both(a: &Interval, (b, shift): (&Interval, i32), minus: bool) -> Interval {
    let b = b.scaled(shift);
    a.plus(&if minus { b.negated() } else { b })
}
