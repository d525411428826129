"""Attention in its forms, and rotations."""
import numpy

from microsoft.node import Node, integers, number, reals

I8, U8, I32, I64 = numpy.int8, numpy.uint8, numpy.int32, numpy.int64
BATCH, LENGTH, HEADS, SIZE = 2, 3, 2, 4
WIDTH = HEADS * SIZE


def attention(mask=None, past=0, bias=None, outputs=1, weights=True, **options):
    given = dict(x=reals(BATCH, LENGTH, 6), w=reals(6, 3 * WIDTH), b=reals(3 * WIDTH), mask=mask,
                 past=reals(2, BATCH, HEADS, past, SIZE) if past else None, bias=bias)
    while list(given.values())[-1] is None:
        given.popitem()
    return Node("Attention", given, ["w", "b"], outputs, num_heads=HEADS, **options)


def several(outputs=1, **given):
    order = ["query", "key", "value", "bias", "mask", "scores", "past_key", "past_value"]
    arrays = {name: given.pop(name, None) for name in order}
    while list(arrays.values())[-1] is None:
        arrays.popitem()
    return Node("MultiHeadAttention", arrays, [], outputs, num_heads=HEADS, **given)


def grouped(lengths, total, length, kept=0, packed=False, rotary=False, heads=4, kv_heads=2, size=16, **options):
    """A GroupQueryAttention; lengths of all keys of each sequence."""
    batch = len(lengths)
    query = reals(batch, length, (heads + 2 * kv_heads if packed else heads) * size)
    keys = None if packed else reals(batch, length, kv_heads * size)
    values = None if packed else reals(batch, length, kv_heads * size)
    given = dict(query=query, key=keys, value=values, past_key=reals(batch, kv_heads, kept, size),
                 past_value=reals(batch, kv_heads, kept, size), lengths=numpy.array(lengths, I32) - 1,
                 total=number(total, I32))
    if rotary:
        given.update(cosines=reals(16, size // 2), sines=reals(16, size // 2))
        options.update(do_rotary=1)
    return Node("GroupQueryAttention", given, ["total"], 3, num_heads=heads, kv_num_heads=kv_heads, **options)


def packed_attention(q, k, v):
    """Of (batch, length, heads, size): ONNX Runtime has no kernels for these on CPUs."""
    scores = numpy.einsum("blhe,bshe->bhls", q, k) / SIZE ** 0.5
    shares = numpy.exp(scores) / numpy.exp(scores).sum(-1, keepdims=True)
    return numpy.einsum("bhls,bshe->blhe", shares, v).reshape(BATCH, -1, WIDTH).astype(numpy.float32)


PACKED, PAIRS = reals(BATCH, LENGTH, HEADS, 3, SIZE), reals(BATCH, 5, HEADS, 2, SIZE)
QUERY, KEYS = reals(BATCH, LENGTH, WIDTH), reals(BATCH, 5, WIDTH)
CACHE = dict(past_key=reals(BATCH, HEADS, 2, SIZE), past_value=reals(BATCH, HEADS, 2, SIZE))
NODES = [
    attention(),
    attention(outputs=2, unidirectional=1),
    attention(numpy.array([2, 3], I32)),
    attention(numpy.array([2, 3, 0, 1], I32)),
    attention(numpy.array([[1, 1, 0], [0, 1, 1]], I32)),
    attention(integers(BATCH, LENGTH, LENGTH, dtype=I32, low=0, high=2) | numpy.eye(LENGTH, dtype=I32)),
    attention(numpy.array([[1, 1, 1, 1, 0], [0, 1, 1, 1, 1]], I32), past=2, outputs=2, unidirectional=1, scale=0.3),
    attention(bias=reals(BATCH, HEADS, LENGTH, LENGTH)),
    several(query=QUERY, key=KEYS, value=reals(BATCH, 5, WIDTH), bias=reals(3 * WIDTH)),
    several(query=QUERY, key=KEYS, value=reals(BATCH, 5, WIDTH), mask=numpy.array([2, 5], I32), scale=0.4),
    several(query=QUERY, key=KEYS, value=reals(BATCH, 5, WIDTH), mask=numpy.array([[1, 0, 1, 1, 1], [1, 1, 1, 0, 0]], I32),
            scores=reals(1, HEADS, LENGTH, 5)),
    several(3, query=QUERY, key=QUERY + 1, value=QUERY - 1, unidirectional=1, **CACHE),
    several(query=PACKED, expected=[packed_attention(*numpy.moveaxis(PACKED, 3, 0))]),
    several(query=QUERY, key=PAIRS, expected=[packed_attention(QUERY.reshape(BATCH, LENGTH, HEADS, SIZE),
                                                               *numpy.moveaxis(PAIRS, 3, 0))]),
    several(query=QUERY, key=reals(BATCH, HEADS, 5, SIZE), value=reals(BATCH, HEADS, 5, SIZE)),
    grouped([5, 5], 5, 5),
    grouped([5, 5], 5, 5, rotary=True),
    grouped([7, 7], 7, 1, kept=6, rotary=True),
    grouped([7, 7], 7, 1, kept=6, packed=True, rotary=True, rotary_interleaved=1),
    grouped([4, 7], 7, 1, kept=6, rotary=True),
    grouped([8], 8, 3, kept=5, softcap=2.0, scale=0.5, size=8),
    grouped([6, 6], 6, 6, local_window_size=2),
    grouped([7, 7], 7, 1, kept=6, local_window_size=3),
    Node("RotaryEmbedding", dict(x=reals(2, 3, 16), at=number([2], I64), cosines=reals(8, 4), sines=reals(8, 4)),
         ["cosines", "sines"]),
    Node("RotaryEmbedding", dict(x=reals(2, 2, 3, 8), at=integers(2, 3, dtype=I64, low=0, high=8), cosines=reals(8, 4),
                                 sines=reals(8, 4)), ["cosines", "sines"], interleaved=1),
    Node("RotaryEmbedding", dict(x=reals(2, 3, 16), at=integers(2, 3, dtype=I64, low=0, high=8), cosines=reals(8, 2),
                                 sines=reals(8, 2)), ["cosines", "sines"], num_heads=2, rotary_embedding_dim=4),
    Node("QAttention", dict(x=integers(BATCH, LENGTH, 6), w=integers(6, 3 * WIDTH, dtype=I8), b=reals(3 * WIDTH),
                            x_scale=number(0.01), w_scale=number(0.02), mask=numpy.array([2, 3], I32),
                            x_zero=number(120, U8), w_zero=number(3, I8)),
         ["w", "b", "x_scale", "w_scale", "x_zero", "w_zero"], num_heads=HEADS),
    Node("QAttention", dict(x=integers(BATCH, LENGTH, 6), w=integers(6, 3 * WIDTH, dtype=I8), b=reals(3 * WIDTH),
                            x_scale=number(0.01), w_scale=number(0.02)),
         ["w", "b", "x_scale", "w_scale"], num_heads=HEADS, unidirectional=1),
]
