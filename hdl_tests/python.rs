//! The Python package: its wheel is built, installed beside alkaid and used.

use crate::harness::skip;
use crate::projects::{tool, works};
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn sim_python_takes_over_a_model_of_alkaid() {
    let Some(maturin) = tool("maturin") else { return };
    let python = Path::new(ROOT).join(".venv/bin/python");
    let alkaid = Command::new(&python).args(["-c", "import alkaid.trace, numpy"]).output();
    if !alkaid.is_ok_and(|o| o.status.success()) {
        skip("alkaid", "not in .venv");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let wheels = folder.path().join("wheels");
    let interpreter = python.to_str().expect("text");
    let out = wheels.to_str().expect("text");
    let build = ["build", "--profile", "dev", "--quiet", "--interpreter", interpreter, "--out", out];
    works(maturin, Path::new(ROOT), &build);
    let wheel = std::fs::read_dir(&wheels).expect("a folder").map(|e| e.expect("an entry").path()).next();
    let wheel = wheel.expect("a wheel");
    assert!(wheel.to_string_lossy().contains("-cp310-abi3-"), "{}", wheel.display());
    let site = folder.path().join("site");
    let target = site.to_str().expect("text");
    let pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", target];
    works(&python, Path::new(ROOT), &[&pip, [wheel.to_str().expect("text")].as_slice()].concat());
    for file in ["__init__.pyi", "py.typed"] {
        assert!(site.join("alir2hdl").join(file).is_file(), "the wheel lacks {file}");
    }
    let run = format!(
        "import sys, runpy; sys.path.insert(0, {target:?}); runpy.run_path({ROOT:?} + '/hdl_tests/python_user.py')"
    );
    let said = works(&python, folder.path(), &["-c", &run]);
    assert!(said.trim_end().lines().any(|line| line.starts_with("PYTHON ")), "{said}");
}
