"""The program of a graph, and C++ of the emulator."""

import math
import sys
from contextlib import contextmanager

import numpy as np

from ._layers import _layer
from ._numbers import _bits, _cast, _codes, _refused, _type


def _input_types(model) -> dict:
    """The type of each input of a graph, for `hls4ml_config.yml`."""
    made = {}
    for layer in model.get_layers():
        if layer.class_name in ("Input", "InputLayer"):
            variable = layer.get_output_variable()
            made[variable.name] = list(_type(layer, variable.type.precision))
    return made


def _is_converted(kind) -> bool:
    """Returns `True` if a port cannot round and saturate as the type of an input does: numbers are converted before it."""
    rounding, overflow = kind[3:]
    return rounding not in ("TRN", "RND") or overflow != "WRAP"


#: C++ of the modes of `_ROUNDINGS`: the code above is `floor + 1` if this holds.
_UP = {
    "TRN": "false",
    "RND": "rest >= 0.5",
    "RND_CONV": "rest > 0.5 || (rest == 0.5 && std::fmod(floor, 2.0) != 0.0)",
    "RND_INF": "floor < 0 ? rest > 0.5 : rest >= 0.5",
    "RND_ZERO": "floor < 0 ? rest >= 0.5 : rest > 0.5",
    "RND_MIN_INF": "rest > 0.5",
    "TRN_ZERO": "floor < 0 && rest > 0",
}


def _conversion(layer, name: str) -> str:
    """C++ that converts a number to the type of an input port."""
    kind = _type(layer, layer.get_output_variable().type.precision)
    if not _is_converted(kind):
        return f"static double {name}(double x) {{ return x; }}\n"
    signed, integer, fractional, rounding, overflow = kind
    low, high = (-(2 ** (integer + fractional)) if signed else 0), 2 ** (integer + fractional) - 1
    clamp = ""
    if overflow != "WRAP":
        low += 1 if signed and overflow == "SAT_SYM" else 0
        clamp = f"  if (code < {low}.0) code = {low}.0;\n  if (code > {high}.0) code = {high}.0;\n"
    return f"""\
static double {name}(double x) {{
  const double scaled = std::ldexp(x, {fractional}), floor = std::floor(scaled), rest = scaled - floor;
  double code = floor + (({_UP[rounding]}) ? 1.0 : 0.0);
{clamp}  return std::ldexp(code, {-fractional});
}}
"""


def _entered(model, variable, numbers):
    """Numbers for an input, converted to its type where the port takes values of that type only."""
    kind = tuple(model.config.config["InputTypes"][variable.name])
    return _codes(numbers, kind) * 2.0 ** -kind[2] if _is_converted(kind) else numbers


def _computed(program, rows):
    """Outputs of a loaded program; those of more bits than float64 has are rounded to the nearest, as C++ does."""
    from .. import InputError

    try:
        return program.predict(rows)
    except InputError as error:
        if error.code != "E0706" or not np.isfinite(rows).all():
            raise

    def scales(types):
        return 2.0 ** np.array([kind.frac_bits for kind in types])

    def code(number: float, kind) -> int:
        low = -(1 << (kind.width - 1)) if kind.signed else 0
        return (int(number) - low) % (1 << kind.width) + low

    inputs = program.input_types
    floors = np.floor(rows.astype(np.float64) * scales(inputs))
    codes = np.array([[code(*pair) if pair[1].width else 0 for pair in zip(row, inputs, strict=True)] for row in floors], object)
    return program.predict(codes, codes=True).astype(np.float64) / scales(program.output_types)


@contextmanager
def _exact_steps():
    """Lets alkaid find the lowest bit of a number in double precision: it rounds to single precision before, so the types of sums of
    products of several layers lose their lowest bits."""
    from alkaid.trace import affine_interval

    theirs = affine_interval.get_lsb_loc

    def lowest_bit(number: float) -> int:
        mantissa, exponent = math.frexp(number)
        code = int(mantissa * 2.0**53)
        return (code & -code).bit_length() - 54 + exponent if code else theirs(0.0)

    changed = [module for name, module in list(sys.modules.items())
               if name.startswith("alkaid.trace") and getattr(module, "get_lsb_loc", None) is theirs]
    for module in changed:
        module.get_lsb_loc = lowest_bit
    try:
        yield
    finally:
        for module in changed:
            module.get_lsb_loc = theirs


def _check_coefficients(layer, values) -> None:
    """Refuses sums over several layers whose coefficients alkaid may have rounded: it computes them in float64, and the type of the sum
    follows from them."""
    for value in np.ravel(values):
        low, high, step = (float(getattr(value, name, 0.0)) for name in ("low", "high", "step"))
        # A coefficient of 52 bits gives a wider range.
        is_wide = step and max(abs(low), abs(high)) / step >= 2.0**52
        if is_wide and max(map(_bits, value._affine.coeffs.values()), default=0) >= 52:
            raise _refused(layer, "a sum over several layers with coefficients of more than 52 bits, which alkaid cannot hold; give a layer "
                           "before it a narrower type (hls_config['LayerName'][...]['Precision']['result'])")


