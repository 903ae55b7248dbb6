"""The cases of each family of operators; make_cases.py writes them."""
import numpy as np

from make_cases import NEWEST, NUMBERS, File, arr, by_reference, grid, np_dtype

ALL = []
NUMERIC = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "f32", "f64", "bf16"]
FLOATS = ["f16", "bf16", "f32", "f64"]
SUM_TYPES = FLOATS + ["i32", "i64", "u32", "u64"]
HALF = (1e-3, 1e-2)  # bf16 has 8 bits
NEAR = (1e-6, 1e-5)


def family(write):
    ALL.append(write)
    return write


def tolerance(dtype):
    return HALF if dtype in ("f16", "bf16") else NEAR


@family
def binary():
    f = File("binary", "Elementwise operators of two tensors")
    for op in ("Add", "Sub", "Mul"):
        for dtype in NUMERIC:
            f.case(f"{op}_{dtype}", op, [grid(1, (2, 3), dtype), grid(2, (2, 3), dtype)])
        f.case(f"{op}_wraps", op, [arr([200, 5, 255], "u8"), arr([100, 7, 2], "u8")])
    f.case("Add_broadcast", "Add", [grid(3, (2, 1, 3)), grid(4, (4, 1))])
    f.case("Add_scalar", "Add", [grid(3, (2, 3)), arr(1.5)])
    f.case("Add_empty", "Add", [grid(3, (2, 0)), grid(4, (1,))])
    f.error("Add_shapes", "Add", [grid(3, (2, 3)), grid(4, (2,))], "shapes [2,3] and [2] do not broadcast")
    f.error("Add_types", "Add", [grid(3, (2,)), grid(4, (2,), "i32")], "input 'B' is i32, but must be f32")
    f.error("Add_missing", "Add", [grid(3, (2,))], "input 1 ('B') is missing")
    signed = [arr([7, -7, 7, -7, 0, 5], "i32"), arr([2, 2, -2, -2, 3, 5], "i32")]
    f.case("Div_truncates", "Div", signed, outputs=[arr([3, -3, -3, 3, 0, 1], "i32")], oracle="C's integer division")
    f.case("Div_u8", "Div", [arr([7, 200, 255], "u8"), arr([2, 3, 255], "u8")])
    f.case("Div_zero", "Div", [arr([1, -1, 0]), arr([0, 0, 0])], outputs=[arr([np.inf, -np.inf, np.nan])], oracle="IEEE")
    for dtype in FLOATS:
        f.case(f"Div_{dtype}", "Div", [grid(1, (2, 3), dtype), grid(2, (2, 3), dtype, 1, 8)], near=tolerance(dtype))
    for dtype in ("i8", "i16", "i32", "i64"):
        a, b = arr([7, -7, 7, -7, 6, -4], dtype), arr([3, 3, -3, -3, 3, 4], dtype)
        f.case(f"Mod_{dtype}", "Mod", [a, b])
        f.case(f"Mod_fmod_{dtype}", "Mod", [a, b], {"fmod": 1})
    f.case("Mod_u64", "Mod", [arr([7, 2**63 + 5], "u64"), arr([4, 7], "u64")])
    floats = [arr([5.5, -5.5, 5.5, -5.5, 0.0, 4.0]), arr([2.0, 2.0, -2.0, -2.0, 3.0, 2.0])]
    f.case("Mod_floor_f32", "Mod", floats)
    f.case("Mod_fmod_f32", "Mod", floats, {"fmod": 1})
    f.case("Mod_infinite", "Mod", [arr([1.5, -1.5, np.inf, 1.0]), arr([np.inf, np.inf, 2.0, 0.0])],
           outputs=[arr([1.5, np.inf, np.nan, np.nan])], oracle="the text of Mod 28")
    f.case("Mod_f16", "Mod", [a.astype("f2") for a in floats], {"fmod": 1})
    f.case("Mod_opset10", "Mod", floats, {"fmod": 1}, opset=10)
    f.error("Mod_attribute", "Mod", signed, "attribute 'fmod' is 2", {"fmod": 2})
    f.case("Pow_f32", "Pow", [arr([1.0, 2.0, 3.0, -2.0]), arr([4.0, -1.0, 0.5, 3.0])], near=NEAR)
    f.case("Pow_f32_i64", "Pow", [arr([1.5, -2.0, 3.0]), arr([4, 3, -2], "i64")], near=NEAR)
    f.case("Pow_i32", "Pow", [arr([1, 2, 3, -2, 0], "i32"), arr([4, 5, 6, 3, 0], "i32")])
    f.case("Pow_i32_wraps", "Pow", [arr([3, 10, 2], "i32"), arr([21, 10, 32], "i64")])
    f.case("Pow_i64_f32", "Pow", [arr([1, 2, 10, 7], "i64"), arr([4.0, 0.5, -1.0, 2.0])])
    f.case("Pow_i64_u8", "Pow", [arr([1, 2, -3], "i64"), arr([4, 62, 5], "u8")])
    f.case("Pow_f16", "Pow", [arr([1.5, 2.0, 3.0], "f16"), arr([2.0, 3.0, 0.5], "f16")], near=HALF)
    f.case("Pow_bf16_f32", "Pow", [arr([1.5, 2.0], "bf16"), arr([2.0, 3.0])], near=HALF)
    f.case("Pow_f64", "Pow", [arr([1.1, 2.0], "f64"), arr([3.5, 0.1], "f64")], near=(0, 1e-14))
    f.case("Pow_broadcast", "Pow", [grid(5, (2, 3), "i64", 0, 5), arr(2, "i64")])
    for dtype in FLOATS + ["i32", "i64"]:
        f.case(f"PRelu_{dtype}", "PRelu", [grid(6, (2, 3, 2), dtype), grid(7, (3, 1), dtype)])
    f.case("PRelu_u32", "PRelu", [arr([1, 2], "u32"), arr([5], "u32")])
    f.error("PRelu_slope", "PRelu", [grid(6, (2, 3)), grid(7, (2,))], "input 'slope' is [2], which does not broadcast to [2,3]")
    for op in ("And", "Or", "Xor"):
        f.case(f"{op}_all", op, [arr([0, 0, 1, 1], "bool"), arr([0, 1, 0, 1], "bool")])
        f.case(f"{op}_broadcast", op, [grid(8, (3, 1), "bool", 0, 1), grid(9, (2,), "bool", 0, 1)])
    f.error("And_type", "And", [grid(3, (2,)), grid(4, (2,))], "input 'A' is f32, allowed are bool")
    f.write()


