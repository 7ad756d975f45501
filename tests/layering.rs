//! Dependencies point one way: a module may name only modules of a lower rank (`ARCHITECTURE.md`, "Ranks").

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the crate by rank, times ten. Modules of the same rank do not know one another.
const RANKS: &[(&str, u32)] = &[
    ("diag", 0),
    ("num", 0),
    ("files", 0),
    ("ir", 10),
    ("cmvm", 15),
    ("random", 15),
    ("formats", 20),
    ("interp", 20),
    ("passes", 20),
    ("rtl", 20),
    ("schedule", 20),
    ("network", 25),
    ("llvlir", 25),
    ("netlist", 30),
    ("device", 35),
    ("retime", 35),
    ("reuse", 35),
    ("emit", 40),
    ("prove", 40),
    ("report", 40),
    ("view", 40),
    ("compile", 50),
    ("verify", 55),
    ("explore", 60),
    ("project", 60),
    ("cli", 70),
];

/// What a module may not name although its rank would allow it, and why.
const NEVER: &[(&str, &[&str], &str)] = &[
    ("prove", &["passes", "emit", "cmvm"], "the prover judges what passes and the writer made"),
    ("compile", &["files", "formats"], "the road from a design to hardware reads and writes no file"),
    ("emit", &["ir"], "text comes from the netlist alone"),
    ("rtl", &["ir", "random", "files"], "a reader of text knows no model: it sees diag and num only"),
];

/// Modules that only tests name: random programs. (What production draws comes from `num::SplitMix` and
/// `ir::draw_inputs`.)
const TEST_SUPPORT: &[&str] = &["random"];

/// Files with `unsafe` code: the batch engine, and the numbers of npy files. Each block states why it is sound.
const UNSAFE: &[&str] = &[
    "interp/fast/jit.rs",
    "interp/fast/kernels.rs",
    "interp/fast/run.rs",
    "interp/fast/tiles.rs",
    "interp/fast/tiles_avx2.rs",
    "interp/samples/npy.rs",
];

/// Modules that write files: results through `files`; jobs of simulators and solvers in folders of their own through
/// `verify`.
const WRITERS: &[&str] = &["files", "verify"];

/// How files are written.
const WRITES: &[&str] = &["fs::write(", "File::create(", "OpenOptions", "fs::rename(", "fs::copy("];

/// What tests of a module may not name: they compare with many things, but not with what stands above their module's
/// callers. Tests of a library module that need the command line belong into `tests/`.
const NEVER_IN_TESTS: &[&str] = &["cli"];

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

/// The lines of a file, without comments, and whether each is test code: an item under `#[cfg(test)]`, to its end.
fn code(text: &str) -> Vec<(String, bool)> {
    let mut lines = Vec::new();
    // The indentation of the `#[cfg(test)]` whose item has not ended, and whether its body has begun.
    let mut test: Option<(usize, bool)> = None;
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or(line);
        let indent = code.len() - code.trim_start().len();
        if test.is_none() && code.trim_start().starts_with("#[cfg(test)]") {
            test = Some((indent, false));
        }
        lines.push((code.to_owned(), test.is_some()));
        if let Some((at, begun)) = &mut test {
            let trimmed = code.trim();
            // rustfmt puts the end of an item at the indentation of its start.
            let ends = indent == *at && (trimmed.ends_with(';') || trimmed.ends_with(['}', ',']));
            *begun |= trimmed.ends_with('{');
            if !trimmed.is_empty() && ends && (!*begun || trimmed.starts_with('}') || trimmed.ends_with('}')) {
                test = None;
            }
        }
    }
    lines
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
        let lines = code(&fs::read_to_string(file).unwrap());
        let part = |tests: bool| lines.iter().filter(|l| l.1 == tests).map(|l| &*l.0).collect::<Vec<_>>().join("\n");
        let name = relative.to_str().unwrap().replace('\\', "/");
        let has_unsafe = part(false).contains("unsafe ");
        assert_eq!(has_unsafe, UNSAFE.contains(&&*name), "{name}: code with `unsafe` is listed, and no other file");
        let writes = WRITES.iter().find(|call| part(false).contains(**call));
        assert!(writes.is_none() || WRITERS.contains(&module), "{name} writes a file itself: `files` does that");
        for named in named_modules(&part(false)) {
            edges += 1;
            assert!(
                named == module || !TEST_SUPPORT.contains(&&*named),
                "{name} names crate::{named}: that is for tests"
            );
            assert!(
                named == module || rank(&named) < rank(module),
                "{} names crate::{named}: rank {} may not know rank {}",
                relative.display(),
                rank(module),
                rank(&named)
            );
            if let Some((_, _, why)) = NEVER.iter().find(|(of, never, _)| *of == module && never.contains(&&*named)) {
                panic!("{} names crate::{named}: {why}", relative.display());
            }
        }
        for named in named_modules(&part(true)) {
            assert!(
                named == module || !NEVER_IN_TESTS.contains(&&*named),
                "tests of {} name crate::{named}",
                relative.display()
            );
        }
    }
    assert!(edges >= 200, "only {edges} uses found: does this test still read the sources?");
}

