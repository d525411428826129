#pragma once
// Buffers of reproducible random values, and comparison in which NaN counts as wrong.

#include <Halide.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace saltern {

inline Halide::Buffer<> random_buffer(const Halide::Type &type, const std::vector<int> &extents, double low,
                                      double high, unsigned seed) {
  Halide::Buffer<> b(type, extents);
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  const auto fill = [&](auto example) {
    using T = decltype(example);
    b.as<T>().for_each_value(
        [&](T &v) { v = static_cast<T>(type.is_float() ? uniform(rng) : std::floor(uniform(rng))); });
  };
  if (type == Halide::Float(32))
    fill(float());
  else if (type == Halide::Float(64))
    fill(double());
  else if (type == Halide::Int(32))
    fill(int32_t());
  else if (type == Halide::Int(64))
    fill(int64_t());
  else if (type == Halide::UInt(8))
    fill(uint8_t());
  else if (type == Halide::UInt(32))
    fill(uint32_t());
  else
    ADD_FAILURE() << "no random values of this type";
  return b;
}

template <typename T = float>
Halide::Buffer<T> random_buffer(const std::vector<int> &extents, unsigned seed, double low = -1, double high = 1) {
  return Halide::Buffer<T>(random_buffer(Halide::type_of<T>(), extents, low, high, seed));
}

// The largest difference, relative to the largest expected value or 1; infinite where either is not a number.
template <typename T>
double relative_difference(const Halide::Buffer<T> &got, const Halide::Buffer<T> &want) {
  double largest = 1, difference = 0;
  want.for_each_value([&](T v) { largest = std::max(largest, std::fabs(static_cast<double>(v))); });
  want.for_each_element([&](const int *at) {
    const double d = std::fabs(static_cast<double>(got(at)) - static_cast<double>(want(at)));
    if (!(d <= 1e300)) difference = INFINITY;
    difference = std::max(difference, d);
  });
  return difference / largest;
}

}  // namespace saltern
