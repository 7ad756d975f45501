//! `alir2hdl prove`: proves RTL equal to a model.

use super::hardware::{InputArg, PolarityArg};
use super::input::{Design, FileFacts, InputArgs};
use super::names::NameArgs;
use super::netlist::NetlistArgs;
use super::proof_effort::ProofEffortArgs;
use super::rtl_files::{ElaboratedDesign, OpenRtl, ReadRtl, RtlFileArgs, in_file, text_of};
use super::{
    ExitStatus, Failure, Global, earlier_names, machine, machine_proof, print, progress, rtl_files, rtl_graph, schema,
    witness,
};
use crate::compile::{self, Spec};
use crate::diag::{Diagnostic, Place, four_digits, printable, shell_word};
use crate::files::Batch;
use crate::formats;
use crate::ir::Model;
use crate::prove::equiv::{self, Report, Request, Verdict};
use crate::prove::options::ProofOptions;
use crate::prove::sat::{Embedded, Proving, Solver};
use crate::prove::{self, Hints, ProgramProof, ProgressCounter, RtlFile, bench, certificate, other_ports};
use crate::rtl::project::RtlProject;
use crate::rtl::{self, Rtl};
use crate::verify::solver::External;
use crate::verify::{Tools, via};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// Prove a Verilog or VHDL file equal to a model for every input
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl prove model.json.gz out.v
  alir2hdl prove model.json.gz out.vhd --stages 3      also proves latency 3
  alir2hdl prove model.json.gz out.v --certificate proof/
  alir2hdl prove model.json.gz top.v part.v --top top
  alir2hdl prove model.json.gz -f project.f -I include -D WIDTH=8
  alir2hdl prove model.json.gz top.v part.v --via yosys --top top
  alir2hdl prove machine.json.gz out.v        every cycle of a state machine

The file is parsed by the language standards, independently of the code generator. Verdicts: proved (exit
code 0), differs with a counterexample (1), unknown with the cone and the limit reached (5). A file outside the
synthesizable subset is refused (2), never proved.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The Verilog or VHDL files, `-` for stdin
    #[arg(value_name = "HDL", required_unless_present = "lists")]
    pub(super) files: Vec<PathBuf>,
    /// Prove what yosys reads (VHDL through ghdl) instead of the built-in front ends
    #[arg(long, value_enum, value_name = "TOOL", hide_possible_values = true,
        conflicts_with_all = ["lists", "include_dirs", "library_dirs", "defines"])]
    via: Option<Via>,
    /// Take this module or entity [default: the one that no other uses]
    #[arg(long, value_name = "NAME")]
    pub(super) top: Option<String>,
    /// Expect this many stages [default: as the header comment states, or detected]
    #[arg(long, visible_alias = "stages", value_name = "N")]
    pub(super) pipeline: Option<u32>,
    /// Expect input registers in front of the first stage
    #[arg(long, requires = "pipeline", hide_short_help = true)]
    pub(super) register_inputs: bool,
    /// Expect output registers after the last stage
    #[arg(long, requires = "pipeline", hide_short_help = true)]
    pub(super) register_outputs: bool,
    /// Expect initiation interval K [default: as the header comment states, or 1]
    #[arg(long, value_name = "K", hide_short_help = true)]
    pub(super) ii: Option<u32>,
    /// Expect inputs at the accepting edge (captured), for all K clocks (held), or in transfers (beats)
    #[arg(long, value_enum, value_name = "HOW", hide_short_help = true, hide_possible_values = true)]
    pub(super) ii_input: Option<InputArg>,
    /// Write a certificate for `alir2hdl-check` and other provers into this folder
    #[arg(long, value_name = "DIR")]
    pub(super) certificate: Option<PathBuf>,
    /// Read what --witness of `generate` wrote: an untrusted hint that may shorten the proof
    #[arg(long = "witness", id = "witness_file", value_name = "FILE", hide_short_help = true)]
    witness: Option<PathBuf>,
    /// Write a testbench that shows a difference in a simulator
    #[arg(long, value_name = "FILE")]
    pub(super) testbench: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Compare gates only, without integer forms (slower)
    #[arg(long, hide_short_help = true)]
    pub(super) gates_only: bool,
    #[command(flatten)]
    pub(super) effort: ProofEffortArgs,
    /// Use this many threads [default: all processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), hide_short_help = true)]
    threads: Option<u16>,
    /// Use this SAT solver instead of the embedded one: cadical, kissat or a path
    #[arg(long, value_name = "PROGRAM", hide_short_help = true)]
    solver: Option<String>,
    /// Search a difference of a state machine in this many cycles from power-on [default: 12]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(super) depth: Option<u32>,
    #[command(flatten)]
    pub(super) rtl_files: RtlFileArgs,
    #[command(flatten)]
    pub(super) netlist: NetlistArgs,
    #[command(flatten)]
    names: NameArgs,
    /// Expect the reset at this level [default: low if its port ends in _n]
    #[arg(long, value_enum, value_name = "LEVEL", help_heading = "Ports", hide_short_help = true)]
    reset_polarity: Option<PolarityArg>,
}

