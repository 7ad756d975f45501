// The panel beside the drawing: what is selected, what was found, and figures of the whole. Text goes in as text, never as markup.
const el = (tag, text, attributes) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; Object.assign(e, attributes || {}); return e; };
const LISTED = 60;
const operations = count => `${count} operation${count === 1 ? "" : "s"}`;
const typed = i => `${short(i)}: ${O.g[i] ? "signed" : "unsigned"}, ${O.w[i]} bits, of them ${O.f[i]} fractional`;
const key = i => /^v\d/.test(name(i)) ? name(i).slice(1) : name(i);
const address = i => `#op=${encodeURIComponent(key(i))}`;
function link(i, text) {
  const a = el("a", text || `${name(i)} ${kindOf(i)}`, { className: i === picked ? "op now" : "op", href: address(i), title: O.m[i] });
  a.onclick = e => { e.preventDefault(); pick(i, true); };
  return a;
}
function asks(text, query) {
  const a = el("a", text, { className: "op", href: `#find=${encodeURIComponent(query)}` });
  a.onclick = e => { e.preventDefault(); $("find").value = query; search(); };
  return a;
}
// Links that wrap; of a long list first a part, the rest on demand.
function links(list) {
  const out = el("div"), box = el("div", undefined, { className: "list" });
  out.append(box);
  const more = from => {
    for (const i of list.slice(from, from + LISTED)) box.append(link(i));
    const rest = list.length - from - LISTED;
    if (rest <= 0) return;
    const button = el("button", `and ${rest} more`);
    button.onclick = () => { button.remove(); more(from + LISTED); };
    box.append(button);
  };
  more(0);
  return out;
}
function histogram(i) {
  const S = D.samples, box = el("canvas", undefined, { width: 480, height: 150 }), c = box.getContext("2d"), bins = S.bins;
  box.style.cssText = "width:100%;max-width:240px;border-bottom:1px solid;display:block";
  const h = S.h.slice(i * bins, (i + 1) * bins), top = Math.max(1, ...h);
  h.forEach((v, k) => { c.fillStyle = C.bar; c.fillRect(k * 480 / bins + 1, 150 - 145 * v / top, 480 / bins - 2, 145 * v / top); });
  return box;
}
function table(rows) {
  const table = el("table");
  for (const [head, value] of rows) { const tr = el("tr"), td = el("td"); td.append(value); tr.append(el("th", head), td); table.append(tr); }
  return table;
}
function closing(title) {
  const bar = el("div", undefined, { className: "bar" }), close = el("button", "×", { title: "Undo the selection (Esc)" });
  close.onclick = clear;
  bar.append(title, close);
  return bar;
}
function operation(i, before, after) {
  const head = el("h2", `${name(i)}: ${kindOf(i)}`);
  head.prepend(el("i", undefined, { className: "box", style: `background:${hue[O.k[i]]}` }));
  const rows = [["semantics", O.m[i]], ["type", typed(i)], ["interval", `${O.lo[i]} to ${O.hi[i]}`], ["stage", D.columns[O.s[i]].short]];
  if (D.layers.length) rows.push(["layer", O.y[i] < 0 ? "none" : asks(D.layers[O.y[i]], `layer ${O.y[i]}`)]);
  rows.push(["own delay", `${timed(O.d[i])}${D.arrival && D.unit === "ns" ? " between registers" : ""}${onPath[i] ? ", on the critical path of its column" : ""}`]);
  rows.push(["arrival", `${timed(arrival[i])} after the clock edge or the inputs`], ["slack", `${timed(slack(i))} to the critical path of all stages`]);
  rows.push(["depth", `${operations(depth[i])} from ${D.origin}`]);
  if (outs.has(i)) rows.push(["output", outs.get(i).map(j => D.outputNames[j]).join(", ")]);
  rows.push(["operands", links(Array.from(new Set(operands(i))))], ["read by", links(readers(i))]);
  rows.push(["depends on", operations(before.count)], ["influences", operations(after.count)]);
  if (O.l[i]) rows.push(["RTL line", String(O.l[i])], ["", el("code", O.t[i])]);
  if (D.samples) {
    const c = el("div"); c.append(histogram(i), el("div", `${O.lo[i]} … ${O.hi[i]} (its interval)`));
    rows.push(["sample 0", D.samples.v[i]], ["samples", `${D.samples.count}: ${D.samples.min[i]} to ${D.samples.max[i]}`], ["histogram", c]);
  }
  return [closing(head), table(rows)];
}
// A column: its figures and its critical path, step by step.
function column(c) {
  const C = D.columns[c], path = D.paths[c] || [], ops = everything.filter(i => O.s[i] === c).length;
  const rows = [["operations", asks(String(ops), `stage ${c}`)]];
  if (C.delay !== null) rows.push(["critical path", timed(C.delay)]);
  if (D.registers) rows.push([D.loops ? "register bits" : "register bits after it", String(C.bits)]);
  const steps = el("table"), first = el("tr");
  for (const text of ["critical path", "adds", "arrival"]) first.append(el("th", text, { className: text === "critical path" ? "" : "n" }));
  steps.append(first);
  let before = 0;
  for (const i of path) {
    const tr = el("tr"), td = el("td"); td.append(link(i));
    tr.append(td, el("td", figure(arrival[i] - before), { className: "n" }), el("td", figure(arrival[i]), { className: "n" })); steps.append(tr);
    before = arrival[i];
  }
  return [closing(el("h2", C.title)), table(rows), ...(path.length ? [steps] : [])];
}

