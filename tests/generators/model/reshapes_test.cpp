// Reshapes that stand between what belongs together: elementwise operations go past them, indices are found before them.

#include "generators/model/affine.h"
#include "generators/model/grouping.h"
#include "generators/model/passes/passes.h"
#include "tests/compiled_graph.h"

namespace saltern::generators {
namespace {

using formula::axis;
using formula::Expression;

std::string indices(const std::vector<Expression> &at, const Shape &axes, const Shape &to, const Shape &from) {
  const auto found = before_reshape(at, axes, to, from);
  return found ? to_string(formula::load(0, Type::f32, *found)) : "nothing";
}

std::string loaded(const std::vector<Expression> &at) { return to_string(formula::load(0, Type::f32, at)); }

TEST(BeforeReshape, FindsTheElementsOfHeads) {
  // (5, 3, 4) out of (5, 12), and the other way round where a dimension keeps to one.
  EXPECT_EQ(indices({axis(0), axis(1), axis(2)}, {5, 3, 4}, {5, 3, 4}, {5, 12}),
            loaded({axis(0), axis(1) * 4 + axis(2)}));
  EXPECT_EQ(indices({axis(0), axis(1) * 4 + axis(2)}, {5, 3, 4}, {5, 12}, {5, 3, 4}),
            loaded({axis(0), axis(1), axis(2)}));
  // A part of a row, and dimensions of one element.
  EXPECT_EQ(
      indices({axis(0), axis(1) + 4}, {5, 4}, {5, 12}, {1, 5, 3, 4}),
      loaded({formula::constant_integer(Type::i64, 0), axis(0), formula::constant_integer(Type::i64, 1), axis(1)}));
}

TEST(BeforeReshape, FindsNothingWhereADimensionIsCut) {
  EXPECT_EQ(indices({axis(0), axis(1)}, {5, 12}, {5, 12}, {5, 3, 4}), "nothing");
  EXPECT_EQ(indices({axis(0) + 2}, {10}, {12}, {3, 4}), "nothing");
  EXPECT_EQ(indices({axis(0) * axis(0)}, {3}, {12}, {3, 4}), "nothing");
}

// Rows of a dense layer as (2, 3, 6), and what is computed from them.
class Rows : public GraphBuilder {
 public:
  Rows() : GraphBuilder(Shape{6, 4}) {}
  std::string cube() {
    return graph.add_node("reshape", {dense("x", 6)}, "cube", {2, 3, 6}, {{"shape", Shape{2, 3, 6}}});
  }
};

size_t kernels(const Graph &g) {
  size_t count = 0;
  for (const Group &group : group_nodes(g)) count += group.anchor().operation != "reshape";
  return count;
}

TEST(SunkReshapes, LetElementwiseOperationsEndTheProduct) {
  Rows b;
  b.input("other", {2, 3, 6});
  const std::string h = b.apply("relu", {b.apply("add", {b.cube(), b.constant("bias", {6})})});
  const Graph g = with_compilable_operations(
      b.finish({b.apply("multiply", {"other", b.apply("add", {h, b.constant("one", {1, 1, 1})})})}));
  const Graph after = with_sunk_reshapes(g);
  expect_same_results(after, g);
  EXPECT_EQ(kernels(g), 2u);
  EXPECT_EQ(kernels(after), 1u);
  expect_right_when_compiled(g);
}

TEST(SunkReshapes, OneAfterAnotherAreOne) {
  Rows b;
  const std::string cube = b.cube();
  const std::string flat = b.graph.add_node(
      "transpose", {b.graph.add_node("reshape", {cube}, "row", {6, 1, 6}, {{"shape", Shape{6, 1, 6}}})}, "flat",
      {1, 6, 6}, {{"order", Shape{1, 0, 2}}});
  const Graph g = with_compilable_operations(b.finish({b.apply("relu", {flat})})), after = with_sunk_reshapes(g);
  expect_same_results(after, g);
  EXPECT_EQ(kernels(after), 1u);
}

TEST(SunkReshapes, StayWhereOthersReadThemOrOperandsGoAcrossRows) {
  Rows b;
  const std::string cube = b.cube();
  const Graph g = b.finish({b.apply("relu", {cube}), b.apply("sigmoid", {cube})});
  EXPECT_EQ(kernels(with_sunk_reshapes(g)), kernels(g));
  Rows c;
  const Graph across = c.finish({c.apply("add", {c.cube(), c.constant("middle", {3, 1})})});
  EXPECT_EQ(kernels(with_sunk_reshapes(across)), kernels(across));
  expect_same_results(with_sunk_reshapes(across), across);
}

// Images lie with their channels innermost; kernels of rows do not.
TEST(Layouts, ProductsOfImagesReadAndMakeRows) {
  GraphBuilder b({1, 4, 6, 6});
  b.input("a", {1, 4, 6, 6});
  const std::string image = b.conv2d("x", {4});
  const std::string made = b.graph.add_node("matmul", {image, "a"}, "made", {1, 4, 6, 6});
  const std::string norm = b.graph.add_node("layer_norm", {image, b.constant("scale", {6}), b.constant("shift", {6})},
                                            "norm", {1, 4, 6, 6}, {{"axis", int64_t{3}}, {"epsilon", 1e-5}});
  expect_right_when_compiled(b.finish({b.apply("add", {b.apply("add", {made, b.conv2d("x", {4})}), norm})}));
}

}  // namespace
}  // namespace saltern::generators
