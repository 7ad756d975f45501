//! Certificates: `proof.txt` and its intermediate programs for `alir2hdl-check`, graphs and queries for other
//! provers.

use super::ProgramProof;
use crate::compile;
use alir_core::ir::Model;
use alir_core::ir::machine::Machine;
use alir_formats::{self as formats, Target};
use alir_hdl::Rtl;
use alir_prove::aig::Aig;
use alir_prove::aiger;
use alir_prove::certify::{self, Recorded};
use alir_prove::engine::Engine;
use alir_prove::equiv::{self, Counterexample, Report, Verdict};
use alir_prove::machine::{self, MachineReport};
use alir_prove::sat::Embedded;
use alir2hdl_check::certificate::{Certificate, Step};
use alir2hdl_check::induction::Induction;
use alir2hdl_check::machine::Machine as CheckedMachine;
use alir2hdl_check::program::Program;
use alir2hdl_check::text::Text;

/// Files by name.
pub type Files = Vec<(String, Vec<u8>)>;

/// Files for the checker, and the note about the outputs that it can check.
struct Recording {
    /// Note for the report.
    note: String,
    /// The files.
    files: Files,
}

/// Reason that there are no files for the checker of a kernel or a network, which it does not read.
const LOWERED: &str = "it reads only ALIR; prove the file that `alir2hdl convert` writes";

/// Returns the certificate of a proof about a program, and adds a note to the report. `sources` are the bytes of the
/// design's file and the RTL, or the reason that they are not available.
pub fn for_program(
    model: &Model,
    rtl: &Rtl,
    is_lowered: bool,
    sources: Result<(&[u8], &str), String>,
    top: Option<&str>,
    proof: &mut ProgramProof<'_>,
) -> Files {
    let mut files = graphs_of_program(model, rtl, proof);
    let sources = if is_lowered { Err(LOWERED.to_owned()) } else { sources };
    let recording = sources.and_then(|sources| record_program(model, sources, top, || proof.programs(), &proof.report));
    proof.report.notes.push(add_files(recording, &mut files));
    files
}

/// Returns the certificate of a proof about a state machine, and adds a note to the report; `sources` as for
/// [`for_program`].
pub fn for_machine(
    design: &Machine,
    rtl: &Rtl,
    sources: Result<(&[u8], &str), String>,
    top: Option<&str>,
    (report, engine): (&mut MachineReport, &Engine),
) -> Files {
    let mut files = graphs_of_machine(design, rtl, engine);
    let recording = sources.and_then(|sources| record_machine(design, sources, top, &rtl.head, report));
    report.notes.push(add_files(recording, &mut files));
    files
}

/// Adds the files for the checker; returns the note for the report, which states the reason if there are none.
fn add_files(recording: Result<Recording, String>, files: &mut Files) -> String {
    match recording {
        Ok(recording) => {
            files.extend(recording.files);
            recording.note
        }
        Err(why) => format!("the certificate has no proof.txt for alir2hdl-check: {why}"),
    }
}

/// Returns the RTL as the checker parses it, and the name of its top module if that is not the last module.
///
/// # Errors
/// Errors of the checker.
fn parse_rtl<'a>(source: &'a str, top: Option<&str>) -> Result<(Text<'a>, Option<String>), String> {
    let text = Text::read(source)?;
    match top.filter(|top| *top != text.name()) {
        Some(top) => Ok((text.elaborate(top)?, Some(top.to_owned()))),
        None => Ok((text, None)),
    }
}

/// Returns `proof.txt` with a counterexample.
fn difference(certificate: Certificate) -> Recording {
    let steps = vec![Step::default()];
    let proof = certify::text(&Certificate { steps, ..certificate }).into_bytes();
    Recording {
        note: "proof.txt has the difference for alir2hdl-check".into(),
        files: vec![("proof.txt".into(), proof)],
    }
}

