#pragma once
// Numbers in the place of texts, which formulas cannot hold: each text gets one, equal ones the same. Number 0 is the empty
// text, so that a formula's zero is one.

#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

class TextNumbers {
 public:
  // Row-major. A tensor of anything else is given back as it is.
  Tensor of(const Tensor &t);
  Tensor texts(const Tensor &numbers) const;

 private:
  std::vector<std::string> texts_ = {""};
  std::unordered_map<std::string, int64_t> known_ = {{"", 0}};
};

}  // namespace saltern
