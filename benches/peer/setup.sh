#!/usr/bin/env bash
# A private Python environment with the peer, and our own release build.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ -x target/peer/bin/python ] || python3 -m venv target/peer
target/peer/bin/pip install --quiet alkaid==0.8.2
cargo build --release --locked --quiet
target/peer/bin/python -c 'import alkaid; print("alkaid", alkaid.__version__)'
