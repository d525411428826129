#include "runtime/graph/open_sizes.h"

#include <gtest/gtest.h>

#include "runtime/autograd/operation.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/text.h"
#include "runtime/graph/trace.h"
#include "runtime/layers.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

TEST(OpenNumbers, AreTakenApart) {
  const Graph::Sizes sizes = stand_ins({"batch", "length"});
  const int64_t batch = sizes.at("batch"), length = sizes.at("length");
  const auto text = [&](int64_t n) { return to_string(open_number(n, sizes)); };
  EXPECT_EQ(text(batch), "batch");
  EXPECT_EQ(text(49 * batch), "49 * batch");
  EXPECT_EQ(text(3 * length - 2), "3 * length - 2");
  EXPECT_EQ(text(-batch + 1), "-1 * batch + 1");
  EXPECT_EQ(text(8 * batch * length), "8 * batch * length");
  EXPECT_EQ(text(batch * length * length), "batch * length * length");
  for (int64_t closed : {int64_t{0}, int64_t{-1}, int64_t{28}, int64_t{65536}, int64_t{500000}, INT64_MAX, INT64_MIN})
    EXPECT_EQ(text(closed), std::to_string(closed));
}

TEST(OpenNumbers, SizesHavePlainNamesAndAreFew) {
  EXPECT_TRUE(contains(error_of([] { stand_ins({"a size"}); }), "'a size'"));
  EXPECT_TRUE(contains(error_of([] { stand_ins({"a", "b", "c", "d", "e"}); }), "more than 4"));
}

// A net is the same at every size as it is when it is traced there.
void expect_same_at(Module &net, const Extents &input, const Graph::Sizes &sizes) {
  Shape shape;
  for (const Extent &e : input) shape.push_back(e.name.empty() ? e.number : sizes.at(e.name));
  EXPECT_EQ(to_text(at_sizes(trace(net, input), sizes)), to_text(trace(net, shape)));
}

// A mean over everything, and a formula with a reduction over the open size.
const Operation centred("centred", [](Value x) { return x - mean(x, {0}) + sum(x * x, {0, 1}); });

struct Sized : Module {
  Conv2d conv;
  Linear last;
  explicit Sized(Random &random) : conv(random, 2, 4, 3), last(random, 4, 5) {}
  Variable forward(const Variable &x) override {
    const Variable h = relu(conv(x)), flat = reshape(transpose(h, {0, 2, 3, 1}), {x.shape()[0] * 9, 4});
    const Variable rows = reshape(last(flat), {x.shape()[0], 45});
    return centred(rows) - expand(mean(rows, {0, 1}), rows.shape()) * 0.5 + slice(rows, 0, 0, x.shape()[0]);
  }
  void visit(Visitor &v) override {
    v.child("conv", conv);
    v.child("last", last);
  }
};

TEST(OpenSizes, ANetIsTheSameAtEverySizeAsTracedThere) {
  Random random(3);
  Sized net(random);
  for (int64_t batch : {3, 17, 1000}) expect_same_at(net, {"batch", 2, 5, 5}, {{"batch", batch}});
}

TEST(OpenSizes, SeveralAreOpen) {
  struct Scores : Module {
    Variable forward(const Variable &x) override { return softmax(matmul(x, transpose(x, {0, 2, 1})) * 0.25); }
  } net;
  expect_same_at(net, {"batch", "length", 16}, {{"batch", 2}, {"length", 7}});
  expect_same_at(net, {"n", "n", 16}, {{"n", 4}});
}

TEST(OpenSizes, ItRunsOnWhatIsGivenAlsoFromAFile) {
  Random random(3);
  Sized net(random);
  const ScratchFolder folder;
  save_model(folder.file("net.safetensors"), trace(net, {"batch", 2, 5, 5}));
  const Graph open = load_model(folder.file("net.safetensors"));
  EXPECT_EQ(open.sizes.count("batch"), 1u);
  for (int64_t batch : {1, 6}) {
    const Tensor x = random.uniform_tensor({batch, 2, 5, 5}, -1, 1), y = run(open, {{"x", x}}).at("y"),
                 want = net(Variable(x)).value();
    ASSERT_EQ(y.shape(), want.shape());
    for (int64_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y.data<float>()[i], want.data<float>()[i], 1e-4);
  }
}

TEST(OpenSizes, WhatDoesNotFitIsNamed) {
  Random random(3);
  Sized net(random);
  const Graph open = trace(net, {"batch", 2, 5, 5});
  const auto error = [&](const Shape &shape) { return error_of([&] { sizes_of(open, {{"x", shape}}); }); };
  EXPECT_TRUE(contains(error({4, 2, 5, 6}), "[4, 2, 5, 6]; the graph says [batch, 2, 5, 5]"));
  EXPECT_TRUE(contains(error_of([&] { sizes_of(open, {}); }), "'batch'"));
  EXPECT_TRUE(contains(error_of([&] { at_sizes(open, {}); }), "'batch' is open"));
  EXPECT_TRUE(contains(error_of([&] { at_sizes(open, {{"batch", -1}}); }), "'batch' is -1"));
  EXPECT_TRUE(contains(error_of([&] { at_sizes(open, {{"batch", int64_t{1} << 59}}); }), "too large"));
  Graph two;
  two.sizes = stand_ins({"n"});
  two.add_input("a", {two.sizes["n"]});
  two.add_input("b", {two.sizes["n"]});
  EXPECT_TRUE(contains(error_of([&] { sizes_of(two, {{"a", {2}}, {"b", {3}}}); }), "n is 2 elsewhere"));
}

TEST(OpenSizes, ANetThatDependsOnItsSizeOtherwiseIsRefused) {
  struct Branches : Module {
    Variable forward(const Variable &x) override { return x.shape()[0] > 100 ? relu(x) : sigmoid(x); }
  } branches;
  EXPECT_TRUE(contains(error_of([&] { trace(branches, {"batch", 3}); }), "sigmoid"));
  struct Pooled : Module {
    Variable forward(const Variable &x) override { return max_pool2d(x, {2}); }
  } pooled;
  EXPECT_TRUE(contains(error_of([&] { trace(pooled, {1, 1, "height", 8}); }), "not the same for every size"));
  struct Constant : Module {
    Variable forward(const Variable &x) override { return x + Variable(Tensor::zeros(x.shape())); }
  } constant;
  EXPECT_TRUE(contains(error_of([&] { trace(constant, {"batch", 1}); }), "constant"));
}

TEST(OpenSizes, ATextWithAnotherNumberIsRefused) {
  const auto parse = [](const std::string &line) {
    return parse_graph("saltern graph 1\n" + line + "\ninput x f32 [2]\noutput x\n", {}, "net");
  };
  EXPECT_TRUE(contains(error_of([&] { parse("size batch 7"); }), "no number that stands for a size"));
  for (const char *twice : {"size batch 1000003\nsize batch 165533", "size batch 1000003\nsize other 1000003"})
    EXPECT_TRUE(contains(error_of([&] { parse(twice); }), "the size 'batch' is 1000003 already"));
  EXPECT_EQ(parse("size batch 1000003").sizes, stand_ins({"batch"}));
}

}  // namespace
}  // namespace saltern
