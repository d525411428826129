"""A net of several kernels and weights, to be compiled and run while things go wrong."""
import numpy
from onnx.helper import make_node as node

from corners.small_cases import case_of
from harness.comparison import differences
from harness.program import call
from harness.tensors import F32, read_outputs


def small_net():
    """Conv, Relu, pool, MatMul, Softmax."""
    rng = numpy.random.default_rng(0)
    real = lambda *shape: rng.standard_normal(shape).astype(F32)
    nodes = [node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4), node("Relu", ["c"], ["r"]),
             node("GlobalAveragePool", ["r"], ["g"]), node("Flatten", ["g"], ["f"]),
             node("MatMul", ["f", "m"], ["l"]), node("Softmax", ["l"], ["y"])]
    return case_of(nodes, {"x": real(1, 8, 16, 16)},
                   {"w": real(16, 8, 3, 3), "b": real(16), "m": real(16, 10)})


def run_command(context, folder, out, *options):
    """Runs what Case.write wrote to the folder."""
    return [context.saltern, "run", folder / "model.onnx", "--inputs", folder / "in", "--outputs", out,
            "--threads", "1", *options]


def compiled_run(context, case, folder, cache, **environment):
    """"right", "refused: ...", or what is worse."""
    out = context.new_folder()
    code, _, text = call(run_command(context, folder, out, "--compiled"), SALTERN_CACHE=str(cache), **environment)
    if code == 0:
        got = read_outputs(out, len(case.outputs))
        return "right" if got and not differences(got, case.expected) else "WRONG VALUES"
    return f"refused: {code} {text[:120]}" if isinstance(code, int) else code
