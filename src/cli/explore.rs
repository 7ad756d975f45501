//! `alir2hdl explore`: builds, proves and synthesises many hardware variants with a Snakemake workflow.

use super::hardware::ObjectiveArg;
use super::info::{plot, scatter};
use super::input::{AtTheEnd, Design, InputArgs, ReadingOptions, variant};

use super::{ExitStatus, Failure, Global, print, say, schema, verify};
use crate::diag::{Diagnostic, Diagnostics, Place, counted};
use crate::explore::results::{self, Results};
use crate::explore::{Exploration, ExploredModel, VariedOption, name_of};
use crate::files::FileSet;
use crate::formats::{self, Target};
use crate::options::{NamedDevice, OptionFault, OptionValue, StageCounts, flag_value, invalid, text, texts, within};
use crate::verify::{MISSING_TOOL, RunningTool, Tools};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

/// Build, prove and synthesise many variants and compare them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  alir2hdl explore a.json.gz b.json.gz --stages 1..12 -o night --run
  alir2hdl explore m.json.gz --stages 2..6 --device ecp5 --flow yosys -o night
  alir2hdl explore m.json.gz -o night -- -O2 --use-dsp no     for all variants
  cd night && snakemake --executor slurm --jobs 200           on a cluster
  alir2hdl explore --collect night                            the table so far

Writes a folder with a Snakemake workflow; --run runs it here (pip install snakemake). A further run goes on where \
the last one ended and \
makes again what changed: another file, other options, another version of alir2hdl.

results.csv, results.json, results.html and tradeoffs.svg are written when the workflow ends. A variant that fails is \
a row with its \
reason and stops no other; the exit code is 1 then.")]
pub(super) struct Args {
    /// The models: programs, kernels, QONNX files, networks, matrices; what is no program or kernel is lowered first
    #[arg(id = "model", value_name = "MODEL", required_unless_present = "collect")]
    models: Vec<PathBuf>,
    #[command(flatten)]
    reading: AtTheEnd,
    /// Write the workflow into this folder: new, or of an earlier run
    #[arg(short, long, value_name = "DIR", required_unless_present = "collect")]
    output: Option<PathBuf>,
    #[command(flatten)]
    variants: ExplorationOptions,
    /// Only gather the results of an earlier run in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["model", "output", "run"])]
    collect: Option<PathBuf>,
    /// Print the results as one JSON object, as in results.json
    #[arg(long)]
    json: bool,
    /// Options of `project` that all variants share
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

/// Variants of an exploration, and the jobs that build them.
#[derive(Clone, Debug, clap::Args)]
pub struct ExplorationOptions {
    /// Try these numbers of stages: 1..12, 2,4,8, or both
    #[arg(
        long,
        visible_alias = "stages",
        value_name = "N..M",
        default_value = "1..8",
        value_parser = StageCounts::parse
    )]
    pipeline: StageCounts,
    /// Minimise these, several with commas: the critical stage delay (delay), registers, or both in balance
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "delay",
        value_name = "WHAT",
        hide_possible_values = true
    )]
    objective: Vec<ObjectiveArg>,
    /// Estimate area and clock of this device: a family or a part number (see `alir2hdl devices`)
    #[arg(long, alias = "part", value_name = "DEVICE", value_parser = NamedDevice::parse)]
    device: Option<NamedDevice>,
    /// Synthesise each variant with this tool
    #[arg(long, value_enum, value_name = "FLOW")]
    flow: Option<FlowArg>,
    /// Run the workflow here
    #[arg(long)]
    run: bool,
    /// Run this many jobs at a time [default: the number of processors]
    #[arg(long, value_name = "N", requires = "run", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
}

impl Default for ExplorationOptions {
    fn default() -> ExplorationOptions {
        ExplorationOptions {
            pipeline: StageCounts((1..=8).collect()),
            objective: vec![ObjectiveArg::Delay],
            device: None,
            flow: None,
            run: false,
            jobs: None,
        }
    }
}

/// Argument of `--flow`: synthesis flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FlowArg {
    /// yosys and nextpnr for ECP5
    Yosys,
    /// AMD Vivado
    Vivado,
    /// Intel Quartus
    Quartus,
}

