"""Operators with graphs inside."""
from onnx import TensorProto, helper

from graphs.recipe_list import RecipeList
from harness.tensors import F32

RECIPES = RecipeList()


def untyped(name, dtype=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


@RECIPES.weighing(1)
def branch(graph):
    x = graph.pick(least=1)
    total = graph.add("ReduceSum", [x], keepdims=0)
    condition = graph.add("Greater", [total, graph.constant(0, F32)])
    p = graph.new_name("b")
    then = [helper.make_node(graph.choose(["Relu", "Neg", "Tanh"]), [x.name], [p + "t"])]
    other = [helper.make_node("Add", [x.name, x.name], [p + "s"]),
             helper.make_node("Sigmoid", [p + "s"], [p + "e"])]
    graph.add("If", [condition], outer=[x],
              then_branch=helper.make_graph(then, "then", [], [untyped(p + "t")]),
              else_branch=helper.make_graph(other, "else", [], [untyped(p + "e")]))


@RECIPES.weighing(1)
def loop(graph):
    x, p = graph.pick(least=1, most=3), graph.new_name("l")
    nodes = [helper.make_node("Tanh", [p + "s"], [p + "a"]),
             helper.make_node("Cast", [p + "i"], [p + "f"], to=TensorProto.FLOAT),
             helper.make_node("Add", [p + "a", p + "f"], [p + "o"]),
             helper.make_node("Identity", [p + "c"], [p + "d"]),
             helper.make_node("Neg", [p + "o"], [p + "n"])]
    body = helper.make_graph(
        nodes, "body",
        [untyped(p + "i", TensorProto.INT64, []), untyped(p + "c", TensorProto.BOOL, []), untyped(p + "s")],
        [untyped(p + "d", TensorProto.BOOL, []), untyped(p + "o"), untyped(p + "n")])
    condition = graph.constant(True) if graph.chance(0.5) else None
    graph.add("Loop", [graph.integers(graph.integer(0, 4)), condition, x], outputs=2, body=body)


@RECIPES.weighing(1)
def scan(graph):
    x, p = graph.pick(rank=2, nonempty=True), graph.new_name("s")
    row = [x.shape[1]]
    nodes = [helper.make_node("Add", [p + "s", p + "x"], [p + "a"]),
             helper.make_node("Tanh", [p + "a"], [p + "o"]),
             helper.make_node("Mul", [p + "o", p + "x"], [p + "y"])]
    body = helper.make_graph(nodes, "body", [untyped(p + c, TensorProto.FLOAT, row) for c in "sx"],
                             [untyped(p + c, TensorProto.FLOAT, row) for c in "oy"])
    graph.add("Scan", [graph.operand(row), x], outputs=2, body=body, num_scan_inputs=1,
              scan_input_directions=[graph.integer(0, 1)], scan_output_directions=[graph.integer(0, 1)])