UNARY_NUMERIC = ("Abs", "Neg", "Sign")
UNARY_FLOAT = ("Ceil", "Cos", "Erf", "Exp", "Floor", "Round", "Sigmoid", "Sin", "Softplus", "Sqrt", "Tanh", "Log", "Reciprocal",
               "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Relu", "Selu", "Swish")


@family
def unary():
    f = File("unary", "Elementwise operators of one tensor")
    ends = arr([0, -0.0, np.inf, -np.inf, np.nan, 88, -88, 1e-8, 20, -20])
    for op in UNARY_NUMERIC:
        for dtype in NUMERIC:
            if op != "Neg" or not dtype.startswith("u"):
                f.case(f"{op}_{dtype}", op, [grid(1, (2, 3), dtype)])
    for op in UNARY_FLOAT:
        positive = op in ("Sqrt", "Log", "Reciprocal")
        for dtype in FLOATS:
            x = grid(2, (2, 5), dtype, low=1 if positive else -12, high=12)
            y = by_reference(op, {}, [x.astype("f8" if op != "HardSwish" else "f4")], 1, NEWEST)[0]
            f.case(f"{op}_{dtype}", op, [x], outputs=[np.asarray(y).astype(x.dtype)], oracle="reference in f64", near=tolerance(dtype))
        f.case(f"{op}_empty", op, [grid(3, (2, 0))], outputs=[grid(3, (2, 0))], oracle="the specification")
    for op, function in (("Ceil", np.ceil), ("Floor", np.floor), ("Round", np.rint), ("Exp", np.exp), ("Sqrt", np.sqrt), ("Tanh", np.tanh), ("Abs", np.abs),
                         ("Neg", np.negative), ("Log", np.log), ("Reciprocal", np.reciprocal), ("Sin", np.sin), ("Cos", np.cos)):
        with np.errstate(all="ignore"):
            f.case(f"{op}_ends", op, [ends], outputs=[function(ends.astype("f8")).astype("f4")], near=NEAR)
    f.case("Round_half_to_even", "Round", [arr([0.5, 1.5, 2.5, -0.5, -1.5, -2.5])], outputs=[arr([0, 2, 2, -0.0, -2, -2])], oracle="the specification")
    for op in ("Erf", "Sigmoid", "Relu"):
        f.case(f"{op}_ends", op, [ends], oracle="ort", near=NEAR)
    f.case("Relu_i32", "Relu", [grid(4, (2, 3), "i32")])
    f.case("Abs_lowest", "Abs", [arr([-128, 127], "i8")], outputs=[arr([-128, 127], "i8")], oracle="two's complement")
    f.case("Not", "Not", [grid(5, (2, 3)) > 0])
    f.case("Elu_alpha", "Elu", [grid(6, (2, 3))], {"alpha": 0.5}, near=NEAR)
    f.case("LeakyRelu_alpha", "LeakyRelu", [grid(6, (2, 3))], {"alpha": 0.25}, near=NEAR)
    f.case("HardSigmoid_both", "HardSigmoid", [grid(6, (2, 3))], {"alpha": 0.5, "beta": 0.25}, near=NEAR)
    f.case("Selu_both", "Selu", [grid(6, (2, 3))], {"alpha": 2.0, "gamma": 3.0}, near=NEAR)
    f.case("Gelu_tanh", "Gelu", [grid(6, (2, 3))], {"approximate": "tanh"}, near=NEAR)
    f.case("Swish_alpha", "Swish", [grid(6, (2, 3))], {"alpha": 1.5}, near=NEAR)
    f.error("Gelu_approximate", "Gelu", [grid(6, (2, 3))], "approximate is 'erf', expected none or tanh", {"approximate": "erf"})
    f.error("Sqrt_type", "Sqrt", [grid(6, (2, 3), "i32")], "i32")
    f.write()


