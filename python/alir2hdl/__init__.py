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
import os
import tempfile
import warnings
from functools import lru_cache
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._alir2hdl import Native, __version__

__all__ = ["AdderGraph", "Model", "Proof", "Run", "Verification", "cmvm", "__version__"]


def _exact(x):
    """Numbers as an array of float64 without loss, and nothing; else as an array of any kind, and as texts."""
    import numpy as np

    array = x if hasattr(x, "dtype") else np.asarray(x, dtype=object)
    array = np.asarray(array)
    if array.dtype.kind == "c":
        raise ValueError("complex numbers are no samples")
    if array.dtype.kind in "bf" and array.dtype.itemsize <= 8:
        return np.ascontiguousarray(array, dtype=np.float64), None
    if array.dtype.kind in "iu":
        whole = np.ascontiguousarray(array, dtype=np.float64)
        limit = 1 << 53
        if not array.size or (-limit <= int(array.min()) and int(array.max()) <= limit):
            return whole, None
        return array, [str(number) for number in array.ravel().tolist()]
    flat = array.ravel().tolist()
    if all(type(n) is float or type(n) is int and abs(n) <= 1 << 53 for n in flat):
        return np.ascontiguousarray(array, dtype=np.float64), None
    return array, [_text(number, np.unravel_index(at, array.shape)) for at, number in enumerate(flat)]


def _text(number, place) -> str:
    """A number as text that means exactly it."""
    from decimal import Decimal
    from fractions import Fraction
    from numbers import Integral, Rational

    import numpy as np

    at = f"number {[int(k) for k in place]}"
    if isinstance(number, (str, bytes)):
        return number.decode() if isinstance(number, bytes) else number
    if isinstance(number, (bool, np.bool_, Integral)):
        return str(int(number))
    if isinstance(number, (float, np.float16, np.float32)):
        # As text `1e+23` is another integer than the float.
        return str(int(number)) if float(number).is_integer() else repr(float(number))
    if isinstance(number, np.longdouble):
        if not np.isfinite(number):
            return repr(float(number))
        number = Fraction(*number.as_integer_ratio())
    if isinstance(number, Decimal):
        return str(number)
    if isinstance(number, Rational):
        power = number.denominator.bit_length() - 1
        if number.denominator != 1 << power:
            raise ValueError(f"{at}: {number} has no finite binary expansion")
        return str(number.numerator) if power == 0 else f"{number.numerator * 5**power}e-{power}"
    raise ValueError(f"{at}: {type(number).__name__} is no number")


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
    raise ValueError(f"{type(source).__name__} is no {suffix} file, nor what one holds")


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
    return [flag for flag in _flags(options) if flag != "-O1"]


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
        """Reads a file: ALIR, DAIS or byte code of any version, .alirz, or LLVLIR; plain or gzip."""
        path = os.path.abspath(path)
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror or error}") from None
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
        `max_table_bits`. `predict` takes and gives real numbers; a proof begins with the network's own meaning.
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
    def from_onnx(cls, model, input_type: str | None = None, **options) -> "Model":
        """The model that a QONNX network becomes.

        model: a file, the bytes of one, or a loaded onnx.ModelProto. input_type: that of the input port, as `s16.10` or
        `s16.10,RND_CONV,SAT`; without it the port carries the codes of the network's first Quant. options: `max_adders`,
        `max_table_bits`. `predict` takes and gives real numbers; a proof begins with the network's own meaning.
        """
        files = (("model.onnx", _content(model, "ONNX")),)
        return _of_files("model.onnx", files, tuple(_reading({"input_type": input_type, **options})))

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

    def predict(self, x):
        """The outputs for samples, shape (samples, inputs) or one sample; as the hardware computes them, as float64.

        Numbers that no float64 has (Python integers and NumPy's integers above 2^53, fractions, decimals, long doubles) are
        taken exactly, or refused with their place; a warning says how many outputs were rounded to float64.
        An integer kernel (LLVLIR) takes and gives signed integers, of outputs of at most 53 bits. A Dask array gives a Dask array:
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
        x, texts = _exact(x)
        if x.ndim == 0 or x.size and int(np.prod(x.shape[1:] if x.ndim > 1 else x.shape)) != self.n_inputs:
            raise ValueError(f"shape {x.shape} is no sample or samples of {self.n_inputs} inputs")
        if texts is None and x.size and self._native.has_wide_outputs():
            texts = [_text(number, ()) for number in x.ravel().tolist()]
        if texts is None:
            y = np.frombuffer(self._native.predict(x.tobytes()), dtype=np.float64)
        else:
            found, rounded = self._native.predict_exact(texts)
            y = np.frombuffer(found, dtype=np.float64)
            if rounded:
                warnings.warn(f"{rounded} of {y.size} outputs are wider than float64 and were rounded", stacklevel=2)
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
