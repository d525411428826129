// Formulas as Halide code give what the evaluator gives: every function in every type, conversions.

#include "generators/model/formula_code.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/formula/evaluate.h"
#include "runtime/tensor/element.h"
#include "schedules/machine.h"

namespace saltern::generators {
namespace {

using namespace formula;

Halide::Buffer<void> buffer_of(const Tensor &t) {
  std::vector<int> extents;
  for (auto e = t.shape().rbegin(); e != t.shape().rend(); ++e) extents.push_back(static_cast<int>(*e));
  return Halide::Buffer<void>(storage_type(t.type()), t.raw(), extents);
}

Tensor compiled(const Expression &e, const std::vector<Tensor> &operands, const Shape &shape, int vector = 1,
                const Halide::Target &target = host_target()) {
  std::vector<Halide::Func> inputs;
  std::vector<Shape> shapes;
  for (const Tensor &t : operands) {
    Halide::Buffer<void> elements = buffer_of(t);
    inputs.emplace_back(elements);
    shapes.push_back(t.shape());
  }
  std::vector<Halide::Var> vars;
  std::vector<Halide::Expr> at(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    vars.emplace_back("d" + std::to_string(d));
    at[d] = vars.back();
  }
  Halide::Func y("y");
  y(vars) = formula_code(e, at, shape, shapes, [&](int operand, const std::vector<Halide::Expr> &indices) {
    return inputs[static_cast<size_t>(operand)](std::vector<Halide::Expr>(indices.rbegin(), indices.rend()));
  });
  const Tensor result = Tensor::empty(shape, e.type());
  Halide::Buffer<void> to = buffer_of(result);
  if (vector > 1) y.vectorize(vars[0], vector, Halide::TailStrategy::GuardWithIf);
  y.realize(to, target);
  return result;
}

Tensor numbers(Type type, const Shape &shape, double low, double high, unsigned seed) {
  const Tensor t = Tensor::empty(shape, type);
  uint32_t state = seed;
  for (int64_t i = 0; i < t.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    double v = low + (high - low) * (state >> 8) / double(1 << 24);
    if (!is_real(type)) v = std::floor(v);
    set_element(type, t.raw(), i, v);
  }
  return t;
}

void expect_equal(const Expression &e, const std::vector<Tensor> &operands, const Shape &shape, double tolerance,
                  int vector = 1) {
  const std::vector<double> expected = evaluate(e, operands, shape).reals();
  std::vector<double> got;
  try {
    got = compiled(e, operands, shape, vector).reals();
  } catch (const Halide::Error &error) {
    FAIL() << to_string(e) << ": " << error.what();
  }
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(got[i])) continue;
    if (std::isinf(expected[i]) && got[i] == expected[i]) continue;
    ASSERT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << to_string(e) << " at " << i;
  }
}

double tolerance_of(Type type) {
  return type == Type::f64 ? 1e-6 : type == Type::f32 ? 2e-5 : type == Type::f16 ? 2e-3 : type == Type::bf16 ? 2e-2 : 0;
}

bool is_for_reals_only(Function f) { return (f >= Function::exp && f <= Function::erf) || f == Function::sqrt; }

bool is_for_integers_only(Function f) {
  return f == Function::invert || f == Function::both || f == Function::either || f == Function::differ ||
         f == Function::shift_left || f == Function::shift_right;
}

const Type types[] = {Type::f32, Type::f64, Type::f16, Type::bf16, Type::i8,  Type::i16,
                      Type::i32, Type::i64, Type::u8,  Type::u16,  Type::u32, Type::u64};

