#include "runtime/layers/unary.h"

#include "algorithms/elementwise.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// A row of algorithms/elementwise.h, whose kernels are NAME(x) -> y and NAME_gradient(x, dy) -> dx. The gradients of that
// are derived from the formula.
class Unary {
 public:
  explicit Unary(const std::string &name)
      : gradient_(name + "_gradient", compute(name + "_gradient"),
                  Operation::Algorithm([f = row(name).of](const Values &in, const Attributes &) {
                    return formula::gradient({f(in.at(0))}, {in.at(1)}, {in[0]});
                  })),
        forward_(name, compute(name),
                 Operation::Algorithm(
                     [f = row(name).of](const Values &in, const Attributes &) -> Values { return {f(in.at(0))}; }),
                 [this](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
                   return {apply_one(gradient_, {t.input(0), dy[0]})};
                 }) {}

  Variable operator()(const Variable &x) const { return apply_one(forward_, {x}); }

 private:
  static const algorithms::UnaryRow &row(const std::string &name) {
    const auto *found = algorithms::find_row(algorithms::unary_rows(), name);
    if (!found) fail("algorithms/elementwise.h has no function '", name, "'");
    return *found;
  }

  static Operation::Compute compute(const std::string &kernel) {
    return [kernel](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> {
      return {called_flat(kernel, in)};
    };
  }

  Operation gradient_, forward_;
};

}  // namespace

// The operation, and the function that applies it.
#define SALTERN_UNARY(NAME) \
  namespace operations {    \
  const Unary NAME(#NAME);  \
  }                         \
  Variable NAME(const Variable &x) { return operations::NAME(x); }
SALTERN_UNARY(negate)
SALTERN_UNARY(absolute)
SALTERN_UNARY(reciprocal)
SALTERN_UNARY(square)
SALTERN_UNARY(sqrt)
SALTERN_UNARY(exp)
SALTERN_UNARY(log)
SALTERN_UNARY(sine)
SALTERN_UNARY(cosine)
SALTERN_UNARY(erf)
SALTERN_UNARY(relu)
SALTERN_UNARY(leaky_relu)
SALTERN_UNARY(sigmoid)
SALTERN_UNARY(tanh)
SALTERN_UNARY(gelu)
SALTERN_UNARY(silu)
#undef SALTERN_UNARY

}  // namespace saltern
