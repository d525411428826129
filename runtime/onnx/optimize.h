#pragma once
// Passes over imported graphs that leave ONNX operators: what an exporter wrote down that no run needs. Each is a
// function in runtime/onnx/passes/; results stay the same up to rounding. No pass gives a name another
// meaning: what was inferred of the values before it holds after it, and is handed on.

#include <vector>

#include "runtime/onnx/infer_shapes.h"

namespace saltern {

// Files of IR versions before 4 list every constant as an input. Since then a constant that is an input is a default,
// which callers may override; in older files it is a constant.
Model without_constant_inputs(Model model);
// Nodes of constants only become constants, as long as these stay small (results of random operators never); so do
// values that only shapes decide on, where these are known.
Model with_folded_constants(Model model, const Inferred &known);
// Without nodes that pass their input on as it is: Identity, Dropout outside of training, x + 0, x * 1, a Slice of all,
// a Transpose, Reshape, Expand or Cast that changes nothing, ...
Model without_identities(Model model, const Inferred &known);
// Two nodes one after the other that are one: Reshape of Reshape, Transpose of Transpose, Cast of a lossless Cast; two
// that are none: Neg of Neg. Squeeze, Unsqueeze and Flatten are Reshapes where shapes are known.
Model with_merged_pairs(Model model, const Inferred &known);
// Transposes go down through operators that do not mind, and cancel; where that leaves fewer of them.
Model with_pushed_transposes(Model model, const Inferred &known);
// What scales and shifts each channel (BatchNormalization, Mul, Add, ... by constants) goes into the constant weights
// of the Conv, ConvTranspose or Gemm before it; MatMul and Add of constants are a Gemm.
Model with_folded_scales(Model model, const Inferred &known);
// Not one of model_passes(), since other runtimes want models as quantizers write them: products of dequantized numbers by
// constant weights (DequantizeLinear before a Conv, MatMul or Gemm) are sums of integers (ConvInteger, MatMulInteger) that
// are scaled once; what only moves numbers between DequantizeLinear and QuantizeLinear of one scale moves the integers;
// QuantizeLinear multiplies instead of dividing. A result is at most one step of its QuantizeLinear from that of the model
// as it stands, where f32 rounds the other way.
Model with_integer_products(Model model);
// Nodes with the same operator, attributes and inputs are one.
Model with_common_nodes_once(Model model, const Inferred &known);
// Without nodes and constants that no output needs.
Model without_dead_code(Model model, const Inferred &known = {});

struct ModelPass {
  const char *name;
  Model (*run)(Model, const Inferred &known);
};
// All but the first, in their order.
const std::vector<ModelPass> &model_passes();

// All of them, until nothing changes. Throws an Error that names the pass where one leaves a wrong graph.
Model optimized(const Model &model);

}  // namespace saltern
