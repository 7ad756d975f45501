"""What a user of the wheel does beside alkaid: builds a model there, takes it over, runs, writes, simulates, proves."""

import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from alkaid.trace import FVArrayInput, trace

import alir2hdl
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

# A traced pair is a program too; what is none is refused with the lines that make one.
assert np.array_equal(Model.from_comb((x, quantised @ weights)).predict(samples), expected)
refused(lambda: Model.from_comb(object()), "trace_model")
# alkaid finds the lowest bit of a constant in single precision: one message with the cure.
refused(lambda: Model.from_comb((x, quantised * (1 + 2.0**-30))), "round constants to 24 bits")

# Pickled it is the same model, and read once however often it comes.
copy = pickle.loads(pickle.dumps(model))
assert np.array_equal(copy.predict(samples), expected) and pickle.loads(pickle.dumps(model)) is copy
assert copy.emit("vhdl", pipeline=2) == model.emit("vhdl", pipeline=2)

try:
    import dask.array
except ImportError:
    print("no dask here", file=sys.stderr)
else:
    # Chunk by chunk, also where a chunk holds parts of samples; nothing is computed before it is asked for.
    chunked = dask.array.from_array(samples, chunks=(300, 3))
    lazy = model.predict(chunked)
    assert lazy.chunks == ((300, 300, 300, 100), (3,)) and lazy.dtype == np.float64, lazy
    assert np.array_equal(lazy.compute(scheduler="threads"), expected)
    assert np.array_equal(lazy.compute(scheduler="processes", num_workers=2), expected)
    refused(lambda: model.predict(chunked[:, :2]), "4 inputs")

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

# Own samples and outputs, as arrays; own hardware.
some = samples[:50]
right = model.verify(input=some, expect=model.predict(some), pipeline=2)
assert right.passed == bool(right.runs), right
wrong = model.predict(some)
wrong[7, 1] += 1
found = model.verify(input=some, expect=wrong, pipeline=2)
assert not found.passed and all(run.wrong == 1 and "out[1]" in run.first for run in found.runs), found
if right.runs:
    refused(lambda: model.verify(input=some, expect=wrong[1:]), "E1008", "49 rows")
    with tempfile.TemporaryDirectory() as folder:
        edited = Path(folder) / "edited.v"
        edited.write_text(text)
        assert model.verify(samples=50, rtl=edited, pipeline=2, valid=True).passed
        edited.write_text(broken)
        assert not model.verify(samples=50, rtl=[edited], pipeline=2, valid=True, top="dut").passed

# Integer kernels, as text and as bytes: signed integers in and out, names of ports, a proof from the kernel itself.
kernel_text = """llvlir 0
in %0 "left": i16
in %1 "right": i16
%2 = add.i16 %0, %1
%3 = xor.i16 %2, %0
out "mixed" = %3
"""
kernel = Model.from_bytes(kernel_text)
assert (kernel.n_inputs, kernel.n_outputs) == (2, 1), kernel
pairs = np.random.default_rng(2).integers(-32768, 32768, (200, 2))
assert np.array_equal(kernel.predict(pairs)[:, 0], (pairs.sum(1).astype(np.int16) ^ pairs[:, 0].astype(np.int16)))
made = kernel.emit(top="dut", ports="split", pipeline=1, port_style="plain")
assert "mixed" in made and kernel.prove(made).verdict == "proved"
assert any("kernel" in note for note in kernel.prove(made).report["notes"])
assert kernel.prove(made.replace(" ^ ", " | ", 1)).verdict == "differs"
ran = kernel.verify(samples=50, pipeline=1)
assert ran.passed == bool(ran.runs), ran
refused(lambda: kernel.predict([[0.5, 1]]), "sample 0: input 0 is 0.5")
refused(lambda: Model.from_bytes(kernel_text.replace("add", "ad")), "E14")
wide = Model.from_bytes('llvlir 0\nin %0 "a": i64\nout "b" = %0\n')
refused(lambda: wide.predict([1]), "64 bits")
with tempfile.TemporaryDirectory() as folder:
    as_bytes = Path(folder) / "kernel.llvlir"
    (Path(folder) / "kernel.llvlirs").write_text(kernel_text)
    alir2hdl_program = [sys.executable, "-m", "alir2hdl"]
    path = {"PYTHONPATH": str(Path(alir2hdl.__file__).parents[1])}
    subprocess.run([*alir2hdl_program, "convert", "-q", "kernel.llvlirs", "kernel.llvlir"], cwd=folder, env=path, check=True)
    assert np.array_equal(Model.load(as_bytes).predict(pairs), kernel.predict(pairs))
    origin = re.compile("^// model: .*", re.M)
    again = Model.from_bytes(as_bytes.read_bytes()).emit(top="dut")
    assert origin.sub("", again) == origin.sub("", kernel.emit(top="dut"))
    kernel.project(Path(folder) / "built", pipeline=1)
    kernel.view(Path(folder) / "page.html")

