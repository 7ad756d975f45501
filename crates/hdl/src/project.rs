//! RTL projects: several files, file lists, include folders, macros and data files, joined to one source text.
//!
//! [`ProjectFiles`] collects the names from a command line and its file lists; [`RtlProject::load`] reads the files and
//! joins them; [`RtlProject::read`] elaborates the joined text. The caller provides the function that reads files
//! ([`ReadFile`]). Each line of the joined text is mapped to a line of a file for messages.

pub use crate::source::ReadFile;
use crate::source::{Segment, error};
use crate::verilog::preprocess::{self, Includes};
use crate::{Language, MAX_TEXT, Rtl, decoded, verilog, vhdl};
use alir_core::diag::{Diagnostic, Place};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum nesting depth of file lists.
const MAX_LISTS: u32 = 32;
/// Maximum number of files of a project.
const MAX_FILES: usize = 100_000;

/// Extensions of files that are not sources: contents of memories, constraints, scripts.
const DATA: &[&str] = &["hex", "mem", "dat", "mif", "coe", "txt", "bin", "sdc", "xdc", "qsf", "tcl", "lpf", "pcf"];

/// Files, include folders and macros of a project, from a command line and file lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    /// Files, in the order of analysis. They may include data files.
    pub files: Vec<PathBuf>,
    /// Folders that are searched for included files.
    pub include_dirs: Vec<PathBuf>,
    /// Folders in which the file `NAME.v` or `NAME.sv` contains the module NAME (Verilog).
    pub library_dirs: Vec<PathBuf>,
    /// Macros: name and replacement text.
    pub defines: Vec<(String, String)>,
}

impl ProjectFiles {
    /// Adds a macro in the form `NAME` or `NAME=TEXT`. The default text is 1.
    ///
    /// # Errors
    /// A message if `NAME` is not an identifier, or if the text has several lines.
    pub fn define(&mut self, definition: &str) -> Result<(), String> {
        let (name, text) = definition.split_once('=').unwrap_or((definition, "1"));
        let is_name = !name.starts_with(|c: char| c.is_ascii_digit()) && name.bytes().all(preprocess::is_word);
        if name.is_empty() || !is_name {
            return Err(format!("{name:?} is not the name of a macro"));
        }
        if text.contains(['\n', '\r', '\0']) {
            return Err(format!("the text of the macro {name} has more than one line"));
        }
        self.defines.push((name.to_owned(), text.to_owned()));
        Ok(())
    }

    /// Adds a macro of the option `--define`.
    ///
    /// # Errors
    /// `E0917` if the definition is invalid.
    pub fn define_option(&mut self, definition: &str) -> Result<(), Diagnostic> {
        let wrong = |message| Diagnostic::error("E0917", Place::Flag("--define".into()), message);
        self.define(definition).map_err(wrong)
    }

    /// Returns `true` if include folders or macros are given.
    pub fn has_options(&self) -> bool {
        !self.include_dirs.is_empty() || !self.defines.is_empty()
    }

    /// Adds the files and options of a file list. Relative paths are resolved in the folder of the list, then in the
    /// current folder.
    ///
    /// # Errors
    /// `E0917` with line and column for an option that is not supported, a file that does not exist, or lists that
    /// contain one another.
    pub fn add_list(&mut self, list: &Path, read: &ReadFile<'_>) -> Result<(), Diagnostic> {
        self.add_list_within(list, read, 0)
    }

