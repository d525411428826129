// Gradients of gradients, against finite differences of gradients.

#include "runtime/operations.h"
#include "tests/errors.h"
#include "tests/jacobian.h"

namespace saltern {
namespace {

#define SECOND_ORDER_TEST(name, f, ...) \
  TEST(SecondOrder, name) { expect_second_order(f, layer_test_input(__VA_ARGS__)); }

SECOND_ORDER_TEST(Sigmoid, std::cref(sigmoid), {2, 5})
SECOND_ORDER_TEST(Tanh, std::cref(tanh), {2, 5})
SECOND_ORDER_TEST(Gelu, std::cref(gelu), {2, 5})
SECOND_ORDER_TEST(Silu, std::cref(silu), {2, 5})
SECOND_ORDER_TEST(Exp, std::cref(exp), {2, 5})
SECOND_ORDER_TEST(Log, std::cref(log), {2, 3}, 1)
SECOND_ORDER_TEST(Sqrt, std::cref(sqrt), {2, 3}, 1)
SECOND_ORDER_TEST(Reciprocal, std::cref(reciprocal), {2, 3}, 1)
SECOND_ORDER_TEST(Square, std::cref(square), {2, 5})
SECOND_ORDER_TEST(Erf, std::cref(erf), {2, 5})
SECOND_ORDER_TEST(Sine, std::cref(sine), {2, 5})
SECOND_ORDER_TEST(Cosine, std::cref(cosine), {2, 5})
SECOND_ORDER_TEST(ReluOfSquare, [](const Variable &x) { return relu(square(x) - 0.015); }, {9})
SECOND_ORDER_TEST(
    Divide, [](const Variable &x) { return sum(x, {1}) / x; }, {2, 3}, 1.5)
SECOND_ORDER_TEST(
    Power, [](const Variable &x) { return power(x, mean(x, {1})); }, {2, 3}, 0.8)
SECOND_ORDER_TEST(MaximumOfProducts, [](const Variable &x) { return maximum(x * x, 0.5 * x); }, {7})
SECOND_ORDER_TEST(Softmax, [](const Variable &x) { return softmax(x); }, {2, 5})
SECOND_ORDER_TEST(LogSoftmax, [](const Variable &x) { return log_softmax(x); }, {2, 5})
// With parameters that depend on x too.
const Attributes row_norm = {{"axis", int64_t{1}}, {"epsilon", 0.1}};
Variable layer_norm_of(const Variable &x) {
  const Variable scale = reshape(sum(x, {0}), {5}), shift = reshape(mean(x * x, {0}), {5});
  return apply_one(operations::layer_norm, {x, scale, shift}, row_norm);
}
Variable rms_norm_of(const Variable &x) {
  return apply_one(operations::rms_norm, {x, reshape(sum(x, {0}), {5})}, row_norm);
}
SECOND_ORDER_TEST(LayerNorm, layer_norm_of, {2, 5})
SECOND_ORDER_TEST(RmsNorm, rms_norm_of, {2, 5})
SECOND_ORDER_TEST(CrossEntropy,
                  [](const Variable &x) {
                    return cross_entropy(tanh(x), Tensor::of<int32_t>({2}, {3, 0}));
                  },
                  {2, 5})
SECOND_ORDER_TEST(Linear, [](const Variable &x) { return linear(tanh(x), 0.5 * x, reshape(sum(x * x, {1}), {3})); },
                  {3, 4})
SECOND_ORDER_TEST(Matmul, [](const Variable &x) { return matmul(x * x, transposed(x)); }, {2, 3})
SECOND_ORDER_TEST(Convolution,
                  [](const Variable &x) {
                    const Variable w = reshape(sum(x, {2}), {2, 1, 1, 4});
                    return conv2d(tanh(x), 0.3 * expand(w, {2, 1, 3, 4}), {}, {1, 2});
                  },
                  {2, 1, 3, 4})
SECOND_ORDER_TEST(AveragePool, [](const Variable &x) { return average_pool2d(x * x, 2); }, {1, 2, 4, 4})

SECOND_ORDER_TEST(MaxPool, [](const Variable &x) { return square(max_pool2d(x * x, 2)); }, {1, 2, 4, 4})
SECOND_ORDER_TEST(MaxPoolOfWindowsThatOverlap,
                  [](const Variable &x) {
                    return square(max_pool2d(x, {3, 2}, {{1, 2}, 1}));
                  },
                  {1, 2, 4, 3})
SECOND_ORDER_TEST(CrossEntropyWithASampleLeftOut,
                  [](const Variable &x) {
                    return cross_entropy(tanh(x), Tensor::of<int32_t>({3}, {3, -1, 0}), -1);
                  },
                  {3, 4})

// With scale and shift that depend on x too, so that every part of the gradient is differentiated.
Variable normalised(const Variable &x, bool training) {
  const Variable small = 0.5 * x, scale = reshape(mean(small * small, {0, 2, 3}), {2}),
                 shift = reshape(mean(small, {0, 2, 3}), {2});
  const Attributes epsilon = {{"epsilon", 0.1}};
  if (training) return apply_one(operations::batch_norm_training, {small, scale, shift}, epsilon);
  const Tensor moved = Tensor::of<float>({2}, {0.2f, -0.1f}), spread = Tensor::of<float>({2}, {0.6f, 1.3f});
  return apply_one(operations::batch_norm, {small, moved, spread, scale, shift}, epsilon);
}
SECOND_ORDER_TEST(BatchNormInTraining, [](const Variable &x) { return normalised(x, true); }, {3, 2, 2, 1})
SECOND_ORDER_TEST(BatchNormInEvaluation, [](const Variable &x) { return normalised(x, false); }, {3, 2, 2, 1})

// The derivatives of a^b and of its derivatives have limits at the edges; what comes of 0 log(0) is not a number.
TEST(SecondOrder, PowerIsFiniteAtItsEdges) {
  const Variable a(Tensor::of<float>({5}, {0, 0, 0, 0, 2}), true), b(Tensor::of<float>({5}, {0, 1, 2, 3, 0}), true);
  GradientOptions options;
  options.create_graph = true;
  const std::vector<Variable> first = gradients(sum(power(a, b)), {a, b}, options);
  const std::vector<Variable> second = gradients(sum(first[0]) + sum(first[1]), {a, b});
  for (const Variable &v : second)
    for (int64_t i = 0; i < 5; ++i) EXPECT_TRUE(std::isfinite(v.value().at<float>({i}))) << i;
  EXPECT_EQ(second[0].value().at<float>({2}), 2);  // (a^2)'' = 2, and a^2 log(a) is flat at 0
  EXPECT_NEAR(second[1].value().at<float>({4}), 0.5 + std::log(2) * std::log(2), 1e-5);
}

TEST(SecondOrder, AnOperationWithoutARuleSaysItsName) {
  static const Operation cube(
      "cube_without_second_order", [](const std::vector<Tensor> &in, const Attributes &) { return in; },
      [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
        static const Operation gradient("cube_gradient", [](const std::vector<Tensor> &in, const Attributes &) {
          return std::vector<Tensor>{in[0]};
        });
        return {apply_one(gradient, {t.input(0), dy[0]})};
      });
  const Variable x(spaced({3}, 1), true);
  GradientOptions options;
  options.create_graph = true;
  const Variable first = gradients(sum(apply_one(cube, {x})), {x}, options).at(0);
  expect_error([&] { gradients(sum(first), {x}); }, {"cube_gradient", "no gradient rule"});
}

}  // namespace
}  // namespace saltern
