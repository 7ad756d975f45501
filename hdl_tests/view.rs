//! The page of `alir2hdl view` in headless Chromium: it loads, search and clicks work, nothing leads outside.

use crate::machines;
use crate::projects::{tool, works};
use alir2hdl::formats;
use alir2hdl::random::{Profile, Recipe};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use serde_json::Value;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What a user does, written down by a script behind the page's own.
const USER: &str = r##"
<script>
(() => {
  const loaded = performance.now(), seen = { loaded, errors: [] };
  const find = document.getElementById("find"), canvas = document.querySelector("#graph canvas");
  const detail = () => document.getElementById("detail").textContent, hits = () => document.getElementById("hits").textContent;
  const type = text => { find.value = text; find.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" })); };
  const click = (x, y) => {
    const box = canvas.getBoundingClientRect(), at = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
    canvas.dispatchEvent(new MouseEvent("click", at));
  };
  try {
    seen.ready = document.documentElement.dataset.ready;
    type(NAME);
    seen.found = detail();
    click(3, 3);
    seen.nothing = detail();
    const box = canvas.getBoundingClientRect();
    click(box.width / 2, box.height / 2);
    seen.clicked = detail();
    const link = document.querySelector("#detail a.op");
    seen.link = link ? link.textContent : "";
    if (link) link.click();
    seen.followed = detail();
    type("width > 3");
    seen.wide = hits();
    type("out 0");
    seen.output = detail();
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, clientX: 200, clientY: 300, cancelable: true }));
    canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + 3, clientY: box.top + 3, bubbles: true }));
    seen.hoverNothing = document.getElementById("hover").hidden;
    type(NAME);
    canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true }));
    seen.hover = document.getElementById("hover").textContent;
    const hash = () => { const p = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data; let h = 0; for (let k = 0; k < p.length; k += 4) h = (h * 31 + p[k] * 65536 + p[k + 1] * 256 + p[k + 2]) | 0; return h; };
    const set = (id, change) => { const box = document.getElementById(id); change(box); box.dispatchEvent(new Event("change")); };
    document.getElementById("fit").click();
    seen.pictures = [hash()];
    for (const c of ["delay", "width"]) { set("colour", box => { box.value = c; }); seen.pictures.push(hash()); }
    set("only", box => { box.checked = true; }); seen.pictures.push(hash());
    set("only", box => { box.checked = false; }); set("colour", box => { box.value = "kind"; }); seen.pictures.push(hash());
    type("no such thing");
    seen.none = hits();
    document.getElementById("fit").click();
    seen.chart = document.querySelectorAll("#stages svg rect").length;
  } catch (e) { seen.errors.push(String(e)); }
  seen.all = performance.now();
  document.documentElement.dataset.seen = JSON.stringify(seen);
})();
</script>
"##;

/// Chromium without the network, on a page in a folder.
fn chromium(page: &Path, arguments: &[&str]) -> String {
    let profile = format!("--user-data-dir={}", page.with_extension("profile").display());
    let url = format!("file://{}", page.display());
    let fixed = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"];
    let offline = ["--proxy-server=127.0.0.1:9", &profile];
    works("chromium", Path::new("/"), &[&fixed, offline.as_slice(), arguments, &[&url]].concat())
}

/// What the user saw.
fn used(page: &Path, name: &str) -> Value {
    let text = std::fs::read_to_string(page).expect("the page");
    let driven = page.with_extension("driven.html");
    let script = USER.replace("NAME", &format!("{name:?}"));
    std::fs::write(&driven, text.replace("</body>", &format!("{script}</body>"))).expect("written");
    let dom = chromium(&driven, &["--window-size=1280,900", "--dump-dom"]);
    let attribute = dom.split("data-seen=\"").nth(1).and_then(|rest| rest.split('"').next());
    let attribute = attribute.unwrap_or_else(|| panic!("nothing was seen: {}", &dom[..dom.len().min(2000)]));
    let json = attribute.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ");
    serde_json::from_str(&json.replace("&amp;", "&")).expect("JSON")
}

