"""Runs the VHDL bench of {{ v.top }} under VUnit (PyPI: vunit_hdl) with GHDL, NVC or another simulator that it finds:

    python sim/run.py
"""

from pathlib import Path

from vunit import VUnit

ROOT = Path(__file__).resolve().parent.parent

project = VUnit.from_argv(compile_builtins=False)
project.add_vhdl_builtins()
library = project.add_library("{{ v.top|lower }}_lib")
library.add_source_files([str(ROOT / "rtl" / "{{ v.top }}.vhd"), str(ROOT / "tb" / "bench.vhd"), str(ROOT / "tb" / "vunit_bench.vhd")])
bench = library.test_bench("{{ v.bench|lower }}_vunit")
bench.set_generic("vectors", str(ROOT / "tb"))
bench.set_sim_option("ghdl.sim_flags", ["--ieee-asserts=disable"])
project.main()
