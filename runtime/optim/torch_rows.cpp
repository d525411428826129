// The optimizers of torch.optim. Options that say how PyTorch computes (foreach, fused, capturable, differentiable) mean
// nothing here.

#include <cmath>

#include "runtime/optim/rows.h"

namespace saltern {

namespace by_torch {

namespace {

using Extent = Slot::Extent;
using Begins = Slot::Begins;
using std::sqrt;

const Option decay = {"weight_decay", 0.0}, maximize = {"maximize", no, 0, infinite, true},
             decoupled_decay = {"decoupled_weight_decay", no, 0, infinite, true};
const Option betas = {"betas", Reals{0.9, 0.999}, 0, 1}, eps = {"eps", 1e-8};

OptimizerRow sgd() {
  return optimizer_row(
      "SGD", {"lr", 1e-3}, {{"momentum", 0.0}, {"dampening", 0.0, -infinite}, decay, {"nesterov", no}, maximize},
      [](const Attributes &a, const Shape &) {
        if (a.real("momentum") == 0) return Slots{};
        return Slots{{"momentum", "momentum_buffer"}};
      },
      [](const Attributes &a, const Shape &) {
        if (is_on(a, "nesterov") && (a.real("momentum") == 0 || a.real("dampening") != 0))
          fail("SGD: 'nesterov' asks for a momentum, and for no dampening");
        return by_kernel(a.real("momentum") == 0 ? "descent" : "sgd");
      },
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const double momentum = n.a.real("momentum"), dampening = n.a.real("dampening");
        const bool nesterov = is_on(n.a, "nesterov");
        // The first step takes the gradient as it is.
        const N fresh = dampening == 0 ? N(1.0) : where(n.step == 1, n.number(1), n.number(1 - dampening));
        return beginning_with<N>(n, false,
                                 {{"rate", n.rate},
                                  {"momentum", momentum},
                                  {"fresh", fresh},
                                  {"of_velocity", nesterov ? N(n.rate * momentum) : n.rate},
                                  {"of_gradient", nesterov ? n.rate : N(0.0)}});
      });
}

// ---- Adam and its kin.

Slots adam_slots(const Attributes &a, const Shape &) {
  Slots all = {{"mean", "exp_avg"}, {"square", "exp_avg_sq"}};
  if (a.integer("amsgrad", no) != no) all.push_back({"greatest", "max_exp_avg_sq"});
  return all;
}
UpdateRule adam_rule(const Attributes &a, const Shape &) {
  return by_kernel(a.integer("amsgrad", no) != no ? "amsgrad" : "adam");
}

// Of how much of mean and gradient, over how much of the root.
template <typename N>
Numbers<N> adam_numbers(const Now<N> &n, bool decoupled, const N &of_gradient, const N &of_mean, const N &of_root,
                        const N &outside, std::vector<N> kept = {}) {
  return beginning_with<N>(n, decoupled,
                           {{"beta1", n.a.reals("betas")[0]},
                            {"beta2", n.a.reals("betas")[1]},
                            {"of_gradient", of_gradient},
                            {"of_mean", of_mean},
                            {"of_root", of_root},
                            {"outside", outside}},
                           std::move(kept));
}

OptimizerRow adam(const char *name, double weight_decay, bool always_decoupled) {
  Options options = {betas, eps, {"weight_decay", weight_decay}, {"amsgrad", no}, maximize};
  if (!always_decoupled) options.push_back(decoupled_decay);
  return optimizer_row(name, {"lr", 1e-3}, options, adam_slots, adam_rule, [always_decoupled](const auto &n) {
    using N = std::decay_t<decltype(n.rate)>;
    const Reals &b = n.a.reals("betas");
    return adam_numbers<N>(n, always_decoupled || is_on(n.a, "decoupled_weight_decay"), 0.0,
                           n.rate / correction(n, b[0]), 1 / sqrt(correction(n, b[1])), n.a.real("eps"));
  });
}

// Epsilon is added to the root before it is corrected.
OptimizerRow sparse_adam() {
  OptimizerRow row = optimizer_row("SparseAdam", {"lr", 1e-3}, {betas, eps, {"maximize", no}}, adam_slots, adam_rule,
                                   [](const auto &n) {
                                     using N = std::decay_t<decltype(n.rate)>;
                                     const Reals &b = n.a.reals("betas");
                                     const N of_mean = n.rate * sqrt(correction(n, b[1])) / correction(n, b[0]);
                                     return adam_numbers<N>(n, false, 0.0, of_mean, 1.0, n.a.real("eps"));
                                   });
  row.only_touched = true;
  return row;
}

OptimizerRow nadam() {
  return optimizer_row(
      "NAdam", {"lr", 2e-3}, {betas, eps, decay, {"momentum_decay", 4e-3}, {"decoupled_weight_decay", no}, maximize},
      always(Slots{
          {"mean", "exp_avg"}, {"square", "exp_avg_sq"}, {"mu_product", "mu_product", Extent::one, Begins::number, 1}}),
      adam_rule, [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const Reals &b = n.a.reals("betas");
        const double per_step = n.a.real("momentum_decay");
        const auto momentum = [&](const N &t) { return N(b[0] * (1 - 0.5 * power(N(0.96), t * per_step))); };
        const N mu = momentum(n.step), next = momentum(n.step + 1), product = n.kept[0] * mu;
        return adam_numbers<N>(n, is_on(n.a, "decoupled_weight_decay"), n.rate * (1 - mu) / (1 - product),
                               n.rate * next / (1 - product * next), 1 / sqrt(correction(n, b[1])), n.a.real("eps"),
                               {product});
      });
}

// Without roots until their variance is known.
OptimizerRow radam() {
  return optimizer_row("RAdam", {"lr", 1e-3}, {betas, eps, decay, {"decoupled_weight_decay", no}, maximize}, adam_slots,
                       adam_rule, [](const auto &n) {
                         using N = std::decay_t<decltype(n.rate)>;
                         const Reals &b = n.a.reals("betas");
                         const double most = 2 / (1 - b[1]) - 1;
                         const N second = correction(n, b[1]);
                         const N length = most - 2 * n.step * power(N(b[1]), n.step) / second;
                         const auto is_known = length > 5;
                         const N safe = where(is_known, length, n.number(5));
                         const N rectified = sqrt((safe - 4) * (safe - 2) * most / ((most - 4) * (most - 2) * safe));
                         const N mean = n.rate / correction(n, b[0]);
                         return adam_numbers<N>(n, is_on(n.a, "decoupled_weight_decay"), 0.0,
                                                where(is_known, mean * rectified * sqrt(second), mean),
                                                where(is_known, n.number(1), n.number(0)),
                                                where(is_known, n.number(n.a.real("eps")), n.number(1)));
                       });
}

OptimizerRow adamax() {
  return optimizer_row("Adamax", {"lr", 2e-3}, {betas, eps, decay, maximize},
                       always(Slots{{"mean", "exp_avg"}, {"norm", "exp_inf"}}), always(by_kernel("adamax")),
                       [](const auto &n) {
                         using N = std::decay_t<decltype(n.rate)>;
                         const Reals &b = n.a.reals("betas");
                         return beginning_with<N>(n, false,
                                                  {{"beta1", b[0]},
                                                   {"beta2", b[1]},
                                                   {"inside", n.a.real("eps")},
                                                   {"outside", 0.0},
                                                   {"of_mean", n.rate / correction(n, b[0])}});
                       });
}

// ---- By roots of squares.

OptimizerRow adagrad() {
  return optimizer_row(
      "Adagrad", {"lr", 1e-2}, {{"lr_decay", 0.0}, decay, {"initial_accumulator_value", 0.0}, {"eps", 1e-10}, maximize},
      [](const Attributes &a, const Shape &) {
        return Slots{{"sum", "sum", Extent::parameter, Begins::number, a.real("initial_accumulator_value")}};
      },
      always(by_kernel("rmsprop")),
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const double per_step = n.a.real("lr_decay");
        return beginning_with<N>(n, false,
                                 {{"old", 1.0},
                                  {"new", 1.0},
                                  {"inside", 0.0},
                                  {"outside", n.a.real("eps")},
                                  {"rate", per_step == 0 ? n.rate : N(n.rate / (1 + (n.step - 1) * per_step))}});
      });
}

OptimizerRow rmsprop() {
  return optimizer_row(
      "RMSprop", {"lr", 1e-2}, {{"alpha", 0.99}, eps, decay, {"momentum", 0.0}, {"centered", no}, maximize},
      [](const Attributes &a, const Shape &) {
        Slots all = {{"square", "square_avg"}};
        if (is_on(a, "centered")) all.push_back({"mean", "grad_avg"});
        if (a.real("momentum") > 0) all.push_back({"momentum", "momentum_buffer"});
        return all;
      },
      [](const Attributes &a, const Shape &) {
        return by_kernel(std::string("rmsprop") + (is_on(a, "centered") ? "_centered" : "") +
                         (a.real("momentum") > 0 ? "_momentum" : ""));
      },
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        return beginning_with<N>(n, false,
                                 {{"old", n.a.real("alpha")},
                                  {"new", 1 - n.a.real("alpha")},
                                  {"inside", 0.0},
                                  {"outside", n.a.real("eps")},
                                  {"rate", n.rate},
                                  {"momentum", n.a.real("momentum")},
                                  {"fresh", 1.0},
                                  {"of_velocity", n.rate}});
      });
}

