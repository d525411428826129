#pragma once
// Normalisation: x less its mean, over its deviation; means over the axes that each kind says.
//
//   normalised(x, axes) = (x - mean x) / sqrt(mean (x - mean x)^2 + epsilon)                      (biased)
//
//   layer_norm     x(..., c)      over c, with a scale and a shift for each c
//   rms_norm       x(..., c)      over c, without the mean
//   batch_norm     x(n, c, ...)   over all but c;    instance_norm  over all but n and c
//   group_norm     x(n, c, p)     over p and the channels of a group
//   lp_normalised  x over its norm along an axis, and 0 where that is 0
//   local_response_norm           x(n, c, ...) over (bias + alpha mean of the squares of `size` channels around)^beta
//
// The variance is taken about the mean, in a second walk over x: the mean of x^2 less that of x, squared, loses all digits
// where the mean is large against the deviation.

#include <algorithm>
#include <optional>

#include "algorithms/reductions.h"

namespace saltern::algorithms {

using namespace formula;

// What elements that are normalised together share: their mean, and 1 / sqrt(variance + epsilon).
struct Moments {
  Value mean, factor;
  Value of(const Value &x) const { return (x - mean) * factor; }
};

inline Moments moments(const Value &x, const std::vector<int> &axes, const Value &epsilon) {
  const Value m = named("mean", mean(x, axes)), deviation = x - m;
  return {m, named("factor", 1 / sqrt(mean(deviation * deviation, axes) + epsilon))};
}

inline Value normalised(const Value &x, const std::vector<int> &axes, const Value &epsilon) {
  return moments(x, axes, epsilon).of(x);
}

inline Value layer_norm(const Value &x, const Value &scale, const Value &shift, const Value &epsilon) {
  return normalised(x, {-1}, epsilon) * scale + shift;
}

// Axes from `first` on are normalised together, and have a scale and a shift each. With h = normalised(x) and g = dy scale,
//   dx = factor (g - mean g - h mean(g h)),   dscale = sum of dy h,  dshift = sum of dy  over all rows.
// Derived, dx takes one more walk over x, for nothing knows that deviations have the sum 0.
inline std::vector<int> axes_from(int first, const Value &x) {
  std::vector<int> axes;
  for (int d = first; d < x.rank(); ++d) axes.push_back(d);
  return axes;
}

inline Value layer_norm_gradient_x(const Value &x, const Moments &of, const Value &scale, const Value &dy, int first) {
  const std::vector<int> axes = axes_from(first, x);
  const Value h = of.of(x), g = dy * scale;
  return of.factor * (g - named("mean_g", mean(g, axes)) - h * named("mean_gh", mean(g * h, axes)));
}

struct LayerNormParameters {
  Value scale, shift;
};
inline LayerNormParameters layer_norm_gradient_parameters(const Value &x, const Moments &of, const Value &dy,
                                                          int first) {
  std::vector<int> rows;
  std::vector<Expression> row;
  for (int d = 0; d < first; ++d) rows.push_back(d);
  for (int d : axes_from(first, x)) row.push_back(x.extent(d));
  const auto over_rows = [&](const Value &v) {
    const Value all = sum(v, rows);
    return inlined(row, [&](Axes at) {
      at.insert(at.begin(), rows.size(), Expression(0));
      return all.at(at);
    });
  };
  return {over_rows(dy * of.of(x)), over_rows(dy)};
}

inline Value rms_normalised(const Value &x, const std::vector<int> &axes, const Value &epsilon) {
  return x * named("factor", 1 / sqrt(mean(x * x, axes) + epsilon));
}

inline Value rms_norm(const Value &x, const Value &scale, const Value &epsilon) {
  return rms_normalised(x, {-1}, epsilon) * scale;
}

// The deviation itself has a small number added, and not its square.
inline Value mean_variance_norm(const Value &x, const std::vector<int> &axes) {
  const Value deviation = x - named("mean", mean(x, axes));
  return deviation / named("deviation", sqrt(mean(deviation * deviation, axes)) + 1e-9);
}

inline Value lp_normalised(const Value &x, int axis, int p) {
  const Value norm = named("norm", p == 1 ? l1_norm(x, {axis}) : l2_norm(x, {axis}));
  return where(norm == 0, 0, x / norm);
}

// Of `size` channels, this many are in front: as many as behind, or one less, as ONNX has them; PyTorch has one more.
inline Value local_response_norm(const Value &x, int64_t size, double alpha, double beta, double bias,
                                 std::optional<int64_t> in_front = std::nullopt) {
  const Value squares = compute("squares", x.extents(), [&](const Axes &at) {
    return sum({size}, [&](const Axes &k) {
      Axes from = at;
      from[1] = at[1] + k[0] - in_front.value_or((size - 1) / 2);
      const Expression v = x.or_else(0, from);
      return v * v;
    });
  });
  return x / power(squares * (alpha / static_cast<double>(size)) + bias, beta);
}

// A value for each channel, beside x whose channels are this axis.
inline Value by_channel(const Value &v, const Value &x, int axis = 1) {
  std::vector<Expression> extents(static_cast<size_t>(x.rank() - axis), Expression(1));
  extents[0] = v.extent(0);
  return inlined(extents, [&](const Axes &at) { return v(at[0]); });
}

inline std::vector<int> all_but(const std::vector<int> &axes, const Value &x) {
  std::vector<int> others;
  for (int d = 0; d < x.rank(); ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) others.push_back(d);
  return others;
}

inline Value instance_norm(const Value &x, const Value &scale, const Value &shift, const Value &epsilon) {
  return normalised(x, all_but({0, 1}, x), epsilon) * by_channel(scale, x) + by_channel(shift, x);
}

inline Value group_norm(const Value &x, const Value &scale, const Value &shift, const Expression &groups,
                        const Value &epsilon) {
  const Expression channels = quotient(x.extent(1), groups);
  const auto grouped = [&](const Value &v) { return split(by_channel(v, x), 0, groups, channels); };
  const Value y = normalised(split(x, 1, groups, channels), {2, 3}, epsilon);
  return merged(named("group_norm", y * grouped(scale) + grouped(shift)), 1);
}

// The values of one axis, where all others have the extent 1.
inline Value of_channel(const Value &v, int axis) {
  return inlined({v.extent(axis)}, [&](const Axes &c) {
    Axes at(static_cast<size_t>(v.rank()), Expression(0));
    at[static_cast<size_t>(axis)] = c[0];
    return v.at(at);
  });
}

// Mean and variance of each channel.
struct Statistics {
  Value mean, variance;
};

inline Statistics statistics(const Value &x, int channel = 1) {
  const std::vector<int> over = all_but({channel}, x);
  const Value m = named("mean", mean(x, over));
  const Value deviation = x - m, variance = named("variance", mean(deviation * deviation, over));
  return {of_channel(m, channel), of_channel(variance, channel)};
}

inline Value batch_norm(const Value &x, const Statistics &of, const Value &scale, const Value &shift,
                        const Value &epsilon, int channel = 1) {
  const Value factor = named("factor", scale / sqrt(of.variance + epsilon));
  return (x - by_channel(of.mean, x, channel)) * by_channel(factor, x, channel) + by_channel(shift, x, channel);
}

// What is kept of the statistics of many batches: blended with those of the last one, whose variance is made unbiased for
// that, by the share `momentum`. In f64, as thousands of batches are blended into one number.
inline Statistics running_statistics(const Statistics &kept, const Statistics &now, const Value &momentum,
                                     int64_t count) {
  const auto wide = [](const Value &v) { return cast(Type::f64, v); };
  const auto blend = [&](const Value &before, const Value &last) {
    return cast(before.type(), (1 - momentum) * wide(before) + momentum * last);
  };
  const auto n = static_cast<double>(count);
  return {blend(kept.mean, wide(now.mean)), blend(kept.variance, wide(now.variance) * n / (n - 1))};
}

// Where the statistics depend on x:  dx = scale r (dy - mean dy - h mean(dy h)),  r = 1 / sqrt(variance + epsilon),
// h = (x - mean) r; where they are given:  dx = scale r dy. Derived, dx takes one more walk over x, for nothing knows that
// deviations have the sum 0.
struct BatchNormGradient {
  Value x, scale, shift;
};

enum class StatisticsOf { x, others };

inline BatchNormGradient batch_norm_gradient(const Value &x, const Statistics &of, const Value &scale, const Value &dy,
                                             const Value &epsilon, StatisticsOf whose, int channel = 1) {
  const auto beside = [&](const Value &v) { return by_channel(v, x, channel); };
  const std::vector<int> over = all_but({channel}, x);
  const Value deviation = x - beside(of.mean);
  const Value shift = of_channel(sum(dy, over), channel), products = of_channel(sum(dy * deviation, over), channel);
  const Value r = named("r", 1 / sqrt(of.variance + epsilon));
  Expression count = 1;
  for (int d : over) count = count * x.extent(d);
  const Value share = constant_value(x.type(), 1) / inlined({}, [&](const Axes &) { return cast(x.type(), count); });
  const Value factor = named("factor", scale / sqrt(of.variance + epsilon));
  const Value slope = named("slope", products * r * r * share), offset = named("offset", shift * share);
  const Value dx = whose == StatisticsOf::x ? beside(factor) * (dy - beside(offset) - deviation * beside(slope))
                                            : beside(factor) * dy;
  return {dx, products * r, shift};
}

}  // namespace saltern::algorithms
