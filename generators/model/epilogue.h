#pragma once
// The elementwise operations that follow a group's anchor in its kernel: its results meet their other operands while
// they are in registers.
//
// A kernel sees its result under extents of its own choice (rows of a matrix, panels of channels), so only operands
// that lie in memory as the result does can follow, or those that have one element for each innermost one of it (a
// bias, a factor for each channel), or one for all.

#include "generators/model/emit.h"

namespace saltern::generators {

// Whether an epilogue on `result` can read `operand`.
bool meets(const Graph::Value &operand, const Graph::Value &result);

class Epilogue {
 public:
  // The graph must live as long as this.
  Epilogue(const Graph &graph, const Group &group);

  // Equal for epilogues of the same code.
  std::string key() const;
  // Its operands, for a kernel that sees its result with these extents.
  std::vector<EmittedArgument> arguments(const std::vector<int> &result) const;
  // Declares the operands; to be called after the kernel's own inputs were declared.
  std::vector<forms::Tensor> inputs(Build &build, size_t result_rank) const;
  // What is stored at `at`, innermost first, where the anchor has `value`.
  Halide::Expr operator()(const Halide::Expr &value, const std::vector<forms::Tensor> &inputs,
                          const std::vector<Halide::Expr> &at) const;

 private:
  // How an operand lies beside the result.
  enum class Place { everywhere, innermost, once };
  static Place place(const Graph::Value &operand, const Graph::Value &result);
  const Graph::Value &result() const { return graph_.value(nodes_.back().outputs[0]); }

  const Graph &graph_;
  std::vector<Graph::Node> nodes_;  // the anchor first
  std::vector<std::string> operands_;
};

}  // namespace saltern::generators
