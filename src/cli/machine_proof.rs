//! `alir2hdl prove` for stateful designs.

use super::prove::{Args, write_certificate};
use super::rtl_files::{OpenRtl, in_file};
use super::{ExitStatus, Failure, Global, machine, print, progress, schema};
use crate::diag::{four_digits, printable};
use crate::files::Batch;
use crate::ir::machine::Machine;
use crate::prove::machine::{MachineReport, MachineRequest, Verdict, check_ports, testbench};
use crate::prove::{self, ProgressCounter, certificate, other_ports};
use crate::rtl::{self, Rtl};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Proves that an RTL file is equal to a state machine.
///
/// # Errors
/// If the file cannot be elaborated, or if an option does not apply to state machines (exit code 2).
pub(super) fn run(args: &Args, design: &Machine, read: OpenRtl, global: Global) -> Result<ExitStatus, Failure> {
    let start = Instant::now();
    let given = [
        ("--pipeline", args.pipeline.is_some()),
        ("--register-inputs", args.register_inputs),
        ("--register-outputs", args.register_outputs),
        ("--ii", args.ii.is_some()),
        ("--ii-input", args.ii_input.is_some()),
    ];
    machine::refuse_flags(given.into_iter().filter_map(|(flag, given)| given.then_some(flag)))?;
    let read = read.transpose()?.ok_or_else(|| Failure::bug("--via was refused before".to_owned()))?;
    let (language, is_netlist) = (read.project.language, read.is_netlist());
    if !is_netlist {
        args.netlist.refuse()?;
    }
    let elaborated = read.elaborated(&|rtl| check_ports(design, rtl).is_ok())?;
    let rtl = &elaborated.rtl;
    check_ports(design, rtl).map_err(|reason| in_file(other_ports(&reason), args.design_path()))?;
    let counter = Arc::new(ProgressCounter::default());
    let request = MachineRequest { progress: Some(Arc::clone(&counter)), ..args.options().machine_request() };
    let bar = progress::proof(&counter, global);
    let solvers = args.solvers()?;
    let (mut report, engine) = match is_netlist {
        true => args.netlist.prove_machine(design, rtl, &request, &solvers)?,
        false => prove::state_machine(design, rtl, &request, &solvers),
    };
    report.notes.extend(elaborated.note());
    drop(bar);
    let mut batch = Batch::default();
    if let Some(dir) = &args.certificate {
        let sources = match is_netlist {
            true => Err("the checker reads no netlists".to_owned()),
            false => args.sources(),
        };
        let sources = sources.as_ref().map(|(content, source)| (&content[..], &source[..])).map_err(String::clone);
        let top = elaborated.top(args.top.as_deref());
        let files = certificate::for_machine(design, rtl, sources, top, (&mut report, &engine));
        write_certificate(dir, files, ("alir2hdl.prove-machine/1", &report), &mut batch)?;
    }
    let bench = bench(args, language, design, rtl, &report, &mut batch)?;
    super::commit(batch)?;
    let seconds = start.elapsed().as_secs_f64();
    let shown = if args.json {
        json(&report, seconds)
    } else {
        to_human_text(&report, bench.as_deref(), seconds, global.verbose)
    };
    print(shown.as_bytes())?;
    Ok(match report.verdict {
        Verdict::Proved => ExitStatus::Ok,
        Verdict::Differs { .. } => ExitStatus::Mismatch,
        Verdict::Unknown { .. } => ExitStatus::Undecided,
    })
}

/// Adds the testbench of a counterexample to the files to be written, if there is a counterexample and `--testbench` is
/// given. Returns the path of the testbench.
fn bench(
    args: &Args,
    language: rtl::Language,
    design: &Machine,
    rtl: &Rtl,
    report: &MachineReport,
    batch: &mut Batch,
) -> Result<Option<PathBuf>, Failure> {
    let Verdict::Differs { counterexample: Some(c), .. } = &report.verdict else { return Ok(None) };
    let Some((path, text)) = args.testbench.as_ref().zip(testbench(language, design, rtl, c)) else { return Ok(None) };
    batch.add(path, text.as_bytes()).map_err(|e| Failure::io(path, "write", &e))?;
    Ok(Some(path.clone()))
}

/// Returns the report as the document of `--json`.
fn json(report: &MachineReport, seconds: f64) -> String {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.insert("seconds".into(), seconds.into());
    }
    schema::document("alir2hdl.prove-machine/1", &value)
}

/// Returns the report as text.
fn to_human_text(report: &MachineReport, bench: Option<&Path>, seconds: f64, verbose: bool) -> String {
    let mut lines = Vec::new();
    match &report.verdict {
        Verdict::Proved => {
            lines.push(format!(
                "proved: equal to the machine for every input, in every cycle ({} s)",
                four_digits(seconds)
            ));
        }
        Verdict::Differs { reason, counterexample } => {
            lines.push(format!("differs: {}", printable(reason)));
            if let Some(c) = counterexample {
                // The last cycles are the most useful ones; all are in --json and in the testbench.
                let first = c.inputs.len().saturating_sub(CYCLES);
                if first > 0 {
                    lines.push(format!("  cycles 0 to {} are left out", first - 1));
                }
                for (cycle, row) in c.inputs.iter().enumerate().skip(first) {
                    let codes: Vec<String> = row.iter().map(ToString::to_string).collect();
                    lines.push(format!("  cycle {cycle}, inputs (codes): {}", codes.join(" ")));
                }
                match bench {
                    Some(path) => lines.push(format!("  testbench: {}", path.display())),
                    None => lines.push("  --testbench FILE writes a testbench that shows it".into()),
                }
            }
        }
        Verdict::Unknown { reason } => lines.push(format!("unknown: {}", printable(reason))),
    }
    for register in &report.registers {
        let mut parts = Vec::new();
        if register.held > 0 {
            parts.push(format!("{} held by {}", register.held, register.file.join(", ")));
        }
        let others = [
            (register.constant, "constant"),
            (register.piped, "in a pipeline"),
            (register.absent, "that no output needs"),
        ];
        for (bits, what) in others {
            if bits > 0 {
                parts.push(format!("{bits} {what}"));
            }
        }
        lines.push(format!("  {}, {} bits: {}", printable(&register.name), register.bits, parts.join("; ")));
    }
    let b = &report.bits;
    if verbose {
        lines.push(format!(
        "  {} operations matched by name; {} rounds; bits by structure {}, affine forms {}, all assignments {}, SAT \
         {}; {} gates",
        report.operations_matched, report.rounds, b.structural, b.affine, b.exhaustive, b.sat, report.gates
    ));
    }
    lines.push(format!(
        "  {} register bits in the file, {} in the machine",
        report.register_bits, report.register_bits_in_machine
    ));
    lines.extend(report.notes.iter().map(|note| format!("  {}", printable(note))));
    lines.join("\n") + "\n"
}

/// Number of cycles of a counterexample that are printed.
const CYCLES: usize = 8;
