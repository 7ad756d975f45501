"""The licences of everything that is compiled into the program and the Python module: `licences.py > THIRD_PARTY_LICENCES.txt`.

Reads `cargo metadata` and the crates' own files, refuses a licence that deny.toml does not allow, and a crate without a text.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "x86_64-unknown-linux-gnu"
OURS = ("alir2hdl", "alir2hdl-python")
NAMES = ("LICEN", "COPYING", "NOTICE", "UNLICENSE")


def allowed() -> set:
    """The list of deny.toml."""
    listed = re.search(r"^allow = \[(.*?)\]", (ROOT / "deny.toml").read_text(), re.DOTALL | re.MULTILINE)
    return set(re.findall(r'"([^"]+)"', listed[1]))


def may_be_used(expression: str, known: set) -> bool:
    """Whether every AND of an SPDX expression has an OR that is known; the old `/` is an OR."""
    expression = expression.replace("/", " OR ").replace("(", " ( ").replace(")", " ) ")
    words = re.sub(r" +WITH +", "~", expression).split()

    def alternatives():
        value = conjunction()
        while words and words[0] == "OR":
            words.pop(0)
            value = conjunction() or value
        return value

    def conjunction():
        value = one()
        while words and words[0] == "AND":
            words.pop(0)
            value = one() and value
        return value

    def one():
        word = words.pop(0)
        if word == "(":
            value = alternatives()
            words.pop(0)
            return value
        return word.replace("~", " WITH ") in known

    return alternatives()


def dependencies() -> list:
    """What is linked or run to build, sorted; not what only tests use."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET]
    data = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    open_, seen = [id_ for id_, package in packages.items() if package["name"] in OURS], set()
    while open_:
        id_ = open_.pop()
        if id_ in seen:
            continue
        seen.add(id_)
        open_ += [edge["pkg"] for edge in nodes[id_]["deps"] if any(kind["kind"] != "dev" for kind in edge["dep_kinds"])]
    found = [packages[id_] for id_ in seen if packages[id_]["name"] not in OURS]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def texts(package) -> list:
    """The licence files of a crate."""
    folder = Path(package["manifest_path"]).parent
    return [file for file in sorted(folder.iterdir()) if file.is_file() and file.name.upper().startswith(NAMES)]


def main() -> None:
    """Prints the page; ends with 1 and a list if something is not in order."""
    known, problems, page = allowed(), [], []
    packages = dependencies()
    by_repository = {package["repository"]: package for package in packages if texts(package)}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        licence = package["license"]
        if not licence or not may_be_used(licence, known):
            problems.append(f"{name}: {licence} is not in deny.toml")
        page.append(f"{'=' * 100}\n{name}   {licence}\n{package['repository'] or ''}\n{', '.join(package['authors'])}".rstrip())
        # Crates of one repository share its licence file, and not each is published with it.
        owner = package if texts(package) else by_repository.get(package["repository"])
        files = texts(owner) if owner else []
        if files:
            page += [f"--- {file.name}\n{file.read_text(errors='replace').rstrip()}" for file in files]
        elif licence == "MIT":
            # Published without the file: the licence is named in its manifest, its text is ours with another owner.
            own = (ROOT / "LICENSE").read_text()
            holders = ", ".join(package["authors"]) or "its authors"
            page.append("--- " + re.sub(r"Copyright \(c\).*", lambda _: f"Copyright (c) {holders}", own).rstrip())
        else:
            problems.append(f"{name}: published without the text of {licence}")
    if problems:
        sys.exit("\n".join(problems))
    print(f"alir2hdl contains or is built with {len(packages)} packages of others.\n")
    print("\n\n".join(page))


main()
