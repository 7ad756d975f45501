"""Calls of the Python package with every kind of argument, for type checkers; scripts/check_stubs.sh runs them."""

from pathlib import Path
import numpy as np
import alir2hdl
from alir2hdl import Hardware, Model, Proof

model: Model = Model.from_matrix([[1, 2], [3, 4]], "s8.2")
y = model.predict(np.zeros((3, 2)), threads=2)
z, state = model.predict(np.zeros((3, 2)), return_state=True)
hardware: Hardware = model.compile(pipeline=3, optimise=2, device="xcvu13p", reset="sync", valid=True)
proof: Proof = hardware.prove(certificate=Path("proof"))
assert proof and hardware.estimate.lut > 0 and hardware.stages[0].delay > 0
for row in alir2hdl.sweep(model, pipeline=[1, 2], progress=True):
    print(row["latency"])
model.project("build", flow=["vivado"], part="xcvu13p-flga2577-2-e", clock_period=5)
model.view("page.html", pipeline=2, svg="x.svg")
model.prove("x.v", ii=4, prove_effort="fast")
for kif in model.input_types:
    print(kif.width, str(kif))
edges = model.graph()
print(Model.load("net.json", weights={"w": np.zeros(3)}, quant={"a": 1}).n_inputs, edges[0][1])
saved: Path = model.save("model.dais", to="dais1")
Model.load(saved, format="bytecode", max_width=64)
types = alir2hdl.calibrate("net.json", {"x": np.zeros((3, 2))}, 8, weight_bits=6)
print(types["format"], alir2hdl.explore([model, saved], "night", pipeline="1..4", objective=["delay", "registers"], flow="yosys", run=True))
