//! Generation of a whole project: from a design and a request, through hardware and samples, to the files of the
//! folder.

use super::{FolderContents, FolderSpec, Samples, package, written};
use crate::compile::{self, Error, Hardware};
use crate::verify::own::{self, ExpectedMismatches, Files, OwnRun, Subject};
use crate::verify::verification::own_vectors;
use crate::verify::{Bench, Cycles, Streams, Testbench, Vectors};
use alir_core::diag::Diagnostics;
use alir_core::files::FileSet;
use alir_core::ir::machine::Machine;
use alir_hw::emit::Language;
use alir_hw::netlist::Interface;
use std::io;
use std::path::Path;

/// Languages of the RTL in a project.
const LANGUAGES: [Language; 2] = [Language::Verilog, Language::Vhdl];

/// Request for a project.
pub struct ProjectRequest<'a> {
    /// The folder.
    pub folder: FolderSpec<'a>,
    /// The hardware.
    pub hardware: &'a compile::Spec,
    /// User's samples for the testbenches; `None`: random samples.
    pub own: Option<Files<'a>>,
    /// Number of random samples, or cycles.
    pub count: usize,
    /// Seed of random samples and stalls.
    pub seed: u64,
    /// Checksum of the design's file.
    pub checksum: String,
    /// Semantics of the ports' raw integer values and encoding of real inputs, if the types do not define both
    /// (networks, matrices).
    pub network: Option<serde_json::Value>,
}

/// A project.
pub struct ProjectFiles {
    /// Files of the project.
    pub files: FileSet,
    /// Summary of the result, for people.
    pub about: String,
    /// Differences between the user's expected values and the model; with any difference, the testbenches fail.
    pub dissents: ExpectedMismatches,
    /// Notes about the user's samples, about names that differ from the source, and about parts that the hardware does
    /// not fit.
    pub notes: Diagnostics,
    /// Interface of the hardware.
    pub interface: Interface,
}

/// Generates the project of a program.
///
/// # Errors
/// Problems of the request or the samples.
pub fn model_project(subject: Subject<'_>, request: &ProjectRequest<'_>) -> Result<ProjectFiles, Error> {
    let (model, source, spec) = (subject.model, subject.source, request.hardware);
    let hardware = compile::model(model, spec)?;
    if hardware.axis.is_some() {
        spec.reject_input_ranges("a wrapper's testbench")?;
    }
    let (count, seed) = (request.count, request.seed);
    let own = request.own.as_ref().map(|files| own_vectors(subject, files, spec)).transpose()?;
    let is_own = own.is_some();
    let (vectors, dissents, mut notes) = match own {
        Some(own) => (own.vectors, own.dissents, own.notes),
        None => {
            (Vectors::random(model, source, spec, count, seed)?, ExpectedMismatches::default(), Diagnostics::default())
        }
    };
    let lanes = [Cycles::new(&hardware.netlist, &vectors, seed)];
    let pulses = Bench { lanes: &lanes, vcd: false };
    let streams = |axis| match source {
        _ if is_own => Ok(Streams::plan_own(&vectors, axis, seed)),
        Some(source) => Streams::plan_lowered(model, source, axis, count, seed),
        None => Ok(Streams::plan(model, axis, count, seed)),
    };
    let streams = hardware.axis.as_ref().map(streams).transpose()?;
    let bench = streams.as_ref().map_or(&pulses as &dyn Testbench, |streams| streams);
    let latency = hardware.netlist.interface.latency;
    let estimate = hardware.estimate();
    let about = match &hardware.axis {
        Some(axis) => {
            format!("latency {} with the AXI4-Stream wrapper, {latency} of the pipeline in it", axis.latency())
        }
        None => format!("latency {latency}"),
    };
    let about = about + &request.folder.clock_comparison(&estimate);
    let files = files(request, &hardware, bench, Samples::Model(&vectors));
    notes.0.extend(hardware.renamed());
    notes.0.extend(request.folder.missed_clocks(&hardware));
    notes.0.extend(request.folder.too_small(&hardware));
    Ok(ProjectFiles { files, about, dissents, notes, interface: hardware.netlist.interface.clone() })
}

/// Generates the project of a state machine. Its testbenches apply a run from power-on.
///
/// # Errors
/// Problems of the request or the samples.
pub fn machine_project(machine: &Machine, request: &ProjectRequest<'_>) -> Result<ProjectFiles, Error> {
    let hardware = compile::machine(machine, request.hardware)?;
    let OwnRun { run, dissents, mut notes } =
        own::machine_run(machine, request.own.as_ref(), request.count, request.seed)?;
    let lanes = [run.clone().cycles(&hardware.netlist.interface)];
    let about = format!("{} register bits", hardware.netlist.register_bits());
    let files = files(request, &hardware, &Bench { lanes: &lanes, vcd: false }, Samples::Machine(&run));
    notes.0.extend(hardware.renamed());
    notes.0.extend(request.folder.too_small(&hardware));
    Ok(ProjectFiles { files, about, dissents, notes, interface: hardware.netlist.interface.clone() })
}

fn files(
    request: &ProjectRequest<'_>,
    hardware: &Hardware<'_>,
    bench: &dyn Testbench,
    samples: Samples<'_>,
) -> FileSet {
    let facts = hardware.sidecar(&LANGUAGES, request.checksum.clone()).with_network(request.network.clone());
    let design = FolderContents {
        netlist: &hardware.netlist,
        axis: hardware.axis.as_ref(),
        verilog: hardware.text(Language::Verilog),
        vhdl: hardware.text(Language::Vhdl),
        bench,
        samples,
        facts: serde_json::to_value(facts).expect("plain data"),
        estimate: serde_json::to_value(hardware.estimate()).expect("plain data"),
        provenance: request.hardware.provenance.as_ref(),
    };
    package(&request.folder, &design)
}

/// Writes a project into its folder, and deletes files of an earlier run that are no longer part of the project.
///
/// # Errors
/// If the folder cannot be written.
pub fn write(files: &FileSet, folder: &Path) -> io::Result<()> {
    let earlier = written(folder);
    files.write_to(folder)?;
    for stale in earlier.iter().filter(|name| !files.0.contains_key(*name)) {
        // A stale file would be misleading; a failure to delete it is harmless.
        let _ = alir_core::files::remove(&folder.join(stale));
    }
    Ok(())
}
