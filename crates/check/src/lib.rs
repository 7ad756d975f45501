//! `alir2hdl-check MODEL TEXT DIR`: checks the certificate that `alir2hdl prove --certificate DIR` wrote.
//!
//! The model, each intermediate program and the RTL file are translated to gates, value by value, and all of them share
//! one graph. The records of the certificate state which gates are equal, and why. The checker does not search. After
//! the last record, each output bit must be the same gate in the model and in the RTL file; otherwise it is not proved.
//!
//! | file | content |
//! |---|---|
//! | `graph` | gates, each built once |
//! | `records` | proofs that two gates are equal |
//! | `sums` | values as sums of other values: equal in any order of addition, also up to a factor and a constant |
//! | `words` | sums, products, multiplexers, look-up tables of gates |
//! | `program` | ALIR JSON and its semantics |
//! | `text` | the parts of generated RTL that are common to both languages |
//! | `verilog`, `vhdl` | the syntax of each language |
//! | `clocks` | RTL with an initiation interval above one; RTL of state machines from one cycle to the next |
//! | `machine` | ALIRFSM JSON and its semantics from one cycle to the next |
//! | `induction` | proof that an RTL file equals a state machine |
//! | `certificate` | parser of the file with the records |
//!
//! Trusted for the answer `holds`: these files, the parsers of JSON and gzip, the compiler and the computer. No code of
//! alir2hdl's prover, passes or netlist is used.

#![forbid(unsafe_code)]

pub mod certificate;
pub mod clocks;
pub mod graph;
pub mod induction;
mod lexer;
pub mod machine;
pub mod program;
pub mod records;
pub mod sums;
pub mod text;
mod verilog;
mod vhdl;
pub mod words;

use certificate::{Certificate, Place, Step};
use clocks::SampleTiming;
use graph::{Graph, Lit};
use induction::{Induction, Runs};
use machine::Machine;
use program::{Program, Type};
use std::path::Path;
use text::Text;

/// Index of the place whose records are applied after all values are built.
pub const AT_THE_END: usize = u32::MAX as usize;
/// Theorem about a state machine.
const EVERY_CLOCK: &str = "every output at every clock since power-on where it is defined, for every input";
/// Number of clock cycles of a state machine that are searched for a difference if the certificate contains no case.
const CLOCKS: usize = 8;

/// Second side of a step: the design that is compared.
#[derive(Clone, Copy)]
pub enum Side<'a> {
    /// A program.
    Program(&'a Program),
    /// An intermediate program of a state machine, and one index for each input of the program. An index selects an
    /// element from the list of [`Machine::elements`], repeated for each cycle of the induction.
    MachineProgram(&'a Program, &'a [usize]),
    /// The RTL file, and its sample timing if it does not accept a sample in every cycle.
    Text(&'a Text<'a>, Option<&'a SampleTiming>),
}

impl<'a> Side<'a> {
    /// Returns the program of the side; `None` for the RTL file.
    pub fn program(&self) -> Option<&'a Program> {
        match *self {
            Side::Program(program) | Side::MachineProgram(program, _) => Some(program),
            Side::Text(..) => None,
        }
    }
}

/// Comparison state: the gates of the model and of all later sides, which share gates and proved equalities.
#[derive(Clone)]
pub struct Compared {
    /// Gates of the model and of all sides.
    pub graph: Graph,
    /// Types of inputs and outputs.
    types: (Vec<Type>, Vec<Type>),
    /// Bits of each output of the model; if the RTL file has valid flags, followed by the valid flag of the inputs.
    pub expected: Vec<Vec<Lit>>,
    /// Bits of each output of the last side.
    pub found: Vec<Vec<Lit>>,
    /// Theorem about the RTL file that a complete proof establishes.
    pub statement: String,
    /// Bits of each input element; for a state machine, of all inputs in each cycle from power-on.
    pub inputs: Vec<Vec<Lit>>,
    /// Simulated cycles of a state machine; `None` for a program. For a state machine, `expected` is built together
    /// with the RTL file, and contains outputs at several cycles and register bits.
    runs: Option<Runs>,
    /// Register bit that each expected word represents, in the numbering of [`Induction`]; `None` for outputs and for
    /// programs.
    pub claimed: Vec<Option<usize>>,
}

/// Callback for each value: its index, and its bits once they are built. For a value of a program, the callback is also
/// called once before the bits are built, without bits.
pub type ValueCallback<'a> = &'a mut dyn FnMut(&mut Graph, usize, Option<&[Lit]>) -> Result<(), String>;

