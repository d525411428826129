#include "runtime/graph/open_sizes.h"

#include <gtest/gtest.h>

#include "runtime/autograd/operation.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/text.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

TEST(OpenNumbers, AreTakenApart) {
  const OpenSizes sizes = stand_ins({"batch", "length"});
  const int64_t batch = sizes.at("batch").number, length = sizes.at("length").number;
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
  std::vector<std::string> many;
  for (int i = 0; i < 31; ++i) many.push_back("n" + std::to_string(i));
  EXPECT_TRUE(contains(error_of([&] { stand_ins(many); }), "more than 27"));
}

TEST(OpenNumbers, QuotientsThatAreRoundedAreSizes) {
  OpenSizes sizes = stand_ins({"h", "w"});
  const int64_t h = sizes.at("h").number, w = sizes.at("w").number;
  const WithOpenSizes open(sizes);
  const auto text = [&](int64_t n, int64_t by) { return to_string(open_number(extent_quotient(n, by), sizes)); };
  EXPECT_EQ(text(28, 2), "14");
  EXPECT_EQ(text(h, 1), "h");
  EXPECT_EQ(text(6 * h + 5, 3), "2 * h + 1");
  EXPECT_EQ(text(h, 2), "floor(h / 2)");
  EXPECT_EQ(text(h - 1, 2), "floor((h + 1) / 2) - 1");
  EXPECT_EQ(text(h + 1, 2), "floor((h + 1) / 2)");
  EXPECT_EQ(text(3 * h * w, 2), "floor((3 * h * w) / 2)");
  EXPECT_EQ(text(3 * extent_quotient(h, 2), 4), "floor((3 * floor(h / 2)) / 4)");
  EXPECT_EQ(sizes.size(), 6u);
  EXPECT_TRUE(contains(error_of([&] { extent_quotient(h, 0); }), "divided by 0"));
}

