//! Conversion of JSON netlists (`write_json` of Yosys, `--write` of nextpnr) to structural Verilog.
//!
//! Nets keep the names of `netnames`. The input and output cells that nextpnr adds to ports become assignments. Modules
//! with the attribute `blackbox` or `whitebox` describe library cells and are skipped.

use alir_core::diag::{Diagnostic, Place};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt::{self, Write};

/// Returns `true` if the text starts like a netlist in JSON.
pub fn is_json(text: &[u8]) -> bool {
    let mut rest = text.trim_ascii_start();
    for mark in [&b"{"[..], b"\""] {
        match rest.strip_prefix(mark) {
            Some(after) => rest = after.trim_ascii_start(),
            None => return false,
        }
    }
    rest.starts_with(b"creator\"") || rest.starts_with(b"modules\"")
}

fn problem(path: impl Into<String>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E0903", Place::Path(path.into()), message)
}

/// Converts a netlist in JSON to structural Verilog.
///
/// # Errors
/// `E0903` with the path of the invalid value; `E0914` for an unsupported use of an input or output cell.
pub(super) fn to_verilog(text: &str) -> Result<String, Diagnostic> {
    let Unique(value) = serde_json::from_str(text).map_err(|e| {
        let place = Place::Line { line: e.line() as u64, column: e.column() as u64 };
        Diagnostic::error("E0903", place, format!("not a netlist in JSON: {e}"))
    })?;
    let modules = value.get("modules").and_then(Value::as_object);
    let modules = modules.ok_or_else(|| problem("modules", "no modules"))?;
    let is_placed = value.get("creator").and_then(Value::as_str).is_some_and(|creator| creator.contains("nextpnr"));
    let mut out = String::new();
    for (name, module) in modules {
        let attributes = module.get("attributes");
        let has = |key: &str| attributes.is_some_and(|a| a.get(key).is_some());
        if !has("blackbox") && !has("whitebox") {
            if is_placed {
                check_outputs(name, module)?;
            }
            write_module(name, module, &mut out)?;
        }
    }
    if out.is_empty() {
        return Err(problem("modules", "no module other than cells of a library"));
    }
    Ok(out)
}

/// JSON value whose objects have no duplicate keys; otherwise one of two drivers or nets of the same name would be
/// lost.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Unique;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value of JSON")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Unique, E> {
                Ok(Unique(value.into()))
            }

            fn visit_unit<E>(self) -> Result<Unique, E> {
                Ok(Unique(Value::Null))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Unique, A::Error> {
                let mut elements = Vec::new();
                while let Some(Unique(element)) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(Unique(Value::Array(elements)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
                let mut members = Map::new();
                while let Some((key, Unique(value))) = map.next_entry::<String, Unique>()? {
                    if members.contains_key(&key) {
                        return Err(A::Error::custom(format_args!("the key {key:?} comes twice")));
                    }
                    members.insert(key, value);
                }
                Ok(Unique(Value::Object(members)))
            }
        }
        deserializer.deserialize_any(Collect)
    }
}

/// Returns the members of the object with a key; none if the key is missing.
fn object<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    value.get(key).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

/// Returns a name as an escaped Verilog identifier.
fn escaped(name: &str, path: &str) -> Result<String, Diagnostic> {
    match name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        true => Err(problem(path, format!("{name:?} is no name of Verilog"))),
        false => Ok(format!("\\{name} ")),
    }
}

/// Verilog expressions of bits, by bit number.
#[derive(Default)]
struct Names(FxHashMap<u64, String>);

impl Names {
    /// Returns the bits of a port or net, the lowest first. Bits without a name get a new one, which is declared.
    fn bits(&mut self, value: &Value, path: &str, out: &mut String) -> Result<Vec<String>, Diagnostic> {
        let bits = value.as_array().ok_or_else(|| problem(path, "a list of bits is expected"))?;
        let bit = |bit: &Value| match (bit.as_u64(), bit.as_str()) {
            (Some(number), _) => Ok(self
                .0
                .entry(number)
                .or_insert_with(|| {
                    let name = format!("\\$bit${number} ");
                    let _ = writeln!(out, "wire {name};");
                    name
                })
                .clone()),
            (_, Some(constant @ ("0" | "1" | "x" | "z"))) => Ok(format!("1'b{constant}")),
            _ => Err(problem(path, "a bit is a number, \"0\", \"1\", \"x\" or \"z\"")),
        };
        bits.iter().map(bit).collect()
    }

