#!/bin/sh
# An object compiled for one instruction set defines no weak symbol: the linker could prefer it and crash older processors. isa.sh BUILD-FOLDER
set -eu
found=0
for object in $(find "$1" -path '*cpu*' \( -name '*_avx512.cpp.o' -o -name '*_avx2.cpp.o' \)); do
    found=1
    weak=$(nm --defined-only "$object" | awk '$2 ~ /^[VWu]$/ && $3 !~ /^DW\.ref\./')
    [ -z "$weak" ] || { printf '%s defines weak symbols:\n%s\n' "$object" "$weak"; exit 1; }
done
[ $found = 1 ] || { echo "no object of an instruction set was found under $1"; exit 1; }
