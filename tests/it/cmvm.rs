//! Constant matrices: whatever is asked, the program computes the matrix, exactly and in time.

use alir2hdl::cmvm::{self, Adder, AdderGraph, Fault, Input, Matrix, Measure, Options, Output, SolveError, Weight};
use alir2hdl::num::Interval;
use proptest::collection::vec;
use proptest::prelude::*;

fn bytes(n: usize) -> Vec<Input> {
    vec![Input::new(Interval::new(-128, 127, 0)); n]
}

fn plain() -> Options {
    Options::default()
}

/// Solves and checks; the checker is independent of the solver.
fn solved(matrix: &Matrix, inputs: &[Input], options: &Options) -> (AdderGraph, cmvm::Report) {
    let program = cmvm::solve(matrix, inputs, options).unwrap();
    let report = cmvm::check(&program, matrix).unwrap_or_else(|fault| panic!("{fault}: {matrix:?} {program:?}"));
    if let Some(limit) = options.latency {
        assert!(report.latency <= limit + 1e-9, "{} is late for {limit}", report.latency);
    }
    (program, report)
}

#[test]
fn a_common_sum_is_made_once() {
    // 7 a + 5 b and 14 a + 10 b + c: the second takes the first twice.
    let matrix = Matrix::from_integers(3, 2, &[7, 14, 5, 10, 0, 1]);
    let (program, report) = solved(&matrix, &bytes(3), &plain());
    assert_eq!(program.adders.len(), 4);
    assert_eq!(report.adders, 4);
}

#[test]
fn powers_of_two_signs_and_zeros_are_free() {
    let matrix = Matrix::from_integers(2, 4, &[4, 0, -8, 0, 0, 0, 0, 1 << 40]);
    let (program, report) = solved(&matrix, &bytes(2), &plain());
    assert_eq!((program.adders.len(), report.cost, report.latency), (0, 0, 0.0));
    assert_eq!(program.outputs[1], None);
    assert_eq!(program.outputs[2], Some(Output { value: 0, shift: 3, negative: true }));
}

#[test]
fn equal_columns_share_all() {
    let column = [13, -77, 101, 3];
    let wide: Vec<i64> = column.iter().flat_map(|&c| [c, -c, 4 * c]).collect();
    let (one, _) = solved(&Matrix::from_integers(4, 1, &column), &bytes(4), &plain());
    let (three, _) = solved(&Matrix::from_integers(4, 3, &wide), &bytes(4), &plain());
    assert_eq!(one.adders, three.adders);
}

#[test]
fn cost_and_delay_are_those_of_the_contract() {
    // Signed 8 bits: n = H + F - 1 with H = 7 + 1, F = 0 of the sum, and H = 9 of 4 b.
    let sum = Matrix::from_integers(2, 1, &[1, 1]);
    let (_, report) = solved(&sum, &bytes(2), &plain());
    assert_eq!((report.cost, report.latency), (7, 1.1 + 0.025 * 7.0));
    // b lies wholly above a.
    let apart = Matrix::from_integers(2, 2, &[1, 1, 256, -256]);
    let (_, report) = solved(&apart, &bytes(2), &plain());
    assert_eq!((report.adders, report.cost, report.latency), (2, 0, 0.0));
}

#[test]
fn a_latency_below_the_least_is_refused_with_the_least() {
    let matrix = Matrix::from_integers(4, 1, &[1, 1, 1, 1]);
    let asked = Options { latency: Some(1.0), ..plain() };
    let Err(SolveError::Latency { least, .. }) = cmvm::solve(&matrix, &bytes(4), &asked) else {
        panic!("two adders are on each path");
    };
    // 1.1 + 0.025 * 7, then 1.1 + 0.025 * 8.
    assert_eq!(least, 2.575);
    solved(&matrix, &bytes(4), &Options { latency: Some(least), ..plain() });
}

