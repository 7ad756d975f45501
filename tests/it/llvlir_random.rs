//! Random LLVLIR programs, shrinking, and mutated files: both forms, the interpreter and the lowering agree, and no
//! file harms.

use alir_testing::random::{self, Gene, Profile, Recipe, SplitMix};
use alir2hdl::interp::{LookupMiss, golden, golden_steps};
use alir2hdl::ir::{self, Model, ValueId};
use alir2hdl::llvlir::program::{Arg, Builder, File, IntType, Params, PortType, ValueType, immediate_range};
use alir2hdl::llvlir::raise::raise;
use alir2hdl::llvlir::rows::{Lane, Meaning, ROWS, Row};
use alir2hdl::llvlir::{self, Limits, Program, bytes, golden as kernel, text};
use alir2hdl::num::{Interval, Kif, wrap};
use alir2hdl::passes;
use num_bigint::BigInt;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Widths that are tried, small ones often.
const WIDTHS: [u16; 12] = [1, 2, 3, 5, 8, 8, 13, 16, 32, 33, 64, 70];

/// One operation to be: numbers that choose a row, its parameters and its operands.
type Step = [u32; 8];

/// The program that steps describe. A step that finds no fitting operands adds a constant or nothing.
fn program_of(steps: &[Step]) -> Program {
    let mut b = Draft { builder: Builder::new(Limits::default()), values: Vec::new() };
    for (name, ty) in [
        ("a", PortType::R(IntType::new(8))),
        ("b", PortType::R(IntType::new(13))),
        ("c", PortType::R(IntType::new(64))),
        ("v", PortType::X(4, IntType::new(8))),
        ("w", PortType::X(4, IntType::new(8))),
        ("k", PortType::M(16)),
    ] {
        b.builder.input(name.as_bytes(), ty).unwrap();
        let ty = match ty {
            PortType::R(ty) => ValueType::R(ty.width),
            PortType::X(lanes, ty) => ValueType::X(lanes, ty.width),
            PortType::M(lanes) => ValueType::M(lanes),
        };
        b.values.push((ty, b.builder.count(ty_file(ty)) as u32 - 1));
    }
    b.table();
    for step in steps {
        b.step(step);
    }
    // The newest values of each file go out, all of them would hide what is dead.
    let mut shown = 0;
    for k in (0..b.values.len()).rev() {
        let (ty, value) = b.values[k];
        if shown < 6 && ty_file(ty) != File::A {
            b.builder.output(format!("y{shown}").as_bytes(), ty_file(ty), value).unwrap();
            shown += 1;
        }
    }
    b.builder.finish().unwrap()
}

fn ty_file(ty: ValueType) -> File {
    match ty {
        ValueType::R(_) => File::R,
        ValueType::X(..) => File::X,
        ValueType::M(_) => File::M,
        ValueType::A(_) => File::A,
    }
}

struct Draft {
    builder: Builder,
    values: Vec<(ValueType, u32)>,
}

impl Draft {
    fn push(&mut self, row: u16, params: Params, mut args: Vec<Arg>) -> bool {
        let files = [File::R, File::X, File::M, File::A];
        let before = files.map(|file| self.builder.count(file));
        if self.builder.operation(row, params, &mut args).is_err() {
            return false;
        }
        for (file, before) in files.into_iter().zip(before) {
            if self.builder.count(file) > before {
                let ty = self.builder.value_type(file, before as u32).unwrap();
                self.values.push((ty, before as u32));
            }
        }
        true
    }

    fn table(&mut self) {
        let none = Params { lanes: 0, types: [IntType::new(8), IntType::new(8)], scope: 0, number: 0 };
        assert!(self.push(9, none, vec![Arg::bytes(b"t")]));
        assert!(self.push(2, none, vec![Arg::bytes(b"a table of some bytes \xff\x80\x01")]));
        assert!(self.push(10, none, vec![Arg::bytes(b"t")]));
    }

    /// A value of a file that the test accepts, chosen by a number.
    fn find(&self, file: File, choice: u32, accept: impl Fn(ValueType) -> bool) -> Option<(ValueType, u32)> {
        let fitting: Vec<_> = self.values.iter().filter(|(ty, _)| ty_file(*ty) == file && accept(*ty)).collect();
        // New values more often than old ones.
        let at = fitting.len().checked_sub(1)?.saturating_sub((choice as usize % 64) * fitting.len() / 96);
        fitting.get(at).map(|value| **value)
    }

