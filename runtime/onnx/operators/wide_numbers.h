#pragma once
// Numbers on the host in the widest type of their kind, so that host operators are written for three types and not for
// twenty: f64, u64 and i64 (booleans too). Both ways are formulas' casts.

#include "runtime/formula/evaluate.h"
#include "runtime/onnx/operators/lowering.h"

namespace saltern {

inline Type widest(Type type) { return is_real(type) ? Type::f64 : type == Type::u64 ? Type::u64 : Type::i64; }

// Row-major.
inline Tensor converted(const Tensor &x, Type type) {
  if (x.type() == type) return x.in_layout(Layout::row_major);
  return evaluate(cast(type, formula::load(0, x.type(), axes_of(x.shape()))), {x}, x.shape());
}

// Calls visit with a null pointer of the C++ type that holds widest(type).
template <typename Visit>
auto with_widest(Type type, const Visit &visit) {
  switch (widest(type)) {
    case Type::f64:
      return visit(static_cast<double *>(nullptr));
    case Type::u64:
      return visit(static_cast<uint64_t *>(nullptr));
    default:
      return visit(static_cast<int64_t *>(nullptr));
  }
}

// Whether a comes before b in ascending order; NaN comes last, as the largest.
template <typename T>
bool ascends(T a, T b) {
  return a < b || (a == a && b != b);
}

}  // namespace saltern
