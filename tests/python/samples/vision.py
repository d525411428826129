import numpy as np

from sample import Exactly, layer

X = (2, 4, 6, 5)
# Inside, at edges, partly outside, and one that is smaller than an element.
REGIONS = (np.array([[0.3, 0.4, 4.1, 4.7], [2.2, 2.1, 2.4, 2.8]]), np.array([[1.2, -1.3, 3.1, 2.9], [-0.7, 3.3, 6.2, 7.4]]))
WHOLE = (np.array([[0.3, 0.4, 4.1, 4.7]]), np.array([[1.2, 1.1, 3.1, 4.9]]))
LAYERS = [
    layer('RoIAlign', 2, 1.0, 2, inputs=[X, REGIONS]),
    layer('RoIAlign', (3, 1), 0.5, 0, aligned=True, inputs=[X, REGIONS]),
    layer('PSRoIAlign', 2, 1.0, -1, inputs=[X, REGIONS]),
    layer('RoIPool', (2, 3), 1.0, inputs=[X, WHOLE]),
    layer('PSRoIPool', (2, 1), 0.9, inputs=[X, WHOLE]),
    layer('DeformConv2d', 2, 3, (2, 3), inputs=[(2, 2, 4, 5), (2, 12, 3, 3)], low=-0.9, high=0.9),
    layer('DeformConv2d', 4, 2, 2, 2, 1, 2, 2, bias=False, inputs=[(1, 4, 5, 4), (1, 16, 3, 2), (1, 8, 3, 2)], low=-0.9,
          high=0.9),
    layer('StochasticDepth', 0.4, 'row', inputs=[(5, 3)]),
    layer('StochasticDepth', 0.4, 'batch', inputs=[(5, 3)]),
    layer('DropBlock2d', 0.3, 3, inputs=[(2, 2, 5, 6)]),
    layer('DropBlock3d', 0.4, 1, inputs=[(1, 2, 3, 2, 2)]),
    layer('GaussianNoise', 0.4, inputs=[(3, 5)]),
    layer('GaussianDropout', 0.4, inputs=[(3, 5)]),
    layer('MLP', 3, [5, 2], inputs=[(4, 3)], activation_layer='Tanh'),
    layer('MLP', 3, [5, 4, 2], norm_layer='LayerNorm', dropout=0.3, bias=False, activation_layer='GELU', inputs=[(4, 3)]),
    layer('Conv2dNormActivation', 2, 3, inputs=[(2, 2, 4, 3)], activation_layer='SiLU'),
    layer('Conv2dNormActivation', 2, 3, 5, 2, dilation=2, norm_layer=None, activation_layer=None, inputs=[(2, 2, 4, 3)]),
    layer('Conv3dNormActivation', 2, 3, (1, 3, 2), activation_layer='Tanh', inputs=[(2, 2, 1, 3, 2)]),
    layer('SqueezeExcitation', 4, 2, activation='SiLU', inputs=[(2, 4, 3, 2)]),
    layer('FrozenBatchNorm2d', 3, inputs=[(2, 3, 2, 1)]),
    layer('Permute', Exactly([2, 0, 1]).value, inputs=[(2, 3, 4)]),
]
