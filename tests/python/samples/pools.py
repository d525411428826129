import numpy as np

from sample import Exactly, layer

# Extents of images for each number of axes.
IMAGE = {1: (7,), 2: (5, 7), 3: (3, 5, 4)}


def indices(shape, elements):
    """Places for max_unpool, no two of a channel the same."""
    random = np.random.default_rng(1)
    count = int(np.prod(shape[2:]))
    rows = [random.permutation(elements)[:count] for _ in range(shape[0] * shape[1])]
    return np.array(rows, dtype=np.int64).reshape(shape)


LAYERS = [sample for axes in (1, 2, 3) for sample in (
    layer(f'MaxPool{axes}d', 2, inputs=[(2, 3, *IMAGE[axes])]),
    layer(f'MaxPool{axes}d', 3, 2, 1, return_indices=True, ceil_mode=True, inputs=[(2, *IMAGE[axes])]),
    layer(f'AvgPool{axes}d', 2, inputs=[(2, 3, *IMAGE[axes])]),
    layer(f'AvgPool{axes}d', 3, 2, 1, True, False, inputs=[(2, *IMAGE[axes])]),
    layer(f'AvgPool{axes}d', 3, 2, 1, True, inputs=[(1, 1, *IMAGE[axes])]),
    layer(f'LPPool{axes}d', 2, 2, inputs=[(2, 1, *IMAGE[axes])], low=0.5),
    layer(f'LPPool{axes}d', 1.5, 3, 2, True, inputs=[(2, *IMAGE[axes])], low=0.5),
    layer(f'AdaptiveAvgPool{axes}d', 3, inputs=[(2, 1, *IMAGE[axes])]),
    layer(f'AdaptiveAvgPool{axes}d', 1, inputs=[(2, *IMAGE[axes])]),
    layer(f'AdaptiveMaxPool{axes}d', 3, True, inputs=[(2, 1, *IMAGE[axes])]),
)] + [
    layer('MaxPool1d', 2, 1, 0, 2, inputs=[(2, 7)], note='a dilation'),
    layer('MaxPool2d', (2, 3), (2, 1), (1, 0), (1, 2), inputs=[(1, 2, 5, 7)]),
    layer('AvgPool2d', 2, divisor_override=3, inputs=[(1, 2, 5, 7)]),
    layer('AdaptiveAvgPool2d', (None, 5), inputs=[(1, 2, 3, 7)]),
    layer('AdaptiveAvgPool2d', 2, inputs=[(1, 2, 4, 6)], note='even windows'),
    layer('AdaptiveMaxPool2d', (None, 9), inputs=[(1, 2, 3, 7)], note='more than there are'),
    layer('FractionalMaxPool2d', 2, output_size=(3, 4), return_indices=True, inputs=[(2, 3, 5, 7)]),
    layer('FractionalMaxPool2d', 2, output_ratio=0.6, inputs=[(3, 5, 7)]),
    layer('FractionalMaxPool3d', (2, 1, 2), output_ratio=(0.5, 0.6, 0.7), inputs=[(1, 2, 5, 5, 6)],
          _random_samples=np.full((1, 2, 3), 0.4)),
    layer('MaxUnpool1d', 2, inputs=[(2, 3, 3), indices((2, 3, 3), 6)]),
    layer('MaxUnpool2d', 2, inputs=[(2, 3, 2, 3), indices((2, 3, 2, 3), 24)]),
    layer('MaxUnpool2d', 2, inputs=[(1, 2, 1, 2), np.zeros((1, 2, 1, 2), np.int64)], note='one place',
          named={'output_size': Exactly((3, 5))}),
    layer('MaxUnpool3d', 3, 2, 1, inputs=[(1, 2, 2, 1, 2), indices((1, 2, 2, 1, 2), 9)]),
]
