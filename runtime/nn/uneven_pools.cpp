// Pools whose windows differ: those that give a size that was asked for, and those that begin at random.

#include "algorithms/uneven_pooling.h"

#include <cmath>

#include "runtime/layers/window.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"
#include "runtime/operations.h"

namespace saltern::nn {

namespace {

using namespace formula;

Values both(const algorithms::Maxima &m) { return {m.values, m.indices}; }

// x; attributes: the extents of the result
const Operation adaptive_average("adaptive_average_pool", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::average_pool(in.at(0), algorithms::adaptive_spans(in[0], extents(a, "to")))};
});
const Operation adaptive_maxima("adaptive_maxima", [](const Values &in, const Attributes &a) -> Values {
  return both(algorithms::maxima(in.at(0), algorithms::adaptive_spans(in[0], extents(a, "to"))));
});
// x and samples; attributes: also the kernel
const Operation fractional_maxima("fractional_maxima", [](const Values &in, const Attributes &a) -> Values {
  return both(algorithms::maxima(
      in.at(0), algorithms::fractional_spans(in[0], in.at(1), extents(a, "kernel"), extents(a, "to"))));
});

// What a size of None leaves as it is.
Shape output_size(const Arguments &a, const Images &x) {
  const Argument &given = a["output_size"];
  Argument::List list =
      given.as<Argument::List>() ? *given.as<Argument::List>() : Argument::List(x.extents().size(), given);
  if (list.size() != x.extents().size()) a.refuse("output_size", std::to_string(x.extents().size()) + " integers");
  for (size_t d = 0; d < list.size(); ++d)
    if (list[d].is_none()) list[d] = x.extents()[d];
  const Shape to = integers_from(a.with("output_size", list), "output_size", list.size(), 1);
  for (int64_t e : x.extents())
    if (e < 1) a.refuse("input", "images with elements");
  return to;
}

// The window that all outputs have, where these divide the image.
bool is_even(const Shape &from, const Shape &to, Windows &w) {
  const Shape none(to.size(), 0);
  w = {none, none, Shape(to.size(), 1), none, none};
  for (size_t d = 0; d < to.size(); ++d) {
    if (from[d] % to[d] != 0) return false;
    w.kernel[d] = w.strides[d] = from[d] / to[d];
  }
  return true;
}

Argument adaptive_mean(const Arguments &a, int axes) {
  const Images x(a, "input", axes);
  const Shape to = output_size(a, x);
  Windows w;
  if (has_kernels({x.batch()}, to.size()) && is_even(x.extents(), to, w))
    return x.as_given(
        with_axes_of(w, apply_one(operations::average_pool2d, {with_two_axes(x.batch())}, w.attributes_of_two_axes())));
  return x.as_given(apply_one(adaptive_average, {x.batch()}, {{"to", to}}));
}

Argument values_and_indices(const Images &x, const std::vector<Variable> &all, bool with_indices) {
  return with_indices ? x.as_given({all[0], all[1]}) : Argument(x.as_given(all[0]));
}

Argument adaptive_max(const Arguments &a, int axes, bool with_indices) {
  const Images x(a, "input", axes);
  return values_and_indices(x, apply(adaptive_maxima, {x.batch()}, {{"to", output_size(a, x)}}), with_indices);
}

Argument fractional_max(const Arguments &a, int axes, bool with_indices) {
  const Images x(a, "input", axes);
  const auto count = static_cast<size_t>(axes);
  const Shape kernel = integers_from(a, "kernel_size", count, 1), from = x.extents();
  if (a.has("output_size") == a.has("output_ratio")) a.refuse("output_size", "either this or an output_ratio");
  Shape to;
  if (a.has("output_size")) {
    to = output_size(a, x);
  } else {
    const std::vector<double> ratios = a.reals("output_ratio", count);
    for (size_t d = 0; d < count; ++d) {
      if (!(ratios[d] > 0 && ratios[d] < 1)) a.refuse("output_ratio", "numbers between 0 and 1");
      to.push_back(static_cast<int64_t>(static_cast<double>(from[d]) * ratios[d]));
    }
  }
  for (size_t d = 0; d < count; ++d)
    if (to[d] < 1 || to[d] + kernel[d] - 1 > from[d])
      fail(a.owner(), ": ", to[d], " windows of ", kernel[d], " do not fit into ", from[d]);
  const Shape wanted = {x.shape()[0], x.shape()[1], axes};
  Variable samples = a.has("_random_samples") ? a.variable("_random_samples")
                                              : Variable(random_numbers().uniform_tensor(wanted, 0, 1));
  const Shape &given = samples.shape();  // of more images, the first ones'
  if (given.size() != 3 || given[0] < wanted[0] || given[1] != wanted[1] || given[2] != wanted[2])
    a.refuse("_random_samples", "a tensor of " + to_string(wanted));
  samples = to_type(samples.detached(), x.batch().type());
  return values_and_indices(x, apply(fractional_maxima, {x.batch(), samples}, {{"kernel", kernel}, {"to", to}}),
                            with_indices);
}

struct Adaptive {
  Adaptive(int axes)
      : mean(with_axes("adaptive_avg_pool", axes), "input, output_size",
             [axes](const Arguments &a) { return adaptive_mean(a, axes); }),
        mean_layer(with_axes("AdaptiveAvgPool", axes), "output_size", calls(with_axes("adaptive_avg_pool", axes))),
        max(with_axes("adaptive_max_pool", axes), "input, output_size, return_indices=False",
            [axes](const Arguments &a) { return adaptive_max(a, axes, a.flag("return_indices")); }),
        max_with_indices(with_axes("adaptive_max_pool", axes) + "_with_indices",
                         "input, output_size, return_indices=False",
                         [axes](const Arguments &a) { return adaptive_max(a, axes, true); }),
        max_layer(with_axes("AdaptiveMaxPool", axes), "output_size, return_indices=False",
                  calls(with_axes("adaptive_max_pool", axes))) {}

  Function mean;
  LayerRow mean_layer;
  Function max, max_with_indices;
  LayerRow max_layer;
};
const Adaptive uneven_pools_of_axes[] = {{1}, {2}, {3}};

struct Fractional {
  Fractional(int axes)
      : function(with_axes("fractional_max_pool", axes), "input, " + std::string(options),
                 [axes](const Arguments &a) { return fractional_max(a, axes, a.flag("return_indices")); }),
        with_indices(with_axes("fractional_max_pool", axes) + "_with_indices", "input, " + std::string(options),
                     [axes](const Arguments &a) { return fractional_max(a, axes, true); }),
        layer(with_axes("FractionalMaxPool", axes), options, calls(with_axes("fractional_max_pool", axes)),
              [](Layer &self) {
                if (self.made_with().has("_random_samples"))
                  self.buffer("_random_samples", self.made_with().variable("_random_samples").value().clone());
              }) {}

  static constexpr const char *options =
      "kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None";
  Function function, with_indices;
  LayerRow layer;
};
const Fractional fractional[] = {{2}, {3}};

}  // namespace

const void *uneven_pools() { return uneven_pools_of_axes; }

}  // namespace saltern::nn
