#pragma once
// Attention, of any number of axes in front (heads, samples).
//
//   query(.., l, e)  key(.., e, s)  value(.., s, f)   ->   y(.., l, f) = sum_s weight(.., l, s) value(.., s, f)
//   weight = softmax over s of score(product),   product(.., l, s) = sum_e query(.., l, e) key(.., e, s)
//
// score is any function of the products: a scale, a mask, an order of time.

#include <functional>

#include "algorithms/contraction.h"
#include "algorithms/probabilities.h"

namespace saltern::algorithms {

using Score = std::function<Value(const Value &product)>;

inline Value attention(const Value &query, const Value &key, const Value &value, const Score &score) {
  return matmul(softmax(score(matmul(query, key)), query.rank() - 1), value);
}

}  // namespace saltern::algorithms
