#!/usr/bin/env python3
"""Measures `prove` on a corpus, and makes the table of benches/results/proof.md from what was measured.

    benches/proof/measure.py run --program target/release/alir2hdl --out results.tsv \\
        models=../shared/models/jet_mlp published=../shared/models/published fresh=networks
    benches/proof/measure.py table results.tsv

Each argument of `run` is a group and a file or folder; a folder stands for all models below it. Every model is taken at every
level, number of stages and language, in an order that is random but always the same: a run that was ended early has
measured a fair sample. A run goes on where others stopped, and several may run at once: what was measured, or is being
measured by a process that is alive, is not taken again. A result belongs to a program by the checksum of its bytes; the table is
about the last program in the file.

A line of the results: program, group, model, operations, level, stages, language, CPU seconds of `prove`, verdict, reason. The
goal of a file is to be proved within max(5 s, 2 ms an operation) of CPU.
"""

import argparse
import fcntl
import gzip
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ["model.json.gz", "model.json", "fsm.json.gz", "fsm.json", "program.llvlir", "model.onnx"]
LIMIT_FIELDS = 10


def models(root):
    """Model files at or below a path, in order: one a folder."""
    root = Path(root)
    if root.is_file():
        return [root]
    folders = [root, *sorted(p for p in root.rglob("*") if p.is_dir())]
    found = [next((f / name for name in NAMES if (f / name).is_file()), None) for f in folders]
    return [path for path in found if path]


def is_machine(path):
    """Whether a file is a state machine, which has its own registers."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    return b"ALIRFSM" in text[:200] or path.name.startswith("fsm.")


def run(command, seconds):
    """Runs a command: CPU seconds, exit code (negative beyond the limit), what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, done.returncode, done.stdout, done.stderr


