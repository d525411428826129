#include "runtime/layers/binary.h"

#include "algorithms/elementwise.h"
#include "algorithms/movement.h"
#include "runtime/layers/unary.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

using Argument = const Variable &;

// A function NAME needs the kernel NAME and a rule; without a rule of its own it uses the kernels NAME_gradient_a and
// NAME_gradient_b, da = NAME_gradient_a(a, b, dy) under the full shape, whose own gradients are formulas. Gradients are
// summed back over what was broadcast.
class Binary {
 public:
  // Gradients of a and b under the full shape.
  struct Rule {
    using Part = std::function<Variable(const Taped &t, const Variable &dy)>;
    Part a, b;
  };

  // Second derivatives times c, under the full shape. None: the first ones are constant, piece by piece.
  struct Second {
    using Part = std::function<Variable(const Variable &a, const Variable &b, const Variable &c)>;
    Part aa, ab, bb;
  };

  // By kernels.
  explicit Binary(const std::string &name, Second second = {})
      : second_(std::move(second)),
        gradient_a_(std::make_unique<Operation>(name + "_gradient_a", compute(name + "_gradient_a"),
                                                formula_of(name, 0), second_order(&Second::aa, &Second::ab))),
        gradient_b_(std::make_unique<Operation>(name + "_gradient_b", compute(name + "_gradient_b"),
                                                formula_of(name, 1), second_order(&Second::ab, &Second::bb))),
        rule_{[this](const Taped &t, const Variable &dy) { return gradient_a(t.input(0), t.input(1), dy); },
              [this](const Taped &t, const Variable &dy) { return gradient_b(t.input(0), t.input(1), dy); }},
        forward_(name, compute(name), formula_of(name), gradient()) {}

  // By other operations.
  Binary(const std::string &name, Rule rule)
      : rule_(std::move(rule)), forward_(name, compute(name), formula_of(name), gradient()) {}

  Variable operator()(const Variable &a, const Variable &b) const { return apply_one(forward_, {a, b}); }

  // Where gradients are by kernels.
  Variable gradient_a(const Variable &a, const Variable &b, const Variable &dy) const {
    return apply_one(*gradient_a_, {a, b, dy});
  }
  Variable gradient_b(const Variable &a, const Variable &b, const Variable &dy) const {
    return apply_one(*gradient_b_, {a, b, dy});
  }

 private:
  static Operation::Compute compute(const std::string &kernel) {
    return [kernel](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> {
      return {called_strided(kernel, in)};
    };
  }

  static Operation::Algorithm formula_of(const std::string &name) {
    return [f = algorithms::find_row(algorithms::binary_rows(), name)->of](
               const Values &in, const Attributes &) -> Values { return {f(in.at(0), in.at(1))}; };
  }
  // (a, b, dy) -> the gradient of one of them.
  static Operation::Algorithm formula_of(const std::string &name, size_t wanted) {
    return
        [f = algorithms::find_row(algorithms::binary_rows(), name)->of, wanted](const Values &in, const Attributes &) {
          const auto extents = in.at(2).extents();
          Values operands;
          for (size_t i = 0; i < 2; ++i) operands.push_back(named("operand", algorithms::broadcasted(in[i], extents)));
          return formula::gradient({f(operands[0], operands[1])}, {in[2]}, {operands[wanted]});
        };
  }

  Operation::Gradient gradient() {
    return [this](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      std::vector<Variable> d(2);
      if (t.needs(0)) d[0] = sum_to(rule_.a(t, dy[0]), t.shape(0));
      if (t.needs(1)) d[1] = sum_to(rule_.b(t, dy[0]), t.shape(1));
      return d;
    };
  }

  // Of NAME_gradient_a(a, b, dy), or of b's, which is linear in dy, given the gradient dd of it.
  Operation::Gradient second_order(Second::Part Second::*by_a, Second::Part Second::*by_b) {
    return [this, by_a, by_b](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      const Variable &a = t.input(0), &b = t.input(1), &dy = t.input(2);
      std::vector<Variable> d(3);
      for (const auto &[i, part] : {std::pair{0, by_a}, std::pair{1, by_b}})
        if (t.needs(i) && second_.*part) d[i] = sum_to((second_.*part)(a, b, dd[0] * dy), t.shape(i));
      if (t.needs(2))
        d[2] = sum_to(by_a == &Second::aa ? gradient_a(a, b, dd[0]) : gradient_b(a, b, dd[0]), dy.shape());
      return d;
    };
  }

  Second second_;
  std::unique_ptr<const Operation> gradient_a_, gradient_b_;
  Rule rule_;
  Operation forward_;
};

// 1 where x is 0, 0 where it is a normal number.
Variable is_zero(const Variable &x) { return 1.0 - minimum(absolute(x) * 1e38, scalar(1, x)); }

}  // namespace

namespace operations {

const Binary add("add", {[](const Taped &, Argument dy) { return dy; }, [](const Taped &, Argument dy) { return dy; }});
const Binary multiply("multiply", {[](const Taped &t, Argument dy) { return dy * t.input(1); },
                                   [](const Taped &t, Argument dy) { return dy * t.input(0); }});
const Binary subtract("subtract",
                      {[](const Taped &, Argument dy) { return dy; }, [](const Taped &, Argument dy) { return -dy; }});
const Binary divide("divide", {[](const Taped &t, Argument dy) { return dy / t.input(1); },
                               [](const Taped &t, Argument dy) { return -(dy * t.output(0) / t.input(1)); }});
const Binary maximum("maximum");
const Binary minimum("minimum");

// First derivatives are by kernels, which know the limits at a = 0 and b = 0. Second ones are of numbers that are not
// 0, so that what is 0 by its limit stays 0 and is not 0 times infinity: 0 is the least normal number where its
// logarithm is taken or a power may be negative, and an exponent of 0 is 2 where it is a factor, too.
const Binary power("power", Binary::Second{[](Argument a, Argument b, Argument c) {
                                             return b * power.gradient_a(a, b - 1.0 + is_zero(b) * 2.0, c);
                                           },
                                           [](Argument a, Argument b, Argument c) {
                                             const Variable less = b - 1.0;
                                             return c * power(a + is_zero(a) * 1.17549435e-38, less) +
                                                    b * power.gradient_b(a, less, c);
                                           },
                                           [](Argument a, Argument b, Argument c) {
                                             return power.gradient_b(a, b, c) *
                                                    log(saltern::maximum(a, scalar(1.17549435e-38, a)));
                                           }});

}  // namespace operations

Variable add(const Variable &a, const Variable &b) { return operations::add(a, b); }
Variable subtract(const Variable &a, const Variable &b) { return operations::subtract(a, b); }
Variable multiply(const Variable &a, const Variable &b) { return operations::multiply(a, b); }
Variable divide(const Variable &a, const Variable &b) { return operations::divide(a, b); }
Variable maximum(const Variable &a, const Variable &b) { return operations::maximum(a, b); }
Variable minimum(const Variable &a, const Variable &b) { return operations::minimum(a, b); }
Variable power(const Variable &a, const Variable &b) { return operations::power(a, b); }

Variable scalar(double value, Type type) { return Variable(Tensor::full({}, value, type)); }

void add_to(const Tensor &a, const Tensor &b) { call_strided("add", a, {a, b}); }

}  // namespace saltern
