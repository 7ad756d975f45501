//! Parser and writer of stateful designs: the `ALIRFSM` JSON of `docs/fsm.md`.
//!
//! The file repeats all properties of a signal at each mention. The parser collects each signal once, by name, and
//! checks its other mentions against the first mention. Blocks are programs of version 4 and are parsed like model
//! files; the places in their messages are prefixed with `fsm.logic["name"]`.

use super::{Format, source::Source};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::machine::{
    Access, BlockId, Connection, Machine, MachineBuilder, MachineSite, Signal, SignalId, SignalKind,
};
use alir_core::ir::{Limits, Model};
use alir_core::num::Kif;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Read};

#[derive(Deserialize)]
struct File<'a> {
    meta: String,
    spec_version: i64,
    #[serde(borrow)]
    fsm: Fsm<'a>,
}

#[derive(Deserialize)]
struct Fsm<'a> {
    #[serde(borrow)]
    logic: BTreeMap<String, &'a RawValue>,
    conns: Vec<Conn>,
    #[serde(default)]
    signal_order: Vec<String>,
}

#[derive(Deserialize)]
struct Conn {
    src: Mention,
    dst: Mention,
    enable_if: Option<Mention>,
    alt_src: Option<Mention>,
}

/// A mention of a signal, as it is written in the file: `[name, exposed, types, rst_if, rst_to, reg, schedule, mode,
/// attrs, view, dynamic_bias]`.
#[derive(Deserialize)]
#[serde(rename = "Mention")]
struct MentionFields(
    String,
    bool,
    Vec<(Flag, i32, i32)>,
    Option<Box<Mention>>,
    Option<Vec<f64>>,
    bool,
    Option<(Vec<i64>, i64)>,
    #[expect(dead_code, reason = "the direction follows from the connections")] String,
    #[expect(dead_code, reason = "attributes are not interpreted")] Option<String>,
    (usize, usize),
    Option<(Box<Mention>, usize)>,
);

/// A mention of a signal, with all its properties.
#[derive(Deserialize, Clone)]
#[serde(from = "MentionFields")]
struct Mention {
    name: String,
    /// `true` for a port of the design.
    is_exposed: bool,
    /// Type of each element: signed, integer bits, fractional bits.
    types: Vec<(Flag, i32, i32)>,
    reset_if: Option<Box<Mention>>,
    /// Reset value of each element.
    reset_to: Option<Vec<f64>>,
    is_register: bool,
    schedule: Option<(Vec<i64>, i64)>,
    /// Range of mentioned elements: the first, and the index after the last.
    view: (usize, usize),
    /// Signal that selects the elements at run time, and elements per step of its value.
    dynamic: Option<(Box<Mention>, usize)>,
}

impl From<MentionFields> for Mention {
    fn from(fields: MentionFields) -> Mention {
        let MentionFields(name, is_exposed, types, reset_if, reset_to, is_register, schedule, _, _, view, dynamic) =
            fields;
        Mention { name, is_exposed, types, reset_if, reset_to, is_register, schedule, view, dynamic }
    }
}

/// A boolean that some tools write as 0 or 1.
#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(untagged)]
enum Flag {
    Bool(bool),
    Number(u8),
}

impl Flag {
    fn set(self) -> bool {
        matches!(self, Flag::Bool(true) | Flag::Number(1..))
    }
}

/// Reads a stateful design, plain or gzip.
///
/// # Errors
/// Every problem of the file, up to [`Limits::max_problems`].
pub fn read_machine(reader: impl Read, limits: &Limits) -> Result<Machine, Diagnostics> {
    let mut source = Source::new(reader, limits.max_bytes).map_err(|stop| Diagnostics::from(*stop))?;
    let mut text = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        match source.read(&mut chunk).map_err(|stop| Diagnostics::from(*stop))? {
            0 => break,
            n => text.extend_from_slice(&chunk[..n]),
        }
    }
    let file: File<'_> = serde_json::from_slice(&text).map_err(|e| {
        let place = Place::Line { line: e.line() as u64, column: e.column() as u64 };
        // serde's message ends with the position, which the diagnostic already has.
        let message = e.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        Diagnostics::from(
            Diagnostic::error("E0420", place, format!("not a stateful design: {message}"))
                .with_help("docs/fsm.md describes the format"),
        )
    })?;
    Collector { limits, builder: MachineBuilder::default(), known: BTreeMap::new(), problems: Diagnostics::default() }
        .read(file)
}

