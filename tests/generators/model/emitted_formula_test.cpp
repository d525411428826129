// Formulas as kernels with their schedule: vectors fit rows of every length, and read nothing outside their operands.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "generators/formula_functions.h"
#include "generators/model/emit.h"
#include "runtime/graph/executor.h"
#include "runtime/onnx/operators/lowering.h"
#include "runtime/tensor/element.h"
#include "schedules/machine.h"
#include "tests/compiled_graph.h"
#include "tests/naive_graph.h"

namespace saltern::generators {
namespace {

using formula::Axes;
using formula::Expression;

// x and w inside of a formula.
using Reads = std::vector<std::function<Expression(const Axes &)>>;
using Element = std::function<Expression(const Reads &, const Axes &)>;

// A graph of one formula of x and w.
Graph graph_of(const Shape &x_shape, const Shape &w_shape, const Shape &shape, const Element &element) {
  Graph g;
  g.add_input("x", x_shape);
  g.add_input("w", w_shape);
  Reads reads;
  for (int operand : {0, 1})
    reads.push_back([operand](const Axes &at) { return formula::load(operand, Type::f32, at); });
  g.outputs = {g.add_node("formula", {"x", "w"}, "y", shape, {{"element", element(reads, axes_of(shape))}})};
  return g;
}

// What the kernel of a graph's only node makes. Its buffers have just the operands' extents: Halide stops where it reads
// past them.
Tensor emitted(const Graph &g, const std::map<std::string, Tensor> &inputs) {
  const EmittedKernel kernel = emit(g, {{g.nodes[0]}});
  Build build = kernel.build(host_target());
  const auto buffer = [&](const Tensor &t, size_t argument) {
    return Halide::Buffer<void>(storage_type(t.type()), t.raw(), kernel.arguments[argument].extents);
  };
  std::vector<Halide::ImageParam> parameters = build.buffers();
  for (size_t i = 0; i < parameters.size(); ++i) parameters[i].set(buffer(inputs.at(kernel.arguments[i].value), i));
  const Graph::Value &y = g.value(g.outputs[0]);
  const Tensor result = Tensor::empty(y.shape, y.type);
  Halide::Buffer<void> to = buffer(result, kernel.arguments.size() - 1);
  build.pipeline().realize(to, host_target());
  return result;
}

// The kernel's result is the evaluator's.
void expect_equal(const Graph &g, const std::map<std::string, Tensor> &inputs, double tolerance) {
  const std::string formula = to_string(g.nodes[0].attributes.expression("element"));
  const std::vector<double> want = run(g, inputs).at(g.outputs[0]).reals();
  std::vector<double> got;
  try {
    got = emitted(g, inputs).reals();
  } catch (const Halide::Error &e) {
    FAIL() << formula << ": " << e.what();
  }
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;  // infinities, too
    ASSERT_NEAR(got[i], want[i], tolerance * (1 + std::fabs(want[i]))) << i << " of " << formula;
  }
}

void expect_equal(const Graph &g) {
  std::map<std::string, Tensor> inputs;
  for (const std::string &i : g.inputs) inputs[i] = random_tensor(g.value(i).shape, 7);
  expect_equal(g, inputs, 1e-5);
}

// Numbers of any type, few enough for ties; floats have a fraction, which sums of them do not lose.
Tensor few_numbers(const Shape &shape, Type type) {
  const Tensor t = Tensor::empty(shape, type);
  uint32_t state = 11;
  for (int64_t i = 0; i < t.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    set_element(type, t.raw(), i, static_cast<double>(state >> 29) * (is_real(type) ? 0.25 : 1));
  }
  return t;
}

// One reduction of x, over all steps that x is read at.
struct Reduced {
  formula::Function function;
  Type type;
  Shape x, result;
  std::vector<int64_t> steps;
  std::function<std::vector<Expression>(const std::vector<Expression> &axes, const std::vector<Expression> &steps)> at;
};

void expect_equal(const Reduced &r) {
  const bool gives_places = r.function >= formula::Function::first_greatest;
  const Type type = gives_places ? Type::i64 : r.type;
  std::vector<Expression> axes;
  for (size_t d = 0; d < r.result.size(); ++d) axes.push_back(formula::axis(static_cast<int>(d)));
  Graph g;
  g.add_input("x", r.x, r.type);
  const Expression element =
      reduce(r.function, r.steps, [&](const auto &s) { return formula::load(0, r.type, r.at(axes, s)); });
  g.outputs = {g.add_node("formula", {"x"}, "y", r.result, {{"element", element}}, type)};
  const double tolerance = !is_real(r.type) || gives_places ? 0 : r.type == Type::f64 ? 1e-12 : 1e-6;
  expect_equal(g, {{"x", few_numbers(r.x, r.type)}}, tolerance);
}

using formula::Function;
const std::vector<int64_t> lengths = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000};

