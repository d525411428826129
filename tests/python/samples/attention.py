import numpy as np
from sample import layer

import saltern

Q, K = (3, 2, 4), (5, 2, 4)
HIDDEN = np.array([[False, False, True, False, False], [False, True, False, False, True]])
CAUSAL = np.triu(np.full((3, 3), -np.inf), 1).astype(np.float64)
SIZES = (4, 2, 6, 0.0)
LAYERS = [
    layer('MultiheadAttention', 4, 2, inputs=[Q, K, K]),
    layer('MultiheadAttention', 4, 2, kdim=3, vdim=5, batch_first=True, inputs=[(2, 3, 4), (2, 5, 3), (2, 5, 5)]),
    layer('MultiheadAttention', 4, 2, bias=False, add_bias_kv=True, add_zero_attn=True,
          inputs=[Q, K, K, HIDDEN], named={'average_attn_weights': False}),
    layer('MultiheadAttention', 4, 1, inputs=[(3, 4), (5, 4), (5, 4)], named={'need_weights': False}),
    layer('TransformerEncoderLayer', *SIZES, inputs=[Q]),
    layer('TransformerEncoderLayer', *SIZES, 'gelu', norm_first=True, bias=False, inputs=[(3, 4)]),
    layer('TransformerDecoderLayer', *SIZES, 'gelu', inputs=[Q, K], named={'memory_key_padding_mask': HIDDEN}),
    layer('TransformerEncoder', saltern.nn.TransformerEncoderLayer(*SIZES, 'gelu'), 2, inputs=[Q]),
    layer('TransformerDecoder', saltern.nn.TransformerDecoderLayer(*SIZES, 'gelu'), 2, inputs=[Q, K]),
    layer('Transformer', 4, 2, 1, 1, 6, 0.0, 'gelu', inputs=[Q, Q]),
]
