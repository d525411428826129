// ONNX models: what is written comes back, what was trained here runs as ONNX, passes change nothing but the nodes, and
// bad files are refused with a reason.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "runtime/graph/executor.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/optimize.h"
#include "runtime/onnx/run_model.h"
#include "runtime/onnx/tensor_proto.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

Tensor counting(const Shape &shape) {
  const Tensor t = Tensor::empty(shape);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = 0.1F * static_cast<float>(i % 13) - 0.5F;
  return t;
}

Model empty_model() {
  Model m;
  m.ir_version = 10;
  m.opsets[""] = 21;
  return m;
}

// y = relu(x w + w2 - w2), with an Identity and a product of constants on the way.
Model wordy_model() {
  Model m = empty_model();
  Graph &g = m.graph;
  g.inputs = {"x"};
  g.values["x"] = {{-1, 3}, Type::f32, {}, {"batch", ""}};
  g.add_constant("w", counting({3, 4}));
  g.add_constant("two", Tensor::full({}, 2));
  g.nodes = {{"Mul", {}, {"w", "two"}, {"w2"}},     {"Identity", {}, {"x"}, {"same"}},
             {"MatMul", {}, {"same", "w2"}, {"a"}}, {"MatMul", {}, {"x", "w2"}, {"b"}},
             {"Add", {}, {"a", "b"}, {"sum"}},      {"Neg", {}, {"sum"}, {"nobody reads this"}},
             {"Relu", {}, {"sum"}, {"y"}}};
  g.outputs = {"y"};
  g.values["y"] = {{-1, 4}, Type::f32, {}, {"batch", ""}};
  return m;
}

void expect_near(const Tensor &got, const Tensor &want, double tolerance = 1e-5) {
  ASSERT_EQ(got.shape(), want.shape());
  const std::vector<double> a = got.reals(), b = want.reals();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::fabs(b[i]))) << i;
}

TEST(OnnxModel, WhatIsWrittenComesBackAndRunsAlike) {
  const ScratchFolder folder;
  const std::string path = folder.file("model.onnx");
  const Model m = wordy_model();
  save_onnx(path, m);
  const Model back = load_onnx(path);
  EXPECT_EQ(back.graph.inputs, m.graph.inputs);
  EXPECT_EQ(back.graph.value("x").symbols[0], "batch");
  const HostValues in = {{"x", counting({5, 3})}};
  expect_near(run_model(back, in).at("y").tensor(), run_model(m, in).at("y").tensor(), 0);
}

TEST(OnnxModel, AnExtentOfMinusOneIsOpenAndOtherNegativeOnesAreRefused) {
  const ScratchFolder folder;
  const std::string path = folder.file("model.onnx");
  save_onnx(path, wordy_model());
  onnx::ModelProto proto;
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(proto.ParseFromIstream(&in));
  const auto with_extent = [&](int64_t extent) {
    onnx::TypeProto &type = *proto.mutable_graph()->mutable_input(0)->mutable_type();
    type.mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(extent);
    return folder.write("extent.onnx", proto.SerializeAsString());
  };
  const Model open = load_onnx(with_extent(-1));
  EXPECT_EQ(open.graph.value("x").shape, (Shape{-1, 3}));
  EXPECT_EQ(run_model(open, {{"x", counting({5, 3})}}).at("y").tensor().shape(), (Shape{5, 4}));
  expect_error([&] { load_onnx(with_extent(-5)); }, {"'x'", "-5"});
}

TEST(OnnxModel, OptimisingTakesNodesAndChangesNoResult) {
  const Model m = wordy_model(), small = optimized(m);
  EXPECT_EQ(small.graph.nodes.size(), 3u);  // one product, the sum, the last
  const HostValues in = {{"x", counting({5, 3})}};
  expect_near(run_model(small, in).at("y").tensor(), run_model(m, in).at("y").tensor());
}

