// Recurrent layers, forward and backward, of 32 sequences of 64 steps, two layers of 256: turns by kernels that are compiled
// just in time, or by the library's products and the interpreter.
//
//   share_of_peak   of the multiply-add peak of as many cores, measured around every sample in the same run

#include "bench/timed.h"
#include "runtime/autograd/backward.h"
#include "runtime/formula/just_in_time.h"
#include "runtime/kernels/peak.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/nn/all.h"

namespace {

using namespace saltern;

constexpr int64_t steps = 64, batch = 32, width = 256, layers = 2;

void forward_and_backward(benchmark::State &state, const nn::NamedLayer &made, int gates, JustInTime how, int threads) {
  set_threads(threads);
  set_just_in_time(how);
  Random random(7);
  nn::Layer layer = made(width, width, layers);
  const Variable x(random.normal_tensor({steps, batch, width}));
  const auto step = [&] {
    layer.clear_gradients();
    backward(sum(layer(x)));
  };
  step();
  if (how == JustInTime::always && !last_just_in_time_failure().empty())
    return state.SkipWithError(last_just_in_time_failure().c_str());
  // Two products a step, forward and twice backward; the first layer's input has no gradient.
  const double product = 2.0 * gates * width * width * batch * steps;
  for (auto _ : state) {
    const Measurement m = measure(step, product * (6 * layers - 1), {instruction_set_in_use(), threads, 2});
    state.SetIterationTime(m.milliseconds * 1e-3);
    state.counters["share_of_peak"] = m.share_of_peak;
  }
}

}  // namespace

int main(int argc, char **argv) {
  for (const int threads : {1, 2})
    for (const JustInTime how : {JustInTime::always, JustInTime::never}) {
      const std::string end = (how == JustInTime::always ? "/compiled/" : "/library/") + std::to_string(threads);
      saltern::add_timed("lstm" + end, forward_and_backward, nn::LSTM, 4, how, threads);
      saltern::add_timed("gru" + end, forward_and_backward, nn::GRU, 3, how, threads);
    }
  return saltern::run_benchmarks(argc, argv);
}
