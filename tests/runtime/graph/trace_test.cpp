// From a net to a graph to a file and back; and runs of the graph give what the net gives.

#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <filesystem>

#include "runtime/graph/executor.h"
#include "runtime/graph/flops.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/text.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"
#include "runtime/tensor/checkpoint.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

struct Net : Module {
  nn::Layer first = nn::Linear(6, 6), second = nn::Linear(6, 3);
  Variable forward(const Variable &x) override { return second(first(first(x))); }
  void visit(Visitor &v) override {
    v.child("first", first);
    v.child("second", second);
  }
};

TEST(Trace, NamesConstantsAsTheNetDoesAndSharesThem) {
  Net net;
  const Graph g = trace(net, {2, 6});
  EXPECT_EQ(g.inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(g.outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(g.value("first.weight").shape, (Shape{6, 6}));
  int constants = 0;
  for (const auto &[name, v] : g.values) constants += v.constant.defined();
  EXPECT_EQ(constants, 4) << to_text(g);
  EXPECT_TRUE(net.training()) << "tracing leaves the net as it was";
  // The trace keeps its own copies: training on does not change it.
  const Tensor weight = net.first.parameter("weight").value();
  std::memset(weight.raw(), 0, weight.bytes());
  EXPECT_NE(g.value("first.weight").constant.data<float>()[0], 0);
}

TEST(Trace, InputThatIsNotUsedStaysAnInput) {
  const Variable x(Tensor::zeros({2})), other(Tensor::zeros({3}));
  const Recording recording;
  const Variable y = reshape(x, {1, 2});
  const Graph g = trace({{"x", x}, {"other", other}}, {{"y", y}}, {});
  EXPECT_EQ(g.inputs.size(), 2u);
}

// Each step has a constant of its own, so that the names of both kinds are found one after another.
TEST(Trace, OfAHundredThousandStepsTakesSeconds) {
  constexpr int steps = 100'000;
  const Variable x(Tensor::zeros({}));
  const Recording recording;
  Variable y = x;
  for (int i = 0; i < steps; ++i) y = y + 1.0;
  const std::clock_t begin = std::clock();  // of the processor: others may be at work
  const Graph g = trace({{"x", x}}, {{"y", y}}, {});
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5);
  ASSERT_EQ(g.nodes.size(), size_t{steps});
  EXPECT_EQ(g.nodes.back().inputs, (std::vector<std::string>{"add_99999", "constant_100000"}));
  EXPECT_EQ(g.nodes.back().outputs, std::vector<std::string>{"y"});
}

TEST(Trace, GivesNoValueTheNameOfAnother) {
  const Variable x(Tensor::zeros({})), other(Tensor::zeros({}));
  const Recording recording;
  const Variable a = x + other, b = a + other, c = b + other;
  const Graph g = trace({{"x", x}, {"add_1", other}}, {{"add_2", c}}, {});
  EXPECT_EQ(g.nodes[0].outputs, std::vector<std::string>{"add_3"});
  EXPECT_EQ(g.nodes[1].outputs, std::vector<std::string>{"add_4"});
  EXPECT_EQ(g.outputs, std::vector<std::string>{"add_2"});
}

TEST(ModelFile, RoundTripKeepsGraphAndConstants) {
  Net net;
  const Graph g = trace(net, {2, 6});
  const ScratchFolder folder;
  const std::string path = folder.file("net.salt");
  save_model(path, g);
  const Graph back = load_model(path);
  EXPECT_EQ(to_text(back), to_text(g));
  for (const auto &[name, v] : g.values) {
    if (!v.constant.defined()) continue;
    EXPECT_EQ(std::memcmp(v.constant.raw(), back.value(name).constant.raw(), v.constant.bytes()), 0) << name;
  }
}

TEST(ModelFile, BrokenFilesNameTheFileAndTheFault) {
  const ScratchFolder folder;
  const std::string path = folder.file("bad.salt");
  EXPECT_TRUE(contains(error_of([&] { load_model(path); }), path));
  Checkpoint c;
  c.tensors["w"] = Tensor::zeros({2});
  save_checkpoint(path, c);
  EXPECT_TRUE(contains(error_of([&] { load_model(path); }), "no graph"));
  c.metadata["graph"] = "saltern graph 1\nconstant w f32 [3]\noutput w\n";
  save_checkpoint(path, c);
  const std::string wrong_shape = error_of([&] { load_model(path); });
  EXPECT_NE(wrong_shape.find(path), std::string::npos);
  EXPECT_NE(wrong_shape.find("'w'"), std::string::npos);
  std::filesystem::resize_file(path, 20);
  EXPECT_TRUE(contains(error_of([&] { load_model(path); }), path));
}

TEST(Executor, GivesWhatTheLayerGives) {
  Random random(7);
  nn::Layer layer = nn::Linear(6, 5);
  const Graph g = trace(layer, {4, 6});
  const Tensor x = random.uniform_tensor({4, 6}, -1, 1);
  const Tensor got = run(g, {{"x", x}}).at("y"), want = layer(Variable(x)).value();
  EXPECT_EQ(std::memcmp(got.raw(), want.raw(), want.bytes()), 0);
}

TEST(Executor, GivesWhatANetOfImagesGivesAlsoFromAFile) {
  Random random(7);
  Sequential net(nn::Conv2d(3, 8, 3, 1, 1), nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2),
                 nn::Conv2d(8, 8, {3, 2}, {2, 1}, {1, 0}, 1, 8), nn::AvgPool2d(2, 1, 1), nn::Flatten(),
                 nn::Linear(8 * 4 * 6, 5), nn::Softmax(-1));
  const Tensor x = random.uniform_tensor({2, 3, 11, 13}, -1, 1);
  net(Variable(random.uniform_tensor({6, 3, 11, 13}, -1, 3)));  // in training: running statistics move from 0 and 1
  const Graph g = trace(net, {2, 3, 11, 13});
  std::map<std::string, int> operations;
  for (const Graph::Node &n : g.nodes) ++operations[n.operation];
  EXPECT_EQ(operations["conv2d"], 2) << to_text(g);
  for (const char *once : {"batch_norm", "max_pool2d", "average_pool2d", "dense", "softmax"})
    EXPECT_EQ(operations[once], 1) << once << "\n" << to_text(g);
  EXPECT_EQ(operations.count("batch_norm_training"), 0u);
  EXPECT_EQ(g.value("1.running_mean").shape, Shape{8});
  // Of two images: a product and a sum for each weight of a window, in two convolutions, and of the dense layer.
  EXPECT_EQ(flops(g), 2 * 2 * (8 * 11 * 13 * 3 * 3 * 3 + 8 * 3 * 5 * 3 * 2 + 5 * 8 * 4 * 6));

  net.eval();
  const Tensor want = net(Variable(x)).value();
  const ScratchFolder folder;
  save_model(folder.file("net.safetensors"), g);
  for (const Graph &tried : {g, load_model(folder.file("net.safetensors"))}) {
    const Tensor got = run(tried, {{"x", x}}).at("y");
    ASSERT_EQ(got.shape(), want.shape());
    EXPECT_EQ(std::memcmp(got.raw(), want.raw(), want.bytes()), 0);
  }
}

