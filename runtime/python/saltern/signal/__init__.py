"""Signals over time: stft and istft as PyTorch has them, spectrograms and mel spectrograms as torchaudio has them, of signals
(..., time); and windows."""
import functools

from .. import _saltern
from .._complex import ComplexTensor, _pairs_of
from .._rows import family
from . import windows

_rows = family('signal')
melscale_fbanks = _rows['melscale_fbanks']
spectrogram = _rows['spectrogram']
mel_spectrogram = _rows['mel_spectrogram']


@functools.wraps(_rows['stft'])
def stft(input, n_fft, *args, return_complex=True, **kwargs):
    """The spectra of windows, (..., frequencies, frames): a ComplexTensor."""
    pairs = _rows['stft'](input, n_fft, *args, **kwargs)
    return ComplexTensor(pairs) if return_complex else pairs


@functools.wraps(_rows['istft'])
def istft(input, n_fft, *args, **kwargs):
    """The signal whose spectra these are, or come nearest to."""
    return _rows['istft'](_pairs_of(input), n_fft, *args, **kwargs)


def _periodic(name, more=()):
    """hann_window(window_length, periodic=True): the older names of windows, which are periodic unless one says otherwise."""
    row = getattr(windows, name)

    def window(window_length, periodic=True, *args, dtype='float32', requires_grad=False, **kwargs):
        made = row(window_length, sym=not periodic, dtype=dtype, **dict(zip(more, args)), **kwargs)
        return _saltern.leaf(made, requires_grad)

    window.__name__ = window.__qualname__ = f'{name}_window'
    return window


hann_window, blackman_window, bartlett_window = (_periodic(name) for name in ('hann', 'blackman', 'bartlett'))
kaiser_window = _periodic('kaiser', ('beta',))


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, dtype='float32', requires_grad=False):
    made = windows.general_cosine(window_length, a=[alpha, beta], sym=not periodic, dtype=dtype)
    return _saltern.leaf(made, requires_grad)
