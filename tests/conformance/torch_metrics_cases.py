"""Metrics, options and batches that torch_metrics.py tries."""
import dataclasses

import numpy as np
import torchmetrics.functional.audio

random = np.random.default_rng(3)


@dataclasses.dataclass
class Case:
    name: str
    options: dict
    batches: list
    what: str = ''
    tolerance: float = 2e-5
    theirs: dict = dataclasses.field(default_factory=dict)
    function: bool = True
    forward: bool = True
    refuses_less: bool = False  # what torchmetrics refuses, or fails at, has a value here


CASES = []


def add(names, options, *inputs, **more):
    """A case of each name and each kind of input: a function that gives batches."""
    for name in names.split():
        for make in inputs:
            CASES.append(Case(name, options, make(), make.__name__, **more))


def reals(*shape):
    return random.random(shape, np.float32)


def normals(*shape):
    return random.standard_normal(shape).astype(np.float32)


def classes(count, *shape):
    return random.integers(0, count, shape)


def with_ignored(target, value=-1):
    target = target.copy()
    target[random.random(target.shape) < 0.2] = value
    return target


# ---- Classification.

def binary_scores():
    return [(reals(17), classes(2, 17)) for _ in range(3)]


def binary_logits():
    return [(normals(9, 2, 3), classes(2, 9, 2, 3)) for _ in range(3)]


def binary_labels():
    return [(classes(2, 11, 4), classes(2, 11, 4)) for _ in range(2)]


def binary_ties():
    return [(np.round(reals(40), 1), classes(2, 40)) for _ in range(2)]


def only_negatives():
    return [(reals(7), np.zeros(7, np.int64)) for _ in range(2)]


def only_positives():
    return [(reals(7), np.ones(7, np.int64)) for _ in range(2)]


def all_right():
    return [(np.array([0, 1, 1, 0]), np.array([0, 1, 1, 0])) for _ in range(2)]


def all_wrong():
    return [(np.array([1, 0, 0, 1]), np.array([0, 1, 1, 0])) for _ in range(2)]


def ignored_binary():
    return [(reals(23), with_ignored(classes(2, 23))) for _ in range(2)]


def class_scores():
    return [(normals(21, 5), classes(5, 21)) for _ in range(3)]


def chances(*shape):
    x = np.exp(normals(*shape))
    return (x / x.sum(1, keepdims=True)).astype(np.float32)


def class_chances():
    return [(chances(21, 5), classes(5, 21)) for _ in range(2)]


def class_images():
    return [(normals(4, 5, 6), classes(5, 4, 6)) for _ in range(2)]


def class_labels():
    return [(classes(5, 13, 3), classes(5, 13, 3)) for _ in range(2)]


def few_classes():
    return [(classes(2, 13, 3), classes(3, 13, 3)) for _ in range(2)]


def ignored_classes():
    return [(normals(31, 5), with_ignored(classes(5, 31))) for _ in range(2)]


def label_scores():
    return [(reals(15, 4), classes(2, 15, 4)) for _ in range(2)]


def label_images():
    return [(normals(3, 4, 5), classes(2, 3, 4, 5)) for _ in range(2)]


def ignored_labels():
    return [(reals(25, 4), with_ignored(classes(2, 25, 4))) for _ in range(2)]


def uneven_scores():
    return [(reals(36), (np.arange(36) < 5).astype(np.int64)) for _ in range(3)]


def uneven_classes():
    return [(normals(47, 5), np.repeat(np.arange(5), [3, 7, 11, 9, 17])) for _ in range(3)]


def uneven_labels():
    return [(reals(36, 4), (np.arange(36)[:, None] < np.array([5, 7, 11, 13])).astype(np.int64)) for _ in range(3)]


