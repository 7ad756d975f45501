#!/usr/bin/env python3
"""Lists cycles between the files of each crate, read from paths in the code (`use super::x`, `crate::x::y`).

usage: module_cycles.py            fails if a group of files depends on itself that scripts/module_cycles.txt does not list,
                                   or if a listed group has become smaller
       module_cycles.py --record   writes the list again

A parent module that re-exports its children (`mod.rs`, `lib.rs`) is not part of a cycle: only paths below it count.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "scripts/module_cycles.txt"


def modules(src):
    """The files of a crate by their module paths."""
    found = {}
    for file in sorted(src.rglob("*.rs")):
        parts = list(file.relative_to(src).with_suffix("").parts)
        if parts[-1] in ("mod", "lib", "main"):
            parts.pop()
        found[tuple(parts)] = file
    return found


def code(text):
    """Returns Rust code without comments, strings and the unit tests at its end."""
    text = re.split(r"^#\[cfg\(test\)\]\s*\nmod tests", text, flags=re.M)[0]
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


def expand(tree):
    """The paths of a use tree, `a::{b, c::{d}}` as a::b and a::c::d."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        return [tree.split(" as ")[0].strip()]
    start, inner, depth, items, item = tree[:brace], tree[brace + 1 : tree.rfind("}")], 0, [], ""
    for char in inner + ",":
        if char == "," and depth == 0:
            items.append(item)
            item = ""
            continue
        depth += {"{": 1, "}": -1}.get(char, 0)
        item += char
    return [start + path for item in items if item.strip() for path in expand(item)]


def targets(own, text, known):
    """Modules that a file names."""
    body = code(text)
    uses = re.findall(r"\buse\s+((?:crate|super|self)\b[^;]*);", body)
    paths = [path for tree in uses for path in expand(re.sub(r"\s+", " ", tree))]
    paths += re.findall(r"\b((?:crate|super)(?:::\w+)+)", re.sub(r"\buse\s[^;]*;", "", body))
    for path in paths:
        words = [word.strip() for word in path.split("::")]
        if words[0] == "crate":
            at, rest = (), words[1:]
        elif words[0] == "self":
            at, rest = own, words[1:]
        else:
            at, rest = own, words
            while rest and rest[0] == "super":
                at, rest = at[:-1], rest[1:]
        while rest and at + (rest[0],) in known:
            at, rest = at + (rest[0],), rest[1:]
        # A name of a parent is an item of its own or one that it re-exports; neither leads to a sibling file.
        if at in known and at != own and at != own[: len(at)]:
            yield at


def components(graph):
    """Strongly connected components with more than one member: Tarjan's algorithm without recursion."""
    index, low, stack, on, out, counter = {}, {}, [], set(), [], 0
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = counter
        counter += 1
        stack.append(root)
        on.add(root)
        while work:
            node, edges = work[-1]
            for next_node in edges:
                if next_node not in index:
                    index[next_node] = low[next_node] = counter
                    counter += 1
                    stack.append(next_node)
                    on.add(next_node)
                    work.append((next_node, iter(graph[next_node])))
                    break
                if next_node in on:
                    low[node] = min(low[node], index[next_node])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = set()
                    while True:
                        member = stack.pop()
                        on.discard(member)
                        members.add(member)
                        if member == node:
                            break
                    if len(members) > 1:
                        out.append(sorted(members))
    return out


def main():
    lines = []
    for src in [ROOT / "src", *sorted((ROOT / "crates").glob("*/src"))]:
        known = modules(src)
        graph = {own: sorted(set(targets(own, file.read_text(), known))) for own, file in known.items()}
        crate = src.parent.name if src.parent != ROOT else "alir2hdl"
        for group in components(graph):
            lines.append(f"{crate}: " + " ".join("::".join(member) for member in group))
    text = "".join(line + "\n" for line in sorted(lines))
    if sys.argv[1:] == ["--record"]:
        RECORDED.write_text(text)
        return
    recorded = RECORDED.read_text()
    new = sorted(set(text.splitlines()) - set(recorded.splitlines()))
    gone = sorted(set(recorded.splitlines()) - set(text.splitlines()))
    for line in new:
        print(f"these files depend on one another: {line}")
    for line in gone:
        print(f"no longer so (scripts/module_cycles.py --record): {line}")
    sys.exit(bool(new or gone))


if __name__ == "__main__":
    main()
