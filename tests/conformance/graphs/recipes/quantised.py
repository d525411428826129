"""Operators on quantised numbers."""
from graphs.recipe_list import RecipeList
from graphs.recipes.images import window
from harness.tensors import F32, I8, I32, U8

RECIPES = RecipeList()


@RECIPES.weighing(1)
def quantize(graph):
    x, dtype = graph.pick(least=1, nonempty=True), graph.choose([U8, I8])
    if graph.chance(0.3):
        return graph.add("DynamicQuantizeLinear", [x], outputs=3)
    axis = graph.integer(0, x.rank - 1)
    shape = [] if graph.chance(0.5) else [x.shape[axis]]
    scale = graph.constant(graph.data(shape, F32, 0.02, 0.2))
    zero = graph.constant(graph.data(shape, dtype, 0, 5))
    attributes = {"axis": axis} if shape else {}
    q = graph.add("QuantizeLinear", [x, scale, zero], **attributes)
    return graph.add("DequantizeLinear", [q, scale, zero], **attributes) if graph.chance(0.8) else q


@RECIPES.weighing(1)
def quantized_product(graph):
    dtype = graph.choose([U8, I8])
    if graph.chance(0.5):
        m, k, n = (max(1, graph.extent()) for _ in range(3))
        x, w, attributes = graph.input([m, k], U8, 0, 255), graph.operand([k, n], dtype, 0, 100), {}
    else:
        group, size = graph.choose([1, 2]), graph.choose([1, 2, 3])
        channels, features = 2 * graph.choose([1, 2]), group * graph.choose([1, 3])
        x = graph.input([1, channels, 7, 5], U8, 0, 255)
        w = graph.operand([features, channels // group, size, size], dtype, 0, 100)
        attributes = {"group": group} | window(graph, [size, size])
    op = "Conv" if attributes else "MatMul"
    x_zero, w_zero = graph.constant(100, U8), graph.constant(20, dtype)
    if graph.chance(0.4):
        return graph.add(op + "Integer", [x, w, x_zero, w_zero], **attributes)
    scales = [graph.constant(s, F32) for s in (0.02, 0.03, 0.2)]
    operands = [x, scales[0], x_zero, w, scales[1], w_zero, scales[2], graph.constant(128, U8)]
    if attributes and graph.chance(0.5):
        operands.append(graph.constant(graph.data([w.shape[0]], I32, -500, 500)))
    return graph.add("QLinear" + op, operands, **attributes)
