"""Metrics beside plain definitions in NumPy; tests/conformance compares them with torchmetrics and Keras."""
import copy
import itertools
import math

import numpy as np
import pytest

import saltern
from saltern import metrics
from saltern.keras import metrics as keras
from saltern.metrics import functional

random = np.random.default_rng(0)
P, T = random.random(40, np.float32), random.integers(0, 2, 40)
SCORES, CLASSES = random.standard_normal((40, 4)).astype(np.float32), random.integers(0, 4, 40)
X, Y = random.standard_normal(40), random.standard_normal(40)
A, B = random.integers(0, 3, 40), random.integers(0, 4, 40)


def counts(p, t):
    return [np.sum(p & t), np.sum(p & ~t), np.sum(~p & ~t), np.sum(~p & t)]


TP, FP, TN, FN = counts(P > 0.5, T == 1)
MATRIX = np.array([[np.sum((CLASSES == t) & (SCORES.argmax(1) == p)) for p in range(4)] for t in range(4)])
PAIRS = [(i, j) for i in range(40) for j in range(i)]


def auroc(p, t):
    """The chance that one that is true has the higher score."""
    above = [(a > b) + 0.5 * (a == b) for a in p[t == 1] for b in p[t == 0]]
    return np.mean(above)


def average_precision(p, t):
    limits = sorted(set(p), reverse=True)
    recalls = [0] + [np.sum((p >= x) & (t == 1)) / np.sum(t == 1) for x in limits]
    return sum((b - a) * np.mean(t[p >= x] == 1) for x, a, b in zip(limits, recalls, recalls[1:]))


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -np.sum(shares * np.log(shares))


def information(a, b):
    return entropy(a) + entropy(b) - entropy(a * 100 + b)


def ranks(x):
    return np.array([np.sum(x < v) + (np.sum(x == v) + 1) / 2 for v in x])


def rand_index(a, b):
    return np.mean([(a[i] == a[j]) == (b[i] == b[j]) for i, j in PAIRS])


def best_accuracy(preds, target):
    return max(np.mean(np.array(order)[preds] == target) for order in itertools.permutations(range(4)))


IMAGES = random.random((2, 3, 12, 14))
OTHERS = np.clip(IMAGES + 0.1 * random.standard_normal(IMAGES.shape), 0, 1)


def similarity(a, b, size, c1, c2, crop=0):
    """SSIM by windows of equal weights, in one plane, which is reflected at its edges."""
    half = size // 2
    a, b = np.pad(a, half, 'reflect'), np.pad(b, half, 'reflect')
    windows = [(a[y:y + size, x:x + size], b[y:y + size, x:x + size])
               for y in range(crop, a.shape[0] - size + 1 - crop) for x in range(crop, a.shape[1] - size + 1 - crop)]
    return np.mean([(2 * p.mean() * q.mean() + c1) * (2 * np.mean((p - p.mean()) * (q - q.mean())) + c2)
                    / ((p.mean()**2 + q.mean()**2 + c1) * (p.var() + q.var() + c2)) for p, q in windows])


