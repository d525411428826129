from sample import layer

LAYERS = [
    layer('LazyLinear', 3, inputs=[(4, 5)]),
    layer('LazyLinear', 3, bias=False, inputs=[(5,)]),
    layer('LazyBatchNorm1d', inputs=[(4, 5)]),
    layer('LazyBatchNorm2d', inputs=[(2, 3, 3, 2)]),
    layer('LazyBatchNorm3d', inputs=[(2, 2, 2, 1, 3)]),
    layer('LazyInstanceNorm1d', affine=True, inputs=[(3, 5)]),
    layer('LazyInstanceNorm2d', inputs=[(2, 3, 3, 2)]),
    layer('LazyInstanceNorm3d', inputs=[(1, 2, 2, 1, 3)]),
]
