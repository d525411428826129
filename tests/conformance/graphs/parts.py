"""Some nodes of a case as a case of their own."""
from onnx import numpy_helper

from harness.case import Case


def names_read(node):
    """What a node reads, also inside its subgraphs."""
    inside = [name for a in node.attribute if a.HasField("g") for n in a.g.node
              for name in names_read(n)]
    return [name for name in list(node.input) + inside if name]


def constants_of(case):
    held = {n.output[0]: numpy_helper.to_array(n.attribute[0].t)
            for n in case.nodes if n.op_type == "Constant"}
    return held | dict(case.constants)


def part_of(case, nodes, values, outputs):
    """Some nodes of a case as a case; what the others made becomes an input."""
    made, constants = {o for n in nodes for o in n.output}, constants_of(case)
    needed = dict.fromkeys(name for n in nodes for name in names_read(n) if name not in made)
    return Case(nodes, [(n, values[n]) for n in needed if n in values and n not in constants],
                [(n, constants[n]) for n in needed if n in constants], outputs)
