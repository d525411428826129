// Values to begin with, with the names of torch.nn.init: functions that write over a tensor, and give it.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

using Numbers = std::vector<double>;  // in row-major order

// A function of the table, and what it fills a tensor of a shape with.
struct Filler {
  using Fill = Numbers (*)(const Arguments &a, const Shape &shape);

  Filler(const std::string &name, const std::string &options, Fill fill, size_t least_rank = 0, size_t most_rank = 99)
      : function("init." + name, "tensor" + options, [=](const Arguments &a) {
          const Variable v = a.variable("tensor");
          const size_t rank = v.shape().size();
          if (rank < least_rank || rank > most_rank)
            a.refuse("tensor", least_rank == most_rank ? std::to_string(least_rank) + " dimensions"
                               : most_rank < 99        ? "3, 4 or 5 dimensions"
                                                       : "at least " + std::to_string(least_rank) + " dimensions");
          const Tensor &t = v.value();
          if (!is_real(t.type())) a.refuse("tensor", "a tensor of real numbers");
          const NoGradient guard;
          const Tensor filled = Tensor::of<double>(v.shape(), fill(a, v.shape()));
          t.copy_from(to_type(filled, t.type()).value());
          t.written();
          return v;
        }) {}
  nn::Function function;
};

Numbers drawn(const Shape &shape, const std::function<double()> &draw) {
  Numbers all(static_cast<size_t>(elements(shape)));
  std::generate(all.begin(), all.end(), draw);
  return all;
}
double uniform() { return static_cast<double>(random_numbers().uniform()); }
double normal() { return static_cast<double>(random_numbers().normal()); }
Numbers uniform_within(const Shape &shape, double bound) {
  return drawn(shape, [=] { return bound * (2 * uniform() - 1); });
}
Numbers normal_about_zero(const Shape &shape, double deviation) {
  return drawn(shape, [=] { return deviation * normal(); });
}

// ---- Plain ones.

const Filler plain[] = {
    {"constant_", ", val", [](const Arguments &a, const Shape &s) { return drawn(s, [&] { return a.real("val"); }); }},
    {"ones_", "", [](const Arguments &, const Shape &s) { return drawn(s, [] { return 1.0; }); }},
    {"zeros_", "", [](const Arguments &, const Shape &s) { return drawn(s, [] { return 0.0; }); }},
    {"uniform_", ", a=0.0, b=1.0",
     [](const Arguments &a, const Shape &s) {
       return drawn(s, [&] { return a.real("a") + (a.real("b") - a.real("a")) * uniform(); });
     }},
    {"normal_", ", mean=0.0, std=1.0",
     [](const Arguments &a, const Shape &s) {
       return drawn(s, [&] { return a.real("mean") + a.real("std") * normal(); });
     }},
};

// ---- Normal numbers between two bounds: those of all normal ones that are, or, where these are rare, uniform ones that
// are kept as often as they are normal. Behind 40 / low the density is e^-40 of that at a bound `low`.

double normal_between(double low, double high) {
  const double share = 0.5 * (std::erf(high * M_SQRT1_2) - std::erf(low * M_SQRT1_2));
  if (share > 0.1)
    for (;;)
      if (const double x = normal(); x >= low && x <= high) return x;
  if (high <= 0) return -normal_between(-high, -low);
  const double nearest = std::max(low, 0.0), end = std::min(high, nearest + 40 / std::max(nearest, 1.0));
  for (;;)
    if (const double x = low + (end - low) * uniform(); uniform() <= std::exp((nearest - x) * (nearest + x) / 2))
      return x;
}
const Filler trunc_normal("trunc_normal_", ", mean=0.0, std=1.0, a=-2.0, b=2.0",
                          [](const Arguments &a, const Shape &s) {
                            const double mean = a.real("mean"), deviation = a.real("std");
                            if (!std::isfinite(mean)) a.refuse("mean", "a finite number");
                            if (!(deviation > 0)) a.refuse("std", "a number above 0");
                            if (!(a.real("a") < a.real("b"))) a.refuse("a", "less than b");
                            const double low = (a.real("a") - mean) / deviation,
                                         high = (a.real("b") - mean) / deviation;
                            return drawn(s, [&] { return mean + deviation * normal_between(low, high); });
                          });

// ---- By how many numbers each result is made of, and how many each number goes into.

struct Fans {
  double in, out;
};
Fans fans(const Shape &s) {
  const double field = static_cast<double>(elements(Shape(s.begin() + 2, s.end())));
  return {static_cast<double>(s[1]) * field, static_cast<double>(s[0]) * field};
}

