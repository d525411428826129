"""Operators on images: windows, norms, sampling."""
from graphs.recipe_list import RecipeList
from harness.tensors import F32

RECIPES = RecipeList()


def window(graph, kernel):
    attributes = {"kernel_shape": kernel}
    if graph.chance(0.6):
        attributes["strides"] = [graph.choose([1, 2, 3]) for _ in kernel]
    if graph.chance(0.4):
        attributes["dilations"] = [graph.choose([1, 2, 3]) for _ in kernel]
    padding = graph.choose(["pads", "pads", "auto", "none", "none"])
    if padding == "pads":
        attributes["pads"] = [graph.integer(0, 2) for _ in kernel * 2]
    elif padding == "auto":
        attributes["auto_pad"] = graph.choose(["SAME_UPPER", "SAME_LOWER", "VALID"])
    return attributes


def pick_image(graph, rank, channels=(1, 2, 3, 4, 6, 8, 16, 17)):
    if graph.chance(0.5):
        return graph.pick(rank=rank + 2, make=False, nonempty=True)
    extents = [graph.choose([1, 3, 5, 7, 8, 11, 15]) for _ in range(rank)]
    return graph.input([graph.choose([1, 2, 3]), graph.choose(channels)] + extents)


def random_conv(graph, x):
    channels, rank = x.shape[1], x.rank - 2
    group = graph.choose([g for g in (1, 1, 1, 2, 3, 4, channels) if channels % g == 0])
    features, kernel = group * graph.choose([1, 2, 3, 5]), [graph.choose([1, 1, 2, 3, 3, 5])] * rank
    bias = [graph.operand([features])] if graph.chance(0.6) else []
    return graph.add("Conv", [x, graph.operand([features, channels // group] + kernel)] + bias,
                     group=group, **window(graph, kernel))


@RECIPES.weighing(6)
def conv(graph):
    y = random_conv(graph, pick_image(graph, graph.choose([1, 2, 2, 2, 3])))
    if graph.chance(0.5):
        graph.add(graph.choose(["Relu", "Sigmoid", "HardSwish", "Tanh", "LeakyRelu"]), [y])
    if graph.chance(0.2):
        scales = [graph.constant(graph.data([y.shape[1]], F32, 0.5, 1.5)) for _ in range(4)]
        graph.add("BatchNormalization", [y] + scales)


def random_conv_transpose(graph, x):
    channels, rank = x.shape[1], x.rank - 2
    group = graph.choose([g for g in (1, 1, 2, channels) if channels % g == 0])
    features, kernel = graph.choose([1, 2, 3]), [graph.choose([1, 2, 3, 4]) for _ in range(rank)]
    attributes = window(graph, kernel)
    if attributes.get("auto_pad", "").startswith("SAME"):
        # Where the stride exceeds the window, the standard's padding is negative, which neither
        # onnxruntime nor the reference does.
        attributes.pop("strides", None)
    if "strides" in attributes and graph.chance(0.25):
        attributes["output_padding"] = [graph.integer(0, s - 1) for s in attributes["strides"]]
    bias = [graph.operand([features * group])] if graph.chance(0.5) else []
    return graph.add("ConvTranspose", [x, graph.operand([channels, features] + kernel)] + bias,
                     group=group, **attributes)


@RECIPES.weighing(3)
def conv_transpose(graph):
    random_conv_transpose(graph, pick_image(graph, graph.choose([1, 2, 2, 3]), (1, 2, 3, 4, 8)))


def random_pool(graph, x):
    op = graph.choose(["MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool", "GlobalMaxPool",
                       "GlobalAveragePool", "GlobalLpPool"])
    if op.startswith("Global"):
        return graph.add(op, [x])
    attributes = window(graph, [graph.choose([1, 2, 3, 3]) for _ in x.shape[2:]])
    kernel = attributes["kernel_shape"]
    if "pads" in attributes:  # padding must be less than the window
        attributes["pads"] = [min(p, k - 1) for p, k in zip(attributes["pads"], kernel * 2)]
    if "auto_pad" in attributes:
        # By the standard's formulas, SAME padding counts dilation and ceil_mode changes nothing;
        # onnxruntime's and the reference's pools differ from them, and from each other.
        attributes.pop("dilations", None)
    elif graph.chance(0.4):
        attributes["ceil_mode"] = 1
    if op == "AveragePool":
        attributes["count_include_pad"] = graph.integer(0, 1)
    if op == "LpPool":
        attributes["p"] = graph.choose([1, 2, 3])
    if op == "MaxPool" and graph.chance(0.2):
        return graph.add(op, [x], outputs=2, storage_order=graph.integer(0, 1), **attributes)[0]
    return graph.add(op, [x], **attributes)


@RECIPES.weighing(4)
def pool(graph):
    random_pool(graph, pick_image(graph, graph.choose([1, 2, 2, 2, 3]), (1, 3, 8)))


def layer_norm(graph, x, axis, outputs=1):
    shape = list(x.shape)[axis:]
    bias = [graph.operand(shape)] if graph.chance(0.7) else []
    return graph.add("LayerNormalization", [x, graph.operand(shape)] + bias, outputs=outputs,
                     axis=axis, epsilon=1e-3)


@RECIPES.weighing(2)
def norm(graph):
    if graph.chance(0.15):
        x = graph.pick(least=1, nonempty=True)
        return layer_norm(graph, x, graph.integer(-x.rank, x.rank - 1), graph.choose([1, 1, 3]))
    x = graph.pick(least=3, most=5, nonempty=True)
    channels = x.shape[1]
    op = graph.choose(["Instance", "Group", "LRN", "Lp", "Batch", "MeanVariance"])
    if op == "LRN":
        return graph.add(op, [x], size=graph.choose([1, 3, 5]), alpha=0.1, beta=0.7, bias=1.5)
    if op == "Lp":
        return graph.add("LpNormalization", [x], axis=graph.integer(-x.rank, x.rank - 1),
                         p=graph.choose([1, 2]))
    if op == "MeanVariance":
        return graph.add("MeanVarianceNormalization", [x], axes=sorted(graph.permutation(x.rank)[:2]))
    operands, attributes = [x, graph.operand([channels]), graph.operand([channels])], {"epsilon": 1e-2}
    if op == "Batch":
        operands += [graph.operand([channels]), graph.constant(graph.data([channels], F32, 0.5, 2))]
    if op == "Group":
        groups = [g for g in range(1, channels + 1) if channels % g == 0]
        attributes["num_groups"] = graph.choose(groups)
    return graph.add(op + "Normalization", operands, **attributes)


@RECIPES.weighing(3)
def resize(graph):
    rank = graph.choose([1, 2, 2, 2, 3])
    x = graph.input([graph.choose([1, 2]), graph.choose([1, 3])]
                    + [graph.choose([1, 2, 3, 5, 8]) for _ in range(rank)])
    mode = graph.choose(["nearest", "linear", "linear"] + (["cubic"] if rank == 2 else []))
    attributes = {"mode": mode, "coordinate_transformation_mode": graph.choose(
        ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
         "half_pixel_symmetric"])}
    if mode == "nearest":
        attributes["nearest_mode"] = graph.choose(["round_prefer_floor", "round_prefer_ceil",
                                                   "floor", "ceil"])
    elif graph.chance(0.25):
        attributes["antialias"] = 1
    if mode == "cubic":
        attributes.update(cubic_coeff_a=graph.choose([-0.75, -0.5]), exclude_outside=graph.integer(0, 1))
    if graph.chance(0.5):
        scales = [1, 1] + [graph.choose([.5, 1.5, 2, 2.3, .7, 3, 1]) for _ in range(rank)]
        return graph.add("Resize", [x, None, graph.constant(scales, F32)], **attributes)
    sizes = [graph.integer(1, 12) for _ in range(rank)]
    if graph.chance(0.2):
        policy = graph.choose(["not_larger", "not_smaller", "stretch"])
        attributes.update(keep_aspect_ratio_policy=policy, axes=list(range(2, rank + 2)))
    else:
        sizes = list(x.shape[:2]) + sizes
    return graph.add("Resize", [x, None, None, graph.integers(sizes)], **attributes)


@RECIPES.weighing(1)
def grid_sample(graph):
    x = graph.input([2, graph.choose([1, 3]), graph.choose([2, 5]), graph.choose([3, 7])])
    grid = graph.input([2, 3, 4, 2], F32, -1.3, 1.3)
    graph.add("GridSample", [x, grid], mode=graph.choose(["linear", "nearest", "cubic"]),
              padding_mode=graph.choose(["zeros", "border", "reflection"]), align_corners=graph.integer(0, 1))
