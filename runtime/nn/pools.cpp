// The largest, the mean and the norm of windows that slide over images, and the way back from the largest.

#include "algorithms/pooling.h"

#include "runtime/layers/window.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"
#include "runtime/operations.h"

namespace saltern::nn {

namespace {

using namespace formula;

// Attributes: those of windows
const Operation maxima("maxima", [](const Values &in, const Attributes &a) -> Values {
  const algorithms::Maxima m = algorithms::maxima(in.at(0), extents(a, "kernel"), slides_of(a));
  return {m.values, m.indices};
});
// and count_padding; or what sums are divided by
const Operation average("average_pool", [](const Values &in, const Attributes &a) -> Values {
  const algorithms::Window kernel = extents(a, "kernel");
  const algorithms::Slides s = slides_of(a);
  using algorithms::Counts;
  const Counts counts = a.integer("count_padding") ? Counts::with_padding : Counts::inside;
  return {a.has("divisor") ? algorithms::average_pool(in.at(0), kernel, s,
                                                      [&](const Axes &) { return Expression(a.integer("divisor")); })
                           : algorithms::average_pool(in.at(0), kernel, s, counts)};
});
// and p
const Operation powers("power_pool", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::power_pool(in.at(0), extents(a, "kernel"), slides_of(a), a.real("p"))};
});

// ---- What pools are given.

Windows windows_of(const Arguments &a, int axes) {
  const auto count = static_cast<size_t>(axes);
  Windows w;
  w.kernel = integers_from(a, "kernel_size", count, 1);
  const bool moves =
      a.has("stride") && !(a["stride"].as<Argument::List>() && a["stride"].as<Argument::List>()->empty());
  w.strides = moves ? integers_from(a, "stride", count, 1) : w.kernel;
  w.dilations = a.signature().has("dilation") ? integers_from(a, "dilation", count, 1) : Shape(count, 1);
  w.before = w.after = a.signature().has("padding") ? integers_from(a, "padding", count, 0) : Shape(count, 0);
  for (size_t d = 0; d < count; ++d)
    if (2 * w.before[d] > w.reach(d)) a.refuse("padding", "half of the window at most");
  return w;
}

struct GivenWindows {
  Images x;
  Windows windows;

  GivenWindows(const Arguments &a, int axes) : x(a, "input", axes), windows(windows_of(a, axes)) {
    windows.fit(a, x.extents(), a.flag("ceil_mode"));
  }
  bool has_kernels() const { return nn::has_kernels({x.batch()}, windows.axes()); }
  // What lies outside of the image must not count where positions are rounded up.
  Attributes for_kernels() const { return windows.with_more_behind(x.extents()).attributes_of_two_axes(); }
  Variable by_kernels(const Operation &of_two_axes, const Attributes &a) const {
    return x.as_given(with_axes_of(windows, apply_one(of_two_axes, {with_two_axes(x.batch())}, a)));
  }
};

Argument max_pool(const Arguments &a, int axes, bool with_indices) {
  const GivenWindows g(a, axes);
  if (!with_indices && g.has_kernels()) return g.by_kernels(operations::max_pool2d, g.for_kernels());
  const std::vector<Variable> all = apply(maxima, {g.x.batch()}, g.windows.attributes());
  return with_indices ? g.x.as_given({all[0], all[1]}) : Argument(g.x.as_given(all[0]));
}

Argument average_pool(const Arguments &a, int axes) {
  const GivenWindows g(a, axes);
  const int64_t counts = a.flag("count_include_pad");
  const bool divides = a.signature().has("divisor_override") && a.has("divisor_override");
  if (!divides && g.has_kernels() && (!g.windows.rounded_up || !counts))
    return g.by_kernels(operations::average_pool2d, g.for_kernels().with("count_padding", counts));
  Attributes attributes = g.windows.attributes().with("count_padding", counts);
  if (divides) {
    if (a.integer("divisor_override") == 0) a.refuse("divisor_override", "another number than 0");
    attributes.set("divisor", a.integer("divisor_override"));
  }
  return g.x.as_given(apply_one(average, {g.x.batch()}, attributes));
}

Argument power_pool(const Arguments &a, int axes) {
  const GivenWindows g(a, axes);
  if (!is_real(g.x.batch().type())) a.refuse("input", "real numbers");
  if (a.real("norm_type") == 0) a.refuse("norm_type", "another number than 0");
  return g.x.as_given(apply_one(powers, {g.x.batch()}, g.windows.attributes().with("p", a.real("norm_type"))));
}

// ---- Back from the largest.

