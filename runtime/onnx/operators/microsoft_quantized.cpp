// Operators of quantized numbers: what ONNX's own compute of x = (q - zero point) * scale, rounded back where they say so.

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/microsoft.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

// Three inputs, of which the last may be absent: numbers, scale and zero point.
Operand real(Lowering &n, size_t first) {
  return by(n, "DequantizeLinear", {n.input(first), n.input(first + 1), n.optional(first + 2)});
}

// Gives y rounded, by the scale and the zero point that two inputs are; its type is that of input 0, or that of these.
void give_rounded(Lowering &n, const Operand &y, size_t scale, Type type) {
  const Operand &zero = n.optional(scale + 1);
  Attributes a;
  if (!zero.present()) a.set("output_dtype", int64_t{type == Type::i8 ? 3 : 2});  // as ONNX numbers i8 and u8
  n.give(0, by(n, "QuantizeLinear", {y, n.input(scale), zero}, a));
}

using Lower = std::function<void(Lowering &)>;

// Of one: x, its scale and zero point, then those of y.
Lower of_one(const char *op, const std::vector<const char *> &attributes = {}) {
  return [=](Lowering &n) {
    give_rounded(n, by(n, op, {real(n, 0)}, some_attributes(n, attributes)), 3, n.input(0).type);
  };
}

// Of two.
Lower of_two(const char *op) {
  return [=](Lowering &n) { give_rounded(n, by(n, op, {real(n, 0), real(n, 3)}), 6, n.input(0).type); };
}

void softmax_of_rows(Lowering &n) {
  const Operand x = real(n, 0);
  const int64_t opset = n.attributes().integer("opset", 13);
  const int axis = n.axis(n.attributes().integer("axis", opset < 13 ? 1 : -1), x.rank());
  if (opset >= 13) return give_rounded(n, softmax(n, x, axis), 3, n.input(0).type);
  // All dimensions from the axis on are one.
  const int64_t rows = elements({x.shape.begin(), x.shape.begin() + axis});
  const Operand matrix = n.reshaped(x, {rows, elements({x.shape.begin() + axis, x.shape.end()})});
  give_rounded(n, n.reshaped(softmax(n, matrix, 1), x.shape), 3, n.input(0).type);
}

void where_of(Lowering &n) {
  give_rounded(n, by(n, "Where", {n.input(0), real(n, 1), real(n, 4)}), 7, n.input(1).type);
}

// The scale and zero point of the result, then three inputs for each part.
void concat(Lowering &n) {
  std::vector<Operand> parts;
  for (size_t i = 2; i + 1 < n.input_count(); i += 3) parts.push_back(real(n, i));
  if (parts.empty()) fail("has nothing to join");
  give_rounded(n, by(n, "Concat", parts, some_attributes(n, {"axis"})), 0, n.input(2).type);
}

// ---- Images, whose channels may be the last axis.

std::vector<int> channels_moved(int rank, int from, int to) {
  std::vector<int> order;
  for (int d = 0; d < rank; ++d)
    if (d != from) order.push_back(d);
  order.insert(order.begin() + to, from);
  return order;
}
Operand channels_second(Lowering &n, const Operand &x, bool last) {
  if (x.rank() < 3) fail("an image of ", to_string(x.shape));
  return last ? n.transposed(x, channels_moved(x.rank(), x.rank() - 1, 1)) : x;
}
Operand channels_as_given(Lowering &n, const Operand &y, bool last) {
  return last ? n.transposed(y, channels_moved(y.rank(), 1, y.rank() - 1)) : y;
}
bool channels_last(const Lowering &n) { return n.attributes().integer("channels_last", 0) != 0; }

const std::vector<const char *> windows = {
    "auto_pad", "ceil_mode", "count_include_pad", "dilations", "group", "kernel_shape", "pads", "strides"};

Lower mean_of_windows(const char *op, const std::vector<const char *> &attributes) {
  return [=](Lowering &n) {
    const bool last = channels_last(n);
    const Operand y = by(n, op, {channels_second(n, real(n, 0), last)}, some_attributes(n, attributes));
    give_rounded(n, channels_as_given(n, y, last), 3, n.input(0).type);
  };
}

