#include "runtime/onnx/control_flow.h"

namespace saltern {

Type declared_type(const Graph &body, size_t output) {
  const auto declared = body.values.find(body.outputs[output]);
  return declared == body.values.end() ? Type::f32 : declared->second.type;
}

Tensor nothing_of(const Graph &body, size_t output) {
  const auto declared = body.values.find(body.outputs[output]);
  Shape shape = {0};
  if (declared != body.values.end())
    for (int64_t e : declared->second.shape) shape.push_back(std::max<int64_t>(e, 0));
  return Tensor::zeros(shape, declared_type(body, output));
}

ScanOrder scan_order(const Graph::Node &node, int64_t opset, size_t inputs) {
  const Attributes &a = node.attributes;
  const size_t first = opset < 9 ? 1 : 0;
  const int64_t scans = a.integer("num_scan_inputs");
  if (scans < 1 || inputs < first + static_cast<size_t>(scans))
    fail("has ", inputs, " inputs, of which ", scans, " are scanned");
  const size_t states = inputs - first - static_cast<size_t>(scans), made = a.graph("body").outputs.size();
  if (made < states) fail("its body gives ", made, " outputs; there are ", states, " states");
  return {states,
          static_cast<size_t>(scans),
          a.integers("scan_input_axes", {}),
          a.integers(opset < 9 ? "directions" : "scan_input_directions", {}),
          a.integers("scan_output_axes", {}),
          a.integers("scan_output_directions", {})};
}

}  // namespace saltern
