//! Files of every generation (`tests/data/generations`) as hardware in every simulator: driven with the inputs that
//! were put into the libraries of their time, and compared with what those libraries' own interpreters gave.

use crate::harness::{Case, assert_equal_everywhere, optimised};
use alir2hdl::emit;
use alir2hdl::formats;
use alir2hdl::interp::samples::{Values, input_ports, output_ports};
use alir2hdl::ir::{Limits, Model};
use alir2hdl::netlist::{self, Options};
use alir2hdl::schedule;
use alir2hdl::verify::{Cycles, Rows, Vectors};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
struct Recorded {
    inputs: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
}

/// Returns the recorded values, as raw integer values of the ports.
fn vectors(model: &Model, recorded: &Recorded, what: &str) -> Vectors {
    let (in_ports, out_ports) = (input_ports(model), output_ports(model));
    let codes = |row: &Vec<f64>| {
        let values = Values::Reals(row.clone());
        (0..row.len()).map(|k| values.code(k, in_ports[k], false).unwrap()).collect()
    };
    let vectors = Vectors::from_inputs(model, Rows::new(in_ports.len(), recorded.inputs.iter().map(codes)));
    for (row, theirs) in recorded.outputs.iter().enumerate() {
        let codes = vectors.outputs.row(row).iter().zip(&out_ports);
        let ours: Vec<f64> = codes.map(|(code, port)| port.real_of_code(code).0).collect();
        assert_eq!(&ours, theirs, "{what}, sample {row}");
    }
    vectors
}

/// All files of a generation, optimised and pipelined in different ways, side by side.
fn check(generation: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/generations").join(generation);
    let text = std::fs::read_to_string(folder.join("golden.json")).unwrap();
    let programs: BTreeMap<String, Recorded> = serde_json::from_str(&text).unwrap();
    assert!(programs.len() >= 6, "{generation}");
    let mut cases = Vec::new();
    for (name, recorded) in &programs {
        for extension in ["json", "json.gz", "bin"] {
            let path = folder.join(format!("{name}.{extension}"));
            if !path.exists() {
                continue;
            }
            let what = path.display().to_string();
            let model = formats::read_path(&path, &Limits::default(), None).unwrap_or_else(|e| panic!("{what}: {e}")).0;
            let seed = cases.len() as u64;
            let built = optimised(&model, (seed % 3) as u8);
            let schedule = schedule::random(&built, [0, 2, 3][cases.len() / 3 % 3], false, seed);
            let form = extension.split('.').next().unwrap();
            let options = Options { top: format!("{generation}_{name}_{form}"), ..Options::default() };
            let netlist = netlist::lower(&built, &schedule, &options);
            let cycles = Cycles::plan(&netlist.interface, &vectors(&model, recorded, &what), seed);
            cases.push(Case { netlist, cycles, emit: emit::Options::default() });
        }
    }
    assert_equal_everywhere(&cases);
}

macro_rules! generations {
    ($($test:ident: $folder:literal;)*) => {$(
        #[test]
        fn $test() {
            check($folder);
        }
    )*};
}

generations! {
    sim_generation_da4ml_0_2: "s";
    sim_generation_da4ml_0_3: "dpre";
    sim_generation_da4ml_0_5: "d0";
    sim_generation_da4ml_0_6: "d1";
    sim_generation_alkaid_0_7: "a2";
    sim_generation_alkaid_0_8: "a4";
}