/// Returns a stateful design as `ALIRFSM` JSON, without the signals that no connection mentions.
///
/// # Errors
/// If the format cannot represent a part of the design: an initial value that is not a double, a signal with the name
/// of a block's port, a reset through a long chain of registers, or a number in a block.
pub fn machine_json(machine: &Machine) -> Result<Vec<u8>, String> {
    #[derive(Serialize)]
    struct Whole<'a> {
        meta: &'a str,
        spec_version: u8,
        fsm: Parts<'a>,
    }
    #[derive(Serialize)]
    struct Parts<'a> {
        logic: BTreeMap<&'a str, Box<RawValue>>,
        conns: Vec<Value>,
        signal_order: &'a [String],
    }
    #[derive(Deserialize)]
    struct Block {
        model: Box<RawValue>,
    }
    let mut logic = BTreeMap::new();
    for block in machine.blocks() {
        let mut written = Vec::new();
        let prepared = super::prepare(&block.model, super::Target::Alir4).map_err(|wrong| wrong.to_string())?;
        prepared.write(&mut written).map_err(|why| why.to_string())?;
        let whole: Block = serde_json::from_slice(&written).map_err(|why| why.to_string())?;
        logic.insert(block.name.as_str(), whole.model);
    }
    let mut names = Vec::with_capacity(machine.signals().len());
    for signal in machine.signals() {
        let of_block = |b: BlockId, end: &str| format!("INTERNAL_{}_{end}", machine.blocks()[b.index()].name);
        names.push(match signal.kind {
            SignalKind::BlockInput(b) => of_block(b, "inp"),
            SignalKind::BlockOutput(b) => of_block(b, "outp"),
            _ => signal.name.clone(),
        });
    }
    if names.iter().collect::<std::collections::BTreeSet<_>>().len() < names.len() {
        return Err("a signal has the name of a block's".into());
    }
    let writer = MentionWriter { machine, names: &names };
    let conns = machine.connections().iter().map(|conn| {
        let optional = |access: &Option<Access>| access.as_ref().map(|access| writer.mention(access, 0)).transpose();
        let (src, dst) = (writer.mention(&conn.src, 0)?, writer.mention(&conn.dst, 0)?);
        let (enable_if, alt_src) = (optional(&conn.enable_if)?, optional(&conn.alternative)?);
        Ok(json!({ "src": src, "dst": dst, "enable_if": enable_if, "alt_src": alt_src }))
    });
    let conns = conns.collect::<Result<Vec<Value>, String>>()?;
    let fsm = Parts { logic, conns, signal_order: &names };
    serde_json::to_vec(&Whole { meta: "ALIRFSM", spec_version: 4, fsm }).map_err(|why| why.to_string())
}

/// Largest depth of nested mentions (resets and indices) that is written.
const DEEPEST: usize = 16;

/// Writer of mentions.
struct MentionWriter<'a> {
    machine: &'a Machine,
    /// Names of the signals in the file.
    names: &'a [String],
}

impl MentionWriter<'_> {
    /// Returns a mention: all properties of a signal, and the range of its elements. Resets and indices are nested
    /// mentions.
    fn mention(&self, access: &Access, depth: usize) -> Result<Value, String> {
        let signal = self.machine.signal(access.signal);
        if depth > DEEPEST {
            return Err(format!("{:?} is reset by itself, or by a long chain of registers", signal.name));
        }
        let types: Vec<(bool, i32, i32)> = signal.elements.iter().map(|kif| (kif.signed, kif.int, kif.frac)).collect();
        let reset = signal.reset_if.as_ref().map(|when| self.mention(when, depth + 1)).transpose()?;
        let value = |(code, kif): (&BigInt, &Kif)| {
            let value = code.to_f64().map(|code| code * (-f64::from(kif.frac)).exp2());
            let value = value.filter(|&value| exact_code(value, kif.frac).as_ref() == Some(code));
            value.ok_or_else(|| format!("an initial value of {:?} is not a double", signal.name))
        };
        let values =
            |codes: &Vec<BigInt>| codes.iter().zip(&signal.elements).map(value).collect::<Result<Vec<f64>, _>>();
        let to = signal.reset_to.as_ref().map(values).transpose()?;
        let (is_input, is_register) = (signal.kind == SignalKind::Input, signal.kind == SignalKind::Register);
        let mode = match signal.kind {
            SignalKind::Input | SignalKind::BlockInput(_) => "r",
            SignalKind::BlockOutput(_) => "w",
            _ if signal.output => "w",
            _ => "",
        };
        let dynamic =
            access.dynamic.as_ref().map(|(index, step)| Ok::<_, String>((self.mention(index, depth + 1)?, step)));
        let (name, exposed) = (&self.names[access.signal.index()], signal.output || is_input);
        let (view, dynamic) = ([access.lo, access.hi], dynamic.transpose()?);
        Ok(json!([name, exposed, types, reset, to, is_register, signal.schedule, mode, null, view, dynamic]))
    }
}

