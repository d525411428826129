// State of compiled models: training steps, and whatever else a run leaves for the next one.

#include <gtest/gtest.h>

#include "generators/model/compiled_graph.h"
#include "generators/targets.h"
#include "tests/compiled_graph.h"
#include "tests/errors.h"
#include "tests/training_problems.h"

namespace saltern {
namespace {

generators::CompileOptions options_for(const std::string &folder, const std::string &target) {
  static const generators::TemporaryFolder cache;
  generators::CompileOptions options = {"net", folder, {target}};
  options.cache = cache.path();
  return options;
}

// A graph with state, compiled.
class Compiled {
 public:
  explicit Compiled(const Graph &graph, int threads = 1, const std::string &target = generators::best_target_here()) {
    generators::CompileOptions options = options_for(folder_.path(), target);
    options.shared = true;
    library_ =
        std::make_unique<CompiledLibrary>(generators::compile_model(graph, options).shared_library, "net", threads);
  }
  State run(const State &inputs) const {
    std::vector<Tensor> given;
    for (const auto &e : library_->inputs()) given.push_back(inputs.at(e.name));
    const std::vector<Tensor> made = library_->run(given);
    State outputs;
    for (size_t i = 0; i < made.size(); ++i) outputs[library_->outputs()[i].name] = made[i];
    return outputs;
  }
  State state() const {
    State all;
    for (size_t i = 0; i < library_->states().size(); ++i) all[library_->states()[i].name] = library_->state(i);
    return all;
  }

