//! Words from other tools that users may type, and the corresponding options and sub-commands.
//!
//! The parser reports an unknown option, and this table has the option that was probably intended. An answer that
//! begins with a dash is used only if the sub-command has this option; any other answer is a sentence for all
//! sub-commands.

/// Options of other tools, and the answers in order of preference.
pub(super) struct Slip {
    names: &'static [&'static str],
    pub(super) answers: &'static [&'static str],
}

const fn slip(names: &'static [&'static str], answers: &'static [&'static str]) -> Slip {
    Slip { names, answers }
}

const OPTIONS: &[Slip] = &[
    slip(
        &["output", "out", "outfile", "out-file", "output-file", "dest", "destination", "o", "output-name"],
        &["-o FILE", "nothing is written to a file here; redirect stdout: > FILE"],
    ),
    slip(
        &["output-dir", "outdir", "out-dir", "output-directory", "folder", "directory", "dir", "project-dir", "d"],
        &["-o DIR", "-o FILE", "this command writes no folder"],
    ),
    slip(
        &["model", "file", "input-file", "in-file", "model-file", "i"],
        &["the model has no option in front: give its path alone"],
    ),
    slip(&["force", "f", "overwrite", "yes", "y", "clobber"], &["results replace older ones without it: leave it out"]),
    slip(
        &["dry-run", "n", "just-print", "noop", "simulate-only"],
        &["there is no dry run: `alir2hdl info MODEL` looks without writing"],
    ),
    slip(&["silent", "s", "no-output"], &["--quiet"]),
    slip(&["debug", "loud", "trace-all", "vv", "log-level", "loglevel", "log"], &["--verbose"]),
    slip(&["no-color", "no-colour", "colour", "nocolor", "ansi"], &["--color never"]),
    slip(&["sv", "system-verilog"], &["--systemverilog FILE", "--lang systemverilog"]),
    slip(&["vlog", "v2001", "verilog-file"], &["--verilog FILE", "--lang verilog"]),
    slip(&["vhd", "vhdl-file", "vhdl2008", "vhdl93"], &["--vhdl FILE", "--lang vhdl"]),
    slip(
        &["language", "lang", "hdl", "target-language", "output-format"],
        &["--lang verilog", "the name of the result says the language: -o out.v, -o out.sv, -o out.vhd"],
    ),
    slip(&["cxx", "c", "cc", "header", "c-header", "cpp-header", "hpp"], &["--cpp FILE"]),
    slip(
        &[
            "n-stages",
            "num-stages",
            "nstages",
            "pipeline-stages",
            "latency",
            "depth",
            "pipeline-depth",
            "p",
            "registers",
        ],
        &["--stages N", "--pipeline N"],
    ),
    slip(
        &["frequency", "mhz", "clock-frequency", "clock-freq", "fmax", "target-frequency", "clk-freq", "target-freq"],
        &["--freq MHZ", "--clock-period NS"],
    ),
    slip(
        &["clock", "clk", "period", "clk-period", "clock-ns", "cycle-time", "target-clock", "ns", "timing"],
        &["--clock-period NS"],
    ),
    slip(
        &[
            "fpga",
            "target",
            "family",
            "chip",
            "fpga-part",
            "target-device",
            "part",
            "part-number",
            "device-family",
            "arch",
            "platform",
        ],
        &["--device DEVICE"],
    ),
    slip(&["initiation-interval", "interval", "reuse", "reuse-factor", "rf", "throughput"], &["--ii K"]),
    slip(
        &["top-module", "module", "module-name", "name", "entity", "top-level", "toplevel", "project-name", "prj-name"],
        &["--top NAME"],
    ),
    slip(&["simulator", "simulators", "sims", "tool"], &["--sim NAME"]),
    slip(&["testbench", "tb"], &["--testbench FILE", "`alir2hdl project MODEL -o DIR` writes testbenches"]),
    slip(
        &["samples", "stimulus", "data", "x", "inputs", "vectors-file", "test-data", "input-data"],
        &["--input FILE", "--samples FILE"],
    ),
    slip(
        &["num-vectors", "n-vectors", "num-samples", "n-samples", "count", "tests", "iterations"],
        &["--vectors N", "--samples N"],
    ),
    slip(&["expected", "golden", "reference", "outputs", "labels"], &["--expect FILE"]),
    slip(&["waves", "wave", "waveform", "dump", "fst"], &["--vcd"]),
    slip(&["optimize", "optimise", "opt", "optimization", "opt-level", "optimize-level", "o2", "o3"], &["-O LEVEL"]),
    slip(&["dsp", "no-dsp", "dsps", "multipliers", "use-dsps"], &["--use-dsp WHEN"]),
    slip(&["axi", "axis", "axi-stream", "axi4-stream", "stream", "interface-type"], &["--wrapper axis"]),
    slip(&["rst", "reset-type", "async-reset", "sync-reset"], &["--reset sync"]),
    slip(&["active-low", "reset-level", "reset-active-low"], &["--reset-polarity low"]),
    slip(&["clock-enable", "ce", "en"], &["--enable"]),
    slip(&["handshake", "ready", "valid-ready"], &["--valid"]),
    slip(&["split-ports", "split", "port-layout", "unpacked"], &["--ports split"]),
    slip(&["clock-name", "clk-port"], &["--port clk=NAME"]),
    slip(&["reset-name", "rst-port"], &["--port rst=NAME"]),
    slip(
        &["jobs", "j", "cores", "cpus", "nproc", "parallel", "workers", "thread"],
        &["--threads N", "--jobs N", "all processors are used where that helps"],
    ),
    slip(
        &["verify", "prove-it", "formal", "check-equivalence", "equivalence", "lec"],
        &["--prove", "`alir2hdl prove MODEL FILE` proves a file"],
    ),
    slip(&["bits", "precision", "bitwidth", "bit-width", "width"], &["--input-type s8.5"]),
    slip(&["quantization", "quantisation", "quant-file"], &["--quant FILE"]),
    slip(&["weight", "weights-file", "params"], &["--weights FILE"]),
    slip(&["board-part", "board-name"], &["--board BOARD"]),
    slip(
        &["backend", "vendor", "tools", "synth"],
        &["--flow FLOWS", "`alir2hdl project MODEL -o DIR --flow vivado` writes a project"],
    ),
    slip(&["format-json", "to-json", "as-json", "output-json"], &["--json"]),
    slip(&["save-svg", "plot", "figure", "chart"], &["--svg FILE"]),
    slip(&["browser", "show", "launch"], &["--open"]),
    slip(&["seeds", "random-seed", "rng"], &["--seed S"]),
    slip(&["time-limit", "max-time", "limit"], &["--timeout SECONDS", "--prove-effort LEVEL"]),
    slip(&["budget", "proof-effort", "sat-limit"], &["--prove-effort LEVEL"]),
    slip(&["sort-by", "order", "order-by"], &["--sort COLUMN"]),
    slip(&["md", "table"], &["--markdown"]),
    slip(&["reverse", "desc", "r"], &["--descending"]),
    slip(&["ver", "about"], &["`alir2hdl version` prints the version"]),
    slip(&["usage", "man", "h", "help-all", "examples"], &["--help"]),
    slip(
        &["config", "configuration", "settings", "options-file"],
        &["there is no configuration file: every choice is an option"],
    ),
    slip(&["stdin"], &["give - as the model to read stdin"]),
    slip(&["stdout"], &["-o -", "--verilog -"]),
];

