#pragma once
// A table of rows that stand at namespace scope in files of their own, and add themselves.

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/error.h"
#include "runtime/nn/families.h"

namespace saltern::nn {

template <typename Row>
class Table {
 public:
  void add(const Row &row) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!rows_.emplace(row.name(), &row).second) fail("two rows are called '", row.name(), "'");
  }
  // Null where there is none.
  const Row *find(std::string_view name) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = rows_.find(name);
    return it == rows_.end() ? nullptr : it->second;
  }
  // The same, which has to be there: a `what`.
  const Row &expect(std::string_view name, const char *what) const {
    const Row *row = find(name);
    if (!row) fail("there is no ", what, " '", name, "'");
    return *row;
  }
  // In alphabetical order.
  std::vector<const Row *> all() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<const Row *> rows;
    for (const auto &[name, row] : rows_) rows.push_back(row);
    return rows;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, const Row *, std::less<>> rows_;
};

template <typename Row>
Table<Row> &table() {
  static auto *t = [] {
    families();
    return new Table<Row>;
  }();
  return *t;
}

}  // namespace saltern::nn
