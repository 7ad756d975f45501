"""{{ v.top }} on {{ b.name }}, from Python: numpy in, numpy out.

On the board (PYNQ), with {{ v.top }}.bit, {{ v.top }}.hwh and metadata.json beside this file:

    from driver import Driver
    driver = Driver()
    y = driver.predict(x)           # x: (samples, inputs) of real numbers; y: (samples, outputs), as `alir2hdl run` gives them

Samples are encoded exactly as the model defines it: an element of the type with f fractional bits is floor(x * 2^f), of which the low
bits stay (inputs beyond the type wrap). Networks and matrices may say another rule (metadata.json, `network`), which is applied exactly
too; their outputs are the float64 nearest to code * 2^-f * scale + offset.
"""

import json
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
#: Bytes that one transfer of the DMA engine moves at most (its length register has 26 bits).
LONGEST = (1 << 26) - 1


def _metadata():
    """The project's description: beside this file, or one folder up where the project has it."""
    for folder in (HERE, HERE.parent):
        if (folder / "metadata.json").is_file():
            return json.loads((folder / "metadata.json").read_text())
    raise FileNotFoundError("metadata.json of the project has to lie beside driver.py")


_HALF = Fraction(1, 2)
#: Rounding of a Fraction, by the names of docs/network.md.
_ROUND = {
    "TRN": floor,
    "TRN_ZERO": int,
    "RND": lambda t: floor(t + _HALF),
    "RND_CONV": round,
    "RND_INF": lambda t: floor(t + _HALF) if t >= 0 else -floor(_HALF - t),
    "RND_ZERO": lambda t: -floor(_HALF - t) if t >= 0 else floor(t + _HALF),
    "RND_MIN_INF": lambda t: -floor(_HALF - t),
    "CEIL": lambda t: -floor(-t),
    "UP": lambda t: -floor(-t) if t >= 0 else floor(t),
}


class _Rule:
    """How the code of an input follows from a real number, and what that of an output means, in exact arithmetic."""

    def __init__(self, facts, width, fraction, signed):
        self.scale, self.offset = Fraction(facts["scale"]), Fraction(facts["offset"])
        self.step = Fraction(2) ** -fraction
        encoder = facts.get("encoder", {})
        self.gain, self.bias = Fraction(encoder.get("gain", 1 / self.step)), Fraction(encoder.get("bias", 0))
        self.round, self.overflow = _ROUND.get(encoder.get("round")), encoder.get("overflow")
        self.low, self.high, self.zero = (int(encoder[key]) if key in encoder else None for key in ("low", "high", "zero"))
        if self.overflow:
            self.low, self.high = (-(1 << width - 1), (1 << width - 1) - 1) if signed and width else (0, (1 << width) - 1)
            self.modulus = 1 << width

    def code(self, x):
        t = Fraction(x) * self.gain + self.bias
        if self.zero is not None:
            return self.round(min(max(t, self.low), self.high)) - self.zero
        if self.round is None:
            return int(t >= 0)
        code = self.round(t)
        if self.low <= code <= self.high:
            # The lowest code of a signed type has no negative.
            return -self.high if self.overflow == "SAT_SYM" and self.low < 0 and code == self.low else code
        if self.overflow == "WRAP":
            return (code - self.low) % self.modulus + self.low
        if self.overflow == "SAT_ZERO":
            return 0
        low = -self.high if self.overflow == "SAT_SYM" and self.low < 0 else self.low
        return self.high if code > self.high else low

    def bytes_of(self, column, length):
        # Samples repeat numbers; a Fraction takes some microseconds.
        numbers, places = np.unique(column, return_inverse=True)
        codes = b"".join((self.code(x) % (1 << 8 * length)).to_bytes(length, "little") for x in numbers.tolist())
        return np.frombuffer(codes, dtype=np.uint8).reshape(-1, length)[places.reshape(-1)]

    def numbers(self, codes):
        found, places = np.unique(codes, return_inverse=True)
        # Division of whole numbers rounds once.
        values = (int(code) * self.step * self.scale + self.offset for code in found.tolist())
        return np.array([value.numerator / value.denominator for value in values])[places.reshape(-1)]


def _rules(groups, elements):
    """The rule of each element; None for what is plainly the floor of a number, or the number that its type says."""
    rules = [None] * len(elements)
    for group in groups:
        for at, facts in enumerate(group["elements"]):
            first = facts.get("first", group["first"] + at)
            encoder = facts.get("encoder")
            plain = facts["scale"] == "1" and facts["offset"] == "0"
            plain = (encoder["round"], encoder["overflow"]) == ("TRN", "WRAP") if encoder and "overflow" in encoder else plain and not encoder
            for k in range(first, first + facts.get("count", 1)) if not plain else ():
                rules[k] = _Rule(facts, elements[k]["width"], elements[k]["fractionals"], elements[k]["signed"])
    return rules


