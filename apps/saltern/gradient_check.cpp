#include "apps/saltern/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/graph/executor.h"
#include "runtime/graph/gradients.h"
#include "runtime/onnx/operators/lowering.h"
#include "runtime/onnx/plain.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

using Tensors = std::map<std::string, Tensor>;
using Reals = std::vector<double>;

constexpr int directions = 2, most_points = 12, enough_points = 3;
constexpr double step = 1e-5;  // relative to an element, or to typical ones where that is larger

// Beside the loss: of smaller derivatives, which are sums of larger numbers, the types hold no more digits.
constexpr double least_derivative = 3e-4;

// How far each element may move: a mask may have zeros and -10^9 side by side.
Reals sizes_of(const Reals &x) {
  Reals sizes;
  for (double v : x)
    if (v != 0 && std::isfinite(v)) sizes.push_back(std::fabs(v));
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double typical = sizes.empty() ? 0.01 : *middle;
  sizes.clear();
  for (double v : x) sizes.push_back(std::isfinite(v) ? std::max(std::fabs(v), typical) : 0);
  return sizes;
}

Tensor tensor_of(const Reals &x, const Shape &shape, Type type) {
  const Tensor t = Tensor::empty(shape, type);
  for (size_t i = 0; i < x.size(); ++i) set_element(type, t.raw(), static_cast<int64_t>(i), x[i]);
  return t;
}

double tolerance_of(const Graph &graph) {
  double worst = 1e-6;
  for (const auto &[name, v] : graph.values)
    for (const auto &[type, tolerance] :
         {std::pair{Type::f32, 2e-3}, std::pair{Type::f16, 3e-2}, std::pair{Type::bf16, 2e-1}})
      if (v.type == type) worst = std::max(worst, tolerance);
  return worst;
}

class Check {
 public:
  Check(Graph graph, Tensors inputs, const std::vector<std::string> &wanted, const GradientCheck &check)
      : point_(std::move(inputs)), wanted_(wanted), random_(check.seed) {
    // Constants that are looked at vary as inputs do.
    for (const std::string &name : wanted) {
      Tensor &constant = graph.values.at(name).constant;
      if (!constant.defined()) continue;
      point_[name] = constant;
      constant = {};
      graph.inputs.push_back(name);
    }
    add_loss(graph, saltern::run(graph, point_));
    gradients_ = with_gradients(graph, loss_, wanted);
    wide_ = in_f64(graph);
    tolerance_ = check.tolerance > 0 ? check.tolerance : tolerance_of(graph);
  }

