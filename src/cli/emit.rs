//! `alir2hdl generate`, the default sub-command: writes the Verilog, VHDL or C++ of a model.

use super::hardware::{PipelineArgs, PortArgs};
use super::idle::{GivenOptions, Registers, saves_little, stages_without_logic, warnings};
use super::input::{Design, FileFacts, InputArgs, NamesFromArgs};
use super::machine;
use super::optimise::{self, OptimiseArgs};
use super::paths::listed;
use super::progress::Lines;
use super::text::TextArgs;
use super::wrapper::WrapperArgs;
use super::{ExitStatus, Failure, Global, on_interrupt, print, report, say, schema, witness};
use crate::compile::{self, Hardware, Phase, Spec, Top};
use crate::diag::{Diagnostic, Diagnostics, Place, counted, four_digits};
use crate::emit::Language;
use crate::files::Batch;
use crate::formats;
use crate::interp::{cpp_header, cpp_machine, cpp_namespace};
use crate::netlist::Languages;
use crate::options::HardwareOptions;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Write Verilog, VHDL or C++ that computes a model
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl generate model.json.gz -o model.v                  combinational
  alir2hdl generate model.json.gz -o model.v --stages 3 --valid --prove
  alir2hdl generate model.json.gz -o model.vhd --device xcku5p --freq 200
  alir2hdl generate model.json.gz --verilog - --ports split | less

The sub-command may be left out: alir2hdl MODEL -o FILE.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    names_from: NamesFromArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    ports: PortArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    wrapper: WrapperArgs,
    #[command(flatten)]
    optimise: OptimiseArgs,
}

/// Output options.
#[derive(Debug, clap::Args)]
struct OutputArgs {
    /// Write this file: .v, .sv, .vhd, .vhdl, .hpp or .h (C++), .json (as --interface)
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Write Verilog-2001; - for stdout
    #[arg(long, value_name = "FILE")]
    verilog: Option<PathBuf>,
    /// Write SystemVerilog-2017; - for stdout
    #[arg(long, value_name = "FILE")]
    systemverilog: Option<PathBuf>,
    /// Write VHDL (1993 and 2008); - for stdout
    #[arg(long, value_name = "FILE")]
    vhdl: Option<PathBuf>,
    /// Write ports, types, latency and registers as JSON; - for stdout
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    interface: Option<PathBuf>,
    /// Write a bit-exact C++17 header; - for stdout
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    cpp: Option<PathBuf>,
    /// Put the C++ header into this namespace [default: like its file]
    #[arg(long, value_name = "NAME", value_parser = cpp_namespace::parse, hide_short_help = true)]
    namespace: Option<String>,
    /// Write hints for `prove --witness`
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    witness: Option<PathBuf>,
    /// Assert ranges of inputs and outputs, valid flags and stream handshakes (SystemVerilog)
    #[arg(long, hide_short_help = true)]
    assertions: bool,
    /// Prove each file equal to the model for every input before it is written
    #[arg(long)]
    prove: bool,
    /// Print how long each step took
    #[arg(long, hide_short_help = true)]
    timings: bool,
    /// Print the files, the ports and the proofs as JSON on stdout
    #[arg(long)]
    json: bool,
}

/// Output file: the option that requests it, its path, and the kind of its content.
struct Target<'a> {
    flag: &'static str,
    path: Cow<'a, Path>,
    form: Form,
}

/// Content of an output file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// HDL source.
    Text(Language),
    /// Description of the interface, as JSON.
    Interface,
    /// C++ header.
    Header,
    /// Hints for `prove --witness`.
    Witness,
}

impl Target<'_> {
    fn is_stdout(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Returns the entry of the file in the document of `--json`.
    fn facts(&self, top: &str, is_proved: bool) -> serde_json::Value {
        let kind = match self.form {
            Form::Text(language) => language.name(),
            Form::Interface => "interface",
            Form::Header => "cpp",
            Form::Witness => "witness",
        };
        let top = self.language().map(|_| top);
        serde_json::json!({ "file": self.path.display().to_string(), "kind": kind, "top": top, "proved": is_proved })
    }

    fn language(&self) -> Option<Language> {
        match self.form {
            Form::Text(language) => Some(language),
            Form::Interface | Form::Header | Form::Witness => None,
        }
    }
}

