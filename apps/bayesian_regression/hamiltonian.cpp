#include "apps/bayesian_regression/hamiltonian.h"

#include <cmath>

#include "runtime/autograd/backward.h"

namespace saltern {

namespace {

// Where chains are: all tensors have a row for each.
struct Place {
  Variable w;         // (chains, d)
  Variable density;   // log p(w) (chains)
  Variable gradient;  // of it (chains, d)
};

Place at(const LogDensity &log_density, const Variable &w) {
  const RecordingGuard recording(RecordingMode::where_needed);
  const Variable leaf(w.value(), /*requires_gradient=*/true);
  const Variable density = log_density(leaf);
  return {leaf.detached(), density.detached(), gradients(sum(density), {leaf}, {false, Tape::free})[0].detached()};
}

// Half the square of the momentum's length.
Variable kinetic(const Variable &p) { return nn::sum(p * p, -1) * 0.5; }

Place leapfrog(const LogDensity &log_density, Place place, Variable &p, double size, int64_t steps) {
  p = p + place.gradient * (size / 2);
  for (int64_t i = 0; i < steps; ++i) {
    place = at(log_density, place.w + p * size);
    p = p + place.gradient * (i + 1 < steps ? size : size / 2);
  }
  return place;
}

// The size of steps with which the wanted share of moves is taken: sizes are tried, and what they gave is averaged.
class StepSize {
 public:
  StepSize(double first, double wanted) : size(first), wanted_(wanted), towards_(std::log(10 * first)) {}

  void learn(double accepted) {
    ++count_;
    error_ += (wanted_ - accepted - error_) / (count_ + 10);
    const double log_size = towards_ - std::sqrt(count_) / 0.05 * error_;
    size = std::exp(log_size);
    average_ += std::pow(count_, -0.75) * (log_size - average_);
  }
  void settle() { size = std::exp(average_); }

  double size;

 private:
  double wanted_, towards_, count_ = 0, error_ = 0, average_ = 0;
};

}  // namespace

std::vector<std::vector<double>> Chains::together() const {
  std::vector<std::vector<double>> all;
  for (const auto &chain : draws) all.insert(all.end(), chain.begin(), chain.end());
  return all;
}

Chains sample_hamiltonian(const LogDensity &log_density, int64_t d, const HamiltonianOptions &o) {
  const NoGradient guard;
  Random random(o.seed);
  Place place = at(log_density, Variable(random.normal_tensor({o.chains, d})));
  StepSize step(0.05, o.accepted);
  Chains c;
  c.draws.resize(static_cast<size_t>(o.chains));
  for (int64_t move = 0; move < o.warm_up + o.draws; ++move) {
    if (move == o.warm_up) step.settle();
    Variable p(random.normal_tensor({o.chains, d}));
    const Variable before = place.density - kinetic(p);
    const auto leaps = static_cast<int64_t>(1 + random.below(static_cast<uint64_t>(o.leaps)));
    const Place next = leapfrog(log_density, place, p, step.size, leaps);
    const std::vector<double> gains = (next.density - kinetic(p) - before).value().reals();
    const Tensor taken = Tensor::empty({o.chains, 1}, Type::boolean);
    double likely = 0;
    for (int64_t i = 0; i < o.chains; ++i) {
      const double gain = gains[static_cast<size_t>(i)];
      const double chance = std::isfinite(gain) ? std::min(1.0, std::exp(gain)) : 0;  // a body that flew away stays
      taken.at<bool>({i, 0}) = static_cast<double>(random.uniform()) < chance;
      likely += chance / static_cast<double>(o.chains);
    }
    place = {nn::where(taken, next.w, place.w), nn::where(reshape(taken, {o.chains}), next.density, place.density),
             nn::where(taken, next.gradient, place.gradient)};
    if (move < o.warm_up) {
      step.learn(likely);
    } else {
      c.accepted += likely / static_cast<double>(o.draws);
      const std::vector<double> w = place.w.value().reals();
      for (int64_t i = 0; i < o.chains; ++i)
        c.draws[static_cast<size_t>(i)].emplace_back(w.begin() + i * d, w.begin() + (i + 1) * d);
    }
    if (o.watch) o.watch(move + 1, likely);
  }
  c.step_size = step.size;
  return c;
}

}  // namespace saltern