@family
def compare():
    f = File("compare", "Comparisons")
    for op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        for dtype in NUMERIC:
            f.case(f"{op}_{dtype}", op, [grid(1, (2, 4), dtype, -2, 2), grid(2, (2, 4), dtype, -2, 2)])
        f.case(f"{op}_nan", op, [arr([np.nan, 1, np.inf, -np.inf]), arr([np.nan, np.nan, np.inf, 0])])
        f.case(f"{op}_broadcast", op, [grid(3, (2, 1, 3), low=-2, high=2), grid(4, (4, 1), low=-2, high=2)])
    f.case("Greater_high_u64", "Greater", [arr([2**63, 1], "u64"), arr([1, 2**63], "u64")])
    f.case("Less_wide_i64", "Less", [arr([-2**63, 2**62 + 1], "i64"), arr([1, 2**62], "i64")])
    f.case("Equal_bool", "Equal", [arr([0, 1, 1], "bool"), arr([0, 0, 1], "bool")])
    f.case("Equal_strings", "Equal", [np.array([["a", "bc"], ["", "d e"]], object), np.array(["a", "d e"], object)])
    f.case("Less_opset7", "Less", [grid(1, (2, 4)), grid(2, (2, 4))], opset=7)
    f.case("Equal_opset11", "Equal", [grid(1, (4,), "i32", -2, 2), grid(2, (4,), "i32", -2, 2)], opset=11)
    f.write()