/// External front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Via {
    Yosys,
}

impl Args {
    /// Returns the path of the model.
    pub(super) fn path(&self) -> &Path {
        self.input.path()
    }

    /// Reads the sources for the built-in front ends.
    ///
    /// # Errors
    /// If a source cannot be read, or if its RTL assumes input ranges (exit code 2).
    pub(super) fn project(&self) -> Result<RtlProject, Failure> {
        let project = self.rtl_files.load(&self.files)?;
        project.sources().iter().try_for_each(|(path, text)| reject_input_ranges(path, text))?;
        Ok(project)
    }

    /// Returns the name of the design for messages.
    pub(super) fn design_path(&self) -> &Path {
        self.files.first().map_or_else(|| self.rtl_files.first_list(), PathBuf::as_path)
    }

    /// Returns the language in which `generate` would write a file with this name.
    fn generated_language(&self, language: rtl::Language) -> rtl::Language {
        rtl_graph::generated_language(self.design_path(), language)
    }

    /// Returns the options of the proof.
    pub(super) fn options(&self) -> ProofOptions {
        let registers = u32::from(self.register_inputs) + u32::from(self.register_outputs);
        ProofOptions {
            top: self.top.clone(),
            latency: self.pipeline.map(|n| n + registers),
            interval: self.ii,
            input_timing: self.ii_input.map(InputArg::input_timing),
            names: self.names.options(),
            reset_low: self.reset_polarity.map(|p| p == PolarityArg::Low),
            budget: self.effort.budget(),
            gates_only: self.gates_only,
            depth: self.depth,
            certificate: self.certificate.is_some(),
            threads: self.threads.and_then(|threads| NonZeroUsize::new(usize::from(threads))),
        }
    }

    /// Returns the bytes of the model, and the RTL source.
    pub(super) fn sources(&self) -> Result<(Vec<u8>, String), String> {
        if self.path().as_os_str() == "-" {
            return Err("the model is no file".into());
        }
        let [file] = &self.files[..] else { return Err("there is more than one RTL file".into()) };
        if !self.rtl_files.is_empty() {
            return Err("macros and included files are not in the RTL file".into());
        }
        if file.as_os_str() == "-" {
            return Err("the text is no file".into());
        }
        let bytes = std::fs::read(self.path()).map_err(|why| why.to_string())?;
        Ok((bytes, text_of(file).map_err(|_| "the text cannot be read again")?))
    }

    /// Returns a constructor of the requested solvers.
    ///
    /// # Errors
    /// If the solver is not installed (exit code 3), or if the program is not a SAT solver (exit code 2).
    pub(super) fn solvers(&self) -> Result<impl Fn() -> Box<dyn Solver> + Sync + use<>, Failure> {
        let proofs = self.certificate.is_some();
        let find =
            |name: &String| External::find(&Tools::from_environment(), name, proofs).map_err(Failure::external_tool);
        let external = self.solver.as_ref().map(find).transpose()?;
        Ok(move || -> Box<dyn Solver> {
            match (&external, proofs) {
                (Some(external), _) => Box::new(external.clone()),
                (None, true) => Box::new(Proving::default()),
                (None, false) => Box::new(Embedded),
            }
        })
    }

