"""NaN, infinities, zeros, denormals, huge values: run = compiled = a reference."""
import collections

import numpy

from corners.special_cases import special_elementwise, special_images_and_norms, special_reductions
from harness.program import failure, message_of, run_batch
from harness.references import reference_results
from harness.tensors import F64, read_outputs


def unequal(one, other):
    """Where two tensors differ; all of it where they are of different shape."""
    if other is None or one.shape != other.shape or one.dtype != other.dtype:
        return numpy.ones(one.shape, bool)
    if one.dtype.kind != "f":
        return one != other
    a, b = one.astype(F64), other.astype(F64)
    near = numpy.isfinite(a) & numpy.isfinite(b) & (numpy.abs(a - b) <= 2e-3 * numpy.abs(b) + 1e-6)
    return ~(near | (a == b) | (numpy.isnan(a) & numpy.isnan(b)))


def special_problem(case, run, compiled):
    """Whether the paths differ from each other, or the result from both references."""
    if isinstance(run, str) or isinstance(compiled, str):
        return "; ".join(f"{name}: {r}" for name, r in (("run", run), ("compiled", compiled))
                         if isinstance(r, str))
    reference = reference_results(case) or [None] * len(run)
    for i, (a, b, o, r) in enumerate(zip(run, compiled, case.expected, reference)):
        forms = [f"{y.dtype}{list(y.shape)}" for y in (a, b, o)]
        if len(set(forms)) > 1:
            return f"output {i}: run {forms[0]}, compiled {forms[1]}, onnxruntime {forms[2]}"
        paths = unequal(a, b)
        strange = {"run": unequal(a, o) & unequal(a, r), "compiled": unequal(b, o) & unequal(b, r)}
        where = paths if paths.any() else strange["run"]
        if not where.any() and not strange["compiled"].any():
            continue
        where = where if where.any() else strange["compiled"]
        at = tuple(int(k) for k in numpy.argwhere(where)[0])
        operands = [v[at] for _, v in case.inputs if v.shape == a.shape]
        kinds = ["run and compiled differ"] if paths.any() else []
        kinds += [f"{name} differs from both references" for name, s in strange.items() if s.any()]
        said = "none" if r is None or r.shape != a.shape else r[at]
        return (f"{', '.join(kinds)}; output {i}, {int(where.sum())} of {a.size}, first at "
                f"{list(at)}{f' of {[float(v) for v in operands]}' if operands else ''}: "
                f"run {a[at]}, compiled {b[at]}, onnxruntime {o[at]}, reference {said}")
    return ""


def check(context, report):
    cases = context.some(special_elementwise() | special_reductions() | special_images_and_norms())
    names = list(cases)

    def results_of(part):
        """{name: (run, compiled)}, each the outputs or a text."""
        folders = {name: cases[name].write(context.new_folder()) for name in part}
        results = collections.defaultdict(list)
        for compiled in (False, True):
            statuses = run_batch(context.saltern, folders.values(), context.new_folder(), compiled)
            for name, folder in folders.items():
                results[name].append(
                    failure(statuses[folder], message_of(folder))
                    or read_outputs(folder / "out", len(cases[name].outputs)) or "an output is missing")
        return results

    parts = [names[i::context.jobs] for i in range(context.jobs)]
    results = {k: v for part in context.parallel(results_of, parts) for k, v in part.items()}
    for name in names:
        report.check(name, special_problem(cases[name], *results[name]))
