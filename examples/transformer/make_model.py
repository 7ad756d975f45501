"""A small transformer that tags jets: trained here, with nothing but the standard library, so that it is the same everywhere.

A jet is four particles with four features each. One decoder layer (norm, two heads of attention with rotary embeddings, residual) has random
projections; the linear read-out after it is trained by ridge regression on the layer's outputs at the last particle, which has attended to
all others. Usage: make_model.py FOLDER writes net.json, weights, samples and labels.
"""

import json
import math
import struct
import sys
from pathlib import Path

TOKENS, EMBED, HEADS, HEAD_DIM, CLASSES = 4, 4, 2, 2, 2


class Dice:
    """Numerical Recipes' generator: the same numbers in every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return (self.state + 0.5) / 2**32

    def normal(self):
        return sum(self.uniform() for _ in range(12)) - 6.0


def jet(dice, label):
    """Two prongs (signal) share the momentum and lie on both sides of the axis; one prong (background) has one hard particle."""
    rows = []
    split = 0.35 + 0.3 * dice.uniform()
    for k in range(TOKENS):
        hard = k < (2 if label else 1)
        pt = (2.0 * (split if k == 0 else 1 - split) if label else 1.6) if hard else 0.3 + 0.1 * dice.uniform()
        side = (1.0 if k % 2 == 0 else -1.0) * (0.8 if label else 0.25)
        rows.append([pt, side + 0.15 * dice.normal(), 0.2 * dice.normal(), 1.0 if hard else 0.1 * dice.normal()])
    order = sorted(range(TOKENS), key=lambda k: -rows[k][0])
    return [rows[k] for k in order]


def product(matrix, vector):
    return [sum(w * x for w, x in zip(row, vector)) for row in matrix]


def layer(weights, x):
    """The layer in binary64, for the training; `run --float` compares quantised hardware with it."""
    normed = []
    for row in x:
        rstd = 1 / math.sqrt(sum(a * a for a in row) / EMBED + 1e-5)
        normed.append([a * g * rstd for a, g in zip(row, weights["ln1_gamma"])])
    q, k, v = ([product(weights[name], row) for row in normed] for name in ("wq", "wk", "wv"))
    for rows in (q, k):
        for position, row in enumerate(rows):
            for head in range(HEADS):
                a, b = row[2 * head], row[2 * head + 1]
                c, s = math.cos(position), math.sin(position)
                row[2 * head], row[2 * head + 1] = a * c - b * s, a * s + b * c
    out = []
    for i in range(TOKENS):
        mixed = []
        for head in range(HEADS):
            at = slice(head * HEAD_DIM, (head + 1) * HEAD_DIM)
            scores = [sum(a * b for a, b in zip(q[i][at], k[j][at])) / math.sqrt(HEAD_DIM) for j in range(i + 1)]
            e = [math.exp(s - max(scores)) for s in scores]
            for d in range(HEAD_DIM):
                mixed.append(sum(p * v[j][head * HEAD_DIM + d] for j, p in enumerate(e)) / sum(e))
        out.append([a + b for a, b in zip(x[i], product(weights["wo"], mixed))])
    return out


def ridge(features, targets, strength):
    """The weights of a linear read-out, by the normal equations and elimination."""
    n = len(features[0])
    a = [[sum(f[i] * f[j] for f in features) + (strength if i == j else 0) for j in range(n)] for i in range(n)]
    b = [sum(f[i] * t for f, t in zip(features, targets)) for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            a[i] = [x - factor * y for x, y in zip(a[i], a[k])]
            b[i] -= factor * b[k]
    w = [0.0] * n
    for k in reversed(range(n)):
        w[k] = (b[k] - sum(a[k][j] * w[j] for j in range(k + 1, n))) / a[k][k]
    return w


def write_npy(path, shape, numbers):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "".join(f"{n}, " for n in shape) + "), }"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    data = struct.pack(f"<{len(numbers)}d", *numbers)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


# Operations of a norm and its attention: operation, kernel, buffer of each argument.
ATTENTION = [
    ("rmsnorm", "rmsnorm_forward", {"input": "input", "gamma": "ln1_gamma", "out": "ln1_out"}),
    ("qkv_project", "", {"input": "ln1_out", "wq": "wq", "wk": "wk", "wv": "wv", "q": "q", "k": "k", "v": "v"}),
    ("rope", "rope_forward_qk", {"q": "q", "k": "k"}),
    ("attention", "attention_forward_causal", {"q": "q", "k": "k", "v": "v", "attn_out": "attn_out"}),
    ("attn_proj", "", {"attn_out": "attn_out", "wo": "wo", "proj_tmp": "proj_tmp"}),
]


def record(name, scope, role, dims):
    """A buffer of an IR v2 graph."""
    return {"name": name, "scope": scope, "role": role, "dtype": "fp32", "shape": [{"dim": dim} for dim in dims]}


def bind(layer, op, kernel, args):
    """A node of an IR v2 graph."""
    return {"layer": layer, "op": op, "kernel": kernel, "bindings": [{"arg": arg, "buffer": buffer} for arg, buffer in args.items()]}


def graph():
    embed, heads = ["tokens", "embed"], lambda name: [name, "tokens", "head_dim"]
    weight = lambda *dims: ("weight", dims)
    value = lambda *dims: ("activation", dims)
    buffers = {
        "input": ("input", embed),
        "ln1_gamma": weight("embed"),
        "ln1_out": value(*embed),
        "wq": weight("num_heads", "head_dim", "embed"),
        "wk": weight("num_heads", "head_dim", "embed"),
        "wv": weight("num_heads", "head_dim", "embed"),
        "q": value(*heads("num_heads")),
        "k": value(*heads("num_heads")),
        "v": value(*heads("num_heads")),
        "attn_out": value(*heads("num_heads")),
        "wo": weight("num_heads", "embed", "head_dim"),
        "proj_tmp": value(*embed),
        "output": value(*embed),
    }
    nodes = ATTENTION + [("residual_add", "", {"a": "input", "b": "proj_tmp", "out": "output"})]
    sizes = {"tokens": TOKENS, "embed": EMBED, "head_dim": HEAD_DIM, "num_heads": HEADS, "num_kv_heads": HEADS, "classes": CLASSES}
    return {
        "version": 2,
        "config": {"rope_theta": 10000.0, "rms_norm_eps": 1e-5},
        "dimensions": [{"name": name, "value": value} for name, value in sizes.items()],
        "buffers": [record(name, "layer", role, dims) for name, (role, dims) in buffers.items()]
        + [
            record("head_weight", "global", "weight", ["classes", "embed"]),
            record("head_bias", "global", "weight", ["classes"]),
            record("logits", "global", "output", ["tokens", "classes"]),
        ],
        "nodes": [bind(0, *node) for node in nodes]
        + [bind(-1, "lm_head", "gemm", {"input": "output", "weight": "head_weight", "bias": "head_bias", "out": "logits"})],
    }


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    dice = Dice(2026)
    random = lambda rows, columns: [[dice.normal() / math.sqrt(columns) for _ in range(columns)] for _ in range(rows)]
    weights = {name: random(HEADS * HEAD_DIM, EMBED) for name in ("wq", "wk", "wv")}
    # Mild scores: every head looks at all particles.
    for name in ("wq", "wk"):
        weights[name] = [[0.4 * w for w in row] for row in weights[name]]
    weights["wo"] = random(EMBED, HEADS * HEAD_DIM)
    weights["ln1_gamma"] = [1.0] * EMBED
    labels = [k % 2 for k in range(600)]
    jets = [jet(dice, label) for label in labels]
    features = [layer(weights, x)[-1] + [1.0] for x in jets[:400]]
    heads = [ridge(features, [1.0 if label == c else -1.0 for label in labels[:400]], 0.1) for c in range(CLASSES)]
    tensors = {
        "layers.0.ln1_gamma": ([EMBED], weights["ln1_gamma"]),
        "head_weight": ([CLASSES, EMBED], [w for row in heads for w in row[:EMBED]]),
        "head_bias": ([CLASSES], [row[EMBED] for row in heads]),
        # wo[h][e][d] = the projection's row e, column h * head_dim + d.
        "layers.0.wo": (
            [HEADS, EMBED, HEAD_DIM],
            [weights["wo"][e][h * HEAD_DIM + d] for h in range(HEADS) for e in range(EMBED) for d in range(HEAD_DIM)],
        ),
    }
    for name in ("wq", "wk", "wv"):
        tensors[f"layers.0.{name}"] = ([HEADS, HEAD_DIM, EMBED], [w for row in weights[name] for w in row])
    (folder / "weights").mkdir(exist_ok=True)
    for name, (shape, numbers) in tensors.items():
        write_npy(folder / "weights" / f"{name}.npy", shape, numbers)
    (folder / "net.json").write_text(json.dumps(graph(), indent=1) + "\n")
    # Types are chosen on jets of the training, tested on others.
    for name, part in (("train", slice(0, 64)), ("test", slice(400, 600)), ("few", slice(400, 412))):
        flat = [a for x in jets[part] for row in x for a in row]
        write_npy(folder / f"{name}.npy", [len(labels[part]), TOKENS * EMBED], flat)
        (folder / f"{name}_labels.json").write_text(json.dumps(labels[part]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