// x(n, c, ...) at indices(n, c, ...) of an image, zeros elsewhere; where several are, their mean. Attributes: shape
const Operation unpool("max_unpool", [](const Values &in, const Attributes &a) -> Values {
  const std::vector<Expression> image = extents(a, "shape");
  const Value &x = in.at(0), &indices = in.at(1);
  const auto put = [&](const Value &v) {
    return adjoint(image, v, [&](const Value &from) {
      return compute("picked", x.extents(), [&](const Axes &at) {
        Axes place(image.size());
        Expression rest = indices.at(at);
        for (size_t d = image.size(); d-- > 2;) {
          place[d] = modulo(rest, image[d]);
          rest = quotient(rest, image[d]);
        }
        place[0] = at[0];
        place[1] = at[1];
        return from.at(place);
      });
    });
  };
  const Value ones = inlined(x.extents(), [&](const Axes &) { return constant(x.type(), 1); });
  return {named("unpooled", put(x) / max(put(ones), 1))};
});

Argument max_unpool(const Arguments &a, int axes) {
  const Images x(a, "input", axes), indices(a, "indices", axes);
  const auto count = static_cast<size_t>(axes);
  if (indices.shape() != x.shape() || indices.batch().type() != Type::i64)
    a.refuse("indices", "integers of the shape of the input, " + to_string(x.shape()));
  const Windows w = windows_of(a, axes);
  Shape shape = {x.shape()[0], x.shape()[1]}, wanted;
  if (a.has("output_size")) {
    wanted = a.integers("output_size");
    if (wanted.size() > count && wanted.size() <= count + 2)
      wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(count));
    if (wanted.size() != count) a.refuse("output_size", std::to_string(count) + " integers");
  }
  for (size_t d = 0; d < count; ++d) {
    const int64_t extent = (x.shape()[d + 2] - 1) * w.strides[d] + w.kernel[d] - 2 * w.before[d];
    if (!wanted.empty() && std::abs(wanted[d] - extent) >= w.strides[d])
      a.refuse("output_size",
               "less than a stride away from " + std::to_string(extent) + " along axis " + std::to_string(d));
    shape.push_back(wanted.empty() ? extent : wanted[d]);
  }
  const int64_t places = elements(Shape(shape.begin() + 2, shape.end()));
  const Tensor &given = indices.batch().value();
  if (!given.is_outline())
    for (int64_t i : given.integers())
      if (i < 0 || i >= places) fail(a.owner(), ": an index of ", i, " into ", places, " elements");
  return x.as_given(apply_one(unpool, {x.batch(), indices.batch()}, {{"shape", shape}}));
}

// ---- Rows.

struct Pools {
  Pools(int axes)
      : max(with_axes("max_pool", axes), of_maxima,
            [axes](const Arguments &a) { return max_pool(a, axes, a.flag("return_indices")); }),
        max_with_indices(with_axes("max_pool", axes) + "_with_indices", of_maxima,
                         [axes](const Arguments &a) { return max_pool(a, axes, true); }),
        max_layer(with_axes("MaxPool", axes),
                  "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False",
                  calls(with_axes("max_pool", axes))),
        mean(with_axes("avg_pool", axes), "input, " + of_means(axes),
             [axes](const Arguments &a) { return average_pool(a, axes); }),
        mean_layer(with_axes("AvgPool", axes), of_means(axes), calls(with_axes("avg_pool", axes))),
        norm(with_axes("lp_pool", axes), "input, " + std::string(of_norms),
             [axes](const Arguments &a) { return power_pool(a, axes); }),
        norm_layer(with_axes("LPPool", axes), of_norms, calls(with_axes("lp_pool", axes))),
        back(with_axes("max_unpool", axes), "input, indices, kernel_size, stride=None, padding=0, output_size=None",
             [axes](const Arguments &a) { return max_unpool(a, axes); }),
        back_layer(with_axes("MaxUnpool", axes), "kernel_size, stride=None, padding=0",
                   calls(with_axes("max_unpool", axes), "input, indices, output_size=None")) {}

  static constexpr const char *of_maxima =
      "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False";
  static constexpr const char *of_norms = "norm_type, kernel_size, stride=None, ceil_mode=False";
  static std::string of_means(int axes) {
    const std::string all = "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True";
    return axes == 1 ? all : all + ", divisor_override=None";
  }

  Function max, max_with_indices;
  LayerRow max_layer;
  Function mean;
  LayerRow mean_layer;
  Function norm;
  LayerRow norm_layer;
  Function back;
  LayerRow back_layer;
};
const Pools pools_of_axes[] = {{1}, {2}, {3}};

}  // namespace

const void *pools() { return pools_of_axes; }

}  // namespace saltern::nn
