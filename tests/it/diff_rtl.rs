//! `alir2hdl diff` of two RTL files as a user meets it.

use crate::common::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The exit code and the object of a comparison.
fn compared(folder: &Path, first: &str, second: &str) -> (i32, Value) {
    let (code, said, errors) = run(folder, &["diff", first, second, "--json"]);
    (code, serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}{errors}")))
}

/// Names of the signals of one list.
fn signals(found: &Value, list: &str) -> Vec<String> {
    let all = found["operations"][0][list].as_array().expect("a list");
    all.iter().map(|o| o["signal"].as_str().expect("a name").to_owned()).collect()
}

/// A chain of equal additions, with a negation after `at` of them.
fn chain(folder: &Path, name: &str, at: Option<usize>) {
    let mut nodes = vec!["[[],-1,[0],[-8,7,1],0,0]".to_owned(), "[[],-1,[1],[-8,7,1],0,0]".to_owned()];
    let mut last = 0;
    for k in 0..12 {
        if at == Some(k) {
            nodes.push(format!("[[{last}],2,[],[0,7,1],0,0]"));
            last = nodes.len() - 1;
        }
        nodes.push(format!("[[{last},1],0,[{}],[-8,7,1],0,0]", k % 3));
        last = nodes.len() - 1;
    }
    let nodes = nodes.join(",");
    let model = format!("[[2,1],[0,0],[{last}],[0],[false],[{nodes}],1,1,null]");
    let text = format!("{{\"model\":{model},\"meta\":\"ALIRModel\",\"spec_version\":4}}");
    fs::write(folder.join(name), text).expect("written");
}

/// All signals after an inserted operation are renumbered; few of them differ.
#[test]
fn an_inserted_operation_is_the_only_difference() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    chain(folder, "old.json", None);
    chain(folder, "new.json", Some(5));
    for ending in ["v", "sv", "vhd"] {
        for (model, file) in [("old", "m"), ("new", "n")] {
            let (model, file) = (format!("{model}.json"), format!("{file}.{ending}"));
            let (code, _, said) = run(folder, &[&model, "-o", &file, "-O0", "-q", "--stages", "2", "--top", "m"]);
            assert_eq!(code, 0, "{said}");
        }
        let (old, new) = (format!("m.{ending}"), format!("n.{ending}"));
        let (code, found) = compared(folder, &old, &old);
        assert_eq!((code, &found["equal"], &found["operations"][0]["renamed"]), (0, &true.into(), &0.into()));
        let (code, found) = compared(folder, &old, &new);
        assert_eq!((code, &found["equal"]), (1, &false.into()));
        let (removed, added) = (signals(&found, "removed"), signals(&found, "added"));
        // The ReLU reads a sign bit that no operation read before, so v6 is written whole; the sum after it, its part
        // and its register read the ReLU. Everything else has another name at most.
        assert_eq!(removed, ["v6", "v7_a", "v7_s1"], "{ending}");
        assert_eq!(added, ["v6", "v7", "v8_a", "v8_s1"], "{ending}");
        assert_eq!(found["operations"][0]["renamed"], 12, "{ending}");
    }
}

