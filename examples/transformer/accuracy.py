"""The share of jets that the logits at the last particle tag rightly: accuracy.py LOGITS.npy LABELS.json."""

import json
import struct
import sys
from pathlib import Path

data = Path(sys.argv[1]).read_bytes()
head = 10 + struct.unpack("<H", data[8:10])[0]
numbers = struct.unpack(f"<{(len(data) - head) // 8}d", data[head:])
labels = json.loads(Path(sys.argv[2]).read_text())
width = len(numbers) // len(labels)
right = sum((row[-1] > row[-2]) == (label == 1) for label, row in zip(labels, zip(*[iter(numbers)] * width)))
print(f"{100 * right / len(labels):.1f} % of {len(labels)} jets are tagged rightly")
