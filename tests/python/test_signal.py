"""Windows, stft, istft and mel spectrograms beside NumPy, written down again from their definitions; and their gradients."""
import numpy as np
import pytest

import saltern
from checks import check_gradients
from saltern import signal

RANDOM = np.random.default_rng(9)


@pytest.mark.parametrize('n', [0, 1, 2, 7, 16])
@pytest.mark.parametrize('name, theirs', [('hann', np.hanning), ('hamming', np.hamming), ('blackman', np.blackman), ('bartlett', np.bartlett),
                                          ('kaiser', lambda n: np.kaiser(n, 12.0))])
def test_windows_beside_numpy(name, theirs, n):
    symmetric = getattr(signal.windows, name)(n, dtype='float64')
    np.testing.assert_allclose(np.asarray(symmetric), theirs(n), rtol=1e-7, atol=1e-12)
    if n > 1:  # a period is a symmetric one without its last
        np.testing.assert_allclose(np.asarray(getattr(signal.windows, name)(n, sym=False, dtype='float64')), theirs(n + 1)[:-1], rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(np.asarray(getattr(saltern, f'{name}_window')(n)), theirs(n + 1)[:-1], rtol=1e-5, atol=1e-6)


def test_other_windows():
    k = np.arange(9)
    close = lambda found, wanted: np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-7)
    close(signal.windows.gaussian(9, std=2.0), np.exp(-0.5 * ((k - 4) / 2)**2))
    close(signal.windows.exponential(9, tau=3.0), np.exp(-abs(k - 4) / 3))
    close(signal.windows.exponential(9, center=0, tau=3.0, sym=False), np.exp(-k / 3))
    close(signal.windows.cosine(9), np.sin(np.pi * (k + 0.5) / 9))
    close(signal.windows.general_hamming(9, alpha=0.6), 0.6 - 0.4 * np.cos(2 * np.pi * k / 8))
    close(signal.windows.general_cosine(9, a=[0.4, 0.3, 0.2]), 0.4 - 0.3 * np.cos(2 * np.pi * k / 8) + 0.2 * np.cos(4 * np.pi * k / 8))
    close(signal.windows.nuttall(3), [0.0003628, 1, 0.0003628])
    close(saltern.kaiser_window(9, False, 5.0), np.kaiser(9, 5.0))
    close(saltern.hamming_window(9, False, 0.6, 0.4), 0.6 - 0.4 * np.cos(2 * np.pi * k / 8))


