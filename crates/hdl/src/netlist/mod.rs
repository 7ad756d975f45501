//! Netlists, the output of synthesis and placement, as designs.
//!
//! [`read`] accepts structural Verilog of Yosys, Vivado and Quartus, and JSON of Yosys and nextpnr. Cells are described
//! by Verilog libraries (`crates/hdl/cells`), which are based on the public documentation of the vendors and are
//! elaborated by the Verilog front end.
//!
//! `structure`: the parser; `json`: JSON as structural Verilog; `cells`: libraries; `flatten`: the design.

mod cells;
mod flatten;
mod json;
mod structure;

pub use cells::{CellFamily, GENERIC_CELLS};
pub use json::is_json;

use crate::Rtl;
use crate::source::error;
use crate::verilog::{Library, preprocess::preprocess};
use alir_core::diag::{Diagnostic, Place};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use structure::{Entry, Name, Netlist};

/// Options of [`read`].
#[derive(Clone, Debug, Default)]
pub struct NetlistOptions {
    /// Top module; by default the module that no other one instantiates.
    pub top: Option<String>,
    /// Path of the instance to read, relative to the top module, with dots.
    pub instance: Option<String>,
    /// Cell library; by default the one that has the cells of the netlist.
    pub family: Option<CellFamily>,
    /// Verilog source of further cells, which take precedence over those of the library.
    pub cells: Option<String>,
}

/// Reads a netlist. Returns `None` if the module has behaviour and is thus no netlist.
///
/// # Errors
/// `E0914` for a cell that no library has, with its name, instance and place; `E0903` and `E0904` as for Verilog.
pub fn read(text: &str, options: &NetlistOptions) -> Result<Option<Rtl>, Diagnostic> {
    let text = &*structural(text)?;
    let netlist = structure::parse(text)?;
    let Some(top) = find_top(text, &netlist, options.top.as_deref())? else {
        return cell_in_behaviour(&netlist, in_order(&netlist)).map_or(Ok(None), Err);
    };
    let top = match &options.instance {
        Some(path) => instance(text, &netlist, top, path)?,
        None => top,
    };
    match netlist.modules.get(&top) {
        Some(Entry::Structural(_)) => {}
        other => return cell_in_behaviour(&netlist, other).map_or(Ok(None), Err),
    }
    let mut libraries = Vec::new();
    if let Some(cells) = &options.cells {
        let library = Library::parse(cells);
        libraries.push(library.map_err(|wrong| {
            let message = format!("the file of --cells cannot be read: {wrong}");
            Diagnostic::error("E0914", Place::Flag("--cells".into()), message)
        })?);
    }
    // Behavioural modules of the netlist count as cells.
    let behavioural: Vec<&str> = netlist
        .modules
        .values()
        .filter_map(|entry| match entry {
            Entry::Behavioural { text, .. } => Some(*text),
            Entry::Structural(_) => None,
        })
        .collect();
    for text in behavioural {
        // A module that cannot be parsed is an error only if it is instantiated.
        libraries.extend(Library::parse(text).ok());
    }
    let missing = missing_cells(&netlist, top, &libraries);
    match options.family {
        Some(family) => libraries.push(parse_family(family)?),
        None => {
            // Choose the family that has most of the cells.
            let count = |library: &Library| {
                let counts = missing.iter().filter(|(name, _)| library.has(netlist.names[**name as usize]));
                counts.map(|(_, count)| count).sum::<usize>()
            };
            let mut all = Vec::new();
            for family in CellFamily::ALL {
                let library = parse_family(family)?;
                all.push((count(&library), family, library));
            }
            // Families may have cells of the same name with different ports, such as VCC. Of several families, choose
            // the first one with matching ports.
            let most = all.iter().map(|(count, ..)| *count).max().unwrap_or_default();
            all.retain(|(count, ..)| most > 0 && *count == most);
            if all.len() > 1 {
                let with = |family| read(text, &NetlistOptions { family: Some(family), ..options.clone() });
                let mut outcomes: Vec<_> = all.iter().map(|(_, family, _)| with(*family)).collect();
                // If none is readable, report the error of a family whose cells have the ports.
                let has_ports = |outcome: &Result<_, Diagnostic>| {
                    outcome.as_ref().is_err_and(|wrong| !wrong.message.contains(" has no port "))
                };
                let fitting = outcomes.iter().position(Result::is_ok);
                let fitting = fitting.or_else(|| outcomes.iter().position(has_ports)).unwrap_or(0);
                return outcomes.swap_remove(fitting);
            }
            libraries.extend(all.pop().map(|(.., library)| library));
        }
    }
    libraries.push(Library::parse(GENERIC_CELLS)?);
    flatten::flatten(text, &netlist, &mut cells::Cells::new(libraries), top).map(Some)
}

