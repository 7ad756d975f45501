//! `--cpp` on the command line: names, refusals, no half file. The function of the header is checked in
//! `hdl_tests/cpp.rs`.

use crate::common::{model, run};

#[test]
fn a_header_is_named_after_its_file_or_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    for (file, namespace, expected) in [
        ("jet.hpp", None, "namespace jet {"),
        ("my-model.hpp", None, "namespace my_model {"),
        ("class.hpp", None, "namespace model_class {"),
        ("time.hpp", None, "namespace model_time {"),
        ("NULL.hpp", None, "namespace model_NULL {"),
        ("x.hpp", Some("cms::jets"), "namespace cms::jets {"),
    ] {
        let input = model("tiny_ops");
        let mut arguments = vec![&*input, "--cpp", file];
        arguments.extend(namespace.iter().flat_map(|n| ["--namespace", n]));
        let (code, _, said) = run(dir.path(), &arguments);
        assert_eq!(code, 0, "{said}");
        let is_changed = namespace.is_none() && file != "jet.hpp";
        assert_eq!(said.contains("the namespace of the C++ header is"), is_changed, "{said}");
        let text = std::fs::read_to_string(dir.path().join(file)).unwrap();
        assert!(text.contains(expected), "{file}: no {expected}");
    }
}

#[test]
fn namespaces_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.hpp");
    for namespace in ["", "a::", "1a", "a b", "class", "a::std", "_a", "a__b", "a;}", "time", "a::NULL", "std2"] {
        let (code, _, said) = run(dir.path(), &[&model("tiny_ops"), "--cpp", "x.hpp", "--namespace", namespace]);
        assert_eq!(code, 2, "{namespace:?}: {said}");
        assert!(!path.exists(), "{namespace:?}");
    }
}
