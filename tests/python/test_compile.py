"""Nets and loaded models with kernels for exact shapes, and formulas that are compiled just in time."""
import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import saltern

if importlib.util.find_spec('halide') is None:
    pytest.skip('Halide is not installed', allow_module_level=True)
import saltern.compiler

RANDOM = np.random.default_rng(3)


def normal(*shape):
    return saltern.tensor(RANDOM.standard_normal(shape).astype(np.float32))


def net():
    nn = saltern.nn
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ELU(0.7), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(128, 5))


def test_a_net():
    layers, x = net(), normal(2, 3, 8, 8)
    layers(x)  # running statistics
    compiled = saltern.compile(layers, x)
    assert layers.training
    expected = np.asarray(layers.eval()(x))
    np.testing.assert_allclose(np.asarray(compiled(x)), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.asarray(compiled(np.asarray(x))), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="'x' is f32.*takes f32"):
        compiled(normal(3, 3, 8, 8))
    with pytest.raises(TypeError, match='takes 1 inputs'):
        compiled(x, x)


def test_a_function_of_several_tensors():
    x, y = normal(4, 3), normal(3)
    compiled = saltern.compile(lambda a, b: (a * b, saltern.softmax(a, 1)), [x, y], threads=1)
    for found, expected in zip(compiled(x, y), (np.asarray(x) * np.asarray(y), np.asarray(saltern.softmax(x, 1)))):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)


def test_a_loaded_model(tmp_path):
    layers, x = net().eval(), normal(2, 3, 8, 8)
    saltern.onnx.export(layers, x, tmp_path / 'net.onnx')
    compiled = saltern.compile(saltern.onnx.load(tmp_path / 'net.onnx'), x)
    np.testing.assert_allclose(np.asarray(compiled(x=x)), np.asarray(layers(x)), rtol=1e-4, atol=1e-5)


def test_formulas_are_compiled_just_in_time():
    """Were there two copies of the run world, the one that computes would know of no compiler."""
    table, places = normal(1000, 64), saltern.tensor(RANDOM.integers(0, 1000, (200,)))
    weight = saltern.tensor(np.asarray(table), requires_grad=True)
    before = saltern._saltern.computation_counts()['just_in_time']
    (saltern.nn.functional.celu(normal(2000, 2000)) + 0).sum()
    assert saltern._saltern.computation_counts()['just_in_time'] > before
    y = saltern.nn.functional.embedding(places, weight)
    np.testing.assert_array_equal(np.asarray(y), np.asarray(table)[np.asarray(places)])


def test_without_halide_it_is_said_what_to_install(tmp_path):
    program = 'import sys; sys.modules["saltern._compiler"] = None; import saltern; saltern.compile(abs, saltern.ones(2))'
    ended = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
    assert ended.returncode == 1 and "pip install 'saltern[compiler]'" in ended.stderr, ended.stderr


@pytest.mark.parametrize('name', ['softplus', 'logsigmoid', 'elu', 'mish'])
def test_compiled_functions_keep_the_digits_of_small_results(name):
    x = np.array([-30, -17.5, -3, -1e-3, -1e-9, 0, 1e-9, 2, 17.5, 30] * 7, np.float32)
    softplus = lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x.astype(np.float64))))
    wanted = {'softplus': softplus(x), 'logsigmoid': -softplus(-x), 'mish': x * np.tanh(softplus(x)),
              'elu': np.where(x > 0, x, np.expm1(np.minimum(x, 0)))}[name]
    found = saltern.compile(getattr(saltern.nn.functional, name), saltern.tensor(x))(x)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=4e-6, atol=1e-38)
