"""saltern.masked beside NumPy's masked arrays, and random draws by their shares."""
import numpy as np
import pytest
import saltern
from checks import check_gradients

random = np.random.default_rng(2)
X, MASK = random.standard_normal((4, 5)).astype(np.float32), random.random((4, 5)) < 0.6
MASK[:, :2] = True


@pytest.mark.parametrize('name', ['sum', 'prod', 'mean', 'var', 'std', 'amax', 'amin', 'argmax', 'argmin'])
@pytest.mark.parametrize('dim', [0, 1])
def test_reductions(name, dim):
    hidden = np.ma.masked_array(X, ~MASK)
    numpy_name = {'amax': 'max', 'amin': 'min'}.get(name, name)
    wanted = getattr(hidden, numpy_name)(dim, **({'ddof': 1} if name in ('var', 'std') else {}))
    found = getattr(saltern.masked, name)(saltern.tensor(X), dim, mask=saltern.tensor(MASK))
    np.testing.assert_allclose(np.asarray(found)[MASK.sum(dim) > 1], np.asarray(wanted)[MASK.sum(dim) > 1], rtol=1e-5)


@pytest.mark.parametrize('name', ['softmax', 'log_softmax', 'softmin'])
def test_softmax(name):
    found = np.asarray(getattr(saltern.masked, name)(saltern.tensor(X), 1, mask=saltern.tensor(MASK)))
    for row, kept, y in zip(X, MASK, found):
        e = np.exp(-row[kept] if name == 'softmin' else row[kept])
        np.testing.assert_allclose(y[kept], np.log(e / e.sum()) if name == 'log_softmax' else e / e.sum(), rtol=1e-5)


def test_gradients_are_those_of_what_is_seen():
    check_gradients(lambda x: saltern.masked.mean(x, 1, mask=saltern.tensor(MASK)), [X.astype(np.float64)])
    check_gradients(lambda x: saltern.masked.softmax(x, 1, mask=saltern.tensor(MASK)), [X.astype(np.float64)])


def test_draws_have_their_shares():
    saltern.manual_seed(1)
    weights = saltern.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 4.0]])
    for replacement, count in ((True, 20000), (False, 1)):
        rows = weights if replacement else saltern.tensor(np.repeat(weights.numpy(), 10000, 0))
        drawn = np.asarray(saltern.multinomial(rows, count, replacement)).reshape(2, -1)
        shares = np.stack([(drawn == k).mean(1) for k in range(3)], 1)
        np.testing.assert_allclose(shares, [[0.25, 0, 0.75], [0.25, 0.25, 0.5]], atol=0.02)
    both = np.asarray(saltern.multinomial(weights, 2))
    assert sorted(both[0]) == [0, 2] and both[1][0] != both[1][1]
    with pytest.raises(ValueError, match='without replacement'):
        saltern.multinomial(weights, 3)
    assert abs(np.asarray(saltern.bernoulli(saltern.full((20000,), 0.3))).mean() - 0.3) < 0.02
    drawn = np.asarray(saltern.randint(3, 7, (10000,)))
    assert set(drawn) == {3, 4, 5, 6} and drawn.dtype == np.int64
    assert abs(np.asarray(saltern.normal(2.0, saltern.tensor([0.5] * 10000))).std() - 0.5) < 0.02


def test_extremes_of_what_is_seen_are_exact():
    """Numbers beyond those of f32, and infinities, are what they are beside what is hidden."""
    x = np.array([[-np.inf, 2, 3], [-1e300, -1e301, 0]])
    mask = np.array([[True, False, False], [True, True, False]])
    found = saltern.masked.amax(saltern.tensor(x), 1, mask=saltern.tensor(mask))
    np.testing.assert_array_equal(np.asarray(found), [-np.inf, -1e300])
    leaf = saltern.tensor(x, requires_grad=True)
    slopes, = saltern.autograd.grad(saltern.masked.amax(leaf, 1, mask=saltern.tensor(mask)).sum(), leaf)
    np.testing.assert_array_equal(np.asarray(slopes)[1], [1, 0, 0])
    found = saltern.masked.amin(saltern.tensor(-x), 1, mask=saltern.tensor(mask))
    np.testing.assert_array_equal(np.asarray(found), [np.inf, 1e300])


@pytest.mark.parametrize('name', ['sum', 'prod', 'amax', 'amin', 'argmax', 'argmin', 'cumsum', 'cumprod'])
def test_whole_numbers_stay_whole(name):
    """Numbers that no f32 holds, in types of which the neutral element is another one each."""
    for kind in (np.int64, np.int32, np.uint8):
        high = np.iinfo(kind).max
        x = np.array([[high, 1, 0], [1, 2, 3]], kind)
        mask = np.array([[True, False, False], [True, True, False]])
        found = np.asarray(getattr(saltern.masked, name)(saltern.tensor(x), 1, mask=saltern.tensor(mask)))
        wanted = {'sum': [high, 3], 'prod': [high, 2], 'amax': [high, 2], 'amin': [high, 1], 'argmax': [0, 1], 'argmin': [0, 0],
                  'cumsum': [[high] * 3, [1, 3, 3]], 'cumprod': [[high] * 3, [1, 2, 2]]}[name]
        assert found.dtype.kind in 'iu' and found.tolist() == [w if isinstance(w, list) else int(w) for w in wanted]


def test_means_of_whole_numbers_ask_for_a_type():
    x, mask = saltern.tensor([[1, 4, 9]]), saltern.tensor([[True, True, False]])
    with pytest.raises(ValueError, match='masked.mean: .*real numbers, or a dtype'):
        saltern.masked.mean(x, 1, mask=mask)
    assert saltern.masked.mean(x, 1, dtype=np.float32, mask=mask).tolist() == [2.5]
    assert saltern.masked.var(x, 1, mask=mask).tolist() == [4.5]
