// Operators that are ONNX's own under another domain, or nearly so.

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/microsoft.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

std::vector<Operand> inputs_of(const Lowering &n) {
  std::vector<Operand> all;
  for (size_t i = 0; i < n.input_count(); ++i) all.push_back(n.optional(i));
  return all;
}

Operator the_same(const char *op) {
  const auto lower = [op](Lowering &n) {
    const std::vector<Operand> given = n.by_operator(op, inputs_of(n), n.attributes(), n.node().outputs.size());
    for (size_t i = 0; i < given.size(); ++i) n.give(i, given[i]);
  };
  return {op, lower, nullptr, microsoft};
}

void expand_dims(Lowering &n) {
  n.give(0, by(n, "Unsqueeze", {n.input(0), n.constant(Tensor::of<int64_t>({1}, n.known_integers(1, "the axis")))}));
}

// The step is 1 where it is not given.
void range(Lowering &n) {
  std::vector<Operand> all = inputs_of(n);
  for (Operand &o : all) o = n.reshaped(o, {});
  if (all.size() < 3) all.push_back(n.constant(Tensor::full({}, 1, all.at(0).type)));
  n.give(0, by(n, "Range", all));
}

// The pads are an input.
void transposed_convolution(Lowering &n) {
  Attributes a = some_attributes(n, {"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "strides"});
  if (n.has(2)) a.set("pads", n.known_integers(2, "the pads"));
  n.give(0, by(n, "ConvTranspose", {n.input(0), n.input(1), n.optional(3)}, a));
}

}  // namespace

const OperatorList microsoft_renamed_operators = {
    the_same("DequantizeLinear"),
    the_same("GatherND"),
    the_same("GridSample"),
    the_same("Pad"),
    the_same("QuantizeLinear"),
    the_same("Trilu"),
    {"ConvTransposeWithDynamicPads", transposed_convolution, nullptr, microsoft},
    {"ExpandDims", expand_dims, nullptr, microsoft},
    {"Range", range, nullptr, microsoft},
};

}  // namespace saltern
