#!/bin/sh
# Builds everything and passes all tests.
#
#   tests/run.sh [--sanitize] [--long] [CTEST-OPTION...]
#
# As root it installs the Debian packages it needs (tools/packages.txt); else it names the missing ones. Python packages go into build/venv.
# --sanitize: clang with AddressSanitizer and UBSan, in build/sanitize. --long: also the tests labelled long.
set -eu
exec </dev/null  # no test waits for a person, and none sees a closed standard input

root=$(cd "$(dirname "$0")/.." && pwd)
groups='build test'
build="$root/build/tests"
exclude='-LE long'
configure='-DIT_WERROR=ON'
jobs=${IT_JOBS:-$(nproc)}
while [ $# -gt 0 ]; do
    case $1 in
        --sanitize)
            groups='build test sanitize'
            build="$root/build/sanitize"
            configure='-DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 -DIT_SANITIZE=address,undefined -DIT_WERROR=ON'
            ;;
        --long) exclude= ;;
        -h | --help) sed -n 's/^# \{0,1\}//; 2,8p' "$0"; exit 0 ;;
        *) break ;;
    esac
    shift
done

missing=
for group in $groups; do
    for package in $(sed -n "s/^$group //p" "$root/tools/packages.txt"); do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing="$missing $package"
    done
done
if [ -n "$missing" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "run.sh: please install first:$missing" >&2; exit 1; }
    apt-get update -qq
    # shellcheck disable=SC2086  # a list, split on purpose
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null
fi

venv="$root/build/venv"
if ! cmp -s "$root/tests/requirements.txt" "$venv/requirements.txt"; then
    mkdir -p "$root/build"
    rm -rf "$venv"
    python3 -m venv "$venv"
    if "$venv/bin/pip" install -q -r "$root/tests/requirements.txt"; then
        cp "$root/tests/requirements.txt" "$venv/requirements.txt"
    else
        echo "run.sh: no network for pip: tests against Python's oracles are left out" >&2
    fi
fi

launcher=
if command -v ccache >/dev/null; then launcher='-DCMAKE_CXX_COMPILER_LAUNCHER=ccache'; fi
# shellcheck disable=SC2086
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython3_EXECUTABLE="$venv/bin/python" $configure $launcher
cmake --build "$build" -j "$jobs"
# shellcheck disable=SC2086
exec ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$jobs" $exclude "$@"
