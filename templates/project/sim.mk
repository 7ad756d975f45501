# Simulations of {{ v.top }} against the model's own results: make verilator, make iverilog, make ghdl, or make for all.
VERILATOR ?= verilator
IVERILOG ?= iverilog
VVP ?= vvp
GHDL ?= ghdl

.PHONY: all verilator iverilog ghdl clean
all: verilator iverilog ghdl

# A run is right if it came to its end and found no difference.
judge = cat $(1)/log.txt && grep -q '^DONE\|^STREAM' $(1)/log.txt && ! grep -q '^MISMATCH\|^WRONG' $(1)/log.txt

build/%/started:{% for file in v.data_files %} ../tb/{{ file }}{% endfor %}
	mkdir -p $(@D)
	cp {% for file in v.data_files %}../tb/{{ file }} {% endfor %}$(@D)/
	touch $@

verilator: build/verilator/started
	$(VERILATOR) --cc --exe --build -Wno-lint -Wno-fatal --top-module {{ v.bench }} --Mdir build/verilator/obj \
		../rtl/{{ v.top }}.v ../tb/wrapper.v ../../../../tb/bench.cpp
	cd build/verilator && obj/V{{ v.bench }} > log.txt
	$(call judge,build/verilator)

iverilog: build/iverilog/started
	$(IVERILOG) -g2001 -o build/iverilog/simulation.vvp -s {{ v.bench }} ../rtl/{{ v.top }}.v ../tb/bench.v
	cd build/iverilog && $(VVP) -n simulation.vvp > log.txt
	$(call judge,build/iverilog)

ghdl: build/ghdl/started
	cd build/ghdl && $(GHDL) -a --std=08 ../../../rtl/{{ v.top }}.vhd ../../../tb/bench.vhd
	cd build/ghdl && $(GHDL) -e --std=08 {{ v.bench }}
	cd build/ghdl && $(GHDL) -r --std=08 {{ v.bench }} --ieee-asserts=disable-at-0 > log.txt
	$(call judge,build/ghdl)

clean:
	rm -rf build
