#!/bin/sh
# isa_symbols.sh NM OBJECT...: objects compiled for one instruction set must hold nothing that the linker could take instead of a copy
# compiled for every processor: no weak symbol, no function visible outside.
nm=$1
shift
status=0 seen=0
for object; do
  case $object in
    *_avx512.cpp.o | *_avx2.cpp.o) ;;
    *) continue ;;
  esac
  seen=$((seen + 1))
  bad=$("$nm" -C "$object" | grep -E ' [WwVvuTi] ' | grep -v '__asan\|__ubsan')
  if [ -n "$bad" ]; then
    echo "$object:"
    echo "$bad"
    status=1
  fi
done
[ "$seen" -gt 0 ] || { echo "no object of an instruction set among the arguments"; exit 1; }
exit $status