    /// Gives the bits of a net their names. A bit that already has a name gets an assignment.
    fn declare(&mut self, name: &str, value: &Value, path: &str, out: &mut String) -> Result<(), Diagnostic> {
        let bits = value.as_array().ok_or_else(|| problem(path, "a list of bits is expected"))?;
        let is_vector = bits.len() != 1;
        for (i, bit) in bits.iter().enumerate() {
            let own = if is_vector { format!("{name}[{i}]") } else { name.to_owned() };
            match (bit.as_u64(), bit.as_str()) {
                (Some(number), _) => match self.0.get(&number) {
                    Some(known) => {
                        let _ = writeln!(out, "assign {own} = {known};");
                    }
                    None => {
                        self.0.insert(number, own);
                    }
                },
                (_, Some("z")) => {}
                (_, Some(constant @ ("0" | "1" | "x"))) => {
                    let _ = writeln!(out, "assign {own} = 1'b{constant};");
                }
                _ => return Err(problem(path, "a bit is a number, \"0\", \"1\", \"x\" or \"z\"")),
            }
        }
        Ok(())
    }
}

/// Returns an error for an output without driver: nextpnr loses constant outputs of netlists that are placed out of
/// context.
fn check_outputs(name: &str, module: &Value) -> Result<(), Diagnostic> {
    let bits = |list: &Value| list.as_array().into_iter().flatten().filter_map(Value::as_u64).collect::<Vec<_>>();
    let ports = |wanted: &'static str| {
        object(module, "ports").filter(move |(_, facts)| facts.get("direction").and_then(Value::as_str) == Some(wanted))
    };
    let mut known: FxHashSet<u64> = FxHashSet::default();
    known.extend(ports("input").filter_map(|(_, facts)| facts.get("bits")).flat_map(bits));
    for (_, cell) in object(module, "cells") {
        known.extend(object(cell, "connections").flat_map(|(_, list)| bits(list)));
    }
    for (port, facts) in ports("output") {
        let list = facts.get("bits").map(bits).unwrap_or_default();
        if let Some(at) = list.iter().position(|bit| !known.contains(bit)) {
            let message =
                format!("bit {at} of output {port} has no driver: nextpnr loses constant outputs out of context");
            let problem = Diagnostic::error("E0914", Place::Path(format!("modules.{name}.ports.{port}")), message);
            return Err(problem
                .with_help("place the netlist with pads (without --out-of-context), or prove it before placement"));
        }
    }
    Ok(())
}

