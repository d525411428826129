// The rows of schedules.h.

#include <cmath>

#include "runtime/optim/schedules.h"

namespace saltern {

namespace {

constexpr double pi = 3.14159265358979323846, past_one = 1 + 1e-15;  // below which 1 is
const Option needed_count(const char *name) { return {name, std::nullopt, 1}; }

// From one number to another; how far, between 0 and 1.
double along(const std::string &owner, const std::string &how, double from, double to, double part) {
  if (how == "cos") return to + (from - to) / 2 * (1 + std::cos(pi * part));
  if (how != "linear") fail(owner, ": 'anneal_strategy' is '", how, "'; expected cos or linear");
  return from + (to - from) * part;
}

double one_of_rising(const Attributes &a, double base, double step) {
  double turn = step, length = a.real("T_0");
  while (turn >= length) {
    turn -= length;
    length *= a.real("T_mult");
  }
  return a.real("eta_min") + (base - a.real("eta_min")) * (1 + std::cos(pi * turn / length)) / 2;
}

// Between 0 and 1: how far up a triangle, made lower with each.
double of_cycle(const Attributes &a, double step) {
  const double up = a.real("step_size_up"), down = a.real("step_size_down") == 0 ? up : a.real("step_size_down");
  const double total = up + down, ratio = up / total, cycle = std::floor(1 + step / total),
               x = 1 + step / total - cycle;
  const double height = x <= ratio ? x / ratio : (x - 1) / (ratio - 1);
  const std::string &mode = a.word("mode");
  if (mode == "triangular") return height;
  if (mode == "triangular2") return height / std::pow(2, cycle - 1);
  if (mode == "exp_range") return height * std::pow(a.real("gamma"), step);
  fail("CyclicLR: 'mode' is '", mode, "'; expected triangular, triangular2 or exp_range");
}

// The phase of one cycle that a step is in: what it goes between, and how far it is.
struct Phase {
  enum Place { begins, most, least } from, to;
  double part;
};
Phase phase_of(const Attributes &a, double step) {
  const double total = a.real("total_steps") > 0 ? a.real("total_steps") : a.real("epochs") * a.real("steps_per_epoch");
  if (total == 0) fail("OneCycleLR: 'total_steps' is missing, and so are 'epochs' and 'steps_per_epoch'");
  if (step > total) fail("OneCycleLR: step ", step, " of ", total, " steps");
  const double first = a.real("pct_start") * total - 1, second = 2 * a.real("pct_start") * total - 2;
  if (step <= first) return {Phase::begins, Phase::most, step / first};
  if (a.integer("three_phase") == no) return {Phase::most, Phase::least, (step - first) / (total - 1 - first)};
  if (step <= second) return {Phase::most, Phase::begins, (step - first) / (second - first)};
  return {Phase::begins, Phase::least, (step - second) / (total - 1 - second)};
}

double decayed_by_cosine(double from, double alpha, double part) {
  return from * ((1 - alpha) * 0.5 * (1 + std::cos(pi * part)) + alpha);
}

double of_restarts(const Attributes &a, double step) {
  double part = step / a.real("first_decay_steps"), restarts = std::floor(part);
  const double longer = a.real("t_mul");
  if (longer == 1) {
    part -= restarts;
  } else {
    restarts = std::floor(std::log(1 - part * (1 - longer)) / std::log(longer));
    part = (part - (1 - std::pow(longer, restarts)) / (1 - longer)) / std::pow(longer, restarts);
  }
  const double alpha = a.real("alpha");
  return a.real("initial_learning_rate") *
         ((1 - alpha) * 0.5 * std::pow(a.real("m_mul"), restarts) * (1 + std::cos(pi * part)) + alpha);
}

double of_cosine(const Attributes &a, double step) {
  const double from = a.real("initial_learning_rate"), target = a.real("warmup_target"), warm = a.real("warmup_steps"),
               steps = a.real("decay_steps"), alpha = a.real("alpha");
  if (target == -infinite) return decayed_by_cosine(from, alpha, std::min(step, steps) / steps);
  if (step < warm) return from + (target - from) * step / warm;
  return decayed_by_cosine(target, alpha, std::min(step - warm, steps) / steps);
}

double of_polynomial(const Attributes &a, double step) {
  double steps = a.real("decay_steps");
  if (a.integer("cycle") != no)
    steps *= step == 0 ? 1 : std::ceil(step / steps);
  else
    step = std::min(step, steps);
  const double end = a.real("end_learning_rate");
  return (a.real("initial_learning_rate") - end) * std::pow(1 - step / steps, a.real("power")) + end;
}

double of_pieces(const Attributes &a, double step) {
  const Reals &boundaries = a.reals("boundaries"), &values = a.reals("values");
  if (values.size() != boundaries.size() + 1)
    fail("keras.PiecewiseConstantDecay: ", boundaries.size(), " boundaries are between ", values.size(), " values");
  size_t piece = 0;
  while (piece < boundaries.size() && step > boundaries[piece]) ++piece;
  return values[piece];
}

// Steps in units of decay_steps, whole ones where it goes by stairs.
double decays(const Attributes &a, double step) {
  const double part = step / a.real("decay_steps");
  return a.integer("staircase") == no ? part : std::floor(part);
}

using A = const Attributes &;
const Options cycled_momentum(double base, double most) {
  return {{"cycle_momentum", yes}, {"base_momentum", base}, {"max_momentum", most}};
}
Options joined(Options first, const Options &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
const Option initial = {"initial_learning_rate", std::nullopt};

std::vector<ScheduleRow> rows() {
  return {
      {"ConstantLR",
       {{"factor", 1.0 / 3, 0, past_one}, {"total_iters", 5.0}},
       [](A a, double base, double t) { return t < a.real("total_iters") ? base * a.real("factor") : base; }},
      {"CosineAnnealingLR",
       {needed_count("T_max"), {"eta_min", 0.0}},
       [](A a, double base, double t) {
         return a.real("eta_min") + (base - a.real("eta_min")) * (1 + std::cos(pi * t / a.real("T_max"))) / 2;
       },
       false,
       "eta_min"},
      {"CosineAnnealingWarmRestarts", {needed_count("T_0"), {"T_mult", 1.0, 1}, {"eta_min", 0.0}}, one_of_rising, true},
      {"CyclicLR",
       joined({{"base_lr", std::nullopt},
               {"max_lr", std::nullopt},
               {"step_size_up", 2000.0},
               {"step_size_down", 0.0},
               {"mode", "triangular"},
               {"gamma", 1.0}},
              cycled_momentum(0.8, 0.9)),
       [](A a, double, double t) {
         return a.real("base_lr") + (a.real("max_lr") - a.real("base_lr")) * of_cycle(a, t);
       },
       true, "",
       [](A a, double t) {
         return a.real("max_momentum") - (a.real("max_momentum") - a.real("base_momentum")) * of_cycle(a, t);
       }},
      {"ExponentialLR",
       {{"gamma", std::nullopt}},
       [](A a, double base, double t) { return base * std::pow(a.real("gamma"), t); }},
      {"LinearLR",
       {{"start_factor", 1.0 / 3, 1e-300, past_one}, {"end_factor", 1.0, 0, past_one}, {"total_iters", 5.0}},
       [](A a, double base, double t) {
         const double from = a.real("start_factor"), total = a.real("total_iters");
         return base * (from + (a.real("end_factor") - from) * (t < total ? t / total : 1));
       }},
      {"MultiStepLR",
       {{"milestones", std::nullopt}, {"gamma", 0.1}},
       [](A a, double base, double t) {
         const Reals &all = a.reals("milestones");
         return base *
                std::pow(a.real("gamma"), std::count_if(all.begin(), all.end(), [&](double m) { return m <= t; }));
       }},
      {"OneCycleLR",
       joined(joined({{"max_lr", std::nullopt},
                      {"total_steps", 0.0},
                      {"epochs", 0.0},
                      {"steps_per_epoch", 0.0},
                      {"pct_start", 0.3, 0, past_one},
                      {"anneal_strategy", "cos"}},
                     cycled_momentum(0.85, 0.95)),
              {{"div_factor", 25.0}, {"final_div_factor", 1e4}, {"three_phase", no}}),
       [](A a, double, double t) {
         const double most = a.real("max_lr"), first = most / a.real("div_factor"),
                      rates[] = {first, most, first / a.real("final_div_factor")};
         const Phase p = phase_of(a, t);
         return along("OneCycleLR", a.word("anneal_strategy"), rates[p.from], rates[p.to], p.part);
       },
       true, "",
       [](A a, double t) {
         const double most = a.real("max_momentum"), momenta[] = {most, a.real("base_momentum"), most};
         const Phase p = phase_of(a, t);
         return along("OneCycleLR", a.word("anneal_strategy"), momenta[p.from], momenta[p.to], p.part);
       }},
      {"PolynomialLR",
       {{"total_iters", 5.0}, {"power", 1.0}},
       [](A a, double base, double t) {
         return base * std::pow(1 - std::min(t / a.real("total_iters"), 1.0), a.real("power"));
       }},
      {"StepLR",
       {needed_count("step_size"), {"gamma", 0.1}},
       [](A a, double base, double t) {
         return base * std::pow(a.real("gamma"), std::floor(t / a.real("step_size")));
       }},
      {"SWALR",
       {{"swa_lr", std::nullopt}, {"anneal_epochs", 10.0}, {"anneal_strategy", "cos"}},
       [](A a, double base, double t) {
         const double total = a.real("anneal_epochs");
         return along("SWALR", a.word("anneal_strategy"), base, a.real("swa_lr"), t < total ? t / total : 1);
       },
       false,
       "swa_lr"},
      {"keras.CosineDecay",
       {initial,
        needed_count("decay_steps"),
        {"alpha", 0.0},
        {"warmup_target", -infinite, -infinite},
        {"warmup_steps", 0.0}},
       [](A a, double, double t) { return of_cosine(a, t); },
       true},
      {"keras.CosineDecayRestarts",
       {initial, needed_count("first_decay_steps"), {"t_mul", 2.0}, {"m_mul", 1.0}, {"alpha", 0.0}},
       [](A a, double, double t) { return of_restarts(a, t); },
       true},
      {"keras.ExponentialDecay",
       {initial, needed_count("decay_steps"), {"decay_rate", std::nullopt}, {"staircase", no}},
       [](A a, double, double t) {
         return a.real("initial_learning_rate") * std::pow(a.real("decay_rate"), decays(a, t));
       },
       true},
      {"keras.InverseTimeDecay",
       {initial, needed_count("decay_steps"), {"decay_rate", std::nullopt}, {"staircase", no}},
       [](A a, double, double t) {
         return a.real("initial_learning_rate") / (1 + a.real("decay_rate") * decays(a, t));
       },
       true},
      {"keras.PiecewiseConstantDecay",
       {{"boundaries", std::nullopt, -infinite}, {"values", std::nullopt}},
       [](A a, double, double t) { return of_pieces(a, t); },
       true},
      {"keras.PolynomialDecay",
       {initial, needed_count("decay_steps"), {"end_learning_rate", 1e-4}, {"power", 1.0}, {"cycle", no}},
       [](A a, double, double t) { return of_polynomial(a, t); },
       true}};
}

}  // namespace

const std::vector<ScheduleRow> &schedule_rows() {
  static const std::vector<ScheduleRow> all = rows();
  return all;
}

}  // namespace saltern
