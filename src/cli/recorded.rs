//! What `prove --certificate` writes for `alir2hdl-check`: `proof.txt`, and the programs that it goes over.

use super::Failure;
use super::prove::{Args, text_of};
use crate::compile;
use crate::files::Batch;
use crate::formats::{self, Target};
use crate::ir::Model;
use crate::ir::machine::Machine;
use crate::prove::certify::{self, Recorded};
use crate::prove::equiv::{Report, Verdict};
use crate::prove::machine::{self, MachineReport};
use crate::prove::steps::Steps;
use alir2hdl_check::certificate::{Certificate, Step};
use alir2hdl_check::induction::Induction;
use alir2hdl_check::machine::Machine as Read;
use alir2hdl_check::program::Program;
use alir2hdl_check::text::Text;
use std::path::Path;

/// Adds the files to the batch, and to the report's notes what the checker will be shown, or why there is nothing for
/// it.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn add(
    (args, dir): (&Args, &Path),
    model: &Model,
    steps: impl FnOnce() -> Option<Steps>,
    report: &mut Report,
    batch: &mut Batch,
) -> Result<(), Failure> {
    let programs = || steps().map(|steps| steps.programs).unwrap_or_default();
    report.notes.push(added(dir, made(args, model, programs, report), batch)?);
    Ok(())
}

/// Like `add`, for a state machine.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn add_machine(
    (args, dir): (&Args, &Path),
    (machine, head): (&Machine, &[String]),
    report: &mut MachineReport,
    batch: &mut Batch,
) -> Result<(), Failure> {
    report.notes.push(added(dir, made_of_machine(args, machine, head, report), batch)?);
    Ok(())
}

/// Adds the files, if there are any, and says what they are for.
fn added(dir: &Path, made: Result<Made, String>, batch: &mut Batch) -> Result<String, Failure> {
    let (note, files) = match made {
        Ok(made) => made,
        Err(why) => return Ok(format!("the certificate has no proof.txt for alir2hdl-check: {why}")),
    };
    std::fs::create_dir_all(dir).map_err(|e| Failure::io(dir, "create", &e))?;
    for (name, bytes) in files {
        let path = dir.join(name);
        batch.add(&path, &bytes).map_err(|e| Failure::io(&path, "write", &e))?;
    }
    Ok(note)
}

/// The bytes of the model, and the RTL.
fn read_again(args: &Args) -> Result<(Vec<u8>, String), String> {
    if args.path().as_os_str() == "-" {
        return Err("the model is no file".into());
    }
    let [file] = &args.files[..] else { return Err("there is more than one RTL file".into()) };
    if !args.rtl_files.is_empty() {
        return Err("macros and included files are not in the RTL file".into());
    }
    if file.as_os_str() == "-" {
        return Err("the text is no file".into());
    }
    let bytes = std::fs::read(args.path()).map_err(|why| why.to_string())?;
    Ok((bytes, text_of(file).map_err(|_| "the text cannot be read again")?))
}

/// The RTL as the checker reads it, and the name of its top module if that is not the last one.
///
/// # Errors
/// What the checker objects to.
fn read_text<'a>(args: &Args, source: &'a str) -> Result<(Text<'a>, Option<String>), String> {
    let text = Text::read(source)?;
    match args.top.clone().filter(|top| top != text.name()) {
        Some(top) => Ok((text.of(&top)?, Some(top))),
        None => Ok((text, None)),
    }
}

/// `proof.txt` with a difference.
fn of_case(certificate: Certificate) -> Made {
    let steps = vec![Step::default()];
    let proof = certify::text(&Certificate { steps, ..certificate }).into_bytes();
    ("proof.txt has the difference for alir2hdl-check".into(), vec![("proof.txt".into(), proof)])
}

/// Leaves the programs that a certificate goes over.
fn retain_named(files: &mut Vec<(String, Vec<u8>)>, certificate: &Certificate) {
    files.retain(|(name, _)| certificate.steps.iter().any(|step| step.program.as_ref() == Some(name)));
}