impl FlowArg {
    fn name(self) -> &'static str {
        match self {
            FlowArg::Yosys => "yosys",
            FlowArg::Vivado => "vivado",
            FlowArg::Quartus => "quartus",
        }
    }

    /// Returns an error if a tool is missing without which all variants would fail.
    fn check_tools(self) -> Result<(), Failure> {
        // Environment variables may name the tools of the open flow, as in the scripts of a project folder.
        let is_named = |variable: &str| !variable.is_empty() && std::env::var_os(variable).is_some();
        // Each line lists alternatives, one of which must be installed; the device determines which nextpnr is needed.
        let needed: &[(&str, &[&str])] = match self {
            FlowArg::Yosys => &[("YOSYS", &["yosys"]), ("NEXTPNR", &["nextpnr-ecp5", "nextpnr-ice40"])],
            FlowArg::Vivado => &[("", &["vivado"])],
            FlowArg::Quartus => &[("", &["quartus_sh"])],
        };
        let tools = Tools::from_environment();
        let missing = needed
            .iter()
            .find(|(variable, names)| !is_named(variable) && names.iter().all(|name| tools.find(name).is_none()));
        match missing {
            Some((_, names)) => {
                let message = format!("{} is not installed", names.join(" or "));
                let error = Diagnostic::error(MISSING_TOOL, Place::Flag("--flow".into()), message);
                Err(Failure::missing_tool(error.with_help("install it, or write the folder without --run")))
            }
            None => Ok(()),
        }
    }
}

/// Maximum number of variants.
const MOST_VARIANTS: usize = 100_000;

impl ExplorationOptions {
    /// Names of the options.
    pub const NAMES: &'static [&'static str] =
        &["pipeline", "stages", "objective", "device", "part", "flow", "run", "jobs"];

    /// Sets an option by its name.
    ///
    /// # Errors
    /// If the option does not exist, or if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let result = match name {
            "pipeline" | "stages" => StageCounts::parse(&value.to_string()).map(|counts| self.pipeline = counts),
            "objective" => texts(value)
                .and_then(|words| words.into_iter().map(|word| variant(&OptionValue::Text(word))).collect())
                .map(|objectives| self.objective = objectives),
            "device" | "part" => {
                text(value).and_then(|name| NamedDevice::parse(&name)).map(|device| self.device = Some(device))
            }
            "flow" => variant(value).map(|flow| self.flow = Some(flow)),
            "run" => flag_value(value).map(|run| self.run = run),
            "jobs" => within(value, 1..=4096).map(|count| self.jobs = Some(count)),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    /// Returns the options in which variants differ, each with its values.
    fn axes(&self) -> Vec<VariedOption> {
        let stages = self.pipeline.0.iter().map(u32::to_string).collect();
        let named = |objective: &ObjectiveArg| objective.to_possible_value().map(|value| value.get_name().to_owned());
        let mut objectives: Vec<String> = self.objective.iter().filter_map(named).collect();
        objectives.sort();
        objectives.dedup();
        vec![
            VariedOption { flag: "--pipeline", name: "pipeline", prefix: "p", default: None, values: stages },
            VariedOption {
                flag: "--pipeline-objective",
                name: "objective",
                prefix: "",
                default: Some("delay"),
                values: objectives,
            },
        ]
    }

    /// Returns the `project` options of all variants; `words` are further options.
    fn shared(&self, words: &[String]) -> Vec<String> {
        let device = self.device.iter().map(|device| format!("--device={}", device.text));
        device.chain(words.iter().cloned()).collect()
    }
}

/// Runs the sub-command.
pub(super) fn run(args: &Args, global: Global) -> Result<ExitStatus, Failure> {
    if let Some(folder) = &args.collect {
        return finished(&collect(folder)?, folder, args.json, global);
    }
    if args.json && !args.variants.run {
        return Err(refused("--json", "there are no results yet".to_owned(), "add --run, or use --collect DIR later"));
    }
    let folder = args.output.as_deref().expect("the parser wants it");
    let inputs: Vec<InputArgs> = args.models.iter().map(|path| InputArgs::with_limits(path, &args.reading)).collect();
    match explored(&inputs, folder, &args.variants, &args.options, global)? {
        Some(results) => finished(&results, folder, args.json, global),
        None => Ok(ExitStatus::Ok),
    }
}

