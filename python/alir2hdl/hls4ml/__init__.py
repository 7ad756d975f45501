"""A back end for hls4ml (1.3): `convert_from_keras_model(..., backend="alir2hdl")`.

    >>> model = hls4ml.converters.convert_from_keras_model(keras_model, backend="alir2hdl", output_dir="build", clock_period=4)
    >>> model.compile()                 # writes the project, builds the emulator
    >>> y = model.predict(x)            # bit for bit hls4ml's C simulation, and the hardware
    >>> model.build()                   # simulates the RTL, reads reports

hls4ml finds it by its entry point as soon as this package is installed. It goes hls4ml's road for Vitis as far as types and
layers; what comes out is one program, traced with alkaid (`pip install alkaid`), instead of C++ for HLS.

Layers, `io_parallel`: Input, Dense, Conv1D, Conv2D (channels last; pointwise too), maximum and average pooling (global too), zero padding,
BatchNormalization, merges of two, Concatenate, Transpose, Reshape, Flatten; relu, leaky and thresholded relu, sigmoid, tanh, softmax (stable)
and linear; HGQ2's layers of these kinds. Types: fixed point with every rounding of `ap_fixed`, with WRAP, SAT or SAT_SYM; accumulators with WRAP. An input that saturates, or
rounds by another mode than RND, is converted by `predict`: the hardware's port takes codes of its type. Everything else is
refused with the layer's name. `trace` gives every layer whose `Trace` is set, as hls4ml's own.
"""

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np

__all__ = ["register"]

#: Options of the hardware that `convert_from_keras_model` and `build` take beside hls4ml's own.
_PIPELINE = "auto"


def _refused(layer, what: str):
    return ValueError(f"alir2hdl: layer {layer.name} ({layer.class_name}): {what}")


def _type(layer, precision) -> tuple:
    """Signed, integer and fractional bits (without the sign), rounding and overflow of a type."""
    from hls4ml.model.types import FixedPrecisionType, IntegerPrecisionType

    if not isinstance(precision, (FixedPrecisionType, IntegerPrecisionType)):
        raise _refused(layer, f"type {precision} is no fixed-point type")
    signed, width = bool(precision.signed), int(precision.width)
    integer = int(getattr(precision, "integer", width))
    rounding = str(getattr(precision, "rounding_mode", None) or "TRN").split(".")[-1]
    overflow = str(getattr(precision, "saturation_mode", None) or "WRAP").split(".")[-1]
    _check_modes(layer, f"type {precision}", rounding, overflow)
    if getattr(precision, "saturation_bits", None):
        raise _refused(layer, f"type {precision}: saturation bits are not supported")
    return signed, integer - signed, width - integer, rounding, overflow


#: Rounding modes of `ap_fixed`, each as a function of whole codes below numbers, and of the distances to these.
_ROUNDINGS = {
    "TRN": lambda floor, rest: floor,
    "RND": lambda floor, rest: floor + (rest >= 0.5),
    "RND_CONV": lambda floor, rest: floor + ((rest > 0.5) | ((rest == 0.5) & (floor % 2 == 1))),
    "RND_INF": lambda floor, rest: floor + np.where(floor < 0, rest > 0.5, rest >= 0.5),
    "RND_ZERO": lambda floor, rest: floor + np.where(floor < 0, rest >= 0.5, rest > 0.5),
    "RND_MIN_INF": lambda floor, rest: floor + (rest > 0.5),
    "TRN_ZERO": lambda floor, rest: floor + ((floor < 0) & (rest > 0)),
}
_OVERFLOWS = ("WRAP", "SAT", "SAT_SYM")


def _check_modes(layer, what: str, rounding: str, overflow: str) -> None:
    if rounding not in _ROUNDINGS or overflow not in _OVERFLOWS:
        raise _refused(layer, f"{what}: rounding {', '.join(_ROUNDINGS)}; overflow {', '.join(_OVERFLOWS)}")


def _codes(numbers, kind: tuple):
    """Numbers as codes of a type, as float64."""
    signed, integer, fractional, rounding, overflow = kind
    scaled = np.asarray(numbers, dtype=np.float64) * 2.0**fractional
    floor = np.floor(scaled)
    codes = _ROUNDINGS[rounding](floor, scaled - floor)
    low, high = (-(2.0 ** (integer + fractional)) if signed else 0.0), 2.0 ** (integer + fractional) - 1
    if overflow == "WRAP":
        return (codes - low) % (high - low + 1) + low
    return np.clip(codes, low + 1 if signed and overflow == "SAT_SYM" else low, high)


