#!/bin/sh
# The .deb in a Debian 12 that has nothing else: installs with its dependencies, recognises a digit, and finds the machine in order.
# deb.sh BUILD-FOLDER; skipped (77) unless root with debootstrap. IT_MIRROR: where packages come from, if not from where debootstrap takes them.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
[ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null || { echo "deb.sh needs root and debootstrap"; exit 77; }
work=$(mktemp -d)
bare=$work/bare
trap 'rm -rf "$work"' EXIT
fail() { echo "deb.sh: $*" >&2; exit 1; }
in_bare() { env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$bare" "$@"; }

cpack --config "$build/CPackConfig.cmake" -B "$work/cpack" -G DEB >"$work/log" 2>&1 || fail "cpack: $(tail "$work/log")"
debootstrap --variant=minbase bookworm "$bare" ${IT_MIRROR:+"$IT_MIRROR"} >"$work/log" 2>&1 || fail "debootstrap: $(tail -n 5 "$work/log" "$bare/debootstrap/debootstrap.log")"
cp /etc/resolv.conf "$bare/etc/"
cp -r "$root/tools" "$bare/root/"
cp "$work"/cpack/*.deb "$bare/root/package.deb"
in_bare apt-get -qq -y --no-install-recommends install /root/package.deb >"$work/log" 2>&1 || fail "apt-get: $(tail "$work/log")"

in_bare /root/tools/quickstart.sh --installed
start=$(date +%s)
in_bare it-check env || fail "it-check env: status $?"
[ $(($(date +%s) - start)) -lt 5 ] || fail "it-check env took 5 s or more"
in_bare dpkg --verify infinitensor || fail "dpkg --verify finds changed files"
in_bare apt-get -qq -y remove infinitensor >"$work/log" 2>&1 || fail "remove: $(tail "$work/log")"
[ ! -e "$bare/usr/bin/it-run" ] || fail "it-run is still there after the package is removed"
