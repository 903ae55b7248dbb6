"""The Python module: what it reads, writes, tells and computes, against onnx, ONNX Runtime and NumPy. Finds the module on the path."""

import importlib.metadata
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import infinitensor as it

DIGITS = Path(__file__).parents[2] / "tools/quickstart/digits.onnx"
IMAGES = sorted(DIGITS.parent.glob("digit_*.npy"))


def model_of(nodes, inputs, outputs, opset=21, **more):
    values = [[helper.make_tensor_value_info(*value) for value in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *values, **more)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


class Import(unittest.TestCase):
    def test_a_file_bytes_and_a_proto_are_one_model(self):
        proto = onnx.load(DIGITS)
        texts = {it.import_onnx(m).text().split("sources {")[1] for m in (DIGITS, str(DIGITS), DIGITS.read_bytes(), proto)}
        self.assertEqual(len(texts), 1)
        self.assertEqual([i.name for i in it.load(DIGITS).inputs], [i.name for i in proto.graph.input])

    def test_inputs_outputs_nodes_and_constants_are_those_of_the_model(self):
        proto = onnx.load(DIGITS)
        model = it.load(DIGITS)
        self.assertEqual(model.inputs, (it.Value("image", "f32[batch,1,8,8]", "f32", ("batch", 1, 8, 8)),))
        self.assertEqual([v.shape for v in model.outputs], [("batch", 10)])
        self.assertEqual([n.op for n in model.nodes], [n.op_type for n in proto.graph.node])
        self.assertEqual([list(n.inputs) for n in model.nodes], [list(n.input) for n in proto.graph.node])
        self.assertRegex(repr(model), r"of 14 nodes: \(image: f32\[batch,1,8,8\]\) -> \(probabilities: f32\[batch,10\]")
        weights = {t.name: onnx.numpy_helper.to_array(t) for t in proto.graph.initializer}
        self.assertEqual(set(model.constants), set(weights))
        for name, array in weights.items():
            np.testing.assert_array_equal(model.constant(name), array)

    def test_options_mean_what_they_mean_to_the_tools(self):
        for options in ({"dim": {"batch": 4}}, {"batch": 4}, {"input_shapes": {"image": "4x1x8x8"}}):
            self.assertEqual(it.import_onnx(DIGITS, **options).inputs[0].shape, (4, 1, 8, 8), options)
        first, second = onnx.load(DIGITS).graph.node[:2]
        cut = it.import_onnx(DIGITS, from_=first.output[0], to=second.output[0])
        self.assertEqual([[n.op for n in cut.nodes], cut.inputs[0].name, cut.outputs[0].name], [[second.op_type], first.output[0], second.output[0]])

    def test_what_is_carried_is_a_warning_and_strict_is_an_error(self):
        model = model_of([helper.make_node("NoSuch", ["x"], ["y"], domain="example")], [("x", 1, [2])], [("y", 1, [2])])
        model.opset_import.append(helper.make_opsetid("example", 1))
        with self.assertWarnsRegex(UserWarning, "NoSuch"):
            it.import_onnx(model)
        with self.assertRaisesRegex(it.Error, "NoSuch") as caught:
            it.import_onnx(model, strict=True)
        self.assertEqual(caught.exception.status, 4)

    def test_errors_say_what_is_wrong(self):
        for call, words, status in (
            (lambda: it.load("/nosuch.onnx"), "/nosuch.onnx", 3),
            (lambda: it.read(DIGITS), "digits.onnx", 3),
            (lambda: it.import_onnx(b"no model"), "", 3),
            (lambda: it.import_onnx(DIGITS, bach=4), "no option 'bach'.*batch", 2),
            (lambda: it.import_onnx(DIGITS, batch=True), "expected 'batch=N'", 2),
            (lambda: it.import_onnx(DIGITS, dim={"batch": "many"}), "batch=many", 2),
            (lambda: it.load(DIGITS).optimize(passes="fuse-conv-bm"), "fuse-conv-bn", 2),
            (lambda: it.load(DIGITS).constant("image"), "no constant", 2),
            (lambda: it.load(DIGITS).write("/nosuch/m.itg"), "/nosuch/m.itg", 5),
            (lambda: it.parse("graph graph"), "line 1|1:", 3),
            (lambda: it.Session(it.load(DIGITS), "cpi"), "no device 'cpi'", 2),
        ):
            with self.subTest(words), self.assertRaisesRegex(it.Error, words) as caught:
                call()
            self.assertEqual(caught.exception.status, status)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_written_file_is_read_as_the_same_graph(self):
        model = it.load(DIGITS).optimize()
        model.write(self.folder / "m.itg")
        again = it.read(self.folder / "m.itg")
        self.assertEqual(again.nodes, model.nodes)
        for name in model.constants:
            np.testing.assert_array_equal(again.constant(name), model.constant(name))
        self.assertEqual([line.split('"')[1] for line in again.text().splitlines() if "before" in line or "after" in line], ["libinfinitensor"] * 2)

    def test_the_text_form_is_parsed_back(self):
        model = it.parse('graph "g" (%x: f32[n]) -> (%y) { %c = constant f32[] {0.5}  %y = Mul(%x, %c) }')
        self.assertEqual(it.parse(model.text()).text(), model.text())
        np.testing.assert_array_equal(it.Session(model).run({"x": [1, 2]})["y"], [0.5, 1])
        self.assertRegex(model.dot(), "digraph")

    def test_an_exported_model_is_valid_and_computes_the_same(self):
        image = np.load(IMAGES[0]).astype(np.float32).reshape(1, 1, 8, 8)
        it.load(DIGITS).optimize(1).export(self.folder / "m.onnx")
        onnx.checker.check_model(self.folder / "m.onnx", full_check=True)
        got, expected = (onnxruntime.InferenceSession(path).run(None, {"image": image})[0] for path in (self.folder / "m.onnx", DIGITS))
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-7)


