#!/usr/bin/env python3
"""Keras' metrics beside Keras: results of several batches, with and without weights of samples.

    KERAS_BACKEND=torch keras_metrics.py [--filter 'AUC']

Exit 1 where a value differs. Needs Keras and PyTorch: `make torch-metrics` installs them into a venv of its own.
"""
import argparse
import fnmatch
import sys
import warnings

import keras
import numpy as np

import saltern

warnings.filterwarnings('ignore')
random = None  # of each case its own



def reals(*shape):
    return random.random(shape, np.float32)


def bits(*shape):
    return random.integers(0, 2, shape)


def one_hot(*shape):
    return np.eye(shape[-1], dtype=np.float32)[random.integers(0, shape[-1], shape[:-1])]


def chances(*shape):
    x = reals(*shape) + 0.05
    return x / x.sum(-1, keepdims=True)


PAIRS = [lambda: (reals(9, 4), reals(9, 4)), lambda: (reals(9), reals(9)), lambda: (reals(9, 1), reals(9)),
         lambda: (reals(3, 5, 2), reals(3, 5, 2)), lambda: (reals(9, 4), reals(9, 4), reals(9))]
BINARY = [lambda: (bits(9, 4), reals(9, 4)), lambda: (bits(30), reals(30)), lambda: (bits(30, 1), reals(30, 1), reals(30)),
          lambda: (bits(30), np.round(reals(30), 1)), lambda: (np.zeros(9), reals(9)), lambda: (np.ones(9), reals(9))]
ROWS = [lambda: (one_hot(9, 4), chances(9, 4)), lambda: (one_hot(3, 5, 4), chances(3, 5, 4)),
        lambda: (one_hot(9, 4), chances(9, 4), reals(9)), lambda: (one_hot(3, 5, 4), chances(3, 5, 4), reals(3, 5))]
CLASSES = [lambda: (random.integers(0, 4, 9), chances(9, 4)), lambda: (random.integers(0, 4, (9, 1)), chances(9, 4)),
           lambda: (random.integers(0, 4, (3, 5)), chances(3, 5, 4)), lambda: (random.integers(0, 4, 9), chances(9, 4), reals(9))]
LABELS = [lambda: (random.integers(0, 4, 19), random.integers(0, 4, 19)), lambda: (random.integers(0, 2, 19), random.integers(1, 4, 19))]

CASES = [('Mean Sum', {}, [lambda: (reals(9),), lambda: (reals(3, 4),), lambda: (reals(9), reals(9)), lambda: (reals(5, 4), reals(5))])]
CASES += [('Accuracy', {}, LABELS), ('BinaryAccuracy', {}, BINARY), ('BinaryAccuracy', {'threshold': 0.3}, BINARY),
          ('CategoricalAccuracy', {}, ROWS), ('SparseCategoricalAccuracy', {}, CLASSES)]
CASES += [('TopKCategoricalAccuracy', {'k': k}, ROWS) for k in (1, 2)]
CASES += [('SparseTopKCategoricalAccuracy', {'k': k}, [CLASSES[0], *CLASSES[2:]]) for k in (1, 2)]
CASES += [('SparseTopKCategoricalAccuracy', {'k': 2, 'from_sorted_ids': True},
           [lambda: (random.integers(0, 9, 7), random.permuted(np.tile(np.arange(9), (7, 1)), axis=1))])]
CASES += [('MeanAbsoluteError MeanSquaredError RootMeanSquaredError MeanAbsolutePercentageError MeanSquaredLogarithmicError '
           'LogCoshError', {}, PAIRS), ('Poisson', {}, [*PAIRS[:2], *PAIRS[3:]])]
CASES += [('CosineSimilarity PearsonCorrelation ConcordanceCorrelation', {}, [PAIRS[0], *PAIRS[3:]])]
CASES += [('Hinge SquaredHinge', {}, [BINARY[0], lambda: (2 * bits(9, 4) - 1, reals(9, 4))]), ('CategoricalHinge', {}, ROWS)]
CASES += [('BinaryCrossentropy', options, BINARY[:3]) for options in ({}, {'from_logits': True}, {'label_smoothing': 0.1})]
CASES += [('CategoricalCrossentropy', options, ROWS) for options in ({}, {'from_logits': True}, {'label_smoothing': 0.1})]
CASES += [('SparseCategoricalCrossentropy', options, CLASSES) for options in ({}, {'from_logits': True})]
CASES += [('SparseCategoricalCrossentropy', {'ignore_class': 2}, [CLASSES[0], CLASSES[2]])]
CASES += [('KLDivergence', {}, [lambda: (chances(9, 4), chances(9, 4))])]
for thresholds in (None, 0.3, [0.1, 0.5, 0.9]):
    CASES += [('TruePositives FalsePositives TrueNegatives FalseNegatives Precision Recall', {'thresholds': thresholds}, BINARY)]
