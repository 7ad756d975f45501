//! Shared parts of the tests: finding simulators, making hardware, running it, and judging what comes back.

pub(crate) use alir_testing::tools::skip;
use alir2hdl::emit::{self, Language};
use alir2hdl::formats;
use alir2hdl::ir::{Limits, Model};
use alir2hdl::netlist::{self, Netlist, Options};
use alir2hdl::passes;
use alir2hdl::schedule::Schedule;
use alir2hdl::verify::{Bench, Cycles, Deadline, Job, Report, SIMULATORS, SimError, Simulator, Tools, Vectors};
use std::path::Path;
use std::time::{Duration, Instant};

/// A model of `tests/data/models`.
pub(crate) fn read_model(name: &str) -> Model {
    read_model_at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name).join("model.json.gz"))
}

/// The model in a file.
pub(crate) fn read_model_at(path: &Path) -> Model {
    let read = formats::read_path(path, &Limits::default(), None);
    read.unwrap_or_else(|problems| panic!("{}: {problems}", path.display())).0
}

/// Files of a design, in the order in which a compiler must read them.
pub(crate) type Design = Vec<(String, Vec<u8>)>;

/// Ways of simulating: language, simulator, VHDL revision.
pub(crate) const STANDARDS: [(Language, &[&str]); 3] =
    [(Language::Verilog, &["-"]), (Language::Vhdl, &["93", "08"]), (Language::SystemVerilog, &["-"])];

/// The simulators of a language that are installed. One that is not is named on stderr.
///
/// # Panics
/// If a simulator that `ALIR2HDL_REQUIRE` lists is not found.
pub(crate) fn simulators(language: Language) -> Vec<&'static dyn Simulator> {
    let tools = Tools::from_environment();
    let mut found = Vec::new();
    for simulator in SIMULATORS.iter().filter(|s| s.languages().contains(&language)) {
        match simulator.probe(&tools) {
            Ok(_) => found.push(*simulator),
            Err(error) => skip(simulator.name(), &error.to_string()),
        }
    }
    found
}

/// Runs lanes on one simulator.
pub(crate) fn simulate(
    simulator: &dyn Simulator,
    language: Language,
    standard: &str,
    design: &[(String, Vec<u8>)],
    lanes: &[Cycles],
) -> Result<Report, SimError> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let job = Job {
        design,
        language,
        bench: &Bench { lanes, vcd: false },
        vhdl_standard: standard,
        dir: dir.path(),
        deadline: Deadline::after(Duration::from_secs(1200)),
    };
    simulator.run(&job, &Tools::from_environment())
}

/// A program made into hardware, with a run that it must pass.
pub(crate) struct Case {
    pub(crate) netlist: Netlist,
    pub(crate) cycles: Cycles,
    /// Options of its text.
    pub(crate) emit: emit::Options,
}

impl Case {
    /// The hardware of a program and `samples` samples for it, with random stalls where it has controls.
    pub(crate) fn new(model: &Model, schedule: &Schedule, options: &Options, samples: usize, seed: u64) -> Case {
        Case::optimised(model, model, schedule, options, samples, seed)
    }

    /// The hardware of `built`, and `samples` samples of what `model`, from which it was optimised, says; with random
    /// stalls where it has controls.
    pub(crate) fn optimised(
        model: &Model,
        built: &Model,
        schedule: &Schedule,
        options: &Options,
        samples: usize,
        seed: u64,
    ) -> Case {
        let netlist = netlist::lower(built, schedule, options);
        let cycles = Cycles::new(&netlist, &Vectors::generate(model, samples, seed), seed);
        Case { netlist, cycles, emit: emit::Options::default() }
    }

    /// Its text.
    pub(crate) fn text(&self, language: Language) -> (String, Vec<u8>) {
        let text = emit::text(&self.netlist, language, &self.emit);
        (format!("{}.{}", self.netlist.interface.top, language.extension()), text.into_bytes())
    }
}

/// The program after the passes of `-O<level>`.
pub(crate) fn optimised(model: &Model, level: u8) -> Model {
    passes::run(model, passes::pipeline(level)).0
}

/// A call of a tool and its duration.
pub(crate) struct Ran {
    pub(crate) what: String,
    pub(crate) seconds: f32,
}

/// Simulates all cases side by side in every simulator that is there; gives who that was.
///
/// # Panics
/// If a simulator finds a difference, naming the module and the first few of its differences.
pub(crate) fn assert_equal_everywhere(cases: &[Case]) -> Vec<Ran> {
    let mut all = Vec::new();
    let lanes: Vec<Cycles> = cases.iter().map(|c| c.cycles.clone()).collect();
    for (language, standards) in STANDARDS {
        let design: Design = cases.iter().map(|c| c.text(language)).collect();
        for simulator in simulators(language) {
            for standard in standards {
                let start = Instant::now();
                let report = simulate(simulator, language, standard, &design, &lanes);
                let name = format!("{} {standard}", simulator.name());
                let seconds = start.elapsed().as_secs_f32();
                eprintln!("{name}: {seconds:.1} s");
                assert_clean(&name, &report.unwrap_or_else(|e| panic!("{name}: {e}")), &lanes);
                let revision = standard.trim_start_matches('-');
                all.push(Ran { what: format!("{}{revision}", simulator.name()), seconds });
            }
        }
    }
    all
}

/// # Panics
/// If the report has a difference, or something was not compared.
pub(crate) fn assert_clean(name: &str, report: &Report, lanes: &[Cycles]) {
    let of_lane = |lane: usize| lanes[lane].layout.top.as_str();
    let shown: Vec<String> = report.mismatches.iter().take(5).map(|m| format!("{}: {m}", of_lane(m.lane))).collect();
    assert!(report.wrong_rows == 0, "{name}: {} rows differ\n{}", report.wrong_rows, shown.join("\n"));
    assert_eq!(report.compared, lanes.iter().map(Cycles::compared).sum::<usize>(), "{name}");
    assert!(report.compared > 0, "{name}: nothing was compared");
}
