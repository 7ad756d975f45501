"""The C++ header against alkaid's predict: samples a second on doubles, one thread, -O2 without -march, in one run.

    python benches/peer/cpp.py MODEL.json.gz... [--program alir2hdl] [--compiler clang++]

Needs alkaid in this Python and a compiler. Both compute the same random samples; each figure is the median of seven runs, in turn, in
seconds of the processor (user and system), so that other work on the machine changes it little.
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
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
int main(int, char** words) {
  const std::size_t n = static_cast<std::size_t>(std::atoll(words[3]));
  std::vector<double> x(n * m::inputs), y(n * m::outputs);
  std::FILE* in = std::fopen(words[1], "rb");
  if (std::fread(x.data(), sizeof(double), x.size(), in) != x.size()) return 1;
  const std::clock_t from = std::clock();
  m::run_batch(x.data(), y.data(), n);
  const double took = static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
  std::FILE* out = std::fopen(words[2], "wb");
  if (std::fwrite(y.data(), sizeof(double), y.size(), out) != y.size()) return 1;
  std::fclose(out);
  std::printf("%.9f\\n", took);
}
"""


def measure(model: Path, program: str, compiler: str, samples: int) -> None:
    comb = CombLogic.load(model)
    x = np.random.default_rng(1).normal(0, 4, (samples, comb.shape[0]))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        subprocess.run([program, model, "--cpp", folder / "model.hpp", "--namespace", "m", "-q"], check=True)
        (folder / "main.cpp").write_text(MAIN)
        subprocess.run([compiler, "-std=c++17", "-O2", "-o", folder / "main", folder / "main.cpp"], check=True)
        x.tofile(folder / "x")
        ours, theirs = [], []
        for _ in range(7):
            command = [folder / "main", folder / "x", folder / "y", str(samples)]
            ours.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            from_ = time.process_time()
            y = comb.predict(x, n_threads=1)
            theirs.append(time.process_time() - from_)
        assert np.array_equal(np.fromfile(folder / "y").reshape(y.shape), y)
    a, b = samples / statistics.median(ours), samples / statistics.median(theirs)
    print(f"| {model.parent.name} | {a:,.0f} | {b:,.0f} | {a / b:.1f} |", flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("models", nargs="+", type=Path)
parser.add_argument("--program", default="alir2hdl")
parser.add_argument("--compiler", default="g++")
parser.add_argument("--samples", type=int, default=100_000)
arguments = parser.parse_args()
print("| model | header, samples a second | alkaid's predict | times |\n|---|---|---|---|")
for one in arguments.models:
    measure(one, arguments.program, arguments.compiler, arguments.samples)
