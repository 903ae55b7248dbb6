"""The cases of products, convolutions, pools and normalisations."""
import numpy as np

from families import FLOATS, HALF, NEAR, NUMERIC, SUM_TYPES, family, tolerance
from make_cases import NEWEST, File, arr, by_reference, grid


@family
def gemm():
    f = File("gemm", "Gemm and MatMul")
    a, b, c = grid(1, (2, 3)), grid(2, (3, 4)), grid(3, (4,))
    for dtype in SUM_TYPES:
        f.case(f"Gemm_{dtype}", "Gemm", [grid(1, (2, 3), dtype), grid(2, (3, 2), dtype), grid(3, (2, 2), dtype)], near=tolerance(dtype) if dtype in FLOATS else None)
    f.case("Gemm_no_c", "Gemm", [a, b])
    f.case("Gemm_vector_c", "Gemm", [a, b, c], {"alpha": 0.5, "beta": 2.0}, near=NEAR)
    f.case("Gemm_scalar_c", "Gemm", [a, b, arr(1.25)], near=NEAR)
    f.case("Gemm_column_c", "Gemm", [a, b, grid(4, (2, 1))], near=NEAR)
    for ta in (0, 1):
        for tb in (0, 1):
            f.case(f"Gemm_trans{ta}{tb}", "Gemm", [a.T.copy() if ta else a, b.T.copy() if tb else b, c], {"transA": ta, "transB": tb}, near=NEAR)
    f.case("Gemm_beta_zero", "Gemm", [a, b, arr([np.nan] * 4)], {"beta": 0.0})
    f.case("Gemm_int_alpha", "Gemm", [arr([[3, 5]], "i32"), arr([[1], [2]], "i32"), arr([[10]], "i32")], {"alpha": 2.0, "beta": 3.0}, outputs=[arr([[56]], "i32")])
    f.case("Gemm_int_fraction", "Gemm", [arr([[3, 4]], "i32"), arr([[1], [2]], "i32")], {"alpha": 0.5}, outputs=[arr([[5]], "i32")])
    f.case("Gemm_empty", "Gemm", [grid(1, (2, 0)), grid(2, (0, 3))], outputs=[np.zeros((2, 3), np.float32)])
    f.case("Gemm_opset6", "Gemm", [a, b, c], {"broadcast": 1}, opset=6, near=NEAR)
    f.case("Gemm_opset7", "Gemm", [a, b, c], opset=7, near=NEAR)
    f.error("Gemm_inner", "Gemm", [a, a], "a is [2,3], b is [2,3]; inner dimensions: 3 and 2 must be equal")
    f.error("Gemm_rank", "Gemm", [grid(1, (2, 3, 1)), b], "both must be matrices")
    f.error("Gemm_c", "Gemm", [a, b, grid(3, (3,))], "input 'C' is [3], which does not broadcast to [2,4]")
    for name, x, y in (("vectors", (3,), (3,)), ("row", (3,), (3, 2)), ("column", (2, 3), (3,)), ("batch", (2, 1, 2, 3), (3, 3, 2)), ("empty", (2, 0), (0, 3))):
        f.case(f"MatMul_{name}", "MatMul", [grid(5, x), grid(6, y)], near=NEAR)
    for dtype in SUM_TYPES:
        f.case(f"MatMul_{dtype}", "MatMul", [grid(1, (2, 3), dtype), grid(2, (3, 2), dtype)], near=tolerance(dtype) if dtype in FLOATS else None)
    f.error("MatMul_inner", "MatMul", [a, a], "a's last dimension must equal b's last but one")
    f.write()


