//! The Python package: its wheel is built, installed together with alkaid and used.

use crate::harness::skip;
use crate::projects::{tool, works};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The environment's Python and a folder with the installed wheel in it, if maturin and alkaid are there.
fn installed(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let maturin = tool("maturin")?;
    let python = Path::new(ROOT).join(".venv/bin/python");
    let alkaid = Command::new(&python).args(["-c", "import alkaid.trace, numpy"]).output();
    if !alkaid.is_ok_and(|o| o.status.success()) {
        skip("alkaid", "not in .venv");
        return None;
    }
    let wheels = folder.join("wheels");
    let interpreter = python.to_str().expect("text");
    let out = wheels.to_str().expect("text");
    // With the features of the tests, so that it shares the crates that they have compiled.
    let build = ["build", "--profile", "dev", "--features", "shared-build", "--quiet"];
    works(maturin, Path::new(ROOT), &[&build[..], &["--interpreter", interpreter, "--out", out]].concat());
    let wheel = std::fs::read_dir(&wheels).expect("a folder").map(|e| e.expect("an entry").path()).next();
    let wheel = wheel.expect("a wheel");
    assert!(wheel.to_string_lossy().contains("-cp310-abi3-"), "{}", wheel.display());
    let site = folder.join("site");
    let target = site.to_str().expect("text");
    let pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", target];
    works(&python, Path::new(ROOT), &[&pip, [wheel.to_str().expect("text")].as_slice()].concat());
    Some((python, site))
}

/// Runs a script of `hdl_tests` on the installed wheel and gives what it says; `words` are its arguments.
fn script(python: &Path, site: &Path, folder: &Path, name: &str, words: &[&str]) -> String {
    let run = format!(
        "import sys, runpy; sys.path.insert(0, {site:?}); sys.argv[1:] = {words:?}; runpy.run_path({ROOT:?} + \
         '/hdl_tests/{name}')"
    );
    works(python, folder, &["-c", &run])
}

#[test]
fn sim_python_takes_over_a_model_of_alkaid() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some((python, site)) = installed(folder.path()) else { return };
    for file in ["__init__.pyi", "py.typed", "emulator.cc", "hls4ml/__init__.py"] {
        assert!(site.join("alir2hdl").join(file).is_file(), "the wheel lacks {file}");
    }
    let facts = format!("alir2hdl-{}.dist-info/entry_points.txt", env!("CARGO_PKG_VERSION"));
    let entries = std::fs::read_to_string(site.join(facts)).expect("entry points");
    assert!(entries.contains("[hls4ml.backends]\nalir2hdl=alir2hdl.hls4ml:register"), "{entries}");
    let said = script(&python, &site, folder.path(), "python_user.py", &[]);
    assert!(said.trim_end().lines().any(|line| line.starts_with("PYTHON ")), "{said}");
    let notebooks = ["alkaid", "qonnx", "hls4ml"].map(|name| format!("{ROOT}/docs/notebooks/{name}.ipynb"));
    let said = script(&python, &site, folder.path(), "notebooks.py", &notebooks.each_ref().map(String::as_str));
    assert!(said.trim_end().lines().any(|line| line == "NOTEBOOKS 3"), "{said}");
    let said = script(&python, &site, folder.path(), "python_arrays.py", &[]);
    assert!(said.trim_end().lines().any(|line| line.starts_with("ARRAYS ")), "{said}");
    let [cases, models, examples] =
        ["tests/data/network", "tests/data/models", "examples"].map(|folder| format!("{ROOT}/{folder}"));
    let said = script(&python, &site, folder.path(), "python_session.py", &[&cases, &models, &examples]);
    assert!(said.trim_end().lines().any(|line| line.starts_with("SESSION ")), "{said}");
    let said = script(&python, &site, folder.path(), "python_parity.py", &[&models]);
    assert!(said.trim_end().lines().any(|line| line.starts_with("PARITY ")), "{said}");
    // One wheel serves all: building it is most of the test.
    let said = script(&python, &site, folder.path(), "python_alkaid.py", &[]);
    assert!(said.trim_end().lines().any(|line| line.starts_with("ALKAID ")), "{said}");
    let said = script(&python, &site, folder.path(), "python_networks.py", &[&cases]);
    assert!(said.trim_end().lines().any(|line| line.starts_with("NETWORKS ")), "{said}");
}

#[test]
#[ignore = "half an hour: every model of ALIR2HDL_LARGE_MODELS through Verilator, beside alkaid's own emulator"]
fn sim_python_alkaid_every_model() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some((python, site)) = installed(folder.path()) else { return };
    let models = std::env::var("ALIR2HDL_LARGE_MODELS").expect("ALIR2HDL_LARGE_MODELS names the folder of models");
    let said = script(&python, &site, folder.path(), "python_alkaid.py", &["--all", &models]);
    println!("{said}");
    assert!(said.trim_end().lines().any(|line| line.starts_with("ALKAID ")), "{said}");
}
