//! `alir2hdl prove`: the file on disk is the model, for every input.

use super::hardware::{InputArg, PolarityArg};
use super::input::{Design, InputArgs};
use super::names::NameArgs;
use super::netlist::NetlistArgs;
use super::proof_effort::ProofEffortArgs;
use super::rtl_files::RtlFileArgs;
use super::{
    ExitStatus, Failure, Global, HeldProgram, machine, machine_proof, print, progress, recorded, rtl_files, schema,
    witness,
};
use crate::compile;
use crate::diag::{Diagnostic, Diagnostics, Place, four_digits};
use crate::files::Batch;
use crate::formats;
use crate::ir::Model;
use crate::prove::aig::Aig;
use crate::prove::engine::{Engine, Limits, WORK};
use crate::prove::equiv::{self, Presence, Report, Request, Verdict};
use crate::prove::gauge::Gauge;
use crate::prove::sat::{Embedded, Proving, Solver};
use crate::prove::{aiger, bench};
use crate::prove::{phases, steps};
use crate::rtl::project::RtlProject;
use crate::rtl::{self, Rtl};
use crate::verify::solver::External;
use crate::verify::{Tools, via};
use std::cell::OnceCell;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Prove a Verilog or VHDL file equal to a model for every input
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl prove model.json.gz out.v
  alir2hdl prove model.json.gz out.vhd --stages 3      latency 3 is claimed too
  alir2hdl prove model.json.gz out.v --certificate proof/
  alir2hdl prove model.json.gz top.v part.v --top top
  alir2hdl prove model.json.gz -f project.f -I include -D WIDTH=8
  alir2hdl prove model.json.gz top.v part.v --via yosys --top top
  alir2hdl prove machine.json.gz out.v        every cycle of a state machine

The file is read as the language standards say, by a reader that knows nothing of our writer. Verdicts: proved (exit
code 0), differs with a counterexample (1), unknown with the cone and the limit reached (5). A file outside the
synthesizable subset is refused (2), never proved.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The Verilog or VHDL files, `-` for stdin
    #[arg(value_name = "HDL", required_unless_present = "lists")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) rtl_files: RtlFileArgs,
    /// Prove what yosys reads (VHDL by ghdl before it) instead of our own front ends
    #[arg(long, value_enum, value_name = "TOOL", hide_possible_values = true,
        conflicts_with_all = ["lists", "include_dirs", "defines"])]
    via: Option<Via>,
    /// Take this module or entity [default: the one that no other uses]
    #[arg(long, value_name = "NAME")]
    pub(super) top: Option<String>,
    /// Expect this many stages [default: what the header comment says, or the file has]
    #[arg(long, visible_alias = "stages", value_name = "N")]
    pub(super) pipeline: Option<u32>,
    /// Expect input registers in front of the first stage
    #[arg(long, requires = "pipeline", hide_short_help = true)]
    pub(super) register_inputs: bool,
    /// Expect output registers after the last stage
    #[arg(long, requires = "pipeline", hide_short_help = true)]
    pub(super) register_outputs: bool,
    /// Expect a sample every K clocks [default: what the header comment says, or 1]
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
    /// Use this SAT solver instead of the embedded one: cadical, kissat or a path
    #[arg(long, value_name = "PROGRAM", hide_short_help = true)]
    solver: Option<String>,
    /// Search a difference of a state machine in this many cycles from power-on [default: 12]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(super) depth: Option<u32>,
    #[command(flatten)]
    netlist: NetlistArgs,
    #[command(flatten)]
    names: NameArgs,
    /// Expect the reset at this level [default: low if its port ends in _n]
    #[arg(long, value_enum, value_name = "LEVEL", help_heading = "Ports", hide_short_help = true)]
    reset_polarity: Option<PolarityArg>,
}

/// A reader that is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Via {
    Yosys,
}

impl Args {
    /// Where the model is.
    pub(super) fn path(&self) -> &Path {
        self.input.path()
    }

    /// Reads the sources for our own front ends.
    ///
    /// # Errors
    /// If they cannot be read, or are not for every input (exit code 2).
    pub(super) fn project(&self) -> Result<RtlProject, Failure> {
        let project = self.rtl_files.load(&self.files)?;
        project.sources().iter().try_for_each(|(path, text)| every_input(path, text))?;
        Ok(project)
    }

