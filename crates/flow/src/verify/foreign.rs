//! Third-party hardware: Verilog or VHDL files that were edited or written by others, to be simulated against a model.
//!
//! The module must have the ports of the generated hardware (`docs/rtl-interface.md`). The ports are checked before a
//! simulator is started: if the front end supports the files, with direction and width, otherwise only by searching for
//! their names.

use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_hdl::project::{ProjectFiles, ReadFile, RtlProject, is_data_file};
use alir_hdl::{self, Language, Rtl, SignalId};
use alir_hw::emit::axis::Axis;
use alir_hw::netlist::{Direction, Netlist};
use std::collections::BTreeSet;
use std::path::Path;

/// Extensions of included files.
const INCLUDED: &[&str] = &["vh", "svh"];

/// Source files of third-party hardware.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// Language of the sources.
    pub language: Language,
    /// All files: name in the folder of a simulation, and contents. The sources come first, in the given order.
    pub files: Vec<(String, Vec<u8>)>,
    /// Number of sources in `files`.
    pub sources: usize,
    /// Concatenated HDL source of all sources.
    text: String,
    /// Names of the files as they were given, for messages.
    names: String,
}

/// Returns `true` if a file is compiled, rather than included or read as data.
fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    !is_data_file(path) && !INCLUDED.contains(&extension.as_str())
}

/// A required port.
struct Wanted {
    name: String,
    input: bool,
    width: u32,
}

impl Foreign {
    /// Help for files with an initiation interval that cannot be simulated.
    pub const PROVE_INTERVALS: &str = "`alir2hdl prove MODEL FILE` reads the timing of any file from its logic";

    /// Returns `true` if the header comment states the initiation interval and latency of a netlist.
    pub fn has_timing_of(&self, netlist: &Netlist) -> bool {
        let head = self.head();
        let is_timing = |line: &&String| line.contains(", initiation interval ");
        netlist.header().iter().filter(is_timing).all(|line| head.iter().any(|other| other.trim() == line))
    }

    /// Returns the lines of the comment at the top of the first file.
    pub fn head(&self) -> Vec<String> {
        let comment = |line: &str| {
            let line = line.trim_start();
            line.strip_prefix("//").or_else(|| line.strip_prefix("--")).map(str::to_owned)
        };
        self.text.lines().map_while(comment).collect()
    }

