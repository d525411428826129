#pragma once
// Normalisation: x less its mean, over its deviation; means over the axes that each kind says.
//
//   normalised(x, axes) = (x - mean x) / sqrt(mean (x - mean x)^2 + epsilon)                      (biased)
//
//   layer_norm     x(..., c)      over c, with a scale and a shift for each c
//   rms_norm       x(..., c)      over c, without the mean
//   batch_norm     x(n, c, p)     over n and p;      instance_norm  over p
//   group_norm     x(n, c, p)     over p and the channels of a group

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

inline Value normalised(const Value &x, const std::vector<int> &axes, const Value &epsilon) {
  const Value deviation = x - mean(x, axes);
  return deviation * named("factor", 1 / sqrt(mean(deviation * deviation, axes) + epsilon));
}

inline Value layer_norm(const Value &x, const Value &scale, const Value &shift, const Value &epsilon) {
  return normalised(x, {-1}, epsilon) * scale + shift;
}

inline Value rms_norm(const Value &x, const Value &scale, const Value &epsilon) {
  return x * named("factor", 1 / sqrt(mean(x * x, {-1}) + epsilon)) * scale;
}

// A value for each channel, beside x(n, c, p).
inline Value by_channel(const Value &v) {
  return compute("by_channel", {v.extent(0), 1}, [&](Expression c, Expression) { return v(c); });
}

inline Value instance_norm(const Value &x, const Value &scale, const Value &shift, const Value &epsilon) {
  return normalised(x, {2}, epsilon) * by_channel(scale) + by_channel(shift);
}

inline Value group_norm(const Value &x, const Value &scale, const Value &shift, const Expression &groups,
                        const Value &epsilon) {
  const Expression channels = quotient(x.extent(1), groups);
  const auto grouped = [&](const Value &v) { return split(by_channel(v), 0, groups, channels); };
  const Value y = normalised(split(x, 1, groups, channels), {2, 3}, epsilon);
  return merged(named("group_norm", y * grouped(scale) + grouped(shift)), 1);
}

struct BatchNorm {
  Value y, mean, variance;
};

inline BatchNorm batch_norm(const Value &x, const Value &scale, const Value &shift, const Value &epsilon) {
  const Value m = named("mean", mean(x, {0, 2})), deviation = x - m;
  const Value variance = named("variance", mean(deviation * deviation, {0, 2}));
  return {deviation * named("factor", by_channel(scale) / sqrt(variance + epsilon)) + by_channel(shift), m, variance};
}

}  // namespace saltern::algorithms
