// Nets that were trained and saved here go through every command: pooled by sums and means, with a layer of their own,
// constant. What a command cannot do with one it refuses with exit code 3, and names the layer.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/fashion_mnist/net.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/optim/training_step.h"
#include "runtime/tensor/npz.h"
#include "tests/apps/run_program.h"
#include "tests/apps/small_models.h"

namespace saltern {
namespace {

using nlohmann::json;

class SavedNets : public testing::Test {
 protected:
  Said saltern(const std::string &arguments) {
    return run_program("saltern", arguments + " --threads 1", "SALTERN_CACHE=" + folder.file("cache"));
  }

  void expect_good(const std::string &arguments) {
    const Said said = saltern(arguments);
    EXPECT_EQ(said.code, 0) << arguments << ": " << said.all;
  }

  std::string saved(const Graph &graph) {
    const std::string path = folder.file("net.safetensors");
    save_model(path, graph);
    write_npz(data, graph.inputs.empty() ? std::map<std::string, Tensor>{{"unused", counting({1})}}
                                         : std::map<std::string, Tensor>{
                                               {graph.inputs[0], counting(graph.value(graph.inputs[0]).shape)}});
    return path;
  }

  // All that needs no ONNX.
  void expect_runs_and_compiles(const Graph &graph) {
    const std::string net = saved(graph);
    expect_good("info " + net);
    expect_good("run " + net + (graph.inputs.empty() ? "" : " --inputs " + data));
    expect_good("verify " + net);
    expect_good("bench " + net + " --seconds 0.01");
    expect_good("bench " + net + " --compiled --seconds 0.01");
    expect_good("compile " + net + " -o " + folder.file("out"));
  }

  void expect_converts(const Graph &graph) {
    const std::string onnx = folder.file("net.onnx");
    expect_good("convert " + saved(graph) + " -o " + onnx);
    expect_good("run " + onnx + (graph.inputs.empty() ? "" : " --inputs " + data));
    expect_good("verify " + onnx + " --no-compiled --plain");
  }

  // What a net becomes gives what it gave, here and in ONNX Runtime, and ONNX's own checker has nothing against it.
  void expect_same_runs(const std::string &net, const std::string &onnx) {
    expect_good("run " + net + " --inputs " + data + " --outputs " + folder.file("ours.npz"));
    expect_good("run " + onnx + " --inputs " + data + " --outputs " + folder.file("onnx.npz"));
    int code = 0;
    read_all(SALTERN_PYTHON
                 " -c 'import sys, numpy, onnx, onnxruntime; model, inputs, outputs = sys.argv[1:]; "
                 "onnx.checker.check_model(model, full_check=True); session = onnxruntime.InferenceSession(model); "
                 "numpy.savez(outputs, y=session.run(None, dict(numpy.load(inputs)))[0])' " +
                 onnx + " " + data + " " + folder.file("others.npz"),
             code);
    EXPECT_EQ(code, 0);
    const Tensor ours = read_npz(folder.file("ours.npz")).begin()->second;
    for (const char *file : {"onnx.npz", "others.npz"}) {
      const Tensor theirs = read_npz(folder.file(file)).begin()->second;
      ASSERT_EQ(ours.shape(), theirs.shape());
      for (int64_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours.data<float>()[i], theirs.data<float>()[i], 1e-5);
    }
  }

