#!/usr/bin/env bash
# The full matrix: every model at 0, 1, 3 and 7 stages, in both languages, in every simulator; the two models over
# 50,000 operations against the netlist evaluator, by lint, and in Verilator. Takes hours on two cores.
#
#   scripts/matrix.sh               everything
#   scripts/matrix.sh jet_mlp       what has this in its name
#
# Ends with the runner's summary. The log of each part stands above it.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PATH="$HOME/.cargo/bin:$PATH:$PWD/.venv/bin" ALIR2HDL_MATRIX=all
[ "${SETUP:-yes}" = no ] || scripts/setup.sh </dev/null
if cargo nextest --version >/dev/null 2>&1; then
    exec cargo nextest run --locked --release --profile matrix --test hdl "sim_model_${1:-}" </dev/null
fi
exec cargo test --locked --release --test hdl -- "sim_model_${1:-}" </dev/null
