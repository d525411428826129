#include "algorithms/contraction.h"
#include "algorithms/normalisation.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Value;

struct Case {
  int in, out, batch;
  CallArgument x() const { return {in, batch}; }
  CallArgument w() const { return {in, out}; }
  CallArgument dy() const { return {out, batch}; }
  Call forward() const { return {x(), w(), {out}}; }
  Call gradient_x() const { return {w(), dy()}; }
  Call gradient_w() const { return {x(), dy()}; }
  double flops() const { return 2.0 * in * out * batch; }
};

std::vector<Call> checks(Call (Case::*call)() const) {
  std::vector<Call> all;
  for (const Case &c : {Case{1, 1, 1}, {7, 5, 3}, {129, 70, 33}, {16, 16, 6}, {31, 65, 1}}) all.push_back((c.*call)());
  return all;
}

std::vector<Timing> timings(Call (Case::*call)() const) {
  std::vector<Timing> all;
  for (const Case &c : {Case{1024, 1024, 1024}, {512, 512, 64}, {3136, 10, 64}})
    all.push_back({std::to_string(c.in) + "-" + std::to_string(c.out) + " batch " + std::to_string(c.batch),
                   (c.*call)(), c.flops()});
  return all;
}

const Kernel dense(
    "dense",
    [](Build &k) {
      const Value x = k.input("x", {"n", "i"}), w = k.input("w", {"o", "i"});
      k.output("y", algorithms::dense(x, w) + k.input("b", {"o"}));
    },
    checks(&Case::forward), timings(&Case::forward));

const Kernel dense_gradient_x(
    "dense_gradient_x",
    [](Build &k) {
      const Value w = k.input("w", {"o", "i"});
      k.output("dx", algorithms::dense_gradient_x(w, k.input("dy", {"n", "o"})));
    },
    checks(&Case::gradient_x), timings(&Case::gradient_x));

const Kernel dense_gradient_w(
    "dense_gradient_w",
    [](Build &k) {
      const Value x = k.input("x", {"n", "i"});
      k.output("dw", algorithms::dense_gradient_w(x, k.input("dy", {"n", "o"})));
    },
    checks(&Case::gradient_w), timings(&Case::gradient_w));

// The bias of a convolution too: channels last, its pixels and images are one long batch.
const Kernel dense_gradient_b("dense_gradient_b",
                              [](Build &k) {
                                const Value dy = k.input("dy", {"n", "o"});
                                k.output("db", algorithms::of_channel(formula::sum(dy, {0}), 1));
                              },
                              {{{1, 1}}, {{5, 3}}, {{17, 300}}},
                              {{"32 channels, 64 images of 28 x 28", {{32, 64 * 28 * 28}}, 32.0 * 64 * 28 * 28}});

}  // namespace
}  // namespace saltern::generators