TEST(EmittedFormula, RowsOfEveryLength) {
  for (const int64_t n : lengths)
    for (const Function f : {Function::sum, Function::first_greatest, Function::last_least}) {
      expect_equal({f, Type::f32, {5, n}, {5}, {n}, [](const auto &a, const auto &s) -> std::vector<Expression> {
                      return {a[0], s[0]};
                    }});
      // Over two dimensions that are one in memory, and over two that are not: a place counts both.
      expect_equal({f, Type::f32, {3, 4, n}, {3}, {4, n}, [](const auto &a, const auto &s) -> std::vector<Expression> {
                      return {a[0], s[0], s[1]};
                    }});
      expect_equal({f, Type::f32, {4, 3, n}, {3}, {4, n}, [](const auto &a, const auto &s) -> std::vector<Expression> {
                      return {s[0], a[0], s[1]};
                    }});
    }
}

TEST(EmittedFormula, RowsOfEveryTypeByEveryFunction) {
  for (const Type type : {Type::f32, Type::f64, Type::i8, Type::u8, Type::i32, Type::i64})
    for (int f = static_cast<int>(Function::sum); f <= static_cast<int>(Function::last_least); ++f)
      expect_equal({static_cast<Function>(f),
                    type,
                    {3, 77},
                    {3},
                    {77},
                    [](const auto &a, const auto &s) -> std::vector<Expression> {
                      return {a[0], s[0]};
                    }});
}

TEST(EmittedFormula, ColumnsOfEveryTypeByEveryFunction) {
  for (const Type type : {Type::f32, Type::f64, Type::i8, Type::u8, Type::i32, Type::i64})
    for (int f = static_cast<int>(Function::sum); f <= static_cast<int>(Function::last_least); ++f)
      expect_equal({static_cast<Function>(f),
                    type,
                    {5, 7, 19},
                    {5, 19},
                    {7},
                    [](const auto &a, const auto &s) -> std::vector<Expression> {
                      return {a[0], s[0], a[1]};
                    }});
}

TEST(EmittedFormula, ColumnsAndWhatLiesBetween) {
  for (const int64_t n : {7, 8, 33})
    for (const Function f : {Function::sum, Function::least, Function::first_greatest}) {
      expect_equal({f, Type::f32, {n, 19}, {19}, {n}, [](const auto &a, const auto &s) -> std::vector<Expression> {
                      return {s[0], a[0]};
                    }});
      expect_equal(
          {f, Type::f32, {2, n, 19}, {2, 19}, {n}, [](const auto &a, const auto &s) -> std::vector<Expression> {
             return {a[0], s[0], a[1]};
           }});
      expect_equal({f, Type::f32, {n, 3, 4}, {}, {n, 3, 4}, [](const auto &, const auto &s) { return s; }});
    }
}

// A norm: what is reduced of a row is computed once for all of its elements.
TEST(EmittedFormula, ReductionsOfARowMeetItsElements) {
  for (const Shape &shape : {Shape{2, 3, 5, 7}, Shape{3, 17, 4, 4}, Shape{1, 2, 1, 64}})
    expect_equal(graph_of(shape, {shape[1]}, shape, [&](const Reads &r, const Axes &at) {
      const auto mean = [&](const std::function<Expression(const Expression &)> &of) {
        const Expression sum = reduce(Function::sum, {shape[2], shape[3]}, [&](const auto &s) {
          return of(r[0]({at[0], at[1], s[0], s[1]}));
        });
        return sum / (shape[2] * shape[3]);
      };
      const Expression middle = mean([](const Expression &x) { return x; });
      const Expression spread = mean([&](const Expression &x) { return (x - middle) * (x - middle); });
      return (r[0](at) - middle) * (r[1]({at[1]}) / sqrt(spread + 1e-5));
    }));
}

TEST(EmittedFormula, ReductionsInsideReductions) {
  expect_equal(graph_of({3, 5, 40}, {40}, {3}, [](const Reads &r, const Axes &at) {
    return reduce(Function::sum, {5}, [&](const auto &i) {
      return reduce(Function::greatest, {40}, [&](const auto &j) { return r[0]({at[0], i[0], j[0]}) * r[1]({j[0]}); });
    });
  }));
}

