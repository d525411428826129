#!/usr/bin/env python3
"""`saltern compile` as its users call it, on small ONNX files that are made here: compile_onnx_test.py SALTERN"""
import json, subprocess, sys, tempfile, unittest
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

SALTERN = sys.argv.pop(1)
FLOAT = TensorProto.FLOAT


def write_model(path, nodes, inputs, outputs, **constants):
    graph = helper.make_graph(nodes, "net", inputs, outputs,
                              [numpy_helper.from_array(v, name) for name, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


class Compile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="saltern-test-")
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.model = self.path / "net.onnx"

    def compile(self, *options):
        return subprocess.run([SALTERN, "compile", self.model, "-o", self.path, "--main", "--target", "sse41", "--json",
                               *options], capture_output=True, text=True)

    def run_program(self, *arguments):
        subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", self.path / "net_main.c", self.path / "libnet.a",
                        "-lm", "-lpthread", "-o", self.path / "net"], check=True)
        subprocess.run([self.path / "net", *arguments, "--outputs", self.path], check=True)
        return numpy.load(self.path / "output_0.npy")

    def a_dense_net(self, batch):
        self.weights = numpy.linspace(-1, 1, 15, dtype=numpy.float32).reshape(5, 3)
        write_model(self.model, [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])],
                    [helper.make_tensor_value_info("x", FLOAT, [batch, 5])],
                    [helper.make_tensor_value_info("y", FLOAT, [batch, 3])], w=self.weights)

    def test_a_batch_of_any_size(self):
        self.a_dense_net("batch")
        made = self.compile("--dynamic", "batch", "--chunk", "4", "--weights-file")
        self.assertEqual(made.returncode, 0, made.stderr)
        facts = json.loads(made.stdout)
        self.assertEqual(facts["targets"], ["sse41"])
        for file in ["header", "library", "driver", "main", "weights_file"]:
            self.assertTrue(Path(facts[file]).exists(), file)
        x = numpy.random.default_rng(1).standard_normal((11, 5)).astype(numpy.float32)
        numpy.save(self.path / "x.npy", x)
        y = self.run_program("--batch", "11", "--weights", facts["weights_file"], self.path / "x.npy")
        numpy.testing.assert_allclose(y, numpy.maximum(x @ self.weights, 0), rtol=1e-5, atol=1e-6)

    def test_a_decision_by_the_size_of_the_batch_is_refused(self):
        """It was compiled for two sizes, which went one way, and was wrong for the size that goes the other."""
        write_model(self.model, [helper.make_node("Shape", ["x"], ["size"], start=0, end=1),
                                 helper.make_node("Equal", ["size", "five"], ["is_five"]),
                                 helper.make_node("Neg", ["x"], ["minus"]),
                                 helper.make_node("Where", ["is_five", "x", "minus"], ["y"])],
                    [helper.make_tensor_value_info("x", FLOAT, ["batch", 3])],
                    [helper.make_tensor_value_info("y", FLOAT, ["batch", 3])], five=numpy.array([5]))
        made = self.compile("--dynamic", "batch")
        self.assertEqual(made.returncode, 3)
        self.assertIn("'is_five' (Equal)", made.stderr)

    def test_a_batch_that_is_fixed_or_mixed_is_refused(self):
        self.a_dense_net(2)
        made = self.compile("--dynamic", "batch")
        self.assertEqual(made.returncode, 2)
        self.assertIn("fixes the first dimension of 'x' to 2", made.stderr)
        write_model(self.model, [helper.make_node("Softmax", ["x"], ["mixed"], axis=0)],
                    [helper.make_tensor_value_info("x", FLOAT, ["batch", 5])],
                    [helper.make_tensor_value_info("mixed", FLOAT, ["batch", 5])])
        made = self.compile("--dynamic", "batch")
        self.assertEqual(made.returncode, 3)
        self.assertIn("mixed", made.stderr)

    def test_an_input_with_a_constant_value(self):
        write_model(self.model, [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)],
                    [helper.make_tensor_value_info("x", FLOAT, [2, 3, 4]),
                     helper.make_tensor_value_info("axes", TensorProto.INT64, [1])],
                    [helper.make_tensor_value_info("y", FLOAT, None)])
        self.assertEqual(self.compile().returncode, 3)
        self.assertEqual(self.compile("--constant", "axes=one").returncode, 2)
        self.assertEqual(self.compile("--constant", "exes=1").returncode, 2)
        self.assertEqual(self.compile("--constant", "axes=1").returncode, 0)
        x = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
        numpy.save(self.path / "x.npy", x)
        numpy.testing.assert_array_equal(self.run_program(self.path / "x.npy"), x.sum(axis=1))
        for command in ["verify", "info"]:
            said = subprocess.run([SALTERN, command, self.model, "--constant", "axes=1"], capture_output=True, text=True)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertNotIn("not_lowered", said.stdout)

    def test_a_sequence_is_its_elements(self):
        of_floats = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, ["n"]))
        body = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "body",
                                 [helper.make_tensor_value_info(n, FLOAT, ["n"]) for n in "ab"],
                                 [helper.make_tensor_value_info("c", FLOAT, ["n"])])
        write_model(self.model, [helper.make_node("SequenceMap", ["s", "x"], ["sums"], body=body),
                                 helper.make_node("SequenceInsert", ["sums", "x"], ["y"])],
                    [helper.make_value_info("s", of_floats), helper.make_tensor_value_info("x", FLOAT, [1])],
                    [helper.make_value_info("y", of_floats)])
        self.assertEqual(self.compile().returncode, 2)
        self.assertEqual(self.compile("--shape", "s.0=2", "--shape", "t.0=2").returncode, 2)
        made = self.compile("--shape", "s.0=2", "--shape", "s.1=3")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn('"y.2"', Path(json.loads(made.stdout)["driver"]).read_text())
        for name, value in {"0": [1, 2], "1": [3, 4, 5], "x": [10]}.items():
            numpy.save(self.path / f"{name}.npy", numpy.array(value, numpy.float32))
        self.run_program(*[self.path / f"{n}.npy" for n in "01x"])
        made = [numpy.load(self.path / f"output_{i}.npy").tolist() for i in range(3)]
        self.assertEqual(made, [[11, 12], [13, 14, 15], [10]])
        said = subprocess.run([SALTERN, "verify", self.model, "--shape", "s.0=2", "--shape", "s.1=3"],
                              capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("y.1", said.stdout)
        said = subprocess.run([SALTERN, "info", self.model], capture_output=True, text=True)
        self.assertIn("s sequence f32", said.stdout)

    def test_a_branch_that_does_not_fit_is_told_of(self):
        x, y = [helper.make_tensor_value_info(n, FLOAT, [3]) for n in "xy"]
        branches = [helper.make_graph([helper.make_node("Add", ["x", w], ["y"])], w, [], [y],
                                      [numpy_helper.from_array(numpy.ones(extent, numpy.float32), w)])
                    for w, extent in [("good", 3), ("bad", 4)]]
        write_model(self.model, [helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])],
                    [x, helper.make_tensor_value_info("c", TensorProto.BOOL, [])], [y])
        made = self.compile()
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("NaN where data takes its else_branch", made.stderr)
        numpy.save(self.path / "x.npy", numpy.arange(3, dtype=numpy.float32))
        for taken, expected in [(True, [1, 2, 3]), (False, [numpy.nan] * 3)]:
            numpy.save(self.path / "c.npy", numpy.array(taken))
            numpy.testing.assert_array_equal(self.run_program(self.path / "x.npy", self.path / "c.npy"), expected)


unittest.main()
