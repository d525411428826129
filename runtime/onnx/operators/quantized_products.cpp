// Products and convolutions of quantized numbers: (x - zero point), summed in i32; QLinear* scale the sum and round it
// back.
//
// Constant weights of 8 bits that count from zero are for operations of their own (runtime/layers/integer_products.h).
// Other numbers of 8 bits go through the library's f32 kernels: f32 holds integers up to 2^24, so that sums of a few hundred
// products are exact in any order. Longer ones are taken in parts, whose sums are added in i32.

#include <algorithm>
#include <optional>

#include "runtime/formula/evaluate_values.h"
#include "runtime/layers/integer_products.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/convolution.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/operators/small_casts.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// What the elements count from their zero point on: in f32 where they have 8 bits or are small floats, else in i32.
struct Counted {
  Operand values;
  int64_t largest;  // no element is further from 0; 0: sums of products are not exact in f32
};

// The distance between a type's numbers and zero points that is never exceeded; these are numbers of the type where
// they are not known.
int64_t largest_distance(Type type, const Operand &zero) {
  const int bits = facts(type).bits;
  const bool natural = facts(type).kind == TypeFacts::Kind::natural;
  const int64_t low = natural ? 0 : -(int64_t{1} << (bits - 1)), high = low + (int64_t{1} << bits) - 1;
  if (!zero.present()) return std::max(-low, high);
  if (!zero.value.defined()) return high - low;
  int64_t largest = 1;
  for (int64_t z : zero.value.integers()) largest = std::max({largest, high - z, z - low});
  return largest;
}

// The zero point broadcasts. Small constants are counted at once: some kernels want constant weights.
Counted counted(Lowering &n, const Operand &x, const Operand &zero) {
  constexpr int64_t few = 16384;
  const bool small = !is_real(x.type) && facts(x.type).bits <= 8;
  const Type type = small || is_real(x.type) ? Type::f32 : Type::i32;
  if (zero.present() && zero.type != x.type)
    fail("a zero point of ", facts(zero.type).name, " for a tensor of ", facts(x.type).name, "; expected one type");
  if (zero.present() && broadcast_shape(x.shape, zero.shape, "zero points") != x.shape)
    fail("a zero point of ", to_string(zero.shape), " does not broadcast to ", to_string(x.shape));
  const int64_t largest = small ? largest_distance(x.type, zero) : 0;
  const Value numbers = cast(type, Value(x)), value = zero.present() ? numbers - cast(type, Value(zero)) : numbers;
  if (!x.value.defined() || elements(x.shape) > few || (zero.present() && !zero.value.defined()))
    return {n.computed(value), largest};
  Values given = {x};
  std::vector<Tensor> tensors = {x.value};
  if (zero.present()) {
    given.push_back(zero);
    tensors.push_back(zero.value);
  }
  return {n.constant(evaluate(exact_formulas(given, {value}), tensors)[0]), largest};
}

// How many products of such elements have a sum that f32 holds.
int64_t exact_products(const Counted &a, const Counted &b) {
  constexpr int64_t exact = 1 << 24;
  return a.largest == 0 || b.largest == 0 ? 0 : exact / (a.largest * b.largest);
}

// The sum in i32 of what `part(begin, count)` gives for parts of [0, extent), each of at most `most`; and of the bias,
// which may be absent.
Operand sum_of_parts(Lowering &n, int64_t extent, int64_t most, const Operand &bias,
                     const std::function<Operand(int64_t begin, int64_t count)> &part) {
  Value all = bias.present() ? cast(Type::i32, Value(bias)) : Value();
  for (int64_t begin = 0; begin < extent; begin += most) {
    const Value next = cast(Type::i32, Value(part(begin, std::min(most, extent - begin))));
    all = all.defined() ? all + next : next;
  }
  return n.computed(all);
}

// A scale or a zero point as it broadcasts to a tensor of that rank: one number, or one for each place of an axis, or a
// tensor that broadcasts by itself.
Operand along(Lowering &n, const Operand &p, int axis, int rank) {
  if (!p.present()) return p;
  if (elements(p.shape) == 1) return n.reshaped(p, {});
  if (p.rank() != 1) return p;
  Shape shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = p.shape[0];
  return n.reshaped(p, shape);
}
// Of a left matrix there is one for each row, of a right one for each column.
Operand along_rows(Lowering &n, const Operand &p) { return along(n, p, 0, 2); }
Operand along_columns(Lowering &n, const Operand &p) { return along(n, p, 0, 1); }

