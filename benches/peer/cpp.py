"""The C++ header against alkaid's predict: samples a second on doubles, one thread, g++ -O2 without -march, in one run.

    python benches/peer/cpp.py MODEL.json.gz... [--program alir2hdl]

Needs alkaid in this Python and g++. Both compute the same random samples; each figure is the median of seven runs, in turn.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from alkaid.types import CombLogic

MAIN = """
#include "model.hpp"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
int main(int, char** words) {
  const std::size_t n = static_cast<std::size_t>(std::atoll(words[3]));
  std::vector<double> x(n * m::inputs), y(n * m::outputs);
  std::FILE* in = std::fopen(words[1], "rb");
  if (std::fread(x.data(), sizeof(double), x.size(), in) != x.size()) return 1;
  const auto from = std::chrono::steady_clock::now();
  m::run_batch(x.data(), y.data(), n);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
  std::FILE* out = std::fopen(words[2], "wb");
  if (std::fwrite(y.data(), sizeof(double), y.size(), out) != y.size()) return 1;
  std::fclose(out);
  std::printf("%.9f\\n", took.count());
}
"""


def measure(model: Path, program: str, samples: int) -> None:
    comb = CombLogic.load(model)
    x = np.random.default_rng(1).normal(0, 4, (samples, comb.shape[0]))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        subprocess.run([program, model, "--cpp", folder / "model.hpp", "--namespace", "m", "-q"], check=True)
        (folder / "main.cpp").write_text(MAIN)
        subprocess.run(["g++", "-std=c++17", "-O2", "-o", folder / "main", folder / "main.cpp"], check=True)
        x.tofile(folder / "x")
        ours, theirs = [], []
        for _ in range(7):
            command = [folder / "main", folder / "x", folder / "y", str(samples)]
            ours.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            from_ = time.perf_counter()
            y = comb.predict(x, n_threads=1)
            theirs.append(time.perf_counter() - from_)
        assert np.array_equal(np.fromfile(folder / "y").reshape(y.shape), y)
    a, b = samples / statistics.median(ours), samples / statistics.median(theirs)
    print(f"| {model.parent.name} | {a:,.0f} | {b:,.0f} | {a / b:.1f} |", flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("models", nargs="+", type=Path)
parser.add_argument("--program", default="alir2hdl")
parser.add_argument("--samples", type=int, default=20_000)
arguments = parser.parse_args()
print("| model | header, samples/s | alkaid's predict, samples/s | times |\n|---|---|---|---|")
for one in arguments.models:
    measure(one, arguments.program, arguments.samples)
