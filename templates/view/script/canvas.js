// The drawing: columns with a ruler above, boxes, wires, and what is selected.
const $ = id => document.getElementById(id);
const canvas = document.querySelector("#graph canvas"), pen = canvas.getContext("2d");
const RULER = 58, MONO = "ui-monospace, Menlo, Consolas, monospace", SANS = "system-ui, Helvetica, Arial, sans-serif";
// pixels = place * scale + shift.
let sx = 10, sy = 10, tx = 0, ty = 0, W = 0, H = 0, fitted = [10, 10];
let picked = -1, stage = -1, under = -1, cone = null, hits = new Uint8Array(n), only = false, colour = D.layers.length ? "layer" : "kind";
const px = i => X[i] * sx + tx, py = i => Y[i] * sy + ty;

const topDelay = most(O.d) || 1, topWidth = most(O.w) || 1, topFan = most(fanout) || 1;
// Most operations have less slack than this.
const ample = everything.map(slack).sort((a, b) => a - b)[Math.floor(n * 0.9)] || longest || 1;
const COLOURS = {
  kind: ["by kind", i => hue[O.k[i]]],
  delay: ["by own delay", i => heat(O.d[i] / topDelay), () => ["0", timed(topDelay)]],
  slack: ["by slack", i => heat(1 - slack(i) / ample), () => [`${timed(ample)} or more`, "0 (critical path)"]],
  width: ["by width", i => heat(O.w[i] / topWidth), () => ["0", `${topWidth} bits`]],
  fanout: ["by fan-out", i => heat(Math.log1p(fanout[i]) / Math.log1p(topFan)), () => ["0", `${topFan} readers`]],
};
if (D.layers.length) COLOURS.layer = ["by layer", i => O.y[i] < 0 ? C.soft : spread(O.y[i])];
const fill = i => COLOURS[colour][1](i);
const inStage = i => stage >= 0 && O.s[i] === stage;
const shown = i => !only || (cone ? i === picked || cone.side[i] > 0 : stage >= 0 ? inStage(i) : onPath[i] > 0);

function size() {
  const b = canvas.parentElement.getBoundingClientRect(), z = devicePixelRatio || 1;
  W = b.width; H = b.height;
  canvas.width = Math.round(W * z); canvas.height = Math.round(H * z);
  pen.setTransform(z, 0, 0, z, 0, 0);
}
function fit() {
  const low = $("legend").offsetHeight + 18;
  fitted = [Math.min(172, (W - 24) / (right + 0.9)), Math.min(96, Math.max(1, H - RULER - low - 8) / rows)];
  [sx, sy] = fitted;
  tx = 12 + 0.85 * sx; ty = RULER + 8;
  draw();
}
// The scale has a least and a greatest, and some of the drawing stays in sight.
function held_in_view() {
  sx = Math.min(Math.max(172, fitted[0]), Math.max(fitted[0] * 0.6, sx));
  sy = Math.min(Math.max(56, fitted[1]), Math.max(fitted[1] * 0.6, sy));
  tx = Math.min(W * 0.7, Math.max(W * 0.3 - right * sx, tx));
  ty = Math.min(RULER + (H - RULER) * 0.7, Math.max(RULER + (H - RULER) * 0.3 - rows * sy, ty));
}
function zoom(k, x, y) {
  const before = [sx, sy];
  sx *= k; sy *= k;
  const shift = [tx, ty];
  held_in_view();
  tx = x - (x - shift[0]) * sx / before[0]; ty = y - (y - shift[1]) * sy / before[1];
  held_in_view();
  draw();
}
function pan(dx, dy) { tx += dx; ty += dy; held_in_view(); draw(); }
function centre(i) {
  sx = Math.max(sx, 92); sy = Math.max(sy, 30); held_in_view();
  tx = W / 2 - X[i] * sx; ty = H / 2 - Y[i] * sy;
  draw();
}

