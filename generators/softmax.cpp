#include "algorithms/probabilities.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Value;

const std::vector<Call> one_input = {{{1, 1}}, {{10, 64}}, {{7, 3}}, {{9, 17}}, {{1001, 5}}};
const std::vector<Call> two_inputs = {
    {{1, 1}, {1, 1}}, {{10, 64}, {10, 64}}, {{7, 3}, {7, 3}}, {{9, 17}, {9, 17}}, {{1001, 5}, {1001, 5}}};

Value logits(Build &k) { return k.input("x", {"n", "c"}, Type::f32, {-20, 20}); }
// From -1: some name no class.
Value labels(Build &k) { return k.input("labels", {"n"}, Type::i32, {-1, 10}); }

const Kernel softmax("softmax", [](Build &k) { k.output("y", algorithms::softmax(logits(k), 1)); }, one_input,
                     {{"demo", {{10, 64}}, 4.0 * 10 * 64}, {"1000 classes", {{1000, 64}}, 4.0 * 1000 * 64}});

const Kernel softmax_gradient("softmax_gradient",
                              [](Build &k) {
                                const Value y = k.input("y", {"n", "c"}, Type::f32, {0, 1});
                                k.output("dx", algorithms::softmax_gradient(y, k.input("dy", {"n", "c"}), 1));
                              },
                              two_inputs, {{"1000 classes", {{1000, 64}, {1000, 64}}, 4.0 * 1000 * 64}});

const Kernel log_softmax("log_softmax", [](Build &k) { k.output("y", algorithms::log_softmax(logits(k), 1)); },
                         one_input, {{"1000 classes", {{1000, 64}}, 4.0 * 1000 * 64}});

const Kernel log_softmax_gradient("log_softmax_gradient",
                                  [](Build &k) {
                                    const Value y = k.input("y", {"n", "c"}, Type::f32, {-5, 0});
                                    k.output("dx", algorithms::log_softmax_gradient(y, k.input("dy", {"n", "c"}), 1));
                                  },
                                  two_inputs, {{"1000 classes", {{1000, 64}, {1000, 64}}, 4.0 * 1000 * 64}});

const Kernel cross_entropy("cross_entropy",
                           [](Build &k) {
                             const Value x = logits(k);
                             k.output("loss", algorithms::cross_entropy(x, labels(k)));
                           },
                           {{{1, 1}, {1}}, {{10, 64}, {64}}, {{7, 3}, {3}}, {{9, 17}, {17}}, {{1001, 5}, {5}}},
                           {{"demo", {{10, 64}, {64}}, 3.0 * 10 * 64}});

const Kernel cross_entropy_gradient(
    "cross_entropy_gradient",
    [](Build &k) {
      const Value x = logits(k), label = labels(k);
      k.output("dx", algorithms::cross_entropy_gradient(x, label, k.input("dloss", {"n"})));
    },
    {{{1, 1}, {1}, {1}}, {{10, 64}, {64}, {64}}, {{7, 3}, {3}, {3}}, {{9, 17}, {17}, {17}}, {{1001, 5}, {5}, {5}}},
    {{"demo", {{10, 64}, {64}, {64}}, 5.0 * 10 * 64}});

}  // namespace
}  // namespace saltern::generators
