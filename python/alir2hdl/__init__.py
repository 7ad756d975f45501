"""Fixed-point models as hardware: load, run, write as Verilog or VHDL, simulate, prove.

    >>> from alir2hdl import Model
    >>> model = Model.load("model.json.gz")
    >>> y = model.predict(x)                       # bit for bit what the hardware computes
    >>> text = model.emit("verilog", pipeline=3)
    >>> model.verify(pipeline=3).passed            # in every simulator that is installed
    >>> model.prove(text).verdict                  # for every input
"""

import json
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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


@dataclass(frozen=True)
class _Hardware:
    top: str
    pipeline: int
    max_stage_delay: float | None
    register_inputs: bool
    valid: bool
    enable: bool
    reset: str | None
    optimise: int


def _hardware(top="model", pipeline=0, max_stage_delay=None, register_inputs=False, valid=False, enable=False,
              reset=None, optimise=1):
    return _Hardware(top, pipeline, max_stage_delay, register_inputs, valid, enable, reset, optimise)


class Model:
    """A checked model.

    Options of the hardware, the same in `emit`, `latency` and `verify`:

    top: name of the module. pipeline: stages, each of which ends in registers; 0 for none. max_stage_delay: the fewest
    stages that are no longer, in units of the model's latencies. register_inputs: one layer of registers in front. valid:
    a flag beside the data. enable: a port that holds the pipeline. reset: "sync" or "async"; clears the flag if there is
    one, else the data. optimise: 0 to 2, as -O.

    What a file or an option does wrong is a ValueError with the program's own message.
    """

    def __init__(self, native: Native) -> None:
        self._native = native

    @classmethod
    def load(cls, path) -> "Model":
        """Reads a file: ALIR, DAIS or byte code of any version, or .alirz; plain or gzip."""
        return cls(Native.load(os.fspath(path)))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Model":
        """Reads what `load` reads, from memory."""
        return cls(Native.from_bytes(bytes(data)))

    @classmethod
    def from_comb(cls, comb) -> "Model":
        """Takes over an alkaid (or da4ml) program: any object whose `save(path)` writes such a file."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.json")
            comb.save(path)
            return cls.load(path)

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

    def predict(self, x) -> np.ndarray:
        """The outputs for samples, shape (samples, inputs) or one sample; as the hardware computes them, as float64."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        if x.ndim == 0 or x.size and int(np.prod(x.shape[1:] if x.ndim > 1 else x.shape)) != self.n_inputs:
            raise ValueError(f"shape {x.shape} is no sample or samples of {self.n_inputs} inputs")
        y = np.frombuffer(self._native.predict(x.tobytes()), dtype=np.float64)
        return y.reshape((self.n_outputs,) if x.ndim == 1 else (x.shape[0], self.n_outputs)).copy()

    def emit(self, language: str = "verilog", **hardware) -> str:
        """The text of the module in `verilog` or `vhdl`."""
        return self._native.emit(language, _hardware(**hardware))

    def latency(self, **hardware) -> int:
        """Clocks from inputs to outputs."""
        return self._native.latency(_hardware(**hardware))

    def verify(self, samples: int = 1000, seed: int = 1, timeout: int = 600, **hardware) -> Verification:
        """Simulates the text in every simulator that is installed and compares every clock with the model.

        samples: how many, corners first. timeout: seconds. RuntimeError if a simulator refuses or takes too long.
        """
        runs = self._native.verify(_hardware(**hardware), samples, seed, timeout)
        return Verification([Run(*run) for run in runs])

    def prove(self, source: str, language: str = "verilog", top: str | None = None, latency: int | None = None,
              sat_steps: int | None = None) -> Proof:
        """Proves that Verilog or VHDL text computes the model for every input.

        latency: what it shall be; None: what the text states or has. sat_steps: effort for one output bit.
        """
        report = json.loads(self._native.prove(source, language, top, latency, sat_steps))
        verdict = report["verdict"]
        return Proof(verdict if isinstance(verdict, str) else next(iter(verdict)), report)