/// Keeps only the programs that a certificate names.
fn retain_named(files: &mut Files, certificate: &Certificate) {
    files.retain(|(name, _)| certificate.steps.iter().any(|step| step.program.as_ref() == Some(name)));
}

/// Returns the note about the steps that the checker receives.
fn note_of(shown: &[bool], what: &str) -> String {
    match shown.iter().filter(|&&shown| shown).count() {
        all if all == shown.len() => "alir2hdl-check can check the proof of every output from proof.txt".into(),
        some => format!("alir2hdl-check can check the proof of {some} of {} {what} from proof.txt", shown.len()),
    }
}

/// Returns the files for a state machine; `(content, source)` are the bytes of the design's file and the RTL.
///
/// # Errors
/// The reason that there are none.
fn record_machine(
    machine: &Machine,
    (content, source): (&[u8], &str),
    top: Option<&str>,
    head: &[String],
    report: &MachineReport,
) -> Result<Recording, String> {
    use machine::Verdict;
    if matches!(report.verdict, Verdict::Unknown { .. } | Verdict::Differs { counterexample: None, .. }) {
        return Err("no proof or counterexample".into());
    }
    let (read, (text, top)) = (CheckedMachine::read(content)?, parse_rtl(source, top)?);
    if let Verdict::Differs { counterexample: Some(c), .. } = &report.verdict {
        let (case, induction) = (Some(machine::case(machine, &read, c)), Some(Induction::default()));
        return Ok(difference(Certificate { case, induction, top, ..Certificate::default() }));
    }
    let why = "registers are equal only where they are defined, or were retimed under an enable";
    let found = report.correspondence.as_ref().ok_or(why)?;
    let between = compile::spec_from_header(head).map(|spec| compile::intermediate_machines(machine, &spec));
    let between = between.unwrap_or_default();
    let (side_programs, packed): (Vec<_>, Vec<_>) = machine::beside(&read, &between, found).into_iter().unzip();
    let Recorded { mut certificate, shown, .. } = machine::record(&read, &side_programs, &text, found)?;
    let mut files: Files = side_programs.into_iter().map(|program| program.0).zip(packed).collect();
    certificate.top = top;
    retain_named(&mut files, &certificate);
    files.push(("proof.txt".into(), certify::text(&certificate).into_bytes()));
    Ok(Recording { note: note_of(&shown, "outputs and registers"), files })
}

/// Returns the files for a program; `(content, source)` are the bytes of the design's file and the RTL.
///
/// # Errors
/// The reason that there are none.
fn record_program(
    model: &Model,
    (content, source): (&[u8], &str),
    top: Option<&str>,
    programs: impl FnOnce() -> Vec<Model>,
    report: &Report,
) -> Result<Recording, String> {
    let case = match &report.verdict {
        Verdict::Proved => None,
        Verdict::Differs { counterexample: Some(c), .. } if c.others.is_empty() => Some(bits_of(model, c)),
        Verdict::Differs { .. } => return Err("no single-sample counterexample".into()),
        Verdict::Unknown { .. } => return Err("nothing was decided".into()),
    };
    let sample_timing = report.sample_timing();
    if sample_timing.is_none() && report.interval > 1 {
        return Err("inputs are stable for part of the interval only".into());
    }
    let (read, (text, top)) = (Program::read(content)?, parse_rtl(source, top)?);
    if case.is_some() {
        return Ok(difference(Certificate { case, sample_timing, top, ..Certificate::default() }));
    }
    let (mut files, mut between) = (Files::new(), Vec::new());
    for program in programs() {
        // If the format cannot represent a program, the step leads from the program before it to the program after it.
        let Ok(prepared) = formats::prepare(&program, Target::Alir4) else { continue };
        let mut packed = Vec::new();
        prepared.write_gzip(&mut packed).map_err(|why| why.to_string())?;
        let name = format!("program_{:02}.json.gz", between.len() + 1);
        between.push((name.clone(), Program::read(&packed)?));
        files.push((name, packed));
    }
    let Recorded { mut certificate, shown, .. } = certify::record(&read, &between, &text, sample_timing.as_ref())?;
    certificate.top = top;
    retain_named(&mut files, &certificate);
    files.push(("proof.txt".into(), certify::text(&certificate).into_bytes()));
    Ok(Recording { note: note_of(&shown, "outputs"), files })
}

