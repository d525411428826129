"""saltern.ops beside plain NumPy: regions, boxes, and what is kept of them."""
import numpy as np
import pytest

import saltern
from checks import check_gradients
from saltern import ops

random = np.random.default_rng(2)
BOXES = np.array([[0, 0, 4, 3], [1, 1, 5, 4], [0.5, 0.2, 4.2, 3.1], [6, 6, 7, 9], [6.5, 5, 8, 8]])
OTHERS = np.array([[0.5, 0.4, 4.3, 3.5], [1.2, 2, 3, 4.1], [7.1, 8.2, 9.3, 9.1]])


def between(image, y, x):
    """An element of an image, read between its own; zeros outside."""
    total = 0
    for i in (int(np.floor(y)), int(np.floor(y)) + 1):
        for j in (int(np.floor(x)), int(np.floor(x)) + 1):
            if 0 <= i < image.shape[0] and 0 <= j < image.shape[1]:
                total += image[i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return total


def test_deformable_convolution_is_that_of_loops():
    x, w, b = random.uniform(-1, 1, (2, 4, 5, 6)), random.uniform(-1, 1, (6, 2, 2, 3)), random.uniform(-1, 1, 6)
    groups, offset_groups, stride, padding, dilation = 2, 2, (2, 1), (1, 0), (1, 2)
    height, width = (5 + 2 - 1 - 1) // 2 + 1, (6 - 4 - 1) // 1 + 1
    offset = random.uniform(-1.5, 1.5, (2, 2 * offset_groups * 6, height, width))
    mask = random.uniform(0, 1, (2, offset_groups * 6, height, width))
    expected = np.zeros((2, 6, height, width))
    for n, o, p, q in np.ndindex(expected.shape):
        total = b[o]
        for c, i, j in np.ndindex(2, 2, 3):
            channel = o // 3 * 2 + c
            tap = channel // 2 * 6 + i * 3 + j
            y = p * stride[0] - padding[0] + i * dilation[0] + offset[n, 2 * tap, p, q]
            z = q * stride[1] - padding[1] + j * dilation[1] + offset[n, 2 * tap + 1, p, q]
            total += w[o, c, i, j] * mask[n, tap, p, q] * between(x[n, channel], y, z)
        expected[n, o, p, q] = total
    given = ops.deform_conv2d(*map(saltern.tensor, (x, offset, w, b)), stride, padding, dilation, saltern.tensor(mask))
    np.testing.assert_allclose(np.asarray(given), expected, atol=1e-12)


def test_roi_align_reads_the_middle_of_bins():
    x = random.uniform(-1, 1, (2, 3, 6, 7))
    boxes = np.array([[1, 1.0, 0.5, 5.0, 4.5]])
    given = ops.roi_align(saltern.tensor(x), saltern.tensor(boxes), 2, sampling_ratio=1, aligned=True)
    for c, p, q in np.ndindex(3, 2, 2):
        expected = between(x[1, c], 0.5 - 0.5 + (p + 0.5) * 2, 1 - 0.5 + (q + 0.5) * 2)
        assert np.isclose(np.asarray(given)[0, c, p, q], expected)
    listed = ops.roi_align(saltern.tensor(x), [saltern.tensor(np.zeros((0, 4))), saltern.tensor(boxes[:, 1:])], 2,
                           sampling_ratio=1, aligned=True)
    np.testing.assert_array_equal(np.asarray(listed), np.asarray(given))


def test_roi_pools_of_whole_elements():
    x = random.uniform(-1, 1, (1, 4, 6, 6))
    boxes = saltern.tensor(np.array([[0, 1, 2, 4, 5.0]]))
    largest = np.asarray(ops.roi_pool(saltern.tensor(x), boxes, 2))
    np.testing.assert_array_equal(largest[0], x[0, :, 2:6, 1:5].reshape(4, 2, 2, 2, 2).max((2, 4)))
    means = np.asarray(ops.ps_roi_pool(saltern.tensor(x), saltern.tensor(np.array([[0, 0, 1, 4, 5.0]])), 2))
    for p, q in np.ndindex(2, 2):
        assert np.isclose(means[0, 0, p, q], x[0, 2 * p + q, 1 + 2 * p:3 + 2 * p, 2 * q:2 + 2 * q].mean())


def measures(a, b):
    """IoU and its kin of two boxes; alpha v of the last apart."""
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    shared = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    union = area(a) + area(b) - shared
    around = [min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])]
    centre = lambda box: np.array([box[0] + box[2], box[1] + box[3]]) / 2
    diagonal = (around[2] - around[0]) ** 2 + (around[3] - around[1]) ** 2
    iou = shared / union
    distance = iou - ((centre(a) - centre(b)) ** 2).sum() / diagonal
    angle = lambda box: np.arctan((box[2] - box[0]) / (box[3] - box[1]))
    v = 4 / np.pi ** 2 * (angle(a) - angle(b)) ** 2
    return {'box_iou': iou, 'generalized_box_iou': iou - (area(around) - union) / area(around),
            'distance_box_iou': distance, 'complete_box_iou': distance - v / (1 - iou + v) * v}


@pytest.mark.parametrize('name', measures(BOXES[0], BOXES[1]))
def test_overlaps(name):
    given = np.asarray(getattr(ops, name)(saltern.tensor(BOXES), saltern.tensor(OTHERS)))
    expected = [[measures(a, b)[name] for b in OTHERS] for a in BOXES]
    np.testing.assert_allclose(given, expected, atol=1e-6)
    if name == 'box_iou':
        return
    loss = getattr(ops, f'{name}_loss')
    losses = np.asarray(loss(saltern.tensor(BOXES[:3]), saltern.tensor(OTHERS)))
    np.testing.assert_allclose(losses, [1 - expected[i][i] for i in range(3)], atol=1e-6)
    if name != 'complete_box_iou':  # whose weight is a constant to its gradient
        check_gradients(lambda a, b: loss(a, b, 'sum'), [BOXES[:3], OTHERS])