class Results:
    """The file of results, shared by processes through a lock; claims stand beside it."""

    def __init__(self, path, program):
        self.path, self.program = Path(path), program
        self.claims = self.path.with_suffix(".claims")

    def locked(self, do):
        with open(self.path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return do()

    def lines(self):
        return self.path.read_text().splitlines() if self.path.exists() else []

    def claim(self, key):
        """Whether this process shall do it."""

        def alive(pid):
            return Path(f"/proc/{pid}").exists()

        def do():
            done = {tuple(line.split("\t")[:7]) for line in self.lines()}
            mine = (self.program, *map(str, key))
            if mine in {(d[0], d[1], d[2], *d[4:7]) for d in done}:
                return False
            claimed = self.claims.read_text().splitlines() if self.claims.exists() else []
            for line in claimed:
                pid, *rest = line.split("\t")
                if tuple(rest) == mine and alive(pid):
                    return False
            with open(self.claims, "a") as out:
                print(os.getpid(), *mine, sep="\t", file=out)
            return True

        return self.locked(do)

    def add(self, fields):
        line = "\t".join([self.program, *(str(f).replace("\t", " ").replace("\n", " ") for f in fields)])

        def do():
            with open(self.path, "a") as out:
                print(line, file=out)

        self.locked(do)
        print(line, flush=True)


def operations(program, path):
    """Operations of a model as the program reads it; 0 where it cannot be read."""
    _, code, said, _ = run([program, "info", str(path), "--json", "-O0"], 120)
    try:
        info = json.loads(said)
    except ValueError:
        return 0
    blocks = info.get("blocks")
    if "operations" in info:
        return info["operations"]
    return sum(block.get("operations", 0) for block in blocks) if blocks else 0


def measured(args, task, scratch, sizes):
    """The result of one file: group, model, operations, level, stages, language, seconds, verdict, reason."""
    (group, name, level, stages, language), path = task
    text = Path(scratch) / f"{group}_{name.replace('/', '_')}_O{level}_{stages}.{language}"
    flag = "--vhdl" if language == "vhd" else "--verilog"
    emit = [args.program, str(path), flag, str(text), f"-O{level}"]
    emit += [] if is_machine(path) else ["--pipeline", stages]
    _, code, _, errors = run(emit, 900)
    if path not in sizes:
        sizes[path] = operations(args.program, path)
    size = sizes[path]
    if code != 0:
        return group, name, size, level, stages, language, "0", "not emitted", errors.strip()[:160]
    cpu, code, said, errors = run([args.program, "prove", str(path), str(text), "--json", *args.arguments.split()], args.seconds)
    text.unlink()
    try:
        report = json.loads(said)
        word, reason = report["verdict"], report.get("reason", "")
    except ValueError:
        word, reason = ("limit", f"{args.seconds} s") if code < 0 else (f"exit {code}", errors.strip()[:160])
    return group, name, size, level, stages, language, f"{cpu:.2f}", word, reason[:160]


def measure(args):
    program = hashlib.sha256(Path(args.program).read_bytes()).hexdigest()[:12]
    results = Results(args.out, program)
    tasks = []
    for argument in args.models:
        group, root = argument.split("=", 1)
        for path in models(root):
            base = Path(root) if Path(root).is_dir() else path.parent.parent
            name = str(path.parent.relative_to(base)) if path.name in NAMES else str(path.relative_to(base))
            name = Path(root).name if name == "." else name
            stages = ["-"] if is_machine(path) else args.stages.split(",")
            for level in args.levels.split(","):
                tasks += [((group, name, level, s, l), path) for s in stages for l in args.languages.split(",")]
    random.Random(22).shuffle(tasks)
    sizes = {}
    with tempfile.TemporaryDirectory() as scratch:
        for task in tasks:
            if results.claim(task[0]):
                results.add(measured(args, task, scratch, sizes))


def table(args):
    """The table of benches/results/proof.md: one line a group, and what is not proved."""
    rows = [line.split("\t") for line in Path(args.results).read_text().splitlines()]
    rows = [r for r in rows if len(r) == LIMIT_FIELDS]
    rows = [r for r in rows if r[0] == rows[-1][0]]
    goal = lambda r: r[8] == "proved" and float(r[7]) <= max(5.0, 0.002 * int(r[3]))
    groups = list(dict.fromkeys(r[1] for r in sorted(rows, key=lambda r: r[1])))
    print("| group | models | files | proved | within the goal | `unknown` | longest proof | CPU in all |")
    print("|---|---|---|---|---|---|---|---|")
    for group in [*groups, None]:
        own = [r for r in rows if group in (None, r[1])]
        proved = [r for r in own if r[8] == "proved"]
        share = lambda n: f"{n} ({100 * n / len(own):.1f} %)"
        slow = max(proved, key=lambda r: float(r[7]), default=None)
        longest = f"{float(slow[7]):.1f} s ({slow[2]}, -O{slow[4]}, {slow[5]} stages)" if slow else "-"
        open_ = sum(r[8] == "unknown" for r in own)
        fields = [group or "all", len({r[1:3].__str__() for r in own}), len(own), share(len(proved)),
                  share(sum(map(goal, own))), open_, longest, f"{sum(float(r[7]) for r in own):.0f} s"]
        print("|", " | ".join(map(str, fields)), "|")
    others = sorted(r for r in rows if r[8] != "proved")
    print(f"\nNot proved: {len(others)}")
    for r in others:
        print(f"- {r[1]} {r[2]}, {r[3]} operations, -O{r[4]}, {r[5]} stages, {r[6]}: {r[8]} after {r[7]} s: {r[9]}")


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = ask.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("models", nargs="+", metavar="GROUP=PATH")
    one.add_argument("--program", default="target/release/alir2hdl")
    one.add_argument("--out", required=True, help="results as tab-separated values, added to")
    one.add_argument("--levels", default="0,1,2")
    one.add_argument("--stages", default="0,3,7")
    one.add_argument("--languages", default="v,vhd")
    one.add_argument("--seconds", type=int, default=60, help="CPU seconds for one file")
    one.add_argument("--arguments", default="", help="more arguments of `prove`")
    one.set_defaults(do=measure)
    two = commands.add_parser("table")
    two.add_argument("results")
    two.set_defaults(do=table)
    args = ask.parse_args()
    args.do(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
