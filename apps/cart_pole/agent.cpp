#include "apps/cart_pole/agent.h"

#include <algorithm>

#include "runtime/autograd/backward.h"
#include "runtime/optim/averages.h"
#include "runtime/optim/clipping.h"

namespace saltern {

namespace {

constexpr int64_t features = 4, actions = CartPole::actions;

Sequential made_net(int64_t hidden) {
  return Sequential(nn::Linear(features, hidden), nn::ReLU(), nn::Linear(hidden, hidden), nn::ReLU(),
                    nn::Linear(hidden, actions));
}

int best_of(const float *row) { return static_cast<int>(std::max_element(row, row + actions) - row); }

}  // namespace

void Replay::add(const Experience &e) {
  if (all_.size() < capacity_)
    all_.push_back(e);
  else
    all_[next_] = e;
  next_ = (next_ + 1) % capacity_;
}

std::vector<Experience> Replay::drawn(int64_t count, Random &random) const {
  std::vector<Experience> some;
  for (int64_t i = 0; i < count; ++i) some.push_back(all_.at(random.below(all_.size())));
  return some;
}

Agent::Agent(const AgentOptions &options)
    : options_(options), q_(made_net(options.hidden)), slow_(made_net(options.hidden)), optimizer_(q_, {options.rate}) {
  slow_.load_state(q_.state());
}

int Agent::best_action(const CartPole::Observation &o) {
  const NoGradient none;
  return best_of(q_(Tensor::of<float>({1, features}, {o.begin(), o.end()})).value().data<float>());
}

void Agent::learn(const std::vector<Experience> &batch) {
  const auto count = static_cast<int64_t>(batch.size());
  const Tensor before = Tensor::empty({count, features}), after = Tensor::empty({count, features});
  for (size_t i = 0; i < batch.size(); ++i) {
    std::copy(batch[i].before.begin(), batch[i].before.end(), before.data<float>() + i * features);
    std::copy(batch[i].after.begin(), batch[i].after.end(), after.data<float>() + i * features);
  }
  const Variable q = q_(before);
  // What is wanted of the other action is what the net says: it has no error.
  const Tensor wanted = q.value().clone();
  {
    const NoGradient none;
    const Tensor now = q_(after).value(), then = slow_(after).value();
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto row = static_cast<int64_t>(i) * actions;
      const float later = then.data<float>()[row + best_of(now.data<float>() + row)];
      wanted.data<float>()[row + batch[i].action] =
          batch[i].reward + (batch[i].terminated ? 0 : static_cast<float>(options_.discount) * later);
    }
  }
  optimizer_.clear_gradients();
  backward(mean_squared_error(q, wanted));
  clip_gradient_norm(q_.parameters(), options_.clip_norm);
  optimizer_.step();
  const auto slow = slow_.state(), fast = q_.state();
  for (const auto &[name, tensor] : slow) blend_into(tensor, fast.at(name), options_.following);
}

}  // namespace saltern
