#!/bin/sh
# Takes the steps of Containerfile in a Debian folder, as root and without containers: .ci/debootstrap.sh FOLDER [COMMAND...]
#
# COMMAND stands for CMD. Steps are FROM debian:SUITE, ENV, WORKDIR, COPY . . (what git tracks) and RUN. IT_MIRROR: where packages come from, if not from where debootstrap takes them.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
shift
variables='HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8'
directory=/
[ "$(id -u)" -eq 0 ] || { echo 'debootstrap.sh: only root can do this' >&2; exit 5; }

# shellcheck disable=SC2086  # variables are words, split on purpose
inside() { env -i $variables chroot "$folder" sh -c "cd '$directory' && $1"; }

command=
while read -r step rest; do
    case $step in
        '#'* | '') ;;
        FROM) debootstrap --variant=minbase "${rest#debian:}" "$folder" ${IT_MIRROR:+"$IT_MIRROR"}
            cp /etc/resolv.conf "$folder/etc/"
            mount --bind /dev "$folder/dev" && mount -t proc proc "$folder/proc"
            trap 'umount "$folder/dev" "$folder/proc"' EXIT ;;
        ENV) variables="$variables $rest" ;;
        WORKDIR) directory=$rest; mkdir -p "$folder$directory" ;;
        COPY) git -C "$root" ls-files -z | tar -C "$root" --null -T - -c | tar -C "$folder$directory" -x ;;
        RUN) inside "$rest" ;;
        CMD) command=$(printf '%s' "$rest" | tr -d '[]",') ;;
        *) echo "debootstrap.sh: Containerfile has a step that is not known here: $step" >&2; exit 3 ;;
    esac
done <"$root/.ci/Containerfile"
inside "${*:-$command}"
