#include "runtime/onnx/check_model.h"

#include <map>

namespace saltern {

namespace {

constexpr int deepest_call = 200;
constexpr int64_t most_nodes = int64_t{1} << 24;  // with every call in the place of its function's body

// How many nodes a graph stands for when every call is replaced by the body of its function.
class Calls {
 public:
  explicit Calls(const Model &model) {
    for (const ModelFunction &f : model.functions)
      if (!functions_.emplace(std::pair(f.domain, f.name), Function{&f}).second && f.overload.empty())
        fail("the function '", f.name, "' is given twice");
  }

  int64_t nodes(const Graph &g) {
    int64_t all = 0;
    for (const Graph::Node &n : g.nodes) {
      all += 1;
      for (const auto &[name, a] : n.attributes)
        if (const auto *inner = std::get_if<SharedGraph>(&a)) all += nodes(**inner);
      const auto called = functions_.find({n.domain, n.operation});
      if (called != functions_.end()) all += nodes(called->second);
      if (all > most_nodes)
        fail(describe(n), ": with all calls in place the model has more than ", most_nodes, " nodes");
    }
    return all;
  }

 private:
  struct Function {
    const ModelFunction *function;
    int64_t nodes = -1;  // not counted yet
    bool open = false;   // it is being counted
  };

  int64_t nodes(Function &f) {
    if (f.nodes >= 0) return f.nodes;
    if (f.open) fail("the function '", f.function->name, "' calls itself");
    if (++depth_ > deepest_call) fail("functions call each other more than ", deepest_call, " deep");
    f.open = true;
    f.nodes = nodes(f.function->body);
    f.open = false;
    --depth_;
    return f.nodes;
  }

  std::map<std::pair<std::string, std::string>, Function> functions_;
  int depth_ = 0;
};

}  // namespace

void check_model(const Model &model) {
  validate_imported(model.graph);
  Calls calls(model);
  calls.nodes(model.graph);
  for (const ModelFunction &f : model.functions) {
    validate_imported(f.body);
    calls.nodes(f.body);
  }
}

}  // namespace saltern
