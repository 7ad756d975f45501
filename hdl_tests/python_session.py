"""What a session in Python does besides arrays and proofs: every kind of file, state machines over time, records, notebooks, errors."""

import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import warnings
from pathlib import Path

import numpy as np

import alir2hdl
from alir2hdl import InputError, Model, UnsupportedError

cases, models = Path(sys.argv[1]), Path(sys.argv[2])


def raises(kind, call, *words):
    try:
        call()
    except kind as error:
        assert all(word in str(error) for word in words), error
        return error
    raise AssertionError(f"{kind.__name__} is not raised")


# Options are typed: an unknown one is a TypeError with the nearest name, a wrong value names option and choices.
model = Model.from_matrix([[3, 5], [-2, 1]], "s8.2")
raises(TypeError, lambda: model.compile(pipelin=4), "'pipelin'", "'pipeline'")
raises(TypeError, lambda: model.prove(model.emit(), sat_step=4), "'sat_steps'")
raises(TypeError, lambda: model.view("x.html", max_sample=4), "'max_samples'")
for wrong, words in (
    ({"pipeline": 1.5}, ["pipeline", "auto"]), ({"pipeline": -1}, ["pipeline"]), ({"optimise": 3}, ["optimise", "0, 1, 2"]),
    ({"reset": "synch", "pipeline": 1}, ["reset", "sync"]), ({"device": "xcvu13"}, ["device"]), ({"valid": "yes"}, ["valid"]),
    ({"clock_period": 2, "freq": 500}, ["clock_period", "freq"]), ({"ii_engine": "fold"}, ["ii_engine", "ii"]),
    ({"port": "clock"}, ["port", "clk=clock"]), ({"pipeline": 2**70}, ["pipeline"]), ({"axis_width": 8}, ["wrapper"])):
    error = raises(InputError, lambda: model.emit(**wrong), *words)
    assert "--" not in str(error), error
numbers = model.compile(pipeline=np.int64(2), clock_uncertainty=np.float32(0.5), top="dut", passes=["dce", "cse"],
                        port={"clk": "clock"}, port_style="plain", valid=np.bool_(True))
assert numbers.latency == 2 and "clock" in numbers.verilog and numbers.interface["top"] == "dut", numbers

# An option without effect is a warning at the line of the call.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.compile(rom_style="block")
assert [one.category for one in caught] == [alir2hdl.Alir2hdlWarning] and "rom_style" in str(caught[0].message), caught
assert caught[0].filename == __file__ and "W0801" in str(caught[0].message), caught[0]

