// Elementwise kernels through the registry, with the strides that broadcasting and transposing make, and with outputs
// in the memory of their inputs.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/kernels/instruction_set.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/thread_pool.h"

namespace saltern {
namespace {

Tensor ramp(Shape shape, float step) {
  Tensor t = Tensor::empty(std::move(shape));
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = std::sin(1 + step * static_cast<float>(i));
  return t;
}

struct Strides {
  const char *what;
  int64_t a[5], b[5];
};

// Extents 19, 3, 2, 5, 1, innermost first, by every way that strides come about.
TEST(Elementwise, BroadcastsAndTransposesByStrides) {
  const int64_t e[5] = {19, 3, 2, 5, 1};
  const Strides cases[] = {
      {"both dense", {1, 19, 57, 114, 570}, {1, 19, 57, 114, 570}},
      {"b is one number", {1, 19, 57, 114, 570}, {0, 0, 0, 0, 0}},
      {"a is one number", {0, 0, 0, 0, 0}, {1, 19, 57, 114, 570}},
      {"b is a row", {1, 19, 57, 114, 570}, {1, 0, 0, 0, 0}},
      {"b is a column", {1, 19, 57, 114, 570}, {0, 1, 0, 3, 0}},
      {"both are broadcast", {0, 1, 0, 3, 0}, {1, 0, 19, 0, 0}},
      {"a is transposed", {30, 10, 5, 1, 570}, {1, 19, 57, 114, 570}},
  };
  const Tensor a = ramp({570}, 0.7f), b = ramp({570}, 1.3f), y = Tensor::empty({570});
  const auto view = [&](const Tensor &t, const int64_t(&s)[5]) {
    return View(t, {{e[0], s[0]}, {e[1], s[1]}, {e[2], s[2]}, {e[3], s[3]}, {e[4], s[4]}});
  };
  for (InstructionSet set : available_instruction_sets()) {
    const LimitInstructionSet limit(set);
    for (const Strides &c : cases) {
      call("subtract", {view(a, c.a), view(b, c.b), view(y, {1, 19, 57, 114, 570})});
      for (int64_t i = 0; i < 570; ++i) {
        const int64_t at[5] = {i % 19, i / 19 % 3, i / 57 % 2, i / 114, 0};
        int64_t in_a = 0, in_b = 0;
        for (int d = 0; d < 5; ++d) in_a += at[d] * c.a[d], in_b += at[d] * c.b[d];
        ASSERT_EQ(y.data<float>()[i], a.data<float>()[in_a] - b.data<float>()[in_b])
            << c.what << ", element " << i << ", " << name(set);
      }
    }
  }
}

TEST(Copy, WritesAnyLayout) {
  // Shape (n, c, y, x) = (2, 3, 5, 7): from row major to channels last and back.
  const Tensor planes = ramp({210}, 0.7f), pixels = Tensor::empty({210}), back = Tensor::empty({210});
  const auto row_major = [](const Tensor &t) { return View(t, {{7, 1}, {5, 7}, {3, 35}, {2, 105}, {1, 210}}); };
  const auto channels_last = [](const Tensor &t) { return View(t, {{7, 3}, {5, 21}, {3, 1}, {2, 105}, {1, 210}}); };
  call("copy", {row_major(planes), channels_last(pixels)});
  call("copy", {channels_last(pixels), row_major(back)});
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t at = 0; at < 35; ++at) {
        ASSERT_EQ(pixels.data<float>()[c + 3 * at + 105 * n], planes.data<float>()[at + 35 * c + 105 * n]);
        ASSERT_EQ(back.data<float>()[at + 35 * c + 105 * n], planes.data<float>()[at + 35 * c + 105 * n]);
      }
}

// Extents about those of a transposition's blocks, and the input dense along the dimension `dense` of the output.
TEST(Copy, TransposesBlocksOfAnySize) {
  for (InstructionSet set : available_instruction_sets()) {
    const LimitInstructionSet limit(set);
    for (const int dense : {1, 2})
      for (const int64_t across : {7, 8, 17, 37})
        for (const int64_t along : {15, 16, 33, 71}) {
          int64_t e[4] = {across, 3, 3, 2}, s[4];
          e[dense] = along;
          const int64_t size = across * along * 6;
          s[dense] = 1, s[0] = along, s[3 - dense] = along * across, s[3] = size / 2;
          const Tensor x = ramp({size}, 0.7f), y = ramp({size}, 0.3f);
          call("copy", {View(x, {{e[0], s[0]}, {e[1], s[1]}, {e[2], s[2]}, {e[3], s[3]}, {1, size}}),
                        View(y, {{e[0], 1}, {e[1], e[0]}, {e[2], e[0] * e[1]}, {e[3], size / 2}, {1, size}})});
          for (int64_t i = 0; i < size; ++i) {
            const int64_t at[4] = {i % e[0], i / e[0] % e[1], i / (e[0] * e[1]) % e[2], i / (size / 2)};
            ASSERT_EQ(y.data<float>()[i], x.data<float>()[at[0] * s[0] + at[1] * s[1] + at[2] * s[2] + at[3] * s[3]])
                << across << " x " << along << ", dense along " << dense << ", element " << i << ", " << name(set);
          }
        }
  }
}

TEST(Elementwise, MayWriteOverItsInput) {
  const Tensor x = ramp({40003}, 0.1f), y = x.clone();
  call("square", {flat(y), flat(y)});
  for (int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(y.data<float>()[i], x.data<float>()[i] * x.data<float>()[i]) << i;
}

TEST(Elementwise, GivesTheSameBitsWithOneThreadOrTwo) {
  const Tensor x = ramp({100003}, 0.1f), one = Tensor::like(x), two = Tensor::like(x);
  const int before = threads();
  set_threads(1);
  call("gelu", {flat(x), flat(one)});
  set_threads(2);
  call("gelu", {flat(x), flat(two)});
  set_threads(before);
  for (int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(one.data<float>()[i], two.data<float>()[i]) << i;
}

TEST(Elementwise, RefusesAnOutputOfAnotherShape) {
  const Tensor x = ramp({10}, 0.1f), y = Tensor::empty({11});
  EXPECT_THROW(call("square", {flat(x), flat(y)}), Error);
}

}  // namespace
}  // namespace saltern