CASES += [('Precision Recall', options, [ROWS[0]]) for options in ({'top_k': 2}, {'class_id': 1}, {'top_k': 2, 'class_id': 1})]
for name, option in (('PrecisionAtRecall', 'recall'), ('RecallAtPrecision', 'precision'), ('SensitivityAtSpecificity', 'specificity'),
                     ('SpecificityAtSensitivity', 'sensitivity')):
    CASES += [(name, {option: least}, BINARY) for least in (0.0, 0.4, 0.8)]
    CASES += [(name, {option: 0.5, 'num_thresholds': 1}, BINARY), (name, {option: 0.5, 'class_id': 2}, [ROWS[0]])]
for curve in ('ROC', 'PR', 'PRGAIN'):
    for method in ('interpolation', 'minoring', 'majoring'):
        options = {'curve': curve, 'summation_method': method}
        CASES += [('AUC', options, BINARY), ('AUC', {**options, 'thresholds': [0.2, 0.7, 0.4]}, BINARY)]
        CASES += [('AUC', {**options, 'multi_label': True, 'num_labels': 4, **more}, [BINARY[0]])
                  for more in ({}, {'label_weights': [0.1, 0.4, 0.3, 0.2]})]
CASES += [('AUC', {'from_logits': True}, [lambda: (bits(30), random.standard_normal(30).astype(np.float32))])]
for average in (None, 'micro', 'macro', 'weighted'):
    for threshold in (None, 0.4):
        CASES += [('F1Score', {'average': average, 'threshold': threshold}, [ROWS[0], ROWS[2]]),
                  ('FBetaScore', {'average': average, 'threshold': threshold, 'beta': 2.0}, [ROWS[0]])]
CASES += [('BinaryIoU', options, BINARY[:2]) for options in ({}, {'target_class_ids': (1,), 'threshold': 0.3})]
CASES += [('IoU', {'num_classes': 4, 'target_class_ids': (0, 2)}, LABELS), ('MeanIoU', {'num_classes': 4}, LABELS),
          ('MeanIoU', {'num_classes': 4, 'ignore_class': 1}, LABELS), ('OneHotIoU', {'num_classes': 4, 'target_class_ids': (0, 2)}, ROWS[:2]),
          ('OneHotMeanIoU', {'num_classes': 4}, ROWS[:2])]
for how in (None, 'uniform_average', 'variance_weighted_average'):
    CASES += [('R2Score', {'class_aggregation': how}, [PAIRS[0], PAIRS[4]]), ('R2Score', {'class_aggregation': how, 'num_regressors': 2}, [PAIRS[0]])]


def result(metric, batches):
    for values in batches:
        metric.update_state(*values)
    return np.asarray(metric.result(), np.float64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--filter', default='*')
    given = parser.parse_args()
    count = failed = 0
    tried = set()
    for names, options, inputs in CASES:
        for name in names.split():
            tried.add(name)
            for which, make in enumerate(inputs):
                if not fnmatch.fnmatch(name, given.filter):
                    continue
                count += 1
                globals()['random'] = np.random.default_rng(which)
                batches = [make() for _ in range(3)]
                wanted = result(getattr(keras.metrics, name)(**options), batches)
                try:
                    found = result(getattr(saltern.keras.metrics, name)(**options), batches)
                except (TypeError, ValueError) as error:
                    found = str(error)
                if isinstance(found, str) or found.shape != wanted.shape or not np.allclose(found, wanted, rtol=1e-4, atol=2e-5, equal_nan=True):
                    failed += 1
                    print(f'{name} {options} {which}: {found} and {wanted}')
    untried = sorted({row.name[6:] for row in saltern.metrics._metric.rows if row.name.startswith('keras.')} - tried)
    print(f'{count} cases, {failed} differences' + (f'; without a case: {" ".join(untried)}' if untried else ''))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
