"""The cases of operators that make, pad, drop or resample elements, and of attention; make_cases.py writes them."""
import numpy as np

from families import FLOATS, HALF, NEAR, NUMERIC, family, tolerance
from make_cases import File, arr, by_reference, grid
from movement_families import BASIC, EVERY, NARROW, PACKED, I, few, ints, words


@family
def generate():
    f = File("generate", "ConstantOfShape, OneHot, Range, Trilu")
    for dtype in EVERY:
        f.case(f"ConstantOfShape_{dtype}", "ConstantOfShape", [ints(2)], {"value": few(dtype, 1)}, outputs=[np.repeat(few(dtype, 1), 2)])
    f.case("ConstantOfShape_default", "ConstantOfShape", [ints(2, 3)])
    f.case("ConstantOfShape_scalar", "ConstantOfShape", [arr([], I)])
    f.case("ConstantOfShape_empty", "ConstantOfShape", [ints(2, 0)])
    f.case("ConstantOfShape_opset9", "ConstantOfShape", [ints(2)], opset=9)
    f.error("ConstantOfShape_negative", "ConstantOfShape", [ints(2, -1)], "the shape holds -1")
    f.error("ConstantOfShape_strings", "ConstantOfShape", [ints(2)], "value is str, a number or bool is expected", {"value": words("a")})
    for dtype in ("f16", "f32", "f64", "i16", "i32", "i64"):
        f.case(f"Range_{dtype}", "Range", [arr(1, dtype), arr(9, dtype), arr(3, dtype)], outputs=[arr([1, 4, 7], dtype)])
        f.case(f"Range_down_{dtype}", "Range", [arr(9, dtype), arr(0, dtype), arr(-3, dtype)], outputs=[arr([9, 6, 3], dtype)])
    f.case("Range_none", "Range", [arr(3, I), arr(1, I), arr(1, I)], outputs=[arr([], I)])
    f.case("Range_fraction", "Range", [arr(0.0), arr(1.0), arr(0.25)], outputs=[arr([0, 0.25, 0.5, 0.75])])
    f.case("Range_large", "Range", [arr(2**62, I), arr(2**62 + 5, I), arr(2, I)], outputs=[ints(2**62, 2**62 + 2, 2**62 + 4)])
    f.error("Range_delta", "Range", [arr(0, I), arr(5, I), arr(0, I)], "delta is 0")
    f.error("Range_endless", "Range", [arr(0.0), arr(np.inf), arr(1.0)], "a range of inf elements")
    f.error("Range_vector", "Range", [ints(0, 1), arr(5, I), arr(1, I)], "start, limit and delta are scalars")
    for dtype in NUMERIC[:-1]:
        f.case(f"OneHot_{dtype}", "OneHot", [arr([1, 0, 2], dtype), arr(3, I), arr([0, 5], dtype)], outputs=[(np.eye(3)[[1, 0, 2]] * 5).astype(arr([0], dtype).dtype)])
    f.case("OneHot_axis", "OneHot", [arr([[1, 9], [2, 4]], I), arr([10], I), arr([1, 3])], {"axis": 1},
           outputs=[np.moveaxis(1 + 2 * np.eye(10, dtype=np.float32)[[[1, 9], [2, 4]]], -1, 1)])
    f.case("OneHot_negative", "OneHot", [ints(0, 7, 8), arr(10, I), arr([1, 3])], {"axis": -2})
    f.case("OneHot_from_end", "OneHot", [ints(0, -7, -8), arr(10, I), arr([1, 3])])
    f.case("OneHot_outside", "OneHot", [ints(3, -4), arr(3, I), arr([1, 3])], outputs=[arr([[1] * 3] * 2)])
    f.case("OneHot_real_depth", "OneHot", [arr([1.0, 2.0]), arr([3.0]), arr([0, 1], "i32")], outputs=[arr([[0, 1, 0], [0, 0, 1]], "i32")])
    f.case("OneHot_strings", "OneHot", [ints(1), arr(2, I), words("off", "on")], outputs=[words("off", "on", shape=(1, 2))])
    f.case("OneHot_u64_beyond", "OneHot", [np.array([2**64 - 1, 1], "u8"), arr(3, I), arr([0, 1])], outputs=[arr([[0, 0, 0], [0, 1, 0]])])
    f.case("OneHot_opset9", "OneHot", [ints(1, 0), arr(2, I), arr([0, 1])], opset=9)
    f.error("OneHot_depth_infinite", "OneHot", [ints(1), arr([np.inf]), arr([0, 1])], "depth is inf, a size is expected")
    f.error("OneHot_values", "OneHot", [ints(1), arr(3, I), arr([0, 1, 2])], "[off, on] is expected")
    f.error("OneHot_axis_wrong", "OneHot", [ints(1), arr(3, I), arr([0, 1])], "axis 2 is outside [-2, 1]", {"axis": 2})
    x = grid(1, (2, 3, 4), I)
    for dtype in BASIC:
        f.case(f"Trilu_{dtype}", "Trilu", [few(dtype).reshape(2, 3)])
    for upper in (0, 1):
        f.case(f"Trilu_{upper}", "Trilu", [x], {"upper": upper})
        for k in (-9, -1, 1, 2, 9):
            f.case(f"Trilu_{upper}_{k}", "Trilu", [x, arr(k, I)], {"upper": upper})
        far = np.iinfo(np.int64).max if upper else np.iinfo(np.int64).min
        f.case(f"Trilu_{upper}_far", "Trilu", [x, arr(far, I)], {"upper": upper}, outputs=[np.zeros_like(x)])
        f.case(f"Trilu_{upper}_empty", "Trilu", [grid(1, (3, 0, 5), I), arr(6, I)], {"upper": upper})
    f.case("Trilu_strings", "Trilu", [words("a", "b", "c", "d", shape=(2, 2))], outputs=[words("a", "b", "", "d", shape=(2, 2))], oracle="an empty string is a string's zero")
    f.error("Trilu_rank", "Trilu", [ints(1)], "at least two axes are expected")
    f.write()


