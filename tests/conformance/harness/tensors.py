"""Tensors as NumPy has them, and as files of ONNX (TensorProto)."""
from pathlib import Path

import numpy
import onnx
from onnx import helper, numpy_helper

F16, F32, F64 = numpy.float16, numpy.float32, numpy.float64
I8, U8, I32, I64, BOOL = numpy.int8, numpy.uint8, numpy.int32, numpy.int64, numpy.bool_


def tensor_type(dtype):
    return helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))


def write_tensor(path, array, name=""):
    tensor = numpy_helper.from_array(numpy.asarray(array, order="C"), name)
    Path(path).write_bytes(tensor.SerializeToString())


def read_tensor(path):
    return numpy_helper.to_array(onnx.TensorProto.FromString(Path(path).read_bytes()))


def read_outputs(folder, count):
    """The program's output_0.pb, ...; None if one is missing."""
    paths = [Path(folder) / f"output_{i}.pb" for i in range(count)]
    return [read_tensor(path) for path in paths] if all(path.exists() for path in paths) else None
