// Nets computed together give what they give one by one: values, gradients and those of second order.

#include "runtime/autograd/batching.h"

#include <optional>

#include "bench/tree_lstm.h"
#include "runtime/operations.h"
#include "tests/errors.h"
#include "tests/jacobian.h"

namespace saltern {
namespace {

void expect_near(const Tensor &given, const Tensor &wanted, double tolerance, const std::string &what) {
  ASSERT_EQ(given.shape(), wanted.shape()) << what;
  const std::vector<double> a = given.reals(), b = wanted.reals();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << what << " " << i;
}

struct Trees {
  explicit Trees(size_t count, int64_t width, int64_t most = 12) {
    Random random(3);
    for (size_t i = 0; i < count; ++i) {
      all.push_back(random_tree(random, 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(most))), width));
      classes.push_back(static_cast<int32_t>(random.below(5)));
    }
  }
  std::vector<Tree> all;
  std::vector<int32_t> classes;
};

TEST(Batching, TreesGiveTheSameLossAndGradientsInFarFewerSteps) {
  nn::manual_seed(1);
  TreeLstm net(13, 5);
  const Trees trees(17, 13);
  std::vector<Tensor> results[2];
  size_t steps[2];
  for (const bool together : {false, true}) {
    net.clear_gradients();
    std::optional<Batching> scope;
    if (together) scope.emplace();
    const Variable loss = net.loss(trees.all, trees.classes);
    results[together].push_back(loss.value());
    steps[together] = steps_behind({loss}).size();
    backward(loss);
    for (const auto &[name, p] : net.named_parameters()) results[together].push_back(p.gradient().value());
  }
  for (size_t i = 0; i < results[0].size(); ++i) expect_near(results[1][i], results[0][i], 1e-5, std::to_string(i));
  EXPECT_LT(steps[1] * 4, steps[0]);
}

TEST(Batching, SecondOrderIsThatOfOneByOne) {
  nn::manual_seed(2);
  TreeLstm net(4, 3);
  const Trees trees(5, 4, 4);
  std::vector<int32_t> classes(trees.all.size(), 1);
  std::vector<Tensor> results[2];
  for (const bool together : {false, true}) {
    net.clear_gradients();
    std::optional<Batching> scope;
    if (together) scope.emplace();
    const Variable loss = net.loss(trees.all, classes);
    GradientOptions options;
    options.create_graph = true;
    Variable lengths = scalar(0);
    for (const Variable &d : gradients(loss, net.parameters(), options)) lengths = lengths + sum(square(d));
    backward(lengths);
    for (const auto &[name, p] : net.named_parameters()) results[together].push_back(p.gradient().value());
  }
  for (size_t i = 0; i < results[0].size(); ++i) expect_near(results[1][i], results[0][i], 1e-4, std::to_string(i));
}

// ---- Each operation that is joined, and some that are not.

using Net = std::function<Variable(const std::vector<Variable> &)>;
struct Row {
  const char *name;
  std::vector<Shape> inputs;  // of each net, and then what all of them share
  std::vector<Shape> shared;
  Net net;
};

const Operation scaled("batching_test_scaled", [](const Value &x) {
  return formula::compute("scaled", x.extents(),
                          [&](const formula::Axes &at) { return x.at(at) * formula::cast(x.type(), x.extent(0)); });
});
const Operation blended("batching_test_blended", [](const Value &a, const Value &b) { return a * b + tanh(a); });
const Operation of_rows("batching_test_rows", [](const Value &x) { return x - sum(x, {0}); });

const Row rows[] = {
    {"tanh", {{3}}, {}, [](const auto &in) { return tanh(in[0]); }},
    {"add", {{2, 3}, {3}}, {}, [](const auto &in) { return in[0] + in[1]; }},
    {"scale", {{2, 3}}, {{3}}, [](const auto &in) { return in[0] * in[1]; }},
    {"constant", {{2, 3}}, {}, [](const auto &in) { return 2.0 * in[0] - 1.0; }},
    {"linear", {{3}}, {{4, 3}, {4}}, [](const auto &in) { return linear(in[0], in[1], in[2]); }},
    {"linear_own", {{2, 3}, {4, 3}}, {}, [](const auto &in) { return linear(in[0], in[1]); }},
    {"matmul", {{2, 3}, {3, 2}}, {}, [](const auto &in) { return matmul(in[0], in[1]); }},
    {"matmul_shared", {{2, 3}}, {{3, 2}}, [](const auto &in) { return matmul(in[0], in[1]); }},
    {"matmul_batch", {{2, 2, 3}, {3, 2}}, {}, [](const auto &in) { return matmul(in[0], in[1]); }},
    {"transpose", {{2, 3}}, {}, [](const auto &in) { return square(transposed(in[0])) + 1.0; }},
    {"slice", {{2, 5}}, {}, [](const auto &in) { return slice(in[0], -1, 1, 3) * slice(in[0], 1, 0, 3); }},
    {"index",
     {{2, 5}},
     {},
     [](const auto &in) {
       return in[0][{0, slice(1, 4)}] * in[0][1][2];
     }},
    {"concat",
     {{2, 3}, {2, 1}},
     {},
     [](const auto &in) {
       return concat({in[0], in[1], in[0]}, -1);
     }},
    {"sum", {{2, 3}}, {}, [](const auto &in) { return sum(in[0], {-1}) * mean(in[0]); }},
    {"expand",
     {{3}},
     {},
     [](const auto &in) {
       return expand(in[0], {2, 3}) * expand(in[0], {4, 2, 3});
     }},
    {"softmax", {{2, 3}}, {}, [](const auto &in) { return softmax(in[0], 0) * log_softmax(in[0], -1); }},
    {"formula", {{2, 3}, {3}}, {}, [](const auto &in) { return blended(in[0], in[1]); }},
    {"extents", {{2, 3}}, {}, [](const auto &in) { return scaled(in[0]); }},
    {"alone", {{2, 3}}, {}, [](const auto &in) { return of_rows(in[0]); }},
    {"twice_the_same", {}, {{2, 3}}, [](const auto &in) { return tanh(in[0]) * in[0]; }},
    {"norm", {{2, 3}}, {}, [](const auto &in) { return nn::layer_norm(in[0], nn::Argument::List{3}); }},
    {"image", {{1, 2, 4, 4}}, {{3, 2, 3, 3}}, [](const auto &in) { return relu(conv2d(in[0], in[1])); }},
    {"loss",
     {{2, 3}},
     {},
     [](const auto &in) {
       return cross_entropy(in[0], Tensor::of<int32_t>({2}, {2, 0}));
     }},
};

