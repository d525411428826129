#pragma once
// A pole on a cart, held upright by pushing the cart to the left or to the right: the classic control task of Barto, Sutton
// and Anderson (1983), with the interface, the numbers and the equations of Gym's CartPole.
//
//   CartPole cart(/*limit=*/200);
//   CartPole::Observation o = cart.reset(/*seed=*/1);    // each of the four from -0.05 to 0.05
//   CartPole::Transition t = cart.step(1);               // 0: to the left, 1: to the right
//
// Of a cart at x, a pole at the angle a (0 is upright) and a force f of 10 N to either side:
//   push = (f + m l a'^2 sin a) / (M + m)
//   a''  = (g sin a - push cos a) / (l (4/3 - m cos^2 a / (M + m)))
//   x''  = push - m l a'' cos a / (M + m)
// with M = 1 kg, m = 0.1 kg, l = 0.5 m, half the pole, and g = 9.8 m/s^2; taken on by Euler's steps of 0.02 s.

#include <array>
#include <cmath>
#include <cstdint>

#include "runtime/tensor/random.h"

namespace saltern {

class CartPole {
 public:
  using Observation = std::array<float, 4>;  // x, x', a, a'
  static constexpr int actions = 2;
  static constexpr double farthest = 2.4, steepest = 12 * 2 * 3.141592653589793 / 360;

  struct Transition {
    Observation observation;
    float reward;     // 1 for every step
    bool terminated;  // the cart is farther than 2.4 m, or the pole steeper than 12 degrees
    bool truncated;   // the limit of steps has come
  };

  explicit CartPole(int64_t limit) : limit_(limit) {}

  // A new episode. The same seed, the same episode; without one, the stream of random numbers goes on.
  Observation reset(uint64_t seed) {
    random_ = Random(seed);
    return reset();
  }
  Observation reset() {
    for (double &s : state_) s = static_cast<double>(random_.uniform(-0.05F, 0.05F));
    steps_ = 0;
    is_over_ = false;
    return observation();
  }
  // One from a state of one's own.
  Observation reset_to(const std::array<double, 4> &state) {
    reset();
    state_ = state;
    return observation();
  }

  Transition step(int action) {
    if (action != 0 && action != 1)
      fail("cart-pole: action ", action, "; there are 0, to the left, and 1, to the right");
    if (is_over_) fail("cart-pole: the episode is over; reset() begins another");
    constexpr double cart = 1, pole = 0.1, half = 0.5, gravity = 9.8, seconds = 0.02;
    auto &[x, dx, a, da] = state_;
    const double force = action == 1 ? 10 : -10, sine = std::sin(a), cosine = std::cos(a);
    const double push = (force + pole * half * da * da * sine) / (cart + pole);
    const double dda = (gravity * sine - push * cosine) / (half * (4.0 / 3 - pole * cosine * cosine / (cart + pole)));
    const double ddx = push - pole * half * dda * cosine / (cart + pole);
    x += seconds * dx;
    dx += seconds * ddx;
    a += seconds * da;
    da += seconds * dda;
    ++steps_;
    const bool fell = std::fabs(x) > farthest || std::fabs(a) > steepest, truncated = steps_ >= limit_;
    is_over_ = fell || truncated;
    return {observation(), 1, fell, truncated};
  }

 private:
  Observation observation() const {
    Observation o = {};
    for (size_t i = 0; i < o.size(); ++i) o[i] = static_cast<float>(state_[i]);
    return o;
  }

  int64_t limit_, steps_ = 0;
  Random random_ = Random(0);
  std::array<double, 4> state_ = {};
  bool is_over_ = true;  // until the first reset()
};

}  // namespace saltern
