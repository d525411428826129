"""Norms of sums, embeddings, and forms of Gelu."""
import numpy

from microsoft.node import Node, integers, reals

F16, I32 = numpy.float16, numpy.int32
X = (2, 5, 16)


def erf_gelu(x):
    from math import erf
    return x * 0.5 * (1 + numpy.vectorize(erf)(x / 2 ** 0.5))


def split_gelu(x, bias):
    left, right = numpy.split(x + bias, 2, -1)
    return [(left * erf_gelu(right)).astype(numpy.float32)]


SPLIT = reals(2, 3, 8), reals(8)
NODES = [
    Node("SkipLayerNormalization", dict(x=reals(*X), skip=reals(*X), gamma=reals(16), beta=reals(16), bias=reals(16)),
         ["gamma", "beta", "bias"], outputs=["y", "", "", "sum"], epsilon=1e-5),
    Node("SkipLayerNormalization", dict(x=reals(*X), skip=reals(1, 5, 16), gamma=reals(16)), ["gamma"]),
    Node("SkipLayerNormalization", dict(x=reals(*X), skip=reals(5, 16), gamma=reals(16), beta=reals(16)), ["gamma"]),
    Node("SkipSimplifiedLayerNormalization", dict(x=reals(*X), skip=reals(*X), gamma=reals(16), bias=reals(16)),
         ["gamma", "bias"], outputs=["y", "", "", "sum"], epsilon=1e-6),
    Node("SkipSimplifiedLayerNormalization", dict(x=reals(3, 16), skip=reals(3, 16), gamma=reals(16)), ["gamma"]),
    Node("SimplifiedLayerNormalization", dict(x=reals(*X), scale=reals(16)), ["scale"], domain="", epsilon=1e-6),
    Node("SimplifiedLayerNormalization", dict(x=reals(*X), scale=reals(5, 16)), outputs=2, domain="", axis=1),
    Node("EmbedLayerNormalization",
         dict(ids=integers(2, 5, dtype=I32, low=0, high=9), segments=integers(2, 5, dtype=I32, low=0, high=2),
              words=reals(9, 8), positions=reals(6, 8), kinds=reals(2, 8), gamma=reals(8), beta=reals(8),
              mask=numpy.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], I32)),
         ["words", "positions", "kinds", "gamma", "beta"], outputs=3, epsilon=1e-5),
    Node("EmbedLayerNormalization",
         dict(ids=integers(2, 4, dtype=I32, low=0, high=9), segments=None, words=reals(9, 8), positions=reals(6, 8),
              kinds=None, gamma=reals(8), beta=reals(8), mask=None,
              places=integers(2, 4, dtype=I32, low=0, high=6)), outputs=2),
    Node("BiasGelu", dict(x=reals(*X), bias=reals(16)), ["bias"]),
    Node("BiasSplitGelu", dict(x=SPLIT[0], bias=SPLIT[1]), expected=split_gelu(*SPLIT)),
    Node("FastGelu", dict(x=reals(*X, low=-3, high=3), bias=reals(16)), ["bias"]),
    Node("FastGelu", dict(x=reals(7, low=-3, high=3))),
    Node("Gelu", dict(x=reals(*X, low=-3, high=3))),
    Node("QuickGelu", dict(x=reals(*X)), alpha=1.5),
]
