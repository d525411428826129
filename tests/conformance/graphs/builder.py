"""A graph that grows at random, node by node, with all its values known."""
import numpy
from onnx import helper, numpy_helper

from harness.case import Case
from harness.tensors import BOOL, F32, F64, I32, I64

# What is picked from, the more often named the likelier.
REALS = (F32, F32, F32, F64)
NUMBERS = (F32, F32, F32, F32, F64, I64, I32)
EXTENTS = [1, 1, 2, 2, 3, 3, 4, 5, 5, 7, 8, 11, 13, 15, 16, 17]


class Skip(Exception):
    """This step does not fit the graph so far; it leaves no trace."""


class Value:
    """A tensor of the graph, by name."""

    def __init__(self, name, array, constant=False):
        self.name, self.array, self.constant = name, array, constant
        self.shape, self.rank, self.dtype = array.shape, array.ndim, array.dtype


class Builder:
    """A graph that grows node by node; onnxruntime computes every value as it is added."""

    def __init__(self, rng, style):
        self.rng, self.style = rng, style
        self.nodes, self.constants, self.inputs, self.pool = [], [], [], []
        self.read, self.names = set(), 0
        self.with_empty = self.chance(0.06)

    def new_name(self, prefix="v"):
        self.names += 1
        return f"{prefix}{self.names}"

    def integer(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def choose(self, options):
        return options[int(self.rng.integers(len(options)))]

    def chance(self, probability):
        return self.rng.random() < probability

    def permutation(self, count):
        return [int(i) for i in self.rng.permutation(count)]

    def some_axes(self, rank, least=1):
        return self.permutation(rank)[:self.integer(least, rank)]

    def maybe_negative(self, axis, rank):
        return axis - rank if self.chance(0.3) else axis

    def extent(self):
        if self.with_empty and self.chance(0.12):
            return 0
        return 1 if self.style == "ones" and self.chance(0.65) else self.choose(EXTENTS)

    def shape(self, rank, nonempty=False):
        extents = [max(1, self.extent()) if nonempty else self.extent() for _ in range(rank)]
        while numpy.prod(extents) > 6000:
            extents[int(numpy.argmax(extents))] = 2
        return extents

    def broadcast_shape(self, shape, keep=0.6):
        """A shape that broadcasts to this one: some extents 1, some leading ones dropped."""
        shape = [d if self.chance(keep) else 1 for d in shape]
        while shape and self.chance(0.25):
            shape = shape[1:]
        return shape

    def data(self, shape, dtype, low=None, high=None):
        dtype = numpy.dtype(dtype)
        if dtype == BOOL:
            return numpy.asarray(self.rng.random(shape) < 0.5)
        if dtype.kind == "f":
            values = (self.rng.standard_normal(shape) if low is None
                      else self.rng.uniform(low, high, shape))
        else:
            low = (0 if dtype.kind == "u" else -5) if low is None else low
            values = self.rng.integers(low, (9 if high is None else high) + 1, shape)
        return numpy.asarray(values).astype(dtype)

    def constant(self, value, dtype=None):
        array, name = numpy.asarray(value, dtype), self.new_name("c")
        if self.chance(0.2):
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        else:
            self.constants.append((name, array))
        return Value(name, array, True)

    def integers(self, values):
        return self.constant(values, I64)

    def input(self, shape, dtype=F32, low=None, high=None):
        value = Value(self.new_name("x"), self.data(shape, dtype, low, high))
        self.inputs.append((value.name, value.array))
        self.pool.append(value)
        return value

    def operand(self, shape, dtype=F32, low=None, high=None):
        """A constant mostly, else an input of the graph."""
        if self.chance(0.7):
            return self.constant(self.data(shape, dtype, low, high))
        value = self.input(shape, dtype, low, high)
        self.pool.remove(value)
        return value

    def pick(self, dtypes=(F32,), rank=None, least=0, most=6, make=True, nonempty=False):
        """A value of the graph so far, the newer the likelier; or a new input."""
        found = [v for v in self.pool if v.dtype.type in dtypes and v.array.size <= 20000
                 and (v.rank == rank if rank is not None else least <= v.rank <= most)
                 and (v.array.size or not nonempty)]
        if found and not self.chance(0.1):
            return found[max(self.integer(0, len(found) - 1), self.integer(0, len(found) - 1))]
        if not make:
            raise Skip
        if rank is None:
            rank = self.integer(max(least, 1), max(least, min(4, most)))
        return self.input(self.shape(rank, nonempty), self.choose(list(dtypes)))

    def pick_like(self, value, fits):
        return self.choose([v for v in self.pool if v.dtype == value.dtype and fits(v)])

    def add(self, op, operands, outputs=1, outer=(), **attributes):
        """A node, and its results; outer: values that its subgraphs read by name."""
        names = [self.new_name() for _ in range(outputs)]
        node = helper.make_node(op, [v.name if v else "" for v in operands], names, **attributes)
        given = {v.name: v for v in list(operands) + list(outer) if v}
        try:
            alone = Case([node], [(n, v.array) for n, v in given.items() if not v.constant],
                         [(n, v.array) for n, v in given.items() if v.constant], names)
        except Exception as error:  # onnxruntime has many of its own
            raise Skip from error
        if op in ("MatMul", "Gemm") and not operands[0].array.size and alone.expected[0].size:
            raise Skip  # onnxruntime leaves sums of nothing unset
        for array in alone.expected:
            if array.size > 40000:
                raise Skip
            if array.dtype.kind == "f" and array.size and not numpy.abs(array).max() <= 1e4:
                raise Skip  # also where it is NaN
        values = [Value(name, array) for name, array in alone.outputs]
        self.nodes.append(node)
        self.read |= set(given)
        self.pool += values
        return values[0] if outputs == 1 else values

    def attempt(self, step, *arguments):
        """Does a step wholly or not at all; returns what it returns, or None."""
        lists = (self.nodes, self.constants, self.inputs, self.pool)
        lengths, read = [len(each) for each in lists], set(self.read)
        try:
            return step(self, *arguments)
        except (Skip, IndexError, ValueError):
            for each, length in zip(lists, lengths):
                del each[length:]
            self.read = read
            return None
