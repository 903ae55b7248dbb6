#!/bin/sh
# Lines per folder and the longest files; fails where a file that is no table grows beyond 400 lines.
set -eu
cd "$(dirname "$0")/../.."
files=$(git ls-files '*.cpp' '*.h' '*.c' '*.inl' '*.py' '*.sh' '*.proto' | grep -vE '^tests/ops/(cases/|[a-z_]*families\.py)')  # tables of cases
for folder in libcore passes backends tools tests schemas; do
    printf '%8d %s\n' "$(printf '%s\n' "$files" | grep "^$folder/" | xargs cat | wc -l)" "$folder"
done
long=$(printf '%s\n' "$files" | xargs wc -l | awk '$2 != "total" && $1 > 400')
[ -z "$long" ] || { printf 'longer than 400 lines:\n%s\n' "$long"; exit 1; }
