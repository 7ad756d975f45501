//! Conversion of HDL files to a netlist by other tools: yosys elaborates Verilog, and VHDL that ghdl converts to
//! Verilog. The front ends of this project are not involved; the AIGER result becomes a design like those of the front
//! ends.

use super::sim::process::{Invocation, log_tail, run_apart};
use super::{Deadline, MISSING_TOOL, SimError, Tools};
use alir_core::diag::{Diagnostic, Place, printable};
use alir_hdl::{Language, Rtl, operation_in_name};
use alir_prove::aiger;
use alir_prove::circuit::{self, CircuitModule, CircuitPort};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A source file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Path of the file. Files that it names (tables for `$readmemh`, included files) are searched in the folder of the
    /// first source.
    pub path: PathBuf,
    /// Content of the file.
    pub text: String,
}

/// Patterns of the signals that a proof can use as intermediate points, including those inside instances. Yosys
/// patterns have no character ranges.
const SHOWN: &str = "w:v[0123456789]* w:*.v[0123456789]*";

/// Yosys commands that convert a design to gates. An undriven value may be any value in every cycle, and optimisation
/// must not choose one. Registers become plain flip-flops: enables and resets become gates before them. Gates are not
/// optimised, only hashed by the AIGER parser, as optimisation would take most of yosys's time. Memories are converted
/// first: undefined words of a table cannot be replaced while they are the initial value of a memory.
const TO_GATES: &str = "memory_map; setundef -undriven -anyseq; opt_clean; expose SHOWN; opt -keepdc -nodffe -nosdff; \
    async2sync; dffunmap; setundef -undriven -anyseq; techmap; setundef -undriven -anyseq; \
    simplemap; dffunmap; aigmap; opt_clean";

fn refused(message: String) -> Diagnostic {
    Diagnostic::error("E0910", Place::Flag("--via".into()), message)
}

fn failed(error: &std::io::Error) -> Diagnostic {
    refused(format!("cannot give yosys its files: {error}"))
}

/// Runs a tool in a folder, with its results in another folder. Returns its standard output.
fn tool(tools: &Tools, name: &'static str, args: &[String], at: &Path, into: &Path) -> Result<String, Diagnostic> {
    let help =
        "scripts/setup.sh installs it, ALIR2HDL_TOOLS names folders to look in; without --via our own reader reads";
    let missing = || Diagnostic::error(MISSING_TOOL, Place::Flag("--via".into()), format!("{name} is not on the PATH"));
    let program = tools.find(name).ok_or_else(|| missing().with_help(help))?;
    let (out, log) = (into.join(format!("{name}.out")), into.join(format!("{name}.log")));
    // A user who waits can interrupt the tool.
    let deadline = Deadline::after(std::time::Duration::from_secs(7 * 24 * 3600));
    match run_apart(&Invocation::new(program).args(args), at, &out, &log, deadline) {
        Ok(status) if status.success() => std::fs::read_to_string(&out).map_err(|e| failed(&e)),
        Ok(status) => {
            let said = log_tail(&log) + "\n" + &log_tail(&out);
            let line =
                said.lines().find(|l| l.contains("ERROR") || l.contains("error")).or_else(|| said.lines().last());
            let line = line.map_or_else(|| status.to_string(), |l| printable(l.trim()));
            Err(refused(format!("{name} refuses the file: {line}")))
        }
        Err(SimError::Io(error)) => Err(refused(format!("{name} cannot be run: {error}"))),
        Err(error) => Err(refused(format!("{name}: {error}"))),
    }
}

/// Returns a path for a yosys script; an error if it has special characters, as quotes do not work everywhere in
/// scripts.
fn plain_path(path: &Path) -> Result<String, Diagnostic> {
    let text = path.to_str().filter(|t| t.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c)));
    let refuse = || refused(format!("yosys cannot be told the path {}: TMPDIR names another place", path.display()));
    text.map(str::to_owned).ok_or_else(refuse)
}