fn write_module(name: &str, module: &Value, out: &mut String) -> Result<(), Diagnostic> {
    let path = format!("modules.{name}");
    let mut ports: Vec<(String, &str, &Value)> = Vec::new();
    for (port, facts) in object(module, "ports") {
        let path = format!("{path}.ports.{port}");
        let direction = match facts.get("direction").and_then(Value::as_str) {
            Some(direction @ ("input" | "output")) => direction,
            _ => return Err(problem(path, "the direction of a port is input or output")),
        };
        let bits = facts.get("bits").filter(|bits| bits.as_array().is_some_and(|b| !b.is_empty()));
        // A port without bits is omitted.
        if let Some(bits) = bits {
            ports.push((escaped(port, &path)?, direction, bits));
        }
    }
    // The names of input ports have priority over other names of their bits.
    ports.sort_by_key(|(_, direction, _)| *direction != "input");
    let header: Vec<&str> = ports.iter().map(|p| p.0.as_str()).collect();
    let _ = writeln!(out, "module {} ({});", escaped(name, &path)?, header.join(", "));
    let range = |bits: &Value| match bits.as_array().map_or(0, Vec::len) {
        1 => String::new(),
        n => format!("[{}:0] ", n - 1),
    };
    for (port, direction, bits) in &ports {
        let _ = writeln!(out, "{direction} {}{port};", range(bits));
    }
    let mut names = Names::default();
    let mut lines = String::new();
    for (port, _, bits) in ports.iter().filter(|p| p.1 == "input") {
        names.declare(port, bits, &path, &mut lines)?;
    }
    // Names from the source have priority over generated names.
    let mut nets: Vec<(&String, &Value)> = object(module, "netnames").collect();
    let is_hidden = |facts: &Value| facts.get("hide_name").and_then(Value::as_u64) == Some(1);
    nets.sort_by_key(|(_, facts)| is_hidden(facts));
    for (net, facts) in nets {
        let path = format!("{path}.netnames.{net}");
        let bits = facts.get("bits").filter(|bits| bits.as_array().is_some_and(|b| !b.is_empty()));
        let own = escaped(net, &path)?;
        let Some(bits) = bits.filter(|_| !ports.iter().any(|(port, ..)| *port == own)) else { continue };
        let _ = writeln!(out, "wire {}{own};", range(bits));
        names.declare(&own, bits, &path, &mut lines)?;
        // nextpnr omits the driver of the constants at hard-wired inputs.
        for (constant, level) in [("$PACKER_VCC", 1), ("$PACKER_GND", 0)] {
            let has_driver = module.get("cells").is_some_and(|cells| cells.get(constant).is_some());
            if net.strip_suffix("_NET") == Some(constant) && !has_driver {
                let _ = writeln!(lines, "assign {own} = 1'b{level};");
            }
        }
    }
    for (cell, facts) in object(module, "cells") {
        let path = format!("{path}.cells.{cell}");
        write_cell(cell, facts, &path, &mut names, &mut lines)?;
    }
    for (port, _, bits) in ports.iter().filter(|p| p.1 == "output") {
        names.declare(port, bits, &path, &mut lines)?;
    }
    out.push_str(&lines);
    out.push_str("endmodule\n");
    Ok(())
}

fn write_cell(name: &str, facts: &Value, path: &str, names: &mut Names, out: &mut String) -> Result<(), Diagnostic> {
    let kind = facts.get("type").and_then(Value::as_str).ok_or_else(|| problem(path, "a cell without type"))?;
    // Information about the hierarchy that Yosys flattened is no hardware.
    if kind == "$scopeinfo" {
        return Ok(());
    }
    let mut connections = Vec::new();
    for (port, bits) in object(facts, "connections") {
        let bits = names.bits(bits, path, out)?;
        if !bits.is_empty() {
            connections.push((port.as_str(), bits));
        }
    }
    let parameter = |key: &str| facts.get("parameters").and_then(|p| p.get(key)).and_then(Value::as_str);
    if matches!(kind, "TRELLIS_IO" | "SB_IO" | "$nextpnr_ibuf" | "$nextpnr_obuf") {
        return write_pad(name, kind, parameter, &connections, path, out);
    }
    // Constant drivers, whose own inputs may be connected to the constant.
    if matches!(name, "$PACKER_VCC" | "$PACKER_GND" | "$PACKER_VCC_LUT" | "$PACKER_GND_LUT") {
        let init = parameter("LUT_INIT").or(parameter("INITVAL")).unwrap_or_default();
        let level = init.bytes().next_back().filter(|&b| init.bytes().all(|other| other == b));
        if let Some(level @ (b'0' | b'1')) = level {
            for (_, bits) in connections.iter().filter(|(port, _)| matches!(*port, "O" | "F" | "LO")) {
                let _ = writeln!(out, "assign {} = 1'b{};", bits[0], char::from(level));
            }
            return Ok(());
        }
    }
    // After packing, a register of an ECP5 gets its data from the LUT (DI) or from the fabric (M).
    let has = |wanted: &str| connections.iter().any(|(port, _)| *port == wanted);
    if kind == "TRELLIS_FF" && parameter("SD").is_some_and(|sd| sd.trim_end() == "0") && !has("DI") {
        connections.iter_mut().filter(|(port, _)| *port == "M").for_each(|(port, _)| *port = "DI");
    }
    let is_hard_block = ["MULT", "ALU", "DP16K", "PDPW16K"].iter().any(|prefix| kind.starts_with(prefix));
    let mut parameters = Vec::new();
    for (key, value) in object(facts, "parameters") {
        // After packing, constant inputs of hard blocks are parameters.
        let constant_input = key.strip_suffix("MUX").zip(value.as_str().map(str::trim_end));
        if let Some((port, level @ ("0" | "1"))) = constant_input.filter(|_| is_hard_block)
            && facts.get("port_directions").is_some_and(|ports| ports.get(port).is_some())
        {
            if !connections.iter().any(|(known, _)| *known == port) {
                connections.push((port, vec![format!("1'b{level}")]));
            }
            continue;
        }
        parameters.push(format!(".{}({})", escaped(key, path)?, constant(value, path)?));
    }
    if kind == "TRELLIS_COMB" && connections.iter().any(|(port, _)| matches!(*port, "FXA" | "FXB")) {
        parameters.push(".CHOOSES_FX(1'b1)".to_owned());
    }
    let _ = write!(out, "{}", escaped(kind, path)?);
    if !parameters.is_empty() {
        let _ = write!(out, "#({}) ", parameters.join(", "));
    }
    let mut ports = Vec::new();
    for (port, bits) in connections {
        let all: Vec<&str> = bits.iter().rev().map(String::as_str).collect();
        ports.push(format!(".{}({{{}}})", escaped(port, path)?, all.join(", ")));
    }
    let _ = writeln!(out, "{}({});", escaped(name, path)?, ports.join(", "));
    Ok(())
}

