#include "runtime/autograd/check_gradients.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "runtime/autograd/backward.h"
#include "runtime/tensor/random.h"

namespace saltern {

namespace {

constexpr double step = 1e-4, tolerance = 1e-6;  // of the largest element of a gradient

class Check {
 public:
  Check(const Operation &operation, const std::vector<Shape> &shapes, const GradientCheckOptions &check)
      : operation_(operation), check_(check), random_(check.seed) {
    if (!operation.algorithm) fail("check_gradients: operation '", operation.name, "' is no formula");
    for (const Shape &s : shapes) inputs_.emplace_back(drawn(s, check.low, check.high), /*requires_gradient=*/true);
  }

  void run() {
    const Variable y = value();
    const Tensor dy = drawn(y.shape(), -1, 1);
    compare(
        1, [&] { return value(); }, dy);
    if (check_.orders < 2) return;
    for (size_t i = 0; i < inputs_.size(); ++i)
      compare(
          2,
          [&] {
            return gradients(value(), inputs_, {true, Tape::keep, dy}).at(i);
          },
          drawn(inputs_[i].shape(), -1, 1));
  }

 private:
  Tensor drawn(const Shape &shape, double low, double high) {
    const Tensor t = Tensor::empty(shape, Type::f64);
    for (int64_t i = 0; i < t.size(); ++i) t.data<double>()[i] = low + (high - low) * random_.uniform();
    return t;
  }

  Variable value() const { return apply_one(operation_, inputs_, check_.attributes); }

  // The gradients of dy . f() against differences.
  void compare(int order, const std::function<Variable()> &f, const Tensor &dy) {
    const Variable y = f();
    if (!y.defined()) return;  // does not depend on the input
    const std::vector<Variable> found =
        y.requires_gradient() ? gradients(y, inputs_, {false, Tape::keep, dy}) : std::vector<Variable>(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor x = inputs_[i].value();
      std::vector<double> wanted, got(static_cast<size_t>(x.size()));
      if (found[i].defined()) got = found[i].value().reals();
      double largest = 1;
      for (int64_t e = 0; e < x.size(); ++e) {
        wanted.push_back(difference(x.data<double>()[e], f, dy));
        largest = std::max(largest, std::abs(wanted.back()));
      }
      for (size_t e = 0; e < got.size(); ++e)
        if (!(std::abs(got[e] - wanted[e]) <= tolerance * largest))
          fail("operation '", operation_.name, "': the gradient of order ", order, " with respect to input ", i,
               ", element ", e, ", is ", got[e], "; by differences ", wanted[e]);
    }
  }

  static double difference(double &at, const std::function<Variable()> &f, const Tensor &dy) {
    const double before = at;
    const auto moved = [&](double by) {
      at = before + by;
      const std::vector<double> y = f().value().reals(), weights = dy.reals();
      double sum = 0;
      for (size_t i = 0; i < y.size(); ++i) sum += y[i] * weights[i];
      return sum;
    };
    const double up = moved(step), down = moved(-step);
    at = before;
    return (up - down) / (2 * step);
  }

  const Operation &operation_;
  const GradientCheckOptions &check_;
  Random random_;
  std::vector<Variable> inputs_;
};

}  // namespace

void check_gradients(const Operation &operation, const std::vector<Shape> &inputs, const GradientCheckOptions &check) {
  Check(operation, inputs, check).run();
}

}  // namespace saltern
