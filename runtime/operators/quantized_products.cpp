// Products and convolutions of quantized numbers: (x - zero point) in i32, summed in i32; QLinear* scale the sum and
// round it back.

#include "runtime/operators/contraction.h"
#include "runtime/operators/convolution.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/rounding.h"

namespace saltern {

namespace {

const Operand absent;

const Operand &optional(const Lowering &n, size_t i) { return n.has(i) ? n.input(i) : absent; }

// What the elements count from their zero point on: in i32, or in f32 for small floats. The zero point broadcasts.
Operand counted(Lowering &n, const Operand &x, const Operand &zero) {
  const Type type = is_real(x.type) ? Type::f32 : Type::i32;
  if (!zero.present()) return n.casted(x, type);
  if (zero.type != x.type)
    fail("a zero point of ", facts(zero.type).name, " for a tensor of ", facts(x.type).name, "; expected one type");
  return n.formula(type, x.shape, {x, zero},
                   [&](const Reads &r, const Axes &) { return cast(type, r[0].here()) - cast(type, r[1].here()); });
}

// Scales and zero points as they broadcast to a matrix: one number, one for each row of a left and for each column of a
// right one, or a tensor of the matrix's rank.
Operand along_rows(Lowering &n, const Operand &p) {
  if (!p.present()) return p;
  if (elements(p.shape) == 1) return n.reshaped(p, {});
  return p.rank() == 1 ? n.reshaped(p, {p.shape[0], 1}) : p;
}
Operand along_columns(Lowering &n, const Operand &p) {
  return p.present() && elements(p.shape) == 1 ? n.reshaped(p, {}) : p;
}
// One number, or one for each output of a convolution, for a tensor that has its outputs in dimension `axis`.
Operand along_outputs(Lowering &n, const Operand &p, int axis, int rank) {
  if (!p.present()) return p;
  if (elements(p.shape) == 1) return n.reshaped(p, {});
  Shape shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = elements(p.shape);
  return n.reshaped(p, shape);
}

// round(sum * a_scale * b_scale / y_scale) + y_zero, within the bounds of y's type. The scales broadcast to the sum.
Operand requantized(Lowering &n, const Operand &sum, const Operand &a_scale, const Operand &b_scale,
                    const Operand &y_scale, const Operand &y_zero) {
  return n.formula(y_zero.type, sum.shape, {sum, a_scale, b_scale, y_scale, y_zero}, [&](const Reads &r, const Axes &) {
    const auto f32 = [&](size_t i) { return cast(Type::f32, r[i].here()); };
    const Expression scaled = f32(0) * (f32(1) * f32(2) / f32(3));
    if (is_real(y_zero.type)) return cast(y_zero.type, scaled + f32(4));
    return rounded_within(y_zero.type, call(formula::Function::round, scaled) + f32(4));
  });
}

void matmul_integer(Lowering &n) {
  const Operand a = counted(n, n.input(0), along_rows(n, optional(n, 2))),
                b = counted(n, n.input(1), along_columns(n, optional(n, 3)));
  n.give(0, matmul(n, a, b));
}

void qlinear_matmul(Lowering &n) {
  const Operand a = counted(n, n.input(0), along_rows(n, n.input(2))),
                b = counted(n, n.input(3), along_columns(n, n.input(5)));
  const Type type = is_real(a.type) || is_real(b.type) ? Type::f32 : Type::i32;
  const Operand sum = matmul(n, n.casted(a, type), n.casted(b, type));
  n.give(0, requantized(n, sum, along_rows(n, n.input(1)), along_columns(n, n.input(4)), along_rows(n, n.input(6)),
                        along_rows(n, n.input(7))));
}

Operand integer_convolution(Lowering &n, const Operand &x, const Operand &x_zero, const Operand &w,
                            const Operand &w_zero, const Operand &bias) {
  if (x.rank() < 2 || w.rank() != x.rank())
    fail("an image of ", to_string(x.shape), " and weights of ", to_string(w.shape),
         "; expected (N, C, D1, ...) and as many dimensions");
  const SlidingAxes axes = sliding_axes(n, x.shape, {w.shape.begin() + 2, w.shape.end()});
  return convolution(n, counted(n, x, along_outputs(n, x_zero, 1, x.rank())),
                     counted(n, w, along_outputs(n, w_zero, 0, w.rank())), bias, axes,
                     groups_of(n, x.shape[1], w.shape[0]));
}

void conv_integer(Lowering &n) {
  n.give(0, integer_convolution(n, n.input(0), optional(n, 2), n.input(1), optional(n, 3), absent));
}

void qlinear_conv(Lowering &n) {
  const Operand sum = integer_convolution(n, n.input(0), n.input(2), n.input(3), n.input(5), optional(n, 8));
  const auto outputs = [&](size_t i) { return along_outputs(n, n.input(i), 1, sum.rank()); };
  n.give(0, requantized(n, sum, outputs(1), outputs(4), outputs(6), outputs(7)));
}

}  // namespace

const OperatorList &quantized_product_operators() {
  static const OperatorList list = {{"ConvInteger", conv_integer},
                                    {"MatMulInteger", matmul_integer},
                                    {"QLinearConv", qlinear_conv},
                                    {"QLinearMatMul", qlinear_matmul}};
  return list;
}

}  // namespace saltern
