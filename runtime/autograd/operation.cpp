#include "runtime/autograd/operation.h"

#include <map>
#include <mutex>

#include "runtime/autograd/formula_operation.h"
#include "runtime/operations.h"

namespace saltern {

namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string, const Operation *, std::less<>> rows;
};

Table &table() {
  static auto *t = [] {
    operation_families();
    return new Table;
  }();
  return *t;
}

void add(const Operation &operation) {
  Table &t = table();
  std::lock_guard<std::mutex> lock(t.mutex);
  if (!t.rows.emplace(operation.name, &operation).second) fail("two operations are called '", operation.name, "'");
}

}  // namespace

Operation::Operation(std::string name_, Compute compute_, Gradient gradient_)
    : name(std::move(name_)),
      compute(std::move(compute_)),
      gradient_is_derived(false),
      gradient(std::move(gradient_)),
      has_kernels(true) {
  add(*this);
}

Operation::Operation(std::string name_, Algorithm algorithm_)
    : name(std::move(name_)),
      algorithm(std::move(algorithm_)),
      compute([this](const std::vector<Tensor> &in, const Attributes &a) { return computed_by_formula(*this, in, a); }),
      gradient_is_derived(true),
      gradient([this](const Taped &t, const std::vector<Variable> &dy) { return derived_gradient(*this, t, dy); }),
      has_kernels(false) {
  add(*this);
}

Operation::Operation(std::string name_, Compute compute_, Algorithm algorithm_, Gradient gradient_)
    : name(std::move(name_)),
      algorithm(std::move(algorithm_)),
      compute(std::move(compute_)),
      gradient_is_derived(!gradient_),
      gradient(gradient_ ? std::move(gradient_)
                         : [this](const Taped &t,
                                  const std::vector<Variable> &dy) { return derived_gradient(*this, t, dy); }),
      has_kernels(true) {
  add(*this);
}

const Operation *find_operation(std::string_view name) {
  Table &t = table();
  std::lock_guard<std::mutex> lock(t.mutex);
  auto it = t.rows.find(name);
  return it == t.rows.end() ? nullptr : it->second;
}

std::vector<const Operation *> all_operations() {
  Table &t = table();
  std::lock_guard<std::mutex> lock(t.mutex);
  std::vector<const Operation *> all;
  for (const auto &[name, operation] : t.rows) all.push_back(operation);
  return all;
}

}  // namespace saltern
