//! Conversion of programs from before spec version 2 to current operations (`docs/dais.md`, section 4).
//!
//! While an old file is read, each record becomes one operation, so that every place in a message is a place in the
//! file; operands that the operation negates first are only recorded. A valid program is then rebuilt with explicit
//! negations.

use super::decode::Negated;
use alir_core::ir::{Builder, Limits, Model, Node, Op, ValueId};
use alir_core::num::{Code, Interval, align};
use rustc_hash::FxHashMap;

/// Operands that each operation negates, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Negations(Vec<(u32, Negated)>);

impl Negations {
    /// Records that operation `index` negates these operands.
    pub(super) fn note(&mut self, index: usize, operands: Negated) {
        if operands != 0 {
            self.0.push((index as u32, operands));
        }
    }

    /// Returns the program with explicit negations, one for each negated value; `None` if the number of operations
    /// exceeds the limit.
    pub(super) fn expand(&self, model: Model, limits: &Limits) -> Option<Model> {
        if self.0.is_empty() {
            return Some(model);
        }
        let mut builder = Builder::like(&model);
        let mut map = Vec::with_capacity(model.nodes().len());
        let mut negated: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        let mut todo = self.0.iter().peekable();
        for (index, node) in model.nodes().iter().enumerate() {
            let operands = todo.next_if(|&&(at, _)| at as usize == index).map_or(0, |&(_, operands)| operands);
            let mut op = node.op.clone();
            if operands == 1
                && let Op::Quantise { x, shift: 0 } = op
                && holds_negation(&node.interval, &model.node(x).interval)
            {
                map.push(builder.push(Node { op: Op::Neg { x: map[x.index()] }, ..node.clone() }));
                continue;
            }
            let mut k = 0;
            op.map_operands(|old| {
                let flagged = operands >> k & 1 == 1;
                k += 1;
                let new = map[old.index()];
                if !flagged {
                    return new;
                }
                *negated.entry(new).or_insert_with(|| {
                    let source = &builder.nodes()[new.index()];
                    let node = Node {
                        op: Op::Neg { x: new },
                        interval: negation(&source.interval),
                        latency: source.latency,
                        cost: 0.0,
                        origin: node.origin,
                    };
                    builder.push(node)
                })
            });
            map.push(builder.push(Node { op, ..node.clone() }));
        }
        if builder.nodes().len() as u64 > limits.max_ops {
            return None;
        }
        for out in model.outputs() {
            builder.output(alir_core::ir::Output { source: out.source.map(|v| map[v.index()]), ..*out });
        }
        Some(builder.finish().expect("negations between the operations of a valid program keep it valid"))
    }
}

/// Returns `true` if quantising `-x` to the result's type changes no value of the interval, so that the operation is a
/// negation.
fn holds_negation(result: &Interval, x: &Interval) -> bool {
    let (kif, x) = (result.kif(), x.negated());
    let at = |code: &Code| align(&code.to_big(), i64::from(x.frac), i64::from(kif.frac));
    x.kif().is_zero() || kif.frac >= x.frac && kif.holds(&at(&x.min)) && kif.holds(&at(&x.max))
}

/// Returns the interval of `-x`: `[-max, -min]`. It is wider if the *type* of `x` has a value whose negation does not
/// fit the type of this interval (-4, if `x` is from -3 to 3), as the old operations negate every bit pattern exactly.
fn negation(x: &Interval) -> Interval {
    let (plain, kif) = (x.negated(), x.kif());
    let (low, high) = (-kif.max_code(), -kif.min_code());
    let own = plain.kif();
    Interval {
        min: if own.holds(&low) { plain.min } else { low.into() },
        max: if own.holds(&high) { plain.max } else { high.into() },
        frac: plain.frac,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negated(min: i64, max: i64) -> (i64, i64) {
        let n = negation(&Interval::new(min, max, 2));
        (n.min.to_i64().unwrap(), n.max.to_i64().unwrap())
    }

    #[test]
    fn a_negation_holds_every_pattern_of_its_operand() {
        assert_eq!(negated(-3, 3), (-3, 4));
        assert_eq!(negated(-4, 3), (-3, 4));
        assert_eq!(negated(-3, 0), (-3, 4));
        assert_eq!(negated(0, 10), (-10, 0));
        assert_eq!(negated(0, 0), (0, 0));
        for (min, max) in [(-5, 9), (-9, 5), (3, 6), (-6, -3), (0, 16), (-17, 0)] {
            let x = Interval::new(min, max, 0).kif();
            let n = negation(&Interval::new(min, max, 0)).kif();
            assert!(n.holds(&-x.min_code()) && n.holds(&-x.max_code()), "{min} to {max}");
        }
    }
}