BY_COUNTS = 'Accuracy HammingDistance Specificity Precision Recall NegativePredictiveValue F1Score FBetaScore StatScores'
for name in BY_COUNTS.split():
    beta = {'beta': 2.0} if name == 'FBetaScore' else {}
    add(f'Binary{name}', beta, binary_scores, binary_logits, binary_labels, only_negatives, only_positives, all_right, all_wrong)
    add(f'Binary{name}', {**beta, 'multidim_average': 'samplewise'}, binary_logits, binary_labels)
    add(f'Binary{name}', {**beta, 'ignore_index': -1, 'threshold': 0.3}, ignored_binary)
    for average in ('micro', 'macro', 'weighted', None):
        options = {**beta, 'num_classes': 5, 'average': average}
        add(f'Multiclass{name}', options, class_scores, class_images, class_labels, few_classes)
        add(f'Multiclass{name}', {**options, 'top_k': 2}, class_scores)
        add(f'Multiclass{name}', {**options, 'multidim_average': 'samplewise'}, class_images, class_labels)
        add(f'Multiclass{name}', {**options, 'ignore_index': -1}, ignored_classes)
        add(f'Multiclass{name}', {**options, 'ignore_index': 2}, class_scores)
        options = {**beta, 'num_labels': 4, 'average': average}
        add(f'Multilabel{name}', options, label_scores, label_images)
        add(f'Multilabel{name}', {**options, 'multidim_average': 'samplewise'}, label_images)
        add(f'Multilabel{name}', {**options, 'ignore_index': -1}, ignored_labels)
    add(name, {'task': 'binary', **beta}, binary_scores)
    add(name, {'task': 'multiclass', 'num_classes': 5, **beta}, class_scores)
    add(name, {'task': 'multilabel', 'num_labels': 4, **beta}, label_scores)

for average in ('global', 'samplewise'):
    add('MulticlassExactMatch', {'num_classes': 5, 'multidim_average': average}, class_images, class_labels, few_classes)
    add('MultilabelExactMatch', {'num_labels': 4, 'multidim_average': average}, label_images)
add('MulticlassExactMatch', {'num_classes': 5, 'ignore_index': -1},
    lambda: [(classes(5, 6, 2), with_ignored(classes(5, 6, 2))) for _ in range(2)])
add('MultilabelExactMatch', {'num_labels': 4, 'ignore_index': -1}, ignored_labels)
add('ExactMatch', {'task': 'multiclass', 'num_classes': 5}, class_labels)

for normalize in (None, 'true', 'pred', 'all'):
    add('BinaryConfusionMatrix', {'normalize': normalize}, binary_scores, only_negatives)
    add('MulticlassConfusionMatrix', {'normalize': normalize, 'num_classes': 5}, class_scores, class_images, few_classes)
    add('MultilabelConfusionMatrix', {'normalize': normalize, 'num_labels': 4}, label_scores, label_images)
add('ConfusionMatrix', {'task': 'multiclass', 'num_classes': 5, 'ignore_index': -1}, ignored_classes)
add('ConfusionMatrix', {'task': 'multilabel', 'num_labels': 4, 'ignore_index': -1}, ignored_labels)
for weights in (None, 'linear', 'quadratic'):
    add('BinaryCohenKappa', {'weights': weights}, binary_scores, binary_labels)
    add('MulticlassCohenKappa', {'weights': weights, 'num_classes': 5}, class_scores, few_classes)
add('CohenKappa', {'task': 'binary'}, binary_scores, only_negatives)
add('BinaryJaccardIndex', {}, binary_scores, only_negatives, only_positives, all_wrong)
for average in ('micro', 'macro', 'weighted', None):
    add('MulticlassJaccardIndex', {'num_classes': 5, 'average': average}, class_scores, class_images, few_classes)
    add('MulticlassJaccardIndex', {'num_classes': 5, 'average': average, 'ignore_index': 1}, class_scores)
    add('MultilabelJaccardIndex', {'num_labels': 4, 'average': average}, label_scores, label_images)
add('JaccardIndex', {'task': 'multiclass', 'num_classes': 5}, class_scores)
add('BinaryMatthewsCorrCoef', {}, binary_scores, binary_labels, only_negatives, only_positives, all_right, all_wrong)
add('BinaryMatthewsCorrCoef', {}, lambda: [(np.array([1, 1, 1, 1]), np.array([0, 1, 1, 0]))],
    lambda: [(np.array([0, 0, 0, 0]), np.array([0, 1, 1, 0]))])
add('MulticlassMatthewsCorrCoef', {'num_classes': 5}, class_scores, few_classes)
add('MultilabelMatthewsCorrCoef', {'num_labels': 4}, label_scores, label_images)
add('MatthewsCorrCoef', {'task': 'multiclass', 'num_classes': 5}, class_scores)

