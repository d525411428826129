// Steps of training as operators (ai.onnx.preview.training): R, the learning rate; T, how many steps came before; then
// for all tensors their values, their gradients, and one or two accumulators.

#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using formula::Function;

// One tensor: x, g and the accumulators -> x and the accumulators.
struct Parts {
  Expression rate, steps, x, gradient, first, second;
};
using Update = std::function<std::vector<Expression>(const Parts &)>;

void give_updates(Lowering &n, size_t accumulators, const Update &update) {
  const size_t given = n.input_count() - std::min<size_t>(n.input_count(), 2), each = 2 + accumulators;
  if (given == 0 || given % each != 0) fail("has ", given, " tensors; expected ", each, " for each that it optimizes");
  const size_t count = given / each;
  const Operand rate = n.reshaped(n.input(0), {}), steps = n.reshaped(n.input(1), {});
  for (size_t i = 0; i < count; ++i) {
    const Operand &x = n.input(2 + i);
    std::vector<Operand> operands = {rate, steps};
    for (size_t part = 0; part < each; ++part) operands.push_back(n.input(2 + part * count + i));
    const auto give = [&](size_t result, size_t output) {
      n.give(output, n.formula(x.type, x.shape, operands, [&](const Reads &r, const Axes &) {
        const auto read = [&](size_t o) { return o < r.size() ? cast(x.type, r[o].here()) : Expression(); };
        return update({read(0), read(1), read(2), read(3), read(4), read(5)})[result];
      }));
    };
    for (size_t result = 0; result <= accumulators; ++result) give(result, result * count + i);
  }
}

double number(const Lowering &n, const char *name, double otherwise) { return n.attributes().real(name, otherwise); }

void adagrad(Lowering &n) {
  const double norm = number(n, "norm_coefficient", 0), epsilon = number(n, "epsilon", 1e-6),
               decay = number(n, "decay_factor", 0);
  give_updates(n, 1, [&](const Parts &p) -> std::vector<Expression> {
    const Expression rate = p.rate / (1.0 + p.steps * decay), g = p.x * norm + p.gradient;
    const Expression squares = p.first + g * g;
    return {p.x - rate * g / (sqrt(squares) + epsilon), squares};
  });
}

void adam(Lowering &n) {
  const double norm = number(n, "norm_coefficient", 0), after = number(n, "norm_coefficient_post", 0),
               alpha = number(n, "alpha", 0.9), beta = number(n, "beta", 0.999), epsilon = number(n, "epsilon", 1e-6);
  give_updates(n, 2, [&](const Parts &p) -> std::vector<Expression> {
    const Expression g = p.x * norm + p.gradient;
    const Expression mean = p.first * alpha + g * (1 - alpha), squares = p.second * beta + g * g * (1 - beta);
    const auto bias = [&](double decay) { return 1.0 - power(literal(p.steps, decay), p.steps); };
    const Expression rate = select(p.steps > 0, p.rate * sqrt(bias(beta)) / bias(alpha), p.rate);
    return {(p.x - rate * (mean / (sqrt(squares) + epsilon))) * (1 - after), mean, squares};
  });
}

void momentum(Lowering &n) {
  const double norm = n.attributes().real("norm_coefficient"), alpha = n.attributes().real("alpha"),
               beta = n.attributes().real("beta");
  const std::string &mode = n.attributes().word("mode");
  if (mode != "standard" && mode != "nesterov") fail("mode is '", mode, "'; expected standard or nesterov");
  give_updates(n, 1, [&](const Parts &p) -> std::vector<Expression> {
    const Expression g = p.x * norm + p.gradient;
    const Expression part = select(p.steps > 0, literal(g, beta), literal(g, 1));
    const Expression v = p.first * alpha + part * g;
    return {p.x - p.rate * (mode == "standard" ? v : g + v * alpha), v};
  });
}

}  // namespace

const OperatorList &optimizer_operators() {
  static const std::string domain = "ai.onnx.preview.training";
  static const OperatorList list = {
      {"Adagrad", adagrad, nullptr, domain}, {"Adam", adam, nullptr, domain}, {"Momentum", momentum, nullptr, domain}};
  return list;
}

}  // namespace saltern
