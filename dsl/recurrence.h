#pragma once
// Recurrences: states that go from turn to turn, each made of what all of them were before.
//
//   const Value h = recurrent("rnn", {h0}, turns, [&](const Values &before) {
//     return Values{tanh(w + matmul(before[0], r))};          // before[0](t, n, k): h before turn t; w(t, n, k) is given
//   })[0];                                                    // h(t, n, k): h after turn t
//
// The first axis is that of turns. A turn is written for all of them at once, with Values like any others, and reads
// states at its own turn only. What it makes of other Values alone does not wait for states: it is a stage like others,
// computed for all turns at once; and so are those gradients that no state waits for, such as those of weights, which are
// sums over all turns.
//
// A scan (value.h) is a recurrence in which each element sees one element; it is one kernel, where a recurrence is a
// kernel for a turn (Turn) that is called as often as there are turns.

#include "dsl/value.h"

namespace saltern::formula {

struct Recurrence {
  std::string name;
  Expression turns;
  bool backwards = false;  // from the last turn to the first
  Values first;            // states before the first turn that is taken, without the axis of turns
  Values before;           // inputs that stand for states before each turn,
  Values next;             // and states after each, made of them

  // Found by recurrent():
  std::vector<std::shared_ptr<const Stage>> waiting = {};  // stages of `next` that states go into, in their order
  Values read = {};                                        // what those are made of that states do not go into
};

// The states after each turn: one for each of `first`, of its extents behind those of turns.
using NextStates = std::function<Values(const Values &before)>;
Values recurrent(const std::string &name, const Values &first, const Expression &turns, const NextStates &next,
                 bool backwards = false);

// The same recurrence of other Values in the place of `first` and `read`.
std::shared_ptr<const Recurrence> of_others(const Recurrence &r, const Values &first, const Values &read);
Value state_of(const std::shared_ptr<const Recurrence> &r, size_t state);

// What one turn makes: next states of those before and of what it reads, whole or of this turn alone.
struct Turn {
  Values before, read, next;
  std::vector<bool> by_turn;  // for each that is read
  Value number;               // of the turn
};
Turn turn_of(const Recurrence &r);

// What goes back through a recurrence, given the adjoints of its states after each turn (undefined: none): a recurrence
// the other way round. For `first` and for each that is read; undefined where that is not real or not `wanted`.
struct RecurrenceAdjoints {
  Values first, read;
};
RecurrenceAdjoints adjoints_of(const std::shared_ptr<const Recurrence> &r, const Values &dy,
                               const std::function<bool(const Value &)> &wanted);

}  // namespace saltern::formula
