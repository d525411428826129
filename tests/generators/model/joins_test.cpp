// Parts of a join are computed in their places, and parts of a value read where they are: what shares memory with what
// changes how, never what.

#include <gtest/gtest.h>

#include "generators/model/model_plan.h"
#include "generators/model/passes/passes.h"
#include "generators/model/piece.h"
#include "runtime/graph/text.h"
#include "tests/compiled_graph.h"

namespace saltern::generators {
namespace {

class JoinGraph : public GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;

  std::string join(const std::vector<std::string> &parts, int64_t axis = 1) {
    Shape shape = graph.value(parts[0]).shape;
    const size_t along = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
    for (size_t i = 1; i < parts.size(); ++i) shape[along] += graph.value(parts[i]).shape[along];
    return graph.add_node("concat", parts, "joined" + std::to_string(graph.nodes.size()), shape, {{"axis", axis}});
  }
  std::string cut(const std::string &from, int64_t begin, int64_t count, int64_t axis = 1) {
    Shape shape = graph.value(from).shape;
    shape[static_cast<size_t>(axis)] = count;
    return graph.add_node("slice", {from}, "cut" + std::to_string(graph.nodes.size()), shape,
                          {{"axis", axis}, {"begin", begin}, {"count", count}});
  }
  std::string pointwise(const std::string &x, int64_t channels) { return conv2d(x, {channels, 1, 1, 0}); }
};

// The steps that do nothing but copy.
int copies(const Graph &g) {
  int n = 0;
  for (const PlannedStep &s : plan_model(g).steps) n += s.operations == std::vector<std::string>{"concat"};
  return n;
}

// All elements of a piece, by their places.
std::vector<int64_t> places(const Piece &p) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < p.count; ++i) all.push_back(p.offset + i / p.run * p.pitch + i % p.run);
  return all;
}

TEST(Pieces, OfPiecesAreWhereTheirElementsAre) {
  const std::vector<Piece> outers = {Piece::dense(7, 48), {3, 48, 12, 20}, {0, 48, 4, 5}, {1, 48, 48, 48}};
  const std::vector<Piece> inners = {Piece::dense(0, 48), Piece::dense(12, 24), Piece::dense(13, 6),
                                     Piece::dense(5, 20), {2, 8, 2, 12},        {1, 6, 3, 24},
                                     {0, 16, 4, 12},      {0, 12, 3, 4}};
  int composed = 0;
  for (const Piece &outer : outers)
    for (const Piece &inner : inners) {
      const std::optional<Piece> both = inside(outer, inner);
      if (!both) continue;
      ++composed;
      std::vector<int64_t> expected;
      for (int64_t at : places(inner)) expected.push_back(places(outer).at(static_cast<size_t>(at)));
      EXPECT_EQ(places(*both), expected) << outer.run << " " << inner.run;
    }
  EXPECT_GE(composed, 20);
}

TEST(Pieces, HaveStridesWhereNoDimensionGoesOverTheEndOfARow) {
  const Piece rows = {16, 240, 24, 40};
  EXPECT_EQ(strides_of({24, 5, 2}, rows), (std::vector<int>{1, 40, 200}));
  EXPECT_EQ(strides_of({8, 3, 10}, rows), (std::vector<int>{1, 8, 40}));
  EXPECT_EQ(strides_of({24, 1, 10, 1}, rows), (std::vector<int>{1, 40, 40, 400}));
  EXPECT_EQ(strides_of({24, 1, 1}, {16, 24, 24, 40}), (std::vector<int>{1, 24, 24})) << "one row, whatever follows it";
  EXPECT_FALSE(strides_of({240}, rows));
  EXPECT_FALSE(strides_of({16, 15}, rows));
}

// Every kind of kernel writes a part: whole panels of channels and uneven ones, pools, depthwise, elementwise, formulas.
TEST(Joins, OfChannelsCopyNothingThatAKernelMakes) {
  JoinGraph b({2, 24, 9, 7});
  GraphBuilder::Conv depthwise = {24};
  depthwise.groups = 24;
  const std::string x = b.apply("relu", {b.conv2d("x", {24})});
  const std::string joined =
      b.join({b.apply("relu", {b.pointwise(x, 32)}), b.conv2d(x, {20}), b.pool("max_pool2d", x, 3, 1, 1),
              b.pool("average_pool2d", x, 3, 1, 1), b.conv2d(x, depthwise), b.apply("tanh", {x})});
  const Graph g = b.finish({b.pointwise(b.apply("relu", {joined}), 10)});
  EXPECT_EQ(copies(g), 0);
  expect_right_when_compiled(g);
  expect_right_when_compiled(g, {"sse41"});
}

// What is no kernel's result, or has a place already, or is seen by users of the model, is copied.
TEST(Joins, OfInputsConstantsRepetitionsAndOutputsCopyThose) {
  JoinGraph b({2, 16, 5, 4});
  b.constant("c", {2, 16, 5, 4});
  const std::string h = b.pointwise("x", 16), seen = b.pointwise("x", 24);
  const std::string joined = b.join({"x", h, h, "c", seen});
  const Graph g = b.finish({b.pointwise(joined, 8), seen});
  EXPECT_EQ(copies(g), 4);
  expect_right_when_compiled(g);
}

// Parts are read after they were joined, and before: nothing writes over them.
TEST(Joins, KeepPartsThatAreReadElsewhere) {
  JoinGraph b({1, 16, 6, 6});
  const std::string left = b.apply("relu", {b.conv2d("x", {16})}), right = b.apply("relu", {b.conv2d(left, {48})});
  const std::string joined = b.join({left, right});
  const std::string squeezed = b.apply("tanh", {b.pointwise(joined, 16)});
  const std::string late = b.apply("add", {b.apply("square", {left}), squeezed});
  const std::string flat = b.dense(b.flatten(right), 5);  // a kernel that sees all of an image as one row
  const Graph g = b.finish({b.conv2d(late, {4}), flat, b.apply("square", {b.join({late, joined})})});
  expect_right_when_compiled(g);
}

