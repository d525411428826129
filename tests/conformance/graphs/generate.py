"""Graph I of a seed: the same one on every machine, with the versions that cmake/requirements.txt pins."""
import numpy

from graphs.builder import Builder
from graphs.image_graphs import grow_images
from graphs.recipes import RECIPES
from graphs.recipes.elementwise import ACTIVATIONS, activation_attributes
from harness.case import Case
from harness.tensors import F32, F64, I64


def grow_activations(graph):
    x = graph.input(graph.shape(graph.integer(1, 4), nonempty=True))
    only = graph.choose(ACTIVATIONS) if graph.chance(0.5) else None
    for _ in range(graph.integer(1, 8)):
        op = only or graph.choose(ACTIVATIONS)
        x = graph.add(op, [x], **activation_attributes(graph, op))


def grow_mixed(graph):
    for _ in range(graph.integer(1, 2)):
        graph.input(graph.shape(graph.choose([1, 2, 2, 3, 4, 4])), graph.choose([F32] * 5 + [F64, I64]))
    wanted, attempts = graph.integer(3, 25), 0
    while sum(n.op_type != "Constant" for n in graph.nodes) < wanted and attempts < 80:
        attempts += 1
        graph.attempt(graph.choose(RECIPES))


STYLES = ["mixed"] * 12 + ["images"] * 4 + ["ones"] * 2 + ["activations"] * 2
GROW = {"mixed": grow_mixed, "ones": grow_mixed, "images": grow_images,
        "activations": grow_activations}


def generate(seed, index):
    """Graph `index` of a seed: the first of its attempts that onnxruntime runs, all finite."""
    for attempt in range(100):
        rng = numpy.random.default_rng([seed, index, attempt])
        builder = Builder(rng, STYLES[int(rng.integers(len(STYLES)))])
        if builder.attempt(GROW[builder.style]) is None and not builder.nodes:
            continue
        try:
            case = finish(builder)
        except Exception:  # onnxruntime's, for the whole graph
            continue
        if case and all(numpy.isfinite(a).all() for a in case.expected if a.dtype.kind == "f"):
            return case
    raise RuntimeError(f"no graph {index} of seed {seed}")


def finish(graph):
    """The graph's outputs: all that nothing reads, and some others; some extents left open."""
    made = {o for n in graph.nodes if n.op_type != "Constant" for o in n.output}
    outputs = [v.name for v in graph.pool
               if v.name in made and (v.name not in graph.read or graph.chance(0.12))]
    inputs = [(name, array) for name, array in graph.inputs if name in graph.read]
    open_extents = {}
    if graph.chance(0.3):
        open_extents = {name: [f"{name}_{axis}" if graph.chance(0.6) else extent
                               for axis, extent in enumerate(array.shape)]
                        for name, array in inputs}
    constants = [(name, array) for name, array in graph.constants if name in graph.read]
    return Case(graph.nodes, inputs, constants, outputs, open_extents) if outputs else None