TEST(OnnxModel, ATrainedNetRunsAsOnnx) {
  nn::manual_seed(3);
  Sequential net(nn::Conv2d(1, 4, 3, 1, 1), nn::BatchNorm2d(4), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                 nn::Linear(4 * 4 * 4, 5), nn::Softmax(-1));
  net.eval();
  const Tensor x = counting({2, 1, 8, 8});
  const Graph traced = trace(net, x.shape());
  const Model m = onnx_of(traced);
  const Tensor want = net(Variable(x)).value();
  expect_near(run_model(m, {{"x", x}}).at("y").tensor(), want);
  expect_near(run(lower_model(m), {{"x", x}}).at("y"), want);
}

TEST(OnnxModel, LoopsRunAndUnroll) {
  // y = x doubled three times
  Model m = empty_model();
  auto body = std::make_shared<Graph>();
  body->inputs = {"turn", "going", "v"};
  body->values["turn"] = {{}, Type::i64};
  body->values["going"] = {{}, Type::boolean};
  body->values["v"] = {{2}, Type::f32};
  body->nodes = {{"Add", {}, {"v", "v"}, {"twice"}}, {"Identity", {}, {"going"}, {"on"}}};
  body->outputs = {"on", "twice"};
  m.graph.inputs = {"x"};
  m.graph.values["x"] = {{2}, Type::f32};
  m.graph.add_constant("count", Tensor::of<int64_t>({}, {3}));
  m.graph.add_constant("yes", Tensor::of<bool>({}, {true}));
  m.graph.nodes = {{"Loop", {{"body", SharedGraph(body)}}, {"count", "yes", "x"}, {"y"}}};
  m.graph.outputs = {"y"};
  m.graph.values["y"] = {{2}, Type::f32};
  const Tensor x = Tensor::of<float>({2}, {1, -3});
  const Tensor want = Tensor::of<float>({2}, {8, -24});
  expect_near(run_model(m, {{"x", x}}).at("y").tensor(), want, 0);
  expect_near(run(lower_model(m), {{"x", x}}).at("y"), want, 0);
}

// y = x + x or x * x, by the input c.
Model doubled_or_squared(const Shape &squared) {
  Model m = empty_model();
  const auto branch = [](const char *operation, const Shape &shape) {
    auto body = std::make_shared<Graph>();
    body->nodes = {{operation, {}, {"x", "x"}, {"z"}}, {"Reshape", {}, {"z", "shape"}, {"r"}}};
    body->add_constant("shape", Tensor::of<int64_t>({static_cast<int64_t>(shape.size())}, shape));
    body->outputs = {"r"};
    return SharedGraph(body);
  };
  m.graph.inputs = {"c", "x"};
  m.graph.values["c"] = {{1}, Type::boolean};
  m.graph.values["x"] = {{3}, Type::f32};
  m.graph.nodes = {
      {"If", {{"then_branch", branch("Add", {3})}, {"else_branch", branch("Mul", squared)}}, {"c"}, {"y"}}};
  m.graph.outputs = {"y"};
  m.graph.values["y"] = {{3}, Type::f32};
  return m;
}

TEST(OnnxModel, ABranchThatDataChoosesIsChosenInALoweredModelToo) {
  const Model m = doubled_or_squared({3});
  const Graph lowered = lower_model(m);
  const Tensor x = Tensor::of<float>({3}, {1, -3, 5});
  for (const bool c : {true, false}) {
    const Tensor condition = Tensor::of<bool>({1}, {c});
    const Tensor want = c ? Tensor::of<float>({3}, {2, -6, 10}) : Tensor::of<float>({3}, {1, 9, 25});
    expect_near(run_model(m, {{"c", condition}, {"x", x}}).at("y").tensor(), want, 0);
    expect_near(run(lowered, {{"c", condition}, {"x", x}}).at("y"), want, 0);
  }
  expect_error([] { lower_model(doubled_or_squared({1, 3})); }, {"If", "[3]", "[1, 3]"});
}

