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

}  // namespace
}  // namespace saltern
