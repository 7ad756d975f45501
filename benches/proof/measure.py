#!/usr/bin/env python3
"""Measures `prove` on a corpus: CPU seconds, verdict and the step that was not decided, for every model, level,
pipeline and language.

    benches/proof/measure.py --program target/release/alir2hdl --out table.tsv MODEL_OR_FOLDER ...

Each line of the result: model, operations, level, stages, language, seconds of CPU, verdict, what is open. A model is a
folder with `model.json.gz` or `model.json`, or such a file. A folder of folders is all of them. The goal of a file is
to be proved within max(5 s, 2 ms an operation).
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HUGE = 20_000


def models(paths, huge):
    """Model files below the paths, in order; without `huge` only those of up to HUGE operations."""
    found = []
    for path in map(Path, paths):
        if path.is_file():
            found.append(path)
            continue
        names = ["model.json.gz", "model.json"]
        folders = [path, *sorted(p for p in path.rglob("*") if p.is_dir())]
        for folder in folders:
            here = [folder / name for name in names if (folder / name).is_file()]
            found += here[:1]
    sized = [(operations(path), path) for path in found]
    return [(size, path) for size, path in sized if huge or size <= HUGE]


def operations(path):
    """The number of operations of an ALIR file; 0 where it has another form."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    try:
        tree = json.loads(text)
    except ValueError:
        return 0
    lists = []

    def walk(node, depth):
        if isinstance(node, dict):
            for value in node.values():
                walk(value, depth + 1)
        elif isinstance(node, list):
            lists.append(len(node))
            if depth < 4 and len(node) < 50:
                for value in node:
                    walk(value, depth + 1)

    walk(tree, 0)
    return max(lists, default=0)


def run(command, seconds):
    """Runs a command: CPU seconds, exit code (nothing beyond the limit), output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, done.returncode, done.stdout + done.stderr


def verdict(code, output):
    """The verdict in a word, and why nothing was decided."""
    try:
        report = json.loads(output)
    except ValueError:
        return ("limit" if code < 0 else f"exit {code}"), output.strip().splitlines()[-1:] and output.strip()[:120]
    return report["verdict"], report.get("reason", "")


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("models", nargs="+")
    ask.add_argument("--program", default="target/release/alir2hdl")
    ask.add_argument("--levels", default="0,1,2")
    ask.add_argument("--stages", default="0,3,7")
    ask.add_argument("--languages", default="v,vhd")
    ask.add_argument("--seconds", type=int, default=60, help="CPU seconds for one file")
    ask.add_argument("--huge", action="store_true", help=f"also models of more than {HUGE} operations")
    ask.add_argument("--prove-arguments", default="")
    ask.add_argument("--keep", help="folder in which the texts stay, for the next run of the same writer")
    ask.add_argument("--out", help="table as tab-separated values")
    args = ask.parse_args()
    rows = []
    out = open(args.out, "w") if args.out else None
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for size, path in models(args.models, args.huge):
            name = path.parent.name if path.name.startswith("model.") else path.name.split(".")[0]
            name = f"{path.parent.parent.name}/{name}" if path.name.startswith("model.") else name
            for level in args.levels.split(","):
                for stages in args.stages.split(","):
                    for language in args.languages.split(","):
                        text = folder / f"{name.replace('/', '_')}_O{level}_{stages}.{language}"
                        if not text.exists():
                            flag = "--vhdl" if language.startswith("vh") else "--verilog"
                            emit = [args.program, str(path), flag, str(text), f"-O{level}", "--pipeline", stages]
                            _, code, said = run(emit, 600)
                            if code != 0:
                                print(f"{name} -O{level} {stages} {language}: not emitted: {said[:200]}", file=sys.stderr)
                                continue
                        command = [args.program, "prove", str(path), str(text), "--json", *args.prove_arguments.split()]
                        cpu, code, said = run(command, args.seconds)
                        word, why = verdict(code, said)
                        row = (name, size, level, stages, language, f"{cpu:.2f}", word, why or "")
                        rows.append(row)
                        line = "\t".join(map(str, row))
                        print(line, flush=True)
                        if out:
                            print(line, file=out, flush=True)
    goal = lambda r: r[6] == "proved" and float(r[5]) <= max(5.0, 0.002 * r[1])
    met = sum(map(goal, rows))
    proved = sum(r[6] == "proved" for r in rows)
    total = sum(float(r[5]) for r in rows)
    print(f"{met} of {len(rows)} files proved within max(5 s, 2 ms an operation), {proved} proved, {total:.1f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
