"""saltern.keras beside NumPy's formulas of Keras' documentation, and gradients of first and second order beside differences."""
import numpy as np
import pytest

import saltern
from checks import check_function

random = np.random.default_rng(8)
X, Y, V = random.uniform(-2, 2, (3, 4)), random.uniform(-2, 2, (3, 4)), random.uniform(-2, 2, 5)
POSITIVE, CUBE = random.uniform(0.2, 2, (3, 4)), random.uniform(-2, 2, (2, 3, 4))
SHARES, ONE_HOT = random.uniform(0.1, 0.9, (3, 4)), np.eye(4)[[2, 0, 3]]
LABELS, IDS = np.array([2, 0, 3]), np.array([1, 0, 1])
HOLES = np.where(X > 1, np.nan, X)
IMAGES, KERNEL = random.uniform(-1, 1, (2, 7, 6, 2)), random.uniform(-1, 1, (3, 2, 2, 4))
LOGITS = random.uniform(-2, 2, (2, 5, 4))
MATRIX = X[:, :3] @ X[:, :3].T + 3 * np.eye(3)


def placed(x, index, values):
    x = x.copy()
    x[index] = values
    return x


def reduced(x, index, values, function):
    x = x.copy()
    function.at(x, index, values)
    return x


def same_edges(extent, window, stride, dilation=1):
    more = max((-(-extent // stride) - 1) * stride + (window - 1) * dilation + 1 - extent, 0)
    return more // 2, more - more // 2


def convolved(x, w, stride=1, same=False, dilation=1):
    """Channels last, by loops."""
    if same:
        x = np.pad(x, [(0, 0)] + [same_edges(x.shape[d + 1], w.shape[d], stride, dilation) for d in (0, 1)] + [(0, 0)])
    extent = [(x.shape[d + 1] - (w.shape[d] - 1) * dilation - 1) // stride + 1 for d in (0, 1)]
    y = np.zeros((len(x), *extent, w.shape[-1]))
    for i, j, p, q in np.ndindex(*extent, *w.shape[:2]):
        y[:, i, j] += x[:, i * stride + p * dilation, j * stride + q * dilation] @ w[p, q]
    return y


def spread(w):
    """A kernel of each channel by itself, (h, w, c, m), as one of all."""
    h, k, c, m = w.shape
    all = np.zeros((h, k, c, c * m))
    for i in range(c):
        all[:, :, i, i * m:(i + 1) * m] = w[:, :, i]
    return all


def transposed_convolution(x, w, stride, same):
    """Each element adds its kernel (h, w, out, in); 'same' keeps stride times as many, from the middle."""
    size = [(x.shape[d + 1] - 1) * stride + w.shape[d] for d in (0, 1)]
    y = np.zeros((len(x), *size, w.shape[2]))
    for i, j, p, q in np.ndindex(*x.shape[1:3], *w.shape[:2]):
        y[:, i * stride + p, j * stride + q] += x[:, i, j] @ w[p, q].T
    wanted = [x.shape[d + 1] * stride + (0 if same else max(w.shape[d] - stride, 0)) for d in (0, 1)]
    begin = [max(w.shape[d] - stride, 0) // 2 if same else 0 for d in (0, 1)]
    y = np.pad(y, [(0, 0), (0, 9), (0, 9), (0, 0)])
    return y[:, begin[0]:begin[0] + wanted[0], begin[1]:begin[1] + wanted[1]]


def pooled(x, size, stride, same, of):
    if same:
        x = np.pad(x, [(0, 0)] + [same_edges(x.shape[d + 1], size, stride) for d in (0, 1)] + [(0, 0)], constant_values=np.nan)
    extent = [(x.shape[d + 1] - size) // stride + 1 for d in (0, 1)]
    return np.stack([np.stack([of(x[:, i * stride:i * stride + size, j * stride:j * stride + size], (1, 2))
                               for j in range(extent[1])], 1) for i in range(extent[0])], 1)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sparsemax(x):
    """By bisection of the number that is taken away."""
    low, high = x.min(-1, keepdims=True) - 1, x.max(-1, keepdims=True)
    for _ in range(80):
        middle = (low + high) / 2
        more = np.maximum(x - middle, 0).sum(-1, keepdims=True) > 1
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.maximum(x - low, 0)


def attention(q, k, v, mask=None):
    scores = np.einsum('ntHd,nsHd->nHts', q, k) / np.sqrt(q.shape[-1])
    return np.einsum('nHts,nsHd->ntHd', softmax(scores if mask is None else np.where(mask, scores, -np.inf)), v)


def normalized(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def ctc(labels, logits, length):
    """All paths of one sample, one after another."""
    import itertools
    p, total = softmax(logits), 0
    for path in itertools.product(range(p.shape[1]), repeat=length):
        merged = [c for i, c in enumerate(path) if c and (i == 0 or path[i - 1] != c)]
        total += np.prod([p[t, c] for t, c in enumerate(path)]) if merged == labels else 0
    return -np.log(total)


K = 'keras.'
# name, what it is called with (real arrays are differentiated), what is expected.
FUNCTIONS = [
    (K + 'zeros', ([2, 3],), np.zeros),
    (K + 'ones', ([2],), np.ones),
    (K + 'empty', ([2, 0],), np.zeros),
    (K + 'full', ([2, 3], 1.5), np.full),
    (K + 'zeros_like', (X,), np.zeros_like),
    (K + 'ones_like', (X,), np.ones_like),
    (K + 'empty_like', (X,), np.zeros_like),
    (K + 'full_like', (X, 2.5), np.full_like),
    (K + 'eye', (3, 4, 1), np.eye),
    (K + 'tri', (3, 5, -1), np.tri),
    (K + 'identity', (3,), np.identity),
    (K + 'arange', (1, 8, 3), np.arange),
    (K + 'arange', (2.5,), np.arange),
    (K + 'linspace', (-1.0, 2.0, 7), np.linspace),
    (K + 'linspace', (V, V[::-1].copy(), 4, False), lambda a, b, n, e: np.linspace(a, b, n, e)),
    (K + 'geomspace', (1.0, 8.0, 4), np.geomspace),
    (K + 'logspace', (0.0, 2.0, 5), np.logspace),
    (K + 'slice', (CUBE, [1, 0, 2], [1, 2, 2]), lambda x, *_: x[1:2, :2, 2:4]),
    (K + 'slice_update', (X, [1, 1], Y[:2, :3]), lambda x, _, y: placed(x, (slice(1, 3), slice(1, 4)), y)),
    (K + 'slice_update', (CUBE, [0, 1, 1], CUBE[:1, :2, :3] * 2), lambda x, _, y: placed(x, (slice(0, 1), slice(1, 3), slice(1, 4)), y)),
    (K + 'scatter', (np.array([[1], [3]]), X[:2], [5, 4]), lambda i, v, s: placed(np.zeros(s), i[:, 0], v)),
    (K + 'scatter_update', (X, np.array([[0, 1], [2, 3]]), V[:2]), lambda x, i, v: placed(x, (i[:, 0], i[:, 1]), v)),
    (K + 'scatter_update', (X, np.array([[0, 1], [0, 1]]), V[:2], 'add'), lambda x, i, v, _: reduced(x, (i[:, 0], i[:, 1]), v, np.add)),
    (K + 'scatter_update', (X, np.array([[2], [0]]), Y[:2], 'max'), lambda x, i, v, _: reduced(x, (i[:, 0],), v, np.maximum)),
    (K + 'take', (CUBE, np.array([[2, 0], [1, 1]]), 1), np.take),
    (K + 'take', (X, np.array([5, 0])), np.take),
    (K + 'append', (X, V), np.append),
    (K + 'append', (X, Y, 1), np.append),
    (K + 'select', ([X > 1, X < 0], [X, Y], 0.5), np.select),
    (K + 'unravel_index', (np.array([5, 11, 0]), [3, 4]), np.unravel_index),
    (K + 'vander', (V, 3), np.vander),
    (K + 'vander', (V, 4, True), np.vander),
    (K + 'stop_gradient', (X,), lambda x: x),
    (K + 'view', (np.arange(3, dtype=np.int32), 'float32'), lambda x, t: x.view(t)),
    (K + 'saturate_cast', (np.array([-1, 3.7, 300]), 'uint8'), lambda x, _: np.array([0, 3, 255], np.uint8)),
    ('bitwise_left_shift', (IDS, np.array([3, 1, 0])), np.left_shift),
    ('bitwise_right_shift', (np.array([9, -8, 100]), np.array([1, 2, 3])), np.right_shift),
    ('gcd', (np.array([12, 18, 7]), np.array([18, -4, 0])), np.gcd),
    ('lcm', (np.array([[12], [5]]), np.array([18, 4])), np.lcm),
    ('nextafter', (X, 0.0), np.nextafter),
    ('i0', (np.array([-30.0, -1.5, 0.2, 8, 300]) * 0.1,), np.i0),
    (K + 'divide_no_nan', (X, POSITIVE), np.divide),
    (K + 'divide_no_nan', (X, np.array([1, 0, 2, 0])), lambda x, y: x * [1, 0, 0.5, 0]),
    (K + 'cbrt', (X,), np.cbrt),
    (K + 'sparse_sigmoid', (X,), lambda x: np.clip((x + 1) / 2, 0, 1)),
    (K + 'sparse_plus', (X,), lambda x: np.where(x <= -1, 0, np.where(x < 1, (x + 1) ** 2 / 4, x))),
    (K + 'squareplus', (X, 3.0), lambda x, b: (x + np.sqrt(x * x + b)) / 2),
    (K + 'sparsemax', (X,), sparsemax),
    (K + 'sparsemax', (X * 0.2, 0), lambda x, _: sparsemax(x.T).T),
    (K + 'round', (X * 10, 1), np.round),
    (K + 'nanmax', (HOLES, 1), np.nanmax),
    (K + 'nanmin', (HOLES,), np.nanmin),
    (K + 'nanargmax', (HOLES, 0), np.nanargmax),
    (K + 'nanargmin', (HOLES, 1), np.nanargmin),
    (K + 'nanprod', (HOLES, 1), np.nanprod),
    (K + 'nancumsum', (HOLES, 1), np.nancumsum),
    (K + 'nancumprod', (HOLES,), np.nancumprod),
    (K + 'nanvar', (HOLES, 1), np.nanvar),
    (K + 'nanstd', (HOLES, 0), np.nanstd),
    (K + 'nanmedian', (HOLES, 1), np.nanmedian),
    (K + 'nanpercentile', (HOLES, 30.0, 1), np.nanpercentile),
    (K + 'median', (X,), np.median),
    (K + 'median', (CUBE, [0, 2], True), lambda x, d, k: np.median(x, tuple(d), keepdims=k)),
    (K + 'percentile', (X, np.array([10.0, 60]), 1), np.percentile),
    (K + 'ptp', (X, 1), np.ptp),
    (K + 'average', (X, 1, POSITIVE[0]), np.average),
    (K + 'average', (X, None, POSITIVE), np.average),
    (K + 'digitize', (X, np.array([-1.0, 0, 1])), np.digitize),
    (K + 'histogram', (X, 5), np.histogram),
    (K + 'correlate', (V, X[0], 'full'), np.correlate),
    (K + 'correlate', (V, X[0], 'same'), np.correlate),
    (K + 'correlate', (X[0, :3], V, 'same'), np.correlate),
    (K + 'correlate', (X[0, :3], V), np.correlate),
    (K + 'dot', (X, CUBE.transpose(0, 2, 1).copy()), np.dot),
    (K + 'dot', (V, V), np.dot),
    (K + 'segment_sum', (X, IDS, 3), lambda x, i, n: reduced(np.zeros((n, 4)), i, x, np.add)),
    (K + 'segment_prod', (X, IDS), lambda x, i: reduced(np.ones((2, 4)), i, x, np.multiply)),
    (K + 'segment_max', (X, IDS), lambda x, i: reduced(np.full((2, 4), -np.inf), i, x, np.maximum)),
    (K + 'segment_min', (V[:3], IDS, 2), lambda x, i, _: reduced(np.full(2, np.inf), i, x, np.minimum)),
    (K + 'fft', ([X, Y],), lambda z: [np.fft.fft(z[0] + 1j * z[1]).real, np.fft.fft(z[0] + 1j * z[1]).imag]),
    (K + 'fft2', ([X, Y],), lambda z: [np.fft.fft2(z[0] + 1j * z[1]).real, np.fft.fft2(z[0] + 1j * z[1]).imag]),
    (K + 'ifft2', ([X, Y],), lambda z: [np.fft.ifft2(z[0] + 1j * z[1]).real, np.fft.ifft2(z[0] + 1j * z[1]).imag]),
    (K + 'rfft', (X, 3), lambda x, n: [np.fft.rfft(x, n).real, np.fft.rfft(x, n).imag]),
    (K + 'irfft', ([X, Y],), lambda z: np.fft.irfft(z[0] + 1j * z[1])),
    (K + 'stft', (random.uniform(-1, 1, (2, 16)), 6, 2, 8, None, False),
     lambda x, l, s, n, *_: (lambda z: [z.real, z.imag])(np.stack([np.fft.rfft(np.pad(np.ones(l), 1) * x[:, i:i + n])
                                                                  for i in range(0, 9, s)], 1))),
    (K + 'extract_sequences', (X, 2, 1), lambda x, n, s: np.lib.stride_tricks.sliding_window_view(x, n, 1)),
    ('logdet', (MATRIX,), lambda x: np.log(np.linalg.det(x))),
    (K + 'cholesky_inverse', (MATRIX,), np.linalg.inv),
    (K + 'lstsq', (X.T.copy(), Y[0]), lambda a, b: np.linalg.lstsq(a, b, None)[0]),
    (K + 'svd', (X, False, False), lambda x, *_: np.linalg.svd(x)[1]),
    (K + 'solve', (MATRIX, X[:, :2].copy()), np.linalg.solve),
    (K + 'solve_triangular', (MATRIX, X[:, 0].copy(), True), lambda a, b, _: np.linalg.solve(np.tril(a), b)),
    (K + 'conv', (IMAGES, KERNEL, 2, 'same'), lambda x, w, s, _: convolved(x, w, s, True)),
    (K + 'conv', (IMAGES, KERNEL, 1, 'valid', 'channels_last', 2), lambda x, w, *_: convolved(x, w, dilation=2)),
    (K + 'depthwise_conv', (IMAGES, KERNEL[:, :, :, :3].copy(), 2), lambda x, w, s: convolved(x, spread(w), s)),
    (K + 'separable_conv', (IMAGES, KERNEL[:, :, :, :2].copy(), KERNEL.reshape(1, 1, -1, 4)[:, :, :4].copy(), 1, 'same'),
     lambda x, w, p, *_: convolved(convolved(x, spread(w), same=True), p)),
    (K + 'conv_transpose', (IMAGES, KERNEL.transpose(0, 1, 3, 2).copy(), 2, 'same'), lambda x, w, s, _: transposed_convolution(x, w, s, True)),
    (K + 'conv_transpose', (IMAGES, KERNEL.transpose(0, 1, 3, 2).copy(), 2), lambda x, w, s: transposed_convolution(x, w, s, False)),
    (K + 'conv_transpose', (IMAGES, KERNEL[:1, :1].transpose(0, 1, 3, 2).copy(), 2), lambda x, w, s: transposed_convolution(x, w, s, False)),
    (K + 'max_pool', (IMAGES, 3, 2, 'same'), lambda x, n, s, _: pooled(x, n, s, True, np.nanmax)),
    (K + 'average_pool', (IMAGES, 3, 2, 'same'), lambda x, n, s, _: pooled(x, n, s, True, np.nanmean)),
    (K + 'average_pool', (IMAGES, 2), lambda x, n: pooled(x, n, n, False, np.mean)),
    (K + 'adaptive_max_pool', (IMAGES[:, :6], [3, 2]), lambda x, _: x.reshape(2, 3, 2, 2, 3, 2).max((2, 4))),
    (K + 'adaptive_average_pool', (IMAGES[:, :6], [3, 2]), lambda x, _: x.reshape(2, 3, 2, 2, 3, 2).mean((2, 4))),
    (K + 'space_to_depth', (IMAGES[:, :6], 2), lambda x, _: x.reshape(2, 3, 2, 3, 2, 2).transpose(0, 1, 3, 2, 4, 5).reshape(2, 3, 3, 8)),
    (K + 'depth_to_space', (CUBE.reshape(1, 2, 3, 4), 2), lambda x, _: x.reshape(1, 2, 3, 2, 2, 1).transpose(0, 1, 3, 2, 4, 5).reshape(1, 4, 6, 1)),
    (K + 'moments', (CUBE, [0, 2]), lambda x, _: [x.mean((0, 2)), x.var((0, 2))]),
    (K + 'batch_normalization', (X, V[:4], POSITIVE[0], 1, Y[0], Y[1]),
     lambda x, m, v, _, b, g: (x - m) / np.sqrt(v + 1e-3) * g + b),
    (K + 'layer_normalization', (CUBE, Y, X, [1, 2]), lambda x, g, b, _: normalized(x, (1, 2), 1e-7) * g + b),
    (K + 'layer_normalization', (X,), lambda x: normalized(x, 1, 1e-7)),
    (K + 'rms_normalization', (X, V[:4]), lambda x, g: x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-7) * g),
    (K + 'normalize', (X, 0, 1), lambda x, *_: x / np.abs(x).sum(0)),
    (K + 'binary_crossentropy', (ONE_HOT, SHARES), lambda t, p: -t * np.log(p) - (1 - t) * np.log(1 - p)),
    (K + 'binary_crossentropy', (ONE_HOT, X, True), lambda t, x, _: np.logaddexp(0, x) - t * x),
    (K + 'categorical_crossentropy', (ONE_HOT, SHARES), lambda t, p: -(t * np.log(p / p.sum(1, keepdims=True))).sum(1)),
    (K + 'categorical_crossentropy', (ONE_HOT, X, True), lambda t, x, _: -(t * np.log(softmax(x))).sum(1)),
    (K + 'sparse_categorical_crossentropy', (LABELS, X, True), lambda t, x, _: -np.log(softmax(x))[[0, 1, 2], t]),
    (K + 'sparse_categorical_crossentropy', (LABELS[:, None], SHARES),
     lambda t, p: -np.log(p / p.sum(1, keepdims=True))[[0, 1, 2], t[:, 0]]),
    (K + 'psnr', (X, Y, 2.0), lambda x, y, m: 20 * np.log10(m) - 10 * np.log10(((x - y) ** 2).mean())),
    (K + 'ctc_loss', (np.array([[1, 3], [2, 0]]), LOGITS, np.array([2, 1]), np.array([5, 4])),
     lambda t, x, *_: np.array([ctc([1, 3], x[0], 5), ctc([2], x[1], 4)])),
    (K + 'dot_product_attention', tuple(random.uniform(-1, 1, (2, 3, 2, 4)) for _ in range(3)), attention),
    (K + 'dot_product_attention', (*(random.uniform(-1, 1, (1, 3, 2, 4)) for _ in range(3)), None, None, None, True),
     lambda q, k, v, *_: attention(q, k, v, np.tri(3) > 0)),
    (K + 'multi_hot', (np.array([[0, 3], [3, 3]]), 5), lambda x, _: np.array([[1, 0, 0, 1, 0], [0, 0, 0, 1, 0]])),
    (K + 'in_top_k', (LABELS, X, 2), lambda t, x, k: np.array([t[i] in np.argsort(-x[i])[:k] for i in range(3)])),
]


def found(name):
    return getattr(saltern.keras, name[6:]) if name.startswith(K) else getattr(saltern, name)


@pytest.mark.parametrize('name, args, expected', FUNCTIONS, ids=lambda v: v if isinstance(v, str) else '')
def test_function(name, args, expected):
    check_function(found(name), args, expected, atol_of_f32=1e-6)


def test_every_row_is_tried():
    assert {K + name for name in saltern.keras.__all__} - {name for name, *_ in FUNCTIONS} == {K + 'istft'}


def test_istft_is_the_way_back():
    x = random.uniform(-1, 1, (2, 24))
    for window in ('hann', 'hamming'):
        z = saltern.keras.stft(saltern.tensor(x), 8, 2, 8, window)
        np.testing.assert_allclose(np.asarray(saltern.keras.istft(z, 8, 2, 8, 24, window)), x, atol=1e-12)


def test_mistakes():
    with pytest.raises(ValueError, match='keras.segment_sum: .segment_ids.'):
        saltern.keras.segment_sum(saltern.tensor(X), saltern.tensor(np.array([0, 1])))
    with pytest.raises(ValueError, match='keras.view: .dtype. is .float64.*as many bits'):
        saltern.keras.view(saltern.ones(2), 'float64')


def test_segments_of_large_whole_numbers():
    x, ids = np.array([-2**31 + 1, -2**31 + 5, 2**31 - 1], np.int32), np.array([0, 0, 1])
    assert saltern.keras.segment_max(saltern.tensor(x), saltern.tensor(ids)).numpy().tolist() == [-2**31 + 5, 2**31 - 1]
    assert saltern.keras.segment_min(saltern.tensor(x), saltern.tensor(ids)).numpy().tolist() == [-2**31 + 1, 2**31 - 1]
