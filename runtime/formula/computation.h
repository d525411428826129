#pragma once
// Where a kernel comes from. Formulas of exact sizes are computed by the first of these that there is:
//
//   library       a kernel that was built ahead of time, where the formula is one of its functions (library_formulas.h)
//   just in time  one that is compiled now, where a compiler is linked and it pays (just_in_time.h)
//   interpreter   evaluate_values.h, with the library's kernel for products among the formulas (library_products.h)
//
// Recurrences are computed turn by turn (in_parts.h): each of these may be a turn's.
//
// A compiled model has exact kernels of its own (generators/model), and asks nobody.

#include <cstdint>
#include <memory>
#include <mutex>

#include "dsl/exact_formulas.h"
#include "runtime/formula/just_in_time.h"
#include "runtime/formula/library_formulas.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

class InParts;

class Computation {
 public:
  // `any_size` is asked for the same formulas with names for sizes where a kernel is to be compiled. They are computed so
  // many times where they are computed at all.
  using AskAnySize = std::function<AnySize(const formula::ExactFormulas &)>;
  Computation(formula::ExactFormulas formulas, Runs runs, AskAnySize any_size = nullptr, double times = 1);
  ~Computation();

  // The formulas' outputs. Where an operand is an outline (runtime/tensor/tensor.h), all of them are.
  std::vector<Tensor> operator()(const std::vector<Tensor> &operands) const;

 private:
  const formula::ExactFormulas formulas_;
  const Runs runs_;
  const std::optional<LibraryFunction> library_;
  double steps_ = 0;
  bool is_recurrent_ = false;
  mutable std::once_flag divided_;
  mutable std::unique_ptr<const InParts> parts_;
  const AskAnySize ask_;
  mutable std::once_flag asked_;
  mutable AnySize any_size_;
};

// How many computations each of them has done so far.
struct ComputationCounts {
  int64_t library = 0, just_in_time = 0, interpreter = 0;
};
ComputationCounts computation_counts();

}  // namespace saltern
