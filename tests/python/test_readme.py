"""What README.md, docs/python.md and docs/optimizers.md show runs as it stands."""
import importlib.util
import pathlib
import re

import numpy as np

import saltern

ROOT = pathlib.Path(__file__).parents[2]


def blocks(path):
    return re.findall(r'```python\n(.*?)```', (ROOT / path).read_text(), re.S)


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    example, = blocks('README.md')
    exec(example, names)
    assert names['loss'].item() < 0.02
    model = saltern.onnx.load('net.onnx')
    np.testing.assert_allclose(np.asarray(model(names['x'])), np.asarray(names['net'](saltern.tensor(names['x']))),
                               rtol=1e-4, atol=1e-5)


def test_training(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    example, changes, places = blocks('docs/training.md')
    exec(example, names)
    names['picture'] = np.zeros((3, 40, 32), np.uint8)
    exec(changes, names)
    assert names['x'].shape == (3, 32, 32) and names['x'].dtype == 'float32'
    names['boxes'], names['points'] = np.array([[4.0, 5.0, 20.0, 30.0]]), np.array([[7.0, 8.0]])
    exec(places, names)
    assert names['boxes'].shape == (1, 4) and names['points'].shape == (1, 2)
    assert names['history'].history['val_accuracy'][-1] > 0.9
    assert (tmp_path / 'report.html').exists() and not (tmp_path / 'backup/backup.safetensors').exists()


def test_tour(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ids, mask = np.array([[1, 2]]), np.array([[True, False]])
    names = {'saltern': saltern, 'numpy': np, 'array': np.ones(3, np.float32), 'ids': ids, 'mask': mask}
    tensors, second, *families, nets, sequences, files, compiled = blocks('docs/python.md')
    exec(tensors, names)
    assert names['x'].grad.tolist() == [[2, 4], [6, 8]]
    names['net'] = saltern.nn.Sequential(saltern.nn.Linear(2, 3), saltern.nn.Tanh())
    exec(second, names)
    names['penalty'].backward()
    for family in families:
        exec(family, dict(names))
    exec(nets, names)
    assert names['Net']()(saltern.tensor(np.zeros((2, 5, 28), np.float32))).shape == (2, 10)
    names['list_of_sequences'] = [saltern.zeros(length, 28) for length in (2, 5, 3)]
    exec(sequences, names)
    assert names['padded'].shape == (5, 3, 64) and names['lengths'].tolist() == [2, 5, 3]
    export, load, call, trains = (line.split('#')[0] for line in files.strip().split('\n'))
    exec(export, names)
    names['saltern'].onnx.export(names['net'], names['x'], 'any.onnx')
    exec(load, names)
    assert names['model'](names['x']).shape == (2, 3)
    net = names['net']
    exec(trains, names)
    names['net'](names['x']).sum().backward()
    assert dict(names['net'].named_parameters())['0.weight'].grad.shape == (3, 2)
    names['net'] = net
    if importlib.util.find_spec('halide'):
        exec(compiled, names)
        np.testing.assert_allclose(np.asarray(names['fast'](names['x'])), np.asarray(names['net'](names['x'])), rtol=1e-5)


def test_optimizers():
    names = {}
    example, = blocks('docs/optimizers.md')
    exec(example, names)
    assert names['steps'].param_groups[1]['lr'] < 1e-5 and names['state']['state'][3]['step'].item() == 100
