#!/bin/sh
# Each fuzzer for a while, under AddressSanitizer and UBSan, from seeds made of this repository's own files.
#
#   tests/fuzz/run.sh [SECONDS]
#
# SECONDS: for each (600), as many at once as there are processors. Builds with clang in build/fuzz, where corpora and findings stay.
# Status 1: a finding, whose input is build/fuzz/NAME-*.
set -eu
seconds=${1:-600}
root=$(cd "$(dirname "$0")/../.." && pwd)
build="$root/build/fuzz"
names='npy onnx stream text'

launcher=
if command -v ccache >/dev/null; then launcher='-DCMAKE_CXX_COMPILER_LAUNCHER=ccache'; fi
targets='it-import it-opt it-run'
for name in $names; do targets="$targets fuzz_$name"; done
# shellcheck disable=SC2086  # lists, split on purpose
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
    -DIT_FUZZ=ON -DIT_SANITIZE=address,undefined,fuzzer-no-link $launcher >/dev/null
# shellcheck disable=SC2086
cmake --build "$build" --target $targets

cd "$build"
for name in $names; do mkdir -p "corpus/$name"; done
model="$root/tools/quickstart/digits.onnx"
cp "$model" corpus/onnx/
for array in "$root"/tools/quickstart/*.npy; do
    # In front: 128 and the ONNX number of the element type, for an array; 0 for an archive.
    { printf '\201'; cat "$array"; } >"corpus/npy/$(basename "$array")"
done
./it-run "$model" -q --save-inputs inputs.npz
{ printf '\000'; cat inputs.npz; } >corpus/npy/inputs
for level in 0 2; do
    ./it-import --embed "$model" | ./it-opt --embed -O$level | { printf '\001'; cat; } >corpus/stream/digits_$level
    ./it-opt -O$level --emit=text --embed "$model" >corpus/text/digits_$level
done
{ printf '\001'; cat "$root/tests/wire/format_1.itg"; } >corpus/stream/format_1

status=0
# shellcheck disable=SC2086
printf '%s\n' $names | xargs -P "$(nproc)" -I NAME sh -c \
    'tests/fuzz_NAME -max_total_time='"$seconds"' -timeout=25 -rss_limit_mb=3000 -artifact_prefix=NAME- -print_final_stats=1 corpus/NAME >NAME.log 2>&1' || status=1
for name in $names; do
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$name.log") inputs in $seconds s; $(ls "corpus/$name" | wc -l) kept"
    sed -n '/ERROR: /,$p' "$name.log"
done
exit $status
