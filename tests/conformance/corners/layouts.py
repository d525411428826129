"""Values whose memory order one operation chooses and another reads; mix-ups of the kernel cache."""
import numpy
from onnx.helper import make_node as node

from corners.small_cases import case_of, check_both_paths, problem_alone
from harness.tensors import F32, I64


def layout_constants():
    rng = numpy.random.default_rng(0)
    real = lambda *shape: rng.standard_normal(shape).astype(F32)
    return {"w3": real(4, 8, 3, 3), "w1": real(8, 8, 1, 1), "wt": real(8, 4, 2, 2),
            "square": real(14, 14), "scale": numpy.ones(14, F32), "bias": numpy.zeros(14, F32),
            "channel": numpy.ones(8, F32), "last": numpy.array(3, I64), "plane": numpy.array([2, 3], I64),
            "k": numpy.array([14], I64), "full": real(1, 8, 14, 14), "w16": real(4, 16, 3, 3),
            "pads": numpy.array([0, 0, 1, 1, 0, 0, 1, 1], I64)}


PRODUCERS = {  # x -> a
    "softmax": [node("Softmax", ["x"], ["a"], axis=-1)],
    "softmax_of_channels": [node("Softmax", ["x"], ["a"], axis=1)],
    "logsoftmax": [node("LogSoftmax", ["x"], ["a"], axis=-1)],
    "hardmax": [node("Hardmax", ["x"], ["a"], axis=-1)],
    "matmul_2d": [node("MatMul", ["x", "square"], ["a"])],
    "matmul_self": [node("MatMul", ["x", "x"], ["a"])],
    "einsum": [node("Einsum", ["x", "x"], ["a"], equation="bchw,bcwk->bchk")],
    "attention": [node("Transpose", ["x"], ["t"], perm=[0, 1, 3, 2]),
                  node("MatMul", ["x", "t"], ["s"]), node("Softmax", ["s"], ["p"]),
                  node("MatMul", ["p", "x"], ["a"])],
    "layernorm": [node("LayerNormalization", ["x", "scale", "bias"], ["a"], axis=-1)],
    "cumsum": [node("CumSum", ["x", "last"], ["a"])],
    "transpose": [node("Transpose", ["x"], ["a"], perm=[0, 1, 3, 2])],
    "mean": [node("ReduceMean", ["x", "plane"], ["m"]), node("Sub", ["x", "m"], ["a"])],
    "topk": [node("TopK", ["x", "k"], ["a", "i"])],
    "relu": [node("Relu", ["x"], ["a"])]}
READERS = {  # a -> y
    "conv": [node("Conv", ["a", "w3"], ["y"], pads=[1] * 4)],
    "maxpool": [node("MaxPool", ["a"], ["y"], kernel_shape=[2, 2])],
    "averagepool": [node("AveragePool", ["a"], ["y"], kernel_shape=[2, 2])],
    "globalaveragepool": [node("GlobalAveragePool", ["a"], ["y"])],
    "convtranspose": [node("ConvTranspose", ["a", "wt"], ["y"])],
    "instancenorm": [node("InstanceNormalization", ["a", "channel", "channel"], ["y"])],
    "batchnorm_conv": [node("BatchNormalization", ["a"] + ["channel"] * 4, ["b"]),
                       node("Conv", ["b", "w3"], ["y"])]}


def layout_case(producer, reader):
    x = numpy.random.default_rng(1).standard_normal((1, 8, 14, 14)).astype(F32)
    first, then = PRODUCERS.get(producer, [node("Identity", ["x"], ["a"])]), READERS.get(reader)
    if then is None:  # the eighth reader: the other way round
        nodes = [node("Conv", ["x0", "w1"], ["x"])] + first + [node("Identity", ["a"], ["y"])]
        return case_of(nodes, {"x0": x}, layout_constants())
    return case_of(first + then, {"x": x}, layout_constants())


def product_conv_cases():
    """MatMul of several ranks into Conv with several paddings, and what may stand between."""
    rng, cases = numpy.random.default_rng(2), {}
    for shape, columns in (((2, 2, 7, 8), 2), ((1, 3, 16, 16), 16), ((2, 3, 4, 2), 1),
                           ((1, 8, 14, 14), 14), ((1, 1, 8, 8), 8)):
        for pads in ([0] * 4, [1] * 4, [0, 0, 1, 1], [1, 1, 0, 0], [0, 2, 2, 2]):
            for leading in ((), (1,)):
                constants = {
                    "w": rng.standard_normal(leading + (shape[-1], columns)).astype(F32),
                    "c": rng.standard_normal((4, shape[1], 2, 1)).astype(F32)}
                nodes = [node("MatMul", ["x", "w"], ["a"]),
                         node("Conv", ["a", "c"], ["y"], pads=pads)]
                name = f"matmul_{2 + len(leading)}d_{'x'.join(map(str, shape))}_conv_{pads}"
                x = rng.standard_normal(shape).astype(F32)
                cases[name] = case_of(nodes, {"x": x}, constants)
    x = rng.standard_normal((1, 8, 14, 14)).astype(F32)
    product, conv = node("MatMul", ["x", "full"], ["p"]), READERS["conv"][0]
    window = {"kernel_shape": [3, 3], "pads": [1] * 4}
    for name, rest in {
            "conv": [node("Identity", ["p"], ["a"]), conv],
            "relu_conv": [node("Relu", ["p"], ["a"]), conv],
            "concat_conv": [node("Concat", ["p", "x"], ["b"], axis=1),
                            node("Conv", ["b", "w16"], ["y"])],
            "maxpool": [node("MaxPool", ["p"], ["y"], **window)],
            "averagepool": [node("AveragePool", ["p"], ["y"], **window)],
            "pad": [node("Pad", ["p", "pads"], ["y"])]}.items():
        cases[f"matmul_4d_{name}"] = case_of([product] + rest, {"x": x}, layout_constants())
    return cases


def check(context, report):
    cases = {f"{p} > {r}": layout_case(p, r) for p in PRODUCERS for r in [*READERS, None]}
    check_both_paths(context, report, context.some(cases | product_conv_cases()))

    def poisoned(pair):
        """Problems of plain readers after another model has filled the cache."""
        producer, reader = pair
        cache = context.new_folder()
        problem_alone(context, layout_case(producer, reader), True, cache)
        return [problem_alone(context, layout_case(plain, reader), True, cache)
                for plain in ("nothing", "relu")]

    pairs = context.some([(p, r) for p in ("softmax", "matmul_self", "layernorm", "transpose")
                          for r in ("conv", "maxpool", "averagepool", "globalaveragepool")])
    for (producer, reader), problems in zip(pairs, context.parallel(poisoned, pairs)):
        for plain, problem in zip(("", "relu > "), problems):
            report.check(f"{plain}{reader} with the cache of {producer} > {reader}", problem)
