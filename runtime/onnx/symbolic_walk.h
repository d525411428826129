#pragma once
// A walk over a model in which values are what is known of them for every size (symbolic.h).

#include <unordered_set>

#include "runtime/onnx/symbolic.h"
#include "runtime/onnx/walk.h"

namespace saltern {

class SymbolicWalk : public GraphWalk<Symbolic> {
 public:
  explicit SymbolicWalk(const Model &model);

  void run();
  // Of the model's own graph.
  const std::map<std::string, Symbolic> &seen() const { return seen_; }
  // The names of unknowns that are extents of inputs; empty where the file gives none.
  const std::vector<std::string> &names() const { return names_; }
  // The first node that makes of sizes what is no linear function of them, and so may decide by them; empty: none does.
  const std::string &decides_by_sizes() const { return decides_; }

 private:
  Symbolic input(const std::string &name) const;
  Symbolic constant(const std::string &name, const Tensor &value) override;
  Values computed(const Graph::Node &n, const Values &inputs, const Names &here) override;
  Values apply(const Operator &op, const Graph::Node &n, int64_t opset, const Values &inputs) override;
  Values control_flow(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here) override;
  Values branch(const Graph::Node &n, const Values &inputs, const Names &here);
  Values loop(const Graph::Node &n, const Values &inputs, const Names &here);
  Values scan(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here);
  Values turn(const Graph &body, const Values &inputs, size_t first_state, size_t first_result, size_t states,
              const Names &here);
  Symbolic all_turns(const Graph &body, size_t output, Symbolic each, const Quantity &turns, int64_t axis,
                     Quantity::Unknown last_before);
  void note_sizes(const Graph::Node &n, const Values &inputs, Values &results);

  std::vector<std::string> names_;                     // of unknowns
  std::map<std::string, Quantity::Unknown> unknowns_;  // by what extents of inputs are called
  Quantity::Unknown last_unknown_ = 0;
  int64_t visits_ = 0;
  std::string decides_;
  std::map<std::string, Symbolic> seen_;
  std::unordered_set<const Graph::Node *> own_;
};

}  // namespace saltern