/// Number of bytes at the start of a file that suffice to recognise its format.
const AHEAD: usize = 1 << 16;

/// Number of decompressed bytes that are examined first, as they nearly always suffice.
const FIRST_AHEAD: usize = 1 << 9;

/// Reads the first bytes of a file. Returns `true` if they are those of a stateful design, plain or gzip, and the
/// bytes, which the caller has to parse again.
///
/// # Errors
/// Errors of the reader.
pub fn look_ahead(reader: &mut impl Read) -> io::Result<(bool, Vec<u8>)> {
    let head = head(reader)?;
    Ok((is_machine(&head), head))
}

/// Reads the first bytes of a file, without decompression: enough to recognise its format.
///
/// # Errors
/// Errors of the reader.
pub fn head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(AHEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Decompresses the first bytes of a file if they are gzip, up to the number of bytes that [`head`] reads.
pub fn unpacked(head: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    unpacked_until(head, AHEAD)
}

/// Returns `true` if the first byte of a file, after decompression and white space, begins a JSON object or array. This
/// function decompresses fewer bytes than [`unpacked`], which would take as long as parsing the smallest models.
pub fn begins_json(head: &[u8]) -> bool {
    let text = unpacked_until(head, FIRST_AHEAD);
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Decompresses up to `end` bytes of `head` if it is gzip.
fn unpacked_until(head: &[u8], end: usize) -> std::borrow::Cow<'_, [u8]> {
    if !head.starts_with(&[0x1f, 0x8b]) {
        return head.into();
    }
    let mut text = Vec::new();
    // `head` ends within the compressed data, so the error at its end is expected.
    let _ = flate2::bufread::MultiGzDecoder::new(head).take(end as u64).read_to_end(&mut text);
    text.into()
}

/// Returns `true` if the first bytes of a file are those of a stateful design, plain or gzip.
pub fn is_machine(head: &[u8]) -> bool {
    if !head.starts_with(&[0x1f, 0x8b]) {
        return shows_machine(head) == Some(true);
    }
    // Decompression takes time, and the first few bytes nearly always decide, so only these are decompressed first.
    let mut text = Vec::with_capacity(FIRST_AHEAD);
    let mut packed = flate2::bufread::MultiGzDecoder::new(head);
    let mut verdict = None;
    for end in [FIRST_AHEAD, AHEAD] {
        let mut filled = text.len();
        text.resize(end, 0);
        while let Ok(n @ 1..) = packed.read(&mut text[filled..]) {
            filled += n;
        }
        text.truncate(filled);
        verdict = shows_machine(&text);
        if verdict.is_some() || filled < end {
            break;
        }
    }
    verdict == Some(true)
}

/// Returns `true` if a JSON object is a stateful design. The first decisive top-level key decides: `fsm`, `meta` with
/// its value, or, as the very first key, `model`. Returns `None` if the input ends before such a key.
fn shows_machine(text: &[u8]) -> Option<bool> {
    let (mut depth, mut at) = (0u32, 0);
    let mut key: &[u8] = b"";
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'[' if depth == 0 => return Some(false),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let start = at;
                while text.get(at).is_some_and(|&b| b != b'"') {
                    at += 1 + usize::from(text[at] == b'\\');
                }
                if at >= text.len() {
                    return None;
                }
                let string = &text[start..at];
                at += 1;
                match (depth, key, string) {
                    (1, b"meta", value) => return Some(value == b"ALIRFSM"),
                    (1, b"", b"model") => return Some(false),
                    (1, _, b"fsm") => return Some(true),
                    (1, _, string) => key = string,
                    _ => {}
                }
            }
            _ => {}
        }
        // Other bytes before the brace, except white space and a byte order mark, do not begin a JSON object.
        if depth == 0 && byte != b'{' && !byte.is_ascii_whitespace() && !matches!(byte, 0xef | 0xbb | 0xbf) {
            return Some(false);
        }
    }
    None
}

