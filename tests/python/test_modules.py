"""Nets that are written in Python."""
import concurrent.futures
import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import saltern
from saltern import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.slopes = nn.PReLU(3)
        self.shift = nn.Parameter(np.ones(3, np.float32))
        self.rest = nn.Sequential(nn.Tanh(), nn.PReLU())
        self.register_buffer('count', saltern.tensor([0.0]))

    def forward(self, x):
        return self.rest(self.slopes(x))


def test_names():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ['shift', 'slopes.weight', 'rest.1.weight']
    assert list(net.state_dict()) == ['shift', 'count', 'slopes.weight', 'rest.1.weight']
    assert 'PReLU(num_parameters=3' in repr(net)
    assert len(list(net.modules())) == 5


def test_training_mode_reaches_all():
    net = Net().eval()
    assert not any(m.training for m in net.modules())


def test_state_goes_out_and_in():
    one, other = Net(), Net()
    one.slopes.weight.copy_(saltern.tensor([1.0, 2.0, 3.0]))
    other.load_state_dict({n: np.array(t) for n, t in one.state_dict().items()})
    assert other.slopes.weight.tolist() == [1, 2, 3]
    with pytest.raises(KeyError, match='nothing'):
        other.load_state_dict({**one.state_dict(), 'nothing': saltern.tensor([1.0])})


def test_shared_parts_count_once():
    part = nn.PReLU()
    assert len(list(nn.Sequential(part, part).parameters())) == 1


def test_hooks_and_containers():
    seen = []
    net = nn.ModuleDict({'a': nn.ReLU(), 'b': nn.ModuleList([nn.Tanh(), nn.PReLU()])})
    net['a'].register_forward_hook(lambda module, inputs, output: seen.append(output.shape))
    net['a'](saltern.tensor([1.0]))
    assert seen == [(1,)] and [n for n, _ in net.named_parameters()] == ['b.1.weight']


def test_a_module_without_super():
    class Wrong(nn.Module):
        def __init__(self):
            self.part = nn.ReLU()

    with pytest.raises(AttributeError, match='super'):
        Wrong()


def test_modules_of_another_library():
    """Known by the names of their classes and attributes, as PyTorch's are."""
    class Theirs:
        training = False

        def __init__(self, name, state, **attributes):
            self.__class__ = type(name, (Theirs,), {})
            self.__dict__.update(attributes, state=state)

        def state_dict(self):
            return self.state

        def named_children(self):
            return []

    weight = saltern.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    linear = nn.from_torch(Theirs('Linear', {'weight': weight}, in_features=3, out_features=2, bias=None))
    assert isinstance(linear, nn.Linear) and linear.bias is None and not linear.training
    np.testing.assert_array_equal(np.asarray(linear.weight), np.asarray(weight))
    with pytest.raises(TypeError, match='no layer Strange'):
        nn.from_torch(Theirs('Strange', {}))


def test_an_error_in_a_net_names_the_layer():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(3, 2))
    with pytest.raises(ValueError, match=r"layer 2 \(Linear\): Linear: 'input' is .*; expected"):
        net(saltern.tensor([[1.0, 2.0, 3.0]]))


def test_deep_copies():
    net = Net()
    other = copy.deepcopy(net)
    other.slopes.weight.copy_(saltern.tensor([5.0, 5.0, 5.0]))
    other.shift.copy_(saltern.tensor([5.0, 5.0, 5.0]))
    assert net.slopes.weight.tolist() == [0.25] * 3 and net.shift.tolist() == [1, 1, 1]
    assert [n for n, _ in other.named_parameters()] == [n for n, _ in net.named_parameters()]


def test_summary_counts_what_each_layer_costs():
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 6 * 6, 5))
    net[1].eval()
    table = saltern.summary(net, saltern.zeros(2, 3, 6, 6))
    rows = {row['name']: row for row in table.rows}
    assert rows['0']['kind'] == 'Conv2d' and rows['0']['result'] == (2, 8, 6, 6) and rows['0']['bytes'] == 2 * 8 * 36 * 4
    assert rows['0']['parameters'] == 8 * 27 + 8 and rows['0']['flops'] == 2 * 2 * 8 * 36 * 27
    assert rows['3']['flops'] == 2 * 2 * 288 * 5
    assert rows['']['flops'] == rows['0']['flops'] + rows['3']['flops']
    assert rows['']['parameters'] == sum(p.numel() for p in net.parameters())
    assert '  0: Conv2d' in repr(table)
    assert net.training and not net[1].training and not net._hooks


