// Det: elimination with the largest pivot of each column, one column after another; each step leaves a matrix that is
// one row and column smaller, and the determinant is the product of the pivots.

#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

using formula::Function;

namespace {

void determinant(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.rank() < 2 || x.shape.back() != x.shape[x.shape.size() - 2])
    fail("x is ", to_string(x.shape), "; expected square matrices");
  const Shape batch(x.shape.begin(), x.shape.end() - 2);
  const int64_t count = elements(batch);
  const Type type = working_type(x.type);
  const auto zero = formula::constant_integer(Type::i64, 0);
  Operand matrix = n.casted(n.reshaped(x, {count, x.shape.back(), x.shape.back()}), type);
  Operand product =
      n.formula(type, {count}, {}, [&](const Reads &, const Axes &) { return formula::constant(type, 1); });
  for (int64_t size = x.shape.back(); size > 0; --size) {
    const Operand row = n.formula(Type::i64, {count}, {matrix}, [&](const Reads &r, const Axes &at) {
      return reduce(Function::first_greatest, {size}, [&](const std::vector<Expression> &s) {
        return abs(r[0]({at[0], s[0], zero}));
      });
    });
    product = n.formula(type, {count}, {product, matrix, row}, [&](const Reads &r, const Axes &at) {
      const Expression p = r[2].here(), value = r[0].here() * r[1]({at[0], p, zero});
      return select(p == 0, value, -value);  // rows changed places
    });
    matrix = n.formula(type, {count, size - 1, size - 1}, {matrix, row}, [&](const Reads &r, const Axes &at) {
      const Expression p = r[1]({at[0]}), i = select(at[1] + 1 == p, zero, at[1] + 1), j = at[2] + 1;
      const Expression pivot = r[0]({at[0], p, zero});
      const Expression factor = select(pivot == 0, literal(pivot, 0), r[0]({at[0], i, zero}) / pivot);
      return r[0]({at[0], i, j}) - factor * r[0]({at[0], p, j});
    });
  }
  n.give(0, n.casted(n.reshaped(product, batch), x.type));
}

}  // namespace

const OperatorList &determinant_operators() {
  static const OperatorList list = {{"Det", determinant}};
  return list;
}

}  // namespace saltern
