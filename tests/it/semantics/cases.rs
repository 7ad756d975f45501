//! Meaning of every operation by example: small programs of one operation, with inputs and outputs as real numbers.
//!
//! Written once, for everything that can run a program. Most rows are those of `benches/results/alkaid-probes.md`
//! (the column `exact`), with what `docs/alir.md` decides where results wrap.

use alir2hdl::interp::samples::{input_ports, output_ports};
use alir2hdl::ir::{BinaryBits, Builder, Model, Op, Output, Table, TableId, Term, UnaryBits, ValueId};
use alir2hdl::num::{Code, Interval};
use num_bigint::BigInt;

/// One operation with its operands' and its own interval, and what it must give.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Intervals of the operands, which are inputs.
    operands: Vec<Interval>,
    /// `true` if all operands read the same input, each in its own type.
    one_input: bool,
    inp_shift: i32,
    op: fn(&[ValueId]) -> Op,
    out: Interval,
    out_shift: i32,
    out_neg: bool,
    /// Inputs and output of each sample.
    rows: Vec<(Vec<f64>, f64)>,
}

/// A program with samples: codes on the input port, and those that must come out.
pub(crate) struct Example {
    pub(crate) name: String,
    pub(crate) model: Model,
    pub(crate) inputs: Vec<Vec<BigInt>>,
    pub(crate) outputs: Vec<Vec<BigInt>>,
}

/// The multiples of `step` from `min` to `max`.
fn q(min: f64, max: f64, step: f64) -> Interval {
    let exact = |x: f64| {
        let code = x / step;
        assert!(code.fract() == 0.0 && code.abs() < 1e38, "{x} is a multiple of {step}");
        BigInt::from(code as i128)
    };
    Interval::new(exact(min), exact(max), -step.log2() as i32)
}

fn case(
    name: &'static str,
    operands: &[Interval],
    op: fn(&[ValueId]) -> Op,
    out: Interval,
    rows: &[(&[f64], f64)],
) -> Case {
    let rows = rows.iter().map(|(inputs, output)| (inputs.to_vec(), *output)).collect();
    let operands = operands.to_vec();
    Case { name, operands, one_input: false, inp_shift: 0, op, out, out_shift: 0, out_neg: false, rows }
}

/// A case of one operand.
fn one(name: &'static str, operand: Interval, op: fn(&[ValueId]) -> Op, out: Interval, rows: &[(f64, f64)]) -> Case {
    let rows: Vec<_> = rows.iter().map(|(x, y)| (vec![*x], *y)).collect();
    Case { rows, ..case(name, &[operand], op, out, &[]) }
}

impl Case {
    /// Appends the case's program to a larger one; `first_input` is the first of its own inputs.
    fn append(&self, builder: &mut Builder, first_input: usize) {
        let operands = self.operands.iter().enumerate().map(|(k, interval)| {
            let input = first_input + if self.one_input { 0 } else { k };
            builder.op(Op::Input { input: input as u32 }, interval.clone())
        });
        let operands: Vec<ValueId> = operands.collect();
        let result = builder.op((self.op)(&operands), self.out.clone());
        builder.output(Output { source: Some(result), shift: self.out_shift, neg: self.out_neg });
    }

    fn n_inputs(&self) -> usize {
        if self.one_input { 1 } else { self.operands.len() }
    }
}

/// Each case as a program of its own.
pub(crate) fn examples() -> Vec<Example> {
    cases().iter().map(|case| example(case.name.into(), std::slice::from_ref(case), case.rows.len())).collect()
}

/// All cases side by side in one program, for what is slow to start.
pub(crate) fn all_in_one() -> Example {
    let cases = cases();
    let rows = cases.iter().map(|case| case.rows.len()).max().unwrap_or(0);
    example("all in one".into(), &cases, rows)
}

