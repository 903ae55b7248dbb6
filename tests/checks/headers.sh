#!/bin/sh
# Every header compiles by itself. headers.sh COMPILER
set -eu
cd "$(dirname "$0")/../.."
git ls-files 'libcore/*.h' 'passes/*.h' 'backends/*.h' 'tools/*.h' | grep -vE '^libcore/(wire|onnx)/|^tests/' |
    xargs -P "$(nproc)" -I{} sh -c 'echo "#include \"{}\"" | "$0" -std=c++20 -I. -Wall -Wextra -fsyntax-only -x c++ - || { echo "{} does not compile by itself"; exit 255; }' "$1"
printf '#include "libcore/plugin/it_backend.h"\n#include "tools/api/infinitensor.h"\n' | ${CC:-cc} -std=c11 -pedantic -Wall -Wextra -Werror -I. -fsyntax-only -x c -
