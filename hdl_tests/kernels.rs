//! Integer kernels (LLVLIR) in every simulator, checked against their own interpreter: the real programs and single
//! rows.

use crate::harness::{Case, assert_equal_everywhere, optimised};
use alir2hdl::emit;
use alir2hdl::llvlir::{self, Program, golden, lower};
use alir2hdl::netlist::{self, Options};
use alir2hdl::schedule;
use alir2hdl::verify::{Cycles, Rows, Vectors};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/llvlir")
}

fn read(bytes: &[u8]) -> Program {
    llvlir::read(bytes, llvlir::Limits::default()).unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// The hardware of a kernel with what its interpreter says of samples: stages and level of optimisation by its number.
fn case_of(program: &Program, name: &str, number: usize, samples: usize) -> Case {
    let model = lower::lower(program, &alir2hdl::ir::Limits::default()).unwrap_or_else(|problems| panic!("{problems}"));
    let stages = [0, 2, 0, 5][number % 4];
    let built = optimised(&model, (number % 3) as u8);
    let schedule = schedule::random(&built, stages, false, 1);
    let options = Options { top: name.to_owned(), ..Options::default() };
    let netlist = netlist::lower(&built, &schedule, &options);
    let inputs = Vectors::generate(&model, samples, number as u64).inputs;
    let outputs = (0..inputs.len()).map(|k| golden::run(program, inputs.row(k))).collect::<Vec<_>>();
    let vectors = Vectors { outputs: Rows::new(model.outputs().len(), outputs), inputs };
    Case { cycles: Cycles::plan(&netlist.interface, &vectors, 1), netlist, emit: emit::Options::default() }
}

#[test]
fn sim_real_kernels_are_what_their_interpreter_says() {
    let mut folders: Vec<PathBuf> = fs::read_dir(data()).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.retain(|folder| folder.join("program.llvlir").exists());
    assert_eq!(folders.len(), 14);
    let cases: Vec<Case> = folders
        .iter()
        .enumerate()
        .map(|(k, folder)| {
            let name = format!("kernel_{}", folder.file_name().unwrap().to_string_lossy());
            case_of(&read(&fs::read(folder.join("program.llvlir")).unwrap()), &name, k, 60)
        })
        .collect();
    assert_equal_everywhere(&cases);
}

/// Programs of single rows: every `step`-th, from `first`.
fn rows(first: usize, step: usize) -> Vec<Case> {
    let mut text = String::new();
    let packed = fs::read(data().join("rows/rows.jsonl.gz")).unwrap();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    let lines = text.lines().enumerate().skip(first).step_by(step);
    let program = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        read(line["text"].as_str().unwrap().as_bytes())
    };
    // Hardware without inputs has nothing to apply.
    let programs = lines.map(|(k, line)| (k, program(line))).filter(|(_, program)| !program.inputs().is_empty());
    programs.map(|(k, program)| case_of(&program, &format!("row_{k}"), k, 24)).collect()
}

#[test]
fn sim_single_rows_are_what_the_interpreter_says() {
    let cases = rows(7, 61);
    assert!(cases.len() > 25);
    assert_equal_everywhere(&cases);
}

#[test]
#[ignore = "long: every row in every simulator (an hour)"]
fn sim_every_row_is_what_the_interpreter_says() {
    for first in 0..60 {
        assert_equal_everywhere(&rows(first, 60));
    }
}
