// Conv and ConvTranspose.

#include "runtime/onnx/operators/convolution.h"

#include <algorithm>

#include "algorithms/convolution.h"
#include "algorithms/normalisation.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

using namespace formula;

int64_t groups_of(const Lowering &n, int64_t channels, int64_t outputs) {
  const int64_t groups = n.attributes().integer("group", 1);
  if (groups < 1 || channels % groups != 0 || outputs % groups != 0)
    fail(channels, " channels and ", outputs, " outputs do not divide into ", groups, " groups");
  return groups;
}

void expect_weights(const Operand &x, const Operand &w) {
  if (x.rank() < 2 || w.rank() != x.rank())
    fail("an image of ", to_string(x.shape), " and weights of ", to_string(w.shape),
         "; expected (N, C, D1, ...) and as many dimensions");
}

namespace {

// (rows, ...) as the library's kernels take them, in f32.
std::vector<Operand> image_operands(Lowering &n, const std::vector<Operand> &all) {
  std::vector<Operand> images;
  for (const Operand &o : all)
    if (o.present()) images.push_back(n.casted(o.rank() == 1 ? o : as_image(n, o), Type::f32));
  return images;
}

bool has_library_kernel(const Operand &x, const Operand &w) {
  return working_type(x.type) == Type::f32 && (x.rank() == 3 || x.rank() == 4) && elements(x.shape) > 0 &&
         elements(w.shape) > 0;
}

Value with_bias(const Value &y, const Operand &bias) {
  return bias.present() ? y + algorithms::by_channel(bias, y) : y;
}

}  // namespace

Operand convolution(Lowering &n, const Operand &x, const Operand &w, const Operand &bias, const SlidingAxes &axes,
                    int64_t groups) {
  const int64_t outputs = w.shape[0], channels = w.shape[1];  // of a group
  if (channels * groups != x.shape[1])
    fail("weights of ", to_string(w.shape), " in ", groups, " groups do not fit an image of ", to_string(x.shape));
  expect_shape(bias, {outputs}, "the bias");
  for (int64_t k : kernel_of(axes))
    if (k < 1) fail("weights of ", to_string(w.shape), "; a kernel has 1 element or more each way");
  const Shape shape = image_of(x.shape[0], outputs, positions_of(axes));
  // The kernel for channels that are groups of their own takes constant weights where a model is compiled.
  const bool each_alone = groups > 1 && channels == 1 && outputs == groups;
  if (has_library_kernel(x, w) && elements(shape) > 0 && (!each_alone || w.value.defined() || trains(n))) {
    const Operand y = n.operation("conv2d", image_operands(n, {x, w, bias}),
                                  window_attributes(axes).with("groups", groups), as_image(shape));
    return n.casted(n.reshaped(y, shape), x.type);
  }
  if (elements(shape) == 0) return n.constant(Tensor::empty(shape, x.type));
  return n.computed(with_bias(algorithms::convolution(x, w, slides_of(axes), groups), bias));
}

Operand scattered(Lowering &n, const Operand &x, const Operand &w, const Operand &bias, const SlidingAxes &axes,
                  int64_t groups) {
  const Shape shape = image_of(x.shape[0], w.shape[1] * groups, each_of(axes, &SlidingAxis::extent));
  if (elements(shape) == 0) return n.constant(Tensor::empty(shape, x.type));
  return n.computed(with_bias(algorithms::transposed_convolution(x, w, slides_of(axes), extents(shape), groups), bias));
}

