#pragma once
// What a classifier says: the classes with the highest scores, for each row of a batch.

#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

struct ScoredClass {
  int64_t number;
  std::string label;  // empty where there are no labels
  double score;
};

// `scores` is (N, classes), or (classes) for one row; extents of 1 after the classes do not count. Throws BadInput for
// another shape, and where there is another number of labels. NaN stands last.
std::vector<std::vector<ScoredClass>> best_classes(const Tensor &scores, int count,
                                                   const std::vector<std::string> &labels);

// One a line.
std::vector<std::string> read_labels(const std::string &path);

}  // namespace saltern