impl OutputArgs {
    /// Returns the output files, and problems with the output options.
    fn targets(&self) -> (Vec<Target<'_>>, Vec<Diagnostic>) {
        let (mut targets, mut problems) = (Vec::new(), Vec::new());
        for path in self.output.iter().flat_map(|path| listed(path, |part| Form::from_name(part).is_ok())) {
            match Form::from_name(&path) {
                Ok(form) => targets.push(Target { flag: "--output", path: path.into(), form }),
                Err(problem) => problems.push(problem),
            }
        }
        let requested = [
            ("--verilog", &self.verilog, Form::Text(Language::Verilog)),
            ("--systemverilog", &self.systemverilog, Form::Text(Language::SystemVerilog)),
            ("--vhdl", &self.vhdl, Form::Text(Language::Vhdl)),
            ("--interface", &self.interface, Form::Interface),
            ("--cpp", &self.cpp, Form::Header),
            ("--witness", &self.witness, Form::Witness),
        ];
        let given = requested.into_iter().filter_map(|(flag, path, form)| Some((flag, path.as_deref()?, form)));
        targets.extend(given.map(|(flag, path, form)| Target { flag, path: path.into(), form }));
        if targets.is_empty() && problems.is_empty() {
            let help = "add -o FILE.v, -o FILE.vhd or another result; `alir2hdl info MODEL` only looks";
            problems.push(Diagnostic::error("E0802", Place::Whole, "nothing to write").with_help(help));
        }
        let languages: Vec<Language> = targets.iter().filter_map(Target::language).collect();
        let is_system = |language: &Language| *language == Language::SystemVerilog;
        if self.assertions && problems.is_empty() && (languages.is_empty() || !languages.iter().all(is_system)) {
            let message = "assertions are SystemVerilog, and another language is written, or none";
            let help = "write -o FILE.sv or --systemverilog FILE, and other languages by a command of their own";
            problems.push(Diagnostic::error("E0802", Place::Flag("--assertions".into()), message).with_help(help));
        }
        if self.namespace.is_some() && problems.is_empty() && !targets.iter().any(|target| target.form == Form::Header)
        {
            let message = "there is no C++ header whose namespace it could be";
            problems.push(
                Diagnostic::error("E0802", Place::Flag("--namespace".into()), message).with_help("add --cpp FILE"),
            );
        }
        (targets, problems)
    }
}

impl Form {
    /// Returns the content that the extension of a file name requests.
    ///
    /// # Errors
    /// If the extension is unknown, or the path is that of a folder.
    fn from_name(path: &Path) -> Result<Form, Diagnostic> {
        let refuse = |message: String, help: &str| {
            Err(Diagnostic::error("E0802", Place::Flag("--output".into()), message).with_help(help))
        };
        let shown = path.display();
        if path.as_os_str() == "-" {
            let message = "the language follows from the file extension, and stdout has none".into();
            return refuse(message, "--verilog -, --systemverilog - or --vhdl - write to stdout");
        }
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            let help = "name a file in it, or write a folder with `alir2hdl project MODEL -o DIR`";
            return refuse(format!("{shown} is a folder"), help);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        match () {
            () if ends(&[".v"]) => Ok(Form::Text(Language::Verilog)),
            () if ends(&[".sv"]) => Ok(Form::Text(Language::SystemVerilog)),
            () if ends(&[".vhd", ".vhdl"]) => Ok(Form::Text(Language::Vhdl)),
            () if ends(&[".hpp", ".h", ".hh", ".hxx"]) => Ok(Form::Header),
            () if ends(&[".json"]) => Ok(Form::Interface),
            () => refuse(
                format!("the extension of {shown} names no output format"),
                "end it in .v, .sv, .vhd, .vhdl, .hpp or .json, or name what it is: --verilog FILE",
            ),
        }
    }
}