    /// Reads the files of a project. File names ending in `.v`, `.sv`, `.vhd` or `.vhdl` determine the language,
    /// otherwise the content does. With include folders or macros, the simulators receive one preprocessed file. Data
    /// files that strings of the sources name are copied into the folder of the simulation.
    ///
    /// # Errors
    /// If a file cannot be read, there is no source, or the sources are not of one language.
    pub fn read(project: &ProjectFiles, read_file: &ReadFile<'_>) -> Result<Foreign, Diagnostic> {
        let paths = &project.files;
        let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        let (mut sources, mut data_files, mut text) = (Vec::new(), Vec::new(), String::new());
        let mut first: Option<(Language, &Path)> = None;
        let mut taken = BTreeSet::new();
        for path in paths {
            let bytes = std::fs::read(path)
                .map_err(|e| Diagnostic::error("E0001", Place::Whole, format!("cannot read: {e}")).in_file(path))?;
            let name = file_name(path, &mut taken);
            if !is_source(path) {
                data_files.push((name, bytes));
                continue;
            }
            let own = alir_hdl::decoded(bytes.clone()).map_err(|e| e.in_file(path))?;
            let language = Language::detect(path, &own);
            match first {
                Some((other, before)) if other != language => {
                    let (a, b) = (language.name(), other.name());
                    let message = format!("this is {a}, and {} is {b}", before.display());
                    let help = "a simulation takes files of one language; give those of one";
                    return Err(Diagnostic::error("E1009", Place::Whole, message).in_file(path).with_help(help));
                }
                _ => first = first.or(Some((language, path))),
            }
            text.push_str(&own);
            text.push('\n');
            sources.push((name, bytes));
        }
        let Some((language, _)) = first else {
            let message = format!("no Verilog or VHDL among {names}");
            return Err(Diagnostic::error("E1009", Place::Flag("--rtl".into()), message));
        };
        let only_sources =
            ProjectFiles { files: paths.iter().filter(|p| is_source(p)).cloned().collect(), ..project.clone() };
        let source =
            |path: &Path| -> Result<String, Diagnostic> { alir_hdl::decoded(read_file(path).unwrap_or_default()) };
        match RtlProject::load(&only_sources, &source, read_file) {
            Ok(joined) => {
                let is_preprocessed =
                    language == Language::Verilog && (project.has_options() || text.contains("`include"));
                if is_preprocessed {
                    text = joined.text.to_string();
                    sources = vec![("rtl_project.v".to_owned(), text.clone().into_bytes())];
                }
                for (name, bytes) in joined.data_files(read_file) {
                    let flat = match data_files.iter().find(|(_, known)| *known == bytes) {
                        Some((known, _)) => known.clone(),
                        None => file_name(Path::new(&name), &mut taken),
                    };
                    for (_, source) in sources.iter_mut().filter(|_| flat != name) {
                        let renamed = alir_hdl::decoded(std::mem::take(source))?;
                        *source = renamed.replace(&format!("\"{name}\""), &format!("\"{flat}\"")).into_bytes();
                    }
                    if !data_files.iter().any(|(known, _)| *known == flat) {
                        data_files.push((flat, bytes));
                    }
                }
            }
            // Included files may be among the given files, where a simulator finds them.
            Err(_) if !project.has_options() => {}
            Err(problem) => return Err(problem),
        }
        let count = sources.len();
        Ok(Foreign { language, files: sources.into_iter().chain(data_files).collect(), sources: count, text, names })
    }

    /// Returns the name of the top module: `asked` if given, otherwise the only module that no other module
    /// instantiates.
    ///
    /// # Errors
    /// If there is no module of that name, or the top module is ambiguous.
    pub fn top(&self, asked: Option<&str>) -> Result<String, Diagnostic> {
        let words = words(&self.text, self.language);
        let declared = declared(&words, self.language);
        let listed = declared.join(", ");
        let error = |message: String, help: String| {
            Err(Diagnostic::error("E1009", Place::Flag("--top".into()), message).with_help(help))
        };
        let what = self.unit();
        match asked {
            Some(asked) if declared.iter().any(|name| self.same(name, asked)) => return Ok(asked.to_owned()),
            Some(asked) if declared.is_empty() => {
                return error(format!("no {what} `{asked}` in {}", self.names), format!("the files declare no {what}"));
            }
            Some(asked) => {
                return error(format!("no {what} `{asked}` in {}", self.names), format!("there are: {listed}"));
            }
            None => {}
        }
        let tops: Vec<&String> = declared.iter().filter(|name| !is_used(&words, name, self.language)).collect();
        match tops[..] {
            [one] => Ok(one.clone()),
            [] if declared.is_empty() => {
                error(format!("no {what} is declared in {}", self.names), "give the files that declare it".into())
            }
            [] => error(format!("no {what} in {} that no other uses", self.names), format!("--top, one of: {listed}")),
            _ => {
                let tops: Vec<&str> = tops.into_iter().map(String::as_str).collect();
                error(format!("which {what} of {} is meant", self.names), format!("--top, one of: {}", tops.join(", ")))
            }
        }
    }

