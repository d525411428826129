// Gradients of gradients, against finite differences of gradients.

#include "tests/runtime/jacobian.h"

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
SECOND_ORDER_TEST(ReluOfSquare, [](const Variable &x) { return relu(square(x) - 0.1); }, {9})
SECOND_ORDER_TEST(
    Divide, [](const Variable &x) { return sum(x, {1}) / x; }, {2, 3}, 1.5)
SECOND_ORDER_TEST(
    Power, [](const Variable &x) { return power(x, mean(x, {1})); }, {2, 3}, 0.8)
SECOND_ORDER_TEST(MaximumOfProducts, [](const Variable &x) { return maximum(x * x, 0.5 * x); }, {7})
SECOND_ORDER_TEST(Softmax, [](const Variable &x) { return softmax(x); }, {2, 5})
SECOND_ORDER_TEST(LogSoftmax, [](const Variable &x) { return log_softmax(x); }, {2, 5})
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

TEST(SecondOrder, AnOperationWithoutARuleSaysItsName) {
  const Variable x(spaced({1, 1, 4, 4}, 1), true);
  GradientOptions options;
  options.create_graph = true;
  const Variable first = gradients(sum(square(max_pool2d(x, 2))), {x}, options).at(0);
  try {
    gradients(sum(first), {x});
    FAIL() << "no error";
  } catch (const Error &e) {
    EXPECT_NE(std::string(e.what()).find("max_pool2d_gradient"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace saltern
