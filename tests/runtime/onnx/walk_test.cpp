// Branches, loops, scans and functions: a model gives the same whether it runs node by node or is lowered first.

#include "runtime/graph/executor.h"
#include "runtime/onnx/lower_model.h"
#include "tests/errors.h"
#include "tests/imported_model.h"

namespace saltern {
namespace {

void expect_everywhere(const Model &m, const Tensor &x, const Shape &shape, const std::vector<double> &want) {
  const Tensor ran = run_model(m, {{"x", x}}).at("y").tensor();
  EXPECT_EQ(ran.shape(), shape);
  EXPECT_EQ(ran.reals(), want);
  const Tensor lowered = run(lower_model(m), {{"x", x}}).at("y");
  EXPECT_EQ(lowered.shape(), shape);
  EXPECT_EQ(lowered.reals(), want);
}

const std::string sums = "graph body\ninput s\ninput e\nnode Add(s, e) -> t f32 [2]\noutput t\noutput t\nend\n";

TEST(Walk, ScansGoAlongAnyAxisInEitherDirection) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 10, 20, 30});
  expect_everywhere(model_of("input x f32 [2, 3]\nconstant zero f32 [2] = [0.0, 0.0]\n" + sums +
                             "node Scan(zero, x) {body = graph body, num_scan_inputs = 1, scan_input_axes = [1], "
                             "scan_input_directions = [1], scan_output_axes = [-1]} -> last, y\noutput y\n"),
                    x, {2, 3}, {3, 5, 6, 30, 50, 60});
}

// Each of two states and two rows of results, as they are and joined by what comes after.
TEST(Walk, ScansGiveEveryStateAndEveryRowOfResults) {
  const std::string scan =
      "input x f32 [3, 2]\nconstant zero f32 [2] = [0.0, 0.0]\nconstant one f32 [2] = [1.0, 1.0]\n"
      "graph body\ninput s\ninput p\ninput e\nnode Add(s, e) -> t f32 [2]\nnode Mul(p, e) -> q f32 [2]\n"
      "node Sub(t, q) -> d f32 [2]\nnode Neg(e) -> m f32 [2]\noutput t\noutput q\noutput d\noutput m\nend\n"
      "node Scan(zero, one, x) {body = graph body, num_scan_inputs = 1} -> total, product, differences, negatives\n";
  const Tensor x = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto expect = [&](const std::string &rest, const Shape &shape, const std::vector<double> &want) {
    SCOPED_TRACE(rest);
    expect_everywhere(model_of(scan + "node " + rest + " -> y\noutput y\n"), x, shape, want);
  };
  expect("Identity(total)", {2}, {9, 12});
  expect("Identity(product)", {2}, {15, 48});
  expect("Identity(differences)", {3, 2}, {0, 0, 1, -2, -6, -36});
  expect("Identity(negatives)", {3, 2}, {-1, -2, -3, -4, -5, -6});
  expect("Sum(total, product, differences, negatives)", {3, 2}, {23, 58, 22, 54, 13, 18});
}

TEST(Walk, ScansOfOpset8HaveABatchInFront) {
  const Tensor x = Tensor::of<float>({2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40});
  expect_everywhere(
      model_of("input x f32 [2, 2, 2]\nconstant zero f32 [2, 2] = [0.0, 0.0, 0.0, 0.0]\n" + sums +
                   "node Scan(\"\", zero, x) {body = graph body, num_scan_inputs = 1} -> last, y\noutput y\n",
               8),
      x, {2, 2, 2}, {1, 2, 4, 6, 10, 20, 40, 60});
}

std::string loop(const std::string &count) {
  return "input x f32 [2]\nconstant n i64 [] = [" + count +
         "]\ngraph body\ninput i\ninput on\ninput v\nnode Identity(on) -> next\nnode Add(v, x) -> w f32 [2]\n"
         "output next\noutput w\noutput w\nend\nnode Loop(n, \"\", x) {body = graph body} -> last, y\noutput y\n";
}

TEST(Walk, LoopsSeeTheNamesAroundThem) {
  expect_everywhere(model_of(loop("3")), Tensor::of<float>({2}, {1, 10}), {3, 2}, {2, 20, 3, 30, 4, 40});
}

TEST(Walk, ALoopWithoutATurnGivesNothingOfTheDeclaredShape) {
  expect_everywhere(model_of(loop("0")), Tensor::of<float>({2}, {1, 10}), {0, 2}, {});
}

TEST(Walk, ACountThatIsNotKnownNamesTheInputsThatItComesFrom) {
  const Model m = model_of(
      "input a i64 []\ninput b i64 []\ninput c i64 []\ninput x f32 [2]\nnode Mul(a, b) -> ab\nnode Add(ab, a) -> n\n"
      "graph body\ninput i\ninput on\ninput v\nnode Identity(on) -> next\nnode Add(v, x) -> w\n"
      "output next\noutput w\nend\nnode Loop(n, \"\", x) {body = graph body} -> y\noutput y\n");
  EXPECT_THROW(lower_model(m), Unsupported);
  expect_error([&] { lower_model(m); }, {"Loop", "its number of turns ('n')", "the inputs 'a', 'b' are"});
}

TEST(Walk, FunctionsHaveAttributesAndOpsetsOfTheirOwn) {
  Model m =
      model_of("input x f32 [1, 2, 2]\nnode Biggest(x) of own {where = 1} -> a\nnode Hardmax(a) -> y\noutput y\n");
  ModelFunction f{"own", "Biggest"};
  f.attributes = {"where"};
  f.body = parse_imported_graph(
      "saltern graph 1\ninput p\nnode Hardmax(p) with {axis = where} -> q\n"
      "node Mul(p, q) -> r\noutput r\n",
      {}, "function");
  f.opsets[""] = 11;  // flattens; the model's own 21 does not
  m.functions.push_back(f);
  // 0 0 0 4, then one for each row.
  expect_everywhere(m, Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4}), {1, 2, 2}, {1, 0, 0, 1});
}

TEST(Walk, FunctionsThatCallThemselvesAreRefused) {
  Model m = model_of("input x f32 [1]\nnode F(x) of own -> y\noutput y\n");
  ModelFunction f{"own", "F"};
  f.body = parse_imported_graph("saltern graph 1\ninput p\nnode F(p) of own -> q\noutput q\n", {}, "function");
  m.functions.push_back(f);
  const Tensor x = Tensor::zeros({1});
  expect_error([&] { run_model(m, {{"x", x}}); }, {"deep"});
  expect_error([&] { lower_model(m); }, {"deep"});
}

// Branches of one shape are both lowered (undecided_branch.h); here the shape of the result is what data decides.
TEST(Walk, AShapeThatDependsOnDataIsNotLowered) {
  const Model m = model_of(
      "input x bool []\ngraph a\nconstant p f32 [] = [1.0]\noutput p\nend\n"
      "graph b\nconstant q f32 [1] = [2.0]\noutput q\nend\n"
      "node If(x) as choice {then_branch = graph a, else_branch = graph b} -> y\noutput y\n");
  EXPECT_EQ(run_model(m, {{"x", Tensor::of<bool>({}, {false})}}).at("y").tensor().item(), 2);
  EXPECT_THROW(lower_model(m), Unsupported);
  expect_error([&] { lower_model(m); }, {"choice", "'x'", "run time only"});
}

}  // namespace
}  // namespace saltern
