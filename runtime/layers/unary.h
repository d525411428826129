#pragma once
// Elementwise functions of one tensor: y = f(x), dx = f'(x) dy.
//
//   inline const Unary relu("relu", piecewise_linear);      Variable y = relu(x);
//
// A function NAME needs the kernels NAME(x) -> y and NAME_gradient(x, dy) -> dx. Its second derivative, a formula of
// operations, is needed where gradients of gradients are; without it everything else works.
//
// Those that C has a function of the same name for (exp, tanh, ...) are functions here too, of an object in
// saltern::functions: an object's name and a function's from <cmath> could not be told apart by who uses both.

#include "runtime/layers/binary.h"

namespace saltern {

class Unary {
 public:
  using Formula = std::function<Variable(const Variable &x)>;

  explicit Unary(const std::string &name, Formula second_derivative = nullptr)
      : second_(std::move(second_derivative)),
        gradient_(name + "_gradient", compute(name + "_gradient"),
                  [this](const Taped &t, const std::vector<Variable> &dd) { return second_order(t, dd[0]); }),
        forward_(name, compute(name), [this](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
          return {apply_one(gradient_, {t.input(0), dy[0]})};
        }) {}

  Variable operator()(const Variable &x) const { return apply_one(forward_, {x}); }
  const Operation &operation() const { return forward_; }

 private:
  // NAME(x) and NAME_gradient(x, dy) alike: all inputs in the memory order of the first.
  static Operation::Compute compute(const std::string &kernel) {
    return [kernel](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> {
      const Tensor x = without_holes(in.at(0)), y = Tensor::like(x);
      std::vector<KernelArgument> arguments = {flat(x)};
      for (size_t i = 1; i < in.size(); ++i) arguments.emplace_back(flat(arranged_like(in[i], x)));
      arguments.emplace_back(flat(y));
      call(kernel, std::move(arguments));
      return {y};
    };
  }

  // Of dx = f'(x) dy, given the gradient dd of dx.
  std::vector<Variable> second_order(const Taped &t, const Variable &dd) const {
    const Variable &x = t.input(0), &dy = t.input(1);
    std::vector<Variable> d(2);
    if (t.needs(0)) {
      if (!second_) fail("'", forward_.name, "' has no second derivative; give its Unary a formula for one");
      const Variable f2 = second_(x);
      if (f2.defined()) d[0] = dd * dy * f2;
    }
    if (t.needs(1)) d[1] = apply_one(gradient_, {x, dd});
    return d;
  }

  Formula second_;
  Operation gradient_, forward_;
};

// The second derivative of a function made of straight lines: none.
inline Variable piecewise_linear(const Variable &) { return {}; }

inline const Unary negate("negate", piecewise_linear);
inline const Unary absolute("absolute", piecewise_linear);
inline const Unary reciprocal("reciprocal", [](const Variable &x) { return 2.0 / (x * x * x); });
inline const Unary square("square", [](const Variable &x) { return expand(scalar(2), x.shape()); });
inline const Unary sine("sine", [](const Variable &x) { return -sine(x); });
inline const Unary cosine("cosine", [](const Variable &x) { return -cosine(x); });

namespace functions {
inline const Unary sqrt("sqrt", [](const Variable &x) { return -0.25 / (x * sqrt(x)); });
inline const Unary exp("exp", [](const Variable &x) { return exp(x); });
inline const Unary log("log", [](const Variable &x) { return -1.0 / (x * x); });
inline const Unary erf("erf", [](const Variable &x) { return -2.256758334191025 * x * exp(-(x * x)); });  // 4/sqrt(pi)
}  // namespace functions

inline Variable sqrt(const Variable &x) { return functions::sqrt(x); }
inline Variable exp(const Variable &x) { return functions::exp(x); }
inline Variable log(const Variable &x) { return functions::log(x); }
inline Variable erf(const Variable &x) { return functions::erf(x); }

// 1 where x is 0, 0 where it is a normal number.
inline Variable is_zero(const Variable &x) { return 1.0 - minimum(absolute(x) * 1e38, scalar(1)); }

// a to the power of b. First derivatives are by kernels, which know the limits at a = 0 and b = 0. Second ones are of
// numbers that are not 0, so that what is 0 by its limit stays 0 and is not 0 times infinity: 0 is the least normal
// number where its logarithm is taken or a power may be negative, and an exponent of 0 is 2 where it is a factor, too.
inline const Binary power("power", Binary::Second{[](Argument a, Argument b, Argument c) {
                                                    return b * power.gradient_a(a, b - 1.0 + is_zero(b) * 2.0, c);
                                                  },
                                                  [](Argument a, Argument b, Argument c) {
                                                    const Variable less = b - 1.0;
                                                    return c * power(a + is_zero(a) * 1.17549435e-38, less) +
                                                           b * power.gradient_b(a, less, c);
                                                  },
                                                  [](Argument a, Argument b, Argument c) {
                                                    return power.gradient_b(a, b, c) *
                                                           log(maximum(a, scalar(1.17549435e-38)));
                                                  }});

}  // namespace saltern
