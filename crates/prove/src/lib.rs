//! Proof that a file on disk computes the model, for every input.
//!
//! Both sides become gates: the model by section 3 of the specification, the text by the readers of Verilog and VHDL.
//! Neither way knows how the text was made.

pub mod affine;
pub mod aig;
pub mod aiger;
pub mod aignet;
pub mod bench;
mod bit_level;
pub mod bit_vector;
pub mod blast;
mod candidates;
pub mod certify;
pub mod circuit;
mod control;
pub mod design_forms;
pub mod engine;
pub mod equiv;
pub mod gauge;
pub mod kernel;
pub mod linear_forms;
pub mod lrat;
pub mod machine;
pub mod pair;
mod parity;
pub mod phases;
mod port_roles;
pub mod program;
mod proved;
mod rounds;
pub mod sat;
pub mod steps;
mod text_gates;
pub mod unroll;
pub mod value_classes;
mod word_level;

/// The seeds of a test on random programs: those of the suite, or `FROM..TO` of the environment variable `PROVE_SEEDS`
/// for a longer run.
#[cfg(test)]
pub(crate) fn seeds(suite: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let asked = std::env::var("PROVE_SEEDS").ok();
    let ends = asked.as_deref().and_then(|s| s.split_once("..")).map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
    ends.map_or(suite, |(a, b)| a..b)
}

/// A program on the PATH that a test needs. Absent tools are reported as skipped, unless the environment variable
/// `ALIR2HDL_REQUIRE` lists them.
#[cfg(test)]
pub(crate) fn tool(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|d| d.join(name)).find(|p| p.is_file());
    if found.is_none() {
        let required = std::env::var("ALIR2HDL_REQUIRE").unwrap_or_default();
        assert!(!required.split_whitespace().any(|r| r == name), "{name} is required but not on the PATH");
        eprintln!("skipped: {name} is not on the PATH");
    }
    found
}