@family
def einsum():
    f = File("einsum", "Einsum")
    a, b = grid(1, (2, 3)), grid(2, (3, 4))
    t, u = grid(3, (2, 3, 4)), grid(4, (2, 4, 2))
    plain = [("transpose", "ij->ji", [a]), ("sum", "ij->i", [a]), ("total", "ij->", [a]), ("matmul", "ij,jk->ik", [a, b]), ("implicit", "ij,jk", [a, b]),
             ("implicit_order", "ba", [a]), ("batch", "bij, bjk -> bik", [t, u]), ("diagonal", "ii->i", [grid(5, (3, 3))]), ("trace", "ii", [grid(5, (3, 3))]),
             ("batch_diagonal", "...ii->...i", [grid(6, (2, 3, 3))]), ("ellipsis", "...ij,...jk->...ik", [t, u]), ("ellipsis_implicit", "...ij,...jk", [t, u]),
             ("ellipsis_broadcast", "...ij,...jk->...ik", [grid(7, (2, 2, 3)), grid(8, (3, 2))]), ("ellipsis_middle", "i...j->j...i", [t]),
             ("outer", "i,j->ij", [arr([1, 2]), arr([3, 4, 5])]), ("three", "ij,jk,kl->il", [a, b, grid(9, (4, 2))]), ("inner", "i,i", [arr([1, 2]), arr([3, 4])]),
             ("capitals", "aB,Bc->ca", [a, b]), ("ellipsis_sum", "...j->...", [t]), ("scalar", "->", [arr(2.0)]), ("scalar_times", ",ij->ij", [arr(2.0), a])]
    for name, equation, inputs in plain:
        f.case(f"Einsum_{name}", "Einsum", inputs, {"equation": equation}, outputs=[np.asarray(np.einsum(equation.replace(" ", ""), *inputs))], near=NEAR)
    for dtype in NUMERIC:
        x, y = grid(1, (2, 3), dtype), grid(2, (3, 2), dtype)
        out = np.einsum("ij,jk->ik", x.astype(np.float64) if dtype in FLOATS else x, y.astype(np.float64) if dtype in FLOATS else y).astype(x.dtype)
        f.case(f"Einsum_{dtype}", "Einsum", [x, y], {"equation": "ij,jk->ik"}, outputs=[out], near=tolerance(dtype) if dtype in FLOATS else None)
    f.case("Einsum_ones", "Einsum", [grid(1, (1, 3)), grid(2, (2, 3))], {"equation": "ij,ij->ij"}, outputs=[grid(1, (1, 3)) * grid(2, (2, 3))])
    f.case("Einsum_opset12", "Einsum", [a, b], {"equation": "ij,jk->ik"}, outputs=[a @ b], opset=12, near=NEAR)
    f.error("Einsum_count", "Einsum", [a], "has 2 terms for 1 inputs", {"equation": "ij,jk->ik"})
    f.error("Einsum_rank", "Einsum", [a], "term 'ijk' does not fit a tensor of rank 2", {"equation": "ijk->i"})
    f.error("Einsum_sizes", "Einsum", [a, a], "label 'j': 3 and 2 must be equal", {"equation": "ij,jk->ik"})
    f.error("Einsum_unknown", "Einsum", [a], "label 'k' of the output occurs in no operand", {"equation": "ij->k"})
    f.error("Einsum_twice", "Einsum", [a], "label 'i' occurs twice in the output", {"equation": "ij->ii"})
    f.error("Einsum_character", "Einsum", [a], "holds a character that is no letter", {"equation": "i1->i"})
    f.error("Einsum_dots", "Einsum", [a], "has a malformed ellipsis", {"equation": "i..->i"})
    f.write()


