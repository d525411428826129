from sample import layer

LAYERS = [
    layer('ChannelShuffle', 3, inputs=[(2, 6, 5)]),
    layer('Flatten', inputs=[(2, 3, 5)]),
    layer('Flatten', 0, 1, inputs=[(2, 3, 5)]),
    layer('Fold', (4, 5), (2, 3), inputs=[(2, 6, 9)]),
    layer('Fold', 5, 2, 2, 1, 3, inputs=[(4, 4)], note='without N'),
    layer('PixelShuffle', 3, inputs=[(2, 9, 1, 2)]),
    layer('PixelUnshuffle', 2, inputs=[(2, 1, 3, 4, 6)]),
    layer('Unflatten', 1, (3, -1), inputs=[(2, 6)]),
    layer('Unfold', (2, 3), inputs=[(2, 1, 4, 5)]),
    layer('Unfold', 2, (2, 1), 1, 2, inputs=[(3, 5, 4)], note='without N'),
]
