"""Decisions on open extents: ONNX Runtime gives the same for the converted model and the original."""
import numpy
import onnx

from corners.decisions import decision_model, decision_nodes
from harness.comparison import difference
from harness.program import call, failure
from harness.references import session_of
from harness.tensors import F32

SIZES = [0, 1, 2, 999, 1000, 1001, 1023, 1024, 1025, 1500, 1999, 2000, 2001, 2047, 2048, 2049, 3000,
         4095, 4096, 4097, 9000]


def result_or_none(session, x):
    try:
        return session.run(None, {"x": x})[0]
    except Exception:  # ONNX Runtime has no common base for its own
        return None


def check(context, report):
    todo = []
    for name, nodes in decision_nodes().items():
        cs = [1000, 1024, 1025, 2000, 2048, 4096, 10**6]
        if name in ("Equal, Where", "Greater, Where"):
            cs = [1, 2, 3, 4, 5, 7, 10, 13, 16, 17, 24, 32, 64, 100, 128, 255, 256, 300, 512] + cs
        todo += [(name, nodes, c) for c in cs]
    todo = context.some(todo)

    def problem(item):
        _, nodes, c = item
        folder = context.new_folder()
        before, after = folder / "model.onnx", folder / "converted.onnx"
        onnx.save(decision_model(nodes, c), before)
        code, _, text = call([context.saltern, "convert", before, "-o", after], 20)
        if code != 0:
            return failure(code, text)
        try:
            sessions = [session_of(str(path)) for path in (before, after)]
        except Exception as error:
            return f"the converted model does not load: {str(error)[:120]}"
        near = [c - 1, c, c + 1] if c < 999 else []
        wrong = []
        for n in SIZES + near:
            x = numpy.random.default_rng(n).standard_normal((n, 3)).astype(F32)
            one, other = (result_or_none(s, x) for s in sessions)
            if (one is None) != (other is None) or one is not None and difference(other, one):
                wrong.append(n)
        return f"other results at n = {str(wrong[:6])[1:-1]}{' ...' * (len(wrong) > 6)}" \
            if wrong else ""

    for (name, _, c), found in zip(todo, context.parallel(problem, todo)):
        report.check(f"{name}, c = {c}", found)
