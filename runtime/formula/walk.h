#pragma once
// The way of a load through memory where its indices are sums of axes and steps times constants: slices, transposed and
// broadcast operands, rows of matrices. The offset then grows evenly along each of the result's dimensions, so that a
// block is read in runs and no index is ever computed.

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dsl/expression.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

struct Walk {
  struct Dimension {
    int64_t extent, stride;
  };
  struct StepStride {
    int slot;
    int64_t stride;
  };

  std::vector<Dimension>
      dimensions;                 // the result's, innermost in its memory first, merged where the way goes on evenly
  std::vector<StepStride> steps;  // of the reductions around the load
  int64_t start = 0;              // the offset of the result's first element, at the first steps
};

// Indices of one formula as sums of axes and steps times constants. What was found of a part of one is kept: an index
// that is added to itself again and again has few parts and very many terms.
class IndexSums {
 public:
  struct Sum {
    int64_t constant = 0;
    std::map<int, int64_t> axes = {}, steps = {};  // factors, by number and by id

    // Adds so many times another one; false where a number outgrows 64 bits.
    bool add(const Sum &other, int64_t factor);
  };

  // Nothing where it is no such sum. The expression must live as long as this.
  const std::optional<Sum> &of(const formula::Expression &index);

 private:
  std::optional<Sum> compute(const formula::Expression::Node &n);
  std::optional<Sum> call(const formula::Expression::Node &n);

  std::unordered_map<const formula::Expression::Node *, std::optional<Sum>> known_;
};

// Nothing where the indices are not such sums. The caller has seen that they stay inside the operand. `strides` are
// those of the result, which is dense; `slots` are by a step's id.
std::optional<Walk> walk_of(const formula::Expression::Node &load, const Tensor &operand, const Shape &shape,
                            const Shape &strides, const std::unordered_map<int, int> &slots, IndexSums &sums);

}  // namespace saltern
