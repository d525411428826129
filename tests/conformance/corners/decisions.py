"""Models that decide by an open extent."""
import numpy
import onnx
from onnx import TensorProto, helper
from onnx.helper import make_node as node

from harness.case import model_of
from harness.references import onnxruntime_results
from harness.tensors import F32, I64, tensor_type

COMPARISONS = ("Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual")
EXTENT = [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["n"])]
AS_LIST = node("Unsqueeze", ["m", "axis"], ["k"])


def decision_nodes():
    """{name: nodes}: what models decide by an open extent n and a number c."""
    cases = {
        "Slice to c": [node("Slice", ["x", "axis", "cs", "axis"], ["y"])],
        "Slice from c": [node("Slice", ["x", "cs", "end", "axis"], ["y"])],
        "Slice of the last c": [node("Neg", ["cs"], ["m"]),
                                node("Slice", ["x", "m", "end", "axis"], ["y"])],
        "Slice back from c": [node("Slice", ["x", "cs", "begin", "axis", "back"], ["y"])],
        "Slice each c": [node("Slice", ["x", "axis", "end", "axis", "cs"], ["y"])],
        "Gather the c-th": [node("Sub", ["cs", "ones"], ["m"]), node("Gather", ["x", "m"], ["y"])],
        "Clip above": EXTENT + [node("Clip", ["n", "", "c"], ["y"])],
        "Clip below": EXTENT + [node("Clip", ["n", "c"], ["y"])],
        "Mod": EXTENT + [node("Mod", ["n", "c"], ["y"])],
        "Div": EXTENT + [node("Div", ["n", "c"], ["y"])],
        "Where": EXTENT + [node("Less", ["n", "c"], ["b"]), node("Where", ["b", "n", "c"], ["y"])],
        "Cast, Greater": EXTENT + [node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
                                   node("Cast", ["c"], ["d"], to=TensorProto.FLOAT),
                                   node("Greater", ["f", "d"], ["y"])],
        "Range, Less": EXTENT + [node("Range", ["zero", "n", "one"], ["r"]),
                                 node("Less", ["r", "c"], ["y"])],
        "Pad to c": EXTENT + [node("Sub", ["c", "n"], ["d"]), node("Max", ["d", "zero"], ["m"]),
                              AS_LIST, node("Concat", ["two", "k", "axis"], ["p"], axis=0),
                              node("Pad", ["x", "p"], ["y"])],
        "Tile": EXTENT + [node("Div", ["n", "c"], ["q"]), node("Add", ["q", "one"], ["m"]), AS_LIST,
                          node("Concat", ["k", "ones"], ["r"], axis=0),
                          node("Tile", ["x", "r"], ["y"])],
        "TopK": EXTENT + [node("Min", ["n", "c"], ["m"]), AS_LIST,
                          node("TopK", ["x", "k"], ["y", "i"], axis=0)],
        "Max, Expand": EXTENT + [node("Max", ["n", "c"], ["m"]), AS_LIST,
                                 node("Concat", ["k", "three"], ["s"], axis=0),
                                 node("Expand", ["unit", "s"], ["y"])],
        "Min, ConstantOfShape": EXTENT + [node("Min", ["n", "c"], ["m"]), AS_LIST,
                                          node("ConstantOfShape", ["k"], ["y"])]}
    for op in ("Min", "Max"):
        cases[op] = EXTENT + [node(op, ["n", "c"], ["y"])]
        cases[f"{op}, Range"] = EXTENT + [node(op, ["n", "c"], ["m"]),
                                          node("Range", ["zero", "m", "one"], ["y"])]
        cases[f"{op}, Slice"] = EXTENT + [node(op, ["n", "c"], ["m"]), AS_LIST,
                                          node("Slice", ["x", "axis", "k", "axis"], ["y"])]
    for op in COMPARISONS:
        branches = {f"{name}_branch": helper.make_graph(
            [node(inner, ["x"], [name])], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
            for name, inner in (("then", "Relu"), ("else", "Neg"))}
        cases[op] = EXTENT + [node(op, ["n", "c"], ["y"])]
        cases[f"{op}, Where"] = EXTENT + [node(op, ["n", "c"], ["b"]),
                                          node("Where", ["b", "p2", "p3"], ["w"]),
                                          node("Mul", ["x", "w"], ["y"])]
        cases[f"{op}, If"] = EXTENT + [node(op, ["n", "c"], ["b"]),
                                       node("If", ["b"], ["y"], **branches)]
    return cases


def decision_model(nodes, c):
    """A model whose input x is [n, 3] with n left open."""
    constants = {"c": c, "cs": [c], "zero": 0, "one": 1, "axis": [0], "ones": [1], "three": [3],
                 "two": [0, 0], "end": [2**31 - 1], "begin": [-2**31], "back": [-1]}
    arrays = {k: numpy.array(v, I64) for k, v in constants.items()}
    arrays |= {"p2": F32(2), "p3": F32(3), "unit": numpy.ones((1, 1), F32)}
    read = {name for n in nodes for name in n.input}
    model = model_of(nodes, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
                     [onnx.ValueInfoProto(name="y")],
                     [(name, numpy.asarray(value)) for name, value in arrays.items() if name in read])
    y = onnxruntime_results(model, {"x": numpy.ones((c + 1, 3), F32)})[0]
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", tensor_type(y.dtype), [None] * y.ndim))
    return model