@family
def conv():
    f = File("conv", "Conv")
    x, w = grid(1, (1, 2, 5, 5)), grid(2, (3, 2, 3, 3))

    def case(name, inputs, attributes=None, **more):
        f.case(name, "Conv", inputs, attributes, oracle="ort", near=(1e-5, 1e-5), **more)

    case("Conv_plain", [x, w])
    case("Conv_bias", [x, w, grid(3, (3,))])
    case("Conv_pads", [x, w], {"pads": [1, 2, 0, 1], "strides": [2, 1]})
    case("Conv_dilations", [grid(1, (1, 1, 7, 6)), grid(2, (1, 1, 3, 2))], {"dilations": [2, 3], "pads": [1, 1, 1, 1]})
    for mode in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        case(f"Conv_{mode}", [grid(1, (1, 1, 5, 6)), grid(2, (1, 1, 2, 3))], {"auto_pad": mode, "strides": [2, 2]})
        case(f"Conv_{mode}_wide_stride", [grid(1, (1, 1, 7)), grid(2, (1, 1, 2))], {"auto_pad": mode, "strides": [3]})
    case("Conv_group", [grid(1, (2, 4, 3, 3)), grid(2, (6, 2, 2, 2)), grid(3, (6,))], {"group": 2, "kernel_shape": [2, 2]})
    case("Conv_depthwise", [grid(1, (1, 3, 4, 4)), grid(2, (3, 1, 3, 3))], {"group": 3, "pads": [1, 1, 1, 1]})
    case("Conv_multiplier", [grid(1, (1, 2, 3, 3)), grid(2, (4, 1, 2, 2))], {"group": 2})
    case("Conv_1d", [grid(1, (2, 2, 6)), grid(2, (2, 2, 3))], {"pads": [1, 1]})
    case("Conv_3d", [grid(1, (1, 1, 3, 3, 3)), grid(2, (2, 1, 2, 2, 2))], {"strides": [1, 2, 1]})
    case("Conv_opset1", [x, w], {"pads": [1, 1, 1, 1]}, opset=1)
    f.case("Conv_f64", "Conv", [grid(1, (1, 1, 3, 3), "f64"), grid(2, (1, 1, 2, 2), "f64")], near=(1e-12, 1e-12))
    for dtype in ("f16", "bf16"):
        a, b = grid(1, (1, 1, 3), dtype), grid(2, (1, 1, 2), dtype)
        out = np.convolve(a.astype("f8").ravel(), b.astype("f8").ravel()[::-1], "valid").reshape(1, 1, 2).astype(a.dtype)
        f.case(f"Conv_{dtype}", "Conv", [a, b], outputs=[out], near=HALF)
    f.error("Conv_channels", "Conv", [x, grid(2, (3, 3, 3, 3))], "x is [1,2,5,5], w is [3,3,3,3], group is 1; x's channels must be w's second dimension times group")
    f.error("Conv_groups", "Conv", [x, grid(2, (3, 1, 3, 3))], "w's first dimension must be a multiple of group", {"group": 2})
    f.error("Conv_rank", "Conv", [x, grid(2, (3, 2, 3))], "both need the same rank of at least 3")
    f.error("Conv_bias_wrong", "Conv", [x, w, grid(3, (2,))], "b is [2], expected [3]")
    f.error("Conv_kernel_shape", "Conv", [x, w], "kernel_shape is [3,2], w is [3,2,3,3]", {"kernel_shape": [3, 2]})
    f.error("Conv_strides", "Conv", [x, w], "attribute 'strides' is [0,1], each must be at least 1", {"strides": [0, 1]})
    f.error("Conv_pads_wrong", "Conv", [x, w], "attribute 'pads' has 2 numbers, expected 4", {"pads": [1, 1]})
    f.error("Conv_fits", "Conv", [grid(1, (1, 2, 2, 5)), w], "a window of 3 does not fit into an axis of 2")
    f.error("Conv_auto_pad", "Conv", [x, w], "auto_pad is 'SAME'", {"auto_pad": "SAME"})
    f.write()


