#pragma once
// Random numbers that are the same everywhere: value i of a seed is a hash of (seed, i), so the whole state is two
// integers, and a stream can be stopped and taken up again.

#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

class Random {
 public:
  explicit Random(uint64_t seed, uint64_t position = 0) : seed_(seed), position_(position) {}

  uint64_t seed() const { return seed_; }
  uint64_t position() const { return position_; }

  // 64 random bits.
  uint64_t bits() { return mixed(seed_ + 0x9e3779b97f4a7c15ull * ++position_); }
  // In [0, 1), with the 24 bits that a float holds.
  float uniform() { return static_cast<float>(bits() >> 40) * 0x1p-24f; }
  float uniform(float low, float high) { return low + (high - low) * uniform(); }
  // In [0, bound), each as likely.
  uint64_t below(uint64_t bound) {
    if (bound == 0) fail("a random number below 0 was asked for");
    const uint64_t most = UINT64_MAX - UINT64_MAX % bound;
    uint64_t b = bits();
    while (b >= most) b = bits();
    return b % bound;
  }
  // Of mean 0 and variance 1 (Box and Muller).
  float normal() {
    const double radius = std::sqrt(-2 * std::log(1 - static_cast<double>(uniform())));
    return static_cast<float>(radius * std::cos(6.283185307179586 * static_cast<double>(uniform())));
  }

  // In row-major order of the shape, whatever the layout: the same values for the same shape.
  Tensor uniform_tensor(const Shape &shape, float low, float high, Layout layout = Layout::row_major) {
    return filled(shape, layout, [&] { return uniform(low, high); });
  }
  Tensor normal_tensor(const Shape &shape, Layout layout = Layout::row_major) {
    return filled(shape, layout, [&] { return normal(); });
  }

 private:
  // The finalizer of SplitMix64.
  static uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  template <typename Draw>
  static Tensor filled(const Shape &shape, Layout layout, const Draw &draw) {
    const Tensor t = Tensor::empty(shape);
    for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = draw();
    return t.in_layout(layout);
  }

  uint64_t seed_, position_;
};

}  // namespace saltern
