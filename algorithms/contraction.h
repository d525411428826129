#pragma once
// Products summed over shared axes.

#include <map>
#include <string>

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

// a(..., i, k) b(..., k, j), the axes in front alike.
inline Value matmul(const Value &a, const Value &b) {
  std::vector<Expression> extents = a.extents();
  extents.back() = b.extent(-1);
  return compute("matmul", extents, [&](const Axes &at) {
    return sum({a.extent(-1)}, [&](Expression k) {
      Axes left = at, right = at;
      left.back() = right[right.size() - 2] = k;
      return a.at(left) * b.at(right);
    });
  });
}

// "bij,bjk->bik" of two values.
inline Value einsum(const std::string &text, const Value &a, const Value &b) {
  const size_t comma = text.find(','), arrow = text.find("->");
  const std::string of_a = text.substr(0, comma), of_b = text.substr(comma + 1, arrow - comma - 1);
  const std::string of_y = text.substr(arrow + 2);
  std::map<char, Expression> extent;
  for (size_t d = 0; d < of_a.size(); ++d) extent[of_a[d]] = a.extent(static_cast<int>(d));
  for (size_t d = 0; d < of_b.size(); ++d) extent[of_b[d]] = b.extent(static_cast<int>(d));
  std::string summed;
  for (const auto &[letter, e] : extent)
    if (of_y.find(letter) == std::string::npos) summed += letter;
  const auto list = [&](const std::string &letters, const std::map<char, Expression> &from) {
    std::vector<Expression> all;
    for (char c : letters) all.push_back(from.at(c));
    return all;
  };
  return compute("einsum", list(of_y, extent), [&](const Axes &at) {
    return sum(list(summed, extent), [&](const Axes &r) {
      std::map<char, Expression> index;
      for (size_t d = 0; d < of_y.size(); ++d) index[of_y[d]] = at[d];
      for (size_t d = 0; d < summed.size(); ++d) index[summed[d]] = r[d];
      return a.at(list(of_a, index)) * b.at(list(of_b, index));
    });
  });
}

}  // namespace saltern::algorithms
