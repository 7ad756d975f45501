//! Certificates for `alir2hdl-check`: what it needs to be told, found by search over its own gates.
//!
//! The checker builds a program and what was made of it value by value. Here the same is done, and each bit of a value that
//! is no gate of the program yet is compared with those that have the same samples: by all assignments of a few leaves,
//! or by a SAT question with a proof. What is found becomes a record, is applied as the checker will apply it, and makes the values
//! above it the same gates.

use super::sat;
use alir2hdl_check::certificate::{Certificate, HEAD, Step};
use alir2hdl_check::graph::{Graph, Lit, Reason, Record, WORDS};
use alir2hdl_check::program::Program;
use alir2hdl_check::text::Text;
use alir2hdl_check::{AT_THE_END, Compared, Side};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::fmt::Write;

/// Gates with the same samples that are tried for one bit.
const CANDIDATES: usize = 3;
/// Leaves of which all assignments are tried.
const LEAVES: usize = 12;
/// Levels below two gates that are looked at, one after another; the last one is all of them.
const LEVELS: [usize; 10] = [1, 2, 3, 4, 6, 9, 14, 25, 50, usize::MAX];
/// Levels from which on the solver is asked.
const ASKED: usize = 9;

/// What one comparison of two gates may take.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// Gates of the cone.
    gates: usize,
    /// Steps of the solver.
    steps: u64,
}

/// For a bit of a value.
const OF_VALUE: Effort = Effort { gates: 1_500, steps: 2_000 };
/// For a bit of an output.
const OF_OUTPUT: Effort = Effort { gates: 60_000, steps: 100_000 };
/// What a step may take in all: steps of the solver, and gates that are looked at.
const OF_STEP: (u64, u64) = (100_000, 60_000_000);

/// The search for the records of one step.
struct Search {
    /// Gates of values of the first side, and those made since, by their samples or the complements.
    by_samples: FxHashMap<[u64; WORDS], Vec<Lit>>,
    /// Those that are among them.
    known: FxHashSet<u32>,
    records: FxHashMap<usize, Vec<Record>>,
    /// What is left of [`OF_STEP`].
    steps: u64,
    gates: u64,
}

/// Samples up to the complement, and whether it is that.
fn normal(samples: [u64; WORDS]) -> ([u64; WORDS], bool) {
    if samples[0] & 1 == 1 { (samples.map(|word| !word), true) } else { (samples, false) }
}

impl Search {
    fn new() -> Search {
        Search {
            by_samples: FxHashMap::from_iter([([0; WORDS], vec![Lit::FALSE])]),
            known: FxHashSet::default(),
            records: FxHashMap::default(),
            steps: OF_STEP.0,
            gates: OF_STEP.1,
        }
    }

    fn learn(&mut self, g: &Graph, bits: &[Lit]) {
        for &bit in bits {
            let bit = g.root(bit);
            if self.known.insert(bit.node() as u32) {
                let (key, flip) = normal(g.sampled(bit));
                self.by_samples.entry(key).or_default().push(bit.flipped(flip));
            }
        }
    }

    /// Looks for a known gate that a bit of this value is equal to.
    fn place(&mut self, g: &mut Graph, at: usize, bit: Lit) {
        let bit = g.root(bit);
        if bit.node() == 0 || self.known.contains(&(bit.node() as u32)) {
            return;
        }
        let (key, flip) = normal(g.sampled(bit));
        let candidates = self.by_samples.get(&key).cloned().unwrap_or_default();
        for old in candidates.into_iter().take(CANDIDATES) {
            if self.equal(g, at, (bit, old.flipped(flip)), OF_VALUE) {
                return;
            }
        }
    }

    /// Shows that two literals are equal, if that is possible with this effort, and makes them so.
    fn equal(&mut self, g: &mut Graph, at: usize, pair: (Lit, Lit), effort: Effort) -> bool {
        let mut size = 0;
        for levels in LEVELS {
            let Some(cut) = self.cut(g, pair, levels, effort.gates) else { return false };
            if cut.gates == size {
                continue;
            }
            size = cut.gates;
            let record = |reason| Record { pair, leaves: cut.leaves.clone(), reason };
            let found = if cut.leaves.len() <= LEAVES {
                let words = 1 << cut.leaves.len().saturating_sub(6);
                self.gates = self.gates.saturating_sub(size as u64 * words);
                Some(record(Reason::Exhaustion))
            } else if cut.is_whole || levels >= ASKED {
                self.asked(g, pair, &cut, effort).map(|clauses| record(Reason::Clauses(clauses)))
            } else {
                continue;
            };
            if let Some(record) = found
                && g.apply(&record).is_ok()
            {
                self.records.entry(at).or_default().push(record);
                return true;
            }
            if cut.is_whole {
                return false;
            }
        }
        false
    }

