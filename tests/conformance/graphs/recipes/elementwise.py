"""Operators on each element alone."""
import numpy

from graphs.builder import NUMBERS, Skip
from graphs.recipe_list import RecipeList
from harness.tensors import BOOL, F16, F32, F64, I8, I32, I64, U8, tensor_type

RECIPES = RecipeList()
UNARY = ("Relu Sigmoid Tanh Exp Abs Neg Erf Softplus Softsign Elu Selu Celu LeakyRelu HardSigmoid "
         "HardSwish Mish Gelu ThresholdedRelu Ceil Floor Round Sign Sin Cos Atan Sinh Identity "
         "Asinh Reciprocal Shrink Clip Sqrt Log PRelu IsNaN IsInf Acos Tan").split()
ACTIVATIONS = ("Relu Sigmoid Tanh Elu Selu Celu LeakyRelu HardSigmoid HardSwish Mish Gelu Softplus "
               "Softsign ThresholdedRelu").split()


def activation_attributes(graph, op):
    if op in ("Elu", "Celu", "LeakyRelu", "ThresholdedRelu") and graph.chance(0.7):
        return {"alpha": graph.choose([0.1, 0.3, 1.0, 1.7, 0.0 if op != "Celu" else 0.5])}
    if op == "HardSigmoid" and graph.chance(0.5):
        return {"alpha": 0.3, "beta": 0.4}
    if op == "Gelu" and graph.chance(0.5):
        return {"approximate": "tanh"}
    if op == "Shrink":
        return {"lambd": 0.4, "bias": graph.choose([0.0, 0.2])}
    return {}


@RECIPES.weighing(5)
def unary(graph):
    op = graph.choose(UNARY)
    any_number = op in ("Abs", "Neg", "Sign", "Relu", "Identity", "Clip")
    x = graph.pick(NUMBERS if any_number else (F32,))
    if op in ("Sqrt", "Log", "Reciprocal"):  # away from 0, where results are wild
        x = graph.add("Add", [graph.add("Abs", [x]), graph.constant(0.1, x.dtype)])
    if op == "Acos":
        x = graph.add("Tanh", [x])
    operands = [x]
    if op == "Clip":
        low, high = graph.choose([(None, 1), (-1, None), (-1, 1), (1, -1), (None, None)])
        operands += [graph.constant(v, x.dtype) if v is not None else None for v in (low, high)]
    if op == "PRelu":
        operands.append(graph.operand(graph.broadcast_shape(x.shape, 0.5), x.dtype))
    graph.add(op, operands, **activation_attributes(graph, op))


@RECIPES.weighing(5)
def binary(graph):
    op = graph.choose("Add Sub Mul Div Pow Max Min Mod Sum Mean Equal Greater Less GreaterOrEqual "
                      "LessOrEqual".split())
    x = graph.pick((F32,) if op in ("Mean", "Sum") else NUMBERS)
    if graph.chance(0.5):
        y = graph.pick_like(x, lambda v: broadcasts(v.shape, x.shape))
    else:
        extra = [graph.choose([1, 2, 3])] + [1] * x.rank if graph.chance(0.15) else []
        shape = graph.broadcast_shape(x.shape)
        y = graph.operand(extra[:len(extra) - len(shape)] + shape if extra else shape, x.dtype)
    attributes, real = {}, x.dtype.kind == "f"
    if op in ("Div", "Mod"):
        divisors = graph.data(y.shape, x.dtype, *((0.5, 2) if real else (1, 3)))
        y = graph.constant(-divisors if not real and graph.chance(0.5) else divisors)
        if op == "Mod" and (real or graph.chance(0.4)):
            attributes["fmod"] = 1
    elif op == "Pow":
        y = graph.constant(graph.choose([2, 3, 0, 1]), x.dtype if graph.chance(0.8) else F32)
    elif graph.chance(0.3):
        x, y = y, x
    more = [x] if op in ("Max", "Min", "Sum", "Mean") and graph.chance(0.3) else []
    graph.add(op, [x, y] + more, **attributes)


def broadcasts(one, other):
    return all(p == q or 1 in (p, q) for p, q in zip(one[::-1], other[::-1]))


@RECIPES.weighing(1)
def logic(graph):
    x = graph.pick((BOOL,), make=False)
    if graph.chance(0.4):
        return graph.add("Not", [x])
    y = graph.pick_like(x, lambda v: broadcasts(v.shape, x.shape))
    return graph.add(graph.choose(["And", "Or", "Xor"]), [x, y])


@RECIPES.weighing(1)
def bits(graph):
    x, op = graph.pick((I64, I32, U8)), graph.choose(["And", "Or", "Xor", "Not"])
    shape = [1] * x.rank if graph.chance(0.5) else x.shape
    graph.add("Bitwise" + op, [x] if op == "Not" else [x, graph.operand(shape, x.dtype)])


@RECIPES.weighing(2)
def where(graph):
    x = graph.pick(NUMBERS)
    condition = (graph.pick((BOOL,), make=False) if graph.chance(0.4)
                 else graph.operand([d if graph.chance(0.6) else 1 for d in x.shape], BOOL))
    graph.add("Where", [condition, x, graph.operand(graph.broadcast_shape(x.shape), x.dtype)])


@RECIPES.weighing(2)
def cast(graph):
    x = graph.pick(NUMBERS + (BOOL, U8))
    to = numpy.dtype(graph.choose([F32, F32, F32, F64, I64, I32, U8, I8, BOOL, F16]))
    if x.dtype.kind == "f" and to.kind in "iu":
        if x.array.size and numpy.abs(x.array).max() > 100:
            raise Skip  # the standard leaves it open
        x = graph.add("Abs", [x]) if to.kind == "u" else x
    graph.add("Cast", [x], to=tensor_type(to))


@RECIPES.weighing(1)
def dropout(graph):
    graph.add("Dropout", [graph.pick()], outputs=graph.choose([1, 2]))
