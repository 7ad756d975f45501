//! Preprocessor: macros, conditional compilation and included files (IEEE 1364-2001, section 19).
//!
//! The output keeps the lines of the source, so that line numbers in messages are correct: macros expand within their
//! line, and skipped text leaves its line ends.

use crate::source::{ReadFile, Segment, error};
use alir_core::diag::Diagnostic;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Maximum nesting depth of macros, number of expansions in a file, and number of characters of the output.
const MAX_DEPTH: u32 = 64;
const MAX_EXPANSIONS: u32 = 1_000_000;
const MAX_TEXT: usize = 1 << 28;

#[derive(Clone)]
struct Macro {
    /// Names of the arguments; `None` for a macro without brackets.
    args: Option<Vec<String>>,
    body: String,
}

/// One `ifdef` whose `endif` was not parsed yet.
struct Branch {
    /// `true` if the lines of the current branch are kept.
    taken: bool,
    /// `true` if a branch was already taken, or if the surrounding lines are skipped.
    done: bool,
    /// `true` after `else`.
    last: bool,
    at: usize,
}

/// Maximum nesting depth of included files, and maximum number of inclusions in a project.
const MAX_INCLUDE_DEPTH: u32 = 64;
const MAX_INCLUDED: u32 = 100_000;

/// Files that `include` reads, and the origin of each line of the output.
pub(crate) struct Includes<'a> {
    read: &'a ReadFile<'a>,
    folders: &'a [PathBuf],
    /// Files that have been read, the sources first.
    paths: Vec<PathBuf>,
    segments: Vec<Segment>,
    included: u32,
    /// Number of bytes of the output whose line ends are counted, and the number of these line ends.
    counted: (usize, u64),
}

impl<'a> Includes<'a> {
    pub(crate) fn new(read: &'a ReadFile<'a>, folders: &'a [PathBuf], sources: Vec<PathBuf>) -> Includes<'a> {
        Includes { read, folders, paths: sources, segments: Vec::new(), included: 0, counted: (0, 0) }
    }

    /// Records that the following line of the output is line `line` of a file.
    fn begin(&mut self, out: &str, file: usize, line: u64) {
        let (bytes, lines) = &mut self.counted;
        *lines += out.as_bytes()[*bytes..].iter().filter(|&&b| b == b'\n').count() as u64;
        *bytes = out.len();
        self.segments.push(Segment { first: *lines + 1, file, line });
    }

    /// Reads an included file and returns its path too. The folder of the including file is searched first, then the
    /// folders of the options, then the current folder.
    fn open(&self, from: usize, name: &str) -> std::result::Result<(PathBuf, String), String> {
        let own = self.paths[from].parent().unwrap_or(Path::new(""));
        let folders = std::iter::once(own).chain(self.folders.iter().map(PathBuf::as_path)).chain([Path::new("")]);
        for path in folders.map(|folder| folder.join(name)) {
            if let Ok(bytes) = (self.read)(&path) {
                let text = crate::decoded(bytes).map_err(|e| format!("{}: {}", path.display(), e.message))?;
                return Ok((path, text));
            }
        }
        Err(format!("no file {name}, in the folder of this file or in those of -I"))
    }
}

struct Preprocessor<'a, 'b, 'c> {
    text: &'a str,
    macros: FxHashMap<String, Macro>,
    branches: Vec<Branch>,
    out: String,
    expansions: u32,
    /// Included files; `None` if inclusion is not supported.
    includes: Option<&'b mut Includes<'c>>,
    file: usize,
    depth: u32,
}

/// Preprocesses files and joins them. Macros of a file are defined in the files after it.
///
/// # Errors
/// `E0903` with file, line and column.
pub(crate) fn preprocess_files(
    texts: &[&str],
    defines: &[(String, String)],
    mut includes: Includes<'_>,
) -> Result<(String, Vec<Segment>, Vec<PathBuf>)> {
    let define = |(name, body): &(String, String)| (name.clone(), Macro { args: None, body: body.trim().to_owned() });
    let mut macros = predefined();
    macros.extend(defines.iter().map(define));
    let (mut out, mut expansions) = (String::new(), 0);
    for (file, text) in texts.iter().enumerate() {
        includes.begin(&out, file, 1);
        let mut p = Preprocessor {
            text,
            macros,
            branches: Vec::new(),
            out,
            expansions,
            includes: Some(&mut includes),
            file,
            depth: 0,
        };
        let result = p.run().and_then(|()| p.ended());
        (macros, out, expansions) = (p.macros, p.out, p.expansions);
        result.map_err(|wrong| wrong.in_file(&includes.paths[file]))?;
        out.push('\n');
        if out.len() > MAX_TEXT {
            return Err(error("", 0, "sources of more than 2^28 characters"));
        }
    }
    Ok((out, includes.segments, includes.paths))
}

