"""What is to be thought of a result.

  agree        equal, within rounding, to ONNX Runtime's with its optimisations off
  reference    not so, but equal to that of ONNX's ReferenceEvaluator; or, node by node, each node equal to one of the
               two on the program's own operands; or exit 2, which blames the model, for one that the reference does not
               run either
  wrong        none of these
  refused      another exit code than 0 and 3 for a graph that ONNX Runtime runs
  unsupported  exit 3
  crash, hang  ended by a signal, or no result in time
"""
import shutil
from pathlib import Path

from graphs.parts import part_of
from harness.case import Case
from harness.comparison import differences, differs_from_both
from harness.program import INVALID_MODEL, UNSUPPORTED, message_of, run_batch
from harness.references import reference_results
from harness.tensors import read_outputs

FAILURES = ("wrong", "refused", "crash", "hang")


class Judge:
    """Runs cases, and says what is to be thought of the results."""

    def __init__(self, saltern, scratch, compiled=False, seconds=30):
        self.saltern, self.scratch = saltern, Path(scratch)
        self.compiled, self.seconds = compiled, seconds

    def run_alone(self, case, compiled):
        """(status, outputs, message) with a kernel cache that is empty before."""
        folder, cache = self.scratch / "alone", self.scratch / "alone_cache"
        for each in (folder, cache):
            shutil.rmtree(each, ignore_errors=True)
        case.write(folder)
        status = run_batch(self.saltern, [folder], cache, compiled, 1, self.seconds)[folder]
        return status, read_outputs(folder / "out", len(case.outputs)), message_of(folder)

    def verdict(self, case, status, got, message):
        """(verdict, why)."""
        if status == UNSUPPORTED:
            return "unsupported", message
        if isinstance(status, str):
            return status.split(",")[0], status
        if status != 0:
            # Only a single node tells: elsewhere, the reference may stop at another one.
            shared = len(case.nodes) == 1 and refusal_is_shared(case, status)
            return "reference" if shared else "refused", f"exit {status}: {message}"
        if got is None:
            return "wrong", "an output is missing"
        why = differences(got, case.expected)
        if not why:
            return "agree", ""
        reference = reference_results(case)
        if reference and not any(map(differs_from_both, got, case.expected, reference)):
            return "reference", why
        values = self.justified_values(case)
        if values and not differences(got, [values[name] for name, _ in case.outputs]):
            return "reference", why
        return "wrong", why + ("" if reference else " (the reference does not run it)")

    def justified_values(self, case):
        """The program's values inside the graph, if each node alone is right on its operands.

        ONNX Runtime may err at one node and the reference at another, and a rounding may turn an ArgMax: then the whole
        graph agrees with neither, though the program errs nowhere."""
        nodes = [n for n in case.nodes if n.op_type != "Constant"]
        names = [o for n in nodes for o in n.output if o]
        if len(nodes) == 1:
            return None
        try:
            whole = Case(case.nodes, case.inputs, case.constants, names)
        except Exception:  # ONNX Runtime has no common base for its own
            return None
        status, got, _ = self.run_alone(whole, compiled=False)
        if status != 0 or got is None:
            return None
        values = dict(zip(names, got)) | case.feeds
        for node in nodes:
            try:
                alone = part_of(case, [node], values, list(filter(None, node.output)))
            except Exception:  # nobody says what it should give
                continue
            mine = [values[o] for o in node.output if o]
            reference = reference_results(alone) or alone.expected
            if any(map(differs_from_both, mine, alone.expected, reference)):
                return None
        return values


def refusal_is_shared(case, status):
    return status == INVALID_MODEL and reference_results(case) is None
