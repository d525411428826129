// What one computes with Variables in C++: parts, operators and functions by name, beside loops.

#include <gtest/gtest.h>

#include <set>

#include "runtime/autograd/backward.h"
#include "runtime/nn/all.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using namespace nn::literals;
using Numbers = std::vector<double>;

Tensor counting(const Shape &shape) {
  const Tensor t = Tensor::empty(shape);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>(i);
  return t;
}
Numbers numbers(const Variable &v) { return v.value().reals(); }

TEST(Parts, AreThoseOfNumPy) {
  const Variable x = counting({3, 4, 5});
  EXPECT_EQ(x[0].shape(), (Shape{4, 5}));
  EXPECT_EQ(numbers((x[{-1, 3, -2}])), Numbers{58});
  EXPECT_EQ(numbers((x[{0, slice(2, 5), 1}])), (Numbers{11, 16}));
  EXPECT_EQ((x[{0, slice(2, 5), all}]).shape(), (Shape{2, 5}));
  EXPECT_EQ(numbers((x[{1, 0, slice({}, {}, 2)}])), (Numbers{20, 22, 24}));
  EXPECT_EQ(numbers((x[{dots, slice(-1, {})}])[{0, all, 0}]), (Numbers{4, 9, 14, 19}));
  EXPECT_EQ((x[{all, new_axis, 1}]).shape(), (Shape{3, 1, 5}));
  EXPECT_EQ((x[{slice(2, 1)}]).shape(), (Shape{0, 4, 5}));
  const Tensor rows = Tensor::of<int64_t>({2}, {0, -1}), columns = Tensor::of<int64_t>({2}, {1, 3});
  EXPECT_EQ(numbers((x[{rows, columns, 0}])), (Numbers{5, 55}));
  EXPECT_EQ((x[{rows, all, columns}]).shape(), (Shape{2, 4}));
  EXPECT_EQ(numbers((x[{rows, all, columns}])), (Numbers{1, 6, 11, 16, 43, 48, 53, 58}));
  EXPECT_EQ(numbers(x[x > 57.0]), (Numbers{58, 59}));
  EXPECT_EQ((x[{all, Tensor::of<bool>({4}, {true, false, true, true})}]).shape(), (Shape{3, 3, 5}));
}

TEST(Parts, HaveGradients) {
  const Variable x(counting({2, 3}), true);
  backward(sum((x[{all, Tensor::of<int64_t>({3}, {0, 0, 2})}]) * 2.0) + sum(x[{1, slice(0, {}, 2)}]));
  EXPECT_EQ(x.gradient().value().reals(), (Numbers{4, 0, 2, 5, 0, 3}));
}

TEST(Parts, ThatAreNotThereAreNamed) {
  const Variable x = counting({3, 4});
  EXPECT_THROW(x[3], BadIndex);
  expect_error([&] { x[-4]; }, {"index -4 of a dimension of 3"});
  expect_error([&] { x[{0, 0, 0}]; }, {"3 indices for a tensor of 2 dimensions"});
  expect_error([&] { x[{dots, dots}]; }, {"more than one"});
  expect_error([&] { x[Tensor::of<int64_t>({1}, {7})]; }, {"names 7", "3 elements"});
  expect_error([&] { x[Tensor::full({1}, 1)]; }, {"f32", "whole numbers"});
  expect_error([&] { x[Tensor::full({3, 3}, 1, Type::boolean)]; }, {"a mask of [3, 3]", "[3, 4]"});
  expect_error([&] { x[slice(2, 0, -1)]; }, {"a step of -1"});
}

TEST(Operators, BroadcastAndCompare) {
  const Variable a = counting({3, 1}), b = counting({4});
  EXPECT_EQ((a * 10.0 + b).shape(), (Shape{3, 4}));
  EXPECT_EQ(numbers(a * 10.0 + b)[7], 13);
  EXPECT_EQ(numbers(a < b), (Numbers{0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(numbers(b >= 2), (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(numbers(1 != b), (Numbers{1, 0, 1, 1}));
  EXPECT_EQ(numbers((b > 0) & ~(b == 2.0)), (Numbers{0, 1, 0, 1}));
}

TEST(Functions, OfTheTableHaveANameInCpp) {
  std::set<std::string> named, rows;
#define NAMED(NAME) named.insert(#NAME);
  SALTERN_FOR_EACH_FUNCTION_OF_ONE_RESULT(NAMED)
  SALTERN_FOR_EACH_FUNCTION_OF_TWO_RESULTS(NAMED)
  SALTERN_FOR_EACH_FUNCTION_OF_A_LIST(NAMED)
#undef NAMED
  // Those that begin with a dash are parts that others are made of; functions.h says of which others there is no name.
  for (const nn::Function *f : nn::all_functions())
    if (f->name()[0] != '_' && f->name().find('.') == std::string::npos) rows.insert(f->name());
  for (const char *gives_no_tensor : {"allclose", "equal"}) EXPECT_EQ(rows.erase(gives_no_tensor), 1u);
  EXPECT_EQ(named, rows);
}

TEST(Functions, AreCalledByPlaceAndByName) {
  const Variable a = counting({2, 3}), b = counting({3, 2});
  EXPECT_EQ(numbers(nn::einsum("ij,jk->ik", {a, b})), (Numbers{10, 13, 28, 40}));
  EXPECT_EQ(nn::cat({a, a}, "dim"_a = 1).shape(), (Shape{2, 6}));
  EXPECT_EQ(nn::stack({a, a, a}).shape(), (Shape{3, 2, 3}));
  const nn::List parts = nn::split(a, {1, 2}, 1);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(numbers(parts[1]), (Numbers{1, 2, 4, 5}));
  EXPECT_EQ(numbers(nn::where(a > 2.0, a, 0.0)), (Numbers{0, 0, 0, 3, 4, 5}));
  const Tensor index = Tensor::of<int64_t>({2, 1}, {2, 0});
  EXPECT_EQ(numbers(nn::gather(a, 1, index)), (Numbers{2, 3}));
  EXPECT_EQ(numbers(nn::scatter_add(a, 1, index, Tensor::full({2, 1}, 10))), (Numbers{0, 1, 12, 13, 4, 5}));
  EXPECT_EQ(numbers(nn::cumsum(a, 0)), (Numbers{0, 1, 2, 3, 5, 7}));
  const auto [sorted, places] = nn::sort(a, "descending"_a = true);
  EXPECT_EQ(numbers(sorted), (Numbers{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(numbers(places), (Numbers{2, 1, 0, 2, 1, 0}));
  EXPECT_EQ(numbers(nn::topk(a, 1).first), (Numbers{2, 5}));
  EXPECT_EQ(numbers(nn::sum(a, "dim"_a = {0, 1})), Numbers{15});
  expect_error([&] { nn::softmax("dim"_a = 1); }, {"softmax needs the argument 'input'"});
  expect_error([&] { nn::softmax(a, "dim"_a = 1, 2); }, {"an argument by place, 2, stands behind one by name"});
  expect_error([&] { nn::max(a, 1); }, {"one tensor was expected"});
}

}  // namespace
}  // namespace saltern
