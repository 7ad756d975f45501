"""Runs {{ v.top }} on samples with known results, under cocotb (PyPI) with Icarus, or another simulator by name:

    python tb/test_{{ v.top|lower }}.py
    SIM=ghdl python tb/test_{{ v.top|lower }}.py        the VHDL; so does nvc

The samples are those of samples.json beside this file, or of the file that the variable SAMPLES names.
"""

import json
import os
from pathlib import Path

import cocotb
{%- if v.stateful %}
from cocotb.triggers import Timer
{%- else %}
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
{%- endif %}

ROOT = Path(__file__).resolve().parent.parent
FACTS = json.loads((ROOT / "metadata.json").read_text())
# Samples that must be there, and compared.
ROWS = {{ v.cocotb_rows }}


def samples():
    """Inputs and outputs, a row a sample."""
    path = Path(os.environ.get("SAMPLES", ROOT / "tb" / "samples.json"))
    try:
        both = json.loads(path.read_text())
        inputs, outputs = both["inputs"], both["outputs"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AssertionError(f"FAIL {path} cannot be read: {error!r}") from error
    assert len(inputs) == len(outputs) == ROWS, f"FAIL {path} has {len(inputs)} and {len(outputs)} rows, not {ROWS}"
    for kind, rows in (("inputs", inputs), ("outputs", outputs)):
        for number, row in enumerate(rows):
            assert len(row) == len(FACTS[kind]), f"FAIL {path}, {kind}, row {number}: {len(row)} numbers, not {len(FACTS[kind])}"
            for text, element in zip(row, FACTS[kind]):
                assert fits(text, element), f"FAIL {path}, {kind}, row {number}: {element['name']} cannot be {text}"
    return inputs, outputs


def fits(text, element):
    """Whether an element can have a value; without bits it is 0."""
    return text is None or value(code(text, element["width"]), element) == int(text)


def named(kind, row):
    """Elements and their codes, for a message."""
    return ", ".join(f"{element['name']} = {text}" for text, element in zip(row, FACTS[kind]))



def code(text, width):
    """A code in two's complement."""
    return int(text) & ((1 << width) - 1)


def value(bits, element):
    """The code that an element's bits mean."""
    negative = element["signed"] and element["width"] and bits >> (element["width"] - 1)
    return bits - (1 << element["width"]) if negative else bits


def port(dut, name):
    """A port by its name, whatever attributes cocotb's own handles have."""
    return dut[name] if hasattr(type(dut), "__getitem__") else dut._id(name, extended=False)

{% if let Some(names) = v.streams %}
def packed(row, elements, stream, pad):
    """The bits of a sample; with `pad`, elements fill their slots."""
    bits = 0
    for text, element, slot in zip(row, elements, stream["slots"]):
        bits |= code(text, slot["width"] if pad else element["width"]) << slot["lsb"]
    return bits


@cocotb.test()
async def samples_come_out_as_the_model_says(dut):
    axis = FACTS["axis"]
    s, m = axis["s_axis"], axis["m_axis"]
    cocotb.start_soon(Clock(dut.{{ names.clock }}, 10, "ns").start())
    dut.{{ names.reset }}.value = 0
    dut.{{ names.input }}_tvalid.value = 0
    dut.{{ names.input }}_tlast.value = 0
{%- if v.axis_user > 0 %}
    dut.{{ names.input }}_tuser.value = 0
{%- endif %}
    dut.{{ names.output }}_tready.value = 1
    for _ in range(3):
        await FallingEdge(dut.{{ names.clock }})
    dut.{{ names.reset }}.value = 1
    beats, expected = [], []
    inputs, outputs = samples()
    for row, results in zip(inputs, outputs):
        bits = packed(row, FACTS["inputs"], s, False)
        beats += [(bits >> (k * s["data_width"])) & ((1 << s["data_width"]) - 1) for k in range(s["beats"])]
        bits = packed(results, FACTS["outputs"], m, True)
        expected += [(bits >> (k * m["data_width"])) & ((1 << m["data_width"]) - 1) for k in range(m["beats"])]
    sent, received = 0, []
    limit = 10 * (len(beats) + len(expected)) + 100
    while len(received) < len(expected) and limit > 0:
        dut.{{ names.input }}_tvalid.value = int(sent < len(beats))
        dut.{{ names.input }}_tdata.value = beats[min(sent, len(beats) - 1)]
        await Timer(1, "ns")
        taken = sent < len(beats) and int(dut.{{ names.input }}_tready.value) == 1
        if int(dut.{{ names.output }}_tvalid.value) == 1:
            received.append(int(dut.{{ names.output }}_tdata.value))
        await FallingEdge(dut.{{ names.clock }})
        sent += taken
        limit -= 1
    assert len(received) == len(expected), f"FAIL {len(received)} of {len(expected)} beats came out"
    for beat, (found, due) in enumerate(zip(received, expected)):
        sample = beat // m["beats"]
        low = beat % m["beats"] * m["data_width"]
        for slot, element, text in zip(m["slots"], FACTS["outputs"], outputs[sample]):
            if low <= slot["lsb"] and slot["lsb"] + slot["width"] <= low + m["data_width"] and element["width"]:
                bits = (found >> (slot["lsb"] - low)) & ((1 << element["width"]) - 1)
                right = bits == code(text, element["width"])
                assert right, (
                    f"FAIL row {sample}, {element['name']}: expected {text}, found {value(bits, element)}; "
                    f"inputs {named('inputs', inputs[sample])}"
                )
        assert found == due, (
            f"FAIL row {sample}, beat {beat}: expected {due:#x}, found {found:#x}; "
            f"inputs {named('inputs', inputs[sample])}"
        )
    cocotb.log.info("PASS %d rows", len(outputs))
{%- else %}
def drive(dut, row):
    """Puts a sample on the input ports."""
    ports = {}
    for text, element in zip(row, FACTS["inputs"]):
        if element["width"]:
            ports[element["port"]] = ports.get(element["port"], 0) | code(text, element["width"]) << element["lsb"]
    for name, bits in ports.items():
        port(dut, name).value = bits


def check(dut, row, sample, inputs):
    """Compares the output ports with what the model says."""
    for text, element in zip(row, FACTS["outputs"]):
        if element["width"] and text is not None:
            # Digits, the highest bit first: other elements on the port may be unknown.
            digits = str(port(dut, element["port"]).value)
            found = digits[len(digits) - element["lsb"] - element["width"] : len(digits) - element["lsb"]]
            expected = f"{code(text, element['width']):0{element['width']}b}"
            known = set(found) <= {"0", "1"}
            assert found == expected, (
                f"FAIL row {sample}, {element['name']}: expected {text}, found "
                f"{value(int(found, 2), element) if known else found}; inputs {named('inputs', inputs)}"
            )


{% if v.stateful %}
@cocotb.test()
async def every_cycle_is_as_the_model_says(dut):
    clock = FACTS["clock"]
    inputs, outputs = samples()
    for cycle, (row, results) in enumerate(zip(inputs, outputs)):
        if clock:
            port(dut, clock).value = 0
        drive(dut, row)
        await Timer(5, "ns")
        check(dut, results, cycle, row)
        if clock:
            port(dut, clock).value = 1
        await Timer(5, "ns")
    cocotb.log.info("PASS %d rows", len(outputs))
{%- else %}
@cocotb.test()
async def samples_come_out_as_the_model_says(dut):
    inputs, outputs = samples()
    latency = FACTS["latency"]
    valid, reset, enable = FACTS["valid"], FACTS["reset"], FACTS["enable"]
    clock = FACTS["clock"]
    if clock:
        cocotb.start_soon(Clock(port(dut, clock), 10, "ns").start())

    async def tick():
        if clock:
            await FallingEdge(port(dut, clock))
        else:
            await Timer(10, "ns")

    if enable:
        port(dut, enable).value = 1
    if valid:
        port(dut, valid["input"]).value = 0
    drive(dut, inputs[0])
    # The clock's first edge may fall together with the first sample: from here on samples change behind falling edges.
    await tick()
    if reset:
        port(dut, reset["port"]).value = int(reset["active_high"])
        for _ in range(3):
            await tick()
        port(dut, reset["port"]).value = int(not reset["active_high"])
    if valid:
        port(dut, valid["input"]).value = 1
{%- if v.gated %}
    ready, interval = FACTS["ready"], FACTS["initiation_interval"]
    taken, last = {}, None
    cycle = 0
    while last is None or cycle < last + latency + interval:
        await Timer(1, "ns")
        assert cycle < (len(inputs) + 2) * interval + latency, "FAIL no end in sight"
        if int(port(dut, ready).value) == 1:
            sample = len(taken)
            drive(dut, inputs[min(sample, len(inputs) - 1)])
            if sample < len(inputs):
                taken[cycle] = sample
                last = cycle if sample == len(inputs) - 1 else None
            elif valid:
                port(dut, valid["input"]).value = 0
        else:
            # The sample stays for as long as it must; what is there in other clocks does not matter.
            held = [sample for accepted, sample in taken.items() if cycle - accepted < FACTS.get("input_hold", 1)]
            drive(dut, inputs[held[0] if held else cycle % len(inputs)])
        for accepted, sample in taken.items():
            if latency <= cycle - accepted < latency + interval:
                if valid:
                    assert int(port(dut, valid["output"]).value) == int(cycle - accepted == latency)
                check(dut, outputs[sample], sample, inputs[sample])
        await tick()
        cycle += 1
{%- else %}
    for cycle in range(len(inputs) + latency):
        drive(dut, inputs[min(cycle, len(inputs) - 1)])
        await Timer(1, "ns")
        if cycle >= latency:
            if valid:
                assert int(port(dut, valid["output"]).value) == 1
            check(dut, outputs[cycle - latency], cycle - latency, inputs[cycle - latency])
        await tick()
{%- endif %}
    cocotb.log.info("PASS %d rows", len(outputs))
{%- endif %}
{%- endif %}


def main():
    try:
        from cocotb_tools.runner import get_runner
    except ImportError:
        from cocotb.runner import get_runner

    # Under pytest-less runs the simulator imports this file by its name.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tb"), os.environ.get("PYTHONPATH", "")])
    simulator = os.environ.get("SIM", "icarus")
    runner = get_runner(simulator)
    build = ROOT / "sim" / "build" / "cocotb"
    if simulator in ("ghdl", "nvc"):
        # VHDL ignores case, and simulators have names in lower case.
        top, source, options = "{{ v.top|lower }}", "{{ v.top }}.vhd", {"build_args": ["--std=08" if simulator == "ghdl" else "--std=2008"]}
    else:
        top, source, options = "{{ v.top }}", "{{ v.top }}.v", {"timescale": ("1ns", "1ps")}
    runner.build(sources=[ROOT / "rtl" / source], hdl_toplevel=top, build_dir=build, always=True, **options)
    run_options = {"test_args": ["--std=08"]} if simulator == "ghdl" else {}
    results = runner.test(hdl_toplevel=top, test_module="test_{{ v.top|lower }}", build_dir=build, **run_options)
    # A run that tested nothing is none that passed.
    report = Path(results).read_text()
    failed = "<failure" in report or "<error" in report or "<testcase" not in report or "<skipped" in report
    print(f"FAIL see {results}" if failed else f"PASS {ROWS} rows")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
