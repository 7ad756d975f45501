from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, overload

from ._errors import Alir2hdlWarning as Alir2hdlWarning
from ._errors import Diagnostic as Diagnostic
from ._errors import Error as Error
from ._errors import InputError as InputError
from ._errors import InternalError as InternalError
from ._errors import MissingToolError as MissingToolError
from ._errors import UndecidedError as UndecidedError
from ._errors import UnsupportedError as UnsupportedError

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Unpack

__all__ = ["AdderGraph", "Alir2hdlWarning", "Diagnostic", "Error", "Estimate", "Hardware", "InputError", "InternalError",
           "MissingToolError", "Model", "Operation", "PortType", "Proof", "Run", "Stage", "UndecidedError", "UnsupportedError",
           "Verification", "calibrate", "cmvm", "explore", "report", "sweep", "__version__"]

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
    def __bool__(self) -> bool: ...

@dataclass(frozen=True)
class Proof:
    verdict: str
    report: dict[str, Any]
    seconds: float | None = ...
    def __bool__(self) -> bool: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def counterexample(self) -> dict[str, Any] | None: ...
    @property
    def latency(self) -> int | None: ...

class PortType(NamedTuple):
    name: str
    signed: bool
    integer_bits: int
    frac_bits: int
    @property
    def width(self) -> int: ...

class Operation(NamedTuple):
    name: str
    operands: tuple[int, ...]
    signed: bool
    integer_bits: int
    frac_bits: int

class Stage(NamedTuple):
    stage: int
    delay: float
    operations: int
    register_bits: int

@dataclass(frozen=True)
class Estimate:
    device: str
    lut: int
    ff: int
    carry: int
    dsp: int
    ram: int
    period_ns: float
    clock_mhz: float
    lut_error: float | None
    clock_error: float | None

class _Pipeline(TypedDict, total=False):
    optimise: Literal[0, 1, 2]
    passes: Sequence[str]
    assume_intervals: bool
    pipeline: int | Literal["auto"]
    ii: int | Literal["auto"]
    ii_engine: Literal["auto", "fold", "serial", "mixed"]
    ii_input: Literal["captured", "held", "beats"]
    ii_share: float
    max_luts: int
    max_ffs: int
    max_latency: int
    max_stage_delay: float | None
    clock_period: float | str | None
    freq: float | str
    clock_uncertainty: float
    delay_unit: float
    register_inputs: bool
    register_outputs: bool
    input_delay: float
    output_delay: float
    pipeline_objective: Literal["delay", "balanced", "registers"]
    effort: Literal["fast", "normal", "max"]
    use_dsp: Literal["auto", "yes", "no"]
    device: str
    delay_model: Literal["latency-fields", "device", "width"]
    retime: Literal["registers", "delay", "no"]

class _Hardware(_Pipeline, total=False):
    top: str
    ports: Literal["packed", "split"]
    valid: bool
    enable: bool
    reset: Literal["none", "sync", "async"] | None
    reset_data: bool
    reset_polarity: Literal["high", "low"]
    port_style: Literal["alkaid", "plain", "ap"]
    port: str | Sequence[str] | dict[str, str]
    prove: bool
    clk_name: str
    rst_name: str
    ce_name: str
    valid_in_name: str
    valid_out_name: str
    ready_name: str
    input_name: str
    output_name: str
    rom_style: str
    shreg_extract: Literal["no", "yes"]
    assertions: bool
    keep_names: bool
    names: Literal["source", "index"]
    hierarchy: Literal["auto", "flat", "stages", "layers"]
    names_from: str | PathLike[str] | None
    split_above: int
    wrapper: Literal["none", "axis"]
    packing: Literal["auto", "8", "16", "32", "64", "dense"]
    axis_width: int | None
    axis_user: int
    axis_flow: Literal["fifo", "stall"]
    axis_depth: int | None

class _Info(_Hardware, total=False):
    sweep: bool | int | str | Sequence[int]
    svg: str | PathLike[str]

class _Project(_Hardware, total=False):
    flow: Sequence[Literal["vivado", "quartus", "yosys", "fusesoc", "libero", "plain"]]
    part: str | Sequence[str]
    board: Literal["kv260", "zcu102", "pynq-z2"]
    vectors: int
    seed: int
    core_vendor: str
    core_library: str
    core_name: str
    core_version: str
    input: ArrayLike | str | PathLike[str] | None
    expect: ArrayLike | str | PathLike[str] | None
    array: str
    expect_array: str
    codes: bool