class Run(unittest.TestCase):
    def test_digits_are_those_of_onnx_runtime_at_every_level_and_size(self):
        oracle = onnxruntime.InferenceSession(DIGITS)
        images = np.stack([np.load(path).astype(np.float32).reshape(1, 8, 8) for path in IMAGES])
        for level in range(4):
            session = it.Session(it.load(DIGITS).optimize(level), threads=1)
            for count in (1, len(images), 2):
                expected = oracle.run(None, {"image": images[:count]})[0]
                got = session.run({"image": images[:count]})
                self.assertEqual(list(got), ["probabilities"])
                np.testing.assert_allclose(got["probabilities"], expected, rtol=1e-3, atol=1e-6)

    def test_every_element_type_passes_unchanged(self):
        rng = np.random.default_rng(0)
        for number in set(range(1, TensorProto.INT2 + 1)) - {TensorProto.STRING}:
            dtype = helper.tensor_dtype_to_np_dtype(number)
            if dtype.name.startswith(("int", "uint", "bool")):
                bits = 1 if dtype.kind == "b" else int("".join(filter(str.isdigit, dtype.name)))
                x = rng.integers(0, 2 ** min(bits, 62), 15).astype(np.uint64).astype(dtype).reshape(3, 5)
            else:  # any bits, but those that no element has
                x = (rng.integers(0, 16 if number == TensorProto.FLOAT4E2M1 else 256, 15 * dtype.itemsize).astype(np.uint8)).view(dtype).reshape(3, 5)
            y = it.Session(it.import_onnx(model_of([helper.make_node("Identity", ["x"], ["y"])], [("x", number, [3, 5])], [("y", number, [3, 5])]))).run({"x": x})["y"]
            with self.subTest(dtype.name):
                self.assertEqual(y.dtype, dtype)
                np.testing.assert_array_equal(y.view(np.uint8), x.view(np.uint8))
                self.assertFalse(np.shares_memory(x, y))

    def test_packed_integers_are_computed_with(self):
        x = np.arange(-8, 7).astype(ml_dtypes.int4)
        cast = model_of([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT32)], [("x", TensorProto.INT4, [15])], [("y", TensorProto.INT32, [15])])
        np.testing.assert_array_equal(it.Session(it.import_onnx(cast)).run({"x": x})["y"], np.arange(-8, 7, dtype=np.int32))

    def test_strings_pass(self):
        model = model_of([helper.make_node("Identity", ["x"], ["y"])], [("x", TensorProto.STRING, [2, 2])], [("y", TensorProto.STRING, [2, 2])])
        x = np.array([["a", ""], ["héllo", "nul\0inside"]], dtype=object)
        session = it.Session(it.import_onnx(model))
        np.testing.assert_array_equal(session.run({"x": x})["y"], x)
        np.testing.assert_array_equal(session.run({"x": [["a", "b"], ["c", "d"]]})["y"], [["a", "b"], ["c", "d"]])

    def test_lists_numbers_views_and_empty_arrays_are_inputs(self):
        add = model_of([helper.make_node("Add", ["a", "b"], ["y"])], [("a", 1, ["n", "m"]), ("b", 1, [])], [("y", 1, ["n", "m"])])
        session = it.Session(it.import_onnx(add))
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        for a in (base[::2, ::-1], base.T, np.asfortranarray(base), base[:0], np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 6)):
            np.testing.assert_array_equal(session.run({"a": a, "b": 2})["y"], a + 2)
        np.testing.assert_array_equal(session.run({"b": np.float32(1), "a": [[1, 2]]})["y"], [[2, 3]])

    def test_outputs_stay_when_it_runs_again_and_can_be_written_to(self):
        double = model_of([helper.make_node("Add", ["x", "x"], ["y"])], [("x", 1, [3])], [("y", 1, [3])])
        session = it.Session(it.import_onnx(double))
        first = session.run({"x": np.full(3, 1, np.float32)})["y"]
        second = session({"x": np.full(3, 5, np.float32)})["y"]
        first += 1
        np.testing.assert_array_equal([first, second], [[3] * 3, [10] * 3])

    def test_wrong_inputs_are_refused_by_name(self):
        session = it.Session(it.load(DIGITS))
        image = np.zeros((1, 1, 8, 8), np.float32)
        for inputs, words, kind in (
            ({}, "'image' f32.* is not given", it.Error),
            ({"imag": image}, "no input 'imag'; it has image", it.Error),
            ({"image": image.astype(np.float64)}, "f64.*expects f32", it.Error),
            ({"image": image[0]}, r"f32\[1,8,8\].*expects", it.Error),
            ({"image": image.astype(">f4")}, "image", TypeError),
            ({"image": image.astype("datetime64[s]")}, "image", TypeError),
        ):
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                session.run(inputs)
        self.assertEqual(session.run({"image": image})["probabilities"].shape, (1, 10))

    def test_what_no_device_takes_is_unsupported_and_a_fallback_is_told(self):
        model = it.load(DIGITS)
        with self.assertRaisesRegex(it.Error, "Conv") as caught:
            it.Session(model, "null").run({"image": np.zeros((1, 1, 8, 8), np.float32)})
        self.assertEqual(caught.exception.status, 4)
        session = it.Session(model, ["null"], fallback="cpu")
        session.run({"image": np.zeros((1, 1, 8, 8), np.float32)})
        self.assertIn("Conv", session.notes)

    def test_what_is_carried_does_not_run(self):
        model = model_of([helper.make_node("TopK", ["x", "k"], ["v", "i"])], [("x", 1, [4]), ("k", 7, [1])], [("v", 1, [None]), ("i", 7, [None])])
        with self.assertWarns(UserWarning):
            module = it.import_onnx(model)
        with self.assertRaisesRegex(it.Error, "TopK") as caught:
            it.Session(module).run({"x": np.zeros(4, np.float32), "k": [2]})
        self.assertEqual(caught.exception.status, 4)

    def test_threads_share_a_session(self):
        double = model_of([helper.make_node("MatMul", ["x", "x"], ["y"])], [("x", 1, [64, 64])], [("y", 1, [64, 64])])
        session, wrong = it.Session(it.import_onnx(double)), []

        def work(k):
            x = np.eye(64, dtype=np.float32) * k
            for _ in range(50):
                if not np.array_equal(session.run({"x": x})["y"], np.eye(64) * k * k):
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    @unittest.skipUnless("IT_PLUGIN" in os.environ, "no plugin beside the library")
    def test_a_plugin_is_found_by_name_beside_the_library(self):
        with self.assertRaises(it.Error) as caught:
            it.Session(it.load(DIGITS), os.environ["IT_PLUGIN"]).run({"image": np.zeros((1, 1, 8, 8), np.float32)})
        self.assertEqual(caught.exception.status, 4)


