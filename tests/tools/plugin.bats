# A backend that knows the installed header alone: built outside, loaded by path and by name, and each way to break the contract.
load common

setup_file() {
    export models="$BATS_FILE_TMPDIR"
    build_plugins
    if "$IT_PYTHON" -c 'import onnx' 2>/dev/null; then "$IT_PYTHON" "$IT_ROOT/tests/tools/fixtures.py" "$models"; fi
}

refused() { # FAULT STATUS SENTENCE
    run it-run -q -d "$plugins/libmini_$1.so" --fallback=cpu "$digits"
    [ "$status" = "$2" ]
    [ "${#lines[@]}" = 1 ]
    has_line "$3"
}

@test "with a fallback it equals cpu, and what fell back is said" {
    it-run -q "$digits" -i "image=@$seven" -o cpu.npz
    run it-run -d "$plugins/libmini.so" --fallback=cpu "$digits" -i "image=@$seven" --expect cpu.npz
    [ "$status" = 0 ]
    has_line "nodes go to a device that stands in, 6 copies between devices:"  # three Relus, each there and back
    has_line "x Conv"
    has_line "mini runs Add, Mul, Relu and MatMul"
}

@test "without one, the grouped report and status 4" {
    run it-run -q -d "$plugins/libmini.so" "$digits"
    [ "$status" = 4 ]
    has_line "x Conv"
}

@test "alone, where it has every operator; two, between which values pass by the host" {
    need_onnx
    "$IT_PYTHON" - <<'PYTHON'
import numpy as np, onnx
from onnx import helper
f32 = onnx.TensorProto.FLOAT
nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "p"], ["s"]), helper.make_node("Relu", ["s"], ["y"])]
w = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", f32, [2, 3])], [helper.make_tensor_value_info("y", f32, [2, 4])],
                          [onnx.numpy_helper.from_array(w, "w")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), "m.onnx")
x = np.array([[1, 2, 3], [-4, 5, 6]], dtype=np.float32)
np.save("x.npy", x)
np.savez("y.npz", y=np.maximum(2 * (x @ w), 0))
PYTHON
    for devices in "$plugins/libmini.so" "$plugins/libmini_adds.so,$plugins/libmini.so" "$plugins/libmini_adds.so,$plugins/libmini.so,cpu"; do
        run it-run -q -d "$devices" m.onnx -i x=@x.npy --expect y.npz
        [ "$status" = 0 ]
    done
    run it-run -q -d "$plugins/libmini_adds.so" m.onnx -i x=@x.npy
    [ "$status" = 4 ]
}

@test "an empty tensor has an address there" {
    printf '%s\n' 'graph "g" (' '  %x: f32[0,3]' ') -> (%z) {' '  %y = Add(%x, %x) : f32[0,3]' '  %z = Relu(%y) : f32[0,3]' '}' >empty.txt
    run it-run -q -d "$plugins/libmini.so" empty.txt -i x=zeros --print
    [ "$status" = 0 ]
    has_line "f32[0,3]"
}

@test "by name, from a folder" {
    mkdir backends
    cp "$plugins/libmini.so" backends/
    run it-run --backend-dir backends --list-devices
    [ "$status" = 0 ]
    has_line "mini: Add, Mul, Relu and MatMul in f32"
    run it-run -q --backend-dir backends -d mini:0 --fallback=cpu "$digits"
    [ "$status" = 0 ]
    run it-run -q --backend-dir backends -d mini:1 --fallback=cpu "$digits"
    [ "$status" = 2 ]
    run it-check env --backend-dir backends --require mini
    [ "$status" = 0 ]
    has_line "ok    device mini: Add, Mul, Relu and MatMul"
}

@test "a path without a slash" {
    cp "$plugins/libmini.so" .
    run it-run -q -d libmini.so "$digits"
    [ "$status" = 2 ]
    has_line "a path has a slash: ./libmini.so"
}

@test "another version of the interface" { refused wrong_abi 4 "speaks version 2 of the plugin interface, this program 1"; }
@test "a table that is too short" { refused short_table 4 "has a table of 64 bytes"; }
@test "no symbol" { refused no_symbol 4 "is not a backend: it exports no it_backend_query"; }
@test "another C++ library" { refused other_cxx_abi 4 "was built for the C++ library 'libstdc++ cxx11=0', this program for 'libstdc++ cxx11=1'"; }
@test "a function that is missing" { refused no_functions 4 "leaves a function NULL"; }

@test "a library cut short, a file that is none, no file" {
    head -c 5000 "$plugins/libmini.so" >cut.so
    head -c 80 "$plugins/libmini.so" >stump.so
    echo text >text.so
    fails() { # FILE STATUS SENTENCE
        run it-run -q -d "./$1" "$digits"
        [ "$status" = "$2" ]
        [ "${#lines[@]}" = 1 ]
        has_line "$3"
    }
    fails cut.so 4 "plugin ./cut.so is cut short: it has 5000 bytes"
    fails stump.so 4 "plugin ./stump.so is cut short"
    fails text.so 4 "cannot load plugin ./text.so: "
    fails absent.so 3 "./absent.so: "
}

@test "a candidate that is too short" { refused small_candidate 5 "offers a candidate that has struct_size 8, expected"; }
@test "no device of its kind" { refused no_driver 4 "finds no device of its kind here"; }

@test "one that ends the process is a sentence, also where others are listed" {
    refused aborts 5 "ended the process while it was opened"
    refused exits 5 "ended the process while it was opened"
    refused throws 5 "throws an exception while it is opened: no licence"
    mkdir backends
    cp "$plugins/libmini.so" "$plugins/libmini_aborts.so" "$plugins/libmini_exits.so" backends/
    run it-run --backend-dir backends --list-devices
    [ "$status" = 0 ]
    has_line "mini_aborts: plugin mini_aborts: it ends the process by signal 6 (ABRT)"
    has_line "mini_exits: plugin mini_exits: it ends the process with exit status 0"
    has_line "mini: Add, Mul"
    run it-check env --backend-dir backends
    [ "$status" = 1 ]
    has_line "fail  device mini_aborts: "
}
