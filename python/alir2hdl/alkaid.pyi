from os import PathLike
from typing import Any

__all__ = ["RTLModel"]

class RTLModel:
    def __init__(
        self,
        logic: Any,
        path: str | PathLike[str],
        prj_name: str | None = None,
        flavor: str = "verilog",
        n_stages: int = -1,
        latency_cutoff: float = -1,
        print_latency: bool = True,
        part_name: str = "xcvu13p-flga2577-2-e",
        clock_period: float = 5,
        clock_uncertainty: float = 0.1,
        io_delay_minmax: tuple[float, float] = (0.2, 0.4),
        ternary_fuse: bool = True,
    ) -> None: ...
    @property
    def fsm(self) -> Any: ...
    @property
    def latency(self) -> int | None: ...
    @property
    def reg_bits(self) -> int: ...
    @property
    def t(self) -> int: ...
    def write(self, metadata: Any = None, xls_opt: bool = False, no_shreg: bool = False) -> None: ...
    def compile(
        self,
        verbose: bool = False,
        openmp: bool = True,
        nproc: int | None = None,
        o3: bool = False,
        clean: bool = True,
        metadata: Any = None,
        xls_opt: bool = False,
        no_shreg: bool = False,
        _env: dict[str, str] | None = None,
    ) -> None: ...
    def __del__(self) -> None: ...
    def canonicalize_inp_data(self, data: Any) -> dict[str, Any]: ...
    def predict(
        self, data: Any, n_threads: int = 0, always_return_dict: bool = False, engine: bool | None = None
    ) -> Any: ...
    def run(
        self,
        data: Any,
        steps: int | None = None,
        scheduled: bool | None = None,
        output_only: bool = True,
        extra_steps: int = 0,
        n_threads: int = 1,
    ) -> dict[str, Any]: ...
    def soft_reset(self) -> None: ...
    def tick(self) -> None: ...
    def eval(self) -> None: ...
    def set_port(self, name: str, values: Any, dtype: Any = None, *, element_codes: bool = False) -> None: ...
    def get_port(self, name: str, dtype: Any = ..., scalar: bool = False, *, element_codes: bool = False) -> Any: ...
