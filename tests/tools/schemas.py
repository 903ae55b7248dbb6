"""What the tools print as JSON is what schemas/*.schema.json say, and these say enough. schemas.py --bin FOLDER"""

import argparse
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = HERE.parent.parent / "schemas"
# For each schema, commands that print it; in a folder with the models of fixtures.py, the model of the quickstart, and test data.
COMMANDS = {
    "it-bench": ["it-bench digits.onnx --iterations 3 --json -", "it-bench lookup.onnx --iterations 1 --profile --percentile 0,99.9 --json -"],
    "it-bench-ab": ["it-bench ab digits.onnx digits.onnx --duration 1 --json -"],
    "it-check-graph": [
        "it-check graph digits.onnx --json",
        "it-import digits.onnx | it-opt | it-check graph --digest --history --json",
        "it-import --with-test-data data digits.onnx | it-check graph --json",
        "it-check graph symbols.onnx --json",
        "it-check graph control.onnx --json",
        "it-check graph carried.onnx --json",
    ],
    "it-coverage": ["it-check coverage digits.onnx --json"],
    "it-diff": ["it-check diff digits.onnx digits.onnx --json", "it-import digits.onnx | it-opt | it-check diff digits.onnx - --json"],
    "it-env": ["it-check env --json"],
    "it-graph": ["it-opt -O0 --emit=json digits.onnx", "it-opt --emit=json odd.txt", "it-opt -O0 --emit=json later.onnx", "it-opt --emit=json control.onnx"],
    "it-help": [f"{tool} --help=json" for tool in ("it-import", "it-opt", "it-run", "it-check", "it-bench")],
    "it-outputs": [
        "it-import --with-test-data data digits.onnx | it-check outputs --json",
        "it-run -q -o o.npz odd.txt -i x=[0,1,2] && it-check outputs --load-inputs x.npz --expect o.npz odd.txt --json",
    ],
    "it-run": ["it-run digits.onnx --json -", "it-run odd.txt -i x=[0,1,2] --dump='*' -O0 --json -",
               "it-run -q -o o.npz odd.txt -i x=[0,1,2] && { it-run odd.txt -i x=[0,1,3] --dump='*' -O0 --expect o.npz --json - || [ $? = 1 ]; }", "it-run -d null --fallback=cpu digits.onnx --json -"],
}
# Infinite and NaN results, and bools.
ODD = 'graph "odd" (\n  %x: f32[3]\n) -> (%y, %z, %n) {\n  %y = Log(%x)\n  %z = Equal(%x, %x)\n  %d = Sub(%x, %x)\n  %n = Div(%d, %d)\n}\n'


def check(condition, what):
    if not condition:
        sys.exit(f"schemas: {what}")


def check_form(schema, where):
    """Every object names all that it has, and every property says what it is."""
    if isinstance(schema, list):
        for i, part in enumerate(schema):
            check_form(part, f"{where}/{i}")
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties", {})
    if properties and isinstance(properties, dict):
        check(schema.get("additionalProperties") is False, f"{where}: additionalProperties is not false")
        for name, part in properties.items():
            check(part.get("description"), f"{where}/{name} has no description")
    for key, part in schema.items():
        if key not in ("if", "then", "else"):  # conditions on what is described beside them
            check_form(part, f"{where}/{key}")


def check_refuses(validator, page, name):
    """It would notice a member too many, one too few, and a number in place of a text."""
    more = {**page, "surprise": 1}
    check(not validator.is_valid(more), f"{name} takes a member that it does not know")
    for key, value in page.items():
        if key in validator.schema["required"]:
            check(not validator.is_valid({k: v for k, v in page.items() if k != key}), f"{name} does without {key}")
        if isinstance(value, str):
            check(not validator.is_valid({**page, key: 1}), f"{name} takes a number for {key}")
    other = copy.deepcopy(page)
    other["schema"] = other["schema"].replace("/1", "/2")
    check(not validator.is_valid(other), f"{name} takes another version")


def prepare(folder):
    subprocess.run([sys.executable, HERE / "fixtures.py", folder], check=True)
    os.symlink(HERE.parent.parent / "tools/quickstart/digits.onnx", folder / "digits.onnx")
    (folder / "odd.txt").write_text(ODD)
    import numpy as np
    import onnxruntime
    from onnx import numpy_helper

    image = np.load(HERE.parent.parent / "tools/quickstart/digit_7.npy")
    (probabilities,) = onnxruntime.InferenceSession(folder / "digits.onnx", providers=["CPUExecutionProvider"]).run(None, {"image": image})
    (folder / "data").mkdir()
    for name, array in ("input_0", image), ("output_0", probabilities):
        (folder / f"data/{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    np.savez(folder / "x.npz", x=np.array([1, 1, 2], np.float32))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    env = {**os.environ, "PATH": f"{parser.parse_args().bin.resolve()}:{os.environ['PATH']}"}
    schemas = {path.name.removesuffix(".schema.json"): json.loads(path.read_text()) for path in SCHEMAS.glob("*.schema.json")}
    check(schemas.keys() <= COMMANDS.keys(), f"schemas without commands here: {sorted(schemas.keys() - COMMANDS.keys())}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        for name, schema in schemas.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            check_form(schema, name)
            validator = jsonschema.Draft202012Validator(schema)
            for command in COMMANDS[name]:
                done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=env, capture_output=True, text=True)
                check(done.returncode in (0, 1), f"{command}: status {done.returncode}\n{done.stderr}")
                page = json.loads(done.stdout, parse_constant=lambda word: sys.exit(f"schemas: {command} prints {word}, which is no JSON"))
                error = jsonschema.exceptions.best_match(validator.iter_errors(page))
                check(error is None, f"{command}: {error and error.json_path}: {error and error.message}")
                check_refuses(validator, page, name)
    print(f"{sum(len(COMMANDS[name]) for name in schemas)} commands print what {len(schemas)} schemas say")


if __name__ == "__main__":
    main()
