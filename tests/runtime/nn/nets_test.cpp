// What one does with nets in C++: containers, sharing, freezing, hooks, printing, and the table of what they cost.

#include <gtest/gtest.h>

#include <sstream>

#include "runtime/autograd/backward.h"
#include "runtime/nn/all.h"
#include "runtime/optim/optimizer.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using namespace nn::literals;

struct Heads : Module {
  ModuleList blocks{nn::Linear(4, 4), nn::Linear(4, 4, "bias"_a = false)};
  ModuleDict heads;
  Heads() {
    heads.add("left", nn::Linear(4, 2));
    heads.add("right", std::make_shared<Sequential>(nn::Linear(4, 3), nn::Tanh()));
  }
  Variable forward(const Variable &x) override {
    Variable y = x;
    for (Module &block : blocks) y = relu(block(y));
    return concat({heads.at("left")(y), heads.at("right")(y)}, 1);
  }
  void visit(Visitor &v) override {
    v.child("blocks", blocks);
    v.child("heads", heads);
  }
};

TEST(Nets, ListsAndDictionariesNameTheirModules) {
  Heads net;
  std::vector<std::string> names;
  for (const auto &[name, p] : net.named_parameters()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"blocks.0.weight", "blocks.0.bias", "blocks.1.weight", "heads.left.weight",
                                             "heads.left.bias", "heads.right.0.weight", "heads.right.0.bias"}));
  EXPECT_EQ(net(Tensor::zeros({3, 4})).shape(), (Shape{3, 5}));
  EXPECT_EQ(net.blocks.size(), 2u);
  expect_error([&] { net.heads.at("middle"); }, {"no module 'middle'"});
  expect_error([&] { net.heads.add("left", nn::ReLU()); }, {"'left' already"});
  expect_error([&] { net.blocks(Tensor::zeros({3, 4})); }, {"ModuleList has no forward() of one input"});
}

TEST(Nets, ArePrintedAsPyTorchPrintsThem) {
  Heads net;
  net.eval();
  std::ostringstream text;
  text << net;
  EXPECT_EQ(text.str(),
            "Heads(\n"
            "  (blocks): ModuleList(\n"
            "    (0): Linear(in_features=4, out_features=4)\n"
            "    (1): Linear(in_features=4, out_features=4, bias=False)\n"
            "  )\n"
            "  (heads): ModuleDict(\n"
            "    (left): Linear(in_features=4, out_features=2)\n"
            "    (right): Sequential(\n"
            "      (0): Linear(in_features=4, out_features=3)\n"
            "      (1): Tanh()\n"
            "    )\n"
            "  )\n"
            ")");
}

TEST(Nets, FrozenParametersStayAndOthersLearn) {
  Sequential net(nn::Linear(3, 4), nn::Tanh(), nn::Linear(4, 1));
  net.at(0).requires_grad(false);
  SGD optimizer(net, {0.1});
  std::map<std::string, Tensor> before;
  for (const auto &[name, t] : net.state()) before[name] = t.clone();
  backward(sum(net(Tensor::full({2, 3}, 1))));
  optimizer.step();
  for (const auto &[name, t] : net.state()) EXPECT_EQ(t.reals() == before.at(name).reals(), name[0] == '0') << name;
  net.requires_grad();
  optimizer.clear_gradients();
  backward(sum(net(Tensor::full({2, 3}, 1))));
  for (const auto &[name, p] : net.named_parameters()) EXPECT_TRUE(p.gradient().defined()) << name;
  expect_error([] { sum(Variable(Tensor::zeros({2}), true)).set_requires_gradient(false); }, {"computed"});
  expect_error([] { Variable(Tensor::zeros({2}, Type::i64)).set_requires_gradient(true); }, {"i64"});
}

TEST(Nets, CopiesShareParametersAndClonesDoNot) {
  nn::Layer one = nn::Linear(2, 2), shares = one;
  const auto apart = one.cloned();
  one.parameter("weight").value().copy_from(Tensor::full({2, 2}, 7));
  EXPECT_EQ(shares.parameter("weight").value().reals(), std::vector<double>(4, 7));
  EXPECT_NE(apart->parameter("weight").value().reals(), std::vector<double>(4, 7));
  Sequential net(one, nn::ReLU(), shares);
  EXPECT_EQ(net.parameter_count(), 6);
}

