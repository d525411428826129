"""Graphs of 1,000 to 100,000 nodes: times, and how they grow."""
import collections, math

import numpy
from onnx.helper import make_node as node

from corners.models_of_reals import save_model
from harness.program import call, failure
from harness.tensors import F32


def long_chain(context, count):
    """Add, Relu, Mul, Softmax over and over: the last keeps it from becoming one kernel."""
    nodes, constants, x = [], {"half": F32(0.5)}, "x"
    rng = numpy.random.default_rng(0)
    for i in range(count):
        y = f"v{i}"
        if i % 4 == 0:
            constants[f"c{i}"] = rng.standard_normal((1, 16)).astype(F32)
        nodes.append([node("Add", [x, f"c{i}"], [y]), node("Relu", [x], [y]),
                      node("Mul", [x, "half"], [y]), node("Softmax", [x], [y])][i % 4])
        x = y
    return save_model(context.new_folder() / "chain.onnx", nodes, constants, [4, 16], x, [4, 16])


def wide_graph(context, count):
    """Many small branches of one input, joined 49 at a time and then all together."""
    rng, nodes, constants, joins = numpy.random.default_rng(0), [], {}, []
    for first in range(0, count, 50):
        branches = range(first, min(first + 49, count))
        for i in branches:
            constants[f"c{i}"] = rng.standard_normal((1, 4)).astype(F32)
            nodes.append(node("Add" if i % 2 else "Mul", ["x", f"c{i}"], [f"b{i}"]))
        nodes.append(node("Concat", [f"b{i}" for i in branches], [f"j{first}"], axis=1))
        joins.append(f"j{first}")
    nodes.append(node("Concat", joins, ["y"], axis=1))
    return save_model(context.new_folder() / "wide.onnx", nodes, constants, [2, 4], "y", [2, None])


def check(context, report):
    todo = []
    for family, make, sizes in (("chain", long_chain, (1000, 10000, 30000, 100000)),
                                ("wide", wide_graph, (1000, 10000, 30000))):
        for count in sizes:
            path = make(context, count)
            if (family, count) != ("chain", 30000):  # that one is for compile
                todo += [(family, "info", count, 10, [context.saltern, "info", path]),
                         (family, "convert", count, 10, [context.saltern, "convert", path, "-o",
                                                         path.with_suffix(".converted")])]
            if count <= 30000:
                todo.append((family, "compile", count, 60, context.compile_command(path)))
    results = context.parallel(lambda t: call(t[4], t[3]), todo)
    times = collections.defaultdict(list)
    for (family, what, count, bound, _), (code, took, text) in zip(todo, results):
        report.check(f"{family} of {count}, {what}", failure(code, text))
        if code == 0:
            times[family, what].append((count, took))
    for (family, what), measured in times.items():
        powers = [f"{math.log(t2 / t1) / math.log(n2 / n1):.1f}"
                  for (n1, t1), (n2, t2) in zip(measured, measured[1:])]
        report.note(f"{family} {what}: " + ", ".join(f"{n} nodes {t:.2f} s" for n, t in measured)
                    + (f"; grows as nodes to the power {', '.join(powers)}" if powers else ""))