TEST(FormulaCode, FunctionsOfOneOperand) {
  const Shape shape = {3, 11};
  for (Type type : types)
    for (int f = 0; f <= static_cast<int>(Function::stopped); ++f) {
      const auto function = static_cast<Function>(f);
      if (is_real(type) ? is_for_integers_only(function) : is_for_reals_only(function)) continue;
      const bool from_one = function == Function::arccosh;
      const bool below_one =
          function == Function::arctanh || function == Function::arcsine || function == Function::arccosine;
      const bool natural = facts(type).kind == TypeFacts::Kind::natural;
      const Tensor x = numbers(type, shape,
                               from_one                                                             ? 1
                               : below_one                                                          ? -0.9
                               : natural || function == Function::log || function == Function::sqrt ? 0.1
                                                                                                    : -3,
                               below_one ? 0.9 : 3.5, static_cast<unsigned>(f + 1));
      expect_equal(call(function, load(0, type, {axis(0), axis(1)})), {x}, shape, tolerance_of(type));
    }
}

TEST(FormulaCode, FunctionsOfTwoOperands) {
  const Shape shape = {3, 11};
  for (Type type : types)
    for (int f = static_cast<int>(Function::add); f <= static_cast<int>(Function::shift_right); ++f) {
      const auto function = static_cast<Function>(f);
      if (is_real(type) && is_for_integers_only(function)) continue;
      if (function == Function::quotient && type != Type::i64) continue;
      const bool natural = facts(type).kind == TypeFacts::Kind::natural;
      const bool shift = function == Function::shift_left || function == Function::shift_right;
      if (shift && !natural) continue;
      const bool power = function == Function::power;
      const Tensor a =
          numbers(type, shape, natural || (power && is_real(type)) ? 0.5 : -9, 9, static_cast<unsigned>(f));
      const Tensor b = numbers(type, shape, natural || power ? 0 : -4, power ? 3 : 4, static_cast<unsigned>(f + 77));
      if (is_real(type) && (function == Function::modulo || function == Function::remainder)) continue;  // below
      expect_equal(call(function, load(0, type, {axis(0), axis(1)}), load(1, type, {axis(0), axis(1)})), {a, b}, shape,
                   tolerance_of(type));
    }
}

TEST(FormulaCode, RemaindersOfReals) {
  const Tensor a = Tensor::of<float>({6}, {5.5F, -5.5F, 5.5F, -5.5F, 0.25F, 7}),
               b = Tensor::of<float>({6}, {2, 2, -2, -2, 1, 7});
  for (Function f : {Function::modulo, Function::remainder})
    expect_equal(call(f, load(0, Type::f32, {axis(0)}), load(1, Type::f32, {axis(0)})), {a, b}, {6}, 1e-6);
}

TEST(FormulaCode, ConversionsBetweenAllTypes) {
  for (const TypeFacts &from : all_types())
    for (const TypeFacts &to : all_types()) {
      if (from.type == Type::text || to.type == Type::text || from.type == to.type) continue;
      const bool natural = from.kind == TypeFacts::Kind::natural || to.kind == TypeFacts::Kind::natural ||
                           from.type == Type::boolean || from.type == Type::f8e8m0;
      const double high = from.type == Type::boolean ? 1.9 : std::min(from.bits, to.bits) <= 2 ? 1.9 : 5.9;
      const Tensor x = numbers(from.type, {40}, natural || to.bits <= 4 ? 0.6 : -5.9, high, 5);
      expect_equal(cast(to.type, load(0, from.type, {axis(0)})), {x}, {40}, 0);
    }
}

TEST(FormulaCode, SmallFloatsRoundAlike) {
  const Tensor x = Tensor::empty({4000});
  for (int i = 0; i < 4000; ++i) x.data<float>()[i] = std::ldexp(static_cast<float>(i % 97 - 48) / 16, i % 23 - 12);
  for (const TypeFacts &f : all_types())
    if (f.is_small_real() || f.type == Type::f16 || f.type == Type::bf16)
      expect_equal(cast(f.type, load(0, Type::f32, {axis(0)})), {x}, {4000}, 0);
}