    /// Reads the files with the built-in front ends; `None` if another program reads them.
    fn rtl(&self) -> OpenRtl {
        let read = || {
            let project = self.project()?;
            let netlist = self.netlist.read(&project, self.top.as_deref())?;
            Ok(ReadRtl::new(project, netlist, self.top.as_deref()))
        };
        self.via.is_none().then(read)
    }

    /// Elaborates the design in the files. Also returns its language and, if the built-in front ends read RTL, its
    /// source.
    fn design(
        &self,
        model: &Model,
        rtl: OpenRtl,
    ) -> Result<(ElaboratedDesign, rtl::Language, Option<Arc<str>>), Failure> {
        if let Some(read) = rtl.transpose()? {
            let (language, text) = (read.project.language, Arc::clone(&read.project.text));
            let source = (!read.is_netlist()).then_some(text);
            let request = self.options().request();
            let fits = |rtl: &Rtl| equiv::check_ports(model, rtl, &request).is_ok();
            return Ok((read.elaborated(&fits)?, language, source));
        }
        let sources = self.files.iter().map(|path| Ok(via::SourceFile { path: path.clone(), text: text_of(path)? }));
        let sources: Vec<via::SourceFile> = sources.collect::<Result<_, Failure>>()?;
        sources.iter().try_for_each(|source| reject_input_ranges(&source.path, &source.text))?;
        let language = rtl::Language::detect(&sources[0].path, &sources[0].text);
        let rtl =
            via::yosys(&Tools::from_environment(), &sources, self.top.as_deref()).map_err(Failure::external_tool)?;
        Ok((ElaboratedDesign { rtl, outer: None }, language, None))
    }
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let start = Instant::now();
    if args.files.iter().chain([&args.input.model]).filter(|path| path.as_os_str() == "-").count() > 1 {
        let message = "- stands for more than one file, and there is one standard input";
        return Err(Failure::input(Diagnostic::error("E0709", Place::Whole, message).with_help("name the others")));
    }
    super::project::refuse(args.options().names.problems())?;
    let (design, read) = read_both(args, global);
    let (design, file) = design.map_err(|failure| swapped_args_hint(args, failure))?;
    let model = match design {
        Design::Model(model) => model,
        Design::Machine(machine) => {
            machine::refuse_flags(
                args.via.map(|_| "--via").into_iter().chain(args.witness.iter().map(|_| "--witness")),
            )?;
            return machine_proof::run(args, &machine, read, global);
        }
    };
    if args.depth.is_some() {
        let message = "--depth is for a state machine, and this is none";
        return Err(Failure::input(Diagnostic::error("E0804", Place::Flag("--depth".into()), message)));
    }
    let (elaborated, language, source) = args.design(&model, read)?;
    let (note, top) = (elaborated.note(), elaborated.top(args.top.as_deref()).map(str::to_owned));
    let rtl = elaborated.rtl;
    // Only a netlist, and RTL that `--via` reads, has no source here.
    let is_netlist = source.is_none() && args.via.is_none();
    if !is_netlist {
        args.netlist.refuse()?;
    }
    let counter = Arc::new(ProgressCounter::default());
    let options = args.options();
    let request = Request {
        // Yosys returns gates, in which integer forms cannot be recognised.
        gates_only: options.gates_only || args.via.is_some(),
        source,
        progress: Some(Arc::clone(&counter)),
        ..options.request()
    };
    let bar = progress::proof(&counter, global);
    let solvers = args.solvers()?;
    let known = args.witness.as_deref().map(|file| witness::read(file, args.input.model_limits())).transpose()?;
    let rtl = match &known {
        Some(known) => known.annotated(&rtl),
        None => rtl,
    };
    equiv::check_ports(&model, &rtl, &request).map_err(|reason| in_file(other_ports(&reason), args.design_path()))?;
    let hints = match &known {
        Some(known) => {
            let is_bit_serial = compile::is_bit_serial(&rtl.head);
            Hints::from_programs(|| Some(known.steps())).with_bit_serial(is_bit_serial)
        }
        None => Hints::from_header(&model, &rtl),
    };
    let mut proof = match is_netlist {
        true => {
            let direct = |rtl: &Rtl, request: Request| {
                let proof = prove::program(&model, rtl, Hints::from_header(&model, rtl), request, &solvers);
                (proof.report, proof.engine, proof.request)
            };
            let (report, engine, request) = args.netlist.prove(&model, &rtl, request, &solvers, &direct)?;
            ProgramProof::without_programs(report, engine, request)
        }
        false => prove::program(&model, &rtl, hints, request, &solvers),
    };
    if args.via.is_none() && !is_netlist {
        locate_difference((&model, &file), (&rtl, args.generated_language(language)), &mut proof, &solvers);
    }
    drop(bar);
    prove::lowering(&model, file.source(&model).as_deref(), &mut proof.report, &solvers).map_err(Failure::bug)?;
    let report = &mut proof.report;
    report.notes.extend(note);
    if matches!(report.verdict, Verdict::Differs { .. }) && rtl.head.iter().any(|line| line == via::INCOMPLETE) {
        let reason =
            "what yosys reads differs, but ghdl left out values of a choice on the way: the file may be right".into();
        report.verdict = Verdict::Unknown { reason };
    }
    if args.via.is_some() {
        report.notes.push("the file was read by yosys; an asynchronous reset counts from the clock edge on".into());
    }
    let mut batch = Batch::default();
    if let Some(dir) = &args.certificate {
        let is_lowered = file.source(&model).is_some();
        let sources = args.sources();
        let sources = sources.as_ref().map(|(content, source)| (&content[..], &source[..])).map_err(String::clone);
        let files = certificate::for_program(&model, &rtl, is_lowered, sources, top.as_deref(), &mut proof);
        write_certificate(dir, files, ("alir2hdl.prove/1", &proof.report), &mut batch)?;
    }
    let ProgramProof { report, request, .. } = proof;
    let bench_path = testbench(args, language, &model, &rtl, (&request.names, &report), &mut batch)?;
    super::commit(batch)?;
    let seconds = start.elapsed().as_secs_f64();
    let shown = if args.json {
        json(&report, seconds)
    } else {
        to_human_text(args, &report, bench_path.as_deref(), seconds, global.verbose)
    };
    print(shown.as_bytes())?;
    Ok(match report.verdict {
        Verdict::Proved => ExitStatus::Ok,
        Verdict::Differs { .. } => ExitStatus::Mismatch,
        Verdict::Unknown { .. } => ExitStatus::Undecided,
    })
}