    fn add_list_within(&mut self, list: &Path, read: &ReadFile<'_>, depth: u32) -> Result<(), Diagnostic> {
        let bytes = read(list).map_err(|e| cannot_read(&e).in_file(list))?;
        let text = decoded(bytes).map_err(|e| e.in_file(list))?;
        let fail =
            |at: usize, message: String| Diagnostic { code: "E0917", ..error(&text, at as u32, message) }.in_file(list);
        let folder = list.parent().unwrap_or(Path::new(""));
        // The folder of the list has priority. A file that exists in neither folder is reported by its name in the
        // list.
        let located = |name: &str| {
            let here = folder.join(name);
            if here.exists() || !Path::new(name).exists() { here } else { PathBuf::from(name) }
        };
        let mut words = list_words(&text).map_err(|(at, message)| fail(at, message))?.into_iter();
        while let Some((at, word)) = words.next() {
            let mut argument = |after: &str| match after.is_empty() {
                false => Ok((at, after.trim_start_matches('=').to_owned())),
                true => words.next().ok_or_else(|| fail(at, format!("{word} without its argument"))),
            };
            if let Some(rest) = word.strip_prefix("+incdir+") {
                let folders = rest.split('+').filter(|f| !f.is_empty());
                self.include_dirs.extend(folders.map(located));
            } else if let Some(rest) = word.strip_prefix("+define+") {
                for definition in rest.split('+').filter(|d| !d.is_empty()) {
                    self.define(definition).map_err(|message| fail(at, message))?;
                }
            } else if let Some(rest) = word.strip_prefix("-I").or_else(|| word.strip_prefix("-incdir")) {
                let (_, folder) = argument(rest)?;
                self.include_dirs.push(located(&folder));
            } else if let Some(rest) = word.strip_prefix("-D") {
                let (at, definition) = argument(rest)?;
                self.define(&definition).map_err(|message| fail(at, message))?;
            } else if let "-f" | "-F" | "-file" = &*word {
                let (at, name) = argument("")?;
                if depth + 1 >= MAX_LISTS {
                    return Err(fail(at, format!("file lists nested more than {MAX_LISTS} deep")));
                }
                self.add_list_within(&located(&name), read, depth + 1)?;
            } else if word == "-y" {
                let (_, folder) = argument("")?;
                self.library_dirs.push(located(&folder));
            } else if word == "-v" {
                let (_, name) = argument("")?;
                self.files.push(located(&name));
            } else if is_without_effect(&word) {
            } else if word.starts_with(['-', '+']) {
                let message = format!("the option {word} of file lists is not supported");
                let help = "file names, -f, -v, -y, -I, -D, +incdir+ and +define+ are";
                return Err(fail(at, message).with_help(help));
            } else {
                let path = located(&word);
                if !path.is_file() {
                    return Err(fail(at, format!("no file {word}")));
                }
                self.files.push(path);
            }
            if self.files.len() > MAX_FILES {
                return Err(fail(at, format!("more than {MAX_FILES} files")));
            }
        }
        Ok(())
    }
}

/// Returns `true` for options of file lists that are ignored, as they affect neither the sources nor their semantics.
fn is_without_effect(word: &str) -> bool {
    const EXACT: &[&str] =
        &["-sverilog", "-sv", "-vlog01compat", "-v2k", "+v2k", "-vhdl08", "-vhdl93", "-full64", "-q"];
    const PREFIX: &[&str] =
        &["+libext+", "-timescale", "--timescale", "-g2", "-W", "+lint", "--std=", "-std=", "+acc", "-Wno"];
    EXACT.contains(&word) || PREFIX.iter().any(|prefix| word.starts_with(prefix))
}

/// Returns the words of a file list with their byte offsets. Words are separated by white space. Comments (`//`, `#`,
/// `--`, `/* */`) and quotation marks are removed, and environment variables are replaced.
fn list_words(text: &str) -> Result<Vec<(usize, String)>, (usize, String)> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if rest.starts_with("//") || rest.starts_with("-- ") || c == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").ok_or((at, "a comment that never ends".to_owned()))? + 2;
        } else {
            let (start, mut word, mut quote) = (at, String::new(), None);
            while let Some(c) = text[at..].chars().next() {
                match quote {
                    None if c.is_whitespace() => break,
                    None if c == '"' || c == '\'' => quote = Some(c),
                    Some(q) if c == q => quote = None,
                    _ if c == '$' => {
                        let (value, after) = variable(text, at).map_err(|message| (at, message))?;
                        word.push_str(&value);
                        at = after;
                        continue;
                    }
                    _ => word.push(c),
                }
                at += c.len_utf8();
            }
            if quote.is_some() {
                return Err((start, "a quotation that never ends".to_owned()));
            }
            words.push((start, word));
        }
    }
    Ok(words)
}

/// Returns the value of the environment variable `$NAME`, `${NAME}` or `$(NAME)` at an offset, and the offset of its
/// end.
fn variable(text: &str, at: usize) -> Result<(String, usize), String> {
    let rest = &text[at + 1..];
    let (name, len) = match rest.chars().next().filter(|c| matches!(c, '{' | '(')) {
        Some(open) => {
            let end = rest.find(if open == '{' { '}' } else { ')' }).ok_or("a variable that never ends")?;
            (&rest[1..end], end + 1)
        }
        None => {
            let end = rest.bytes().position(|b| !b.is_ascii_alphanumeric() && b != b'_').unwrap_or(rest.len());
            (&rest[..end], end)
        }
    };
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err("$ without the name of a variable".to_owned());
    }
    match std::env::var(name) {
        Ok(value) => Ok((value, at + 1 + len)),
        Err(_) => Err(format!("the environment variable {name} is not set")),
    }
}

fn cannot_read(why: &io::Error) -> Diagnostic {
    Diagnostic::error("E0001", Place::Whole, format!("cannot read: {why}"))
}

/// Files of library folders that no source has instantiated yet, by module name.
struct ModuleLibrary(FxHashMap<String, PathBuf>);

