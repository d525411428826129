"""Functions of images that have no layer, and what images that do not fit are told."""
import numpy as np
import pytest

import saltern
import saltern.nn.functional as F
from checks import check_gradients

FUNCTIONS = [
    ('affine_grid', [(2, 2, 3)], {'size': (2, 1, 3, 4)}),
    ('affine_grid', [(1, 3, 4)], {'size': (1, 1, 2, 3, 1), 'align_corners': True}),
    ('conv_tbc', [(5, 2, 3), (2, 3, 4), (4,)], {'pad': 1}),
    ('grid_sample', [(1, 2, 3, 4), (1, 3, 2, 2)], {}),
    ('grid_sample', [(1, 2, 3, 4), (1, 3, 2, 2)], {'mode': 'bicubic', 'padding_mode': 'border'}),
    ('grid_sample', [(1, 2, 3, 4), (1, 3, 2, 2)], {'mode': 'nearest', 'padding_mode': 'reflection'}),
    ('grid_sample', [(1, 1, 2, 3, 4), (1, 1, 3, 2, 3)], {'padding_mode': 'reflection', 'align_corners': True}),
    ('interpolate', [(1, 1, 7, 5)], {'size': (3, 8), 'mode': 'bilinear', 'antialias': True}),
    ('interpolate', [(1, 1, 7, 5)], {'scale_factor': 0.4, 'mode': 'bicubic', 'antialias': True}),
    ('native_channel_shuffle', [(1, 4, 3)], {'groups': 2}),
    ('pad', [(2, 3)], {'pad': (1, -1, 2, 0), 'value': 1.5}),
    ('pad', [(1, 2, 5)], {'pad': (-2, 2), 'mode': 'circular'}),
    ('upsample', [(1, 1, 3, 2)], {'scale_factor': 3, 'mode': 'bilinear'}),
]


@pytest.mark.parametrize('name, shapes, options', FUNCTIONS)
def test_gradients(name, shapes, options):
    random = np.random.default_rng(2)
    check_gradients(lambda *xs: getattr(F, name)(*xs, **options), [random.uniform(-1, 1, s) for s in shapes])


def numbers(*shape, like=None):
    return saltern.tensor(np.arange(np.prod(shape), dtype=like.dtype if like is not None else 'float32').reshape(shape))


def test_places_of_maxima_lead_back():
    x = numbers(1, 1, 4, 6)
    y, places = F.max_pool2d(x, 2, return_indices=True)
    assert places.tolist() == [[[[7, 9, 11], [19, 21, 23]]]]
    back = np.asarray(F.max_unpool2d(y, places, 2))
    assert back.shape == (1, 1, 4, 6) and back.sum() == np.asarray(y).sum() and back[0, 0, 1, 1] == 7


def test_of_several_at_one_place_the_mean_is_put_there():
    y = F.max_unpool1d(saltern.tensor([[[1.0, 3.0]]]), saltern.tensor([[[2, 2]]]), 2)
    assert y.tolist() == [[[0, 0, 2, 0]]]


@pytest.mark.parametrize('pads, mode, expected', [
    ((2, 1), 'constant', [0, 0, 0, 1, 2, 3, 0]),
    ((2, 1), 'reflect', [2, 1, 0, 1, 2, 3, 2]),
    ((2, 1), 'replicate', [0, 0, 0, 1, 2, 3, 3]),
    ((2, 1), 'circular', [2, 3, 0, 1, 2, 3, 0]),
    ((-1, 2), 'circular', [1, 2, 3, 1, 2]),
    ((-1, -2), 'reflect', [1]),
])
def test_edges(pads, mode, expected):
    assert F.pad(numbers(1, 4), pads, mode).tolist() == [expected]


def test_a_lazy_layer_has_parameters_from_its_first_input():
    layer = saltern.nn.LazyConv2d(4, 3)
    assert not list(layer.parameters())
    assert layer(numbers(1, 2, 5, 5)).shape == (1, 4, 3, 3)
    assert {n: p.shape for n, p in layer.named_parameters()} == {'weight': (4, 2, 3, 3), 'bias': (4,)}


@pytest.mark.parametrize('kernel_and_formula', [
    lambda x: F.conv2d(x, numbers(3, 2, 2, 2, like=x), stride=2, padding=1),
    lambda x: F.conv_transpose2d(x, numbers(2, 3, 2, 2, like=x), stride=2),
    lambda x: F.max_pool2d(x, 3, 2, 1),
    lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
])
def test_kernels_and_formulas_agree(kernel_and_formula):
    x = np.random.default_rng(4).standard_normal((2, 2, 4, 6))
    one, other = (np.asarray(kernel_and_formula(saltern.tensor(x.astype(t)))) for t in (np.float32, np.float64))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