 private:
  generators::TemporaryFolder folder_;
  std::unique_ptr<CompiledLibrary> library_;
};

Graph step_of(const Problem &problem, const std::function<Graph(Sequential &, const Batch &)> &made) {
  Random data(6);
  Sequential net = problem.net();
  return made(net, problem.batch(data));
}

template <typename Rule, typename Options>
Graph step_with(const Problem &problem, const Options &options) {
  return step_of(problem, [&](Sequential &net, const Batch &batch) {
    return training_step(net, batch.x, batch.labels, problem.loss, Rule(net, options));
  });
}

void expect_steps_of_the_executor(const Problem &problem, const Graph &step, int threads, const std::string &target) {
  const Compiled compiled(step, threads, target);
  State state;
  Random data(7);
  for (int i = 0; i < 6; ++i) {
    const Batch batch = problem.batch(data);
    const State inputs = {{"x", batch.x}, {"labels", batch.labels}};
    expect_close(compiled.run(inputs), run(step, inputs, state));
    expect_close(compiled.state(), state);
  }
  EXPECT_EQ(compiled.state().size(), step.state.size());
}

TEST(CompiledTraining, StepsAsTheExecutorDoesWithVectorsOfEverySize) {
  for (const Problem &problem : {pictures(), rows()})
    for (const generators::TargetFacts &target : generators::all_targets())
      if (target.kind == "cpu" && target.name != "sse41" && target.runs_here)
        expect_steps_of_the_executor(problem, step_with<SGD>(problem, SgdOptions{0.1, 0.9, 0.01, 0.5}), 1, target.name);
}

TEST(CompiledTraining, StepsAsTheExecutorDoesWithEveryOptimizer) {
  const std::string here = generators::best_target_here();
  for (const Problem &problem : {pictures(), rows()}) {
    expect_steps_of_the_executor(problem, step_with<SGD>(problem, SgdOptions{0.1}), 2, here);
    expect_steps_of_the_executor(problem, step_with<SGD>(problem, SgdOptions{0.1, 0.9, 0, 0, true}), 3, here);
    // A bias before a batch norm has no gradient but rounding errors, which a small epsilon would make steps of.
    const AdamOptions adam = {0.01, 0.9, 0.999, 1e-2, 0.01};
    expect_steps_of_the_executor(problem, step_with<Adam>(problem, adam), 1, here);
    expect_steps_of_the_executor(problem, step_with<AdamW>(problem, adam), 2, here);
  }
}

// One for each kind of formula: numbers that go from step to step, choices by them, sums of all elements, products.
TEST(CompiledTraining, StepsAsTheExecutorDoesWithOtherOptimizers) {
  Problem problem = rows();
  problem.net = [] {  // without a bias that has no gradient but rounding errors
    nn::manual_seed(5);
    return Sequential(nn::Linear(6, 8), nn::Tanh(), nn::Linear(8, 2));
  };
  for (const auto &[name, options] : std::vector<std::pair<std::string, Attributes>>{
           {"nadam", {{"eps", 1e-2}}},
           {"radam", {{"eps", 1e-2}, {"betas", Reals{0.9, 0.9}}}},
           {"rmsprop", {{"eps", 1e-2}, {"momentum", 0.5}, {"centered", yes}}},
           {"adafactor", {{"eps", Reals{1e-2, 1e-3}}}},
           {"keras.lamb", {{"epsilon", 1e-2}}},
           {"keras.muon", {{"epsilon", 1e-2}}}})
    expect_steps_of_the_executor(problem,
                                 step_of(problem,
                                         [&](Sequential &net, const Batch &batch) {
                                           return training_step(net, batch.x, batch.labels, problem.loss,
                                                                optimizer(name, net, options));
                                         }),
                                 1, generators::best_target_here());
}

TEST(CompiledTraining, UpdatesParametersInTheirPlaces) {
  for (const Problem &problem : {pictures(), rows()})
    for (const Graph &step :
         {step_with<SGD>(problem, SgdOptions{0.1, 0.9}), step_with<Adam>(problem, AdamOptions{0.01})}) {
      const generators::Plan plan = generators::planned({generators::prepared_for_inference(step)}).plan;
      // But for the velocity of a batch norm's weight, which the kernel makes that sums its gradient.
      EXPECT_LE(plan.seen().copies.size(), 1u);
      for (const generators::StateCopy &c : plan.seen().copies) EXPECT_LE(c.bytes, 8 * 4);
      EXPECT_EQ(plan.seen().state.size(), step.state.size());
    }
}

TEST(CompiledTraining, LearnsAToyProblem) {
  nn::manual_seed(1);
  Sequential net(nn::Linear(2, 16), nn::Tanh(), nn::Linear(16, 2));
  const Tensor x = Tensor::of<float>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), labels = Tensor::of<int64_t>({4}, {0, 1, 1, 0});
  const Loss loss = [](const Variable &y, const Variable &wanted) { return cross_entropy(y, wanted); };
  const generators::CompiledGraph step(training_step(net, x, labels, loss, SGD(net, {0.5, 0.9})));
  const auto one = [&] { return step.run({{"x", x}, {"labels", labels}}).at("loss").item(); };
  const double first = one();
  for (int i = 0; i < 200; ++i) one();
  EXPECT_GT(first, 0.5);
  EXPECT_LT(one(), 0.02);
  // The net has learned it, too, where the state is brought back.
  State learned = step.state();
  for (const auto &[name, t] : net.state()) t.copy_from(learned.at(name));
  EXPECT_EQ(accuracy(net(x).value(), labels), 1);
  // Without a rate nothing changes.
  step.set_state({{"rate", Tensor::zeros({})}, {"momentum.0.weight", Tensor::zeros({16, 2})}});
  const State before = step.state();
  one();
  EXPECT_EQ(step.state().at("0.weight").reals(), before.at("0.weight").reals());
  expect_error([&] { step.set_state({{"none", Tensor::zeros({})}}); }, {"no state 'none'"});
  expect_error([&] { step.set_state({{"rate", Tensor::zeros({2})}}); }, {"'rate'", "f32 [2]"});
}

// Windows that go by steps of one, with groups, uneven padding and dilation; and those that do not.
TEST(CompiledTraining, GradientsOfConvolutionsAreThoseOfTheExecutor) {
  struct Case {
    Shape w, x, strides, pads, dilations;
    int64_t groups;
  };
  for (const Case &c : {Case{{7, 3, 3, 2}, {2, 3, 6, 7}, {1, 1}, {1, 0, 2, 1}, {1, 1}, 1},
                        Case{{6, 2, 3, 3}, {1, 4, 8, 8}, {1, 1}, {2, 1, 0, 3}, {2, 1}, 2},
                        Case{{4, 1, 3, 3}, {2, 4, 5, 5}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 4},
                        Case{{5, 2, 1, 1}, {1, 2, 4, 4}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},
                        Case{{4, 2, 3, 3}, {2, 2, 7, 6}, {2, 1}, {1, 1, 1, 1}, {1, 1}, 1},
                        Case{{9, 3, 3, 3}, {2, 3, 7, 6}, {2, 1}, {1, 0, 1, 1}, {1, 2}, 1},
                        Case{{16, 2, 3, 1}, {1, 4, 9, 5}, {2, 2}, {1, 0, 1, 0}, {1, 1}, 2},
                        // Few channels: windows are in registers, as a whole, by columns, not at all.
                        Case{{6, 1, 5, 5}, {3, 1, 11, 9}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 1},
                        Case{{16, 6, 5, 5}, {2, 6, 9, 10}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
                        // Large weights and small images, several in each sum.
                        Case{{80, 96, 3, 3}, {6, 96, 2, 2}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},
                        Case{{40, 13, 3, 3}, {2, 13, 6, 17}, {1, 2}, {1, 1, 1, 1}, {1, 1}, 1}}) {
    Shape dy = {c.x[0], c.w[0], 0, 0};
    for (size_t d = 0; d < 2; ++d)
      dy[d + 2] = (c.x[d + 2] + c.pads[d] + c.pads[d + 2] - c.dilations[d] * (c.w[d + 2] - 1) - 1) / c.strides[d] + 1;
    const Attributes a = {{"strides", c.strides}, {"pads", c.pads}, {"dilations", c.dilations}, {"groups", c.groups}};
    Graph g;
    g.add_input("w", c.w);
    g.add_input("x", c.x);
    g.add_input("dy", dy);
    g.outputs = {g.add_node("conv2d_gradient_x", {"w", "dy"}, "dx", c.x, a.with("shape", c.x)),
                 g.add_node("conv2d_gradient_w", {"x", "dy"}, "dw", c.w, a.with("shape", c.w))};
    expect_right_when_compiled(g);
  }
}

// ---- State of other graphs.

// newest' = x;  older' = newest;  oldest' = older;  total' = total + x;  y = oldest + total
Graph delay_line() {
  Graph g;
  g.add_input("x", {2, 3});
  for (const char *name : {"newest", "older", "oldest", "total"}) g.values[name] = {{2, 3}, Type::f32, {}};
  const auto same = [&](const char *of, const char *to) {
    return g.add_node("reshape", {of}, to, {2, 3}, {{"shape", Shape{2, 3}}});
  };
  const std::string sum = g.add_node("add", {"total", "x"}, "sum", {2, 3});
  g.outputs = {g.add_node("add", {"oldest", sum}, "y", {2, 3})};
  g.add_state("newest", same("x", "to_newest"), Tensor::full({2, 3}, 1));
  g.add_state("older", same("newest", "to_older"), Tensor::full({2, 3}, 2));
  g.add_state("oldest", same("older", "to_oldest"), Tensor::full({2, 3}, 3));
  g.add_state("total", sum, Tensor::full({2, 3}, 4));
  return g;
}

TEST(CompiledState, GoesFromOneToTheNext) {
  const Graph g = delay_line();
  const Compiled compiled(g);
  State state;
  for (int i = 0; i < 5; ++i) {
    const State inputs = {{"x", Tensor::full({2, 3}, 10 + i)}};
    expect_close(compiled.run(inputs), run(g, inputs, state));
    expect_close(compiled.state(), state);
  }
}

// Images lie with their channels innermost, in state too; what callers see is row-major.
TEST(CompiledState, OfImagesIsRowMajorToCallers) {
  GraphBuilder b({1, 3, 5, 6});
  b.graph.values["last"] = {{1, 3, 5, 6}, Type::f32, {}};
  const std::string mixed = b.apply("add", {"x", "last"}), y = b.conv2d(mixed, {4});
  Graph g = b.graph;
  g.outputs = {y};
  g.add_state("last", mixed, random_tensor({1, 3, 5, 6}, 3));
  const Compiled compiled(g);
  expect_close(compiled.state(), {{"last", g.state[0].initial}});
  State state;
  for (int i = 0; i < 3; ++i) {
    const State inputs = {{"x", random_tensor({1, 3, 5, 6}, i)}};
    expect_close(compiled.run(inputs), run(g, inputs, state));
    expect_close(compiled.state(), state);
  }
}

// What is read after the next value was made is not written over.
TEST(CompiledState, IsNotWrittenOverWhereItIsStillRead) {
  Graph g;
  g.add_input("x", {4});
  g.values["s"] = {{4}, Type::f32, {}};
  const std::string next = g.add_node("add", {"s", "x"}, "next", {4});
  const std::string total = g.add_node("sum", {next}, "total", {1}, {{"axes", Shape{0}}, {"scale", 1.0}});
  g.outputs = {g.add_node("multiply", {total, "s"}, "y", {4})};
  g.add_state("s", next, Tensor::of<float>({4}, {1, 2, 3, 4}));
  const Compiled compiled(g);
  State state;
  for (int i = 0; i < 3; ++i) {
    const State inputs = {{"x", Tensor::full({4}, i)}};
    expect_close(compiled.run(inputs), run(g, inputs, state));
    expect_close(compiled.state(), state);
  }
}

TEST(CompiledState, WhatCannotBeIsNamed) {
  Graph g;
  g.add_input("x", {2});
  for (const char *name : {"a", "b"}) g.values[name] = {{2}, Type::f32, {}};
  const auto same = [&](const char *of, const char *to) {
    return g.add_node("reshape", {of}, to, {2}, {{"shape", Shape{2}}});
  };
  g.outputs = {g.add_node("relu", {"x"}, "y", {2})};
  g.add_state("a", same("b", "to_a"), Tensor::zeros({2}));
  g.add_state("b", same("a", "to_b"), Tensor::zeros({2}));
  const generators::TemporaryFolder folder;
  const generators::CompileOptions options = options_for(folder.path(), generators::best_target_here());
  expect_error([&] { generators::compile_model(g, options); }, {"in a circle"});
  const Graph step = delay_line();
  expect_error([&] { generators::compile_batched_model(step, step, options); }, {"'newest'"});
}

// ---- In C.

const char *const program = R"(
#include <stdio.h>
#include <string.h>
#include "@.h"

static float x[7 * 6], labels[7 * 2], weights[8 * 6], before[8 * 6];

int main(void) {
  const void *inputs[] = {x, labels};
  float loss = 0, first = 0, rate = 0;
  int64_t steps = 0;
  void *outputs[] = {&loss};
  @_model *model = @_create(NULL);
  const int weight = @_state_number("0.weight");
  if (!model || @_INPUTS != 2 || @_OUTPUTS != 1 || @_abi_version() != @_ABI_VERSION) return 2;
  if (weight < 0 || @_state_number("none") >= 0 || @_state(@_STATES) || @_state(-1)) return 3;
  if (strcmp(@_state(weight)->type, "f32") || @_state(weight)->bytes != sizeof weights) return 4;
  for (int i = 0; i < 7 * 6; ++i) x[i] = (float)(i % 5) - 2;
  for (int i = 0; i < 7 * 2; ++i) labels[i] = (float)(i % 3) - 1;
  if (@_get_state(model, weight, before)) return 5;
  for (int i = 0; i < 40; ++i) {
    if (@_run(model, inputs, outputs)) return 6;
    if (i == 0) first = loss;
  }
  if (!(loss < 0.8f * first)) return 7;
  if (@_get_state(model, @_state_number("steps.0.weight"), &steps) || steps != 40) return 8;
  if (@_get_state(model, weight, weights) || !memcmp(weights, before, sizeof weights)) return 9;
  if (!@_get_state(model, @_STATES, weights) || !@_get_state(model, weight, NULL) || !@_get_state(NULL, weight, x))
    return 10;
  /* With the parameters of the beginning, but for batch norm, which has learned. */
  if (@_set_state(model, weight, before) || @_set_state(model, @_state_number("rate"), &rate)) return 11;
  if (@_run(model, inputs, outputs) || @_get_state(model, weight, weights)) return 12;
  if (memcmp(weights, before, sizeof weights)) return 13;
  @_destroy(model);
  /* Another handle begins at the beginning. */
  model = @_create(NULL);
  if (@_run(model, inputs, outputs) || loss != first) return 14;
  @_destroy(model);
  return 0;
}
)";

TEST(CompiledTraining, RunsInACProgram) {
  const generators::TemporaryFolder folder;
  generators::CompileOptions options = options_for(folder.path(), generators::best_target_here());
  options.name = "step";
  generators::compile_model(step_with<SGD>(rows(), SgdOptions{0.05}), options);
  write_text(folder.file("main.c"), for_model(program, "step"));
  build_program(folder.path(), {"libstep.a"});
  generators::run_program({"./main"}, folder.path());
}

TEST(CompiledTraining, OnlyModelsWithStateHaveFunctionsForIt) {
  const generators::TemporaryFolder folder;
  generators::CompileOptions options = options_for(folder.path(), generators::best_target_here());
  GraphBuilder b({2, 3});
  const generators::CompiledModel made = generators::compile_model(b.finish({b.apply("relu", {"x"})}), options);
  std::ifstream header(made.header);
  const std::string text((std::istreambuf_iterator<char>(header)), {});
  EXPECT_EQ(text.find("state"), std::string::npos);
}

}  // namespace
}  // namespace saltern
