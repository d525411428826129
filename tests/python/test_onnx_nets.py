"""Models of files that train in Python: beside the net that they were written of."""
import numpy as np
import pytest

import saltern
from saltern import nn

RANDOM = np.random.default_rng(2)
X = RANDOM.standard_normal((8, 3, 6, 6)).astype(np.float32)
Y = RANDOM.integers(0, 4, 8)


def made():
    saltern.manual_seed(3)
    return nn.Sequential(nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5), nn.ELU(), nn.Flatten(), nn.Linear(80, 4))


def losses(net, steps=6, choose=lambda name: True):
    by = saltern.optim.SGD([p for name, p in net.named_parameters() if choose(name)], lr=0.05, momentum=0.9)
    net.train()
    found = []
    for _ in range(steps):
        by.zero_grad()
        loss = nn.functional.cross_entropy(net(saltern.tensor(X)), saltern.tensor(Y))
        loss.backward()
        by.step()
        found.append(loss.item())
    return found


def test_a_file_trains_as_its_net_does(tmp_path):
    net, path = made(), tmp_path / 'net.onnx'
    saltern.onnx.export(net, saltern.tensor(X), path)
    same = saltern.onnx.load_net(path, saltern.tensor(X))
    assert {n: tuple(p.shape) for n, p in same.named_parameters()} == {n: tuple(p.shape) for n, p in net.named_parameters()}
    wanted, found = losses(net), losses(same)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert wanted[-1] < 0.7 * wanted[0]
    for name, p in net.named_parameters():
        np.testing.assert_allclose(dict(same.named_parameters())[name].numpy(), p.numpy(), atol=1e-5)
    # What it learned goes into a file again, and others run it.
    learned = np.asarray(same.eval()(X))
    saltern.onnx.export(same, saltern.tensor(X), tmp_path / 'learned.onnx')
    np.testing.assert_allclose(np.asarray(saltern.onnx.load(tmp_path / 'learned.onnx')(X)), learned, atol=1e-5)
    again = saltern.onnx.load_net(path, saltern.tensor(X)).eval()
    again.load_state_dict(same.state_dict())
    np.testing.assert_array_equal(np.asarray(again(X)), learned)


def test_a_part_of_it_trains_with_a_head_of_ones_own(tmp_path):
    path = tmp_path / 'body.onnx'
    saltern.onnx.export(nn.Sequential(*list(made())[:4]), saltern.tensor(X), path)
    body = saltern.onnx.load_net(path, saltern.tensor(X))
    before = {name: np.array(t) for name, t in body.state_dict().items()}
    net = nn.Sequential(body, nn.Linear(80, 4))
    body.requires_grad_(False)
    found = losses(net, 10, lambda name: name.startswith('1.'))
    assert found[-1] < 0.7 * found[0]
    after = body.state_dict()
    assert all(np.array_equal(before[name], np.asarray(after[name])) for name, _ in body.named_parameters())


def test_bad_input(tmp_path):
    path = tmp_path / 'net.onnx'
    saltern.onnx.export(made(), saltern.tensor(X), path)
    net = saltern.onnx.load_net(path, saltern.tensor(X))
    for wrong, error, says in ((lambda: net(X[:3]), ValueError, r"'x' is f32 \[3, 3, 6, 6\]"), (lambda: net(), TypeError, "takes \\['x'\\]"),
                               (lambda: net(z=X), TypeError, "takes"), (lambda: net.double(), TypeError, 'types of the file'),
                               (lambda: saltern.onnx.load_net(path, [X, X]), TypeError, '1 inputs')):
        with pytest.raises(error, match=says):
            wrong()