fn example(name: String, cases: &[Case], rows: usize) -> Example {
    let shifts = cases.iter().flat_map(|case| std::iter::repeat_n(case.inp_shift, case.n_inputs()));
    let mut builder = Builder::new(shifts.collect());
    for table in tables() {
        builder.table(table);
    }
    let mut first_input = 0;
    for case in cases {
        case.append(&mut builder, first_input);
        first_input += case.n_inputs();
    }
    let model = builder.finish().unwrap_or_else(|problems| panic!("{name}: {}", problems[0]));
    // A case with fewer rows than others begins again.
    let row = |n: usize| cases.iter().map(move |case| &case.rows[n % case.rows.len()]);
    let (in_ports, out_ports) = (input_ports(&model), output_ports(&model));
    let inputs = (0..rows).map(|n| {
        let reals = row(n).flat_map(|(inputs, _)| inputs);
        reals.zip(&in_ports).map(|(x, port)| port.code_of_real(*x).expect("finite")).collect()
    });
    let outputs = (0..rows).map(|n| {
        let codes = row(n).zip(&out_ports).zip(cases).map(|(((_, y), port), case)| {
            let code = port.code_of_real(*y).expect("finite");
            assert_eq!(port.real_of_code(&code), (*y, true), "{}: {y} is a value of the output", case.name);
            code
        });
        codes.collect()
    });
    Example { name, inputs: inputs.collect(), outputs: outputs.collect(), model }
}

fn tables() -> [Table; 2] {
    let table = |entries: &[i32], out| Table { entries: entries.to_vec(), out, hash: String::new(), inp_width: 3 };
    [table(&[1, 2, 4, 8, 16, 32], q(0.0, 63.0, 1.0)), table(&[-3, 2, -1, 0], q(-2.0, 1.5, 0.5))]
}

fn not(v: &[ValueId]) -> Op {
    Op::Unary { op: UnaryBits::Not, x: v[0] }
}

fn any(v: &[ValueId]) -> Op {
    Op::Unary { op: UnaryBits::Any, x: v[0] }
}

fn all(v: &[ValueId]) -> Op {
    Op::Unary { op: UnaryBits::All, x: v[0] }
}

fn relu(v: &[ValueId]) -> Op {
    Op::Relu { x: v[0] }
}

fn quantise(v: &[ValueId]) -> Op {
    Op::Quantise { x: v[0], shift: 0 }
}

fn neg(v: &[ValueId]) -> Op {
    Op::Neg { x: v[0] }
}

fn mul(v: &[ValueId]) -> Op {
    Op::Mul { a: v[0], b: v[v.len() - 1] }
}

/// `x + 2 x`.
fn three_times(v: &[ValueId]) -> Op {
    Op::Add { a: v[0], b: v[0], shift: 1 }
}

/// `x < 0 ? x : x`, in another type.
fn mux_of_itself(v: &[ValueId]) -> Op {
    Op::Mux { cond: v[0], on_true: v[0], on_false: v[0], shift: 0 }
}

/// Condition, if set, if clear.
fn mux(v: &[ValueId]) -> Op {
    Op::Mux { cond: v[0], on_true: v[1], on_false: v[2], shift: 0 }
}

