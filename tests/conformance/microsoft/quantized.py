"""Quantized numbers."""
import numpy

from microsoft.node import Node, integers, number, reals

I8, U8, I16, U16, I32 = numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.int32


def quantized(name, *shape, dtype=U8, scale=0.02, zero=None):
    """Numbers, their scale and zero point."""
    zero = (7 if dtype == I8 else 120) if zero is None else zero
    return {name: integers(*shape, dtype=dtype), name + "_scale": number(scale), name + "_zero": number(zero, dtype)}


def result(scale, zero, dtype=U8):
    return {"y_scale": number(scale), "y_zero": number(zero, dtype)}


def node(op, *parts, constants=(), **options):
    given = {}
    for part in parts:
        given.update(part)
    constants = list(constants) + [name for name in given if name.endswith(("_scale", "_zero"))]
    return Node(op, given, constants, quanta=1, **options)


def lstm(directions, zeros, steps=4, batch=2, inputs=5, hidden=3, dtype=I8, **options):
    scales = dict(w_scale=reals(directions, low=0.01, high=0.02), w_zero=integers(directions, dtype=dtype) * zeros,
                  r_scale=reals(directions, low=0.01, high=0.02), r_zero=integers(directions, dtype=dtype) * zeros)
    given = dict(x=reals(steps, batch, inputs), w=integers(directions, inputs, 4 * hidden, dtype=dtype),
                 r=integers(directions, hidden, 4 * hidden, dtype=dtype), b=reals(directions, 8 * hidden), lengths=None,
                 h=reals(directions, batch, hidden), c=reals(directions, batch, hidden), p=None, **scales)
    return Node("DynamicQuantizeLSTM", given, ["w", "r", "b", *scales], 3, hidden_size=hidden, **options)


IMAGE, LAST = (1, 3, 6, 5), (1, 6, 5, 3)
WINDOW = dict(kernel_shape=[3, 3], strides=[2, 1], pads=[1, 1, 1, 1])
NODES = [
    node("QLinearAdd", quantized("a", 2, 5), quantized("b", 5, scale=0.05), result(0.06, 100)),
    node("QLinearAdd", quantized("a", 2, 5, dtype=I8), quantized("b", 1, dtype=I8), result(0.03, -5, I8)),
    node("QLinearMul", quantized("a", 2, 5), quantized("b", 2, 1, scale=0.01), result(0.03, 110)),
    node("QLinearSigmoid", quantized("x", 3, 9), result(1 / 256, 0)),
    node("QLinearLeakyRelu", quantized("x", 3, 9, dtype=I8), result(0.02, 3, I8), alpha=0.2),
    node("QLinearSoftmax", quantized("x", 3, 9, scale=0.05), result(1 / 256, 0), axis=-1, opset=13),
    node("QLinearSoftmax", quantized("x", 2, 3, 4, scale=0.05), result(1 / 256, 0), axis=1, opset=12),
    node("QLinearAveragePool", quantized("x", *IMAGE), result(0.02, 118), **WINDOW),
    node("QLinearAveragePool", quantized("x", *LAST), result(0.03, 118), channels_last=1, count_include_pad=1, **WINDOW),
    node("QLinearGlobalAveragePool", quantized("x", *IMAGE), result(0.01, 118), channels_last=0),
    node("QLinearGlobalAveragePool", quantized("x", *LAST), result(0.01, 118), channels_last=1),
    node("QLinearConcat", result(0.05, 110), quantized("a", 2, 3), quantized("b", 2, 4, scale=0.06), axis=1),
    node("QLinearWhere", {"c": numpy.array([[True, False, True]])}, quantized("a", 2, 3), quantized("b", 2, 3, scale=0.03),
         result(0.04, 90)),
    node("NhwcMaxPool", {"x": integers(*LAST)}, **WINDOW),
    node("NhwcMaxPool", {"x": integers(*LAST, dtype=I8)}, kernel_shape=[2, 2], strides=[1, 2]),
    node("QLinearConv", quantized("x", *LAST), quantized("w", 4, 3, 3, 3, dtype=I8, zero=0), result(0.2, 128),
         {"bias": integers(4, dtype=I32, low=-500, high=500)}, constants=["w", "bias"], channels_last=1, **WINDOW),
    node("QGemm", quantized("a", 3, 4), quantized("b", 5, 4, dtype=I8, zero=0), {"c": integers(5, dtype=I32, low=-90, high=90)},
         result(0.1, 100), constants=["b", "c"], transB=1),
    node("QGemm", quantized("a", 4, 3), quantized("b", 4, 5, zero=99), {"c": None}, transA=1, alpha=0.5),
    node("DynamicQuantizeMatMul", {"a": reals(3, 8), "b": integers(8, 5, dtype=I8), "b_scale": number(0.03)},
         constants=["b"]),
    node("DynamicQuantizeMatMul",
         {"a": reals(2, 3, 8), "b": integers(8, 5), "b_scale": reals(5, low=0.01, high=0.1), "b_zero": integers(5),
          "bias": reals(5)}, constants=["b", "bias"]),
    node("MatMulIntegerToFloat",
         {"a": integers(3, 8), "b": integers(8, 5, dtype=I8), "a_scale": number(0.1), "b_scale": reals(5, low=0.01),
          "a_zero": number(99, U8), "b_zero": None, "bias": reals(5)}, constants=["b", "bias"]),
    node("QuantizeLinear", {"x": reals(3, 4, high=2), "x_scale": number(0.01), "x_zero": number(300, U16)}),
    node("QuantizeLinear", {"x": reals(3, 4, high=2), "x_scale": number(0.01), "x_zero": number(5, I8)}),
    node("DequantizeLinear", {"x": integers(3, 4, dtype=I16), "x_scale": number(0.01), "x_zero": number(-7, I16)}),
    node("DequantizeLinear", {"x": integers(3, 4, dtype=I32, low=-900, high=900), "x_scale": reals(4, low=0.1)}, axis=1),
    lstm(1, 0),
    lstm(1, 1, dtype=U8, direction="reverse"),
    lstm(2, 0, direction="bidirectional"),
]
for n in NODES:  # an input that is absent is no constant
    n.constants = [name for name in n.constants if n.inputs[name] is not None]
