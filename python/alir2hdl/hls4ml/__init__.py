"""A back end for hls4ml (1.3): `convert_from_keras_model(..., backend="alir2hdl")`.

    >>> model = hls4ml.converters.convert_from_keras_model(keras_model, backend="alir2hdl", output_dir="build", clock_period=4)
    >>> model.compile()                 # writes the project, builds the emulator
    >>> y = model.predict(x)            # bit for bit hls4ml's C simulation, and the hardware
    >>> model.build()                   # simulates the RTL, reads reports

hls4ml finds it by its entry point as soon as this package is installed. It goes hls4ml's road for Vitis as far as types and
layers; what comes out is one program, traced with alkaid (`pip install alkaid`), instead of C++ for HLS.

Layers: Input, Dense, Activation relu and linear (ReLU too), BatchNormalization, Reshape and Flatten; `io_parallel`. Types: fixed point,
results rounded by TRN or RND, with WRAP or SAT; accumulators that lose nothing of a product (`auto` does not). Everything else is
refused with the layer's name. `trace` by layer is not there.
"""

import json
from pathlib import Path

import numpy as np

__all__ = ["register"]

#: Options of the hardware that `convert_from_keras_model` and `build` take beside hls4ml's own.
_PIPELINE = "auto"


def _refused(layer, what: str):
    return ValueError(f"alir2hdl: layer {layer.name} ({layer.class_name}): {what}")


def _type(layer, precision, weights: bool = False) -> tuple:
    """Signed, integer and fractional bits (without the sign), rounding and overflow of a type."""
    name = type(precision).__name__
    if not hasattr(precision, "fractional") and not hasattr(precision, "integer") or not hasattr(precision, "width"):
        raise _refused(layer, f"type {precision} ({name}) is no fixed-point type")
    signed, width = bool(precision.signed), int(precision.width)
    integer = int(getattr(precision, "integer", width))
    rounding = str(getattr(precision, "rounding_mode", None) or "TRN").split(".")[-1]
    overflow = str(getattr(precision, "saturation_mode", None) or "WRAP").split(".")[-1]
    if rounding not in ("TRN", "RND") or overflow not in ("WRAP", "SAT"):
        raise _refused(layer, f"type {precision}: rounding TRN or RND, overflow WRAP or SAT")
    return signed, integer - signed, width - integer, rounding, overflow


def _cast(layer, values, precision):
    signed, integer, fractional, rounding, overflow = _type(layer, precision)
    return values.quantize(int(signed), integer, fractional, overflow, rounding)


def _weights(layer, name: str):
    """Weights as C++ holds them: rounded to their type."""
    weight = layer.weights[name]
    signed, integer, fractional, rounding, overflow = _type(layer, weight.type.precision)
    codes = np.asarray(weight.data, dtype=np.float64) * 2.0**fractional
    codes = np.floor(codes + 0.5) if rounding == "RND" else np.floor(codes)
    low, high = (-(2.0 ** (integer + fractional)) if signed else 0.0), 2.0 ** (integer + fractional) - 1
    codes = np.clip(codes, low, high) if overflow == "SAT" else (codes - low) % (high - low + 1) + low
    return codes / 2.0**fractional


def _dense(layer, x, x_type):
    weights = _weights(layer, "weight").reshape(layer.get_attr("n_in"), layer.get_attr("n_out"))
    bias = _weights(layer, "bias") if "bias" in layer.weights else np.zeros(layer.get_attr("n_out"))
    accum = layer.get_attr("accum_t").precision
    _, _, kept, rounding, overflow = _type(layer, accum)
    products = x_type[2] + _type(layer, layer.weights["weight"].type.precision)[2]
    if overflow != "WRAP" or kept < products:
        # hls4ml casts each product to this type before it adds.
        raise _refused(layer, f"accumulator {accum} rounds or saturates products of {products} fractional bits; leave it at auto")
    return _cast(layer, x @ weights + bias, accum)


def _program(model):
    """The graph as a program of alkaid's."""
    try:
        from alkaid.trace import FVArrayInput, trace
    except ImportError as error:
        raise RuntimeError("alir2hdl: the back end traces graphs with alkaid: pip install alkaid") from error
    if len(model.get_input_variables()) != 1 or len(model.get_output_variables()) != 1:
        raise ValueError("alir2hdl: graphs of one input and one output")
    values, types, given = {}, {}, None
    for layer in model.get_layers():
        out = layer.get_output_variable().type.precision
        kind = layer.class_name
        if kind in ("Input", "InputLayer"):
            _, _, _, rounding, overflow = _type(layer, out)
            if (rounding, overflow) != ("TRN", "WRAP"):
                raise _refused(layer, f"type {out}: what enters is floored and wrapped; leave it at TRN and WRAP")
            given = FVArrayInput(int(np.prod(layer.get_output_variable().shape)))
            result = given
        else:
            x, x_type = values[layer.inputs[0]], types[layer.inputs[0]]
            activation = str(layer.get_attr("activation", "")).lower()
            if kind == "Dense":
                result = _dense(layer, x, x_type)
            elif kind == "Activation" and activation in ("relu", "linear") or kind == "ReLU":
                result = x.relu() if activation != "linear" else x
            elif kind in ("BatchNormalization", "ApplyAlpha"):
                scale, bias = _weights(layer, "scale"), _weights(layer, "bias")
                size = int(np.prod(layer.get_output_variable().shape))
                result = x * np.resize(scale, size) + np.resize(bias, size)
            elif kind in ("Reshape", "Flatten"):
                result = x
            else:
                raise _refused(layer, f"{activation or kind} is not among the layers that this back end takes")
        result = _cast(layer, result, out) if kind not in ("Reshape", "Flatten") else result
        for name in layer.outputs:
            values[name], types[name] = result, _type(layer, out)
    return trace(given, values[model.outputs[0]])


