#include "algorithms/softmax.h"

#include "algorithms/cross_entropy.h"
#include "generators/kernel.h"
#include "schedules/patterns/normalisation.h"

namespace saltern::generators {
namespace {

using algorithms::SoftmaxStages;
using dsl::Tensor;
using Halide::Func;

const std::vector<Call> one_input = {{{1, 1}}, {{10, 64}}, {{7, 3}}, {{9, 17}}, {{1001, 5}}};
const std::vector<Call> two_inputs = {
    {{1, 1}, {1, 1}}, {{10, 64}, {10, 64}}, {{7, 3}, {7, 3}}, {{9, 17}, {9, 17}}, {{1001, 5}, {1001, 5}}};

void schedule(Build &k, const Func &out, const SoftmaxStages &s, bool keep_powers) {
  k.schedule([&](const Machine &m) { schedules::softmax(out, s.largest, s.power, s.total, keep_powers, m); });
}

void schedule(Build &k, const Func &out, const algorithms::SoftmaxGradient &g) {
  k.schedule([&](const Machine &m) { schedules::along_row(g.total, out, schedules::each_row(out, m).row, m); });
}

const Kernel softmax("softmax",
                     [](Build &k) {
                       const auto y = algorithms::softmax(k.input("x", 2, Halide::Float(32), {-20, 20}));
                       schedule(k, k.output("y", y.y), y.stages, true);
                     },
                     one_input, {{"demo", {{10, 64}}, 4.0 * 10 * 64}, {"1000 classes", {{1000, 64}}, 4.0 * 1000 * 64}});

const Kernel softmax_gradient("softmax_gradient",
                              [](Build &k) {
                                const Tensor y = k.input("y", 2, Halide::Float(32), {0, 1}), dy = k.input("dy", 2);
                                const auto g = algorithms::softmax_gradient(y, dy);
                                schedule(k, k.output("dx", g.x), g);
                              },
                              two_inputs, {{"1000 classes", {{1000, 64}, {1000, 64}}, 4.0 * 1000 * 64}});

const Kernel log_softmax("log_softmax",
                         [](Build &k) {
                           const auto y = algorithms::log_softmax(k.input("x", 2, Halide::Float(32), {-20, 20}));
                           schedule(k, k.output("y", y.y), y.stages, false);
                         },
                         one_input, {{"1000 classes", {{1000, 64}}, 4.0 * 1000 * 64}});

const Kernel log_softmax_gradient("log_softmax_gradient",
                                  [](Build &k) {
                                    const Tensor y = k.input("y", 2, Halide::Float(32), {-5, 0}), dy = k.input("dy", 2);
                                    const auto g = algorithms::log_softmax_gradient(y, dy);
                                    schedule(k, k.output("dx", g.x), g);
                                  },
                                  two_inputs, {{"1000 classes", {{1000, 64}, {1000, 64}}, 4.0 * 1000 * 64}});

// Labels from -1: some name no class.
const Kernel cross_entropy(
    "cross_entropy",
    [](Build &k) {
      const Tensor x = k.input("x", 2, Halide::Float(32), {-20, 20});
      const auto loss = algorithms::cross_entropy(x, k.input("labels", 1, Halide::Int(32), {-1, 10}));
      schedule(k, k.output("loss", loss.loss), loss.stages, false);
    },
    {{{1, 1}, {1}}, {{10, 64}, {64}}, {{7, 3}, {3}}, {{9, 17}, {17}}, {{1001, 5}, {5}}},
    {{"demo", {{10, 64}, {64}}, 3.0 * 10 * 64}});

const Kernel cross_entropy_gradient(
    "cross_entropy_gradient",
    [](Build &k) {
      const Tensor x = k.input("x", 2, Halide::Float(32), {-20, 20});
      const Tensor labels = k.input("labels", 1, Halide::Int(32), {-1, 10});
      const auto dx = algorithms::cross_entropy_gradient(x, labels, k.input("dloss", 1));
      schedule(k, k.output("dx", dx.x), dx.stages, true);
    },
    {{{1, 1}, {1}, {1}}, {{10, 64}, {64}, {64}}, {{7, 3}, {3}, {3}}, {{9, 17}, {17}, {17}}, {{1001, 5}, {5}, {5}}},
    {{"demo", {{10, 64}, {64}, {64}}, 5.0 * 10 * 64}});

}  // namespace
}  // namespace saltern::generators