impl ModuleLibrary {
    /// Lists the files of library folders. If several folders have a file of the same name, the first folder has
    /// priority.
    fn list(folders: &[PathBuf]) -> Result<ModuleLibrary, Diagnostic> {
        let mut files = FxHashMap::default();
        for folder in folders {
            let entries = std::fs::read_dir(folder).map_err(|e| cannot_read(&e).in_file(folder))?;
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            for path in paths {
                let is_verilog = path.extension().is_some_and(|e| e == "v" || e == "sv");
                if let (true, Some(name)) = (is_verilog, path.file_stem().and_then(|stem| stem.to_str())) {
                    files.entry(name.to_owned()).or_insert(path);
                }
            }
        }
        Ok(ModuleLibrary(files))
    }

    /// Removes and returns the files of modules that a source instantiates. Also removes the file of the source itself.
    fn take_modules(&mut self, path: &Path, text: &str) -> Vec<PathBuf> {
        if self.0.is_empty() {
            return Vec::new();
        }
        self.0.retain(|_, other| other != path);
        let declared: FxHashSet<&str> = text
            .split("module")
            .skip(1)
            .filter_map(|rest| {
                rest.split(|c: char| !c.is_ascii() || !preprocess::is_word(c as u8)).find(|w| !w.is_empty())
            })
            .collect();
        let (mut found, mut rest) = (Vec::new(), text);
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let word = &rest[start..];
            let end = word.find(|c: char| !c.is_ascii() || !preprocess::is_word(c as u8)).unwrap_or(word.len());
            // A module name is followed by parameters or the name of an instance.
            let after = word[end..].trim_start();
            let is_instance = after.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '#' | '\\'));
            if is_instance && !declared.contains(&word[..end]) {
                found.extend(self.0.remove(&word[..end]));
            }
            rest = &word[end..];
        }
        found
    }
}

/// Sources of a project, joined to one text.
#[derive(Clone, Debug)]
pub struct RtlProject {
    /// Language of all sources.
    pub language: Language,
    /// Joined text. A single file without options stays unchanged.
    pub text: Arc<str>,
    segments: Vec<Segment>,
    /// Paths of sources and included files.
    paths: Vec<PathBuf>,
    /// Paths and contents of the sources; the header comment of the top module's file is used later.
    sources: Vec<(PathBuf, String)>,
    /// Data files of the command line, which sources refer to by name.
    data: Vec<PathBuf>,
}

impl RtlProject {
    /// Reads and joins the sources of a project.
    ///
    /// # Errors
    /// If a file cannot be read, the files are of two languages (`E0807`), or the preprocessor rejects one (`E0903`).
    pub fn load<E: From<Diagnostic>>(
        project: &ProjectFiles,
        source: &dyn Fn(&Path) -> Result<String, E>,
        read: &ReadFile<'_>,
    ) -> Result<RtlProject, E> {
        // A single file is always a source, with any extension.
        let is_only = project.files.len() == 1;
        let (data, paths): (Vec<PathBuf>, Vec<PathBuf>) =
            project.files.iter().cloned().partition(|path| !is_only && is_data_file(path));
        let (mut sources, mut bytes) = (Vec::with_capacity(paths.len()), 0);
        let mut library = ModuleLibrary::list(&project.library_dirs)?;
        let mut waiting: VecDeque<PathBuf> = paths.into();
        while let Some(path) = waiting.pop_front() {
            let text = source(&path)?;
            waiting.extend(library.take_modules(&path, &text));
            bytes += text.len();
            if bytes > MAX_TEXT {
                let problem = Diagnostic::error("E0903", Place::Whole, "sources of more than 256 MiB");
                return Err(problem.in_file(&path).into());
            }
            sources.push((path, text));
        }
        Ok(RtlProject::join(project, sources, data, read)?)
    }

    /// Joins sources whose contents have already been read.
    ///
    /// # Errors
    /// Like [`RtlProject::load`].
    fn join(
        project: &ProjectFiles,
        sources: Vec<(PathBuf, String)>,
        data: Vec<PathBuf>,
        read: &ReadFile<'_>,
    ) -> Result<RtlProject, Diagnostic> {
        let Some((first, text)) = sources.first() else {
            return Err(Diagnostic::error("E0807", Place::Whole, "no Verilog or VHDL among the files"));
        };
        let language = Language::detect(first, text);
        for (path, text) in &sources {
            let own = Language::detect(path, text);
            if own != language {
                let message = format!("this is {}, and {} is {}", own.name(), first.display(), language.name());
                let help = "one proof reads one language; --via yosys reads projects of both";
                return Err(Diagnostic::error("E0807", Place::Whole, message).in_file(path).with_help(help));
            }
        }
        let paths: Vec<PathBuf> = sources.iter().map(|(path, _)| path.clone()).collect();
        if let ([(_, text)], false) = (&sources[..], project.has_options()) {
            let has_includes = language == Language::Verilog && text.contains("`include");
            if !has_includes {
                let segments = vec![Segment { first: 1, file: 0, line: 1 }];
                let text: Arc<str> = Arc::from(&**text);
                return Ok(RtlProject { language, text, segments, paths, sources, data });
            }
        }
        let (text, segments, paths) = match language {
            Language::Verilog | Language::SystemVerilog => {
                let texts: Vec<&str> = sources.iter().map(|(_, text)| &**text).collect();
                let includes = Includes::new(read, &project.include_dirs, paths);
                preprocess::preprocess_files(&texts, &project.defines, includes)?
            }
            Language::Vhdl => joined(&sources, paths),
        };
        Ok(RtlProject { language, text: text.into(), segments, paths, sources, data })
    }