# ---- Curves.

BINARY = [binary_scores, binary_ties, binary_logits, only_negatives, only_positives]
for thresholds in (None, 11, [0.1, 0.35, 0.5, 0.9]):
    t = {'thresholds': thresholds}
    add('BinaryPrecisionRecallCurve BinaryROC BinaryAUROC BinaryAveragePrecision', t, *BINARY)
    # Of equal errors, and of rates that are a bound of the range, rounding chooses: there are none such here.
    add('BinaryEER BinaryLogAUC', t, uneven_scores, only_negatives)
    add('BinaryROC BinaryPrecisionRecallCurve BinaryAUROC', {**t, 'ignore_index': -1}, ignored_binary)
    add('MulticlassPrecisionRecallCurve MulticlassROC', {**t, 'num_classes': 5}, class_scores, class_images)
    add('MulticlassEER', {**t, 'num_classes': 5}, uneven_classes)
    for average in ('micro', 'macro'):
        add('MulticlassPrecisionRecallCurve MulticlassROC', {**t, 'num_classes': 5, 'average': average}, class_scores, refuses_less=True)
    add('MulticlassEER', {**t, 'num_classes': 5, 'average': 'micro'}, class_scores, refuses_less=True)
    add('MultilabelPrecisionRecallCurve MultilabelROC', {**t, 'num_labels': 4}, label_scores, label_images)
    add('MultilabelEER', {**t, 'num_labels': 4}, uneven_labels)
    add('MultilabelPrecisionRecallCurve MultilabelROC MultilabelAUROC', {**t, 'num_labels': 4, 'ignore_index': -1}, ignored_labels)
    # (The weights of classes at given thresholds are those of one threshold there, a slip.)
    for average in ('macro', None) + (('weighted',) if thresholds is None else ()):
        add('MulticlassAUROC MulticlassAveragePrecision MulticlassLogAUC', {**t, 'num_classes': 5, 'average': average}, class_scores,
            refuses_less=True)
        add('MultilabelAUROC MultilabelAveragePrecision MultilabelLogAUC', {**t, 'num_labels': 4, 'average': average}, label_scores,
            refuses_less=True)
    add('MultilabelAUROC MultilabelAveragePrecision', {**t, 'num_labels': 4, 'average': 'micro'}, label_scores)
    for name, option in (('PrecisionAtFixedRecall', 'min_recall'), ('RecallAtFixedPrecision', 'min_precision'),
                         ('SensitivityAtSpecificity', 'min_specificity'), ('SpecificityAtSensitivity', 'min_sensitivity')):
        for least in (0.0, 0.5, 0.9):
            options = {**t, option: least}
            add(f'Binary{name}', options, *BINARY, refuses_less=True)
            add(f'Multiclass{name}', {**options, 'num_classes': 5}, class_scores)
            add(f'Multilabel{name}', {**options, 'num_labels': 4}, label_scores)
        add(name, {'task': 'binary', **options}, binary_scores)
for most in (0.2, 0.5):
    add('BinaryAUROC', {'max_fpr': most}, binary_scores, binary_ties)
for name in 'PrecisionRecallCurve ROC AUROC AveragePrecision EER LogAUC'.split():
    add(name, {'task': 'binary'}, uneven_scores)
    add(name, {'task': 'multiclass', 'num_classes': 5}, uneven_classes)
    add(name, {'task': 'multilabel', 'num_labels': 4}, uneven_labels)

# ---- Numbers as they come.

def number_batches():
    return [(normals(5),) for _ in range(7)]


def numbers_with_nan():
    return [(np.array([1, np.nan, 3], np.float32),) for _ in range(2)]


add('MeanMetric SumMetric MaxMetric MinMetric CatMetric RunningMean RunningSum', {}, number_batches)
add('RunningMean RunningSum', {'window': 3}, number_batches)
add('MeanMetric SumMetric MaxMetric MinMetric CatMetric', {'nan_strategy': 'ignore'}, numbers_with_nan)
add('MeanMetric SumMetric', {'nan_strategy': 2.0}, numbers_with_nan)
add('MeanMetric', {}, lambda: [(normals(5), reals(5)) for _ in range(3)])

# ---- Regression.

def pairs():
    return [(normals(19), normals(19)) for _ in range(3)]


