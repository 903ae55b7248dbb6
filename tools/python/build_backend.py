"""Builds the wheel (PEP 517) with CMake and what Python has: nothing is downloaded.

    pip install ./tools/python                                              builds the library, then the wheel
    pip install ./tools/python --config-settings library=PATH   takes the libinfinitensor.so at that absolute path

The interpreter does not matter: the library has a C interface, so one wheel serves every Python 3.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import zipfile
from pathlib import Path

here = Path(__file__).resolve().parent
root = here.parent.parent


def _fact(pattern: str, path: Path) -> str:
    found = re.search(pattern, path.read_text(encoding="utf-8"))
    if not found:
        raise SystemExit(f"{path}: expected {pattern}")
    return found.group(1)


def _version() -> str:
    return _fact(r"project\(InfiniTensor VERSION ([0-9.]+)", root / "CMakeLists.txt")


def _metadata() -> str:
    project = here / "pyproject.toml"
    fields = [
        ("Metadata-Version", "2.1"),
        ("Name", "infinitensor"),
        ("Version", _version()),
        ("Summary", _fact(r'description = "([^"]*)"', project)),
        ("License", "Apache-2.0"),
        ("Requires-Python", _fact(r'requires-python = "([^"]*)"', project)),
        ("Requires-Dist", _fact(r'dependencies = \["([^"]*)"', project)),
        ("Provides-Extra", "narrow-types"),
        ("Requires-Dist", 'ml_dtypes; extra == "narrow-types"'),
        ("Description-Content-Type", "text/markdown"),
    ]
    head = "".join(f"{name}: {value}\n" for name, value in fields)
    return f"{head}\n{(here / 'README.md').read_text(encoding='utf-8')}"


def _library(settings: dict[str, str]) -> Path:
    if "library" in settings:
        library = Path(settings["library"])
        if not (library.is_absolute() and library.is_file()):  # pip builds in the folder of the sources, not where it was called
            raise SystemExit(f"library={library}: expected the absolute path of a libinfinitensor.so")
        return library
    build = root / "build" / "python"
    configure = ["cmake", "-S", root, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DIT_TESTS=OFF"]
    subprocess.run(configure, check=True)
    subprocess.run(["cmake", "--build", build, "--target", "it_api", "-j", str(os.cpu_count() or 1)], check=True)
    return (build / "libinfinitensor.so").resolve(strict=True)


def _tag() -> str:
    return f"py3-none-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def _info() -> tuple[str, dict[str, bytes]]:
    """The folder of facts about the wheel, and its files but the RECORD."""
    wheel = f"Wheel-Version: 1.0\nGenerator: infinitensor\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    return f"infinitensor-{_version()}.dist-info", {"METADATA": _metadata().encode(), "WHEEL": wheel.encode(), "LICENSE": (root / "LICENSE").read_bytes()}


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: dict[str, str] | None = None) -> str:
    info, files = _info()
    (Path(metadata_directory) / info).mkdir()
    for name, data in files.items():
        (Path(metadata_directory) / info / name).write_bytes(data)
    return info


def build_wheel(wheel_directory: str, config_settings: dict[str, str] | None = None, metadata_directory: str | None = None) -> str:
    info, facts = _info()
    files = {f"infinitensor/{p.name}": p.read_bytes() for p in sorted((here / "infinitensor").iterdir()) if p.suffix == ".py" or p.name == "py.typed"}
    files["infinitensor/libinfinitensor.so"] = _library(config_settings or {}).read_bytes()
    files |= {f"{info}/{name}": data for name, data in facts.items()}
    digests = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for name, data in files.items()}
    lines = [f"{name},sha256={digests[name]},{len(data)}\n" for name, data in files.items()]
    files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    wheel = f"infinitensor-{_version()}-{_tag()}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: the same sources give the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(entry, data)
    return wheel


def build_sdist(sdist_directory: str, config_settings: dict[str, str] | None = None) -> str:
    raise SystemExit("there is no source package: the library is built from the repository; use pip install or pip wheel on this folder")
