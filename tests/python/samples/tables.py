import numpy as np

from sample import layer

PLACES = np.array([[0, 2, 6], [5, 2, 1]])
OFFSETS = np.array([0, 2, 2])
LAYERS = [
    layer('Linear', 5, 3, inputs=[(4, 5)]),
    layer('Linear', 5, 1, bias=False, inputs=[(5,)]),
    layer('Linear', 1, 3, inputs=[(2, 3, 1)]),
    layer('Bilinear', 3, 2, 4, inputs=[(5, 3), (5, 2)]),
    layer('Bilinear', 3, 2, 1, bias=False, inputs=[(3,), (2,)]),
    layer('Embedding', 7, 3, inputs=[PLACES]),
    layer('Embedding', 7, 3, inputs=[np.array(4)]),
    layer('EmbeddingBag', 7, 3, inputs=[PLACES]),
    layer('EmbeddingBag', 7, 3, mode='max', inputs=[PLACES.ravel(), OFFSETS]),
    layer('EmbeddingBag', 7, 3, mode='sum', include_last_offset=True, inputs=[PLACES.ravel(), np.array([0, 4, 6])],
          named={'per_sample_weights': (6,)}),
    layer('EmbeddingBag', 7, 3, mode='sum', inputs=[PLACES, None, (2, 3)]),
]
