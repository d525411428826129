"""Cases of a few nodes: how they are written down, and run alone."""
from onnx.helper import make_node as node

from harness.case import Case
from harness.comparison import differences
from harness.program import failure, message_of, run_batch
from harness.tensors import I64, read_outputs


def case_of(nodes, inputs, constants, outputs=("y",)):
    """A case from dicts, with only the constants that the nodes read."""
    read = {name for n in nodes for name in n.input}
    return Case(nodes, inputs.items(), [(k, v) for k, v in constants.items() if k in read], outputs)


def single(op, *operands, outputs=1, **attributes):
    """One node; integer operands are constants, None is an operand left out."""
    names = [f"x{i}" if v is not None else "" for i, v in enumerate(operands)]
    given = [(n, v) for n, v in zip(names, operands) if v is not None]
    results = [f"y{i}" for i in range(outputs)]
    return Case([node(op, names, results, **attributes)],
                [(n, v) for n, v in given if v.dtype != I64],
                [(n, v) for n, v in given if v.dtype == I64], results)


def problem_of(case, folder, status):
    if status != 0:
        return failure(status, message_of(folder))
    got = read_outputs(folder / "out", len(case.outputs))
    return "an output is missing" if got is None else differences(got, case.expected)


def problem_alone(context, case, compiled, cache=None):
    """What is wrong with a case run alone; with a kernel cache of its own unless one is given."""
    folder = case.write(context.new_folder())
    cache = cache or folder / "cache"
    return problem_of(case, folder, run_batch(context.saltern, [folder], cache, compiled)[folder])


def check_both_paths(context, report, cases):
    """Runs {name: case} with library kernels, and compiled with an empty cache for each."""
    todo = [(name, compiled) for compiled in (False, True) for name in cases]
    problems = context.parallel(lambda t: problem_alone(context, cases[t[0]], t[1]), todo)
    for (name, compiled), problem in zip(todo, problems):
        report.check(name + (" compiled" if compiled else " run"), problem)