    fn step(&mut self, step: &Step) {
        let combinational = |row: &Row| matches!(row.meaning, Meaning::Lanes(_)) || !row.is_refused();
        let candidates: Vec<u16> = (0..ROWS.len() as u16)
            .filter(|code| {
                let row = &ROWS[usize::from(*code)];
                combinational(row) && !row.is_data() && row.result() != b'v' && row.meaning != Meaning::Pointer
            })
            .collect();
        let code = candidates[step[0] as usize % candidates.len()];
        let row = &ROWS[usize::from(code)];
        let other = WIDTHS[step[1] as usize % WIDTHS.len()];
        // The first operand gives the type where there is one.
        let first = row.operands().iter().find_map(|letter| match letter {
            b'x' => self.find(File::X, step[2], |_| true),
            b'r' => self.find(File::R, step[2], |_| true),
            _ => None,
        });
        let (lanes, width) = match first {
            Some((ValueType::X(lanes, width), _)) => (lanes, width),
            Some((ValueType::R(width), _)) => (4, width),
            _ => (4, other),
        };
        let mut types = [IntType::new(width), IntType { width: other, coded: false }];
        match row.meaning {
            Meaning::Lanes(Lane::Extend(_)) => types = [IntType::new(width.max(other)), IntType::new(width)],
            Meaning::Lanes(Lane::Truncate) => types = [IntType::new(width.min(other)), IntType::new(width)],
            Meaning::Load | Meaning::Gather => types = [IntType::new(8), IntType::new(width)],
            Meaning::Permute => types[1] = types[0],
            _ => {}
        }
        let params = Params { lanes, types, scope: 0, number: 0 };
        let mut args = Vec::new();
        for (k, letter) in row.operands().iter().enumerate() {
            let choice = step[3 + k % 5];
            let exact = |ty: ValueType| match ty {
                ValueType::R(w) => w == if matches!(row.meaning, Meaning::PermutePacked(_)) { 64 } else { width },
                ValueType::X(v, w) => (v, w) == (lanes, width),
                ValueType::M(v) => v >= 4 * lanes.min(4),
                ValueType::A(_) => true,
            };
            let is_count = matches!(row.meaning, Meaning::Lanes(Lane::Shift(_) | Lane::Rotate(_) | Lane::Funnel(_)));
            let arg = match letter {
                b'r' if is_count && k + 1 >= row.operands().len() - usize::from(row.template.ends_with('m')) => {
                    self.find(File::R, choice, |_| true).map(|(_, v)| Arg::Value(v))
                }
                b'r' => self.find(File::R, choice, exact).map(|(_, v)| Arg::Value(v)),
                b'x' => self.find(File::X, choice, exact).map(|(_, v)| Arg::Value(v)),
                b'm' => self.find(File::M, choice, exact).map(|(_, v)| Arg::Value(v)),
                b'a' => self.find(File::A, choice, exact).map(|(_, v)| Arg::Value(v)),
                b'c' => Some(Arg::Cmp([0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13][choice as usize % 12])),
                b'o' => Some(Arg::Order((choice % 16) as u8)),
                _ => {
                    let (low, high) = immediate_range(row, types[0].width);
                    let value =
                        if high == BigInt::from(65535) { BigInt::from(choice % 80) } else { BigInt::from(choice) };
                    let span = &high - &low + 1;
                    let value = if high == BigInt::from(65535) { value } else { &low + value % span };
                    Some(Arg::imm(&value))
                }
            };
            match arg {
                Some(arg) => args.push(arg),
                None => return,
            }
        }
        self.push(code, params, args);
    }
}

/// Corners and random patterns.
fn samples(program: &Program, seed: u64) -> Vec<Vec<BigInt>> {
    let mut state = seed | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let elements = program.input_elements();
    (0..8)
        .map(|k| {
            let one = |_: &llvlir::program::Element| match (k, next() % 4) {
                (0, _) => BigInt::ZERO,
                (1, _) => BigInt::from(-1),
                (_, 0) => BigInt::from(next() % 5),
                _ => BigInt::from(next()) << (next() % 8) | BigInt::from(next()),
            };
            elements.iter().map(one).collect()
        })
        .collect()
}

