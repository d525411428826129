#pragma once
// The elementwise functions that have library kernels: one row each. NAME and its gradients are kernels by a line in
// generators/kernels.cmake; a graph's node of that name is this formula.

#include <stdexcept>
#include <string>

#include "algorithms/functions.h"

namespace saltern::algorithms {

struct UnaryRow {
  std::string name;
  std::function<Value(const Value &x)> of;
  double low = -3, high = 3;  // the part of its domain that tests look at
};

inline const std::vector<UnaryRow> &unary_rows() {
  static const std::vector<UnaryRow> rows = {
      {"relu", relu},
      {"leaky_relu", [](const Value &x) { return leaky_relu(x, 0.01); }},
      {"sigmoid", sigmoid},
      {"tanh", [](const Value &x) { return tanh(x); }},
      {"exp", [](const Value &x) { return exp(x); }},
      {"log", [](const Value &x) { return log(x); }, 0.1, 3},
      {"sqrt", [](const Value &x) { return sqrt(x); }, 0.1, 3},
      {"reciprocal", reciprocal, 0.1, 3},
      {"negate", [](const Value &x) { return -x; }},
      {"absolute", [](const Value &x) { return abs(x); }},
      {"square", square},
      {"gelu", gelu},
      {"silu", silu},
      {"erf", [](const Value &x) { return erf(x); }},
      {"sine", [](const Value &x) { return sin(x); }},
      {"cosine", [](const Value &x) { return cos(x); }},
  };
  return rows;
}

struct BinaryRow {
  std::string name;
  std::function<Value(const Value &a, const Value &b)> of;
  double low = -3, high = 3;
};

inline const std::vector<BinaryRow> &binary_rows() {
  static const std::vector<BinaryRow> rows = {
      {"add", [](const Value &a, const Value &b) { return a + b; }},
      {"subtract", [](const Value &a, const Value &b) { return a - b; }},
      {"multiply", [](const Value &a, const Value &b) { return a * b; }},
      {"divide", [](const Value &a, const Value &b) { return a / b; }, 0.5, 3},
      {"maximum", maximum},
      {"minimum", minimum},
      {"power", to_the_power, 0.5, 3},
  };
  return rows;
}

// Null where the table has no row of that name.
template <typename Row>
const Row *find_row(const std::vector<Row> &rows, const std::string &name) {
  for (const Row &r : rows)
    if (r.name == name) return &r;
  return nullptr;
}

}  // namespace saltern::algorithms
