//! Everything that section 4 of `docs/alir.md` calls invalid, each from the smallest file that shows it: the program
//! ends with exit code 2 and names code, place and fault.

use assert_cmd::Command;
use serde_json::Value;
use std::io::Write;

/// One input, one operation that reads it, one output.
const INPUT: &str = r#"[[],-1,[0],[-8,7,1],0,0]"#;

/// A version 4 file of these operations, with one input and one output that shows the first operation.
fn v4(ops: &str) -> String {
    file(r#""spec_version":4"#, &format!("[1,1],[0],[0],[0],[false],[{ops}],1,-1"))
}

/// A version 4 file with one table; the operand of its lookup is the input.
fn with_table(table: &str) -> String {
    file(r#""spec_version":4"#, &format!("[1,1],[0],[0],[0],[false],[{INPUT},[[0],8,[0],[0,3,1],0,0]],1,-1,[{table}]"))
}

/// A version 2 file of an input, followed by these operations.
fn v2(ops: &str) -> String {
    let input = "[0,-1,-1,0,[-8,7,1],0,0]";
    file(r#""spec_version":2"#, &format!("[1,1],[0],[0],[0],[0],[{input},{ops}],1,-1"))
}

fn file(version: &str, model: &str) -> String {
    format!(r#"{{"meta":"ALIRModel",{version},"model":[{model}]}}"#)
}

/// Runs `alir2hdl check` on the bytes and returns its exit code and its diagnostics.
fn check(bytes: &[u8], options: &[&str]) -> (i32, Vec<Value>) {
    let mut command = Command::cargo_bin("alir2hdl").unwrap();
    let output = command.args(["check", "-", "--error-format", "json"]).args(options).write_stdin(bytes).output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let lines = text.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}")));
    (output.status.code().unwrap(), lines.collect())
}

fn place(diagnostic: &Value) -> String {
    match &diagnostic["place"] {
        Value::Object(o) if o.is_empty() => "whole".to_owned(),
        Value::Object(o) if o.contains_key("path") => o["path"].as_str().unwrap().to_owned(),
        Value::Object(o) if o.contains_key("byte") => "byte".to_owned(),
        Value::Object(o) if o.contains_key("line") => "line".to_owned(),
        other => other.to_string(),
    }
}

/// The file has exactly this one problem.
#[track_caller]
fn invalid(bytes: impl AsRef<[u8]>, code: &str, at: &str, message: &str) {
    let (status, found) = check(bytes.as_ref(), &[]);
    let shown = || {
        let text = String::from_utf8_lossy(bytes.as_ref());
        format!("{}\n{found:#?}", text.chars().take(500).collect::<String>())
    };
    assert_eq!(status, 2, "{}", shown());
    assert_eq!(found.len(), 1, "one problem: {}", shown());
    let problem = &found[0];
    assert_eq!(problem["code"], code, "{}", shown());
    assert_eq!(place(problem), at, "{}", shown());
    assert!(problem["message"].as_str().unwrap().contains(message), "{message:?} in {}", shown());
    assert!(code < "E0106" || code == "E0110" || problem["help"].is_string(), "no help: {}", shown());
}

#[track_caller]
fn valid(bytes: impl AsRef<[u8]>) {
    let (status, found) = check(bytes.as_ref(), &[]);
    assert_eq!((status, found.len()), (0, 0), "{}\n{found:#?}", String::from_utf8_lossy(bytes.as_ref()));
}

#[test]
fn the_smallest_files_are_valid() {
    valid(v4(INPUT));
    valid(v2("[0,-1,-2,0,[-7,8,1],0,0]"));
    valid(file(r#""spec_version":3"#, &format!("[1,1],[0],[1],[0],[true],[{INPUT},[[0],3,[],[0,7,1],0,0]],1,-1,null")));
    valid(r#"{"model":[[0,1],[],[-1],[0],[0],[],1,-1],"spec_version":2,"meta":"DAISModel"}"#);
    valid(with_table(r#"{"spec":{"hash":"x","out_qint":{"min":0,"max":3,"step":1},"inp_width":4},"table":[0,1,2,3]}"#));
}

#[test]
fn header() {
    invalid(r#"{"meta":"FooModel","spec_version":4,"model":[]}"#, "E0121", "meta", "FooModel");
    invalid(r#"{"model":[1,2],"spec_version":1,"meta":"ALIRThing"}"#, "E0121", "meta", "ALIRThing");
    let (status, found) = check(br#"{"spec_version":4,"meta":"ALIRFSM","model":[1,2]}"#, &[]);
    assert_eq!((status, &found[0]["code"]), (2, &"E0420".into()), "it says that it is a stateful design");
    // What begins with a program is none, whatever it says.
    invalid(r#"{"model":[1,2],"spec_version":4,"meta":"ALIRFSM"}"#, "E0121", "meta", "ALIRFSM");
    invalid(r#"{"meta":"ALIRModel","spec_version":5,"model":[]}"#, "E0122", "spec_version", "5");
    invalid(r#"{"meta":"DAISModel","spec_version":3,"model":[]}"#, "E0122", "spec_version", "3");
    let (_, found) = check(br#"{"meta":"ALIRModel","spec_version":7,"model":[]}"#, &[]);
    assert_eq!(found[0]["help"], "known versions: 2, 3 and 4");
    let body = "[1,1],[0],[0],[0],[false],[[[],-1,[0],[-8,7,1],0,0]],1,-1";
    invalid(format!(r#"{{"spec_version":4,"model":[{body}]}}"#), "E0123", "whole", "\"meta\"");
    invalid(format!(r#"{{"meta":"ALIRModel","model":[{body}]}}"#), "E0123", "whole", "\"spec_version\"");
    invalid(r#"{"meta":"ALIRModel","spec_version":4}"#, "E0123", "whole", "\"model\"");
    invalid(
        format!(r#"{{"meta":"ALIRModel","spec_version":4,"model":[{body}],"meta":"x"}}"#),
        "E0124",
        "line",
        "twice",
    );
    invalid(
        r#"{"meta":4,"spec_version":4,"model":[[0,0],[],[],[],[],[],1,1]}"#,
        "E0120",
        "meta",
        "a string, found a number",
    );
    invalid(
        r#"{"meta":"ALIRModel","spec_version":"4","model":[[0,0],[],[],[],[],[],1,1]}"#,
        "E0120",
        "spec_version",
        "a number, found a string",
    );
}

#[test]
fn text_that_is_not_a_model() {
    invalid("", "E0106", "whole", "empty");
    invalid("  \n ", "E0106", "whole", "empty");
    invalid(b"PK\x03\x04abc", "E0115", "whole", "zip");
    invalid("[[1,1],[0]]", "E0125", "model", "2 elements");
    invalid("wire\nreg x;", "E0115", "whole", "it starts with \"wire\\nreg\"");
    invalid(b"\x7fELF\x02\x01", "E0115", "whole", "it starts with the bytes 7f 45 4c 46 02 01");
    invalid(r#"{"meta":"ALIRModel","spec_version":4,"model":["#, "E0111", "line", "ends in the middle");
    invalid(v4(INPUT).replace("-1,[0]", "-1 [0]"), "E0110", "line", "expected ',' or ']', found '['");
    invalid(v4(INPUT) + "x", "E0112", "line", "after the end");
    let deep = format!(r#"{{"extra":{}{}}}"#, "[".repeat(300), "]".repeat(300));
    invalid(deep, "E0114", "line", "256 levels");
}

#[test]
fn numbers() {
    invalid(v4("[[],-1,[0],[NaN,7,1],0,0]"), "E0113", "model.ops[0].qint.min", "NaN");
    invalid(v4("[[],-1,[0],[-8,7,1],-Infinity,0]"), "E0113", "model.ops[0].latency", "Infinity");
    invalid(v4("[[],-1,[0],[-8,7,1],0,1e999]"), "E0134", "model.ops[0].cost", "largest double");
    invalid(v4("[[],-1,[0],[-1e309,7,1],0,0]"), "E0134", "model.ops[0].qint.min", "largest double");
    invalid(v4("[[],-1,[0],[-8,7,null],0,0]"), "E0120", "model.ops[0].qint.step", "found null");
    invalid(v4("[[],-1,[0.5],[-8,7,1],0,0]"), "E0120", "model.ops[0].data[0]", "expected an integer, found 0.5");
    invalid(v4("[[],-1,[0],[-8,7],0,0]"), "E0142", "model.ops[0].qint", "2 elements");
    let long = "9".repeat(20_000);
    invalid(v4(&format!("[[],-1,[0],[0,{long},1],0,0]")), "E0141", "model.ops[0].qint.max", "65536 bits");
    invalid(v4(&format!("[[],-1,[0],[0,{},1],0,0]", "9".repeat(200_000))), "E0141", "line", "131072 characters");
}

#[test]
fn intervals() {
    invalid(v4("[[],-1,[0],[-8,7,3],0,0]"), "E0135", "model.ops[0].qint.step", "step 3 ");
    invalid(v4("[[],-1,[0],[-8,7,-1],0,0]"), "E0135", "model.ops[0].qint.step", "step -1 ");
    invalid(v4("[[],-1,[0],[-8,7,0.0],0,0]"), "E0135", "model.ops[0].qint.step", "step 0 ");
    invalid(v4("[[],-1,[0],[7,-8,1],0,0]"), "E0136", "model.ops[0].qint", "min 7 is above max -8");
    let large = format!("[[],-1,[0],[1{},127,1],0,0]", "0".repeat(90));
    invalid(v4(&large), "E0136", "model.ops[0].qint", "min (an integer of 299 bits) is above max 127");
    invalid(v4("[[],-1,[0],[-8.5,7,1],0,0]"), "E0137", "model.ops[0].qint.min", "min -8.5 is not a multiple of step 1");
    invalid(v4("[[],-1,[0],[-8,7,2],0,0]"), "E0137", "model.ops[0].qint.max", "max 7 ");
}

#[test]
fn model_array() {
    invalid(file(r#""spec_version":4"#, "[1,1],[0],[0],[0],[false]"), "E0125", "model", "5 elements");
    invalid(file(r#""spec_version":4"#, "[0,0],[],[],[],[],[],1,1,null,7"), "E0125", "model", "10 elements");
    invalid(r#"{"meta":"ALIRModel","spec_version":4,"model":7}"#, "E0120", "model", "an array, found a number");
    let with = |shape: &str, shifts: &str, idxs: &str, out_shifts: &str, negs: &str| {
        file(r#""spec_version":4"#, &format!("{shape},{shifts},{idxs},{out_shifts},{negs},[{INPUT}],1,-1"))
    };
    invalid(with("[1]", "[0]", "[0]", "[0]", "[false]"), "E0126", "model.shape", "1 elements");
    invalid(with("[1,-1]", "[0]", "[0]", "[0]", "[false]"), "E0133", "model.shape[1]", "negative");
    invalid(
        with("[2,1]", "[0]", "[0]", "[0]", "[false]"),
        "E0126",
        "model.inp_shifts",
        "1 elements, but the shape says 2 inputs",
    );
    invalid(with("[1,1]", "[0]", "[0,0]", "[0]", "[false]"), "E0126", "model.out_idxs", "2 elements");
    invalid(with("[1,1]", "[0]", "[0]", "[]", "[false]"), "E0126", "model.out_shifts", "0 elements");
    invalid(with("[1,1]", "[0]", "[0]", "[0]", "[false,true]"), "E0126", "model.out_negs", "2 elements");
    invalid(with("[1,1]", "[0]", "[-2]", "[0]", "[false]"), "E0217", "model.out_idxs[0]", "operation -2");
    invalid(with("[1,1]", "[0]", "[1]", "[0]", "[false]"), "E0217", "model.out_idxs[0]", "operation 1 does not exist");
    invalid(with("[1,1]", "[0]", "[0]", "[0]", "[2]"), "E0140", "model.out_negs[0]", "2 is not a flag");
    invalid(with("[1,1]", "[4097]", "[0]", "[0]", "[false]"), "E0203", "model.inp_shifts[0]", "shift 4097");
    invalid(with("[1,1]", "[0]", "[0]", "[-4097]", "[false]"), "E0203", "model.out_shifts[0]", "shift -4097");
    invalid(with("[1,1]", "[0]", "[0]", "[99999999999]", "[false]"), "E0203", "model.out_shifts[0]", "99999999999");
    invalid(with("[1,1]", "[0]", "[0]", "[99999999999999999999]", "[0]"), "E0133", "model.out_shifts[0]", "range");
}

#[test]
fn records() {
    invalid(v4("[]"), "E0127", "model.ops[0]", "0 elements");
    invalid(v4("[[],-1,[0],[-8,7,1],0]"), "E0127", "model.ops[0]", "5 elements");
    invalid(v4("[[],-1,[0],[-8,7,1],0,0,0]"), "E0127", "model.ops[0]", "7 elements");
    invalid(v4("[0,-1,-1,0,[-8,7,1],0]"), "E0127", "model.ops[0]", "6 elements");
    invalid(v4("7"), "E0120", "model.ops[0]", "an array, found a number");
    invalid(v4("[true,-1,[0],[-8,7,1],0,0]"), "E0120", "model.ops[0]", "starts with a boolean");
    invalid(v2(INPUT), "E0127", "model.ops[1]", "version 2");
    invalid(v4("[[],12,[],[-8,7,1],0,0]"), "E0128", "model.ops[0].opcode", "unknown opcode 12");
    invalid(v4("[[],-3,[],[-8,7,1],0,0]"), "E0128", "model.ops[0].opcode", "unknown opcode -3");
    invalid(v2("[0,0,11,0,[-8,7,1],0,0]"), "E0128", "model.ops[1].opcode", "opcode 11");
    let op = |op: &str| v4(&format!("{INPUT},{op}"));
    invalid(op("[[0],9,[3],[0,1,1],0,0]"), "E0129", "model.ops[1].data[0]", "unary bit operation 3");
    invalid(op("[[0,0],10,[0,3],[-8,7,1],0,0]"), "E0129", "model.ops[1].data[1]", "binary bit operation 3");
    invalid(v2("[0,-1,9,-1,[0,1,1],0,0]"), "E0129", "model.ops[1].data", "unary bit operation -1");
    invalid(op("[[0],0,[0],[-16,14,1],0,0]"), "E0130", "model.ops[1].addr", "1 operands");
    invalid(op("[[],11,[],[0,0,1],0,0]"), "E0130", "model.ops[1].addr", "opcode 11 has 0 operands");
    invalid(op("[[0,0],0,[],[-16,14,1],0,0]"), "E0131", "model.ops[1].data", "0 data entries");
    invalid(op("[[0,0],11,[1,0,1],[-16,14,1],0,0]"), "E0131", "model.ops[1].data", "3 data entries");
    invalid(op("[[0],3,[],[-8,7,1],0,0]"), "E0131", "model.ops[1].data", "no relative shift in version 4");
    invalid(op("[[0],3,[0,0],[-8,7,1],0,0]"), "E0131", "model.ops[1].data", "2 data entries");
    let v3 = op("[[0],3,[1],[-8,7,1],0,0]").replace(r#"version":4"#, r#"version":3"#);
    invalid(v3, "E0131", "model.ops[1].data", "relative shift in version 3");
    invalid(op("[[0,0],11,[1,0,-1,0],[-16,14,1],0,0]"), "E0132", "model.ops[1].data[2]", "-1 is not a sign");
    invalid(op("[[],5,[9223372036854775808],[1,1,1],0,0]"), "E0133", "model.ops[1].data[0]", "9223372036854775808");
    invalid(v2("[0,0,5,18446744073709551616,[1,1,1],0,0]"), "E0133", "model.ops[1].data", "18446744073709551616");
    invalid(v2("[0,0,10,4294967296,[-8,7,1],0,0]"), "E0138", "model.ops[1].data", "bits 32 to 55");
}

#[test]
fn operands() {
    let op = |op: &str| v4(&format!("{INPUT},{op}"));
    invalid(op("[[0,1],0,[0],[-16,14,1],0,0]"), "E0207", "model.ops[1].addr[1]", "operand 1 is not earlier");
    invalid(op("[[5,0],0,[0],[-16,14,1],0,0]"), "E0207", "model.ops[1].addr[0]", "operand 5");
    invalid(op("[[4294967296,0],0,[0],[-16,14,1],0,0]"), "E0207", "model.ops[1].addr[0]", "4294967296");
    invalid(op("[[0,-1],0,[0],[-16,14,1],0,0]"), "E0139", "model.ops[1].addr[1]", "operand -1");
    invalid(op("[[0,0,7],6,[0],[-8,7,1],0,0]"), "E0207", "model.ops[1].addr[2]", "operand 7");
    invalid(v2("[0,3,0,0,[-16,14,1],0,0]"), "E0207", "model.ops[1].id1", "operand 3");
    invalid(v2("[-1,0,0,0,[-16,14,1],0,0]"), "E0139", "model.ops[1].id0", "operand -1");
    invalid(v2("[0,0,6,7,[-8,7,1],0,0]"), "E0207", "model.ops[1].data", "operand 7");
    invalid(v4("[[],-1,[1],[-8,7,1],0,0]"), "E0208", "model.ops[0].data[0]", "input 1 does not exist");
    invalid(v4("[[],-1,[-1],[-8,7,1],0,0]"), "E0208", "model.ops[0].data[0]", "input -1");
    invalid(v2("[1,0,-1,0,[-8,7,1],0,0]"), "E0208", "model.ops[1].id0", "input 1");
    invalid(op("[[0],8,[0],[0,3,1],0,0]"), "E0209", "model.ops[1].data[0]", "table 0 does not exist");
    invalid(op("[[0],8,[-1],[0,3,1],0,0]"), "E0209", "model.ops[1].data[0]", "table -1");
}

#[test]
fn shifts_and_widths() {
    let op = |op: &str| v4(&format!("{INPUT},{op}"));
    invalid(op("[[0,0],0,[4097],[-8,7,1],0,0]"), "E0203", "model.ops[1].data[0]", "shift 4097");
    invalid(op("[[0],3,[-4097],[-8,7,1],0,0]"), "E0203", "model.ops[1].data[0]", "shift -4097");
    invalid(op("[[0],4,[1,5000],[-8,7,1],0,0]"), "E0203", "model.ops[1].data[1]", "shift 5000");
    invalid(op("[[0],11,[1,5000],[-8,7,1],0,0]"), "E0203", "model.ops[1].data[1]", "shift 5000");
    invalid(op("[[0,0],10,[-2147483649,0],[-8,7,1],0,0]"), "E0203", "model.ops[1].data[0]", "-2147483649");
    // 2^4097 as an integer: no double is so large.
    let big = "2".to_owned() + &"0".repeat(1300);
    assert!(check(v4(&format!("[[],-1,[0],[0,{big},{big}],0,0]")).as_bytes(), &[]).1[0]["code"] == "E0135");
    let step = two_to(4097);
    invalid(v4(&format!("[[],-1,[0],[0,{step},{step}],0,0]")), "E0206", "model.ops[0].qint", "-4097 fractional bits");
    // A zero has no fractional bits to speak of.
    valid(v4(&format!("[[],-1,[0],[0,0,{step}],0,0]")));
    let options = ["--max-width", "20"];
    let shifted = op("[[0,0],0,[-17],[-8,7,1],0,0]");
    let (status, found) = check(shifted.as_bytes(), &options);
    assert_eq!((status, found[0]["code"].as_str(), place(&found[0])), (2, Some("E0211"), "model.ops[1]".into()));
    assert!(found[0]["message"].as_str().unwrap().contains("needs 21 bits"));
    valid(shifted);
    // Two readers within the limit can make a port that is not.
    let readers = v4("[[],-1,[0],[0,1023,1],0,0],[[],-1,[0],[0,0.9990234375,0.0009765625],0,0]");
    valid(&readers);
    let (status, found) = check(readers.as_bytes(), &["--max-width", "19"]);
    assert_eq!((status, found[0]["code"].as_str(), place(&found[0])), (2, Some("E0211"), "model.inp_shifts[0]".into()));
}

fn two_to(exponent: u32) -> String {
    (num_bigint::BigInt::from(1) << exponent).to_string()
}

#[test]
fn tables() {
    let table = |out: &str, entries: &str| {
        format!(r#"{{"spec":{{"hash":"x","out_qint":{out},"inp_width":4}},"table":[{entries}]}}"#)
    };
    let out = r#"{"min":0,"max":3,"step":1}"#;
    invalid(with_table("7"), "E0120", "model.lookup_tables[0]", "an object, found a number");
    invalid(with_table(r#"{"table":[1]}"#), "E0123", "model.lookup_tables[0].spec", "missing");
    invalid(
        with_table(r#"{"spec":{"hash":"x","inp_width":4},"table":[1]}"#),
        "E0123",
        "model.lookup_tables[0].spec.out_qint",
        "missing",
    );
    invalid(
        with_table(&table(r#"{"min":0,"max":3}"#, "1")),
        "E0123",
        "model.lookup_tables[0].spec.out_qint.step",
        "missing",
    );
    invalid(
        with_table(&table(r#"{"min":0,"max":3,"step":3}"#, "1")),
        "E0135",
        "model.lookup_tables[0].spec.out_qint.step",
        "step 3",
    );
    invalid(with_table(&table(out, "0,4,5")), "E0204", "model.lookup_tables[0].table[1]", "entry 4 does not fit");
    invalid(with_table(&table(out, "-1")), "E0204", "model.lookup_tables[0].table[0]", "entry -1");
    invalid(with_table(&table(out, "1,2147483648")), "E0133", "model.lookup_tables[0].table[1]", "2147483648");
    invalid(with_table(&table(out, "")), "E0214", "model.ops[1].data[0]", "no entries");
    invalid(
        with_table(&table(out, "1,".repeat(17).trim_end_matches(','))),
        "E0215",
        "model.ops[1].data[0]",
        "17 entries",
    );
    // The interval starts at -2, the type at -8: 16 entries from -2 on end at 13, beyond 7.
    let shifted = with_table(&table(out, "1,1,1,1,1,1,1,1,1,1,1")).replace("[-8,7,1]", "[-2,7,1]");
    invalid(shifted, "E0216", "model.ops[1].addr[0]", "entries -2 to 8");
    let other_step = with_table(&table(r#"{"min":0,"max":1.5,"step":0.5}"#, "0,1"));
    invalid(other_step, "E0213", "model.ops[1].qint", "0 fractional bits, its table 1");
    let op = |op: &str| v4(&format!("{INPUT},{op}"));
    invalid(op("[[0],9,[0],[-8,7,0.5],0,0]"), "E0212", "model.ops[1].qint", "1 fractional bits, its operand 0");
}

#[test]
fn limits_are_options() {
    let two = v4(&format!("{INPUT},{INPUT}"));
    let refused = |text: &str, options: &[&str], code: &str| {
        let (status, mut found) = check(text.as_bytes(), options);
        found.retain(|problem| problem["severity"] == "error");
        assert_eq!((status, found.len(), found[0]["code"].as_str()), (2, 1, Some(code)), "{found:?}");
        let help = found[0]["help"].as_str().unwrap();
        assert!(help.contains(options[0]), "{help}");
    };
    refused(&two, &["--max-ops", "1"], "E0201");
    refused(&two, &["--max-bytes", "100"], "E0104");
    refused(&two.replace("-8,7,1", "-8,7,0.125"), &["--max-shift", "2", "--max-problems", "1"], "E0206");
    let table = r#"{"spec":{"hash":"x","out_qint":{"min":0,"max":3,"step":1},"inp_width":4},"table":[0,1,2,3]}"#;
    refused(&with_table(table), &["--max-table-entries", "3"], "E0202");
    let wide = v4("[[],-1,[0],[0,1e308,5e-324],0,0]");
    valid(&wide);
    refused(&wide, &["--max-bytes", "200"], "E0104");
}

#[test]
fn all_problems_are_collected_up_to_a_cap() {
    let bad = "[[],99,[],[0,1,1],0,0],".repeat(60);
    let text = v4(bad.trim_end_matches(','));
    let (_, found) = check(text.as_bytes(), &[]);
    assert_eq!(place(&found[49]), "model.ops[49].opcode");
    // How many more there are is said; from a thousand on they are no longer counted.
    let last = |found: &[Value]| {
        let note = found.last().unwrap();
        assert_eq!((&note["code"], &note["severity"]), (&"N0001".into(), &"note".into()));
        (found.len() - 1, note["message"].as_str().unwrap().to_owned())
    };
    assert_eq!(last(&found), (50, "and 10 more problems".into()));
    assert_eq!(last(&check(text.as_bytes(), &["--max-problems", "7"]).1), (7, "and 53 more problems".into()));
    assert_eq!(last(&check(text.as_bytes(), &["--max-problems", "59"]).1), (59, "and 1 more problem".into()));
    assert_eq!(check(text.as_bytes(), &["--max-problems", "60"]).1.len(), 60);
    let many = v4("[[],99,[],[0,1,1],0,0],".repeat(1_200).trim_end_matches(','));
    assert_eq!(last(&check(many.as_bytes(), &[]).1), (50, "and at least 950 more problems".into()));
    assert_eq!(check(many.as_bytes(), &["--max-problems", "1200"]).1.len(), 1_200);
    // Problems of spelling and of meaning come together, and what follows from a bad operation is not blamed.
    let (_, found) = check(
        v4(&format!("{INPUT},[[0],99,[],[0,1,1],0,0],[[1],9,[0],[0,7,0.5],0,0],[[7],2,[],[0,7,1],0,0]")).as_bytes(),
        &[],
    );
    let places: Vec<_> = found.iter().map(place).collect();
    assert_eq!(places, ["model.ops[1].opcode", "model.ops[3].addr[0]"]);
}

#[test]
fn notes_do_not_fail() {
    let v2_in_v3 = v2("[0,-1,-2,0,[-7,8,1],0,0]").replace(r#"version":2"#, r#"version":3"#);
    let (status, found) = check(v2_in_v3.as_bytes(), &[]);
    assert_eq!((status, found[0]["code"].as_str(), found[0]["severity"].as_str()), (0, Some("N0101"), Some("note")));
    let extra = v4(INPUT).replace(r#"{"meta""#, r#"{"comment":[1,{"a":2}],"meta""#);
    let (status, found) = check(extra.as_bytes(), &[]);
    assert_eq!((status, found[0]["code"].as_str()), (0, Some("N0102")));
    assert_eq!(check(extra.as_bytes(), &["--quiet"]).1.len(), 0);
}

#[test]
fn gzip() {
    let packed = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let text = v4(INPUT);
    let whole = packed(text.as_bytes());
    valid(&whole);
    valid([packed(&text.as_bytes()[..40]), packed(&text.as_bytes()[40..])].concat());
    invalid(&whole[..whole.len() - 3], "E0101", "byte", "ends early");
    let mut wrong = whole.clone();
    let at = wrong.len() - 5;
    wrong[at] ^= 0x40;
    invalid(wrong, "E0102", "byte", "corrupt");
    invalid([whole.as_slice(), b"x"].concat(), "E0103", "byte", "after the end");
    invalid(packed(&whole), "E0115", "whole", "gzip file inside");
}

#[test]
fn a_path_that_is_not_there() {
    let mut command = Command::cargo_bin("alir2hdl").unwrap();
    let output = command.args(["check", "/nonexistent/model.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr).unwrap().starts_with("error[E0001] in /nonexistent/model.json: cannot open")
    );
}

#[test]
fn convert_writes_the_version_that_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let convert = |input: &str, out: &std::path::Path, to: &str| {
        let mut command = Command::cargo_bin("alir2hdl").unwrap();
        let output = command.args(["convert", "-"]).arg(out).args(["--to", to]).write_stdin(input).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let sum = v4(&format!("{INPUT},[[0,0,0],11,[1,0,0,1,1,2],[-63,62,1],0,0]"));
    let text = String::from_utf8(convert(&sum, "-".as_ref(), "alir2")).unwrap();
    assert!(text.starts_with(r#"{"meta":"ALIRModel","spec_version":2,"#), "{text}");
    assert!(text.contains("[0,0,1,1,[-22.0,23.0,1.0],0.0,0.0],[1,0,0,2,[-63.0,62.0,1.0],0.0,0.0]"), "{text}");
    valid(&text);
    let packed = dir.path().join("model.json.gz");
    convert(&sum, &packed, "alir4");
    let bytes = std::fs::read(&packed).unwrap();
    assert_eq!(bytes[..2], [0x1f, 0x8b]);
    valid(bytes);
}

#[test]
fn files_of_frameworks_are_named_with_the_way_to_a_model() {
    let zip = |name: &str| {
        let mut bytes = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\x02\0\0\0".to_vec();
        bytes.extend([name.len() as u8, 0, 0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(b"{}");
        bytes
    };
    for (bytes, kind, way) in [
        (zip("metadata.json"), "a Keras model (.keras)", "HGQ2"),
        (zip("net/data.pkl"), "a PyTorch file", "export_qonnx"),
        (zip("x.npy"), "a zip archive (npz)", "alkaid"),
        (b"\x89HDF\r\n\x1a\n12345678".to_vec(), "an HDF5 file", "HGQ2"),
        (b"\x1c\0\0\0TFL3\0\0\0\0".to_vec(), "a TensorFlow Lite model", "QONNX"),
        (b"\x80\x02}q\0.".to_vec(), "a Python pickle", "export_qonnx"),
    ] {
        let (code, said) = check(&bytes, &[]);
        let [error] = &said[..] else { panic!("{said:?}") };
        let (message, help) = (error["message"].as_str().unwrap(), error["help"].as_str().unwrap());
        assert!(code == 2 && error["code"] == "E0115", "{error}");
        assert!(message.contains(kind) && help.contains(way), "{error}");
    }
}
