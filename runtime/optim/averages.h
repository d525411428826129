#pragma once
// Averages of a net's parameters over the steps of a training, beside it: all alike (SWA), or recent ones more (EMA).
//
//   Averages mean(net, 0.999);          // without a decay: all alike
//   ...  optimizer.step();  mean.update();
//   { const Averages::Swapped now(&mean);  evaluate(net); }
//   net.load_state(mean.state());       // for good

#include <map>
#include <optional>

#include "runtime/layers/module.h"

namespace saltern {

// average += part (p - average), elementwise, in place.
void blend_into(const Tensor &average, const Tensor &p, double part);

class Averages {
 public:
  explicit Averages(Module &net, std::optional<double> decay = std::nullopt);

  // Buffers, such as running means, are as the net has them.
  void update();
  int64_t count() const { return count_; }
  // By the names of the net's state.
  const std::map<std::string, Tensor> &state() const { return state_; }
  // Goes on from what state() and count() were.
  void load(const std::map<std::string, Tensor> &state, int64_t count);

  // While it lives, the net has the averages; null: nothing happens.
  class Swapped {
   public:
    explicit Swapped(const Averages *averages);
    ~Swapped();
    Swapped(const Swapped &) = delete;
    Swapped &operator=(const Swapped &) = delete;

   private:
    const Averages *averages_;
    std::map<std::string, Tensor> own_;
  };

 private:
  Module &net_;
  std::optional<double> decay_;
  std::map<std::string, Tensor> state_;
  int64_t count_ = 0;
};

}  // namespace saltern
