// Tensors: shapes, strides, sharing, and errors that name what is wrong. Memory: alignment and reuse.

#include "runtime/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "runtime/tensor/memory.h"
#include "runtime/tensor/print.h"
#include "runtime/tensor/view.h"
#include "tests/errors.h"

namespace saltern {
namespace {

Tensor counted(const Shape &shape) {
  std::vector<float> values(elements(shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::of(shape, values);
}

TEST(Tensor, MemoryIsAlignedForVectors) {
  for (int64_t n : {1, 7, 17, 100003}) EXPECT_EQ(reinterpret_cast<uintptr_t>(Tensor::empty({n}).raw()) % 64, 0u) << n;
}

TEST(Tensor, CopiesShareMemoryAndClonesDoNot) {
  const Tensor a = counted({2, 3}), b = a, c = a.clone();
  a.at<float>({1, 2}) = 42;
  EXPECT_EQ(b.at<float>({1, 2}), 42);
  EXPECT_EQ(c.at<float>({1, 2}), 5);
  EXPECT_FALSE(a.is_unique());
  EXPECT_TRUE(c.is_unique());
}

std::string printed(const Tensor &t) {
  std::ostringstream out;
  out << t;
  return out.str();
}

TEST(Tensor, ElementsArePrinted) {
  EXPECT_EQ(printed(Tensor::of<float>({2, 2}, {1, -2.5, 0, 30})),
            "[[ 1.0000, -2.5000],\n [ 0.0000, 30.0000]] f32[2, 2]");
  EXPECT_EQ(printed(counted({2, 2, 1}).in_layout(Layout::channels_last)),
            "[[[0.0000],\n  [1.0000]],\n\n [[2.0000],\n  [3.0000]]] f32[2, 2, 1]");
  EXPECT_EQ(printed(Tensor::of<double>({3}, {1e-9, NAN, -INFINITY})), "[1.0000e-09,        nan,       -inf] f64[3]");
  EXPECT_EQ(printed(Tensor::full({2}, 7, Type::bf16)), "[7.0000, 7.0000] bf16[2]");
  EXPECT_EQ(printed(Tensor::of<uint64_t>({1}, {~uint64_t{0}})), "[18446744073709551615] u64[1]");
  EXPECT_EQ(printed(Tensor::full({}, 1, Type::boolean)), "true bool[]");
  EXPECT_EQ(printed(Tensor::empty({0, 3})), "[] f32[0, 3]");
  EXPECT_EQ(printed(counted({2000})),
            "[   0.0000,    1.0000,    2.0000, ..., 1997.0000, 1998.0000, 1999.0000] f32[2000]");
  EXPECT_EQ(printed(counted({400, 3})).substr(0, 30), "[[   0.0000,    1.0000,    2.0");
  EXPECT_EQ(printed(Tensor::outline({2, 3})), "f32[2, 3]");
  EXPECT_EQ(printed(Tensor()), "an undefined tensor");
}

TEST(Tensor, ChannelsLastKeepsElementsUnderTheirIndices) {
  for (const Shape &shape : {Shape{1, 1, 1, 1}, Shape{2, 3, 5, 7}, Shape{3, 1, 4, 2}, Shape{2, 3, 5}, Shape{4, 5}}) {
    const Tensor a = counted(shape), b = a.in_layout(Layout::channels_last);
    EXPECT_TRUE(b.has_layout(Layout::channels_last));
    EXPECT_TRUE(b.is_dense());
    Shape index(shape.size(), 0);
    for (int64_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a.at<float>(index), b.at<float>(index)) << to_string(index) << " of " << to_string(shape);
      for (int d = a.rank() - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
    }
    const Tensor back = b.in_layout(Layout::row_major);
    for (int64_t i = 0; i < a.size(); ++i) EXPECT_EQ(back.data<float>()[i], a.data<float>()[i]);
  }
}

TEST(Tensor, OneChannelIsBothLayoutsWithoutACopy) {
  const Tensor a = counted({4, 1, 5, 3});
  EXPECT_EQ(a.in_layout(Layout::channels_last).raw(), a.raw());
}

TEST(Tensor, SlicesAreViews) {
  const Tensor a = counted({4, 3}), s = a.slice(0, 1, 2);
  EXPECT_EQ(s.shape(), (Shape{2, 3}));
  EXPECT_EQ(s.at<float>({0, 0}), 3);
  s.at<float>({1, 2}) = -1;
  EXPECT_EQ(a.at<float>({2, 2}), -1);
  EXPECT_FALSE(a.slice(1, 0, 2).is_dense());
}

TEST(Tensor, ReshapeKeepsRowMajorOrder) {
  const Tensor a = counted({2, 6}).reshaped({3, 4});
  EXPECT_EQ(a.at<float>({2, 1}), 9);
  expect_error([] { counted({2, 6}).reshaped({5, 2}); }, {"[2, 6]", "[5, 2]"});
  expect_error([] { counted({2, 3, 2, 2}).in_layout(Layout::channels_last).reshaped({24}); }, {"row-major"});
}

TEST(Tensor, CopyConvertsStridesAndRefusesOtherShapes) {
  const Tensor to = Tensor::empty({2, 3, 4, 5}, Type::f32, Layout::channels_last), from = counted({2, 3, 4, 5});
  to.copy_from(from);
  EXPECT_EQ(to.at<float>({1, 2, 3, 4}), 119);
  // Runs of elements that lie side by side in both, and none.
  for (const int axis : {0, 1, 2, 3}) {
    const Tensor part = from.slice(axis, 1, 1), whole = counted({3, 3, 5, 6}).slice(0, 0, 2);
    const Tensor place = whole.slice(1, 0, part.extent(1)).slice(2, 1, part.extent(2)).slice(3, 1, part.extent(3));
    const Tensor into = place.slice(0, 0, part.extent(0));
    into.copy_from(part);
    EXPECT_EQ(into.reals(), part.reals()) << axis;
    EXPECT_EQ(whole.at<float>({1, 2, 4, 0}), 174);
  }
  expect_error([&] { to.copy_from(counted({2, 3})); }, {"[2, 3]", "[2, 3, 4, 5]"});
  expect_error([&] { to.copy_from(Tensor::zeros({2, 3, 4, 5}, Type::i32)); }, {"i32", "f32"});
}

TEST(Tensor, FullHasTheValueInEveryType) {
  for (Type type : {Type::f32, Type::f64, Type::i32, Type::i64, Type::u8, Type::boolean})
    EXPECT_EQ(Tensor::full({1}, 1, type).item(), 1) << facts(type).name;
}

TEST(Tensor, ErrorsNameTheCulprit) {
  const Tensor a = counted({2, 3});
  expect_error([&] { a.data<int32_t>(); }, {"f32", "i32"});
  expect_error([&] { a.at<float>({2, 0}); }, {"[2, 0]", "[2, 3]"});
  expect_error([&] { a.at<float>({1}); }, {"[1]", "[2, 3]"});
  expect_error([&] { a.item(); }, {"[2, 3]"});
  for (int d : {2, -3}) expect_error([&] { a.extent(d); }, {"[2, 3]", std::to_string(d)});
  expect_error([&] { a.slice(1, 2, 2); }, {"[2, 4)", "[2, 3]"});
  expect_error([] { Tensor::of<float>({2, 2}, {1, 2, 3}); }, {"[2, 2]", "3"});
  expect_error([] { Tensor::empty({int64_t{1} << 40, int64_t{1} << 40}); }, {"too large"});
  expect_error([] { Tensor::empty({0, int64_t{1} << 40, int64_t{1} << 40}); }, {"too large"});
  expect_error([] { Tensor::empty({2, -1}); }, {"[2, -1]", "negative"});
  expect_error([] { flat(Tensor()); }, {"undefined"});
}

TEST(View, ShowsImagesInnermostFirst) {
  const Tensor a = Tensor::empty({2, 6, 5, 7}, Type::f32, Layout::channels_last);
  View v = grouped_image(a, 3);
  const halide_buffer_t &b = *v.buffer();
  const std::vector<std::pair<int, int>> wanted = {{2, 1}, {3, 2}, {7, 6}, {5, 42}, {2, 210}};
  ASSERT_EQ(b.dimensions, 5);
  for (int d = 0; d < 5; ++d) {
    EXPECT_EQ(b.dim[d].extent, wanted[d].first) << d;
    EXPECT_EQ(b.dim[d].stride, wanted[d].second) << d;
  }
  expect_error([&] { grouped_image(a, 4); }, {"6 channels", "4 groups"});
  expect_error([] { image(Tensor::empty({2, 3})); }, {"[2, 3]"});
  expect_error([] { flat(Tensor::empty({4, 4}).slice(1, 0, 2)); }, {"[4, 2]", "holes"});
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Memory, FreedBlocksAreUsedAgain) {
  void *first = Tensor::empty({1 << 20}).raw();
  EXPECT_EQ(Tensor::empty({1 << 20}).raw(), first);
}
#endif

TEST(Memory, WhatDoesNotFitIsRefusedBeforeItIsTried) {
  EXPECT_THROW(Tensor::empty({int64_t{1} << 45}), OutOfMemory);  // Linux might promise it
  set_memory_limit(memory_use().in_use + (size_t{8} << 20));
  const Tensor first = Tensor::empty({1 << 20});  // 4 MB
  EXPECT_THROW(Tensor::empty({3 << 20}), OutOfMemory);
  set_memory_limit(0);
  EXPECT_NO_THROW(Tensor::empty({3 << 20}));
}

TEST(Memory, ABudgetCountsWhatWasFreedToo) {
  {
    const AllocationBudget budget(1000);
    Tensor::empty({100});
    Tensor::empty({100});
    expect_error([] { Tensor::empty({100}); }, {"400 bytes", "200"});
  }
  EXPECT_NO_THROW(Tensor::empty({1000}));
}

TEST(Memory, WhatIsKeptIsBoundedAndCanBeReleased) {
  for (int64_t n = 1; n < 40; ++n) Tensor::empty({n * 50000});  // ever other sizes
  const MemoryUse use = memory_use();
  EXPECT_LE(use.in_use + use.kept, 2 * use.most_in_use);
  release_kept_memory();
  EXPECT_EQ(memory_use().kept, 0u);
}

}  // namespace
}  // namespace saltern
