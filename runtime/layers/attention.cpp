// The operation "attention": y = softmax(score(query key)) value over the last two dimensions, as the model compiler
// makes it of the operations it is (generators/model/passes/attention.cpp). It has no gradient.
//   query (..., rows, size), key (..., size, keys), value (..., keys, columns) are formulas of the inputs; so is score
//   (..., rows, keys), of one operand more behind them: the products of queries and keys.
// Attributes: those four; shape, of the result (..., rows, columns) before it is transposed by order; size and keys.

#include "runtime/formula/evaluate.h"
#include "runtime/operations.h"

namespace saltern::operations {

const Operation attention("attention", [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
  const std::vector<int64_t> &shape = a.integers("shape"), &order = a.integers("order");
  const int64_t rows = shape.at(shape.size() - 2), columns = shape.back(), keys = a.integer("keys");
  std::vector<Tensor> operands = in;
  const auto part = [&](const char *name, int64_t of_rows, int64_t of_columns) {
    Shape whole(shape.begin(), shape.end() - 2);
    whole.insert(whole.end(), {of_rows, of_columns});
    return evaluate(a.expression(name), operands, whole);
  };
  const Tensor query = part("query", rows, a.integer("size")), key = part("key", a.integer("size"), keys),
               value = part("value", keys, columns);
  operands.push_back(matmul.compute({query, key}, {})[0]);
  const Tensor weights = softmax.compute({part("score", rows, keys)}, {{"axis", int64_t{-1}}})[0];
  const Tensor y = matmul.compute({weights, value}, {})[0];
  Shape turned, strides;
  for (int64_t d : order) {
    turned.push_back(y.extent(static_cast<int>(d)));
    strides.push_back(y.strides().at(static_cast<size_t>(d)));
  }
  return {y.viewed(turned, strides)};
});

}  // namespace saltern::operations