/// Reads the model and the RTL, at the same time unless only one thread is wanted.
fn read_both(args: &Args, global: Global) -> (Result<(Design, FileFacts), Failure>, OpenRtl) {
    thread::scope(|scope| {
        let read = || args.rtl();
        let start = || thread::Builder::new().spawn_scoped(scope, read).ok();
        let reader = (args.threads != Some(1)).then(start).flatten();
        let design = read_design(args, global);
        let read = reader.map_or_else(|| args.rtl(), |reader| reader.join().unwrap_or_else(|e| resume_unwind(e)));
        (design, read)
    })
}

/// Reads the model; solves matrices with the latency limit in the header comment of the RTL, unless the command line
/// has one.
///
/// The header comment is an untrusted hint: if no solution has this latency, the matrix is solved without a limit.
fn read_design(args: &Args, global: Global) -> Result<(Design, FileFacts), Failure> {
    let head = args.files.first().map(|file| rtl_files::header_comment(file)).unwrap_or_default();
    let stated = args.input.with_latency_of(&compile::command_in_head(&head));
    match stated.map(|input| input.read_design(global)) {
        Some(Ok(design)) => Ok(design),
        _ => args.input.read_design(global),
    }
}

/// Names the differing operation if the file was generated from an earlier version of the model, whose operations have
/// other numbers than those of this model.
fn locate_difference(
    (model, file): (&Model, &FileFacts),
    (rtl, language): (&Rtl, rtl::Language),
    proof: &mut ProgramProof<'_>,
    solvers: prove::Solvers<'_>,
) {
    let Verdict::Differs { counterexample: Some(shown), .. } = &mut proof.report.verdict else { return };
    let is_earlier = |line: &String| line.trim().strip_prefix("model: SHA-256 ").is_some_and(|sum| sum != file.sha256);
    if !rtl.head.iter().any(is_earlier) {
        return;
    }
    shown.first_operation = None;
    // The header comment is a hint; without a valid command in it, no operation is named.
    let Some(spec) = compile::spec_from_header(&rtl.head) else { return };
    let Ok(names) = file.names_in_rtl(model, Spec { prove: false, ..spec }, (rtl, language)) else { return };
    let Some((renumbered, inserted)) = earlier_names::renumbered(rtl, model.nodes().len(), &names) else { return };
    // The source contains the old names.
    let request = Request { source: None, progress: None, ..proof.request.clone() };
    let again = prove::program(model, &renumbered, Hints::none(), request, solvers).report;
    if let Verdict::Differs { counterexample: Some(mut c), reason } = again.verdict {
        if let Some((_, signal)) = &mut c.first_operation {
            let at = renumbered.signals().iter().position(|renamed| renamed.name == *signal);
            at.into_iter().for_each(|at| signal.clone_from(&rtl.signals()[at].name));
        }
        proof.report.verdict = Verdict::Differs { counterexample: Some(c), reason };
    }
    if !inserted.is_empty() {
        let listed: Vec<String> = inserted.iter().take(LISTED).map(ToString::to_string).collect();
        let more = if inserted.len() > LISTED { ", ..." } else { "" };
        let message = format!("operations of the model without a signal in the file: {}{more}", listed.join(", "));
        proof.report.notes.push(message);
    }
}

