"""Types lines into an interactive shell and prints what the tools were then called with. terminal.py SHELL <LINES

A line is what is typed, with <TAB>, <LEFT 5> for those keys; Enter is at its end. For each comes a line of the arguments, joined by " | ". The shell runs in
this folder, completions loaded, with the tools of IT_BIN, which only complete.
"""

import os
import pathlib
import pty
import re
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(os.environ["IT_ROOT"])
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f"source '{ROOT}/completions/it.bash'"),
    "zsh": (["zsh", "-f", "-i"], 'fpath=($HOME $fpath); autoload -Uz compinit; compinit -u -D'),
    "fish": (["fish", "--no-config", "-i"], f"source '{ROOT}/completions/it.fish'"),
}
STAND_IN = """#!/bin/sh
case ${1-} in --complete=*) exec "$IT_BIN/${0##*/}" "$@" ;; esac
for word in "$@"; do printf '%s\\0' "$word"; done >"$SAID.new"
mv "$SAID.new" "$SAID"
"""


def wait_for(path, screen, what):
    """Its content, once it is there; what the shell shows meanwhile is read away."""
    end, shown = time.monotonic() + 30, b""
    while not path.exists():
        if time.monotonic() > end:
            sys.exit(f"terminal.py: {what}: nothing ran; the terminal shows {shown!r}")
        try:
            shown += os.read(screen, 65536)
        except BlockingIOError:
            time.sleep(0.01)
    content = path.read_text()
    path.unlink()
    return content


def keys(line):
    return re.sub(r"<LEFT (\d+)>", lambda m: "\x02" * int(m[1]), line.replace("<TAB>", "\t"))


def main():
    command, setup = START[sys.argv[1]]
    with tempfile.TemporaryDirectory() as name:
        home = pathlib.Path(name)
        said = home / "said"
        for tool in "it-import", "it-opt", "it-run", "it-check", "it-bench":
            (home / tool).write_text(STAND_IN)
            (home / tool).chmod(0o755)
        shutil.copy(ROOT / "completions/it.zsh", home / "_it")
        env = {**os.environ, "HOME": name, "SAID": str(said), "PATH": f"{name}:{os.environ['PATH']}", "TERM": "vt100", "LC_ALL": "C.UTF-8"}
        child, screen = pty.fork()
        if child == 0:
            os.execvpe(command[0], command, env)
        os.set_blocking(screen, False)
        os.write(screen, f"{setup}\rit-run ready\r".encode())
        wait_for(said, screen, "the start of the shell")
        for line in sys.stdin.read().splitlines():
            os.write(screen, f"{keys(line)}\r".encode())
            print(" | ".join(wait_for(said, screen, line).split("\0")[:-1]), flush=True)
        os.close(screen)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