/// Both forms, the interpreter, the lowered program and what optimisation makes of it.
fn hold_together(program: &Program, seed: u64) {
    let raw = bytes::write(program);
    let again = llvlir::read(&raw, Limits::default()).unwrap();
    assert_eq!(again, *program);
    assert_eq!(text::read(text::write(program).as_bytes(), Limits::default()).unwrap(), *program);
    let lowered = llvlir::lower::lower(program, &alir2hdl::ir::Limits::default()).unwrap();
    let (optimised, _) = passes::run(&lowered, passes::pipeline(2));
    for sample in samples(program, seed) {
        let expected = kernel::run(program, &sample);
        let codes: Vec<BigInt> =
            sample.iter().zip(lowered.input_kifs()).map(|(v, kif)| alir2hdl::num::wrap(v, *kif)).collect();
        let mut broken = None;
        let found = golden_steps(&lowered, &codes, LookupMiss::Error, |step| {
            if step.exceeds_declared_range(&lowered) {
                broken.get_or_insert_with(|| format!("{step:?}"));
            }
        });
        assert_eq!(broken, None, "{}", text::write(program));
        assert_eq!(found.unwrap(), expected, "{}", text::write(program));
        assert_eq!(
            golden(&optimised, &codes, LookupMiss::Zero).unwrap(),
            expected,
            "optimised: {}",
            text::write(program)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_hold_together(
        steps in proptest::collection::vec(any::<[u32; 8]>(), 0..24),
        seed in any::<u64>(),
    ) {
        hold_together(&program_of(&steps), seed);
    }
}

#[test]
fn random_programs_use_nearly_every_row() {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 3 ^ state << 7
    };
    let mut used = std::collections::BTreeSet::new();
    for _ in 0..400 {
        let steps: Vec<Step> = (0..20).map(|_| std::array::from_fn(|_| next())).collect();
        used.extend(program_of(&steps).ops().iter().map(|op| op.code()));
    }
    assert!(used.len() > 150, "only {} rows are reached", used.len());
}

/// Returns `true` if an ALIR program was raised, after a comparison on every pattern; `false` if it was refused.
fn says_the_same(model: &Model, seed: u64) -> bool {
    let program = match raise(model, Limits::default()) {
        Ok(program) => program,
        Err(refusal) => {
            let why = refusal.to_string();
            let known = ["its step is", "it has no bits", "LLVLIR has at most 1024", "at least one output"];
            assert!(known.iter().any(|part| why.contains(part)), "{why}");
            return false;
        }
    };
    assert_eq!(llvlir::read(&bytes::write(&program), Limits::default()).unwrap(), program);
    assert_eq!(text::read(text::write(&program).as_bytes(), Limits::default()).unwrap(), program);
    let lowered = llvlir::lower::lower(&program, &alir2hdl::ir::Limits::default()).unwrap();
    let signed = |code: &BigInt, width: u32| wrap(code, Kif { signed: true, int: width as i32 - 1, frac: 0 });
    let mut rng = SplitMix::new(seed);
    for _ in 0..20 {
        let inputs = random::inputs(model, &mut rng);
        let expected: Vec<BigInt> = golden(model, &inputs, LookupMiss::Zero)
            .unwrap()
            .iter()
            .enumerate()
            .map(|(j, code)| signed(code, model.output_kif(j).width()))
            .collect();
        assert_eq!(kernel::run(&program, &inputs), expected, "{model:#?}\n{}", text::write(&program));
        let patterns: Vec<BigInt> = inputs.iter().zip(model.input_kifs()).map(|(v, k)| signed(v, k.width())).collect();
        assert_eq!(golden(&lowered, &patterns, LookupMiss::Error).unwrap(), expected, "{}", text::write(&program));
    }
    true
}

/// A random program whose ports are integers: its input and output codes are read as such, inside it has any step.
fn with_integer_ports(recipe: &Recipe) -> Model {
    let model = recipe.build();
    let mut b = ir::Builder::new(vec![0; model.n_inputs()]);
    for table in model.tables() {
        b.table(table.clone());
    }
    let as_integer = |kif: Kif| Interval::from_width(kif.signed, kif.width().max(1), 0);
    let mut new: Vec<ValueId> = Vec::new();
    for node in model.nodes() {
        let mut op = node.op.clone();
        op.map_operands(|v| new[v.index()]);
        new.push(match op {
            ir::Op::Input { input } => {
                let x = b.op(ir::Op::Input { input }, as_integer(model.input_kifs()[input as usize]));
                b.op(ir::Op::Quantise { x, shift: -node.interval.frac }, node.interval.clone())
            }
            op => b.op(op, node.interval.clone()),
        });
    }
    // Every port has bits.
    for input in 0..model.n_inputs() {
        if !model.nodes().iter().any(|node| node.op == ir::Op::Input { input: input as u32 }) {
            b.op(ir::Op::Input { input: input as u32 }, Interval::from_width(true, 3, 0));
        }
    }
    for (v, neg) in model.outputs().iter().filter_map(|output| Some((output.source?, output.neg))) {
        let kif = model.kif(v);
        let source = Some(b.op(ir::Op::Quantise { x: new[v.index()], shift: kif.frac }, as_integer(kif)));
        b.output(ir::Output { source, shift: 0, neg });
    }
    b.finish().unwrap_or_else(|problems| panic!("{problems:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_alir_programs_are_said_in_rows(
        genes in proptest::collection::vec(any::<Gene>(), 1..24),
        seed in any::<u64>(),
    ) {
        for (_, profile) in Profile::ALL {
            says_the_same(&with_integer_ports(&Recipe::new(profile, genes.clone())), seed);
        }
    }
}

#[test]
fn most_random_programs_of_integers_can_be_said() {
    let said = |seed: u64| {
        let profile = Profile::ALL[seed as usize % Profile::ALL.len()].1;
        says_the_same(&with_integer_ports(&Recipe::seeded(profile, 12, seed)), seed)
    };
    let count = (0..300).filter(|seed| said(*seed)).count();
    assert!(count > 150, "only {count} of 300");
}

#[test]
fn kernels_go_through_alir_and_back() {
    for bytes in corpus() {
        let program = llvlir::read(&bytes, Limits::default()).unwrap();
        let lowered = llvlir::lower::lower(&program, &alir2hdl::ir::Limits::default()).unwrap();
        assert!(says_the_same(&lowered, 3), "a kernel's program has integers only");
        let (optimised, _) = passes::run(&lowered, passes::pipeline(2));
        says_the_same(&optimised, 4);
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/llvlir");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        for name in ["program.llvlir", "program.llvlirs"] {
            if let Ok(bytes) = fs::read(path.join(name)) {
                all.push(bytes);
            }
        }
    }
    all.sort();
    assert_eq!(all.len(), 28);
    all
}

/// Changes a file here and there; what is still accepted goes round to the same bytes.
fn mutate(count: usize) {
    let corpus = corpus();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    let limits = Limits { max_ops: 10_000, max_table_elements: 1 << 16, max_division: 64 };
    let mut accepted = 0;
    for k in 0..count {
        let mut file = corpus[k % corpus.len()].clone();
        for _ in 0..1 + next() % 3 {
            let at = next() % file.len().max(1);
            match next() % 6 {
                _ if file.is_empty() => file.push(next() as u8),
                0 => file[at] = next() as u8,
                1 => file[at] ^= 1 << (next() % 8),
                2 => drop(file.remove(at)),
                3 => file.insert(at, next() as u8),
                4 => file.truncate(at),
                _ => {
                    let other = &corpus[next() % corpus.len()];
                    let from = next() % other.len();
                    let piece = other[from..(from + next() % 40).min(other.len())].to_vec();
                    file.splice(at..at, piece);
                }
            }
        }
        let Ok(program) = llvlir::read(&file, limits) else { continue };
        accepted += 1;
        let raw = bytes::write(&program);
        if file.first() == Some(&b'L') {
            assert_eq!(raw, file, "bytes that are read are written back");
        }
        let canonical = text::write(&program);
        let again = llvlir::read(canonical.as_bytes(), limits).unwrap();
        assert_eq!(again, program);
        assert_eq!(bytes::write(&again), raw);
    }
    assert!(accepted > count / 1000, "only {accepted} of {count} are accepted: the mutations are too wild");
}

#[test]
fn mutated_files_do_no_harm() {
    mutate(20_000);
}

#[test]
#[ignore = "long: a million mutated files (a minute, optimised)"]
fn a_million_mutated_files_do_no_harm() {
    mutate(1_000_000);
}
