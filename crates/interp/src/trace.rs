//! Text trace of one sample through a program, operation by operation, as a debugger would print it.

use super::golden::Step;
use super::samples::{Port, input_ports};
use alir_core::ir::{BinaryBits, Model, Op, Term, UnaryBits, ValueId};
use alir_core::num::{Code, Kif, wrap};
use num_bigint::BigInt;
use std::fmt::Write;

/// Formatter of the steps of [`super::golden_steps`], in order.
pub struct Trace<'a> {
    model: &'a Model,
    inputs: Vec<BigInt>,
    ports: Vec<Port>,
    /// Results so far.
    codes: Vec<BigInt>,
}

impl<'a> Trace<'a> {
    /// Creates a trace of the sample with these raw integer values on the input port.
    pub fn new(model: &'a Model, inputs: Vec<BigInt>) -> Trace<'a> {
        Trace { model, inputs, ports: input_ports(model), codes: Vec::with_capacity(model.nodes().len()) }
    }

    /// Returns the lines of text about a step. Must be called for every step, in order.
    pub fn step(&mut self, step: &Step<'_>) -> String {
        let mut text = String::new();
        match *step {
            Step::Op { id, exact, code } => {
                let op = &self.model.node(id).op;
                let _ = writeln!(text, "{id} = {}", meaning(self.model, op, &|v| v.to_string()));
                let known = self.known(op);
                if !known.is_empty() {
                    let _ = writeln!(text, "    with {}", known.join(", "));
                }
                let kif = self.model.kif(id);
                let _ = writeln!(text, "    {}", result(code, kif, kif.frac.into()));
                text.push_str(&wrapped(step, self.model, exact, kif.frac.into()));
                self.codes.push(code.clone());
            }
            Step::Output { index, exact, code } => {
                let kif = self.model.output_kif(index);
                let out = self.model.outputs()[index];
                let source = match out.source {
                    None => "nothing: always zero".into(),
                    Some(v) => format!("{}{}", if out.neg { "-" } else { "" }, times(&v.to_string(), out.shift)),
                };
                let _ = writeln!(text, "output {index} = {source}");
                let _ = writeln!(text, "    {}", result(code, kif, kif.frac.into()));
                text.push_str(&wrapped(step, self.model, exact, kif.frac.into()));
            }
        }
        text
    }

    /// Returns the operands of an operation in this sample, each once.
    fn known(&self, op: &Op) -> Vec<String> {
        if let Op::Input { input } = op {
            let (port, code) = (self.ports[*input as usize], &self.inputs[*input as usize]);
            return vec![format!("port {}", result(code, port.kif, port.frac))];
        }
        let mut operands: Vec<ValueId> = op.operands();
        operands.sort();
        operands.dedup();
        let known = operands.into_iter().map(|v| {
            let frac = self.model.kif(v).frac.into();
            format!("{v} = {} (code {})", real(&self.codes[v.index()], frac), self.codes[v.index()])
        });
        known.collect()
    }
}

/// Returns the computation of an operation as a formula in which `name` names the operands.
pub fn meaning(model: &Model, op: &Op, name: &dyn Fn(ValueId) -> String) -> String {
    match op {
        Op::Input { input } => match model.inp_shifts()[*input as usize] {
            0 => format!("input {input}, quantised"),
            shift => format!("{}, quantised", times(&format!("input {input}"), shift)),
        },
        Op::Const { value } => format!("the constant code {value}"),
        Op::Neg { x } => format!("-{}", name(*x)),
        Op::Add { a, b, shift } => format!("{} + {}", name(*a), times(&name(*b), *shift)),
        Op::Sub { a, b, shift } => format!("{} - {}", name(*a), times(&name(*b), *shift)),
        Op::Relu { x } => format!("max({}, 0), quantised", name(*x)),
        Op::Quantise { x, shift } => format!("{}, quantised", times(&name(*x), *shift)),
        Op::AddConst { x, value, shift } => {
            let (sign, size) = signed(value);
            format!("{} {sign} {}", name(*x), times(&size, -shift))
        }
        Op::Mux { cond, on_true, on_false, shift } => {
            let (cond, on_true, on_false) = (name(*cond), name(*on_true), times(&name(*on_false), *shift));
            format!("{on_true} if the top bit of {cond} is set, else {on_false}, quantised")
        }
        Op::Mul { a, b } => format!("{} * {}", name(*a), name(*b)),
        Op::Lookup { x, table, base } => {
            let index = match signed(base) {
                (_, size) if size == "0" => name(*x),
                ('-', size) => format!("{} + {size}", name(*x)),
                (_, size) => format!("{} - {size}", name(*x)),
            };
            format!("table {}[code of {index}]", table.0)
        }
        Op::Unary { op: UnaryBits::Not, x } => format!("not {}", name(*x)),
        Op::Unary { op: UnaryBits::Any, x } => format!("any bit of {}", name(*x)),
        Op::Unary { op: UnaryBits::All, x } => format!("all bits of {}", name(*x)),
        Op::Binary { op, a, b, shift } => {
            let word = match op {
                BinaryBits::And => "and",
                BinaryBits::Or => "or",
                BinaryBits::Xor => "xor",
            };
            format!("{} {word} {}", name(*a), times(&name(*b), *shift))
        }
        Op::Sum { terms } => {
            let term = |(k, t): (usize, &Term)| {
                let sign = match (k, t.neg) {
                    (0, false) => "",
                    (0, true) => "-",
                    (_, false) => " + ",
                    (_, true) => " - ",
                };
                format!("{sign}{}", times(&name(t.value), t.shift))
            };
            terms.iter().enumerate().map(term).collect()
        }
    }
}

/// Returns a note if wrapping changed a result; the note also states if the operation is allowed to wrap.
fn wrapped(step: &Step<'_>, model: &Model, exact: &BigInt, frac: i64) -> String {
    let (Step::Op { exact: before, code, .. } | Step::Output { exact: before, code, .. }) = step;
    if before == code {
        return String::new();
    }
    let why = if step.exceeds_declared_range(model) { ": its interval promised to hold it" } else { "" };
    format!("    wrapped from code {exact}, which is {}{why}\n", real(exact, frac))
}

/// Formats a value, such as `1.25, code 5, bits 00101 of u5.2`.
fn result(code: &BigInt, kif: Kif, frac: i64) -> String {
    if kif.is_zero() {
        return "0, which takes no bits".into();
    }
    format!("= {}, code {code}, bits {} of {kif}", real(code, frac), bits(code, kif))
}

/// Returns the bits of a raw integer value, in groups of four from the low end.
fn bits(code: &BigInt, kif: Kif) -> String {
    let width = kif.width() as usize;
    let pattern = wrap(code, Kif { signed: false, int: kif.width() as i32, frac: 0 });
    let plain = format!("{pattern:0width$b}");
    let mut text = String::new();
    for (k, bit) in plain.chars().enumerate() {
        if k > 0 && (width - k).is_multiple_of(4) {
            text.push('_');
        }
        text.push(bit);
    }
    text
}

/// Formats a real value, with a leading `~` if float64 cannot represent the value.
fn real(code: &BigInt, frac: i64) -> String {
    let (x, exact) = Port { kif: Kif::ZERO, frac }.real_of_code(code);
    let text = format!("{x:?}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{}{text}", if exact { "" } else { "~" })
}

/// Returns the sign and the magnitude of a constant, as parts of a term of a sum.
fn signed(code: &Code) -> (char, String) {
    let text = code.to_string();
    match text.strip_prefix('-') {
        Some(size) => ('-', size.to_owned()),
        None => ('+', text),
    }
}

/// Returns a product as text, such as `v3 * 2^-4`, or `v3` alone without a shift.
fn times(what: &str, shift: i32) -> String {
    if shift == 0 { what.into() } else { format!("{what} * 2^{shift}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LookupMiss, golden_steps};
    use alir_core::ir::{Builder, Output};
    use alir_core::num::Interval;

    #[test]
    fn a_trace_reads_like_a_debugger() {
        let mut b = Builder::new(vec![0, 1]);
        let x0 = b.op(Op::Input { input: 0 }, Interval::new(-8, 7, 2));
        let x1 = b.op(Op::Input { input: 1 }, Interval::new(0, 63, 0));
        let sum = b.op(Op::Add { a: x0, b: x1, shift: -1 }, Interval::new(-16, 15, 2));
        let mux = b.op(Op::Mux { cond: x0, on_true: x1, on_false: sum, shift: 0 }, Interval::new(0, 15, 0));
        b.output(Output { source: Some(mux), shift: -2, neg: true });
        b.output(Output { source: None, shift: 0, neg: false });
        let model = b.finish().unwrap();
        let inputs = [BigInt::from(-3), BigInt::from(21)];
        let (mut trace, mut text) = (Trace::new(&model, inputs.to_vec()), String::new());
        golden_steps(&model, &inputs, LookupMiss::Error, |step| text.push_str(&trace.step(&step))).unwrap();
        let expected = "\
v0 = input 0, quantised
    with port = -0.75, code -3, bits 1101 of s4.2
    = -0.75, code -3, bits 1101 of s4.2
v1 = input 1 * 2^1, quantised
    with port = 10.5, code 21, bits 01_0101 of u6.0
    = 21, code 21, bits 01_0101 of u6.0
v2 = v0 + v1 * 2^-1
    with v0 = -0.75 (code -3), v1 = 21 (code 21)
    = 1.75, code 7, bits 0_0111 of s5.2
    wrapped from code 39, which is 9.75: its interval promised to hold it
v3 = v1 if the top bit of v0 is set, else v2, quantised
    with v0 = -0.75 (code -3), v1 = 21 (code 21), v2 = 1.75 (code 7)
    = 5, code 5, bits 0101 of u4.0
    wrapped from code 21, which is 21
output 0 = -v3 * 2^-2
    = -1.25, code -5, bits 1_1011 of s5.2
output 1 = nothing: always zero
    0, which takes no bits
";
        assert_eq!(text, expected);
    }
}
