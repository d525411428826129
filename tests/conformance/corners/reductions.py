"""Compiled reductions beside ONNX Runtime: at least 0.9 of its speed."""
import json, math, time

import numpy
from onnx.helper import make_node as node

from corners.small_cases import single
from harness.case import Case
from harness.program import call, failure
from harness.references import session_of
from harness.tensors import F32, I64

BAR = 0.9


def reduction_cases():
    rng, cases = numpy.random.default_rng(0), {}
    last, planes = numpy.array([-1], I64), (8, 64, 56, 56)
    real = lambda shape: rng.standard_normal(shape).astype(F32)
    label = lambda shape: "x".join(map(str, shape))
    for op in ("Mean", "Sum", "Max", "L2", "LogSumExp"):
        for shape in ((64, 1024), (4096, 64), (8, 64, 3136)):
            cases[f"Reduce{op} {label(shape)}"] = single("Reduce" + op, real(shape), last)
    for shape in ((64, 1024), (8, 1000)):
        for op in ("Softmax", "ArgMax"):
            cases[f"{op} {label(shape)}"] = single(op, real(shape), axis=-1)
    cases[f"ReduceMean of planes {label(planes)}"] = single("ReduceMean", real(planes),
                                                            numpy.array([2, 3], I64))
    cases[f"GlobalAveragePool {label(planes)}"] = single("GlobalAveragePool", real(planes))
    for op, x, count, attributes in (("Instance", real(planes), 64, {}),
                                     ("Group", real(planes), 64, {"num_groups": 32}),
                                     ("Layer", real((64, 1024)), 1024, {})):
        constants = [("s", numpy.ones(count, F32)), ("b", numpy.zeros(count, F32))]
        cases[f"{op}Normalization {label(x.shape)}"] = Case(
            [node(op + "Normalization", ["x", "s", "b"], ["y"], **attributes)], [("x", x)],
            constants, ["y"])
    return cases


def best_seconds(session, feeds, seconds):
    best, end = math.inf, time.monotonic() + seconds
    names = [o.name for o in session.get_outputs()]
    binding = session.io_binding()  # leaves out copies in and out
    for name, array in feeds.items():
        binding.bind_cpu_input(name, array)
    for name in names:
        binding.bind_output(name)
    while time.monotonic() < end:
        began = time.perf_counter()
        session.run_with_iobinding(binding)
        best = min(best, time.perf_counter() - began)
    return best


def check(context, report, rounds=3, seconds=0.3):
    """One thread each, in turns, so that both meet the same clock and the same neighbours."""
    cache = str(context.new_folder())
    for name, case in context.some(reduction_cases()).items():
        path = case.write(context.new_folder()) / "model.onnx"
        session = session_of(str(path), optimised=True)
        ours = theirs = math.inf
        problem = ""
        for _ in range(rounds):
            code, _, text = call([context.saltern, "bench", path, "--compiled", "--threads", "1",
                                  "--seconds", str(seconds), "--json"], SALTERN_CACHE=cache)
            if code != 0:
                problem = f"bench: {failure(code, text)}"
                break
            ours = min(ours, json.loads(text)["min_ms"] * 1e-3)
            theirs = min(theirs, best_seconds(session, case.feeds, seconds))
        ratio = theirs / ours
        if not problem:
            measured = f"{ratio:.2f} of ONNX Runtime's speed ({ours * 1e6:.1f} us beside {theirs * 1e6:.1f} us)"
            problem = measured if ratio < BAR else ""
            if not problem:
                report.note(f"{name}: {measured}")
        report.check(name, problem)
