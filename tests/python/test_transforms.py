"""Transforms in Python: torchvision's names, arguments and defaults, beside loops of NumPy."""
import inspect

import numpy as np
import pytest

import saltern
from saltern import transforms

RANDOM = np.random.default_rng(3)
PICTURE = RANDOM.uniform(0, 1, (3, 8, 10)).astype(np.float32)
BYTES = RANDOM.integers(0, 256, (3, 8, 10)).astype(np.uint8)


def array(t):
    return np.asarray(t)


# As torchvision.transforms.v2 0.29 documents them.
SIGNATURES = {
    'Resize': "(size, interpolation='bilinear', max_size=None, antialias=True)",
    'RandomCrop': "(size, padding=None, pad_if_needed=False, fill=0, padding_mode='constant')",
    'RandomResizedCrop': "(size, scale=(0.08, 1.0), ratio=(0.75, 1.3333333333333333), interpolation='bilinear', antialias=True)",
    'RandomAffine': "(degrees, translate=None, scale=None, shear=None, interpolation='nearest', fill=0, center=None)",
    'RandomRotation': "(degrees, interpolation='nearest', expand=False, center=None, fill=0)",
    'RandomErasing': '(p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0.0, inplace=False)',
    'GaussianBlur': '(kernel_size, sigma=(0.1, 2.0))',
    'MixUp': '(*, alpha=1.0, num_classes=None)',
    'ToDtype': '(dtype, scale=False)',
}


@pytest.mark.parametrize('name', SIGNATURES)
def test_signature(name):
    assert str(inspect.signature(getattr(transforms, name))) == SIGNATURES[name]


def test_a_chain_is_its_parts():
    chain = transforms.Compose([transforms.RandomHorizontalFlip(p=1.0), transforms.ToDtype(np.float32, scale=True),
                                transforms.Normalize(mean=[0.5, 0.4, 0.3], std=[0.1, 0.2, 0.3])])
    wanted = (BYTES[:, :, ::-1] / 255 - np.reshape([0.5, 0.4, 0.3], (3, 1, 1))) / np.reshape([0.1, 0.2, 0.3], (3, 1, 1))
    np.testing.assert_allclose(array(chain(BYTES)), wanted, rtol=0, atol=1e-5)
    assert 'RandomHorizontalFlip' in repr(transforms.RandomHorizontalFlip()) and 'p=0.5' in repr(transforms.RandomHorizontalFlip())


def test_seeds_say_what_is_drawn():
    crop = transforms.RandomCrop(4)

    def drawn(seed):
        saltern.manual_seed(seed)
        return array(crop(PICTURE))

    np.testing.assert_array_equal(drawn(1), drawn(1))
    places = {drawn(seed)[0, 0, 0] for seed in range(150)}
    assert places == set(PICTURE[0, :5, :7].ravel())         # every corner that a part can have


def test_mixed_batches():
    x = RANDOM.uniform(0, 1, (4, 3, 6, 6)).astype(np.float32)
    images, labels = transforms.MixUp(num_classes=5)(x, np.array([0, 1, 2, 3]))
    part = array(labels)[1, 1]
    np.testing.assert_allclose(array(images)[1], part * x[1] + (1 - part) * x[0], atol=1e-6)
    np.testing.assert_allclose(array(labels)[1, 0], 1 - part, atol=1e-6)


def test_several_results():
    five = transforms.FiveCrop((2, 3))(PICTURE)
    assert len(five) == 5
    np.testing.assert_array_equal(array(five[1]), PICTURE[:, :2, -3:])


@pytest.mark.parametrize('make, part', [
    (lambda: transforms.RandomHorizontalFlip(2.0), "'p' is 2"),
    (lambda: transforms.Compose([3]), 'transforms'),
    (lambda: transforms.Resize(3, 'cubic')(PICTURE), 'bicubic'),
    (lambda: transforms.Resize(3)(np.zeros((2, 2), np.float32)), '(..., C, H, W)'),
    (lambda: transforms.RandomCrop(), 'size'),
])
def test_what_is_wrong_is_named(make, part):
    with pytest.raises((ValueError, TypeError, RuntimeError), match='.*') as error:
        make()
    assert part in str(error.value)
