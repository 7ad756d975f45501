"""Writes the design (moving_average.json) and its samples (samples/*.npy) into the folder that is the first argument.

The mean of the last eight samples as a state machine of ALIRFSM: the sum of the eight is kept, the new sample added and the oldest one
subtracted. Needs nothing but Python.
"""

import json
import struct
import sys
from pathlib import Path

LENGTH = 8
BIT = [False, 1, 0]
SAMPLE = [True, 7, 0]  # s8.0
SUM = [True, 10, 0]  # s11.0: eight samples
MEAN = [True, 7, 3]  # s11.3: the sum with its binary point three places further left


def interval(kif):
    """Least and greatest value of a type, and its step."""
    signed, integer, fraction = kif
    step = 2.0**-fraction
    return [-(2.0**integer) if signed else 0.0, 2.0**integer - step, step]


def signal(name, types, role, view=None, clear=None, port=False, register=False):
    """A signal, or a part of it; `clear`: what the reset loads."""
    reset = signal("rst", [BIT], "r", port=True) if clear is not None else None
    view = view or [0, len(types)]
    return [name, port, types, reset, clear, register, None, role, None, view, None]


def connect(src, dst, enable=None):
    return {"src": src, "dst": dst, "enable_if": enable, "alt_src": None}


def design():
    def line(first, end):
        return signal("line", [SAMPLE] * LENGTH, "rw", [first, end], clear=[0.0] * LENGTH, register=True)

    x = signal("x", [SAMPLE], "r", port=True)
    ce = signal("ce", [BIT], "r", port=True)
    y = signal("y", [MEAN], "w", port=True)
    total = signal("total", [SUM], "rw", clear=[0.0], register=True)

    def step(first, end):
        return signal("INTERNAL_step_inp", [SUM, SAMPLE, SAMPLE], "rw", [first, end])

    # (inputs, outputs), shifts of the inputs, which values are outputs, their shifts, their signs, the operations.
    # An operation: operands, code, data, interval, latency, cost.
    step_logic = [
        [3, 1], [0, 0, 0], [4], [0], [False],
        [
            [[], -1, [0], interval(SUM), 0, 0],
            [[], -1, [1], interval(SAMPLE), 0, 0],
            [[], -1, [2], interval(SAMPLE), 0, 0],
            [[1, 2], 1, [0], [-255.0, 255.0, 1.0], 1.2, 9],
            [[0, 3], 0, [0], [-1279.0, 1278.0, 1.0], 2.4, 12],
        ],
        1, 1, None,
    ]  # fmt: skip
    scale_logic = [[1, 1], [0], [0], [-3], [False], [[[], -1, [0], interval(SUM), 0, 0]], 1, 1, None]
    conns = [
        connect(total, step(0, 1)),
        connect(x, step(1, 2)),
        connect(line(LENGTH - 1, LENGTH), step(2, 3)),
        connect(signal("INTERNAL_step_outp", [[True, 11, 0]], "rw"), total, ce),
        connect(x, line(0, 1), ce),
        connect(line(0, LENGTH - 1), line(1, LENGTH), ce),
        connect(total, signal("INTERNAL_scale_inp", [SUM], "rw")),
        connect(signal("INTERNAL_scale_outp", [MEAN], "rw"), y),
    ]
    order = ["total", "rst", "INTERNAL_step_inp", "x", "line", "INTERNAL_step_outp", "ce", "INTERNAL_scale_inp", "INTERNAL_scale_outp", "y"]
    fsm = {"logic": {"step": step_logic, "scale": scale_logic}, "conns": conns, "signal_order": order}
    return {"meta": "ALIRFSM", "spec_version": 4, "fsm": fsm}


def npy(path, column):
    """One column of 64-bit floats in NumPy's format."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(column)}, 1), }}"
    head = head.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(column)}d", *column))


def main(folder):
    samples = folder / "samples"
    samples.mkdir(parents=True, exist_ok=True)
    (folder / "moving_average.json").write_text(json.dumps(design()) + "\n")
    # A step with a ripple on it; the clock enable pauses for three clocks, the reset comes once.
    cycles = range(48)
    ripple = [0, 9, 13, 9, 0, -9, -13, -9]
    npy(samples / "x.npy", [(80 if t >= 8 else 0) + ripple[t % 8] for t in cycles])
    npy(samples / "ce.npy", [0 if 24 <= t < 27 else 1 for t in cycles])
    npy(samples / "rst.npy", [1 if t == 40 else 0 for t in cycles])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
