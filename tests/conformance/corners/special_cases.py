"""Single operators on NaN, infinities, zeros, denormals and huge values."""
import numpy
from onnx import TensorProto
from onnx.helper import make_node as node

from corners.small_cases import single
from harness.case import Case
from harness.tensors import F32, I8, I64, U8

NAN, INF = numpy.nan, numpy.inf
VALUES = numpy.array([NAN, INF, -INF, 1e38, -1e38, 3e38, 1e-45, -1e-45, -0.0, 0.0, 1, -1, 88.8, -88.8,
                      104, -104, 1000, -1000, 0.5, -0.5, 2**31, -2**31, 1e10, 2.5], F32)
ROWS = numpy.array([[NAN, 1, 2, 3], [1, NAN, 2, 3], [1, 2, 3, NAN], [INF, 1, NAN, -INF],
                    [-INF] * 4, [INF, INF, 1, 2], [-INF, 1, 2, 3], [NAN] * 4, [3] * 4,
                    [1e38, 3e38, 3e38, 1], [-NAN, 0.0, -0.0, 1], [88, -1000, 1000, 0]], F32)
SPECIAL_UNARY = ("Relu Sigmoid Tanh Exp Abs Neg Erf Softplus Softsign Elu Selu Celu LeakyRelu "
                 "HardSigmoid HardSwish Mish Gelu ThresholdedRelu Ceil Floor Round Sign Sin Cos "
                 "Atan Sinh Cosh Asinh Reciprocal Shrink Sqrt Log IsNaN IsInf Acos Asin Tan "
                 "Identity").split()


def special_elementwise():
    number = lambda v: numpy.array(v, F32)
    cases = {op: single(op, VALUES) for op in SPECIAL_UNARY}
    cases |= {op + " of 216": single(op, numpy.tile(VALUES, 9)) for op in SPECIAL_UNARY}
    cases["Gelu tanh"] = single("Gelu", VALUES, approximate="tanh")
    cases["LeakyRelu negative"] = single("LeakyRelu", VALUES, alpha=-0.5)
    cases["PRelu"] = single("PRelu", VALUES, numpy.array([0.25], F32))
    for name, low, high in (("", -1, 1), (" from NaN", NAN, 1), (" crossed", 2, -2)):
        cases["Clip" + name] = single("Clip", VALUES, number(low), number(high))
    cases["Clip above"] = single("Clip", VALUES, None, number(1))
    left, right = (grid.ravel().astype(F32) for grid in numpy.meshgrid(VALUES, VALUES))
    for op in ("Add Sub Mul Div Pow Max Min Mean Equal Greater Less GreaterOrEqual "
               "LessOrEqual").split():
        cases[op] = single(op, left, right)
    cases["Mod fmod"] = single("Mod", left, right, fmod=1)
    cases["Where"] = single("Where", left > 0, left, right)
    for op in ("Max", "Min"):
        for count in (3, 4):
            operands = [numpy.roll(left, 7 * i) for i in range(count)]
            cases[f"{op} of {count}"] = single(op, *operands)
            cases[f"{op} of {count}, rank 2"] = single(op, *[v.reshape(18, 32) for v in operands])
    for name in ("int32", "int64", "int8", "uint8", "bool", "float16", "double"):
        cases[f"Cast to {name}"] = single("Cast", VALUES, to=getattr(TensorProto, name.upper()))
    for dtype in (U8, I8):
        cases[f"QuantizeLinear {numpy.dtype(dtype)}"] = single(
            "QuantizeLinear", VALUES, number(0.1), numpy.array(10, dtype))
    return cases