    /// Control ports of the design.
    fn control_names(&self) -> equiv::ControlNames {
        self.names.control(self.reset_polarity.map(|p| p == PolarityArg::Low))
    }

    /// Name of the design for messages.
    pub(super) fn design_path(&self) -> &Path {
        self.files.first().map_or_else(|| self.rtl_files.first_list(), PathBuf::as_path)
    }

    /// Returns a constructor of the requested solvers.
    ///
    /// # Errors
    /// If there is no such program (exit code 3), or it is no solver (exit code 2).
    pub(super) fn solvers(&self) -> Result<impl Fn() -> Box<dyn Solver> + use<>, Failure> {
        let proofs = self.certificate.is_some();
        let find = |name: &String| External::find(&Tools::of_environment(), name, proofs).map_err(Failure::of_tool);
        let external = self.solver.as_ref().map(find).transpose()?;
        Ok(move || -> Box<dyn Solver> {
            match (&external, proofs) {
                (Some(external), _) => Box::new(external.clone()),
                (None, true) => Box::new(Proving::default()),
                (None, false) => Box::new(Embedded),
            }
        })
    }

    /// The design in the files, its language, and its source unless it was read otherwise.
    fn design(&self, model: &Model) -> Result<(Rtl, rtl::Language, Option<Arc<str>>), Failure> {
        if self.via.is_none() {
            let project = self.project()?;
            let language = project.language;
            if let Some(rtl) = self.netlist.read(&project, self.top.as_deref())? {
                return Ok((rtl, language, None));
            }
            let request = Request { names: self.control_names(), interval: self.ii, ..Request::default() };
            let fits = |rtl: &Rtl| equiv::check_ports(model, rtl, &request).is_ok();
            let rtl = rtl_files::elaborated(&project, self.top.as_deref(), &fits)?;
            return Ok((rtl, language, Some(project.text)));
        }
        let sources = self.files.iter().map(|path| Ok(via::SourceFile { path: path.clone(), text: text_of(path)? }));
        let sources: Vec<via::SourceFile> = sources.collect::<Result<_, Failure>>()?;
        sources.iter().try_for_each(|source| every_input(&source.path, &source.text))?;
        let language = rtl::Language::of(&sources[0].path, &sources[0].text);
        let rtl = via::yosys(&Tools::of_environment(), &sources, self.top.as_deref()).map_err(Failure::of_tool)?;
        Ok((rtl, language, None))
    }
}

/// The intermediate programs between a model and a generated time-multiplexed RTL file: those that the command in the
/// header comment computes.
fn planned_again(model: &Model, head: &[String]) -> Option<steps::Steps> {
    let spec = super::spec(&compile::options_in_head(head)?).ok()?;
    Some(compile::model(model, &spec).ok()?.reused()?.steps(&spec))
}

/// The recipe of the intermediate programs between a model and RTL: hints that the prover checks, never trusts.
struct Origin<'a> {
    model: &'a Model,
    /// Builds the programs.
    build: Box<dyn Fn() -> Option<steps::Steps> + 'a>,
    /// Once they are built.
    built: OnceCell<Option<steps::Steps>>,
    /// Returns `true` if there is a recipe.
    is_known: bool,
    is_bit_serial: bool,
}

impl<'a> Origin<'a> {
    /// By a witness, or by what the header comment of the RTL states.
    fn new(model: &'a Model, rtl: &'a Rtl, known: Option<&'a witness::Told>) -> Origin<'a> {
        let guessed = compile::steps_of_text(model, &rtl.head);
        let is_bit_serial = compile::goes_bit_by_bit(&rtl.head);
        // Of resource sharing and of bit-serial parts the plan is rebuilt.
        let is_planned = !is_bit_serial && phases::stated_interval(rtl).is_some_and(|interval| interval > 1);
        let is_known = known.is_some() || is_planned || guessed.is_some();
        let build: Box<dyn Fn() -> Option<steps::Steps> + 'a> = match known {
            Some(known) => Box::new(|| Some(known.steps())),
            None if is_planned => Box::new(|| planned_again(model, &rtl.head)),
            None => Box::new(move || guessed.as_ref().and_then(|steps| steps())),
        };
        Origin { model, build, built: OnceCell::new(), is_known, is_bit_serial }
    }

    /// The programs. The proof and its certificate may both need them.
    fn programs(&self) -> Option<steps::Steps> {
        self.built.get_or_init(&self.build).clone()
    }

