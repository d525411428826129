// Imported models, lowered and compiled, beside the operators run one by one: graphs that once were wrong, refused or fatal
// when compiled.

#include "runtime/onnx/lower_model.h"
#include "tests/compiled_graph.h"
#include "tests/imported_model.h"

namespace saltern {
namespace {

void expect_compiled_as_run(const std::string &lines) {
  const Model model = model_of(lines);
  const HostValues given = some_inputs(model), want = run_model(model, given);
  std::map<std::string, Tensor> inputs;
  for (const auto &[name, v] : given) inputs[name] = v.tensor();
  const Graph graph = lower_model(optimized(model), {});
  std::map<std::string, Tensor> by_operators;
  for (const auto &[name, v] : want) by_operators[name] = v.tensor();
  SCOPED_TRACE(lines);
  expect_close(run(graph, inputs), by_operators);
  expect_right_when_compiled(graph);
}

// What makes rows feeds what reads images.
TEST(CompiledImport, RowsBeforeImages) {
  const std::string first =
      "input x f32 [1, 4, 6, 6]\ninput w f32 [3, 4, 3, 3]\ninput m f32 [6, 6]\n"
      "constant ones f32 [6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n";
  const std::string image[] = {"Conv(r, w) -> y", "MaxPool(r) {kernel_shape = [2, 2]} -> y",
                               "AveragePool(r) {kernel_shape = [3, 2]} -> y", "GlobalAveragePool(r) -> y"};
  for (const char *rows : {"Softmax(x) {axis = -1} -> r", "LogSoftmax(x) {axis = -1} -> r",
                           "LayerNormalization(x, ones) {axis = -1} -> r", "MatMul(x, m) -> r"})
    for (const std::string &reader : image)
      expect_compiled_as_run(first + std::string("node ") + rows + "\nnode " + reader + "\noutput y\n");
}

TEST(CompiledImport, MovementOfExtentsOfOne) {
  expect_compiled_as_run("input x f32 [1, 2, 1]\nnode Transpose(x) {perm = [2, 1, 0]} -> y\noutput y\n");
  expect_compiled_as_run("input a f32 [1, 1]\ninput b f32 [1, 1]\nnode Gemm(a, b) {transA = 1} -> y\noutput y\n");
  expect_compiled_as_run(
      "input x f32 [1, 1, 3]\nnode Transpose(x) {perm = [1, 0, 2]} -> t\nnode Relu(t) -> y\noutput y\n");
}

TEST(CompiledImport, ExtremesOfSeveral) {
  for (const char *op : {"Max", "Min"})
    for (const char *size : {"16", "32", "50"}) {
      std::string inputs;
      for (const char *name : {"a", "b", "c"}) inputs += std::string("input ") + name + " f32 [" + size + "]\n";
      expect_compiled_as_run(inputs + "node " + op + "(a, b, c) -> y\noutput y\n");
    }
}

TEST(CompiledImport, ScansWithSeveralResults) {
  expect_compiled_as_run(
      "input s f32 [2]\ninput x f32 [3, 2]\n"
      "graph body\n  input state f32 [2]\n  input e f32 [2]\n  node Add(state, e) -> next\n"
      "  node Mul(state, e) -> p\n  node Sub(state, e) -> d\n  output next\n  output p\n  output d\nend\n"
      "node Scan(s, x) {body = graph body, num_scan_inputs = 1} -> last, ps, ds\noutput last\noutput ps\noutput ds\n");
}

TEST(CompiledImport, AnInputAndAConstantAsOutputs) {
  expect_compiled_as_run(
      "input x f32 [2, 3]\nconstant c f32 [2] = [1.0, 2.0]\nnode Relu(x) -> y\n"
      "output x\noutput c\noutput y\n");
}

TEST(CompiledImport, QuestionsAboutPartsOfProbabilities) {
  expect_compiled_as_run(
      "input x f32 [3, 5]\nconstant b i64 [1] = [1]\nconstant e i64 [1] = [4]\nconstant a i64 [1] = [1]\n"
      "node Softmax(x) -> p\nnode Slice(p, b, e, a) -> part\nnode IsInf(part) -> y\noutput y\n");
}

TEST(CompiledImport, ResizeAboutTheMiddle) {
  expect_compiled_as_run(
      "input x f32 [1, 1, 4, 4]\nconstant scales f32 [4] = [1.0, 1.0, 1.6, 0.7]\n"
      "node Resize(x, \"\", scales) {coordinate_transformation_mode = \"half_pixel_symmetric\", mode = \"nearest\"} -> "
      "y\n"
      "output y\n");
}

}  // namespace
}  // namespace saltern
