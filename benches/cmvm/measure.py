#!/usr/bin/env python3
"""The solver of constant matrices: cost against budget as a picture, and the filters with published adder counts as a table.

    benches/cmvm/measure.py budget --data ../shared/models/network/cmvm --svg docs/images/cmvm_budget.svg
    benches/cmvm/measure.py filters --data ../shared/models/network/cmvm > benches/results/cmvm-filters.md

`budget` solves the 20 matrices of `baseline.json` at the three latencies that alkaid 0.8.2 reaches there, with each budget, and prints
geometric means; costs are those of the contract, the processor time is that of `cmvm::solve` alone. `filters` solves the filters of
`filters.json` (one input of 8 bits). Needs Python 3.9 and nothing else; --program names the executable.
"""

import argparse
import json
import math
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUDGETS = [0, 3, 10, 30, 100, 300, 1000]
SETTINGS = {"-1": "alkaid's default (no limit)", "0": "hard_dc=0", "2": "hard_dc=2"}
COLOURS = {"-1": "#b04a2f", "0": "#4878a8", "2": "#5a8f5a"}


def solved(program, matrix, budget, latency=None):
    """Adders, cost, one-bit adders and seconds of one matrix."""
    source = [str(matrix), "--input-type", "s8.0", "--cmvm-budget", str(budget)]
    if latency is not None:
        source += ["--cmvm-latency", repr(latency)]
    facts = json.loads(subprocess.run([program, "info", *source, "-O0", "--json"], check=True, capture_output=True).stdout)
    with tempfile.TemporaryDirectory() as folder:
        command = [program, *source, "-O0", "--verilog", f"{folder}/m.v", "--timings", "--json"]
        times = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    if latency is not None and facts["delay"] > latency + 1e-9:
        sys.exit(f"{matrix}: latency {facts['delay']}, {latency} was the limit")
    adders = sum(kind["count"] for kind in facts["kinds"] if kind["operation"] in ("add", "sub"))
    return adders, facts["cost"], times["cmvm_solve"]["cpu_seconds"]


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def budget(args):
    baseline = json.loads((args.data / "baseline.json").read_text())
    points = {setting: [] for setting in SETTINGS}
    print("| budget | processor time, s | cost / alkaid's | adders / alkaid's |\n|---|---|---|---|")
    for units in args.budgets:
        every = []
        for setting in SETTINGS:
            rows = []
            for name, known in baseline.items():
                theirs = known[setting]
                adders, cost, seconds = solved(args.program, args.data / f"{name}.npy", units, theirs["latency"])
                rows.append((max(seconds, 1e-5), cost / theirs["cost"], adders / theirs["adders"]))
            points[setting].append((mean(r[0] for r in rows), mean(r[1] for r in rows)))
            every += rows
        print(f"| {units:,} | {mean(r[0] for r in every):.4f} | {mean(r[1] for r in every):.3f} "
              f"| {mean(r[2] for r in every):.3f} |", flush=True)
    theirs = {s: mean(known[s]["seconds"] for known in baseline.values()) for s in SETTINGS}
    args.svg.write_text(picture(points, theirs))


