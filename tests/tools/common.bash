# What every file of tests of the tools begins with: `load common`. The environment gives IT_BIN (the folder of the tools), IT_PYTHON and IT_ROOT.
bats_require_minimum_version 1.5.0
PATH="$IT_BIN:$PATH"
digits="$IT_ROOT/tools/quickstart/digits.onnx"
seven="$IT_ROOT/tools/quickstart/digit_7.npy"

# Each file has the models of fixtures.py in $models; each test runs in an empty folder.
setup_file() {
    export models="$BATS_FILE_TMPDIR"
    if "$IT_PYTHON" -c 'import onnx' 2>/dev/null; then "$IT_PYTHON" "$IT_ROOT/tests/tools/fixtures.py" "$models"; fi
}
setup() { cd "$BATS_TEST_TMPDIR" || exit; }

# Builds tests/plugin against the installed header alone into $plugins: all of it, or one target.
build_plugins() {
    export plugins="$BATS_FILE_TMPDIR/plugins"
    cmake -DCMAKE_INSTALL_PREFIX="$BATS_FILE_TMPDIR/prefix" -DCMAKE_INSTALL_COMPONENT=header -P "$IT_BUILD/cmake_install.cmake" >/dev/null
    cmake -S "$IT_ROOT/tests/plugin" -B "$plugins" -DCMAKE_PREFIX_PATH="$BATS_FILE_TMPDIR/prefix" -DCMAKE_CXX_COMPILER="$IT_CXX" >/dev/null
    cmake --build "$plugins" --target "${1:-all}" >/dev/null
}

need_onnx() { [ -f "$models/large.onnx" ] || skip "Python has no onnx"; }
need_ort() { "$IT_PYTHON" -c 'import onnxruntime' 2>/dev/null || skip "Python has no onnxruntime"; }

# The line of the output that begins so. fails: there is none.
has_line() { grep -qF -- "$1" <<<"$output" || { echo "no line with: $1"; echo "$output"; return 1; }; }
has_no_line() { ! grep -qF -- "$1" <<<"$output" || { echo "a line with: $1"; echo "$output"; return 1; }; }
# How many lines of the output hold this.
count_lines() { grep -cF -- "$1" <<<"$output" || true; }
json() { "$IT_PYTHON" -c "import json, sys; d = json.load(sys.stdin); assert $1, d"; }
# Runs at a terminal; stdout and stderr come together.
at_terminal() { "$IT_PYTHON" -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null; }
