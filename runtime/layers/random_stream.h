#pragma once
// The stream of random numbers that functions draw from while a net runs, such as dropout: {seed, position}, i64. It is
// state (runtime/autograd/state.h) of a thread, which begins with seed 0, and of no module: in training steps that are
// graphs it is called "random", and whoever saves it beside a net resumes training with the same bits.

#include "runtime/autograd/variable.h"

namespace saltern {

// In the memory of the stream: to be saved, or written over.
Tensor random_stream();
void begin_random_stream(uint64_t seed);

// From here on all threads draw from one stream, and whoever calls this sees to it that they do so one at a time: Python's
// lock does.
void share_random_stream();
bool is_random_stream_shared();

// The seed and the position of numbers for `who`, one beside each element of x, or `each`; the stream goes on behind them.
Variable drawn_beside(const Variable &x, const std::string &who, int64_t each = 1);

}  // namespace saltern
