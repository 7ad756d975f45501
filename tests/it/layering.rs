//! Rules of the architecture that the compiler does not check: which crates of the workspace may depend on which,
//! modules of one crate that must not name each other, where files are written, `unsafe` code, templates
//! (`ARCHITECTURE.md`).

use std::fs;
use std::path::{Path, PathBuf};

/// Crates of the workspace and the crates that they use outside of tests. A new edge is a decision: it changes this
/// table and `ARCHITECTURE.md`.
const CRATES: &[(&str, &str)] = &[
    ("core", ""),
    ("cmvm", "core"),
    ("formats", "core"),
    ("interp", "core"),
    ("hdl", "core"),
    ("check", ""),
    ("testing", "core"),
    ("opt", "core cmvm"),
    ("network", "core cmvm interp"),
    ("llvlir", "core"),
    ("hw", "core hdl interp opt"),
    ("prove", "core formats hdl interp llvlir check"),
    ("flow", "core formats hdl hw interp llvlir network opt prove check"),
];

/// Modules of a crate, the paths that they must not name outside of tests, and the reason.
const NEVER: &[(&str, &[&str], &str)] = &[
    ("core/src/num", &["crate::ir", "crate::diag", "crate::files"], "numbers are below everything else"),
    ("core/src/diag", &["crate::ir", "crate::num", "crate::files"], "diagnostics know no model"),
    ("core/src/files", &["crate::ir", "crate::num", "crate::diag"], "files know no model"),
    ("core/src/ir", &["crate::files"], "a model reads and writes no file"),
    ("hdl/src", &["alir_core::ir", "alir_core::files"], "an HDL front end knows diagnostics and numbers only"),
    ("opt/src/schedule", &["crate::passes"], "the scheduler takes any model"),
    ("opt/src/passes", &["crate::schedule"], "passes know no schedule"),
    (
        "hw/src/netlist",
        &["crate::device", "crate::emit", "crate::retime", "crate::reuse"],
        "a netlist knows neither devices nor languages",
    ),
    ("hw/src/device", &["crate::emit", "crate::retime", "crate::reuse"], "device models read the netlist only"),
    (
        "hw/src/retime",
        &["crate::device", "crate::emit", "crate::reuse"],
        "retiming builds one state machine from another",
    ),
    (
        "hw/src/reuse",
        &["crate::device", "crate::emit", "crate::retime"],
        "sharing plans know neither devices nor languages",
    ),
    ("hw/src/emit", &["alir_core::ir"], "RTL is generated from the netlist alone"),
    (
        "flow/src/report",
        &["crate::compile", "crate::explore", "crate::project", "crate::verify", "crate::view"],
        "reports are read without a model",
    ),
    (
        "flow/src/view",
        &["crate::compile", "crate::explore", "crate::project", "crate::report", "crate::verify"],
        "the viewer is given hardware",
    ),
    (
        "flow/src/compile",
        &["alir_core::files", "alir_formats", "crate::explore", "crate::project", "crate::verify"],
        "compilation reads and writes no file",
    ),
    ("flow/src/verify", &["crate::explore", "crate::project"], "verification is below projects"),
    ("flow/src/explore", &["crate::project"], "explorations start the command, not the library"),
    ("flow/src/project", &["crate::explore"], "a project is one design"),
];

/// Files with `unsafe` code, all of them in `crates/interp`; every other crate forbids it. Each block states why it is
/// sound.
const UNSAFE: &[&str] =
    &["fast/jit.rs", "fast/kernels.rs", "fast/run.rs", "fast/tiles.rs", "fast/tiles_avx2.rs", "samples/npy.rs"];

/// Files and folders that write files: results through `files`; jobs of simulators and solvers, in temporary folders,
/// through `verify`; `testing` appends to the list of skipped tests.
const WRITERS: &[&str] = &["core/src/files", "flow/src/verify", "testing/src"];

/// Calls that write files.
const WRITES: &[&str] = &["fs::write(", "File::create(", "OpenOptions", "fs::rename(", "fs::copy("];

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
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

/// Returns `true` if code contains a path, or one that begins with it.
fn names(code: &str, path: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    code.match_indices(path).any(|(at, found)| ends(&code[at + found.len()..]))
}

#[test]
fn a_path_is_found_as_a_whole() {
    assert!(names("use crate::ir::Model;", "crate::ir") && names("use crate::ir;", "crate::ir"));
    assert!(!names("use crate::irregular;", "crate::ir"));
}

#[test]
fn crates_depend_on_lower_crates_only() {
    for (name, allowed) in CRATES {
        let manifest = fs::read_to_string(repository().join("crates").join(name).join("Cargo.toml")).unwrap();
        let section = manifest.split("\n[dependencies]\n").nth(1).expect("a section of dependencies");
        let section = section.split("\n[").next().unwrap();
        let used = section.lines().filter_map(|line| {
            let dependency = line.split(['.', ' ', '=']).next()?;
            if dependency == "alir2hdl-check" { Some("check") } else { dependency.strip_prefix("alir-") }
        });
        for used in used {
            assert!(
                allowed.split(' ').any(|a| a == used),
                "crates/{name} uses crates/{used}: not in CRATES of tests/it/layering.rs"
            );
        }
    }
    let folders = fs::read_dir(repository().join("crates")).unwrap().count();
    assert_eq!(folders, CRATES.len(), "a crate is missing in CRATES of tests/it/layering.rs");
}

