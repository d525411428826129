#pragma once
// How far apart two results of the same computation are, and tables of that.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/onnx/run_model.h"

namespace saltern {

struct Tolerance {
  // Relative to the element that is wanted, or to the typical size of all where that is larger: what is small because
  // larger numbers cancelled has their rounding errors.
  double relative = 1e-3, absolute = 1e-5;
};

struct Difference {
  std::string value, operation, paths;
  int64_t wrong = 0, elements = 0;  // wrong: too far apart
  double largest = 0;               // difference of two elements
  Shape first_wrong;                // its indices
  double wanted = 0, got = 0;       // there
  std::string misfit;               // where type or shape differ: how
};

// Of tensors. A NaN is like another one, and unlike all else.
Difference compared(const Tensor &wanted, const Tensor &got, const Tolerance &tolerance);

// Sets columns under each other, and says where the first difference is.
std::string table(const std::vector<Difference> &all);
std::string sentence(const Difference &first);
nlohmann::ordered_json to_json(const Difference &d);

}  // namespace saltern