#[test]
fn code_behind_a_test_item_is_read() {
    let text = "use crate::a;\n#[cfg(test)]\nuse crate::b;\nuse crate::c;\n#[cfg(test)]\nfn t(\n    x: u8,\n) {\n    crate::d();\n}\n\
                fn u() {\n    crate::e();\n}\n#[cfg(test)]\nmod tests {\n    use crate::f;\n}\nfn v() { crate::g() }\n";
    let of = |tests: bool| {
        code(text).iter().filter(|l| l.1 == tests).flat_map(|l| named_modules(&l.0)).collect::<Vec<_>>().join("")
    };
    assert_eq!(of(false), "aceg");
    assert_eq!(of(true), "bdf");
}

/// What has to be trusted when `alir2hdl-check` says `holds` stays small enough to be read, knows nothing of this package and has no
/// unsafe code.
#[test]
fn the_checker_is_small_and_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("check");
    let mut files = vec![folder.join("bin.rs")];
    rust_files(&folder.join("src"), &mut files);
    let text: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    assert!((1_000..=3_800).contains(&lines), "{lines} lines of code, of {} files", files.len());
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("path =") && !text.contains("alir2hdl::") && !text.contains("unsafe "));
}

/// The expressions of a template, without their spaces: what stands between double braces, and in `if` and `let`.
fn expressions(text: &str) -> Vec<String> {
    let between = |open: &str, close: &str| -> Vec<String> {
        let parts = text.split(open).skip(1).filter_map(|rest| rest.split_once(close));
        parts.map(|(inside, _)| inside.trim_matches(['-', '~', ' ']).to_owned()).collect()
    };
    let statements =
        between("{%", "%}").into_iter().filter(|s| ["if", "let", "match"].iter().any(|k| s.starts_with(k)));
    between("{{", "}}").into_iter().chain(statements).collect()
}

/// Widths, places and choices are made before a template sees them: at most it writes the upper bound of a range.
#[test]
fn templates_only_print() {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("templates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // Snakemake's file is text as it stands, in its own syntax.
            if path.is_file() && path.file_name().is_some_and(|name| name != "Snakefile") {
                files.push(path);
            } else if path.is_dir() {
                folders.push(path);
            }
        }
    }
    let mut seen = 0;
    for file in &files {
        for expression in expressions(&fs::read_to_string(file).unwrap()) {
            seen += 1;
            let plain = expression.replace(" - 1", "");
            let computes = [" + ", " - ", " * ", " / ", " % ", " << ", " >> "].iter().any(|op| plain.contains(op));
            assert!(!computes, "{}: `{expression}` computes: give the template the result", file.display());
        }
    }
    assert!(seen > 300, "only {seen} expressions were found");
}