@family
def depth_space():
    f = File("depth_space", "DepthToSpace and SpaceToDepth")
    x, y = grid(1, (1, 8, 2, 3)), grid(2, (2, 1, 4, 6))
    for dtype in BASIC:
        d = few(dtype, 8).reshape(1, 4, 1, 2)
        f.case(f"DepthToSpace_{dtype}", "DepthToSpace", [d], {"blocksize": 2})
        f.case(f"SpaceToDepth_{dtype}", "SpaceToDepth", [d.reshape(1, 1, 2, 4)], {"blocksize": 2})
    for mode in ("DCR", "CRD"):
        f.case(f"DepthToSpace_{mode}", "DepthToSpace", [x], {"blocksize": 2, "mode": mode})
    f.case("SpaceToDepth_2", "SpaceToDepth", [y], {"blocksize": 2})
    f.case("DepthToSpace_opset1", "DepthToSpace", [x], {"blocksize": 2}, opset=1, outputs=[x.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6)])
    f.case("SpaceToDepth_opset1", "SpaceToDepth", [y], {"blocksize": 2}, opset=1, outputs=[y.reshape(2, 1, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 4, 2, 3)])
    f.error("DepthToSpace_channels", "DepthToSpace", [x], "is 8, which 9 does not divide", {"blocksize": 3})
    f.error("DepthToSpace_rank", "DepthToSpace", [grid(1, (4, 2))], "[n,c,h,w] is expected", {"blocksize": 2})
    f.error("DepthToSpace_mode", "DepthToSpace", [x], "mode is 'RCD'", {"blocksize": 2, "mode": "RCD"})
    f.error("SpaceToDepth_size", "SpaceToDepth", [y], "does not divide", {"blocksize": 4})
    f.error("SpaceToDepth_block", "SpaceToDepth", [y], "blocksize is 0", {"blocksize": 0})
    f.write()


