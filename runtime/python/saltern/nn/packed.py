"""Sequences of several lengths without padding, which RNN, GRU and LSTM take and give."""
import typing

from .._rows import functions
from .._saltern import Tensor
from .module import Layer, bases


class PackedSequence(typing.NamedTuple):
    """The steps of all sequences, the first ones first, and how many sequences have each step; the longest sequence comes
    first, sorted_indices says which that was."""
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


class Recurrent(Layer):
    def forward(self, input, hx=None):
        y, last = self._layer(input, hx)
        return PackedSequence(*y) if isinstance(input, PackedSequence) else y, last


bases.update(RNN=Recurrent, GRU=Recurrent, LSTM=Recurrent)

pad_packed_sequence, pad_sequence, unpad_sequence = (
    functions[name] for name in ('pad_packed_sequence', 'pad_sequence', 'unpad_sequence'))


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """What sequences side by side, (t, n, ...), have up to their lengths."""
    return PackedSequence(*functions['pack_padded_sequence'](input, lengths, batch_first, enforce_sorted))


def pack_sequence(sequences, enforce_sorted=True):
    """A list of sequences (t, ...)."""
    return PackedSequence(*functions['pack_sequence'](sequences, enforce_sorted))


def unpack_sequence(packed_sequences):
    """The sequences as a list."""
    padded, lengths = pad_packed_sequence(packed_sequences)
    return list(unpad_sequence(padded, lengths))
