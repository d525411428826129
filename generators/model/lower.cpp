#include "generators/model/lower.h"

#include <algorithm>
#include <limits>
#include <map>

#include "generators/model/emitters.h"
#include "generators/model/homes.h"
#include "generators/model/memory_plan.h"
#include "generators/model/views.h"
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

std::string scratch_name(size_t step, size_t argument) {
  return "scratch\n" + std::to_string(step) + " " + std::to_string(argument);  // no value is called so
}

// A kernel that may write its result over an operand does so, where nobody reads the operand after it.
void compute_in_place(const Graph &graph, const std::vector<EmittedKernel> &calls, Homes &homes) {
  std::map<std::string, size_t> last;  // the last step that touches a home
  for (size_t s = 0; s < calls.size(); ++s)
    for (const EmittedArgument &a : calls[s].arguments)
      if (!a.constant.defined() && !a.value.empty()) last[homes.of(a.value).value] = s;
  for (const std::string &o : graph.outputs) last[homes.of(o).value] = calls.size();
  for (size_t s = 0; s < calls.size(); ++s) {
    if (calls[s].in_place < 0) continue;
    const std::string &operand = calls[s].arguments[static_cast<size_t>(calls[s].in_place)].value;
    const std::string &result = calls[s].arguments.back().value;
    const std::string from = homes.of(operand).value, to = homes.of(result).value;
    // Beside the operand itself, nothing of its memory may be read: that would be at other places.
    const auto reads = std::count_if(calls[s].arguments.begin(), calls[s].arguments.end(), [&](const auto &a) {
      return !a.constant.defined() && !a.value.empty() && homes.of(a.value).value == from;
    });
    if (from == to || last[from] != s || reads != 1 || !homes.take_over(result, operand)) continue;
    last[from] = last[to];
  }
}

std::vector<GroupCall> group_calls(const Graph &graph) {
  std::vector<GroupCall> calls;
  for (Group &group : group_nodes(graph)) {
    const bool joins = group.anchor().operation == "concat";
    if (is_view(graph, group.anchor()) || elements(graph.value(group.output()).shape) == 0) continue;
    std::optional<EmittedKernel> kernel = joins ? std::nullopt : std::optional<EmittedKernel>(emit(graph, group));
    calls.push_back({std::move(group), std::move(kernel)});
  }
  return calls;
}

// The kernels that are left to call for a group, when it is known where values lie.
std::vector<EmittedKernel> calls_of(const Graph &graph, const GroupCall &call, const Homes &homes) {
  const Graph::Node &anchor = call.group.anchor();
  if (call.kernel)
    return homes.is_read_in_place(call.group.output()) ? std::vector<EmittedKernel>() : std::vector{*call.kernel};
  if (!homes.is_joined_by_parts(anchor)) return {emit(graph, call.group)};
  std::vector<EmittedKernel> copies;
  const std::vector<Piece> pieces = part_pieces(graph, anchor);
  for (size_t i = 0; i < pieces.size(); ++i)
    if (!homes.is_placed(anchor, i) && pieces[i].count > 0) copies.push_back(emit_part(graph, anchor, i, pieces[i]));
  return copies;
}

std::vector<int> dense_strides(const std::vector<int> &extents) {
  return strides_of(extents, Piece::dense(0, std::numeric_limits<int64_t>::max())).value();
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
  const std::vector<GroupCall> groups = group_calls(graph);
  Homes homes(graph, groups);
  std::vector<EmittedKernel> calls;
  for (const GroupCall &g : groups)
    for (EmittedKernel &kernel : calls_of(graph, g, homes)) {
      variant.steps.push_back({0, g.group.output(), {}});
      calls.push_back(std::move(kernel));
    }
  compute_in_place(graph, calls, homes);

  Lives lives;
  const int before = -1, after = static_cast<int>(calls.size());
  const auto touch = [&](const std::string &name, int step) {
    const std::string home = homes.of(name).value;
    const Graph::Value &v = graph.value(home);
    lives.touch(home, elements(v.shape) * facts(v.type).bytes(), step);
  };
  for (const std::string &i : graph.inputs) touch(i, before);
  for (size_t s = 0; s < calls.size(); ++s)
    for (size_t a = 0; a < calls[s].arguments.size(); ++a) {
      const EmittedArgument &use = calls[s].arguments[a];
      if (use.constant.defined()) continue;
      if (use.value.empty())
        lives.touch(scratch_name(s, a), bytes_of(use), static_cast<int>(s));
      else
        touch(use.value, static_cast<int>(s));
    }
  for (const std::string &o : graph.outputs)
    if (!graph.value(o).constant.defined()) touch(o, after);
  lives.plan();
  result_.plan.workspace_bytes = std::max(result_.plan.workspace_bytes, lives.bytes());

  const auto place = [&](const Homes::Home &home) {
    return lives.offset(home.value) + home.piece.offset * facts(graph.value(home.value).type).bytes();
  };
  for (size_t s = 0; s < calls.size(); ++s) {
    std::vector<std::vector<int>> unusual;
    for (size_t a = 0; a < calls[s].arguments.size(); ++a) {
      const EmittedArgument &use = calls[s].arguments[a];
      unusual.emplace_back();
      BufferUse buffer = {Region::workspace, 0, use.type, use.extents, dense_strides(use.extents)};
      if (use.constant.defined()) {
        buffer.region = Region::weights;
        buffer.offset = weights_.add(use.constant);
      } else if (use.value.empty()) {
        buffer.offset = lives.offset(scratch_name(s, a));
      } else {
        const Homes::Home home = homes.of(use);
        buffer.offset = place(home);
        buffer.strides = strides_of(use.extents, home.piece).value();
        if (!home.piece.is_dense() || buffer.offset % buffer_alignment != 0) unusual.back() = buffer.strides;
      }
      variant.steps[s].buffers.push_back(std::move(buffer));
    }
    variant.steps[s].kernel = number_of(with_strides(std::move(calls[s]), unusual));
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
                place(homes.of(name))};
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
