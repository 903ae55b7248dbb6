#!/bin/sh
# What is installed works from a prefix that was moved: the tools, and programs of others built against it with CMake, with pkg-config and through
# the Python module. Nothing in it holds the path of the build tree or of the first prefix. install.sh BUILD-FOLDER CXX PYTHON
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$1 cxx=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "install.sh: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mkdir "$work/elsewhere"
mv "$work/first" "$work/elsewhere/moved"
prefix=$work/elsewhere/moved
libraries=$(dirname "$(find "$prefix" -name libinfinitensor.so)")

for file in $(find "$prefix" -type f \( -name '*.cmake' -o -name '*.pc' -o -name '*.h' \)); do
    ! grep -nF -e "$work/first" -e "$build" -e "$root" "$file" || fail "$file holds a path of where it was made"
done
for file in "$prefix"/bin/it-* "$libraries"/libinfinitensor.so; do
    ! readelf -d "$file" | grep -E 'R(UN)?PATH' || fail "$file has a path to search that may not be there"
done
exported=$(nm -D --defined-only "$libraries/libinfinitensor.so" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort)
declared=$(grep -oE 'IT_PUBLIC [^;]*' "$prefix/include/infinitensor/infinitensor.h" | grep -oE 'it_[a-z_]+\(' | tr -d '(' | LC_ALL=C sort)
[ "$exported" = "$declared" ] || fail "the library exports other symbols than the header declares: $exported"

# The tools.
PATH=$prefix/bin:$PATH
"$root/tools/quickstart.sh" --installed >"$work/quickstart.txt" || fail "the quickstart failed: $(cat "$work/quickstart.txt")"
it-check env >"$work/env.txt" || fail "it-check env: $(cat "$work/env.txt")"

# A plugin by its name: found beside the executables, and beside the library.
mkdir -p "$prefix/lib/infinitensor/backends"
cc -shared -fPIC -I"$root" "$root/backends/null/null.c" -o "$prefix/lib/infinitensor/backends/libmine.so"
it-run --list-devices | grep -q '^mine: ' || fail "it-run --list-devices does not find the plugin: $(it-run --list-devices)"

# Programs of others. digit reads the 64 floats behind the header of an .npy file of 128 bytes.
recognises() { # PROGRAM
    while read -r file label; do
        found=$(tail -c +129 "$root/tools/quickstart/$file" | LD_LIBRARY_PATH=$2 "$1" "$root/tools/quickstart/digits.onnx") || fail "$1 failed on $file"
        [ "$found" = "$label" ] || fail "$1 takes $file for $found, expected $label"
    done <"$root/tools/quickstart/labels.txt"
}
lines=$(wc -l <"$here/digit.cpp")
[ "$lines" -lt 40 ] || fail "digit.cpp has $lines lines, expected fewer than 40"
cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS='-Wall -Wextra -Wpedantic -Werror' >"$work/cmake.log" &&
    cmake --build "$work/cmake" >>"$work/cmake.log" || fail "$(cat "$work/cmake.log")"
recognises "$work/cmake/digit" ''

PKG_CONFIG_PATH=$libraries/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # words, split on purpose
"$cxx" "$here/digit.cpp" -o "$work/digit" $(pkg-config --cflags --libs infinitensor)
recognises "$work/digit" "$(pkg-config --variable=libdir infinitensor)"

status=0
LD_LIBRARY_PATH=$libraries "$work/digit" /nosuch.onnx </dev/zero >"$work/out" 2>&1 || status=$?
[ $status = 3 ] || fail "a model that is not there: status $status, expected 3: $(cat "$work/out")"
grep -q '/nosuch.onnx' "$work/out" || fail "a model that is not there is not named: $(cat "$work/out")"

# The Python module, as a wheel around the installed library.
"$python" -c 'import numpy, onnx, onnxruntime, ml_dtypes, pip' 2>/dev/null || { echo "no Python with the packages of tests/requirements.txt: the module is not tried"; exit 0; }
"$python" -m pip wheel -q --disable-pip-version-check --no-index --no-deps -w "$work" --config-settings library="$libraries/libinfinitensor.so" "$root/tools/python"
"$python" -m pip install -q --disable-pip-version-check --no-index --no-deps --target "$work/site" "$work"/infinitensor-*.whl
ln -s "$prefix/lib/infinitensor" "$work/site/infinitensor/infinitensor"
IT_PLUGIN=mine PYTHONPATH=$work/site "$python" -W error "$root/tests/python/test_module.py"