@family
def conv_transpose():
    f = File("conv_transpose", "ConvTranspose")

    def case(name, x, w, attributes=None, bias=None, **more):
        inputs = [grid(1, x), grid(2, w)] + ([grid(3, bias)] if bias else [])
        more.setdefault("oracle", "ort")
        f.case(name, "ConvTranspose", inputs, attributes, near=(1e-5, 1e-5), **more)

    case("ConvTranspose_plain", (1, 1, 3, 3), (1, 2, 3, 3))
    case("ConvTranspose_bias", (1, 2, 3, 3), (2, 2, 2, 2), bias=(2,))
    case("ConvTranspose_k4s2p1", (1, 1, 3, 3), (1, 1, 4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]})
    case("ConvTranspose_k3s2p1", (1, 2, 3, 2), (2, 1, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]})
    case("ConvTranspose_k2s3", (1, 1, 3, 2), (1, 2, 2, 2), {"strides": [3, 3]})
    case("ConvTranspose_k5s3", (1, 1, 3), (1, 1, 5), {"strides": [3], "pads": [2, 1]})
    case("ConvTranspose_dilated", (1, 1, 3, 3), (1, 1, 2, 2), {"dilations": [2, 2]})
    case("ConvTranspose_dilated_strided", (1, 1, 3, 4), (1, 2, 3, 2), {"dilations": [2, 3], "strides": [3, 2], "pads": [1, 0, 2, 1]})
    case("ConvTranspose_group", (2, 4, 2, 3), (4, 3, 2, 2), {"group": 2, "strides": [2, 1]}, bias=(6,))
    case("ConvTranspose_depthwise", (1, 3, 2, 2), (3, 1, 3, 3), {"group": 3, "strides": [2, 2]})
    case("ConvTranspose_3d", (1, 1, 2, 2, 2), (1, 1, 2, 3, 2), {"strides": [2, 1, 2]})
    for mode in ("SAME_UPPER", "SAME_LOWER"):
        case(f"ConvTranspose_{mode}", (1, 1, 3, 3), (1, 2, 3, 3), {"auto_pad": mode, "strides": [2, 2]}, oracle="reference")
        case(f"ConvTranspose_shape_{mode}", (1, 1, 3, 3), (1, 1, 4, 3), {"auto_pad": mode, "strides": [2, 2], "output_shape": [7, 6]}, oracle="reference")
    case("ConvTranspose_valid", (1, 1, 3), (1, 1, 3), {"auto_pad": "VALID", "strides": [2]})
    case("ConvTranspose_shape", (1, 1, 3, 3), (1, 2, 3, 3), {"strides": [3, 2], "output_shape": [8, 6]})
    # Opset 1 puts the odd element the other way round: SAME_UPPER there is SAME_LOWER now, all else SAME_UPPER.
    for old, new in (("SAME_UPPER", "SAME_LOWER"), ("SAME_LOWER", "SAME_UPPER"), ("NOTSET", "SAME_UPPER")):
        attributes = {"strides": [2], "output_shape": [6]}
        inputs = [grid(1, (1, 1, 3)), grid(2, (1, 1, 3))]
        outputs = by_reference("ConvTranspose", {**attributes, "auto_pad": new}, inputs, 1, NEWEST)
        f.case(f"ConvTranspose_opset1_{old}", "ConvTranspose", inputs, {**attributes, "auto_pad": old}, outputs=outputs, opset=1, near=NEAR,
               oracle=f"reference, as {new}")
    x = grid(1, (1, 1, 3))
    x[0, 0, 1] = np.inf
    f.case("ConvTranspose_infinite", "ConvTranspose", [x, arr([[[1, 2, 3]]])], {"strides": [2]}, near=NEAR,
           outputs=[np.array([[[x[0, 0, 0], 2 * x[0, 0, 0], np.inf, np.inf, np.inf, 2 * x[0, 0, 2], 3 * x[0, 0, 2]]]], np.float32)])
    w = grid(2, (1, 2, 3, 3))
    f.error("ConvTranspose_channels", "ConvTranspose", [grid(1, (1, 2, 3, 3)), w], "x's channels must be w's first dimension")
    f.error("ConvTranspose_bias_wrong", "ConvTranspose", [grid(1, (1, 1, 3, 3)), w, grid(3, (3,))], "b is [3], expected [2]")
    f.error("ConvTranspose_shape_wrong", "ConvTranspose", [grid(1, (1, 1, 3, 3)), w], "attribute 'output_shape' has 1 numbers, expected 2", {"output_shape": [4]})
    f.error("ConvTranspose_pads", "ConvTranspose", [grid(1, (1, 1, 1, 1)), w], "the padding leaves an output of -1", {"pads": [2, 2, 2, 2]})
    f.write()