TEST(OnnxModel, ABranchThatDoesNotFitTheShapesIsNotANumber) {
  const Graph lowered = lower_model(doubled_or_squared({2, 2}));
  const Tensor x = Tensor::of<float>({3}, {1, -3, 5});
  const auto result = [&](bool c) { return run(lowered, {{"c", Tensor::of<bool>({1}, {c})}, {"x", x}}).at("y"); };
  expect_near(result(true), Tensor::of<float>({3}, {2, -6, 10}), 0);
  for (double v : result(false).reals()) EXPECT_TRUE(std::isnan(v));
}

TEST(OnnxModel, AClassifierEndsWithAMapForEachSample) {
  Model m = empty_model();
  m.opsets["ai.onnx.ml"] = 3;
  m.graph.inputs = {"x"};
  m.graph.values["x"] = {{-1, 2}, Type::f32};
  m.graph.nodes = {
      {"ZipMap", {{"classlabels_strings", std::vector<std::string>{"cat", "dog"}}}, {"x"}, {"y"}, "ai.onnx.ml"}};
  m.graph.outputs = {"y"};
  m.graph.values["y"].container = Graph::Container::sequence;
  const HostValue y = run_model(m, {{"x", Tensor::of<float>({2, 2}, {0.25F, 0.75F, 1, 0})}}).at("y");
  const ScratchFolder folder;
  write_value_file(folder.file("y.pb"), y, Graph::Container::sequence, "y");
  onnx::SequenceProto written;
  std::ifstream in(folder.file("y.pb"), std::ios::binary);
  ASSERT_TRUE(written.ParseFromIstream(&in));
  ASSERT_EQ(written.map_values_size(), 2);
  EXPECT_EQ(written.elem_type(), onnx::SequenceProto::MAP);
  const onnx::MapProto &first = written.map_values(0);
  EXPECT_EQ(first.string_keys(1), "dog");
  EXPECT_EQ(tensor_of(first.values().tensor_values(1), "").item(), 0.75);
  expect_error([&] { run_model(m, {{"x", Tensor::zeros({2, 3})}}); }, {"the model expects"});
}

TEST(OnnxModel, EveryUnknownOperatorIsNamedAtOnce) {
  Model m = wordy_model();
  m.graph.nodes.push_back({"Frobnicate", {}, {"y"}, {"z"}, "", "first"});
  m.graph.nodes.push_back({"Mystery", {}, {"y"}, {"z2"}, "own.domain", "second"});
  const std::string text = error_of([&] { run_model(m, {{"x", counting({1, 3})}}); });
  for (const char *part : {"Frobnicate", "first", "own.domain.Mystery", "second"})
    EXPECT_TRUE(contains(text, part)) << text;
  EXPECT_THROW(run_model(m, {}), Unsupported);
}

TEST(OnnxModel, WhatDoesNotFitIsNamed) {
  const Model m = wordy_model();
  EXPECT_TRUE(contains(error_of([&] { run_model(m, {}); }), "'x' is missing"));
  EXPECT_TRUE(contains(error_of([&] { run_model(m, {{"z", counting({1})}}); }), "no input 'z'"));
  EXPECT_TRUE(contains(error_of([&] { run_model(m, {{"x", counting({1, 4})}}); }), "the model expects"));
  EXPECT_TRUE(contains(error_of([&] { lower_model(m); }), "batch"));
  EXPECT_TRUE(contains(error_of([&] { lower_model(m, {{"x", {2, 9}}}); }), "'x'"));
}

TEST(OnnxModel, BadFilesAreRefused) {
  const ScratchFolder folder;
  EXPECT_TRUE(contains(error_of([&] { load_onnx(folder.file("none.onnx")); }), "none.onnx"));
  const std::string path = folder.file("model.onnx");
  save_onnx(path, wordy_model());
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (size_t length : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 1}) {
    const std::string cut = folder.write("cut.onnx", whole.substr(0, length));
    EXPECT_TRUE(contains(error_of([&] { load_onnx(cut); }), "cut.onnx")) << length;
  }
}

}  // namespace
}  // namespace saltern
