// FlexAttention in three parts, between which its modifiers stand (runtime/onnx/flex_attention.h takes it apart):
// scale q k^T, softmax, and the product with v. The type in between is the one of `softmax_precision`, by default f64
// for f64 and f32 for all others.

#include <cmath>

#include "runtime/onnx/operators/attention.h"
#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/softmax.h"

namespace saltern {

namespace {

void flex_scores(Lowering &n) {
  const Operand &q = n.input(0), &k = n.input(1);
  const Type precision = type_attribute(n.attributes(), "softmax_precision", working_type(q.type));
  if (!is_real(precision)) fail("softmax_precision is ", facts(precision).name, "; expected a real type");
  const Type type = working_type(q.type);
  const Operand raw = head_scores(n, n.casted(q, type), n.casted(k, type));
  const double scale = n.attributes().real("scale", 1 / std::sqrt(static_cast<double>(q.shape[3])));
  n.give(0, formula::cast(precision, Value(raw) * scale));
}

void flex_weights(Lowering &n) { n.give(0, softmax(n, n.input(0), 3)); }

void flex_values(Lowering &n) {
  const Operand &weights = n.input(0), &v = n.input(1);
  const Type type = weights.type == Type::f64 || v.type == Type::f64 ? Type::f64 : Type::f32;
  n.give(0, n.casted(weighted_values(n, n.casted(weights, type), n.casted(v, type)), v.type));
}

}  // namespace

const OperatorList &flex_attention_operators() {
  static const std::string domain = "saltern";
  static const OperatorList list = {{"FlexScores", flex_scores, nullptr, domain},
                                    {"FlexValues", flex_values, nullptr, domain},
                                    {"FlexWeights", flex_weights, nullptr, domain}};
  return list;
}

}  // namespace saltern