/// Returns warnings about files whose extension is that of another language.
fn misnamed(targets: &[Target<'_>]) -> Vec<Diagnostic> {
    let warning = |target: &Target<'_>| {
        let ending = target.path.extension()?.to_str()?.to_ascii_lowercase();
        let shown = target.path.display();
        let (message, help) = match (target.form, ending.as_str()) {
            (Form::Text(Language::Verilog), "sv" | "svh") => (
                format!(
                    "{shown} gets Verilog-2001, which is SystemVerilog too: no constructs of SystemVerilog are used"
                ),
                "--systemverilog FILE writes SystemVerilog-2017",
            ),
            (Form::Text(Language::Verilog), "vhd" | "vhdl") => {
                (format!("{shown} gets Verilog, and its name ends as that of VHDL"), "--vhdl FILE writes VHDL")
            }
            (Form::Text(Language::SystemVerilog), "v") => (
                format!("{shown} gets SystemVerilog, and its name ends as that of Verilog"),
                "name it .sv: tools choose the language by the extension",
            ),
            (Form::Text(Language::SystemVerilog), "vhd" | "vhdl") => {
                (format!("{shown} gets SystemVerilog, and its name ends as that of VHDL"), "--vhdl FILE writes VHDL")
            }
            (Form::Text(Language::Vhdl), "v" | "sv") => {
                (format!("{shown} gets VHDL, and its name ends as that of Verilog"), "--verilog FILE writes Verilog")
            }
            _ => return None,
        };
        Some(Diagnostic::warning("W0802", Place::Flag(target.flag.into()), message).with_help(help))
    };
    targets.iter().filter_map(warning).collect()
}

/// Number of operations above which Ctrl-C is handled while files are written. For small models the handler would take
/// as long as the writing.
const LONG: usize = 10_000;