TEST(OpenNumbers, SmallRealsAreNoMeans) {
  OpenSizes sizes = stand_ins({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"});
  for (double n = 1e-1; n > 1e-16; n /= 10)
    for (double times : {1.0, 2.0, 5.0}) {
      EXPECT_FALSE(is_open(times * n, sizes)) << times * n;
      EXPECT_FALSE(is_open(static_cast<double>(static_cast<float>(times * n)), sizes)) << times * n;
    }
  const auto mean = [&](double count) { return 1 / (count * 117937.0 * 115201.0); };
  for (double count : {1.0, 3.0, 512.0}) {
    EXPECT_TRUE(is_open(mean(count), sizes));
    EXPECT_TRUE(is_open(static_cast<double>(static_cast<float>(mean(count))), sizes));
  }
}

// A net is the same at every size as it is when it is traced there.
void expect_same_at(Module &net, const Extents &input, const Graph::Sizes &sizes) {
  Shape shape;
  for (const Extent &e : input) shape.push_back(e.name.empty() ? e.number : sizes.at(e.name));
  EXPECT_EQ(to_text(at_sizes(trace(net, input), sizes)), to_text(trace(net, shape)));
}

// A net that is a function.
struct Applied : Module {
  std::function<Variable(const Variable &)> function;
  explicit Applied(std::function<Variable(const Variable &)> f) : function(std::move(f)) {}
  Variable forward(const Variable &x) override { return function(x); }
};

// Nets of images whose batch, height and width are open. The smallest of the images that they take is 9 by 11.
std::vector<std::pair<std::string, std::shared_ptr<Module>>> nets_of_images() {
  nn::manual_seed(3);
  const auto shared = [](const nn::Layer &layer) { return std::make_shared<nn::Layer>(layer); };
  const auto wide = shared(nn::Conv2d(3, 64, 3, 1, 1)), narrow = shared(nn::Conv2d(3, 8, 3)),
             halved = shared(nn::Conv2d(3, 8, 3, 2, 1)), point = shared(nn::Conv2d(3, 8, 1, 2)),
             again = shared(nn::Conv2d(8, 8, 3, 2, 1)), thirds = shared(nn::Conv2d(8, 8, 2, 3, 1, 2)),
             norm = shared(nn::BatchNorm2d(8)), last = shared(nn::Linear(8, 5));
  const auto of = [](std::function<Variable(const Variable &)> f) { return std::make_shared<Applied>(std::move(f)); };
  return {
      {"padded", wide},
      {"not padded", narrow},
      {"stride 2", halved},
      {"strides of strides", std::make_shared<Sequential>(halved, norm, nn::ReLU(), again, nn::MaxPool2d(2), thirds)},
      {"max pool", shared(nn::MaxPool2d(3, 2, 1))},
      {"average pool", shared(nn::AvgPool2d(2))},
      {"batch norm", std::make_shared<Sequential>(narrow, norm)},
      {"two ways to half the size", of([=](const Variable &x) { return (*halved)(x) + (*point)(x); })},
      {"global mean", of([=](const Variable &x) {
         return mean(x, {2, 3});
       })},
      {"global mean of every third", of([=](const Variable &x) {
         return mean((*thirds)((*halved)(x)), {2, 3});
       })},
      {"mean and linear", of([=](const Variable &x) {
         const Variable h = (*again)(relu((*halved)(x)));
         return (*last)(reshape(mean(h, {2, 3}), {x.shape()[0], 8}));
       })},
      {"flat", std::make_shared<Sequential>(halved, nn::Flatten())},
      {"rows", of([=](const Variable &x) {
         const Variable h = transpose((*halved)(x), {0, 2, 3, 1});
         return (*last)(reshape(h, {x.shape()[0] * h.shape()[1] * h.shape()[2], 8}));
       })},
      {"rows of parts", of([=](const Variable &x) {
         const Variable h = transpose((*thirds)((*narrow)(x)), {0, 2, 3, 1}), parts = reshape(h, {-1, 8});
         return reshape((*last)(parts), {x.shape()[0], 5 * h.shape()[1] * h.shape()[2]});
       })},
      {"a half of it", of([](const Variable &x) { return slice(x, 2, 1, extent_quotient(x.shape()[2], 2)); })},
  };
}

TEST(OpenSizes, NetsOfImagesAreTheSameAtEverySize) {
  for (const auto &[name, net] : nets_of_images()) {
    SCOPED_TRACE(name);
    for (const Graph::Sizes &sizes : std::vector<Graph::Sizes>{{{"batch", 1}, {"height", 9}, {"width", 11}},
                                                               {{"batch", 3}, {"height", 16}, {"width", 15}},
                                                               {{"batch", 2}, {"height", 224}, {"width", 221}},
                                                               {{"batch", 5}, {"height", 10}, {"width", 64}}})
      expect_same_at(*net, {"batch", 3, "height", "width"}, sizes);
  }
}

TEST(OpenSizes, NetsOfImagesRunAtEverySizeAlsoFromATextAndAreNamedByIt) {
  Random random(4);
  for (const auto &[name, net] : nets_of_images()) {
    SCOPED_TRACE(name);
    const GraphText text = text_of(trace(*net, {"batch", 3, "height", "width"}), 8);
    const Graph open = parse_graph(text.text, text.tensors, "net");
    const EvaluationMode evaluation(*net);
    for (const Shape &shape : {Shape{1, 3, 9, 11}, Shape{2, 3, 14, 17}}) {
      const Tensor x = random.uniform_tensor(shape, -1, 1), y = run(open, {{"x", x}}).at("y"),
                   want = (*net)(Variable(x)).value();
      ASSERT_EQ(y.shape(), want.shape());
      const std::vector<double> is = y.reals(), should_be = want.reals();
      for (size_t i = 0; i < is.size(); ++i) ASSERT_NEAR(is[i], should_be[i], 1e-4);
    }
  }
  const Graph open = trace(*nets_of_images()[2].second, {"batch", 3, "height", "width"});
  EXPECT_EQ(with_names(open).value("y").symbols,
            (std::vector<std::string>{"batch", "", "floor((height + 1) / 2)", "floor((width + 1) / 2)"}));
}

// A mean over everything, and a formula with a reduction over the open size.
const Operation centred("centred", [](Value x) { return x - mean(x, {0}) + sum(x * x, {0, 1}); });

struct Sized : Module {
  nn::Layer conv = nn::Conv2d(2, 4, 3), last = nn::Linear(4, 5);
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
  Sized net;
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
  Sized net;
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
  Sized net;
  const Graph open = trace(net, {"batch", 2, 5, 5});
  const auto error = [&](const Shape &shape) { return error_of([&] { sizes_of(open, {{"x", shape}}); }); };
  EXPECT_TRUE(contains(error({4, 2, 5, 6}), "[4, 2, 5, 6]; the graph says [batch, 2, 5, 5]"));
  EXPECT_TRUE(contains(error_of([&] { sizes_of(open, {}); }), "'batch'"));
  EXPECT_TRUE(contains(error_of([&] { at_sizes(open, {}); }), "'batch' is open"));
  EXPECT_TRUE(contains(error_of([&] { at_sizes(open, {{"batch", -1}}); }), "'batch' is -1"));
  EXPECT_TRUE(contains(error_of([&] { at_sizes(open, {{"batch", int64_t{1} << 59}}); }), "too large"));
  Graph two;
  two.sizes = stand_ins({"n"});
  two.add_input("a", {two.sizes["n"].number});
  two.add_input("b", {two.sizes["n"].number});
  EXPECT_TRUE(contains(error_of([&] { sizes_of(two, {{"a", {2}}, {"b", {3}}}); }), "n is 2 elsewhere"));
}

TEST(OpenSizes, ANetThatDependsOnItsSizeOtherwiseIsRefused) {
  struct Branches : Module {
    Variable forward(const Variable &x) override { return x.shape()[0] > 100 ? relu(x) : sigmoid(x); }
  } branches;
  EXPECT_TRUE(contains(error_of([&] { trace(branches, {"batch", 3}); }), "sigmoid"));
  struct Constant : Module {
    Variable forward(const Variable &x) override { return x + Variable(Tensor::zeros(x.shape())); }
  } constant;
  EXPECT_TRUE(contains(error_of([&] { trace(constant, {"batch", 1}); }), "node 'y' (add)"));
}

// Halves of rows, as formulas have them: what is left of the size shows no more.
const Operation halved_rows("halved_rows", [](Value x) {
  return formula::compute("halved", {x.extent(0), quotient(x.extent(1), 2)},
                          [&](formula::Expression i, formula::Expression j) { return x(i, 2 * j); });
});

TEST(OpenSizes, WhatIsDividedOtherwiseIsRefusedByName) {
  const auto refused = [](std::function<Variable(const Variable &)> f) {
    Applied net(std::move(f));
    const std::string error = error_of([&] { trace(net, {"batch", "length"}); });
    EXPECT_TRUE(contains(error, "tracing")) << error;
    return error;
  };
  const auto half = [](const Variable &x) { return x.shape()[1] / 2; };
  EXPECT_TRUE(contains(refused([&](const Variable &x) { return slice(x, 1, 0, half(x)); }), "(slice)"));
  EXPECT_TRUE(
      contains(refused([&](const Variable &x) { return x * (1.0 / static_cast<double>(half(x))); }), "constant"));
  EXPECT_TRUE(contains(refused([&](const Variable &x) { return reshape(x, {x.shape()[0], half(x), 2}); }), "length"));
  EXPECT_TRUE(contains(refused([&](const Variable &x) { return halved_rows(x); }), "node formula"));
}

TEST(OpenSizes, SizesThatANodeDoesNotFitAreRefused) {
  nn::Layer conv = nn::Conv2d(3, 8, 3, 2);
  const Graph open = trace(conv, {1, 3, "height", 9});
  EXPECT_TRUE(contains(error_of([&] { at_sizes(open, {{"height", 2}}); }), "node 'y' (conv2d)"));
  Applied firsts([](const Variable &x) { return slice(x, 0, 0, std::min<int64_t>(x.shape()[0], 2)); });
  EXPECT_TRUE(contains(error_of([&] { at_sizes(trace(firsts, {"n", 3}), {{"n", 1}}); }), "node 'y' (slice)"));
}

TEST(OpenSizes, ATextWithAnotherNumberIsRefused) {
  const auto parse = [](const std::string &line) {
    return parse_graph("saltern graph 1\n" + line + "\ninput x f32 [2]\noutput x\n", {}, "net");
  };
  EXPECT_TRUE(contains(error_of([&] { parse("size batch 7"); }), "no number that stands for a size"));
  for (const char *twice : {"size batch 117937\nsize batch 115201", "size batch 117937\nsize other 117937"})
    EXPECT_TRUE(contains(error_of([&] { parse(twice); }), "the size 'batch' is 117937 already"));
  EXPECT_EQ(parse("size batch 117937").sizes, stand_ins({"batch"}));
  EXPECT_EQ(parse("size n 1000003").sizes, (OpenSizes{{"n", {1000003}}}));  // of before
  EXPECT_TRUE(contains(error_of([&] { parse("size batch 117937 = 115201 / 0"); }), "a quotient by 0"));
  for (const char *sum : {"size a 7 = 9 / 1", "size a 0 = 0 / 1", "size a -5 = -5 / 1"})
    EXPECT_TRUE(contains(error_of([&] { parse(sum); }), "no number that stands for a size"));
  const Graph round = parse("size a 117937 = 115201 / 2\nsize b 115201 = 117937 / 2");
  EXPECT_TRUE(contains(error_of([&] { at_sizes(round, {}); }), "a quotient of itself"));
}

}  // namespace
}  // namespace saltern