/// Returns the slip for an unknown option. `word` is the option as typed; `name` is in lower case, without dashes.
pub(super) fn option(word: &str, name: &str) -> Option<&'static Slip> {
    let bare = word.trim_start_matches('-');
    // Single letters are compared with case, as an upper-case letter may be another option.
    let known =
        |slip: &&Slip| slip.names.iter().any(|known| if name.len() == 1 { *known == bare } else { *known == name });
    OPTIONS.iter().find(known)
}

/// Sub-commands of other tools, each with the corresponding one.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &[
            "build",
            "compile",
            "emit",
            "gen",
            "synth",
            "synthesize",
            "synthesise",
            "write",
            "make",
            "codegen",
            "translate",
            "verilog",
            "vhdl",
            "rtl",
            "hdl",
            "export",
            "create",
            "transpile",
            "cpp",
            "generator",
            "hls",
        ],
        "generate",
    ),
    (
        &["sim", "simulation", "test", "cosim", "tb", "testbench", "validate-rtl", "ghdl", "iverilog", "verilator"],
        "verify",
    ),
    (&["formal", "equiv", "equivalence", "lec", "cec", "proof", "sat"], "prove"),
    (
        &[
            "show", "inspect", "stats", "stat", "summary", "describe", "analyze", "analyse", "estimate", "print", "ls",
            "list",
        ],
        "info",
    ),
    (&["visualize", "visualise", "plot", "draw", "graph", "open", "html", "gui"], "view"),
    (&["predict", "infer", "inference", "eval", "evaluate", "execute", "exec", "interpret", "call"], "run"),
    (&["lint", "validate", "parse", "is-valid", "read"], "check"),
    (&["quantize", "quantise", "quant", "calib", "profile"], "calibrate"),
    (&["package", "init", "new", "ip", "vivado", "quartus", "bitstream", "export-ip", "deploy"], "project"),
    (&["compare", "cmp", "difference"], "diff"),
    (&["sweep", "dse", "tune", "search", "pareto", "optimize", "optimise"], "explore"),
    (&["results", "reports", "utilization", "timing", "parse-reports"], "report"),
    (&["save", "upgrade", "migrate", "to-json"], "convert"),
    (&["error", "errors", "code", "codes", "why"], "explain"),
    (&["device", "parts", "part", "boards", "board", "families", "targets"], "devices"),
    (&["completion", "complete", "shell"], "completions"),
    (&["manual", "docs", "doc"], "man"),
    (&["pass", "optimizations", "optimisations"], "passes"),
    (&["ver", "about"], "version"),
    (&["usage", "h", "commands"], "help"),
];

