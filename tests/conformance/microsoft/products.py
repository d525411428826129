"""Products and convolutions with what stands around them, weights of few bits, matrices, and operators of other names."""
import numpy

from microsoft.node import Node, integers, number, reals

F16, I64, U8 = numpy.float16, numpy.int64, numpy.uint8


def bits(inputs, outputs, block, of=4, zeros=False, **options):
    """A MatMulNBits."""
    blocks = -(-inputs // block)
    given = dict(a=reals(3, inputs), b=integers(outputs, blocks, block * of // 8), scales=reals(outputs * blocks, low=0.1))
    if zeros is True:
        given["zeros"] = integers(outputs * -(-blocks * of // 8))
    elif zeros:
        given["zeros"] = reals(outputs, blocks, low=6, high=9)
    return Node("MatMulNBits", given, ["b", "scales"] + ["zeros"] * ("zeros" in given), K=inputs, N=outputs, bits=of,
                block_size=block, **options)


def fast_gelu(x):
    return 0.5 * x * (1 + numpy.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))


FAST = reals(2, 3, 5), reals(5, 4), reals(4)
IMAGE, KERNEL = reals(1, 3, 6, 5), reals(4, 3, 3, 3)
NODES = [
    Node("FusedMatMul", dict(a=reals(2, 3, 4), b=reals(2, 5, 4)), alpha=0.5, transB=1),
    Node("FusedMatMul", dict(a=reals(2, 4, 3), b=reals(4, 5)), transA=1),
    Node("FusedMatMul", dict(a=reals(3, 2, 4), b=reals(2, 4, 5)), alpha=2.0, transBatchA=1),
    Node("FusedMatMul", dict(a=reals(4, 2, 3), b=reals(5, 2, 4)), transBatchA=1, transA=1, transBatchB=1, transB=1),
    Node("TransposeMatMul", dict(a=reals(2, 3, 4), b=reals(2, 4, 5)), alpha=0.25),
    Node("FusedGemm", dict(a=reals(3, 4), b=reals(5, 4), c=reals(5)), ["b", "c"], transB=1, activation="Relu"),
    Node("FusedGemm", dict(a=reals(3, 4), b=reals(4, 5), c=reals(3, 5)), alpha=0.5, beta=2.0, activation="LeakyRelu",
         activation_alpha=0.3),
    Node("GemmFastGelu", dict(a=FAST[0], b=FAST[1], bias=FAST[2]), ["b"],
         expected=[fast_gelu(FAST[0] @ FAST[1] + FAST[2]).astype(numpy.float32)]),
    Node("FusedConv", dict(x=IMAGE, w=KERNEL, bias=reals(4)), ["w", "bias"], activation="Relu", pads=[1, 1, 1, 1]),
    Node("FusedConv", dict(x=IMAGE, w=KERNEL, bias=reals(4), z=reals(1, 4, 4, 3)), ["w", "bias"], activation="Clip",
         activation_params=[-0.2, 0.9]),
    Node("FusedConv", dict(x=IMAGE, w=KERNEL), ["w"], activation="HardSigmoid", activation_params=[0.3, 0.4],
         strides=[2, 1]),
    bits(32, 5, 16),
    bits(40, 3, 16, zeros=True),
    bits(64, 4, 32, zeros="reals"),
    bits(32, 3, 16, of=8),
    bits(48, 3, 16, of=8, zeros=True),
    Node("MatMulNBits", dict(a=reals(2, 3, 32), b=integers(4, 1, 16), scales=reals(4, low=0.1), zeros=None, groups=None,
                             bias=reals(4)), ["b", "scales"], K=32, N=4, bits=4, block_size=32),
    Node("CDist", dict(a=reals(3, 4), b=reals(5, 4)), metric="euclidean"),
    Node("CDist", dict(a=reals(3, 4), b=reals(5, 4)), metric="sqeuclidean"),
    Node("Inverse", dict(x=reals(2, 3, 4, 4) + 2 * numpy.eye(4, dtype=numpy.float32)[::-1])),
    Node("Inverse", dict(x=reals(1, 1, low=1, high=2))),
    Node("ExpandDims", dict(x=reals(2, 3), axis=numpy.array(-2, numpy.int32)), ["axis"]),
    Node("Range", dict(start=number(1), limit=number(4), delta=number(0.5)), ["start", "limit", "delta"]),
    Node("Range", dict(start=number(1, I64), limit=number(4, I64)), ["start", "limit"]),
    Node("Trilu", dict(x=reals(2, 3, 4), k=number(1, I64)), ["k"], upper=1),
    Node("GatherND", dict(x=reals(2, 3, 4), at=numpy.array([[0, 1], [1, 2]], I64))),
    Node("Pad", dict(x=reals(2, 3), pads=numpy.array([0, 1, 1, 2], I64), value=number([1.5])), ["pads"], mode="constant"),
    Node("ConvTransposeWithDynamicPads", dict(x=reals(1, 2, 4, 3), w=reals(2, 3, 3, 3), pads=numpy.array([1, 0, 1, 1], I64)),
         ["w", "pads"], strides=[2, 2]),
]
