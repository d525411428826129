#pragma once
// Where the state of a model lies: in memory that lives as long as a handle, one state after the other.

#include <unordered_map>

#include "generators/model/plan.h"
#include "runtime/graph/graph.h"

namespace saltern::generators {

class StateMemory {
 public:
  // Layouts are those that the graph says.
  explicit StateMemory(const Graph &graph);

  bool has(const std::string &value) const { return offsets_.count(value) > 0; }
  int64_t offset(const std::string &value) const { return offsets_.at(value); }
  // Among the graph's.
  int number(const std::string &value) const { return numbers_.at(value); }
  // How it begins, all of it.
  const Tensor &initial() const { return initial_; }

 private:
  std::unordered_map<std::string, int64_t> offsets_;
  std::unordered_map<std::string, int> numbers_;
  Tensor initial_;
};

// In an order in which none writes over what another reads; throws an Unsupported where there is none.
std::vector<StateCopy> copies_in_order(std::vector<StateCopy> copies);

}  // namespace saltern::generators
