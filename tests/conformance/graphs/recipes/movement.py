"""Operators that move elements, or make them of shapes."""
import numpy
from onnx import numpy_helper

from graphs.builder import NUMBERS, Skip
from graphs.recipe_list import RecipeList
from harness.tensors import BOOL, F32, F64, I32, I64

RECIPES = RecipeList()


@RECIPES.weighing(3)
def reshape(graph):
    x = graph.pick(NUMBERS, nonempty=graph.chance(0.95))
    if not x.array.size:
        return graph.add("Reshape", [x, graph.integers([graph.choose([2, 3]), 0])], allowzero=1)
    extents, left = [], x.array.size
    for _ in range(graph.integer(0, 4)):
        extents.append(graph.choose([d for d in range(1, min(left, 40) + 1) if left % d == 0]))
        left //= extents[-1]
    extents = [int(d) for d in graph.rng.permutation(extents + [left])]
    if graph.chance(0.5):
        extents[graph.integer(0, len(extents) - 1)] = -1
    for axis, (new, old) in enumerate(zip(extents, x.shape)):
        if new == old and graph.chance(0.5):
            extents[axis] = 0  # "as it was"
    return graph.add("Reshape", [x, graph.integers(extents)])


@RECIPES.weighing(3)
def transpose(graph):
    x = graph.pick(NUMBERS)
    graph.add("Transpose", [x], **({"perm": graph.permutation(x.rank)} if x.rank and graph.chance(0.9) else {}))


@RECIPES.weighing(1)
def flatten(graph):
    x = graph.pick(NUMBERS)
    graph.add("Flatten", [x], axis=graph.integer(-x.rank, x.rank))


@RECIPES.weighing(2)
def squeeze(graph):
    x = graph.pick(NUMBERS)
    ones = [axis for axis, d in enumerate(x.shape) if d == 1]
    if not ones:
        raise Skip
    axes = [graph.maybe_negative(axis, x.rank) for axis in ones if graph.chance(0.7)] or ones
    graph.add("Squeeze", [x, graph.integers(axes)] if graph.chance(0.85) else [x])


@RECIPES.weighing(2)
def unsqueeze(graph):
    x, count = graph.pick(NUMBERS, most=4), graph.integer(1, 2)
    axes, rank = sorted(graph.permutation(x.rank + count)[:count]), x.rank + count
    graph.add("Unsqueeze", [x, graph.integers([graph.maybe_negative(axis, rank) for axis in axes])])


@RECIPES.weighing(2)
def expand(graph):
    x = graph.pick(NUMBERS)
    shape = [graph.choose([1, 2, 3]) if d == 1 else graph.choose([1, d]) for d in x.shape]
    graph.add("Expand", [x, graph.integers(([graph.choose([1, 2])] if graph.chance(0.3) else []) + shape)])


@RECIPES.weighing(2)
def tile(graph):
    x = graph.pick(NUMBERS, most=4)
    graph.add("Tile", [x, graph.integers([graph.choose([1, 1, 2, 3]) for _ in x.shape])])


@RECIPES.weighing(3)
def concat(graph):
    x = graph.pick(NUMBERS, least=1)
    join(graph, x, graph.integer(0, x.rank - 1), graph.integer(1, 3))


def join(graph, x, axis, others):
    def fits(v):
        return v.rank == x.rank and all(p == q for i, (p, q) in enumerate(zip(v.shape, x.shape))
                                        if i != axis)
    parts = [x]
    for _ in range(others):
        shape = [graph.extent() if i == axis else d for i, d in enumerate(x.shape)]
        parts.append(graph.pick_like(x, fits) if graph.chance(0.6) else graph.operand(shape, x.dtype))
    order = graph.permutation(len(parts))
    return graph.add("Concat", [parts[i] for i in order], axis=graph.maybe_negative(axis, x.rank))


@RECIPES.weighing(3)
def split(graph):
    x = graph.pick(NUMBERS, least=1)
    axis = graph.integer(0, x.rank - 1)
    extent = x.shape[axis]
    if graph.chance(0.5) and extent >= 2:
        parts = graph.integer(1, min(extent, 4))
        return graph.add("Split", [x], outputs=parts, axis=axis, num_outputs=parts)
    least = 0 if graph.chance(0.1) else min(1, extent)
    cuts = [0] + sorted(graph.integer(least, extent) for _ in range(graph.integer(0, 2))) + [extent]
    sizes = [q - p for p, q in zip(cuts, cuts[1:])]
    return graph.add("Split", [x, graph.integers(sizes)], outputs=len(sizes),
                     axis=graph.maybe_negative(axis, x.rank))


