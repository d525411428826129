#pragma once
// L-BFGS: steps along directions that the last gradients tell, with as many evaluations of the loss as it takes. It is no
// update of one parameter after another, and none that a training graph has: a closure computes the loss, and leaves
// gradients, wherever parameters are just then. Options are those of torch.optim.LBFGS (rows.h); vectors are f64 here.
//
//   Lbfgs lbfgs(net.parameters(), {{"line_search_fn", "strong_wolfe"}});
//   lbfgs.step([&] { net.clear_gradients();  const Variable l = loss(net(x), y);  backward(l);  return l.value().item(); });

#include <deque>
#include <functional>
#include <vector>

#include "runtime/autograd/variable.h"
#include "runtime/optim/options.h"

namespace saltern {

class Lbfgs {
 public:
  using Closure = std::function<double()>;

  explicit Lbfgs(std::vector<Variable> parameters, const Attributes &options = {});
  // Gives the loss that it began with.
  double step(const Closure &closure);
  void set_rate(double rate) { rate_ = rate; }

  // What goes from step to step.
  struct State {
    int64_t iterations = 0, evaluations = 0;
    Reals direction, last_gradient;
    double length = 0, last_loss = 0, scale = 1;
    std::deque<Reals> changes, steps;  // of the gradient, and of parameters; the oldest first
  };
  State state;

 private:
  struct Point {
    double length, loss, slope;
    Reals gradient;
  };

  Reals gradient() const;
  Reals place() const;
  void move_to(const Reals &place) const;
  double evaluated(const Closure &closure);
  void choose_direction(const Reals &gradient);
  Point searched(const Closure &closure, double length, const Point &start);

  std::vector<Variable> parameters_;
  Attributes a_;
  double rate_, sign_;
};

}  // namespace saltern