@family
def variadic():
    f = File("variadic", "Elementwise operators of any number of tensors")
    for op in ("Max", "Min"):
        for dtype in NUMERIC:
            f.case(f"{op}_{dtype}", op, [grid(1, (2, 3), dtype), grid(2, (2, 3), dtype)])
        f.case(f"{op}_three", op, [grid(1, (2, 3)), grid(2, (3,)), grid(3, (2, 1))])
        f.case(f"{op}_nan", op, [arr([np.nan, 1, 2]), arr([0, np.nan, 1]), arr([5, 5, 5])])
        f.case(f"{op}_one", op, [grid(1, (2, 3))])
        f.case(f"{op}_opset8", op, [grid(1, (2, 3)), grid(2, (2, 3))], opset=8)
        f.error(f"{op}_none", op, [], "has no input")
    for op in ("Sum", "Mean"):
        for dtype in FLOATS:
            f.case(f"{op}_{dtype}", op, [grid(i, (2, 2), dtype) for i in range(3)], near=tolerance(dtype))
        f.case(f"{op}_one", op, [grid(1, (2, 3))])
        a, b = grid(1, (2, 1, 3)), grid(2, (4, 1))
        f.case(f"{op}_broadcast", op, [a, b], outputs=[(a + b) / (2 if op == "Mean" else 1)], near=NEAR)
        f.case(f"{op}_opset6", op, [grid(1, (2, 3)), grid(2, (2, 3))], opset=6, near=NEAR)
    f.error("Mean_ints", "Mean", [grid(1, (2,), "i32")], "input 'data_0' is i32")
    f.write()


@family
def where():
    f = File("where", "Where and Clip")
    for dtype in NUMERIC + ["bool"]:
        f.case(f"Where_{dtype}", "Where", [arr([1, 0, 1], "bool"), grid(1, (2, 3), dtype, 0, 1), grid(2, (2, 3), dtype, 0, 1)])
    f.case("Where_broadcast", "Where", [arr([[1], [0]], "bool"), grid(1, (2, 1, 3)), arr(9.0)])
    f.case("Where_strings", "Where", [arr([1, 0], "bool"), np.array(["a", "b"], object), np.array("no", object)],
           outputs=[np.array(["a", "no"], object)])
    f.case("Where_hides_nan", "Where", [arr([1, 0], "bool"), arr([1, np.nan]), arr([np.inf, 2])])
    f.error("Where_shapes", "Where", [arr([1, 0], "bool"), grid(1, (3,)), grid(2, (3,))], "do not broadcast")
    for dtype in NUMERIC:
        f.case(f"Clip_{dtype}", "Clip", [grid(1, (2, 3), dtype), arr(1, dtype), arr(2, dtype)])
    x = arr([-np.inf, -2, 0, 2, np.inf, np.nan])
    f.case("Clip_none", "Clip", [x])
    f.case("Clip_min", "Clip", [x, arr(-1.0)])
    f.case("Clip_max", "Clip", [x, None, arr(1.0)])
    f.case("Clip_crossed", "Clip", [x[:5], arr(2.0), arr(1.0)])
    f.case("Clip_opset6", "Clip", [arr([-3, 0.5, 9])], {"min": -1.0, "max": 6.0}, opset=6)
    f.case("Clip_opset6_finite", "Clip", [arr([-np.inf, 0.5, np.inf])], {"min": 0.0}, opset=6,
           outputs=[arr([0, 0.5, np.finfo(np.float32).max])], oracle="the defaults of Clip 6")
    f.case("Clip_opset6_f16", "Clip", [arr([-3, 0.5, np.inf], "f16")], {"max": 6.0}, opset=6, outputs=[arr([-3, 0.5, 6], "f16")])
    f.case("Clip_opset1", "Clip", [arr([-np.inf, 0.5, 9])], {"max": 6.0}, opset=1, outputs=[arr([-np.inf, 0.5, 6])])
    f.error("Clip_vector", "Clip", [x, arr([1.0, 2.0])], "input 'min' is [2], expected a single number")
    f.write()


