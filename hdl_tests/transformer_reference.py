"""Random transformer blocks of IR v2 with exact outputs, evaluated in fractions straight from the contract.

It shares nothing with the program: exponentials, logarithms, sines and cosines are those of `decimal` and of a Taylor series with
ninety digits. Usage: transformer_reference.py FOLDER SEED COUNT writes COUNT folders with net.json, quant.json, weights, inputs.npy,
outputs.npy and meta.json, as in tests/data/network/transformer.
"""

import decimal
import json
import math
import random
import struct
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

decimal.getcontext().prec = 90
ROUNDS = ["TRN", "TRN_ZERO", "RND", "RND_CONV", "RND_INF", "RND_ZERO", "RND_MIN_INF"]
OVERFLOWS = ["WRAP", "SAT", "SAT_SYM", "SAT_ZERO"]
HALF = Fraction(1, 2)


# --- Section 1: types, rounding, overflow -------------------------------------------------------------------------


def parse_type(text):
    """(signed, width, fractional bits) of `s8.5` or [k, i, f]."""
    if isinstance(text, str):
        width, frac = text[1:].split(".")
        return text[0] == "s", int(width), int(frac)
    k, i, f = text
    return bool(k), k + i + f, f


def codes(kind):
    signed, width, _ = kind
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


def rounded(x, mode):
    floor = math.floor(x)
    up, down = math.floor(x + HALF), math.ceil(x - HALF)
    if mode == "TRN":
        return floor
    if mode == "TRN_ZERO":
        return floor if x >= 0 else math.ceil(x)
    if mode == "RND":
        return up
    if mode == "RND_MIN_INF":
        return down
    if mode == "RND_CONV":
        return up if up % 2 == 0 else down
    away = mode == "RND_INF"
    return up if (x >= 0) == away else down


def overflowed(c, kind, mode):
    low, high = codes(kind)
    if mode == "SAT_SYM" and kind[0]:
        low = -high
    if low <= c <= high:
        return c
    if mode == "WRAP":
        c &= (1 << kind[1]) - 1
        return c - (1 << kind[1]) if kind[0] and c >> (kind[1] - 1) else c
    if mode == "SAT_ZERO":
        return 0
    return low if c < low else high


def quantise(x, record):
    if record["type"] == "exact":
        return x
    kind = parse_type(record["type"])
    c = overflowed(rounded(x * Fraction(2) ** kind[2], record["round"]), kind, record["overflow"])
    return Fraction(c) / Fraction(2) ** kind[2]


def largest(record):
    kind = parse_type(record["type"])
    return Fraction(codes(kind)[1]) / Fraction(2) ** kind[2]


def irrational(x, record):
    """quantise of a Decimal with ninety digits that is no tie; twenty digits have to remain beyond the step."""
    value = Fraction(x)
    kind = parse_type(record["type"])
    scaled = value * Fraction(2) ** kind[2]
    error = Fraction(1, 10**30) * max(1, abs(scaled))
    assert rounded(scaled - error, record["round"]) == rounded(scaled + error, record["round"]), "too near a step"
    return quantise(value, record)


def exp(x, record):
    if x == 0:
        return quantise(Fraction(1), record)
    return irrational((Decimal(x.numerator) / Decimal(x.denominator)).exp(), record)


def silu(x, record):
    if x == 0:
        return quantise(Fraction(0), record)
    d = Decimal(x.numerator) / Decimal(x.denominator)
    return irrational(d / (1 + (-d).exp()), record)


def inverse(x, record):
    return largest(record) if x == 0 else quantise(1 / x, record)


def inverse_root(x, record):
    if x <= 0:
        return largest(record)
    num, den = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if num * num == x.numerator and den * den == x.denominator:
        return quantise(Fraction(den, num), record)
    return irrational(1 / (Decimal(x.numerator) / Decimal(x.denominator)).sqrt(), record)


def pi():
    def arctan_inverse(n):
        power, total, k = Decimal(1) / n, Decimal(0), 0
        while abs(power) > Decimal(10) ** -95:
            total += power / (2 * k + 1)
            power, k = -power / (n * n), k + 1
        return total

    return 16 * arctan_inverse(5) - 4 * arctan_inverse(239)


PI = pi()