# Hardware: figures are structured, the page and the chart escape names.
made = model.compile(pipeline=2, device="xcku5p", valid=True)
assert [stage.stage for stage in made.stages] == [1, 2] and all(stage.delay > 0 for stage in made.stages), made.stages
assert made.delay_unit == "ns" and made.estimate.device == "xcku5p" and made.estimate.lut > 0 < made.estimate.clock_mhz
assert made.stages[0].register_bits > 0 and sum(stage.operations for stage in made.stages) > 0
html = made._repr_html_()
assert html.count("<svg") == 1 and "LUT" in html and "<script" not in html and "2 cycles" in html, html
# Delays of the table are those of the command line: rounded up, so that the printed period is met.
shown = [float(delay) for delay in re.findall(r"<tr><td>\d+</td><td>([\d.]+)</td>", html)]
assert all(0 <= up - stage.delay < 0.01 for up, stage in zip(shown, made.stages, strict=True)), (shown, made.stages)
assert model.compile().stages == [] and "<svg" not in model.compile()._repr_html_()
shared = model.compile(ii=4)
assert shared.prove() and shared.stages == [] and shared.interface["initiation_interval"] == 4
with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    assert made.write(folder / "rtl").read_text() == made.verilog
    assert made.view(folder / "page.html").stat().st_size > 10_000
    assert (made.project(folder / "project", flow=["vivado"]) / "metadata.json").is_file()

    # Every kind of file that the command reads.
    saved = model.save(folder / "m.json.gz")
    assert np.array_equal(Model.load(saved).predict([[1, 2]]), model.predict([[1, 2]]))
    assert Model.load(model.save(folder / "m.dais", to="dais1")).n_outputs == 2
    np.save(folder / "w.npy", np.array([[3, 5], [-2, 1]]))
    matrix = Model.load(folder / "w.npy", input_type="s8.2")
    assert np.array_equal(matrix.predict([[1.25, 2]]), model.predict([[1.25, 2]]))
    assert matrix.info()["operations"] == matrix.n_operations and matrix.check()
    assert matrix.check()["files"][0]["outputs"] == 2 and matrix.check()["files"][0]["form"] == "a matrix in npy"
    assert Model.load(saved).info()["form"] == "ALIR JSON, version 4, gzip"

    # Facts take typed options, and messages about them speak Python.
    facts = model.info(pipeline=2, optimise=1, device="xcku5p")
    assert facts["pipeline"]["latency"] == 2 and facts["pipeline"]["stages"], facts
    rows = model.info(sweep=[1, 3], prove=True, svg=folder / "sweep.svg")["sweep"]
    assert [row["stages"] for row in rows] == [1, 3] and "<svg" in (folder / "sweep.svg").read_text(), rows
    assert len(model.info(sweep=True)["sweep"]) == 12 and len(model.info(sweep="0..2")["sweep"]) == 3
    assert model.info(ii=[2, 4])["schema"] == "alir2hdl.info-reuse/1"
    raises(TypeError, lambda: model.info(swep=3), "'sweep'")
    for wrong in ({"sweep": 3, "pipeline": 2}, {"prove": True}, {"svg": folder / "s.svg"}):
        assert "--" not in str(raises(InputError, lambda: model.info(**wrong), "sweep")), wrong
    raises(InputError, lambda: model.info(sweep=0), "sweep")
    raises(InputError, lambda: alir2hdl.report(folder), "no report of a known tool")
    raises(FileNotFoundError, lambda: alir2hdl.report(folder / "nothing"), "nothing")
    assert model.compile("systemverilog").write(folder / "sv").name == "model.sv"

    # Messages name neither options of the command line nor our temporary files.
    error = raises(InputError, lambda: Model.from_onnx(b"bogus"), "model.onnx")
    assert error.place == "model.onnx" and error.code == "E0820", error.diagnostics
    error = raises(InputError, lambda: alir2hdl.calibrate({"a": 1}, [[1]], 8), "no IR v2 graph")
    assert error.place == "network.json" and "tmp" not in str(error), error.diagnostics
    error = raises(InputError, lambda: alir2hdl.calibrate({"a": 1}, [[1]], 8, weight_bits="x"), "weight_bits")
    assert "--" not in str(error) and "<" not in str(error), error

    # Names of an earlier version stay; the order of the operations is another one.
    names = lambda text: set(re.findall(r"\bv\d+\b", text))
    (folder / "old.v").write_text(model.emit(pipeline=1))
    longer = Model.from_matrix([[3, 5, 7], [-2, 1, 9]], "s8.2")
    for old in (folder / "old.v", saved):
        kept = longer.compile(pipeline=1, names_from=old)
        assert names(model.emit(pipeline=1)) & names(kept.verilog) and kept.prove(), old
        assert kept.verilog == longer.emit(pipeline=1, names_from=str(old)).replace("Model.emit", "Model.compile")
    raises(InputError, lambda: longer.emit(names_from=folder / "nothing.json"), "nothing.json")
    raises(InputError, lambda: longer.emit(names_from=saved, ii=2), "names_from")

    raises(FileNotFoundError, lambda: Model.load(folder / "nothing.onnx"), "nothing.onnx")
    raises(FileNotFoundError, lambda: Model.from_onnx(folder / "nothing.onnx"), "nothing.onnx")
    raises(FileNotFoundError, lambda: model.prove(folder / "nothing.v"), "nothing.v")
    raises(InputError, lambda: Model.load(saved, weights="w.npz"), "weights")
    raises(TypeError, lambda: Model.load(saved, input_typ="s8.2"), "input_type")
    raises(TypeError, lambda: Model.load(saved, pipeline=3), "'pipeline'")
    raises(InputError, lambda: Model.load(saved, max_width=0), "max_width")
    raises(InputError, lambda: Model.load(folder / "w.npy", input_type="9.5"), "input_type")
    raises(InputError, lambda: Model.load(saved, input_type="s9.5"), "input_type is about networks")
    raises(TypeError, lambda: model.save(folder / "x.json", too="alir3"), "did you mean 'to'?")
    raises(InputError, lambda: model.save(folder / "x.json", to="alir5"), "did you mean alir")
    error = raises(InputError, lambda: model.save(folder / "x.sv"), "add to=alir4")
    assert not (folder / "x.sv").exists(), error
    raises(InputError, lambda: model.save(folder / "x.json", pipeline=2), "a program has no registers")
    assert model.save(folder / "x.aag", pipeline=2).read_bytes().startswith(b"aag ")
    onnx = sorted((cases / "qonnx").rglob("*.onnx"))
    assert onnx
    raises(InputError, lambda: Model.load(cases / "float_matmul.onnx"), 'input_type="s16.10')
    network = Model.load(onnx[0])
    again = Model.from_onnx(type("ModelWrapper", (), {"model": type("Proto", (), {"SerializeToString": lambda _: onnx[0].read_bytes()})()})())
    assert network.n_inputs == again.n_inputs > 0 and network.info()["operations"] == network.n_operations

