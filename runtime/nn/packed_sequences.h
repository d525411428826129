#pragma once
// Sequences of several lengths as one tensor without padding: first the steps 0 of all, then the steps 1 of those that have
// one, and so on, the longest sequence first.
//
//   data(sum of batch_sizes, ...), batch_sizes(t): how many sequences have a step t; sorted(i): which sequence is the i-th,
//   unsorted(n): where sequence n is, both undefined where they were sorted already
//
// As an argument it is a list of these four, as in PyTorch.

#include "runtime/nn/function.h"

namespace saltern::nn {

struct PackedSequences {
  Variable data;
  std::vector<int64_t> batch_sizes;
  Variable sorted, unsorted;

  // Refuses an argument that is not one.
  static PackedSequences of(const Arguments &a, std::string_view name);
  Argument as_list() const;

  int64_t steps() const { return static_cast<int64_t>(batch_sizes.size()); }
  int64_t count() const { return batch_sizes.empty() ? 0 : batch_sizes[0]; }
  // Of each sequence, the longest first.
  std::vector<int64_t> lengths() const;
};

// x(t, n, ...) of these lengths, the longest first, as data and batch sizes; and back, with a number where nothing is.
PackedSequences packed(const Variable &x, const std::vector<int64_t> &lengths);
Variable padded(const PackedSequences &p, double padding = 0);

// x(t, n, ...) with each sequence turned round.
Variable turned_round(const Variable &x, const std::vector<int64_t> &lengths);
// The last step of each: (n, ...).
Variable last_steps(const Variable &x, const std::vector<int64_t> &lengths);

// x with dimension 1 in another order, unless that is undefined.
Variable reordered(const Variable &x, const Variable &order);

}  // namespace saltern::nn
