#pragma once
// Optimizers as rows of one table: names and options as PyTorch or Keras ("keras.Adam") has them, what is kept for each
// parameter, and the numbers that a formula of algorithms/optimizers.h takes at each step. From a row come the operation
// that graphs have, which C++'s Optimizer applies in place, the class that Python has, names of state, and what
// `saltern coverage` says.
//
// Numbers are worked out by one function for both worlds: of doubles, step by step, or of Values, in a graph.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "algorithms/optimizers.h"
#include "runtime/optim/options.h"

namespace saltern {

using formula::Value;
using formula::Values;

// What is kept for a parameter between steps.
struct Slot {
  enum class Extent { parameter, rows, columns, one };  // (..., n, m), (..., n, 1), (..., 1, m), of rank 0
  enum class Begins { number, rate, parameter };
  std::string name;    // in C++ and in graphs: "mean.0.weight"
  std::string python;  // PyTorch's: state["exp_avg"]
  Extent extent = Extent::parameter;
  Begins begins = Begins::number;
  double number = 0;
};
using Slots = std::vector<Slot>;  // those of rank 0 stand last

// A step as numbers see it.
template <typename N>
struct Now {
  const Attributes &a;
  const Shape &shape;
  N rate, step;         // steps are counted from 1
  std::vector<N> kept;  // slots of rank 0
  static N number(double n) {
    if constexpr (std::is_same_v<N, double>)
      return n;
    else
      return formula::constant_value(Type::f64, n);
  }
};

template <typename N>
struct Numbers {
  std::map<std::string, N> all;
  std::vector<N> kept = {};  // what slots of rank 0 become
};

// What computes an update.
struct UpdateRule {
  std::function<Values(const algorithms::UpdateInputs &)> formula;
  const algorithms::UpdateKernel *kernel = nullptr;  // of the library; null: there is none
};

struct OptimizerRow {
  std::string name, operation;  // "AdamW", "adamw"; "keras.AdamW", "keras_adamw"
  Option rate;
  Options options;
  std::function<Slots(const Attributes &, const Shape &)> slots;
  std::function<UpdateRule(const Attributes &, const Shape &)>
      rule;  // null: it needs the loss of all parameters (LBFGS)
  std::function<Numbers<double>(const Now<double> &)> numbers;
  std::function<Numbers<Value>(const Now<Value> &)> values;
  bool only_touched = false;  // updates the rows that a sparse gradient has, and takes no other
};

// In the order of their names; Keras' behind PyTorch's.
const std::vector<OptimizerRow> &optimizer_rows();
// By its name in lower case, with or without a family, or by its operation: "adamw", "keras.adam"; null: there is none.
const OptimizerRow *find_optimizer(const std::string &name);

// ---- For those who write rows.

UpdateRule by_kernel(const std::string &name);
inline UpdateRule by_formula(algorithms::UpdateFormula f) { return {f}; }

template <typename F>
OptimizerRow optimizer_row(const std::string &name, Option rate, Options options,
                           std::function<Slots(const Attributes &, const Shape &)> slots,
                           std::function<UpdateRule(const Attributes &, const Shape &)> rule, const F &numbers) {
  return {name,
          {},
          std::move(rate),
          std::move(options),
          std::move(slots),
          std::move(rule),
          [numbers](const Now<double> &n) { return numbers(n); },
          [numbers](const Now<Value> &n) { return numbers(n); }};
}

namespace by_torch {
std::vector<OptimizerRow> rows();
}
namespace by_keras {
std::vector<OptimizerRow> rows();
}

// Whatever the options and the parameter are.
template <typename What>
auto always(const What &what) {
  return [what](const Attributes &, const Shape &) { return what; };
}
inline bool is_on(const Attributes &a, const char *flag) { return a.integer(flag, no) != no; }

// What formulas begin with, and more numbers.
template <typename N>
Numbers<N> beginning_with(const Now<N> &n, bool decoupled, std::map<std::string, N> more, std::vector<N> kept = {}) {
  const double decay = n.a.real("weight_decay", 0);
  more.emplace("sign", n.a.integer("maximize", no) != no ? -1.0 : 1.0);
  more.emplace("decay", decoupled ? 0.0 : decay);
  more.emplace("keep", decoupled && decay != 0 ? N(1 - n.rate * decay) : N(1.0));
  return {std::move(more), std::move(kept)};
}

// The arithmetic that doubles have by the names of that of Values.
inline double power(double base, double exponent) { return std::pow(base, exponent); }
inline double where(bool condition, double then, double otherwise) { return condition ? then : otherwise; }
inline double least_of(double a, double b) { return std::min(a, b); }
inline double greatest_of(double a, double b) { return std::max(a, b); }
inline Value least_of(const Value &a, const Value &b) { return formula::min(a, b); }
inline Value greatest_of(const Value &a, const Value &b) { return formula::max(a, b); }

// Of adam and its kin: the mean is divided by this at step t.
template <typename N>
N correction(const Now<N> &n, double beta) {
  return 1 - power(N(beta), n.step);
}

}  // namespace saltern
