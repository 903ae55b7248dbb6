"""The cases of operators that move, gather and scatter elements; make_cases.py writes them."""
import numpy as np

from families import NUMERIC, family
from make_cases import File, arr, grid

PACKED = ["u4", "i4", "u2", "i2"]
NARROW = ["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f4e2m1", "f8e8m0"]
BASIC = NUMERIC + ["bool"]
EVERY = BASIC + PACKED + NARROW
I = "i64"


def few(dtype, count=6):
    """Numbers that every type holds, packed 2-bit ones included."""
    values = [1, 2, 1, 2, 2, 1, 1, 1, 2, 2, 1, 2] if dtype in ("f8e8m0", "f4e2m1") else [1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0]
    return arr(values[:count], dtype)


def words(*values, shape=None):
    out = np.array(values, object)
    return out if shape is None else out.reshape(shape)


def ints(*values):
    return arr(list(values), I)


@family
def reshape():
    f = File("reshape", "Reshape, Flatten, Squeeze, Unsqueeze, Identity")
    x = grid(1, (2, 3, 4))
    for dtype in EVERY:
        f.case(f"Reshape_{dtype}", "Reshape", [few(dtype), ints(3, 2)], outputs=[few(dtype).reshape(3, 2)])
        f.case(f"Identity_{dtype}", "Identity", [few(dtype)], outputs=[few(dtype)])
        f.case(f"Flatten_{dtype}", "Flatten", [few(dtype).reshape(1, 3, 2)], outputs=[few(dtype).reshape(1, 6)])
        f.case(f"Squeeze_{dtype}", "Squeeze", [few(dtype).reshape(1, 3, 1, 2), ints(0, 2)], outputs=[few(dtype).reshape(3, 2)])
        f.case(f"Unsqueeze_{dtype}", "Unsqueeze", [few(dtype, 3), ints(0)], outputs=[few(dtype, 3).reshape(1, 3)])
    text = words("a", "b c", "", "d")
    f.case("Reshape_strings", "Reshape", [text, ints(2, 2)])
    f.case("Identity_strings", "Identity", [text])
    f.case("Squeeze_strings", "Squeeze", [text.reshape(1, 4)])
    f.case("Unsqueeze_strings", "Unsqueeze", [text, ints(-1)])
    f.case("Flatten_strings", "Flatten", [text.reshape(2, 1, 2)])
    for name, shape in (("keep", (0, -1)), ("rest", (4, -1)), ("one", (-1,)), ("same", (2, 3, 4)), ("more", (2, 1, 3, 2, 2)), ("keep_all", (0, 0, 0))):
        f.case(f"Reshape_{name}", "Reshape", [x, ints(*shape)])
    f.case("Reshape_scalar", "Reshape", [arr([2.5]), arr([], I)])
    f.case("Reshape_from_scalar", "Reshape", [arr(2.5), ints(1, 1)])
    f.case("Reshape_empty", "Reshape", [grid(1, (0, 3)), ints(3, 0)], {"allowzero": 1})
    f.case("Reshape_empty_keep", "Reshape", [grid(1, (0, 3)), ints(0, 3, 1)])
    f.case("Reshape_opset1", "Reshape", [x], {"shape": [4, -1]}, opset=1, outputs=[x.reshape(4, -1)])
    f.case("Reshape_opset5", "Reshape", [x, ints(0, -1)], opset=5)
    f.error("Reshape_count", "Reshape", [x, ints(5, 5)], "[2,3,4] cannot become [5,5]: 24 elements are not 25")
    f.error("Reshape_no_rest", "Reshape", [x, ints(5, -1)], "has 24 elements, which 5 does not divide")
    f.error("Reshape_twice", "Reshape", [x, ints(-1, -1)], "the shape holds -1 twice")
    f.error("Reshape_negative", "Reshape", [x, ints(-2, 3)], "the shape holds -2")
    f.error("Reshape_keep_beyond", "Reshape", [grid(1, (2,)), ints(2, 0)], "has no dimension of [2] to keep")
    f.error("Reshape_open", "Reshape", [grid(1, (0, 3)), ints(0, -1)], "leaves the size open", {"allowzero": 1})
    for axis in (0, 1, 2, 3, -1, -3):
        f.case(f"Flatten_axis{axis}", "Flatten", [x], {"axis": axis})
    f.case("Flatten_scalar", "Flatten", [arr(1.5)], {"axis": 0}, outputs=[arr([[1.5]])])
    f.case("Flatten_empty", "Flatten", [grid(1, (2, 0, 3))], {"axis": 2}, outputs=[np.zeros((0, 3), np.float32)])
    f.case("Flatten_opset1", "Flatten", [x], opset=1, outputs=[x.reshape(2, 12)])
    f.error("Flatten_axis", "Flatten", [x], "axis 4 is outside [-3, 3]", {"axis": 4})
    y = grid(2, (1, 3, 1, 2))
    f.case("Squeeze_all", "Squeeze", [y])
    f.case("Squeeze_one", "Squeeze", [y, ints(2)])
    f.case("Squeeze_negative", "Squeeze", [y, ints(-2, 0)])
    f.case("Squeeze_opset1", "Squeeze", [y], {"axes": [0]}, opset=1, outputs=[y[0]])
    f.case("Squeeze_opset11", "Squeeze", [y], {"axes": [-2]}, opset=11)
    f.case("Squeeze_empty", "Squeeze", [grid(1, (1, 0, 2)), ints(0)])
    f.error("Squeeze_wide", "Squeeze", [y, ints(1)], "axis 1 of [1,3,1,2] is 3, only 1 can be squeezed")
    f.error("Squeeze_axis", "Squeeze", [y, ints(4)], "axis 4 is outside [-4, 3]")
    f.case("Unsqueeze_two", "Unsqueeze", [x, ints(0, 4)])
    f.case("Unsqueeze_unsorted", "Unsqueeze", [grid(1, (2, 3)), ints(3, 0)])
    f.case("Unsqueeze_negative", "Unsqueeze", [x, ints(-1, 1)])
    f.case("Unsqueeze_scalar", "Unsqueeze", [arr(2.0), ints(0)])
    f.case("Unsqueeze_opset1", "Unsqueeze", [grid(1, (2, 3))], {"axes": [0, 2]}, opset=1, outputs=[grid(1, (2, 3)).reshape(1, 2, 1, 3)])
    f.case("Unsqueeze_opset11", "Unsqueeze", [grid(1, (2, 3))], {"axes": [-1]}, opset=11)
    f.error("Unsqueeze_axis", "Unsqueeze", [x, ints(4)], "axis 4 is outside [-4, 3]")
    f.error("Unsqueeze_twice", "Unsqueeze", [x, ints(0, -5)], "name an axis twice")
    f.write()


