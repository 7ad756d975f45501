from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

@dataclass(frozen=True)
class Run:
    simulator: str
    language: str
    wrong: int
    first: str | None

@dataclass(frozen=True)
class Verification:
    runs: list[Run]
    @property
    def passed(self) -> bool: ...

@dataclass(frozen=True)
class Proof:
    verdict: str
    report: dict[str, Any]

class Model:
    @classmethod
    def load(cls, path: str | PathLike[str]) -> Model: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Model: ...
    @classmethod
    def from_comb(cls, comb: Any) -> Model: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def n_operations(self) -> int: ...
    def predict(self, x: ArrayLike) -> NDArray[np.float64]: ...
    def emit(
        self,
        language: Literal["verilog", "vhdl"] = "verilog",
        *,
        top: str = "model",
        pipeline: int = 0,
        max_stage_delay: float | None = None,
        register_inputs: bool = False,
        valid: bool = False,
        enable: bool = False,
        reset: Literal["none", "sync", "async"] | None = None,
        optimise: int = 1,
    ) -> str: ...
    def latency(
        self,
        *,
        top: str = "model",
        pipeline: int = 0,
        max_stage_delay: float | None = None,
        register_inputs: bool = False,
        valid: bool = False,
        enable: bool = False,
        reset: Literal["none", "sync", "async"] | None = None,
        optimise: int = 1,
    ) -> int: ...
    def verify(
        self,
        samples: int = 1000,
        seed: int = 1,
        timeout: int = 600,
        *,
        top: str = "model",
        pipeline: int = 0,
        max_stage_delay: float | None = None,
        register_inputs: bool = False,
        valid: bool = False,
        enable: bool = False,
        reset: Literal["none", "sync", "async"] | None = None,
        optimise: int = 1,
    ) -> Verification: ...
    def prove(
        self,
        source: str,
        language: Literal["verilog", "vhdl"] = "verilog",
        top: str | None = None,
        latency: int | None = None,
        sat_steps: int | None = None,
    ) -> Proof: ...