impl Compared {
    /// Builds the gates of the model.
    ///
    /// # Errors
    /// Errors of `on_value`.
    pub fn new(model: &Program, on_value: ValueCallback<'_>) -> Result<Compared, String> {
        let mut graph = Graph::new();
        let mut input = |kind: &Type| (0..kind.width).map(|_| graph.input()).collect();
        let inputs: Vec<Vec<Lit>> = model.inputs.iter().map(&mut input).collect();
        let expected = model.build(&mut graph, &inputs, on_value)?;
        let (found, types) = (expected.clone(), (model.inputs.clone(), model.outputs()));
        Ok(Compared {
            graph,
            types,
            expected,
            found,
            statement: String::new(),
            inputs,
            runs: None,
            claimed: Vec::new(),
        })
    }

    /// Builds the gates of a state machine and its RTL file, for the first cycles only or for a whole induction.
    ///
    /// # Errors
    /// If the induction is inconsistent, or the RTL file is not supported; errors of `on_value`.
    pub fn new_machine(
        machine: &Machine,
        text: &Text<'_>,
        (induction, is_whole): (&Induction, bool),
        on_value: ValueCallback<'_>,
    ) -> Result<Compared, String> {
        let mut graph = Graph::new();
        let runs = Runs::new(&mut graph, machine, &text.registers()?, (induction, is_whole), on_value)?;
        Ok(Compared {
            graph,
            types: (Vec::new(), Vec::new()),
            expected: Vec::new(),
            found: Vec::new(),
            statement: String::new(),
            inputs: runs.inputs(),
            runs: Some(runs),
            claimed: Vec::new(),
        })
    }

    /// Builds the gates of the other side.
    ///
    /// # Errors
    /// If the ports have other types; errors of the side and of `on_value`.
    pub fn follow(&mut self, side: &Side<'_>, on_value: ValueCallback<'_>) -> Result<(), String> {
        self.graph.renew();
        match side {
            Side::MachineProgram(program, feeds) => {
                let runs = self.runs.as_ref().ok_or("a program beside no state machine")?;
                let inputs = runs.program_inputs(feeds, program.inputs.iter().map(|kind| kind.width))?;
                self.found = program.build(&mut self.graph, &inputs, on_value)?;
            }
            Side::Program(program) => {
                let fits = program.inputs == self.types.0 && program.outputs() == self.types.1;
                ensure(fits, "the ports of a program have other types than those of the model")?;
                self.found = program.build(&mut self.graph, &self.inputs, on_value)?;
            }
            Side::Text(text, _) if self.runs.is_some() => {
                let runs = self.runs.as_ref().expect("it is there");
                let pairs = runs.build_rtl(&mut self.graph, text, on_value)?;
                (self.expected, self.found, self.claimed) = (pairs.expected, pairs.found, pairs.claimed);
                self.statement = EVERY_CLOCK.to_owned() + &pairs.port_matches;
            }
            Side::Text(text, sample_timing) => {
                let widths: Vec<usize> = self.expected.iter().map(Vec::len).collect();
                let built = text.build(&mut self.graph, &self.inputs, &widths, *sample_timing, on_value)?;
                (self.found, self.statement) = (built.outputs, built.statement);
                if let Some((of_inputs, of_outputs)) = built.flags {
                    self.expected.push(vec![of_inputs]);
                    self.found.push(vec![of_outputs]);
                }
            }
        }
        ensure(!self.graph.is_full, "more gates than are built here")
    }

    /// Builds a side and applies the records of its step.
    ///
    /// # Errors
    /// As [`Compared::follow`]; also if a record does not hold, or has no effect.
    pub fn replay(&mut self, side: &Side<'_>, step: &Step) -> Result<(), String> {
        let mut places = step.places.iter().peekable();
        let count = self.graph.count();
        let used = |graph: &Graph| ensure(graph.sums.unused.is_empty(), "an image that no value uses");
        self.follow(side, &mut |graph, at, bits| match (bits, places.peek().filter(|place| *place.0 == at)) {
            (None, place) => {
                let images = place.map_or(&[][..], |place| &place.1.images);
                used(graph).and_then(|()| images.iter().try_for_each(|image| image.make(graph).map(|_| ())))
            }
            (Some(bits), Some(_)) => places.next().map_or(Ok(()), |place| apply(graph, place, bits)),
            (Some(_), None) => Ok(()),
        })?;
        used(&self.graph)?;
        ensure(!step.is_bare || self.graph.count() > count, "a program without records that builds no gates")?;
        let found = self.found.concat();
        places.try_for_each(|place| {
            ensure(*place.0 == AT_THE_END, "a place that does not exist")?;
            apply(&mut self.graph, place, &found)
        })
    }

    /// Returns `true` if an output consists of the same gates on both sides.
    pub fn is_shown(&self, output: usize) -> bool {
        let pairs = self.expected[output].iter().zip(&self.found[output]);
        pairs.into_iter().all(|(&a, &b)| a.is_known() && self.graph.root(a) == self.graph.root(b))
    }