@family
def cast():
    f = File("cast", "Cast and CastLike")
    whole = arr([0, 1, 2, 3], "f32")
    for dtype in [d for d in NUMBERS if d not in ("str", "f32")]:
        if dtype == "f8e8m0":
            f.case("Cast_f32_f8e8m0", "Cast", [arr([1, 2, 3, 0.3])], {"to": NUMBERS[dtype]})
            f.case("Cast_f8e8m0_f32", "Cast", [arr([1, 2, 0.25], dtype)], {"to": 1})
            continue
        f.case(f"Cast_f32_{dtype}", "Cast", [whole[:2] if dtype in ("i2", "bool") else whole], {"to": NUMBERS[dtype]})
        f.case(f"Cast_{dtype}_f32", "Cast", [(whole[:2] if dtype in ("i2", "bool") else whole).astype(np_dtype(dtype))], {"to": 1})
    f.case("Cast_truncates", "Cast", [arr([1.9, -1.9, 0.5, -0.5])], {"to": 6})
    f.case("Cast_wraps", "Cast", [arr([200, -129, 300], "i16")], {"to": 3})
    f.case("Cast_wraps_4", "Cast", [arr([7, 8, 15, 16, 17], "i32")], {"to": 22}, outputs=[arr([7, -8, -1, 0, 1], "i4")], oracle="two's complement")
    f.case("Cast_wraps_2", "Cast", [arr([1, 2, 3, 4, 5], "i32")], {"to": 25}, outputs=[arr([1, 2, 3, 0, 1], "u2")], oracle="two's complement")
    f.case("Cast_to_bool", "Cast", [arr([0, -0.0, 0.5, np.nan, -np.inf])], {"to": 9})
    f.case("Cast_from_bool", "Cast", [arr([0, 1], "bool")], {"to": 11})
    f.case("Cast_f64_out_of_range", "Cast", [arr([1e300, 0.1, 1e-300], "f64")], {"to": 1})
    f.case("Cast_f64_f16", "Cast", [arr([65520, 65519, 2**-25, 0.1], "f64")], {"to": 10})
    f.case("Cast_f32_bf16_ties", "Cast", [arr([1 + 2**-8, 1 + 3 * 2**-8, 3.3895314e38])], {"to": 16})
    f.case("Cast_i64_rounds", "Cast", [arr([2**53 + 1, -(2**24) - 1], "i64")], {"to": 1})
    for dtype in ("f32", "f64"):
        f.case(f"Cast_{dtype}_large_u64", "Cast", [arr([1e19, 2.0**63, 2.0**62], dtype)], {"to": 13})
    f.case("Cast_u64_large", "Cast", [arr([2**64 - 1, 2**63], "u64")], {"to": 11})
    special = arr([0, 1e6, -1e6, np.inf, -np.inf, np.nan, 0.3, 2.0])
    for to in (17, 18, 19, 20):
        f.case(f"Cast_saturate_{to}", "Cast", [special], {"to": to})
        f.case(f"Cast_open_{to}", "Cast", [special], {"to": to, "saturate": 0})
    for mode in ("up", "down", "nearest"):
        f.case(f"Cast_e8m0_{mode}", "Cast", [arr([1.0, 1.2, 1.5, 1.7, 3.0, 2**-126, np.nan])], {"to": 24, "round_mode": mode})
    extremes, table = arr([0.0, np.inf, 1e-39, np.nan, 1e38]), "the table of Cast 28"  # the reference evaluator departs from it
    f.case("Cast_e8m0_saturates", "Cast", [extremes], {"to": 24}, outputs=[arr([2**-127, 2**127, 2**-127, np.nan, 2**127], "f8e8m0")], oracle=table)
    f.case("Cast_e8m0_open", "Cast", [extremes[:4]], {"to": 24, "saturate": 0, "round_mode": "nearest"}, outputs=[arr([np.nan] * 4, "f8e8m0")], oracle=table)
    f.case("Cast_fp4", "Cast", [arr([0.2, 0.25, 0.75, 2.5, 5.0, 100, -100])], {"to": 23})
    f.case("Cast_f8_f16", "Cast", [arr([448, 0.5, -2], "f8e4m3fn")], {"to": 10})
    for dtype in ("f16", "f32", "f64"):
        f.case(f"Cast_{dtype}_words", "Cast", [arr([0.1, 1, -1.5, 1e-5, 0.0001234, 123.25, 5e7 if dtype != "f16" else 2048, np.nan, np.inf, -np.inf, -0.0], dtype)],
               {"to": 8})
    f.case("Cast_f64_str_large", "Cast", [arr([1e15, 1e16, 1e22, 0.1 + 0.2], "f64")], {"to": 8})
    f.case("Cast_ints_str", "Cast", [arr([-(2**63), 2**63 - 1, 0], "i64")], {"to": 8})
    f.case("Cast_u64_str", "Cast", [arr([2**64 - 1], "u64")], {"to": 8})
    f.case("Cast_bool_str", "Cast", [arr([0, 1], "bool")], {"to": 8})
    f.case("Cast_str_str", "Cast", [np.array(["a", "b c"], object)], {"to": 8}, outputs=[np.array(["a", "b c"], object)])
    words = np.array(["1", " 2 ", "1e-5", "1E8", "+INF", "inf", "-Inf", "nan", "3.14"], object)
    for to in (1, 10, 11):
        f.case(f"Cast_str_{to}", "Cast", [words], {"to": to})
    f.case("Cast_str_i32", "Cast", [np.array(["1", "-7", " 42"], object)], {"to": 6})
    f.case("Cast_str_u64", "Cast", [np.array([str(2**64 - 1), "0"], object)], {"to": 13}, outputs=[np.array([2**64 - 1, 0], np.uint64)])
    f.case("Cast_str_fraction", "Cast", [np.array(["100.5"], object)], {"to": 7}, outputs=[arr([100], "i64")], oracle="the text of Cast 28")
    f.error("Cast_str_words", "Cast", [np.array(["Hello"], object)], 'element 0 is "Hello", which is no number', {"to": 1})
    f.error("Cast_nowhere", "Cast", [whole], "attribute 'to' is 99", {"to": 99})
    f.error("Cast_complex", "Cast", [whole], "attribute 'to' is 14", {"to": 14})
    f.error("Cast_missing", "Cast", [whole], "attribute 'to' is missing")
    f.error("Cast_mode", "Cast", [whole], "round_mode is 'odd'", {"to": 24, "round_mode": "odd"})
    f.case("Cast_opset1", "Cast", [arr([1.5, -2.5])], {"to": "INT32"}, opset=1, outputs=[arr([1, -2], "i32")])
    f.case("Cast_opset9", "Cast", [arr([1.5, -2.5])], {"to": 7}, opset=9)
    f.error("Cast_opset1_name", "Cast", [whole], 'attribute \'to\' is "FLOAT99"', {"to": "FLOAT99"}, opset=1)
    for dtype in ("i64", "f16", "bool", "f8e5m2"):
        f.case(f"CastLike_{dtype}", "CastLike", [whole, arr([1], dtype)])
    f.case("CastLike_str", "CastLike", [arr([1.5]), np.array(["x"], object)], outputs=[np.array(["1.5"], object)])
    f.case("CastLike_saturate", "CastLike", [special[:3], arr([1], "f8e4m3fn")], {"saturate": 0})
    f.case("CastLike_packed", "CastLike", [whole, arr([[1]], "u4")], outputs=[arr([0, 1, 2, 3], "u4")])
    f.write()