/// Returns the macros that are predefined in every file, as for synthesis.
fn predefined() -> FxHashMap<String, Macro> {
    FxHashMap::from_iter([("SYNTHESIS".to_owned(), Macro { args: None, body: String::new() })])
}

/// Preprocesses a single file: expands macros and removes skipped text.
pub(crate) fn preprocess(text: &str) -> Result<Cow<'_, str>> {
    let ours = ["`define", "`undef", "`ifdef", "`ifndef", "`else", "`elsif", "`endif", "`include"];
    // The lexer handles other directives, so the source is not copied.
    if !ours.iter().any(|d| text.contains(d)) {
        return Ok(Cow::Borrowed(text));
    }
    let mut p = Preprocessor {
        text,
        macros: predefined(),
        branches: Vec::new(),
        out: String::with_capacity(text.len()),
        expansions: 0,
        includes: None,
        file: 0,
        depth: 0,
    };
    p.run()?;
    p.ended()?;
    Ok(Cow::Owned(p.out))
}

pub(crate) fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')
}

/// Returns the end of a comment, string or escaped name that starts at `at`; `None` for other text.
fn opaque(text: &str, at: usize) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    let end = match rest {
        [b'/', b'/', ..] => rest.iter().position(|&b| b == b'\n'),
        [b'/', b'*', ..] => text[at + 2..].find("*/").map(|n| n + 4),
        [b'"', ..] => {
            let mut i = 1;
            while i < rest.len() && rest[i] != b'"' && rest[i] != b'\n' {
                i += if rest[i] == b'\\' { 2 } else { 1 };
            }
            Some(i + 1)
        }
        [b'\\', ..] => rest.iter().position(u8::is_ascii_whitespace),
        _ => return None,
    };
    let mut end = (at + end.unwrap_or(rest.len())).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    Some(end)
}