@RECIPES.weighing(4)
def slices(graph):
    x = graph.pick(NUMBERS, least=1)
    cut(graph, x, graph.some_axes(x.rank))


def cut(graph, x, axes):
    starts, ends, steps = [], [], []
    for axis in axes:
        extent, step = x.shape[axis], graph.choose([1, 1, 1, 2, 3, -1, -1, -2, -3, 7])
        start, end = (graph.integer(-extent - 2, extent + 2) for _ in range(2))
        if graph.chance(0.3) and step > 0:
            start, end = graph.choose([0, -extent]), graph.choose([2**31 - 1, 2**63 - 1, extent])
        elif graph.chance(0.3):
            start, end = graph.choose([extent - 1, -1, 2**31 - 1]), graph.choose([-2**63, -extent - 1])
        starts.append(start)
        ends.append(end)
        steps.append(step)
    axes = [graph.maybe_negative(axis, x.rank) for axis in axes]
    small = max(map(abs, starts + ends)) < 2**31
    dtype = I32 if small and graph.chance(0.2) else I64
    lists = [starts, ends, axes] + ([steps] if graph.chance(0.8) or set(steps) != {1} else [])
    return graph.add("Slice", [x] + [graph.constant(values, dtype) for values in lists])


@RECIPES.weighing(3)
def gather(graph):
    op = graph.choose(["Gather", "Gather", "Elements", "ND"])
    x = graph.pick(NUMBERS, least=1, nonempty=True)
    axis = graph.integer(0, x.rank - 1)
    extent, dtype = x.shape[axis], graph.choose([I64, I64, I32])
    if op == "Gather":
        shape = graph.choose([[], [1], [3], [2, 2], [graph.extent()]])
        indices = graph.operand(shape, dtype, -extent, extent - 1)
        return graph.add(op, [x, indices], axis=graph.maybe_negative(axis, x.rank))
    if op == "Elements":
        shape = [graph.integer(1, d) for d in x.shape]
        shape[axis] = graph.integer(1, 6)
        return graph.add("GatherElements", [x, graph.operand(shape, dtype, -extent, extent - 1)], axis=axis)
    batch = graph.integer(0, 1) if x.rank > 1 else 0
    shape = list(x.shape[:batch]) + graph.choose([[1], [2], [3, 2]])
    indices = [graph.data(shape, I64, -d, d - 1)
               for d in x.shape[batch:batch + graph.integer(1, x.rank - batch)]]
    return graph.add("GatherND", [x, graph.constant(numpy.stack(indices, -1))], batch_dims=batch)


@RECIPES.weighing(2)
def scatter(graph):
    x = graph.pick(NUMBERS, least=1, nonempty=True)
    reduction = graph.choose(["none", "none", "add", "mul", "max", "min"])
    if graph.chance(0.5):
        axis, shape = graph.integer(0, x.rank - 1), [graph.integer(1, d) for d in x.shape]
        indices = graph.data(shape, I64, -x.shape[axis], x.shape[axis] - 1)
        if reduction == "none":  # an index twice would be undefined
            whole = numpy.argsort(graph.rng.random(x.shape), axis=axis).astype(I64)
            indices = whole[tuple(slice(0, d) for d in shape)]
        return graph.add("ScatterElements", [x, graph.constant(indices), graph.operand(shape, x.dtype)],
                         axis=axis, reduction=reduction)
    depth, count = graph.integer(1, x.rank), graph.integer(1, 3)
    places = int(numpy.prod(x.shape[:depth]))
    chosen = graph.rng.choice(places, min(count, places), replace=reduction != "none")
    indices = numpy.stack(numpy.unravel_index(chosen, x.shape[:depth]), -1).astype(I64)
    updates = graph.operand([len(chosen)] + list(x.shape[depth:]), x.dtype)
    return graph.add("ScatterND", [x, graph.constant(indices), updates], reduction=reduction)


