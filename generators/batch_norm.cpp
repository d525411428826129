#include "algorithms/normalisation.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Value;

constexpr int demo_pixels = 64 * 28 * 28;

// How images lie in memory: channels innermost, x(p, c), where p runs over all pixels of all images; or each channel of an
// image in a row, x(n, c, p), for the kernels whose names end with _rows.
struct Images {
  bool in_rows;

  std::string called(const std::string &name) const { return in_rows ? name + "_rows" : name; }
  Value input(Build &k, const std::string &name, Range range = {}) const {
    return k.input(name, in_rows ? std::vector<std::string>{"n", "c", "p"} : std::vector<std::string>{"p", "c"},
                   Type::f32, range);
  }
  std::vector<int> shape(int channels, int pixels) const {
    return in_rows ? std::vector{pixels, channels, 2} : std::vector{channels, pixels};
  }
};

Value of_channels(Build &k, const std::string &name, Range range = {}) {
  return k.input(name, {"c"}, Type::f32, range);
}
algorithms::Statistics statistics(Build &k) {
  const Value mean = of_channels(k, "mean");
  return {mean, of_channels(k, "variance", {0.5, 2})};
}

// Channels and pixels of calls worth checking; the first is worth timing.
const std::vector<std::pair<int, int>> sizes = {{32, demo_pixels}, {1, 1},    {1, 300}, {3, 129},
                                                {8, 128},          {33, 257}, {70, 7}};

struct Calls {
  std::vector<Call> checks;
  std::vector<Timing> timings;

  template <typename F>
  Calls(const F &call_of, double flops) {
    for (const auto &[c, p] : sizes) checks.push_back(call_of(c, p));
    timings = {{"demo", checks[0], flops * 32 * demo_pixels}};
    checks.erase(checks.begin());
  }
};

void add_statistics(std::vector<Kernel> &all, const Images &images) {
  const Calls calls([&](int c, int p) { return Call{images.shape(c, p)}; }, 4);
  all.emplace_back(
      images.called("batch_norm_statistics"),
      [images](Build &k) {
        const auto s = algorithms::statistics(images.input(k, "x", {3, 5}));
        k.separate_outputs({"mean", "variance"}, {s.mean, s.variance});
      },
      calls.checks, calls.timings);
}

void add_forward(std::vector<Kernel> &all, const Images &images) {
  const Calls calls([&](int c, int p) { return Call{images.shape(c, p), {c}, {c}, {c}, {c}, 1e-3}; }, 3);
  all.emplace_back(
      images.called("batch_norm"),
      [images](Build &k) {
        const Value x = images.input(k, "x");
        const algorithms::Statistics s = statistics(k);
        const Value scale = of_channels(k, "scale"), shift = of_channels(k, "shift");
        k.output("y", algorithms::batch_norm(x, s, scale, shift, k.parameter("epsilon")));
      },
      calls.checks, calls.timings);
}

// Both gradients take the same arguments; they differ in whether the statistics are of x.
void add_gradient(std::vector<Kernel> &all, const Images &images, const char *name, algorithms::StatisticsOf whose) {
  const Calls calls([&](int c, int p) { return Call{images.shape(c, p), {c}, {c}, {c}, images.shape(c, p), 1e-3}; }, 9);
  all.emplace_back(
      images.called(name),
      [images, whose](Build &k) {
        const Value x = images.input(k, "x");
        const algorithms::Statistics s = statistics(k);
        const Value scale = of_channels(k, "scale"), dy = images.input(k, "dy");
        const auto g = algorithms::batch_norm_gradient(x, s, scale, dy, k.parameter("epsilon"), whose);
        k.separate_outputs({"dx", "dscale", "dshift"}, {g.x, g.scale, g.shift});
      },
      calls.checks, calls.timings);
}

std::vector<Kernel> declare() {
  std::vector<Kernel> all;
  for (const Images images : {Images{false}, Images{true}}) {
    add_statistics(all, images);
    add_forward(all, images);
    add_gradient(all, images, "batch_norm_gradient", algorithms::StatisticsOf::x);
    add_gradient(all, images, "batch_norm_inference_gradient", algorithms::StatisticsOf::others);
  }
  return all;
}

const std::vector<Kernel> kernels = declare();

}  // namespace
}  // namespace saltern::generators