    /// Elaborates the project to a design.
    ///
    /// # Errors
    /// Like [`crate::read`]; messages contain the name of the file.
    pub fn read(&self, top: Option<&str>, read: &ReadFile<'_>) -> Result<Rtl, Diagnostic> {
        let find = |line: u64, name: &str| {
            let bytes = self.data_file(line, name, read)?;
            decoded(bytes).map_err(|e| format!("{name}: {}", e.message))
        };
        let rtl = crate::read_with(self.language, &self.text, top, &find);
        let mut rtl = rtl.map_err(|wrong| self.located(wrong))?;
        if self.sources.len() > 1 {
            let own = self.sources.iter().find(|(_, text)| declares(self.language, text, &rtl.top));
            rtl.head = own.map_or_else(Vec::new, |(_, text)| header_comment(self.language, text));
        }
        Ok(rtl)
    }

    /// Returns the names of the modules or entities, in the order of their declarations.
    ///
    /// # Errors
    /// If a source cannot be parsed.
    pub fn modules(&self) -> Result<Vec<String>, Diagnostic> {
        let names = match self.language {
            Language::Verilog | Language::SystemVerilog => verilog::modules(&self.text),
            Language::Vhdl => vhdl::entities(&self.text),
        };
        names.map_err(|wrong| self.located(wrong))
    }

    /// Returns paths and contents of the sources.
    pub fn sources(&self) -> &[(PathBuf, String)] {
        &self.sources
    }

    /// Returns the file and the line number in it for a line of the joined text.
    fn place(&self, line: u64) -> (&Path, u64) {
        let at = self.segments.partition_point(|s| s.first <= line).saturating_sub(1);
        let segment = self.segments[at];
        (&self.paths[segment.file], segment.line + line.saturating_sub(segment.first))
    }

    /// Converts the position of a message in the joined text to a file and its line.
    pub fn located(&self, mut wrong: Diagnostic) -> Diagnostic {
        if wrong.file.is_some() {
            return wrong;
        }
        match wrong.place {
            Place::Line { line, column } => {
                let (file, line) = self.place(line);
                wrong.place = Place::Line { line, column };
                wrong.in_file(file)
            }
            _ if self.sources.len() == 1 => wrong.in_file(&self.paths[0]),
            _ => wrong,
        }
    }

    /// Returns the contents of a data file that a line of the sources names. The folder of the source is searched
    /// first, then the current folder, then the data files of the command line.
    fn data_file(&self, line: u64, name: &str, read: &ReadFile<'_>) -> Result<Vec<u8>, String> {
        if name.is_empty() || name.contains('\0') {
            return Err("a file without a name".to_owned());
        }
        let (source, _) = self.place(line);
        let given = self.data.iter().find(|path| path.file_name() == Path::new(name).file_name());
        let folder = source.parent().unwrap_or(Path::new(""));
        let mut why = None;
        for path in [Some(folder.join(name)), Some(PathBuf::from(name)), given.cloned()].into_iter().flatten() {
            match read(&path) {
                Ok(bytes) => return Ok(bytes),
                Err(e) if why.is_none() => why = Some(format!("cannot read {}: {e}", path.display())),
                Err(_) => {}
            }
        }
        Err(why.unwrap_or_default())
    }

    /// Returns names and contents of the data files that string literals of the sources name.
    pub fn data_files(&self, read: &ReadFile<'_>) -> Vec<(String, Vec<u8>)> {
        let mut found: Vec<(String, Vec<u8>)> = Vec::new();
        for (line, text) in self.text.lines().enumerate() {
            for name in text.split('"').skip(1).step_by(2) {
                let is_name = !name.is_empty() && name.len() < 4096 && !found.iter().any(|(known, _)| known == name);
                if is_name && let Ok(bytes) = self.data_file(line as u64 + 1, name, read) {
                    found.push((name.to_owned(), bytes));
                }
            }
        }
        found
    }
}

/// Returns `true` if the extension is that of a data file, which is not a source.
pub fn is_data_file(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    DATA.contains(&extension.as_str())
}

/// Joins sources to one text, without preprocessing.
fn joined(sources: &[(PathBuf, String)], paths: Vec<PathBuf>) -> (String, Vec<Segment>, Vec<PathBuf>) {
    let (mut text, mut segments, mut lines) = (String::new(), Vec::new(), 1);
    for (file, (_, source)) in sources.iter().enumerate() {
        segments.push(Segment { first: lines, file, line: 1 });
        text.push_str(source);
        text.push('\n');
        lines += source.bytes().filter(|&b| b == b'\n').count() as u64 + 1;
    }
    (text, segments, paths)
}