def positive_pairs():
    return [(reals(19) + 0.1, reals(19) + 0.1) for _ in range(3)]


def columns():
    return [(normals(19, 3), normals(19, 3)) for _ in range(3)]


def constants():
    return [(np.full(9, 2, np.float32), np.full(9, 3, np.float32)) for _ in range(2)]


def equal():
    return [(x, x.copy()) for x in (normals(9), normals(9))]


def far_away():
    return [(1000 + normals(50), 1000 + normals(50)) for _ in range(3)]


def tied():
    return [(classes(5, 30).astype(np.float32), classes(4, 30).astype(np.float32)) for _ in range(2)]


add('MeanAbsoluteError MeanSquaredError MeanAbsolutePercentageError SymmetricMeanAbsolutePercentageError LogCoshError '
    'WeightedMeanAbsolutePercentageError ExplainedVariance R2Score RelativeSquaredError NormalizedRootMeanSquaredError '
    'PearsonCorrCoef ConcordanceCorrCoef', {}, pairs, constants, equal, tolerance=1e-4)
add('MeanAbsoluteError MeanSquaredError PearsonCorrCoef ConcordanceCorrCoef SpearmanCorrCoef KendallRankCorrCoef '
    'LogCoshError RelativeSquaredError NormalizedRootMeanSquaredError', {'num_outputs': 3}, columns)
add('PearsonCorrCoef', {}, far_away, tolerance=1e-3)
add('MeanSquaredError', {'squared': False}, pairs)
add('RelativeSquaredError', {'squared': False}, pairs)
add('MeanSquaredLogError', {}, positive_pairs)
add('MinkowskiDistance', {'p': 3}, pairs)
for normalization in ('mean', 'range', 'std', 'l2'):
    add('NormalizedRootMeanSquaredError', {'normalization': normalization}, pairs)
for power in (-0.5, 0.0, 1.0, 1.5, 2.0, 3.0):
    add('TweedieDevianceScore', {'power': power}, positive_pairs, tolerance=1e-4)
for multioutput in ('raw_values', 'uniform_average', 'variance_weighted'):
    add('ExplainedVariance R2Score', {'multioutput': multioutput}, columns)
add('R2Score', {'adjusted': 3}, pairs)
add('SpearmanCorrCoef', {}, pairs, tied)
for variant in 'abc':
    add('KendallRankCorrCoef', {'variant': variant}, pairs, tied)
    for alternative in ('two-sided', 'less', 'greater'):
        add('KendallRankCorrCoef', {'variant': variant, 't_test': True, 'alternative': alternative}, pairs, tied)
for reduction in ('sum', 'mean', None):
    add('CosineSimilarity', {'reduction': reduction}, columns)
    add('KLDivergence JensenShannonDivergence', {'reduction': reduction}, lambda: [(chances(9, 4), chances(9, 4)) for _ in range(2)])
    add('KLDivergence JensenShannonDivergence', {'reduction': reduction, 'log_prob': True},
        lambda: [(np.log(chances(9, 4)), np.log(chances(9, 4))) for _ in range(2)])
add('ContinuousRankedProbabilityScore', {}, lambda: [(normals(9, 5), normals(9)) for _ in range(2)])
add('CriticalSuccessIndex', {'threshold': 0.3}, pairs, constants)
add('CriticalSuccessIndex', {'threshold': 0.3, 'keep_sequence_dim': 1}, columns)

# ---- Margins, ranks, groups.

for norm in ('l1', 'l2', 'max'):
    add('BinaryCalibrationError', {'norm': norm, 'n_bins': 7}, binary_scores, binary_logits, only_negatives)
    add('MulticlassCalibrationError', {'norm': norm, 'num_classes': 5}, class_scores, class_chances, class_images)
add('CalibrationError', {'task': 'binary'}, binary_scores, binary_ties)
for squared in (False, True):
    add('BinaryHingeLoss', {'squared': squared}, binary_scores, binary_logits)
    for mode in ('crammer-singer', 'one-vs-all'):
        add('MulticlassHingeLoss', {'squared': squared, 'multiclass_mode': mode, 'num_classes': 5}, class_scores, class_chances)