@family
def transpose():
    f = File("transpose", "Transpose")
    x = grid(1, (2, 3, 4))
    for dtype in EVERY:
        f.case(f"Transpose_{dtype}", "Transpose", [few(dtype).reshape(2, 3)], outputs=[few(dtype).reshape(2, 3).T])
    f.case("Transpose_strings", "Transpose", [words("a", "b", "c", "d", shape=(2, 2))])
    for perm in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        f.case("Transpose_" + "".join(map(str, perm)), "Transpose", [x], {"perm": perm})
    f.case("Transpose_default", "Transpose", [x])
    f.case("Transpose_scalar", "Transpose", [arr(1.5)])
    f.case("Transpose_empty", "Transpose", [grid(1, (2, 0, 3))], {"perm": [2, 0, 1]})
    f.case("Transpose_opset1", "Transpose", [x], {"perm": [2, 0, 1]}, opset=1)
    f.error("Transpose_count", "Transpose", [x], "perm [0,1] has 2 axes, the input [2,3,4] has 3", {"perm": [0, 1]})
    f.error("Transpose_twice", "Transpose", [x], "axis twice", {"perm": [0, 0, 1]})
    f.error("Transpose_axis", "Transpose", [x], "axis 3 is outside", {"perm": [0, 1, 3]})
    f.error("Transpose_negative", "Transpose", [x], "perm [-1,0,1] holds a negative axis", {"perm": [-1, 0, 1]})
    f.write()


