#!/bin/sh
# Every option of a tool is in its manual page, and the page lints. docs.sh FOLDER-OF-TOOLS
set -eu
cd "$(dirname "$0")/../.."
bad=0
for tool in import opt run check bench; do
    page="man/it-$tool.1"
    [ -f "$page" ] || { echo "$page is missing"; bad=1; continue; }
    mandoc -Tlint -Wwarning "$page" || bad=1
    for name in $("$1/it-$tool" --help=json | grep -oE '"--?[A-Za-z][-a-z]*"' | tr -d '"'); do
        grep -qE "^\.(It|Op|Xo)? ?.*Fl (Fl )?${name#-}|Fl -${name#--}|Fl ${name#-}" "$page" || { echo "$page does not have $name"; bad=1; }
    done
done
exit $bad
