//! JSON documents: each has the name of its schema, and the program contains the schemas.
//!
//! The name is `alir2hdl.KIND/VERSION`. The version increases for incompatible changes, not for additions.
//! `docs/json.md` describes the kinds, and `docs/schema/KIND.json` is the JSON Schema 2020-12 of each.

use clap::builder::PossibleValuesParser;
use serde::Serialize;

/// Kinds of documents with their schemas.
const SCHEMAS: &[(&str, &str)] = &[
    ("calibrate", include_str!("../../docs/schema/calibrate.json")),
    ("check", include_str!("../../docs/schema/check.json")),
    ("devices", include_str!("../../docs/schema/devices.json")),
    ("diagnostic", include_str!("../../docs/schema/diagnostic.json")),
    ("diff", include_str!("../../docs/schema/diff.json")),
    ("explore", include_str!("../../docs/schema/explore.json")),
    ("generate", include_str!("../../docs/schema/generate.json")),
    ("info", include_str!("../../docs/schema/info.json")),
    ("info-machine", include_str!("../../docs/schema/info-machine.json")),
    ("info-network", include_str!("../../docs/schema/info-network.json")),
    ("info-onnx", include_str!("../../docs/schema/info-onnx.json")),
    ("info-reuse", include_str!("../../docs/schema/info-reuse.json")),
    ("interface", include_str!("../../docs/schema/interface.json")),
    ("project", include_str!("../../docs/schema/project.json")),
    ("prove", include_str!("../../docs/schema/prove.json")),
    ("prove-machine", include_str!("../../docs/schema/prove-machine.json")),
    ("report", include_str!("../../docs/schema/report.json")),
    ("timings", include_str!("../../docs/schema/timings.json")),
    ("verify", include_str!("../../docs/schema/verify.json")),
    ("witness", include_str!("../../docs/schema/witness.json")),
];

/// Returns a parser for the kinds, for options.
pub(super) fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(SCHEMAS.iter().map(|(kind, _)| *kind))
}

/// Returns the schema of a kind.
pub(super) fn text(kind: &str) -> &'static str {
    SCHEMAS.iter().find(|(known, _)| *known == kind).map_or("", |(_, text)| text)
}

/// Document: the name of its schema, followed by its content.
#[derive(Serialize)]
struct Document<'a, T: Serialize> {
    schema: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

/// Serialises a document, indented, with a newline at the end. `schema` is its name with the version.
pub(super) fn document(schema: &'static str, content: &impl Serialize) -> String {
    serde_json::to_string_pretty(&Document { schema, content }).expect("plain data") + "\n"
}
