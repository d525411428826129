#!/usr/bin/env python3
"""The harness finds what is wrong: it judges a program that errs on purpose (fake_saltern.py)."""
import subprocess, sys, tempfile, unittest
from pathlib import Path

import numpy
from onnx.helper import make_node as node

from graphs.description import describe
from graphs.generate import generate
from graphs.judge import Judge
from graphs.smaller import reduce_case
from harness.case import Case
from harness.comparison import difference
from harness.program import run_batch

HERE = Path(__file__).parent


class WithPrograms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="saltern-test-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def program(self, fault, operator="Neg"):
        """A program that errs at models with this operator; without one, at all."""
        path = self.path / "saltern"
        path.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE}/fake_saltern.py "{fault}" "{operator}" "$@"\n')
        path.chmod(0o755)
        return path

    def call(self, script, *arguments):
        done = subprocess.run([sys.executable, HERE / script, *map(str, arguments)], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def chain(*operators):
    names = ["x"] + [f"v{i}" for i in range(len(operators))]
    nodes = [node(op, [x], [y]) for op, x, y in zip(operators, names, names[1:])]
    return Case(nodes, [("x", numpy.linspace(-2, 2, 15, dtype=numpy.float32).reshape(3, 5))], [], names[-1:])


class TheJudge(WithPrograms):
    def verdict(self, fault, seconds=60):
        judge = Judge(self.program(fault), self.path, seconds=seconds)
        case = chain("Tanh", "Neg")
        return judge.verdict(case, *judge.run_alone(case, compiled=False))

    def test_agrees_with_a_right_program(self):
        self.assertEqual(self.verdict("none"), ("agree", ""))

    def test_finds_wrong_outputs(self):
        for fault, why in (("wrong", "15 of 15 off"), ("wrong type", "float64, not float32"),
                           ("wrong shape", "shape [1, 3, 5], not [3, 5]"), ("not a number", "NaN"),
                           ("missing", "an output is missing")):
            verdict, told = self.verdict(fault)
            self.assertEqual(verdict, "wrong", fault)
            self.assertIn(why, told)

    def test_tells_refusals_apart(self):
        for fault, verdict in (("refuse", "refused"), ("blame the model", "refused"), ("unsupported", "unsupported")):
            self.assertEqual(self.verdict(fault)[0], verdict)

    def test_finds_crashes_and_hangs(self):
        self.assertEqual(self.verdict("crash"), ("crash", "crash, signal 11"))
        self.assertEqual(self.verdict("end"), ("crash", "crash, exit 0 without STATUS"))
        self.assertEqual(self.verdict("hang", seconds=4)[0], "hang")

    def test_blames_one_graph_of_a_batch(self):
        cases = [chain("Tanh"), chain("Neg"), chain("Abs")]
        folders = [case.write(self.path / str(i)) for i, case in enumerate(cases)]
        statuses = run_batch(self.program("crash"), folders, self.path / "cache", seconds=60)
        self.assertEqual([statuses[f] for f in folders], [0, "crash, signal 11", 0])

    def test_reduces_a_failure_to_what_fails(self):
        judge = Judge(self.program("wrong"), self.path, seconds=60)
        case = chain("Tanh", "Neg")
        small, why = reduce_case(judge, case, "wrong", "", seconds=60)
        self.assertEqual(describe(small), "Neg(float32[1,1])")
        self.assertIn("1 of 1 off", why)


class Comparison(unittest.TestCase):
    def test_tells_values_apart(self):
        real = lambda *values: numpy.array(values, numpy.float32)
        nan, infinity = float("nan"), float("inf")
        for got, want in ((real(1), real(1.001)), (real(nan), real(1)), (real(1), real(nan)), (real(infinity), real(1)),
                          (real(infinity), real(-infinity)), (real(1), real(infinity)), (real(1, 1), real(1)),
                          (numpy.array([1]), numpy.array([2])), (numpy.array([1]), numpy.array([1.0])),
                          (numpy.array([True]), numpy.array([False]))):
            self.assertTrue(difference(got, want), f"{got} {want}")
        for got, want in ((real(1), real(1.00001)), (real(nan, infinity, 2), real(nan, infinity, 2)), (real(), real())):
            self.assertEqual(difference(got, want), "")


class RandomGraphs(WithPrograms):
    def run_some(self, fault, operator, *options):
        return self.call("random_graphs.py", self.program(fault, operator), "--jobs", 1, "--reduce-seconds", 0.1,
                         "--count", 2, *options)

    def operator(self):
        """One that a graph of seed 1 has."""
        return next(n.op_type for n in generate(1, 0).nodes if n.op_type != "Constant")

    def test_a_graph_is_the_same_every_time(self):
        one, other = (generate(7, 3).model.SerializeToString() for _ in range(2))
        self.assertEqual(one, other)
        self.assertNotEqual(one, generate(7, 4).model.SerializeToString())

    def test_a_right_program_passes(self):
        code, text = self.run_some("none", "")
        self.assertEqual((code, text), (0, "2 graphs: 2 agree (0 with the reference only), 0 wrong, 0 refused, "
                                        "0 unsupported, 0 crash, 0 hang\n"))

    def test_a_refusal_is_told_and_kept(self):
        code, text = self.run_some("refuse", self.operator(), "--keep", self.path / "kept")
        self.assertEqual(code, 1)
        self.assertRegex(text, rf"(?m)^refused 1/0: .*{self.operator()}\(.*: exit 1: ")
        for name in ("model.onnx", "in", "out/STATUS", "want/output_0.pb", "reduced/model.onnx", "reduced/want"):
            self.assertTrue((self.path / "kept" / "run_1" / "0" / name).exists(), name)

    def test_other_bits_with_threads_are_told(self):
        code, text = self.run_some("wrong with threads", self.operator(), "--verify-threads")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"(?m)^wrong 1/0: .*: other bits with \d threads than with 1")

    def test_what_the_cache_spoils_is_told(self):
        code, text = self.run_some("refuse from the cache", "")
        self.assertEqual(code, 1)
        self.assertIn("[not alone with an empty kernel cache]", text)


class CornerCases(WithPrograms):
    def test_paths_that_differ_are_told(self):
        code, text = self.call("corner_cases.py", self.program("wrong when compiled", ""), "special:2")
        self.assertEqual(code, 1)
        self.assertIn(": run and compiled differ", text)

    def test_commands_that_fail_are_told(self):
        code, text = self.call("corner_cases.py", self.program("none"), "movement:2")
        self.assertEqual(code, 1)
        self.assertRegex(text, "info, compile: info: exit 1: only run-batch; compile: exit 1: only run-batch")
        self.assertIn("movement: 4 of 6 good", text)

    def test_sections_that_there_are_not_are_refused(self):
        self.assertEqual(self.call("corner_cases.py", self.program("none"), "corners")[0], 2)


class References(unittest.TestCase):
    def test_products_of_signed_weights_do_not_saturate(self):
        x, w = numpy.full((1, 4), 255, numpy.uint8), numpy.full((4, 1), 127, numpy.int8)
        zeros = [("x zero", numpy.uint8(0)), ("w zero", numpy.int8(0))]
        product = Case([node("MatMulInteger", ["x", "w", "x zero", "w zero"], ["y"])], [("x", x), ("w", w)],
                       [(name, numpy.asarray(zero)) for name, zero in zeros], ["y"])
        self.assertEqual(product.expected[0].item(), 4 * 255 * 127)


if __name__ == "__main__":
    unittest.main()