@family
def pad():
    f = File("pad", "Pad")
    x = grid(1, (3, 4))
    for dtype in BASIC:
        f.case(f"Pad_{dtype}", "Pad", [few(dtype, 3), ints(1, 2), few(dtype, 1)])
    for dtype in PACKED + NARROW:
        one = few(dtype, 1)
        f.case(f"Pad_{dtype}", "Pad", [few(dtype, 3), ints(1, 2), one.reshape(())], outputs=[np.concatenate([one, few(dtype, 3), one, one])])
    f.case("Pad_strings", "Pad", [words("a", "b"), ints(1, 1), words("x").reshape(())], outputs=[words("x", "a", "b", "x")])
    f.case("Pad_strings_default", "Pad", [words("a", "b"), ints(1, 0)], outputs=[words("", "a", "b")])
    f.case("Pad_strings_edge", "Pad", [words("a", "b"), ints(1, 2)], {"mode": "edge"}, outputs=[words("a", "a", "b", "b", "b")])
    for mode in ("constant", "edge", "reflect", "wrap"):
        f.case(f"Pad_{mode}", "Pad", [x, ints(1, 2, 2, 1)], {"mode": mode})
        f.case(f"Pad_{mode}_axes", "Pad", [x, ints(2, 1), None, ints(-1)], {"mode": mode}, outputs=[np.pad(x, [(0, 0), (2, 1)], mode=mode)])
        f.case(f"Pad_{mode}_cropped", "Pad", [x, ints(-1, 2, 0, -2)], {"mode": mode}, outputs=[np.pad(x[1:, :-2], [(0, 0), (2, 0)], mode=mode)])
        f.case(f"Pad_{mode}_cropped_before", "Pad", [x, ints(0, -1, 0, 4)], {"mode": mode}, outputs=[np.pad(x[:, 1:], [(0, 0), (0, 4)], mode=mode)])
        f.case(f"Pad_{mode}_empty_kept", "Pad", [grid(1, (0, 2)), ints(0, 1, 0, 0)], {"mode": mode}, outputs=[grid(1, (0, 3))])
    for mode in ("edge", "reflect", "wrap"):
        f.error(f"Pad_{mode}_empty", "Pad", [grid(1, (0, 2)), ints(1, 0, 1, 0)], "has no element to copy", {"mode": mode})
        f.error(f"Pad_{mode}_all_cropped", "Pad", [x, ints(-3, 0, 1, 0)], "has no element to copy", {"mode": mode})
    f.case("Pad_axes_i32", "Pad", [x, ints(2, 0, 1, 1), arr(9.0), arr([1, 0], "i32")], outputs=[np.pad(x, [(0, 1), (2, 1)], constant_values=9)])
    f.case("Pad_negative", "Pad", [x, ints(-1, 1, 0, -2), arr(7.0)], outputs=[np.pad(x[1:, :2], [(0, 0), (1, 0)], constant_values=7)])
    f.case("Pad_none", "Pad", [x, ints(0, 0, 0, 0)])
    f.case("Pad_empty", "Pad", [grid(1, (0, 2)), ints(1, 0, 1, 0), arr(3.0)], outputs=[np.full((2, 2), 3, np.float32)])
    f.case("Pad_opset1", "Pad", [x], {"paddings": [1, 0, 0, 2], "value": 1.5}, opset=1, outputs=[np.pad(x, [(1, 0), (0, 2)], constant_values=1.5)])
    f.case("Pad_opset2", "Pad", [x], {"pads": [0, 1, 1, 0]}, opset=2, outputs=[np.pad(x, [(0, 1), (1, 0)])])
    f.case("Pad_opset2_reflect", "Pad", [x], {"pads": [0, 1, 1, 0], "mode": "reflect"}, opset=2, outputs=[np.pad(x, [(0, 1), (1, 0)], mode="reflect")])
    f.case("Pad_opset2_f64", "Pad", [x.astype("f8")], {"pads": [0, 1, 0, 0], "value": 2.0}, opset=2, outputs=[np.pad(x.astype("f8"), [(0, 0), (1, 0)], constant_values=2)])
    f.case("Pad_opset11", "Pad", [x, ints(0, 1, 1, 0), arr(2.0)], opset=11)
    f.error("Pad_count", "Pad", [x, ints(1, 1)], "pads has 2 entries, 4 are expected for 2 axes")
    f.error("Pad_mode", "Pad", [x, ints(0, 0, 0, 0)], "mode is 'zero'", {"mode": "zero"})
    f.error("Pad_too_negative", "Pad", [x, ints(-2, 0, -2, 0)], "axis 0 of [3,4] would have -1 elements")
    f.error("Pad_axis", "Pad", [x, ints(1, 1), None, ints(2)], "axis 2 is outside [-2, 1]")
    f.write()


