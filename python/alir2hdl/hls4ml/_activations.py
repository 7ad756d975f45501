"""Activations as hls4ml's tables and arithmetic compute them."""

import warnings

import numpy as np

from ._numbers import (
    _cast, _constant, _is_sign, _looked_up_in, _magnitude, _quantise, _refused, _scaled, _type, _weights, _where_negative,
    _where_positive,
)



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
    size = _magnitude(x).quantize(0, max(int(integers), 0) + 1, 0, "WRAP", "TRN")
    # int has 32 bits.
    return _where_negative(x, -size, size).quantize(1, min(max(int(integers), 0) + 1, 31), 0, "WRAP", "TRN")


def _in_float(kind: str):
    """A function of hls4ml's tables: sums and quotients in double, a function of the C library in float or double, the result in float."""
    exp, tanh, log = (_float_function(name) for name in ("expf", "tanh", "log"))

    def computed(value):
        wide = value.astype(np.float64)
        if kind == "tanh":
            # Not rounded to float.
            return tanh(wide)
        if kind == "softsign":
            return wide / (np.abs(wide) + 1.0)
        power = exp(-value if kind == "sigmoid" else value)
        if kind == "sigmoid":
            return 1.0 / (1.0 + power)
        if kind == "softplus":
            return log(power + 1.0)
        return power - 1.0 if kind == "elu" else 1.0507009873554804934193349852946 * (1.6732632423543772848170429916717 * (power - 1.0))

    return computed


#: Half of the range of a table around 0; 0 for tables from -8 to 0.
_HALVES = {"sigmoid": 8, "tanh": 4, "softplus": 8, "softsign": 8, "elu": 0, "selu": 0}