/// Writes an input or output cell as an assignment.
fn write_pad<'v>(
    name: &str,
    kind: &str,
    parameter: impl Fn(&str) -> Option<&'v str>,
    connections: &[(&str, Vec<String>)],
    path: &str,
    out: &mut String,
) -> Result<(), Diagnostic> {
    let port = |wanted: &str| connections.iter().find(|(port, _)| *port == wanted).and_then(|(_, bits)| bits.first());
    let (pad, from_pad, to_pad, is_plain) = match kind {
        "TRELLIS_IO" => ("B", "O", "I", port("T").is_none() && matches!(parameter("DIR"), Some("INPUT" | "OUTPUT"))),
        "SB_IO" => {
            // The upper four bits are 0110 for a plain output, 0000 without output; the lower two are 01 for an input.
            let ty = parameter("PIN_TYPE").unwrap_or_default().trim_start_matches('0');
            ("PACKAGE_PIN", "D_IN_0", "D_OUT_0", matches!(ty, "1" | "11001" | "11000"))
        }
        _ => ("PAD", "O", "I", true),
    };
    let assignment = match (port(pad), port(from_pad), port(to_pad)) {
        (Some(pad), Some(inner), None) => format!("assign {inner} = {pad};"),
        (Some(pad), None, Some(inner)) => format!("assign {pad} = {inner};"),
        // The port is unconnected.
        (_, None, None) => return Ok(()),
        _ if matches!(kind, "$nextpnr_ibuf" | "$nextpnr_obuf") => return Ok(()),
        _ => String::new(),
    };
    if assignment.is_empty() || !is_plain {
        let message =
            format!("{kind} (instance {name}) is used in a way that is not supported: plain inputs and outputs are");
        return Err(Diagnostic::error("E0914", Place::Path(path.to_owned()), message));
    }
    let _ = writeln!(out, "{assignment}");
    Ok(())
}

