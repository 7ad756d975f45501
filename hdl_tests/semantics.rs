//! The suite of meaning (`tests/semantics/cases.rs`) in every simulator: all cases in one program, so that each
//! compiles once.

#[path = "../tests/it/semantics/cases.rs"]
#[expect(dead_code, reason = "single cases are for what starts quickly")]
mod cases;

use crate::harness::{Case, assert_equal_everywhere};
use alir2hdl::emit;
use alir2hdl::netlist::{self, Options};
use alir2hdl::schedule;
use alir2hdl::verify::{Cycles, Rows, Vectors};

#[test]
fn sim_every_operation_means_the_same_in_every_simulator() {
    let example = cases::all_in_one();
    let columns = |rows: &[Vec<_>]| rows.first().map_or(0, Vec::len);
    let vectors = Vectors {
        inputs: Rows::new(columns(&example.inputs), example.inputs.clone()),
        outputs: Rows::new(columns(&example.outputs), example.outputs.clone()),
    };
    let cases: Vec<Case> = [0, 2]
        .into_iter()
        .map(|stages| {
            let options = Options { top: format!("semantics_{stages}"), ..Options::default() };
            let schedule = schedule::random(&example.model, stages, false, 1);
            let netlist = netlist::lower(&example.model, &schedule, &options);
            let cycles = Cycles::plan(&netlist.interface, &vectors, 1);
            Case { netlist, cycles, emit: emit::Options::default() }
        })
        .collect();
    assert_equal_everywhere(&cases);
}
