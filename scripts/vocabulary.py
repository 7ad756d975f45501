#!/usr/bin/env python3
"""Counts words and forms that the project's style avoids, for each crate, and fails if a count rises.

usage: vocabulary.py                   fails if a count is above that of scripts/vocabulary.txt
       vocabulary.py --record          writes the current counts to scripts/vocabulary.txt
       vocabulary.py --table           prints the counts as a Markdown table
       vocabulary.py --list AREA [KIND]  prints the places of an area (`crates/hw`, `docs`, ...)

Kinds:
  of      functions called `of` or `of_x`, in Rust
  doc     doc comments (`///`) that begin with What, Whether, How, Of, The same, Those or Who, in Rust
  long    lines above 120 columns, in Rust
  words   words that a reader outside of the project would not use: see WORDS, in Rust, Markdown, templates, Python and shell

Counts may fall at any time; record them then, so that they stay low.
"""
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "scripts/vocabulary.txt"
KINDS = ("of", "doc", "long", "words")

# A word counts also as a part of an identifier (`made_anew`). In brackets: what to write.
WORDS = [
    r"anew",  # again
    r"afresh",  # again, from scratch
    r"taken apart",  # decomposed
    r"put together",  # composed, recombined
    r"(?:go|goes|going|went) through bit by bit",  # bit-serial
    r"beside",  # compared with, next to
    r"behind",  # after, downstream
    r"mends?|mended",  # fix
    r"nobody",  # no code, nothing
    r"whoever",  # the caller, the sender
    r"held to",  # checked against
    r"(?:own mistake|mistake of ours|mistake of alir2hdl)",  # internal error
    r"units? of work",  # ticks
    r"gauge",  # budget, progress counter
    r"multiplier blocks?",  # DSP
    r"block memor(?:y|ies)",  # BRAM
    r"(?:the|a|our|every|each) texts?(?! (?:form|format|file))",  # RTL file, HDL source
    r"texts of",  # RTL of
    r"(?:the|a) head of",  # header comment
    r"roads?",  # flow, path
    r"golden interpreter",  # reference interpreter
    r"so many(?! (?:that|as))",  # n, with the unit
    r"spared?|spares",  # minimise, saved
    r"(?:is|are|was|were) told",  # receives
    r"tells",  # reports
    r"judges?|judged",  # checker
    r"believed",  # trusted
    r"at hand",  # available
    r"unsayable|unspellable",  # unrepresentable
    r"as (?:it is )?meant",  # specification
    r"what is (?:asked|wanted|meant|said|made)",  # requested, ...
    r"asked for",  # requested
    r"wish(?:es|ed)?",  # request
    r"(?:is|are) not there",  # is missing
    r"stands?(?! for)",  # is located
    r"breaks_promise|hurry|patience|twins|honest",
]
WORD = re.compile(r"(?<![A-Za-z])(?:" + "|".join(WORDS) + r")(?![A-Za-z])", re.I)
FUNCTION = re.compile(r"\bfn (of(?:_\w+)?)\b")
DOC = re.compile(r"^\s*/// (?:What|Whether|How|Of|The same|Those|Who)\b")
TEXT = {".rs", ".md", ".py", ".sh", ".v", ".vhd", ".html", ".js", ".tcl", ".txt", ".j2", ".sdc", ".xdc"}
# This file names the words; golden files and data are results, or belong to others.
SKIPPED = re.compile(r"^(?:scripts/vocabulary\.|tests/data/|hdl_tests/golden/|hdl_tests/readers/|benches/kernels/hand/)")


def area(name):
    """The crate or top folder of a file."""
    parts = name.split("/")
    if parts[0] == "crates" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 else "root"


def places():
    """Every occurrence: area, kind, place, line."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in sorted(filter(None, names)):
        path = ROOT / name
        is_template = name.startswith("templates/")
        if (path.suffix not in TEXT and not is_template) or SKIPPED.match(name) or not path.is_file():
            continue
        try:
            lines = path.read_text().splitlines()
        except UnicodeDecodeError:
            continue
        before = ""
        for number, line in enumerate(lines, 1):
            found = [("words", match.group()) for match in WORD.finditer(line)]
            if path.suffix == ".rs":
                found += [("of", name) for name in FUNCTION.findall(line)]
                if DOC.match(line) and not before.lstrip().startswith("///"):
                    found.append(("doc", ""))
                if len(line) > 120:
                    found.append(("long", ""))
            before = line
            for kind, what in found:
                yield area(name), kind, f"{name}:{number}", f"{what}: {line.strip()}" if what else line.strip()


def counts():
    """Number of occurrences for each area and kind."""
    return Counter((where, kind) for where, kind, _, _ in places())


def recorded():
    """The counts of the recorded file."""
    rows = [line.split() for line in RECORDED.read_text().splitlines() if line and not line.startswith("#")]
    return {(row[0], kind): int(value) for row in rows for kind, value in zip(KINDS, row[1:])}


def rows(found):
    """Rows of a table: area and counts."""
    for where in sorted({where for where, _ in found}):
        yield where, [found.get((where, kind), 0) for kind in KINDS]


def main():
    if "--list" in sys.argv:
        wanted = sys.argv[sys.argv.index("--list") + 1 :]
        for where, kind, place, line in places():
            if where == wanted[0] and kind in (wanted[1:] or KINDS):
                print(f"{place}: {kind}: {line}")
        return 0
    found = counts()
    if "--record" in sys.argv:
        lines = ["# Counts of scripts/vocabulary.py: area, " + ", ".join(KINDS), ""]
        lines += [f"{where} {' '.join(map(str, values))}" for where, values in rows(found)]
        RECORDED.write_text("\n".join(lines) + "\n")
        return 0
    if "--table" in sys.argv:
        print("| area |", " | ".join(KINDS), "|\n|---|" + "---|" * len(KINDS))
        for where, values in rows(found):
            print(f"| {where} |", " | ".join(map(str, values)), "|")
        total = [sum(found.get((where, kind), 0) for where, _ in rows(found)) for kind in KINDS]
        print("| all |", " | ".join(map(str, total)), "|")
        return 0
    allowed = recorded()
    risen = [(key, value) for key, value in sorted(found.items()) if value > allowed.get(key, 0)]
    for (where, kind), value in risen:
        print(f"{where}: {kind} {value}, recorded {allowed.get((where, kind), 0)}; vocabulary.py --list {where} {kind} shows them")
    return 1 if risen else 0


if __name__ == "__main__":
    sys.exit(main())
