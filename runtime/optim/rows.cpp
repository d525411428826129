#include "runtime/optim/rows.h"

#include <algorithm>
#include <cctype>

namespace saltern {

namespace {

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Names of operations have no dots, which are those of routines of the host.
std::string operation_of(const std::string &name) {
  std::string operation = in_lower_case(name);
  std::replace(operation.begin(), operation.end(), '.', '_');
  return operation;
}

}  // namespace

const std::vector<OptimizerRow> &optimizer_rows() {
  static const std::vector<OptimizerRow> all = [] {
    std::vector<OptimizerRow> rows = by_torch::rows();
    for (OptimizerRow &row : by_keras::rows()) rows.push_back(std::move(row));
    for (OptimizerRow &row : rows) row.operation = operation_of(row.name);
    return rows;
  }();
  return all;
}

const OptimizerRow *find_optimizer(const std::string &name) {
  const std::string operation = operation_of(name);
  for (const OptimizerRow &row : optimizer_rows())
    if (row.operation == operation || row.operation == "keras_" + operation) return &row;
  return nullptr;
}

UpdateRule by_kernel(const std::string &name) {
  for (const algorithms::UpdateKernel &k : algorithms::update_kernels())
    if (k.name == name) return {k.formula, &k};
  fail("there is no update '", name, "' in algorithms/optimizers.h");
}

}  // namespace saltern
