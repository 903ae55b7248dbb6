#!/bin/sh
# Manual pages lint; that of each tool has every option of the tool, and no other. docs.sh FOLDER-OF-TOOLS
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
complain() { echo "$*"; bad=1; }
mandoc -Tlint -Wwarning man/*.[0-9] || bad=1
for tool in it-import it-opt it-run it-check it-bench; do
    page="man/$tool.1"
    [ -f "$page" ] || { complain "$page is missing"; continue; }
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
        grep -qxF ".Sh $section" "$page" || complain "$page has no section $section"
    done
    "$1/$tool" --help=json | grep -oE '"names": \[[^]]*\]' | grep -oE '"-[^"]*"' | tr -d '"' | LC_ALL=C sort -u >"$work/tool"
    # Options have an item each; what the synopsis mentions counts as well.
    grep -E '^\.It Fl ' "$page" | grep -oE 'Fl -?[A-Za-z][-a-z]*' | sed 's/^Fl /-/' | LC_ALL=C sort -u >"$work/page"
    grep -E '^\.Op Fl ' "$page" | grep -oE 'Fl -?[A-Za-z][-a-z]*' | sed 's/^Fl /-/' | LC_ALL=C sort -u >"$work/synopsis"
    [ -s "$work/tool" ] || complain "$tool --help=json names no option"
    missing=$(LC_ALL=C comm -23 "$work/tool" "$work/page")
    unknown=$(LC_ALL=C sort -u "$work/page" "$work/synopsis" | LC_ALL=C comm -13 "$work/tool" -)
    [ -z "$missing" ] || complain "$page does not have:" $missing
    [ -z "$unknown" ] || complain "$page has what $tool does not know:" $unknown
done
# Both READMEs have the same commands: in their blocks of code (comments apart), and in the table for those who come from InfiniTensor.
commands() { # README
    awk '/^```(sh|cmake)$/ { code = 1; next } /^```/ { code = 0 } code { sub(/ *#.*/, ""); print }' "$1"
    awk '/^\| `make`/ { table = 1 } !/^\|/ { table = 0 } table' "$1" | grep -oE '`[^`]*`'
}
commands README.md >"$work/english"
commands .github/README.zh.md >"$work/chinese"
[ "$(wc -l <"$work/english")" -gt 40 ] || complain "README.md has hardly any commands"
diff "$work/english" "$work/chinese" || complain ".github/README.zh.md has other commands than README.md"
exit $bad
