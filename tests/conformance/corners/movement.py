"""Operations that move nothing: with both kinds of kernels, and through `info` and `compile`."""
import numpy
from onnx import TensorProto
from onnx.helper import make_node as node

from corners.small_cases import case_of, check_both_paths
from harness.program import call, failure
from harness.tensors import F32, I64


def still_cases():
    """Operations that leave every value where it is, or only rename extents of 1."""
    rng, cases = numpy.random.default_rng(0), {}
    real = lambda shape: rng.standard_normal(shape).astype(F32)
    for shape, order in (
            ((1, 2, 1), [2, 1, 0]), ((1, 1), [1, 0]), ((1,), [0]), ((1, 1, 1, 1), [3, 2, 1, 0]),
            ((1, 3, 1, 1), [0, 1, 3, 2]), ((2, 1, 1, 1), [0, 1, 3, 2]), ((1, 5), [1, 0]),
            ((5, 1), [1, 0]), ((2, 3), [0, 1]), ((1, 2, 3), [1, 0, 2]), ((2, 1, 3), [1, 0, 2]),
            ((4, 1, 16), [1, 0, 2]), ((1, 8, 1, 64), [0, 2, 1, 3]), ((8, 7, 1, 1), [0, 1, 3, 2]),
            ((1, 1, 8, 5), [1, 0, 2, 3]), ((1, 4, 1, 4), [2, 1, 0, 3])):
        name = f"Transpose {list(shape)} {order}"
        move = node("Transpose", ["x"], ["y"], perm=order)
        cases[name] = case_of([move], {"x": real(shape)}, {})
        inside = [node("Relu", ["x"], ["r"]), node("Transpose", ["r"], ["t"], perm=order),
                  node("Add", ["t", "one"], ["y"])]
        cases[name + " inside"] = case_of(inside, {"x": real(shape)}, {"one": numpy.ones(1, F32)})
    constants = {"same": numpy.array([2, 1, 4], I64), "flat": numpy.array([8], I64),
                 "zero": numpy.array([0], I64), "end": numpy.array([2**31 - 1], I64),
                 "none": numpy.zeros(6, I64), "ones": numpy.ones(3, I64), "axis": numpy.array([1], I64)}
    for name, nodes in {
            "Reshape to the same": [node("Reshape", ["x", "same"], ["y"])],
            "Reshape and back": [node("Reshape", ["x", "flat"], ["a"]),
                                 node("Reshape", ["a", "same"], ["y"])],
            "Identity": [node("Identity", ["x"], ["y"])],
            "Dropout": [node("Dropout", ["x"], ["y"])],
            "Flatten": [node("Flatten", ["x"], ["y"])],
            "Cast": [node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)],
            "Squeeze": [node("Squeeze", ["x", "axis"], ["y"])],
            "Squeeze, Unsqueeze": [node("Squeeze", ["x", "axis"], ["a"]),
                                   node("Unsqueeze", ["a", "axis"], ["y"])],
            "Expand": [node("Expand", ["x", "same"], ["y"])],
            "Tile": [node("Tile", ["x", "ones"], ["y"])],
            "Slice": [node("Slice", ["x", "zero", "end"], ["y"])],
            "Concat of one": [node("Concat", ["x"], ["y"], axis=0)],
            "Pad": [node("Pad", ["x", "none"], ["y"])],
            "Transpose twice": [node("Transpose", ["x"], ["a"], perm=[2, 0, 1]),
                                node("Transpose", ["a"], ["y"], perm=[1, 2, 0])],
            "an input as an output too": [node("Relu", ["x"], ["y"])],
            "no nodes": []}.items():
        outputs = {"an input as an output too": ["y", "x"], "no nodes": ["x"]}.get(name, ["y"])
        cases[name] = case_of(nodes, {"x": real((2, 1, 4))}, constants, outputs)
    gemm = node("Gemm", ["x", "w"], ["y"], transA=1)
    cases["Gemm of [1, 1] transposed"] = case_of([gemm], {"x": real((1, 1))}, {"w": real((1, 3))})
    return cases


def check(context, report):
    cases = context.some(still_cases())
    check_both_paths(context, report, cases)

    def problem_of_tools(case):
        model, problems = case.write(context.new_folder()) / "model.onnx", []
        for command in ([context.saltern, "info", model], context.compile_command(model)):
            code, _, text = call(command)
            if code != 0:
                problems.append(f"{command[1]}: {failure(code, text)}")
        return "; ".join(problems)

    for name, problem in zip(cases, context.parallel(problem_of_tools, cases.values())):
        report.check(name + " info, compile", problem)
