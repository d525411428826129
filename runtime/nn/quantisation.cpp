// Numbers on a grid, and signs: quantised tensors, training as if they were, and layers of signs.

#include <cmath>

#include "algorithms/binary_products.h"
#include "algorithms/contraction.h"
#include "algorithms/convolution.h"
#include "dsl/derivative.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- q = round(x / scale) + zero_point, of one scale, or of one for each place along an axis.

Value along(const Value &v, const Value &x, int axis) {
  return inlined(x.extents(), [&](const Axes &at) { return v(at[static_cast<size_t>(axis)]); });
}

struct Grid {
  Value scale, zero;

  Grid(const Arguments &a, const Value &x) : scale(of_axis(a, x, "scale")), zero(of_axis(a, x, "zero_point")) {}

 private:
  static Value of_axis(const Arguments &a, const Value &x, const char *name) {
    const Value v = cast(x.type(), a.value(name));
    return v.rank() == 0 ? v : along(v, x, dimension(a.integer("axis"), x.rank(), a.owner()));
  }
};
Value on_grid(const Value &x, const Grid &g) { return map(formula::Function::round, x * (1 / g.scale)) + g.zero; }

// Back from the grid at once; the gradient goes straight through where the grid has a place.
Value fake_quantized(const Value &x, const Grid &g, double least, double most) {
  const Value q = on_grid(x, g), y = (max(min(q, most), least) - g.zero) * g.scale;
  return with_gradient(y, {{x}, [=](const Value &dy) { return Values{where(q >= least && q <= most, dy, dy * 0)}; }});
}

// Scales and zero points are numbers or tensors, of one or of as many as the axis has.
int expect_grid(const Arguments &a, const char *scale, const char *zero, bool by_channel) {
  const Variable x = a.variable("input");
  const int axis = by_channel ? dimension(a.integer("axis"), x.rank(), a.owner()) : 0;
  const Shape shape = by_channel ? Shape{x.shape()[static_cast<size_t>(axis)]} : Shape{};
  for (const char *name : {scale, zero}) {
    const Variable v = a.variable(name);
    if (v.shape() != shape && (by_channel || v.size() != 1))
      a.refuse(name, by_channel ? "one for each of " + std::to_string(shape[0]) + " channels" : "one number");
  }
  return axis;
}
Variable as_number(const Variable &v) { return v.shape().empty() ? v : reshape(v, {}); }

const nn::Function fake("fake_quantized", "input, scale, zero_point, axis, quant_min, quant_max",
                        by_formula([](const Arguments &a) {
                          const Value x = a.value("input");
                          return fake_quantized(x, Grid(a, x), a.real("quant_min"), a.real("quant_max"));
                        }));
Argument faked(const Arguments &a, bool by_channel) {
  const int axis = expect_grid(a, "scale", "zero_point", by_channel);
  if (a.integer("quant_min") > a.integer("quant_max")) a.refuse("quant_min", "at most 'quant_max'");
  const Variable scale = a.variable("scale"), zero = a.variable("zero_point");
  return fake.call({a["input"], by_channel ? scale : as_number(scale), by_channel ? zero : as_number(zero), axis,
                    a["quant_min"], a["quant_max"]});
}
const nn::Function per_tensor("fake_quantize_per_tensor_affine", "input, scale, zero_point, quant_min, quant_max",
                              [](const Arguments &a) { return faked(a, false); });
const nn::Function per_channel("fake_quantize_per_channel_affine",
                               "input, scale, zero_point, axis, quant_min, quant_max",
                               [](const Arguments &a) { return faked(a, true); });

// ---- There, and back.

const nn::Function quantized("quantized", "input, scale, zero_point, axis, dtype", by_formula([](const Arguments &a) {
                               const Value x = a.value("input");
                               const Type type = type_named(a.word("dtype"));
                               const int bits = facts(type).bits;
                               const bool natural = facts(type).kind == TypeFacts::Kind::natural;
                               const double least = natural ? 0 : -std::ldexp(1.0, bits - 1);
                               const double most = std::ldexp(1.0, natural ? bits : bits - 1) - 1;
                               const Value q = on_grid(x, Grid(a, x));
                               return cast(type, max(min(q, most), least));
                             }));
const nn::Function dequantized("dequantized", "input, scale, zero_point, axis", by_formula([](const Arguments &a) {
                                 const Value scale = a.value("scale"), x = cast(scale.type(), a.value("input"));
                                 const Grid g(a, x);
                                 return (x - g.zero) * g.scale;
                               }));
Argument quantize(const Arguments &a, const char *scale, const char *zero, bool by_channel) {
  const int axis = expect_grid(a, scale, zero, by_channel);
  const Variable s = a.variable(scale), z = a.variable(zero);
  return quantized.call({a["input"], by_channel ? s : as_number(s), by_channel ? z : as_number(z), axis,
                         a.word("dtype", {"int8", "uint8", "int16", "int32"})});
}
const nn::Function quantize_per_tensor("quantize_per_tensor", "input, scale, zero_point, dtype",
                                       [](const Arguments &a) { return quantize(a, "scale", "zero_point", false); });
const nn::Function quantize_per_channel("quantize_per_channel", "input, scales, zero_points, axis, dtype",
                                        [](const Arguments &a) { return quantize(a, "scales", "zero_points", true); });