#[test]
fn names_are_no_difference_and_drivers_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let module = |ports: &str, body: &str| {
        format!("module m({ports}, input [3:0] a, input [3:0] b, output [3:0] y);\n{body}\nendmodule\n")
    };
    let write = |name: &str, text: String| fs::write(folder.join(name), text).expect("written");
    write(
        "a.v",
        module("input clk", "reg [3:0] r;\nwire [3:0] s = a + b;\nalways @(posedge clk) r <= s ^ r;\nassign y = r;"),
    );
    write(
        "b.v",
        module("input clk", "wire [3:0] t = a + b;\nreg [3:0] q;\nalways @(posedge clk) q <= t ^ q;\nassign y = q;"),
    );
    write(
        "c.v",
        module("input clk", "reg [3:0] r;\nwire [3:0] s = a - b;\nalways @(posedge clk) r <= s ^ r;\nassign y = r;"),
    );
    write(
        "d.v",
        module("input clk", "reg [3:0] r;\nwire [3:0] s = a + b;\nalways @(negedge clk) r <= s ^ r;\nassign y = r;"),
    );
    write(
        "e.v",
        module("input c", "reg [3:0] r;\nwire [3:0] s = a + b;\nalways @(posedge c) r <= s ^ r;\nassign y = r;"),
    );
    let (code, found) = compared(folder, "a.v", "b.v");
    assert_eq!((code, &found["operations"][0]["renamed"]), (0, &2.into()), "{found}");
    let (code, found) = compared(folder, "a.v", "c.v");
    assert_eq!((code, signals(&found, "removed"), signals(&found, "added")), (1, vec!["s".into()], vec!["s".into()]));
    assert_eq!(found["operations"][0]["added"][0]["what"], "s = (a - b)");
    assert_eq!(found["operations"][0]["added"][0]["line"], 3);
    let (code, found) = compared(folder, "a.v", "d.v");
    assert!(code == 1 && signals(&found, "removed").contains(&"r".to_owned()), "{found}");
    let (code, found) = compared(folder, "a.v", "e.v");
    assert!(
        code == 1 && found["shape"][0].as_str().is_some_and(|s| s.starts_with("input ports clk, a, b in")),
        "{found}"
    );
    let (code, said, _) = run(folder, &["diff", "a.v", "c.v"]);
    assert_eq!(code, 1);
    assert!(said.contains("  - line 3: s = (a + b)\n  + line 3: s = (a - b)\ndifferent\n"), "{said}");
}

/// A signal that only reads a changed one has the same driver in both files: it is not listed.
#[test]
fn readers_of_a_changed_signal_are_not_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let write = |name: &str, sign: &str| {
        let body = format!("wire [3:0] s = a {sign} b;\nwire [3:0] t = s ^ {{s[0], a[3:1]}};\nassign y = t & b;");
        let text = format!("module m(input [3:0] a, input [3:0] b, output [3:0] y);\n{body}\nendmodule\n");
        fs::write(folder.join(name), text).expect("written");
    };
    write("a.v", "+");
    write("b.v", "-");
    let (code, found) = compared(folder, "a.v", "b.v");
    assert_eq!((code, signals(&found, "removed"), signals(&found, "added")), (1, vec!["s".into()], vec!["s".into()]));
    let model = |sign: u8| {
        let nodes = format!(
            "[[],-1,[0],[-8,7,1],0,0],[[],-1,[1],[-8,7,1],0,0],[[0,1],{sign},[0],[-16,15,1],0,0],\
             [[2,1],0,[0],[-32,31,1],0,0]"
        );
        let model = format!("[[2,1],[0,0],[3],[0],[false],[{nodes}],1,1,null]");
        format!("{{\"model\":{model},\"meta\":\"ALIRModel\",\"spec_version\":4}}")
    };
    fs::write(folder.join("a.json"), model(0)).expect("written");
    fs::write(folder.join("b.json"), model(1)).expect("written");
    let (code, said, errors) = run(folder, &["diff", "a.json", "b.json"]);
    assert!(code == 1 && said.contains("1 removed, 1 added\n  - 2 v0 + v1"), "{said}{errors}");
}

#[test]
fn wrong_files_and_options_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    chain(folder, "m.json", None);
    fs::write(folder.join("a.v"), "module m(input a, output y);\nassign y = a;\nendmodule\n").expect("written");
    fs::copy(folder.join("a.v"), folder.join("a.sv")).expect("copied");
    fs::write(folder.join("bad.v"), "module m(input a, output y);\nassign y = ;\nendmodule\n").expect("written");
    for (words, message) in [
        (&["a.v", "m.json"][..], "one file is RTL, the other a model"),
        (&["a.v", "none.v"], "none.v"),
        (&["a.v", "bad.v"], "bad.v at line 2"),
        (&["a.v", "a.sv"], "one file is verilog, the other systemverilog"),
        (&["a.v", "a.v", "--prove"], "RTL files are compared by their structure"),
        (&["a.v", "a.v", "--samples", "5"], "E0802"),
    ] {
        let (code, said, errors) = run(folder, &[&["diff"], words].concat());
        assert!(code == 2 && said.is_empty() && errors.contains(message), "{words:?}: {errors}");
    }
}
