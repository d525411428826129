#!/usr/bin/env python3
"""`saltern train` on nets built as ResNet-18, MobileNetV2 and BERT are, narrow and with random weights: the loss falls, frozen
parameters keep their bits, and ONNX Runtime runs the result as Saltern does.

    fine_tuning_test.py SALTERN [unittest's options]         # DEPTH=full: as many blocks as the originals have
"""
import json, os, subprocess, sys, tempfile, unittest
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SALTERN = sys.argv.pop(1)
FULL = os.environ.get("DEPTH") == "full"
CLASSES, BATCH, SAMPLES = 3, 8, 48


class Net:
    """Nodes of a graph, written down one after the other, with weights by name."""
    def __init__(self, seed=0):
        self.random, self.nodes, self.weights = numpy.random.default_rng(seed), [], {}

    def weight(self, name, *shape, scale=None, value=None):
        fan = numpy.prod(shape[1:]) if len(shape) > 1 else 1
        made = self.random.standard_normal(shape) * (scale or fan ** -0.5) if value is None else numpy.full(shape, value)
        self.weights[name] = made.astype(numpy.float32)
        return name

    def constant(self, name, values, type=numpy.int64):
        self.weights[name] = numpy.array(values, type)
        return name

    def node(self, operator, *inputs, **attributes):
        made = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [made], **attributes))
        return made

    def conv(self, x, name, inputs, outputs, kernel, stride=1, groups=1):
        w = self.weight(f"{name}.conv.weight", outputs, inputs // groups, kernel, kernel)
        pad = kernel // 2
        y = self.node("Conv", x, w, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=groups)
        norm = [self.weight(f"{name}.norm.{part}", outputs, value=value)
                for part, value in (("weight", 1), ("bias", 0), ("mean", 0), ("variance", 1))]
        return self.node("BatchNormalization", y, *norm)

    def linear(self, x, name, inputs, outputs):
        y = self.node("MatMul", x, self.weight(f"{name}.weight", inputs, outputs, scale=inputs ** -0.5))
        return self.node("Add", y, self.weight(f"{name}.bias", outputs, value=0.01))

    def save(self, path, y, type, shape):
        graph = helper.make_graph(self.nodes + [helper.make_node("Identity", [y], ["y"])], "net",
                                  [helper.make_tensor_value_info("x", type, ["batch", *shape])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
                                  [numpy_helper.from_array(v, k) for k, v in self.weights.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)

    def head(self, x, width):
        return self.linear(self.node("Flatten", self.node("GlobalAveragePool", x)), "head", width, CLASSES)


def resnet18(path):
    net, widths = Net(), (8, 12, 16, 24) if FULL else (8, 12)
    x = net.node("MaxPool", net.node("Relu", net.conv("x", "stem", 3, widths[0], 7, 2)), kernel_shape=[3, 3],
                 strides=[2, 2], pads=[1] * 4)
    c = widths[0]
    for i, width in enumerate(widths):
        for b in range(2 if FULL else 1):
            name, stride = f"layer{i + 1}.{b}", 1 if width == c else 2
            y = net.node("Relu", net.conv(x, name + ".a", c, width, 3, stride))
            y = net.conv(y, name + ".b", width, width, 3)
            skip = x if stride == 1 else net.conv(x, name + ".skip", c, width, 1, stride)
            x, c = net.node("Relu", net.node("Add", y, skip)), width
    net.save(path, net.head(x, c), TensorProto.FLOAT, [3, 32, 32])
    return "stem.*"


def mobilenet_v2(path):
    net, c = Net(), 8
    net.constant("zero", 0, numpy.float32), net.constant("six", 6, numpy.float32)

    def relu6(x):
        return net.node("Clip", x, "zero", "six")

    x = relu6(net.conv("x", "stem", 3, c, 3, 2))
    rows = ((1, 8, 1, 1), (6, 12, 2, 2), (6, 16, 3, 2), (6, 24, 4, 2), (6, 32, 3, 1), (6, 40, 3, 2), (6, 48, 1, 1))
    for i, (expand, width, count, stride) in enumerate(rows if FULL else ((1, 8, 1, 1), (4, 12, 2, 2))):
        for b in range(count):
            name, by, inner = f"block{i}.{b}", stride if b == 0 else 1, c * expand
            y = relu6(net.conv(x, name + ".expand", c, inner, 1)) if expand > 1 else x
            y = relu6(net.conv(y, name + ".depthwise", inner, inner, 3, by, groups=inner))
            y = net.conv(y, name + ".project", inner, width, 1)
            x, c = net.node("Add", x, y) if by == 1 and c == width else y, width
    net.save(path, net.head(x, c), TensorProto.FLOAT, [3, 32, 32])
    return "block0.*"


def bert(path):
    net, words, length, width, heads = Net(), 50, 12, 32, 2
    net.constant("split", [0, length, heads, width // heads]), net.constant("join", [0, length, width])
    net.constant("first", 0), net.constant("scale", (width // heads) ** -0.5, numpy.float32)
    net.constant("half", 0.5, numpy.float32), net.constant("one", 1, numpy.float32)
    net.constant("root", 2 ** -0.5, numpy.float32)

    def norm(x, name):
        return net.node("LayerNormalization", x, net.weight(name + ".weight", width, value=1),
                        net.weight(name + ".bias", width, value=0), axis=-1)

    def gelu(x):
        erf = net.node("Erf", net.node("Mul", x, "root"))
        return net.node("Mul", net.node("Mul", x, "half"), net.node("Add", erf, "one"))

    x = net.node("Gather", net.weight("embeddings.word", words, width, scale=1), "x")
    x = norm(net.node("Add", x, net.weight("embeddings.position", length, width, scale=0.1)), "embeddings.norm")
    for i in range(2 if FULL else 1):
        name = f"layer{i}"
        q, k, v = (net.node("Transpose", net.node("Reshape", net.linear(x, f"{name}.{part}", width, width), "split"),
                            perm=[0, 2, 3, 1] if part == "key" else [0, 2, 1, 3]) for part in ("query", "key", "value"))
        scores = net.node("Softmax", net.node("Mul", net.node("MatMul", q, k), "scale"), axis=-1)
        y = net.node("Reshape", net.node("Transpose", net.node("MatMul", scores, v), perm=[0, 2, 1, 3]), "join")
        x = norm(net.node("Add", x, net.linear(y, f"{name}.output", width, width)), f"{name}.norm1")
        y = net.linear(gelu(net.linear(x, f"{name}.wide", width, 4 * width)), f"{name}.narrow", 4 * width, width)
        x = norm(net.node("Add", x, y), f"{name}.norm2")
    y = net.linear(net.node("Gather", x, "first", axis=1), "head", width, CLASSES)
    net.save(path, y, TensorProto.INT64, [length])
    return "embeddings.*"


def pictures(random, y):
    x = random.standard_normal((SAMPLES, 3, 32, 32)) * 0.5
    return (x + (y[:, None] == numpy.arange(3)[None, :])[:, :, None, None]).astype(numpy.float32)


def sentences(random, y):
    x = random.integers(3, 50, (SAMPLES, 12))
    x[:, 0] = y
    return x


class FineTuning(unittest.TestCase):
    def check(self, make, data, rate):
        with tempfile.TemporaryDirectory(prefix="saltern-test-") as folder:
            before, after = Path(folder) / "net.onnx", Path(folder) / "trained.onnx"
            frozen = make(before)
            random = numpy.random.default_rng(1)
            y = random.integers(0, CLASSES, SAMPLES)
            x = data(random, y)
            numpy.savez(Path(folder) / "data.npz", x=x, y=y)
            done = subprocess.run([SALTERN, "train", before, "--data", Path(folder) / "data.npz", "-o", after, "--freeze",
                                   frozen, "--epochs", "8", "--optimizer", "adamw", "--rate", str(rate), "--batch",
                                   str(BATCH), "--json"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            losses = json.loads(done.stdout)["losses"]
            self.assertLess(losses[-1], 0.7 * losses[0], losses)
            old, new = ({t.name: t for t in onnx.load(p).graph.initializer} for p in (before, after))
            kept, moved = 0, 0
            for name, t in old.items():
                same = numpy_helper.to_array(t).tobytes() == numpy_helper.to_array(new[name]).tobytes()
                is_frozen = name.startswith(frozen[:-1])
                self.assertTrue(same or not is_frozen, f"{name} is frozen, and changed")
                kept, moved = kept + is_frozen, moved + (not same)
            self.assertGreater(kept, 1)
            self.assertGreater(moved, 4)
            numpy.savez(Path(folder) / "in.npz", x=x[:BATCH])
            subprocess.run([SALTERN, "run", after, "--inputs", Path(folder) / "in.npz", "--outputs",
                            Path(folder) / "out.npz"], check=True, capture_output=True)
            own = numpy.load(Path(folder) / "out.npz")["y"]
            session = onnxruntime.InferenceSession(str(after), providers=["CPUExecutionProvider"])
            numpy.testing.assert_allclose(own, session.run(["y"], {"x": x[:BATCH]})[0], rtol=1e-3, atol=1e-4)

    def test_resnet_18(self):
        self.check(resnet18, pictures, 0.003)

    def test_mobilenet_v2(self):
        self.check(mobilenet_v2, pictures, 0.003)

    def test_bert(self):
        self.check(bert, sentences, 0.003)


if __name__ == "__main__":
    unittest.main()
