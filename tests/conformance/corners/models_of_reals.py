"""Models with one input and one output of float32, which are not run."""
import numpy
import onnx
from onnx import TensorProto
from onnx.helper import make_tensor_value_info

from harness.case import model_of


def save_model(path, nodes, constants, shape, output, output_shape):
    onnx.save(model_of(nodes, [make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                       [make_tensor_value_info(output, TensorProto.FLOAT, output_shape)],
                       [(name, numpy.asarray(value)) for name, value in constants.items()]), path)
    return path
