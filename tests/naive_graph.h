#pragma once
// A graph computed by the plainest loops in double precision: an oracle that shares no code with kernels.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern {

struct NaiveValue {
  Shape shape;
  std::vector<double> data;  // row-major

  double image(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return data[static_cast<size_t>(((n * shape[1] + c) * shape[2] + y) * shape[3] + x)];
  }
};

using NaiveValues = std::map<std::string, NaiveValue>;

inline NaiveValue naive_value(const Tensor &t) {
  const Tensor rows = t.in_layout(Layout::row_major);
  return {t.shape(), {rows.data<float>(), rows.data<float>() + rows.size()}};
}

inline Tensor random_tensor(const Shape &shape, unsigned seed, float low = -1, float high = 1) {
  const Tensor t = Tensor::empty(shape);
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = uniform(rng);
  return t;
}

namespace naive {

// Calls visit(n, c, oy, ox) for every element of an image.
template <typename Visit>
void each(const Shape &s, const Visit &visit) {
  for (int64_t n = 0; n < s[0]; ++n)
    for (int64_t c = 0; c < s[1]; ++c)
      for (int64_t y = 0; y < s[2]; ++y)
        for (int64_t x = 0; x < s[3]; ++x) visit(n, c, y, x);
}

// Calls visit(ky, kx, y, x) for the pixels inside the image that the window at (oy, ox) covers.
template <typename Visit>
void window(const Attributes &a, const Shape &image, int64_t kernel_y, int64_t kernel_x, int64_t oy, int64_t ox,
            const Visit &visit) {
  const auto &s = a.integers("strides"), &d = a.integers("dilations"), &p = a.integers("pads");
  for (int64_t ky = 0; ky < kernel_y; ++ky)
    for (int64_t kx = 0; kx < kernel_x; ++kx) {
      const int64_t y = oy * s[0] + ky * d[0] - p[0], x = ox * s[1] + kx * d[1] - p[1];
      if (y >= 0 && y < image[2] && x >= 0 && x < image[3]) visit(ky, kx, y, x);
    }
}

inline std::vector<double> conv2d(const std::vector<NaiveValue> &in, const Attributes &a, const Shape &shape) {
  std::vector<double> y;
  const NaiveValue &x = in[0], &w = in[1];
  const int64_t per_group = shape[1] / a.integer("groups", 1);
  each(shape, [&](int64_t n, int64_t co, int64_t oy, int64_t ox) {
    double sum = in.size() > 2 ? in[2].data[static_cast<size_t>(co)] : 0;
    window(a, x.shape, w.shape[2], w.shape[3], oy, ox, [&](int64_t ky, int64_t kx, int64_t iy, int64_t ix) {
      for (int64_t ci = 0; ci < w.shape[1]; ++ci)
        sum += w.image(co, ci, ky, kx) * x.image(n, co / per_group * w.shape[1] + ci, iy, ix);
    });
    y.push_back(sum);
  });
  return y;
}

inline std::vector<double> pool(const std::vector<NaiveValue> &in, const Attributes &a, const Shape &shape,
                                bool maximum) {
  std::vector<double> y;
  const auto &kernel = a.integers("kernel");
  each(shape, [&](int64_t n, int64_t c, int64_t oy, int64_t ox) {
    double best = -INFINITY, sum = 0, count = 0;
    window(a, in[0].shape, kernel[0], kernel[1], oy, ox, [&](int64_t, int64_t, int64_t iy, int64_t ix) {
      best = std::max(best, in[0].image(n, c, iy, ix));
      sum += in[0].image(n, c, iy, ix);
      ++count;
    });
    if (a.integer("count_padding", 1)) count = static_cast<double>(kernel[0] * kernel[1]);
    y.push_back(maximum ? best : sum / count);
  });
  return y;
}

inline std::vector<double> dense(const std::vector<NaiveValue> &in, const Shape &shape) {
  std::vector<double> y;
  const int64_t inputs = in[0].shape[1];
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t o = 0; o < shape[1]; ++o) {
      double sum = in.size() > 2 ? in[2].data[static_cast<size_t>(o)] : 0;
      for (int64_t i = 0; i < inputs; ++i)
        sum += in[0].data[static_cast<size_t>(n * inputs + i)] * in[1].data[static_cast<size_t>(o * inputs + i)];
      y.push_back(sum);
    }
  return y;
}