@RECIPES.weighing(2)
def pad(graph):
    x = graph.pick((F32, F32, F64, I64, I32), least=1, most=4)
    mode = graph.choose(["constant", "constant", "reflect", "edge", "wrap"])
    if mode != "constant" and not x.array.size:
        raise Skip
    least = -1 if mode == "constant" else 0
    most = [{"reflect": max(d - 1, 0), "wrap": d}.get(mode, 2) for d in x.shape]
    before, after = ([min(graph.integer(least, 2), m) for m in most] for _ in range(2))
    axes = graph.some_axes(x.rank) if graph.chance(0.25) else list(range(x.rank))
    operands = [x, graph.integers([before[a] for a in axes] + [after[a] for a in axes])]
    if len(axes) < x.rank or graph.chance(0.5):
        operands.append(graph.constant(2, x.dtype))
    if len(axes) < x.rank:
        operands.append(graph.integers([graph.maybe_negative(a, x.rank) for a in axes]))
    graph.add("Pad", operands, mode=mode)


@RECIPES.weighing(1)
def depth_and_space(graph):
    block, batch = graph.choose([2, 3]), graph.choose([1, 2])
    if graph.chance(0.5):
        channels = block * block * graph.choose([1, 2, 3])
        x = graph.input([batch, channels, graph.choose([1, 3, 5]), graph.choose([2, 3])])
        return graph.add("DepthToSpace", [x], blocksize=block, mode=graph.choose(["DCR", "CRD"]))
    x = graph.input([batch, graph.choose([1, 3]), block * graph.choose([1, 2]), block * graph.choose([1, 3])])
    return graph.add("SpaceToDepth", [x], blocksize=block)


@RECIPES.weighing(1)
def shapes(graph):
    op = graph.choose(["Shape", "Size", "ConstantOfShape", "Range", "OneHot", "EyeLike", "Reshape"])
    x = graph.pick(NUMBERS, least=2 if op == "Reshape" else 0)
    if op == "Shape":
        bounds = {"start": graph.integer(-2, 2), "end": graph.integer(-2, 3)} if graph.chance(0.5) else {}
        graph.add(op, [x], **bounds)
    elif op == "Size":
        graph.add(op, [x])
    elif op == "ConstantOfShape":
        fill = numpy_helper.from_array(numpy.array([graph.choose([0, 1.5])], F32))
        graph.add(op, [graph.add("Shape", [x])], value=fill)
    elif op == "Range":
        bounds = graph.integer(0, 3), graph.integer(3, 12), graph.choose([1, 2])
        graph.add(op, [graph.integers(v) for v in bounds])
    elif op == "OneHot":
        x = graph.pick((I64, I32), most=3)
        graph.add(op, [x, graph.integers(6), graph.constant([0, 2], F32)], axis=graph.integer(-x.rank - 1, x.rank))
    elif op == "EyeLike":
        graph.add(op, [graph.pick(rank=2)], k=graph.integer(-2, 2))
    else:  # to a shape computed from its own
        first = graph.add("Gather", [graph.add("Shape", [x]), graph.integers([0])])
        graph.add(op, [x, graph.add("Concat", [first, graph.integers([-1])], axis=0)])


@RECIPES.weighing(1)
def data_dependent_shape(graph):
    op = graph.choose(["NonZero", "Compress", "Unique"])
    x = graph.pick((F32, I64), least=1)
    if op == "Compress":
        axis = graph.integer(0, x.rank - 1)
        graph.add(op, [x, graph.constant(graph.data([x.shape[axis]], BOOL))], axis=axis)
    elif op == "Unique":
        graph.add(op, [x], outputs=4, sorted=graph.integer(0, 1))
    else:
        graph.add(op, [x])


@RECIPES.weighing(1)
def trilu(graph):
    x = graph.pick((F32, F64, I64), least=2)
    graph.add("Trilu", [x] + ([graph.integers(graph.integer(-4, 4))] if graph.chance(0.6) else []),
              upper=graph.integer(0, 1))


@RECIPES.weighing(1)
def reverse_sequence(graph):
    steps, batch, time_axis = graph.choose([1, 3, 5]), graph.choose([1, 2, 3]), graph.integer(0, 1)
    x = graph.input([batch, steps, 2] if time_axis else [steps, batch, 2])
    graph.add("ReverseSequence", [x, graph.constant(graph.data([batch], I64, 1, steps))],
              time_axis=time_axis, batch_axis=1 - time_axis)