  const ScratchFolder folder;
  const std::string data = folder.file("data.npz");
  Random random{1};
};

struct Pooled : Module {
  nn::Layer conv = nn::Conv2d(3, 8, 3), last = nn::Linear(8, 5);
  Variable forward(const Variable &x) override {
    const Variable h = relu(conv(x)), pooled = reshape(mean(h, {2, 3}), {x.shape()[0], 8});
    return last(pooled - expand(sum(pooled, {1}), pooled.shape()) * 0.1);
  }
  void visit(Visitor &v) override {
    v.child("conv", conv);
    v.child("last", last);
  }
};

TEST_F(SavedNets, OneWithMeansSumsAndRepetitionsGoesThroughEveryCommand) {
  Pooled net;
  const Graph graph = trace(net, {2, 3, 9, 9});
  expect_runs_and_compiles(graph);
  expect_good("verify " + folder.file("net.safetensors") + " --layers --plain");
  expect_converts(graph);
}

TEST_F(SavedNets, AnOpenBatchStaysOpenThroughEveryCommand) {
  Pooled net;
  const std::string path = folder.file("net.safetensors"), onnx = folder.file("net.onnx");
  save_model(path, trace(net, {"batch", 3, 9, 9}));
  const std::string open = "[\"batch\",3,9,9]", shape = " --shape x=4,3,9,9";
  const auto input_shape = [&](const std::string &model) {
    return json::parse(saltern("info --json " + model).out)["inputs"][0]["shape"].dump();
  };
  EXPECT_EQ(input_shape(path), open);
  EXPECT_TRUE(contains(saltern("info " + path).out, "x f32 [batch, 3, 9, 9]"));
  expect_good("verify " + path + shape + " --layers --plain");
  expect_good("gradients " + path + shape);
  expect_good("bench " + path + shape + " --compiled --seconds 0.01");
  expect_good("compile " + path + " --dynamic batch -o " + folder.file("out"));
  expect_good("convert " + path + " -o " + onnx);
  EXPECT_EQ(input_shape(onnx), open);
  for (int64_t batch : {1, 5}) {
    write_npz(data, {{"x", random.uniform_tensor({batch, 3, 9, 9}, -1, 1)}});
    expect_same_runs(path, onnx);
  }
  for (const std::string &command : {"compile " + path + " -o " + folder.file("out"), "bench " + path}) {
    const Said said = saltern(command);
    EXPECT_EQ(said.code, 2) << command << ": " << said.all;
    EXPECT_TRUE(contains(said.all, "extent 0 (batch) of the input 'x' is open"));
  }
  EXPECT_TRUE(contains(saltern("compile " + path + " --shape x=4,3,9,8 -o out").all, "[batch, 3, 9, 9]"));
}

TEST_F(SavedNets, ImagesOfAnySizeGoThroughEveryCommand) {
  struct Images : Module {
    nn::Layer halved = nn::Conv2d(3, 8, 3, 2, 1), again = nn::Conv2d(8, 8, 3, 2), norm = nn::BatchNorm2d(8),
              last = nn::Linear(8, 5);
    Variable forward(const Variable &x) override {
      const Variable h = again(relu(norm(halved(x)))), rows = transpose(max_pool2d(h, 2), {0, 2, 3, 1});
      const Shape &s = rows.shape();
      const Variable each = reshape(last(reshape(rows, {s[0] * s[1] * s[2], 8})), {s[0], s[1] * s[2], 5});
      return each - mean(each, {1, 2});
    }
    void visit(Visitor &v) override {
      v.child("halved", halved);
      v.child("again", again);
      v.child("norm", norm);
      v.child("last", last);
    }
  } net;
  const std::string path = folder.file("net.safetensors"), onnx = folder.file("net.onnx");
  save_model(path, trace(net, {"batch", 3, "height", "width"}));
  EXPECT_TRUE(contains(saltern("info " + path).out, "x f32 [batch, 3, height, width]"));
  expect_good("verify " + path + " --shape x=2,3,21,26 --layers --plain");
  expect_good("compile " + path + " --shape x=2,3,24,24 -o " + folder.file("out"));
  expect_good("convert " + path + " -o " + onnx);
  for (const Shape &shape : {Shape{1, 3, 16, 19}, Shape{3, 3, 33, 24}}) {
    write_npz(data, {{"x", random.uniform_tensor(shape, -1, 1)}});
    expect_same_runs(path, onnx);
  }
  const Said said = saltern("verify " + path + " --shape x=2,3,4,26");
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.all, "(conv2d)")) << said.all;
}

