"""Fixed-point models as hardware: load, run, write as Verilog or VHDL, simulate, prove, package.

A model comes from a file (`Model.load`), from alkaid (`Model.from_comb`), from a network (`Model.from_onnx`, `Model.from_network`) or
from a constant matrix:

    >>> from alir2hdl import Model
    >>> model = Model.from_matrix([[1, 2], [3, 4]], "s8.2")
    >>> model.predict([[1, 0.25]])                  # bit for bit what the hardware computes
    array([[1.75, 3.  ]])
    >>> hardware = model.compile(pipeline=1, device="xcku5p")
    >>> hardware.latency
    1
    >>> hardware.prove().verdict                    # for every input
    'proved'
"""

import copy
import io
import json
import math
import operator
import os
import time
from collections.abc import Mapping
from contextlib import contextmanager
from functools import lru_cache
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ._alir2hdl import SYNONYMS as _SYNONYMS, Native, __version__, calibrate as _calibrate, delay_digits as _delay_digits, explore as _explore, file_kind, report as _report
from ._errors import (Alir2hdlWarning, Diagnostic, Error, InputError, InternalError, MissingToolError, UndecidedError,
                      NotFound, UnsupportedError, _spoken, reworded, without_folder)

__all__ = ["AdderGraph", "Alir2hdlWarning", "Diagnostic", "Error", "Estimate", "Hardware", "InputError", "InternalError",
           "MissingToolError", "Model", "Operation", "PortType", "Proof", "Run", "Stage", "UndecidedError", "UnsupportedError",
           "Verification", "calibrate", "cmvm", "explore", "report", "sweep", "__version__"]


@dataclass(frozen=True)
class Run:
    """Result of one simulator."""

    simulator: str
    language: str
    #: Cycles in which an output differs from the model.
    wrong: int
    #: The first of them in words, or None.
    first: str | None


@dataclass(frozen=True)
class Verification:
    """The results of every simulator. Its truth value is the verdict."""

    runs: list[Run]

    @property
    def passed(self) -> bool:
        """True if at least one simulator ran and none found a difference."""
        return bool(self.runs) and all(run.wrong == 0 for run in self.runs)

    def __bool__(self) -> bool:
        """`passed`; without any simulator there is no verdict, and UndecidedError is raised."""
        if not self.runs:
            raise UndecidedError("no simulator is installed, so nothing was verified; use `.passed` or `.runs`")
        return self.passed

    def __repr__(self) -> str:
        runs = [f"{run.simulator} ({run.language}): " + (f"{run.wrong} wrong cycles, {run.first}" if run.wrong else "equal")
                for run in self.runs]
        verdict = "no simulator" if not self.runs else "passed" if self.passed else "failed"
        return f"Verification({'; '.join([verdict, *runs])})"


@dataclass(frozen=True)
class Proof:
    """The outcome of a proof. Its truth value is the verdict."""

    #: `proved`, `differs` or `unknown`.
    verdict: str
    #: Output of `alir2hdl prove --json`.
    report: dict[str, Any] = field(repr=False)
    #: Time that the proof took.
    seconds: float | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        """True for `proved`, False for `differs`; UndecidedError for `unknown`."""
        if self.verdict not in ("proved", "differs"):
            raise UndecidedError(f"the proof is undecided: {self.reason}; ask `.verdict`")
        return self.verdict == "proved"

    @property
    def reason(self) -> str | None:
        """Why it is not proved; None if it is."""
        return self.report.get("reason")

    @property
    def counterexample(self) -> dict[str, Any] | None:
        """Inputs (raw integer values) for which RTL and model differ, the output element, its values in both."""
        return self.report.get("counterexample")

    @property
    def latency(self) -> int | None:
        """Latency in clocks that the proof is about."""
        return self.report.get("latency")

    def __repr__(self) -> str:
        parts = [self.verdict]
        if self.reason is not None:
            parts.append(f"reason={self.reason!r}")
        if self.counterexample is not None:
            found = self.counterexample
            parts.append(f"output {found.get('output')} is {found.get('found')} instead of {found.get('expected')} for inputs "
                         f"[{', '.join(found.get('inputs') or [])}]")
        if self.latency is not None:
            parts.append(f"latency={self.latency}")
        if self.seconds is not None:
            parts.append(f"{self.seconds:.2f} s")
        return f"Proof({', '.join(parts)})"


def _numbers(x, codes: bool):
    """Numbers as a C-contiguous, aligned array of native float64, float32 or integers, or of Python integers; no value changes."""
    import numpy as np

    if isinstance(x, np.ma.MaskedArray) and np.any(x.mask):
        raise InputError("some numbers are masked, and hardware has no missing values; x.filled(0) gives them a value")
    try:
        array = np.asarray(x)
    except ValueError:
        raise InputError("the rows have different lengths") from None
    kind = array.dtype.kind
    if kind == "f" and not isinstance(x, np.ndarray) and not hasattr(x, "dtype"):
        # numpy rounds integers in a list that also holds larger or fractional numbers.
        if array.size and not np.all(np.abs(array) < 2**53):
            array, kind = np.asarray(x, dtype=object), "O"
    if kind == "O":
        flat = array.reshape(-1)
        if all(isinstance(one, (int, np.integer, np.bool_)) for one in flat):
            return array
        reals = np.empty(array.shape, np.float64)
        for k, one in enumerate(flat):
            try:
                reals.reshape(-1)[k] = one
                exact = isinstance(one, float) or float(reals.reshape(-1)[k]) == one or one != one
            except (TypeError, ValueError, OverflowError):
                exact = False
            if not exact:
                import reprlib

                raise InputError(f"number {k} is {reprlib.repr(one)}, which is no integer and which float64 cannot hold")
        array, kind = reals, "f"
    if kind == "b":
        array, kind = array.astype(np.uint8), "u"
    if kind not in "iuf":
        raise InputError(f"an array of {array.dtype} holds no numbers for inputs: float64, float32 or integers")
    if kind == "f" and codes:
        if array.size:
            raise InputError(f"codes=True takes integers, not {array.dtype}")
        array = array.astype(np.int64)
    if kind == "f" and array.dtype.itemsize not in (4, 8):
        found = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
        wrong = np.flatnonzero((found != array) & ~np.isnan(array))
        if wrong.size:
            raise InputError(f"number {wrong[0]} is {array.reshape(-1)[wrong[0]]!r}, which float64 cannot hold")
        array = found
    # Native byte order; no copy where all holds already.
    return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])


class PortType(NamedTuple):
    """Type of an element of the ports: a fixed-point number of `width` bits in steps of `2**-frac_bits`."""

    #: Name in the source; empty without one.
    name: str
    signed: bool
    #: Integer bits, without the sign.
    integer_bits: int
    frac_bits: int

    @property
    def width(self) -> int:
        """Bits, with the sign."""
        return int(self.signed) + self.integer_bits + self.frac_bits

    def __str__(self) -> str:
        return f"{'s' if self.signed else 'u'}{self.width}.{self.frac_bits}"


class Operation(NamedTuple):
    """An operation of a program. Its type is that of its result."""

    #: Name of the operation, such as `add`.
    name: str
    #: Numbers of the operations that it reads.
    operands: tuple[int, ...]
    signed: bool
    #: Integer bits, without the sign.
    integer_bits: int
    frac_bits: int


class Stage(NamedTuple):
    """A pipeline stage."""

    #: Number of the stage, from 1.
    stage: int
    #: Delay of the stage, in `Hardware.delay_unit`.
    delay: float
    #: Operations in the stage.
    operations: int
    #: Bits of the registers after the stage.
    register_bits: int