impl Preprocessor<'_, '_, '_> {
    /// Returns an error if an `ifdef` is not closed at the end of the file.
    fn ended(&self) -> Result<()> {
        match self.branches.last() {
            Some(open) => self.fail(open.at, "an `ifdef without its `endif"),
            None => Ok(()),
        }
    }

    /// Preprocesses an included file with the current macros. Afterwards the output lines belong to this file again.
    fn include(&mut self, at: usize, after: usize) -> Result<usize> {
        // `includes` is restored only on success, as an error ends the whole project.
        let Some(includes) = self.includes.take() else {
            return Err(error(self.text, at as u32, "`include is not supported")
                .with_help("one file is read: put the text of the other in its place"));
        };
        let rest = &self.text[after..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let start = line.len() - line.trim_start().len();
        let close = match line.as_bytes().get(start) {
            Some(b'"') => b'"',
            Some(b'<') => b'>',
            Some(b'`') => {
                return self.fail(at, "an `include of a file that a macro names is not supported");
            }
            _ => return self.fail(at, "an `include without the name of a file"),
        };
        let Some(end) = line.as_bytes()[start + 1..].iter().position(|&b| b == close) else {
            return self.fail(at, "the name of an included file never ends");
        };
        let name = &line[start + 1..start + 1 + end];
        let end = after + start + 2 + end;
        includes.included += 1;
        if self.depth >= MAX_INCLUDE_DEPTH {
            return self.fail(at, "files that include one another more than 64 deep");
        }
        if includes.included > MAX_INCLUDED {
            return self.fail(at, "more than 100,000 included files");
        }
        let (path, text) = match includes.open(self.file, name) {
            Ok(found) => found,
            Err(message) => return self.fail(at, message),
        };
        let file = match includes.paths.iter().position(|known| *known == path) {
            Some(known) => known,
            None => {
                includes.paths.push(path);
                includes.paths.len() - 1
            }
        };
        self.out.push('\n');
        includes.begin(&self.out, file, 1);
        let mut inner = Preprocessor {
            text: &text,
            macros: std::mem::take(&mut self.macros),
            branches: Vec::new(),
            out: std::mem::take(&mut self.out),
            expansions: self.expansions,
            includes: Some(&mut *includes),
            file,
            depth: self.depth + 1,
        };
        let result = inner.run().and_then(|()| inner.ended());
        (self.macros, self.out, self.expansions) = (inner.macros, inner.out, inner.expansions);
        result.map_err(|wrong| wrong.in_file(&includes.paths[file]))?;
        if self.out.len() > MAX_TEXT {
            return self.fail(at, "included files of more than 2^28 characters");
        }
        self.out.push('\n');
        let line = self.text.as_bytes()[..end].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
        includes.begin(&self.out, self.file, line);
        self.includes = Some(includes);
        Ok(end)
    }

    fn fail<T>(&self, at: usize, message: impl Into<String>) -> Result<T> {
        Err(error(self.text, at as u32, message))
    }

    fn taken(&self) -> bool {
        self.branches.iter().all(|b| b.taken)
    }

    fn word(&self, at: usize) -> (&str, usize) {
        let bytes = self.text.as_bytes();
        let end = (at..bytes.len()).find(|&i| !is_word(bytes[i])).unwrap_or(bytes.len());
        (&self.text[at..end], end)
    }

    /// Returns the name that follows on the same line, and its end.
    fn name_after(&self, at: usize) -> Result<(String, usize)> {
        let bytes = self.text.as_bytes();
        let start = (at..bytes.len()).find(|&i| !matches!(bytes[i], b' ' | b'\t')).unwrap_or(bytes.len());
        let (word, end) = self.word(start);
        if word.is_empty() {
            return self.fail(at, "a directive without the name of a macro");
        }
        Ok((word.to_owned(), end))
    }

    /// Copies text to the output; of skipped text only the line ends.
    fn copy(&mut self, from: usize, to: usize) {
        let text = &self.text[from..to];
        if self.taken() {
            self.out.push_str(text);
        } else {
            self.out.extend(text.chars().filter(|&c| c == '\n'));
        }
    }

    fn run(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if let Some(end) = opaque(self.text, at) {
                self.copy(at, end);
                at = end;
            } else if bytes[at] == b'`' {
                at = self.directive(at)?;
            } else {
                let end = (at + 1..bytes.len()).find(|&i| matches!(bytes[i], b'/' | b'"' | b'\\' | b'`'));
                let end = end.unwrap_or(bytes.len());
                self.copy(at, end);
                at = end;
            }
        }
        Ok(())
    }

    fn directive(&mut self, at: usize) -> Result<usize> {
        let (word, after) = self.word(at + 1);
        match word {
            "ifdef" | "ifndef" => {
                let wanted = word == "ifdef";
                let (name, end) = self.name_after(after)?;
                let outer = self.taken();
                let taken = outer && self.macros.contains_key(&name) == wanted;
                self.branches.push(Branch { taken, done: taken || !outer, last: false, at });
                if self.branches.len() > 1000 {
                    return self.fail(at, "more than 1,000 `ifdef within one another");
                }
                Ok(end)
            }
            "else" | "elsif" => {
                let (defined, end) = if word == "else" {
                    (true, after)
                } else {
                    let (name, end) = self.name_after(after)?;
                    (self.macros.contains_key(&name), end)
                };
                match self.branches.last_mut() {
                    Some(b) if !b.last => {
                        b.taken = !b.done && defined;
                        b.done |= b.taken;
                        b.last = end == after;
                        Ok(end)
                    }
                    _ => self.fail(at, "this directive has no `ifdef before it"),
                }
            }
            "endif" => match self.branches.pop() {
                Some(_) => Ok(after),
                None => self.fail(at, "this directive has no `ifdef before it"),
            },
            _ if !self.taken() => {
                // Any directive is valid in skipped text.
                Ok(after.max(at + 1))
            }
            "define" => self.define(after),
            "undef" => {
                let (name, end) = self.name_after(after)?;
                self.macros.remove(&name);
                Ok(end)
            }
            "include" => self.include(at, after),
            // Directives for the lexer.
            "default_nettype" | "timescale" | "resetall" | "celldefine" | "endcelldefine" => {
                self.copy(at, after);
                Ok(after)
            }
            _ => {
                let (expanded, end) = self.expand(self.text, at, 0, at)?;
                self.out.push_str(&expanded);
                if self.out.len() > MAX_TEXT {
                    return self.fail(at, "macros that expand to more than 2^28 characters");
                }
                // Keep the line ends between the arguments of the macro.
                self.out.extend(self.text[at..end].chars().filter(|&c| c == '\n'));
                Ok(end)
            }
        }
    }

    /// Defines a macro: `define NAME body` or `define NAME(a, b) body`. A backslash at the end of a line continues the
    /// definition.
    fn define(&mut self, at: usize) -> Result<usize> {
        let start = at;
        let (name, mut at) = self.name_after(at)?;
        let bytes = self.text.as_bytes();
        let mut args = None;
        if bytes.get(at) == Some(&b'(') {
            let Some(end) = self.text[at..].find(')').map(|n| at + n) else {
                return self.fail(at, "arguments of a macro that never end");
            };
            let names: Vec<String> = self.text[at + 1..end].split(',').map(|a| a.trim().to_owned()).collect();
            if names.iter().any(|n| n.is_empty() || !n.bytes().all(is_word)) {
                return self.fail(at, "arguments of a macro are names");
            }
            args = Some(names);
            at = end + 1;
        }
        let mut body = String::new();
        loop {
            match bytes.get(at) {
                None | Some(b'\n') => break,
                Some(b'\\') if matches!(bytes.get(at + 1), Some(b'\n')) => at += 2,
                Some(b'\\') if bytes[at + 1..].starts_with(b"\r\n") => at += 3,
                Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                    let end = opaque(self.text, at).unwrap_or(bytes.len());
                    // A backslash at the end of a comment also continues the definition.
                    at = if bytes[..end].ends_with(b"\\") { end - 1 } else { end };
                }
                Some(_) => {
                    let end = opaque(self.text, at).filter(|_| bytes[at] != b'\\').unwrap_or(at + 1);
                    let mut end = end.min(bytes.len());
                    while !self.text.is_char_boundary(end) {
                        end += 1;
                    }
                    if !self.text[at..].starts_with("/*") {
                        body.push_str(&self.text[at..end]);
                    }
                    at = end;
                    continue;
                }
            }
            body.push(' ');
        }
        self.out.extend(self.text[start..at].chars().filter(|&c| c == '\n'));
        self.macros.insert(name, Macro { args, body: body.trim().to_owned() });
        Ok(at)
    }

    /// Expands the use of a macro at `at`; `text` is the file or the body of another macro. Returns the expansion and
    /// the end of the use.
    fn expand(&mut self, text: &str, at: usize, depth: u32, from: usize) -> Result<(String, usize)> {
        self.expansions += 1;
        if depth > MAX_DEPTH || self.expansions > MAX_EXPANSIONS {
            return self.fail(from, "macros within macros more than 64 deep, or more than 1,000,000 of them");
        }
        let bytes = text.as_bytes();
        let mut end = (at + 1..bytes.len()).find(|&i| !is_word(bytes[i])).unwrap_or(bytes.len());
        let name = &text[at + 1..end];
        let Some(found) = self.macros.get(name).cloned() else {
            return self.fail(from, format!("no macro is called `{name}"));
        };
        let mut body = found.body;
        if let Some(names) = &found.args {
            let open = (end..bytes.len()).find(|&i| !bytes[i].is_ascii_whitespace()).unwrap_or(bytes.len());
            if bytes.get(open) != Some(&b'(') {
                return self.fail(from, format!("the macro `{name} takes {} arguments", names.len()));
            }
            let (mut nesting, mut start, mut i) = (0u32, open + 1, open);
            let mut values = Vec::new();
            loop {
                let Some(&b) = bytes.get(i) else {
                    return self.fail(from, "arguments of a macro that never end");
                };
                if let Some(past) = opaque(text, i) {
                    i = past;
                    continue;
                }
                nesting += u32::from(matches!(b, b'(' | b'[' | b'{'));
                if nesting == 1 && matches!(b, b',' | b')') {
                    values.push(text[start..i].trim().replace(['\n', '\r'], " "));
                    start = i + 1;
                }
                nesting -= u32::from(matches!(b, b')' | b']' | b'}'));
                i += 1;
                if nesting == 0 {
                    break;
                }
            }
            end = i;
            if values.len() != names.len() {
                return self.fail(from, format!("the macro `{name} takes {} arguments", names.len()));
            }
            body = substituted(&body, names, &values);
        }
        // Expand macros in the body.
        let mut out = String::new();
        let mut i = 0;
        while i < body.len() {
            if let Some(past) = opaque(&body, i) {
                out.push_str(&body[i..past]);
                i = past;
            } else if body.as_bytes()[i] == b'`' {
                let (inner, past) = self.expand(&body.clone(), i, depth + 1, from)?;
                out.push_str(&inner);
                i = past;
            } else {
                let rest = &body.as_bytes()[i..];
                let past = rest.iter().skip(1).position(|b| matches!(b, b'/' | b'"' | b'\\' | b'`'));
                let past = past.map_or(body.len(), |n| i + n + 1);
                out.push_str(&body[i..past]);
                i = past;
            }
            if out.len() > MAX_TEXT {
                return self.fail(from, "macros that expand to more than 2^28 characters");
            }
        }
        Ok((out, end))
    }
}