/// Conversion of a parsed file to a design; collects problems.
struct Collector<'a> {
    limits: &'a Limits,
    builder: MachineBuilder,
    /// Signals by name, with their first mention.
    known: BTreeMap<String, (SignalId, Mention)>,
    problems: Diagnostics,
}

impl Collector<'_> {
    fn read(mut self, file: File<'_>) -> Result<Machine, Diagnostics> {
        if file.meta != "ALIRFSM" {
            let message = format!("meta is {:?}", file.meta);
            self.problem("E0421", Place::Path("meta".into()), message, "it must be \"ALIRFSM\"");
        }
        if file.spec_version != 4 {
            let message = format!("spec_version {} is not known", file.spec_version);
            self.problem("E0421", Place::Path("spec_version".into()), message, "known: 4");
        }
        let mut blocks = BTreeMap::new();
        for (name, payload) in file.fsm.logic {
            if let Some(model) = self.block(&name, payload) {
                blocks.insert(name.clone(), self.builder.block(name, model));
            }
        }
        if !self.problems.0.is_empty() {
            return Err(self.problems);
        }
        // Signals in the order of `signal_order`; the others follow in the order of their first mention.
        let mut mentions: BTreeMap<&str, Vec<(&Mention, bool)>> = BTreeMap::new();
        let mut order: Vec<&str> = Vec::new();
        for conn in &file.fsm.conns {
            for (mention, driven) in conn.mentions() {
                let list = mentions.entry(&mention.name).or_default();
                if list.is_empty() {
                    order.push(&mention.name);
                }
                list.push((mention, driven));
            }
        }
        let place = |name: &&str| file.fsm.signal_order.iter().position(|s| s == *name).unwrap_or(usize::MAX);
        order.sort_by_key(place);
        for name in order {
            self.signal(name, &mentions[name], &blocks);
        }
        for (id, mention) in self.known.values().cloned().collect::<Vec<_>>() {
            if let Some(when) = &mention.reset_if
                && let Some(access) = self.access(when)
            {
                self.builder.reset_if(id, access);
            }
        }
        for conn in &file.fsm.conns {
            let both = (self.access(&conn.src), self.access(&conn.dst));
            let enable_if = conn.enable_if.as_ref().and_then(|m| self.access(m));
            let alternative = conn.alt_src.as_ref().and_then(|m| self.access(m));
            if let (Some(src), Some(dst)) = both {
                self.builder.connection(Connection { src, dst, enable_if, alternative });
            }
        }
        if !self.problems.0.is_empty() {
            return Err(self.problems);
        }
        let limit = self.limits.max_problems;
        self.builder.finish().map_err(|problems| {
            let diagnostics = problems.into_iter().take(limit).map(|p| {
                let place = match p.site {
                    MachineSite::Whole => Place::Whole,
                    site => Place::Path(site.to_string()),
                };
                Diagnostic::error(p.code, place, p.message).with_help(p.help)
            });
            Diagnostics(diagnostics.collect())
        })
    }

    fn problem(&mut self, code: &'static str, place: Place, message: String, help: &str) {
        if self.problems.0.len() < self.limits.max_problems {
            self.problems.0.push(Diagnostic::error(code, place, message).with_help(help));
        }
    }

    /// Parses a block's program as a model file; `None` if the parser reports a problem.
    fn block(&mut self, name: &str, payload: &RawValue) -> Option<Model> {
        let text = format!("{{\"meta\":\"ALIRModel\",\"spec_version\":4,\"model\":{}}}", payload.get());
        match super::read(text.as_bytes(), self.limits, Some(Format::Alir)) {
            Ok((model, _)) => Some(model),
            Err(problems) => {
                for mut problem in problems.0 {
                    let inner = match &problem.place {
                        Place::Path(path) => path.strip_prefix("model").unwrap_or(path).to_owned(),
                        _ => String::new(),
                    };
                    problem.place = Place::Path(format!("fsm.logic[{name:?}]{inner}"));
                    if self.problems.0.len() < self.limits.max_problems {
                        self.problems.0.push(problem);
                    }
                }
                None
            }
        }
    }

    /// Adds a signal, given its mentions and `true` for those that a connection drives.
    fn signal(&mut self, name: &str, mentions: &[(&Mention, bool)], blocks: &BTreeMap<String, BlockId>) {
        let first = mentions[0].0;
        let site = Place::Path(format!("signal {name:?}"));
        for (other, _) in &mentions[1..] {
            if !first.is_same_signal(other) {
                let message = "it is described differently in different places".to_owned();
                let help = "every mention of a signal has the same types, reset, register flag and exposure";
                self.problem("E0422", site, message, help);
                return;
            }
        }
        let mut elements = Vec::with_capacity(first.types.len());
        for &(signed, int, frac) in &first.types {
            let kif = Kif { signed: signed.set(), int, frac };
            let width = i64::from(int) + i64::from(frac) + i64::from(kif.signed);
            let limit = i64::from(self.limits.max_shift);
            if width < 0 || width > i64::from(self.limits.max_width) || i64::from(frac).abs() > limit {
                let message = format!("a type of {width} bits with {frac} fractional bits is beyond the limits");
                self.problem("E0423", site, message, "see --max-width and --max-shift");
                return;
            }
            elements.push(if width == 0 { Kif::ZERO } else { kif });
        }
        let block =
            |suffix| name.strip_prefix("INTERNAL_").and_then(|n| n.strip_suffix(suffix)).and_then(|n| blocks.get(n));
        let driven = mentions.iter().any(|(_, driven)| *driven);
        let kind = match (block("_inp"), block("_outp")) {
            (Some(&b), _) => SignalKind::BlockInput(b),
            (None, Some(&b)) => SignalKind::BlockOutput(b),
            _ if first.is_register => SignalKind::Register,
            _ if first.is_exposed && !driven => SignalKind::Input,
            _ => SignalKind::Wire,
        };
        let reset_to = match self.reset_codes(first, &elements, &site) {
            Ok(codes) => codes,
            Err(()) => return,
        };
        let id = self.builder.signal(Signal {
            name: name.to_owned(),
            output: first.is_exposed && kind != SignalKind::Input,
            kind,
            elements,
            reset_to,
            reset_if: None,
            schedule: first.schedule.clone(),
        });
        self.known.insert(name.to_owned(), (id, first.clone()));
    }

    /// Returns the raw integer values of the reset values; reports a value that is not a multiple of its element's
    /// step.
    fn reset_codes(&mut self, first: &Mention, elements: &[Kif], site: &Place) -> Result<Option<Vec<BigInt>>, ()> {
        let Some(values) = &first.reset_to else { return Ok(None) };
        let mut codes = Vec::with_capacity(values.len());
        for (k, &value) in values.iter().enumerate() {
            let frac = elements.get(k).map_or(0, |kif| kif.frac);
            match exact_code(value, frac) {
                Some(code) => codes.push(code),
                None => {
                    let message = format!("reset value {value} of element {k} is not a multiple of its step");
                    self.problem("E0424", site.clone(), message, "a reset value is a value of the element's type");
                    return Err(());
                }
            }
        }
        Ok(Some(codes))
    }

    /// Converts a mention to an access; `None` if its signal, or the signal of its index, was rejected.
    fn access(&mut self, mention: &Mention) -> Option<Access> {
        let signal = self.known.get(&mention.name)?.0;
        let dynamic = match &mention.dynamic {
            None => None,
            Some((index, step)) => Some((Box::new(self.access(index)?), *step)),
        };
        Some(Access { signal, lo: mention.view.0, hi: mention.view.1, dynamic })
    }
}

