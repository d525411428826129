#include "runtime/layers/unary.h"

#include "algorithms/elementwise.h"
#include "runtime/kernels/kernels.h"
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
        forward_(name, compute(name), [this](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
          return {apply_one(gradient_, {t.input(0), dy[0]})};
        }) {}

  Variable operator()(const Variable &x) const { return apply_one(forward_, {x}); }

 private:
  static const algorithms::UnaryRow &row(const std::string &name) {
    const auto *found = algorithms::find_row(algorithms::unary_rows(), name);
    if (!found) fail("algorithms/elementwise.h has no function '", name, "'");
    return *found;
  }

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

  Operation gradient_, forward_;
};

}  // namespace

namespace operations {

const Unary negate("negate");
const Unary absolute("absolute");
const Unary reciprocal("reciprocal");
const Unary square("square");
const Unary sqrt("sqrt");
const Unary exp("exp");
const Unary log("log");
const Unary sine("sine");
const Unary cosine("cosine");
const Unary erf("erf");
const Unary relu("relu");
const Unary leaky_relu("leaky_relu");
const Unary sigmoid("sigmoid");
const Unary tanh("tanh");
const Unary gelu("gelu");
const Unary silu("silu");

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