/// Runs `generate`; `words` go into the header comment.
pub(super) fn run(args: &Args, words: Vec<String>, global: Global) -> Result<ExitStatus, Failure> {
    let (targets, problems) = args.output.targets();
    if !problems.is_empty() {
        // A missing model is reported first, as the word may be a mistyped command.
        if args.input.model.as_os_str() != "-" {
            formats::open(&args.input.model).map_err(Failure::input)?;
        }
        return Err(Failure::input(Diagnostics(problems)));
    }
    report(&Diagnostics(misnamed(&targets)), global);
    let start = Instant::now();
    let (design, file) = args.input.read_design(global)?;
    let mut times = PhaseTimes(vec![("read", start.elapsed())]);
    let stems: Vec<String> = targets.iter().map(|target| stem(target, &args.input.model)).collect();
    let options = args.options();
    let mut spec = Spec { provenance: Some(file.provenance(words)), ..options.spec(&stems[0]) };
    spec.module.labels = file.labels_like(&options, &design, &spec, |path| args.input.read_other(path, global))?;
    spec.module.languages = languages_of((&spec, &design), targets.iter().filter_map(Target::language));
    let listener = |line: &str| {
        if global.verbose {
            say(line, global);
        }
    };
    let first = match &design {
        Design::Model(model) => {
            let problems = options.problems();
            if !problems.is_empty() {
                return Err(Failure::input(Diagnostics([problems, spec.problems()].concat())));
            }
            match file.source(model) {
                Some(source) => compile::lowered(model, &*source, &spec, &listener)?,
                None => compile::compile_with_progress(model, &spec, &listener)?,
            }
        }
        Design::Machine(machine) => {
            machine::refuse(&options)?;
            compile::machine(machine, &spec)?
        }
    };
    let written = targets.iter().any(|target| target.language().is_some());
    let given = GivenOptions::new(&options);
    let mut idle = warnings(given, &design, Registers::from_interface(&first.netlist.interface), written);
    idle.0.extend(saves_little(&first));
    if let Some(scheduled) = first.scheduled() {
        idle.0.extend(stages_without_logic(&spec, scheduled, &first.netlist));
        idle.0.extend(options.assumption(&spec));
    }
    report(&idle, global);
    let others = others(&first, &targets, &stems)?;
    let hardware_of = |k: usize| others[k].as_ref().unwrap_or(&first);
    let modules = targets.iter().enumerate().filter(|(_, target)| target.language().is_some());
    let mut renamed: Vec<Diagnostic> = modules.flat_map(|(k, _)| hardware_of(k).renamed()).collect();
    renamed.sort_by(|a, b| a.message.cmp(&b.message));
    renamed.dedup();
    report(&Diagnostics(renamed), global);
    [&first].into_iter().chain(others.iter().flatten()).for_each(|hardware| times.add(hardware));
    if design.operations() > LONG {
        on_interrupt(|| {});
    }
    let start = Instant::now();
    let mut batch = Batch::default();
    let languages: Vec<Language> = targets.iter().filter_map(Target::language).collect();
    let mut proofs = Vec::new();
    let mut proved_files = vec![false; targets.len()];
    for (k, target) in targets.iter().enumerate() {
        let staged = match target.form {
            Form::Text(language) if args.output.prove => {
                // The source is generated only once, so that the proved bytes are the written ones.
                let begun = Instant::now();
                let text = hardware_of(k).proved_text(language, &listener)?;
                proofs.push(proved(target, &design, first.axis.is_some(), begun.elapsed().as_secs_f64()));
                proved_files[k] = true;
                batch.add_with(&target.path, |out| out.write_all(text.as_bytes()))
            }
            Form::Text(language) if design.operations() > LONG => batch.add_with(&target.path, |out| {
                // One line for the assignment of each net, in VHDL another one for its declaration.
                let nets = hardware_of(k).netlist.nets().len();
                let lines = if language == Language::Vhdl { 2 * nets } else { nets };
                hardware_of(k).write(language, &mut Lines::new(out, &target.path.display().to_string(), lines, global))
            }),
            Form::Text(language) => batch.add_with(&target.path, |out| hardware_of(k).write(language, out)),
            Form::Header => {
                if let (None, (_, Some(change))) = (&args.output.namespace, cpp_namespace::from_stem(&stems[k])) {
                    say(&change, global);
                }
                let header = header(&design, &args.namespace(&stems[k]), &file.checksum);
                batch.add_with(&target.path, |out| out.write_all(header.as_bytes()))
            }
            Form::Witness => {
                let known = hardware_of(k).witness()?;
                batch.add_with(&target.path, |out| {
                    formats::write_named(&target.path, out, |out| witness::write(&known, out))
                })
            }
            Form::Interface => {
                let network = interface_of_network(&file, &design);
                let sidecar = hardware_of(k).sidecar(&languages, file.checksum.clone()).with_network(network);
                batch.add_with(&target.path, |out| out.write_all(sidecar.to_json().as_bytes()))
            }
        };
        staged.map_err(|e| unwritable(target, &e))?;
    }
    times.0.push(("write", start.elapsed()));
    super::commit(batch)?;
    let passes = first.scheduled().map_or(&[][..], |scheduled| &scheduled.passes);
    if global.verbose && !passes.is_empty() {
        say(&optimise::savings(passes), global);
    }
    say(&first.summary(), global);
    proofs.iter().for_each(|proof| say(proof, global));
    if args.output.json && args.output.timings {
        let solved = file.matrix.as_ref().map(|facts| facts.solve_seconds);
        return print(times.json(solved).as_bytes());
    }
    if args.output.json {
        let files = targets.iter().zip(proved_files).enumerate();
        let files: Vec<_> = files.map(|(k, (target, proved))| target.facts(hardware_of(k).top(), proved)).collect();
        let network = interface_of_network(&file, &design);
        let sidecar = first.sidecar(&languages, file.checksum.clone()).with_network(network);
        let content = serde_json::json!({ "files": files, "interface": sidecar });
        return print(schema::document("alir2hdl.generate/1", &content).as_bytes());
    }
    if args.output.timings {
        say(&times.report(), global);
    }
    Ok(ExitStatus::Ok)
}

/// Returns the conversion between real numbers and raw integer values of the ports, if the model was read from a
/// network or matrix file.
fn interface_of_network(file: &FileFacts, design: &Design) -> Option<serde_json::Value> {
    match (file.meaning(), design) {
        (Some((meaning, _)), Design::Model(model)) => Some(super::network::interface(meaning, model)),
        _ => None,
    }
}

