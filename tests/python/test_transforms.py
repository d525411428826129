"""Transforms in Python: torchvision's names, arguments and defaults, beside loops of NumPy."""
import copy
import inspect
import pickle

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


def test_transforms_go_to_other_processes():
    chain = transforms.Compose([transforms.RandomCrop(4, padding=1), transforms.ToDtype(np.float32, scale=True)])
    for again in (pickle.loads(pickle.dumps(chain)), copy.deepcopy(chain)):
        found = []
        for each in (chain, again):
            saltern.manual_seed(5)
            found.append(array(each(BYTES)))
        np.testing.assert_array_equal(*found)


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


# ---- Boxes and key points, beside pixels: what is drawn in a picture is found again where they say.

def drawn(box, height=40, width=50):
    picture = np.zeros((1, height, width), np.float32)
    x1, y1, x2, y2 = box
    picture[:, y1:y2, x1:x2] = 1
    return picture


def box_of(picture):
    rows, columns = np.nonzero(np.asarray(picture)[0] > 0.5)
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


MOVES = {
    'across': (lambda: transforms.RandomHorizontalFlip(1.0), 0), 'down': (lambda: transforms.RandomVerticalFlip(1.0), 0),
    'crop': (lambda: transforms.RandomCrop((30, 34)), 0), 'center': (lambda: transforms.CenterCrop((24, 28)), 0),
    'padded crop': (lambda: transforms.RandomCrop((40, 50), padding=6), 0), 'pad': (lambda: transforms.Pad((1, 2, 3, 4)), 0),
    'zoom': (lambda: transforms.RandomZoomOut(p=1.0), 0), 'resize': (lambda: transforms.Resize((80, 25)), 1),
    'part': (lambda: transforms.RandomResizedCrop((60, 60), scale=(0.7, 1.0)), 1.5),
    'turn': (lambda: transforms.RandomRotation(80), 1.5), 'wide turn': (lambda: transforms.RandomRotation(80, expand=True), 1.5),
    'center turn': (lambda: transforms.RandomRotation(40, center=(10, 12)), 1.5),
    'affine': (lambda: transforms.RandomAffine(30, (0.1, 0.1), (0.8, 1.2), 10), 1.5),
    'perspective': (lambda: transforms.RandomPerspective(0.4, p=1.0, interpolation='nearest'), 1.5),
    'chain': (lambda: transforms.Compose([transforms.RandomHorizontalFlip(1.0), transforms.ToDtype('float32'),
                                          transforms.RandomCrop((36, 44)), transforms.Normalize([0.0], [1.0])]), 0),
}


@pytest.mark.parametrize('name', MOVES)
def test_boxes_go_where_pixels_go(name):
    make, tolerance = MOVES[name]
    for seed, box in enumerate(([12, 14, 30, 26], [20, 10, 29, 31])):
        saltern.manual_seed(seed)
        y, boxes = make()(drawn(box), boxes=np.array([box], np.float32))
        np.testing.assert_allclose(array(boxes)[0], box_of(y), atol=tolerance)


@pytest.mark.parametrize('name', MOVES)
def test_key_points_go_where_pixels_go(name):
    """Middles of spots of some pixels; torchvision's are pixels where they are flipped, and places else."""
    make, _ = MOVES[name]
    for seed, (x, y) in enumerate(((20, 18), (28, 25))):
        saltern.manual_seed(seed)
        found, points = make()(drawn([x - 1, y - 1, x + 2, y + 2]), keypoints=np.array([[[x, y]]], np.float64))
        rows, columns = np.nonzero(array(found)[0] > 0.5)
        np.testing.assert_allclose(array(points)[0, 0], [columns.mean(), rows.mean()], atol=1.5)
        assert array(points).shape == (1, 1, 2) and points.dtype == 'float64'


def test_boxes_are_exact_cut_off_and_of_their_type():
    x = np.zeros((3, 40, 50), np.uint8)
    boxes, points = np.array([[0, 0, 50, 40], [10, 20, 20, 30]]), np.array([[10, 20], [49, 39]])
    y, b, k = transforms.RandomHorizontalFlip(1.0)(x, boxes, points)
    assert b.dtype == 'int64' and b.tolist() == [[0, 0, 50, 40], [30, 20, 40, 30]] and k.tolist() == [[39, 20], [0, 39]]
    _, b, k = transforms.CenterCrop((20, 20))(x, boxes=boxes, keypoints=points)
    assert b.tolist() == [[0, 0, 20, 20], [0, 10, 5, 20]] and k.tolist() == [[-5, 10], [34, 29]]
    _, b = transforms.Resize((20, 100))(x, boxes=boxes.astype(np.float32))
    assert b.tolist() == [[0, 0, 100, 20], [20, 10, 40, 15]]
    turned = transforms.RandomRotation((90, 90), expand=True)(x, boxes=boxes.astype(np.float64))
    np.testing.assert_allclose(array(turned[1]), [[0, 0, 40, 50], [20, 30, 30, 40]], atol=1e-9)
    # What moves no pixels gives them back, and without them a picture is all that comes.
    outside = np.array([[-5.0, -5.0, 90.0, 90.0]])
    for still in (transforms.ToDtype('float32', scale=True), transforms.ColorJitter(0.5), transforms.RandomHorizontalFlip(0.0),
                  transforms.RandomApply([transforms.Pad(3)], 0.0), transforms.Identity()):
        assert still(x, boxes=outside)[1].tolist() == outside.tolist()
    assert array(transforms.Pad(1)(x)).shape == (3, 42, 52)


@pytest.mark.parametrize('call, part', [
    (lambda x: transforms.Pad(1)(x, boxes=np.zeros((2, 3))), "'boxes'"),
    (lambda x: transforms.Pad(1)(x, keypoints=np.zeros((2, 3))), "'keypoints'"),
    (lambda x: transforms.FiveCrop(2)(x, boxes=np.zeros((1, 4))), 'boxes'),
    (lambda x: transforms.Compose([transforms.RandAugment()])(x, boxes=np.zeros((1, 4))), 'boxes'),
])
def test_boxes_that_cannot_be_moved_are_refused(call, part):
    with pytest.raises((ValueError, TypeError), match=part):
        call(BYTES)