class _View(_Pipeline, total=False):
    open: bool
    svg: str | PathLike[str]
    input: str | PathLike[str]
    max_samples: int

class _Reading(TypedDict, total=False):
    format: Literal["alir-json", "dais-json", "dais2-json", "words", "words3", "bytecode", "fsm", "llvlir"] | None
    nodes: str | None
    output_buffer: str | Sequence[str] | None
    tokens: int | None
    position_offset: int | None
    max_adders: int | None
    max_table_bits: int | None
    cmvm_latency: float | None
    cmvm_budget: int | None
    max_bytes: int | None
    max_ops: int | None
    max_table_entries: int | None
    max_shift: int | None
    max_width: int | None
    max_division: int | None
    max_problems: int | None

class _Load(_Reading, total=False):
    input_type: str | None

class _Save(TypedDict, total=False):
    to: (
        Literal[
            "alir2", "alir3", "alir4", "bytecode2", "bytecode4", "dais1", "llvlir", "llvlirs", "aig", "aag", "aignet"
        ]
        | None
    )
    pipeline: int | None
    stages: int | None

class _Files(_Load, total=False):
    quant: str | PathLike[str] | None
    weight_map: str | PathLike[str] | None

class _Calibrate(_Files, total=False):
    weight_bits: int | None
    svg: str | PathLike[str] | None

_Objective = Literal["delay", "balanced", "registers"]

class _Explore(_Files, total=False):
    pipeline: int | str | Sequence[int] | None
    stages: int | str | Sequence[int] | None
    objective: _Objective | Sequence[_Objective] | None
    device: str | None
    part: str | None
    flow: Literal["yosys", "vivado", "quartus"] | None
    jobs: int | None
    weights: str | PathLike[str] | Sequence[str | PathLike[str]] | None