#[test]
fn every_crate_but_the_engine_forbids_unsafe_code() {
    let libraries = CRATES.iter().map(|(name, _)| format!("crates/{name}/src/lib.rs")).chain(["src/lib.rs".into()]);
    for library in libraries {
        let text = fs::read_to_string(repository().join(&library)).unwrap();
        let forbids = text.contains("#![forbid(unsafe_code)]");
        assert_eq!(forbids, library != "crates/interp/src/lib.rs", "{library}");
    }
}

#[test]
fn modules_keep_to_the_architecture() {
    let crates = repository().join("crates");
    let mut files = Vec::new();
    rust_files(&crates, &mut files);
    rust_files(&repository().join("src"), &mut files);
    assert!(files.len() > 400, "only {} files: does this test still read the sources?", files.len());
    let mut checked = 0;
    for file in &files {
        let name = file.strip_prefix(&crates).unwrap_or(file).to_str().unwrap().replace('\\', "/");
        if name.contains("/tests/") || name.starts_with("check/") {
            continue;
        }
        let lines = code(&fs::read_to_string(file).unwrap());
        let text: String = lines.into_iter().filter(|(_, test)| !test).map(|(line, _)| line + "\n").collect();
        for (module, paths, reason) in NEVER {
            if !name.starts_with(module) {
                continue;
            }
            checked += 1;
            for path in *paths {
                assert!(!names(&text, path), "{name} names {path}: {reason}");
                // `use crate::{a::X, b::Y}` would hide its modules from this test.
                let (root, _) = path.rsplit_once("::").unwrap_or(("", path));
                let group = format!("{root}::{{");
                for (at, found) in text.match_indices(&group) {
                    let inside = text[at + found.len()..].split('}').next().unwrap_or_default();
                    assert!(root.is_empty() || !inside.contains("::"), "{name}: write one `use {root}::` a module");
                }
            }
        }
        if let Some(inside) = name.strip_prefix("interp/src/") {
            assert_eq!(text.contains("unsafe "), UNSAFE.contains(&inside), "{name}: files with `unsafe` are listed");
        }
        let writes = WRITES.iter().find(|call| text.contains(**call));
        let may_write = WRITERS.iter().any(|writer| name.starts_with(writer)) || name.ends_with("/tests.rs");
        assert!(writes.is_none() || may_write, "{name} writes a file itself: `alir_core::files` does that");
    }
    assert!(checked > 150, "only {checked} files have rules");
}

/// Functions of the prover that only `flow::prove` calls, so that every caller has the same hints and budgets.
const PROOFS: &[&str] = &["steps::prove(", "machine::prove(", "pair::prove(", "machine::record(", "certify::record("];

#[test]
fn proofs_start_at_one_entry_point() {
    let mut files = Vec::new();
    for folder in ["src", "python/src", "crates/flow/src"] {
        rust_files(&repository().join(folder), &mut files);
    }
    let mut calls = 0;
    for file in &files {
        let text: String = code(&fs::read_to_string(file).unwrap())
            .into_iter()
            .filter(|(_, test)| !test)
            .map(|(line, _)| line + "\n")
            .collect();
        let found = PROOFS.iter().find(|call| text.contains(**call));
        match file.starts_with(repository().join("crates/flow/src/prove")) {
            true => calls += usize::from(found.is_some()),
            false => assert!(found.is_none(), "{} calls {found:?}: `flow::prove` does that", file.display()),
        }
    }
    assert!(calls >= 2, "only {calls} files of flow::prove call the prover: does this test still read them?");
}

#[test]
fn code_after_a_test_item_is_read() {
    let text = "use a;\n#[cfg(test)]\nuse b;\nuse c;\n#[cfg(test)]\nfn t(\n    x: u8,\n) {\n    d();\n}\n\
                fn u() {\n    e();\n}\n#[cfg(test)]\nmod tests {\n    use f;\n}\nfn v() { g() }\n";
    let used = |tests: bool| -> Vec<String> {
        let lines = code(text).into_iter().filter(|l| l.1 == tests);
        lines.filter_map(|(line, _)| line.trim().strip_prefix("use ").map(str::to_owned)).collect()
    };
    assert_eq!(used(false), ["a;", "c;"]);
    assert_eq!(used(true), ["b;", "f;"]);
    let lines = code(text);
    assert!(lines.iter().any(|(line, test)| line.contains("g()") && !test));
    assert!(lines.iter().any(|(line, test)| line.contains("d()") && *test));
}

/// The checker is what has to be trusted when `alir2hdl-check` answers `holds`: small enough to be read, independent of
/// the other crates.
#[test]
fn the_checker_is_small_and_independent() {
    let folder = repository().join("crates/check");
    let mut files = vec![folder.join("bin.rs")];
    rust_files(&folder.join("src"), &mut files);
    let text: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    assert!((1_000..=4_000).contains(&lines), "{lines} lines of code in {} files", files.len());
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("alir-") && !text.contains("alir_"), "the checker uses another crate of the workspace");
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
