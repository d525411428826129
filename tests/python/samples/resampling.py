from sample import layer

LAYERS = [
    layer('Upsample', (3, 11), inputs=[(1, 2, 5, 7)]),
    layer('Upsample', scale_factor=2, inputs=[(2, 1, 5)]),
    layer('Upsample', scale_factor=1.7, mode='nearest-exact', inputs=[(1, 1, 2, 3, 5)]),
    layer('Upsample', scale_factor=(0.6, 2.5), mode='bilinear', inputs=[(1, 2, 5, 7)]),
    layer('Upsample', 1, mode='linear', align_corners=True, inputs=[(1, 2, 5)]),
    layer('Upsample', (3, 5, 1), mode='trilinear', inputs=[(1, 1, 2, 3, 5)]),
    layer('Upsample', (3, 9), mode='bicubic', align_corners=True, inputs=[(1, 1, 5, 7)]),
    layer('Upsample', 4, mode='area', inputs=[(1, 1, 5, 7)]),
    layer('UpsamplingBilinear2d', scale_factor=2, inputs=[(1, 2, 3, 1)]),
    layer('UpsamplingNearest2d', (4, 7), inputs=[(1, 2, 3, 5)]),
]
