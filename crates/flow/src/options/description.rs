//! Options of a design's description, including those of the hardware.

use super::by_name::{flag_value, invalid, path};
use super::{HardwareOptions, OptionFault, OptionValue, StageCounts};
use alir_core::diag::{Diagnostic, Place};
use std::path::PathBuf;

/// Options of a description, and of the hardware that it describes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescriptionOptions {
    /// Options of the hardware.
    pub hardware: HardwareOptions,
    /// Numbers of stages that are compared.
    pub sweep: Option<StageCounts>,
    /// SVG file with the chart of the comparison.
    pub svg: Option<PathBuf>,
    /// `true` if the Verilog for each number of stages is proved.
    pub prove: bool,
}

/// Largest number of stages that `--sweep` compares by default.
const USUAL: &str = "12";

impl DescriptionOptions {
    /// Names of the options, except those of the hardware.
    pub const NAMES: &'static [&'static str] = &["sweep", "svg"];

    /// Sets an option by its name. The value `false` leaves an option as it is.
    ///
    /// # Errors
    /// If no option has that name; if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        if *value == OptionValue::Flag(false) && DescriptionOptions::NAMES.contains(&name) {
            return Ok(());
        }
        let result = match name {
            "sweep" => sweep(value).map(|counts| self.sweep = Some(counts)),
            "svg" => path(value).map(|file| self.svg = Some(file)),
            "prove" => flag_value(value).map(|prove| self.prove = prove),
            _ => return self.hardware.set(name, value),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    /// Returns the options that contradict each other or require another one.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let given = [
            ("--pipeline", self.hardware.stages.is_some() && self.sweep.is_some(), "does not go with --sweep"),
            (
                "--max-stage-delay",
                self.hardware.max_stage_delay.is_some() && self.sweep.is_some(),
                "does not go with --sweep",
            ),
            ("--svg", self.svg.is_some() && self.sweep.is_none(), "needs --sweep"),
            ("--prove", self.prove && self.sweep.is_none(), "needs --sweep"),
        ];
        let problem = |(flag, _, what): (&str, bool, &str)| {
            Diagnostic::error("E0002", Place::Flag(flag.into()), format!("{flag} {what}"))
        };
        given.into_iter().filter(|(_, wrong, _)| *wrong).map(problem).collect()
    }
}

/// Parses numbers of stages: `true`, the last number of a range from one, or a list.
fn sweep(value: &OptionValue) -> Result<StageCounts, String> {
    match value {
        OptionValue::Flag(_) => StageCounts::parse_up_to(USUAL),
        // A list with a single number is not a range.
        OptionValue::List(one) if one.len() == 1 => StageCounts::parse_up_to(&format!("{value}..{value}")),
        _ => StageCounts::parse_up_to(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_a_last_one_a_range_or_a_list() {
        let counts = |value: OptionValue| {
            let mut options = DescriptionOptions::default();
            options.set("sweep", &value).map(|()| options.sweep.expect("stages").0)
        };
        let list = |values: &[i64]| OptionValue::List(values.iter().map(|k| OptionValue::Integer(*k)).collect());
        assert_eq!(counts(OptionValue::Flag(true)), Ok((1..=12).collect()));
        assert_eq!(counts(OptionValue::Integer(3)), Ok(vec![1, 2, 3]));
        assert_eq!(counts(OptionValue::Text("0..2".into())), Ok(vec![0, 1, 2]));
        assert_eq!(counts(list(&[4, 2])), Ok(vec![2, 4]));
        assert_eq!(counts(list(&[4])), Ok(vec![4]));
        for wrong in [OptionValue::Integer(0), list(&[]), OptionValue::Real(1.5), OptionValue::Text("many".into())] {
            assert!(matches!(counts(wrong.clone()), Err(OptionFault::Value(_))), "{wrong}");
        }
    }

    #[test]
    fn options_of_a_comparison_need_one() {
        let problems = |options: &[(&str, OptionValue)]| {
            let mut all = DescriptionOptions::default();
            options.iter().for_each(|(name, value)| all.set(name, value).expect("an option"));
            all.problems().len()
        };
        let three = || OptionValue::Integer(3);
        assert_eq!(problems(&[("sweep", three()), ("prove", OptionValue::Flag(true))]), 0);
        assert_eq!(problems(&[("prove", OptionValue::Flag(true))]), 1);
        assert_eq!(problems(&[("svg", OptionValue::Text("s.svg".into()))]), 1);
        assert_eq!(problems(&[("sweep", three()), ("pipeline", three())]), 1);
        assert_eq!(problems(&[("pipeline", three())]), 0);
    }
}