/// Returns the bits of all inputs of a counterexample, least significant bit first, one element after the other.
fn bits_of(model: &Model, c: &Counterexample) -> Vec<bool> {
    let elements = c.inputs.iter().zip(model.input_kifs());
    elements.flat_map(|(code, kif)| (0..u64::from(kif.width())).map(move |i| code.bit(i))).collect()
}

/// README for the files of a certificate.
const HOW_TO_CHECK: &str = "\
How to check this proof without its prover
------------------------------------------

proof.txt       Input of `alir2hdl-check MODEL RTL DIR`, a separate program that uses no code of the prover and never
                searches. It lists equal gates with reasons, over the intermediate programs (program_*.json.gz).
                Results: `holds` (exit code 0), `refuted` (1), `unreadable` (2), `not shown` with the outputs (5). It
                reads ALIR and ALIRFSM JSON, and generated Verilog and VHDL; notes in report.json state what it checks.
statement.aig   The theorem as an AIGER graph: output `differ` is 1 where file and model differ. `abc -c
                \"read statement.aig; iprove; print_status\"` or another prover shows that it is never 1. A pipeline is
                unrolled: model_inp are the inputs of the compared result, port[bit]@n those n cycles before it.
                For a state machine the file is product.aig, with registers, from power-on.
model.aig       The model alone, with registers, for a comparison with what another tool reads.
question_*.aig  A SAT query: an equality within the theorem, over values proved equal before (inputs n17). Its output
                is never 1.
question_*.cnf  The same query as clauses, in DIMACS.
question_*.drat Its refutation: `drat-trim question_00000.cnf question_00000.drat`.
report.json     Verdict, and bits proved by each method. Integer forms and exhaustive evaluation have no files of their
                own; statement.aig covers them.
";

/// Returns the graphs of a proof about a program, the queries to the SAT solver, and the README.
fn graphs_of_program(model: &Model, rtl: &Rtl, proof: &ProgramProof<'_>) -> Files {
    let latency = proof.report.latency;
    let mut graphs = vec![("model.aig", equiv::model_graph(model, latency))];
    graphs.extend(equiv::miter(model, rtl, &proof.request.names, latency).map(|graph| ("statement.aig", graph)));
    graphs_and_questions(graphs, &proof.engine)
}

/// Returns the product of a state machine and its RTL as a graph with registers whose output is never 1 from power-on,
/// the queries to the SAT solver, and the README.
fn graphs_of_machine(design: &Machine, rtl: &Rtl, engine: &Engine) -> Files {
    let product = machine::product(design, rtl, Box::new(Embedded)).ok();
    graphs_and_questions(product.map(|graph| ("product.aig", graph)).into_iter().collect(), engine)
}

/// Returns the graphs and queries as files. Each query is a graph without registers whose output is never 1, its
/// clauses and its proof.
fn graphs_and_questions(graphs: Vec<(&str, Aig)>, engine: &Engine) -> Files {
    let binary = |graph: &Aig| aiger::write(graph, aiger::Encoding::Binary);
    let mut files: Files = graphs.into_iter().map(|(name, graph)| (name.to_owned(), binary(&graph))).collect();
    for (i, question) in engine.questions.iter().enumerate() {
        files.push((format!("question_{i:05}.aig"), binary(&question.miter)));
        files.push((format!("question_{i:05}.cnf"), question.dimacs.clone()));
        files.extend(question.proof.clone().map(|proof| (format!("question_{i:05}.drat"), proof)));
    }
    files.push(("README.txt".into(), HOW_TO_CHECK.as_bytes().to_vec()));
    files
}