@family
def concat():
    f = File("concat", "Concat and Split")
    a, b = grid(1, (2, 3)), grid(2, (2, 2))
    for dtype in BASIC:
        f.case(f"Concat_{dtype}", "Concat", [few(dtype), few(dtype, 3)], {"axis": 0})
        f.case(f"Split_{dtype}", "Split", [few(dtype), ints(2, 4)], wanted=2)
    f.case("Concat_strings", "Concat", [words("a", "b"), words("c"), words("d")], {"axis": 0})
    f.case("Concat_axis1", "Concat", [a, b], {"axis": 1})
    f.case("Concat_negative", "Concat", [a, b, a], {"axis": -1})
    f.case("Concat_one", "Concat", [a], {"axis": 0})
    f.case("Concat_empty", "Concat", [grid(1, (0, 3)), a, grid(1, (0, 3))], {"axis": 0})
    f.case("Concat_all_empty", "Concat", [grid(1, (2, 0)), grid(1, (2, 0))], {"axis": 1})
    f.case("Concat_opset1", "Concat", [a, b], opset=1, outputs=[np.concatenate([a, b], 1)])
    f.case("Concat_opset4", "Concat", [a, a], {"axis": 0}, opset=4)
    f.error("Concat_axis", "Concat", [a, b], "axis 2 is outside [-2, 1]", {"axis": 2})
    f.error("Concat_no_axis", "Concat", [a, a], "attribute 'axis' is missing")
    f.error("Concat_ranks", "Concat", [a, grid(1, (2,))], "input 0 is [2,3], input 1 is [2]; ranks must be equal", {"axis": 0})
    f.error("Concat_sizes", "Concat", [a, b], "axis 1: 3 and 2 must be equal", {"axis": 0})
    f.error("Concat_types", "Concat", [a, grid(1, (2, 3), "i32")], "is i32, but must be f32", {"axis": 0})
    x = grid(3, (2, 7))
    f.case("Split_strings", "Split", [words("a", "b", "c"), ints(1, 2)], outputs=[words("a"), words("b", "c")])
    f.case("Split_even", "Split", [grid(3, (6,))], {"num_outputs": 3}, wanted=3)
    f.case("Split_uneven", "Split", [x], {"num_outputs": 3, "axis": 1}, outputs=[x[:, :3], x[:, 3:6], x[:, 6:]])
    f.case("Split_short", "Split", [grid(3, (5,))], {"num_outputs": 4}, outputs=[grid(3, (5,))[s] for s in (slice(0, 2), slice(2, 4), slice(4, 5), slice(5, 5))])
    f.case("Split_negative", "Split", [x, ints(2, 5)], {"axis": -1}, wanted=2)
    f.case("Split_zero", "Split", [x, ints(0, 7)], {"axis": 1}, wanted=2)
    f.case("Split_empty", "Split", [grid(1, (0, 2)), ints(0, 0)], wanted=2)
    f.case("Split_opset1", "Split", [x], {"split": [3, 4], "axis": 1}, opset=1, outputs=[x[:, :3], x[:, 3:]])
    f.case("Split_opset2", "Split", [grid(3, (4, 2))], opset=2, outputs=[grid(3, (4, 2))[:2], grid(3, (4, 2))[2:]])
    f.case("Split_opset11", "Split", [x], {"split": [1, 6], "axis": -1}, opset=11, outputs=[x[:, :1], x[:, 1:]])
    f.case("Split_opset13", "Split", [grid(3, (4, 2))], opset=13, outputs=[grid(3, (4, 2))[:2], grid(3, (4, 2))[2:]])
    f.error("Split_total", "Split", [x, ints(3, 3)], "the parts of split add up to 6, the axis is 7", {"axis": 1}, wanted=2)
    f.error("Split_parts", "Split", [x, ints(3, 4)], "split has 2 parts, the node has 3 outputs", {"axis": 1}, wanted=3)
    f.error("Split_outputs", "Split", [x], "num_outputs is 3, the node has 2 outputs", {"axis": 1, "num_outputs": 3}, wanted=2)
    f.error("Split_negative_part", "Split", [x, ints(-1, 8)], "-1", {"axis": 1}, wanted=2)
    f.write()