def special_reductions():
    cases, wide, columns = {}, numpy.tile(ROWS, (1, 17)), ROWS.T.copy()
    for op in "Max Min Sum Mean Prod L1 L2 LogSum LogSumExp SumSquare".split():
        for name, x, axis in (("last", ROWS, 1), ("first", columns, 0), ("wide", wide, 1)):
            cases[f"Reduce{op} {name}"] = single("Reduce" + op, x, numpy.array([axis], I64))
    for name, x, axis in (("last", ROWS, 1), ("first", columns, 0), ("wide", wide, 1)):
        for op in ("Softmax", "LogSoftmax", "Hardmax"):
            cases[f"{op} {name}"] = single(op, x, axis=axis)
        for op in ("ArgMax", "ArgMin"):
            for last in (0, 1):
                cases[f"{op} {name}{' last index' * last}"] = single(
                    op, x, axis=axis, select_last_index=last)
    for largest in (0, 1):
        cases[f"TopK largest={largest}"] = single("TopK", ROWS, numpy.array([2], I64), outputs=2,
                                                  axis=1, largest=largest)
    cases["CumSum"] = single("CumSum", ROWS, numpy.array(1, I64))
    cases["LpNormalization"] = single("LpNormalization", ROWS, axis=1)
    cases["LpNormalization of zeros"] = single("LpNormalization", numpy.zeros((2, 4), F32), axis=1)
    return cases


def special_images_and_norms():
    image, eye = numpy.tile(ROWS[None, None], (1, 1, 1, 2)), numpy.eye(4, dtype=F32)
    level = numpy.repeat(numpy.array([[5], [1e4], [0]], F32), 8, 1)
    ones, zeros = numpy.ones(8, F32), numpy.zeros(8, F32)
    far = numpy.array([[1e20] * 7 + [-1e20], *(base + numpy.arange(8) for base in (1e4, 1e6))], F32)
    offset = (1e4 + numpy.arange(64)).astype(F32).reshape(1, 2, 32)
    two = [numpy.ones(2, F32), numpy.zeros(2, F32)]
    return {
        "MaxPool": single("MaxPool", image, kernel_shape=[2, 2]),
        "MaxPool with indices": single("MaxPool", image, outputs=2, kernel_shape=[2, 2],
                                       strides=[2, 2]),
        "MaxPool padded": single("MaxPool", image, kernel_shape=[3, 3], pads=[1] * 4),
        "AveragePool": single("AveragePool", image, kernel_shape=[2, 2]),
        "LpPool": single("LpPool", image, kernel_shape=[2, 2]),
        "GlobalMaxPool": single("GlobalMaxPool", ROWS[None, :, :, None]),
        "GlobalAveragePool": single("GlobalAveragePool", ROWS[None]),
        "LayerNormalization of constants": single("LayerNormalization", level, ones, zeros),
        "LayerNormalization far from 0": single("LayerNormalization", far, ones, zeros),
        "LayerNormalization": single("LayerNormalization", numpy.tile(ROWS, (1, 2)), ones, zeros),
        "InstanceNormalization of constants": single(
            "InstanceNormalization", level[None], numpy.ones(3, F32), numpy.zeros(3, F32)),
        "InstanceNormalization far from 0": single("InstanceNormalization", offset, *two),
        "GroupNormalization of constants": single("GroupNormalization", level[None, :2], *two,
                                                  num_groups=2),
        "BatchNormalization": single("BatchNormalization", image, *[numpy.ones(1, F32)] * 4),
        "LRN": single("LRN", image, size=3),
        "MatMul": single("MatMul", ROWS, eye), "Gemm": single("Gemm", ROWS, eye),
        "Conv": single("Conv", image, numpy.ones((1, 1, 3, 3), F32), pads=[1] * 4),
        "Resize": Case([node("Resize", ["x", "", "scales"], ["y"], mode="linear")], [("x", image)],
                       [("scales", numpy.array([1, 1, 2, 2], F32))], ["y"]),
        "ScatterElements max": single("ScatterElements", ROWS, numpy.zeros((1, 4), I64),
                                      numpy.full((1, 4), NAN, F32), axis=0, reduction="max")}
