//! Quantisation file (section 3 of the contract): types, rounding and constants by buffer and node.

use super::read::{Graph, Kind, Node, Role};
use crate::exact::Rational;
use crate::json::{self, Value};
use crate::quantise::{Overflow, Quantiser, Round, parse_type, type_of, unknown_overflow, unknown_round};
use alir_core::diag::{Diagnostic, Place};
use alir_core::num::Kif;
use std::collections::BTreeMap;

/// Maximum number of JSON values of a file.
pub(super) const MAX_VALUES: usize = 1 << 22;

/// Purpose of an entry, which determines the defaults of its missing keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A matrix or factors.
    Weight,
    /// A summand; missing keys come from weights.
    Bias,
    /// A value between nodes.
    Activation,
    /// A table inside a node.
    Table,
}

/// Type of a value: open, exact, or given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// No type is given.
    Open,
    /// As many bits as the range of the exact value needs.
    Exact,
    /// The given type.
    Type(Kif),
}

/// Complete settings of one buffer or table.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Type of the value.
    pub form: Form,
    /// Rounding mode.
    pub round: Round,
    /// Overflow mode.
    pub overflow: Overflow,
    /// Factor of a weight before it is quantised.
    pub scale: Rational,
}

impl Setting {
    /// Returns `true` if a type is given, or if the value is exact.
    pub fn is_given(&self) -> bool {
        self.form != Form::Open
    }

    /// Returns the quantiser; `None` without a type.
    pub fn quantiser(&self) -> Option<Quantiser> {
        match self.form {
            Form::Type(kif) => Some(Quantiser { kif, round: self.round, overflow: self.overflow }),
            Form::Open | Form::Exact => None,
        }
    }
}

/// Settings that may be incomplete.
#[derive(Clone, Debug, Default, PartialEq)]
struct Entry {
    form: Option<Form>,
    round: Option<Round>,
    overflow: Option<Overflow>,
    scale: Option<Rational>,
}

impl Entry {
    /// Returns these settings; the settings of `other` replace missing ones.
    fn or(&self, other: &Entry) -> Entry {
        Entry {
            form: self.form.or(other.form),
            round: self.round.or(other.round),
            overflow: self.overflow.or(other.overflow),
            scale: self.scale.clone().or_else(|| other.scale.clone()),
        }
    }
}

/// Records of intermediate values by name, which may be incomplete.
type Records = BTreeMap<&'static str, Entry>;

/// Reciprocal of a norm's root: a constant, or records of a reciprocal that depends on the data.
#[derive(Clone, Debug, PartialEq)]
enum RootEntry {
    Constant(Rational),
    Measured(Records),
}

/// Settings of nodes, which may be incomplete.
#[derive(Clone, Debug, Default, PartialEq)]
struct NodeEntry {
    rstd: Option<RootEntry>,
    mean: Option<Rational>,
    records: Records,
}

impl NodeEntry {
    /// Returns the names of the given keys.
    fn keys(&self) -> impl Iterator<Item = &'static str> + '_ {
        let rstd = self.rstd.as_ref().map(|_| "rstd");
        rstd.into_iter().chain(self.mean.as_ref().map(|_| "mean")).chain(self.records.keys().copied())
    }
}

/// Reciprocal of a norm's root.
#[derive(Clone, Debug, PartialEq)]
pub enum RootSetting {
    /// No setting is given.
    Missing,
    /// A constant, and its constant mean.
    Constant {
        /// Reciprocal of the root.
        rstd: Rational,
        /// Mean; zero if the file has no mean.
        mean: Rational,
    },
    /// A table of the mean square of the data.
    Measured,
}

/// Returns the names of the intermediate values of an operator.
pub fn record_names(kind: &Kind) -> &'static [&'static str] {
    match kind {
        Kind::Attention { .. } => &["scale", "score", "difference", "exp", "sum", "inverse", "probability"],
        Kind::Softmax { .. } => &["difference", "exp", "sum", "inverse", "probability"],
        Kind::Norm { .. } => &["mean_square", "table"],
        Kind::Rope { .. } | Kind::Swiglu { .. } => &["table"],
        _ => &[],
    }
}

/// Names of all records and constants of nodes.
const NODE_KEYS: [&str; 10] =
    ["rstd", "mean", "table", "scale", "score", "difference", "exp", "sum", "inverse", "probability"];

/// Maximum width of a table's entry in bits.
pub(crate) const MAX_ENTRY_BITS: u32 = 32;

/// Returns `true` if the record has the type of a table's entries.
pub(crate) fn is_table(name: &str) -> bool {
    matches!(name, "exp" | "inverse" | "table")
}