@dataclass(frozen=True)
class Estimate:
    """Estimated resources and clock on a device, without the wrapper. `docs/estimates.md` states the errors."""

    #: The device.
    device: str
    #: LUTs.
    lut: int
    #: Flip-flops.
    ff: int
    #: Carry cells.
    carry: int
    #: DSPs.
    dsp: int
    #: Block RAMs.
    ram: int
    #: Shortest clock period, in nanoseconds.
    period_ns: float
    #: Fastest clock, in MHz.
    clock_mhz: float
    #: Relative error of `lut` that nine of ten estimates stay below; None if it was not compared with tools.
    lut_error: float | None
    #: Relative error of the clock, likewise.
    clock_error: float | None


def _folder():
    """A temporary folder, for a with statement."""
    # Importing it takes as long as all else that this module imports.
    import tempfile

    return tempfile.TemporaryDirectory()


def _progress(items, total: int, title: str, progress: bool):
    """The items; with a bar of tqdm.auto if `progress` is set and tqdm is installed."""
    if progress:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return items
        return tqdm(items, total=total, desc=title)
    return items


class _Bar:
    """A bar of tqdm.auto whose total is known later."""

    def __init__(self, bar) -> None:
        self._bar = bar

    def update_to(self, done: int, total: int) -> None:
        if self._bar.total != total:
            self._bar.reset(total)
        self._bar.update(done - self._bar.n)


@contextmanager
def _bar(title: str, progress: bool):
    """A bar for a with statement; None if it was not requested or tqdm is not installed."""
    bars = _progress(None, 0, title, progress)
    if bars is None:
        yield None
        return
    with bars:
        yield _Bar(bars)


def _integers(codes) -> list[int]:
    return [int.from_bytes(code, "little", signed=True) for code in codes]


def _bytes_of(number) -> bytes:
    number = int(number)
    return number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True)


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """Options of the hardware with Python's defaults: a reset without valid flags is one of the data."""
    if options.get("reset") in ("sync", "async") and not options.get("valid"):
        return {"reset_data": True, **options}
    return options


