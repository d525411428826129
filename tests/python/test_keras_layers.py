"""Layers with Keras' names beside the formulas of Keras' documentation; their gradients are tried with samples/keras.py."""
import colorsys

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


IMAGES = random.uniform(0, 1, (2, 3, 5, 4))
RANGE = {'value_range': (0, 1)}


def recoloured(images, turn=0.0, stretch=1.0):
    """Colour by colour, by Python's own colorsys."""
    y = np.empty_like(images)
    for n, i, j in np.ndindex(len(images), *images.shape[2:]):
        h, s, v = colorsys.rgb_to_hsv(*images[n, :, i, j])
        y[n, :, i, j] = colorsys.hsv_to_rgb((h + turn) % 1, min(s * stretch, 1), v)
    return y


def grey(x):
    return np.einsum('nchw,c->nhw', x, [0.2989, 0.5870, 0.1140])[:, None] + 0 * x


def correlated(x, kernel):
    h, w = kernel.shape
    x = np.pad(x, [(0, 0), (0, 0), (h // 2, h // 2), (w // 2, w // 2)])
    return np.einsum('nchwij,ij->nchw', np.lib.stride_tricks.sliding_window_view(x, (h, w), (2, 3)), kernel)


def bell(size, sigma):
    e = np.exp(-0.5 * ((np.arange(size) - size // 2) / sigma) ** 2)
    return e / e.sum()


def over_time(cell, x):
    state = None
    for t in range(x.shape[1]):
        state = cell(saltern.tensor(x[:, t]), state)
    return np.asarray(state)


def mels(x):
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(x, [(0, 0), (8, 8)], mode='reflect'), 16, 1)[:, ::4]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(16) / 16)
    power = np.abs(np.fft.rfft(frames * window)) ** 2
    mel = lambda f: 1127 * np.log(1 + f / 700)
    edges = np.linspace(mel(20), mel(4000), 7)
    at = mel(np.linspace(0, 4000, 9))[:, None]
    bands = np.maximum(0, np.minimum((at - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - at) / (edges[2:] - edges[1:-1])))
    bands[0] = 0
    y = 10 * np.log10(np.maximum(power @ bands, 1e-10))
    return np.maximum(y, y.max() - 80).swapaxes(1, 2)


CELL = nn.GRUCell(3, 2).double()
TABLE = nn.ReversibleEmbedding(5, 4, logit_soft_cap=0.2).double()
# What training sees of images; ranges that are points leave nothing to chance.
CHANGES = [
    (nn.RandomBrightness((0.1, 0.1), **RANGE), lambda x: np.clip(x + 0.1, 0, 1)),
    (nn.RandomBrightness((-0.1, -0.1), (0, 2)), lambda x: np.clip(x - 0.2, 0, 2)),
    (nn.RandomSaturation((0.4, 0.4), **RANGE), lambda x: recoloured(x, stretch=0.4 / (0.6 + 1e-7))),
    (nn.RandomColorDegeneration((0.3, 0.3), **RANGE), lambda x: x + 0.3 * (grey(x) - x)),
    (nn.RandomGrayscale(1.0), grey),
    (nn.RandomInvert((1, 1), **RANGE), lambda x: 1 - x),
    (nn.RandomPosterization((3, 3), **RANGE), lambda x: (np.floor(x * 255).astype(int) >> 5 << 5) / 255),
    (nn.RandomSharpness((0.8, 0.8), **RANGE),
     lambda x: np.clip(x - 0.6 * (correlated(x, np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]]) / 13) - x), 0, 1)),
    (nn.RandomGaussianBlur((1, 1), (3, 5), (0.7, 0.7), **RANGE),
     lambda x: correlated(x, np.outer(bell(5, 0.7 + 1e-6), bell(3, 0.7 + 1e-6)))),
    (nn.Solarization(0.0, (0, 0), **RANGE), lambda x: 1 - x),
    (nn.AutoContrast(**RANGE), lambda x: (x - x.min((2, 3), keepdims=True)) / np.ptp(x, (2, 3), keepdims=True)),
    (nn.CenterCrop(3, 2), lambda x: x[:, :, 1:4, 1:3]),
]


@pytest.mark.parametrize('layer, expected', CHANGES, ids=lambda v: str(v) if isinstance(v, nn.Module) else '')
def test_changes_of_images(layer, expected):
    given = np.asarray(layer.train()(saltern.tensor(IMAGES)))
    np.testing.assert_allclose(given, expected(IMAGES), atol=1e-6)
    np.testing.assert_allclose(np.asarray(layer(saltern.tensor(IMAGES[0]))), expected(IMAGES)[0], atol=1e-6)


def test_chance():
    saltern.manual_seed(3)
    many = np.repeat(IMAGES[:1], 400, 0)
    x = saltern.tensor(many)
    flipped = np.asarray(nn.RandomFlip('horizontal')(x))
    are = (flipped != many).any((1, 2, 3))
    np.testing.assert_array_equal(flipped[are], many[are][..., ::-1])
    assert 0.4 < are.mean() < 0.6
    turned = np.asarray(nn.RandomHue((0.5, 0.5), **RANGE)(x))
    ways = [recoloured(IMAGES[:1], turn)[0] for turn in (0.25, -0.25)]
    near = np.array([[np.allclose(y, way, atol=1e-6) for way in ways] for y in turned])
    assert near.any(1).all() and 0.4 < near[:, 0].mean() < 0.6
    contrast = np.asarray(nn.RandomContrast((0.3, 0.5), (-9, 9))(x))
    middle = IMAGES[:1].mean((2, 3), keepdims=True)
    factors = ((contrast - middle) / (many - middle))[:, 0, 0, 0]
    assert 0.7 <= factors.min() < 0.75 and 1.45 < factors.max() <= 1.5
    places = {tuple(np.asarray(nn.RandomCrop(3, 2)(saltern.tensor(IMAGES)))[0, 0].ravel()) for _ in range(200)}
    assert places == {tuple(IMAGES[0, 0, i:i + 3, j:j + 2].ravel()) for i in range(3) for j in range(3)}
    for layer in (nn.RandomFlip(), nn.RandomBrightness(0.5), nn.RandomHue(0.5)):
        np.testing.assert_array_equal(np.asarray(layer.eval()(x)), many)
    with pytest.raises(ValueError, match='RandomHue: images have 2 channels'):
        nn.RandomHue(0.5)(saltern.ones(1, 2, 4, 4))


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
    (nn.Activation('tanh'), (X,), np.tanh),
    (nn.Reshape((2, 2)), (X,), lambda x: x.reshape(3, 2, 2)),
    (nn.Normalization([1.0, 2, 3, 4], [4.0, 1, 0.25, 9]), (X,), lambda x: (x - [1, 2, 3, 4]) / [2, 1, 0.5, 3]),
    (nn.Attention(), (SCORES, SCORES), lambda q, k: softmax(q @ k.swapaxes(1, 2)) @ k),
    (nn.Attention(score_mode='concat'), (SCORES, SCORES),
     lambda q, k: softmax(np.tanh(q[:, :, None] + k[:, None]).sum(-1)) @ k),
    (TABLE, (LABELS,), lambda i: np.asarray(TABLE.weight)[i]),
    (nn.CellOverTime(CELL), (random.uniform(-1, 1, (2, 4, 3)),), lambda x: over_time(CELL, x)),
    (nn.MelSpectrogram(16, 4, sampling_rate=8000, num_mel_bins=5), (random.uniform(-1, 1, (2, 40)),), mels),
    (nn.CTC(), (SCORES, np.array([[1, 3], [2, 0]])), lambda x, _: (ctc([1, 3], x[0], 5) + ctc([2], x[1], 5)) / 2),
]


@pytest.mark.parametrize('layer, inputs, expected', CASES, ids=lambda v: str(v) if isinstance(v, nn.Module) else '')
def test_forward(layer, inputs, expected):
    given = np.asarray(layer.double().eval()(*map(saltern.tensor, inputs)))
    wanted = np.asarray(expected(*inputs))
    np.testing.assert_allclose(given, wanted, atol=1e-9)
    assert given.shape == wanted.shape


def test_a_table_both_ways():
    y = np.asarray(TABLE(saltern.tensor(X), reverse=True))
    np.testing.assert_allclose(y, 0.2 * np.tanh(X @ np.asarray(TABLE.weight).T / 0.2), atol=1e-12)


def test_stacked_cells_over_time():
    cells = nn.StackedRNNCells([nn.RNNCell(3, 4), nn.GRUCell(4, 2)]).double()
    x = random.uniform(-1, 1, (2, 3, 3))
    state = None
    for t in range(3):
        y, state = cells(saltern.tensor(x[:, t]), state)
    np.testing.assert_array_equal(np.asarray(nn.CellOverTime(cells)(saltern.tensor(x))), np.asarray(y))
