# What goes into a run, and what comes out of it.
load common

@test "npy, npz, literals and generators" {
    need_onnx
    m="$models/colons.onnx"
    run --separate-stderr it-run --print "$m" -i "a=@$models/pair.npz:second" -i 'a:0=[[1 0][0 1]]' -i 'a:0=b=const(2)'
    [ "$output" = "y f32[2,2] = [[0, 4], [6, 6]]" ]
    run --separate-stderr it-run --print "$models/lookup.onnx" -i "ids=@$models/ids.npy"
    [ "$output" = "y f32[1,3,4] = [[[4, 5, 6, 7], [36, 37, 38, 39], [0, 1, 2, 3]]]" ]
    run --separate-stderr it-run --print "$models/symbols.onnx" -i 'x:2x3=iota'
    [ "$output" = "y f32[2,3] = [[0, 2, 4], [6, 8, 10]]" ]
    run --separate-stderr it-run --print "$models/symbols.onnx" -i 'x:[1,2]=ones'
    [ "$output" = "y f32[1,2] = [[2, 2]]" ]
    run --separate-stderr it-run --print "$models/text.onnx" -i 's=["one" "two words"]'
    [ "$output" = 't str[2] = ["one", "two words"]' ]
}

@test "what -i forgets is said" {
    need_onnx
    run it-run "$digits" -i image
    [ "$output" = "it-run: -i image: expected NAME=VALUE" ]
    run it-run "$digits" -i "image=$seven"
    [ "$status" = 2 ]
    has_line "a file is written with an @: image=@$seven"
    run it-run "$models/colons.onnx" -i "a=@$models/pair.npz"
    [ "$status" = 2 ]
    has_line "has first, second: say which, as in @$models/pair.npz:first"
    it-run "$digits" -q --save-inputs x.npz -o y.npz
    it-run "$digits" -q -i image=@x.npz -o again.npz
    cmp y.npz again.npz
    it-opt "$digits" -o m.itg
    run it-import m.itg -o n.itg
    [ "$status" = 3 ]
    has_line "an .itg file is imported already"
}

@test "a key that the npz does not have" {
    need_onnx
    run it-run "$models/colons.onnx" -i "a=@$models/pair.npz:third"
    [ "$status" = 3 ]
    has_line "has no 'third'; it has first, second"
}

@test "names with colons and equals signs: the longest wins" {
    need_onnx
    run --separate-stderr it-run --print "$models/colons.onnx" -i a=5 -i a:0=3 -i a:0=b=10
    [ "$output" = "y f32[2,2] = [[20, 20], [20, 20]]" ]
    run --separate-stderr it-run --print "$models/colons.onnx" -i a:2x2:f32=5 -i a:0:2x2=3 -i a:0=b:2x2=10
    [ "$output" = "y f32[2,2] = [[20, 20], [20, 20]]" ]
}

@test "unknown names list the real ones" {
    need_onnx
    run it-run "$digits" -i imag=ones
    [ "$status" = 2 ]
    has_line "it has image; did you mean 'image'?"
    run it-run "$models/symbols.onnx" --dim row=3
    [ "$status" = 2 ]
    has_line "no input has a symbol 'row'; there are rows, columns"
    run it-run "$models/colons.onnx" --load-inputs "$models/pair.npz"
    [ "$status" = 2 ]
    has_line "it has a, a:0, a:0=b"
}

@test "--dim sizes what is made up, and says so" {
    need_onnx
    run --separate-stderr it-run "$models/symbols.onnx" --dim rows=3 --dim columns=5
    [[ "$output" = "y f32[3,5] "* ]]
    run it-run "$models/symbols.onnx" --dim rows=3,columns=7
    has_line "y f32[3,7] "
    run it-run "$models/symbols.onnx"
    has_line "with rows=1 columns=1"
    run it-import "$models/symbols.onnx" --dim rows=4 -o four.itg
    run it-check graph four.itg
    has_line "f32[4,columns]"
    run it-import "$models/symbols.onnx" --dim rowz=4 -o x.itg
    [ "$status" = 2 ]
    has_line "rows"
    run it-run "$models/symbols.onnx" --dim rows
    [ "$status" = 2 ]
    has_line "expected NAME=N"
}

@test "one stream runs several batches" {
    need_onnx
    need_ort
    it-import "$digits" | it-opt -o digits.itg
    for batch in 1 3 7; do
        it-run digits.itg --dim batch=$batch -q --save-inputs x.npz -o y.npz
        "$IT_PYTHON" "$IT_ROOT/tests/tools/oracle.py" "$digits" x.npz y.npz
    done
}

@test "ids that are made up stay inside their table" {
    need_onnx
    for seed in 0 1 2 3 4 5; do
        it-run "$models/lookup.onnx" -q --dim batch=4,seq=64 --seed $seed --save-inputs ids.npz -o y.npz
        "$IT_PYTHON" -c 'import numpy; ids = numpy.load("ids.npz")["ids"]; assert ids.shape == (4, 64) and ids.min() == 0 and ids.max() == 9, ids'
    done
    run it-run "$models/lookup.onnx"
    has_line "index below 10 (it selects from 'table')"
    run it-run "$models/lookup.onnx" -i 'ids:1x1=99' -q
    [ "$status" = 5 ]
}

