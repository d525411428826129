"""Training, and files."""
import numpy as np
import onnxruntime
import pytest

import saltern
from saltern import nn


class Net(nn.Module):
    """y = a tanh(x) with a slope for what is below 0."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(np.full(3, 0.5, np.float32))
        self.slope = nn.PReLU()

    def forward(self, x):
        return self.slope(x).tanh() * self.scale


def data():
    x = np.random.default_rng(1).standard_normal((64, 3)).astype(np.float32)
    return x, (np.tanh(np.where(x > 0, x, 0.1 * x)) * [1, 2, -1]).astype(np.float32)


@pytest.mark.parametrize('optimizer', [
    lambda ps: saltern.optim.SGD(ps, 0.2), lambda ps: saltern.optim.SGD(ps, 0.05, momentum=0.9, nesterov=True),
    lambda ps: saltern.optim.Adam(ps, 0.05), lambda ps: saltern.optim.AdamW(ps, 0.05, weight_decay=1e-4)])
def test_it_learns(optimizer):
    net, (x, wanted) = Net(), data()
    steps = optimizer(net.parameters())
    for _ in range(300):
        steps.zero_grad()
        loss = ((net(saltern.tensor(x)) - saltern.tensor(wanted))**2).mean()
        loss.backward()
        steps.step()
    assert loss.item() < 1e-3
    np.testing.assert_allclose(np.asarray(net.scale), [1, 2, -1], atol=0.05)


def test_one_step_of_adam():
    p = nn.Parameter(np.array([1.0, -2.0], np.float32))
    p.grad = saltern.tensor([0.5, 0.0])
    saltern.optim.Adam([p], lr=0.1).step()
    np.testing.assert_allclose(np.asarray(p), [0.9, -2], atol=1e-6)


def test_momentum_of_weights_that_lie_channels_last():
    """What an optimizer keeps is row-major here, and a convolution's weights are not."""
    p = nn.Conv2d(3, 4, (2, 5)).weight
    assert not p.numpy().flags.c_contiguous
    random, steps = np.random.default_rng(0), saltern.optim.SGD([p], lr=0.1, momentum=0.9)
    wanted, velocity = p.numpy().copy(), 0
    for _ in range(3):
        g = random.standard_normal(p.shape).astype(np.float32)
        p.grad = saltern.tensor(g)
        steps.step()
        velocity = 0.9 * velocity + g
        wanted -= 0.1 * velocity
    np.testing.assert_allclose(p.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_bad_parameters():
    with pytest.raises(ValueError, match='no parameters'):
        saltern.optim.SGD([])
    with pytest.raises(ValueError, match='no leaf'):
        saltern.optim.SGD([saltern.tensor([1.0])])


def test_state_on_disk(tmp_path):
    net, other = Net(), Net()
    net.scale.copy_(saltern.tensor([1.0, 2.0, 3.0]))
    saltern.save(net.state_dict(), tmp_path / 'net.safetensors')
    other.load_state_dict(saltern.load(tmp_path / 'net.safetensors'))
    assert other.scale.tolist() == [1, 2, 3]
    with pytest.raises(OSError, match='nothing'):
        saltern.load(tmp_path / 'nothing.safetensors')


def test_onnx(tmp_path):
    """What is written is what ONNX Runtime computes, and what comes back here."""
    net, (x, _) = Net(), data()
    path = tmp_path / 'net.onnx'
    saltern.onnx.export(net, saltern.tensor(x), path)
    wanted = np.asarray(net(saltern.tensor(x)))
    theirs = onnxruntime.InferenceSession(str(path)).run(None, {'x': x})[0]
    np.testing.assert_allclose(theirs, wanted, rtol=1e-5, atol=1e-6)
    model = saltern.onnx.load(path)
    assert model.input_names == ['x'] and model.output_names == ['y']
    np.testing.assert_allclose(np.asarray(model(x)), wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(OSError):
        saltern.onnx.load(tmp_path / 'nothing.onnx')