class Model:
    def __init__(self, native: Any) -> None: ...
    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        weights: dict[str, ArrayLike] | str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
        quant: str | PathLike[str] | bytes | dict[str, Any] | None = None,
        weight_map: str | PathLike[str] | bytes | dict[str, Any] | None = None,
        **options: Unpack[_Load],
    ) -> Model: ...
    @classmethod
    def from_bytes(cls, data: bytes | str) -> Model: ...
    @classmethod
    def from_comb(cls, comb: Any) -> Model: ...
    @classmethod
    def from_network(
        cls,
        network: str | PathLike[str] | bytes | dict[str, Any],
        weights: dict[str, ArrayLike] | str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
        quant: str | PathLike[str] | bytes | dict[str, Any] | None = None,
        weight_map: str | PathLike[str] | bytes | dict[str, Any] | None = None,
        **options: Unpack[_Load],
    ) -> Model: ...
    @classmethod
    def from_onnx(
        cls,
        model: Any,
        input_type: str | None = None,
        quant: str | PathLike[str] | bytes | dict[str, Any] | None = None,
        **options: Unpack[_Reading],
    ) -> Model: ...
    @classmethod
    def from_matrix(
        cls, matrix: ArrayLike, input_type: str | Sequence[str], latency: float | None = None, budget: int = 0
    ) -> Model: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def n_operations(self) -> int: ...
    @property
    def is_machine(self) -> bool: ...
    @property
    def input_types(self) -> list[PortType]: ...
    @property
    def output_types(self) -> list[PortType]: ...
    @property
    def operations(self) -> list[Operation]: ...
    def graph(self) -> list[tuple[int | str, int | str]]: ...
    def trace(self, x: ArrayLike, *, codes: bool = False) -> list[dict[str, Any]]: ...
    def save(self, path: str | PathLike[str], **options: Unpack[_Save]) -> Path: ...
    @overload
    def predict(
        self,
        x: Any,
        *,
        out: NDArray[Any] | None = None,
        threads: int | None = None,
        codes: bool = False,
        reset: ArrayLike | None = None,
        initial_state: Mapping[str, Sequence[int]] | None = None,
        return_state: Literal[False] = False,
    ) -> NDArray[Any]: ...
    @overload
    def predict(
        self,
        x: Any,
        *,
        out: NDArray[Any] | None = None,
        threads: int | None = None,
        codes: bool = False,
        reset: ArrayLike | None = None,
        initial_state: Mapping[str, Sequence[int]] | None = None,
        return_state: Literal[True],
    ) -> tuple[NDArray[Any], dict[str, list[int]]]: ...
    def __reduce__(self) -> Any: ...
    def compile(
        self, language: Literal["verilog", "systemverilog", "vhdl"] = "verilog", **hardware: Unpack[_Hardware]
    ) -> Hardware: ...
    def info(self, **options: Unpack[_Info]) -> dict[str, Any]: ...
    def check(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...
    def emit(
        self, language: Literal["verilog", "systemverilog", "vhdl"] = "verilog", **hardware: Unpack[_Hardware]
    ) -> str: ...
    def interface(self, **hardware: Unpack[_Hardware]) -> dict[str, Any]: ...
    def latency(self, **hardware: Unpack[_Hardware]) -> int: ...
    def verify(
        self,
        samples: int = 1000,
        seed: int = 1,
        timeout: int = 600,
        input: ArrayLike | str | PathLike[str] | None = None,
        expect: ArrayLike | str | PathLike[str] | None = None,
        codes: bool = False,
        rtl: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
        *,
        progress: bool = False,
        **hardware: Unpack[_Hardware],
    ) -> Verification: ...
    def project(self, output: str | PathLike[str], **options: Unpack[_Project]) -> Path: ...
    def view(self, output: str | PathLike[str], **options: Unpack[_View]) -> Path: ...
    def prove(
        self,
        source: str | PathLike[str],
        language: Literal["verilog", "vhdl"] | None = None,
        top: str | None = None,
        latency: int | None = None,
        sat_steps: int | None = None,
        *,
        certificate: str | PathLike[str] | None = None,
        progress: bool = False,
        **options: Unpack[_Prove],
    ) -> Proof: ...

class _Prove(TypedDict, total=False):
    ii: int | None
    ii_input: Literal["captured", "held", "beats"]
    prove_effort: Literal["fast", "normal", "max"]
    work: int | None
    gates_only: bool
    port_style: Literal["alkaid", "plain", "ap"]
    port: str | Sequence[str] | dict[str, str]
    reset_polarity: Literal["high", "low"]
    depth: int
    threads: int | None

@dataclass(frozen=True)
class Hardware:
    model: Model = field(repr=False)
    language: str
    _options: dict[str, Any] = field(repr=False)
    _texts: dict[str, str] = field(init=False, repr=False, compare=False, default_factory=dict)
    interface: dict[str, Any] = field(init=False, repr=False, compare=False)
    estimate: Estimate = field(init=False, repr=False, compare=False)
    stages: list[Stage] = field(init=False, repr=False, compare=False)
    delay_unit: str = field(init=False, repr=False, compare=False)
    chart: str = field(init=False, repr=False, compare=False)
    summary: str = field(init=False, compare=False)
    def __post_init__(self) -> None: ...
    def __hash__(self) -> int: ...
    @property
    def options(self) -> dict[str, Any]: ...
    @property
    def verilog(self) -> str: ...
    @property
    def systemverilog(self) -> str: ...
    @property
    def vhdl(self) -> str: ...
    @property
    def latency(self) -> int: ...
    @property
    def registers(self) -> int: ...
    def write(self, folder: str | PathLike[str]) -> Path: ...
    def verify(self, **options: Any) -> Verification: ...
    def prove(self, **options: Any) -> Proof: ...
    def project(self, output: str | PathLike[str], **options: Any) -> Path: ...
    def view(self, output: str | PathLike[str], **options: Any) -> Path: ...
    def _repr_html_(self) -> str: ...

def report(*folders: str | PathLike[str]) -> Any: ...
def sweep(model: Model, *, progress: bool = False, **axes: Any) -> list[dict[str, Any]]: ...
def calibrate(
    network: str | PathLike[str] | bytes | dict[str, Any],
    samples: ArrayLike | Mapping[str, ArrayLike],
    bits: int,
    weights: dict[str, ArrayLike] | str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    output: str | PathLike[str] | None = None,
    **options: Unpack[_Calibrate],
) -> dict[str, Any]: ...
def explore(
    models: Model | str | PathLike[str] | Sequence[Model | str | PathLike[str]],
    output: str | PathLike[str],
    *,
    run: bool = False,
    shared: Mapping[str, Any] | Sequence[str] = (),
    **options: Unpack[_Explore],
) -> list[dict[str, Any]]: ...

@dataclass(frozen=True)
class AdderGraph:
    adders: list[tuple[int, int, int, bool]]
    outputs: list[tuple[int, int, bool] | None]
    cost: int
    latency: float
    model: Model

def cmvm(
    matrix: ArrayLike, input_types: str | Sequence[str], latency: float | None = None, budget: int = 0
) -> AdderGraph: ...