/// Returns the sub-command that corresponds to a word from another tool.
pub(super) fn command(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase().replace('_', "-");
    let exact = |(words, _): &&(&[&str], &str)| words.contains(&word.as_str());
    // For long words, a prefix or one edit is sufficient.
    let close =
        |known: &&&str| known.starts_with(&word) || crate::project::edits(known.as_bytes(), word.as_bytes()) == 1;
    let similar = |(words, _): &&(&[&str], &str)| word.len() > 3 && words.iter().any(|known| close(&known));
    COMMANDS.iter().find(exact).or_else(|| COMMANDS.iter().find(similar)).map(|(_, name)| *name)
}

/// Synopsis of each sub-command.
const SYNOPSES: &[(&str, &str)] = &[
    ("alir2hdl", "MODEL -o FILE.v"),
    ("generate", "generate MODEL -o FILE.v"),
    ("calibrate", "calibrate net.json --weights w.npz --samples x.npy --bits 8 -o quant.json"),
    ("check", "check MODEL"),
    ("completions", "completions bash    (or zsh, fish, elvish, powershell)"),
    ("convert", "convert MODEL OUT.json.gz"),
    ("devices", "devices"),
    ("diff", "diff MODEL OTHER"),
    ("explain", "explain E0503"),
    ("explore", "explore MODEL -o DIR --stages 1..8"),
    ("info", "info MODEL"),
    ("man", "man verify"),
    ("passes", "passes"),
    ("project", "project MODEL -o DIR --flow vivado"),
    ("prove", "prove MODEL FILE.v"),
    ("report", "report DIR"),
    ("run", "run MODEL SAMPLES.npy -o OUT.npy"),
    ("verify", "verify MODEL"),
    ("version", "version"),
    ("view", "view MODEL"),
];

/// Returns the synopsis of a sub-command, without the name of the program.
pub(super) fn synopsis(name: &str) -> Option<&'static str> {
    SYNOPSES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns help for a file argument that a sub-command does not take.
pub(super) fn extra_file(command: &str, word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
    let hdl = ends(&[".v", ".sv", ".vhd", ".vhdl"]);
    let samples = ends(&[".npy", ".npz", ".csv"]);
    Some(match command {
        "generate" if hdl || ends(&[".hpp", ".h"]) => format!("-o {word} names the result"),
        "generate" if ends(&[".json", ".json.gz", ".onnx"]) => {
            "one model at a time; -o FILE names the result".to_owned()
        }
        "verify" if hdl => format!("--rtl {word} simulates a file; `alir2hdl prove MODEL {word}` proves it"),
        "verify" | "project" | "view" if samples => format!("samples are --input {word}"),
        "view" if ends(&[".html", ".htm"]) => format!("-o {word} names the page"),
        "view" | "info" if ends(&[".svg"]) => format!("--svg {word} names the picture"),
        "run" if samples => format!("-o {word} names the result"),
        "project" if !word.contains('.') => format!("-o {word} names the folder"),
        "info" if hdl => format!("`alir2hdl prove MODEL {word}` compares a model with Verilog or VHDL"),
        "info" | "run" | "view" | "verify" | "project" | "convert" => return None,
        _ => return None,
    })
}

