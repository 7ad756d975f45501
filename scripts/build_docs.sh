#!/usr/bin/env bash
# Builds the documentation site in target/book, which works from disk: open target/book/index.html.
#
# mdBook: MDBOOK, the PATH, .venv/bin, or target/tools/bin; if it is in none of these, `cargo install` builds it into target/tools.
# The reference of the command line comes from ALIR2HDL, or the program in target/release or target/debug; it is built if it is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$HOME/.cargo/bin:$PATH:$PWD/.venv/bin:$PWD/target/tools/bin"

mdbook=${MDBOOK:-mdbook}
if ! command -v "$mdbook" >/dev/null 2>&1; then
    cargo install --locked --root target/tools --no-default-features --features search mdbook
fi
program=${ALIR2HDL:-}
for built in target/release/alir2hdl target/debug/alir2hdl; do
    [ -n "$program" ] || [ ! -x "$built" ] || program=$built
done
if [ -z "$program" ]; then
    cargo build --release --locked --bin alir2hdl
    program=target/release/alir2hdl
fi

python3 scripts/docs_words.py
python3 scripts/build_docs.py "$program"
python3 scripts/check_links.py
MDBOOK_BOOK__SRC=target/docs/src "$mdbook" build
echo "target/book/index.html"