@family
def slice_():
    f = File("slice", "Slice")
    x = grid(1, (4, 5))
    for dtype in BASIC:
        f.case(f"Slice_{dtype}", "Slice", [few(dtype), ints(1), ints(5), ints(0), ints(2)])
    f.case("Slice_strings", "Slice", [words("a", "b", "c", "d"), ints(3), ints(0), ints(0), ints(-1)])
    big = 2**63 - 1
    rows = [("plain", [1], [3], [0], [1]), ("negative", [-3], [-1], [1], [1]), ("clamped", [-9], [99], [0], [1]), ("huge", [1], [big], [1], [1]),
            ("none", [3], [1], [0], [1]), ("step", [0], [5], [1], [2]), ("back", [4], [0], [1], [-2]), ("back_all", [-1], [-big], [0], [-1]),
            ("back_clamped", [99], [-99], [1], [-3]), ("two", [1, 0], [3, 4], [0, 1], [1, 2]), ("axes_unsorted", [0, 1], [4, 3], [1, 0], [2, 1]),
            ("axes_negative", [1], [4], [-1], [1]), ("beyond", [7], [9], [1], [1]), ("huge_step", [1], [5], [1], [big]), ("lowest_step", [4], [-9], [1], [-big]),
            ("lowest_step_of_all", [4], [-9], [1], [-big - 1])]
    for name, *bounds in rows:
        f.case(f"Slice_{name}", "Slice", [x] + [ints(*b) for b in bounds])
    f.case("Slice_defaults", "Slice", [x, ints(1, 1), ints(3, 3)])
    f.case("Slice_i32_bounds", "Slice", [x, arr([1], "i32"), arr([3], "i32"), arr([1], "i32")])
    f.case("Slice_no_axes", "Slice", [x, ints(3, 4), ints(0, 0), None, ints(-1, -2)])
    f.case("Slice_empty", "Slice", [grid(1, (0, 3)), ints(0), ints(1), ints(0)])
    f.case("Slice_lowest", "Slice", [x, ints(3), ints(-2**63), ints(0), ints(-1)], outputs=[x[::-1]])
    f.case("Slice_opset1", "Slice", [x], {"starts": [1, -3], "ends": [3, 9]}, opset=1, outputs=[x[1:3, -3:9]])
    f.case("Slice_opset1_axes", "Slice", [x], {"starts": [1], "ends": [-1], "axes": [1]}, opset=1, outputs=[x[:, 1:-1]])
    f.case("Slice_opset10", "Slice", [x, ints(0), ints(4), ints(0), ints(3)], opset=10)
    f.error("Slice_step_zero", "Slice", [x, ints(0), ints(1), ints(0), ints(0)], "a step is 0")
    f.error("Slice_counts", "Slice", [x, ints(0, 0), ints(1)], "starts has 2 entries, ends has 1")
    f.error("Slice_axes", "Slice", [x, ints(0), ints(1), ints(0, 1)], "axes has 2 entries, starts has 1")
    f.error("Slice_steps", "Slice", [x, ints(0), ints(1), ints(0), ints(1, 1)], "steps has 2 entries, starts has 1")
    f.error("Slice_axis", "Slice", [x, ints(0), ints(1), ints(2)], "axis 2 is outside [-2, 1]")
    f.error("Slice_twice", "Slice", [x, ints(0, 0), ints(1, 1), ints(1, -1)], "name an axis twice")
    f.write()