fn page(model: &Path, folder: &Path, arguments: &[&str]) -> PathBuf {
    let page = folder.join("page.html");
    let (model, output) = (model.to_str().expect("text"), page.to_str().expect("text"));
    works(env!("CARGO_BIN_EXE_alir2hdl"), folder, &[&["view", model, "-o", output, "-q"], arguments].concat());
    page
}

fn contains(seen: &Value, key: &str, parts: &[&str]) {
    let text = seen[key].as_str().unwrap_or_else(|| panic!("no {key} in {seen}"));
    for part in parts {
        assert!(text.contains(part), "{key} lacks {part:?}: {text}");
    }
}

#[test]
fn sim_the_page_can_be_searched_and_clicked() {
    if tool("chromium").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = Path::new(ROOT).join("tests/data/models/jet_mlp");
    let samples = data.join("inputs.npy");
    let svg = folder.path().join("stages.svg");
    let more = ["--pipeline", "5", "--input", samples.to_str().expect("text"), "--max-samples", "20"];
    let more = [more.as_slice(), &["--svg", svg.to_str().expect("text")]].concat();
    let page = page(&data.join("model.json.gz"), folder.path(), &more);
    let seen = used(&page, "v900");
    assert_eq!(seen["errors"], serde_json::json!([]), "{seen}");
    contains(
        &seen,
        "found",
        &["v900: sub", "v899 - v352 * 2^-2", "s13.8", "-4.67578125 to 11.31640625", "stage2", "RTL line"],
    );
    contains(&seen, "found", &["operandsv899 add", "wire [12:0] v900", "samples20: ", "histogram"]);
    assert_eq!(seen["nothing"], "");
    assert_eq!(seen["clicked"], seen["found"]);
    assert_eq!(seen["link"], "v899 add");
    contains(&seen, "followed", &["v899: add"]);
    contains(&seen, "wide", &[" found"]);
    contains(&seen, "output", &["out[0]"]);
    contains(&seen, "none", &["0 found"]);
    contains(&seen, "hover", &["v900: sub, s13.8, delay ", "v899 - v352 * 2^-2"]);
    assert_eq!(seen["hoverNothing"], true);
    let pictures = seen["pictures"].as_array().expect("pictures");
    assert_eq!(pictures.first(), pictures.last(), "what was asked for is taken back");
    assert!((0..4).all(|k| (0..k).all(|j| pictures[j] != pictures[k])), "{pictures:?}");
    assert!(seen["chart"].as_u64().is_some_and(|bars| bars >= 10), "{seen}");
    assert!(std::fs::read_to_string(svg).expect("the chart").starts_with("<svg "));
    for size in ["1600,1000", "900,700"] {
        let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("view-{}.png", size.replace(',', "x")));
        let screenshot = format!("--screenshot={}", picture.display());
        chromium(&page, &[&format!("--window-size={size}"), &screenshot]);
        let bytes = std::fs::read(&picture).expect("a picture");
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 50_000, "an empty picture");
    }
}

#[test]
fn sim_the_page_of_a_state_machine_can_be_searched_and_clicked() {
    if tool("chromium").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = machines::folder("serial_matvec");
    let more = ["--input", data.to_str().expect("text"), "--max-samples", "20"];
    let page = page(&data.join("fsm.json.gz"), folder.path(), &more);
    let seen = used(&page, "acc[0]");
    assert_eq!(seen["errors"], serde_json::json!([]), "{seen}");
    contains(
        &seen,
        "found",
        &["acc[0]: register", "begins as code 0; loads INTERNAL_mac_outp[0]", "resets while is_last is 1"],
    );
    contains(&seen, "found", &["s13.0", "stage2", "read by", "RTL line", "reg [12:0] acc_0;", "samples20: "]);
    assert_eq!(seen["clicked"], seen["found"]);
    contains(&seen, "followed", &["is_last: wire"]);
    contains(&seen, "output", &["outputy[0]"]);
}

