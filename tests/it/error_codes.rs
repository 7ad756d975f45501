//! `docs/errors.md` lists exactly the codes that the program can say, and no two parts use the same one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Returns the code that a string starts with, if a closing quote follows: `E0104"`.
fn code(text: &str) -> Option<&str> {
    let code = text.get(..5)?;
    let digits = code[1..].bytes().all(|b| b.is_ascii_digit());
    (matches!(code.as_bytes()[0], b'E' | b'W' | b'N') && digits && text[5..].starts_with('"')).then_some(code)
}

/// Codes of the sources, tests aside, with the modules that say them.
fn said() -> BTreeMap<String, BTreeSet<String>> {
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    rust_files(&root().join("crates"), &mut files);
    let mut codes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        let text: String = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        let relative = path.strip_prefix(root()).unwrap();
        let folders: Vec<&str> = relative.components().map(|c| c.as_os_str().to_str().unwrap()).collect();
        // A crate of several modules: the module; else the crate.
        let module = match folders[..] {
            ["src", module, ..] | ["crates", "core" | "opt" | "hw" | "flow", "src", module, ..] => module,
            ["crates", "check" | "testing", ..] | ["crates", _, "tests", ..] => continue,
            ["crates", name, ..] => name,
            _ => panic!("{} is in no crate", relative.display()),
        };
        for (at, _) in text.match_indices('"') {
            if let Some(code) = code(&text[at + 1..]) {
                codes.entry(code.to_owned()).or_default().insert(module.trim_end_matches(".rs").to_owned());
            }
        }
    }
    codes
}

#[test]
fn the_document_lists_the_codes() {
    let document = fs::read_to_string(root().join("docs/errors.md")).unwrap();
    let mut listed = BTreeSet::new();
    for line in document.lines() {
        let Some((code, _)) = line.strip_prefix("| ").and_then(|l| l.split_once(" | ")) else { continue };
        if code != "code" {
            assert!(listed.insert(code.to_owned()), "{code} is listed twice");
            assert!(line.split(" | ").all(|cell| cell.trim_matches(['|', ' ']).len() > 2), "{code} says nothing");
        }
    }
    let said: BTreeSet<String> = said().into_keys().collect();
    let missing: Vec<_> = said.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&said).collect();
    assert!(missing.is_empty(), "docs/errors.md lacks {missing:?}");
    assert!(stale.is_empty(), "docs/errors.md lists {stale:?}, which nothing says");
}

#[test]
fn a_code_has_one_meaning() {
    for (code, modules) in said() {
        // A file that cannot be opened is that everywhere; readers report rules of the model before it exists.
        // So do the command line and the compiler about options.
        // The library has the rules between options, which the command line reports too where they are about files.
        let among = |group: &[&str]| modules.iter().all(|module| group.contains(&module.as_str()));
        let pairs =
            [["formats", "ir"], ["cli", "verify"], ["cli", "project"], ["cli", "prove"], ["options", "project"]];
        let about_options = among(&["cli", "compile", "options"]) || code == "E0804";
        let shared = code == "E0001" || about_options || pairs.iter().any(|pair| among(pair));
        assert!(shared || modules.len() == 1, "{code} is used by {modules:?}");
    }
}
