"""Quantised products as ONNX Runtime computes them right on every CPU.

On a CPU without VNNI its kernels for signed weights add pairs of products in 16 bits, which saturate: sums of large ones
come out too small. With unsigned weights they do not. A weight and its zero point that are both larger by 128 give the
same products.
"""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness.tensors import I8, I32

# The places of the weights and of their zero point among the operands.
PLACES = {"MatMulInteger": (1, 3), "ConvInteger": (1, 3), "QLinearMatMul": (3, 5), "QLinearConv": (3, 5)}


def unsaturated(model):
    """The same model with unsigned weights, where zero points are constants."""
    constants = {t.name: t for t in model.graph.initializer}
    constants |= {n.output[0]: n.attribute[0].t for n in model.graph.node if n.op_type == "Constant"}
    if not any(zero_of(node, constants) is not None for node in model.graph.node):
        return model
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    graph = changed.graph
    shift = numpy_helper.from_array(numpy.array(128, I32), "shift of weights")
    graph.initializer.append(shift)
    del graph.node[:]
    for i, node in enumerate(model.graph.node):
        zero = zero_of(node, constants)
        if zero is not None:
            node = onnx.NodeProto.FromString(node.SerializeToString())
            weight, zero_place = PLACES[node.op_type]
            wide, moved, narrow, zero_name = (f"{what} of {i}" for what in ("wide", "moved", "unsigned", "zero"))
            graph.node.extend([helper.make_node("Cast", [node.input[weight]], [wide], to=TensorProto.INT32),
                               helper.make_node("Add", [wide, shift.name], [moved]),
                               helper.make_node("Cast", [moved], [narrow], to=TensorProto.UINT8)])
            shifted = (zero.astype(I32) + 128).astype(numpy.uint8)
            graph.initializer.append(numpy_helper.from_array(shifted, zero_name))
            node.input[weight], node.input[zero_place] = narrow, zero_name
        graph.node.append(node)
    return changed


def zero_of(node, constants):
    """The zero point of a product's signed weights; None where it is no such product."""
    if node.op_type not in PLACES:
        return None
    place = PLACES[node.op_type][1]
    name = node.input[place] if place < len(node.input) else ""
    array = numpy_helper.to_array(constants[name]) if name in constants else None
    return array if array is not None and array.dtype == I8 else None
