#!/usr/bin/env bash
# Private Python environments with the peer (0.8, and 0.7 for files of version 2), and our own release build.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ -x target/peer/bin/python ] || python3 -m venv target/peer
target/peer/bin/pip install --quiet alkaid==0.8.2
[ -x target/peer07/bin/python ] || python3 -m venv target/peer07
target/peer07/bin/pip install --quiet alkaid==0.7.1
cargo build --release --locked --quiet
target/peer/bin/python -c 'import alkaid; print("alkaid", alkaid.__version__)'