/// Maximum number of operations in a message.
const LISTED: usize = 8;

/// Improves the error for a model file that is no model: if it is RTL, the arguments were swapped, or two RTL files
/// should be compared.
fn swapped_args_hint(args: &Args, failure: Failure) -> Failure {
    let [file] = &args.files[..] else { return failure };
    let model = args.input.path();
    let is_model = |path: &Path| formats::shows_model(&rtl_files::beginning(path, 1 << 12));
    if is_model(model) {
        return failure;
    }
    let [first, second] = [model, file].map(|path| path.display());
    let refuse = |message: String, help: String| {
        Failure::input(Diagnostic::error("E0911", Place::Whole, message).with_help(help))
    };
    if is_model(file) {
        let message = format!("{second} is a model: the order is model, then Verilog or VHDL");
        return refuse(message, format!("alir2hdl prove {second} {first}"));
    }
    if model.exists() && rtl_files::is_rtl(model) && rtl_files::is_rtl(file) {
        let message = format!("{first} is RTL; `prove` compares a model with RTL");
        let help = format!("alir2hdl diff {first} {second}   (signals whose drivers differ)");
        return refuse(message, help);
    }
    failure
}

/// Rejects RTL that assumes input ranges.
fn reject_input_ranges(path: &Path, source: &str) -> Result<(), Failure> {
    RtlFile::check(source).map_err(|problem| in_file(problem, path))
}

