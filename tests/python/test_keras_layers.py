"""Layers with Keras' names beside the formulas of Keras' documentation; their gradients are tried with samples/keras.py."""
import numpy as np
import pytest

import saltern
from saltern import nn
from test_keras_functions import ctc, softmax

random = np.random.default_rng(9)
X, SHARES = random.uniform(-2, 2, (3, 4)), random.uniform(0.1, 0.9, (3, 4))
OTHERS, LABELS, ONE_HOT = random.uniform(0.1, 0.9, (3, 4)), np.array([2, 0, 3]), np.eye(4)[[2, 0, 3]]
SCORES = random.uniform(-2, 2, (2, 5, 4))


def shares(p):
    return p / p.sum(1, keepdims=True)


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


# What a layer is made with, what it is called with, what is expected.
CASES = [
    (nn.BinaryCrossentropy(), (SHARES, OTHERS), lambda p, t: -(t * np.log(p) + (1 - t) * np.log(1 - p)).mean()),
    (nn.BinaryCrossentropy(True, 0.2), (X, ONE_HOT), lambda x, t: (np.logaddexp(0, x) - x * (0.8 * t + 0.1)).mean()),
    (nn.CategoricalCrossentropy(), (SHARES, ONE_HOT), lambda p, t: -(t * np.log(shares(p))).sum(1).mean()),
    (nn.CategoricalCrossentropy(True, 0.2, reduction='none'), (X, ONE_HOT),
     lambda x, t: -((0.8 * t + 0.05) * np.log(softmax(x))).sum(1)),
    (nn.SparseCategoricalCrossentropy(), (SHARES, LABELS), lambda p, t: -np.log(shares(p))[[0, 1, 2], t].mean()),
    (nn.SparseCategoricalCrossentropy(True, 3), (X, LABELS), lambda x, t: -np.log(softmax(x))[[0, 1], t[:2]].mean()),
    (nn.KLDivergence(), (SHARES, OTHERS), lambda p, t: (t * np.log(t / p)).sum(1).mean()),
    (nn.CosineSimilarityLoss(reduction='none'), (X, OTHERS), lambda x, t: -(unit(x) * unit(t)).sum(1)),
    (nn.CTC(), (SCORES, np.array([[1, 3], [2, 0]])), lambda x, _: (ctc([1, 3], x[0], 5) + ctc([2], x[1], 5)) / 2),
]


@pytest.mark.parametrize('layer, inputs, expected', CASES, ids=lambda v: str(v) if isinstance(v, nn.Module) else '')
def test_forward(layer, inputs, expected):
    given = np.asarray(layer.double().eval()(*map(saltern.tensor, inputs)))
    wanted = np.asarray(expected(*inputs))
    np.testing.assert_allclose(given, wanted, atol=1e-9)
    assert given.shape == wanted.shape