TEST(Batching, EachOperationGivesWhatItGivesAlone) {
  for (const Row &row : rows) {
    std::vector<Tensor> results[2];
    for (const bool together : {false, true}) {
      Random random(5);
      std::vector<Variable> shared, leaves;
      for (const Shape &s : row.shared) shared.emplace_back(random.normal_tensor(s), true);
      leaves = shared;
      std::optional<Batching> scope;
      if (together) scope.emplace();
      std::vector<Variable> ys;
      for (int i = 0; i < 4; ++i) {
        std::vector<Variable> in;
        for (const Shape &s : row.inputs) leaves.push_back(in.emplace_back(random.normal_tensor(s), true));
        in.insert(in.end(), shared.begin(), shared.end());
        ys.push_back(row.net(in));
      }
      // In an order of their own, and one of them twice.
      Variable total = sum(square(ys[2])) + sum(ys[0] * ys[3]) + mean(tanh(ys[1])) + sum(ys[2]);
      backward(total);
      for (const Variable &y : ys) results[together].push_back(y.value());
      for (const Variable &x : leaves) results[together].push_back(x.gradient().value());
    }
    for (size_t i = 0; i < results[0].size(); ++i)
      expect_near(results[1][i], results[0][i], 1e-5, row.name + std::string(" ") + std::to_string(i));
  }
}

TEST(Batching, ChainsAreDeeperThanTheStack) {
  const Variable x(Tensor::full({1}, 1), true);
  for (const bool reads : {true, false}) {
    const Batching together;
    Variable y = x;
    for (int i = 0; i < 200000; ++i) y = y + 1e-6;
    if (reads) {
      EXPECT_NEAR(y.value().item(), 1.2, 1e-2);
    }
  }
}

TEST(Batching, NothingIsRecordedWhereItShouldNotBe) {
  const Variable x(Tensor::full({2}, 1), true);
  const Batching together;
  Variable y, z;
  {
    const NoGradient guard;
    y = x * x;
  }
  z = x * x;
  EXPECT_EQ(y.step(), nullptr);
  EXPECT_FALSE(y.requires_gradient());
  EXPECT_NE(z.step(), nullptr);
}

TEST(Batching, ErrorsOfShapesComeWhereTheyAreMade) {
  const Batching together;
  const Variable a(Tensor::full({2}, 1)), b(Tensor::full({3}, 1));
  expect_error([&] { a + b; }, {"[2]"});
}

TEST(Batching, WhatWaitsMustNotBeWritten) {
  const Variable x(Tensor::full({2}, 1), true);
  const auto run = [&] {
    const Batching together;
    const Variable y = x * x, z = x * y;
    x.value().copy_from(Tensor::full({2}, 3));
    z.value();
  };
  expect_error(run, {"'multiply', [2], was written in place before the operation was computed"});
}

TEST(Batching, AGradientOfAPartOfABatchIsRefusedAndGivenWhereItWasAskedForBefore) {
  const Variable x(Tensor::full({2}, 1), true), w(Tensor::full({2}, 3), true);
  for (const bool before : {true, false}) {
    const Batching together;
    const Variable a = x * x, b = w * w;
    if (before) a.value();
    const Variable y = sum(a * a), z = sum(b * b);
    y.value();
    if (before) {
      EXPECT_EQ(gradients(y, {a})[0].value().reals(), (std::vector<double>{2, 2}));
    } else {
      expect_error([&] { gradients(y, {a}); }, {"computed in a batch"});
    }
  }
}

}  // namespace
}  // namespace saltern
