"""A back end for hls4ml (1.3): `convert_from_keras_model(..., backend="alir2hdl")`.

    >>> model = hls4ml.converters.convert_from_keras_model(keras_model, backend="alir2hdl", output_dir="build", clock_period=4)
    >>> model.compile()                 # writes the project, loads the program
    >>> y = model.predict(x)            # bit for bit hls4ml's C simulation, and the hardware
    >>> model.build()                   # simulates the RTL, reads reports

hls4ml finds it by its entry point as soon as this package is installed. It follows hls4ml's flow for Vitis as far as types and
layers; what comes out is one program, traced with alkaid (`pip install alkaid`), instead of C++ for HLS.

Layers and their options, `io_parallel`: the table of docs/hls4ml.md. Types: fixed point with every rounding of `ap_fixed`, with WRAP,
SAT or SAT_SYM, accumulators too. An input that saturates, or
rounds by another mode than RND, is converted by `predict`: the hardware's port takes codes of its type. Everything else is
refused with the layer's name. `trace` gives every layer whose `Trace` is set, as hls4ml's own.
"""

import hashlib
import warnings
import weakref
from pathlib import Path

from ._adaptations import _adapt
from ._program import _computed, _emulator, _entered, _input_types, _program

__all__ = ["register"]

#: Options of the hardware that `convert_from_keras_model` and `build` take beside hls4ml's own.
_PIPELINE = "auto"

#: Steps of `build` that only HLS has.
_HLS_STEPS = frozenset({"reset", "synth", "cosim", "validation", "export", "vsynth", "fifo_opt", "log_to_stdout"})


