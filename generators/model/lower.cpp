#include "generators/model/lower.h"

#include <algorithm>
#include <limits>
#include <map>

#include "generators/model/emitters.h"
#include "generators/model/homes.h"
#include "generators/model/memory_plan.h"
#include "generators/model/stages.h"
#include "generators/model/views.h"
#include "runtime/graph/flops.h"
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

// When a value is touched: the step, all steps of its stage, and where that has several lanes, which.
struct When {
  int step, first, last;
  int stage = -1, lane = -1;
};

// The lives of all values in the workspace, by name.
class Lives {
 public:
  // Notes that a value is touched, which may be the first time.
  void touch(const std::string &value, int64_t bytes, const When &when) {
    const auto [it, is_new] = index_.emplace(value, lives_.size());
    if (is_new) {
      lives_.push_back({value, bytes, 0, 0});
      touched_.emplace_back();
    }
    touched_[it->second].push_back(when);
  }
  void plan() {
    for (size_t i = 0; i < lives_.size(); ++i) live(lives_[i], touched_[i]);
    plan_ = plan_memory(lives_);
  }
  int64_t offset(const std::string &value) const { return plan_.offsets[index_.at(value)]; }
  int64_t bytes() const { return plan_.bytes; }

 private:
  // What two lanes share, or what is there before or after them, is alive in all of their stage.
  static void live(Lifetime &life, const std::vector<When> &all) {
    const When &one = all.front();
    const bool in_lane = one.lane >= 0 && std::all_of(all.begin(), all.end(), [&](const When &w) {
                           return w.stage == one.stage && w.lane == one.lane;
                         });
    if (in_lane) life.stage = one.stage, life.lane = one.lane;
    life.first = in_lane ? one.step : one.first;
    life.last = in_lane ? one.step : one.last;
    for (const When &w : all) {
      life.first = std::min(life.first, in_lane ? w.step : w.first);
      life.last = std::max(life.last, in_lane ? w.step : w.last);
    }
  }

  std::map<std::string, size_t> index_;
  std::vector<Lifetime> lives_;
  std::vector<std::vector<When>> touched_;
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

// What stages.h asks about a step. A kernel writes its last argument, and all else that its nodes make.
StageStep stage_step(const Graph &graph, const Group &group, const EmittedKernel &call, const Homes &homes) {
  StageStep step = {};
  double bytes = 0, flops = 0;
  for (const EmittedArgument &a : call.arguments) {
    bytes += static_cast<double>(bytes_of(a));
    if (a.constant.defined() || a.value.empty()) continue;
    const Homes::Home home = homes.of(a);
    const bool made = std::any_of(group.nodes.begin(), group.nodes.end(), [&](const Graph::Node &n) {
      return std::find(n.outputs.begin(), n.outputs.end(), a.value) != n.outputs.end();
    });
    step.touches.push_back({home.value, home.piece, made || &a == &call.arguments.back()});
  }
  for (const Graph::Node &n : group.nodes) flops += saltern::flops(graph, n);
  // As the schedules cut tasks (schedules/patterns/): of a million operations, or of 16384 elements.
  const auto written = static_cast<double>(bytes_of(call.arguments.back()));
  step.one_task = flops > 0 ? flops < 2e6 : written < 2 * 16384 * sizeof(float);
  step.microseconds = 0.2 + std::max(flops / 1e5, bytes / 5e4);
  return step;
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
  std::vector<const Group *> made;  // by each call
  for (const GroupCall &g : groups)
    for (EmittedKernel &kernel : calls_of(graph, g, homes)) {
      calls.push_back(std::move(kernel));
      made.push_back(&g.group);
    }
  compute_in_place(graph, calls, homes);

  // From here on, calls stand in the order in which they run; `stage` says when.
  std::vector<StageStep> steps;
  for (size_t c = 0; c < calls.size(); ++c) steps.push_back(stage_step(graph, *made[c], calls[c], homes));
  const std::vector<Stage> stages = stages_of(steps);
  std::vector<EmittedKernel> ordered;
  std::vector<When> when;
  for (size_t t = 0; t < stages.size(); ++t) {
    const auto first = static_cast<int>(ordered.size()), lanes = static_cast<int>(stages[t].lanes.size());
    for (int l = 0; l < lanes; ++l)
      for (size_t c : stages[t].lanes[static_cast<size_t>(l)]) {
        variant.steps.push_back({0, made[c]->output(), {}});
        ordered.push_back(std::move(calls[c]));
        const auto step = static_cast<int>(ordered.size()) - 1;
        when.push_back({step, step, step});
        if (lanes > 1) when.back() = {step, first, 0, static_cast<int>(t), l};
      }
    for (size_t s = static_cast<size_t>(first); s < when.size(); ++s) when[s].last = static_cast<int>(when.size()) - 1;
    auto at = static_cast<size_t>(first);
    variant.steps[at].lanes = lanes;
    for (const std::vector<size_t> &lane : stages[t].lanes) {
      variant.steps[at].length = static_cast<int>(lane.size());
      at += lane.size();
    }
  }
  calls = std::move(ordered);

  Lives lives;
  const int steps_in_all = static_cast<int>(calls.size());
  const When before = {-1, -1, -1}, after = {steps_in_all, steps_in_all, steps_in_all};
  const auto touch = [&](const std::string &name, const When &step) {
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
        lives.touch(scratch_name(s, a), bytes_of(use), when[s]);
      else
        touch(use.value, when[s]);
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
