#!/usr/bin/env bash
# The full matrix: every model at 0, 1, 3 and 7 stages, in both languages, in every simulator and in front of every lint
# tool; the two models over 50,000 operations in the netlist evaluator and in front of the lint tools.
# First, every model of up to 5,000 operations at 2 to 8 stages against a general solver of linear programs.
#
#   scripts/matrix.sh               everything: an estimated 40 minutes on two idle cores
#   scripts/matrix.sh jet_mlp       what has this in its name
#
# Prints a table at the end: a line for each model and number of stages, a column for each check, in seconds. Ends with 0
# only if everything passed and nothing is missing from the table. A tool that is not installed is missing from it. With the
# large models each lint tool has three minutes; what comes to no end (Icarus and yosys with a million operations) is shown
# as ">180" and counted by itself.
#
# The large models are not part of the repository: ALIR2HDL_LARGE_MODELS names the folder that holds
# scale_dense256/model.json.gz and scale_deepsets/model.json.gz. Without it they are skipped, and the end says so.
#
# Takes the test program that scripts/test.sh has built, so that nothing is compiled twice.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
[ "${SETUP:-yes}" = no ] || scripts/setup.sh </dev/null
ALIR2HDL_MATRIX_TABLE=$(mktemp) || exit 1
trap 'rm -f "$ALIR2HDL_MATRIX_TABLE"' EXIT
export ALIR2HDL_LARGE_MODELS="${ALIR2HDL_LARGE_MODELS:-}"
export PATH="$HOME/.cargo/bin:$PATH:$PWD/.venv/bin" ALIR2HDL_MATRIX=all ALIR2HDL_MATRIX_TABLE

filter="sim_model_${1:-}"
# The large models are ignored tests: their files are not in the repository.
large="${ALIR2HDL_LARGE_MODELS:+all}"
start=$SECONDS
status=0
if [ $# = 0 ]; then
    cargo test --locked --test it registers:: </dev/null || status=$?
    echo "schedules against a general solver: $((SECONDS - start)) s"
fi
if cargo nextest --version >/dev/null 2>&1; then
    chosen="test($filter)"
    [ -n "$large" ] || chosen+=" and not test(scale_)"
    cargo nextest run --locked --profile matrix --run-ignored all --test hdl -E "$chosen" </dev/null || status=$?
else
    # shellcheck disable=SC2086 # nothing, or two words
    cargo test --locked --test hdl -- --test-threads 2 --include-ignored $([ -n "$large" ] || echo --skip scale_) "$filter" </dev/null ||
        status=$?
fi

simulators="verilator iverilog ghdl93 ghdl08"
lint="lint_verilator lint_newest lint_iverilog lint_yosys lint_ghdl93 lint_ghdl08"
small="tiny_ops edge_kif over64 wide_acc bit_logic lut_heavy sort_topk var_mul anomaly_ae jet_mlp cmvm_64x64 conv_small
    mlp_8bit mixer_particles fuzz"
# A line for each model and number of stages that belongs into the table: model, stages, its checks.
expected() {
    for model in $small; do
        for stages in 0 1 3 7; do echo "$model $stages $simulators $lint"; done
    done
    if [ -d "${ALIR2HDL_LARGE_MODELS:-}/scale_dense256" ]; then
        for stages in 0 3; do echo "scale_dense256 $stages evaluator $lint"; done
    fi
    if [ -d "${ALIR2HDL_LARGE_MODELS:-}/scale_deepsets" ]; then
        echo "scale_deepsets 3 evaluator $lint"
    fi
}

printf '\n'
expected | awk -v columns="$simulators evaluator $lint" -v wanted="${1:-}" '
    BEGIN {
        n = split(columns, column, " ")
        printf "%-16s %6s", "model", "stages"
        for (i = 1; i <= n; i++) { short = column[i]; sub("lint_", "l:", short); printf " %11s", short }
        print ""
    }
    # The table: of a check that ran on many programs the sum; of one that came to no end ">" and its limit.
    NR == FNR && $4 ~ /^>/ { seconds[$1, $2, $3] = $4; next }
    NR == FNR { seconds[$1, $2, $3] += $4; next }
    index("sim_model_" $1, "sim_model_" wanted) != 1 { next }
    {
        delete asked
        for (i = 3; i <= NF; i++) asked[$i]
        printf "%-16s %6d", $1, $2
        for (i = 1; i <= n; i++) {
            if (!(column[i] in asked)) cell = ""
            else if (seconds[$1, $2, column[i]] ~ /^>/) { cell = seconds[$1, $2, column[i]]; endless++ }
            else if (($1, $2, column[i]) in seconds && seconds[$1, $2, column[i]] != "") { cell = sprintf("%.1f", seconds[$1, $2, column[i]]); passed++ }
            else { cell = "MISSING"; missing++ }
            printf " %11s", cell
        }
        print ""
    }
    END {
        printf "\n%d checks passed, %d missing (seconds; an empty field is not asked for)\n", passed, missing
        if (endless) printf "%d tools came to no end with a large model; they had said nothing till then\n", endless
        if (missing || !passed) exit 1
    }' "$ALIR2HDL_MATRIX_TABLE" - || status=1

[ -d "${ALIR2HDL_LARGE_MODELS:-}/scale_deepsets" ] ||
    echo "skipped: scale_dense256 and scale_deepsets: ALIR2HDL_LARGE_MODELS names no folder with them"
if [ "$status" != 0 ]; then
    echo "matrix FAILED after $((SECONDS - start)) s"
    exit 1
fi
echo "matrix passed in $((SECONDS - start)) s"
