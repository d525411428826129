#include "generators/model/lower.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "generators/model/memory_plan.h"

namespace saltern::generators {

namespace {

constexpr int64_t alignment = 64;

// The weights of a model, one after the other, each aligned.
class Weights {
 public:
  int64_t add(const Tensor &constant) {
    while (bytes_.size() % alignment != 0) bytes_.push_back(0);
    const auto offset = static_cast<int64_t>(bytes_.size());
    const auto *from = static_cast<const uint8_t *>(constant.raw());
    bytes_.insert(bytes_.end(), from, from + constant.bytes());
    return offset;
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

// The lives of all values in the workspace, by name.
class Lives {
 public:
  // Notes that a value is touched at a step, which may be the first time.
  void touch(const std::string &value, int64_t bytes, int step) {
    auto [it, is_new] = index_.emplace(value, lives_.size());
    if (is_new) lives_.push_back({value, bytes, step, step});
    Lifetime &l = lives_[it->second];
    l.first = std::min(l.first, step);
    l.last = std::max(l.last, step);
  }
  void plan() { plan_ = plan_memory(lives_); }
  int64_t offset(const std::string &value) const { return plan_.offsets[index_.at(value)]; }
  int64_t bytes() const { return plan_.bytes; }

 private:
  std::map<std::string, size_t> index_;
  std::vector<Lifetime> lives_;
  MemoryPlan plan_;
};

int64_t bytes_of(const EmittedArgument &a) {
  int64_t bytes = facts(a.type).bytes();
  for (int e : a.extents) bytes *= e;
  return bytes;
}

// Values that share memory with another are known by that other's name.
std::map<std::string, std::string> find_aliases(const Graph &graph) {
  std::map<std::string, std::string> aliases;
  for (const Graph::Node &n : graph.nodes) {
    if (!is_alias(graph, n)) continue;
    auto it = aliases.find(n.inputs[0]);
    aliases[n.outputs[0]] = it == aliases.end() ? n.inputs[0] : it->second;
  }
  return aliases;
}

std::string scratch_name(size_t step, size_t argument) {
  return "scratch\n" + std::to_string(step) + " " + std::to_string(argument);  // no value is called so
}

}  // namespace

Lowered lower(const Graph &graph) {
  Lowered result;
  Plan &plan = result.plan;
  const std::map<std::string, std::string> aliases = find_aliases(graph);
  const auto home = [&](const std::string &value) {
    auto it = aliases.find(value);
    return it == aliases.end() ? value : it->second;
  };

  std::vector<EmittedKernel> calls;
  std::map<std::string, int> numbers;  // of kernels, by key
  for (const Group &group : group_nodes(graph)) {
    if (is_alias(graph, group.anchor())) continue;
    if (elements(graph.value(group.output()).shape) == 0) continue;  // nothing to compute
    calls.push_back(emit(graph, group));
    const auto [it, is_new] = numbers.emplace(calls.back().key, static_cast<int>(numbers.size()));
    if (is_new) result.kernels.push_back(calls.back());
    plan.steps.push_back({it->second, group.output(), {}});
  }
  plan.kernels = static_cast<int>(numbers.size());

  Lives lives;
  const int before = -1, after = static_cast<int>(calls.size());
  const auto bytes = [&](const std::string &name) {
    const Graph::Value &v = graph.value(name);
    return elements(v.shape) * facts(v.type).bytes();
  };
  for (const std::string &i : graph.inputs) lives.touch(home(i), bytes(i), before);
  for (size_t s = 0; s < calls.size(); ++s)
    for (size_t a = 0; a < calls[s].arguments.size(); ++a) {
      const EmittedArgument &use = calls[s].arguments[a];
      if (use.constant.defined()) continue;
      lives.touch(use.value.empty() ? scratch_name(s, a) : home(use.value), bytes_of(use), static_cast<int>(s));
    }
  for (const std::string &o : graph.outputs) {
    if (graph.value(o).constant.defined()) fail("the output '", o, "' is a constant");
    lives.touch(home(o), bytes(o), after);
  }
  lives.plan();
  plan.workspace_bytes = lives.bytes();

  Weights weights;
  for (size_t s = 0; s < calls.size(); ++s)
    for (size_t a = 0; a < calls[s].arguments.size(); ++a) {
      const EmittedArgument &use = calls[s].arguments[a];
      const bool constant = use.constant.defined();
      const int64_t offset = constant            ? weights.add(use.constant)
                             : use.value.empty() ? lives.offset(scratch_name(s, a))
                                                 : lives.offset(home(use.value));
      plan.steps[s].buffers.push_back({constant ? Region::weights : Region::workspace, offset, use.type, use.extents});
    }
  plan.weights = weights.take();

  const auto edge = [&](const std::string &name) {
    const Graph::Value &v = graph.value(name);
    return Edge{name, v.type, v.shape, is_channels_last(v) ? Layout::channels_last : Layout::row_major,
                lives.offset(home(name))};
  };
  for (const std::string &i : graph.inputs) plan.inputs.push_back(edge(i));
  for (const std::string &o : graph.outputs) plan.outputs.push_back(edge(o));
  return result;
}

}  // namespace saltern::generators