struct Gain {
  const char *nonlinearity;
  double gain;
};
const Gain gains[] = {{"linear", 1},           {"conv1d", 1},           {"conv2d", 1},           {"conv3d", 1},
                      {"conv_transpose1d", 1}, {"conv_transpose2d", 1}, {"conv_transpose3d", 1}, {"sigmoid", 1},
                      {"tanh", 5.0 / 3},       {"relu", M_SQRT2},       {"selu", 0.75},          {"leaky_relu", 0}};
double gain_of(const Arguments &a, double slope) {
  std::vector<std::string> names;
  for (const Gain &g : gains) names.emplace_back(g.nonlinearity);
  const std::string &name = a.word("nonlinearity", names);
  if (name == "leaky_relu") return std::sqrt(2 / (1 + slope * slope));
  return gains[std::find(names.begin(), names.end(), name) - names.begin()].gain;
}
const nn::Function calculate_gain("init.calculate_gain", "nonlinearity, param=None", [](const Arguments &a) {
  return gain_of(a, a.has("param") ? a.real("param") : 0.01);
});

double xavier_deviation(const Arguments &a, const Shape &s) {
  const Fans f = fans(s);
  return a.real("gain") * std::sqrt(2 / (f.in + f.out));
}
double kaiming_deviation(const Arguments &a, const Shape &s) {
  const Fans f = fans(s);
  return gain_of(a, a.real("a")) / std::sqrt(a.word("mode", {"fan_in", "fan_out"}) == "fan_in" ? f.in : f.out);
}
const double bound_of_deviation = std::sqrt(3.0);  // of uniform numbers
const char *const of_kaiming = ", a=0, mode='fan_in', nonlinearity='leaky_relu'";
const Filler by_fans[] = {
    {"xavier_uniform_", ", gain=1.0",
     [](const Arguments &a, const Shape &s) { return uniform_within(s, bound_of_deviation * xavier_deviation(a, s)); },
     2},
    {"xavier_normal_", ", gain=1.0",
     [](const Arguments &a, const Shape &s) { return normal_about_zero(s, xavier_deviation(a, s)); }, 2},
    {"kaiming_uniform_", of_kaiming,
     [](const Arguments &a, const Shape &s) { return uniform_within(s, bound_of_deviation * kaiming_deviation(a, s)); },
     2},
    {"kaiming_normal_", of_kaiming,
     [](const Arguments &a, const Shape &s) { return normal_about_zero(s, kaiming_deviation(a, s)); }, 2},
};

// ---- Keras' ones, of PyTorch's shapes: (out, in, ...).

double spread(const Shape &s, double scale, const std::string &mode) {
  const Fans f = s.size() < 2 ? Fans{static_cast<double>(elements(s)), static_cast<double>(elements(s))} : fans(s);
  const double fan = mode == "fan_in" ? f.in : mode == "fan_out" ? f.out : (f.in + f.out) / 2;
  return std::sqrt(scale / std::max(1.0, fan));
}
// Two deviations of normal numbers and no more; such numbers have this deviation themselves.
constexpr double deviation_within_two = 0.87962566103423978;
Numbers truncated(const Shape &s, double deviation) {
  return drawn(s, [=] { return deviation / deviation_within_two * normal_between(-2, 2); });
}
const Filler of_keras[] = {
    {"variance_scaling_", ", scale=1.0, mode='fan_in', distribution='truncated_normal'",
     [](const Arguments &a, const Shape &s) {
       if (!(a.real("scale") > 0)) a.refuse("scale", "a number above 0");
       const double deviation = spread(s, a.real("scale"), a.word("mode", {"fan_in", "fan_out", "fan_avg"}));
       const std::string &of = a.word("distribution", {"truncated_normal", "untruncated_normal", "uniform"});
       return of == "uniform"            ? uniform_within(s, bound_of_deviation * deviation)
              : of == "truncated_normal" ? truncated(s, deviation)
                                         : normal_about_zero(s, deviation);
     }},
    {"lecun_normal_", "", [](const Arguments &, const Shape &s) { return truncated(s, spread(s, 1, "fan_in")); }},
    {"lecun_uniform_", "",
     [](const Arguments &, const Shape &s) { return uniform_within(s, bound_of_deviation * spread(s, 1, "fan_in")); }},
    // Cosines, or sines, (time, 1, frequency), seen through a window.
    {"stft_", ", side='real', window='hann', scaling='density', periodic=False",
     [](const Arguments &a, const Shape &s) {
       const bool real = a.word("side", {"real", "imag"}) == "real";
       Numbers window(static_cast<size_t>(s[0]), 1);
       double scale = 0;
       if (a["window"].as<std::string>())
         window = variable_of(
                      call("windows." + a.word("window"), {s[0]}, {{"sym", !a.flag("periodic")}, {"dtype", "float64"}}))
                      .value()
                      .reals();
       else if (a.has("window"))
         window = a.reals("window", window.size());
       const bool scaled = a.has("window") && a.has("scaling");
       const bool density = scaled && a.word("scaling", {"density", "spectrum"}) == "density";
       for (double w : window) scale += density ? w * w : std::abs(w);
       scale = !scaled ? 1 : density ? std::sqrt(scale) : scale;
       Numbers all;
       for (int64_t t = 0; t < s[0]; ++t)
         for (int64_t i = 0; i < s[1] * s[2]; ++i) {
           const double angle =
               -M_PI * static_cast<double>(t * (i % s[2])) / static_cast<double>(std::max<int64_t>(s[2] - 1, 1));
           all.push_back((real ? std::cos(angle) : std::sin(angle)) * window[static_cast<size_t>(t)] / scale);
         }
       return all;
     },
     3, 3},
};

