"""Runs the notebooks of docs/notebooks, and stores their outputs with --write.

usage: notebooks.py [--write] NOTEBOOK...

Cells run in one namespace, in order, in a temporary folder; the working directory of a notebook is that of the repository. The value
of a cell's last expression is its output, as in Jupyter: text, and HTML or SVG where the value has one. A cell whose metadata
name modules under "needs" ends the notebook where one of them is not installed. Prints NOTEBOOKS and how many ran.
"""
import ast
import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def missing(cell) -> list[str]:
    """Modules that a cell needs and that are not installed."""
    return [name for name in cell["metadata"].get("needs", []) if importlib.util.find_spec(name) is None]


def run(source: str, namespace: dict, name: str) -> list:
    """Runs a cell; its outputs in the notebook format."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value)}
        for method, kind in [("_repr_html_", "text/html"), ("_repr_svg_", "image/svg+xml")]:
            if hasattr(value, method):
                data[kind] = getattr(value, method)()
        data = {kind: text.splitlines(True) for kind, text in data.items()}
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def main() -> int:
    words = sys.argv[1:]
    write = "--write" in words
    ran = 0
    for path in map(Path, (word for word in words if not word.startswith("--"))):
        book = json.loads(path.read_text())
        namespace = {"__name__": "__main__"}
        os.chdir(ROOT)
        with tempfile.TemporaryDirectory() as folder:
            namespace["FOLDER"] = Path(folder)
            count = 0
            for cell in book["cells"]:
                if cell["cell_type"] != "code":
                    continue
                absent = missing(cell)
                if absent:
                    print(f"{path.name}: ends, {', '.join(absent)} is not installed")
                    break
                count += 1
                outputs = run("".join(cell["source"]), namespace, f"{path.name}, cell {count}")
                for output in outputs:
                    if output["output_type"] == "execute_result":
                        output["execution_count"] = count
                if write:
                    cell["outputs"], cell["execution_count"] = outputs, count
                # An executed notebook is what readers see: one without outputs was never stored.
                elif bool(cell["outputs"]) != bool(outputs):
                    raise SystemExit(f"{path}, cell {count}: stored without its outputs; run notebooks.py --write {path}")
            ran += 1
        if write:
            path.write_text(json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    print(f"NOTEBOOKS {ran}")
    return 0


# The wheel's test runs this file by its path, under another name than __main__.
sys.exit(main())
