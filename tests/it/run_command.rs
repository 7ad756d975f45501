//! `alir2hdl run` as a user meets it: results, and every way to get them wrong.

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name)
}

/// Two inputs (s4.2 and u3.0), a lookup of the second (only 6 of 8 codes have entries), a sum that may leave its
/// interval, and a product.
const MODEL: &str = r#"{"meta": "ALIRModel", "spec_version": 4, "model": [
    [2, 3], [0, 0], [3, 2, 4], [0, 0, 0], [false, false, true], [
    [[], -1, [0], [-2, 1.75, 0.25], 0, 0],
    [[], -1, [1], [0, 5, 1], 0, 0],
    [[1], 8, [0], [-8, 7, 1], 1, 1],
    [[0, 1], 0, [0], [-2, 5.75, 0.25], 1, 1],
    [[0, 1], 7, [], [-10, 8.75, 0.25], 1, 1]],
    1, -1, [{"spec": {"hash": "t", "out_qint": {"min": -8, "max": 7, "step": 1}, "inp_width": 3},
             "table": [1, -2, 3, -4, 5, -6]}]]}"#;

/// A folder with the model in it.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("m.json"), MODEL).unwrap();
        Place { dir }
    }

    fn file(self, name: &str, contents: impl AsRef<[u8]>) -> Place {
        std::fs::write(self.dir.path().join(name), contents).unwrap();
        self
    }

    fn run(&self, args: &str) -> Ran {
        self.run_with(args, "")
    }

    fn run_with(&self, args: &str, stdin: &str) -> Ran {
        let mut command = Command::cargo_bin("alir2hdl").unwrap();
        command.current_dir(self.dir.path()).arg("run").args(args.split_whitespace()).write_stdin(stdin);
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    #[track_caller]
    fn gives(self, out: &str) {
        assert_eq!((self.code, self.out.as_str()), (0, out), "{}", self.err);
    }

    #[track_caller]
    fn fails(self, code: &str, words: &str) {
        assert_eq!(self.code, 2, "{self:?}");
        assert!(self.err.contains(code) && self.err.contains(words), "{}", self.err);
        assert_eq!(self.out, "");
    }
}

#[test]
fn reals_in_reals_out() {
    let place = Place::new().file("x.csv", "a,b\n1.5,3\n-0.3,0\n");
    // -0.3 floors to -0.5.
    place.run("m.json --input x.csv --output -").gives("4.5,-4.0,-4.5\n-0.5,1.0,0.0\n");
    place.run("m.json -i x.csv -o y.csv").gives("");
    assert_eq!(std::fs::read_to_string(place.dir.path().join("y.csv")).unwrap(), "4.5,-4.0,-4.5\n-0.5,1.0,0.0\n");
    assert_eq!(place.names(), ["m.json", "x.csv", "y.csv"]);
}

#[test]
fn codes_in_codes_out() {
    let place = Place::new().file("x.csv", "6,3\n0xe,0x0\n");
    place.run("m.json --codes --input x.csv --output -").gives("18,-4,-18\n-2,1,0\n");
}

#[test]
fn pipes_work() {
    Place::new().run_with("m.json --input - --output -", "1.5,3\n").gives("4.5,-4.0,-4.5\n");
    let place = Place::new().file("x.csv", "1.5,3\n");
    place.run_with("- --input x.csv --output -", MODEL).gives("4.5,-4.0,-4.5\n");
}

#[test]
fn npy_round_trip_of_a_real_model() {
    let (model, x) = (data("tiny_ops/model.json.gz"), data("tiny_ops/inputs.npy"));
    let place = Place::new();
    place.run(&format!("{} --input {} --output y.npy", model.display(), x.display())).gives("");
    let (found, expected) =
        (std::fs::read(place.dir.path().join("y.npy")), std::fs::read(data("tiny_ops/outputs.npy")));
    // Same shape and type: the same header as NumPy writes it, the same numbers.
    assert!(found.unwrap() == expected.unwrap());
}

#[test]
fn wide_outputs_are_rounded_and_counted_or_exact_in_codes() {
    let model = r#"{"meta": "ALIRModel", "spec_version": 4, "model": [[1, 1], [0], [1], [0], [0], [
        [[], -1, [0], [-1073741824, 1073741823, 1], 0, 0],
        [[0, 0], 7, [], [-1152921504606846976, 1152921504606846976, 1], 1, 1]], 1, -1]}"#;
    let place = Place::new().file("w.json", model).file("x.csv", "1073741823\n2\n");
    let ran = place.run("w.json --input x.csv --output -");
    assert!(ran.err.contains("N0701") && ran.err.contains("1 output numbers"), "{}", ran.err);
    ran.gives("1.1529215024593633e18\n4.0\n");
    place.run("w.json --codes --input x.csv --output -").gives("1152921502459363329\n4\n");
}

