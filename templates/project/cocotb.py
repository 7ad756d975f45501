"""Runs {{ v.top }} on samples with known results, under cocotb (PyPI) with Icarus:

    python tb/test_{{ v.top|lower }}.py
"""

import json
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
SAMPLES = json.loads((ROOT / "tb" / "samples.json").read_text())


def code(text, width):
    """A code in two's complement."""
    return int(text) & ((1 << width) - 1)


def port(dut, name):
    """A port by its name, whatever attributes cocotb's own handles have."""
    return dut[name] if hasattr(type(dut), "__getitem__") else dut._id(name, extended=False)

{% if v.axis %}
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
    cocotb.start_soon(Clock(dut.aclk, 10, "ns").start())
    dut.aresetn.value = 0
    dut.s_axis_tvalid.value = 0
    dut.s_axis_tlast.value = 0
{%- if v.axis_user > 0 %}
    dut.s_axis_tuser.value = 0
{%- endif %}
    dut.m_axis_tready.value = 1
    for _ in range(3):
        await FallingEdge(dut.aclk)
    dut.aresetn.value = 1
    beats, expected = [], []
    for row, results in zip(SAMPLES["inputs"], SAMPLES["outputs"]):
        bits = packed(row, FACTS["inputs"], s, False)
        beats += [(bits >> (k * s["data_width"])) & ((1 << s["data_width"]) - 1) for k in range(s["beats"])]
        bits = packed(results, FACTS["outputs"], m, True)
        expected += [(bits >> (k * m["data_width"])) & ((1 << m["data_width"]) - 1) for k in range(m["beats"])]
    sent, received = 0, []
    limit = 10 * (len(beats) + len(expected)) + 100
    while len(received) < len(expected) and limit > 0:
        dut.s_axis_tvalid.value = int(sent < len(beats))
        dut.s_axis_tdata.value = beats[min(sent, len(beats) - 1)]
        await Timer(1, "ns")
        taken = sent < len(beats) and int(dut.s_axis_tready.value) == 1
        if int(dut.m_axis_tvalid.value) == 1:
            received.append(int(dut.m_axis_tdata.value))
        await FallingEdge(dut.aclk)
        sent += taken
        limit -= 1
    assert received == expected
{%- else %}
def drive(dut, row):
    """Puts a sample on the input ports."""
    ports = {}
    for text, element in zip(row, FACTS["inputs"]):
        if element["width"]:
            ports[element["port"]] = ports.get(element["port"], 0) | code(text, element["width"]) << element["lsb"]
    for name, bits in ports.items():
        port(dut, name).value = bits


def check(dut, row, sample):
    """Compares the output ports with what the model says."""
    for text, element in zip(row, FACTS["outputs"]):
        if element["width"] and text is not None:
            # Digits, the highest bit first: other elements on the port may be unknown.
            digits = str(port(dut, element["port"]).value)
            found = digits[len(digits) - element["lsb"] - element["width"] : len(digits) - element["lsb"]]
            expected = f"{code(text, element['width']):0{element['width']}b}"
            assert found == expected, f"sample {sample}, {element['name']}: expected {expected}, found {found}"


{% if v.stateful %}
@cocotb.test()
async def every_cycle_is_as_the_model_says(dut):
    clock = FACTS["clock"]
    for cycle, (row, results) in enumerate(zip(SAMPLES["inputs"], SAMPLES["outputs"])):
        if clock:
            port(dut, clock).value = 0
        drive(dut, row)
        await Timer(5, "ns")
        check(dut, results, cycle)
        if clock:
            port(dut, clock).value = 1
        await Timer(5, "ns")
{%- else %}
@cocotb.test()
async def samples_come_out_as_the_model_says(dut):
    inputs, outputs = SAMPLES["inputs"], SAMPLES["outputs"]
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
    if reset:
        port(dut, reset["port"]).value = int(reset["active_high"])
        for _ in range(3):
            await tick()
        port(dut, reset["port"]).value = int(not reset["active_high"])
    if valid:
        port(dut, valid["input"]).value = 1
    for cycle in range(len(inputs) + latency):
        drive(dut, inputs[min(cycle, len(inputs) - 1)])
        await Timer(1, "ns")
        if cycle >= latency:
            if valid:
                assert int(port(dut, valid["output"]).value) == 1
            check(dut, outputs[cycle - latency], cycle - latency)
        await tick()
{%- endif %}
{%- endif %}


def main():
    try:
        from cocotb_tools.runner import get_runner
    except ImportError:
        from cocotb.runner import get_runner
    import os

    # Under pytest-less runs the simulator imports this file by its name.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tb"), os.environ.get("PYTHONPATH", "")])
    runner = get_runner(os.environ.get("SIM", "icarus"))
    build = ROOT / "sim" / "build" / "cocotb"
    runner.build(sources=[ROOT / "rtl" / "{{ v.top }}.v"], hdl_toplevel="{{ v.top }}", build_dir=build, always=True,
                 timescale=("1ns", "1ps"))
    results = runner.test(hdl_toplevel="{{ v.top }}", test_module="test_{{ v.top|lower }}", build_dir=build)
    failed = "<failure" in Path(results).read_text() or "<error" in Path(results).read_text()
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
