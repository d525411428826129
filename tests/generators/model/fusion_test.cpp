// What is computed in one kernel instead of several, or by none: fused formulas, epilogues and views change how, never
// what.

#include <gtest/gtest.h>

#include "generators/model/emit.h"
#include "generators/model/passes/passes.h"
#include "generators/model/views.h"
#include "runtime/graph/text.h"
#include "tests/compiled_graph.h"

namespace saltern::generators {
namespace {

using formula::axis;
using formula::Expression;
using formula::load;

class FormulaGraph : public GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;

  std::string formula(const Shape &shape, const std::vector<std::string> &from, const Expression &element) {
    return graph.add_node("formula", from, "f" + std::to_string(graph.nodes.size()), shape, {{"element", element}});
  }
  // An operand's element at the result's own place, of this rank.
  static Expression here(int operand, int rank) {
    std::vector<Expression> indices;
    for (int d = 0; d < rank; ++d) indices.push_back(axis(d));
    return load(operand, Type::f32, indices);
  }
};

Graph expect_same_after_fusing(const Graph &g) {
  Graph after = with_fused_formulas(g);
  expect_same_results(after, g);
  return after;
}

TEST(FusedFormulas, AChainIsOneFormula) {
  FormulaGraph b({3, 5});
  b.input("bias", {5});
  const std::string twice = b.formula({3, 5}, {"x"}, FormulaGraph::here(0, 2) * 2.0);
  const std::string sum = b.formula({3, 5}, {twice, "bias"}, FormulaGraph::here(0, 2) + load(1, Type::f32, {axis(1)}));
  const Graph g = b.finish({b.formula({3, 5}, {sum, "x"}, max(FormulaGraph::here(0, 2), FormulaGraph::here(1, 2)))});
  const Graph after = expect_same_after_fusing(g);
  EXPECT_EQ(after.nodes.size(), 1u) << to_text(after);
  EXPECT_EQ(after.nodes[0].inputs.size(), 2u) << to_text(after);
}

TEST(FusedFormulas, TransposesCancel) {
  FormulaGraph b({3, 5});
  const std::string turned = b.graph.add_node("transpose", {"x"}, "turned", {5, 3}, {{"order", Shape{1, 0}}});
  const Graph g = b.finish({b.formula({3, 5}, {turned}, exp(load(0, Type::f32, {axis(1), axis(0)})))});
  const Graph after = expect_same_after_fusing(with_compilable_operations(g));
  ASSERT_EQ(after.nodes.size(), 1u);
  EXPECT_EQ(formula::to_string(after.nodes[0].attributes.expression("element")),
            formula::to_string(exp(FormulaGraph::here(0, 2))));
}

TEST(FusedFormulas, AReductionComputesWhatItSums) {
  FormulaGraph b({4, 7});
  const std::string e = b.formula({4, 7}, {"x"}, exp(FormulaGraph::here(0, 2)));
  const Graph g = b.finish({b.formula({4}, {e}, reduce(formula::Function::sum, {7}, [](const auto &s) {
                                        return load(0, Type::f32, {axis(0), s[0]});
                                      }))});
  EXPECT_EQ(expect_same_after_fusing(g).nodes.size(), 1u);
}

TEST(FusedFormulas, DearElementsAreNotComputedAgain) {
  FormulaGraph b({1, 7});
  b.input("many", {64, 7});
  const std::string e = b.formula({1, 7}, {"x"}, exp(FormulaGraph::here(0, 2)));
  const Expression first = load(0, Type::f32, {formula::constant_integer(Type::i64, 0), axis(1)});
  const Graph g = b.finish({b.formula({64, 7}, {e, "many"}, first * FormulaGraph::here(1, 2))});
  EXPECT_EQ(expect_same_after_fusing(g).nodes.size(), 2u);
}

TEST(FusedFormulas, AValueWithTwoReadersIsKept) {
  FormulaGraph b({3, 5});
  const std::string h = b.formula({3, 5}, {"x"}, FormulaGraph::here(0, 2) * 3.0);
  const std::string y = b.formula({3, 5}, {h}, exp(FormulaGraph::here(0, 2)));
  const Graph g = b.finish({y, b.formula({3, 5}, {h}, abs(FormulaGraph::here(0, 2)))});
  EXPECT_EQ(expect_same_after_fusing(g).nodes.size(), 3u);
}

TEST(FusedFormulas, AnEpilogueStaysWithItsKernel) {
  FormulaGraph b({1, 16, 4, 4});
  const std::string rectified = b.formula({1, 16, 4, 4}, {b.conv2d("x", {16})}, max(FormulaGraph::here(0, 4), 0.0));
  const Expression upper = load(0, Type::f32, {axis(0), axis(1), axis(2), axis(3) + 2});
  const Graph g = b.finish({b.formula({1, 16, 4, 2}, {rectified}, upper)}), after = expect_same_after_fusing(g);
  EXPECT_EQ(after.nodes.size(), 3u);
  EXPECT_EQ(group_nodes(after).size(), 2u);
}

// x less its mean over the last `inner` dimensions, over its deviation.
std::string norm(FormulaGraph &b, const std::string &x, int inner) {
  const Shape shape = b.graph.value(x).shape;
  const int rank = static_cast<int>(shape.size());
  Shape statistics = shape;
  std::vector<int64_t> steps;
  for (int d = rank - inner; d < rank; ++d) steps.push_back(std::exchange(statistics[static_cast<size_t>(d)], 1));
  const auto at = [&](int operand, const std::vector<Expression> &last) {
    std::vector<Expression> indices;
    for (int d = 0; d < rank - inner; ++d) indices.push_back(axis(d));
    indices.insert(indices.end(), last.begin(), last.end());
    return load(operand, Type::f32, indices);
  };
  const std::vector<Expression> first(static_cast<size_t>(inner), formula::constant_integer(Type::i64, 0));
  const auto mean = [&](const std::function<Expression(const std::vector<Expression> &)> &of) {
    return reduce(formula::Function::sum, steps, of) / elements(steps);
  };
  const std::string middle = b.formula(statistics, {x}, mean([&](const auto &s) { return at(0, s); }));
  const std::string spread = b.formula(statistics, {x, middle}, mean([&](const auto &s) {
                                         const Expression d = at(0, s) - at(1, first);
                                         return d * d;
                                       }));
  const std::string deviation = b.formula(statistics, {spread}, sqrt(FormulaGraph::here(0, rank) + 1e-5));
  return b.formula(shape, {x, middle, deviation}, (FormulaGraph::here(0, rank) - at(1, first)) / at(2, first));
}

TEST(FusedStatistics, ANormIsOneFormula) {
  FormulaGraph b({3, 6, 5, 7});
  const Graph g = b.finish({norm(b, "x", 2)}), after = with_fused_statistics(g);
  EXPECT_EQ(after.nodes.size(), 1u) << to_text(after);
  expect_same_results(after, g);
  expect_right_when_compiled(g);
}

TEST(FusedStatistics, AreRightInEveryLayout) {
  for (const Shape &shape : {Shape{2, 16, 5, 7}, Shape{1, 19, 4, 4}, Shape{3, 8, 1, 9}}) {
    FormulaGraph b(shape);
    const std::string y = norm(b, b.conv2d("x", {shape[1]}), 2), z = norm(b, b.conv2d(y, {shape[1]}), 3);
    expect_right_when_compiled(b.finish({z, b.apply("tanh", {norm(b, y, 1)})}));
  }
}

TEST(FusedStatistics, ThatAreReadElsewhereStay) {
  FormulaGraph b({9, 33});
  const std::string y = norm(b, "x", 1), middle = b.graph.nodes[0].outputs[0];
  const Graph g = b.finish({y, b.apply("tanh", {middle})}), after = with_fused_statistics(g);
  EXPECT_EQ(after.nodes.size(), 3u) << to_text(after);
  expect_right_when_compiled(g);
}

// Of a few long rows each would be one task.
TEST(FusedStatistics, OfFewLongRowsAreApart) {
  FormulaGraph b({2, 40000});
  EXPECT_EQ(with_fused_statistics(b.finish({norm(b, "x", 1)})).nodes.size(), 4u);
}

// Sums that a reader takes again and again, as a pool's gradient takes those of a convolution, are computed once.
TEST(FusedStatistics, ThatWouldBeComputedManyTimesAreApart) {
  FormulaGraph b({16, 12});
  const std::string sums = b.formula({16}, {"x"}, reduce(formula::Function::sum, {12}, [](const auto &s) {
                                       return load(0, Type::f32, {axis(0), s[0]});
                                     }));
  const std::string y = b.formula({32}, {sums}, load(0, Type::f32, {formula::quotient(axis(0), 2)}) * 3.0);
  const Graph g = b.finish({y}), after = with_fused_statistics(g);
  EXPECT_EQ(after.nodes.size(), 2u) << to_text(after);
  expect_right_when_compiled(g);
}

TEST(Views, AreOnePieceOfTheOperandsMemory) {
  FormulaGraph b({4, 6, 16});
  const auto part = [&](const Shape &shape, const std::vector<Expression> &indices) {
    return b.graph.producer(b.formula(shape, {"x"}, load(0, Type::f32, indices)));
  };
  const auto number = [](int64_t n) { return formula::constant_integer(Type::i64, n); };
  EXPECT_EQ(view_offset(b.graph, *part({2, 6, 16}, {axis(0) + 1, axis(1), axis(2)})), 6 * 16 * 4);
  EXPECT_EQ(view_offset(b.graph, *part({16}, {number(2), number(3), axis(0)})), (2 * 6 + 3) * 16 * 4);
  EXPECT_EQ(view_offset(b.graph, *part({4, 6, 16}, {axis(0), axis(1), axis(2)})), 0);
  EXPECT_FALSE(is_view(b.graph, *part({4, 3, 16}, {axis(0), axis(1), axis(2)}))) << "there are holes";
  EXPECT_FALSE(is_view(b.graph, *part({8}, {number(0), number(0), axis(0) + 4}))) << "is not aligned";
  EXPECT_FALSE(is_view(b.graph, *part({6, 4, 16}, {axis(1), axis(0), axis(2)}))) << "is turned";
  EXPECT_FALSE(is_view(b.graph, *part({4, 6, 16}, {axis(0) + 1, axis(1), axis(2)}))) << "ends outside";
}

// Cut, computed, joined: parts in their places, parts that are there twice, inputs, constants, joined joins, uneven ones.
TEST(Views, AreRightWhenCompiled) {
  FormulaGraph b({4, 16});
  b.constant("c", {2, 16});
  const auto join = [&](const std::vector<std::string> &parts, const Shape &shape, int64_t axis) {
    return b.graph.add_node("concat", parts, "joined" + std::to_string(b.graph.nodes.size()), shape, {{"axis", axis}});
  };
  const auto cut = [&](const std::string &from, int64_t begin, int64_t count) {
    return b.graph.add_node("slice", {from}, "cut" + std::to_string(b.graph.nodes.size()), {count, 16},
                            {{"axis", int64_t{0}}, {"begin", begin}, {"count", count}});
  };
  const std::string h = b.apply("tanh", {cut("x", 1, 2)}), k = b.apply("sigmoid", {cut("x", 0, 1)});
  const std::string inner = join({h, h, "c"}, {6, 16}, 0), outer = join({inner, k, "x"}, {11, 16}, 0);
  const std::string sideways = join({k, k}, {1, 32}, 1), uneven = join({"x", cut(outer, 0, 4)}, {4, 32}, -1);
  const Graph g = b.finish({b.apply("relu", {outer}), sideways, uneven, b.apply("square", {cut(outer, 6, 3)})});
  expect_right_when_compiled(g);
}

// y = tanh(x) is read by nobody but the next: all of the chain lives in one place; a value that is read later does not.
TEST(InPlace, ElementwiseKernelsWriteOverWhatNobodyReadsAnyMore) {
  FormulaGraph b({8, 64});
  const std::string kept = b.apply("tanh", {"x"});
  std::string h = kept;
  for (int i = 0; i < 3; ++i) {
    const std::string turned = b.formula({64, 8}, {h}, load(0, Type::f32, {axis(1), axis(0)}) * 2.0);
    h = b.apply("sigmoid", {b.formula({8, 64}, {turned}, exp(load(0, Type::f32, {axis(1), axis(0)})))});
  }
  expect_right_when_compiled(b.finish({b.apply("add", {h, kept})}));
}

// Kernels with every kind of operand that can follow: compiled, they give what the executor gives.
TEST(Epilogues, FollowEveryKindOfKernel) {
  FormulaGraph b({1, 19, 9, 9});
  b.input("rows", {7, 33});
  b.input("others", {33, 18});
  b.constant("per_channel", {19, 1, 1});
  b.constant("per_column", {18});
  b.constant("single", {1, 1});
  std::vector<std::string> outputs;
  const auto chain = [&](const std::string &value, const std::string &along, const std::string &beside) {
    const Shape shape = b.graph.value(value).shape;
    const int rank = static_cast<int>(shape.size());
    const std::string relu = b.formula(shape, {value}, max(FormulaGraph::here(0, rank), 0.0));
    const std::string scaled = b.apply("multiply", {relu, along});
    outputs.push_back(b.apply("add", {b.apply("add", {scaled, beside}), "single"}));
  };
  GraphBuilder::Conv depthwise = {19};
  depthwise.groups = 19;
  chain(b.conv2d("x", depthwise), "per_channel", "x");
  chain(b.pool("average_pool2d", "x", 3, 1, 1), "per_channel", "x");
  chain(b.conv2d("x", {19}), "per_channel", "x");
  b.constant("whole", {7, 18});
  chain(b.graph.add_node("matmul", {"rows", "others"}, "product", {7, 18}), "per_column", "whole");
  const Graph g = b.finish(outputs);
  EXPECT_EQ(group_nodes(prepared_for_inference(g)).size(), outputs.size());

  expect_right_when_compiled(g);
}

}  // namespace
}  // namespace saltern::generators