def cos_sin(angle):
    angle = angle % (2 * PI)
    cos, sin, term, k = Decimal(0), Decimal(0), Decimal(1), 0
    while k < 200:
        cos, sin = cos + (term if k % 4 == 0 else -term if k % 4 == 2 else 0), sin + (
            term if k % 4 == 1 else -term if k % 4 == 3 else 0
        )
        k += 1
        term = term * angle / k
    return cos, sin


def rotation(position, theta, pair, head_dim, record):
    if position == 0:
        return quantise(Fraction(1), record), quantise(Fraction(0), record)
    exponent = Decimal(-2 * pair) / Decimal(head_dim)
    cos, sin = cos_sin(Decimal(position) * (exponent * theta.ln()).exp())
    return irrational(cos, record), irrational(sin, record)


# --- Section 2: the quantisation file -----------------------------------------------------------------------------


def merged(*records):
    result = {}
    for record in records:
        result.update(record or {})
    return result


class Quant:
    def __init__(self, file):
        self.file = file
        default = file["default"]
        weight = {"round": "RND_CONV", "overflow": "SAT"}
        self.weight = merged(weight, default.get("weight"))
        self.bias = merged(self.weight, default.get("bias"))
        self.activation = merged({"type": "exact", "round": "TRN", "overflow": "WRAP"}, default.get("activation"))
        self.table = merged(weight, default.get("table"))

    def buffer(self, layer, name, base):
        own = self.file.get("buffers", {})
        return merged(base, own.get(f"{layer}:{name}", own.get(name)))

    def record(self, keys, name, inside=None):
        found = {}
        for key in keys:
            entry = self.file.get("nodes", {}).get(key, {})
            found = merged(found, (entry.get(inside, {}) if inside else entry).get(name))
        if name in ("exp", "inverse", "table"):
            return merged(self.table, found)
        base = dict(self.weight if name == "scale" else self.activation)
        if name == "difference":
            base["overflow"] = "SAT"
        assert "type" in found, name
        return merged(base, found)


# --- Section 2: operators -----------------------------------------------------------------------------------------


def softmax(row, record):
    most = max(row)
    e = [exp(quantise(s - most, record("difference")), record("exp")) for s in row]
    r = inverse(quantise(sum(e), record("sum")), record("inverse"))
    return [quantise(x * r, record("probability")) for x in e]


