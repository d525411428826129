#pragma once
// Formulas with recurrences, in parts that can be computed at once: what lies between recurrences, and the turns of each.

#include <map>
#include <memory>

#include "runtime/formula/computation.h"

namespace saltern {

class InParts {
 public:
  // Of so many operands.
  InParts(const formula::ExactFormulas &formulas, size_t operands, Runs runs);
  std::vector<Tensor> operator()(const std::vector<Tensor> &operands) const;

 private:
  struct Part {
    std::vector<int> operands, results;                          // numbers of all operands and formulas
    std::shared_ptr<const formula::ExactRecurrence> recurrence;  // else it is computed as a whole
    std::unique_ptr<const Computation> computation;              // of a turn, where it is a recurrence
    std::vector<int> finished;                                   // what nobody behind it reads
  };
  void add_whole(const formula::ExactFormulas &formulas, size_t first, size_t past, Runs runs);
  void add_recurrence(const formula::ExactFormulas &formulas, size_t which);

  size_t inputs_;
  std::vector<Part> parts_;
  std::vector<int> outputs_;
};

}  // namespace saltern