add('HingeLoss', {'task': 'multiclass', 'num_classes': 5}, class_scores)
add('MultilabelCoverageError MultilabelRankingAveragePrecision MultilabelRankingLoss', {'num_labels': 4}, label_scores, label_images)


def groups():
    return [(reals(40), classes(2, 40), classes(3, 40)) for _ in range(2)]


add('BinaryGroupStatRates', {'num_groups': 3}, groups, function=False)
for task in ('all', 'demographic_parity', 'equal_opportunity'):
    add('BinaryFairness', {'num_groups': 3, 'task': task}, groups, function=False)

# ---- Clusters and classes.


def clusters():
    return [(classes(4, 30), classes(5, 30)) for _ in range(2)]


def one_cluster():
    return [(np.zeros(9, np.int64), classes(3, 9)) for _ in range(2)]


def same_clusters():
    return [(x, 3 - x) for x in (classes(4, 9), classes(4, 9))]


add('MutualInfoScore RandScore AdjustedRandScore FowlkesMallowsIndex HomogeneityScore CompletenessScore VMeasureScore', {},
    clusters, one_cluster, same_clusters)
add('VMeasureScore', {'beta': 2.0}, clusters)
for method in ('min', 'geometric', 'arithmetic', 'max'):
    add('NormalizedMutualInfoScore AdjustedMutualInfoScore', {'average_method': method}, clusters, tolerance=1e-3)


def places():
    return [(normals(20, 3), classes(4, 20)) for _ in range(2)]


add('CalinskiHarabaszScore DaviesBouldinScore DunnIndex', {}, places)
add('DunnIndex', {'p': 1}, places)


def nominal_pairs():
    return [(classes(4, 50), classes(4, 50)) for _ in range(2)]


def nominal_two():
    return [(classes(2, 50), classes(2, 50)) for _ in range(2)]


for correction in (True, False):
    add('CramersV TschuprowsT', {'num_classes': 4, 'bias_correction': correction}, nominal_pairs)
    add('CramersV TschuprowsT', {'num_classes': 4, 'bias_correction': correction}, nominal_two, function=False)
add('PearsonsContingencyCoefficient TheilsU', {'num_classes': 4}, nominal_pairs, nominal_two)
add('TheilsU CramersV', {'num_classes': 4, 'nan_strategy': 'drop'}, lambda: [(np.array([0, 1, np.nan, 3, 1, 2, 0], np.float32),
                                                                            np.array([1, 1, 2, 3, 0, np.nan, 0], np.float32))], function=False, tolerance=1e-3)
add('FleissKappa', {}, lambda: [(random.multinomial(7, [0.2, 0.3, 0.5], 12),) for _ in range(2)])
add('FleissKappa', {'mode': 'probs'}, lambda: [(reals(12, 5, 5),) for _ in range(2)])

# ---- Retrieval.


def searches():
    return [(reals(40), classes(2, 40), classes(6, 40)) for _ in range(2)]


def poor_searches():
    return [(reals(40), (random.random(40) < 0.1).astype(np.int64), classes(9, 40)) for _ in range(2)]


RETRIEVAL = 'MAP MRR HitRate Recall Precision RPrecision FallOut NormalizedDCG AUROC PrecisionRecallCurve RecallAtFixedPrecision'
for name in RETRIEVAL.split():
    for action in ('neg', 'pos', 'skip'):
        add(f'Retrieval{name}', {'empty_target_action': action}, searches, poor_searches, function=False)
    for aggregation in ('median', 'max'):
        add(f'Retrieval{name}', {'aggregation': aggregation}, searches, function=False)
    add(f'Retrieval{name}', {}, lambda: [(reals(9), np.array([0, 1, 1, 0, 0, 1, 0, 0, 1]), np.zeros(9, np.int64))], function=False)
for k in (1, 3, 20):
    add('RetrievalMAP RetrievalHitRate RetrievalRecall RetrievalPrecision RetrievalFallOut RetrievalNormalizedDCG RetrievalAUROC',
        {'top_k': k}, searches, poor_searches, function=False)
    add('RetrievalPrecision', {'top_k': k, 'adaptive_k': True}, searches, function=False)
    add('RetrievalPrecisionRecallCurve', {'max_k': k, 'adaptive_k': True}, searches, function=False)
    add('RetrievalRecallAtFixedPrecision', {'max_k': k, 'min_precision': 0.4}, searches, function=False)
