//! `alir2hdl-check MODEL TEXT DIR`: replays the certificate that `alir2hdl prove --certificate DIR` wrote.
//!
//! The model becomes gates, and so does each program between and the text; each second side of a step is built value by
//! value over the gates of the first, and the records of the certificate say which gates are equal and why. Nothing is
//! searched. When all is built each output bit is the same gate on both sides, or it is not shown.
//!
//! | file | what |
//! |---|---|
//! | `graph` | gates, each made once; records that make two of them equal |
//! | `clauses` | clauses that follow by unit propagation |
//! | `sums` | values as sums of others: equal in whatever order they are added up |
//! | `words` | sums, products, choices, tables of gates |
//! | `program` | ALIR JSON, and what it means |
//! | `text` | what the texts that alir2hdl writes have in common in both languages |
//! | `verilog`, `vhdl` | how each language spells it |
//! | `certificate` | the file of the records |
//!
//! What is trusted when it says `holds`: these files, the reading of JSON and gzip, and that the compiler and the
//! machine work. No code of alir2hdl's prover, passes or netlist is used.

pub mod certificate;
mod clauses;
pub mod graph;
pub mod program;
mod sums;
pub mod text;
mod verilog;
mod vhdl;
mod words;

use certificate::{Certificate, Step};
use graph::{Graph, Lit};
use program::Program;
use std::path::Path;
use sums::Sums;
use text::Text;

/// The place of records that are applied when all values are there.
pub const AT_THE_END: usize = u32::MAX as usize;

/// What a step's second side is.
pub enum Side<'a> {
    /// A program.
    Program(&'a Program),
    /// The text.
    Text(&'a Text<'a>),
}

/// Both sides of a step, built.
pub struct Compared {
    /// The gates of both.
    pub graph: Graph,
    /// Bits of each output by the first side; if the text has valid flags, behind them that of the inputs.
    pub expected: Vec<Vec<Lit>>,
    /// By the second.
    pub found: Vec<Vec<Lit>>,
    /// What a proof says of the text.
    pub statement: String,
    /// Bits of each input element.
    pub inputs: Vec<Vec<Lit>>,
}

/// Who is told of each value of the second side when its bits are there: its number, and the bits.
pub type Made<'a> = &'a mut dyn FnMut(&mut Graph, usize, &[Lit]) -> Result<(), String>;

/// Builds both sides. `begun` is told the bits of each value of the first side, `made` those of the second. `case` are input
/// bits that are looked at in any case.
///
/// # Errors
/// If the ports of the two have other types; what the sides or `made` object to.
pub fn compare(
    first: &Program,
    second: &Side<'_>,
    case: Option<&[bool]>,
    begun: Made<'_>,
    made: Made<'_>,
) -> Result<Compared, String> {
    let mut graph = Graph::new();
    let mut case = case.unwrap_or(&[]).iter();
    let mut input = |graph: &mut Graph, width: usize| -> Vec<Lit> {
        (0..width).map(|_| graph.input(case.next().copied())).collect()
    };
    let inputs: Vec<Vec<Lit>> = first.inputs.iter().map(|kind| input(&mut graph, kind.width)).collect();
    let mut sums = Sums::default();
    let mut expected = first.build(&mut graph, &mut sums, &inputs, begun)?;
    let (found, statement) = match second {
        Side::Program(program) => {
            if program.inputs != first.inputs || program.outputs() != first.outputs() {
                return Err("the ports of a program have other types than those of the one before".to_owned());
            }
            (program.build(&mut graph, &mut sums, &inputs, made)?, String::new())
        }
        Side::Text(text) => {
            let widths: Vec<usize> = expected.iter().map(Vec::len).collect();
            let mut built = text.build(&mut graph, &inputs, &widths, made)?;
            if let Some((of_inputs, of_outputs)) = built.flags {
                expected.push(vec![of_inputs]);
                built.outputs.push(vec![of_outputs]);
            }
            (built.outputs, built.statement)
        }
    };
    if graph.is_full() {
        return Err("more gates than are built here".to_owned());
    }
    Ok(Compared { graph, expected, found, statement, inputs })
}

impl Compared {
    /// Whether an output is the same gates on both sides.
    pub fn is_shown(&self, output: usize) -> bool {
        let pairs = self.expected[output].iter().zip(&self.found[output]);
        pairs.into_iter().all(|(&a, &b)| self.graph.root(a) == self.graph.root(b))
    }

    /// An output that differs for one of the assignments that were looked at, and the bits of the inputs there.
    pub fn difference(&self) -> Option<(usize, Vec<String>)> {
        let g = &self.graph;
        for (output, (a, b)) in self.expected.iter().zip(&self.found).enumerate() {
            for (&x, &y) in a.iter().zip(b) {
                let (p, q) = (g.sampled(x), g.sampled(y));
                if let Some(word) = (0..graph::WORDS).find(|&w| p[w] != q[w]) {
                    let at = (p[word] ^ q[word]).trailing_zeros();
                    let bit = |lit: &Lit| if g.sampled(*lit)[word] >> at & 1 == 1 { '1' } else { '0' };
                    let inputs = self.inputs.iter().map(|word| word.iter().rev().map(bit).collect());
                    return Some((output, inputs.collect()));
                }
            }
        }
        None
    }
}

