#pragma once
// Pictures of noise, what a transform makes of them, and the same by loops.

#include <gtest/gtest.h>

#include "runtime/transforms/all.h"

namespace saltern::transforms {

inline Tensor picture(const Shape &shape, uint64_t seed = 5) { return Random(seed).uniform_tensor(shape, 0, 1); }
inline Tensor bytes(const Shape &shape, uint64_t seed = 5) {
  const Tensor t = Tensor::empty(shape, Type::u8);
  Random random(seed);
  for (int64_t i = 0; i < t.size(); ++i) t.data<uint8_t>()[i] = static_cast<uint8_t>(random.below(256));
  return t;
}
inline Tensor made(const Transform &t, const Tensor &x, uint64_t seed = 1) {
  Random random(seed);
  return t(x, random);
}
inline void expect_near(const Tensor &y, const Tensor &wanted, double tolerance) {
  ASSERT_EQ(y.shape(), wanted.shape());
  ASSERT_EQ(y.type(), wanted.type());
  const std::vector<double> a = y.reals(), b = wanted.reals();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}
// y(c, i, j) = f(c, i, j)
template <typename F>
Tensor by_loops(const Shape &shape, const F &f) {
  const Tensor y = Tensor::empty(shape);
  for (int64_t c = 0; c < shape[0]; ++c)
    for (int64_t i = 0; i < shape[1]; ++i)
      for (int64_t j = 0; j < shape[2]; ++j) y.at<float>({c, i, j}) = static_cast<float>(f(c, i, j));
  return y;
}
inline float at(const Tensor &x, int64_t c, int64_t i, int64_t j) { return x.at<float>({c, i, j}); }

}  // namespace saltern::transforms
