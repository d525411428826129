#pragma once
// Operators of ONNX Runtime's own domain: files have them that it optimised or quantized. Most are some of ONNX's own, put
// together (Lowering::by_operator).

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

constexpr const char *microsoft = "com.microsoft";

// The first result of an operator of ONNX's own.
inline Operand by(Lowering &n, const char *op, const std::vector<Operand> &inputs, const Attributes &attributes = {}) {
  return n.by_operator(op, inputs, attributes).at(0);
}

// Those of the node's attributes that have these names.
inline Attributes some_attributes(const Lowering &n, const std::vector<const char *> &names) {
  Attributes some;
  for (const auto &[name, a] : n.attributes())
    for (const char *wanted : names)
      if (name == wanted) some.set(name, a);
  return some;
}

}  // namespace saltern