# Types are calibrated from samples; an exploration is a folder with a workflow.
example = Path(sys.argv[3]) / "quantised_network"
kinds = alir2hdl.calibrate(example / "net.json", np.load(example / "samples.npy"), 4, weights=example / "weights.safetensors")
assert kinds["format"] and kinds["buffers"], kinds
raises(TypeError, lambda: alir2hdl.calibrate(example / "net.json", [[1]], 8, weight_bit=4), "'weight_bits'")
raises(InputError, lambda: alir2hdl.calibrate(example / "net.json", [[1]], 99), "bits", "a number from 2 to 16")
raises(InputError, lambda: alir2hdl.calibrate(example / "net.json", {"nothing": [[1]]}, 8, weights=example / "weights.safetensors"),
       "nothing is none of the inputs")
with tempfile.TemporaryDirectory() as folder:
    assert alir2hdl.explore(model, Path(folder) / "night", pipeline="1..2") == []
    assert (Path(folder) / "night" / "Snakefile").is_file()
    raises(TypeError, lambda: alir2hdl.explore(model, Path(folder) / "x", pipelin=3), "did you mean 'pipeline'?")
    raises(InputError, lambda: alir2hdl.explore(model, Path(folder) / "x", pipeline="3..1x"), "pipeline")
    raises(InputError, lambda: alir2hdl.explore(model, Path(folder) / "x", jobs=2), "add run")
    raises(InputError, lambda: alir2hdl.explore(model, Path(folder) / "x", shared={"use_dps": "no"}), "'use_dps'", 'use_dsp="no"')
    raises(TypeError, lambda: alir2hdl.explore(model, Path(folder) / "x", shared="-O2"), "neither a dict")
    assert not (Path(folder) / "x").exists()
    # The workflow runs with the package's own program.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    if shutil.which("snakemake"):
        rows = alir2hdl.explore([model, model.save(Path(folder) / "second.json")], Path(folder) / "run", pipeline=[1, 2], objective="registers", run=True,
                                shared={"optimise": 2, "use_dsp": "no", "valid": True, "retime": False})
        assert len(rows) == 4 and all(row["status"] == "done" for row in rows), rows

# The graph, the types and one sample through it.
assert [str(kif) for kif in model.input_types] == ["s8.2", "s8.2"] and model.output_types[0].width >= 8
edges = model.graph()
assert len([edge for edge in edges if edge[1] == "out[0]"]) == 1 and all(isinstance(edge[0], int) for edge in edges)
assert model.operations[0].name == "input" and model.operations[0].operands == ()
x = np.array([1.75, -3.5])
trace = model.trace(x)
assert [row["real"] for row in trace[-2:]] == model.predict(x).tolist() and len(trace) == model.n_operations + 2
assert [row["code"] for row in model.trace([7, -14], codes=True)] == [row["code"] for row in trace]
raises(InputError, lambda: model.trace([1, 2, 3]), "2 inputs")

# Progress bars do not change results. Here tqdm is a substitute that counts: the package does not need it.
class Bar:
    made = []

    def __init__(self, items=None, total=None, desc=""):
        self.items, self.total, self.n = items, total, 0
        Bar.made.append(self)

    def __iter__(self):
        for item in self.items:
            self.n += 1
            yield item

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def reset(self, total):
        self.total, self.n = total, 0

    def update(self, more):
        self.n += more


