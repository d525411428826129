// Normalisation of groups of channels, of rows, and by neighbouring channels.

#include "runtime/nn/norms.h"

#include <limits>

#include "algorithms/normalisation.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"
#include "runtime/operations.h"

namespace saltern::nn {

Variable rows_normalised(const Variable &x, int64_t rows, double epsilon) {
  const int64_t count = x.size() / rows;
  const Argument y = call("layer_norm", {reshape(x, {rows, count}), Shape{count}}, {{"eps", epsilon}});
  return reshape(variable_of(y), x.shape());
}

Variable scaled_channels(const Variable &y, const Variable &weight, const Variable &bias) {
  Shape beside(y.shape().size() - 1, 1);
  beside[0] = y.shape()[1];
  const Variable scaled = weight.defined() ? y * reshape(weight, beside) : y;
  return bias.defined() ? scaled + reshape(bias, beside) : scaled;
}

namespace {

using namespace formula;

const Function group_norm("group_norm", "input, num_groups, weight=None, bias=None, eps=1e-05", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const int64_t groups = a.integer("num_groups");
  if (x.shape().size() < 2) a.refuse("input", "(N, C, ...)");
  const int64_t channels = x.shape()[1], samples = x.shape()[0];
  if (groups < 1 || channels % groups != 0)
    a.refuse("num_groups", "a number that divides " + std::to_string(channels) + " channels");
  for (const char *name : {"weight", "bias"})
    if (a.has(name) && a.variable(name).shape() != Shape{channels}) a.refuse(name, "one for each channel");
  if (x.size() == 0) return x;
  return scaled_channels(rows_normalised(x, samples * groups, a.real("eps")), a.variable_if_given("weight"),
                         a.variable_if_given("bias"));
});

void make_affine(Layer &self, const Shape &shape, const char *affine, bool bias) {
  const bool has = self.made_with().flag(affine);
  self.parameter("weight", has ? constant_parameter(shape, 1) : Variable());
  self.parameter("bias", has && bias ? constant_parameter(shape, 0) : Variable());
}

const LayerRow group_norm_layer("GroupNorm", "num_groups, num_channels, eps=1e-05, affine=True, *, bias=True",
                                calls("group_norm"), [](Layer &self) {
                                  const Arguments &a = self.made_with();
                                  const int64_t groups = a.integer("num_groups"), channels = a.integer("num_channels");
                                  if (groups < 1 || channels < 1 || channels % groups != 0)
                                    a.refuse("num_channels", "a multiple of num_groups");
                                  make_affine(self, {channels}, "affine", a.flag("bias"));
                                });

// The axis that rows begin at, counted from the end; rows are of this shape.
int64_t axis_of_rows(const Arguments &a) {
  const Shape row = a.integers("normalized_shape"), x = a.variable("input").shape();
  if (row.empty() || row.size() > x.size() || !std::equal(row.rbegin(), row.rend(), x.rbegin()))
    a.refuse("input", "(..., " + to_string(row) + ")");
  for (const char *name : {"weight", "bias"})
    if (a.signature().has(name) && a.has(name) && a.variable(name).shape() != row) a.refuse(name, to_string(row));
  return -static_cast<int64_t>(row.size());
}

std::vector<int> last_axes(const Arguments &a) {
  std::vector<int> axes;
  for (size_t d = a.integers("normalized_shape").size(); d > 0; --d) axes.push_back(-static_cast<int>(d));
  return axes;
}

Value scaled(Value y, const Arguments &a) {
  if (a.has("weight")) y = y * a.value("weight");
  return a.signature().has("bias") && a.has("bias") ? y + a.value("bias") : y;
}

bool has_kernel(const Variable &x) { return x.type() == Type::f32 && x.size() > 0; }

const Function layer_norm("layer_norm", "input, normalized_shape, weight=None, bias=None, eps=1e-05",
                          by_formula([](const Arguments &a) {
                            const Value x = a.value("input"), epsilon = constant_value(x.type(), a.real("eps"));
                            return scaled(algorithms::normalised(x, last_axes(a), epsilon), a);
                          }),
                          [](const Arguments &a) -> Argument {
                            const Variable x = a.variable("input");
                            const int64_t axis = axis_of_rows(a);
                            if (!has_kernel(x)) return {};
                            const Shape row = a.integers("normalized_shape");
                            return apply_one(operations::layer_norm,
                                             {x, or_full(a.variable_if_given("weight"), row, 1, x),
                                              or_full(a.variable_if_given("bias"), row, 0, x)},
                                             {{"axis", axis}, {"epsilon", a.real("eps")}});
                          });
const LayerRow layer_norm_layer("LayerNorm", "normalized_shape, eps=1e-05, elementwise_affine=True, bias=True",
                                calls("layer_norm"), [](Layer &self) {
                                  const Arguments &a = self.made_with();
                                  make_affine(self, a.integers("normalized_shape"), "elementwise_affine",
                                              a.flag("bias"));
                                });

double epsilon_of(const Arguments &a, Type type) {
  if (a.has("eps")) return a.real("eps");
  return type == Type::f64 ? std::numeric_limits<double>::epsilon()
                           : static_cast<double>(std::numeric_limits<float>::epsilon());
}

const Function rms_norm("rms_norm", "input, normalized_shape, weight=None, eps=None",
                        by_formula([](const Arguments &a) {
                          const Value x = a.value("input"), epsilon = constant_value(x.type(), epsilon_of(a, x.type()));
                          return scaled(algorithms::rms_normalised(x, last_axes(a), epsilon), a);
                        }),
                        [](const Arguments &a) -> Argument {
                          const Variable x = a.variable("input");
                          const int64_t axis = axis_of_rows(a);
                          if (!has_kernel(x)) return {};
                          return apply_one(
                              operations::rms_norm,
                              {x, or_full(a.variable_if_given("weight"), a.integers("normalized_shape"), 1, x)},
                              {{"axis", axis}, {"epsilon", epsilon_of(a, Type::f32)}});
                        });
const LayerRow rms_norm_layer("RMSNorm", "normalized_shape, eps=None, elementwise_affine=True", calls("rms_norm"),
                              [](Layer &self) {
                                make_affine(self, self.made_with().integers("normalized_shape"), "elementwise_affine",
                                            false);
                              });

// ---- Of neighbouring channels.

const std::string of_neighbours = "size, alpha=0.0001, beta=0.75, k=1.0";
const Function local_response_norm("local_response_norm", "input, " + of_neighbours, by_formula([](const Arguments &a) {
                                     if (a.value("input").rank() < 3) a.refuse("input", "(N, C, ...)");
                                     const int64_t size = a.integer("size");
                                     if (size < 1) a.refuse("size", "at least one channel");
                                     return algorithms::local_response_norm(a.value("input"), size, a.real("alpha"),
                                                                            a.real("beta"), a.real("k"), size / 2);
                                   }));
const LayerRow local_response_norm_layer("LocalResponseNorm", of_neighbours, calls("local_response_norm"));
const LayerRow cross_map_lrn("CrossMapLRN2d", of_neighbours, calls("local_response_norm"));

}  // namespace

const void *norms() { return &group_norm; }

}  // namespace saltern::nn