const nn::Function dequantize("dequantize", "input, scale, zero_point, axis=None", [](const Arguments &a) {
  const bool by_channel = a.has("axis");
  const int axis = expect_grid(a, "scale", "zero_point", by_channel);
  const Variable s = a.variable("scale"), z = a.variable("zero_point");
  return dequantized.call({a["input"], by_channel ? s : as_number(s), by_channel ? z : as_number(z), axis});
});

// ---- Signs.

const nn::Function binary_sign("binary_sign", "input", by_formula([](const Arguments &a) {
                                 return algorithms::straight_sign(a.value("input"));
                               }));

// By bits, with the gradient that the product of signs has.
template <typename Product>
Value with_gradient_of_signs(const Value &y, const Value &x, const Value &w, const Product &product) {
  return with_gradient(y, {{x, w}, [=](const Value &dy) {
                             const Value signs = product(algorithms::straight_sign(x), algorithms::straight_sign(w));
                             return gradient({signs}, {dy}, {x, w});
                           }});
}
const nn::Function binary_dense("binary_dense", "input, weight", by_formula([](const Arguments &a) {
                                  const Value x = a.value("input"), w = a.value("weight");
                                  return with_gradient_of_signs(algorithms::binary_dense(x, w), x, w,
                                                                algorithms::dense);
                                }));
const Operation binary_windows("binary_conv2d", [](const Values &in, const Attributes &a) -> Values {
  const algorithms::Slides s = slides_of(a);
  return {with_gradient_of_signs(
      algorithms::binary_conv2d(in.at(0), in.at(1), s), in[0], in.at(1),
      [s](const Value &x, const Value &w) { return algorithms::convolution(x, w, s, int64_t{1}); })};
});

Argument with_bias(Layer &self, const Argument &y) {
  return self.has_parameter("bias") ? call("add", {y, self.parameter("bias")}) : y;
}

// While it trains, products of signs as numbers; in evaluation, by bits. Both give the same.
const LayerRow binary_linear("BinaryLinear", "in_features, out_features, bias=False",
                             {"input",
                              [](Layer &self, const Arguments &in) -> Argument {
                                const Variable x = in.variable("input"), w = self.parameter("weight");
                                if (x.shape().empty() || x.shape().back() != w.shape()[1])
                                  in.refuse("input", "(..., in), in = " + std::to_string(w.shape()[1]));
                                if (self.training())
                                  return with_bias(self, call("linear", {binary_sign(x), binary_sign(w)}));
                                Shape shape = x.shape();
                                shape.back() = w.shape()[0];
                                const Variable rows = reshape(x, {-1, w.shape()[1]});
                                return with_bias(self, reshape(composed("binary_dense", {rows, w}), shape));
                              }},
                             [](Layer &self) {
                               const Arguments &a = self.made_with();
                               const int64_t inputs = a.integer("in_features"), outputs = a.integer("out_features");
                               if (inputs < 1 || outputs < 1)
                                 a.refuse(inputs < 1 ? "in_features" : "out_features", "1 or more");
                               self.parameter("weight", uniform_parameter({outputs, inputs}, 1));
                               self.parameter("bias", a.flag("bias") ? constant_parameter({outputs}, 0) : Variable());
                             });

const LayerRow binary_conv2d("BinaryConv2d",
                             "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, bias=False",
                             {"input",
                              [](Layer &self, const Arguments &in) -> Argument {
                                const Arguments &a = self.made_with();
                                const Images x(in, "input", 2);
                                const Variable w = self.parameter("weight");
                                if (x.shape()[1] != w.shape()[1])
                                  in.refuse("input", std::to_string(w.shape()[1]) + " channels");
                                Variable y;
                                if (self.training()) {
                                  y = composed("conv2d", {binary_sign(x.batch()), binary_sign(w), Argument(),
                                                          a["stride"], a["padding"], a["dilation"]});
                                } else {
                                  Windows windows = {{w.shape()[2], w.shape()[3]},
                                                     integers_from(a, "stride", 2, 1),
                                                     integers_from(a, "dilation", 2, 1),
                                                     integers_from(a, "padding", 2, 0),
                                                     integers_from(a, "padding", 2, 0)};
                                  windows.fit(in, x.extents(), false);
                                  y = apply_one(binary_windows, {x.batch(), w}, windows.attributes());
                                }
                                if (self.has_parameter("bias")) y = y + reshape(self.parameter("bias"), {-1, 1, 1});
                                return x.as_given(y);
                              }},
                             [](Layer &self) {
                               const Arguments &a = self.made_with();
                               const Shape kernel = integers_from(a, "kernel_size", 2, 1);
                               const int64_t inputs = a.integer("in_channels"), outputs = a.integer("out_channels");
                               if (inputs < 1 || outputs < 1)
                                 a.refuse(inputs < 1 ? "in_channels" : "out_channels", "1 or more");
                               self.parameter("weight", uniform_parameter({outputs, inputs, kernel[0], kernel[1]}, 1));
                               self.parameter("bias", a.flag("bias") ? constant_parameter({outputs}, 0) : Variable());
                             });

}  // namespace

const void *quantisation() { return &per_tensor; }

}  // namespace saltern::nn