def _backend_class():
    from hls4ml.backends.vitis.vitis_backend import VitisBackend

    class Alir2hdlBackend(VitisBackend):
        """hls4ml's flow for Vitis up to the optimised graph, then ours."""

        def __init__(self) -> None:
            super(VitisBackend.__bases__[0], self).__init__(name="alir2hdl")
            self._register_layer_attributes()
            self._default_flow = "vitis:ip"
            self._writer_flow = None
            # The program of every graph that was written.
            self._loaded = weakref.WeakKeyDictionary()

        def create_initial_config(self, part="xcvu13p-flga2577-2-e", clock_period=5, io_type="io_parallel", pipeline=_PIPELINE, **rest):
            """hls4ml's options, and `pipeline`: a number of stages, or auto for the fewest that meet the clock."""
            if io_type != "io_parallel":
                raise ValueError(f"alir2hdl: io_type {io_type!r}; a program takes all of a sample at once: io_parallel")
            _adapt()
            config = super().create_initial_config(part=part, clock_period=clock_period, io_type=io_type, **rest)
            return config | {"Pipeline": pipeline}

        def generate_conv1d_line_buffer_fn(self, *arguments, **options) -> str:
            """C++ of hls4ml's own convolutions, which ours do not need and which stops at dilated ones."""
            return ""

        def generate_conv2d_line_buffer_fn(self, *arguments, **options) -> str:
            """As `generate_conv1d_line_buffer_fn`."""
            return ""

        def write(self, model) -> None:
            """Applies the flow, writes `model.json.gz`, the project for Vivado and hls4ml's configuration into the output folder."""
            from hls4ml.writer.vitis_writer import VitisWriter

            model.apply_flow(self._default_flow)
            model.config.config["InputTypes"] = _input_types(model)
            self._model(model).project(Path(model.config.get_output_dir()) / "project", flow=["vivado"], **self._hardware(model))
            writer = VitisWriter()
            writer.write_yml(model)
            writer.write_tar(model)

        def _hardware(self, model) -> dict:
            value = model.config.get_config_value
            # 0 is a number of stages.
            pipeline = _PIPELINE if value("Pipeline") is None else value("Pipeline")
            return {"top": model.config.get_project_name(), "part": value("Part"), "pipeline": pipeline,
                    "clock_period": value("ClockPeriod")}

        def _model(self, model):
            from .. import Model

            folder = Path(model.config.get_output_dir())
            folder.mkdir(parents=True, exist_ok=True)
            _program(model).save(str(folder / "model.json.gz"))
            self._loaded[model] = Model.load(folder / "model.json.gz")
            return self._loaded[model]

        def _read(self, model):
            from .. import Model

            if model not in self._loaded:
                self._loaded[model] = Model.load(Path(model.config.get_output_dir()) / "model.json.gz")
            return self._loaded[model]

        def compile(self, model) -> str:
            """Loads the program for `predict` if it is not yet; gives the path of the library that hls4ml loads."""
            from .. import _alir2hdl

            self._read(model)
            # hls4ml loads a library whatever it is for; only its trace() calls one.
            return self._traced_library(model) if model.config.trace_output else _alir2hdl.__file__

        def _traced_library(self, model) -> str:
            """Builds the library for hls4ml's trace() by g++."""
            from .. import Model
            from ..alkaid import _tool

            folder, name = Path(model.config.get_output_dir()), model.config.get_project_name()
            # The layers that hls4ml's own trace() waits for.
            traced = [layer for layer in model.get_layers() if layer.get_attr("function_cpp", None) and layer.get_attr("trace", False)]
            _program(model, traced).save(str(folder / "traced.json.gz"))
            # trace() works in this folder of hls4ml's projects.
            (folder / "firmware").mkdir(exist_ok=True)
            (folder / "program.hpp").write_text(Model.load(folder / "traced.json.gz")._native.cpp_header("program"))
            (folder / "program.cpp").write_text(_emulator(model, traced, name))
            # A process that has loaded a library gets that one again from the same path, whatever it holds now.
            content = (folder / "program.hpp").read_bytes() + (folder / "program.cpp").read_bytes()
            stamp = model.config.get_config_value("Stamp") or "emulator"
            library = folder / f"{name}-{stamp}-{hashlib.sha256(content).hexdigest()[:12]}.so"
            _tool(["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-o", library.name, "program.cpp"], folder, False)
            return str(library.resolve())

        def predict(self, model, x):
            """The outputs for samples, as hls4ml's own `predict` gives them: an array, or a list with one for each output."""
            import numpy as np

            if model not in self._loaded:
                raise RuntimeError("alir2hdl: the model is not compiled: call compile() first")
            ports = model.get_input_variables()
            given = [np.asarray(part) for part in ([x] if len(ports) == 1 else x)]
            samples = model._compute_n_samples(given if len(ports) > 1 else given[0])
            rows = np.concatenate([_entered(model, port, part).reshape(samples, port.size()) for port, part in zip(ports, given, strict=True)], axis=1)
            dtype = np.result_type(*given) if all(part.dtype == np.float32 for part in given) else np.float64
            ends = np.cumsum([variable.size() for variable in model.get_output_variables()])
            made = np.split(_computed(self._loaded[model], rows).astype(dtype, copy=False), ends[:-1], axis=1)
            made = [part[0] for part in made] if samples == 1 else made
            return made[0] if len(made) == 1 else made

        def build(self, model, csim=True, vectors=200, **hardware) -> dict:
            """Simulates the RTL in every simulator that is installed (csim), reads what synthesis reported into the project's folder.
            Steps of HLS that scripts for hls4ml request (`synth=True`) have no effect, which a warning states."""
            from hls4ml.utils.link import FilesystemModelGraph

            from .. import report

            # `reset` may also be an option of the hardware, which is a word.
            steps = {name: hardware.pop(name) for name in _HLS_STEPS & hardware.keys() if isinstance(hardware[name], bool)}
            if any(steps.values()):
                names = ", ".join(sorted(name for name, value in steps.items() if value))
                warnings.warn(f"alir2hdl: build ignores {names}: no HLS runs; synthesise with Vivado in the folder project/", stacklevel=3)

            # A linked project has no graph to build the program from.
            program = self._read(model) if isinstance(model, FilesystemModelGraph) else self._model(model)
            # The hardware of the folder project/, with other options if the call has some.
            hardware = {k: v for k, v in self._hardware(model).items() if k != "part" or "device" not in hardware} | hardware
            facts = program.interface(**hardware)
            result = {"latency": facts["latency"], "register_bits": facts["register_bits"], "stages": facts["stages"]}
            if csim:
                found = program.verify(samples=vectors, **hardware)
                if found.runs and not found.passed:
                    raise RuntimeError(f"alir2hdl: the RTL is not the program: {found}")
                result["simulations"] = [(run.simulator, run.language, run.wrong) for run in found.runs]
            folder = Path(model.config.get_output_dir()) / "project"
            if any(folder.rglob("*.rpt")):
                result["reports"] = report(folder.resolve())["rows"]
            return result

    return Alir2hdlBackend


def register(register_backend, register_writer) -> None:
    """What hls4ml calls when it looks for back ends."""
    from hls4ml import backends
    from hls4ml.writer.writers import Writer

    if "alir2hdl" in backends.get_available_backends():
        # The entry point and HLS4ML_BACKEND_PLUGINS both name this function.
        return

    class StitchedWriter(Writer):
        """Writer that hls4ml calls for the parts of `to_multi_model_graph` instead of the back end's `write`."""

        def write_hls(self, model, is_multigraph=False):
            raise ValueError("alir2hdl: to_multi_model_graph stitches blocks of HLS; a program is one block: compile the graph as a whole")

    register_writer("alir2hdl", type("Alir2hdlWriter", (StitchedWriter,), {}))
    register_backend("alir2hdl", _backend_class())
    theirs = backends.get_backend

    def get_backend(name):
        # When a caller looks the back end up, the import of hls4ml is complete and no model has been read.
        if name.lower() == "alir2hdl":
            _adapt()
        return theirs(name)

    backends.get_backend = get_backend
