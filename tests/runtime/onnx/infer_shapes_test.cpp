// Shapes of imported graphs before they run: numbers, names, and sums of names, through arithmetic on shapes, branches,
// loops and functions. What cannot be told stays open, and nothing is claimed that a run would contradict.

#include <chrono>

#include "runtime/onnx/infer_shapes.h"
#include "tests/imported_model.h"

namespace saltern {
namespace {

// "f32 [2, batch, ?]", or nothing.
std::string shape_of(const Model &m, const std::string &name = "y") {
  const Inferred all = infer_shapes(m);
  const auto found = all.values.find(name);
  if (found == all.values.end()) return "";
  Graph g;
  g.inputs = {"v"};
  g.values["v"] = found->second;
  g.values["v"].constant = {};
  const std::string text = to_text(g), head = "input v ";
  const size_t begin = text.find(head) + head.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(InferShapes, NamesAndNumbersGoThroughOperators) {
  EXPECT_EQ(shape_of(model_of("input x f32 [batch, 3, 32, 32]\nconstant w f32 [1, 3, 1, 1] = [1.0, 2.0, 3.0]\n"
                              "node Conv(x, w) {strides = [2, 2]} -> y\noutput y\n")),
            "f32 [batch, 1, 16, 16]");
  EXPECT_EQ(
      shape_of(model_of("input a f32 [n, 2]\ninput b f32 [m, 2]\nnode Concat(a, b, a) {axis = 0} -> y\noutput y\n")),
      "f32 [\"m+2*n\", 2]");
  EXPECT_EQ(shape_of(model_of("input a f32 [n, m, 2]\nnode Flatten(a) {axis = 2} -> y\noutput y\n")),
            "f32 [\"m*n\", 2]");
  EXPECT_EQ(shape_of(model_of("input a f32 [?, 4]\nnode Relu(a) -> y\noutput y\n")), "f32 [?, 4]");
}

TEST(InferShapes, ArithmeticOnShapesIsComputed) {
  const Model m = model_of(
      "input x f32 [batch, seq, 12]\n"
      "constant i i64 [2] = [0, 1]\nconstant heads i64 [2] = [3, 4]\n"
      "node Shape(x) -> s\nnode Gather(s, i) -> front\nnode Concat(front, heads) {axis = 0} -> to\n"
      "node Reshape(x, to) -> split\nnode Transpose(split) {perm = [0, 2, 1, 3]} -> y\noutput y\n");
  EXPECT_EQ(shape_of(m), "f32 [batch, 3, seq, 4]");
  EXPECT_EQ(shape_of(m, "to"), "i64 [4]");
  EXPECT_FALSE(infer_shapes(m).values.at("to").constant.defined());
  // With fixed extents the values are known as well.
  Model fixed = m;
  fixed.graph.values["x"] = {{2, 5, 12}, Type::f32};
  EXPECT_EQ(infer_shapes(fixed).values.at("to").constant.integers(), (std::vector<int64_t>{2, 5, 3, 4}));
}

// There is no rule for them but their lowering, whose formulas are evaluated with sizes in the place of numbers.
TEST(InferShapes, ElementsComeFromWhatTheLoweringComputes) {
  const std::string head =
      "input x f32 [n, m, 6]\nconstant zero i64 [] = [0]\nconstant two i64 [] = [2]\n"
      "constant w i64 [3] = [1, 2, 0]\nnode Shape(x) -> s\n";
  const auto filled = [&](const std::string &nodes) {
    return shape_of(model_of(head + nodes + "node ConstantOfShape(to) -> y\noutput y\n"));
  };
  EXPECT_EQ(filled("node CumSum(s, zero) -> to\n"), "f32 [n, \"m+n\", \"m+n+6\"]");
  EXPECT_EQ(filled("node ReduceProd(s) -> p\nnode Div(p, two) -> to\n"), "f32 [\"3*m*n\"]");
  EXPECT_EQ(filled("node ScatterElements(s, w, s) -> to\n"), "f32 [6, n, m]");
  EXPECT_EQ(filled("node Mul(s, w) -> v\nnode Max(v, s) -> to\n"), "f32 [n, \"2*m\", 6]");
  EXPECT_EQ(filled("node Cast(s) {to = 6} -> i\nnode Sub(i, i) -> d\nnode Cast(d) {to = 7} -> to\n"), "f32 [0, 0, 0]");
  // A half of n is no whole number for every n; and the least of two depends on which it is.
  EXPECT_EQ(filled("node Div(s, two) -> to\n"), "f32 [?, ?, 3]");
  EXPECT_EQ(filled("node Min(s, w) -> to\n"), "f32 [?, ?, 0]");
}

// One slope for each channel, before operators broadcast.
TEST(InferShapes, AnOldPReluKeepsTheShapeOfItsInput) {
  const std::string lines = "input x f32 [n, 4, h, w]\ninput slope f32 [4]\nnode PRelu(x, slope) -> y\noutput y\n";
  EXPECT_EQ(shape_of(model_of(lines, 6)), "f32 [n, 4, h, w]");
}

TEST(InferShapes, WhatIsNotLinearStaysOpen) {
  // At most ten of a sequence; every second of a row; where elements are not zero.
  EXPECT_EQ(shape_of(model_of("input x f32 [seq, 2]\nconstant b i64 [1] = [0]\nconstant e i64 [1] = [10]\n"
                              "node Slice(x, b, e) -> y\noutput y\n")),
            "f32 [?, 2]");
  EXPECT_EQ(
      shape_of(model_of("input x f32 [1, 1, w]\nnode MaxPool(x) {kernel_shape = [2], strides = [2]} -> y\noutput y\n")),
      "f32 [1, 1, ?]");
  EXPECT_EQ(shape_of(model_of("input x f32 [3]\nnode NonZero(x) -> y\noutput y\n")), "");
}

TEST(InferShapes, BranchesAndLoops) {
  const std::string branches =
      "graph a\nnode Neg(x) -> a\noutput a\nend\ngraph b\nnode Relu(x) -> b\noutput b\nend\n"
      "graph c\nnode Concat(x, x) {axis = 0} -> c\noutput c\nend\n";
  const std::string head = "input x f32 [n, 2]\ninput c bool []\n" + branches;
  EXPECT_EQ(shape_of(model_of(head + "node If(c) {then_branch = graph a, else_branch = graph b} -> y\noutput y\n")),
            "f32 [n, 2]");
  EXPECT_EQ(shape_of(model_of(head + "node If(c) {then_branch = graph a, else_branch = graph c} -> y\noutput y\n")),
            "f32 [?, 2]");
  const std::string loop =
      "input x f32 [n, 2]\nconstant count i64 [] = [5]\ngraph body\ninput i\ninput on\ninput v\ninput w\n"
      "node Identity(on) -> next\nnode Neg(v) -> v1\nnode Concat(w, w) {axis = 0} -> w1\n"
      "output next\noutput v1\noutput w1\noutput v1\nend\n"
      "node Loop(count, \"\", x, x) {body = graph body} -> y, grown, all\noutput y\noutput grown\noutput all\n";
  EXPECT_EQ(shape_of(model_of(loop)), "f32 [n, 2]");
  EXPECT_EQ(shape_of(model_of(loop), "grown"), "");
  EXPECT_EQ(shape_of(model_of(loop), "all"), "f32 [5, n, 2]");
  // What is gathered from no turn at all has the shape that the body declares, and this one declares none.
  const auto scan = [](const std::string &turns) {
    return model_of("input x f32 [n, " + turns + ", 2]\ninput s f32 [n, 2]\ngraph body\ninput s0\ninput x0\n" +
                    "node Add(s0, x0) -> s1\noutput s1\noutput s1\nend\n" +
                    "node Scan(s, x) {body = graph body, num_scan_inputs = 1, scan_input_axes = [1], " +
                    "scan_output_axes = [2]} -> last, y\noutput y\n");
  };
  EXPECT_EQ(shape_of(scan("4")), "f32 [n, 2, 4]");
  EXPECT_EQ(shape_of(scan("t")), "");
}

TEST(InferShapes, DeclaredShapesStayWhereNothingBetterIsKnown) {
  const Model m = with_inferred_shapes(
      model_of("input x f32 [n]\nnode NonZero(x) -> z i64 [1, found]\nnode Neg(x) -> y f32 any\noutput y\noutput z\n"));
  EXPECT_EQ(m.graph.value("z").symbol(1), "found");
  EXPECT_EQ(m.graph.value("y").symbol(0), "n");
}

TEST(InferShapes, ALongModelTakesAMoment) {
  std::string lines = "input x f32 [batch, seq, 8]\nconstant w f32 [8] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]\n";
  std::string last = "x";
  for (int i = 0; i < 1250; ++i) {
    const std::string n = std::to_string(i);
    lines += "node Add(" + last + ", w) -> a" + n + "\nnode Sigmoid(a" + n + ") -> b" + n + "\nnode Shape(x) -> s" + n +
             "\nnode Reshape(b" + n + ", s" + n + ") -> c" + n + "\n";
    last = "c" + n;
  }
  const Model m = model_of(lines + "output " + last + "\n");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(shape_of(m, last), "f32 [batch, seq, 8]");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(seconds, 10);  // about one; machines differ
  RecordProperty("milliseconds", static_cast<int>(1000 * seconds));
}

// Where one of them is 1 in a run, the result has another rank.
TEST(InferShapes, ASqueezeOfWhateverIsOneHasNoRankWhereExtentsAreOpen) {
  const std::string tail = "\nnode Squeeze(x) -> y\noutput y\n";
  EXPECT_EQ(shape_of(model_of("input x f32 [n, 1]" + tail)), "");
  EXPECT_EQ(shape_of(model_of("input x f32 [3, 1]" + tail)), "f32 [3]");
}

TEST(DecisionBySizes, ShapesDecideNothing) {
  const std::string head = "input x f32 [n, 6]\nconstant i i64 [1] = [0]\nconstant rest i64 [2] = [2, 3]\n";
  for (const char *tail : {"node Shape(x) -> s\nnode Gather(s, i) -> front\nnode Concat(front, rest) {axis = 0} -> to\n"
                           "node Reshape(x, to) -> y\n",
                           // The state that a recurrent net begins with, as exporters write it.
                           "node Shape(x) -> s\nnode ConstantOfShape(s) -> zeros\nnode Add(x, zeros) -> y\n"})
    EXPECT_NO_THROW(expect_no_decision_by_sizes(model_of(head + tail + "output y\n"))) << tail;
}

// A batch of one chunk and one of many would go different ways.
TEST(DecisionBySizes, IsRefusedByTheNameOfItsNode) {
  const std::string head =
      "input x f32 [n, 2]\nconstant i i64 [] = [0]\nconstant c i64 [] = [7]\nnode Shape(x) -> s\n"
      "node Gather(s, i) -> size\n";
  for (const char *node : {"Equal(size, c)", "Less(size, c)", "Max(size, c)", "Mod(size, c)", "Cast(size) {to = 1}"}) {
    try {
      expect_no_decision_by_sizes(model_of(head + "node " + node + " -> decides\nnode Cast(decides) {to = 1} -> f\n" +
                                           "node Mul(x, f) -> y\noutput y\n"));
      ADD_FAILURE() << node;
    } catch (const Unsupported &e) {
      EXPECT_NE(std::string(e.what()).find("'decides'"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace saltern
