// Layers of one's own, which are nothing but formulas, on a batch of 32 images of 64 channels, 28 x 28: forward and
// backward by kernels that are compiled just in time, on one thread and by its own clock. They are there when they are
// timed.
//
//   over_interpreter   the interpreter's time over that, of samples taken in turn
//
//   bench_formulas --benchmark_filter=group_norm

#include <algorithm>
#include <ctime>
#include <functional>

#include "algorithms/functions.h"
#include "algorithms/normalisation.h"
#include "bench/timed.h"
#include "runtime/autograd/backward.h"
#include "runtime/autograd/operation.h"
#include "runtime/autograd/variable.h"
#include "runtime/formula/just_in_time.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/tensor/random.h"

namespace {

using namespace saltern;

const Operation mish("own_mish", [](Value x) { return algorithms::mish(x); });

const Operation group_norm("own_group_norm", [](Value x, Value scale, Value shift) {
  const formula::Expression groups = 8, channels = quotient(x.extent(1), groups);
  const Value y = algorithms::normalised(split(x, 1, groups, channels), {2, 3, 4}, 1e-5);
  return merged(named("normalised", y), 1) * algorithms::by_channel(scale, x) + algorithms::by_channel(shift, x);
});

using Layer = Variable (*)(const Variable &x, const Variable &scale, const Variable &shift);

double milliseconds(JustInTime how, const std::function<void()> &work) {
  const auto now = [] {
    timespec t = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  };
  set_just_in_time(how);
  const double begin = now();
  work();
  return now() - begin;
}

void forward_and_backward(benchmark::State &state, Layer layer, Layout layout) {
  constexpr int samples = 15;
  set_threads(1);
  Random random(7);
  const Shape image = {32, 64, 28, 28};
  const Variable x(random.normal_tensor(image, layout), true), dy(random.normal_tensor(image, layout));
  const Variable scale(random.normal_tensor({64}), true), shift(random.normal_tensor({64}), true);
  const auto step = [&] {
    GradientOptions options;
    options.dy = dy;
    options.tape = Tape::free;
    benchmark::DoNotOptimize(gradients(layer(x, scale, shift), {x, scale, shift}, options));
  };
  for (auto _ : state) {
    milliseconds(JustInTime::always, step);
    if (!last_just_in_time_failure().empty()) return state.SkipWithError(last_just_in_time_failure().c_str());
    double compiled = 1e9, interpreted = 1e9;
    for (int i = 0; i < samples; ++i) {
      compiled = std::min(compiled, milliseconds(JustInTime::always, step));
      interpreted = std::min(interpreted, milliseconds(JustInTime::never, step));
    }
    state.SetIterationTime(compiled * 1e-3);
    state.counters["over_interpreter"] = interpreted / compiled;
  }
}

}  // namespace

int main(int argc, char **argv) {
  const std::vector<std::pair<std::string, Layer>> layers = {
      {"mish", [](const Variable &x, const Variable &, const Variable &) { return mish(x); }},
      {"group_norm", [](const Variable &x, const Variable &a, const Variable &b) { return group_norm(x, a, b); }},
      {"group_norm_mish",
       [](const Variable &x, const Variable &a, const Variable &b) { return mish(group_norm(x, a, b)); }}};
  for (const auto &[name, layer] : layers)
    for (const Layout layout : {Layout::row_major, Layout::channels_last})
      saltern::add_timed(name + (layout == Layout::row_major ? "/row_major" : "/channels_last"), forward_and_backward,
                         layer, layout);
  return saltern::run_benchmarks(argc, argv);
}