add('RetrievalNormalizedDCG', {}, lambda: [(np.round(reals(40), 1), classes(5, 40), classes(4, 40)) for _ in range(2)], function=False)
add('RetrievalMAP', {'ignore_index': -1}, lambda: [(reals(40), with_ignored(classes(2, 40)), classes(4, 40)) for _ in range(2)],
    function=False)

# ---- Texts.

PARTS = '''the cat sat on a mat . dogs, that bark; 3.5 times "loudly" do not bite! Mr. Smith said e.g. hello - 12-3 (or so) it's über fine'''.split()


def sentence(length):
    return ' '.join(random.choice(PARTS, length))


def near(text):
    """The same with some words changed, left out or moved."""
    found = [w if random.random() < 0.8 else random.choice(PARTS) for w in text.split() if random.random() < 0.9]
    cut = random.integers(0, len(found) + 1)
    return ' '.join(found[cut:] + found[:cut]) if random.random() < 0.5 else ' '.join(found)


def text_pairs():
    targets = [[sentence(n) for n in (3, 7, 12)] for _ in range(2)]
    return [([near(t) for t in batch], batch) for batch in targets]


def equal_texts():
    return [(['the cat sat on the mat today'], ['the cat sat on the mat today'])]


def other_texts():
    return [(['a b c d e'], ['f g h i j k'])]


def text_references():
    targets = [[[sentence(n), sentence(n + 2)] for n in (5, 9, 14)] for _ in range(2)]
    return [([near(t[0]) for t in batch], batch) for batch in targets]


add('WordErrorRate CharErrorRate MatchErrorRate WordInfoPreserved WordInfoLost', {}, text_pairs, equal_texts, other_texts)
for reduction in ('mean', 'sum', None):
    add('EditDistance', {'reduction': reduction, 'substitution_cost': 2}, equal_texts, other_texts, text_pairs)
add('ExtendedEditDistance', {}, text_pairs, text_references, equal_texts)
add('ExtendedEditDistance CHRFScore TranslationEditRate', {'return_sentence_level_score': True}, text_references, forward=False,
    function=False)
for options in ({}, {'n_gram': 2}, {'smooth': True}, {'n_gram': 2, 'weights': [0.3, 0.7]}):
    add('BLEUScore', options, text_references, equal_references := lambda: [(['the cat sat on the mat'], [['the cat sat on the mat']])])
    add('SacreBLEUScore', options, text_references)
for tokenize in ('none', '13a', 'char'):
    add('SacreBLEUScore', {'tokenize': tokenize, 'lowercase': True}, text_references)
add('CHRFScore', {}, text_pairs, text_references, equal_texts, other_texts)
add('CHRFScore', {'n_word_order': 0, 'lowercase': True, 'whitespace': True, 'beta': 3.0}, text_references)
add('TranslationEditRate', {}, text_pairs, text_references, equal_texts, other_texts)
add('TranslationEditRate', {'normalize': True, 'no_punctuation': True}, text_references)
KEYS = ('rouge1', 'rouge2', 'rouge3', 'rougeL')  # sentences are found otherwise, with a trained model
for accumulate in ('best', 'avg'):
    add('ROUGEScore', {'rouge_keys': KEYS, 'accumulate': accumulate}, text_pairs, text_references, other_texts)


def answers():
    def batch():
        texts = [sentence(4) for _ in range(4)]
        preds = [{'id': str(i), 'prediction_text': near(t)} for i, t in enumerate(texts[:3])]
        return preds, [{'id': str(i), 'answers': {'answer_start': [1, 2], 'text': [t, sentence(2)]}} for i, t in enumerate(texts)]
    return [batch() for _ in range(2)]


add('SQuAD', {}, answers)
add('Perplexity', {}, lambda: [(normals(2, 5, 7), classes(7, 2, 5)) for _ in range(2)])
add('Perplexity', {'ignore_index': -100}, lambda: [(normals(2, 5, 7), with_ignored(classes(7, 2, 5), -100)) for _ in range(2)])

# ---- Sounds.


def signals():
    return [(x + 0.3 * normals(2, 3, 60), x) for x in (normals(2, 3, 60), normals(2, 3, 60))]


