"""What a case can be run by: the tools, or onnx's reference evaluator in their place (to test the runner itself)."""

from __future__ import annotations

import pathlib
import pickle
import shutil
import subprocess
from collections.abc import Container
from typing import Protocol

import compare
import npz_io
import onnx
import protos
from npz_io import Value
from onnx.reference import ReferenceEvaluator

MODEL, DATA, OUTPUTS = "model.onnx", "data", "out.npz"
TIMEOUT_SECONDS = 120


class ToolError(Exception):
    """A tool ended with a status other than the expected one. The message names it, and quotes what it said."""


class Backend(Protocol):
    """A stream is what import_model makes, as bytes: the model with its test data."""

    def import_model(self, folder: pathlib.Path) -> bytes:
        """Imports folder/model.onnx with the test data in folder/data."""

    def optimise(self, stream: bytes) -> bytes:
        """The stream after -O2."""

    def run(self, stream: bytes, device: str, folder: pathlib.Path) -> dict[str, Value]:
        """The outputs by name, computed from the stream's own inputs; folder is for files."""

    def check(self, stream: bytes, device: str) -> bool:
        """Whether the outputs are what the stream expects."""


class Toolchain:
    """The installed tools; the stream goes from one to the next through pipes."""

    def __init__(self, folder: pathlib.Path | None, run_options: list[str]) -> None:
        """folder holds the executables (None: they are on the PATH); run_options go to it-run and it-check too. Raises
        ToolError where there is no it-import."""
        if not shutil.which("it-import", path=folder):
            raise ToolError(f"no it-import in {folder or 'the folders of PATH'}")
        self._folder, self._run_options = folder, run_options

    def call(self, tool: str, *arguments: str, stream: bytes | None = None, allowed: Container[int] = (0,)
             ) -> subprocess.CompletedProcess[bytes]:
        """Runs a tool. Raises ToolError for a status that is not allowed, and for one that does not end."""
        program = str(self._folder / tool) if self._folder else tool
        try:
            done = subprocess.run([program, *arguments], input=stream, capture_output=True, timeout=TIMEOUT_SECONDS,
                                  check=False)
        except subprocess.TimeoutExpired as problem:
            raise ToolError(f"{tool} still ran after {TIMEOUT_SECONDS} s") from problem
        if done.returncode not in allowed:
            said = " | ".join(done.stderr.decode("utf-8", "replace").split("\n")).strip(" |")
            raise ToolError(f"{tool} ended with status {done.returncode}: {said}")
        return done

    def import_model(self, folder: pathlib.Path) -> bytes:
        return self.call("it-import", "--with-test-data", str(folder / DATA), str(folder / MODEL)).stdout

    def optimise(self, stream: bytes) -> bytes:
        return self.call("it-opt", "-O2", stream=stream).stdout

    def run(self, stream: bytes, device: str, folder: pathlib.Path) -> dict[str, Value]:
        target = folder / OUTPUTS
        self.call("it-run", "-d", device, "-o", str(target), *self._run_options, stream=stream)
        return npz_io.read_npz(target)

    def check(self, stream: bytes, device: str) -> bool:
        tolerances = [f"--rtol={compare.RTOL}", f"--atol={compare.ATOL}"]
        done = self.call("it-check", "outputs", "-d", device, *tolerances, *self._run_options, stream=stream,
                          allowed=(0, 1))
        return done.returncode == 0


class ReferenceBackend:
    """onnx's evaluator in the place of the tools; its stream is the folder's content, pickled."""

    def import_model(self, folder: pathlib.Path) -> bytes:
        data = {file.name: file.read_bytes() for file in (folder / DATA).glob("test_data_set_0/*.pb")}
        return pickle.dumps(((folder / MODEL).read_bytes(), data))

    def optimise(self, stream: bytes) -> bytes:
        return stream

    def _evaluate(self, stream: bytes) -> tuple[list[str], list[Value], list[Value]]:
        """Output names, computed outputs, expected outputs."""
        content, data = pickle.loads(stream)
        model = onnx.ModelProto.FromString(content)
        graph = model.graph
        inputs = {info.name: protos.parse(data[f"input_{i}.pb"], info.type)
                  for i, info in enumerate(graph.input) if f"input_{i}.pb" in data}
        try:
            computed = ReferenceEvaluator(model).run(None, inputs)
            outputs = [protos.normalise(value, info.type) for value, info in zip(computed, graph.output, strict=True)]
        except Exception as problem:  # its operators raise whatever NumPy does
            raise ToolError(f"the evaluator raised {type(problem).__name__}: {problem}") from problem
        expected = [protos.parse(data[f"output_{i}.pb"], info.type) for i, info in enumerate(graph.output)]
        return [info.name for info in graph.output], outputs, expected

    def run(self, stream: bytes, device: str, folder: pathlib.Path) -> dict[str, Value]:
        names, outputs, _ = self._evaluate(stream)
        npz_io.write_npz(folder / OUTPUTS, dict(zip(names, outputs)))
        return npz_io.read_npz(folder / OUTPUTS)

    def check(self, stream: bytes, device: str) -> bool:
        _, outputs, expected = self._evaluate(stream)
        return all(compare.difference(a, b) is None for a, b in zip(outputs, expected))