#[test]
fn late_inputs_are_added_last() {
    let matrix = Matrix::from_integers(4, 1, &[1, 1, 1, 1]);
    let mut inputs = bytes(4);
    inputs[0].arrival = 5.0;
    let asked = Options { latency: Some(6.4), ..plain() };
    solved(&matrix, &inputs, &asked);
}

#[test]
fn one_program_for_one_question() {
    let weights: Vec<i64> = (0..144u64).map(|k| (k * k * 7919 % 255) as i64 - 127).collect();
    let matrix = Matrix::from_integers(12, 12, &weights);
    for options in [plain(), Options { latency: Some(12.0), ..plain() }, Options { budget: 20, ..plain() }] {
        assert_eq!(cmvm::solve(&matrix, &bytes(12), &options), cmvm::solve(&matrix, &bytes(12), &options));
    }
}

#[test]
fn numbers_too_wide_are_refused() {
    let matrix = Matrix::new(1, 2, vec![Weight::new(1, 0), Weight::new(3, 200)]);
    // Powers of two apart from each other are no matter, in different columns.
    solved(&matrix, &bytes(1), &plain());
    let matrix = Matrix::new(2, 1, vec![Weight::new(1, 0), Weight::new(3, 400)]);
    assert!(matches!(cmvm::solve(&matrix, &bytes(2), &plain()), Err(SolveError::TooWide { .. })));
}

/// Filters with proved numbers of adders (github.com/remi-garcia/jMCM, MIT): coefficients, fewest adders.
#[test]
fn filters_take_the_fewest_adders() {
    let filters: [(&[i64], usize); 6] = [
        (&[3, 5, 7, 9, 15, 35, 45, 49, 107, 127], 10),
        (&[139, 283, 815], 6),
        (&[13, 223, 897, 2017], 5),
        (&[3, 7, 9, 21, 27, 43, 69, 97, 261], 9),
        (&[5, 117, 195], 4),
        (&[105, 479, 939], 5),
    ];
    for (coefficients, adders) in filters {
        let matrix = Matrix::from_integers(1, coefficients.len(), coefficients);
        let (program, _) = solved(&matrix, &bytes(1), &Options { budget: 20, ..plain() });
        assert!(program.adders.len() <= adders, "{coefficients:?}: {} adders", program.adders.len());
    }
}

/// A search is never worse than no search.
#[test]
fn a_budget_only_helps() {
    let weights: Vec<i64> = (0..100u64).map(|k| ((k * k + 3 * k) * 7919 % 63) as i64 - 31).collect();
    let matrix = Matrix::from_integers(10, 10, &weights);
    let cost = |budget| solved(&matrix, &bytes(10), &Options { budget, ..plain() }).1.cost;
    let costs = [0, 5, 50].map(cost);
    assert!(costs.is_sorted_by(|a, b| a >= b) && costs[2] < costs[0], "{costs:?}");
}

#[test]
fn floats_are_exact() {
    for x in [0.0, 1.0, -0.1, 5e-324, f64::MAX, 1.0 / 3.0] {
        let w = Weight::from_float(x).unwrap();
        assert!(w.mantissa % 2 != 0 || w == Weight::default());
        let half = w.exponent / 2;
        assert_eq!(w.mantissa as f64 * f64::from(half).exp2() * f64::from(w.exponent - half).exp2(), x);
    }
    assert_eq!(Weight::from_float(f64::NAN), None);
    assert_eq!(Weight::from_float(f64::INFINITY), None);
}

