#include "runtime/operation.h"

#include <map>
#include <mutex>

namespace saltern {

namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string, const Operation *, std::less<>> rows;
};

Table &table() {
  static auto *t = new Table;
  return *t;
}

}  // namespace

Operation::Operation(std::string name_, Compute compute_, Gradient gradient_)
    : name(std::move(name_)), compute(std::move(compute_)), gradient(std::move(gradient_)) {
  Table &t = table();
  std::lock_guard<std::mutex> lock(t.mutex);
  if (!t.rows.emplace(name, this).second) fail("two operations are called '", name, "'");
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
