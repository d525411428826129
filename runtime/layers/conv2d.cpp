#include "runtime/layers/conv2d.h"

#include <algorithm>
#include <optional>

#include "algorithms/convolution.h"
#include "runtime/kernels/device.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/layers/window_rows.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// What all three computations know: the window, the groups and which kernels serve.
struct Convolution {
  Window window;
  int64_t groups;
  bool depthwise;

  Convolution(const Attributes &a, int64_t channels, int64_t outputs)
      : window(saltern::window(a)),
        groups(a.integer("groups", 1)),
        depthwise(groups > 1 && groups == channels && groups == outputs) {
    if (groups < 1 || channels % groups != 0 || outputs % groups != 0)
      fail("operation '", a.owner(), "': ", channels, " channels and ", outputs, " outputs do not divide into ", groups,
           " groups");
  }

  // The same as products of matrices, where that is faster: on CPUs.
  std::optional<WindowRows> window_rows(const Shape &x, const Shape &w, const Shape &y) const {
    const WindowRows rows = {x, w, y, window};
    const bool serves = device_in_use() == Device::cpu && groups == 1 && rows.fits();
    return serves ? std::optional(rows) : std::nullopt;
  }

  KernelArgument image(const Tensor &t) const { return depthwise ? saltern::image(t) : grouped_image(t, groups); }
  KernelArgument weights(const Tensor &t) const {
    if (!depthwise) return grouped_weights(t, groups);
    const Shape &e = t.shape(), &s = t.strides();
    return View(t, {{e[0], s[0]}, {e[3], s[3]}, {e[2], s[2]}});
  }
  KernelArgument bias(const Tensor &t) const { return depthwise ? flat(t) : grouped_vector(t, groups); }

  // Calls conv2d<suffix> or depthwise2d<suffix>.
  void run(const std::string &suffix, std::vector<KernelArgument> arguments, std::initializer_list<int64_t> integers,
           const KernelArgument &output) const {
    append(arguments, window);
    append(arguments, integers);
    arguments.push_back(output);
    call((depthwise ? "depthwise2d" : "conv2d") + suffix, std::move(arguments));
  }
};

void expect_images(const char *who, const Tensor &a, const Tensor &b) {
  if (a.rank() != 4 || b.rank() != 4)
    fail(who, " takes tensors of four dimensions, not ", to_string(a.shape()), " and ", to_string(b.shape()));
}

const Operation arranged(
    "in_channels_last",
    [](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> { return {channels_last(in.at(0))}; },
    [](const Taped &, const std::vector<Variable> &dy) -> std::vector<Variable> { return {dy[0]}; });

// What several kernels read is copied once.
Variable in_channels_last(const Variable &image) {
  const Tensor &t = image.value();
  const bool helps = recording_mode() != RecordingMode::everything && t.type() == Type::f32 && t.rank() == 4 &&
                     !t.is_outline() && !t.has_layout(Layout::channels_last);
  return helps ? apply_one(arranged, {image}) : image;
}

// Images of which so many bytes are put in order at a time, and are still in the cache when they are read.
constexpr int64_t bytes_at_once = 512 << 10;

}  // namespace

Variable image_to_keep(const Variable &x) {
  return recording_mode() == RecordingMode::where_needed ? in_channels_last(x) : x;
}

namespace operations {

// (w, dy) -> dx; attributes: those of conv2d, and the shape of x
const Operation conv2d_gradient_x(
    "conv2d_gradient_x",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      expect_images("conv2d_gradient_x", in.at(0), in.at(1));
      const Shape &shape = integers(a, "shape", 4, 1);
      const Tensor w = channels_last(in[0]), dy = channels_last(in[1]);
      const Convolution c(a, shape[1], w.extent(0));
      if (const auto rows = c.window_rows(shape, w.shape(), dy.shape()); rows && !w.is_outline() && !dy.is_outline())
        return {rows->gradient_x(w, dy)};
      const Tensor dx = Tensor::empty(shape, Type::f32, Layout::channels_last);
      c.run("_gradient_x", {c.weights(w), c.image(dy)}, {shape[3], shape[2]}, c.image(dx));
      return {dx};
    },
    [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      const Attributes &a = t.attributes();
      return {t.needs(0) ? apply_one(conv2d_gradient_w, {dd[0], t.input(1)}, a.with("shape", t.shape(0))) : Variable(),
              t.needs(1) ? apply_one(conv2d, {dd[0], t.input(0)}, a) : Variable()};
    });

