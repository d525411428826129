// Steps of training as operators (ai.onnx.preview.training): R, the learning rate; T, how many steps came before; then
// for all tensors their values, their gradients, and one or two accumulators.

#include "algorithms/optimizers.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

// Of one tensor: { x, g, accumulators } -> { x, accumulators }.
using Update = std::function<Values(const Value &rate, const Value &steps, const Values &of)>;

void give_updates(Lowering &n, size_t accumulators, const Update &update) {
  const size_t given = n.input_count() - std::min<size_t>(n.input_count(), 2), each = 2 + accumulators;
  if (given == 0 || given % each != 0) fail("has ", given, " tensors; expected ", each, " for each that it optimizes");
  const size_t count = given / each;
  const Operand rate = n.reshaped(n.input(0), {}), steps = n.reshaped(n.input(1), {});
  for (size_t i = 0; i < count; ++i) {
    const Type type = n.input(2 + i).type;
    Values of;
    for (size_t part = 0; part < each; ++part) of.push_back(cast(type, n.input(2 + part * count + i)));
    const std::vector<Operand> made = n.computed(update(cast(type, rate), cast(type, steps), of));
    for (size_t result = 0; result < made.size(); ++result) n.give(result * count + i, made[result]);
  }
}

// As the formula of an update takes it.
algorithms::UpdateInputs inputs_of(const Values &of, double decay, std::map<std::string, Value> numbers) {
  numbers.insert({{"sign", 1}, {"decay", decay}, {"keep", 1}});
  for (auto &[name, v] : numbers)
    if (v->literal) v = constant_value(of[0].type(), v->element->real);
  return {of[0], of[1], Values(of.begin() + 2, of.end()), numbers};
}

double number(const Lowering &n, const char *name, double otherwise) { return n.attributes().real(name, otherwise); }

void adagrad(Lowering &n) {
  const double norm = number(n, "norm_coefficient", 0), epsilon = number(n, "epsilon", 1e-6),
               decay = number(n, "decay_factor", 0);
  give_updates(n, 1, [&](const Value &rate, const Value &steps, const Values &of) {
    return algorithms::rmsprop(inputs_of(of, norm,
                                         {{"rate", named("rate", rate / (steps * decay + 1))},
                                          {"old", 1},
                                          {"new", 1},
                                          {"inside", 0},
                                          {"outside", epsilon}}));
  });
}

// ONNX adds epsilon to the root of what is not corrected yet, and corrects nothing in step 0.
void adam(Lowering &n) {
  const double norm = number(n, "norm_coefficient", 0), after = number(n, "norm_coefficient_post", 0),
               alpha = number(n, "alpha", 0.9), beta = number(n, "beta", 0.999), epsilon = number(n, "epsilon", 1e-6);
  give_updates(n, 2, [&](const Value &rate, const Value &steps, const Values &of) {
    const auto correction = [&](double decay) {
      return named("correction", where(steps > 0, 1 - power(decay, steps), 1));
    };
    const Value of_mean = named("of_mean", rate * sqrt(correction(beta)) / correction(alpha));
    Values all = algorithms::adam(inputs_of(of, norm,
                                            {{"beta1", alpha},
                                             {"beta2", beta},
                                             {"of_gradient", 0},
                                             {"of_mean", of_mean},
                                             {"of_root", 1},
                                             {"outside", epsilon}}));
    all[0] = all[0] * (1 - after);
    return all;
  });
}

void momentum(Lowering &n) {
  const double norm = n.attributes().real("norm_coefficient"), alpha = n.attributes().real("alpha"),
               beta = n.attributes().real("beta");
  const bool nesterov = one_of({"standard", "nesterov"}, "mode", n.attributes().word("mode")) == "nesterov";
  give_updates(n, 1, [&](const Value &rate, const Value &steps, const Values &of) {
    const Value fresh = named("fresh", where(steps > 0, beta, constant_value(steps.type(), 1)));
    return algorithms::sgd(inputs_of(of, norm,
                                     {{"momentum", alpha},
                                      {"fresh", fresh},
                                      {"of_velocity", nesterov ? rate * alpha : rate},
                                      {"of_gradient", nesterov ? rate : Value(0)}}));
  });
}

constexpr const char *domain = "ai.onnx.preview.training";

}  // namespace

const OperatorList optimizer_operators = {
    {"Adagrad", adagrad, nullptr, domain}, {"Adam", adam, nullptr, domain}, {"Momentum", momentum, nullptr, domain}};

}  // namespace saltern
