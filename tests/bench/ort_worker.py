#!/usr/bin/env python3
"""ONNX Runtime at its best settings on one model, driven line by line.

    ort_worker.py MODEL.onnx INPUTS.npz THREADS

Loads, runs once, and prints {"first_output_ms": ...}: session creation and first run, imports not counted. Then, for
each line SECONDS on stdin, runs for so long and prints {"min_ms": ..., "median_ms": ..., "runs": ...}.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time

import numpy as np
import onnxruntime


def best_settings(threads: int, cores: list[int]) -> onnxruntime.SessionOptions:
    """All optimisations, spinning, and each of the pool's threads on a core of its own (its numbering starts at 1). The
    calling thread works too: it is pinned by the caller."""
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    settings.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    settings.intra_op_num_threads = threads
    settings.log_severity_level = 3
    settings.add_session_config_entry("session.intra_op.allow_spinning", "1")
    if threads > 1:
        pinned = ";".join(str(core + 1) for core in cores[1:threads])
        settings.add_session_config_entry("session.intra_op_thread_affinities", pinned)
    return settings


def timed_runs(session: onnxruntime.InferenceSession, inputs: dict[str, np.ndarray], seconds: float) -> list[float]:
    """Milliseconds of each run; at least three."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        session.run(None, inputs)
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def main() -> None:
    model, npz, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with np.load(npz) as arrays:
        inputs = dict(arrays)
    cores = sorted(os.sched_getaffinity(0))
    settings = best_settings(threads, cores)
    begin = time.perf_counter()
    session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    os.sched_setaffinity(0, {cores[0]})  # this thread alone: the pool's exist by now
    session.run(None, inputs)
    print(json.dumps({"first_output_ms": 1e3 * (time.perf_counter() - begin)}), flush=True)
    for line in sys.stdin:
        session.run(None, inputs)
        times = timed_runs(session, inputs, float(line))
        print(json.dumps({"min_ms": min(times), "median_ms": statistics.median(times), "runs": len(times)}), flush=True)


if __name__ == "__main__":
    main()