@family
def pool():
    f = File("pool", "Pools")
    x = grid(1, (1, 2, 5, 5))

    def case(name, op, inputs, attributes, oracle="ort", **more):
        f.case(name, op, inputs, attributes, oracle=oracle, near=(1e-6, 1e-5), **more)

    for op in ("AveragePool", "MaxPool"):
        case(f"{op}_plain", op, [x], {"kernel_shape": [2, 2]})
        case(f"{op}_strides", op, [x], {"kernel_shape": [3, 2], "strides": [2, 1]})
        case(f"{op}_pads", op, [x], {"kernel_shape": [3, 3], "pads": [1, 2, 1, 0]})
        case(f"{op}_ceil", op, [x], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1})
        case(f"{op}_ceil_pads", op, [x], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1})
        case(f"{op}_ceil_in_padding", op, [grid(1, (1, 1, 2, 2))], {"kernel_shape": [1, 1], "strides": [2, 2], "pads": [0, 0, 0, 0], "ceil_mode": 1})
        case(f"{op}_dilations", op, [grid(2, (1, 1, 6, 6))], {"kernel_shape": [2, 3], "dilations": [3, 2], "pads": [1, 1, 0, 0]}, oracle="reference" if op == "AveragePool" else "ort")
        for mode in ("SAME_UPPER", "SAME_LOWER", "VALID"):
            case(f"{op}_{mode}", op, [grid(2, (1, 1, 5, 6))], {"kernel_shape": [2, 3], "strides": [2, 2], "auto_pad": mode})
        case(f"{op}_1d", op, [grid(2, (2, 1, 6))], {"kernel_shape": [3], "strides": [2], "pads": [1, 1]})
        case(f"{op}_3d", op, [grid(2, (1, 1, 3, 3, 3))], {"kernel_shape": [2, 2, 2]})
        case(f"{op}_opset7", op, [x], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, opset=7)
        f.error(f"{op}_kernel", op, [x], "attribute 'kernel_shape' is missing")
        f.error(f"{op}_rank", op, [x], "x is [1,2,5,5], kernel_shape is [2]", {"kernel_shape": [2]})
    # A window that would start in the padding behind the axis is no window: 2 outputs, not 3.
    f.case("MaxPool_starts_in_padding", "MaxPool", [arr([1, 2, 3], shape=(1, 1, 3))], {"kernel_shape": [1], "strides": [3], "pads": [0, 0], "ceil_mode": 1},
           outputs=[arr([1], shape=(1, 1, 1))], oracle="the text of MaxPool 22")
    f.case("AveragePool_starts_in_padding", "AveragePool", [arr([1, 2, 3, 4], shape=(1, 1, 4))],
           {"kernel_shape": [3], "strides": [3], "pads": [1, 1], "ceil_mode": 1, "count_include_pad": 1}, near=NEAR)
    for name, attributes in (("pads", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}), ("ceil", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 0, 0], "ceil_mode": 1}),
                             ("uneven", {"kernel_shape": [2, 3], "pads": [0, 1, 1, 2]})):
        case(f"AveragePool_include_{name}", "AveragePool", [grid(3, (1, 1, 4, 4))], {**attributes, "count_include_pad": 1}, oracle="reference")
    # No tap in the data: the mean of nothing, or with the padding counted a mean of zeros.
    for name, attributes in (("pads", {"kernel_shape": [2, 2], "pads": [2, 2, 2, 2]}), ("dilations", {"kernel_shape": [2, 1], "pads": [1, 0, 1, 0], "dilations": [3, 1]})):
        for include in (0, 1):
            case(f"AveragePool_outside_{name}{include}", "AveragePool", [grid(3, (1, 1, 2, 2))], {**attributes, "count_include_pad": include}, oracle="reference")
    case("MaxPool_negative", "MaxPool", [-1 - np.abs(x)], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})
    for dtype in ("i8", "u8", "f16", "bf16", "f64"):
        taps = grid(4, (1, 1, 4, 4), dtype)
        corners = [taps[:, :, i:i + 3, j:j + 3].astype("f8") for i in (0, 1) for j in (0, 1)]
        case(f"MaxPool_{dtype}", "MaxPool", [taps], {"kernel_shape": [2, 2]}, oracle="numpy", outputs=[np.max(corners, 0).astype(taps.dtype)])
    for order in (0, 1):
        case(f"MaxPool_indices{order}", "MaxPool", [grid(5, (2, 2, 4, 3))], {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1], "storage_order": order}, wanted=2)
        case(f"MaxPool_indices{order}_dilated", "MaxPool", [grid(5, (1, 2, 5, 4))], {"kernel_shape": [2, 2], "dilations": [2, 1], "strides": [2, 1], "storage_order": order}, wanted=2)
        case(f"MaxPool_indices{order}_3d", "MaxPool", [grid(6, (1, 1, 3, 2, 3))], {"kernel_shape": [2, 2, 2], "storage_order": order}, wanted=2)
    case("MaxPool_indices_ties", "MaxPool", [grid(7, (1, 1, 4, 4), "f32", 0, 1)], {"kernel_shape": [3, 3]}, wanted=2)
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        case(f"{op}_2d", op, [x], {})
        case(f"{op}_1d", op, [grid(2, (2, 3, 4))], {})
        for dtype in ("f16", "f64"):
            case(f"{op}_{dtype}", op, [grid(2, (1, 2, 2, 2), dtype)], {}, oracle="reference")
        case(f"{op}_opset1", op, [x], {}, opset=1)
        f.error(f"{op}_rank", op, [grid(2, (2,))], "x is [2], expected a batch axis and a channel axis")
    f.error("MaxPool_order", "MaxPool", [x], "attribute 'storage_order' is 2", {"kernel_shape": [2, 2], "storage_order": 2})
    f.write()