class _Side:
    """One side of the stream: where each element lies among the bytes of a sample, and what its bits mean."""

    def __init__(self, elements, stream, groups):
        self.rules = _rules(groups, elements)
        self.elements = [(element["width"], element["fractionals"], element["signed"]) for element in elements]
        self.slots = [(slot["lsb"] // 8, slot["width"] // 8) for slot in stream["slots"]]
        self.bytes = stream["beats"] * stream["data_width"] // 8

    def encode(self, x, codes):
        """The bytes of samples, a row each; of their codes, if they are such."""
        rows = np.zeros((len(x), self.bytes), dtype=np.uint8)
        for (width, fraction, _), (first, length), rule, column in zip(self.elements, self.slots, self.rules, np.asarray(x, float).T):
            if width == 0:
                continue
            # Scaling by a power of two is exact, but where a number vanishes: then the floor of a negative one is still -1.
            if rule and not codes:
                rows[:, first : first + length] = rule.bytes_of(column, length)
                continue
            code = np.floor(np.ldexp(column, 0 if codes else fraction))
            code[(column < 0) & (code == 0)] = -1
            # Words of 32 bits, the lowest first. A remainder of floats is exact.
            words = [np.mod(np.floor(np.ldexp(code, -32 * k)), 2.0**32).astype("<u4") for k in range((length + 3) // 4)]
            text = np.stack(words, axis=1).view(np.uint8)
            rows[:, first : first + length] = text[:, :length]
        return rows

    def decode(self, rows, codes):
        """The numbers in bytes, as the nearest float64; or their codes."""
        y = np.zeros((len(rows), len(self.elements)))
        for at, ((width, fraction, signed), (first, length), rule) in enumerate(zip(self.elements, self.slots, self.rules)):
            text = np.ascontiguousarray(rows[:, first : first + length])
            fraction = 0 if codes else fraction
            if rule and not codes:
                whole = [int.from_bytes(row.tobytes(), "little", signed=bool(signed)) if width else 0 for row in text]
                y[:, at] = rule.numbers(np.array(whole, dtype=object))
                continue
            if width == 0:
                continue
            if width <= 53:
                # At most eight bytes, in which the hardware extends the sign.
                code = text.view(f"<{'i' if signed else 'u'}{length}")[:, 0]
                y[:, at] = np.ldexp(code.astype(float), -fraction)
            else:
                whole = (int.from_bytes(row.tobytes(), "little", signed=bool(signed)) for row in text)
                # Division of whole numbers rounds once.
                y[:, at] = [code / (1 << fraction) if fraction >= 0 else float(code << -fraction) for code in whole]
        return y


class Driver:
    """The model on the board."""

    def __init__(self, bitfile=HERE / "{{ v.top }}.bit", overlay=None):
        """overlay: one that holds the DMA engine already; without it the bit file is loaded."""
        facts = _metadata()
        rules = facts.get("network", {"inputs": [], "outputs": []})
        self.inputs = _Side(facts["inputs"], facts["axis"]["s_axis"], rules["inputs"])
        self.outputs = _Side(facts["outputs"], facts["axis"]["m_axis"], rules["outputs"])
        if overlay is None:
            from pynq import Overlay

            overlay = Overlay(str(bitfile))
        self.dma = overlay.dma

    def predict(self, x, codes=False):
        """The outputs for samples, shape (samples, inputs) or one sample, as float64. codes: both are integer codes (of at most 53 bits)."""
        x = np.asarray(x, dtype=np.float64)
        wanted = len(self.inputs.elements)
        if x.ndim not in (1, 2) or x.shape[-1] != wanted:
            raise ValueError(f"shape {x.shape} is no sample or samples of {wanted} inputs")
        if not np.isfinite(x).all():
            raise ValueError("a sample has a number that is not finite")
        samples = x.reshape(-1, wanted)
        most = LONGEST // max(self.inputs.bytes, self.outputs.bytes)
        parts = [self._transfer(samples[at : at + most], codes) for at in range(0, len(samples), most)]
        y = np.concatenate(parts) if parts else np.zeros((0, len(self.outputs.elements)))
        return y[0] if x.ndim == 1 else y

    def _transfer(self, samples, codes):
        from pynq import allocate

        there = allocate((len(samples), self.inputs.bytes), dtype=np.uint8)
        back = allocate((len(samples), self.outputs.bytes), dtype=np.uint8)
        try:
            there[:] = self.inputs.encode(samples, codes)
            # The receiver first: results come while samples still go out.
            self.dma.recvchannel.transfer(back)
            self.dma.sendchannel.transfer(there)
            self.dma.sendchannel.wait()
            self.dma.recvchannel.wait()
            return self.outputs.decode(np.array(back), codes)
        finally:
            there.freebuffer()
            back.freebuffer()