    /// Proves or refutes that the RTL computes the model; also returns the request as it was used.
    fn prove(&self, rtl: &Rtl, request: Request, solvers: &dyn Fn() -> Box<dyn Solver>) -> (Report, Engine, Request) {
        let is_told = !request.gates_only && self.is_known;
        let request = Request { gates_only: request.gates_only || self.is_bit_serial, ..request };
        let programs = || self.programs();
        let told = is_told.then_some(&programs as &dyn Fn() -> Option<steps::Steps>);
        let (report, engine) = steps::prove(self.model, rtl, told, &request, solvers);
        (report, engine, request)
    }
}

/// The proof of the sub-command about a program and HDL source in memory, with its embedded solver and default budget.
///
/// # Errors
/// If the source cannot be read, or assumes something about its inputs.
pub(super) fn in_memory(
    held: &HeldProgram,
    source: &str,
    language: rtl::Language,
    top: Option<&str>,
    options: &ProofOptions,
) -> Result<Report, Failure> {
    let name = Path::new("source");
    if formats::shows_model(source.as_bytes()) {
        let message = "this is a model, not Verilog or VHDL";
        return Err(in_file(Diagnostic::error("E0911", Place::Whole, message), name));
    }
    every_input(name, source)?;
    let rtl = rtl::read(language, source, top).map_err(|wrong| in_file(wrong, name))?;
    let limits = Limits::default();
    let request = Request {
        latency: options.latency,
        interval: options.interval,
        limits: Limits { sat_steps: options.sat_steps.unwrap_or(limits.sat_steps), ..limits },
        work: Some(options.work.unwrap_or(WORK)),
        gates_only: options.gates_only,
        source: Some(source.into()),
        ..Request::default()
    };
    equiv::check_ports(held.model(), &rtl, &request).map_err(|reason| in_file(other_ports(&reason), name))?;
    let solvers = || -> Box<dyn Solver> { Box::new(Embedded) };
    let (mut report, ..) = Origin::new(held.model(), &rtl, None).prove(&rtl, request, &solvers);
    held.add_lowering(&mut report, &solvers).map_err(Failure::bug)?;
    Ok(report)
}

/// Options of a proof in memory; `None` is the default of the sub-command.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProofOptions {
    /// Latency in clocks that the source is required to have.
    pub latency: Option<u32>,
    /// Initiation interval that the source is required to have.
    pub interval: Option<u32>,
    /// Steps of the SAT solver for one cone.
    pub sat_steps: Option<u64>,
    /// Budget of the run (ticks).
    pub work: Option<u64>,
    /// Compares gates only.
    pub gates_only: bool,
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    let start = Instant::now();
    if args.files.iter().chain([&args.input.model]).filter(|path| path.as_os_str() == "-").count() > 1 {
        let message = "- stands for more than one file, and there is one standard input";
        return Err(Failure::input(Diagnostic::error("E0709", Place::Whole, message).with_help("name the others")));
    }
    let (design, file) = args.input.read_design(global).map_err(|failure| exchanged(args, failure))?;
    let model = match design {
        Design::Model(model) => model,
        Design::Machine(machine) => {
            machine::refuse(args.via.map(|_| "--via").into_iter().chain(args.witness.iter().map(|_| "--witness")))?;
            return machine_proof::run(args, &machine, global);
        }
    };
    if args.depth.is_some() {
        let message = "--depth is for a state machine, and this is none";
        return Err(Failure::input(Diagnostic::error("E0804", Place::Flag("--depth".into()), message)));
    }
    let (rtl, language, source) = args.design(&model)?;
    // A netlist is read into a design, and its text by no other reader.
    let is_netlist = source.is_none() && args.via.is_none();
    let gauge = Arc::new(Gauge::default());
    let effort = args.effort.budget();
    let request = Request {
        latency: args.pipeline.map(|n| n + u32::from(args.register_inputs) + u32::from(args.register_outputs)),
        interval: args.ii,
        presence: args.ii_input.map_or(Presence::Stated, InputArg::presence),
        limits: Limits { sat_steps: effort.sat_steps, ..Limits::default() },
        work: Some(effort.work),
        keep_questions: args.certificate.is_some(),
        // Yosys gives gates, where forms find nothing.
        gates_only: args.gates_only || args.via.is_some(),
        all_rules: false,
        names: args.control_names(),
        source,
        gauge: Some(Arc::clone(&gauge)),
    };
    let bar = progress::proof(&gauge, global);
    let solvers = args.solvers()?;
    let known = args.witness.as_deref().map(|file| witness::read(file, args.input.model_limits())).transpose()?;
    let rtl = match &known {
        Some(known) => known.annotated(&rtl),
        None => rtl,
    };
    equiv::check_ports(&model, &rtl, &request).map_err(|reason| in_file(other_ports(&reason), args.design_path()))?;
    let origin = Origin::new(&model, &rtl, known.as_ref());
    let (mut report, engine, request) = match is_netlist {
        true => {
            let direct = |rtl: &Rtl, request: Request| Origin::new(&model, rtl, None).prove(rtl, request, &solvers);
            args.netlist.prove(&model, &rtl, request, &solvers, &direct)?
        }
        false => origin.prove(&rtl, request, &solvers),
    };
    let programs = || origin.programs();
    drop(bar);
    if let Some(source) = file.source(&model) {
        compile::add_lowering(&*source, &model, &mut report, &solvers).map_err(Failure::bug)?;
    }
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
        recorded::add((args, dir.as_path()), &model, programs, &mut report, &mut batch)?;
        let mut graphs = vec![("model.aig", equiv::model_graph(&model, report.latency))];
        graphs.extend(equiv::miter(&model, &rtl, &request.names, report.latency).map(|g| ("statement.aig", g)));
        certificate(dir, graphs, ("alir2hdl.prove/1", &report), &engine, &mut batch)?;
    }
    let bench_path = testbench(args, language, &model, &rtl, (&request.names, &report), &mut batch)?;
    super::commit(batch)?;
    let seconds = start.elapsed().as_secs_f64();
    let shown = if args.json { json(&report, seconds) } else { people(&report, bench_path.as_deref(), seconds) };
    print(shown.as_bytes())?;
    Ok(match report.verdict {
        Verdict::Proved => ExitStatus::Ok,
        Verdict::Differs { .. } => ExitStatus::Mismatch,
        Verdict::Unknown { .. } => ExitStatus::Undecided,
    })
}

