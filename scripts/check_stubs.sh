#!/usr/bin/env bash
# Stubs of the Python package: mypy --strict and pyright on hdl_tests/typed, and stubtest against the installed package.
#
# usage: scripts/check_stubs.sh PYTHON    a Python with alir2hdl, numpy, typing_extensions, mypy and pyright
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$(command -v "$1")
bin=$(dirname "$python")
package=$("$python" -c 'import alir2hdl, pathlib; print(pathlib.Path(alir2hdl.__file__).parents[1])')
# mypy finds packages of the environment itself, and refuses them as a path.
case "$package" in *site-packages) ;; *) export MYPYPATH="$package" ;; esac
"$bin/mypy" --strict --python-executable "$python" hdl_tests/typed/session.py
config=$(mktemp -d)
trap 'rm -rf "$config"' EXIT
cp hdl_tests/typed/session.py "$config"
printf '{"extraPaths": ["%s"], "include": ["session.py"], "typeCheckingMode": "strict"}' "$package" > "$config/pyrightconfig.json"
"$bin/pyright" --pythonpath "$python" --project "$config/pyrightconfig.json"
# A checker that accepts everything would accept the calls above too.
found=$("$bin/mypy" --strict --python-executable "$python" hdl_tests/typed/wrong.py | grep -c ': error:' || true)
[ "$found" = 2 ] || { echo "mypy reports $found of 2 wrong calls in hdl_tests/typed/wrong.py"; exit 1; }
# hls4ml and alkaid come without stubs; the private modules of the back end patch them.
cat > "$config/mypy.ini" <<'EOF'
[mypy]
[mypy-hls4ml.*,alkaid.*]
ignore_missing_imports = True
[mypy-alir2hdl.hls4ml._adaptations]
ignore_errors = True
EOF
PYTHONPATH="$package" "$bin/stubtest" --mypy-config-file "$config/mypy.ini" alir2hdl