def _hashable(options: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Options as a key of a cache."""
    return tuple((name, tuple(value) if isinstance(value, (list, set)) else value) for name, value in options.items())


#: Options about reading that a matrix has.
_OF_MATRICES = {"input_type", "cmvm_latency", "cmvm_budget"}


def _latency(interface: dict[str, Any]) -> int:
    """Returns the latency in a description of an interface."""
    return interface.get("axis", interface)["latency"] or 0


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


def _npy(array) -> bytes:
    """The bytes of an npy file; a matrix of any order of axes."""
    import numpy as np

    try:
        matrix = np.asarray(array)
    except ValueError as error:
        raise InputError(f"matrix: {error}; a matrix has rows of one length") from None
    if matrix.dtype.kind not in "biufO":
        raise InputError(f"matrix: an array of {matrix.dtype} holds no weights; they are integers or finite floats")
    held = io.BytesIO()
    try:
        np.save(held, matrix, allow_pickle=False)
    except ValueError:
        raise InputError("matrix: an array of Python objects holds no weights; convert it with astype(float)") from None
    return held.getvalue()


def _content(source, suffix: str) -> bytes:
    """The bytes of a source: of the file that is named, a dict as JSON, an object with `SerializeToString` (an onnx.ModelProto), or
    bytes as they are."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, dict):
        def plain(value):
            # Scalars and arrays of numpy.
            if hasattr(value, "tolist"):
                return value.tolist()
            raise TypeError(f"JSON has no {type(value).__name__}")

        try:
            return json.dumps(source, default=plain).encode()
        except (TypeError, ValueError) as error:
            raise InputError(f"the dict is no {suffix} content: {error}") from None
    if hasattr(source, "SerializeToString"):
        return source.SerializeToString()
    if isinstance(source, (str, os.PathLike)):
        return _read(os.fspath(source))
    if hasattr(getattr(source, "model", None), "SerializeToString"):
        # qonnx's ModelWrapper.
        return source.model.SerializeToString()
    raise InputError(f"{type(source).__name__} is no {suffix} file, nor what one holds")


def _weights(weights) -> tuple[dict[str, bytes], dict[str, tuple[str, ...]]]:
    """Files of weights, and the option that names them: those that are given, or one with the arrays of a dict."""
    if weights is None:
        return {}, {}
    if isinstance(weights, dict):
        import numpy as np

        held = io.BytesIO()
        np.savez(held, **{name: np.asarray(array) for name, array in weights.items()})
        return {"weights.npz": held.getvalue()}, {"weights": ("weights.npz",)}
    many = [weights] if isinstance(weights, (str, os.PathLike)) else list(weights)
    files, names = {}, []
    for at, path in enumerate(map(Path, many)):
        inside = sorted(path.glob("*.npy")) if path.is_dir() else [path]
        # A folder without arrays stays one: the reader says what is missing.
        files |= {f"weights{at}/{file.name}": file.read_bytes() for file in inside} or {f"weights{at}/": b""}
        names.append(f"weights{at}" + ("" if path.is_dir() else f"/{path.name}"))
    return files, {"weights": tuple(names)}


def _write_files(folder: str, files) -> None:
    """Writes pairs of names and contents into a folder; a name that ends in `/` is a folder."""
    for file, content in files:
        path = Path(folder, file)
        (path if file.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not file.endswith("/"):
            path.write_bytes(content)


def _inside(folder: str, paths) -> dict[str, list[str]]:
    """Options whose values are names of files in a folder, with their paths."""
    return {option: [os.path.join(folder, name) for name in names] for option, names in paths}


@lru_cache(maxsize=8)
def _of_files(name: str, files: tuple[tuple[str, bytes], ...], paths: tuple[tuple[str, Any], ...],
              options: tuple[tuple[str, Any], ...]) -> "Model":
    """The model that some files make, with options about reading; `paths` are those whose values are names of these files."""
    with _folder() as folder:
        _write_files(folder, files)
        given = {name: files if name == "weights" else files[0] for name, files in _inside(folder, paths).items()}
        try:
            native = Native.read(os.path.join(folder, name), {**dict(options), **given})
        except Error as error:
            raise without_folder(error, folder) from None
    model = Model(native)
    model._made = (_of_files, (name, files, paths, options))
    return model


@lru_cache(maxsize=8)
def _unpickled(data: bytes, file: str) -> "Model":
    """A model that another process sent. Tasks of one model come by the thousand, and a model never changes: it is read once."""
    return Model(Native.from_bytes(data, file))


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        missing = NotFound(f"{path} does not exist")
        missing.errno, missing.strerror, missing.filename = error.errno, error.strerror, path
        raise missing from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file in it") from None


def _language(language) -> str:
    """Returns a language of HDL; TypeError for what is no text."""
    if not isinstance(language, str):
        raise TypeError(f"language={language!r} is no language: 'verilog', 'systemverilog' or 'vhdl'")
    return language


class Model:
    """A checked model. It can be pickled, and so sent to processes and clusters.

    Options of the hardware, in `emit`, `interface`, `latency`, `verify` and `project`, are those of the program, with `_` for
    `-`: `pipeline=3`, `pipeline="auto"` with `clock_period=5`, `max_stage_delay`, `register_inputs=True`, `valid=True`,
    `enable=True`, `reset="sync"`, `ports="split"`, `port_style="ap"`, `clk_name="clock"`, `wrapper="axis"` with
    `axis_width=64`, `rom_style="block"`, `keep_names=True`, `names_from="old.json"`, `use_dsp="no"` and so on (`alir2hdl --help`; the stubs list them).
    Differences: `top` is "model" unless given; `optimise=0..2` is -O; a reset without `valid` resets the data.

    An invalid file or option raises ValueError with the program's message.
    """

    def __init__(self, native: Native) -> None:
        if not isinstance(native, Native):
            raise TypeError(f"Model takes no {type(native).__name__}: Model.load reads a file; from_comb, from_network, from_matrix and "
                            "others take objects")
        self._native = native
        #: Recipe that rebuilds it when unpickled; None: from its bytes.
        self._made = None

    @classmethod
    def load(cls, path, *, weights=None, quant=None, weight_map=None, **options) -> "Model":
        """Reads a file of any kind that the command reads.

        Parameters
        ----------
        path : str or os.PathLike
            ALIR, DAIS or byte code of any version, a state machine (ALIRFSM), an integer kernel (LLVLIR), a network (QONNX or IR v2)
            or a matrix (npy); plain or gzip.
        weights, quant, weight_map
            For networks: see `from_network` and `from_onnx`.
        **options
            Options about reading, such as `input_type="s8.2"`.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        InputError
            If the file is invalid.
        """
        path = os.path.abspath(path)
        if path.endswith((".aag", ".aig", ".aignet")):
            raise InputError(f"{path} contains gates, not a model: these formats are output only; save the model as .json or .json.gz too")
        data = _read(path)
        kind = file_kind(data[:1 << 16], path)
        if kind == "graph":
            return cls.from_network(data, weights, quant, weight_map, **options)
        unused = [name for name, value in (("weights", weights), ("weight_map", weight_map)) if value is not None]
        if unused or quant is not None and kind != "onnx":
            raise InputError(f"{(unused or ['quant'])[0]} is for networks, and {path} is none")
        if kind == "onnx":
            return cls.from_onnx(data, options.pop("input_type", None), quant, **options)
        if kind == "matrix" and isinstance(options.get("input_type"), (list, tuple)) and options.keys() <= _OF_MATRICES:
            return _of_matrix(data, tuple(options["input_type"]), options.get("cmvm_latency"), options.get("cmvm_budget") or 0).model
        if kind == "matrix" or options:
            name = os.path.basename(path)
            return _of_files(name, ((name, data),), (), _hashable(options))
        return cls(Native.from_bytes(data, path))

    @classmethod
    def from_bytes(cls, data: bytes | str) -> "Model":
        """Reads a program, a state machine or an integer kernel from memory.

        Parameters
        ----------
        data : bytes-like or str
            Content of a file: ALIR, DAIS, ALIRFSM or LLVLIR.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        InputError
            If the content is invalid.
        TypeError
            If data is neither bytes nor text.
        """
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"from_bytes takes the content of a file, as bytes or str, not {type(data).__name__}; Model.load takes a path")
        return cls(Native.from_bytes(data.encode() if isinstance(data, str) else bytes(data), "-"))

    @classmethod
    def from_comb(cls, comb) -> "Model":
        """Converts an alkaid or da4ml program.

        Parameters
        ----------
        comb : object or tuple
            Object whose `save(path)` writes a program, or the pair of inputs and outputs of a traced computation (for
            `comb_trace(inputs, outputs)` of alkaid).

        Returns
        -------
        Model
            The model.

        Raises
        ------
        InputError
            If comb is no program.
        """
        if isinstance(comb, tuple) and len(comb) == 2:
            from alkaid.trace import trace

            try:
                comb = trace(*comb)
            except (AttributeError, TypeError) as error:
                raise InputError(f"the pair is no inputs and outputs that alkaid traced: {error}") from error
        if not hasattr(comb, "save"):
            raise InputError(f"{type(comb).__name__} is no program of alkaid; for a Keras model: inputs, outputs = "
                             "alkaid.converter.trace_model(model); Model.from_comb((inputs, outputs))")
        with _folder() as folder:
            path = Path(folder) / "model.json"
            comb.save(str(path))
            try:
                return cls.from_bytes(path.read_bytes())
            except InputError as error:
                if error.code != "E0137":
                    raise
                first = replace(error.diagnostics[0], help="alkaid computes steps with 24 bits and bounds with 53: round constants to 24 bits "
                                "or fewer, such as np.round(w * 2**12) / 2**12, and quantise wide intermediate values")
                raise InputError(f"alkaid's program has inexact types: {first.message}\n  help: {first.help}", (first,)) from None

    @classmethod
    def from_network(cls, network, weights=None, quant=None, weight_map=None, **options) -> "Model":
        """Compiles an IR v2 graph to a model.

        `predict` accepts and returns real numbers; a proof begins with the semantics of the network.

        Parameters
        ----------
        network : str, os.PathLike or dict
            File of the graph, or its content.
        weights : dict, str or os.PathLike, optional
            Arrays by name, or a file (or several, or a folder) of safetensors, npz or npy.
        quant : str, os.PathLike or dict, optional
            Types of the values: a file, or its content.
        weight_map : str, os.PathLike or dict, optional
            Names of the weights in their files: a file, or its content.
        **options
            `nodes`, `output_buffer` (a name, or several), `max_adders`, `max_table_bits`; for transformers `tokens`
            and `position_offset`.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        InputError
            If a file or an option is invalid.
        """
        files, paths = _weights(weights)
        files["network.json"] = _content(network, "IR v2")
        for name, source in (("quant", quant), ("weight_map", weight_map)):
            if source is not None:
                files[f"{name}.json"] = _content(source, "JSON")
                paths[name] = (f"{name}.json",)
        return _of_files("network.json", tuple(files.items()), tuple(paths.items()), _hashable(options))

    @classmethod
    def from_onnx(cls, model, input_type: str | None = None, quant=None, **options) -> "Model":
        """Compiles a QONNX network to a model.

        `predict` accepts and returns real numbers; a proof begins with the semantics of the network.

        Parameters
        ----------
        model : str, os.PathLike, bytes, onnx.ModelProto or qonnx.ModelWrapper
            File of the network, its bytes, or the loaded network.
        input_type : str, optional
            Type of the input port, such as `s16.10` or `s16.10,RND_CONV,SAT`. By default the port carries the raw
            integer values of the first Quant of the network.
        quant : str, os.PathLike or dict, optional
            Types of the intermediate values of Softmax and norms: a file, or its content.
        **options
            `max_adders`, `max_table_bits`.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        InputError
            If a file or an option is invalid.
        """
        files = [("model.onnx", _content(model, "ONNX"))]
        if quant is not None:
            files.append(("quant.json", _content(quant, "JSON")))
        paths = () if quant is None else (("quant", ("quant.json",)),)
        return _of_files("model.onnx", tuple(files), paths, _hashable({"input_type": input_type, **options}))

    @classmethod
    def from_matrix(cls, matrix, input_type, latency: float | None = None, budget: int = 0) -> "Model":
        """Returns the model of the product `y = x W` with a constant matrix.

        Parameters
        ----------
        matrix : array_like, shape (inputs, outputs)
            Integers or finite floats.
        input_type : str or list of str
            Type of every input, or one for each: see `cmvm`.
        latency : float, optional
            Limit of the longest path, in the units of `AdderGraph.latency`.
        budget : int
            Budget of the search for fewer adder bits, in units of about a millisecond.

        Returns
        -------
        Model
            Exact product.
        """
        return cmvm(matrix, input_type, latency=latency, budget=budget).model

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

    @property
    def is_machine(self) -> bool:
        """True for a state machine, whose samples are cycles."""
        return self._native.is_machine()

    @property
    def input_types(self) -> list[PortType]:
        """Types of the input elements."""
        return [PortType(name, *rest) for *rest, name in self._native.port_types()[0]]

    @property
    def output_types(self) -> list[PortType]:
        """Types of the output elements."""
        return [PortType(name, *rest) for *rest, name in self._native.port_types()[1]]

    @property
    def operations(self) -> list[Operation]:
        """Operations of the program, in order; operands come before their readers.

        Raises
        ------
        UnsupportedError
            For a state machine.
        """
        return [Operation(name, tuple(operands), *kif) for name, operands, *kif in self._graph()[0]]

    def _graph(self):
        found = self._native.graph()
        if found is None:
            raise UnsupportedError("a state machine has blocks and registers, and no graph of operations; see Model.info()")
        return found

    def graph(self) -> list[tuple[int | str, int | str]]:
        """Edges from each operation to its readers, as `networkx.DiGraph` takes them. Operations are numbers in `operations`,
        outputs are called `out[0]`, `out[1]`, ...

        Examples
        --------
        >>> Model.from_matrix([[1], [3]], "s8.2").graph()[-1]
        (3, 'out[0]')
        """
        nodes, outputs = self._graph()
        edges: list[tuple[int | str, int | str]] = [(a, b) for b, (_, operands, *_) in enumerate(nodes) for a in operands]
        return edges + [(a, f"out[{k}]") for k, a in enumerate(outputs) if a is not None]

    def trace(self, x, *, codes: bool = False) -> list[dict[str, Any]]:
        """Values of every operation for one sample, as records that `pandas.DataFrame` takes.

        Parameters
        ----------
        x : array_like, shape (inputs,)
            The sample, as `predict` takes it.
        codes : bool
            Takes raw integer values.

        Returns
        -------
        list of dict
            For each operation, then each output: `value` (`v3`, `out[0]`), `operation`, `code` (raw integer value), `real`.

        Examples
        --------
        >>> Model.from_matrix([[2]], "s8.2").trace([1.25])[-1]
        {'value': 'out[0]', 'operation': 'output', 'code': 5, 'real': 2.5}
        """
        nodes = self._graph()[0]
        x = _numbers(x, codes)
        if x.shape != (self.n_inputs,):
            raise InputError(f"shape {x.shape} is no sample of {self.n_inputs} inputs")
        found = self._native.trace([_bytes_of(one) for one in x] if x.dtype == object else x, codes)
        rows = [(f"v{k}", nodes[k][0], code, nodes[k][4]) for k, code in enumerate(_integers(found[0]))]
        rows += [(f"out[{k}]", "output", code, kif.frac_bits)
                 for k, (code, kif) in enumerate(zip(_integers(found[1]), self.output_types))]
        return [{"value": name, "operation": operation, "code": code, "real": math.ldexp(code, -frac)}
                for name, operation, code, frac in rows]

    def save(self, path, **options) -> Path:
        """Writes the model as `alir2hdl convert` does. What a network or kernel was lowered from is not part of ALIR.

        Parameters
        ----------
        path : str or os.PathLike
            The file; its ending states the format, `.gz` packs it.
        **options
            Options of the command, such as `to="alir3"`.

        Returns
        -------
        pathlib.Path
            The file.
        """
        if self.is_machine:
            if options:
                raise UnsupportedError(f"{next(iter(options))}: state machines are written as ALIRFSM JSON only")
            import gzip

            data = self._native.alir()
            Path(path).write_bytes(gzip.compress(data, mtime=0) if os.fspath(path).endswith(".gz") else data)
            return Path(path)
        self._native.save(os.path.abspath(path), options)
        return Path(path)

    def __reduce__(self):
        return self._made or (_unpickled, self._native.content())

    def __repr__(self) -> str:
        return f"Model({self.n_inputs} inputs, {self.n_outputs} outputs, {self.n_operations} operations)"

    def predict(self, x, *, out=None, threads: int | None = None, codes: bool = False, reset=None, initial_state=None,
                return_state: bool = False):
        """The outputs for samples, bit for bit as the hardware computes them.

        Parameters
        ----------
        x : array_like, shape (samples, inputs) or (inputs,)
            Real numbers, each floored and wrapped to the type of its input. C-contiguous arrays of float64, float32 and integers of 8
            to 64 bits are read in place, others are copied once. Integers never pass through float64. An integer kernel (LLVLIR)
            takes signed integers. A Dask array gives a Dask array: each chunk is computed when it is needed, on one thread of the worker.
        out : numpy.ndarray, optional
            Takes the results: float64, or the dtype of raw integer values with `codes`.
        threads : int, optional
            Most threads; all processors that the process may use by default.
        codes : bool
            Takes and returns raw integer values (the integers on the ports), exactly: int64, uint64 where a port needs it, or Python
            integers (dtype object) above 64 bits.
        reset : array_like of bool, shape (samples,), optional
            Of a state machine, whose samples are cycles from power-on: before these cycles all registers get their power-on values.
        initial_state : dict, optional
            Of a state machine: raw integer values of registers by name, as `return_state` gives them; others are at power-on.
        return_state : bool
            Of a state machine: returns `(y, state)`, the state being that after the last cycle.

        Returns
        -------
        numpy.ndarray, shape (samples, outputs) or (outputs,)

        Raises
        ------
        InputError
            For NaN, infinity, a raw integer value outside of its port's type, a look-up outside of its table, and a result that float64
            cannot hold; the message names the first sample and element. The content of `out` is unspecified then.
        KeyboardInterrupt
            Within a second of Ctrl-C.

        Examples
        --------
        >>> model = Model.from_matrix([[1, 2], [3, 4]], "s8.2")
        >>> model.predict([[1, 1], [0.25, -0.25]])
        array([[ 4. ,  6. ],
               [-0.5, -0.5]])
        >>> model.predict([[4, 4]], codes=True)
        array([[16, 12]])
        """
        # Here and not above: the program itself starts without it.
        import numpy as np

        n_inputs, n_outputs, _ = self._native.shape()
        if not self.is_machine:
            for name, value in (("reset", reset), ("initial_state", initial_state), ("return_state", return_state or None)):
                if value is not None:
                    raise InputError(f"{name} is for state machines, and this is a program")
        if threads is not None and (not hasattr(threads, "__index__") or threads < 1):
            raise InputError(f"threads={threads!r} is no positive number of threads")
        # More than any computer has.
        threads = None if threads is None else min(operator.index(threads), 1 << 16)
        if hasattr(x, "map_blocks") and self.is_machine:
            raise UnsupportedError("a state machine runs from cycle to cycle, and chunks of a Dask array are independent")
        if hasattr(x, "map_blocks"):
            if out is not None:
                raise InputError("out is for arrays in memory, not for Dask arrays")
            if x.ndim != 2 or x.shape[1] != n_inputs:
                raise InputError(f"shape {x.shape} is no samples of {n_inputs} inputs")
            dtype = np.dtype(self._native.code_type()) if codes else np.dtype(np.float64)
            # A chunk holds whole samples. Dask has a thread a processor already.
            whole = x.rechunk({1: -1})
            return whole.map_blocks(self.predict, threads=threads or 1, codes=codes, dtype=dtype,
                                    chunks=(whole.chunks[0], (n_outputs,)), meta=np.empty((0, 0), dtype))
        x = _numbers(x, codes)
        if x.ndim == 0 or (math.prod(x.shape[1:]) if x.ndim > 1 else x.size) != n_inputs:
            raise InputError(f"shape {x.shape} is no sample or samples of {n_inputs} inputs")
        rows = 1 if x.ndim == 1 else len(x)
        shape = (n_outputs,) if x.ndim == 1 else (rows, n_outputs)
        dtype = np.dtype(self._native.code_type()) if codes else np.dtype(np.float64)
        if out is not None and not (isinstance(out, np.ndarray) and out.shape == shape and out.dtype.newbyteorder("=") == dtype):
            raise InputError(f"out is no array of {dtype} of shape {shape}")
        if out is not None and not out.flags.writeable:
            raise InputError("out is read-only")
        if x.dtype == object:
            x = [_bytes_of(one) for one in x.reshape(-1)]
        elif out is not None and np.may_share_memory(x, out):
            x = x.copy()
        if self.is_machine:
            y, state = self._run_machine(x, rows, shape, dtype, reset, initial_state)
            if out is not None:
                out[...] = y
                y = out
            return (y, state) if return_state else y
        if dtype == object:
            found = self._native.predict(x, None, rows, threads)
            y = np.empty(rows * n_outputs, object)
            y[:] = _integers(found)
            y = y.reshape(shape)
        else:
            # In place if `out` has the layout that the engine writes.
            y = out if out is not None and out.flags.carray and out.dtype.isnative else np.empty(shape, dtype)
            self._native.predict(x, y, rows, threads)
        if out is None or y is out:
            return y
        out[...] = y
        return out

    def _run_machine(self, x, rows, shape, dtype, reset, initial_state):
        import numpy as np

        resets = [] if reset is None else np.asarray(reset)
        if reset is not None and (resets.dtype != bool or resets.shape != (rows,)):
            raise InputError(f"reset is no array of {rows} booleans, one for each cycle")
        state = None
        if initial_state is not None:
            if not isinstance(initial_state, Mapping):
                raise InputError(f"initial_state is a dict of registers, not {type(initial_state).__name__}")
            state = []
            for name, codes in initial_state.items():
                try:
                    state.append((name, [_bytes_of(code) for code in _numbers(codes, True).reshape(-1)]))
                except InputError as error:
                    raise InputError(f"initial_state of {name}: {error}") from None
        y = np.empty(shape, dtype)
        into = y if dtype == np.float64 else None
        codes, after = self._native.run_machine(x, into, rows, [bool(one) for one in resets], state)
        if codes is not None:
            y.reshape(-1)[:] = _integers(codes)
        return y, {name: _integers(values) for name, values in after}

    def emit(self, language: str = "verilog", **hardware) -> str:
        """HDL source of the module.

        Parameters
        ----------
        language : {"verilog", "systemverilog", "vhdl"}
        **hardware
            Options of the hardware: see the class.

        Returns
        -------
        str
            HDL source.

        Raises
        ------
        InputError
            For options that are invalid or contradict each other.
        TypeError
            For an unknown option, with the nearest name.

        Examples
        --------
        >>> "module dut (" in Model.from_matrix([[1]], "s8.2").emit(top="dut")
        True
        """
        text, warnings = self._native.emit(_language(language), _options({"top": "model", **hardware}))
        _warn(json.loads(warnings), 3)
        return text

    def interface(self, **hardware) -> dict[str, Any]:
        """Returns ports, types, latency and register bits: the content that --interface writes.

        Parameters
        ----------
        **hardware
            Options of the hardware, see the class.

        Returns
        -------
        dict
            Described in docs/json.md.

        Raises
        ------
        InputError
            For options that are invalid or contradict each other.
        TypeError
            For an unknown option, with the nearest name.
        """
        return json.loads(self._native.interface(_options({"top": "model", **hardware})))

    def latency(self, **hardware) -> int:
        """Returns the latency of the hardware.

        Parameters
        ----------
        **hardware
            Options of the hardware, see the class.

        Returns
        -------
        int
            Cycles from inputs to outputs (0 for a state machine); with a wrapper, from the last beat of a sample to the first of its
            result.

        Raises
        ------
        InputError
            For options that are invalid or contradict each other.
        TypeError
            For an unknown option, with the nearest name.
        """
        return _latency(self.interface(**hardware))

    def verify(self, samples: int = 1000, seed: int = 1, timeout: int = 600, input=None, expect=None, codes: bool = False,
               rtl=None, *, progress: bool = False, **hardware) -> Verification:
        """Simulates generated RTL in every simulator that is installed and compares every cycle with the model.

        Parameters
        ----------
        samples : int
            Number of random samples, corners first; of a state machine, cycles.
        seed : int
            Seed of samples and stalls.
        timeout : int
            Time limit of a simulation, in seconds.
        input : array_like, str or os.PathLike, optional
            Own samples instead: an array with a row for each sample, or a file as `alir2hdl run` reads it.
        expect : array_like, str or os.PathLike, optional
            Expected outputs; by default those of the reference interpreter.
        codes : bool
            Both contain raw integer values.
        rtl : str, os.PathLike, or a list of them, optional
            Files that are simulated instead of generated RTL; `top` is their module, `pipeline` their latency in cycles.
        progress : bool
            Shows a bar of `tqdm.auto` over the simulations, if tqdm is installed.
        **hardware
            Options of the hardware, and `lang`, `sim`, `keep`, `vcd` of `alir2hdl verify`.

        Returns
        -------
        Verification
            Its truth value is the verdict.

        Raises
        ------
        MissingToolError
            If a simulator fails.
        UndecidedError
            If a simulator exceeds the time limit.
        KeyboardInterrupt
            Within a second of Ctrl-C.
        """
        options = _options({"top": "model", **hardware, "seed": seed, "timeout": timeout, "codes": codes, "samples": samples})
        if rtl is not None:
            # The name of the only module that no other uses is in the file.
            options["top"] = hardware.get("top")
            options["rtl"] = rtl
        with _folder() as folder:
            options["input"] = _samples(input, folder, "input.npy")
            options["expect"] = _samples(expect, folder, "expect.npy")
            try:
                with _bar("verify", progress) as bar:
                    report = self._native.verify(options, bar.update_to if bar else None)
            except Error as error:
                raise without_folder(error, folder) from None
        runs = []
        for run in json.loads(report)["simulations"] if report is not None else []:
            first = _described(run["mismatches"][0]) if run["mismatches"] else None
            runs.append(Run(run["simulator"], run["language"], run["different_cycles"], first))
        return Verification(runs)

    def project(self, output, **options) -> Path:
        """Writes a folder for a tool flow, as `alir2hdl project` does.

        Parameters
        ----------
        output : str or os.PathLike
            The folder.
        **options
            `flow` (such as `["vivado", "yosys"]`), `part`, `clock_period`, `vectors`; samples for the testbenches
            (`input`, `expect`, `codes` as in `verify`); options of the hardware.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        InputError
            For options that are invalid or contradict each other.
        TypeError
            For an unknown option, with the nearest name.
        """
        with _folder() as folder:
            for name in ("input", "expect"):
                options[name] = _samples(options.get(name), folder, f"{name}.npy")
            try:
                self._native.project(os.fspath(output), _options({"top": "model", **options}))
            except Error as error:
                raise without_folder(error, folder) from None
        return Path(output)

    def view(self, output, **options) -> Path:
        """Writes the HTML viewer of the pipeline, as `alir2hdl view` does.

        Parameters
        ----------
        output : str or os.PathLike
            The HTML file.
        **options
            Options of the command.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        InputError
            For options that are invalid or contradict each other.
        TypeError
            For an unknown option, with the nearest name.
        """
        self._native.view(os.fspath(output), options)
        return Path(output)

    def prove(self, source, language: str | None = None, top: str | None = None, latency: int | None = None,
              sat_steps: int | None = None, *, certificate=None, progress: bool = False, **options) -> Proof:
        """Proves that Verilog or VHDL computes the model for every input, with the strength of `alir2hdl prove`.

        Parameters
        ----------
        source : str or os.PathLike
            A file (a Path, or a str without line breaks), or HDL source.
        language : {"verilog", "vhdl"}, optional
            By default by the ending of the file, otherwise Verilog.
        top : str, optional
            Module or entity; by default the one that no other uses.
        latency : int, optional
            Clocks that it is required to have; by default those that its header comment states, or that it has.
        sat_steps : int, optional
            Budget of the SAT solver for one output bit.
        certificate : str or os.PathLike, optional
            Folder for a certificate: files for `alir2hdl-check` and other provers, with the design and the source.
        progress : bool
            Shows a bar of `tqdm.auto` over the outputs, if tqdm is installed.
        **options
            Options of the command: `ii`, `ii_input`, `prove_effort`, `work` (ticks of the run), `gates_only`, `port_style`, `port`,
            `reset_polarity`, `threads` (all processors by default); `depth` of a state machine.

        Returns
        -------
        Proof
            Its truth value is the verdict: `assert model.prove(text)`.

        Raises
        ------
        InputError
            If the source cannot be read, or has other ports than the model.
        FileNotFoundError
            If there is no such file.
        KeyboardInterrupt
            Within a second of Ctrl-C.

        Examples
        --------
        >>> model = Model.from_matrix([[1, 2], [3, 4]], "s8.2")
        >>> model.prove(model.emit(pipeline=1)).verdict
        'proved'
        """
        if not isinstance(source, (str, os.PathLike)):
            raise TypeError(f"source is HDL source or the path of a file, not {type(source).__name__}")
        if isinstance(source, os.PathLike) or isinstance(source, str) and source.strip() and "\n" not in source.strip():
            path = Path(source)
            if isinstance(source, os.PathLike) or path.suffix.lower() in (".v", ".sv", ".vh", ".vhd", ".vhdl") or path.is_file():
                language = language or ("vhdl" if path.suffix.lower() in (".vhd", ".vhdl") else "verilog")
                source = _read(os.fspath(source)).decode(errors="replace")
        language = _language(language or "verilog")
        folder = None if certificate is None else os.fspath(certificate)
        given = {"top": top, "latency": latency, "sat_steps": sat_steps, **options}
        start = time.perf_counter()
        with _bar("prove", progress) as bar:
            report = json.loads(self._native.prove(source, language, folder, given, bar.update_to if bar else None))
        seconds = time.perf_counter() - start
        if folder is not None:
            # The checker compares these two.
            data, _ = self._native.content()
            packed = data[:2] == b"\x1f\x8b"
            Path(folder, "model.json.gz" if packed else "model.json").write_bytes(data or self._native.alir())
            Path(folder, "source.vhd" if language == "vhdl" else "source.v").write_text(source)
        verdict = report["verdict"]
        return Proof(verdict if isinstance(verdict, str) else next(iter(verdict)), report, seconds)

    def compile(self, language: str = "verilog", **hardware) -> "Hardware":
        """Compiles the model to hardware.

        Parameters
        ----------
        language : {"verilog", "systemverilog", "vhdl"}
            Language of the source.
        **hardware
            Options of the hardware, such as `pipeline=3`, `optimise=2`, `device="xcvu13p"`.

        Returns
        -------
        Hardware
            HDL source, interface and figures.

        Raises
        ------
        InputError
            For options that are invalid or contradict each other.
        TypeError
            For an unknown option, with the nearest name.
        """
        return Hardware(self, language, {"top": "model", **hardware})

    def _saved(self, folder: str) -> str:
        """A file with the model: the one that it was read from, otherwise ALIR."""
        data, name = self._native.content()
        ending = os.path.splitext(name)[1] if name != "-" else ""
        if not data:
            data, ending = self._native.alir(), ".json"
        path = os.path.join(folder, "model" + (ending or ".json"))
        Path(path).write_bytes(data)
        return path

    def info(self, **options) -> dict[str, Any]:
        """Facts about the model: shape, types, operations, widths; what `alir2hdl info --json` prints.

        Parameters
        ----------
        **options
            Options of the hardware, and `sweep` (numbers of stages: 12, "0..6" or a list) with `svg` (file of the chart) and
            `prove=True`.

        Returns
        -------
        dict

        Raises
        ------
        InputError
            For options that are invalid or contradict each other.
        TypeError
            For an unknown option, with the nearest name.

        Examples
        --------
        >>> facts = Model.from_matrix([[3, 5]], "s8.2").info(sweep=[0, 1])
        >>> facts["outputs"]["elements"], len(facts["sweep"])
        (2, 2)
        """
        facts, warnings = self._native.info(options)
        _warn(json.loads(warnings), 3)
        return json.loads(facts)

    def check(self) -> dict[str, Any]:
        """Properties of the model, which is valid: what `alir2hdl check --json` prints of a valid file."""
        return json.loads(self._native.check())

    def _repr_html_(self) -> str:
        from collections import Counter

        def types(all_types) -> str:
            counts = Counter(str(kif) for kif in all_types).most_common(4)
            return ", ".join(f"{count} x {kif}" for kif, count in counts) + (", ..." if len(set(map(str, all_types))) > 4 else "")

        rows = [("inputs", f"{self.n_inputs}: {types(self.input_types)}"), ("outputs", f"{self.n_outputs}: {types(self.output_types)}"),
                ("operations", self.n_operations)]
        if not self.is_machine:
            rows += Counter(operation.name for operation in self.operations).most_common(8)
        return _table("State machine" if self.is_machine else "Model", rows)


@dataclass(frozen=True)
class Hardware:
    """Compiled hardware of a model. Immutable."""

    model: Model = field(repr=False)
    #: `verilog` or `vhdl`: the language that was compiled first.
    language: str
    _options: dict[str, Any] = field(repr=False)
    _texts: dict[str, str] = field(init=False, repr=False, compare=False, default_factory=dict)
    #: Ports, types, latency, registers: what `--interface` writes.
    interface: dict[str, Any] = field(init=False, repr=False, compare=False)

    #: Estimated LUTs, flip-flops, DSPs and clock.
    estimate: Estimate = field(init=False, repr=False, compare=False)
    #: Pipeline stages; none of shared hardware, state machines and combinational hardware.
    stages: list[Stage] = field(init=False, repr=False, compare=False)
    #: Unit of the delays of the stages; empty without stages.
    delay_unit: str = field(init=False, repr=False, compare=False)
    #: Chart of the stages, or of shared hardware over time, in SVG; empty without either.
    chart: str = field(init=False, repr=False, compare=False)
    #: Figures in one line.
    summary: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # A list among them may change later.
        object.__setattr__(self, "_options", copy.deepcopy(self._options))
        text, facts = self.model._native.compile(_language(self.language), _options(self._options))
        self._texts[self.language] = text
        found = json.loads(facts)
        _warn(found["warnings"], 5)
        found["estimate"] = Estimate(**{name: found["estimate"][name] for name in Estimate.__dataclass_fields__})
        found["stages"] = [Stage(**stage) for stage in found["stages"]]
        for name in ("interface", "estimate", "stages", "delay_unit", "chart", "summary"):
            object.__setattr__(self, name, found[name])

    def _text(self, language: str) -> str:
        if language not in self._texts:
            # `compile` has warned of the options.
            self._texts[language], _ = self.model._native.emit(language, _options(self._options))
        return self._texts[language]

    def _with(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options with others, which replace those of the same name or of another name for it."""
        replaced = {_SYNONYMS.get(name, name) for name in options}
        return {**{name: value for name, value in self._options.items() if _SYNONYMS.get(name, name) not in replaced}, **options}

    def __hash__(self) -> int:
        # A dict has no hash; equal hardware has equal summaries.
        return hash((self.model, self.language, self.summary))

    @property
    def options(self) -> dict[str, Any]:
        """A copy of the options, as they were given."""
        return copy.deepcopy(self._options)

    @property
    def verilog(self) -> str:
        """Verilog source."""
        return self._text("verilog")

    @property
    def systemverilog(self) -> str:
        """SystemVerilog source."""
        return self._text("systemverilog")

    @property
    def vhdl(self) -> str:
        """VHDL source."""
        return self._text("vhdl")

    @property
    def latency(self) -> int:
        """Clocks from inputs to outputs; 0 for a state machine."""
        return _latency(self.interface)

    @property
    def registers(self) -> int:
        """Register bits."""
        return self.interface["register_bits"]

    def write(self, folder) -> Path:
        """Writes the HDL source and `interface.json` into a folder, which is created.

        Parameters
        ----------
        folder : str or os.PathLike
            The folder.

        Returns
        -------
        pathlib.Path
            The file of the source.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        ending = {"verilog": "v", "systemverilog": "sv"}.get(self.language, "vhd")
        file = folder / f"{self._options['top']}.{ending}"
        file.write_text(self._text(self.language))
        (folder / "interface.json").write_text(json.dumps(self.interface, indent=2) + "\n")
        return file

    def verify(self, **options) -> Verification:
        """Simulates the hardware and compares it with the model.

        Parameters
        ----------
        **options
            Parameters of `Model.verify`.

        Returns
        -------
        Verification
            Result of every simulator.
        """
        return self.model.verify(**self._with(options))

    def prove(self, **options) -> Proof:
        """Proves the hardware equal to the model, for every input.

        Parameters
        ----------
        **options
            Parameters of `Model.prove`; `certificate=folder` writes a certificate.

        Returns
        -------
        Proof
            The verdict, with its report.
        """
        return self.model.prove(self._text(self.language), self.language, **options)

    def project(self, output, **options) -> Path:
        """Writes a folder for a tool flow.

        Parameters
        ----------
        output : str or os.PathLike
            The folder.
        **options
            Parameters of `Model.project`.

        Returns
        -------
        pathlib.Path
            The folder.
        """
        return self.model.project(output, **self._with(options))

    def view(self, output, **options) -> Path:
        """Writes the HTML viewer of the pipeline.

        Parameters
        ----------
        output : str or os.PathLike
            The HTML file.
        **options
            Parameters of `Model.view`.

        Returns
        -------
        pathlib.Path
            The file.
        """
        return self.model.view(output, **{name: value for name, value in self._with(options).items() if name in _VIEWED or name in options})

    def _repr_html_(self) -> str:
        estimate = self.estimate
        rows = [("latency", f"{self.latency} cycles"), ("register bits", self.registers),
                (f"LUT ({estimate.device})", estimate.lut), ("FF", estimate.ff), ("DSP", estimate.dsp), ("BRAM", estimate.ram),
                ("clock", f"{estimate.clock_mhz:.4g} MHz")]
        table = _table(f"Hardware {self._options['top']} ({self.language}), estimated", rows)
        if not self.stages:
            return self.chart + table
        import html

        heads = ("stage", f"delay ({html.escape(self.delay_unit)})", "operations", "register bits")
        lines = "".join(f"<tr><td>{one.stage}</td><td>{_delay_digits(one.delay, self.delay_unit)}</td><td>{one.operations}</td><td>{one.register_bits}</td></tr>"
                        for one in self.stages)
        head = "".join(f"<th>{one}</th>" for one in heads)
        return f"{self.chart}{table}<table><tr>{head}</tr>{lines}</table>"


#: Options of the hardware that a page depends on.
_VIEWED = frozenset({
    "optimise", "passes", "assume_intervals", "retime", "pipeline", "stages", "ii", "ii_engine", "ii_input", "ii_share", "max_luts",
    "max_ffs", "max_latency", "register_inputs", "register_outputs", "max_stage_delay", "clock_period", "freq", "delay_unit",
    "clock_uncertainty", "input_delay", "output_delay", "pipeline_objective", "effort", "use_dsp", "device", "part",
    "delay_model"})


def _table(title: str, rows) -> str:
    import html

    cells = "".join(f"<tr><th>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"


def _warn(problems: list[dict[str, Any]], stacklevel: int) -> None:
    """Warns of the warnings among problems."""
    import warnings

    for problem in problems:
        if problem["severity"] == "warning":
            flag = problem.get("place", {}).get("flag", "")
            text = problem["message"] if flag in problem["message"] else f"{flag}: {problem['message']}"
            warnings.warn(f"{_spoken(text)} ({problem['code']})", Alir2hdlWarning, stacklevel=stacklevel)


def calibrate(network, samples, bits: int, weights=None, output=None, **options) -> dict[str, Any]:
    """Chooses fixed-point types for a network of floating-point numbers from samples, as `alir2hdl calibrate`.

    Parameters
    ----------
    network : str, os.PathLike, bytes or dict
        An IR v2 graph or a QONNX file.
    samples : array_like, or dict of array_like
        Samples of the input, or of several inputs by name.
    bits : int
        Bits of every buffer.
    weights
        As in `Model.from_network`.
    output : str or os.PathLike, optional
        File for the types.
    **options
        Options of the command, such as `weight_bits=6`.

    Returns
    -------
    dict
        The types, as `Model.from_network(..., quant=...)` takes them.
    """
    import numpy as np

    content = _content(network, "network")
    with _folder() as folder:
        files, paths = _weights(weights)
        name = "model.onnx" if file_kind(content[:1 << 16], "-") == "onnx" else "network.json"
        _write_files(folder, [*files.items(), (name, content)])
        found = []
        many = samples if isinstance(samples, dict) else {"": samples}
        for at, (input_name, array) in enumerate(many.items()):
            file = os.path.join(folder, f"samples{at}.npy")
            np.save(file, np.asarray(array))
            found.append((input_name or None, file))
        try:
            text = _calibrate(os.path.join(folder, name), _inside(folder, paths.items()), found, {"bits": bits, **options})
        except Error as error:
            raise without_folder(error, folder) from None
    if output is not None:
        Path(output).write_text(text)
    return json.loads(text)


@contextmanager
def _program(folder: str):
    """A program in a folder for processes that workflows start: ALIR2HDL names it."""
    import shlex
    import sys

    package = Path(__file__).parents[1]
    script = Path(folder, "alir2hdl")
    script.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(package))}${{PYTHONPATH:+:$PYTHONPATH}} '
                      f'exec {shlex.quote(sys.executable)} -m alir2hdl "$@"\n')
    script.chmod(0o755)
    before = os.environ.get("ALIR2HDL")
    os.environ["ALIR2HDL"] = str(script)
    try:
        yield
    finally:
        if before is None:
            del os.environ["ALIR2HDL"]
        else:
            os.environ["ALIR2HDL"] = before