/// Builds both sides of a step, with its records.
///
/// # Errors
/// As [`compare`]; a record that does not hold.
pub fn replay(first: &Program, second: &Side<'_>, step: &Step) -> Result<Compared, String> {
    let applied = |graph: &mut Graph, at: usize| {
        let records = step.records.get(&at).map_or(&[][..], Vec::as_slice);
        records.iter().try_for_each(|record| {
            graph.apply(record).map_err(|why| format!("a record behind value {at} does not hold: {why}"))
        })
    };
    let mut compared = compare(first, second, None, &mut |_, _, _| Ok(()), &mut |graph, at, _| applied(graph, at))?;
    applied(&mut compared.graph, AT_THE_END)?;
    Ok(compared)
}

/// What a replay says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every output is the model's; what is said by that.
    Holds(String),
    /// An output that differs (the valid flag, if it is none of the model's), and the bits of each input element there.
    Refuted(usize, Vec<String>),
    /// Outputs that the certificate does not show, of how many.
    NotShown(Vec<usize>, usize),
}

/// Replays a certificate. `program` gives the bytes of a program by its file name.
///
/// # Errors
/// What cannot be read; a record that does not hold.
pub fn check(
    model: &[u8],
    text: &str,
    proof: &str,
    program: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Answer, String> {
    let model = Program::read(model)?;
    let text = Text::read(text)?;
    let certificate = Certificate::read(proof)?;
    let case = certificate.case.as_deref();
    let replayed = steps(&model, &text, &certificate, program);
    if let Ok((shown, statement)) = &replayed
        && shown.iter().all(|&shown| shown)
    {
        return Ok(Answer::Holds(statement.clone()));
    }
    // What is not shown may be wrong.
    let straight = compare(&model, &Side::Text(&text), case, &mut |_, _, _| Ok(()), &mut |_, _, _| Ok(()))?;
    if let Some((output, inputs)) = straight.difference() {
        return Ok(Answer::Refuted(output, inputs));
    }
    let (shown, _) = replayed?;
    let open = shown.iter().enumerate().filter(|(_, shown)| !**shown).map(|(j, _)| j);
    Ok(Answer::NotShown(open.collect(), shown.len()))
}

/// Which outputs are the model's in each step, and what is said of the text.
fn steps(
    model: &Program,
    text: &Text<'_>,
    certificate: &Certificate,
    program: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<(Vec<bool>, String), String> {
    let mut shown = vec![true; model.outputs().len()];
    let mut statement = String::new();
    let mut before = model.clone();
    for step in &certificate.steps {
        let compared = match &step.program {
            Some(name) => {
                let next = Program::read(&program(name)?).map_err(|why| format!("{name}: {why}"))?;
                let compared = replay(&before, &Side::Program(&next), step)?;
                before = next;
                compared
            }
            None => replay(&before, &Side::Text(text), step)?,
        };
        shown.resize(compared.expected.len(), true);
        shown.iter_mut().enumerate().for_each(|(j, shown)| *shown &= compared.is_shown(j));
        statement = compared.statement;
    }
    Ok((shown, statement))
}

/// The program itself: what it says, and its exit code.
pub fn run(arguments: &[String]) -> (u8, String) {
    let [model, text, dir] = arguments else {
        let usage = "Usage: alir2hdl-check MODEL TEXT DIR\n\nReplays the certificate in DIR, as `alir2hdl prove MODEL TEXT --certificate DIR` wrote it,\n\
                     without any search. Exit codes: 0 holds, 1 refuted, 2 unreadable or a record that does not hold,\n\
                     5 not shown by the certificate.\n";
        return (if arguments == ["--help"] { 0 } else { 2 }, usage.to_owned());
    };
    let bytes = |path: &Path| std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()));
    let string = |path: &Path| String::from_utf8(bytes(path)?).map_err(|_| format!("{}: no text", path.display()));
    let dir = Path::new(dir);
    let answer = bytes(Path::new(model)).and_then(|model| {
        check(&model, &string(Path::new(text))?, &string(&dir.join("proof.txt"))?, &|name| bytes(&dir.join(name)))
    });
    match answer {
        Ok(Answer::Holds(statement)) => (0, format!("holds: {statement}\n")),
        Ok(Answer::Refuted(output, inputs)) => {
            (1, format!("refuted: output {output} differs where the input elements are {}\n", inputs.join(" ")))
        }
        Ok(Answer::NotShown(open, all)) => {
            (5, format!("not shown: {} of {all} outputs, the first is output {}\n", open.len(), open[0]))
        }
        Err(why) => (2, format!("unreadable: {why}\n")),
    }
}
