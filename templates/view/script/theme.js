// Colours, light and dark. The style sheet and the canvas take them from here.
const THEMES = {
  light: { ground: "#fafbfd", band: "#f1f4f8", panel: "#ffffff", ink: "#17202c", soft: "#566274", line: "#dbe1e9", edge: "#b3bdc9", accent: "#1d5fd1", bar: "#7ba3d4", wire: "#b9c3cf",
    path: "#d3203f", before: "#1d6fe0", after: "#d06a00", pick: "#0b1220", hit: "#8b2fd6", tip: "#17202c", "tip-ink": "#f4f7fb", veil: "#ffffffe8", picture: "none",
    low: [232, 238, 246], high: [178, 24, 43] },
  dark: { ground: "#0e1318", band: "#141b22", panel: "#161d25", ink: "#e5ebf2", soft: "#9aa8b8", line: "#28323d", edge: "#46525f", accent: "#78b0ff", bar: "#4a78ad", wire: "#3d4957",
    path: "#ff5d73", before: "#5fa8ff", after: "#ffa94a", pick: "#ffffff", hit: "#cf9bff", tip: "#e5ebf2", "tip-ink": "#10161c", veil: "#161d25e8", picture: "invert(0.9) hue-rotate(180deg)",
    low: [38, 48, 60], high: [255, 112, 96] },
};
// One colour a kind of operation, the same on every page: adders blue, multipliers magenta, tables orange, logic green, what costs nothing grey.
const HUES = { input: "#75879c", const: "#a39b93", wire: "#93a3b5", register: "#0f8a80", add: "#2f7fd8", sub: "#14a0bd", neg: "#63b8cf", add_const: "#7f9cf0", sum: "#4b55d6",
  mul: "#cf3fa4", mux: "#d99f0b", relu: "#8f62e6", quantise: "#b08ad0", lookup: "#ea7a1f", not: "#9cc46c", any: "#4fae63", all: "#2f9450", and: "#5fae3c", or: "#86b03a", xor: "#a9a92c" };
const SYMBOLS = { input: "in", const: "#", wire: "~", register: "D", add: "+", sub: "−", neg: "±", add_const: "+c", sum: "Σ", mul: "×", mux: "?:", relu: "R", quantise: "Q", lookup: "T",
  not: "!", any: "|*", all: "&*", and: "&", or: "|", xor: "^" };
const spread = k => `hsl(${(k * 137 + 210) % 360} 55% 55%)`;
const hue = D.kinds.map((kind, k) => HUES[kind] || spread(k));
const symbol = D.kinds.map(kind => SYMBOLS[kind] || kind.slice(0, 2));

let chosen = "", C = THEMES.light;
const system = matchMedia("(prefers-color-scheme: dark)");
function paint(choice) {
  chosen = choice;
  const dark = choice ? choice === "dark" : system.matches, root = document.documentElement;
  C = dark ? THEMES.dark : THEMES.light;
  root.dataset.theme = dark ? "dark" : "light";
  root.style.colorScheme = root.dataset.theme;
  for (const key of Object.keys(C)) if (typeof C[key] === "string") root.style.setProperty(`--${key}`, C[key]);
}
paint("");

// From the quiet colour to the loud one with a share from 0 to 1.
const heat = share => `rgb(${C.low.map((v, k) => Math.round(v + (C.high[k] - v) * Math.min(1, Math.max(0, share)))).join(" ")})`;
// Black or white, whichever can be read on a colour.
const inks = new Map();
const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
function inkOn(colour) {
  if (!inks.has(colour)) {
    probe.canvas.width = probe.canvas.height = 1;
    probe.fillStyle = colour; probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    inks.set(colour, 0.299 * red + 0.587 * green + 0.114 * blue > 135 ? "#0d141c" : "#ffffff");
  }
  return inks.get(colour);
}
