// The optimizers of keras.optimizers, where they differ from PyTorch's: epsilon stands elsewhere, rates are inside of
// momenta, and all weight decay is decoupled.

#include <cmath>

#include "runtime/optim/rows.h"

namespace saltern {

namespace by_keras {

namespace {

using Extent = Slot::Extent;
using Begins = Slot::Begins;
using std::sqrt;

const Option rate = {"learning_rate", 1e-3}, decay = {"weight_decay", 0.0}, beta1 = {"beta_1", 0.9, 0, 1},
             beta2 = {"beta_2", 0.999, 0, 1}, epsilon = {"epsilon", 1e-7};

Slots slots_named(const std::vector<std::string> &names) {
  Slots all;
  for (const std::string &n : names) all.push_back({n, n});
  return all;
}

OptimizerRow sgd() {
  return optimizer_row(
      "keras.SGD", {"learning_rate", 1e-2}, {{"momentum", 0.0, 0, 1}, {"nesterov", no}, decay},
      [](const Attributes &a, const Shape &) { return a.real("momentum") == 0 ? Slots{} : slots_named({"momentum"}); },
      [](const Attributes &a, const Shape &) { return by_kernel(a.real("momentum") == 0 ? "descent" : "sgd"); },
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const double momentum = n.a.real("momentum");
        const bool nesterov = is_on(n.a, "nesterov");
        return beginning_with<N>(n, true,
                                 {{"rate", n.rate},
                                  {"momentum", momentum},
                                  {"fresh", n.rate},
                                  {"of_velocity", nesterov ? momentum : 1.0},
                                  {"of_gradient", nesterov ? n.rate : N(0.0)}});
      });
}

// ---- Adam and its kin.

Slots adam_slots(const Attributes &a, const Shape &) {
  return slots_named(is_on(a, "amsgrad") ? std::vector<std::string>{"momentum", "velocity", "velocity_hat"}
                                         : std::vector<std::string>{"momentum", "velocity"});
}
UpdateRule adam_rule(const Attributes &a, const Shape &) { return by_kernel(is_on(a, "amsgrad") ? "amsgrad" : "adam"); }

template <typename N>
std::map<std::string, N> adam_numbers(double first, double second, const N &of_gradient, const N &of_mean,
                                      const N &of_root, double outside) {
  return {{"beta1", first},     {"beta2", second},    {"of_gradient", of_gradient},
          {"of_mean", of_mean}, {"of_root", of_root}, {"outside", outside}};
}

// Epsilon is added to the root before it is corrected.
template <typename N>
std::map<std::string, N> plain_adam(const Now<N> &n, const N &rate, double first, double second) {
  return adam_numbers<N>(first, second, 0.0, rate * sqrt(correction(n, second)) / correction(n, first), 1.0,
                         n.a.real("epsilon"));
}

OptimizerRow adam(const char *name, const Options &options) {
  return optimizer_row(name, rate, options, adam_slots, adam_rule, [](const auto &n) {
    using N = std::decay_t<decltype(n.rate)>;
    return beginning_with<N>(n, true, plain_adam<N>(n, n.rate, n.a.real("beta_1"), n.a.real("beta_2")));
  });
}

OptimizerRow nadam() {
  Slots slots = slots_named({"momentum", "velocity"});
  slots.push_back({"u_product", "u_product", Extent::one, Begins::number, 1});
  return optimizer_row(
      "keras.Nadam", rate, {beta1, beta2, epsilon, decay}, always(slots), adam_rule, [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const double b1 = n.a.real("beta_1"), b2 = n.a.real("beta_2");
        const auto momentum = [&](const N &t) { return N(b1 * (1 - 0.5 * power(N(0.96), t))); };
        const N u = momentum(n.step), next = momentum(n.step + 1), product = n.kept[0] * u;
        return beginning_with<N>(
            n, true,
            adam_numbers<N>(b1, b2, n.rate * (1 - u) / (1 - product), n.rate * next / (1 - product * next),
                            1 / sqrt(correction(n, b2)), n.a.real("epsilon")),
            {product});
      });
}

OptimizerRow lamb() {
  return optimizer_row(
      "keras.Lamb", rate, {beta1, beta2, epsilon, decay}, always(slots_named({"momentum", "velocity"})),
      always(by_formula(algorithms::lamb)), [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const double b1 = n.a.real("beta_1"), b2 = n.a.real("beta_2");
        std::map<std::string, N> numbers =
            adam_numbers<N>(b1, b2, 0.0, 1 / correction(n, b1), 1 / sqrt(correction(n, b2)), n.a.real("epsilon"));
        numbers.emplace("rate", n.rate);
        return beginning_with<N>(n, true, numbers);
      });
}

OptimizerRow schedule_free() {
  return optimizer_row(
      "keras.ScheduleFreeAdamW", {"learning_rate", 0.0025},
      {beta1, beta2, {"epsilon", 1e-8}, {"warmup_steps", 0.0}, decay},
      always(Slots{{"momentum", "momentum", Extent::parameter, Begins::parameter}, {"velocity", "velocity"}}),
      always(by_kernel("schedule_free")), [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const double warm = n.a.real("warmup_steps");
        return beginning_with<N>(n, true,
                                 {{"beta1", n.a.real("beta_1")},
                                  {"beta2", n.a.real("beta_2")},
                                  {"rate", warm == 0 ? n.rate : N(n.rate * least_of(n.number(1), n.step / warm))},
                                  {"of_root", 1 / sqrt(correction(n, n.a.real("beta_2")))},
                                  {"outside", n.a.real("epsilon")},
                                  {"weight", 1 / n.step}});
      });
}

OptimizerRow adamax() {
  return optimizer_row("keras.Adamax", rate, {beta1, beta2, epsilon, decay}, always(slots_named({"m", "u"})),
                       always(by_kernel("adamax")), [](const auto &n) {
                         using N = std::decay_t<decltype(n.rate)>;
                         const double b1 = n.a.real("beta_1");
                         return beginning_with<N>(n, true,
                                                  {{"beta1", b1},
                                                   {"beta2", n.a.real("beta_2")},
                                                   {"inside", 0.0},
                                                   {"outside", n.a.real("epsilon")},
                                                   {"of_mean", n.rate / correction(n, b1)}});
                       });
}

OptimizerRow lion() {
  return optimizer_row("keras.Lion", rate, {beta1, {"beta_2", 0.99, 0, 1}, decay}, always(slots_named({"momentum"})),
                       always(by_kernel("lion")), [](const auto &n) {
                         using N = std::decay_t<decltype(n.rate)>;
                         return beginning_with<N>(
                             n, true, {{"beta1", n.a.real("beta_1")}, {"beta2", n.a.real("beta_2")}, {"rate", n.rate}});
                       });
}

// ---- By roots of squares.

OptimizerRow adagrad() {
  return optimizer_row(
      "keras.Adagrad", rate, {{"initial_accumulator_value", 0.1}, epsilon, decay},
      [](const Attributes &a, const Shape &) {
        return Slots{
            {"accumulator", "accumulator", Extent::parameter, Begins::number, a.real("initial_accumulator_value")}};
      },
      always(by_kernel("rmsprop")),
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        return beginning_with<N>(
            n, true, {{"old", 1.0}, {"new", 1.0}, {"inside", n.a.real("epsilon")}, {"outside", 0.0}, {"rate", n.rate}});
      });
}

OptimizerRow rmsprop() {
  return optimizer_row(
      "keras.RMSprop", rate, {{"rho", 0.9, 0, 1}, {"momentum", 0.0}, epsilon, {"centered", no}, decay},
      [](const Attributes &a, const Shape &) {
        std::vector<std::string> names = {"velocity"};
        if (is_on(a, "centered")) names.emplace_back("average_gradient");
        if (a.real("momentum") > 0) names.emplace_back("momentum");
        return slots_named(names);
      },
      [](const Attributes &a, const Shape &) {
        return by_kernel(std::string("rmsprop") + (is_on(a, "centered") ? "_centered" : "") +
                         (a.real("momentum") > 0 ? "_momentum" : ""));
      },
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        return beginning_with<N>(n, true,
                                 {{"old", n.a.real("rho")},
                                  {"new", 1 - n.a.real("rho")},
                                  {"inside", n.a.real("epsilon")},
                                  {"outside", 0.0},
                                  {"rate", n.rate},
                                  {"momentum", n.a.real("momentum")},
                                  {"fresh", n.rate},
                                  {"of_velocity", 1.0}});
      });
}

