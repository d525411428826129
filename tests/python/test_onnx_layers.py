"""Every layer goes to ONNX in evaluation mode and comes back, and ONNX Runtime has the same results of the file, too. Layers
that cannot are in onnx_left.txt, with reasons: the list is as long as it has to be."""
import pathlib

import numpy as np
import onnxruntime
import pytest

import saltern
from checks import flat
from samples import LAYERS
from trying import arguments, made

LEFT = dict(line.split(': ', 1) for line in (pathlib.Path(__file__).parent / 'onnx_left.txt').read_text().splitlines()
            if not line.startswith('#'))
NAMES = sorted({sample.name for sample in LAYERS})


def arrays_of(tensors):
    return [np.asarray(t) for t in tensors]


def compare(what, found, expected):
    assert len(found) == len(expected), f'{what} has {len(found)} results of {len(expected)}'
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=what)
        assert a.dtype == b.dtype, what


def go_and_come_back(sample, path):
    layer, nest = made(sample).eval(), arguments(sample)
    args, kwargs = nest.filled([saltern.tensor(a.astype(np.float32)) for a in nest.arrays])

    def run():
        saltern.manual_seed(7)
        return layer(*args, **kwargs)

    expected = arrays_of(flat(run()))
    saltern.manual_seed(7)
    saltern.onnx.export(layer, args, path, kwargs=kwargs)
    inputs = arrays_of(flat([args, list(kwargs.values())]))
    model = saltern.onnx.load(path)
    compare(f'{sample}, back', arrays_of(flat([model(*inputs[:len(model.input_names)])])), expected)
    session = onnxruntime.InferenceSession(path)
    fed = dict(zip([i.name for i in session.get_inputs()], inputs))
    compare(f'{sample}, ONNX Runtime', session.run(None, fed), expected)


def failure(name, path):
    """What the first sample that fails says; nothing where all are well."""
    for sample in LAYERS:
        if sample.name == name:
            try:
                go_and_come_back(sample, str(path / 'layer.onnx'))
            except Exception as e:  # whatever it is
                return f'{type(e).__name__}: {e}'
    return ''


@pytest.mark.parametrize('name', NAMES)
def test_there_and_back(name, tmp_path):
    found = failure(name, tmp_path)
    if name in LEFT:
        assert found, f'{name} is well: it is no more for onnx_left.txt'
    else:
        assert not found, found


def test_the_list_names_layers():
    assert set(LEFT) <= set(NAMES)