/// Replaces the arguments in the body of a macro with their values.
fn substituted(body: &str, names: &[String], values: &[String]) -> String {
    let bytes = body.as_bytes();
    let mut out = String::new();
    let mut at = 0;
    while at < bytes.len() {
        if is_word(bytes[at]) {
            let end = (at..bytes.len()).find(|&i| !is_word(bytes[i])).unwrap_or(bytes.len());
            let word = &body[at..end];
            match names.iter().position(|n| n == word) {
                Some(i) => out.push_str(&values[i]),
                None => out.push_str(word),
            }
            at = end;
        } else {
            let mut end = opaque(body, at).unwrap_or(at + 1);
            while !body.is_char_boundary(end) {
                end += 1;
            }
            out.push_str(&body[at..end]);
            at = end;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(text: &str) -> String {
        preprocess(text).map_or_else(|e| e.to_string(), Cow::into_owned)
    }

    #[test]
    fn macros_expand_within_their_lines() {
        assert_eq!(out("`define W 8\nwire [`W-1:0] a; // `W\n"), "\nwire [8-1:0] a; // `W\n");
        assert_eq!(
            out("`define MAX(a, b) ((a) > (b) ? (a) : \\\n  (b))\nx = `MAX(f(p, q), {r, s});\n").lines().nth(2),
            Some("x = ((f(p, q)) > ({r, s}) ? (f(p, q)) :    ({r, s}));")
        );
        assert_eq!(out("`define A `B + 1 // one more\n`define B 2\ny = `A;"), "\n\ny = 2 + 1;");
        assert_eq!(out("`define E\nz = 1 `E;"), "\nz = 1 ;");
        assert_eq!(out("`define E 1\n`undef E\nz = `E;"), "error[E0903] at line 3, column 5: no macro is called `E");
    }

    #[test]
    fn conditions_choose_one_branch_and_keep_the_lines() {
        let text = "`define P\n`ifdef P\na\n`elsif Q\nb\n`else\nc\n`endif\n`ifndef P\nd `UNKNOWN\n`else\ne\n`endif\n";
        let said = out(text);
        let words: Vec<(usize, &str)> = said.lines().enumerate().filter(|l| !l.1.trim().is_empty()).collect();
        assert_eq!(words, [(2, "a"), (11, "e")]);
        assert_eq!(said.lines().count(), text.lines().count());
        assert_eq!(
            out("`ifdef A\n`ifdef B\nx\n`else\ny\n`endif\n`else\nz\n`endif").split_whitespace().collect::<Vec<_>>(),
            ["z"]
        );
        assert!(out("`ifdef A\nx").contains("without its `endif") && out("`define A\n`else").contains("no `ifdef"));
        assert!(out("`include \"a.v\"\n").contains("put the text"));
    }

    #[test]
    fn macros_that_never_end_are_refused() {
        assert!(out("`define A `A\nx = `A;").contains("64 deep"));
        let mut text = "`define M0\n".to_owned();
        for i in 1..60 {
            text.push_str(&format!("`define M{i} `M{} `M{}\n", i - 1, i - 1));
        }
        text.push_str("x = `M59;");
        assert!(out(&text).contains("1,000,000"));
        assert!(
            out("`define F(a) a\nx = `F(1;").contains("never end")
                && out("`define F(a) a\nx = `F;").contains("takes 1")
        );
        assert!(out("`define F(a a\n").contains("never end"));
    }
}
