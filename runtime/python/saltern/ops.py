"""Vision, with torchvision's names and meaning (torchvision.ops): regions, boxes, deformable convolutions, blocks."""
from ._rows import functions, layers
from .nn.module import class_of
from ._pyramids import FeaturePyramidNetwork, MultiScaleRoIAlign

_functions = '''batched_nms box_area box_convert box_iou clip_boxes_to_image complete_box_iou complete_box_iou_loss deform_conv2d
distance_box_iou distance_box_iou_loss drop_block2d drop_block3d generalized_box_iou generalized_box_iou_loss masks_to_boxes nms
ps_roi_align ps_roi_pool remove_small_boxes roi_align roi_pool sigmoid_focal_loss stochastic_depth'''.split()
_layers = '''Conv2dNormActivation Conv3dNormActivation DeformConv2d DropBlock2d DropBlock3d FrozenBatchNorm2d MLP PSRoIAlign PSRoIPool
Permute RoIAlign RoIPool SqueezeExcitation StochasticDepth'''.split()

__all__ = _functions + _layers + ['FeaturePyramidNetwork', 'MultiScaleRoIAlign']
globals().update({name: functions[name] for name in _functions})
globals().update({name: class_of(layers[name]) for name in _layers})