nn = saltern.nn
BAD = [
    (lambda: nn.Conv2d(3, 4, 0), "'kernel_size' is 0"),
    (lambda: nn.Conv2d(3, 4, 2, groups=2), "'groups' is 2"),
    (lambda: nn.Conv2d(3, 4, 2, -1)(numbers(1, 3, 4, 4)), "'stride' is -1"),
    (lambda: nn.Conv2d(3, 4, 2, padding=-1)(numbers(1, 3, 4, 4)), "'padding' is -1"),
    (lambda: nn.Conv2d(3, 4, 2, padding='some')(numbers(1, 3, 4, 4)), "'padding' is 'some'"),
    (lambda: nn.Conv2d(3, 4, 2, 2, 'same')(numbers(1, 3, 4, 4)), 'stride'),
    (lambda: nn.Conv2d(3, 4, 2, padding_mode='odd')(numbers(1, 3, 4, 4)), "'padding_mode' is 'odd'"),
    (lambda: nn.Conv2d(3, 4, 2)(numbers(3, 4)), "'input' is a tensor f32"),
    (lambda: nn.Conv2d(3, 4, 2)(numbers(1, 2, 4, 4)), '3 channels'),
    (lambda: nn.Conv2d(3, 4, 2).double()(numbers(1, 3, 4, 4)), "'input' is .* expected f64"),
    (lambda: nn.Conv2d(3, 4, 5)(numbers(1, 3, 4, 4)), 'window of 5'),
    (lambda: nn.Conv3d(3, 4, 2)(numbers(1, 3, 4, 4, 0)), 'does not fit'),
    (lambda: nn.ConvTranspose2d(3, 4, 2, output_padding=1)(numbers(1, 3, 4, 4)), "'output_padding' is 1"),
    (lambda: nn.ConvTranspose2d(3, 4, 2, 2)(numbers(1, 3, 4, 4), (11, 8)), "'output_size'"),
    (lambda: nn.ConvTranspose1d(3, 4, 2, padding=9)(numbers(1, 3, 4)), "'padding' is 9"),
    (lambda: nn.MaxPool2d(2, padding=2)(numbers(1, 3, 4, 4)), "'padding' is 2"),
    (lambda: nn.MaxPool2d((2, 2, 2))(numbers(1, 3, 4, 4)), "'kernel_size'"),
    (lambda: nn.MaxPool2d(2, 1 << 62)(numbers(1, 3, 4, 4)), "'stride'"),
    (lambda: nn.AvgPool3d(2)(numbers(1, 3, 4)), "'input'"),
    (lambda: nn.AvgPool2d(2, divisor_override=0)(numbers(1, 3, 4, 4)), "'divisor_override' is 0"),
    (lambda: nn.AdaptiveAvgPool2d((1, 2, 3))(numbers(1, 3, 4, 4)), "'output_size'"),
    (lambda: nn.AdaptiveMaxPool2d(-1)(numbers(1, 3, 4, 4)), "'output_size'"),
    (lambda: nn.FractionalMaxPool2d(2)(numbers(1, 3, 4, 4)), "'output_size' is None"),
    (lambda: nn.FractionalMaxPool2d(3, output_size=3)(numbers(1, 3, 4, 4)), '3 windows of 3'),
    (lambda: nn.MaxUnpool1d(2)(numbers(1, 1, 2), saltern.tensor([[[0, 4]]])), 'index of 4'),
    (lambda: nn.MaxUnpool1d(2)(numbers(1, 1, 2), saltern.tensor([[[0]]])), "'indices'"),
    (lambda: nn.ReflectionPad1d(4)(numbers(1, 1, 4)), "'pad' is"),
    (lambda: nn.ConstantPad1d((-3, -2), 0.0)(numbers(1, 1, 4)), "'pad' is"),
    (lambda: F.pad(numbers(4), (1, 1, 1, 1)), "'pad' is"),
    (lambda: F.pad(numbers(4), (1, 1, 1)), "'pad' is"),
    (lambda: F.pad(numbers(1, 4), (1, 1), 'around'), "'mode' is 'around'"),
    (lambda: F.interpolate(numbers(1, 1, 4)), "'size' is None"),
    (lambda: F.interpolate(saltern.tensor([[[1, 2]]]), size=4, mode='linear'), 'real numbers'),
    (lambda: F.interpolate(numbers(1, 1, 4), size=0), "'size' is 0"),
    (lambda: F.interpolate(numbers(1, 1, 4), size=2, mode='bilinear'), "'input'"),
    (lambda: F.interpolate(numbers(1, 1, 4), size=2, align_corners=True), "'align_corners'"),
    (lambda: F.interpolate(numbers(1, 1, 4), scale_factor=-1.0), "'scale_factor' is -1"),
    (lambda: F.grid_sample(numbers(1, 1, 4, 4), numbers(1, 2, 2, 3)), "'grid'"),
    (lambda: F.grid_sample(numbers(1, 1, 4, 4), numbers(2, 2, 2, 2)), "'grid'"),
    (lambda: F.affine_grid(numbers(1, 2, 2), (1, 1, 2, 2)), "'theta'"),
    (lambda: F.pixel_shuffle(numbers(6, 2, 2), 2), "'input'"),
    (lambda: F.pixel_shuffle(numbers(6, 2, 2), 1 << 40), "'upscale_factor'"),
    (lambda: F.pixel_unshuffle(numbers(1, 3, 2), 2), "'input'"),
    (lambda: F.channel_shuffle(numbers(1, 3, 2), 2), "'groups' is 2"),
    (lambda: F.unfold(numbers(1, 1, 2, 2), 3), 'window of 3'),
    (lambda: F.fold(numbers(1, 4, 3), (3, 3), 2), "'input'"),
    (lambda: nn.Flatten(2)(numbers(4)), 'dimension 2'),
    (lambda: nn.Unflatten(1, (2, -1))(numbers(2, 5)), 'does not divide'),
]


@pytest.mark.parametrize('number', range(len(BAD)))
def test_bad_input(number):
    call, says = BAD[number]
    with pytest.raises((TypeError, ValueError, IndexError), match=says):
        call()
