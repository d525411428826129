from sample import layer

LAYERS = [
    layer('Dropout', inputs=[(3, 5)]),
    layer('Dropout', 1.0, inputs=[(3, 5)]),
    layer('Dropout1d', 0.3, inputs=[(2, 5, 3)]),
    layer('Dropout2d', 0.4, inputs=[(2, 5, 3, 2)]),
    layer('Dropout3d', inputs=[(5, 2, 1, 3)]),
    layer('AlphaDropout', 0.3, inputs=[(3, 5)]),
    layer('FeatureAlphaDropout', inputs=[(3, 5, 2)]),
    layer('RReLU', inputs=[(3, 5)]),
]