/// Returns the message about a proved file, with the same wording as `prove`.
fn proved(target: &Target<'_>, design: &Design, wrapped: bool, seconds: f64) -> String {
    let what = match design {
        Design::Model(_) => "the model for every input",
        Design::Machine(_) => "the machine for every input, in every cycle",
    };
    let inside = match wrapped {
        true => "; that is the pipeline inside the wrapper, which itself is simulated by `verify --wrapper axis`",
        false => "",
    };
    let file = match target.path.as_os_str() == "-" {
        true => "the text".into(),
        false => target.path.display().to_string(),
    };
    format!("proved: {file} is equal to {what}{inside} ({} s)", four_digits(seconds))
}

/// Returns a C++ header of the program or stateful design, without optimisation.
pub(super) fn header(design: &Design, namespace: &str, checksum: &str) -> String {
    let written = format!("Written by alir2hdl {} from the model {checksum}.", env!("CARGO_PKG_VERSION"));
    match design {
        Design::Model(model) => {
            let (n, n_in, n_out) = (model.nodes().len(), model.n_inputs(), model.outputs().len());
            let (n, n_in, n_out) = (counted(n, "operation"), counted(n_in, "input"), counted(n_out, "output"));
            let head = [format!("{namespace}: {n}, {n_in}, {n_out}"), written];
            cpp_header(model, namespace, &head)
        }
        Design::Machine(machine) => {
            let (blocks, bits) = (machine.blocks().len(), machine.register_bits());
            let head = [format!("{namespace}: a state machine, {blocks} blocks, {bits} register bits"), written];
            cpp_machine(machine, namespace, &head)
        }
    }
}

impl Args {
    /// Returns the namespace of the C++ header: that of the option, otherwise a valid one that is derived from the file
    /// name.
    fn namespace(&self, stem: &str) -> String {
        self.output.namespace.clone().unwrap_or_else(|| cpp_namespace::from_stem(stem).0)
    }

    /// Returns the options of the hardware.
    fn options(&self) -> HardwareOptions {
        let mut options = HardwareOptions {
            prove: self.output.prove,
            assertions: self.output.assertions,
            ..HardwareOptions::default()
        };
        self.optimise.fill(&mut options);
        self.pipeline.fill(&mut options);
        self.ports.fill(&mut options);
        self.wrapper.fill(&mut options);
        self.text.fill(&mut options);
        self.names_from.fill(&mut options);
        options
    }
}

/// Returns the languages in which names must be legal: those of the written files; both if none is written, and for
/// state machines and resource sharing.
pub(super) fn languages_of((spec, design): (&Spec, &Design), written: impl Iterator<Item = Language>) -> Languages {
    let none = Languages { verilog: false, vhdl: false };
    let all = written.fold(none, |all, language| match language {
        Language::Verilog | Language::SystemVerilog => Languages { verilog: true, ..all },
        Language::Vhdl => Languages { vhdl: true, ..all },
    });
    let is_machine = spec.interval().is_some() || matches!(design, Design::Machine(_));
    if all == none || is_machine { Languages::BOTH } else { all }
}

/// Returns the hardware of each target; `None` for that of the first.
///
/// Without `--top` a module is named like its file. Files with the same stem, and files that are no RTL, share the
/// hardware.
fn others<'d>(
    first: &Hardware<'d>,
    targets: &[Target<'_>],
    stems: &[String],
) -> Result<Vec<Option<Hardware<'d>>>, compile::Error> {
    let named = matches!(first.spec().module.top, Top::Named(_));
    let other = |(target, stem): (&Target<'_>, &String)| {
        let shared = named || target.language().is_none() || *stem == stems[0];
        let hardware = if shared { None } else { Some(first.named_like(stem)?) };
        Ok(hardware)
    };
    targets.iter().zip(stems).map(other).collect()
}

/// Returns the name of the output file without extensions, or that of the model if the output is stdout.
fn stem(target: &Target<'_>, model: &Path) -> String {
    let of = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let device = target.path.starts_with("/dev");
    let name = if target.is_stdout() || device { of(model).filter(|name| name != "-") } else { of(&target.path) };
    let name = name.unwrap_or_else(|| "model".into());
    let mut stem = name.as_str();
    for extension in
        [".gz", ".json", ".v", ".sv", ".vhd", ".vhdl", ".hpp", ".h", ".onnx", ".npy", ".llvlirs", ".llvlir"]
    {
        let at = stem.len().wrapping_sub(extension.len());
        if stem.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(extension)) {
            stem = &stem[..at];
        }
    }
    stem.to_owned()
}