#[test]
fn lookups_that_miss() {
    let place = Place::new().file("x.csv", "0,5\n0,6\n");
    place.run("m.json --input x.csv --output y.npy").fails("E0707", "sample 1, operation 2: index 6");
    assert_eq!(place.names(), ["m.json", "x.csv"]);
    place.run("m.json --input x.csv --output - --lookup-miss zero").gives("5.0,-6.0,0.0\n6.0,0.0,0.0\n");
    let ran = place.run("m.json --input x.csv --output - --on-error skip");
    assert!(ran.err.contains("W0701") && ran.err.contains("1 of 2 samples"), "{}", ran.err);
    ran.gives("5.0,-6.0,0.0\n");
}

#[test]
fn numbers_without_a_code() {
    let place = Place::new().file("x.csv", "1,2\n0.5,nan\n0,0\n");
    place.run("m.json --input x.csv --output -").fails("E0706", "sample 1, input 1: NaN has no code");
    place.run("m.json --input x.csv --output - --on-error nan").gives("3.0,3.0,-2.0\nNaN,NaN,NaN\n0.0,1.0,0.0\n");
    place.run("m.json --input x.csv --output - --on-error skip --quiet").gives("3.0,3.0,-2.0\n0.0,1.0,0.0\n");
    let place = Place::new().file("x.csv", "8,0\n");
    place
        .run("m.json --codes --input x.csv --output -")
        .fails("E0706", "sample 0, input 0: code 8 is not of the port's");
    let place = Place::new().file("x.csv", "-inf,0\n");
    place.run("m.json --input x.csv --output -").fails("E0706", "-inf has no code");
}

#[test]
fn inputs_that_are_not_samples() {
    let place = Place::new()
        .file("short.csv", "1,2\n3\n")
        .file("words.csv", "1,2\n3,x\n")
        .file("not.npy", "hello")
        .file("cut.npy", &std::fs::read(data("tiny_ops/inputs.npy")).unwrap()[..5000]);
    place.run("m.json --input short.csv --output y.npy").fails("E0703", "short.csv at line 2");
    place.run("m.json --input words.csv --output y.npy").fails("E0703", "field 2: \"x\" is not a number");
    place.run("m.json --input not.npy --output y.npy").fails("E0702", "not an npy file");
    place.run("m.json --input cut.npy --output y.npy").fails("E0702", "the model has 2 inputs");
    let model = data("tiny_ops/model.json.gz");
    place.run(&format!("{} --input cut.npy --output y.npy", model.display())).fails("E0702", "cut short");
    place.run("m.json --input missing.csv --output y.npy").fails("E0001", "missing.csv: cannot read");
    place.run("m.json --input nodir/x.csv --output y.npy").fails("E0001", "the folder nodir does not exist");
    place.run("m.json --input . --output y.npy").fails("E0701", "folder");
    assert!(!place.names().contains(&"y.npy".to_string()));
}

#[test]
fn outputs_that_cannot_be() {
    let place = Place::new().file("x.csv", "1,2\n");
    place.run("m.json --input x.csv --output y.dat").fails("E0705", "extension");
    place.run("m.json --input x.csv --output none/y.npy").fails("E0001", "cannot write");
    let wide = MODEL.replace("[-10, 8.75, 0.25]", "[-10, 73786976294838206464, 0.25]");
    let place = Place::new().file("wide.json", wide).file("x.csv", "0,2\n");
    place.run("wide.json --codes --input x.csv --output y.npy").fails("E0704", "wider than int64");
    place.run("wide.json --codes --input x.csv --output -").gives("0x08,0x3,0x000000000000000000\n");
}

#[test]
fn requests_that_contradict_themselves() {
    let place = Place::new().file("x.csv", "1,2\n");
    place.run("- --input - --output y.npy").fails("E0709", "both read stdin");
    place.run("m.json --input x.csv --output - --check-intervals").fails("E0709", "both write to stdout");
    place.run("m.json --input x.csv --output - --codes --on-error nan").fails("E0709", "no code is NaN");
    place.run("m.json --input x.csv").gives("3.0,3.0,-2.0\n");
    place.run("m.json --output y.npy").fails("E0712", "alir2hdl run MODEL SAMPLES.npy");
    place.run("m.json --input x.csv --output y.npy --trace 0").fails("E0002", "cannot be used with");
}

#[test]
fn a_trace_shows_every_operation() {
    let place = Place::new().file("x.csv", "0,0\n1.5,3\n");
    let ran = place.run("m.json --input x.csv --trace 1");
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("sample 1\nv0 = input 0, quantised\n"), "{}", ran.out);
    assert!(
        ran.out.contains("v2 = table 0[code of v1]\n    with v1 = 3 (code 3)\n    = -4, code -4, bits 1100 of s4.0\n")
    );
    assert!(ran.out.ends_with("output 2 = -v4\n    = -4.5, code -18, bits 110_1110 of s7.2\n"), "{}", ran.out);
    place.run("m.json --input x.csv --trace 2").fails("E0710", "there is no sample 2");
    let place = Place::new().file("x.csv", "1.5,7\n");
    let ran = place.run("m.json --input x.csv --trace 0");
    // What was computed before the miss is shown.
    assert!(ran.out.contains("v1 = input 1") && ran.err.contains("E0707"), "{ran:?}");
}