  std::vector<CheckedGradient> run() {
    std::vector<CheckedGradient> all;
    const Tensors given = point_;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      CheckedGradient worst;
      for (int d = 0; d < directions; ++d) {
        point_ = given;
        const CheckedGradient now = along_a_direction(i);
        const bool is_worse = now.verdict == worst.verdict ? now.error > worst.error : now.verdict > worst.verdict;
        if (d == 0 || is_worse) worst = now;
      }
      all.push_back(worst);
    }
    return all;
  }

 private:
  double drawn(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

  // A sum of products of all real outputs with numbers that are drawn, in f64; but of elements that are no number, 0.
  void add_loss(Graph &graph, const Tensors &made) {
    std::vector<std::string> parts;
    for (const std::string &o : std::vector<std::string>(graph.outputs)) {
      const Graph::Value y = graph.value(o);
      if (!has_gradient(y.type)) continue;
      Reals weights = made.at(o).reals();
      for (double &w : weights) w = std::isfinite(w) ? drawn(-1, 1) : 0;
      const std::string w = graph.fresh_name("weights of " + o);
      graph.add_constant(w, Tensor::of<double>(y.shape, weights));
      const auto product = [&](const std::vector<Expression> &at) {
        const Expression element = formula::cast(Type::f64, formula::load(0, y.type, at));
        const Expression weight = formula::load(1, Type::f64, at), zero = formula::constant(Type::f64, 0);
        return formula::select(weight == zero, zero, element * weight);
      };
      parts.push_back(graph.add_node("formula", {o, w}, "sum of " + o, {},
                                     {{"element", formula::reduce(formula::Function::sum, y.shape, product)}},
                                     Type::f64));
    }
    if (parts.empty()) unsupported("the model has no output of real numbers, which alone have gradients");
    Expression total = formula::load(0, Type::f64, {});
    for (size_t i = 1; i < parts.size(); ++i) total = total + formula::load(static_cast<int>(i), Type::f64, {});
    loss_ = graph.add_node("formula", parts, "loss", {}, {{"element", total}}, Type::f64);
    graph.outputs = {loss_};
  }

  // The loss where the input has moved along the direction.
  double loss_at(const std::string &name, const Reals &x, const Reals &v, double by) const {
    Tensors at;
    for (const auto &[other, t] : point_) {
      const Graph::Value &value = wide_.value(other);
      at[other] = value.type == t.type() ? t : Tensor::of<double>(t.shape(), t.reals());
    }
    Reals moved = x;
    for (size_t i = 0; i < x.size(); ++i) moved[i] += by * v[i];
    at[name] = Tensor::of<double>(point_.at(name).shape(), moved);
    return saltern::run(wide_, at).at(loss_).item();
  }

  // Whether differences of smaller steps are the same, and on both sides.
  bool is_smooth(const std::string &name, const Reals &x, const Reals &v, double derivative, double scale) const {
    const double middle = loss_at(name, x, v, 0);
    const auto gap = [&](double by) {
      const double right = loss_at(name, x, v, by), left = loss_at(name, x, v, -by);
      return std::pair{std::fabs(right - 2 * middle + left) / by, (right - left) / (2 * by)};
    };
    const auto [wide, again] = gap(step);
    const auto [narrow, closer] = gap(step / 8);
    const double allowed = tolerance_ / 4 * scale;
    return std::fabs(closer - derivative) <= allowed && narrow <= std::max(wide / 4, allowed);
  }

  // Moves all that may vary, so little that it stays what it was otherwise.
  void move_point(const Tensors &given, double by) {
    for (const std::string &name : wanted_) {
      const Tensor &t = given.at(name);
      Reals x = t.reals();
      const Reals sizes = sizes_of(x);
      for (size_t i = 0; i < x.size(); ++i) x[i] += by * sizes[i] * drawn(-1, 1);
      point_[name] = tensor_of(x, t.shape(), t.type());
    }
  }

  CheckedGradient along_a_direction(size_t i) {
    const std::string &name = wanted_[i];
    const Tensors given = point_;
    CheckedGradient result;
    result.name = name;
    result.shape = given.at(name).shape();
    Reals v = sizes_of(given.at(name).reals());
    for (double &e : v) e *= drawn(-1, 1);
    int smooth = 0;
    for (int n = 0; n < most_points && smooth < enough_points; ++n) {
      if (n > 0) move_point(given, 1e-3 * std::pow(1.6, n));
      const Reals x = point_.at(name).reals(), g = gradient(i).reals();
      const double right = loss_at(name, x, v, step), left = loss_at(name, x, v, -step);
      const double differences = (right - left) / (2 * step);
      double along = 0, squares = 0;
      for (size_t e = 0; e < g.size(); ++e) {
        along += g[e] * v[e];
        squares += g[e] * v[e] * g[e] * v[e];
      }
      const double least = least_derivative * std::max({1.0, std::fabs(right), std::fabs(left)});
      const double scale = std::max({std::fabs(along), std::fabs(differences), std::sqrt(squares), least});
      const double error = std::fabs(along - differences) / scale;
      const bool known = std::isfinite(along) && std::isfinite(differences);
      if (known || n == 0) {
        result.by_gradient = along;
        result.by_differences = differences;
        result.error = error;
      }
      if (known && error <= tolerance_) {
        result.verdict = GradientVerdict::good;
        return result;
      }
      smooth += std::isfinite(differences) && is_smooth(name, x, v, differences, scale);
    }
    result.verdict = smooth >= enough_points ? GradientVerdict::bad : GradientVerdict::rough;
    return result;
  }

  Tensor gradient(size_t i) const {
    const size_t first = gradients_.outputs.size() - wanted_.size();
    return saltern::run(gradients_, point_).at(gradients_.outputs[first + i]);
  }

  Tensors point_;
  std::vector<std::string> wanted_;
  std::mt19937 random_;
  std::string loss_;
  Graph gradients_, wide_;
  double tolerance_ = 0;
};

}  // namespace

const char *to_string(GradientVerdict verdict) {
  constexpr const char *words[] = {"good", "bad", "not smooth here"};
  return words[static_cast<size_t>(verdict)];
}

std::vector<CheckedGradient> checked_gradients(Graph graph, Tensors inputs, const std::vector<std::string> &wanted,
                                               const GradientCheck &check) {
  return Check(std::move(graph), std::move(inputs), wanted, check).run();
}

}  // namespace saltern