/// Returns a parameter as a Verilog constant. Yosys appends a space to strings that look like bits.
fn constant(value: &Value, path: &str) -> Result<String, Diagnostic> {
    let is_bits = |text: &str| text.bytes().all(|b| matches!(b, b'0' | b'1' | b'x' | b'z'));
    match (value.as_str(), value.as_i64()) {
        (Some(text), _) if !text.is_empty() && is_bits(text) => Ok(format!("{}'b{text}", text.len())),
        (Some(text), _) => {
            let text = text.strip_suffix(' ').filter(|rest| is_bits(rest)).unwrap_or(text);
            if text.contains(['"', '\\']) || text.contains(char::is_control) {
                return Err(problem(path, "a parameter with characters that are not supported"));
            }
            Ok(format!("\"{text}\""))
        }
        (_, Some(number)) => Ok(format!("32'd{}", number as u32)),
        _ => Err(problem(path, "a parameter is a string or a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlist::{NetlistOptions, read};

    const NETLIST: &str = r#"{
      "creator": "Yosys", "modules": {
        "LUT4": {"attributes": {"blackbox": "00000000000000000000000000000001"}, "ports": {}, "cells": {},
          "netnames": {}},
        "top": {"attributes": {}, "ports": {
            "a": {"direction": "input", "bits": [2, 3]}, "clk": {"direction": "input", "bits": [4]},
            "y": {"direction": "output", "bits": [5, "1", 6, 2]}, "none": {"direction": "input", "bits": []}},
          "cells": {
            "u0": {"type": "LUT4", "parameters": {"INIT": "0110011001100110"},
              "connections": {"A": [2], "B": [3], "C": ["0"], "D": ["0"], "Z": [5]}},
            "q$0": {"type": "TRELLIS_FF", "parameters": {"CEMUX": "1 ", "REGSET": "RESET"},
              "connections": {"CLK": [4], "DI": [5], "LSR": [], "Q": [6]}}},
          "netnames": {"a": {"hide_name": 0, "bits": [2, 3]}, "sum[0]": {"hide_name": 0, "bits": [5]},
            "y": {"hide_name": 0, "bits": [5, "1", 6, 2]}}}}}"#;

    fn said(text: &str) -> String {
        read(text, &NetlistOptions::default()).err().map_or(String::new(), |e| e.to_string())
    }

    #[test]
    fn netlists_of_yosys_keep_their_names() {
        assert!(is_json(NETLIST.as_bytes()) && !is_json(b"{\"ops\": []}") && !is_json(b"module"));
        let rtl = read(NETLIST, &NetlistOptions::default()).unwrap().unwrap();
        let names = |ids: &[crate::SignalId]| {
            ids.iter().map(|&id| (rtl.signal(id).name.clone(), rtl.signal(id).width)).collect::<Vec<_>>()
        };
        assert_eq!(rtl.top, "top");
        assert_eq!(names(&rtl.inputs), [("a".to_owned(), 2), ("clk".to_owned(), 1)]);
        assert_eq!(names(&rtl.outputs), [("y".to_owned(), 4)]);
        assert!(rtl.signals().iter().any(|s| s.name == "sum[0]"));
        assert_eq!(rtl.signals().iter().filter(|s| !s.registers.is_empty()).count(), 1);
    }

    #[test]
    fn pads_of_nextpnr_are_assignments() {
        let pad = |facts: &str| {
            format!(
                r#"{{"modules": {{"top": {{"ports": {{"a": {{"direction": "input", "bits": [2]}},
                    "y": {{"direction": "output", "bits": [3]}}}},
                "cells": {{"i": {{"type": "TRELLIS_IO", "parameters": {{"DIR": "INPUT"}},
                    "connections": {{"B": [2], "O": [4], "T": []}}}},
                "o": {{"type": "TRELLIS_IO", "parameters": {{{facts}}}, "connections": {{"B": [3], "I": [5]}}}},
                "l": {{"type": "TRELLIS_COMB", "parameters": {{"INITVAL": "0101010101010101", "MODE": "LOGIC"}},
                    "connections": {{"A": [4], "F": [5]}}}}}}}}}}}}"#
            )
        };
        assert_eq!(said(&pad(r#""DIR": "OUTPUT""#)), "");
        let ice40 = pad("")
            .replace("TRELLIS_IO", "SB_IO")
            .replace("\"B\"", "\"PACKAGE_PIN\"")
            .replace("\"O\"", "\"D_IN_0\"")
            .replace("\"I\"", "\"D_OUT_0\"");
        let ice40 = ice40.replace("\"DIR\": \"INPUT\"", "\"PIN_TYPE\": \"00000000000000000000000000000001\"");
        let ice40 = |ty: &str| {
            let out = format!("\"PIN_TYPE\": \"{ty}\"");
            let cell = ice40.replace("\"parameters\": {}", &format!("\"parameters\": {{{out}}}"));
            cell.replace("TRELLIS_COMB", "SB_LUT4")
                .replace("INITVAL", "LUT_INIT")
                .replace(", \"MODE\": \"LOGIC\"", "")
                .replace("\"A\": [4], \"F\"", "\"I0\": [4], \"O\"")
        };
        assert_eq!(said(&ice40("00000000000000000000000000011001")), "");
        assert!(said(&ice40("101001")).contains("E0914"));
        let said = said(&pad(r#""DIR": "BIDIR""#));
        assert!(said.contains("E0914") && said.contains("instance o"), "{said}");
    }

    #[test]
    fn packed_registers_take_data_from_m() {
        let text = |sd: &str| {
            format!(
                r#"{{"modules": {{"top": {{"ports": {{"c": {{"direction": "input", "bits": [2]}},
                    "d": {{"direction": "input", "bits": [3]}}, "q": {{"direction": "output", "bits": [4]}}}},
                "cells": {{"r": {{"type": "TRELLIS_FF", "parameters": {{"SD": "{sd} "}},
                    "connections": {{"CLK": [2], "M": [3], "DI": [], "Q": [4]}}}}}}}}}}}}"#
            )
        };
        assert!(to_verilog(&text("0")).unwrap().contains(".\\DI ({\\d })"));
        assert!(to_verilog(&text("1")).unwrap().contains(".\\M ({\\d })"));
        let multiplier = r#"{"modules": {"top": {"ports": {}, "cells": {"m": {"type": "MULT18X18D",
            "parameters": {"B3MUX": "0 ", "SOURCEA": "1 "},
            "port_directions": {"B3": "input"}, "connections": {"B3": []}}}}}}"#;
        let text = to_verilog(multiplier).unwrap();
        assert!(text.contains(".\\B3 ({1'b0})") && !text.contains("B3MUX") && text.contains("SOURCEA"), "{text}");
    }

    #[test]
    fn constants_and_lost_outputs_of_nextpnr_are_known() {
        let text = |output: u32| {
            format!(
                r#"{{"creator": "nextpnr", "modules": {{"top": {{"netnames": {{"$PACKER_GND_NET": {{"bits": [9]}}}},
                "ports": {{"y": {{"direction": "output", "bits": [{output}]}}}},
                "cells": {{"$PACKER_VCC": {{"type": "ICESTORM_LC", "parameters": {{"LUT_INIT": "1111111111111111"}},
                    "connections": {{"O": [3], "I3": [3]}}}}}}}}}}}}"#
            )
        };
        assert_eq!(said(&text(3)), "");
        assert!(to_verilog(&text(3)).unwrap().contains("assign \\$PACKER_GND_NET  = 1'b0;"));
        let said = said(&text(7));
        assert!(said.contains("E0914") && said.contains("bit 0 of output y has no driver"), "{said}");
    }

    #[test]
    fn names_of_flattened_hierarchies_are_no_cells() {
        let with = NETLIST.replace("\"u0\"", "\"u\": {\"type\": \"$scopeinfo\", \"connections\": {}}, \"u0\"");
        assert_ne!(with, NETLIST);
        assert_eq!(to_verilog(&with).unwrap(), to_verilog(NETLIST).unwrap());
    }

    #[test]
    fn json_that_is_no_netlist_is_refused_with_its_place() {
        for (from, to, why) in [
            ("\"direction\": \"output\"", "\"direction\": \"inout\"", "modules.top.ports.y"),
            ("[5, \"1\", 6, 2]", "[5, \"2\", 6, 2]", "a bit is"),
            ("[2, 3]", "3", ""),
            ("\"u0\"", "\"u 0\"", "no name of Verilog"),
            ("\"type\": \"LUT4\"", "\"kind\": \"LUT4\"", "without type"),
            ("\"type\": \"LUT4\"", "\"type\": \"MAGIC\"", "E0914"),
            ("\"RESET\"", "\"a\\\"b\"", "characters that are not supported"),
            ("\"RESET\"", "null", "a string or a number"),
            ("\"modules\"", "\"modules\": 3, \"more\"", "no modules"),
            ("}}}}}", "}}}}", "line 1"),
            ("\"modules\"", "\"modules\": {}, \"modules\"", "comes twice"),
        ] {
            let said = said(&NETLIST.replace(from, to));
            assert!(said.contains(why), "{to}: {said}");
        }
        for end in 0..NETLIST.len() {
            let _ = read(&NETLIST[..end], &NetlistOptions::default());
        }
    }
}
