"""Fixed-point models as hardware: load, run, write as Verilog or VHDL, simulate, prove, package.

    >>> from alir2hdl import Model
    >>> model = Model.load("model.json.gz")
    >>> y = model.predict(x)                       # bit for bit what the hardware computes
    >>> text = model.emit("verilog", pipeline=3)
    >>> model.verify(pipeline=3).passed            # in every simulator that is installed
    >>> model.prove(text).verdict                  # for every input
    >>> model.project("build", flow=["vivado"], part="xcvu13p-flga2577-2-e", pipeline="auto", clock_period=5)

Networks and constant matrices become models too:

    >>> Model.from_onnx("model.onnx")                                   # QONNX, also an onnx.ModelProto
    >>> Model.from_network("net.json", weights={"w": w}, quant="q.json")    # IR v2
    >>> Model.from_matrix(W, "s8.5")
"""

import io
import json
import math
import os
import tempfile
import time
from functools import lru_cache
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._alir2hdl import Native, __version__, call, option_names
from ._errors import (Alir2hdlWarning, Diagnostic, Error, InputError, InternalError, MissingToolError, UndecidedError,
                      UnsupportedError, _spoken)

__all__ = ["AdderGraph", "Alir2hdlWarning", "Diagnostic", "Error", "Hardware", "InputError", "InternalError", "MissingToolError", "Model",
           "Proof", "Run", "UndecidedError", "UnsupportedError", "Verification", "cmvm", "report", "sweep",
           "__version__"]


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
    """The results of every simulator. Its truth value is the verdict."""

    runs: list[Run]

    @property
    def passed(self) -> bool:
        """Whether at least one simulator ran and none found a difference."""
        return bool(self.runs) and all(run.wrong == 0 for run in self.runs)

    def __bool__(self) -> bool:
        """`passed`; without any simulator there is no verdict, and UndecidedError is raised."""
        if not self.runs:
            raise UndecidedError("no simulator is installed, so nothing was verified; ask `.passed` or `.runs`")
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
    #: Everything that `alir2hdl prove --json` says.
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


@lru_cache(maxsize=None)
def _known(command: str) -> frozenset[str]:
    return frozenset(name.replace("-", "_") for name in option_names(command))


