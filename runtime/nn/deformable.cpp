// Convolutions whose taps are moved by offsets, with torchvision's names.

#include "algorithms/deformation.h"

#include <cmath>

#include "runtime/layers/binary.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

using namespace formula;

// x, offset, and a mask where there is one; attributes: those of windows, and groups of offsets
const Operation columns("deformed_columns", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::deformed_columns(in.at(0), in.at(1), in.size() > 2 ? in[2] : Value(), a.integers("kernel"),
                                       slides_of(a), a.integer("groups"))};
});

void expect_shape(const Arguments &a, const char *name, const Variable &v, const Shape &shape) {
  if (v.shape() != shape) a.refuse(name, "a tensor of " + to_string(shape));
}

// Of each group a matrix product: its outputs by what its channels' taps read.
const Function deform_conv2d(
    "deform_conv2d", "input, offset, weight, bias=None, stride=1, padding=0, dilation=1, mask=None",
    [](const Arguments &a) -> Argument {
      const Variable x = a.variable("input"), offset = a.variable("offset"), weight = a.variable("weight"),
                     mask = a.variable_if_given("mask"), bias = a.variable_if_given("bias");
      if (x.shape().size() != 4) a.refuse("input", "images (N, C, H, W)");
      if (weight.shape().size() != 4 || elements(weight.shape()) == 0)
        a.refuse("weight", "a tensor of 4 dimensions, none of them 0");
      if (offset.shape().size() != 4) a.refuse("offset", "a tensor of 4 dimensions");
      const int64_t batch = x.shape()[0], channels = x.shape()[1], outputs = weight.shape()[0];
      if (channels % weight.shape()[1] != 0 || outputs % std::max<int64_t>(channels / weight.shape()[1], 1) != 0)
        a.refuse("weight", "weights whose groups divide " + std::to_string(channels) + " channels");
      Windows w;
      w.kernel = {weight.shape()[2], weight.shape()[3]};
      w.strides = integers_from(a, "stride", 2, 1);
      w.dilations = integers_from(a, "dilation", 2, 1);
      w.before = w.after = integers_from(a, "padding", 2, 0);
      w.fit(a, {x.shape()[2], x.shape()[3]}, false);
      const int64_t taps = elements(w.kernel), groups = channels / weight.shape()[1],
                    offset_groups = offset.shape()[1] / (2 * taps);
      if (offset_groups < 1 || channels % offset_groups != 0)
        a.refuse("offset", "2 numbers for each of " + std::to_string(taps) + " taps and each group of channels");
      expect_shape(a, "offset", offset, {batch, 2 * taps * offset_groups, w.positions[0], w.positions[1]});
      std::vector<Variable> in = {x, offset};
      if (mask.defined()) {
        expect_shape(a, "mask", mask, {batch, taps * offset_groups, w.positions[0], w.positions[1]});
        in.push_back(mask);
      }
      const int64_t depth = weight.shape()[1] * taps;
      const Variable seen = reshape(apply_one(columns, in, w.attributes().with("groups", offset_groups)),
                                    {batch, groups, depth, elements(w.positions)});
      const Variable y = reshape(matmul(reshape(weight, {groups, outputs / groups, depth}), seen),
                                 {batch, outputs, w.positions[0], w.positions[1]});
      if (!bias.defined()) return y;
      expect_shape(a, "bias", bias, {outputs});
      return y + reshape(bias, {outputs, 1, 1});
    });

const LayerRow deform_conv2d_layer(
    "DeformConv2d", "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True",
    calls("deform_conv2d", "input, offset, mask=None"), [](Layer &self) {
      const Arguments &a = self.made_with();
      const int64_t inputs = a.integer("in_channels"), outputs = a.integer("out_channels"),
                    groups = a.integer("groups");
      if (groups < 1 || inputs % groups != 0 || outputs % groups != 0)
        a.refuse("groups", "a divisor of " + std::to_string(inputs) + " and " + std::to_string(outputs) + " channels");
      const Shape kernel = integers_from(a, "kernel_size", 2, 1),
                  shape = {outputs, inputs / groups, kernel[0], kernel[1]};
      if (inputs < 1 || outputs < 1) a.refuse(inputs < 1 ? "in_channels" : "out_channels", "1 or more");
      const double bound = 1 / std::sqrt(static_cast<double>(elements(shape) / outputs));
      self.parameter("weight", uniform_parameter(shape, bound));
      self.parameter("bias", a.flag("bias") ? uniform_parameter({outputs}, bound) : Variable());
    });

}  // namespace

const void *deformable() { return &deform_conv2d; }

}  // namespace saltern::nn