/// Converts a netlist to structural Verilog.
fn structural(text: &str) -> Result<Cow<'_, str>, Diagnostic> {
    match is_json(text.as_bytes()) {
        true => json::to_verilog(text).map(Cow::Owned),
        // Preprocessing is necessary as Vivado writes `glbl` within an `ifndef.
        false => preprocess(text),
    }
}

fn parse_family(family: CellFamily) -> Result<Library, Diagnostic> {
    Library::parse(family.text())
}

/// Returns `true` if a source is a netlist: its top module has no behaviour, and it contains `glbl` of Vivado or
/// instances of cells that the file does not declare. Also returns `true` if a module has both behaviour and library
/// cells, which [`read`] rejects.
pub fn is_netlist(text: &str, top: Option<&str>) -> bool {
    if is_json(text.as_bytes()) {
        return true;
    }
    let Ok(text) = structural(text) else { return false };
    let text = &*text;
    let Ok(netlist) = structure::parse(text) else { return false };
    let top = match find_top(text, &netlist, top) {
        Ok(Some(top)) => top,
        Ok(None) => return cell_in_behaviour(&netlist, in_order(&netlist)).is_some(),
        Err(_) => return false,
    };
    // Vivado adds `glbl` to each netlist, even if the netlist has no cells.
    let has_glbl = || netlist.order.iter().any(|&module| netlist.names[module as usize] == "glbl");
    match netlist.modules.get(&top) {
        Some(Entry::Structural(_)) => has_glbl() || !missing_cells(&netlist, top, &[]).is_empty(),
        other => cell_in_behaviour(&netlist, other).is_some(),
    }
}

/// Returns the modules in the order of the file.
fn in_order<'n, 't>(netlist: &'n Netlist<'t>) -> impl Iterator<Item = &'n Entry<'t>> {
    netlist.order.iter().filter_map(|name| netlist.modules.get(name))
}

/// Returns the error for a behavioural module that instantiates library cells, which RTL front ends do not have.
fn cell_in_behaviour<'n, 't: 'n>(
    netlist: &Netlist<'_>,
    modules: impl IntoIterator<Item = &'n Entry<'t>>,
) -> Option<Diagnostic> {
    let in_file: FxHashSet<&str> = netlist.order.iter().map(|&module| netlist.names[module as usize]).collect();
    let mut libraries: Vec<Library> = Vec::new();
    for module in modules {
        let Entry::Behavioural { instantiated, reason, .. } = module else { continue };
        let missing: Vec<&str> = instantiated.iter().copied().filter(|name| !in_file.contains(name)).collect();
        if libraries.is_empty() && !missing.is_empty() {
            libraries.extend(CellFamily::ALL.into_iter().filter_map(|family| parse_family(family).ok()));
        }
        if let Some(cell) = missing.into_iter().find(|cell| libraries.iter().any(|library| library.has(cell))) {
            let help = format!(
                "the module instantiates the cell {cell}; a netlist has nets, instances and assignments of nets, and \
                 no logic besides"
            );
            return Some(reason.clone().with_help(help));
        }
    }
    None
}

