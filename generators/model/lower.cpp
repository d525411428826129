#include "generators/model/lower.h"

#include <algorithm>
#include <map>

#include "generators/model/memory_plan.h"
#include "runtime/hash.h"

namespace saltern::generators {

namespace {

constexpr int64_t alignment = 64;

// The weights of a model, one after the other, each aligned; equal ones are there once.
class Weights {
 public:
  int64_t add(const Tensor &constant) {
    const auto *from = static_cast<const uint8_t *>(constant.raw());
    const size_t bytes = constant.bytes();
    const std::string hash = content_hash({static_cast<const char *>(constant.raw()), bytes});
    const auto [first, last] = known_.equal_range(hash);
    for (auto same = first; same != last; ++same) {
      const auto at = bytes_.begin() + static_cast<std::ptrdiff_t>(same->second.offset);
      if (same->second.bytes == bytes && std::equal(from, from + bytes, at)) return same->second.offset;
    }
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    const auto offset = static_cast<int64_t>(bytes_.size());
    bytes_.insert(bytes_.end(), from, from + bytes);
    known_.insert({hash, {offset, bytes}});
    return offset;
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  struct Place {
    int64_t offset;
    size_t bytes;
  };
  std::vector<uint8_t> bytes_;
  std::multimap<std::string, Place> known_;
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

// One way through the model; kernels and weights are shared by all.
class Lowering {
 public:
  Variant add(const Graph &graph);
  Lowered finish() {
    result_.plan.kernels = static_cast<int>(result_.kernels.size());
    result_.plan.weights = weights_.take();
    return std::move(result_);
  }
  Lowered &result() { return result_; }

 private:
  int number_of(const EmittedKernel &kernel) {
    const auto [it, is_new] = numbers_.emplace(kernel.key, static_cast<int>(numbers_.size()));
    if (is_new) result_.kernels.push_back(kernel);
    return it->second;
  }

  Lowered result_;
  Weights weights_;
  std::map<std::string, int> numbers_;  // of kernels, by key
};

Variant Lowering::add(const Graph &graph) {
  Variant variant;
  const std::map<std::string, std::string> aliases = find_aliases(graph);
  const auto home = [&](const std::string &value) {
    auto it = aliases.find(value);
    return it == aliases.end() ? value : it->second;
  };

  std::vector<EmittedKernel> calls;
  for (const Group &group : group_nodes(graph)) {
    if (is_alias(graph, group.anchor())) continue;
    if (elements(graph.value(group.output()).shape) == 0) continue;  // nothing to compute
    calls.push_back(emit(graph, group));
    variant.steps.push_back({number_of(calls.back()), group.output(), {}});
  }

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
  for (const std::string &o : graph.outputs)
    if (!graph.value(o).constant.defined()) lives.touch(home(o), bytes(o), after);
  lives.plan();
  result_.plan.workspace_bytes = std::max(result_.plan.workspace_bytes, lives.bytes());

  for (size_t s = 0; s < calls.size(); ++s)
    for (size_t a = 0; a < calls[s].arguments.size(); ++a) {
      const EmittedArgument &use = calls[s].arguments[a];
      const bool constant = use.constant.defined();
      const int64_t offset = constant            ? weights_.add(use.constant)
                             : use.value.empty() ? lives.offset(scratch_name(s, a))
                                                 : lives.offset(home(use.value));
      variant.steps[s].buffers.push_back(
          {constant ? Region::weights : Region::workspace, offset, use.type, use.extents});
    }

  const auto edge = [&](const std::string &name) {
    const Graph::Value &v = graph.value(name);
    if (v.constant.defined())
      return Edge{name,
                  v.type,
                  v.shape,
                  Layout::row_major,
                  Region::weights,
                  weights_.add(v.constant.in_layout(Layout::row_major))};
    return Edge{name,
                v.type,
                v.shape,
                is_channels_last(v) ? Layout::channels_last : Layout::row_major,
                Region::workspace,
                lives.offset(home(name))};
  };
  for (const std::string &i : graph.inputs) variant.inputs.push_back(edge(i));
  for (const std::string &o : graph.outputs) variant.outputs.push_back(edge(o));
  return variant;
}

}  // namespace

Lowered lower(const std::vector<Graph> &variants) {
  Lowering lowering;
  for (const Graph &graph : variants) lowering.result().plan.variants.push_back(lowering.add(graph));
  return lowering.finish();
}

}  // namespace saltern::generators
