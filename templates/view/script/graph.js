// The graph: what is known of each operation, where it stands, and what depends on what.
const D = JSON.parse(document.getElementById("data").textContent), O = D.ops, n = O.k.length;
const name = i => O.n[i], kindOf = i => D.kinds[O.k[i]];
const operands = i => O.a.slice(O.p[i], O.p[i + 1]);
const most = list => list.reduce((a, b) => Math.max(a, b), 0);

// Readers of each operation, and outputs.
const rp = new Uint32Array(n + 1), r = new Uint32Array(O.a.length);
for (const v of O.a) rp[v + 1]++;
for (let i = 0; i < n; i++) rp[i + 1] += rp[i];
{ const at = rp.slice(); for (let i = 0; i < n; i++) for (let k = O.p[i]; k < O.p[i + 1]; k++) r[at[O.a[k]]++] = i; }
const readers = i => Array.from(new Set(r.subarray(rp[i], rp[i + 1])));
const fanout = Uint32Array.from({ length: n }, (_, i) => readers(i).length);
const outs = new Map();
D.outputs.forEach((v, j) => { if (v >= 0) outs.set(v, (outs.get(v) || []).concat(j)); });

// A register's value is there from the clock edge on: what it loads comes before that.
const held = D.kinds.indexOf("register");

// Time: when a value has come since the clock edge, and how much follows until the next one. A stage of a pipeline starts again.
const arrival = new Float64Array(n), tail = new Float64Array(n);
const together = (v, i) => O.k[i] !== held && v < i && (D.loops || O.s[v] === O.s[i]);
for (let i = 0; i < n; i++) {
  let before = 0;
  for (let k = O.p[i]; k < O.p[i + 1]; k++) if (together(O.a[k], i)) before = Math.max(before, arrival[O.a[k]]);
  arrival[i] = before + (O.k[i] === held ? 0 : O.d[i]);
}
for (let i = n - 1; i >= 0; i--)
  for (let k = O.p[i]; k < O.p[i + 1]; k++) { const v = O.a[k]; if (together(v, i)) tail[v] = Math.max(tail[v], tail[i] + O.d[i]); }
let longest = 0;
for (let i = 0; i < n; i++) longest = Math.max(longest, arrival[i] + tail[i]);
// On a device paths take less than the sum of their operations: carry chains overlap.
if (D.arrival) arrival.set(D.arrival);
const slack = i => D.slack ? D.slack[i] : longest - arrival[i] - tail[i];
// Four significant digits; nanoseconds are rounded up, as the command line prints them.
const figure = x => String(Number.isInteger(x) ? x : Number(x.toPrecision(4)));
const above = x => { const near = Number(x.toPrecision(4)); return near >= x - 1e-12 * x ? String(near) : figure(near + 10 ** (Math.floor(Math.log10(near)) - 3)); };
const rounded = D.unit === "ns" ? above : figure;
const timed = x => D.unit ? `${rounded(x)} ${D.unit}` : rounded(x);

// Places: a column a stage, inside it a step for each level of logic, long steps in several files.
const depth = new Uint32Array(n), X = new Float32Array(n), Y = new Float32Array(n);
const rows = Math.max(6, Math.ceil(Math.sqrt(n) * 0.8)), bounds = [];
{
  const level = new Uint32Array(n), step = new Map();
  for (let i = 0; i < n; i++) {
    let l = 0, d = 0;
    for (let k = O.p[i]; k < O.p[i + 1]; k++) {
      const v = O.a[k];
      if (v >= i || O.k[i] === held) continue;
      d = Math.max(d, depth[v] + 1);
      if (O.s[v] === O.s[i]) l = Math.max(l, level[v] + 1);
    }
    level[i] = l; depth[i] = d;
    const key = O.s[i] * 1e6 + l;
    if (!step.has(key)) step.set(key, []);
    step.get(key).push(i);
  }
  let x = 0, last = -1;
  for (const key of Array.from(step.keys()).sort((a, b) => a - b)) {
    const stage = Math.floor(key / 1e6), here = step.get(key);
    if (stage !== last) {
      if (last >= 0) { bounds[bounds.length - 1].to = x - 0.2; x += 1; }
      bounds.push({ stage, from: x - 0.8, to: x, ops: 0 }); last = stage;
    }
    bounds[bounds.length - 1].ops += here.length;
    const wish = new Map(here.map(i => { let s = 0, c = 0; for (let k = O.p[i]; k < O.p[i + 1]; k++) if (O.a[k] < i) { s += Y[O.a[k]]; c++; } return [i, c ? s / c : i * rows / n]; }));
    here.sort((a, b) => wish.get(a) - wish.get(b) || a - b);
    const files = Math.ceil(here.length / rows), high = Math.ceil(here.length / files);
    here.forEach((i, k) => { X[i] = x + k % files; Y[i] = (Math.floor(k / files) + 0.5) * rows / high; });
    x += files + 0.45;
  }
  if (bounds.length) bounds[bounds.length - 1].to = x - 0.2;
}
const right = bounds.length ? bounds[bounds.length - 1].to : 1;
const onPath = new Uint8Array(n);
for (const path of D.paths) for (const i of path) onPath[i] = 1;
const columnDelay = c => D.columns[c].delay || 0;
const longestColumn = D.columns.reduce((best, _, c) => columnDelay(c) > columnDelay(best) ? c : best, 0);

// Everything that `next` leads to from an operation, with the wires on the way.
function reach(start, next) {
  const seen = new Uint8Array(n), stack = [start], wires = [];
  let count = 0;
  while (stack.length) {
    const i = stack.pop();
    for (const v of next(i)) { wires.push([i, v]); if (!seen[v] && v !== start) { seen[v] = 1; count++; stack.push(v); } }
  }
  return { seen, count, wires };
}
