#!/usr/bin/env bash
# Makes what a release consists of, in target/dist/VERSION:
#
#   alir2hdl-VERSION-cp310-abi3-manylinux_2_17_x86_64.whl    Python 3.10 and later; brings the program too
#   alir2hdl-VERSION.tar.gz                                  the source distribution
#   alir2hdl-VERSION-x86_64-linux.tar.gz                     program for glibc 2.17 and later, man pages, completions, licences
#   alir2hdl_VERSION_amd64.deb                               the same as a Debian package
#   SHA256SUMS
#
# Needs Rust, Python 3.10 with venv, dpkg-deb; the rest (maturin, zig, auditwheel, in fixed versions) comes from PyPI into target/dist/tools.
# Same commit, same bytes: SOURCE_DATE_EPOCH is the commit's, paths of the machine are replaced, archives are sorted.
#
#   scripts/release.sh             everything; then each thing is installed and used
#   scripts/release.sh --no-sdist-build     without building the source distribution once (it compiles the crate anew, unoptimised)
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
dist=$root/target/dist/$version
tools=$root/target/dist/tools
target=x86_64-unknown-linux-gnu
glibc=2.17

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC CARGO_TERM_COLOR=never
export CARGO_TARGET_DIR=$root/target/dist/build
export RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$root=/alir2hdl"
umask 022

say() { printf '== %s\n' "$*" >&2; }
fail() { printf 'release.sh: %s\n' "$*" >&2; exit 1; }

# Sorted, without owners, with the commit's time.
pack() { # ARCHIVE FOLDER NAME
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$2" -cf - "$3" | gzip -n9 > "$1"
}

if [ ! -x "$tools/bin/maturin" ]; then
    say "tools from PyPI"
    python3 -m venv "$tools"
    "$tools/bin/pip" install -q --disable-pip-version-check maturin==1.16.0 ziglang==0.15.1 auditwheel==6.4.2 cargo-zigbuild==0.20.1
fi
export PATH=$tools/bin:$PATH
rm -rf "$dist"
mkdir -p "$dist"

say "licences of the dependencies"
python3 scripts/licences.py > "$dist/THIRD_PARTY_LICENCES.txt"

say "program"
cargo zigbuild --profile distribution --locked --target "$target.$glibc" --bin alir2hdl
program=$CARGO_TARGET_DIR/$target/distribution/alir2hdl

say "wheel"
maturin build --profile distribution --locked --zig --target "$target" --compatibility manylinux2014 --out "$dist"
wheel=$(echo "$dist"/alir2hdl-"$version"-*.whl)
auditwheel show "$wheel" > "$dist/auditwheel.txt"
grep -q 'manylinux_2_17_x86_64' "$dist/auditwheel.txt" || { cat "$dist/auditwheel.txt" >&2; fail "the wheel needs a newer glibc"; }
rm "$dist/auditwheel.txt"
[ "$(stat -c %s "$wheel")" -le 10485760 ] || fail "the wheel has more than 10 MB: $(stat -c %s "$wheel")"

say "source distribution"
maturin sdist --out "$dist" >&2

say "archive with man pages and completions"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
name=alir2hdl-$version-x86_64-linux
mkdir -p "$stage/$name"/{bin,share/man/man1,share/doc/alir2hdl,share/bash-completion/completions,share/zsh/vendor-completions,share/fish/vendor_completions.d}
install -m 755 "$program" "$stage/$name/bin/alir2hdl"
"$program" man --output "$stage/$name/share/man/man1" 
"$program" completions bash > "$stage/$name/share/bash-completion/completions/alir2hdl"
"$program" completions zsh > "$stage/$name/share/zsh/vendor-completions/_alir2hdl"
"$program" completions fish > "$stage/$name/share/fish/vendor_completions.d/alir2hdl.fish"
cp README.md CHANGELOG.md LICENSE CITATION.cff SECURITY.md "$dist/THIRD_PARTY_LICENCES.txt" "$stage/$name/share/doc/alir2hdl/"
pack "$dist/$name.tar.gz" "$stage" "$name"