def test_box_functions():
    boxes = saltern.tensor(BOXES)
    np.testing.assert_allclose(np.asarray(ops.box_area(boxes))[:2], [12, 12])
    for there in ('xywh', 'cxcywh'):
        converted = ops.box_convert(boxes, 'xyxy', there)
        np.testing.assert_allclose(np.asarray(ops.box_convert(converted, there, 'xyxy')), BOXES, atol=1e-12)
        np.testing.assert_allclose(np.asarray(ops.box_area(converted, there)), np.asarray(ops.box_area(boxes)))
        check_gradients(lambda b: ops.box_convert(b, there, 'xyxy'), [BOXES])
    np.testing.assert_array_equal(np.asarray(ops.clip_boxes_to_image(boxes, (4, 7)))[3:], [[6, 4, 7, 4], [6.5, 4, 7, 4]])
    assert ops.remove_small_boxes(boxes, 1.5).tolist() == [0, 1, 2, 4]
    masks = np.zeros((3, 4, 5), bool)
    masks[0, 1:3, 2:5] = masks[1, 3, 0] = True
    assert ops.masks_to_boxes(saltern.tensor(masks)).tolist() == [[2, 1, 4, 2], [0, 3, 0, 3], [0, 0, 0, 0]]


def test_suppression():
    boxes, scores = saltern.tensor(BOXES), saltern.tensor(np.array([0.5, 0.9, 0.8, 0.1, 0.6]))
    assert ops.nms(boxes, scores, 0.3).tolist() == [1, 4, 3]  # 2 and 0 overlap 1
    assert ops.nms(boxes, scores, 0.9).tolist() == [1, 2, 4, 0, 3]
    assert ops.batched_nms(boxes, scores, saltern.tensor(np.array([0, 1, 1, 0, 0])), 0.3).tolist() == [1, 4, 0, 3]
    with pytest.raises(ValueError, match="nms: 'boxes'.*n, 4"):
        ops.nms(scores, scores, 0.5)


def test_focal_loss():
    x, t = random.uniform(-2, 2, (3, 4)), (random.uniform(0, 1, (3, 4)) > 0.5) * 1.0
    p = 1 / (1 + np.exp(-x))
    right = np.where(t == 1, p, 1 - p)
    expected = -np.log(right) * (1 - right) ** 2 * np.where(t == 1, 0.25, 0.75)
    np.testing.assert_allclose(np.asarray(ops.sigmoid_focal_loss(saltern.tensor(x), saltern.tensor(t))), expected, atol=1e-9)
    check_gradients(lambda x: ops.sigmoid_focal_loss(x, saltern.tensor(t), 0.3, 1.5, 'mean'), [x])


def test_blocks_that_are_dropped():
    saltern.manual_seed(3)
    y = np.asarray(ops.drop_block2d(saltern.ones(4, 8, 16, 16), 0.2, 3))
    assert np.isclose(y.mean(), 1, atol=1e-4) and 0.1 < (y == 0).mean() < 0.3
    for image in (y == 0).reshape(-1, 16, 16):  # every zero is in a block of zeros
        blocks = np.lib.stride_tricks.sliding_window_view(image, (3, 3)).all((2, 3))
        covered = np.zeros_like(image)
        for i, j in np.argwhere(blocks):
            covered[i:i + 3, j:j + 3] = True
        np.testing.assert_array_equal(covered, image)
    rows = np.asarray(ops.stochastic_depth(saltern.ones(64, 3), 0.5, 'row'))
    assert set(np.unique(rows)) == {0, 2} and (rows == rows[:, :1]).all()


def test_classes_stand_for_their_names():
    net = ops.Conv2dNormActivation(3, 4, norm_layer=None, activation_layer=saltern.nn.SiLU)
    assert [name for name, _ in net.named_parameters()] == ['0.weight', '0.bias']
    with pytest.raises(ValueError, match='DeformConv2d: .groups. is 2'):
        ops.DeformConv2d(3, 4, 3, groups=2)


def test_pyramids():
    features = {'a': random.uniform(-1, 1, (1, 2, 8, 8)), 'b': random.uniform(-1, 1, (1, 3, 4, 4))}
    net = ops.FeaturePyramidNetwork([2, 3], 4).double()
    given = net({name: saltern.tensor(f) for name, f in features.items()})
    inner = [np.asarray(block(saltern.tensor(f))) for block, f in zip(net.inner_blocks, features.values())]
    both = saltern.tensor(inner[0] + inner[1].repeat(2, 2).repeat(2, 3))
    np.testing.assert_allclose(np.asarray(given['a']), np.asarray(net.layer_blocks[0](both)), atol=1e-12)
    assert list(given) == ['a', 'b'] and 'inner_blocks.0.0.weight' in net.state_dict()
    boxes = np.array([[0, 0, 60, 60], [1, 2, 9, 8.0]])
    pool = ops.MultiScaleRoIAlign(['a', 'b'], 2, 2, canonical_scale=32, canonical_level=4)
    y = pool({name: saltern.tensor(f[:, :2]) for name, f in features.items()}, [saltern.tensor(boxes)], [(64, 64)])
    for i, (name, scale) in enumerate([('b', 1 / 16), ('a', 1 / 8)]):  # the large one from the small feature
        alone = ops.roi_align(saltern.tensor(features[name][:, :2]), [saltern.tensor(boxes[i:i + 1])], 2, scale, 2)
        np.testing.assert_allclose(np.asarray(y)[i], np.asarray(alone)[0], atol=1e-12)