R = lambda x, y: np.corrcoef(x, y)[0, 1]
F1 = np.array([2 * MATRIX[c, c] / (MATRIX[c].sum() + MATRIX[:, c].sum()) for c in range(4)])
CASES = [
    ('accuracy', (P, T), {'task': 'binary'}, (TP + TN) / 40),
    ('precision', (P, T), {'task': 'binary'}, TP / (TP + FP)),
    ('recall', (P, T), {'task': 'binary'}, TP / (TP + FN)),
    ('specificity', (P, T), {'task': 'binary'}, TN / (TN + FP)),
    ('hamming_distance', (P, T), {'task': 'binary'}, (FP + FN) / 40),
    ('stat_scores', (P, T), {'task': 'binary'}, [TP, FP, TN, FN, TP + FN]),
    ('accuracy', (SCORES, CLASSES), {'task': 'multiclass', 'num_classes': 4}, np.trace(MATRIX) / 40),
    ('accuracy', (SCORES, CLASSES), {'task': 'multiclass', 'num_classes': 4, 'top_k': 2},
     np.mean([c in np.argsort(-s)[:2] for s, c in zip(SCORES, CLASSES)])),
    ('f1_score', (SCORES, CLASSES), {'task': 'multiclass', 'num_classes': 4, 'average': 'none'}, F1),
    ('f1_score', (SCORES, CLASSES), {'task': 'multiclass', 'num_classes': 4, 'average': 'weighted'}, F1 @ MATRIX.sum(1) / 40),
    ('confusion_matrix', (SCORES, CLASSES), {'task': 'multiclass', 'num_classes': 4}, MATRIX),
    ('jaccard_index', (P, T), {'task': 'binary'}, TP / (TP + FP + FN)),
    ('matthews_corrcoef', (P, T), {'task': 'binary'}, R(P > 0.5, T)),
    ('cohen_kappa', (P, T), {'task': 'binary'},
     1 - (FP + FN) / (((TP + FN) * (TN + FN) + (TN + FP) * (TP + FP)) / 40)),
    ('auroc', (P, T), {'task': 'binary'}, auroc(P, T)),
    ('auroc', (np.round(P, 1), T), {'task': 'binary'}, auroc(np.round(P, 1), T)),
    ('average_precision', (P, T), {'task': 'binary'}, average_precision(P, T)),
    ('mean_absolute_error', (X, Y), {}, np.abs(X - Y).mean()),
    ('mean_squared_error', (X, Y), {'squared': False}, np.sqrt(np.mean((X - Y)**2))),
    ('mean_absolute_percentage_error', (X, Y), {}, np.mean(np.abs((X - Y) / Y))),
    ('log_cosh_error', (X, Y), {}, np.log(np.cosh(X - Y)).mean()),
    ('r2_score', (X, Y), {}, 1 - np.sum((X - Y)**2) / np.sum((Y - Y.mean())**2)),
    ('explained_variance', (X, Y), {}, 1 - np.var(Y - X) / np.var(Y)),
    ('pearson_corrcoef', (X, Y), {}, R(X, Y)),
    ('spearman_corrcoef', (np.round(X), Y), {}, R(ranks(np.round(X)), ranks(Y))),
    ('kendall_rank_corrcoef', (X, Y), {}, np.mean([np.sign((X[i] - X[j]) * (Y[i] - Y[j])) for i, j in PAIRS])),
    ('concordance_corrcoef', (X, Y), {},
     2 * np.cov(X, Y)[0, 1] / (np.var(X, ddof=1) + np.var(Y, ddof=1) + (X.mean() - Y.mean())**2)),
    ('cosine_similarity', (X.reshape(8, 5), Y.reshape(8, 5)), {'reduction': 'none'},
     [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(X.reshape(8, 5), Y.reshape(8, 5))]),
    ('mutual_info_score', (A, B), {}, information(A, B)),
    ('v_measure_score', (A, B), {}, 2 * information(A, B) / (entropy(A) + entropy(B))),
    ('rand_score', (A, B), {}, rand_index(A, B)),
    ('cluster_accuracy', (A, B), {'num_classes': 4}, best_accuracy(A, B)),
    ('theils_u', (A, B), {}, information(A, B) / entropy(A)),
    ('retrieval_reciprocal_rank', ([0.1, 0.7, 0.5], [1, 0, 0]), {}, 1 / 3),
    ('retrieval_normalized_dcg', ([0.1, 0.7, 0.5], [2, 0, 1]), {},
     (1 / math.log2(3) + 2 / math.log2(4)) / (2 + 1 / math.log2(3))),
    ('signal_noise_ratio', (X, Y), {}, 10 * np.log10(np.sum(Y**2) / np.sum((X - Y)**2))),
    ('dice_score', (A.reshape(1, 5, 8), A.reshape(1, 5, 8)), {'num_classes': 3, 'input_format': 'index'}, [1.0]),
    ('hausdorff_distance', (np.eye(2, 25, 3, dtype=int).reshape(1, 2, 5, 5), np.eye(2, 25, 9, dtype=int).reshape(1, 2, 5, 5)),
     {'num_classes': 2, 'include_background': True}, [[math.hypot(1, 1), math.hypot(2, 4)]]),
    ('peak_signal_noise_ratio', (IMAGES, OTHERS), {'data_range': 1.0}, -10 * np.log10(np.mean((IMAGES - OTHERS)**2))),
    ('structural_similarity_index_measure', (IMAGES, OTHERS), {'gaussian_kernel': False, 'kernel_size': 5, 'data_range': 1.0},
     np.mean([similarity(a, b, 5, 1e-4, 9e-4) for a, b in zip(IMAGES.reshape(6, 12, 14), OTHERS.reshape(6, 12, 14))])),
    ('total_variation', (IMAGES,), {'reduction': 'none'},
     [np.abs(np.diff(i, axis=1)).sum() + np.abs(np.diff(i, axis=2)).sum() for i in IMAGES]),
    ('spectral_angle_mapper', (IMAGES, OTHERS), {},
     np.mean(np.arccos(np.sum(IMAGES * OTHERS, 1) / np.linalg.norm(IMAGES, axis=1) / np.linalg.norm(OTHERS, axis=1)))),
    ('word_error_rate', (['the cat sat'], ['a cat sat down']), {}, 2 / 4),
    ('char_error_rate', ('kitten', 'sitting'), {}, 3 / 7),
    ('edit_distance', ('über', 'uber'), {}, 1),
    ('bleu_score', (['the cat is on the mat'], [['there is a cat on the mat', 'a cat is on the mat']]), {},
     (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3)**0.25),
    ('rouge_score', ('the cat', 'the dog sat'), {'rouge_keys': 'rouge1'},
     {'rouge1_fmeasure': 0.4, 'rouge1_precision': 1 / 2, 'rouge1_recall': 1 / 3}),
    ('translation_edit_rate', (['b c d a'], [['a b c d']]), {}, 1 / 4),  # one move
    ('squad', ({'id': '1', 'prediction_text': 'The Answer!'}, {'id': '1', 'answers': {'text': ['answer']}}), {},
     {'exact_match': 100, 'f1': 100}),
]


