"""Activations 60 deep: `info` and `compile` within 20 s each."""
from onnx.helper import make_node as node

from corners.models_of_reals import save_model
from harness.program import call, failure
from harness.tensors import F32


def activation_nodes(kind, x, y):
    """One activation from x to y, as one node or written out."""
    if kind == "x Sigmoid(x)":
        return [node("Sigmoid", [x], [y + "s"]), node("Mul", [x, y + "s"], [y])]
    if kind == "Gelu written out":
        return [node("Div", [x, "root"], [y + "a"]), node("Erf", [y + "a"], [y + "b"]),
                node("Add", [y + "b", "one"], [y + "c"]), node("Mul", [x, y + "c"], [y + "d"]),
                node("Mul", [y + "d", "half"], [y])]
    if kind == "Add(x, x)":
        return [node("Add", [x, x], [y])]
    attributes = {"Gelu tanh": {"approximate": "tanh"}, "ThresholdedRelu": {"alpha": 0.1},
                  "LeakyRelu": {"alpha": 0.9}}.get(kind, {})
    return [node(kind.split()[0], [x], [y], **attributes)]


def check(context, report, depth=60, seconds=20):
    todo = []
    constants = {"root": F32(2**0.5), "one": F32(1), "half": F32(0.5)}
    for kind in ("HardSwish", "Mish", "Gelu tanh", "Gelu", "x Sigmoid(x)", "Gelu written out",
                 "Add(x, x)", "Elu", "Selu", "Softplus", "Celu", "ThresholdedRelu", "LeakyRelu"):
        names = ["x"] + [f"v{i}" for i in range(depth)]
        nodes = [n for x, y in zip(names, names[1:]) for n in activation_nodes(kind, x, y)]
        path = save_model(context.new_folder() / "model.onnx", nodes, constants, [4, 64],
                          names[-1], [4, 64])
        todo += [(f"{kind} info", [context.saltern, "info", path]),
                 (f"{kind} compile", context.compile_command(path))]
    todo = context.some(todo)
    results = context.parallel(lambda t: call(t[1], seconds), todo)
    for (name, _), (code, _, text) in zip(todo, results):
        report.check(f"{depth} x {name}", failure(code, text))
