"""{{ v.top }} on {{ b.name }}, from Python: numpy in, numpy out.

On the board (PYNQ), with {{ v.top }}.bit, {{ v.top }}.hwh and metadata.json beside this file:

    from driver import Driver
    driver = Driver()
    y = driver.predict(x)           # x: (samples, inputs) of real numbers; y: (samples, outputs), as `alir2hdl run` gives them

Samples are encoded exactly as the model defines it: an element of the type with f fractional bits is floor(x * 2^f), of which the low
bits stay (inputs beyond the type wrap).
"""

import json
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


class _Side:
    """One side of the stream: where each element lies among the bytes of a sample, and what its bits mean."""

    def __init__(self, elements, stream):
        self.elements = [(element["width"], element["fractionals"], element["signed"]) for element in elements]
        self.slots = [(slot["lsb"] // 8, slot["width"] // 8) for slot in stream["slots"]]
        self.bytes = stream["beats"] * stream["data_width"] // 8

    def encode(self, x, codes):
        """The bytes of samples, a row each; of their codes, if they are such."""
        rows = np.zeros((len(x), self.bytes), dtype=np.uint8)
        for (width, fraction, _), (first, length), column in zip(self.elements, self.slots, np.asarray(x, float).T):
            if width == 0:
                continue
            # Scaling by a power of two is exact, but where a number vanishes: then the floor of a negative one is still -1.
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
        for at, ((width, fraction, signed), (first, length)) in enumerate(zip(self.elements, self.slots)):
            text = np.ascontiguousarray(rows[:, first : first + length])
            fraction = 0 if codes else fraction
            if width == 0:
                continue
            if width <= 53:
                # At most eight bytes, in which the hardware extends the sign.
                code = text.view(f"<{'i' if signed else 'u'}{length}")[:, 0]
                y[:, at] = np.ldexp(code.astype(float), -fraction)
            else:
                codes = (int.from_bytes(row.tobytes(), "little", signed=bool(signed)) for row in text)
                # Division of whole numbers rounds once.
                y[:, at] = [code / (1 << fraction) if fraction >= 0 else float(code << -fraction) for code in codes]
        return y


class Driver:
    """The model on the board."""

    def __init__(self, bitfile=HERE / "{{ v.top }}.bit", overlay=None):
        """overlay: one that holds the DMA engine already; without it the bit file is loaded."""
        facts = _metadata()
        #: Whether samples are encoded by a rule of the network's own, which only `alir2hdl run` knows.
        self.only_codes = "network" in facts
        self.inputs = _Side(facts["inputs"], facts["axis"]["s_axis"])
        self.outputs = _Side(facts["outputs"], facts["axis"]["m_axis"])
        if overlay is None:
            from pynq import Overlay

            overlay = Overlay(str(bitfile))
        self.dma = overlay.dma

    def predict(self, x, codes=False):
        """The outputs for samples, shape (samples, inputs) or one sample, as float64. codes: both are integer codes (of at most 53 bits)."""
        if self.only_codes and not codes:
            raise ValueError("this network encodes its inputs by a rule of its own (metadata.json, `network`): give codes, with codes=True")
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
