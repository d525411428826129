#!/usr/bin/env python3
"""Operators of ONNX Runtime's own domain beside ONNX Runtime: with library kernels, and compiled.

  microsoft_operators.py SALTERN [--match 'QLinear*'] [--no-compiled]
"""
import argparse, fnmatch, sys, tempfile
from pathlib import Path

import numpy

from harness.comparison import difference
from harness.program import run_batch
from harness.tensors import read_outputs
from microsoft import attention, norms, products, quantized

NODES = [node for module in (attention, norms, products, quantized) for node in module.NODES]


def verdict(node, case, code, folder):
    """"" where all is well."""
    if code != 0:
        return f"{code}: {(folder / 'out' / 'log').read_text().strip() if (folder / 'out' / 'log').exists() else ''}"
    got = read_outputs(folder / "out", len(case.outputs))
    if got is None:
        return "an output is missing"
    for (name, want), found in zip(case.outputs, got):
        if node.quanta and want.dtype.kind in "iu" and found.dtype == want.dtype and found.shape == want.shape:
            off = int(numpy.abs(found.astype(int) - want.astype(int)).max(initial=0))
            if off > node.quanta:
                return f"{name} is off by {off} quanta"
        elif difference(found, want):
            return f"{name}: {difference(found, want)}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saltern", type=Path)
    parser.add_argument("--match", default="*")
    parser.add_argument("--no-compiled", action="store_true")
    options = parser.parse_args()
    wanted = [node for node in NODES if fnmatch.fnmatch(node.op, options.match)]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="microsoft_") as scratch:
        cases = [(node, node.case()) for node in wanted]
        folders = [case.write(Path(scratch) / str(i)) for i, (_, case) in enumerate(cases)]
        for compiled in (False, True)[:1 if options.no_compiled else 2]:
            codes = run_batch(options.saltern.resolve(), folders, Path(scratch) / "cache", compiled, threads=2)
            for (node, case), folder in zip(cases, folders):
                why = verdict(node, case, codes[folder], folder)
                bad += bool(why)
                if why:
                    print(f"{node}{', compiled' if compiled else ''}: {why}")
    print(f"{len(wanted)} nodes, {bad} bad")
    sys.exit(1 if bad or not wanted else 0)


if __name__ == "__main__":
    main()