_LIBRARY = """\
#include "program.hpp"
extern "C" {
void NAME_double(double* x, double* y) { program::run(x, y); }
void NAME_float(float* x, float* y) {
  double in[program::inputs + 1], out[program::outputs + 1];
  for (std::size_t k = 0; k < program::inputs; ++k) in[k] = static_cast<double>(x[k]);
  program::run(in, out);
  for (std::size_t k = 0; k < program::outputs; ++k) y[k] = static_cast<float>(out[k]);
}
}
"""


def _backend_class():
    from hls4ml.backends.vitis.vitis_backend import VitisBackend

    class Alir2hdlBackend(VitisBackend):
        """hls4ml's road for Vitis up to the optimised graph, then ours."""

        def __init__(self) -> None:
            super(VitisBackend.__bases__[0], self).__init__(name="alir2hdl")
            self._register_layer_attributes()
            self._default_flow = "vitis:ip"
            self._writer_flow = None

        def create_initial_config(self, part="xcvu13p-flga2577-2-e", clock_period=5, io_type="io_parallel", pipeline=_PIPELINE, **rest):
            """hls4ml's options, and `pipeline`: a number of stages, or auto for the fewest that meet the clock."""
            if io_type != "io_parallel":
                raise ValueError(f"alir2hdl: io_type {io_type!r}; a program takes all of a sample at once: io_parallel")
            config = super().create_initial_config(part=part, clock_period=clock_period, io_type=io_type, **rest)
            return config | {"Pipeline": pipeline}

        def write(self, model) -> None:
            """Applies the flow, writes `model.json.gz` and the project for Vivado into the output folder."""
            model.apply_flow(self._default_flow)
            self._model(model).project(Path(model.config.get_output_dir()) / "project", flow=["vivado"], **self._hardware(model))

        def _hardware(self, model) -> dict:
            value = model.config.get_config_value
            return {"top": model.config.get_project_name(), "part": value("Part"), "pipeline": value("Pipeline") or _PIPELINE,
                    "clock_period": value("ClockPeriod")}

        def _model(self, model):
            from .. import Model

            folder = Path(model.config.get_output_dir())
            folder.mkdir(parents=True, exist_ok=True)
            comb = _program(model)
            comb.save(str(folder / "model.json.gz"))
            return Model.load(folder / "model.json.gz")

        def compile(self, model) -> str:
            """Builds the emulator, a shared library by g++; gives its path."""
            from ..alkaid import _program as command
            from ..alkaid import _tool

            folder, name = Path(model.config.get_output_dir()), model.config.get_project_name()
            command(["model.json.gz", "--cpp", "program.hpp", "--namespace", "program"], folder)
            (folder / "program.cpp").write_text(_LIBRARY.replace("NAME", name))
            library = folder / f"{name}-{model.config.get_config_value('Stamp') or 'emulator'}.so"
            _tool(["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-o", library.name, "program.cpp"], folder, False)
            return str(library.resolve())

        def build(self, model, csim=True, vectors=200, **hardware) -> dict:
            """Simulates the RTL in every simulator that is installed (csim), reads what synthesis reported into the project's folder."""
            from ..alkaid import _program as command

            from ..alkaid import _program as command

            program = self._model(model)
            hardware = self._hardware(model) | hardware
            facts = program.interface(**{k: v for k, v in hardware.items() if k != "part"})
            result = {"latency": facts["latency"], "register_bits": facts["register_bits"], "stages": facts["stages"]}
            if csim:
                options = {k: v for k, v in hardware.items() if k != "part"}
                found = program.verify(samples=vectors, **options)
                if found.runs and not found.passed:
                    raise RuntimeError(f"alir2hdl: the RTL is not the program: {found}")
                result["simulations"] = [(run.simulator, run.language, run.wrong) for run in found.runs]
            folder = Path(model.config.get_output_dir()) / "project"
            if any(folder.rglob("*.rpt")):
                result["reports"] = json.loads(command(["report", str(folder.resolve()), "--json"], folder))["rows"]
            return result

    return Alir2hdlBackend


def register(register_backend, register_writer) -> None:
    """What hls4ml calls when it looks for back ends."""
    from hls4ml.writer.vitis_writer import VitisWriter

    register_writer("alir2hdl", VitisWriter)
    register_backend("alir2hdl", _backend_class())