@family
def expand():
    f = File("expand", "Expand and Tile")
    x = grid(1, (2, 1, 3))
    for dtype in BASIC:
        f.case(f"Expand_{dtype}", "Expand", [few(dtype, 3), ints(2, 3)])
        f.case(f"Tile_{dtype}", "Tile", [few(dtype, 3), ints(2)])
    f.case("Expand_strings", "Expand", [words("a", "b"), ints(2, 2)], outputs=[words("a", "b", "a", "b", shape=(2, 2))])
    f.case("Tile_strings", "Tile", [words("a", "b"), ints(2)])
    for name, shape in (("middle", (2, 4, 3)), ("ones", (1, 1, 1)), ("longer", (5, 1, 4, 1)), ("shorter", (4, 1)), ("empty", (2, 0, 3)), ("same", (2, 1, 3))):
        f.case(f"Expand_{name}", "Expand", [x, ints(*shape)])
    f.case("Expand_scalar", "Expand", [arr(2.5), ints(2, 2)])
    f.case("Expand_to_scalar", "Expand", [arr(2.5), arr([], I)])
    f.case("Expand_opset8", "Expand", [x, ints(2, 2, 3)], opset=8)
    f.error("Expand_shapes", "Expand", [x, ints(2, 2, 2)], "do not broadcast")
    f.error("Expand_negative", "Expand", [x, ints(2, -1, 3)], "-1")
    for name, repeats in (("two", (1, 2, 2)), ("none", (1, 1, 1)), ("zero", (1, 0, 1))):
        f.case(f"Tile_{name}", "Tile", [x, ints(*repeats)])
    f.case("Tile_scalar", "Tile", [arr(2.5), arr([], I)])
    f.case("Tile_empty", "Tile", [grid(1, (0, 2)), ints(3, 2)])
    f.case("Tile_opset1", "Tile", [x, arr([3], "f32"), arr([1], "f32")], opset=1, outputs=[np.tile(x, (1, 3, 1))])
    f.case("Tile_opset6", "Tile", [x, ints(2, 1, 1)], opset=6)
    f.error("Tile_count", "Tile", [x, ints(2)], "repeats has 1 entries, the input [2,1,3] has 3 axes")
    f.error("Tile_negative", "Tile", [x, ints(1, -1, 1)], "repeats holds a negative number")
    f.write()


