// Formulas as kernels with their schedule: vectors fit rows of every length, and read nothing outside their operands.

#include <gtest/gtest.h>

#include "generators/model/emit.h"
#include "runtime/graph/executor.h"
#include "runtime/operators/lowering.h"
#include "schedules/machine.h"
#include "tests/naive_graph.h"

namespace saltern::generators {
namespace {

// A graph of one formula of x and w.
Graph graph_of(const Shape &x_shape, const Shape &w_shape, const Shape &shape, const Element &element) {
  Graph g;
  g.add_input("x", x_shape);
  g.add_input("w", w_shape);
  const Graph::Node node = {"test", {}, {"x", "w"}, {"y"}};
  Lowering to(node, 0, {}, g);
  const Operand x = {"x", Type::f32, x_shape, {}}, w = {"w", Type::f32, w_shape, {}};
  g.outputs = {to.formula(Type::f32, shape, {x, w}, element).name};
  return g;
}

// The kernel's result is the evaluator's. Its buffers have just the operands' extents: Halide stops where it reads past
// them.
void expect_equal(const Graph &g) {
  std::map<std::string, Tensor> inputs;
  for (const std::string &i : g.inputs) inputs[i] = random_tensor(g.value(i).shape, 7);
  const Tensor want = run(g, inputs).at(g.outputs[0]).in_layout(Layout::row_major);
  Build build = emit(g, {{g.nodes[0]}}).build(host_target());
  std::vector<Halide::ImageParam> parameters = build.buffers();
  const auto extents = [](const Tensor &t) { return std::vector<int>(t.shape().rbegin(), t.shape().rend()); };
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor &t = inputs.at(g.nodes[0].inputs[i]);
    parameters[i].set(Halide::Buffer<float>(t.data<float>(), extents(t)));
  }
  const Tensor got = Tensor::empty(want.shape());
  try {
    Halide::Buffer<float> to(got.data<float>(), extents(got));
    build.pipeline().realize(to, host_target());
  } catch (const Halide::Error &e) {
    FAIL() << to_string(want.shape()) << ": " << e.what();
  }
  for (int64_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i], 1e-5) << i << " of " << to_string(want.shape());
}

TEST(EmittedFormula, ReductionsBesideVectorsFitRowsOfEveryLength) {
  for (const int64_t columns : {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 35})
    expect_equal(graph_of({3, columns}, {3}, {columns}, [](const Reads &r, const Axes &at) {
      return reduce(formula::Function::sum, {3}, [&](const auto &k) { return r[0]({k[0], at[0]}) * r[1]({k[0]}); });
    }));
}

TEST(EmittedFormula, IndicesAreDividedTowardsZero) {
  // A convolution's transpose: of two taps, every second one hits an element.
  expect_equal(graph_of({9}, {2}, {18}, [](const Reads &r, const Axes &at) {
    return reduce(formula::Function::sum, {2}, [&](const auto &t) {
      const Expression from = at[0] - t[0];
      return select(from % 2 == 0, r[0]({from / 2}) * r[1]({t[0]}), formula::constant(Type::f32, 0));
    });
  }));
}

}  // namespace
}  // namespace saltern::generators