def exact_signals():
    return [(x, x.copy()) for x in (normals(2, 60), normals(2, 60))]


for zero_mean in (False, True):
    add('SignalNoiseRatio ScaleInvariantSignalDistortionRatio', {'zero_mean': zero_mean}, signals)
    add('ComplexScaleInvariantSignalNoiseRatio', {'zero_mean': zero_mean}, lambda: [(normals(2, 5, 6, 2), normals(2, 5, 6, 2)) for _ in range(2)])
    for invariant in (False, True):
        add('SourceAggregatedSignalDistortionRatio', {'zero_mean': zero_mean, 'scale_invariant': invariant}, signals)
    for diagonal in (None, 1e-3):
        add('SignalDistortionRatio', {'zero_mean': zero_mean, 'filter_length': 8, 'load_diag': diagonal}, signals)
add('SignalDistortionRatio', {}, lambda: [(normals(2, 900), normals(2, 900)) for _ in range(2)], tolerance=1e-3)
add('ScaleInvariantSignalNoiseRatio', {}, signals)
add('SignalNoiseRatio', {}, exact_signals, tolerance=1e-3)

# ---- Pixels and points.


def one_hots():
    return [tuple(np.eye(4, dtype=np.int64)[classes(4, 3, 6, 5)].transpose(0, 3, 1, 2) for _ in range(2)) for _ in range(2)]


def indexes():
    return [(classes(4, 3, 6, 5), classes(4, 3, 6, 5)) for _ in range(2)]


def square_indexes():
    return [(classes(4, 3, 7, 7), classes(4, 3, 7, 7)) for _ in range(2)]


def few_indexes():
    return [(classes(2, 3, 6, 5), classes(2, 3, 6, 5)) for _ in range(2)]


def mixed():
    return [(np.eye(4, dtype=np.int64)[classes(4, 3, 6, 5)].transpose(0, 3, 1, 2), classes(4, 3, 6, 5)) for _ in range(2)]


for background in (True, False):
    options = {'num_classes': 4, 'include_background': background}
    for average in ('micro', 'macro', 'weighted', None):
        for level in ('samplewise', 'global'):
            more = {**options, 'average': average, 'aggregation_level': level}
            add('DiceScore', more, one_hots)
            add('DiceScore', {**more, 'input_format': 'index'}, few_indexes, indexes)
    for per_class in (False, True):
        more = {**options, 'per_class': per_class}
        add('MeanIoU GeneralizedDiceScore', more, one_hots)
        add('MeanIoU GeneralizedDiceScore', {**more, 'input_format': 'index'}, indexes)
        add('MeanIoU', {**more, 'input_format': 'index'}, few_indexes)
        add('MeanIoU GeneralizedDiceScore', {**more, 'input_format': 'mixed'}, mixed)
        for weights in ('square', 'simple', 'linear'):
            add('GeneralizedDiceScore', {**more, 'weight_type': weights}, one_hots)
    for metric in ('euclidean', 'chessboard', 'taxicab'):
        for directed in (False, True):
            add('HausdorffDistance', {**options, 'distance_metric': metric, 'directed': directed, 'input_format': 'index'}, square_indexes)
add('HausdorffDistance', {'num_classes': 4, 'spacing': [2, 3]}, one_hots, refuses_less=True)
for reduction in ('mean', 'sum'):
    add('ProcrustesDisparity', {'reduction': reduction}, lambda: [(normals(3, 10, 4), normals(3, 10, 4)) for _ in range(2)])
add('LipVertexError', {'mouth_map': [1, 3, 4]}, lambda: [(normals(6, 8, 3), normals(7, 8, 3)) for _ in range(2)])


