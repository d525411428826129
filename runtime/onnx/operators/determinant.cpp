// Det: elimination with the largest pivot of each column, one column after another; each step leaves a matrix that is
// one row and column smaller, and the determinant is the product of the pivots.

#include "runtime/onnx/operators/contraction.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

void determinant(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.rank() < 2 || x.shape.back() != x.shape[x.shape.size() - 2])
    fail("x is ", to_string(x.shape), "; expected square matrices");
  const Shape batch(x.shape.begin(), x.shape.end() - 2);
  const int64_t count = elements(batch);
  const Type type = working_type(x.type);
  Operand matrix = n.casted(n.reshaped(x, {count, x.shape.back(), x.shape.back()}), type);
  Value product = inlined({count}, [&](const Axes &) { return constant(type, 1); });
  for (int64_t size = x.shape.back(); size > 0; --size) {
    const Value m = matrix;
    const Value row = compute("row", {count}, [&](const Axes &at) {
      return reduce(Function::first_greatest, {size}, [&](const Axes &k) { return abs(m(at[0], k[0], 0)); });
    });
    product = named("product", inlined({count}, [&](const Axes &at) {
                      const Expression p = row.at(at), value = product.at(at) * m(at[0], p, 0);
                      return select(p == 0, value, -value);  // rows changed places
                    }));
    const Value rest = compute("rest", {count, size - 1, size - 1}, [&](const Axes &at) {
      const Expression p = row(at[0]), i = select(at[1] + 1 == p, Expression(0), at[1] + 1), j = at[2] + 1;
      const Expression pivot = m(at[0], p, 0);
      const Expression factor = select(pivot == 0, literal(pivot, 0), m(at[0], i, 0) / pivot);
      return m(at[0], i, j) - factor * m(at[0], p, j);
    });
    const std::vector<Operand> made = n.computed({product, rest});
    product = made[0];
    matrix = made[1];
  }
  n.give(0, n.casted(n.reshaped(n.computed(product), batch), x.type));
}

}  // namespace

const OperatorList &determinant_operators() {
  static const OperatorList list = {{"Det", determinant}};
  return list;
}

}  // namespace saltern