inline std::vector<double> softmax(const NaiveValue &x) {
  std::vector<double> y = x.data;
  const auto row = static_cast<size_t>(x.shape.back());
  for (size_t at = 0; at < y.size(); at += row) {
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < row; ++i) largest = std::max(largest, y[at + i]);
    for (size_t i = 0; i < row; ++i) sum += y[at + i] = std::exp(y[at + i] - largest);
    for (size_t i = 0; i < row; ++i) y[at + i] /= sum;
  }
  return y;
}

inline std::vector<double> batch_norm(const std::vector<NaiveValue> &in, const Attributes &a) {
  std::vector<double> y = in[0].data;
  const Shape &s = in[0].shape;
  const int64_t pixels = elements(s) / s[0] / s[1];
  for (size_t i = 0; i < y.size(); ++i) {
    const auto c = static_cast<size_t>(static_cast<int64_t>(i) / pixels % s[1]);
    y[i] = (y[i] - in[1].data[c]) / std::sqrt(in[2].data[c] + a.real("epsilon")) * in[3].data[c] + in[4].data[c];
  }
  return y;
}

// The element of a broadcast operand that belongs to element i of the result.
inline double broadcast(const NaiveValue &v, const Shape &shape, size_t i) {
  size_t at = 0, stride = 1;
  for (size_t d = 0; d < v.shape.size(); ++d) {
    const auto extent = static_cast<size_t>(v.shape[v.shape.size() - 1 - d]),
               full = static_cast<size_t>(shape[shape.size() - 1 - d]);
    at += extent == 1 ? 0 : i % full * stride;
    stride *= extent;
    i /= full;
  }
  return v.data[at];
}

inline std::vector<double> compute(const Graph::Node &n, const std::vector<NaiveValue> &in, const Shape &shape) {
  if (n.operation == "conv2d") return conv2d(in, n.attributes, shape);
  if (n.operation == "dense") return dense(in, shape);
  if (n.operation == "max_pool2d") return pool(in, n.attributes, shape, true);
  if (n.operation == "average_pool2d") return pool(in, n.attributes, shape, false);
  if (n.operation == "softmax") return softmax(in[0]);
  if (n.operation == "batch_norm") return batch_norm(in, n.attributes);
  if (n.operation == "reshape" || n.operation == "identity") return in[0].data;
  std::vector<double> y(static_cast<size_t>(elements(shape)));
  for (size_t i = 0; i < y.size(); ++i) {
    const double a = broadcast(in[0], shape, i), b = in.size() > 1 ? broadcast(in[1], shape, i) : 0;
    if (n.operation == "relu")
      y[i] = std::max(a, 0.0);
    else if (n.operation == "sigmoid")
      y[i] = 1 / (1 + std::exp(-a));
    else if (n.operation == "add")
      y[i] = a + b;
    else if (n.operation == "subtract")
      y[i] = a - b;
    else if (n.operation == "multiply")
      y[i] = a * b;
    else
      ADD_FAILURE() << "the oracle does not know " << n.operation;
  }
  return y;
}

}  // namespace naive

// All values of a graph, given its inputs.
inline NaiveValues run_naively(const Graph &graph, const std::map<std::string, Tensor> &inputs) {
  NaiveValues values;
  for (const auto &[name, t] : inputs) values[name] = naive_value(t);
  for (const auto &[name, v] : graph.values)
    if (v.constant.defined()) values[name] = naive_value(v.constant);
  for (const Graph::Node &n : graph.nodes) {
    std::vector<NaiveValue> in;
    for (const std::string &i : n.inputs) in.push_back(values.at(i));
    const Shape &shape = graph.value(n.outputs[0]).shape;
    values[n.outputs[0]] = {shape, naive::compute(n, in, shape)};
    EXPECT_EQ(static_cast<int64_t>(values[n.outputs[0]].data.size()), elements(shape)) << n.outputs[0];
  }
  return values;
}

// The largest difference relative to the largest expected value or 1; infinite where either is not a number.
template <typename Got>
double relative_difference(const Got &got, const std::vector<double> &want) {
  double largest = 1, difference = 0;
  if (got.size() != want.size()) return INFINITY;
  for (size_t i = 0; i < want.size(); ++i) {
    largest = std::max(largest, std::fabs(want[i]));
    const double d = std::fabs(static_cast<double>(got[i]) - want[i]);
    if (!(d <= 1e300)) return INFINITY;
    difference = std::max(difference, d);
  }
  return difference / largest;
}

}  // namespace saltern
