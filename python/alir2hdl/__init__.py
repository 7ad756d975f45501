"""Fixed-point models as hardware: load, run, write as Verilog or VHDL, simulate, prove, package.

    >>> from alir2hdl import Model
    >>> model = Model.load("model.json.gz")
    >>> y = model.predict(x)                       # bit for bit what the hardware computes
    >>> text = model.emit("verilog", pipeline=3)
    >>> model.verify(pipeline=3).passed            # in every simulator that is installed
    >>> model.prove(text).verdict                  # for every input
    >>> model.project("build", flow=["vivado"], part="xcvu13p-flga2577-2-e", pipeline="auto", clock_period=5)
"""

import json
import os
import tempfile
from functools import lru_cache
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._alir2hdl import Native, __version__

__all__ = ["Model", "Proof", "Run", "Verification", "__version__"]


@dataclass(frozen=True)
class Run:
    """What one simulator found."""

    simulator: str
    language: str
    #: Clocks in which an output was not what the model says.
    wrong: int
    #: The first of them in words, or None.
    first: str | None


@dataclass(frozen=True)
class Verification:
    """What every simulator found."""

    runs: list[Run]

    @property
    def passed(self) -> bool:
        """Whether at least one simulator ran and none found a difference."""
        return bool(self.runs) and all(run.wrong == 0 for run in self.runs)


@dataclass(frozen=True)
class Proof:
    """The outcome of a proof."""

    #: `proved`, `differs` or `unknown`.
    verdict: str
    #: Everything that `alir2hdl prove --json` says.
    report: dict[str, Any] = field(repr=False)


def _flags(options: dict[str, Any]) -> list[str]:
    """Options as the command line has them: `clock_period=5` is `--clock-period=5`."""
    options = dict(options)
    flags = [f"-O{options.pop('optimise', 1)}"]
    if options.get("reset") in ("sync", "async") and not options.get("valid"):
        # Without a flag that it could clear a reset is one of the data.
        options.setdefault("reset_data", True)
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            flags.append(flag)
        elif isinstance(value, (list, tuple)):
            flags.append(f"{flag}={','.join(str(one) for one in value)}")
        else:
            flags.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return flags


def _described(mismatch: dict[str, Any]) -> str:
    cycle = f"cycle {mismatch['cycle']}"
    if "stream" in mismatch:
        return f"{cycle}: {mismatch['stream']}"
    if "name" not in mismatch:
        return f"{cycle}: the valid flag should be {int(mismatch['expected'])}"
    return f"{cycle}: {mismatch['name']} should be {mismatch['expected']}, found {mismatch['found']}"


def _samples(samples, folder: str, name: str) -> str | None:
    """The file that holds samples: the one that is named, or a new one in a folder with the numbers of an array."""
    if samples is None or isinstance(samples, (str, os.PathLike)):
        return None if samples is None else os.fspath(samples)
    import numpy as np

    path = os.path.join(folder, name)
    np.save(path, np.ascontiguousarray(samples))
    return path


@lru_cache(maxsize=8)
def _unpickled(data: bytes, file: str) -> "Model":
    """A model that another process sent. Tasks of one model come by the thousand, and a model never changes: it is read once."""
    return Model(Native.from_bytes(data, file))