def explore(models, output, *, run: bool = False, shared=(), **options) -> list[dict[str, Any]]:
    """Builds, proves and synthesises many variants with a Snakemake workflow, as `alir2hdl explore`.

    Parameters
    ----------
    models : Model, str, os.PathLike, or a list of them
        The designs.
    output : str or os.PathLike
        Folder of the workflow.
    run : bool
        Runs the workflow here (needs snakemake).
    shared : dict, or list of str
        Options that all variants share: by name, such as `{"optimise": 2, "use_dsp": "no"}`, or as words of
        `alir2hdl project`.
    **options
        Options of the command, such as `pipeline="1..12"`, `device="ecp5"`, `flow="yosys"`.

    Returns
    -------
    list of dict
        A record for each variant, as `pandas.DataFrame` takes them; empty without `run`.
    """
    many = list(models) if isinstance(models, (list, tuple)) else [models]
    if not many:
        raise InputError("models is empty: give a Model, the path of a file, or a list of them")
    if isinstance(shared, str):
        raise TypeError(f"shared={shared!r} is neither a dict nor a list of words; an example is {{'optimise': 2, 'use_dsp': 'no'}}")
    if isinstance(shared, Mapping):
        shared = [word for name, value in shared.items() for word in _word(name, value)]
    with _folder() as folder:
        files = []
        for at, model in enumerate(many):
            if isinstance(model, Model):
                inside = os.path.join(folder, f"model{at}")
                os.mkdir(inside)
                file = model._saved(inside)
                files.append(os.path.join(folder, f"model{at}{os.path.splitext(file)[1]}"))
                os.replace(file, files[-1])
            else:
                files.append(os.fspath(model))
        try:
            with _program(folder):
                _explore(files, os.fspath(output), list(shared), {"run": run, **options})
        except Error as error:
            raise without_folder(error, folder) from None
    results = Path(output, "results.json")
    if not run:
        return []
    return json.loads(results.read_text())["variants"]


