"""Layers that multiply, pool, merge or move numbers."""

import numpy as np

from ._activations import _activation, _softmax, _table, _towards_zero
from ._numbers import (
    _cast, _check_modes, _codes, _constant, _fractional_bits, _is_exact, _is_sign, _looked_up_in, _magnitude, _multiplied, _numbers,
    _plus, _quantise, _refused, _scaled, _spread, _times_matrix, _total, _type, _weights, _where_negative,
)



def _order(layer, count: int, reuse=None):
    """The order in which an accumulator takes the products of `count` inputs: by strides of the reuse factor for the strategy Resource."""
    strategy = str(layer.get_attr("strategy", "latency")).lower()
    if strategy not in ("latency", "resource"):
        raise _refused(layer, f"strategy {strategy} with an accumulator that saturates; Latency or Resource")
    reuse = int(layer.get_attr("reuse_factor", 1) if reuse is None else reuse)
    if strategy == "latency" or reuse >= count:
        return range(count)
    return [at for first in range(reuse) for at in range(first, count, reuse)]


def _product(layer, x, weights, bias=None, weight="weight", reuse=None):
    """Samples of `weights.shape[0]` numbers in the last axis of x times the weights, plus the bias, as the accumulator holds them."""
    bias = _numbers(layer, "bias", weights.shape[1]) if bias is None else bias
    accum = layer.get_attr("accum_t").precision
    overflow = _type(layer, accum)[4]
    kind = layer.weights[weight].type.precision
    if type(kind).__name__ == "IntegerPrecisionType" and kind.width == 2 and kind.signed:
        # A product with a ternary weight takes what is neither 0 nor -1 for 1.
        weights = np.where(weights == -2, 1.0, weights)
    are_signs, is_sign = _is_sign(layer.get_input_variable().type.precision) and weight == "weight", _is_sign(kind)
    if is_sign:
        weights = weights * 2.0 - 1.0
    if are_signs and is_sign:
        if overflow != "WRAP":
            raise _refused(layer, "products of signs with an accumulator that saturates")
        # Bits that are equal are counted, then the count is turned into a sum of signs.
        bias = bias + np.sum(weights < 0, axis=0)
    elif are_signs:
        x = x * 2.0 - 1.0
    total = _sum_of_products(layer, x, weights, bias, weight, reuse)
    if are_signs and is_sign:
        count = len(weights)
        total = _quantise(total * 2.0 - float(count), True, max(count - 1, 0).bit_length() + 1, 0, "WRAP", "TRN")
    return total


def _sum_of_products(layer, x, weights, bias, weight: str, reuse):
    """The sums of `_product` in their accumulator."""
    accum = layer.get_attr("accum_t").precision
    _, _, kept, _, overflow = _type(layer, accum)
    if overflow == "WRAP" and kept >= int(np.max(x.kif[2])) + _fractional_bits(weights) and _is_exact(layer, weight, x, weights):
        # alkaid has no product of constants alone: windows that lie in zeros as a whole.
        zero = np.all(sum(x.kif) <= 0, axis=-1)
        bias = np.broadcast_to(bias, (len(x), weights.shape[1]))
        rows = [np.array(bias[k]) if zero[k] else _plus(layer, _times_matrix(x[k], weights), bias[k]) for k in range(len(x))]
        return _cast(layer, np.concatenate(rows), accum).reshape(len(x), -1)
    # hls4ml casts each product to this type before it adds; so the products share no adders.
    products = _multiplied(layer, weight, _spread(x.reshape(-1, len(weights), 1), weights.shape[1]), weights[None])
    return _total(layer, products, bias, accum, None if overflow == "WRAP" else _order(layer, len(weights), reuse))


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
        raise _refused(layer, f'data_format="{layer.get_attr("data_format")}"; use "channels_last"')
    (in_h, in_w), (out_h, out_w) = _sizes(layer, "in"), _sizes(layer, "out")
    (f_h, f_w), (s_h, s_w), (p_h, p_w) = _sizes(layer, window), _sizes(layer, "stride"), _sizes(layer, "pad")
    d_h, d_w = (int(layer.get_attr(f"dilation_{side}", 1)) for side in ("height", "width"))
    y = (np.arange(out_h)[:, None] * s_h - p_h + np.arange(f_h) * d_h)[:, None, :, None]
    x = (np.arange(out_w)[:, None] * s_w - p_w + np.arange(f_w) * d_w)[None, :, None, :]
    inside = (y >= 0) & (y < in_h) & (x >= 0) & (x < in_w)
    return np.where(inside, y * in_w + x, -1).reshape(out_h * out_w, f_h * f_w)