TEST(ModelFile, AMaskOfInfinitiesComesBack) {
  Random random(7);
  const Variable x(random.uniform_tensor({2, 5, 4}, -1, 1));
  const Recording recording;
  const Variable y = nn::scaled_dot_product_attention(x, x, x, nn::NamedArgument{"is_causal", true});
  const ScratchFolder folder;
  save_model(folder.file("net.safetensors"), trace({{"x", x}}, {{"y", y}}, {}));
  const Tensor got = run(load_model(folder.file("net.safetensors")), {{"x", x.value()}}).at("y");
  EXPECT_EQ(std::memcmp(got.raw(), y.value().raw(), got.bytes()), 0);
}

TEST(Executor, ErrorsNameTheCulprit) {
  nn::Layer layer = nn::Linear(6, 5);
  Graph g = trace(layer, {4, 6});
  EXPECT_TRUE(contains(error_of([&] { run(g, {}); }), "'x'"));
  EXPECT_TRUE(contains(error_of([&] { run(g, {{"x", Tensor::zeros({4, 7})}}); }), "[4, 7]"));
  g.nodes[0].inputs.resize(1);
  EXPECT_TRUE(contains(error_of([&] { run(g, {{"x", Tensor::zeros({4, 6})}}); }), "'y'"));
  g.nodes[0].operation = "fold_paper";
  EXPECT_TRUE(contains(error_of([&] { run(g, {{"x", Tensor::zeros({4, 6})}}); }), "fold_paper"));
}

}  // namespace
}  // namespace saltern