#[test]
fn broken_promises_are_reported() {
    let place = Place::new().file("x.csv", "1.5,3\n-2,0\n");
    place.run("m.json --input x.csv --check-intervals").gives("every result of 2 samples fits its type\n");
    let lying = MODEL.replace("[-2, 5.75, 0.25]", "[-2, 1.75, 0.25]");
    let place = Place::new().file("lying.json", lying).file("x.csv", "1.5,3\n0,0\n1.75,7\n");
    let ran = place.run("lying.json --input x.csv --check-intervals --lookup-miss zero");
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.out,
        "sample 0, operation 3 (add): code 18 wraps to 2; its interval promises -8 to 7, type s4.2\n\
         sample 2, operation 3 (add): code 35 wraps to 3; its interval promises -8 to 7, type s4.2 \
         (an input is outside its interval)\n\
         2 results of 3 samples do not fit; 1 of them with all inputs inside their intervals\n"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    use std::io::Write;
    let place = Place::new();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_alir2hdl"))
        .current_dir(place.dir.path())
        .args(["run", "m.json", "--input", "-", "--output", "y.csv"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Enough to show that it is not an npy file.
    stdin.write_all(b"1.0,2.0\n").unwrap();
    // It waits for more; the temporary file shows that it has begun.
    while place.names().len() < 2 {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(place.names(), ["m.json"]);
    drop(stdin);
}

#[test]
fn npz_archives() {
    // Written by NumPy: savez_compressed(x=[[1.5, 3], [0, 0]], y=[1, 2]).
    let place = Place::new().file("xy.npz", include_bytes!("../data/samples/xy.npz"));
    place.run("m.json --input xy.npz --array x --output -").gives("4.5,-4.0,-4.5\n0.0,1.0,0.0\n");
    place.run("m.json --input xy.npz --output -").fails("E0702", "2 arrays (x, y): choose one with --array");
    place.run("m.json --input xy.npz --array y --output -").fails("E0702", "an array of shape [2]");
    place.run("m.json --input m.json --array x --output -").fails("E0702", "no npz file");
}

#[test]
fn a_large_file_gives_what_a_pipe_gives_and_nothing_stays_of_a_run_that_stops() {
    // Large enough for several blocks on each thread; some samples have no result.
    let rows = 150_000u32;
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 2), }}\n");
    let mut file = [&b"\x93NUMPY\x01\x00"[..], &(118u16.to_le_bytes())].concat();
    file.extend(format!("{header:>118}").into_bytes());
    for row in 0..rows {
        let first = if row % 997 == 5 { f64::NAN } else { f64::from(row % 16) * 0.25 - 2.0 };
        file.extend(first.to_le_bytes());
        file.extend(f64::from(row / 16 % 8).to_le_bytes());
    }
    let place = Place::new().file("x.npy", &file);
    for policy in ["skip", "nan"] {
        for threads in [1, 3] {
            let of_file = place.run(&format!(
                "m.json --input x.npy --output of_file.npy --on-error {policy} --threads {threads} --quiet"
            ));
            assert_eq!(of_file.code, 0, "{of_file:?}");
            let mut command = Command::cargo_bin("alir2hdl").unwrap();
            let piped = format!("run m.json --input - --output piped.npy --on-error {policy} --engine golden --quiet");
            command.current_dir(place.dir.path()).args(piped.split_whitespace()).write_stdin(file.clone());
            command.assert().success();
            let read = |name: &str| std::fs::read(place.dir.path().join(name)).unwrap();
            assert!(read("of_file.npy") == read("piped.npy"), "{policy} {threads}");
        }
    }
    // Nothing stays when it stops at an error, and a file that is cut short says so.
    let names = place.names();
    assert_eq!(place.run("m.json --input x.npy --output stopped.npy").code, 2);
    assert_eq!(place.names(), names);
    let place = place.file("x.npy", &file[..file.len() - 8]);
    place.run("m.json --input x.npy --output stopped.npy").fails("E0702", "cut short");
    assert_eq!(place.names(), names);
}

/// The header of an npy file of float64, and its numbers.
fn npy(shape: &str, count: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &vec![0; 8 * count]].concat()
}

#[test]
fn one_sample_without_a_dimension_for_samples_is_reshaped() {
    let place = Place::new().file("x.npy", npy("(2,)", 2)).file("wide.npy", npy("(3,)", 3));
    place.run("m.json --input x.npy --output -").fails("E0702", "reshape the array");
    place.run("m.json --input wide.npy --output -").fails("E0702", "the shape is [samples, inputs]");
}

#[test]
fn a_state_machine_with_several_inputs_takes_several_arrays() {
    let place = Place::new().file("x.csv", "1,2\n");
    for name in ["register_file", "select_hold", "serial_matvec"] {
        let ran = place.run(&format!("{} --input x.csv", data(&format!("fsm/{name}/fsm.json.gz")).display()));
        if ran.err.contains("E0711") {
            return ran.fails("E0711", "a folder with one npy file for each");
        }
    }
    panic!("no state machine has several input ports");
}
