"""Changes of samples with the names, arguments and defaults of torchvision.transforms.v2: rows of the table that C++ has
(runtime/transforms).

    augment = transforms.Compose([transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip(),
                                  transforms.ToDtype('float32', scale=True), transforms.Normalize([0.5], [0.25])])
    x = augment(picture)          # (..., C, H, W), uint8 or real numbers from 0 to 1; a tensor or an array

    x, boxes, points = augment(picture, boxes=boxes, keypoints=points)       # which go where the pixels go

Boxes are (..., 4), as (x1, y1, x2, y2), and key points (..., 2). What is drawn comes from saltern.manual_seed(). Interpolation is a word: 'nearest', 'nearest-exact', 'bilinear' or 'bicubic'.
"""
import numpy as np

from . import _rows, _saltern


class InterpolationMode:
    """torchvision's names for these words."""
    NEAREST, NEAREST_EXACT, BILINEAR, BICUBIC = 'nearest', 'nearest-exact', 'bilinear', 'bicubic'


class AutoAugmentPolicy:
    IMAGENET, CIFAR10, SVHN = 'imagenet', 'cifar10', 'svhn'


def _plain(value):
    """Types by their names."""
    return np.dtype(value).name if isinstance(value, (type, np.dtype)) else value


class Transform:
    """What a sample becomes: a call gives it."""
    _row = None

    def __init__(self, *args, **kwargs):
        self._given = args, kwargs
        self._layer = self._row.make(*map(_plain, args), **{name: _plain(value) for name, value in kwargs.items()})

    def __reduce__(self):
        """As pickle and copies take it: what it was made with."""
        return _remade, (type(self), *self._given)

    def forward(self, *inputs, **beside):
        return self._layer(*inputs, **beside)

    def __call__(self, *inputs, **beside):
        return self.forward(*inputs, **beside)

    def __repr__(self):
        return f'{type(self).__name__}({self._layer.options()})'


def _remade(kind, args, kwargs):
    return kind(*args, **kwargs)


def _class_of(row):
    made = type(row.name, (Transform,), {'_row': row, '__module__': __name__})
    made.__signature__ = _rows.signature_of(row.made_with)
    made.__doc__ = f'{row.name}{made.__signature__}'
    return made


_classes = {row.name: _class_of(row) for row in _saltern.transforms()}
globals().update(_classes)
__all__ = ['AutoAugmentPolicy', 'InterpolationMode', 'Transform', *_classes]
