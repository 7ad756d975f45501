// What people do: search, select, keys, pointer, address.
let found = [], query = "";
function goTo(hash) { try { history.replaceState(null, "", hash || location.pathname + location.search); } catch { if (hash) location.hash = hash; } }
function pick(i, move) {
  picked = i; stage = -1; cone = null;
  const box = $("detail"); box.replaceChildren();
  if (i >= 0) {
    const before = reach(i, operands), after = reach(i, readers);
    cone = { side: before.seen.map((v, k) => v ? 1 : after.seen[k] ? 2 : 0), wires: before.wires.map(([a, b]) => [b, a, 1]).concat(after.wires.map(([a, b]) => [a, b, 2])) };
    box.append(...operation(i, before, after));
  }
  goTo(i >= 0 ? address(i) : query ? `#find=${encodeURIComponent(query)}` : "");
  tell();
  if (i >= 0 && move) centre(i); else draw();
  document.querySelector("aside").scrollTop = 0;
}
function pickColumn(c) {
  pick(-1, false); stage = c;
  goTo(c >= 0 ? `#stage=${c}` : "");
  if (c >= 0) $("detail").append(...column(c));
  draw();
}
// Undoes the selection, and if there is none, the search.
function clear() {
  if (picked >= 0 || stage >= 0) { pick(-1, false); return; }
  $("find").value = ""; search();
}
// What was found, or what is wrong with the question.
function tell() {
  const box = $("hits"); box.replaceChildren();
  if (!query) return;
  const answer = tell.answer;
  if (answer.error) { box.append(el("h2", "Not understood", { className: "wrong" }), el("p", answer.error), el("p", "A search is one of:", { className: "note" }), examples()); return; }
  const bar = el("div", undefined, { className: "bar" }), at = found.indexOf(picked);
  bar.append(el("h2", `${found.length} found${found.length > 1 && at >= 0 ? `, this is ${at + 1}` : ""}`));
  if (found.length > 1) for (const [text, by, title] of [["‹", -1, "Previous (p)"], ["›", 1, "Next (n)"]]) { const b = el("button", text, { title }); b.onclick = () => next(by); bar.append(b); }
  box.append(bar);
  if (found.length) box.append(links(found)); else box.append(el("p", answer.note || "Nothing is so."), el("p", "A search is one of:", { className: "note" }), examples());
}
function search() {
  query = $("find").value.trim();
  tell.answer = ask(query); found = tell.answer.found || [];
  hits = new Uint8Array(n); for (const i of found) hits[i] = 1;
  $("find").classList.toggle("wrong", Boolean(tell.answer.error));
  pick(found.length ? found[0] : -1, true);
}
function next(by) { if (found.length) pick(found[(Math.max(found.indexOf(picked), by < 0 ? 0 : -1) + by + found.length) % found.length], true); }
// Along the wires, or up and down in the column.
function walk(key) {
  const best = (list, of) => list.reduce((a, b) => a < 0 || of(b) > of(a) ? b : a, -1);
  let to = -1;
  if (key === "ArrowLeft") to = best(operands(picked), v => arrival[v]);
  else if (key === "ArrowRight") to = best(readers(picked), v => O.d[v] + tail[v]);
  else {
    const down = key === "ArrowDown" ? 1 : -1;
    to = best(everything.filter(i => O.s[i] === O.s[picked] && Math.abs(X[i] - X[picked]) < 0.5 && (Y[i] - Y[picked]) * down > 0), v => -Math.abs(Y[v] - Y[picked]));
  }
  if (to >= 0) pick(to, true);
}
// What the address names: #op=17, #op=acc%5B0%5D, #stage=2, #find=width > 12, or a search by itself.
function follow() {
  let hash = location.hash.slice(1);
  try { hash = decodeURIComponent(hash); } catch { /* A text that is not encoded is taken as it is. */ }
  const [, what, text] = /^(op|stage|find)=(.*)$/.exec(hash) || ["", "find", hash];
  if (!hash) return;
  if (what === "stage" && D.columns[+text] && bounds.some(b => b.stage === +text)) { pickColumn(+text); return; }
  const i = what === "op" ? [text, `v${text}`].map(t => O.n.indexOf(t)).find(i => i >= 0) : undefined;
  if (i !== undefined) { pick(i, true); return; }
  $("find").value = what === "op" ? (/^\d/.test(text) ? `v${text}` : text) : what === "stage" ? `stage ${text}` : text;
  search();
}