fn cases() -> Vec<Case> {
    let s4 = || q(-8.0, 7.0, 1.0);
    let u4 = || q(0.0, 15.0, 1.0);
    let bit = || q(0.0, 1.0, 1.0);
    let nothing = || q(0.0, 0.0, 1.0);
    let quarters = || q(-2.0, 1.75, 0.25);
    vec![
        // Bits.
        one("not unsigned to unsigned", u4(), not, u4(), &[(0.0, 15.0), (5.0, 10.0), (15.0, 0.0)]),
        one("not unsigned to signed", u4(), not, q(-16.0, 15.0, 1.0), &[(0.0, -1.0), (5.0, -6.0), (15.0, -16.0)]),
        one("not unsigned to signed of its width", u4(), not, s4(), &[(0.0, -1.0), (5.0, -6.0), (15.0, 0.0)]),
        one("not signed to unsigned", s4(), not, u4(), &[(-8.0, 7.0), (-1.0, 0.0), (0.0, 15.0), (7.0, 8.0)]),
        one("not signed to signed", s4(), not, s4(), &[(-8.0, 7.0), (-1.0, 0.0), (7.0, -8.0)]),
        one("not of fractions", quarters(), not, quarters(), &[(-2.0, 1.75), (0.25, -0.5)]),
        one("not of no bits to unsigned", nothing(), not, bit(), &[(0.0, 0.0)]),
        one("not of no bits to signed", nothing(), not, q(-1.0, 0.0, 1.0), &[(0.0, -1.0)]),
        one("all of halves", q(0.0, 7.5, 0.5), all, bit(), &[(7.5, 1.0), (7.0, 0.0), (0.0, 0.0)]),
        one("all looks at the type", q(0.0, 5.0, 1.0), all, bit(), &[(5.0, 0.0), (7.0, 1.0), (3.0, 0.0)]),
        one("all signed", s4(), all, bit(), &[(-1.0, 1.0), (7.0, 0.0), (0.0, 0.0)]),
        one("all of no bits", nothing(), all, bit(), &[(0.0, 1.0)]),
        one("any signed", s4(), any, bit(), &[(-8.0, 1.0), (1.0, 1.0), (0.0, 0.0)]),
        one("any of no bits", nothing(), any, bit(), &[(0.0, 0.0)]),
        one("any gives the code 1", u4(), any, q(0.0, 0.5, 0.5), &[(4.0, 0.5), (0.0, 0.0)]),
        case(
            "and of unsigned and signed",
            &[u4(), s4()],
            |v| Op::Binary { op: BinaryBits::And, a: v[0], b: v[1], shift: 0 },
            u4(),
            &[(&[15.0, -1.0], 15.0), (&[15.0, -8.0], 8.0), (&[5.0, 3.0], 1.0)],
        ),
        case(
            "xor with a shifted operand",
            &[s4(), s4()],
            |v| Op::Binary { op: BinaryBits::Xor, a: v[0], b: v[1], shift: 2 },
            q(-32.0, 31.0, 1.0),
            &[(&[-1.0, -1.0], 3.0), (&[3.0, -8.0], -29.0)],
        ),
        case(
            "or with no bits",
            &[s4(), nothing()],
            |v| Op::Binary { op: BinaryBits::Or, a: v[0], b: v[1], shift: -3 },
            s4(),
            &[(&[-8.0, 0.0], -8.0), (&[5.0, 0.0], 5.0)],
        ),
        one(
            "or drops low bits",
            quarters(),
            |v| Op::Binary { op: BinaryBits::Or, a: v[0], b: v[0], shift: 0 },
            q(-2.0, 1.0, 1.0),
            &[(1.5, 1.0), (-1.5, -2.0)],
        ),
        // Choice.
        case(
            "mux without a condition",
            &[nothing(), s4(), s4()],
            mux,
            s4(),
            &[(&[0.0, 1.0, 5.0], 5.0), (&[0.0, 1.0, -5.0], -5.0)],
        ),
        case(
            "mux looks at the top bit of an unsigned condition",
            &[q(0.0, 5.0, 1.0), s4(), s4()],
            mux,
            s4(),
            &[(&[3.0, 1.0, 2.0], 2.0), (&[4.0, 1.0, 2.0], 1.0), (&[5.0, 1.0, 2.0], 1.0)],
        ),
        case(
            "mux looks at the sign of a signed condition",
            &[s4(), s4(), s4()],
            mux,
            s4(),
            &[(&[-1.0, 1.0, 2.0], 1.0), (&[7.0, 1.0, 2.0], 2.0), (&[0.0, 1.0, 2.0], 2.0)],
        ),
        one(
            "mux of a constant positive condition",
            q(6.0, 6.0, 1.0),
            |v| Op::Mux { cond: v[0], on_true: v[0], on_false: v[0], shift: 1 },
            q(0.0, 15.0, 1.0),
            &[(6.0, 6.0), (3.0, 6.0), (1.0, 2.0)],
        ),
        case(
            "mux drops low bits by floor",
            &[s4(), q(-4.0, 3.75, 0.25), q(-4.0, 3.75, 0.25)],
            mux,
            q(-4.0, 3.0, 1.0),
            &[(&[-1.0, 3.75, 0.0], 3.0), (&[1.0, 0.0, 1.5], 1.0), (&[-1.0, -3.75, 0.0], -4.0)],
        ),
        one("mux to a finer step", s4(), mux_of_itself, q(-8.0, 7.5, 0.5), &[(3.0, 3.0), (-3.0, -3.0)]),
        one("mux wraps", s4(), mux_of_itself, q(0.0, 3.0, 1.0), &[(7.0, 3.0), (-1.0, 3.0), (-6.0, 2.0)]),
        case(
            "mux with an operand of no bits",
            &[s4(), q(0.0, 0.0, 0.25)],
            |v| Op::Mux { cond: v[0], on_true: v[1], on_false: v[0], shift: 1 },
            q(-16.0, 15.0, 1.0),
            &[(&[5.0, 0.0], 10.0), (&[-5.0, 0.0], 0.0)],
        ),
        one(
            "mux shifts what it takes if clear",
            s4(),
            |v| Op::Mux { cond: v[0], on_true: v[0], on_false: v[0], shift: -2 },
            s4(),
            &[(7.0, 1.0), (3.0, 0.0), (-7.0, -7.0)],
        ),
        // Sums.
        one(
            "add drops low bits by floor",
            quarters(),
            three_times,
            q(-8.0, 7.0, 1.0),
            &[(0.25, 0.0), (0.5, 1.0), (-0.25, -1.0), (-0.75, -3.0)],
        ),
        case(
            "subtract drops low bits by floor",
            &[q(-4.0, 3.75, 0.25), q(-4.0, 3.75, 0.25)],
            |v| Op::Sub { a: v[1], b: v[0], shift: 0 },
            s4(),
            &[(&[0.0, 0.25], 0.0), (&[0.0, -0.25], -1.0), (&[3.0, 1.5], -2.0)],
        ),
        one(
            "add to a finer step",
            s4(),
            |v| Op::Add { a: v[0], b: v[0], shift: 0 },
            q(-16.0, 14.0, 0.5),
            &[(3.0, 6.0), (-3.0, -6.0)],
        ),
        one(
            "add wraps beyond its interval",
            s4(),
            |v| Op::Add { a: v[0], b: v[0], shift: 0 },
            s4(),
            &[(7.0, -2.0), (-8.0, 0.0), (3.0, 6.0)],
        ),
        case(
            "subtract a large number",
            &[s4(), s4()],
            |v| Op::Sub { a: v[0], b: v[1], shift: 60 },
            q(-(2f64.powi(64)), 2f64.powi(64), 1.0),
            &[(&[0.0, -8.0], 2f64.powi(63)), (&[0.0, 7.0], -7.0 * 2f64.powi(60))],
        ),
        case(
            "add of no bits",
            &[s4(), nothing()],
            |v| Op::Add { a: v[0], b: v[1], shift: -9 },
            s4(),
            &[(&[-8.0, 0.0], -8.0), (&[7.0, 0.0], 7.0)],
        ),
        one(
            "sum has one floor",
            quarters(),
            |v| Op::Sum {
                terms: Box::new([
                    Term { value: v[0], shift: 0, neg: false },
                    Term { value: v[0], shift: 1, neg: false },
                ]),
            },
            s4(),
            &[(0.25, 0.0), (-0.25, -1.0), (0.75, 2.0)],
        ),
        case(
            "sum of signs and shifts",
            &[s4(), s4(), u4()],
            |v| Op::Sum {
                terms: Box::new([
                    Term { value: v[0], shift: 3, neg: true },
                    Term { value: v[1], shift: -70, neg: false },
                    Term { value: v[2], shift: 1, neg: false },
                ]),
            },
            q(-128.0, 127.0, 1.0),
            // The second term is far below the step, and still decides the floor.
            &[(&[1.0, 0.0, 3.0], -2.0), (&[1.0, -1.0, 3.0], -3.0), (&[-8.0, 7.0, 15.0], 94.0)],
        ),
        one(
            "sum of one negated term",
            s4(),
            |v| Op::Sum { terms: Box::new([Term { value: v[0], shift: 0, neg: true }]) },
            q(-7.0, 8.0, 1.0),
            &[(-8.0, 8.0), (7.0, -7.0)],
        ),
        one("negate", s4(), neg, q(-7.0, 8.0, 1.0), &[(-8.0, 8.0), (7.0, -7.0)]),
        one("negate wraps", s4(), neg, s4(), &[(-8.0, -8.0), (7.0, -7.0)]),
        one("negate to a finer step", s4(), neg, q(-8.0, 8.0, 0.5), &[(-8.0, 8.0), (7.0, -7.0)]),
        one("negate to a coarser step", s4(), neg, q(-8.0, 8.0, 2.0), &[(-8.0, 8.0), (7.0, -8.0), (-7.0, 6.0)]),
        one("negate unsigned", u4(), neg, q(-15.0, 0.0, 1.0), &[(15.0, -15.0), (0.0, 0.0)]),
        one(
            "add a negative constant with a negative shift",
            s4(),
            |v| Op::AddConst { x: v[0], value: Code::from(-3), shift: -2 },
            q(-20.0, -5.0, 1.0),
            &[(0.0, -12.0), (-8.0, -20.0)],
        ),
        one(
            "add a constant above 32 bits",
            s4(),
            |v| Op::AddConst { x: v[0], value: Code::from(8_589_934_593), shift: 0 },
            q(0.0, 17_179_869_183.0, 1.0),
            &[(0.0, 8_589_934_593.0), (-8.0, 8_589_934_585.0)],
        ),
        one(
            "add a constant and drop its low bit",
            s4(),
            |v| Op::AddConst { x: v[0], value: Code::from(1), shift: 1 },
            s4(),
            &[(0.0, 0.0), (-3.0, -3.0)],
        ),
        one(
            "2^25 takes 26 bits",
            q(0.0, 33_554_431.0, 1.0),
            |v| Op::AddConst { x: v[0], value: Code::from(1), shift: 0 },
            q(0.0, 33_554_432.0, 1.0),
            &[(33_554_431.0, 33_554_432.0), (5.0, 6.0)],
        ),
        // Quantising.
        one("relu of unsigned", q(0.0, 15.5, 0.5), relu, q(0.0, 7.0, 1.0), &[(15.5, 7.0), (9.5, 1.0), (3.5, 3.0)]),
        one("relu wraps", s4(), relu, q(0.0, 3.0, 1.0), &[(7.0, 3.0), (5.0, 1.0), (3.0, 3.0), (-1.0, 0.0)]),
        one("relu to a finer step", s4(), relu, q(0.0, 7.5, 0.5), &[(5.0, 5.0), (-5.0, 0.0), (1.0, 1.0)]),
        one("relu into a signed type", s4(), relu, q(-4.0, 3.0, 1.0), &[(7.0, -1.0), (3.0, 3.0), (-1.0, 0.0)]),
        one(
            "quantise signed to unsigned",
            s4(),
            quantise,
            q(0.0, 63.0, 1.0),
            &[(-1.0, 63.0), (7.0, 7.0), (-8.0, 56.0)],
        ),
        one("quantise unsigned to wider", u4(), quantise, q(0.0, 63.0, 1.0), &[(15.0, 15.0), (3.0, 3.0)]),
        one("quantise unsigned to signed", u4(), quantise, s4(), &[(15.0, -1.0), (8.0, -8.0), (7.0, 7.0)]),
        one("quantise to a finer step", s4(), quantise, q(-8.0, 7.75, 0.25), &[(5.0, 5.0), (-5.0, -5.0)]),
        one(
            "quantise with a relative shift",
            s4(),
            |v| Op::Quantise { x: v[0], shift: 2 },
            q(-16.0, 15.0, 1.0),
            &[(1.0, 4.0), (5.0, -12.0), (-5.0, 12.0)],
        ),
        one(
            "quantise with a shift to the right",
            s4(),
            |v| Op::Quantise { x: v[0], shift: -2 },
            s4(),
            &[(7.0, 1.0), (-1.0, -1.0), (-8.0, -2.0)],
        ),
        one("quantise to nothing", s4(), quantise, nothing(), &[(5.0, 0.0), (-5.0, 0.0)]),
        one(
            "quantise to bits below the point",
            q(-0.5, 0.4375, 0.0625),
            quantise,
            q(0.0, 0.1875, 0.0625),
            &[(0.3125, 0.0625), (-0.0625, 0.1875)],
        ),
        one("quantise to the sign alone", s4(), quantise, q(-16.0, 0.0, 16.0), &[(7.0, 0.0), (-8.0, -16.0)]),
        // Products.
        one("square of the smallest", s4(), mul, q(-56.0, 64.0, 1.0), &[(-8.0, 64.0), (7.0, 49.0), (-1.0, 1.0)]),
        case(
            "product of signed and unsigned",
            &[s4(), u4()],
            mul,
            q(-120.0, 105.0, 1.0),
            &[(&[-8.0, 15.0], -120.0), (&[7.0, 15.0], 105.0), (&[-1.0, 1.0], -1.0)],
        ),
        one(
            "product drops low bits",
            q(-8.0, 7.5, 0.5),
            mul,
            q(-60.0, 64.0, 1.0),
            &[(1.5, 2.0), (-8.0, 64.0), (-0.5, 0.0)],
        ),
        case(
            "product beyond 128 bits",
            &[q(-(2f64.powi(70)), 2f64.powi(70), 1.0), q(-(2f64.powi(70)), 2f64.powi(70), 1.0)],
            mul,
            Interval::new(-(BigInt::from(1) << 140u32), BigInt::from(1) << 140u32, 0),
            &[
                (&[-(2f64.powi(70)), 2f64.powi(70)], -(2f64.powi(140))),
                (&[-(2f64.powi(70)), -(2f64.powi(70))], 2f64.powi(140)),
                (&[-3.0, 2f64.powi(69)], -1.5 * 2f64.powi(70)),
            ],
        ),
        // Constants and tables.
        case("constant in its own step", &[], |_| Op::Const { value: Code::from(3) }, q(0.0, 3.5, 0.5), &[(&[], 1.5)]),
        case("constant wraps", &[], |_| Op::Const { value: Code::from(-3) }, q(0.0, 7.0, 1.0), &[(&[], 5.0)]),
        case(
            "constant wider than 32 bits",
            &[],
            |_| Op::Const { value: Code::from((1 << 40) + 1) },
            q(0.0, (1u64 << 41) as f64, 1.0),
            &[(&[], 1_099_511_627_777.0)],
        ),
        one(
            "lookup counts from its base and reads zero outside",
            q(-3.0, 2.0, 1.0),
            |v| Op::Lookup { x: v[0], table: TableId(0), base: Code::from(-3) },
            q(0.0, 63.0, 1.0),
            &[(-3.0, 1.0), (0.0, 8.0), (2.0, 32.0), (-4.0, 0.0), (3.0, 0.0)],
        ),
        one(
            "lookup of signed fractions",
            q(0.0, 3.0, 1.0),
            |v| Op::Lookup { x: v[0], table: TableId(1), base: Code::from(0) },
            q(-2.0, 1.5, 0.5),
            &[(0.0, -1.5), (1.0, 1.0), (2.0, -0.5), (3.0, 0.0)],
        ),
        one(
            "lookup wraps to its own type",
            q(0.0, 3.0, 1.0),
            |v| Op::Lookup { x: v[0], table: TableId(1), base: Code::from(0) },
            q(0.0, 0.5, 0.5),
            &[(0.0, 0.5), (1.0, 0.0), (2.0, 0.5)],
        ),
        // Ports.
        Case {
            inp_shift: 2,
            ..one("input shifted up", s4(), quantise, s4(), &[(1.0, 4.0), (1.25, 5.0), (2.5, -6.0), (-3.0, 4.0)])
        },
        Case {
            inp_shift: -2,
            ..one(
                "input shifted down",
                q(-8.0, 7.75, 0.25),
                quantise,
                q(-8.0, 7.75, 0.25),
                &[(1.0, 0.25), (1.25, 0.25), (20.0, 5.0), (-3.5, -1.0)],
            )
        },
        one("input beyond its interval", q(-3.0, 5.0, 1.0), quantise, s4(), &[(7.0, 7.0), (-8.0, -8.0), (9.0, -7.0)]),
        one(
            "huge inputs wrap exactly",
            s4(),
            quantise,
            s4(),
            &[(4_503_599_627_370_497.0, 1.0), (4.611686018427388e18, 0.0), (1e30, 0.0), (-5e-324, -1.0)],
        ),
        Case {
            one_input: true,
            rows: vec![(vec![5.25], 2.25), (vec![3.75], 6.75), (vec![-0.25], 14.75)],
            ..case(
                "input read in two types",
                &[q(-4.0, 3.75, 0.25), q(0.0, 15.0, 1.0)],
                |v| Op::Add { a: v[0], b: v[1], shift: 0 },
                q(-4.0, 18.75, 0.25),
                &[],
            )
        },
        Case { out_neg: true, ..one("output negated", s4(), quantise, s4(), &[(3.0, -3.0), (-8.0, 8.0)]) },
        Case { out_neg: true, ..one("unsigned output negated", u4(), quantise, u4(), &[(15.0, -15.0), (0.0, 0.0)]) },
        Case { out_shift: -3, ..one("output shifted", s4(), quantise, s4(), &[(3.0, 0.375), (-8.0, -1.0)]) },
        one("an interval away from zero", q(5.0, 6.0, 1.0), quantise, q(5.0, 6.0, 1.0), &[(5.0, 5.0), (1.0, 1.0)]),
        one(
            "an interval of minus one",
            q(-1.0, 0.0, 1.0),
            quantise,
            q(-1.0, 0.0, 1.0),
            &[(-1.0, -1.0), (0.0, 0.0), (1.0, -1.0)],
        ),
    ]
}
