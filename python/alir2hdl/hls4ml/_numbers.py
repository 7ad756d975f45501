"""Types of hls4ml: `ap_fixed` with its rounding and overflow, of numbers and of values of alkaid."""

import math

import numpy as np



def _refused(layer, what: str):
    return ValueError(f"alir2hdl: layer {layer.name} ({layer.class_name}): {what}")


def _is_sign(precision) -> bool:
    """Returns `True` for hls4ml's bit of binary networks: in products 1 means 1 and 0 means -1."""
    from hls4ml.model.types import XnorPrecisionType

    return isinstance(precision, XnorPrecisionType)


def _type(layer, precision) -> tuple:
    """Signed, integer and fractional bits (without the sign), rounding and overflow of a type."""
    from hls4ml.model.types import FixedPrecisionType, IntegerPrecisionType

    if _is_sign(precision):
        return False, 1, 0, "TRN", "WRAP"
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


def _where_negative(values, negative, other):
    """`negative` where a value is below zero, `other` elsewhere. In a condition `x < 0` or `x > 0`, and in `abs`, alkaid 0.8.2 loses
    the minus of `x = -y` with a quantised `y`; `x >= 0` and `x <= 0` keep it."""
    return np.where(values >= 0, other, negative)


def _where_positive(values, positive, other):
    """`positive` where a value is above zero, `other` elsewhere; see `_where_negative`."""
    return np.where(values <= 0, other, positive)


def _magnitude(values):
    """Absolute values; see `_where_negative`."""
    return _where_negative(values, -values, values)


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
            values = _where_negative(values, values + (whole - unit), values)
        else:
            above, below = values + half, values + (half - unit)
            negative, other = (below, above) if rounding == "RND_INF" else (above, below)
            values = _where_negative(values, negative, other)
        rounding = "TRN"
    return values.quantize(int(signed), integer, fractional, overflow, rounding)


def _cast(layer, values, precision):
    signed, integer, fractional, rounding, overflow = _type(layer, precision)
    return _quantise(values, signed, integer, fractional, overflow, rounding)


def _constant(layer, kind: str, value: float) -> float:
    """A number as its type holds it."""
    found = _type(layer, layer.get_attr(kind).precision)
    return float(_codes(value, found) / 2.0 ** found[2])


def _weights(layer, name: str):
    """Weights as C++ holds them: written in decimals, rounded to their type; in the shape that Keras gives them."""
    weight = layer.weights[name]
    if "Compressed" in type(weight).__name__:
        raise _refused(layer, f"weights {name} are compressed; leave that out")
    if _is_power_of_two(weight.type.precision):
        made = _powers_of_two(layer, name)
    else:
        kind = _type(layer, weight.type.precision)
        written = [float(weight.precision_fmt.format(value)) for value in np.asarray(weight.data).ravel()]
        made = _codes(np.reshape(written, np.shape(weight.data)), kind) / 2.0 ** kind[2]
    # The strategy Resource has the outputs first.
    is_transposed = name.endswith("weight") and layer.get_attr("_weights_transposed", False)
    return np.moveaxis(made, 0, -1) if is_transposed else made


def _is_power_of_two(precision) -> bool:
    """Returns `True` for the type of exponents: numbers of it are a sign and a power of two."""
    from hls4ml.model.types import ExponentPrecisionType

    return isinstance(precision, ExponentPrecisionType)


def _powers_of_two(layer, name: str):
    """Returns the weights that hls4ml's C++ stores as signs and exponents."""
    weight = layer.weights[name]
    data, width = np.asarray(weight.data, dtype=np.float64), int(weight.type.precision.width)
    if not np.all(np.abs(data) > 0):
        raise _refused(layer, f"weights {name} are powers of two, and one is 0")
    exponents = np.log2(np.abs(data)).astype(int)
    if np.any(exponents < -(1 << (width - 1))) or np.any(exponents >= 1 << (width - 1)):
        raise _refused(layer, f"weights {name}: exponents {np.min(exponents)} to {np.max(exponents)} do not fit in {width} bits")
    return np.where(data < 0, -1.0, 1.0) * 2.0**exponents


def _half(layer, name: str):
    """Returns the bits on each side of the binary point in hls4ml's type of products with powers of two; `None` for other weights."""
    precision = layer.weights[name].type.precision
    if not _is_power_of_two(precision):
        return None
    given = layer.get_output_variable() if "recurrent" in name else layer.get_input_variable()
    return int(precision.width) + sum(_type(layer, given.type.precision)[:3])


def _is_exact(layer, name: str, values, factors) -> bool:
    """Returns `True` if hls4ml's type of these products holds all their bits."""
    half = _half(layer, name)
    if half is None:
        return True
    _, integers, fractionals = (int(np.max(part)) for part in values.kif)
    largest = int(np.frexp(np.max(np.abs(factors)))[1])
    return fractionals + _fractional_bits(factors) <= half and integers + largest < half


