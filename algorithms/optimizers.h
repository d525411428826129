#pragma once
// Updates of parameters: p, its gradient g and what is kept between steps (slots) give p' and slots'. Numbers that change
// from step to step, such as rates and corrections, have names and are worked out by whoever calls
// (runtime/optim/rows.h), so that one formula, and one kernel, serves all optimizers of a family.
//
// All of them begin with
//     g' = sign g + decay p        sign: -1 where a maximum is looked for; decay: that which is part of the gradient
//     k  = keep p                  keep: 1 - rate weight_decay where the decay is decoupled, else 1
//
//   descent           p' = k - rate g'
//   sgd               v' = momentum v + fresh g'
//                     p' = k - of_velocity v' - of_gradient g'
//   adam              m' = beta1 m + (1 - beta1) g'        s' = beta2 s + (1 - beta2) g'^2
//                     p' = k - (of_gradient g' + of_mean m') / (of_root sqrt(s') + outside)
//   amsgrad           the same with the greatest s' so far under the root
//   rmsprop           s' = old s + new g'^2
//                     p' = k - rate g' / (sqrt(s' + inside) + outside)
//   rmsprop_momentum  v' = momentum v + fresh g' / (...)        p' = k - of_velocity v'
//   rmsprop_centered, rmsprop_centered_momentum: with s' - a'^2 for s', a' = old a + new g'
//   adadelta          s' = rho s + (1 - rho) g'^2        d = g' sqrt(a + inside) / sqrt(s' + inside)
//                     a' = rho a + (1 - rho) d^2         p' = k - rate d
//   adamax            m' as adam        u' = max(beta2 u, |g'| + inside)        p' = k - of_mean m' / (u' + outside)
//   lion              p' = k - rate sign(beta1 m + (1 - beta1) g')        m' = beta2 m + (1 - beta2) g'
//
// Others are beside them below. Elementwise updates may be written over their inputs: all results of an element come from
// the same elements.

#include <map>
#include <string>

#include "algorithms/contraction.h"
#include "algorithms/functions.h"
#include "dsl/value.h"

namespace saltern::algorithms {

struct UpdateInputs {
  Value p, g;
  Values slots;
  std::map<std::string, Value> numbers;
  // Whether slots' are stages, which p' reads: in a graph each of them, and p, can be written over then.
  bool in_stages = false;