class Block:
    """A graph with its weights; buffers are lists by token of lists in row-major order of the other axes."""

    def __init__(self, net, quant, weights, tokens, offset):
        self.net, self.quant, self.weights, self.tokens, self.offset = net, Quant(quant), weights, tokens, offset
        self.values = {}
        self.sizes = {d["name"]: d["value"] for d in net["dimensions"]}
        self.buffers = {b["name"]: b for b in net["buffers"]}

    def shape(self, name):
        real = {"aligned_embed": "embed", "aligned_head": "head_dim", "aligned_intermediate": "intermediate"}
        return [
            self.sizes[real.get(e["dim"], e["dim"])] * e.get("mult", 1)
            for e in self.buffers[name]["shape"]
            if e["dim"] != "tokens"
        ]

    def weight(self, layer, name, base=None):
        record = self.quant.buffer(layer, name, base or self.quant.weight)
        return [quantise(w, record) for w in self.weights[name]]

    def bias(self, layer, name, size):
        if name not in self.weights:
            return [Fraction(0)] * size
        return self.weight(layer, name, self.quant.bias)

    def write(self, layer, name, rows):
        record = self.quant.buffer(layer, name, self.quant.activation)
        self.values[name] = [[quantise(x, record) for x in row] for row in rows]

    def run(self, node, nth):
        layer, op = node["layer"], node["op"]
        keys = [op, f"{layer}:{op}", f"{layer}:{op}:{nth}"]
        args = {b["arg"]: b["buffer"] for b in node["bindings"]}
        value = lambda arg: self.values[args[arg]]
        record = lambda name: self.quant.record(keys, name)
        if op == "embedding":
            weight = self.weight(layer, args["weight"])
            width = len(weight) // self.sizes["vocab"]
            rows = []
            for t, (i,) in enumerate(value("tokens")):
                row = weight[int(i) * width : int(i) * width + width] if i < self.sizes["vocab"] else [Fraction(0)] * width
                if "pos_emb" in self.weights:
                    first = (self.offset + t) * width
                    row = [a + b for a, b in zip(row, self.weight(layer, "pos_emb")[first : first + width])]
                rows.append(row)
            self.write(layer, args["out"], rows)
        elif op == "rope":
            table, theta = record("table"), Decimal(self.net["config"]["rope_theta"])
            for arg in ("q", "k"):
                head_dim = self.shape(args[arg])[-1]
                half, rows = head_dim // 2, []
                for t, x in enumerate(value(arg)):
                    row = list(x)
                    for start in range(0, len(x), head_dim):
                        for i in range(half):
                            c, s = rotation(self.offset + t, theta, i, head_dim, table)
                            a, b = x[start + i], x[start + half + i]
                            row[start + i], row[start + half + i] = a * c - b * s, a * s + b * c
                    rows.append(row)
                self.write(layer, args[arg], rows)
        elif op == "attention":
            (heads, dim), (groups, values) = self.shape(args["q"]), self.shape(args["v"])
            if "scale" in self.quant.file["nodes"].get(op, {}):
                kappa = inverse_root(Fraction(dim), record("scale"))
            else:
                kappa = Fraction(1, math.isqrt(dim))
            kernel = node["kernel"]
            causal = "causal" in kernel and "noncausal" not in kernel and "non_causal" not in kernel
            q, k, v = value("q"), value("k"), value("v")
            rows = [[] for _ in q]
            for h in range(heads):
                g = h * groups // heads
                for i in range(len(q)):
                    seen = range(i + 1) if causal else range(len(q))
                    dot = lambda j: sum(q[i][h * dim + d] * k[j][g * dim + d] for d in range(dim))
                    p = softmax([quantise(kappa * dot(j), record("score")) for j in seen], record)
                    rows[i] += [sum(p[j] * v[j][g * values + d] for j in seen) for d in range(values)]
            self.write(layer, args["attn_out"], rows)
        elif op == "softmax":
            x, y = args["x"], args["y"]
            if self.buffers[x]["shape"][-1]["dim"] == "tokens":
                columns = zip(*[softmax(list(row), record) for row in zip(*self.values[x])])
                self.write(layer, y, [list(column) for column in columns])
            else:
                size = self.shape(x)[-1]
                split = lambda row: [row[k : k + size] for k in range(0, len(row), size)]
                self.write(layer, y, [sum((softmax(part, record) for part in split(row)), []) for row in self.values[x]])
        elif op in ("rmsnorm", "layernorm"):
            gamma = self.weight(layer, args["gamma"])
            beta = self.bias(layer, args.get("beta"), len(gamma))
            eps = Fraction(self.net["config"].get("rms_norm_eps", "1e-6"))
            square, table = (self.quant.record(keys, name, "rstd") for name in ("mean_square", "table"))
            rows = []
            for x in value("input"):
                mean = sum(x) / len(x) if op == "layernorm" else 0
                ms = quantise(sum((a - mean) ** 2 for a in x) / len(x), square)
                rstd = inverse_root(ms + eps, table)
                rows.append([(a - mean) * g * rstd + b for a, g, b in zip(x, gamma, beta)])
            self.write(layer, args["out"], rows)
        elif op == "swiglu":
            half = lambda x: len(x) // 2
            table = record("table")
            rows = [[silu(x[j], table) * x[half(x) + j] for j in range(half(x))] for x in value("fc1_out")]
            self.write(layer, args["swiglu_out"], rows)
        elif op == "residual_add":
            self.write(layer, args["out"], [[a + b for a, b in zip(x, y)] for x, y in zip(value("a"), value("b"))])
        elif op == "attn_proj":
            heads, embed, dim = self.shape(args["wo"])
            w, b = self.weight(layer, args["wo"]), self.bias(layer, args.get("bo"), embed)
            rows = [
                [
                    b[e] + sum(w[(h * embed + e) * dim + d] * x[h * dim + d] for h in range(heads) for d in range(dim))
                    for e in range(embed)
                ]
                for x in value("attn_out")
            ]
            self.write(layer, args["proj_tmp"], rows)
        else:
            names = {
                "qkv_project": [("input", "wq", "bq", "q"), ("input", "wk", "bk", "k"), ("input", "wv", "bv", "v")],
                "mlp_up": [("input", "w1", "b1", "fc1_out")],
                "mlp_down": [("swiglu_out", "w2", "b2", "mlp_out")],
                "lm_head": [("input", "weight", "bias", "out")],
            }[op]
            for x, w, b, y in names:
                size = math.prod(self.shape(args[y]))
                w, b = self.weight(layer, args[w]), self.bias(layer, args.get(b), size)
                rows = [
                    [b[o] + sum(w[o * len(x) + i] * x[i] for i in range(len(x))) for o in range(size)] for x in value(x)
                ]
                self.write(layer, args[y], rows)


