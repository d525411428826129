#include "runtime/optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "runtime/optim/rows.h"

namespace saltern {

namespace {

double dot(const Reals &a, const Reals &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double greatest(const Reals &a) {
  double most = 0;
  for (const double x : a) most = std::max(most, std::fabs(x));
  return most;
}
// a + factor b
Reals plus(const Reals &a, double factor, const Reals &b) {
  Reals sum(a.size());
  for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + factor * b[i];
  return sum;
}
Reals times(double factor, Reals a) {
  for (double &x : a) x *= factor;
  return a;
}

// Where a cubic is least that has these values and slopes at two places, between bounds.
double least_of_cubic(double x1, double f1, double g1, double x2, double f2, double g2, double low, double high) {
  const double d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2), square = d1 * d1 - g1 * g2;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double at = x1 <= x2 ? x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
                             : x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2));
  return std::min(std::max(at, low), high);
}

}  // namespace

Lbfgs::Lbfgs(std::vector<Variable> parameters, const Attributes &options) : parameters_(std::move(parameters)) {
  const OptimizerRow &row = *find_optimizer("lbfgs");
  Options all = row.options;
  all.push_back(row.rate);
  a_ = completed(row.name, all, options);
  rate_ = a_.real("lr");
  sign_ = a_.integer("maximize") != no ? -1 : 1;
  if (parameters_.empty()) fail("LBFGS: there are no parameters");
  for (const Variable &p : parameters_)
    if (p.type() != Type::f32) unsupported("LBFGS: a parameter of ", facts(p.type()).name, "; expected f32");
  if (const std::string &search = a_.word("line_search_fn"); !search.empty() && search != "strong_wolfe")
    fail("LBFGS: 'line_search_fn' is '", search, "'; expected strong_wolfe or nothing");
}