/// Returns the comments before anything else in a file, where a file states its latency.
fn head(text: &str, language: Language) -> Vec<String> {
    let mark = if language == Language::Vhdl { "--" } else { "//" };
    let lines = text.lines().map(str::trim).take_while(|l| l.is_empty() || l.starts_with(mark));
    lines.map(|l| l.trim_start_matches(mark).trim().to_owned()).filter(|l| !l.is_empty()).collect()
}

/// Returns the position of an operation's signal in the order of operations, from a name such as `top.part.v17_s2`;
/// `None` for other names.
fn rank(name: &str) -> Option<u64> {
    operation_in_name(name).map(|(number, _)| number.into())
}

/// Returns the name and ports of the module from the output of `portlist`.
fn module(listed: &str) -> Result<CircuitModule, Diagnostic> {
    let unknown = || refused("yosys did not tell the ports of the top module".into());
    let mut lines = listed.lines();
    let name = lines.next().and_then(|l| l.strip_prefix("module ")).ok_or_else(unknown)?;
    let mut made = CircuitModule { name: name.trim_start_matches('\\').to_owned(), ..CircuitModule::default() };
    for line in lines {
        let mut words = line.split_whitespace();
        let (kind, range, name) = match (words.next(), words.next(), words.next()) {
            (Some(kind), Some(range), Some(name)) => (kind, range, name),
            _ => return Err(unknown()),
        };
        let input = match kind {
            "input" => true,
            "output" => false,
            _ => return Err(refused(format!("the port {name} is an {kind}"))),
        };
        let bounds =
            range.trim_matches(['[', ']']).split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let (high, lowest): (u32, u32) = bounds.ok_or_else(unknown)?;
        if high < lowest {
            return Err(refused(format!(
                "the port {name} counts its bits upwards, {range}: which is which is not sure"
            )));
        }
        let name = name.trim_start_matches('\\').to_owned();
        made.ports.push(CircuitPort { name, input, lowest, width: high - lowest + 1 });
    }
    Ok(made)
}

/// Returns the names that yosys listed in a file, without the name of the module.
fn listed(dir: &Path, file: &str) -> Result<Vec<String>, Diagnostic> {
    let text = std::fs::read_to_string(dir.join(file)).map_err(|e| failed(&e))?;
    let names = text.lines().filter_map(|l| l.split_once('/')).map(|(_, n)| n.trim_start_matches('\\').to_owned());
    Ok(names.collect())
}

/// Converts VHDL files to Verilog by ghdl.
fn synthesised(
    tools: &Tools,
    sources: &[SourceFile],
    top: Option<&str>,
    at: &Path,
    dir: &Path,
) -> Result<(), Diagnostic> {
    let library = format!("--workdir={}", dir.display());
    let mut analyse = vec!["-a".to_owned(), "--std=08".to_owned(), library.clone()];
    for (i, source) in sources.iter().enumerate() {
        let file = dir.join(format!("source{i}.vhd"));
        std::fs::write(&file, &source.text).map_err(|e| failed(&e))?;
        analyse.push(file.display().to_string());
    }
    tool(tools, "ghdl", &analyse, at, dir)?;
    let mut synth = vec!["--synth".to_owned(), "--std=08".to_owned(), library, "--out=verilog".to_owned()];
    synth.extend(top.map(str::to_owned));
    let verilog = tool(tools, "ghdl", &synth, at, dir)?;
    std::fs::write(dir.join("source0.v"), completed(&verilog)).map_err(|e| failed(&e))
}

/// Value for cases that ghdl omits.
const OPEN: &str = "'bx; // any";

