//! External tools of tests. A test whose tool is missing reports the tool and is counted as skipped, but fails if
//! `ALIR2HDL_REQUIRE` lists the tool (`scripts/test.sh` lists all that `scripts/setup.sh` installs).

use std::io::Write;
use std::path::PathBuf;

use crate::repository;

/// Reports that the current test is skipped because of a missing tool.
///
/// # Panics
/// If the tool is required.
pub fn skip(tool: &str, why: &str) {
    let required = std::env::var("ALIR2HDL_REQUIRE").unwrap_or_default();
    assert!(!required.split_whitespace().any(|r| r == tool), "{tool} is required and cannot be used: {why}");
    eprintln!("skipped: {tool}: {why}");
    // scripts/test.sh counts the lines of the file that `ALIR2HDL_SKIPPED` names.
    let Some(path) = std::env::var_os("ALIR2HDL_SKIPPED") else { return };
    let list = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    list.and_then(|mut list| list.write_all(format!("{tool} {name}\n").as_bytes())).expect("the list can be written");
}

/// Returns the path of a program on the PATH or in the private environment; otherwise reports the test as skipped.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = repository().join(".venv/bin");
    let mut folders = std::env::split_paths(&path).chain([own]);
    let found = folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()));
    if found.is_none() {
        skip(name, "not found");
    }
    found
}
