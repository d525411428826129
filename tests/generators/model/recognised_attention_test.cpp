// Attention as exporters write it down is one kernel that reads its operands where they are; what only looks like it
// stays as it is.

#include "generators/model/passes/passes.h"
#include "generators/targets.h"
#include "runtime/onnx/lower_model.h"
#include "tests/compiled_graph.h"
#include "tests/imported_model.h"

namespace saltern::generators {
namespace {

Graph lowered(const std::string &lines, int64_t opset = 21) {
  return without_identities(lower_model(model_of(lines, opset)));
}

// All operations of the graph that is compiled; its passes keep results.
std::string operations(const Graph &g) {
  const Graph after = prepared_for_inference(g);
  expect_same_results(after, g);
  return operations_of(after);
}

struct Sizes {
  int64_t batch, heads, rows, keys, size, columns;
};

std::string list(std::initializer_list<int64_t> numbers) { return to_string(Shape(numbers)); }

// q, k and v as (batch, heads, length, size), k turned already.
std::string inputs(const Sizes &s) {
  return "input q f32 " + list({s.batch, s.heads, s.rows, s.size}) + "\ninput k f32 " +
         list({s.batch, s.heads, s.size, s.keys}) + "\ninput v f32 " + list({s.batch, s.heads, s.keys, s.columns}) +
         "\n";
}

const Sizes some = {2, 3, 5, 7, 4, 6};
const std::string product = "node MatMul(q, k) -> s\n";
const std::string weighted = "node Softmax(p) {axis = -1} -> w\nnode MatMul(w, v) -> y\noutput y\n";
const std::string scale = "constant c f32 [1] = [0.35]\n";

TEST(RecognisedAttention, WithScalesAndMasks) {
  for (const char *between : {"node Identity(s) -> p\n", "node Mul(s, c) -> p\n", "node Div(s, c) -> p\n",
                              "node Mul(c, s) -> t\nnode Add(t, m) -> p\n", "node Add(m, s) -> p\n",
                              "node Where(b, s, c) -> p\n", "node Mul(s, c) -> t\nnode Tanh(t) -> p\n"})
    EXPECT_EQ(operations(lowered(inputs(some) + scale +
                                 "input m f32 [2, 1, 1, 7]\nconstant b bool [5, 1] = [1, 0, 1, 1, 0]\n" + product +
                                 between + weighted)),
              "attention")
        << between;
}

TEST(RecognisedAttention, ReadsHeadsFromWhereTheyAre) {
  // (batch, length, heads, size) and back, with scales on both sides.
  const Graph g = lowered("input q f32 [2, 5, 3, 4]\ninput k f32 [2, 7, 3, 4]\ninput v f32 [2, 7, 3, 6]\n" + scale +
                          "node Transpose(q) {perm = [0, 2, 1, 3]} -> q1\nnode Mul(q1, c) -> q2\n"
                          "node Transpose(k) {perm = [0, 2, 3, 1]} -> k1\nnode Mul(k1, c) -> k2\n"
                          "node Transpose(v) {perm = [0, 2, 1, 3]} -> v1\n"
                          "node MatMul(q2, k2) -> s\nnode Softmax(s) {axis = 3} -> p\nnode MatMul(p, v1) -> o\n"
                          "node Transpose(o) {perm = [0, 2, 1, 3]} -> y\noutput y\n");
  EXPECT_EQ(operations(g), "attention");
  expect_right_when_compiled(g);
}

TEST(RecognisedAttention, ReadsQueriesKeysAndValuesOutOfOneTensor) {
  const Graph g = lowered(
      "input x f32 [5, 24]\nconstant to4 i64 [4] = [5, 3, 2, 4]\nconstant zero i64 [] = [0]\nconstant one i64 [] = "
      "[1]\n"
      "constant two i64 [] = [-1]\nconstant rows i64 [2] = [5, 8]\n"
      "node Reshape(x, to4) -> t\nnode Transpose(t) {perm = [1, 2, 0, 3]} -> u\n"
      "node Gather(u, zero) -> q\nnode Gather(u, one) -> k\nnode Gather(u, two) -> v\n"
      "node Transpose(k) {perm = [0, 2, 1]} -> kt\nnode MatMul(q, kt) -> s\nnode Softmax(s) -> p\n"
      "node MatMul(p, v) -> o\nnode Transpose(o) {perm = [1, 0, 2]} -> n\nnode Reshape(n, rows) -> y\noutput y\n");
  EXPECT_EQ(operations(g), "attention reshape");
  expect_right_when_compiled(g);
}

TEST(RecognisedAttention, OfNoBatchAndOfKeysForAllHeads) {
  const Graph matrices = lowered("input q f32 [5, 4]\ninput k f32 [4, 7]\ninput v f32 [7, 6]\n" + product +
                                 "node Identity(s) -> p\n" + weighted);
  EXPECT_EQ(operations(matrices), "attention");
  expect_right_when_compiled(matrices);
  const Graph shared = lowered("input q f32 [2, 3, 5, 4]\ninput k f32 [2, 1, 4, 7]\ninput v f32 [2, 1, 7, 6]\n" +
                               product + "node Identity(s) -> p\n" + weighted);
  EXPECT_EQ(operations(shared), "attention");
  expect_right_when_compiled(shared);
}

TEST(RecognisedAttention, OfOnnxItself) {
  const Graph g = lowered(
      "input q f32 [2, 5, 12]\ninput k f32 [2, 7, 12]\ninput v f32 [2, 7, 18]\n"
      "node Attention(q, k, v) {q_num_heads = 3, kv_num_heads = 3, is_causal = 1} -> y\noutput y\n",
      23);
  EXPECT_EQ(operations(g), "attention reshape");
  expect_right_when_compiled(g);
}

TEST(RecognisedAttention, ThatIsReadElsewhereStays) {
  for (const char *other : {"output s\n", "output p\n", "output w\n"})
    EXPECT_EQ(operations(lowered(inputs(some) + scale + product + "node Mul(s, c) -> p\n" + weighted + other))
                  .find("attention"),
              std::string::npos)
        << other;
}

TEST(RecognisedAttention, OthersStay) {
  const auto stays = [](const std::string &nodes) {
    EXPECT_EQ(operations(lowered(inputs(some) + scale + nodes + "output y\n")).find("attention"), std::string::npos)
        << nodes;
  };
  stays(product + "node Softmax(s) {axis = 2} -> w\nnode MatMul(w, v) -> y\n");
  stays(product + "node Sigmoid(s) -> w\nnode MatMul(w, v) -> y\n");
  stays("node Softmax(q) -> w\nnode MatMul(w, k) -> y\n");
}

// Masked attentions of several sizes, each with inputs of its own.
Graph attentions(const std::vector<Sizes> &sizes) {
  std::string lines;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Sizes &s = sizes[i];
    const std::string n = std::to_string(i);
    lines += "input q" + n + " f32 " + list({s.batch, s.heads, s.rows, s.size}) + "\ninput k" + n + " f32 " +
             list({s.batch, s.heads, s.size, s.keys}) + "\ninput v" + n + " f32 " +
             list({s.batch, s.heads, s.keys, s.columns}) + "\ninput m" + n + " f32 " + list({s.rows, s.keys}) +
             "\nnode MatMul(q" + n + ", k" + n + ") -> s" + n + "\nnode Add(s" + n + ", m" + n + ") -> p" + n +
             "\nnode Softmax(p" + n + ") -> w" + n + "\nnode MatMul(w" + n + ", v" + n + ") -> y" + n + "\noutput y" +
             n + "\n";
  }
  return lowered(lines);
}

// Below, at and above the sizes of vectors and tiles.
TEST(AttentionKernel, TakesAnySizes) {
  expect_right_when_compiled(
      attentions({{1, 1, 1, 1, 1, 1}, {2, 1, 70, 128, 64, 64}, {1, 3, 13, 64, 31, 129}, {1, 1, 9, 300, 5, 17}}));
}

// Sums of one element are none, and those of one column go by lanes.
TEST(AttentionKernel, TakesSizesOfOne) {
  expect_right_when_compiled(
      attentions({{1, 2, 5, 1, 40, 20}, {1, 2, 5, 40, 1, 20}, {2, 2, 5, 40, 20, 1}, {1, 2, 1, 40, 20, 6}}));
}

TEST(AttentionKernel, TakesOneTensorForQueriesKeysAndValues) {
  const Graph g = lowered(
      "input x f32 [2, 9, 9]\nnode MatMul(x, x) -> s\nnode Softmax(s) -> w\nnode MatMul(w, x) -> y\n"
      "output y\n");
  EXPECT_EQ(operations(g), "attention");
  expect_right_when_compiled(g);
}

TEST(AttentionKernel, TakesOneTensorForQueriesAndValues) {
  const Graph g = lowered(
      "input x f32 [6, 2, 9]\ninput k f32 [6, 9, 2]\nnode MatMul(x, k) -> s\nnode Softmax(s) -> w\n"
      "node MatMul(w, x) -> y\noutput y\n");
  EXPECT_EQ(operations(g), "attention");
  expect_right_when_compiled(g);
}

TEST(AttentionKernel, IsRightOnEveryInstructionSet) {
  for (const TargetFacts &t : all_targets())
    if (t.kind == "cpu" && t.runs_here)
      expect_right_when_compiled(attentions({{1, 2, 3, 5, 2, 3}, {1, 2, 17, 33, 20, 40}}), {t.name});
}

// A mask of -infinity leaves no weight.
TEST(AttentionKernel, LeavesOutWhatIsMasked) {
  const Graph g = lowered(
      "input q f32 [2, 3, 4]\ninput k f32 [2, 4, 3]\ninput v f32 [2, 3, 2]\n"
      "constant m f32 [3, 3] = [0.0, -inf, -inf, 0.0, 0.0, -inf, 0.0, 0.0, 0.0]\n" +
      product + "node Add(s, m) -> p\n" + weighted);
  EXPECT_EQ(operations(g), "attention");
  expect_right_when_compiled(g);
}

}  // namespace
}  // namespace saltern::generators
