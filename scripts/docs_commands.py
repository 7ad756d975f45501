#!/usr/bin/env python3
"""Runs the commands of the documentation, page by page, in a copy of `examples`.

usage: docs_commands.py [--slow] PROGRAM [PAGE...]    PROGRAM: an alir2hdl binary; alir2hdl-check is expected next to it
       docs_commands.py --list                        prints what would run, and what would not

A command is a line of an indented block, or of a block marked `sh` or `console` (after `$ `), that begins with a name of COMMANDS. All
commands of a page run in one shell, in order; the first failure ends the page. Other lines of a block are output. Commands with
placeholders (`MODEL`, `FILE`, `DIR`) are not run. A comment before a block changes this:

    <!-- run: exit 1 -->       the last command of the block exits with 1
    <!-- run: no, REASON -->   the block is not run
    <!-- run: slow -->         the block is run with --slow only

Exit code 1 if a command fails.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ("alir2hdl", "alir2hdl-check", "cd", "mkdir", "sed", "iverilog", "make", "printf", "python")
PLACEHOLDER = re.compile(r"(?<![\w-])(?:MODEL|FILES?|DIR|CODE|KIND|A B|matrix\.npy|model\.onnx|compute\.json)(?![\w.-])|\.\.\.|…")
DIRECTIVE = re.compile(r"<!-- run: (.*?) -->")


def blocks(text):
    """Code blocks of a page with the directive before them: directive, lines."""
    lines, at, directive = text.split("\n"), 0, ""
    while at < len(lines):
        line = lines[at]
        if found := DIRECTIVE.fullmatch(line.strip()):
            directive = found.group(1)
        elif line.startswith("```"):
            kind, block = line[3:].strip(), []
            at += 1
            while at < len(lines) and not lines[at].startswith("```"):
                block.append(lines[at])
                at += 1
            if kind in ("sh", "console", ""):
                prompt = any(row.startswith("$ ") for row in block)
                yield directive, [row[2:] if prompt else row for row in block if kind or prompt if not prompt or row.startswith("$ ")]
            directive = ""
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            block = []
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip() and at + 1 < len(lines) and lines[at + 1].startswith("    ")):
                block.append(lines[at][4:])
                at += 1
            yield directive, block
            directive = ""
            continue
        elif line.strip():
            directive = ""
        at += 1


def commands(block):
    """Commands of a block; one with an open quotation mark goes on in the next lines."""
    found = []
    for line in block:
        if found and re.sub(r"'[^']*'", "", found[-1]).count('"') % 2:
            found[-1] += "\n" + line
        elif line.split(" ")[0] in COMMANDS:
            found.append(re.sub(r"\s+#.*$", "", line))
    return found


def plan(page):
    """Commands of a page: command, expected exit code, or a reason why it is not run."""
    for directive, block in blocks(page.read_text()):
        found = commands(block)
        for number, command in enumerate(found):
            if directive == "slow" and "--slow" not in sys.argv:
                yield command, None, "slow"
            elif directive.startswith("no"):
                yield command, None, directive[3:].strip() or "not run"
            elif PLACEHOLDER.search(command):
                yield command, None, "placeholder"
            else:
                is_last = number == len(found) - 1
                yield command, int(directive[5:]) if directive.startswith("exit ") and is_last else 0, ""


def script(steps):
    """A shell script that runs the commands and names the first that fails."""
    lines = ["set -u", "fail() { printf 'FAILED (exit code %s, expected %s): %s\\n' \"$1\" \"$2\" \"$3\" >&2; exit 1; }"]
    for command, code, _ in steps:
        quoted = "'" + command.replace("'", "'\\''") + "'"
        lines += [command, f"code=$?; [ $code = {code} ] || fail $code {code} {quoted}"]
    return "\n".join(lines) + "\n"


def run(page, program):
    """Runs a page; returns whether all commands exit as expected."""
    steps = [step for step in plan(page) if step[1] is not None]
    if not steps:
        return True
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples", ignore=shutil.ignore_patterns("build"))
        shutil.copytree(ROOT / "docs/guide/images", Path(folder) / "images")
        venv = ROOT / ".venv/bin"
        path = os.pathsep.join([str(program.parent), str(venv), os.environ["PATH"]])
        done = subprocess.run(["bash", "-c", script(steps)], cwd=folder, env={**os.environ, "PATH": path},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
    name = page.relative_to(ROOT)
    print(f"{name}: {len(steps)} commands, {time.monotonic() - start:.1f} s{'' if done.returncode == 0 else ', FAILED'}", flush=True)
    if done.returncode:
        print(done.stderr[-2000:])
    return done.returncode == 0


def main():
    pages = sorted(page for page in (ROOT / "docs").rglob("*.md") if "generated" not in page.parts)
    if sys.argv[1:] == ["--list"]:
        for page in pages:
            for command, code, reason in plan(page):
                print(f"{page.relative_to(ROOT)}: {reason or f'exit {code}'}: {command}")
        return 0
    words = [word for word in sys.argv[1:] if word != "--slow"]
    program = Path(words[0]).resolve()
    pages = [Path(name).resolve() for name in words[1:]] or [ROOT / "README.md", *pages]
    return 0 if all([run(page, program) for page in pages]) else 1


if __name__ == "__main__":
    sys.exit(main())