OptimizerRow adadelta() {
  return optimizer_row("keras.Adadelta", rate, {{"rho", 0.95, 0, 1}, epsilon, decay},
                       always(slots_named({"accumulated_grad", "accumulated_delta_var"})),
                       always(by_kernel("adadelta")), [](const auto &n) {
                         using N = std::decay_t<decltype(n.rate)>;
                         return beginning_with<N>(
                             n, true, {{"rho", n.a.real("rho")}, {"inside", n.a.real("epsilon")}, {"rate", n.rate}});
                       });
}

// ---- Others.

OptimizerRow adafactor() {
  return optimizer_row(
      "keras.Adafactor", rate,
      {{"beta_2_decay", -0.8, -infinite},
       {"epsilon_1", 1e-30},
       {"epsilon_2", 1e-3},
       {"clip_threshold", 1.0},
       {"relative_step", yes},
       decay},
      [](const Attributes &, const Shape &shape) {
        if (shape.size() < 2) return slots_named({"velocity"});
        return Slots{{"r", "r", Extent::rows}, {"c", "c", Extent::columns}};
      },
      always(by_formula(algorithms::adafactor)),
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        // Keras takes the lesser one whatever relative_step says.
        return beginning_with<N>(n, true,
                                 {{"inside", n.a.real("epsilon_1")},
                                  {"old", 1 - power(n.step, N(n.a.real("beta_2_decay")))},
                                  {"least_rows", 0.0},
                                  {"least", 0.0},
                                  {"least_rate", n.a.real("epsilon_2")},
                                  {"per_threshold", 1 / n.a.real("clip_threshold")},
                                  {"rate", least_of(n.rate, 1 / sqrt(n.step))}});
      });
}