def _quantise(values, signed, integer: int, fractional: int, overflow: str, rounding: str):
    """Values of alkaid in a type; rounding modes that alkaid does not have are sums and a cut."""
    if rounding not in ("TRN", "RND"):
        step = 2.0**-fractional
        present = np.asarray(values.kif[2])
        # What is cut has to be above these for the next code; values without bits below the type are not rounded.
        unit = np.where(present > fractional, 2.0 ** -present.astype(float), 0.0)
        half = np.where(present > fractional, step / 2, 0.0)
        whole = np.where(present > fractional, step, 0.0)
        if rounding == "RND_CONV":
            odd = values.quantize(0, 1 - fractional, fractional, "WRAP", "TRN")
            values = values + (half - unit) + odd * (unit / step)
        elif rounding == "RND_MIN_INF":
            values = values + (half - unit)
        elif rounding == "TRN_ZERO":
            values = np.where(values < 0, values + (whole - unit), values)
        else:
            above, below = values + half, values + (half - unit)
            values = np.where(values < 0, below, above) if rounding == "RND_INF" else np.where(values < 0, above, below)
        rounding = "TRN"
    return values.quantize(int(signed), integer, fractional, overflow, rounding)


def _cast(layer, values, precision):
    signed, integer, fractional, rounding, overflow = _type(layer, precision)
    return _quantise(values, signed, integer, fractional, overflow, rounding)


def _weights(layer, name: str):
    """Weights as C++ holds them: written in decimals, rounded to their type; in the shape that Keras gives them."""
    weight = layer.weights[name]
    if "Compressed" in type(weight).__name__ or "Exponent" in type(weight).__name__:
        raise _refused(layer, f"weights {name} are compressed or powers of two; leave that out")
    kind = _type(layer, weight.type.precision)
    written = [float(weight.precision_fmt.format(value)) for value in np.asarray(weight.data).ravel()]
    codes = _codes(np.reshape(written, np.shape(weight.data)), kind)
    if name == "weight" and layer.get_attr("_weights_transposed", False):
        # The strategy Resource has the outputs first.
        codes = np.moveaxis(codes, 0, -1)
    return codes / 2.0 ** kind[2]


def _product(layer, x, x_type, weights):
    """Samples of `weights.shape[0]` numbers in the last axis of x times the weights, plus the bias, as the accumulator holds them."""
    bias = _weights(layer, "bias") if "bias" in layer.weights else np.zeros(weights.shape[1])
    accum = layer.get_attr("accum_t").precision
    _, _, kept, _, overflow = _type(layer, accum)
    if overflow != "WRAP":
        raise _refused(layer, f"accumulator {accum} saturates after each addition; leave it at auto, or at WRAP")
    if kept >= x_type[2] + _type(layer, layer.weights["weight"].type.precision)[2]:
        # alkaid has no product of constants alone: windows that lie in zeros as a whole.
        zero = np.all(sum(x.kif) <= 0, axis=-1)
        rows = [np.array(bias) if zero[k] else x[k] @ weights + bias for k in range(len(x))]
        return _cast(layer, np.concatenate(rows), accum).reshape(len(x), -1)
    # hls4ml casts each product to this type before it adds; so the products share no adders.
    products = _cast(layer, x.reshape(-1, len(weights), 1) * weights, accum)
    held = np.array([_constant(layer, "accum_t", float(one)) for one in bias])
    return _cast(layer, np.sum(products, axis=1) + held, accum)


def _sizes(layer, what: str) -> list:
    """An attribute of every axis of an image: `what` with height or top, then with width or left."""
    height = {"pad": "pad_top"}.get(what, f"{what}_height")
    width = {"pad": "pad_left"}.get(what, f"{what}_width")
    first = layer.get_attr(height)
    last = layer.get_attr(width, layer.get_attr({"in": "n_in", "out": "n_out"}.get(what, ""), None))
    return [1 if what != "pad" else 0, last] if first is None else [first, last]


