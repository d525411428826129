import numpy as np

import saltern
from sample import layer

X = (4, 3)
IMAGE = (2, 3, 2, 1)
LABELS = np.array([0, 2, 1, 2])
PIXELS = np.array([[[0], [2]], [[1], [-100]]])
WEIGHT = np.array([0.5, 1.5, 0.8], np.float32)
SEVERAL = np.array([[0, 2, -1], [1, -1, 0], [-1, 0, 1], [2, 1, 0]])
SHARES = np.random.default_rng(0).dirichlet([1, 1, 1], 4)
TIMES, LENGTHS = np.array([5, 4]), np.array([2, 1])
LAYERS = [
    layer('NLLLoss', inputs=[X, LABELS]),
    layer('NLLLoss', WEIGHT, ignore_index=1, reduction='sum', inputs=[X, LABELS]),
    layer('NLLLoss', inputs=[(3,), np.array(2)]),
    layer('NLLLoss2d', WEIGHT, reduction='none', inputs=[IMAGE, PIXELS]),
    layer('CrossEntropyLoss', inputs=[X, LABELS]),
    layer('CrossEntropyLoss', reduction='sum', ignore_index=2, inputs=[X, LABELS]),
    layer('CrossEntropyLoss', WEIGHT, label_smoothing=0.2, inputs=[IMAGE, PIXELS]),
    layer('CrossEntropyLoss', label_smoothing=0.1, inputs=[(3,), np.array(1)]),
    layer('CrossEntropyLoss', WEIGHT, label_smoothing=0.1, inputs=[X, SHARES]),
    layer('CrossEntropyLoss', reduction='none', inputs=[X, X]),
    layer('LinearCrossEntropyLoss', 5, 3, options=saltern.nn.LinearCrossEntropyOptions(batch_chunk_size=2),
          inputs=[(4, 5), LABELS]),
    layer('LinearCrossEntropyLoss', 5, 3, bias=True, inputs=[(4, 5), LABELS]),
    layer('LinearCrossEntropyLoss', 5, 3, out_features=(2, 1), weight=WEIGHT, inputs=[(2, 5), PIXELS]),
    layer('MultiMarginLoss', weight=WEIGHT, inputs=[X, LABELS]),
    layer('MultiMarginLoss', p=2, margin=0.6, reduction='none', inputs=[X, LABELS]),
    layer('MultiMarginLoss', inputs=[(3,), np.array(2)]),
    layer('MultiLabelMarginLoss', inputs=[X, SEVERAL]),
    layer('MultiLabelMarginLoss', reduction='none', inputs=[(3,), SEVERAL[0]]),
    layer('CTCLoss', inputs=[(5, 2, 4), np.array([[1, 1], [3, 2]]), TIMES, LENGTHS]),
    layer('CTCLoss', blank=3, reduction='none', inputs=[(5, 2, 4), np.array([1, 2, 0]), TIMES, LENGTHS]),
    layer('CTCLoss', reduction='sum', zero_infinity=True,
          inputs=[(5, 2, 4), np.array([[1, 1], [3, 2]]), np.array([2, 4]), LENGTHS]),
    layer('CTCLoss', inputs=[(3, 4), np.array([2]), np.array(3), np.array(1)]),
    layer('AdaptiveLogSoftmaxWithLoss', 8, 7, [2, 4], div_value=2.0, head_bias=True,
          inputs=[(5, 8), np.array([0, 6, 3, 1, 4])]),
]
