"""What a user of the wheel does with networks and matrices; the argument is the folder of cases (tests/data/network)."""

import json
import pickle
import sys
from pathlib import Path

import numpy as np

import alir2hdl
from alir2hdl import Model

CASES = Path(sys.argv[1])


def refused(call, *words):
    try:
        call()
    except ValueError as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"{words} is not refused")


def golden(folder, model):
    """The case's samples give its golden outputs, also from a pickled copy."""
    x, y = np.load(folder / "inputs.npy"), np.load(folder / "outputs.npy")
    for one in (model, pickle.loads(pickle.dumps(model))):
        assert np.array_equal(one.predict(x), y), folder
    assert np.array_equal(model.predict(x[0]), y[0]), folder


# Every network of the tests, as its folder has it.
seen = 0
for folder in sorted((CASES / "ir").iterdir()) + sorted((CASES / "transformer").iterdir()) + sorted((CASES / "qonnx").iterdir()):
    meta = folder / "meta.json"
    words = iter(json.loads(meta.read_text())["arguments"] if meta.exists() else ["model.onnx"])
    source, given = folder / next(words), {}
    for word in words:
        key = word.removeprefix("--").replace("-", "_")
        value = next(words)
        if key in ("weights", "quant", "weight_map"):
            value = folder / value
        given.setdefault(key, []).append(value)
    given = {key: value if len(value) > 1 else value[0] for key, value in given.items()}
    if not (folder / "outputs.npy").exists():
        continue
    make = Model.from_onnx if source.suffix == ".onnx" else Model.from_network
    golden(folder, make(source, **given))
    seen += 1
assert seen >= 5, seen

# From memory: dicts and arrays, and whatever writes itself as ONNX does.
net = {
    "version": 2,
    "dimensions": [{"id": 1, "name": "embed", "value": 3}, {"id": 16, "name": "hid", "value": 2}],
    "buffers": [
        {"name": name, "scope": "global", "role": role, "dtype": "fp32", "shape": [{"dim": dim} for dim in dims]}
        for name, role, dims in [("x", "input", ["embed"]), ("w", "weight", ["hid", "embed"]), ("y", "output", ["hid"])]
    ],
    "nodes": [{"layer": 0, "op": "linear", "kernel": "linear", "bindings": [
        {"arg": "x", "buffer": "x"}, {"arg": "w", "buffer": "w"}, {"arg": "y", "buffer": "y"}]}],
}
quant = {"format": "alir2hdl-quant", "version": 1, "buffers": {"x": {"type": "s6.2", "round": "RND", "overflow": "SAT"}}}
w = np.asfortranarray([[1, -2, 3], [0, 5, -7]])
model = Model.from_network(net, weights={"w": w}, quant=quant)
x = np.random.default_rng(1).uniform(-12, 12, (50, 3))
quantised = np.clip(np.floor(x * 4 + 0.5), -32, 31) / 4
assert np.array_equal(model.predict(x), quantised @ w.T)
assert model.interface()["network"]["inputs"][0]["elements"][0]["encoder"]["round"] == "RND"
text = model.emit("verilog", optimise=2, pipeline=2)
proof = model.prove(text)
assert proof.verdict == "proved", proof.report
assert model.prove(text.replace(" - ", " + ", 1)).verdict != "proved"
refused(lambda: Model.from_network(net, weights={"v": w}, quant=quant), "tensor")
refused(lambda: Model.from_network({**net, "version": 1}, weights={"w": w}), "network.json", "version")
refused(lambda: Model.from_network(net, weights={"w": w}, quant=quant, nodes="op=relu"), "nodes")


class Proto:
    def __init__(self, path):
        self.path = path

    def SerializeToString(self):
        return self.path.read_bytes()


folder = CASES / "qonnx" / "mlp_pow2"
golden(folder, Model.from_onnx(Proto(folder / "model.onnx")))
golden(folder, Model.from_onnx((folder / "model.onnx").read_bytes()))
refused(lambda: Model.from_onnx(b"no such thing"), "model.onnx")
refused(lambda: Model.from_onnx(3), "int")

# Matrices.
rng = np.random.default_rng(2)
W = rng.integers(-127, 128, (8, 6))
graph = alir2hdl.cmvm(W, "s8.0")
x = rng.integers(-128, 128, (40, 8))
assert np.array_equal(graph.model.predict(x), x @ W)
values = [x[:, i].astype(float) for i in range(8)]
for a, b, shift, subtract in graph.adders:
    values.append(values[a] + (-1 if subtract else 1) * values[b] * 2.0**shift)
made = [values[v] * 2.0**shift * (-1 if negative else 1) for v, shift, negative in graph.outputs]
assert np.array_equal(np.stack(made, 1), x @ W)
assert alir2hdl.cmvm(np.asfortranarray(W), "s8.0") == graph and graph.cost > 0
limited = alir2hdl.cmvm(W, "s8.0", latency=graph.latency - 1, budget=5)
assert limited.latency <= graph.latency - 1 and np.array_equal(limited.model.predict(x), x @ W)
refused(lambda: alir2hdl.cmvm(W, "s8.0", latency=1), "least")
refused(lambda: alir2hdl.cmvm(W, "s8"), "s8")
refused(lambda: alir2hdl.cmvm(W, ["s8.0"] * 3), "3 types for 8 inputs")
refused(lambda: alir2hdl.cmvm(W[0], "s8.0"), "matrix")
refused(lambda: alir2hdl.cmvm(W * 1j, "s8.0"), "complex128")
refused(lambda: alir2hdl.cmvm(np.array([[1, None]]), "s8.0"), "Python objects")
refused(lambda: alir2hdl.cmvm(np.full((2, 2), np.nan), "s8.0"), "NaN")

# A type for each input, with its own rounding.
types = ["s5.2", "u4.0,RND,SAT", "s8.5,RND_CONV,SAT", "s3.0"]
W = rng.integers(-9, 10, (4, 3)) / 4
model = Model.from_matrix(W, types)
x = rng.uniform(-9, 9, (200, 4))
ports = np.stack([
    (np.floor(x[:, 0] * 4).astype(int) + 16) % 32 / 4 - 4,
    np.clip(np.floor(x[:, 1] + 0.5), 0, 15),
    np.clip(np.round(x[:, 2] * 32), -128, 127) / 32,
    (np.floor(x[:, 3]).astype(int) + 4) % 8 - 4,
], 1)
assert np.array_equal(model.predict(x), ports @ W)
assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(x), ports @ W)
assert model.prove(model.emit("vhdl", optimise=2), "vhdl").verdict == "proved"
runs = model.verify(input=x, pipeline=2)
assert not runs.runs or runs.passed, runs
print("NETWORKS", seen)