for (const [value, [text]] of Object.entries(COLOURS)) $("colour").append(el("option", text, { value }));
$("colour").value = colour;
let wait = 0;
$("find").addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(search, 200); });
$("find").addEventListener("keydown", e => {
  if (e.key === "Enter") { clearTimeout(wait); if (found.length > 1 && query === $("find").value.trim()) next(1); else search(); }
  if (e.key === "Escape") { e.preventDefault(); clearTimeout(wait); clear(); if (!$("find").value) $("find").blur(); }
});
$("fit").onclick = fit;
$("colour").onchange = e => { colour = e.target.value; legend(); draw(); };
$("only").onchange = e => { only = e.target.checked; draw(); };
$("critical").onclick = () => pickColumn(longestColumn);
$("help").onclick = help;
function repaint(choice) { paint(choice); legend(); draw(); $("theme").textContent = choice ? (choice === "dark" ? "Dark" : "Light") : "Theme"; }
$("theme").onclick = () => repaint(chosen ? (chosen === (system.matches ? "dark" : "light") ? "" : system.matches ? "dark" : "light") : system.matches ? "light" : "dark");
system.addEventListener("change", () => repaint(chosen));
$("save").onclick = () => { const a = el("a", "", { href: URL.createObjectURL(new Blob([$("stages").innerHTML], { type: "image/svg+xml" })), download: "stages.svg" }); a.click(); };

canvas.addEventListener("wheel", e => { e.preventDefault(); zoom(Math.exp(-e.deltaY * 0.0015), e.offsetX, e.offsetY); }, { passive: false });
let drag = null;
canvas.addEventListener("pointerdown", e => { drag = { x: e.clientX, y: e.clientY, tx, ty, moved: false }; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointermove", e => {
  if (drag) {
    const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
    $("hover").hidden = true;
    if (drag.moved) { tx = drag.tx + dx; ty = drag.ty + dy; held_in_view(); draw(); }
    return;
  }
  const now = at(e.offsetX, e.offsetY), c = e.offsetY < RULER ? columnAt(e.offsetX) : -1;
  const text = now >= 0 ? `${name(now)}: ${kindOf(now)}, ${short(now)}, delay ${O.d[now]}. ${O.m[now]}${D.layers.length && O.y[now] >= 0 ? ` (${D.layers[O.y[now]]})` : ""}` : c >= 0 ? about(c) : "";
  if (now !== under) { under = now; draw(); }
  const hover = $("hover");
  hover.hidden = !text; hover.textContent = text;
  canvas.style.cursor = text ? "pointer" : "grab";
  hover.style.left = `${Math.max(4, Math.min(e.offsetX + 14, W - hover.offsetWidth - 8))}px`; hover.style.top = `${e.offsetY + 18}px`;
});
const about = c => [`${D.columns[c].title}: ${bounds.find(b => b.stage === c).ops} operations`, D.columns[c].delay === null ? "" : `critical path ${timed(D.columns[c].delay)}`, D.columns[c].bits ? `${D.columns[c].bits} register bits` : ""].filter(Boolean).join(", ");
canvas.addEventListener("pointerup", () => { setTimeout(() => { drag = null; }, 0); });
canvas.addEventListener("pointerleave", () => { $("hover").hidden = true; if (under >= 0) { under = -1; draw(); } });
canvas.addEventListener("click", e => { if (drag && drag.moved) return; if (e.offsetY < RULER) pickColumn(columnAt(e.offsetX)); else pick(at(e.offsetX, e.offsetY), false); });
canvas.addEventListener("dblclick", e => { const i = at(e.offsetX, e.offsetY); if (i >= 0) centre(i); else zoom(2, e.offsetX, e.offsetY); });
addEventListener("resize", () => { const whole = sx === fitted[0] && sy === fitted[1]; size(); if (whole) fit(); else { held_in_view(); draw(); } });
addEventListener("hashchange", follow);
addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || $("keys").open) return;
  const moves = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] }[e.key];
  const acts = { Escape: clear, "/": () => { $("find").focus(); $("find").select(); }, f: fit, c: () => pickColumn(longestColumn), n: () => next(1), p: () => next(-1), "?": help,
    "+": () => zoom(1.3, W / 2, H / 2), "=": () => zoom(1.3, W / 2, H / 2), "-": () => zoom(1 / 1.3, W / 2, H / 2) };
  const act = moves && !/^(SUMMARY|DIALOG)$/.test(e.target.tagName) ? () => picked >= 0 ? walk(e.key) : pan(...moves) : acts[e.key];
  if (act) { e.preventDefault(); act(); }
});
summarise(); size(); legend(); fit(); follow();
document.documentElement.dataset.ready = String(n);