/// The contents of an RTL file.
///
/// # Errors
/// If it cannot be read, or is a model, or in UTF-16 (exit code 2).
pub(super) fn text_of(file: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().lock().read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|e| Failure::io(file, "read", &e))?;
    if formats::shows_model(&bytes) && !rtl::netlist::is_json(&bytes) {
        let message = "this is a model, not Verilog or VHDL";
        let help = "the order is `alir2hdl prove MODEL FILE`; `alir2hdl diff A B` compares two models";
        return Err(in_file(Diagnostic::error("E0911", Place::Whole, message).with_help(help), file));
    }
    rtl::decoded(bytes).map_err(|wrong| in_file(wrong, file))
}

/// Returns the failure for a command line whose model is no model: if it is RTL, the arguments were swapped.
fn exchanged(args: &Args, failure: Failure) -> Failure {
    let [file] = &args.files[..] else { return failure };
    let head = |path: &Path| {
        let mut head = Vec::new();
        let read = std::fs::File::open(path).and_then(|file| file.take(1 << 12).read_to_end(&mut head));
        read.map(|_| head).unwrap_or_default()
    };
    if !formats::shows_model(&head(file)) || formats::shows_model(&head(args.input.path())) {
        return failure;
    }
    let message = format!("{} is a model: the model stands first, then Verilog or VHDL", file.display());
    let help = format!("alir2hdl prove {} {}", file.display(), args.input.path().display());
    Failure::input(Diagnostic::error("E0911", Place::Whole, message).with_help(help))
}

/// Builds a failure from problems of an RTL file.
pub(super) fn in_file(wrong: impl Into<Diagnostics>, file: &Path) -> Failure {
    Failure::input(wrong.into().in_file(file))
}

/// The error that a file has other ports than the model: it is the file of another one.
pub(super) fn other_ports(reason: &str) -> Diagnostic {
    Diagnostic::error("E0930", Place::Whole, reason)
        .with_help("give the file of this model; --port names control ports, --top takes another module")
}

/// Returns `true` if a line of the header comment restricts the file to some inputs.
fn assumes(line: &str) -> bool {
    line.ends_with(crate::compile::ASSUMPTION)
}