def test_summary_of_a_net_with_several_results_and_of_a_formula():
    table = saltern.summary(nn.LSTM(3, 5), saltern.zeros(4, 2, 3))
    assert table.rows[0]['flops'] == 2 * 4 * 2 * 20 * (3 + 5) and table.rows[0]['result'] == (4, 2, 5)


def test_frozen_parameters_get_no_gradient():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    net[0].requires_grad_(False)
    net(saltern.ones(1, 2)).sum().backward()
    assert [p.grad is None for p in net.parameters()] == [True, True, False, False]
    assert all(p.requires_grad for p in net.requires_grad_().parameters())


def test_layers_are_printed_with_their_parts():
    assert repr(nn.Linear(2, 3)) == 'Linear(in_features=2, out_features=3)'
    text = repr(nn.Sequential(nn.TransformerEncoderLayer(8, 2, dropout=0.0)))
    assert '\n  (0): TransformerEncoderLayer(d_model=8, nhead=2' in text and '\n    (linear1): Linear(in_features=8' in text


def test_a_copy_has_types_and_layers_of_its_own():
    double = nn.Linear(2, 2).double()
    double.weight.requires_grad = False
    other = copy.deepcopy(double)
    assert other.weight.dtype == 'float64' and not other.weight.requires_grad and other.bias.requires_grad
    np.testing.assert_array_equal(other.weight.numpy(), double.weight.numpy())
    for layer in (nn.TimeDistributed(nn.Linear(2, 2)), nn.StackedRNNCells([nn.LSTMCell(2, 3), nn.GRUCell(3, 3)])):
        copy.deepcopy(layer).double()
        assert {p.dtype for p in layer.parameters()} == {'float32'}


@pytest.mark.parametrize('shape', [(0, 5), (0, 5, 9), (0, 5, 2, 2), (2, 5, 0, 3)])
def test_norms_of_nothing_have_gradients(shape):
    norm = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d}[len(shape)](5).eval()
    x = saltern.tensor(np.zeros(shape, np.float32), requires_grad=True)
    norm(x).sum().backward()
    assert x.grad.shape == shape and norm.weight.grad.tolist() == [0] * 5 and norm.bias.grad.tolist() == [0] * 5


def test_a_parameter_of_a_layer_is_replaced():
    one, other = nn.Linear(3, 3), nn.Linear(3, 3)
    other.weight = one.weight
    net, x = nn.Sequential(one, other), saltern.ones(1, 3)
    assert [n for n, _ in net.named_parameters()] == ['0.weight', '0.bias', '1.bias']
    np.testing.assert_allclose(other(x) - other.bias, x @ one.weight.T, rtol=1e-6)
    assert len(list(copy.deepcopy(net).parameters())) == 3 and len(list(net.double().parameters())) == 3
    for layer, name, value in ((nn.Dropout(0.5), 'p', 0.0), (nn.Linear(2, 2), 'bias', None)):
        with pytest.raises(AttributeError, match='made with'):
            setattr(layer, name, value)


def test_a_buffer_stays_one():
    net = nn.Module()
    net.register_buffer('mean', saltern.zeros(2))
    net.register_buffer('scratch', saltern.zeros(2), persistent=False)
    net.mean = net.mean * 0.9 + 1
    assert list(net.state_dict()) == ['mean'] and net.state_dict()['mean'].tolist() == [1, 1]
    net.w = nn.Parameter(np.ones(2, np.float32))
    with pytest.raises(TypeError, match='is a parameter'):
        net.w = saltern.ones(2)


def test_a_hook_changes_what_goes_in():
    layer = nn.Linear(2, 2)
    layer.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 0,))
    np.testing.assert_array_equal(layer(saltern.ones(1, 2))[0], layer.bias)