  const Value &operator[](const std::string &name) const { return numbers.at(name); }
  Value stage(const char *name, const Value &v) const { return in_stages ? named(name, v) : v; }
};
using UpdateFormula = Values (*)(const UpdateInputs &);

inline bool is_known(const Value &v, double number) { return v->element.defined() && is_number(v->element, number); }
// Without what numbers that are known make nothing of.
inline Value times(const Value &number, const Value &v) { return is_known(number, 1) ? v : number * v; }
inline Value plus(const Value &v, const Value &number) { return is_known(number, 0) ? v : v + number; }
// By rows first, many of which are summed at a time.
inline Value sum_of_squares(const Value &v) {
  return v.rank() < 2 ? sum_all(square(v)) : sum_all(named("of_rows", sum(square(v), {v.rank() - 1})));
}
// old of the one, and what is left of 1 of the other.
inline Value blend(const Value &old, const Value &a, const Value &b) { return old * a + (1 - old) * b; }

inline Value gradient_of(const UpdateInputs &in) {
  const Value g = times(in["sign"], in.g);
  return is_known(in["decay"], 0) ? g : g + in["decay"] * in.p;
}
inline Value kept_of(const UpdateInputs &in) { return times(in["keep"], in.p); }

inline Values descent(const UpdateInputs &in) { return {kept_of(in) - in["rate"] * gradient_of(in)}; }

inline Values sgd(const UpdateInputs &in) {
  const Value g = gradient_of(in);
  const Value velocity = in.stage("velocity", in["momentum"] * in.slots[0] + times(in["fresh"], g));
  const Value moved = kept_of(in) - in["of_velocity"] * velocity;
  return {is_known(in["of_gradient"], 0) ? moved : moved - in["of_gradient"] * g, velocity};
}

// ---- Means of gradients over roots of means of their squares.

inline Value adam_step(const UpdateInputs &in, const Value &g, const Value &mean, const Value &under_root) {
  const Value along = in["of_mean"] * mean;
  return (is_known(in["of_gradient"], 0) ? along : along + in["of_gradient"] * g) /
         (in["of_root"] * sqrt(under_root) + in["outside"]);
}

inline Values adam(const UpdateInputs &in) {
  const Value g = gradient_of(in), mean = in.stage("mean", blend(in["beta1"], in.slots[0], g)),
              squares = in.stage("square", blend(in["beta2"], in.slots[1], square(g)));
  return {kept_of(in) - adam_step(in, g, mean, squares), mean, squares};
}

inline Values amsgrad(const UpdateInputs &in) {
  const Value g = gradient_of(in), mean = in.stage("mean", blend(in["beta1"], in.slots[0], g)),
              squares = in.stage("square", blend(in["beta2"], in.slots[1], square(g))),
              greatest = in.stage("greatest", max(in.slots[2], squares));
  return {kept_of(in) - adam_step(in, g, mean, greatest), mean, squares, greatest};
}

// Of the update of adam, so much that it is to p as one is to p's norm.
inline Values lamb(const UpdateInputs &in) {
  const Value g = gradient_of(in), kept = named("kept", kept_of(in)),
              mean = named("mean", blend(in["beta1"], in.slots[0], g)),
              squares = named("square", blend(in["beta2"], in.slots[1], square(g))),
              step = named("step", adam_step(in, g, mean, squares));
  const auto norm = [](const char *name, const Value &v) { return named(name, sqrt(sum_of_squares(v))); };
  const Value of_p = norm("norm_of_p", kept), of_step = norm("norm_of_step", step);
  const Value ratio = named("ratio", where(of_p > 0 && of_step > 0, of_p / of_step, 1));
  return {kept - in["rate"] * ratio * step, mean, squares};
}

// p is between z, which gradients move, and the mean of all z: x = (p - (1 - beta1) z) / beta1.
inline Values schedule_free(const UpdateInputs &in) {
  const Value g = gradient_of(in), p = kept_of(in), beta = in["beta1"],
              squares = in.stage("square", blend(in["beta2"], in.slots[1], square(g)));
  const Value z = in.stage("z", in.slots[0] - in["rate"] * g / (in["of_root"] * sqrt(squares) + in["outside"]));
  const Value average = (p - (1 - beta) * in.slots[0]) / beta;
  return {blend(beta, blend(1 - in["weight"], average, z), z), z, squares};
}

// ---- Gradients over roots of their squares.

inline Values scaled_by_root(const UpdateInputs &in, bool centered, bool with_momentum) {
  const Value g = gradient_of(in), squares = in.stage("square", times(in["old"], in.slots[0]) + in["new"] * square(g));
  Values kept = {squares};
  if (centered) kept.push_back(in.stage("mean", in["old"] * in.slots[1] + in["new"] * g));
  const Value variance = centered ? squares - square(kept[1]) : squares;
  const Value scaled = g / plus(sqrt(plus(variance, in["inside"])), in["outside"]);
  if (!with_momentum) {
    kept.insert(kept.begin(), kept_of(in) - in["rate"] * scaled);
    return kept;
  }
  const Value velocity = in.stage("velocity", in["momentum"] * in.slots[kept.size()] + times(in["fresh"], scaled));
  kept.insert(kept.begin(), kept_of(in) - in["of_velocity"] * velocity);
  kept.push_back(velocity);
  return kept;
}
inline Values rmsprop(const UpdateInputs &in) { return scaled_by_root(in, false, false); }
inline Values rmsprop_momentum(const UpdateInputs &in) { return scaled_by_root(in, false, true); }
inline Values rmsprop_centered(const UpdateInputs &in) { return scaled_by_root(in, true, false); }
inline Values rmsprop_centered_momentum(const UpdateInputs &in) { return scaled_by_root(in, true, true); }

inline Values adadelta(const UpdateInputs &in) {
  const Value g = gradient_of(in), rho = in["rho"], squares = in.stage("square", blend(rho, in.slots[0], square(g))),
              step = in.stage("step", g * sqrt((in.slots[1] + in["inside"]) / (squares + in["inside"])));
  return {kept_of(in) - in["rate"] * step, squares, in.stage("steps", blend(rho, in.slots[1], square(step)))};
}

inline Values adamax(const UpdateInputs &in) {
  const Value g = gradient_of(in), mean = in.stage("mean", blend(in["beta1"], in.slots[0], g)),
              norm = in.stage("norm", max(in["beta2"] * in.slots[1], plus(abs(g), in["inside"])));
  return {kept_of(in) - in["of_mean"] * mean / plus(norm, in["outside"]), mean, norm};
}

// ---- Signs.

inline Value sign_of(const Value &v) {
  const Value one = constant_value(v.type(), 1), none = constant_value(v.type(), 0);
  return where(v > 0, one, where(v < 0, -one, none));
}

inline Values lion(const UpdateInputs &in) {
  const Value g = gradient_of(in), direction = in.stage("direction", sign_of(blend(in["beta1"], in.slots[0], g)));
  return {kept_of(in) - in["rate"] * direction, in.stage("mean", blend(in["beta2"], in.slots[0], g))};
}

// Each element has a size of step, which grows as long as its gradient keeps its sign; where it does not, p stays once.
inline Values rprop(const UpdateInputs &in) {
  const Value g = gradient_of(in), turn = sign_of(g * in.slots[0]), one = constant_value(g.type(), 1);
  const Value factor = where(turn > 0, in["grow"], where(turn < 0, in["shrink"], one));
  const Value size = in.stage("size", min(max(in.slots[1] * factor, in["least"]), in["most"])),
              used = in.stage("used", where(turn < 0, constant_value(g.type(), 0), g));
  return {kept_of(in) - sign_of(used) * size, used, size};
}

// ---- And others.

// The average of all p from some step on: of_average is 1 before.
inline Values asgd(const UpdateInputs &in) {
  const Value moved = in.stage("moved", kept_of(in) - in["rate"] * gradient_of(in)), part = in["of_average"];
  return {moved, where(part == 1, moved, in.slots[0] + part * (moved - in.slots[0]))};
}

// Follow the regularised leader: n, the squares so far, and z, what p is worked out from.
inline Values ftrl(const UpdateInputs &in) {
  const Value kept = kept_of(in), g = gradient_of(in), squares = in.stage("square", in.slots[0] + square(g)),
              root = in.stage("root", power(squares, in["power"])), used = g + in["shrinkage"] * kept;
  const Value z = in.stage("linear", in.slots[1] + used - (root - power(in.slots[0], in["power"])) / in["rate"] * kept);
  const Value clipped = min(max(z, -in["l1"]), in["l1"]);
  return {(clipped - z) / (root / in["rate"] + in["l2"]), squares, z};
}

// Squares by their rows and columns alone (slots of extents n, 1 and 1, m); of vectors, each by itself.
inline Values adafactor(const UpdateInputs &in) {
  const Value g = gradient_of(in), kept = kept_of(in);
  const auto root_mean = [](const char *name, const Value &v) {
    Expression count = 1;
    for (const Expression &e : v.extents()) count = count * e;
    return named(name, sqrt(sum_of_squares(v) / inlined({}, [&](const Axes &) { return cast(v.type(), count); })));
  };
  const Value fresh = plus(square(g), in["inside"]), old = in["old"];
  Values slots;
  Value variance;
  if (g.rank() < 2) {
    slots = {named("variance", blend(old, in.slots[0], fresh))};
    variance = slots[0];
  } else {
    const int rows = g.rank() - 2, columns = g.rank() - 1;
    slots = {named("rows", blend(old, in.slots[0], mean(fresh, {columns}))),
             named("columns", blend(old, in.slots[1], mean(fresh, {rows})))};
    variance = slots[0] * slots[1] / named("of_rows", max(mean(slots[0], {rows}), in["least_rows"]));
  }
  const Value step = named("step", g / sqrt(max(variance, in["least"])));
  const Value rate = named("alpha", in["rate"] * max(in["least_rate"], root_mean("size", in.p)) /
                                        max(constant_value(g.type(), 1), root_mean("far", step) * in["per_threshold"]));
  slots.insert(slots.begin(), kept - rate * step);
  return slots;
}

// The momentum's nearest orthogonal matrix, by so many steps of Newton and Schulz: x <- a x + (b xx' + c (xx')^2) x.
inline Values muon(const UpdateInputs &in, int steps) {
  const Value g = gradient_of(in), velocity = named("velocity", in["momentum"] * in.slots[0] + times(in["fresh"], g));
  const Value used = named("used", in["of_velocity"] * velocity + in["of_gradient"] * g);
  const auto turned = [](const Value &v) { return permuted(v, {1, 0}); };
  const auto *rows = used.extent(0).get(), *columns = used.extent(1).get();
  const bool is_tall = rows->integer > columns->integer;
  Value x = is_tall ? turned(used) : used;
  const Value norm = named("norm", sqrt(sum_of_squares(used)));
  x = named("x", x / plus(max(norm, in["least"]), in["beside"]));
  for (int i = 0; i < steps; ++i) {
    const Value gram = named("gram", matmul(x, turned(x)));
    const Value change = named("change", in["b"] * gram + in["c"] * matmul(gram, gram));
    x = named("x", in["a"] * x + matmul(change, x));
  }
  return {kept_of(in) - in["rate"] * (is_tall ? turned(x) : x), velocity};
}

// ---- Those that the library has kernels of: what they are called, how many slots, and numbers in the order of arguments.
struct UpdateKernel {
  std::string name;
  size_t slots;
  std::vector<std::string> numbers;
  UpdateFormula formula;
};

inline const std::vector<UpdateKernel> &update_kernels() {
  static const std::vector<UpdateKernel> all = {
      {"descent", 0, {"sign", "decay", "keep", "rate"}, descent},
      {"sgd", 1, {"sign", "decay", "keep", "momentum", "fresh", "of_velocity", "of_gradient"}, sgd},
      {"adam", 2, {"sign", "decay", "keep", "beta1", "beta2", "of_gradient", "of_mean", "of_root", "outside"}, adam},
      {"amsgrad",
       3,
       {"sign", "decay", "keep", "beta1", "beta2", "of_gradient", "of_mean", "of_root", "outside"},
       amsgrad},
      {"rmsprop", 1, {"sign", "decay", "keep", "old", "new", "inside", "outside", "rate"}, rmsprop},
      {"rmsprop_momentum",
       2,
       {"sign", "decay", "keep", "old", "new", "inside", "outside", "momentum", "fresh", "of_velocity"},
       rmsprop_momentum},
      {"rmsprop_centered", 2, {"sign", "decay", "keep", "old", "new", "inside", "outside", "rate"}, rmsprop_centered},
      {"rmsprop_centered_momentum",
       3,
       {"sign", "decay", "keep", "old", "new", "inside", "outside", "momentum", "fresh", "of_velocity"},
       rmsprop_centered_momentum},
      {"schedule_free",
       2,
       {"sign", "decay", "keep", "beta1", "beta2", "rate", "of_root", "outside", "weight"},
       schedule_free},
      {"rprop", 2, {"sign", "decay", "keep", "grow", "shrink", "least", "most"}, rprop},
      {"adadelta", 2, {"sign", "decay", "keep", "rho", "inside", "rate"}, adadelta},
      {"adamax", 2, {"sign", "decay", "keep", "beta1", "beta2", "inside", "outside", "of_mean"}, adamax},
      {"lion", 1, {"sign", "decay", "keep", "beta1", "beta2", "rate"}, lion}};
  return all;
}

}  // namespace saltern::algorithms