/// Returns an example of an option's value.
pub(super) fn example(long: &str) -> Option<&'static str> {
    const EXAMPLES: &[(&str, &str)] = &[
        ("verilog", "out.v"),
        ("vhdl", "out.vhd"),
        ("cpp", "out.hpp"),
        ("interface", "out.json"),
        ("output", "out.v"),
        ("namespace", "my::model"),
        ("pipeline", "3"),
        ("stages", "3"),
        ("ii", "8"),
        ("clock-period", "5ns"),
        ("freq", "200"),
        ("max-stage-delay", "5"),
        ("delay-unit", "0.5"),
        ("device", "xcku5p (`alir2hdl devices` lists them)"),
        ("part", "xcku5p (`alir2hdl devices` lists them)"),
        ("board", "kv260"),
        ("port", "clk=clock,rst=reset"),
        ("top", "my_module"),
        ("passes", "dce,cse (`alir2hdl passes` lists them)"),
        ("samples", "x.npy"),
        ("input", "x.npy"),
        ("bits", "8"),
        ("input-type", "s8.5"),
        ("weights", "w.npz"),
        ("O", "2"),
        ("sweep", "8"),
        ("vectors", "1000"),
        ("seed", "7"),
        ("threads", "4"),
        ("svg", "stages.svg"),
        ("max-ops", "1000000"),
        ("max-shift", "1000"),
        ("max-width", "4096"),
        ("max-problems", "50"),
        ("split-above", "20000"),
        ("trace", "3"),
        ("cycles", "100"),
        ("timeout", "600"),
        ("max-samples", "200"),
        ("certificate", "proof/"),
        ("jobs", "4"),
    ];
    EXAMPLES.iter().find(|(known, _)| *known == long).map(|(_, example)| *example)
}

/// Returns the likely intended value for a wrong value of an option.
pub(super) fn value(long: &str, given: &str) -> Option<&'static str> {
    let given = given.to_ascii_lowercase();
    let is = |words: &[&str]| words.contains(&given.as_str());
    Some(match long {
        "ports" if given.contains('=') => "names of ports are --port ROLE=NAME, as in --port clk=clock",
        "port" if is(&["split", "packed"]) => "the layout of the ports is --ports split or --ports packed",
        "reset" if is(&["yes", "true", "on", "1", "high", "low"]) => {
            "--reset sync or --reset async; --reset-polarity low for an active-low reset"
        }
        "reset" if is(&["no", "off", "false", "0"]) => "leave --reset out: there is no reset without it",
        "use-dsp" | "shreg-extract" if is(&["on", "true", "1", "always"]) => "the value is yes",
        "use-dsp" | "shreg-extract" if is(&["off", "false", "0", "never"]) => "the value is no",
        "O" if is(&["3", "4", "fast", "s", "max", "z"]) => "levels are -O0, -O1 and -O2; -O2 does the most",
        "sim" if is(&["modelsim", "questa", "vcs", "xsim", "vivado", "nvc", "xcelium"]) => {
            "values are verilator, iverilog, ghdl, all; `alir2hdl project` writes testbenches for other simulators"
        }
        "sim" if is(&["icarus", "vvp"]) => "Icarus Verilog is --sim iverilog",
        "lang" if is(&["sv", "v"]) => "values are verilog, systemverilog, vhdl, both",
        "lang" if is(&["vhd"]) => "values are verilog, systemverilog, vhdl, both",
        "wrapper" if is(&["axi", "axi4", "stream", "axi-stream", "axi4-stream"]) => "AXI4-Stream is --wrapper axis",
        "flow" if is(&["xilinx", "amd", "ise"]) => "AMD's tool is --flow vivado",
        "flow" if is(&["intel", "altera"]) => "Intel's tool is --flow quartus",
        "flow" if is(&["nextpnr", "lattice"]) => "nextpnr is a part of --flow yosys",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_in_the_table_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for name in OPTIONS.iter().flat_map(|slip| slip.names) {
            assert!(seen.insert(*name), "--{name}");
        }
        let mut seen = std::collections::BTreeSet::new();
        for name in COMMANDS.iter().flat_map(|(words, _)| *words) {
            assert!(seen.insert(*name), "{name}");
        }
    }
}
