// MatMul, Gemm and Det.

#include "algorithms/contraction.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/strided.h"

namespace saltern {

using namespace formula;

Operand matrix_product(Lowering &n, const Operand &a, const Operand &b) {
  expect_same_type(a, b);
  if (a.rank() < 2 || b.rank() < 2 || a.shape.back() != b.shape[b.shape.size() - 2])
    fail("matrices of ", to_string(a.shape), " and ", to_string(b.shape), " do not fit each other");
  const int64_t inner = a.shape.back();
  Shape shape = broadcast_shape({a.shape.begin(), a.shape.end() - 2}, {b.shape.begin(), b.shape.end() - 2}, "matrices");
  shape.insert(shape.end(), {a.shape[a.shape.size() - 2], b.shape.back()});
  if (working_type(a.type) == Type::f32 && elements(shape) > 0 && inner > 0) {
    if (a.type != Type::f32) return n.casted(matrix_product(n, n.casted(a, Type::f32), n.casted(b, Type::f32)), a.type);
    // One matrix for all batches: these are rows of one product.
    if (a.rank() > 2 && b.rank() == 2) {
      const Operand rows = n.reshaped(a, {elements(a.shape) / inner, inner});
      // Exporters write a fully connected layer of images or sequences so, whose gradients are then in the order of its
      // weights, too.
      if (!b.turned_from.empty())
        return n.reshaped(dense(n, rows, {b.turned_from, b.type, {b.shape[1], b.shape[0]}, {}}), shape);
      return n.reshaped(n.operation("matmul", {rows, b}, {}, {rows.shape[0], b.shape[1]}), shape);
    }
    return n.operation("matmul", {a, b}, {}, shape);
  }
  return n.computed(algorithms::matmul(a, b));
}

Operand matmul(Lowering &n, const Operand &a, const Operand &b) {
  if (a.rank() == 0 || b.rank() == 0) fail("a product with a scalar; expected vectors or matrices");
  const Operand left = a.rank() == 1 ? n.reshaped(a, {1, a.shape[0]}) : a;
  const Operand right = b.rank() == 1 ? n.reshaped(b, {b.shape[0], 1}) : b;
  const Operand y = matrix_product(n, left, right);
  Shape shape = y.shape;
  if (b.rank() == 1) shape.pop_back();
  if (a.rank() == 1) shape.erase(shape.end() - (b.rank() == 1 ? 1 : 2));
  return n.reshaped(y, shape);
}

namespace {

void lower_matmul(Lowering &n) { n.give(0, matmul(n, n.input(0), n.input(1))); }

// y = alpha * a' b' + beta * c
void gemm(Lowering &n) {
  const Operand &a = n.input(0), &b = n.input(1);
  const double alpha = n.attributes().real("alpha", 1), beta = n.attributes().real("beta", 1);
  const bool turned_a = n.attributes().integer("transA", 0) != 0, turned_b = n.attributes().integer("transB", 0) != 0;
  if (a.rank() != 2 || b.rank() != 2)
    fail("inputs of ", to_string(a.shape), " and ", to_string(b.shape), "; expected two matrices");
  const Operand left = turned_a ? n.transposed(a, {1, 0}) : a;
  const int64_t outputs = b.shape[turned_b ? 0 : 1];
  const Shape shape = {left.shape[0], outputs};
  const bool has_c = n.has(2) && beta != 0;
  if (has_c && broadcast_shape(shape, n.input(2).shape, "c") != shape)
    fail("c is ", to_string(n.input(2).shape), "; expected what broadcasts to ", to_string(shape));

  // A fully connected layer as it is commonly exported.
  if (a.type == Type::f32 && turned_b && alpha == 1 && has_c && beta == 1 && n.input(2).rank() > 0 &&
      elements(n.input(2).shape) == outputs && n.input(2).shape.back() == outputs && elements(shape) > 0 &&
      left.shape[1] > 0 && left.shape[1] == b.shape[1]) {
    n.give(0, n.operation("dense", {left, b, n.reshaped(n.input(2), {outputs})}, {}, shape));
    return;
  }
  const Operand product = matrix_product(n, left, turned_b ? n.transposed(b, {1, 0}) : b);
  if (alpha == 1 && !has_c) return n.give(0, product);
  if (has_c) expect_same_type(a, n.input(2));
  // Integers are scaled as real numbers, unless the scale is 1.
  const auto scaled = [](const Value &v, double by) {
    return by == 1 ? v : is_real(v.type()) ? v * by : cast(v.type(), cast(Type::f64, v) * by);
  };
  const Value y = scaled(product, alpha);
  n.give(0, has_c ? y + scaled(n.input(2), beta) : y);
}

// Elimination with the largest pivot of each column, one column after another; each step leaves a matrix that is one row
// and column smaller, and the determinant is the product of the pivots.
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

const OperatorList matmul_operators = {{"Det", determinant}, {"Gemm", gemm}, {"MatMul", lower_matmul}};

}  // namespace saltern
