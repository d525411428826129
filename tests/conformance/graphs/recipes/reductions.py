"""Operators that make one element of many: reductions, orders, running sums."""
from graphs.builder import REALS
from graphs.recipe_list import RecipeList
from harness.tensors import F32, F64, I32, I64

RECIPES = RecipeList()


@RECIPES.weighing(4)
def reduction(graph):
    op = graph.choose(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSumExp", "SumSquare",
                       "LogSum"])
    whole = (I32, I64) if op in ("Sum", "Max", "Min", "Prod") else ()
    x = graph.pick(((F32,) if op == "LogSum" else REALS) + whole, nonempty=graph.chance(0.97))
    operands, attributes = [graph.add("Abs", [x]) if op == "LogSum" else x], {}
    if x.rank and graph.chance(0.85):
        axes = graph.some_axes(x.rank, least=0 if graph.chance(0.1) else 1)
        operands.append(graph.integers([graph.maybe_negative(axis, x.rank) for axis in axes]))
    if graph.chance(0.1):
        attributes["noop_with_empty_axes"] = 1
    graph.add("Reduce" + op, operands, keepdims=graph.integer(0, 1), **attributes)


@RECIPES.weighing(2)
def arg(graph):
    x = graph.pick((F32, F32, I32), least=1, nonempty=True)
    graph.add(graph.choose(["ArgMax", "ArgMin"]), [x], axis=graph.integer(-x.rank, x.rank - 1),
              keepdims=graph.integer(0, 1), select_last_index=graph.integer(0, 1))


@RECIPES.weighing(1)
def top_k(graph):
    x = graph.pick((F32, F64, I64), least=1, nonempty=True)
    axis = graph.integer(-x.rank, x.rank - 1)
    graph.add("TopK", [x, graph.integers([graph.integer(1, x.shape[axis])])], outputs=2, axis=axis,
              largest=graph.integer(0, 1), sorted=1)


@RECIPES.weighing(2)
def softmax(graph):
    x = graph.pick(REALS, least=1)
    graph.add(graph.choose(["Softmax", "Softmax", "LogSoftmax", "Hardmax"]), [x],
              axis=graph.integer(-x.rank, x.rank - 1))


@RECIPES.weighing(1)
def cumulative_sum(graph):
    x = graph.pick((F32, F64, I32, I64), least=1)
    graph.add("CumSum", [x, graph.integers(graph.integer(-x.rank, x.rank - 1))],
              exclusive=graph.integer(0, 1), reverse=graph.integer(0, 1))