def _word(name: str, value) -> list[str]:
    """Returns the word of the command line for an option, if it needs one."""
    if value is None or value is False:
        return []
    if name == "optimise":
        return [f"-O{value}"]
    flag = "--" + name.replace("_", "-")
    return [flag if value is True else f"{flag}={value}"]


def report(*folders) -> Any:
    """Reads the figures of FPGA tools' reports, as `alir2hdl report --json` prints them.

    Parameters
    ----------
    *folders : str or os.PathLike
        Folders or files, at least one.

    Returns
    -------
    Any
        The parsed JSON.

    Raises
    ------
    TypeError
        Without a folder or file.
    """
    if not folders:
        raise TypeError("report takes at least one folder or file")
    found, warnings = _report([os.fspath(folder) for folder in folders])
    _warn(json.loads(warnings), 3)
    return json.loads(found)


def sweep(model: Model, *, progress: bool = False, **axes) -> list[dict[str, Any]]:
    """Compiles a model for every combination of options.

    Parameters
    ----------
    model : Model
    progress : bool
        Shows a bar of `tqdm.auto`, if tqdm is installed.
    **axes
        Options of the hardware; a list, an array or another iterable is an axis, anything else is fixed.

    Returns
    -------
    list of dict
        A record for each combination, as `pandas.DataFrame` takes them: its options, `latency` (clocks), `registers` (bits),
        `stage_delay`, `delay_unit`, `lut`, `ff`, `dsp`, `clock_mhz` (estimated), and `error` (str or None).

    Raises
    ------
    TypeError
        For an unknown option, with the nearest name.

    Examples
    --------
    >>> [row["latency"] for row in sweep(Model.from_matrix([[3, 5]], "s8.2"), pipeline=[0, 1])]
    [0, 1]
    """
    import itertools

    if not isinstance(model, Model):
        raise TypeError(f"model is a Model, not {type(model).__name__}; Model.load reads a file")
    # An array without axes iterates over nothing.
    fixed = {name: value for name, value in axes.items()
             if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0}
    names = [name for name in axes if name not in fixed]
    combinations = list(itertools.product(*(axes[name] for name in names)))
    records = []
    for values in _progress(combinations, len(combinations), "sweep", progress):
        chosen = dict(zip(names, values))
        row = dict.fromkeys(("latency", "registers", "stage_delay", "delay_unit", "lut", "ff", "dsp", "clock_mhz", "error"))
        try:
            made = model.compile(**fixed, **chosen)
            estimate = made.estimate
            row.update(latency=made.latency, registers=made.registers, stage_delay=max((one.delay for one in made.stages), default=None),
                       delay_unit=made.delay_unit or None, lut=estimate.lut, ff=estimate.ff, dsp=estimate.dsp,
                       clock_mhz=estimate.clock_mhz)
        except InputError as error:
            row["error"] = str(error)
        records.append({**chosen, **row})
    return records