def _multiplied(layer, name: str, values, factors):
    """Returns the products of values and weights, element by element, as hls4ml's C++ computes them before the sum."""
    if _is_exact(layer, name, values, factors):
        return _scaled(values, factors)
    # Shifted within their type, then negated.
    half = _half(layer, name)
    shifted = _scaled(values, np.abs(factors)).quantize(1, half - 1, half, "WRAP", "TRN")
    return shifted * np.broadcast_to(np.sign(factors), np.shape(shifted))


def _fractional_bits(numbers) -> int:
    """Returns the number of bits after the point that numbers need."""
    mantissas, exponents = np.frexp(np.asarray(numbers, dtype=np.float64))
    codes = (mantissas * 2.0**53).astype(np.int64)
    lowest = exponents - 53 + np.log2(np.maximum(codes & -codes, 1)).astype(int)
    return max(int(np.max(-lowest[codes != 0], initial=0)), 0)


def _bits(number: float) -> int:
    """Returns the number of bits from the first to the last 1 of a number."""
    code = abs(int(math.frexp(number)[0] * 2.0**53))
    return (code // (code & -code)).bit_length() if code else 0


def _parts(numbers) -> list:
    """Returns arrays whose sum is the numbers, each of multiples of a power of two below 2^22 times it. alkaid converts matrices to
    single precision and multiplies by one with more bits inexactly."""
    parts, rest = [], np.asarray(numbers, dtype=np.float64)
    while not parts or np.any(rest):
        step = 2.0 ** (np.frexp(np.max(np.abs(rest)))[1] - 22)
        parts.append(np.trunc(rest / step) * step)
        rest = rest - parts[-1]
    return parts


def _times_matrix(values, matrix):
    """Returns the product of a row of alkaid's values and a matrix, exactly."""
    return sum(values @ part for part in _parts(matrix))


def _plus(layer, values, constants):
    """Returns the sums of values of alkaid and constants."""
    widest = max(np.ravel(constants), key=_bits, default=0.0)
    if _bits(widest) > 31:
        # alkaid stores constants of sums as 32-bit integers.
        raise _refused(layer, f"the constant {float(widest)!r} has {_bits(widest)} bits; give bias and accumulator types of 31 bits or fewer")
    return values + constants


def _scaled(values, factors):
    """Values times constants, element by element. alkaid's product with one constant takes twice the time for each bit of it,
    that with a matrix does not."""
    factors = np.broadcast_to(np.asarray(factors, dtype=np.float64), np.shape(values))
    if all(_bits(factor) <= 12 for factor in factors.ravel()):
        return values * factors
    flat = values.ravel()
    made = [_times_matrix(flat[k : k + 1].reshape(1, 1), np.array([[factor]])) for k, factor in enumerate(factors.ravel())]
    return np.concatenate([one.ravel() for one in made]).reshape(np.shape(values))


def _numbers(layer, name: str, count: int):
    """Weights that a layer may lack, in one row: then zeros."""
    return _weights(layer, name).ravel() if name in layer.weights else np.zeros(count)


def _spread(values, count: int):
    """A last axis of size 1 of values of alkaid, repeated."""
    return values[..., np.zeros(count, dtype=int)]


def _total(layer, terms, start, accum, order=None, cast_first=True):
    """Sums over the second axis of terms (rows, number, columns) as an accumulator holds them: each term is cast to its type, then
    added to `start`; or, without `cast_first`, each sum is cast."""
    start = np.broadcast_to(_codes(start, _type(layer, accum)) / 2.0 ** _type(layer, accum)[2], (len(terms), terms.shape[2]))
    _, _, kept, rounding, overflow = _type(layer, accum)
    exact = bool(np.all(np.asarray(terms.kif[2]) <= kept))
    # A cut by itself is a cut of the sum.
    single = exact or cast_first or rounding in ("TRN", "RND")
    if single and not exact:
        terms = _cast(layer, terms, accum)
    if overflow == "WRAP" and single:
        return _cast(layer, _plus(layer, np.sum(terms, axis=1), start), accum)
    if single and exact and cast_first:
        terms = _cast(layer, terms, accum)
    total = None
    for at in range(terms.shape[1]) if order is None else order:
        total = _cast(layer, _plus(layer, terms[:, at], start) if total is None else total + terms[:, at], accum)
    return total


def _looked_up_in(layer, index, function, precision):
    """A table's entries in a type: rounded to it."""
    kind = _type(layer, precision)

    def entries(at):
        made = _codes(function(at), kind) / 2.0 ** kind[2]
        if np.any(made.astype(np.float32) != made):
            raise _refused(layer, f"entries of a table in {precision}: alkaid stores 24 bits; give the table a narrower type")
        return made

    found = index.apply(entries)
    return found.quantize(int(kind[0]), kind[1], kind[2], "WRAP", "TRN")
