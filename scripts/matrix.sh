#!/usr/bin/env bash
# The full matrix: every model at 0, 1, 3 and 7 stages, in both languages, in every simulator and in front of every lint
# tool; the two models over 50,000 operations in the netlist evaluator and in front of the lint tools.
# First, every model of up to 5,000 operations at 2 to 8 stages against a general solver of linear programs.
#
#   scripts/matrix.sh               everything
#   scripts/matrix.sh jet_mlp       what has this in its name
#
# The large models are not part of the repository: ALIR2HDL_LARGE_MODELS names the folder that holds
# scale_dense256/model.json.gz and scale_deepsets/model.json.gz; without it they are skipped.
#
# Takes the test program that scripts/test.sh has built, so that nothing is compiled twice. Ends with the runner's summary;
# the log of each part stands above it.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PATH="$HOME/.cargo/bin:$PATH:$PWD/.venv/bin" ALIR2HDL_MATRIX=all
[ "${SETUP:-yes}" = no ] || scripts/setup.sh </dev/null
[ $# -gt 0 ] || cargo test --locked --test registers </dev/null
if cargo nextest --version >/dev/null 2>&1; then
    exec cargo nextest run --locked --profile matrix --test hdl "sim_model_${1:-}" </dev/null
fi
exec cargo test --locked --test hdl -- "sim_model_${1:-}" </dev/null
