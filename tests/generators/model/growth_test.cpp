// Large graphs and long chains: what passes, plans and kernels take grows with the nodes, and no kernel grows without
// end.

#include <gtest/gtest.h>

#include <ctime>

#include "generators/model/code_size.h"
#include "generators/model/formula_code.h"
#include "generators/model/grouping.h"
#include "generators/model/memory_plan.h"
#include "generators/model/passes/inlining.h"
#include "generators/model/passes/passes.h"
#include "generators/model/planned_model.h"
#include "tests/compiled_graph.h"

namespace saltern::generators {
namespace {

using formula::Expression;

Expression here(int operand) { return formula::load(operand, Type::f32, {formula::axis(0), formula::axis(1)}); }

// Each uses its operand several times.
Expression hard_swish(const Expression &x) { return x * max(min(x / 6.0 + 0.5, 1.0), 0.0); }
Expression mish(const Expression &x) {
  const Expression softplus = max(x, 0.0) + log(1.0 + exp(-abs(x)));
  return x * call(formula::Function::tanh, softplus);
}
Expression twice(const Expression &x) { return x + x; }
using Activation = Expression (*)(const Expression &);
constexpr Activation activations[] = {hard_swish, mish, twice};

Graph chain_of(Activation activation, int depth) {
  Graph g;
  g.add_input("x", {4, 64});
  std::string at = "x";
  for (int i = 0; i < depth; ++i)
    at = g.add_node("formula", {at}, "v" + std::to_string(i), {4, 64}, {{"element", activation(here(0))}});
  g.outputs = {at};
  return g;
}

TEST(LongChains, FormulasStayWithinWhatAKernelMayBe) {
  for (Activation activation : activations) {
    const Graph fused = with_fused_formulas(chain_of(activation, 600));
    EXPECT_LT(fused.nodes.size(), 60u);
    size_t text = 0;
    for (const Graph::Node &n : fused.nodes) {
      EXPECT_LE(code_size(n), most_code);
      text += to_string(n.attributes.expression("element")).size();
    }
    EXPECT_LT(text, 600u * 400);
    for (const Group &group : group_nodes(fused)) {
      int size = 0;
      for (const Graph::Node &n : group.nodes) size += code_size(n);
      EXPECT_LE(size, most_code);
    }
  }
}

TEST(LongChains, GroupsOfOperationsAreCutToo) {
  Graph g;
  g.add_input("x", {4, 64});
  std::string at = "x";
  for (int i = 0; i < 1000; ++i) at = g.add_node("sigmoid", {at}, "v", {4, 64});
  g.outputs = {at};
  size_t nodes = 0;
  for (const Group &group : group_nodes(with_compilable_operations(g))) {
    EXPECT_LE(group.nodes.size(), static_cast<size_t>(most_code));
    EXPECT_GT(group.nodes.size(), 1u);
    nodes += group.nodes.size();
  }
  EXPECT_EQ(nodes, 1000u);
}

TEST(LongChains, OfAFewActivationsIsOneKernel) {
  for (Activation activation : activations) {
    const Graph g = chain_of(activation, 5);
    EXPECT_EQ(planned({prepared_for_inference(g)}).plan.kernels, 1);
    expect_right_when_compiled(g);
  }
}

TEST(LongChains, CodeHasAsManyNodesAsTheFormula) {
  class Count : public Halide::Internal::IRGraphVisitor {
   public:
    using IRGraphVisitor::include;
    void include(const Halide::Expr &e) override {
      ++uses;
      IRGraphVisitor::include(e);
    }
    int uses = 0;
  };
  const auto uses = [](Activation activation, int length) {
    Expression e = here(0);
    for (int i = 0; i < length; ++i) e = activation(e);
    Halide::Func x("x");
    const Halide::Var c("c"), r("r");
    x(c, r) = Halide::cast<float>(c + r);
    Count count;
    formula_code(e, {Halide::Expr(r), Halide::Expr(c)}, {4, 64}, {{4, 64}},
                 [&](int, const std::vector<Halide::Expr> &at) { return x(at[1], at[0]); })
        .accept(&count);
    return count.uses;
  };
  for (Activation activation : activations) EXPECT_LT(uses(activation, 60), 2.5 * uses(activation, 30));
}

TEST(LongChains, SixtyActivationsAreRightWhenCompiled) {
  for (Activation activation : {hard_swish, mish}) expect_right_when_compiled(chain_of(activation, 60));
}

// How often a formula reads an operand that each of sixty steps uses twice.
TEST(LongChains, ReadsAreCountedByNodes) {
  Expression e = here(0);
  for (int i = 0; i < 60; ++i) e = e * e;
  EXPECT_EQ(reads_of(e, {4, 64}, 0), 4 * 64);
  const Expression total = formula::reduce(formula::Function::sum, {10}, [&](const std::vector<Expression> &s) {
    Expression sum = formula::load(0, Type::f32, {formula::axis(0), s[0]});
    for (int i = 0; i < 60; ++i) sum = sum * sum;
    return sum;
  });
  EXPECT_EQ(reads_of(total + total, {4, 64}, 0), 4 * 64 * 10);
}

// ---- Large graphs.

// Add, relu, multiply, softmax over and over: the last keeps it from becoming one kernel.
Graph long_chain(int nodes) {
  Graph g;
  g.add_input("x", {4, 16});
  g.add_constant("half", Tensor::full({1, 16}, 0.5));
  std::string at = "x";
  for (int i = 0; i < nodes; ++i) {
    static const char *const operations[] = {"add", "relu", "multiply", "softmax"};
    std::vector<std::string> from = {at};
    if (i % 2 == 0) from.emplace_back("half");
    at = g.add_node(operations[i % 4], from, "v" + std::to_string(i), {4, 16},
                    i % 4 == 3 ? Attributes{{"axis", int64_t{-1}}} : Attributes());
  }
  g.outputs = {at};
  return g;
}

// Branches of one input, joined by 49 and then all.
Graph wide_graph(int nodes) {
  Graph g;
  g.add_input("x", {2, 4});
  std::vector<std::string> joins;
  for (int first = 0; first < nodes; first += 50) {
    std::vector<std::string> parts;
    for (int i = first; i < first + 49; ++i) {
      const std::string c = "c" + std::to_string(i);
      g.add_constant(c, Tensor::full({1, 4}, 1.0 + i));
      parts.push_back(g.add_node(i % 2 == 0 ? "add" : "multiply", {"x", c}, "b" + std::to_string(i), {2, 4}));
    }
    joins.push_back(g.add_node("concat", parts, "j" + std::to_string(first), {2, 49 * 4}, {{"axis", int64_t{1}}}));
  }
  const auto columns = static_cast<int64_t>(joins.size()) * 49 * 4;
  g.outputs = {g.add_node("concat", joins, "y", {2, columns}, {{"axis", int64_t{1}}})};
  return g;
}

// A net with a convolution at its end, so that layouts spread to its beginning; reshapes that do nothing in between.
Graph deep_image(int nodes) {
  Graph g;
  g.add_input("x", {1, 8, 2, 2});
  std::string at = "x";
  for (int i = 0; i < nodes; ++i)
    at = i % 2 == 0
             ? g.add_node("relu", {at}, "v" + std::to_string(i), {1, 8, 2, 2})
             : g.add_node("reshape", {at}, "v" + std::to_string(i), {1, 8, 2, 2}, {{"shape", Shape{1, 8, 2, 2}}});
  g.add_constant("w", Tensor::full({8, 8, 1, 1}, 0.1));
  g.outputs = {g.add_node(
      "conv2d", {at, "w"}, "y", {1, 8, 2, 2},
      {{"strides", Shape{1, 1}}, {"dilations", Shape{1, 1}}, {"pads", Shape{0, 0, 0, 0}}, {"groups", int64_t{1}}})};
  return g;
}

// Of the processor's: what other processes take does not count.
double seconds_to_plan(const Graph &g) {
  const std::clock_t began = std::clock();
  const Graph prepared = prepared_for_inference(g);
  EXPECT_LT(planned({prepared}).plan.kernels, 100);
  return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
}

// Four times the nodes take four times as long, and not sixteen times; the machine may be busy with other things.
TEST(LargeGraphs, PassesAndPlansGrowWithTheNodes) {
  for (Graph (*make)(int) : {long_chain, wide_graph, deep_image}) {
    constexpr int nodes = 5000;
    double ratio = 1e9;
    for (int attempt = 0; attempt < 3 && ratio > 8; ++attempt)
      ratio = std::min(ratio, seconds_to_plan(make(4 * nodes)) / seconds_to_plan(make(nodes)));
    EXPECT_LT(ratio, 8);
  }
}

TEST(LargeGraphs, SmallOnesOfTheseKindsAreRightWhenCompiled) {
  for (Graph (*make)(int) : {long_chain, wide_graph, deep_image}) expect_right_when_compiled(make(100));
}

// ---- Memory.

std::vector<Lifetime> lives_of(int count, int steps) {
  std::vector<Lifetime> lives;
  for (int i = 0; i < count; ++i) lives.push_back({"v", 64 * (1 + i % 7), i, std::min(i + steps, count)});
  return lives;
}

TEST(LargePlans, ShortLivesShareMemory) { EXPECT_LE(plan_memory(lives_of(200000, 3)).bytes, 64 * 7 * 6); }

TEST(LargePlans, ManyThatMeetAllAreApart) {
  const std::vector<Lifetime> lives = lives_of(20000, 20000);
  const MemoryPlan plan = plan_memory(lives);
  std::map<int64_t, int64_t> ends;
  for (size_t i = 0; i < lives.size(); ++i) ends[plan.offsets[i]] = plan.offsets[i] + lives[i].bytes;
  ASSERT_EQ(ends.size(), lives.size());
  int64_t before = 0;
  for (const auto &[begin, end] : ends) {
    EXPECT_GE(begin, before);
    before = end;
  }
  EXPECT_EQ(plan.bytes, before);
}

TEST(LargePlans, LanesMeetAllOfEachOtherAndShareWithinThemselves) {
  std::vector<Lifetime> lives;
  for (int lane = 0; lane < 2; ++lane)
    for (int i = 0; i < 5000; ++i) lives.push_back({"v", 64, lane * 5001 + i, lane * 5001 + i + 1, 0, lane});
  const MemoryPlan plan = plan_memory(lives);
  EXPECT_EQ(plan.bytes, 2 * 2 * 64);
  for (size_t i = 0; i < 5000; ++i)
    for (size_t j : {size_t{5000}, 5000 + i}) EXPECT_NE(plan.offsets[i], plan.offsets[j]);
}

}  // namespace
}  // namespace saltern::generators
