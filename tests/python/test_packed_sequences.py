"""Sequences of several lengths: packed and padded, and through recurrent layers, beside each sequence alone."""
import numpy as np
import pytest

import saltern
from checks import check_gradients
from saltern import nn
from saltern.nn.utils.rnn import (PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence,
                                  unpack_sequence)

LENGTHS = [2, 5, 1, 4]
random = np.random.default_rng(1)
ALONE = [random.uniform(-1, 1, (length, 3)) for length in LENGTHS]
TENSORS = [saltern.tensor(a) for a in ALONE]


def test_padding():
    x = np.asarray(pad_sequence(TENSORS, padding_value=7))
    assert x.shape == (5, 4, 3)
    for i, a in enumerate(ALONE):
        np.testing.assert_array_equal(x[:len(a), i], a)
        assert (x[len(a):, i] == 7).all()
    left = np.asarray(pad_sequence(TENSORS, batch_first=True, padding_side='left'))
    np.testing.assert_array_equal(left[0, 3:], ALONE[0])
    assert (left[0, :3] == 0).all()


@pytest.mark.parametrize('batch_first', [False, True])
def test_packed_and_back(batch_first):
    p = pack_padded_sequence(pad_sequence(TENSORS, batch_first), saltern.tensor(LENGTHS), batch_first, enforce_sorted=False)
    assert isinstance(p, PackedSequence)
    assert p.batch_sizes.tolist() == [4, 3, 2, 2, 1] and p.sorted_indices.tolist() == [1, 3, 0, 2]
    assert p.unsorted_indices.tolist() == [2, 0, 3, 1]
    np.testing.assert_array_equal(np.asarray(p.data)[:4], [ALONE[i][0] for i in (1, 3, 0, 2)])
    back, lengths = pad_packed_sequence(p, batch_first, padding_value=-1, total_length=6)
    assert lengths.tolist() == LENGTHS and back.shape == ((4, 6, 3) if batch_first else (6, 4, 3))
    for a, b in zip(ALONE, unpack_sequence(pack_sequence(TENSORS, enforce_sorted=False))):
        np.testing.assert_array_equal(np.asarray(b), a)


@pytest.mark.parametrize('layer', [nn.RNN(3, 4), nn.GRU(3, 4, 2, bidirectional=True), nn.LSTM(3, 4, 2, bidirectional=True),
                                   nn.LSTM(3, 4, proj_size=2)], ids=lambda m: repr(m)[:60])
def test_recurrent_layers_see_each_sequence_alone(layer):
    layer.double()
    y, last = layer(pack_sequence(TENSORS, enforce_sorted=False))
    assert isinstance(y, PackedSequence)
    states = lambda s: s if isinstance(s, tuple) else (s,)
    for i, (x, part) in enumerate(zip(TENSORS, unpack_sequence(y))):
        alone, ending = layer(x)
        np.testing.assert_allclose(np.asarray(part), np.asarray(alone), atol=1e-12)
        for s, e in zip(states(last), states(ending)):
            np.testing.assert_allclose(np.asarray(s)[:, i], np.asarray(e), atol=1e-12)


def test_states_come_in_the_order_of_sequences():
    layer = nn.GRU(3, 4).double()
    h = random.uniform(-1, 1, (1, 4, 4))
    _, last = layer(pack_sequence(TENSORS, enforce_sorted=False), saltern.tensor(h))
    for i, x in enumerate(TENSORS):
        np.testing.assert_allclose(np.asarray(last)[0, i], np.asarray(layer(x, saltern.tensor(h[:, i]))[1])[0], atol=1e-12)


def test_gradients():
    layer = nn.LSTM(3, 2, bidirectional=True).double()

    def function(*sequences):
        y, (h, c) = layer(pack_sequence(list(sequences), enforce_sorted=False))
        return y.data, h, c

    check_gradients(function, ALONE)


def test_mistakes():
    x = pad_sequence(TENSORS)
    with pytest.raises(ValueError, match="pack_padded_sequence: 'lengths'.*the longest first"):
        pack_padded_sequence(x, LENGTHS)
    with pytest.raises(ValueError, match="pack_padded_sequence: 'lengths'.*from 1 to 5"):
        pack_padded_sequence(x, [6, 2, 1, 1])
    with pytest.raises(ValueError, match='LSTM: .input.*packed'):
        nn.LSTM(2, 4)(pack_sequence(TENSORS, enforce_sorted=False))
