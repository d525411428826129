#include "generators/model/geometry.h"

#include <cstring>

#include "runtime/layers/window.h"

namespace saltern::generators {

bool Geometry::is_padded() const {
  return sliding.x.pad_before || sliding.x.pad_after || sliding.y.pad_before || sliding.y.pad_after;
}

double Geometry::flops() const {
  return 2.0 * channels_in * kernel_x * kernel_y * channels_out * out_width() * out_height() * batch;
}

algorithms::Slides slides(const Sliding2d<int> &s) {
  const auto along = [](const Sliding<int> &a) {
    return algorithms::Slide{a.stride, a.dilation, a.pad_before, a.pad_after};
  };
  return {along(s.y), along(s.x)};
}

Sliding2d<int> sliding_of(const Attributes &attributes) {
  const Window w = window(attributes);
  const auto narrow = [](const Sliding<int64_t> &s) {
    return Sliding<int>{static_cast<int>(s.stride), static_cast<int>(s.dilation), static_cast<int>(s.pad_before),
                        static_cast<int>(s.pad_after)};
  };
  return {narrow(w.x), narrow(w.y)};
}

PoolWindow pool_window(const Attributes &attributes) {
  const std::vector<int64_t> &kernel = integers(attributes, "kernel", 2, 1);
  return {static_cast<int>(kernel[1]), static_cast<int>(kernel[0]), sliding_of(attributes)};
}

Geometry geometry_of(const Graph &graph, const Graph::Node &node) {
  const Shape &x = graph.value(node.inputs.at(0)).shape, &w = graph.value(node.inputs.at(1)).shape;
  const bool dense = node.operation == "dense" || node.operation == "integer_dense";
  if (x.size() != (dense ? 2 : 4) || x.size() != w.size() || x[1] != w[1])
    fail("an input of ", saltern::to_string(x), " and weights of ", saltern::to_string(w), " do not fit each other");
  Geometry g = {static_cast<int>(x[1]), 1, 1, static_cast<int>(x[0]), 1, 1, static_cast<int>(w[0]), {}};
  g.sliding = {{1, 1, 0, 0}, {1, 1, 0, 0}};
  if (!dense) {
    g.width = static_cast<int>(x[3]);
    g.height = static_cast<int>(x[2]);
    g.kernel_x = static_cast<int>(w[3]);
    g.kernel_y = static_cast<int>(w[2]);
    g.sliding = sliding_of(node.attributes);
  }
  const Shape expected = dense ? Shape{x[0], w[0]} : Shape{x[0], w[0], g.out_height(), g.out_width()};
  const Shape &y = graph.value(node.outputs.at(0)).shape;
  if (y != expected)
    fail("the result is declared as ", saltern::to_string(y), "; expected ", saltern::to_string(expected));
  if (node.inputs.size() > 2 && graph.value(node.inputs[2]).shape != Shape{w[0]})
    fail("a bias of ", saltern::to_string(graph.value(node.inputs[2]).shape), "; expected [", w[0], "]");
  return g;
}

Geometry depthwise_geometry(const Graph &graph, const Graph::Node &node) {
  const Shape &x = graph.value(node.inputs.at(0)).shape, &w = graph.value(node.inputs.at(1)).shape;
  const auto i = [](int64_t extent) { return static_cast<int>(extent); };
  return {1, i(x[3]), i(x[2]), i(x[0]), i(w[3]), i(w[2]), i(w[0]), sliding_of(node.attributes)};
}

Geometry simplified(const Geometry &g) {
  Geometry s = g;
  const bool whole_image = g.kernel_x == g.width && g.kernel_y == g.height && !g.is_padded() &&
                           g.sliding.x.dilation == 1 && g.sliding.y.dilation == 1;
  if (whole_image) {
    s.channels_in = g.channels_in * g.width * g.height;
    s.width = s.height = s.kernel_x = s.kernel_y = 1;
  }
  const bool pointwise = s.kernel_x == 1 && s.kernel_y == 1 && !s.is_padded() &&
                         ((s.width == 1 && s.height == 1) || (s.sliding.x.stride == 1 && s.sliding.y.stride == 1));
  if (pointwise) {
    s.width = s.width * s.height * s.batch;
    s.height = s.batch = 1;
    s.sliding = {{1, 1, 0, 0}, {1, 1, 0, 0}};
  }
  return s;
}

Tensor packed_weights(const Tensor &weights, const Geometry &g) {
  const Tensor packed = Tensor::zeros({panels(g), g.kernel_y, g.kernel_x, g.channels_in, panel});
  float *to = packed.data<float>();
  const float *from = weights.data<float>();
  const Shape &s = weights.strides();
  const bool dense = weights.rank() == 2;
  for (int block = 0; block < panels(g); ++block)
    for (int ky = 0; ky < g.kernel_y; ++ky)
      for (int kx = 0; kx < g.kernel_x; ++kx)
        for (int ci = 0; ci < g.channels_in; ++ci)
          for (int co = 0; co < panel; ++co, ++to) {
            const int o = block * panel + co;
            if (o < g.channels_out) *to = from[o * s[0] + ci * s[1] + (dense ? 0 : ky * s[2] + kx * s[3])];
          }
  return packed;
}

Tensor packed_bias(const Tensor &bias, const Geometry &g) {
  const Tensor packed = Tensor::zeros({panels(g), panel});
  if (bias.defined()) std::memcpy(packed.raw(), bias.raw(), bias.bytes());
  return packed;
}

Tensor channels_innermost(const Tensor &weights) {
  const Shape &s = weights.shape();
  const Tensor to = Tensor::empty({s[2], s[3], s[0]});
  const Shape &from = weights.strides();
  to.copy_from(weights.viewed(to.shape(), {from[2], from[3], from[0]}));
  return to;
}

Tensor filled_panels(const Tensor &constant) {
  const int64_t channels = elements(constant.shape());
  const Tensor filled = Tensor::zeros({(channels + panel - 1) / panel * panel}, constant.type());
  std::memcpy(filled.raw(), constant.raw(), constant.bytes());
  return filled;
}

namespace {

std::string numbers(std::initializer_list<int> first, const Sliding2d<int> &s) {
  std::string text;
  for (int number : first) text += " " + std::to_string(number);
  for (const Sliding<int> *d : {&s.x, &s.y})
    for (int number : {d->stride, d->dilation, d->pad_before, d->pad_after}) text += " " + std::to_string(number);
  return text;
}

}  // namespace

std::string to_string(const Geometry &g) {
  return numbers({g.channels_in, g.width, g.height, g.batch, g.kernel_x, g.kernel_y, g.channels_out}, g.sliding);
}

std::string to_string(const PoolWindow &w) { return numbers({w.kernel_x, w.kernel_y}, w.sliding); }

}  // namespace saltern::generators
