//! Exploration of many hardware variants as one workflow: the description ([`Exploration`]), the folder for Snakemake
//! ([`Exploration::files`]), and the results ([`results`]).
//!
//! The folder is self-contained: it includes the models and does not depend on the computer on which it was generated,
//! so that it can be moved to a cluster. The caller starts Snakemake.

pub mod results;

use alir_core::files::FileSet;
use alir_formats;
use serde_json::{Map, Value, json};

/// Snakemake workflow.
const SNAKEFILE: &str = include_str!("../../../../templates/explore/Snakefile");
/// Default settings for `snakemake`: a failed variant does not stop the others, and incomplete results are generated
/// again.
const PROFILE: &str = "keep-going: true\nrerun-incomplete: true\n";

/// An option in which variants differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariedOption {
    /// Option of `project`, such as `--pipeline`.
    pub flag: &'static str,
    /// Column name of the option.
    pub name: &'static str,
    /// Prefix of a value in the name of a variant.
    pub prefix: &'static str,
    /// Value of `project` without the flag. The flag is not passed for this value, as other options may conflict with
    /// it.
    pub default: Option<&'static str>,
    /// Values, as on the command line.
    pub values: Vec<String>,
}

/// A model that is explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploredModel {
    /// Name of the model: letters, digits and `_`.
    pub name: String,
    /// File name extension of the model, with the dot.
    pub ending: String,
    /// Contents of the file.
    pub bytes: Vec<u8>,
}

impl ExploredModel {
    /// Returns the path of the model in the folder.
    fn path(&self) -> String {
        format!("models/{}{}", self.name, self.ending)
    }
}

/// Description of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The models.
    pub sources: Vec<ExploredModel>,
    /// Options in which the variants of each model differ.
    pub axes: Vec<VariedOption>,
    /// Options of `project` that all variants share.
    pub options: Vec<String>,
    /// Flow that synthesises, if any.
    pub flow: Option<&'static str>,
    /// Version and checksum of this program; if they change, all results are generated again.
    pub program: String,
}

/// A variant of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant<'p> {
    /// Name of the variant and of its folder.
    pub name: String,
    /// Model of the variant.
    pub source: &'p ExploredModel,
    /// Value of the variant on each axis, in the order of the axes.
    pub values: Vec<&'p str>,
}

impl Exploration {
    /// Returns every combination, ordered by model; the last axis changes fastest.
    pub fn variants(&self) -> Vec<Variant<'_>> {
        let mut all = Vec::new();
        for source in &self.sources {
            all.push(Variant { name: source.name.clone(), source, values: Vec::new() });
        }
        for axis in &self.axes {
            // Zero-padded numbers of equal length have the same order by name as by value.
            let digits = axis.values.iter().map(String::len).max().unwrap_or(0);
            let padded = |value: &str| match value.bytes().all(|b| b.is_ascii_digit()) {
                true => format!("{value:0>digits$}"),
                false => value.to_owned(),
            };
            let with =
                |variant: &Variant<'_>, value: &str| format!("{}_{}{}", variant.name, axis.prefix, padded(value));
            let mut finer = Vec::with_capacity(all.len() * axis.values.len());
            for variant in &all {
                for value in &axis.values {
                    let values = variant.values.iter().copied().chain([value.as_str()]).collect();
                    finer.push(Variant { name: with(variant, value), source: variant.source, values });
                }
            }
            all = finer;
        }
        all
    }

    /// Returns the options of `project` for a variant.
    pub fn words(&self, variant: &Variant<'_>) -> Vec<String> {
        let given = self.axes.iter().zip(&variant.values).filter(|(axis, value)| axis.default != Some(*value));
        let own = given.map(|(axis, value)| format!("{}={value}", axis.flag));
        own.chain([format!("--flow={}", self.flow.unwrap_or("plain"))]).chain(self.options.iter().cloned()).collect()
    }

    /// Returns the files of the folder: `plan.json`, the workflow, its settings, the models.
    pub fn files(&self) -> FileSet {
        let mut files = FileSet::default();
        let described = self.variants().into_iter().map(|variant| {
            let path = variant.source.path();
            let on = |(axis, value): (&VariedOption, &&str)| (axis.name.to_owned(), number_or_word(value));
            let axes: Map<String, Value> = self.axes.iter().zip(&variant.values).map(on).collect();
            let options = self.words(&variant);
            let facts = json!({
                "model": path, "axes": axes, "options": options,
                // The checksum detects a file of the same name with other contents.
                "sha256": alir_formats::sha256(&variant.source.bytes),
            });
            (variant.name, facts)
        });
        let variants: Map<String, Value> = described.collect();
        let axes: Vec<&str> = self.axes.iter().map(|axis| axis.name).collect();
        let plan = json!({ "program": self.program, "flow": self.flow, "axes": axes, "variants": variants });
        files.add("plan.json", serde_json::to_string_pretty(&plan).expect("plain data") + "\n");
        files.add("Snakefile", SNAKEFILE);
        files.add("profiles/default/config.yaml", PROFILE);
        for source in &self.sources {
            files.add(source.path(), source.bytes.clone());
        }
        files
    }
}