impl Conn {
    /// Returns all mentions of the connection, including those of resets and indices, with `true` for the driven one.
    fn mentions(&self) -> Vec<(&Mention, bool)> {
        let mut found = Vec::new();
        let mut stack = vec![(&self.src, false), (&self.dst, true)];
        stack.extend([&self.enable_if, &self.alt_src].into_iter().flatten().map(|m| (m, false)));
        while let Some((mention, driven)) = stack.pop() {
            found.push((mention, driven));
            stack.extend(mention.reset_if.as_deref().map(|m| (m, false)));
            stack.extend(mention.dynamic.as_ref().map(|(index, _)| (&**index, false)));
        }
        found
    }
}

impl Mention {
    /// Returns `true` if both mentions state the same properties of the signal; view, index and direction may differ.
    fn is_same_signal(&self, other: &Mention) -> bool {
        let reset = |mention: &Mention| mention.reset_if.as_ref().map(|reset| (reset.name.clone(), reset.view));
        self.is_exposed == other.is_exposed
            && self.types == other.types
            && reset(self) == reset(other)
            && self.reset_to == other.reset_to
            && self.is_register == other.is_register
            && self.schedule == other.schedule
    }
}

/// Returns `value * 2^frac`; `None` if the product is not an integer.
fn exact_code(value: f64, frac: i32) -> Option<BigInt> {
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let mantissa = BigInt::from(if value < 0.0 { -mantissa } else { mantissa });
    let shift = exponent + i64::from(frac);
    if shift >= 0 {
        return Some(mantissa << shift as u64);
    }
    let code = &mantissa >> (-shift) as u64;
    (&code << (-shift) as u64 == mantissa).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_values_become_exact_codes() {
        assert_eq!(exact_code(-3.25, 2), Some(BigInt::from(-13)));
        assert_eq!(exact_code(-3.25, 1), None);
        assert_eq!(exact_code(6.0, -1), Some(BigInt::from(3)));
        assert_eq!(exact_code(0.0, -5), Some(BigInt::ZERO));
        assert_eq!(exact_code(f64::NAN, 0), None);
    }

    #[test]
    fn a_machine_is_recognised_by_its_first_bytes() {
        let gzip = |text: &[u8]| {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            io::Write::write_all(&mut packed, text).unwrap();
            packed.finish().unwrap()
        };
        for (text, is) in [
            (&br#"{"meta":"ALIRFSM","spec_version":4,"fsm":{}}"#[..], true),
            (br#" { "spec_version" : 4, "fsm" : {"meta": 7"#, true),
            (br#"{"spec_version":4,"meta":"ALIRFSM""#, true),
            (br#"{"meta":"ALIRModel","fsm":{}}"#, false),
            (br#"{"model":{"meta":"ALIRFSM","fsm":1},"meta":"x\"y"}"#, false),
            (br#"{"model":[],"fsm":{}}"#, false),
            (br#"{"spec_version":4,"model":[],"fsm":{}}"#, true),
            (br#"["fsm"]"#, false),
            (br#"{"meta":"#, false),
            (br#"{"meta":"ALIRFSM"#, false),
            (br#"{"a\"#, false),
            (b"PK\x03\x04 {\"fsm\"", false),
            (b"", false),
        ] {
            let text_shown = String::from_utf8_lossy(text);
            assert_eq!(look_ahead(&mut &text[..]).unwrap(), (is, text.to_vec()), "{text_shown}");
            assert_eq!(look_ahead(&mut &gzip(text)[..]).unwrap().0, is, "{text_shown}");
        }
        // Decompression in two steps gives the same result for every length of the first step.
        for filler in FIRST_AHEAD - 40..FIRST_AHEAD + 3 {
            for (end, is) in [(r#""meta":"ALIRFSM"}"#, true), (r#""meta":"ALIRFSN"}"#, false), (r#""fsm":{}}"#, true)] {
                let text = format!("{{\"x\":\"{}\",{end}", "-".repeat(filler));
                assert_eq!(look_ahead(&mut &gzip(text.as_bytes())[..]).unwrap().0, is, "{filler} {end}");
            }
        }
    }

    #[test]
    fn a_written_machine_is_read_back() {
        let mut count = 0;
        for seed in 0..200 {
            let drawn = alir_testing::random::machine::MachineRecipe::seeded(2 + seed as usize % 16, seed).build();
            let Ok(written) = machine_json(&drawn) else { continue };
            let machine = read_machine(&written[..], &Limits::default()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            // Only signals that no connection mentions are missing.
            assert_eq!(machine.connections().len(), drawn.connections().len(), "seed {seed}");
            assert_eq!(machine.blocks().len(), drawn.blocks().len(), "seed {seed}");
            let again = machine_json(&machine).unwrap();
            assert_eq!(read_machine(&again[..], &Limits::default()).unwrap(), machine, "seed {seed}");
            count += 1;
        }
        assert!(count > 150, "only {count} of 200");
    }

    #[test]
    fn an_error_states_its_place_in_the_file() {
        let problems = read_machine(&b"{\"meta\":\"ALIRFSM\",\n\"spec_version\":4,\"fsm\":7}"[..], &Limits::default());
        let problems = problems.unwrap_err();
        assert_eq!(problems.0[0].code, "E0420");
        assert!(matches!(problems.0[0].place, Place::Line { line: 2, .. }), "{problems}");
        let text = br#"{"meta":"X","spec_version":4,"fsm":{"logic":{"a":[[1,1]]},"conns":[]}}"#;
        let problems = read_machine(&text[..], &Limits::default()).unwrap_err();
        assert_eq!(problems.0[0].code, "E0421");
        assert!(problems.0[1].place.to_string().starts_with("fsm.logic[\"a\"]"), "{problems}");
    }
}
