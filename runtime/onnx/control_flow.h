#pragma once
// Operators of imported graphs that run graphs of their own: If, Loop, Scan, SequenceMap.

#include "runtime/graph/graph.h"
#include "runtime/operators/value.h"

namespace saltern {

// Runs the graphs in attributes. `scope` is what their names mean outside of them.
class GraphRunner {
 public:
  virtual ~GraphRunner() = default;
  virtual std::vector<HostValue> run_body(const Graph &body, const std::vector<HostValue> &inputs,
                                          const void *scope) = 0;
};

bool is_control_flow(const Graph::Node &node);
std::vector<HostValue> run_control_flow(const Graph::Node &node, int64_t opset, const std::vector<HostValue> &inputs,
                                        GraphRunner &runner, const void *scope);

// A function's body with the attributes of a call in the place of references to them.
Graph with_attributes(const Graph &body, const Attributes &attributes);

}  // namespace saltern
