//! The quantisation file (section 3 of the contract): types, rounding and constants by buffer and node.

use super::read::{Graph, Node, Role};
use crate::exact::Rational;
use crate::json::{self, Value};
use crate::quantise::{Overflow, Quantiser, Round, parse_type, type_of, unknown_overflow, unknown_round};
use alir_core::diag::{Diagnostic, Place};
use alir_core::num::Kif;
use std::collections::BTreeMap;

/// Values of a file at most.
pub(super) const MAX_VALUES: usize = 1 << 22;

/// What an entry is about, which decides what its missing keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A matrix or factors.
    Weight,
    /// What is added; missing keys come from weights.
    Bias,
    /// A value between nodes.
    Activation,
    /// A table inside a node.
    Table,
}

/// A type, or the value as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing is said.
    Open,
    /// As many bits as the range needs.
    Exact,
    /// This type.
    Type(Kif),
}

/// Settings of one buffer or table, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Type.
    pub form: Form,
    /// Rounding.
    pub round: Round,
    /// Overflow.
    pub overflow: Overflow,
    /// Factor of a weight before it is quantised.
    pub scale: Rational,
}

impl Setting {
    /// The quantiser, if there is a type.
    pub fn quantiser(&self) -> Option<Quantiser> {
        match self.form {
            Form::Type(kif) => Some(Quantiser { kif, round: self.round, overflow: self.overflow }),
            Form::Open | Form::Exact => None,
        }
    }
}

/// Settings with gaps.
#[derive(Clone, Debug, Default, PartialEq)]
struct Entry {
    form: Option<Form>,
    round: Option<Round>,
    overflow: Option<Overflow>,
    scale: Option<Rational>,
}

impl Entry {
    /// These settings, and where they have gaps those of another.
    fn or(&self, other: &Entry) -> Entry {
        Entry {
            form: self.form.or(other.form),
            round: self.round.or(other.round),
            overflow: self.overflow.or(other.overflow),
            scale: self.scale.clone().or_else(|| other.scale.clone()),
        }
    }
}

/// Settings of nodes, with gaps.
#[derive(Clone, Debug, Default, PartialEq)]
struct NodeEntry {
    rstd: Option<Rational>,
    mean: Option<Rational>,
    table: Entry,
}

/// The constants of a norm.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSetting {
    /// Reciprocal of the root.
    pub rstd: Option<Rational>,
    /// Mean; zero if not given.
    pub mean: Rational,
    /// The table inside the node.
    pub table: Setting,
}

/// A checked quantisation file. The default is that of no file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuantFile {
    weight: Entry,
    bias: Entry,
    activation: Entry,
    table: Entry,
    buffers: BTreeMap<String, Entry>,
    nodes: BTreeMap<String, NodeEntry>,
}

fn wrong(place: impl Into<String>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E2004", Place::Path(place.into()), message)
}

impl QuantFile {
    /// Reads a file for a graph.
    ///
    /// # Errors
    /// The first problem, with its place.
    pub fn read(bytes: &[u8], graph: &Graph) -> Result<QuantFile, Diagnostic> {
        let value = json::parse(bytes, MAX_VALUES).map_err(|e| {
            let place = Place::Line { line: e.line, column: e.column };
            Diagnostic::error("E2004", place, format!("this is no JSON: {}", e.what))
        })?;
        let members =
            value.members().ok_or_else(|| wrong("quant", format!("{} is no quantisation file", value.kind())))?;
        let mut quant = QuantFile::default();
        let expected = Value::String("alir2hdl-quant".into());
        match value.get("format") {
            Some(format) if *format == expected => {}
            other => {
                let found = other.map_or("missing".into(), Value::brief);
                return Err(wrong("quant.format", format!("the format is {found}; it has to be \"alir2hdl-quant\"")));
            }
        }
        match value.get("version") {
            Some(Value::Number(text)) if text == "1" => {}
            other => {
                let found = other.map_or("missing".into(), Value::brief);
                return Err(wrong("quant.version", format!("the version is {found}; 1 is known")));
            }
        }
        for (key, value) in members {
            match key.as_str() {
                "format" | "version" => {}
                "default" => quant.defaults(value)?,
                "buffers" => quant.buffers(value, graph)?,
                "nodes" => quant.nodes(value, graph)?,
                _ => return Err(unknown(&format!("quant.{key}"), "format, version, default, buffers, nodes")),
            }
        }
        Ok(quant)
    }

