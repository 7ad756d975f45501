//! What `prove --certificate` writes for `alir2hdl-check`: `proof.txt`, and the programs that it goes over.

use super::Failure;
use super::prove::{Args, text_of};
use crate::files::Batch;
use crate::formats::{self, Target};
use crate::ir::Model;
use crate::prove::certify::{self, Recorded};
use crate::prove::equiv::{Report, Verdict};
use crate::prove::steps::Steps;
use alir2hdl_check::certificate::{Certificate, Step};
use alir2hdl_check::clocks::Rhythm;
use alir2hdl_check::program::Program;
use alir2hdl_check::text::Text;
use std::path::Path;

/// Adds the files to the batch, and to the report's notes what the checker will be shown, or why there is nothing for it.
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
    let note = match made(args, model, programs, report) {
        Ok((note, files)) => {
            for (name, bytes) in files {
                let path = dir.join(name);
                batch.add(&path, &bytes).map_err(|e| Failure::io(&path, "write", &e))?;
            }
            note
        }
        Err(why) => format!("the certificate has no proof.txt for alir2hdl-check: {why}"),
    };
    report.notes.push(note);
    Ok(())
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
    if args.path().as_os_str() == "-" {
        return Err("the model is no file".into());
    }
    if report.input_beats > 1 {
        return Err("the text takes a sample in several beats".into());
    }
    let rhythm = (report.interval > 1).then_some(Rhythm {
        interval: report.interval as usize,
        latency: report.latency as usize,
        is_held: report.input_hold > 1,
    });
    let file = args.file().map_err(|_| "there is more than one text")?;
    let bytes = std::fs::read(args.path()).map_err(|why| why.to_string())?;
    let source = text_of(file).map_err(|_| "the text cannot be read again")?;
    let (read, text) = (Program::read(&bytes)?, Text::read(&source)?);
    if case.is_some() {
        let steps = vec![Step::default()];
        let proof = certify::text(&Certificate { steps, rhythm, case }).into_bytes();
        return Ok(("proof.txt has the difference for alir2hdl-check".into(), vec![("proof.txt".into(), proof)]));
    }
    let (mut files, mut between) = (Vec::new(), Vec::new());
    for program in programs() {
        // Without a program that the form cannot say, the step is from the one before it to the one behind it.
        let Ok(prepared) = formats::prepare(&program, Target::Alir4) else { continue };
        let mut packed = Vec::new();
        prepared.write_gzip(&mut packed).map_err(|why| why.to_string())?;
        let name = format!("program_{:02}.json.gz", between.len() + 1);
        between.push((name.clone(), Program::read(&packed)?));
        files.push((name, packed));
    }
    let Recorded { certificate, shown } = certify::record(&read, &between, &text, rhythm)?;
    files.retain(|(name, _)| certificate.steps.iter().any(|step| step.program.as_ref() == Some(name)));
    files.push(("proof.txt".into(), certify::text(&certificate).into_bytes()));
    let note = match shown.iter().filter(|&&shown| shown).count() {
        all if all == shown.len() => "alir2hdl-check can replay the proof of every output from proof.txt".into(),
        some => format!("alir2hdl-check can replay the proof of {some} of {} outputs from proof.txt", shown.len()),
    };
    Ok((note, files))
}

/// The bits of all inputs of a counterexample, low ones first, one element behind the other.
fn bits_of(model: &Model, c: &crate::prove::equiv::Counterexample) -> Vec<bool> {
    let elements = c.inputs.iter().zip(model.input_kifs());
    elements.flat_map(|(code, kif)| (0..u64::from(kif.width())).map(move |i| code.bit(i))).collect()
}
