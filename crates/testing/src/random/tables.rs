//! Random programs with one look-up table of up to 12 address bits and 18 output bits, with all shapes that passes and
//! code generators distinguish.

use super::SplitMix;
use alir_core::ir::{Builder, Model, Op, Output, Table};
use alir_core::num::{Code, Interval};

/// Returns the program of a seed. The operand of the table is an input, or an input plus a constant, so that some raw
/// values are unreachable. The table may cover only a part of the reachable values.
pub fn program(seed: u64) -> Model {
    let mut rng = SplitMix::new(seed ^ 0x7461_626c_6573);
    let width = 1 + rng.below(12) as u32;
    let codes = 1i64 << width;
    let lowest = if rng.below(3) > 0 { -codes / 2 } else { 0 };
    let mut builder = Builder::new(vec![0]);
    let frac = rng.below(7) as i32 - 3;
    let input = builder.op(Op::Input { input: 0 }, Interval::new(lowest, lowest + codes - 1, frac));
    let (mut operand, mut first) = (input, lowest);
    if rng.below(3) == 0 {
        let by = rng.below(codes as u64) as i64 - codes / 2;
        first = lowest + by;
        let interval = Interval::new(first, first + codes - 1, frac);
        operand = builder.op(Op::AddConst { x: input, value: Code::from(by), shift: frac }, interval);
    }
    let mut last = first + codes - 1;
    if rng.below(3) == 0 {
        first += rng.below(codes as u64 / 2 + 1) as i64;
        last -= rng.below((last - first + 1) as u64) as i64;
    }
    let out = 1 + rng.below(18) as u32;
    let (low, high) =
        if rng.below(2) == 0 { (0, (1 << out) - 1) } else { (-(1i64 << (out - 1)), (1 << (out - 1)) - 1) };
    let shape = Shape::new(&mut rng, width, low, high);
    let entries = (first..=last).map(|code| shape.value(code).clamp(low, high) as i32).collect();
    let interval = Interval::new(low, high, rng.below(9) as i32 - 4);
    let table = builder.table(Table { entries, out: interval.clone(), hash: String::new(), inp_width: 0 });
    let word = builder.op(Op::Lookup { x: operand, table, base: Code::from(first) }, interval);
    builder.output(Output { source: Some(word), shift: 0, neg: false });
    builder.finish().expect("a valid program")
}

/// Parameters of a table's words.
struct Shape {
    kind: u64,
    seed: u64,
    /// Number of raw values on one side of zero.
    half: f64,
    slope: i64,
    centre: i64,
    swing: f64,
}

impl Shape {
    fn new(rng: &mut SplitMix, width: u32, low: i64, high: i64) -> Shape {
        Shape {
            kind: rng.below(8),
            seed: rng.word(),
            half: f64::from(1u32 << width) / 2.0,
            slope: rng.below(9) as i64 - 4,
            centre: (low + high + rng.below(2) as i64) / 2,
            swing: (high - low) as f64 / 2.0,
        }
    }

    fn value(&self, code: i64) -> i64 {
        let x = code as f64 / self.half;
        let curve = |x: f64| (self.swing * (3.0 * x).tanh()).round() as i64;
        let noise =
            |code: i64| (SplitMix::new(self.seed ^ code as u64).word() >> 40) as i64 % (2 * self.centre.abs() + 2);
        match self.kind {
            0 => noise(code),
            1 => self.centre + (self.swing * (3.0 * x).tanh()).floor() as i64,
            2 => self.centre + curve(x),
            3 => curve(x.abs()),
            4 => self.slope * code + self.centre,
            5 => noise(code >> 3),
            6 => code.signum() * noise(code.abs()) + self.centre,
            _ => noise(code.abs()),
        }
    }
}
