#!/usr/bin/env python3
"""Compares figures of `alir2hdl report --json` with the reports, by separate regular expressions.

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


def first(text, *patterns):
    """The number of the first pattern that occurs."""
    for pattern in patterns:
        found = re.search(pattern, text, re.M)
        if found:
            return float(found[1].replace(",", ""))
    return None


def cells(line):
    return [cell.strip() for cell in line.strip().strip(";").split(";")]


def quartus_timing(text):
    """Least slack of each clock and its slowest corner, from all tables of `.sta.rpt`."""
    kinds, slack, fmax, hold = {}, {}, {}, []
    table = re.compile(r"^; ([^;\n]*?) *;\n\+[-+]*\n((?:;.*\n)+?)\+[-+]*\n((?:;.*\n)*)", re.M)
    for title, headings, body in table.findall(text):
        names = cells(headings.splitlines()[0])
        rows = [dict(zip(names, cells(line))) for line in body.splitlines()]
        for row in rows:
            if title == "Clocks":
                kinds[row["Clock Name"]] = (row["Type"], float(row["Period"]))
            elif title.endswith("Fmax Summary") and "Fmax" in row:
                value = float(row["Fmax"].split()[0])
                if row["Clock Name"] not in fmax or value < fmax[row["Clock Name"]][0]:
                    fmax[row["Clock Name"]] = (value, float(row["Restricted Fmax"].split()[0]))
            elif re.search(r"(^| )Setup Summary$", title) and "Slack" in row:
                slack[row["Clock"]] = min(float(row["Slack"]), slack.get(row["Clock"], 1e9))
            elif re.search(r"(^| )Hold Summary$", title) and "Slack" in row:
                hold.append(float(row["Slack"]))
    figures = {"worst_slack_ns": min(slack.values(), default=None), "hold_ns": min(hold, default=None)}
    real = [(value, clock) for clock, value in slack.items() if kinds.get(clock, ("Base", 0))[0] != "Virtual"]
    if real:
        value, clock = min(real)
        figures |= {"clock": clock, "slack_ns": value, "period_ns": kinds[clock][1]}
        if clock in fmax:
            figures |= {"fmax_mhz": fmax[clock][0], "restricted_fmax_mhz": fmax[clock][1]}
    return figures


def others(name, text):
    """Figures of tools other than Vivado; the first lines of the file state the tool."""
    head = text[:3000]
    if name.endswith(".sta.rpt") and re.search(r"^(TimeQuest )?Timing Analyzer report for", head, re.M):
        return quartus_timing(text)
    if re.search(r"^(Fitter|Analysis & Synthesis|Synthesis) report for", head, re.M) and name.endswith((".fit.rpt", ".map.rpt", ".syn.rpt")):
        value = r" *; *([\d,]+)"
        return {
            "alms": first(text, r"^; Logic utilization \(in ALMs\)" + value, r"^; Logic utilization \(ALMs needed / total ALMs on device\)" + value,
                          r"^; Estimate of Logic utilization \(ALMs needed\)" + value),
            "aluts": first(text, r"^; Combinational ALUT usage for logic" + value, r"^; Combinational ALUT usage" + value),
            "logic_elements": first(text, r"^; Total logic elements" + value),
            "registers": first(text, r"^; Total registers\*?" + value, r"^; Total dedicated logic registers" + value, r"^; Dedicated logic registers" + value),
        }
    if name.endswith(".summary") and re.search(r"^(Fitter|Analysis & Synthesis) Status :", head, re.M):
        return {
            "alms": first(text, r"^Logic utilization \(in ALMs\) : ([\d,]+)"),
            "registers": first(text, r"^Total registers : ([\d,]+)", r"^Total dedicated logic registers : ([\d,]+)"),
            "dsps": first(text, r"^Total DSP Blocks : ([\d,]+)"),
            "brams": first(text, r"^Total RAM Blocks : ([\d,]+)"),
        }
    if name.endswith("_csynth.xml"):
        tag = lambda name: first(text, rf"<{name}>([\d.]+)</{name}>")
        period = tag("EstimatedClockPeriod")
        return {"luts": tag("LUT"), "registers": tag("FF"), "dsps": tag("DSP") if "<DSP>" in text else tag("DSP48E"), "period_ns": tag("TargetClockPeriod"),
                "fmax_mhz": 1000 / period if period else None, "latency": tag("Worst-caseLatency")}
    if "Lattice Mapping Report File" in head:
        return {"luts": first(text, r"Number of LUT4s: +([\d,]+)"), "registers": first(text, r"Number of registers: +([\d,]+)"),
                "brams": first(text, r"Number of block RAMs: +([\d,]+)")}
    if "Lattice TRACE Report" in text and "Report Summary" in text:
        best = None
        summary = text.split("Report Summary")[1].split("Clock Domains")[0]
        joined = re.sub(r"\|\s*\|\s*\|\s*\n", " ", summary)
        for clock, unit_value, actual in re.findall(r'"([^"\n|]+)"[^|]*\| *([\d.]+ (?:MHz|ns))\| *([\d.]+ (?:MHz|ns))\|', joined):
            period = lambda words: 1000 / float(words.split()[0]) if "MHz" in words else float(words.split()[0])
            slack = period(unit_value) - period(actual)
            if best is None or slack < best[0]:
                best = (slack, clock)
        return {"slack_ns": best[0], "clock": best[1]} if best else {}
    if "Gowin Semiconductor" in head:
        return {"luts": first(text, r"--LUT,ALU,ROM16 +\| (\d+)"), "registers": first(text, r"^ +Register +\| (\d+)"),
                "carries": first(text, r"(\d+) ALU,")}
    if "Max frequency for clock" in text:
        last = {name: float(mhz) for name, mhz in re.findall(r"Max frequency for clock +'([^']*)': ([\d.]+) MHz", text)}
        return {"fmax_mhz": next(iter(last.values()))} if len(last) == 1 else {}
    return {}


def main():
    program, files = sys.argv[1], sys.argv[2:]
    compared = differences = read = 0
    kinds = {}
    for file in files:
        text = Path(file).read_text(errors="replace")
        is_vivado = re.search(r"^\| Tool Version\s*: Vivado", text[:4000], re.M)
        figures = expected(text) if is_vivado else others(Path(file).name, text)
        if not any(value is not None for value in figures.values()):
            continue
        with tempfile.TemporaryDirectory() as folder:
            name = Path(file).stem + ".rpt" if is_vivado else Path(file).name
            shutil.copy(file, Path(folder) / name)
            said = subprocess.run([program, "report", folder, "--json"], capture_output=True, text=True)
        rows = json.loads(said.stdout)["rows"] if said.returncode == 0 else [{}]
        read += 1
        tool = rows[0].get("tool", "not read")
        kinds[tool] = kinds.get(tool, 0) + 1
        for key, value in figures.items():
            compared += 1
            if rows[0].get(key) != value:
                differences += 1
                print(f"{file}: {key}: file {value}, report {rows[0].get(key)}")
    print(f"{read} files ({', '.join(f'{count} {tool}' for tool, count in sorted(kinds.items()))}), "
          f"{compared} figures compared, {differences} differences")
    sys.exit(differences > 0)


if __name__ == "__main__":
    main()
