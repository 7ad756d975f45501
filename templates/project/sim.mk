# Simulations of {{ v.top }} against the model's own results: make verilator, make iverilog, make ghdl, or make for all.
# With VCD=1 each of these also writes build/NAME/wave.vcd for a waveform viewer.
# Further simulators, whose commands are not tested: make xsim, questa, vcs, xcelium (Verilog), nvc (VHDL).
VERILATOR ?= verilator
IVERILOG ?= iverilog
VVP ?= vvp
GHDL ?= ghdl
XVLOG ?= xvlog
XELAB ?= xelab
XSIM ?= xsim
VLIB ?= vlib
VLOG ?= vlog
VSIM ?= vsim
VCS ?= vcs
XRUN ?= xrun
NVC ?= nvc

.PHONY: all verilator iverilog ghdl xsim questa vcs xcelium nvc clean
all: verilator iverilog ghdl

# The folder of the vectors, as it is seen from a folder of build/.
VECTORS ?= ../../../tb

# Runs a simulation in its folder. The testbench prints PASS and the number of compared rows only if every row was compared
# and is correct; everything else is a failure.
run = { (cd build/$@ && $(1)) > build/$@/log.txt 2>&1; status=$$?; cat build/$@/log.txt; \
	test $$status -eq 0 && grep -q '^PASS {{ v.rows }} rows$$' build/$@/log.txt; }

verilator:
	mkdir -p build/$@
	$(VERILATOR) --cc --exe --build $(if $(VCD),--trace -CFLAGS -DVCD) -MAKEFLAGS "VK_PCH_I_FAST= VK_PCH_I_SLOW=" -Wno-lint -Wno-fatal --top-module {{ v.bench }} --Mdir build/verilator/obj \
		../rtl/{{ v.top }}.v ../tb/wrapper.v ../../../../tb/bench.cpp
	$(call run,obj/V{{ v.bench }} +VECTORS=$(VECTORS))

iverilog:
	mkdir -p build/$@
	echo +timescale+1ns/1ps > build/$@/options.f
	$(IVERILOG) -g2001 -c build/$@/options.f $(if $(VCD),-DVCD) -o build/iverilog/simulation.vvp -s {{ v.bench }} ../rtl/{{ v.top }}.v ../tb/bench.v
	$(call run,$(VVP) -n simulation.vvp +VECTORS=$(VECTORS))

# Unknown values in a result are differences; before the first result no arithmetic warns of them.
ghdl:
	mkdir -p build/$@
	cd build/ghdl && $(GHDL) -a --std=08 ../../../rtl/{{ v.top }}.vhd ../../../tb/bench.vhd
	cd build/ghdl && $(GHDL) -e --std=08 {{ v.bench }}
	$(call run,$(GHDL) -r --std=08 {{ v.bench }} -gvectors=$(VECTORS) --ieee-asserts=disable $(if $(VCD),--vcd=wave.vcd))

xsim:
	mkdir -p build/$@
	cd build/$@ && $(XVLOG) ../../../rtl/{{ v.top }}.v ../../../tb/bench.v
	cd build/$@ && $(XELAB) -debug off -timescale 1ns/1ps -s simulation work.{{ v.bench }}
	$(call run,$(XSIM) simulation -runall -testplusarg VECTORS=$(VECTORS))

questa:
	mkdir -p build/$@
	cd build/$@ && $(VLIB) work && $(VLOG) -vlog01compat -timescale 1ns/1ps ../../../rtl/{{ v.top }}.v ../../../tb/bench.v
	$(call run,$(VSIM) -batch -do "run -all; quit -f" {{ v.bench }} +VECTORS=$(VECTORS))

vcs:
	mkdir -p build/$@
	cd build/$@ && $(VCS) -full64 +v2k -timescale=1ns/1ps -top {{ v.bench }} -o simulation ../../../rtl/{{ v.top }}.v ../../../tb/bench.v
	$(call run,./simulation +VECTORS=$(VECTORS))

xcelium:
	mkdir -p build/$@
	$(call run,$(XRUN) -64bit -timescale 1ns/1ps -top {{ v.bench }} ../../../rtl/{{ v.top }}.v ../../../tb/bench.v +VECTORS=$(VECTORS))

nvc:
	mkdir -p build/$@
	cd build/$@ && $(NVC) --std=2008 -a ../../../rtl/{{ v.top }}.vhd ../../../tb/bench.vhd
	cd build/$@ && $(NVC) --std=2008 -e -gvectors=$(VECTORS) {{ v.bench }}
	$(call run,$(NVC) --std=2008 -r --ieee-warnings=off {{ v.bench }})

clean:
	rm -rf build
