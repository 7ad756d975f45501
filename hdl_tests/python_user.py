"""What a user of the wheel does beside alkaid: builds a model there, takes it over, runs, writes, simulates, proves."""

import sys

import numpy as np
from alkaid.trace import FVArrayInput, trace

from alir2hdl import Model, __version__


def refused(call, *words):
    try:
        call()
    except ValueError as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"{words} is not refused")


x = FVArrayInput((4,))
quantised = x.quantize(np.ones(4, int), np.full(4, 3), np.full(4, 2))
weights = np.array([[1, -2, 3], [0.5, 1, -1], [2, 0, 1], [-1.5, 1, 1]])
comb = trace(x, quantised @ weights)

model = Model.from_comb(comb)
assert (model.n_inputs, model.n_outputs) == (4, 3), model
samples = np.random.default_rng(1).uniform(-20, 20, (1000, 4))
expected = comb.predict(samples)
assert np.array_equal(model.predict(samples), expected)
assert np.array_equal(model.predict(samples[7]), expected[7])
assert np.array_equal(model.predict(samples.astype(np.float32)), comb.predict(samples.astype(np.float32).astype(float)))
assert model.predict(samples[:0]).shape == (0, 3)

text = model.emit("verilog", top="dut", pipeline=2, valid=True)
assert "module dut (" in text and "valid_in" in text
assert text == model.emit("verilog", top="dut", pipeline=2, valid=True)
assert "entity dut is" in model.emit("vhdl", top="dut", pipeline=2)
assert model.latency(pipeline=2) == 2 and model.latency(pipeline=2, register_inputs=True) == 3

assert model.prove(text).verdict == "proved"
assert model.prove(model.emit("vhdl", pipeline=1), "vhdl").verdict == "proved"
broken = text.replace(" + ", " - ", 1)
assert broken != text and model.prove(broken).verdict == "differs"

verification = model.verify(samples=100, pipeline=2, valid=True, enable=True, reset="sync")
assert verification.passed == bool(verification.runs), verification

refused(lambda: model.emit("cobol"), "cobol", "vhdl")
refused(lambda: model.emit(top="a b"), "E0601")
refused(lambda: model.emit(enable=True), "pipeline")
refused(lambda: model.emit(pipeline=1, reset="maybe"), "maybe")
refused(lambda: Model.load("/nowhere/at/all"), "/nowhere/at/all")
refused(lambda: Model.from_bytes(b"{}"), "error")
refused(lambda: model.predict(np.zeros((3, 1))), "4 inputs")
refused(lambda: model.predict(np.full((3, 4), np.nan)), "sample 0")
print("PYTHON", __version__, len(verification.runs), file=sys.stdout)
