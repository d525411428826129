// The evaluator of formulas, against loops written out.

#include "runtime/formula/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/thread_pool.h"
#include "runtime/tensor/random.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using namespace formula;

Tensor counting(const Shape &shape) {
  const Tensor t = Tensor::empty(shape);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>(i % 1000) * 0.5F - 3;
  return t;
}

TEST(Evaluate, AWeightedWindowOfAnyLength) {
  for (int64_t n : {1, 2, 255, 256, 257, 5000}) {
    const Tensor x = counting({n});
    // Half of the neighbour before, where there is one.
    const Expression before = select(axis(0) < 1, constant(Type::f32, 0), load(0, Type::f32, {axis(0) - 1}));
    const Tensor y = evaluate(load(0, Type::f32, {axis(0)}) + before * 0.5, {x}, {n});
    for (int64_t i = 0; i < n; ++i) {
      const float expected = x.data<float>()[i] + (i > 0 ? x.data<float>()[i - 1] * 0.5F : 0);
      ASSERT_EQ(y.data<float>()[i], expected) << i << " of " << n;
    }
  }
}

TEST(Evaluate, AMatrixProductOfAnyStrides) {
  const Tensor a = counting({5, 7}), b = counting({6, 7});
  const Tensor turned = b.viewed({7, 6}, {1, 7});
  const Expression sum = reduce(Function::sum, {7}, [](const auto &k) {
    return load(0, Type::f32, {axis(0), k[0]}) * load(1, Type::f32, {k[0], axis(1)});
  });
  const Tensor y = evaluate(sum, {a, turned}, {5, 6});
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 6; ++j) {
      double expected = 0;
      for (int64_t k = 0; k < 7; ++k) expected += double{a.at<float>({i, k})} * b.at<float>({j, k});
      EXPECT_FLOAT_EQ(y.at<float>({i, j}), static_cast<float>(expected));
    }
}

TEST(Evaluate, SlicesAndRepeatedRowsOfOperandsInAnyMemoryOrder) {
  // y(i, j, k) = x(2i + 1, 6 - j, k) + row(j): backwards, every second one, repeated; over several blocks.
  const Tensor rows = counting({7});
  const Tensor plain = counting({9, 7, 33}), memory = counting({33, 9, 7});
  for (const Tensor &x : {plain, memory.viewed({9, 7, 33}, {7, 1, 63})}) {
    const Expression e = load(0, Type::f32, {axis(0) * 2 + 1, 6 - axis(1), axis(2)}) + load(1, Type::f32, {axis(1)});
    const Tensor y = evaluate(e, {x, rows}, {4, 7, 33});
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 7; ++j)
        for (int64_t k = 0; k < 33; ++k)
          ASSERT_EQ(y.at<float>({i, j, k}), x.at<float>({2 * i + 1, 6 - j, k}) + rows.at<float>({j}));
  }
}

TEST(Evaluate, TheResultLiesInMemoryAsItsOperandDoes) {
  const Shape shape = {2, 5, 1, 70};
  const Tensor image = counting({2, 70, 1, 5}).viewed(shape, {350, 1, 999, 5}), scale = counting({5, 1, 1});
  const Expression here = load(1, Type::f32, {axis(0), axis(1), axis(2), axis(3)});
  const Expression e = load(0, Type::f32, {axis(1), constant_integer(Type::i64, 0), constant_integer(Type::i64, 0)}) *
                       (here + cast(Type::f32, axis(3)));
  const Tensor y = evaluate(e, {scale, image}, shape, Order::of_operands);
  EXPECT_TRUE(y.is_dense());
  EXPECT_EQ(y.strides()[1], 1);
  EXPECT_EQ(evaluate(e, {scale, image}, shape).strides(), dense_strides(shape, Layout::row_major));
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 5; ++c)
      for (int64_t i = 0; i < 70; ++i)
        ASSERT_EQ(y.at<float>({n, c, 0, i}),
                  scale.at<float>({c, 0, 0}) * (image.at<float>({n, c, 0, i}) + static_cast<float>(i)));
}

TEST(Evaluate, OperandsThatAreNotThereAreNamed) {
  const Tensor x = counting({3});
  for (const Order order : {Order::row_major, Order::of_operands}) {
    expect_error([&] { evaluate(load(1, Type::f32, {axis(0)}), {x}, {3}, order); }, {"operand 1 of 1"});
    expect_error([&] { evaluate(load(0, Type::f32, {axis(0), axis(0)}), {x}, {3}, order); }, {"operand 0", "rank 2"});
    expect_error([&] { evaluate(load(0, Type::i32, {axis(0)}), {x}, {3}, order); }, {"operand 0", "i32"});
    expect_error([&] { evaluate(load(0, Type::f32, {axis(1)}), {x}, {3}, order); }, {"axis 1"});
  }
}

TEST(Evaluate, WhatIsTheSameForAllElementsIsComputedOnce) {
  const Tensor x = counting({1000});
  const Expression mean =
      reduce(Function::sum, {1000}, [](const auto &s) { return load(0, Type::f32, {s[0]}); }) / 1000;
  const Tensor y = evaluate(load(0, Type::f32, {axis(0)}) - mean, {x}, {1000});
  for (int64_t i = 0; i < 1000; ++i) ASSERT_FLOAT_EQ(y.data<float>()[i], x.data<float>()[i] - 246.75F) << i;
}

