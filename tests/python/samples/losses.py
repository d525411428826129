import numpy as np

from sample import layer

X = (3, 5)
BOTH = [X, X]
SIGNS = np.array([[1, -1, 1, -1, 1], [-1, -1, 1, 1, 1], [1, 1, -1, -1, -1]], np.float64)
WHOLE = SIGNS.astype(np.int64)
SHARES = np.linspace(0.1, 0.9, 15).reshape(X)
WEIGHT = np.linspace(0.5, 1.5, 5).astype(np.float32)
LAYERS = [
    layer('L1Loss', inputs=BOTH),
    layer('L1Loss', reduction='sum', inputs=BOTH),
    layer('MSELoss', inputs=BOTH),
    layer('MSELoss', reduction='none', inputs=[X, (1, 5)]),
    layer('MSELoss', size_average=False, inputs=[(), ()]),
    layer('HuberLoss', delta=0.7, inputs=BOTH),
    layer('SmoothL1Loss', beta=0.4, inputs=BOTH),
    layer('SmoothL1Loss', beta=0.0, inputs=BOTH),
    layer('SoftMarginLoss', inputs=[X, SIGNS]),
    layer('HingeEmbeddingLoss', 0.8, inputs=[X, WHOLE]),
    layer('PoissonNLLLoss', full=True, inputs=[X, X], low=0.2, high=3),
    layer('PoissonNLLLoss', log_input=False, inputs=[X, X], low=0.2, high=3),
    layer('BCELoss', WEIGHT, inputs=BOTH, low=0.1, high=0.9),
    layer('BCEWithLogitsLoss', pos_weight=WEIGHT, inputs=[X, SHARES]),
    layer('BCEWithLogitsLoss', WEIGHT, reduction='none', inputs=[X, X]),
    layer('KLDivLoss', reduction='batchmean', inputs=BOTH, low=0.1, high=0.9),
    layer('KLDivLoss', log_target=True, inputs=BOTH),
    layer('GaussianNLLLoss', full=True, inputs=[X, X, X], low=0.2, high=2),
    layer('GaussianNLLLoss', reduction='none', inputs=[X, X, (3,)], low=0.2, high=2),
    layer('MultiLabelSoftMarginLoss', WEIGHT, inputs=[X, SHARES]),
    layer('MarginRankingLoss', 0.3, inputs=[X, X, SIGNS]),
    layer('CosineEmbeddingLoss', 0.1, inputs=[X, X, WHOLE[0, :3]]),
    layer('CosineEmbeddingLoss', reduction='none', inputs=[(5,), (5,), np.array(1)]),
    layer('TripletMarginLoss', p=3.0, swap=True, inputs=[X, X, X]),
    layer('TripletMarginLoss', reduction='sum', inputs=[X, X, X]),
    layer('TripletMarginWithDistanceLoss', margin=0.4, inputs=[X, X, X]),
    layer('CosineSimilarity', inputs=[X, X]),
    layer('CosineSimilarity', 0, inputs=[(3, 1, 2), (4, 2)]),
    layer('PairwiseDistance', inputs=[X, X]),
    layer('PairwiseDistance', 1.5, keepdim=True, inputs=[X, (5,)]),
    layer('PairwiseDistance', float('inf'), inputs=[X, X]),
]