TEST(Joins, OfJoinsAlongOtherDimensionsAreRight) {
  JoinGraph b({1, 8, 4, 4});
  const auto part = [&](int64_t channels) { return b.apply("relu", {b.pointwise("x", channels)}); };
  const std::string a = b.join({part(16), part(16)}), c = b.join({part(8), part(24)});
  const std::string below = b.join({a, c}, 2), beside = b.join({below, b.join({part(32), part(32)}, 2)}, 3);
  const std::string batch = b.join({beside, beside}, 0);
  expect_right_when_compiled(b.finish({b.pointwise(batch, 5), b.pointwise(below, 3)}));
}

// Equal kernels are one, unless they write with other strides.
TEST(Joins, OfOtherWidthsHaveKernelsOfTheirOwn) {
  JoinGraph b({1, 8, 4, 4});
  const auto part = [&](int64_t channels) { return b.apply("relu", {b.pointwise("x", channels)}); };
  const std::string narrow = b.join({part(16), part(16)}), wide = b.join({part(16), part(24)});
  const Graph g = b.finish({b.pointwise(narrow, 5), b.pointwise(wide, 5)});
  EXPECT_EQ(copies(g), 0);
  expect_right_when_compiled(g);
}

TEST(Slices, OfChannelsAreReadInPlace) {
  JoinGraph b({2, 40, 5, 6});
  const std::string x = b.apply("relu", {b.pointwise("x", 40)});
  const std::string first = b.cut(x, 0, 20), second = b.cut(x, 20, 20);
  const std::string h = b.pointwise(first, 24), k = b.conv2d(b.cut(second, 4, 12), {16});
  const Graph g = b.finish({b.pointwise(b.join({h, k}), 8), b.pool("max_pool2d", second, 2, 2)});
  for (const PlannedStep &s : plan_model(g).steps) EXPECT_NE(s.operations.front(), "formula") << s.value;
  expect_right_when_compiled(g);
}

// As DenseNets are written: each layer joins all that came before it.
TEST(GrowingJoins, AreOneMemoryThatFillsUp) {
  JoinGraph b({1, 16, 8, 8});
  std::vector<std::string> all = {b.conv2d("x", {16})};
  std::string last = all[0];
  for (int layer = 0; layer < 4; ++layer) {
    all.push_back(b.conv2d(b.apply("relu", {b.batch_norm(last)}), {8}));
    last = b.join(all);
  }
  const Graph g = b.finish({b.pointwise(last, 10)}), after = with_growing_joins(g);
  for (const Graph::Node &n : after.nodes)
    EXPECT_TRUE(n.operation != "concat" || n.inputs.size() == 2) << to_text(after);
  expect_close(run(after, random_inputs(g)), run(g, random_inputs(g)));
  EXPECT_EQ(copies(g), 0);
  expect_right_when_compiled(g);
}

TEST(GrowingJoins, TakeNothingThatDiffers) {
  JoinGraph b({4, 4});
  const std::string h = b.apply("relu", {"x"}), k = b.apply("tanh", {"x"});
  const Graph g = b.finish({b.join({h, k}, 0), b.join({h, k, h}, 1), b.join({k, h, k}, 0), b.join({h, k}, -2)});
  EXPECT_EQ(to_text(with_growing_joins(g)), to_text(g));
}

// As ShuffleNet writes it: channels cut into groups, turned, and put together again.
std::string shuffled(JoinGraph &b, const std::string &x, int64_t groups, const Shape &order) {
  const Shape s = b.graph.value(x).shape, cut = {s[0], groups, s[1] / groups, s[2], s[3]};
  Shape turned;
  for (int64_t d : order) turned.push_back(cut[static_cast<size_t>(d)]);
  const std::string number = std::to_string(b.graph.nodes.size());
  const std::string c = b.graph.add_node("reshape", {x}, "cut" + number, cut, {{"shape", cut}});
  const std::string t = b.graph.add_node("transpose", {c}, "turned" + number, turned, {{"order", order}});
  return b.graph.add_node("reshape", {t}, "shuffled" + number, s, {{"shape", s}});
}

TEST(ChannelShuffles, AreOneKernelWhoseHalvesAreReadInPlace) {
  JoinGraph b({2, 16, 5, 6});
  const std::string mixed = shuffled(b, b.join({b.pointwise("x", 20), b.pointwise("x", 20)}), 5, {0, 2, 1, 3, 4});
  const std::string half = b.cut(mixed, 0, 20), other = b.cut(mixed, 20, 20);
  const Graph g = b.finish({b.pointwise(b.join({half, b.pointwise(other, 20)}), 8)});
  int formulas = 0;
  for (const PlannedStep &s : plan_model(g).steps) {
    formulas += s.operations.front() == "formula";
    EXPECT_NE(s.operations.front(), "reshape");
  }
  EXPECT_EQ(formulas, 1);
  expect_right_when_compiled(g);
}

TEST(ChannelShuffles, AreNoOtherTransposes) {
  JoinGraph b({1, 16, 4, 4});
  const std::string pixels = shuffled(b, b.pointwise("x", 16), 4, {0, 1, 2, 4, 3});
  const Graph g = b.finish({b.pointwise(pixels, 8)});
  EXPECT_EQ(to_text(with_channel_shuffles(g)), to_text(g));
  expect_right_when_compiled(g);
}

}  // namespace
}  // namespace saltern::generators