class Model:
    """A checked model. It can be pickled, and so sent to processes and clusters.

    Options of the hardware, in `emit`, `interface`, `latency`, `verify` and `project`, are those of the program, with `_` for
    `-`: `pipeline=3`, `pipeline="auto"` with `clock_period=5`, `max_stage_delay`, `register_inputs=True`, `valid=True`,
    `enable=True`, `reset="sync"`, `ports="split"`, `port_style="ap"`, `clk_name="clock"`, `wrapper="axis"` with
    `axis_width=64`, `rom_style="block"`, `keep_names=True`, `use_dsp="no"` and so on (`alir2hdl --help`; the stubs list them).
    Differences: `top` is "model" unless given; `optimise=0..2` is -O; a reset without `valid` resets the data.

    What a file or an option does wrong is a ValueError with the program's own message.
    """

    def __init__(self, native: Native) -> None:
        self._native = native

    @classmethod
    def load(cls, path) -> "Model":
        """Reads a file: ALIR, DAIS or byte code of any version, or .alirz; plain or gzip."""
        return cls(Native.load(os.path.abspath(path)))

    @classmethod
    def from_bytes(cls, data: bytes | str) -> "Model":
        """Reads what `load` reads, from memory."""
        return cls(Native.from_bytes(data.encode() if isinstance(data, str) else bytes(data), "-"))

    @classmethod
    def from_comb(cls, comb) -> "Model":
        """Takes over an alkaid (or da4ml) program: any object whose `save(path)` writes such a file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            comb.save(str(path))
            return cls.from_bytes(path.read_bytes())

    @property
    def n_inputs(self) -> int:
        """Input elements."""
        return self._native.shape()[0]

    @property
    def n_outputs(self) -> int:
        """Output elements."""
        return self._native.shape()[1]

    @property
    def n_operations(self) -> int:
        """Operations of the file."""
        return self._native.shape()[2]

    def __reduce__(self):
        return _unpickled, self._native.content()

    def __repr__(self) -> str:
        return f"Model({self.n_inputs} inputs, {self.n_outputs} outputs, {self.n_operations} operations)"

    def predict(self, x):
        """The outputs for samples, shape (samples, inputs) or one sample; as the hardware computes them, as float64.

        An integer kernel (LLVLIR) takes and gives signed integers, of elements of at most 53 bits. A Dask array gives a Dask array:
        nothing is computed yet, and later chunk by chunk, wherever Dask's workers are.
        """
        # Here and not above: the program itself starts without it.
        import numpy as np

        if hasattr(x, "map_blocks"):
            if x.ndim != 2 or x.shape[1] != self.n_inputs:
                raise ValueError(f"shape {x.shape} is no samples of {self.n_inputs} inputs")
            # A chunk holds whole samples.
            whole = x.rechunk({1: -1})
            return whole.map_blocks(self.predict, dtype=np.float64, chunks=(whole.chunks[0], (self.n_outputs,)),
                                    meta=np.empty((0, 0)))
        x = np.ascontiguousarray(x, dtype=np.float64)
        if x.ndim == 0 or x.size and int(np.prod(x.shape[1:] if x.ndim > 1 else x.shape)) != self.n_inputs:
            raise ValueError(f"shape {x.shape} is no sample or samples of {self.n_inputs} inputs")
        y = np.frombuffer(self._native.predict(x.tobytes()), dtype=np.float64)
        return y.reshape((self.n_outputs,) if x.ndim == 1 else (x.shape[0], self.n_outputs)).copy()

    def emit(self, language: str = "verilog", **hardware) -> str:
        """The text of the module in `verilog` or `vhdl`."""
        return self._native.emit(language, _flags({"top": "model", **hardware}))

    def interface(self, **hardware) -> dict[str, Any]:
        """Ports, types, latency and register bits: what --interface writes."""
        return json.loads(self._native.interface(_flags({"top": "model", **hardware})))

    def latency(self, **hardware) -> int:
        """Clocks from inputs to outputs; with a wrapper, from the last beat of a sample to the first of its result."""
        interface = self.interface(**hardware)
        return interface.get("axis", interface)["latency"]

    def verify(self, samples: int = 1000, seed: int = 1, timeout: int = 600, input=None, expect=None, codes: bool = False,
               rtl=None, **hardware) -> Verification:
        """Simulates the text in every simulator that is installed and compares every clock with the model.

        samples: how many, corners first. timeout: seconds. RuntimeError if a simulator refuses or takes too long.
        input: own samples instead, an array of a row a sample or a file as `alir2hdl run` reads it. expect: what must come
        out, likewise; else what the golden interpreter says. codes: both hold codes, not reals. rtl: a file, or several, of
        Verilog or VHDL to simulate instead of the text; `top` is its module, `pipeline` its latency in clocks.
        """
        options = {"top": "model", **hardware, "seed": seed, "timeout": timeout, "codes": codes}
        if rtl is not None:
            options["rtl"] = None
            # What the only module that no other uses is called is seen in the file.
            options["top"] = hardware.get("top")
        else:
            options.setdefault("lang", "both")
        if input is None:
            options["vectors"] = samples
        files = [rtl] if isinstance(rtl, (str, os.PathLike)) else list(rtl or [])
        with tempfile.TemporaryDirectory() as folder:
            options["input"] = _samples(input, folder, "input.npy")
            options["expect"] = _samples(expect, folder, "expect.npy")
            flags = _flags(options) + [f"--rtl={os.fspath(file)}" for file in files]
            report = self._native.verify(flags)
        runs = []
        for run in json.loads(report)["simulations"] if report is not None else []:
            first = _described(run["mismatches"][0]) if run["mismatches"] else None
            runs.append(Run(run["simulator"], run["language"], run["different_cycles"], first))
        return Verification(runs)

    def project(self, output, **options) -> Path:
        """Writes a folder for a flow, as `alir2hdl project`: `flow=["vivado", "yosys"]`, `part`, `clock_period`, `vectors`, own
        samples for the testbenches (`input`, `expect`, `codes` as in `verify`), and the options of the hardware. Returns the
        folder."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("input", "expect"):
                options[name] = _samples(options.get(name), folder, f"{name}.npy")
            self._native.project([f"--output={os.fspath(output)}", *_flags({"top": "model", **options})])
        return Path(output)

    def view(self, output, **options) -> Path:
        """Writes the page of `alir2hdl view`: the pipeline, operation by operation, for a browser. Returns its path."""
        self._native.view([f"--output={os.fspath(output)}", *_flags(options)])
        return Path(output)

    def prove(self, source: str, language: str = "verilog", top: str | None = None, latency: int | None = None,
              sat_steps: int | None = None) -> Proof:
        """Proves that Verilog or VHDL text computes the model for every input.

        latency: what it shall be; None: what the text states or has. sat_steps: effort for one output bit.
        """
        report = json.loads(self._native.prove(source, language, top, latency, sat_steps))
        verdict = report["verdict"]
        return Proof(verdict if isinstance(verdict, str) else next(iter(verdict)), report)