def test_an_optimizer_goes_on_with_parameters_of_another_type():
    """As in PyTorch: they stay the same leaves, with their gradients."""
    net = Net()
    held = list(net.parameters())
    steps = saltern.optim.SGD(net.parameters(), lr=0.5)
    before = {name: p.numpy().astype(np.float64) for name, p in net.named_parameters()}
    for p in net.parameters():
        p.grad = saltern.tensor(np.ones(p.shape, np.float32))
    net.double()
    assert [p._identity() for p in net.parameters()] == [p._identity() for p in held]
    assert all(p.dtype == p.grad.dtype == 'float64' for p in held) and net.count.dtype == 'float64'
    steps.step()
    for name, p in net.named_parameters():
        np.testing.assert_array_equal(p.numpy(), before[name] - 0.5)
    y = net(saltern.ones(2, 3, dtype=np.float64))
    net.float()
    with pytest.raises(ValueError, match='written in place'):  # the tape has values of the other type
        y.sum().backward()
    net(saltern.ones(2, 3)).sum().backward()
    assert net.slopes.weight.grad.dtype == 'float32'


def test_all_threads_draw_from_one_stream():
    def drawn(_):
        return tuple(saltern.rand(3).tolist() + saltern.nn.functional.dropout(saltern.ones(40), 0.5).tolist())

    saltern.manual_seed(3)
    one = [drawn(0) for _ in range(4)]
    saltern.manual_seed(3)
    several = []
    for _ in range(4):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            several += pool.map(drawn, [0])
    assert several == one and len(set(one)) == 4
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(saltern.manual_seed, 3).result()
    assert drawn(0) == one[0]


def test_pickles_are_the_same_nets():
    """Also in another process, as loaders with workers want it."""
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), Net(), nn.Linear(4, 3), nn.Linear(3, 4)).double()
    net[2].slopes = nn.PReLU(4)
    net.double()
    net[4].weight = net[0].weight
    net[0].bias.requires_grad = False
    x = saltern.tensor(np.random.default_rng(1).standard_normal((5, 3)))
    net(x)  # running statistics
    again = pickle.loads(pickle.dumps(net.eval()))
    np.testing.assert_array_equal(again(x).numpy(), net(x).numpy())
    assert list(again.state_dict()) == list(net.state_dict()) and not again.training
    assert [p.requires_grad for p in again.parameters()] == [p.requires_grad for p in net.parameters()]
    assert len(list(again.parameters())) == len(list(net.parameters()))  # those that are shared are
    again[0].weight.copy_(again[0].weight.detach() * 0)
    assert not np.array_equal(net[0].weight.numpy(), again[0].weight.numpy())
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context('spawn')) as pool:
        np.testing.assert_array_equal(pool.submit(applied, net, x).result().numpy(), net(x).numpy())
    with pytest.raises(TypeError, match='history'):
        pickle.dumps(net(x))


def test_nets_with_parametrizations_are_pickled():
    net = nn.Sequential(nn.utils.weight_norm(nn.Linear(3, 4)), nn.utils.spectral_norm(nn.Linear(4, 2))).eval()
    x = saltern.ones(2, 3)
    for again in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        np.testing.assert_array_equal(again(x).numpy(), net(x).numpy())
        assert [n for n, _ in again.named_parameters()] == [n for n, _ in net.named_parameters()]


def applied(net, x):
    return net(x).detach()


def test_copies_of_optimizers_have_their_state():
    p = nn.Parameter(np.ones(2, np.float32))
    steps = saltern.optim.Adam([p], lr=0.5)
    p.grad = saltern.ones(2)
    steps.step()
    for other in (copy.deepcopy(steps), pickle.loads(pickle.dumps(steps))):
        q, = other.param_groups[0]['params']
        assert other.state[q]['step'].item() == 1 and q._identity() != p._identity()
        q.grad = saltern.ones(2)
        other.step()
        assert other.state[q]['step'].item() == 2 and steps.state[p]['step'].item() == 1
