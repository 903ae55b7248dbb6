# Every example of the manual pages and of --help runs as it stands, on the model of the quickstart.
load common

prepare() {
    cp "$digits" model.onnx; cp "$digits" other.onnx
    cp "$seven" x.npy
    mkdir -p include && ln -s "$IT_ROOT/libcore/plugin" include/infinitensor
    export CPATH="$PWD/include"  # as an installed header would be found
    sed 's,"libcore/plugin/it_backend.h",<infinitensor/it_backend.h>,' "$IT_ROOT/backends/null/null.c" >mine.c
    it-import model.onnx -o model.itg
    mkdir test_data_set_0
    "$IT_PYTHON" - <<'PYTHON'
import numpy, onnxruntime
from onnx import numpy_helper
x = numpy.load("x.npy")
y, = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"]).run(None, {"image": x})
for name, array in ("input_0", x), ("output_0", y):
    open(f"test_data_set_0/{name}.pb", "wb").write(numpy_helper.from_array(array).SerializeToString())
PYTHON
}

# The commands of a page: the literal displays of its examples.
examples() { sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$1" | sed -n "/^\.Bd/,/^\.Ed/{/^\./d;s/\\\\(aq/'/g;s/\\\\e/\\\\/g;p}"; }

run_examples() {
    need_ort
    prepare
    count=0
    while IFS= read -r command; do
        bash -o pipefail -c "$command" >said 2>&1 </dev/null || { echo "status $?: $command"; cat said; return 1; }
        count=$((count + 1))
    done < <(examples "$IT_ROOT/man/$1".[0-9])
    [ $count -ge 3 ]
}

@test "it-import(1)" { run_examples it-import; }
@test "it-opt(1)" { run_examples it-opt; }
@test "it-run(1)" { run_examples it-run; }
@test "it-check(1)" { run_examples it-check; }
@test "it-bench(1)" { run_examples it-bench; }
@test "it-graph(5)" { run_examples it-graph; }
@test "it-pipelines(7)" { run_examples it-pipelines; }
@test "it-backend(7)" { run_examples it-backend; }

# The display of a page from the line that begins so.
display() { sed -n "/^$2/,/^\.Ed/{/^\./d;s/\\\\-/-/g;p}" "$IT_ROOT/man/$1"; }

@test "the graph that it-graph(5) shows is read, and the two pipelines of it-pipelines(7) are one" {
    display it-graph.5 'graph "' >shown.txt
    run it-run -q shown.txt -i 'x=[[1,2,4],[3,-5,2]]' --print
    [ "$status" = 0 ]
    has_line "f32[2,2]"
    [[ "${output//[$'\n ']/}" == *"[[3,0],[4,0]]"* ]]
    display it-pipelines.7 '- fold' >shown.yaml
    list=$(display it-pipelines.7 'fold{')
    cp "$digits" m.onnx
    [ "$(it-opt -q --passes="$list" m.onnx | it-check graph --digest)" = "$(it-opt -q --pipeline shown.yaml m.onnx | it-check graph --digest)" ]
    [ "$(it-opt --print-pipeline --passes="$list" m.onnx -o a.itg 2>&1)" = "$(it-opt --print-pipeline --pipeline shown.yaml m.onnx -o b.itg 2>&1)" ]
}

@test "the pages have every option of the tools, and no other" {
    command -v mandoc || skip "no mandoc"
    sh "$IT_ROOT/tests/checks/docs.sh" "$IT_BIN"
}