# --- Random blocks ------------------------------------------------------------------------------------------------


def write_npy(path, rows):
    shape = f"({len(rows)}, {len(rows[0])})" if rows and isinstance(rows[0], list) else f"({len(rows)},)"
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    flat = [x for row in rows for x in row] if rows and isinstance(rows[0], list) else rows
    data = struct.pack(f"<{len(flat)}d", *map(float, flat))
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def write_tensor(path, shape, flat):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "".join(f"{n}, " for n in shape) + "), }"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    data = struct.pack(f"<{len(flat)}d", *map(float, flat))
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


RESULTS = {
    "rope": ["q", "k"],
    "qkv_project": ["q", "k", "v"],
    "attention": ["attn_out"],
    "attn_proj": ["proj_tmp"],
    "mlp_up": ["fc1_out"],
    "swiglu": ["swiglu_out"],
    "mlp_down": ["mlp_out"],
    "softmax": ["y"],
}
READS = {
    "rope": ["q", "k"],
    "attention": ["q", "k", "v"],
    "softmax": ["x"],
    "embedding": ["tokens"],
    "residual_add": ["a", "b"],
    "attn_proj": ["attn_out"],
    "swiglu": ["fc1_out"],
    "mlp_down": ["swiglu_out"],
}


def ports(net):
    """Names of the inputs in the order of their first reading, and of the outputs in the order of their last writing."""
    inputs, state = [], {}
    for k, node in enumerate(net["nodes"]):
        args = {b["arg"]: b["buffer"] for b in node["bindings"]}
        for arg in READS.get(node["op"], ["input"]):
            name = args[arg]
            if name == "input" and name not in state and "embedded_input" in state:
                name = "embedded_input"
            if name in state:
                state[name] = (state[name][0], True)
            elif name not in inputs:
                inputs.append(name)
        for place, arg in enumerate(RESULTS.get(node["op"], ["out"])):
            state[args[arg]] = ((k, place), False)
    outputs = [name for name, (_, read) in sorted(state.items(), key=lambda item: item[1][0]) if not read]
    return inputs, outputs


