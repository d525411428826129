// The forms that schedules have of convolutions compute what their formulas say, and so do products and pools, whose
// schedules are as much made by hand: their library kernels, on every instruction set, beside the interpreter of the
// formula.

#include <gtest/gtest.h>

#include <map>

#include "algorithms/contraction.h"
#include "algorithms/convolution.h"
#include "algorithms/pooling.h"
#include "runtime/kernels/instruction_set.h"
#include "runtime/kernels/kernels.h"
#include "tests/kernel_calls.h"
#include "tests/values.h"

namespace saltern {
namespace {

using algorithms::Slide;
using algorithms::Slides;
using formula::Expression;
using formula::permuted;
using formula::Value;

// The inputs of a call as Values, in memory's order, outermost first; and its scalars.
struct Given {
  formula::Values in;
  std::vector<int> scalars;

  // Eight of them, from number `first` on: stride, dilation, padding before and behind, along x and along y.
  Slides slide(size_t first = 0) const {
    const auto along = [&](size_t i) {
      return Slide{scalars.at(i), scalars.at(i + 1), scalars.at(i + 2), scalars.at(i + 3)};
    };
    return {along(first + 4), along(first)};
  }
};

using Meaning = std::function<formula::Values(const Given &)>;

// ---- Convolutions: images lie as (n, y, x, g, c), weights as (g, o, ky, kx, c).
Value image(const Value &v) { return permuted(v, {0, 3, 4, 1, 2}); }
Value in_memory(const Value &v) { return permuted(v, {0, 3, 4, 1, 2}); }
Value weights(const Value &v) { return permuted(v, {0, 1, 4, 2, 3}); }
Value weights_in_memory(const Value &v) { return permuted(v, {0, 1, 3, 4, 2}); }

formula::Values conv2d(const Given &g) {
  const Value y = algorithms::grouped_conv2d(image(g.in[0]), weights(g.in[1]), g.slide());
  const Value b = formula::inlined({g.in[2].extent(0), g.in[2].extent(1), 1, 1},
                                   [&](const formula::Axes &at) { return g.in[2](at[0], at[1]); });
  return {in_memory(y + b)};
}

formula::Values conv2d_gradient_x(const Given &g) {
  const Value w = weights(g.in[0]), dy = image(g.in[1]);
  const Value x = formula::input("image", {dy.extent(0), w.extent(0), w.extent(2), g.scalars[9], g.scalars[8]});
  return {in_memory(formula::gradient({algorithms::grouped_conv2d(x, w, g.slide())}, {dy}, {x})[0])};
}

formula::Values conv2d_gradient_w(const Given &g) {
  const Value x = image(g.in[0]), dy = image(g.in[1]);
  const Value w = formula::input("weights", {dy.extent(1), dy.extent(2), x.extent(2), g.scalars[9], g.scalars[8]});
  return {weights_in_memory(formula::gradient({algorithms::grouped_conv2d(x, w, g.slide())}, {dy}, {w})[0])};
}

// ---- Of each channel by itself: images lie as (n, y, x, c), weights as (ky, kx, c).
Value pixels(const Value &v) { return permuted(v, {0, 3, 1, 2}); }
Value pixels_in_memory(const Value &v) { return permuted(v, {0, 2, 3, 1}); }

formula::Values depthwise2d(const Given &g) {
  const Value b = formula::inlined({g.in[2].extent(0), 1, 1}, [&](const formula::Axes &at) { return g.in[2](at[0]); });
  return {pixels_in_memory(algorithms::depthwise(pixels(g.in[0]), g.in[1], g.slide()) + b)};
}

formula::Values depthwise2d_gradient_x(const Given &g) {
  const Value &w = g.in[0], dy = pixels(g.in[1]);
  const Value x = formula::input("image", {dy.extent(0), dy.extent(1), g.scalars[9], g.scalars[8]});
  return {pixels_in_memory(formula::gradient({algorithms::depthwise(x, w, g.slide())}, {dy}, {x})[0])};
}

formula::Values depthwise2d_gradient_w(const Given &g) {
  const Value x = pixels(g.in[0]), dy = pixels(g.in[1]);
  const Value w = formula::input("weights", {g.scalars[9], g.scalars[8], x.extent(1)});
  return formula::gradient({algorithms::depthwise(x, w, g.slide())}, {dy}, {w});
}

// ---- Products: x(n, i), w(o, i).
Value dense_product(const Value &x, const Value &w) { return algorithms::matmul(x, permuted(w, {1, 0})); }

// ---- Pools: images lie as those above, and the window's extents stand before the slide, that along x first.
const std::map<std::string, Meaning> &meanings() {
  static const std::map<std::string, Meaning> rows = {
      {"conv2d", conv2d},
      {"conv2d_gradient_x", conv2d_gradient_x},
      {"conv2d_gradient_w", conv2d_gradient_w},
      {"dense", [](const Given &g) { return formula::Values{dense_product(g.in[0], g.in[1]) + g.in[2]}; }},
      {"depthwise2d", depthwise2d},
      {"depthwise2d_gradient_x", depthwise2d_gradient_x},
      {"depthwise2d_gradient_w", depthwise2d_gradient_w},
      {"matmul", [](const Given &g) { return formula::Values{algorithms::matmul(g.in[0], g.in[1])}; }},
      {"max_pool2d",
       [](const Given &g) {
         return formula::Values{
             pixels_in_memory(algorithms::max_pool(pixels(g.in[0]), {g.scalars[1], g.scalars[0]}, g.slide(2)))};
       }},
      {"max_pool2d_gradient",
       [](const Given &g) {
         const Value index = pixels(g.in[0]), dy = pixels(g.in[1]);
         const std::vector<Expression> image = {dy.extent(0), dy.extent(1), g.scalars[11], g.scalars[10]};
         return formula::Values{pixels_in_memory(
             algorithms::max_pool_gradient(index, dy, {g.scalars[1], g.scalars[0]}, g.slide(2), image))};
       }},
      {"average_pool2d",
       [](const Given &g) {
         const auto counts = g.scalars[10] ? algorithms::Counts::all : algorithms::Counts::inside;
         return formula::Values{pixels_in_memory(
             algorithms::average_pool(pixels(g.in[0]), {g.scalars[1], g.scalars[0]}, g.slide(2), counts))};
       }},
      {"average_pool2d_gradient",
       [](const Given &g) {
         const auto counts = g.scalars[10] ? algorithms::Counts::all : algorithms::Counts::inside;
         const Value dy = pixels(g.in[0]);
         const Value x = formula::input("image", {dy.extent(0), dy.extent(1), g.scalars[12], g.scalars[11]});
         const Value y = algorithms::average_pool(x, {g.scalars[1], g.scalars[0]}, g.slide(2), counts);
         return formula::Values{pixels_in_memory(formula::gradient({y}, {dy}, {x})[0])};
       }},
  };
  return rows;
}

class Forms : public testing::TestWithParam<std::string> {};

TEST_P(Forms, LibraryKernelsGiveWhatTheFormulaSays) {
  const generators::Kernel &kernel = generators::find_kernel(GetParam());
  const CompiledKernel *built = find_compiled_kernel(kernel.name);
  ASSERT_NE(built, nullptr);
  for (size_t c = 0; c < kernel.checks.size(); ++c) {
    const generators::Call &call = kernel.checks[c];
    const Build facts = kernel.build(host_target(), Build::Schedule::plain, call);
    auto values = draw(facts, call);
    Given given;
    std::vector<Tensor> tensors;
    for (const Halide::Buffer<> &b : values.buffers) {
      tensors.push_back(tensor_of(b));
      const Shape &shape = tensors.back().shape();
      given.in.push_back(
          formula::input("x" + std::to_string(tensors.size()), {shape.begin(), shape.end()}, tensors.back().type()));
    }
    for (const halide_scalar_value_t &s : values.scalars) given.scalars.push_back(s.u.i32);
    const std::vector<Tensor> want =
        evaluate(formula::exact_formulas(given.in, meanings().at(kernel.name)(given)), tensors);
    for (InstructionSet set : available_instruction_sets()) {
      SCOPED_TRACE(kernel.name + ", check " + std::to_string(c) + ", " + std::string(name(set)));
      const LimitInstructionSet limit(set);
      auto got = outputs_of(facts);
      ASSERT_EQ(built->call(arguments_of(facts, values, got).data()), 0);
      EXPECT_LE(relative_difference(got[0].as<float>(), buffer_of(want[0]).as<float>()), 2e-5);
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto &[name, meaning] : meanings()) all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Forms, testing::ValuesIn(names()), [](const auto &info) { return info.param; });

}  // namespace
}  // namespace saltern