def picture(points, theirs):
    """Cost over processor time, both as means; a line for each latency setting."""
    width, height, left, right, top, bottom = 720, 430, 76, 24, 84, 64
    times = [x for line in points.values() for x, _ in line] + list(theirs.values())
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    costs = [y for line in points.values() for _, y in line]
    floor, ceiling = math.floor(min(costs) * 50) / 50, 1.02
    x = lambda t: left + (width - left - right) * (math.log10(t) - low) / (high - low)
    y = lambda c: top + (height - top - bottom) * (ceiling - c) / (ceiling - floor)
    text = lambda at, v, s, more="": f'<text x="{at:.1f}" y="{v:.1f}"{more}>{s}</text>'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">',
           "<title>Cost of a constant matrix over the budget of the solver</title>",
           f'<rect width="{width}" height="{height}" fill="#fff"/>',
           text(left, 30, "Constant matrices: what a budget buys", ' font-size="17" font-weight="bold"'),
           text(left, 56, "cost as a share of alkaid 0.8.2's at its latency, means over 20 matrices; circles: alkaid")]
    for power in range(low, high + 1):
        at = x(10.0 ** power)
        out.append(f'<line x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{height - bottom}" stroke="#ddd"/>')
        out.append(text(at, height - bottom + 19, f"{10.0 ** power:g}", ' text-anchor="middle"'))
    tick = floor
    while tick <= ceiling + 1e-9:
        out.append(f'<line x1="{left}" y1="{y(tick):.1f}" x2="{width - right}" y2="{y(tick):.1f}" stroke="#ddd"/>')
        out.append(text(left - 9, y(tick) + 4.5, f"{tick:.2f}", ' text-anchor="end"'))
        tick += 0.02
    out.append(text((left + width - right) / 2, height - bottom + 45, "processor time of the solver, s", ' text-anchor="middle"'))
    for place, (setting, line) in enumerate(points.items()):
        colour = COLOURS[setting]
        path = " ".join(f"{x(t):.1f},{y(c):.1f}" for t, c in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(t):.1f}" cy="{y(c):.1f}" r="3" fill="{colour}"/>' for t, c in line]
        out.append(f'<circle cx="{x(theirs[setting]):.1f}" cy="{y(1.0):.1f}" r="5" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(text(width - right, top + 44 + 18 * place, SETTINGS[setting], f' text-anchor="end" style="fill:{colour}"'))
    return "\n".join(out) + "\n</svg>\n"


def npy(path, row):
    """A matrix of one row as float64."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': (1, {len(row)}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(row)}d", *row))


def filters(args):
    rows, sums = [], [0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for each in json.loads((args.data / "filters.json").read_text())["filters"]:
            best = min((each[kind] for kind in ("mcm", "mcmb") if each.get(kind)), key=lambda k: k["adders"], default=None)
            if best is None:
                continue
            matrix = Path(folder) / "m.npy"
            npy(matrix, each["coefficients"])
            adders, cost, seconds = solved(args.program, matrix, args.budget)
            proved = any(each[kind]["proved"] and each[kind]["adders"] == best["adders"] for kind in ("mcm",) if each.get(kind))
            onebit = each.get("mcmb", each.get("mcm"))["onebit"]
            rows.append(f"| {each['name']} | {len(each['coefficients'])} | {best['adders']}{' (least)' if proved else ''} "
                        f"| {adders} | {onebit:,} | {cost:,.0f} | {seconds:.2f} |")
            sums = [sums[0] + best["adders"], sums[1] + adders, max(sums[2], seconds)]
    print(f"""# Filters with published adder counts

One signed input of 8 bits times every coefficient; coefficients and published counts of adders and one-bit adders from
github.com/remi-garcia/jMCM (MIT, 2025-04; counts of Garcia and Volkova, arXiv 2210.02742; *least*: proved there to be). Ours with
`--cmvm-budget {args.budget}`: {sums[1]} adders in sum, published {sums[0]}; at most {sums[2]:.2f} s each. One-bit adders of ours are the cost of
[cmvm.md](cmvm.md); the published figure is defined in that paper, and the two are not the same count. Written by `benches/cmvm/measure.py filters`.

| filter | coefficients | published adders | our adders | published one-bit adders | our cost | s |
|---|---|---|---|---|---|---|""")
    print("\n".join(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/alir2hdl"))
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("budget")
    one.add_argument("--svg", type=Path, required=True)
    one.add_argument("--budgets", type=lambda t: [int(v) for v in t.split(",")], default=BUDGETS)
    one.set_defaults(run=budget)
    two = commands.add_parser("filters")
    two.add_argument("--budget", type=int, default=100)
    two.set_defaults(run=filters)
    for each in (one, two):
        each.add_argument("--data", type=Path, default=ROOT.parent / "shared/models/network/cmvm")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
