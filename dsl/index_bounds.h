#pragma once
// The least and the greatest value of index expressions of one result. Many loads share their indices: what was found
// of a part of one is kept for the others.

#include <unordered_map>

#include "dsl/expression.h"

namespace saltern::formula {

class IndexBounds {
 public:
  // The extents of the result's axes.
  explicit IndexBounds(std::vector<int64_t> axes) : axes_(std::move(axes)) {}

  // As far as can be told. The expression must live as long as this.
  Interval of(const Expression &index);

 private:
  Interval compute(const Expression::Node &n);
  Interval binary(const Expression::Node &n);

  std::vector<int64_t> axes_;
  std::unordered_map<const Expression::Node *, Interval> known_;
};

}  // namespace saltern::formula
