"""Features of several sizes, by name: each with what the smaller ones know, and regions read from the one that fits."""
import collections
import math

import numpy as np

from ._rows import functions, layers
from ._tensors import tensor
from .nn.containers import ModuleList
from .nn.module import Module, class_of

_conv = class_of(layers['Conv2dNormActivation'])


class FeaturePyramidNetwork(Module):
    """Of features in the order of falling size: each through a convolution, with the next smaller one, made as large, added."""

    def __init__(self, in_channels_list, out_channels, extra_blocks=None, norm_layer=None):
        super().__init__()
        if extra_blocks is not None:
            raise NotImplementedError('FeaturePyramidNetwork: extra_blocks')
        options = dict(norm_layer=norm_layer, activation_layer=None)
        self.inner_blocks = ModuleList([_conv(c, out_channels, 1, padding=0, **options) for c in in_channels_list])
        self.layer_blocks = ModuleList([_conv(out_channels, out_channels, 3, **options) for _ in in_channels_list])

    def forward(self, x):
        if len(x) != len(self.inner_blocks):
            raise ValueError(f'FeaturePyramidNetwork: {len(x)} features; expected {len(self.inner_blocks)}')
        results, above = [], None
        for feature, inner, layer in reversed(list(zip(x.values(), self.inner_blocks, self.layer_blocks))):
            y = inner(feature)
            if above is not None:
                y = y + functions['interpolate'](above, y.shape[-2:], mode='nearest')
            results.append(layer(y))
            above = y
        return collections.OrderedDict(zip(x, reversed(results)))


class MultiScaleRoIAlign(Module):
    """roi_align of regions, each from the feature whose scale fits its size."""

    def __init__(self, featmap_names, output_size, sampling_ratio, *, canonical_scale=224, canonical_level=4):
        super().__init__()
        self.featmap_names, self.output_size, self.sampling_ratio = list(featmap_names), output_size, sampling_ratio
        self.canonical_scale, self.canonical_level = canonical_scale, canonical_level

    def forward(self, x, boxes, image_shapes):
        features = [x[name] for name in self.featmap_names if name in x]
        largest = [max(shape[d] for shape in image_shapes) for d in (0, 1)]
        scales = [2.0 ** round(math.log2(f.shape[-2] / largest[0])) for f in features]
        least, most = -math.log2(scales[0]), -math.log2(scales[-1])
        corners = np.concatenate([np.asarray(b) for b in boxes])
        images = np.concatenate([np.full((b.shape[0], 1), i, corners.dtype) for i, b in enumerate(boxes)])
        sides = np.sqrt((corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1]))
        with np.errstate(divide='ignore'):
            levels = np.floor(self.canonical_level + np.log2(sides / self.canonical_scale) + 1e-6)
        levels = (np.clip(levels, least, most) - least).astype(np.int64)
        parts, order = [], []
        for level, (feature, scale) in enumerate(zip(features, scales)):
            which = np.nonzero(levels == level)[0]
            if len(which):
                regions = tensor(np.concatenate([images, corners], 1)[which])
                parts.append(functions['roi_align'](feature, regions, self.output_size, scale, self.sampling_ratio))
                order.append(which)
        if not parts:
            return functions['roi_align'](features[0], tensor(np.zeros((0, 5), corners.dtype)), self.output_size)
        return functions['index_select'](functions['cat'](parts), 0, tensor(np.argsort(np.concatenate(order))))