def _windows(layer, window: str, channels: int):
    """For every output pixel and every place of the window the input's pixel, -1 for padding: shape (pixels, places)."""
    if layer.get_attr("data_format", "channels_last") != "channels_last":
        raise _refused(layer, "channels_last")
    (in_h, in_w), (out_h, out_w) = _sizes(layer, "in"), _sizes(layer, "out")
    (f_h, f_w), (s_h, s_w), (p_h, p_w) = _sizes(layer, window), _sizes(layer, "stride"), _sizes(layer, "pad")
    dilations = [layer.get_attr("dilation_width", 1), layer.get_attr("dilation_height", 1), *layer.get_attr("keras_dilation", [])]
    if any(dilation != 1 for dilation in dilations):
        raise _refused(layer, "dilated convolutions are not supported; dilation_rate=1")
    y = (np.arange(out_h)[:, None] * s_h - p_h + np.arange(f_h))[:, None, :, None]
    x = (np.arange(out_w)[:, None] * s_w - p_w + np.arange(f_w))[None, :, None, :]
    inside = (y >= 0) & (y < in_h) & (x >= 0) & (x < in_w)
    return np.where(inside, y * in_w + x, -1).reshape(out_h * out_w, f_h * f_w)


def _convolution(layer, x, x_type):
    channels, filters = layer.get_attr("n_chan"), layer.get_attr("n_filt")
    if layer.get_attr("keras_groups", 1) != 1 or np.size(layer.weights["weight"].data) % (channels * filters):
        raise _refused(layer, "grouped convolutions are not supported; groups=1")
    pixels = _windows(layer, "filt", channels)
    # What padding reads is the last element, a zero.
    at = np.where(pixels[:, :, None] < 0, x.size, pixels[:, :, None] * channels + np.arange(channels))
    weights = _weights(layer, "weight").reshape(-1, filters)
    padded = np.concatenate([x, np.zeros(1)])
    return _product(layer, padded[at.reshape(len(pixels), -1)], x_type, weights).ravel()


