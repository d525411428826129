#include "runtime/layers/random_stream.h"

#include <atomic>

#include "algorithms/random.h"
#include "runtime/autograd/state.h"
#include "runtime/tensor/random.h"

namespace saltern {

namespace {

const Operation drawn("drawn", [](const Values &in, const Attributes &a) -> Values {
  const algorithms::Drawn d = algorithms::drawn(in.at(0), a.integer("count"));
  return {d.from, d.next};
});

std::atomic<bool> is_shared{false};

}  // namespace

void share_random_stream() { is_shared = true; }
bool is_random_stream_shared() { return is_shared; }

Tensor random_stream() {
  static const Tensor of_all = Tensor::zeros({2}, Type::i64);
  static thread_local const Tensor own = Tensor::zeros({2}, Type::i64);
  return is_shared ? of_all : own;
}

void begin_random_stream(uint64_t seed) {
  constexpr uint64_t positive = 0x7fffffff;
  random_stream().copy_from(Tensor::of<int64_t>({2}, {static_cast<int64_t>(Random(seed).bits() & positive), 0}));
}

Variable drawn_beside(const Variable &x, const std::string &who, int64_t each) {
  if (x.value().is_outline() && !NotedState::is_on())
    fail(who, " draws random numbers, which only a graph of a training step can");
  const std::vector<Variable> random = apply(drawn, {latest(random_stream())}, {{"count", each * x.size()}});
  keep(random_stream(), random[1]);
  return random[0];
}

}  // namespace saltern