    fn defaults(&mut self, value: &Value) -> Result<(), Diagnostic> {
        for (key, value) in object(value, "quant.default")? {
            let place = format!("quant.default.{key}");
            let slot = match key.as_str() {
                "weight" => &mut self.weight,
                "bias" => &mut self.bias,
                "activation" => &mut self.activation,
                "table" => &mut self.table,
                _ => return Err(unknown(&place, "weight, bias, activation, table")),
            };
            *slot = entry(value, &place, matches!(key.as_str(), "weight" | "bias"))?;
        }
        Ok(())
    }

    fn buffers(&mut self, value: &Value, graph: &Graph) -> Result<(), Diagnostic> {
        let layers = graph.layers();
        for (key, value) in object(value, "quant.buffers")? {
            let place = format!("quant.buffers.{key}");
            let own = graph.buffer(key);
            let of_layer = || {
                let (layer, name) = key.split_once(':')?;
                let layer: i64 = layer.parse().ok().filter(|_| plain_number(layer))?;
                graph.buffer(name).filter(|&b| graph.buffers[b].layered && layers.contains(&layer))
            };
            let Some(index) = own.or_else(of_layer) else {
                return Err(wrong(place, "there is no such buffer").with_help(
                    "keys are the names of buffers, or LAYER:NAME for one layer of a buffer with scope layer",
                ));
            };
            let buffer = &graph.buffers[index];
            if buffer.root != index {
                let end = &graph.buffers[buffer.root].name;
                return Err(wrong(place, format!("{:?} is an alias: give the entry to {end:?}", buffer.name)));
            }
            self.buffers.insert(key.clone(), entry(value, &place, buffer.role == Role::Weight)?);
        }
        Ok(())
    }

    fn nodes(&mut self, value: &Value, graph: &Graph) -> Result<(), Diagnostic> {
        for (key, value) in object(value, "quant.nodes")? {
            let place = format!("quant.nodes.{key}");
            if !graph.nodes.iter().any(|node| node_keys(node).contains(key)) {
                return Err(wrong(place, "there is no such node").with_help(
                    "keys are OP, LAYER:OP, or LAYER:OP:NTH, which counts the nodes of that layer and operation from 0",
                ));
            }
            let mut found = NodeEntry::default();
            for (name, value) in object(value, &place)? {
                let place = format!("{place}.{name}");
                let decimal =
                    || value.decimal().ok_or_else(|| wrong(&*place, format!("{} is no decimal number", value.brief())));
                match name.as_str() {
                    "rstd" => found.rstd = Some(decimal()?),
                    "mean" => found.mean = Some(decimal()?),
                    "table" => found.table = entry(value, &place, false)?,
                    _ => return Err(unknown(&place, "rstd, mean, table")),
                }
            }
            self.nodes.insert(key.clone(), found);
        }
        Ok(())
    }

    /// Whether the file has an entry for this very instance, `LAYER:NAME`.
    pub fn has_instance(&self, layer: i64, name: &str) -> bool {
        self.buffers.contains_key(&format!("{layer}:{name}"))
    }

    /// The settings of a buffer's instance; `name` is that of the end of its chain of aliases.
    pub fn buffer(&self, layer: i64, name: &str, purpose: Purpose) -> Setting {
        let instance = if layer >= 0 { self.buffers.get(&format!("{layer}:{name}")) } else { None };
        let entry = instance.or_else(|| self.buffers.get(name)).cloned().unwrap_or_default();
        self.complete(&entry, purpose)
    }

