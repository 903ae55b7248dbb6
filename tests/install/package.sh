#!/bin/sh
# The .deb is made and holds what Debian asks of one: dependencies, places, forms. package.sh BUILD-FOLDER
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpack --config "$1/CPackConfig.cmake" -B "$work/cpack" -G DEB >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }
deb=$(echo "$work"/cpack/*.deb)
bad=0
complain() { echo "package.sh: $*"; bad=1; }

dpkg-deb -x "$deb" "$work/files"
dpkg-deb -e "$deb" "$work/control"
cd "$work/files"
for field in Package Version Architecture Maintainer Section Description Depends Installed-Size; do
    grep -q "^$field: ." "$work/control/control" || complain "the control file has no $field"
done
# What the files link to is in packages, or in something that those provide, that it depends on.
sed -n 's/^Depends: //p' "$work/control/control" | tr ',' '\n' | sed 's/^ *//; s/ .*//' >"$work/depends"
for needed in $(readelf -d usr/bin/it-* usr/lib/libinfinitensor.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | LC_ALL=C sort -u); do
    file=$(ldconfig -p | awk -v name="$needed" '$1 == name { print $NF; exit }')
    package=$(dpkg -S "$file" "$(readlink -f "$file")" 2>/dev/null | sed 's/:.*//' | head -n 1)
    dpkg-query -W -f '${Package}, ${Provides}' "$package" | tr ',' '\n' | sed 's/^ *//; s/ .*//' | grep -v '^$' |
        grep -qxFf - "$work/depends" || complain "Depends lacks $package, which has $needed: $(tr '\n' ' ' <"$work/depends")"
done
(cd "$work/control" && [ -f shlibs ] && [ -f md5sums ] && grep -q ldconfig triggers) || complain "control lacks shlibs, md5sums, or the ldconfig trigger"
md5sum --quiet -c "$work/control/md5sums" || complain "md5sums are wrong"

for tool in it-import it-opt it-run it-check it-bench; do
    for file in usr/bin/$tool usr/share/man/man1/$tool.1.gz usr/share/bash-completion/completions/$tool usr/share/fish/vendor_completions.d/$tool.fish; do
        [ -f "$file" ] || complain "$file is missing"
    done
done
for file in usr/share/zsh/vendor-completions/_it usr/share/doc/infinitensor/copyright usr/share/doc/infinitensor/changelog.gz usr/lib/pkgconfig/infinitensor.pc \
    usr/include/infinitensor/infinitensor.h usr/include/infinitensor/it_backend.h usr/lib/cmake/InfiniTensor/InfiniTensorConfig.cmake \
    usr/share/infinitensor/experiments.mk usr/share/infinitensor/experiments.py usr/share/infinitensor/schemas/it-bench.schema.json; do
    [ -f "$file" ] || complain "$file is missing"
done
grep -q common-licenses/Apache-2.0 usr/share/doc/infinitensor/copyright || complain "copyright does not name the licence"
[ -z "$(find . -type f -path '*/man/*' ! -name '*.gz')" ] || complain "a manual page is not compressed"
[ -z "$(find . -mindepth 1 -maxdepth 1 ! -name usr)" ] || complain "files outside of /usr"
wrong=$(find usr \( -type d ! -perm 755 \) -o \( -type f -perm /022 \) -o \( -type f -path 'usr/bin/*' ! -perm 755 \) -o \( -type f -path 'usr/share/*' -perm /111 \))
[ -z "$wrong" ] || complain "modes: $wrong"
dpkg-deb -c "$deb" | awk '$2 != "root/root" { bad = 1 } END { exit bad }' || complain "files that are not root's"
for file in usr/bin/it-* usr/lib/libinfinitensor.so.*.*; do
    ! readelf -S "$file" | grep -q '\.debug_info\|\.symtab' || complain "$file is not stripped"
    ! readelf -d "$file" | grep -E 'R(UN)?PATH' || complain "$file has a path to search"
done
exit $bad
