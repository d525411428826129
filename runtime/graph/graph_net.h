#pragma once
// A graph as a net, which trains: some constants are its parameters, and what batch norms keep is its buffers.
//
//   GraphNet net(graph, {"conv.weight", "conv.bias"});
//   const Variable y = net(x);
//
// In training mode a node batch_norm whose statistics are constants takes those of the batch, and keeps them by its momentum
// as ONNX says (momentum of the old ones, and the variance of the batch as it is); a node dropout draws. In evaluation mode
// the first is as it stands, the second passes its input on.

#include <map>
#include <set>

#include "runtime/graph/graph.h"
#include "runtime/layers/module.h"

namespace saltern {

class GraphNet : public Module {
 public:
  // A lowered graph without state or open sizes. Parameters have memory of their own, that of convolutions as kernels want it.
  // `on_tape`, if it has nodes, is another that says the same of the same parameters: what is taken while nothing is traced.
  GraphNet(Graph graph, const std::vector<std::string> &parameters, Graph on_tape = {});

  // An output of the graph, of all its inputs in their order; or several, of one run.
  Variable output(const std::string &name, const std::vector<Variable> &inputs);
  std::vector<Variable> run(const std::vector<std::string> &outputs, const std::vector<Variable> &inputs);
  // The first output of one input.
  Variable forward(const Variable &x) override;
  void visit(Visitor &v) override;
  std::string class_name() const override { return "GraphNet"; }

  // From now on the batch norm that keeps this buffer is as in evaluation mode, and leaves it as it is.
  void freeze_statistics(const std::string &buffer);

  // What it computes in evaluation mode, with parameters and buffers as they are.
  Graph inference() const;

 private:
  // Equal for formulas that one kernel computes.
  using FormulaKey = std::pair<const void *, Shape>;
  struct Form {
    explicit Form(Graph g);
    FormulaKey key_of(const Graph::Node &formula) const;

    Graph graph;
    // How many nodes each is: turns of a recurrence are many that are equal.
    std::map<FormulaKey, int64_t> equal_formulas;
  };
  std::vector<Variable> computed(const Form &form, const Graph::Node &node, const std::vector<Variable> &in);
  bool has_all_of(const Graph &other) const;

  Form form_, on_tape_;
  std::map<std::string, Variable> parameters_;
  std::map<std::string, Tensor> buffers_;
  std::set<std::string> frozen_;
};

}  // namespace saltern