    /// The settings of a node.
    pub fn node(&self, node: &Node) -> NodeSetting {
        let mut merged = NodeEntry::default();
        // From the widest to the narrowest, so that the narrower wins.
        for key in node_keys(node) {
            let Some(found) = self.nodes.get(&key) else { continue };
            merged = NodeEntry {
                rstd: found.rstd.clone().or(merged.rstd),
                mean: found.mean.clone().or(merged.mean),
                table: found.table.or(&merged.table),
            };
        }
        NodeSetting {
            rstd: merged.rstd,
            mean: merged.mean.unwrap_or_else(Rational::zero),
            table: self.complete(&merged.table, Purpose::Table),
        }
    }

    fn complete(&self, entry: &Entry, purpose: Purpose) -> Setting {
        let entry = match purpose {
            Purpose::Weight => entry.or(&self.weight),
            Purpose::Bias => entry.or(&self.bias).or(&self.weight),
            Purpose::Activation => entry.or(&self.activation),
            Purpose::Table => entry.or(&self.table),
        };
        let (form, round, overflow) = match purpose {
            Purpose::Activation => (Form::Exact, Round::Floor, Overflow::Wrap),
            _ => (Form::Open, Round::HalfEven, Overflow::Saturate),
        };
        Setting {
            form: entry.form.unwrap_or(form),
            round: entry.round.unwrap_or(round),
            overflow: entry.overflow.unwrap_or(overflow),
            scale: entry.scale.unwrap_or_else(Rational::one),
        }
    }
}

/// The keys that a node answers to, the widest first.
fn node_keys(node: &Node) -> [String; 3] {
    let Node { layer, op, nth, .. } = node;
    [op.clone(), format!("{layer}:{op}"), format!("{layer}:{op}:{nth}")]
}

/// Whether a number is written the one way: `01:x` is not `1:x`.
fn plain_number(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|n| n.to_string() == text)
}

fn unknown(place: &str, known: &str) -> Diagnostic {
    wrong(place, "the key is not known").with_help(format!("there are {known}"))
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a [(String, Value)], Diagnostic> {
    value.members().ok_or_else(|| wrong(place, format!("{} is no object", value.kind())))
}

fn entry(value: &Value, place: &str, is_weight: bool) -> Result<Entry, Diagnostic> {
    let mut found = Entry::default();
    for (key, value) in object(value, place)? {
        let place = format!("{place}.{key}");
        let name = || value.text().ok_or_else(|| wrong(&*place, format!("{} is no name of a mode", value.brief())));
        match key.as_str() {
            "type" => found.form = Some(form(value).map_err(|message| wrong(&*place, message))?),
            "round" => {
                let name = name()?;
                found.round = Some(Round::parse(name).ok_or_else(|| wrong(&*place, unknown_round(name)))?);
            }
            "overflow" => {
                let name = name()?;
                found.overflow = Some(Overflow::parse(name).ok_or_else(|| wrong(&*place, unknown_overflow(name)))?);
            }
            "scale" if is_weight => {
                let scale = value.decimal();
                found.scale =
                    Some(scale.ok_or_else(|| wrong(&*place, format!("{} is no decimal number", value.brief())))?);
            }
            "scale" => return Err(wrong(place, "only weights have a scale")),
            _ => {
                return Err(unknown(
                    &place,
                    if is_weight { "type, round, overflow, scale" } else { "type, round, overflow" },
                ));
            }
        }
    }
    Ok(found)
}

fn form(value: &Value) -> Result<Form, String> {
    let wrong = || format!("{} is no type: [k, i, f], \"s8.5\", \"u8.5\" or \"exact\"", value.brief());
    match value {
        Value::String(text) if text == "exact" => Ok(Form::Exact),
        Value::String(text) => Ok(Form::Type(parse_type(text)?)),
        Value::Array(parts) => match parts.iter().map(Value::integer).collect::<Option<Vec<i64>>>().as_deref() {
            Some([k @ (0 | 1), i, f]) => Ok(Form::Type(type_of(*k == 1, *i, *f)?)),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}
