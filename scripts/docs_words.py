#!/usr/bin/env python3
"""Counts the words of the documentation site against the budget of each part of docs/SUMMARY.md.

usage: docs_words.py            prints the table and fails if a part is over its budget
       docs_words.py --pages    also prints every page

A word is a token with a letter or digit; code and tables count. Not counted: pages in DATA, docs/generated, and
generated RTL below a marker `golden`.
"""
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
BUDGETS = {
    "Getting started": 1100,
    "Tutorials": 3200,
    "User guide": 5800,
    "Reference": 13800,
    "Internals": 8300,
    "Results": 700,
}
TOTAL = 33000
# Not prose: the table of `explain`, and rows by number.
DATA = {"errors.md", "llvlir-rows.md"}


# A block that the code generator has written, below its marker.
GENERATED = re.compile(r"<!-- golden: .*?-->\n```.*?\n```", re.S)


def words(path):
    """Number of words of a page, generated blocks apart."""
    text = GENERATED.sub("", path.read_text())
    return len([token for token in text.split() if re.search(r"[^\W_]", token)])


def parts():
    """Pages of each part, in the order of the summary; pages before the first heading belong to the first part."""
    found, part = {name: [] for name in BUDGETS}, "Getting started"
    for line in (DOCS / "SUMMARY.md").read_text().splitlines():
        if line.startswith("# ") and line[2:] in BUDGETS:
            part = line[2:]
        for name in re.findall(r"\]\(([^)]+\.md)\)", line):
            if name not in DATA and not name.startswith("generated/"):
                found[part].append(name)
    return found


def main():
    over, total = False, 0
    print("| part | pages | words | budget |\n|---|---|---|---|")
    for part, pages in parts().items():
        counts = {name: words(DOCS / name) for name in pages}
        number = sum(counts.values())
        total += number
        over |= number > BUDGETS[part]
        print(f"| {part} | {len(pages)} | {number:,} | {BUDGETS[part]:,} |")
        if "--pages" in sys.argv:
            for name, count in counts.items():
                print(f"|   {name} | | {count:,} | |")
    print(f"| all | | {total:,} | {TOTAL:,} |")
    return 1 if over or total > TOTAL else 0


if __name__ == "__main__":
    sys.exit(main())