/// Returns a value of an axis as JSON.
fn number_or_word(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| Value::from(text), Value::from)
}

/// Returns a name of letters, digits and `_` that differs from the names in `taken`.
pub fn name_of(stem: &str, taken: &[ExploredModel]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let base: String = stem.chars().map(plain).take(60).collect();
    let base = if base.starts_with(|c: char| c.is_ascii_alphabetic()) { base } else { format!("m_{base}") };
    let free = |name: &String| taken.iter().all(|source| source.name != *name);
    let numbered = (2..).map(|k| format!("{base}_{k}"));
    std::iter::once(base.clone()).chain(numbered).find(free).expect("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Exploration {
        let source = |name: &str| ExploredModel { name: name.into(), ending: ".json".into(), bytes: name.into() };
        let axis = |flag, name, prefix, values: &[&str]| VariedOption {
            flag,
            name,
            prefix,
            default: (flag == "--pipeline-objective").then_some("delay"),
            values: values.iter().map(|v| (*v).to_owned()).collect(),
        };
        Exploration {
            sources: vec![source("a"), source("b")],
            axes: vec![
                axis("--pipeline", "pipeline", "p", &["2", "10"]),
                axis("--pipeline-objective", "objective", "", &["delay", "registers"]),
            ],
            options: vec!["--device=ecp5".into()],
            flow: Some("yosys"),
            program: "1".into(),
        }
    }

    #[test]
    fn variants_are_all_combinations() {
        let plan = plan();
        let variants = plan.variants();
        let names: Vec<&str> = variants.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names[..4], ["a_p02_delay", "a_p02_registers", "a_p10_delay", "a_p10_registers"]);
        assert_eq!((names.len(), names[7]), (8, "b_p10_registers"));
        let words = plan.words(&variants[5]);
        assert_eq!(words, ["--pipeline=2", "--pipeline-objective=registers", "--flow=yosys", "--device=ecp5"]);
        assert_eq!(plan.words(&variants[4]), ["--pipeline=2", "--flow=yosys", "--device=ecp5"]);
    }

    #[test]
    fn the_folder_names_its_models() {
        let files = plan().files();
        let written: Value = serde_json::from_slice(&files.0["plan.json"]).expect("JSON");
        let variant = &written["variants"]["b_p02_delay"];
        assert_eq!((&variant["model"], &variant["axes"]["pipeline"]), (&json!("models/b.json"), &json!(2)));
        assert_eq!(files.0["models/b.json"], b"b");
    }

    #[test]
    fn names_are_plain_and_differ() {
        let taken = [ExploredModel { name: "jet_mlp".into(), ending: String::new(), bytes: Vec::new() }];
        assert_eq!(name_of("Jet-MLP", &taken), "jet_mlp_2");
        assert_eq!(name_of("8bit", &taken), "m_8bit");
        assert_eq!(name_of("", &taken), "m_");
    }
}