    /// Returns the outputs that the records do not prove.
    pub fn open(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.expected.len()).filter(|&output| !self.is_shown(output))
    }

    /// Returns an output that differs for one of 8 * 64 input assignments, and the input bits of this assignment;
    /// `None` if no difference is observed. The first assignment is `case`.
    pub fn difference(&self, case: &[bool]) -> Option<(usize, Vec<String>)> {
        let (mut random, mut case) = (0x9e37_79b9_7f4a_7c15u64, case.iter());
        for _ in 0..8 {
            let values = self.graph.values(|| {
                // Xorshift: any assignments will do.
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                case.next().map_or(random, |&bit| random & !1 | u64::from(bit))
            });
            let value = |lit: Lit| values[lit.node()] ^ 0u64.wrapping_sub(u64::from(lit.is_negated()));
            for (output, (a, b)) in self.expected.iter().zip(&self.found).enumerate() {
                let known = a.iter().zip(b).filter(|(_, found)| found.is_known());
                let differ = known.fold(0, |all, (&x, &y)| all | (value(x) ^ value(y)));
                if differ != 0 {
                    let bit = |&lit: &Lit| if value(lit) >> differ.trailing_zeros() & 1 == 1 { '1' } else { '0' };
                    let inputs = self.inputs.iter().map(|word| word.iter().rev().map(bit).collect());
                    return Some((output, inputs.collect()));
                }
            }
        }
        None
    }
}

/// Applies the records of a place to the given bits.
fn apply(graph: &mut Graph, (at, place): (&usize, &Place), bits: &[Lit]) -> Result<(), String> {
    for record in &place.records {
        let applied = bits.get(record.bit).ok_or("no such bit".into()).and_then(|&bit| record.apply(graph, bit));
        applied.map_err(|why: String| format!("a record behind value {at} does not hold: {why}"))?;
    }
    Ok(())
}

/// Returns the error `otherwise` unless `holds` is `true`.
fn ensure(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

/// Result of checking a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every output equals the model's; contains the proved theorem.
    Holds(String),
    /// Index of an output that differs (the valid flag, if the index is beyond the model's outputs), and the bits of
    /// each input element for which it differs. For a state machine, outputs are counted cycle by cycle from power-on,
    /// and the bits are those of all inputs at each cycle.
    Refuted(usize, Vec<String>),
    /// Indices of the outputs that the certificate does not prove, and the number of all outputs. For a state machine,
    /// outputs at several cycles and register bits count as outputs.
    NotShown(Vec<usize>, usize),
}

/// Function that returns the content of a certificate file by its name.
pub type Files<'a> = &'a (dyn Fn(&str) -> Result<Vec<u8>, String> + Sync);

/// Stack of the thread that checks, in bytes. Parsers refuse deeper nesting than they need: 200 levels of an
/// expression, 128 of JSON, 18 of a look-up table. The stack has room for all of them, whatever the stack of the
/// caller's thread is.
const STACK_BYTES: usize = 1 << 26;

/// Checks a certificate, on a separate thread with a stack of fixed size. `program` returns the bytes of a program by
/// its file name.
///
/// # Errors
/// If a file cannot be read, or if a record does not hold.
pub fn check(model: &[u8], text: &str, proof: &str, program: Files<'_>) -> Result<Answer, String> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK_BYTES);
        let worker = worker.spawn_scoped(scope, || check_here(model, text, proof, program));
        let worker = worker.map_err(|why| format!("no thread to check on: {why}"))?;
        // A panic is a defect of the checker; a certificate that causes one is not accepted.
        worker.join().unwrap_or_else(|_| Err("internal error of the checker".to_owned()))
    })
}

/// Checks a certificate on the current thread.
fn check_here(model: &[u8], text: &str, proof: &str, program: Files<'_>) -> Result<Answer, String> {
    let (text, certificate) = (Text::read(text)?, Certificate::read(proof)?);
    let text = match &certificate.top {
        Some(top) => text.elaborate(top)?,
        None => text,
    };
    let none = Induction::default();
    let (model, induction) = (Model::read(model, certificate.induction.is_some())?, certificate.induction.as_ref());
    let begun = model.compared(&text, (induction.unwrap_or(&none), true));
    let replayed = begun.and_then(|begun| steps(begun, &text, &certificate, program));
    if let Ok(replayed) = &replayed
        && replayed.open().next().is_none()
    {
        let of = text.inner().map_or(String::new(), |name| format!("of {name}: "));
        return Ok(Answer::Holds(of + &replayed.statement));
    }
    // An output that the records do not prove may be wrong, so a counterexample is searched.
    let case = certificate.case.as_deref().unwrap_or(&[]);
    let mut straight = model.compared(&text, (&model.first_clocks(case.len()), false))?;
    straight.follow(&Side::Text(&text, certificate.sample_timing.as_ref()), &mut |_, _, _| Ok(()))?;
    if let Some((output, inputs)) = straight.difference(case) {
        return Ok(Answer::Refuted(output, inputs));
    }
    let replayed = replayed?;
    Ok(Answer::NotShown(replayed.open().collect(), replayed.expected.len()))
}