def _scaled(values, factors):
    """Values times constants, element by element. alkaid's product with one constant takes twice the time for each bit of it,
    that with a matrix does not."""
    factors = np.broadcast_to(np.asarray(factors, dtype=np.float64), np.shape(values))

    def bits(number):
        return int(np.frexp(number)[0] * 2.0**53)

    if all(code == 0 or (abs(code) // (code & -code)).bit_length() <= 12 for code in map(bits, factors.ravel())):
        return values * factors
    flat = values.ravel()
    made = [flat[k : k + 1].reshape(1, 1) @ np.array([[factor]]) for k, factor in enumerate(factors.ravel())]
    return np.concatenate([one.ravel() for one in made]).reshape(np.shape(values))


def _quotient(layer, x, count: int, fractionals: int):
    """x over a number, towards zero at these fractional bits (those of its type), as ap_fixed divides."""
    _, integers, _ = (int(np.max(part)) for part in x.kif)
    size = np.abs(x)
    if count & (count - 1) == 0:
        size = size * (1.0 / count)
    else:
        # An exact quotient of codes below 2^bits by one product (Granlund and Montgomery).
        bits = max(integers + fractionals, 0) + 1
        shift = bits + (count - 1).bit_length()
        if shift > 52:
            raise _refused(layer, f"the average of {count} numbers of {bits} bits; take a power of two, or fewer bits")
        size = _scaled(size, -(-(1 << shift) // count) / 2.0**shift)
    size = size.quantize(0, integers + 1, fractionals, "WRAP", "TRN")
    return np.where(x < 0, -size, size)


def _pooled(layer, values, padding: int, x_type, accum):
    """The maximum or average over the first axis of values, some of whose window lies in the padding."""
    if layer.get_attr("pool_op") == "Max":
        if padding and not x_type[0]:
            raise _refused(layer, "padding of unsigned numbers; hls4ml pads them with half of their range")
        return np.max(values, axis=0)
    _, _, kept, _, overflow = _type(layer, accum)
    if overflow == "WRAP" and kept >= x_type[2]:
        total = _cast(layer, np.sum(values, axis=0), accum)
    else:
        total = _cast(layer, values[0], accum)
        for one in values[1:]:
            total = _cast(layer, total + one, accum)
    return _quotient(layer, total, len(values) + (padding if layer.get_attr("count_pad", False) else 0), kept)


def _pooling(layer, x, x_type):
    channels = layer.get_attr("n_filt")
    accum = layer.get_attr("accum_t").precision
    image = x.reshape(-1, channels)
    if layer.class_name.startswith("Global"):
        return _pooled(layer, image, 0, x_type, accum)
    pixels = _windows(layer, "pool", channels)
    made = [_pooled(layer, image[window[window >= 0]], int(np.sum(window < 0)), x_type, accum) for window in pixels]
    return np.concatenate(made)


def _merge(layer, given):
    """The merges, each element cast to the result's type where hls4ml casts it."""
    operation = layer.get_attr("op", "").lower() or layer.class_name.lower()
    out = layer.get_output_variable().type.precision
    if layer.class_name == "Concatenate":
        shapes = [layer.get_input_variable(name).shape for name in layer.inputs]
        axis = layer.get_attr("axis", -1)
        # The axis counts the samples.
        axis = axis - 1 if axis > 0 else axis
        return np.concatenate([x.reshape(shape) for x, shape in zip(given, shapes)], axis=axis).ravel()
    if len(given) != 2:
        raise _refused(layer, "two inputs")
    shapes = [tuple(layer.get_input_variable(name).shape) for name in layer.inputs]
    shape = tuple(layer.get_output_variable().shape)
    try:
        merged = np.broadcast_shapes(*shapes)
    except ValueError:
        raise _refused(layer, f"shapes {shapes[0]} and {shapes[1]}, which do not go together") from None
    if merged != shape:
        raise _refused(layer, f"shapes {shapes[0]} and {shapes[1]}: hls4ml gives the result the shape {shape}, not {merged}")
    # As Keras broadcasts, not modulo the size as hls4ml's C++ does.
    a, b = (x.ravel()[np.broadcast_to(np.arange(x.size).reshape(own), shape).ravel()] for x, own in zip(given, shapes))
    if operation == "maximum":
        return np.where(a > b, _cast(layer, a, out), _cast(layer, b, out))
    if operation == "minimum":
        return np.where(a < b, _cast(layer, a, out), _cast(layer, b, out))
    simple = {"add": lambda: a + b, "subtract": lambda: a - b, "multiply": lambda: a * b, "average": lambda: (a + b) * 0.5}
    if operation not in simple:
        raise _refused(layer, f"{operation} is not among the layers that this back end takes")
    return simple[operation]()


def _float_function(name: str):
    """A function of the C library in the precision that hls4ml's tables are made with, for arrays."""
    import ctypes
    import ctypes.util

    library = ctypes.CDLL(ctypes.util.find_library("m"))
    function, kind = getattr(library, name), ctypes.c_float if name.endswith("f") else ctypes.c_double
    function.restype, function.argtypes = kind, [kind]
    return np.vectorize(lambda value: function(value), otypes=[np.float64])


def _towards_zero(x):
    """The whole part, as a conversion to int leaves it."""
    _, integers, _ = (np.max(part) for part in x.kif)
    size = np.abs(x).quantize(0, max(int(integers), 0) + 1, 0, "WRAP", "TRN")
    return np.where(x < 0, -size, size)


def _tabled(layer, x, kind: str):
    """Sigmoid and tanh: hls4ml's table over -8 to 8, or -4 to 4."""
    size, half = int(layer.get_attr("table_size", 1024)), {"sigmoid": 8, "tanh": 4}[kind]
    if size & (size - 1):
        raise _refused(layer, f"a table of {size} entries; a power of two")
    index = np.clip(_towards_zero(x * (size / (2.0 * half))) + size // 2, 0, size - 1)

    def function(at):
        # hls4ml computes the entries in float, the functions in float and in double.
        value = (np.float32(2 * float(half)) * (np.asarray(at, dtype=np.float32) - np.float32(size / 2)) / np.float32(size)).astype(np.float32)
        if kind == "tanh":
            return _float_function("tanh")(value.astype(np.float64))
        return np.float32(1.0 / (1.0 + _float_function("expf")(-value).astype(np.float32).astype(np.float64))).astype(np.float64)

    signed, integer, fractional, rounding, overflow = _type(layer, layer.get_attr("table_t").precision)
    return _quantise(index.apply(function), signed, integer, fractional, overflow, rounding)


def _entry(values, integers: int, size: int, kind: int):
    """A value cut to the leading bits that address a table of `size` entries."""
    bits = (size - 1).bit_length()
    return values.quantize(kind, integers, bits - kind - integers, "WRAP", "TRN")


def _softmax(layer, x, x_type):
    """hls4ml's softmax `stable`: tables of exp, of the differences to the maximum, and of 1/x."""
    how = layer.get_attr("implementation", "stable")
    if how != "stable":
        raise _refused(layer, f"softmax implementation {how}; stable")
    exp_t, inv_t, accum, inv_in = (layer.get_attr(f"{name}_t").precision for name in ("exp_table", "inv_table", "accum", "inv_inp"))
    size = int(layer.get_attr("table_size", 1024))
    exp_size, inv_size = int(layer.get_attr("exp_table_size", size)), int(layer.get_attr("inv_table_size", size))
    if fractionals + integers > 24:
        warnings.warn(
            f"alir2hdl: layer {layer.name} (Softmax): its input has {signed + integers + fractionals} bits, its table of exp {exp_size} entries: every"
            " class may get the same number (as with Vitis). Give the layer before a result type of 16 bits or so"
            " (hls_config['LayerName'][...]['Precision']['result'])",
            stacklevel=2,
        )
    if layer.get_attr("inp_norm_t", None) is not None:
        raise _refused(layer, "a type of the differences of its own")
    scale = np.float32(layer.get_attr("exp_scale", 1.0))
    outer, inner = int(layer.get_attr("n_outer", 1)), int(layer.get_attr("n_inner", 1))
    signed, integers, fractionals = x_type[:3]
    if fractionals + integers > 24:
        warnings.warn(
            f"alir2hdl: layer {layer.name} (Softmax): its input has {signed + integers + fractionals} bits, its table of exp {exp_size} entries: every"
            " class may get the same number (as with Vitis). Give the layer before a result type of 16 bits or so"
            " (hls_config['LayerName'][...]['Precision']['result'])",
            stacklevel=2,
        )
    expf = _float_function("expf")
    if signed:
        exp_size = min(exp_size, 2 ** (integers + fractionals))

    def exponential(values):
        return expf(-(np.asarray(values, dtype=np.float32) * scale))

    def inverse(values):
        with np.errstate(divide="ignore"):
            found = np.float32(1) / np.asarray(values, dtype=np.float32)
        # No sum of exponentials is that small.
        return np.where(np.isfinite(found), found, 0).astype(np.float64)

    def one(values):
        largest = np.max(values.reshape(1, -1), axis=1)[np.zeros(len(values), dtype=int)]
        values = (largest - values).quantize(0, integers, fractionals, "WRAP", "TRN")
        address = _entry(values, integers, exp_size, 0)
        powers = _cast(layer, _cast(layer, address.apply(exponential), exp_t), accum)
        total = _cast(layer, _cast(layer, np.sum(powers.reshape(1, -1), axis=1), accum), inv_in)
        kind = _type(layer, inv_in)
        inverted = _cast(layer, _entry(total, kind[1], inv_size, int(kind[0])).apply(inverse), inv_t)
        return powers * inverted[np.zeros(len(powers), dtype=int)]

    shaped = x.reshape(outer, -1, inner)
    made = np.stack([np.stack([one(shaped[i, :, k]) for k in range(inner)], axis=-1) for i in range(outer)])
    return made.ravel()


def _activation(layer, x, out):
    activation = str(layer.get_attr("activation", "")).lower()
    if activation == "linear":
        return x
    if layer.class_name in ("Activation", "ReLU") and activation in ("relu", ""):
        return x.relu()
    if layer.class_name == "Activation" and activation in ("sigmoid", "tanh"):
        return _tabled(layer, x, activation)
    if layer.class_name == "ParametrizedActivation" and layer._get_act_function_name() in ("leaky_relu", "thresholded_relu"):
        number = _constant(layer, "param_t", layer.get_attr("activ_param", 1.0))
        # Each side is cast by itself.
        if layer._get_act_function_name() == "leaky_relu":
            return np.where(x > 0, _cast(layer, x, out), _cast(layer, x * number, out))
        return np.where(x > number, _cast(layer, x, out), 0.0)
    raise _refused(layer, f"{activation or layer.class_name} is not among the layers that this back end takes")


def _constant(layer, kind: str, value: float) -> float:
    """A number as its type holds it."""
    found = _type(layer, layer.get_attr(kind).precision)
    return float(_codes(value, found) / 2.0 ** found[2])


def _along(layer, numbers):
    """Numbers of a normalisation for every element: one for each of its axis, the last one unless the Keras layer states another."""
    shape = tuple(int(n) for n in layer.get_output_variable().shape)
    axis, numbers = layer.get_attr("keras_axis", None), np.asarray(numbers)
    if numbers.size == int(np.prod(shape)):
        return numbers.ravel()
    # Keras counts the samples.
    axis = len(shape) - 1 if axis is None else axis - 1 if axis > 0 else axis + len(shape)
    if numbers.size not in (1, shape[axis]):
        raise _refused(layer, f"{numbers.size} numbers for axis {axis + 1} of {shape}")
    return np.broadcast_to(numbers.reshape([-1 if k == axis else 1 for k in range(len(shape))]), shape).ravel()


def _quantised(layer, x):
    """HGQ's quantiser: a type for every element."""
    kinds, widths, integers = (np.broadcast_to(part[0], layer.get_output_variable().shape).ravel().astype(int) for part in layer.mask_kbi)
    rounding, overflow = str(layer.RND), str(layer.SAT)
    _check_modes(layer, f"rounding {rounding} and overflow {overflow}", rounding, overflow)
    made = [
        _quantise(x[k : k + 1], sign, int(whole - sign), int(width - whole), overflow, rounding) if width > 0 else np.zeros(1)
        for k, (sign, width, whole) in enumerate(zip(kinds, widths, integers))
    ]
    return np.concatenate(made)


def _layer(layer, given, kinds):
    """The values of a layer before they are cast to its result's type."""
    out = layer.get_output_variable()
    kind, x, x_type = layer.class_name, given[0], kinds[0]
    if kind == "Dense":
        weights = _weights(layer, "weight").reshape(layer.get_attr("n_in"), layer.get_attr("n_out"))
        return _product(layer, x.reshape(-1, len(weights)), x_type, weights).ravel()
    if kind in ("Conv1D", "Conv2D", "PointwiseConv1D", "PointwiseConv2D", "Conv2DBatchnorm"):
        return _convolution(layer, x, x_type)
    if kind in ("Pooling1D", "Pooling2D", "MaxPooling1D", "MaxPooling2D", "AveragePooling1D", "AveragePooling2D",
                "GlobalPooling1D", "GlobalPooling2D", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalAveragePooling1D",
                "GlobalAveragePooling2D"):
        return _pooling(layer, x, x_type)
    if kind in ("BatchNormalization", "ApplyAlpha"):
        scale, bias = (_along(layer, _weights(layer, name)) for name in ("scale", "bias"))
        return _scaled(x, scale) + bias
    if kind in ("Merge", "Concatenate"):
        return _merge(layer, given)
    if kind in ("ZeroPadding1D", "ZeroPadding2D"):
        top, bottom = layer.get_attr("pad_top", 0), layer.get_attr("pad_bottom", 0)
        left, right = layer.get_attr("pad_left"), layer.get_attr("pad_right")
        height, width, channels = layer.get_attr("in_height", 1), layer.get_attr("in_width"), layer.get_attr("n_chan")
        at = np.pad(np.arange(x.size).reshape(height, width, channels), ((top, bottom), (left, right), (0, 0)), constant_values=x.size)
        return np.concatenate([x, np.zeros(1)])[at.ravel()]
    if kind == "Transpose":
        return x.reshape(layer.get_input_variable().shape).transpose(*layer.get_attr("perm")).ravel()
    if kind in ("Reshape", "Flatten"):
        return x
    if kind == "Softmax":
        return _softmax(layer, x, x_type)
    if kind == "FixedPointQuantizer":
        return _quantised(layer, x)
    return _activation(layer, x, out.type.precision)


def _is_converted(layer) -> bool:
    """Returns `True` if a port cannot round and saturate as the type of an input does: numbers are converted before it."""
    rounding, overflow = _type(layer, layer.get_output_variable().type.precision)[3:]
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


def _conversion(model) -> str:
    """C++ that converts a number to the type of the input port."""
    layer = next(layer for layer in model.get_layers() if layer.class_name in ("Input", "InputLayer"))
    if not _is_converted(layer):
        return "static double given(double x) { return x; }\n"
    signed, integer, fractional, rounding, overflow = _type(layer, layer.get_output_variable().type.precision)
    low, high = (-(2 ** (integer + fractional)) if signed else 0), 2 ** (integer + fractional) - 1
    clamp = ""
    if overflow != "WRAP":
        low += 1 if signed and overflow == "SAT_SYM" else 0
        clamp = f"  if (code < {low}.0) code = {low}.0;\n  if (code > {high}.0) code = {high}.0;\n"
    return f"""\
#include <cmath>
static double given(double x) {{
  const double scaled = std::ldexp(x, {fractional}), floor = std::floor(scaled), rest = scaled - floor;
  double code = floor + (({_UP[rounding]}) ? 1.0 : 0.0);
{clamp}  return std::ldexp(code, {-fractional});
}}
"""


def _program(model, traced=()):
    """The graph as a program of alkaid's; the outputs of the layers `traced` follow its own."""
    try:
        from alkaid.trace import FVArrayInput, trace
    except ImportError as error:
        raise RuntimeError("alir2hdl: the back end traces graphs with alkaid: pip install alkaid") from error
    if len(model.get_input_variables()) != 1 or len(model.get_output_variables()) != 1:
        raise ValueError("alir2hdl: graphs of one input and one output")
    values, types, given = {}, {}, None
    for layer in model.get_layers():
        out = layer.get_output_variable().type.precision
        if layer.class_name in ("Input", "InputLayer"):
            signed, integer, fractional, rounding, overflow = _type(layer, out)
            result = given = FVArrayInput(int(np.prod(layer.get_output_variable().shape)))
            if _is_converted(layer):
                # The emulator gives the port numbers of its type.
                result = result.quantize(int(signed), integer, fractional, "WRAP", "TRN")
            elif rounding == "RND":
                # What enters is floored: one bit more is all that rounding looks at.
                result = result.quantize(int(signed), integer, fractional + 1, "WRAP", "TRN")
        else:
            result = _layer(layer, [values[name] for name in layer.inputs], [types[name] for name in layer.inputs])
        # A change of shape is none of type.
        result = _cast(layer, result, out) if layer.class_name not in ("Reshape", "Flatten") else result
        for name in layer.outputs:
            values[name], types[name] = result, _type(layer, out)
    shown = [values[model.outputs[0]], *(values[layer.outputs[0]] for layer in traced)]
    return trace(given, np.concatenate(shown) if traced else shown[0])


_LIBRARY = """\
#include "program.hpp"
CONVERSION
extern "C" {
void NAME_double(double* x, double* y) {
  double in[program::inputs + 1];
  for (std::size_t k = 0; k < program::inputs; ++k) in[k] = given(x[k]);
  program::run(in, y);
}
void NAME_float(float* x, float* y) {
  double in[program::inputs + 1], out[program::outputs + 1];
  for (std::size_t k = 0; k < program::inputs; ++k) in[k] = given(static_cast<double>(x[k]));
  program::run(in, out);
  for (std::size_t k = 0; k < program::outputs; ++k) y[k] = static_cast<float>(out[k]);
}
}
"""

#: With the outputs of layers: the program `program` gives those of the graph, then those of each layer in `layers`.
_TRACING_LIBRARY = """\
#include <vector>
#include "program.hpp"
CONVERSION
namespace {
struct layer { const char* name; std::size_t first, size; };
const layer layers[] = {LAYERS};
bool single = false;
std::vector<double> last(program::outputs + 1);
std::vector<float> narrow(program::outputs + 1);
void run(const double* x) {
  double in[program::inputs + 1];
  for (std::size_t k = 0; k < program::inputs; ++k) in[k] = given(x[k]);
  program::run(in, last.data());
  for (std::size_t k = 0; k < program::outputs; ++k) narrow[k] = static_cast<float>(last[k]);
}
}
extern "C" {
struct trace_data { const char* name; void* data; };
void allocate_trace_storage(std::size_t element_size) { single = element_size == sizeof(float); }
void free_trace_storage() {}
void collect_trace_output(trace_data* found) {
  std::size_t k = 0;
  for (const layer& one : layers) {
    void* data = single ? static_cast<void*>(&narrow[one.first]) : static_cast<void*>(&last[one.first]);
    found[k++] = {one.name, data};
  }
}
void NAME_double(double* x, double* y) {
  run(x);
  for (std::size_t k = 0; k < OUTPUTS; ++k) y[k] = last[k];
}
void NAME_float(float* x, float* y) {
  double in[program::inputs + 1];
  for (std::size_t k = 0; k < program::inputs; ++k) in[k] = static_cast<double>(x[k]);
  run(in);
  for (std::size_t k = 0; k < OUTPUTS; ++k) y[k] = narrow[k];
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
            # Before the model is read; when a back end is registered, hls4ml is not imported as a whole.
            _take_hgq()
            _keep_axes()
            config = super().create_initial_config(part=part, clock_period=clock_period, io_type=io_type, **rest)
            return config | {"Pipeline": pipeline}

        def generate_conv1d_line_buffer_fn(self, *arguments, **options) -> str:
            """C++ of hls4ml's own convolutions, which ours do not need and which stops at dilated ones."""
            return ""

        def generate_conv2d_line_buffer_fn(self, *arguments, **options) -> str:
            """As `generate_conv1d_line_buffer_fn`."""
            return ""

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
            from .. import _called
            from ..alkaid import _tool

            folder, name = Path(model.config.get_output_dir()), model.config.get_project_name()
            # The layers that hls4ml's own trace() waits for.
            traced = [layer for layer in model.get_layers()
                      if model.config.trace_output and layer.get_attr("function_cpp", None) and layer.get_attr("trace", False)]
            text, source = _LIBRARY, "model.json.gz"
            if traced:
                source = "traced.json.gz"
                _program(model, traced).save(str(folder / source))
                sizes = [int(np.prod(layer.get_output_variable().shape)) for layer in traced]
                own = int(np.prod(model.get_output_variables()[0].shape))
                firsts = own + np.cumsum([0, *sizes])
                rows = [f'{{"{layer.name}", {first}, {size}}}' for layer, first, size in zip(traced, firsts, sizes)]
                text = _TRACING_LIBRARY.replace("LAYERS", ", ".join(rows)).replace("OUTPUTS", str(own))
            if model.config.trace_output:
                # trace() works in this folder of hls4ml's projects.
                (folder / "firmware").mkdir(exist_ok=True)
            _called([str(folder / source), "--cpp", str(folder / "program.hpp"), "--namespace", "program", "--quiet"])
            (folder / "program.cpp").write_text(text.replace("CONVERSION", _conversion(model)).replace("NAME", name))
            # A process that has loaded a library gets that one again from the same path, whatever it holds now.
            content = (folder / "program.hpp").read_bytes() + (folder / "program.cpp").read_bytes()
            stamp = model.config.get_config_value("Stamp") or "emulator"
            library = folder / f"{name}-{stamp}-{hashlib.sha256(content).hexdigest()[:12]}.so"
            _tool(["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-o", library.name, "program.cpp"], folder, False)
            return str(library.resolve())

        def build(self, model, csim=True, vectors=200, **hardware) -> dict:
            """Simulates the RTL in every simulator that is installed (csim), reads what synthesis reported into the project's folder."""
            from .. import report

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
                result["reports"] = report(folder.resolve())["rows"]
            return result

    return Alir2hdlBackend


def _take_hgq() -> None:
    """Lets HGQ's quantisers through hls4ml's pass for them, which writes C++ for the back ends that it knows and stops at others."""
    try:
        from hls4ml.backends.fpga.passes import hgq_proxy_model as passes
    except ImportError:
        return
    theirs = passes.generate_mask_fn
    if getattr(theirs, "alir2hdl", False):
        return

    def generate_mask_fn(name, shape, k, b, i, RND, SAT, backend):  # noqa: N803
        return "" if backend.lower() == "alir2hdl" else theirs(name, shape, k, b, i, RND, SAT, backend)

    generate_mask_fn.alir2hdl = True
    passes.generate_mask_fn = generate_mask_fn


def _keep_axes() -> None:
    """Keeps what hls4ml drops of Keras' configuration: the axis of a normalisation, if it is not the last one, and what is dilated or
    grouped. A normalisation of another axis stays a layer: hls4ml would fuse it as one of the last."""
    from hls4ml.converters.keras_v2_to_hls import layer_handlers
    from hls4ml.converters.keras_v3.conv import ConvHandler
    from hls4ml.model.optimizer.passes import batchnorm_opt, bn_fuse

    def alone(match):
        def matches(self, node):
            given = [node, *(node.get_input_node(name) for name in node.inputs)]
            return not any(one is not None and one.get_attr("keras_axis", None) for one in given) and match(self, node)

        matches.alir2hdl = True
        return matches

    for fusion in (bn_fuse.FuseBatchNormalization, batchnorm_opt.FuseConsecutiveBatchNormalization):
        if not getattr(fusion.match, "alir2hdl", False):
            fusion.match = alone(fusion.match)

    convolution = ConvHandler.handle
    if not getattr(convolution, "alir2hdl", False):

        def handle(self, layer, in_tensors, out_tensors):
            found = convolution(self, layer, in_tensors, out_tensors)
            for row in found if isinstance(found, (list, tuple)) else (found,):
                row["keras_dilation"] = [int(n) for n in np.ravel(getattr(layer, "dilation_rate", 1))]
                row["keras_groups"] = int(getattr(layer, "groups", 1) or 1)
            return found

        handle.alir2hdl = True
        ConvHandler.handle = handle

    theirs = layer_handlers.get("BatchNormalization")
    if theirs is None or getattr(theirs, "alir2hdl", False):
        return

    def handler(keras_layer, input_names, input_shapes, data_reader):
        layer, shape = theirs(keras_layer, input_names, input_shapes, data_reader)
        axis = keras_layer["config"].get("axis", -1)
        axis = axis[0] if isinstance(axis, (list, tuple)) else axis
        if axis not in (-1, len(input_shapes[0]) - 1):
            layer["keras_axis"] = axis if axis > 0 else axis + len(input_shapes[0])
        return layer, shape

    handler.alir2hdl = True
    layer_handlers["BatchNormalization"] = handler


def register(register_backend, register_writer) -> None:
    """What hls4ml calls when it looks for back ends."""
    from hls4ml.writer.vitis_writer import VitisWriter

    register_writer("alir2hdl", VitisWriter)
    register_backend("alir2hdl", _backend_class())
