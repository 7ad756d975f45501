//! Rewrites a program for a format version that lacks some of its operations or information.
//!
//! Every rewrite keeps each output bit for every bit pattern of the inputs, including patterns outside the declared
//! intervals: the types of inserted values hold all values that the *types* of their operands allow. If an operation
//! becomes several, the last of them has the whole delay.

use super::Target;
use super::alir::spelling;
use super::bytecode::{in_own_step, widened};
use alir_core::diag::{Diagnostic, Place};
use alir_core::ir::{Builder, Limits, Model, Node, Op, Output, TableId, Term, ValueId};
use alir_core::num::{Code, Interval, Kif, align};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Returns an equivalent program that the target can represent, and from which a parser derives the port types of
/// `model`.
///
/// # Errors
/// Operations that cannot be represented (`E1102`, `E1103`).
pub(super) fn rewrite(model: &Model, target: Target) -> Result<Rewritten<'_>, Diagnostic> {
    if target.is_byte_code() {
        let model = widened(model);
        return Ok(match in_operations_of(target, &model)? {
            Some((model, places)) => (Cow::Owned(model), Some(places)),
            None => (Cow::Owned(model), None),
        });
    }
    Ok(match in_operations_of(target, model)? {
        Some((model, places)) => (Cow::Owned(model), Some(places)),
        None => (Cow::Borrowed(model), None),
    })
}

/// A program and, for each operation of the original program, the value that it has become; `None` if the indices are
/// equal.
pub(super) type Rewritten<'m> = (Cow<'m, Model>, Option<Vec<ValueId>>);

/// Returns the rewritten program and the new value of each operation; `None` if the target can represent the program as
/// it is.
fn in_operations_of(target: Target, model: &Model) -> Result<Option<(Model, Vec<ValueId>)>, Diagnostic> {
    let sayable = model.nodes().iter().all(|node| is_sayable(model, node, target));
    if sayable && ports_follow(model) {
        return Ok(None);
    }
    let mut rewriter = Rewriter {
        model,
        target,
        builder: Builder::like(model),
        map: Vec::with_capacity(model.nodes().len()),
        padded: FxHashMap::default(),
    };
    for node in model.nodes() {
        let value = rewriter.node(node)?;
        rewriter.map.push(value);
    }
    rewriter.inputs();
    rewriter.outputs();
    let places = std::mem::take(&mut rewriter.map);
    let rewritten = rewriter.builder.finish().map_err(|problems| {
        let place = Place::Path(problems[0].site.to_string());
        Diagnostic::error("E1103", place, format!("the program cannot be rewritten: {}", problems[0].message))
    })?;
    if !ports_follow(&rewritten) {
        let message = "the types of the ports do not follow from the operations";
        return Err(Diagnostic::error("E1103", Place::Whole, message)
            .with_help("a file has no place for port types: write the model before optimising it"));
    }
    Ok(Some((rewritten, places)))
}

fn is_sayable(model: &Model, node: &Node, target: Target) -> bool {
    match &node.op {
        Op::Quantise { shift, .. } => *shift == 0 || target.has_relative_shift(),
        Op::Sum { .. } => target.has_sums(),
        Op::AddConst { value, shift, .. } => match target {
            Target::Alir2 | Target::Bytecode2 => fits_i32(value),
            Target::Dais1 => in_own_step(value, *shift, node).is_some(),
            _ => true,
        },
        // Byte code and the compact form state the start of the table.
        Op::Lookup { x, base, .. } => !target.is_json() || model.node(*x).interval.min == *base,
        _ => true,
    }
}

fn fits_i32(value: &Code) -> bool {
    value.to_i64().is_some_and(|v| i32::try_from(v).is_ok())
}

/// Returns the constant without trailing zeros; `None` if it still exceeds 32 bits or the shift exceeds the limit of
/// parsers.
fn shortened(value: &Code, shift: i32) -> Option<(Code, i32)> {
    let value = value.to_i64()?;
    let zeros = value.trailing_zeros();
    let short = i32::try_from(value >> zeros).ok()?;
    let shift = shift.checked_sub(zeros as i32)?;
    (shift.unsigned_abs() <= Limits::default().max_shift).then(|| (Code::from(i64::from(short)), shift))
}

/// Returns `true` if a parser of the bare program derives the port types of the model.
fn ports_follow(model: &Model) -> bool {
    let (inputs, outputs) = model.derived_ports();
    inputs == model.input_kifs()
        && outputs.iter().map(Interval::kif).eq((0..model.outputs().len()).map(|j| model.output_kif(j)))
}