@family
def reduce():
    f = File("reduce", "Reductions")
    all_ops = ["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"]
    for op in all_ops:
        types = FLOATS if "Log" in op else SUM_TYPES + (["i8", "u8"] if op in ("ReduceMax", "ReduceMin") else [])
        low = 1 if "Log" in op or op == "ReduceProd" else -6
        for dtype in types:
            inputs = [grid(1, (2, 3, 2), dtype, low, 6), arr([1], "i64")]
            output = by_reference(op, {}, inputs, 1, NEWEST)[0].astype(inputs[0].dtype)  # NumPy widens some integers
            f.case(f"{op}_{dtype}", op, inputs, outputs=[output], near=tolerance(dtype) if dtype in FLOATS else None, oracle="reference")
        x = grid(2, (2, 3, 2), "f32", low, 6)
        f.case(f"{op}_all", op, [x], {"keepdims": 0}, near=NEAR)
        f.case(f"{op}_none", op, [x, arr([], "i64")], near=NEAR)
        f.case(f"{op}_two", op, [x, arr([-1, 0], "i64")], {"keepdims": 0}, near=NEAR)
        f.case(f"{op}_noop", op, [x, arr([], "i64")], {"noop_with_empty_axes": 1}, near=NEAR)
        scalar = {"ReduceSumSquare": 6.25, "ReduceLogSum": np.log(2.5)}.get(op, 2.5)
        f.case(f"{op}_scalar", op, [arr(2.5)], outputs=[arr(scalar)], near=NEAR)
        f.case(f"{op}_opset11", op, [x], {"axes": [-2], "keepdims": 0}, opset=11, near=NEAR)
        f.case(f"{op}_opset1", op, [x], {"axes": [0, 2]}, opset=1, near=NEAR)
        if op not in ("ReduceMean",):
            f.case(f"{op}_empty", op, [grid(3, (2, 0, 3)), arr([1], "i64")])
    for op in ("ReduceMax", "ReduceMin"):
        f.case(f"{op}_bool", op, [grid(4, (3, 3), "bool", 0, 1), arr([1], "i64")])
        f.case(f"{op}_nan", op, [arr([[1, np.nan], [2, 3]]), arr([1], "i64")])
        f.case(f"{op}_empty_int", op, [grid(3, (2, 0), "i32"), arr([1], "i64")])
    f.case("ReduceMean_negative_ints", "ReduceMean", [arr([[-3, -4], [3, 4]], "i32"), arr([1], "i64")], outputs=[arr([[-3], [3]], "i32")],
           oracle="truncation, as NumPy's mean into i32")
    f.case("ReduceLogSumExp_large", "ReduceLogSumExp", [arr([[1000, 1000], [-1000, -1001]]), arr([1], "i64")], near=NEAR)
    f.case("ReduceLogSumExp_infinite", "ReduceLogSumExp", [arr([[-np.inf, -np.inf], [np.inf, 1], [np.nan, 1]]), arr([1], "i64")],
           outputs=[arr([[-np.inf], [np.inf], [np.nan]])], oracle="numpy.logaddexp")
    f.case("ReduceSum_precise", "ReduceSum", [np.full((70000,), 0.1, np.float32)[:20000]], {"keepdims": 0}, outputs=[np.float32(np.full(20000, np.float32(0.1), np.float64).sum())],
           oracle="a sum in f64")
    f.case("ReduceSum_opset13", "ReduceSum", [grid(5, (2, 3)), arr([0], "i64")], opset=13)
    f.error("ReduceSum_axis", "ReduceSum", [grid(5, (2, 3)), arr([2], "i64")], "axis 2 is outside [-2, 1] of a tensor of rank 2")
    f.error("ReduceSum_twice", "ReduceSum", [grid(5, (2, 3)), arr([1, -1], "i64")], "name an axis twice")
    f.error("ReduceSum_type", "ReduceSum", [grid(5, (2, 3), "i8")], "input 'data' is i8")
    f.write()