say "Debian package"
deb=$stage/deb
mkdir -p "$deb/DEBIAN" "$deb/usr"
cp -r "$stage/$name"/{bin,share} "$deb/usr/"
mv "$deb/usr/share/doc/alir2hdl/LICENSE" "$deb/usr/share/doc/alir2hdl/copyright"
gzip -n9 "$deb"/usr/share/man/man1/*.1 "$deb/usr/share/doc/alir2hdl/CHANGELOG.md"
mv "$deb/usr/share/doc/alir2hdl/CHANGELOG.md.gz" "$deb/usr/share/doc/alir2hdl/changelog.gz"
cat > "$deb/DEBIAN/control" <<CONTROL
Package: alir2hdl
Version: $version
Architecture: amd64
Maintainer: The alir2hdl developers <alir2hdl@localhost>
Installed-Size: $(du -sk "$deb/usr" | cut -f1)
Depends: libc6 (>= $glibc)
Suggests: verilator, iverilog, ghdl, yosys
Section: electronics
Priority: optional
Description: fixed-point programs to proven, pipelined Verilog and VHDL
 Reads ALIR programs, networks, matrices and integer kernels, writes one
 self-contained file of pipelined Verilog or VHDL for each, and proves that
 the text computes the program for every input.
CONTROL
find "$deb" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$deb" "$dist/alir2hdl_${version}_amd64.deb" >&2

say "use of each"
try=$stage/try
mkdir "$try"
model=$root/examples/jet_mlp.json.gz
# Every Python from 3.10 on that is there, on the PATH or under pyenv; each version once.
declare -A tried
for python in python3 python3.{10,11,12,13,14} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
    minor=$("$python" -c 'import sys, venv; print(sys.version_info[1] if sys.version_info >= (3, 10) else "")' 2> /dev/null) || continue
    [ -n "$minor" ] && [ -z "${tried[$minor]:-}" ] || continue
    tried[$minor]=yes
    rm -rf "$try/venv"
    "$python" -m venv "$try/venv"
    "$try/venv/bin/pip" install -q --disable-pip-version-check "$wheel"
    (cd "$try" && PATH=$try/venv/bin:/usr/bin:/bin && alir2hdl --version && alir2hdl check -q "$model" && python - "$model" <<'PYTHON'
import sys
import alir2hdl
import numpy as np
from alir2hdl.alkaid import RTLModel  # noqa: F401
model = alir2hdl.Model.load(sys.argv[1])
assert model.predict(np.zeros((3, model.n_inputs))).shape == (3, model.n_outputs)
assert model.prove(model.emit("verilog", pipeline=2)).verdict == "proved"
print("wheel:", alir2hdl.__version__, "on", sys.version.split()[0])
PYTHON
    )
done
tar -xzf "$dist/$name.tar.gz" -C "$try"
"$try/$name/bin/alir2hdl" "$model" --verilog "$try/jet.v" --pipeline 3 -q
mkdir "$try/deb"
dpkg-deb -x "$dist/alir2hdl_${version}_amd64.deb" "$try/deb"
"$try/deb/usr/bin/alir2hdl" prove -q "$model" "$try/jet.v"
newest=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
[ "$(printf '%s\n' "GLIBC_$glibc" "$newest" | sort -V | tail -1)" = "GLIBC_$glibc" ] || fail "the program needs $newest"
if [ "${1:-}" != --no-sdist-build ]; then
    MATURIN_PEP517_ARGS="--profile dev" "$try/venv/bin/pip" wheel -q --no-deps -w "$try/again" "$dist/alir2hdl-$version.tar.gz"
fi

(cd "$dist" && sha256sum -- *.whl *.tar.gz *.deb > SHA256SUMS)
say "done: $dist"
ls -l "$dist" >&2