/// A checked quantisation file. The default has no entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuantFile {
    weight: Entry,
    bias: Entry,
    activation: Entry,
    table: Entry,
    buffers: BTreeMap<String, Entry>,
    nodes: BTreeMap<String, NodeEntry>,
    /// `true` if only the floating-point network is used: wide types replace missing types.
    floating: bool,
}

/// Code of a problem in a quantisation file.
pub const QUANT_PROBLEM: &str = "E2004";

fn wrong(place: impl Into<String>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(QUANT_PROBLEM, Place::Path(place.into()), message)
}

impl QuantFile {
    /// Parses a file for a graph.
    ///
    /// # Errors
    /// Returns the first problem, with its place.
    pub fn read(bytes: &[u8], graph: &Graph) -> Result<QuantFile, Diagnostic> {
        QuantFile::read_any(bytes, Some(graph))
    }

    /// Parses a file for a network that defines the types of its values itself: only records of nodes are used, and
    /// `buffers` is refused.
    ///
    /// # Errors
    /// Returns the first problem, with its place.
    pub fn read_records(bytes: &[u8]) -> Result<QuantFile, Diagnostic> {
        QuantFile::read_any(bytes, None)
    }

    fn read_any(bytes: &[u8], graph: Option<&Graph>) -> Result<QuantFile, Diagnostic> {
        let value = json::parse(bytes, MAX_VALUES).map_err(|e| {
            let place = Place::Line { line: e.line, column: e.column };
            Diagnostic::error("E2004", place, format!("this is not valid JSON: {}", e.what))
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
                "buffers" => match graph {
                    Some(graph) => quant.buffers(value, graph)?,
                    None => {
                        let message = "buffers have their types in the QONNX file";
                        return Err(wrong("quant.buffers", message).with_help("give records of nodes only"));
                    }
                },
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

    fn nodes(&mut self, value: &Value, graph: Option<&Graph>) -> Result<(), Diagnostic> {
        for (key, value) in object(value, "quant.nodes")? {
            let place = format!("quant.nodes.{key}");
            if graph.is_some_and(|graph| !graph.nodes.iter().any(|node| node_keys(node).contains(key))) {
                return Err(wrong(place, "there is no such node").with_help(
                    "keys are OP, LAYER:OP, or LAYER:OP:NTH, which counts the nodes of that layer and operation from 0",
                ));
            }
            let mut found = NodeEntry::default();
            for (name, value) in object(value, &place)? {
                let place = format!("{place}.{name}");
                let decimal =
                    || value.decimal().ok_or_else(|| wrong(&*place, format!("{} is no decimal number", value.brief())));
                match NODE_KEYS.iter().find(|known| *known == name) {
                    None => return Err(unknown(&place, &NODE_KEYS.join(", "))),
                    Some(&"mean") => found.mean = Some(decimal()?),
                    Some(&"rstd") if value.members().is_some() => {
                        found.rstd = Some(RootEntry::Measured(root_records(value, &place)?));
                    }
                    Some(&"rstd") => found.rstd = Some(RootEntry::Constant(decimal()?)),
                    Some(known) => {
                        found.records.insert(known, entry(value, &place, false)?);
                    }
                }
            }
            self.nodes.insert(key.clone(), found);
        }
        Ok(())
    }

    /// Returns `true` if the file has an entry for exactly this instance, `LAYER:NAME`.
    pub fn has_instance(&self, layer: i64, name: &str) -> bool {
        self.buffers.contains_key(&format!("{layer}:{name}"))
    }

    /// Returns the settings of a buffer's instance; `name` is the name of the buffer at the end of the chain of
    /// aliases.
    pub fn buffer(&self, layer: i64, name: &str, purpose: Purpose) -> Setting {
        let instance = if layer >= 0 { self.buffers.get(&format!("{layer}:{name}")) } else { None };
        let entry = instance.or_else(|| self.buffers.get(name)).cloned().unwrap_or_default();
        self.complete(&entry, purpose)
    }

    /// Converts the file to the settings of the floating-point network: wide types replace missing types.
    pub fn set_floating(&mut self) {
        self.floating = true;
        // With wide types, the types of the user's file cannot be refused or missing.
        self.buffers.clear();
        for node in self.nodes.values_mut() {
            node.records.clear();
            if let Some(RootEntry::Measured(records)) = &mut node.rstd {
                records.clear();
            }
        }
        let wide = Entry {
            form: Some(Form::Type(Kif { signed: true, int: 15, frac: 16 })),
            overflow: Some(Overflow::Saturate),
            ..Entry::default()
        };
        [&mut self.weight, &mut self.bias, &mut self.activation, &mut self.table]
            .into_iter()
            .for_each(|default| *default = wide.clone());
    }

    /// Returns `true` if the file has an entry for a buffer or for an instance of the buffer.
    pub fn has_entry(&self, layer: i64, name: &str) -> bool {
        self.buffers.contains_key(name) || self.has_instance(layer, name)
    }

    /// Checks that the operator of a node has every key that the node's entries give.
    ///
    /// # Errors
    /// Returns the first key that the operator does not have.
    pub fn check_node(&self, node: &Node) -> Result<(), Diagnostic> {
        let is_norm = matches!(node.kind, Kind::Norm { .. });
        let known: &[&str] = if is_norm { &["rstd", "mean"] } else { record_names(&node.kind) };
        for key in node_keys(node) {
            let Some(found) = self.nodes.get(&key) else { continue };
            if let Some(name) = found.keys().find(|name| !known.contains(name)) {
                let place = format!("quant.nodes.{key}.{name}");
                let help = match known {
                    [] => "it has none".to_string(),
                    _ => format!("there are {}", known.join(", ")),
                };
                return Err(wrong(place, format!("{} has no such key", node.title())).with_help(help));
            }
        }
        if is_norm && self.root(node) == RootSetting::Measured && self.merged(node).mean.is_some() {
            let key = node_keys(node).into_iter().rfind(|k| self.nodes.get(k).is_some_and(|n| n.mean.is_some()));
            let place = format!("quant.nodes.{}.mean", key.unwrap_or_default());
            let message = format!("a constant mean of {}, whose rstd depends on the data", node.title());
            return Err(wrong(place, message).with_help("leave out mean, or give a constant rstd"));
        }
        Ok(())
    }

    /// Returns the reciprocal of a norm's root.
    pub fn root(&self, node: &Node) -> RootSetting {
        let merged = self.merged(node);
        match merged.rstd {
            Some(RootEntry::Constant(rstd)) => {
                RootSetting::Constant { rstd, mean: merged.mean.unwrap_or_else(Rational::zero) }
            }
            Some(RootEntry::Measured(_)) => RootSetting::Measured,
            None if self.floating => RootSetting::Measured,
            None => RootSetting::Missing,
        }
    }

    /// Returns the settings of an intermediate value of a node.
    pub fn record(&self, node: &Node, name: &str) -> Setting {
        self.record_of(&node_keys(node), matches!(node.kind, Kind::Norm { .. }), name)
    }

    /// Returns the settings of an intermediate value by the keys of its node, the most general key first.
    pub fn record_of(&self, keys: &[String], is_norm: bool, name: &str) -> Setting {
        let merged = self.merged_of(keys);
        let records = match &merged.rstd {
            Some(RootEntry::Measured(records)) if is_norm => records,
            _ if is_norm => &Records::new(),
            _ => &merged.records,
        };
        let own = records.get(name).cloned().unwrap_or_default();
        if is_table(name) {
            return self.complete(&own, Purpose::Table);
        }
        let (base, purpose) = match name {
            "scale" => (&self.weight, Purpose::Weight),
            _ => (&self.activation, Purpose::Activation),
        };
        // A default may provide rounding and overflow, but not the type.
        let overflow = own.overflow.or((name == "difference").then_some(Overflow::Saturate));
        let form = if self.floating { own.form.or(base.form) } else { own.form };
        let entry = Entry { form: Some(form.unwrap_or(Form::Open)), overflow, ..own };
        self.complete(&entry, purpose)
    }

    /// Checks that the intermediate values of a node have the types that they need.
    ///
    /// # Errors
    /// Returns the missing types, with all keys of the node.
    pub fn check_records(&self, node: &Node, optional: &[&str]) -> Result<(), Diagnostic> {
        let names = record_names(&node.kind);
        let key = node_keys(node).into_iter().rfind(|key| self.nodes.contains_key(key));
        let key = key.unwrap_or_else(|| node.op.clone());
        let inside = if matches!(node.kind, Kind::Norm { .. }) { ".rstd" } else { "" };
        let missing: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| !optional.contains(name) && self.record(node, name).form == Form::Open)
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "{}: quant.nodes.{key}{inside} needs records with types for {}; missing: {}",
                node.title(),
                names.join(", "),
                missing.join(", ")
            );
            return Err(Diagnostic::error("E2004", Place::Path(node.place()), message).with_help(
                "for example \"score\": {\"type\": \"s10.6\", \"round\": \"RND\"}; tables also take default.table; or \
                 cut the node out with --nodes",
            ));
        }
        for name in names.iter().filter(|name| !matches!(**name, "score" | "probability" | "scale")) {
            if self.record(node, name).form == Form::Exact {
                let place = format!("quant.nodes.{key}{inside}.{name}.type");
                let why = if is_table(name) { "entries of a table need a type" } else { "it is the input of a table" };
                return Err(wrong(place, format!("{} cannot be exact: {why}", node.title())));
            }
        }
        Ok(())
    }