@family
def arg_reduce():
    f = File("arg_reduce", "ArgMax and ArgMin")
    for op in ("ArgMax", "ArgMin"):
        for dtype in NUMERIC:
            f.case(f"{op}_{dtype}", op, [grid(1, (3, 4), dtype, -2, 2)], {"axis": 1})
        x = grid(2, (2, 3, 4), "f32", -2, 2)
        f.case(f"{op}_default", op, [x])
        f.case(f"{op}_negative", op, [x], {"axis": -1, "keepdims": 0})
        f.case(f"{op}_last", op, [x], {"axis": 1, "select_last_index": 1})
        f.case(f"{op}_last_dropped", op, [x], {"axis": 2, "select_last_index": 1, "keepdims": 0})
        f.case(f"{op}_nan", op, [arr([[1, np.nan, 5, np.nan], [1, 2, 0, 1]])], {"axis": 1})
        f.case(f"{op}_infinite", op, [arr([[-np.inf, -np.inf], [np.inf, np.inf]])], {"axis": 1})
        f.case(f"{op}_opset1", op, [x], {"axis": 2}, opset=1)
        f.error(f"{op}_axis", op, [x], "axis 3 is outside [-3, 2]", {"axis": 3})
        f.error(f"{op}_empty", op, [grid(1, (2, 0))], "axis 1 is empty", {"axis": 1})
    f.write()