OptimizerRow adadelta() {
  return optimizer_row(
      "Adadelta", {"lr", 1.0}, {{"rho", 0.9, 0, 1}, {"eps", 1e-6}, decay, maximize},
      always(Slots{{"square", "square_avg"}, {"steps_square", "acc_delta"}}), always(by_kernel("adadelta")),
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        return beginning_with<N>(n, false, {{"rho", n.a.real("rho")}, {"inside", n.a.real("eps")}, {"rate", n.rate}});
      });
}

// ---- Others.

OptimizerRow asgd() {
  return optimizer_row(
      "ASGD", {"lr", 1e-2}, {{"lambd", 1e-4}, {"alpha", 0.75}, {"t0", 1e6}, decay, {"maximize", no}},
      always(Slots{
          {"average", "ax"}, {"eta", "eta", Extent::one, Begins::rate}, {"mu", "mu", Extent::one, Begins::number, 1}}),
      always(by_formula(algorithms::asgd)), [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const double lambda = n.a.real("lambd");
        const N next = n.rate / power(1 + lambda * n.rate * n.step, N(n.a.real("alpha"))),
                part = 1 / greatest_of(n.number(1), n.step - n.a.real("t0"));
        return beginning_with<N>(
            n, false, {{"keep", 1 - lambda * n.kept[0]}, {"rate", n.kept[0]}, {"of_average", n.kept[1]}}, {next, part});
      });
}