// ---- Structured ones.

const Filler eye(
    "eye_", "",
    [](const Arguments &, const Shape &s) {
      Numbers all(static_cast<size_t>(elements(s)), 0);
      for (int64_t i = 0; i < std::min(s[0], s[1]); ++i) all[static_cast<size_t>(i * s[1] + i)] = 1;
      return all;
    },
    2, 2);

// A convolution that gives its input, in each group.
const Filler dirac(
    "dirac_", ", groups=1",
    [](const Arguments &a, const Shape &s) {
      const int64_t groups = a.integer("groups");
      if (groups < 1 || s[0] % groups != 0) a.refuse("groups", "a divisor of " + std::to_string(s[0]));
      Numbers all(static_cast<size_t>(elements(s)), 0);
      const int64_t field = elements(Shape(s.begin() + 2, s.end())), outputs = s[0] / groups;
      int64_t centre = 0;
      for (size_t d = 2; d < s.size(); ++d) centre = centre * s[d] + s[d] / 2;
      for (int64_t g = 0; g < groups && field > 0; ++g)
        for (int64_t i = 0; i < std::min(outputs, s[1]); ++i)
          all[static_cast<size_t>(((g * outputs + i) * s[1] + i) * field + centre)] = 1;
      return all;
    },
    3, 5);

// Rows, or columns if there are more rows than columns, that are at right angles to each other and of length `gain`: normal
// ones, each less its parts along those before it (twice, so that rounding does not show).
const Filler orthogonal(
    "orthogonal_", ", gain=1",
    [](const Arguments &a, const Shape &s) {
      const auto rows = static_cast<size_t>(s[0]),
                 columns = static_cast<size_t>(elements(Shape(s.begin() + 1, s.end())));
      const size_t count = std::min(rows, columns), length = std::max(rows, columns);
      std::vector<Numbers> vectors;
      const auto dot = [](const Numbers &u, const Numbers &v) {
        return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
      };
      while (vectors.size() < count) {
        Numbers v = normal_about_zero({static_cast<int64_t>(length)}, 1);
        for (int twice = 0; twice < 2; ++twice)
          for (const Numbers &u : vectors) {
            const double along = dot(u, v);
            for (size_t i = 0; i < length; ++i) v[i] -= along * u[i];
          }
        const double norm = std::sqrt(dot(v, v));
        if (norm < 1e-6) continue;  // it was among those before it, nearly: another one
        for (double &e : v) e /= norm;
        vectors.push_back(v);
      }
      Numbers all(rows * columns);
      for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j)
          all[i * columns + j] = a.real("gain") * (rows <= columns ? vectors[i][j] : vectors[j][i]);
      return all;
    },
    2);

const Filler sparse(
    "sparse_", ", sparsity, std=0.01",
    [](const Arguments &a, const Shape &s) {
      Numbers all = normal_about_zero(s, a.real("std"));
      const auto rows = static_cast<size_t>(s[0]), columns = static_cast<size_t>(s[1]);
      const double share = a.real("sparsity");
      if (!(share >= 0 && share <= 1)) a.refuse("sparsity", "a share between 0 and 1");
      const auto zeros = static_cast<size_t>(std::ceil(share * static_cast<double>(rows)));
      std::vector<size_t> order(rows);
      for (size_t j = 0; j < columns; ++j) {
        std::iota(order.begin(), order.end(), 0);
        for (size_t i = 0; i < zeros; ++i) {
          std::swap(order[i], order[i + random_numbers().below(rows - i)]);
          all[order[i] * columns + j] = 0;
        }
      }
      return all;
    },
    2, 2);

}  // namespace

const void *initialisation() { return plain; }

}  // namespace saltern::nn
