// The text of imported graphs: whatever a graph can hold comes back, people can read it, and hostile text gets an error
// that names the line and the fault.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/graph/text.h"
#include "tests/errors.h"

namespace saltern {
namespace {

// Round trips with all tensors beside the text, with small ones in it, and with all of them in it.
void expect_to_come_back(const Graph &g) {
  for (int64_t largest_inside : {int64_t{-1}, int64_t{3}, int64_t{1000}}) {
    const GraphText written = text_of(g, largest_inside);
    const Graph back = parse_imported_graph(written.text, written.tensors, "test");
    EXPECT_TRUE(is_same(back, g)) << written.text << "came back as\n" << to_text(back);
    EXPECT_EQ(text_of(back, largest_inside).text, written.text);
  }
}

// y = f(x) with one node.
Graph one_node(Graph::Node n) {
  Graph g;
  g.inputs = {"x"};
  g.values["x"] = {{-1, 3, -1}, Type::f32, {}, {"batch", "", ""}};
  n.outputs = {"y"};
  g.nodes = {std::move(n)};
  g.outputs = {"y"};
  return g;
}

TEST(ImportedText, IsReadable) {
  Graph g = one_node({"Add", {}, {"x", "two"}, {}, "", "sum"});
  g.add_constant("two", Tensor::of<float>({1}, {2}));
  EXPECT_EQ(to_text(g),
            "saltern graph 1\n"
            "input x f32 [batch, 3, ?]\n"
            "constant two f32 [1] = [2.0]\n"
            "node Add(x, two) as sum -> y\n"
            "output y\n");
}

TEST(ImportedText, EveryKindOfAttributeComesBack) {
  const double infinity = std::numeric_limits<double>::infinity();
  auto inner = std::make_shared<Graph>();
  inner->nodes = {{"Constant", {{"value", Tensor::of<int64_t>({2}, {1, -1})}}, {}, {"c"}}};
  inner->outputs = {"c", "x"};
  auto middle = std::make_shared<Graph>();
  middle->inputs = {"i"};
  middle->nodes = {{"If", {{"then_branch", SharedGraph(inner)}}, {"i"}, {"c", "d"}}};
  middle->outputs = {"d"};
  middle->add_constant("k", Tensor::full({5}, 0.1));
  auto type_only = std::make_shared<Graph>();
  type_only->values["type"] = {{2, -1}, Type::bf16};
  expect_to_come_back(one_node({"Everything",
                                {{"integer", int64_t{-3}},
                                 {"real", 0.1},
                                 {"whole", 2.0},
                                 {"infinite", -infinity},
                                 {"no number", std::nan("")},
                                 {"word", std::string("a \"quoted\" \\ word,\nwith = {all} [of] -> it\x01\x7f\0!", 45)},
                                 {"integers", std::vector<int64_t>{1, -2}},
                                 {"no integers", std::vector<int64_t>{}},
                                 {"reals", std::vector<double>{1, 0.5, infinity}},
                                 {"no reals", std::vector<double>{}},
                                 {"words", std::vector<std::string>{"a", "", "graph 1"}},
                                 {"no words", std::vector<std::string>{}},
                                 {"tensor", Tensor::of<uint8_t>({2, 2}, {1, 2, 3, 255})},
                                 {"texts", Tensor::of<std::string>({2}, {"one", "t\"wo"})},
                                 {"nothing", Tensor::zeros({0, 3})},
                                 {"no tensor", Tensor()},
                                 {"wide", Tensor::of<int64_t>({1}, {std::numeric_limits<int64_t>::max()})},
                                 {"not numbers", Tensor::of<float>({2}, {std::nanf(""), -0.0F})},
                                 {"formula", formula::load(0, Type::f32, {formula::axis(0)}) * 2},
                                 {"body", SharedGraph(middle)},
                                 {"type", SharedGraph(type_only)}},
                                {"x", "", "x"},
                                {},
                                "some.domain",
                                "a label",
                                {{"to", "kind"}, {"from", "other kind"}}}));
}

TEST(ImportedText, EveryKindOfValueComesBack) {
  Graph g = one_node({"Identity", {}, {"x"}, {}});
  using Container = Graph::Container;
  for (const Container c : {Container::sequence, Container::optional, Container::optional_sequence}) {
    const std::string name = "in \"" + std::to_string(static_cast<int>(c)) + "\"";
    g.inputs.push_back(name);
    g.values[name] = {{2, -1}, Type::text, {}, {"", "2*n+1"}};
    g.values[name].container = c;
  }
  g.inputs.emplace_back("undeclared");
  g.inputs.emplace_back("of any rank");
  g.values["of any rank"].ranked = false;
  g.inputs.emplace_back("default");
  g.values["default"] = {{2}, Type::i32, Tensor::of<int32_t>({2}, {4, 5})};
  g.values["seen"] = {{3, 0}, Type::f8e4m3fn};
  g.values["y"] = {{-1, -1}, Type::f32, {}, {"7", "?"}};  // names that look like something else
  g.values["y"].layout = Layout::channels_last;
  for (const TypeFacts &t : all_types()) {
    if (t.type == Type::text) continue;
    const Tensor few = Tensor::full({2}, 1, t.type);
    g.add_constant("constant of " + std::string(t.name), few);
  }
  g.nodes.push_back({"Split", {}, {"y"}, {"", "part", ""}});
  expect_to_come_back(g);
}

TEST(ImportedText, HostileTextNamesTheLineAndTheFault) {
  struct Case {
    std::string text, expected;
  };
  const std::string deep = [] {
    std::string s;
    for (int i = 0; i < 1000; ++i) s += "graph g\n";
    return s;
  }();
  for (const Case &c : std::vector<Case>{
           {"end\n", "line 2, column 4: no graph is open"},
           {"graph g\ninput x\n", "the graph 'g' has no 'end'"},
           {"graph g\nend\ngraph g\nend\n", "line 5, column 4: the graph 'g' exists already"},
           {deep, "nested more than"},
           {"node If(\"\") {a = graph g} -> y\n", "line 2, column 25: there is no graph 'g'"},
           {"node C() {t = tensor f32 [2] = [1.0]} -> y\n", "column 32: expected the elements of a tensor of f32 [2]"},
           {"node C() {t = tensor f32 [999999999, 999999999] = [1.0]} -> y\n", "expected the elements"},
           {"node C() {t = tensor f32 [-1] = []} -> y\n", "expected the elements"},
           {"node C() {t = tensor text [1] = [1]} -> y\n", "expected the elements"},
           {"node C() {t = tensor f32 [1] = [[1]]} -> y\n", "expected a list of numbers or words"},
           {"node C() {t = tensor f32 [1] = @none} -> y\n", "no tensor for the constant 'none'"},
           {"node C() {t = tensor f32 [1] = @there} -> y\n", "the tensor is f32 [3]"},
           {"node C() {l = [1, 2.0]} -> y\n", "a list of one kind"},
           {"node C() with {a = b, a = c} -> y\n", "given twice"},
           {"node C() -> y, y\noutput y\n", "exists already"},
           {"node C(z) -> y\noutput y\n", "reads 'z'"},
           {"node C() -> y\nnode C() -> y\noutput y\n", "makes 'y', which exists already"},
           {"graph g\nnode C(z) -> y\nend\nnode If(\"\") {a = graph g} -> z\n", "reads 'z'"},
           {"input x sequence [2]\n", "line 2, column 18: expected a name"},
           {"input x f32 [a b]\n", "expected ']'"},
           {"input x f32 any any\n", "should end here"},
           {"input x\ninput x\noutput x\n", "listed twice"},
           {"output z\n", "nothing makes the output 'z'"},
       }) {
    const std::string got = error_of([&] {
      parse_imported_graph("saltern graph 1\n" + c.text, {{"there", Tensor::zeros({3})}}, "hostile");
    });
    EXPECT_TRUE(contains(got, c.expected)) << c.text.substr(0, 200);
    EXPECT_EQ(got.find("hostile"), 0u) << got;
  }
}

}  // namespace
}  // namespace saltern
