#!/usr/bin/env python3
"""Prepares the pages of the documentation site in target/docs, where mdBook reads them. scripts/build_docs.sh calls it.

usage: build_docs.py [PROGRAM]     PROGRAM: an alir2hdl binary, for the reference of the command line

The site holds docs/, generated pages (command line, error codes, JSON schemas), and the Markdown files of the repository that pages link
to, under `repository/`. Other linked files are copied. The generated pages are also written to docs/generated, which Git ignores.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import error_examples
from check_links import LINK

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
GENERATED = DOCS / "generated"
STAGED = ROOT / "target/docs"
NO_PAGES = {DOCS / "SUMMARY.md"}


def command_pages(program):
    """The reference of the command line, from the help of every command."""
    def help_of(*words):
        environment = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1"}
        done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, env=environment, check=True)
        return done.stdout.rstrip()

    whole = help_of()
    names = [name for name in re.findall(r"^  ([a-z]+) {2,}\S", whole, re.M) if name not in ("help", "version")]
    lines = ["# Command line", "", "```text", whole, "```"]
    for name in dict.fromkeys(names):
        lines += ["", f"## {name}", "", "```text", help_of(name), "```"]
    return "\n".join(lines) + "\n"


def example(code, program):
    """Lines that show an example of a code, with its real output, and its corrected form."""
    if code in error_examples.NO_EXAMPLE:
        return ["", f"*No example:* {error_examples.NO_EXAMPLE[code]}"]
    files, command, output, other = error_examples.run(code, program)
    if error_examples.lacks_tool(code, other):
        return ["", "*No example:* a tool that it runs was not installed when this page was built."]
    if output is None:
        sys.exit(f"{code}: {command} prints something else: {other}")
    commands = [f"$ {line}" for line in command.splitlines()]
    lines = ["", "```console", *files_of(files), *commands, output, "```"]
    if correct := error_examples.corrected(code):
        files, corrected, edits = correct
        short = {name: pairs for name, pairs in edits.items() if all(pair and is_short(pair) for pair in pairs)}
        for name, pairs in short.items():
            shown = dict.fromkeys(f"`{old}` with `{new}`" if new else f"`{old}` with nothing" for old, new in pairs)
            lines += ["", f"*Correction:* in `{name}`, replace {', and '.join(shown)}."]
        whole = files_of({name: files[name] for name in edits if name not in short})
        if whole or corrected != command:
            commands = [f"$ {line}" for line in corrected.splitlines()]
            lines += ["", *([] if short else ["*Correction:*", ""]), "```console", *whole, *commands, "```"]
    return lines


def is_short(pair):
    """Returns `True` if an edit of a file fits into a sentence."""
    return all(len(text) < 60 and not set(text) & {"\n", "`"} and text == text.strip() for text in pair)


def files_of(files):
    """Lines of a console that show files."""
    return [line for name, content in files.items() for line in error_examples.dump(name, content)]


def error_page(program):
    """Every code with a heading of its own, so that links can name it, and with an example if there is one."""
    lines = ["# Error index", "", "The entries of [Error codes](../errors.md), with examples and their real output."]
    for line in (DOCS / "errors.md").read_text().splitlines():
        if line.startswith("## "):
            lines += ["", line]
        cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
        if re.fullmatch(r"[EWN]\d{4}", cells[0]) and len(cells) == 3:
            lines += ["", f"### {cells[0]}", "", cells[1].replace("](", "](../")]
            lines += example(cells[0], program) if program else []
            lines += ["", f"*Remedy:* {cells[2]}".replace("](", "](../")]
    return "\n".join(lines) + "\n"


def schema_page():
    """The JSON schemas."""
    lines = ["# JSON schemas", "", "[JSON](../json.md) lists the commands that write each document."]
    for path in sorted((DOCS / "schema").glob("*.json")):
        schema = json.loads(path.read_text())
        lines += ["", f"## {schema.get('$id', path.stem)}", "", "```json", path.read_text().rstrip(), "```"]
    return "\n".join(lines) + "\n"


def staged_name(path):
    """Where a file of the repository is in the site."""
    if DOCS in path.parents:
        relative = path.relative_to(DOCS)
    else:
        relative = Path("repository") / path.relative_to(ROOT)
    return relative.with_name("index.md") if relative.name == "README.md" else relative


def target_of(page, link):
    """The file of the repository that a relative link names."""
    path = (page.parent / link).resolve()
    return path / "README.md" if path.is_dir() and (path / "README.md").exists() else path


def stage(pages):
    """Writes pages, and what they link to, into the folder that mdBook reads; returns pages of the repository."""
    waiting, done, extra = list(pages), set(), []
    source = STAGED / "src"
    while waiting:
        page = waiting.pop(0)
        if page in done:
            continue
        done.add(page)
        own = staged_name(page)

        def rewritten(match):
            whole, link = match.group(), match.group(1)
            name, _, anchor = link.partition("#")
            if not name or re.match(r"[a-z][a-z0-9+.-]*:", link):
                return whole
            target = target_of(page, name)
            if not target.exists() or ROOT not in target.parents:
                return whole
            staged = staged_name(target)
            if target.is_dir():
                shutil.copytree(target, source / staged, dirs_exist_ok=True)
            elif target.suffix == ".md":
                waiting.append(target)
                if DOCS not in target.parents and target not in extra:
                    extra.append(target)
            else:
                (source / staged).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(target, source / staged)
            new = os.path.relpath(source / staged, (source / own).parent) + (f"#{anchor}" if anchor else "")
            return whole.replace(f"({link}", f"({new}")

        blocks = re.split(r"(^```.*?^```)", page.read_text(), flags=re.S | re.M)
        text = "".join(block if block.startswith("```") else LINK.sub(rewritten, block) for block in blocks)
        (source / own).parent.mkdir(parents=True, exist_ok=True)
        (source / own).write_text(text)
    return extra


def title(page):
    """The first heading of a page, or its path."""
    found = re.search(r"^# (.+)$", page.read_text(), re.M)
    return re.sub(r"[\[\]`]", "", found.group(1)) if found else str(page.relative_to(ROOT))


def main():
    shutil.rmtree(STAGED, ignore_errors=True)
    GENERATED.mkdir(exist_ok=True)
    program = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    if program:
        (GENERATED / "cli.md").write_text(command_pages(program))
    (GENERATED / "errors.md").write_text(error_page(program))
    (GENERATED / "schemas.md").write_text(schema_page())
    extra = stage([page for page in sorted(DOCS.rglob("*.md")) if page not in NO_PAGES])
    summary = (DOCS / "SUMMARY.md").read_text().replace("README.md", "index.md")
    summary += "\n# Generated reference\n\n"
    names = {"cli": "Command line", "errors": "Error index", "schemas": "JSON schemas"}
    summary += "".join(f"- [{name}](generated/{stem}.md)\n" for stem, name in names.items() if (GENERATED / f"{stem}.md").exists())
    summary += "\n# Repository\n\n"
    summary += "".join(f"- [{title(page)}]({staged_name(page)})\n" for page in sorted(extra))
    (STAGED / "src/SUMMARY.md").write_text(summary)


if __name__ == "__main__":
    main()