@dataclass(frozen=True)
class AdderGraph:
    """A product with a constant matrix as additions and shifts. Values are numbered: the inputs, then the adders."""

    #: For each adder `(a, b, shift, subtract)`: `a + b * 2**shift`, or `a - b * 2**shift`.
    adders: list[tuple[int, int, int, bool]]
    #: For each output `(value, shift, negative)`: `value * 2**shift`, perhaps negated; None for constant zero.
    outputs: list[tuple[int, int, bool] | None]
    #: Adder bits in all, as docs/cmvm.md defines them.
    cost: int
    #: The longest path, an adder of n + 1 bits taking 1.1 + 0.025 n.
    latency: float
    #: The product as a model.
    model: Model = field(repr=False, compare=False)


def cmvm(matrix, input_types, latency: float | None = None, budget: int = 0) -> AdderGraph:
    """Builds the product `y = x W` with a constant matrix from few adder bits, exactly.

    The result has been compared with the matrix.

    Parameters
    ----------
    matrix : array_like, shape (inputs, outputs)
        Integers or finite floats, in any memory order.
    input_types : str or list of str
        Type of every input, or one for each: `s8.5` (width with sign, fractional bits) or `s8.5,RND,SAT`.
    latency : float, optional
        Limit of the longest path, in the units of `AdderGraph.latency`.
    budget : int
        Budget of the search for fewer adder bits, in units of about a millisecond.

    Returns
    -------
    AdderGraph
        The additions and shifts, and the model.

    Raises
    ------
    ValueError
        If the latency is not possible; the message states the least that is.
    TypeError
        If input_types is no type.
    """
    types = [input_types] if isinstance(input_types, str) else list(input_types) if hasattr(input_types, "__iter__") else [input_types]
    if not all(isinstance(one, str) for one in types):
        raise TypeError(f"{input_types!r} is no type of inputs; one is 's8.5', a list has one for each input")
    if latency is not None and not hasattr(latency, "__float__"):
        raise TypeError(f"latency={latency!r} is no number")
    if not hasattr(budget, "__index__") or not 0 <= budget < 2**64:
        raise InputError(f"budget={budget!r} is no number from 0 up")
    try:
        return _of_matrix(_npy(matrix), tuple(types), latency, budget)
    except Error as error:
        raise reworded(reworded(error, "cmvm_latency", "latency"), "--cmvm-latency", "latency") from None


@lru_cache(maxsize=8)
def _of_matrix(npy: bytes, types: tuple[str, ...], latency: float | None, budget: int) -> AdderGraph:
    native, (adders, outputs, cost, longest) = Native.from_matrix(npy, list(types), latency, budget)
    model = Model(native)
    model._made = (_model_of_matrix, (npy, types, latency, budget))
    return AdderGraph(adders, outputs, cost, longest, model)


def _model_of_matrix(*how) -> Model:
    """Rebuilds a pickled product in another process."""
    return _of_matrix(*how).model