// round(sum * a_scale * b_scale / y_scale) + y_zero, within the bounds of y's type. The scales broadcast to the sum.
Operand requantized(Lowering &n, const Operand &sum, const Operand &a_scale, const Operand &b_scale,
                    const Operand &y_scale, const Operand &y_zero) {
  const auto f32 = [](const Value &v) { return cast(Type::f32, v); };
  const Value scaled = f32(sum) * (f32(a_scale) * f32(b_scale) / f32(y_scale)), zero = f32(y_zero);
  if (is_real(y_zero.type)) return n.computed(cast(y_zero.type, scaled + zero));
  if (y_zero.value.defined() && y_zero.value.size() == 1 && facts(y_zero.type).bits <= 16) {
    const int64_t known = y_zero.value.integers()[0];
    return n.computed(formula::inlined(
        extents(sum.shape), [&](const Axes &at) { return rounded_from(y_zero.type, scaled.at(at), known); }));
  }
  const Value rounded = map(formula::Function::round, scaled) + zero;
  return n.computed(formula::inlined(extents(sum.shape),
                                     [&](const Axes &at) { return rounded_within(y_zero.type, rounded.at(at)); }));
}

// ---- The operations for constant weights of 8 bits.

bool has_bytes(const Operand &x) { return x.type == Type::u8 || x.type == Type::i8; }

// Weights as numbers of i8 that count from 0, if all of them do; else undefined. Those of u8 may count from 128.
Tensor levels(const Operand &w, const Operand &zero, int64_t outputs) {
  if (!w.value.defined() || !has_bytes(w) || (zero.present() && (!zero.value.defined() || zero.type != w.type)))
    return {};
  const bool natural = w.type == Type::u8;
  const int64_t nothing = natural ? 128 : 0;
  const std::vector<int64_t> zeros = zero.present() ? zero.value.integers() : std::vector<int64_t>{0};
  if (zeros.size() != 1 && (zero.rank() != 1 || zero.shape[0] != outputs)) return {};
  if (std::any_of(zeros.begin(), zeros.end(), [&](int64_t z) { return z != nothing; })) return {};
  const Tensor from = w.value.in_layout(Layout::row_major);
  if (!natural) return from;
  const Tensor to = Tensor::empty(w.shape, Type::i8);
  std::transform(from.data<uint8_t>(), from.data<uint8_t>() + from.size(), to.data<int8_t>(),
                 [](uint8_t v) { return static_cast<int8_t>(v - 128); });
  return to;
}

// One operand of u8 and the number that stands for 0 in it; undefined where that is not one known number.
struct Bytes {
  Operand values;
  int64_t zero;
};
std::optional<Bytes> bytes(Lowering &n, const Operand &x, const Operand &zero) {
  if (!has_bytes(x) || (zero.present() && (zero.type != x.type || !zero.value.defined() || zero.value.size() != 1)))
    return std::nullopt;
  const int64_t z = zero.present() ? zero.value.integers()[0] : 0;
  if (x.type == Type::u8) return Bytes{x, z};
  constexpr int64_t shift = 128;
  return Bytes{n.computed(cast(Type::u8, cast(Type::i32, Value(x)) + shift)), z + shift};
}

// Undefined where it is none of theirs.
Operand integer_dense(Lowering &n, const Operand &a, const Operand &a_zero, const Operand &b, const Operand &b_zero) {
  if (a.rank() < 2 || b.rank() != 2 || a.shape.back() != b.shape[0] || elements(a.shape) == 0) return {};
  if (elements(b.shape) == 0 || b.shape[0] > most_integer_products) return {};
  const Tensor weights = levels(b, b_zero, b.shape[1]);
  const std::optional<Bytes> x = weights.defined() ? bytes(n, a, a_zero) : std::nullopt;
  if (!x) return {};
  const int64_t inner = b.shape[0], columns = b.shape[1], rows = elements(a.shape) / inner;
  const Tensor turned = Tensor::empty({columns, inner}, Type::i8);
  turned.copy_from(weights.viewed(turned.shape(), {1, columns}));
  const Operand y = n.operation("integer_dense", {n.reshaped(x->values, {rows, inner}), n.constant(turned)},
                                {{"zero", x->zero}}, {rows, columns}, Type::i32);
  Shape shape = a.shape;
  shape.back() = columns;
  return n.reshaped(y, shape);
}

Operand integer_conv2d(Lowering &n, const Operand &image, const Operand &image_zero, const Operand &w,
                       const Operand &w_zero, const SlidingAxes &axes, int64_t groups) {
  if ((image.rank() != 3 && image.rank() != 4) || elements(image.shape) == 0 || elements(w.shape) == 0) return {};
  const int64_t taps = elements(kernel_of(axes));
  const bool each_alone = groups == image.shape[1] && groups == w.shape[0] && w.shape[1] == 1;
  if ((groups != 1 && !each_alone) || w.shape[1] * groups != image.shape[1]) return {};
  if (taps > most_integer_taps || w.shape[1] * taps > most_integer_products) return {};
  for (const SlidingAxis &a : axes)
    if (a.positions < 1) return {};
  // Taps along a row lie side by side.
  if (groups == 1 && axes.back().dilation != 1 && axes.back().kernel != 1) return {};
  const Tensor weights = levels(w, w_zero, w.shape[0]);
  const std::optional<Bytes> x = weights.defined() ? bytes(n, image, image_zero) : std::nullopt;
  if (!x) return {};
  const Shape shape = image_of(image.shape[0], w.shape[0], positions_of(axes));
  const Operand y =
      n.operation("integer_conv2d", {as_image(n, x->values), n.constant(weights.reshaped(as_image(w.shape)))},
                  window_attributes(axes).with("groups", groups).with("zero", x->zero), as_image(shape), Type::i32);
  return n.reshaped(y, shape);
}

