// Products with weights.

#include "runtime/layers/linear.h"

#include <cmath>

#include "algorithms/contraction.h"
#include "runtime/nn/families.h"
#include "runtime/nn/lazy.h"

namespace saltern::nn {

namespace {

using namespace formula;

// y(..., o) = b(o) + sum over i of w(o, i) x(..., i); the kernels are of f32.
const Function linear("linear", "input, weight, bias=None", by_formula([](const Arguments &a) {
                        const Value x = a.value("input"), w = a.value("weight");
                        std::vector<Expression> extents = x.extents();
                        extents.back() = w.extent(0);
                        const Value y = compute("linear", extents, [&](Axes at) {
                          const Expression o = at.back();
                          return sum({x.extent(-1)}, [&](const Axes &i) {
                            at.back() = i[0];
                            return w(o, i[0]) * x.at(at);
                          });
                        });
                        return a.has("bias") ? y + a.value("bias") : y;
                      }),
                      [](const Arguments &a) -> Argument {
                        const Variable x = a.variable("input"), w = a.variable("weight"),
                                       b = a.variable_if_given("bias");
                        if (w.shape().size() == 1) {  // of one result, without a dimension for it
                          const Argument y = call("matmul", {x, w});
                          return b.defined() ? call("add", {y, b}) : y;
                        }
                        if (w.shape().size() != 2) a.refuse("weight", "a matrix (out, in), or a vector (in)");
                        if (x.shape().empty() || x.shape().back() != w.shape()[1])
                          a.refuse("input", "(..., in), in = " + std::to_string(w.shape()[1]));
                        if (b.defined() && b.shape() != Shape{w.shape()[0]}) a.refuse("bias", "(out), as 'weight' has");
                        const bool has_kernel = x.type() == Type::f32 && w.type() == Type::f32 &&
                                                x.size() > 0 && w.size() > 0;
                        return has_kernel ? Argument(saltern::linear(x, w, b)) : Argument();
                      });

double bound(const Arguments &a, std::string_view features) {
  const int64_t count = a.integer(features);
  if (count < 0) a.refuse(features, "a number of at least 0");
  return count == 0 ? 0 : 1 / std::sqrt(static_cast<double>(count));
}

void bias_if_wanted(Layer &self, double range) {
  const Arguments &a = self.made_with();
  const int64_t count = a.integer("out_features");
  self.parameter("bias", a.flag("bias") ? uniform_parameter({count}, range) : Variable());
}

const RowWithLazy linear_layer("Linear", "in_features", "out_features, bias=True", 0, calls("linear"), [](Layer &self) {
  const Arguments &a = self.made_with();
  const double range = bound(a, "in_features");
  bound(a, "out_features");
  self.parameter("weight", uniform_parameter({a.integer("out_features"), a.integer("in_features")}, range));
  bias_if_wanted(self, range);
});

// y(..., o) = b(o) + sum over i and j of x1(..., i) w(o, i, j) x2(..., j)
const Function bilinear("bilinear", "input1, input2, weight, bias=None", by_formula([](const Arguments &a) {
                          const Value x = a.value("input1"), z = a.value("input2"), w = a.value("weight");
                          std::vector<Expression> extents = x.extents();
                          extents.back() = w.extent(0);
                          std::vector<Expression> halves = extents;
                          halves.push_back(w.extent(2));
                          const Value half = compute("half", halves, [&](Axes at) {  // (..., o, j)
                            const Expression j = at.back();
                            at.pop_back();
                            const Expression o = at.back();
                            return sum({w.extent(1)}, [&](const Axes &i) {
                              at.back() = i[0];
                              return w(o, i[0], j) * x.at(at);
                            });
                          });
                          const Value y = compute("bilinear", extents, [&](const Axes &at) {
                            return sum({w.extent(2)}, [&](const Axes &j) {
                              Axes left = at, right = at;
                              left.push_back(j[0]);
                              right.back() = j[0];
                              return half.at(left) * z.at(right);
                            });
                          });
                          return a.has("bias") ? y + a.value("bias") : y;
                        }),
                        [](const Arguments &a) -> Argument {
                          const Shape w = a.variable("weight").shape();
                          if (w.size() != 3) a.refuse("weight", "(out, in1, in2)");
                          Shape x = a.variable("input1").shape(), z = a.variable("input2").shape();
                          if (x.empty() || x.back() != w[1])
                            a.refuse("input1", "(..., in1), in1 = " + std::to_string(w[1]));
                          x.back() = w[2];
                          if (z != x) a.refuse("input2", to_string(x));
                          return {};
                        });
const LayerRow bilinear_layer("Bilinear", "in1_features, in2_features, out_features, bias=True",
                              calls("bilinear", "input1, input2"), [](Layer &self) {
                                const Arguments &a = self.made_with();
                                if (a.integer("in1_features") < 1) a.refuse("in1_features", "a number of at least 1");
                                const double range = bound(a, "in1_features");
                                self.parameter("weight",
                                               uniform_parameter({a.integer("out_features"), a.integer("in1_features"),
                                                                  a.integer("in2_features")},
                                                                 range));
                                bias_if_wanted(self, range);
                              });

}  // namespace

const void *linears() { return &linear; }

}  // namespace saltern::nn