@family
def cumsum():
    f = File("cumsum", "CumSum")
    for dtype in SUM_TYPES:
        f.case(f"CumSum_{dtype}", "CumSum", [grid(1, (2, 3), dtype), arr(1, "i64")])
    for exclusive in (0, 1):
        for reverse in (0, 1):
            attributes = {"exclusive": exclusive, "reverse": reverse}
            f.case(f"CumSum_{exclusive}{reverse}", "CumSum", [grid(2, (2, 3, 4)), arr(-2, "i32")], attributes)
            x = grid(3, (150,), "i64")
            line = x[::-1] if reverse else x
            y = np.cumsum(line) - (line if exclusive else 0)
            f.case(f"CumSum_blocks_{exclusive}{reverse}", "CumSum", [x, arr([0], "i64")], attributes, outputs=[y[::-1] if reverse else y])
    f.case("CumSum_128", "CumSum", [grid(3, (128, 1), "i32"), arr(0, "i64")])
    f.case("CumSum_empty", "CumSum", [grid(3, (2, 0)), arr(1, "i64")])
    f.case("CumSum_opset11", "CumSum", [grid(3, (3, 2)), arr(0, "i32")], opset=11)
    f.error("CumSum_axis", "CumSum", [grid(3, (3, 2)), arr(2, "i64")], "axis 2 is outside [-2, 1]")
    f.error("CumSum_axes", "CumSum", [grid(3, (3, 2)), arr([0, 1], "i64")], "axis is [2], expected a single number")
    f.write()


@family
def softmax():
    f = File("softmax", "Softmax and LogSoftmax")
    for op in ("Softmax", "LogSoftmax"):
        for dtype in ("f16", "f32", "f64"):
            f.case(f"{op}_{dtype}", op, [grid(1, (2, 3), dtype)], near=tolerance(dtype))
        x = grid(2, (2, 3, 4))
        for axis in (0, 1, 2, -2):
            f.case(f"{op}_axis{axis}", op, [x], {"axis": axis}, near=NEAR)
        f.case(f"{op}_large", op, [arr([[0, 1, 2, 3], [10000, 10001, 10002, 10003]])], near=(1e-5, 1e-5), oracle="ort")
        f.case(f"{op}_opset11_last", op, [x], {"axis": -1}, opset=11, near=NEAR, oracle="ort")
        f.case(f"{op}_opset1_matrix", op, [grid(1, (2, 3))], opset=1, near=NEAR, outputs=None, oracle="ort")
        f.error(f"{op}_axis", op, [x], "axis 3 is outside [-3, 2]", {"axis": 3})
    f.case("Softmax_masked", "Softmax", [arr([[-np.inf, 0.0, 0.0], [-np.inf, -np.inf, -np.inf]])], outputs=[arr([[0, 0.5, 0.5], [np.nan] * 3])], near=NEAR)
    x = grid(3, (2, 3), "bf16")
    wide = x.astype(np.float64)
    f.case("Softmax_bf16", "Softmax", [x], near=HALF, outputs=[(np.exp(wide) / np.exp(wide).sum(-1, keepdims=True)).astype(x.dtype)])
    f.write()
