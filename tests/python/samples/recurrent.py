import numpy as np

from sample import layer

X, ONE = (4, 2, 3), (4, 3)
LAYERS = [
    layer('RNN', 3, 5, inputs=[X]),
    layer('RNN', 3, 5, nonlinearity='relu', bidirectional=True, inputs=[X]),
    layer('GRU', 3, 5, 2, inputs=[X, (2, 2, 5)]),
    layer('GRU', 3, 5, batch_first=True, bias=False, inputs=[X]),
    layer('LSTM', 3, 5, 2, bidirectional=True, inputs=[X]),
    layer('LSTM', 3, 5, proj_size=2, inputs=[X, ((1, 2, 2), (1, 2, 5))]),
    layer('LSTM', 3, 1, inputs=[ONE]),
    layer('RNNCell', 3, 5, inputs=[(2, 3), (2, 5)]),
    layer('GRUCell', 3, 5, inputs=[(2, 3), (2, 5)]),
    layer('LSTMCell', 3, 5, inputs=[(2, 3), ((2, 5), (2, 5))]),
    layer('LSTMCell', 3, 5, bias=False, inputs=[(3,)]),
]