    /// Checks that the module has the ports of the generated hardware, which are those of `axis` if there is a wrapper.
    ///
    /// # Errors
    /// Every port that is missing or has another direction or width, and every input that would not be driven.
    pub fn check_ports(&self, top: &str, netlist: &Netlist, axis: Option<&Axis>) -> Result<(), Diagnostics> {
        let wanted = axis.map_or_else(|| netlist_ports(netlist), axis_ports);
        let problems = match alir_hdl::read(self.language, &self.text, Some(top)) {
            Ok(rtl) => self.compared(top, &wanted, &rtl),
            // The front end does not support the files; the name of a port must occur in any case.
            Err(_) => {
                let words = words(&self.text, self.language);
                let absent = |port: &&Wanted| !words.iter().any(|word| self.same(word, &port.name));
                wanted
                    .iter()
                    .filter(absent)
                    .map(|port| format!("{} `{top}` has no port `{}`", self.unit(), port.name))
                    .collect()
            }
        };
        if problems.is_empty() {
            return Ok(());
        }
        let port = |p: &Wanted| {
            let direction = if p.input { "in" } else { "out" };
            if p.width == 1 {
                format!("{direction} {}", p.name)
            } else {
                format!("{direction} {}[{}:0]", p.name, p.width - 1)
            }
        };
        let help = format!(
            "the ports are to be: {} (--pipeline, --ports, --valid, --enable, --reset and the names of ports describe \
             them)",
            wanted.iter().map(port).collect::<Vec<_>>().join(", ")
        );
        let mut problems: Vec<Diagnostic> = problems
            .into_iter()
            .map(|message| Diagnostic::error("E1009", Place::Whole, message).in_file(Path::new(&self.names)))
            .collect();
        if let Some(last) = problems.last_mut() {
            last.help = Some(help);
        }
        Err(Diagnostics(problems))
    }

    fn compared(&self, top: &str, wanted: &[Wanted], rtl: &Rtl) -> Vec<String> {
        let unit = self.unit();
        let mut problems = Vec::new();
        let all: Vec<(SignalId, bool)> =
            rtl.inputs.iter().map(|&id| (id, true)).chain(rtl.outputs.iter().map(|&id| (id, false))).collect();
        let find = |name: &str| all.iter().find(|(id, _)| self.same(&rtl.signal(*id).name, name));
        for port in wanted {
            match find(&port.name) {
                None => problems.push(format!("{unit} `{top}` has no port `{}`", port.name)),
                Some((_, input)) if *input != port.input => {
                    let (is, should) = if *input { ("input", "output") } else { ("output", "input") };
                    problems.push(format!("port `{}` of `{top}` is an {is} and should be an {should}", port.name));
                }
                Some((id, _)) if rtl.signal(*id).width != port.width => {
                    let width = rtl.signal(*id).width;
                    problems.push(format!(
                        "port `{}` of `{top}` has {width} bits and should have {}",
                        port.name, port.width
                    ));
                }
                Some(_) => {}
            }
        }
        for &(id, _) in all.iter().filter(|(_, input)| *input) {
            let name = &rtl.signal(id).name;
            if !wanted.iter().any(|port| self.same(&port.name, name)) {
                problems.push(format!("`{top}` has an input `{name}` that nothing would drive"));
            }
        }
        problems
    }

    /// Returns the keyword of the language for a design unit.
    fn unit(&self) -> &'static str {
        match self.language {
            Language::Verilog | Language::SystemVerilog => "module",
            Language::Vhdl => "entity",
        }
    }

    /// Returns `true` if two names are the same in the language.
    fn same(&self, a: &str, b: &str) -> bool {
        match self.language {
            Language::Verilog | Language::SystemVerilog => a == b,
            Language::Vhdl => a.eq_ignore_ascii_case(b),
        }
    }
}

/// Returns the name of a file in the folder of a simulation: safe in commands, and different from all other files
/// there.
fn file_name(path: &Path, taken: &mut BTreeSet<String>) -> String {
    let own = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
    let mut name: String = own.chars().map(harmless).collect();
    let ours = ["bench.v", "bench.vhd", "bench.cpp", "wrapper.v", "run.sh"];
    if name.starts_with('-') || ours.contains(&name.to_ascii_lowercase().as_str()) || name.starts_with("rows_") {
        name.insert_str(0, "rtl_");
    }
    while !taken.insert(name.to_ascii_lowercase()) {
        name.insert_str(0, "rtl_");
    }
    name
}

