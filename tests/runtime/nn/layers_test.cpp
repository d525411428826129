// Layers by name, from C++. Their results and gradients are tested from Python (tests/python), which has the same rows.

#include <gtest/gtest.h>

#include <set>

#include "runtime/autograd/backward.h"
#include "runtime/nn/all.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using namespace nn::literals;
using nn::Argument;
using nn::Signature;

TEST(Layers, AllOfTheTableHaveANameInCpp) {
  std::set<std::string> named, rows;
#define NAMED(NAME) named.insert(#NAME);
  SALTERN_FOR_EACH_LAYER(NAMED)
#undef NAMED
  // Those that begin with a dash are parts that others are made of.
  for (const nn::LayerRow *row : nn::all_layers())
    if (row->name()[0] != '_') rows.insert(row->name());
  EXPECT_EQ(named, rows);
}

TEST(Layers, AreMadeByPlaceAndByName) {
  nn::Layer linear = nn::Linear(3, 2, "bias"_a = false);
  EXPECT_EQ(linear.parameter_count(), 6);
  EXPECT_FALSE(linear.has_parameter("bias"));
  linear.parameter("weight").value().copy_from(Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const Variable y = linear(Variable(Tensor::of<float>({1, 3}, {1, 0, -1})));
  EXPECT_EQ(y.value().reals(), (std::vector<double>{-2, -2}));
}

TEST(Layers, MakeNets) {
  nn::manual_seed(1);
  Sequential net(nn::Linear(2, 16), nn::Tanh(), nn::Dropout("p"_a = 0.5), nn::Linear(16, 1));
  EXPECT_EQ(net.named_parameters()[2].first, "3.weight");
  net.eval();
  const Variable x(Tensor::full({4, 2}, 0.5));
  EXPECT_EQ(net(x).value().reals(), net(x).value().reals());
  backward(sum(net(x)));
  for (const auto &[name, p] : net.named_parameters()) EXPECT_TRUE(p.gradient().defined()) << name;
}

TEST(Layers, SameSeedSameParameters) {
  nn::manual_seed(3);
  nn::Layer one = nn::Conv2d(2, 4, 3);
  nn::manual_seed(3);
  nn::Layer other = nn::Conv2d(2, 4, 3);
  EXPECT_EQ(one.parameter("weight").value().reals(), other.parameter("weight").value().reals());
}

TEST(Layers, BetweenBracesAreMadeFromLeftToRight) {
  nn::manual_seed(5);
  nn::Layer first = nn::Linear(4, 4);
  nn::manual_seed(5);
  const Sequential net{nn::Linear(4, 4), nn::Linear(4, 4)};
  auto &begins = dynamic_cast<nn::Layer &>(net.at(0));
  EXPECT_EQ(begins.parameter("weight").value().reals(), first.parameter("weight").value().reals());
}

TEST(Layers, ACloneHasMemoryOfItsOwn) {
  nn::Layer one = nn::PReLU();
  const auto other = one.cloned();
  one.parameter("weight").value().data<float>()[0] = 7;
  EXPECT_EQ(other->parameter("weight").value().item(), 0.25);
}

TEST(Signatures, BindWhatPythonWould) {
  const Signature s("input, kernel_size, stride=None, *, mode='a, b', sizes=(1, 2.5)");
  const nn::Arguments a = s.bind("f", {Argument(1), Argument({2, 3})}, {{"mode", "c"}});
  EXPECT_EQ(a.integers("kernel_size", 2), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(a.integers("input", 3), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_FALSE(a.has("stride"));
  EXPECT_EQ(a.word("mode"), "c");
  EXPECT_EQ(a.reals("sizes"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(s.bind("f", {1, 2}).word("mode"), "a, b");
}

TEST(Signatures, SayWhatIsWrong) {
  const Signature s("input, size, *, mode='a'");
  expect_error([&] { s.bind("f", {1}); }, {"f needs the argument 'size'"});
  expect_error([&] { s.bind("f", {1, 2, 3}); }, {"f takes 2 arguments by place"});
  expect_error([&] { s.bind("f", {1, 2}, {{"size", 3}}); }, {"'size' was given twice"});
  expect_error([&] { s.bind("f", {1, 2}, {{"sise", 3}}); }, {"f has no argument 'sise'"});
  const nn::Arguments a = s.bind("f", {1, {1, 2, 3}});
  expect_error([&] { a.integers("size", 2); }, {"f: 'size' is (1, 2, 3); expected integers, one or 2"});
  expect_error([&] { a.word("mode", {"b", "c"}); }, {"'mode' is 'a'; expected one of 'b', 'c'"});
  expect_error([&] { a.variable("size"); }, {"'size' is (1, 2, 3); expected a tensor"});
  expect_error([&] { nn::make("Lineal", {}); }, {"there is no layer 'Lineal'"});
}

}  // namespace
}  // namespace saltern