def _program(model, traced=()):
    """The graph as a program of alkaid's, its inputs one after the other, then its outputs; those of the layers `traced` follow."""
    try:
        import alkaid.trace  # noqa: F401
    except ImportError as error:
        raise RuntimeError("alir2hdl: the back end traces graphs with alkaid: pip install alkaid") from error
    with _exact_steps():
        return _traced(model, traced)


def _traced(model, traced):
    """Implements `_program`."""
    from alkaid.trace import FVArrayInput, trace

    sizes = [_size(variable) for variable in model.get_input_variables()]
    given, values, types = FVArrayInput(sum(sizes)), {}, {}
    firsts = dict(zip((variable.name for variable in model.get_input_variables()), np.cumsum([0, *sizes])))
    for layer in model.get_layers():
        variable = layer.get_output_variable()
        out = variable.type.precision
        if layer.class_name in ("Input", "InputLayer"):
            kind = signed, integer, fractional, rounding, overflow = _type(layer, out)
            first = int(firsts[variable.name])
            result = given[first : first + _size(variable)]
            if _is_converted(kind):
                # The emulator gives the port numbers of its type.
                result = result.quantize(int(signed), integer, fractional, "WRAP", "TRN")
            elif rounding == "RND":
                # What enters is floored: one bit more is all that rounding looks at.
                result = result.quantize(int(signed), integer, fractional + 1, "WRAP", "TRN")
        else:
            if len(layer.outputs) != 1:
                raise _refused(layer, "several outputs")
            result = _layer(layer, [values[name] for name in layer.inputs], [types[name] for name in layer.inputs])
            _check_coefficients(layer, result)
        # A change of shape is none of type.
        result = _cast(layer, result, out) if layer.class_name not in ("Reshape", "Flatten") else result
        for name in layer.outputs:
            values[name], types[name] = result, _type(layer, out)
    shown = [values[name] for name in (*model.outputs, *(layer.outputs[0] for layer in traced))]
    return trace(given, np.concatenate(shown) if len(shown) > 1 else shown[0])


def _size(variable) -> int:
    return int(np.prod(variable.shape))


#: The program `program` gives the outputs of the graph, then those of each layer in `layers`.
_LIBRARY = """\
#include <cmath>
#include <vector>
#include "program.hpp"
CONVERSIONS
namespace {
struct layer { const char* name; std::size_t first, size; };
const layer layers[] = {LAYERS{nullptr, 0, 0}};
bool single = false;
std::vector<double> last(program::outputs + 1);
std::vector<float> narrow(program::outputs + 1);
template <typename number> void run(const number* const* given, number* const* made) {
  double in[program::inputs + 1], *to = in;
GIVEN
  program::run(in, last.data());
  for (std::size_t k = 0; k < program::outputs; ++k) narrow[k] = static_cast<float>(last[k]);
  const double* from = last.data();
MADE
}
}
extern "C" {
struct trace_data { const char* name; void* data; };
void allocate_trace_storage(std::size_t element_size) { single = element_size == sizeof(float); }
void free_trace_storage() {}
void collect_trace_output(trace_data* found) {
  for (std::size_t k = 0; layers[k].name; ++k) {
    void* data = single ? static_cast<void*>(&narrow[layers[k].first]) : static_cast<void*>(&last[layers[k].first]);
    found[k] = {layers[k].name, data};
  }
}
FUNCTIONS}
"""


def _emulator(model, traced, name: str) -> str:
    """C++ of the library that hls4ml's `predict` and `trace` call."""
    ports = {layer.get_output_variable().name: layer for layer in model.get_layers() if layer.class_name in ("Input", "InputLayer")}
    inputs, outputs = model.get_input_variables(), model.get_output_variables()
    conversions = "".join(_conversion(ports[variable.name], f"given_{k}") for k, variable in enumerate(inputs))
    given = "\n".join(
        f"  for (std::size_t k = 0; k < {_size(variable)}; ++k) *to++ = given_{n}(static_cast<double>(given[{n}][k]));"
        for n, variable in enumerate(inputs)
    )
    made = "\n".join(
        f"  for (std::size_t k = 0; k < {_size(variable)}; ++k) made[{n}][k] = static_cast<number>(*from++);" for n, variable in enumerate(outputs)
    )
    sizes = [_size(layer.get_output_variable()) for layer in traced]
    firsts = sum(_size(variable) for variable in outputs) + np.cumsum([0, *sizes])
    rows = "".join(f'{{"{layer.name}", {first}, {size}}}, ' for layer, first, size in zip(traced, firsts, sizes))
    functions = ""
    for number in ("double", "float"):
        arguments = ", ".join([f"{number}* x{k}" for k in range(len(inputs))] + [f"{number}* y{k}" for k in range(len(outputs))])
        from_, to = ", ".join(f"x{k}" for k in range(len(inputs))), ", ".join(f"y{k}" for k in range(len(outputs)))
        functions += (
            f"void {name}_{number}({arguments}) {{\n  const {number}* const given[] = {{{from_}}};\n"
            f"  {number}* const made[] = {{{to}}};\n  run(given, made);\n}}\n"
        )
    text = _LIBRARY
    for word, part in (("CONVERSIONS", conversions), ("GIVEN", given), ("MADE", made), ("LAYERS", rows), ("FUNCTIONS", functions)):
        text = text.replace(word, part, 1)
    return text
