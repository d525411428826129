// Formulas in a program that has no compiler: by the library where they are one of its functions, else by the interpreter.

#include "runtime/formula/computation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/elementwise.h"
#include "dsl/derivative.h"
#include "runtime/formula/evaluate_values.h"
#include "runtime/tensor/random.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using formula::Value;
using formula::Values;

enum class By { library, interpreter };

using Function = std::function<Value(const Values &)>;

formula::ExactFormulas formulas_of(const Function &f, const std::vector<Tensor> &operands) {
  Values inputs;
  for (const Tensor &t : operands)
    inputs.push_back(
        formula::input("x" + std::to_string(inputs.size()), {t.shape().begin(), t.shape().end()}, t.type()));
  return formula::exact_formulas(inputs, {f(inputs)});
}

// Whoever computes it, it is what the interpreter gives.
void expect_computed_by(By by, const Function &f, const std::vector<Tensor> &operands) {
  const formula::ExactFormulas formulas = formulas_of(f, operands);
  const ComputationCounts before = computation_counts();
  const std::vector<double> got = Computation(formulas, Runs::often)(operands).at(0).reals();
  const ComputationCounts after = computation_counts();
  EXPECT_EQ(after.library - before.library, by == By::library ? 1 : 0);
  EXPECT_EQ(after.interpreter - before.interpreter, by == By::interpreter ? 1 : 0);
  const std::vector<double> want = evaluate(formulas, operands).at(0).reals();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6 * std::max(1.0, std::fabs(want[i])));
}

Tensor drawn(const Shape &shape, double low = -3, double high = 3, Layout layout = Layout::row_major) {
  static Random random(5);
  return random.uniform_tensor(shape, static_cast<float>(low), static_cast<float>(high), layout);
}

TEST(Computation, IsTheLibrarysWhereAFormulaIsOneOfItsFunctions) {
  for (const algorithms::UnaryRow &row : algorithms::unary_rows()) {
    SCOPED_TRACE(row.name);
    const auto f = [&](const Values &x) { return row.of(x[0]); };
    for (const Layout layout : {Layout::row_major, Layout::channels_last}) {
      const Tensor x = drawn({2, 3, 4, 5}, row.low, row.high, layout);
      // silu has sigmoid, which is a stage of its own.
      expect_computed_by(row.name == "silu" ? By::interpreter : By::library, f, {x});
    }
  }
  for (const algorithms::BinaryRow &row : algorithms::binary_rows()) {
    SCOPED_TRACE(row.name);
    for (const Shape &shape : {Shape{4, 3, 2}, Shape{2}, Shape{3, 1}, Shape{4, 1, 2}})
      expect_computed_by(By::library, [&](const Values &x) { return row.of(x[0], x[1]); },
                         {drawn({4, 3, 2}, row.low, row.high), drawn(shape, row.low, row.high)});
  }
}

TEST(Computation, KnowsTheLibrarysGradientsWhateverTheyAreCalled) {
  const auto gradient_of_gelu = [](const Values &in) {
    return formula::gradient({algorithms::gelu(in[1])}, {in[0]}, {in[1]})[0];
  };
  expect_computed_by(By::library, gradient_of_gelu, {drawn({3, 5}), drawn({3, 5})});
}

TEST(Computation, IsTheInterpretersWhereTheLibraryHasSomethingElse) {
  const auto part = [](const Values &x) {
    return formula::compute("part", {2, 3},
                            [&](formula::Expression i, formula::Expression j) { return exp(x[0](i, j)); });
  };
  expect_computed_by(By::interpreter, part, {drawn({4, 3})});
  expect_computed_by(By::library, part, {drawn({2, 3})});
  const auto turned = [](const Values &x) {
    return formula::compute("turned", {3, 3},
                            [&](formula::Expression i, formula::Expression j) { return exp(x[0](j, i)); });
  };
  expect_computed_by(By::interpreter, turned, {drawn({3, 3})});
  const auto first = [](const Values &x) {
    return formula::compute("first", {2, 3},
                            [&](formula::Expression i, formula::Expression j) { return x[0](i, 0) * x[1](i, j); });
  };
  expect_computed_by(By::interpreter, first, {drawn({2, 3}), drawn({2, 3})});
  expect_computed_by(By::library, first, {drawn({2, 1}), drawn({2, 3})});
  expect_computed_by(By::interpreter, [](const Values &x) { return exp(x[0]) + x[0]; }, {drawn({2, 3})});
  expect_computed_by(By::interpreter, [](const Values &x) { return exp(x[0]); }, {Tensor::empty({2, 0, 4})});
  const Tensor wide = Tensor::full({3}, 0.5, Type::f64);
  expect_computed_by(By::interpreter, [](const Values &x) { return exp(x[0]); }, {wide});
}

TEST(Computation, IsTheInterpretersWithoutACompiler) {
  set_just_in_time(JustInTime::always);
  expect_computed_by(By::interpreter, [](const Values &x) { return tanh(x[0]) * 2; }, {drawn({2, 3})});
  set_just_in_time(JustInTime::where_it_pays);
}

TEST(Computation, OfOutlinesIsAnOutline) {
  const Value x = formula::input("x", {2, 3});
  const Tensor y = Computation(formula::exact_formulas({x}, {exp(x)}), Runs::often)({Tensor::outline({2, 3})}).at(0);
  EXPECT_TRUE(y.is_outline());
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
}

TEST(Computation, ThatReadsWhatIsNotThereIsAnError) {
  formula::ExactFormulas f;
  f.stages.push_back({"f", Type::f32, {2}, exp(formula::load(0, Type::f32, {formula::axis(0)})), {0}});
  f.outputs = {1};
  for (const JustInTime how : {JustInTime::never, JustInTime::always}) {
    set_just_in_time(how);
    expect_error([&] { Computation(f, Runs::once)({Tensor::full({2}, 1, Type::f64)}); }, {"operand 0"});
    expect_error([&] { Computation(f, Runs::once)({Tensor::full({2, 2}, 1)}); }, {"operand 0"});
  }
  set_just_in_time(JustInTime::where_it_pays);
}

}  // namespace
}  // namespace saltern