@family
def gather():
    f = File("gather", "Gather, GatherElements, GatherND")
    x = grid(1, (3, 4, 2))
    for dtype in BASIC:
        d = few(dtype).reshape(3, 2)
        f.case(f"Gather_{dtype}", "Gather", [d, ints(2, 0)])
        f.case(f"GatherElements_{dtype}", "GatherElements", [d, ints(2, 0).reshape(1, 2)])
        f.case(f"GatherND_{dtype}", "GatherND", [d, arr([[2, 0], [0, 1]], I)])
    text = words("a", "b", "c", "d", shape=(2, 2))
    f.case("Gather_strings", "Gather", [text, ints(1)], {"axis": 1})
    f.case("GatherElements_strings", "GatherElements", [text, arr([[1, 0]], I)])
    f.case("GatherND_strings", "GatherND", [text, arr([[1], [0]], I)])
    for axis in (0, 1, 2, -1, -3):
        f.case(f"Gather_axis{axis}", "Gather", [x, arr([[1, 0], [0, -1]], I)], {"axis": axis})
    f.case("Gather_scalar_index", "Gather", [x, arr(1, I)], {"axis": 1})
    f.case("Gather_i32_index", "Gather", [x, arr([2, -3], "i32")])
    f.case("Gather_no_index", "Gather", [x, arr([], I)])
    f.case("Gather_empty", "Gather", [grid(1, (3, 0)), ints(1, 2)])
    f.case("Gather_opset1", "Gather", [x, ints(1, 2)], {"axis": 0}, opset=1)
    f.error("Gather_high", "Gather", [x, ints(0, 3)], "an index is outside the axis")
    f.error("Gather_low", "Gather", [x, ints(-4)], "an index is outside the axis")
    f.error("Gather_axis", "Gather", [x, ints(0)], "axis 3 is outside [-3, 2]", {"axis": 3})
    f.error("Gather_type", "Gather", [x, arr([0.0])], "input 'indices' is f32, allowed are i32, i64")
    e = grid(2, (3, 3))
    f.case("GatherElements_axis1", "GatherElements", [e, arr([[0, 0], [2, -1]], I)], {"axis": 1}, outputs=[np.array([e[0, [0, 0]], e[1, [2, -1]]])])
    f.case("GatherElements_negative", "GatherElements", [e, arr([[-1, -2, 0]], "i32")], {"axis": -2})
    f.case("GatherElements_empty", "GatherElements", [e, np.zeros((0, 3), np.int64)])
    f.error("GatherElements_rank", "GatherElements", [e, ints(0)], "data is [3,3], indices is [1]; ranks must be equal")
    f.error("GatherElements_high", "GatherElements", [e, arr([[3]], I)], "an index is outside the axis")
    f.error("GatherElements_wide", "GatherElements", [e, np.zeros((1, 4), np.int64)], "axis 1 of indices is longer than data's")
    f.case("GatherND_elements", "GatherND", [e, arr([[0, 0], [2, 1]], I)])
    f.case("GatherND_rows", "GatherND", [x, arr([[[1]], [[-1]]], I)])
    f.case("GatherND_batch", "GatherND", [x, arr([[[1]], [[0]], [[3]]], I)], {"batch_dims": 1})
    f.case("GatherND_batch2", "GatherND", [x, np.array([[[1]] * 4, [[0]] * 4, [[1]] * 4], np.int64)], {"batch_dims": 2})
    f.case("GatherND_opset11", "GatherND", [e, arr([[1]], I)], opset=11)
    f.error("GatherND_width", "GatherND", [e, arr([[0, 0, 0]], I)], "the last axis of indices counts axes of data")
    f.error("GatherND_high", "GatherND", [e, arr([[0, 3]], I)], "an index is outside the axis")
    f.error("GatherND_batch_dims", "GatherND", [e, arr([[0]], I)], "batch_dims is 2", {"batch_dims": 2})
    f.write()


