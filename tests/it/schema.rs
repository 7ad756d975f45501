//! JSON documents against the schemas of `docs/schema`.

use serde_json::{Value, json};
use std::path::PathBuf;

/// Returns the rules of a schema that `value` breaks: the part of JSON Schema 2020-12 that `docs/schema` uses. A
/// keyword that is not known here is a mistake of the schema.
pub(crate) fn broken(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let Some(rules) = schema.as_object() else { return vec![format!("{place}: the schema is no object")] };
    let mut found = Vec::new();
    for (rule, wanted) in rules {
        match rule.as_str() {
            "$schema" | "$id" | "title" | "description" | "required" | "additionalProperties" => {}
            "type" => {
                let one = |name: &Value| match name.as_str().unwrap_or_default() {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("no type {other:?}"),
                };
                if !wanted.as_array().map_or_else(|| one(wanted), |names| names.iter().any(one)) {
                    found.push(format!("{place} is no {wanted}: {value}"));
                }
            }
            "const" if value != wanted => found.push(format!("{place} is not {wanted}: {value}")),
            "enum" if !wanted.as_array().unwrap().contains(value) => found.push(format!("{place}: {value} is unknown")),
            "minimum" if value.as_f64().is_some_and(|v| v < wanted.as_f64().unwrap()) => {
                found.push(format!("{place} is below {wanted}: {value}"));
            }
            "pattern" => {
                // The only one: a letter and four digits.
                assert_eq!(wanted, "^[EWN][0-9]{4}$");
                let text = value.as_str().unwrap_or_default();
                let digits = text.get(1..).unwrap_or_default();
                if !text.starts_with(['E', 'W', 'N'])
                    || digits.len() != 4
                    || !digits.bytes().all(|b| b.is_ascii_digit())
                {
                    found.push(format!("{place} does not match {wanted}: {value}"));
                }
            }
            "oneOf" => {
                let kept = wanted.as_array().unwrap().iter().filter(|s| broken(s, value, place).is_empty()).count();
                if kept != 1 {
                    found.push(format!("{place} keeps to {kept} of the alternatives: {value}"));
                }
            }
            "items" => {
                for (k, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(broken(wanted, item, &format!("{place}[{k}]")));
                }
            }
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    match wanted.get(key) {
                        Some(schema) => found.extend(broken(schema, inner, &format!("{place}.{key}"))),
                        None if rules.get("additionalProperties") == Some(&json!(false)) => {
                            found.push(format!("{place}.{key} is not in the schema"));
                        }
                        None => {}
                    }
                }
            }
            "const" | "enum" | "minimum" => {}
            other => panic!("{place}: the test does not know {other:?}"),
        }
    }
    if let (Some(required), Some(object)) = (rules.get("required"), value.as_object()) {
        let keys = required.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
        found.extend(keys.filter(|key| !object.contains_key(*key)).map(|key| format!("{place}.{key} is missing")));
    }
    if let (Some(schema @ Value::Object(_)), Some(object)) = (rules.get("additionalProperties"), value.as_object()) {
        found.extend(object.iter().flat_map(|(key, inner)| broken(schema, inner, &format!("{place}.{key}"))));
    }
    found
}

/// Holds a document to the schema that it names, which is printed by the program too.
#[track_caller]
pub(crate) fn keeps_to(kind: &str, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{kind}: {e}: {text}"));
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "docs/schema", &format!("{kind}.json")].iter().collect();
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(value["schema"].as_str().is_some_and(|id| id.starts_with(&format!("alir2hdl.{kind}/"))), "{kind}");
    assert_eq!(value["schema"], schema["$id"]);
    assert_eq!(broken(&schema, &value, "$"), [""; 0], "{kind}");
}