def _looked_up(layer, x):
    """The numbers that every output pixel of a convolution looks at: (pixels, places, channels)."""
    channels = layer.get_attr("n_chan")
    pixels = _windows(layer, "filt", channels)
    # What padding reads is the last element, a zero.
    at = np.where(pixels[:, :, None] < 0, x.size, pixels[:, :, None] * channels + np.arange(channels))
    return np.concatenate([x, np.zeros(1)])[at]


def _convolution(layer, x):
    """Products of the windows with the weights. Each group of filters has channels of its own; in a depthwise convolution a group has
    one channel."""
    channels, filters = layer.get_attr("n_chan"), layer.get_attr("n_filt")
    weights, seen = _weights(layer, "weight").reshape(-1, filters), _looked_up(layer, x)
    groups, rest = divmod(seen.shape[1] * channels, len(weights))
    if rest or channels % groups or filters % groups:
        raise _refused(layer, f"weights of shape {weights.shape} for {channels} channels")
    bias = _numbers(layer, "bias", filters)
    made = []
    for k in range(groups):
        inputs, own = (slice(k * count // groups, (k + 1) * count // groups) for count in (channels, filters))
        made.append(_product(layer, seen[:, :, inputs].reshape(len(seen), -1), weights[:, own], bias[own]))
    return np.concatenate(made, axis=1).ravel()


def _einsum_dense(layer, x):
    """A product of a matrix for every place that both operands share, between transpositions."""
    if str(layer.get_attr("strategy", "latency")).lower() != "latency":
        raise _refused(layer, f"strategy {layer.get_attr('strategy')}; Latency")
    places, rows, columns, contracted = (int(layer.get_attr(f"n_{n}")) for n in ("inplace", "free_data", "free_kernel", "contract"))
    moved = x.reshape(layer.get_attr("inp_shape")).transpose(*layer.get_attr("inp_tpose_idxs")).reshape(places, rows, contracted)
    weights = _weights(layer, "weight").reshape(places, contracted, columns)
    bias = _numbers(layer, "bias", places * rows * columns).reshape(places, rows, columns)
    made = np.concatenate([_product(layer, moved[k], weights[k], bias[k]) for k in range(places)])
    return made.reshape(layer.get_attr("out_interpert_shape")).transpose(*layer.get_attr("out_tpose_idxs")).ravel()


def _einsum(layer, given):
    """Products of two activations, summed over what both share; the accumulator casts every sum."""
    places, first, second, contracted = (int(layer.get_attr(f"n_{n}")) for n in ("inplace", "free0", "free1", "contract"))
    a, b = (
        x.reshape(layer.get_attr(f"inp{k}_shape")).transpose(*layer.get_attr(f"inp{k}_tpose_idxs")).reshape(places, -1, contracted)
        for k, x in enumerate(given)
    )
    terms = np.concatenate([(a[p, k : k + 1] * b[p])[:, :, None] for p in range(places) for k in range(first)])
    made = _total(layer, terms, np.zeros(1), layer.get_attr("accum_t").precision, cast_first=False)
    return made.reshape(layer.get_attr("out_interpert_shape")).transpose(*layer.get_attr("out_tpose_idxs")).ravel()


def _layernorm(layer, x):
    """hls4ml's normalisation of each row: its table of 1/sqrt over 0 to 1 (or less), from epsilon on."""
    accum = layer.get_attr("accum_t").precision
    rows, size = int(layer.get_attr("seq_len")), int(layer.get_attr("table_size", 1024))
    x = _cast(layer, x, accum).reshape(rows, -1, 1)
    width = x.shape[1]
    inverse = _constant(layer, "accum_t", 1.0 / width)

    def mean(values):
        return _cast(layer, _total(layer, values, np.zeros(1), accum) * inverse, accum)

    distance = _cast(layer, x - mean(x)[:, None], accum)
    variance = mean(_cast(layer, distance * distance, accum))
    index = np.clip(_towards_zero(variance * float(size << int(layer.get_attr("table_range_power2", 0)))), 0, size - 1)

    def function(at):
        lowest = np.float32(10.0 ** -int(layer.get_attr("epsilon_power_of_10", 3)))
        step = np.float32(2.0 ** -int(layer.get_attr("table_range_power2", 0))) / np.float32(size)
        return (1.0 / np.sqrt(lowest + step * np.asarray(at, dtype=np.float32)).astype(np.float32)).astype(np.float64)

    factor = _looked_up_in(layer, index, function, layer.get_attr("table_t").precision)
    scale, bias = (np.tile(_weights(layer, name).ravel(), rows) for name in ("scale", "bias"))
    return _plus(layer, _scaled((distance * factor[:, None]).ravel(), scale), bias)


def _embedding(layer, x, x_type):
    """Rows of a table, a column after the other; an index beyond it reads the last row (C++ reads beyond the array)."""
    if x_type[2] > 0 or x_type[0]:
        raise _refused(layer, "an index that is no unsigned integer; give the input a type such as ap_uint<8>")
    table = _weights(layer, "embeddings").reshape(-1, int(layer.get_attr("n_out")))
    kind = layer.weights["embeddings"].type.precision

    def row(values, column):
        return _looked_up_in(layer, values, lambda at: table[np.minimum(np.asarray(at).astype(int), len(table) - 1), column], kind)

    made = [row(x, column) for column in range(table.shape[1])]
    return np.stack(made, axis=-1).ravel()


def _cropped(layer, x):
    height, channels = int(layer.get_attr("in_height", 1)), int(layer.get_attr("n_chan"))
    top, left = int(layer.get_attr("crop_top", 0)), int(layer.get_attr("crop_left", 0))
    image = x.reshape(height, int(layer.get_attr("in_width")), channels)
    return image[top : top + int(layer.get_attr("out_height", 1)), left : left + int(layer.get_attr("out_width"))].ravel()


def _resized(layer, x):
    """Nearest neighbours, with hls4ml's ratios of 16 fractional bits."""
    if layer.get_attr("algorithm", "nearest") != "nearest":
        raise _refused(layer, f"algorithm {layer.get_attr('algorithm')}; nearest")
    heights, widths = (int(layer.get_attr(n) or 1) for n in ("in_height", "out_height")), (int(layer.get_attr(f"{n}_width")) for n in ("in", "out"))

    def read(old, new):
        return (np.arange(new) * ((old << 16) // new + 1)) >> 16

    image = x.reshape(int(layer.get_attr("in_height") or 1), int(layer.get_attr("in_width")), int(layer.get_attr("n_chan")))
    return image[read(*heights)][:, read(*widths)].ravel()


def _quotient(layer, x, count: int, fractionals: int):
    """x over a number, towards zero at these fractional bits (those of its type), as ap_fixed divides."""
    _, integers, _ = (int(np.max(part)) for part in x.kif)
    size = _magnitude(x)
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
    return _where_negative(x, -size, size)


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
    if operation in ("dot", "dot1d"):
        return _total(layer, (given[0] * given[1]).reshape(1, -1, 1), np.zeros(1), layer.get_attr("accum_t").precision).ravel()
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


def _compared(layer, x):
    """A normalisation and the binary or ternary tanh after it: comparisons with thresholds."""

    def threshold(name):
        return _along(layer, _weights(layer, name))

    if int(layer.get_attr("quantize")) == 2:
        return np.where(x >= threshold("threshold"), 1.0, 0.0)
    return np.where(x > threshold("threshold_hi"), 1.0, np.where(x <= threshold("threshold_lo"), -1.0, 0.0))


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


def _recurrent(layer, given):
    """LSTM and GRU, one step after the other, from a state of zeros; those of Bidirectional, one of which begins at the last step."""
    if len(given) != 1 or layer.get_attr("return_state", False) or layer.get_attr("pass_initial_states", False):
        raise _refused(layer, "states that are given or returned are not supported")
    if layer.get_attr("time_major", False) or layer.get_attr("pytorch", False):
        raise _refused(layer, "samples first, weights of Keras")
    rows = given[0].reshape(-1, layer.get_input_variable().shape[-1])
    if layer.class_name == "Bidirectional":
        forward = _unrolled(layer, rows, layer.get_attr("forward_class_name"), "forward_")
        backward = _unrolled(layer, rows[::-1], layer.get_attr("backward_class_name"), "backward_")[::-1]
        last = [forward[-1], backward[0]]
        steps = [part for pair in zip(forward, backward) for part in pair]
    else:
        if layer.get_attr("direction", "forward") != "forward":
            raise _refused(layer, "one direction, from the first step on")
        steps = _unrolled(layer, rows, layer.class_name, "")
        last = steps[-1:]
    return np.concatenate(steps if layer.get_attr("return_sequences", False) else last)


def _unrolled(layer, rows, kind: str, side: str):
    """The states of a recurrent layer after every step; its attributes and weights have a prefix."""
    lstm, accum, out = kind == "LSTM", layer.get_attr("accum_t").precision, layer.get_output_variable().type.precision
    if kind not in ("LSTM", "GRU"):
        raise _refused(layer, f"{kind}; LSTM, GRU")
    if not lstm and layer.get_attr(f"{side}apply_reset_gate", "after") != "after":
        raise _refused(layer, "reset_after=False, which hls4ml computes as True")
    kinds = [str(layer.get_attr(side + name)).lower() for name in ("recurrent_activation", "activation")]
    if any(kind not in ("relu", "sigmoid", "tanh") for kind in kinds):
        raise _refused(layer, f"activations {kinds[1]} and {kinds[0]}; relu, sigmoid, tanh")
    gates, inner = (lambda x, kind=kind: _cast(layer, x.relu() if kind == "relu" else _table(layer, x, kind), accum) for kind in kinds)
    weights, recurrent = _weights(layer, f"{side}weight"), _weights(layer, f"{side}recurrent_weight")
    units = recurrent.shape[0]
    biases = [_numbers(layer, side + name, weights.shape[1]) for name in ("bias", "recurrent_bias")]
    held = _type(layer, accum)
    reuse, back_reuse = layer.get_attr(f"{side}reuse_factor", 1), layer.get_attr(f"{side}recurrent_reuse_factor", 1)
    hidden = state = None
    steps = []
    for row in rows:
        fed = _product(layer, row.reshape(1, -1), weights, biases[0], f"{side}weight", reuse)[0]
        # Of a state of zeros the bias is left.
        back = _codes(biases[1], held) / 2.0 ** held[2]
        if hidden is not None:
            back = _product(layer, hidden.reshape(1, -1), recurrent, biases[1], f"{side}recurrent_weight", back_reuse)[0]
        parts = [slice(k * units, (k + 1) * units) for k in range(weights.shape[1] // units)]
        if lstm:
            entered, kept, shown = (gates(_cast(layer, fed[parts[k]] + back[parts[k]], accum)) for k in (0, 1, 3))
            made = inner(_cast(layer, fed[parts[2]] + back[parts[2]], accum)) * entered
            state = _cast(layer, made if state is None else made + state * kept, out)
            hidden = _cast(layer, shown * inner(state), out)
        else:
            update, reset = (gates(_cast(layer, fed[parts[k]] + back[parts[k]], accum)) for k in (0, 1))
            made = inner(_cast(layer, fed[parts[2]] + _cast(layer, reset * back[parts[2]], accum), accum)) * (1.0 - update)
            hidden = _cast(layer, made if hidden is None else made + hidden * update, out)
        steps.append(hidden)
    return steps


def _layer(layer, given, kinds):
    """The values of a layer before they are cast to its result's type."""
    out = layer.get_output_variable()
    kind, x, x_type = layer.class_name, given[0], kinds[0]
    if kind == "Dense":
        weights = _weights(layer, "weight").reshape(layer.get_attr("n_in"), layer.get_attr("n_out"))
        return _product(layer, x.reshape(-1, len(weights)), weights).ravel()
    if kind in ("Conv1D", "Conv2D", "PointwiseConv1D", "PointwiseConv2D", "Conv2DBatchnorm", "DepthwiseConv1D", "DepthwiseConv2D"):
        return _convolution(layer, x)
    if kind == "EinsumDense":
        return _einsum_dense(layer, x)
    if kind == "Einsum":
        return _einsum(layer, given)
    if kind == "LayerNormalization":
        return _layernorm(layer, x)
    if kind == "Embedding":
        return _embedding(layer, x, x_type)
    if kind in ("Cropping1D", "Cropping2D"):
        return _cropped(layer, x)
    if kind in ("Resize", "UpSampling1D", "UpSampling2D"):
        return _resized(layer, x)
    if kind in ("LSTM", "GRU", "Bidirectional"):
        return _recurrent(layer, given)
    if kind in ("Pooling1D", "Pooling2D", "MaxPooling1D", "MaxPooling2D", "AveragePooling1D", "AveragePooling2D",
                "GlobalPooling1D", "GlobalPooling2D", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalAveragePooling1D",
                "GlobalAveragePooling2D"):
        return _pooling(layer, x, x_type)
    if kind in ("BatchNormalization", "ApplyAlpha"):
        scale, bias = (_along(layer, _weights(layer, name)) for name in ("scale", "bias"))
        return _plus(layer, _multiplied(layer, "scale", x, scale), bias)
    if kind == "BatchNormalizationQuantizedTanh":
        return _compared(layer, x)
    if kind in ("Merge", "Concatenate", "Dot"):
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
    return _activation(layer, x, x_type, out.type.precision)
