#include "runtime/layers/unary.h"

#include "runtime/kernels/kernels.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// A function NAME needs the kernels NAME(x) -> y and NAME_gradient(x, dy) -> dx = f'(x) dy. Its second derivative, a
// formula of operations, is needed where gradients of gradients are; without it everything else works.
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
Variable piecewise_linear(const Variable &) { return {}; }

}  // namespace

namespace operations {

const Unary negate("negate", piecewise_linear);
const Unary absolute("absolute", piecewise_linear);
const Unary reciprocal("reciprocal", [](const Variable &x) { return 2.0 / (x * x * x); });
const Unary square("square", [](const Variable &x) { return expand(scalar(2), x.shape()); });
const Unary sqrt("sqrt", [](const Variable &x) { return -0.25 / (x * saltern::sqrt(x)); });
const Unary exp("exp", saltern::exp);
const Unary log("log", [](const Variable &x) { return -1.0 / (x * x); });
const Unary sine("sine", [](const Variable &x) { return -saltern::sine(x); });
const Unary cosine("cosine", [](const Variable &x) { return -saltern::cosine(x); });
const Unary erf("erf", [](const Variable &x) { return -2.256758334191025 * x * exp(-(x * x)); });  // 4/sqrt(pi)
const Unary relu("relu", piecewise_linear);
const Unary leaky_relu("leaky_relu", piecewise_linear);
const Unary sigmoid("sigmoid", [](const Variable &x) {
  const Variable s = saltern::sigmoid(x);
  return s * (1 - s) * (1 - 2 * s);
});
const Unary tanh("tanh", [](const Variable &x) {
  const Variable t = saltern::tanh(x);
  return -2 * t * (1 - t * t);
});
const Unary gelu("gelu", [](const Variable &x) {
  return (2 - x * x) * exp(-0.5 * (x * x)) * 0.3989422804014327;  // 1 / sqrt(2 pi)
});
const Unary silu("silu", [](const Variable &x) {
  const Variable s = sigmoid(x);
  return s * (1 - s) * (2 + x * (1 - 2 * s));
});

}  // namespace operations

Variable negate(const Variable &x) { return operations::negate(x); }
Variable absolute(const Variable &x) { return operations::absolute(x); }
Variable reciprocal(const Variable &x) { return operations::reciprocal(x); }
Variable square(const Variable &x) { return operations::square(x); }
Variable sqrt(const Variable &x) { return operations::sqrt(x); }
Variable exp(const Variable &x) { return operations::exp(x); }
Variable log(const Variable &x) { return operations::log(x); }
Variable sine(const Variable &x) { return operations::sine(x); }
Variable cosine(const Variable &x) { return operations::cosine(x); }
Variable erf(const Variable &x) { return operations::erf(x); }
Variable relu(const Variable &x) { return operations::relu(x); }
Variable leaky_relu(const Variable &x) { return operations::leaky_relu(x); }
Variable sigmoid(const Variable &x) { return operations::sigmoid(x); }
Variable tanh(const Variable &x) { return operations::tanh(x); }
Variable gelu(const Variable &x) { return operations::gelu(x); }
Variable silu(const Variable &x) { return operations::silu(x); }

}  // namespace saltern