    /// Returns the place that defines the type of a record: `nodes.KEY.NAME`, or `default.table`.
    pub fn record_place(&self, keys: &[String], is_norm: bool, name: &str) -> String {
        let has_type = |key: &&String| {
            let records = self.nodes.get(*key).and_then(|node| match &node.rstd {
                Some(RootEntry::Measured(records)) if is_norm => Some(records),
                _ => (!is_norm).then_some(&node.records),
            });
            records.and_then(|records| records.get(name)).is_some_and(|entry| entry.form.is_some())
        };
        let inside = if is_norm { ".rstd" } else { "" };
        match keys.iter().rfind(has_type) {
            None if is_table(name) => "default.table".to_owned(),
            key => format!("nodes.{}{inside}.{name}", key.or(keys.first()).map_or("", String::as_str)),
        }
    }

    /// Checks that the entry of a key has only known names.
    ///
    /// # Errors
    /// Returns the first unknown name.
    pub fn check_keys(&self, key: &str, title: &str, known: &[&str]) -> Result<(), Diagnostic> {
        let Some(found) = self.nodes.get(key) else { return Ok(()) };
        if let Some(name) = found.keys().find(|name| !known.contains(name)) {
            let help = if known.is_empty() { "it has none".into() } else { format!("there are {}", known.join(", ")) };
            return Err(wrong(format!("quant.nodes.{key}.{name}"), format!("{title} has no such key")).with_help(help));
        }
        if let Some(RootEntry::Constant(_)) = found.rstd {
            let message = format!("a constant rstd of {title}, whose rstd depends on the data");
            return Err(wrong(format!("quant.nodes.{key}.rstd"), message)
                .with_help("give records: {\"mean_square\": {\"type\": ...}, \"table\": {\"type\": ...}}"));
        }
        Ok(())
    }

