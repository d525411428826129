#pragma once
// A running mean of a net's parameters: a = decay a + (1 - decay) p behind every step, from what they are at first. What
// validation sees, where it is asked for: averaged weights are often the better ones.

#include "runtime/layers/module.h"

namespace saltern {

class Averages {
 public:
  Averages(Module &net, double decay);

  void update();
  // By the names of the parameters, sharing memory.
  std::map<std::string, Tensor> state() const;
  void load_state(const std::map<std::string, Tensor> &state) { copy_state(this->state(), state); }
  // Puts the averages in the place of the parameters, and these in theirs.
  void swap() const;

 private:
  struct Pair {
    std::string name;
    Tensor parameter, average;
  };
  double decay_;
  std::vector<Pair> pairs_;
};

// While it lives, a net has its averages as parameters. None: nothing happens.
class WithAverages {
 public:
  explicit WithAverages(const Averages *averages) : averages_(averages) {
    if (averages_) averages_->swap();
  }
  ~WithAverages() {
    if (averages_) averages_->swap();
  }
  WithAverages(const WithAverages &) = delete;
  WithAverages &operator=(const WithAverages &) = delete;

 private:
  const Averages *averages_;
};

}  // namespace saltern
