#!/usr/bin/env bash
# The long tests: all models and combinations, ignored tests, and random tests with a new seed on every run.
#
#   scripts/nightly.sh              everything; hours on two cores
#   scripts/nightly.sh prove_       the tests with this in their names
#
# Prints the seed first; `SEED=N scripts/nightly.sh` repeats a run. Log, test times and failing cases are kept in
# target/nightly/SEED. ALIR2HDL_LARGE_MODELS names the folder of models that are not in the repository; without it the tests
# that need them are left out, and the end of the output lists them.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
[ "${SETUP:-yes}" = no ] || scripts/setup.sh </dev/null
export PATH="$HOME/.cargo/bin:$PATH:$PWD/.venv/bin"

# Proptest reads the seed as a number of 64 bits.
seed="${SEED:-$(od -An -N7 -tu8 /dev/urandom | tr -d ' ')}"
kept="target/nightly/$seed"
mkdir -p "$kept"
echo "nightly: seed $seed (SEED=$seed scripts/nightly.sh repeats this run); kept in $kept"
export ALIR2HDL_NIGHTLY=1 PROPTEST_RNG_SEED="$seed" PROPTEST_CASES="${PROPTEST_CASES:-2000}"

filter="all()"
[ $# = 0 ] || filter="test($1)"
left_out=""
if [ -z "${ALIR2HDL_LARGE_MODELS:-}" ]; then
    left_out="scale_ alkaid_every cpp_headers_of_all every_network"
    for name in $left_out; do filter+=" and not test($name)"; done
fi
start=$SECONDS
status=0
cargo nextest run --locked --workspace --profile nightly --run-ignored all -E "$filter" </dev/null 2>&1 |
    tee "$kept/log.txt"
[ "${PIPESTATUS[0]}" = 0 ] || status=1
cp "${CARGO_TARGET_DIR:-target}/nextest/nightly/junit.xml" "$kept/" 2>/dev/null
# Failing cases of property tests: proptest writes them into the folder of the tests.
git status --porcelain -- '*proptest-regressions*' | awk '{ print $2 }' | xargs -r cp -r -t "$kept"
[ -z "$left_out" ] || echo "nightly: left out without ALIR2HDL_LARGE_MODELS: $left_out"
if [ $# = 0 ]; then
    scripts/matrix.sh || status=1
    # Every command of the documentation.
    cargo build --release --locked --bins -p alir2hdl -p alir2hdl-check </dev/null || status=1
    python3 scripts/docs_commands.py --slow target/release/alir2hdl </dev/null || status=1
fi
echo "nightly: $([ $status = 0 ] && echo passed || echo FAILED) after $((SECONDS - start)) s, seed $seed"
exit $status