class Maker:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        d = self.dice
        self.tokens, self.offset = d.choice([1, 2, 3, 3, 4]), d.choice([0, 0, 1, 3, 100, 4096])
        self.heads = d.choice([1, 2, 2, 3, 4])
        self.groups = d.choice([g for g in range(1, self.heads + 1)])
        self.dims = {
            "tokens": 16,
            "embed": d.choice([2, 3, 4, 5, 6]),
            "head_dim": d.choice([2, 2, 4, 4, 6]),
            "num_heads": self.heads,
            "num_kv_heads": self.groups,
            "intermediate": d.choice([1, 2, 3]),
            "vocab": d.choice([1, 2, 3, 5, 8, 9]),
        }
        self.buffers, self.nodes, self.weights, self.quant_nodes = [], [], {}, {}
        self.head_major = d.random() < 0.7

    def buffer(self, name, role, dims, scope="layer", condition=None):
        if all(b["name"] != name for b in self.buffers):
            shape = [{"dim": e} if isinstance(e, str) else {"dim": e[0], "mult": e[1]} for e in dims]
            self.buffers.append(
                {"name": name, "scope": scope, "role": role, "dtype": "fp32", "shape": shape, "condition": condition}
            )

    def weight(self, name, dims, scale=1.0, present=1.0, scope="layer", condition=None):
        self.buffer(name, "weight", dims, scope, condition)
        if self.dice.random() < present:
            size = [self.dims[e] if isinstance(e, str) else self.dims[e[0]] * e[1] for e in dims]
            self.weights[name] = (size, [self.dice.gauss(0, scale) for _ in range(math.prod(size))])

    def node(self, layer, op, kernel=None, **args):
        bindings = [{"arg": arg, "buffer": buffer} for arg, buffer in args.items()]
        self.nodes.append({"layer": layer, "op": op, "kernel": kernel or f"{op}_forward", "bindings": bindings})

    def modes(self, overflow=None):
        d = self.dice
        return {"round": d.choice(ROUNDS), "overflow": overflow or d.choice(OVERFLOWS + ["SAT"] * 4)}

    def record(self, signed, widths, fracs, **more):
        d = self.dice
        width = d.choice(widths)
        entry = {"type": f"{'s' if signed else 'u'}{width}.{d.choice(fracs)}", **self.modes(), **more}
        for key in ("round", "overflow"):
            if d.random() < 0.15:
                del entry[key]
        return entry

    def softmax_records(self):
        d = self.dice
        return {
            "difference": self.record(True, [6, 8, 9], [3, 4, 5], overflow=d.choice(["SAT", "SAT", "SAT_SYM", "SAT_ZERO"])),
            "exp": self.record(False, [5, 8, 9], [4, 7, 8]),
            "sum": self.record(False, [8, 10, 11], [5, 7, 8]),
            "inverse": self.record(False, [9, 12], [8, 11]),
            "probability": d.choice([self.record(False, [7, 8, 9], [6, 8]), {"type": "exact"}]),
        }

    def norm(self, layer, x, y):
        op = self.dice.choice(["rmsnorm", "layernorm"])
        nth = sum(n["op"] == op and n["layer"] == layer for n in self.nodes)
        self.weight(f"{y}_gamma", ["embed"], 1.0)
        self.weight(f"{y}_beta", ["embed"], 0.5, 0.5)
        self.buffer(f"{y}_rstd", "activation", ["tokens"])
        self.buffer(y, "activation", ["tokens", "embed"])
        args = {"input": x, "gamma": f"{y}_gamma", "out": y, "rstd": f"{y}_rstd"}
        if self.dice.random() < 0.7:
            args["beta"] = f"{y}_beta"
        self.node(layer, op, **args)
        records = {"mean_square": self.record(False, [8, 10, 12], [3, 5, 7]), "table": self.record(False, [8, 10, 12], [4, 6, 8])}
        self.quant_nodes[self.dice.choice([op, f"{layer}:{op}", f"{layer}:{op}:{nth}"])] = {"rstd": records}
        self.quant_nodes.setdefault(op, {"rstd": records})

    def by_head(self, name, heads, role="activation"):
        self.buffer(name, role, [heads, "tokens", "head_dim"] if self.head_major else ["tokens", heads, "head_dim"])

    def attention(self, layer):
        d = self.dice
        for name, heads in (("q", "num_heads"), ("k", "num_kv_heads"), ("v", "num_kv_heads"), ("attn_out", "num_heads")):
            self.by_head(name, heads)
        self.buffer("scores", "activation", ["num_heads", "tokens", "tokens"], condition="training_enabled")
        kernel = d.choice(["attention_forward_causal_head_major_gqa", "attention_forward", "attention_noncausal"])
        self.node(layer, "attention", kernel, q="q", k="k", v="v", scores="scores", attn_out="attn_out")
        score = d.choice([self.record(True, [8, 10], [3, 5, 6])] * 3 + [{"type": "exact"}])
        self.quant_nodes["attention"] = {"score": score, **self.softmax_records()}
        if self.dims["head_dim"] != 4 or d.random() < 0.5:
            self.quant_nodes["attention"]["scale"] = self.record(False, [7, 8], [7, 8])

    def block(self, layer):
        d = self.dice
        self.buffer("input", "input", ["tokens", "embed"])
        x = "input"
        if d.random() < 0.7:
            self.norm(layer, "input", "ln1_out")
            x = "ln1_out"
        args = {"input": x}
        for name, heads in (("q", "num_heads"), ("k", "num_kv_heads"), ("v", "num_kv_heads")):
            self.weight(f"w{name}", [heads, "head_dim", "embed"], 0.8)
            self.weight(f"b{name}", [heads, "head_dim"], 0.5, 0.4)
            self.by_head(name, heads)
            args |= {f"w{name}": f"w{name}", f"b{name}": f"b{name}", name: name}
        self.node(layer, "qkv_project", **args)
        if d.random() < 0.7:
            self.node(layer, "rope", "rope_forward_qk", q="q", k="k")
            self.quant_nodes["rope"] = {"table": self.record(True, [7, 8, 9], [6, 7])}
        self.attention(layer)
        self.weight("wo", ["num_heads", "embed", "head_dim"], 0.8)
        self.weight("bo", ["embed"], 0.5, 0.5)
        self.buffer("proj_tmp", "activation", ["tokens", "embed"])
        self.node(layer, "attn_proj", attn_out="attn_out", wo="wo", bo="bo", proj_tmp="proj_tmp")
        self.buffer("residual1", "activation", ["tokens", "embed"])
        self.node(layer, "residual_add", a="input", b="proj_tmp", out="residual1")
        x = "residual1"
        if d.random() < 0.5:
            self.norm(layer, x, "ln2_out")
            x = "ln2_out"
        if d.random() < 0.5:
            self.weight("w1", [("intermediate", 2), "embed"], 0.8)
            self.buffer("fc1_out", "activation", ["tokens", ("intermediate", 2)])
            self.buffer("swiglu_out", "activation", ["tokens", "intermediate"])
            self.weight("w2", ["embed", "intermediate"], 0.8)
            self.buffer("mlp_out", "activation", ["tokens", "embed"])
            self.node(layer, "mlp_up", input=x, w1="w1", fc1_out="fc1_out")
            self.node(layer, "swiglu", fc1_out="fc1_out", swiglu_out="swiglu_out")
            self.node(layer, "mlp_down", swiglu_out="swiglu_out", w2="w2", mlp_out="mlp_out")
            self.quant_nodes["swiglu"] = {"table": self.record(True, [8, 9], [5, 6])}
            x = "mlp_out"
        self.buffer("output", "output", ["tokens", "embed"])
        self.node(layer, "residual_add", a="residual1", b=x, out="output")

    def embedding(self, out):
        d = self.dice
        self.weight("token_emb", ["vocab", "embed"], 1.0, scope="global")
        self.buffer("tokens", "input", ["tokens"], "global")
        positions = d.random() < 0.5
        if positions:
            self.offset = d.choice([0, 3, 16 - self.tokens])
        self.weight("pos_emb", ["tokens", "embed"], 0.7, 1.0 if positions else 0.0, "global", d.choice([None, "has_pos_emb"]))
        self.buffer(out, "activation", ["tokens", "embed"], "global")
        self.node(-1, "embedding", tokens="tokens", weight="token_emb", out=out)

    def make(self):
        d = self.dice
        kind = d.choice(["block", "block", "attention", "rope", "norm", "softmax", "embedding", "model"])
        if kind == "block":
            self.block(0)
        elif kind == "norm":
            self.buffer("input", "input", ["tokens", "embed"])
            self.norm(0, "input", "ln1_out")
        elif kind == "softmax":
            self.buffer("x", "input", d.choice([["tokens", "vocab"], ["num_heads", "tokens"], ["num_heads", "tokens", "embed"]]))
            self.buffer("y", "output", [e["dim"] for e in self.buffers[-1]["shape"]])
            self.node(0, "softmax", x="x", y="y")
            self.quant_nodes["softmax"] = self.softmax_records()
        elif kind in ("attention", "rope"):
            if kind == "rope":
                self.by_head("q", "num_heads"), self.by_head("k", "num_kv_heads")
                self.node(0, "rope", q="q", k="k")
                self.quant_nodes["rope"] = {"table": self.record(True, [7, 8, 9], [6, 7])}
            if kind == "attention" or d.random() < 0.5:
                self.attention(0)
        else:
            self.embedding("embedded_input")
            if kind == "model":
                self.block(0)
                self.weight("lm_head_weight", ["vocab", "embed"], 0.8, scope="global")
                self.buffer("logits", "output", ["tokens", "vocab"], "global")
                self.node(-1, "lm_head", input="output", weight="lm_head_weight", out="logits")
        net = {
            "version": 2,
            "config": {"rope_theta": d.choice(["10000", "10000.0", "100", "2.5", "0.7"])},
            "dimensions": [{"name": name, "value": value} for name, value in self.dims.items()],
            "buffers": self.buffers,
            "nodes": self.nodes,
        }
        if d.random() < 0.8:
            net["config"]["rms_norm_eps"] = d.choice(["1e-6", "0.5", "0.0", "1e-05", "-0.25"])
        quant = {
            "format": "alir2hdl-quant",
            "version": 1,
            "default": {
                "weight": {"type": d.choice(["s8.6", "s7.5"]), **self.modes()},
                "bias": {"type": d.choice(["s9.6", "s8.5"]), **self.modes()},
                "activation": {"type": d.choice(["s8.4", "s9.5", "s8.5"]), **self.modes()},
                "table": {"type": "s9.7", **self.modes()},
            },
            "nodes": self.quant_nodes,
        }
        return net, quant

    def places(self, block, name):
        """(token, element) of each element of a buffer in row-major order of its shape."""
        sizes, at = [], None
        for k, entry in enumerate(block.buffers[name]["shape"]):
            if entry["dim"] == "tokens":
                at = k
                sizes.append(self.tokens)
            else:
                sizes.append(self.dims[entry["dim"]] * entry.get("mult", 1))
        places = []
        for flat in range(math.prod(sizes)):
            index, rest = [], flat
            for size in reversed(sizes):
                index.append(rest % size)
                rest //= size
            index.reverse()
            token, element = index[at], 0
            for k, size in enumerate(sizes):
                if k != at:
                    element = element * size + index[k]
            places.append((token, element))
        return places