/// Returns the note about the steps that the checker receives.
fn note_of(shown: &[bool], what: &str) -> String {
    match shown.iter().filter(|&&shown| shown).count() {
        all if all == shown.len() => "alir2hdl-check can replay the proof of every output from proof.txt".into(),
        some => format!("alir2hdl-check can replay the proof of {some} of {} {what} from proof.txt", shown.len()),
    }
}

/// The files for a state machine; why there are none.
fn made_of_machine(args: &Args, machine: &Machine, head: &[String], report: &MachineReport) -> Result<Made, String> {
    if matches!(report.verdict, Verdict::Unknown { .. } | Verdict::Differs { counterexample: None, .. }) {
        return Err("nothing was decided of values".into());
    }
    let (bytes, source) = read_again(args)?;
    let (read, (text, top)) = (Read::read(&bytes)?, read_text(args, &source)?);
    if let Verdict::Differs { counterexample: Some(c), .. } = &report.verdict {
        let (case, induction) = (Some(machine::case(machine, &read, c)), Some(Induction::default()));
        return Ok(of_case(Certificate { case, induction, top, ..Certificate::default() }));
    }
    let why = "registers are equal only where the machine defines them, or were moved and wait for an enable";
    let found = report.correspondence.as_ref().ok_or(why)?;
    let spec = compile::options_in_head(head).and_then(|options| super::spec(&options).ok());
    let between = spec.map(|spec| compile::machines_between(machine, &spec)).unwrap_or_default();
    let (beside, packed): (Vec<_>, Vec<_>) = machine::beside(&read, &between, found).into_iter().unzip();
    let Recorded { mut certificate, shown, .. } = machine::record(&read, &beside, &text, found)?;
    let mut files: Vec<(String, Vec<u8>)> = beside.into_iter().map(|beside| beside.0).zip(packed).collect();
    certificate.top = top;
    retain_named(&mut files, &certificate);
    files.push(("proof.txt".into(), certify::text(&certificate).into_bytes()));
    Ok((note_of(&shown, "outputs and registers"), files))
}

/// A note, and files by name.
type Made = (String, Vec<(String, Vec<u8>)>);

/// The files; why there are none.
fn made(args: &Args, model: &Model, programs: impl FnOnce() -> Vec<Model>, report: &Report) -> Result<Made, String> {
    let case = match &report.verdict {
        Verdict::Proved => None,
        Verdict::Differs { counterexample: Some(c), .. } if c.others.is_empty() => Some(bits_of(model, c)),
        Verdict::Differs { .. } => return Err("the difference is none of values".into()),
        Verdict::Unknown { .. } => return Err("nothing was decided".into()),
    };
    let rhythm = report.rhythm();
    if rhythm.is_none() && report.interval > 1 {
        return Err("inputs stay for some of the clocks between two samples".into());
    }
    let (bytes, source) = read_again(args)?;
    let (read, (text, top)) = (Program::read(&bytes)?, read_text(args, &source)?);
    if case.is_some() {
        return Ok(of_case(Certificate { case, rhythm, top, ..Certificate::default() }));
    }
    let (mut files, mut between) = (Vec::new(), Vec::new());
    for program in programs() {
        // Without a program that the format can represent, the step leads from the program before it to the one after
        // it.
        let Ok(prepared) = formats::prepare(&program, Target::Alir4) else { continue };
        let mut packed = Vec::new();
        prepared.write_gzip(&mut packed).map_err(|why| why.to_string())?;
        let name = format!("program_{:02}.json.gz", between.len() + 1);
        between.push((name.clone(), Program::read(&packed)?));
        files.push((name, packed));
    }
    let Recorded { mut certificate, shown, .. } = certify::record(&read, &between, &text, rhythm.as_ref())?;
    certificate.top = top;
    retain_named(&mut files, &certificate);
    files.push(("proof.txt".into(), certify::text(&certificate).into_bytes()));
    Ok((note_of(&shown, "outputs"), files))
}

/// The bits of all inputs of a counterexample, low ones first, one element after the other.
fn bits_of(model: &Model, c: &crate::prove::equiv::Counterexample) -> Vec<bool> {
    let elements = c.inputs.iter().zip(model.input_kifs());
    elements.flat_map(|(code, kif)| (0..u64::from(kif.width())).map(move |i| code.bit(i))).collect()
}