TEST(Evaluate, IntegersWrapAndNeverTrap) {
  const auto result = [](Function f, Type type, int64_t a, int64_t b) {
    return evaluate(call(f, constant_integer(type, a), constant_integer(type, b)), {}, {}).integers()[0];
  };
  EXPECT_EQ(result(Function::add, Type::i8, 127, 1), -128);
  EXPECT_EQ(result(Function::multiply, Type::u8, 16, 17), 16);
  EXPECT_EQ(result(Function::subtract, Type::u16, 0, 1), 65535);
  EXPECT_EQ(result(Function::add, Type::i64, INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(result(Function::divide, Type::i64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(result(Function::divide, Type::i32, 5, 0), 0);
  EXPECT_EQ(result(Function::modulo, Type::i32, 5, 0), 0);
  EXPECT_EQ(result(Function::divide, Type::i32, -7, 2), -3);
  EXPECT_EQ(result(Function::remainder, Type::i32, -7, 2), -1);
  EXPECT_EQ(result(Function::modulo, Type::i32, -7, 2), 1);
  EXPECT_EQ(result(Function::modulo, Type::i32, 7, -2), -1);
  EXPECT_EQ(result(Function::power, Type::i32, -3, 3), -27);
  EXPECT_EQ(result(Function::shift_left, Type::u8, 1, 8), 0);
  EXPECT_EQ(result(Function::shift_left, Type::u8, 1, 70), 0);
}

TEST(Evaluate, NotANumberIsTheMaximumOfAnything) {
  const Tensor x = Tensor::of<float>({3}, {1, NAN, 2});
  const auto over = [&](Function f) {
    return evaluate(reduce(f, {3}, [](const auto &s) { return load(0, Type::f32, {s[0]}); }), {x}, {});
  };
  EXPECT_TRUE(std::isnan(over(Function::greatest).item()));
  EXPECT_TRUE(std::isnan(over(Function::least).item()));
  EXPECT_EQ(over(Function::first_greatest).item(), 1);
}

TEST(Evaluate, PlacesOfEqualElements) {
  const Tensor x = Tensor::of<int32_t>({5}, {3, 7, 1, 7, 1});
  const auto place = [&](Function f) {
    return evaluate(reduce(f, {5}, [](const auto &s) { return load(0, Type::i32, {s[0]}); }), {x}, {}).item();
  };
  EXPECT_EQ(place(Function::first_greatest), 1);
  EXPECT_EQ(place(Function::last_greatest), 3);
  EXPECT_EQ(place(Function::first_least), 2);
  EXPECT_EQ(place(Function::last_least), 4);
}

TEST(Evaluate, AReductionInsideAReduction) {
  // sum over i of (the greatest of row i)
  const Tensor x = Tensor::of<float>({2, 3}, {1, 5, 2, 9, 4, 3});
  const Expression e = reduce(Function::sum, {2}, [](const auto &i) {
    return reduce(Function::greatest, {3}, [&](const auto &j) { return load(0, Type::f32, {i[0], j[0]}); });
  });
  EXPECT_EQ(evaluate(e, {x}, {}).item(), 14);
}

TEST(Evaluate, ReductionsOfNothing) {
  const auto nothing = [](Function f, Type type) {
    return evaluate(reduce(f, {0}, [&](const auto &) { return constant(type, 5); }), {}, {}).item();
  };
  EXPECT_EQ(nothing(Function::sum, Type::f32), 0);
  EXPECT_EQ(nothing(Function::product, Type::i64), 1);
  EXPECT_EQ(nothing(Function::greatest, Type::f32), -INFINITY);
  EXPECT_EQ(nothing(Function::greatest, Type::i8), -128);
  EXPECT_EQ(nothing(Function::least, Type::u8), 255);
}

TEST(Evaluate, IndicesPastTheEdgeReadSomethingAndNeverCrash) {
  const Tensor x = counting({4}), empty = Tensor::empty({0});
  const Tensor y = evaluate(load(0, Type::f32, {axis(0) * 1000000 - 5000000}), {x}, {9});
  for (int64_t i = 0; i < 9; ++i) EXPECT_TRUE(std::isfinite(y.data<float>()[i]));
  EXPECT_EQ(evaluate(select(axis(0) < 0, load(0, Type::f32, {axis(0)}), constant(Type::f32, 2)), {empty}, {1}).item(),
            2);
}

TEST(Evaluate, ConversionsBetweenAllTypesKeepSmallNumbers) {
  for (const TypeFacts &from : all_types())
    for (const TypeFacts &to : all_types()) {
      if (from.type == Type::text || to.type == Type::text) continue;
      for (double v : {0.0, 1.0}) {
        if (v == 0 && (from.type == Type::f8e8m0 || to.type == Type::f8e8m0)) continue;  // has no zero
        const bool lacks_one = from.type == Type::i2 && v > 1;
        if (lacks_one) continue;
        const Tensor x = Tensor::full({3}, v, from.type);
        const Tensor y = evaluate(cast(to.type, load(0, from.type, {axis(0)})), {x}, {3});
        EXPECT_EQ(y.type(), to.type);
        for (double got : y.reals()) EXPECT_EQ(got, v) << from.name << " to " << to.name;
      }
    }
}

TEST(Evaluate, TheSameBitsOnAnyNumberOfThreads) {
  const Tensor x = counting({100, 333});
  const Expression e = reduce(Function::sum, {333}, [](const auto &s) {
    return exp(load(0, Type::f32, {axis(0), s[0]}) * 0.01);
  });
  set_threads(1);
  const Tensor one = evaluate(e, {x}, {100});
  set_threads(3);
  const Tensor three = evaluate(e, {x}, {100});
  EXPECT_EQ(one.reals(), three.reals());
}

}  // namespace
}  // namespace saltern