/// What the page's script gets.
fn data(page: &Path) -> Value {
    let text = std::fs::read_to_string(page).expect("the page");
    let json = text.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn pages_of_state_machines_show_what_was_recorded() {
    let mut compared = 0;
    for name in machines::DESIGNS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let design = machines::folder(name);
        let more = ["--input", design.to_str().expect("text"), "--max-samples", "1000"];
        let data = data(&page(&design.join("fsm.json.gz"), folder.path(), &more));
        let n = data["ops"]["n"].as_array().expect("names").len();
        let operands = data["ops"]["a"].as_array().expect("operands");
        assert!(operands.iter().all(|v| v.as_u64().is_some_and(|v| (v as usize) < n)), "{name}");
        assert!(
            data["ops"]["s"]
                .as_array()
                .expect("columns")
                .iter()
                .all(|s| data["columns"][s.as_u64().expect("a column") as usize].is_array())
        );
        let machine = machines::read(name);
        let outputs: Vec<_> = machine.outputs().collect();
        let elements = outputs.iter().flat_map(|&s| machine.signal(s).elements.iter().map(|kif| kif.frac));
        let rows = machines::trace(name, "before", &machine, &outputs);
        for (at, frac) in elements.enumerate() {
            let recorded: Option<Vec<&BigInt>> = rows.iter().map(|row| row[at].as_ref()).collect();
            let (Some(recorded), Some(node)) = (recorded, data["outputs"][at].as_u64()) else { continue };
            let shown = |key: &str| data["samples"][key][node as usize].as_str().expect("a number").parse::<f64>();
            let real = |code: &BigInt| code.to_f64().expect("small") / f64::from(frac).exp2();
            let ends = [recorded[0], recorded.iter().min().expect("rows"), recorded.iter().max().expect("rows")];
            assert_eq!(["v", "min", "max"].map(|key| shown(key).expect("a number")), ends.map(real), "{name} {at}");
            compared += 1;
        }
    }
    assert!(compared >= 6, "{compared} outputs are compared");
}

#[test]
fn sim_the_page_works_with_60_000_operations() {
    if tool("chromium").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = Recipe::seeded(Profile::ADDERS, 60_000, 1).build();
    assert!(model.nodes().len() >= 60_000);
    let file = folder.path().join("large.json");
    let mut text = Vec::new();
    formats::prepare(&model, formats::Target::Alir4).expect("it can be said").write(&mut text).expect("in memory");
    std::fs::write(&file, text).expect("written");
    let page = page(&file, folder.path(), &["-O0", "--pipeline", "8", "--effort", "fast"]);
    let seen = used(&page, "v30000");
    assert_eq!(seen["errors"], serde_json::json!([]), "{seen}");
    assert_eq!(seen["ready"], model.nodes().len().to_string());
    contains(&seen, "clicked", &["v30000: "]);
    // The time is shown, not judged: it is the machine's.
    eprintln!("{} operations: loaded after {} ms, all done after {} ms", seen["ready"], seen["loaded"], seen["all"]);
}

#[test]
fn the_page_stands_alone_and_escapes_names() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = folder.path().join("<img src=x onerror=alert(1)>&\"'<!--.json.gz");
    std::fs::copy(Path::new(ROOT).join("tests/data/models/tiny_ops/model.json.gz"), &model).expect("copied");
    let page = page(&model, folder.path(), &["--pipeline", "2"]);
    let text = std::fs::read_to_string(page).expect("the page");
    assert!(!text.contains("<img") && !text.contains("<!--"), "a name is not escaped");
    assert_eq!((text.matches("<script").count(), text.matches("</script>").count()), (2, 2));
    assert!(text.contains("default-src 'none'"));
    let outside: Vec<_> = text.match_indices("http").map(|(at, _)| &text[at..(at + 30).min(text.len())]).collect();
    assert!(
        outside.iter().all(|l| l.starts_with("http://www.w3.org/2000/svg") || l.starts_with("http-equiv")),
        "{outside:?}"
    );
    assert!(!text.contains(folder.path().to_str().expect("text")));
}
