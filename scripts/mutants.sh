#!/usr/bin/env bash
# A thousand mutants of generated files (or as many as the first argument says): each verdict of `prove` confirmed by a
# simulator, or by yosys and ABC. Prints what became of them by kind of mistake; the log names every single one.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$HOME/.cargo/bin:$PATH:$PWD/.venv/bin" ALIR2HDL_MUTANTS="${1:-1000}"
log="${2:-target/mutants.log}"
mkdir -p "$(dirname "$log")"
cargo test --locked --test hdl -- --exact mutants::sim_verdicts_about_mutants_are_confirmed --nocapture >"$log" 2>&1 </dev/null || failed=$?
sed -n '/ mutants of .* seeds$/,$p' "$log"
exit "${failed:-0}"
