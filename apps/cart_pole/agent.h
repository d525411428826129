#pragma once
// Deep Q-learning (Mnih and others, 2015), with double targets (van Hasselt and others, 2016): a net Q that says of every
// action in a state what it expects to be given until the end. Of what happened, (s, a, r, s2), Q(s, a) is moved towards
//
//   r + discount Q'(s2, b), where b is the best action by Q in s2;   r alone where s2 is terminal
//
// and Q', a second net, follows Q slowly. What happened is drawn from a memory of the past, so that a batch is no one episode.

#include <vector>

#include "apps/cart_pole/environment.h"
#include "runtime/nn/all.h"
#include "runtime/optim/optimizer.h"

namespace saltern {

struct Experience {
  CartPole::Observation before;
  int action;
  float reward;
  CartPole::Observation after;
  bool terminated;
};

// The last `capacity` experiences.
class Replay {
 public:
  explicit Replay(size_t capacity) : capacity_(capacity) {}

  size_t size() const { return all_.size(); }
  void add(const Experience &e);
  // With replacement, each as likely.
  std::vector<Experience> drawn(int64_t count, Random &random) const;

 private:
  size_t capacity_, next_ = 0;
  std::vector<Experience> all_;
};

struct AgentOptions {
  double rate = 1e-3, discount = 0.99, following = 0.01, clip_norm = 10;
  int64_t hidden = 64;
};

class Agent {
 public:
  explicit Agent(const AgentOptions &options);

  int best_action(const CartPole::Observation &o);
  void learn(const std::vector<Experience> &batch);
  void set_rate(double rate) { optimizer_.set_rate(rate); }
  Module &net() { return q_; }

 private:
  AgentOptions options_;
  Sequential q_, slow_;
  Adam optimizer_;
};

}  // namespace saltern