@family
def dropout():
    f = File("dropout", "Dropout")
    for dtype in FLOATS + NARROW[:4]:
        f.case(f"Dropout_{dtype}", "Dropout", [few(dtype)], outputs=[few(dtype), np.ones(6, bool)])
    x = grid(1, (3, 4))
    true = arr(1, "bool")
    f.case("Dropout_not_training", "Dropout", [x, arr(0.5), arr(0, "bool")], outputs=[x, np.ones((3, 4), bool)])
    for seed in (0, 5, 12345):
        f.case(f"Dropout_training_{seed}", "Dropout", [x, arr(0.25), true], {"seed": seed}, wanted=2, near=NEAR)
    f.case("Dropout_training_f64", "Dropout", [x.astype("f8"), arr(0.75, "f64"), true], {"seed": 3}, wanted=2, near=NEAR)
    f.case("Dropout_training_default_ratio", "Dropout", [x, None, true], {"seed": 1}, near=NEAR,
           outputs=(lambda keep: [x * keep * 2, keep])(np.random.RandomState(1).uniform(0, 1, x.shape) >= 0.5))
    f.case("Dropout_training_zero", "Dropout", [x, arr(0.0), true], outputs=[x, np.ones((3, 4), bool)])
    f.case("Dropout_opset7", "Dropout", [x], {"ratio": 0.5}, opset=7, outputs=[x])
    f.case("Dropout_opset7_mask", "Dropout", [x], opset=7, outputs=[x, np.ones((3, 4), np.float32)])
    f.case("Dropout_opset10_mask", "Dropout", [x], {"ratio": 0.25}, opset=10, outputs=[x, np.ones((3, 4), bool)])
    f.case("Dropout_opset6_test", "Dropout", [x], {"is_test": 1, "ratio": 0.25}, opset=6, outputs=[x])
    f.error("Dropout_ratio", "Dropout", [x, arr(1.0), true], "ratio is 1, expected a number in [0, 1)")
    f.error("Dropout_vector", "Dropout", [x, arr([0.5, 0.5])], "input 'ratio' is f32[2], expected a single number")
    f.write()