/// Returns the cells below a module that neither the netlist nor the libraries have, with their numbers of instances.
fn missing_cells(netlist: &Netlist<'_>, top: Name, libraries: &[Library]) -> FxHashMap<Name, usize> {
    let mut missing: FxHashMap<Name, usize> = FxHashMap::default();
    let (mut seen, mut stack) = (FxHashSet::default(), vec![top]);
    while let Some(name) = stack.pop() {
        if !seen.insert(name) {
            continue;
        }
        let Some(Entry::Structural(module)) = netlist.modules.get(&name) else { continue };
        for instance in &module.instances {
            match netlist.modules.get(&instance.kind) {
                Some(_) => stack.push(instance.kind),
                None if libraries.iter().any(|library| library.has(netlist.names[instance.kind as usize])) => {}
                None => *missing.entry(instance.kind).or_default() += 1,
            }
        }
    }
    missing
}

/// Returns the top module, or `None` if there are only behavioural modules.
fn find_top(text: &str, netlist: &Netlist<'_>, top: Option<&str>) -> Result<Option<Name>, Diagnostic> {
    let name = |name: Name| netlist.names[name as usize];
    if let Some(top) = top {
        let found = netlist.order.iter().copied().find(|&module| name(module) == top);
        return found.map(Some).ok_or_else(|| {
            let names: Vec<_> = netlist.order.iter().map(|&module| name(module)).collect();
            error(text, 0, format!("no module is called {top}")).with_help(format!("modules: {}", names.join(", ")))
        });
    }
    let mut used: FxHashSet<Name> = FxHashSet::default();
    let by_text: FxHashMap<&str, Name> = netlist.order.iter().map(|&module| (name(module), module)).collect();
    for entry in netlist.modules.values() {
        match entry {
            Entry::Structural(module) => used.extend(module.instances.iter().map(|instance| instance.kind)),
            Entry::Behavioural { instantiated, .. } => {
                used.extend(instantiated.iter().filter_map(|kind| by_text.get(kind)))
            }
        }
    }
    // `glbl` of Vivado contains the global reset for simulations and is not part of the design.
    let is_structural = |module: &Name| matches!(netlist.modules.get(module), Some(Entry::Structural(_)));
    let tops = netlist.order.iter().copied().filter(|module| !used.contains(module) && name(*module) != "glbl");
    let tops: Vec<Name> = tops.filter(is_structural).collect();
    match tops[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        [_, second, ..] => {
            let at = match netlist.modules.get(&second) {
                Some(Entry::Structural(module)) => module.at,
                _ => 0,
            };
            let error = error(text, at, "more than one module that no other module instantiates");
            Err(error.with_help("choose one with --top NAME"))
        }
    }
}