fn netlist_ports(netlist: &Netlist) -> Vec<Wanted> {
    let wanted = |p: &alir_hw::netlist::Port| Wanted {
        name: p.name.clone(),
        input: p.direction == Direction::In,
        width: p.width,
    };
    netlist.ports().iter().map(wanted).collect()
}

fn axis_ports(axis: &Axis) -> Vec<Wanted> {
    let wanted = |(name, direction, width): (String, Direction, Option<u32>)| Wanted {
        name,
        input: direction == Direction::In,
        width: width.unwrap_or(1),
    };
    axis.ports().into_iter().map(wanted).collect()
}

/// Returns the words and symbols of HDL source, without comments and strings.
fn words(text: &str, language: Language) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let line_comment = if language == Language::Vhdl { "--" } else { "//" };
        if rest.starts_with(line_comment) {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else if c == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            rest = &rest[end..];
        } else if c.is_alphanumeric() || c == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        } else {
            if !c.is_whitespace() {
                words.push(c.to_string());
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    words
}

/// Returns the names of the modules or entities, in order.
fn declared(words: &[String], language: Language) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for pair in words.windows(3) {
        let [keyword, name, next] = pair else { continue };
        let is_declaration = match language {
            Language::Verilog | Language::SystemVerilog => keyword == "module" || keyword == "macromodule",
            Language::Vhdl => keyword.eq_ignore_ascii_case("entity") && next.eq_ignore_ascii_case("is"),
        };
        if is_declaration && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns `true` if another module or entity has an instance of this one.
fn is_used(words: &[String], name: &str, language: Language) -> bool {
    words.windows(2).any(|pair| match language {
        Language::Verilog | Language::SystemVerilog => {
            pair[1] == name && !["module", "macromodule", ":"].contains(&pair[0].as_str())
        }
        Language::Vhdl => {
            pair[1].eq_ignore_ascii_case(name)
                && ([".", ":"].contains(&pair[0].as_str()) || pair[0].eq_ignore_ascii_case("component"))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(language: Language, text: &str) -> Foreign {
        let files = vec![("a".to_owned(), text.as_bytes().to_vec())];
        Foreign { language, files, sources: 1, text: text.to_owned(), names: "a".into() }
    }

    #[test]
    fn the_top_is_the_module_that_no_other_uses() {
        let verilog = "// module wrong;\nmodule part(input a); endmodule\n/* module no; */ module whole(input a);\
                       part #(.N(1)) p(.a(a)); initial $display(\"module x\"); endmodule : whole\n";
        let files = foreign(Language::Verilog, verilog);
        assert_eq!(files.top(None).unwrap(), "whole");
        assert_eq!(files.top(Some("part")).unwrap(), "part");
        let said = files.top(Some("Part")).unwrap_err().to_string();
        assert!(said.contains("no module `Part` in a") && said.contains("part, whole"), "{said}");
        let vhdl = "library ieee; use ieee.std_logic_1164.all;\nentity Part is port(a : in bit); end entity Part;\n\
                    architecture rtl of Part is begin end rtl; -- entity wrong is\n\
                    ENTITY whole IS END; architecture rtl of whole is begin p : entity work.part port map('0'); end \
                    rtl;";
        let files = foreign(Language::Vhdl, vhdl);
        assert_eq!(files.top(None).unwrap(), "whole");
        assert_eq!(files.top(Some("PART")).unwrap(), "PART");
        let two = foreign(Language::Verilog, "module a; endmodule module b; endmodule");
        assert!(two.top(None).unwrap_err().to_string().contains("--top, one of: a, b"));
    }

    #[test]
    fn files_have_names_of_their_own() {
        let mut taken = BTreeSet::new();
        let names = ["x/top.v", "y/top.v", "bench.v", "-o.v", "a b.v"].map(|p| file_name(Path::new(p), &mut taken));
        assert_eq!(names, ["top.v", "rtl_top.v", "rtl_bench.v", "rtl_-o.v", "a_b.v"]);
    }
}