@family
def normalization():
    f = File("normalization", "Normalisations")
    x = grid(1, (2, 3, 2, 2))
    scale, bias, mean, var = grid(2, (3,)), grid(3, (3,)), grid(4, (3,)), np.abs(grid(5, (3,))) + np.float32(0.5)
    close = (1e-5, 1e-4)
    f.case("BatchNormalization_plain", "BatchNormalization", [x, scale, bias, mean, var], near=close)
    f.case("BatchNormalization_epsilon", "BatchNormalization", [x, scale, bias, mean, var], {"epsilon": 0.25}, near=close)
    f.case("BatchNormalization_matrix", "BatchNormalization", [grid(1, (4, 3)), scale, bias, mean, var], near=close)
    f.case("BatchNormalization_training", "BatchNormalization", [x, scale, bias, mean, var], {"training_mode": 1, "momentum": 0.75}, near=close, wanted=3)
    f.case("BatchNormalization_training_one", "BatchNormalization", [x, scale, bias, mean, var], {"training_mode": 1}, near=close,
           outputs=[((x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5) * scale[:, None, None] + bias[:, None, None]).astype("f4")])
    f.case("BatchNormalization_opset9", "BatchNormalization", [x, scale, bias, mean, var], opset=9, near=close, oracle="ort")
    f.case("BatchNormalization_opset7", "BatchNormalization", [x, scale, bias, mean, var], {"spatial": 1}, opset=7, near=close, oracle="ort")
    plain = (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5) * scale[:, None, None] + bias[:, None, None]
    f.case("BatchNormalization_opset6", "BatchNormalization", [x, scale, bias, mean, var], {"is_test": 1}, opset=6, near=close, outputs=[plain.astype("f4")])
    f.case("BatchNormalization_opset1", "BatchNormalization", [x, scale, bias, mean, var], {"is_test": 1, "consumed_inputs": [0, 0, 0, 1, 1]}, opset=1, near=close,
           outputs=[plain.astype("f4")])
    half = [a.astype(np.float16) for a in (x, scale, bias)]
    f.case("BatchNormalization_f16_f32", "BatchNormalization", half + [mean, var], near=(1e-2, 1e-2), outputs=[plain.astype("f2")])
    f.case("BatchNormalization_f64", "BatchNormalization", [a.astype("f8") for a in (x, scale, bias, mean, var)], near=(1e-12, 1e-12))
    f.error("BatchNormalization_channels", "BatchNormalization", [x, grid(2, (4,)), bias, mean, var], "x is [2,3,2,2], 'scale' is [4]; channels: 3 and 4 must be equal")
    f.error("BatchNormalization_vector", "BatchNormalization", [x, grid(2, (3, 1)), bias, mean, var], "input 'scale' is [3,1], expected a vector")

    for dtype in ("f32", "f64"):
        f.case(f"InstanceNormalization_{dtype}", "InstanceNormalization", [a.astype({"f32": "f4", "f64": "f8"}[dtype]) for a in (x, scale, bias)], near=close)
    f.case("InstanceNormalization_1d", "InstanceNormalization", [grid(1, (2, 3, 5)), scale, bias], {"epsilon": 0.01}, near=close)
    f.case("InstanceNormalization_opset6", "InstanceNormalization", [x, scale, bias], opset=6, near=close)
    f.error("InstanceNormalization_channels", "InstanceNormalization", [x, grid(2, (2,)), bias], "channels: 3 and 2 must be equal")

    y = grid(1, (2, 4, 3))
    f.case("GroupNormalization_f32", "GroupNormalization", [y, grid(2, (4,)), grid(3, (4,))], {"num_groups": 2}, near=close, oracle="ort", opset=21)
    f.case("GroupNormalization_f16", "GroupNormalization", [y.astype("f2"), grid(2, (4,), "f16"), grid(3, (4,), "f16")], {"num_groups": 2}, near=(1e-2, 1e-2))
    f.case("GroupNormalization_epsilon", "GroupNormalization", [y, grid(2, (4,)), grid(3, (4,))], {"num_groups": 4, "epsilon": 0.5}, near=close)
    f.error("GroupNormalization_groups", "GroupNormalization", [y, grid(2, (4,)), grid(3, (4,))], "whose channels are no multiple of num_groups=3", {"num_groups": 3})

    z = grid(1, (2, 3, 4))
    for axis in (-1, 1, 0, -2):
        size = z.shape[axis:]
        f.case(f"LayerNormalization_axis{axis}", "LayerNormalization", [z, grid(2, size), grid(3, size)], {"axis": axis}, near=close, oracle="ort", wanted=3)
        f.case(f"RMSNormalization_axis{axis}", "RMSNormalization", [z, grid(2, size)], {"axis": axis}, near=close)
    f.case("LayerNormalization_no_bias", "LayerNormalization", [z, grid(2, (4,))], {"epsilon": 0.25}, near=close, oracle="ort")
    f.case("LayerNormalization_f16", "LayerNormalization", [z.astype("f2"), grid(2, (4,), "f16"), grid(3, (4,), "f16")], near=(1e-2, 1e-2))
    f.case("LayerNormalization_f64", "LayerNormalization", [z.astype("f8"), grid(2, (4,), "f64")], near=(1e-10, 1e-10), outputs=[
        ((z.astype("f8") - z.mean(-1, keepdims=True, dtype="f8")) / np.sqrt(z.var(-1, keepdims=True, dtype="f8") + np.float64(np.float32(1e-5))) * grid(2, (4,), "f64"))])
    f.error("LayerNormalization_scale", "LayerNormalization", [z, grid(2, (3,))], "input 'Scale' is [3], which does not broadcast to [2,3,4]")
    f.error("LayerNormalization_stash", "LayerNormalization", [z, grid(2, (4,))], "attribute 'stash_type' is 10", {"stash_type": 10})
    f.case("RMSNormalization_mixed", "RMSNormalization", [z.astype("f2"), grid(2, (4,))], near=(1e-2, 1e-2),
           outputs=[(z / np.sqrt((z**2).mean(-1, keepdims=True) + 1e-5) * grid(2, (4,))).astype("f4")])

    c = grid(1, (2, 5, 2, 2))
    f.case("LRN_3", "LRN", [c], {"size": 3, "alpha": 0.5, "beta": 0.5, "bias": 2.0}, near=close, oracle="ort")
    f.case("LRN_defaults", "LRN", [c], {"size": 5}, near=close, oracle="ort")
    squares = np.stack([(c[:, max(0, i - 1):i + 3] ** 2).sum(1) for i in range(5)], 1)
    f.case("LRN_even", "LRN", [c], {"size": 4, "alpha": 0.5}, near=close, outputs=[(c / (1 + 0.125 * squares) ** 0.75).astype("f4")])
    everything = (c * c).sum(axis=1, keepdims=True)
    f.case("LRN_all", "LRN", [c], {"size": 1000000, "alpha": 500000.0}, near=close, outputs=[(c / (1 + 0.5 * everything) ** 0.75).astype("f4")])
    f.case("LRN_beyond", "LRN", [c], {"size": 2**63 - 1, "alpha": 0.5}, near=close, outputs=[c])
    f.error("LRN_size", "LRN", [c], "attribute 'size' is 0", {"size": 0})
    f.write()