/// Returns the module of an instance below the top module.
fn instance(text: &str, netlist: &Netlist<'_>, top: Name, path: &str) -> Result<Name, Diagnostic> {
    let mut module = top;
    let mut rest = path;
    while !rest.is_empty() {
        let Some(Entry::Structural(body)) = netlist.modules.get(&module) else { break };
        // Names may contain dots, so the longest matching name is chosen.
        let fits = body.instances.iter().filter_map(|instance| {
            let name = netlist.names[instance.name as usize];
            let after = rest.strip_prefix(name)?;
            let after = if after.is_empty() { after } else { after.strip_prefix(['.', '/'])? };
            Some((name.len(), after, instance.kind))
        });
        let Some((_, after, kind)) = fits.max_by_key(|fit| fit.0) else {
            let names: Vec<&str> = body
                .instances
                .iter()
                .filter(|i| netlist.modules.contains_key(&i.kind))
                .map(|i| netlist.names[i.name as usize])
                .take(20)
                .collect();
            let help = match names.is_empty() {
                true => "the netlist is flat there".to_owned(),
                false => format!("instances of modules there: {}", names.join(", ")),
            };
            let message = format!("{} has no instance {rest}", netlist.names[module as usize]);
            return Err(error(text, body.at, message).with_help(help));
        };
        (module, rest) = (kind, after);
    }
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, options: &NetlistOptions) -> String {
        read(text, options).err().map_or(String::new(), |e| e.to_string())
    }

    const NETLIST: &str = "(* keep *) module part(a, y); input [1:0] a; output y; wire \\n[0] ;\n\
        LUT2 #(.INIT(4'h6)) u (.I0(a[0]), .I1(a[1]), .O(\\n[0] )); assign y = \\n[0] ; endmodule\n\
        module top(clk, a, q);\n  input clk; input [1:0] a; output [1:0] q; wire [1:0] d;\n\
        part \\p.0 (.a({a[0], a[1]}), .y(d[0]));\n  FDRE r0 (.C(clk), .CE(1'b1), .D(d[0]), .R(1'b0), .Q(q[0]));\n\
        defparam r0 .INIT = 1'bx;\n  assign d[1] = ~a[1]; assign q[1] = d[1];\nendmodule\n";

    #[test]
    fn hierarchies_escaped_names_and_defparam_are_read() {
        let rtl = read(NETLIST, &NetlistOptions::default()).unwrap().unwrap();
        assert_eq!((rtl.top.as_str(), rtl.inputs.len(), rtl.outputs.len()), ("top", 2, 1));
        let registers: Vec<_> = rtl.signals().iter().filter(|s| !s.registers.is_empty()).collect();
        assert_eq!(registers.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["r0.q"]);
        assert!(rtl.signals().iter().any(|s| s.name == "p.0.n[0]"));
        assert!(is_netlist(NETLIST, None) && !is_netlist("module m(input a, output y); assign y = a; endmodule", None));
    }

    #[test]
    fn an_instance_is_chosen_by_its_path() {
        let at = |path: &str| NetlistOptions { instance: Some(path.into()), ..NetlistOptions::default() };
        assert_eq!(read(NETLIST, &at("p.0")).unwrap().unwrap().top, "part");
        assert!(said(NETLIST, &at("p.1")).contains("has no instance p.1"));
    }

    #[test]
    fn what_vendors_add_to_netlists_is_read() {
        let glbl = "module glbl; tri1 up; reg r; initial r = 0; endmodule\n";
        let timing = "module top(a, y); input a; output y;\ninitial begin\n $sdf_annotate(\"top.sdf\",,,,\"x\");\nend\n\
                      INV u (.I(a), .O(y));\nendmodule\n";
        let constant = "module top(a, y); input a; output y; wire n; assign y = 1'b1; endmodule\n";
        for text in [timing.to_owned(), format!("{timing}{glbl}"), format!("{constant}{glbl}")] {
            assert!(is_netlist(&text, None), "{text}");
            assert_eq!(said(&text, &NetlistOptions::default()), "", "{text}");
        }
        // There is no description of encrypted modules and of cells with real parameters.
        let encrypted = "`pragma protect begin_protected\n`pragma protect data_block\nA+x/'(\"=\n\
                         `pragma protect end_protected\n\
                         module top(a, y); input a; output y; SECRET #(.RATE(1.25)) u (.a(a), .y(y)); endmodule\n";
        assert!(is_netlist(encrypted, None));
        assert!(said(encrypted, &NetlistOptions::default()).contains("no cell library has SECRET"));
        let endless = encrypted.replace("`pragma protect end_protected", "");
        assert!(said(&endless, &NetlistOptions::default()).contains("encryption that never ends"));
        let other = timing.replace("$sdf_annotate", "$display");
        assert!(said(&other, &NetlistOptions::default()).contains("initial in a netlist"));
    }

    #[test]
    fn an_unknown_cell_is_named_with_its_instance_and_place() {
        let text = "module top(a, y); input a; output y;\n  MAGIC u7 (.a(a), .y(y));\nendmodule\n";
        let none = NetlistOptions::default();
        let message = said(text, &none);
        assert!(
            message.contains("E0914") && message.contains("line 2") && message.contains("MAGIC (instance u7)"),
            "{message}"
        );
        let cells = "module MAGIC (input a, output y); assign y = ~a; endmodule".to_owned();
        assert_eq!(said(text, &NetlistOptions { cells: Some(cells), ..none.clone() }), "");
        // Families have cells of the same name with different ports.
        for text in ["VCC u (.P(y))", "VCC u (.V(y))", "GND u (.G(y))"] {
            let text = format!("module top(y); output y; {text}; endmodule");
            assert_eq!(said(&text, &NetlistOptions::default()), "");
        }
        let port = "module top(a, y); input a; output y; INV u (.X(a), .O(y)); endmodule";
        assert!(said(port, &NetlistOptions { family: Some(CellFamily::Xilinx), ..none }).contains("has no port X"));
    }

    #[test]
    fn cells_of_yosys_itself_are_read() {
        // `synth_* -vpr` keeps look-up tables together with cells of a family.
        let table = "module top(a, y); input [1:0] a; output [1:0] y; wire n;\n  assign n = 4'h6 >> { a[1], a[0] };\n  \
                     SB_LUT4 #(.LUT_INIT(16'haaaa)) u (.I0(n), .I1(1'b0), .I2(1'b0), .I3(1'b0), .O(y[0]));\n  \
                     \\$_AND_  g (.A(a[0]), .B(a[1]), .Y(y[1]));\nendmodule\n";
        assert!(is_netlist(table, None));
        assert_eq!(said(table, &NetlistOptions::default()), "");
        for wrong in ["4'h6 >> a[0]", "4'h6 >>> { a[1], a[0] }", "4'h6 << { a[1], a[0] }", "4'h6 >> { a[1], a[0] } & n"]
        {
            let text = table.replace("4'h6 >> { a[1], a[0] }", wrong);
            assert!(said(&text, &NetlistOptions::default()).contains("in a netlist"), "{wrong}");
        }
        let json = r#"{"creator": "Yosys", "modules": {"top": {"ports": {"c": {"direction": "input", "bits": [2]},
            "a": {"direction": "input", "bits": [3, 4]}, "q": {"direction": "output", "bits": [5]}},
            "cells": {"u": {"type": "$lut", "parameters": {"LUT": "0110", "WIDTH": "00000000000000000000000000000010"},
            "connections": {"A": [3, 4], "Y": [6]}},
            "r": {"type": "$_SDFFE_PN0P_", "connections": {"C": [2], "D": [6], "E": [3], "R": [4], "Q": [5]}}}}}}"#;
        assert_eq!(said(json, &NetlistOptions::default()), "");
    }

    #[test]
    fn behaviour_next_to_cells_is_named() {
        let with = |item: &str| {
            format!(
                "module top(a, y); input [1:0] a; output y;\n  {item}\n  LUT1 #(.INIT(2'h1)) u (.I0(a[0]), \
                 .O(y));\nendmodule\n"
            )
        };
        for (item, reason) in [
            ("wire n; assign n = a[0] & a[1];", "an operator in a netlist"),
            ("wire n; and g (n, a[0], a[1]);", "and in a netlist"),
            ("reg r; initial r = 0;", "reg in a netlist"),
            ("wire n = a[2];", "a bit outside of a"),
        ] {
            let text = with(item);
            assert!(is_netlist(&text, None), "{text}");
            let said = said(&text, &NetlistOptions::default());
            assert!(said.contains(reason) && said.contains("line 2") && said.contains("the cell LUT1"), "{said}");
        }
        // RTL that uses the names of cells for its own modules.
        let rtl = "// LUT2 based (as LUT1 is (not))\nmodule top(input a, input ALU, output reg y);\n\
                   always @* begin y = 0; if (ALU) y = a; end\n  LUT1 u (.a(a));\nendmodule\n\
                   module LUT1(input a); endmodule\n";
        assert!(!is_netlist(rtl, Some("top")));
        assert!(read(rtl, &NetlistOptions { top: Some("top".into()), ..NetlistOptions::default() }).unwrap().is_none());
    }

    #[test]
    fn memory_that_is_written_is_refused() {
        let text = |enable: &str| {
            format!(
                "module top(c, a, w, y); input c, w; input [10:0] a; output [15:0] y;\n\
                 SB_RAM40_4K m (.RCLK(c), .RE(1'b1), .RADDR(a), .WE({enable}), .RDATA(y));\nendmodule\n"
            )
        };
        assert_eq!(said(&text("1'b0"), &NetlistOptions::default()), "");
        assert!(said(&text("w"), &NetlistOptions::default()).contains("used in a way"));
    }

    /// Returns the error message for a module with these items; `in` and `y` have two bits each.
    fn said_of(items: &str) -> String {
        said(
            &format!("module top(a, y); input [1:0] a; output [1:0] y; {items} endmodule\n"),
            &NetlistOptions::default(),
        )
    }

    #[test]
    fn a_net_has_one_driver() {
        for items in [
            "wire n; LUT1 #(.INIT(2'h1)) u (.I0(a[0]), .O(n)); assign n = 1'b0; assign y = {n, n};",
            "assign y = 2'b10; assign y = 2'b01;",
            "wire n; GND g (.G(n)); assign n = 1'b1; assign y = {n, n};",
            "wire n; assign n = 1'bx; INV u (.I(a[0]), .O(n)); assign y = {n, n};",
        ] {
            assert!(said_of(items).contains("constant value and another driver"), "{items}: {}", said_of(items));
        }
        assert!(said_of("INV u (.I(a[0]), .O(y[0])); INV v (.I(a[1]), .O(y[0]));").contains("E0904"));
        assert_eq!(said_of("wire n; GND g (.G(n)); assign n = 1'b0; assign y = {n, a[0]};"), "");
    }

    #[test]
    fn what_is_given_twice_is_refused() {
        let twice = said_of("LUT1 #(.INIT(2'h1)) u (.I0(a[0]), .I0(a[1]), .O(y[0]));");
        assert!(twice.contains("port I0 of LUT1 (instance u) is connected twice"), "{twice}");
        let twice = said_of("LUT1 #(.INIT(2'h1), .INIT(2'h2)) u (.I0(a[0]), .O(y[0]));");
        assert!(twice.contains("parameter INIT is given twice"), "{twice}");
        assert_eq!(said_of("LUT1 #(.INIT(2'h1)) u (.I0(a[0]), .O(y[0])); defparam u.INIT = 2'h2;"), "");
    }

    #[test]
    fn shorter_values_are_extended_as_verilog_does() {
        // The Verilog front end reads an equivalent module as a reference.
        for (items, same) in [
            ("wire t; assign t = a[0]; assign y = ~t;", "assign y = {1'b1, ~a[0]};"),
            ("wire signed t; assign t = a[0]; assign y = t;", "assign y = {a[0], a[0]};"),
            ("wire signed t; assign t = a[0]; assign y = ~t;", "assign y = {~a[0], ~a[0]};"),
            ("wire signed t; assign t = a[0]; assign y = {t};", "assign y = {1'b0, a[0]};"),
            ("wire signed [0:0] t; assign t = a[0]; assign y = t[0];", "assign y = {1'b0, a[0]};"),
            ("assign y = 1'sb1;", "assign y = 2'b11;"),
            ("assign y = ~1'b1;", "assign y = 2'b10;"),
            ("assign y = !a[0];", "assign y = {1'b0, !a[0]};"),
        ] {
            let text = |items: &str| format!("module top(a, y); input [1:0] a; output [1:0] y; {items} endmodule\n");
            let netlist = read(&text(items), &NetlistOptions::default()).unwrap().unwrap();
            let rtl = crate::read(crate::Language::Verilog, &text(same), None).unwrap();
            for input in 0..4u8 {
                assert_eq!(value(&netlist, input), value(&rtl, input), "{items} for {input}");
            }
        }
    }

    /// Returns the value of `y` for a value of `a`.
    fn value(rtl: &Rtl, input: u8) -> u8 {
        fn evaluate(rtl: &Rtl, node: crate::NodeId, input: u8) -> u8 {
            use crate::Expr;
            let mask = |value: u8| value & ((1u16 << rtl.width(node)) - 1) as u8;
            match rtl.expr(node) {
                Expr::Const(value) => u8::try_from(&**value).unwrap(),
                Expr::Signal(s) if rtl.signal(*s).input => input,
                Expr::Signal(s) => rtl.signal(*s).wires.iter().map(|&(lo, n)| evaluate(rtl, n, input) << lo).sum(),
                Expr::Slice { x, lo } => mask(evaluate(rtl, *x, input) >> lo),
                Expr::Concat(parts) => {
                    let widths = parts.iter().scan(0, |at, &part| {
                        let own = *at;
                        *at += rtl.width(part);
                        Some(own)
                    });
                    parts.iter().zip(widths).map(|(&part, lo)| evaluate(rtl, part, input) << lo).sum()
                }
                Expr::Not(x) => mask(!evaluate(rtl, *x, input)),
                Expr::Reduce(_, x) => u8::from(evaluate(rtl, *x, input) != 0),
                Expr::Extend { x, signed: false } => evaluate(rtl, *x, input),
                Expr::Table(entries, address, _) => {
                    u8::try_from(&entries[usize::from(evaluate(rtl, *address, input))]).unwrap()
                }
                Expr::Repeat { x } => mask(0u8.wrapping_sub(evaluate(rtl, *x, input))),
                other => panic!("{other:?}"),
            }
        }
        evaluate(rtl, rtl.read(rtl.outputs[0]), input)
    }

    #[test]
    fn conditional_text_is_read_as_verilog_does() {
        let text =
            "assign y[1] = a[1];\n`ifdef FOO\n assign y[0] = 1'b0;\n`else\n INV u (.I(a[0]), .O(y[0]));\n`endif\n";
        assert_eq!(said_of(text), "");
        assert!(said_of(&text.replace("FOO", "SYNTHESIS").replace("a[1]", "1'b1")).is_empty());
        assert!(said_of("assign y = `WORD;").contains("WORD"), "{}", said_of("assign y = `WORD;"));
        let glbl = "`ifndef GLBL\n`define GLBL\n`timescale 1 ps / 1 ps\nmodule glbl; endmodule\n`endif\n";
        let text = format!("module top(a, y); input a; output y; INV u (.I(a), .O(y)); endmodule\n{glbl}");
        assert_eq!(said(&text, &NetlistOptions::default()), "");
    }

    #[test]
    fn hierarchies_of_very_many_instances_are_refused() {
        let modules = (0..40).map(|i| format!("module m{i}(y); output y; m{0} a(.y(y)); m{0} b(); endmodule\n", i + 1));
        let text = modules.collect::<String>() + "module m40(y); output y; GND g(.G(y)); endmodule\n";
        assert!(said(&text, &NetlistOptions::default()).contains("more than 20,000,000 instances"));
    }

    #[test]
    fn uses_of_cells_that_are_not_described_are_refused() {
        let flip_flop = |parameters: &str| {
            said(
                &format!(
                    "module top(c, r, a, y); input c, r, a; output y;\n\
                     TRELLIS_FF #(.GSR(\"DISABLED\"){parameters}) u \
                     (.CLK(c), .LSR(r), .DI(a), .M(a), .Q(y)); endmodule\n"
                ),
                &NetlistOptions::default(),
            )
        };
        for sound in ["", ", .SRMODE(\"ASYNC\")", ", .CEMUX(\"1\"), .LSRMUX(\"INV\")", ", .LSRMODE(\"PRLD\")"] {
            assert_eq!(flip_flop(sound), "", "{sound}");
        }
        for odd in [
            "SRMODE(\"ASYNC\"), .LSRMODE(\"PRLD\")",
            "SRMODE(\"CE_OVER_LSR\")",
            "CLKMUX(\"0\")",
            "LSRMUX(\"1\")",
            "CEMUX(\"X\")",
        ] {
            assert!(flip_flop(&format!(", .{odd}")).contains("used in a way"), "{odd}");
        }
        let memory = |pins: &str| {
            said(
                &format!(
                    "module top(c, w, a, y); input c, w; input [13:0] a; output [15:0] y;\n\
                     RAMB18E1 #(.READ_WIDTH_A(18), .WRITE_WIDTH_A(18), .IS_ENARDEN_INVERTED(1'b1)) u \
                     (.CLKARDCLK(c), .ADDRARDADDR(a), .DOADO(y), {pins}); endmodule\n"
                ),
                &NetlistOptions::default(),
            )
        };
        assert_eq!(memory(".ENARDEN(1'b0), .WEA(2'b00)"), "");
        assert_eq!(memory(".ENARDEN(1'b1), .WEA(2'b11)"), "");
        assert!(memory(".ENARDEN(1'b0), .WEA(2'b11)").contains("used in a way"));
        for (cell, sound, odd) in [
            (
                "SPX9 #(.BIT_WIDTH(36)) u (.CLK(c), .CE(1'b1), .OCE(1'b1), .BLKSEL(3'd0), .AD(a), .DO(y), PINS);",
                ".WRE(1'b0), .RESET(w)",
                ".WRE(w), .RESET(1'b0)",
            ),
            (
                "SP #(.RESET_MODE(\"ASYNC\")) u (.CLK(c), .CE(1'b1), .OCE(1'b1), .WRE(1'b0), .AD(a), .DO(y), PINS);",
                ".BLKSEL(3'd0), .RESET(1'b0)",
                ".BLKSEL(3'd0), .RESET(w)",
            ),
            (
                "DP16KD #(.RESETMODE(\"ASYNC\")) u (.CLKA(c), .WEB(1'b0), .RSTB(1'b0), .ADA4(a[4]), .DOA0(y), PINS);",
                ".RSTA(1'b0)",
                ".RSTA(w)",
            ),
            (
                "DP16KD u (.CLKA(c), .WEB(1'b0), .RSTB(1'b0), .ADA4(a[4]), .DOA0(y[0]), .RSTA(w), PINS);",
                ".CEA(1'b1)",
                ".CEA(w)",
            ),
            (
                "DP16KD #(.CSA0MUX(PINS)) u (.CLKA(c), .WEB(1'b0), .RSTB(1'b0), .ADA4(a[4]), .DOA0(y[0]));",
                "\"CSA0\"",
                "\"INV\"",
            ),
        ] {
            let with = |pins: &str| {
                let cell = cell.replace("PINS", pins);
                let ports = "input c, w; input [13:0] a; output [35:0] y;";
                said(&format!("module top(c, w, a, y); {ports} {cell} endmodule\n"), &NetlistOptions::default())
            };
            assert_eq!(with(sound), "", "{cell}");
            assert!(with(odd).contains("used in a way"), "{cell}: {}", with(odd));
        }
    }

    #[test]
    fn the_clock_of_a_cell_within_a_cell_is_that_of_the_outer_one() {
        let cells = "module OUTER(output q, input ck, d); INNER i(.x(q), .clock(ck), .y(d)); endmodule\n\
                     module INNER(output reg x, input clock, y); always @(posedge clock) x <= y; endmodule\n";
        let netlist = "module top(c, d, q); input c, d; output q; OUTER u (.ck(c), .d(d), .q(q)); endmodule\n";
        let options = NetlistOptions { cells: Some(cells.to_owned()), ..NetlistOptions::default() };
        let rtl = read(netlist, &options).unwrap().unwrap();
        let clocks: Vec<&str> =
            rtl.signals().iter().flat_map(|s| &s.registers).map(|r| &*rtl.signal(r.clock).name).collect();
        assert_eq!(clocks, ["c"]);
    }

    #[test]
    fn negative_parameters_are_the_complement() {
        let init = |value: &str| {
            let text =
                format!("module top(a, y); input a; output y; LUT1 #(.INIT({value})) u (.I0(a), .O(y)); endmodule\n");
            read(&text, &NetlistOptions::default()).unwrap().unwrap()
        };
        for input in 0..2 {
            assert_eq!(value(&init("-2"), input), value(&init("2'h2"), input));
            assert_ne!(value(&init("-2"), input), value(&init("2'h1"), input));
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
        for end in (0..NETLIST.len()).filter(|&end| NETLIST.is_char_boundary(end)) {
            let _ = read(&NETLIST[..end], &NetlistOptions::default());
            let _ = read(&NETLIST[end..], &NetlistOptions::default());
        }
    }
}
