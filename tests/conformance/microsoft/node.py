"""One node as a model of its own."""
import numpy
from onnx import helper

from harness.case import Case

DOMAIN = "com.microsoft"


class Node:
    """An operator with its inputs, arrays by name in their order, None where one is absent; `constants` are the names of
    those that are part of the model. quanta: by how much integers may differ, which were rounded from reals.
    expected: the outputs, where ONNX Runtime has no kernel for the operator on CPUs."""

    def __init__(self, op, inputs, constants=(), outputs=1, quanta=0, expected=None, domain=DOMAIN, **attributes):
        self.op, self.inputs, self.constants, self.outputs = op, inputs, constants, outputs
        self.quanta, self.expected, self.domain, self.attributes = quanta, expected, domain, attributes

    def __str__(self):
        shapes = ", ".join("-" if a is None else f"{name}{list(a.shape)}" for name, a in self.inputs.items())
        given = ", ".join(f"{k}={v}" for k, v in self.attributes.items())
        return f"{self.op}({shapes}; {given})"

    def case(self):
        outputs = [f"y{i}" for i in range(self.outputs)] if isinstance(self.outputs, int) else self.outputs
        node = helper.make_node(self.op, [name if a is not None else "" for name, a in self.inputs.items()], outputs,
                                domain=self.domain, **self.attributes)
        given = [(name, a) for name, a in self.inputs.items() if a is not None and name not in self.constants]
        constants = [(name, self.inputs[name]) for name in self.constants]
        return Case([node], given, constants, [name for name in outputs if name], expected=self.expected)


RANDOM = numpy.random.default_rng(7)


def reals(*shape, dtype=numpy.float32, low=-1, high=1):
    return RANDOM.uniform(low, high, shape).astype(dtype)


def integers(*shape, dtype=numpy.uint8, low=None, high=None):
    facts = numpy.iinfo(dtype)
    return RANDOM.integers(facts.min if low is None else low, facts.max + 1 if high is None else high, shape, dtype=dtype)


def number(value, dtype=numpy.float32):
    return numpy.array(value, dtype)
