#pragma once
// How several applications of an operation are one: operands, each of n of one shape s, come as (n, s), and so do results.

#include "runtime/autograd/variable.h"

namespace saltern {

struct Joining {
  enum class Way {
    alone,      // none is known
    rows,       // of (rows, ...): more rows
    dimension,  // one more dimension, in front; attributes that name dimensions and shapes go along
    broadcast,  // likewise, where operands of fewer dimensions are aligned at their last
  };
  Way way = Way::alone;
  std::vector<size_t> shared = {};  // inputs that have to be one Variable

  bool shares(size_t input) const;
};

Joining joining_of(const Operation &operation, const std::vector<Variable> &inputs, const Attributes &attributes);

// The results of n applications, given the first's inputs, where those that `is_joined` are (n, s) instead.
std::vector<Variable> apply_joined(const Joining &by, const Operation &operation, int64_t n,
                                   std::vector<Variable> inputs, const std::vector<bool> &is_joined,
                                   const Attributes &attributes, const std::vector<Shape> &results);

}  // namespace saltern