@family
def resize():
    f = File("resize", "Resize and Upsample")
    x, row = grid(1, (1, 1, 3, 4)), grid(2, (1, 1, 2, 6))

    def case(name, data, scales=None, sizes=None, roi=None, near=(1e-6, 1e-5), **attributes):
        inputs = [data, roi, None if scales is None else arr(scales), None if sizes is None else ints(*sizes)]
        while inputs[-1] is None:
            inputs.pop()
        f.case(name, "Resize", inputs, attributes, near=near)

    for mode in ("nearest", "linear", "cubic"):
        for transformation in ("half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric", "pytorch_half_pixel"):
            # a single output column of pytorch_half_pixel stands at 0 in the text and at -0.5 in the reference evaluator: not here
            case(f"Resize_{mode}_{transformation}_up", x, [1, 1, 2, 1.5], mode=mode, coordinate_transformation_mode=transformation)
            case(f"Resize_{mode}_{transformation}_down", row, [1, 1, 1, 0.6], mode=mode, coordinate_transformation_mode=transformation)
            case(f"Resize_{mode}_{transformation}_sizes", x, sizes=[1, 1, 5, 3], mode=mode, coordinate_transformation_mode=transformation)
    for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        for transformation in ("half_pixel", "asymmetric", "align_corners"):
            case(f"Resize_nearest_{rounding}_{transformation}", row, sizes=[1, 1, 3, 9], mode="nearest", nearest_mode=rounding, coordinate_transformation_mode=transformation)
    for mode in ("linear", "cubic"):
        for scale in (0.4, 0.6, 1.7):
            case(f"Resize_{mode}_antialias_{scale}", row, [1, 1, 1, scale], mode=mode, antialias=1)
            case(f"Resize_{mode}_outside_{scale}", row, [1, 1, 1, scale], mode=mode, exclude_outside=1)
            case(f"Resize_{mode}_both_{scale}", row, [1, 1, 1, scale], mode=mode, antialias=1, exclude_outside=1)
        case(f"Resize_{mode}_antialias_sizes", grid(3, (1, 1, 6, 7)), sizes=[1, 1, 3, 2], mode=mode, antialias=1)
    case("Resize_cubic_a", x, [1, 1, 2, 2], mode="cubic", cubic_coeff_a=-0.5)
    roi = arr([0, 0, 0.2, 0.3, 1, 1, 0.8, 1.4])
    for mode in ("nearest", "linear", "cubic"):
        case(f"Resize_{mode}_crop", x, sizes=[1, 1, 3, 5], roi=roi, mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=10.0)
    case("Resize_crop_axes", x, sizes=[3, 3], roi=arr([0.4, 0.6, 0.6, 0.8]), axes=[2, 3], mode="linear", coordinate_transformation_mode="tf_crop_and_resize")
    case("Resize_crop_axes_swapped", x, sizes=[3, 2], roi=arr([0.6, 0.4, 0.8, 0.6]), axes=[3, 2], mode="linear", coordinate_transformation_mode="tf_crop_and_resize")
    case("Resize_axes", x, [2.0, 0.5], axes=[3, 2], mode="linear")
    f.case("Resize_axes_negative", "Resize", [x, None, arr([2.0, 0.5])], {"axes": [-1, 2], "mode": "linear"}, near=(1e-6, 1e-5),
           outputs=by_reference("Resize", {"axes": [3, 2], "mode": "linear"}, [x, None, arr([2.0, 0.5])], 1, 19))
    for policy in ("stretch", "not_larger", "not_smaller"):
        case(f"Resize_{policy}", x, sizes=[7, 8], axes=[2, 3], keep_aspect_ratio_policy=policy, mode="nearest")
        case(f"Resize_{policy}_linear", x, sizes=[2, 5], axes=[2, 3], keep_aspect_ratio_policy=policy, mode="linear")
    case("Resize_1d", grid(4, (5,)), [1.5], mode="linear")
    case("Resize_3d", grid(5, (1, 2, 2, 3)), sizes=[1, 2, 3, 4], axes=[0, 1, 2, 3], mode="cubic")
    case("Resize_channels", grid(5, (2, 3)), [2.0, 1.0], mode="linear")
    for dtype in BASIC:
        f.case(f"Resize_{dtype}", "Resize", [few(dtype), None, arr([0.5])], {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, outputs=[few(dtype)[::2]])
    for dtype in ("f16", "f64", "bf16", "i32", "u8", "i8", "i64"):
        f.case(f"Resize_linear_{dtype}", "Resize", [grid(6, (5,), dtype), None, arr([2.0])], {"mode": "linear"}, near=tolerance(dtype) if dtype in FLOATS else None)
    f.case("Resize_u8_overshoot", "Resize", [arr([0, 255, 255, 0, 0], "u8"), None, arr([3.0])], {"mode": "cubic"})
    f.case("Resize_strings", "Resize", [words("a", "b"), None, arr([2.0])], outputs=[words("a", "a", "b", "b")])
    f.case("Resize_empty", "Resize", [grid(1, (0, 2)), None, arr([2.0, 2.0])], outputs=[np.zeros((0, 4), np.float32)])
    f.case("Resize_tenths", "Resize", [grid(7, (10,)), None, arr([0.7])], {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
           outputs=[grid(7, (10,))[[0, 1, 2, 4, 5, 7, 8]]], oracle="7 elements of 10, at i / 0.7")
    empty = np.zeros((0,), np.float32)
    f.case("Resize_opset10", "Resize", [x, arr([1, 1, 2, 2])], {"mode": "nearest"}, opset=10, outputs=[x.repeat(2, 2).repeat(2, 3)])
    f.case("Resize_opset10_down", "Resize", [arr([[[[1, 2, 3, 4], [5, 6, 7, 8]]]]), arr([1, 1, 0.6, 0.6])], opset=10, outputs=[arr([[[[1, 3]]]])],
           oracle="the example in the text of Resize 10")
    f.case("Resize_opset11_sizes", "Resize", [x, empty, empty, ints(1, 1, 6, 4)], {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, opset=11, outputs=[x.repeat(2, 2)])
    f.case("Resize_opset11_tf", "Resize", [row, empty, arr([1, 1, 1, 0.5])], {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"}, opset=11,
           outputs=[row[..., 1::2]], oracle="(x + 0.5) / 0.5 rounded down")
    f.case("Resize_opset13", "Resize", [x, None, arr([1, 1, 2, 2])], {"mode": "linear"}, opset=13, near=NEAR)
    f.case("Upsample_opset9", "Upsample", [x, arr([1, 1, 2, 3])], {"mode": "nearest"}, opset=9, outputs=[x.repeat(2, 2).repeat(3, 3)])
    f.case("Upsample_opset7", "Upsample", [x], {"scales": [1.0, 1.0, 3.0, 1.0]}, opset=7, outputs=[x.repeat(3, 2)])
    f.case("Upsample_opset1", "Upsample", [x], {"height_scale": 2.0, "width_scale": 1.0}, opset=1, outputs=[x.repeat(2, 2)])
    f.case("Upsample_opset9_linear", "Upsample", [arr([[[[1, 2], [3, 4]]]]), arr([1, 1, 2, 2])], {"mode": "linear"}, opset=9, near=NEAR,
           outputs=[arr([[[[1, 1.5, 2, 2], [2, 2.5, 3, 3], [3, 3.5, 4, 4], [3, 3.5, 4, 4]]]])], oracle="the example in the text of Upsample 9")
    f.error("Resize_neither", "Resize", [x], "neither scales nor sizes are given")
    f.error("Resize_both", "Resize", [x, None, arr([1, 1, 1, 1]), ints(1, 1, 3, 4)], "both scales and sizes are given, one is expected")
    f.error("Resize_count", "Resize", [x, None, arr([1, 2])], "scales has 2 entries, 4 axes are resized")
    f.error("Resize_scale", "Resize", [x, None, arr([1, 1, 0, 1])], "scale 2 is 0")
    f.error("Resize_size", "Resize", [x, None, None, ints(1, 1, -3, 4)], "size 2 is -3")
    f.error("Resize_mode", "Resize", [x, None, arr([1, 1, 1, 1])], "mode is 'bilinear', expected nearest, linear, cubic", {"mode": "bilinear"})
    f.error("Resize_text_linear", "Resize", [words("a"), None, arr([2.0])], "str can only be resized by nearest", {"mode": "linear"})
    f.error("Resize_no_roi", "Resize", [x, None, arr([1, 1, 1, 1])], "tf_crop_and_resize needs a vector roi", {"coordinate_transformation_mode": "tf_crop_and_resize"})
    f.error("Resize_axis", "Resize", [x, None, arr([1])], "axis 4 is outside", {"axes": [4]})
    f.error("Resize_from_nothing", "Resize", [grid(1, (0,)), None, None, ints(3)], "axis 0 has no elements to resize")
    f.write()


@family
def rotary_embedding():
    f = File("rotary_embedding", "RotaryEmbedding")
    x4, x3 = grid(1, (2, 3, 4, 8)), grid(2, (2, 4, 24))
    ids = arr([[0, 1, 2, 3], [4, 5, -1, 2]], I)

    def caches(seed, shape, dtype="f32"):
        return [grid(seed, shape, dtype), grid(seed + 1, shape, dtype)]

    for interleaved in (0, 1):
        a = {"interleaved": interleaved}
        f.case(f"RotaryEmbedding_4d_{interleaved}", "RotaryEmbedding", [x4, *caches(3, (6, 4)), ids], a, near=NEAR)
        f.case(f"RotaryEmbedding_3d_{interleaved}", "RotaryEmbedding", [x3, *caches(3, (6, 4)), ids], {**a, "num_heads": 3}, near=NEAR)
        f.case(f"RotaryEmbedding_no_ids_{interleaved}", "RotaryEmbedding", [x4, *caches(5, (2, 4, 4))], a, near=NEAR)
        f.case(f"RotaryEmbedding_part_{interleaved}", "RotaryEmbedding", [x4, *caches(7, (6, 2)), ids], {**a, "rotary_embedding_dim": 4}, near=NEAR)
        f.case(f"RotaryEmbedding_part_3d_{interleaved}", "RotaryEmbedding", [x3, *caches(7, (6, 2)), ids], {**a, "rotary_embedding_dim": 4, "num_heads": 3}, near=NEAR)
    f.case("RotaryEmbedding_f16", "RotaryEmbedding", [grid(1, (1, 1, 2, 4), "f16"), *caches(3, (1, 2, 2), "f16")], near=HALF)
    wide = [a.astype(np.float32) for a in (grid(1, (1, 1, 2, 4), "bf16"), *caches(3, (1, 2, 2), "bf16"))]
    from onnx.reference.ops.op_rotary_embedding import rotary_embedding as formula
    f.case("RotaryEmbedding_bf16", "RotaryEmbedding", [grid(1, (1, 1, 2, 4), "bf16"), *caches(3, (1, 2, 2), "bf16")], near=HALF,
           outputs=[formula(*wide).astype(grid(1, (1,), "bf16").dtype)])
    f.error("RotaryEmbedding_heads", "RotaryEmbedding", [x3, *caches(3, (6, 4)), ids], "attribute 'num_heads' is 0")
    f.error("RotaryEmbedding_cache", "RotaryEmbedding", [x4, *caches(3, (6, 3)), ids], "4 and 3 must be equal")
    f.error("RotaryEmbedding_cache_rank", "RotaryEmbedding", [x4, *caches(3, (6, 4))], "expected 3 axes without position_ids")
    f.error("RotaryEmbedding_position", "RotaryEmbedding", [x4, *caches(3, (6, 4)), ids + 3], "an index is outside the axis")
    f.error("RotaryEmbedding_odd", "RotaryEmbedding", [x4, *caches(3, (6, 4)), ids], "expected an even number", {"rotary_embedding_dim": 3})
    f.write()


@family
def attention():
    f = File("attention", "Attention")
    q, k, v = grid(1, (2, 3, 4, 8)), grid(2, (2, 3, 6, 8)), grid(3, (2, 3, 6, 5))
    past = [grid(4, (2, 3, 2, 8)), grid(5, (2, 3, 2, 5))]
    near = (2e-6, 1e-5)

    def case(name, inputs, attributes=None, wanted=1, tolerance=near, opset=None):
        f.case(f"Attention_{name}", "Attention", inputs, attributes, near=tolerance, wanted=wanted, opset=opset)

    case("plain", [q, k, v])
    case("scale", [q, k, v], {"scale": 0.1})
    case("causal", [q, k, v], {"is_causal": 1})
    case("softcap", [q, k, v], {"softcap": 2.0})
    case("gqa", [grid(1, (2, 6, 4, 8)), k, v])
    case("mqa", [grid(1, (1, 4, 3, 8)), grid(2, (1, 1, 5, 8)), grid(3, (1, 1, 5, 8))], {"is_causal": 1})
    case("past", [q, k, v, None, *past], {"is_causal": 1}, wanted=3)
    for mode in range(4):
        case(f"mode{mode}", [q, k, v, grid(6, (4, 8)), *past], {"qk_matmul_output_mode": mode, "is_causal": 1} | ({"softcap": 3.0} if mode else {}), wanted=4)
    case("scores", [q, k, v], {}, wanted=4)
    flat = [grid(1, (2, 4, 24)), grid(2, (2, 6, 12)), grid(3, (2, 6, 15))]
    case("3d", flat, {"q_num_heads": 6, "kv_num_heads": 3})
    case("3d_causal_past", [grid(1, (2, 4, 24)), grid(2, (2, 6, 24)), grid(3, (2, 6, 15)), None, *past], {"q_num_heads": 3, "kv_num_heads": 3, "is_causal": 1}, wanted=4)
    for name, shape in (("1d", (6,)), ("2d", (4, 6)), ("3d", (3, 4, 6)), ("4d", (2, 1, 4, 6)), ("broadcast", (2, 3, 1, 6)), ("short", (4, 5))):
        case(f"mask_{name}", [q, k, v, grid(7, shape)])
        case(f"bool_{name}", [q, k, v, grid(8, shape, "bool", 0, 1)], wanted=1)
        if name not in ("1d", "broadcast"):  # which the reference evaluator does not take, or reads one row of
            case(f"bool_causal_{name}", [q, k, v, grid(8, shape, "bool", 0, 1)], {"is_causal": 1, "qk_matmul_output_mode": 3}, wanted=4)
    case("all_masked", [q, k, v, np.zeros((4, 6), bool)], {"qk_matmul_output_mode": 3}, wanted=4)
    case("infinite_mask", [q, k, v, np.full((4, 6), -np.inf, np.float32)])
    seen = ints(3, 6)
    case("nonpad", [q, k, v, None, None, None, seen])
    case("nonpad_causal", [q, k, v, grid(9, (4, 6)), None, None, seen], {"is_causal": 1})
    for left, right in ((1, -1), (-1, 1), (1, 1), (0, 0), (2, 0)):
        window = {"left_window_size": left, "right_window_size": right}
        case(f"window_{left}_{right}", [q, k, v], window)
        case(f"window_causal_{left}_{right}", [q, k, v, grid(9, (4, 8)), *past], {**window, "is_causal": 1})
        case(f"window_nonpad_{left}_{right}", [q, k, v, None, None, None, seen], window)
    case("f64", [x.astype("f8") for x in (q, k, v)], tolerance=(1e-12, 1e-12))
    case("f16", [x.astype("f2") for x in (q, k, v)], tolerance=(2e-3, 1e-2))
    case("f16_precise", [x.astype("f2") for x in (q, k, v)], {"softmax_precision": 1, "is_causal": 1}, tolerance=(2e-3, 1e-2))
    case("opset23", [q, k, v, grid(7, (4, 6))], {"is_causal": 1}, opset=23)
    f.error("Attention_rank", "Attention", [q[0, 0], k[0, 0], v[0, 0]], "expected 3 or 4 axes each")
    f.error("Attention_heads", "Attention", flat, "attribute 'q_num_heads' is 0, expected at least 1 for inputs of 3 axes")
    f.error("Attention_divide", "Attention", flat, "a last axis of 24 is no multiple of q_num_heads=5", {"q_num_heads": 5, "kv_num_heads": 3})
    f.error("Attention_groups", "Attention", [grid(1, (2, 4, 4, 8)), k, v], "4 heads of Q are no multiple of 3 of K and V")
    f.error("Attention_head", "Attention", [grid(1, (2, 3, 4, 7)), k, v], "elements of a head of Q and of K: 7 and 8 must be equal")
    f.error("Attention_half_past", "Attention", [q, k, v, None, past[0]], "past_key and past_value come together or not at all")
    f.error("Attention_nonpad_past", "Attention", [q, k, v, None, *past, seen], "nonpad_kv_seqlen cannot be combined with past_key and past_value")
    f.error("Attention_mask", "Attention", [q, k, v, grid(7, (3, 6))], "input 'attn_mask' is [3,6], which does not broadcast to [2,3,4,6]")
    f.error("Attention_mode", "Attention", [q, k, v], "attribute 'qk_matmul_output_mode' is 4, expected 0 to 3", {"qk_matmul_output_mode": 4})
    f.error("Attention_precision", "Attention", [q, k, v], "attribute 'softmax_precision' is 7", {"softmax_precision": 7})
    f.write()
