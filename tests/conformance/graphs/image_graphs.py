"""Graphs of images, whose memory one operation wants in this order and the next in another."""
from graphs.builder import Skip
from graphs.recipes.elementwise import ACTIVATIONS, activation_attributes
from graphs.recipes.images import layer_norm, random_conv, random_conv_transpose, random_pool
from graphs.recipes.movement import cut, join
from graphs.recipes.products import product_with, self_attention


def move_image(graph, x):
    """An operation that may want an image's memory in another order than windows do."""
    op = graph.choose(["Softmax", "LogSoftmax", "LayerNorm", "MatMul", "Attention", "Transpose",
                       "Reduce", "CumSum", "Concat", "Slice", "Reshape", "Activation"])
    if op in ("Softmax", "LogSoftmax"):
        return graph.add(op, [x], axis=graph.choose([-1, -1, 1, 2, 3]))
    if op == "LayerNorm":
        return layer_norm(graph, x, graph.choose([-1, -1, -2, 1]))
    if op == "MatMul":
        return product_with(graph, x)
    if op == "Attention":
        return self_attention(graph, x)
    if op == "Transpose":
        return graph.add(op, [x], perm=graph.permutation(4))
    if op == "Reduce":
        axes = graph.integers(graph.some_axes(4)[:2])
        reduced = graph.add(graph.choose(["ReduceMean", "ReduceMax", "ReduceSum"]), [x, axes], keepdims=1)
        return graph.add("Sub", [x, reduced]) if graph.chance(0.7) else reduced
    if op == "CumSum":
        return graph.add(op, [x, graph.integers(graph.integer(0, 3))])
    if op == "Concat":
        return join(graph, x, graph.integer(0, 3), 1)
    if op == "Slice":
        return cut(graph, x, graph.some_axes(4))
    if op == "Reshape":
        n, c, height, width = x.shape
        return graph.add(op, [x, graph.integers(graph.choose([[n, c, width, height], [n, c * height, width, 1],
                                                              [n, c, 1, -1], [1, n * c, height, width]]))])
    name = graph.choose(ACTIVATIONS)
    return graph.add(name, [x], **activation_attributes(graph, name))


def read_image(graph, x):
    """An operation with windows or one statistic a channel."""
    if not x.array.size:
        raise Skip
    op = graph.choose(["Conv", "Conv", "Pool", "Pool", "ConvTranspose", "InstanceNormalization"])
    if op == "Conv":
        return random_conv(graph, x)
    if op == "Pool":
        return random_pool(graph, x)
    if op == "ConvTranspose":
        return random_conv_transpose(graph, x)
    return graph.add(op, [x, graph.operand(x.shape[1:2]), graph.operand(x.shape[1:2])], epsilon=1e-2)


def grow_images(graph):
    x = graph.input([graph.choose([1, 1, 2]), graph.choose([1, 2, 3, 4, 8]),
                     graph.choose([5, 7, 8, 14]), graph.choose([5, 7, 8, 14])])
    for _ in range(graph.integer(2, 8)):
        for _ in range(5):
            y = graph.attempt(graph.choose([move_image, read_image]), x)
            if y is not None and y.rank == 4:
                x = y
                break