@family
def scatter():
    f = File("scatter", "ScatterElements and ScatterND")
    e = grid(1, (3, 3))
    for dtype in BASIC:
        d = few(dtype, 3)
        f.case(f"ScatterElements_{dtype}", "ScatterElements", [d, ints(2, 0), few(dtype, 2)[::-1].copy()])
        f.case(f"ScatterND_{dtype}", "ScatterND", [d, arr([[1], [-1]], I), few(dtype, 2)])
    text = words("a", "b", "c")
    f.case("ScatterElements_strings", "ScatterElements", [text, ints(1), words("new")], outputs=[words("a", "new", "c")])
    f.case("ScatterND_strings", "ScatterND", [text, arr([[2]], I), words("new")], outputs=[words("a", "b", "new")])
    for reduction in ("none", "add", "mul", "max", "min"):
        for dtype in ("f32", "f16", "i64", "u8"):
            f.case(f"ScatterElements_{reduction}_{dtype}", "ScatterElements", [grid(2, (4,), dtype), ints(1, 1, 3) if reduction != "none" else ints(1, 0, 3), grid(3, (3,), dtype)],
                   {"reduction": reduction})
            f.case(f"ScatterND_{reduction}_{dtype}", "ScatterND", [grid(2, (4, 2), dtype), arr([[1], [1], [3]] if reduction != "none" else [[1], [0], [3]], I), grid(3, (3, 2), dtype)],
                   {"reduction": reduction})
    f.case("ScatterND_max_nan", "ScatterND", [arr([1.0, np.nan]), arr([[0], [1]], I), arr([np.nan, 1.0])], {"reduction": "max"})
    f.case("ScatterElements_axis1", "ScatterElements", [e, arr([[0, 2], [-1, 0]], I), arr([[10, 20], [30, 40]])], {"axis": 1})
    f.case("ScatterElements_negative", "ScatterElements", [e, arr([[-1, -2, 0]], "i32"), arr([[10, 20, 30]])], {"axis": -2})
    f.case("ScatterElements_empty", "ScatterElements", [e, np.zeros((0, 3), np.int64), np.zeros((0, 3), np.float32)])
    f.case("ScatterElements_opset11", "ScatterElements", [e, arr([[1]], I), arr([[9]])], opset=11)
    f.case("ScatterND_elements", "ScatterND", [e, arr([[0, 1], [2, -1]], I), arr([10, 20])])
    f.case("ScatterND_rows", "ScatterND", [e, arr([[[2]], [[0]]], I), arr([[[1, 2, 3]], [[4, 5, 6]]])])
    f.case("ScatterND_empty", "ScatterND", [e, np.zeros((0, 1), np.int64), np.zeros((0, 3), np.float32)])
    f.case("ScatterND_opset11", "ScatterND", [e, arr([[1]], I), arr([[7, 8, 9]])], opset=11)
    f.error("ScatterElements_high", "ScatterElements", [e, arr([[3]], I), arr([[1]])], "index 3 is outside axis 0 of data, which has 3 elements")
    f.error("ScatterElements_shapes", "ScatterElements", [e, arr([[1]], I), arr([[1, 2]])], "axis 1: 1 and 2 must be equal")
    f.error("ScatterElements_rank", "ScatterElements", [e, ints(1), arr([1])], "ranks must be equal")
    f.error("ScatterElements_wide", "ScatterElements", [e, np.zeros((1, 4), np.int64), np.zeros((1, 4), np.float32)], "axis 1 of indices is longer than data's")
    f.error("ScatterElements_reduction", "ScatterElements", [e, arr([[1]], I), arr([[1]])], "reduction is 'sum', expected none, add, mul, max or min", {"reduction": "sum"})
    f.error("ScatterElements_text_add", "ScatterElements", [text, ints(1), words("x")], "reduction is 'add', strings take none", {"reduction": "add"})
    f.error("ScatterND_low", "ScatterND", [e, arr([[0, -4]], I), arr([1])], "index -4 is outside axis 1 of data")
    f.error("ScatterND_updates", "ScatterND", [e, arr([[0]], I), arr([[1, 2]])], "axis 1: 3 and 2 must be equal")
    f.error("ScatterND_width", "ScatterND", [e, arr([[0, 0, 0]], I), arr([1])], "the last axis of indices counts axes of data")
    f.write()


@family
def shape():
    f = File("shape", "Shape and Size")
    for dtype in EVERY:
        f.case(f"Shape_{dtype}", "Shape", [few(dtype).reshape(2, 3)], outputs=[ints(2, 3)])
        f.case(f"Size_{dtype}", "Size", [few(dtype).reshape(2, 3)], outputs=[arr(6, I)])
    f.case("Shape_strings", "Shape", [words("a", "b")])
    f.case("Size_strings", "Size", [words("a", "b")])
    x = grid(1, (2, 3, 0, 5))
    for name, bounds in (("start", {"start": 1}), ("end", {"end": 2}), ("both", {"start": 1, "end": 3}), ("negative", {"start": -2}), ("negative_end", {"end": -1}),
                         ("clamped", {"start": -9, "end": 9}), ("none", {"start": 3, "end": 1})):
        f.case(f"Shape_{name}", "Shape", [x], bounds)
    f.case("Shape_scalar", "Shape", [arr(1.0)])
    f.case("Size_scalar", "Size", [arr(1.0)])
    f.case("Size_empty", "Size", [x])
    f.case("Shape_opset1", "Shape", [x], opset=1)
    f.write()