/// Returns `true` if the source seems to declare the module or entity. The search includes comments, so the result is
/// only a hint.
fn declares(language: Language, text: &str, name: &str) -> bool {
    let keyword = if language == Language::Verilog { "module" } else { "entity" };
    let mut before = "";
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()).any(|word| {
        let hit = before.eq_ignore_ascii_case(keyword) && word.eq_ignore_ascii_case(name);
        before = word;
        hit
    })
}

/// Returns the lines of the comments at the beginning of a source, without comment signs.
pub fn header_comment(language: Language, text: &str) -> Vec<String> {
    let mark = if language == Language::Verilog { "//" } else { "--" };
    let lines = text.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with(mark));
    lines.filter_map(|line| line.strip_prefix(mark)).map(|line| line.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Returns a function that reads the given files from memory.
    fn files<'a>(all: &[(&'a str, &'a str)]) -> impl Fn(&Path) -> io::Result<Vec<u8>> + Sync + 'a {
        let all: HashMap<PathBuf, &str> = all.iter().map(|&(path, text)| (PathBuf::from(path), text)).collect();
        move |path| match all.get(path) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn read(all: &[(&str, &str)], names: &[&str], options: &ProjectFiles) -> Result<Rtl, String> {
        let files = files(all);
        let project = ProjectFiles { files: names.iter().map(PathBuf::from).collect(), ..options.clone() };
        let source = |path: &Path| -> Result<String, Diagnostic> {
            decoded(files(path).map_err(|e| cannot_read(&e).in_file(path))?)
        };
        let read = || RtlProject::load(&project, &source, &files)?.read(None, &files);
        read().map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn words_of_lists_have_no_comments_and_no_quotation_marks() {
        let text = "a.v // one\n# two\n-- three\n\"b c.v\" /* four\n */ +define+A='x y'  -D B\n";
        let words: Vec<String> = list_words(text).unwrap().into_iter().map(|w| w.1).collect();
        assert_eq!(words, ["a.v", "b c.v", "+define+A=x y", "-D", "B"]);
        assert_eq!(list_words("a \"b").unwrap_err().0, 2);
        assert!(list_words("$NO_SUCH_VARIABLE_42/a.v").unwrap_err().1.contains("NO_SUCH_VARIABLE_42 is not set"));
        assert!(list_words("x /* y").is_err() && list_words("${A").is_err() && list_words("$/a").is_err());
    }

    #[test]
    fn files_share_macros_and_messages_name_their_file_and_line() {
        let all = [
            ("rtl/defs.vh", "`define W 4\n"),
            (
                "rtl/part.v",
                "`include \"defs.vh\"\nmodule part(input [`W-1:0] a, output [`W-1:0] y);\nassign y = ~a;\nendmodule\n",
            ),
            ("rtl/top.v", "\nmodule top(input [`W-1:0] a, output [`W-1:0] y);\npart p(.a(a), .y(y));\nendmodule\n"),
        ];
        let none = ProjectFiles::default();
        assert_eq!(read(&all, &["rtl/part.v", "rtl/top.v"], &none).unwrap().top, "top");
        let said = read(&all, &["rtl/top.v"], &none).unwrap_err();
        assert!(
            said.contains("rtl/top.v") && said.contains("line 2") && said.contains("the directive `W is not"),
            "{said}"
        );
        let mut wrong = all;
        wrong[2].1 =
            "module top(input [`W-1:0] a, output [`W-1:0] y);\npart p(.a(a), .y(y));\n\nassign y = b;\nendmodule\n";
        let said = read(&wrong, &["rtl/part.v", "rtl/top.v"], &none).unwrap_err();
        assert!(said.contains("rtl/top.v") && said.contains("line 4"), "{said}");
        wrong[0].1 = "`define W 4\n\n`foo\n";
        let said = read(&wrong, &["rtl/part.v", "rtl/top.v"], &none).unwrap_err();
        assert!(said.contains("rtl/defs.vh") && said.contains("line 3"), "{said}");
        // The lines after an included file keep their own line numbers.
        wrong[0].1 = "`define W 4\n\n\n\n";
        wrong[1].1 =
            "`include \"defs.vh\"\nmodule part(input [`W-1:0] a, output [`W-1:0] y);\nassign y = ~b;\nendmodule\n";
        let said = read(&wrong, &["rtl/part.v"], &none).unwrap_err();
        assert!(said.contains("rtl/part.v") && said.contains("line 3"), "{said}");
    }

    #[test]
    fn included_files_are_searched_in_the_folders_of_the_options() {
        let all = [
            ("inc/defs.vh", "`ifdef NARROW\n`define W 2\n`else\n`define W `WIDTH\n`endif\n"),
            (
                "top.v",
                "`include \"defs.vh\" // comment\nmodule top(input [`W-1:0] a, output [`W-1:0] y);\nassign y = a;\n\
                 endmodule\n",
            ),
        ];
        let mut options = ProjectFiles { include_dirs: vec!["inc".into()], ..ProjectFiles::default() };
        options.define("WIDTH=9").unwrap();
        let width = |rtl: Rtl| rtl.signal(rtl.inputs[0]).width;
        assert_eq!(read(&all, &["top.v"], &options).map(width), Ok(9));
        options.define("NARROW").unwrap();
        assert_eq!(read(&all, &["top.v"], &options).map(width), Ok(2));
        options.include_dirs.clear();
        let said = read(&all, &["top.v"], &options).unwrap_err();
        assert!(said.contains("top.v") && said.contains("line 1") && said.contains("no file defs.vh"), "{said}");
        assert!(ProjectFiles::default().define("4X").is_err() && ProjectFiles::default().define("").is_err());
        assert!(ProjectFiles::default().define("A-B=1").is_err());
    }

    #[test]
    fn files_that_include_themselves_are_refused() {
        let said = read(&[("a.v", "`include \"a.v\"\n")], &["a.v"], &ProjectFiles::default()).unwrap_err();
        assert!(said.contains("64 deep"), "{said}");
        let twice = "`include \"b1.v\"\n`include \"b1.v\"\n";
        let mut all: Vec<(String, String)> =
            (0..40).map(|i| (format!("b{i}.v"), twice.replace("b1", &format!("b{}", i + 1)))).collect();
        all.push(("b40.v".into(), "// end\n".into()));
        let all: Vec<(&str, &str)> = all.iter().map(|(a, b)| (&**a, &**b)).collect();
        let said = read(&all, &["b0.v"], &ProjectFiles::default()).unwrap_err();
        assert!(said.contains("100,000 included files"), "{said}");
    }

    #[test]
    fn packages_come_in_any_order_of_files() {
        let all = [
            (
                "top.vhd",
                "library ieee; use ieee.std_logic_1164.all;\nlibrary lib; use lib.q.all;\nentity top is port (a : in \
                 std_logic_vector(n - 1 downto 0); y : out std_logic_vector(n - 1 downto 0)); end entity;\n\
                 architecture r of top is begin y <= not a; end architecture;\n",
            ),
            ("q.vhd", "use work.p.all;\npackage q is constant n : integer := twice(3); end package;\n"),
            (
                "p.vhd",
                "package p is function twice(x : integer) return integer; end package;\npackage body p is\n\
                 function twice(x : integer) return integer is begin return 2 * x; end function; end package body;\n",
            ),
        ];
        let rtl = read(&all, &["top.vhd", "q.vhd", "p.vhd"], &ProjectFiles::default()).unwrap();
        assert_eq!(rtl.signal(rtl.inputs[0]).width, 6);
        let said = read(&all, &["top.vhd", "p.vhd"], &ProjectFiles::default()).unwrap_err();
        assert!(said.contains("top.vhd") && said.contains("line 2"), "{said}");
    }

    /// Returns the entries of the table that drives an output.
    fn words(all: &[(&str, &str)], names: &[&str]) -> Result<Vec<u64>, String> {
        let rtl = read(all, names, &ProjectFiles::default())?;
        let mut open = vec![rtl.read(rtl.outputs[0])];
        while let Some(node) = open.pop() {
            match rtl.expr(node) {
                crate::Expr::Signal(id) => open.extend(rtl.signal(*id).wires.iter().map(|w| w.1)),
                crate::Expr::Mux(_, a, b) => open.extend([a, b]),
                crate::Expr::Table(words, ..) => return Ok(words.iter().map(|v| u64::try_from(v).unwrap()).collect()),
                _ => {}
            }
        }
        panic!("no table")
    }

    #[test]
    fn memories_are_filled_from_files() {
        let design = |decl: &str, task: &str| {
            format!("module rom(input [1:0] a, output [7:0] y);\n{decl}\n{task}\nassign y = m[a];\nendmodule\n")
        };
        let read = |decl: &str, task: &str, data: &str| {
            words(&[("rtl/rom.v", &design(decl, task)), ("rtl/d/m.hex", data)], &["rtl/rom.v"])
        };
        let up = "reg [7:0] m [0:3];";
        let plain = "initial $readmemh(\"d/m.hex\", m);";
        assert_eq!(read(up, plain, "01 // one\n2_a /* x\n ff */ ff\n@3 7\n"), Ok(vec![1, 42, 255, 7]));
        // Without addresses, the words start at the lowest address, whichever way the range is declared.
        assert_eq!(read("reg [7:0] m [3:0];", plain, "1 2 3 4 5 6"), Ok(vec![1, 2, 3, 4]));
        let range = "initial $readmemb(\"d/m.hex\", m, 3, 0);";
        assert_eq!(read(up, range, "1 10 11 100"), Ok(vec![4, 3, 2, 1]));
        let named = "parameter FILE = \"d/m.hex\"; initial if (FILE != \"\") $readmemh(FILE, m);";
        assert_eq!(read(up, named, "1 2\n3 4"), Ok(vec![1, 2, 3, 4]));
        let wrong = [
            (plain, "1 g", "line 1: g is no hexadecimal number"),
            (plain, "1\n100", "line 2: 100 has more than the 8 bits"),
            (plain, "@4 1", "address 4 is outside"),
            (plain, "@", "@ is no address"),
            ("initial $readmemh(\"none.hex\", m);", "", "cannot read rtl/none.hex"),
            ("initial $readmemh(\"\", m);", "", "without a name"),
            ("initial $readmemh(\"d/m.hex\", m, 4);", "", "an address outside"),
            ("initial $readmemh(\"d/m.hex\", a);", "", "fills a memory"),
            ("initial $readmemh(\"d/m.hex\");", "", "takes a file"),
            ("initial $readmemh(\"d/m.hex\", m, 0, 1, 2);", "", "takes a file"),
            ("always @(a) $readmemh(\"d/m.hex\", m);", "1", "outside of an initial block"),
        ];
        for (task, data, why) in wrong {
            let said = read(up, task, data).unwrap_err();
            assert!(said.contains(why) && said.contains("rtl/rom.v") && said.contains("line 3"), "{why}: {said}");
        }
    }

    #[test]
    fn vhdl_reads_memories_from_files() {
        let design = |body: &str, rom: &str| {
            format!(
                "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all; use std.textio.all;\n\
                 use ieee.std_logic_textio.all;\n\
                 entity rom is generic (init : string := \"d/\" & \"m.txt\"); port (a : in unsigned(1 downto 0); y : \
                 out std_logic_vector(7 downto 0)); end entity;\n\
                 architecture r of rom is\n\
                 type rom_t is array (0 to 3) of std_logic_vector(7 downto 0);\n\
                 impure function load(name : in string) return rom_t is\n{body}\n\
                 return m; end function;\n{rom}\nbegin\ny <= m(to_integer(a));\nend architecture;\n"
            )
        };
        let read = |body: &str, rom: &str, data: &str| {
            words(&[("rtl/rom.vhd", &design(body, rom)), ("rtl/d/m.txt", data)], &["rtl/rom.vhd"])
        };
        let constant = "constant m : rom_t := load(init);";
        let each = |task: &str| {
            format!(
                "file f : text open read_mode is name; variable l : line; variable m : rom_t; begin\n\
                 for i in rom_t'range loop readline(f, l); {task} end loop;"
            )
        };
        let bits = "00000001\n00000010\n  00000011\n11111111\n";
        assert_eq!(read(&each("read(l, m(i));"), constant, bits), Ok(vec![1, 2, 3, 255]));
        assert_eq!(read(&each("read(l, m(i));"), "signal m : rom_t := load(init);", bits), Ok(vec![1, 2, 3, 255]));
        assert_eq!(read(&each("hread(l, m(i));"), constant, "01\r\n2a\r\nfF\r\n80"), Ok(vec![1, 42, 255, 128]));
        let integers = "file f : text; variable l : line; variable m : rom_t := (others => x\"00\"); variable i, n : \
                        integer := 0; variable ok : boolean; begin\n\
                        file_open(f, name, read_mode); while not endfile(f) loop readline(f, l);\n\
                        loop read(l, n, ok); exit when not ok; m(i) := std_logic_vector(to_unsigned(n, 8)); i := i + \
                        1; end loop; end loop; file_close(f);";
        assert_eq!(read(integers, constant, "7 8\n9\n"), Ok(vec![7, 8, 9, 0]));
        let old = "file f : text is in name; variable l : line; variable m : rom_t; variable b : bit_vector(7 downto \
                   0); begin\n\
                   for i in 0 to 3 loop readline(f, l); read(l, b); m(i) := to_stdlogicvector(b); end loop;";
        assert_eq!(read(old, constant, bits), Ok(vec![1, 2, 3, 255]));
        let wrong = [
            (each("read(l, m(i));"), "00000001\n", "a line after the end"),
            (each("read(l, m(i));"), "0000001\n", "is not read as std_logic_vector"),
            (each("hread(l, m(i));"), "0g\n", "is not read as"),
            (each("write(l, m(i));"), bits, "no procedure has this name"),
            ("file f : text open write_mode is name; variable m : rom_t; begin".into(), "", "only read"),
            ("file f : text open read_mode is \"none\"; variable m : rom_t; begin".into(), "", "cannot read rtl/none"),
        ];
        for (body, data, why) in wrong {
            let said = read(&body, constant, data).unwrap_err();
            assert!(said.contains(why) && said.contains("rtl/rom.vhd"), "{why}: {said}");
        }
    }

    #[test]
    fn vhdl_computes_tables_with_real_numbers() {
        let text = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all; use ieee.math_real.all;\n\
            entity rom is port (a : in unsigned(1 downto 0); y : out signed(7 downto 0)); end entity;\n\
            architecture r of rom is\n\
            type rom_t is array (0 to 3) of signed(7 downto 0);\n\
            constant n : integer := integer(ceil(log2(real(5))));\n\
            constant scale : real := 2.0 ** (n + 3) + 1.0e1 / 2.0 - 5.0;\n\
            function sine return rom_t is variable m : rom_t; variable x : real := 0.0; begin\n\
            for i in rom_t'range loop x := math_pi_over_2 * real(i);\n\
            if sin(x) > 0.5 then m(i) := to_signed(integer(round(scale * sin(x))), 8);\n\
            else m(i) := to_signed(integer(-scale * sin(x) / 2.0 + 2.5), 8); end if; end loop; return m; end \
            function;\n\
            constant m : rom_t := sine;\n\
            begin y <= m(to_integer(a)); end architecture;\n";
        // 2.5 rounds to 3; sin(pi) is a little more than 0; the last one is 32 + 2.5.
        assert_eq!(words(&[("rom.vhd", text)], &["rom.vhd"]), Ok(vec![3, 64, 2, 35]));
        for (from, to, why) in [
            ("2.0 ** (n + 3)", "log2(0.0)", "infinite"),
            ("variable x : real := 0.0", "variable x : real", ""),
            ("integer(ceil", "integer(exp(99.0) * ceil", "beyond 64 bits"),
            (
                "begin y <= m(to_integer(a));",
                "signal x : real := 1.0;\nbegin y <= m(to_integer(a));",
                "outside of a constant",
            ),
        ] {
            let said =
                words(&[("rom.vhd", &text.replace(from, to))], &["rom.vhd"]).map(|_| ()).err().unwrap_or_default();
            assert!(said.contains(why) && (why.is_empty() == said.is_empty()), "{from}: {said}");
        }
    }

    #[test]
    fn choices_of_constants_are_tables() {
        let items: String = (0..16)
            .filter(|i| i % 5 != 1)
            .map(|i| format!("when {i} => y <= std_logic_vector(to_unsigned({}, 8));\n", i * i))
            .collect();
        let text = format!(
            "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n\
             entity t is port (a : in unsigned(3 downto 0); y : out std_logic_vector(7 downto 0)); end entity;\n\
             architecture r of t is begin process (a) begin case to_integer(a) is\n{items}when others => y <= \
             x\"07\"; end case; end process; end architecture;\n"
        );
        let expected: Vec<u64> = (0..16).map(|i| if i % 5 != 1 { i * i } else { 7 }).collect();
        assert_eq!(words(&[("t.vhd", &text)], &["t.vhd"]), Ok(expected));
        // Undefined words are outside of the table, so they stay undefined.
        let text = text.replace("x\"07\"", "(others => 'X')");
        assert!(words(&[("t.vhd", &text)], &["t.vhd"]).is_ok());
    }

    #[test]
    fn data_files_are_those_that_strings_name() {
        let all = [
            ("a/top.v", "module top; initial $readmemh(\"d/m.hex\", m); initial $display(\"none\"); endmodule\n"),
            ("a/d/m.hex", "1 2"),
        ];
        let files = files(&all);
        let project = ProjectFiles { files: vec!["a/top.v".into()], ..ProjectFiles::default() };
        let source = |path: &Path| -> Result<String, Diagnostic> { decoded(files(path).unwrap()) };
        let project = RtlProject::load(&project, &source, &files).unwrap();
        assert_eq!(project.data_files(&files), [("d/m.hex".to_owned(), b"1 2".to_vec())]);
    }

    #[test]
    fn the_header_comment_is_that_of_the_file_with_the_top_module() {
        let all = [
            ("part.v", "// Latency: 7\nmodule part(input a, output y);\nassign y = ~a;\nendmodule\n"),
            ("top.v", "// Latency: 0\n// more\nmodule top(input a, output y);\npart p(.a(a), .y(y));\nendmodule\n"),
        ];
        let rtl = read(&all, &["part.v", "top.v"], &ProjectFiles::default()).unwrap();
        assert_eq!(rtl.head, ["Latency: 0", "more"]);
    }

    #[test]
    fn files_of_two_languages_are_refused() {
        let all = [("a.v", "module a; endmodule\n"), ("b.vhd", "entity b is end;\n")];
        let said = read(&all, &["a.v", "b.vhd"], &ProjectFiles::default()).unwrap_err();
        assert!(said.contains("E0807") && said.contains("b.vhd") && said.contains("this is vhdl"), "{said}");
    }
}
