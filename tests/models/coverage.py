#!/usr/bin/env python3
"""No node of the eight models runs anywhere but on `cpu`, at -O0 and -O2: it-check coverage says yes.

    coverage.py [--bin DIR] [--cache DIR]
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import library  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR", help="folder of the tools (default: the PATH's)")
    parser.add_argument("--cache", type=pathlib.Path, default=library.DEFAULT_FOLDER, help="where models are built")
    options = parser.parse_args()
    program = str(options.bin / "it-check") if options.bin else "it-check"
    good = True
    for name in library.EIGHT:
        model = library.stored(name, options.cache)
        for level in ("0", "2"):
            arguments = [program, "coverage", "-d", "cpu", "-O", level, str(model.onnx)]
            ran = subprocess.run(arguments, capture_output=True, text=True, check=False)
            lines = ran.stdout.splitlines() or [ran.stderr.strip()]
            fine = ran.returncode == 0 and lines[-1].startswith("yes: ")
            good &= fine
            print(f"{name} -O{level}: " + (lines[-1] if fine else f"status {ran.returncode}\n" + "\n".join(lines)), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
