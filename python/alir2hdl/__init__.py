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
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._alir2hdl import Native, __version__

__all__ = ["Model", "Proof", "Run", "Verification", "__version__"]

#: Exit code of the program where no simulator is installed.
_MISSING_TOOL = 3


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


def _program(*arguments: str, accept: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess:
    """Runs the program in a process of its own; what the user did wrong is a ValueError, anything else a RuntimeError."""
    package = str(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "alir2hdl", *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env={**os.environ, "PYTHONPATH": path})
    if done.returncode in accept:
        return done
    raise (ValueError if done.returncode == 2 else RuntimeError)(done.stderr.strip())


def _described(mismatch: dict[str, Any]) -> str:
    cycle = f"cycle {mismatch['cycle']}"
    if "stream" in mismatch:
        return f"{cycle}: {mismatch['stream']}"
    if "name" not in mismatch:
        return f"{cycle}: the valid flag should be {int(mismatch['expected'])}"
    return f"{cycle}: {mismatch['name']} should be {mismatch['expected']}, found {mismatch['found']}"


class Model:
    """A checked model.

    Options of the hardware, in `emit`, `interface`, `latency`, `verify` and `project`, are those of the program, with `_` for
    `-`: `pipeline=3`, `pipeline="auto"` with `clock_period=5`, `max_stage_delay`, `register_inputs=True`, `valid=True`,
    `enable=True`, `reset="sync"`, `ports="split"`, `port_style="ap"`, `clk_name="clock"`, `wrapper="axis"` with
    `axis_width=64`, `rom_style="block"`, `keep_names=True`, `use_dsp="no"` and so on (`alir2hdl --help`; the stubs list them).
    Differences: `top` is "model" unless given; `optimise=0..2` is -O; a reset without `valid` resets the data.

    What a file or an option does wrong is a ValueError with the program's own message.
    """

    def __init__(self, native: Native, source: str | bytes) -> None:
        self._native = native
        self._source = source

    @classmethod
    def load(cls, path) -> "Model":
        """Reads a file: ALIR, DAIS or byte code of any version, or .alirz; plain or gzip. It is to stay where it is."""
        return cls(Native.load(os.fspath(path)), os.path.abspath(path))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Model":
        """Reads what `load` reads, from memory."""
        return cls(Native.from_bytes(bytes(data)), bytes(data))

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

    def __repr__(self) -> str:
        return f"Model({self.n_inputs} inputs, {self.n_outputs} outputs, {self.n_operations} operations)"

    def predict(self, x):
        """The outputs for samples, shape (samples, inputs) or one sample; as the hardware computes them, as float64."""
        # Here and not above: the program itself starts without it.
        import numpy as np

        x = np.ascontiguousarray(x, dtype=np.float64)
        if x.ndim == 0 or x.size and int(np.prod(x.shape[1:] if x.ndim > 1 else x.shape)) != self.n_inputs:
            raise ValueError(f"shape {x.shape} is no sample or samples of {self.n_inputs} inputs")
        y = np.frombuffer(self._native.predict(x.tobytes()), dtype=np.float64)
        return y.reshape((self.n_outputs,) if x.ndim == 1 else (x.shape[0], self.n_outputs)).copy()

    def _run(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess:
        """Runs the program; `MODEL` among the arguments is the model's file."""
        with tempfile.TemporaryDirectory() as folder:
            path = self._source
            if isinstance(path, bytes):
                path = os.path.join(folder, "model")
                Path(path).write_bytes(self._source)
            named = [path if argument == "MODEL" else argument for argument in arguments]
            return _program(*named, "--quiet", accept=accept)

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

    def verify(self, samples: int = 1000, seed: int = 1, timeout: int = 600, **hardware) -> Verification:
        """Simulates the text in every simulator that is installed and compares every clock with the model.

        samples: how many, corners first. timeout: seconds. RuntimeError if a simulator refuses or takes too long.
        """
        flags = _flags({"top": "model", **hardware, "vectors": samples, "seed": seed, "timeout": timeout, "lang": "both"})
        done = self._run("verify", "MODEL", "--json", *flags, accept=(0, 1, _MISSING_TOOL))
        if done.returncode == _MISSING_TOOL:
            return Verification([])
        runs = []
        for run in json.loads(done.stdout)["simulations"]:
            first = _described(run["mismatches"][0]) if run["mismatches"] else None
            runs.append(Run(run["simulator"], run["language"], run["different_cycles"], first))
        return Verification(runs)

    def project(self, output, **options) -> Path:
        """Writes a folder for a flow, as `alir2hdl project`: `flow=["vivado", "yosys"]`, `part`, `clock_period`, `vectors`, and
        the options of the hardware. Returns the folder."""
        self._run("project", "MODEL", f"--output={os.fspath(output)}", *_flags({"top": "model", **options}))
        return Path(output)

    def view(self, output, **options) -> Path:
        """Writes the page of `alir2hdl view`: the pipeline, operation by operation, for a browser. Returns its path."""
        self._run("view", "MODEL", f"--output={os.fspath(output)}", *_flags(options))
        return Path(output)

    def prove(self, source: str, language: str = "verilog", top: str | None = None, latency: int | None = None,
              sat_steps: int | None = None) -> Proof:
        """Proves that Verilog or VHDL text computes the model for every input.

        latency: what it shall be; None: what the text states or has. sat_steps: effort for one output bit.
        """
        report = json.loads(self._native.prove(source, language, top, latency, sat_steps))
        verdict = report["verdict"]
        return Proof(verdict if isinstance(verdict, str) else next(iter(verdict)), report)
