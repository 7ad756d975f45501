//! Complete verification: from a design and a request, through hardware, samples and simulations, to the results.

use super::cycles::Cycles;
use super::foreign::Foreign;
use super::own::{self, ExpectedMismatches, Files, Numbers, Own, OwnRun, Subject};
use super::runner::{self, Event, Part, SimulationSettings, Verification, Work};
use super::sim::Tools;
use super::stream::Streams;
use super::vectors::Vectors;
use crate::compile::{self, Error, Hardware, Passes, Spec};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::machine::Machine;
use alir_interp::samples::output_ports;
use alir_opt::schedule::Effort;
use num_bigint::BigInt;

/// Request for a verification, without the hardware options.
pub struct VerifyRequest<'a> {
    /// Samples of the user; `None`: random samples.
    pub own: Option<Files<'a>>,
    /// Number of random samples, or cycles.
    pub count: usize,
    /// Seed of random samples and stalls.
    pub seed: u64,
    /// Third-party hardware that is simulated instead of the generated hardware, and the name of its module.
    pub foreign: Option<(Foreign, String)>,
    /// Simulators that run.
    pub parts: Vec<Part>,
    /// Settings of the simulations.
    pub settings: SimulationSettings<'a>,
    /// Search path of external tools.
    pub tools: &'a Tools,
}

impl VerifyRequest<'_> {
    /// Returns the options of the hardware that determines ports and latency. For third-party hardware, costly
    /// optimisations are disabled, as only its ports and latency are needed.
    fn spec(&self, spec: &Spec) -> Spec {
        let mut spec = spec.clone();
        if let Some((_, top)) = &self.foreign {
            spec.module.top = compile::Top::Named(top.clone());
            // With an initiation interval above 1, the latency depends on all options.
            if spec.interval().is_none() {
                spec.optimisation.passes = Passes::Level(0);
                spec.optimisation.retime = None;
                spec.pipeline.effort = Effort::Fast;
            }
        }
        spec
    }

    fn check_ports(&self, hardware: &Hardware<'_>) -> Result<(), Error> {
        let Some((foreign, top)) = &self.foreign else { return Ok(()) };
        foreign.check_ports(top, &hardware.netlist, hardware.axis.as_ref())?;
        if hardware.spec().interval().is_some() && !foreign.has_timing_of(&hardware.netlist) {
            let message = "the initiation interval and latency of the file are not those of its command today";
            let place = Place::Flag("--rtl".into());
            let error = Diagnostic::error("E1011", place, message).with_help(Foreign::PROVE_INTERVALS);
            return Err(Error::request(error));
        }
        Ok(())
    }
}

/// Returns the user's samples, which must be valid for the hardware of a [`Spec`].
///
/// # Errors
/// Problems of the files; a sample outside of the intervals that the hardware assumes.
pub fn own_vectors(subject: Subject<'_>, files: &Files<'_>, spec: &Spec) -> Result<Own, Diagnostic> {
    let model = subject.model;
    let own = subject.read(files)?;
    if spec.optimisation.assume_intervals
        && let Some((sample, input)) = Vectors::outside(model, &own.vectors.inputs)
    {
        let message = format!("sample {sample}, input {input} is outside of the interval that the model declares");
        return Err(Diagnostic::error("E0302", Place::Flag("--assume-intervals".into()), message)
            .with_help("without the option nothing is assumed of the inputs"));
    }
    Ok(own)
}

/// Simulates the generated hardware of a program, or third-party hardware, and compares it with the source of the
/// program.
///
/// # Errors
/// Problems of the request, the samples or the files.
pub fn verify_model(
    subject: Subject<'_>,
    spec: &Spec,
    request: VerifyRequest<'_>,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Verification, Error> {
    let (model, source) = (subject.model, subject.source);
    let hardware = compile::model(model, &request.spec(spec))?;
    request.check_ports(&hardware)?;
    let (count, seed) = (request.count, request.seed);
    // Real numbers are shown next to raw integer values if the files have real numbers and the ports define them.
    let has_reals = request.own.is_some_and(|files| !files.codes) && matches!(subject.numbers, Numbers::Ports(_));
    let own = request.own.as_ref().map(|files| own_vectors(subject, files, spec)).transpose()?;
    let is_own = own.is_some();
    // Expected values are those of the source, or of the model as it was read, so that lowering and optimisation are
    // verified too.
    let (vectors, dissents, notes) = match own {
        Some(own) => (own.vectors, own.dissents, own.notes),
        None => {
            (Vectors::random(model, source, spec, count, seed)?, ExpectedMismatches::default(), Diagnostics::default())
        }
    };
    if hardware.axis.is_some() {
        spec.reject_input_ranges("a wrapper's simulation")?;
    }
    let cycles = match &request.foreign {
        // Only generated hardware is known to output zeros after a reset.
        Some(_) => Cycles::plan(&hardware.netlist.interface, &vectors, seed),
        None => Cycles::new(&hardware.netlist, &vectors, seed),
    };
    let streams = |axis| match source {
        _ if is_own => Ok(Streams::plan_own(&vectors, axis, seed)),
        Some(source) => Streams::plan_lowered(model, source, axis, count, seed),
        None => Ok(Streams::plan(model, axis, count, seed)),
    };
    let streams = hardware.axis.as_ref().map(streams).transpose()?;
    let ports = output_ports(model);
    let real =
        move |element: usize, code: &BigInt| ports.get(element).map_or(f64::NAN, |port| port.real_of_code(code).0);
    let work = Work {
        hardware: &hardware,
        cycles: &cycles,
        streams: streams.as_ref(),
        foreign: request.foreign.as_ref().map(|(foreign, _)| foreign),
        dissents,
        real: has_reals.then_some(&real),
    };
    let found = runner::simulate(request.parts, &request.settings, request.tools, work, watch)?;
    Ok(found.with_notes(notes))
}

/// Verifies a state machine, cycle by cycle from power-on.
///
/// # Errors
/// Problems of the request, the samples or the files.
pub fn verify_machine(
    machine: &Machine,
    spec: &Spec,
    request: VerifyRequest<'_>,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Verification, Error> {
    let hardware = compile::machine(machine, &request.spec(spec))?;
    request.check_ports(&hardware)?;
    // Expected values are those of the state machine as it was read, so that optimisation is verified too.
    let OwnRun { run, dissents, notes } = own::machine_run(machine, request.own.as_ref(), request.count, request.seed)?;
    let cycles = run.cycles(&hardware.netlist.interface);
    let work = Work {
        hardware: &hardware,
        cycles: &cycles,
        streams: None,
        foreign: request.foreign.as_ref().map(|(foreign, _)| foreign),
        dissents,
        real: None,
    };
    let found = runner::simulate(request.parts, &request.settings, request.tools, work, watch)?;
    Ok(found.with_notes(notes))
}
