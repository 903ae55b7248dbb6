"""The cases of forms that only old models have."""
import numpy as np

from families import NEAR, family
from make_cases import File, arr, grid


@family
def old_forms():
    """Forms whose upgrade puts further nodes around the operator."""
    f = File("old_forms", "Old forms of operators")
    a, b = grid(1, (2, 3, 4)), grid(2, (3,))
    for op in ("Add", "Sub", "Mul", "Div"):
        step = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[op]
        divisor = np.abs(b) + np.float32(1)
        f.case(f"{op}_axis", op, [a, divisor], {"broadcast": 1, "axis": 1}, outputs=[step(a, divisor[:, None])], opset=6, near=NEAR)
        f.case(f"{op}_suffix", op, [a, divisor[:1]], {"broadcast": 1}, outputs=[step(a, divisor[:1])], opset=1, near=NEAR)
    f.case("Pow_axis", "Pow", [np.abs(a), arr([2, 3])], {"broadcast": 1, "axis": 0}, outputs=[np.abs(a) ** arr([2, 3])[:, None, None]], opset=1, near=NEAR)
    f.case("Greater_axis", "Greater", [a, grid(3, (2, 3))], {"broadcast": 1, "axis": 0}, outputs=[a > grid(3, (2, 3))[:, :, None]], opset=1)
    f.case("And_last", "And", [a > 0, grid(3, (4,)) > 0], {"broadcast": 1, "axis": 2}, outputs=[(a > 0) & (grid(3, (4,)) > 0)], opset=1)
    f.case("Add_same", "Add", [a, a], {"broadcast": 0}, outputs=[a + a], opset=6)
    f.error("Add_axis_far", "Add", [a, grid(3, (3, 4))], "does not fit into the first, of rank 3, at axis 2", {"broadcast": 1, "axis": 2}, opset=6)
    f.error("Add_axis_kind", "Add", [a, b], "attribute 'axis' is a real, expected an integer", {"broadcast": 1, "axis": 1.0}, opset=6)
    f.error("Clip_kind", "Clip", [a], "attribute 'min' is an integer, expected a real", {"min": 1}, opset=6)
    x, slope = grid(1, (2, 3, 2, 2)), grid(2, (3,))
    f.case("PRelu_channels", "PRelu", [x, slope], outputs=[np.where(x < 0, slope[:, None, None] * x, x)], opset=6)
    f.case("PRelu_shared", "PRelu", [x, slope[:1]], outputs=[np.where(x < 0, slope[0] * x, x)], opset=1)
    flat = grid(3, (2, 3, 2))
    for axis in (0, 1, 2):
        rows = flat.reshape(int(np.prod(flat.shape[:axis])), -1).astype("f8")
        e = np.exp(rows - rows.max(1, keepdims=True))
        y = e / e.sum(1, keepdims=True)
        f.case(f"Softmax_flattened{axis}", "Softmax", [flat], {"axis": axis}, outputs=[y.reshape(flat.shape).astype("f4")], opset=11, near=NEAR)
        f.case(f"LogSoftmax_flattened{axis}", "LogSoftmax", [flat], {"axis": axis}, outputs=[np.log(y).reshape(flat.shape).astype("f4")], opset=1, near=NEAR)
    f.case("Softmax_empty", "Softmax", [grid(3, (2, 0, 3))], {"axis": 1}, outputs=[np.zeros((2, 0, 3), np.float32)], opset=11)
    y = grid(4, (2, 4, 3))
    scale, bias = grid(5, (2,)), grid(6, (2,))
    groups = y.reshape(2, 2, 6).astype("f8")
    normal = (groups - groups.mean(2, keepdims=True)) / np.sqrt(groups.var(2, keepdims=True) + np.float64(np.float32(1e-5)))
    f.case("GroupNormalization_per_group", "GroupNormalization", [y, scale, bias], {"num_groups": 2}, opset=18, near=(1e-5, 1e-4),
           outputs=[(normal * scale[:, None] + bias[:, None]).reshape(y.shape).astype("f4")])
    c = [grid(i, (3, 2, 2)) for i in (7, 8, 9)] + [np.abs(grid(10, (3, 2, 2))) + np.float32(0.5)]
    per_element = (x - c[2]) / np.sqrt(c[3] + 1e-5) * c[0] + c[1]
    for opset in (1, 6, 7):
        is_test = {"is_test": 1} if opset < 7 else {}
        f.case(f"BatchNormalization_per_activation{opset}", "BatchNormalization", [x, *c], {**is_test, "spatial": 0}, opset=opset, near=(1e-5, 1e-4),
               outputs=[per_element.astype("f4")])
    v = grid(2, (3,)), grid(3, (3,)), grid(4, (3,)), np.abs(grid(5, (3,))) + np.float32(0.5)
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    trained = (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5) * v[0][:, None, None] + v[1][:, None, None]
    f.case("BatchNormalization_trained7", "BatchNormalization", [x, *v], {"momentum": 0.75}, opset=7, near=(1e-5, 1e-4),
           outputs=[trained.astype("f4"), 0.75 * v[2] + 0.25 * mean, 0.75 * v[3] + 0.25 * var, None, None])
    f.error("BatchNormalization_outputs", "BatchNormalization", [x, *v], "has 3 outputs, expected 1 without training_mode", opset=14, wanted=3)
    f.case("ReduceSum_opset11", "ReduceSum", [a], {"axes": [-1], "keepdims": 0}, outputs=[a.sum(-1)], opset=11, near=NEAR)
    f.write()