sys.modules["tqdm"], sys.modules["tqdm.auto"] = types.ModuleType("tqdm"), types.ModuleType("tqdm.auto")
sys.modules["tqdm.auto"].tqdm = Bar
assert model.prove(model.emit(ii=4), progress=True) and len(Bar.made) == 1
assert len(alir2hdl.sweep(model, pipeline=[0, 1, 2], progress=True)) == Bar.made[1].total == Bar.made[1].n == 3
verified = model.verify(samples=20, progress=True, pipeline=1)
assert verified.runs == [] or Bar.made[2].n == Bar.made[2].total == len(verified.runs), Bar.made[2:]
assert model.compile().verify(samples=20, progress=True).runs == [] or len(Bar.made) == 4
del sys.modules["tqdm"], sys.modules["tqdm.auto"]

# Sweeps are records; a combination that is refused has its message.
rows = alir2hdl.sweep(model, pipeline=[0, 1], enable=[False, True], progress=True)
assert [row["error"] is None for row in rows] == [True, False, True, True] and rows[2]["lut"] > 0, rows
assert "pipeline=N" in rows[1]["error"]
raises(TypeError, lambda: alir2hdl.sweep(model, pipelin=[1]), "'pipeline'")

# State machines over time: what `alir2hdl run` gives.
path = models / "fsm" / "leaky_integrator" / "fsm.json.gz"
machine = Model.load(path)
assert machine.is_machine and "State machine" in machine._repr_html_()
rng = np.random.default_rng(3)
kifs = machine.input_types
x = np.stack([rng.integers(-(2 ** (kif.width - 1)) * kif.signed, 2 ** (kif.width - kif.signed), 40) for kif in kifs], axis=1)
y = machine.predict(x, codes=True)
with tempfile.TemporaryDirectory() as folder:
    ports = {}
    for k, kif in enumerate(kifs):
        ports.setdefault(kif.name.split("[")[0], []).append(x[:, k])
    np.savez(Path(folder) / "in.npz", **{name: np.stack(columns, axis=1) for name, columns in ports.items()})
    program = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; import alir2hdl.__main__ as m; m.main()"]
    subprocess.run([*program, "run", str(path), "in.npz", "-o", "out.npz", "--codes", "-q"], cwd=folder, check=True)
    found = np.load(Path(folder) / "out.npz")
    names = list(dict.fromkeys(kif.name.split("[")[0] for kif in machine.output_types))
    assert np.array_equal(np.concatenate([found[name].reshape(40, -1) for name in names], axis=1), y)
first, state = machine.predict(x[:15], codes=True, return_state=True)
assert np.array_equal(np.concatenate([first, machine.predict(x[15:], codes=True, initial_state=state)]), y)
resets = np.zeros(40, bool)
resets[15] = True
assert np.array_equal(machine.predict(x, codes=True, reset=resets)[15:], machine.predict(x[15:], codes=True))
reals = machine.predict(x * np.array([2.0**-kif.frac_bits for kif in kifs]))
assert np.array_equal(reals, y * np.array([2.0**-kif.frac_bits for kif in machine.output_types]))
assert machine.prove(machine.emit()) and machine.compile("vhdl").prove()
with tempfile.TemporaryDirectory() as folder:
    for name in ("m.json", "m.json.gz"):
        assert np.array_equal(Model.load(machine.save(Path(folder) / name)).predict(x, codes=True), y)
    raises(UnsupportedError, lambda: machine.save(Path(folder) / "m.dais", to="dais1"), "to")
assert np.array_equal(pickle.loads(pickle.dumps(machine)).predict(x, codes=True), y)
raises(InputError, lambda: machine.predict(x, codes=True, reset=[True]), "40 booleans")
raises(InputError, lambda: machine.predict(x, codes=True, initial_state={"none": [0]}), "none")
raises(InputError, lambda: model.predict([[1, 2]], reset=[True]), "state machines")
raises(InputError, lambda: machine.emit(pipeline=3), "pipeline")
raises(InputError, lambda: machine.prove(machine.emit(), latency=1), "latency does not go with a state machine")
raises(UnsupportedError, machine.graph, "state machine")
raises(UnsupportedError, lambda: machine.trace(x[0]), "state machine")
assert machine.latency() == machine.compile().latency == 0
register = next(iter(state))
for wrong in ([1], {register: "ab"}, {register: None}, {register: 0.7}):
    raises(InputError, lambda: machine.predict(x, codes=True, initial_state=wrong), "initial_state")
