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

# What setup brings must be there, for this script and for the tests: what is not there fails, unless ALLOW_MISSING names it.
# shellcheck source=scripts/tools.sh
source scripts/tools.sh
ALIR2HDL_REQUIRE="" missing="" allowed=""
for tool in $TOOLS; do
    if command -v "$tool" >/dev/null 2>&1; then
        ALIR2HDL_REQUIRE+="$tool "
    elif [[ " ${ALLOW_MISSING:-} " == *" $tool "* ]]; then
        allowed+=" $tool"
    else
        missing+=" $tool"
    fi
done
# Tests that find one of their tools missing all the same say so in this file.
ALIR2HDL_SKIPPED=$(mktemp) || exit 1
trap 'rm -f "$ALIR2HDL_SKIPPED"' EXIT
# Nothing of a run is built a second time: bookkeeping for that would only cost time.
export ALIR2HDL_REQUIRE ALIR2HDL_SKIPPED CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"

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

there() {
    [ -z "$missing" ] && return
    echo "not there:$missing (scripts/setup.sh should have brought them; ALLOW_MISSING=\"...\" goes on without)"
    return 1
}

step tools there
step format cargo fmt --check
step cycles python3 scripts/module_cycles.py
step crates python3 scripts/crate_graph.py --check
step vocabulary python3 scripts/vocabulary.py
step links python3 scripts/check_links.py
step words python3 scripts/docs_words.py
step clippy cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
step rustdoc env RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet
if cargo nextest --version >/dev/null 2>&1; then
    profile="${NEXTEST_PROFILE:-$([ -n "${CI:-}" ] && echo ci || echo default)}"
    step tests cargo nextest run --locked --workspace --profile "$profile"
    printf '\nthe ten slowest tests, in seconds:\n'
    sed -nE 's/.*<testcase name="([^"]*)" classname="([^"]*)".* time="([0-9.]+)".*/\3 \2 \1/p' \
        "${CARGO_TARGET_DIR:-target}/nextest/$profile/junit.xml" | sort -rn | head -n 10
else
    # Building nextest takes longer than it saves here; `cargo install --locked cargo-nextest` brings it.
    echo "cargo-nextest is not installed: running the tests with cargo test"
    step tests cargo test --locked --workspace --lib --bins --tests --no-fail-fast
fi

# Examples of error codes, with the program that the tests have built.
step examples python3 scripts/error_examples.py "${CARGO_TARGET_DIR:-target}/debug/alir2hdl"

# The documentation site, with the command line of the program that the tests have built.
if command -v mdbook >/dev/null 2>&1; then step docs env ALIR2HDL="${CARGO_TARGET_DIR:-target}/debug/alir2hdl" scripts/build_docs.sh; fi

# What did not run: tests without their tools, and those marked as long (CONTRIBUTING.md).
skipped=$(sort -u "$ALIR2HDL_SKIPPED" | wc -l)
wanted=$(cut -d' ' -f1 "$ALIR2HDL_SKIPPED" | sort -u | tr '\n' ' ')
ignored=$(grep -rhE '^[[:space:]]*#\[ignore' src crates tests hdl_tests python/src --include='*.rs' | wc -l)
printf '\ntools: %s\nnot there, as ALLOW_MISSING says:%s\n' "$ALIR2HDL_REQUIRE" "${allowed:- none}"
printf 'tests without a tool: %d%s; ignored as long: %d\n' "$skipped" "${wanted:+ (of ${wanted% })}" "$ignored"
if [ -n "$failed" ]; then
    echo "FAILED:$failed"
    exit 1
fi
echo "all steps passed in $SECONDS s"