def _check_names(options: dict[str, Any], command: str) -> None:
    """TypeError for a keyword that is no option of a sub-command."""
    known = _known(command) | {"optimise"}
    for name in options:
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, sorted(known), 1)
            raise TypeError(f"unexpected keyword argument {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def _numbers(x, codes: bool):
    """Numbers as a C-contiguous array of native float64, float32 or integers, or of Python integers; no value changes."""
    import numpy as np

    array = np.asarray(x)
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
                raise InputError(f"number {k} is {one!r}, which is no integer and which float64 cannot hold")
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
    # Native byte order; no copy where it is already so.
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def _flags(options: dict[str, Any], command: str = "") -> list[str]:
    """Options as the command line has them: `clock_period=5` is `--clock-period=5`."""
    options = dict(options)
    _check_names(options, command)
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


def _npy(array) -> bytes:
    """The bytes of an npy file; a matrix of any order of axes."""
    import numpy as np

    held = io.BytesIO()
    np.save(held, np.asarray(array), allow_pickle=False)
    return held.getvalue()


def _content(source, suffix: str) -> bytes:
    """The bytes of a source: of the file that is named, a dict as JSON, an object with `SerializeToString` (an onnx.ModelProto), or
    bytes as they are."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, dict):
        return json.dumps(source).encode()
    if hasattr(source, "SerializeToString"):
        return source.SerializeToString()
    if isinstance(source, (str, os.PathLike)):
        return Path(source).read_bytes()
    raise InputError(f"{type(source).__name__} is no {suffix} file, nor what one holds")


def _weights(weights) -> tuple[dict[str, bytes], list[str]]:
    """Files of weights, and the options that name them: those that are given, or one with the arrays of a dict."""
    if weights is None:
        return {}, []
    if isinstance(weights, dict):
        import numpy as np

        held = io.BytesIO()
        np.savez(held, **{name: np.asarray(array) for name, array in weights.items()})
        return {"weights.npz": held.getvalue()}, ["--weights={}/weights.npz"]
    many = [weights] if isinstance(weights, (str, os.PathLike)) else list(weights)
    files, flags = {}, []
    for at, path in enumerate(map(Path, many)):
        inside = sorted(path.glob("*.npy")) if path.is_dir() else [path]
        # A folder without arrays stays one: the reader says what is missing.
        files |= {f"weights{at}/{file.name}": file.read_bytes() for file in inside} or {f"weights{at}/": b""}
        flags.append(f"--weights={{}}/weights{at}" + ("" if path.is_dir() else f"/{path.name}"))
    return files, flags


@lru_cache(maxsize=8)
def _of_files(name: str, files: tuple[tuple[str, bytes], ...], options: tuple[str, ...]) -> "Model":
    """The model that some files make, with options about reading in which `{}` stands for their folder."""
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files:
            path = Path(folder, file)
            (path if file.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
            if not file.endswith("/"):
                path.write_bytes(content)
        try:
            native = Native.read(os.path.join(folder, name), [option.replace("{}", folder) for option in options])
        except (ValueError, RuntimeError) as error:
            # The folder is ours, and gone when the message is read.
            raise type(error)(str(error).replace(folder + os.sep, "")) from None
    model = Model(native)
    model._made = (_of_files, (name, files, options))
    return model


@lru_cache(maxsize=8)
def _unpickled(data: bytes, file: str) -> "Model":
    """A model that another process sent. Tasks of one model come by the thousand, and a model never changes: it is read once."""
    return Model(Native.from_bytes(data, file))


def _reading(options: dict[str, Any]) -> list[str]:
    """Options about reading as the command line has them."""
    return [flag for flag in _flags(options, "info") if flag != "-O1"]


class _NotFound(FileNotFoundError, ValueError):
    """A FileNotFoundError; still the ValueError of earlier versions."""


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
        #: How another process makes the same one; None: from its bytes.
        self._made = None

    @classmethod
    def load(cls, path) -> "Model":
        """Reads a file: ALIR, DAIS or byte code of any version, or LLVLIR; plain or gzip."""
        path = os.path.abspath(path)
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError as error:
            raise _NotFound(error.errno, error.strerror, path) from None
        if path.endswith(".onnx"):
            raise UnsupportedError(f"{path} is a network: Model.from_onnx(path) reads QONNX, Model.from_network(graph, weights) IR v2")
        return cls(Native.from_bytes(data, path))

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

    @classmethod
    def from_network(cls, network, weights=None, quant=None, weight_map=None, **options) -> "Model":
        """The model that an IR v2 graph becomes.

        network, quant, weight_map: files, or dicts with what these would hold. weights: a dict from names to arrays, or a file (or
        several, or a folder) of safetensors, npz or npy. options: `nodes`, `output_buffer` (a name, or several), `max_adders`,
        `max_table_bits`, `tokens` and `position_offset` (transformers). `predict` takes and gives real numbers; a proof begins with the
        network's own meaning.
        """
        files, flags = _weights(weights)
        files["network.json"] = _content(network, "IR v2")
        for name, source in (("quant", quant), ("weight_map", weight_map)):
            if source is not None:
                files[f"{name}.json"] = _content(source, "JSON")
                flags.append(f"--{name.replace('_', '-')}={{}}/{name}.json")
        buffers = options.pop("output_buffer", None) or []
        flags += [f"--output-buffer={name}" for name in ([buffers] if isinstance(buffers, str) else buffers)]
        return _of_files("network.json", tuple(files.items()), tuple(flags + _reading(options)))

    @classmethod
    def from_onnx(cls, model, input_type: str | None = None, quant=None, **options) -> "Model":
        """The model that a QONNX network becomes.

        model: a file, the bytes of one, or a loaded onnx.ModelProto. input_type: that of the input port, as `s16.10` or
        `s16.10,RND_CONV,SAT`; without it the port carries the codes of the network's first Quant. quant: types of the intermediate values
        of Softmax and norms, a file or a dict. options: `max_adders`, `max_table_bits`. `predict` takes and gives real numbers; a proof
        begins with the network's own meaning.
        """
        files, flags = [("model.onnx", _content(model, "ONNX"))], _reading({"input_type": input_type, **options})
        if quant is not None:
            files.append(("quant.json", _content(quant, "JSON")))
            flags.append("--quant={}/quant.json")
        return _of_files("model.onnx", tuple(files), tuple(flags))

    @classmethod
    def from_matrix(cls, matrix, input_type, latency: float | None = None, budget: int = 0) -> "Model":
        """The product `y = x W` with a constant matrix of shape (inputs, outputs), exactly: see `cmvm`."""
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

    def __reduce__(self):
        return self._made or (_unpickled, self._native.content())

    def __repr__(self) -> str:
        return f"Model({self.n_inputs} inputs, {self.n_outputs} outputs, {self.n_operations} operations)"

    def predict(self, x, *, out=None, threads: int | None = None, codes: bool = False):
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
        array([[16, 24]])
        """
        # Here and not above: the program itself starts without it.
        import numpy as np

        n_inputs, n_outputs, _ = self._native.shape()
        if threads is not None and (not hasattr(threads, "__index__") or threads < 1):
            raise InputError(f"threads={threads!r} is no positive number of threads")
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
        if out is not None and not (isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype):
            raise InputError(f"out is no array of {dtype} of shape {shape}")
        if out is not None and not out.flags.writeable:
            raise InputError("out is read-only")
        if x.dtype == object:
            x = [int(one).to_bytes(int(one).bit_length() // 8 + 1, "little", signed=True) for one in x.reshape(-1)]
        elif out is not None and np.may_share_memory(x, out):
            x = x.copy()
        if dtype == object:
            found = self._native.predict(x, None, rows, threads)
            y = np.empty(rows * n_outputs, object)
            y[:] = [int.from_bytes(one, "little", signed=True) for one in found]
            y = y.reshape(shape)
        else:
            y = out if out is not None and out.flags.c_contiguous and out.dtype.isnative else np.empty(shape, dtype)
            self._native.predict(x, y, rows, threads)
        if out is None or y is out:
            return y
        out[...] = y
        return out

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
            flags = _flags(options, "verify") + [f"--rtl={os.fspath(file)}" for file in files]
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
            self._native.project([f"--output={os.fspath(output)}", *_flags({"top": "model", **options}, "project")])
        return Path(output)

    def view(self, output, **options) -> Path:
        """Writes the page of `alir2hdl view`: the pipeline, operation by operation, for a browser. Returns its path."""
        self._native.view([f"--output={os.fspath(output)}", *_flags(options, "view")])
        return Path(output)

    def prove(self, source, language: str | None = None, top: str | None = None, latency: int | None = None,
              sat_steps: int | None = None, *, ii: int | None = None, work: int | None = None, gates_only: bool = False) -> Proof:
        """Proves that Verilog or VHDL computes the model for every input, with the strength of `alir2hdl prove`.

        source: a file (a Path, or a str without line breaks), or HDL source. language: `verilog` or `vhdl`; None: by the ending of
        the file, else Verilog. latency, ii: clocks that it is required to have; None: what its header comment states, or what it has. sat_steps:
        budget for one output bit. work: budget of the run (ticks). gates_only: compare gates only.

        The truth value of the result is the verdict: `assert model.prove(text)`.
        """
        if isinstance(source, os.PathLike) or isinstance(source, str) and source.strip() and "\n" not in source.strip():
            path = Path(source)
            if isinstance(source, os.PathLike) or path.suffix.lower() in (".v", ".sv", ".vh", ".vhd", ".vhdl") or path.is_file():
                language = language or ("vhdl" if path.suffix.lower() in (".vhd", ".vhdl") else "verilog")
                source = path.read_text()
        start = time.perf_counter()
        report = json.loads(self._native.prove(source, language or "verilog", top, latency, ii, sat_steps, work, gates_only))
        verdict = report["verdict"]
        return Proof(verdict if isinstance(verdict, str) else next(iter(verdict)), report, time.perf_counter() - start)

    def compile(self, language: str = "verilog", **hardware) -> "Hardware":
        """The hardware for options such as `pipeline=3`, `optimise=2`, `device="xcvu13p"`: HDL source, interface, figures."""
        return Hardware(self, language, {"top": "model", **hardware})

    def _saved(self, folder: str) -> str:
        """A file with the model."""
        data, name = self._native.content()
        if not data:
            raise UnsupportedError("this is for models that were read from one file: a network or a matrix has more than one")
        path = os.path.join(folder, "model" + (os.path.splitext(name)[1] if name != "-" else ".json"))
        Path(path).write_bytes(data)
        return path

    def _command(self, command: str, **options):
        with tempfile.TemporaryDirectory() as folder:
            flags = [flag for flag in _flags(options, command) if flag != "-O1" or "optimise" in options]
            return _json_of([command, self._saved(folder), "--json", *flags])

    def info(self, **options) -> dict[str, Any]:
        """Facts about the model: shape, types, operations, widths; what `alir2hdl info --json` prints."""
        return self._command("info", **options)

    def check(self, **options) -> dict[str, Any]:
        """Problems and properties of the model; what `alir2hdl check --json` prints."""
        return self._command("check", **options)

    def _repr_html_(self) -> str:
        rows = [("inputs", self.n_inputs), ("outputs", self.n_outputs), ("operations", self.n_operations)]
        return _table("Model", rows)


@dataclass(frozen=True)
class Hardware:
    """Compiled hardware of a model. Nothing changes after it was made."""

    model: Model = field(repr=False)
    #: `verilog` or `vhdl`: the language that was compiled first.
    language: str
    #: Options, as they were given.
    options: dict[str, Any]
    _texts: dict[str, str] = field(init=False, repr=False, compare=False, default_factory=dict)
    #: Ports, types, latency, registers: what `--interface` writes.
    interface: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text, facts = self.model._native.compile(self.language, _flags(self.options))
        self._texts[self.language] = text
        object.__setattr__(self, "interface", json.loads(facts))

    def _text(self, language: str) -> str:
        if language not in self._texts:
            self._texts[language] = self.model.emit(language, **self.options)
        return self._texts[language]

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
        """Clocks from inputs to outputs."""
        return self.interface.get("axis", self.interface)["latency"] or 0

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Pipeline stages, each with its delay."""
        return self.interface.get("stages") or []

    @property
    def registers(self) -> int:
        """Register bits."""
        return self.interface["register_bits"]

    def write(self, folder) -> Path:
        """Writes the HDL source and `interface.json` into a folder. Returns the file with the source."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.options['top']}.{'v' if self.language == 'verilog' else 'vhd'}"
        file.write_text(self._text(self.language))
        (folder / "interface.json").write_text(json.dumps(self.interface, indent=2) + "\n")
        return file

    def verify(self, **options) -> Verification:
        """Simulates it: see `Model.verify`."""
        return self.model.verify(**{**self.options, **options})

    def prove(self, **options) -> Proof:
        """Proves it for every input: see `Model.prove`."""
        return self.model.prove(self._text(self.language), self.language, **options)

    def project(self, output, **options) -> Path:
        """Writes a folder for a flow: see `Model.project`."""
        return self.model.project(output, **{**self.options, **options})

    def _repr_html_(self) -> str:
        rows = [("latency", self.latency), ("register bits", self.registers)]
        rows += [(f"stage {k}, delay", stage.get("delay")) for k, stage in enumerate(self.stages)]
        return _table(f"Hardware {self.options['top']} ({self.language})", rows)


def _table(title: str, rows) -> str:
    import html

    cells = "".join(f"<tr><th>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"


def _json_of(words: list[str]):
    """The JSON that a command prints; its warnings become Python's."""
    import warnings

    status, output, said = call(["alir2hdl", *words])
    for problem in json.loads(said):
        if problem["severity"] == "warning":
            warnings.warn(_spoken(problem["message"]), Alir2hdlWarning, stacklevel=3)
    return json.loads(output)


def report(*folders) -> Any:
    """Figures of FPGA tools' reports in folders or files: what `alir2hdl report --json` prints."""
    return _json_of(["report", "--json", *(os.fspath(folder) for folder in folders)])


def sweep(model: Model, **axes) -> list[dict[str, Any]]:
    """Compiles a model for every combination of options and gives one record each, as `pandas.DataFrame` takes them.

    axes: options of the hardware; a list is an axis, anything else is fixed. A combination that is refused has an `error`.

        >>> sweep(Model.from_matrix([[3, 5]], "s8.2"), pipeline=[0, 1])[1]["latency"]
        1
    """
    import itertools

    _check_names(axes, "")
    names = [name for name, values in axes.items() if isinstance(values, (list, tuple, range))]
    fixed = {name: value for name, value in axes.items() if name not in names}
    records = []
    for values in itertools.product(*(axes[name] for name in names)):
        chosen = dict(zip(names, values))
        try:
            made = model.compile(**fixed, **chosen)
            delays = [stage.get("delay") for stage in made.stages]
            records.append({**chosen, "latency": made.latency, "registers": made.registers,
                            "stage_delay": max(filter(None, delays), default=None), "error": None})
        except InputError as error:
            records.append({**chosen, "latency": None, "registers": None, "stage_delay": None, "error": str(error)})
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
    """The product `y = x W` with a constant matrix of shape (inputs, outputs) in few adder bits, exactly.

    matrix: integers or finite floats, in any order of axes. input_types: the type of every input, as `s8.5` (width with sign,
    fractional bits) or `s8.5,RND,SAT`, or a list of one for each. latency: the longest path at most; ValueError with the least
    that is possible where it is less. budget: work that a search for fewer adder bits may take, in units of about a
    millisecond. What comes out was compared with the matrix.
    """
    types = [input_types] if isinstance(input_types, str) else list(input_types)
    return _of_matrix(_npy(matrix), tuple(types), latency, budget)


@lru_cache(maxsize=8)
def _of_matrix(npy: bytes, types: tuple[str, ...], latency: float | None, budget: int) -> AdderGraph:
    native, (adders, outputs, cost, longest) = Native.from_matrix(npy, list(types), latency, budget)
    model = Model(native)
    model._made = (_model_of_matrix, (npy, types, latency, budget))
    return AdderGraph(adders, outputs, cost, longest, model)


def _model_of_matrix(*how) -> Model:
    """What another process makes of a pickled product."""
    return _of_matrix(*how).model
