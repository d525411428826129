#include "runtime/formula/turns.h"

namespace saltern {

namespace {

// In the same memory.
Tensor part_of_turn(const Tensor &all, int64_t turn) {
  const auto rest = [](const Shape &s) { return Shape(s.begin() + 1, s.end()); };
  return all.slice(0, turn, 1).viewed(rest(all.shape()), rest(all.strides()));
}

}  // namespace

std::vector<Tensor> states_after_turns(const formula::ExactRecurrence &r, const std::vector<Tensor> &operands,
                                       const TurnFunction &turn) {
  std::vector<Tensor> all, given(operands.begin(), operands.end());
  for (size_t s = 0; s < r.states(); ++s) {
    Shape shape = operands.at(s).shape();
    shape.insert(shape.begin(), r.turns);
    all.push_back(Tensor::empty(shape, operands[s].type()));
  }
  given.emplace_back();
  for (int64_t taken = 0; taken < r.turns; ++taken) {
    const int64_t t = r.backwards ? r.turns - 1 - taken : taken;
    for (size_t i = 0; i < r.by_turn.size(); ++i)
      if (r.by_turn[i]) given[r.states() + i] = part_of_turn(operands.at(r.states() + i), t);
    given.back() = Tensor::of<int64_t>({}, {t});
    const std::vector<Tensor> next = turn(given);
    for (size_t s = 0; s < r.states(); ++s) {
      part_of_turn(all[s], t).copy_from(next[s]);
      given[s] = next[s];
    }
  }
  return all;
}

}  // namespace saltern