TEST(FormulaCode, IndicesThatLookPastTheEdge) {
  const Tensor x = numbers(Type::f32, {9}, -2, 2, 4), at = Tensor::of<int64_t>({4}, {3, 0, 8, 5});
  const Expression i = axis(0) - 2;
  expect_equal(select(i >= 0 && i < 9, load(0, Type::f32, {i}), constant(Type::f32, -1)), {x}, {13}, 0);
  expect_equal(load(0, Type::f32, {load(1, Type::i64, {axis(0)})}), {x, at}, {4}, 0);
  expect_equal(load(0, Type::f32, {(axis(0) * 5 + 3) % 9}) + cast(Type::f32, axis(0) / 2), {x}, {20}, 0);
}

TEST(FormulaCode, NotANumberIsSeenInEveryFloat) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
    const Tensor x = Tensor::empty({16}, type);
    const double values[] = {0, -1, 65504, NAN, INFINITY, -INFINITY, 1e-7, -NAN};
    for (int64_t i = 0; i < 16; ++i) set_element(type, x.raw(), i, values[i % 8]);
    expect_equal(call(Function::is_nan, load(0, type, {axis(0)})), {x}, {16}, 0);
    // Compared with anything, it is neither less nor equal, also where a choice could be turned round.
    for (const Function f : {Function::less, Function::less_equal, Function::equal})
      for (const double other : {1.0, static_cast<double>(NAN)}) {
        const Expression e = load(0, type, {axis(0)}), o = formula::constant(type, other);
        expect_equal(select(call(f, e, o), constant_integer(Type::i64, 1), constant_integer(Type::i64, 2)), {x}, {16},
                     0);
        expect_equal(select(call(f, o, e), constant_integer(Type::i64, 1), constant_integer(Type::i64, 2)), {x}, {16},
                     0);
      }
  }
}

// NaN, infinities, zeros of both signs, what is barely a number and what barely fits.
const std::vector<double> special_values = {
    NAN,  INFINITY, -INFINITY, 1e38, -1e38,  3e38,    1e-45, -1e-45, -0.0, 0,  1,   -1,      88.8,   -88.8, 104, -104,
    1000, -1000,    0.5,       -0.5, 0x1p31, -0x1p31, 1e10,  2.5,    3,    -3, 8.5, -0x1p63, 0x1p63, 1.5,   -1.5};

Tensor special_tensor(Type type, int64_t size, int64_t stride) {
  const Tensor t = Tensor::empty({size}, type);
  const auto count = static_cast<int64_t>(special_values.size());
  for (int64_t i = 0; i < size; ++i)
    set_element(type, t.raw(), i, special_values[static_cast<size_t>(i / stride % count)]);
  return t;
}

// What the evaluator's C library gives: in scalar code and in vectors, of what is read and of what is computed.
TEST(FormulaCode, FunctionsOfSpecialValues) {
  const auto size = static_cast<int64_t>(special_values.size());
  const Expression x = load(0, Type::f32, {axis(0)});
  for (const Function f : {Function::exp, Function::log, Function::tanh, Function::erf, Function::absolute,
                           Function::negate, Function::sqrt})
    for (const Expression &of : {x, x + 0.25, x * -2.0})
      for (int vector : {1, 16}) expect_equal(call(f, of), {special_tensor(Type::f32, size, 1)}, {size}, 1e-6, vector);
}

// To Halide, 0 and -0 are equal: a formula that has a 0 still negates to -0.
TEST(FormulaCode, NegatedZeroBesideAZero) {
  const Expression x = load(0, Type::f32, {axis(0)}), y = load(1, Type::f32, {axis(0)});
  const Expression e = bits_as(Type::i32, select(y < 0.0, -x, formula::constant(Type::f32, 0)));
  const Tensor zeros = Tensor::full({16}, 0), below = Tensor::full({16}, -1);
  for (int vector : {1, 16}) expect_equal(e, {zeros, below}, {16}, 0, vector);
}

TEST(FormulaCode, FunctionsOfTwoSpecialValues) {
  const auto count = static_cast<int64_t>(special_values.size()), size = count * count;
  const Expression x = load(0, Type::f32, {axis(0)}), y = load(1, Type::f32, {axis(0)});
  for (const Function f :
       {Function::power, Function::remainder, Function::modulo, Function::maximum, Function::minimum, Function::divide})
    for (int vector : {1, 16})
      expect_equal(call(f, x, y), {special_tensor(Type::f32, size, 1), special_tensor(Type::f32, size, count)}, {size},
                   1e-4, vector);
}