assert "/tmp" not in str(raises(InputError, lambda: alir2hdl.explore(machine, "unused"), "state machine"))

# Two names of one option; the options of compiled hardware, which replace one another.
for one, other in (("pipeline", "stages"), ("stages", "pipeline")):
    raises(InputError, lambda: model.compile(**{one: 2, other: 3}), "pipeline and stages")
raises(InputError, lambda: model.emit(device="ecp5", part="xcku5p"), "device and part")
hardware = model.compile(pipeline=1)
hardware.options.update(pipeline=5)
assert hardware.options["pipeline"] == 1 and "latency 1 clock" in hardware.vhdl
assert hash(hardware) == hash(model.compile(pipeline=1)) and hardware == model.compile(pipeline=1)
assert pickle.loads(pickle.dumps(hardware)).verilog == hardware.verilog
assert hardware._with({"stages": 2}) == {"top": "model", "stages": 2}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.emit(rom_style="block")
assert caught and caught[0].filename == __file__, caught

# What is no model, an iterable as an axis.
raises(TypeError, lambda: Model("model.json"), "Model.load")
for axis in (np.arange(2), {0, 1}, (n for n in (0, 1))):
    assert [row["latency"] for row in alir2hdl.sweep(model, pipeline=axis)] == [0, 1]
raises(InputError, lambda: Model.from_comb((1, 2)), "alkaid")
raises(InputError, lambda: Model.from_network({"a": np.float32(3)}))
raises(InputError, lambda: Model.from_network({"a": object()}), "JSON has no object")
with tempfile.TemporaryDirectory() as folder:
    for kind in ("aag", "aignet"):
        file = model.save(Path(folder) / f"m.{kind}", to=kind)
        raises(InputError, lambda: Model.load(file), "output only")
    np.save(Path(folder) / "w.npy", [[3, 5], [-2, 1]])
    assert np.array_equal(Model.load(Path(folder) / "w.npy", input_type=["s8.2", "s6.1"]).predict([[1, 2]]), [[-1, 7]])

# Doctests of the package: the examples of its documentation run.
import doctest

results = doctest.testmod(alir2hdl, extraglobs={"np": np}, optionflags=doctest.NORMALIZE_WHITESPACE)
assert results.attempted > 10 and not results.failed, results

# The import is quick and leaves numpy out.
code = f"import sys; sys.path[:0] = {sys.path!r}; import alir2hdl; assert 'numpy' not in sys.modules, 'numpy'; assert 'asyncio' not in sys.modules"
subprocess.run([sys.executable, "-c", code], check=True)

# Ctrl-C ends proofs and simulations within a second.
big = Model.load(models / "mixer_particles" / "model.json.gz")
text = big.emit(optimise=2)
for slow in (lambda: big.prove(text, gates_only=True), lambda: big.verify(samples=3000)):
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        slow()
    except KeyboardInterrupt:
        assert time.monotonic() - start < 2.5, time.monotonic() - start
    else:
        print("ended before the signal", file=sys.stderr)
        time.sleep(max(0.0, 0.7 - (time.monotonic() - start)))

# Ctrl-C ends an exploration and the workflow that it started.
if shutil.which("snakemake"):
    with tempfile.TemporaryDirectory() as folder:
        night = Path(folder) / "night"
        threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            alir2hdl.explore(big, night, pipeline="1..60", run=True)
        except KeyboardInterrupt:
            running = [child for child in Path("/proc").glob("[0-9]*/cwd") if child.exists() and child.resolve() == night.resolve()]
            deadline = time.monotonic() + 60
            while any(child.exists() for child in running):
                assert time.monotonic() < deadline, running
                time.sleep(0.05)
        else:
            raise AssertionError("60 variants ended before the signal")

print("SESSION", alir2hdl.__version__)