    /// Clauses that refute that two literals differ.
    fn asked(&mut self, g: &Graph, pair: (Lit, Lit), cut: &Cut, effort: Effort) -> Option<Vec<Vec<i32>>> {
        // Leaves that are no inputs may be what makes them differ: less is given to that.
        let given = if cut.is_whole { effort.steps } else { effort.steps / 8 }.min(self.steps);
        let cone = g.cone(&[pair.0, pair.1], &cut.leaves).ok().filter(|_| given > 0)?;
        let mut steps = given;
        let found = sat::refutation(&g.question(pair.0, pair.1, &cut.leaves, &cone), &mut steps);
        self.steps -= given - steps;
        self.gates = self.gates.saturating_sub(20 * cone.len() as u64);
        found
    }

    /// The gates within some levels below two literals; nothing if there are more than `most`, or the step has taken all
    /// that it may.
    fn cut(&mut self, g: &Graph, pair: (Lit, Lit), levels: usize, most: usize) -> Option<Cut> {
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut cut = Cut { leaves: Vec::new(), gates: 0, is_whole: true };
        let mut level = vec![pair.0.node() as u32, pair.1.node() as u32];
        for deep in 0.. {
            self.gates = self.gates.saturating_sub(level.len() as u64);
            if self.gates == 0 || cut.gates > most {
                return None;
            }
            let mut next = Vec::new();
            for node in level {
                if node == 0 || !seen.insert(node) {
                    continue;
                }
                match g.operands(node) {
                    Some((a, b)) if deep < levels => {
                        cut.gates += 1;
                        next.extend([a.node() as u32, b.node() as u32]);
                    }
                    operands => {
                        cut.is_whole &= operands.is_none();
                        cut.leaves.push(node);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        cut.leaves.sort_unstable();
        Some(cut)
    }
}

/// The gates within some levels below others.
struct Cut {
    /// Where they end.
    leaves: Vec<u32>,
    /// How many there are.
    gates: usize,
    /// Whether the leaves are inputs.
    is_whole: bool,
}

/// The model's gates, and a search that knows them.
///
/// # Errors
/// What the checker objects to.
fn begin(model: &Program) -> Result<(Compared, RefCell<Search>), String> {
    let search = RefCell::new(Search::new());
    let compared = Compared::of(model, None, &mut |g: &mut Graph, _, bits: &[Lit]| {
        search.borrow_mut().learn(g, bits);
        Ok(())
    })?;
    Ok((compared, search))
}

/// What the checker needs to see that this is the model, over what was built before.
///
/// # Errors
/// What the checker objects to.
fn step(compared: &mut Compared, search: &RefCell<Search>, side: &Side<'_>) -> Result<Step, String> {
    (search.borrow_mut().steps, search.borrow_mut().gates) = OF_STEP;
    compared.follow(side, &mut |g: &mut Graph, at, bits: &[Lit]| {
        let mut search = search.borrow_mut();
        bits.iter().for_each(|&bit| search.place(g, at, bit));
        search.learn(g, bits);
        Ok(())
    })?;
    let mut search = search.borrow_mut();
    // What is open at the outputs gets more.
    let all = |side: &[Vec<Lit>]| side.concat();
    let pairs: Vec<(Lit, Lit)> = all(&compared.expected).into_iter().zip(all(&compared.found)).collect();
    let g = &mut compared.graph;
    for (x, y) in pairs {
        let (x, y) = (g.root(x), g.root(y));
        if x != y && g.sampled(x) == g.sampled(y) {
            search.equal(g, AT_THE_END, (x, y), OF_OUTPUT);
        }
    }
    Ok(Step { program: None, records: std::mem::take(&mut search.records).into_iter().collect() })
}

/// Whether each output is the same gates on both sides.
fn shown(compared: &Compared) -> Vec<bool> {
    (0..compared.expected.len()).map(|output| compared.is_shown(output)).collect()
}

/// A certificate, and which outputs it shows.
pub struct Recorded {
    /// What the checker replays.
    pub certificate: Certificate,
    /// Whether it shows each output.
    pub shown: Vec<bool>,
}

/// Records a certificate for a text, over programs between with their file names if there are any: that one of the two
/// ways which shows more outputs.
///
/// # Errors
/// What the checker objects to in the text or a program.
pub fn record(model: &Program, between: &[(String, Program)], text: &Text<'_>) -> Result<Recorded, String> {
    let (mut compared, search) = begin(model)?;
    let mut certificate = Certificate::default();
    let programs = between.iter().map(|(name, program)| (Some(name), Side::Program(program)));
    for (name, side) in programs.chain([(None, Side::Text(text))]) {
        let made = step(&mut compared, &search, &side)?;
        certificate.steps.push(Step { program: name.cloned(), ..made });
    }
    let over = Recorded { certificate, shown: shown(&compared) };
    if between.is_empty() || over.shown.iter().all(|&shown| shown) {
        return Ok(over);
    }
    drop((compared, search));
    let (mut compared, search) = begin(model)?;
    let steps = vec![step(&mut compared, &search, &Side::Text(text))?];
    let straight = shown(&compared);
    let count = |list: &[bool]| list.iter().filter(|&&shown| shown).count();
    if count(&over.shown) > count(&straight) {
        return Ok(over);
    }
    Ok(Recorded { certificate: Certificate { steps, case: None }, shown: straight })
}

/// The lines of the file of a certificate.
pub fn text(certificate: &Certificate) -> String {
    let mut out = format!("{HEAD}\n");
    if let Some(case) = &certificate.case {
        let bits: String = case.iter().map(|&bit| if bit { '1' } else { '0' }).collect();
        let _ = writeln!(out, "case {bits}");
    }
    for step in &certificate.steps {
        let _ = writeln!(out, "step {}", step.program.as_deref().unwrap_or("text"));
        let mut places: Vec<_> = step.records.iter().collect();
        places.sort_by_key(|p| p.0);
        for (place, records) in places {
            let _ = writeln!(out, "at {place}");
            for record in records {
                let word = if record.reason == Reason::Exhaustion { "all" } else { "clauses" };
                let _ = write!(out, "{word} {} {}", record.pair.0.0, record.pair.1.0);
                for leaf in &record.leaves {
                    let _ = write!(out, " {leaf}");
                }
                out.push('\n');
                if let Reason::Clauses(clauses) = &record.reason {
                    for clause in clauses {
                        for literal in clause {
                            let _ = write!(out, "{literal} ");
                        }
                        out.push_str("0\n");
                    }
                    out.push_str("end\n");
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats;
    use crate::interp::{LookupMiss, golden};
    use crate::ir::Model;
    use crate::num::{Kif, wrap};
    use crate::random::{self, Profile, Recipe};
    use num_bigint::BigInt;

    /// The program as the checker reads it; nothing if JSON has no words for it, or the checker reads no such thing.
    fn program(model: &Model) -> Option<Program> {
        let mut bytes = Vec::new();
        formats::prepare(model, formats::Target::Alir4).ok()?.write(&mut bytes).unwrap();
        Program::read(&bytes).ok()
    }

    /// Small programs, and some of any width.
    fn drawn(seed: u64) -> Model {
        if seed.is_multiple_of(4) { random::model(seed) } else { Recipe::seeded(Profile::TINY, 24, seed).build() }
    }

    /// The checker's gates of a program, for random inputs, are what the golden interpreter says.
    #[test]
    fn the_checkers_gates_agree_with_the_golden_interpreter() {
        let (mut compared_outputs, mut recorded) = (0, 0);
        for seed in 0..300 {
            let model = drawn(seed);
            let Some(same) = program(&model) else { continue };
            let Ok(mut compared) = Compared::of(&same, None, &mut |_, _, _| Ok(())) else { continue };
            compared.follow(&Side::Program(&same), &mut |_, _, _| Ok(())).unwrap();
            compared_outputs += agrees(&model, &compared, &format!("seed {seed}"));
            // Ranges that are known by then may make other gates of it; a record shows that those are the same.
            if compared.open().next().is_some() {
                let (mut again, search) = begin(&same).unwrap();
                step(&mut again, &search, &Side::Program(&same)).unwrap();
                assert_eq!(again.open().next(), None, "seed {seed}: a program is itself");
                recorded += 1;
            }
        }
        assert!(compared_outputs > 10_000 && recorded < 10, "{compared_outputs} {recorded}");
    }

    /// So are those of a text, as it is read, in both languages with all kinds of ports.
    #[test]
    fn the_checkers_reading_of_texts_agrees_with_the_golden_interpreter() {
        use crate::netlist::{Options, PortNames, Ports, ResetOptions, lower};
        use crate::rtl::Language;
        let mut compared_outputs = 0;
        for seed in 0..160u64 {
            let model = drawn(seed);
            let Some(same) = program(&model) else { continue };
            let (optimised, _) = crate::passes::run(&model, crate::passes::pipeline((seed % 3) as u8));
            let schedule = match seed / 3 % 4 {
                0 => crate::schedule::Schedule::combinational(optimised.nodes().len()),
                stages => crate::schedule::random(&optimised, stages as u32, seed.is_multiple_of(2), seed),
            };
            let bit = |at: u32| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (32 + at) & 1 == 1;
            let reset = ResetOptions { asynchronous: bit(0), active_high: bit(1), data: bit(2) };
            let netlist = lower(
                &optimised,
                &schedule,
                &Options {
                    ports: if bit(3) { Ports::Split } else { Ports::Packed },
                    valid: bit(4),
                    enable: bit(5),
                    reset: bit(6).then_some(reset),
                    names: PortNames { reset: if bit(1) { "rst" } else { "rst_n" }.into(), ..PortNames::default() },
                    ..Options::default()
                },
            );
            let emitted = crate::emit::Options { keep_names: bit(7), use_dsp: bit(8), ..Default::default() };
            for language in [Language::Verilog, Language::Vhdl] {
                let text = crate::emit::text(&netlist, language, &emitted);
                let what = format!("seed {seed}\n{text}");
                let read = Text::read(&text).unwrap_or_else(|why| panic!("{why}: {what}"));
                let mut compared = Compared::of(&same, None, &mut |_, _, _| Ok(())).unwrap();
                let built = compared.follow(&Side::Text(&read), &mut |_, _, _| Ok(()));
                built.unwrap_or_else(|why| panic!("{why}: {what}"));
                compared_outputs += agrees(&model, &compared, &what);
                let has_flags = compared.expected.len() > model.outputs().len();
                assert!(has_flags == bit(4) && (!has_flags || compared.is_shown(model.outputs().len())), "{what}");
                let latency = netlist.interface.latency;
                let clocks = if latency == 0 { "combinational".into() } else { format!("after {latency} clocks") };
                // Constants are of no clock.
                let is_constant = compared.found.iter().flatten().all(|&bit| compared.graph.root(bit).node() == 0);
                assert!(is_constant || compared.statement.starts_with(&clocks), "{}: {what}", compared.statement);
            }
        }
        assert!(compared_outputs > 50_000, "{compared_outputs}");
    }

    /// For the assignments that were looked at, the second side is what the golden interpreter says; how many outputs.
    fn agrees(model: &Model, compared: &Compared, what: &str) -> usize {
        let code = |bits: &[Lit], kif: Kif, at: usize| {
            let mut raw = BigInt::ZERO;
            for (i, &bit) in bits.iter().enumerate() {
                raw.set_bit(i as u64, compared.graph.sampled(bit)[at / 64] >> (at % 64) & 1 == 1);
            }
            wrap(&raw, kif)
        };
        for at in 0..64 {
            let inputs: Vec<BigInt> =
                compared.inputs.iter().zip(model.input_kifs()).map(|(bits, &kif)| code(bits, kif, at)).collect();
            for (j, expected) in golden(model, &inputs, LookupMiss::Zero).unwrap().iter().enumerate() {
                assert_eq!(code(&compared.found[j], model.output_kif(j), at), *expected, "output {j} of {what}");
            }
        }
        64 * model.outputs().len()
    }

    /// What records and sums make equal between two different programs is equal: gates with one root have the same samples.
    #[test]
    fn only_what_is_equal_becomes_one_gate() {
        for seed in 0..200 {
            let model = drawn(seed);
            let mut other = crate::ir::Builder::like(&model);
            // One operation of the second program is another one.
            let changed = (seed as usize * 7) % model.nodes().len().max(1);
            for (at, node) in model.nodes().iter().enumerate() {
                let mut node = node.clone();
                if at == changed {
                    node.op = match node.op {
                        crate::ir::Op::Add { a, b, shift } => crate::ir::Op::Sub { a, b, shift },
                        crate::ir::Op::Sub { a, b, shift } => crate::ir::Op::Add { a, b, shift },
                        crate::ir::Op::Relu { x } => crate::ir::Op::Quantise { x, shift: 0 },
                        crate::ir::Op::Quantise { x, .. } => crate::ir::Op::Relu { x },
                        op => op,
                    };
                }
                other.push(node);
            }
            for &output in model.outputs() {
                other.output(output);
            }
            for table in model.tables() {
                other.table(table.clone());
            }
            let Ok(other) = other.finish() else { continue };
            let (Some(first), Some(second)) = (program(&model), program(&other)) else { continue };
            let Ok((mut compared, search)) = begin(&first) else { continue };
            let Ok(made) = step(&mut compared, &search, &Side::Program(&second)) else { continue };
            let g = &compared.graph;
            for node in 0..g.count() as u32 {
                let lit = Lit(node << 1);
                assert_eq!(g.sampled(lit), g.sampled(g.root(lit)), "seed {seed} gate {node}");
            }
            // The same records make the same gates equal, in the file's form too.
            let certificate = Certificate { steps: vec![made], case: None };
            let read = Certificate::read(&text(&certificate)).unwrap();
            assert_eq!(read, certificate);
            let mut again = Compared::of(&first, None, &mut |_, _, _| Ok(())).unwrap();
            again.replay(&Side::Program(&second), &read.steps[0]).unwrap();
            for j in 0..compared.expected.len() {
                assert_eq!(again.is_shown(j), compared.is_shown(j), "seed {seed} output {j}");
            }
        }
    }
}
