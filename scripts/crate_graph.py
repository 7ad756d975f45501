#!/usr/bin/env python3
"""Writes the picture of the crates in ARCHITECTURE.md from Cargo's own facts.

usage: crate_graph.py [--check]    --check: writes nothing, exit code 1 if the picture is not that of the crates

An arrow leads from a crate to one that it uses; arrows that follow from others are left out, as are those of tests.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
PICTURE = re.compile(r"(?<=```mermaid\n)flowchart TD\n.*?(?=```)", re.DOTALL)


def uses():
    """The crates of the workspace that each one uses, by short names."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)["packages"]
    names = {package["name"] for package in packages}
    short = {name: "package" if name == "alir2hdl" else name.removeprefix("alir2hdl-").removeprefix("alir-") for name in names}
    return {
        short[package["name"]]: {short[d["name"]] for d in package["dependencies"] if d["name"] in names and d["kind"] is None}
        for package in packages
    }


def reached(graph, name):
    """All crates that a crate uses, also by way of others."""
    found, open_ = set(), list(graph[name])
    while open_:
        one = open_.pop()
        if one not in found:
            found.add(one)
            open_.extend(graph[one])
    return found


def picture(graph):
    lines = ["flowchart TD"]
    for name in sorted(graph):
        implied = set().union(*(reached(graph, other) for other in graph[name]))
        lines += [f"    {name} --> {other}" for other in sorted(graph[name] - implied)]
    return "\n".join(lines) + "\n"


def main():
    text = PAGE.read_text()
    if not PICTURE.search(text):
        sys.exit(f"{PAGE.name} has no picture of the crates")
    made = PICTURE.sub(lambda _: picture(uses()), text, count=1)
    if made == text:
        return
    if "--check" in sys.argv[1:]:
        sys.exit(f"{PAGE.name}: the picture is not that of the crates; scripts/crate_graph.py writes it")
    PAGE.write_text(made)


if __name__ == "__main__":
    main()
