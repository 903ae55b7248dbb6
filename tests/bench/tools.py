"""Calling the installed tools, alone or as a pipe."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence


class ToolError(Exception):
    """A tool is not there, or ended with a status other than 0; the message is what it said. `statuses` has every
    stage's."""

    def __init__(self, message: str, statuses: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.statuses = tuple(statuses)


class Tools:
    """The five executables: in `folder`, or on the PATH where that is None."""

    def __init__(self, folder: pathlib.Path | None) -> None:
        """Raises ToolError where there is no it-import."""
        if not shutil.which("it-import", path=folder):
            raise ToolError(f"no it-import in {folder or 'the folders of PATH'}")
        self._folder = folder

    def pipe(self, *stages: Sequence[str | pathlib.Path]) -> str:
        """Runs `it-a ... | it-b ...`: each stage is a tool's name and its arguments. Returns what they said on stderr.
        Raises ToolError where one fails."""
        running: list[subprocess.Popen[bytes]] = []
        with tempfile.TemporaryFile() as said:
            source: int | None = subprocess.DEVNULL
            for i, (tool, *arguments) in enumerate(stages):
                program = str(self._folder / str(tool)) if self._folder else str(tool)
                target = subprocess.PIPE if i + 1 < len(stages) else subprocess.DEVNULL
                process = subprocess.Popen([program, *map(str, arguments)], stdin=source, stdout=target, stderr=said)
                if running and running[-1].stdout:
                    running[-1].stdout.close()
                source = process.stdout.fileno() if process.stdout else None
                running.append(process)
            statuses = [process.wait() for process in running]
            said.seek(0)
            message = said.read().decode("utf-8", "replace").strip()
            if any(statuses):
                names = " | ".join(str(stage[0]) for stage in stages)
                raise ToolError(f"{names} ended with {statuses}: {message}", statuses)
            return message
