from sample import Exactly, layer

# Extents of images for each number of axes: primes, and a 1.
IMAGE = {1: (7,), 2: (5, 4), 3: (3, 1, 4)}
LAYERS = [sample for axes in (1, 2, 3) for sample in (
    layer(f'Conv{axes}d', 2, 3, 1, inputs=[(2, 2, *IMAGE[axes])]),
    layer(f'Conv{axes}d', 2, 4, 2, padding=1, groups=2, bias=False, inputs=[(2, *IMAGE[axes])], note='without N'),
    layer(f'ConvTranspose{axes}d', 2, 3, 2, inputs=[(1, 2, *IMAGE[axes])]),
    layer(f'ConvTranspose{axes}d', 4, 2, 3, 2, 1, 1, 2, inputs=[(4, *IMAGE[axes])], note='without N'),
    layer(f'LazyConv{axes}d', 3, 2, padding=1, inputs=[(1, 2, *IMAGE[axes])]),
    layer(f'LazyConvTranspose{axes}d', 3, 2, inputs=[(1, 2, *IMAGE[axes])]),
)] + [
    layer('Conv1d', 1, 1, 4, padding='same', dilation=2, inputs=[(2, 1, 5)]),
    layer('Conv1d', 1, 2, 3, padding=2, padding_mode='circular', inputs=[(2, 1, 5)]),
    layer('Conv2d', 2, 3, (3, 2), (2, 3), (1, 0), (1, 2), inputs=[(2, 2, 5, 7)]),
    layer('Conv2d', 3, 3, 3, padding='same', groups=3, inputs=[(1, 3, 4, 5)]),
    layer('Conv2d', 1, 2, (3, 2), padding='same', padding_mode='reflect', inputs=[(1, 1, 3, 4)]),
    layer('Conv2d', 1, 2, 3, padding='valid', inputs=[(1, 1, 3, 4)]),
    layer('Conv3d', 1, 2, 2, padding=1, padding_mode='replicate', inputs=[(1, 1, 2, 2, 3)]),
    layer('ConvTranspose2d', 1, 2, 2, (3, 2), named={'output_size': Exactly((8, 5))}, inputs=[(1, 1, 3, 2)]),
    layer('ConvTranspose2d', 2, 1, 2, 1, 1, 1, dilation=2, inputs=[(1, 2, 3, 5)], note='more padding than strides'),
]