/// Writes the workflow into a folder, and runs it if the options request that. `shared` are `project` options for all
/// variants. Notes are not printed.
///
/// # Errors
/// If a model or an option is invalid, or if Snakemake is missing or ended early.
pub fn explore(
    models: &[PathBuf],
    reading: &ReadingOptions,
    folder: &Path,
    options: &ExplorationOptions,
    shared: &[String],
) -> Result<(), Failure> {
    let inputs: Vec<InputArgs> = models.iter().map(|path| InputArgs::new(path, reading.clone())).collect();
    explored(&inputs, folder, options, shared, Global { quiet: true, ..Global::default() }).map(|_| ())
}

/// Writes the workflow and runs it on request; returns the results of the run.
fn explored(
    inputs: &[InputArgs],
    folder: &Path,
    options: &ExplorationOptions,
    shared: &[String],
    global: Global,
) -> Result<Option<Results>, Failure> {
    if options.jobs.is_some() && !options.run {
        return Err(refused("--jobs", "there are no jobs without a run".to_owned(), "add --run"));
    }
    check_folder(folder)?;
    let plan = plan(inputs, options, shared, global)?;
    let count = plan.variants().len();
    if count > MOST_VARIANTS {
        let message = format!("{count} variants, more than {MOST_VARIANTS}");
        return Err(refused("--pipeline", message, "explore fewer models or numbers of stages"));
    }
    check_options(&plan)?;
    if let Some(flow) = options.flow.filter(|_| options.run) {
        flow.check_tools()?;
    }
    changed(plan.files(), folder).write_to(folder).map_err(|e| Failure::io(folder, "write", &e))?;
    if !options.run {
        let shown = folder.display();
        let count = counted(count, "variant");
        say(&format!("{shown}: {count}; cd {shown} && snakemake --cores all, or --run here"), global);
        return Ok(None);
    }
    let ended = snakemake(options.jobs, folder, global)?;
    let results = collect(folder)?;
    let (_, failed, open) = results.counts();
    // Snakemake was killed, or it ended before it tried all variants.
    if ended.code().is_none() || (open > 0 && failed == 0) {
        let message = format!("snakemake ended early ({ended}); {} says more", folder.join(LOG).display());
        let error = Diagnostic::error("E1202", Place::Flag("--run".into()), message);
        return Err(Failure::external_tool(error.with_help("the same command goes on where this run ended")));
    }
    Ok(Some(results))
}

fn refused(flag: &str, message: String, help: &str) -> Failure {
    Failure::input(Diagnostic::error("E0805", Place::Flag(flag.into()), message).with_help(help))
}

/// Returns an error if the folder contains files of another origin.
fn check_folder(folder: &Path) -> Result<(), Failure> {
    let occupied = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    match occupied && !folder.join("plan.json").is_file() {
        true => {
            let message = format!("{} holds something that is no exploration", folder.display());
            Err(refused("--output", message, "name a new folder"))
        }
        false => Ok(()),
    }
}