// In i32; in f32 where one of them is of small floats.
Operand product(Lowering &n, const Counted &a, const Counted &b) {
  const Operand &left = a.values, &right = b.values;
  const int64_t most = exact_products(a, b), inner = left.rank() == 0 ? 0 : left.shape.back();
  const int rows = std::max(right.rank() - 2, 0);  // the dimension of `right` that is summed over
  if (most > 0 && inner > 0 && right.rank() > 0 && right.shape[static_cast<size_t>(rows)] == inner)
    return sum_of_parts(n, inner, most, Operand(), [&](int64_t begin, int64_t count) {
      return matmul(n, sliced(n, left, left.rank() - 1, begin, count), sliced(n, right, rows, begin, count));
    });
  const Type type = a.largest == 0 && b.largest == 0 && is_real(left.type) ? Type::f32 : Type::i32;
  return matmul(n, n.casted(left, type), n.casted(right, type));
}

Operand product(Lowering &n, const Operand &a, const Operand &a_zero, const Operand &b, const Operand &b_zero) {
  if (const Operand sum = integer_dense(n, a, a_zero, b, b_zero); sum.present()) return sum;
  return product(n, counted(n, a, along_rows(n, a_zero)), counted(n, b, along_columns(n, b_zero)));
}

void matmul_integer(Lowering &n) { n.give(0, product(n, n.input(0), n.optional(2), n.input(1), n.optional(3))); }

void qlinear_matmul(Lowering &n) {
  const Operand sum = product(n, n.input(0), n.input(2), n.input(3), n.input(5));
  n.give(0, requantized(n, sum, along_rows(n, n.input(1)), along_columns(n, n.input(4)), along_rows(n, n.input(6)),
                        along_rows(n, n.input(7))));
}

Operand integer_convolution(Lowering &n, const Operand &x, const Operand &x_zero, const Operand &w,
                            const Operand &w_zero, const Operand &bias) {
  expect_weights(x, w);
  const SlidingAxes axes = sliding_axes(n, x.shape, {w.shape.begin() + 2, w.shape.end()});
  const int64_t groups = groups_of(n, x.shape[1], w.shape[0]), channels = w.shape[1];
  if (const Operand sum = integer_conv2d(n, x, x_zero, w, w_zero, axes, groups); sum.present()) {
    expect_shape(bias, {w.shape[0]}, "the bias");
    if (!bias.present()) return sum;
    return n.computed(Value(sum) + cast(Type::i32, Value(along(n, bias, 1, x.rank()))));
  }
  const Counted image = counted(n, x, along(n, x_zero, 1, x.rank())),
                weights = counted(n, w, along(n, w_zero, 0, w.rank()));
  const int64_t taps = elements(kernel_of(axes)), most = taps == 0 ? 0 : exact_products(image, weights) / taps;
  // Channels of several groups do not lie together: there is only one part of them.
  const bool exact = most > 0 && channels > 0 && (groups == 1 ? channels == x.shape[1] : channels <= most);
  if (!exact)
    return convolution(n, n.casted(image.values, Type::i32), n.casted(weights.values, Type::i32), bias, axes, groups);
  expect_shape(bias, {w.shape[0]}, "the bias");
  return sum_of_parts(n, channels, most, along(n, bias, 1, x.rank()), [&](int64_t begin, int64_t count) {
    const Operand part = groups == 1 ? sliced(n, image.values, 1, begin, count) : image.values;
    return convolution(n, part, sliced(n, weights.values, 1, begin, count), Operand(), axes, groups);
  });
}

void conv_integer(Lowering &n) {
  n.give(0, integer_convolution(n, n.input(0), n.optional(2), n.input(1), n.optional(3), Operand()));
}

void qlinear_conv(Lowering &n) {
  const Operand sum = integer_convolution(n, n.input(0), n.input(2), n.input(3), n.input(5), n.optional(8));
  const auto outputs = [&](size_t i) { return along(n, n.input(i), 1, sum.rank()); };
  n.give(0, requantized(n, sum, outputs(1), outputs(4), outputs(6), outputs(7)));
}

}  // namespace

const OperatorList quantized_product_operators = {{"ConvInteger", conv_integer},
                                                  {"MatMulInteger", matmul_integer},
                                                  {"QLinearConv", qlinear_conv},
                                                  {"QLinearMatMul", qlinear_matmul}};

}  // namespace saltern
