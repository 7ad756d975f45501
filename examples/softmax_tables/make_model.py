"""Writes softmax.json.gz into the folder that is the first argument: softmax of five scores, traced by alkaid (pip install alkaid numpy).

The greatest score is subtracted first, so that every exponential is at most one; exp and 1/x are tables of 256 and 1024 entries.
"""

import sys
from pathlib import Path

import numpy as np
from alkaid.trace import FVArrayInput, trace

scores = FVArrayInput((5,))
x = scores.quantize(1, 3, 4)  # s8.4
below = (np.max(x, axis=0, keepdims=True) - x).quantize(0, 4, 4)  # how far below the greatest: 0 to 15.9375
e = below.apply(lambda d: np.exp(-d)).quantize(0, 1, 8, round_mode="RND")
total = np.sum(e, axis=0, keepdims=True).quantize(0, 3, 7)  # 1 to 5
inverse = total.apply(lambda s: 1 / np.maximum(s, 1)).quantize(0, 1, 10, round_mode="RND")
y = (e * inverse).quantize(0, 1, 8, round_mode="RND")  # u9.8
trace(scores, y).save(Path(sys.argv[1]) / "softmax.json.gz")
