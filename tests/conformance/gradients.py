#!/usr/bin/env python3
"""Gradients of ONNX's own node tests beside finite differences, by `saltern gradients`: of those tests whose first output
is of real numbers, and that have an input of real numbers.

  gradients.py SALTERN [--passing FILE] [--write FILE] [--report FILE] [--match GLOB] [--only FILE] [--jobs N]

With --passing: fails (exit 1) when a test that the file lists does not pass any more. With --write: writes the tests that
pass; with --report: those that do not, with the reason. With --only: runs the tests that the file lists.
"""
import argparse, concurrent.futures

import onnx
from onnx import TensorProto

from harness.outcomes import Outcomes
from harness.program import UNSUPPORTED, call
from onnx_suite import discover

REAL = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16}
SECONDS = 60


def is_real(value):
    return value.type.HasField("tensor_type") and value.type.tensor_type.elem_type in REAL


def has_gradient(model):
    graph = onnx.load(model, load_external_data=False).graph
    return is_real(graph.output[0]) and any(is_real(i) for i in graph.input)


def judge(program, case):
    inputs = case.inputs[0].parent
    code, _, text = call([program, "gradients", case.model, "--inputs", inputs, "--threads", 1], seconds=SECONDS)
    outcome = {0: "pass", 1: "wrong", UNSUPPORTED: "refused"}.get(code, f"exit {code}" if isinstance(code, int) else code)
    return case.test, outcome, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    Outcomes.add_options(parser)
    parser.add_argument("--match", default="node/*")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    wanted = Outcomes.only(options)
    cases = [c for c in discover(options.match) if wanted(c.test) and has_gradient(c.model)]
    outcomes = Outcomes()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda case: judge(options.program, case), cases):
            outcomes.add(*result)
    outcomes.conclude(options)


main()
