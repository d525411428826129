from sample import layer

LAYERS = [
    layer('BatchNorm1d', 5, inputs=[(4, 5)]),
    layer('BatchNorm1d', 3, momentum=None, inputs=[(2, 3, 7)]),
    layer('BatchNorm2d', 3, affine=False, inputs=[(2, 3, 3, 2)]),
    layer('BatchNorm2d', 3, bias=False, track_running_stats=False, inputs=[(2, 3, 3, 2)]),
    layer('BatchNorm3d', 2, inputs=[(2, 2, 2, 1, 3)]),
    layer('SyncBatchNorm', 3, inputs=[(4, 3)]),
    layer('InstanceNorm1d', 3, inputs=[(2, 3, 5)]),
    layer('InstanceNorm1d', 3, affine=True, track_running_stats=True, inputs=[(3, 5)]),
    layer('InstanceNorm2d', 3, affine=True, inputs=[(2, 3, 3, 2)]),
    layer('InstanceNorm3d', 2, track_running_stats=True, inputs=[(1, 2, 2, 1, 3)]),
    layer('GroupNorm', 3, 6, inputs=[(2, 6, 5)]),
    layer('GroupNorm', 1, 4, affine=False, inputs=[(2, 4, 3, 2)]),
    layer('GroupNorm', 2, 4, inputs=[(3, 4)]),
    layer('LayerNorm', 5, inputs=[(3, 5)]),
    layer('LayerNorm', (3, 5), bias=False, inputs=[(2, 3, 5)]),
    layer('LayerNorm', 5, elementwise_affine=False, inputs=[(5,)]),
    layer('RMSNorm', 5, inputs=[(3, 5)]),
    layer('RMSNorm', (2, 5), 1e-3, False, inputs=[(3, 2, 5)]),
    layer('LocalResponseNorm', 4, 0.5, inputs=[(2, 7, 3)]),
    layer('CrossMapLRN2d', 3, 0.5, 0.6, 2.0, inputs=[(2, 5, 2, 2)]),
]
