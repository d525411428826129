#pragma once
// A walk over a model in which values are types and shapes, and elements as far as they are few and known.

#include <unordered_map>

#include "runtime/onnx/walk.h"

namespace saltern {

// What one walk knows of a value.
struct Sampled {
  bool present = false, known = false;  // absent; there, and nothing known of it; known
  Operand operand = {};
};

class SampleWalk : public GraphWalk<Sampled> {
 public:
  using GraphWalk::GraphWalk;

  // Walks the model with these extents for names; an extent without one has the name that `extent_name` gives it.
  void run(const std::map<std::string, int64_t> &extents);
  // Of the model's own graph.
  const std::map<std::string, Sampled> &seen() const { return seen_; }

 private:
  Sampled input(const std::string &name, const std::map<std::string, int64_t> &extents) const;
  Sampled constant(const std::string &name, const Tensor &value) override;
  Values computed(const Graph::Node &n, const Values &inputs, const Names &here) override;
  Values apply(const Operator &op, const Graph::Node &n, int64_t opset, const Values &inputs) override;
  Values control_flow(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here) override;
  Values branch(const Graph::Node &n, const Values &inputs, const Names &here);
  Values loop(const Graph::Node &n, const Values &inputs, const Names &here);
  Values scan(const Graph::Node &n, int64_t opset, const Values &inputs, const Names &here);
  Values turn(const Graph &body, const Values &inputs, size_t first_state, size_t first_result, size_t states,
              const Names &here);

  bool open_ = false;  // some extents are samples
  std::map<std::string, Sampled> seen_;
  std::unordered_map<const Graph::Node *, bool> own_;
};

// The name that an extent of an input is sampled by.
std::string extent_name(const std::string &input, const Graph::Value &v, size_t d);

}  // namespace saltern
