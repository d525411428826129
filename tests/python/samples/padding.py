from sample import layer

# Extents of images, and edges of all kinds, for each number of axes.
IMAGE = {1: (5,), 2: (3, 5), 3: (2, 3, 4)}
EDGES = {1: (2, 1), 2: (2, 1, 0, 2), 3: (1, 0, 2, 1, 0, 1)}
LAYERS = [sample for axes in (1, 2, 3) for sample in (
    layer(f'ConstantPad{axes}d', EDGES[axes], 1.5, inputs=[(2, 1, *IMAGE[axes])]),
    layer(f'ConstantPad{axes}d', (-1, 2), 0.5, inputs=[(2, *IMAGE[axes])], note='cuts off') if axes == 1 else
    layer(f'ConstantPad{axes}d', 1, 0.5, inputs=[(2, *IMAGE[axes])]),
    layer(f'ZeroPad{axes}d', EDGES[axes], inputs=[(2, *IMAGE[axes])]),
    layer(f'ReflectionPad{axes}d', EDGES[axes], inputs=[(2, 1, *IMAGE[axes])]),
    layer(f'ReflectionPad{axes}d', 1, inputs=[(2, *IMAGE[axes])]),
    layer(f'ReplicationPad{axes}d', EDGES[axes], inputs=[(2, 1, *IMAGE[axes])]),
    layer(f'CircularPad{axes}d', EDGES[axes], inputs=[(2, 1, *IMAGE[axes])]),
)] + [layer('ReplicationPad2d', (3, -2, -1, 4), inputs=[(1, 3, 5)])]