def spectra(x, n, hop, window, center=True, onesided=True):
    """By a loop over frames."""
    window = np.pad(window, ((n - len(window)) // 2, n - len(window) - (n - len(window)) // 2))
    if center:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n // 2, n // 2)], mode='reflect')
    frames = [x[..., at:at + n] * window for at in range(0, x.shape[-1] - n + 1, hop)]
    return np.stack([(np.fft.rfft if onesided else np.fft.fft)(f) for f in frames], -1)


STFT = [dict(n_fft=8), dict(n_fft=8, hop_length=3), dict(n_fft=7, hop_length=2, center=False), dict(n_fft=10, win_length=6),
        dict(n_fft=8, onesided=False), dict(n_fft=9, onesided=False, hop_length=4)]


@pytest.mark.parametrize('shape', [(31,), (2, 31), (2, 3, 31)], ids=str)
@pytest.mark.parametrize('options', STFT, ids=str)
def test_stft(options, shape):
    x = RANDOM.standard_normal(shape)
    n = options['n_fft']
    window = np.hanning((options.get('win_length') or n) + 2)[1:-1]
    hop = options.get('hop_length') or n // 4
    wanted = spectra(x, n, hop, window, options.get('center', True), options.get('onesided', True))
    found = saltern.stft(saltern.tensor(x), window=saltern.tensor(window), **options)
    np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-12)
    scaled = saltern.stft(saltern.tensor(x), window=saltern.tensor(window), normalized=True, **options)
    np.testing.assert_allclose(np.asarray(scaled), wanted / np.sqrt(n), atol=1e-12)
    check_gradients(lambda x, w: saltern.stft(x, window=w, return_complex=False, **options), [x, window])


@pytest.mark.parametrize('options', STFT, ids=str)
@pytest.mark.parametrize('normalized', [False, True])
def test_istft_is_the_way_back(options, normalized):
    x = RANDOM.standard_normal((2, 32))
    window = saltern.tensor(np.hanning((options.get('win_length') or options['n_fft']) + 2)[1:-1])
    back = lambda z, length=None: saltern.istft(z, window=window, normalized=normalized, length=length, **options)
    z = saltern.stft(saltern.tensor(x), window=window, normalized=normalized, **options)
    found = np.asarray(back(z))
    assert found.shape[1] >= 24
    np.testing.assert_allclose(found, x[:, :found.shape[1]], atol=1e-10)
    for length in (20,) if 'win_length' in options else (20, 40):  # a shorter window does not see what is behind the last frame
        cut = np.asarray(back(z, length))
        assert cut.shape == (2, length)
        np.testing.assert_allclose(cut[:, :20], x[:, :20], atol=1e-10)
    check_gradients(lambda p: back(saltern.view_as_complex(p)), [np.asarray(saltern.view_as_real(z))])


def triangles(frequencies, low, high, bands, rate, slaney_norm=False):
    """HTK's mel scale, a triangle at a time."""
    mel = lambda f: 2595 * np.log10(1 + f / 700)
    edges = 700 * (10**(np.linspace(mel(low), mel(high), bands + 2) / 2595) - 1)
    at = np.linspace(0, rate // 2, frequencies)
    all = np.stack([np.interp(at, edges[b:b + 3], [0, 1, 0], left=0, right=0) for b in range(bands)], -1)
    return all * (2 / (edges[2:] - edges[:-2])) if slaney_norm else all


def test_mel_bands():
    for norm in (None, 'slaney'):
        found = signal.melscale_fbanks(65, 20.0, 7000.0, 12, 16000, norm, dtype='float64')
        np.testing.assert_allclose(np.asarray(found), triangles(65, 20, 7000, 12, 16000, norm == 'slaney'), atol=1e-12)
    slaney = np.asarray(signal.melscale_fbanks(2001, 0.0, 4000.0, 30, 8000, mel_scale='slaney', dtype='float64'))
    peaks = np.linspace(0, 4000, 2001)[slaney.argmax(0)]
    below = peaks[peaks < 950]
    assert np.ptp(np.diff(below)) < 5 and (np.diff(np.log(peaks[peaks > 1100])).std() < 2e-3)  # linear, then a logarithm


@pytest.mark.parametrize('power', [1.0, 2.0, 1.5])
def test_spectrograms(power):
    x = RANDOM.standard_normal((2, 90))
    window = np.hanning(17)[:-1]
    wanted = np.abs(spectra(x, 16, 8, window))**power
    found = signal.spectrogram(saltern.tensor(x), n_fft=16, power=power)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-6)
    normed = signal.spectrogram(saltern.tensor(x), n_fft=16, power=power, normalized=True)
    np.testing.assert_allclose(np.asarray(normed), wanted / np.sqrt((window**2).sum())**power, rtol=1e-5, atol=1e-6)
    mel = lambda x: signal.mel_spectrogram(x, sample_rate=800, n_fft=16, n_mels=5, power=power)
    np.testing.assert_allclose(np.asarray(mel(saltern.tensor(x))), triangles(9, 0, 400, 5, 800).T @ wanted, rtol=1e-5, atol=1e-6)
    check_gradients(mel, [x])


@pytest.mark.parametrize('call, says', [
    (lambda x: saltern.stft(x, 0), "'n_fft' is 0"),
    (lambda x: saltern.stft(x, 8, 0), "'hop_length' is 0"),
    (lambda x: saltern.stft(x, 8, window=x), "'window' is .*; expected as many numbers as 'win_length', 8"),
    (lambda x: saltern.stft(x, 80), "'n_fft' is 80; expected at most twice the length"),
    (lambda x: saltern.stft(x, 40, center=False), "'n_fft' is 40; expected no more than the signal has"),
    (lambda x: saltern.istft(saltern.stft(x, 8), 10), "'input' is .*; expected complex numbers"),
    (lambda x: saltern.istft(saltern.stft(x, 8, 8, window=saltern.hann_window(8)), 8, 8, window=saltern.hann_window(8), center=False),
     'windows that leave no sample out'),
    (lambda x: signal.melscale_fbanks(65, 200.0, 100.0, 12, 16000), "'f_max' is 100"),
    (lambda x: signal.windows.hann(-1), "'M' is -1"),
    (lambda x: signal.windows.gaussian(4, std=0.0), "'std' is 0"),
])
def test_refusals(call, says):
    with pytest.raises(ValueError, match=says):
        call(saltern.tensor(RANDOM.standard_normal(31).astype(np.float32)))