TEST(FormulaCode, ConversionsOfWhatAnIntegerDoesNotHold) {
  const auto size = static_cast<int64_t>(special_values.size());
  for (const Type from : {Type::f32, Type::f64})
    for (const Type to : {Type::i8, Type::u8, Type::i16, Type::u16, Type::i32, Type::u32, Type::i64})
      for (int vector : {1, 16})
        expect_equal(cast(to, load(0, from, {axis(0)})), {special_tensor(from, size, 1)}, {size}, 0, vector);
}

// The bounds that schedules/forms/elementary.h gives, below the normal numbers and at every exponent.
TEST(FormulaCode, RelativeErrorsAtEveryExponent) {
  const int size = 300 * 64;
  const Tensor x = Tensor::empty({size});
  for (int i = 0; i < size; ++i) x.data<float>()[i] = std::ldexp(1 + static_cast<float>(i % 64) / 61, i / 64 - 149);
  const std::pair<Function, double> bounds[] = {{Function::log, 1.4e-7}, {Function::tanh, 2.3e-7}};
  for (const auto &[f, bound] : bounds) {
    const Expression e = call(f, load(0, Type::f32, {axis(0)}));
    const std::vector<double> got = compiled(e, {x}, {size}, 16).reals();
    for (int i = 0; i < size; ++i) {
      const double v = x.data<float>()[i], want = f == Function::log ? std::log(v) : std::tanh(v);
      const double step = std::isnormal(static_cast<float>(want)) ? 0 : 0x1p-150;
      if (got[static_cast<size_t>(i)] == want) continue;
      ASSERT_LE(std::fabs(got[static_cast<size_t>(i)] - want), bound * std::fabs(want) + step)
          << name(f) << " of " << v;
    }
  }
}

// One form where a multiplication and an addition are one instruction, another elsewhere.
TEST(FormulaCode, ExponentialsWithAndWithoutFusedMultiplyAdd) {
  const int size = 17560;
  const Tensor x = Tensor::empty({size});
  for (int i = 0; i < size; ++i) x.data<float>()[i] = -86.9F + static_cast<float>(i) * 0.01F;
  const Expression e = call(Function::exp, load(0, Type::f32, {axis(0)}));
  for (const Halide::Target &target : {host_target(), Halide::Target(cpu_targets().back().halide)}) {
    const double bound = target.has_feature(Halide::Target::FMA) ? 3.1e-7 : 4.2e-6;
    const std::vector<double> got = compiled(e, {x}, {size}, 4, target).reals();
    for (int i = 0; i < size; ++i) {
      const double v = x.data<float>()[i], want = std::exp(v);
      ASSERT_LE(std::fabs(got[static_cast<size_t>(i)] - want), bound * want) << target.to_string() << ": exp of " << v;
    }
  }
}

// Not one of the special values, since no conversion gives it.
TEST(FormulaCode, LogarithmOfASignallingNaN) {
  const Tensor x = Tensor::empty({16});
  for (int i = 0; i < 16; ++i) reinterpret_cast<uint32_t *>(x.raw())[i] = 0x7F800001 + static_cast<uint32_t>(i);
  for (const double y : compiled(call(Function::log, load(0, Type::f32, {axis(0)})), {x}, {16}, 16).reals())
    EXPECT_TRUE(std::isnan(y));
}

// All but 1: where an arccosine or a conversion looks at it, the last bits count.
TEST(FormulaCode, HyperbolicTangentsNearOne) {
  const Tensor x = Tensor::empty({4000});
  for (int i = 0; i < 4000; ++i) x.data<float>()[i] = 4 + static_cast<float>(i) * 0.0015F;
  expect_equal(call(Function::tanh, load(0, Type::f32, {axis(0)})), {x}, {4000}, 1.3e-7, 16);
}

}  // namespace
}  // namespace saltern::generators