/// Reads and checks all models, before anything is written.
fn plan(
    inputs: &[InputArgs],
    options: &ExplorationOptions,
    shared: &[String],
    global: Global,
) -> Result<Exploration, Failure> {
    let mut sources: Vec<ExploredModel> = Vec::new();
    for input in inputs {
        let path = input.path();
        let (design, facts) = input.read_design(global)?;
        let Design::Model(model) = design else {
            let message = "a state machine has registers of its own and no pipeline to explore";
            let help = format!("leave out {}; `alir2hdl project` writes the folder of a state machine", path.display());
            let error = Diagnostic::error("E0804", Place::Whole, message).with_help(help);
            return Err(Failure::input(error.in_file(path)));
        };
        let name = name_of(verify::stem(path), &sources);
        let lowered = facts.network.is_some() || facts.matrix.is_some() || path.as_os_str() == "-";
        let (ending, bytes) = match lowered {
            true => {
                let prepared = formats::prepare(&model, Target::Alir4).map_err(Failure::input)?;
                let mut bytes = Vec::new();
                prepared.write_gzip(&mut bytes).map_err(|e| Failure::io(path, "write", &e))?;
                (".json.gz".to_owned(), bytes)
            }
            false => {
                let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let ending = file.find('.').map_or("", |at| &file[at..]);
                let plain = ending.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.');
                let bytes = std::fs::read(path).map_err(|e| Failure::io(path, "read", &e))?;
                (if plain { ending.to_owned() } else { String::new() }, bytes)
            }
        };
        sources.push(ExploredModel { name, ending, bytes });
    }
    let flow = options.flow.map(FlowArg::name);
    Ok(Exploration { sources, axes: options.axes(), options: options.shared(shared), flow, program: program()? })
}

/// Returns version and checksum of this program.
fn program() -> Result<String, Failure> {
    let path = std::env::current_exe().unwrap_or_default();
    let bytes = std::fs::read(&path).map_err(|e| Failure::io(&path, "read", &e))?;
    Ok(format!("{} {}", env!("CARGO_PKG_VERSION"), formats::sha256(&bytes)))
}

/// Returns an error for options that `project` does not have, or that it rejects in every variant.
fn check_options(plan: &Exploration) -> Result<(), Failure> {
    let mut problems = None;
    let mut are_all_refused = true;
    for variant in plan.variants() {
        let words = ["alir2hdl", "project", "model.json", "--output=project"].map(str::to_owned);
        let words: Vec<String> = words.into_iter().chain(plan.words(&variant)).collect();
        let (cli, _) = super::parsed(&words).map_err(Failure::input)?;
        if are_all_refused && let Some(super::Command::Project(args)) = &cli.command {
            let of_variant = super::project::option_problems(args);
            are_all_refused = !of_variant.is_empty();
            problems = problems.or(Some(of_variant));
        }
    }
    match problems {
        Some(problems) if are_all_refused => Err(Failure::input(Diagnostics(problems))),
        _ => Ok(()),
    }
}

/// Returns the files that are missing in the folder or differ. Other files keep their modification time, which
/// Snakemake uses.
fn changed(files: FileSet, folder: &Path) -> FileSet {
    let same = |name: &str, bytes: &[u8]| std::fs::read(folder.join(name)).is_ok_and(|there| there == bytes);
    FileSet(files.0.into_iter().filter(|(name, bytes)| !same(name, bytes)).collect())
}

/// Name of Snakemake's log file in the folder.
const LOG: &str = "snakemake.log";

/// Runs the workflow in its folder. Failed variants are not an error.
fn snakemake(jobs: Option<u32>, folder: &Path, global: Global) -> Result<process::ExitStatus, Failure> {
    // The lock exists during the run. If Snakemake's own lock remains nevertheless, its process was killed.
    let plan = folder.join("plan.json");
    let lock = File::open(&plan).map_err(|e| Failure::io(&plan, "open", &e))?;
    if lock.try_lock().is_err() {
        let message = format!("another alir2hdl explore --run is at work in {}", folder.display());
        return Err(refused("--run", message, "wait for its end"));
    }
    // Within Python the current executable is the interpreter, and the caller sets the variable.
    let program = std::env::current_exe().ok().filter(|path| path.file_stem().is_some_and(|stem| stem == "alir2hdl"));
    let start = |arguments: &[&str]| {
        let mut command = Command::new("snakemake");
        command.current_dir(folder).envs(program.iter().map(|path| ("ALIR2HDL", path)));
        command.args(arguments).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().map_err(|e| {
            let message = format!("snakemake cannot be started: {e}");
            let error = Diagnostic::error(MISSING_TOOL, Place::Flag("--run".into()), message);
            Failure::missing_tool(error.with_help("pip install snakemake; or run the folder where it is installed"))
        })
    };
    if std::fs::read_dir(folder.join(".snakemake/locks")).is_ok_and(|mut locks| locks.next().is_some()) {
        start(&["--unlock"])?.wait_with_output().map_err(|e| Failure::io(folder, "unlock", &e))?;
    }
    let jobs = jobs.map_or_else(|| "all".to_owned(), |jobs| jobs.to_string());
    let mut child = start(&["--cores", &jobs, "--keep-going", "--rerun-incomplete", "--nocolor"])?;
    // In a Python session, an interrupt reaches only this process and not Snakemake.
    let _running = RunningTool::new(&child);
    let bar = match global.quiet {
        true => ProgressBar::hidden(),
        false => ProgressBar::new(0),
    };
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} steps  {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut said = Vec::new();
    let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    for line in lines.map_while(Result::ok) {
        if let Some((done, all)) = steps(&line) {
            bar.set_length(all);
            bar.set_position(done);
        }
        let _ = writeln!(said, "{line}");
    }
    let ended = child.wait().map_err(|e| Failure::io(folder, "wait for snakemake in", &e))?;
    bar.finish_and_clear();
    let mut log = FileSet::default();
    log.add(LOG, said);
    log.write_to(folder).map_err(|e| Failure::io(folder, "write", &e))?;
    Ok(ended)
}

