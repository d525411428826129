#include "runtime/onnx/operators/window.h"
#include "runtime/onnx/operators/choices.h"

#include <algorithm>
#include <limits>

namespace saltern {

std::vector<int64_t> per_axis(const Lowering &n, const std::string &name, size_t count, int64_t otherwise,
                              int64_t least) {
  std::vector<int64_t> all = n.attributes().integers(name, std::vector<int64_t>(count, otherwise));
  bool right = all.size() == count;
  constexpr int64_t most = std::numeric_limits<int32_t>::max();  // sums and products of these must not overflow
  for (int64_t v : all) right &= v >= least && v <= most;
  if (!right)
    fail(name, " is ", to_string(all), "; expected ", count, " numbers of at least ", least, " and at most ", most);
  return all;
}

std::string automatic_padding(const Lowering &n) {
  return one_of({"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}, "auto_pad", n.attributes().word("auto_pad", "NOTSET"));
}

namespace {

int64_t ceiling_of(int64_t a, int64_t b) { return a / b + (a % b > 0); }

// Convolutions and pools differ where ONNX's formulas turn negative. A convolution's window must fit, and is never
// padded by less than nothing. A pool's may miss by less than a stride and still be there once, reading what it covers,
// and its automatic padding may cut off both ends: the formulas rounded towards zero, as other runtimes have them.
void place(SlidingAxis &a, const std::string &padding, bool ceil, bool is_pool) {
  if (padding == "SAME_UPPER" || padding == "SAME_LOWER") {
    a.positions = ceiling_of(a.extent, a.stride);
    const int64_t total = (a.positions - 1) * a.stride + a.span() - a.extent,
                  spread = is_pool ? total : std::max<int64_t>(0, total);
    a.before = (padding == "SAME_UPPER" ? spread : spread + 1) / 2;
    a.after = spread - a.before;
    return;
  }
  if (padding == "VALID") a.before = a.after = 0;
  const int64_t room = a.extent + a.before + a.after - a.span();
  const bool up = ceil && padding == "NOTSET";
  a.positions = (up ? ceiling_of(room, a.stride) : room / a.stride) + 1;
  if (a.positions < 0 || (!is_pool && room < 0))
    fail("a window of ", a.kernel, " (dilation ", a.dilation, ") does not fit into ", a.extent, " (padding ", a.before,
         ", ", a.after, ")");
  // A window that would begin behind the image is none.
  if (up && (a.positions - 1) * a.stride >= a.extent + a.before) --a.positions;
}

}  // namespace

SlidingAxes sliding_axes(const Lowering &n, const Shape &image, Shape kernel) {
  if (image.size() < 2) fail("an image of ", to_string(image), "; expected (N, C, D1, ..., Dn)");
  const size_t count = image.size() - 2;
  const std::vector<int64_t> given = n.attributes().integers("kernel_shape", kernel);
  const bool is_pool = kernel.empty();
  if (is_pool && count > 0) kernel = per_axis(n, "kernel_shape", count, 1, 1);
  if (kernel.size() != count || given != kernel)
    fail("kernel_shape is ", to_string(given), " for weights of ", to_string(kernel), " on an image of ",
         to_string(image));
  const std::vector<int64_t> strides = per_axis(n, "strides", count, 1, 1),
                             dilations = per_axis(n, "dilations", count, 1, 1);
  const std::string padding = automatic_padding(n);
  const std::vector<int64_t> pads =
      padding == "NOTSET" ? per_axis(n, "pads", 2 * count, 0, 0) : std::vector<int64_t>(2 * count, 0);
  const bool ceil = n.attributes().integer("ceil_mode", 0) != 0;
  SlidingAxes axes;
  for (size_t d = 0; d < count; ++d) {
    axes.push_back({image[d + 2], kernel[d], strides[d], dilations[d], pads[d], pads[d + count], 0});
    place(axes.back(), padding, ceil, is_pool);
  }
  return axes;
}

Attributes window_attributes(const SlidingAxes &axes) {
  Shape strides, dilations, before, after;
  if (axes.size() == 1) strides = dilations = {1}, before = after = {0};
  for (const SlidingAxis &a : axes) {
    strides.push_back(a.stride);
    dilations.push_back(a.dilation);
    before.push_back(a.before);
    // As much as the windows reach: ceil_mode may add to it.
    after.push_back(std::max<int64_t>(0, (a.positions - 1) * a.stride + a.span() - a.extent - a.before));
  }
  before.insert(before.end(), after.begin(), after.end());
  return {{"strides", strides}, {"dilations", dilations}, {"pads", before}};
}

Shape as_image(const Shape &s) { return s.size() == 3 ? Shape{s[0], s[1], 1, s[2]} : s; }

Operand as_image(Lowering &n, const Operand &x) {
  if (x.rank() != 3) return x;
  const Shape shape = as_image(x.shape);
  // What is constant stays so: kernels with packed weights want that.
  return x.value.defined() ? n.constant(x.value.in_layout(Layout::row_major).reshaped(shape)) : n.reshaped(x, shape);
}

algorithms::Slides slides_of(const SlidingAxes &axes) {
  std::vector<algorithms::Slide> all;
  for (const SlidingAxis &a : axes) all.push_back(a.slide());
  return all;
}

}  // namespace saltern