/// Returns the failure to write an output file.
fn unwritable(target: &Target<'_>, error: &io::Error) -> Failure {
    let place = Place::Flag(target.flag.into());
    let folder = target.path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let message = match target.path.as_os_str() == "-" {
        true => format!("cannot keep what goes to standard output in {}: {error}", std::env::temp_dir().display()),
        false => format!("cannot write {}: {error}", target.path.display()),
    };
    let diagnostic = Diagnostic::error("E0001", place, message);
    Failure::input(match folder {
        Some(folder) => diagnostic.with_help(format!("the folder {} does not exist", folder.display())),
        None => diagnostic,
    })
}

/// Durations of the phases, for `--timings`.
struct PhaseTimes(Vec<(&'static str, Duration)>);

impl PhaseTimes {
    /// Adds the phases of a compilation.
    fn add(&mut self, hardware: &Hardware<'_>) {
        for (step, took) in hardware.seconds() {
            let name = match step {
                Phase::Optimise => "optimise",
                Phase::Schedule => "schedule",
                Phase::Lower => "lower",
            };
            self.0.push((name, *took));
        }
    }

    /// Returns the document of `--timings --json`. `solved` is the processor time of the matrix solver in seconds.
    fn json(&self, solved: Option<f64>) -> String {
        let steps: serde_json::Map<_, _> =
            self.0.iter().map(|(step, time)| ((*step).to_owned(), time.as_secs_f64().into())).collect();
        let solved = solved.map(|seconds| serde_json::json!({ "cpu_seconds": seconds }));
        schema::document("alir2hdl.timings/1", &serde_json::json!({ "seconds": steps, "cmvm_solve": solved }))
    }

    /// Formats the durations as a table.
    fn report(&self) -> String {
        let line = |(step, took): &(&str, Duration)| format!("{step:<10}{:>9} s", four_digits(took.as_secs_f64()));
        self.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    fn parsed(words: &[&str]) -> Option<HardwareOptions> {
        let matches = super::super::command().try_get_matches_from(words).ok()?;
        super::super::Cli::from_arg_matches(&matches).ok()?.main_job.0.map(|args| args.options())
    }

    /// Each hardware option, with each of its values, has the same effect on the command line and by its name in the
    /// library.
    #[test]
    fn the_library_has_every_option_of_the_hardware() {
        let headings = ["Pipeline and device", "Ports", "Optimisation and RTL"];
        let mut compared = 0;
        for arg in super::super::command().get_arguments() {
            let about_hardware = arg.get_help_heading().is_some_and(|heading| headings.contains(&heading));
            let (Some(long), true) = (arg.get_long(), about_hardware || arg.get_id() == "level") else { continue };
            let possible = arg.get_possible_values();
            let values: Vec<String> = match (arg.get_action().takes_values(), possible.is_empty()) {
                (false, _) => vec![String::new()],
                (true, false) => possible.iter().map(|value| format!("={}", value.get_name())).collect(),
                (true, true) => {
                    ["4", "2.5", "auto", "ecp5", "clk=c,in=x", "dce,cse", "m"].map(|v| format!("={v}")).into()
                }
            };
            let before = compared;
            for value in values {
                let word = format!("--{long}{value}");
                for more in [None, Some("--ii=3"), Some("--freq=100")] {
                    let words: Vec<&str> = ["alir2hdl", "m.json", &word].into_iter().chain(more).collect();
                    let Some(options) = parsed(&words) else { continue };
                    // On the command line the level has a default.
                    let mut found = HardwareOptions::from_words(words[1..].iter().copied());
                    found.level = found.level.or(found.passes.is_none().then_some(1));
                    assert_eq!(found, options, "{words:?}");
                    compared += 1;
                    break;
                }
            }
            assert!(compared > before, "no value of --{long} was compared");
        }
        assert!(compared > 80, "{compared} values");
        for level in ["-O0", "-O2"] {
            assert_eq!(parsed(&["alir2hdl", "m", level]), Some(HardwareOptions::from_words([level])));
        }
    }
}