/// Refuses a file that is not for every input.
fn every_input(path: &Path, source: &str) -> Result<(), Failure> {
    if source.lines().take_while(|line| line.starts_with("//") || line.starts_with("--")).any(assumes) {
        let message = "the file says in its head that it assumes the inputs to stay in their declared intervals";
        let help = "a proof is about every input: write the file without --assume-intervals, or run `verify --assume-intervals`";
        return Err(in_file(Diagnostic::error("E0907", Place::Whole, message).with_help(help), path));
    }
    Ok(())
}

/// README next to the files of a certificate.
const HOW_TO_CHECK: &str = "\
How to check this proof again, without the program that made it
----------------------------------------------------------------

proof.txt       for `alir2hdl-check MODEL TEXT DIR`, a program of its own that shares nothing with the prover: which gates are
                equal, and why, over the programs that each optimisation left (program_*.json.gz). It searches for nothing and
                says `holds` (exit code 0), `refuted` (1), `unreadable` (2), or which outputs are not shown (5). It
                reads ALIR and ALIRFSM JSON, and Verilog and VHDL as alir2hdl writes them; report.json says in its
                notes what it will be shown.
statement.aig   the whole statement as an AIGER graph: its output `differ` is 1 where file and model differ. `abc -c
                \"read statement.aig; iprove; print_status\"`, or any other prover, shows that it never is. (For a pipeline the
                file is unrolled: model_inp belongs to the moment that the result belongs to, port[bit]@n to n clocks before
                the result. For a state machine the file is product.aig, with registers, from power-on.)
model.aig       the model alone, for a comparison with what another tool makes of the file, registers included.
question_*.aig  each question that went to a SAT solver: an equality inside of the statement, over values that were shown equal
                before (inputs called n17). The output is never 1.
question_*.cnf  the same as clauses, in DIMACS.
question_*.drat why they contradict one another: `drat-trim question_00000.cnf question_00000.drat`.
report.json     the verdict, and how many bits were shown by which method. What was shown by integer forms or by trying all
                assignments has no file of its own: statement.aig holds it.
";

/// Writes what an outsider needs to check a proof again: graphs of what is to be shown, by file name; the questions
/// that went to the solver, each a graph without registers whose output is never 1, its clauses and the proof; the
/// report, behind the name of its schema.
pub(super) fn certificate(
    dir: &Path,
    graphs: Vec<(&str, Aig)>,
    (name, report): (&'static str, &impl serde::Serialize),
    engine: &Engine,
    batch: &mut Batch,
) -> Result<(), Failure> {
    std::fs::create_dir_all(dir).map_err(|e| Failure::io(dir, "create", &e))?;
    let mut add = |name: String, bytes: &[u8]| {
        let path = dir.join(name);
        batch.add(&path, bytes).map_err(|e| Failure::io(&path, "write", &e))
    };
    for (name, graph) in graphs {
        add(name.into(), &aiger::write(&graph, aiger::Encoding::Binary))?;
    }
    for (i, question) in engine.questions.iter().enumerate() {
        add(format!("question_{i:05}.aig"), &aiger::write(&question.miter, aiger::Encoding::Binary))?;
        add(format!("question_{i:05}.cnf"), &question.dimacs)?;
        if let Some(proof) = &question.proof {
            add(format!("question_{i:05}.drat"), proof)?;
        }
    }
    let text = schema::document(name, report);
    add("README.txt".into(), HOW_TO_CHECK.as_bytes())?;
    add("report.json".into(), text.as_bytes())
}

/// Writes the testbench of a counterexample, if there is one and a place for it.
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
    // It applies one sample, to a pipeline.
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

fn people(report: &Report, bench: Option<&Path>, seconds: f64) -> String {
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
            line(format!("differs: {}", crate::diag::printable(reason)));
            if let Some(c) = counterexample {
                let inputs: Vec<String> = c.inputs.iter().map(ToString::to_string).collect();
                line(format!("  inputs (codes): {}", inputs.join(" ")));
                line(format!("  output {}: the file gives {}, the model {}", c.output, c.found, c.expected));
                if let Some((op, signal)) = &c.first_operation {
                    line(format!("  first operation that differs: {op} (signal {})", crate::diag::printable(signal)));
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
    line(format!(
        "  {} operations matched by name, {} not; bits by structure {}, affine forms {}, all assignments {}, SAT {}, sweeping {}; {} gates",
        report.operations_matched,
        report.operations_unmatched,
        b.structural,
        b.affine,
        b.exhaustive,
        b.sat,
        b.swept,
        report.gates
    ));
    for note in &report.notes {
        line(format!("  {note}"));
    }
    out
}
