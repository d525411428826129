// The tape: dynamic graphs, sharing, freeing, and errors.

#include "runtime/autograd/backward.h"

#include <gtest/gtest.h>

#include "runtime/layers.h"
#include "runtime/operations.h"
#include "tests/errors.h"
#include "tests/jacobian.h"

namespace saltern {
namespace {

Variable leaf(std::vector<float> values) {
  const Shape shape = {static_cast<int64_t>(values.size())};
  return {Tensor::of(shape, values), true};
}

std::vector<float> values(const Variable &v) {
  const Tensor t = row_major(v.value());
  return {t.data<float>(), t.data<float>() + t.size()};
}

using Values = std::vector<float>;

TEST(Backward, GradientsOfAVariableUsedTwiceAddUp) {
  const Variable x = leaf({1, 2, 3});
  backward(sum(x * x + x));
  EXPECT_EQ(values(x.gradient()), (Values{3, 5, 7}));
}

TEST(Backward, AddingInPlaceNeverTouchesAGradientThatIsShared) {
  // The gradients of a + b start as one tensor; what is added to a's must not show in b's.
  const Variable x = leaf({1, 2}), a = x * 2.0, b = x * 3.0;
  const Variable y = sum(a + b) + sum(a * a);
  const auto d = gradients(y, {a, b});
  EXPECT_EQ(values(d[0]), (Values{5, 9}));
  EXPECT_EQ(values(d[1]), (Values{1, 1}));
}

TEST(Backward, GradientsAddUpOverCallsUntilCleared) {
  const Variable x = leaf({2});
  backward(sum(x * x));
  const Variable first = x.gradient();
  backward(sum(x * x));
  EXPECT_EQ(values(x.gradient()), Values{8});
  x.set_gradient({});
  backward(sum(x * x));
  EXPECT_EQ(values(x.gradient()), Values{4});
}

TEST(Backward, TheGraphMayDependOnData) {
  // x is doubled until it exceeds 100: the number of steps is known only while it runs.
  for (float start : {1.0f, 3.0f, 60.0f, 200.0f}) {
    const Variable x = leaf({start});
    Variable y = x;
    float factor = 1;
    while (y.value().data<float>()[0] < 100) {
      y = y * 2.0;
      factor *= 2;
    }
    backward(sum(y));
    EXPECT_EQ(values(x.gradient()), Values{factor}) << start;
  }
}

TEST(Backward, AHistoryOfThirtyThousandStepsIsWalkedAndFreed) {
  const Variable x = leaf({1});
  Variable y = x, untouched = x;
  for (int i = 0; i < 30000; ++i) {
    y = y + x;
    untouched = untouched + x;  // freed without a walk
  }
  backward(sum(y));
  EXPECT_EQ(values(x.gradient()), Values{30001});
}

TEST(Backward, OnlyWhatRequiresAGradientGetsOne) {
  const Variable x = leaf({1, 2}), constant(Tensor::of<float>({2}, {3, 4}));
  backward(sum(x * constant));
  EXPECT_EQ(values(x.gradient()), (Values{3, 4}));
  EXPECT_FALSE(constant.gradient().defined());
}

TEST(Backward, NothingIsRecordedUnderNoGradient) {
  const Variable x = leaf({1, 2});
  NoGradient guard;
  const Variable y = x * x;
  EXPECT_FALSE(y.requires_gradient());
  EXPECT_EQ(y.step(), nullptr);
}

TEST(Backward, EverythingIsRecordedWhileTracing) {
  const Variable x(Tensor::of<float>({2}, {1, 2}));
  Recording guard;
  const Variable y = relu(x * x);
  EXPECT_FALSE(y.requires_gradient());
  ASSERT_NE(y.step(), nullptr);
  EXPECT_EQ(y.step()->operation().name, "relu");
  const Variable &product = y.step()->inputs().at(0);
  EXPECT_EQ(product.step()->operation().name, "multiply");
  EXPECT_EQ(product.step()->inputs().at(0).identity(), x.identity());
  EXPECT_EQ(product.step()->inputs().at(0).step(), nullptr);
}

TEST(Backward, GradientsAreTakenOfIntermediatesToo) {
  const Variable x = leaf({1, 2, 3}), h = x * x;
  const auto d = gradients(sum(h * h), {h, x});
  EXPECT_EQ(values(d[0]), (Values{2, 8, 18}));
  EXPECT_EQ(values(d[1]), (Values{4, 32, 108}));
  EXPECT_FALSE(x.gradient().defined()) << "gradients() leaves gradient() alone";
  EXPECT_FALSE(gradients(sum(x), {x, leaf({1})})[1].defined());
}

TEST(Backward, ThirdOrderWorksAsSecondDoes) {
  const Variable x = leaf({2});
  GradientOptions recorded;
  recorded.create_graph = true;
  Variable y = sum(x * x * x * x);
  for (float wanted : {32.0f, 48.0f, 48.0f}) {
    y = sum(gradients(y, {x}, recorded).at(0));
    EXPECT_NEAR(y.value().item(), wanted, 1e-4);
  }
}

TEST(Backward, ErrorsSayWhatIsWrong) {
  const Variable x = leaf({1, 2, 3});
  expect_error([&] { backward(x * x); }, {"backward()", "[3]", "one element"});
  expect_error([&] { backward(sum(Variable(Tensor::full({3}, 1)))); }, {"requires a gradient"});
  expect_error([&] { backward(Variable()); }, {"undefined"});
  expect_error([&] { backward(x * x, Variable(Tensor::full({2}, 1))); }, {"[2]", "[3]"});
  const Variable y = sum(x * x);
  backward(y);
  expect_error([&] { backward(y); }, {"freed", "Tape::keep"});
  const Variable z = sum(x * x);
  backward(z, Tape::keep);
  backward(z);
  static const Operation ruleless("ruleless", [](const std::vector<Tensor> &in, const Attributes &) { return in; });
  expect_error([&] { backward(sum(apply_one(ruleless, {x}))); }, {"'ruleless'", "no gradient rule"});
  expect_error([&] { apply_one(ruleless, {Variable()}); }, {"'ruleless'", "input 0"});
  expect_error([] { Variable(Tensor::zeros({2}, Type::i32), true); }, {"i32"});
}

TEST(Backward, ShapesThatDoNotFitAreNamed) {
  const Variable a(Tensor::full({2, 3}, 1)), b(Tensor::full({2, 4}, 1));
  expect_error([&] { a + b; }, {"add", "[2, 3]", "[2, 4]"});
  expect_error([&] { matmul(a, b); }, {"matmul", "[2, 3]", "[2, 4]"});
  expect_error([&] { linear(a, b); }, {"dense", "[2, 3]", "[2, 4]"});
  expect_error([&] { expand(a, {3, 3}); }, {"[2, 3]", "[3, 3]"});
  expect_error([&] { reshape(a, {4, -1}); }, {"[2, 3]"});
  expect_error([&] { sum(a, {2}); }, {"sum", "2"});
  expect_error([&] { sum(a, {0, 0}); }, {"sum", "dimension 0", "[2, 3]", "twice"});
  expect_error([&] { mean(a, {1, -1}); }, {"dimension 1", "[2, 3]", "twice"});
  const Variable scalar(Tensor::full({}, 1));
  expect_error([&] { linear(scalar, b); }, {"[]", "dimension"});
  expect_error([&] { linear(a, scalar); }, {"dense", "[2, 3]", "[]"});
  for (const Operation *gradient : {&operations::dense_gradient_x, &operations::dense_gradient_w})
    expect_error([&] { apply_one(*gradient, {scalar, a}); }, {gradient->name, "[]", "[2, 3]"});
  expect_error([&] { apply_one(operations::dense_gradient_b, {scalar}); }, {"dense_gradient_b", "[]"});
  const Variable image(Tensor::full({1, 3, 4, 4}, 1)), w(Tensor::full({2, 2, 3, 3}, 1));
  expect_error([&] { conv2d(image, w); }, {"conv2d", "[2, 2, 3, 3]", "[1, 3, 4, 4]"});
  expect_error([&] { conv2d(image, Tensor::full({2, 3, 5, 5}, 1)); }, {"conv2d", "5"});
  expect_error([&] { conv2d(a, w); }, {"conv2d", "[2, 3]"});
  expect_error([&] { max_pool2d(image, 2, {2, 2}); }, {"max_pool2d", "padding"});
  expect_error([&] { cross_entropy(a, Tensor::of<int32_t>({2}, {0, 3})); }, {"label 1", "3"});
  expect_error([&] { cross_entropy(a, Tensor::of<int32_t>({3}, {0, 1, 1})); }, {"[3]", "[2, 3]"});
  expect_error([&] { apply_one(operations::conv2d, {image, w}, {}); }, {"conv2d", "strides"});
  expect_error([&] { apply_one(operations::softmax, {a}, {{"axis", 1.5}}); }, {"softmax", "axis", "integer"});
}

// A program's objects at namespace scope may be made before Saltern's.
const std::string said_before_main = [] {
  try {
    const Variable two(Tensor::full({}, 2));
    return std::to_string(relu(two).value().item());
  } catch (const Error &e) {
    return std::string(e.what());
  }
}();

TEST(Operations, WorkBeforeMainOrSayWhyNot) {
  EXPECT_TRUE(said_before_main == std::to_string(2.0) || said_before_main.find("before main()") != std::string::npos)
      << said_before_main;
}

TEST(Operations, AreFoundByName) {
  for (const char *name : {"conv2d", "dense", "relu", "relu_gradient", "add", "softmax", "sum", "reshape"}) {
    ASSERT_NE(find_operation(name), nullptr) << name;
    EXPECT_EQ(find_operation(name)->name, name);
  }
  EXPECT_EQ(find_operation("no_such"), nullptr);
}

// ---- Gradients that are one computation together (runtime/autograd/joined_gradients.h).

TEST(JoinedGradients, OfPartsStandInTheirPlaces) {
  const Variable x = leaf({1, 2, 3, 4, 5, 6});
  const auto part = [&](int64_t begin, int64_t count, double factor) {
    return sum(slice(x, 0, begin, count) * factor);
  };
  backward(part(4, 1, 2.0) + part(0, 2, 3.0));  // gaps in between and behind
  EXPECT_EQ(values(x.gradient()), (Values{3, 3, 0, 0, 2, 0}));
  x.set_gradient({});
  backward(part(0, 3, 2.0) + part(1, 4, 3.0) + part(2, 1, 10.0) + part(5, 1, 7.0) + sum(x));  // over each other
  EXPECT_EQ(values(x.gradient()), (Values{3, 6, 16, 4, 4, 8}));
}

TEST(JoinedGradients, OfPartsAlongSeveralAxesAddUp) {
  const Variable x(Tensor::of<float>({2, 2}, {1, 2, 3, 4}), true);
  const Variable rows = slice(x, 0, 0, 1) + slice(x, 0, 1, 1) * 2.0, columns = slice(x, 1, 1, 1) * slice(x, 1, 0, 1);
  backward(sum(rows) + sum(columns));
  EXPECT_EQ(values(x.gradient()), (Values{1 + 2, 1 + 1, 2 + 4, 2 + 3}));
}

TEST(JoinedGradients, ThatNoLossReachesAreLeftOut) {
  const Variable x = leaf({1, 2, 3}), unused = slice(x, 0, 0, 1);
  const Variable a = slice(x, 0, 1, 1), b = slice(x, 0, 2, 1), both = concat({a, b, unused}, 0);
  EXPECT_EQ(values(gradients(sum(slice(both, 0, 0, 1)), {x})[0]), (Values{0, 1, 0}));
}

// Weights and bias of a layer that is applied again and again, once by other weights in between, against the same sums by
// hand: d w = sum of dy' x, d b = sum of dy.
TEST(JoinedGradients, OfSharedWeightsAreThoseOfAllRows) {
  const Variable w(Tensor::of<float>({2, 2}, {0.5f, -1, 2, 1}), true), b(Tensor::of<float>({2}, {1, -1}), true);
  const auto rows = [](std::vector<float> v) { return Variable(Tensor::of({int64_t{1}, int64_t{2}}, v), true); };
  const Variable x = rows({1, 2}), y = rows({3, -1});
  const Variable loss = sum(apply_one(operations::dense, {x, w, b}) * 2.0) +
                        sum(apply_one(operations::dense, {y, w, b})) + sum(apply_one(operations::dense, {x, w}) * 5.0);
  backward(loss);
  EXPECT_EQ(values(w.gradient()), (Values{2 + 3 + 5, 4 - 1 + 10, 2 + 3 + 5, 4 - 1 + 10}));
  EXPECT_EQ(values(b.gradient()), (Values{3, 3}));
  EXPECT_EQ(values(x.gradient()), (Values{2 * 2.5f + 5 * 2.5f, 0}));
  EXPECT_EQ(values(y.gradient()), (Values{2.5f, 0}));
}

// A recurrence, whose states go through one matrix: both are parts of x.
TEST(JoinedGradients, OfTurnsMatchFiniteDifferencesInBothOrders) {
  const Function turns = [](const Variable &x) {
    const Variable w = slice(x, 0, 3, 2);
    Variable h = slice(x, 0, 0, 1);
    for (int64_t t = 1; t < 3; ++t) h = tanh(apply_one(operations::dense, {h, w}) + slice(x, 0, t, 1));
    return h;
  };
  Lambda layer(turns);
  expect_jacobian(layer, spaced({5, 2}, 3));
  expect_second_order(turns, spaced({5, 2}, 3));
}

}  // namespace
}  // namespace saltern