struct Rewriter<'m> {
    model: &'m Model,
    target: Target,
    builder: Builder,
    /// New value of each original value.
    map: Vec<ValueId>,
    /// Tables with prepended zeros, by original table and number of zeros.
    padded: FxHashMap<(TableId, u64), TableId>,
}

impl Rewriter<'_> {
    fn node(&mut self, node: &Node) -> Result<ValueId, Diagnostic> {
        let mut op = node.op.clone();
        op.map_operands(|v| self.map[v.index()]);
        if is_sayable(self.model, node, self.target) {
            return Ok(self.builder.push(Node { op, ..node.clone() }));
        }
        Ok(match op {
            Op::Quantise { x, shift } => {
                let x = self.shifted(x, shift);
                self.builder.push(Node { op: Op::Quantise { x, shift: 0 }, ..node.clone() })
            }
            Op::Sum { terms } => self.sum(node, &terms),
            Op::AddConst { x, value, shift } if self.target != Target::Dais1 && shortened(&value, shift).is_some() => {
                let (value, shift) = shortened(&value, shift).unwrap_or((value, shift));
                self.builder.push(Node { op: Op::AddConst { x, value, shift }, ..node.clone() })
            }
            Op::AddConst { x, value, shift } => {
                // The constant is an integer, so its bounds have an exact representation at any length.
                let interval = Interval::new(value.clone(), value.clone(), 0);
                let b = self.between(Op::Const { value }, interval, self.latency(x));
                self.builder.push(Node { op: Op::Add { a: x, b, shift: -shift }, ..node.clone() })
            }
            Op::Lookup { x, table, base } => {
                let op = self.lookup(x, table, base)?;
                self.builder.push(Node { op, ..node.clone() })
            }
            other => self.builder.push(Node { op: other, ..node.clone() }),
        })
    }

    fn latency(&self, v: ValueId) -> f64 {
        self.builder.nodes()[v.index()].latency
    }

    fn kif(&self, v: ValueId) -> Kif {
        self.builder.nodes()[v.index()].interval.kif()
    }

    /// Appends a value without cost, which is ready at `latency`, when its operands are.
    fn between(&mut self, op: Op, interval: Interval, latency: f64) -> ValueId {
        let origin = self.builder.nodes().len() as u32;
        self.builder.push(Node { op, interval, latency, cost: 0.0, origin })
    }

    fn zero(&mut self, latency: f64) -> ValueId {
        self.between(Op::Const { value: Code::ZERO }, Interval::new(0, 0, 0), latency)
    }

    /// Appends `x * 2^shift` for any bits of `x`, as the sum of zero and the shifted `x`.
    fn shifted(&mut self, x: ValueId, shift: i32) -> ValueId {
        let latency = self.latency(x);
        let interval = spellable(Interval::full(self.kif(x)).scaled(shift));
        let a = self.zero(latency);
        self.between(Op::Add { a, b: x, shift }, interval, latency)
    }

    /// Appends a sum of many terms as a chain of sums of two, of which all but the last are exact.
    fn sum(&mut self, node: &Node, terms: &[Term]) -> ValueId {
        // Terms without bits are kept: they add nothing, but the library derives the step of the sum from them too.
        let mut terms = terms.to_vec();
        let frac_of = |r: &Self, t: &Term| i64::from(r.kif(t.value).frac) - i64::from(t.shift);
        let start = terms.iter().position(|t| !t.neg && t.shift == 0);
        let first = start.map(|k| terms.remove(k));
        let mut latency = first.map_or(f64::MIN, |t| self.latency(t.value));
        let mut acc = first.map(|t| t.value);
        // Bounds of the sum so far, and its number of fractional bits. The number is not larger than necessary, as the
        // library misinterprets a sum whose declared step is finer than the steps of its terms.
        let (mut low, mut high, mut frac) = (BigInt::ZERO, BigInt::ZERO, i64::MIN);
        if let Some(t) = first {
            let kif = self.kif(t.value);
            (low, high, frac) = (kif.min_code(), kif.max_code(), frac_of(self, &t));
        }
        let Some(last) = terms.pop() else {
            let op = match acc {
                Some(x) => Op::Quantise { x, shift: 0 },
                None => Op::Const { value: Code::ZERO },
            };
            return self.builder.push(Node { op, ..node.clone() });
        };
        let plus_minus = |a: ValueId, t: Term| match t.neg {
            false => Op::Add { a, b: t.value, shift: t.shift },
            true => Op::Sub { a, b: t.value, shift: t.shift },
        };
        for t in terms {
            let (kif, own) = (self.kif(t.value), frac_of(self, &t));
            let finest = frac.max(own);
            let min = align(&kif.min_code(), own, finest);
            let max = align(&kif.max_code(), own, finest);
            let (down, up) = if t.neg { (-max, -min) } else { (min, max) };
            // No term has been added yet: zero at every alignment.
            let from = if frac == i64::MIN { finest } else { frac };
            low = align(&low, from, finest) + down;
            high = align(&high, from, finest) + up;
            frac = finest;
            latency = latency.max(self.latency(t.value));
            let a = acc.unwrap_or_else(|| self.zero(latency));
            let interval = spellable(Interval::new(low.clone(), high.clone(), frac as i32));
            acc = Some(self.between(plus_minus(a, t), interval, latency));
        }
        let a = acc.unwrap_or_else(|| self.zero(self.latency(last.value)));
        self.builder.push(Node { op: plus_minus(a, last), ..node.clone() })
    }

    /// Adapts a lookup so that the interval of its operand starts at the table's base: prepends zeros to the table, or
    /// inserts a quantise that changes no bit and has the wider interval.
    fn lookup(&mut self, x: ValueId, table: TableId, base: Code) -> Result<Op, Diagnostic> {
        let Node { interval, latency, .. } = self.builder.nodes()[x.index()].clone();
        if interval.min > base {
            let wider = Interval { min: base.clone(), ..interval };
            let x = self.between(Op::Quantise { x, shift: 0 }, wider, latency);
            return Ok(Op::Lookup { x, table, base });
        }
        let pad = (base.to_big() - interval.min.to_big()).to_u64().unwrap_or(u64::MAX);
        let most = Limits::default().max_table_entries;
        if pad > most {
            let place = Place::Path(format!("ops[{}]", self.map.len()));
            let message = format!("the table needs {pad} zeros in front, more than {most}");
            return Err(Diagnostic::error("E1103", place, message)
                .with_help("a file counts table entries from the operand's min: narrow the operand's interval"));
        }
        let (builder, model) = (&mut self.builder, self.model);
        let table = *self.padded.entry((table, pad)).or_insert_with(|| {
            let mut padded = model.table(table).clone();
            padded.entries.splice(0..0, std::iter::repeat_n(0, pad as usize));
            padded.hash.push_str(&format!("+{pad}"));
            builder.table(padded)
        });
        Ok(Op::Lookup { x, table, base: interval.min })
    }

    /// Appends unused readers of inputs whose remaining readers no longer determine the port's type.
    fn inputs(&mut self) {
        let (derived, _) = self.model.derived_ports();
        for (input, (have, want)) in derived.iter().zip(self.model.input_kifs()).enumerate() {
            if have != want {
                let interval = type_interval(*want);
                self.between(Op::Input { input: input as u32 }, interval, 0.0);
            }
        }
    }

    /// Appends the outputs, through a quantise if the source no longer determines the port's type.
    fn outputs(&mut self) {
        let (_, derived) = self.model.derived_ports();
        for (j, out) in self.model.outputs().iter().enumerate() {
            let want = self.model.output_kif(j);
            let source = out.source.map(|v| self.map[v.index()]);
            let out = if derived[j].kif() == want {
                Output { source, ..*out }
            } else {
                Output { source: Some(self.output(source, out, want)), shift: out.shift, neg: false }
            };
            self.builder.output(out);
        }
    }

    /// Appends the value of an output in the port's type. A negated output is negated by this operation, before bits
    /// are dropped, as in the original output.
    fn output(&mut self, source: Option<ValueId>, out: &Output, want: Kif) -> ValueId {
        let interval = type_interval(want).scaled(-out.shift);
        match source {
            Some(x) if out.neg => self.between(Op::Neg { x }, interval, self.latency(x)),
            Some(x) => self.between(Op::Quantise { x, shift: 0 }, interval, self.latency(x)),
            None => self.between(Op::Const { value: Code::ZERO }, interval, 0.0),
        }
    }
}

/// Returns an interval of this type. Its bounds are zero and a power of two, which have an exact representation at any
/// length.
fn type_interval(kif: Kif) -> Interval {
    if kif.is_zero() {
        return Interval::new(0, 0, 0);
    }
    let top = BigInt::from(1) << (kif.width() - 1);
    if kif.signed { Interval::new(-top, 0, kif.frac) } else { Interval::new(0, top, kif.frac) }
}

/// Returns the interval, or a wider one whose bounds have an exact representation.
fn spellable(interval: Interval) -> Interval {
    let rounded = |code: &Code| {
        if spelling(code, interval.frac).is_some() {
            return code.clone();
        }
        let power = BigInt::from(1) << code.bits();
        Code::from(if code.is_negative() { -power } else { power })
    };
    Interval { min: rounded(&interval.min), max: rounded(&interval.max), frac: interval.frac }
}
