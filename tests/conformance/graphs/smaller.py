"""Makes failures small: nodes are dropped, then extents shrunk, as long as the rest fails in the same way."""
import time

from graphs.parts import names_read, part_of
from harness.case import Case


def way_of_failing(verdict, why):
    """What a reduced case must share: a smaller graph may be refused for another reason."""
    return verdict, why.split(":")[0] if verdict in ("refused", "crash") else ""


def reduce_case(judge, case, verdict, why, seconds):
    """The smallest case found in this time that fails in the same way, and why; None if the
    whole does not fail alone."""
    deadline, wanted = time.monotonic() + seconds, way_of_failing(verdict, why)
    found = {}

    def fails(candidate):
        result = judge.verdict(candidate, *judge.run_alone(candidate, judge.compiled))
        same = way_of_failing(*result) == wanted
        if same:
            found.update(case=candidate, why=result[1])
        return same

    if not fails(case):
        return None
    try:
        drop_nodes(case, fails, deadline)
        shrink_extents(found["case"], fails, deadline)
    except TimeoutError:
        pass
    return found["case"], found["why"]


def check_deadline(deadline):
    if time.monotonic() > deadline:
        raise TimeoutError


def drop_nodes(case, fails, deadline):
    """Leaves out ever smaller runs of nodes, as long as the rest still fails."""
    nodes = [n for n in case.nodes if n.op_type != "Constant"]
    names = [o for n in nodes for o in n.output if o]
    values = dict(zip(names, Case(case.nodes, case.inputs, case.constants, names).expected))
    values |= case.feeds
    wanted = {name for name, _ in case.outputs}
    size = max(1, len(nodes) // 2)
    while size:
        start = 0
        while start < len(nodes) > 1:
            check_deadline(deadline)
            fewer = nodes[:start] + nodes[start + size:]
            read = {name for n in fewer for name in names_read(n)}
            outputs = [o for n in fewer for o in n.output if o in wanted or o and o not in read]
            try:
                part = part_of(case, fewer, values, outputs) if fewer else None
            except Exception:  # onnxruntime does not run this part
                part = None
            if part and fails(part):
                nodes = fewer
            else:
                start += size
        size //= 2


def shrink_extents(case, fails, deadline):
    """Cuts one extent at a time, everywhere at once, in inputs and real constants."""
    def with_extent(arrays, old, new):
        return [(name, array[tuple(slice(0, new if d == old else d) for d in array.shape)])
                for name, array in arrays]

    extents = {d for _, array in case.inputs for d in array.shape if d > 1}
    for old in sorted(extents, reverse=True):
        for new in [n for n in (1, 2, old // 2) if n < old]:
            check_deadline(deadline)
            try:
                weights = [c for c in case.constants if c[1].dtype.kind == "f"]
                others = [c for c in case.constants if c[1].dtype.kind != "f"]
                smaller = Case(case.nodes, with_extent(case.inputs, old, new),
                               with_extent(weights, old, new) + others,
                               [name for name, _ in case.outputs])
            except Exception:
                continue
            if fails(smaller):
                case = smaller
                break
