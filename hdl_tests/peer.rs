//! Files that we convert, in the library's own interpreter (`benches/peer/forms.py`): version 4 in alkaid 0.8, version
//! 2 in 0.7.
//!
//! The library is no part of this repository: `benches/peer/setup.sh` installs both, or `ALIR2HDL_ALKAID` names Python
//! interpreters that have one (with `:` between). Where there is none, the same is held without it by the byte code
//! that the library wrote, `tests/generations.rs`.

use crate::harness::skip;
use std::path::{Path, PathBuf};
use std::process::Command;

fn interpreters() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os("ALIR2HDL_ALKAID") {
        return std::env::split_paths(&named).collect();
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    let mut found: Vec<_> = ["peer", "peer07"].map(|name| target.join(name).join("bin/python")).into();
    found.retain(|path| path.exists());
    found
}

#[test]
fn sim_the_library_takes_our_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let interpreters = interpreters();
    if interpreters.is_empty() {
        skip("alkaid", "benches/peer/setup.sh installs it");
    }
    for python in interpreters {
        let mut command = Command::new(&python);
        command.arg(root.join("benches/peer/forms.py")).args(["--binary", env!("CARGO_BIN_EXE_alir2hdl")]);
        for name in ["tiny_ops", "bit_logic", "lut_heavy", "sort_topk", "var_mul", "anomaly_ae", "dais/v1_edge_kif"] {
            command.arg(root.join("tests/data/models").join(name));
        }
        let output = command.output().unwrap_or_else(|e| panic!("{}: {e}", python.display()));
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{}: {}", python.display(), said.join(""));
        assert!(said[0].contains(": 14 equal, 0 not"), "{}", said[0]);
        eprintln!("{}", said[0]);
    }
}
