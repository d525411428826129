#pragma once
// A sum of products as an Einsum: which factors there are, and the letters of their dimensions.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dsl/expression.h"

namespace saltern {

struct EinsumFactor {
  formula::Expression element;
  bool is_whole;               // a load of an operand as it is; else a tensor that is to be computed, ...
  std::vector<size_t> places;  // ... of these dimensions, in their order
};

struct EinsumProduct {
  std::vector<EinsumFactor> factors;
  std::string equation;
  std::vector<size_t> kept;  // the dimensions of the result
};

// Of a sum of `body` over the dimensions `own`; others below `axes` are the result's. `places_in` are the dimensions at
// which a load reads all of its operand, each once (a number that is no dimension where there is but one element), and
// `place_of` is that of an axis or a step. Nothing where an Einsum would be no better than all products: these are not more
// than the elements of a factor that is to be computed.
std::optional<EinsumProduct> einsum_of(
    const formula::Expression &body, const std::vector<size_t> &own, size_t axes,
    const std::function<std::optional<std::vector<size_t>>(const formula::Expression::Node &load)> &places_in,
    const std::function<size_t(const formula::Expression::Node &index)> &place_of);

}  // namespace saltern