class Installation(unittest.TestCase):
    def test_a_library_that_does_not_fit_or_is_not_there_is_one_sentence(self):
        package = Path(it.__file__).parent
        for change, words in (
            (lambda copy: (copy / "_library.py").write_text((package / "_library.py").read_text().replace("API_VERSION = 1", "API_VERSION = 2")), "has version 1 .* expects 2"),
            (lambda copy: (copy / "libinfinitensor.so").unlink(), "libinfinitensor.so: cannot open"),
            (lambda copy: (copy / "libinfinitensor.so").write_bytes(b"cut"), "libinfinitensor.so: file too short"),
        ):
            with self.subTest(words), tempfile.TemporaryDirectory() as folder:
                change(Path(shutil.copytree(package, Path(folder) / "infinitensor", ignore=shutil.ignore_patterns("__pycache__"))))
                run = subprocess.run([sys.executable, "-c", "import infinitensor"], cwd=folder, env={}, capture_output=True, text=True)
                self.assertRegex(run.stderr.splitlines()[-1], f"^ImportError: infinitensor: .*{words}")

    def test_it_is_typed_and_says_its_version(self):
        self.assertTrue(Path(it.__file__).with_name("py.typed").exists())
        self.assertEqual(it.__version__, importlib.metadata.version("infinitensor"))
        for name in it.__all__:
            thing = getattr(it, name)
            for function in [thing, *vars(thing).values()] if isinstance(thing, type) else [thing]:
                if inspect.isfunction(function) and not function.__name__.startswith("__"):
                    typed = {*inspect.signature(function).parameters} - {"self"} | {"return"}
                    self.assertLessEqual(typed, {*function.__annotations__}, function)


if __name__ == "__main__":
    unittest.main()
