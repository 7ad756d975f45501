//! Options of a verification, except those of the hardware: samples, simulators, files.

use super::own::Files;
use crate::options::{OptionFault, OptionValue, choices, flag_value, invalid, path, paths, text, unsigned, within};
use alir_core::diag::{Diagnostic, Place};
use alir_hdl::project::ProjectFiles;
use alir_hw::emit::Language;
use std::path::PathBuf;

/// Files with the user's own samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleOptions {
    /// File of the inputs.
    pub input: Option<PathBuf>,
    /// Name of the array in the input file, if the input file is an npz file.
    pub array: Option<String>,
    /// File of the expected outputs.
    pub expect: Option<PathBuf>,
    /// Name of the array in the file of expected outputs, if that file is an npz file.
    pub expect_array: Option<String>,
    /// `true` if both files contain raw integer values.
    pub codes: bool,
}

impl SampleOptions {
    /// Names of the options.
    pub const NAMES: &'static [&'static str] = &["input", "array", "expect", "expect_array", "codes"];

    /// Sets an option by its name.
    ///
    /// # Errors
    /// If no option has that name; if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let result = match name {
            "input" => path(value).map(|file| self.input = Some(file)),
            "array" => text(value).map(|array| self.array = Some(array)),
            "expect" => path(value).map(|file| self.expect = Some(file)),
            "expect_array" => text(value).map(|array| self.expect_array = Some(array)),
            "codes" => flag_value(value).map(|codes| self.codes = codes),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    /// Returns the files with samples; `None` if no file is named.
    ///
    /// # Errors
    /// If an option has no effect: `codes` without a file, or an array name for a state machine.
    pub fn files(&self, is_machine: bool) -> Result<Option<Files<'_>>, Diagnostic> {
        let refuse = |flag: &str, why: &str, help: &str| {
            let error = Diagnostic::error("E1011", Place::Flag(flag.into()), format!("{flag} {why}"));
            Err(error.with_help(help))
        };
        if self.input.is_none() && self.expect.is_none() {
            return match self.codes {
                true => refuse("--codes", "requires files of samples", "name them with --input and --expect"),
                false => Ok(None),
            };
        }
        if is_machine && self.array.as_ref().or(self.expect_array.as_ref()).is_some() {
            let flag = if self.array.is_some() { "--array" } else { "--expect-array" };
            let help = "a file for a state machine has an array for each port, with the port's name";
            return refuse(flag, "does not go with a state machine", help);
        }
        Ok(Some(Files {
            input: self.input.as_deref(),
            array: self.array.as_deref(),
            expect: self.expect.as_deref(),
            expect_array: self.expect_array.as_deref(),
            codes: self.codes,
        }))
    }
}

/// Simulators, samples and files of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulationOptions {
    /// Languages, without repetition.
    pub languages: Vec<Language>,
    /// Names of the simulators; empty: all installed simulators.
    pub simulators: Vec<&'static str>,
    /// Number of random samples, or cycles of a state machine.
    pub samples: u32,
    /// Seed of samples and stalls.
    pub seed: u64,
    /// RTL files that are simulated instead of generated RTL, with include folders and macros.
    pub rtl: ProjectFiles,
    /// Revision of VHDL for GHDL: `93` or `08`.
    pub vhdl_standard: String,
    /// Folder in which RTL, testbench, vectors and logs are kept.
    pub keep: Option<PathBuf>,
    /// `true` if waveforms are written into the folder [`SimulationOptions::keep`].
    pub vcd: bool,
    /// Time limit of a simulation, in seconds.
    pub timeout: u64,
    /// The user's own samples.
    pub own: SampleOptions,
}

impl Default for SimulationOptions {
    fn default() -> SimulationOptions {
        SimulationOptions {
            languages: vec![Language::Verilog, Language::Vhdl],
            simulators: Vec::new(),
            samples: 10_000,
            seed: 1,
            rtl: ProjectFiles::default(),
            vhdl_standard: "08".into(),
            keep: None,
            vcd: false,
            timeout: 3600,
            own: SampleOptions::default(),
        }
    }
}

const LANGUAGES: &[(&str, &[Language])] =
    &[("verilog", &[Language::Verilog]), ("vhdl", &[Language::Vhdl]), ("both", &[Language::Verilog, Language::Vhdl])];
/// Simulators by name in options; `None`: all.
const SIMULATORS: &[(&str, Option<&'static str>)] =
    &[("verilator", Some("verilator")), ("iverilog", Some("iverilog")), ("ghdl", Some("ghdl")), ("all", None)];

impl SimulationOptions {
    /// Names of the options.
    pub const NAMES: &'static [&'static str] = &[
        "lang",
        "sim",
        "vectors",
        "samples",
        "seed",
        "rtl",
        "vhdl_standard",
        "keep",
        "vcd",
        "timeout",
        "input",
        "array",
        "expect",
        "expect_array",
        "codes",
    ];

    /// Sets an option by its name.
    ///
    /// # Errors
    /// If no option has that name; if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let result = match name {
            "lang" => choices(value, LANGUAGES).map(|chosen| {
                let chosen: Vec<Language> = chosen.into_iter().flatten().copied().collect();
                self.languages.retain(|language| chosen.contains(language));
            }),
            "sim" => choices(value, SIMULATORS)
                .map(|chosen| self.simulators = chosen.into_iter().collect::<Option<_>>().unwrap_or_default()),
            "vectors" | "samples" => within(value, 1..=u32::MAX).map(|count| self.samples = count),
            "seed" => unsigned(value).map(|seed| self.seed = seed),
            "rtl" => paths(value).map(|files| self.rtl.files = files),
            "vhdl_standard" => text(value).and_then(|year| match year.as_str() {
                "93" | "08" => {
                    self.vhdl_standard = year;
                    Ok(())
                }
                _ => Err("known are 93, 08".to_owned()),
            }),
            "keep" => path(value).map(|folder| self.keep = Some(folder)),
            "vcd" => flag_value(value).map(|vcd| self.vcd = vcd),
            "timeout" => unsigned(value).map(|seconds| self.timeout = seconds),
            _ => return self.own.set(name, value),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    /// Returns an error for each option that requires another, missing option; the command line's parser has the same
    /// rules.
    pub fn conflicts(&self) -> Vec<Diagnostic> {
        let requires = |flag: &str, other: &str| {
            Diagnostic::error("E1011", Place::Flag(flag.into()), format!("{flag} requires {other}"))
        };
        let rules = [
            (self.vcd && self.keep.is_none(), "--vcd", "--keep"),
            (self.own.array.is_some() && self.own.input.is_none(), "--array", "--input"),
            (self.own.expect_array.is_some() && self.own.expect.is_none(), "--expect-array", "--expect"),
        ];
        rules.into_iter().filter(|(broken, ..)| *broken).map(|(_, flag, other)| requires(flag, other)).collect()
    }
}
