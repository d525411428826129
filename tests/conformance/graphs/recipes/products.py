"""Sums of products: matrices, attention, recurrent nets."""
from graphs.builder import REALS
from graphs.recipe_list import RecipeList
from harness.tensors import F32, I32

RECIPES = RecipeList()


@RECIPES.weighing(3)
def gemm(graph):
    x, trans_a, trans_b, n = graph.pick(REALS, rank=2), graph.integer(0, 1), graph.integer(0, 1), graph.extent()
    m, k = x.shape[::-1] if trans_a else x.shape
    operands = [x, graph.operand([n, k] if trans_b else [k, n], x.dtype)]
    if graph.chance(0.6):
        shape = graph.choose([[n], [1, n], [m, 1], [m, n], [1], []])
        operands.append(graph.operand(shape, x.dtype))
    scales = {"alpha": 0.5, "beta": graph.choose([0.0, 2.0])} if graph.chance(0.4) else {}
    graph.add("Gemm", operands, transA=trans_a, transB=trans_b, **scales)


def product_with(graph, x):
    """MatMul with an operand whose leading extents broadcast, or that has none."""
    if graph.chance(0.15):
        return graph.add("MatMul", [x, graph.operand(x.shape[-1:], x.dtype)])
    batch = graph.broadcast_shape(x.shape[:-2], 0.5)
    if graph.chance(0.15):
        batch = [2] + [1] * max(0, x.rank - 2 - len(batch)) + batch
    return graph.add("MatMul", [x, graph.operand(batch + [x.shape[-1], graph.extent()], x.dtype)])


@RECIPES.weighing(4)
def matmul(graph):
    product_with(graph, graph.pick(REALS + (I32,), least=1, most=4))


def self_attention(graph, x):
    order = list(range(x.rank))
    order[-1], order[-2] = order[-2], order[-1]
    scores = graph.add("MatMul", [x, graph.add("Transpose", [x], perm=order)])
    weights = graph.add("Softmax", [graph.add("Mul", [scores, graph.constant(0.125, F32)])], axis=-1)
    return graph.add("MatMul", [weights, x])


@RECIPES.weighing(1)
def attention(graph):
    self_attention(graph, graph.pick(least=2, most=4))


@RECIPES.weighing(2)
def einsum(graph):
    equation = graph.choose([
        "ij,jk->ik", "ij,kj->ik", "ijk,ikl->ijl", "ij->ji", "ij->i", "ij->", "ii->i", "ij,ij->ij",
        "i,j->ij", "ijk,jl->ikl", "bij,bjk", "...ij,...jk->...ik", "ij,jk,kl->il",
        "ijkl,ijml->ijkm", "iji->j", "ijk->kij", "i,i->", "ijk,k->ij", "ij, jk -> ik",
        "ijkl,jl->ik"])
    extents = {letter: graph.choose([1, 2, 3, 5, 7]) for letter in "ijkl"} | {"b": 2, "m": 3, ".": 2}
    terms = equation.split("->")[0].replace(" ", "").replace("...", ".").split(",")
    graph.add("Einsum", [graph.operand([extents[c] for c in term]) for term in terms], equation=equation)


@RECIPES.weighing(2)
def recurrent(graph):
    op = graph.choose(["LSTM", "GRU", "RNN"])
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    steps, batch = graph.choose([1, 2, 5]), graph.choose([1, 2, 3])
    size, hidden = graph.choose([1, 3, 8]), graph.choose([1, 2, 5, 8])
    direction = graph.choose(["forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1

    def maybe(probability, shape):
        return graph.operand(shape) if graph.chance(probability) else None

    lengths = graph.constant(graph.data([batch], I32, 1, steps)) if graph.chance(0.3) else None
    operands = [graph.input([steps, batch, size]), graph.operand([ways, gates * hidden, size]),
                graph.operand([ways, gates * hidden, hidden]), maybe(0.6, [ways, 2 * gates * hidden]),
                lengths, maybe(0.4, [ways, batch, hidden])]
    attributes = {"hidden_size": hidden, "direction": direction}
    if op == "LSTM":
        operands += [maybe(0.4, [ways, batch, hidden]), maybe(0.3, [ways, 3 * hidden])]
        attributes["input_forget"] = int(graph.chance(0.15))
    if op == "GRU":
        attributes["linear_before_reset"] = graph.integer(0, 1)
    if op != "LSTM" and graph.chance(0.2):
        # The standard clips what every activation gets; onnxruntime leaves out LSTM's last one,
        # and the reference does not know the attribute.
        attributes["clip"] = 0.5
    if graph.chance(0.2):
        functions = {"LSTM": ["Sigmoid", "Relu", "Tanh"], "GRU": ["HardSigmoid", "Tanh"],
                     "RNN": ["Relu"]}
        attributes["activations"] = functions[op] * ways
    graph.add(op, operands, outputs=3 if op == "LSTM" and graph.chance(0.5) else 2, **attributes)
