// Sequences and optionals: a model gives the same whether it runs node by node or is lowered first, where a sequence is
// tensors called NAME.0, NAME.1, ...

#include "runtime/graph/executor.h"
#include "runtime/onnx/flat_values.h"
#include "runtime/onnx/lower_model.h"
#include "tests/errors.h"
#include "tests/imported_model.h"

namespace saltern {
namespace {

using Tensors = std::map<std::string, Tensor>;
using Elements = std::vector<std::vector<double>>;

HostValue sequence(const std::vector<std::vector<float>> &elements) {
  HostValue::Sequence all;
  for (const std::vector<float> &e : elements) all.emplace_back(Tensor::of<float>({static_cast<int64_t>(e.size())}, e));
  return HostValue(std::move(all));
}

Elements elements_of(const HostValue &v) {
  Elements all;
  for (const HostValue &e : v.sequence()) all.push_back(e.tensor().reals());
  return all;
}

Graph lowered(const Model &m, const HostValues &inputs) { return lower_model(m, flat_shapes(inputs)); }

// The output y, which is a sequence.
void expect_everywhere(const Model &m, const HostValues &inputs, const Elements &want) {
  EXPECT_EQ(elements_of(run_model(m, inputs).at("y")), want);
  const Tensors made = run(lowered(m, inputs), flat_tensors(inputs));
  EXPECT_EQ(elements_of(unflattened(m.graph, {"y"}, made).at("y")), want);
}

const std::string two_inputs = "input s sequence f32 any\ninput x f32 [2]\n";

TEST(Sequences, ArePutTogetherAndTakenApartWhileLowering) {
  expect_everywhere(
      model_of(two_inputs +
               "constant one i64 [] = [1]\nnode SequenceInsert(s, x, one) -> longer\n"
               "node SequenceAt(longer, one) -> same\nnode Add(same, x) -> sum\n"
               "node SequenceInsert(longer, sum) -> longest\nnode SequenceErase(longest, one) -> y sequence f32 any\n"
               "output y\n"),
      {{"s", sequence({{1}, {2, 3, 4}})}, {"x", Tensor::of<float>({2}, {5, 6})}}, {{1}, {2, 3, 4}, {10, 12}});
}

TEST(Sequences, OfTensorsThatAreSplitAndJoinedAreTheTensors) {
  for (const std::string joined : {"{axis = 1}", "{axis = -1, new_axis = 1}"}) {
    const Model m = model_of(
        "input x f32 [2, 6]\nconstant sizes i64 [] = [3]\n"
        "node SplitToSequence(x, sizes) {axis = 1} -> parts\nnode ConcatFromSequence(parts) " +
        joined + " -> all\nnode SequenceConstruct(all) -> y sequence f32 any\noutput y\n");
    const Tensor x = Tensor::of<float>({2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    if (joined == "{axis = 1}")
      expect_everywhere(m, {{"x", x}}, {x.reals()});
    else
      expect_everywhere(m, {{"x", x}}, {{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}});
  }
  const Model rows =
      model_of("input x f32 [2, 3]\nnode SplitToSequence(x) {keepdims = 0} -> y sequence f32 any\noutput y\n");
  expect_everywhere(rows, {{"x", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})}}, {{1, 2, 3}, {4, 5, 6}});
}

TEST(Sequences, GoThroughLoopsAndMaps) {
  const HostValues inputs = {{"s", sequence({{1, 2}, {3, 4}})}, {"x", Tensor::of<float>({2}, {10, 20})}};
  const std::string add = "graph add\ninput a\ninput b\nnode Add(a, b) -> c\noutput c\nend\n";
  expect_everywhere(
      model_of(two_inputs + add + "node SequenceMap(s, x) {body = graph add} -> y sequence f32 any\noutput y\n"),
      inputs, {{11, 22}, {13, 24}});
  expect_everywhere(
      model_of(two_inputs +
               "graph body\ninput i i64 []\ninput on bool []\ninput all sequence f32 any\nnode Identity(on) -> next\n"
               "node SequenceAt(s, i) -> e\nnode Mul(e, x) -> p\nconstant first i64 [] = [0]\n"
               "node SequenceInsert(all, p, first) -> more\noutput next\noutput more\nend\n"
               "node SequenceLength(s) -> n\nnode SequenceEmpty() -> none\n"
               "node Loop(n, \"\", none) {body = graph body} -> y sequence f32 any\noutput y\n"),
      inputs, {{30, 80}, {10, 40}});
}

TEST(Sequences, OfKnownTensorsKeepThemOnce) {
  const Model m = model_of(
      "constant c f32 [1] = [7.0]\nconstant n i64 [] = [50]\n"
      "graph body\ninput i i64 []\ninput on bool []\ninput all sequence f32 any\nnode Identity(on) -> next\n"
      "node SequenceInsert(all, c) -> more\noutput next\noutput more\nend\nnode SequenceEmpty() -> none\n"
      "node Loop(n, \"\", none) {body = graph body} -> last\nconstant place i64 [] = [-1]\n"
      "node SequenceAt(last, place) -> e\nnode SequenceConstruct(e, e) -> y sequence f32 any\noutput y\n");
  expect_everywhere(m, {}, {{7}, {7}});
  int constants = 0;
  for (const auto &[name, v] : lowered(m, {}).values) constants += v.constant.defined();
  EXPECT_EQ(constants, 1);
}

std::string choice(const std::string &then, const std::string &otherwise) {
  return "input c bool []\n" + two_inputs + "graph a\nnode SequenceConstruct(" + then +
         ") -> p\noutput p\nend\ngraph b\nnode SequenceConstruct(" + otherwise +
         ") -> q\noutput q\nend\nnode Neg(x) -> z\n"
         "node If(c) {then_branch = graph a, else_branch = graph b} -> y sequence f32 any\noutput y\n";
}

TEST(Sequences, OfOneLengthAreChosenByData) {
  const Model m = model_of(choice("x, z", "z, x"));
  for (const bool c : {true, false})
    expect_everywhere(m, {{"c", Tensor::of<bool>({}, {c})}, {"s", sequence({})}, {"x", Tensor::of<float>({2}, {1, 2})}},
                      c ? Elements{{1, 2}, {-1, -2}} : Elements{{-1, -2}, {1, 2}});
  expect_error([] { lower_model(model_of(choice("x, z", "z")), {{"s", {}}}); }, {"If", "'c'", "run time only"});
}

TEST(Optionals, AreTheirValueOrNothing) {
  const std::string lines =
      "input s optional_sequence f32 any\ninput x optional f32 [2]\n"
      "node OptionalHasElement(s) -> has\n"
      "graph a\nnode OptionalGetElement(s) -> p\noutput p\nend\n"
      "graph b\nnode OptionalGetElement(x) -> e\nnode SequenceConstruct(e) -> q\noutput q\nend\n"
      "node If(has) {then_branch = graph a, else_branch = graph b} -> y sequence f32 any\noutput y\n";
  expect_everywhere(model_of(lines), {{"s", sequence({{1}, {2}})}}, {{1}, {2}});
  expect_everywhere(model_of(lines), {{"x", Tensor::of<float>({2}, {3, 4})}}, {{3, 4}});
  expect_error([&] { lower_model(model_of(lines)); }, {"OptionalGetElement", "empty"});
}

TEST(Optionals, ThatAreEmptyAreNoOutput) {
  const Model m = model_of(
      "input x f32 [1]\nnode Optional() -> y optional f32 any\nnode Neg(x) -> z\n"
      "output y\noutput z\n");
  EXPECT_EQ(lower_model(m).outputs, std::vector<std::string>{"z"});
}

TEST(Sequences, HaveALengthThatShapesTell) {
  const Model m = model_of("input s sequence f32 [?, 2]\nnode Identity(s) -> y sequence f32 any\noutput y\n");
  const Graph g = lower_model(m, {{"s.0", {1, 2}}, {"s.1", {4, 2}}});
  EXPECT_EQ(g.inputs, (std::vector<std::string>{"s.0", "s.1"}));
  EXPECT_EQ(g.outputs, (std::vector<std::string>{"y.0", "y.1"}));
  EXPECT_EQ(g.value("y.1").shape, (Shape{4, 2}));
  expect_error([&] { lower_model(m); }, {"'s'", "s.0"});
  expect_error([&] { lower_model(m, {{"s", {2}}}); }, {"'s'", "s.0"});
  expect_error([&] { lower_model(m, {{"s.0", {1, 2}}, {"s.2", {1, 2}}}); }, {"'s.1'", "'s.2'"});
  expect_error([&] { lower_model(m, {{"s.0", {1, 3}}}); }, {"'s.0'", "[1, 3]"});
}

TEST(Sequences, OfMillionsAreRefusedAtOnce) {
  for (const std::string kept : {"0", "1"}) {
    const Model m = model_of("input x f32 [1000000000]\nnode SplitToSequence(x) {keepdims = " + kept +
                             "} -> s\nnode SequenceLength(s) -> y\noutput y\n");
    EXPECT_THROW(lower_model(m), Unsupported);
    EXPECT_FALSE(infer_shapes(m).find("s"));
  }
}

TEST(Sequences, DoNotTakeTheNamesOfOthers) {
  const std::string in = "input s sequence f32 any\ninput s.0 f32 [1]\nnode Neg(s.0) -> y\noutput y\n",
                    out =
                        "input y.0 f32 [1]\nnode Neg(y.0) -> z\n"
                        "node SequenceConstruct(z) -> y sequence f32 any\noutput y\n";
  expect_error([&] { lower_model(model_of(in), {{"s.0", {1}}}); }, {"'s.0'"});
  expect_error([&] { lower_model(model_of(out)); }, {"'y.0'"});
  const std::string outs =
      "input x f32 [1]\nnode SequenceConstruct(x) -> y sequence f32 any\nnode Neg(x) -> y.0\noutput y\noutput y.0\n";
  expect_error([&] { lower_model(model_of(outs)); }, {"'y.0'"});
}

}  // namespace
}  // namespace saltern
