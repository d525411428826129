// ONNX files that are damaged, against the rules, or made to hurt: each is refused by an error that names the culprit,
// before time or memory are spent on it.

#include <gtest/gtest.h>

#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/run_model.h"
#include "runtime/tensor/memory.h"
#include "tests/errors.h"
#include "tests/onnx_file.h"

namespace saltern {
namespace {

using Edit = void (*)(onnx::ModelProto &);

// That the file of one Relu is good, and bad after this.
void expect_refused(const std::vector<std::string> &parts, Edit edit) {
  onnx::ModelProto p = relu_file();
  EXPECT_NO_THROW(decoded(p));
  edit(p);
  expect_error([&] { decoded(p); }, parts);
}

TEST(HostileOnnx, AnotherFormatsMagicIsNoModel) {
  // A protobuf reader takes these bytes for fields that it does not know, and the model's first for their contents.
  expect_error([] { decoded("\x89PNG\r\n\x1a\n" + relu_file().SerializeAsString()); }, {"file", "ir_version"});
}

TEST(HostileOnnx, VersionsThatNeverWereAreRefused) {
  expect_refused({"ir_version is -1"}, [](auto &p) { p.set_ir_version(-1); });
  expect_refused({"ir_version is 999"}, [](auto &p) { p.set_ir_version(999); });
  expect_refused({"version 0", "ai.onnx"}, [](auto &p) { p.mutable_opset_import(0)->set_version(0); });
  expect_refused({"version 999", "newest"}, [](auto &p) { p.mutable_opset_import(0)->set_version(999); });
  expect_refused({"opset"}, [](auto &p) { p.clear_opset_import(); });
  onnx::ModelProto p = relu_file();
  p.set_ir_version(999);
  EXPECT_THROW(decoded(p), Unsupported);
}

TEST(HostileOnnx, InputsAndOutputsHaveTypes) {
  expect_refused({"'x'", "no type"}, [](auto &p) { p.mutable_graph()->mutable_input(0)->clear_type(); });
  expect_refused({"'y'", "no type"}, [](auto &p) { p.mutable_graph()->mutable_output(0)->clear_type(); });
}

TEST(HostileOnnx, AValueIsMadeOnceAndBeforeItIsRead) {
  expect_refused({"'x'", "exists already"}, [](auto &p) { add_node(*p.mutable_graph(), "Neg", {"y"}, {"x"}); });
  expect_refused({"'y'", "exists already"}, [](auto &p) { add_node(*p.mutable_graph(), "Neg", {"x"}, {"y"}); });
  expect_refused({"reads 'b'"}, [](auto &p) {
    add_node(*p.mutable_graph(), "Add", {"x", "b"}, {"a"});
    add_node(*p.mutable_graph(), "Neg", {"a"}, {"b"});
  });
}

TEST(HostileOnnx, NodesAreAsTheirOperatorsAreDefined) {
  const auto relu = [](onnx::ModelProto &p) -> onnx::NodeProto & { return *p.mutable_graph()->mutable_node(0); };
  static const auto node = relu;
  expect_refused({"'y' (Relu)", "3 inputs", "1 at most"}, [](auto &p) {
    node(p).add_input("x");
    node(p).add_input("x");
  });
  expect_refused({"'y' (Relu)", "0 inputs", "1 at least"}, [](auto &p) { node(p).clear_input(); });
  expect_refused({"(Relu)", "2 outputs"}, [](auto &p) { node(p).add_output("z"); });
  expect_refused({"(Relu)", "'wibble'"},
                 [](auto &p) { add_attribute(node(p), "wibble", onnx::AttributeProto::INT).set_i(3); });
  expect_refused({"(Concat)", "needs the attribute 'axis'"}, [](auto &p) { node(p).set_op_type("Concat"); });
}

void set_branch(onnx::NodeProto &n, const std::string &name, const std::vector<std::string> &results) {
  onnx::GraphProto &g = *add_attribute(n, name, onnx::AttributeProto::GRAPH).mutable_g();
  for (const std::string &r : results) {
    add_node(g, "Relu", {"x"}, {r});
    declare(*g.add_output(), r, {2, 3});
  }
}

TEST(HostileOnnx, BranchesGiveWhatTheirNodeGives) {
  onnx::ModelProto p = empty_file();
  declare(*p.mutable_graph()->add_input(), "c", {}, onnx::TensorProto::BOOL);
  onnx::NodeProto &n = add_node(*p.mutable_graph(), "If", {"c"}, {"y"});
  set_branch(n, "then_branch", {"t"});
  expect_error([&] { decoded(p); }, {"(If)", "'else_branch'"});
  set_branch(n, "else_branch", {});
  expect_error([&] { decoded(p); }, {"(If)", "else_branch gives 0 values"});
}

// Functions f0, f1, ... of one input a and one output b; `calls` of function i are made one after the other.
onnx::ModelProto functions_file(int count, const std::function<std::vector<int>(int)> &calls) {
  onnx::ModelProto p = empty_file();
  auto &own = *p.add_opset_import();
  own.set_domain("own");
  own.set_version(1);
  add_node(*p.mutable_graph(), "f0", {"x"}, {"y"}, "own");
  for (int i = 0; i < count; ++i) {
    onnx::FunctionProto &f = *p.add_functions();
    f.set_domain("own");
    f.set_name("f" + std::to_string(i));
    f.add_input("a");
    f.add_output("b");
    *f.add_opset_import() = p.opset_import(0);
    *f.add_opset_import() = own;
    std::string at = "a";
    const std::vector<int> called = calls(i);
    for (size_t c = 0; c < called.size(); ++c) {
      const std::string next = c + 1 == called.size() ? "b" : "t" + std::to_string(c);
      add_node(f, "f" + std::to_string(called[c]), {at}, {next}, "own");
      at = next;
    }
    if (called.empty()) add_node(f, "Relu", {"a"}, {"b"});
  }
  return p;
}

TEST(HostileOnnx, FunctionsThatNeverEndAreRefused) {
  using Calls = std::vector<int>;
  EXPECT_NO_THROW(decoded(functions_file(3, [](int i) { return i == 2 ? Calls{} : Calls{i + 1, i + 1}; })));
  expect_error([] { decoded(functions_file(1, [](int) { return Calls{0}; })); }, {"'f0' calls itself"});
  expect_error([] { decoded(functions_file(2, [](int i) { return Calls{1 - i}; })); }, {"calls itself"});
  expect_error([] { decoded(functions_file(41, [](int i) {
                      return i == 40 ? Calls{} : Calls{i + 1, i + 1};
                    })); },
               {"nodes"});
  expect_error([] { decoded(functions_file(5000, [](int i) { return i == 4999 ? Calls{} : Calls{i + 1}; })); },
               {"deep"});
}

// x doubled along its first dimension, again and again.
Model doublings(int times) {
  onnx::ModelProto p = empty_file();
  onnx::GraphProto &g = *p.mutable_graph();
  std::string at = "x";
  for (int i = 0; i < times; ++i) {
    const std::string next = i + 1 == times ? "y" : "v" + std::to_string(i);
    add_attribute(add_node(g, "Concat", {at, at}, {next}), "axis", onnx::AttributeProto::INT).set_i(0);
    at = next;
  }
  return decoded(p);
}

TEST(HostileOnnx, ResultsThatCannotFitAreRefusedBeforeAnythingIsComputed) {
  const size_t before = memory_use().most_in_use;
  EXPECT_NO_THROW(expect_room(doublings(5), {}));
  EXPECT_THROW(expect_room(doublings(50), {}), OutOfMemory);
  expect_error([] { expect_room(doublings(50), {}); }, {"(Concat)", "bytes"});
  EXPECT_LT(memory_use().most_in_use, before + (size_t{1} << 24));
}

TEST(HostileOnnx, ARunStaysWithinItsMemory) {
  set_memory_limit(size_t{1} << 20);
  const std::string text = error_of([] {
    run_model(doublings(30), {{"x", Tensor::zeros({2, 3})}});
  });  // 24 bytes times 2^30
  set_memory_limit(0);
  EXPECT_TRUE(contains(text, "(Concat)"));
  EXPECT_TRUE(contains(text, "bytes"));
}

// A loop of constants in a loop of constants, each of 2^62 turns.
onnx::ModelProto loops_file(int depth) {
  onnx::ModelProto p = relu_file();
  onnx::GraphProto *g = p.mutable_graph();
  for (int d = 0; d < depth; ++d) {
    const std::string level = std::to_string(d);
    onnx::TensorProto &count = *g->add_initializer(), &go = *g->add_initializer();
    count.set_name("count" + level);
    count.set_data_type(onnx::TensorProto::INT64);
    count.add_int64_data(int64_t{1} << 62);
    go.set_name("go" + level);
    go.set_data_type(onnx::TensorProto::BOOL);
    go.add_int32_data(1);
    onnx::NodeProto &n = add_node(*g, "Loop", {"count" + level, "go" + level, "go" + level}, {"end" + level});
    g = add_attribute(n, "body", onnx::AttributeProto::GRAPH).mutable_g();
    declare(*g->add_input(), "turn" + level, {}, onnx::TensorProto::INT64);
    declare(*g->add_input(), "on" + level, {}, onnx::TensorProto::BOOL);
    declare(*g->add_input(), "carried" + level, {}, onnx::TensorProto::BOOL);
    add_node(*g, "Identity", {"on" + level}, {"still" + level});
    add_node(*g, "Not", {"carried" + level}, {"other" + level});
    declare(*g->add_output(), "still" + level, {}, onnx::TensorProto::BOOL);
    declare(*g->add_output(), "other" + level, {}, onnx::TensorProto::BOOL);
  }
  return p;
}

TEST(HostileOnnx, LoweringEndsWhateverTheLoopsSay) {
  for (int depth : {1, 2, 5}) {
    const Model m = decoded(loops_file(depth));
    EXPECT_THROW(lower_model(m, {}, quick_limits(m)), Unsupported);
  }
}

TEST(HostileOnnx, SparseTensorsClaimNoMoreThanTheyCouldMean) {
  onnx::ModelProto p = relu_file();
  onnx::SparseTensorProto &s = *p.mutable_graph()->add_sparse_initializer();
  s.mutable_values()->set_name("s");
  s.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  s.mutable_values()->add_dims(1);
  s.mutable_values()->add_float_data(3);
  s.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  s.mutable_indices()->add_dims(1);
  s.mutable_indices()->add_int64_data(5);
  s.add_dims(8);
  EXPECT_EQ(decoded(p).graph.value("s").constant.at<float>({5}), 3);
  s.set_dims(0, 2000000000);
  expect_error([&] { decoded(p); }, {"'s'", "too large"});
}

TEST(HostileOnnx, AnOutputHasTheTypeThatTheModelDeclares) {
  onnx::ModelProto p = relu_file();
  p.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  const Model m = decoded(p);
  expect_error([&] { run_model(m, {{"x", Tensor::zeros({2, 3})}}); }, {"'y'", "f32", "i64"});
}

TEST(HostileOnnx, ScansScanSomething) {
  onnx::ModelProto p = empty_file();
  onnx::NodeProto &n = add_node(*p.mutable_graph(), "Scan", {"x"}, {"y"});
  set_branch(n, "body", {"t"});
  onnx::AttributeProto &scans = add_attribute(n, "num_scan_inputs", onnx::AttributeProto::INT);
  for (int64_t count : {int64_t{0}, int64_t{-1}, int64_t{1} << 62}) {
    scans.set_i(count);
    const Model m = decoded(p);
    expect_error([&] { run_model(m, {{"x", Tensor::zeros({2, 3})}}); }, {"(Scan)", "scanned"});
  }
}

TEST(HostileOnnx, TruthValuesOfAFileAreMadeGood) {
  onnx::ModelProto p = empty_file();
  onnx::TensorProto &t = *p.mutable_graph()->add_initializer();
  t.set_name("t");
  t.set_data_type(onnx::TensorProto::BOOL);
  t.add_dims(3);
  t.set_raw_data(std::string("\x00\x01\xff", 3));
  add_node(*p.mutable_graph(), "Relu", {"x"}, {"y"});
  const Tensor truth = decoded(p).graph.value("t").constant;
  EXPECT_EQ(truth.integers(), (std::vector<int64_t>{0, 1, 1}));
}

}  // namespace
}  // namespace saltern
