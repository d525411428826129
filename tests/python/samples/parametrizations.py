import numpy as np

from sample import layer

# Singular values far from each other: a step finds the greatest from wherever the last one was.
MATRIX = np.diag([3, 1, 0.5, 0.2])[:, :3] + 0.01 * np.arange(12).reshape(4, 3)
LAYERS = [
    layer('_WeightNorm', inputs=[(4, 1, 1), (4, 3, 2)]),
    layer('_WeightNorm', 1, inputs=[(1, 3), (4, 3)]),
    layer('_WeightNorm', -1, inputs=[(), (4, 3)]),
    layer('_SpectralNorm', MATRIX.astype(np.float32), n_power_iterations=9, inputs=[MATRIX], orders=1,
          note='its vectors are no part of gradients, as in PyTorch'),
    layer('_SpectralNorm', np.ones(3, np.float32), inputs=[(3,)]),
]
