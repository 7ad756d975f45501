"""Verdicts of `Model.prove` and `alir2hdl prove` on the same files: levels, stages, initiation intervals, broken RTL, state machines."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import alir2hdl
from alir2hdl import Model

models, machines = Path(sys.argv[1]), Path(sys.argv[1]) / "fsm"
program = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; import alir2hdl.__main__ as m; m.main()"]
count = 0


def facts(report):
    """What both must agree on."""
    verdict = report["verdict"] if isinstance(report["verdict"], str) else next(iter(report["verdict"]))
    return verdict, report.get("latency"), report.get("interval"), report["bits"], report.get("counterexample"), report["gates"]


def same(model, path, text, folder, *, flags=(), **options):
    """Compares both, and returns the verdict."""
    global count
    file = Path(folder) / ("dut.vhd" if "entity" in text else "dut.v")
    file.write_text(text)
    done = subprocess.run([*program, "prove", str(path), str(file), "--json", *flags], capture_output=True, text=True)
    command = json.loads(done.stdout)
    ours = model.prove(file, **options)
    assert facts(ours.report) == facts(command), (facts(ours.report), facts(command))
    count += 1
    return ours


with tempfile.TemporaryDirectory() as folder:
    path = models / "var_mul" / "model.json.gz"
    small = Model.from_matrix([[3, 5, -7], [2, 0, 9], [1, 1, 4]], "s6.2")
    saved = small.save(Path(folder) / "small.json")
    for model, file in ((Model.load(saved), saved), (Model.load(path), path)):
        for level in (0, 1, 2):
            for hardware in ({}, {"pipeline": 3}, {"ii": 4}):
                if file == path and level != 2:
                    continue
                assert same(model, file, model.emit(optimise=level, **hardware), folder), (file, level, hardware)
    model = Model.load(saved)
    text = model.emit("vhdl", optimise=2, pipeline=3, port_style="plain")
    assert same(model, saved, text, folder, flags=["--port-style", "plain"], port_style="plain")
    text = model.emit(pipeline=1)
    broken = same(model, saved, text.replace(" + ", " - ", 1), folder)
    assert not broken and broken.counterexample, broken
    # A budget of one tick: undecided from both.
    undecided = same(model, saved, model.emit(ii=4), folder, flags=["--work", "1"], work=1)
    assert undecided.verdict == "unknown", undecided
    for name in ("leaky_integrator", "select_hold"):
        path = machines / name / "fsm.json.gz"
        machine = Model.load(path)
        assert machine.is_machine and same(machine, path, machine.emit(optimise=2), folder), name
        assert not same(machine, path, machine.emit().replace(" + ", " - ", 1).replace("<= ~", "<= ", 1), folder) or name == "select_hold"
    # A certificate for the checker.
    proof = model.compile(pipeline=2).prove(certificate=Path(folder) / "proof")
    names = {file.name for file in (Path(folder) / "proof").iterdir()}
    assert proof and {"proof.txt", "report.json", "model.json", "source.v", "README.txt"} <= names, names
    assert any("alir2hdl-check can check the proof of every output" in note for note in proof.report["notes"]), proof.report["notes"]

print("PARITY", count, alir2hdl.__version__)
