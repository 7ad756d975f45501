// Searches: what a text asks for, or what is wrong with it.
const FIELDS = {
  width: ["bits", i => O.w[i]], frac: ["fractional bits", i => O.f[i]], depth: ["operations deep", i => depth[i]], delay: ["", i => O.d[i]],
  slack: ["", slack], fanout: ["readers", i => fanout[i]], stage: ["", i => O.s[i]], line: ["", i => O.l[i]],
};
const COMPARE = { ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "=": (a, b) => a === b };
const everything = Array.from({ length: n }, (_, i) => i);
const plain = list => list.length < 2 ? list.join("") : `${list.slice(0, -1).join(", ")} and ${list[list.length - 1]}`;
const wrong = text => ({ error: text });

// The operations that a text asks for: `found`, with a `note` where there is something to say, or `error`.
function ask(text) {
  const t = text.trim().toLowerCase();
  if (!t) return { found: [] };
  const exact = everything.filter(i => name(i).toLowerCase() === t);
  if (exact.length) return { found: exact };
  let found = everything, note = "";
  for (const part of D.kinds.includes(t) ? [t] : t.split(/\s*(?:,|&&|\sand\s)\s*/)) {
    if (!part) return wrong("There is nothing on one side of a comma or “and”.");
    const answer = term(part);
    if (answer.error) return answer;
    found = found.filter(answer.test);
    note = note || answer.note || "";
  }
  return { found, note: found.length ? "" : note };
}
function term(t) {
  let m;
  if ((m = /^out(?:put)?s?\b\s*=?\s*\[?\s*([^\]]*?)\s*\]?$/.exec(t))) return output(m[1]);
  if ((m = /^stage\s+(\d+)$/.exec(t))) return field("stage", "=", m[1]);
  if ((m = /^([a-z][a-z_ ]*?)\s*(>=|<=|==|!=|=>|=<|<>|>|<|=)\s*(.*)$/.exec(t))) return m[1] === "layer" && D.layers.length ? layer(m[3]) : field(m[1], m[2], m[3]);
  if ((m = /^layer\s+(.+)$/.exec(t)) && D.layers.length) return layer(m[1]);
  if (t in FIELDS) return wrong(`“${t}” needs something to compare with, as in “${t} ${t === "stage" ? "2" : "> 12"}”.`);
  if ((m = /^([a-z]+)\s+(.+)$/.exec(t)) && m[1] in FIELDS) return field(m[1], "", m[2]);
  if (/[<>]/.test(t)) return wrong(`“${t}” is no comparison. One is a property, a sign and a number, as in “width > 12”.`);
  if (t === "longest" || t === "critical") return { test: i => onPath[i] > 0 };
  if (t === "signed" || t === "unsigned") return { test: i => Boolean(O.g[i]) === (t === "signed") };
  if (D.kinds.includes(t)) return { test: i => kindOf(i) === t };
  const part = i => name(i).toLowerCase().startsWith(t) || O.m[i].toLowerCase().includes(t);
  if ((m = /^v(\d+)$/.exec(t))) return { test: i => name(i).toLowerCase() === t || name(i).startsWith(`${t}.`), note: `${t} is not in the hardware: a pass removed or replaced it, or the program never had it.` };
  return { test: part, note: `No name begins with “${t}”, and no meaning has it in it. Kinds here: ${plain(D.kinds)}.` };
}
function field(key, sign, value) {
  if (!(key in FIELDS)) return wrong(`There is no “${key}” to compare. There are ${plain(Object.keys(FIELDS))}.`);
  if (!(sign in COMPARE)) return wrong(sign ? `“${sign}” is no comparison; use >, <, >=, <= or =.` : `A sign is missing between “${key}” and “${value}”: >, <, >=, <= or =.`);
  if (!/^-?\d+(\.\d+)?$/.test(value)) return wrong(value ? `“${value}” is no number; “${key} ${sign}” needs one, as in “${key} ${sign} 12”.` : `“${key} ${sign}” needs a number after it, as in “${key} ${sign} 12”.`);
  const [unit, of] = FIELDS[key], all = everything.map(of), k = Number(value);
  const least = all.reduce((a, b) => Math.min(a, b), Infinity);
  return { test: i => COMPARE[sign](of(i), k), note: `Here ${key} goes from ${figure(least)} to ${figure(most(all))}${unit && ` ${unit}`}.` };
}
function output(text) {
  if (!D.outputs.length) return wrong("There are no outputs.");
  const range = D.outputs.length === 1 ? "There is one output, “out 0”." : `Outputs are “out 0” to “out ${D.outputs.length - 1}”.`;
  if (!/^\d+$/.test(text)) return wrong(text ? `“${text}” is no number of an output. ${range}` : `Which output? ${range}`);
  if (Number(text) >= D.outputs.length) return wrong(`There is no output ${text}. ${range}`);
  const v = D.outputs[Number(text)];
  return { test: i => i === v, note: `Output ${text} is driven by no operation: it is constant.` };
}
function layer(text) {
  const t = text.trim(), ok = D.layers.map((l, k) => t === String(k) || l.toLowerCase().includes(t));
  if (!t || !ok.includes(true)) return wrong(`No layer has “${t}” in its name. Layers are 0 to ${D.layers.length - 1}; the first is “${D.layers[0]}”.`);
  return { test: i => O.y[i] >= 0 && (/^\d+$/.test(t) ? O.y[i] === Number(t) : ok[O.y[i]]) };
}
const EXAMPLES = [["v17", "the operation of that name"], [D.kinds.find(k => k !== "input") || "add", "every operation of a kind"], ["stage 2", "a column"], ["width > 12", `a comparison of ${plain(Object.keys(FIELDS))}`],
  ["out 0", "what drives an output"], ["longest", "the critical path of every column"], ["signed, width > 12, depth = 3", "all of these at once"]];
if (D.layers.length) EXAMPLES.push(["layer 1", "what a layer of the network became"]);