/// Returns ghdl's Verilog with a default in every case statement. ghdl omits selector values that cannot occur; by the
/// rules of Verilog this is a latch, although the VHDL had none (ghdl rejects latches). With the default, any value may
/// occur there.
pub fn completed(verilog: &str) -> String {
    let mut out = String::with_capacity(verilog.len() + 1000);
    let mut last = "";
    for line in verilog.lines() {
        let item = last.trim();
        if line.trim() == "endcase"
            && !item.starts_with("default")
            && let Some((_, assignment)) = item.split_once(": ")
            && let Some((target, operator)) = ["<=", "="].iter().find_map(|op| Some((assignment.split_once(op)?.0, op)))
        {
            let _ = writeln!(out, "default: {} {operator} {OPEN}", target.trim());
        }
        out.push_str(line);
        out.push('\n');
        last = line;
    }
    out
}

/// Remark in the header comment of a design if ghdl omitted values of a choice. Some versions of ghdl (2.0) also omit
/// the values of `others`. These values are unconstrained here, so a proof is valid, but a difference may be caused by
/// ghdl.
pub const INCOMPLETE: &str = "ghdl left out values of a choice";

/// Returns the design that yosys elaborates from these files. Its header comment contains [`INCOMPLETE`] if ghdl
/// omitted values.
///
/// # Errors
/// [`MISSING_TOOL`] if a tool is missing; `E0910` if a tool rejects a file, or if the design cannot be proved: several
/// clocks, latches, signals with several drivers.
pub fn yosys(tools: &Tools, sources: &[SourceFile], top: Option<&str>) -> Result<Rtl, Diagnostic> {
    let plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if let Some(top) = top.filter(|name| !plain(name)) {
        return Err(refused(format!("{} is no name of a module that yosys can be told", printable(top))));
    }
    let languages: Vec<Language> = sources.iter().map(|s| Language::detect(&s.path, &s.text)).collect();
    let Some(&language) = languages.first() else { return Err(refused("no file to read".into())) };
    if languages.iter().any(|l| *l != language) {
        return Err(refused(
            "files of both languages: yosys reads Verilog, ghdl makes one Verilog file of VHDL".into(),
        ));
    }
    let dir = tempfile::tempdir().map_err(|e| failed(&e))?;
    let dir = std::path::absolute(dir.path()).map_err(|e| failed(&e)).map(|path| (path, dir))?;
    let (dir, _keep) = (dir.0, dir.1);
    let at = sources[0].path.parent().filter(|p| p.is_dir()).unwrap_or(Path::new("."));
    let mut script = String::new();
    match language {
        Language::Vhdl => {
            synthesised(tools, sources, top, at, &dir)?;
            let _ = write!(script, "read_verilog {}; ", plain_path(&dir.join("source0.v"))?);
        }
        Language::Verilog | Language::SystemVerilog => {
            for (i, source) in sources.iter().enumerate() {
                let system = source.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("sv"));
                let file = dir.join(format!("source{i}.v"));
                std::fs::write(&file, &source.text).map_err(|e| failed(&e))?;
                let flag = if system { "-sv " } else { "" };
                let _ = write!(script, "read_verilog {flag}{}; ", plain_path(&file)?);
            }
        }
    }
    let place = |name: &str| plain_path(&dir.join(name));
    let chosen = match top {
        Some(top) if language != Language::Vhdl => format!("-top {top}"),
        _ => "-auto-top".to_owned(),
    };
    let own_names = |mut wrong: Diagnostic| {
        for (i, source) in sources.iter().enumerate() {
            let copy = dir.join(format!("source{i}.v"));
            wrong.message = wrong.message.replace(&*copy.to_string_lossy(), &source.path.to_string_lossy());
        }
        wrong
    };
    let _ = write!(
        script,
        "hierarchy -check {chosen}; proc; flatten; tee -q -o {} portlist; tee -q -o {} check; \
         tee -q -o {} select -list t:$dlatch t:$adlatch t:$dlatchsr t:$sr t:$ff; {}; \
         tee -q -o {} select -list t:$_DFF_P_ %ci1:+[C] w:* %i; tee -q -o {} select -list t:$_DFF_N_ %ci1:+[C] w:* %i; \
         write_aiger -symbols {}",
        place("ports")?,
        place("check")?,
        place("latches")?,
        TO_GATES.replace("SHOWN", SHOWN),
        place("rising")?,
        place("falling")?,
        place("gates.aig")?
    );
    tool(tools, "yosys", &["-q".to_owned(), "-p".to_owned(), script], at, &dir).map_err(own_names)?;
    let told = std::fs::read_to_string(dir.join("check")).map_err(|e| failed(&e))?;
    if let Some(line) = told.lines().find(|l| l.contains("conflicting drivers") || l.contains("logic loop")) {
        return Err(own_names(refused(format!("yosys: {}", printable(line.trim())))));
    }
    if let Some(name) = listed(&dir, "latches")?.first() {
        return Err(own_names(refused(format!("{} is a latch, or has no clock", printable(name)))));
    }
    let mut module = module(&std::fs::read_to_string(dir.join("ports")).map_err(|e| failed(&e))?)?;
    let edge =
        |file: &str, rising: bool| Ok(listed(&dir, file)?.into_iter().map(|name| (name, rising)).collect::<Vec<_>>());
    let clocks = [edge("rising", true)?, edge("falling", false)?].concat();
    if let [(one, _), (other, _), ..] = &clocks[..] {
        let message = format!("registers have two clocks or edges, {} and {}", printable(one), printable(other));
        return Err(own_names(refused(message)));
    }
    module.clock = clocks.into_iter().next();
    module.head = head(&sources[0].text, language);
    let between = std::fs::read_to_string(dir.join("source0.v")).unwrap_or_default();
    if language == Language::Vhdl && between.lines().any(|line| line.ends_with(OPEN)) {
        module.head.push(INCOMPLETE.into());
    }
    let bytes = std::fs::read(dir.join("gates.aig")).map_err(|e| failed(&e))?;
    let graph = aiger::read(&bytes).map_err(|e| refused(format!("what yosys wrote cannot be read: {}", e.message)))?;
    circuit::rtl(&graph, &module, &rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_from_their_list() {
        let made = module("module t\ninput [0:0] clk\ninput [14:2] model_inp\noutput [3:0] model_out\n").unwrap();
        assert_eq!(made.name, "t");
        let shape: Vec<_> = made.ports.iter().map(|p| (p.name.as_str(), p.input, p.lowest, p.width)).collect();
        assert_eq!(shape, [("clk", true, 0, 1), ("model_inp", true, 2, 13), ("model_out", false, 0, 4)]);
        assert!(module("module t\ninput [0:3] x\n").unwrap_err().message.contains("upwards"));
        assert!(module("module t\ninout [0:0] x\n").unwrap_err().message.contains("inout"));
        assert!(module("").is_err());
    }

    #[test]
    fn latencies_stand_in_the_head() {
        let text = "// made by hand\n\n// latency: 3\nmodule x; // latency: 4\nendmodule\n";
        assert_eq!(head(text, Language::Verilog), ["made by hand", "latency: 3"]);
    }

    #[test]
    fn choices_of_ghdl_are_completed() {
        let text = "case (s)\n  2'b10: n_o <= 6'b1;\n  2'b01: n_o <= m[7:2];\nendcase\n";
        assert!(completed(text).contains("m[7:2];\ndefault: n_o <= 'bx; // any\nendcase"), "{}", completed(text));
        let whole = "case (s)\n  1'b1: n = a;\n  default: n = b;\nendcase\n";
        assert_eq!(completed(whole), whole);
    }

    #[test]
    fn signals_of_operations_have_a_rank() {
        assert_eq!(["v17", "a.v3_s2", "valid", "v", "b.x1"].map(rank), [Some(17), Some(3), None, None, None]);
    }

    #[test]
    fn a_missing_tool_is_said() {
        let source = SourceFile { path: "x.v".into(), text: "module x; endmodule\n".into() };
        let error = yosys(&Tools::in_folders([]), &[source], None).unwrap_err();
        assert!(error.code == MISSING_TOOL && error.message.contains("yosys is not on the PATH"), "{error}");
    }
}