#[test]
fn a_corrupted_program_is_caught() {
    let matrix = Matrix::from_integers(3, 3, &[7, 45, -3, 11, 0, 13, 99, 5, 1]);
    let (program, _) = solved(&matrix, &bytes(3), &plain());
    let adders = program.adders.len();
    for k in 0..adders {
        type Change = fn(&mut Adder);
        let changes: [Change; 3] =
            [|x| x.shift += 1, |x| x.subtract = !x.subtract, |x| std::mem::swap(&mut x.a, &mut x.b)];
        for (n, change) in changes.into_iter().enumerate() {
            let mut broken = program.clone();
            change(&mut broken.adders[k]);
            // Operands changed about are no harm to a sum in place.
            let Adder { a, b, shift, subtract } = broken.adders[k];
            if n == 2 && (a == b || (shift == 0 && !subtract)) {
                continue;
            }
            let result = cmvm::check(&broken, &matrix);
            assert!(matches!(result, Err(Fault::Output { .. })), "adder {k}, change {n}: {result:?}");
        }
        let mut broken = program.clone();
        broken.adders[k].b = (3 + k) as u32;
        assert_eq!(cmvm::check(&broken, &matrix).unwrap_err(), Fault::Operand { at: 3 + k });
    }
    let mut broken = program.clone();
    broken.outputs[1] = None;
    assert_eq!(cmvm::check(&broken, &matrix).unwrap_err(), Fault::Output { output: 1, input: 0 });
    broken.outputs.pop();
    assert_eq!(cmvm::check(&broken, &matrix).unwrap_err(), Fault::Shape);
}

/// Weights of many kinds: dense, sparse, few bits, many bits, fractions.
fn weight() -> impl Strategy<Value = Weight> {
    prop_oneof![
        3 => Just(Weight::default()),
        4 => (-128i128..128).prop_map(|v| Weight::new(v, 0)),
        2 => (-1i128..2).prop_map(|v| Weight::new(v, 0)),
        1 => (-(1i128 << 30)..1 << 30).prop_map(|v| Weight::new(v, 0)),
        1 => (-1000i128..1000, -12..12i32).prop_map(|(v, e)| Weight::new(v, e)),
    ]
}

fn input() -> impl Strategy<Value = Input> {
    let wide = (-40_000i64..40_000, 0i64..40_000, -4..9i32);
    let interval = prop_oneof![
        3 => Just(Interval::new(-128, 127, 0)),
        1 => Just(Interval::new(0, 1, 0)),
        1 => Just(Interval::new(-1, 1, 3)),
        2 => wide.prop_map(|(min, more, frac)| Interval::new(min, min + more, frac)),
    ];
    (interval, prop_oneof![3 => Just(0.0), 1 => 0.0..9.0]).prop_map(|(interval, arrival)| Input { interval, arrival })
}

fn question() -> impl Strategy<Value = (Matrix, Vec<Input>)> {
    (1usize..9, 1usize..9).prop_flat_map(|(n_in, n_out)| {
        let matrix = vec(weight(), n_in * n_out).prop_map(move |weights| Matrix::new(n_in, n_out, weights));
        (matrix, vec(input(), n_in))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_matrix_is_solved_exactly((matrix, inputs) in question(), budget in 0u64..3) {
        solved(&matrix, &inputs, &Options { budget, ..plain() });
    }

    /// The cost measure of an adder changes the program, not its function.
    #[test]
    fn any_matrix_is_solved_exactly_by_carries((matrix, inputs) in question(), budget in 0u64..3) {
        solved(&matrix, &inputs, &Options { budget, measure: Measure::Carries, ..plain() });
    }

    /// Every limit from the least up is kept to; every one below is refused.
    #[test]
    fn any_possible_limit_is_kept((matrix, inputs) in question(), more in 0.0..4.0f64, budget in 0u64..3) {
        let least = match cmvm::solve(&matrix, &inputs, &Options { latency: Some(0.0), budget, ..plain() }) {
            Err(SolveError::Latency { least, .. }) => {
                let below = Options { latency: Some(least - 0.03), budget, ..plain() };
                let is_refused = matches!(cmvm::solve(&matrix, &inputs, &below), Err(SolveError::Latency { .. }));
                prop_assert!(is_refused);
                least
            }
            other => { other.unwrap(); 0.0 }
        };
        solved(&matrix, &inputs, &Options { latency: Some(least), budget, ..plain() });
        solved(&matrix, &inputs, &Options { latency: Some(least + more), budget, ..plain() });
    }
}