@pytest.mark.parametrize('name, inputs, options, wanted', CASES)
def test_functions(name, inputs, options, wanted):
    found = getattr(functional, name)(*inputs, **options)
    if isinstance(wanted, dict):
        assert {k: float(v) for k, v in found.items()} == pytest.approx(wanted)
    else:
        np.testing.assert_allclose(np.asarray(found), wanted, atol=2e-6)  # Spearman's has 1e-6 below it
        assert np.asarray(found).shape == np.shape(wanted)


def test_batches_add_up():
    metric = metrics.F1Score(task='multiclass', num_classes=4, average='macro')
    for i in range(0, 40, 10):
        last = metric(SCORES[i:i + 10], CLASSES[i:i + 10])
    assert float(last) == pytest.approx(float(functional.multiclass_f1_score(SCORES[30:], CLASSES[30:], num_classes=4)))
    assert metric.value() == pytest.approx(F1.mean())


def test_curves_at_thresholds():
    precision, recall, thresholds = functional.binary_precision_recall_curve(P, T, thresholds=[0.25, 0.5])
    np.testing.assert_allclose(precision, [np.mean(T[P >= 0.25]), np.mean(T[P >= 0.5]), 1])
    np.testing.assert_allclose(recall, [np.sum(T[P >= x]) / T.sum() for x in (0.25, 0.5)] + [0])
    x, y, _ = functional.binary_roc(P, T)
    assert np.trapezoid(y, x) == pytest.approx(auroc(P, T))


def test_what_is_ignored():
    target = np.where(np.arange(40) % 3 == 0, -1, T)
    kept = target >= 0
    found = functional.binary_accuracy(P, target, ignore_index=-1)
    assert float(found) == pytest.approx(np.mean((P > 0.5)[kept] == T[kept]))