void max_of_windows(Lowering &n) {
  const Operand y = by(n, "MaxPool", {channels_second(n, n.input(0), true)}, some_attributes(n, windows));
  n.give(0, channels_as_given(n, y, true));
}

void convolution_of_images(Lowering &n) {
  const bool last = channels_last(n);
  std::vector<Operand> inputs;
  for (size_t i = 0; i < n.input_count(); ++i) inputs.push_back(n.optional(i));
  inputs.at(0) = channels_second(n, n.input(0), last);
  n.give(0, channels_as_given(n, by(n, "QLinearConv", inputs, some_attributes(n, windows)), last));
}

// ---- Products, whose sums of integers are scaled; of scales there is one, or one for each column.

Value scale_of(Lowering &n, const Operand &scale) { return elements(scale.shape) == 1 ? n.reshaped(scale, {}) : scale; }

// sum * scales + bias
Operand scaled(Lowering &n, const Operand &sum, const Value &scale, const Operand &bias) {
  const Value y = cast(scale.type(), sum) * scale;
  return n.computed(bias.present() ? y + Value(bias) : y);
}

void product_of_rounded(Lowering &n) {
  const std::vector<Operand> a = n.by_operator("DynamicQuantizeLinear", {n.input(0)}, {}, 3);
  const Operand sum = by(n, "MatMulInteger", {a[0], n.input(1), a[2], n.optional(3)});
  n.give(0, scaled(n, sum, Value(a[1]) * scale_of(n, n.input(2)), n.optional(4)));
}

void product_as_real(Lowering &n) {
  const Operand sum = by(n, "MatMulInteger", {n.input(0), n.input(1), n.optional(4), n.optional(5)});
  n.give(0, scaled(n, sum, scale_of(n, n.input(2)) * scale_of(n, n.input(3)), n.optional(6)));
}

// y = alpha (a' b' + c), where c counts in products of the scales; real unless there is a scale of y.
void gemm(Lowering &n) {
  const auto turned = [&](size_t i, const char *attribute) {
    const Operand &x = n.input(i);
    if (x.rank() != 2) fail("input ", i, " is ", to_string(x.shape), "; expected a matrix");
    return n.attributes().integer(attribute, 0) != 0 ? n.transposed(x, {1, 0}) : x;
  };
  Operand sum = by(n, "MatMulInteger", {turned(0, "transA"), turned(3, "transB"), n.optional(2), n.optional(5)});
  if (n.has(6)) sum = n.computed(Value(sum) + Value(n.input(6)));
  const Value scale = scale_of(n, n.input(1)) * scale_of(n, n.input(4)) * n.attributes().real("alpha", 1);
  const Operand y = scaled(n, sum, scale, {});
  if (!n.has(7)) return n.give(0, y);
  give_rounded(n, y, 7, n.input(0).type);
}

}  // namespace

const OperatorList microsoft_quantized_operators = {
    {"DynamicQuantizeMatMul", product_of_rounded, nullptr, microsoft},
    {"MatMulIntegerToFloat", product_as_real, nullptr, microsoft},
    {"NhwcMaxPool", max_of_windows, nullptr, microsoft},
    {"QGemm", gemm, nullptr, microsoft},
    {"QLinearAdd", of_two("Add"), nullptr, microsoft},
    {"QLinearAveragePool", mean_of_windows("AveragePool", windows), nullptr, microsoft},
    {"QLinearConcat", concat, nullptr, microsoft},
    {"QLinearConv", convolution_of_images, nullptr, microsoft},
    {"QLinearGlobalAveragePool", mean_of_windows("GlobalAveragePool", {}), nullptr, microsoft},
    {"QLinearLeakyRelu", of_one("LeakyRelu", {"alpha"}), nullptr, microsoft},
    {"QLinearMul", of_two("Mul"), nullptr, microsoft},
    {"QLinearSigmoid", of_one("Sigmoid"), nullptr, microsoft},
    {"QLinearSoftmax", softmax_of_rows, nullptr, microsoft},
    {"QLinearWhere", where_of, nullptr, microsoft},
};

}  // namespace saltern