/// Parses a line like `7 of 9 steps (78%) done`; returns the numbers of finished steps and of all steps.
fn steps(line: &str) -> Option<(u64, u64)> {
    let (done, rest) = line.split_once(" of ")?;
    let (all, _) = rest.split_once(" steps")?;
    Some((done.trim().parse().ok()?, all.parse().ok()?))
}

/// Collects the results and writes them as tables, chart and HTML page.
fn collect(folder: &Path) -> Result<Results, Failure> {
    let found = results::gather(folder).map_err(|e| Failure::io(&folder.join("plan.json"), "read", &e))?;
    let picture = picture(&found);
    let mut files = FileSet::default();
    files.add("results.csv", found.csv());
    files.add("results.json", document(&found));
    files.add("results.html", found.page(&picture, plot::escaped));
    files.add("tradeoffs.svg", picture);
    files.write_to(folder).map_err(|e| Failure::io(folder, "write", &e))?;
    Ok(found)
}

/// Draws speed and area of all variants, with a panel for each model.
fn picture(found: &Results) -> String {
    let mut panels: Vec<scatter::Panel> = Vec::new();
    for row in &found.variants {
        let Some((clock, area)) = row.point() else { continue };
        let on = |axis: &String| row.axes.get(axis).map(|value| value.to_string().replace('"', ""));
        let values: Vec<String> = found.axes.iter().filter_map(on).collect();
        let at = panels.iter().position(|panel| panel.title == row.model).unwrap_or_else(|| {
            panels.push(scatter::Panel { title: row.model.clone(), points: Vec::new(), required: None });
            panels.len() - 1
        });
        panels[at].points.push(scatter::Point { x: area, y: clock, best: row.best, label: values.join(" ") });
    }
    let by = if found.flow.is_some() { "by the tools" } else { "estimated" };
    scatter::svg(&format!("Speed and area, {by}"), ["look-up tables and flip-flops", "clock (MHz)"], &panels)
}

/// Returns the results as a JSON document.
fn document(results: &Results) -> String {
    schema::document("alir2hdl.explore/1", &results::content(results))
}

/// Prints the table or the document, and the numbers of finished, failed and open variants.
fn finished(results: &Results, folder: &Path, as_json: bool, global: Global) -> Result<ExitStatus, Failure> {
    let (done, failed, open) = results.counts();
    if as_json {
        print(document(results).as_bytes())?;
    } else if !global.quiet {
        print(results.text().as_bytes())?;
    }
    let shown = folder.display();
    let counts = format!("{done} done, {failed} failed, {open} open");
    say(&format!("{counts}; {shown}/results.html, results.csv, results.json, tradeoffs.svg"), global);
    Ok(if failed > 0 { ExitStatus::Mismatch } else { ExitStatus::Ok })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_off() {
        assert_eq!(steps("7 of 9 steps (78%) done"), Some((7, 9)));
        assert_eq!(steps("Finished jobid: 3 (Rule: prove)"), None);
    }
}