/// Writes the files of a certificate, and the report as a JSON document with the schema `name`.
pub(super) fn write_certificate(
    dir: &Path,
    files: certificate::Files,
    (name, report): (&'static str, &impl serde::Serialize),
    batch: &mut Batch,
) -> Result<(), Failure> {
    std::fs::create_dir_all(dir).map_err(|e| Failure::io(dir, "create", &e))?;
    let report = ("report.json".to_owned(), schema::document(name, report).into_bytes());
    for (name, bytes) in files.into_iter().chain([report]) {
        let path = dir.join(name);
        batch.add(&path, &bytes).map_err(|e| Failure::io(&path, "write", &e))?;
    }
    Ok(())
}

/// Writes the testbench of a counterexample, if there is one and `--testbench` is given.
fn testbench(
    args: &Args,
    language: rtl::Language,
    model: &Model,
    rtl: &Rtl,
    (names, report): (&equiv::ControlNames, &Report),
    batch: &mut Batch,
) -> Result<Option<PathBuf>, Failure> {
    let Verdict::Differs { counterexample: Some(c), .. } = &report.verdict else { return Ok(None) };
    let Some(path) = &args.testbench else { return Ok(None) };
    // The testbench applies one sample to a pipeline.
    if report.interval > 1 {
        return Ok(None);
    }
    let Some(text) = bench::testbench(language, model, rtl, names, report.latency, c) else { return Ok(None) };
    batch.add(path, text.as_bytes()).map_err(|e| Failure::io(path, "write", &e))?;
    Ok(Some(path.clone()))
}

fn json(report: &Report, seconds: f64) -> String {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.insert("seconds".into(), seconds.into());
    }
    schema::document("alir2hdl.prove/1", &value)
}

/// Maximum number of input elements of a counterexample for which a command to replay it is printed.
const REPLAYED: usize = 64;

fn to_human_text(args: &Args, report: &Report, bench: Option<&Path>, seconds: f64, verbose: bool) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    match &report.verdict {
        Verdict::Proved => {
            let latency = match report.latency {
                0 => "combinational".to_owned(),
                1 => "latency 1 clock".to_owned(),
                n => format!("latency {n} clocks"),
            };
            let interval = match report.interval {
                1 => String::new(),
                n if report.input_beats > 1 => format!(", a sample every {n} clocks in {} beats", report.input_beats),
                n if report.input_hold > 1 => format!(", a sample every {n} clocks that stays on its ports"),
                n => format!(", a sample every {n} clocks"),
            };
            line(format!(
                "proved: equal to the model for every input, {latency}{interval} ({} s)",
                four_digits(seconds)
            ));
        }
        Verdict::Differs { reason, counterexample } => {
            line(format!("differs: {}", printable(reason)));
            if let Some(c) = counterexample {
                let inputs: Vec<String> = c.inputs.iter().map(ToString::to_string).collect();
                line(format!("  inputs (codes): {}", inputs.join(" ")));
                line(format!("  output {}: the file gives {}, the model {}", c.output, c.found, c.expected));
                if let Some((op, signal)) = &c.first_operation {
                    line(format!("  first operation that differs: {op} (signal {})", printable(signal)));
                }
                if inputs.len() <= REPLAYED && args.path().as_os_str() != "-" {
                    let model = shell_word(&args.path().to_string_lossy());
                    let sample = shell_word(&inputs.join(","));
                    line(format!("  replay: echo {sample} | alir2hdl run {} - --codes", printable(&model)));
                }
                match bench {
                    Some(path) => line(format!("  testbench: {}", path.display())),
                    None if report.interval > 1 => {
                        line("  (no testbench is written for hardware that takes a sample every few clocks)".into());
                    }
                    None => line("  --testbench FILE writes a testbench that shows it".into()),
                }
            }
        }
        Verdict::Unknown { reason } => line(format!("unknown: {reason}")),
    }
    let b = &report.bits;
    if verbose {
        line(format!(
            "  {} operations matched by name, {} not; bits by structure {}, affine forms {}, all assignments {}, SAT \
             {}, sweeping {}; {} gates",
            report.operations_matched,
            report.operations_unmatched,
            b.structural,
            b.affine,
            b.exhaustive,
            b.sat,
            b.swept,
            report.gates
        ));
    }
    for note in &report.notes {
        line(format!("  {note}"));
    }
    out
}