def _table(layer, x, kind: str):
    """Functions of hls4ml's tables, in the table's type."""
    size, half = int(layer.get_attr("table_size", 1024)), _HALVES[kind]
    if size & (size - 1):
        raise _refused(layer, f"a table of {size} entries; a power of two")
    if half:
        index = np.clip(_towards_zero(x * (size / (2.0 * half))) + size // 2, 0, size - 1)
    else:
        index = np.clip(_towards_zero(x * (size / -8.0)), 0, size - 1)
    computed = _in_float(kind)

    def function(at):
        at = np.asarray(at, dtype=np.float64)
        value = (2.0 * half * (at - size / 2.0) / size if half else -8.0 * at / size).astype(np.float32)
        found = computed(value)
        return found if kind == "tanh" else found.astype(np.float32).astype(np.float64)

    return _looked_up_in(layer, index, function, layer.get_attr("table_t").precision)


def _entry(values, integers: int, size: int, kind: int):
    """A value cut to the leading bits that address a table of `size` entries."""
    bits = (size - 1).bit_length()
    return values.quantize(kind, integers, bits - kind - integers, "WRAP", "TRN")


def _tree(values, add):
    """hls4ml's `reduce`: the left half has the largest power of two below the number."""
    if len(values) == 1:
        return values[0]
    left = 1 << ((len(values) - 1).bit_length() - 1)
    return add(_tree(values[:left], add), _tree(values[left:], add))


def _softmax(layer, x, x_type):
    """hls4ml's softmax: tables of exp and of 1/x. `stable` takes exp of the differences to the maximum, `latency` of the inputs;
    `legacy` has its own tables, `argmax` none."""
    how = str(layer.get_attr("implementation", "stable"))
    makers = {"stable": _softmax_row, "latency": _softmax_row, "legacy": _softmax_legacy, "argmax": _softmax_argmax}
    if how not in makers:
        raise _refused(layer, f"softmax implementation {how}; {', '.join(makers)}")
    if how == "stable" and layer.get_attr("inp_norm_t", None) is None and x_type[1] + x_type[2] > 24:
        warnings.warn(
            f"alir2hdl: layer {layer.name} (Softmax): its input has {sum(x_type[:3])} bits, more than its table of exp can address: every"
            " class may get the same number (as with Vitis). Give the layer before a result type of 16 bits or so"
            " (hls_config['LayerName'][...]['Precision']['result'])",
            stacklevel=2,
        )
    outer, inner = int(layer.get_attr("n_outer", 1)), int(layer.get_attr("n_inner", 1))
    shaped = x.reshape(outer, -1, inner)
    row = makers[how](layer, x_type, how)
    made = np.stack([np.stack([row(shaped[i, :, k]) for k in range(inner)], axis=-1) for i in range(outer)])
    return made.ravel()


def _softmax_row(layer, x_type, how: str):
    """`stable` and `latency`, of one row."""
    exp_t, inv_t, accum, inv_in = (layer.get_attr(f"{name}_t").precision for name in ("exp_table", "inv_table", "accum", "inv_inp"))
    size = int(layer.get_attr("table_size", 1024))
    exp_size, inv_size = int(layer.get_attr("exp_table_size", None) or size), int(layer.get_attr("inv_table_size", None) or size)
    scale, expf = np.float32(layer.get_attr("exp_scale", 1.0)), _float_function("expf")
    signed, integers, fractionals = x_type[:3]
    normed = layer.get_attr("inp_norm_t", None)
    if how == "stable" and normed is None and signed:
        exp_size = min(inv_size, 2 ** (integers + fractionals))
    kind, inverted = _type(layer, inv_in), _type(layer, inv_t)
    # ap_fixed makes an infinity its largest number, or 0 if it wraps.
    infinity = 0.0 if inverted[4] == "WRAP" else 2.0 ** inverted[1] - 2.0 ** -inverted[2]

    def exponential(values):
        values = np.asarray(values, dtype=np.float32) * scale
        return expf(-values if how == "stable" else values)

    def inverse(values):
        with np.errstate(divide="ignore"):
            found = np.float32(1) / np.asarray(values, dtype=np.float32)
        return np.where(np.isfinite(found), found, infinity).astype(np.float64)

    def one(values):
        sign, whole = int(signed), integers
        if how == "stable":
            largest = np.max(values.reshape(1, -1), axis=1)[np.zeros(len(values), dtype=int)]
            values = largest - values
            if normed is None:
                sign, values = 0, values.quantize(0, integers, fractionals, "WRAP", "TRN")
            else:
                values = _cast(layer, values, normed.precision if hasattr(normed, "precision") else normed)
                sign, whole = (int(n) for n in _type(layer, normed.precision if hasattr(normed, "precision") else normed)[:2])
        powers = _cast(layer, _looked_up_in(layer, _entry(values, whole, exp_size, sign), exponential, exp_t), accum)
        if _type(layer, accum)[4] == "WRAP":
            total = _cast(layer, np.sum(powers.reshape(1, -1), axis=1), accum)
        else:
            total = _tree([powers[k : k + 1] for k in range(len(powers))], lambda a, b: _cast(layer, a + b, accum))
        total = _cast(layer, total, inv_in)
        inverted = _looked_up_in(layer, _entry(total, kind[1], inv_size, int(kind[0])), inverse, inv_t)
        return powers * inverted[np.zeros(len(powers), dtype=int)]

    return one


def _softmax_legacy(layer, x_type, how: str):
    """Sums of exponentials of differences, in `ap_fixed<18, 8>`; for one row."""
    size = int(layer.get_attr("table_size", 1024))
    exp_size, inv_size = int(layer.get_attr("exp_table_size", None) or size), int(layer.get_attr("inv_table_size", None) or size)
    if exp_size & (exp_size - 1) or inv_size & (inv_size - 1):
        raise _refused(layer, f"tables of {exp_size} and {inv_size} entries; powers of two")
    expf = _float_function("expf")

    def cut(values):
        return values.quantize(1, 7, 10, "WRAP", "TRN")

    def exponential(at):
        return expf((16.0 * (np.asarray(at, dtype=np.float64) - exp_size / 2.0) / exp_size).astype(np.float32))

    def inverse(at):
        value = (64.0 * np.asarray(at, dtype=np.float64) / inv_size).astype(np.float32).astype(np.float64)
        return np.where(value > 0, 1.0 / np.where(value > 0, value, 1.0), 0.0)

    def one(values):
        made = []
        for k in range(len(values)):
            total = None
            others = [j for j in range(len(values)) if j != k]
            for j in others:
                index = _towards_zero((values[j : j + 1] - values[k : k + 1]) * (exp_size / 16.0)) + exp_size // 2
                term = cut(np.clip(index, 0, exp_size - 1).apply(exponential))
                total = term if total is None else total + term
            total = np.ones(1) if total is None else cut(total + 1.0)
            if not others:
                raise _refused(layer, "one number; two or more")
            index = np.clip(_towards_zero(total * (inv_size / 64.0)), 0, inv_size - 1)
            made.append(cut(index.apply(inverse)))
        return np.concatenate(made)

    return one


def _softmax_argmax(layer, x_type, how: str):
    """1 at the first largest number of a row, else 0."""

    def one(values):
        largest, higher = values[:1], []
        for k in range(1, len(values)):
            higher.append(values[k : k + 1] > largest)
            largest = np.where(higher[-1], values[k : k + 1], largest)
        free, made = np.ones(1), []
        for found in reversed(higher):
            made.append(np.where(found, free, 0.0))
            free = np.where(found, 0.0, free)
        return np.concatenate([free, *reversed(made)])

    return one


def _activation(layer, x, x_type, out):
    activation = str(layer.get_attr("activation", "")).lower()
    kind = layer.class_name
    if kind == "UnaryLUT":
        table, size = _weights(layer, "table").ravel(), int(layer.get_attr("table_size"))
        if 2 ** sum(x_type[:3]) > size:
            raise _refused(layer, f"an input of {sum(x_type[:3])} bits for a table of {size} entries")
        return _looked_up_in(layer, x, lambda at: table[np.asarray(at * 2.0 ** x_type[2]).astype(int) % size], layer.get_attr("table_t").precision)
    if kind == "PReLU":
        # Axes that share a slope have length 1.
        slopes = np.broadcast_to(_weights(layer, "param"), layer.get_output_variable().shape).ravel()
        return _where_positive(x, _cast(layer, x, out), _cast(layer, _scaled(x, slopes), out))
    if kind == "HardActivation":
        inside = np.clip(x * _constant(layer, "slope_t", layer.get_attr("slope")) + _constant(layer, "shift_t", layer.get_attr("shift")), 0.0, 1.0)
        if activation not in ("hard_sigmoid", "hard_tanh"):
            raise _refused(layer, f"{activation} is not among the layers that this back end takes")
        return inside * 2.0 - 1.0 if activation == "hard_tanh" else inside
    if activation == "linear":
        return x
    if kind in ("Activation", "ReLU"):
        if activation in ("relu", ""):
            return x.relu()
        if activation in ("relu1", "relu6"):
            return np.clip(x, 0.0, float(activation[-1]))
        if activation in ("sigmoid", "tanh", "softplus", "softsign"):
            return _table(layer, x, activation)
        if activation == "elu":
            return np.where(x >= 0, _cast(layer, x, out), _cast(layer, _table(layer, x, "elu"), out))
        if activation == "selu":
            # Lambda has 15 fractional bits.
            return np.where(x >= 0, _cast(layer, x * (np.floor(1.0507009873554805 * 2.0**15) / 2.0**15), out), _cast(layer, _table(layer, x, "selu"), out))
    if activation == "binary_tanh" and _is_sign(out):
        return np.where(x >= 0, 1.0, 0.0)
    if activation in ("binary_tanh", "ternary_tanh") and sum(_type(layer, out)[:3]) > 1:
        if activation == "binary_tanh":
            return np.where(x >= 0, 1.0, -1.0)
        twice = _quantise(x * 2.0, *x_type[:3], x_type[4], x_type[3])
        return np.where(twice > 1, 1.0, np.where(twice > -1, 0.0, -1.0))
    if kind == "ParametrizedActivation" and layer._get_act_function_name() in ("leaky_relu", "thresholded_relu", "elu"):
        number = _constant(layer, "param_t", layer.get_attr("activ_param", 1.0))
        # Each side is cast by itself.
        if layer._get_act_function_name() == "leaky_relu":
            return _where_positive(x, _cast(layer, x, out), _cast(layer, x * number, out))
        if layer._get_act_function_name() == "elu":
            return np.where(x >= 0, _cast(layer, x, out), _cast(layer, _table(layer, x, "elu") * number, out))
        return np.where(x <= number, 0.0, _cast(layer, x, out))
    raise _refused(layer, f"{activation or kind} is not among the layers that this back end takes")
