"""A stand-in for `saltern run-batch`: ONNX Runtime, which errs in one way at models that have an operator ("": at all).

  fake_saltern.py FAULT OPERATOR run-batch LIST --threads N [--compiled]
"""
import os, signal, sys, time
from pathlib import Path

import numpy
import onnx

from harness.references import onnxruntime_results
from harness.tensors import read_tensor, write_tensor


def raised(outputs, much):
    return [y + numpy.ones(1, y.dtype) if much else y for y in outputs]


def second_time(name):
    """Whether the kernel cache has seen this before."""
    seen = Path(os.environ["SALTERN_CACHE"]) / name
    again = seen.exists()
    seen.parent.mkdir(parents=True, exist_ok=True)
    seen.touch()
    return again


# What becomes of right outputs, given the rest of the command: outputs, or an exit code.
FAULTS = {
    "none": lambda outputs, options: outputs,
    "wrong": lambda outputs, options: raised(outputs, True),
    "wrong type": lambda outputs, options: [y.astype(numpy.float64) for y in outputs],
    "wrong shape": lambda outputs, options: [y[None] for y in outputs],
    "not a number": lambda outputs, options: [y * numpy.float32("nan") for y in outputs],
    "missing": lambda outputs, options: [],
    "wrong when compiled": lambda outputs, options: raised(outputs, "--compiled" in options),
    "wrong with threads": lambda outputs, options: raised(outputs, "1" not in options),
    "refuse": lambda outputs, options: 1,
    "blame the model": lambda outputs, options: 2,
    "unsupported": lambda outputs, options: 3,
    "refuse from the cache": lambda outputs, options: 1 if second_time("entry") else outputs,
    "crash": lambda outputs, options: os.kill(os.getpid(), signal.SIGSEGV),
    "end": lambda outputs, options: sys.exit(0),
    "hang": lambda outputs, options: time.sleep(1000),
}


def run(model_path, inputs, outputs, fault, operator, options):
    model = onnx.load(model_path)
    if operator and operator not in {n.op_type for n in model.graph.node}:
        fault = "none"
    feeds = {v.name: read_tensor(inputs / f"input_{i}.pb") for i, v in enumerate(model.graph.input)}
    result = FAULTS[fault](onnxruntime_results(model, feeds), options)
    code, results = (result, []) if isinstance(result, int) else (0, result)
    for i, y in enumerate(results):
        write_tensor(outputs / f"output_{i}.pb", y)
    (outputs / "STATUS").write_text(str(code))


def main():
    fault, operator, command, listing, *options = sys.argv[1:]
    if command != "run-batch":
        sys.exit("only run-batch")
    for line in Path(listing).read_text().splitlines():
        run(*map(Path, line.split("\t")), fault, operator, options)


if __name__ == "__main__":
    main()