TEST(EmittedFormula, AReductionOfWhatDoesNotDependOnItsStepsTakesAllOfThem) {
  for (const Function f : {Function::sum, Function::product, Function::greatest}) {
    const auto expect_reduced = [&](const Shape &x, const Shape &y, Type type, const std::vector<int64_t> &steps,
                                    const std::function<Expression(const Axes &)> &body) {
      Graph g;
      g.add_input("x", x);
      g.outputs = {g.add_node("formula", {"x"}, "y", y, {{"element", reduce(f, steps, body)}}, type)};
      expect_equal(g, {{"x", random_tensor(x, 5)}}, 1e-6);
    };
    expect_reduced({4}, {4}, Type::f32, {3, 2},
                   [](const Axes &) { return formula::load(0, Type::f32, {formula::axis(0)}); });
    expect_reduced({4}, {2}, Type::i64, {5}, [](const Axes &) { return formula::constant_integer(Type::i64, 2); });
    expect_reduced({0}, {3}, Type::f32, {0}, [](const Axes &s) { return formula::load(0, Type::f32, {s[0]}); });
  }
}

// What has 16 bits is rounded at the end: a sum may be greater than the mean that it is for.
TEST(EmittedFormula, SumsOfShortNumbersAreNotRounded) {
  const int64_t n = 300;
  Graph g;
  g.add_input("x", {2, n}, Type::f16);
  const Expression sum = reduce(Function::sum, {n}, [](const auto &s) {
    return formula::load(0, Type::f16, {formula::axis(0), s[0]});
  });
  g.outputs = {g.add_node("formula", {"x"}, "y", {2}, {{"element", sum / double(n)}}, Type::f16)};
  const Tensor x = Tensor::empty({2, n}, Type::f16);
  for (int64_t i = 0; i < x.size(); ++i) set_element(Type::f16, x.raw(), i, 1000);
  expect_equal(g, {{"x", x}}, 1e-3);
}

