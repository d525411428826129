#pragma once
// What a net does with an input, part by part: a table of its layers, their results, parameters and costs.
//
//   std::cout << summary(net, {1, 3, 32, 32});
//
//   layer            result             parameters      FLOPs    bytes
//   Sequential       [1, 10]                27,818  1,812,480       40
//     0: Conv2d      [1, 3, 32, 32]             84    165,888   12,288
//   ...
//
// A part that is called twice has two rows; parameters are counted once. FLOPs are those of
// runtime/graph/flops.h, bytes those of the result. A module is counted with its parts.

#include "runtime/layers/module.h"

namespace saltern {

class Summary {
 public:
  struct Row {
    std::string name, kind;  // dotted, empty for the net itself; a class
    Shape result;
    int64_t parameters = 0;
    double flops = 0;
    int64_t bytes = 0;
    size_t depth = 0;
  };

  // What happens, in its order: a call begins, there may be others inside, and it ends. Whoever tells it records everything
  // (Recording), and names the parameters of the module and all of its parts.
  void begin(const std::string &name, const std::string &kind);
  void end(const std::vector<Variable> &results, const std::vector<Variable> &parameters);

  // In the order in which calls began.
  const std::vector<Row> &rows() const { return rows_; }
  std::string text() const;

 private:
  struct Open {
    size_t row;
    uint64_t begun;  // how many steps there were
  };
  double flops_since(uint64_t begun, const std::vector<Variable> &results);

  std::vector<Row> rows_;
  std::vector<Open> open_;                 // calls that have not ended
  std::map<uint64_t, double> step_flops_;  // by the number of a step
  int64_t parameter_bytes_ = 0;
};

// Of a net of one input, in evaluation mode.
Summary summary(Module &net, const Shape &input);
std::ostream &operator<<(std::ostream &out, const Summary &s);

}  // namespace saltern
