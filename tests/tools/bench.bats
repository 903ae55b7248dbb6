# it-bench: numbers that a program can read.
load common

@test "the report for people" {
    run --separate-stderr it-bench "$digits" --iterations 3 --warmup 1
    [ "$status" = 0 ]
    for word in device read load "first run" "runs         3" min median p50 p90 p99 arena; do has_line "$word"; done
}

@test "the report for programs" {
    it-bench "$digits" -q --iterations 5 --percentile 25,75 --json r.json >r.txt
    json 'd["schema"] == "it-bench/1" and d["device"] == "cpu" and d["runs"] == 5 and len(d["times_ms"]) == 5' <r.json
    json 'd["min_ms"] == min(d["times_ms"]) and d["max_ms"] == max(d["times_ms"]) and d["median_ms"] == sorted(d["times_ms"])[2]' <r.json
    json 'd["min_ms"] <= d["percentiles"]["p25"] <= d["percentiles"]["p75"] <= d["max_ms"] and abs(d["mean_ms"] - sum(d["times_ms"]) / 5) < 1e-6' <r.json
    json 'set(d["phases_ms"]) == {"read", "optimise", "load", "first_run"} and all(v >= 0 for v in d["phases_ms"].values()) and d["arena_bytes"] > 0' <r.json
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