// (x, dy) -> dw; attributes: those of conv2d, and the shape of w
const Operation conv2d_gradient_w(
    "conv2d_gradient_w",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      expect_images("conv2d_gradient_w", in.at(0), in.at(1));
      const Shape &shape = integers(a, "shape", 4, 1);
      const Tensor x = channels_last(in[0]), dy = channels_last(in[1]);
      const Convolution c(a, x.extent(1), shape[0]);
      if (const auto rows = c.window_rows(x.shape(), shape, dy.shape()); rows && !x.is_outline() && !dy.is_outline())
        return {rows->gradient_w(x, dy)};
      Tensor dw = Tensor::empty(shape, Type::f32, Layout::channels_last);
      // Depthwise weights have their channels in dimension 0; the kernel wants them innermost.
      if (c.depthwise) dw = dw.viewed(shape, {1, 1, shape[3] * shape[0], shape[0]});
      c.run("_gradient_w", {c.image(x), c.image(dy)}, {shape[3], shape[2]}, c.weights(dw));
      return {dw};
    },
    [](const Values &in, const Attributes &a) -> Values {
      return {adjoint(extents(a, "shape"), in.at(1), [&](const Value &w) {
        return algorithms::convolution(in[0], w, slides(a), a.integer("groups", 1));
      })};
    },
    [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      const Attributes &a = t.attributes();
      return {t.needs(0) ? apply_one(conv2d_gradient_x, {dd[0], t.input(1)}, a.with("shape", t.shape(0))) : Variable(),
              t.needs(1) ? apply_one(conv2d, {t.input(0), dd[0]}, a) : Variable()};
    });

const Operation conv2d(
    "conv2d",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      expect_images("conv2d", in.at(0), in.at(1));
      const Tensor &x = in[0], w = channels_last(in[1]);
      const int64_t outputs = w.extent(0), images = x.extent(0);
      const Convolution c(a, x.extent(1), outputs);
      if (w.extent(1) * c.groups != x.extent(1))
        fail("conv2d: weights ", to_string(w.shape()), " in ", c.groups, " groups do not fit x ", to_string(x.shape()));
      const Tensor b = in.size() > 2 ? row_major(in[2]) : Tensor::zeros({outputs});
      if (b.shape() != Shape{outputs}) fail("conv2d: a bias of ", to_string(b.shape()), "; expected ", outputs);
      const Shape shape = {x.extent(0), outputs, positions("conv2d", x.extent(2), w.extent(2), c.window.y),
                           positions("conv2d", x.extent(3), w.extent(3), c.window.x)};
      if (const auto rows = c.window_rows(x.shape(), w.shape(), shape); rows && !x.is_outline() && !w.is_outline())
        return {rows->result(channels_last(x), w, b)};
      const Tensor y = Tensor::empty(shape, Type::f32, Layout::channels_last);
      const int64_t image_bytes = std::max<int64_t>(1, 4 * x.extent(1) * x.extent(2) * x.extent(3));
      const int64_t at_once = x.has_layout(Layout::channels_last) || x.is_outline()
                                  ? std::max<int64_t>(1, images)
                                  : std::max<int64_t>(threads(), bytes_at_once / image_bytes);
      for (int64_t first = 0; first < images; first += at_once) {
        const auto some = [&](const Tensor &t) { return t.slice(0, first, std::min(at_once, images - first)); };
        c.run("", {c.image(channels_last(some(x))), c.weights(w), c.bias(b)}, {}, c.image(some(y)));
      }
      return {y};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const Attributes &a = t.attributes();
      const Variable image = in_channels_last(dy[0]);
      std::vector<Variable> d(t.input_count());
      if (t.needs(0)) d[0] = apply_one(conv2d_gradient_x, {t.input(1), image}, a.with("shape", t.shape(0)));
      if (t.needs(1)) d[1] = apply_one(conv2d_gradient_w, {t.input(0), image}, a.with("shape", t.shape(1)));
      if (t.needs(2)) d[2] = apply_one(dense_gradient_b, {image});
      return d;
    });

}  // namespace operations

Variable conv2d(const Variable &x, const Variable &w, const Variable &b, const Conv2dOptions &o) {
  const Attributes a = window_attributes(o.stride, o.padding, o.dilation).with("groups", o.groups);
  const Variable image = image_to_keep(x);
  return apply_one(operations::conv2d, b.defined() ? std::vector{image, w, b} : std::vector{image, w}, a);
}

}  // namespace saltern