TEST(EmittedFormula, WhatIsNoNumberIsTheGreatestAndTheLeast) {
  for (const int64_t n : {5, 40, 77}) {
    const Tensor x = few_numbers({2, n}, Type::f32);
    for (const int64_t at : {n / 4, n - 2}) x.data<float>()[at] = NAN;
    for (const auto &[f, place] : {std::pair{Function::first_greatest, n / 4},
                                   {Function::first_least, n / 4},
                                   {Function::last_greatest, n - 2},
                                   {Function::last_least, n - 2}}) {
      Graph g;
      g.add_input("x", {2, n});
      const Expression element = reduce(f, {n}, [&](const auto &s) {
        return formula::load(0, Type::f32, {formula::axis(0), s[0]});
      });
      g.outputs = {g.add_node("formula", {"x"}, "y", {2}, {{"element", element}}, Type::i64)};
      EXPECT_EQ(emitted(g, {{"x", x}}).integers()[0], place) << formula::name(f) << " of " << n;
    }
  }
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

// Of a single element, which stands where broadcasting would put it if it had a dimension less.
TEST(EmittedFormula, OperandsOfAHigherRankThanTheResult) {
  const Expression zero = formula::constant_integer(Type::i64, 0);
  Graph g;
  g.add_input("x", {1, 1});
  const Expression element = formula::load(0, Type::f32, {zero, zero}) + 1.0;
  g.outputs = {g.add_node("formula", {"x"}, "y", {1}, {{"element", element}}, Type::f32)};
  expect_equal(g);
}

// Lanes that overflow would meet the one that has a 0.
TEST(EmittedFormula, ProductsThatOverflowAfterAZero) {
  Graph g;
  g.add_input("x", {2, 68});
  const Expression element = reduce(Function::product, {68}, [](const auto &s) {
    return formula::load(0, Type::f32, {formula::axis(0), s[0]});
  });
  g.outputs = {g.add_node("formula", {"x"}, "y", {2}, {{"element", element}}, Type::f32)};
  const Tensor x = Tensor::empty({2, 68});
  for (int i = 0; i < 136; ++i) x.data<float>()[i] = i % 4 == 0 ? 0.0F : 1000.0F;
  expect_equal(g, {{"x", x}}, 0);
}

// Halide failed on the masked load of a row that is shorter than a vector, or a little longer than some.
TEST(EmittedFormula, ARowThatIsReadBackwardsMayHaveAnyLength) {
  for (int64_t n : {1, 4, 8, 17, 64, 100}) {
    Graph g;
    g.add_input("x", {n});
    const formula::Expression back = formula::load(0, Type::f32, {n - 1 - formula::axis(0)});
    g.outputs = {g.add_node("formula", {"x"}, "y", {n}, {{"element", back}})};
    expect_right_when_compiled(g);
  }
}

// The gradient of weights over many rows, whose steps are far apart in memory: by stretches (long_contraction.h), of rows
// that fill no whole block, and columns that fill no whole tile.
TEST(EmittedFormula, ProductsOverManyStepsGoByStretches) {
  for (const auto &[steps, rows, columns] : std::vector<std::array<int64_t, 3>>{
           {512, 512, 64}, {640, 1024, 40}, {768, 1536, 7}, {521, 512, 33}, {512, 520, 16}}) {
    const Element product = [steps = steps](const Reads &read, const Axes &at) {
      return formula::reduce(formula::Function::sum, {steps}, [&](const Axes &k) {
        return read[0]({k[0], at[0]}) * read[1]({k[0], at[1]});
      });
    };
    Graph g = graph_of({steps, rows}, {steps, columns}, {rows, columns}, product);
    std::map<std::string, Tensor> inputs;
    for (const std::string &i : g.inputs) inputs[i] = few_numbers(g.value(i).shape, Type::f32);  // sums are exact
    expect_equal(g, inputs, 0);
  }
}

// Transpositions by blocks, some turned around on the way, of extents that blocks divide and others.
TEST(EmittedFormula, TransposedMapsGoByBlocks) {
  for (const auto &[a, b] : std::vector<std::array<int64_t, 2>>{{128, 144}, {160, 130}, {130, 160}, {16, 2048}})
    for (const bool back : {false, true}) {
      const Element turned = [back = back, b = b](const Reads &read, const Axes &at) {
        const Expression from = back ? Expression(b - 1) - at[0] : at[0];
        return read[0]({at[2], 2 - at[1], from}) * 2.0f;
      };
      expect_equal(graph_of({a, 3, b}, {1}, {b, 3, a}, turned));
    }
}

// A tile of a product goes past the edge, where there are no places to read.
TEST(EmittedFormula, AProductMayReadRowsAndColumnsAtPlacesThatDataSays) {
  using formula::axis;
  const auto place = [](int operand, int of) { return formula::load(operand, Type::i64, {axis(of)}); };
  const auto product = [&](bool rows, bool columns) {
    return formula::reduce(formula::Function::sum, {5}, [&](const formula::Axes &k) {
      return formula::load(0, Type::f32, {rows ? place(2, 0) : axis(0), k[0]}) *
             formula::load(1, Type::f32, {k[0], columns ? place(3, 1) : axis(1)});
    });
  };
  for (const auto &[rows, columns] : std::vector<std::pair<bool, bool>>{{true, false}, {false, true}, {true, true}}) {
    Graph g;
    g.add_input("x", {4, 5});
    g.add_input("w", {5, 7});
    g.add_constant("rows", Tensor::of<int64_t>({4}, {3, 0, 2, 0}));
    g.add_constant("columns", Tensor::of<int64_t>({7}, {6, 0, 3, 3, 1, 5, 2}));
    g.outputs = {
        g.add_node("formula", {"x", "w", "rows", "columns"}, "y", {4, 7}, {{"element", product(rows, columns)}})};
    expect_right_when_compiled(g);
  }
}

// Where a result is rounded as if it were stored, an infinity is none that a cast would make the largest number of.
TEST(EmittedFormula, NumbersOf8BitsKeepInfinityAndNaN) {
  const Tensor x = Tensor::of<float>({3, 3}, {INFINITY, -INFINITY, NAN, 1e6F, -1e6F, 57344, 61440, -61439, 0.3F});
  for (const Type type : {Type::f8e5m2, Type::f8e4m3fn}) {
    const auto code = [&](int bits) { return bits_as(type, formula::constant_integer(Type::u8, bits)); };
    const Expression e = formula::load(0, Type::f32, axes_of(x.shape())), size = call(Function::absolute, e);
    const Expression chosen = select(size >= 61440, select(e > 0, code(0x7C), code(0xFC)), cast(type, e));
    for (const Expression &element : {cast(type, e), chosen}) {
      Graph g;
      g.add_input("x", x.shape());
      g.outputs = {g.add_node("formula", {"x"}, "y", x.shape(), {{"element", element}}, type)};
      expect_equal(g, {{"x", x}}, 0);
    }
  }
}

}  // namespace
}  // namespace saltern::generators