OptimizerRow rprop() {
  return optimizer_row("Rprop", {"lr", 1e-2}, {{"etas", Reals{0.5, 1.2}}, {"step_sizes", Reals{1e-6, 50}}, maximize},
                       always(Slots{{"last", "prev"}, {"size", "step_size", Extent::parameter, Begins::rate}}),
                       always(by_kernel("rprop")), [](const auto &n) {
                         using N = std::decay_t<decltype(n.rate)>;
                         const Reals &etas = n.a.reals("etas"), &sizes = n.a.reals("step_sizes");
                         return beginning_with<N>(
                             n, false,
                             {{"shrink", etas[0]}, {"grow", etas[1]}, {"least", sizes[0]}, {"most", sizes[1]}});
                       });
}

OptimizerRow adafactor() {
  constexpr double least = std::numeric_limits<float>::epsilon();
  return optimizer_row(
      "Adafactor", {"lr", 1e-2},
      {{"beta2_decay", -0.8, -infinite}, {"eps", Reals{least, 1e-3}}, {"d", 1.0, 1}, decay, maximize},
      [](const Attributes &, const Shape &shape) {
        if (shape.size() < 2) return Slots{{"variance", "variance"}};
        return Slots{{"rows", "row_var", Extent::rows}, {"columns", "col_var", Extent::columns}};
      },
      always(by_formula(algorithms::adafactor)),
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const Reals &e = n.a.reals("eps");
        return beginning_with<N>(n, true,
                                 {{"inside", 0.0},
                                  {"old", 1 - power(n.step, N(n.a.real("beta2_decay")))},
                                  {"least_rows", e[0]},
                                  {"least", e[0] * e[0]},
                                  {"least_rate", e[1]},
                                  {"per_threshold", 1 / n.a.real("d")},
                                  {"rate", least_of(n.rate, 1 / sqrt(n.step))}});
      });
}