def test_state_goes_through_a_file(tmp_path):
    metric = metrics.MeanMetric()
    metric.update(saltern.tensor([1.0, 2.0]))
    saltern.save(metric.state_dict(), tmp_path / 'state')
    other = metrics.MeanMetric()
    other.load_state_dict(saltern.load(tmp_path / 'state'))
    other.update(6.0)
    assert other.value() == 3
    copied = copy.deepcopy(other)
    copied.merge_state(metric)
    assert (copied.value(), other.value()) == (12 / 5, 3)
    other.reset()
    assert math.isnan(other.value())


def test_errors_name_metric_and_argument():
    with pytest.raises(ValueError, match="MulticlassAccuracy: 'target'.*0 to 2"):
        metrics.Accuracy(task='multiclass', num_classes=3).update([0, 1], [0, 3])
    with pytest.raises(TypeError, match="MulticlassAccuracy: 'num_classes'"):
        metrics.Accuracy(task='multiclass', average='macro')
    with pytest.raises(ValueError, match="MeanSquaredError: 'target'"):
        metrics.MeanSquaredError().update([1.0, 2.0], [1.0])
    with pytest.raises(TypeError, match="MeanSquaredError has no argument 'square'"):
        metrics.MeanSquaredError(square=True)
    with pytest.raises(ValueError, match="WordErrorRate: 'preds'"):
        metrics.WordErrorRate().update([1], ['a'])


def test_keras():
    metric = keras.BinaryAccuracy(threshold=0.5)
    metric.update_state([[1], [1], [0], [0]], [[0.98], [1], [0], [0.6]])
    assert float(metric.result()) == 0.75
    metric.reset_state()
    metric.update_state([[1], [1], [0], [0]], [[0.98], [1], [0], [0.6]], sample_weight=[1, 0, 0, 1])
    assert float(metric.result()) == 0.5
    assert metric.name == 'binary_accuracy'
    auc = keras.AUC(num_thresholds=3)
    auc.update_state([0, 0, 1, 1], [0, 0.5, 0.3, 0.9])
    assert float(auc.result()) == pytest.approx(0.75)
    crossed = keras.SparseCategoricalCrossentropy()
    crossed.update_state([1, 2], [[0.05, 0.95, 0], [0.1, 0.8, 0.1]])
    assert float(crossed.result()) == pytest.approx(-(math.log(0.95) + math.log(0.1)) / 2, rel=1e-5)
    iou = keras.MeanIoU(num_classes=2)
    iou.update_state([0, 0, 1, 1], [0, 1, 0, 1])
    assert float(iou.result()) == pytest.approx(1 / 3, rel=1e-5)


def test_signatures_are_those_of_rows():
    import inspect
    assert str(inspect.signature(metrics.MeanSquaredError)) == '(squared=True, num_outputs=1)'
    assert list(inspect.signature(functional.accuracy).parameters)[:3] == ['preds', 'target', 'task']


def test_a_fine_image_is_degraded():
    """Means of windows, then lines between pixels: at half the size the means of two by two."""
    fine, coarse, pan = random.random((1, 2, 32, 32)), random.random((1, 2, 16, 16)), random.random((1, 2, 32, 32))
    padded = np.pad(pan, ((0, 0), (0, 0), (3, 3), (3, 3)), 'symmetric')
    means = sum(padded[..., y:y + 32, x:x + 32] for y in range(7) for x in range(7)) / 49
    degraded = means.reshape(1, 2, 16, 2, 16, 2).mean((3, 5))
    for name in ('spatial_distortion_index', 'quality_with_no_reference'):
        function = getattr(functional, name)
        assert float(function(fine, coarse, pan)) == pytest.approx(float(function(fine, coarse, pan, degraded)))


@pytest.mark.parametrize('name', ['BinaryAUROC', 'SpearmanCorrCoef', 'KendallRankCorrCoef', 'RetrievalNormalizedDCG', 'BinaryCalibrationError'])
def test_nan_and_nothing(name):
    for values in ([np.nan, 0.5, np.nan], []):
        metric = getattr(metrics, name)()
        target = np.array([0, 1, 1][:len(values)], np.float32 if 'Corr' in name else np.int64)
        metric.update(np.array(values, np.float32), target)
        assert isinstance(metric.value(), float)