def dump(net):
    """JSON with the decimals of config as numbers."""
    text = json.dumps(net)
    for key in ("rope_theta", "rms_norm_eps"):
        if key in net["config"]:
            text = text.replace(f'"{key}": "{net["config"][key]}"', f'"{key}": {net["config"][key]}')
    return text


def case(folder, seed, samples=3):
    maker = Maker(seed)
    net, quant = maker.make()
    weights = {name: [Fraction(w) for w in flat] for name, (_, flat) in maker.weights.items()}
    block = Block(net, quant, weights, maker.tokens, maker.offset)
    names, outputs = ports(net)
    rows, results = [], []
    for sample in range(samples):
        block.values, row = {}, []
        for name in names:
            places = maker.places(block, name)
            own = [[None] * (len(places) // maker.tokens) for _ in range(maker.tokens)]
            for token, element in places:
                if name == "tokens":
                    bits = max(1, (maker.dims["vocab"] - 1).bit_length())
                    x = maker.dice.randrange(1 << bits) if sample else maker.dice.randrange(maker.dims["vocab"])
                    record = {"type": f"u{bits}.0", "round": "TRN", "overflow": "WRAP"}
                else:
                    # Wide, equal and off the grid.
                    x = maker.dice.choice([maker.dice.gauss(0, 2), 0.0, 1.0, maker.dice.gauss(0, 8)]) if sample else 0.75
                    record = block.quant.buffer(0, name, block.quant.activation)
                row.append(x)
                own[token][element] = quantise(Fraction(x), record)
            block.values[name] = own
        counts = {}
        for node in net["nodes"]:
            key = (node["layer"], node["op"])
            block.run(node, counts.get(key, 0))
            counts[key] = counts.get(key, 0) + 1
            if node["op"] == "embedding" and "input" in block.buffers:
                block.values["input"] = block.values["embedded_input"]
        result = []
        for name in outputs:
            result += [block.values[name][token][element] for token, element in maker.places(block, name)]
        rows.append(row)
        results.append(result)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.json").write_text(dump(net))
    (folder / "quant.json").write_text(json.dumps(quant))
    arguments = ["net.json", "--quant", "quant.json", "--tokens", str(maker.tokens), "--position-offset", str(maker.offset)]
    if maker.weights:
        (folder / "weights").mkdir(exist_ok=True)
        for name, (shape, flat) in maker.weights.items():
            write_tensor(folder / "weights" / f"{name}.npy", shape, flat)
        arguments += ["--weights", "weights"]
    write_npy(folder / "inputs.npy", rows)
    write_npy(folder / "outputs.npy", results)
    (folder / "meta.json").write_text(json.dumps({"arguments": arguments, "seed": seed, "ops": [n["op"] for n in net["nodes"]]}))


if __name__ == "__main__":
    target, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, first + count):
        case(target / f"case{seed}", seed)
