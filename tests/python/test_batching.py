"""Many small nets together give what they give one by one."""
import contextlib

import numpy as np
import pytest
import saltern
from saltern import nn
from saltern.nn import functional as F


class TreeLstm(nn.Module):
    """Child-sum (Tai, Socher and Manning, 2015): a tree is (word, children)."""

    def __init__(self, words, width):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.of_word, self.of_children = nn.Linear(width, 4 * width), nn.Linear(width, 3 * width, bias=False)
        self.to_forget = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, 3)

    def state(self, tree):
        word, children = tree
        i, o, u, f = self.of_word(self.words(saltern.tensor(np.array([word])))).chunk(4, 1)
        below = [self.state(child) for child in children]
        if below:
            a, b, c = self.of_children(sum(h for h, _ in below)).chunk(3, 1)
            i, o, u = i + a, o + b, u + c
        cell = i.sigmoid() * u.tanh()
        for h, c in below:
            cell = cell + (f + self.to_forget(h)).sigmoid() * c
        return o.sigmoid() * cell.tanh(), cell

    def forward(self, trees, classes):
        losses = [F.cross_entropy(self.out(self.state(tree)[0]), saltern.tensor(np.array([label])))
                  for tree, label in zip(trees, classes)]
        return saltern.stack(losses).mean()


def random_tree(random, nodes):
    below, children = nodes - 1, []
    while below > 0:
        children.append(random_tree(random, int(random.integers(1, below + 1))))
        below -= count(children[-1])
    return int(random.integers(20)), children


def count(tree):
    return 1 + sum(count(child) for child in tree[1])


def test_trees_give_the_same_loss_and_gradients_in_far_fewer_operations():
    random = np.random.default_rng(3)
    saltern.manual_seed(1)
    net = TreeLstm(20, 11)
    trees = [random_tree(random, int(random.integers(1, 15))) for _ in range(13)]
    classes = random.integers(0, 3, len(trees))
    found, operations = [], []
    for scope in (contextlib.nullcontext, saltern.batching):
        net.zero_grad()
        with scope():
            loss = net(trees, classes)
            operations.append(len(saltern._saltern.operations([loss])))
            loss.backward()
        found.append([loss.numpy()] + [np.array(p.grad.numpy()) for p in net.parameters()])
    for one, together in zip(*found):
        np.testing.assert_allclose(together, one, rtol=1e-4, atol=1e-6)
    assert operations[1] * 3 < operations[0]


@pytest.mark.parametrize('cell', [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
def test_cells_over_sequences_of_different_lengths(cell):
    saltern.manual_seed(2)
    net = cell(3, 5)
    random = np.random.default_rng(4)
    sequences = [random.standard_normal((n, 1, 3)).astype(np.float32) for n in (3, 6, 1, 4)]
    found, operations = [], []
    for scope in (contextlib.nullcontext, saltern.batching):
        net.zero_grad()
        with scope():
            last = []
            for sequence in sequences:
                state = None
                for step in sequence:
                    state = net(saltern.tensor(step), state)
                last.append(state[0] if cell is nn.LSTMCell else state)
            loss = (saltern.cat(last) ** 2).sum()
            names = [name for name, _ in saltern._saltern.operations([loss])]
            operations.append(names.count(f'{cell.__name__[:-4].lower()}_cell'))
            loss.backward()
        found.append([loss.numpy()] + [np.array(p.grad.numpy()) for p in net.parameters()])
    for one, together in zip(*found):
        np.testing.assert_allclose(together, one, rtol=1e-4, atol=1e-6)
    assert operations == [14, 6]


def test_values_are_there_behind_the_scope():
    x = saltern.tensor([1.0, 2.0], requires_grad=True)
    with saltern.batching():
        ys = [x * i for i in range(3)]
        assert ys[2].shape == (2,) and ys[2].dtype == 'float32'
    np.testing.assert_array_equal(ys[2].numpy(), [2, 4])
    (ys[1] + ys[2]).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3, 3])


def test_an_error_ends_it():
    x = saltern.tensor([1.0, 2.0])
    with pytest.raises(KeyError):
        with saltern.batching():
            y = x + 1
            raise KeyError
    with pytest.raises(ValueError, match='an error ended the batch'):
        y.numpy()
    np.testing.assert_array_equal((x + 1).numpy(), [2, 3])
