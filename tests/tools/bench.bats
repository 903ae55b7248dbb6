# it-bench: numbers that a program can read.
load common

@test "the report for people" {
    run --separate-stderr it-bench "$digits" --iterations 3 --warmup 1
    [ "$status" = 0 ]
    for word in device read load "first run" "runs         3" min median p50 p90 p99 arena memory; do has_line "$word"; done
}

@test "the report for programs" {
    it-bench "$digits" -q --iterations 5 --percentile 25,75 --json r.json >r.txt
    json 'd["schema"] == "it-bench/1" and d["device"] == "cpu" and d["runs"] == 5 and len(d["times_ms"]) == 5' <r.json
    json 'd["min_ms"] == min(d["times_ms"]) and d["max_ms"] == max(d["times_ms"]) and d["median_ms"] == sorted(d["times_ms"])[2]' <r.json
    json 'd["min_ms"] <= d["percentiles"]["p25"] <= d["percentiles"]["p75"] <= d["max_ms"] and abs(d["mean_ms"] - sum(d["times_ms"]) / 5) < 1e-6' <r.json
    json 'set(d["phases_ms"]) == {"read", "optimise", "load", "first_run"} and all(v >= 0 for v in d["phases_ms"].values()) and d["peak_bytes"] > d["arena_bytes"] > 0' <r.json
    it-bench "$digits" -q --iterations 1 --json - | json 'd["runs"] == 1'
}

@test "--profile names nodes, kernels and where they come from" {
    it-bench "$digits" -q --iterations 3 --profile --json r.json >r.txt
    json 'all(row["ms"] >= 0 and row["device"] for row in d["profile"])' <r.json
    json 'any({"conv_0", "batchnormalization_1"} <= set(row["origins"]) for row in d["profile"])' <r.json
    json 'd["profile"] == sorted(d["profile"], key=lambda row: -row["ms"])' <r.json
    grep -q 'per node' r.txt
}

@test "--duration" {
    it-bench "$digits" -q --duration 0.2 --json - | json 'sum(d["times_ms"]) >= 150 or d["runs"] == 1'
}

@test "a stream from a pipe, a batch, threads" {
    it-import "$digits" | it-opt | it-bench -q --dim batch=4 --threads 1 --iterations 2 --json - | json 'd["runs"] == 2 and d["phases_ms"]["optimise"] < d["phases_ms"]["first_run"]'
}

@test "numbers that make no sense" {
    for option in --iterations=0 --iterations=x --duration=-1 --percentile=101 --percentile=a --threads=0 --warmup=-1; do
        run it-bench "$digits" -q $option
        [ "$status" = 2 ]
        [ "${#lines[@]}" = 1 ]
    done
}

@test "ab: which of two" {
    it-import "$digits" -o small.itg
    run --separate-stderr it-bench ab small.itg "$digits" -O2 --dim batch=1 --duration 0.5
    [ "$status" = 0 ]
    for word in "A       median " "B       median " "rounds  " " runs of small.itg" "95 % interval "; do has_line "$word"; done
    [ "$(grep -cE '^(no difference found|B is [0-9.]+ % (faster|slower)) \(' <<<"$output")" = 1 ]
    it-import "$digits" | it-bench ab -q - small.itg --duration 0.5 --json - | json 'd["schema"] == "it-bench-ab/1" and d["a"]["file"] == "-" and d["b"]["file"] == "small.itg"'
}

@test "ab: sixty-four images take longer than one, whichever comes first" {
    it-import "$digits" --dim batch=1 -o one.itg
    it-import "$digits" --dim batch=64 -o many.itg
    it-bench ab -q one.itg many.itg --duration 1 --json r.json >r.txt
    json 'd["verdict"] == "slower" and d["interval_percent"][0] > 100 and d["a"]["median_ms"] < d["b"]["median_ms"]' <r.json
    json 'd["interval_percent"][0] <= d["change_percent"] <= d["interval_percent"][1] and d["confidence"] == 0.95' <r.json
    json '6 <= len(d["rounds_percent"]) <= 20 and all(d[s]["runs"] >= 36 and d[s]["min_ms"] <= d[s]["median_ms"] for s in "ab")' <r.json
    grep -qE '^B is [0-9.]+ % slower \(95 % interval [0-9.]+ to [0-9.]+ %\)$' r.txt
    run it-bench ab -q one.itg many.itg --duration 1 --fail-if-slower 50
    [ "$status" = 1 ]
    run it-bench ab -q one.itg many.itg --duration 1 --fail-if-slower 1000000
    [ "$status" = 0 ]
    it-bench ab -q many.itg one.itg --duration 1 --fail-if-slower 0 --json - | json 'd["verdict"] == "faster" and d["interval_percent"][1] < -50'
}

@test "ab: what makes no sense" {
    for command in "ab $digits" "ab - -" "ab $digits $digits --profile" "ab $digits $digits --iterations 3" "ab $digits $digits --duration=x" \
        "ab $digits $digits --fail-if-slower=-1" "$digits $digits" "$digits --fail-if-slower 1"; do
        run it-bench -q $command
        [ "$status" = 2 ]
        [ "${#lines[@]}" = 1 ]
    done
    echo nothing >broken.itg
    run it-bench -q ab "$digits" broken.itg
    [ "$status" = 3 ]
    has_line "it-bench: broken.itg is no graph: "
    run it-bench -q ab "$digits" "$digits" -d null
    [ "$status" = 4 ]
}
