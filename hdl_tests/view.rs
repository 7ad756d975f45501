//! The page of `alir2hdl view` in headless Chromium: it loads, search and clicks work, nothing leads outside.

use crate::machines;
use crate::projects::{tool, works};
use alir_testing::is_nightly;
use alir_testing::random::{Profile, Recipe};
use alir2hdl::formats;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use serde_json::Value;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Actions of a user, written as a script after the viewer's own.
const USER: &str = r##"
<script>
(() => {
  const loaded = performance.now(), seen = { loaded, errors: [] };
  const find = document.getElementById("find"), canvas = document.querySelector("#graph canvas");
  const detail = () => document.getElementById("detail").textContent,
    hits = () => document.getElementById("hits").textContent;
  const type = text => { find.value = text; find.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" })); };
  const click = (x, y) => {
    const box = canvas.getBoundingClientRect(), at = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
    canvas.dispatchEvent(new MouseEvent("click", at));
  };
  try {
    seen.ready = document.documentElement.dataset.ready;
    type(NAME);
    seen.found = detail();
    const box = canvas.getBoundingClientRect();
    const move = (x, y) => canvas.dispatchEvent(new PointerEvent("pointermove", {
      clientX: box.left + x, clientY: box.top + y, bubbles: true
    }));
    // A place below the ruler where nothing is.
    const nowhere = () => {
      for (let y = 62; y < box.height; y += 5) for (let x = 3; x < box.width; x += 40) {
        move(x, y);
        if (document.getElementById("hover").hidden) return [x, y];
      }
      throw new Error("there is something everywhere");
    };
    click(...nowhere());
    seen.nothing = detail();
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
    move(...nowhere());
    seen.hoverNothing = document.getElementById("hover").hidden;
    move(8, 20);
    seen.column = document.getElementById("hover").textContent;
    move(...nowhere());
    type(NAME);
    move(box.width / 2, box.height / 2);
    seen.hover = document.getElementById("hover").textContent;
    move(...nowhere());
    const hash = () => {
      const p = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      let h = 0;
      for (let k = 0; k < p.length; k += 4) h = (h * 31 + p[k] * 65536 + p[k + 1] * 256 + p[k + 2]) | 0;
      return h;
    };
    const set = (id, change) => {
      const box = document.getElementById(id);
      change(box);
      box.dispatchEvent(new Event("change"));
    };
    document.getElementById("fit").click();
    seen.pictures = [hash()];
    for (const c of ["delay", "width"]) { set("colour", box => { box.value = c; }); seen.pictures.push(hash()); }
    set("only", box => { box.checked = true; }); seen.pictures.push(hash());
    set("only", box => { box.checked = false; }); set("colour", box => { box.value = "kind"; });
    seen.pictures.push(hash());
    type("no such thing");
    seen.none = hits();
    seen.malformed = ["width >", "widht > 12", "stage x", "out 99", "width 12"].map(text => {
      type(text);
      return hits();
    });
    const panel = document.querySelector("aside");
    type("width > 3");
    seen.beyond = panel.scrollWidth - panel.clientWidth;
    type(NAME);
    seen.address = location.hash;
    const key = name => document.body.dispatchEvent(new KeyboardEvent("keydown", {
      key: name, bubbles: true, cancelable: true
    }));
    key("Escape");
    seen.escaped = [detail()];
    key("Escape");
    seen.escaped.push(find.value, hits(), location.hash);
    location.hash = ADDRESS;
    dispatchEvent(new HashChangeEvent("hashchange"));
    seen.linked = detail();
    key("Escape"); key("Escape");
    // What is written on the canvas, and how many arrows there are.
    let words = [], arrows = 0;
    const kind = CanvasRenderingContext2D.prototype, fillText = kind.fillText, closePath = kind.closePath;
    kind.fillText = function (text, x, y, room) {
      words.push({ text, x, y, room: room === undefined, wide: this.measureText(text).width });
      return fillText.apply(this, arguments);
    };
    kind.closePath = function () { arrows++; return closePath.apply(this, arguments); };
    const headings = () => words.filter(w => w.y < 40);
    const overlaps = list => list.filter((a, k) => !a.room || list.some(
      (b, j) => j > k && a.y === b.y && a.x < b.x + b.wide && b.x < a.x + a.wide
    )).map(w => w.text);
    const drawn = act => { words = []; arrows = 0; act(); return { words, arrows }; };
    seen.overlaps = [];
    const whole = drawn(() => document.getElementById("fit").click());
    seen.written = whole.words.filter(w => w.y >= 40).map(w => w.text); seen.arrows = whole.arrows;
    seen.headings = headings().map(w => w.text);
    seen.overlaps.push(...overlaps(headings()));
    const wheel = (deltaY, times) => {
      for (let k = 0; k < times; k++) canvas.dispatchEvent(new WheelEvent("wheel", {
        deltaY, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, cancelable: true
      }));
    };
    for (const deltaY of [-120, -120, -240, -480, 480, 240, 120]) {
      drawn(() => wheel(deltaY, 1));
      seen.overlaps.push(...overlaps(headings()));
    }
    wheel(-500, 60);
    const near = hash(); wheel(-500, 5);
    wheel(500, 200);
    const far = hash(); wheel(500, 5);
    seen.ends = [near === hash() ? "all is one" : "", far === hash()];
    // From the first to the last place with colour, as a share of the canvas.
    const row = pen => {
      const { width, height } = pen.canvas, p = pen.getImageData(0, 0, width, height).data;
      let least = width, most = 0;
      for (let y = 70; y < height; y++) for (let x = 0; x < width; x++) {
        const k = 4 * (y * width + x);
        if (Math.max(p[k], p[k + 1], p[k + 2]) - Math.min(p[k], p[k + 1], p[k + 2]) > 60) {
          least = Math.min(least, x); most = Math.max(most, x);
        }
      }
      return (most - least) / width;
    };
    seen.extent = row(canvas.getContext("2d"));
    document.getElementById("fit").click();
    const legend = () => Array.from(document.querySelectorAll("#legend button"), b => [
      b.textContent, getComputedStyle(b.querySelector("i")).backgroundColor
    ]);
    seen.legend = legend();
    set("colour", box => { box.value = "width"; }); seen.scale = document.getElementById("legend").textContent;
    set("colour", box => { box.value = "kind"; });
    const light = () => {
      const p = canvas.getContext("2d").getImageData(canvas.width - 2, canvas.height - 2, 1, 1).data;
      return p[0] + p[1] + p[2] > 380;
    };
    seen.light = [light()];
    document.getElementById("theme").click();
    seen.light.push(light());
    document.getElementById("theme").click();
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

/// Returns the results of a user's actions.
fn used(page: &Path, name: &str) -> Value {
    used_at(page, name, "1280,900")
}

/// Returns the results of a user's actions in a window of a size.
fn used_at(page: &Path, name: &str, size: &str) -> Value {
    let text = std::fs::read_to_string(page).expect("the page");
    let driven = page.with_extension("driven.html");
    let address = format!("#op={}", name.strip_prefix('v').unwrap_or(name));
    let script = USER.replace("NAME", &format!("{name:?}")).replace("ADDRESS", &format!("{address:?}"));
    std::fs::write(&driven, text.replace("</body>", &format!("{script}</body>"))).expect("written");
    let dom = chromium(&driven, &[&format!("--window-size={size}"), "--dump-dom"]);
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

/// Asserts the invariants of every viewer: questions are answered or put right, selections are undone, nothing
/// overlaps, zooming has an end.
fn is_usable(seen: &Value) {
    assert_eq!(seen["errors"], serde_json::json!([]), "{seen}");
    let malformed = seen["malformed"].as_array().expect("answers");
    let said = [
        "“width >” needs a number after it, as in “width > 12”",
        "There is no “widht” to compare",
        "",
        "There is no output 99",
        "A sign is missing between “width” and “12”",
    ];
    for (answer, part) in malformed.iter().zip(said) {
        let answer = answer.as_str().expect("text");
        assert!(answer.contains("Not understood") && answer.contains(part), "{answer}");
        assert!(answer.contains("A search is one of:") && answer.contains("width > 12"), "{answer}");
    }
    assert_eq!(seen["beyond"], 0, "found operations do not fit beside each other");
    assert_eq!(seen["escaped"], serde_json::json!(["", "", "", ""]), "Escape undoes the selection, then the search");
    assert_eq!(seen["linked"], seen["found"]);
    assert_eq!(seen["overlaps"], serde_json::json!([]), "headings");
    assert!(seen["headings"].as_array().is_some_and(|all| !all.is_empty()), "{}", seen["headings"]);
    assert_eq!(seen["ends"], serde_json::json!(["", true]));
    assert!(seen["extent"].as_f64().is_some_and(|share| share > 0.3), "{}", seen["extent"]);
    let legend = seen["legend"].as_array().expect("a legend");
    assert!(legend.len() >= 3 && (1..legend.len()).all(|k| (0..k).all(|j| legend[j][1] != legend[k][1])), "{legend:?}");
    contains(seen, "scale", &["by width", " bits", "critical path of its column"]);
    let light = seen["light"].as_array().expect("shades");
    assert_ne!(light[0], light[1], "the theme changes");
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
    is_usable(&seen);
    assert_eq!(seen["address"], "#op=900");
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
    contains(&seen, "column", &["stage ", " operations, critical path ", "latency units", " register bits"]);
    let pictures = seen["pictures"].as_array().expect("pictures");
    assert_eq!(pictures.first(), pictures.last(), "what was asked for is taken back");
    assert!((0..4).all(|k| (0..k).all(|j| pictures[j] != pictures[k])), "{pictures:?}");
    assert!(seen["chart"].as_u64().is_some_and(|bars| bars >= 10), "{seen}");
    assert!(std::fs::read_to_string(svg).expect("the chart").starts_with("<svg "));
    for size in ["1400,1000", "900,700", "2500,1300"] {
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
    is_usable(&seen);
    assert_eq!(seen["address"], "#op=acc%5B0%5D");
    // Every box says what it is, and wires say where they go.
    let written: Vec<&str> = seen["written"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    assert!(written.len() >= 64 && written.iter().all(|word| !word.is_empty()), "{written:?}");
    for word in ["+", "D", "acc[0]", "is_last"] {
        assert!(written.contains(&word), "{word} is not in {written:?}");
    }
    assert!(seen["arrows"].as_u64().is_some_and(|arrows| arrows > 60), "{}", seen["arrows"]);
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

#[test]
fn sim_headings_of_thirty_stages_do_not_overlap() {
    if tool("chromium").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = Path::new(ROOT).join("tests/data/models/sort_topk/model.json.gz");
    let page = page(&model, folder.path(), &["--pipeline", "30"]);
    for size in ["900,700", "2500,1300"] {
        is_usable(&used_at(&page, "v900", size));
    }
}

#[test]
fn pages_of_networks_know_the_layer_of_every_operation() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data_of = |model: &str, more: &[&str]| {
        let network = Path::new(ROOT).join("tests/data/network").join(model);
        let more: Vec<String> = more
            .iter()
            .map(|word| match word.strip_prefix('@') {
                Some(file) => network.with_file_name(file).to_str().expect("text").to_owned(),
                None => (*word).to_owned(),
            })
            .collect();
        data(&page(&network, folder.path(), &more.iter().map(String::as_str).collect::<Vec<_>>()))
    };
    let graph = data_of("ir/mlp_relu/net.json", &["--weights", "@weights.safetensors", "--quant", "@quant.json"]);
    let names = ["inputs", "0. linear", "1. relu", "2. linear", "3. relu", "4. linear"];
    let layers: Vec<&str> = graph["layers"].as_array().expect("layers").iter().filter_map(Value::as_str).collect();
    assert!(layers.len() == names.len() && layers.iter().zip(names).all(|(l, n)| l.starts_with(n)), "{layers:?}");
    let onnx = data_of("qonnx/branches/model.onnx", &[]);
    assert!(onnx["layers"].to_string().contains("MatMul_10 (MatMul)"), "{}", onnx["layers"]);
    for data in [graph, onnx] {
        let of: Vec<i64> = data["ops"]["y"].as_array().expect("numbers").iter().filter_map(Value::as_i64).collect();
        assert_eq!(of.len(), data["ops"]["n"].as_array().expect("names").len());
        assert!(of.iter().all(|&layer| layer >= 0), "an operation belongs to no layer");
        // An input is in the first layer, and operations only read what earlier layers or their own made.
        let (operands, starts) = (&data["ops"]["a"], data["ops"]["p"].as_array().expect("starts"));
        let start = |k: usize| starts[k].as_u64().expect("a number") as usize;
        let earlier = (0..of.len()).all(|i| {
            (start(i)..start(i + 1)).all(|k| of[operands[k].as_u64().expect("an operation") as usize] <= of[i])
        });
        assert!(earlier, "a layer reads a later one");
    }
}

/// Returns the data of the viewer's script.
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
                .all(|s| data["columns"][s.as_u64().expect("a column") as usize].is_object())
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
fn sim_the_page_works_with_many_operations() {
    if tool("chromium").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let operations = if is_nightly() { 60_000 } else { 12_000 };
    let model = Recipe::seeded(Profile::ADDERS, operations, 1).build();
    assert!(model.nodes().len() >= operations);
    let file = folder.path().join("large.json");
    let mut text = Vec::new();
    formats::prepare(&model, formats::Target::Alir4).expect("it can be said").write(&mut text).expect("in memory");
    std::fs::write(&file, text).expect("written");
    let page = page(&file, folder.path(), &["-O0", "--pipeline", "8", "--effort", "fast"]);
    let seen = used(&page, "v6000");
    assert_eq!(seen["errors"], serde_json::json!([]), "{seen}");
    assert_eq!(seen["ready"], model.nodes().len().to_string());
    contains(&seen, "clicked", &["v6000: "]);
    // The time is shown, not checked: it depends on the computer.
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