TEST_F(SavedNets, TheDemosNetIsVerifiedLayerByLayer) {
  Sequential net = fashion_net();
  const std::string path = saved(trace(net, {1, 1, 28, 28}));
  const Said said = saltern("verify " + path + " --layers --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const json all = json::parse(said.out);
  int pools = 0;
  for (const json &row : all["values"]) pools += row["operation"] == "max_pool2d";
  EXPECT_GE(pools, 1);
}

Graph net_with_own_layer(const std::string &operation) {
  Graph g;
  g.add_input("x", {5, 3});
  g.add_constant("w", counting({16, 3}));
  g.add_constant("scale", counting({16}));
  g.add_node("dense", {"x", "w"}, "h", {5, 16});
  g.add_node(operation, {"h", "scale"}, "t", {5, 16});
  g.add_node("relu", {"t"}, "y", {5, 16});
  g.outputs = {"y"};
  return g;
}

const Operation own_norm("own_norm", [](Value x, Value scale) {
  const Value d = x - mean(x, {-1});
  return scale * d / sqrt(mean(d * d, {-1}) + 1e-5);
});
struct OwnNorm : Module {
  Variable scale{Tensor::full({8}, 2), /*requires_gradient=*/true};
  Variable forward(const Variable &x) override { return own_norm(x, scale); }
  void visit(Visitor &v) override { v.parameter("scale", scale); }
};

TEST_F(SavedNets, ALayerOfOnesOwnGoesThroughEveryCommand) {
  Sequential net(nn::Linear(3, 8), OwnNorm(), nn::Linear(8, 2));
  const Graph graph = trace(net, {5, 3});
  expect_runs_and_compiles(graph);
  expect_converts(graph);
  expect_same_runs(saved(graph), folder.file("net.onnx"));
  EXPECT_TRUE(contains(saltern("info " + folder.file("net.onnx")).out, "saltern.own_norm"));
}

TEST_F(SavedNets, ALayerThatThisProgramLacksIsNotSupportedAndNamed) {
  // There is a kernel of the second name, which is no operation.
  for (const char *operation : {"no_such_layer", "batch_norm_statistics"}) {
    const std::string net = saved(net_with_own_layer(operation));
    for (const std::string &command :
         {"run " + net + " --inputs " + data, "verify " + net, "bench " + net, "bench --compiled " + net,
          "compile " + net + " -o " + folder.file("out"), "convert " + net + " -o " + folder.file("net.onnx")}) {
      const Said said = saltern(command);
      EXPECT_EQ(said.code, 3) << command << ": " << said.all;
      EXPECT_TRUE(contains(said.all, "(" + std::string(operation) + ")")) << command;
    }
  }
}

TEST_F(SavedNets, AConstantOneGoesThroughEveryCommand) {
  Graph g;
  g.add_constant("y", counting({2, 3}));
  g.outputs = {"y"};
  expect_runs_and_compiles(g);
  expect_converts(g);
}

TEST_F(SavedNets, OneThatDoesNotLookAtItsInputIsConstant) {
  struct Same : Module {
    Variable forward(const Variable &) override { return relu(Variable(counting({2, 3}))); }
  } net;
  const Graph graph = trace(net, {1, 4});
  expect_runs_and_compiles(graph);
  expect_converts(graph);
}

TEST_F(SavedNets, LayersWithNothingToCompareThemWithAreBadUsage) {
  const std::string net = saved(small_net());
  const Said said = saltern("verify " + net + " --no-compiled --layers");
  EXPECT_EQ(said.code, 2) << said.all;
  EXPECT_TRUE(contains(said.all, "--plain"));
  EXPECT_EQ(said.out, "");
}

TEST_F(SavedNets, ParametersAreWeightsNotShapesOrSingleNumbers) {
  Graph g;
  g.inputs = {"x"};
  g.values["x"] = {{2, 3}, Type::f32, {}, {}};
  g.add_constant("w", counting({3, 4}));
  g.add_constant("half", Tensor::full({}, 0.5));
  g.add_constant("shape", Tensor::of<int64_t>({1}, {8}));
  g.nodes = {
      {"MatMul", {}, {"x", "w"}, {"h"}}, {"Mul", {}, {"h", "half"}, {"s"}}, {"Reshape", {}, {"s", "shape"}, {"y"}}};
  g.outputs = {"y"};
  g.values["y"] = {{8}, Type::f32, {}, {}};
  const std::string path = folder.file("model.onnx");
  save_onnx(path, model_of(g));
  EXPECT_EQ(json::parse(saltern("info --json " + path).out)["parameters"], 12);
  EXPECT_EQ(json::parse(saltern("convert --json " + path + " -o " + folder.file("out.onnx")).out)["parameters"], 12);
}

TEST_F(SavedNets, ATrainingStepTellsItsStateAndIsNoOnnx) {
  Sequential net(nn::Linear(4, 5), nn::BatchNorm1d(5), nn::Tanh(), nn::Linear(5, 2));
  const Graph step =
      training_step(net, Tensor::outline({3, 4}), Tensor::outline({3, 2}), mean_squared_error, SGD(net, {0.1, 0.9}));
  const std::string path = saved(step);
  write_npz(data, {{"x", counting({3, 4})}, {"labels", counting({3, 2})}});
  const json facts = json::parse(saltern("info " + path + " --json").out);
  std::vector<std::string> names;
  for (const json &s : facts.at("state")) names.push_back(s.at("name"));
  for (const char *name : {"0.weight", "momentum.0.weight", "steps.3.bias", "1.running_var", "rate"})
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  EXPECT_EQ(facts.at("inputs").size(), 2u);
  EXPECT_EQ(facts.at("outputs").size(), 1u);
  EXPECT_GE(facts.at("state_bytes").get<int64_t>(), 2 * (4 * 5 + 5 + 5 + 5 + 5 * 2 + 2) * 4);
  expect_good("run " + path + " --inputs " + data + " --outputs " + folder.file("loss.npz"));
  EXPECT_EQ(read_npz(folder.file("loss.npz")).size(), 1u);
  expect_good("run " + path + " --compiled --inputs " + data);
  expect_good("verify " + path);
  expect_good("bench " + path + " --seconds 0.01");
  expect_good("bench " + path + " --compiled --seconds 0.01");
  expect_good("compile " + path + " -o " + folder.file("out"));
  const Said said = saltern("convert " + path + " -o " + folder.file("net.onnx"));
  EXPECT_EQ(said.code, 3) << said.all;
  EXPECT_TRUE(contains(said.all, "keeps state"));
}

}  // namespace
}  // namespace saltern
