#!/usr/bin/env python3
"""Checks relative links and anchors of all Markdown files of the repository.

usage: check_links.py [FILE...]    default: every Markdown file that Git tracks, or would track

A link fails if its file does not exist, if its anchor is not a heading of the target, or if a page of docs/SUMMARY.md is missing
or not listed. Links into docs/generated, which scripts/build_docs.sh writes, are checked if that folder exists.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)(?:\s+\"[^\"]*\")?\)")
GENERATED = ROOT / "docs/generated"


def tracked():
    """Markdown files of the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).exists()]


def prose(text):
    """Returns Markdown without code blocks and code spans."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.S | re.M)
    text = re.sub(r"^(?:    |\t)(?![-*\d ]).*$", "", text, flags=re.M)
    return re.sub(r"(`+)(?:(?!\1).)+?\1", "", text, flags=re.S)


def anchors(path, cache={}):
    """Anchors of the headings of a file, by the rules of GitHub and mdBook."""
    if path not in cache:
        text = re.sub(r"^(```|~~~).*?^\1", "", path.read_text(), flags=re.S | re.M)
        found, seen = set(), {}
        for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", text, flags=re.M):
            heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
            base = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            count = seen.get(base, 0)
            seen[base] = count + 1
            found.add(f"{base}-{count}" if count else base)
        cache[path] = found
    return cache[path]


def problems(path):
    """Broken links of a file, one message each."""
    for target in LINK.findall(prose(path.read_text())):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if GENERATED in file.parents and not GENERATED.exists():
            continue
        if not file.exists():
            yield f"{target}: no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{target}: no such heading"


def summary_problems():
    """Pages that docs/SUMMARY.md lacks."""
    docs = ROOT / "docs"
    listed = {(docs / name).resolve() for name in LINK.findall((docs / "SUMMARY.md").read_text())}
    for page in tracked():
        if docs in page.parents and page.name != "SUMMARY.md" and page not in listed:
            yield f"{page.relative_to(docs)} is not listed"


def main():
    files = [Path(name).resolve() for name in sys.argv[1:]] or tracked()
    broken = [f"{path.relative_to(ROOT)}: {message}" for path in files for message in problems(path)]
    if len(sys.argv) == 1:
        broken += [f"docs/SUMMARY.md: {message}" for message in summary_problems()]
    for message in broken:
        print(message)
    print(f"{len(files)} files, {len(broken)} broken links")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
