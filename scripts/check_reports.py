#!/usr/bin/env python3
"""Compares figures of `alir2hdl report --json` with the text of Vivado reports, by regular expressions of its own.

usage: check_reports.py ALIR2HDL FILE...      each file is copied into an empty folder and read alone
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def site(text, names):
    """The `Used` figure of the first of the sites."""
    for name in names:
        found = re.search(rf"^\|\s*{re.escape(name)}\*?\s*\|\s*([\d.]+)\s*\|", text, re.M)
        if found:
            return float(found[1])
    return None


def expected(text):
    """Figures by name, `None` where the file has none; an empty dictionary for a kind that is not compared."""
    command = re.search(r"^\| Command\s*: (report_\w+)(.*)", text, re.M)
    if not command:
        return {}
    if command[1] == "report_utilization" and not re.search(r"-hier|-pblocks|-cells", command[2]):
        return {
            "luts": site(text, ["CLB LUTs", "Slice LUTs"]),
            "registers": site(text, ["CLB Registers", "Slice Registers", "Registers"]),
            "dsps": site(text, ["DSPs", "DSP Slices"]),
            "brams": site(text, ["Block RAM Tile"]),
            "urams": site(text, ["URAM"]),
        }
    if command[1] == "report_power":
        power = lambda key: re.search(rf"^\| {re.escape(key)}\s*\|\s*([\d.]+)", text, re.M)
        values = {"power_w": power("Total On-Chip Power (W)"), "dynamic_w": power("Dynamic (W)")}
        return {key: found and float(found[1]) for key, found in values.items()}
    if command[1] == "report_timing_summary":
        return timing(text)
    return {}


def section(text, title):
    found = re.search(rf"^\| {title}\n\| -+\n-+\n\n(.*?)(?=\n\n\n|\Z)", text, re.M | re.S)
    return found[1].splitlines() if found else []


def finite(word):
    return float(word) if re.fullmatch(r"-?[\d.]+", word) else None


def timing(text):
    figures = {"worst_slack_ns": None, "hold_ns": None, "failing": None, "clock": None, "slack_ns": None, "period_ns": None}
    summary = section(text, "Design Timing Summary")
    if len(summary) > 2:
        words = summary[2].split()
        if len(words) == 12:
            figures["worst_slack_ns"], figures["hold_ns"] = finite(words[0]), finite(words[4])
            counts = [finite(words[k]) for k in (2, 6, 10)]
            counts = [count for count in counts if count is not None]
            figures["failing"] = sum(counts) if counts else None
    periods = {m[1]: float(m[2]) for m in re.finditer(r"^ *(\S+) +\{[^}]*\} +([\d.]+) ", "\n".join(section(text, "Clock Summary")), re.M)}
    # A row with all twelve figures has paths of its own, setup, hold and pulse width.
    rows = (line.split() for line in section(text, "Intra Clock Table")[2:])
    clocks = [(float(row[1]), row[0]) for row in rows if len(row) == 13 and row[0] in periods and finite(row[1]) is not None]
    if clocks:
        figures["slack_ns"], figures["clock"] = min(clocks, key=lambda c: c[0])
        figures["period_ns"] = periods[figures["clock"]]
    return figures


def main():
    program, files = sys.argv[1], sys.argv[2:]
    compared = differences = read = 0
    for file in files:
        text = Path(file).read_text(errors="replace")
        if not re.search(r"^\| Tool Version\s*: Vivado", text[:4000], re.M):
            continue
        figures = expected(text)
        if not any(value is not None for value in figures.values()):
            continue
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(file, Path(folder) / (Path(file).stem + ".rpt"))
            said = subprocess.run([program, "report", folder, "--json"], capture_output=True, text=True)
        rows = json.loads(said.stdout)["rows"] if said.returncode == 0 else [{}]
        read += 1
        for key, value in figures.items():
            compared += 1
            if rows[0].get(key) != value:
                differences += 1
                print(f"{file}: {key}: file {value}, report {rows[0].get(key)}")
    print(f"{read} files, {compared} figures compared, {differences} differences")
    sys.exit(differences > 0)


if __name__ == "__main__":
    main()