OptimizerRow ftrl() {
  return optimizer_row(
      "keras.Ftrl", rate,
      {{"learning_rate_power", -0.5, -infinite},
       {"initial_accumulator_value", 0.1},
       {"l1_regularization_strength", 0.0},
       {"l2_regularization_strength", 0.0},
       {"l2_shrinkage_regularization_strength", 0.0},
       {"beta", 0.0},
       decay},
      [](const Attributes &a, const Shape &) {
        return Slots{
            {"accumulator", "accumulator", Extent::parameter, Begins::number, a.real("initial_accumulator_value")},
            {"linear", "linear"}};
      },
      always(by_formula(algorithms::ftrl)),
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        return beginning_with<N>(n, true,
                                 {{"power", -n.a.real("learning_rate_power")},
                                  {"shrinkage", 2 * n.a.real("l2_shrinkage_regularization_strength")},
                                  {"l1", n.a.real("l1_regularization_strength")},
                                  {"l2", 2 * n.a.real("l2_regularization_strength") + n.a.real("beta") / n.rate},
                                  {"rate", n.rate}});
      });
}

// What is no matrix goes by adam.
OptimizerRow muon() {
  return optimizer_row(
      "keras.Muon", rate,
      {{"adam_beta_1", 0.9, 0, 1},
       {"adam_beta_2", 0.999, 0, 1},
       {"adam_weight_decay", 0.004},
       epsilon,
       {"weight_decay", 0.004},
       {"muon_a", 3.4445, -infinite},
       {"muon_b", -4.775, -infinite},
       {"muon_c", 2.0315, -infinite},
       {"adam_lr_ratio", 1.0},
       {"momentum", 0.95},
       {"ns_steps", 5.0, 0, 100},
       {"nesterov", yes},
       {"rms_rate", 0.2}},
      [](const Attributes &, const Shape &shape) {
        return slots_named(shape.size() == 2 ? std::vector<std::string>{"momentum"}
                                             : std::vector<std::string>{"momentum", "velocity"});
      },
      [](const Attributes &a, const Shape &shape) {
        if (shape.size() != 2) return by_kernel("adam");
        const int steps = static_cast<int>(a.real("ns_steps"));
        return UpdateRule{[steps](const algorithms::UpdateInputs &in) { return algorithms::muon(in, steps); }};
      },
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        if (n.shape.size() != 2) {
          std::map<std::string, N> numbers =
              plain_adam<N>(n, n.rate * n.a.real("adam_lr_ratio"), n.a.real("adam_beta_1"), n.a.real("adam_beta_2"));
          numbers.emplace("keep", 1 - n.rate * n.a.real("adam_weight_decay"));
          return beginning_with<N>(n, true, numbers);
        }
        const double momentum = n.a.real("momentum"), rms = n.a.real("rms_rate");
        const bool nesterov = is_on(n.a, "nesterov");
        const double scale = rms == 0 ? 1 : rms * std::sqrt(static_cast<double>(std::max(n.shape[0], n.shape[1])));
        return beginning_with<N>(n, true,
                                 {{"momentum", momentum},
                                  {"fresh", 1.0},
                                  {"of_velocity", nesterov ? momentum : 1.0},
                                  {"of_gradient", nesterov ? 1.0 : 0.0},
                                  {"least", 0.0},
                                  {"beside", 1e-7},
                                  {"a", n.a.real("muon_a")},
                                  {"b", n.a.real("muon_b")},
                                  {"c", n.a.real("muon_c")},
                                  {"rate", n.rate * scale}});
      });
}

}  // namespace

std::vector<OptimizerRow> rows() {
  return {adadelta(),
          adafactor(),
          adagrad(),
          adam("keras.Adam", {beta1, beta2, epsilon, {"amsgrad", no}, decay}),
          adam("keras.AdamW", {{"weight_decay", 0.004}, beta1, beta2, epsilon, {"amsgrad", no}}),
          adamax(),
          ftrl(),
          lamb(),
          lion(),
          muon(),
          nadam(),
          rmsprop(),
          schedule_free(),
          sgd()};
}

}  // namespace by_keras

}  // namespace saltern