namespace {

void conv(Lowering &n) {
  const Operand &x = n.input(0), &w = n.input(1);
  expect_same_type(x, w);
  expect_weights(x, w);
  const SlidingAxes axes = sliding_axes(n, x.shape, {w.shape.begin() + 2, w.shape.end()});
  n.give(0, convolution(n, x, w, n.optional(2), axes, groups_of(n, x.shape[1], w.shape[0])));
}

// The windows of the convolution that this is the transpose of: they slide over the result, and their positions are
// the elements of x.
SlidingAxes transposed_axes(const Lowering &n, const Operand &x, const Operand &w) {
  const size_t count = x.shape.size() - 2;
  const Shape kernel(w.shape.begin() + 2, w.shape.end());
  if (n.attributes().integers("kernel_shape", kernel) != kernel)
    fail("kernel_shape is ", to_string(n.attributes().integers("kernel_shape")), " for weights of ",
         to_string(w.shape));
  const auto strides = per_axis(n, "strides", count, 1, 1), dilations = per_axis(n, "dilations", count, 1, 1),
             pads = per_axis(n, "pads", 2 * count, 0, 0), more = per_axis(n, "output_padding", count, 0, 0);
  const std::string padding = automatic_padding(n);
  const bool same = padding == "SAME_UPPER" || padding == "SAME_LOWER", given = n.attributes().has("output_shape");
  std::vector<int64_t> wanted;
  if (given) {
    wanted = n.attributes().integers("output_shape");
    // Some exporters count the batch and the channels too.
    if (wanted.size() == count + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
    if (wanted.size() != count) fail("output_shape is ", to_string(wanted), "; expected ", count, " numbers");
    elements(wanted);  // refuses what is negative or too large
  }
  SlidingAxes axes;
  for (size_t d = 0; d < count; ++d) {
    SlidingAxis a = {0, kernel[d], strides[d], dilations[d], 0, 0, x.shape[d + 2]};
    const int64_t whole = a.stride * (a.positions - 1) + more[d] + a.span();
    if (given || same) {
      a.extent = given ? wanted[d] : a.positions * a.stride;
      const int64_t total = std::max<int64_t>(0, whole - a.extent);
      a.before = padding == "SAME_UPPER" ? total / 2 : total - total / 2;
      a.after = total - a.before;
    } else {
      if (padding == "NOTSET") a.before = pads[d], a.after = pads[d + count];
      a.extent = whole - a.before - a.after;
    }
    if (a.extent < 0) fail("a padding of ", a.before, ", ", a.after, " leaves nothing of ", whole);
    axes.push_back(a);
  }
  return axes;
}

void conv_transpose(Lowering &n) {
  const Operand &x = n.input(0), &w = n.input(1), &bias = n.optional(2);
  expect_same_type(x, w);
  expect_weights(x, w);
  if (x.shape[1] != w.shape[0]) fail("weights of ", to_string(w.shape), " do not fit an image of ", to_string(x.shape));
  const int64_t per_group = w.shape[1], groups = groups_of(n, x.shape[1], 0), outputs = elements({per_group, groups});
  expect_shape(bias, {outputs}, "the bias");
  const SlidingAxes axes = transposed_axes(n, x, w);
  // The library asks that the convolution which this transposes has just x's positions.
  bool fits = has_library_kernel(x, w);
  for (const SlidingAxis &a : axes) {
    const int64_t room = a.extent + a.before + a.after - a.span();
    fits &= a.extent > 0 && room >= 0 && room / a.stride + 1 == a.positions;
  }
  const Shape shape = image_of(x.shape[0], outputs, each_of(axes, &SlidingAxis::extent));
  if (fits) {
    Attributes attributes = window_attributes(axes).with("groups", groups).with("shape", as_image(shape));
    Shape pads = axes.size() == 1 ? Shape{0, axes[0].before, 0, axes[0].after}
                                  : Shape{axes[0].before, axes[1].before, axes[0].after, axes[1].after};
    attributes.set("pads", pads);
    const Operand y =
        n.reshaped(n.operation("conv2d_gradient_x", image_operands(n, {w, x}), attributes, as_image(shape)), shape);
    n.give(0, n.casted(bias.present() ? n.computed(with_bias(y, n.casted(bias, Type::f32))) : y, x.type));
    return;
  }
  n.give(0, scattered(n, x, w, bias, axes, groups));
}

}  // namespace

const OperatorList convolution_operators = {
    {"Conv", conv}, {"Conv", conv, nullptr, training_domain}, {"ConvTranspose", conv_transpose}};

}  // namespace saltern
