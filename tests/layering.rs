//! Dependencies point one way: a module may name only modules of a lower rank (`ARCHITECTURE.md`, "Ranks").

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the crate by rank, times ten. Modules of the same rank do not know one another.
const RANKS: &[(&str, u32)] = &[
    ("diag", 0),
    ("num", 0),
    ("files", 0),
    ("ir", 10),
    ("random", 15),
    ("formats", 20),
    ("interp", 20),
    ("passes", 20),
    ("schedule", 20),
    ("netlist", 30),
    ("device", 35),
    ("emit", 40),
    ("prove", 40),
    ("report", 40),
    ("view", 40),
    ("verify", 50),
    ("project", 55),
    ("cli", 60),
];

fn rank(module: &str) -> u32 {
    let found = RANKS.iter().find(|(name, _)| *name == module);
    found.unwrap_or_else(|| panic!("module `{module}` has no rank: give it one in tests/layering.rs")).1
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

/// The code of a file without comments and without its tests: tests may compare anything with anything.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or(text);
    text.lines().map(|l| l.split("//").next().unwrap_or(l)).collect::<Vec<_>>().join("\n")
}

fn named_modules(code: &str) -> Vec<String> {
    code.match_indices("crate::")
        .flat_map(|(at, prefix)| {
            let rest = &code[at + prefix.len()..];
            // `use crate::{a::X, b::Y}` would hide its modules from this test.
            assert!(!rest.starts_with('{'), "write one `use crate::` a module");
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            Some(name)
        })
        .collect()
}

#[test]
fn modules_name_only_lower_ranks() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut edges = 0;
    for file in &files {
        let relative = file.strip_prefix(&src).unwrap();
        let module = relative.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        if matches!(module, "lib" | "main") {
            continue;
        }
        for named in named_modules(&code(&fs::read_to_string(file).unwrap())) {
            edges += 1;
            assert!(
                named == module || rank(&named) < rank(module),
                "{} names crate::{named}: rank {} may not know rank {}",
                relative.display(),
                rank(module),
                rank(&named)
            );
        }
    }
    assert!(edges >= 10, "only {edges} uses found: does this test still read the sources?");
}