// As much of a text as has room, and an ellipsis for the rest; nothing where not even two letters have. An index at the end stays.
function cut(text, room) {
  if (pen.measureText(text).width <= room) return text;
  const end = (/\[\d+\]$/.exec(text) || [""])[0], some = letters => `${text.slice(0, letters)}…${end}`;
  let low = 0, high = text.length - end.length;
  while (low < high) { const mid = (low + high + 1) >> 1; if (pen.measureText(some(mid)).width <= room) low = mid; else high = mid - 1; }
  return low < 2 ? "" : some(low);
}
function box() { return [Math.max(1.4, Math.min(0.8 * sx, 146)), Math.max(1.4, Math.min(0.7 * sy, 42))]; }
function wire(a, b, w, tip) {
  const x0 = px(a) + w / 2, y0 = py(a), x1 = px(b) - w / 2 - (tip ? 1 : 0), y1 = py(b), back = x1 < x0;
  const bend = back ? Math.min(90, 26 + Math.abs(y1 - y0) * 0.2) : Math.max(4, (x1 - x0) * 0.45);
  pen.beginPath(); pen.moveTo(x0, y0);
  if (back) {
    // A register loads what stands behind it: the wire goes round above or below.
    const round = (y0 + y1) / 2 + (y1 < y0 ? -1 : 1) * Math.min(60, 0.9 * sy + 8);
    pen.bezierCurveTo(x0 + bend, y0, x0 + bend, round, (x0 + x1) / 2, round);
    pen.bezierCurveTo(x1 - bend, round, x1 - bend, y1, x1, y1);
  } else pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  pen.stroke();
  if (!tip) return;
  pen.beginPath(); pen.moveTo(x1 + 1, y1); pen.lineTo(x1 - tip, y1 - tip * 0.55); pen.lineTo(x1 - tip, y1 + tip * 0.55); pen.closePath(); pen.fill();
}
function wires(list, w, tip, paintOf) {
  for (const [a, b, key] of list) {
    const [x, y] = [px(a), px(b)];
    if ((x < -w && y < -w) || (x > W + w && y > W + w)) continue;
    pen.strokeStyle = pen.fillStyle = paintOf(key);
    wire(a, b, w, tip);
  }
}
function columns() {
  for (const b of bounds) {
    const x0 = b.from * sx + tx, x1 = b.to * sx + tx;
    if (x1 < 0 || x0 > W) continue;
    if (b.stage % 2 === 0) { pen.fillStyle = C.band; pen.fillRect(x0, 0, x1 - x0, H); }
    if (b.stage === stage) { pen.globalAlpha = 0.1; pen.fillStyle = C.accent; pen.fillRect(x0, 0, x1 - x0, H); pen.globalAlpha = 1; }
  }
}
// Above the columns: their names where there is room, bars for their delays, register bits between them.
function ruler() {
  pen.globalAlpha = 1;
  pen.fillStyle = C.panel; pen.fillRect(0, 0, W, RULER - 1);
  pen.fillStyle = C.line; pen.fillRect(0, RULER - 1, W, 1);
  const top = most(D.columns.map((_, c) => columnDelay(c))) || 1;
  let free = -1e9;
  pen.textAlign = "left";
  for (const b of bounds) {
    const x0 = b.from * sx + tx, x1 = b.to * sx + tx, c = D.columns[b.stage];
    if (x1 < 0 || x0 > W) continue;
    const bar = 12 * columnDelay(b.stage) / top;
    pen.fillStyle = b.stage === stage ? C.accent : b.stage === longestColumn ? C.path : C.bar;
    if (bar) pen.fillRect(x0 + 1, RULER - 2 - bar, Math.max(1, x1 - x0 - 2), bar);
    pen.fillStyle = C.edge; pen.fillRect(Math.round(x1), 0, 1, RULER - 1);
    // A heading stays in sight with its column, and none is written over another.
    const left = Math.max(x0 + 5, 6), room = Math.min(x1, W) - left - 5;
    pen.font = `600 12px ${SANS}`;
    const title = pen.measureText(c.title).width <= room ? c.title : c.short;
    const wide = pen.measureText(title).width;
    if (left < free || (wide > room && x1 - x0 > 16) || wide > Math.max(room, 30)) continue;
    pen.fillStyle = C.ink; pen.fillText(title, left, 14);
    free = left + wide + 6;
    pen.font = `11px ${SANS}`; pen.fillStyle = C.soft;
    const notes = [c.delay ? timed(c.delay) : "", c.bits ? `${c.bits} FF` : ""].filter(Boolean);
    const whole = notes.join(" · "), first = c.delay ? rounded(c.delay) : "";
    const note = [whole, notes[0] || "", first].find(text => pen.measureText(text).width <= room);
    if (note) pen.fillText(note, left, 31);
  }
}
function mark(i, x, y, w, h, words) {
  const paper = fill(i), side = cone ? cone.side[i] : 0, round = Math.min(5, h / 4, w / 4);
  pen.fillStyle = paper;
  pen.beginPath();
  if (w > 5) pen.roundRect(x - w / 2, y - h / 2, w, h, round); else pen.rect(x - w / 2, y - h / 2, w, h);
  pen.fill();
  const ring = hits[i] && !cone ? C.hit : side === 1 ? C.before : side === 2 ? C.after : onPath[i] ? C.path : "";
  if (ring) { pen.strokeStyle = ring; pen.lineWidth = w > 14 ? 2.2 : w > 5 ? 1.4 : 0.9; pen.stroke(); }
  if (O.k[i] === held && w > 20 && h > 10) { pen.strokeStyle = inkOn(paper); pen.lineWidth = 1; pen.beginPath(); pen.moveTo(x - w / 2, y + h / 2 - 8); pen.lineTo(x - w / 2 + 6, y + h / 2 - 5); pen.lineTo(x - w / 2, y + h / 2 - 2); pen.stroke(); }
  if (!words) return;
  pen.fillStyle = inkOn(paper);
  if (w >= 74 && h >= 29) {
    pen.font = `600 12px ${MONO}`; pen.fillText(cut(name(i), w - 10), x, y - 6.5);
    pen.font = `10.5px ${SANS}`; pen.fillText(cut(`${kindOf(i)} ${short(i)}`, w - 10), x, y + 8);
    return;
  }
  pen.font = `${h >= 15 ? 11 : 9.5}px ${MONO}`;
  const text = cut(name(i), w - 4), whole = text === name(i) || w > 44;
  pen.fillText(whole ? text : symbol[O.k[i]], x, y + 0.5);
  // A port's or a register's own name goes below the box where it has no room inside.
  if (whole || /^(.*_)?v\d/.test(name(i)) || 0.3 * sy < 11) return;
  pen.font = `9.5px ${MONO}`; pen.fillStyle = C.soft;
  pen.fillText(cut(name(i), sx * 1.4), x, y + h / 2 + 8);
}
const short = i => `${O.g[i] ? "s" : "u"}${O.w[i]}.${O.f[i]}`;
function draw() {
  pen.globalAlpha = 1;
  pen.fillStyle = C.ground; pen.fillRect(0, 0, W, H);
  pen.textBaseline = "middle";
  columns();
  const [w, h] = box(), seen = [];
  for (let i = 0; i < n; i++) { if (!shown(i)) continue; const x = px(i), y = py(i); if (x > -w && x < W + w && y > RULER - h && y < H + h) seen.push(i); }
  // Wires of what is seen, if they are few; of what is selected, always.
  const tip = w > 16 ? Math.min(6, w / 5) : 0;
  pen.globalAlpha = cone || stage >= 0 ? 0.35 : 1;
  pen.lineWidth = w > 30 ? 1.1 : 0.7;
  if (seen.length < 3000) {
    const all = [];
    for (const i of seen) for (let k = O.p[i]; k < O.p[i + 1]; k++) if (shown(O.a[k])) all.push([O.a[k], i]);
    wires(all, w, all.length < 2500 ? tip : 0, () => C.wire);
  }
  pen.globalAlpha = cone ? 0.5 : 1;
  pen.lineWidth = 1.7;
  if (!only || !cone) for (const path of D.paths) wires(path.slice(1).map((v, k) => [path[k], v]), w, tip, () => C.path);
  pen.globalAlpha = 1;
  if (cone && cone.wires.length < 20000) {
    pen.lineWidth = cone.wires.length > 3000 ? 0.7 : 1.2;
    wires(cone.wires, w, cone.wires.length < 3000 ? tip : 0, key => key === 1 ? C.before : C.after);
    pen.lineWidth = 2.4;
    wires(cone.wires.filter(([a, b]) => a === picked || b === picked), w, tip && tip + 1, key => key === 1 ? C.before : C.after);
  }
  if (under >= 0 && under !== picked) { pen.lineWidth = 1.8; wires(operands(under).map(v => [v, under, 1]).concat(readers(under).map(v => [under, v, 2])), w, tip, key => key === 1 ? C.before : C.after); }
  const words = w >= 13 && h >= 9;
  pen.textAlign = "center";
  for (const i of seen) {
    pen.globalAlpha = cone && !cone.side[i] && i !== picked ? 0.2 : !cone && stage >= 0 && !inStage(i) ? 0.3 : 1;
    mark(i, px(i), py(i), w, h, words);
  }
  pen.globalAlpha = 1;
  if (picked >= 0) { pen.strokeStyle = C.pick; pen.lineWidth = 2.5; pen.beginPath(); pen.roundRect(px(picked) - w / 2 - 3.5, py(picked) - h / 2 - 3.5, w + 7, h + 7, 7); pen.stroke(); }
  ruler();
}
// The operation under a place of the canvas, or -1.
function at(x, y) {
  if (y < RULER) return -1;
  let best = -1, d = 8 * 8;
  const [w, h] = box().map(v => Math.max(4, v / 2));
  for (let i = 0; i < n; i++) {
    if (!shown(i)) continue;
    const dx = Math.max(0, Math.abs(px(i) - x) - w), dy = Math.max(0, Math.abs(py(i) - y) - h), e = dx * dx + dy * dy;
    if (e < d) { d = e; best = i; if (!e) break; }
  }
  return best;
}
const columnAt = x => { const b = bounds.find(b => x >= b.from * sx + tx && x < b.to * sx + tx); return b ? b.stage : -1; };
