#!/bin/sh
# Builds and installs the tools, then lets them read a handwritten digit.
#
#   tools/quickstart.sh [--prefix DIR | --installed] [FILE]
#
# As root it installs the Debian packages it needs; else it names the missing ones. It builds in build/quickstart and
# installs into DIR (build/prefix); with --installed it builds nothing and takes the tools that are on the PATH. With FILE, the magika
# model (PyPI, 3 MB) also names that file's type.
# shellcheck disable=SC2086  # lists of packages are split on purpose
set -eu

packages_for_file='python3 python3-pip'
magika='magika==1.0.3'
digit=7

say() { printf '%s\n' "$*"; }
fail() { printf 'quickstart: %s\n' "$*" >&2; exit "${status:-1}"; }

# Installs those of the packages "$@" that are missing.
need_packages() {
    missing=
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    [ "$(id -u)" -eq 0 ] || fail "please install first:$missing"
    say "installing:$missing"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends $missing; } >"$build/packages.log" 2>&1 ||
        fail "apt-get could not install:$missing (see $build/packages.log)"
}

build_and_install() {
    say "building and installing into $prefix (ten minutes on two processors; log: $build/build.log)"
    { cmake -S "$root" -B "$build/quickstart" -G Ninja -DCMAKE_BUILD_TYPE=Release -DIT_TESTS=OFF \
            -DCMAKE_INSTALL_PREFIX="$prefix" &&
        cmake --build "$build/quickstart" &&
        cmake --install "$build/quickstart"; } >"$build/build.log" 2>&1 || {
        tail -n 30 "$build/build.log" >&2
        fail "the build failed; its log is $build/build.log"
    }
}

# Draws the 8x8 image of an .npy file (a 128-byte header, then 64 floats from 0 to 16); $2 stands beside it.
draw() {
    od -An -v -t f4 -w32 -j 128 "$1" | awk -v text="$2" '
        BEGIN { split("  |░░|▒▒|▓▓|██", shades, "|") }
        {
            line = ""
            for (i = 1; i <= NF; i++) line = line shades[1 + ($i > 2) + ($i > 6) + ($i > 10) + ($i > 14)]
            print "    " line (NR == 4 ? "    " text : "")
        }'
}

# Reads what it-run prints: the last ten numbers are the probabilities of 0 to 9. Says "7 (99.8 %)".
best_class() {
    awk '
        {
            gsub(/[^-+.0-9a-zA-Z_]/, " ")
            for (i = 1; i <= NF; i++)
                if ($i ~ /^[-+]?[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$/ || $i ~ /^[0-9]+[.]$/) number[count++] = $i + 0
        }
        END {
            if (count < 10) exit 1
            for (i = count - 10; i < count; i++) if (i == count - 10 || number[i] > number[best]) best = i
            printf "%d (%.1f %%)\n", best - (count - 10), 100 * number[best]
        }'
}

recognise_digit() {
    image="$here/quickstart/digit_$digit.npy"
    result="$build/digit.npz"
    label=$(awk -v name="digit_$digit.npy" '$1 == name { print $2 }' "$here/quickstart/labels.txt")
    say "it-import digits.onnx | it-opt -O2 | it-run -i image=@digit_$digit.npy -o digit.npz"
    it-import "$here/quickstart/digits.onnx" | it-opt -O2 | it-run -i "image=@$image" -o "$result"
    answer=$(it-import "$here/quickstart/digits.onnx" | it-opt -O2 | it-run -i "image=@$image" --print | best_class) ||
        fail "it-run printed no ten numbers"
    say ''
    draw "$image" "recognised: $answer, label: $label"
    say ''
    [ "${answer%% *}" = "$label" ] || fail "the digit was not recognised"
}

# Fetches the magika model into the cache, once. Fails where that cannot be done.
fetch_magika() (
    need_packages $packages_for_file
    [ ! -f "$model/model.onnx" ] || return 0
    mkdir -p "$cache"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --platform any -d "$cache" "$magika" \
        >"$build/magika.log" 2>&1 &&
        python3 -m zipfile -e "$cache"/magika-*.whl "$cache"
)

name_file_type() {
    cache="$build/quickstart/magika"
    model="$cache/magika/models/standard_v3_3"
    fetch_magika || { say "$1: type not named, for $magika could not be fetched"; return 0; }
    python3 "$here/quickstart/file_type.py" prepare "$model" "$1" "$build/bytes.npy"
    it-import "$model/model.onnx" | it-opt -O2 | it-run -i "bytes=@$build/bytes.npy" -o "$build/type.npz"
    say "$1: $(python3 "$here/quickstart/file_type.py" name "$model" "$build/type.npz")"
}

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
build="$root/build"
prefix="$build/prefix"
installed=
file=
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) [ $# -gt 1 ] || { status=2 fail "--prefix needs a folder"; }; prefix=$2; shift ;;
        --prefix=*) prefix=${1#--prefix=} ;;
        --installed) installed=yes ;;
        -h | --help) sed -n 's/^# \{0,1\}//; 2,8p' "$0"; exit 0 ;;
        -*) status=2 fail "unknown option $1" ;;
        *) [ -z "$file" ] || { status=2 fail "one FILE only"; }; file=$1 ;;
    esac
    shift
done
[ -z "$file" ] || [ -r "$file" ] || { status=3 fail "cannot read $file"; }
case $prefix in /*) ;; *) prefix="$PWD/$prefix" ;; esac

mkdir -p "$build"
if [ -z "$installed" ]; then
    need_packages $(sed -n 's/^build //p' "$here/packages.txt")
    build_and_install
    PATH="$prefix/bin:$PATH"
    export PATH
fi
recognise_digit
[ -z "$file" ] || name_file_type "$file"