// PyTorch rounds to bfloat16 on the way; here it is f32.
OptimizerRow muon() {
  return optimizer_row(
      "Muon", {"lr", 1e-3},
      {{"weight_decay", 0.1},
       {"momentum", 0.95},
       {"nesterov", yes},
       {"ns_coefficients", Reals{3.4445, -4.775, 2.0315}, -infinite},
       {"eps", 1e-7},
       {"ns_steps", 5.0, 0, 100},
       {"adjust_lr_fn", "original"}},
      always(Slots{{"momentum", "momentum_buffer"}}),
      [](const Attributes &a, const Shape &shape) {
        if (shape.size() != 2) fail("Muon: a parameter is ", to_string(shape), "; expected matrices only");
        const int steps = static_cast<int>(a.real("ns_steps"));
        return UpdateRule{[steps](const algorithms::UpdateInputs &in) { return algorithms::muon(in, steps); }};
      },
      [](const auto &n) {
        using N = std::decay_t<decltype(n.rate)>;
        const Reals &c = n.a.reals("ns_coefficients");
        const double momentum = n.a.real("momentum");
        const bool nesterov = is_on(n.a, "nesterov");
        const std::string &how = n.a.word("adjust_lr_fn");
        const auto rows = static_cast<double>(n.shape.at(0)), columns = static_cast<double>(n.shape.at(1));
        const std::map<std::string, double> by_name = {{"original", std::max(1.0, rows / columns)},
                                                       {"match_rms_adamw", 0.04 * std::max(rows, columns)},
                                                       {"spectral_unclamped", rows / columns}};
        if (!by_name.count(how))
          fail("Muon: 'adjust_lr_fn' is '", how, "'; expected original, match_rms_adamw or spectral_unclamped");
        return beginning_with<N>(n, true,
                                 {{"momentum", momentum},
                                  {"fresh", 1 - momentum},
                                  {"of_velocity", nesterov ? momentum : 1.0},
                                  {"of_gradient", nesterov ? 1 - momentum : 0.0},
                                  {"least", n.a.real("eps")},
                                  {"beside", 0.0},
                                  {"a", c[0]},
                                  {"b", c[1]},
                                  {"c", c[2]},
                                  {"rate", n.rate * std::sqrt(by_name.at(how))}});
      });
}

OptimizerRow lbfgs() {
  OptimizerRow row;
  row.name = "LBFGS";
  row.rate = {"lr", 1.0};
  row.options = {
      {"max_iter", 20.0},       {"max_eval", 0.0},  // 0: five fourths of max_iter
      {"tolerance_grad", 1e-7}, {"tolerance_change", 1e-9}, {"history_size", 100.0}, {"line_search_fn", ""}, maximize};
  return row;
}

}  // namespace

std::vector<OptimizerRow> rows() {
  return {adadelta(),   adafactor(),
          adagrad(),    adam("Adam", 0, false),
          adamax(),     adam("AdamW", 1e-2, true),
          asgd(),       lbfgs(),
          muon(),       nadam(),
          radam(),      rmsprop(),
          rprop(),      sgd(),
          sparse_adam()};
}

}  // namespace by_torch

}  // namespace saltern