def panoptic():
    return [tuple(np.stack([classes(5, 2, 6, 6), classes(2, 2, 6, 6)], -1) // 1 * np.array([1, 1]) for _ in range(2)) for _ in range(2)]


def near_panoptic():
    def pair():
        target = np.kron(np.stack([classes(5, 2, 3, 3), classes(2, 2, 3, 3)], -1), np.ones((1, 3, 3, 1), np.int64))
        return np.where(random.random(target.shape[:3] + (1,)) < 0.1, np.array([1, 0]), target), target
    return [pair() for _ in range(2)]


for rest in ({}, {'return_sq_and_rq': True}, {'return_per_class': True}, {'return_sq_and_rq': True, 'return_per_class': True}):
    add('PanopticQuality', {'things': {0, 1}, 'stuffs': {3, 4}, 'allow_unknown_preds_category': True, **rest}, panoptic, near_panoptic,
        function=False)
add('ModifiedPanopticQuality', {'things': {0, 1}, 'stuffs': {3, 4}, 'allow_unknown_preds_category': True}, panoptic, near_panoptic)
for mode in ('speaker-wise', 'permutation-wise'):
    for best, function in (('max', 'scale_invariant_signal_noise_ratio'), ('min', 'signal_noise_ratio')):
        add('PermutationInvariantTraining', {'metric_func': function, 'mode': mode, 'eval_func': best}, signals,
            theirs={'metric_func': getattr(torchmetrics.functional.audio, function)}, function=False)

# ---- Images.


def pictures(*shape):
    return lambda: [(x, np.clip(x + 0.1 * normals(*shape), 0.01, 1)) for x in (reals(*shape), reals(*shape))]


def plain_pictures():
    return [(np.full((2, 2, 16, 16), 0.5, np.float32), np.full((2, 2, 16, 16), 0.25, np.float32))]


small, grey, large, deep = pictures(3, 2, 16, 20), pictures(2, 1, 24, 16), pictures(2, 2, 48, 44), pictures(2, 1, 14, 14, 14)
add('PeakSignalNoiseRatio', {'data_range': 1.0}, small, plain_pictures)
add('PeakSignalNoiseRatio', {'data_range': (0.2, 0.8), 'base': 2.0}, small)
for reduction in ('elementwise_mean', 'sum', 'none'):
    add('PeakSignalNoiseRatio', {'data_range': 1.0, 'dim': (1, 2, 3), 'reduction': reduction}, small)
    add('SpectralAngleMapper ErrorRelativeGlobalDimensionlessSynthesis', {'reduction': reduction}, small, tolerance=1e-3)
    add('UniversalImageQualityIndex', {'reduction': reduction}, small, tolerance=1e-3)
    for options in ({}, {'data_range': 1.0}, {'data_range': (0.2, 0.8)}, {'gaussian_kernel': False, 'kernel_size': 5}):
        add('StructuralSimilarityIndexMeasure', {**options, 'reduction': reduction}, small, deep, tolerance=1e-4)
    add('StructuralSimilarityIndexMeasure', {'sigma': 0.8, 'reduction': reduction}, small, tolerance=1e-4)
add('StructuralSimilarityIndexMeasure', {'data_range': 1.0}, plain_pictures, tolerance=1e-4)
for normalize in ('relu', 'simple', None):
    add('MultiScaleStructuralSimilarityIndexMeasure', {'normalize': normalize, 'betas': (0.3, 0.3, 0.4), 'sigma': 0.8, 'kernel_size': 5},
        large, tolerance=1e-4)
for reduction in ('mean', 'sum', None):
    add('TotalVariation', {'reduction': reduction}, lambda: [(reals(3, 2, 9, 8),) for _ in range(2)])
for reduction in ('mean', 'none'):
    add('VisualInformationFidelity', {'reduction': reduction}, large, tolerance=1e-3)
add('PeakSignalNoiseRatioWithBlockedEffect', {'data_range': 1.0}, grey)
for window in (8, 5):
    add('RootMeanSquaredErrorUsingSlidingWindow RelativeAverageSpectralError', {'window_size': window}, small, tolerance=1e-4)
    add('SpatialCorrelationCoefficient', {'window_size': window}, small, tolerance=1e-3)
for p in (1, 2):
    add('SpectralDistortionIndex', {'p': p}, pictures(2, 3, 16, 16), tolerance=1e-3)


def sharpened():
    return [(reals(2, 3, 32, 32), {'ms': reals(2, 3, 16, 16), 'pan': reals(2, 3, 32, 32), 'pan_lr': reals(2, 3, 16, 16)}) for _ in range(2)]


add('SpatialDistortionIndex QualityWithNoReference', {}, sharpened, tolerance=1e-3, function=False)
add('SpatialDistortionIndex QualityWithNoReference', {'norm_order': 2}, sharpened, tolerance=1e-3, function=False)