Reals Lbfgs::place() const {
  Reals all;
  for (const Variable &p : parameters_) {
    const Reals part = p.value().reals();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Reals Lbfgs::gradient() const {
  Reals all;
  for (const Variable &p : parameters_) {
    const Reals part =
        p.gradient().defined() ? p.gradient().value().reals() : Reals(static_cast<size_t>(p.value().size()));
    for (const double g : part) all.push_back(sign_ * g);
  }
  return all;
}

void Lbfgs::move_to(const Reals &place) const {
  size_t next = 0;
  for (const Variable &p : parameters_) {
    const Tensor row_major = Tensor::empty(p.shape());
    for (int64_t i = 0; i < row_major.size(); ++i) row_major.data<float>()[i] = static_cast<float>(place[next++]);
    p.value().copy_from(row_major);
    p.value().written();
  }
}

double Lbfgs::evaluated(const Closure &closure) {
  ++state.evaluations;
  return sign_ * closure();
}

void Lbfgs::choose_direction(const Reals &g) {
  if (state.iterations == 1) {
    state.direction = times(-1, g);
    return;
  }
  const Reals change = plus(g, -1, state.last_gradient), step = times(state.length, state.direction);
  const double curved = dot(change, step);
  if (curved > 1e-10) {
    if (state.changes.size() == static_cast<size_t>(a_.real("history_size"))) {
      state.changes.pop_front();
      state.steps.pop_front();
    }
    state.changes.push_back(change);
    state.steps.push_back(step);
    state.scale = curved / dot(change, change);
  }
  // The inverse of the curvature times -g, by the two loops.
  const size_t count = state.changes.size();
  Reals q = times(-1, g), used(count), per(count);
  for (size_t i = 0; i < count; ++i) per[i] = 1 / dot(state.changes[i], state.steps[i]);
  for (size_t i = count; i-- > 0;) {
    used[i] = dot(state.steps[i], q) * per[i];
    q = plus(q, -used[i], state.changes[i]);
  }
  q = times(state.scale, q);
  for (size_t i = 0; i < count; ++i) q = plus(q, used[i] - dot(state.changes[i], q) * per[i], state.steps[i]);
  state.direction = q;
}

// A length for which the loss is low enough and its slope flat enough (the strong conditions of Wolfe).
Lbfgs::Point Lbfgs::searched(const Closure &closure, double length, const Point &start) {
  constexpr double low_enough = 1e-4, flat_enough = 0.9;
  constexpr int most = 25;
  const Reals from = place();
  const Reals &d = state.direction;
  const auto point = [&](double t) {
    move_to(plus(from, t, d));
    Point p = {t, evaluated(closure), 0, {}};
    p.gradient = gradient();
    p.slope = dot(p.gradient, d);
    return p;
  };
  const auto is_high = [&](const Point &p) { return p.loss > start.loss + low_enough * p.length * start.slope; };
  const auto is_flat = [&](const Point &p) { return std::fabs(p.slope) <= -flat_enough * start.slope; };
  const auto between = [](const Point &a, const Point &b, double low, double high) {
    return least_of_cubic(a.length, a.loss, a.slope, b.length, b.loss, b.slope, low, high);
  };

  // Two points with a good one between them, or that one.
  Point last = start, now = point(length);
  int tries = 0;
  for (;; ++tries) {
    if (tries == most) {
      last = start;
      break;
    }
    if (is_high(now) || (tries > 1 && now.loss >= last.loss)) break;
    if (is_flat(now)) {
      move_to(from);
      return now;
    }
    if (now.slope >= 0) break;
    const double next = between(last, now, now.length + 0.01 * (now.length - last.length), now.length * 10);
    last = now;
    now = point(next);
  }
  Point low = last, high = now;
  if (now.loss < last.loss) std::swap(low, high);
  bool was_near = false;
  while (tries < most && std::fabs(high.length - low.length) * greatest(d) >= a_.real("tolerance_change")) {
    const double least = std::min(low.length, high.length), greatest_length = std::max(low.length, high.length);
    double t = between(low, high, least, greatest_length);
    // Not too near to an end twice.
    const double edge = 0.1 * (greatest_length - least);
    const bool is_near = std::min(greatest_length - t, t - least) < edge;
    if (is_near && (was_near || t >= greatest_length || t <= least)) {
      t = std::fabs(t - greatest_length) < std::fabs(t - least) ? greatest_length - edge : least + edge;
      was_near = false;
    } else {
      was_near = is_near;
    }
    now = point(t);
    ++tries;
    if (is_high(now) || now.loss >= low.loss) {
      high = now;
      if (high.loss < low.loss) std::swap(low, high);
      continue;
    }
    const bool done = is_flat(now);
    if (!done && now.slope * (high.length - low.length) >= 0) high = low;
    low = now;
    if (done) break;
  }
  move_to(from);
  return low;
}

double Lbfgs::step(const Closure &closure) {
  const double first = evaluated(closure);
  const int64_t begun_at = state.evaluations - 1;
  Point now = {0, first, 0, gradient()};
  const double flat = a_.real("tolerance_grad"), small = a_.real("tolerance_change"), turns = a_.real("max_iter");
  const double evaluations = a_.real("max_eval") > 0 ? a_.real("max_eval") : std::floor(turns * 5 / 4);
  const bool searches = !a_.word("line_search_fn").empty();
  if (greatest(now.gradient) <= flat) return sign_ * first;
  for (int64_t turn = 1; static_cast<double>(turn) <= turns; ++turn) {
    ++state.iterations;
    choose_direction(now.gradient);
    state.last_gradient = now.gradient;
    state.last_loss = now.loss;
    double sum = 0;
    for (const double g : now.gradient) sum += std::fabs(g);
    state.length = (state.iterations == 1 ? std::min(1.0, 1 / sum) : 1.0) * rate_;
    now.slope = dot(now.gradient, state.direction);
    now.length = 0;
    if (now.slope > -small) break;
    const bool is_last = static_cast<double>(turn) == turns;
    const Reals from = place();
    if (searches) {
      now = searched(closure, state.length, now);
      state.length = now.length;
    }
    move_to(plus(from, state.length, state.direction));
    if (!searches && !is_last) {
      now.loss = evaluated(closure);
      now.gradient = gradient();
    }
    if (is_last || static_cast<double>(state.evaluations - begun_at) >= evaluations) break;
    if (greatest(now.gradient) <= flat || greatest(state.direction) * state.length <= small) break;
    if (std::fabs(now.loss - state.last_loss) < small) break;
  }
  return sign_ * first;
}

}  // namespace saltern
