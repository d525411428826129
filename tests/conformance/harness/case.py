"""Cases: a model with inputs and the outputs that ONNX Runtime gives."""
from pathlib import Path

import onnx
from onnx import helper, numpy_helper

from harness.references import onnxruntime_results
from harness.tensors import tensor_type, write_tensor

OPSET, IR_VERSION = 21, 10


def model_of(nodes, inputs, outputs, constants):
    """A model with these infos of inputs and outputs, and constants [(name, array)]."""
    graph = helper.make_graph(nodes, "graph", inputs, outputs,
                              [numpy_helper.from_array(array, name) for name, array in constants])
    others = sorted({node.domain for node in nodes} - {""})
    opsets = [helper.make_opsetid("", OPSET)] + [helper.make_opsetid(domain, 1) for domain in others]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


class Case:
    """A model, its inputs [(name, array)] and ONNX Runtime's outputs [(name, array)]."""

    def __init__(self, nodes, inputs, constants, outputs, open_extents=None, expected=None):
        """outputs are names; raises where ONNX Runtime does not run the graph, unless it is known what they are expected
        to be."""
        self.nodes, self.inputs, self.constants = list(nodes), list(inputs), list(constants)
        infos = [helper.make_tensor_value_info(name, tensor_type(array.dtype),
                                               (open_extents or {}).get(name, array.shape))
                 for name, array in self.inputs]
        self.model = model_of(self.nodes, infos, [onnx.ValueInfoProto(name=name) for name in outputs], self.constants)
        self.outputs = list(zip(outputs, expected or onnxruntime_results(self.model, self.feeds)))
        del self.model.graph.output[:]
        for name, array in self.outputs:
            extents = array.shape if name in self.feeds else [None] * array.ndim  # an input keeps its extents
            self.model.graph.output.append(helper.make_tensor_value_info(name, tensor_type(array.dtype), extents))

    @property
    def feeds(self):
        return dict(self.inputs)

    @property
    def expected(self):
        return [array for _, array in self.outputs]

    def write(self, folder):
        """model.onnx and in/input_0.pb, ...: what run_batch takes."""
        folder = Path(folder)
        (folder / "in").mkdir(parents=True, exist_ok=True)
        onnx.save(self.model, folder / "model.onnx")
        for i, (name, array) in enumerate(self.inputs):
            write_tensor(folder / "in" / f"input_{i}.pb", array, name)
        return folder