    /// Returns the keys of all entries of nodes.
    pub fn node_entries(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    fn merged(&self, node: &Node) -> NodeEntry {
        self.merged_of(&node_keys(node))
    }

    fn merged_of(&self, keys: &[String]) -> NodeEntry {
        let merge = |wide: &Records, narrow: &Records| {
            let mut all = wide.clone();
            for (name, entry) in narrow {
                let merged = all.get(name).map_or_else(|| entry.clone(), |wide| entry.or(wide));
                all.insert(name, merged);
            }
            all
        };
        let mut merged = NodeEntry::default();
        // From the most general to the most specific key, so that the more specific key has priority.
        for key in keys {
            let Some(found) = self.nodes.get(key) else { continue };
            let rstd = match (&merged.rstd, &found.rstd) {
                (Some(RootEntry::Measured(wide)), Some(RootEntry::Measured(narrow))) => {
                    Some(RootEntry::Measured(merge(wide, narrow)))
                }
                (wide, narrow) => narrow.clone().or_else(|| wide.clone()),
            };
            merged = NodeEntry {
                rstd,
                mean: found.mean.clone().or(merged.mean),
                records: merge(&merged.records, &found.records),
            };
        }
        merged
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

/// Returns the records of a norm's root.
fn root_records(value: &Value, place: &str) -> Result<Records, Diagnostic> {
    let mut records = Records::new();
    for (key, value) in object(value, place)? {
        let place = format!("{place}.{key}");
        let name = match key.as_str() {
            "mean_square" => "mean_square",
            "table" => "table",
            _ => return Err(unknown(&place, "mean_square, table")),
        };
        records.insert(name, entry(value, &place, false)?);
    }
    Ok(records)
}

/// Returns the keys under which a node may have entries, the most general key first.
pub(super) fn node_keys(node: &Node) -> [String; 3] {
    let Node { layer, op, nth, .. } = node;
    [op.clone(), format!("{layer}:{op}"), format!("{layer}:{op}:{nth}")]
}

/// Returns `true` if a number is in its canonical spelling: `01:x` is not `1:x`.
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
    let members = object(value, place).map_err(|problem| match form(value) {
        Ok(_) => problem.with_help(format!("write {{\"type\": {}}}", value.to_text())),
        Err(_) => {
            problem.with_help("an entry is of the form {\"type\": \"s8.5\", \"round\": \"RND\", \"overflow\": \"SAT\"}")
        }
    })?;
    for (key, value) in members {
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