# Every option of the program, and folders.
split = model.emit("verilog", ports="split", pipeline="auto", clock_period=2.0, port_style="ap")
assert "input_1_0" in split and "layer_out_2" in split, split
facts = model.interface(pipeline=2, wrapper="axis", axis_width=16, axis_flow="stall")
assert facts["top"] == facts["axis"]["top"] == "model" and facts["core"]["latency"] == 2
assert model.latency(pipeline=2, wrapper="axis", axis_width=16, axis_flow="stall") == facts["latency"] == facts["axis"]["latency"] > 2
streams = model.verify(samples=50, pipeline=1, wrapper="axis", packing="dense")
assert streams.passed == bool(streams.runs), streams
with tempfile.TemporaryDirectory() as folder:
    built = model.project(Path(folder) / "build", flow=["vivado", "fusesoc"], part="xcvu13p-flga2577-2-e", pipeline=1)
    assert {"rtl", "tb", "model.core", "metadata.json"} <= {entry.name for entry in built.iterdir()}
    page = model.view(Path(folder) / "model.html", pipeline=2, svg=Path(folder) / "stages.svg")
    assert page.stat().st_size > 10_000 and (Path(folder) / "stages.svg").is_file()
    refused(lambda: model.project(built, part="nonsense"), "E0805", "known part numbers begin with xc7a")

# The stubs know every option that the program has, and no other.
stub = Path(alir2hdl.__file__).with_suffix(".pyi").read_text()
typed = set(re.findall(r"^    (\w+): ", stub.split("class _Pipeline")[1].split("class _Reading")[0], re.M))
program = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; import alir2hdl.__main__ as m; m.main()"]
said = "".join(subprocess.run([*program, *of, "--help"], capture_output=True, text=True, check=True).stdout
               for of in (["generate"], ["project"], ["view"], ["info"]))
options = {flag.replace("-", "_") for flag in re.findall(r"^ +(?:-\w, )?--([a-z-]+)", said, re.M)}
own = {"verilog", "systemverilog", "vhdl", "interface", "cpp", "namespace", "prove", "witness", "timings", "output", "format", "help", "version",
       "error_format", "color", "json", "quiet", "verbose"}
# How networks and matrices are read: a Model has been read.
files = {"weights", "quant", "weight_map"}
reading = {"nodes", "output_buffer", "input_type", "cmvm_latency", "cmvm_budget", "tokens", "position_offset"}
own |= files | reading
limits = {option for option in options if option.startswith("max_")} - typed
# Names of version 0.2 are still taken, and no longer listed.
former = {"part", *(f"{role}_name" for role in ("clk", "rst", "ce", "valid_in", "valid_out", "ready", "input", "output"))}
assert typed - {"optimise", "prove"} - former == options - own - limits, typed ^ (options - own - limits)
read = set(re.findall(r"^    (\w+): ", stub.split("class _Reading")[1].split("class _Save")[0], re.M))
assert read == reading | limits | {"format"}, read ^ (reading | limits | {"format"})

# Verdicts cannot be misread, errors are exceptions with facts, options are Python's.
assert model.prove(text) and not model.prove(broken)
found = model.prove(broken)
assert found.reason and found.counterexample["output"] == int(re.search(r"output (\d+)", repr(found))[1]), found
undecided = alir2hdl.Proof("unknown", {"reason": "budget"})
for verdict in (undecided, alir2hdl.Verification([])):
    try:
        bool(verdict)
    except alir2hdl.UndecidedError as error:
        assert "verdict" in str(error) or "simulator" in str(error)
    else:
        raise AssertionError(verdict)
assert not found.verdict == "proved" and "differs" in repr(found)
for call, near in ((lambda: model.emit(pipelin=4), "pipeline"), (lambda: model.project("x", flows=["vivado"]), "flow"),
                   (lambda: model.verify(sample=3), "sample"), (lambda: Model.from_onnx(b"", input_typ="s8.2"), "input_type")):
    try:
        call()
    except TypeError as error:
        assert near in str(error), error
    else:
        raise AssertionError(near)
try:
    model.emit(enable=True)
except alir2hdl.Error as error:
    assert (error.code, error.place) == ("E0801", "enable") and "pipeline=N" in error.help and "--" not in str(error), error
else:
    raise AssertionError("enable without registers is not refused")
try:
    Model.load("/nowhere/at/all")
except FileNotFoundError as error:
    assert error.filename == "/nowhere/at/all"
else:
    raise AssertionError("a missing file is not refused")

# Hardware is compiled once, and what it is made of are figures.
made = model.compile(pipeline=2, optimise=2)
assert made.latency == 2 and made.registers > 0 and len(made.stages) == 2 and made.prove(), made
assert "<table>" in made._repr_html_() and "entity" in made.vhdl and made.verilog == model.compile(pipeline=2, optimise=2).verilog
records = alir2hdl.sweep(model, pipeline=[0, 1, 2], optimise=[1, 2])
assert [one["latency"] for one in records] == [0, 0, 1, 1, 2, 2] and len(records) == 6, records
# What the command proves is proved from here: rewritten by -O2, and shared hardware.
for hardware in ({"optimise": 2, "pipeline": 1}, {"ii": 4}, {"ii": 2, "optimise": 0}):
    assert model.prove(model.emit(**hardware)).verdict == "proved", hardware
with tempfile.TemporaryDirectory() as folder:
    file = made.write(folder)
    assert model.prove(file) and model.prove(str(file)) and file.name == "model.v"
assert model.info()["operations"] == model.n_operations

refused(lambda: model.emit("cobol"), "cobol", "vhdl")
refused(lambda: model.emit(top="a b"), "E0601")
refused(lambda: model.emit(enable=True), "pipeline")
refused(lambda: model.emit(pipeline=1, reset="maybe"), "maybe")
refused(lambda: Model.load("/nowhere/at/all"), "/nowhere/at/all")
refused(lambda: Model.from_bytes(b"{}"), "error")
refused(lambda: model.predict(np.zeros((3, 1))), "4 inputs")
refused(lambda: model.predict(np.full((3, 4), np.nan)), "sample 0")
print("PYTHON", __version__, len(verification.runs), file=sys.stdout)
