// Convolutions in two steps, and such with weights of their own at every position; with Keras' names.

#include <cmath>

#include "algorithms/local_convolution.h"
#include "runtime/layers/binary.h"
#include "runtime/nn/families.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- Each channel by itself, then all of a position.

struct Separable {
  explicit Separable(int axes)
      : row(with_axes("SeparableConv", axes),
            "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, depth_multiplier=1, bias=True",
            {"input",
             [](Layer &self, const Arguments &in) -> Argument {
               return inside("pointwise", self.part("pointwise"),
                             inside("depthwise", self.part("depthwise"), in.variable("input")));
             }},
            [axes](Layer &self) {
              const Arguments &a = self.made_with();
              const std::string conv = with_axes("Conv", axes);
              if (a.integer("depth_multiplier") < 1) a.refuse("depth_multiplier", "1 or more");
              const int64_t between = a.integer("in_channels") * a.integer("depth_multiplier");
              self.part("depthwise", conv,
                        {a["in_channels"], between, a["kernel_size"], a["stride"], a["padding"], a["dilation"],
                         a["in_channels"], false});
              self.part("pointwise", conv, {between, a["out_channels"], 1}, {{"bias", a["bias"]}});
            }) {}
  LayerRow row;
};
const Separable separable1d(1), separable2d(2);

// ---- Locally connected.

// x, w(o, c, p..., k...)
const Operation connected("locally_connected", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::locally_connected(in.at(0), in.at(1), slides_of(a))};
});

Windows windows_of(const Arguments &a, size_t axes) {
  Windows w;
  w.kernel = integers_from(a, "kernel_size", axes, 1);
  w.strides = integers_from(a, "stride", axes, 1);
  w.dilations = Shape(axes, 1);
  w.before = w.after = integers_from(a, "padding", axes, 0);
  w.fit(a, integers_from(a, "input_size", axes, 1), false);
  return w;
}

struct LocallyConnected {
  explicit LocallyConnected(int axes)
      : row(with_axes("LocallyConnected", axes),
            "in_channels, out_channels, input_size, kernel_size, stride=1, padding=0, bias=True",
            {"input",
             [axes](Layer &self, const Arguments &in) -> Argument {
               const Arguments &made = self.made_with();
               const Images x(in, "input", axes);
               const auto count = static_cast<size_t>(axes);
               if (x.shape()[1] != made.integer("in_channels") || x.extents() != made.integers("input_size", count))
                 in.refuse("input", std::to_string(made.integer("in_channels")) + " channels of " +
                                        to_string(made.integers("input_size", count)));
               const Variable y =
                   apply_one(connected, {x.batch(), self.parameter("weight")}, windows_of(made, count).attributes());
               return x.as_given(self.has_parameter("bias") ? y + self.parameter("bias") : y);
             }},
            [axes](Layer &self) {
              const Arguments &a = self.made_with();
              const Windows w = windows_of(a, static_cast<size_t>(axes));
              Shape bias = {a.integer("out_channels")}, weight = {a.integer("out_channels"), a.integer("in_channels")};
              if (weight[0] < 1 || weight[1] < 1) a.refuse(weight[0] < 1 ? "out_channels" : "in_channels", "1 or more");
              bias.insert(bias.end(), w.positions.begin(), w.positions.end());
              weight.insert(weight.end(), w.positions.begin(), w.positions.end());
              weight.insert(weight.end(), w.kernel.begin(), w.kernel.end());
              const double bound = 1 / std::sqrt(static_cast<double>(weight[1] * elements(w.kernel)));
              self.parameter("weight", uniform_parameter(weight, bound));
              self.parameter("bias", a.flag("bias") ? uniform_parameter(bias, bound) : Variable());
            }) {}
  LayerRow row;
};
const LocallyConnected connected1d(1), connected2d(2);

}  // namespace

const void *local_convolutions() { return &separable1d; }

}  // namespace saltern::nn