@test "seeds" {
    for seed in 0 1; do it-run "$digits" -q --seed $seed --save-inputs $seed.npz -o y.npz; done
    it-run "$digits" -q --save-inputs standard.npz -o y.npz
    cmp 0.npz standard.npz
    run ! cmp -s 0.npz 1.npz
    run it-run "$digits" --seed x
    [ "$status" = 2 ]
}

@test "saved inputs give the same run" {
    it-run "$digits" --dim batch=2 --seed 5 -q --save-inputs x.npz -o first.npz
    it-run "$digits" --load-inputs x.npz -q -o second.npz
    cmp first.npz second.npz
}

@test "wrong shapes and types name both" {
    run it-run "$digits" -i 'image:1x1x7x7=ones'
    [ "$status" = 3 ]
    has_line "input 'image' is f32[1,1,7,7], the graph expects f32[batch,1,8,8]"
    run it-run "$digits" -i 'image:1x1x8=ones'
    [ "$status" = 2 ]
    has_line "has 3 axes"
    run it-run "$digits" -i 'image:1x1x8x8:i64=ones'
    [ "$status" = 3 ]
    run it-run "$digits" -i 'image=uniform(3)'
    [ "$status" = 2 ]
    has_line "expected two finite numbers"
}

@test "--dump gives intermediate values, equal to ONNX Runtime's" {
    need_onnx
    it-run -O0 "$digits" -i "image=@$seven" --dump='*' -o all.npz
    "$IT_PYTHON" - "$digits" "$seven" <<'PYTHON'
import sys
import numpy, onnx
from onnx.reference import ReferenceEvaluator
model = onnx.load(sys.argv[1])
names = [name for node in model.graph.node for name in node.output]
del model.graph.output[:]
model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
values = ReferenceEvaluator(model).run(None, {"image": numpy.load(sys.argv[2])})
ours = numpy.load("all.npz")
assert sorted(ours.files) == sorted(names), ours.files
for name, value in zip(names, values):
    numpy.testing.assert_allclose(ours[name], value, rtol=1e-4, atol=1e-5, err_msg=name)
PYTHON
    run it-run -O0 "$digits" -i "image=@$seven" --dump='relu*'
    [ "$(count_lines relu_)" = 3 ]
    run it-run "$digits" -i "image=@$seven" --dump='nosuch*'
    [ "$status" = 2 ]
    has_line "--dump 'nosuch*' fits no computed value and no node"
}

@test "--print shows the elements, -q nothing else" {
    need_onnx
    run it-run -q "$models/symbols.onnx" -i 'x=[[0.5 -inf][nan 3]]' --print
    [ "$output" = "y f32[2,2] = [[1, -inf], [nan, 6]]" ]
}

@test "--expect is 0 or 1" {
    it-run "$digits" -q -o y.npz
    run it-run "$digits" -q --expect y.npz
    [ "$status" = 0 ]
    [[ "$output" = "ok       probabilities: relative L2 0, "* ]]
    run it-run "$digits" -q --seed 9 --expect y.npz
    [ "$status" = 1 ]
    run it-run "$digits" -q --seed 9 --expect y.npz --atol 1
    [ "$status" = 0 ]
    run it-run "$digits" --expect y.npz --rtol nonsense
    [ "$status" = 2 ]
}

@test "a literal decides symbols for the other inputs, and --dim must agree with what is given" {
    need_onnx
    run --separate-stderr it-run --print "$models/two.onnx" -i 'x=[[1 2 3][4 5 6]]' -i y=ones
    [ "$output" = "z f32[2,3] = [[2, 3, 4], [5, 6, 7]]" ]
    run it-run "$models/two.onnx" -i 'x=[[1 2 3][4 5 6]]' -i y=ones --dim rows=4
    [ "$output" = "it-run: --dim rows=4, but the given 'x' has rows=2" ]
    [ "$status" = 2 ]
    run it-run "$models/two.onnx" --dim rows=4 --dim rows=5
    [ "$output" = "it-run: --dim: rows is to be 4 and 5 at once" ]
}

@test "sizes called ? need not be equal" {
    need_onnx
    run --separate-stderr it-run --print "$models/unsaid.onnx" -i x:1x3=iota
    [ "$output" = "y f32[1,3] = [[0, 2, 4]]" ]
}

@test "what never ends is no array" {
    need_onnx
    for name in /dev/zero /dev/urandom; do
        run timeout 10 it-run "$digits" -i image=@$name
        [ "$status" = 3 ]
        [ "$output" = "it-run: -i image: $name: npy: the file does not start with \\x93NUMPY" ]
    done
    ln -s /dev/zero zero.npz
    run timeout 10 it-run "$digits" --load-inputs zero.npz
    [ "$status" = 3 ]
    [ "$output" = "it-run: zero.npz: npz: not a zip file" ]
    run it-import "$digits" --batch -3 -o m.itg
    [ "$status" = 2 ]
    has_line "it-import: --batch -3: expected a size, 0 or more"
}