/// Specification that an RTL file is checked against.
enum Model {
    Program(Program),
    Machine(Machine),
}

impl Model {
    /// Parses a model: a state machine if `is_machine`, otherwise a program.
    fn read(bytes: &[u8], is_machine: bool) -> Result<Model, String> {
        let read = match is_machine {
            true => Machine::read(bytes).map(Model::Machine),
            false => Program::read(bytes).map(Model::Program),
        };
        read.map_err(|why| match Machine::is_one(bytes) == is_machine {
            true => why,
            false => "an induction of a program, or a state machine without one".to_owned(),
        })
    }

    /// Builds the gates of the model, without records; [`Compared::new_machine`] builds the gates of a state machine.
    fn compared(&self, text: &Text<'_>, induction: (&Induction, bool)) -> Result<Compared, String> {
        let nobody: ValueCallback<'_> = &mut |_, _, _| Ok(());
        match self {
            Model::Program(program) => Compared::new(program, nobody),
            Model::Machine(machine) => Compared::new_machine(machine, text, induction, nobody),
        }
    }

    /// Returns an induction over the first cycles only, which claims no equal bits. The number of cycles is `case`
    /// (length of the counterexample in bits) divided by the number of input bits; [`CLOCKS`] if the quotient is zero.
    fn first_clocks(&self, case: usize) -> Induction {
        let bits = if let Model::Machine(machine) = self { machine.input_bits() } else { 0 };
        let clocks = case.checked_div(bits).filter(|&clocks| clocks > 0).unwrap_or(CLOCKS);
        Induction { settled: clocks.min(induction::MOST_CLOCKS), ..Induction::default() }
    }
}

fn steps(
    mut compared: Compared,
    text: &Text<'_>,
    certificate: &Certificate,
    program: Files<'_>,
) -> Result<Compared, String> {
    for step in &certificate.steps {
        let read = |name: &String| Program::read(&program(name)?).map_err(|why| format!("{name}: {why}"));
        let next = step.program.as_ref().map(read).transpose()?;
        let side = match &next {
            None => Side::Text(text, certificate.sample_timing.as_ref()),
            Some(program) if certificate.induction.is_some() => Side::MachineProgram(program, &step.feeds),
            Some(program) => Side::Program(program),
        };
        compared.replay(&side, step)?;
    }
    Ok(compared)
}

/// Runs `alir2hdl-check` with these command-line arguments; returns its exit code and its output.
pub fn run(arguments: &[String]) -> (u8, String) {
    let [model, text, dir] = arguments else {
        let usage = "Usage: alir2hdl-check MODEL TEXT DIR\n\nReplays the certificate in DIR, as `alir2hdl prove MODEL \
                     TEXT --certificate DIR` wrote it,\n\
                     without any search. Exit codes: 0 holds, 1 refuted, 2 unreadable or a record that does not hold,\n\
                     5 not shown by the certificate.\n";
        return (if arguments == ["--help"] { 0 } else { 2 }, usage.to_owned());
    };
    let bytes = |path: &Path| std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()));
    let string = |path: &Path| String::from_utf8(bytes(path)?).map_err(|_| format!("{}: no text", path.display()));
    let dir = Path::new(dir);
    let model = bytes(Path::new(model));
    let answer = model.as_ref().map_err(String::clone).and_then(|model| {
        check(model, &string(Path::new(text))?, &string(&dir.join("proof.txt"))?, &|name| bytes(&dir.join(name)))
    });
    let words = || match model.as_ref().is_ok_and(|model| Machine::is_one(model)) {
        true => ("comparison", "inputs at each clock from power-on are"),
        false => ("output", "input elements are"),
    };
    match answer {
        Ok(Answer::Holds(statement)) => (0, format!("holds: {statement}\n")),
        Ok(Answer::Refuted(output, inputs)) => {
            let (what, are) = words();
            (1, format!("refuted: {what} {output} differs where the {are} {}\n", inputs.join(" ")))
        }
        Ok(Answer::NotShown(open, all)) => {
            let what = words().0;
            (5, format!("not shown: {} of {all} {what}s, the first is {what} {}\n", open.len(), open[0]))
        }
        Err(why) => (2, format!("unreadable: {why}\n")),
    }
}
