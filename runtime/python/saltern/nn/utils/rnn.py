"""Sequences of several lengths, with PyTorch's names."""
from ..packed import (PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence, unpack_sequence,
                      unpad_sequence)
