# What stands in the JSON of it-run and it-check is true; that it has the form of schemas/ is tested by schemas.py.
load common

@test "it-run: outputs as NumPy sees them, and digests that tell them apart" {
    need_onnx
    it-run -q "$digits" -i "image=@$seven" -o o.npz --json r.json
    it-run -q "$digits" -i "image=@$seven" --json - >again.json
    it-run -q "$digits" -i "image=@$IT_ROOT/tools/quickstart/digit_2.npy" --json other.json
    "$IT_PYTHON" - <<'PYTHON'
import json, numpy as np
report, again, other = (json.load(open(name)) for name in ("r.json", "again.json", "other.json"))
arrays = np.load("o.npz")
assert [o["name"] for o in report["outputs"]] == arrays.files, report
for output in report["outputs"]:
    a = arrays[output["name"]].astype(np.float64)
    assert output["shape"] == list(a.shape) and output["nan"] == 0, output
    assert (output["min"], output["max"]) == (a.min(), a.max()) and abs(output["mean"] - a.mean()) < 1e-12, output
assert report["device"] == "cpu" and report["fallbacks"] == [] and report["copies"] == 0, report
digest = lambda r: [o["digest"] for o in r["outputs"]]
assert digest(report) == digest(again) != digest(other)
PYTHON
}

@test "it-run: numbers that JSON does not have, and what went past the device" {
    printf 'graph "odd" (\n  %%x: f32[3]\n) -> (%%y, %%n) {\n  %%y = Log(%%x)\n  %%d = Sub(%%x, %%x)\n  %%n = Div(%%d, %%d)\n}\n' >odd.txt
    it-run -q odd.txt -i x=[0,1,-1] --json - | json '[(o["min"], o["max"], o["nan"]) for o in d["outputs"]] == [("-inf", 0, 1), (None, None, 3)]'
    it-run -q -d null --fallback=cpu odd.txt -i x=[1,1,1] --json - | json '{(f["op"], f["refused_by"]) for f in d["fallbacks"]} == {("Log", "null"), ("Sub", "null"), ("Div", "null")}'
    run it-run -q odd.txt -i x=[0,1,2] --json /nosuch/r.json
    [ "$status" = 5 ]
}

@test "it-check outputs: errors and verdict" {
    need_onnx
    it-run -q "$digits" -i "image=@$seven" -o o.npz
    "$IT_PYTHON" -c 'import numpy as np
a = dict(np.load("o.npz")); name = list(a)[0]; a[name] = a[name].copy(); a[name].flat[0] += 1; np.savez("p.npz", **a)'
    it-check outputs -q "$digits" -O2 -i "image=@$seven" --expect o.npz --json | json 'd["equal"] and d["tests"][0]["outputs"][0]["max_absolute"] == 0'
    run bash -c "it-check outputs -q '$digits' -O2 -i 'image=@$seven' --expect p.npz --json >r.json"
    [ "$status" = 1 ]
    json 'not d["equal"] and d["tests"][0]["outputs"][0]["mismatches"] == 1 and abs(d["tests"][0]["outputs"][0]["max_absolute"] - 1) < 1e-6 and d["tests"][0]["outputs"][0]["reason"]' <r.json
}

@test "it-check graph: as in its text" {
    need_onnx
    it-import "$digits" | it-opt >m.itg
    it-check graph --digest --history m.itg >text
    it-check graph --digest --history --json m.itg >page
    for part in structure content; do json "d['digests']['$part'] == '$(sed -n "s/^$part  *//p" text)'" <page; done
    json "[s['tool'] for s in d['history']] == ['it-import', 'it-opt'] and sum(o['count'] for o in d['operators']) == d['nodes'] > 0" <page
    grep -qF "$("$IT_PYTHON" -c 'import json; d = json.load(open("page")); print("%d nodes, %d constants" % (d["nodes"], d["constants"]))')" text
    run bash -c "it-check graph '$models/carried.onnx' --json >page"
    [ "$status" = 1 ]
    json '"IT-G004" in [f["code"] for f in d["findings"] if f["severity"] == "warning"] and d["digests"] is None and d["history"] is None' <page
}
