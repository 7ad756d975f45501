"""Writes a decoder of IR v2 with made-up weights: transformer_models.py FOLDER [--embed 16] [--heads 4] [--kv-heads 2]
[--tokens 4] [--layers 1] [--vocab 8] [--samples 8].

Without `--vocab` it is a stack of layers, with it a whole model (embedding, layers, norm, logits). A folder has net.json, weights,
quant.json and inputs.npy; `alir2hdl prove` takes the first three. The same arguments give the same bytes.
"""

import argparse
import json
import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples/transformer"))
from make_model import ATTENTION, bind, record, write_npy


BUFFERS = {
    "input": ("input", ["tokens", "embed"]),
    "ln1_gamma": ("weight", ["embed"]),
    "ln1_out": ("activation", ["tokens", "embed"]),
    "wq": ("weight", ["num_heads", "head_dim", "embed"]),
    "wk": ("weight", ["num_kv_heads", "head_dim", "embed"]),
    "wv": ("weight", ["num_kv_heads", "head_dim", "embed"]),
    "q": ("activation", ["num_heads", "tokens", "head_dim"]),
    "k": ("activation", ["num_kv_heads", "tokens", "head_dim"]),
    "v": ("activation", ["num_kv_heads", "tokens", "head_dim"]),
    "attn_out": ("activation", ["num_heads", "tokens", "head_dim"]),
    "wo": ("weight", ["num_heads", "embed", "head_dim"]),
    "proj_tmp": ("activation", ["tokens", "embed"]),
    "residual1": ("activation", ["tokens", "embed"]),
    "ln2_gamma": ("weight", ["embed"]),
    "ln2_out": ("activation", ["tokens", "embed"]),
    "w1": ("weight", ["gates", "embed"]),
    "fc1_out": ("activation", ["tokens", "gates"]),
    "swiglu_out": ("activation", ["tokens", "intermediate"]),
    "w2": ("weight", ["embed", "intermediate"]),
    "mlp_out": ("activation", ["tokens", "embed"]),
    "output": ("output", ["tokens", "embed"]),
}
LAYER = [
    *ATTENTION,
    ("residual_add", "", {"a": "input", "b": "proj_tmp", "out": "residual1"}),
    ("rmsnorm", "rmsnorm_forward", {"input": "residual1", "gamma": "ln2_gamma", "out": "ln2_out"}),
    ("mlp_up", "", {"input": "ln2_out", "w1": "w1", "fc1_out": "fc1_out"}),
    ("swiglu", "", {"fc1_out": "fc1_out", "swiglu_out": "swiglu_out"}),
    ("mlp_down", "", {"swiglu_out": "swiglu_out", "w2": "w2", "mlp_out": "mlp_out"}),
    ("residual_add", "", {"a": "residual1", "b": "mlp_out", "out": "output"}),
]
MODEL = {
    "tokens": ("input", ["tokens"]),
    "token_emb": ("weight", ["vocab", "embed"]),
    "embedded_input": ("activation", ["tokens", "embed"]),
    "final_gamma": ("weight", ["embed"]),
    "final_out": ("activation", ["tokens", "embed"]),
    "lm_head_weight": ("weight", ["vocab", "embed"]),
    "logits": ("output", ["tokens", "vocab"]),
}


def graph(a, sizes):
    def records(buffers, scope):
        return [record(name, scope, *found) for name, found in buffers.items()]

    nodes = [bind(layer, *entry) for layer in range(a.layers) for entry in LAYER]
    if a.vocab:
        nodes.insert(0, bind(-1, "embedding", "embedding_forward", {"tokens": "tokens", "weight": "token_emb", "out": "embedded_input"}))
        nodes.append(bind(-1, "rmsnorm", "rmsnorm_forward", {"input": "output", "gamma": "final_gamma", "out": "final_out"}))
        nodes.append(bind(-1, "lm_head", "gemm", {"input": "final_out", "weight": "lm_head_weight", "out": "logits"}))
    return {
        "version": 2,
        "config": {"rope_theta": 10000.0, "rms_norm_eps": 1e-5},
        "dimensions": [{"name": name, "value": value} for name, value in sizes.items()],
        "buffers": records(BUFFERS, "layer") + (records(MODEL, "global") if a.vocab else []),
        "nodes": nodes,
    }


def quantisation(head_dim):
    typed = lambda text: {"type": text}
    attention = {"score": typed("s9.5"), "difference": typed("s8.4"), "exp": typed("u8.7"), "sum": typed("u10.7")}
    attention |= {"inverse": typed("u9.8"), "probability": typed("u8.7")}
    if math.log(head_dim, 4) % 1:
        attention["scale"] = typed("u8.7")
    return {
        "format": "alir2hdl-quant",
        "version": 1,
        "default": {
            "weight": {"type": "s6.5", "round": "RND", "overflow": "SAT"},
            "activation": {"type": "s8.4", "round": "RND", "overflow": "SAT"},
            "table": {"type": "s8.5"},
        },
        "nodes": {
            "rope": {"table": typed("s8.6")},
            "attention": attention,
            "swiglu": {"table": typed("s8.4")},
            "rmsnorm": {"rstd": {"mean_square": typed("u10.4"), "table": typed("u8.5")}},
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, default in (("embed", 16), ("heads", 4), ("kv-heads", 2), ("tokens", 4), ("layers", 1), ("vocab", 0), ("samples", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    a = parser.parse_args()
    sizes = {"tokens": 16, "embed": a.embed, "head_dim": a.embed // a.heads, "num_heads": a.heads, "num_kv_heads": a.kv_heads}
    sizes |= {"intermediate": a.embed, "gates": 2 * a.embed, "vocab": max(a.vocab, 1)}
    dice = random.Random(f"{a.embed} {a.heads} {a.kv_heads} {a.layers} {a.vocab}")
    (a.folder / "weights").mkdir(parents=True, exist_ok=True)
    tensors = [(f"layers.{layer}.{name}", dims) for layer in range(a.layers) for name, (role, dims) in BUFFERS.items() if role == "weight"]
    tensors += [(name, dims) for name, (role, dims) in MODEL.items() if role == "weight" and a.vocab]
    for name, dims in tensors:
        shape = [sizes[dim] for dim in dims]
        spread = 0.3 if len(shape) == 1 else 0.7 if name == "token_emb" else 1.2 / math.sqrt(a.embed)
        middle = 0.7 if len(shape) == 1 else 0.0
        write_npy(a.folder / "weights" / f"{name}.npy", shape, [dice.gauss(middle, spread) for _ in range(math.prod(shape))])
    (a.folder / "net.json").write_text(json.dumps(graph(a, sizes)))
    (a.folder / "quant.json").write_text(json.dumps(quantisation(sizes["head_dim"])))
    if a.vocab:
        rows = [float(dice.randrange(a.vocab)) for _ in range(a.samples * a.tokens)]
        write_npy(a.folder / "inputs.npy", [a.samples, a.tokens], rows)
    else:
        rows = [dice.gauss(0, 2) for _ in range(a.samples * a.tokens * a.embed)]
        write_npy(a.folder / "inputs.npy", [a.samples, a.tokens * a.embed], rows)


if __name__ == "__main__":
    main()