TEST(Nets, HooksSeeWhatGoesThroughAndMayChangeIt) {
  Sequential net(nn::Linear(2, 2, false), nn::ReLU());
  std::vector<std::string> seen;
  const size_t before = net.at(1).register_forward_pre_hook(
      [&](Module &m, const Variable &x) { seen.push_back(m.class_name() + to_string(x.shape())); });
  const size_t behind = net.at(1).register_forward_hook([&](Module &m, const Variable &, const Variable &y) {
    seen.push_back(m.class_name() + " gave " + to_string(y.shape()));
    return y + 1.0;
  });
  dynamic_cast<nn::Layer &>(net.at(0)).parameter("weight").value().copy_from(Tensor::of<float>({2, 2}, {1, 0, 0, -1}));
  const Tensor x = Tensor::of<float>({1, 2}, {3, 5});
  EXPECT_EQ(net(x).value().reals(), (std::vector<double>{4, 1}));
  EXPECT_EQ(seen, (std::vector<std::string>{"ReLU[1, 2]", "ReLU gave [1, 2]"}));
  net.at(1).remove_hook(before);
  net.at(1).remove_hook(behind);
  EXPECT_EQ(net(x).value().reals(), (std::vector<double>{3, 0}));
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Nets, ASummaryCountsWhatEachLayerCosts) {
  Sequential net(nn::Conv2d(3, 8, 3, "padding"_a = 1), nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2),
                 Sequential(nn::Flatten(), nn::Linear(8 * 16 * 16, 10)));
  const Summary s = summary(net, {2, 3, 32, 32});
  ASSERT_EQ(s.rows().size(), 8u);
  const Summary::Row &all = s.rows()[0], &conv = s.rows()[1], &norm = s.rows()[2], &last = s.rows()[7];
  EXPECT_EQ(conv.name, "0");
  EXPECT_EQ(conv.kind, "Conv2d");
  EXPECT_EQ(conv.result, (Shape{2, 8, 32, 32}));
  EXPECT_EQ(conv.parameters, 8 * 3 * 9 + 8);
  EXPECT_EQ(conv.flops, 2.0 * 2 * 8 * 32 * 32 * 3 * 9);
  EXPECT_EQ(conv.bytes, 2 * 8 * 32 * 32 * 4);
  EXPECT_EQ(norm.parameters, 16);
  EXPECT_EQ(last.name, "4.1");
  EXPECT_EQ(last.flops, 2.0 * 2 * 2048 * 10);
  EXPECT_EQ(s.rows()[5].kind, "Sequential");
  EXPECT_EQ(s.rows()[5].flops, last.flops);
  EXPECT_EQ(all.flops, conv.flops + last.flops);
  EXPECT_EQ(all.parameters, net.parameter_count());
  EXPECT_TRUE(contains(s.text(), "    1: Linear")) << s.text();
  EXPECT_TRUE(contains(s.text(), "parameters take")) << s.text();
  EXPECT_TRUE(net.training()) << "it is left as it was";
  EXPECT_EQ(net.state().at("1.num_batches_tracked").integers()[0], 0);
}

// An LSTM of 2 gates-wide products a step, by its formula; a layer that is called twice has two rows.
TEST(Nets, ASummaryCountsFormulasAndLayersThatAreCalledTwice) {
  nn::Layer lstm = nn::LSTM(3, 5);
  EXPECT_EQ(summary(lstm, {4, 2, 3}).rows().at(0).flops, 2.0 * 4 * 2 * 20 * (3 + 5));
  auto shared = std::make_shared<nn::Layer>(nn::Linear(4, 4));
  Sequential net(shared, nn::LazyLinear(4), shared);
  const Summary s = summary(net, {1, 4});
  ASSERT_EQ(s.rows().size(), 4u);
  EXPECT_EQ(s.rows()[0].parameters, 40);
  EXPECT_EQ(s.rows()[0].flops, 3 * 2.0 * 16);
  EXPECT_EQ(s.rows()[2].kind, "LazyLinear");
}

}  // namespace
}  // namespace saltern
