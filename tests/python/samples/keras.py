"""Layers and losses with Keras' names."""
import numpy as np

from saltern import nn
from sample import layer

X = (3, 4)
BOTH = [X, X]
SIGNS = np.where(np.arange(12).reshape(X) % 3 == 0, 1.0, -1.0)
SHARES = np.linspace(0.1, 0.9, 12).reshape(X)
ONE_HOT = np.eye(4)[[0, 3, 1]]
LABELS = np.array([0, 3, 1])
UNIT = np.array([[0.6, 0.8], [1, 0], [0.8, -0.6], [0, 1.0]])
LAYERS = [
    layer('Add', inputs=[[X, X, (1, 4)]]),
    layer('Multiply', inputs=[[X, X, X]]),
    layer('Maximum', inputs=[[X, X]]),
    layer('Minimum', inputs=[[X, X]]),
    layer('Average', inputs=[[X, X, X]]),
    layer('Subtract', inputs=[[X, X]]),
    layer('Concatenate', inputs=[[X, (3, 2)]]),
    layer('Concatenate', 0, inputs=[[X, (1, 4)]]),
    layer('Dot', 1, inputs=[[X, X]]),
    layer('Dot', (2, 1), normalize=True, inputs=[[(2, 3, 4), (2, 4, 5)]]),
    layer('Rescaling', 0.5, -1.0, inputs=[X]),
    layer('UnitNormalization', inputs=[X]),
    layer('Masking', inputs=[np.array([[[1.0, 2], [0, 0], [3, 0]]])], orders=0, note='a step of zeros is no neighbour of others'),
    layer('Discretization', [-1.0, 0.5], inputs=[X]),
    layer('CategoryEncoding', 5, inputs=[np.array([[0, 3], [3, 3]])]),
    layer('CategoryEncoding', 4, 'one_hot', inputs=[LABELS]),
    layer('CategoryEncoding', 5, 'count', inputs=[np.array([[0, 3], [3, 3]]), (2, 2)]),
    layer('Resizing', 3, 5, inputs=[(1, 2, 4, 3)]),
    layer('Cropping1d', (1, 2), inputs=[(2, 2, 5)]),
    layer('Cropping2d', [(1, 0), (0, 2)], inputs=[(1, 2, 3, 4)]),
    layer('Cropping3d', inputs=[(2, 3, 4, 3)]),
    layer('RepeatVector', 3, inputs=[X]),
    layer('EinsumDense', 'abc,cd->abd', (4, 2), bias_shape=2, inputs=[(2, 3, 4)]),
    layer('EinsumDense', '...x,xyz->...yz', (4, 2, 3), inputs=[X]),
    layer('SeparableConv1d', 2, 3, 3, 2, 1, depth_multiplier=2, inputs=[(2, 2, 7)]),
    layer('SeparableConv2d', 2, 3, (2, 1), bias=False, inputs=[(1, 2, 4, 3)]),
    layer('LocallyConnected1d', 2, 3, 7, 3, 2, 1, inputs=[(2, 2, 7)]),
    layer('LocallyConnected2d', 2, 3, (4, 3), 2, bias=False, inputs=[(2, 4, 3)]),
    layer('ConvLSTM1d', 2, 3, 3, inputs=[(3, 2, 2, 5)]),
    layer('ConvLSTM2d', 1, 2, (2, 3), 2, 1, batch_first=True, inputs=[(2, 2, 1, 4, 3)]),
    layer('ConvLSTM3d', 1, 1, 1, bias=False, inputs=[(2, 1, 1, 1, 2, 1), ((1, 1, 1, 2, 1), (1, 1, 1, 2, 1))]),
    layer('TimeDistributed', nn.Linear(4, 2), inputs=[(2, 3, 4)]),
    layer('Bidirectional', nn.GRU(3, 2), inputs=[(4, 2, 3)]),
    layer('Bidirectional', nn.LSTM(3, 2, batch_first=True), 'mul', inputs=[(2, 4, 3)]),
    layer('StackedRNNCells', [nn.RNNCell(3, 4), nn.GRUCell(4, 2)], inputs=[(2, 3), ((2, 4), (2, 2))]),
    layer('StackedRNNCells', [nn.LSTMCell(3, 4), nn.RNNCell(4, 2)], inputs=[(2, 3)]),
    layer('AdditiveAttention', 3, inputs=[(2, 4, 3), (2, 5, 3), (2, 5, 2)]),
    layer('AdditiveAttention', 3, False, inputs=[(2, 1, 3), (2, 3, 3), (2, 3, 2), np.array([[True, False, True]])]),
    layer('GroupQueryAttention', 4, 4, 2, inputs=[(2, 3, 4)]),
    layer('GroupQueryAttention', 4, 2, 1, 3, bias=False, named={'is_causal': True}, inputs=[(1, 3, 4)]),
    layer('LogCosh', inputs=BOTH),
    layer('MeanSquaredLogarithmicError', inputs=BOTH, low=0.2, high=3),
    layer('MeanAbsolutePercentageError', reduction='sum', inputs=BOTH, low=0.2, high=3),
    layer('Hinge', inputs=[X, SIGNS]),
    layer('SquaredHinge', reduction='none', inputs=[X, SIGNS]),
    layer('Poisson', inputs=BOTH, low=0.2, high=3),
    layer('BinaryFocalCrossentropy', inputs=BOTH, low=0.1, high=0.9),
    layer('BinaryFocalCrossentropy', True, 0.3, 1.5, from_logits=True, label_smoothing=0.1, inputs=[X, SHARES]),
    layer('BinaryCrossentropy', inputs=BOTH, low=0.1, high=0.9),
    layer('BinaryCrossentropy', True, 0.2, inputs=[X, SHARES]),
    layer('CategoricalCrossentropy', inputs=[X, ONE_HOT], low=0.1, high=0.9),
    layer('CategoricalCrossentropy', True, 0.2, reduction='sum', inputs=[X, ONE_HOT]),
    layer('SparseCategoricalCrossentropy', inputs=[X, LABELS], low=0.1, high=0.9),
    layer('SparseCategoricalCrossentropy', True, 3, inputs=[X, LABELS]),
    layer('KLDivergence', inputs=BOTH, low=0.1, high=0.9),
    layer('CosineSimilarityLoss', inputs=BOTH),
    layer('CTC', inputs=[(2, 5, 4), np.array([[1, 3], [2, 0]])]),
    layer('CategoricalHinge', inputs=[X, ONE_HOT]),
    layer('CategoricalFocalCrossentropy', inputs=[X, ONE_HOT], low=0.1, high=0.9),
    layer('CategoricalFocalCrossentropy', gamma=1.5, from_logits=True, label_smoothing=0.2, inputs=[X, ONE_HOT]),
    layer('CategoricalGeneralizedCrossEntropy', 0.3, inputs=[X, LABELS], low=0.1, high=0.9),
    layer('Dice', inputs=BOTH, low=0.1, high=0.9),
    layer('Tversky', 0.3, 0.6, 1, reduction='none', inputs=BOTH, low=0.1, high=0.9),
    layer('Circle', 3.0, 0.3, inputs=[UNIT, np.array([0, 0, 1, 1])]),
]
