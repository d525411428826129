// Calls and nets as people write them into files, beside the same in C++.

#include "runtime/nn/written.h"

#include <gtest/gtest.h>

#include "runtime/nn/all.h"
#include "runtime/nn/written_options.h"
#include "tests/errors.h"

namespace saltern::nn {
namespace {

TEST(Written, CallsHaveNamesAndArguments) {
  const WrittenCall c =
      written_call(" Conv2d ( 1, 32, (3, -5), padding = 1e-1, mode='a, b', flags=[True, None], x=.5 ) ");
  EXPECT_EQ(c.name, "Conv2d");
  ASSERT_EQ(c.positional.size(), 3U);
  EXPECT_EQ(to_string(Argument(c.positional)), "(1, 32, (3, -5))");
  EXPECT_EQ(to_string(c.named.at("padding")), "0.1");
  EXPECT_EQ(to_string(c.named.at("mode")), "'a, b'");
  EXPECT_EQ(to_string(c.named.at("flags")), "(True, None)");
  EXPECT_EQ(to_string(c.named.at("x")), "0.5");
  EXPECT_EQ(written_call("ReLU").name, "ReLU");
  EXPECT_TRUE(written_call("ReLU()").positional.empty());
}

TEST(Written, WhatDoesNotReadSoIsNamed) {
  for (const auto &[text, part] :
       {std::pair("Linear(3", "a comma or a bracket"), std::pair("Linear(3,", "a value"),
        std::pair("Linear(3) x", "no more"), std::pair("", "a name"), std::pair("3(4)", "a name"),
        std::pair("A('x)", "quotes"), std::pair("A(x=1, 2)", "by name"), std::pair("A(x=1, x=2)", "twice"),
        std::pair("A(ReLU())", "a number"), std::pair("A(-)", "a number"), std::pair("A([1 2])", "a comma")})
    expect_error([t = text] { written_call(t); }, {text, part});
  expect_error([] { written_call("A(" + std::string(100000, '(')); }, {"brackets"});
}

TEST(Written, LayersAreThoseOfTheTable) {
  manual_seed(3);
  Sequential written;
  for (const auto &layer :
       written_layers({"Linear(5, 4, bias=False)", "Sequential(ReLU(), Linear(4, 3))", "LeakyReLU"}))
    written.add(layer);
  manual_seed(3);
  const Layer first = Linear(5, 4, NamedArgument{"bias", false});  // its numbers are drawn first
  const Sequential inner(ReLU(), Linear(4, 3));
  Sequential net(first, inner, LeakyReLU());
  const Variable x = Random(1).uniform_tensor({2, 5}, -1, 1);
  EXPECT_EQ(written(x).value().reals(), net(x).value().reals());
  expect_error([] { written_layers({"ReLU()", "Linear(3)"}); }, {"layer 1", "Linear", "out_features"});
  expect_error([] { written_layers({"Lineal(3)"}); }, {"layer 0", "Lineal"});
}

TEST(Written, OptionsHaveTheOrderOfTheirTable) {
  const Options all = {{"lr", 0.1}, {"betas", Reals{0.9, 0.99}}, {"nesterov", no}, {"mode", std::string("min")}};
  const Attributes a = written_options(written_call("X(1, (0.5, 1), mode='max', nesterov=True)"), all);
  EXPECT_EQ(completed("X", all, a).real("lr"), 1);
  EXPECT_EQ(a.reals("betas"), (Reals{0.5, 1}));
  EXPECT_EQ(a.integer("nesterov"), yes);
  EXPECT_EQ(a.word("mode"), "max");
  EXPECT_FALSE(written_options(written_call("X(None)"), all).has("lr"));
  expect_error([&] { written_options(written_call("X(1, lr=2)"), all); }, {"X", "lr", "twice"});
  expect_error([&] { written_options(written_call("X(1, 2, 3, 4, 5)"), all); }, {"X", "4", "5"});
  expect_error([&] { written_options(written_call("X(betas=['a'])"), all); }, {"X", "betas", "'a'"});
}

}  // namespace
}  // namespace saltern::nn