function counts(title, pairs, open) {
  if (!pairs.length) return;
  const out = el("details", undefined, { open }), table = el("table"), top = Math.max(1, ...pairs.map(p => p[1]));
  out.append(el("summary", title), table);
  for (const [text, count, query, paper] of pairs) {
    const tr = el("tr"), first = el("td", undefined, { className: "near" }), b = el("td", undefined, { className: "b" }), bar = el("div");
    first.append(asks(text, query)); bar.style.width = `${100 * count / top}%`; if (paper) bar.style.background = paper; b.append(bar);
    tr.append(first, b, el("td", String(count), { className: "n" })); table.append(tr);
  }
  $("summary").append(out);
}
function grouped(values, what) {
  const count = new Map(); for (const v of values) count.set(v, (count.get(v) || 0) + 1);
  const keys = Array.from(count.keys()).sort((a, b) => a - b), shown = keys.slice(0, 40).map(k => [`${k}`, count.get(k), `${what} = ${k}`]);
  if (keys.length > 40) shown.push(["more", keys.slice(40).reduce((s, k) => s + count.get(k), 0), `${what} > ${keys[39]}`]);
  return shown;
}
const kindCounts = D.kinds.map((k, index) => [k, 0, k, hue[index]]); for (const k of O.k) kindCounts[k][1]++;
kindCounts.sort((a, b) => b[1] - a[1]);
// The nodes of a network in their order, each a block that can be opened.
function blocks() {
  const out = el("details", undefined, { open: true }), chain = el("div", undefined, { className: "chain" });
  out.append(el("summary", `Layers of the network: ${D.layers.length}`), chain);
  const of = D.layers.map(() => []);
  for (let i = 0; i < n; i++) if (O.y[i] >= 0) of[O.y[i]].push(i);
  D.layers.forEach((title, l) => {
    const block = el("details"), kinds = new Map(), stages = of[l].map(i => O.s[i]);
    block.style.setProperty("--own", spread(l));
    for (const i of of[l]) kinds.set(kindOf(i), (kinds.get(kindOf(i)) || 0) + 1);
    const head = el("summary", `${title} `); head.append(el("small", operations(of[l].length))); block.append(head);
    const list = Array.from(kinds).sort((a, b) => b[1] - a[1]).map(([k, c]) => [k, asks(String(c), `layer ${l}, ${k}`)]);
    if (of[l].length) {
      const [low, high] = [stages.reduce((a, b) => Math.min(a, b)), most(stages)];
      list.push(["stages", low === high ? D.columns[low].short : `${D.columns[low].short} to ${D.columns[high].short}`], ["bits", String(of[l].reduce((s, i) => s + O.w[i], 0))]);
      const all = el("div", undefined, { className: "list" }); all.append(asks("show them", `layer ${l}`)); list.push(["", all]);
    }
    block.append(table(list));
    if (l) chain.append(el("div", "↓"));
    chain.append(block);
  });
  $("summary").append(out);
}
function summarise() {
  $("summary").replaceChildren();
  if (D.layers.length) blocks();
  counts("Operations by kind", kindCounts, true);
  counts("By width in bits", grouped(O.w, "width"), false);
  counts("By depth", grouped(depth, "depth"), false);
}
function legend() {
  const out = $("legend"), first = el("div"), second = el("div");
  out.replaceChildren(first, second);
  const [title, , ends] = COLOURS[colour];
  first.append(el("b", `Colour ${title}`));
  const swatch = (text, paper, query) => { const b = el("button", text, { title: `Search for ${query}` }); b.prepend(el("i", undefined, { className: "box", style: `background:${paper}` })); b.onclick = () => { $("find").value = query; search(); }; first.append(b); };
  if (ends) {
    const [low, high] = ends();
    const bar = el("i", undefined, { className: "scale" }); bar.style.background = `linear-gradient(90deg, ${heat(0)}, ${heat(1)})`;
    const all = el("span"); all.append(`${low} `, bar, ` ${high}`); first.append(all);
  } else if (colour === "layer") {
    D.layers.slice(0, 24).forEach((l, k) => swatch(l, spread(k), `layer ${k}`));
    if (D.layers.length > 24) first.append(el("span", `and ${D.layers.length - 24} more`));
  } else for (const [k, , query, paper] of kindCounts) swatch(k, paper, query);
  for (const [text, paper] of [["critical path of its column", C.path], ["what it depends on", C.before], ["what depends on it", C.after]]) {
    const span = el("span", text); span.prepend(el("i", undefined, { className: "wire", style: `color:${paper}` })); second.append(span);
  }
}
function help() {
  const box = $("keys");
  const rows = [["/", "search"], ["Esc", "undo the selection, then the search"], ["f", "show everything"], ["+ −", "zoom (or the wheel)"], ["← →", "along the wires of the selection: to its latest operand, to its most urgent reader"],
    ["↑ ↓", "to the next in the column; without a selection, arrows move the drawing"], ["n p", "next and previous found"], ["c", "the critical path"], ["?", "this help"]];
  const keys = el("table"); for (const [k, what] of rows) { const tr = el("tr"), th = el("th"); for (const part of k.split(" ")) th.append(el("kbd", part), " "); tr.append(th, el("td", what)); keys.append(tr); }
  const close = el("button", "Close"); close.onclick = () => box.close();
  box.replaceChildren(el("h2", "Keys"), keys, el("h2", "Searches"), examples(() => box.close()), el("p", "Click a heading of a column for its critical path. The address of the page names what is selected (#op=17, #find=mul): copy it to show somebody.", { className: "note" }), close);
  box.showModal();
}
function examples(then) {
  const table = el("table");
  for (const [query, what] of EXAMPLES) {
    const tr = el("tr"), td = el("td", undefined, { className: "near" }), a = asks(query, query), go = a.onclick;
    a.onclick = e => { if (then) then(); go(e); };
    td.append(a); tr.append(td, el("td", what)); table.append(tr);
  }
  return table;
}
